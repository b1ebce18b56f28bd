// See cc.hpp: reads the command line, chooses the machine, and leaves the rest to cc_cpu.cpp or cc_cuda.cpp.
#include <causeway/base/error.hpp>
#include <causeway/config/settings.hpp>
#include <tools/cc.hpp>
#include <tools/cc_build.hpp>
#include <tools/cc_options.hpp>
#include <tools/cc_paths.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace causeway {
namespace {

cc::Machine machine_for(const cc::Options& options) {
  if (options.machine) return *options.machine;
  const Settings settings = inspect_settings(process_environment());
  for (const std::string& problem : settings.malformed)
    if (problem.starts_with("CAUSEWAY_MACHINE=")) fail(Status::invalid_value, "{}", problem);
  if (!settings.machine.empty()) return settings.machine == "cuda" ? cc::Machine::cuda : cc::Machine::cpu;
  return cc::has_gpu() && cc::find_nvcc() ? cc::Machine::cuda : cc::Machine::cpu;
}

void check_inputs(const cc::Options& options) {
  if (options.inputs.empty()) fail(Status::invalid_value, "no input file; accepted are {}", cc::accepted_inputs);
  for (const cc::Input& input : options.inputs)
    if (!cc::is_file(input.path)) fail(Status::invalid_value, "input file {}: no such file", input.path);
  if (options.stage != cc::Stage::link && !options.output.empty() && cc::source_count(options) > 1)
    fail(Status::invalid_value, "-o {} names one output, but there are {} source files; give -o with one source file",
         options.output, cc::source_count(options));
}

}  // namespace

int cc_command(int argc, char** argv) {
  try {
    const cc::Options options = cc::parse_options({argv + 1, argv + argc});
    if (options.help) {
      fmt::print("{}", cc::help());
      return 0;
    }
    check_inputs(options);
    return machine_for(options) == cc::Machine::cuda ? cc::build_for_cuda(options) : cc::build_for_cpu(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "causeway cc: error: {}\n", error.what());
    return 1;
  }
}

}  // namespace causeway
