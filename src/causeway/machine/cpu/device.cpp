#include <causeway/base/error.hpp>
#include <causeway/base/numbers.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/operation.hpp>
#include <causeway/machine/cpu/pool.hpp>
#include <sched.h>

#include <algorithm>
#include <cstdio>

namespace causeway::cpu {

Device::Device() : pe_(&pe_context()) {
  if (const unsigned wanted = machine_options().multiprocessors) limits_.multiprocessors = wanted;
}

Device::~Device() {
  synchronize();
  std::lock_guard lock(mutex_);  // whoever finished the last operation may still hold it
}

unsigned Device::blocks_per_multiprocessor(unsigned threads, size_t shared_bytes) const {
  if (threads == 0 || threads > limits_.threads_per_block || shared_bytes > limits_.shared_per_block) return 0;
  const unsigned warps_threads = rounded_up(threads, 32);
  unsigned blocks = std::min(limits_.blocks_per_multiprocessor, limits_.threads_per_multiprocessor / warps_threads);
  if (shared_bytes) blocks = std::min(blocks, unsigned(limits_.shared_per_multiprocessor / (shared_bytes + 1024)));
  return blocks;
}

// ---------------------------------------------------------------- streams

Stream* Device::create_stream(bool blocking, int priority) {
  auto stream = std::make_unique<Stream>(blocking, priority);
  Stream* raw = stream.get();
  std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& entry) {
    return entry.second->destroyed_ && (!entry.second->last_ || entry.second->last_->done);
  });
  streams_.emplace(raw, std::move(stream));
  return raw;
}

bool Device::owns(const Stream* stream) const {
  std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  return stream == &default_stream_ || (found != streams_.end() && !found->second->destroyed_);
}

void Device::destroy_stream(Stream* stream) {
  std::lock_guard lock(mutex_);
  if (!stream->last_ || stream->last_->done)
    streams_.erase(stream);
  else
    stream->destroyed_ = true;  // its work goes on
}

// ---------------------------------------------------------------- the graph of work

void Device::add_dependency(const OperationPtr& operation, const OperationPtr& before) {
  if (!before || before->done) return;
  before->dependents.push_back(operation);
  ++operation->waits_for;
}

void Device::submit(Stream* stream, const OperationPtr& operation, const OperationPtr& tail) {
  operation->device = this;
  operation->pe = pe_;
  bool ready;
  {
    std::lock_guard lock(mutex_);
    add_dependency(operation, stream->last_);
    if (stream == &default_stream_) {
      for (const auto& [raw, other] : streams_)
        if (other->blocking_) add_dependency(operation, other->last_);
    } else if (stream->blocking_) {
      add_dependency(operation, default_stream_.last_);
    }
    stream->last_ = tail ? tail : operation;
    ready = --operation->waits_for == 0;
  }
  if (!ready) return;
  if (operation->kernel || operation->task) {
    Pool::instance().ready(operation);
  } else {
    finished(operation);
  }
}

void Device::finished(const OperationPtr& first) {
  // A marker finishes at once when it becomes ready, so finishing can ripple: a list instead of recursion.
  std::vector<OperationPtr> ended{first};
  while (!ended.empty()) {
    const OperationPtr operation = std::move(ended.back());
    ended.pop_back();
    operation->finished_at = Event::Clock::now();
    std::vector<OperationPtr> ready;
    {
      std::lock_guard lock(mutex_);
      operation->done = true;
      for (auto& next : operation->dependents)
        if (--next->waits_for == 0) ready.push_back(std::move(next));
      operation->dependents.clear();
      operation->kernel.reset();
      operation->task = nullptr;
      if (waiters_ > 0) finished_.notify_all();
    }
    for (auto& next : ready) {
      if (next->kernel || next->task) {
        Pool::instance().ready(next);
      } else {
        ended.push_back(std::move(next));
      }
    }
  }
}

void Device::wait_for(const OperationPtr& operation) {
  if (!operation) return;
  // Most waits are short: give the processor to the workers a few times before sleeping.
  for (int i = 0; i < 16 || simulated; ++i) {
    if (operation->done) return;
    simulated ? yield() : void(sched_yield());
  }
  std::unique_lock lock(mutex_);
  ++waiters_;
  finished_.wait(lock, [&] { return operation->done.load(); });
  --waiters_;
}

LaunchStatus Device::launch(Stream* stream, const LaunchShape& shape, std::shared_ptr<Kernel> kernel) {
  const Index3 g = shape.grid, b = shape.block;
  if (!g.x || !g.y || !g.z || !b.x || !b.y || !b.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535 || b.x > 1024 ||
      b.y > 1024 || b.z > 64 || size_t(b.x) * b.y * b.z > limits_.threads_per_block)
    return LaunchStatus::bad_shape;
  if (shape.shared_bytes > limits_.shared_per_block) return LaunchStatus::too_much_shared;
  const unsigned threads = b.x * b.y * b.z;
  if (shape.cooperative && size_t(g.x) * g.y * g.z >
                               size_t(limits_.multiprocessors) * blocks_per_multiprocessor(threads, shape.shared_bytes))
    return LaunchStatus::too_many_cooperative_blocks;
  if (!failure().empty()) return LaunchStatus::device_failed;
  if (capture(stream, {kernel, nullptr, shape, {}})) return LaunchStatus::success;
  auto operation = std::make_shared<Operation>();
  operation->kernel = std::move(kernel);
  operation->shape = shape;
  submit(stream, operation);
  return LaunchStatus::success;
}

void Device::enqueue(Stream* stream, std::function<void()> task) {
  if (capture(stream, {nullptr, task, {}, {}})) return;
  auto operation = std::make_shared<Operation>();
  operation->task = std::move(task);
  submit(stream, operation);
}

void Device::synchronize(Stream* stream) {
  OperationPtr last;
  {
    std::lock_guard lock(mutex_);
    last = stream->last_;
  }
  wait_for(last);
}

void Device::synchronize() {
  std::vector<OperationPtr> all;
  {
    std::lock_guard lock(mutex_);
    all.push_back(default_stream_.last_);
    for (const auto& [raw, stream] : streams_) all.push_back(stream->last_);
  }
  for (const auto& operation : all) wait_for(operation);
}

bool Device::idle(Stream* stream) {
  if (simulated) yield();
  std::lock_guard lock(mutex_);
  return !stream->last_ || stream->last_->done;
}

// ---------------------------------------------------------------- events

void Device::record(Event& event, Stream* stream) {
  {
    std::lock_guard lock(mutex_);
    if (stream->capture_) {
      event.capture_ = stream->capture_;
      event.capture_nodes_ = stream->capture_tail_;
      return;
    }
  }
  auto marker = std::make_shared<Operation>();
  submit(stream, marker);
  event.operation_ = marker;
  event.capture_.reset();
}

void Device::wait(Stream* stream, const Event& event) {
  if (event.capture_) {  // the waiting stream joins the capture
    std::lock_guard lock(mutex_);
    stream->capture_ = event.capture_;
    auto& tail = stream->capture_tail_;
    tail.insert(tail.end(), event.capture_nodes_.begin(), event.capture_nodes_.end());
    return;
  }
  if (!event.operation_) return;
  auto marker = std::make_shared<Operation>();
  {
    std::lock_guard lock(mutex_);
    add_dependency(marker, event.operation_);
  }
  submit(stream, marker);
}

void Device::synchronize(const Event& event) { wait_for(event.operation_); }
bool Device::done(const Event& event) const {
  if (simulated) yield();
  return !event.operation_ || event.operation_->done;
}
bool Device::recorded(const Event& event) const { return event.operation_ != nullptr; }
Event::Clock::time_point Device::time(const Event& event) const { return event.operation_->finished_at; }

// ---------------------------------------------------------------- capture

bool Device::begin_capture(Stream* stream) {
  std::lock_guard lock(mutex_);
  if (stream->capture_) return false;
  stream->capture_ = std::make_shared<Graph>();
  stream->capture_tail_.clear();
  return true;
}

std::shared_ptr<Graph> Device::end_capture(Stream* stream) {
  std::lock_guard lock(mutex_);
  auto graph = std::move(stream->capture_);
  stream->capture_.reset();
  stream->capture_tail_.clear();
  for (const auto& [raw, other] : streams_)
    if (other->capture_ == graph) {
      other->capture_.reset();
      other->capture_tail_.clear();
    }
  return graph;
}

bool Device::capturing(Stream* stream) const {
  std::lock_guard lock(mutex_);
  return stream->capture_ != nullptr;
}

bool Device::capture(Stream* stream, GraphNode node) {
  std::lock_guard lock(mutex_);
  if (!stream->capture_) return false;
  node.after = stream->capture_tail_;
  stream->capture_->nodes.push_back(std::move(node));
  stream->capture_tail_ = {stream->capture_->nodes.size() - 1};
  return true;
}

void Device::launch_graph(std::shared_ptr<const Graph> graph, Stream* stream) {
  auto entry = std::make_shared<Operation>();
  auto exit = std::make_shared<Operation>();
  std::vector<OperationPtr> operations;
  for (const GraphNode& node : graph->nodes) {
    auto operation = std::make_shared<Operation>();
    operation->device = this;
    operation->pe = pe_;
    operation->kernel = node.kernel;
    operation->task = node.task;
    operation->shape = node.shape;
    operation->waits_for = 0;
    for (size_t before : node.after) add_dependency(operation, operations[before]);
    if (node.after.empty()) add_dependency(operation, entry);
    operations.push_back(operation);
  }
  for (const auto& operation : operations) add_dependency(exit, operation);
  add_dependency(exit, entry);
  {
    // The exit becomes the stream's tail before the entry can finish, so that nothing overtakes the graph.
    std::lock_guard lock(mutex_);
    exit->device = this;
    exit->pe = pe_;
    --exit->waits_for;
  }
  submit(stream, entry, exit);
}

// ---------------------------------------------------------------- limits and failures

unsigned Device::room(unsigned threads) const {
  return std::max(threads, limits_.threads_per_multiprocessor / limits_.blocks_per_multiprocessor);
}

bool Device::admit(unsigned threads) {
  const unsigned capacity = limits_.multiprocessors * limits_.threads_per_multiprocessor;
  if (resident_threads_.load() + room(threads) > capacity) return false;
  resident_threads_.fetch_add(room(threads));
  return true;
}

std::string Device::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void Device::fail(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = text;
  std::fprintf(stderr, "causeway: PE %d: %s\n", pe_->pe, text.c_str());
}

}  // namespace causeway::cpu
