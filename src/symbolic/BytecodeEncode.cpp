// SPDX-License-Identifier: Apache-2.0
#include "symbolic/Bytecode.h"
#include "symbolic/Expr.h"

#include <algorithm>
#include <stdexcept>

namespace pellucid::symbolic {

namespace {
struct Encoder {
  std::span<const std::string> symbolOrder;
  std::vector<uint8_t> code;
  size_t depth = 0;

  void push() {
    if (++depth > maxBytecodeStack)
      throw std::invalid_argument("symbolic expression is deeper than " +
                                  std::to_string(maxBytecodeStack));
  }

  void leb128(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      code.push_back(static_cast<uint8_t>(value) | 0x80);
    code.push_back(static_cast<uint8_t>(value));
  }

  void emit(Opcode opcode, size_t operands) {
    code.push_back(static_cast<uint8_t>(opcode));
    depth -= operands - 1;
  }

  void constant(int64_t value) {
    push();
    code.push_back(static_cast<uint8_t>(Opcode::Constant));
    leb128((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }

  void symbol(const std::string &name) {
    auto it = std::find(symbolOrder.begin(), symbolOrder.end(), name);
    if (it == symbolOrder.end())
      throw std::invalid_argument("symbol '" + name + "' has no place in the table of symbols");
    push();
    code.push_back(static_cast<uint8_t>(Opcode::Symbol));
    leb128(static_cast<uint64_t>(it - symbolOrder.begin()));
  }

  static Opcode opcodeFor(ExprOp op) {
    switch (op) {
    case ExprOp::Constant:
      return Opcode::Constant;
    case ExprOp::Symbol:
      return Opcode::Symbol;
    case ExprOp::Add:
      return Opcode::Add;
    case ExprOp::Mul:
      return Opcode::Mul;
    case ExprOp::FloorDiv:
      return Opcode::FloorDiv;
    case ExprOp::Mod:
      return Opcode::Mod;
    case ExprOp::CeilDiv:
      return Opcode::CeilDiv;
    case ExprOp::Min:
      return Opcode::Min;
    case ExprOp::Max:
      return Opcode::Max;
    case ExprOp::Eq:
      return Opcode::Eq;
    case ExprOp::Ne:
      return Opcode::Ne;
    case ExprOp::Lt:
      return Opcode::Lt;
    case ExprOp::Le:
      return Opcode::Le;
    case ExprOp::And:
      return Opcode::And;
    case ExprOp::Or:
      return Opcode::Or;
    case ExprOp::Not:
      return Opcode::Not;
    case ExprOp::Select:
      return Opcode::Select;
    case ExprOp::NextPowerOf2:
      return Opcode::NextPowerOf2;
    }
    throw std::invalid_argument("unknown symbolic operation");
  }

  void expression(const Expr &e) {
    if (std::optional<int64_t> c = e.constant())
      return constant(*c);
    if (e.op() == ExprOp::Symbol)
      return symbol(e.symbolName());
    const std::vector<Expr> &operands = e.operands();
    expression(operands[0]);
    if (e.op() == ExprOp::Not || e.op() == ExprOp::NextPowerOf2)
      return emit(opcodeFor(e.op()), 1);
    if (e.op() == ExprOp::Select) {
      expression(operands[1]);
      expression(operands[2]);
      return emit(Opcode::Select, 3);
    }
    // From the left, so that a sum of any length needs two places.
    for (size_t i = 1; i < operands.size(); ++i) {
      expression(operands[i]);
      emit(opcodeFor(e.op()), 2);
    }
  }
};
} // namespace

std::vector<uint8_t> encode(const Expr &expr, std::span<const std::string> symbolOrder) {
  Encoder encoder{symbolOrder, {}};
  encoder.expression(expr);
  if (encoder.code.size() > maxBytecodeBytes)
    throw std::invalid_argument("symbolic expression needs more than " +
                                std::to_string(maxBytecodeBytes) + " bytes");
  return std::move(encoder.code);
}

} // namespace pellucid::symbolic
