// Teams of any PEs, made by ids: cut into rows and columns, configured, made again, destroyed in use, hundreds at a
// time.
#include "team_model.hpp"

using namespace conformance;

namespace {

int config_contexts(nvshmem_team_t team) {
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  config.num_contexts = -77;
  nvshmem_team_get_config(team, &config);
  return config.num_contexts;
}

/// A team to split: the world, a part of it, or any PEs. All PEs call it; `made` is to be destroyed.
Model draw_parent(Bench& b, Random& random, bool* made) {
  *made = random.chance(70);
  return *made ? make_any(b, random) : world(b.suite);
}

// ---------------------------------------------------------------- rows and columns

void check_row_and_column(Bench& b, Random& random, const Model& parent, int xrange) {
  Suite& suite = b.suite;
  const int number = parent.number_of(suite.me), contexts = random.between(0, 9);
  Model x, y;
  nvshmem_team_config_t x_config = NVSHMEM_TEAM_CONFIG_INITIALIZER, y_config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  x_config.num_contexts = contexts, y_config.num_contexts = contexts + 1;
  const bool masked = random.chance(50);
  if (number < 0) return;
  x.handle = y.handle = 12345;
  const int status = nvshmem_team_split_2d(parent.handle, xrange, masked ? &x_config : nullptr,
                                           masked ? NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS : 0, &x.handle, &y_config,
                                           masked ? NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS : 0, &y.handle);
  suite.equal(status, 0, "status of split_2d");
  const int width = std::min(xrange, parent.size());
  for (int i = 0; i < parent.size(); ++i) {
    if (i / width == number / width) x.members.push_back(parent.members[size_t(i)]);
    if (i % width == number % width) y.members.push_back(parent.members[size_t(i)]);
  }
  check_team(b, x);
  check_team(b, y);
  suite.equal(config_contexts(x.handle), masked ? contexts : 0, "num_contexts of the row");
  suite.equal(config_contexts(y.handle), masked ? contexts + 1 : 0, "num_contexts of the column");
  check_translation(b, random, x, y);
  check_translation(b, random, y, parent);
  for (const Model& team : {x, y, parent, y, x}) check_use(b, team);
  // Both at once: a row's meeting does not wait for the column's, on streams and in host code.
  suite.equal(nvshmemx_barrier_on_stream(x.handle, suite.stream), 0, "status of barrier_on_stream");
  suite.equal(nvshmem_barrier(y.handle), 0, "status of barrier");
  suite.synchronize();
  for (const Model& team : {y, x}) nvshmem_team_destroy(team.handle);
}

void run_split_2d(Bench& b, Random& random) {
  bool made = false;
  const Model parent = draw_parent(b, random, &made);
  for (int xrange = 1; xrange <= parent.size() + 2; ++xrange) check_row_and_column(b, random, parent, xrange);
  check_row_and_column(b, random, parent, 1 << 30);
  if (made) destroy(b.suite, parent);
  nvshmem_barrier_all();
}

// ---------------------------------------------------------------- configurations

void run_config(Bench& b, Random& random) {
  Suite& suite = b.suite;
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  for (long mask : {0L, long(NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS)}) {
    config.num_contexts = 3 + suite.me;  // need not be the same everywhere
    nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
    CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, suite.pes, &config, mask, &team));
    suite.equal(config_contexts(team), mask ? 3 + suite.me : 0, "num_contexts");
    nvshmem_team_destroy(team);
  }
  const uint64_t id = pass_id(suite, b.word, random.between(0, suite.pes - 1));
  const auto members = draw_members(random, suite.pes, random.between(1, suite.pes));
  const Model any = make_any(b, members, id);
  if (any.number_of(suite.me) >= 0) {
    nvshmem_team_get_config(any.handle, &config);
    suite.equal(config.uniqueid, id, "uniqueid");
    suite.equal(config.num_contexts, 0, "num_contexts");
  }
  destroy(suite, any);
  suite.equal(config_contexts(NVSHMEM_TEAM_WORLD), 0, "num_contexts of the world");
  Silence silence;
  suite.equal(config_contexts(NVSHMEM_TEAM_INVALID), -77, "num_contexts of no team, left alone");
  suite.equal(config_contexts(12345), -77, "num_contexts of no team, left alone");
  nvshmem_team_get_config(NVSHMEM_TEAM_WORLD, nullptr);
  nvshmem_barrier_all();
}

// ---------------------------------------------------------------- teams of any PEs

void run_any(Bench& b, Random& random) {
  Suite& suite = b.suite;
  std::vector<Model> teams{world(suite)};
  for (int step = 0; step < 8; ++step) {
    if (teams.size() > 1 && random.chance(25)) {
      const size_t index = 1 + random.below(teams.size() - 1);
      destroy(suite, teams[index]);
      teams.erase(teams.begin() + long(index));
      continue;
    }
    teams.push_back(make_any(b, random));
    check_use(b, teams.back());
    for (int i = 0; i < 3; ++i)
      check_translation(b, random, teams[random.below(teams.size())], teams[random.below(teams.size())]);
  }
  for (const Model& team : teams) check_use(b, team);
  for (size_t i = teams.size(); i-- > 1;) destroy(suite, teams[i]);
  nvshmem_barrier_all();
}

/// The world cut into disjoint teams, all made at the same time, each by an id of its own.
void run_disjoint(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const auto order = draw_members(random, suite.pes, suite.pes);
  std::vector<std::vector<int>> parts(1);
  for (int pe : order) {
    if (!parts.back().empty() && random.chance(40)) parts.emplace_back();
    parts.back().push_back(pe);
  }
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < parts.size(); ++i) ids.push_back(pass_id(suite, b.word, random.between(0, suite.pes - 1)));
  std::vector<Model> teams;
  for (size_t i = 0; i < parts.size(); ++i) teams.push_back(make_any(b, parts[i], ids[i]));  // nobody is in two
  for (const Model& team : teams) check_use(b, team);
  for (const Model& team : teams) destroy(suite, team);
  nvshmem_barrier_all();
}

/// The same members again and again, in other orders, by one id or by new ones, with nothing but the calls between.
void run_again(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const int size = random.between(1, suite.pes);
  auto members = draw_members(random, suite.pes, size);
  const uint64_t id = pass_id(suite, b.word, members[0]);
  for (int round = 0; round < 20; ++round) {
    std::vector<int> now;
    for (int i : draw_members(random, size, size)) now.push_back(members[size_t(i)]);
    const Model team = make_any(b, now, id);
    if (round % 4 == 0) check_use(b, team);
    destroy(suite, team);
  }
  for (int round = 0; round < 5; ++round) {
    const Model team = make_any(b, members, pass_id(suite, b.word, members[size_t(round) % members.size()]));
    check_use(b, team);
    destroy(suite, team);
  }
  nvshmem_barrier_all();
}

/// A team is destroyed while meetings of it are queued on a stream.
void run_queued(Bench& b, Random& random) {
  for (int round = 0; round < 5; ++round) {
    const Model team = make_any(b, random);
    for (int i = random.between(0, 4); i > 0 && team.number_of(b.suite.me) >= 0; --i)
      b.suite.equal(nvshmemx_barrier_on_stream(team.handle, b.suite.stream), 0, "status of barrier_on_stream");
    destroy(b.suite, team);
  }
  nvshmem_barrier_all();
}

// ---------------------------------------------------------------- hundreds

/// A barrier, and a sum of what the members give.
void check_sum(Bench& b, const Model& team, int salt) {
  Suite& suite = b.suite;
  if (team.number_of(suite.me) < 0) return;
  const int mine = suite.me * 1000 + salt;
  copy(b.source, &mine, sizeof mine, suite.stream);
  suite.equal(nvshmem_barrier(team.handle), 0, "status of barrier");
  suite.equal(nvshmem_int_sum_reduce(team.handle, b.dest, b.source, 1), 0, "status of sum_reduce");
  int sum = 0, expected = 0;
  copy(&sum, b.dest, sizeof sum, suite.stream);
  for (int pe : team.members) expected += pe * 1000 + salt;
  suite.equal(sum, expected, "sum over the team");
}

void run_many(Bench& b, Random& random) {
  Suite& suite = b.suite;
  std::vector<Model> teams;
  const Model all = world(suite);
  const auto make = [&] {
    if (random.chance(15)) return make_any(b, random);
    const int start = random.between(0, suite.pes - 1), stride = random.between(1, 2);
    const int size = random.between(1, (suite.pes - 1 - start) / stride + 1);
    Model made;
    for (int i = 0; i < size; ++i) made.members.push_back(start + i * stride);
    CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &made.handle));
    return made;
  };
  for (int i = 0; i < 300; ++i) teams.push_back(make());
  for (size_t i = 0; i < teams.size(); ++i) check_sum(b, teams[i], int(i));
  // Destroyed in another order than made, and others with their numbers, twice.
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 150; ++i) {
      const size_t gone = random.below(teams.size());
      destroy(suite, teams[gone]);
      teams.erase(teams.begin() + long(gone));
    }
    for (int i = 0; i < 150; ++i) teams.push_back(make());
    for (size_t i = 0; i < teams.size(); ++i) check_sum(b, teams[i], int(i) + 7);
  }
  for (size_t i = 0; i < 20; ++i)
    check_translation(b, random, teams[random.below(teams.size())], teams[random.below(teams.size())]);
  while (!teams.empty()) {
    const size_t gone = random.below(teams.size());
    destroy(suite, teams[gone]);
    teams.erase(teams.begin() + long(gone));
  }
  nvshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  const int few = (suite.cases + 2) / 3;
  suite.family("teams.split_2d", few, [&](Random& random, int) { run_split_2d(bench, random); });
  suite.family("teams.config", few, [&](Random& random, int) { run_config(bench, random); });
  suite.family("teams.any PEs", few, [&](Random& random, int) { run_any(bench, random); });
  suite.family("teams.disjoint", suite.cases, [&](Random& random, int) { run_disjoint(bench, random); });
  suite.family("teams.again", few, [&](Random& random, int) { run_again(bench, random); });
  suite.family("teams.queued", few, [&](Random& random, int) { run_queued(bench, random); });
  suite.family("teams.300 live", 1, [&](Random& random, int) { run_many(bench, random); });
  bench.free();
  return suite.finish();
}
