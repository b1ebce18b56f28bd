// Teams that cannot be made: too many, arguments that differ between PEs, bad ones. A failure is everyone's: all PEs
// have a status other than 0 and no team, nobody waits, and what is asked for next works.
#include "team_model.hpp"

using namespace conformance;

namespace {

constexpr int kTeamsMax = 420;  // of a PE, predefined ones included: see main()

/// All PEs had the same status; -1 if not. Told by the world's own means.
int common_status(Bench& b, int status) {
  Suite& suite = b.suite;
  copy(b.source, &status, sizeof status, suite.stream);
  CHECK(nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, b.dest, b.source, 1));
  std::vector<int> all(size_t(suite.pes));
  copy(all.data(), b.dest, all.size() * sizeof(int), suite.stream);
  nvshmem_barrier_all();
  for (int other : all)
    if (other != status) return suite.wrong("statuses differ: %d here, %d elsewhere", status, other), -1;
  return status;
}

/// Teams until there are no more; then one is given back, and there is one more.
void run_too_many(Bench& b, Random&) {
  Suite& suite = b.suite;
  std::vector<Model> teams;
  Model all = world(suite);
  for (int i = 0; i < kTeamsMax; ++i) {
    Silence silence;
    all.handle = 12345;
    const int status =
        common_status(b, nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, suite.pes, nullptr, 0, &all.handle));
    if (status != 0) break;
    teams.push_back(all);
  }
  suite.equal(all.handle, int(NVSHMEM_TEAM_INVALID), "new_team of a split too many");
  if (teams.size() < 100 || int(teams.size()) >= kTeamsMax) suite.wrong("%zu teams could be made", teams.size());
  for (int round = 0; round < 4 && !teams.empty(); ++round) {
    {
      Silence silence;
      nvshmem_team_t x = 12345, y = 12345;
      const int status = nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 1, nullptr, 0, &x, nullptr, 0, &y);
      if (common_status(b, status) == 0) suite.wrong("split_2d with %s slots: status 0", round % 2 ? "1" : "no");
      suite.equal(x, int(NVSHMEM_TEAM_INVALID), "xaxis_team of a split too many");
      suite.equal(y, int(NVSHMEM_TEAM_INVALID), "yaxis_team of a split too many");
      if (round % 2 == 0) {
        nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
        config.uniqueid = pass_id(suite, b.word, 0);
        nvshmem_team_t team = 12345;
        const int made =
            nvshmemx_team_init(&team, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, suite.pes, suite.pes - 1 - suite.me);
        if (common_status(b, made) == 0) suite.wrong("team_init with no slots: status 0");
        suite.equal(team, int(NVSHMEM_TEAM_INVALID), "team of an init too many");
      }
    }
    // Room for one at a time is no room for a row and a column.
    if (round % 2 == 0) {
      destroy(suite, teams.back());
      teams.pop_back();
      continue;
    }
    teams.push_back(world(suite));
    CHECK(
        nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, suite.pes - 1, -1, suite.pes, nullptr, 0, &teams.back().handle));
    std::reverse(teams.back().members.begin(), teams.back().members.end());
    check_use(b, teams.back());
  }
  for (const Model& team : teams) destroy(suite, team);
  nvshmem_barrier_all();
}

/// One PE gives other arguments than the rest: all are told, nobody waits, and the next split works.
void run_different(Bench& b, Random& random) {
  Suite& suite = b.suite;
  if (suite.pes < 2) return;
  const bool odd = suite.me == random.between(0, suite.pes - 1);
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER, negative = config;
  negative.num_contexts = -1;
  const long contexts = NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS;
  const nvshmem_team_t all = NVSHMEM_TEAM_WORLD;
  for (int way = 0; way < 11; ++way) {
    const uint64_t id = pass_id(suite, b.word, 0);
    nvshmem_team_t x = 12345, y = 12345;
    const auto strided = [&](int start, int stride, int size, const nvshmem_team_config_t* given, long mask) {
      return nvshmem_team_split_strided(all, start, stride, size, given, mask, &x);
    };
    const auto grid = [&](int xrange, const nvshmem_team_config_t* given, long mask, nvshmem_team_t* y_team) {
      return nvshmem_team_split_2d(all, xrange, &config, contexts, &x, given, mask, y_team);
    };
    const auto init = [&](int size, int number, uint64_t by) {
      config.uniqueid = by;
      return nvshmemx_team_init(&x, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, size, number);
    };
    Silence silence;
    const int status = way == 0   ? strided(odd ? 1 : 0, 1, 1, nullptr, 0)
                       : way == 1 ? strided(0, odd ? 1 : -1, 1, nullptr, 0)
                       : way == 2 ? strided(0, 1, suite.pes - odd, nullptr, 0)
                       : way == 3 ? strided(0, 1, odd ? suite.pes + 1 : suite.pes, nullptr, 0)
                       : way == 4 ? strided(0, 1, suite.pes, odd ? nullptr : &config, contexts)
                       : way == 5 ? strided(0, 1, suite.pes, &config, odd ? 1 << 20 : 0)
                       : way == 6 ? strided(0, 1, suite.pes, odd ? &negative : &config, contexts)
                       : way == 7 ? grid(odd ? 1 : 2, &config, 0, &y)
                       : way == 8 ? grid(odd ? 0 : 2, &config, 0, &y)
                       : way == 9 ? grid(1, odd ? &negative : &config, contexts, &y)
                                  : init(suite.pes, suite.me / 2, id);  // two have one number
    if (status == 0) suite.wrong("way %d of giving different arguments: status 0", way);
    suite.equal(x, int(NVSHMEM_TEAM_INVALID), "team after a call that failed elsewhere");
    if (way >= 7 && way <= 9) suite.equal(y, int(NVSHMEM_TEAM_INVALID), "team after a call that failed elsewhere");
    nvshmem_barrier_all();
  }
  const Model after = make_any(b, random);
  check_use(b, after);
  destroy(suite, after);
  nvshmem_team_t x = 12345, y = 12345;
  CHECK(nvshmem_team_split_2d(all, 2, nullptr, 0, &x, nullptr, 0, &y));
  suite.equal(nvshmem_barrier(x) + nvshmem_barrier(y), 0, "statuses of barriers");
  nvshmem_team_destroy(y), nvshmem_team_destroy(x);
  nvshmem_barrier_all();
}

/// Arguments that are bad on their own, the same ones everywhere.
void run_bad(Bench& b, Random& random) {
  Suite& suite = b.suite;
  nvshmem_team_t x = 9, y = 9;  // both are invalid after every call stores them
  const auto refused = [&](int status, const char* what) {
    if (status == 0) suite.wrong("%s: status 0", what);
    if (x != NVSHMEM_TEAM_INVALID && x != 9) suite.wrong("%s made a team", what);
    if (y != NVSHMEM_TEAM_INVALID && y != 9) suite.wrong("%s made a team", what);
    x = y = 9;
  };
  const uint64_t id = pass_id(suite, b.word, 0);
  {
    Silence silence;
    const nvshmem_team_t all = NVSHMEM_TEAM_WORLD;
    for (int xrange : {0, -1, -(1 << 30)}) {
      const int status = common_status(b, nvshmem_team_split_2d(all, xrange, nullptr, 0, &x, nullptr, 0, &y));
      if (x != NVSHMEM_TEAM_INVALID || y != NVSHMEM_TEAM_INVALID) suite.wrong("xrange %d made teams", xrange);
      refused(status, "split_2d with a bad xrange");
    }
    refused(nvshmem_team_split_2d(all, 1, nullptr, 0, nullptr, nullptr, 0, &y), "no xaxis_team");
    refused(nvshmem_team_split_2d(all, 1, nullptr, 0, &x, nullptr, 0, nullptr), "no yaxis_team");
    refused(nvshmem_team_split_2d(777, 1, nullptr, 0, &x, nullptr, 0, &y), "split_2d of no team");
    if (nvshmem_team_split_2d(NVSHMEM_TEAM_INVALID, 1, nullptr, 0, &x, nullptr, 0, &y) == 0)
      suite.wrong("split_2d of the invalid team: status 0");
    if (x != NVSHMEM_TEAM_INVALID || y != NVSHMEM_TEAM_INVALID) suite.wrong("the invalid team made teams");
    if (nvshmemx_team_get_uniqueid(nullptr) == 0) suite.wrong("get_uniqueid(null): status 0");
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    const auto init = [&](uint64_t by, long mask, int size, int number) {
      config.uniqueid = by;
      const int status = nvshmemx_team_init(&x, &config, mask, size, number);
      if (x != NVSHMEM_TEAM_INVALID) suite.wrong("team_init(mask %ld, npes %d, %d) made a team", mask, size, number);
      refused(status, "team_init");
    };
    const long mask = NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID;
    init(0, mask, 1, 0), init(~uint64_t{0}, mask, 1, 0), init(uint64_t(suite.pes + 1) << 40 | 1, mask, 1, 0);
    init(id, 0, 1, 0), init(id, mask | 1 << 20, 1, 0), init(id, mask, 0, 0), init(id, mask, -1, 0);
    init(id, mask, suite.pes + 1, 0), init(id, mask, 1, -1), init(id, mask, 1, 1);
    refused(nvshmemx_team_init(&x, nullptr, mask, 1, 0), "team_init without a config");
    refused(nvshmemx_team_init(nullptr, &config, mask, 1, 0), "team_init without a team");
  }
  const Model after =
      make_any(b, draw_members(random, suite.pes, suite.pes), id);  // what was refused has not used the id up
  check_use(b, after);
  destroy(suite, after);
  nvshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  // Few enough to run out of them soon.
  if (!std::getenv("NVSHMEM_MAX_TEAMS")) setenv("NVSHMEM_MAX_TEAMS", std::to_string(kTeamsMax).c_str(), 1);
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  const int few = (suite.cases + 2) / 3;
  suite.family("teams.too many", 1, [&](Random& random, int) { run_too_many(bench, random); });
  suite.family("teams.different arguments", few, [&](Random& random, int) { run_different(bench, random); });
  suite.family("teams.bad", 1, [&](Random& random, int) { run_bad(bench, random); });
  bench.free();
  return suite.finish();
}
