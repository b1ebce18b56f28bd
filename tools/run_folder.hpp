// Folders for the files of a job.
#pragma once
#include <causeway/base/unique_fd.hpp>

#include <string>

namespace causeway {

/// A fresh private folder. It is not removed by itself: see Guardian. Making one removes those that earlier jobs of the
/// user have left because their guardians were killed, too.
class JobFolder {
 public:
  /// In the folder `parent`. Throws Error when none can be made.
  explicit JobFolder(const std::string& parent);
  [[nodiscard]] const std::string& path() const { return path_; }
  void remove() const;

 private:
  std::string path_;
  UniqueFd lock_;  // held while a process of the job lives; who gets it finds a folder that nobody uses
};

}  // namespace causeway
