// What reductions are made of: operators, the types they compute in, and the combination of all members' elements.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <causeway/order/barrier.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace causeway {

// `a` stands for what earlier members gave. Sums and products of integers wrap; the least of a NaN and a number is what
// the comparison says.
struct Sum {
  static constexpr int number = 1;
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Prod {
  static constexpr int number = 2;
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    if constexpr (std::is_integral<T>::value && sizeof(T) < 4) {  // (no overflow of int)
      return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
};
struct Min {
  static constexpr int number = 3;
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  static constexpr int number = 4;
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    return a < b ? b : a;
  }
};
struct And {
  static constexpr int number = 5;
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  static constexpr int number = 6;
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  static constexpr int number = 7;
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
/// Of {value, index}: the greatest value, and the least of its indices.
struct MaxLoc {
  static constexpr int number = 8;
  template <class Pair>
  CAUSEWAY_DEVICE static Pair combine(Pair a, Pair b) {
    return a.x < b.x || (a.x == b.x && b.y < a.y) ? b : a;
  }
};

/// How values of a type are combined: half and bfloat16 in float.
template <class T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<__half> {
  using type = float;
};
template <>
struct Accumulator<__nv_bfloat16> {
  using type = float;
};

namespace detail {

/// What one thread handles at a time: 16 bytes where dest and source allow it, else one element.
template <class T, int N>
struct alignas(N * sizeof(T)) Pack {
  T value[N];
};
template <class T>
constexpr int kPackElements = int(16 / sizeof(T));

template <class T, int N>
CAUSEWAY_DEVICE Pack<T, N> load_pack(const T* from) {
  Pack<T, N> pack;
  if constexpr (N * sizeof(T) == 16) {
    pack = machine::load_peer16<Pack<T, N>>(from);
  } else {
    pack.value[0] = machine::load_peer(from);
  }
  return pack;
}
template <class T, int N>
CAUSEWAY_DEVICE void store_pack(T* to, const Pack<T, N>& pack) {
  if constexpr (N * sizeof(T) == 16) {
    machine::store_peer16(to, pack);
  } else {
    machine::store_peer(to, pack.value[0]);
  }
}

/// Elements that are being combined, in the wider type.
template <class Operation, class T, int N>
struct Running {
  using Wide = typename Accumulator<T>::type;
  Wide value[N];

  CAUSEWAY_DEVICE void start(const Pack<T, N>& pack) {
    for (int k = 0; k < N; ++k) value[k] = static_cast<Wide>(pack.value[k]);
  }
  CAUSEWAY_DEVICE void add(const Pack<T, N>& pack) {
    for (int k = 0; k < N; ++k) value[k] = Operation::combine(value[k], static_cast<Wide>(pack.value[k]));
  }
  CAUSEWAY_DEVICE Pack<T, N> result() const {
    Pack<T, N> pack;
    for (int k = 0; k < N; ++k) pack.value[k] = static_cast<T>(value[k]);
    return pack;
  }
};

/// The elements at `source` of all members, combined in member order: the same bits whoever does it.
template <class Operation, int N, class T>
CAUSEWAY_DEVICE Pack<T, N> combine_members(const DeviceWorld& world, const TeamView& team, const T* source) {
  Running<Operation, T, N> running;
  running.start(load_pack<T, N>(at(world, source, world_pe(team, 0))));
  for (int member = 1; member < team.pes; ++member)
    running.add(load_pack<T, N>(at(world, source, world_pe(team, member))));
  return running.result();
}

/// Calls op.pack<elements>(world, view, first element) for all of op.count, dealt to the group; `shares` parts, of
/// which this is `share`.
template <class Group, class Op>
CAUSEWAY_DEVICE void for_packs(Group group, bool aligned, size_t share, size_t shares, const DeviceWorld& world,
                               const TeamView& view, const Op& op) {
  using T = typename Op::Element;
  constexpr int N = kPackElements<T>;
  const size_t packs = aligned ? op.count / N : 0, packed = packs * N, rest = op.count - packed;
  const size_t packs_end = packs * (share + 1) / shares;
  for (size_t i = packs * share / shares + group.rank(); i < packs_end; i += group.size())
    op.template pack<N>(world, view, i * N);
  if constexpr (sizeof(T) < 16) {  // (what has 16 bytes is aligned)
    const size_t end = packed + rest * (share + 1) / shares;
    for (size_t i = packed + rest * share / shares + group.rank(); i < end; i += group.size())
      op.template pack<1>(world, view, i);
  }
}

CAUSEWAY_DEVICE bool aligned16(const void* a, const void* b) {
  return (reinterpret_cast<uint64_t>(a) | reinterpret_cast<uint64_t>(b)) % 16 == 0;
}

}  // namespace detail

}  // namespace causeway
