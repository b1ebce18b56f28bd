// The mixture-of-experts buffer: dispatches and combines back to back, each by another route, with PEs that stall here
// and there, and low-latency operations of which two are sent before the first is received. What arrives and what is
// summed is kept and compared with a plain model at the end. Meant for `causeway run --seed`.
#include <deque>

#include "moe_common.hpp"

static constexpr int kTokens = 4, kTopk = 3, kHidden = 40, kLocal = 2;

/// What all PEs know of a round. Values are small whole numbers: their sums are exact.
struct Plan {
  int round;
  [[nodiscard]] int hidden() const { return 8 + round % 5 * 8; }
  [[nodiscard]] int tokens(int rank) const { return int(mix(1, uint32_t(round), uint32_t(rank), 0) % (kTokens + 1)); }
  [[nodiscard]] int64_t expert(int rank, int t, int k) const {
    const auto draw = [&](int j) {
      const uint32_t drawn = mix(2, uint32_t(round * 64 + rank), uint32_t(t), uint32_t(j));
      return drawn % 5 == 0 ? -1 : int64_t(drawn / 5 % uint32_t(pes * kLocal));
    };
    const int64_t own = draw(k);
    for (int j = 0; j < k; ++j)
      if (draw(j) == own) return -1;
    return own;
  }
  [[nodiscard]] bool goes(int rank, int t, int to) const {
    for (int k = 0; k < kTopk; ++k)
      if (expert(rank, t, k) >= 0 && expert(rank, t, k) / kLocal == to) return true;
    return false;
  }
  [[nodiscard]] float x(int rank, int t, int h) const {
    return float(mix(3, uint32_t(round * 64 + rank), uint32_t(t), uint32_t(h)) % 16);
  }
  [[nodiscard]] float weight(int rank, int t, int k) const {
    return float(1 + mix(4, uint32_t(round * 64 + rank), uint32_t(t), uint32_t(k)) % 2);
  }
};

/// Copies that are made in stream order, to be looked at later.
template <class T>
static T* keep(const T* from, size_t count, cudaStream_t stream) {
  T* to = device<T>(count);
  cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream);
  return to;
}

/// A PE's own part of a plan, on the device.
struct Input {
  Bf16* x;
  int64_t* topk_idx;
  float* weights;
  int tokens;
};
static Input input_of(const Plan& plan) {
  Input in{device<Bf16>(kTokens * kHidden), device<int64_t>(kTokens * kTopk), device<float>(kTokens * kTopk),
           plan.tokens(me)};
  std::vector<Bf16> x;
  std::vector<int64_t> topk_idx;
  std::vector<float> weights;
  for (int t = 0; t < in.tokens; ++t) {
    for (int h = 0; h < plan.hidden(); ++h) x.push_back(static_cast<Bf16>(plan.x(me, t, h)));
    for (int k = 0; k < kTopk; ++k) topk_idx.push_back(plan.expert(me, t, k)), weights.push_back(plan.weight(me, t, k));
  }
  cudaMemcpy(in.x, x.data(), x.size() * sizeof(Bf16), cudaMemcpyDefault);
  cudaMemcpy(in.topk_idx, topk_idx.data(), topk_idx.size() * sizeof(int64_t), cudaMemcpyDefault);
  cudaMemcpy(in.weights, weights.data(), weights.size() * sizeof(float), cudaMemcpyDefault);
  return in;
}

// ---- high throughput

/// As an expert's rank would: to what has been received, this rank's number is added.
__global__ void add_rank(Bf16* out, const Bf16* x, const int32_t* rows, int hidden, int rank) {
  for (int i = 0; i < *rows * hidden; ++i) out[i] = static_cast<Bf16>(static_cast<float>(x[i]) + float(rank));
}

/// What one round left, for the end.
struct Kept {
  Plan plan, again;
  const Bf16 *x, *x_again;
  const int64_t* topk_idx;
  const float* weights;
  const Origin* origin;
  const int32_t* count;
  const Bf16* out[2];
  const float* out_weights;
};

static void check_received(const Kept& kept, int node_ranks) {
  const Plan& plan = kept.plan;
  const int count = fetch(kept.count, 1)[0], hidden = plan.hidden();
  int row = 0;
  for (int position = 0; position < node_ranks; ++position)
    for (int rank = position; rank < pes; rank += node_ranks)
      for (int t = 0; t < plan.tokens(rank); ++t) row += plan.goes(rank, t, me);
  expect(count == row, "rows", plan.round, 0, count, row);
  if (count != row) return;
  const size_t rows = size_t(row);
  const auto x = fetch(kept.x, rows * size_t(hidden)), again = fetch(kept.x_again, rows * size_t(hidden));
  const auto idx = fetch(kept.topk_idx, rows * kTopk);
  const auto weights = fetch(kept.weights, rows * kTopk);
  const auto origin = fetch(kept.origin, rows);
  row = 0;
  for (int position = 0; position < node_ranks; ++position)
    for (int rank = position; rank < pes; rank += node_ranks)
      for (int t = 0; t < plan.tokens(rank); ++t) {
        if (!plan.goes(rank, t, me)) continue;
        const auto r = size_t(row++);
        expect(origin[r].rank == rank && origin[r].token == t, "origin of row", plan.round, int(r),
               origin[r].rank * 100 + origin[r].token, rank * 100 + t);
        for (int h = 0; h < hidden; ++h) {
          const auto i = r * size_t(hidden) + size_t(h);
          expect(float(x[i]) == plan.x(rank, t, h), "x of row", plan.round, int(r), float(x[i]), plan.x(rank, t, h));
          expect(float(again[i]) == kept.again.x(rank, t, h), "x again of row", plan.round, int(r), float(again[i]),
                 kept.again.x(rank, t, h));
        }
        for (int k = 0; k < kTopk; ++k) {
          const int64_t expert = plan.expert(rank, t, k);
          const bool here = expert >= 0 && expert / kLocal == me;
          const size_t i = r * kTopk + size_t(k);
          expect(idx[i] == (here ? expert % kLocal : -1), "expert of row", plan.round, int(r), double(idx[i]),
                 double(expert));
          expect(weights[i] == (here ? plan.weight(rank, t, k) : 0), "weight of row", plan.round, int(r), weights[i],
                 0);
        }
      }
}

static void check_sums(const Kept& kept) {
  const Plan& plan = kept.plan;
  const int tokens = plan.tokens(me), hidden = plan.hidden();
  const auto weights = fetch(kept.out_weights, size_t(tokens) * kTopk);
  for (int which = 0; which < 2; ++which) {
    const auto out = fetch(kept.out[which], size_t(tokens * hidden));
    for (int t = 0; t < tokens; ++t)
      for (int h = 0; h < hidden; ++h) {
        float sum = 0;
        for (int rank = 0; rank < pes; ++rank)
          if (plan.goes(me, t, rank)) sum += (which ? kept.again : plan).x(me, t, h) + float(rank);
        const float got = float(out[size_t(t * hidden + h)]);
        expect(got == sum, which ? "second sum of token" : "sum of token", plan.round, t, got, sum);
      }
  }
  for (int t = 0; t < tokens; ++t)
    for (int k = 0; k < kTopk; ++k) {
      const float sum = plan.expert(me, t, k) < 0 ? 0 : plan.weight(me, t, k);
      expect(weights[size_t(t * kTopk + k)] == sum, "weight of token", plan.round, t, weights[size_t(t * kTopk + k)],
             sum);
    }
}

static Kept run_round(Buffer& buffer, int round, cudaStream_t stream) {
  // The second x goes by the same routes; its round is one of the same hidden.
  Kept kept{{round}, {round + 1000}, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, {}, nullptr};
  const int hidden = kept.plan.hidden();
  const size_t rows = size_t(pes * kTokens);
  const Input in = input_of(kept.plan);
  std::vector<Bf16> more;
  for (int t = 0; t < in.tokens; ++t)
    for (int h = 0; h < hidden; ++h) more.push_back(static_cast<Bf16>(kept.again.x(me, t, h)));
  auto* x_again = device<Bf16>(kTokens * kHidden);
  cudaMemcpy(x_again, more.data(), more.size() * sizeof(Bf16), cudaMemcpyDefault);
  const Tokens tokens{in.x, nullptr, in.topk_idx, in.weights, in.tokens, hidden, kTopk, pes * kLocal};
  stall_some(round, 0, stream);
  const Received got = round % 2 == 0 ? buffer.dispatch(tokens, 1, stream) : buffer.dispatch_worst_case(tokens, stream);
  stall_some(round, 1, stream);
  const auto* x = static_cast<const Bf16*>(got.x);
  kept.x = keep(x, rows * size_t(hidden), stream), kept.topk_idx = keep(got.topk_idx, rows * kTopk, stream);
  kept.weights = keep(got.topk_weights, rows * kTopk, stream), kept.origin = keep(got.origin, rows, stream);
  kept.count = keep(got.count, 1, stream);
  Bf16* own = device<Bf16>(rows * kHidden);
  Bf16* result = round % 3 == 0 ? static_cast<Bf16*>(buffer.combine_input()) : own;
  add_rank<<<1, 1, 0, stream>>>(result, x, got.count, hidden, me);
  // Again before the first combine: what is handed over is other memory than what is received.
  const Received again = buffer.dispatch_again(*got.handle, x_again, nullptr, stream);
  stall_some(round, 2, stream);
  kept.x_again = keep(static_cast<const Bf16*>(again.x), rows * size_t(hidden), stream);
  auto* second = device<Bf16>(rows * kHidden);
  add_rank<<<1, 1, 0, stream>>>(second, kept.x_again, got.count, hidden, me);
  Bf16* out[2] = {device<Bf16>(kTokens * kHidden), device<Bf16>(kTokens * kHidden)};
  auto* out_weights = device<float>(kTokens * kTopk);
  buffer.combine({result, kept.weights, {}}, *got.handle, out[0], out_weights, stream);
  buffer.combine({second, nullptr, {}}, *got.handle, out[1], nullptr, stream);
  kept.out[0] = out[0], kept.out[1] = out[1], kept.out_weights = out_weights;
  return kept;
}

static void run_throughput(int node_ranks, int rounds) {
  BufferOptions options;
  options.hidden_max = 128, options.topk_max = kTopk, options.experts_max = pes * kLocal;
  options.recv_tokens_max = pes * kTokens, options.blocks = 2, options.node_ranks = node_ranks;
  Buffer buffer(options);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  std::vector<Kept> all;
  for (int round = 0; round < rounds; ++round)
    all.push_back(run_round(buffer, round * (node_ranks == pes ? 1 : 3), stream));
  cudaStreamSynchronize(stream);
  for (const Kept& kept : all) check_received(kept, node_ranks), check_sums(kept);
  cudaStreamDestroy(stream);
}

// ---- low latency

/// Each expert adds its number to its rows.
__global__ void add_expert(Bf16* out, const Bf16* x, const int32_t* counts, int rows, int hidden, int first) {
  for (int e = 0; e < kLocal; ++e)
    for (int i = 0; i < counts[e] * hidden; ++i) {
      const size_t at = size_t(e) * size_t(rows * hidden) + size_t(i);
      out[at] = static_cast<Bf16>(static_cast<float>(x[at]) + float(first + e));
    }
}

struct Operation {
  Plan plan;
  Input in;
  LowLatencyOutput got;
  Bf16 *result, *out;
  std::shared_ptr<LowLatencyHandle> handle;
  ReceiveHook receive, sum;
};

static void check_operation(const Operation& op) {
  const Plan& plan = op.plan;
  const int hidden = plan.hidden(), rows = pes * kTokens;
  const auto counts = fetch(op.got.recv_count, kLocal);
  const auto x = fetch(static_cast<const Bf16*>(op.got.x), size_t(kLocal * rows * hidden));
  const auto sources = fetch(op.got.source_token, size_t(kLocal * rows));
  for (int e = 0; e < kLocal; ++e) {
    int row = 0;
    for (int rank = 0; rank < pes; ++rank)
      for (int t = 0; t < plan.tokens(rank); ++t)
        for (int k = 0; k < kTopk; ++k) {
          if (plan.expert(rank, t, k) != me * kLocal + e) continue;
          expect(sources[size_t(e * rows + row)] == t, "low latency: source of row", plan.round, row,
                 sources[size_t(e * rows + row)], t);
          for (int h = 0; h < hidden; ++h) {
            const float value = float(x[size_t((e * rows + row) * hidden + h)]);
            expect(value == plan.x(rank, t, h), "low latency: x of row", plan.round, row, value, plan.x(rank, t, h));
          }
          ++row;
        }
    expect(counts[size_t(e)] == row, "low latency: rows of expert", plan.round, e, counts[size_t(e)], row);
  }
  const auto out = fetch(op.out, size_t(plan.tokens(me) * hidden));
  for (int t = 0; t < plan.tokens(me); ++t)
    for (int h = 0; h < hidden; ++h) {
      float sum = 0;
      for (int k = 0; k < kTopk; ++k)
        if (plan.expert(me, t, k) >= 0)
          sum += plan.weight(me, t, k) * (plan.x(me, t, h) + float(plan.expert(me, t, k)));
      const float value = float(out[size_t(t * hidden + h)]);
      expect(value == sum, "low latency: sum of token", plan.round, t, value, sum);
    }
}

static void run_low_latency(int pairs) {
  BufferOptions options;
  options.hidden_max = 128, options.topk_max = kTopk, options.experts_max = pes * kLocal, options.recv_tokens_max = 1;
  options.low_latency_tokens_max = kTokens, options.low_latency_blocks = 3, options.node_ranks = pes;
  Buffer buffer(options);
  cudaStream_t stream, hooks;
  cudaStreamCreate(&stream), cudaStreamCreate(&hooks);
  cudaEvent_t event;
  cudaEventCreate(&event);
  const auto join = [&] { cudaEventRecord(event, hooks), cudaStreamWaitEvent(stream, event, 0); };
  const int rows = pes * kTokens;
  std::deque<Operation> all;
  for (int i = 0; i < 2 * pairs; ++i) {
    Operation& op = all.emplace_back();
    op.plan = {i};
    op.in = input_of(op.plan);
    op.got.x = device<Bf16>(size_t(kLocal * rows) * kHidden);
    op.got.recv_count = device<int32_t>(kLocal), op.got.source_token = device<int32_t>(size_t(kLocal * rows));
    op.result = device<Bf16>(size_t(kLocal * rows) * kHidden), op.out = device<Bf16>(kTokens * kHidden);
  }
  // Hooks run on a stream that the next sends do not wait for, on the same one, or the first on this and the second on
  // that.
  const auto run_hooks = [&](int pair, int site, ReceiveHook Operation::*hook) {
    const uint32_t drawn = mix(8, uint32_t(pair), uint32_t(site), uint32_t(me)) % 3;
    cudaEventRecord(event, stream), cudaStreamWaitEvent(hooks, event, 0);
    for (int i = 0; i < 2; ++i) {
      const cudaStream_t on = drawn == 0 || (drawn == 1 && i == 1) ? stream : hooks;
      stall_some(pair, site + i, on);
      (all[size_t(2 * pair + i)].*hook)(on);
    }
  };
  const auto dispatch_two = [&](int pair) {
    const bool later = mix(6, uint32_t(pair), uint32_t(me), 0) % 4 != 0;  // each PE as it likes
    for (int i = 0; i < 2; ++i) {
      Operation& op = all[size_t(2 * pair + i)];
      stall_some(pair, 10 + i, stream);
      op.handle = buffer.low_latency_dispatch(op.in.x, op.in.topk_idx, op.in.tokens, op.plan.hidden(), kTopk,
                                              Cast::none, op.got, stream, later ? &op.receive : nullptr);
    }
    if (later) run_hooks(pair, 12, &Operation::receive);
  };
  const auto combine_two = [&](int pair) {
    const bool later = mix(7, uint32_t(pair), uint32_t(me), 0) % 4 != 0;
    for (int i = 0; i < 2; ++i) {
      Operation& op = all[size_t(2 * pair + i)];
      stall_some(pair, 14 + i, stream);
      add_expert<<<1, 1, 0, stream>>>(op.result, static_cast<const Bf16*>(op.got.x), op.got.recv_count, rows,
                                      op.plan.hidden(), me * kLocal);
      buffer.low_latency_combine(op.result, op.in.topk_idx, op.in.weights, *op.handle, op.out, stream,
                                 later ? &op.sum : nullptr);
    }
    if (later) run_hooks(pair, 16, &Operation::sum);
  };
  // Dispatches alone, then combines alone: nothing but the credits holds a fast PE back. Then in turns.
  const int alone = pairs - 3;
  for (int pair = 0; pair < alone; ++pair) dispatch_two(pair);
  join();
  for (int pair = 0; pair < alone; ++pair) combine_two(pair);
  join();
  cudaStreamSynchronize(stream);
  for (int i = 0; i < 2 * alone; ++i)
    all[size_t(i)].handle.reset(), all[size_t(i)].receive = all[size_t(i)].sum = nullptr;
  for (int pair = alone; pair < pairs; ++pair) dispatch_two(pair), join(), combine_two(pair);
  join();
  cudaStreamSynchronize(stream);
  for (const Operation& op : all) check_operation(op);
  for (Operation& op : all) op.handle.reset(), op.receive = nullptr, op.sum = nullptr;  // before the buffer goes
  cudaEventDestroy(event);
  cudaStreamDestroy(hooks), cudaStreamDestroy(stream);
}

int main() {
  nvshmem_init();
  me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  run_throughput(pes, 4);
  if (pes % 2 == 0) run_throughput(pes / 2, 3);
  run_low_latency(7);
  if (wrong != 0) std::printf("PE %d: %d wrong values\n", me, wrong);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return wrong != 0;
}
