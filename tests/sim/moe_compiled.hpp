// The mixture-of-experts buffer, compiled into the program that includes this, so that a mutant of its headers is what
// runs: the library's own is compiled already. What the library keeps to itself (launches, memory, checks) is given
// here by the public interface.
#pragma once
#define FMT_HEADER_ONLY 1
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#define launch library_launch
#define blocks_at_a_time library_blocks_at_a_time
#include <causeway/machine/cpu/launch.hpp>
#undef launch
#undef blocks_at_a_time
namespace causeway::machine {
/// Blocks start and end at other times than their work: the simulator makes a block's stores visible when it ends.
__device__ inline void linger(unsigned site) {
  const unsigned polls = (blockIdx.x * 7 + unsigned(nvshmem_my_pe()) * 3 + site) % 5;
  for (unsigned i = 0; i < polls * polls; ++i) __nanosleep(1000);
}
template <class Functor>
__global__ void entry(const Functor functor) {
  linger(0);
  functor();
  linger(2);
}
template <class Functor>
void launch(const Functor& functor, unsigned blocks, unsigned threads, StreamHandle stream) {
  entry<Functor><<<blocks, threads, 0, stream>>>(functor);
}
template <class Functor>
int blocks_at_a_time(unsigned) {
  return 1 << 20;  // a buffer's blocks may be more than run at a time
}
}  // namespace causeway::machine

#include <causeway/moe/buffer.cu>
#include <causeway/moe/buffer_low_latency.cu>
#include <causeway/moe/buffer_throughput.cu>
#include <causeway/moe/hop.cu>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace causeway {
HostView HostView::binding(const char*) { return {unit::world(), *unit::world().heap_bytes}; }
const TeamView& HostView::team(const char*, int team) { return unit::world().teams[team]; }
}  // namespace causeway

namespace causeway::host {
int all_pes() { return nvshmem_n_pes(); }
int even_node_pes() { return 0; }
Members known_members(int team) {
  Members members;
  for (int i = 0; i < nvshmem_team_n_pes(team); ++i)
    members.push_back(nvshmem_team_translate_pe(team, i, NVSHMEM_TEAM_WORLD));
  return members;
}
void check_faults(const char*) {}                      // (of the library's own kernels)
void check_faults(const char*, FaultRecord* record) {  // each is told once
  FaultRecord& faults = *record;
  if (faults.written == faults.read) return;
  faults.read = faults.written;
  fail(Status::internal, "device code: {}: {} (expected {}, seen {})", faults.operation, faults.problem,
       faults.expected, faults.seen);
}
void* allocate_symmetric(const char*, size_t bytes, size_t, bool, const std::string&, const std::string&) {
  return nvshmem_calloc(1, bytes);
}
void free_symmetric(const char*, void* block, const std::string&) { nvshmem_free(block); }
TeamPair split_2d(const char*, int parent, int xrange, const TeamConfig&, const TeamConfig&, const std::string&) {
  TeamPair made;
  nvshmem_team_split_2d(parent, xrange, nullptr, 0, &made.x, nullptr, 0, &made.y);
  return made;
}
void destroy_team(const char*, int team) { nvshmem_team_destroy(team); }
}  // namespace causeway::host
void causeway::note_error(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

namespace causeway::machine_host {
void copy(void* to, const void* from, size_t bytes) { cudaMemcpy(to, from, bytes, cudaMemcpyDefault); }
void zero(void* address, size_t bytes) {
  cudaMemset(address, 0, bytes);
  cudaDeviceSynchronize();
}
void* make_device(size_t bytes) {
  void* memory = nullptr;
  cudaMalloc(&memory, bytes);
  return memory;
}
void free_device(void* memory) { cudaFree(memory); }
/// Host memory of kernels is never freed but filled, so that a kernel that still writes to it is seen.
struct SharedBlock {
  char* memory;
  size_t bytes;
  bool freed;
};
inline std::vector<SharedBlock>& shared_blocks() {
  static std::vector<SharedBlock> all;
  return all;
}
constexpr char kFreed = 0x5d;
void* make_shared(size_t bytes) {
  void* memory = nullptr;
  cudaMallocHost(&memory, bytes);
  std::memset(memory, 0, bytes);
  shared_blocks().push_back({static_cast<char*>(memory), bytes, false});
  return memory;
}
void free_shared(void* memory) {
  for (SharedBlock& block : shared_blocks())
    if (block.memory == memory) block.freed = true, std::memset(memory, kFreed, block.bytes);
}
/// Freed blocks that have been written to since.
inline int blocks_written_after_free() {
  int count = 0;
  for (const SharedBlock& block : shared_blocks()) {
    bool written = false;
    for (size_t i = 0; block.freed && i < block.bytes; ++i) written = written || block.memory[i] != kFreed;
    count += written;
  }
  return count;
}
void synchronize(Stream stream) { cudaStreamSynchronize(stream); }
void fcollect(const DeviceWorld&, const char*, int, void* dest, const void* source, size_t bytes) {  // over the world
  for (int pe = 0; pe < nvshmem_n_pes(); ++pe)
    std::memcpy(static_cast<char*>(nvshmem_ptr(dest, pe)) + size_t(nvshmem_my_pe()) * bytes, source, bytes);
  nvshmem_barrier_all();
}
}  // namespace causeway::machine_host
