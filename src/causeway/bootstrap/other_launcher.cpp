#include <causeway/bootstrap/other_launcher.hpp>
#include <fmt/format.h>

#include <cstdlib>

namespace causeway {
namespace {

/// What a launcher tells a process: its number, and how many there are. Without the second, a number above 0 says
/// enough.
struct Pair {
  const char *rank, *size;
};

constexpr Pair pairs[] = {
    {"PMI_RANK", "PMI_SIZE"},                          // MPICH, Intel MPI, Slurm
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},    // MVAPICH
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},            // MPICH, Intel MPI
    {"PMIX_RANK", nullptr},                            // PMIx
    {"PALS_RANKID", nullptr},                          // Cray
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},               // Flux
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},          // srun
    {"SLURM_PROCID", "SLURM_NTASKS"},                  // srun of old
    {"RANK", "WORLD_SIZE"},                            // torchrun
};

/// -1: no number.
long number_of(const char* text) {
  if (text == nullptr || *text == 0) return -1;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return *end == 0 ? number : -1;
}

}  // namespace

std::string signs_of_another_launcher(const std::function<const char*(const char*)>& get) {
  std::string seen;
  const char* settled = "";  // a rank whose size says one: a second name for it is not asked
  for (const auto& [rank_name, size_name] : pairs) {
    const long rank = number_of(get(rank_name)), size = size_name == nullptr ? -1 : number_of(get(size_name));
    if (rank < 0 || settled == std::string(rank_name)) continue;
    if (size >= 0) settled = rank_name;
    if (size >= 0 ? size < 2 : rank < 1 || size_name != nullptr) continue;
    seen += fmt::format("{}{}={}", seen.empty() ? "" : ", ", rank_name, rank);
    if (size >= 0) seen += fmt::format(", {}={}", size_name, size);
  }
  return seen;
}

}  // namespace causeway
