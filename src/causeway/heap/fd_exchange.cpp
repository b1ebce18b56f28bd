#include <causeway/base/error.hpp>
#include <causeway/bootstrap/wait_times.hpp>
#include <causeway/heap/agreement.hpp>
#include <causeway/heap/fd_exchange.hpp>
#include <causeway/heap/fd_socket.hpp>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

namespace causeway {
namespace {

using Clock = std::chrono::steady_clock;

class Exchange {
 public:
  Exchange(Bootstrap& bootstrap, int mine, const std::function<void(int, UniqueFd)>& take, std::string_view step,
           const FdExchangeOptions& options)
      : bootstrap_(bootstrap), mine_(mine), take_(take), step_(step), options_(options) {}

  void run() {
    // A PE without a socket takes part with an empty card, so that the others learn of it.
    error_ = error_in([&] { socket_.emplace(options_.process, mine_); });
    cards_ = allgather(bootstrap_, socket_ ? socket_->card() : FdCard{}, step_);
    if (std::all_of(cards_.begin(), cards_.end(), [](const FdCard& card) { return card.fd >= 0; })) pass_all();
    // Sockets and descriptors stay until everyone has them.
    agree_on_success(bootstrap_, error_, step_);
  }

 private:
  void pass_all() {
    missing_.assign(cards_.size(), true);
    missing_count_ = pes();
    for (int pe = 0; pe < pes(); ++pe)
      if (here(pe)) duplicate(pe);
    begun_ = moved_ = told_ = Clock::now();
    // Sends never block: all PEs send to all at once, and queues are short.
    while (to_send_ < pes() || missing_count_ > 0) {
      const bool sent = send_some(), received = receive_some();
      if (sent || received)
        moved_ = Clock::now();
      else if (!wait())
        break;
    }
  }

  [[nodiscard]] int pes() const { return int(cards_.size()); }
  [[nodiscard]] bool here(int pe) const { return cards_[size_t(pe)].process == options_.process; }
  void expect_no_more_of(int pe) {
    missing_count_ -= int(missing_[size_t(pe)]);
    missing_[size_t(pe)] = false;
  }

  /// The first error is kept; the exchange goes on, since the other PEs count on it.
  template <class Body>
  bool attempt(Body&& body) {
    auto error = error_in(body);
    const bool good = !error;
    if (error && !error_) error_ = std::move(error);
    return good;
  }

  void duplicate(int pe) {
    expect_no_more_of(pe);
    attempt([&] {
      UniqueFd fd(::fcntl(cards_[size_t(pe)].fd, F_DUPFD_CLOEXEC, 3));
      if (!fd) fail_descriptor(fmt::format("duplicating a memory descriptor of PE {}", pe));
      take_(pe, std::move(fd));
    });
  }

  /// True if one was sent.
  bool send_some() {
    const int before = to_send_;
    for (bool sent = true; sent && to_send_ < pes(); to_send_ += int(sent)) {
      const int peer = (bootstrap_.pe() + to_send_) % pes();
      if (here(peer)) continue;
      const bool reachable =
          attempt([&] { sent = socket_->try_send(peer, cards_[size_t(peer)], bootstrap_.pe(), mine_); });
      if (!reachable) expect_no_more_of(peer);  // most likely it cannot reach this PE either
    }
    return to_send_ != before;
  }

  /// True if one came.
  bool receive_some() {
    bool moved = false;
    while (missing_count_ > 0) {
      std::optional<FdSocket::Received> received;
      if (!attempt([&] { received = socket_->try_receive(cards_); }))
        for (int pe = 0; pe < pes(); ++pe) expect_no_more_of(pe);
      if (!received) break;
      if (!missing_[size_t(received->pe)]) continue;  // a second one
      expect_no_more_of(received->pe);
      moved = true;
      attempt([&] {
        if (!received->fd) {
          errno = EMFILE;  // the only reason for which the kernel drops one
          fail_descriptor(fmt::format("taking the memory descriptor of PE {}", received->pe));
        }
        take_(received->pe, std::move(received->fd));
      });
    }
    return moved;
  }

  /// False if there is nothing left to wait for.
  bool wait() {
    const auto now = Clock::now();
    const auto lost = bootstrap_.lost_pes();
    const WaitLimits limits{limit_ns(options_.waits.report_after), limit_ns(options_.waits.connect_timeout)};
    const WaitState state{elapsed_ns(now - moved_), elapsed_ns(now - told_),
                          lost.empty() ? WaitLoss::none : WaitLoss::peer};
    const WaitStep step = decide(state, limits);
    if (step == WaitStep::give_up) {
      attempt([&] {
        if (!lost.empty())
          fail(Status::internal, "step '{}': PE {} has ended and passes no memory descriptor", step_, lost.front());
        fail(Status::internal, "step '{}': {} within {:.0f} s (CAUSEWAY_BOOTSTRAP_TIMEOUT)", step_, what_is_missing(),
             std::chrono::duration<double>(options_.waits.connect_timeout).count());
      });
      return false;
    }
    if (step == WaitStep::report) {
      told_ = now;
      const std::string text =
          fmt::format("causeway: PE {} has waited {:.0f} s in step '{}': {}", bootstrap_.pe(),
                      std::chrono::duration<double>(now - begun_).count(), step_, what_is_missing());
      if (options_.waits.report)
        options_.waits.report(text);
      else
        fmt::print(stderr, "{}\n", text);
    }
    const auto next = std::min({moved_ + options_.waits.connect_timeout, told_ + options_.waits.report_after,
                                now + std::chrono::milliseconds(to_send_ < pes() ? 1 : 1000)});
    socket_->wait(int(std::chrono::ceil<std::chrono::milliseconds>(next - now).count()));
    return true;
  }

  [[nodiscard]] std::string what_is_missing() const {
    constexpr size_t kNamed = 8;
    std::vector<int> silent;
    for (int pe = 0; pe < pes(); ++pe)
      if (missing_[size_t(pe)]) silent.push_back(pe);
    if (silent.empty()) return fmt::format("PE {} took no memory descriptor", (bootstrap_.pe() + to_send_) % pes());
    const std::span named(silent.data(), std::min(silent.size(), kNamed));
    const size_t more = silent.size() - named.size();
    return fmt::format("no memory descriptor came from PE {}{}", fmt::join(named, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "");
  }

  Bootstrap& bootstrap_;
  int mine_;
  const std::function<void(int, UniqueFd)>& take_;
  std::string_view step_;
  const FdExchangeOptions& options_;
  std::optional<FdSocket> socket_;
  std::vector<FdCard> cards_;
  std::vector<bool> missing_;  // by PE: its descriptor has not come
  int missing_count_ = 0;
  int to_send_ = 1;  // which next: this PE's number and so many
  std::optional<Error> error_;
  Clock::time_point begun_, moved_, told_;  // told_: when the wait was reported last, or began
};

}  // namespace

void exchange_fds(Bootstrap& bootstrap, int mine, const std::function<void(int, UniqueFd)>& take, std::string_view step,
                  const FdExchangeOptions& options) {
  Exchange(bootstrap, mine, take, step, options).run();
}

}  // namespace causeway
