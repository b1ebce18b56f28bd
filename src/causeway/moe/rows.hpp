// How lanes copy and sum rows of packs. Each machine has, in a file of the same name:
//
//   fan_out(lanes, towards, from, bytes, each)    copies a multiple of 16 bytes, at multiples of 16, to several
//                                                 addresses, read once: each(store) calls store(to) for every one
//   InRegisters, InShared                         hold packs between their load and their sum: those of two rows in
//                                                 each of kStages
//   sum_rows<Stages>(lanes, begin, end, terms, row, weight, ready, to)
//       Weighted sum of the packs [begin, end) of rows, rounded once into the row `to` of any rank. The terms are the
//       set bits of `terms`, with row(k) and weight(k) for term k. All lanes call these together. ready() is called
//       once, after the loads of the first rows have started and before weight(). If it is false, nothing is summed.
#pragma once
#if defined(CAUSEWAY_CPU)
#include <causeway/moe/cpu/rows.hpp>
#else
#include <causeway/moe/cuda/rows.hpp>
#endif
