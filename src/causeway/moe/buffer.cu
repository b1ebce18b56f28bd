// Construction and destruction of a buffer.
#include <causeway/api/types.h>
#include <causeway/base/digest.hpp>
#include <causeway/base/numbers.hpp>
#include <causeway/moe/buffer.hpp>

#include <algorithm>

namespace causeway::moe {

void check_range(const char* argument, long long value, long long low, long long high, const char* what) {
  if (value < low || value > high)
    fail(Status::invalid_value, "{} is {}: must be {} to {} ({})", argument, value, low, high, what);
}
void check_row_pointer(const char* argument, const void* pointer, long long rows) {
  if (rows == 0) return;
  if (!pointer || reinterpret_cast<uint64_t>(pointer) % 16 != 0)
    fail(Status::invalid_value, "{} is {}: must be {} rows at a multiple of 16 bytes", argument, pointer, rows);
}

namespace {

void check_options(const BufferOptions& options, int ranks) {
  check_range("hidden_max", options.hidden_max, kScaleBlock, 1 << 20, "elements of a token");
  if (options.hidden_max % kScaleBlock != 0)
    fail(Status::invalid_value, "hidden_max is {}: must be a multiple of {}", options.hidden_max, kScaleBlock);
  const bool low = options.low_latency_tokens_max != 0;
  check_range("topk_max", options.topk_max, 1, low ? 32 : 1024, low ? "with a low-latency mode" : "experts of a token");
  check_range("experts_max", options.experts_max, ranks, 1 << 20, "over all ranks, at least one each");
  check_range("recv_tokens_max", options.recv_tokens_max, 1, 1 << 28, "tokens that a rank receives");
  check_range("low_latency_tokens_max", options.low_latency_tokens_max, 0, 1 << 16, "tokens of a rank");
  if (low && options.experts_max % ranks != 0)
    fail(Status::invalid_value, "experts_max is {}: must be a multiple of the {} ranks", options.experts_max, ranks);
  check_range("blocks", options.blocks, 1, 1024, "blocks that move tokens");
  check_range("low_latency_blocks", options.low_latency_blocks, 0, 1024,
              "blocks that move tokens, 0 for as many as fit");
  check_range("node_ranks", options.node_ranks, 0, ranks, "ranks of a node, 0 for the job's nodes");
  if (options.node_ranks > 0 && ranks % options.node_ranks != 0)
    fail(Status::invalid_value, "node_ranks is {}: must divide the {} ranks", options.node_ranks, ranks);
  if (!(options.low_latency_timeout_s >= 0 && options.low_latency_timeout_s <= 1e6))
    fail(Status::invalid_value, "low_latency_timeout_s is {}: must be 0 (never) to 1e6 seconds",
         options.low_latency_timeout_s);
}

constexpr int kLowLatencyBlocksMax = 128;  // where the number is not given

/// The caller's GPU.
struct Gpu {
  uint64_t name;  // a digest of its UUID
  int32_t processors;
  int32_t room;  // blocks of any low-latency kernel that it holds at a time
};
Gpu own_gpu() {
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    fail(Status::internal, "the properties of the GPU are not known");
  const uint64_t name = causeway::digest_of(properties.uuid.bytes, sizeof properties.uuid.bytes);
  return {name, properties.multiProcessorCount, low_latency_blocks_at_a_time()};
}

/// Ranks that share the caller's GPU, estimated from the number of GPUs.
int ranks_to_a_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    fail(Status::internal, "the number of GPUs is not known");
  return divided_up(HostView::team(kName, NVSHMEMX_TEAM_NODE).pes, devices);
}

/// Ranks of a node, if the job has been joined and its PEs are the ranks. Else all ranks count as one node. (The same
/// on all ranks, and the same as in agree().)
int node_ranks_of_job(int ranks) {
  const int here = host::all_pes() == ranks ? host::even_node_pes() : 0;
  return here > 0 ? here : ranks;
}

LowLatencyLimits low_limits_of(const BufferOptions& options, int ranks) {
  return {ranks,
          options.hidden_max,
          options.topk_max,
          options.experts_max,
          options.low_latency_tokens_max,
          options.low_latency_blocks > 0 ? options.low_latency_blocks : kLowLatencyBlocksMax};
}
Limits limits_of(const BufferOptions& options, int ranks, int experts) {
  return {ranks, options.hidden_max, options.topk_max, experts, options.recv_tokens_max};
}

/// What ranks exchange before memory is allocated.
struct Agreement {
  uint64_t options;  // digest of what must be the same
  Gpu gpu;
  int32_t node_ranks;  // of the caller's node
  int32_t position;    // in it
  int32_t blocks;      // requested for the low-latency mode, 0: as many as fit
  int32_t share;       // ranks that share its GPU
};

uint64_t digest_of(const BufferOptions& options, int ranks) {
  uint64_t all = kDigestBegin;
  for (const uint64_t value :
       {uint64_t(ranks), uint64_t(options.hidden_max), uint64_t(options.topk_max), uint64_t(options.experts_max),
        uint64_t(options.recv_tokens_max), uint64_t(options.low_latency_tokens_max), uint64_t(options.node_ranks)})
    all = mixed(all, value);
  return all;
}

/// The number of low-latency blocks, the same on all ranks: that of the rank with the fewest. Where none is given, the
/// ranks that share a GPU divide its multiprocessors. The blocks of all ranks that share a GPU fit on it at a time, and
/// one more.
void agree_on_blocks(const std::vector<Agreement>& all, bool whole, BufferOptions& options) {
  int fewest = 1024;  // (what check_options allows)
  for (const Agreement& one : all) {
    int sharing = 0;
    for (const Agreement& other : all) sharing += other.gpu.name == one.gpu.name;
    if (!whole) sharing = std::max(sharing, int(one.share));  // other ranks may share the GPU
    const int room = std::max(1, (one.gpu.room - 1) / sharing);
    const int fit = std::min(kLowLatencyBlocksMax, std::max(1, one.gpu.processors / sharing - 2));
    fewest = std::min({fewest, room, one.blocks > 0 ? int(one.blocks) : fit});
  }
  options.low_latency_blocks = fewest;
}

/// Options that are bad on one rank, or not the same on all, are an error on all. Completes the options and the shape.
void agree(const DeviceWorld& world, BufferOptions& options, Shape& shape, Gpu gpu, int share,
           const std::exception_ptr& error) {
  const auto ranks = size_t(shape.ranks);
  const SymmetricMemory memory((ranks + 1) * sizeof(Agreement), "the making of a MoE buffer");
  const bool whole = HostView::team(kName, NVSHMEM_TEAM_WORLD).pes == shape.ranks;
  const Agreement own{error ? 0 : digest_of(options, shape.ranks),
                      gpu,
                      HostView::team(kName, NVSHMEMX_TEAM_NODE).pes,
                      HostView::team(kName, NVSHMEMX_TEAM_NODE).pe,
                      options.low_latency_blocks,
                      share};
  auto* all = reinterpret_cast<Agreement*>(memory.get());
  machine_host::copy(all + ranks, &own, sizeof own);
  machine_host::fcollect(world, kName, options.team, all, all + ranks, sizeof own);
  std::vector<Agreement> got(ranks);
  machine_host::copy(got.data(), all, ranks * sizeof own);
  if (error) std::rethrow_exception(error);
  bool even = whole && shape.ranks % got[0].node_ranks == 0;
  for (size_t r = 0; r < ranks; ++r) {
    if (got[r].options == 0) fail(Status::symmetry, "rank {} called {} with bad options", r, kName);
    if (got[r].options != own.options)
      fail(Status::symmetry, "ranks {} and {} called {} with different options", shape.rank, r, kName);
    even = even && got[r].node_ranks == got[0].node_ranks && got[r].position == int(r) % got[0].node_ranks;
  }
  shape.node_ranks = options.node_ranks > 0 ? options.node_ranks : even ? got[0].node_ranks : shape.ranks;
  agree_on_blocks(got, whole, options);
}

/// The shape of a buffer. Bad options are an error on all ranks, before anything is allocated.
Shape shape_of(const DeviceWorld& world, BufferOptions& options, HostMemory<FaultRecord>& faults, Pool& pool,
               std::shared_ptr<Pool::Piece>& claims) {
  Shape shape;
  shape.ranks = HostView::team(kName, options.team).pes;
  shape.rank = HostView::team(kName, options.team).pe;
  std::exception_ptr error;
  Gpu gpu{};
  int share = 1;
  try {
    check_options(options, shape.ranks);
    gpu = own_gpu(), share = ranks_to_a_gpu();
    claims = pool.take(sizeof(uint32_t));
    machine_host::zero(claims->memory, sizeof(uint32_t));
    faults.make(sizeof(FaultRecord))->claims = static_cast<uint32_t*>(claims->memory);
  } catch (const Error&) {
    error = std::current_exception();
  }
  agree(world, options, shape, gpu, share, error);
  return shape;
}

/// The teams of a node's ranks, and of the ranks of one position in all nodes.
TeamPair split(int team, const Shape& shape) {
  try {
    return host::split_2d(kName, team, shape.node_ranks);
  } catch (const Error& error) {
    fail(Status::internal, "no teams for the {} nodes of a buffer: {}", shape.nodes(), error.what());
  }
}

}  // namespace

Buffer::Buffer(const BufferOptions& options) : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  self.world = HostView::binding(kName).world;
  self.options = options;
  self.shape = shape_of(self.world, self.options, self.faults, self.pool, self.fault_claims);
  const Shape& shape = self.shape;
  if (shape.nodes() == 1) {
    self.inside.emplace(self.world, self.faults.get(), options.team,
                        limits_of(options, shape.ranks, options.experts_max), 0, 1, options.blocks);
  } else {
    const TeamPair teams = split(options.team, shape);
    self.node_team = teams.x, self.rail_team = teams.y;
    const int node_experts = divided_up(options.experts_max, shape.nodes());
    self.rail.emplace(self.world, self.faults.get(), self.rail_team,
                      limits_of(options, shape.nodes(), options.experts_max), shape.position(), shape.node_ranks,
                      options.blocks);
    self.inside.emplace(self.world, self.faults.get(), self.node_team,
                        limits_of(options, shape.node_ranks, node_experts), shape.node() * shape.node_ranks, 1,
                        options.blocks);
  }
  self.no_handle = self.make_handle(no_tokens(shape.ranks));
  self.low_limits = low_limits_of(self.options, shape.ranks);
  if (self.low_limits.tokens > 0) self.make_low_latency();
}

void Buffer::Implementation::make_low_latency() {
  low_region.emplace(low_latency_layout(low_limits).bytes,
                     "low latency (low_latency_tokens_max rows of hidden_max from each rank)");
  const auto blocks = size_t(low_limits.blocks);
  const size_t first_rows = 2 * blocks * size_t(options.experts_max);
  const size_t own = 2 * blocks * sizeof(uint64_t) + (first_rows + size_t(shape.ranks)) * sizeof(uint32_t);
  low_memory = pool.take(own);
  machine_host::zero(low_memory->memory, own);
  auto* operations = static_cast<uint64_t*>(low_memory->memory);
  auto* table = reinterpret_cast<int32_t*>(operations + 2 * blocks);
  low_context = {world,
                 view_of(world, options.team),
                 low_limits,
                 low_latency_layout(low_limits),
                 ExpertMap(options.experts_max, shape.ranks),
                 Divisor(low_limits.tokens),
                 Divisor(shape.ranks),
                 Divisor(shape.ranks * low_limits.tokens),
                 low_region->get(),
                 operations,
                 table,
                 reinterpret_cast<uint32_t*>(table + first_rows),
                 uint64_t(options.low_latency_timeout_s * 1e9),
                 faults.get(),
                 {},
                 nullptr,
                 nullptr};
  no_low_handle = make_low_handle(0, 1, 8);
  no_operation = take_operation(nullptr);
}

Buffer::~Buffer() = default;

// Freeing symmetric memory is collective and waits for the device. Teams are destroyed when no hop uses them any more.
Buffer::Implementation::~Implementation() {
  low_region.reset();
  inside.reset();
  rail.reset();
  for (const int team : {node_team, rail_team})
    if (team >= 0) guard(kName, [team] { host::destroy_team(kName, team); });
}

int Buffer::rank() const { return implementation_->shape.rank; }
int Buffer::ranks() const { return implementation_->shape.ranks; }
int Buffer::node_ranks() const { return implementation_->shape.node_ranks; }
int Buffer::low_latency_blocks() const { return implementation_->low_limits.blocks; }

const Handle& Buffer::no_handle() const { return *implementation_->no_handle; }

size_t Buffer::size_hint(const BufferOptions& options, int ranks) {
  check_range("ranks", ranks, 1, 1 << 20, "ranks of the buffer");
  check_options(options, ranks);
  const int node_ranks = options.node_ranks > 0 ? options.node_ranks : node_ranks_of_job(ranks),
            nodes = ranks / node_ranks;
  const int node_experts = divided_up(options.experts_max, nodes);
  size_t bytes = hop_layout(limits_of(options, node_ranks, node_experts)).bytes;
  if (nodes > 1) bytes += hop_layout(limits_of(options, nodes, options.experts_max)).bytes;
  if (options.low_latency_tokens_max > 0) bytes += low_latency_layout(low_limits_of(options, ranks)).bytes;
  return bytes;
}

}  // namespace causeway::moe
