// The defaults of the interface, and the job of one PE.
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/bootstrap/flush_output.hpp>
#include <unistd.h>

#include <causeway/base/error.hpp>
#include <cstdio>

namespace causeway {

void Bootstrap::barrier(std::string_view step) { (void)allgather({}, step); }

int Bootstrap::node_of(int) const { return -1; }

std::vector<int> Bootstrap::lost_pes() const { return {}; }

std::string Bootstrap::loss() const { return {}; }

void Bootstrap::on_departure(Told) {}

void Bootstrap::break_off(const std::string&) {}

void Bootstrap::start_failed(const std::string&) {}

namespace {

class Alone final : public Bootstrap {
 public:
  [[nodiscard]] int pe() const override { return 0; }
  [[nodiscard]] int pes() const override { return 1; }
  std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine, std::string_view step) override {
    if (mine.size() > bytes_max)
      fail(Status::invalid_value, "step '{}': {} bytes to gather; at most {} are accepted", step, mine.size(),
           bytes_max);
    return {std::vector<std::byte>(mine.begin(), mine.end())};
  }
  void global_exit(int status) override {
    flush_output();
    ::_exit(status);
  }
};

}  // namespace

std::unique_ptr<Bootstrap> make_bootstrap_alone() { return std::make_unique<Alone>(); }

}  // namespace causeway
