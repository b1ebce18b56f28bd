// The thread that serves the hubs of this process's unique ids.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/hub.hpp>
#include <causeway/bootstrap/quiet_thread.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace causeway {

/// One thread, blocked in poll(), for all hubs: an id costs its listening sockets and nothing else until a PE comes.
/// Ends with the process: what is still to be delivered is delivered first (2 s at most).
class HubService {
 public:
  HubService();
  ~HubService();
  HubService(const HubService&) = delete;
  HubService& operator=(const HubService&) = delete;

  void add(std::unique_ptr<Hub> hub);
  /// Removes the oldest hubs without a PE until no more than `count` are left; returns how many it removed.
  std::size_t keep_unused(std::size_t count);
  [[nodiscard]] std::size_t size();

  /// The service of this process, made on first use. A forked child has no threads, so it gets its own.
  static HubService& of_this_process();

 private:
  void serve();
  [[nodiscard]] int wait_ms();
  void wake();
  void close_all();

  std::mutex mutex_;  // guards the next three; not held while blocked in poll()
  std::vector<std::unique_ptr<Hub>> hubs_;
  std::size_t generation_ = 0;  // changes with the list
  bool stop_ = false;
  UniqueFd wake_;  // eventfd
  std::optional<QuietThread> thread_;
};

}  // namespace causeway
