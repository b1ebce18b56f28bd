// The one home of choice: how an operation is carried out, by what it is, who asks for it and what it moves. A pure
// function: its table is a test, and `causeway info` prints it.
#pragma once
#include <cstddef>

namespace causeway {

/// What an operation is. Those from `meeting` on are called by all members of a team.
enum class Kind {
  store,            // one element to a peer
  load,             // one element from a peer
  copy,             // bytes to or from a peer
  copy_and_signal,  // and then an update of a word
  update,           // an atomic operation on a word of a peer
  wait,             // looks at own words
  fence,
  quiet,
  meeting,
  broadcast,
  fcollect,
  collect,
  alltoall,
  alltoalls,
  reduce,
  reducescatter,
  scan,
};
constexpr Kind kKindsLast = Kind::scan;

constexpr bool meets(Kind kind) { return kind >= Kind::meeting; }

/// Who asks for it.
enum class Caller { kernel, stream, host };

/// What carries it out.
enum class Way {
  threads,      // those of the caller, by loads and stores
  copy_engine,  // copies of the machine, in the order of a stream
  kernel,       // a kernel of the library, in the order of a stream
  waiting,      // of the host: it looks at copies of words, or waits for its stream
  nothing,      // it is so already
};

/// What a choice depends on.
struct Facts {
  bool gpu;  // or the CPU machine
  Caller caller;
};

struct Plan {
  Way way;
  unsigned blocks = 0, threads = 0;  // of a kernel
};

/// On the CPU machine hosts run the code of kernels, and a kernel of one thread is fastest. On a GPU the host's calls
/// are work on a stream of the library's own; what the host waits for it looks at itself, since kernels may hold all of
/// the device.
constexpr Plan choose(Kind kind, Facts facts) {
  const bool host = facts.caller == Caller::host;
  if (facts.caller == Caller::kernel || (host && !facts.gpu)) return {Way::threads};
  switch (kind) {
    case Kind::store:  // (a host's value is in memory that the driver copies before it returns)
      if (host) return {Way::copy_engine};
      return {Way::kernel, 1, 1};
    case Kind::load:
    case Kind::copy:
    case Kind::copy_and_signal:  // (and a kernel for the signal)
      return {Way::copy_engine};
    case Kind::update:
      return {Way::kernel, 1, 1};
    case Kind::wait:
      if (host) return {Way::waiting};
      return {Way::kernel, 1, 1};
    case Kind::fence:
      return {Way::nothing};  // a stream keeps its order
    case Kind::quiet:
      if (host) return {Way::waiting};
      return {Way::kernel, 1, 1};
    case Kind::meeting:
      return {Way::kernel, 1, facts.gpu ? 32u : 1u};
    default:
      return {Way::kernel, 1, facts.gpu ? 512u : 1u};
  }
}

constexpr const char* name_of(Kind kind) {
  constexpr const char* names[] = {"store",    "load",      "copy",    "copy and signal", "update",   "wait",
                                   "fence",    "quiet",     "meeting", "broadcast",       "fcollect", "collect",
                                   "alltoall", "alltoalls", "reduce",  "reducescatter",   "scan"};
  return names[int(kind)];
}
constexpr const char* name_of(Way way) {
  constexpr const char* names[] = {"the caller's threads", "copy engine", "kernel", "waiting", "nothing to do"};
  return names[int(way)];
}

}  // namespace causeway
