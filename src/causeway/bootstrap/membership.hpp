// Who is in the job and what each PE waits for: the hub's decisions, without any socket.
//
// A PE may leave and join again (nvshmem_finalize, nvshmem_init); each stay is a round. PE 0 can be in round 2 while PE
// 1 has not yet said goodbye in round 1, so a gather belongs to a round, and only a PE that can no longer come to that
// round makes it fail.
#pragma once
#include <causeway/bootstrap/wire.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace causeway {

/// What a PE brought to a gather.
struct Contribution {
  std::uint64_t sequence = 0;  // counts the gathers of a round
  std::string step;
  wire::Bytes bytes;
};

/// A frame that is due to these PEs.
struct Answer {
  std::vector<int> to;
  wire::SharedBytes frame;
};

class Membership {
 public:
  /// `pes` is fixed for the launcher's hub; 0: the first PE that joins says it.
  explicit Membership(int pes = 0) : pes_fixed_(pes) { resize(pes); }

  /// Returns why the PE is refused, empty when it has joined.
  [[nodiscard]] std::string join(int pe, int pes, std::uint32_t pid);
  /// An orderly leave; `why` if it is one after a failed start. Nothing if the PE is not present.
  void leave(int pe, const std::string& why = {});
  /// The start of a PE that has never joined has failed: counts as a stay that is over, unless the PE joins before
  /// anybody has been told that it is, or left for another reason.
  void fail_start(int pe, const std::string& why);
  /// Its connection ended without a goodbye, or it broke the protocol.
  void lose(int pe, const std::string& cause);
  /// A PE that is not in the job now can never join (again): its process has ended.
  void retire(int pe);
  /// Brings a PE's part of a gather. Returns false when it has one pending already: a broken peer.
  [[nodiscard]] bool contribute(int pe, Contribution contribution);

  /// The answers that have become due since the last call.
  [[nodiscard]] std::vector<Answer> take_answers();
  /// "PE 1 (in the job), PE 3 (has not joined)": who has not come to the gather that `asking_pe` is in.
  [[nodiscard]] std::string missing(int asking_pe) const;

  [[nodiscard]] int pes() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] bool anyone_present_but(int pe) const;
  [[nodiscard]] bool all_present() const;

 private:
  struct Member {
    bool present = false;
    bool lost = false;          // cannot come back to this job
    bool ended = false;         // its process has: nor to a later one
    bool start_failed = false;  // before it joined, and it has not since
    bool again = false;         // is in the first round after a start that failed
    std::uint64_t gone_at = 0;  // on departures_: whoever left first is the cause, others may have left because of it
    int round = 0;              // of the current or last stay; 0: never joined
    std::uint32_t pid = 0;
    std::string cause;     // of the loss
    std::string why_left;  // of a leave that was not in good order
    std::optional<Contribution> contribution;
  };

  void resize(int pes);
  void settle_all();
  void settle(int round);
  void fail_round(int round, const std::string& text);
  void complete();
  [[nodiscard]] bool all_start_again() const;
  [[nodiscard]] bool can_come(const Member& member, int round) const;
  [[nodiscard]] int who_cannot_come(int round) const;
  [[nodiscard]] std::string why_gone(int pe, int round) const;
  [[nodiscard]] std::string disagreement(int round) const;

  int pes_fixed_;
  std::vector<Member> members_;
  std::uint64_t departures_ = 0;
  bool first_round_over_ = false;  // somebody has left it, or was told that a gather of it failed
  std::string broken_;             // after a disagreement no gather of this job can be trusted: all get this text
  std::vector<Answer> answers_;
};

}  // namespace causeway
