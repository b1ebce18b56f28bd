#include <causeway/base/error.hpp>
#include <tools/run_folder.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdlib>
#include <filesystem>

namespace causeway {
namespace {

constexpr const char* prefix = "causeway-job-";
constexpr time_t young_s = 60;  // its maker may not hold the lock yet

void remove_left_ones(const std::filesystem::path& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const UniqueFd lock(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat what {};
    if (!lock || ::fstat(lock.get(), &what) != 0 || what.st_uid != ::geteuid()) continue;
    if (what.st_mtime + young_s > ::time(nullptr) || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

JobFolder::JobFolder(const std::string& parent) {
  remove_left_ones(parent);
  path_ = parent + "/" + prefix + "XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) fail_errno("making a folder for the files of the job in " + parent);
  lock_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_) (void)::flock(lock_.get(), LOCK_SH);
}

void JobFolder::remove() const {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace causeway
