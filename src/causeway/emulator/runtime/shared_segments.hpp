// Memory that another process can map: pieces of memfd segments. Small pieces share a segment, because every segment
// costs a file descriptor; large ones have their own.
#pragma once
#include <causeway/base/unique_fd.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace causeway::emulator {

class SharedSegments {
 public:
  struct Piece {
    char* address = nullptr;
    int fd = -1;        // of the segment; stays open while the piece lives
    size_t offset = 0;  // in the segment
  };

  SharedSegments();
  ~SharedSegments();
  SharedSegments(const SharedSegments&) = delete;
  SharedSegments& operator=(const SharedSegments&) = delete;

  /// At least `bytes` (> 0), aligned to 512. Throws std::bad_alloc if the system has no room.
  Piece take(size_t bytes);
  void give(const Piece& piece, size_t bytes);

 private:
  struct Segment;

  std::map<char*, std::unique_ptr<Segment>> segments_;
};

}  // namespace causeway::emulator
