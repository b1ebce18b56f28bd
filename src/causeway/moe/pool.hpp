// Device memory that operations reuse, because freeing it would wait for kernels.
#pragma once
#include <causeway/host/machine_host.hpp>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace causeway::moe {

class Pool {
 public:
  /// A piece in use. It returns to the pool with the last copy of its pointer. The pool must still exist then.
  class Piece {
   public:
    explicit Piece(size_t size) : bytes(size), memory(machine_host::make_device(size)) {}
    ~Piece() {
      if (last_) cudaEventDestroy(last_);
      machine_host::free_device(memory);
    }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

    /// What is queued on the stream so far uses the piece, which is not given out again before that has ended. Not
    /// needed for work that the stream orders before the piece's next use. A captured graph holds no piece: its owner
    /// does.
    void used_on(cudaStream_t stream) {
      cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
      if (cudaStreamIsCapturing(stream, &capturing) != cudaSuccess || capturing != cudaStreamCaptureStatusNone) return;
      if (!last_ && cudaEventCreateWithFlags(&last_, cudaEventDisableTiming) != cudaSuccess) return;
      pending_ = cudaEventRecord(last_, stream) == cudaSuccess;
    }
    /// Has everything that was queued with it ended?
    [[nodiscard]] bool free() {
      if (!pending_) return true;
      cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // so that a capture of this thread stays valid
      cudaThreadExchangeStreamCaptureMode(&mode);
      pending_ = cudaEventQuery(last_) == cudaErrorNotReady;
      if (pending_) (void)cudaGetLastError();  // it is not the program's error
      cudaThreadExchangeStreamCaptureMode(&mode);
      return !pending_;
    }

    const size_t bytes;
    void* const memory;
    bool given = false;

   private:
    cudaEvent_t last_ = nullptr;
    bool pending_ = false;
  };

  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::shared_ptr<Piece> take(size_t least) {
    std::lock_guard lock(mutex_);
    const size_t bytes = std::max<size_t>(least, 256);
    auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const auto& piece) {
      return !piece->given && piece->bytes >= bytes && piece->bytes <= 4 * bytes && piece->free();
    });
    if (found == pieces_.end()) {
      pieces_.push_back(std::make_unique<Piece>(bytes));
      found = std::prev(pieces_.end());
    }
    (*found)->given = true;
    return {found->get(), [this](Piece* piece) { give(*piece); }};
  }

 private:
  void give(Piece& piece) {
    std::lock_guard lock(mutex_);
    piece.given = false;
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Piece>> pieces_;
};

}  // namespace causeway::moe
