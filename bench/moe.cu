// Rows 28-31 of bench/moe_table.py: what dispatch and combine of the mixture-of-experts buffer take, hidden 7168, top-8
// of 256 experts. Best of 20, after 3 to warm up. Then each operation is made once more with other rows, and what it
// gives is compared with what every PE can compute. Prints a table, and writes the same as JSON.
//
//   moe [JSON [TOKENS [BLOCKS [LOW-LATENCY-BLOCKS]]]]       JSON "-": none
#include <causeway/moe.hpp>
#include <causeway/moe/fp8.hpp>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "moe_inputs.hpp"

using causeway::moe::Buffer;
using causeway::moe::BufferOptions;
using causeway::moe::Cast;
using causeway::moe::LowLatencyOutput;
using causeway::moe::Received;
using causeway::moe::Results;
using causeway::moe::Tokens;

namespace {

using moe_bench::Inputs;
using moe_bench::kHidden;
using moe_bench::kTopk;

constexpr int kExperts = 256, kFew = 128;
constexpr int kScales = kHidden / 128;  // of a token

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "moe: %s\n", cudaGetErrorString(error));
  nvshmem_global_exit(1);
}
void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "moe, PE %d: wrong: %s\n", nvshmem_my_pe(), what);
  nvshmem_global_exit(1);
}
template <class T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  check(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}
template <class T>
void give(T* to, const std::vector<T>& from, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
  check(cudaStreamSynchronize(stream));
}
template <class T>
std::vector<T> fetch(const void* from, size_t count, cudaStream_t stream) {
  std::vector<T> got(count);
  check(cudaMemcpyAsync(got.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return got;
}

struct Row {
  std::string name;
  double us, gb_per_s;
};

/// Best time of a call, from a meeting of all PEs to the end of its work.
template <class Call>
double best_us(cudaStream_t stream, Call call) {
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float best = 1e9f;
  for (int i = 0; i < 23; ++i) {
    nvshmemx_barrier_all_on_stream(stream);
    check(cudaEventRecord(begin, stream));
    call();
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) best = std::min(best, ms * 1000);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return double(best);
}

/// Time of a call in a CUDA graph of ten: what the GPU takes, without the launches from the host.
template <class Call>
double graph_us(cudaStream_t stream, Call call) {
  constexpr int kCalls = 10;
  cudaGraph_t graph{};
  cudaGraphExec_t exec{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kCalls; ++i) call();
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&exec, graph, 0));
  const double us = best_us(stream, [&] { check(cudaGraphLaunch(exec, stream)); }) / kCalls;
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(graph));
  return us;
}

class Bench {
 public:
  Bench(const BufferOptions& options, int tokens)
      : me_(nvshmem_my_pe()), in_(nvshmem_n_pes(), tokens, options.experts_max) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    const size_t rows = size_t(tokens);
    topk_ = device_memory<int64_t>(rows * kTopk), weights_ = device_memory<float>(rows * kTopk);
    x_ = device_memory<__nv_bfloat16>(rows * kHidden), out_ = device_memory<__nv_bfloat16>(rows * kHidden);
    scales_ = device_memory<float>(rows * kScales);
    low_rows_ = size_t(in_.ranks) * kFew;
    const size_t local = size_t(in_.local()), packed = local * low_rows_;
    low_.x = device_memory<__nv_bfloat16>(packed * kHidden), low_.scales = device_memory<float>(packed * kScales);
    low_.recv_count = device_memory<int32_t>(local);
    check(cudaDeviceSynchronize());
    std::vector<float> weights;
    for (int i = 0; i < tokens * kTopk; ++i) weights.push_back(Inputs::weight(i % kTopk));
    give(weights_, weights, stream_), give(topk_, in_.routes[size_t(me_)], stream_);
    fill();
  }

  void measure_throughput(Buffer& buffer) {
    Received got = buffer.dispatch(tokens(), 1, stream_);
    back_ = device_memory<__nv_bfloat16>(size_t(std::max(got.tokens, 1)) * kHidden);
    const double moved = double(got.tokens) * kHidden;
    note("dispatch, BF16, host wait included", best_us(stream_, [&] { got = buffer.dispatch(tokens(), 1, stream_); }),
         moved * 2);
    const auto again = [&](const float* with) { (void)buffer.dispatch_again(*got.handle, x_, with, stream_); };
    note("dispatch, BF16, same routes", graph_us(stream_, [&] { again(nullptr); }), moved * 2);
    note("dispatch, FP8, same routes", graph_us(stream_, [&] { again(scales_); }), moved);
    Results results;
    results.x = back_;
    const auto combine = [&] { buffer.combine(results, *got.handle, out_, nullptr, stream_); };
    note("combine, BF16", graph_us(stream_, combine), moved * 2);
    results.x = buffer.combine_input();
    note("combine, BF16, rows in the buffer", graph_us(stream_, combine), moved * 2);
    note("dispatch, BF16, worst case, no host wait",
         graph_us(stream_, [&] { (void)buffer.dispatch_worst_case(tokens(), stream_); }), moved * 2);
  }

  void measure_low_latency(Buffer& buffer) {
    auto* results = device_memory<__nv_bfloat16>(size_t(in_.local()) * low_rows_ * kHidden);
    check(cudaDeviceSynchronize());
    auto handle = buffer.low_latency_dispatch(x_, topk_, kFew, kHidden, kTopk, Cast::fp8, low_, stream_);
    buffer.low_latency_combine(results, topk_, weights_, *handle, out_, stream_);
    const auto dispatch = [&](Cast cast) {
      handle = buffer.low_latency_dispatch(x_, topk_, kFew, kHidden, kTopk, cast, low_, stream_);
    };
    const double moved = double(kFew) * kTopk * kHidden;
    note("low-latency dispatch, 128 tokens, FP8", graph_us(stream_, [&] { dispatch(Cast::fp8); }), moved);
    note("low-latency dispatch, 128 tokens, BF16", graph_us(stream_, [&] { dispatch(Cast::none); }), moved * 2);
    note("low-latency combine, 128 tokens, BF16",
         graph_us(stream_, [&] { buffer.low_latency_combine(results, topk_, weights_, *handle, out_, stream_); }),
         moved * 2);
    buffer.check(stream_);
    check(cudaFree(results));
  }

  /// The experts of this pass change nothing: a token comes back as often as it was sent to a rank.
  void verify_throughput(Buffer& buffer) {
    node_ranks_ = buffer.node_ranks();
    ++in_.pass;  // (rows that were measured cannot pass for these)
    fill();
    Received got = buffer.dispatch(tokens(), 1, stream_);
    const size_t bytes = size_t(got.tokens) * kHidden * sizeof *back_;
    verify_rows("rows of a dispatch", got.x, size_t(got.tokens), kHidden);
    check(cudaMemcpyAsync(back_, got.x, bytes, cudaMemcpyDeviceToDevice, stream_));
    check(cudaMemcpyAsync(buffer.combine_input(), got.x, bytes, cudaMemcpyDeviceToDevice, stream_));
    Results results;
    results.x = buffer.combine_input();
    combine(buffer, results, *got.handle, "sums of a combine of rows in the buffer");

    const Received again = buffer.dispatch_again(*got.handle, x_, scales_, stream_);  // x as so many bytes of FP8
    verify_rows("FP8 rows of a dispatch along the same routes", again.x, size_t(got.tokens), kHidden / 2);
    verify_rows("scales of a dispatch along the same routes", again.scales, size_t(got.tokens), kScales * 2);
    const Received same = buffer.dispatch_again(*got.handle, x_, nullptr, stream_);
    verify_rows("rows of a dispatch along the same routes", same.x, size_t(got.tokens), kHidden);
    results.x = back_;
    combine(buffer, results, *got.handle, "sums of a combine");

    const Received worst = buffer.dispatch_worst_case(tokens(), stream_);
    verify_rows("rows of a dispatch without a host wait", worst.x, size_t(fetch<int32_t>(worst.count, 1, stream_)[0]),
                kHidden);
  }

  void verify_low_latency(Buffer& buffer) {
    ++in_.pass;
    fill();
    LowLatencyOutput to = low_;
    to.source_token = device_memory<int32_t>(size_t(in_.local()) * low_rows_);
    check(cudaDeviceSynchronize());
    for (const Cast cast : {Cast::fp8, Cast::none}) {  // (combine takes the rows of the last one)
      const auto handle = buffer.low_latency_dispatch(x_, topk_, kFew, kHidden, kTopk, cast, to, stream_);
      verify_experts(to, cast);
      if (cast != Cast::none) continue;
      check(cudaMemsetAsync(out_, 0xff, size_t(kFew) * kHidden * sizeof *out_, stream_));
      buffer.low_latency_combine(to.x, topk_, weights_, *handle, out_, stream_);
      float weights = 0;
      for (int k = 0; k < kTopk; ++k) weights += Inputs::weight(k);
      verify_sums("sums of a low-latency combine", kFew, [&](int) { return weights; });
    }
    buffer.check(stream_);
    check(cudaFree(to.source_token));
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  [[nodiscard]] Tokens tokens() const {
    return {x_, nullptr, topk_, weights_, in_.tokens, kHidden, kTopk, in_.experts};
  }
  void note(const char* name, double us, double bytes) { rows_.push_back({name, us, bytes / us / 1000}); }

  /// The rows of this pass. (Scales are moved and never used: any bits do.)
  void fill() {
    give(x_, in_.values(me_, 0, size_t(in_.tokens) * kHidden), stream_);
    const auto bits = in_.values(me_, 0, size_t(in_.tokens) * kScales * 2);
    check(cudaMemcpyAsync(scales_, bits.data(), bits.size() * sizeof bits[0], cudaMemcpyHostToDevice, stream_));
    check(cudaStreamSynchronize(stream_));
  }

  /// Rows as they were sent, by the source's number in its node, then its node, then as there. width: of a row, in
  /// bfloat16's size.
  void verify_rows(const char* what, const void* x, size_t count, size_t width) const {
    const auto got = fetch<__nv_bfloat16>(x, count * width, stream_);
    size_t row = 0;
    const int nodes = in_.ranks / node_ranks_;
    for (int i = 0; i < in_.ranks; ++i)
      for (int t = 0; t < in_.tokens; ++t) {
        const int rank = i % nodes * node_ranks_ + i / nodes;
        if (!in_.goes(rank, t, me_)) continue;
        const auto sent = in_.values(rank, size_t(t) * width, width);
        expect(row < count && std::memcmp(&got[row * width], sent.data(), width * sizeof sent[0]) == 0, what);
        ++row;
      }
    expect(row == count, what);
  }

  void combine(Buffer& buffer, const Results& results, const causeway::moe::Handle& handle, const char* what) {
    check(cudaMemsetAsync(out_, 0xff, size_t(in_.tokens) * kHidden * sizeof *out_, stream_));
    buffer.combine(results, handle, out_, nullptr, stream_);
    verify_sums(what, in_.tokens, [&](int t) {
      int copies = 0;
      for (int to = 0; to < in_.ranks; ++to) copies += in_.goes(me_, t, to);
      return float(copies);
    });
  }

  /// The first `count` tokens times a factor each, within what three roundings to bfloat16 do.
  template <class Factor>
  void verify_sums(const char* what, int count, Factor factor) const {
    const auto sums = fetch<__nv_bfloat16>(out_, size_t(count) * kHidden, stream_);
    for (int t = 0; t < count; ++t) {
      const float times = factor(t);
      for (size_t at = size_t(t) * kHidden; at < size_t(t + 1) * kHidden; ++at) {
        const float right = in_.value(me_, at) * times;
        expect(std::fabs(__bfloat162float(sums[at]) - right) <= std::fabs(right) / 128, what);
      }
    }
  }

  /// What a low-latency dispatch has given to each expert of this rank.
  void verify_experts(const LowLatencyOutput& got, Cast cast) const {
    const bool fp8 = cast == Cast::fp8;
    const char* what = fp8 ? "FP8 rows of a low-latency dispatch" : "rows of a low-latency dispatch";
    const size_t local = size_t(in_.local()), bytes = kHidden * (fp8 ? sizeof(uint8_t) : sizeof(__nv_bfloat16));
    const auto counts = fetch<int32_t>(got.recv_count, local, stream_);
    const auto sources = fetch<int32_t>(got.source_token, local * low_rows_, stream_);
    for (size_t e = 0; e < local; ++e) {
      const auto x = fetch<uint8_t>(static_cast<const char*>(got.x) + e * low_rows_ * bytes,
                                    size_t(std::max(counts[e], 1)) * bytes, stream_);
      const auto scales =
          fetch<float>(static_cast<const float*>(got.scales) + e * kScales * low_rows_, kScales * low_rows_, stream_);
      size_t row = 0;
      for (int i = 0; i < in_.ranks * kFew * kTopk; ++i) {
        const int rank = i / (kFew * kTopk), t = i / kTopk % kFew;
        if (in_.route(rank, t, i % kTopk) != me_ * int64_t(local) + int64_t(e)) continue;
        expect(int(row) < counts[e] && sources[e * low_rows_ + row] == t, what);
        const auto sent = in_.values(rank, size_t(t) * kHidden, kHidden);
        if (!fp8) expect(std::memcmp(&x[row * bytes], sent.data(), bytes) == 0, what);
        for (size_t h = 0; fp8 && h < kHidden; ++h) {
          // e4m3 rounds by a sixteenth of a number at most, below its normal range by 2^-10 of the scale.
          const float right = __bfloat162float(sent[h]), scale = scales[h / 128 * low_rows_ + row];
          const float value = causeway::moe::from_e4m3(x[row * bytes + h]) * scale;
          expect(std::fabs(value - right) <= std::fabs(right) / 15.9f + scale / 1000, what);
        }
        ++row;
      }
      expect(int(row) == counts[e], what);
    }
  }

  int me_, node_ranks_ = 1;
  Inputs in_;
  cudaStream_t stream_{};
  int64_t* topk_;
  float *weights_, *scales_;
  __nv_bfloat16 *x_, *out_, *back_ = nullptr;
  LowLatencyOutput low_;
  size_t low_rows_;  // that there are for each expert
  std::vector<Row> rows_;
};

/// As many low-latency blocks as a buffer chooses that is given none: asked for, so that the results can say how many
/// there were.
int low_latency_blocks(int devices) {
  int device = 0, processors = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  const int sharing = (nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) + devices - 1) / devices;
  return std::min(128, std::max(1, processors / sharing - 2));
}

void write_json(FILE* json, const BufferOptions& options, int tokens, const std::vector<Row>& rows) {
  cudaDeviceProp device{};
  int runtime = 0;
  check(cudaGetDeviceProperties(&device, 0));
  check(cudaRuntimeGetVersion(&runtime));
  std::fprintf(json, "{\"gpu\": \"%s\", \"cuda\": \"%d.%d\", \"library\": \"%s\", ", device.name, runtime / 1000,
               runtime % 1000 / 10, NVSHMEM_VENDOR_STRING);
  std::fprintf(json, "\"pes\": %d, \"tokens\": %d, \"low_latency_tokens\": %d, \"hidden\": %d, \"topk\": %d, ",
               nvshmem_n_pes(), tokens, kFew, kHidden, kTopk);
  std::fprintf(json, "\"experts\": %d, \"low_latency_blocks\": %d, \"blocks\": %d, \"us\": {", options.experts_max,
               options.low_latency_blocks, options.blocks);
  for (size_t i = 0; i < rows.size(); ++i)
    std::fprintf(json, "%s\"%s\": %.1f", i ? ", " : "", rows[i].name.c_str(), rows[i].us);
  std::fprintf(json, "}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  nvshmem_init();
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  const int pes = nvshmem_n_pes(), tokens = std::max(kFew, argc > 2 ? std::atoi(argv[2]) : 4096);
  nvshmem_free(nvshmem_malloc(64));
  BufferOptions options;
  options.recv_tokens_max = tokens * pes, options.low_latency_tokens_max = kFew;
  options.blocks = argc > 3 ? std::atoi(argv[3]) : 64;
  options.low_latency_blocks = argc > 4 ? std::atoi(argv[4]) : 0;
  if (options.low_latency_blocks == 0) options.low_latency_blocks = low_latency_blocks(devices);
  options.experts_max = kExperts / pes * pes;
  Bench bench(options, tokens);
  {
    Buffer buffer(options);
    bench.measure_throughput(buffer);
    bench.measure_low_latency(buffer);
    bench.verify_throughput(buffer);
    bench.verify_low_latency(buffer);
  }
  if (nvshmem_my_pe() == 0) {
    std::printf("%d PEs, %d tokens (low latency: %d), hidden %d, top-%d\n", pes, tokens, kFew, kHidden, kTopk);
    for (const Row& row : bench.rows())
      std::printf("  %-42s %9.1f us %8.1f GB/s\n", row.name.c_str(), row.us, row.gb_per_s);
    if (argc > 1 && std::string(argv[1]) != "-") {
      FILE* json = std::fopen(argv[1], "w");
      if (!json) {
        std::fprintf(stderr, "moe: %s cannot be written\n", argv[1]);
        nvshmem_global_exit(1);
      } else {
        write_json(json, options, tokens, bench.rows());
        std::fclose(json);
      }
    }
  }
  nvshmem_finalize();
}
