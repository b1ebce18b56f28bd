// High-throughput dispatch, first half: how many tokens go to each rank, and the position of each among them. All ranks
// get all counts. So every token can then be written directly to its final row.
#pragma once
#include <causeway/moe/route.hpp>

namespace causeway::moe {

/// Tokens per rank, per node and per expert, and which rank gets which token. Any of the results may be null. The
/// counts must be zero before.
struct LayoutKernel {
  const int64_t* topk_idx;
  int tokens, topk, experts, ranks, nodes;
  int32_t *tokens_per_rank, *tokens_per_node, *tokens_per_expert;
  bool* token_in_rank;
  CAUSEWAY_DEVICE void operator()() const {
    const Lanes lanes{};
    const Run run = run_of(tokens, worker(), workers());
    count_tokens(lanes, run, ranks, ExpertMap(experts, ranks), tokens_per_rank, token_in_rank);
    if (tokens_per_node) count_tokens(lanes, run, nodes, ExpertMap(experts, nodes), tokens_per_node, nullptr);
    if (!tokens_per_expert) return;
    for (size_t i = size_t(run.begin) * size_t(topk) + lanes.rank(); i < size_t(run.end) * size_t(topk);
         i += lanes.size())
      if (topk_idx[i] >= 0 && topk_idx[i] < experts)
        machine::atomic_add_sys(reinterpret_cast<uint32_t*>(tokens_per_expert) + topk_idx[i], 1u);
  }

 private:
  CAUSEWAY_DEVICE void count_tokens(Lanes lanes, Run run, int destinations, const ExpertMap& map, int32_t* counts,
                                    bool* token_goes) const {
    for (int to = 0; to < destinations; ++to) {
      int32_t count = 0;
      for (int t = run.begin + int(lanes.rank()); t < run.end; t += int(lanes.size())) {
        const bool goes = goes_to(topk_idx + size_t(t) * size_t(topk), topk, map, to);
        count += goes;
        if (token_goes) token_goes[size_t(t) * size_t(destinations) + size_t(to)] = goes;
      }
      if (counts && count > 0) machine::atomic_add_sys(reinterpret_cast<uint32_t*>(counts) + to, uint32_t(count));
    }
  }
};

/// Clears the arrays that are not null. Runs as one group.
struct ClearKernel {
  int32_t* at[3];
  int counts[3];
  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    for (int i = 0; i < 3; ++i)
      for (int k = int(group.rank()); at[i] && k < counts[i]; k += int(group.size())) at[i][k] = 0;
  }
};

/// Counts a dispatch's own tokens: each worker counts a run of them.
struct PrepareKernel {
  Limits limits;
  int ranks;
  const int64_t* topk_idx;
  Route route;
  Scratch scratch;
  const int32_t* before;  // verdict of the hop before this one, or null; if it is bad, no token is counted

  CAUSEWAY_DEVICE void operator()() const {
    const Lanes lanes{};
    const bool none = before && *before != 0;
    const Run run = none ? Run{0, 0} : run_of(route.tokens, worker(), workers());
    for (int rank = 0; rank < ranks; ++rank) {
      int32_t count = 0;
      for (int t = run.begin; t < run.end; t += int(lanes.size()))
        count += bits_set(ballot(lanes, goes(lanes, run, t, rank)));
      if (leads(lanes)) scratch.of_worker[size_t(worker()) * size_t(ranks) + size_t(rank)] = count;
    }
    for (size_t i = size_t(run.begin) * size_t(route.topk) + lanes.rank(); i < size_t(run.end) * size_t(route.topk);
         i += lanes.size()) {
      const int64_t expert = topk_idx[i];
      if (expert < -1 || expert >= route.experts)
        machine::store_relaxed_sys(scratch.bad_index, 1u);
      else if (expert >= 0)
        machine::atomic_add_sys(scratch.of_expert + expert, 1u);
    }
  }
  CAUSEWAY_DEVICE bool goes(Lanes lanes, Run run, int first, int rank) const {
    const int t = first + int(lanes.rank());
    return t < run.end && goes_to(topk_idx + size_t(t) * size_t(route.topk), route.topk, route.map, rank);
  }
};

/// The exchange of counts. Runs as one group.
struct ExchangeKernel {
  HopContext context;
  Route route;
  Scratch scratch;
  int workers;            // that have counted
  int32_t signature;      // digest of what must be the same on all ranks
  int32_t verdict;        // what is wrong with the caller's arguments
  const int32_t* before;  // verdict of the hop before, or null
  int rows;               // that a rank may receive
  Counted* counted;       // memory that the host can read
  bool report;            // leave a record of a bad verdict: the host does not look at `counted`

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = context.view();
    sum_up(team.pes);
    // All ranks have read the last dispatch's counts, because it ended with a meeting. After the meeting below they
    // have also finished with the rows that they received in it.
    auto* table = reinterpret_cast<int32_t*>(context.region + hop_layout(context.limits).counts);
    send(group, team, table + size_t(team.pe) * counts_row(context.limits));
    sync(context.world, "moe dispatch", group, team);
    const int local = route.map.local.value();
    for (int expert = int(group.rank()); expert < local; expert += int(group.size())) {
      int32_t all = 0;
      for (int from = 0; from < team.pes; ++from)
        all += table[size_t(from) * counts_row(context.limits) + size_t(team.pes + expert)];
      counted->of_expert[expert] = all;
    }
    machine::fence_sc_sys();
    group.sync();
    if (leads(group)) evaluate(table, team.pes, team.pe);
  }

 private:
  /// Turns of_worker into the sums over the preceding workers, and sets of_rank to the sums over all.
  CAUSEWAY_DEVICE void sum_up(int ranks) const {
    const Lanes lanes{};
    const int first = int(machine::thread_in_block() / lanes.size());
    for (int r = first; r < ranks; r += workers_in_block()) {
      int32_t all = 0;
      for (int w = 0; w < workers; w += int(lanes.size())) {
        const int own = w + int(lanes.rank());
        int32_t* count = scratch.of_worker + size_t(own) * size_t(ranks) + size_t(r);
        const int32_t mine = own < workers ? *count : 0;
        const int32_t through = all + inclusive_sum(lanes, mine);
        if (own < workers) *count = through - mine;
        all = from_lane(lanes, through, lanes.size() - 1);
      }
      if (leads(lanes)) scratch.of_rank[r] = all;
    }
    KernelGroup{}.sync();
  }

  CAUSEWAY_DEVICE void send(KernelGroup group, const TeamView& team, int32_t* row) const {
    const int ranks = team.pes;
    int32_t fault = verdict;
    if (fault == 0 && before) fault = *before;
    if (fault == 0 && machine::load_relaxed_sys(scratch.bad_index) != 0)
      fault = verdict_of(Fault::bad_indices, context.buffer_rank(team.pe));
    for (int i = int(group.rank()); i < ranks * ranks; i += int(group.size()))
      machine::store_peer(context.of_rank(row + i % ranks, i / ranks), scratch.of_rank[i % ranks]);
    for (int e = int(group.rank()); e < route.experts; e += int(group.size())) {
      machine::store_peer(context.of_rank(row + ranks + route.map.local.remainder(e), route.map.rank_of(e)),
                          int32_t(scratch.of_expert[e]));
      scratch.of_expert[e] = 0;
    }
    int32_t* last = row + counts_row(context.limits) - 2;
    for (int r = int(group.rank()); r < ranks; r += int(group.size())) {
      machine::store_peer(context.of_rank(last, r), signature);
      machine::store_peer(context.of_rank(last + 1, r), fault);
    }
    group.sync();
    if (leads(group)) *scratch.bad_index = 0;
  }

  CAUSEWAY_DEVICE void evaluate(const int32_t* table, int ranks, int me) const {
    const size_t row = counts_row(context.limits);
    int32_t fault = 0;
    for (int from = 0; from < ranks; ++from)
      if (fault == 0) fault = table[size_t(from + 1) * row - 1];
    for (int from = 1; from < ranks; ++from)
      if (fault == 0 && table[size_t(from + 1) * row - 2] != table[row - 2])
        fault = verdict_of(Fault::different, context.buffer_rank(from));
    int32_t received_max = 0;
    for (int to = 0; to < ranks; ++to) {
      int32_t all = 0;
      for (int from = 0; from < ranks; ++from) {
        if (from == me) route.send_offset[to] = all;
        all += table[size_t(from) * row + size_t(to)];
        if (to == me) route.recv_prefix[from] = all;
      }
      if (fault == 0 && all > rows) fault = verdict_of(Fault::too_many, context.buffer_rank(to));
      received_max = all > received_max ? all : received_max;
      if (to == me) counted->received = all;
    }
    if (fault != 0)  // then nothing is sent
      for (int from = 0; from < ranks; ++from) route.recv_prefix[from] = 0;
    *scratch.verdict = fault;
    counted->received_max = received_max;
    counted->verdict = fault;
    if (fault != 0 && report) report_verdict(context, "moe dispatch_worst_case", fault);
  }
};

/// The position of each token among those of the caller that go to a rank.
struct PositionKernel {
  PrepareKernel prepared;
  CAUSEWAY_DEVICE void operator()() const {
    const Lanes lanes{};
    const Route& route = prepared.route;
    const int ranks = prepared.ranks;
    const Run run = run_of(route.tokens, worker(), workers());
    const bool none = *prepared.scratch.verdict != 0;
    for (int rank = 0; rank < ranks; ++rank) {
      int32_t next = prepared.scratch.of_worker[size_t(worker()) * size_t(ranks) + size_t(rank)];
      for (int t = run.begin; t < run.end; t += int(lanes.size())) {
        const bool goes = !none && prepared.goes(lanes, run, t, rank);
        const uint32_t all = ballot(lanes, goes);
        const int own = t + int(lanes.rank());
        if (own < run.end)
          route.position[size_t(own) * size_t(ranks) + size_t(rank)] =
              goes ? next + bits_set(all & bits_below(lanes)) : -1;
        next += bits_set(all);
      }
    }
  }
};

}  // namespace causeway::moe
