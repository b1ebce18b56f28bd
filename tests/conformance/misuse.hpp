// What the programs about misuse share: memory for calls to spoil, and calls of which the last error must tell.
#pragma once
#include "harness.hpp"

namespace conformance {

/// Does the text hold this word, not as a part of another one?
inline bool has_word(const std::string& text, const std::string& word) {
  const auto letter = [&](size_t i) {
    return i < text.size() && (std::isalnum((unsigned char)text[i]) || text[i] == '_');
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!letter(at - 1) && !letter(at + word.size())) return true;
  return false;
}

constexpr size_t kBytes = 4096;

struct MisuseBench {
  Suite& suite;
  char *target, *source;  // symmetric
  uint64_t* word;         // symmetric
  char* ordinary;         // device memory, not symmetric
  std::vector<char> contents;

  explicit MisuseBench(Suite& s) : suite(s) {
    CHECK(target = static_cast<char*>(nvshmem_align(256, kBytes)));
    CHECK(source = static_cast<char*>(nvshmem_align(256, kBytes)));
    CHECK(word = static_cast<uint64_t*>(nvshmem_calloc(2, sizeof(uint64_t))));
    CHECK(cudaMalloc(&ordinary, kBytes));
  }
  void free() {
    CHECK(cudaFree(ordinary));
    nvshmem_free(word);
    nvshmem_free(source);
    nvshmem_free(target);
  }
  void start(Random& random) {
    contents = pattern(random.word() ^ mix(uint64_t(suite.me)), kBytes);
    copy(target, contents.data(), kBytes, suite.stream);
    copy(source, contents.data(), kBytes, suite.stream);
    copy(ordinary, contents.data(), kBytes, suite.stream);
    CHECK(cudaMemsetAsync(word, 0, 2 * sizeof(uint64_t), suite.stream));
    suite.synchronize();
    nvshmem_barrier_all();
  }
  void check_untouched(const char* what) {
    std::vector<char> got(kBytes);
    copy(got.data(), target, kBytes, suite.stream);
    suite.same(got.data(), contents.data(), kBytes, (std::string(what) + ": target").c_str());
    copy(got.data(), source, kBytes, suite.stream);
    suite.same(got.data(), contents.data(), kBytes, (std::string(what) + ": source").c_str());
    copy(got.data(), ordinary, kBytes, suite.stream);
    suite.same(got.data(), contents.data(), kBytes, (std::string(what) + ": ordinary memory").c_str());
    uint64_t words[2];
    copy(words, word, sizeof words, suite.stream);
    if (words[0] || words[1])
      suite.wrong("%s: the signal words hold %llu, %llu", what, (unsigned long long)words[0],
                  (unsigned long long)words[1]);
  }

  /// A PE to call whom only symmetric memory will do: not the caller itself, if there is another.
  [[nodiscard]] int another_pe(Random& random) const {
    const int away = random.between(1, suite.pes - 1);  // (drawn alike by all)
    return suite.pes == 1 ? 0 : (suite.me + away) % suite.pes;
  }
  /// Addresses that are not symmetric, for calls to `pe`: alone, a PE may call itself with any memory but none.
  [[nodiscard]] std::vector<char*> not_symmetric(void* on_host, int pe) const {
    if (pe == suite.me) return {nullptr};
    return {nullptr, static_cast<char*>(on_host), ordinary};
  }

  /// Makes the call; the last error must be of it and name the argument (null: whatever it is).
  template <class Call>
  void expect(const char* what, const char* argument, Call&& call) {
    std::string before, after;
    {
      Silence silence;
      nvshmem_query_thread(nullptr);  // another error, so that the next text is fresh
      before = causeway_last_error();
      call();
      suite.synchronize();
      after = causeway_last_error();
    }
    if (after == before)
      suite.wrong("%s: no error for a bad %s", what, argument ? argument : "call");
    else if (argument && !has_word(after, argument))
      suite.wrong("%s: the text does not name %s: \"%s\"", what, argument, after.c_str());
  }
  template <class Call>
  void expect_status(const char* what, const char* argument, Call&& call) {
    int status = 0;
    expect(what, argument, [&] { status = call(); });
    if (status == 0) suite.wrong("%s: status 0 for a bad %s", what, argument);
  }
};

}  // namespace conformance
