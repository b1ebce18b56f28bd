#include <causeway/base/error.hpp>
#include <tools/run_orphans.hpp>
#include <tools/run_watch.hpp>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

namespace causeway {
namespace {

using namespace std::chrono_literals;

constexpr auto term_patience = 1s;            // from SIGTERM to SIGKILL
constexpr auto exit_patience = 200ms;         // for PEs to follow a global_exit by themselves
constexpr auto orphan_patience = 200ms;       // for helpers of the PEs to end by themselves
constexpr auto orphan_term_patience = 200ms;  // and from SIGTERM to SIGKILL
constexpr auto drain_patience = 500ms;        // for a slow reader of our output once the job has failed
constexpr auto loss_patience = 300ms;         // from the end of a PE's socket to its collected death
constexpr auto child_loss_patience = 5s;      // the same of a PE that is our child, and so is sure to be collected
constexpr auto word_patience = 300ms;         // for PEs to say what they wait for when one has left without a word
constexpr int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

std::string signal_text(int signal) {
  const char* const description = ::sigdescr_np(signal);
  return fmt::format("signal {} ({})", signal, description == nullptr ? "unknown" : description);
}

HubSettings hub_settings(const RunOptions& options, const Secret& secret) {
  HubSettings settings;
  settings.secret = secret;
  settings.pes = options.pes;
  settings.loss_patience = loss_patience;
  settings.child_loss_patience = child_loss_patience;
  return settings;
}

}  // namespace

JobWatch::JobWatch(const RunOptions& options, const Secret& secret, std::vector<pid_t> spared_children)
    : options_(options), spared_children_(std::move(spared_children)), hub_([&] {
        HubSettings settings = hub_settings(options, secret);
        settings.on_exit = [this](int pe, int status) {
          if (!ending_ && (status & 0xff) != 0)
            say(fmt::format("PE {} ended the job with status {} (nvshmem_global_exit)", pe, status & 0xff));
          begin_end(status & 0xff, exit_patience);
        };
        settings.on_loss = [this](int pe, const std::string& cause) { take_loss(pe, cause); };
        return settings;
      }()) {
  ::signal(SIGCHLD, SIG_DFL);  // a caller that ignores it would leave no ends of PEs to see
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGCHLD);
  for (const int signal : forwarded) {
    struct sigaction before {};
    // What the caller ignores (nohup) stays ignored, here and in the PEs.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaddset(&mine, signal);
  }
  ::sigprocmask(SIG_BLOCK, &mine, &outer_mask_);
  ::signal(SIGPIPE, SIG_IGN);
  signals_.reset(::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) fail_errno("cannot watch for signals (signalfd)");
  if (options.timeout_s)
    timeout_at_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*options.timeout_s));
}

JobWatch::~JobWatch() {
  // A second SIGTERM that nobody took must not kill the launcher now, when it has an exit status to return.
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
  }
  ::sigprocmask(SIG_SETMASK, &outer_mask_, nullptr);
}

void JobWatch::add(int pe, pid_t pid, UniqueFd socket, UniqueFd out, UniqueFd err) {
  pes_.push_back({pe, pid});
  hub_.add_socket_of(pe, std::move(socket), pid);
  if (out) output_.add(pe, std::move(out), std::move(err));
}

int JobWatch::until_the_end() {
  while (anyone_alive()) turn();
  clear_orphans();
  std::optional<Clock::time_point> give_up_at;
  if (ending_) give_up_at = Clock::now() + drain_patience;
  while (!output_.finished() && (!give_up_at || Clock::now() < *give_up_at)) {
    term_at_ = give_up_at;  // only to wake up by
    turn();
  }
  return status_.value_or(0);
}

void JobWatch::end_at_once() {
  ending_ = true;
  signal_all(SIGKILL);
  for (Pe& pe : pes_)
    if (std::exchange(pe.alive, false)) (void)::waitpid(pe.pid, nullptr, 0);
  for (const pid_t orphan : orphans()) ::kill(orphan, SIGKILL);
}

void JobWatch::turn() {
  set_.assign(1, {signals_.get(), POLLIN, 0});
  output_.watch(set_);
  const std::size_t hub_begin = set_.size();
  hub_.watch(set_);
  if (::poll(set_.data(), set_.size(), wait_ms()) < 0 && errno != EINTR) fail_errno("cannot wait for the PEs (poll)");
  const std::span<const pollfd> all(set_);
  // First what the PEs have sent, then their deaths: an orderly goodbye is not taken for a loss.
  hub_.turn(all.subspan(hub_begin));
  output_.turn(all.subspan(1, hub_begin - 1));
  if (all[0].revents != 0) take_signals();
  keep_deadlines();
}

int JobWatch::wait_ms() const {
  std::optional<Clock::time_point> first = hub_.next_deadline();
  for (const auto& at : {timeout_at_, term_at_, kill_at_})
    if (at && (!first || *at < *first)) first = at;
  return first ? poll_ms(*first) : -1;
}

void JobWatch::keep_deadlines() {
  const Clock::time_point now = Clock::now();
  if (timeout_at_ && *timeout_at_ <= now) {
    timeout_at_.reset();
    if (!ending_) {
      say(fmt::format("the job took longer than --timeout {} s; ending it", *options_.timeout_s));
      begin_end(124, 0s);
    }
  }
  if (term_at_ && *term_at_ <= now) {
    term_at_.reset();
    signal_all(SIGTERM);
  }
  if (kill_at_ && *kill_at_ <= now) {
    kill_at_.reset();
    signal_all(SIGKILL);
  }
}

void JobWatch::take_signals() {
  bool child = false;
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD)
      child = true;
    else
      take_signal(info);
  }
  if (child) reap();
}

void JobWatch::take_signal(const signalfd_siginfo& info) {
  const int signal = static_cast<int>(info.ssi_signo);
  // Signals of the terminal have reached the PEs already: they are in its foreground group, as the launcher is.
  const bool from_terminal = info.ssi_code > 0;
  if (!from_terminal) signal_all(signal);
  if (signal != SIGINT && signal != SIGTERM) return;
  if (options_.gdb_pe && from_terminal) return;  // Ctrl-C interrupts the debugged PE
  const Clock::time_point now = Clock::now();
  // A PE may handle the first one in its own way. Some senders signal the whole group besides the launcher: not a
  // second.
  if (asked_to_end_at_ && now - *asked_to_end_at_ > 200ms && !ending_) {
    say(fmt::format("{} again; ending the job", signal_text(signal)));
    begin_end(128 + signal, 0s);
  }
  if (!asked_to_end_at_) asked_to_end_at_ = now;
}

void JobWatch::reap() {
  std::vector<Death> deaths;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto pe = std::find_if(pes_.begin(), pes_.end(), [&](const Pe& one) { return one.alive && one.pid == pid; });
    if (pe == pes_.end()) continue;  // an orphan
    pe->alive = false;
    deaths.push_back({pe->pe, pid, status});
  }
  // Of deaths seen together, one by a signal is the likelier cause of the others.
  std::stable_partition(deaths.begin(), deaths.end(), [](const Death& death) { return WIFSIGNALED(death.status); });
  for (const Death& death : deaths) take_death(death);
}

void JobWatch::take_death(const Death& death) {
  const bool killed = WIFSIGNALED(death.status);
  const int code = killed ? 128 + WTERMSIG(death.status) : WEXITSTATUS(death.status);
  const bool was_in_the_job =
      hub_.lose(death.pe, killed ? "it died by " + signal_text(WTERMSIG(death.status))
                                 : fmt::format("it exited with status {} without finalizing", code));
  if (ending_) return;
  const char* const ending = anyone_alive() ? "; ending the job" : "";
  if (code == 0) {
    const char* const wrong = was_in_the_job                    ? "without nvshmem_finalize"
                              : hub_.start_has_failed(death.pe) ? "though its nvshmem_init had failed"
                                                                : nullptr;
    if (wrong == nullptr) return;
    say(fmt::format("PE {} exited with status 0 {}{}", death.pe, wrong, ending));
    return begin_end(1, word_patience);
  }
  if (killed)
    say(fmt::format("PE {} (pid {}) died: {}{}{}", death.pe, death.pid, signal_text(WTERMSIG(death.status)),
                    WCOREDUMP(death.status) ? ", core dumped" : "", ending));
  else if (anyone_alive())
    say(fmt::format("PE {} exited with status {}{}", death.pe, code, ending));
  begin_end(code, 0s);
}

/// Of a program that the PE's process has started, and that others wait for. (Alone it is the process's
/// matter.)
void JobWatch::take_loss(int pe, const std::string& cause) {
  if (ending_ || !hub_.others_present(pe)) return;
  say(fmt::format("PE {} is lost: {}; ending the job", pe, cause));
  begin_end(1, word_patience);
}

void JobWatch::begin_end(int status, Clock::duration until_term) {
  if (std::exchange(ending_, true)) return;
  status_ = status;
  term_at_ = Clock::now() + until_term;
  kill_at_ = Clock::now() + term_patience;
}

void JobWatch::signal_all(int signal) {
  for (const Pe& pe : pes_)
    if (pe.alive) ::kill(pe.pid, signal);
}

void JobWatch::clear_orphans() {
  const Clock::time_point term_at = Clock::now() + (ending_ ? 0ms : orphan_patience);
  const Clock::time_point kill_at = term_at + orphan_term_patience;
  bool termed = false;
  for (;;) {
    reap();
    const std::vector<pid_t> left = orphans();
    if (left.empty()) return;
    const Clock::time_point now = Clock::now();
    const int signal = now >= kill_at ? SIGKILL : now >= term_at && !termed ? SIGTERM : 0;
    termed |= signal == SIGTERM;
    for (const pid_t orphan : left) ::kill(orphan, signal);
    term_at_ = now + 10ms;  // only to wake up by: there is no PE left to signal
    turn();
  }
}

std::vector<pid_t> JobWatch::orphans() const {
  std::vector<pid_t> children = children_of_this_process();
  for (const pid_t spared : spared_children_) std::erase(children, spared);
  return children;
}

void JobWatch::say(const std::string& text) {
  const std::string line = "causeway run: " + text;
  if (options_.tag) return output_.message(line);
  const std::string whole = line + "\n";
  (void)!::write(2, whole.data(), whole.size());
}

bool JobWatch::anyone_alive() const {
  return std::any_of(pes_.begin(), pes_.end(), [](const Pe& pe) { return pe.alive; });
}

}  // namespace causeway
