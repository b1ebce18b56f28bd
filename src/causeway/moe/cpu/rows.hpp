// Rows on the CPU machine (moe/rows.hpp): loads are not asynchronous, so there is nothing to overlap.
#pragma once
#include <causeway/machine/machine.hpp>
#include <causeway/moe/packs.hpp>

namespace causeway::moe {

template <class Each>
CAUSEWAY_DEVICE void fan_out(Lanes lanes, Towards towards, const char* from, size_t bytes, Each each) {
  each([&](char* to) { copy(lanes, towards, to, from, bytes); });
}

struct InRegisters {
  static constexpr int kStages = 1, kPacks = 1;
  static constexpr unsigned kBytes = 0;
};
using InShared = InRegisters;

template <class Stages, class Row, class Weight, class Ready>
CAUSEWAY_DEVICE void sum_rows(Lanes lanes, int begin, int end, uint32_t terms, Row row, Weight weight, Ready ready,
                              char* to) {
  PackSum<Stages::kPacks> sum(lanes, begin, end);
  if (!ready()) return;
  for (int base = begin; base < end; base += sum.stride(lanes)) {
    for (uint32_t left = terms; left != 0;) {
      const int k = take_lowest(left);
      sum.add(row(k), weight(k));
    }
    sum.store(to);
    sum.next();
  }
}

}  // namespace causeway::moe
