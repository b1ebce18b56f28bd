#include <causeway/base/error.hpp>
#include <causeway/bootstrap/flush_output.hpp>
#include <causeway/bootstrap/threads.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace causeway {

std::vector<std::vector<std::byte>> ThreadsMeeting::allgather(int pe, std::span<const std::byte> mine,
                                                              std::string_view step) {
  std::unique_lock lock(mutex_);
  const uint64_t generation = generation_;
  given_[size_t(pe)].assign(mine.begin(), mine.end());
  steps_[size_t(pe)] = step;
  if (++arrived_ == pes_) {
    disagreement_.clear();
    for (int other = 1; other < pes_ && disagreement_.empty(); ++other)
      if (steps_[size_t(other)] != steps_[0])
        disagreement_ = fmt::format("PEs disagree: PE 0 is in step '{}', PE {} in step '{}'", steps_[0], other,
                                    steps_[size_t(other)]);
    result_ = given_;
    arrived_ = 0;
    ++generation_;
    changed_.notify_all();
  }
  while (generation_ == generation) {
    if (!left_.empty()) {
      --arrived_;
      fail(Status::internal, "PE {} left the job during step '{}'", left_.front(), step);
    }
    if (give_way_) {
      lock.unlock();
      give_way_();
      lock.lock();
    } else {
      changed_.wait(lock);
    }
  }
  // Nobody can start the next meeting's result before this PE has joined it, so result_ is still this meeting's.
  if (!disagreement_.empty()) fail(Status::symmetry, "{}", disagreement_);
  return result_;
}

void ThreadsMeeting::leave(int pe, bool lost) {
  std::lock_guard lock(mutex_);
  left_.push_back(pe);
  if (lost) lost_.push_back(pe);
  told_.erase(pe);
  for (const auto& [other, told] : told_) told(pe, lost);
  changed_.notify_all();
}

void ThreadsMeeting::on_departure(int pe, Bootstrap::Told told) {
  std::lock_guard lock(mutex_);
  told_.erase(pe);
  if (!told) return;
  for (const int other : left_) told(other, std::find(lost_.begin(), lost_.end(), other) != lost_.end());
  told_.emplace(pe, std::move(told));
}

std::vector<int> ThreadsMeeting::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

namespace {

class ThreadsBootstrap : public Bootstrap {
 public:
  ThreadsBootstrap(std::shared_ptr<ThreadsMeeting> meeting, int pe) : meeting_(std::move(meeting)), pe_(pe) {}
  [[nodiscard]] int pe() const override { return pe_; }
  [[nodiscard]] int pes() const override { return meeting_->pes(); }
  std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine, std::string_view step) override {
    return meeting_->allgather(pe_, mine, step);
  }
  void global_exit(int status) override {
    flush_output();
    _exit(status & 0xff);
  }
  [[nodiscard]] std::vector<int> lost_pes() const override { return meeting_->lost(); }
  [[nodiscard]] std::string loss() const override {
    const std::vector<int> lost = meeting_->lost();
    return lost.empty() ? "" : fmt::format("PE {} has ended: its main returned without nvshmem_finalize", lost.front());
  }
  void on_departure(Told told) override { meeting_->on_departure(pe_, std::move(told)); }
  [[nodiscard]] int node_of(int pe) const override {
    return meeting_->nodes() > 0 ? node_by_block(pe, pes(), meeting_->nodes()) : -1;
  }

 private:
  std::shared_ptr<ThreadsMeeting> meeting_;
  int pe_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_bootstrap_threads(std::shared_ptr<ThreadsMeeting> meeting, int pe) {
  return std::make_unique<ThreadsBootstrap>(std::move(meeting), pe);
}

}  // namespace causeway
