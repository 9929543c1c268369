// SPDX-License-Identifier: Apache-2.0
// Float arithmetic, comparisons, minimum and maximum.
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace pellucid::reference {

using FloatBinary = double (*)(double, double);

/// float64 has more than twice the bits of the narrower types, so that rounding a sum, product,
/// quotient or root to float64 first does not change how it is rounded to them.
template <FloatBinary fn> static void evaluateFloatBinary(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  Type type = operands[0]->elementType;
  const FloatFormat &format = formatOf(type);
  machine.setResult(op, mapElements(type, operands, [&](const uint64_t *bits) {
                      return encodeFloat(
                          fn(decodeFloat(bits[0], format), decodeFloat(bits[1], format)), format);
                    }));
}

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }
static double floatRemainder(double a, double b) { return std::fmod(a, b); }

/// A NaN is ignored where the other is a number; -0 is below +0.
static double minNumber(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
static double maxNumber(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// A NaN on either side is the result.
static double minimum(double a, double b) {
  bool nan = std::isnan(a) || std::isnan(b);
  return nan ? std::numeric_limits<double>::quiet_NaN() : minNumber(a, b);
}
static double maximum(double a, double b) {
  bool nan = std::isnan(a) || std::isnan(b);
  return nan ? std::numeric_limits<double>::quiet_NaN() : maxNumber(a, b);
}

/// Only the sign bit changes, of NaNs too.
static void evaluateNegate(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  bool zeroHasNoSign = format.specials == FloatFormat::Specials::NanMinusZero;
  machine.setResult(op, mapElements(operands[0]->elementType, operands, [&](const uint64_t *bits) {
                      uint64_t magnitude = bits[0] & (format.signBit() - 1);
                      return zeroHasNoSign && !magnitude ? bits[0] : bits[0] ^ format.signBit();
                    }));
}

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return !unordered && a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  }
  return false;
}

static void evaluateFloatCompare(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  auto predicate = cast<arith::CmpFOp>(op).getPredicate();
  machine.setResult(
      op, mapElements(IntegerType::get(op.getContext(), 1), operands, [&](const uint64_t *bits) {
        return uint64_t(
            compare(predicate, decodeFloat(bits[0], format), decodeFloat(bits[1], format)));
      }));
}

/// min(max(x, low), high). Without propagation a NaN in x gives `low`; a NaN bound is ignored.
static void evaluateClamp(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  bool propagates = cast<tt::ClampFOp>(op).getPropagateNan() == tt::PropagateNan::ALL;
  machine.setResult(op, mapElements(operands[0]->elementType, operands, [&](const uint64_t *bits) {
                      double x = decodeFloat(bits[0], format), low = decodeFloat(bits[1], format),
                             high = decodeFloat(bits[2], format);
                      if (propagates && std::isnan(x))
                        return encodeFloat(x, format);
                      return encodeFloat(minNumber(maxNumber(x, low), high), format);
                    }));
}

static void evaluateFusedMultiplyAdd(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  machine.setResult(op, mapElements(operands[0]->elementType, operands, [&](const uint64_t *bits) {
                      double a = decodeFloat(bits[0], format), b = decodeFloat(bits[1], format),
                             c = decodeFloat(bits[2], format);
                      // Products of narrower types are exact in float64.
                      double sum =
                          format.width() == 64 ? std::fma(a, b, c) : sumRoundedToOdd(a * b, c);
                      return encodeFloat(sum, format);
                    }));
}

void addFloatHandlers(HandlerTable &table) {
  table["arith.addf"] = evaluateFloatBinary<add>;
  table["arith.subf"] = evaluateFloatBinary<subtract>;
  table["arith.mulf"] = evaluateFloatBinary<multiply>;
  table["arith.divf"] = evaluateFloatBinary<divide>;
  table["tt.precise_divf"] = evaluateFloatBinary<divide>;
  table["tt.approx_divf"] = evaluateFloatBinary<divide>;
  table["arith.remf"] = evaluateFloatBinary<floatRemainder>;
  table["arith.negf"] = evaluateNegate;
  table["arith.maximumf"] = evaluateFloatBinary<maximum>;
  table["arith.minimumf"] = evaluateFloatBinary<minimum>;
  table["arith.maxnumf"] = evaluateFloatBinary<maxNumber>;
  table["arith.minnumf"] = evaluateFloatBinary<minNumber>;
  table["arith.cmpf"] = evaluateFloatCompare;
  table["math.fma"] = evaluateFusedMultiplyAdd;
  table["tt.clampf"] = evaluateClamp;
}

} // namespace pellucid::reference
