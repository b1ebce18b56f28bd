// What the host side of a machine does for the runtime. Each library links the implementation of its machine.
#pragma once
#include <causeway/heap/memory.hpp>
#include <causeway/machine/wait_info.hpp>
#include <causeway/view/device_world.hpp>
#include <causeway/view/unit.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

struct CUstream_st;

namespace causeway::machine_host {

using Stream = CUstream_st*;

/// True if this PE can bind its device now: it has one, or (CUDA) a context is current already.
bool device_selected();
/// Takes the device that is current, and loads the library's kernels on it. Throws Error(gpu_not_selected).
/// `pes_on_node`: on the CPU machine, so many devices.
void bind_device(int pe, int pes_on_node);
/// Names the device that was bound, among all of the job's.
using DeviceId = std::array<std::byte, 16>;
DeviceId device_id();
/// False if the bound device is known to have no native atomics on the memory of that one.
bool has_atomics_on(const DeviceId&);
std::unique_ptr<Memory> make_memory(int pes_on_host);
/// Copies between any memory, complete on return; waits for no stream of the program.
void copy(void* to, const void* from, size_t bytes);
/// Fills own heap memory with zeros, complete on return.
void zero(void* address, size_t bytes);
/// One word of any PE's memory. A word stored later is not seen earlier.
void store_word(uint64_t* address, uint64_t value);
uint64_t load_word(const uint64_t* address);
/// A host thread's wait: polls until ready(seen) and reports as waits of device code do. Throws past the job's wait
/// limit.
void wait_for(const DeviceWorld&, const WaitInfo&, const std::function<bool(uint64_t& seen)>& ready);
/// Fills one unit's copy of the device world.
void fill(const UnitRegistration&, const DeviceWorld&);
/// In a forked child, which is no PE: empties the unit's copy where that takes no driver.
void empty_in_forked_child(const UnitRegistration&);
/// Memory that host and device can reach, zeroed.
void* make_shared(size_t bytes);
void free_shared(void*);
/// Memory of the device. Freeing it may wait for all kernels.
void* make_device(size_t bytes);
void free_device(void*);
/// Copies between any memory in stream order; may be captured into a graph.
void copy_on_stream(void* to, const void* from, size_t bytes, Stream);
/// Copies `count` elements of `bytes` that lie `from_step` bytes apart to addresses `to_step` apart, steps of any sign.
void copy_strided_on_stream(void* to, ptrdiff_t to_step, const void* from, ptrdiff_t from_step, size_t bytes,
                            size_t count, Stream);
/// Can kernels use this address?
bool device_reaches(const void*);
/// Makes host memory known to the device, so that kernels reach it; and takes that back. Device memory needs none.
void register_local(void* address, size_t bytes);
void unregister_local(void* address);
void synchronize(Stream);
/// CUDA: 16 bytes of the host that kernels can write to; one host call at a time uses them.
void* fetch_buffer();
/// CUDA: the stream of the library's own host operations.
Stream private_stream();
/// All the work this PE has given its device.
void synchronize_device();
/// From now on SIGUSR1 makes every wait print itself, unless the program has a handler of its own.
void listen_for_dumps();
/// Meets the team's members from the host, in the team's host channel, completing or not what came before.
void barrier(const DeviceWorld&, const char* name, int team, bool completes);
/// In the host channel too: concatenates members' `bytes` at `source` into `dest` of all; both symmetric.
void fcollect(const DeviceWorld&, const char* name, int team, void* dest, const void* source, size_t bytes);

}  // namespace causeway::machine_host
