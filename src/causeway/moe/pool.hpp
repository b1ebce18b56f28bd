// Device memory that operations use again and again: freeing it would wait for kernels.
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
  /// A piece in use. It comes back by itself when the last copy of its pointer goes; the pool must still be there then.
  class Piece {
   public:
    explicit Piece(size_t size) : bytes(size), memory(machine_host::make_device(size)) {}
    ~Piece() {
      if (last_) cudaEventDestroy(last_);
      machine_host::free_device(memory);
    }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

    /// What is queued on the stream so far uses the piece: it is not given out again before that is through. Work of a
    /// stream that is ordered before the piece's next use need not be noted. A graph that is captured keeps nothing:
    /// its owner does.
    void used_on(cudaStream_t stream) {
      cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
      if (cudaStreamIsCapturing(stream, &capturing) != cudaSuccess || capturing != cudaStreamCaptureStatusNone) return;
      if (!last_ && cudaEventCreateWithFlags(&last_, cudaEventDisableTiming) != cudaSuccess) return;
      pending_ = cudaEventRecord(last_, stream) == cudaSuccess;
    }
    /// Is nothing queued that uses it?
    [[nodiscard]] bool free() {
      if (!pending_) return true;
      cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // a capture of this thread does not mind
      cudaThreadExchangeStreamCaptureMode(&mode);
      pending_ = cudaEventQuery(last_) == cudaErrorNotReady;
      if (pending_) (void)cudaGetLastError();  // it is no error of the program
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
