// Checks of arguments of Python calls: ValueErrors that name the argument as Python does.
#pragma once
#include "native.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::python {

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<const Values&...> text, const Values&... values) {
  throw std::invalid_argument(fmt::format(text, values...));
}

constexpr int64_t kAny = -1;  // in address of an extent

/// An array as Python describes it: whatever library it is of.
struct Array {
  std::string name;  // of the argument
  Address address = 0;
  std::vector<int64_t> shape;
  std::string type;  // of its elements, as PyTorch and ml_dtypes call it
  bool contiguous = true, on_device = true;

  /// It must have elements of `wanted`, or of what carries the bits of a type that libraries lack, and these extents,
  /// and be memory that kernels work on, row after row. `meaning`: the shape in words.
  void check(const std::string& wanted, const std::vector<int64_t>& extents, const char* meaning) const;
  /// An extent, of an array that has been checked.
  [[nodiscard]] int extent(size_t dimension) const;
  /// As a pointer. Some libraries put arrays without elements at 0. These get another pointer: null means not given.
  template <class T = void>
  [[nodiscard]] T* pointer() const {
    return as_pointer<T>(address == 0 ? 16 : address);
  }
};
/// Null for an array that is not given.
template <class T>
T* pointer_to(const Array* array) {
  return array ? array->pointer<T>() : nullptr;
}

/// An int of that range; `meaning`: of what.
int integer(nb::handle given, const char* argument, int low, int high, const char* meaning);

/// A record whose constructor takes its fields by name. What is not given keeps its default.
template <class Record>
nb::class_<Record> record(nb::module_& module, const char* name) {
  return nb::class_<Record>(module, name).def(nb::new_([](const nb::kwargs& fields) {
    nb::object made = nb::cast(Record{});
    for (auto [field, value] : fields) nb::setattr(made, field, value);
    return nb::cast<Record>(made);
  }));
}

/// A field that is a pointer: an address in Python.
template <class Record, class Owner, class Pointer>
void pointer(nb::class_<Record>& of, const char* name, Pointer Owner::*field) {
  of.def_prop_rw(
      name, [field](const Record& self) { return reinterpret_cast<Address>(self.*field); },
      [field](Record& self, Address address) { self.*field = reinterpret_cast<Pointer>(address); });
}

void add_arguments(nb::module_&);

}  // namespace causeway::python
