// What operations check of their arguments: each rule once, for device code, which skips a wrong call and leaves a
// record, and for hosts and streams, which throw. A `Side` says where heaps and teams are found and what a failure
// does.
#pragma once
#include <causeway/view/report_misuse.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

/// Of device code (and of hosts that run it): a failure is a misuse.
struct DeviceSide {
  const DeviceWorld& world;
  const char* name;
  static constexpr bool by_kernel = false;

  CAUSEWAY_DEVICE uint64_t heap_bytes() const { return *world.heap_bytes; }
  CAUSEWAY_DEVICE bool reaches(const void*) const { return true; }
  CAUSEWAY_DEVICE void fail(const char* argument, const char* problem, long long a = 0, long long b = 0,
                            long long c = 0, long long d = 0) const {
    misuse(world, name, argument, problem, a, b, c, d);
  }
};

/// Rules say "argument problem", with numbers where the problem has "{}", addresses where it has "{x}"
/// (machine/text.hpp). After the first failure the others say nothing.
template <class Side>
class Check {
 public:
  CAUSEWAY_CHECK explicit Check(const Side& side) : side_(side), world_(side.world) {}
  CAUSEWAY_CHECK bool good() const { return good_; }

  CAUSEWAY_CHECK void pe(int pe) {
    if (ready() && unsigned(pe) >= unsigned(world_.pes)) fail("pe", " is {}: must be 0 to {}", pe, world_.pes - 1);
  }

  /// [address, address + bytes) lies in the caller's heap.
  CAUSEWAY_CHECK void symmetric(const char* argument, const void* address, uint64_t bytes) {
    if (!ready() || bytes == 0) return;
    const uint64_t offset = heap_offset(world_, address), mapped = side_.heap_bytes();
    if (offset <= mapped && bytes <= mapped - offset) return;
    const auto at = number(address), begin = at - static_cast<long long>(offset);
    fail(argument, " is {x} ({} bytes): must lie in the caller's symmetric heap, {x} to {x}", at,
         static_cast<long long>(bytes), begin, begin + static_cast<long long>(mapped));
  }

  /// A PE, and what is read or written there: a part of the heap, or, where it is the caller itself, any memory of its
  /// device, since nothing is translated (programs count on it).
  CAUSEWAY_CHECK void remote(const char* argument, const void* address, uint64_t bytes, int pe) {
    this->pe(pe);
    if (!good_) return;
    if (is_own(address, pe)) return local(argument, address);
    symmetric(argument, address, bytes);
  }

  /// Own memory that a kernel is to use.
  CAUSEWAY_CHECK void local(const char* argument, const void* address) {
    if (Side::by_kernel && good_ && address && !side_.reaches(address))
      fail(argument, " is {x}: must be memory that the device can reach (its own, pinned or registered)",
           number(address));
  }

  template <class T>
  CAUSEWAY_HOST_DEVICE void aligned(const char* argument, const T* address) {
    if (good_ && reinterpret_cast<uint64_t>(address) % alignof(T) != 0)
      fail(argument, " is {x}: must be a multiple of the element's size {}", number(address), alignof(T));
  }

  /// An element of the caller's for a result.
  template <class T>
  CAUSEWAY_HOST_DEVICE void result(const char* argument, const T* address) {
    if (good_ && (!address || reinterpret_cast<uint64_t>(address) % alignof(T) != 0))
      fail(argument, " is {x}: must be the address of an element, a multiple of its size {}", number(address),
           alignof(T));
    local(argument, address);
  }

  /// Every `stride`-th of `elements` elements of `size` bytes, from `address` on, lies in the caller's heap; strides of
  /// any sign.
  CAUSEWAY_CHECK void strided(const char* argument, const void* address, ptrdiff_t stride, size_t elements,
                              size_t size) {
    if (!ready() || elements == 0) return;
    constexpr double kFar = 4e18;  // further than any address; below it the product below does not overflow
    if (double(elements) * double(size) * (stride < 0 ? -double(stride) : double(stride)) > kFar)
      return symmetric(argument, address, static_cast<uint64_t>(kFar));
    const ptrdiff_t last = static_cast<ptrdiff_t>((elements - 1) * size) * stride;
    const char* first = static_cast<const char*>(address) + (last < 0 ? last : 0);
    symmetric(argument, first, static_cast<uint64_t>(last < 0 ? -last : last) + size);
  }
  CAUSEWAY_CHECK void remote_strided(const char* argument, const void* address, ptrdiff_t stride, size_t elements,
                                     size_t size, int pe) {
    this->pe(pe);
    if (!good_) return;
    if (is_own(address, pe)) return local(argument, address);
    strided(argument, address, stride, elements, size);
  }

  /// `problem` has a "{}" for the value, and may have one for the highest that is accepted.
  CAUSEWAY_CHECK void range(const char* argument, const char* problem, long long value, long long low, long long high) {
    if (good_ && (value < low || value > high)) fail(argument, problem, value, high);
  }

  /// Both symmetric, and apart; `in_place`: or the same.
  CAUSEWAY_CHECK void pair(const void* dest, size_t dest_bytes, const void* source, size_t source_bytes,
                           bool in_place) {
    symmetric("dest", dest, dest_bytes);
    symmetric("source", source, source_bytes);
    apart(dest, dest_bytes, source, source_bytes, in_place);
  }
  CAUSEWAY_CHECK void apart(const void* dest, size_t dest_bytes, const void* source, size_t source_bytes,
                            bool in_place) {
    if (!good_ || in_place || dest_bytes == 0 || source_bytes == 0) return;
    const uint64_t to = heap_offset(world_, dest), from = heap_offset(world_, source);
    if (to < from + source_bytes && from < to + dest_bytes)
      fail("dest", " and source must not overlap: they lie at heap offsets {} and {}", static_cast<long long>(to),
           static_cast<long long>(from));
  }

 private:
  CAUSEWAY_CHECK static long long number(const void* address) {
    return static_cast<long long>(reinterpret_cast<uint64_t>(address));
  }
  CAUSEWAY_CHECK bool is_own(const void* address, int pe) const {
    return pe == world_.pe && address && !in_heap_space(world_, address);
  }
  CAUSEWAY_CHECK bool ready() {
    if (good_ && world_.pes <= 0) fail("it", " was called before nvshmem_init or after nvshmem_finalize");
    return good_;
  }
  CAUSEWAY_CHECK void fail(const char* argument, const char* problem, long long a = 0, long long b = 0, long long c = 0,
                           long long d = 0) {
    side_.fail(argument, problem, a, b, c, d);
    good_ = false;
  }

  const Side& side_;
  const DeviceWorld& world_;
  bool good_ = true;
};

}  // namespace causeway
