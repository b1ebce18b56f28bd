#include <causeway/base/error.hpp>
#include <causeway/bootstrap/dialer.hpp>
#include <causeway/bootstrap/wait_times.hpp>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <vector>

namespace causeway {
namespace {

using namespace std::chrono_literals;

constexpr auto stagger = 50ms;      // between the first tries of two addresses
constexpr auto try_timeout = 5s;    // to connect and be greeted at one address
constexpr auto retry_first = 50ms;  // doubled up to retry_max
constexpr auto retry_max = 1000ms;
constexpr int refusals_enough = 3;  // at every address

/// One address and the state of the current try.
struct Candidate {
  Address address;
  std::string text;
  Clock::time_point start_at;
  std::chrono::milliseconds retry_after = retry_first;
  bool stranger = false;  // something else lives there
  int refused = 0;        // tries in a row that its host has refused: nobody listens there
  bool connected = false;
  UniqueFd socket;
  Clock::time_point give_up_at{};
  wire::FrameCutter cutter;
  std::string cause = "not tried yet";

  void give_up(std::string why) {
    cause = std::move(why);
    socket.reset();
    start_at = Clock::now() + retry_after;
    retry_after = std::min<std::chrono::milliseconds>(retry_after * 2, retry_max);
  }
  /// The hub listens before anybody knows its id: where nobody does, it is there no more.
  void give_up_on_error(int error) {
    refused = error == ECONNREFUSED ? refused + 1 : 0;
    give_up(std::generic_category().message(error));
  }
  void give_up_for_good(std::string why) {
    give_up(std::move(why));
    stranger = true;
  }
};

void start(Candidate& candidate, std::uint16_t port) {
  candidate.cutter = {};
  candidate.connected = false;
  candidate.give_up_at = Clock::now() + try_timeout;
  candidate.socket.reset(::socket(candidate.address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!candidate.socket) return candidate.give_up(std::generic_category().message(errno));
  tune_stream(candidate.socket.get());
  const SocketAddress to = to_socket_address(candidate.address, port);
  if (::connect(candidate.socket.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.length) != 0 &&
      errno != EINPROGRESS)
    candidate.give_up_on_error(errno);
}

/// Goes on with a try that poll() found ready. Returns true when the hub has greeted.
bool advance(Candidate& candidate, const HubName& name) {
  if (!candidate.connected) {
    int error = 0;
    socklen_t length = sizeof error;
    (void)::getsockopt(candidate.socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) {
      candidate.give_up_on_error(error);
      return false;
    }
    candidate.connected = true;
    candidate.refused = 0;
    candidate.cause = "connected, but nothing greeted";
  }
  std::array<std::byte, 256> chunk;
  const ssize_t got = ::recv(candidate.socket.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  if (got <= 0) {
    candidate.give_up(got == 0 ? "connected, but the other side hung up" : std::generic_category().message(errno));
    return false;
  }
  try {
    candidate.cutter.append(std::span(chunk).first(static_cast<std::size_t>(got)));
    const auto frame = candidate.cutter.next(sizeof(wire::Greeting));
    if (!frame) return false;
    const auto greeting = wire::FrameReader(frame->body).value<wire::Greeting>();
    if (frame->type == wire::FrameType::greeting && greeting.hub_name == name) return true;
    candidate.give_up_for_good("another job's hub answers there");
  } catch (const Error&) {
    candidate.give_up_for_good("a service that is no Causeway hub answers there");
  }
  return false;
}

std::vector<Candidate> make_candidates(const UniqueId& id) {
  std::vector<Candidate> candidates;
  for (const Address& address : unpack_addresses(id)) {
    candidates.emplace_back();
    candidates.back().address = address;
    candidates.back().text = to_text(address, id.port);
  }
  // On the maker's host loopback is the surest way; elsewhere it is tried last, for hosts that only look different.
  if (id.maker_host == host_hash())
    std::stable_partition(candidates.begin(), candidates.end(),
                          [](const Candidate& c) { return c.address.is_loopback(); });
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].start_at = Clock::now() + i * stagger;
  return candidates;
}

[[noreturn]] void fail_unreached(const UniqueId& id, const std::vector<Candidate>& candidates) {
  std::string causes;
  for (const Candidate& candidate : candidates)
    causes += fmt::format("{}{}: {}", causes.empty() ? "" : "; ", candidate.text, candidate.cause);
  const bool refused = std::all_of(candidates.begin(), candidates.end(), [](const auto& c) { return c.refused > 0; });
  fail(Status::internal, "cannot reach the hub of the unique id (made by pid {} on {} host): {}{}", id.maker_pid,
       id.maker_host == host_hash() ? "this" : "another", causes,
       refused ? "; its maker has ended, or the id is used up: it serves one job, until all PEs have joined" : "");
}

}  // namespace

Dialed dial(const UniqueId& id, Clock::time_point deadline) {
  std::vector<Candidate> candidates = make_candidates(id);
  std::vector<pollfd> set;
  const Clock::time_point begun = Clock::now();
  for (;;) {
    const Clock::time_point now = Clock::now();
    const bool hopeless = std::all_of(candidates.begin(), candidates.end(),
                                      [](const auto& c) { return c.stranger || c.refused >= refusals_enough; });
    const WaitState state{elapsed_ns(now - begun), 0, hopeless ? WaitLoss::peer : WaitLoss::none};
    if (decide(state, {0, limit_ns(deadline - begun)}) == WaitStep::give_up) fail_unreached(id, candidates);
    Clock::time_point wake_at = deadline;
    set.clear();
    for (Candidate& candidate : candidates) {
      if (candidate.socket && candidate.give_up_at <= now)
        candidate.give_up(candidate.connected ? candidate.cause : "no answer");
      if (!candidate.socket && !candidate.stranger && candidate.start_at <= now) start(candidate, id.port);
      if (!candidate.stranger)
        wake_at = std::min(wake_at, candidate.socket ? candidate.give_up_at : candidate.start_at);
      set.push_back({candidate.socket.get(), static_cast<short>(candidate.connected ? POLLIN : POLLOUT), 0});
    }
    (void)::poll(set.data(), set.size(), poll_ms(wake_at));
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i].revents == 0 || !candidates[i].socket) continue;
      if (advance(candidates[i], id.hub_name))
        return {std::move(candidates[i].socket), std::move(candidates[i].cutter), candidates[i].text};
    }
  }
}

}  // namespace causeway
