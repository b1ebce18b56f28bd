// Included first where ThreadSanitizer does not see the code (the fibers' scheduler, cmake/library.cmake): shared_ptr
// then says itself what its reference counts order, by the hooks that libstdc++ has for race detectors (its manual,
// "Debugging Support"). Otherwise the last owner's delete looks like a race with an earlier owner's release.
#pragma once
#include <sanitizer/tsan_interface.h>

#define _GLIBCXX_SYNCHRONIZATION_HAPPENS_BEFORE(at) __tsan_release(at)
#define _GLIBCXX_SYNCHRONIZATION_HAPPENS_AFTER(at) __tsan_acquire(at)
