// Operations as kernels, in the order of a stream.
#pragma once
#include <causeway/machine/group.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/order/barrier.hpp>
#include <causeway/view/operation.hpp>

#include <type_traits>

namespace causeway {

template <class Op, class = void>
constexpr bool kFencesOf = false;
template <class Op>
constexpr bool kFencesOf<Op, std::void_t<decltype(Op::kFences)>> = Op::kFences;

template <class Op, class = void>
constexpr const char* kNameOf = "an operation on a stream";
template <class Op>
constexpr const char* kNameOf<Op, std::void_t<decltype(Op::kName)>> = Op::kName;

/// By one thread. What the stream, or the host, did before a store is visible to whoever sees the store: copies are
/// made by copy engines, so nothing that the program can call orders them but a fence by the thread that stores.
template <class Op>
struct OperationKernel {
  DeviceWorld world;
  Op op;
  CAUSEWAY_DEVICE void operator()() const {
    if constexpr (kFencesOf<Op>) fence(world);
    static_cast<void>(op.run(world, kNameOf<Op>, Thread{}));
  }
};

/// By a block, in a team's channel: `slot` of world.teams, its device channel or its host channel.
template <class Op>
struct CollectiveKernel {
  DeviceWorld world;
  int slot;
  Op op;
  Arguments arguments;
  using Group = typename std::conditional<machine::kStreamThreads == 1, Thread, Block>::type;
  CAUSEWAY_DEVICE void operator()() const {
    static_cast<void>(op.run(world, kNameOf<Op>, Group{}, world.teams[slot], arguments));
  }
};

/// Launches what choose() has a kernel for.
template <class Op>
void launch_operation(const DeviceWorld& world, const Op& op, const Plan& plan, machine::StreamHandle stream) {
  machine::launch(OperationKernel<Op>{world, op}, plan.blocks, plan.threads, stream);
}
template <class Op>
void launch_collective(const DeviceWorld& world, const Op& op, int slot, Arguments arguments, const Plan& plan,
                       machine::StreamHandle stream) {
  machine::launch(CollectiveKernel<Op>{world, slot, op, arguments}, plan.blocks, plan.threads, stream);
}

}  // namespace causeway
