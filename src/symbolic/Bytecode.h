// SPDX-License-Identifier: Apache-2.0
/// Expressions as bytes, so that the run time evaluates them without parsing or allocating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pellucid::symbolic {

class Expr;

/// A postfix program over a table of symbol values: one opcode byte, then for constants a LEB128
/// (zigzag) value and for symbols a LEB128 index. The opcodes are part of the package format:
/// append only.
enum class Opcode : uint8_t {
  Constant = 1,
  Symbol = 2,
  Add = 3,
  Mul = 4,
  FloorDiv = 5,
  Mod = 6,
  CeilDiv = 7,
  Min = 8,
  Max = 9,
  Eq = 10,
  Ne = 11,
  Lt = 12,
  Le = 13,
  And = 14,
  Or = 15,
  Not = 16,
  Select = 17,
  NextPowerOf2 = 18,
};
inline constexpr size_t maxBytecodeStack = 32;
/// No expression of a package is longer.
inline constexpr size_t maxBytecodeBytes = 16384;

/// Encodes `expr`; `symbolOrder` gives each symbol's index. Throws std::invalid_argument for a
/// symbol that is not in it or an expression deeper or longer than the two above.
std::vector<uint8_t> encode(const Expr &expr, std::span<const std::string> symbolOrder);

enum class EvalStatus : uint8_t { Ok, Malformed, DivisionByZero, Overflow };

/// Evaluates without allocating; safe on any bytes. Links without the rest of this library
/// (BytecodeEvaluate.cpp).
EvalStatus evaluateBytecode(std::span<const uint8_t> code, std::span<const int64_t> symbols,
                            int64_t &result) noexcept;

} // namespace pellucid::symbolic
