#include <arpa/inet.h>
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/hub.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace causeway {
namespace {

using wire::Frame;
using wire::FrameReader;
using wire::FrameType;
using wire::FrameWriter;
using namespace std::chrono_literals;

constexpr auto closing_patience = 1s;  // for a peer to read the last frame
constexpr auto exit_patience = 1s;     // for PEs elsewhere to end before the PE in this process takes the hub with it

std::string peer_text(const sockaddr_storage& from) {
  Address address{from.ss_family, {}};
  if (from.ss_family == AF_INET6) {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(from);
    std::memcpy(address.bytes.data(), &ipv6.sin6_addr, 16);
    return to_text(address, ntohs(ipv6.sin6_port));
  }
  const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(from);
  std::memcpy(address.bytes.data(), &ipv4.sin_addr, 4);
  return to_text(address, ntohs(ipv4.sin_port));
}

wire::SharedBytes exit_frame(int pe, int status) {
  return FrameWriter(FrameType::exit).value(std::int32_t{pe}).value(std::int32_t{status}).share();
}

}  // namespace

void Hub::listen_on(std::vector<UniqueFd> listeners) {
  for (UniqueFd& listener : listeners) listeners_.emplace_back(std::move(listener));
}

void Hub::add_socket_of(int pe, UniqueFd socket, pid_t child) {
  auto connection = std::make_unique<Connection>(std::move(socket), fmt::format("PE {}", pe));
  connection->expected_pe = pe;
  connection->owners_child = child;
  connections_.push_back(std::move(connection));
}

void Hub::watch(std::vector<pollfd>& set) const {
  // A negative descriptor is an entry that poll() ignores. First the listeners, then two entries a connection.
  for (const PrivateFd& listener : listeners_) set.push_back({accept_again_at_ ? -1 : listener.get(), POLLIN, 0});
  for (const auto& connection : connections_) {
    set.push_back({connection->ended ? -1 : connection->socket(), connection->poll_events(), 0});
    set.push_back({connection->ended || !connection->process ? -1 : connection->process.get(), POLLIN, 0});
  }
}

void Hub::turn(std::span<const pollfd> polled) {
  const std::size_t first = listeners_.size(), known = polled.size() < first ? 0 : (polled.size() - first) / 2;
  for (std::size_t i = 0; i < std::min(known, connections_.size()); ++i) {
    Connection& connection = *connections_[i];
    if (polled[first + 2 * i].revents != 0 && !connection.ended) read(connection);
    if (polled[first + 2 * i + 1].revents != 0 && !connection.ended) take_end_of_process(connection);
  }
  for (std::size_t i = 0; i < std::min(first, polled.size()); ++i)
    if (polled[i].revents != 0) accept_some(listeners_[i].get());
  if (full_ && settings_.one_job) listeners_.clear();
  expire();
  deliver_answers();
  finish_ending();
  for (auto& connection : connections_) {
    if (connection->ended) continue;
    if (!connection->flush()) lost(*connection, connection->cause());
    if (connection->closing && connection->flushed()) connection->finish_output();
  }
  std::erase_if(connections_, [](const auto& connection) { return connection->ended; });
}

std::optional<Clock::time_point> Hub::next_deadline() const {
  std::optional<Clock::time_point> first = accept_again_at_;
  const auto consider = [&](const std::optional<Clock::time_point>& at) {
    if (at && (!first || *at < *first)) first = at;
  };
  for (const auto& connection : connections_) consider(connection->expires_at);
  for (const Loss& loss : losses_) consider(loss.known_at);
  if (ending_ && !ending_->told_last) consider(ending_->last_at);
  return first;
}

bool Hub::idle() const {
  return std::all_of(connections_.begin(), connections_.end(), [](const auto& c) { return c->ended || c->flushed(); });
}

void Hub::accept_some(int listener) {
  for (int turn = 0; turn < 64; ++turn) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    UniqueFd socket(::accept4(listener, reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // The waiting connection keeps the listener readable: look away for a moment instead of spinning.
        accept_again_at_ = Clock::now() + 100ms;
        drop_oldest_stranger();
      }
      return;
    }
    tune_stream(socket.get());
    const auto strangers = std::count_if(connections_.begin(), connections_.end(),
                                         [](const auto& c) { return !c->ended && c->pe < 0 && c->expected_pe < 0; });
    if (static_cast<std::size_t>(strangers) >= settings_.strangers_max) drop_oldest_stranger();
    auto connection = std::make_unique<Connection>(std::move(socket), peer_text(from));
    connection->expires_at = Clock::now() + settings_.hello_timeout;
    connection->send(FrameWriter(FrameType::greeting).value(wire::Greeting{wire::format, settings_.name}).share());
    connections_.push_back(std::move(connection));
  }
}

void Hub::drop_oldest_stranger() {
  for (auto& connection : connections_) {
    if (connection->ended || connection->pe >= 0 || connection->expected_pe >= 0) continue;
    connection->ended = true;
    return;
  }
}

void Hub::read(Connection& connection) {
  const bool open = connection.read_some();
  if (connection.closing) {
    if (!open) connection.ended = true;
    return;
  }
  try {
    while (!connection.closing && !connection.ended) {
      const auto frame = connection.next_frame(connection.pe >= 0            ? wire::gather_bytes_max
                                               : connection.expected_pe >= 0 ? wire::launcher_hello_bytes_max
                                                                             : wire::hello_bytes_max);
      if (!frame) break;
      handle(connection, *frame);
    }
  } catch (const Error& error) {
    const std::string why = fmt::format("it sent {}", error.what());
    if (connection.pe >= 0) membership_.lose(connection.pe, why);
    refuse(connection, why);
  }
  if (!open && !connection.ended) lost(connection, connection.cause());
}

void Hub::handle(Connection& connection, const Frame& frame) {
  if (connection.pe < 0 && connection.expected_pe >= 0 && frame.type == FrameType::start_failed)
    return handle_start_failed(connection.expected_pe, frame);
  if (connection.pe < 0) return handle_hello(connection, frame);
  FrameReader reader(frame.body);
  switch (frame.type) {
    case FrameType::gather: {
      Contribution contribution;
      contribution.sequence = reader.value<std::uint64_t>();
      contribution.step = reader.text();
      const auto bytes = reader.block();
      contribution.bytes.assign(bytes.begin(), bytes.end());
      if (!membership_.contribute(connection.pe, std::move(contribution)))
        fail(Status::internal, "a second gather before the first was answered");
      return;
    }
    case FrameType::who:
      connection.send(FrameWriter(FrameType::missing).text(membership_.missing(connection.pe)).share());
      return;
    case FrameType::exit:
      return end_job(connection.pe, reader.value<std::int32_t>());
    case FrameType::goodbye:
      return goodbye(connection);
    case FrameType::start_failed:
      return handle_start_failed(connection.pe, frame);
    case FrameType::hello:
      fail(Status::internal, "a second hello without a goodbye before it");
    default:
      fail(Status::internal, "a frame of type {} that a PE does not send", static_cast<std::uint32_t>(frame.type));
  }
}

void Hub::handle_hello(Connection& connection, const Frame& frame) {
  if (frame.type != FrameType::hello || frame.body.size() != sizeof(wire::Hello))
    return refuse(connection, "a hello was expected");
  const auto hello = FrameReader(frame.body).value<wire::Hello>();
  if (hello.format != wire::format)
    return refuse(connection,
                  fmt::format("format {} of the bootstrap; this job speaks {}", hello.format, wire::format));
  if (!wire::equal_secrets(hello.secret, settings_.secret)) return refuse(connection, "the secret is not this job's");
  if (connection.expected_pe >= 0 && hello.pe != connection.expected_pe)
    return refuse(connection, fmt::format("PE {} on the socket of PE {}", hello.pe, connection.expected_pe));
  const std::string why = membership_.join(hello.pe, hello.pes, hello.pid);
  if (!why.empty()) return refuse(connection, why);
  full_ = full_ || membership_.all_present();
  failed_starts_.erase(hello.pe);
  connection.pe = hello.pe;
  connection.expires_at.reset();
  connection.same_process = hello.process == process_identity();
  connection.send(FrameWriter(FrameType::welcome).value(hello.nonce).share());
  watch_process(connection, hello);
  tell_where_the_hub_is(connection);
  if (ending_) connection.send(exit_frame(ending_->pe, ending_->status));
}

void Hub::handle_start_failed(int pe, const Frame& frame) {
  FrameReader reader(frame.body);
  if (!wire::equal_secrets(reader.value<Secret>(), settings_.secret)) fail(Status::internal, "a wrong secret");
  const std::string text = reader.text();
  if (text.empty()) {
    failed_starts_.erase(pe);
  } else if (failed_starts_.insert(pe).second) {
    membership_.fail_start(pe, "its nvshmem_init failed: " + text);
  }
}

/// Sockets can be held open by a child of a PE, or by the program that started it: the process tells, too.
void Hub::watch_process(Connection& connection, const wire::Hello& hello) {
  if (connection.same_process || hello.pid_space == 0 || hello.pid_space != pid_space_hash()) return;
  const auto pid = static_cast<pid_t>(hello.pid);
  connection.is_owners_child = pid == connection.owners_child;
  connection.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void Hub::take_end_of_process(Connection& connection) {
  read(connection);  // its last words may be a goodbye
  connection.process.reset();
  if (!connection.ended && connection.pe >= 0)
    lost(connection, "its process ended without a goodbye (it died, was killed, or exited without finalizing)");
}

void Hub::tell_where_the_hub_is(Connection& newcomer) {
  for (const auto& connection : connections_) {
    if (connection->pe < 0 || connection->ended || !connection->same_process) continue;
    const wire::SharedBytes frame = FrameWriter(FrameType::hub_in).value(std::int32_t{connection->pe}).share();
    for (auto& other : connections_) {
      const bool news = connection.get() == &newcomer || other.get() == &newcomer;
      if (news && other->pe >= 0 && !other->ended) other->send(frame);
    }
  }
}

void Hub::goodbye(Connection& connection) {
  membership_.leave(connection.pe);
  // The PE reads up to this answer, so that whoever uses the launcher's socket next begins at the start of a frame.
  connection.send(FrameWriter(FrameType::goodbye).share());
  finish(connection);
}

void Hub::finish(Connection& connection) {
  connection.pe = -1;
  connection.same_process = connection.is_owners_child = false;
  connection.process.reset();
  connection.forget_input();
  // The launcher's sockets stay: the program may initialise again, or start another that does.
  if (connection.expected_pe >= 0) return;
  connection.closing = true;
  connection.expires_at = Clock::now() + closing_patience;
}

void Hub::refuse(Connection& connection, const std::string& why) {
  connection.send(FrameWriter(FrameType::refused).text(why).share());
  finish(connection);
}

void Hub::lost(Connection& connection, const std::string& cause) {
  connection.ended = true;
  const int pe = connection.pe >= 0 ? connection.pe : connection.expected_pe;
  if (pe < 0) return;
  const auto patience = connection.is_owners_child    ? settings_.child_loss_patience
                        : connection.expected_pe >= 0 ? settings_.loss_patience
                                                      : 0ms;
  losses_.push_back({pe, connection.pe >= 0, cause, Clock::now() + patience});
}

void Hub::apply(const Loss& loss) {
  if (!loss.in_the_job) return membership_.retire(loss.pe);
  membership_.lose(loss.pe, loss.cause);
  if (settings_.on_loss) settings_.on_loss(loss.pe, loss.cause);
}

bool Hub::lose(int pe, const std::string& cause) {
  for (auto& connection : connections_) {
    if (connection->ended || (connection->pe != pe && connection->expected_pe != pe)) continue;
    read(*connection);  // its last words may be a goodbye
    if (!connection->ended) lost(*connection, cause);
  }
  bool in_the_job = false;
  for (const Loss& loss : losses_) {
    if (loss.pe != pe) continue;
    in_the_job = in_the_job || loss.in_the_job;
    if (loss.in_the_job)
      membership_.lose(pe, cause);
    else
      membership_.retire(pe);
  }
  std::erase_if(losses_, [&](const Loss& loss) { return loss.pe == pe; });
  deliver_answers();  // into the queues, so that the owner's next poll() sees that there is something to write
  return in_the_job;
}

void Hub::end_job(int pe, int status) {
  if (ending_) return;
  ending_ = Ending{pe, status, Clock::now() + exit_patience};
  const wire::SharedBytes frame = exit_frame(pe, status);
  for (auto& connection : connections_)
    if (connection->pe >= 0 && !connection->same_process) connection->send(frame);
  if (settings_.on_exit) settings_.on_exit(pe, status);
}

void Hub::finish_ending() {
  if (!ending_ || ending_->told_last) return;
  const bool others_live = std::any_of(connections_.begin(), connections_.end(), [](const auto& connection) {
    return !connection->ended && connection->pe >= 0 && !connection->same_process;
  });
  if (others_live && Clock::now() < ending_->last_at) return;
  ending_->told_last = true;
  const wire::SharedBytes frame = exit_frame(ending_->pe, ending_->status);
  for (auto& connection : connections_)
    if (connection->pe >= 0 && connection->same_process) connection->send(frame);
}

void Hub::close() {
  listeners_.clear();
  const wire::SharedBytes frame = FrameWriter(FrameType::closed).share();
  for (auto& connection : connections_)
    if (connection->pe >= 0) connection->send(frame);
}

void Hub::deliver_answers() {
  const std::vector<Answer> answers = membership_.take_answers();
  if (ending_) return;  // that PEs vanish now is no news, and the PE told last must not take it for a failure
  for (const Answer& answer : answers)
    for (const int pe : answer.to)
      if (Connection* connection = connection_of(pe)) connection->send(answer.frame);
}

void Hub::expire() {
  const Clock::time_point now = Clock::now();
  if (accept_again_at_ && *accept_again_at_ <= now) accept_again_at_.reset();
  for (const Loss& loss : losses_)
    if (loss.known_at <= now) apply(loss);
  std::erase_if(losses_, [&](const Loss& loss) { return loss.known_at <= now; });
  for (auto& connection : connections_) {
    if (connection->ended || !connection->expires_at || *connection->expires_at > now) continue;
    if (connection->closing)
      connection->ended = true;
    else
      refuse(*connection, "no hello came in time");
  }
}

Connection* Hub::connection_of(int pe) {
  for (auto& connection : connections_)
    if (connection->pe == pe && !connection->ended) return connection.get();
  return nullptr;
}

}  // namespace causeway
