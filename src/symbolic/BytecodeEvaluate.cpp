// SPDX-License-Identifier: Apache-2.0
/// Stands alone: the run time links this file and nothing else of the folder.
#include "symbolic/Bytecode.h"

#include <bit>

namespace pellucid::symbolic {

namespace {
/// A failed operand travels as a value, so that an operand that is not selected cannot fail the
/// whole.
struct Slot {
  int64_t value;
  EvalStatus status;
};

struct Reader {
  const uint8_t *at, *end;

  bool leb128(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at == end)
        return false;
      uint8_t byte = *at++;
      uint64_t part = byte & 0x7f;
      if (shift == 63 && part > 1)
        return false;
      value |= part << shift;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  }
};

Slot ok(int64_t value) { return {value, EvalStatus::Ok}; }

Slot divide(Opcode op, int64_t a, int64_t b) {
  if (b == 0)
    return {0, EvalStatus::DivisionByZero};
  if (b == -1) {
    if (op == Opcode::Mod)
      return ok(0);
    return a == INT64_MIN ? Slot{0, EvalStatus::Overflow} : ok(-a);
  }
  int64_t quotient = a / b, remainder = a % b;
  bool inexact = remainder != 0, negative = (a < 0) != (b < 0);
  switch (op) {
  case Opcode::FloorDiv:
    return ok(quotient - (inexact && negative));
  case Opcode::CeilDiv:
    return ok(quotient + (inexact && !negative));
  default:
    return ok(inexact && negative ? remainder + b : remainder);
  }
}

Slot binary(Opcode op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
  case Opcode::Add:
    return __builtin_add_overflow(a, b, &out) ? Slot{0, EvalStatus::Overflow} : ok(out);
  case Opcode::Mul:
    return __builtin_mul_overflow(a, b, &out) ? Slot{0, EvalStatus::Overflow} : ok(out);
  case Opcode::Min:
    return ok(a < b ? a : b);
  case Opcode::Max:
    return ok(a > b ? a : b);
  case Opcode::Eq:
    return ok(a == b);
  case Opcode::Ne:
    return ok(a != b);
  case Opcode::Lt:
    return ok(a < b);
  case Opcode::Le:
    return ok(a <= b);
  default:
    return divide(op, a, b);
  }
}

Slot nextPowerOf2Value(Slot a) {
  if (a.status == EvalStatus::Ok && a.value > int64_t(1) << 62)
    return {0, EvalStatus::Overflow};
  a.value = a.value <= 0 ? 0 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(a.value)));
  return a;
}

/// A decided operand decides even where the other one failed.
Slot logic(Opcode op, Slot a, Slot b) {
  bool deciding = op == Opcode::Or;
  if (a.status == EvalStatus::Ok && (a.value != 0) == deciding)
    return ok(deciding);
  if (b.status == EvalStatus::Ok && (b.value != 0) == deciding)
    return ok(deciding);
  if (a.status != EvalStatus::Ok)
    return a;
  return b.status != EvalStatus::Ok ? b : ok(!deciding);
}

Slot apply(Opcode op, Slot a, Slot b) {
  if (op == Opcode::And || op == Opcode::Or)
    return logic(op, a, b);
  if (a.status != EvalStatus::Ok)
    return a;
  return b.status != EvalStatus::Ok ? b : binary(op, a.value, b.value);
}
} // namespace

EvalStatus evaluateBytecode(std::span<const uint8_t> code, std::span<const int64_t> symbols,
                            int64_t &result) noexcept {
  Slot stack[maxBytecodeStack];
  size_t depth = 0;
  Reader reader{code.data(), code.data() + code.size()};
  while (reader.at != reader.end) {
    Opcode op = static_cast<Opcode>(*reader.at++);
    if (op == Opcode::Constant || op == Opcode::Symbol) {
      uint64_t raw = 0;
      if (!reader.leb128(raw) || depth == maxBytecodeStack ||
          (op == Opcode::Symbol && raw >= symbols.size()))
        return EvalStatus::Malformed;
      int64_t constant = static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
      stack[depth++] = ok(op == Opcode::Constant ? constant : symbols[raw]);
    } else if (op == Opcode::Not) {
      if (depth < 1)
        return EvalStatus::Malformed;
      stack[depth - 1].value = stack[depth - 1].value == 0;
    } else if (op == Opcode::NextPowerOf2) {
      if (depth < 1)
        return EvalStatus::Malformed;
      stack[depth - 1] = nextPowerOf2Value(stack[depth - 1]);
    } else if (op == Opcode::Select) {
      if (depth < 3)
        return EvalStatus::Malformed;
      Slot condition = stack[depth - 3];
      if (condition.status == EvalStatus::Ok)
        condition = stack[depth - (condition.value ? 2 : 1)];
      depth -= 2;
      stack[depth - 1] = condition;
    } else if (op >= Opcode::Add && op <= Opcode::Or) {
      if (depth < 2)
        return EvalStatus::Malformed;
      --depth;
      stack[depth - 1] = apply(op, stack[depth - 1], stack[depth]);
    } else {
      return EvalStatus::Malformed;
    }
  }
  if (depth != 1)
    return EvalStatus::Malformed;
  if (stack[0].status == EvalStatus::Ok)
    result = stack[0].value;
  return stack[0].status;
}

} // namespace pellucid::symbolic
