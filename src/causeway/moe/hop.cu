// One hop, from the host: its kernels are compiled here.
#include <causeway/moe/hop.hpp>

namespace causeway::moe {

namespace {
template <class Kernel>
void run(const Kernel& kernel, int blocks, cudaStream_t stream) {
  machine::launch(kernel, unsigned(blocks), kThreads, stream);
}
}  // namespace

Hop::Hop(const DeviceWorld& world, FaultRecord* faults, int team, const Limits& limits, int first, int stride,
         int blocks)
    : region_(hop_layout(limits).bytes, "a hop of a MoE buffer (recv_tokens_max rows of hidden_max)"),
      context_{world,  with_own_channel(view_of(world, team), hop_layout(limits), region_.get()),
               limits, region_.get(),
               first,  stride,
               faults},
      blocks_(blocks) {
  const size_t experts = size_t(limits.experts), ranks = size_t(limits.ranks);
  const size_t words = size_t(workers_of(blocks)) * ranks + ranks + experts + 2;
  memory_ = pool_.take(words * sizeof(int32_t));
  auto* at = static_cast<int32_t*>(memory_->memory);
  machine_host::zero(at, words * sizeof(int32_t));
  int32_t* of_rank = at + size_t(workers_of(blocks)) * ranks;
  auto* of_expert = reinterpret_cast<uint32_t*>(of_rank + ranks);
  scratch_ = {at, of_rank, of_expert, of_expert + experts, reinterpret_cast<int32_t*>(of_expert + experts + 1)};
  counted_.make(sizeof(Counted) + (experts / ranks + 1) * sizeof(int32_t));
}

Route Hop::make_route(const Tokens& in, int32_t* words) const {
  const int ranks = context_.limits.ranks;
  return {in.tokens,         in.topk, in.experts,   in.hidden, ExpertMap(in.experts, ranks),
          words + 2 * ranks, words,   words + ranks};
}

void Hop::dispatch(const HopInput& in, const Route& route, cudaStream_t stream) {
  const Tokens& tokens = in.tokens;
  const PrepareKernel prepare{context_.limits, context_.limits.ranks, tokens.topk_idx, route, scratch_, in.before};
  run(prepare, blocks_, stream);
  run(ExchangeKernel{context_, route, scratch_, workers_of(blocks_), in.signature, in.verdict, in.before, in.rows,
                     counted_.get(), in.report},
      1, stream);
  run(PositionKernel{prepare}, blocks_, stream);
  const size_t row = size_t(tokens.hidden) * (tokens.scales ? 1 : 2);
  run(SendKernel{context_, route, static_cast<const char*>(tokens.x), row, tokens.scales, tokens.topk_idx,
                 tokens.topk_weights, in.origins, scratch_.verdict, in.fill ? in.rows : 0},
      blocks_, stream);
  meet(stream);
}

void Hop::spread(const Hop& inside, bool report, cudaStream_t stream) {
  machine::launch(SpreadKernel{context_, inside.verdict(), counted_.get(), report}, 1, kThreads == 1 ? 1 : 32, stream);
}

void Hop::send_again(const Route& route, const void* x, const float* scales, int32_t verdict, const Hop* earlier,
                     cudaStream_t stream) {
  meet(stream);  // all have finished with what they received last
  const size_t row = size_t(route.hidden) * (scales ? 1 : 2);
  if (verdict == 0)
    run(SendKernel{context_, route, static_cast<const char*>(x), row, scales, nullptr, nullptr, nullptr, nullptr, 0},
        blocks_, stream);
  conclude(verdict, earlier, true, stream);
}

void Hop::hand_over(const Route& route, const void* x, const float* weights, int32_t verdict, const Hop* earlier,
                    cudaStream_t stream) {
  if (verdict == 0 && (x || weights))
    run(HandOverKernel{context_, route, static_cast<const char*>(x), size_t(route.hidden) * 2, weights}, blocks_,
        stream);
  conclude(verdict, earlier, false, stream);
}

void Hop::pull(const Route& route, const void* x, void* out, float* out_weights, const void* const (&bias)[2],
               cudaStream_t stream) {
  const auto* rows = static_cast<const char*>(x);
  auto* sums = static_cast<__nv_bfloat16*>(out);
  const auto *first = static_cast<const __nv_bfloat16*>(bias[0]), *second = static_cast<const __nv_bfloat16*>(bias[1]);
  if (shared_bytes_ >= InShared::kBytes)
    run(PullKernel<InShared>{context_, route, rows, sums, out_weights, {first, second}}, blocks_, stream);
  else
    run(PullKernel<InRegisters>{context_, route, rows, sums, out_weights, {first, second}}, blocks_, stream);
}

void Hop::meet(cudaStream_t stream) { machine::launch(MeetKernel{context_}, 1, kThreads == 1 ? 1 : 32, stream); }

void Hop::conclude(int32_t verdict, const Hop* earlier, bool again, cudaStream_t stream) {
  machine::launch(
      ConcludeKernel{context_, verdict, earlier != nullptr, earlier ? earlier->context_ : HopContext{}, again}, 1,
      kThreads == 1 ? 1 : 32, stream);
}

}  // namespace causeway::moe
