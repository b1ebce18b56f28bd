// Whole jobs under `causeway run`: exit statuses, deaths, signals, limits and what is left behind.
#include "run_helpers.hpp"
#include <fcntl.h>

#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <sstream>
#include <thread>

namespace causeway::test {
namespace {

std::vector<std::string> shell(std::vector<std::string> options, const std::string& script) {
  options.insert(options.end(), {"/bin/sh", "-c", script});
  return options;
}

TEST(RunJob, AJobThatDoesWellEndsWithZeroAndSaysNothing) {
  const Outcome outcome = launch({"-n", "4", "/bin/true"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(RunJob, PesMeetThroughTheLauncher) {
  for (const char* pes : {"1", "2", "5", "16"}) {
    const Outcome outcome = launch(pe_program({"-n", pes}, "gather"));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(pids_after(outcome.out, "is pid ").size(), static_cast<std::size_t>(std::stoi(pes)));
  }
}

TEST(RunJob, AUniqueIdWorksUnderTheLauncher) {
  const Outcome outcome = launch(pe_program({"-n", "3"}, "unique id"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(RunJob, TheFirstStatusThatIsNotZeroIsTheJobs) {
  const Outcome outcome =
      launch(shell({"-n", "3"}, "case $CAUSEWAY_PE in 0) sleep 100;; 1) sleep 0.3; exit 4;; 2) exit 0;; esac"));
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(outcome.err, "causeway run: PE 1 exited with status 4; ending the job\n");
}

TEST(RunJob, ACallerMayIgnoreTheEndsOfItsChildren) {
  const Outcome outcome = launch({"-n", "1", "/bin/sh", "-c",
                                  "trap '' CHLD; export CAUSEWAY_TEST_PROGRAM=launcher; exec /proc/" +
                                      std::to_string(::getpid()) + "/exe -n 2 /bin/sh -c 'exit $CAUSEWAY_PE'"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
}

TEST(RunJob, ADeathByASignalIsTheJobs) {
  const Outcome outcome = launch(shell({"-n", "3"}, "test $CAUSEWAY_PE = 2 && kill -SEGV $$; sleep 100"));
  EXPECT_EQ(outcome.status, 128 + SIGSEGV);
  EXPECT_NE(outcome.err.find("PE 2 (pid "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("died: signal 11 (Segmentation fault)"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("; ending the job\n"), std::string::npos) << outcome.err;
}

TEST(RunJob, APeKilledInABarrierEndsTheJobWithItsNumber) {
  Launch job(pe_program({"-n", "4"}, "stuck"));
  for (int pe = 0; pe < 4; ++pe) ASSERT_TRUE(job.wait_for("PE " + std::to_string(pe) + " of 4 is pid "));
  ASSERT_TRUE(job.wait_for("stuck\nstuck\nstuck\nstuck\n"));
  const pid_t victim = job.pid_of(2);
  ASSERT_GT(victim, 0);
  ::kill(victim, SIGKILL);
  const Outcome outcome = job.finish();
  EXPECT_EQ(outcome.status, 128 + SIGKILL);
  EXPECT_NE(outcome.err.find("causeway run: PE 2 (pid " + std::to_string(victim) +
                             ") died: signal 9 (Killed); ending the job"),
            std::string::npos)
      << outcome.err;
  for (const pid_t pid : pids_after(outcome.out, "is pid ")) EXPECT_TRUE(ended(pid));
}

TEST(RunJob, ASlowDeathEndsTheJobWithItsSignal) {
  const Outcome outcome = launch(pe_program({"-n", "3"}, "slow death"));
  EXPECT_EQ(outcome.status, 128 + SIGTERM);
  EXPECT_NE(outcome.err.find("causeway run: PE 1 (pid "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(" died: signal 15 (Terminated); ending the job"), std::string::npos) << outcome.err;
}

TEST(RunJob, PesThatIgnoreSigtermAreKilledInTime) {
  Launch job(pe_program({"-n", "3"}, "deaf"));
  ASSERT_TRUE(job.wait_for("deaf\ndeaf\ndeaf\n"));
  ::kill(job.pid_of(0), SIGKILL);
  const Outcome outcome = job.finish();
  EXPECT_EQ(outcome.status, 137);
}

TEST(RunJob, GlobalExitEndsAlsoPesThatHaveNotJoined) {
  const Outcome outcome = launch(pe_program({"-n", "4"}, "exit"));
  EXPECT_EQ(outcome.status, 5);
  EXPECT_EQ(outcome.err, "causeway run: PE 1 ended the job with status 5 (nvshmem_global_exit)\n");
}

TEST(RunJob, APeThatReturnsWithoutJoiningIsNamedByTheOthers) {
  const Outcome outcome = launch(pe_program({"-n", "2"}, "absent"));
  EXPECT_EQ(outcome.status, 52);
  EXPECT_NE(outcome.err.find("PE 1 left the job during step 'start': it ended without having joined"),
            std::string::npos)
      << outcome.err;
}

TEST(RunJob, APeThatReturnsZeroWithoutFinalizeEndsTheJob) {
  const Outcome outcome = launch(pe_program({"-n", "3"}, "leave"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("causeway run: PE 1 exited with status 0 without nvshmem_finalize; ending the job\n"),
            std::string::npos)
      << outcome.err;
}

TEST(RunJob, ALoneOneThatDoesSoIsNamedToo) {
  const Outcome outcome =
      launch(shell({"-n", "2", "--env", "CAUSEWAY_TEST_PROGRAM=leave"},
                   "test $CAUSEWAY_PE = 0 && exit 0; exec /proc/" + std::to_string(::getpid()) + "/exe"));
  EXPECT_NE(outcome.status, 0);
}

TEST(RunJob, AProgramThatDiesBehindAScriptThatGoesOnEndsTheJob) {
  const std::string self = "/proc/" + std::to_string(::getpid()) + "/exe";
  const Outcome outcome =
      launch(shell({"-n", "3", "--env", "CAUSEWAY_TEST_PROGRAM=leave"}, self + "; while :; do sleep 1; done"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("causeway run: PE 1 is lost: its process ended without a goodbye"), std::string::npos)
      << outcome.err;
}

TEST(RunJob, AProcessThatNeverJoinsMayEndAsItLikes) {
  const std::string self = "/proc/" + std::to_string(::getpid()) + "/exe";
  const Outcome outcome = launch(shell({"-n", "3", "--env", "CAUSEWAY_TEST_PROGRAM=gather"}, self + "; exit 0"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(RunJob, AStartThatFailedIsTheJobsFailure) {
  const Outcome outcome = launch(pe_program({"-n", "3"}, "failed start"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("causeway run: PE 1 exited with status 0 though its nvshmem_init had failed"),
            std::string::npos)
      << outcome.err;
}

TEST(RunJob, AStartThatSucceedsAfterOneThatFailedIsWell) {
  const Outcome outcome = launch(pe_program({"-n", "1"}, "second start"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(RunJob, TwoProgramsOneAfterTheOtherJoinTheSameJob) {
  // The shell is the PE; its children take the socket in turn.
  const Outcome outcome =
      launch(shell({"-n", "3", "--env", "CAUSEWAY_TEST_PROGRAM=gather"},
                   "/proc/" + std::to_string(::getpid()) + "/exe && /proc/" + std::to_string(::getpid()) + "/exe"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(pids_after(outcome.out, "is pid ").size(), 6u);
}

TEST(RunJob, SignalsAreForwarded) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    Launch job(
        shell({"-n", "2"}, "trap 'echo got; exit 0' HUP INT TERM USR1 USR2; echo ready; while :; do sleep 0.02; done"));
    ASSERT_TRUE(job.wait_for("ready\nready\n"));
    job.signal(signal);
    const Outcome outcome = job.finish();
    EXPECT_EQ(outcome.status, 0) << signal << outcome.err;
    EXPECT_EQ(outcome.out, "ready\nready\ngot\ngot\n");
  }
}

TEST(RunJob, ASecondSigtermEndsAJobThatIgnoresTheFirst) {
  Launch job(pe_program({"-n", "2"}, "deaf"));
  ASSERT_TRUE(job.wait_for("deaf\ndeaf\n"));
  job.signal(SIGTERM);
  std::this_thread::sleep_for(2s);  // (two within 200 ms of the launcher's time count as one)
  job.signal(SIGTERM);
  const Outcome outcome = job.finish();
  EXPECT_EQ(outcome.status, 128 + SIGTERM);
  EXPECT_NE(outcome.err.find("signal 15 (Terminated) again; ending the job"), std::string::npos) << outcome.err;
}

TEST(RunJob, TheTimeLimitEndsTheJob) {
  const Outcome outcome = launch({"-n", "2", "--timeout", "0.3", "/bin/sleep", "100"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_EQ(outcome.err, "causeway run: the job took longer than --timeout 0.3 s; ending it\n");
}

TEST(RunJob, NothingIsLeftWhenTheJobEnds) {
  char folder[] = "/tmp/causeway-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string said = std::string(folder) + "/$CAUSEWAY_PE";
  const Outcome outcome = launch(shell({"-n", "2"}, "(trap '' TERM HUP INT; setsid sh -c 'echo orphan $$; : > " + said +
                                                        "; while :; do sleep 1; done') & while [ ! -e " + said +
                                                        " ]; do sleep 0.01; done; exit 0"));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto orphans = pids_after(outcome.out, "orphan ");
  ASSERT_EQ(orphans.size(), 2u) << outcome.out;
  for (const pid_t orphan : orphans) EXPECT_TRUE(ended(orphan));
}

TEST(RunJob, PesDieWithALauncherThatIsKilled) {
  Launch job(pe_program({"-n", "3"}, "deaf"));
  ASSERT_TRUE(job.wait_for("deaf\ndeaf\ndeaf\n"));
  job.signal(SIGKILL);
  const Outcome outcome = job.finish();
  EXPECT_EQ(outcome.status, 1000 + SIGKILL);
  const auto pids = pids_after(outcome.out, "is pid ");
  ASSERT_EQ(pids.size(), 3u);
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(RunJob, WhatTheyHaveStartedDiesWithALauncherThatIsKilled) {
  // Behind a script, and in a session of its own: neither is a child of the launcher.
  const std::string self = "/proc/" + std::to_string(::getpid()) + "/exe";
  Launch job(shell({"-n", "2", "--env", "CAUSEWAY_TEST_PROGRAM=deaf"},
                   "setsid sh -c 'echo other is pid $$; while :; do sleep 1; done' & " + self + "; true"));
  ASSERT_TRUE(job.wait_for("deaf\n"));
  ASSERT_TRUE(job.wait_for("PE 0 of 2 is pid "));
  ASSERT_TRUE(job.wait_for("PE 1 of 2 is pid "));
  while (pids_after(job.out(), "is pid ").size() < 4 && job.wait_for("other is pid ")) job.read();
  job.signal(SIGKILL);
  const Outcome outcome = job.finish();
  EXPECT_EQ(outcome.status, 1000 + SIGKILL);
  const auto pids = pids_after(outcome.out, "is pid ");
  ASSERT_EQ(pids.size(), 4u) << outcome.out;
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(RunJob, OnlyPeZeroReadsTheInput) {
  const Outcome outcome = launch(shell({"-n", "3", "--tag"}, "cat; echo end"), "words\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out.find("[0] words\n") != std::string::npos, true) << outcome.out;
  EXPECT_EQ(outcome.out.find("[1] words\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("[2] end\n"), std::string::npos);
}

TEST(RunJob, TaggedLinesAreWholeAndNothingIsLost) {
  const Outcome outcome = launch(shell({"-n", "4", "-l"},
                                       "i=0; while [ $i -lt 300 ]; do printf 'line %d ' $i; echo of $CAUSEWAY_PE; "
                                       "i=$((i+1)); done; printf 'last of %d' $CAUSEWAY_PE; echo err >&2"));
  EXPECT_EQ(outcome.status, 0);
  int next[4] = {}, last = 0;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    ASSERT_GE(line.size(), 4u);
    const int pe = line[1] - '0';
    ASSERT_TRUE(pe >= 0 && pe < 4) << line;
    const std::string expected = next[pe] == 300 ? "last of " + std::to_string(pe)
                                                 : "line " + std::to_string(next[pe]) + " of " + std::to_string(pe);
    EXPECT_EQ(line, "[" + std::to_string(pe) + "] " + expected);
    if (next[pe]++ == 300) ++last;
  }
  EXPECT_EQ(last, 4);
  for (int pe = 0; pe < 4; ++pe) EXPECT_NE(outcome.err.find("[" + std::to_string(pe) + "] err\n"), std::string::npos);
}

TEST(RunJob, TheEnvironmentIsWhatTheOptionsSay) {
  const Outcome outcome = launch(shell({"-n", "4", "--nodes", "2", "--env", "A=b=c", "-l"},
                                       "echo $CAUSEWAY_PE $CAUSEWAY_PES $CAUSEWAY_NODES $A ${#CAUSEWAY_JOB}"));
  for (int pe = 0; pe < 4; ++pe) {
    const std::string number = std::to_string(pe);
    EXPECT_NE(outcome.out.find("[" + number + "] " + number + " 4 2 b=c 32\n"), std::string::npos) << outcome.out;
  }
  const Outcome none = launch(shell({"-n", "1"}, "echo \"<$CAUSEWAY_NODES>\""));
  EXPECT_EQ(none.out, "<>\n");
}

TEST(RunJob, ADryRunStartsNothing) {
  const Outcome outcome = launch(shell({"-n", "2", "--dry-run"}, "echo started"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("PE 1: CAUSEWAY_PE=1 CAUSEWAY_PES=2"), std::string::npos) << outcome.err;
}

TEST(RunJob, ThreadsNeedTheProgramsSharedObject) {
  const Outcome outcome = launch({"-n", "2", "--seed", "1", "/bin/true"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("/bin/true.pe.so, which is not there: rebuild the program with `causeway cc`"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("--seed needs /bin/true.pe.so"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("a script, or an interpreter such as python3, runs without --threads and --seed"),
            std::string::npos)
      << outcome.err;
}

TEST(RunJob, AScriptThatCannotBeRunIsToldHow) {
  char folder[] = "/tmp/causeway-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/x.py";
  const auto write = [&](const std::string& text, mode_t mode) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    EXPECT_EQ(::fchmod(file.get(), mode), 0);
  };
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"-n", "2"});
    options.push_back(path);
    const Outcome outcome = launch(options);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  };
  const std::string advice = "`causeway run -n 2 python3 " + path + "`\n";
  write("print(1)\n", 0600);
  for (const char* option : {"-v", "--threads"}) EXPECT_TRUE(run({option}).ends_with(advice)) << run({option});
  write("print(1)\n", 0700);
  const std::string bare = run({});
  EXPECT_NE(bare.find("x.py: cannot be executed: Exec format error; it is neither"), std::string::npos) << bare;
  EXPECT_TRUE(bare.ends_with(advice)) << bare;
  write("#!/no/such/python\nprint(1)\n", 0700);
  EXPECT_NE(run({}).find("the interpreter that it names (#! in its first line"), std::string::npos) << run({});
  EXPECT_NE(run({"--threads"}).find("a script, or an interpreter"), std::string::npos) << run({"--threads"});
  write("#!/bin/sh\nexit 0\n", 0700);
  EXPECT_EQ(launch({"-n", "2", path}).status, 0);
  ::unlink(path.c_str());
  ::rmdir(folder);
}

TEST(RunJob, AFileThatIsNoProgramIsNamed) {
  char path[] = "/tmp/causeway-test-XXXXXX";
  UniqueFd file(::mkstemp(path));
  ASSERT_EQ(::write(file.get(), "words", 5), 5);
  EXPECT_EQ(launch({"-n", "1", path}).err.find("is not executable") != std::string::npos, true);
  ASSERT_EQ(::fchmod(file.get(), 0700), 0);
  file.reset();
  const Outcome outcome = launch({"-n", "2", path});
  ::unlink(path);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("cannot be executed: Exec format error"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace causeway::test
