#include <tools/run_options.hpp>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace causeway {
namespace {

template <class T>
T read_number(const char* option, const std::string& text, T min, T max, const char* what) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < min || value > max)
    throw RunError(2, fmt::format("{} {}: {} must be a whole number from {} to {}", option, text, what, min, max));
  return value;
}

double read_seconds(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !(value > 0) || value > 1e8)
    throw RunError(2,
                   fmt::format("--timeout {}: the limit must be a number of seconds above 0, such as 90 or 0.5", text));
  return value;
}

/// The options as text, before they are checked.
struct Texts {
  std::string pes, nodes, seed, gdb, timeout;
  bool no_mps = false;
};

void declare(CLI::App& app, Texts& texts, RunOptions& options) {
  app.add_option("-n,--np", texts.pes, "number of PEs")->type_name("N");
  app.add_option("--nodes", texts.nodes, "deal the PEs in blocks over this many emulated nodes")->type_name("K");
  app.add_flag("--threads", options.threads, "PEs are threads of one process (CPU machine)");
  app.add_option("--seed", texts.seed,
                 "replay the schedule of this seed, or of all seeds of a range such as "
                 "1-1000 until one fails (implies --threads)")
      ->type_name("S");
  app.add_option("--gdb", texts.gdb, "run this PE under gdb, with the terminal")->type_name("PE");
  app.add_flag("-l,--tag", options.tag, "print whole lines, each with the number of its PE before it");
  app.add_option("--timeout", texts.timeout, "end the job after this many seconds, with status 124")
      ->type_name("SECONDS");
  app.add_option("--env", options.environment, "a variable for the environment of the PEs; may be repeated")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_flag("--no-mps", texts.no_mps, "do not start MPS when PEs share a GPU");
  app.add_flag("--dry-run", options.dry_run, "print what would be started, and start nothing");
  app.add_flag("-v,--verbose", options.verbose, "print what is started");
  app.prefix_command();
}

void check(const Texts& texts, RunOptions& options) {
  if (texts.pes.empty()) throw RunError(2, "-n is missing: give the number of PEs, as in `causeway run -n 2 program`");
  options.pes = read_number("-n", texts.pes, 1, RunOptions::pes_max, "the number of PEs");
  if (!texts.nodes.empty())
    options.nodes = read_number("--nodes", texts.nodes, 1, options.pes, "the number of nodes (at most one per PE)");
  if (!texts.seed.empty()) {
    const std::size_t dash = texts.seed.find('-', 1);
    options.seed = read_number<std::uint64_t>("--seed", texts.seed.substr(0, dash), 0, UINT64_MAX, "the seed");
    if (dash != std::string::npos)
      options.seed_last = read_number<std::uint64_t>("--seed", texts.seed.substr(dash + 1), *options.seed,
                                                     UINT64_MAX - 1, "the last seed of the range");
    options.threads = true;
  }
  if (!texts.gdb.empty()) options.gdb_pe = read_number("--gdb", texts.gdb, 0, options.pes - 1, "the PE");
  if (options.gdb_pe && options.threads)
    throw RunError(2, fmt::format("--gdb {} with --threads: all PEs are in one process there; use `gdb --args causeway "
                                  "run --threads ...`",
                                  *options.gdb_pe));
  options.mps = !texts.no_mps;
  if (!texts.timeout.empty()) options.timeout_s = read_seconds(texts.timeout);
  for (const std::string& pair : options.environment)
    if (pair.find('=') == std::string::npos || pair.front() == '=')
      throw RunError(2, fmt::format("--env {}: accepted is NAME=VALUE", pair));
}

}  // namespace

std::optional<RunOptions> parse_run_options(int argc, const char* const* argv) {
  RunOptions options;
  Texts texts;
  CLI::App app("Starts a program as the PEs of a job: causeway run -n N [options] program [arguments]", "causeway run");
  declare(app, texts, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw RunError(2, fmt::format("{}; see `causeway run --help`", error.what()));
  }
  std::vector<std::string> rest = app.remaining();
  if (!rest.empty() && rest.front() == "--")
    rest.erase(rest.begin());  // ends the launcher's options
  else if (!rest.empty() && rest.front().size() > 1 && rest.front().front() == '-')
    throw RunError(2, fmt::format("{} is not an option of `causeway run`; see `causeway run --help`", rest.front()));
  check(texts, options);
  if (rest.empty() || rest.front().empty())
    throw RunError(2, "the program is missing, as in `causeway run -n 2 program`");
  options.program = rest.front();
  options.args.assign(rest.begin() + 1, rest.end());
  return options;
}

}  // namespace causeway
