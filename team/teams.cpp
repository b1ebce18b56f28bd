// See teams.hpp.
#include <causeway/base/error.hpp>
#include <causeway/runtime/machine_host.hpp>
#include <causeway/runtime/world.hpp>
#include <causeway/team/teams.hpp>

#include <algorithm>
#include <bit>

namespace causeway {
namespace {

enum Predefined { world_team, shared_team, node_team, same_place_team, same_gpu_team, gpu_leaders_team };

size_t words_for(int teams) { return (size_t(teams) + 63) / 64; }

}  // namespace

int StridedSet::member_of(int world_pe) const {
  const int apart = world_pe - first;
  if (stride == 0) return apart == 0 ? 0 : -1;
  if (apart % stride != 0 || apart / stride < 0 || apart / stride >= size) return -1;
  return apart / stride;
}

StridedSet split_strided(const StridedSet& parent, int start, int stride, int size) {
  if (size < 1 || size > parent.size)
    fail(Status::invalid_value, "PE_size is {}: must be 1 to the parent's size {}", size, parent.size);
  if (start < 0 || start >= parent.size)
    fail(Status::invalid_value, "PE_start is {}: must be a member of the parent, 0 to {}", start, parent.size - 1);
  if (stride == 0 && size > 1) fail(Status::invalid_value, "PE_stride is 0: must not be with a PE_size of {}", size);
  const long last = long(start) + long(size - 1) * stride;
  if (last < 0 || last >= parent.size)
    fail(Status::invalid_value, "PE_start {}, PE_stride {}, PE_size {}: the last PE would be {}, the parent has 0 to {}",
         start, stride, size, last, parent.size - 1);
  // One member: any stride will do, and 1 divides.
  return {parent.pe(start), size == 1 ? 1 : parent.stride * stride, size};
}

std::optional<StridedSet> as_strided(const std::vector<int>& members) {
  if (members.empty()) return std::nullopt;
  const int stride = members.size() > 1 ? members[1] - members[0] : 1;
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i] - members[i - 1] != stride) return std::nullopt;
  return StridedSet{members[0], stride, int(members.size())};
}

Teams::Teams(World& world, Heap& heap, int teams_max) : world_(world) {
  const size_t slots = size_t(std::max(teams_max, kPredefined)), pes = size_t(world.pes());
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

  const auto& place = world.placement();
  std::vector<int> host, node, same_place;
  std::vector<int> seen_in_node(pes, 0), number_in_node(pes, 0);
  for (size_t pe = 0; pe < pes; ++pe) number_in_node[pe] = seen_in_node[size_t(place.node[pe])]++;
  const size_t me = size_t(world.pe());
  for (int pe = 0; pe < int(pes); ++pe) {
    if (place.host[size_t(pe)] == place.host[me]) host.push_back(pe);
    if (place.node[size_t(pe)] == place.node[me]) node.push_back(pe);
    if (number_in_node[size_t(pe)] == number_in_node[me]) same_place.push_back(pe);
  }
  install(world_team, {0, 1, int(pes)});
  // Nodes of uneven sizes can leave a set that is not evenly spaced; such a team is not offered.
  if (const auto set = as_strided(host)) install(shared_team, *set);
  if (const auto set = as_strided(node)) install(node_team, *set);
  if (const auto set = as_strided(same_place)) install(same_place_team, *set);
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
  for (int slot = kPredefined; slot < teams_max(); ++slot)
    if (views_[size_t(slot)].pe < 0) mine[size_t(slot) / 64] |= uint64_t{1} << (slot % 64);
  const size_t bytes = words * sizeof(uint64_t), members = size_t(views_[size_t(parent)].pes);
  machine_host::copy(scratch_, mine.data(), bytes);
  machine_host::fcollect(world_.device_world(), "nvshmem_team_split_strided", parent, scratch_ + bytes, scratch_, bytes);
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
  machine_host::fcollect(world_.device_world(), "nvshmem_team_split_strided", parent, scratch_ + 64, scratch_, sizeof own);
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
  if (!find(team) || team < kPredefined)
    fail(Status::invalid_value, "team is {}: must be one made by a split and not destroyed yet", team);
  machine_host::barrier(world_.device_world(), "nvshmem_team_destroy", team, true);
  write_views(team, TeamView{}, TeamView{});
}

}  // namespace causeway
