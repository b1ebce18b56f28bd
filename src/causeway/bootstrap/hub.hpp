// The middle of the star: accepts the PEs of one job, answers their gathers, and tells all when one is lost or the job
// ends.
//
// A hub has no thread of its own: its owner calls watch(), poll() and turn() in a loop (hub_service.hpp for unique ids,
// the launcher's loop for `causeway run`). Nothing in it blocks. What a stranger sends can only end the stranger's own
// connection: frames are bounded before memory is spent on them, a hello must carry the secret and come within 10 s,
// and at most strangers_max connections may be undecided at a time (the oldest goes).
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/connection.hpp>
#include <causeway/bootstrap/membership.hpp>
#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace causeway {

struct HubSettings {
  Secret secret{};
  HubName name{};
  int pes = 0;  ///< fixed number of PEs; 0: the first PE says it
  std::chrono::milliseconds hello_timeout{10'000};
  std::size_t strangers_max = 512;
  /// How long the end of a socket of add_socket_of() is kept secret. Sockets of a dying process close before its parent
  /// can collect its status: the PEs that fail because of it must not be seen to end first.
  std::chrono::milliseconds loss_patience{0};
  /// The same where the PE is the owner's child itself, whose death the owner tells by lose(): it can take long (the
  /// driver of a GPU clears up), and the PE is not to be blamed for it with less than its own status.
  std::chrono::milliseconds child_loss_patience{0};
  /// Stops listening when all PEs have joined: an id serves one job.
  bool one_job = false;
  /// Called when a PE ends the job for all.
  std::function<void(int pe, int status)> on_exit;
  /// Called when a PE is lost whose process the owner does not watch itself, or not yet; not after lose().
  std::function<void(int pe, const std::string& cause)> on_loss;
};

class Hub {
 public:
  explicit Hub(HubSettings settings) : settings_(std::move(settings)), membership_(settings_.pes) {}

  /// Accepts connections on these non-blocking sockets.
  void listen_on(std::vector<UniqueFd> listeners);
  /// A connected socket on which only `pe` may say hello, now, later, never or several times. `child`: the process that
  /// the owner has started and watches.
  void add_socket_of(int pe, UniqueFd socket, pid_t child = -1);

  /// Appends what the hub waits for. turn() takes exactly these entries, after poll().
  void watch(std::vector<pollfd>& set) const;
  void turn(std::span<const pollfd> polled);
  /// When turn() must be called even if nothing happens.
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

  /// The owner knows that this PE's process has ended (its socket may still be held open by a child of it). Returns
  /// whether it was in the job then: it has not said goodbye.
  bool lose(int pe, const std::string& cause);
  /// The last start of this PE has failed (start_failed).
  [[nodiscard]] bool start_has_failed(int pe) const { return failed_starts_.contains(pe); }
  /// Ends the job for all PEs, as if a PE had asked for it.
  void end_job(int pe, int status);
  /// Tells the PEs that the hub goes away. Then turn() it until idle(), or give up.
  void close();

  [[nodiscard]] bool idle() const;  ///< nothing left to deliver
  [[nodiscard]] bool others_present(int pe) const { return membership_.anyone_present_but(pe); }
  /// Of one job: all PEs have joined, and all have gone.
  [[nodiscard]] bool over() const { return settings_.one_job && full_ && connections_.empty(); }

 private:
  struct Loss {
    int pe;
    bool in_the_job;  // else its socket ended while it was not
    std::string cause;
    Clock::time_point known_at;
  };
  struct Ending {
    int pe, status;
    Clock::time_point last_at;  // when at the latest the PE in this process is told
    bool told_last = false;
  };

  void accept_some(int listener);
  void drop_oldest_stranger();
  void read(Connection& connection);
  void handle(Connection& connection, const wire::Frame& frame);
  void handle_hello(Connection& connection, const wire::Frame& frame);
  void handle_start_failed(int pe, const wire::Frame& frame);
  void watch_process(Connection& connection, const wire::Hello& hello);
  void take_end_of_process(Connection& connection);
  void tell_where_the_hub_is(Connection& newcomer);
  void goodbye(Connection& connection);
  void refuse(Connection& connection, const std::string& why);
  void finish(Connection& connection);
  void lost(Connection& connection, const std::string& cause);
  void apply(const Loss& loss);
  void deliver_answers();
  void finish_ending();
  void expire();
  [[nodiscard]] Connection* connection_of(int pe);

  HubSettings settings_;
  std::vector<PrivateFd> listeners_;
  Membership membership_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Loss> losses_;  // not yet told
  std::optional<Ending> ending_;
  std::optional<Clock::time_point> accept_again_at_;  // after the process ran out of descriptors
  std::set<int> failed_starts_;
  bool full_ = false;  // all have joined
};

}  // namespace causeway
