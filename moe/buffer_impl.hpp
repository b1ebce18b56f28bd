// The members of Buffer (see buffer.hpp). Included by the one unit of each machine.
#pragma once
#include <causeway/api/host/check.hpp>
#include <causeway/api/types.h>
#include <causeway/moe/buffer.hpp>

#include <exception>

extern "C" void* nvshmem_malloc(size_t);
extern "C" void* nvshmem_calloc(size_t, size_t);
extern "C" void nvshmem_free(void*);
extern "C" const char* causeway_last_error();

namespace causeway::moe {

struct Buffer::Implementation {
  BufferOptions options;
  Limits limits;
  Place place{};
  int rank = 0;
  Counted* counted = nullptr;  // memory that host and device share
  Pool pool;

  LowLatencyLimits low_limits;
  char* low_region = nullptr;  // symmetric: two sets
  std::shared_ptr<void> low_sent, low_slots;
  uint64_t low_dispatches = 0, low_combines = 0;

  /// For the next operation of a kind: the sets change places.
  LowLatencyPlace low_place(uint64_t operation) {
    const size_t bytes = low_latency_places(low_limits).bytes;
    return {place.world,
            place.team,
            low_limits,
            low_region + operation % 2 * bytes,
            low_region + (operation + 1) % 2 * bytes,
            static_cast<uint32_t*>(low_sent.get())};
  }

  template <class Kernel>
  void run(const Kernel& kernel, int blocks, cudaStream_t stream) {
    machine::launch(kernel, unsigned(blocks), kThreads, stream);
  }
  void meet(cudaStream_t stream) { machine::launch(MeetKernel{place}, 1, kThreads == 1 ? 1 : 32, stream); }
};

namespace {

constexpr const char* kName = "causeway::moe::Buffer";

void check_range(const char* argument, long long value, long long low, long long high, const char* what) {
  if (value < low || value > high)
    fail(Status::invalid_value, "{} is {}: must be {} to {} ({})", argument, value, low, high, what);
}
void check_options(const BufferOptions& options, int ranks) {
  check_range("hidden_max", options.hidden_max, kScaleBlock, 1 << 20, "elements of a token");
  if (options.hidden_max % kScaleBlock != 0)
    fail(Status::invalid_value, "hidden_max is {}: must be a multiple of {}", options.hidden_max, kScaleBlock);
  check_range("topk_max", options.topk_max, 1, 1024, "experts of a token");
  check_range("experts_max", options.experts_max, ranks, 1 << 20, "over all ranks, at least one each");
  check_range("recv_tokens_max", options.recv_tokens_max, 1, 1 << 28, "tokens that a rank receives");
  check_range("low_latency_tokens_max", options.low_latency_tokens_max, 0, 1 << 20, "tokens of a rank");
  if (options.low_latency_tokens_max > 0 && options.experts_max % ranks != 0)
    fail(Status::invalid_value, "experts_max is {}: must be a multiple of the {} ranks", options.experts_max, ranks);
  check_range("blocks", options.blocks, 1, 1024, "blocks that move tokens");
}

LowLatencyLimits low_limits_of(const BufferOptions& options, int ranks) {
  return {ranks, options.hidden_max, options.topk_max, options.experts_max, options.low_latency_tokens_max};
}
size_t low_bytes(const LowLatencyLimits& limits) {
  return limits.tokens > 0 ? 2 * low_latency_places(limits).bytes : 0;
}

Limits limits_of(const BufferOptions& options, int ranks) {
  return {ranks, options.hidden_max, options.topk_max, options.experts_max, options.recv_tokens_max};
}

}  // namespace

Buffer::Buffer(const BufferOptions& options) : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  const DeviceWorld& world = host::check_team(kName, options.team);
  self.options = options;
  const int ranks = host::team_size(kName, options.team);
  check_options(options, ranks);
  self.rank = host::team_number(kName, options.team);
  self.limits = limits_of(options, ranks);
  const size_t bytes = throughput_places(self.limits).bytes;
  self.place = {world, options.team, self.limits, static_cast<char*>(nvshmem_malloc(bytes))};
  if (!self.place.region)
    fail(Status::out_of_memory, "{} bytes of symmetric memory for a buffer (recv_tokens_max {}, hidden_max {}): {}",
         bytes, options.recv_tokens_max, options.hidden_max, causeway_last_error());
  self.low_limits = low_limits_of(options, ranks);
  if (self.low_limits.tokens > 0) {
    const size_t low = low_bytes(self.low_limits), words = size_t(options.experts_max + 1) * sizeof(uint32_t);
    self.low_region = static_cast<char*>(nvshmem_calloc(1, low));  // cleared on every rank before any of them returns
    if (!self.low_region)
      fail(Status::out_of_memory,
           "{} bytes of symmetric memory for low latency (low_latency_tokens_max {}, experts_max {}): {}", low,
           self.low_limits.tokens, options.experts_max, causeway_last_error());
    self.low_sent = self.pool.take(words);
    self.low_slots = self.pool.take(size_t(options.blocks) * sizeof(int64_t));
    machine_host::zero(self.low_sent.get(), words);
  }
  self.counted = static_cast<Counted*>(
      machine_host::make_shared(sizeof(Counted) + size_t(options.experts_max / ranks + 1) * sizeof(int32_t)));
}

Buffer::~Buffer() {
  if (!implementation_) return;
  if (implementation_->low_region) nvshmem_free(implementation_->low_region);
  nvshmem_free(implementation_->place.region);  // (waits for the device)
  machine_host::free_shared(implementation_->counted);
}

int Buffer::rank() const { return implementation_->rank; }
int Buffer::ranks() const { return implementation_->limits.ranks; }

size_t Buffer::size_hint(const BufferOptions& options, int ranks) {
  check_range("ranks", ranks, 1, 1 << 20, "ranks of the buffer");
  check_options(options, ranks);
  return throughput_places(limits_of(options, ranks)).bytes + low_bytes(low_limits_of(options, ranks));
}

namespace {

void check_routing(const Limits& limits, int tokens, int topk, int experts) {
  check_range("tokens", tokens, 0, 1 << 28, "tokens of this rank");
  check_range("topk", topk, 1, limits.topk, "the buffer's topk_max");
  check_range("experts", experts, limits.ranks, limits.experts, "the ranks to the buffer's experts_max");
  if (experts % limits.ranks != 0)
    fail(Status::invalid_value, "experts is {}: must be a multiple of the {} ranks", experts, limits.ranks);
}
void check_hidden(const Limits& limits, int hidden, bool scaled) {
  check_range("hidden", hidden, 8, limits.hidden, "the buffer's hidden_max");
  const int unit = scaled ? kScaleBlock : 8;
  if (hidden % unit != 0) fail(Status::invalid_value, "hidden is {}: must be a multiple of {}", hidden, unit);
}
void check_row_pointer(const char* argument, const void* pointer, int rows) {
  if (rows == 0) return;
  if (!pointer || reinterpret_cast<uint64_t>(pointer) % 16 != 0)
    fail(Status::invalid_value, "{} is {}: must be {} rows at a multiple of 16 bytes", argument, pointer, rows);
}

}  // namespace

void Buffer::dispatch_layout(const int64_t* topk_idx, int tokens, int topk, int experts, int32_t* tokens_per_rank,
                             int32_t* tokens_per_expert, bool* token_in_rank, cudaStream_t stream) {
  Implementation& self = *implementation_;
  check_routing(self.limits, tokens, topk, experts);
  if (tokens > 0 && !topk_idx) fail(Status::invalid_value, "topk_idx is null: must be [{}, {}]", tokens, topk);
  self.run(LayoutKernel{topk_idx, tokens, topk, experts, self.limits.ranks, tokens_per_rank, tokens_per_expert,
                        token_in_rank},
           1, stream);
}

namespace {

std::shared_ptr<Handle> make_handle(Pool& pool, const Tokens& in, int ranks) {
  auto handle = std::make_shared<Handle>();
  const size_t positions = size_t(in.tokens) * size_t(ranks);
  handle->memory = pool.take((positions + 2 * size_t(ranks)) * sizeof(int32_t));
  auto* words = static_cast<int32_t*>(handle->memory.get());
  handle->route = {in.tokens, in.topk, in.experts, in.hidden, words + 2 * ranks, words, words + ranks};
  return handle;
}

Received view(const Place& place, const Handle& handle, bool scaled) {
  const ThroughputPlaces at = throughput_places(place.limits);
  Received received;
  received.tokens = handle.received;
  received.x = place.region + at.x;
  if (scaled) received.scales = reinterpret_cast<const float*>(place.region + at.scales);
  received.topk_idx = reinterpret_cast<const int64_t*>(place.region + at.topk);
  received.topk_weights = reinterpret_cast<const float*>(place.region + at.weights);
  received.source_token = reinterpret_cast<const int32_t*>(place.region + at.source);
  received.rank_prefix = handle.route.recv_prefix;
  return received;
}

}  // namespace

namespace {

void check_tokens(const Limits& limits, const Tokens& in, int expert_alignment) {
  check_routing(limits, in.tokens, in.topk, in.experts);
  check_hidden(limits, in.hidden, in.scales != nullptr);
  check_row_pointer("x", in.x, in.tokens);
  check_range("expert_alignment", expert_alignment, 1, 1 << 20, "tokens");
  if (in.tokens > 0 && !in.topk_idx)
    fail(Status::invalid_value, "topk_idx is null: must be [{}, {}]", in.tokens, in.topk);
}

int32_t signature_of(const Tokens& in) {
  const uint64_t mixed =
      (uint64_t(in.hidden) * 1048583 + uint64_t(in.experts)) * 4099 + uint64_t(in.topk) * 2 + (in.scales != nullptr);
  return int32_t((mixed ^ mixed >> 31) & 0x7fffffff);
}

}  // namespace

// A rank with bad arguments takes part with no token, so that the others learn of it instead of waiting.
Received Buffer::dispatch(const Tokens& given, int expert_alignment, cudaStream_t stream) {
  Implementation& self = *implementation_;
  const int ranks = self.limits.ranks;
  Tokens in = given;
  int32_t signature = signature_of(in);
  std::exception_ptr wrong;
  try {
    check_tokens(self.limits, in, expert_alignment);
  } catch (const Error&) {
    wrong = std::current_exception();
    in = {};
    in.hidden = 8, in.topk = 1, in.experts = ranks;
    signature = -1;
  }
  auto handle = make_handle(self.pool, in, ranks);
  const auto scratch = self.pool.take(size_t(kThreads) * size_t(ranks) * sizeof(int32_t));
  self.run(CountKernel{self.place, in.topk_idx, handle->route, signature, static_cast<int32_t*>(scratch.get()),
                       self.counted},
           1, stream);
  const size_t row = size_t(in.hidden) * (in.scales ? 1 : 2);
  self.run(SendKernel{self.place, handle->route, static_cast<const char*>(in.x), row, in.scales, in.topk_idx,
                      in.topk_weights, self.counted},
           self.options.blocks, stream);
  self.meet(stream);
  machine_host::synchronize(stream);
  host::check_faults(kName);
  if (wrong) std::rethrow_exception(wrong);
  if (self.counted->bad_rank == self.rank)
    fail(Status::invalid_value, "topk_idx has an entry outside of -1 (none) and 0 to experts less 1, {}",
         in.experts - 1);
  if (self.counted->bad_rank >= 0)
    fail(Status::invalid_value, "rank {} called dispatch with bad arguments", self.counted->bad_rank);
  if (self.counted->other_rank >= 0)
    fail(Status::symmetry, "ranks 0 and {} called dispatch with different hidden, topk, experts or element types",
         self.counted->other_rank);
  if (self.counted->most > self.limits.recv_tokens)
    fail(Status::out_of_memory, "a rank would receive {} tokens: the buffer's recv_tokens_max is {}",
         self.counted->most, self.limits.recv_tokens);
  handle->received = self.counted->received;
  Received received = view(self.place, *handle, in.scales != nullptr);
  for (int expert = 0; expert < in.experts / ranks; ++expert)
    received.tokens_of_expert.push_back((self.counted->of_expert[expert] + expert_alignment - 1) / expert_alignment *
                                        expert_alignment);
  received.handle = std::move(handle);
  return received;
}

Received Buffer::dispatch_again(const Handle& handle, const void* x, const float* scales, cudaStream_t stream) {
  Implementation& self = *implementation_;
  check_hidden(self.limits, handle.route.hidden, scales != nullptr);
  check_row_pointer("x", x, handle.route.tokens);
  self.meet(stream);  // everyone is through with what it received last
  const size_t row = size_t(handle.route.hidden) * (scales ? 1 : 2);
  self.run(SendKernel{self.place, handle.route, static_cast<const char*>(x), row, scales, nullptr, nullptr, nullptr},
           self.options.blocks, stream);
  self.meet(stream);
  return view(self.place, handle, scales != nullptr);
}

void Buffer::combine(const void* x, const float* weights, const Handle& handle, void* out, float* out_weights,
                     cudaStream_t stream) {
  Implementation& self = *implementation_;
  check_row_pointer("x", x, handle.received);
  check_row_pointer("out", out, handle.route.tokens);
  self.meet(stream);  // everyone has pulled what was handed over last
  const size_t row = size_t(handle.route.hidden) * 2;
  self.run(HandOverKernel{self.place, static_cast<const char*>(x), row, weights, handle.received, handle.route.topk},
           self.options.blocks, stream);
  self.meet(stream);
  self.run(PullKernel{self.place, handle.route, static_cast<__nv_bfloat16*>(out), out_weights}, self.options.blocks,
           stream);
}

// ---------------------------------------------------------------- low latency

std::shared_ptr<LowLatencyHandle> Buffer::low_latency_dispatch(const void* x, const int64_t* topk_idx, int tokens,
                                                               int hidden, int topk, bool fp8,
                                                               const LowLatencyOutput& out, cudaStream_t stream,
                                                               ReceiveHook* hook) {
  Implementation& self = *implementation_;
  const LowLatencyLimits& limits = self.low_limits;
  if (limits.tokens == 0)
    fail(Status::invalid_value,
         "low_latency_tokens_max of the buffer is 0: must be the tokens of a rank for this mode");
  check_range("tokens", tokens, 0, limits.tokens, "the buffer's low_latency_tokens_max");
  check_range("topk", topk, 1, limits.topk, "the buffer's topk_max");
  check_hidden(self.limits, hidden, fp8);
  check_row_pointer("x", x, tokens);
  if (tokens > 0 && !topk_idx) fail(Status::invalid_value, "topk_idx is null: must be [{}, {}]", tokens, topk);
  check_row_pointer("out.x", out.x, 1);
  if (fp8) check_row_pointer("out.scales", out.scales, 1);
  if (!out.recv_count)
    fail(Status::invalid_value, "out.recv_count is null: must be [{}]", limits.experts / limits.ranks);

  auto handle = std::make_shared<LowLatencyHandle>();
  const size_t pairs = size_t(limits.experts), rows = pairs * size_t(limits.tokens);
  handle->memory = self.pool.take(rows * sizeof(int64_t) + 2 * pairs * sizeof(int32_t));
  auto* choices = static_cast<int64_t*>(handle->memory.get());
  auto* ranges = reinterpret_cast<int32_t*>(choices + rows);
  handle->route = {ranges, ranges + pairs, choices};
  handle->tokens = tokens, handle->topk = topk, handle->hidden = hidden;

  const LowLatencyPlace place = self.low_place(self.low_dispatches++);
  self.run(LowLatencySend{place, static_cast<const __nv_bfloat16*>(x), topk_idx, tokens, topk, hidden, fp8,
                          out.recv_count, static_cast<int64_t*>(self.low_slots.get())},
           self.options.blocks, stream);
  const LowLatencyReceive receive{place,      handle->route, hidden, fp8, static_cast<char*>(out.x),
                                  out.scales, out.recv_count};
  ReceiveHook run = [&self, receive, handle](cudaStream_t on) { self.run(receive, self.options.blocks, on); };
  if (hook)
    *hook = std::move(run);
  else
    run(stream);
  return handle;
}

void Buffer::low_latency_combine(const void* x, const int64_t* topk_idx, const float* topk_weights,
                                 const LowLatencyHandle& handle, void* out, cudaStream_t stream, ReceiveHook* hook) {
  Implementation& self = *implementation_;
  check_row_pointer("x", x, 1);
  check_row_pointer("out", out, handle.tokens);
  if (handle.tokens > 0 && (!topk_idx || !topk_weights))
    fail(Status::invalid_value, "topk_idx and topk_weights must not be null: [{}, {}]", handle.tokens, handle.topk);
  const LowLatencyPlace place = self.low_place(self.low_combines++);
  self.run(LowLatencyReturn{place, handle.route, static_cast<const char*>(x), handle.hidden}, self.options.blocks,
           stream);
  const LowLatencySum sum{
      place, topk_idx, topk_weights, handle.tokens, handle.topk, handle.hidden, static_cast<__nv_bfloat16*>(out)};
  ReceiveHook run = [&self, sum](cudaStream_t on) { self.run(sum, self.options.blocks, on); };
  if (hook)
    *hook = std::move(run);
  else
    run(stream);
}

}  // namespace causeway::moe
