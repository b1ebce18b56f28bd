// Switching between fibers of one OS thread: Boost fcontext, plus what AddressSanitizer and ThreadSanitizer must be
// told.
#pragma once
#include <causeway/machine/cpu/thread.hpp>

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAUSEWAY_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define CAUSEWAY_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CAUSEWAY_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CAUSEWAY_TSAN 1
#endif
#if CAUSEWAY_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if CAUSEWAY_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace causeway::cpu {

/// One side of a switch: an OS thread's own stack or a fiber's.
struct Coroutine {
  boost::context::detail::fcontext_t resume_at = nullptr;
  const void* stack_bottom = nullptr;
  size_t stack_bytes = 0;
#if CAUSEWAY_TSAN
  void* tsan = nullptr;
#endif
};

/// Called on the target's side after a switch: remembers where the code that left can be resumed.
inline void arrived(boost::context::detail::transfer_t from) {
  if (from.data) static_cast<Coroutine*>(from.data)->resume_at = from.fctx;
}

#if CAUSEWAY_ASAN
// Not instrumented: a last switch gives up the fake stack that AddressSanitizer would keep this function's variables
// on.
#define CAUSEWAY_SWITCH __attribute__((no_sanitize_address))
#else
#define CAUSEWAY_SWITCH
#endif

/// Leaves `from` for `to`; returns when something switches back. A `last` switch ends `from`: it never returns.
CAUSEWAY_SWITCH inline void switch_to(Coroutine& from, Coroutine& to, bool last = false) {
#if CAUSEWAY_TSAN
  // No synchronisation is implied by a switch: a missing barrier between GPU threads must stay visible as a race. The
  // simulator is one thread, and its business is another kind of defect.
  __tsan_switch_to_fiber(to.tsan, simulated ? 0 : __tsan_switch_to_fiber_no_sync);
#endif
#if CAUSEWAY_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(last ? nullptr : &fake_stack, to.stack_bottom, to.stack_bytes);
#endif
  (void)last;
  const auto back = boost::context::detail::jump_fcontext(to.resume_at, &from);
#if CAUSEWAY_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  arrived(back);
}

/// First thing a new fiber does. `host` is the OS thread's own side, whose stack bounds are learnt here.
inline void first_arrival(boost::context::detail::transfer_t from, Coroutine& host) {
#if CAUSEWAY_ASAN
  const void* bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
  if (from.data == &host) {
    host.stack_bottom = bottom;
    host.stack_bytes = bytes;
  }
#endif
  (void)host;
  arrived(from);
}

// Happens-before between GPU threads, told to ThreadSanitizer where the machine really orders them.
#if CAUSEWAY_TSAN
inline void sanitizer_release(void* at) { __tsan_release(at); }
inline void sanitizer_acquire(void* at) { __tsan_acquire(at); }
#else
inline void sanitizer_release(void*) {}
inline void sanitizer_acquire(void*) {}
#endif

}  // namespace causeway::cpu
