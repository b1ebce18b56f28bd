// One-sided data movement: p, g, put and get (OpenSHMEM 1.5, sections 9.5 and 9.6), on peers that are reached by load
// and store. Sources and destinations of a blocking call may be used when it returns; a non-blocking one is complete
// after quiet, but on these routes there is nothing left to wait for except visibility.
//
// A group's call begins and ends with a sync of the group: what any of its threads wrote before the call is what is
// copied, and a fence or signal by any of them after it covers the stores of all.
#pragma once
#include <causeway/machine/group.hpp>
#include <causeway/view/operation.hpp>

namespace causeway {

/// One element to `dest` at `pe`: a single store. Delivered, in no order, by the next quiet, fence or barrier at the
/// latest.
template <class T>
struct P {
  T* dest;
  T value;
  int pe;

  static constexpr Kind kKind = Kind::store;
  static constexpr bool kFences = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("dest", dest, sizeof(T), pe);
    check.aligned("dest", dest);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group) const {
    machine::store_peer(at(world, dest, pe), value);
  }
  [[nodiscard]] CopyPlan plan(const DeviceWorld& world) const { return {at(world, dest, pe), &value, sizeof(T)}; }
};

/// One element from `source` at `pe`: a single load.
template <class T>
struct G {
  const T* source;
  int pe;

  static constexpr Kind kKind = Kind::load;
  using Result = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("source", source, sizeof(T), pe);
    check.aligned("source", source);
  }
  template <class Group>
  CAUSEWAY_DEVICE T run(const DeviceWorld& world, const char*, Group) const {
    return machine::load_peer(at(world, source, pe));
  }
  CopyPlan plan(const DeviceWorld& world, T* result) const { return {result, at(world, source, pe), sizeof(T)}; }
};

/// Copies `bytes` to `dest` at `pe`. All threads of the group call it.
struct Put {
  void* dest;
  const void* source;
  size_t bytes;
  int pe;

  static constexpr Kind kKind = Kind::copy;
  static constexpr bool kCompletes = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("dest", dest, bytes, pe);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group group) const {
    group.sync();
    copy(group, Towards::peer, at(world, static_cast<char*>(dest), pe), source, bytes);
    group.sync();
  }
  [[nodiscard]] CopyPlan plan(const DeviceWorld& world) const { return {at(world, dest, pe), source, bytes}; }
};

/// Copies `bytes` from `source` at `pe`. All threads of the group call it; all of `dest` is there when it returns.
struct Get {
  void* dest;
  const void* source;
  size_t bytes;
  int pe;

  static constexpr Kind kKind = Kind::copy;
  static constexpr bool kCompletes = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("source", source, bytes, pe);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group group) const {
    group.sync();
    copy(group, Towards::self, dest, at(world, static_cast<const char*>(source), pe), bytes);
    group.sync();
  }
  [[nodiscard]] CopyPlan plan(const DeviceWorld& world) const { return {dest, at(world, source, pe), bytes}; }
};

}  // namespace causeway
