// Misuse of atomics, strided copies and waits on many: a call with a bad argument does nothing, and says which it was.
#include "misuse.hpp"

using namespace conformance;

namespace {

using Bench = MisuseBench;

// ---------------------------------------------------------------- atomics
// Calls by number, so that host code and kernels make the same ones.

#define ATOMICS_E(X) X(fetch) X(set) X(swap) X(fetch_nbi) X(swap_nbi)
#define ATOMICS_A(X)                                                                                   \
  ATOMICS_E(X)                                                                                         \
  X(compare_swap) X(compare_swap_nbi) X(inc) X(fetch_inc) X(fetch_inc_nbi) X(add) X(fetch_add) X(fetch_add_nbi)
#define ATOMICS_X(X)                                                                                   \
  ATOMICS_A(X)                                                                                         \
  X(and) X(or) X(xor) X(fetch_and) X(fetch_or) X(fetch_xor) X(fetch_and_nbi) X(fetch_or_nbi) X(fetch_xor_nbi)

template <class T>
struct Atomic {
  T *fetch, *dest;
  int pe;
};
#define CALL_fetch(P, S, T) *a.fetch = nvshmem_##T##_atomic_fetch(a.dest, a.pe);
#define CALL_set(P, S, T) P##T##_atomic_set##S(a.dest, 5, a.pe STREAM);
#define CALL_swap(P, S, T) *a.fetch = nvshmem_##T##_atomic_swap(a.dest, 5, a.pe);
#define CALL_fetch_nbi(P, S, T) P##T##_atomic_fetch_nbi##S(a.fetch, a.dest, a.pe STREAM);
#define CALL_swap_nbi(P, S, T) P##T##_atomic_swap_nbi##S(a.fetch, a.dest, 5, a.pe STREAM);
