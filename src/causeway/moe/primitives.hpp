// Send and receive, all_gather, all_to_all and barrier, between nodes too: small enough to be read in one sitting, and
// written with nothing but the public interface (nvshmem.h, nvshmemx.h). What a mixture-of-experts buffer does, without
// its tuning.
//
// How it works. Every rank has a mailbox of `slots` slots for each rank that may send to it. Data travel in chunks that
// fit a slot, and the chunks from one rank to another are numbered: 0, 1, 2, ... Chunk n uses slot n % slots, in that
// slot's round n / slots. Each slot has two words that only grow:
//
//   full   at the receiver, set by the sender: so many rounds have been put into the slot
//   free   at the sender, set by the receiver: so many rounds have been taken out of it (the sender's credit)
//
//   sender, chunk n                                          receiver, chunk n
//   1. waits until free >= round                             3. waits until full >= round + 1
//   2. puts data, then full = round + 1, in one put_signal   4. copies the data out, then sets free = round + 1
//
// Whoever sees `full` sees the data (put_signal), so 4 reads what 2 wrote. And 2 of the next round overwrites only what
// 4 has read. Both sides count chunks for themselves, in device memory. So nothing is ever reset, the host waits for
// nothing, and a CUDA graph that is replayed goes on counting where it was.
#pragma once
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

namespace causeway::moe {

namespace primitives {

/// One rank's mailboxes. Arrays are [rank at the other end][slot]; all but `sent` and `received` are at the same offset
/// in the symmetric heap of every rank.
struct Mailboxes {
  char* data;                 // slot_bytes a slot
  uint64_t *full, *free;      // as above
  uint64_t *sent, *received;  // [rank at the other end]: chunks, from the start; this rank's own
  nvshmem_team_t team;
  int rank, slots;
  size_t slot_bytes;

  __device__ int pe(int of_rank) const { return nvshmem_team_translate_pe(team, of_rank, NVSHMEM_TEAM_WORLD); }

  /// Puts chunk `number` for rank `to` into its mailbox. Called by all threads of a block.
  __device__ void put(const char* x, size_t bytes, uint64_t number, int to) const {
    const auto block = cooperative_groups::this_thread_block();
    const uint64_t slot = number % uint64_t(slots), round = number / uint64_t(slots);
    const size_t index = size_t(rank) * size_t(slots) + slot;  // at rank `to` the caller is the rank at the other end
    uint64_t* credit = free + size_t(to) * size_t(slots) + slot;
    if (block.thread_rank() == 0) nvshmem_signal_wait_until(credit, NVSHMEM_CMP_GE, round);
    block.sync();  // the others may write because the first has waited
    nvshmemx_putmem_signal_block(data + index * slot_bytes, x, bytes, full + index, round + 1, NVSHMEM_SIGNAL_SET,
                                 pe(to));
  }

  /// Takes chunk `number` from rank `from` out of this rank's mailbox. Called by all threads of a block.
  __device__ void take(char* x, size_t bytes, uint64_t number, int from) const {
    const auto block = cooperative_groups::this_thread_block();
    const uint64_t slot = number % uint64_t(slots), round = number / uint64_t(slots);
    const size_t index = size_t(from) * size_t(slots) + slot;
    if (block.thread_rank() == 0) nvshmem_signal_wait_until(full + index, NVSHMEM_CMP_GE, round + 1);
    block.sync();  // what the first thread has seen arrive, all threads see now
    nvshmemx_getmem_block(x, data + index * slot_bytes, bytes, nvshmem_my_pe());  // ends when all threads have read
    if (block.thread_rank() == 0) {
      nvshmem_fence();  // a signal_op by itself is ordered by nothing
      nvshmemx_signal_op(free + size_t(rank) * size_t(slots) + slot, round + 1, NVSHMEM_SIGNAL_SET, pe(from));
    }
  }
};

/// Rows in ordinary device memory: for each of some peers, `rows` of them.
struct Rows {
  char* start = nullptr;  // null: nothing moves in this direction
  size_t peer_step = 0, row_step = 0;
  __device__ char* at(size_t peer, size_t row, size_t offset) const {
    return start ? start + peer * peer_step + row * row_step + offset : nullptr;
  }
};

/// What one kernel moves: rows of `bytes` bytes to and from `peers` ranks, which are first, first + step, ...
struct Transfer {
  Rows from, to;
  size_t rows, bytes;
  int first, step, peers;
  __host__ __device__ size_t chunks_of_row(size_t slot_bytes) const { return (bytes + slot_bytes - 1) / slot_bytes; }
  __host__ __device__ size_t chunks(size_t slot_bytes) const { return rows * chunks_of_row(slot_bytes); }
};

/// Blocks (x, y): y is the peer, and the blocks of a peer share its chunks. A chunk is sent before one is received, so
/// no two ranks wait for each other. A chunk that is received may overwrite the one that was sent. (A template only so
/// that several files of a program may include this header: kernels cannot be inline.)
template <class = void>
__global__ void exchange(Mailboxes box, Transfer t) {
  const int peer = t.first + int(blockIdx.y) * t.step;
  const uint64_t sent = box.sent[peer], received = box.received[peer];
  const size_t per_row = t.chunks_of_row(box.slot_bytes), chunks = t.chunks(box.slot_bytes);
  for (size_t i = blockIdx.x; i < chunks; i += gridDim.x) {
    const size_t row = i / per_row, offset = i % per_row * box.slot_bytes;
    const char* from = t.from.at(blockIdx.y, row, offset);
    char* to = t.to.at(blockIdx.y, row, offset);
    size_t bytes = t.bytes - offset < box.slot_bytes ? t.bytes - offset : box.slot_bytes;
    // What a rank sends itself may be in its row already. Other blocks may be reading it there, so it is not written.
    // An empty chunk is sent instead, so that the numbers stay right.
    if (peer == box.rank && from == to) bytes = 0;
    if (from) box.put(from, bytes, sent + i, peer);
    if (to) box.take(to, bytes, received + i, peer);
  }
}

/// After exchange, on the same stream: no block of exchange still reads the numbers. One thread a block, a block a
/// peer.
template <class = void>
__global__ void advance(Mailboxes box, Transfer t) {
  const int peer = t.first + int(blockIdx.x) * t.step;
  if (t.from.start) box.sent[peer] += t.chunks(box.slot_bytes);
  if (t.to.start) box.received[peer] += t.chunks(box.slot_bytes);
}

}  // namespace primitives

/// The members of a team are the ranks, in the team's order. Every operation is queued on a stream, returns at once,
/// and may be captured into a CUDA graph and replayed. x and out are any device memory, of any alignment; bytes may be
/// 0. When the stream has finished an operation, x may be written and out be read.
///
/// Errors: std::invalid_argument, with the argument, its value and what is accepted, before anything is queued;
/// std::runtime_error when memory or a launch fails. A rank that gets one has not taken part: others will wait for it.
///
/// The kernels wait for other ranks, so those of one operation must be resident together: at most `slots` blocks for
/// each rank that it talks to. Operations that may have to run at the same time need two streams
/// (cudaStreamNonBlocking).
class Primitives {
 public:
  /// Collective over the job, as all allocation of symmetric memory: every PE gives its own team (NVSHMEM_TEAM_INVALID:
  /// it is in none, and may call no operation) and the same slot_bytes and slots. slot_bytes is rounded up to a
  /// multiple of 16. Messages of at most slot_bytes are one chunk, and a message may be of any length. `threads` is the
  /// size of the kernels' blocks. Takes 2 * PEs of the job * slots * slot_bytes of symmetric memory. It throws on all
  /// PEs or on none.
  Primitives(nvshmem_team_t team, size_t slot_bytes, int slots = 4, int threads = 128) {
    constexpr const char* kCall = "Primitives";
    if (nvshmem_n_pes() < 1) refuse(kCall, "the number of PEs", nvshmem_n_pes(), "nvshmem_init must come before");
    const size_t pes = size_t(nvshmem_n_pes());
    const int rank = team == NVSHMEM_TEAM_INVALID ? -1 : nvshmem_team_my_pe(team);
    std::string problem;
    try {
      if (slots < 1 || slots > kSlotsMax) refuse(kCall, "slots", slots, "must be 1 to " + std::to_string(kSlotsMax));
      const size_t slot_bytes_max = std::numeric_limits<size_t>::max() / 4 / pes / size_t(slots);
      if (slot_bytes < 1 || slot_bytes > slot_bytes_max)
        refuse(kCall, "slot_bytes", slot_bytes, "must be 1 to " + std::to_string(slot_bytes_max));
      if (threads < 1 || threads > 1024) refuse(kCall, "threads", threads, "must be 1 to 1024");
      if (rank < 0 && team != NVSHMEM_TEAM_INVALID)
        refuse(kCall, "team", team, "must be a team of this PE or NVSHMEM_TEAM_INVALID");
    } catch (const std::invalid_argument& error) {
      problem = error.what();
    }
    agree(problem, slot_bytes, uint64_t(slots));
    threads_ = unsigned(threads);
    ranks_ = rank < 0 ? 0 : nvshmem_team_n_pes(team);
    slot_bytes = (slot_bytes + 15) / 16 * 16;  // whole words, wherever a slot begins

    // nvshmem_calloc ends with a barrier, after the words have been cleared. So no signal can be lost.
    const size_t words = 2 * pes * size_t(slots) + 2 * pes;  // of one set of mailboxes: full, free, sent, received
    data_.reset(nvshmem_malloc(2 * pes * size_t(slots) * slot_bytes));
    words_.reset(nvshmem_calloc(2 * words, sizeof(uint64_t)));
    if (!data_ || !words_) throw std::runtime_error("causeway::moe::Primitives: no symmetric memory");
    const auto mailboxes = [&](size_t set) {
      uint64_t* full = static_cast<uint64_t*>(words_.get()) + set * words;
      uint64_t* free = full + pes * size_t(slots);
      uint64_t* sent = free + pes * size_t(slots);
      char* data = static_cast<char*>(data_.get()) + set * pes * size_t(slots) * slot_bytes;
      return primitives::Mailboxes{data, full, free, sent, sent + pes, team, rank, slots, slot_bytes};
    };
    messages_ = mailboxes(0), collectives_ = mailboxes(1);
  }
  /// Collective over the job, before nvshmem_finalize. Waits for the device.
  ~Primitives() = default;
  Primitives(const Primitives&) = delete;
  Primitives& operator=(const Primitives&) = delete;

  /// This PE's number in the team, -1 if it is in none.
  [[nodiscard]] int rank() const { return messages_.rank; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// What a slot holds, and how many there are for each pair of ranks.
  [[nodiscard]] size_t slot_bytes() const { return messages_.slot_bytes; }
  [[nodiscard]] int slots() const { return messages_.slots; }

  /// Sends `bytes` bytes at x to rank `to`, which may be the caller and must receive as many. The sends from one rank
  /// to another are matched with its receives in order, and must be ordered among themselves (one stream). A send ends
  /// when its data are in slots. As many sends as there are slots, of at most slot_bytes each, can end before their
  /// receives. More wait for the receiver. So ranks that first send each other long messages and then receive, on one
  /// stream, wait forever.
  void send(const void* x, size_t bytes, int to, cudaStream_t stream) {
    check_rank("send", "to", to);
    check_pointer("send", "x", x, bytes);
    run(messages_, {as_rows(x, 0), {}, 1, bytes, to, 1, 1}, stream);
  }

  /// Receives into x the `bytes` bytes that rank `from` has sent or will send.
  void recv(void* x, size_t bytes, int from, cudaStream_t stream) {
    check_rank("recv", "from", from);
    check_pointer("recv", "x", x, bytes);
    run(messages_, {{}, as_rows(x, 0), 1, bytes, from, 1, 1}, stream);
  }

  // ---- Collectives: all ranks call them in the same order with the same bytes and node_ranks, and order them among
  // themselves (one stream). They are independent of the sends. They are no barriers: a rank may have finished one that
  // another has not begun.

  /// x: [bytes]; out: [ranks, bytes], row r from rank r. In place: x is the caller's row of out.
  void all_gather(const void* x, void* out, size_t bytes, cudaStream_t stream) {
    check_collective("all_gather", x, out, bytes);
    run(collectives_, {as_rows(x, 0), as_rows(out, bytes), 1, bytes, 0, 1, ranks_}, stream);
  }

  /// x: [ranks, bytes], row r for rank r; out: [ranks, bytes], row r from rank r. In place: x is out.
  void all_to_all(const void* x, void* out, size_t bytes, cudaStream_t stream) {
    check_collective("all_to_all", x, out, bytes);
    run(collectives_, {as_rows(x, bytes), as_rows(out, bytes), 1, bytes, 0, 1, ranks_}, stream);
  }

  // ---- The same for nodes of node_ranks consecutive ranks each, in two hops: between nodes only ranks of the same
  // position communicate, the rest stays inside the nodes. So the network carries a row of all_gather once to each node
  // instead of node_ranks times, and for all_to_all few long messages instead of many short ones. The results are those
  // of the flat forms. Between the hops data are in out, in their final rows or in the rows they are exchanged for. In
  // place as the flat forms.

  /// First the ranks of one position give each other their rows, one from each node. Then each gives those to its whole
  /// node.
  void internode_all_gather(const void* x, void* out, size_t bytes, int node_ranks, cudaStream_t stream) {
    const Nodes n = check_nodes("internode_all_gather", x, out, bytes, node_ranks);
    const size_t node_bytes = size_t(node_ranks) * bytes;  // the distance between rows of one position
    const primitives::Rows whole{static_cast<char*>(out), bytes, node_bytes};  // by position, by node
    char* mine = whole.start + size_t(n.position) * bytes;
    run(collectives_, {as_rows(x, 0), as_rows(mine, node_bytes), 1, bytes, n.position, node_ranks, n.nodes}, stream);
    run(collectives_, {{mine, 0, node_bytes}, whole, size_t(n.nodes), bytes, n.first, 1, node_ranks}, stream);
  }

  /// First each rank gives the rank of its position in every node all that is for that node. In out there is then, for
  /// each node k and each position q of this node, what the rank of this position in node k has for q. Then each rank
  /// gives q these rows, one from each node, and receives those that q has for it into the same rows.
  void internode_all_to_all(const void* x, void* out, size_t bytes, int node_ranks, cudaStream_t stream) {
    const Nodes n = check_nodes("internode_all_to_all", x, out, bytes, node_ranks);
    const size_t node_bytes = size_t(node_ranks) * bytes;
    const primitives::Rows in = as_rows(x, node_bytes), between = as_rows(out, node_bytes);  // by node
    const primitives::Rows whole{static_cast<char*>(out), bytes, node_bytes};                // by position, by node
    run(collectives_, {in, between, 1, node_bytes, n.position, node_ranks, n.nodes}, stream);
    run(collectives_, {whole, whole, size_t(n.nodes), bytes, n.first, 1, node_ranks}, stream);
  }

  /// A barrier: what a rank has queued on its stream before is done before another rank's stream continues.
  void barrier(cudaStream_t stream) {
    check_member("barrier");
    if (nvshmemx_barrier_on_stream(messages_.team, stream) != 0)
      throw std::runtime_error("causeway::moe::Primitives::barrier: nvshmemx_barrier_on_stream failed");
  }

 private:
  static constexpr int kSlotsMax = 1024;

  struct Free {
    void operator()(void* memory) const { nvshmem_free(memory); }
  };
  struct Nodes {
    int nodes, position, first;  // this rank's position in its node, and the first rank of the node
  };

  static primitives::Rows as_rows(const void* start, size_t peer_step) {
    return {static_cast<char*>(const_cast<void*>(start)), peer_step, 0};
  }

  void run(const primitives::Mailboxes& box, const primitives::Transfer& t, cudaStream_t stream) const {
    const size_t chunks = t.chunks(box.slot_bytes);
    if (chunks == 0) return;
    const unsigned blocks = unsigned(std::min(chunks, size_t(box.slots))), peers = unsigned(t.peers);
    launch(primitives::exchange<>, dim3(blocks, peers), threads_, box, t, stream);
    launch(primitives::advance<>, peers, 1, box, t, stream);
  }

  using Kernel = void (*)(primitives::Mailboxes, primitives::Transfer);
  /// As kernel<<<grid, threads, 0, stream>>>(box, t), but reports the error of this launch only. cudaGetLastError would
  /// also return the errors of the program's earlier calls.
  static void launch(Kernel kernel, dim3 grid, unsigned threads, const primitives::Mailboxes& box,
                     const primitives::Transfer& t, cudaStream_t stream) {
    cudaLaunchConfig_t config{};
    config.gridDim = grid, config.blockDim = threads, config.stream = stream;
    const cudaError_t error = cudaLaunchKernelEx(&config, kernel, box, t);
    if (error != cudaSuccess)
      throw std::runtime_error(std::string("causeway::moe::Primitives: a launch failed: ") + cudaGetErrorString(error));
  }

  // ---- what is accepted

  /// If one PE threw alone, the others would wait for it in the allocations. So all learn first whether one has a
  /// problem, and which sizes the others have: the greatest, and by the complement the least.
  void agree(const std::string& problem, uint64_t slot_bytes, uint64_t slots) {
    const int me = nvshmem_my_pe();
    uint64_t words[] = {problem.empty() ? 0 : uint64_t(me) + 1, slot_bytes, ~slot_bytes, slots, ~slots};
    agreement_.reset(nvshmem_malloc(sizeof words));  // kept: freeing it would wait for what is queued
    uint64_t* all = static_cast<uint64_t*>(agreement_.get());
    if (!all) throw std::runtime_error("causeway::moe::Primitives: no symmetric memory");
    nvshmem_putmem(all, words, sizeof words, me), nvshmem_quiet();
    if (nvshmem_uint64_max_reduce(NVSHMEM_TEAM_WORLD, all, all, sizeof words / sizeof *words) != 0)
      throw std::runtime_error("causeway::moe::Primitives: nvshmem_uint64_max_reduce failed");
    nvshmem_getmem(words, all, sizeof words, me);
    if (!problem.empty()) throw std::invalid_argument(problem);
    if (words[0] != 0) refuse("Primitives", "a PE with bad arguments", words[0] - 1, "its error says which");
    const std::string same = "must be the same on all PEs, not ";
    if (words[1] != ~words[2]) refuse("Primitives", "slot_bytes", words[1], same + std::to_string(~words[2]));
    if (words[3] != ~words[4]) refuse("Primitives", "slots", words[3], same + std::to_string(~words[4]));
  }
  template <class Value>
  [[noreturn]] static void refuse(const char* call, const char* argument, Value value, const std::string& accepted) {
    throw std::invalid_argument(std::string("causeway::moe::Primitives: ") + call + ": " + argument + " is " +
                                std::to_string(value) + ": " + accepted);
  }
  void check_member(const char* call) const {
    if (ranks_ == 0) refuse(call, "team", messages_.team, "this PE is in none, and can call no operation");
  }
  void check_rank(const char* call, const char* argument, int rank) const {
    check_member(call);
    if (rank < 0 || rank >= ranks_) refuse(call, argument, rank, "must be 0 to " + std::to_string(ranks_ - 1));
  }
  static void check_pointer(const char* call, const char* argument, const void* pointer, size_t bytes) {
    if (pointer == nullptr && bytes > 0)
      throw std::invalid_argument(std::string("causeway::moe::Primitives: ") + call + ": " + argument +
                                  " is null: must be device memory when bytes is not 0");
  }
  void check_collective(const char* call, const void* x, const void* out, size_t bytes) const {
    check_member(call);
    const size_t bytes_max = std::numeric_limits<size_t>::max() / 2 / size_t(ranks_);
    if (bytes > bytes_max) refuse(call, "bytes", bytes, "must be 0 to " + std::to_string(bytes_max));
    check_pointer(call, "x", x, bytes);
    check_pointer(call, "out", out, bytes);
  }
  Nodes check_nodes(const char* call, const void* x, const void* out, size_t bytes, int node_ranks) const {
    check_collective(call, x, out, bytes);
    if (node_ranks < 1 || ranks_ % node_ranks != 0)
      refuse(call, "node_ranks", node_ranks, "must divide the number of ranks, " + std::to_string(ranks_));
    const int position = rank() % node_ranks;
    return {ranks_ / node_ranks, position, rank() - position};
  }

  std::unique_ptr<void, Free> agreement_, data_, words_;
  primitives::Mailboxes messages_{}, collectives_{};  // for send and recv; for the collectives
  int ranks_ = 0;
  unsigned threads_ = 0;
};

}  // namespace causeway::moe
