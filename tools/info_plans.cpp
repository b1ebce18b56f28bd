#include <causeway/config/choose.hpp>
#include <fmt/format.h>
#include <tools/info_plans.hpp>

#include <functional>

namespace causeway {
namespace {

void for_each_kind(const std::function<void(Kind, bool gpu)>& body) {
  for (int kind = 0; kind <= int(kKindsLast); ++kind)
    for (const bool gpu : {true, false}) body(Kind(kind), gpu);
}

std::string text_of(const Plan& plan) {
  if (plan.way != Way::kernel) return name_of(plan.way);
  return fmt::format("kernel of {} x {}", plan.blocks, plan.threads);
}

}  // namespace

std::string plans_text() {
  std::string text = fmt::format("  {:16}  {:7}  {:22}  {}\n", "", "machine", "on a stream", "from the host");
  for_each_kind([&](Kind kind, bool gpu) {
    text += fmt::format("  {:16}  {:7}  {:22}  {}\n", gpu ? name_of(kind) : "", gpu ? "cuda" : "cpu",
                        text_of(choose(kind, {gpu, Caller::stream})), text_of(choose(kind, {gpu, Caller::host})));
  });
  return text;
}

nlohmann::ordered_json plans_json() {
  auto all = nlohmann::ordered_json::array();
  for_each_kind([&](Kind kind, bool gpu) {
    for (const Caller caller : {Caller::kernel, Caller::stream, Caller::host}) {
      const Plan plan = choose(kind, {gpu, caller});
      all.push_back({{"kind", name_of(kind)},
                     {"machine", gpu ? "cuda" : "cpu"},
                     {"caller", caller == Caller::kernel   ? "kernel"
                                : caller == Caller::stream ? "stream"
                                                           : "host"},
                     {"way", name_of(plan.way)},
                     {"blocks", plan.blocks},
                     {"threads", plan.threads}});
    }
  });
  return all;
}

}  // namespace causeway
