// What the programs about teams share: a team as all PEs know it, and checks of one against the model.
#pragma once
#include "any_team.hpp"
#include "harness.hpp"

namespace conformance {

/// A team as all PEs know it: its members, in order, as PEs of the world. The handle is each PE's own.
struct Model {
  std::vector<int> members;
  nvshmem_team_t handle = NVSHMEM_TEAM_INVALID;
  int number_of(int pe) const { return number_among(members, pe); }
  int size() const { return int(members.size()); }
};

struct Bench {
  Suite& suite;
  int *source, *dest;  // symmetric: one word, and a word for each PE
  uint64_t* word;      // symmetric: passes ids
  int* answers;        // of a kernel

  explicit Bench(Suite& s) : suite(s) {
    CHECK(source = static_cast<int*>(nvshmem_malloc(sizeof(int))));
    CHECK(dest = static_cast<int*>(nvshmem_malloc(size_t(suite.pes) * sizeof(int))));
    CHECK(word = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t))));
    CHECK(cudaMalloc(&answers, 4 * sizeof(int)));
  }
  void free() {
    CHECK(cudaFree(answers));
    nvshmem_free(word);
    nvshmem_free(dest);
    nvshmem_free(source);
  }
};

static __global__ void ask(nvshmem_team_t team, int pe, nvshmem_team_t other, int* answers) {
  answers[0] = nvshmem_team_my_pe(team);
  answers[1] = nvshmem_team_n_pes(team);
  answers[2] = nvshmem_team_translate_pe(team, pe, other);
  answers[3] = nvshmem_team_translate_pe(other, pe, team);
}

// ---------------------------------------------------------------- checks

/// What a PE of the team sees of it; others hold an invalid handle.
inline void check_team(Bench& b, const Model& team) {
  Suite& suite = b.suite;
  const int number = team.number_of(suite.me);
  if (number < 0) suite.equal(team.handle, int(NVSHMEM_TEAM_INVALID), "handle of a PE that is no member");
  suite.equal(nvshmem_team_my_pe(team.handle), number, "team_my_pe");
  suite.equal(nvshmem_team_n_pes(team.handle), number < 0 ? -1 : team.size(), "team_n_pes");
}

/// PEs of one team as numbers of another, from the host and in a kernel; -1 where there is none.
inline void check_translation(Bench& b, Random& random, const Model& from, const Model& to) {
  Suite& suite = b.suite;
  const bool known = from.number_of(suite.me) >= 0 && to.number_of(suite.me) >= 0;
  const auto expected = [&](const Model& source, const Model& target, int pe) {
    return known && pe >= 0 && pe < source.size() ? target.number_of(source.members[size_t(pe)]) : -1;
  };
  for (int pe = -1; pe <= from.size(); ++pe)
    if (!suite.equal(nvshmem_team_translate_pe(from.handle, pe, to.handle), expected(from, to, pe),
                     "team_translate_pe"))
      break;
  const int pe = random.between(-1, from.size());
  ask<<<1, 1, 0, suite.stream>>>(from.handle, pe, to.handle, b.answers);
  CHECK(cudaGetLastError());
  int answers[4] = {};
  copy(answers, b.answers, sizeof answers, suite.stream);
  suite.equal(answers[0], from.number_of(suite.me), "team_my_pe in a kernel");
  suite.equal(answers[1], from.number_of(suite.me) < 0 ? -1 : from.size(), "team_n_pes in a kernel");
  suite.equal(answers[2], expected(from, to, pe), "team_translate_pe in a kernel");
  suite.equal(answers[3], expected(to, from, pe), "team_translate_pe in a kernel, backwards");
}

/// The members collect their numbers: the team works, and its order is the model's.
inline void check_use(Bench& b, const Model& team) {
  Suite& suite = b.suite;
  if (team.number_of(suite.me) < 0) return;
  copy(b.source, &suite.me, sizeof(int), suite.stream);
  suite.equal(nvshmem_int_fcollect(team.handle, b.dest, b.source, 1), 0, "status of fcollect");
  std::vector<int> got(team.members.size(), -1);
  copy(got.data(), b.dest, got.size() * sizeof(int), suite.stream);
  suite.same(got.data(), team.members.data(), got.size() * sizeof(int), "members collected");
  suite.equal(nvshmem_barrier(team.handle), 0, "status of barrier");
}

inline Model world(Suite& suite) {
  Model model;
  for (int pe = 0; pe < suite.pes; ++pe) model.members.push_back(pe);
  model.handle = NVSHMEM_TEAM_WORLD;
  return model;
}

// ---------------------------------------------------------------- teams of any PEs

/// Called by all PEs.
inline Model make_any(Bench& b, const std::vector<int>& members, nvshmemx_team_uniqueid_t id) {
  Model made{members, init_team(b.suite, id, members)};
  check_team(b, made);
  return made;
}
inline Model make_any(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const auto members = draw_members(random, suite.pes, random.between(1, suite.pes));
  return make_any(b, members, pass_id(suite, b.word, random.between(0, suite.pes - 1)));  // the maker need be no member
}
inline void destroy(Suite& suite, const Model& team) {
  if (team.handle == NVSHMEM_TEAM_INVALID) return;
  nvshmem_team_destroy(team.handle);
  suite.equal(nvshmem_team_n_pes(team.handle), -1, "team_n_pes of a destroyed team");
}

}  // namespace conformance
