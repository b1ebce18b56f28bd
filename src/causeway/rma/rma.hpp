// One-sided data movement: p, g, put and get (OpenSHMEM 1.5, sections 9.5 and 9.6), on peers that are reached by load and
// store. Sources and destinations of a blocking call may be used when it returns; a non-blocking one is complete after
// quiet, but on these routes there is nothing left to wait for except visibility.
//
// A group's call begins and ends with a sync of the group: what any of its threads wrote before the call is what is copied,
// and a fence or signal by any of them after it covers the stores of all.
#pragma once
#include <causeway/view/heap_view.hpp>
#include <causeway/machine/group.hpp>

namespace causeway {

/// One element to `dest` at `pe`: a single store. Delivered, in no order, by the next quiet, fence or barrier at the latest.
template <class T>
CAUSEWAY_DEVICE void p(const DeviceWorld& world, T* dest, T value, int pe) {
  machine::store_peer(at(world, dest, pe), value);
}

/// One element from `source` at `pe`: a single load.
template <class T>
CAUSEWAY_DEVICE T g(const DeviceWorld& world, const T* source, int pe) {
  return machine::load_peer(at(world, source, pe));
}

/// Copies `bytes` to `dest` at `pe`. All threads of the group call it.
template <class Group>
CAUSEWAY_DEVICE void put(const DeviceWorld& world, Group group, void* dest, const void* source, size_t bytes, int pe) {
  group.sync();
  copy(group, Towards::peer, at(world, static_cast<char*>(dest), pe), source, bytes);
  group.sync();
}

/// Copies `bytes` from `source` at `pe`. All threads of the group call it; all of `dest` is there when it returns.
template <class Group>
CAUSEWAY_DEVICE void get(const DeviceWorld& world, Group group, void* dest, const void* source, size_t bytes, int pe) {
  group.sync();
  copy(group, Towards::self, dest, at(world, static_cast<const char*>(source), pe), bytes);
  group.sync();
}

}  // namespace causeway
