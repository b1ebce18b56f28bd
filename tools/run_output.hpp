// What the PEs print, line by line with the PE's number before each line (--tag).
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <poll.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// Cuts one stream of one PE into tagged lines.
class LineTagger {
 public:
  explicit LineTagger(int pe);
  /// Appends to `out` the lines that `data` completes; a line longer than line_bytes_max is broken.
  void feed(std::string_view data, std::string& out);
  /// Appends what is left of a last line without an end.
  void finish(std::string& out);
  static constexpr std::size_t line_bytes_max = std::size_t{1} << 20;

 private:
  std::string tag_;
  std::string line_;
};

/// Collects the streams of all PEs and writes whole lines to the launcher's own two. Never blocks, however slow the
/// reader of the launcher's output is: then it stops reading from the PEs, and they wait as they would with a pipe of
/// their own.
class TaggedOutput {
 public:
  /// Takes the read ends of a PE's pipes.
  void add(int pe, UniqueFd out, UniqueFd err);
  /// The launcher's own words, as a line between others on standard error.
  void message(std::string_view line);

  /// As in Hub: appends what to poll for; turn() takes exactly these entries.
  void watch(std::vector<pollfd>& set) const;
  void turn(std::span<const pollfd> polled);

  [[nodiscard]] bool finished() const {
    return sources_.empty() && sinks_[0].pending.empty() && sinks_[1].pending.empty();
  }

 private:
  struct Source {
    UniqueFd pipe;
    int sink;
    LineTagger tagger;
  };
  struct Sink {
    std::string pending;
    bool broken = false;  // its reader has gone away
  };
  void read(Source& source);
  void write(int sink);

  std::vector<Source> sources_;
  Sink sinks_[2];  // standard output, standard error
};

}  // namespace causeway
