// Sizes that no memory has, shares that fit but not together, memory that is no longer there, ids that meet again:
// every such call answers with an error or works, and nothing is moved, lost or waited for. Host calls; on the CPU
// machine they are what device code runs.
#include "harness.hpp"

using namespace conformance;

namespace {

constexpr size_t kHuge = size_t(1) << 61;  // times 8 it wraps around to 0

struct Bench {
  double *source, *dest;
  uint64_t* id;
};

/// The call fails: a status, or, where there is none, a text that names it.
template <class Call>
void refused(Suite& suite, const char* name, Call call) {
  int status = 0;
  std::string text;
  {
    const Silence silence;
    status = call();
    text = causeway_last_error();
  }
  if (status == 0) suite.wrong("%s: status 0", name);
  if (text.find(name) == std::string::npos) suite.wrong("%s is not named by: %s", name, text.c_str());
}

void huge_sizes(Suite& suite, Bench& b) {
  const double before[2] = {4, 2};
  copy(b.dest, before, sizeof before, suite.stream);
  nvshmem_barrier_all();
  double *d = b.dest, *s = b.source;
  const nvshmem_team_t world = NVSHMEM_TEAM_WORLD;
  refused(suite, "nvshmem_double_sum_reduce", [&] { return nvshmem_double_sum_reduce(world, d, s, kHuge); });
  refused(suite, "nvshmem_double_min_reducescatter",
          [&] { return nvshmem_double_min_reducescatter(world, d, s, kHuge); });
  refused(suite, "nvshmem_double_fcollect", [&] { return nvshmem_double_fcollect(world, d, s, kHuge); });
  refused(suite, "nvshmem_double_alltoall", [&] { return nvshmem_double_alltoall(world, d, s, kHuge); });
  refused(suite, "nvshmem_double_broadcast", [&] { return nvshmem_double_broadcast(world, d, s, kHuge, 0); });
  refused(suite, "nvshmem_double_alltoalls",
          [&] { return nvshmem_double_alltoalls(world, d, s, ptrdiff_t(kHuge), 1, 1000); });
  const auto void_call = [&](const char* name, auto call) { refused(suite, name, [&] { return call(), 1; }); };
  void_call("nvshmem_double_put", [&] { nvshmem_double_put(d, s, kHuge, 0); });
  void_call("nvshmem_double_iput", [&] { nvshmem_double_iput(d, s, ptrdiff_t(kHuge), 1, 10, 0); });
  void_call("nvshmem_double_iget", [&] { nvshmem_double_iget(d, s, 1, ptrdiff_t(kHuge), 10, 0); });
  void_call("nvshmem_double_put_signal",
            [&] { nvshmem_double_put_signal(d, s, kHuge, b.id, 1, NVSHMEM_SIGNAL_SET, 0); });
  double after[2];
  copy(after, b.dest, sizeof after, suite.stream);
  suite.same(after, before, sizeof after, "dest");
  nvshmem_barrier_all();
}

/// Each share fits into the heap behind dest, all of them do not.
void collect_past_the_end(Suite& suite) {
  size_t mapped = 0, used = 0, largest = 0;
  suite.equal(causeway_heap_info(&mapped, &used, &largest), 0, "heap_info");
  char* block = static_cast<char*>(nvshmem_malloc(largest));
  CHECK(block);
#ifdef CAUSEWAY_CPU  // (kernels of a CUDA release build do not check)
  if (suite.pes > 1)
    refused(suite, "collect", [&] {
      const size_t share = largest / 2 + 512;
      return nvshmem_collectmem(NVSHMEM_TEAM_WORLD, block + largest / 2 - 512 * (suite.pes + 1), block,
                                share / 2 + 4096);
    });
#endif
  nvshmem_free(block);
}

void fetch_is_left_alone(Suite& suite, Bench& b) {
  long got = 77;
  refused(suite, "nvshmem_long_atomic_fetch_add_nbi",
          [&] { return nvshmem_long_atomic_fetch_add_nbi(&got, reinterpret_cast<long*>(b.dest), 1, suite.pes), 1; });
  suite.equal(got, 77, "fetch of a refused call");
}

/// One id, again and again with nothing between: by members who are late, in changing orders.
void same_id(Suite& suite, Random& random, Bench& b) {
  if (suite.me == 0) {
    nvshmemx_team_uniqueid_t made = 0;
    suite.equal(nvshmemx_team_get_uniqueid(&made), 0, "get_uniqueid");
    for (int pe = 0; pe < suite.pes; ++pe) nvshmem_uint64_p(b.id, made, pe);
  }
  nvshmem_barrier_all();
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  copy(&config.uniqueid, b.id, sizeof config.uniqueid, suite.stream);
  std::vector<nvshmem_team_t> made;
  for (int round = 0; round < 4; ++round) {
    const int turn = random.between(0, suite.pes - 1), late = random.between(0, suite.pes - 1);
    if (late == suite.me) usleep(500);
    nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
    const int number = (suite.me + turn) % suite.pes;
    suite.equal(nvshmemx_team_init(&team, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, suite.pes, number), 0,
                "team_init");
    suite.equal(nvshmem_team_my_pe(team), number, "team_my_pe");
    made.push_back(team);
  }
  for (nvshmem_team_t team : made) {
    suite.equal(nvshmem_team_sync(team), 0, "team_sync");
    nvshmem_team_destroy(team);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench b{};
  CHECK(b.source = static_cast<double*>(nvshmem_calloc(1000, sizeof(double))));
  CHECK(b.dest = static_cast<double*>(nvshmem_calloc(1000, sizeof(double))));
  CHECK(b.id = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t))));
  suite.family("limits.huge sizes", 2, [&](Random&, int) { huge_sizes(suite, b); });
  suite.family("limits.collect", 1, [&](Random&, int) { collect_past_the_end(suite); });
  suite.family("limits.fetch", 1, [&](Random&, int) { fetch_is_left_alone(suite, b); });
  suite.family("limits.same id", std::max(1, suite.cases / 3), [&](Random& random, int) { same_id(suite, random, b); });

  int major = 0, minor = 0, patch = 0;
  char name[NVSHMEM_MAX_NAME_LEN];
  suite.family("limits.versions", 1, [&](Random&, int) {
    nvshmem_info_get_version(&major, &minor);
    nvshmem_info_get_name(name);
    suite.equal(major * 100 + minor, NVSHMEM_MAJOR_VERSION * 100 + NVSHMEM_MINOR_VERSION, "version");
    suite.equal(std::strcmp(name, NVSHMEM_VENDOR_STRING), 0, "name");
    nvshmemx_vendor_get_version_info(&major, &minor, &patch);
    suite.equal(major * 10000 + minor * 100 + patch, NVSHMEM_VENDOR_VERSION, "vendor's version");
    // A host library's own pair of calls counts like any other.
    suite.equal(nvshmemx_hostlib_init_attr(0, nullptr), 0, "hostlib_init_attr");
    nvshmemx_hostlib_finalize();
    suite.equal(nvshmem_my_pe(), suite.me, "still in the job");
  });
  nvshmem_free(b.id);
  nvshmem_free(b.dest);
  nvshmem_free(b.source);
  return suite.finish();
}
