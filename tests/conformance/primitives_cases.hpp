// What every case of the teaching primitives needs: memory with guards, sizes around those of a slot, and what one rank
// has for another.
#pragma once
#include <causeway/moe/primitives.hpp>

#include <memory>

#include "harness.hpp"

namespace primitives_cases {

using namespace conformance;
using causeway::moe::Primitives;

constexpr char kPoison = char(0xa5);

/// Device memory that begins at any address, between guards; poisoned.
class Memory {
 public:
  Memory(Suite& suite, Random& random, size_t bytes) : suite_(&suite), bytes_(bytes), skip_(random.below(17)) {
    CHECK(cudaMalloc(&base_, all()));
    poison();
  }
  ~Memory() { cudaFree(base_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] char* data() const { return base_ + kGuard + skip_; }
  void poison() {
    CHECK(cudaMemsetAsync(base_, kPoison, all(), suite_->stream));
    suite_->synchronize();
  }
  void fill(const std::vector<char>& bytes) { copy(data(), bytes.data(), bytes.size(), suite_->stream); }
  /// Holds it `expected`, and are the guards untouched?
  void check(const std::vector<char>& expected, const char* what) {
    std::vector<char> got(all()), want(all(), kPoison);
    std::copy(expected.begin(), expected.end(), want.begin() + long(kGuard + skip_));
    copy(got.data(), base_, got.size(), suite_->stream);
    suite_->same(got.data(), want.data(), got.size(), what);
  }

 private:
  [[nodiscard]] size_t all() const { return 2 * kGuard + 17 + bytes_; }
  Suite* suite_;
  char* base_ = nullptr;
  size_t bytes_, skip_;
};

/// Nothing, one byte, odd lengths, a slot or a byte more or less, several slots.
inline size_t draw_bytes(Random& random, size_t slot_bytes, int slots) {
  const int kind = random.between(0, 6);
  if (kind < 2) return size_t(kind);
  if (kind == 2) return 2 * random.below(40) + 1;
  if (kind == 3) return slot_bytes + random.below(3) - 1;
  if (kind == 4) return slot_bytes * size_t(random.between(1, 2 * slots + 1)) + random.below(3) - 1;
  return random.below(slot_bytes * size_t(slots) * 2) + 1;
}

inline std::unique_ptr<Primitives> draw_primitives(Random& random, nvshmem_team_t team = NVSHMEM_TEAM_WORLD) {
  const size_t sizes[] = {1, 16, 33, 128, 1000};
  const int threads[] = {1, 1, 32, 45};
  const size_t slot_bytes = sizes[random.below(5)];
  const int slots = random.between(1, 5);
  return std::make_unique<Primitives>(team, slot_bytes, slots, threads[random.below(4)]);
}

/// What rank `from` has for rank `to` in an operation.
inline std::vector<char> row(uint64_t key, int from, int to, size_t bytes) {
  return pattern(mix(key) ^ mix(uint64_t(from) * 1009 + uint64_t(to) + 7), bytes);
}

}  // namespace primitives_cases
