// SPDX-License-Identifier: Apache-2.0
// The math dialect and device-library calls.
#include "reference/tt/FloatFunctions.h"
#include "reference/tt/IntegerFunctions.h"
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

#include <cmath>

using namespace mlir;

namespace pellucid::reference {

static TileValue applyFunction(Machine &machine, Operation &op, const FloatFunction &function) {
  auto operands = operandsOf(machine, op);
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  const FloatFormat &format = formatOf(type);
  return mapElements(type, operands, [&](const uint64_t *bits) {
    double values[3] = {};
    for (size_t i = 0; i < operands.size() && i < 3; ++i) {
      Type from = operands[i]->elementType;
      // An exponent may be an integer.
      values[i] = isa<FloatType>(from) ? decodeFloat(bits[i], formatOf(from))
                                       : static_cast<double>(signExtended(bits[i], widthOf(from)));
    }
    return encodeFloat(function.call(values), format);
  });
}

static void evaluateMath(Machine &machine, Operation &op) {
  std::string_view name = op.getName().stripDialect();
  machine.setResult(op, applyFunction(machine, op, *findFloatFunction(name)));
}

static void evaluatePreciseRoot(Machine &machine, Operation &op) {
  machine.setResult(op, applyFunction(machine, op, *findFloatFunction("sqrt")));
}

template <bool (*test)(double)> static TileValue applyTest(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  return mapElements(
      getElementTypeOrSelf(op.getResult(0).getType()), operands,
      [&](const uint64_t *bits) { return uint64_t(test(decodeFloat(bits[0], format))); });
}
template <bool (*test)(double)> static void evaluateTest(Machine &machine, Operation &op) {
  machine.setResult(op, applyTest<test>(machine, op));
}

static bool isNan(double x) { return std::isnan(x); }
static bool isInfinite(double x) { return std::isinf(x); }
static bool isFinite(double x) { return std::isfinite(x); }
static bool isNormal(double x) { return std::isnormal(x); }
static bool hasSign(double x) { return std::signbit(x); }

/// base ** exponent in integers, wrapping; a negative exponent gives 0 but for bases 1 and -1.
static void evaluateIntegerPower(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  unsigned width = widthOf(operands[0]->elementType);
  machine.setResult(
      op, mapElements(operands[0]->elementType, operands, [=](const uint64_t *bits) {
        int64_t base = signExtended(bits[0], width);
        int64_t exponent = signExtended(bits[1], width);
        bool odd = exponent & 1;
        if (exponent < 0)
          return wrap(base == 1 ? 1 : base == -1 ? (odd ? ~uint64_t(0) : 1) : 0, width);
        uint64_t power = 1;
        for (uint64_t square = bits[0]; exponent; exponent >>= 1, square *= square)
          power *= exponent & 1 ? square : 1;
        return wrap(power, width);
      }));
}

/// Bits, so that the sign of NaNs counts.
static void evaluateCopySign(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  uint64_t sign = formatOf(operands[0]->elementType).signBit();
  machine.setResult(op, mapElements(operands[0]->elementType, operands, [=](const uint64_t *bits) {
                      return (bits[0] & ~sign) | (bits[1] & sign);
                    }));
}

static void evaluateAbsolute(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  uint64_t sign = formatOf(operands[0]->elementType).signBit();
  machine.setResult(op, mapElements(operands[0]->elementType, operands,
                                    [=](const uint64_t *bits) { return bits[0] & ~sign; }));
}

void addMathHandlers(HandlerTable &table) {
  for (const char *name :
       {"exp",   "exp2", "expm1", "log",   "log2",      "log10", "log1p", "sqrt",
        "rsqrt", "cbrt", "sin",   "cos",   "tan",       "asin",  "acos",  "atan",
        "sinh",  "cosh", "tanh",  "asinh", "acosh",     "atanh", "erf",   "erfc",
        "floor", "ceil", "trunc", "round", "roundeven", "atan2", "powf",  "fpowi"})
    table["math." + std::string(name)] = evaluateMath;
  table["math.absf"] = evaluateAbsolute;
  table["math.copysign"] = evaluateCopySign;
  table["math.ipowi"] = evaluateIntegerPower;
  table["math.isnan"] = evaluateTest<isNan>;
  table["math.isinf"] = evaluateTest<isInfinite>;
  table["math.isfinite"] = evaluateTest<isFinite>;
  table["math.isnormal"] = evaluateTest<isNormal>;
  table["tt.precise_sqrt"] = evaluatePreciseRoot;
}

//===--- device libraries ------------------------------------------------------------------===//

using LibraryFunction = TileValue (*)(Machine &, Operation &);

/// Float to integer with a rounding of its own; saturates.
template <double (*round)(double)>
static TileValue roundToInteger(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  unsigned width = widthOf(type);
  return mapElements(type, operands, [&](const uint64_t *bits) -> uint64_t {
    double value = round(decodeFloat(bits[0], format));
    double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
    if (std::isnan(value))
      return 0;
    if (value >= limit || value < -limit)
      return (uint64_t(1) << (width - 1)) - (value < 0 ? 0 : 1);
    return wrap(static_cast<uint64_t>(static_cast<int64_t>(value)), width);
  });
}

template <uint64_t (*fn)(uint64_t, uint64_t, unsigned)>
static TileValue onIntegers(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  unsigned from = widthOf(operands[0]->elementType), to = widthOf(type);
  bool binary = operands.size() > 1;
  return mapElements(type, operands, [=](const uint64_t *bits) {
    return wrap(fn(bits[0], binary ? bits[1] : 0, from), to);
  });
}

static uint64_t firstSet(uint64_t a, unsigned width) { return a ? trailingZeros(a, width) + 1 : 0; }
static uint64_t reversedBits(uint64_t a, unsigned width) {
  return __builtin_bitreverse64(a) >> (64 - width);
}
static uint64_t smaller(uint64_t a, uint64_t b, unsigned width) {
  return signExtended(a, width) < signExtended(b, width) ? a : b;
}
static uint64_t larger(uint64_t a, uint64_t b, unsigned width) {
  return signExtended(a, width) > signExtended(b, width) ? a : b;
}
template <uint64_t (*fn)(uint64_t, unsigned)>
static uint64_t ofOne(uint64_t a, uint64_t, unsigned width) {
  return fn(a, width);
}

struct LibraryRow {
  std::string_view name;
  LibraryFunction call;
};

static double roundHalfAway(double x) { return std::round(x); }
static double roundHalfEven(double x) { return std::nearbyint(x); }
static double roundDown(double x) { return std::floor(x); }
static double roundUp(double x) { return std::ceil(x); }
static double roundToZero(double x) { return std::trunc(x); }

static TileValue fusedMultiplyAdd(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  return mapElements(operands[0]->elementType, operands, [&](const uint64_t *bits) {
    double a = decodeFloat(bits[0], format), b = decodeFloat(bits[1], format),
           c = decodeFloat(bits[2], format);
    return encodeFloat(format.width() == 64 ? std::fma(a, b, c) : sumRoundedToOdd(a * b, c),
                       format);
  });
}

static TileValue integerPower(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const FloatFormat &format = formatOf(operands[0]->elementType);
  return mapElements(operands[0]->elementType, operands, [&](const uint64_t *bits) {
    auto exponent = static_cast<double>(signExtended(bits[1], 32));
    return encodeFloat(std::pow(decodeFloat(bits[0], format), exponent), format);
  });
}

/// Names that are no float functions, or whose trailing letters are not a type's.
static constexpr LibraryRow rows[] = {
    {"ffs", onIntegers<ofOne<firstSet>>},
    {"ffsll", onIntegers<ofOne<firstSet>>},
    {"clz", onIntegers<ofOne<leadingZeros>>},
    {"clzll", onIntegers<ofOne<leadingZeros>>},
    {"popc", onIntegers<ofOne<setBits>>},
    {"popcll", onIntegers<ofOne<setBits>>},
    {"brev", onIntegers<ofOne<reversedBits>>},
    {"brevll", onIntegers<ofOne<reversedBits>>},
    {"abs", onIntegers<ofOne<magnitude>>},
    {"llabs", onIntegers<ofOne<magnitude>>},
    {"min", onIntegers<smaller>},
    {"llmin", onIntegers<smaller>},
    {"max", onIntegers<larger>},
    {"llmax", onIntegers<larger>},
    {"mulhi", onIntegers<highSigned>},
    {"mul64hi", onIntegers<highSigned>},
    {"umulhi", onIntegers<highUnsigned>},
    {"umul64hi", onIntegers<highUnsigned>},
    {"powi", integerPower},
    {"powif", integerPower},
    {"fma", fusedMultiplyAdd},
    {"fmaf", fusedMultiplyAdd},
    {"fma_rn", fusedMultiplyAdd},
    {"fmaf_rn", fusedMultiplyAdd},
    {"isnanf", applyTest<isNan>},
    {"isnand", applyTest<isNan>},
    {"isinff", applyTest<isInfinite>},
    {"isinfd", applyTest<isInfinite>},
    {"finitef", applyTest<isFinite>},
    {"isfinited", applyTest<isFinite>},
    {"signbitf", applyTest<hasSign>},
    {"signbitd", applyTest<hasSign>},
    {"llrint", roundToInteger<roundHalfEven>},
    {"llrintf", roundToInteger<roundHalfEven>},
    {"llround", roundToInteger<roundHalfAway>},
    {"llroundf", roundToInteger<roundHalfAway>},
    {"float2int_rn", roundToInteger<roundHalfEven>},
    {"float2int_rd", roundToInteger<roundDown>},
    {"float2int_ru", roundToInteger<roundUp>},
    {"float2int_rz", roundToInteger<roundToZero>},
    {"double2int_rn", roundToInteger<roundHalfEven>},
    {"double2int_rd", roundToInteger<roundDown>},
    {"double2int_ru", roundToInteger<roundUp>},
    {"double2int_rz", roundToInteger<roundToZero>},
    {"float2ll_rn", roundToInteger<roundHalfEven>},
    {"float2ll_rd", roundToInteger<roundDown>},
    {"float2ll_ru", roundToInteger<roundUp>},
    {"float2ll_rz", roundToInteger<roundToZero>},
};

static const FloatFunction *floatFunctionOf(StringRef name) {
  // libdevice: exp and expf; fast_expf; fsqrt_rn, dsqrt_rn, frcp_rn, fdiv_rn.
  name.consume_front("fast_");
  if (const FloatFunction *function = findFloatFunction(name))
    return function;
  if (StringRef stem = name; stem.consume_back("_rn"))
    return stem.consume_front("f") || stem.consume_front("d") ? findFloatFunction(stem) : nullptr;
  return name.consume_back("f") ? findFloatFunction(name) : nullptr;
}

static void evaluateExtern(Machine &machine, Operation &op) {
  StringRef symbol = cast<tt::ExternElementwiseOp>(op).getSymbol();
  StringRef name = symbol;
  name.consume_front("__nv_");
  for (const LibraryRow &row : rows)
    if (row.name == std::string_view(name))
      return machine.setResult(op, row.call(machine, op));
  const FloatFunction *function = floatFunctionOf(name);
  if (!function || function->arguments != op.getNumOperands() ||
      !isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType())))
    machine.fail(op, "device library function '" + symbol.str() + "' cannot be interpreted");
  machine.setResult(op, applyFunction(machine, op, *function));
}

static void refuseInlineAsm(Machine &machine, Operation &op) {
  machine.fail(op, "inline assembly cannot be interpreted: \"" +
                       cast<tt::ElementwiseInlineAsmOp>(op).getAsmString().str() + "\"");
}

void addExternHandlers(HandlerTable &table) {
  table["tt.extern_elementwise"] = evaluateExtern;
  table["tt.elementwise_inline_asm"] = refuseInlineAsm;
}

} // namespace pellucid::reference
