// Arithmetic of sizes: parts, multiples, and products that may be too large. Usable in device code.
#pragma once
#include <causeway/base/host_device.hpp>

#include <cstddef>

namespace causeway {

/// How many parts of `part` (more than 0) hold `whole`. The sum of both must fit in the type.
template <class Whole, class Part>
CAUSEWAY_HOST_DEVICE constexpr auto divided_up(Whole whole, Part part) {
  return (whole + part - 1) / part;
}

/// The least multiple of `unit` (more than 0) that is not less than `value`. The sum of both must fit in the type.
template <class Value, class Unit>
CAUSEWAY_HOST_DEVICE constexpr auto rounded_up(Value value, Unit unit) {
  return divided_up(value, unit) * unit;
}

/// a * b; what is too much for a size is the greatest size there is, so that it stays too much.
CAUSEWAY_HOST_DEVICE constexpr size_t capped_product(size_t a, size_t b) {
  return b != 0 && a > ~size_t{0} / b ? ~size_t{0} : a * b;
}

}  // namespace causeway
