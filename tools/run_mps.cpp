// The choice; see run_mps.hpp.
#include <causeway/base/numbers.hpp>
#include <tools/run_elf.hpp>
#include <tools/run_mps.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace causeway {

std::optional<int> mps_share(const MpsFacts& facts) {
  if (!facts.wanted || !facts.program_uses_gpus || facts.given || facts.gpus < 1 || facts.pes <= facts.gpus)
    return std::nullopt;
  const int pes_per_gpu = divided_up(facts.pes, facts.gpus);
  return std::max(1, 100 / pes_per_gpu);
}

int count_gpus(const std::vector<std::string>& device_names, const char* visible) {
  const auto is_gpu = [](const std::string& name) {
    return name.starts_with("nvidia") && name.size() > 6 &&
           name.find_first_not_of("0123456789", 6) == std::string::npos;
  };
  const auto present = static_cast<int>(std::count_if(device_names.begin(), device_names.end(), is_gpu));
  if (visible == nullptr) return present;
  // CUDA takes the entries up to the first that names no device: a number out of range or below 0, or an empty one.
  // Entries by UUID are taken to be right.
  int listed = 0;
  std::istringstream list(visible);
  for (std::string entry; std::getline(list, entry, ',');) {
    char* end = nullptr;
    const long number = std::strtol(entry.c_str(), &end, 10);
    const bool is_number = end != entry.c_str();
    if (entry.empty() || (is_number && (number < 0 || number >= present))) break;
    ++listed;
  }
  return std::min(listed, present);
}

MpsFacts look_for_gpus(const std::vector<std::string>& needed) {
  MpsFacts facts;
  facts.program_uses_gpus = needs_library(needed, "libcauseway.so");
  facts.given = std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr;
  std::error_code error;
  if (!std::filesystem::exists("/dev/nvidiactl", error)) return facts;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) names.push_back(entry.path().filename());
  facts.gpus = count_gpus(names, std::getenv("CUDA_VISIBLE_DEVICES"));
  return facts;
}

}  // namespace causeway
