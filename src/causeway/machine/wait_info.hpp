// What a waiting thread waits for, so that a hang can say so.
#pragma once
#include <cstdint>

namespace causeway {

/// Filled by spin_until; lives on the waiting thread's stack.
struct WaitInfo {
  const char* operation = "";  // "nvshmem_signal_wait_until", "barrier"
  int peer = -1;               // the PE waited for; -1: any
  const void* address = nullptr;
  uint64_t expected = 0;
  const char* comparison = "";  // "==", ">="
  bool outlives_peer = false;   // goes on when the peer has gone: the waiting code looks itself
};

}  // namespace causeway
