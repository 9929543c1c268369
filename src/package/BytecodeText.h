// SPDX-License-Identifier: Apache-2.0
/// Bytecode for people. The run time computes with symbolic/Bytecode.h.
#pragma once

#include "package/Package.h"

namespace pellucid::package {

/// No expression is longer: symbolic::maxBytecodeBytes.
inline constexpr size_t maxBytecodeBytes = 16384;

/// True when `code` is one whole expression over `symbolCount` symbols that needs no deeper stack
/// than the evaluator's and is no longer than that.
bool isWellFormed(std::span<const uint8_t> code, size_t symbolCount);

/// The symbols that well-formed code mentions, repeats included.
std::vector<uint32_t> symbolsIn(std::span<const uint8_t> code);

/// Infix text with the symbols' names: "(batch * 64)"; "?" when it is not well formed.
std::string bytecodeText(std::span<const uint8_t> code, std::span<const Symbol> symbols);

} // namespace pellucid::package
