// Start-up by a unique id: PE 0 makes one and hands it to the others by a file; nothing else tells the PEs of each
// other.
//
//   uniqueid [--cases C] [--seed S] FILE [PES]     PES: default CAUSEWAY_PES, which `causeway run` sets
//
// PE numbers are claimed by making files, FILE.parent.0, FILE.parent.1, ...; all are removed in the end.
#include "harness.hpp"

#include <chrono>

using namespace conformance;

namespace {

void fail(const char* what, const std::string& file) {
  std::fprintf(stderr, "uniqueid: %s: %s\n", what, file.c_str());
  std::_Exit(1);
}

/// The first number that nobody else has taken.
int claim_number(const std::string& file, int pes) {
  for (int number = 0; number < pes; ++number) {
    const int made = open((file + "." + std::to_string(number)).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (made < 0) continue;
    close(made);
    return number;
  }
  fail("all numbers are taken; remove the claims of an earlier job", file + ".*");
  return -1;
}

/// Under another name first: who finds the file finds all of it.
void write_id(const std::string& file, const nvshmemx_uniqueid_t& id) {
  const std::string draft = file + ".draft";
  FILE* out = std::fopen(draft.c_str(), "wb");
  if (!out || std::fwrite(&id, sizeof id, 1, out) != 1 || std::fclose(out) != 0) fail("cannot write", draft);
  if (std::rename(draft.c_str(), file.c_str()) != 0) fail("cannot rename to", file);
}
nvshmemx_uniqueid_t read_id(const std::string& file) {
  nvshmemx_uniqueid_t id{};
  for (int tries = 0; tries < 30000; ++tries, usleep(1000)) {
    FILE* in = std::fopen(file.c_str(), "rb");
    if (!in) continue;
    if (std::fread(&id, sizeof id, 1, in) != 1) fail("cannot read", file);
    std::fclose(in);
    return id;
  }
  fail("no unique id after 30 s", file);
  return id;
}

/// Wrong use is refused, and spoils nothing for the right use that follows. Returns the number of mistakes.
int misuse(const nvshmemx_uniqueid_t& id, int pes) {
  Silence silence;
  int wrong = 0;
  const auto want = [&](bool good, const char* what) {
    if (!good) std::printf("FAIL uniqueid.misuse: %s\n", what), ++wrong;
  };
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  want(nvshmemx_get_uniqueid(nullptr) != 0, "get_uniqueid(null)");
  want(nvshmemx_set_attr_uniqueid_args(-1, pes, &id, &attr) != 0, "rank -1");
  want(std::strstr(causeway_last_error(), "myrank") != nullptr, "rank -1: the text names myrank");
  want(nvshmemx_set_attr_uniqueid_args(pes, pes, &id, &attr) != 0, "rank too large");
  want(nvshmemx_set_attr_uniqueid_args(0, 0, &id, &attr) != 0, "no ranks");
  want(std::strstr(causeway_last_error(), "nranks") != nullptr, "no ranks: the text names nranks");
  want(nvshmemx_set_attr_uniqueid_args(0, pes, nullptr, &attr) != 0, "null id");
  want(std::strstr(causeway_last_error(), "uniqueid") != nullptr, "null id: the text names uniqueid");
  want(nvshmemx_set_attr_uniqueid_args(0, pes, &id, nullptr) != 0, "null attr");
  want(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, nullptr) != 0, "init without attributes");
  want(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) != 0, "init with attributes that nobody has filled");
  want(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_SHMEM, &attr) != 0, "init by a way that there is none");
  want(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED, "init_status after refusals");
  return wrong;
}

__global__ void pass_on(int* inbox, int value, uint64_t* signal, uint64_t round) {
  const int next = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  nvshmem_int_put_signal(inbox, &value, 1, signal, round, NVSHMEM_SIGNAL_SET, next);
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, round);
}

void run_ring(Suite& suite) {
  int* inbox = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  uint64_t* signal = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
  CHECK(inbox), CHECK(signal);
  int value = suite.me + 1000;
  for (uint64_t round = 1; round <= uint64_t(suite.pes); ++round) {  // all the way round: everyone's own comes home
    void* arguments[] = {&inbox, &value, &signal, &round};
    CHECK(nvshmemx_collective_launch((const void*)pass_on, dim3(1), dim3(1), arguments, 0, suite.stream));
    nvshmemx_barrier_all_on_stream(suite.stream);
    copy(&value, inbox, sizeof value, suite.stream);
    const int hops = int(round), origin = ((suite.me - hops) % suite.pes + suite.pes) % suite.pes;
    suite.equal(value, origin + 1000, "value on its way round");
    nvshmem_barrier_all();
  }
  nvshmem_free(signal);
  nvshmem_free(inbox);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  const char* from_launcher = std::getenv("CAUSEWAY_PES");
  const int pes = suite.rest.size() > 1 ? std::atoi(suite.rest[1].c_str())
                  : from_launcher       ? std::atoi(from_launcher)
                                        : 0;
  if (suite.rest.empty() || pes < 1) {
    std::fprintf(stderr, "usage: %s [--cases C] [--seed S] FILE [PES]\n", argv[0]);
    return 2;
  }
  // What a job that was killed has left behind is another's: jobs have names, or at least their PEs one parent.
  const char* job = std::getenv("CAUSEWAY_JOB");
  const std::string file = suite.rest[0] + "." + (job ? std::string(job) : std::to_string(getppid()));

  // Every PE makes one, as torch programs do; PE 0's is used.
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER, unused = NVSHMEMX_UNIQUEID_INITIALIZER;
  const auto start = std::chrono::steady_clock::now();
  const int made = nvshmemx_get_uniqueid(&id);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  int wrong = made != 0;
  if (nvshmemx_get_uniqueid(&unused) != 0 || std::memcmp(&id, &unused, sizeof id) == 0) {
    std::printf("FAIL uniqueid: a second id is refused, or is the same\n");
    ++wrong;
  }
  const int number = claim_number(file, pes);
  if (number == 0)
    write_id(file, id);
  else
    id = read_id(file);
  wrong += misuse(id, pes);

  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  CHECK(nvshmemx_set_attr_uniqueid_args(number, pes, &id, &attr));
  CHECK(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr));
  suite.adopt();
  if (suite.me == 0) std::printf("     uniqueid: nvshmemx_get_uniqueid took %.3f ms\n", ms);
  unlink((file + "." + std::to_string(number)).c_str());  // everyone has joined, so everyone has a number
  if (number == 0) unlink(file.c_str());

  suite.family("uniqueid.start", 1, [&](Random&, int) {
    suite.equal(wrong, 0, "mistakes before init");
    suite.equal(nvshmem_my_pe(), number, "my_pe");
    suite.equal(nvshmem_n_pes(), pes, "n_pes");
  });
  suite.family("uniqueid.ring", std::min(suite.cases, 5), [&](Random&, int) { run_ring(suite); });
  return suite.finish();
}
