// Whoever does not belong to a job is refused with a reason, and the job does not notice.
#include "jobs.hpp"

#include <causeway/bootstrap/addresses.hpp>
#include <unistd.h>

#include <cstdint>
#include <random>

namespace causeway::test {
namespace {

/// A job of three PEs that runs gathers from its construction to check().
class BusyJob {
 public:
  BusyJob()
      : transport_(pes), thread_([this] {
          on_every_pe(pes, [this](int pe) {
            const auto bootstrap = transport_.join(pe, patient());
            for (bool stop = false; !stop;) {
              const std::byte mine{stop_ ? std::uint8_t{1} : std::uint8_t{0}};
              const auto all = bootstrap->allgather(std::span(&mine, 1), "work");
              for (const auto& part : all) stop |= part.at(0) == std::byte{1};
              ++gathers_;
            }
          });
        }) {
    while (gathers_ == 0) std::this_thread::yield();
  }
  ~BusyJob() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] const UniqueId& id() const { return transport_.id; }
  /// All PEs still get through whole gathers.
  void check() {
    const int before = gathers_;
    const auto limit = Clock::now() + 60s;
    while (gathers_ < before + 20 && Clock::now() < limit) std::this_thread::sleep_for(1ms);
    EXPECT_GE(gathers_, before + 20);
  }
  static constexpr int pes = 3;

 private:
  UniqueIdTransport transport_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> gathers_ = 0;
  std::thread thread_;
};

TEST(Strangers, AWrongSecretIsRefused) {
  BusyJob job;
  UniqueId wrong = job.id();
  for (const std::size_t bad : {std::size_t{0}, std::size_t{15}}) {
    wrong.secret = job.id().secret;
    wrong.secret[bad] ^= std::byte{1};
    const std::string error = error_of([&] { (void)make_bootstrap_unique_id(wrong, 1, 3, patient()); });
    EXPECT_NE(error.find("the secret is not this job's"), std::string::npos) << error;
    EXPECT_NE(error.find("PE 1 of 3"), std::string::npos) << error;
    EXPECT_EQ(error.find("cannot join the job"), error.rfind("cannot join the job")) << error;  // said once
  }
  job.check();
}

TEST(Strangers, APidAloneDoesNotMakeAProcessTheHubs) {
  for (const bool same : {false, true}) {
    const UniqueIdTransport transport(1);
    RawPeer peer(transport.id.port);
    peer.hello_as({wire::format,
                   transport.id.secret,
                   0,
                   1,
                   static_cast<std::uint32_t>(::getpid()),
                   pid_space_hash(),
                   same ? process_identity() : ProcessIdentity{},
                   {}});
    peer.send(wire::FrameWriter(wire::FrameType::who).finish());
    bool hub_is_there = false;
    for (wire::FrameType type{}; type != wire::FrameType::missing;) {
      type = peer.receive_any().type;
      hub_is_there |= type == wire::FrameType::hub_in;
    }
    EXPECT_EQ(hub_is_there, same);
  }
}

TEST(Strangers, AnotherJobsHubIsNotMistakenForOurs) {
  BusyJob job;
  UniqueId other = create_unique_id();
  other.port = job.id().port;
  const std::string error = error_of([&] { (void)make_bootstrap_unique_id(other, 0, 3, patient()); });
  EXPECT_NE(error.find("another job's hub answers there"), std::string::npos) << error;
  job.check();
}

TEST(Strangers, GarbageIsRefused) {
  BusyJob job;
  std::mt19937 random(20240611);
  for (int turn = 0; turn < 60; ++turn) {
    RawPeer peer(job.id().port);
    std::vector<std::byte> garbage(random() % 3 == 0 ? random() % 16 : random() % 100'000);
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    if (garbage.size() > 4) {
      try {
        peer.send(garbage);
        EXPECT_NE(peer.refusal().find("no frame"), std::string::npos);
      } catch (const Error& error) {
        // The hub has refused and closed before all of it was sent.
        EXPECT_NE(std::string(error.what()), "no answer in time");
      }
    } else if (!garbage.empty()) {
      peer.send(garbage);  // not even a magic number: then it goes away
    }
  }
  job.check();
}

TEST(Strangers, FramesThatAreTooLongOrNoHelloAreRefused) {
  BusyJob job;
  for (const std::uint64_t bytes : {std::uint64_t{257}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    RawPeer peer(job.id().port);
    const wire::FrameHeader header{wire::magic, wire::FrameType::hello, bytes};
    peer.send(std::as_bytes(std::span(&header, 1)));
    EXPECT_NE(peer.refusal().find("at most 256"), std::string::npos);
    EXPECT_TRUE(peer.closed_within(60s));
  }
  for (const auto type :
       {wire::FrameType::gather, wire::FrameType::exit, wire::FrameType::goodbye, wire::FrameType::who}) {
    RawPeer peer(job.id().port);
    peer.send(wire::FrameWriter(type).value(std::int32_t{3}).finish());
    EXPECT_NE(peer.refusal().find("a hello was expected"), std::string::npos);
  }
  job.check();
}

TEST(Strangers, NumbersThatAreTakenOrOutOfRangeAreRefused) {
  BusyJob job;
  for (const auto& [pe, text] : {std::pair{1, "in the job already"}, {3, "out of range"}, {-1, "out of range"}}) {
    RawPeer peer(job.id().port);
    peer.hello(job.id(), pe, 3);
    const std::string why = peer.refusal();
    EXPECT_NE(why.find(text), std::string::npos) << why;
    EXPECT_NE(why.find("PE " + std::to_string(pe)), std::string::npos) << why;
  }
  job.check();
}

TEST(Strangers, SilenceIsEndedAfterATime) {
  HubSettings settings;
  fill_random(settings.secret);
  settings.hello_timeout = 100ms;
  Listener listener = listen_at(list_addresses({}));
  auto hub = std::make_unique<Hub>(settings);
  hub->listen_on(std::move(listener.sockets));
  HubService::of_this_process().add(std::move(hub));
  RawPeer silent(listener.port);
  EXPECT_NE(silent.refusal().find("no hello came in time"), std::string::npos);
  EXPECT_TRUE(silent.closed_within(60s));
}

TEST(Strangers, ACrowdDoesNotKeepPesOut) {
  HubSettings settings;
  fill_random(settings.secret);
  fill_random(settings.name);
  settings.strangers_max = 8;
  Listener listener = listen_at(list_addresses({}));
  auto hub = std::make_unique<Hub>(settings);
  hub->listen_on(std::move(listener.sockets));
  HubService::of_this_process().add(std::move(hub));
  std::vector<std::unique_ptr<RawPeer>> crowd;
  for (int i = 0; i < 40; ++i) crowd.push_back(std::make_unique<RawPeer>(listener.port));

  UniqueId id = create_unique_id();
  id.port = listener.port;
  id.secret = settings.secret;
  id.hub_name = settings.name;
  on_every_pe(2, [&](int pe) { make_bootstrap_unique_id(id, pe, 2, patient())->barrier("in spite of the crowd"); });
  EXPECT_TRUE(crowd.front()->closed_within(60s));
}

TEST(Strangers, AHostThatIsNotThereGivesAnErrorWithAllAddresses) {
  UniqueId id = create_unique_id();
  ASSERT_GE(HubService::of_this_process().keep_unused(0), 1u);
  const std::string error = error_of([&] { (void)make_bootstrap_unique_id(id, 0, 2, patient(300ms)); });
  EXPECT_NE(error.find("PE 0 of 2"), std::string::npos) << error;
  EXPECT_NE(error.find("127.0.0.1:" + std::to_string(id.port) + ": Connection refused"), std::string::npos) << error;
}

}  // namespace
}  // namespace causeway::test
