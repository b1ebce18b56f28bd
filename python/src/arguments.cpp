#include "arguments.hpp"

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

namespace causeway::python {
namespace {

#if defined(CAUSEWAY_PYTHON_CPU)
constexpr const char *kDevice = "memory of the CPU", *kMachine = "CPU";
#else
constexpr const char *kDevice = "memory of a GPU", *kMachine = "CUDA";
#endif

/// What libraries without such a type keep its bits in.
bool stands_for(const std::string& type, const std::string& wanted) {
  return type == wanted || (wanted == "bfloat16" && type == "uint16") || (wanted == "float8_e4m3fn" && type == "uint8");
}

bool fits(const std::vector<int64_t>& shape, const std::vector<int64_t>& extents) {
  if (shape.size() != extents.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (extents[i] != kAny && shape[i] != extents[i]) return false;
  return true;
}

std::string in_words(const std::vector<int64_t>& extents) {
  std::vector<std::string> words;
  for (const int64_t extent : extents) words.push_back(extent == kAny ? "any" : std::to_string(extent));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

}  // namespace

void Array::check(const std::string& wanted, const std::vector<int64_t>& extents, const char* meaning) const {
  if (!stands_for(type, wanted)) refuse("{} has elements of {}: must be of {}", name, type, wanted);
  if (!fits(shape, extents))
    refuse("{} has the shape {}: must be {}, here {}", name, in_words(shape), meaning, in_words(extents));
  if (!contiguous)
    refuse("{} of shape {} is not contiguous: must be (rows one after the other)", name, in_words(shape));
  if (!on_device) refuse("{} is not in {}: must be, on the {} machine", name, kDevice, kMachine);
}

int Array::extent(size_t dimension) const {
  if (shape[dimension] > std::numeric_limits<int>::max())
    refuse("{} has the shape {}: must have at most {} of each extent", name, in_words(shape),
           std::numeric_limits<int>::max());
  return int(shape[dimension]);
}

int integer(nb::handle given, const char* argument, int low, int high, const char* meaning) {
  const nb::object index = nb::steal(PyNumber_Index(given.ptr()));
  if (!index) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    refuse("{} is a {}: must be an int, {} to {} ({})", argument, nb::str(given.type().attr("__name__")).c_str(), low,
           high, meaning);
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || value < low || value > high)
    refuse("{} is {}: must be {} to {} ({})", argument, nb::str(index).c_str(), low, high, meaning);
  return int(value);
}

void add_arguments(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<Array>(module, "Array")
      .def(nb::init<std::string, Address, std::vector<int64_t>, std::string, bool, bool>(), "name"_a, "address"_a,
           "shape"_a, "type"_a, "contiguous"_a, "on_device"_a);
}

}  // namespace causeway::python
