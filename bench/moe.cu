// Rows 28-31: what dispatch and combine of the mixture-of-experts buffer take, hidden 7168, top-8 of 256 experts. Best of 20,
// after 3 to warm up; the data are verified by the conformance programs. Prints a table, and with a file name JSON.
#include <causeway/moe.hpp>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using causeway::moe::Buffer;
using causeway::moe::BufferOptions;
using causeway::moe::Cast;
using causeway::moe::LowLatencyOutput;
using causeway::moe::Received;
using causeway::moe::Results;
using causeway::moe::Tokens;

namespace {

constexpr int kHidden = 7168, kTopk = 8, kExperts = 256;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "moe: %s\n", cudaGetErrorString(error));
  nvshmem_global_exit(1);
}
template <class T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  check(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
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

}  // namespace

int main(int argc, char** argv) {
  nvshmem_init();
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  const int few = 128, tokens = std::max(few, argc > 2 ? std::atoi(argv[2]) : 4096);
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  nvshmem_free(nvshmem_malloc(64));
  std::vector<Row> rows;
  {
    BufferOptions options;
    options.recv_tokens_max = tokens * pes, options.low_latency_tokens_max = few;
    options.blocks = argc > 3 ? std::atoi(argv[3]) : 64;
    options.low_latency_blocks = argc > 4 ? std::atoi(argv[4]) : 0;
    options.experts_max = kExperts / pes * pes;
    Buffer buffer(options);
    std::vector<int64_t> idx(size_t(tokens) * kTopk);
    std::srand(unsigned(me) + 1);
    for (int t = 0; t < tokens; ++t)
      for (int k = 0; k < kTopk; ++k)  // distinct: one of each eighth
        idx[size_t(t * kTopk + k)] = k * (options.experts_max / kTopk) + std::rand() % (options.experts_max / kTopk);
    auto* topk = device_memory<int64_t>(idx.size());
    auto* weights = device_memory<float>(idx.size());
    auto* x = device_memory<__nv_bfloat16>(size_t(tokens) * kHidden);
    auto* scales = device_memory<float>(size_t(tokens) * kHidden / 128);
    auto* out = device_memory<__nv_bfloat16>(size_t(tokens) * kHidden);
    check(cudaMemcpy(topk, idx.data(), idx.size() * sizeof(int64_t), cudaMemcpyHostToDevice));
    check(cudaDeviceSynchronize());
    const auto note = [&](const char* name, double us, double bytes) { rows.push_back({name, us, bytes / us / 1000}); };

    const Tokens in{x, nullptr, topk, weights, tokens, kHidden, kTopk, options.experts_max};
    Received got = buffer.dispatch(in, 1, stream);
    auto* back = device_memory<__nv_bfloat16>(size_t(std::max(got.tokens, 1)) * kHidden);
    const double moved = double(got.tokens) * kHidden;
    note("dispatch, BF16, host wait included", best_us(stream, [&] { got = buffer.dispatch(in, 1, stream); }),
         moved * 2);
    const auto again = [&](const float* with) { (void)buffer.dispatch_again(*got.handle, x, with, stream); };
    note("dispatch, BF16, same routes", graph_us(stream, [&] { again(nullptr); }), moved * 2);
    note("dispatch, FP8, same routes", graph_us(stream, [&] { again(scales); }), moved);
    Results results_of;
    results_of.x = back;
    const auto combine = [&] { buffer.combine(results_of, *got.handle, out, nullptr, stream); };
    note("combine, BF16", graph_us(stream, combine), moved * 2);
    results_of.x = buffer.combine_input();
    note("combine, BF16, rows in the buffer", graph_us(stream, combine), moved * 2);
    note("dispatch, BF16, worst case, no host wait",
         graph_us(stream, [&] { (void)buffer.dispatch_worst_case(in, stream); }), moved * 2);

    const int local = options.experts_max / pes;
    const size_t packed = size_t(local) * size_t(pes) * few;
    LowLatencyOutput low;
    low.x = device_memory<__nv_bfloat16>(packed * kHidden), low.scales = device_memory<float>(packed * kHidden / 128);
    low.recv_count = device_memory<int32_t>(size_t(local));
    auto* results = device_memory<__nv_bfloat16>(packed * kHidden);
    auto handle = buffer.low_latency_dispatch(x, topk, few, kHidden, kTopk, Cast::fp8, low, stream);
    buffer.low_latency_combine(results, topk, weights, *handle, out, stream);
    const auto dispatch = [&](Cast cast) {
      handle = buffer.low_latency_dispatch(x, topk, few, kHidden, kTopk, cast, low, stream);
    };
    note("low-latency dispatch, 128 tokens, FP8", graph_us(stream, [&] { dispatch(Cast::fp8); }),
         double(few) * kTopk * kHidden);
    note("low-latency dispatch, 128 tokens, BF16", graph_us(stream, [&] { dispatch(Cast::none); }),
         double(few) * kTopk * kHidden * 2);
    note("low-latency combine, 128 tokens, BF16",
         graph_us(stream, [&] { buffer.low_latency_combine(results, topk, weights, *handle, out, stream); }),
         double(few) * kTopk * kHidden * 2);
    check(cudaStreamSynchronize(stream));
  }
  if (me == 0) {
    std::printf("%d PEs, %d tokens (low latency: %d), hidden %d, top-%d\n", pes, tokens, few, kHidden, kTopk);
    for (const Row& row : rows) std::printf("  %-42s %9.1f us %8.1f GB/s\n", row.name.c_str(), row.us, row.gb_per_s);
    if (argc > 1 && std::string(argv[1]) != "-") {
      FILE* json = std::fopen(argv[1], "w");
      if (!json) return 1;
      cudaDeviceProp device{};
      int driver = 0, runtime = 0;
      check(cudaGetDeviceProperties(&device, 0));
      check(cudaDriverGetVersion(&driver));
      check(cudaRuntimeGetVersion(&runtime));
      std::fprintf(json, "{\"gpu\": \"%s\", \"driver\": %d, \"cuda\": %d, \"library\": \"%s\", ", device.name, driver,
                   runtime, NVSHMEM_VENDOR_STRING);
      std::fprintf(json, "\"pes\": %d, \"tokens\": %d, \"blocks\": %s, \"rows\": [", pes, tokens,
                   argc > 3 ? argv[3] : "64");
      for (size_t i = 0; i < rows.size(); ++i)
        std::fprintf(json, "%s{\"name\": \"%s\", \"us\": %.2f, \"gb_per_s\": %.2f}", i ? ", " : "",
                     rows[i].name.c_str(), rows[i].us, rows[i].gb_per_s);
      std::fprintf(json, "]}\n");
      std::fclose(json);
    }
  }
  nvshmem_finalize();
}
