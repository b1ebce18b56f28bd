// The teaching primitives against a plain model: every rank can compute what every other rank sends, so it knows each
// byte that it must find, and that nothing beside it has been written. Nobody meets between operations unless a case
// says so.
#include <functional>

#include "primitives_cases.hpp"

using namespace primitives_cases;

namespace {

// ---------------------------------------------------------------- collectives

struct Collective {
  bool to_all;     // all_to_all; else all_gather
  int node_ranks;  // 0: the flat form
  bool in_place;
  size_t bytes;
  uint64_t key;
  [[nodiscard]] size_t input_bytes(int ranks) const { return bytes * size_t(to_all ? ranks : 1); }
  [[nodiscard]] std::vector<char> input(int me, int ranks) const {
    std::vector<char> all;
    for (int to = 0; to < (to_all ? ranks : 1); ++to) {
      const auto one = row(key, me, to, bytes);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  [[nodiscard]] std::vector<char> output(int me, int ranks) const {
    std::vector<char> all;
    for (int from = 0; from < ranks; ++from) {
      const auto one = row(key, from, to_all ? me : 0, bytes);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  void queue(Primitives& p, const char* x, char* out, cudaStream_t stream) const {
    if (to_all && node_ranks)
      p.internode_all_to_all(x, out, bytes, node_ranks, stream);
    else if (to_all)
      p.all_to_all(x, out, bytes, stream);
    else if (node_ranks)
      p.internode_all_gather(x, out, bytes, node_ranks, stream);
    else
      p.all_gather(x, out, bytes, stream);
  }
  /// Where x is, when it is in place.
  [[nodiscard]] char* in(char* out, int me) const { return out + (to_all ? 0 : size_t(me) * bytes); }
};

int draw_divisor(Random& random, int ranks) {
  int divisor = random.between(1, ranks);
  while (ranks % divisor) --divisor;
  return divisor;
}

Collective draw_collective(Random& random, const Primitives& p, int ranks) {
  return {random.chance(50), random.chance(60) ? draw_divisor(random, ranks) : 0, random.chance(30),
          draw_bytes(random, p.slot_bytes(), p.slots()), random.word()};
}

/// Many, one behind the other, with no wait in between. The input is the same for all: it may be written again at
/// once.
void run_collectives(Suite& suite, Random& random, Primitives& p, const std::vector<Collective>& list) {
  const int me = p.rank(), ranks = p.ranks();
  size_t most = 0;
  for (const Collective& c : list) most = std::max(most, c.input_bytes(ranks));
  Memory x(suite, random, most);
  std::vector<std::vector<char>> inputs;
  std::vector<std::unique_ptr<Memory>> outputs;
  for (const Collective& c : list) {
    inputs.push_back(c.input(me, ranks));
    outputs.push_back(std::make_unique<Memory>(suite, random, c.bytes * size_t(ranks)));
  }
  for (size_t i = 0; i < list.size(); ++i) {
    char* out = outputs[i]->data();
    char* from = list[i].in_place ? list[i].in(out, me) : x.data();
    if (!inputs[i].empty())
      CHECK(cudaMemcpyAsync(from, inputs[i].data(), inputs[i].size(), cudaMemcpyDefault, suite.stream));
    list[i].queue(p, from, out, suite.stream);
  }
  suite.synchronize();
  for (size_t i = 0; i < list.size(); ++i) outputs[i]->check(list[i].output(me, ranks), "out of a collective");
}

void run_flat(Suite& suite, Random& random) {
  auto p = draw_primitives(random);
  std::vector<Collective> list;
  for (int i = random.between(1, 8); i > 0; --i) list.push_back(draw_collective(random, *p, suite.pes));
  run_collectives(suite, random, *p, list);
}

/// Every way to deal the ranks to nodes; the flat form for comparison.
void run_divisors(Suite& suite, Random& random) {
  auto p = draw_primitives(random);
  std::vector<Collective> list;
  const size_t bytes = draw_bytes(random, p->slot_bytes(), p->slots());
  for (int node_ranks = 0; node_ranks <= suite.pes; ++node_ranks)
    if (node_ranks == 0 || suite.pes % node_ranks == 0)
      for (bool to_all : {false, true}) list.push_back({to_all, node_ranks, random.chance(30), bytes, random.word()});
  run_collectives(suite, random, *p, list);
}

// ---------------------------------------------------------------- send and receive

struct Message {
  int from, to;
  size_t bytes;
  uint64_t key;
};

/// Any messages between any ranks. All ranks queue theirs in the order of one list, sends on one stream and receives on
/// another: the first message that is not through has a sender and a receiver that have come to it, so nobody waits
/// forever.
void run_messages(Suite& suite, Random& random, Primitives& p, cudaStream_t sends) {
  std::vector<Message> list;
  const int favourite = random.between(0, p.ranks() - 1);
  for (int i = random.between(1, 25); i > 0; --i)
    list.push_back({random.between(0, p.ranks() - 1), random.chance(40) ? favourite : random.between(0, p.ranks() - 1),
                    draw_bytes(random, p.slot_bytes(), p.slots()), random.word()});
  std::vector<std::unique_ptr<Memory>> out;
  std::vector<std::vector<char>> data;
  size_t most = 0;
  for (const Message& m : list) {
    out.push_back(std::make_unique<Memory>(suite, random, m.to == p.rank() ? m.bytes : 0));
    data.push_back(row(m.key, m.from, m.to, m.bytes));
    most = std::max(most, m.bytes);
  }
  Memory x(suite, random, most);
  for (size_t i = 0; i < list.size(); ++i) {
    const Message& m = list[i];
    if (m.from == p.rank()) {
      if (m.bytes) CHECK(cudaMemcpyAsync(x.data(), data[i].data(), m.bytes, cudaMemcpyDefault, sends));
      p.send(x.data(), m.bytes, m.to, sends);
    }
    if (m.to == p.rank()) p.recv(out[i]->data(), m.bytes, m.from, suite.stream);
  }
  CHECK(cudaStreamSynchronize(sends));
  suite.synchronize();
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].to == p.rank()) out[i]->check(data[i], "a message");
}

/// As many sends as there are slots end before anybody receives; the next one waits, and overwrites nothing.
void run_ahead(Suite& suite, Random& random, cudaStream_t sends) {
  auto p = draw_primitives(random);
  const int step = random.between(0, suite.pes - 1), to = (suite.me + step) % suite.pes,
            from = (suite.me + suite.pes - step) % suite.pes;
  for (int burst = random.between(1, 3); burst > 0; --burst) {
    const size_t ahead = size_t(p->slots()), count = ahead + random.below(4);
    const uint64_t key = random.word();
    std::vector<std::unique_ptr<Memory>> in, out;  // made before anything waits: cudaFree waits for the device
    std::vector<size_t> sizes;
    for (size_t i = 0; i < count; ++i) {
      sizes.push_back(1 + random.below(p->slot_bytes()));
      in.push_back(std::make_unique<Memory>(suite, random, sizes[i]));
      out.push_back(std::make_unique<Memory>(suite, random, sizes[i]));
      in[i]->fill(row(key + i, suite.me, to, sizes[i]));
    }
    for (size_t i = 0; i < ahead; ++i) p->send(in[i]->data(), sizes[i], to, sends);
    CHECK(cudaStreamSynchronize(sends));  // with no receiver
    for (size_t i = ahead; i < count; ++i) p->send(in[i]->data(), sizes[i], to, sends);
    for (int i = 0; i < 4; ++i) {
      nvshmem_barrier_all();  // time for a send that should not go off
      if (count > ahead && cudaStreamQuery(sends) != cudaErrorNotReady) suite.wrong("more sends than slots have ended");
    }
    nvshmem_barrier_all();
    for (size_t i = 0; i < count; ++i) p->recv(out[i]->data(), sizes[i], from, suite.stream);
    suite.synchronize();
    CHECK(cudaStreamSynchronize(sends));
    for (size_t i = 0; i < count; ++i) out[i]->check(row(key + i, from, suite.me, sizes[i]), "a message sent ahead");
  }
}

/// Messages and collectives do not meet, whatever stream they are on.
void run_mixed(Suite& suite, Random& random, cudaStream_t sends) {
  auto p = draw_primitives(random);
  for (int i = 0; i < 3; ++i) {
    run_messages(suite, random, *p, sends);
    std::vector<Collective> list(3);
    for (Collective& c : list) c = draw_collective(random, *p, suite.pes);
    run_collectives(suite, random, *p, list);
    if (random.chance(30)) p->barrier(suite.stream);
  }
}

// ---------------------------------------------------------------- graphs

/// A ring of messages and some collectives are captured once and replayed with other data, with calls in between that
/// are not captured. Nothing waits between the replays; each one's results are copied aside.
void run_graph(Suite& suite, Random& random) {
  auto p = draw_primitives(random);
  const int me = suite.me, ranks = suite.pes, right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  const size_t message = 1 + random.below(p->slot_bytes() * size_t(p->slots()));  // goes ahead of the receiver
  std::vector<Collective> list(3);
  for (Collective& c : list) c = draw_collective(random, *p, ranks), c.in_place = false;
  std::vector<size_t> in_at{0}, out_at{0};
  for (const Collective& c : list) {
    in_at.push_back(in_at.back() + c.input_bytes(ranks));
    out_at.push_back(out_at.back() + c.bytes * size_t(ranks));
  }
  Memory in(suite, random, in_at.back() + message), out(suite, random, out_at.back() + message);
  auto queue = [&] {
    p->send(in.data() + in_at.back(), message, right, suite.stream);
    for (size_t i = 0; i < list.size(); ++i)
      list[i].queue(*p, in.data() + in_at[i], out.data() + out_at[i], suite.stream);
    p->recv(out.data() + out_at.back(), message, left, suite.stream);
    p->barrier(suite.stream);
  };
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CHECK(cudaStreamBeginCapture(suite.stream, cudaStreamCaptureModeThreadLocal));
  queue();
  CHECK(cudaStreamEndCapture(suite.stream, &graph));
  CHECK(cudaGraphInstantiate(&replay, graph, 0));

  const int rounds = random.between(2, 5);
  std::vector<std::vector<char>> inputs, expected;
  std::vector<std::unique_ptr<Memory>> results;
  for (int round = 0; round < rounds; ++round) {
    std::vector<char> input, output;
    for (Collective& c : list) {
      c.key = random.word();
      const auto one = c.input(me, ranks), other = c.output(me, ranks);
      input.insert(input.end(), one.begin(), one.end()), output.insert(output.end(), other.begin(), other.end());
    }
    const uint64_t key = random.word();
    const auto one = row(key, me, right, message), other = row(key, left, me, message);
    input.insert(input.end(), one.begin(), one.end()), output.insert(output.end(), other.begin(), other.end());
    inputs.push_back(input), expected.push_back(output);
    results.push_back(std::make_unique<Memory>(suite, random, output.size()));
  }
  for (int round = 0; round < rounds; ++round) {
    const size_t r = size_t(round);
    CHECK(cudaMemcpyAsync(in.data(), inputs[r].data(), inputs[r].size(), cudaMemcpyDefault, suite.stream));
    if (random.chance(70))
      CHECK(cudaGraphLaunch(replay, suite.stream));
    else
      queue();
    CHECK(cudaMemcpyAsync(results[r]->data(), out.data(), expected[r].size(), cudaMemcpyDefault, suite.stream));
  }
  suite.synchronize();
  for (size_t r = 0; r < results.size(); ++r) results[r]->check(expected[r], "what a replay gave");
  CHECK(cudaGraphExecDestroy(replay));
  CHECK(cudaGraphDestroy(graph));
}

// ---------------------------------------------------------------- teams, errors

/// Two teams of unequal sizes work at the same time; with one PE, or sometimes, the second does not exist.
void run_teams(Suite& suite, Random& random, cudaStream_t sends) {
  const int first = random.between(1, suite.pes), rest = suite.pes - first;
  nvshmem_team_t low = NVSHMEM_TEAM_INVALID, high = NVSHMEM_TEAM_INVALID;
  CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, first, nullptr, 0, &low));
  const bool two = rest > 0 && random.chance(70);
  if (two) CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, first, 1, rest, nullptr, 0, &high));
  const nvshmem_team_t mine = suite.me < first ? low : high;
  auto p = draw_primitives(random, mine);
  Random own(random.word() + (suite.me < first));  // alike in a team
  if (mine == NVSHMEM_TEAM_INVALID) {
    suite.equal(p->rank(), -1, "rank of a PE that is in no team");
  } else {
    suite.equal(p->rank(), suite.me < first ? suite.me : suite.me - first, "rank");
    suite.equal(p->ranks(), suite.me < first ? first : rest, "ranks");
    std::vector<Collective> list(4);
    for (Collective& c : list) c = draw_collective(own, *p, p->ranks());
    run_collectives(suite, own, *p, list);
    run_messages(suite, own, *p, sends);
    p->barrier(suite.stream);
    suite.synchronize();
  }
  p.reset();
  nvshmem_barrier_all();
  if (mine != NVSHMEM_TEAM_INVALID) nvshmem_team_destroy(mine);
  nvshmem_barrier_all();
}

/// A call must be refused with a text that has these words.
void refused(Suite& suite, const std::function<void()>& call, const std::vector<std::string>& words) {
  std::string text;
  try {
    call();
  } catch (const std::invalid_argument& error) {
    text = error.what();
  }
  for (const std::string& word : words)
    if (text.find(word) == std::string::npos) suite.wrong("\"%s\" does not say \"%s\"", text.c_str(), word.c_str());
}

void run_errors(Suite& suite, Random& random, cudaStream_t sends) {
  auto p = draw_primitives(random);
  auto none = std::make_unique<Primitives>(NVSHMEM_TEAM_INVALID, 64);
  Memory memory(suite, random, 64);
  char* x = memory.data();
  const int ranks = suite.pes;
  const std::string last = std::to_string(ranks - 1), over = std::to_string(ranks + 1), count = std::to_string(ranks);
  refused(suite, [&] { p->send(x, 1, -1, sends); }, {"send: to is -1: must be 0 to " + last});
  refused(suite, [&] { p->send(x, 0, ranks, sends); }, {"send: to is " + count});
  refused(suite, [&] { p->recv(x, 1, ranks + 1, sends); }, {"recv: from is " + over + ": must be 0 to " + last});
  refused(suite, [&] { p->send(nullptr, 5, 0, sends); }, {"send: x is null", "device memory"});
  refused(suite, [&] { p->recv(nullptr, 5, 0, sends); }, {"recv: x is null"});
  refused(suite, [&] { p->all_gather(nullptr, x, 5, sends); }, {"all_gather: x is null"});
  refused(suite, [&] { p->all_gather(x, nullptr, 5, sends); }, {"all_gather: out is null"});
  refused(suite, [&] { p->all_to_all(nullptr, x, 5, sends); }, {"all_to_all: x is null"});
  refused(suite, [&] { p->all_to_all(x, x, ~size_t{0}, sends); },
          {"all_to_all: bytes is 18446744073709551615: must be 0 to"});
  for (int bad : {0, -2, ranks + 1}) {
    const std::string words = "node_ranks is " + std::to_string(bad) + ": must divide the number of ranks, " + count;
    refused(suite, [&] { p->internode_all_gather(x, x, 1, bad, sends); }, {"internode_all_gather: " + words});
    refused(suite, [&] { p->internode_all_to_all(x, x, 1, bad, sends); }, {"internode_all_to_all: " + words});
  }
  refused(suite, [&] { none->send(x, 1, 0, sends); }, {"send: team is -1: this PE is in none"});
  refused(suite, [&] { none->barrier(sends); }, {"barrier: team is -1"});
  refused(suite, [&] { Primitives(NVSHMEM_TEAM_WORLD, 0); }, {"slot_bytes is 0: must be 1 to"});
  refused(suite, [&] { Primitives(NVSHMEM_TEAM_WORLD, ~size_t{0}); }, {"slot_bytes is 18446744073709551615"});
  refused(suite, [&] { Primitives(NVSHMEM_TEAM_WORLD, 16, 0); }, {"slots is 0: must be 1 to 1024"});
  refused(suite, [&] { Primitives(NVSHMEM_TEAM_WORLD, 16, 1, 1025); }, {"threads is 1025: must be 1 to 1024"});
  p->send(nullptr, 0, 0, sends), p->recv(nullptr, 0, 0, sends), p->all_gather(nullptr, nullptr, 0, sends);
  run_messages(suite, random, *p, sends);  // nothing has been queued by what was refused
}

/// One PE gives the constructor something bad: it throws on all PEs, each of which learns what or who was wrong, and
/// what is made next works.
void run_constructor(Suite& suite, Random& random, cudaStream_t sends) {
  const Silence quiet;  // the library complains of the team, too
  const int bad = random.between(0, suite.pes - 1), not_a_team = 12345;
  const bool mine = suite.me == bad;
  const std::string who = "a PE with bad arguments is " + std::to_string(bad);
  const auto one = [&](nvshmem_team_t team, size_t slot_bytes, int slots, int threads, const std::string& words) {
    const auto make = [&] {
      if (mine)
        Primitives(team, slot_bytes, slots, threads);
      else
        Primitives(NVSHMEM_TEAM_WORLD, 64);
    };
    refused(suite, make, {mine ? words : who});
  };
  one(NVSHMEM_TEAM_WORLD, 0, 4, 128, "slot_bytes is 0: must be 1 to");
  one(NVSHMEM_TEAM_WORLD, ~size_t{0}, 4, 128, "slot_bytes is 18446744073709551615");
  one(NVSHMEM_TEAM_WORLD, 64, 0, 128, "slots is 0: must be 1 to 1024");
  one(NVSHMEM_TEAM_WORLD, 64, -1, 128, "slots is -1: must be 1 to 1024");
  one(NVSHMEM_TEAM_WORLD, 64, 1025, 128, "slots is 1025");
  one(NVSHMEM_TEAM_WORLD, 64, 4, 0, "threads is 0: must be 1 to 1024");
  one(NVSHMEM_TEAM_WORLD, 64, 4, 1025, "threads is 1025");
  one(not_a_team, 64, 4, 128, "team is 12345: must be a team of this PE");
  if (suite.pes > 1) {
    const std::string sizes = "slot_bytes is 64: must be the same on all PEs, not 48",
                      slots = "slots is 4: must be the same on all PEs, not 3";
    refused(suite, [&] { Primitives(NVSHMEM_TEAM_WORLD, mine ? 48 : 64); }, {sizes});
    refused(suite, [&] { Primitives(NVSHMEM_TEAM_WORLD, 64, mine ? 4 : 3); }, {slots});
  }
  auto p = draw_primitives(random);
  run_messages(suite, random, *p, sends);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  cudaStream_t sends;
  CHECK(cudaStreamCreateWithFlags(&sends, cudaStreamNonBlocking));
  suite.family("send and recv", suite.cases, [&](Random& random, int) {
    auto p = draw_primitives(random);
    for (int i = 0; i < 2; ++i) run_messages(suite, random, *p, sends);
  });
  suite.family("sends ahead", suite.cases, [&](Random& random, int) { run_ahead(suite, random, sends); });
  suite.family("collectives", suite.cases, [&](Random& random, int) { run_flat(suite, random); });
  suite.family("every size of a node", suite.cases, [&](Random& random, int) { run_divisors(suite, random); });
  suite.family("messages and collectives", suite.cases, [&](Random& random, int) { run_mixed(suite, random, sends); });
  suite.family("graphs", suite.cases, [&](Random& random, int) { run_graph(suite, random); });
  suite.family("teams", suite.cases, [&](Random& random, int) { run_teams(suite, random, sends); });
  suite.family("errors", std::min(suite.cases, 5), [&](Random& random, int) { run_errors(suite, random, sends); });
  suite.family("arguments of one PE", std::min(suite.cases, 5),
               [&](Random& random, int) { run_constructor(suite, random, sends); });
  CHECK(cudaStreamDestroy(sends));
  return suite.finish();
}
