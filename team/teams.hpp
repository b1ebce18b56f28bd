// The teams of one PE: their tables on the device, and who may take which slot.
#pragma once
#include <causeway/heap/heap.hpp>
#include <causeway/runtime/device_world.hpp>
#include <causeway/team/strided_set.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace causeway {

class World;

class Teams {
 public:
  /// Collective. Slots, inboxes and epochs lie in `heap`.
  Teams(World&, Heap& heap, int teams_max);

  [[nodiscard]] const TeamView* device_table() const { return table_; }
  [[nodiscard]] int teams_max() const { return int(views_.size()); }
  /// Null if there is no such team or the caller is no member.
  [[nodiscard]] const TeamView* find(int team) const;
  [[nodiscard]] StridedSet set_of(const TeamView&) const;

  /// Collective over the parent. Gives the new team's slot, -1 to PEs that are no members. Throws the same error on all
  /// members of the parent.
  int split_strided(int parent, int start, int stride, int size);
  /// Collective over the team.
  void destroy(int team);

 private:
  int install(int slot, const StridedSet&);
  void write_views(int slot, const TeamView& device, const TeamView& host);
  [[nodiscard]] uint64_t* inbox(int channel_slot) const;
  [[nodiscard]] uint64_t* epoch(int channel_slot) const;
  void continue_epochs(int parent, int slot);
  std::vector<uint64_t> gather_free_slots(int parent);

  World& world_;
  std::vector<TeamView> views_;  // host copy of table_
  TeamView* table_ = nullptr;    // on the device: the teams' device channels, then their host channels
  char* inboxes_ = nullptr;      // symmetric: a line a PE, for every slot of both channels
  char* epochs_ = nullptr;       // own, a line each
  char* scratch_ = nullptr;      // symmetric: to agree on slots
};

}  // namespace causeway
