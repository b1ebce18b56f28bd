// The main of the launcher's tests: the tests, or, when CAUSEWAY_TEST_PROGRAM names one, a program that they start: the
// launcher, or a PE under it. So the tests need no other file than their own, and each launcher is a fresh process.
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/bootstrap.hpp>
#include <tools/run.hpp>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace causeway::test {
namespace {

std::unique_ptr<Bootstrap> join() {
  const auto environment = read_launcher_environment();
  if (!environment) fail(Status::internal, "not started by the launcher");
  auto bootstrap = make_bootstrap_launcher(*environment);
  std::printf("PE %d of %d is pid %d\n", bootstrap->pe(), bootstrap->pes(), ::getpid());
  std::fflush(stdout);
  return bootstrap;
}

int run(const std::string& program) {
  if (program == "barrier" || program == "gather") {  // all meet a few times
    const auto bootstrap = join();
    for (int turn = 0; turn < 10; ++turn) {
      const int mine = bootstrap->pe() * 100 + turn;
      const auto all = bootstrap->allgather(std::as_bytes(std::span(&mine, 1)), "exchange");
      for (int pe = 0; pe < bootstrap->pes(); ++pe)
        if (*reinterpret_cast<const int*>(all[static_cast<std::size_t>(pe)].data()) != pe * 100 + turn) return 50;
    }
    return 0;
  }
  if (program == "stuck") {  // PE 0 never comes to the barrier of the others
    const auto bootstrap = join();
    bootstrap->barrier("all are here");
    std::printf("stuck\n");
    std::fflush(stdout);
    if (bootstrap->pe() == 0)
      for (;;) ::pause();
    bootstrap->barrier("a barrier");
    return 0;
  }
  if (program == "exit") {  // PE 1 ends the job with 5 while PE 0 waits and the rest has not joined
    if (std::string(std::getenv("CAUSEWAY_PE")) > "1")
      for (;;) ::pause();
    const auto bootstrap = join();
    if (bootstrap->pe() == 1) bootstrap->global_exit(5);
    bootstrap->barrier("never complete");
    return 0;
  }
  if (program == "absent") {  // PE 1 returns without joining; the others say what they are told
    if (std::string(std::getenv("CAUSEWAY_PE")) == "1") return 0;
    join()->barrier("start");
    return 0;
  }
  if (program == "leave") {  // PE 1 returns 0 without taking leave, the others wait for it and say what they are told
    const auto bootstrap = join();
    bootstrap->barrier("all are here");
    if (bootstrap->pe() == 1) ::_exit(0);
    bootstrap->barrier("a barrier");
    return 0;
  }
  if (program == "slow death") {  // PE 1's socket ends a second before the process does
    const auto bootstrap = join();
    bootstrap->barrier("all are here");
    if (bootstrap->pe() == 1) {
      (void)::shutdown(read_launcher_environment()->socket, SHUT_RDWR);
      ::sleep(1);
      ::raise(SIGTERM);
    }
    bootstrap->barrier("a barrier");
    return 0;
  }
  if (program == "failed start") {  // PE 1's start fails before it joins; all return 0
    if (std::string(std::getenv("CAUSEWAY_PE")) == "1") {
      tell_launcher_of_start("no memory");
      return 0;
    }
    try {
      join()->barrier("start");
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    return 0;
  }
  if (program == "second start") {  // the first one fails, the second does not
    tell_launcher_of_start("no memory");
    (void)join();
    return 0;
  }
  if (program == "unique id") {  // one PE's id, passed on by way of the launcher's own bootstrap, joins a second job
    const auto launcher = join();
    const UniqueId mine = create_unique_id();
    const auto all = launcher->allgather(std::as_bytes(std::span(&mine, 1)), "ids");
    UniqueId id;
    std::memcpy(&id, all.back().data(), sizeof id);
    make_bootstrap_unique_id(id, launcher->pes() - 1 - launcher->pe(), launcher->pes())->barrier("second job");
    launcher->barrier("end");
    return 0;
  }
  if (program == "deaf") {  // ignores what can be ignored
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_IGN);
    const auto bootstrap = join();
    bootstrap->barrier("all are here");
    std::printf("deaf\n");
    std::fflush(stdout);
    for (;;) ::pause();
  }
  return 51;
}

int run_program(const std::string& program) {
  try {
    return run(program);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 52;
  }
}

}  // namespace
}  // namespace causeway::test

int main(int argc, char** argv) {
  const char* const name = std::getenv("CAUSEWAY_TEST_PROGRAM");
  const std::string program = name == nullptr ? "" : name;
  if (program == "launcher") {
    ::unsetenv("CAUSEWAY_TEST_PROGRAM");
    return run_command(argc, argv);
  }
  if (!program.empty()) return causeway::test::run_program(program);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
