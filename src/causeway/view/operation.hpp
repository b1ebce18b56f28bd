// An operation is a value: a struct with its arguments. What it must have, for all surfaces to be made from it
// (api/on_group.hpp, on_stream.hpp, on_host.hpp):
//
//   static constexpr Kind kKind    what it is (config/choose.hpp)
//   using Result                   what its call gives, may be void
//   check(Check&)                  what must be true of the arguments; of a collective: check(Check&, const TeamView&)
//   run(world, name, group)        by the threads of a group; of a collective: run(world, name, group, team,
//                                  arguments), false where the members disagree
//
// and where they apply: `int team` (of a collective); plan(world), the copy that does the same; kFences, whether a
// store on a stream must come after what other engines have done; kCompletes, whether a host's call ends with what it
// has begun; kFailed, the result of a call with bad arguments; kName, for reports of waits on a stream.
#pragma once
#include <causeway/config/choose.hpp>
#include <causeway/view/check.hpp>

#include <cstddef>
#include <type_traits>

namespace causeway {

namespace detail {

template <class Op, class = void>
constexpr bool kHasFailed = false;
template <class Op>
constexpr bool kHasFailed<Op, std::void_t<decltype(Op::kFailed)>> = true;

}  // namespace detail

/// Is it called by all members of a team?
template <class Op>
constexpr bool kMeets = meets(Op::kKind);

/// The result of a call with bad arguments.
template <class Op>
CAUSEWAY_HOST_DEVICE typename Op::Result failed_result() {
  if constexpr (detail::kHasFailed<Op>) {
    return Op::kFailed;
  } else {
    return typename Op::Result();
  }
}

/// The form whose end is only quiet's.
template <class Op>
struct Nbi : Op {
  static constexpr bool kCompletes = false;
};

/// A copy that does what an operation does: `count` elements of `bytes`, which lie `to_step` and `from_step` bytes
/// apart.
struct CopyPlan {
  void* to;
  const void* from;
  size_t bytes;
  size_t count = 1;
  ptrdiff_t to_step = 0, from_step = 0;
};

}  // namespace causeway
