// Device memory that handles use again and again: freeing it would wait for kernels.
#pragma once
#include <causeway/runtime/machine_host.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

namespace causeway::moe {

class Pool {
 public:
  Pool() = default;
  ~Pool() {
    for (const Piece& piece : pieces_) machine_host::free_device(piece.memory);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Memory that comes back by itself when the last copy of the pointer goes; the pool must still be there then.
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

}  // namespace causeway::moe
