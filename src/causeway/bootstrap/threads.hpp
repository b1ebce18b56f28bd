// The PEs of a job as threads (or fibers) of one process: they meet in memory.
#pragma once
#include <causeway/bootstrap/bootstrap.hpp>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace causeway {

/// What the PEs of one threads job share.
class ThreadsMeeting {
 public:
  /// `give_way`, if set, is called while waiting instead of sleeping (fibers of the simulator).
  ThreadsMeeting(int pes, int nodes, std::function<void()> give_way)
      : pes_(pes), nodes_(nodes), give_way_(std::move(give_way)), given_(size_t(pes)), steps_(size_t(pes)) {}

  [[nodiscard]] int pes() const { return pes_; }
  [[nodiscard]] int nodes() const { return nodes_; }
  std::vector<std::vector<std::byte>> allgather(int pe, std::span<const std::byte> mine, std::string_view step);
  /// The PE's main has returned, `lost`: without nvshmem_finalize. Whoever waits for it learns so.
  void leave(int pe, bool lost);
  /// See Bootstrap.
  void on_departure(int pe, Bootstrap::Told told);
  [[nodiscard]] std::vector<int> lost() const;

 private:
  int pes_, nodes_;
  std::function<void()> give_way_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> given_, result_;
  std::vector<std::string> steps_;
  std::vector<int> left_, lost_;
  std::map<int, Bootstrap::Told> told_;  // by PE
  std::string disagreement_;
  int arrived_ = 0;
  uint64_t generation_ = 0;
};

[[nodiscard]] std::unique_ptr<Bootstrap> make_bootstrap_threads(std::shared_ptr<ThreadsMeeting>, int pe);

}  // namespace causeway
