// A model of reductions: what to combine, and whether a result is what an operator makes of its operands.
//
// Integers are exact, sums and products wrap. Floating point: operands whose results are exact in every format, which
// must then be met exactly, or fractions, for which sums and products have a bound.
#pragma once
#include "sums.hpp"

namespace conformance {

enum class Operator { sum, prod, min, max, bit_and, bit_or, bit_xor };
constexpr int kOperators = 7;
inline const char* const kOperatorNames[] = {"sum", "prod", "min", "max", "and", "or", "xor"};

template <class T>
T draw_operand(Operator op, uint64_t word, bool whole) {
  if (precision<T>() == 0 || op == Operator::sum) return draw_value<T>(word, whole);
  if (op == Operator::prod) {  // powers of two, or what is near 1: no product of some PEs' overflows
    const float size = whole ? float(1 << word % 3) / 2 : 0.75f + float((word >> 8) % 1024) * (0.75f / 1024);
    return T(word >> 63 ? -size : size);
  }
  if (word % 61 == 0) return T((word >> 63 ? -1.0f : 1.0f) * HUGE_VALF);
  return draw_value<T>(word, whole);
}

template <class T>
T combine_exactly(Operator op, T a, T b) {
  if (op == Operator::min) return b < a ? b : a;
  if (op == Operator::max) return a < b ? b : a;
  if constexpr (std::is_integral<T>::value) {
    if (op == Operator::sum) return T(uint64_t(a) + uint64_t(b));
    if (op == Operator::prod) return T(uint64_t(a) * uint64_t(b));
    return op == Operator::bit_and ? T(a & b) : op == Operator::bit_or ? T(a | b) : T(a ^ b);
  } else {
    return a;
  }
}

/// Is `got` what the operator makes of these (at least one, but for sums)?
template <class T>
bool is_result(Operator op, const std::vector<T>& operands, T got, bool whole, char (&text)[96]) {
  if (op == Operator::sum) return is_sum<T>(operands, got, whole, text);
  if (std::is_integral<T>::value || op == Operator::min || op == Operator::max) {
    T expected = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) expected = combine_exactly<T>(op, expected, operands[i]);
    std::snprintf(text, sizeof text, "%.17g, expected %.17g", double(got), double(expected));
    return got == expected;
  }
  double product = 1;
  for (T x : operands) product *= double(x);
  std::snprintf(text, sizeof text, "%.9g, expected %.9g", double(got), product);
  const double bound = whole ? 0 : bound_of<T>(product, std::fabs(product) * double(operands.size()));
  return std::fabs(double(got) - product) <= bound;
}

using Inputs = std::vector<const char*>;  // by member: its operands of all elements

template <class T>
void fill_operands(Operator op, char* to, uint64_t key, size_t elements, bool whole) {
  for (size_t i = 0; i < elements; ++i) {
    const T value = draw_operand<T>(op, mix(key + i), whole);
    std::memcpy(to + i * sizeof(T), &value, sizeof value);
  }
}
template <class T>
void check_results(Suite& suite, Operator op, const Inputs& inputs, const char* got, size_t elements, bool whole) {
  std::vector<T> operands(inputs.size());
  for (size_t i = 0; i < elements; ++i) {
    for (size_t member = 0; member < inputs.size(); ++member)
      std::memcpy(&operands[member], inputs[member] + i * sizeof(T), sizeof(T));
    T value;
    std::memcpy(&value, got + i * sizeof(T), sizeof value);
    char text[96];
    if (!is_result<T>(op, operands, value, whole, text))
      return suite.wrong("%s, element %zu of %zu: %s", kOperatorNames[int(op)], i, elements, text);
  }
}

}  // namespace conformance
