// High-throughput mode, from the host.
#include <causeway/base/digest.hpp>
#include <causeway/base/numbers.hpp>
#include <causeway/moe/buffer.hpp>

namespace causeway::moe {

namespace {

void check_routing(const BufferOptions& options, int ranks, int tokens, int topk, int experts) {
  check_range("tokens", tokens, 0, 1 << 28, "tokens of this rank");
  check_range("topk", topk, 1, options.topk_max, "the buffer's topk_max");
  check_range("experts", experts, ranks, options.experts_max, "the ranks to the buffer's experts_max");
  if (experts % ranks != 0)
    fail(Status::invalid_value, "experts is {}: must be a multiple of the {} ranks", experts, ranks);
}
void check_hidden(const BufferOptions& options, int hidden, bool scaled) {
  check_range("hidden", hidden, 8, options.hidden_max, "the buffer's hidden_max");
  const int unit = scaled ? kScaleBlock : 8;
  if (hidden % unit != 0) fail(Status::invalid_value, "hidden is {}: must be a multiple of {}", hidden, unit);
}
void check_tokens(const BufferOptions& options, int ranks, const Tokens& in, int expert_alignment) {
  check_routing(options, ranks, in.tokens, in.topk, in.experts);
  check_hidden(options, in.hidden, in.scales != nullptr);
  check_row_pointer("x", in.x, in.tokens);
  check_range("expert_alignment", expert_alignment, 1, 1 << 20, "tokens");
  if (in.tokens > 0 && !in.topk_idx)
    fail(Status::invalid_value, "topk_idx is null: must be [{}, {}]", in.tokens, in.topk);
}

int32_t signature_of(const Tokens& in, int worst_rows) {
  uint64_t all = kDigestBegin;
  for (const uint64_t value : {uint64_t(in.hidden), uint64_t(in.experts), uint64_t(in.topk),
                               uint64_t(in.scales != nullptr), uint64_t(worst_rows)})
    all = mixed(all, value);
  return int32_t(all & 0x7fffffff);
}
}  // namespace

void Buffer::Implementation::throw_first(const std::exception_ptr& error) const {
  if (error) std::rethrow_exception(error);
  check_faults();
}

std::shared_ptr<Handle> Buffer::Implementation::make_handle(const Tokens& in) {
  auto handle = std::make_shared<Handle>();
  const size_t across = rail ? rail->route_words(in.tokens) : 0;
  const int second = rail ? options.recv_tokens_max : in.tokens;
  handle->memory = pool.take((across + inside->route_words(second)) * sizeof(int32_t));
  auto* words = static_cast<int32_t*>(handle->memory->memory);
  Tokens next = in;
  if (rail) {
    handle->routes[0] = rail->make_route(in, words);
    next.tokens = second;
    next.experts = in.experts / shape.nodes();
  }
  handle->routes[1] = inside->make_route(next, words + across);
  handle->count = handle->routes[1].recv_prefix + shape.node_ranks - 1;
  return handle;
}

Received Buffer::Implementation::receive(const Handle& handle, bool scaled) const {
  const HopLayout layout = inside->layout();
  Received received;
  received.tokens = handle.received;
  received.count = handle.count;
  received.x = inside->at(layout.x);
  if (scaled) received.scales = reinterpret_cast<const float*>(inside->at(layout.scales));
  received.topk_idx = reinterpret_cast<const int64_t*>(inside->at(layout.topk));
  received.topk_weights = reinterpret_cast<const float*>(inside->at(layout.weights));
  received.origin = reinterpret_cast<const Origin*>(inside->at(layout.origin));
  return received;
}

// The host does not wait for the counts of the first hop. The second handles as many rows as the buffer holds, and
// those past the ones that came are for no expert.
void Buffer::Implementation::dispatch(const Tokens& in, const Handle& handle, int32_t verdict, int worst_rows,
                                      cudaStream_t stream) {
  const bool report = worst_rows > 0 && verdict == 0;  // a rank with an error throws it in this call
  const int rows = worst_rows > 0 ? worst_rows : options.recv_tokens_max;
  const int32_t signature = signature_of(in, worst_rows);
  HopInput first{in, nullptr, signature, verdict, nullptr, rows, worst_rows > 0, report};
  if (!rail) {
    inside->dispatch(first, handle.routes[1], stream);
    return;
  }
  first.rows = options.recv_tokens_max;
  first.fill = true, first.report = false;  // the second hop reports the faults of the first
  rail->dispatch(first, handle.routes[0], stream);
  const HopLayout layout = rail->layout();
  Tokens next = in;
  next.x = rail->at(layout.x);
  if (in.scales) next.scales = reinterpret_cast<const float*>(rail->at(layout.scales));
  next.topk_idx = reinterpret_cast<const int64_t*>(rail->at(layout.topk));
  next.topk_weights = reinterpret_cast<const float*>(rail->at(layout.weights));
  next.tokens = options.recv_tokens_max;
  next.experts = in.experts / shape.nodes();
  inside->dispatch({next, reinterpret_cast<const Origin*>(rail->at(layout.origin)), signature, 0, rail->verdict(), rows,
                    worst_rows > 0, report},
                   handle.routes[1], stream);
  rail->spread(*inside, report, stream);
}

void Buffer::Implementation::throw_verdict(const Tokens& in, const Hop& hop) const {
  const int32_t verdict = hop.counted().verdict;
  if (verdict == 0) return;
  const int about = rank_of(verdict);
  switch (fault_of(verdict)) {
    case Fault::bad_indices:
      if (about == shape.rank)
        fail(Status::invalid_value, "topk_idx has an entry outside of -1 (none) and 0 to experts less 1, {}",
             in.experts - 1);
      fail(Status::invalid_value, "topk_idx of rank {} has an entry outside of -1 (none) and 0 to experts less 1",
           about);
    case Fault::different:
      fail(Status::symmetry, "rank {} called dispatch with another hidden, topk, experts or element type", about);
    case Fault::too_many:
      if (hop.counted().received_max > options.recv_tokens_max)
        fail(Status::out_of_memory, "a rank would receive {} tokens: the buffer's recv_tokens_max is {}",
             hop.counted().received_max, options.recv_tokens_max);
      fail(Status::out_of_memory, "rank {} would receive more tokens than the buffer's recv_tokens_max of {}", about,
           options.recv_tokens_max);
    default:
      fail(Status::invalid_value, "rank {} called dispatch with bad arguments", about);
  }
}

void Buffer::check(cudaStream_t stream) {
  machine_host::synchronize(stream);
  implementation_->check_faults();
}

void Buffer::dispatch_layout(const int64_t* topk_idx, int tokens, int topk, int experts, int32_t* tokens_per_rank,
                             int32_t* tokens_per_node, int32_t* tokens_per_expert, bool* token_in_rank,
                             cudaStream_t stream) {
  const Implementation& self = *implementation_;
  const Shape& shape = self.shape;
  check_routing(self.options, shape.ranks, tokens, topk, experts);
  if (tokens > 0 && !topk_idx) fail(Status::invalid_value, "topk_idx is null: must be [{}, {}]", tokens, topk);
  machine::launch(
      ClearKernel{{tokens_per_rank, tokens_per_node, tokens_per_expert}, {shape.ranks, shape.nodes(), experts}}, 1,
      kThreads, stream);
  machine::launch(LayoutKernel{topk_idx, tokens, topk, experts, shape.ranks, shape.nodes(), tokens_per_rank,
                               tokens_per_node, tokens_per_expert, token_in_rank},
                  unsigned(self.options.blocks), kThreads, stream);
}

Received Buffer::dispatch(const Tokens& given, int expert_alignment, cudaStream_t stream) {
  Implementation& self = *implementation_;
  auto handle = self.no_handle;
  const auto error = self.error_of([&] {
    check_tokens(self.options, self.shape.ranks, given, expert_alignment);
    handle = self.make_handle(given);
  });
  const Tokens in = error ? no_tokens(self.shape.ranks) : given;
  self.dispatch(in, *handle, self.verdict(error), 0, stream);
  machine_host::synchronize(stream);
  if (error) std::rethrow_exception(error);
  for (const int pe : host::known_members(self.options.team))
    if (gone_for_host(self.world, pe) >= 0) fail(Status::internal, "PE {} has ended: its tokens have not come", pe);
  if (self.rail) self.throw_verdict(in, *self.rail);
  self.throw_verdict(in, *self.inside);
  handle->received = self.inside->counted().received;
  Received received = self.receive(*handle, in.scales != nullptr);
  for (int expert = 0; expert < in.experts / self.shape.ranks; ++expert)
    received.tokens_of_expert.push_back(rounded_up(self.inside->counted().of_expert[expert], expert_alignment));
  received.handle = std::move(handle);
  return received;
}

Received Buffer::dispatch_worst_case(const Tokens& given, cudaStream_t stream, int rows) {
  Implementation& self = *implementation_;
  const int rows_max = self.options.recv_tokens_max;
  auto handle = self.no_handle;
  const auto error = self.error_of([&] {
    check_tokens(self.options, self.shape.ranks, given, 1);
    check_range("rows", rows, 0, rows_max, "0 for the buffer's recv_tokens_max");
    handle = self.make_handle(given);
  });
  if (error || rows == 0) rows = rows_max;
  const Tokens in = error ? no_tokens(self.shape.ranks) : given;
  self.dispatch(in, *handle, self.verdict(error), rows, stream);
  if (error) std::rethrow_exception(error);
  handle->received = rows;
  Received received = self.receive(*handle, in.scales != nullptr);
  received.handle = std::move(handle);
  return received;
}

Received Buffer::dispatch_again(const Handle& handle, const void* x, const float* scales, cudaStream_t stream) {
  Implementation& self = *implementation_;
  const Route& first = handle.routes[self.rail ? 0 : 1];
  const auto error = self.error_of([&] {
    self.check_handle(handle);
    check_hidden(self.options, first.hidden, scales != nullptr);
    check_row_pointer("x", x, first.tokens);
  });
  if (self.rail) {
    self.rail->send_again(first, x, scales, self.verdict(error), nullptr, stream);
    const HopLayout layout = self.rail->layout();
    self.inside->send_again(handle.routes[1], self.rail->at(layout.x),
                            scales ? reinterpret_cast<const float*>(self.rail->at(layout.scales)) : nullptr,
                            self.verdict(error), &*self.rail, stream);
  } else {
    self.inside->send_again(first, x, scales, self.verdict(error), nullptr, stream);
  }
  self.throw_first(error);
  return self.receive(handle, scales != nullptr);
}

void Buffer::combine(const Results& in, const Handle& handle, void* out, float* out_weights, cudaStream_t stream) {
  Implementation& self = *implementation_;
  const Route& first = handle.routes[self.rail ? 0 : 1];
  const auto error = self.error_of([&] {
    self.check_handle(handle);
    check_row_pointer("x", in.x, handle.received);
    check_row_pointer("out", out, first.tokens);
    for (const void* bias : in.bias)
      if (bias) check_row_pointer("bias", bias, first.tokens);
    if (out_weights && !in.weights && handle.received > 0)
      fail(Status::invalid_value, "weights is null: must be [{}, {}] where out_weights is given", handle.received,
           first.topk);
  });
  const int32_t verdict = self.verdict(error);
  const void* x = in.x == combine_input() ? nullptr : in.x;
  self.inside->meet(stream);  // all have pulled what was handed over last
  self.inside->hand_over(handle.routes[1], x, in.weights, verdict, nullptr, stream);
  if (!self.rail) {
    if (!error) self.inside->pull(first, x, out, out_weights, in.bias, stream);
  } else {
    self.rail->meet(stream);
    const HopLayout layout = self.rail->layout();
    self.inside->pull(handle.routes[1], x, self.rail->at(layout.back),
                      reinterpret_cast<float*>(self.rail->at(layout.back_weights)), {nullptr, nullptr}, stream);
    self.rail->hand_over(first, nullptr, nullptr, verdict, &*self.inside, stream);
    if (!error) self.rail->pull(first, nullptr, out, out_weights, in.bias, stream);
  }
  self.throw_first(error);
}

void* Buffer::combine_input() const { return implementation_->inside->at(implementation_->inside->layout().back); }

}  // namespace causeway::moe
