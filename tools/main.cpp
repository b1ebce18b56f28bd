// The `causeway` program: finds the subcommand and hands the rest of the command line to it. What the script of the
// same name in a checkout knows beside (demo, test, api) is named here, too: there is one list of commands.
#include <causeway/base/version.h>
#include <causeway/config/settings_names.hpp>
#include <causeway/config/settings_parse.hpp>
#include <tools/cc.hpp>
#include <tools/info.hpp>
#include <tools/run.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace {

using namespace causeway;

int help_command(int argc, char** argv);
int version_command(int argc, char** argv);

struct Command {
  std::string_view name, help;
  int (*run)(int argc, char** argv);
};

constexpr Command kCommands[] = {
    {"run", "start a program as the PEs of a job", run_command},
    {"cc", "compile and link a program, for GPUs or for the CPU machine", cc_command},
    {"info", "show machines, host and settings", info_command},
    {"version", "print the version", version_command},
    {"help", "show this, or the help of a command", help_command},
};

// Of the script `causeway` in a checkout; `run` says where it is.
int script_command(int argc, char** argv);

constexpr Command kScriptCommands[] = {
    {"demo", "build, run programs that move data between PEs, show a picture and a table", script_command},
    {"test", "build and run all tests; --full is the acceptance run", script_command},
    {"api", "show which names of the NVSHMEM interface exist, by family", script_command},
    {"--packages", "print the names of the Debian packages that building and testing need", script_command},
    {"--prepare", "install those that are missing", script_command},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kCommands) + 3> names;  // the script's options are no commands
  for (std::size_t i = 0; i < std::size(kCommands); ++i) names[i] = kCommands[i].name;
  for (std::size_t i = 0; i < 3; ++i) names[std::size(kCommands) + i] = kScriptCommands[i].name;
  return names;
}();

void print_usage(std::FILE* to) {
  fmt::print(to, "Usage: causeway COMMAND [arguments]\n\nCommands:\n");
  for (const Command& command : kCommands) fmt::print(to, "  {:<11} {}\n", command.name, command.help);
  fmt::print(to, "\nIn a checkout of the sources, as ./causeway COMMAND:\n");
  for (const Command& command : kScriptCommands) fmt::print(to, "  {:<11} {}\n", command.name, command.help);
  fmt::print(to, "\n`causeway COMMAND --help` describes a command.\n");
}

const Command* find_command(std::string_view name) {
  if (name == "--version" || name == "-V") name = "version";
  if (name == "--help" || name == "-h") name = "help";
  for (const Command& command : kCommands)
    if (command.name == name) return &command;
  for (const Command& command : kScriptCommands)
    if (command.name == name) return &command;
  return nullptr;
}

int script_command(int /*argc*/, char** argv) {
  fmt::print(stderr, "causeway {0}: this is a command of the script in a checkout of the sources: ./causeway {0}\n",
             argv[0]);
  return 2;
}

int fail_unknown(std::string_view name) {
  const std::string_view nearest = nearest_word(name, kNames);
  fmt::print(stderr, "causeway: there is no command {}; {}\n", quoted(name),
             nearest.empty() ? fmt::format("accepted are {}", fmt::join(kNames, ", "))
                             : fmt::format("did you mean {}?", nearest));
  return 2;
}

int fail_surplus(std::string_view command, std::string_view argument) {
  fmt::print(stderr, "causeway {}: unexpected argument {}\n", command, quoted(argument));
  return 2;
}

int version_command(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--help") {
    fmt::print("Usage: causeway version\n\nPrints the version of Causeway and of the interface that it has.\n");
    return 0;
  }
  if (argc > 1) return fail_surplus("version", argv[1]);
  fmt::print("{}\n", NVSHMEM_VENDOR_STRING);
  return 0;
}

int help_command(int argc, char** argv) {
  if (argc > 2) return fail_surplus("help", argv[2]);
  const std::string_view about = argc > 1 ? argv[1] : "help";
  if (about == "help" || about == "--help" || about == "-h") {
    print_usage(stdout);
    return 0;
  }
  const Command* const command = find_command(about);
  if (command == nullptr) return fail_unknown(about);
  std::string name(command->name), help = "--help";
  char* arguments[] = {name.data(), help.data(), nullptr};
  return command->run(2, arguments);
}

/// Where standard streams are closed, /dev/null stands for them: else the next files would, also those of the PEs,
/// and what is printed would go there.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0)
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);  // the lowest free
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  const Command* const command = find_command(argv[1]);
  if (command == nullptr) return fail_unknown(argv[1]);
  try {
    return command->run(argc - 1, argv + 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "causeway {}: {}\n", command->name, error.what());
    return 1;
  }
}
