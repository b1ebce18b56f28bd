// A PE that dies, leaves, stays away or does something else: the others are told which and where.
#include "jobs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <utility>

namespace causeway::test {
namespace {

class Loss : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Transports, Loss, ::testing::Values(Kind::unique_id, Kind::launcher),
                         [](const auto& kind) { return name_of(kind.param); });

void expect_contains(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
}

TEST(LossOverTheNetwork, ALostPeEndsPendingAndLaterGathers) {
  UniqueIdTransport transport(4);
  std::atomic<int> joined = 0;
  std::thread dying([&] {
    RawPeer peer(transport.id.port);
    peer.hello(transport.id, 3, 4);
    while (joined < 3) std::this_thread::yield();
    std::this_thread::sleep_for(50ms);
    peer.close();
  });
  on_every_pe(3, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    ++joined;
    expect_contains(
        error_of([&] { bootstrap->barrier("exchange of sizes"); }),
        {"PE 3 left the job during step 'exchange of sizes'", "PE " + std::to_string(pe) + " of 4", "unique id at"});
    expect_contains(error_of([&] { bootstrap->barrier("later"); }), {"PE 3 left the job during step 'later'"});
    EXPECT_EQ(bootstrap->lost_pes(), std::vector{3});
  });
  dying.join();
}

TEST(LossOverTheNetwork, AMemberThatBreaksTheProtocolIsLost) {
  UniqueIdTransport transport(2);
  std::thread broken([&] {
    RawPeer peer(transport.id.port);
    peer.hello(transport.id, 1, 2);
    EXPECT_EQ(peer.receive().type, wire::FrameType::welcome);
    peer.send(wire::FrameWriter(wire::FrameType::gather).value(7).finish());  // far too short
    expect_contains(peer.refusal(), {"a frame field"});
  });
  const auto bootstrap = transport.join(0, patient());
  expect_contains(error_of([&] { bootstrap->barrier("work"); }), {"PE 1 left the job during step 'work'", "it sent"});
  broken.join();
}

TEST(LossInTheLauncher, AProcessThatEndsWithoutJoiningIsNamed) {
  LauncherTransport transport(3);
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    if (pe == 0) transport.sockets[2].reset();
    expect_contains(error_of([&] { bootstrap->barrier("start"); }),
                    {"PE 2 left the job during step 'start'", "it ended without having joined", "(launcher)"});
  });
}

TEST(LossInTheLauncher, AProgramThatDiedInTheMiddleIsNotMistakenForTheNextOne) {
  LauncherTransport transport(2);
  // A first program on PE 1's socket joins and dies; its parent keeps the socket and starts a second program.
  wire::Hello hello{wire::format, *parse_job_id(transport.environments[1].job), 1, 2, 11, 0, {}, {}};
  send_all(transport.sockets[1].get(), wire::FrameWriter(wire::FrameType::hello).value(hello).finish());
  const auto zero = transport.join(0, patient());
  expect_contains(error_of([&] { (void)transport.join(1, patient()); }), {"PE 1", "second hello"});
  expect_contains(error_of([&] { zero->barrier("start"); }), {"PE 1 left the job"});
}

TEST(LossOverTheNetwork, WhoeverAsksIsToldOfDepartures) {
  UniqueIdTransport transport(3);
  std::mutex mutex;
  std::vector<std::pair<int, bool>> early, late;
  const auto keep_in = [&](std::vector<std::pair<int, bool>>& list) {
    return [&](int pe, bool lost) {
      const std::lock_guard lock(mutex);
      list.emplace_back(pe, lost);
    };
  };
  auto zero = transport.join(0, patient()), one = transport.join(1, patient());
  zero->on_departure(keep_in(early));
  RawPeer peer(transport.id.port);
  peer.hello(transport.id, 2, 3);
  EXPECT_EQ(peer.receive().type, wire::FrameType::welcome);
  EXPECT_EQ(zero->loss(), "");
  peer.close();
  const auto limit = Clock::now() + 60s;
  while (zero->loss().empty() && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  expect_contains(zero->loss(), {"PE 2 has ended: its connection "});
  one.reset();
  expect_contains(error_of([&] { zero->barrier("later"); }), {"PE 2"});
  while (Clock::now() < limit) {
    const std::lock_guard lock(mutex);
    if (early.size() == 2) break;
  }
  zero->on_departure(keep_in(late));  // (what was before is told at once)
  const std::lock_guard lock(mutex);
  EXPECT_EQ(early, (std::vector<std::pair<int, bool>>{{2, true}, {1, false}}));
  EXPECT_EQ(late, (std::vector<std::pair<int, bool>>{{1, false}, {2, true}}));
}

/// PE 0 of 2, whose launcher the test plays.
class OwnLauncher {
 public:
  OwnLauncher() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail_errno("socketpair");
    hub.reset(pair[0]);
    socket_.reset(pair[1]);
    std::thread welcome([&] {
      wire::FrameCutter cutter;
      const wire::Frame hello = receive_frame(hub.get(), cutter, 1000, Clock::now() + 60s);
      say(wire::FrameWriter(wire::FrameType::welcome)
              .value(wire::FrameReader(hello.body).value<wire::Hello>().nonce)
              .finish());
    });
    Secret secret{};
    pe = make_bootstrap_launcher({0, 2, std::nullopt, socket_.get(), to_job_id(secret)}, patient());
    welcome.join();
    pe->on_departure([this](int who, bool lost) {
      const std::lock_guard lock(mutex_);
      told_.emplace_back(who, lost);
    });
  }
  void say(std::span<const std::byte> frame) { send_all(hub.get(), frame); }
  std::vector<std::pair<int, bool>> told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  void expect_told(const std::vector<std::pair<int, bool>>& expected) {
    const auto limit = Clock::now() + 60s;
    while (told().size() < expected.size() && Clock::now() < limit) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(told(), expected);
  }
  UniqueFd hub;

 private:
  UniqueFd socket_;
  std::mutex mutex_;
  std::vector<std::pair<int, bool>> told_;

 public:
  std::unique_ptr<Bootstrap> pe;
};

const std::vector<std::pair<int, bool>> somebody_is_lost{{-1, true}};

TEST(LossInTheLauncher, TheHubIsMissedAlsoAfterABreak) {
  OwnLauncher job;
  job.pe->break_off("for a reason");
  job.hub.reset();
  job.expect_told(somebody_is_lost);
  expect_contains(error_of([&] { job.pe->barrier("later"); }), {"for a reason"});
}

TEST(LossInTheLauncher, ARefusalIsTheEndOfAllNews) {
  OwnLauncher job;
  job.say(wire::FrameWriter(wire::FrameType::refused).text("it sent nonsense").finish());
  job.expect_told(somebody_is_lost);
  expect_contains(job.pe->loss(), {"it sent nonsense"});
  job.say(wire::FrameWriter(wire::FrameType::lost).value(std::int32_t{1}).text("it died").finish());
  job.say(wire::FrameWriter(wire::FrameType::closed).finish());
  job.hub.reset();
  job.expect_told({{-1, true}, {1, true}});  // (the end of the hub is told once)
  std::vector<std::pair<int, bool>> late;
  job.pe->on_departure([&](int pe, bool lost) { late.emplace_back(pe, lost); });
  EXPECT_EQ(late, (std::vector<std::pair<int, bool>>{{1, true}, {-1, true}}));
}

TEST_P(Loss, AFailedStartIsTheCause) {
  const auto transport = make_transport(GetParam(), 2);
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = transport->join(pe, patient());
    bootstrap->barrier("all are here");
    if (pe == 1) return bootstrap->start_failed("no memory");
    expect_contains(error_of([&] { bootstrap->barrier("start"); }),
                    {"PE 1 left the job during step 'start': its nvshmem_init failed: no memory"});
    EXPECT_EQ(bootstrap->loss(), "");
  });
}

TEST_P(Loss, ABootstrapCanBeBrokenOff) {
  const auto transport = make_transport(GetParam(), 2);
  const auto zero = transport->join(0, patient());
  std::thread other([&] { zero->break_off("for a reason"); });
  for (const char* step : {"first", "second"})
    expect_contains(error_of([&] { zero->barrier(step); }), {"for a reason"});
  other.join();
}

TEST_P(Loss, AProcessThatDiesWhileAChildHoldsItsSocketIsLost) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer lets no child of a process with threads begin some of its own";
#endif
  // The PE is a process whose child keeps all that close-on-exec and fork leave it: the number of the socket itself.
  const auto transport = make_transport(GetParam(), 2);
  const auto zero = transport->join(0, patient());
  int life[2];
  ASSERT_EQ(::pipe2(life, O_CLOEXEC), 0);
  const pid_t pe = ::fork();
  if (pe == 0) {
    ::close(life[1]);
    const auto one = transport->join(1, patient());
    if (::syscall(SYS_fork) == 0) {  // (no handlers run: the child has the socket)
      char nothing;
      (void)!::read(life[0], &nothing, 1);
      ::_exit(0);
    }
    ::kill(::getpid(), SIGKILL);
  }
  ::close(life[0]);
  expect_contains(error_of([&] { zero->barrier("work"); }), {"PE 1 left the job during step 'work'", "process ended"});
  ::close(life[1]);
  ::waitpid(pe, nullptr, 0);
}

TEST_P(Loss, AnOrderlyLeaveEndsAGatherToo) {
  const auto transport = make_transport(GetParam(), 3);
  on_every_pe(3, [&](int pe) {
    const auto bootstrap = transport->join(pe, patient());
    bootstrap->barrier("all are here");
    if (pe == 1) return;
    expect_contains(error_of([&] { bootstrap->barrier("one more"); }),
                    {"PE 1 left the job during step 'one more'", "it finished in good order"});
    EXPECT_TRUE(bootstrap->lost_pes().empty());
  });
}

TEST_P(Loss, DifferentStepsAreAnErrorOnEveryPe) {
  const auto transport = make_transport(GetParam(), 3);
  on_every_pe(3, [&](int pe) {
    const auto bootstrap = transport->join(pe, patient());
    bootstrap->barrier("all are here");
    const std::string step = pe == 1 ? "split of teams" : "exchange of handles";
    for (const std::string& call : {step, std::string("later")})
      expect_contains(error_of([&] { bootstrap->barrier(call); }),
                      {"PE 1 ", "'split of teams'", "'exchange of handles'"});
  });
}

TEST(LossOverTheNetwork, DifferentNumbersOfPesAreAnErrorOnEveryPe) {
  UniqueIdTransport transport(2);
  const auto zero = transport.join(0, patient());
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    expect_contains(error_of([&] { (void)make_bootstrap_unique_id(transport.id, 1, 5, patient()); }),
                    {"PE 1 says the job has 5 PEs", "PE 0 said 2"});
  });
  expect_contains(error_of([&] { zero->barrier("start"); }), {"PE 1 says the job has 5 PEs", "PE 0 said 2"});
  other.join();
}

TEST_P(Loss, AGatherThatTakesLongNamesTheMissingAndGoesOn) {
  const auto transport = make_transport(GetParam(), 3);
  std::mutex mutex;
  std::vector<std::string> reports;
  on_every_pe(3, [&](int pe) {
    BootstrapOptions options = patient();
    options.report_after = pe == 0 ? 50ms : 30'000ms;
    options.report = [&](const std::string& text) {
      const std::lock_guard lock(mutex);
      reports.push_back(text);
    };
    if (pe == 2) {  // late in every way
      while ([&] {
        const std::lock_guard lock(mutex);
        return reports.empty();
      }())
        std::this_thread::sleep_for(1ms);
    }
    const auto bootstrap = transport->join(pe, options);
    if (pe == 1) bootstrap->barrier("meeting");
    if (pe == 2) {
      while ([&] {
        const std::lock_guard lock(mutex);
        return reports.back().find("PE 2 (pid ") == std::string::npos;
      }())
        std::this_thread::sleep_for(1ms);
    }
    if (pe != 1) bootstrap->barrier("meeting");
  });
  expect_contains(reports.front(), {"PE 0 has waited", "step 'meeting'", "PE 2 (has not joined the job)"});
  expect_contains(reports.back(), {"PE 2 (pid ", "busy elsewhere"});
}

TEST(LossOverTheNetwork, AHubThatGoesAwayIsNamed) {
  // The hub's process is played by a listener that welcomes and hangs up.
  const Address loopback{AF_INET, {std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}}};
  Listener listener = listen_at(std::span(&loopback, 1));
  UniqueId id = create_unique_id();
  id.port = listener.port;
  std::thread hub([&] {
    for (;;) {
      pollfd wait{listener.sockets[0].get(), POLLIN, 0};
      if (::poll(&wait, 1, 10'000) != 1) return;
      UniqueFd socket(::accept(listener.sockets[0].get(), nullptr, nullptr));
      send_all(socket.get(),
               wire::FrameWriter(wire::FrameType::greeting).value(wire::Greeting{wire::format, id.hub_name}).finish());
      wire::FrameCutter cutter;
      try {
        const wire::Frame hello = receive_frame(socket.get(), cutter, 1000, Clock::now() + 60s);
        send_all(socket.get(), wire::FrameWriter(wire::FrameType::welcome)
                                   .value(wire::FrameReader(hello.body).value<wire::Hello>().nonce)
                                   .finish());
        (void)receive_frame(socket.get(), cutter, 1000, Clock::now() + 60s);
        return;
      } catch (const Error&) {  // a connection that the PE did not choose
      }
    }
  });
  const auto bootstrap = make_bootstrap_unique_id(id, 0, 2, patient());
  for (const char* step : {"first", "second"})
    expect_contains(error_of([&] { bootstrap->barrier(step); }), {step, "hub"});
  hub.join();
}

}  // namespace
}  // namespace causeway::test
