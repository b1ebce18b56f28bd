// How lanes copy and sum rows of packs. Each machine has, in a file of the same name:
//
//   fan_out(lanes, towards, from, bytes, each)    copies a multiple of 16 bytes, at multiples of 16, to several
//                                                 addresses, read once: each(store) calls store(to) for every one
//   InRegisters, InShared                         where packs wait between their load and their sum: those of two rows
//                                                 in each of kStages
//   sum_rows<Stages>(lanes, begin, end, terms, row, weight, ready, to)
//       Weighted sums of rows of packs, of the packs [begin, end), rounded once into the row `to` of any rank. The
//       terms are the set bits of `terms`: row(k) and weight(k) tell of term k, and all lanes ask together. ready() is
//       called once, when the first rows are on their way and before any weight is asked for: false gives the sum up.
#pragma once
#if defined(CAUSEWAY_CPU)
#include <causeway/moe/cpu/rows.hpp>
#else
#include <causeway/moe/cuda/rows.hpp>
#endif
