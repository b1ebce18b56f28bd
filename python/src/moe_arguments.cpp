#include "moe_arguments.hpp"

#include <nanobind/stl/pair.h>

#include <utility>

namespace causeway::python {
namespace {

constexpr const char *kBf16 = "bfloat16", *kFp8 = "float8_e4m3fn";
constexpr const char *kRows = "[num_tokens, hidden]", *kChoices = "[num_tokens, num_topk]";
constexpr int kScaleBlock = 128;

void check_given(const Array* array, const char* type, const std::vector<int64_t>& extents, const char* meaning) {
  if (array) array->check(type, extents, meaning);
}

int unit_of(moe::Cast cast) {
  return cast == moe::Cast::none ? 8 : cast == moe::Cast::fp8_exponent ? 4 * kScaleBlock : kScaleBlock;
}

}  // namespace

void BufferChecks::hidden(const char* argument, int64_t hidden, int unit) const {
  if (hidden <= 0 || hidden > options.hidden_max || hidden % unit != 0)
    refuse("{} has hidden {}: must be a multiple of {} up to the buffer's {}", argument, hidden, unit,
           options.hidden_max);
}

moe::Tokens BufferChecks::rows(const Array& x, const Array* scales, int64_t wanted_rows, int64_t wanted_hidden) const {
  x.check(scales ? kFp8 : kBf16, {wanted_rows, wanted_hidden}, kRows);
  hidden("x", x.shape[1], scales ? kScaleBlock : 8);
  check_given(scales, "float32", {x.shape[0], x.shape[1] / kScaleBlock}, "[num_tokens, hidden // 128]");
  moe::Tokens made;
  made.x = x.pointer(), made.scales = pointer_to<const float>(scales);
  made.tokens = x.extent(0), made.hidden = x.extent(1);
  return made;
}

moe::Tokens BufferChecks::tokens(const Array& x, const Array* scales, const Array& topk_idx, const Array* topk_weights,
                                 const Array* per_expert, const Array* per_rank, const Array* per_node,
                                 const Array* in_rank) const {
  moe::Tokens made = rows(x, scales, kAny, kAny);
  topk_idx.check("int64", {made.tokens, kAny}, kChoices);
  check_given(topk_weights, "float32", topk_idx.shape, kChoices);
  check_given(per_expert, "int32", {kAny}, "[num_experts]");
  check_given(per_rank, "int32", {ranks}, "[ranks]");
  check_given(per_node, "int32", {nodes}, "[nodes]");
  check_given(in_rank, "bool", {made.tokens, ranks}, "[num_tokens, ranks]");
  made.topk_idx = topk_idx.pointer<const int64_t>(), made.topk_weights = pointer_to<const float>(topk_weights);
  made.topk = topk_idx.extent(1);
  made.experts = per_expert ? per_expert->extent(0) : options.experts_max;
  return made;
}

int BufferChecks::alignment(nb::handle expert_alignment) const {
  return integer(expert_alignment, "expert_alignment", 1, 1 << 20, "tokens");
}
int BufferChecks::worst_rows(nb::handle num_worst_tokens) const {
  return integer(num_worst_tokens, "num_worst_tokens", 0, options.recv_tokens_max,
                 "the tokens that the buffer was made to receive, num_max_recv_tokens");
}

moe::Tokens BufferChecks::tokens_again(const DispatchHandle& handle, const Array& x, const Array* scales) const {
  return rows(x, scales, handle.tokens, handle.hidden);
}

moe::Tokens BufferChecks::routes(const Array& topk_idx, nb::handle num_experts) const {
  moe::Tokens made;
  made.experts = integer(num_experts, "num_experts", ranks, options.experts_max, "the ranks to the buffer's");
  topk_idx.check("int64", {kAny, kAny}, kChoices);
  made.topk_idx = topk_idx.pointer<const int64_t>();
  made.tokens = topk_idx.extent(0), made.topk = topk_idx.extent(1);
  return made;
}

moe::Results BufferChecks::results(const DispatchHandle& handle, const Array& x, const Array* topk_weights,
                                   const Array* bias_0, const Array* bias_1) const {
  x.check(kBf16, {handle.rows, handle.hidden}, "[received, hidden]");
  check_given(topk_weights, "float32", {handle.rows, handle.topk}, "[received, num_topk]");
  for (const Array* one : {bias_0, bias_1}) check_given(one, kBf16, {handle.tokens, handle.hidden}, kRows);
  return {x.pointer(),
          pointer_to<const float>(topk_weights),
          {pointer_to<const void>(bias_0), pointer_to<const void>(bias_1)}};
}

void BufferChecks::low_latency(nb::handle num_max_dispatch_tokens_per_rank, nb::handle num_experts) const {
  if (options.low_latency_tokens_max == 0)
    refuse("the buffer was made with low_latency_mode False: must be True for this call");
  const auto check = [](const char* argument, nb::handle given, int wanted) {
    if (given.not_equal(nb::int_(wanted)))
      refuse("{} is {}: must be {}, what the buffer was made for", argument, nb::str(given).c_str(), wanted);
  };
  check("num_max_dispatch_tokens_per_rank", num_max_dispatch_tokens_per_rank, options.low_latency_tokens_max);
  check("num_experts", num_experts, options.experts_max);
}

moe::Tokens BufferChecks::low_latency_tokens(const Array& x, const Array& topk_idx, moe::Cast cast) const {
  x.check(kBf16, {kAny, kAny}, kRows);
  if (x.shape[0] > options.low_latency_tokens_max)
    refuse("x has {} tokens: must have at most num_max_dispatch_tokens_per_rank, {}", x.shape[0],
           options.low_latency_tokens_max);
  hidden("x", x.shape[1], unit_of(cast));
  topk_idx.check("int64", {x.shape[0], kAny}, kChoices);
  moe::Tokens made;
  made.x = x.pointer(), made.topk_idx = topk_idx.pointer<const int64_t>();
  made.tokens = x.extent(0), made.hidden = x.extent(1), made.topk = topk_idx.extent(1);
  made.experts = options.experts_max;
  return made;
}

void BufferChecks::statistics(moe::LowLatencyOutput& output, const Array* recv_total, const Array* wait_ns) const {
  check_given(recv_total, "int32", {own_experts()}, "[own experts]");
  output.recv_total = pointer_to<int32_t>(recv_total);
  if (!wait_ns) return;
  const bool square = wait_ns->shape.size() == 2;
  wait_ns->check("int64", square ? std::vector<int64_t>{ranks, ranks} : std::vector<int64_t>{ranks},
                 "[ranks] or [ranks, ranks]");
  output.wait_ns = wait_ns->pointer<int64_t>() + (square ? rank * ranks : 0);
}

LowLatencyResults BufferChecks::low_latency_results(const LowLatencyHandle& handle, const Array& x,
                                                    const Array& topk_idx, const Array& topk_weights,
                                                    const Array* out) const {
  x.check(kBf16, {own_experts(), int64_t(ranks) * options.low_latency_tokens_max, handle.hidden},
          "[own experts, ranks * tokens, hidden]");
  topk_idx.check("int64", {handle.tokens, handle.topk}, "[num_tokens, num_topk] as dispatched");
  topk_weights.check("float32", topk_idx.shape, kChoices);
  check_given(out, kBf16, {handle.tokens, handle.hidden}, kRows);
  return {x.pointer(), topk_idx.pointer<const int64_t>(), topk_weights.pointer<const float>(), pointer_to<void>(out)};
}

// ---- records

namespace {

void add_options(nb::module_& module) {
  using moe::BufferOptions;
  record<BufferOptions>(module, "BufferOptions")
      .def_rw("team", &BufferOptions::team)
      .def_rw("hidden_max", &BufferOptions::hidden_max)
      .def_rw("topk_max", &BufferOptions::topk_max)
      .def_rw("experts_max", &BufferOptions::experts_max)
      .def_rw("recv_tokens_max", &BufferOptions::recv_tokens_max)
      .def_rw("low_latency_tokens_max", &BufferOptions::low_latency_tokens_max)
      .def_rw("blocks", &BufferOptions::blocks)
      .def_rw("low_latency_blocks", &BufferOptions::low_latency_blocks)
      .def_rw("node_ranks", &BufferOptions::node_ranks)
      .def_rw("low_latency_timeout_s", &BufferOptions::low_latency_timeout_s);
  nb::enum_<moe::Cast>(module, "Cast")
      .value("none", moe::Cast::none)
      .value("fp8", moe::Cast::fp8)
      .value("fp8_rounded", moe::Cast::fp8_rounded)
      .value("fp8_exponent", moe::Cast::fp8_exponent);
}

void add_throughput(nb::module_& module) {
  using moe::Results;
  using moe::Tokens;
  auto tokens = record<Tokens>(module, "Tokens");
  pointer(tokens, "x", &Tokens::x);
  pointer(tokens, "scales", &Tokens::scales);
  pointer(tokens, "topk_idx", &Tokens::topk_idx);
  pointer(tokens, "topk_weights", &Tokens::topk_weights);
  tokens.def_rw("tokens", &Tokens::tokens)
      .def_rw("hidden", &Tokens::hidden)
      .def_rw("topk", &Tokens::topk)
      .def_rw("experts", &Tokens::experts);
  auto results = record<Results>(module, "Results");
  pointer(results, "x", &Results::x);
  pointer(results, "weights", &Results::weights);
  results.def_prop_rw(
      "bias", [](const Results& self) { return std::pair(Address(self.bias[0]), Address(self.bias[1])); },
      [](Results& self, std::pair<Address, Address> bias) {
        self.bias[0] = as_pointer(bias.first), self.bias[1] = as_pointer(bias.second);
      });
}

void add_low_latency(nb::module_& module) {
  using moe::LowLatencyOutput;
  auto output = record<LowLatencyOutput>(module, "LowLatencyOutput");
  pointer(output, "x", &LowLatencyOutput::x);
  pointer(output, "scales", &LowLatencyOutput::scales);
  pointer(output, "recv_count", &LowLatencyOutput::recv_count);
  pointer(output, "source_token", &LowLatencyOutput::source_token);
  pointer(output, "layout_range", &LowLatencyOutput::layout_range);
  pointer(output, "recv_total", &LowLatencyOutput::recv_total);
  pointer(output, "wait_ns", &LowLatencyOutput::wait_ns);
  auto results = record<LowLatencyResults>(module, "LowLatencyResults");
  pointer(results, "x", &LowLatencyResults::x);
  pointer(results, "topk_idx", &LowLatencyResults::topk_idx);
  pointer(results, "topk_weights", &LowLatencyResults::topk_weights);
  pointer(results, "out", &LowLatencyResults::out);
}

void add_checks(nb::module_& module) {
  using nb::literals::operator""_a;
  const auto any = [](const char* name) { return nb::arg(name).none(); };  // what it must be is checked here
  const auto none = [any](const char* name) { return any(name) = nb::none(); };
  nb::class_<BufferChecks>(module, "BufferChecks")
      .def("tokens", &BufferChecks::tokens, "x"_a, none("scales"), "topk_idx"_a, none("topk_weights"),
           none("per_expert"), none("per_rank"), none("per_node"), none("in_rank"))
      .def("alignment", &BufferChecks::alignment, any("expert_alignment"))
      .def("worst_rows", &BufferChecks::worst_rows, any("num_worst_tokens"))
      .def("tokens_again", &BufferChecks::tokens_again, "handle"_a, "x"_a, none("scales"))
      .def("routes", &BufferChecks::routes, "topk_idx"_a, any("num_experts"))
      .def("results", &BufferChecks::results, "handle"_a, "x"_a, none("topk_weights"), none("bias_0"), none("bias_1"))
      .def("low_latency", &BufferChecks::low_latency, any("num_max_dispatch_tokens_per_rank"), any("num_experts"))
      .def("hidden", &BufferChecks::hidden, "argument"_a, "hidden"_a, "unit"_a = 8)
      .def("low_latency_tokens", &BufferChecks::low_latency_tokens, "x"_a, "topk_idx"_a, "cast"_a)
      .def("statistics", &BufferChecks::statistics, "output"_a, none("recv_total"), none("wait_ns"))
      .def("low_latency_results", &BufferChecks::low_latency_results, "handle"_a, "x"_a, "topk_idx"_a, "topk_weights"_a,
           none("out"));
}

}  // namespace

void add_moe_records(nb::module_& module) {
  add_arguments(module);
  add_options(module);
  add_throughput(module);
  add_low_latency(module);
  add_checks(module);
}

}  // namespace causeway::python
