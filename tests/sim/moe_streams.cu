// Two streams at a time: dispatches and combines of a buffer beside collectives of its team, and beside those of
// another buffer, with PEs that stall here and there and queue the two in orders of their own. Sums are kept and
// compared with a plain model at the end. And buffers that go while their work is queued. Meant for `causeway run
// --seed`.
#include "moe_common.hpp"

static constexpr int kTokens = 3, kTopk = 2, kHidden = 8;

static int64_t expert_of(int round, int rank, int t, int k) {
  return int64_t(mix(1, uint32_t(round), uint32_t(rank * kTokens + t), uint32_t(k)) % uint32_t(pes));
}
static float value_of(int round, int rank, int t) {
  return float(mix(2, uint32_t(round), uint32_t(rank), uint32_t(t)) % 32);
}

/// As an expert's rank would: to what has been received, this rank's number is added.
__global__ void add_rank(Bf16* x, const Bf16* got, const int32_t* rows, int rank) {
  for (int i = 0; i < *rows * kHidden; ++i) x[i] = static_cast<Bf16>(static_cast<float>(got[i]) + float(rank));
}

class Exchange {
 public:
  Exchange(int number, int node_ranks) : number_(number), buffer_(options(node_ranks)) {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  }
  ~Exchange() { cudaStreamDestroy(stream_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void queue(int) {
    const int round = 100 * number_ + int(outs_.size());
    std::vector<Bf16> rows;
    std::vector<int64_t> idx;
    for (int t = 0; t < kTokens; ++t) {
      for (int k = 0; k < kTopk; ++k) idx.push_back(expert_of(round, me, t, k));
      for (int h = 0; h < kHidden; ++h) rows.push_back(static_cast<Bf16>(value_of(round, me, t)));
    }
    auto* x = device<Bf16>(rows.size());
    auto* topk = device<int64_t>(idx.size());
    auto* result = device<Bf16>(size_t(pes * kTokens) * kHidden);
    outs_.push_back(device<Bf16>(kTokens * kHidden));  // (clear when the copies below are done)
    cudaMemcpy(x, rows.data(), rows.size() * sizeof(Bf16), cudaMemcpyDefault);
    cudaMemcpy(topk, idx.data(), idx.size() * sizeof(int64_t), cudaMemcpyDefault);
    stall_some(round, 0, stream_);
    const Received got =
        buffer_.dispatch_worst_case({x, nullptr, topk, nullptr, kTokens, kHidden, kTopk, pes}, stream_);
    add_rank<<<1, 1, 0, stream_>>>(result, static_cast<const Bf16*>(got.x), got.count, me);
    stall_some(round, 1, stream_);
    buffer_.combine({result, nullptr, {}}, *got.handle, outs_.back(), nullptr, stream_);
  }

  void check() {
    cudaStreamSynchronize(stream_);
    for (int step = 0; step < int(outs_.size()); ++step) {
      const int round = 100 * number_ + step;
      const auto out = fetch(outs_[size_t(step)], kTokens * kHidden);
      for (int t = 0; t < kTokens; ++t) {
        const int64_t a = expert_of(round, me, t, 0), b = expert_of(round, me, t, 1);
        const float sum = value_of(round, me, t) + float(a) + (a == b ? 0 : value_of(round, me, t) + float(b));
        for (int h = 0; h < kHidden; ++h) {
          const float seen = float(out[size_t(t * kHidden + h)]);
          expect(seen == sum, "sum of token", round, t, seen, sum);
        }
      }
    }
  }

 private:
  static BufferOptions options(int node_ranks) {
    BufferOptions options;
    options.hidden_max = 128, options.topk_max = kTopk, options.experts_max = pes,
    options.recv_tokens_max = pes * kTokens;
    options.blocks = 2, options.node_ranks = node_ranks;
    return options;
  }
  int number_;
  Buffer buffer_;
  cudaStream_t stream_;
  std::vector<Bf16*> outs_;
};

class Collectives {
 public:
  Collectives() : words_(static_cast<int*>(nvshmem_calloc(2 * kMost, sizeof(int)))) {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  }
  ~Collectives() {
    cudaStreamDestroy(stream_);
    nvshmem_free(words_);
  }
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  void queue(int step) {
    const int own = (me + 1) * (step + 1);
    cudaMemcpy(words_ + kMost + step, &own, sizeof own, cudaMemcpyDefault);
    stall_some(step, 2, stream_);
    nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, words_ + step, words_ + kMost + step, 1, stream_);
    ++steps_;
  }
  void check() {
    cudaStreamSynchronize(stream_);
    for (int step = 0; step < steps_; ++step) {
      const int sum = fetch(words_ + step, 1)[0], all = pes * (pes + 1) / 2 * (step + 1);
      expect(sum == all, "reduced", step, 0, sum, all);
    }
  }

 private:
  static constexpr int kMost = 16;
  int* words_;
  cudaStream_t stream_;
  int steps_ = 0;
};

/// Which of two a PE queues first is its own affair.
template <class Other>
static void run_beside(Exchange& exchange, Other& other, int steps) {
  for (int step = 0; step < steps; ++step) {
    const bool first = mix(3, uint32_t(step), uint32_t(me), 0) % 2 == 0;
    if (first) exchange.queue(step);
    other.queue(step);
    if (!first) exchange.queue(step);
  }
  exchange.check(), other.check();
}

int main() {
  nvshmem_init();
  me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  {
    Exchange one(0, pes);
    Collectives collectives;
    run_beside(one, collectives, 4);
    Exchange two(1, pes);
    run_beside(one, two, 3);
    if (pes % 2 == 0) {
      Exchange nodes(2, pes / 2);
      run_beside(nodes, two, 2);
    }
  }
  for (int again = 0; again < 2; ++again) {  // and a buffer where another one was
    Exchange one(3 + again, pes);
    Collectives collectives;
    run_beside(one, collectives, 2);
  }
  for (int again = 0; again < 2; ++again) {  // a buffer goes while its work is queued: its memory stays as long
    Exchange one(5 + again, pes % 2 == 0 && again == 1 ? pes / 2 : pes);
    one.queue(0);
  }
  const int written = causeway::machine_host::blocks_written_after_free();
  expect(written == 0, "blocks of host memory that were written to after they were freed", 0, 0, written, 0);
  if (wrong != 0) std::printf("PE %d: %d wrong values\n", me, wrong);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return wrong != 0;
}
