// What the conformance programs share: options, cases that all PEs draw alike, checks, the common verdict.
//
// A program is plain NVSHMEM and CUDA; nothing in it knows which library or which machine it runs on.
//   program [--cases C] [--seed S]     C cases a family (default 30), drawn from seed S (default 1)
// PE 0 prints one line a family. Every PE returns non-zero if any PE has found anything wrong.
#pragma once
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if !defined(CAUSEWAY_VERSION)  // another library's headers: it keeps no text
inline const char* causeway_last_error() { return "not known"; }
inline uint64_t causeway_error_count() { return 0; }
#endif

namespace conformance {

// A failed CUDA call ends the whole job: the other PEs would wait for this one forever.
inline void require(bool good, const char* call, const char* why) {
  if (good) return;
  std::fprintf(stderr, "PE %d: %s: %s (last error: %s)\n", nvshmem_my_pe(), call, why, causeway_last_error());
  nvshmem_global_exit(1);
}
inline void check(cudaError_t error, const char* call) {
  require(error == cudaSuccess, call, cudaGetErrorString(error));
}
inline void check(int status, const char* call) { require(status == 0, call, "non-zero status"); }
inline void check(const void* made, const char* call) { require(made != nullptr, call, "null"); }
#define CHECK(call) ::conformance::check((call), #call)

// ---------------------------------------------------------------- random numbers

/// A good mixture of the bits of a word (the finaliser of splitmix64).
inline uint64_t mix(uint64_t word) {
  word += 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// All PEs seed it alike, and so draw the same cases without talking to each other.
struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(mix(seed)) {}
  uint64_t word() { return mix(state++); }
  /// From 0 to count - 1.
  uint64_t below(uint64_t count) { return count ? word() % count : 0; }
  /// From low to high, both included.
  int between(int low, int high) { return low + int(below(uint64_t(high - low) + 1)); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  /// A length up to `most`: small and odd ones often, none now and then.
  size_t length(size_t most) {
    const int kind = between(0, 9);
    const size_t limit = kind == 0 ? 0 : kind <= 5 ? 64 : kind <= 8 ? 700 : most;
    return size_t(below(std::min(limit, most) + 1));
  }
};

// ---------------------------------------------------------------- bytes that anyone can compute

/// Byte streams named by a key: any PE knows what any other's buffer holds. Some words have special values of all
/// widths.
inline uint64_t pattern_word(uint64_t key, size_t index) {
  constexpr uint64_t kSpecial[] = {0,
                                   ~uint64_t{0},
                                   0x7fffffff7fff7f7fu,
                                   0x8000000080008080u,   // most negative, -0.0f
                                   0x8000000000000000u,   // -0.0
                                   0x7ff0000000000000u,   // infinity
                                   0x7ff4000000000001u,   // a signalling NaN
                                   0x7fa000017f800001u,   // NaNs of float
                                   0x7e017c017fc1ff81u,   // NaNs of half and bfloat16
                                   0x0000000000000001u};  // denormal
  const uint64_t word = mix(key ^ (uint64_t(index) * 0xd1342543de82ef95u));
  return word % 8 == 0 ? kSpecial[(word >> 8) % (sizeof kSpecial / sizeof *kSpecial)] : word;
}
/// Bytes [offset, offset + bytes) of the stream.
inline void pattern(void* to, uint64_t key, size_t offset, size_t bytes) {
  char* out = static_cast<char*>(to);
  while (bytes > 0) {
    const uint64_t word = pattern_word(key, offset / 8);
    const size_t skip = offset % 8, take = std::min(bytes, 8 - skip);
    std::memcpy(out, reinterpret_cast<const char*>(&word) + skip, take);
    out += take, offset += take, bytes -= take;
  }
}
inline std::vector<char> pattern(uint64_t key, size_t bytes) {
  std::vector<char> made(bytes);
  pattern(made.data(), key, 0, bytes);
  return made;
}

/// Untouched bytes that every destination has before and after it.
constexpr size_t kGuard = 64;

// ---------------------------------------------------------------- copies between host and device

/// Never the legacy stream: kernels that wait may be running.
inline void copy(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// While it lives, standard error goes nowhere: the library complains, as it should, about mistakes made on purpose.
/// (Not under a sanitizer, whose report would be lost too, and not where PEs are threads: they share it.)
class Silence {
 public:
  Silence() : before_(kSanitized || !std::getenv("CAUSEWAY_PE") ? -1 : dup(STDERR_FILENO)) {
    if (before_ < 0) return;
    std::fflush(stderr);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO), close(nowhere);
  }
  ~Silence() {
    std::fflush(stderr);
    if (before_ >= 0) dup2(before_, STDERR_FILENO), close(before_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int before_;
};

// ---------------------------------------------------------------- the run

class Suite {
 public:
  int cases = 30;
  uint64_t seed = 1;
  int me = -1, pes = -1;
  cudaStream_t stream{};
  std::vector<std::string> rest;  // arguments that are the program's own

  Suite(int argc, char** argv) : messages_(fdopen(dup(STDERR_FILENO), "w")) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--cases" && i + 1 < argc)
        cases = std::atoi(argv[++i]);
      else if (word == "--seed" && i + 1 < argc)
        seed = std::strtoull(argv[++i], nullptr, 0);
      else
        rest.push_back(word);
    }
  }

  /// Joins the job.
  void init() {
    nvshmem_init();
    adopt();
  }
  /// Takes over a job that the program has joined itself: one device for each PE of a node, shared when there are
  /// fewer.
  void adopt() {
    me = nvshmem_my_pe(), pes = nvshmem_n_pes();
    if (pes < 1) {
      std::fprintf(stderr, "no job: %s\n", causeway_last_error());
      std::_Exit(1);
    }
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    verdicts_ = static_cast<int*>(nvshmem_calloc(2 * size_t(pes), sizeof(int)));
    CHECK(verdicts_);
  }

  /// `count` cases of one family, which all PEs run together. body(random, index): `random` is the same on all PEs.
  template <class Body>
  void family(const std::string& name, int count, Body&& body) {
    family_ = name, wrong_ = 0;
    uint64_t key = seed;
    for (char letter : name) key = mix(key ^ uint64_t(letter));
    for (case_ = 0; case_ < count; ++case_) {
      Random random(key + uint64_t(case_));
      body(random, case_);
    }
    close(count);
  }

  /// Notes a mistake of the library, as printf does.
  __attribute__((format(printf, 2, 3))) void wrong(const char* format, ...) {
    if (++wrong_ > kMessages) return;
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(messages_, "PE %d: %s, case %d of seed %llu: %s\n", me, family_.c_str(), case_,
                 (unsigned long long)seed, text);
    std::fflush(messages_);
  }
  /// Are they the same bytes? If not, says where they differ first.
  bool same(const void* got, const void* expected, size_t bytes, const char* what) {
    if (bytes == 0 || std::memcmp(got, expected, bytes) == 0) return true;
    const auto* a = static_cast<const unsigned char*>(got);
    const auto* b = static_cast<const unsigned char*>(expected);
    size_t first = 0, count = 0;
    for (size_t i = bytes; i-- > 0;)
      if (a[i] != b[i]) first = i, ++count;
    wrong("%s: %zu of %zu bytes differ, the first at %zu: %02x, expected %02x", what, count, bytes, first, a[first],
          b[first]);
    return false;
  }
  template <class A, class B>
  bool equal(A got, B expected, const char* what) {
    if (got == static_cast<A>(expected)) return true;
    wrong("%s: %lld, expected %lld", what, (long long)got, (long long)expected);
    return false;
  }

  void synchronize() { CHECK(cudaStreamSynchronize(stream)); }

  /// Leaves the job. The exit status of the program.
  int finish() {
    nvshmem_free(verdicts_);
    CHECK(cudaStreamDestroy(stream));
    nvshmem_finalize();
    return total_ ? 1 : 0;
  }
  int failures() const { return total_; }

 private:
  static constexpr int kMessages = 3;  // a family, a PE: the first ones tell

  // The PEs tell each other. Two sets of words, since a PE may close the next family while another still reads.
  void close(int count) {
    int* words = verdicts_ + (closed_++ % 2) * pes;
    nvshmem_barrier_all();
    for (int pe = 0; pe < pes; ++pe) nvshmem_int_p(words + me, wrong_, pe);
    nvshmem_barrier_all();
    std::vector<int> all(size_t(pes), 0);
    copy(all.data(), words, all.size() * sizeof(int), stream);
    int sum = wrong_;
    for (int pe = 0; pe < pes; ++pe) sum += pe == me ? 0 : all[size_t(pe)];
    total_ += sum;
    if (me == 0) {
      std::printf("%-4s %s: %d cases", sum ? "FAIL" : "ok", family_.c_str(), count);
      if (sum) std::printf(", %d mistakes", sum);
      std::printf("\n");
      std::fflush(stdout);
    }
  }

  FILE* messages_;  // standard error, also while it is silent
  std::string family_ = "start";
  int case_ = 0, wrong_ = 0, total_ = 0, closed_ = 0;
  int* verdicts_ = nullptr;
};

// ---------------------------------------------------------------- callers in a launch

/// Random block shapes of at most `most` threads, in one to three dimensions; whole warps only, if asked.
inline dim3 random_block(Random& random, int most, bool whole_warps) {
  const int threads = whole_warps ? 32 * random.between(1, std::max(1, most / 32)) : random.between(1, most);
  int x = threads, y = 1, z = 1;
  auto split = [&](int& from, int& into) {
    for (int factor : {2, 3, 5})
      if (from % factor == 0 && random.chance(40)) from /= factor, into *= factor;
  };
  split(x, y);
  split(x, z);
  return dim3(unsigned(x), unsigned(y), unsigned(z));
}
__device__ inline unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ inline unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }

}  // namespace conformance
