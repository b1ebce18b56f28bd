// What bench/moe.cu sends: every rank can compute what every other one does, so it knows what it must receive.
#pragma once
#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace moe_bench {

constexpr int kHidden = 7168, kTopk = 8;

inline uint32_t mixed(uint32_t bits) {
  bits = (bits ^ bits >> 16) * 0x7feb352du;
  bits = (bits ^ bits >> 15) * 0x846ca68bu;
  return bits ^ bits >> 16;
}

/// Of all ranks.
struct Inputs {
  int ranks, tokens, experts;
  uint32_t pass = 1;                         // the rows are others in each
  std::vector<std::vector<int64_t>> routes;  // by rank: [tokens, kTopk]

  Inputs(int ranks_, int tokens_, int experts_) : ranks(ranks_), tokens(tokens_), experts(experts_) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::mt19937 random(unsigned(rank) + 1);
      routes.emplace_back();
      for (int i = 0; i < tokens * kTopk; ++i)  // distinct: one of each eighth
        routes.back().push_back(i % kTopk * (experts / kTopk) + int64_t(random() % unsigned(experts / kTopk)));
    }
  }
  [[nodiscard]] int local() const { return experts / ranks; }
  [[nodiscard]] int64_t route(int rank, int t, int k) const { return routes[size_t(rank)][size_t(t * kTopk + k)]; }
  [[nodiscard]] bool goes(int rank, int t, int to) const {
    for (int k = 0; k < kTopk; ++k)
      if (route(rank, t, k) / local() == to) return true;
    return false;
  }
  /// An element of a rank's memory: some quarters, which bfloat16 holds.
  [[nodiscard]] float value(int rank, size_t at) const {
    return float(int(mixed(uint32_t(at) + mixed(pass * 1024 + uint32_t(rank))) % 255) - 127) / 4;
  }
  [[nodiscard]] std::vector<__nv_bfloat16> values(int rank, size_t first, size_t count) const {
    std::vector<__nv_bfloat16> all(count);
    for (size_t i = 0; i < count; ++i) all[i] = __float2bfloat16(value(rank, first + i));
    return all;
  }
  [[nodiscard]] static float weight(int k) { return float(k + 1) / 8; }
};

}  // namespace moe_bench
