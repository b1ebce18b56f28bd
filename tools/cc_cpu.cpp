// Builds for the CPU machine: preprocess, translate, compile with the host compiler, link with libcauseway_cpu.so.
#include <causeway/base/error.hpp>
#include <causeway/emulator/translate/translate.hpp>
#include <tools/cc_build.hpp>
#include <tools/cc_paths.hpp>
#include <tools/cc_process.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace causeway::cc {
namespace {

namespace fs = std::filesystem;

void append(Command& command, const std::vector<std::string>& more) {
  command.insert(command.end(), more.begin(), more.end());
}

// The stand-in headers need C++20; an older standard is raised to it.
std::string standard_flag(const std::string& wanted) {
  const auto is_old = [&](std::string_view version) { return wanted.ends_with(version); };
  const bool raise = wanted.empty() || is_old("++03") || is_old("++98") || is_old("++11") || is_old("++0x") ||
                     is_old("++14") || is_old("++1y") || is_old("++17") || is_old("++1z");
  if (raise) return wanted.starts_with("gnu") ? "-std=gnu++20" : "-std=c++20";
  return "-std=" + wanted;
}

class CpuBuild {
 public:
  explicit CpuBuild(const Options& options)
      : options_(options), prefix_(installation()), compiler_(host_compiler(options.host_compiler)) {
    require_headers(prefix_);
  }

  int run() {
    if (options_.stage == Stage::device_link) return write_empty_object();
    objects_.resize(options_.inputs.size());
    for (std::size_t i = 0; i < options_.inputs.size(); ++i) {
      const Input& input = options_.inputs[i];
      if (input.language == Language::object) {
        objects_[i] = input.path;
        continue;
      }
      if (options_.stage == Stage::link)
        objects_[i] = temporary_.file(std::to_string(i) + ".o").string();
      else
        objects_[i] = output_of(input.path);
      const int status = input.language == Language::cuda ? cuda_source(i) : host_source(i);
      if (status != 0) return status;
    }
    return options_.stage == Stage::link ? link() : 0;
  }

 private:
  // The file that a stage before the linker writes; empty: standard output.
  [[nodiscard]] std::string output_of(const std::string& source) const {
    if (!options_.output.empty()) return options_.output;
    return options_.stage == Stage::compile ? fs::path(source).filename().replace_extension(".o").string() : "";
  }

  int execute(const Command& command) const { return cc::run(command, options_.verbose); }

  // Directories with headers of a real CUDA or NVSHMEM are left out: they would be found before ours.
  void append_preprocessor_flags(Command& command) const {
    const auto& flags = options_.preprocess;
    for (std::size_t i = 0; i < flags.size(); ++i) {
      const bool separate = flags[i] == "-isystem" || flags[i] == "-idirafter" || flags[i] == "-iquote";
      const bool has_value = separate && i + 1 < flags.size();
      const std::string directory = has_value ? flags[i + 1] : flags[i].starts_with("-I") ? flags[i].substr(2) : "";
      if (!directory.empty() && hides_our_headers(directory)) {
        i += has_value ? 1 : 0;
        continue;
      }
      command.push_back(flags[i]);
      if (has_value) command.push_back(flags[++i]);
    }
    append(command, {"-isystem", emulator_headers(prefix_).string()});
    for (const fs::path& directory : include_directories(prefix_)) append(command, {"-isystem", directory.string()});
  }

  // Dependencies must name the object that the user gets, not what the preprocessor writes.
  void append_dependency_flags(Command& command, std::size_t i) const {
    if (!options_.writes_dependencies && options_.stage != Stage::dependencies) return;
    const fs::path source = options_.inputs[i].path;
    const std::string object = !options_.output.empty() && options_.stage != Stage::dependencies
                                   ? options_.output
                                   : source.filename().replace_extension(".o").string();
    if (!options_.has_dependency_target) append(command, {"-MT", object});
    if (options_.writes_dependencies && !options_.has_dependency_file)
      append(command, {"-MF", fs::path(object).replace_extension(".d").string()});
  }

  [[nodiscard]] Command preprocessor(std::size_t i, bool cuda) const {
    Command command = {compiler_};
    if (options_.inputs[i].language != Language::c) command.push_back(standard_flag(options_.standard));
    if (cuda) append(command, {"-DCAUSEWAY_CPU=1", "-D__CUDACC__=1"});
    append(command, options_.compile);
    append_preprocessor_flags(command);
    append_dependency_flags(command, i);
    if (cuda) append(command, {"-include", "cuda_runtime.h"});
    append(command, {"-x", options_.inputs[i].language == Language::c ? "c" : "c++", options_.inputs[i].path});
    return command;
  }

  int cuda_source(std::size_t i) {
    Command command = preprocessor(i, true);
    if (options_.stage == Stage::dependencies) {
      if (!objects_[i].empty()) append(command, {"-o", objects_[i]});
      return execute(command);
    }
    const fs::path preprocessed = intermediate(i, ".preprocessed.ii"), translated = intermediate(i, ".translated.ii");
    append(command, {"-E", "-o", preprocessed.string()});
    if (const int status = execute(command); status != 0) return status;
    std::string text;
    try {
      text = translate::translate(read_file(preprocessed), {.ticks = options_.ticks});
    } catch (const translate::TranslateError& error) {
      fmt::print(stderr, "{}:{}: error: {}\n", error.file(), error.line(), error.what());
      return 1;
    }
    if (options_.stage == Stage::preprocess) {
      if (objects_[i].empty())
        fmt::print("{}", text);
      else
        write_file(objects_[i], text);
      return 0;
    }
    write_file(translated, text);
    return compile_translated(translated, objects_[i]);
  }

  int compile_translated(const fs::path& translated, const std::string& object) {
    // Device code reads memory as other types than it was written as (vector loads, atomics): nvcc lets it.
    Command command = {compiler_, standard_flag(options_.standard), "-fPIC", "-fno-strict-aliasing"};
    // A unique symbol would be one for all PEs that are loaded into a process as copies of the program.
    if (!is_clang()) command.emplace_back("-fno-gnu-unique");
    if (!options_.warnings) command.emplace_back("-w");
    append(command, options_.compile);
    append(command, {"-x", "c++-cpp-output", "-c", translated.string(), "-o", object});
    return execute(command);
  }

  int host_source(std::size_t i) {
    Command command = preprocessor(i, false);
    if (options_.stage == Stage::preprocess) command.emplace_back("-E");
    if (options_.stage == Stage::compile || options_.stage == Stage::link) {
      append(command, {"-fPIC", "-c"});
      if (!is_clang()) command.emplace_back("-fno-gnu-unique");
    }
    if (!objects_[i].empty()) append(command, {"-o", objects_[i]});
    return execute(command);
  }

  int link() {
    const fs::path library = prefix_ / "lib";
    if (!is_file(library / "libcauseway_cpu.so"))
      fail(Status::invalid_value, "cannot link for the CPU machine: there is no libcauseway_cpu.so in {}",
           library.string());
    const std::string output = options_.output.empty() ? "a.out" : options_.output;
    if (const int status = execute(linker(output, options_.shared)); status != 0) return status;
    const fs::path threads_object = output + ".pe.so";
    if (options_.shared || !options_.threads_object) return 0;
    // What one build leaves must not be taken for the next one's.
    std::error_code ignored;
    fs::remove(threads_object, ignored);
    const fs::path messages = temporary_.file("messages");
    if (cc::run(linker(threads_object.string(), true), options_.verbose, {{}, messages}) != 0) {
      const std::string text = read_file(messages);
      fmt::print(stderr,
                 "causeway cc: note: {} is not written, so {} runs its PEs as processes only (objects from other "
                 "compilers need -fPIC): {}\n",
                 threads_object.string(), output, text.substr(0, text.find('\n')));
    }
    return 0;
  }

  [[nodiscard]] Command linker(const std::string& output, bool shared) const {
    const std::string library = (prefix_ / "lib").string();
    Command command = {compiler_};
    append(command, options_.compile);
    // Each copy of the program must use its own variables, whatever else is loaded.
    if (shared) append(command, {"-shared", "-Wl,-Bsymbolic"});
    for (const LinkItem& item : options_.link) command.push_back(item.input ? objects_[*item.input] : item.flag);
    append(command, {"-L" + library, "-lcauseway_cpu", "-Wl,-rpath," + library, "-o", output});
    return command;
  }

  // A device link has nothing to do here, but a build that runs it wants its object.
  int write_empty_object() {
    const fs::path source = temporary_.file("empty.cpp");
    write_file(source, "");
    return execute(
        {compiler_, "-fPIC", "-c", source.string(), "-o", options_.output.empty() ? "a_dlink.o" : options_.output});
  }

  [[nodiscard]] fs::path intermediate(std::size_t i, const std::string& suffix) const {
    if (options_.keep) return fs::path(options_.inputs[i].path).stem().string() + suffix;
    return temporary_.file(std::to_string(i) + suffix);
  }

  bool is_clang() {
    if (!is_clang_) {
      const fs::path version = temporary_.file("version");
      cc::run({compiler_, "--version"}, false, {version, {}});
      is_clang_ = read_file(version).find("clang") != std::string::npos;
    }
    return *is_clang_;
  }

  const Options& options_;
  fs::path prefix_;
  std::string compiler_;
  TemporaryDirectory temporary_;
  std::vector<std::string> objects_;  // by input
  std::optional<bool> is_clang_;
};

}  // namespace

int build_for_cpu(const Options& options) { return CpuBuild(options).run(); }

}  // namespace causeway::cc
