// A job that stays, or ends in one of several ways: staying [abort|exit|return]
#include <nvshmem.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  nvshmem_init();
  nvshmem_barrier_all();
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "abort" && nvshmem_my_pe() == 1) std::abort();
  if (way == "exit" && nvshmem_my_pe() == 1) _exit(3);
  while (way != "return") pause();
  nvshmem_finalize();
  return 0;
}
