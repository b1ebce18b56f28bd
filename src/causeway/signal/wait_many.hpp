// Waits and tests on many variables (OpenSHMEM 1.5, sections 9.9.2-7 and 9.9.9-14). Variables whose status is not 0 are
// left out. What they are compared with: one value for all, or an element of a vector for each.
#pragma once
#include <causeway/signal/signal.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

constexpr size_t kNoneOfThem = ~size_t{0};  // SIZE_MAX, as the specification has it

// How many are enough. look(op, found, holds, first) asks holds(i) of the variables that take part and is true when
// there are enough; `found` begins as kNone and keeps what was found from look to look.

/// All of them, one after the other: what held once need not hold at the end (as in the specification).
struct All {
  using Result = bool;
  static constexpr size_t kNone = 0;
  CAUSEWAY_OF_EITHER
  template <class Op, class Holds>
  CAUSEWAY_HOST_DEVICE static bool look(const Op& op, size_t& found, Holds holds, size_t) {
    while (found < op.many && (!op.takes_part(found) || holds(found))) ++found;
    return found == op.many;
  }
  CAUSEWAY_HOST_DEVICE static bool result(size_t, bool enough) { return enough; }
};
/// One of them, and gives its number. It begins at `first`: so that a program which asks again and again meets all.
struct Any {
  using Result = size_t;
  static constexpr size_t kNone = kNoneOfThem;
  CAUSEWAY_OF_EITHER
  template <class Op, class Holds>
  CAUSEWAY_HOST_DEVICE static bool look(const Op& op, size_t& found, Holds holds, size_t first) {
    for (size_t k = 0; k < op.many; ++k) {
      const size_t i = first + k < op.many ? first + k : first + k - op.many;
      if (op.takes_part(i) && holds(i)) {
        found = i;
        return true;
      }
    }
    return false;
  }
  CAUSEWAY_HOST_DEVICE static size_t result(size_t found, bool) { return found; }
};
/// Some of them: the numbers of all that hold now, in order, to `indices`. Gives how many.
struct Some {
  using Result = size_t;
  static constexpr size_t kNone = 0;
  CAUSEWAY_OF_EITHER
  template <class Op, class Holds>
  CAUSEWAY_HOST_DEVICE static bool look(const Op& op, size_t& found, Holds holds, size_t) {
    found = 0;
    for (size_t i = 0; i < op.many; ++i)
      if (op.takes_part(i) && holds(i)) op.indices[found++] = i;
    return found > 0;
  }
  CAUSEWAY_HOST_DEVICE static size_t result(size_t found, bool) { return found; }
};

/// A wait, or (`Waits` false) a test. Where nobody takes part it ends at once, with Enough::kNone.
template <class Enough, class T, bool Waits>
struct Many {
  T* ivars;
  size_t many;
  size_t* indices;  // of Some
  const int* status;
  int comparison;
  T value;          // for all
  const T* values;  // or one for each
  bool each;

  static constexpr Kind kKind = Kind::wait;
  static constexpr bool kWaits = Waits;
  static constexpr const char* kName = "a wait on a stream";
  using Result = typename Enough::Result;
  static constexpr Result kFailed = Result(Enough::kNone);

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    detail::check_variables(check, ivars, many, comparison);
    check.local("status", status);
    if (many == 0) return;
    if (each) check.result("values", values);
    if (std::is_same<Enough, Some>::value) check.result("indices", indices);
  }
  template <class Group>
  CAUSEWAY_DEVICE Result run(const DeviceWorld& world, const char* name, Group) const {
    size_t found = Enough::kNone;
    const auto look = [&](bool hurried) {
      const auto holds = [&](size_t i) {
        T seen{};
        return arrived(ivars + i, seen, hurried, Compared<T>{comparison, value_of(i)});
      };
      return Enough::look(*this, found, holds, many > 0 ? machine::varying() % many : 0);
    };
    if constexpr (!Waits) {
      const bool enough = look(false);
      if (!enough) machine::pause();  // callers loop around it
      return Enough::result(found, enough);
    } else {
      if (nobody_takes_part()) return Enough::result(Enough::kNone, true);
      const auto describe = [&] {
        return WaitInfo{name, -1, ivars + at_fault(found), static_cast<uint64_t>(value_of(at_fault(found))),
                        comparison_name(comparison)};
      };
      const bool enough = spin_until(world, describe, [&](uint64_t& seen, bool hurried) {
        const bool there = look(hurried);
        if (!there) seen = static_cast<uint64_t>(machine::load_relaxed_sys(ivars + at_fault(found)));
        return there;
      });
      return Enough::result(found, enough);
    }
  }
  [[nodiscard]] T* variables() const { return ivars; }
  [[nodiscard]] size_t count() const { return nobody_takes_part() ? 0 : many; }
  template <class Holds>
  bool look(size_t& found, Holds holds) const {
    return Enough::look(*this, found, holds, many > 0 ? turn() % many : 0);
  }
  Result result(size_t found, bool enough, const T*) const { return Enough::result(found, enough); }

  CAUSEWAY_HOST_DEVICE T value_of(size_t i) const { return each ? values[i] : value; }
  CAUSEWAY_HOST_DEVICE bool takes_part(size_t i) const { return !status || status[i] == 0; }
  CAUSEWAY_HOST_DEVICE bool nobody_takes_part() const {
    for (size_t i = 0; i < many; ++i)
      if (takes_part(i)) return false;
    return true;
  }

 private:
  /// The variable that a report is about.
  CAUSEWAY_HOST_DEVICE static size_t at_fault(size_t found) { return std::is_same<Enough, All>::value ? found : 0; }
  static size_t turn() {
    static size_t calls = 0;
    return __atomic_fetch_add(&calls, size_t{1}, __ATOMIC_RELAXED);
  }
};

}  // namespace causeway
