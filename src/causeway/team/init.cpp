// Teams of any PEs, made by those alone (see teams.hpp): they meet in the memory of the PE that made the unique id,
// learn who they are, and then gather as the members of a team would.
#include <causeway/base/error.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/team/teams.hpp>

#include <algorithm>
#include <cstdint>

namespace causeway {
namespace {

constexpr const char* kCall = "nvshmemx_team_init";
constexpr int kPeShift = 40;  // of an id: the PE that made it, plus 1, above a count of the ids it made

/// Waits in host code, in words.
WaitInfo waits(const uint64_t* word, uint64_t expected, int peer) { return {kCall, peer, word, expected, "=="}; }

}  // namespace

uint64_t Teams::make_unique_id() { return uint64_t(world_.pe + 1) << kPeShift | ++unique_ids_; }

Members Teams::meet(uint64_t id, int size, int number) {
  const DeviceWorld& world = world_;
  const int maker = int(id >> kPeShift) - 1;
  // Each PE has its two words there, so nothing is shared: what it says, then the id, which makes it valid.
  uint64_t* there = at(world, meetings_, maker);
  const uint64_t mine = uint64_t(size) << 32 | uint64_t(number);
  machine_host::store_word(there + 2 * world_.pe, mine);
  machine_host::store_word(there + 2 * world_.pe + 1, id);
  std::vector<int> numbers;
  std::string problem;
  machine_host::wait_for(world, waits(meetings_, uint64_t(size), -1), [&](uint64_t& came) {
    numbers.assign(size_t(world_.pes), -1);
    came = 0;
    for (int pe = 0; pe < world_.pes; ++pe) {
      if (machine_host::load_word(there + 2 * pe + 1) != id) continue;
      const uint64_t said = machine_host::load_word(there + 2 * pe);
      if (int(said >> 32) != size && problem.empty())
        problem = fmt::format("npes is {} here and {} on PE {}", size, said >> 32, pe);
      numbers[size_t(pe)] = int(said & 0xffffffffu);
      ++came;
    }
    return !problem.empty() || came >= uint64_t(size);
  });
  if (!problem.empty()) fail(Status::symmetry, "{}", problem);
  return by_number(numbers, size);
}

Teams::Gather Teams::among_members(const Members& members, uint64_t id) {
  return [this, members, id, round = uint64_t{0}](const Words& mine) mutable {
    const DeviceWorld& world = world_;
    const size_t row = gather_words_ + 1;  // the words and the flag that makes them valid
    const auto row_of = [&](int sender) { return mail_ + (2 * size_t(sender) + round % 2) * row; };
    const uint64_t flag = id * 2 + round % 2;
    for (const int pe : members) {
      uint64_t* there = at(world, row_of(world_.pe), pe);
      machine_host::copy(there, mine.data(), mine.size() * sizeof(uint64_t));
      machine_host::store_word(there + gather_words_, flag);
    }
    std::vector<Words> gathered;
    for (const int pe : members) {
      uint64_t* here = row_of(pe);
      machine_host::wait_for(world, waits(here + gather_words_, flag, pe), [&](uint64_t& seen) {
        return (seen = machine_host::load_word(here + gather_words_)) == flag;
      });
      gathered.emplace_back(mine.size());
      machine_host::copy(gathered.back().data(), here, mine.size() * sizeof(uint64_t));
      machine_host::store_word(here + gather_words_, 0);  // read; the sender writes again only after the last barrier
    }
    ++round;
    return gathered;
  };
}

int Teams::init(const TeamConfig& config, int size, int number) {
  const uint64_t id = config.unique_id;
  const int maker = int(id >> kPeShift) - 1;
  if (id == 0 || maker < 0 || maker >= world_.pes)
    fail(Status::invalid_value,
         "config->uniqueid is {:#x}: must come from nvshmemx_team_get_uniqueid of a PE of this job", id);
  if (size < 1 || size > world_.pes)
    fail(Status::invalid_value, "npes is {}: must be 1 to the number of PEs {}", size, world_.pes);
  if (number < 0 || number >= size)
    fail(Status::invalid_value, "pe_idx_in_team is {}: must be 0 to npes less 1, {}", number, size - 1);
  if (failed_ids_.count(id))
    fail(Status::invalid_value, "config->uniqueid {:#x} has failed before: make a new one", id);
  // Everyone takes part in the gathers after it has read who is there. So behind them the words can go, and behind the
  // barrier the id may be used again. After a failure they stay, so that all of the PEs come to see it.
  Members members;
  int slot = -1;
  try {
    members = meet(id, size, number);
    slot = agree(among_members(members, id), {3, uint64_t(size)}, "", 1)[0];
  } catch (const Error&) {
    failed_ids_.insert(id);
    throw;
  }
  machine_host::store_word(at(world_, meetings_, maker) + 2 * world_.pe + 1, 0);
  install(slot, members, config);
  machine_host::barrier(world_, kCall, slot, false);
  return slot;
}

}  // namespace causeway
