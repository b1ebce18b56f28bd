// Types of the tile interface: what a tensor looks like. Names and members are the reference's; tensors of other
// libraries with data(), shape() and stride() do as well.
#pragma once
#include <limits.h>

#include <cuda/std/tuple>
#include <cuda/std/type_traits>

#if defined(__CUDACC__)
#define CAUSEWAY_TILE_FUNCTION __host__ __device__
#else
#define CAUSEWAY_TILE_FUNCTION
#endif

/// A number known when compiling, as an extent or stride.
template <int v>
struct ConstInt : cuda::std::integral_constant<int, v> {
  CAUSEWAY_TILE_FUNCTION constexpr operator int() const { return v; }
};

namespace nvshmemx {

template <class... Shapes>
using shape = cuda::std::tuple<Shapes...>;
template <class... Strides>
using stride = cuda::std::tuple<Strides...>;

template <class... Ts>
CAUSEWAY_TILE_FUNCTION constexpr shape<Ts...> make_shape(Ts const&... extents) {
  return shape<Ts...>(extents...);
}
template <class... Ts>
CAUSEWAY_TILE_FUNCTION constexpr stride<Ts...> make_stride(Ts const&... strides) {
  return stride<Ts...>(strides...);
}

/// Extents and, for each, how many elements apart neighbours lie.
template <class Shape, class Stride>
struct Layout {
  CAUSEWAY_TILE_FUNCTION constexpr Layout(Shape const& shape = {}, Stride const& stride = {})
      : shape_(shape), stride_(stride) {}
  CAUSEWAY_TILE_FUNCTION constexpr Shape shape() const { return shape_; }
  CAUSEWAY_TILE_FUNCTION constexpr Stride stride() const { return stride_; }

 private:
  Shape shape_;
  Stride stride_;
};

template <class Shape, class Stride>
CAUSEWAY_TILE_FUNCTION constexpr Layout<Shape, Stride> make_layout(Shape const& shape, Stride const& stride) {
  return Layout<Shape, Stride>(shape, stride);
}

/// Elements in memory with their layout.
template <typename T, class Layout>
struct Tensor {
  using value_type = T;
  using layout_type = Layout;
  T* _data;
  const Layout _layout;

  CAUSEWAY_TILE_FUNCTION constexpr Tensor(T* data, Layout layout) : _data(data), _layout(layout) {}
  CAUSEWAY_TILE_FUNCTION constexpr Tensor(Layout layout) : _data(nullptr), _layout(layout) {}

  CAUSEWAY_TILE_FUNCTION constexpr Layout layout() const { return _layout; }
  CAUSEWAY_TILE_FUNCTION T* data() { return _data; }
  CAUSEWAY_TILE_FUNCTION constexpr auto stride() const { return _layout.stride(); }
  CAUSEWAY_TILE_FUNCTION constexpr auto shape() const { return _layout.shape(); }
};

/// How the reference does it. Here all are done by load and store: the choice says only who reads and who writes (see
/// the functions), and multicast is not used.
typedef enum {
  NVLS_ONE_SHOT_PUSH_NBI = 0,
  NVLS_ONE_SHOT_PULL_NBI = 1,
  NVLS_TWO_SHOT_PUSH_NBI = 2,
  NVLS_TWO_SHOT_PULL_NBI = 3,
  NVSHMEMI_TILE_ALGO_SENTINEL = INT_MAX
} tile_coll_algo_t;

}  // namespace nvshmemx
