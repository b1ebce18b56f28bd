#include <tools/cc_option_table.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace causeway::cc {
namespace {

using Value = const std::string&;

// Calls visit for each item of nvcc's comma lists: -Xcompiler -Wall,-fopenmp
template <class Visit>
void for_each_item(const std::string& list, Visit visit) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) visit(list.substr(begin, end - begin));
    begin = end + 1;
  }
}

bool is_replaced_library(std::string_view name) {
  constexpr std::array<std::string_view, 11> names = {"nvshmem",       "nvshmem_host", "nvshmem_device",  "cudart",
                                                      "cudart_static", "cuda",         "cudadevrt",       "causeway",
                                                      "causeway_cpu",  "nvidia-ml",    "cudadevrt_static"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

void ignore(Options&, Value) {}
void debug(Options& o, Value) { add_compile_flag(o, "-g"); }
void library(Options& o, Value v) {
  if (!is_replaced_library(v)) o.link.push_back({{}, "-l" + v});
}
void library_path(Options& o, Value v) { o.link.push_back({{}, "-L" + v}); }
void linker_options(Options& o, Value v) {
  for_each_item(v, [&](const std::string& item) {
    o.link.push_back({{}, "-Xlinker"});
    o.link.push_back({{}, item});
  });
}
void compiler_options(Options& o, Value v) {
  for_each_item(v, [&](const std::string& item) { add_compile_flag(o, item); });
}
void architecture(Options& o, Value) { o.has_architecture = true; }
void compile_only(Options& o, Value) { o.stage = Stage::compile; }
void dependencies_only(Options& o, const char* flag) {
  o.stage = Stage::dependencies;
  o.preprocess.emplace_back(flag);
}

template <char Letter>
void glued(Options& o, Value v) {
  o.preprocess.push_back(std::string{'-', Letter} + v);
}

void separate(Options& o, const char* flag, Value v) {
  o.preprocess.emplace_back(flag);
  o.preprocess.push_back(v);
}

constexpr OptionRow rows[] = {
    // causeway's own
    {"machine", Takes::value, [](Options& o, Value v) { o.machine = parse_machine("--machine", v); }, true},
    {"no-threads-object", Takes::nothing, [](Options& o, Value) { o.threads_object = false; }, true},
    {"no-ticks", Takes::nothing, [](Options& o, Value) { o.ticks = false; }, true},
    // what to do
    {"help", Takes::nothing, [](Options& o, Value) { o.help = true; }},
    {"h", Takes::nothing, [](Options& o, Value) { o.help = true; }},
    {"o", Takes::value, [](Options& o, Value v) { o.output = v; }},
    {"output-file", Takes::value, [](Options& o, Value v) { o.output = v; }},
    {"c", Takes::nothing, compile_only},
    {"compile", Takes::nothing, compile_only},
    {"dc", Takes::nothing, compile_only},
    {"device-c", Takes::nothing, compile_only},
    {"dlink", Takes::nothing, [](Options& o, Value) { o.stage = Stage::device_link; }},
    {"device-link", Takes::nothing, [](Options& o, Value) { o.stage = Stage::device_link; }},
    {"E", Takes::nothing, [](Options& o, Value) { o.stage = Stage::preprocess; }},
    {"preprocess", Takes::nothing, [](Options& o, Value) { o.stage = Stage::preprocess; }},
    {"shared", Takes::nothing, [](Options& o, Value) { o.shared = true; }},
    {"keep", Takes::nothing, [](Options& o, Value) { o.keep = true; }},
    {"v", Takes::nothing, [](Options& o, Value) { o.verbose = true; }},
    {"verbose", Takes::nothing, [](Options& o, Value) { o.verbose = true; }},
    {"x", Takes::value, ignore},  // the parser sets the language
    {"std", Takes::value, [](Options& o, Value v) { o.standard = v; }},
    {"ccbin", Takes::value, [](Options& o, Value v) { o.host_compiler = v; }},
    {"compiler-bindir", Takes::value, [](Options& o, Value v) { o.host_compiler = v; }},
    // the preprocessor
    {"I", Takes::glued_value, glued<'I'>},
    {"include-path", Takes::value, glued<'I'>},
    {"D", Takes::glued_value, glued<'D'>},
    {"define-macro", Takes::value, glued<'D'>},
    {"U", Takes::glued_value, glued<'U'>},
    {"undefine-macro", Takes::value, glued<'U'>},
    {"isystem", Takes::value, [](Options& o, Value v) { separate(o, "-isystem", v); }},
    {"system-include", Takes::value, [](Options& o, Value v) { separate(o, "-isystem", v); }},
    {"iquote", Takes::value, [](Options& o, Value v) { separate(o, "-iquote", v); }},
    {"idirafter", Takes::value, [](Options& o, Value v) { separate(o, "-idirafter", v); }},
    {"include", Takes::value, [](Options& o, Value v) { separate(o, "-include", v); }},
    {"pre-include", Takes::value, [](Options& o, Value v) { separate(o, "-include", v); }},
    {"M", Takes::nothing, [](Options& o, Value) { dependencies_only(o, "-M"); }},
    {"MM", Takes::nothing, [](Options& o, Value) { dependencies_only(o, "-MM"); }},
    {"MD", Takes::nothing, [](Options& o, Value) { o.writes_dependencies = true, o.preprocess.emplace_back("-MD"); }},
    {"MMD", Takes::nothing, [](Options& o, Value) { o.writes_dependencies = true, o.preprocess.emplace_back("-MMD"); }},
    {"MP", Takes::nothing, [](Options& o, Value) { o.preprocess.emplace_back("-MP"); }},
    {"MG", Takes::nothing, [](Options& o, Value) { o.preprocess.emplace_back("-MG"); }},
    {"MF", Takes::value, [](Options& o, Value v) { o.has_dependency_file = true, separate(o, "-MF", v); }},
    {"MT", Takes::value, [](Options& o, Value v) { o.has_dependency_target = true, separate(o, "-MT", v); }},
    {"MQ", Takes::value, [](Options& o, Value v) { o.has_dependency_target = true, separate(o, "-MQ", v); }},
    // the compiler
    {"O", Takes::glued_value, [](Options& o, Value v) { add_compile_flag(o, "-O" + v); }},
    {"optimize", Takes::value, [](Options& o, Value v) { add_compile_flag(o, "-O" + v); }},
    {"debug", Takes::nothing, debug},
    {"G", Takes::nothing, debug},
    {"device-debug", Takes::nothing, debug},
    {"Xcompiler", Takes::value, compiler_options},
    {"compiler-options", Takes::value, compiler_options},
    // the linker
    {"l", Takes::glued_value, library},
    {"library", Takes::value, library},
    {"L", Takes::glued_value, library_path},
    {"library-path", Takes::value, library_path},
    {"Xlinker", Takes::value, linker_options},
    {"linker-options", Takes::value, linker_options},
    // about GPU code: nothing to do on a CPU
    {"arch", Takes::value, architecture},
    {"gpu-architecture", Takes::value, architecture},
    {"gencode", Takes::value, architecture},
    {"generate-code", Takes::value, architecture},
    {"code", Takes::value, ignore},
    {"gpu-code", Takes::value, ignore},
    {"rdc", Takes::value, ignore},
    {"relocatable-device-code", Takes::value, ignore},
    {"Xptxas", Takes::value, ignore},
    {"ptxas-options", Takes::value, ignore},
    {"Xcudafe", Takes::value, ignore},
    {"Xnvlink", Takes::value, ignore},
    {"nvlink-options", Takes::value, ignore},
    {"Xfatbin", Takes::value, ignore},
    {"fatbin-options", Takes::value, ignore},
    {"threads", Takes::value, ignore},
    {"t", Takes::value, ignore},
    {"maxrregcount", Takes::value, ignore},
    {"diag-suppress", Takes::value, ignore},
    {"diag-warn", Takes::value, ignore},
    {"diag-error", Takes::value, ignore},
    {"cudart", Takes::value, ignore},
    {"cudadevrt", Takes::value, ignore},
    {"default-stream", Takes::value, ignore},
    {"ftz", Takes::value, ignore},
    {"prec-div", Takes::value, ignore},
    {"prec-sqrt", Takes::value, ignore},
    {"fmad", Takes::value, ignore},
    {"use_fast_math", Takes::nothing, ignore},
    {"extended-lambda", Takes::nothing, ignore},
    {"lineinfo", Takes::nothing, ignore},
    {"generate-line-info", Takes::nothing, ignore},
    {"restrict", Takes::nothing, ignore},
    {"dlto", Takes::nothing, ignore},
    {"forward-unknown-to-host-compiler", Takes::nothing, ignore},
    {"forward-unknown-opts", Takes::nothing, ignore},
};

}  // namespace

const OptionRow* find_option(std::string_view name) {
  const auto* const row =
      std::find_if(std::begin(rows), std::end(rows), [&](const OptionRow& r) { return r.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

void add_compile_flag(Options& options, const std::string& flag) {
  const bool is_warning = flag.starts_with("-W") && !flag.starts_with("-Wno-") && !flag.starts_with("-Wa,") &&
                          !flag.starts_with("-Wp,") && flag.size() > 2;
  options.warnings |= is_warning || flag.starts_with("-pedantic");
  if (flag.starts_with("-Wl,")) {
    options.link.push_back({{}, flag});  // by way of -Xcompiler
  } else {
    options.compile.push_back(flag);
  }
}

bool is_replaced_library_file(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (!name.starts_with("lib") || name.ends_with(".o")) return false;
  return is_replaced_library(std::string_view(name).substr(3, name.find('.') - 3));
}

}  // namespace causeway::cc
