// The command line of `causeway cc`.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::cc {

enum class Machine { cpu, cuda };
enum class Stage { preprocess, compile, link, dependencies, device_link };
enum class Language { cuda, cpp, c, object };

struct Input {
  std::string path;
  Language language;
};

/// What the linker is given, in the order of the command line: an input by index, or a flag.
struct LinkItem {
  std::optional<std::size_t> input;
  std::string flag;
};

struct Options {
  std::vector<Input> inputs;
  std::string output;
  Stage stage = Stage::link;
  std::optional<Machine> machine;
  std::string standard;                 ///< what -std says: "c++17"
  std::string host_compiler;            ///< -ccbin
  std::vector<std::string> preprocess;  ///< -I, -D, -include, -MD ...
  std::vector<std::string> compile;     ///< -O2, -g, -f..., and whatever nvcc does not know
  std::vector<LinkItem> link;
  bool shared = false;
  bool threads_object = true;
  bool ticks = true;
  bool keep = false;
  bool verbose = false;
  bool warnings = false;
  bool help = false;
  bool has_architecture = false;
  bool has_dependency_target = false;  ///< -MT or -MQ
  bool has_dependency_file = false;    ///< -MF
  bool writes_dependencies = false;    ///< -MD or -MMD
  std::vector<std::string> for_nvcc;   ///< the command line without causeway's own options
};

/// Throws causeway::Error for an option without its value and for an input of unknown kind.
Options parse_options(std::vector<std::string> arguments);

/// "cpu" or "cuda"; `source` is where the value came from, for the error.
Machine parse_machine(std::string_view source, std::string_view value);

std::size_t source_count(const Options& options);

std::string_view help();

inline constexpr std::string_view accepted_inputs =
    "CUDA sources (.cu, or any file after -x cu), C++ and C sources (.cpp .cc .cxx .C .c), objects and libraries "
    "(.o .a .so)";

}  // namespace causeway::cc
