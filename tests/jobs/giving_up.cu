// Waits on many variables that never come, under CAUSEWAY_WAIT_TIMEOUT: the whole call ends with the first wait that is
// given up, and says so once, with all that is known. Prints FAIL lines.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

constexpr size_t kVariables = 5;
constexpr uint64_t kSeen = 3, kAwaited = 7;

enum Call { all, all_vector, any, some, calls };
const char* const kNames[calls] = {"nvshmem_uint64_wait_until_all", "nvshmem_uint64_wait_until_all_vector",
                                   "nvshmem_uint64_wait_until_any", "nvshmem_uint64_wait_until_some"};

struct Buffers {
  uint64_t* variables;  // symmetric
  int* status;          // of the device, as are the others
  uint64_t* values;
  size_t* indices;
};

__host__ __device__ void wait(int call, const Buffers& at) {
  if (call == all) nvshmem_uint64_wait_until_all(at.variables, kVariables, at.status, NVSHMEM_CMP_GE, kAwaited);
  if (call == all_vector)
    nvshmem_uint64_wait_until_all_vector(at.variables, kVariables, at.status, NVSHMEM_CMP_GE, at.values);
  if (call == any) nvshmem_uint64_wait_until_any(at.variables, kVariables, at.status, NVSHMEM_CMP_GE, kAwaited);
  if (call == some)
    nvshmem_uint64_wait_until_some(at.variables, kVariables, at.indices, at.status, NVSHMEM_CMP_GE, kAwaited);
}
__global__ void wait_in_kernel(int call, Buffers at) { wait(call, at); }

/// What is printed while it lives, by host and kernels.
class Said {
 public:
  Said() : file_(std::tmpfile()), out_(dup(1)), err_(dup(2)) {
    std::fflush(stdout), std::fflush(stderr);
    dup2(fileno(file_), 1), dup2(fileno(file_), 2);
  }
  std::string end() {
    std::fflush(stdout), std::fflush(stderr);
    dup2(out_, 1), dup2(err_, 2);
    close(out_), close(err_);
    std::string text;
    char bytes[4096];
    std::rewind(file_);
    for (size_t got; (got = std::fread(bytes, 1, sizeof bytes, file_)) > 0;) text.append(bytes, got);
    std::fclose(file_);
    return text;
  }

 private:
  std::FILE* file_;
  int out_, err_;
};

size_t times(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

/// `wait_now` waits for what does not come.
template <class Wait>
int expect_one_report(int call, const char* where, Wait&& wait_now) {
  Said said;
  wait_now();
  const std::string text = said.end(), end = " (peer -1): seen 3\n",
                    begin = std::string("gave up waiting in ") + kNames[call] + " >= 7 at heap offset 0x";
  if (times(text, "gave up") == 1 && times(text, begin) == 1 && times(text, end) == 1) return 0;
  std::fprintf(stderr, "FAIL %s: want once \"%s...%s\", got: %s\n", where, begin.c_str(), end.c_str(), text.c_str());
  return 1;
}

/// The next call says what the kernel has left.
int expect_record(int call) {
  Said said;
  const uint64_t before = causeway_error_count();
  const int status = nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, nullptr);
  const uint64_t errors = causeway_error_count() - before;
  said.end();
  const std::string text = causeway_last_error(), end = ", peer -1, expected 7, seen 3)",
                    begin = std::string(kNames[call]) + ": wait past its limit (PE 0, heap offset 0x";
  if (status != 0 && errors == 1 && times(text, begin) == 1 && times(text, end) == 1) return 0;
  std::fprintf(stderr, "FAIL record: status %d, %d errors, want once \"%s...%s\", got: %s\n", status, int(errors),
               begin.c_str(), end.c_str(), text.c_str());
  return 1;
}

template <class T>
T* on_device(const T (&values)[kVariables]) {
  void* memory = nullptr;
  cudaMalloc(&memory, sizeof values);
  cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}

}  // namespace

int main() {
  nvshmem_init();
  int status[kVariables] = {};
  uint64_t values[kVariables], seen[kVariables];
  size_t indices[kVariables] = {};
  for (size_t i = 0; i < kVariables; ++i) values[i] = kAwaited, seen[i] = kSeen;
  auto* variables = static_cast<uint64_t*>(nvshmem_malloc(sizeof seen));
  nvshmem_uint64_put(variables, seen, kVariables, nvshmem_my_pe());
  nvshmem_quiet();
  const Buffers host{variables, status, values, indices};
  const Buffers device{variables, on_device(status), on_device(values), on_device(indices)};
  int failed = 0;
  for (int call = 0; call < calls; ++call) {
    failed += expect_one_report(call, "kernel", [&] {
      wait_in_kernel<<<1, 1>>>(call, device);
      cudaDeviceSynchronize();
    });
    failed += expect_record(call);
    failed += expect_one_report(call, "host", [&] { wait(call, host); });
#ifdef CAUSEWAY_CPU  // there the host runs device code
    failed += expect_record(call);
#endif
  }
  for (void* memory : {(void*)device.status, (void*)device.values, (void*)device.indices}) cudaFree(memory);
  nvshmem_free(variables);
  nvshmem_finalize();
  return failed;
}
