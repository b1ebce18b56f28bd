#include <tools/run_output.hpp>
#include <fmt/format.h>
#include <limits.h>

#include <algorithm>
#include <cerrno>

namespace causeway {
namespace {
constexpr std::size_t pending_bytes_max = std::size_t{1} << 20;
}

LineTagger::LineTagger(int pe) : tag_(fmt::format("[{}] ", pe)) {}

void LineTagger::feed(std::string_view data, std::string& out) {
  while (!data.empty()) {
    const std::size_t end = data.find('\n');
    line_ += data.substr(0, end);
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
    out += tag_ + line_ + '\n';
    line_.clear();
  }
  while (line_.size() > line_bytes_max) {
    out += tag_ + line_.substr(0, line_bytes_max) + '\n';
    line_.erase(0, line_bytes_max);
  }
}

void LineTagger::finish(std::string& out) {
  if (!line_.empty()) out += tag_ + line_ + '\n';
  line_.clear();
}

void TaggedOutput::add(int pe, UniqueFd out, UniqueFd err) {
  sources_.push_back({std::move(out), 0, LineTagger(pe)});
  sources_.push_back({std::move(err), 1, LineTagger(pe)});
}

void TaggedOutput::message(std::string_view line) {
  sinks_[1].pending += line;
  sinks_[1].pending += '\n';
}

void TaggedOutput::watch(std::vector<pollfd>& set) const {
  for (int sink = 0; sink < 2; ++sink) set.push_back({sinks_[sink].pending.empty() ? -1 : sink + 1, POLLOUT, 0});
  for (const Source& source : sources_) {
    const bool full = sinks_[source.sink].pending.size() > pending_bytes_max;
    set.push_back({full ? -1 : source.pipe.get(), POLLIN, 0});
  }
}

void TaggedOutput::turn(std::span<const pollfd> polled) {
  const std::size_t known = std::min(sources_.size(), polled.size() - 2);
  for (std::size_t i = 0; i < known; ++i)
    if (polled[i + 2].revents != 0) read(sources_[i]);
  for (int sink = 0; sink < 2; ++sink)
    if (polled[static_cast<std::size_t>(sink)].revents != 0) write(sink);
  std::erase_if(sources_, [](const Source& source) { return !source.pipe; });
}

void TaggedOutput::read(Source& source) {
  char chunk[32 * 1024];
  const ssize_t got = ::read(source.pipe.get(), chunk, sizeof chunk);
  Sink& sink = sinks_[source.sink];
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0 && !sink.broken) return source.tagger.feed({chunk, static_cast<std::size_t>(got)}, sink.pending);
  if (!sink.broken) source.tagger.finish(sink.pending);
  source.pipe.reset();  // with a broken sink: the PE's next write tells it, as its own pipe would have
}

void TaggedOutput::write(int number) {
  Sink& sink = sinks_[number];
  // A pipe that poll() calls writable takes PIPE_BUF bytes without blocking.
  const ssize_t written =
      ::write(number + 1, sink.pending.data(), std::min<std::size_t>(sink.pending.size(), PIPE_BUF));
  if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (written < 0) {
    sink.broken = true;
    sink.pending.clear();
    for (Source& source : sources_)
      if (source.sink == number) source.pipe.reset();
    return;
  }
  sink.pending.erase(0, static_cast<std::size_t>(written));
}

}  // namespace causeway
