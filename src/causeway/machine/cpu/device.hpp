// The CPU machine's device: ordered streams of kernels and host tasks, executed by a pool of workers.
// Operations form a graph: each waits for the one before it in its stream (and for events, and for the legacy default
// stream), so a stream costs no OS thread and kernels of different streams run concurrently.
#pragma once
#include <causeway/machine/cpu/thread.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace causeway::cpu {

struct LaunchShape {
  Index3 grid{1, 1, 1}, block{1, 1, 1};
  size_t shared_bytes = 0;
  bool cooperative = false;
};

/// A kernel with its arguments bound; run() is called once by every GPU thread of the launch.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run() = 0;
};

enum class LaunchStatus { success, bad_shape, too_many_cooperative_blocks, too_much_shared, device_failed };

/// One operation in flight. Shared by the graph, the stream's tail and events.
struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

/// What a stream capture records and a graph replays: kernels and tasks with the indices of those they wait for.
struct GraphNode {
  std::shared_ptr<Kernel> kernel;  // or
  std::function<void()> task;      // one of the two; both empty: an event marker
  LaunchShape shape;
  std::vector<size_t> after;
};
struct Graph {
  std::vector<GraphNode> nodes;
};

/// An ordered queue of operations. Created and destroyed by its Device.
class Stream {
 public:
  Stream(bool blocking, int priority) : blocking_(blocking), priority_(priority) {}
  /// True if it keeps order with the legacy default stream.
  [[nodiscard]] bool blocking() const { return blocking_; }
  [[nodiscard]] int priority() const { return priority_; }

 private:
  friend class Device;
  bool blocking_;
  int priority_;
  bool destroyed_ = false;            // as these: guarded by the device's mutex
  OperationPtr last_;                 // guarded by the device's mutex
  std::shared_ptr<Graph> capture_;    // set while capturing
  std::vector<size_t> capture_tail_;  // nodes that the next captured one waits for
};

/// Marks a point of a stream. Recording again moves it.
class Event {
 public:
  using Clock = std::chrono::steady_clock;

 private:
  friend class Device;
  OperationPtr operation_;
  std::shared_ptr<Graph> capture_;  // recorded into a capture: the graph and its nodes
  std::vector<size_t> capture_nodes_;
};

/// What one device can hold at once; queries and launch checks use it. An H200 is the model.
struct DeviceLimits {
  unsigned multiprocessors = 132;
  unsigned threads_per_multiprocessor = 2048;
  unsigned blocks_per_multiprocessor = 32;
  unsigned threads_per_block = 1024;
  size_t shared_per_block = 227 * 1024;
  size_t shared_per_multiprocessor = 228 * 1024;
};

class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  /// Blocks of this shape that fit on one multiprocessor.
  [[nodiscard]] unsigned blocks_per_multiprocessor(unsigned threads, size_t shared_bytes) const;

  /// The legacy default stream.
  [[nodiscard]] Stream* default_stream() { return &default_stream_; }
  Stream* create_stream(bool blocking, int priority = 0);
  /// Forgets it; its work goes on.
  void destroy_stream(Stream*);
  /// False for a pointer that create_stream did not give (or that was destroyed).
  [[nodiscard]] bool owns(const Stream*) const;

  LaunchStatus launch(Stream*, const LaunchShape&, std::shared_ptr<Kernel>);
  /// Runs `task` on a worker when the stream reaches it. It must not wait for work of this device.
  void enqueue(Stream*, std::function<void()> task);

  void synchronize(Stream*);
  void synchronize();  // the whole device
  [[nodiscard]] bool idle(Stream*);

  void record(Event&, Stream*);
  void wait(Stream*, const Event&);
  void synchronize(const Event&);
  [[nodiscard]] bool done(const Event&) const;  // also true if never recorded
  [[nodiscard]] bool recorded(const Event&) const;
  [[nodiscard]] Event::Clock::time_point time(const Event&) const;

  /// Stream capture: operations go into a graph instead of running. False if the stream (does not) capture already.
  bool begin_capture(Stream*);
  std::shared_ptr<Graph> end_capture(Stream*);
  [[nodiscard]] bool capturing(Stream*) const;
  void launch_graph(std::shared_ptr<const Graph>, Stream*);

  /// After a trap or a deadlock every call answers an error, as on a GPU. Empty while all is well.
  [[nodiscard]] std::string failure() const;
  void fail(const std::string& text);

  // ---- for the workers
  /// Takes room for a block of so many threads; false if the device is full.
  bool admit(unsigned threads);
  void retire_threads(unsigned threads) { resident_threads_.fetch_sub(room(threads)); }

 private:
  friend struct Operation;
  /// Puts `operation` at the stream's end; `tail`, if given, is what later operations wait for.
  void submit(Stream*, const OperationPtr& operation, const OperationPtr& tail = nullptr);
  bool capture(Stream*, GraphNode);
  /// Threads that a block of so many counts as: a multiprocessor holds only so many blocks.
  [[nodiscard]] unsigned room(unsigned threads) const;
  void finished(const OperationPtr&);
  static void add_dependency(const OperationPtr& op, const OperationPtr& before);
  void wait_for(const OperationPtr&);

  DeviceLimits limits_;
  mutable std::mutex mutex_;
  Stream default_stream_{true, 0};
  std::unordered_map<const Stream*, std::unique_ptr<Stream>> streams_;
  std::string failure_;
  PeContext* pe_;
  std::condition_variable finished_;
  unsigned waiters_ = 0;
  std::atomic<unsigned> resident_threads_{0};
};

}  // namespace causeway::cpu
