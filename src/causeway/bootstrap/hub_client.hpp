// A PE's side of a hub: the bootstrap over one connected socket, for unique ids and for the launcher alike.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/bootstrap/fork_guard.hpp>
#include <causeway/bootstrap/quiet_thread.hpp>
#include <causeway/bootstrap/socket_io.hpp>
#include <causeway/bootstrap/wire.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace causeway {

/// Who the PE is and how its connection was made.
struct HubClientSettings {
  int pe = 0, pes = 1;
  Secret secret{};
  std::optional<int> nodes;   ///< the launcher's --nodes
  std::string where;          ///< for error texts: "launcher", "unique id at 10.0.0.1:4711"
  int inherited_socket = -1;  ///< what the connection is a copy of: forked children do not keep it either
  BootstrapOptions options;
  Clock::time_point deadline;  ///< for the hub's welcome
};

/// One thread reads all that the hub sends: answers go to the PE's waiting thread, news of lost PEs are noted, and an
/// exit ends the process on the spot, whatever its other threads do.
class HubClient final : public Bootstrap {
 public:
  HubClient(UniqueFd socket, wire::FrameCutter cutter, HubClientSettings settings);
  ~HubClient() override;

  [[nodiscard]] int pe() const override { return settings_.pe; }
  [[nodiscard]] int pes() const override { return settings_.pes; }
  std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine, std::string_view step) override;
  void global_exit(int status) override;
  [[nodiscard]] int node_of(int pe) const override;
  [[nodiscard]] std::vector<int> lost_pes() const override;
  [[nodiscard]] std::string loss() const override;
  void on_departure(Told told) override;
  void break_off(const std::string& why) override { break_connection(why); }
  void start_failed(const std::string& why) override;

 private:
  struct Pending {
    std::string step;
    Clock::time_point since;
    Clock::time_point told;  // when the wait was reported last, or began
    std::optional<wire::Frame> answer;
  };

  void say_hello();
  void read_until_goodbye();
  [[nodiscard]] bool read_frames(std::span<std::byte> chunk);
  void take_frame(wire::Frame frame);
  void ask_who_is_missing_when_due();
  [[nodiscard]] int reader_wait_ms() const;
  void report_missing(const std::string& who);
  void break_connection(const std::string& why);
  void lose_hub(const std::string& why);
  void take_refusal(const std::string& why);
  void note_departure(int pe, bool lost, const std::string& cause);
  void send(std::span<const std::byte> frame);
  [[noreturn]] void fail_in_step(std::string_view step, const std::string& why) const;
  [[nodiscard]] std::vector<std::vector<std::byte>> unpack(const wire::Frame& all, std::string_view step) const;

  HubClientSettings settings_;
  PrivateFd socket_;
  NotInChildren inherited_;
  wire::FrameCutter cutter_;  // the reader thread's, once it runs
  UniqueFd leave_;            // eventfd: tells the reader thread that the goodbye was sent

  std::mutex send_mutex_;  // keeps frames whole
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::optional<Pending> pending_;  // guarded by mutex_, as are the following
  std::uint64_t sequence_ = 0;
  std::string broken_;
  std::vector<int> lost_, left_;
  std::string loss_;           // the first
  bool hub_lost_ = false;      // no more news come
  bool lost_unknown_ = false;  // and it is not known whose process that was
  int hub_pe_ = -1;            // in whose process the hub is

  std::mutex told_mutex_;  // held while told_ is called; before mutex_ where both are
  Told told_;

  std::optional<QuietThread> reader_;
};

}  // namespace causeway
