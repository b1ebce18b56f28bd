#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/operation.hpp>
#include <causeway/machine/cpu/pool.hpp>
#include <causeway/machine/cpu/worker.hpp>

#include <algorithm>
#include <thread>

namespace causeway::cpu {

Pool& Pool::instance() {
  static Pool& pool = *new Pool;
  return pool;
}

void Pool::start_workers() {
  if (started_ || simulated) return;
  started_ = true;
  const unsigned wanted = machine_options().workers;
  const unsigned workers = wanted ? wanted : std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < workers; ++i) std::thread([] { Worker().run(); }).detach();
}

void Pool::ready(const OperationPtr& operation) {
  std::unique_lock lock(mutex_);
  start_workers();
  if (operation->kernel) {
    auto grid = std::make_shared<Grid>();
    grid->kernel = operation->kernel;
    grid->shape = operation->shape;
    grid->pe = operation->pe;
    grid->operation = operation;
    grid->blocks = operation->shape.grid.x * operation->shape.grid.y * operation->shape.grid.z;
    grid->blocks_left = grid->blocks;
    grids_.push_back(std::move(grid));
  } else {
    tasks_.push_back(operation);
  }
  waiting_items_.fetch_add(1);
  if (idle_ > 0) wake_.notify_all();
}

std::optional<BlockTicket> Pool::take_block() {
  if (!has_work()) return std::nullopt;
  std::lock_guard lock(mutex_);
  for (auto at = grids_.begin(); at != grids_.end(); ++at) {
    Grid& grid = **at;
    const unsigned threads = grid.shape.block.x * grid.shape.block.y * grid.shape.block.z;
    if (!grid.operation->device->admit(threads)) continue;
    BlockTicket ticket{*at, grid.next_block.fetch_add(1)};
    if (ticket.index + 1 == grid.blocks) {
      grids_.erase(at);
      waiting_items_.fetch_sub(1);
    }
    return ticket;
  }
  return std::nullopt;
}

OperationPtr Pool::take_task() {
  if (!has_work()) return nullptr;
  std::lock_guard lock(mutex_);
  if (tasks_.empty()) return nullptr;
  OperationPtr task = std::move(tasks_.front());
  tasks_.pop_front();
  waiting_items_.fetch_sub(1);
  return task;
}

void Pool::forget_all() {
  std::lock_guard lock(mutex_);
  grids_.clear();
  tasks_.clear();
  waiting_items_ = 0;
}

void Pool::wait_for_work() {
  std::unique_lock lock(mutex_);
  ++idle_;
  wake_.wait(lock, [this] { return waiting_items_.load() != 0; });
  --idle_;
}

}  // namespace causeway::cpu
