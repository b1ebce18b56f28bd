// See translate_harness.hpp. The runtime below runs the threads of a launch one after the other.
#include "translate_harness.hpp"

#include <causeway/emulator/translate/translate.hpp>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace causeway::translate::test {
namespace {

constexpr std::string_view runtime = R"cpp(
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <utility>
  struct uint3 {
    unsigned x, y, z;
  };
  struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  };
  using cudaStream_t = struct Stream*;
  namespace causeway::emulator {
  inline bool pending = false;
  inline dim3 grid, block;
  inline std::size_t shared_bytes = 0;
  inline int ticks = 0;
  inline uint3 thread{}, block_of_thread{};
  inline void configure(dim3 g, dim3 b, std::size_t shared = 0, cudaStream_t = nullptr) {
    grid = g, block = b, shared_bytes = shared, pending = true;
  }
  inline void tick() { ++ticks; }
  inline uint3 thread_index() { return thread; }
  inline uint3 block_index() { return block_of_thread; }
  inline dim3 block_dim() { return block; }
  inline dim3 grid_dim() { return grid; }
  template <class F>
  void enter(F f) {
    if (!pending) return f();
    pending = false;
    for (block_of_thread = {}; block_of_thread.x < grid.x; ++block_of_thread.x)
      for (thread = {}; thread.x < block.x; ++thread.x) {
        F mine(f);
        mine();
      }
  }
  template <class T>
  T& shared_slot() {
    alignas(64) static unsigned char slot[sizeof(T)];
    return *reinterpret_cast<T*>(slot);
  }
  alignas(64) inline unsigned char memory[4096];
  template <class T>
  auto dynamic_shared() -> T (&)[] {
    using Array = T[];
    return *reinterpret_cast<Array*>(memory);
  }
  struct Known {
    const void* address;
    void (*call)(const void*, void**);
  };
  inline Known known[64];
  inline int known_count = 0;
  template <class... P, std::size_t... I>
  void call_with(void (*f)(P...), void** a, std::index_sequence<I...>) {
    f(*static_cast<std::remove_reference_t<P>*>(a[I])...);
  }
  template <class... P>
  auto kernel_handle(void (*f)(P...)) -> void (*)(P...) {
    known[known_count++] = {(const void*)f, [](const void* address, void** a) {
                              call_with((void (*)(P...))address, a, std::index_sequence_for<P...>{});
                            }};
    return f;
  }
  template <class T, std::enable_if_t<!std::is_function_v<std::remove_pointer_t<std::decay_t<T>>>, int> = 0>
  constexpr T&& kernel_handle(T&& value) {
    return static_cast<T&&>(value);
  }
  }  // namespace causeway::emulator
  // Returns false if the address was never registered.
  inline bool launch_by_address(const void* address, dim3 grid, dim3 block, void** arguments) {
    namespace e = causeway::emulator;
    for (int i = 0; i < e::known_count; ++i)
      if (e::known[i].address == address) {
        e::configure(grid, block);
        e::known[i].call(address, arguments);
        return true;
      }
    return false;
  }
  inline int ticks_so_far() { return causeway::emulator::ticks; }
)cpp";

class Directory {
 public:
  Directory() {
    std::string path = (std::filesystem::temp_directory_path() / "causeway-translate-").string() + std::string(6, 'X');
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = path;
    std::filesystem::create_directory(path_ / "system");
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  // Runs a shell command in the directory; its messages are in the file "log".
  [[nodiscard]] bool run(const std::string& command) const {
    return std::system(("cd '" + path_.string() + "' && { " + command + "; } 2>log").c_str()) == 0;
  }

 private:
  std::filesystem::path path_;
};

std::string preprocess_in(const Directory& directory, std::string_view source, const std::string& compiler) {
  directory.write("system/cuda_runtime.h", runtime);
  directory.write("program.cu", source);
  const std::string flags = " -std=c++20 -x c++ -isystem system -include cuda_runtime.h -E program.cu -o program.ii";
  EXPECT_TRUE(directory.run(compiler + flags)) << directory.read("log");
  return directory.read("program.ii");
}

// Compiles with the flags given; returns whether that worked and shows messages and translation if not.
bool compile(const Directory& directory, std::string_view program, const std::string& compiler,
             const std::string& flags) {
  const std::string text = translated(preprocess_in(directory, program, compiler));
  directory.write("translated.ii", text);
  const bool done = directory.run(compiler + " -std=c++20 -w -x c++-cpp-output translated.ii " + flags);
  EXPECT_TRUE(done) << directory.read("log") << text.substr(text.rfind("\n# 1 \"program.cu\"") + 1);
  return done;
}

}  // namespace

std::string translated(std::string_view source, bool ticks) {
  std::string text = translate(source, {.ticks = ticks});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(source.begin(), source.end(), '\n')) << text;
  return text;
}

std::string output_of(std::string_view program) {
  const Directory directory;
  static const bool has_clang = std::system("clang++ --version >/dev/null 2>&1") == 0;
  if (has_clang) compile(directory, program, "clang++", "-fsyntax-only");
  if (!compile(directory, program, "g++", "-o program")) return "";
  EXPECT_TRUE(directory.run("./program >output")) << "the program failed\n" << directory.read("output");
  return directory.read("output");
}

std::string error_of(std::string_view source) {
  try {
    translate(source);
    return "none";
  } catch (const TranslateError& error) {
    return error.file() + ":" + std::to_string(error.line()) + ": " + error.what();
  }
}

std::string preprocessed(std::string_view source) { return preprocess_in(Directory(), source, "g++"); }

TEST(TranslateHarness, RunsAnOrdinaryProgram) { EXPECT_EQ(output_of("int main() { printf(\"alive\"); }"), "alive"); }

}  // namespace causeway::translate::test
