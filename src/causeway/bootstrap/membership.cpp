#include <causeway/bootstrap/membership.hpp>

#include <algorithm>
#include <cstdint>
#include <set>

namespace causeway {
namespace {
constexpr int pes_max = 1 << 16;
}

void Membership::resize(int pes) {
  members_.assign(static_cast<std::size_t>(pes), Member{});
  broken_.clear();
  first_round_over_ = false;
}

bool Membership::anyone_present_but(int pe) const {
  for (int other = 0; other < pes(); ++other)
    if (other != pe && members_[static_cast<std::size_t>(other)].present) return true;
  return false;
}

bool Membership::all_present() const {
  return !members_.empty() &&
         std::all_of(members_.begin(), members_.end(), [](const Member& member) { return member.present; });
}

std::string Membership::join(int pe, int pes, std::uint32_t pid) {
  // When all have come and gone, the next to come starts another round. (Not where a process has ended: it cannot come
  // again.)
  const bool all_gone = std::all_of(members_.begin(), members_.end(), [&](const Member& member) {
    return !member.present && member.round > 0 && !member.ended;
  });
  if (all_gone) resize(pes_fixed_);
  if (pes < 1 || pes > pes_max) return fmt::format("{} PEs; accepted are 1 to {}", pes, pes_max);
  if (pe < 0 || pe >= pes) return fmt::format("PE {} is out of range; a job of {} PEs has 0 to {}", pe, pes, pes - 1);
  if (members_.empty()) resize(pes);
  if (pes != this->pes()) {
    std::string text = fmt::format("PE {} says the job has {} PEs", pe, pes);
    const auto other = std::find_if(members_.begin(), members_.end(), [](const Member& m) { return m.round > 0; });
    if (pes_fixed_ > 0)
      text += fmt::format(", but it was started with {}", pes_fixed_);
    else
      text += fmt::format(", but PE {} said {}", other - members_.begin(), this->pes());
    broken_ = text;
    settle_all();
    return text;
  }
  Member& member = members_[static_cast<std::size_t>(pe)];
  if (member.present)
    return fmt::format("PE {} is in the job already (pid {}): its number was given twice", pe, member.pid);
  if (member.lost) return fmt::format("PE {} was in the job already and left it: {}", pe, member.cause);
  member.present = true;
  member.pid = pid;
  member.why_left.clear();
  // Those that still come to the first round meet it there.
  member.again = member.start_failed && !first_round_over_;
  member.start_failed = false;
  if (!member.again) ++member.round;
  return {};
}

void Membership::leave(int pe, const std::string& why) {
  Member& member = members_[static_cast<std::size_t>(pe)];
  if (!member.present) return;
  member.present = false;
  member.gone_at = ++departures_;
  member.why_left = why;
  member.contribution.reset();
  first_round_over_ = true;
  Answer news{{}, wire::FrameWriter(wire::FrameType::left).value(std::int32_t{pe}).share()};
  for (int other = 0; other < pes(); ++other) {
    const Member& one = members_[static_cast<std::size_t>(other)];
    if (one.present && one.round == member.round) news.to.push_back(other);
  }
  answers_.push_back(std::move(news));
  settle(member.round);
}

void Membership::fail_start(int pe, const std::string& why) {
  if (pe >= pes()) return;
  Member& member = members_[static_cast<std::size_t>(pe)];
  if (member.present) return leave(pe, why);
  if (member.lost || member.round > 0) return;
  member.round = 1;
  member.start_failed = true;
  member.gone_at = ++departures_;
  member.why_left = why;
  settle_all();
}

void Membership::lose(int pe, const std::string& cause) {
  Member& member = members_[static_cast<std::size_t>(pe)];
  if (member.lost) return;
  member.present = false;
  member.lost = true;
  member.gone_at = ++departures_;
  member.round = std::max(member.round, 1);
  member.cause = cause;
  member.contribution.reset();
  first_round_over_ = true;
  Answer news{{}, wire::FrameWriter(wire::FrameType::lost).value(std::int32_t{pe}).text(cause).share()};
  for (int other = 0; other < pes(); ++other) {
    if (members_[static_cast<std::size_t>(other)].present) news.to.push_back(other);
  }
  answers_.push_back(std::move(news));
  settle_all();
}

void Membership::retire(int pe) {
  if (pe >= pes()) return;
  Member& member = members_[static_cast<std::size_t>(pe)];
  member.ended = true;
  if (member.lost) return;
  member.lost = true;
  if (member.round == 0) member.gone_at = ++departures_;
  member.cause = !member.why_left.empty() ? member.why_left
                 : member.round == 0      ? "it ended without having joined"
                                          : "it finished in good order";
  settle_all();
}

bool Membership::contribute(int pe, Contribution contribution) {
  Member& member = members_[static_cast<std::size_t>(pe)];
  if (member.contribution) return false;
  member.contribution = std::move(contribution);
  settle(member.round);
  return true;
}

/// All who wait in the first round are there after a start that failed: where another's fails, they expect the same of
/// it.
bool Membership::all_start_again() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return !member.contribution || member.round > 1 || member.again; });
}

bool Membership::can_come(const Member& member, int round) const {
  if (member.lost) return false;
  if (member.start_failed && round == 1 && !first_round_over_ && all_start_again()) return true;
  return member.round < round || (member.round == round && member.present);
}

std::string Membership::why_gone(int pe, int round) const {
  const Member& member = members_[static_cast<std::size_t>(pe)];
  if (member.lost) return member.cause;
  if (!member.why_left.empty()) return member.why_left;
  if (member.round > round) return "it finished with this job and has begun the next";
  return "it finished in good order";
}

std::string Membership::disagreement(int round) const {
  int first = -1;
  for (int pe = 0; pe < pes(); ++pe) {
    const Member& member = members_[static_cast<std::size_t>(pe)];
    if (!member.contribution || member.round != round) continue;
    if (first < 0) {
      first = pe;
      continue;
    }
    const Contribution& one = *members_[static_cast<std::size_t>(first)].contribution;
    const Contribution& two = *member.contribution;
    if (one.step == two.step && one.sequence == two.sequence) continue;
    return fmt::format(
        "PE {} is in step '{}' (its call {}) while PE {} is in step '{}' (its call {}): every PE must make the same "
        "collective calls in the same order",
        first, one.step, one.sequence, pe, two.step, two.sequence);
  }
  return {};
}

void Membership::settle_all() {
  std::set<int> rounds;
  for (const Member& member : members_)
    if (member.contribution) rounds.insert(member.round);
  for (const int round : rounds) settle(round);
}

void Membership::settle(int round) {
  std::string step;
  std::size_t came = 0;
  for (const Member& member : members_) {
    if (!member.contribution || member.round != round) continue;
    if (came++ == 0) step = member.contribution->step;
  }
  if (came == 0) return;
  if (broken_.empty()) broken_ = disagreement(round);
  if (!broken_.empty()) return fail_round(round, broken_);
  if (came == members_.size()) return complete();
  if (const int pe = who_cannot_come(round); pe >= 0)
    fail_round(round, fmt::format("PE {} left the job during step '{}': {}", pe, step, why_gone(pe, round)));
}

int Membership::who_cannot_come(int round) const {
  int gone = -1;
  std::uint64_t first = departures_ + 1;
  for (int pe = 0; pe < pes(); ++pe) {
    const Member& member = members_[static_cast<std::size_t>(pe)];
    if (can_come(member, round) || member.gone_at >= first) continue;
    gone = pe;
    first = member.gone_at;
  }
  return gone;
}

void Membership::fail_round(int round, const std::string& text) {
  first_round_over_ = true;
  Answer answer{{}, wire::FrameWriter(wire::FrameType::failed).text(text).share()};
  for (int pe = 0; pe < pes(); ++pe) {
    Member& member = members_[static_cast<std::size_t>(pe)];
    if (!member.contribution || member.round != round) continue;
    member.contribution.reset();
    answer.to.push_back(pe);
  }
  answers_.push_back(std::move(answer));
}

void Membership::complete() {
  wire::FrameWriter all(wire::FrameType::all);
  std::size_t bytes = 0;
  for (const Member& member : members_) bytes += member.contribution->bytes.size() + sizeof(std::uint64_t);
  all.reserve(bytes);
  Answer answer;
  for (int pe = 0; pe < pes(); ++pe) {
    Member& member = members_[static_cast<std::size_t>(pe)];
    all.block(member.contribution->bytes);
    member.contribution.reset();
    answer.to.push_back(pe);
  }
  answer.frame = all.share();
  answers_.push_back(std::move(answer));
}

std::vector<Answer> Membership::take_answers() { return std::exchange(answers_, {}); }

std::string Membership::missing(int asking_pe) const {
  const int round = members_[static_cast<std::size_t>(asking_pe)].round;
  std::string text;
  int named = 0, more = 0;
  for (int pe = 0; pe < pes(); ++pe) {
    const Member& member = members_[static_cast<std::size_t>(pe)];
    if (member.contribution && member.round == round) continue;
    if (++named > 16) {
      ++more;
      continue;
    }
    const bool joined = member.present && member.round == round;
    text += fmt::format("{}PE {} ({})", text.empty() ? "" : ", ", pe,
                        joined ? fmt::format("pid {}, busy elsewhere", member.pid) : "has not joined the job");
  }
  if (more > 0) text += fmt::format(" and {} more", more);
  return text.empty() ? "nobody" : text;
}

}  // namespace causeway
