// SPDX-License-Identifier: Apache-2.0
// Integer operations, constants and select.
#include "reference/tt/IntegerFunctions.h"
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pellucid::reference {

//===--- one result bit pattern per element ------------------------------------------------===//

using Binary = uint64_t (*)(uint64_t a, uint64_t b, unsigned width);
using SignedBinary = int64_t (*)(int64_t a, int64_t b, unsigned width);
using Unary = uint64_t (*)(uint64_t a, unsigned width);

template <Binary fn> static void evaluateBinary(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  unsigned width = widthOf(operands[0]->elementType);
  machine.setResult(op, mapElements(operands[0]->elementType, operands, [=](const uint64_t *bits) {
                      return wrap(fn(bits[0], bits[1], width), width);
                    }));
}

template <SignedBinary fn>
static constexpr Binary asUnsigned = [](uint64_t a, uint64_t b, unsigned width) {
  return static_cast<uint64_t>(fn(signExtended(a, width), signExtended(b, width), width));
};

template <Unary fn> static void evaluateUnary(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  unsigned width = widthOf(operands[0]->elementType);
  machine.setResult(op, mapElements(operands[0]->elementType, operands, [=](const uint64_t *bits) {
                      return wrap(fn(bits[0], width), width);
                    }));
}

//===--- division --------------------------------------------------------------------------===//

/// Division by zero is unspecified; said once per operation.
template <Binary fn> static void evaluateDivision(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  for (const Element &divisor : operands[1]->elements)
    if (divisor.bits == 0)
      machine.warn(op, "division", "divides by zero, which is unspecified");
  evaluateBinary<fn>(machine, op);
}

/// INT_MIN / -1 wraps; it must not be computed as such.
static int64_t quotient(int64_t a, int64_t b) {
  if (b == 0)
    return -1;
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}
static int64_t remainder(int64_t a, int64_t b) {
  if (b == 0)
    return a;
  return b == -1 ? 0 : a % b;
}
static int64_t divSigned(int64_t a, int64_t b, unsigned) { return quotient(a, b); }
static int64_t remSigned(int64_t a, int64_t b, unsigned) { return remainder(a, b); }
static int64_t divSignedDown(int64_t a, int64_t b, unsigned) {
  return quotient(a, b) - (b != 0 && remainder(a, b) != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
static int64_t divSignedUp(int64_t a, int64_t b, unsigned) {
  return quotient(a, b) + (b != 0 && remainder(a, b) != 0 && (a < 0) == (b < 0) ? 1 : 0);
}
static uint64_t divUnsigned(uint64_t a, uint64_t b, unsigned) { return b ? a / b : ~uint64_t(0); }
static uint64_t divUnsignedUp(uint64_t a, uint64_t b, unsigned) {
  return b ? a / b + (a % b != 0) : ~uint64_t(0);
}
static uint64_t remUnsigned(uint64_t a, uint64_t b, unsigned) { return b ? a % b : a; }

//===--- the rest of the binary operations -------------------------------------------------===//

static uint64_t add(uint64_t a, uint64_t b, unsigned) { return a + b; }
static uint64_t subtract(uint64_t a, uint64_t b, unsigned) { return a - b; }
static uint64_t multiply(uint64_t a, uint64_t b, unsigned) { return a * b; }
static uint64_t bitAnd(uint64_t a, uint64_t b, unsigned) { return a & b; }
static uint64_t bitOr(uint64_t a, uint64_t b, unsigned) { return a | b; }
static uint64_t bitXor(uint64_t a, uint64_t b, unsigned) { return a ^ b; }
static uint64_t shiftLeft(uint64_t a, uint64_t b, unsigned width) { return b < width ? a << b : 0; }
static uint64_t shiftRight(uint64_t a, uint64_t b, unsigned width) {
  return b < width ? a >> b : 0;
}
static uint64_t shiftRightSigned(uint64_t a, uint64_t b, unsigned width) {
  return static_cast<uint64_t>(signExtended(a, width) >> std::min<uint64_t>(b, width - 1));
}
static uint64_t minUnsigned(uint64_t a, uint64_t b, unsigned) { return std::min(a, b); }
static uint64_t maxUnsigned(uint64_t a, uint64_t b, unsigned) { return std::max(a, b); }
static int64_t minSigned(int64_t a, int64_t b, unsigned) { return std::min(a, b); }
static int64_t maxSigned(int64_t a, int64_t b, unsigned) { return std::max(a, b); }

template <Binary high> static void evaluateExtendedProduct(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  Type type = operands[0]->elementType;
  unsigned width = widthOf(type);
  machine.setResult(op, mapElements(type, operands, [=](const uint64_t *bits) {
                      return wrap(bits[0] * bits[1], width);
                    }));
  machine.setResult(
      op,
      mapElements(type, operands,
                  [=](const uint64_t *bits) { return wrap(high(bits[0], bits[1], width), width); }),
      1);
}

static void evaluateAddWithCarry(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  Type type = operands[0]->elementType;
  unsigned width = widthOf(type);
  auto sum = [=](const uint64_t *bits) { return wrap(bits[0] + bits[1], width); };
  machine.setResult(op, mapElements(type, operands, sum));
  machine.setResult(
      op,
      mapElements(IntegerType::get(op.getContext(), 1), operands,
                  [=](const uint64_t *bits) { return uint64_t(sum(bits) < bits[0]); }),
      1);
}

//===--- comparisons, select, constants ----------------------------------------------------===//

static bool compare(arith::CmpIPredicate predicate, uint64_t a, uint64_t b, unsigned width) {
  int64_t x = signExtended(a, width), y = signExtended(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::ugt:
    return a > b;
  case arith::CmpIPredicate::uge:
    return a >= b;
  }
  return false;
}

static void evaluateCompare(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  unsigned width = widthOf(operands[0]->elementType);
  auto predicate = cast<arith::CmpIOp>(op).getPredicate();
  machine.setResult(
      op, mapElements(IntegerType::get(op.getContext(), 1), operands, [=](const uint64_t *bits) {
        return uint64_t(compare(predicate, bits[0], bits[1], width));
      }));
}

/// Moves whole elements, so that pointers keep their origin.
static void evaluateSelect(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  if (operands[0]->isScalar()) {
    bool first = operands[0]->elements[0].bits;
    return machine.set(op.getResult(0), machine.get(op.getOperand(first ? 1 : 2)));
  }
  TileValue result;
  result.elementType = operands[1]->elementType;
  result.shape = commonShape(operands);
  result.elements.resize(countOf(result.shape));
  for (int64_t i = 0; i < result.count(); ++i)
    result.elements[i] = operands[operands[0]->at(i).bits ? 1 : 2]->at(i);
  machine.setResult(op, std::move(result));
}

static void evaluateConstant(Machine &machine, Operation &op) {
  Attribute attribute = cast<arith::ConstantOp>(op).getValue();
  TileValue value = zerosOf(op.getResult(0).getType());
  auto bitsOf = [](const APInt &integer) { return integer.getZExtValue(); };
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    value.elements[0].bits = bitsOf(integer.getValue());
  } else if (auto real = dyn_cast<FloatAttr>(attribute)) {
    value.elements[0].bits = bitsOf(real.getValue().bitcastToAPInt());
  } else if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    bool isFloat = isa<FloatType>(value.elementType);
    for (int64_t i = 0; i < value.count(); ++i)
      value.elements[i].bits = isFloat ? bitsOf(dense.getValues<APFloat>()[i].bitcastToAPInt())
                                       : bitsOf(dense.getValues<APInt>()[i]);
  } else {
    machine.fail(op, "constant of a kind that cannot be interpreted");
  }
  machine.setResult(op, std::move(value));
}

static void evaluatePoison(Machine &machine, Operation &op) {
  Type type = op.getResult(0).getType();
  TileValue value = zerosOf(type);
  if (!isa<tt::TensorDescType>(type))
    for (Element &element : value.elements)
      element.bits = wrap(~uint64_t(0), widthOf(value.elementType));
  machine.setResult(op, std::move(value));
}

void addArithHandlers(HandlerTable &table) {
  table["arith.constant"] = evaluateConstant;
  table["ub.poison"] = evaluatePoison;
  table["arith.select"] = evaluateSelect;
  table["arith.cmpi"] = evaluateCompare;
  table["arith.addi"] = evaluateBinary<add>;
  table["arith.subi"] = evaluateBinary<subtract>;
  table["arith.muli"] = evaluateBinary<multiply>;
  table["arith.andi"] = evaluateBinary<bitAnd>;
  table["arith.ori"] = evaluateBinary<bitOr>;
  table["arith.xori"] = evaluateBinary<bitXor>;
  table["arith.shli"] = evaluateBinary<shiftLeft>;
  table["arith.shrui"] = evaluateBinary<shiftRight>;
  table["arith.shrsi"] = evaluateBinary<shiftRightSigned>;
  table["arith.minui"] = evaluateBinary<minUnsigned>;
  table["arith.maxui"] = evaluateBinary<maxUnsigned>;
  table["arith.minsi"] = evaluateBinary<asUnsigned<minSigned>>;
  table["arith.maxsi"] = evaluateBinary<asUnsigned<maxSigned>>;
  table["arith.divsi"] = evaluateDivision<asUnsigned<divSigned>>;
  table["arith.remsi"] = evaluateDivision<asUnsigned<remSigned>>;
  table["arith.floordivsi"] = evaluateDivision<asUnsigned<divSignedDown>>;
  table["arith.ceildivsi"] = evaluateDivision<asUnsigned<divSignedUp>>;
  table["arith.divui"] = evaluateDivision<divUnsigned>;
  table["arith.ceildivui"] = evaluateDivision<divUnsignedUp>;
  table["arith.remui"] = evaluateDivision<remUnsigned>;
  table["arith.mului_extended"] = evaluateExtendedProduct<highUnsigned>;
  table["arith.mulsi_extended"] = evaluateExtendedProduct<highSigned>;
  table["arith.addui_extended"] = evaluateAddWithCarry;
  table["tt.mulhiui"] = evaluateBinary<highUnsigned>;
  table["math.absi"] = evaluateUnary<magnitude>;
  table["math.ctlz"] = evaluateUnary<leadingZeros>;
  table["math.cttz"] = evaluateUnary<trailingZeros>;
  table["math.ctpop"] = evaluateUnary<setBits>;
}

} // namespace pellucid::reference
