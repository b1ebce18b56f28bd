#include <causeway/base/error.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/team/teams.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace causeway {
namespace {

constexpr size_t kLine = kInboxLineWords * sizeof(uint64_t);
constexpr size_t kArgumentsMax = 8;  // words of arguments that are compared

size_t words_for(int teams) { return (size_t(teams) + 63) / 64; }

}  // namespace

Teams::Teams(const DeviceWorld& world, const Placement& placement, Bootstrap& bootstrap, Heap& heap, int teams_max)
    : world_(world), bootstrap_(bootstrap) {
  const size_t slots = size_t(std::max(teams_max, kPredefinedTeams)), pes = size_t(world.pes);
  slots_.resize(slots);
  gather_words_ = kArgumentsMax + words_for(int(slots));
  const auto take = [&](size_t bytes) { return static_cast<char*>(heap.allocate(bytes, 512, "the team table")); };
  const auto take_zeroed = [&](size_t bytes) {
    char* address = take(bytes);
    machine_host::zero(address, bytes);
    return address;
  };
  // What is for a team is touched when there is one: on the CPU machine, memory comes with the touch.
  table_ = reinterpret_cast<TeamView*>(take(2 * slots * sizeof(TeamView)));
  inboxes_ = take(2 * slots * pes * kLine);
  epochs_ = take(2 * slots * kLine);
  lists_ = reinterpret_cast<int32_t*>(take(slots * 2 * pes * sizeof(int32_t)));
  scratch_ = take(gather_words_ * sizeof(uint64_t) * (pes + 1));
  meetings_ = reinterpret_cast<uint64_t*>(take_zeroed(pes * 2 * sizeof(uint64_t)));
  mail_ = reinterpret_cast<uint64_t*>(take_zeroed(pes * 2 * (gather_words_ + 1) * sizeof(uint64_t)));
  const std::vector<TeamView> none(2 * slots);
  machine_host::copy(table_, none.data(), none.size() * sizeof(TeamView));
  for (int number = 0; number < kPredefinedTeams; ++number) clear(number);
  bootstrap.barrier("clearing team tables");

  for (int number = 0; number < kPredefinedTeams; ++number) {
    const Members members = predefined_team(placement, world.pe, number);
    if (!members.empty()) install(number, members, {});
  }
}

const TeamView* Teams::find(int team) const {
  if (team < 0 || team >= teams_max() || slots_[size_t(team)].view.pe < 0) return nullptr;
  return &slots_[size_t(team)].view;
}

void Teams::write_views(int slot, const TeamView& device, const TeamView& host) {
  slots_[size_t(slot)].view = device;
  machine_host::copy(table_ + slot, &device, sizeof device);
  machine_host::copy(table_ + teams_max() + slot, &host, sizeof host);
}

uint64_t* Teams::inbox(int channel_slot) const {
  return reinterpret_cast<uint64_t*>(inboxes_ + size_t(channel_slot) * size_t(world_.pes) * kLine);
}

uint64_t* Teams::epoch(int channel_slot) const {
  return reinterpret_cast<uint64_t*>(epochs_ + size_t(channel_slot) * kLine);
}

void Teams::clear(int slot) {
  if (slots_[size_t(slot)].cleared) return;
  for (const int channel_slot : {slot, teams_max() + slot}) {
    machine_host::zero(inbox(channel_slot), size_t(world_.pes) * kLine);
    machine_host::zero(epoch(channel_slot), kLine);
  }
  slots_[size_t(slot)].cleared = true;
}

int32_t* Teams::member_list(int slot) const { return lists_ + size_t(slot) * 2 * size_t(world_.pes); }

int Teams::install(int slot, const Members& members, const TeamConfig& config) {
  const int number = number_of(members, world_.pe);
  if (number < 0) return -1;
  TeamView device{number, int(members.size()), members[0], 1, inbox(slot), epoch(slot), nullptr};
  if (evenly_spaced(members)) {
    if (members.size() > 1) device.stride = members[1] - members[0];
  } else {
    std::vector<int32_t> list(members.begin(), members.end());
    for (int pe = 0; pe < world_.pes; ++pe) list.push_back(number_of(members, pe));
    machine_host::copy(member_list(slot), list.data(), list.size() * sizeof(int32_t));
    device.members = member_list(slot);
  }
  TeamView host = device;
  host.inbox = inbox(teams_max() + slot);
  host.epoch = epoch(teams_max() + slot);
  slots_[size_t(slot)].members = members;
  slots_[size_t(slot)].config = config;
  write_views(slot, device, host);
  return slot;
}

// ---------------------------------------------------------------- agreement

Teams::Gather Teams::among_team(int team, const char* call) {
  return [this, team, call](const Words& mine) {
    const size_t bytes = mine.size() * sizeof(uint64_t), members = slots_[size_t(team)].members.size();
    char* all = scratch_ + gather_words_ * sizeof(uint64_t);
    machine_host::copy(scratch_, mine.data(), bytes);
    machine_host::fcollect(world_, call, team, all, scratch_, bytes);
    for (const int lost : bootstrap_.lost_pes())  // then nothing has moved
      if (number_of(slots_[size_t(team)].members, lost) >= 0)
        fail(Status::internal, "PE {}, a member of team {}, has ended", lost, team);
    std::vector<Words> gathered(members, Words(mine.size()));
    for (size_t i = 0; i < members; ++i) machine_host::copy(gathered[i].data(), all + i * bytes, bytes);
    return gathered;
  };
}

std::vector<int> Teams::agree(const Gather& gather, const Words& arguments, const std::string& wrong, int wanted) {
  Words mine = arguments;
  mine.resize(kArgumentsMax - 1);
  mine.push_back(wrong.empty() ? 0 : 1);
  mine.resize(gather_words_);
  for (int slot = kPredefinedTeams; slot < teams_max(); ++slot)
    if (slots_[size_t(slot)].view.pe < 0) mine[kArgumentsMax + size_t(slot) / 64] |= uint64_t{1} << (slot % 64);
  const auto all = gather(mine);
  if (!wrong.empty()) fail(Status::invalid_value, "{}", wrong);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i][kArgumentsMax - 1]) fail(Status::invalid_value, "member {} called it with bad arguments", i);
    if (!std::equal(all[i].begin(), all[i].begin() + kArgumentsMax, all[0].begin()))
      fail(Status::symmetry, "members 0 and {} called it with different arguments", i);
    for (size_t word = kArgumentsMax; word < mine.size(); ++word) mine[word] &= all[i][word];
  }
  std::vector<int> found;
  for (int slot = kPredefinedTeams; slot < teams_max() && int(found.size()) < wanted; ++slot)
    if (mine[kArgumentsMax + size_t(slot) / 64] >> (slot % 64) & 1) found.push_back(slot);
  if (int(found.size()) < wanted)
    fail(Status::out_of_memory, "too few of the {} team slots are free on all PEs that take part (NVSHMEM_MAX_TEAMS)",
         teams_max());
  for (const int slot : found) clear(slot);  // before the gather below, after which others may write here
  continue_epochs(gather, found);
  return found;
}

void Teams::continue_epochs(const Gather& gather, const std::vector<int>& slots) {
  Words mine;
  for (const int slot : slots)
    for (const int channel_slot : {slot, teams_max() + slot}) {
      mine.push_back(0);
      machine_host::copy(&mine.back(), epoch(channel_slot), sizeof(uint64_t));
    }
  uint64_t highest = 0;
  for (const Words& words : gather(mine)) highest = std::max(highest, *std::max_element(words.begin(), words.end()));
  for (const int slot : slots)
    for (const int channel_slot : {slot, teams_max() + slot})
      machine_host::copy(epoch(channel_slot), &highest, sizeof highest);
}

// ---------------------------------------------------------------- splits

int Teams::split_strided(int parent, int start, int stride, int size, const TeamConfig& config,
                         const std::string& wrong) {
  if (!find(parent))
    fail(Status::invalid_value, "parent_team is {}: must be a team that the caller is a member of", parent);
  std::string problem = wrong;
  Members members;
  if (problem.empty()) {
    try {
      members = causeway::split_strided(slots_[size_t(parent)].members, start, stride, size);
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  const char* call = "nvshmem_team_split_strided";
  const Words arguments{1, uint64_t(int64_t(start)), uint64_t(int64_t(stride)), uint64_t(int64_t(size))};
  const int slot = agree(among_team(parent, call), arguments, problem, 1)[0];
  const int mine = install(slot, members, config);
  machine_host::barrier(world_, call, parent, false);
  return mine;
}

TeamPair Teams::split_2d(int parent, int xrange, const TeamConfig& x, const TeamConfig& y, const std::string& wrong) {
  if (!find(parent))
    fail(Status::invalid_value, "parent_team is {}: must be a team that the caller is a member of", parent);
  std::string problem = wrong;
  Axes axes;
  if (problem.empty()) {
    try {
      axes = causeway::split_2d(slots_[size_t(parent)].members, find(parent)->pe, xrange);
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  const char* call = "nvshmem_team_split_2d";
  // Rows are disjoint, so they share a slot; and so do columns.
  const auto slots = agree(among_team(parent, call), {2, uint64_t(int64_t(xrange))}, problem, 2);
  const TeamPair pair{install(slots[0], axes.x, x), install(slots[1], axes.y, y)};
  machine_host::barrier(world_, call, parent, false);
  return pair;
}

void Teams::destroy(int team) {
  if (!find(team) || team < kPredefinedTeams)
    fail(Status::invalid_value, "team is {}: must be one made by a split and not destroyed yet", team);
  machine_host::barrier(world_, "nvshmem_team_destroy", team, true);
  // What is queued on streams still reads the record. (Not before the meeting: it may wait for what members do until
  // then.)
  machine_host::synchronize_device();
  write_views(team, TeamView{}, TeamView{});
}

}  // namespace causeway
