// See cc_options.hpp. Options are rows of a table; nvcc's are taken with one dash or two.
#include <causeway/base/error.hpp>
#include <tools/cc_option_table.hpp>
#include <tools/cc_options.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace causeway::cc {
namespace {

// libx.so.1.2 is a library, too.
bool is_library(std::string_view name) {
  return name.ends_with(".o") || name.ends_with(".a") || name.ends_with(".so") || name.find(".so.") != name.npos;
}

Language language_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.ends_with(".cu")) return Language::cuda;
  for (const std::string_view suffix : {".cpp", ".cc", ".cxx", ".C"})
    if (name.ends_with(suffix)) return Language::cpp;
  if (name.ends_with(".c")) return Language::c;
  if (is_library(name)) return Language::object;
  fail(Status::invalid_value, "input file {}: unknown kind of file; accepted are {}", path, accepted_inputs);
}

class Parser {
 public:
  explicit Parser(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  Options run() {
    for (; at_ < arguments_.size(); ++at_) {
      const std::size_t first = at_;
      const std::string& argument = arguments_[at_];
      bool own = false;
      if (argument.size() < 2 || argument[0] != '-') {
        add_input(argument);
      } else {
        own = option(argument);
      }
      if (!own) options_.for_nvcc.insert(options_.for_nvcc.end(), position(first), position(at_ + 1));
    }
    return std::move(options_);
  }

 private:
  [[nodiscard]] std::vector<std::string>::iterator position(std::size_t i) {
    return arguments_.begin() + static_cast<std::ptrdiff_t>(std::min(i, arguments_.size()));
  }

  void add_input(const std::string& path) {
    if (options_.help) return;
    const Language language = options_language_ ? *options_language_ : language_of(path);
    if (language == Language::object && is_replaced_library_file(path)) return;
    options_.link.push_back({options_.inputs.size(), {}});
    options_.inputs.push_back({path, language});
  }

  std::string next_value(const std::string& option) {
    if (at_ + 1 >= arguments_.size()) fail(Status::invalid_value, "option {} needs a value: {} VALUE", option, option);
    return arguments_[++at_];
  }

  // Returns whether the option is causeway's own, so that nvcc must not see it.
  bool option(const std::string& argument) {
    const std::size_t dashes = argument.starts_with("--") ? 2 : 1;
    const std::string_view name = std::string_view(argument).substr(dashes);
    const std::size_t equals = name.find('=');
    if (const OptionRow* row = find_option(name.substr(0, equals))) {
      if (row->value == Takes::nothing && equals == name.npos) {
        row->apply(options_, {});
        return row->own;
      }
      if (row->value == Takes::value || (row->value == Takes::glued_value && name.size() == row->name.size())) {
        const bool glued = equals != name.npos && row->value == Takes::value;
        const std::string value = glued ? std::string(name.substr(equals + 1)) : next_value(argument);
        if (row->name == "x") set_language(value);
        row->apply(options_, value);
        return row->own;
      }
    }
    if (dashes == 1)
      if (const OptionRow* row = find_option(name.substr(0, 1)); row && row->value == Takes::glued_value) {
        row->apply(options_, std::string(name.substr(1)));
        return row->own;
      }
    other_option(argument, name);
    return false;
  }

  void set_language(const std::string& value) {
    if (value == "cu")
      options_language_ = Language::cuda;
    else if (value == "c++")
      options_language_ = Language::cpp;
    else if (value == "c")
      options_language_ = Language::c;
    else if (value == "none")
      options_language_.reset();
    else
      fail(Status::invalid_value, "-x {}: accepted are cu, c++, c and none", value);
  }

  void other_option(const std::string& argument, std::string_view name) {
    if (name.starts_with("expt-") || name.starts_with("Wno-deprecated-gpu")) return;
    if (argument.starts_with("-Wl,")) {
      options_.link.push_back({{}, argument});
      return;
    }
    // nvcc's -Werror takes the kind of warning as a value.
    constexpr std::array<std::string_view, 5> kinds = {"all-warnings", "cross-execution-space-call", "reorder",
                                                       "default-stream-launch", "ext-lambda-captures-this"};
    if (argument == "-Werror" && at_ + 1 < arguments_.size() &&
        std::find(kinds.begin(), kinds.end(), arguments_[at_ + 1]) != kinds.end())
      ++at_;
    add_compile_flag(options_, argument);
  }

  std::vector<std::string> arguments_;
  std::size_t at_ = 0;
  std::optional<Language> options_language_;
  Options options_;
};

}  // namespace

Options parse_options(std::vector<std::string> arguments) { return Parser(std::move(arguments)).run(); }

Machine parse_machine(std::string_view source, std::string_view value) {
  if (value == "cpu") return Machine::cpu;
  if (value == "cuda") return Machine::cuda;
  fail(Status::invalid_value, "{}={}: accepted are cpu and cuda", source, value);
}

std::size_t source_count(const Options& options) {
  return static_cast<std::size_t>(std::count_if(options.inputs.begin(), options.inputs.end(),
                                                [](const Input& input) { return input.language != Language::object; }));
}

std::string_view help() {
  return R"(Usage: causeway cc [options] file... [-o output]
Compiles CUDA programs that use NVSHMEM; takes nvcc's options.

  --machine cpu|cuda   what to build for: cpu runs kernels on the host, cuda uses nvcc. Default: $CAUSEWAY_MACHINE,
                       else cuda where nvcc and a GPU are present, else cpu
  -o FILE              output (default: a.out; with -c the source's name with .o)
  -c, -dc              compile only            -E          print the preprocessed (cpu: translated) text
  -shared              make a shared library   -M, -MM     print dependencies only
  -I -isystem -D -U -include -MD -MMD -MF -MT -MP           as the host compiler's
  -O... -g -std=... -W... -w -f... -m... -pthread           as the host compiler's
  -L -l -Wl,... -Xlinker A,B                                to the linker; NVSHMEM's and CUDA's libraries are replaced
  -Xcompiler A,B       options for the host compiler
  -x cu|c++|c|none     language of the files that follow
  -ccbin CXX           host compiler (default: $CXX, else g++, else clang++)
  --keep               keep the preprocessed and the translated text in the current directory
  -v, --verbose        show the commands
Only for the cpu machine:
  --no-threads-object  do not write OUTPUT.pe.so beside the program; it is what runs PEs as threads of one process
  --no-ticks           do not let waiting loops of kernels give way to other threads
nvcc's options about GPU code (-arch, -gencode, -rdc, --expt-..., -Xptxas, -lineinfo ...) are ignored for cpu.
Files: )"
         "CUDA sources (.cu, or any after -x cu), C++ and C sources (.cpp .cc .cxx .C .c), objects, libraries "
         "(.o .a .so)\n";
}

}  // namespace causeway::cc
