// The teams of one PE: their tables on the device, and who may take which slot.
//
// A team is a slot of the tables, the same one on all members. Whoever makes teams first compares what each was asked
// for and which slots each has free, so that all of them come to the same answer, also when it is an error.
#pragma once
#include <causeway/heap/heap.hpp>
#include <causeway/view/device_world.hpp>
#include <causeway/team/config.hpp>
#include <causeway/team/members.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace causeway {


class Teams {
 public:
  /// Collective. Slots, inboxes and epochs lie in `heap`.
  Teams(const DeviceWorld&, const Placement&, Bootstrap&, Heap&, int teams_max);

  [[nodiscard]] const TeamView* device_table() const { return table_; }
  [[nodiscard]] int teams_max() const { return int(slots_.size()); }
  /// Null if there is no such team or the caller is no member.
  [[nodiscard]] const TeamView* find(int team) const;
  [[nodiscard]] const Members& members(int team) const { return slots_[size_t(team)].members; }
  [[nodiscard]] const TeamConfig& config(int team) const { return slots_[size_t(team)].config; }

  // Collective over the parent. Give the new team's slot, -1 to PEs that are no members. Throw on all members of the
  // parent, or on none. `wrong`: what is wrong with the caller's own arguments, which the others then learn; else
  // empty.
  int split_strided(int parent, int start, int stride, int size, const TeamConfig&, const std::string& wrong);
  TeamPair split_2d(int parent, int xrange, const TeamConfig& x, const TeamConfig& y, const std::string& wrong);

  /// An id that init() of some PEs can meet by: it names this PE, whose memory they meet in.
  uint64_t make_unique_id();
  /// Collective over the team's future members, any PEs: each gives its own number of `size`.
  int init(const TeamConfig&, int size, int number);

  /// Collective over the team.
  void destroy(int team);

 private:
  using Words = std::vector<uint64_t>;
  /// Everyone's words, in the order of whoever takes part; all give as many.
  using Gather = std::function<std::vector<Words>(const Words& mine)>;
  struct Slot {
    TeamView view;  // the device channel's
    Members members;
    TeamConfig config;
    bool cleared = false;  // inboxes and epochs have been used
  };

  Gather among_team(int team, const char* call);
  Gather among_members(const Members&, uint64_t id);
  /// Compares arguments, of which this PE's are bad if `wrong` is not empty, and finds `wanted` slots that all have
  /// free.
  std::vector<int> agree(const Gather&, const Words& arguments, const std::string& wrong, int wanted);
  /// Epochs of former teams in these slots differ between PEs, and inboxes hold them: all go on from the highest.
  void continue_epochs(const Gather&, const std::vector<int>& slots);
  /// The slot, or -1 if this PE is no member.
  int install(int slot, const Members&, const TeamConfig&);
  /// Before the first team of a slot: its inboxes and epochs begin at 0.
  void clear(int slot);
  void write_views(int slot, const TeamView& device, const TeamView& host);
  [[nodiscard]] uint64_t* inbox(int channel_slot) const;
  [[nodiscard]] uint64_t* epoch(int channel_slot) const;
  [[nodiscard]] int32_t* member_list(int slot) const;
  Members meet(uint64_t id, int size, int number);

  const DeviceWorld& world_;
  Bootstrap& bootstrap_;
  std::vector<Slot> slots_;
  TeamView* table_ = nullptr;     // on the device: the teams' device channels, then their host channels
  char* inboxes_ = nullptr;       // symmetric: a line a PE, for every slot of both channels
  char* epochs_ = nullptr;        // own, a line each
  int32_t* lists_ = nullptr;      // own: TeamView::members of each slot
  char* scratch_ = nullptr;       // symmetric: gathers of a team
  uint64_t* meetings_ = nullptr;  // symmetric: by PE, what it told those who meet here
  uint64_t* mail_ = nullptr;      // symmetric: by sender, gathers of PEs that are no team yet
  size_t gather_words_ = 0;       // most a PE gives to a gather
  uint32_t unique_ids_ = 0;
  std::set<uint64_t> failed_ids_;
};

}  // namespace causeway
