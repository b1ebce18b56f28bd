#include <causeway/base/error.hpp>
#include <causeway/base/random_bytes.hpp>
#include <causeway/bootstrap/flush_output.hpp>
#include <causeway/bootstrap/hub_client.hpp>
#include <causeway/bootstrap/wait_times.hpp>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <system_error>
#include <utility>

namespace causeway {

using wire::Frame;
using wire::FrameReader;
using wire::FrameType;
using wire::FrameWriter;

namespace {
constexpr auto goodbye_patience = std::chrono::seconds(2);
constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max() / 2;  // the hub has proved itself
}  // namespace

HubClient::HubClient(UniqueFd socket, wire::FrameCutter cutter, HubClientSettings settings)
    : settings_(std::move(settings)),
      socket_(std::move(socket)),
      inherited_(settings_.inherited_socket),
      cutter_(std::move(cutter)),
      leave_(::eventfd(0, EFD_CLOEXEC)) {
  if (!leave_) fail_errno("cannot make an eventfd for the bootstrap");
  say_hello();
  reader_.emplace([this] { read_until_goodbye(); });
}

HubClient::~HubClient() {
  if (!reader_->in_its_process()) return;  // a forked child: the connection is the parent's
  try {
    send(FrameWriter(FrameType::goodbye).finish());
  } catch (const Error&) {  // the hub is gone: nobody to take leave of
  }
  const std::uint64_t one = 1;
  (void)!::write(leave_.get(), &one, sizeof one);
  reader_.reset();
}

void HubClient::say_hello() {
  wire::Hello hello{wire::format,
                    settings_.secret,
                    settings_.pe,
                    settings_.pes,
                    static_cast<std::uint32_t>(::getpid()),
                    pid_space_hash(),
                    process_identity(),
                    {}};
  fill_random(hello.nonce);
  try {
    send(FrameWriter(FrameType::hello).value(hello).finish());
    for (;;) {  // other frames are what a program that died left unread on the launcher's socket
      const Frame frame = receive_frame(socket_.get(), cutter_, any_size, settings_.deadline);
      if (frame.type == FrameType::welcome && FrameReader(frame.body).value<wire::Nonce>() == hello.nonce) return;
      if (frame.type == FrameType::refused)
        fail(Status::invalid_value, "the job's hub refused it: {}", FrameReader(frame.body).text());
    }
  } catch (const Error& error) {
    throw Error(error.status(), fmt::format("PE {} of {} cannot join the job ({}): {}", settings_.pe, settings_.pes,
                                            settings_.where, error.what()));
  }
}

void HubClient::send(std::span<const std::byte> frame) {
  const std::lock_guard lock(send_mutex_);
  send_all(socket_.get(), frame);
}

std::vector<std::vector<std::byte>> HubClient::allgather(std::span<const std::byte> mine, std::string_view step) {
  if (mine.size() > bytes_max)
    fail_in_step(step, fmt::format("{} bytes to gather; at most {} are accepted", mine.size(), bytes_max));
  step = step.substr(0, wire::step_bytes_max);
  FrameWriter gather(FrameType::gather);
  gather.reserve(mine.size() + step.size() + 24);
  {
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) fail_in_step(step, broken_);
    const Clock::time_point now = Clock::now();
    pending_ = Pending{std::string(step), now, now, std::nullopt};
    gather.value(sequence_++).text(step).block(mine);
  }
  try {
    send(gather.finish());
  } catch (const Error&) {
    // The hub may have said why before the connection went: the reader thread finds that, or the end, and wakes us.
    (void)::shutdown(socket_.get(), SHUT_WR);
  }
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [this] { return pending_->answer || !broken_.empty(); });
  const std::optional<Frame> answer = std::move(pending_->answer);
  pending_.reset();
  if (!answer) fail_in_step(step, broken_);
  lock.unlock();
  if (answer->type == FrameType::failed)  // (its text names the step)
    fail(Status::internal, "PE {} of {} ({}): {}", settings_.pe, settings_.pes, settings_.where,
         FrameReader(answer->body).text());
  return unpack(*answer, step);
}

std::vector<std::vector<std::byte>> HubClient::unpack(const Frame& all, std::string_view step) const {
  std::vector<std::vector<std::byte>> result;
  result.reserve(static_cast<std::size_t>(settings_.pes));
  try {
    FrameReader reader(all.body);
    for (int pe = 0; pe < settings_.pes; ++pe) {
      const auto bytes = reader.block();
      result.emplace_back(bytes.begin(), bytes.end());
    }
  } catch (const Error& error) {
    fail_in_step(step, error.what());
  }
  return result;
}

void HubClient::global_exit(int status) {
  flush_output();  // the reader thread ends this process without flushing
  try {
    send(FrameWriter(FrameType::exit).value(std::int32_t{status}).finish());
  } catch (const Error&) {
    return;
  }
  // The hub answers everybody, this PE last if it lives here, and the reader thread ends the process.
  const auto give_up_at = Clock::now() + std::chrono::seconds(5);
  std::unique_lock lock(mutex_);
  while (broken_.empty() && Clock::now() < give_up_at) {
    lock.unlock();
    (void)::poll(nullptr, 0, 10);
    lock.lock();
  }
}

int HubClient::node_of(int pe) const {
  return settings_.nodes ? node_by_block(pe, settings_.pes, *settings_.nodes) : -1;
}

std::vector<int> HubClient::lost_pes() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::string HubClient::loss() const {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void HubClient::on_departure(Told told) {
  const std::lock_guard one_at_a_time(told_mutex_);
  told_ = std::move(told);
  if (!told_) return;
  std::vector<int> lost, left;
  bool hub_lost = false;
  {
    const std::lock_guard lock(mutex_);
    lost = lost_, left = left_;
    hub_lost = lost_unknown_;
  }
  for (const int pe : left) told_(pe, false);
  for (const int pe : lost) told_(pe, true);
  if (hub_lost) told_(-1, true);
}

void HubClient::note_departure(int pe, bool lost, const std::string& cause) {
  const std::lock_guard one_at_a_time(told_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (lost && loss_.empty()) loss_ = cause;
    lost_unknown_ = lost_unknown_ || pe < 0;
    std::vector<int>& list = lost ? lost_ : left_;
    if (pe >= 0 && std::find(list.begin(), list.end(), pe) == list.end())
      list.insert(std::upper_bound(list.begin(), list.end(), pe), pe);
  }
  if (told_) told_(pe, lost);
}

void HubClient::start_failed(const std::string& why) {
  try {
    const std::string_view text = std::string_view(why).substr(0, wire::cause_bytes_max);
    send(FrameWriter(FrameType::start_failed).value(settings_.secret).text(text).finish());
  } catch (const Error&) {  // nobody to tell
  }
}

void HubClient::read_until_goodbye() {
  std::vector<std::byte> chunk(256 * 1024);
  std::optional<Clock::time_point> give_up_at;  // once this PE has said goodbye
  while (!give_up_at || Clock::now() < *give_up_at) {
    pollfd set[] = {{socket_.get(), POLLIN, 0}, {give_up_at ? -1 : leave_.get(), POLLIN, 0}};
    (void)::poll(set, 2, give_up_at ? poll_ms(*give_up_at) : reader_wait_ms());
    if (set[1].revents != 0) give_up_at = Clock::now() + goodbye_patience;
    if (set[0].revents != 0 && !read_frames(chunk)) return;
    ask_who_is_missing_when_due();
  }
}

bool HubClient::read_frames(std::span<std::byte> chunk) {
  const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return true;
  if (got <= 0) {
    lose_hub(got == 0 ? "it has ended, or closed the connection"
                      : "the connection broke: " + std::generic_category().message(errno));
    return false;
  }
  try {
    cutter_.append(chunk.first(static_cast<std::size_t>(got)));
    while (auto frame = cutter_.next(any_size)) {
      if (frame->type == FrameType::goodbye) return false;
      take_frame(std::move(*frame));
    }
  } catch (const Error& error) {
    lose_hub(fmt::format("it sent {}", error.what()));
    return false;
  }
  return true;
}

void HubClient::take_frame(Frame frame) {
  FrameReader reader(frame.body);
  switch (frame.type) {
    case FrameType::exit: {
      (void)reader.value<std::int32_t>();  // the PE that asked for it
      ::_exit(reader.value<std::int32_t>());
    }
    case FrameType::missing:
      return report_missing(reader.text());
    case FrameType::closed:
      return lose_hub("it has ended");
    case FrameType::refused:
      return take_refusal("the hub ended the connection: " + reader.text());
    case FrameType::lost: {
      const int pe = reader.value<std::int32_t>();
      return note_departure(pe, true, fmt::format("PE {} has ended: {}", pe, reader.text()));
    }
    case FrameType::left:
      return note_departure(reader.value<std::int32_t>(), false, {});
    case FrameType::hub_in: {
      const std::lock_guard lock(mutex_);
      hub_pe_ = reader.value<std::int32_t>();
      return;
    }
    default: {
      const std::lock_guard lock(mutex_);
      if (!pending_) return;  // an answer to a call that has failed already
      pending_->answer = std::move(frame);
      answered_.notify_all();
    }
  }
}

int HubClient::reader_wait_ms() const {
  const std::lock_guard lock(mutex_);
  // With nothing pending, look again after a report's time: a gather begun meanwhile is then not late.
  return poll_ms((pending_ && !pending_->answer ? pending_->told : Clock::now()) + settings_.options.report_after);
}

void HubClient::ask_who_is_missing_when_due() {
  {
    const std::lock_guard lock(mutex_);
    if (!pending_ || pending_->answer) return;
    const Clock::time_point now = Clock::now();
    const WaitState state{elapsed_ns(now - pending_->since), elapsed_ns(now - pending_->told)};
    if (decide(state, {limit_ns(settings_.options.report_after)}) != WaitStep::report) return;
    pending_->told = now;
  }
  // If the PE's thread is still sending its part, the hub could not tell yet, and this thread must not wait for it.
  const std::unique_lock lock(send_mutex_, std::try_to_lock);
  if (!lock) return;
  try {
    send_all(socket_.get(), FrameWriter(FrameType::who).finish());
  } catch (const Error&) {  // the next read finds the cause
  }
}

void HubClient::report_missing(const std::string& who) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (!pending_) return;
    const double waited_s = std::chrono::duration<double>(Clock::now() - pending_->since).count();
    text = fmt::format("causeway: PE {} has waited {:.0f} s in step '{}' of the bootstrap ({}) for: {}", settings_.pe,
                       waited_s, pending_->step, settings_.where, who);
  }
  if (settings_.options.report)
    settings_.options.report(text);
  else
    fmt::print(stderr, "{}\n", text);
}

void HubClient::lose_hub(const std::string& why) {
  int pe = -1;
  bool in_good_order = false;
  std::string before;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(hub_lost_, true)) return;
    if (!loss_.empty()) before = "; before, " + loss_;
    pe = hub_pe_;
    in_good_order = pe == settings_.pe || std::find(left_.begin(), left_.end(), pe) != left_.end();
  }
  const std::string text = pe >= 0 ? fmt::format("the process of PE {}, which served the job's hub: {}", pe, why)
                           : settings_.where == "launcher" ? "the launcher: " + why
                                                           : "the process that served the job's hub: " + why;
  if (!in_good_order)
    note_departure(pe, true, pe >= 0 ? fmt::format("PE {} has ended, and with it the job's hub", pe) : text);
  break_connection(text + before);
}

/// The hub lives, but this PE learns nothing more of the others: who waits for any of them must not wait for ever.
void HubClient::take_refusal(const std::string& why) {
  break_connection(why);
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(hub_lost_, true)) return;
  }
  note_departure(-1, true, why);
}

void HubClient::break_connection(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (broken_.empty()) broken_ = why;
  answered_.notify_all();
}

void HubClient::fail_in_step(std::string_view step, const std::string& why) const {
  fail(Status::internal, "PE {} of {}, step '{}' of the bootstrap ({}): {}", settings_.pe, settings_.pes, step,
       settings_.where, why);
}

}  // namespace causeway
