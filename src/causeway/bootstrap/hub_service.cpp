#include <causeway/base/error.hpp>
#include <causeway/bootstrap/hub_service.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace causeway {

HubService::HubService() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) fail_errno("cannot make an eventfd for the hub of a unique id");
  thread_.emplace([this] { serve(); });
}

HubService::~HubService() {
  if (!thread_->in_its_process()) return;  // a forked child: the hubs are the parent's
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake();
  thread_.reset();
}

HubService& HubService::of_this_process() {
  static std::mutex mutex;
  static std::unique_ptr<HubService> service;
  const std::lock_guard lock(mutex);
  if (!service || !service->thread_->in_its_process()) service = std::make_unique<HubService>();
  return *service;
}

void HubService::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void HubService::add(std::unique_ptr<Hub> hub) {
  {
    const std::lock_guard lock(mutex_);
    hubs_.push_back(std::move(hub));
    ++generation_;
  }
  wake();
}

std::size_t HubService::keep_unused(std::size_t count) {
  std::vector<std::unique_ptr<Hub>> closed;
  {
    const std::lock_guard lock(mutex_);
    const auto is_unused = [](const auto& hub) { return !hub->others_present(-1); };
    auto unused = static_cast<std::size_t>(std::count_if(hubs_.begin(), hubs_.end(), is_unused));
    for (auto& hub : hubs_) {  // in the order they were made
      if (unused <= count) break;
      if (!is_unused(hub)) continue;
      closed.push_back(std::move(hub));
      --unused;
    }
    if (closed.empty()) return 0;
    std::erase(hubs_, nullptr);
    ++generation_;
  }
  // The thread may be in poll() on the closed descriptors: wake it so that it looks at the new list.
  wake();
  return closed.size();
}

std::size_t HubService::size() {
  const std::lock_guard lock(mutex_);
  return hubs_.size();
}

int HubService::wait_ms() {
  std::optional<Clock::time_point> first;
  for (const auto& hub : hubs_)
    if (const auto at = hub->next_deadline(); at && (!first || *at < *first)) first = at;
  return first ? poll_ms(*first) : -1;
}

void HubService::serve() {
  std::vector<pollfd> set;
  std::vector<std::pair<Hub*, std::size_t>> starts;  // where a hub's entries begin
  for (;;) {
    int timeout = -1;
    std::size_t generation = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return close_all();
      set.assign(1, {wake_.get(), POLLIN, 0});
      starts.clear();
      for (const auto& hub : hubs_) {
        starts.emplace_back(hub.get(), set.size());
        hub->watch(set);
      }
      timeout = wait_ms();
      generation = generation_;
    }
    (void)::poll(set.data(), set.size(), timeout);
    const std::lock_guard lock(mutex_);
    if (set[0].revents != 0) {
      std::uint64_t count = 0;
      (void)!::read(wake_.get(), &count, sizeof count);
    }
    // If the list changed meanwhile, a closed descriptor's number may mean another file by now: what poll() said is
    // stale.
    if (generation != generation_) continue;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t end = i + 1 < starts.size() ? starts[i + 1].second : set.size();
      starts[i].first->turn(std::span(set).subspan(starts[i].second, end - starts[i].second));
    }
    std::erase_if(hubs_, [](const auto& hub) { return hub->over(); });
  }
}

void HubService::close_all() {
  for (const auto& hub : hubs_) hub->close();
  const auto give_up_at = Clock::now() + std::chrono::seconds(2);
  const auto busy = [this] {
    return std::any_of(hubs_.begin(), hubs_.end(), [](const auto& hub) { return !hub->idle(); });
  };
  std::vector<pollfd> set;
  while (busy() && Clock::now() < give_up_at) {
    for (const auto& hub : hubs_) {
      set.clear();
      hub->watch(set);
      (void)::poll(set.data(), set.size(), 10);
      hub->turn(set);
    }
  }
  hubs_.clear();
}

}  // namespace causeway
