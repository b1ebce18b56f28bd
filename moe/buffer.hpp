// The host side of moe.hpp, compiled once for each machine.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/moe/low_latency.hpp>
#include <causeway/moe/moe.hpp>
#include <causeway/moe/throughput.hpp>
#include <causeway/runtime/machine_host.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace causeway::moe {

#if defined(CAUSEWAY_CPU)
constexpr unsigned kThreads = 1;  // a block of the CPU machine is fastest as one thread
#else
constexpr unsigned kThreads = 512;
#endif

/// Device memory that handles use again and again: freeing it would wait for kernels.
class Pool {
 public:
  ~Pool() {
    for (const Piece& piece : pieces_) machine_host::free_device(piece.memory);
  }
  std::shared_ptr<void> take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
      return !piece.used && piece.bytes >= bytes && piece.bytes <= 4 * bytes;
    });
    if (found == pieces_.end()) {
      const size_t rounded = std::max<size_t>(bytes, 256);
      pieces_.push_back({machine_host::make_device(rounded), rounded, false});
      found = std::prev(pieces_.end());
    }
    found->used = true;
    void* memory = found->memory;
    return {memory, [this, memory](void*) { give(memory); }};
  }

 private:
  struct Piece {
    void* memory;
    size_t bytes;
    bool used;
  };
  void give(void* memory) {
    std::lock_guard lock(mutex_);
    for (Piece& piece : pieces_)
      if (piece.memory == memory) piece.used = false;
  }
  std::mutex mutex_;
  std::vector<Piece> pieces_;
};

/// Where the tokens of a dispatch went. Its memory is the buffer's pool's, so it must not outlive the buffer.
class Handle {
 public:
  Route route{};
  int received = 0;
  std::shared_ptr<void> memory;
};

/// What combine needs to know of a low-latency dispatch.
class LowLatencyHandle {
 public:
  LowLatencyRoute route{};
  int tokens = 0, topk = 0, hidden = 0;
  std::shared_ptr<void> memory;
};

}  // namespace causeway::moe
