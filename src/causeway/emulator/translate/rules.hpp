// The rules of the translation, one a file. Each reads the unit's tokens and records edits; none sees another's edits.
#pragma once
#include <string_view>

namespace causeway::translate {

class Functions;
class Unit;

/// Where the emulator's runtime lives. The blank keeps `a ?b:threadIdx.x` from becoming `b:::causeway`.
inline constexpr std::string_view runtime_namespace = " ::causeway::emulator::";

/// Throws for inline PTX in device code (inline_asm.cpp).
void check_inline_asm(const Unit& unit, const Functions& functions);
/// Removes or replaces the words that C++ does not know (specifiers.cpp).
void drop_specifiers(Unit& unit);
/// Makes a kernel's body a closure that the emulator launches (kernels.cpp).
void wrap_kernels(Unit& unit, const Functions& functions);
/// threadIdx and its like become calls (builtins.cpp).
void replace_builtins(Unit& unit, const Functions& functions);
/// __shared__ variables become references into the block's arena (shared.cpp).
void place_shared_variables(Unit& unit, const Functions& functions);
/// Registers kernels whose address a program takes (handles.cpp).
void mark_kernel_handles(Unit& unit, const Functions& functions);
/// Lets waiting loops give way (ticks.cpp).
void insert_ticks(Unit& unit, const Functions& functions);
/// kernel<<<...>>>(...) becomes two calls (launches.cpp).
void rewrite_launches(Unit& unit);

}  // namespace causeway::translate
