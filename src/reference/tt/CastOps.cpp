// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace pellucid::reference {

static Type resultElementType(Operation &op) {
  return getElementTypeOrSelf(op.getResult(0).getType());
}

template <bool isSigned> static void evaluateResize(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  unsigned from = widthOf(operands[0]->elementType), to = widthOf(resultElementType(op));
  machine.setResult(
      op, mapElements(resultElementType(op), operands, [=](const uint64_t *bits) {
        return wrap(isSigned ? static_cast<uint64_t>(signExtended(bits[0], from)) : bits[0], to);
      }));
}

static void convertFloat(Machine &machine, Operation &op, Rounding rounding) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &from = formatOf(operands[0]->elementType);
  const FloatFormat &to = formatOf(resultElementType(op));
  machine.setResult(op, mapElements(resultElementType(op), operands, [&](const uint64_t *bits) {
                      return encodeFloat(decodeFloat(bits[0], from), to, rounding);
                    }));
}

static void evaluateExtend(Machine &machine, Operation &op) {
  convertFloat(machine, op, Rounding::NearestEven);
}

static void evaluateTruncate(Machine &machine, Operation &op) {
  auto mode = cast<arith::TruncFOp>(op).getRoundingmode();
  if (mode && *mode != arith::RoundingMode::to_nearest_even &&
      *mode != arith::RoundingMode::toward_zero)
    machine.fail(op, "rounding mode '" + arith::stringifyRoundingMode(*mode).str() +
                         "' cannot be interpreted");
  bool towardZero = mode == arith::RoundingMode::toward_zero;
  convertFloat(machine, op, towardZero ? Rounding::TowardZero : Rounding::NearestEven);
}

static void evaluateFpToFp(Machine &machine, Operation &op) {
  bool towardZero = cast<tt::FpToFpOp>(op).getRounding() == tt::RoundingMode::RTZ;
  convertFloat(machine, op, towardZero ? Rounding::TowardZero : Rounding::NearestEven);
}

static uint64_t floatOf(uint64_t magnitude, bool negative, const FloatFormat &format) {
  // float64 rounds itself; narrower types must not be rounded twice.
  double value = format.width() == 64 ? static_cast<double>(magnitude) : roundedToOdd(magnitude);
  return encodeFloat(negative ? -value : value, format);
}

template <bool isSigned> static void evaluateIntToFloat(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  unsigned width = widthOf(operands[0]->elementType);
  const FloatFormat &format = formatOf(resultElementType(op));
  machine.setResult(op, mapElements(resultElementType(op), operands, [&](const uint64_t *bits) {
                      int64_t value = signExtended(bits[0], width);
                      bool negative = isSigned && value < 0;
                      uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : bits[0];
                      return floatOf(magnitude, negative, format);
                    }));
}

static uint64_t toSigned(double value, unsigned width) {
  if (std::isnan(value))
    return 0;
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  if (value >= limit)
    return (uint64_t(1) << (width - 1)) - 1;
  if (value < -limit)
    return uint64_t(1) << (width - 1);
  return wrap(static_cast<uint64_t>(static_cast<int64_t>(value)), width);
}

static uint64_t toUnsigned(double value, unsigned width) {
  if (std::isnan(value) || value <= 0)
    return 0;
  if (value >= std::ldexp(1.0, static_cast<int>(width)))
    return wrap(~uint64_t(0), width);
  return static_cast<uint64_t>(value);
}

template <bool isSigned> static void evaluateFloatToInt(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  unsigned width = widthOf(resultElementType(op));
  machine.setResult(op, mapElements(resultElementType(op), operands, [&](const uint64_t *bits) {
                      double value = decodeFloat(bits[0], format);
                      return isSigned ? toSigned(value, width) : toUnsigned(value, width);
                    }));
}

/// The same bits, and of a pointer the same origin.
static void evaluateBitcast(Machine &machine, Operation &op) {
  TileValue value = machine.operand(op, 0);
  Type type = op.getResult(0).getType();
  if (tt::isBlockPointer(type))
    return machine.set(op.getResult(0), machine.get(op.getOperand(0)));
  value.elementType = getElementTypeOrSelf(type);
  bool isPointer = isa<tt::PointerType>(value.elementType);
  for (Element &element : value.elements)
    if (!isPointer)
      element.origin = -1;
  machine.setResult(op, std::move(value));
}

void addCastHandlers(HandlerTable &table) {
  table["arith.extsi"] = evaluateResize<true>;
  table["arith.extui"] = evaluateResize<false>;
  table["arith.trunci"] = evaluateResize<false>;
  table["arith.index_cast"] = evaluateResize<true>;
  table["arith.index_castui"] = evaluateResize<false>;
  table["arith.extf"] = evaluateExtend;
  table["arith.truncf"] = evaluateTruncate;
  table["tt.fp_to_fp"] = evaluateFpToFp;
  table["arith.sitofp"] = evaluateIntToFloat<true>;
  table["arith.uitofp"] = evaluateIntToFloat<false>;
  table["arith.fptosi"] = evaluateFloatToInt<true>;
  table["arith.fptoui"] = evaluateFloatToInt<false>;
  table["arith.bitcast"] = evaluateBitcast;
  table["tt.bitcast"] = evaluateBitcast;
  table["tt.int_to_ptr"] = evaluateBitcast;
  table["tt.ptr_to_int"] = evaluateBitcast;
}

} // namespace pellucid::reference
