// Low-latency mode, from the host.
#include <causeway/moe/buffer.hpp>

#include <algorithm>

namespace causeway::moe {

namespace {

Scaling scaling_of(Cast cast) {
  switch (cast) {
    case Cast::none:
      return Scaling::none;
    case Cast::fp8:
      return Scaling::plain;
    case Cast::fp8_rounded:
      return Scaling::rounded;
    case Cast::fp8_exponent:
      return Scaling::exponent;
  }
  fail(Status::invalid_value, "cast is {}: must be one of causeway::moe::Cast", int(cast));
}

void check_low_latency(const LowLatencyLimits& limits) {
  if (limits.tokens == 0)
    fail(Status::invalid_value,
         "low_latency_tokens_max of the buffer is 0: must be the tokens of a rank for this mode");
}

void check_dispatch(const LowLatencyLimits& limits, const void* x, const int64_t* topk_idx, int tokens, int hidden,
                    int topk, Cast cast, const LowLatencyOutput& out) {
  check_range("tokens", tokens, 0, limits.tokens, "the buffer's low_latency_tokens_max");
  check_range("topk", topk, 1, limits.topk, "the buffer's topk_max");
  check_range("hidden", hidden, 8, limits.hidden, "the buffer's hidden_max");
  const int unit = scaling_of(cast) == Scaling::none ? 8 : cast == Cast::fp8_exponent ? 4 * kScaleBlock : kScaleBlock;
  if (hidden % unit != 0) fail(Status::invalid_value, "hidden is {}: must be a multiple of {}", hidden, unit);
  check_row_pointer("x", x, tokens);
  if (tokens > 0 && !topk_idx) fail(Status::invalid_value, "topk_idx is null: must be [{}, {}]", tokens, topk);
  const long long rows = (long long)limits.experts * limits.tokens;
  check_row_pointer("out.x", out.x, rows);
  if (cast != Cast::none) check_row_pointer("out.scales", out.scales, rows);
  if (!out.recv_count)
    fail(Status::invalid_value, "out.recv_count is null: must be [{}]", limits.experts / limits.ranks);
}

/// The text of a call's error, for the other ranks.
Text<ErrorMessage::kRoom> text_of(const std::exception_ptr& error) {
  Text<ErrorMessage::kRoom> text;
  if (!error) return text;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& error) {
    text.add(error.what());
  }
  return text;
}

}  // namespace

int low_latency_blocks_at_a_time() {
  return std::min(
      {machine::blocks_at_a_time<LowLatencySend>(kThreads), machine::blocks_at_a_time<LowLatencyReceive>(kThreads),
       machine::blocks_at_a_time<LowLatencyReturn>(kThreads), machine::blocks_at_a_time<LowLatencySum>(kThreads)});
}

// (A graph's operation may run between the send and the receive of another one, so its memory is never reused.)
std::shared_ptr<Pool::Piece> Buffer::Implementation::take_operation(cudaStream_t stream) {
  auto piece = pool.take(sizeof(uint64_t) + size_t(shape.ranks) * sizeof(uint32_t));
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &capturing) == cudaSuccess && capturing != cudaStreamCaptureStatusNone)
    of_graphs.push_back(piece);
  return piece;
}

LowLatencyContext Buffer::Implementation::context_of(const Pool::Piece& operation,
                                                     const LowLatencyHandle& handle) const {
  LowLatencyContext context = low_context;
  context.operation.number = static_cast<uint64_t*>(operation.memory);
  context.operation.outcome = reinterpret_cast<uint32_t*>(context.operation.number + 1);
  context.sent = handle.sent, context.row_of_choice = handle.row_of_choice;
  return context;
}

std::shared_ptr<LowLatencyHandle> Buffer::Implementation::make_low_handle(int tokens, int topk, int hidden) {
  auto handle = std::make_shared<LowLatencyHandle>();
  const size_t choices = size_t(low_limits.tokens) * size_t(low_limits.topk);
  handle->memory = pool.take(choices * (sizeof(int64_t) + size_t(low_limits.ranks) * sizeof(int32_t)));
  handle->sent = static_cast<int64_t*>(handle->memory->memory);
  handle->row_of_choice = reinterpret_cast<int32_t*>(handle->sent + choices);
  handle->tokens = tokens, handle->topk = topk, handle->hidden = hidden;
  return handle;
}

std::shared_ptr<LowLatencyHandle> Buffer::low_latency_dispatch(const void* x, const int64_t* topk_idx, int tokens,
                                                               int hidden, int topk, Cast cast,
                                                               const LowLatencyOutput& out, cudaStream_t stream,
                                                               ReceiveHook* hook) {
  Implementation& self = *implementation_;
  const LowLatencyLimits& limits = self.low_limits;
  check_low_latency(limits);
  auto handle = self.no_low_handle;
  auto operation = self.no_operation;
  const auto error = self.error_of([&] {
    check_dispatch(limits, x, topk_idx, tokens, hidden, topk, cast, out);
    auto taken = self.take_operation(stream);
    handle = self.make_low_handle(tokens, topk, hidden);
    operation = std::move(taken);
  });
  if (error) tokens = 0, topk = 1, hidden = 8, cast = Cast::none;
  const LowLatencyContext context = self.context_of(*operation, *handle);
  const LowLatencySend send{context,
                            static_cast<const __nv_bfloat16*>(x),
                            topk_idx,
                            tokens,
                            topk,
                            hidden,
                            Divisor(topk),
                            scaling_of(cast),
                            error != nullptr,
                            text_of(error)};
  const LowLatencyReceive receive{context,
                                  hidden,
                                  scaling_of(cast),
                                  error ? nullptr : static_cast<char*>(out.x),
                                  static_cast<char*>(out.scales),
                                  out.recv_count,
                                  out.source_token,
                                  out.layout_range,
                                  out.recv_total,
                                  out.wait_ns};
  self.run_low(send, stream);
  if (hook && !error)
    *hook = [&self, receive, operation, memory = handle->memory](cudaStream_t on) {
      self.run_low(receive, on);
      operation->used_on(on), memory->used_on(on);  // the next operation may be on another stream
    };
  else
    self.run_low(receive, stream);
  if (error) std::rethrow_exception(error);
  return handle;
}

void Buffer::low_latency_combine(const void* x, const int64_t* topk_idx, const float* topk_weights,
                                 const LowLatencyHandle& handle, void* out, cudaStream_t stream, ReceiveHook* hook) {
  Implementation& self = *implementation_;
  check_low_latency(self.low_limits);
  auto operation = self.no_operation;
  const auto error = self.error_of([&] {
    if (&handle == self.no_low_handle.get())
      fail(Status::invalid_value, "handle is that of no dispatch: must be of one that has not thrown");
    check_row_pointer("x", x, (long long)self.low_limits.experts * self.low_limits.tokens);
    check_row_pointer("out", out, handle.tokens);
    if (handle.tokens > 0 && (!topk_idx || !topk_weights))
      fail(Status::invalid_value, "topk_idx is {} and topk_weights {}: both must be [{}, {}]",
           static_cast<const void*>(topk_idx), static_cast<const void*>(topk_weights), handle.tokens, handle.topk);
    operation = self.take_operation(stream);
  });
  const LowLatencyContext context = self.context_of(*operation, handle);
  const LowLatencyReturn send{context,
                              static_cast<const __nv_bfloat16*>(x),
                              topk_idx,
                              topk_weights,
                              handle.tokens,
                              handle.topk,
                              handle.hidden,
                              Divisor(handle.topk),
                              Divisor(self.low_limits.blocks),
                              error != nullptr,
                              text_of(error)};
  const LowLatencySum sum{context,         handle.tokens, handle.topk, handle.hidden, static_cast<__nv_bfloat16*>(out),
                          error != nullptr};
  self.run_low(send, stream);
  const auto fault = error ? error : self.error_of([&] { self.check_faults(); });  // else of earlier calls
  if (hook && !fault)
    *hook = [&self, sum, operation, memory = handle.memory](cudaStream_t on) {
      self.run_low(sum, on);
      operation->used_on(on), memory->used_on(on);
    };
  else
    self.run_low(sum, stream);
  if (fault) std::rethrow_exception(fault);
}

const LowLatencyHandle& Buffer::no_low_latency_handle() const {
  check_low_latency(implementation_->low_limits);
  return *implementation_->no_low_handle;
}

void Buffer::set_masked(int rank, bool masked, cudaStream_t stream) {
  const Implementation& self = *implementation_;
  check_low_latency(self.low_limits);
  check_range("rank", rank, 0, self.shape.ranks - 1, "ranks of the buffer");
  if (masked && rank == self.shape.rank)
    fail(Status::invalid_value, "rank is {}: must be another rank than the caller's to be masked", rank);
  machine::launch(MaskKernel{self.low_context, rank, masked ? 1u : 0u, nullptr}, 1, 1, stream);
}

void Buffer::query_mask(int32_t* mask, cudaStream_t stream) const {
  const Implementation& self = *implementation_;
  check_low_latency(self.low_limits);
  if (!mask) fail(Status::invalid_value, "mask is null: must be [{}]", self.shape.ranks);
  machine::launch(MaskKernel{self.low_context, -1, 0, mask}, 1, 1, stream);
}

void Buffer::clear_mask(cudaStream_t stream) {
  const Implementation& self = *implementation_;
  check_low_latency(self.low_limits);
  machine::launch(MaskKernel{self.low_context, -1, 0, nullptr}, 1, 1, stream);
}

}  // namespace causeway::moe
