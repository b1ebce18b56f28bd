// Whole jobs for the bootstrap tests: PEs as threads over either transport, and a peer that says whatever a test likes.
#pragma once
#include <causeway/base/random_bytes.hpp>
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/bootstrap/hub_service.hpp>
#include <causeway/bootstrap/job_id.hpp>
#include <causeway/bootstrap/socket_io.hpp>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace causeway::test {

using namespace std::chrono_literals;

inline BootstrapOptions patient(std::chrono::milliseconds connect = 60s) {
  BootstrapOptions options;
  options.connect_timeout = connect;
  return options;
}

/// A way to make the PEs of one job.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::unique_ptr<Bootstrap> join(int pe, const BootstrapOptions& options = patient()) = 0;
};

class UniqueIdTransport final : public Transport {
 public:
  /// The hub serves on, for strangers and for rounds of joining.
  explicit UniqueIdTransport(int pes) : pes_(pes), id(create_unique_id({"", "", true})) {}
  std::unique_ptr<Bootstrap> join(int pe, const BootstrapOptions& options) override {
    return make_bootstrap_unique_id(id, pe, pes_, options);
  }

 private:
  int pes_;

 public:
  UniqueId id;
};

/// What `causeway run` does, in this process: a hub with one socket pair per PE.
class LauncherTransport final : public Transport {
 public:
  explicit LauncherTransport(int pes, std::optional<int> nodes = {}) {
    HubSettings settings;
    settings.pes = pes;
    fill_random(settings.secret);
    auto hub = std::make_unique<Hub>(settings);
    for (int pe = 0; pe < pes; ++pe) {
      int pair[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail_errno("socketpair");
      hub->add_socket_of(pe, UniqueFd(pair[0]));
      sockets.emplace_back(pair[1]);
      environments.push_back({pe, pes, nodes, pair[1], to_job_id(settings.secret)});
    }
    HubService::of_this_process().add(std::move(hub));
  }
  std::unique_ptr<Bootstrap> join(int pe, const BootstrapOptions& options) override {
    return make_bootstrap_launcher(environments[static_cast<std::size_t>(pe)], options);
  }
  std::vector<UniqueFd> sockets;
  std::vector<LauncherEnvironment> environments;
};

enum class Kind { unique_id, launcher };
inline std::string name_of(Kind kind) { return kind == Kind::unique_id ? "unique_id" : "launcher"; }
inline std::unique_ptr<Transport> make_transport(Kind kind, int pes) {
  if (kind == Kind::unique_id) return std::make_unique<UniqueIdTransport>(pes);
  return std::make_unique<LauncherTransport>(pes);
}

/// Runs `body` for every PE of [0, pes) on a thread each. An exception that leaves a body fails the test.
inline void on_every_pe(int pes, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int pe = 0; pe < pes; ++pe)
    threads.emplace_back([&body, pe] {
      try {
        body(pe);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "PE " << pe << ": " << error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

/// The text of the Error that `body` throws; a failure of the test when it throws none.
inline std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "an Error was expected";
  return {};
}

/// A connection to an id's port over loopback, on which a test speaks for itself.
class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) fail_errno("connect");
  }
  void send(std::span<const std::byte> bytes) { send_all(socket_.get(), bytes); }
  void hello(const UniqueId& id, int pe, int pes) { hello_as({wire::format, id.secret, pe, pes, 1, 0, {}, {}}); }
  void hello_as(const wire::Hello& hello) { send(wire::FrameWriter(wire::FrameType::hello).value(hello).finish()); }
  wire::Frame receive_any() {
    return receive_frame(socket_.get(), cutter_, std::uint64_t{1} << 30, Clock::now() + 60s);
  }
  /// The next frame that is not the greeting, nor where the hub is.
  wire::Frame receive() {
    for (;;) {
      wire::Frame frame = receive_any();
      if (frame.type != wire::FrameType::greeting && frame.type != wire::FrameType::hub_in) return frame;
    }
  }
  std::string refusal() {
    const wire::Frame frame = receive();
    EXPECT_EQ(frame.type, wire::FrameType::refused);
    return wire::FrameReader(frame.body).text();
  }
  /// Does the hub end the connection within `limit`?
  bool closed_within(std::chrono::milliseconds limit) {
    try {
      for (;;) (void)receive_frame(socket_.get(), cutter_, std::uint64_t{1} << 30, Clock::now() + limit);
    } catch (const Error& error) {
      return std::string(error.what()) != "no answer in time";
    }
  }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
  wire::FrameCutter cutter_;
};

}  // namespace causeway::test
