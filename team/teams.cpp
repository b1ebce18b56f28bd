// See teams.hpp.
#include <causeway/base/error.hpp>
#include <causeway/runtime/machine_host.hpp>
#include <causeway/runtime/world.hpp>
#include <causeway/team/teams.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace causeway {
namespace {

size_t words_for(int teams) { return (size_t(teams) + 63) / 64; }

}  // namespace

Teams::Teams(World& world, Heap& heap, int teams_max) : world_(world) {
  const size_t slots = size_t(std::max(teams_max, kPredefinedTeams)), pes = size_t(world.pes());
  const size_t line = kInboxLineWords * sizeof(uint64_t);
  const size_t scratch = words_for(int(slots)) * sizeof(uint64_t) * (pes + 1) + 64 * (pes + 1);
  views_.resize(slots);
  auto take = [&](size_t bytes) {
    auto* place = static_cast<char*>(heap.allocate(bytes, 512, "the team table"));
    machine_host::zero(place, bytes);
    return place;
  };
  table_ = reinterpret_cast<TeamView*>(take(2 * slots * sizeof(TeamView)));
  inboxes_ = take(2 * slots * pes * line);
  epochs_ = take(2 * slots * line);
  scratch_ = take(scratch);
  machine_host::copy(table_, views_.data(), slots * sizeof(TeamView));
  machine_host::copy(table_ + slots, views_.data(), slots * sizeof(TeamView));
  world.bootstrap().barrier("clearing team tables");

  for (int number = 0; number < kPredefinedTeams; ++number)
    if (const StridedSet set = predefined_team(world.placement(), world.pe(), number); set.size > 0)
      install(number, set);
}

const TeamView* Teams::find(int team) const {
  if (team < 0 || team >= int(views_.size()) || views_[size_t(team)].pe < 0) return nullptr;
  return &views_[size_t(team)];
}

StridedSet Teams::set_of(const TeamView& view) const { return {view.first, view.stride, view.pes}; }

void Teams::write_views(int slot, const TeamView& device, const TeamView& host) {
  views_[size_t(slot)] = device;
  machine_host::copy(table_ + slot, &device, sizeof device);
  machine_host::copy(table_ + teams_max() + slot, &host, sizeof host);
}

uint64_t* Teams::inbox(int channel_slot) const {
  const size_t line = kInboxLineWords * sizeof(uint64_t);
  return reinterpret_cast<uint64_t*>(inboxes_ + size_t(channel_slot) * size_t(world_.pes()) * line);
}

uint64_t* Teams::epoch(int channel_slot) const {
  return reinterpret_cast<uint64_t*>(epochs_ + size_t(channel_slot) * kInboxLineWords * sizeof(uint64_t));
}

int Teams::install(int slot, const StridedSet& set) {
  const int member = set.member_of(world_.pe());
  if (member < 0) return -1;
  TeamView device{member, set.size, set.first, set.stride, inbox(slot), epoch(slot)};
  TeamView host = device;
  host.inbox = inbox(teams_max() + slot);
  host.epoch = epoch(teams_max() + slot);
  write_views(slot, device, host);
  return slot;
}

std::vector<uint64_t> Teams::gather_free_slots(int parent) {
  const size_t words = words_for(teams_max());
  std::vector<uint64_t> mine(words, 0);
  for (int slot = kPredefinedTeams; slot < teams_max(); ++slot)
    if (views_[size_t(slot)].pe < 0) mine[size_t(slot) / 64] |= uint64_t{1} << (slot % 64);
  const size_t bytes = words * sizeof(uint64_t), members = size_t(views_[size_t(parent)].pes);
  machine_host::copy(scratch_, mine.data(), bytes);
  machine_host::fcollect(world_.device_world(), "nvshmem_team_split_strided", parent, scratch_ + bytes, scratch_,
                         bytes);
  std::vector<uint64_t> all(words * members);
  machine_host::copy(all.data(), scratch_ + bytes, bytes * members);
  for (size_t member = 0; member < members; ++member)
    for (size_t word = 0; word < words; ++word) mine[word] &= all[member * words + word];
  return mine;
}

/// Epochs of former teams in this slot differ between PEs, and inboxes hold them: all of the parent goes on from the highest.
void Teams::continue_epochs(int parent, int slot) {
  uint64_t own[2];
  machine_host::copy(&own[0], epoch(slot), sizeof own[0]);
  machine_host::copy(&own[1], epoch(teams_max() + slot), sizeof own[1]);
  const size_t members = size_t(views_[size_t(parent)].pes);
  machine_host::copy(scratch_, own, sizeof own);
  machine_host::fcollect(world_.device_world(), "nvshmem_team_split_strided", parent, scratch_ + 64, scratch_,
                         sizeof own);
  std::vector<uint64_t> all(2 * members);
  machine_host::copy(all.data(), scratch_ + 64, sizeof own * members);
  const uint64_t highest = *std::max_element(all.begin(), all.end());
  machine_host::copy(epoch(slot), &highest, sizeof highest);
  machine_host::copy(epoch(teams_max() + slot), &highest, sizeof highest);
}

int Teams::split_strided(int parent, int start, int stride, int size) {
  const TeamView* view = find(parent);
  if (!view) fail(Status::invalid_value, "parent_team is {}: must be a team that the caller is a member of", parent);
  const StridedSet set = causeway::split_strided(set_of(*view), start, stride, size);
  const auto free_slots = gather_free_slots(parent);
  int slot = -1;
  for (size_t word = 0; word < free_slots.size() && slot < 0; ++word)
    if (free_slots[word]) slot = int(word * 64) + std::countr_zero(free_slots[word]);
  if (slot < 0)
    fail(Status::out_of_memory, "no team slot is free on all of the parent's PEs: {} exist (NVSHMEM_MAX_TEAMS)",
         teams_max());
  continue_epochs(parent, slot);
  const int mine = install(slot, set);
  machine_host::barrier(world_.device_world(), "nvshmem_team_split_strided", parent, false);
  return mine;
}

void Teams::destroy(int team) {
  if (!find(team) || team < kPredefinedTeams)
    fail(Status::invalid_value, "team is {}: must be one made by a split and not destroyed yet", team);
  machine_host::barrier(world_.device_world(), "nvshmem_team_destroy", team, true);
  write_views(team, TeamView{}, TeamView{});
}

}  // namespace causeway
