// Low-latency operations whose blocks may each see something else. A rank is masked from another stream while its late
// rows are waited for, so that some blocks find its flags and others the mask: then all of its rows are taken, or none.
// And a rank gives bad arguments, which one of its blocks alone may find: all ranks are told, and none takes rows of
// it. Then the ranks go on together. Meant for `causeway run --seed`.
#include <exception>
#include <string>

#include "moe_common.hpp"

// More messages of a rank than blocks, so that every block has some of each rank.
static constexpr int kTokens = 6, kTopk = 2, kLocal = 2, kHidden = 40, kBlocks = 3;
static constexpr float kWeights[kTopk] = {1, 2};  // by choice: a sum says which ones are in it

static int experts() { return kLocal * pes; }
static int draw(int round, int what, int rank) { return int(mix(7, uint32_t(round), uint32_t(what), uint32_t(rank))); }

/// Choice k of a rank's token; the two of a token are different experts.
static int expert_of(int operation, int rank, int t, int k) {
  const int drawn = int(mix(8, uint32_t(operation), uint32_t(rank), uint32_t(t)));
  const int first = drawn % experts(), further = 1 + drawn / experts() % (experts() - 1);
  return k == 0 ? first : (first + further) % experts();
}
static int rank_of(int operation, int rank, int t, int k) { return expert_of(operation, rank, t, k) / kLocal; }
/// What a token's elements are; three times that is still a number of bfloat16.
static int value_of(int operation, int rank, int t) {
  return 1 + int(mix(9, uint32_t(operation), uint32_t(rank), uint32_t(t)) % 80);
}

/// Of each rank: is what it sent in a result? Where both are right, the first piece decides, and the others must agree
/// with it.
class Taken {
 public:
  enum State : char { no, yes, open };
  explicit Taken(State all) : of_(size_t(pes), all) {}
  State& operator[](int rank) { return of_[size_t(rank)]; }
  /// A piece of the rank is there, or is not.
  void note(int rank, bool there, const char* what, int operation, int i) {
    State& state = (*this)[rank];
    if (state == open) state = there ? yes : no;
    expect(there == (state == yes), what, operation, i, there, state == yes);
  }

 private:
  std::vector<State> of_;
};

/// What a call throws; empty: nothing.
template <class Call>
static std::string thrown_by(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

__global__ void tell(uint64_t* word, uint64_t value, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) nvshmemx_signal_op(word, value, NVSHMEM_SIGNAL_SET, rank);
}
__global__ void wait_for(uint64_t* word, uint64_t value) { nvshmem_signal_wait_until(word, NVSHMEM_CMP_GE, value); }

/// A buffer, and one operation at a time.
class Layer {
 public:
  Layer() : buffer(options()) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    x = device<Bf16>(kTokens * kHidden), out_ = device<Bf16>(kTokens * kHidden);
    topk = device<int64_t>(kTokens * kTopk), weights_ = device<float>(kTokens * kTopk);
    got.x = device<Bf16>(rows() * kHidden), got.source_token = device<int32_t>(rows());
    got.recv_count = device<int32_t>(kLocal), got.layout_range = device<int64_t>(size_t(experts()));
    wait_ns_ = device<int64_t>(size_t(pes));
    words = static_cast<uint64_t*>(nvshmem_calloc(size_t(pes), sizeof(uint64_t)));
    for (int i = 0; i < kTokens * kTopk; ++i)
      cudaMemcpy(weights_ + i, kWeights + i % kTopk, sizeof(float), cudaMemcpyDefault);
  }
  ~Layer() {
    cudaStreamDestroy(stream), cudaStreamDestroy(second);
    nvshmem_free(words);
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  /// The next operation's tokens.
  void fill() {
    ++operation;
    std::vector<Bf16> elements;
    std::vector<int64_t> chosen;
    for (int t = 0; t < kTokens; ++t) {
      for (int h = 0; h < kHidden; ++h) elements.push_back(static_cast<Bf16>(float(value_of(operation, me, t))));
      for (int k = 0; k < kTopk; ++k) chosen.push_back(expert_of(operation, me, t, k));
    }
    cudaMemcpy(x, elements.data(), elements.size() * sizeof(Bf16), cudaMemcpyDefault);
    cudaMemcpy(topk, chosen.data(), chosen.size() * sizeof(int64_t), cudaMemcpyDefault);
    cudaMemsetAsync(got.x, 0xff, rows() * kHidden * sizeof(Bf16), stream);
    cudaMemsetAsync(out_, 0xff, kTokens * kHidden * sizeof(Bf16), stream);
    handle.reset();
    got.wait_ns = draw(operation, 14, 0) % 2 == 0 ? wait_ns_ : nullptr;  // one block then looks at all flags twice
  }
  void dispatch() { dispatch(kTokens, got); }
  void dispatch(int tokens, const LowLatencyOutput& to) {
    handle = buffer.low_latency_dispatch(x, topk, tokens, kHidden, kTopk, Cast::none, to, stream);
  }
  /// The rows that came are the results. `skewed`: they are given with a bad address.
  void combine(bool skewed = false) {
    const char* results = static_cast<const char*>(got.x) + (skewed ? 2 : 0);
    buffer.low_latency_combine(results, topk, weights_, handle ? *handle : buffer.no_low_latency_handle(), out_,
                               stream);
  }
  /// Both streams are through, and no operation has reported anything.
  void finish() {
    cudaStreamSynchronize(second);
    const std::string told = thrown_by([&] { buffer.check(stream); });
    expect(told.empty(), told.c_str(), operation, 0, 1, 0);
  }

  void check_received(Taken& taken) const {
    const auto counts = fetch(got.recv_count, kLocal), tokens = fetch(got.source_token, rows());
    const auto ranges = fetch(got.layout_range, size_t(experts()));
    const auto elements = fetch(static_cast<const Bf16*>(got.x), rows() * kHidden);
    for (int own = 0; own < kLocal; ++own) {
      int row = 0;
      for (int rank = 0; rank < pes; ++rank) {
        std::vector<int> sent;
        for (int i = 0; i < kTokens * kTopk; ++i)
          if (expert_of(operation, rank, i / kTopk, i % kTopk) == me * kLocal + own) sent.push_back(i / kTopk);
        const int64_t range = ranges[size_t(own * pes + rank)];
        const int came = int(int32_t(range)), begin = int(range >> 32);
        if (!sent.empty()) taken.note(rank, came != 0, "rows are taken of rank", operation, rank);
        if (taken[rank] != Taken::yes) sent.clear();
        expect(came == int(sent.size()), "rows of rank", operation, rank, came, double(sent.size()));
        expect(begin == row, "first row of rank", operation, rank, begin, row);
        for (const int t : sent) {
          const size_t at = size_t(own) * rows() / kLocal + size_t(row++);
          expect(tokens[at] == t, "source of row", operation, row - 1, tokens[at], t);
          const int value = value_of(operation, rank, t);
          for (int h = 0; h < kHidden; ++h) {
            const float seen = float(elements[at * kHidden + size_t(h)]);
            expect(seen == float(value), "row", operation, row - 1, seen, value);
          }
        }
      }
      expect(counts[size_t(own)] == row, "rows of the expert", operation, own, counts[size_t(own)], row);
    }
  }

  void check_sums(Taken& taken) const {
    const auto out = fetch(static_cast<const Bf16*>(out_), kTokens * kHidden);
    for (int i = 0; i < kTokens * kHidden; ++i) {
      const int t = i / kHidden, value = value_of(operation, me, t);
      const float seen = float(out[size_t(i)]), all = float(3 * value);
      int times = 0;  // the sum of the weights that are in it
      while (times < 3 && float(times * value) != seen) ++times;
      expect(float(times * value) == seen, "sum of token", operation, t, seen, all);
      for (int k = 0; k < kTopk; ++k)
        taken.note(rank_of(operation, me, t, k), (times >> k & 1) != 0, "a choice is in the sum of token", operation,
                   t);
    }
  }

  /// An operation in which each rank is known to be there or not.
  void run(const Taken& known) {
    Taken received = known, summed = known;
    fill();
    stall_some(operation, 1, stream);
    dispatch();
    stall_some(operation, 2, stream);
    combine();
    finish();
    check_received(received);
    check_sums(summed);
  }

  Buffer buffer;
  cudaStream_t stream, second;
  uint64_t* words;  // symmetric, by rank: the last round of which it has told
  int operation = 0;
  Bf16* x;
  int64_t* topk;
  LowLatencyOutput got;
  std::shared_ptr<LowLatencyHandle> handle;

 private:
  static BufferOptions options() {
    BufferOptions options;
    options.hidden_max = 128, options.topk_max = kTopk, options.experts_max = experts(), options.recv_tokens_max = 1;
    options.low_latency_tokens_max = kTokens, options.low_latency_blocks = kBlocks, options.node_ranks = pes;
    return options;
  }
  /// Of all own experts.
  static size_t rows() { return size_t(kLocal * pes * kTokens); }
  Bf16* out_;
  int64_t* wait_ns_;
  float* weights_;
};

/// A late rank, and those that lose patience with it.
class Race {
 public:
  Race(Layer& layer, int round) : layer_(layer), round_(round), late_(draw(round, 0, 0) % pes) {}

  /// In a dispatch, or in the combine after one; then the ranks take each other back.
  void run() {
    const bool in_dispatch = round_ % 2 == 0;
    const Taken all(Taken::yes);
    Taken received = in_dispatch ? with(Taken::open) : all, summed = with(in_dispatch ? Taken::no : Taken::open);
    layer_.fill();
    if (in_dispatch) start(true);
    layer_.dispatch();
    layer_.finish();
    layer_.check_received(received);
    nvshmem_barrier_all();  // each has masked the other
    if (!in_dispatch) start(false);
    layer_.combine();
    layer_.finish();
    layer_.check_sums(summed);
    for (int again = draw(round_, 1, 0) % 3; again > 0; --again) layer_.run(with(Taken::no));
    nvshmem_barrier_all();  // nobody takes back a rank that is still waited for
    if (draw(round_, 9, me) % 2 == 0) layer_.buffer.clear_mask(layer_.stream);
    for (int rank = 0; rank < pes; ++rank)
      if (apart(rank)) layer_.buffer.set_masked(rank, false, layer_.stream);
    for (int again = 1 + draw(round_, 2, 0) % 3; again > 0; --again) layer_.run(all);
  }

 private:
  /// One that surely is.
  [[nodiscard]] int most_impatient() const { return (late_ + 1 + draw(round_, 3, 0) % (pes - 1)) % pes; }
  [[nodiscard]] bool impatient(int rank) const {
    return rank != late_ && (rank == most_impatient() || draw(round_, 4, rank) % 2 == 0);
  }
  /// Is it masked here?
  [[nodiscard]] bool apart(int rank) const { return me == late_ ? impatient(rank) : rank == late_ && impatient(me); }
  [[nodiscard]] Taken with(Taken::State of_apart) const {
    Taken taken(Taken::yes);
    for (int rank = 0; rank < pes; ++rank)
      if (apart(rank)) taken[rank] = of_apart;
    return taken;
  }

  /// The late rank tells when it is about to send. Then the others mask it, at about the time at which its flags
  /// arrive; it learns that, and masks them: what they have not sent it would wait for.
  void start(bool in_dispatch) const {
    const auto polls = [&](int what, int most) { return draw(round_, what, me) % most; };
    const auto say = [&](cudaStream_t on) { tell<<<1, 1, 0, on>>>(layer_.words + me, uint64_t(round_) + 1, pes); };
    const auto hear = [&](cudaStream_t on, int rank) {
      wait_for<<<1, 1, 0, on>>>(layer_.words + rank, uint64_t(round_) + 1);
    };
    if (me == late_) {
      stall<<<1, 1, 0, layer_.stream>>>(polls(5, 100));
      say(layer_.stream);
      stall<<<1, 1, 0, layer_.stream>>>(polls(6, 8));
    }
    for (int rank = 0; rank < pes; ++rank) {
      if (!apart(rank)) continue;
      hear(layer_.second, rank);
      stall<<<1, 1, 0, layer_.second>>>(polls(7, 24));
      layer_.buffer.set_masked(rank, true, layer_.second);
      if (me != late_) say(layer_.second);
    }
    // One that comes still later: blocks that have seen the late rank's flags decide after others that have seen the
    // mask. (In a combine the late rank itself would wait for it.)
    if (in_dispatch && me != late_ && !impatient(me) && draw(round_, 8, 0) % 4 != 0)
      hear(layer_.stream, most_impatient());
  }

  Layer& layer_;
  int round_, late_;
};

/// One rank's arguments are bad, in a dispatch or in a combine.
class BadArguments {
 public:
  BadArguments(Layer& layer, int round)
      : layer_(layer), what_(What(round % kinds)), culprit_(draw(round, 10, 0) % pes), round_(round) {}

  void run() {
    layer_.fill();
    stall_some(round_, 3, layer_.stream);
    dispatch();
    combine();
    layer_.run(Taken(Taken::yes));
  }

 private:
  /// The first two leave the culprit without a handle, the next two are bad in a combine; of no_expert and other_expert
  /// only the block that comes upon them knows.
  enum What { too_many, no_counts, skewed, other_expert, no_expert, kinds };
  [[nodiscard]] bool mine() const { return me == culprit_; }
  [[nodiscard]] bool no_handle() const { return what_ == too_many || what_ == no_counts; }
  [[nodiscard]] bool in_dispatch() const { return no_handle() || what_ == no_expert; }

  /// One of the culprit's choices becomes another.
  void choose(int64_t (*other)(int64_t)) const {
    int64_t* choice = layer_.topk + draw(round_, 11, 0) % (kTokens * kTopk);
    const int64_t changed = other(fetch(choice, 1)[0]);
    if (mine()) cudaMemcpy(choice, &changed, sizeof changed, cudaMemcpyDefault);
  }
  [[nodiscard]] std::string checked() const {
    return thrown_by([&] { layer_.buffer.check(layer_.stream); });
  }
  /// The culprit is told at once what it has given, the others later, by its number and in its words.
  void expect_told(const std::string& text, const char* call, bool at_once) const {
    const char* const words[] = {"tokens is", "out.recv_count is", "x is", "topk_idx[", "topk_idx["};
    const bool lost = no_handle() && std::string(call) == "low_latency_combine";
    const std::string who = ": rank " + std::to_string(culprit_) + ": " + (lost ? "handle is" : words[what_]);
    const bool later = text.find(call) != std::string::npos && text.find(who) != std::string::npos;
    const bool good = at_once ? !text.empty() && !later : later;
    if (!good) std::printf("PE %d: %s tells '%s' (%d)\n", me, call, text.c_str(), what_);
    expect(good, "what is told of bad arguments", layer_.operation, what_, 0, 1);
  }

  void dispatch() const {
    const auto beyond = [](int64_t) -> int64_t { return experts(); };
    const auto below = [](int64_t) -> int64_t { return -2; };
    LowLatencyOutput to = layer_.got;
    if (mine() && what_ == no_counts) to.recv_count = nullptr;
    if (what_ == no_expert) choose(draw(round_, 12, 0) % 2 == 0 ? +beyond : +below);
    const int tokens = mine() && what_ == too_many ? kTokens + 1 : kTokens;
    const std::string text = thrown_by([&] { layer_.dispatch(tokens, to); });
    cudaStreamSynchronize(layer_.stream);
    if (mine() && no_handle()) return expect_told(text, "low_latency_dispatch", true);
    expect(text.empty(), "a dispatch throws", layer_.operation, what_, 1, 0);
    if (in_dispatch() && !told_by_combine()) expect_told(checked(), "low_latency_dispatch", false);
    Taken received(Taken::yes);
    if (in_dispatch()) received[culprit_] = Taken::no;
    layer_.check_received(received);
  }
  /// A combine that throws for an earlier call is done all the same.
  [[nodiscard]] bool told_by_combine() const { return in_dispatch() && draw(round_, 13, 0) % 2 == 0; }

  void combine() const {
    if (what_ == other_expert) choose([](int64_t expert) -> int64_t { return (expert + 1) % experts(); });
    const std::string text = thrown_by([&] { layer_.combine(mine() && what_ == skewed); });
    const bool at_once = mine() && (no_handle() || what_ == skewed);
    if (at_once)
      expect_told(text, "low_latency_combine", true);
    else if (told_by_combine())
      expect_told(text, "low_latency_dispatch", false);
    else
      expect(text.empty(), "a combine throws", layer_.operation, what_, 1, 0);
    if (what_ != no_expert && !at_once) expect_told(checked(), "low_latency_combine", false);
    layer_.finish();
    Taken summed(Taken::yes);
    if (what_ != no_expert) summed[culprit_] = Taken::no;
    if (!mine()) layer_.check_sums(summed);  // (nobody has all of the culprit's rows)
  }

  Layer& layer_;
  What what_;
  int culprit_, round_;
};

int main() {
  nvshmem_init();
  me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  {
    Layer layer;
    for (int round = 0; round < 24 && pes > 1; ++round) {
      Race(layer, round).run();
      if (round % 3 == 0) BadArguments(layer, round / 3).run();
    }
  }
  if (wrong != 0) std::printf("PE %d: %d wrong values\n", me, wrong);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return wrong != 0;
}
