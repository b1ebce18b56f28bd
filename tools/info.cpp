// See info.hpp: collects the facts, then prints them as text or as JSON.
#include <causeway/base/version.h>
#include <causeway/base/error.hpp>
#include <causeway/config/settings.hpp>
#include <causeway/config/settings_parse.hpp>
#include <causeway/config/topology.hpp>
#include <tools/cc_paths.hpp>
#include <tools/info.hpp>
#include <tools/info_plans.hpp>
#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

namespace causeway {
namespace {

using Json = nlohmann::ordered_json;

struct Machine {
  std::string name;
  bool available = false;
  std::vector<std::string> missing;  // in words; empty when it is available
};

/// A value that is worked out from settings and host, and the reason.
struct Choice {
  std::string what, value, why;
};

struct Facts {
  Settings settings;
  Topology topology;
  std::vector<Machine> machines;
  std::vector<Choice> choices;
};

/// The driver's library for programs. Only loaded and let go: no call is made into it.
bool has_driver_library() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) ::dlclose(library);
  return library != nullptr;
}

Machine cpu_machine() {
  Machine machine{"cpu", true, {}};
  const auto library = cc::installation() / "lib" / "libcauseway_cpu.so";
  if (!cc::is_file(library)) machine.missing.push_back(fmt::format("{} is not there", library.string()));
  machine.available = machine.missing.empty();
  return machine;
}

Machine cuda_machine(const Topology& topology) {
  Machine machine{"cuda", true, {}};
  try {
    (void)cc::cuda_installation();
  } catch (const Error& error) {
    machine.missing.emplace_back(error.what());
  }
  if (topology.driver_version.empty()) machine.missing.emplace_back("no NVIDIA kernel driver is loaded");
  if (!has_driver_library()) machine.missing.emplace_back("the driver's library libcuda.so.1 is not found");
  if (topology.gpus.empty()) machine.missing.emplace_back("there is no GPU: /dev has no nvidia0 or later number");
  machine.available = machine.missing.empty();
  return machine;
}

/// The rule of `causeway cc`.
Choice cc_choice(const Settings& settings) {
  if (!settings.machine.empty()) return {"machine of `causeway cc`", settings.machine, "CAUSEWAY_MACHINE is set"};
  const bool gpu = cc::has_gpu(), nvcc = cc::find_nvcc().has_value();
  return {"machine of `causeway cc`", gpu && nvcc ? "cuda" : "cpu",
          fmt::format("CAUSEWAY_MACHINE is not set; {}, {}", gpu ? "there is a GPU" : "there is no GPU",
                      nvcc ? "nvcc is found" : "nvcc is not found")};
}

std::string origin(const Settings& settings, std::string_view name) {
  for (const std::string& malformed : settings.malformed)
    if (malformed.starts_with(fmt::format("{}=", name))) return fmt::format("{} is malformed", name);
  return fmt::format("{} {}", name,
                     settings.value(name).source == SettingSource::environment ? "is set" : "is not set");
}

std::vector<Choice> choices(const Settings& settings, const Topology& topology) {
  std::vector<Choice> result{cc_choice(settings)};
  result.push_back({"first heap segment", size_text(settings.symmetric_bytes),
                    origin(settings, "NVSHMEM_SYMMETRIC_SIZE") + "; the heap grows when more is needed"});
  if (settings.heap_stride_bytes != 0)
    result.push_back({"heap stride", size_text(settings.heap_stride_bytes), "CAUSEWAY_HEAP_STRIDE is set"});
  else
    result.push_back(
        {"heap stride", "chosen at start",
         fmt::format("a power of two above all memory (here {} GiB; on GPUs the device's), as far as the PEs "
                     "can reserve it",
                     topology.memory_total_bytes >> 30)});
  if (settings.cpu_workers != 0)
    result.push_back({"CPU machine's workers", std::to_string(settings.cpu_workers), "CAUSEWAY_CPU_WORKERS is set"});
  else
    result.push_back({"CPU machine's workers", std::to_string(std::max(1u, std::thread::hardware_concurrency())),
                      fmt::format("one for each CPU that the process may run on{}",
                                  topology.cpus_usable < topology.cpus_allowed
                                      ? fmt::format("; its control group grants time of {:.2f} only: "
                                                    "CAUSEWAY_CPU_WORKERS={} fits",
                                                    *topology.cpu_quota, topology.cpus_usable)
                                      : "")});
  result.push_back({"CPU machine's devices",
                    settings.cpu_devices != 0 ? std::to_string(settings.cpu_devices) : "as many as PEs on the node",
                    origin(settings, "CAUSEWAY_CPU_DEVICES")});
  return result;
}

Facts collect() {
  Facts facts;
  facts.settings = inspect_settings(process_environment());
  facts.topology = read_topology();
  facts.machines = {cpu_machine(), cuda_machine(facts.topology)};
  facts.choices = choices(facts.settings, facts.topology);
  return facts;
}

Json to_json(const Topology& t) {
  Json numa = Json::array(), gpus = Json::array();
  for (const NumaNode& node : t.numa_nodes)
    numa.push_back({{"number", node.number}, {"cpus", node.cpus}, {"memory_bytes", node.memory_bytes}});
  for (const GpuInfo& gpu : t.gpus)
    gpus.push_back({{"number", gpu.number}, {"name", gpu.name}, {"bus", gpu.bus}, {"numa_node", gpu.numa_node}});
  return {{"host_name", t.host_name},
          {"host_id", fmt::format("{:016x}", t.host_id)},
          {"cpus_online", t.cpus_online},
          {"cpus_allowed", t.cpus_allowed},
          {"cores_allowed", t.cores_allowed},
          {"cpu_quota", t.cpu_quota ? Json(*t.cpu_quota) : Json()},
          {"cpus_usable", t.cpus_usable},
          {"numa_nodes", numa},
          {"memory_total_bytes", t.memory_total_bytes},
          {"memory_available_bytes", t.memory_available_bytes ? Json(*t.memory_available_bytes) : Json()},
          {"memory_limit_bytes", t.memory_limit_bytes ? Json(*t.memory_limit_bytes) : Json()},
          {"gpus", gpus},
          {"driver_version", t.driver_version}};
}

std::string_view effect_name(SettingEffect effect) {
  switch (effect) {
    case SettingEffect::honoured:
      return "honoured";
    case SettingEffect::ours:
      return "causeway";
    case SettingEffect::launcher:
      return "set by the launcher";
    case SettingEffect::no_effect:
      break;
  }
  return "no effect";
}

Json settings_json(const Settings& settings) {
  Json result = Json::array();
  for (const SettingRow& row : setting_rows()) {
    const SettingValue& value = settings.value(row.name);
    const bool is_set = value.source == SettingSource::environment;
    result.push_back({{"name", row.name},
                      {"value", value.text.empty() && !is_set ? Json() : Json(value.text)},
                      {"source", is_set ? "environment" : "default"},
                      {"default", row.standard},
                      {"accepted", accepted_form(row)},
                      {"effect", effect_name(row.effect)},
                      {"help", row.help}});
  }
  return result;
}

std::string json(const Facts& facts) {
  Json machines = Json::array(), chosen = Json::array(), unknown = Json::array();
  for (const Machine& machine : facts.machines)
    machines.push_back({{"name", machine.name}, {"available", machine.available}, {"missing", machine.missing}});
  for (const Choice& choice : facts.choices)
    chosen.push_back({{"what", choice.what}, {"value", choice.value}, {"why", choice.why}});
  for (const UnknownName& name : facts.settings.unknown)
    unknown.push_back({{"name", name.name}, {"nearest", name.nearest.empty() ? Json() : Json(name.nearest)}});
  const Json all = {{"version", CAUSEWAY_VERSION_STRING},
                    {"interface", NVSHMEM_VENDOR_STRING},
                    {"machines", machines},
                    {"topology", to_json(facts.topology)},
                    {"chosen", chosen},
                    {"operations", plans_json()},
                    {"settings", settings_json(facts.settings)},
                    {"unknown", unknown},
                    {"malformed", facts.settings.malformed}};
  // What comes from the environment need not be UTF-8.
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string topology_text(const Topology& t) {
  const auto gib = [](std::uint64_t bytes) { return fmt::format("{:.1f} GiB", double(bytes) / double(1 << 30)); };
  std::string text = fmt::format("  name {}, id {:016x}\n", t.host_name, t.host_id);
  text += fmt::format("  CPUs: {} usable, {} allowed on {} cores, {} in the machine{}\n", t.cpus_usable, t.cpus_allowed,
                      t.cores_allowed, t.cpus_online,
                      t.cpu_quota ? fmt::format("; the control group grants the time of {:.2f}", *t.cpu_quota) : "");
  for (const NumaNode& node : t.numa_nodes)
    text += fmt::format("  NUMA node {}: {} CPUs, {}\n", node.number, node.cpus, gib(node.memory_bytes));
  text += fmt::format("  memory: {} available of {}{}\n",
                      t.memory_available_bytes ? gib(*t.memory_available_bytes) : "an unknown amount",
                      t.memory_total_bytes > 0 ? gib(t.memory_total_bytes) : "an unknown amount",
                      t.memory_limit_bytes ? fmt::format(", limited to {}", gib(*t.memory_limit_bytes)) : "");
  for (const GpuInfo& gpu : t.gpus)
    text += fmt::format("  GPU {}: {}{}{}\n", gpu.number, gpu.name.empty() ? "name not readable" : gpu.name,
                        gpu.bus.empty() ? "" : " at " + gpu.bus,
                        gpu.numa_node < 0 ? "" : fmt::format(", NUMA node {}", gpu.numa_node));
  if (t.gpus.empty()) text += "  GPUs: none\n";
  if (!t.driver_version.empty()) text += fmt::format("  NVIDIA driver {}\n", t.driver_version);
  return text;
}

std::string problems_text(const Settings& settings) {
  std::string text;
  for (const std::string& malformed : settings.malformed) text += fmt::format("  error: {}\n", malformed);
  for (const SettingMessage& message : settings.messages)
    text += fmt::format("  {}: {}\n", message.is_warning ? "warning" : "note", message.text);
  return text;
}

std::string plain(const Facts& facts) {
  std::string text = fmt::format("{}\n\nMachines\n", NVSHMEM_VENDOR_STRING);
  for (const Machine& machine : facts.machines) {
    text += fmt::format("  {}: {}\n", machine.name, machine.available ? "available" : "not available");
    for (const std::string& missing : machine.missing) text += fmt::format("    {}\n", missing);
  }
  text += "\nOperations\n" + plans_text();
  text += "\nHost\n" + topology_text(facts.topology) + "\nChosen\n";
  for (const Choice& choice : facts.choices)
    text += fmt::format("  {}: {} ({})\n", choice.what, choice.value, choice.why);
  text += "\nEnvironment\n";
  std::string environment = problems_text(facts.settings);
  for (const SettingValue& value : facts.settings.values)
    if (value.source == SettingSource::environment)
      environment += fmt::format("  {}={}\n", value.name, escaped(value.text));
  return text + (environment.empty() ? "  nothing is set\n" : environment) +
         "\n`causeway info --settings` shows every setting with its help.\n";
}

}  // namespace

int info_command(int argc, char** argv) {
  bool settings_only = false, as_json = false, as_markdown = false;
  CLI::App app("Shows version, machines, host, what was chosen and why, and every setting.", "causeway info");
  app.add_flag("-e,--settings", settings_only, "every environment variable with value, source and help");
  auto* const json_flag = app.add_flag("--json", as_json, "everything, as JSON");
  app.add_flag("--markdown", as_markdown, "the settings as a page of markdown")->excludes(json_flag);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "causeway info: {}; accepted are --settings, --json or --markdown, and --help\n", error.what());
    return 2;
  }

  const Facts facts = collect();
  if (as_json)
    fmt::print("{}", json(facts));
  else if (as_markdown)
    fmt::print("{}", settings_table(facts.settings, TableFormat::markdown));
  else if (settings_only)
    fmt::print("{}{}", settings_table(facts.settings, TableFormat::plain),
               problems_text(facts.settings).empty() ? "" : "\nProblems\n" + problems_text(facts.settings));
  else
    fmt::print("{}", plain(facts));
  for (const std::string& malformed : facts.settings.malformed)
    if (as_markdown) fmt::print(stderr, "causeway info: {}\n", malformed);
  return facts.settings.malformed.empty() ? 0 : 1;
}

}  // namespace causeway
