// What the programs of the mixture-of-experts buffer's low-latency mode share: cases against a plain model. Which rows
// each expert gets, in which order, FP8 rows within a quantisation step, weighted sums bit for bit.
#pragma once
#include <causeway/moe.hpp>
#include <causeway/moe/fp8.hpp>

#include <cmath>

#include "harness.hpp"

namespace low_latency_cases {

using namespace conformance;
using causeway::moe::Buffer;
using causeway::moe::BufferOptions;
using causeway::moe::Cast;
using causeway::moe::LowLatencyOutput;
using causeway::moe::ReceiveHook;

#if defined(LARGE_CASES)
constexpr int kTokensMax = 128, kHiddenMax = 7168, kTopkMax = 10, kExpertsPerRank = 16;
constexpr int kHiddens[] = {4096, 5120, 7168};
#else
constexpr int kTokensMax = 24, kHiddenMax = 1024, kTopkMax = 9, kExpertsPerRank = 3;
constexpr int kHiddens[] = {128, 512, 1024};
#endif

template <class T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, std::max<size_t>(count, 1) * sizeof(T)));
  return memory;
}

struct Case {
  uint64_t key;
  int hidden, topk, experts;
  Cast cast;
  [[nodiscard]] bool fp8() const { return cast != Cast::none; }
  std::vector<int> tokens;                     // by rank
  std::vector<std::vector<int64_t>> topk_idx;  // by rank
  [[nodiscard]] float value(int rank, int t, int h) const {
    return float(int(mix(key + uint64_t(rank * 4099 + t) ^ uint64_t(h) << 32) % 255) - 127) / 4.0f;
  }
  [[nodiscard]] float result(int64_t expert, int rank, int t, int h) const {
    return float(int(mix(key ^ uint64_t(expert * 131 + rank * 4099 + t) ^ uint64_t(h) << 40) % 511) - 255) / 8.0f;
  }
  [[nodiscard]] float weight(int rank, int t, int k) const { return float((rank * 7 + t * 3 + k) % 9) / 8.0f; }
};

inline Case draw_case(Suite& suite, Random& random) {
  Case c{};
  c.key = random.word();
  c.hidden = kHiddens[random.below(3)], c.topk = random.between(1, kTopkMax);
  c.experts = kExpertsPerRank * suite.pes, c.cast = Cast(random.below(4));
  if (c.cast == Cast::fp8_exponent && c.hidden < 512) c.cast = Cast::fp8_rounded;
  if (c.cast == Cast::none && random.chance(30)) c.hidden = 8 * random.between(1, kHiddenMax / 8);
  const bool all_to_one = random.chance(20);
  for (int rank = 0; rank < suite.pes; ++rank) {
    c.tokens.push_back(random.chance(20) ? 0 : random.between(0, kTokensMax));
    std::vector<int64_t> idx;
    for (int i = 0; i < c.tokens.back() * c.topk; ++i) {
      const bool first = i % c.topk == 0;
      int64_t expert = random.chance(15) ? -1 : int64_t(random.below(uint64_t(c.experts)));
      if (all_to_one) expert = first ? 1 : -1;
      for (int k = i / c.topk * c.topk; k < i; ++k)  // an expert once a token, else there may be too many rows
        if (idx[size_t(k)] == expert) expert = -1;
      idx.push_back(expert);
    }
    c.topk_idx.push_back(idx);
  }
  return c;
}

class Run {
 public:
  Run(Suite& suite, Buffer& buffer, const Case& given) : suite(suite), buffer(buffer), c(given) {
    const size_t tokens = size_t(c.tokens[size_t(suite.me)]), hidden = size_t(c.hidden);
    x = device_memory<__nv_bfloat16>(tokens * hidden), out = device_memory<__nv_bfloat16>(tokens * hidden);
    idx = device_memory<int64_t>(tokens * size_t(c.topk)), weights = device_memory<float>(tokens * size_t(c.topk));
    rows = size_t(suite.pes) * kTokensMax;
    got.x = device_memory<__nv_bfloat16>(kExpertsPerRank * rows * hidden);
    got.scales = device_memory<float>(kExpertsPerRank * rows * hidden / 128);
    got.recv_count = device_memory<int32_t>(kExpertsPerRank), got.recv_total = device_memory<int32_t>(kExpertsPerRank);
    got.source_token = device_memory<int32_t>(kExpertsPerRank * rows);
    got.layout_range = device_memory<int64_t>(size_t(kExpertsPerRank * suite.pes));
    CHECK(cudaMemsetAsync(got.recv_total, 0, kExpertsPerRank * sizeof(int32_t), suite.stream));
    results = device_memory<__nv_bfloat16>(kExpertsPerRank * rows * hidden);
    std::vector<__nv_bfloat16> values;
    std::vector<float> w;
    for (size_t t = 0; t < tokens; ++t) {
      for (int h = 0; h < c.hidden; ++h) values.push_back(__float2bfloat16(c.value(suite.me, int(t), h)));
      for (int k = 0; k < c.topk; ++k) w.push_back(c.weight(suite.me, int(t), k));
    }
    copy(x, values.data(), values.size() * 2, suite.stream);
    copy(weights, w.data(), w.size() * sizeof(float), suite.stream);
    const auto& mine = c.topk_idx[size_t(suite.me)];
    copy(idx, mine.data(), mine.size() * sizeof(int64_t), suite.stream);
  }
  ~Run() {
    for (void* memory : {(void*)x, (void*)out, (void*)idx, (void*)weights, got.x, got.scales, (void*)got.recv_count,
                         (void*)got.recv_total, (void*)got.source_token, (void*)got.layout_range, (void*)results})
      cudaFree(memory);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Sends; the receive is queued with finish_dispatch().
  void start_dispatch() {
    handle = buffer.low_latency_dispatch(x, idx, c.tokens[size_t(suite.me)], c.hidden, c.topk, c.cast, got,
                                         suite.stream, &hook);
  }
  void finish_dispatch() {
    hook(suite.stream);
    suite.synchronize();
    check_received();
  }
  void start_combine() { buffer.low_latency_combine(results, idx, weights, *handle, out, suite.stream, &hook); }
  void finish_combine() {
    hook(suite.stream);
    suite.synchronize();
    check_sums();
  }
  void dispatch_and_combine(bool hooks) {
    if (hooks) {
      start_dispatch(), usleep(200), finish_dispatch();
      start_combine(), usleep(200), finish_combine();
      return;
    }
    handle =
        buffer.low_latency_dispatch(x, idx, c.tokens[size_t(suite.me)], c.hidden, c.topk, c.cast, got, suite.stream);
    suite.synchronize();
    check_received();
    buffer.low_latency_combine(results, idx, weights, *handle, out, suite.stream);
    suite.synchronize();
    check_sums();
  }
  void check_received() {
    const size_t hidden = size_t(c.hidden);
    const auto all = fetch<char>(got.x, kExpertsPerRank * rows * hidden * (c.fp8() ? 1 : 2));
    const auto scales = fetch<char>(got.scales, kExpertsPerRank * rows * hidden / 128 * sizeof(float));
    const auto counts = fetch<int32_t>(got.recv_count, kExpertsPerRank);
    const auto totals = fetch<int32_t>(got.recv_total, kExpertsPerRank);
    const auto sources = fetch<int32_t>(got.source_token, kExpertsPerRank * rows);
    const auto ranges = fetch<int64_t>(got.layout_range, size_t(kExpertsPerRank * suite.pes));
    std::vector<__nv_bfloat16> back(kExpertsPerRank * rows * hidden);
    for (int e = 0; e < kExpertsPerRank; ++e) {
      const int64_t expert = suite.me * kExpertsPerRank + e;
      size_t row = 0;
      for (int rank = 0; rank < suite.pes; ++rank) {
        const size_t begin = row;
        const auto& chosen = c.topk_idx[size_t(rank)];
        for (size_t i = 0; i < chosen.size() && !is_dead(rank); ++i) {
          if (chosen[i] != expert) continue;
          const int token = int(i) / c.topk;
          suite.equal(sources[size_t(e) * rows + row], token, "the token's number at its source");
          check_row(all.data() + (size_t(e) * rows + row) * hidden * (c.fp8() ? 1 : 2), scales, e, row, rank, token);
          for (size_t h = 0; h < hidden; ++h)
            back[(size_t(e) * rows + row) * hidden + h] = __float2bfloat16(c.result(expert, rank, token, int(h)));
          ++row;
        }
        suite.equal(ranges[size_t(e * suite.pes + rank)], int64_t(begin) << 32 | int64_t(row - begin), "a rank's rows");
      }
      suite.equal(counts[size_t(e)], row, "rows of an expert");
      received[e] += row;
      suite.equal(totals[size_t(e)], received[e], "rows of an expert so far");
    }
    copy(results, back.data(), back.size() * 2, suite.stream);
  }

  /// Each rank's sum is rounded, then their sum.
  void check_sums() {
    const size_t tokens = size_t(c.tokens[size_t(suite.me)]), hidden = size_t(c.hidden);
    const auto sums = fetch<__nv_bfloat16>(out, tokens * hidden);
    std::vector<__nv_bfloat16> expected(tokens * hidden);
    for (size_t t = 0; t < tokens; ++t)
      for (size_t h = 0; h < hidden; ++h) {
        float sum = 0;
        for (int rank = 0; rank < suite.pes; ++rank) {
          float partial = 0;  // eighths times eighths: exact in any order
          for (int k = 0; k < c.topk && !is_dead(rank); ++k) {
            const int64_t expert = c.topk_idx[size_t(suite.me)][t * size_t(c.topk) + size_t(k)];
            if (expert < 0 || expert / kExpertsPerRank != rank) continue;
            if (!left_out.empty() && left_out[t * size_t(c.topk) + size_t(k)]) continue;
            partial += c.weight(suite.me, int(t), k) *
                       __bfloat162float(__float2bfloat16(c.result(expert, suite.me, int(t), int(h))));
          }
          sum += __bfloat162float(__float2bfloat16(partial));
        }
        expected[t * hidden + h] = __float2bfloat16(sum);
      }
    suite.same(sums.data(), expected.data(), sums.size() * 2, "combined rows");
  }

  Suite& suite;
  Buffer& buffer;
  const Case& c;
  __nv_bfloat16 *x, *out, *results;
  int64_t* idx;
  float* weights;
  size_t rows;
  size_t received[kExpertsPerRank] = {};  // by own expert, in all dispatches
  LowLatencyOutput got;
  std::shared_ptr<causeway::moe::LowLatencyHandle> handle;
  ReceiveHook hook;
  std::vector<bool> dead;      // by rank: its tokens and results do not count
  std::vector<bool> left_out;  // by own choice: it does not count in combine

 private:
  [[nodiscard]] bool is_dead(int rank) const { return !dead.empty() && dead[size_t(rank)]; }

  template <class T>
  std::vector<T> fetch(const void* from, size_t count) const {
    std::vector<T> all(count);
    copy(all.data(), from, count * sizeof(T), suite.stream);
    return all;
  }

  float scale_of(const std::vector<char>& scales, int expert, size_t row, int block) const {
    const size_t blocks = size_t(c.hidden / 128);
    if (c.cast == Cast::fp8_exponent) {
      const size_t word = (size_t(expert) * (blocks / 4) + size_t(block / 4)) * rows + row;
      return std::ldexp(1.0f, int(uint8_t(scales[word * 4 + size_t(block % 4)])) - 127);
    }
    float scale;
    std::memcpy(&scale, scales.data() + ((size_t(expert) * blocks + size_t(block)) * rows + row) * 4, 4);
    return scale;
  }

  /// FP8: three bits of fraction, so a value is off by at most a sixteenth of itself, or by half a step of the smallest
  /// ones.
  void check_row(const char* row_bytes, const std::vector<char>& scales, int expert, size_t row, int rank, int token) {
    for (int h = 0; h < c.hidden; ++h) {
      const float sent = __bfloat162float(__float2bfloat16(c.value(rank, token, h)));
      float seen, room = 0;
      if (c.fp8()) {
        const float scale = scale_of(scales, expert, row, h / 128);
        seen = causeway::moe::from_e4m3(uint8_t(row_bytes[h])) * scale;
        room = std::max(std::fabs(sent) / 16, scale / 1024) * 1.001f;
        if (c.cast != Cast::fp8 && std::frexp(scale, &exponent_) != 0.5f)
          return suite.wrong("scale %g is no power of two", double(scale));
      } else {
        __nv_bfloat16 value;
        std::memcpy(&value, row_bytes + h * 2, 2);
        seen = __bfloat162float(value);
      }
      if (!(std::fabs(seen - sent) <= room))
        return suite.wrong("expert %d row %zu element %d: sent %g, got %g", expert, row, h, double(sent), double(seen));
    }
  }

  int exponent_ = 0;
};

}  // namespace low_latency_cases
