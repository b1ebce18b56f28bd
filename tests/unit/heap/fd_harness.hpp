// What the tests of the descriptor exchange share: PEs as threads that count as processes, and memory to pass.
#pragma once
#include "../bootstrap/jobs.hpp"

#include <causeway/base/error.hpp>
#include <causeway/heap/fd_exchange.hpp>
#include <causeway/heap/fd_socket.hpp>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <filesystem>

namespace causeway::test {

/// Collective: how many descriptors this process has while no PE does anything.
inline size_t open_descriptors(Bootstrap& bootstrap) {
  static std::atomic<size_t> count;
  bootstrap.barrier("counting descriptors");
  if (bootstrap.pe() == 0) count = size_t(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
  bootstrap.barrier("descriptors are counted");
  return count;
}

/// As if the PE had a process of its own, whose pid is that of the others.
inline ProcessIdentity process_of(int pe) {
  ProcessIdentity process{};
  process[0] = std::byte(pe + 1);
  return process;
}

/// A page that says `number`.
inline UniqueFd make_page(int number) {
  UniqueFd fd(memfd_create("page", MFD_CLOEXEC));
  if (!fd || ftruncate(fd.get(), 4096) != 0 || pwrite(fd.get(), &number, sizeof number, 0) != sizeof number)
    fail_errno("a page");
  return fd;
}
inline int number_in(const UniqueFd& page) {
  int number = -1;
  (void)!pread(page.get(), &number, sizeof number, 0);
  return number;
}

/// A bootstrap between whose gathers something happens: `meddle` sees what all gave before the PE does.
class Meddled final : public Bootstrap {
 public:
  using Gathered = std::vector<std::vector<std::byte>>;
  Meddled(std::unique_ptr<Bootstrap> there, std::function<void(Gathered&)> meddle)
      : there_(std::move(there)), meddle_(std::move(meddle)) {}
  int pe() const override { return there_->pe(); }
  int pes() const override { return there_->pes(); }
  Gathered allgather(std::span<const std::byte> mine, std::string_view step) override {
    Gathered all = there_->allgather(mine, step);
    if (all[0].size() == sizeof(FdCard)) meddle_(all);
    return all;
  }
  void global_exit(int status) override { there_->global_exit(status); }

 private:
  std::unique_ptr<Bootstrap> there_;
  std::function<void(Gathered&)> meddle_;
};

inline FdCard card_in(const std::vector<std::byte>& raw) {
  FdCard card;
  std::memcpy(&card, raw.data(), sizeof card);
  return card;
}

}  // namespace causeway::test
