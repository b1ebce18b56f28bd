// The command line of `causeway run`: what is accepted, and how what is not is named.
#include <tools/run_options.hpp>
#include <tools/run_program.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace causeway {
namespace {

std::optional<RunOptions> parse(std::vector<std::string> args) {
  args.insert(args.begin(), "run");
  std::vector<const char*> raw;
  for (const std::string& arg : args) raw.push_back(arg.c_str());
  return parse_run_options(static_cast<int>(raw.size()), raw.data());
}

TEST(RunOptionsTest, AllOptionsAreRead) {
  const auto options = parse({"-n", "8", "--nodes", "2", "--gdb", "7", "-l", "--timeout", "1.5", "--env", "A=1",
                              "--env", "B=", "--no-mps", "-v", "prog", "x"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->pes, 8);
  EXPECT_EQ(options->nodes, 2);
  EXPECT_EQ(options->gdb_pe, 7);
  EXPECT_TRUE(options->tag);
  EXPECT_EQ(options->timeout_s, 1.5);
  EXPECT_EQ(options->environment, (std::vector<std::string>{"A=1", "B="}));
  EXPECT_FALSE(options->mps);
  EXPECT_TRUE(options->verbose);
  EXPECT_FALSE(options->threads);
  EXPECT_EQ(options->program, "prog");
  EXPECT_EQ(options->args, std::vector<std::string>{"x"});
}

TEST(RunOptionsTest, EverythingFromTheProgramOnIsLeftAlone) {
  const std::vector<std::string> args{"-n", "5", "--", "", "--nodes=9", "-l", "--help", "a b", "-", "--env", "-v"};
  for (const bool dashes : {false, true}) {
    std::vector<std::string> line{"--np", "2"};
    if (dashes) line.emplace_back("--");
    line.emplace_back("./prog");
    line.insert(line.end(), args.begin(), args.end());
    const auto options = parse(line);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->pes, 2);
    EXPECT_EQ(options->program, "./prog");
    EXPECT_EQ(options->args, args);
    EXPECT_FALSE(options->tag);
  }
}

TEST(RunOptionsTest, ASeedMeansThreads) {
  const auto options = parse({"-n", "2", "--seed", "18446744073709551615", "prog"});
  EXPECT_EQ(options->seed, 18446744073709551615u);
  EXPECT_TRUE(options->threads);
}

TEST(RunOptionsTest, WhatIsWrongIsNamedWithTheAcceptedForm) {
  const struct {
    std::vector<std::string> line;
    std::vector<std::string> parts;
  } cases[] = {
      {{"-n", "0", "prog"}, {"-n 0", "whole number from 1"}},
      {{"-n", "two", "prog"}, {"-n two", "whole number"}},
      {{"-n", "2.5", "prog"}, {"-n 2.5"}},
      {{"-n=-1", "prog"}, {"-1", "whole number"}},
      {{"-n", "5000", "prog"}, {"-n 5000", "4096"}},
      {{"prog"}, {"-n is missing"}},
      {{"-n", "2"}, {"program is missing"}},
      {{"-n", "2", "--nodes", "3", "prog"}, {"--nodes 3", "from 1 to 2"}},
      {{"-n", "2", "--nodes", "0", "prog"}, {"--nodes 0"}},
      {{"-n", "2", "--gdb", "2", "prog"}, {"--gdb 2", "from 0 to 1"}},
      {{"-n", "2", "--gdb", "1", "--threads", "prog"}, {"--gdb 1", "--threads"}},
      {{"-n", "2", "--seed", "-3", "prog"}, {"--seed"}},
      {{"-n", "2", "--timeout", "0", "prog"}, {"--timeout 0", "above 0"}},
      {{"-n", "2", "--timeout", "1h", "prog"}, {"--timeout 1h", "seconds"}},
      {{"-n", "2", "--env", "A", "prog"}, {"--env A", "NAME=VALUE"}},
      {{"-n", "2", "--env", "=A", "prog"}, {"--env =A", "NAME=VALUE"}},
      {{"-n", "2", "--tags", "prog"}, {"--tags", "--help"}},
  };
  for (const auto& [line, parts] : cases) {
    try {
      (void)parse(line);
      ADD_FAILURE() << "accepted: " << line.front() << " " << parts.front();
    } catch (const RunError& error) {
      EXPECT_EQ(error.status(), 2);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      for (const std::string& part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "no " << part << " in " << error.what();
    }
  }
}

TEST(RunProgramTest, IsFoundByPathOrByName) {
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_TRUE(find_program("sh").ends_with("/sh"));
}

TEST(RunProgramTest, WhatCannotBeRunIsNamed) {
  const struct {
    std::string program;
    int status;
    std::string part;
  } cases[] = {{"/no/such/program", 127, "no such file"},
               {"no-such-program-anywhere", 127, "not found in PATH"},
               {"/etc/passwd", 2, "is not executable"},
               {"/tmp", 2, "is a directory"}};
  for (const auto& [program, status, part] : cases) {
    try {
      (void)find_program(program);
      ADD_FAILURE() << program;
    } catch (const RunError& error) {
      EXPECT_EQ(error.status(), status) << program;
      EXPECT_NE(std::string(error.what()).find(program), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace causeway
