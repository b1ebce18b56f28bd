// Teams: the predefined ones, strided splits of splits, translation between any two, life and death, bad arguments.
//
//   teams [--cases C] [--seed S] [--nodes K]     K: as given to `causeway run --nodes`
#include "team_model.hpp"

using namespace conformance;

namespace {

// ---------------------------------------------------------------- splits

/// What this split of `parent` must answer and make.
bool split_model(const Model& parent, int start, int stride, int size, Model* made) {
  if (start < 0 || start >= parent.size() || size < 1 || size > parent.size()) return false;
  if (stride == 0 && size > 1) return false;
  const long last = start + long(size - 1) * stride;
  if (last < 0 || last >= parent.size()) return false;
  for (int i = 0; i < size; ++i) made->members.push_back(parent.members[size_t(start + i * stride)]);
  return true;
}

void draw_split(Random& random, int parent_size, int* start, int* stride, int* size) {
  *start = random.between(0, parent_size - 1);
  *stride = random.between(1, 3);
  if (random.chance(40)) *stride = -*stride;
  const int room = (*stride > 0 ? parent_size - 1 - *start : *start) / std::abs(*stride) + 1;
  *size = random.chance(20) ? 1 : random.between(1, room);
}

/// Called by all members of the parent; others learn the model only.
Model split(Suite& suite, const Model& parent, int start, int stride, int size) {
  Model made;
  const bool good = split_model(parent, start, stride, size, &made);
  if (parent.number_of(suite.me) < 0) return made;
  made.handle = 12345;
  Silence silence;
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  const int status =
      nvshmem_team_split_strided(parent.handle, start, stride, size, start % 2 ? &config : nullptr, 0, &made.handle);
  if (good != (status == 0))
    suite.wrong("split(start %d, stride %d, size %d) of %d PEs: status %d", start, stride, size, parent.size(), status);
  if (!good) suite.equal(made.handle, int(NVSHMEM_TEAM_INVALID), "new_team after a failed split");
  return made;
}

// ---------------------------------------------------------------- cases

/// Every PE's list of a predefined team: those in one list must have the same list.
void run_predefined(Bench& b, Random& random, nvshmem_team_t handle, int nodes) {
  Suite& suite = b.suite;
  const bool even = suite.pes % nodes == 0;
  const int size = std::max(0, nvshmem_team_n_pes(handle));
  if (size == 0) suite.wrong("team %d does not exist", handle);
  Model model;
  model.handle = handle;
  for (int number = 0; number < size; ++number)
    model.members.push_back(nvshmem_team_translate_pe(handle, number, NVSHMEM_TEAM_WORLD));
  if (size > 0) {
    check_team(b, model);
    check_translation(b, random, model, world(suite));
    suite.equal(model.number_of(suite.me), nvshmem_team_my_pe(handle), "own number");
    check_use(b, model);
  }
  for (int number = 1; number < size; ++number)
    if (model.members[size_t(number)] <= model.members[size_t(number) - 1]) suite.wrong("members are not in order");

  std::vector<int> row(size_t(suite.pes), -1), all(row.size() * row.size());
  std::copy(model.members.begin(), model.members.end(), row.begin());
  int* table = static_cast<int*>(nvshmem_malloc(all.size() * sizeof(int) + row.size() * sizeof(int)));
  CHECK(table);
  copy(table + all.size(), row.data(), row.size() * sizeof(int), suite.stream);
  CHECK(nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, table, table + all.size(), row.size()));
  copy(all.data(), table, all.size() * sizeof(int), suite.stream);
  for (int member : model.members)
    suite.same(&all[size_t(member) * row.size()], row.data(), row.size() * sizeof(int), "a member's view of the team");
  if (handle == NVSHMEM_TEAM_WORLD || handle == NVSHMEM_TEAM_SHARED) suite.equal(size, suite.pes, "size on one host");
  if (handle == NVSHMEMX_TEAM_NODE) {
    int different = 0;
    for (int pe = 0; pe < suite.pes; ++pe) different += all[size_t(pe) * row.size()] == pe;  // first members
    suite.equal(different, nodes, "number of nodes");
    if (even) suite.equal(size, suite.pes / nodes, "size of a node");
  }
  if (handle == NVSHMEMX_TEAM_SAME_MYPE_NODE && size > 0) {  // one PE of each node, all with the same number there
    if (even) suite.equal(size, nodes, "PEs with this number in their nodes");
    const int number = nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE);
    copy(b.source, &number, sizeof number, suite.stream);
    CHECK(nvshmem_barrier(handle));
    for (int member : model.members)
      suite.equal(nvshmem_int_g(b.source, member), number, "a member's number in its node");
    CHECK(nvshmem_barrier(handle));
  }
  nvshmem_free(table);
}

/// A growing and shrinking set of teams, splits of splits, now and then with bad arguments.
void run_tree(Bench& b, Random& random) {
  Suite& suite = b.suite;
  std::vector<Model> teams{world(suite)};
  for (int step = 0; step < 12; ++step) {
    const size_t index = random.below(teams.size());
    if (index > 0 && random.chance(25)) {
      Model gone = teams[index];
      teams.erase(teams.begin() + long(index));
      if (gone.number_of(suite.me) >= 0) {
        nvshmem_team_destroy(gone.handle);
        suite.equal(nvshmem_team_n_pes(gone.handle), -1, "team_n_pes of a destroyed team");
        suite.equal(nvshmem_team_my_pe(gone.handle), -1, "team_my_pe of a destroyed team");
        suite.equal(nvshmem_team_translate_pe(gone.handle, 0, NVSHMEM_TEAM_WORLD), -1,
                    "translation from a destroyed team");
        suite.equal(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, suite.me, gone.handle), -1,
                    "translation to a destroyed team");
      }
      continue;
    }
    int start = 0, stride = 1, size = 1;
    draw_split(random, teams[index].size(), &start, &stride, &size);
    if (random.chance(25)) size += random.between(-3, 3);
    if (random.chance(15)) start += random.between(-20, 20);
    if (random.chance(10)) stride = random.between(-20, 20);
    Model made = split(suite, teams[index], start, stride, size);
    if (made.members.empty()) continue;
    check_team(b, made);
    check_use(b, made);
    teams.push_back(made);
    check_translation(b, random, made, teams[random.below(teams.size())]);
    check_translation(b, random, teams[random.below(teams.size())], teams[random.below(teams.size())]);
  }
  for (const Model& team : teams) check_use(b, team);
  for (size_t i = teams.size(); i-- > 1;)
    if (teams[i].number_of(suite.me) >= 0) nvshmem_team_destroy(teams[i].handle);
  nvshmem_barrier_all();
}

/// 200 teams at a time, all of which work.
void run_many(Bench& b, Random& random) {
  std::vector<Model> teams;
  const Model all = world(b.suite);
  for (int i = 0; i < 200; ++i) {
    int start = 0, stride = 1, size = 1;
    draw_split(random, all.size(), &start, &stride, &size);
    teams.push_back(split(b.suite, all, start, stride, size));
  }
  for (size_t i = 0; i < teams.size(); ++i) {
    check_team(b, teams[i]);
    if (i % 8 == 0) check_translation(b, random, teams[i], teams[random.below(teams.size())]);
    check_use(b, teams[i]);
  }
  for (const Model& team : teams)
    if (team.number_of(b.suite.me) >= 0) nvshmem_team_destroy(team.handle);
  nvshmem_barrier_all();
}

/// Slots are used again, also after teams that met a different number of times.
void run_churn(Bench& b, Random& random, int count) {
  const Model all = world(b.suite);
  Model kept = split(b.suite, all, 0, 1, all.size());
  for (int i = 0; i < count; ++i) {
    int start = 0, stride = 1, size = 1;
    draw_split(random, all.size(), &start, &stride, &size);
    Model made = split(b.suite, all, start, stride, size);
    check_team(b, made);
    const int uses = i % 10 == 0 ? random.between(0, 3) : 0;
    for (int use = 0; use < uses; ++use) check_use(b, made);
    if (made.number_of(b.suite.me) >= 0) nvshmem_team_destroy(made.handle);
  }
  check_use(b, kept);
  nvshmem_team_destroy(kept.handle);
  nvshmem_barrier_all();
}

void run_bad_arguments(Bench& b, Random& random) {
  Silence silence;
  Suite& suite = b.suite;
  const int pes = suite.pes;
  const Model all = world(suite);
  const int bad[][3] = {
      {-1, 1, 1},         {pes, 1, 1},           {0, 1, 0},  {0, 1, -1},      {0, 1, pes + 1}, {0, 0, 2},
      {1, 1, pes},        {0, pes + 1, 2},       {0, -1, 2}, {0, 1 << 30, 3}, {pes - 1, 1, 2}, {0, 1, 1 << 30},
      {-(1 << 30), 1, 1}, {pes - 1, -1, pes + 1}};
  for (const auto& row : bad) {
    Model made;
    if (split_model(all, row[0], row[1], row[2], &made)) suite.wrong("the test itself: this split is good");
    split(suite, all, row[0], row[1], row[2]);
  }
  for (nvshmem_team_t parent : {nvshmem_team_t{-7}, nvshmem_team_t{12345}, nvshmem_team_t{1 << 30}}) {
    nvshmem_team_t made = 99;
    if (nvshmem_team_split_strided(parent, 0, 1, 1, nullptr, 0, &made) == 0)
      suite.wrong("split of team %d: status 0", parent);
    suite.equal(made, int(NVSHMEM_TEAM_INVALID), "new_team of a bad parent");
    suite.equal(nvshmem_team_n_pes(parent), -1, "team_n_pes of a bad team");
    suite.equal(nvshmem_team_my_pe(parent), -1, "team_my_pe of a bad team");
  }
  nvshmem_team_t made = 99;
  if (nvshmem_team_split_strided(NVSHMEM_TEAM_INVALID, 0, 1, 1, nullptr, 0, &made) == 0)
    suite.wrong("split of the invalid team: status 0");
  suite.equal(made, int(NVSHMEM_TEAM_INVALID), "new_team of the invalid team");
  if (nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, pes, nullptr, 0, nullptr) == 0)
    suite.wrong("new_team null: status 0");
  nvshmem_team_destroy(NVSHMEM_TEAM_INVALID);
  nvshmem_team_destroy(NVSHMEM_TEAM_WORLD);  // refused
  check_use(b, all);
  check_translation(b, random, all, all);
  nvshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  int nodes = 1;
  for (size_t i = 0; i + 1 < suite.rest.size(); ++i)
    if (suite.rest[i] == "--nodes") nodes = std::atoi(suite.rest[i + 1].c_str());
  suite.init();
  nodes = std::min(nodes, suite.pes);
  Bench bench(suite);
  const nvshmem_team_t predefined[] = {NVSHMEM_TEAM_WORLD, NVSHMEM_TEAM_SHARED, NVSHMEMX_TEAM_NODE,
                                       NVSHMEMX_TEAM_SAME_MYPE_NODE};
  suite.family("teams.predefined", 4,
               [&](Random& random, int index) { run_predefined(bench, random, predefined[index], nodes); });
  suite.family("teams.tree", suite.cases, [&](Random& random, int) { run_tree(bench, random); });
  suite.family("teams.bad arguments", 1, [&](Random& random, int) { run_bad_arguments(bench, random); });
  suite.family("teams.200 live", 1, [&](Random& random, int) { run_many(bench, random); });
  const int churn = std::max(1, (suite.pes > 4 ? 500 : 2000) * std::min(suite.cases, 30) / 30);
  suite.family("teams.churn", 1, [&](Random& random, int) { run_churn(bench, random, churn); });
  bench.free();
  return suite.finish();
}
