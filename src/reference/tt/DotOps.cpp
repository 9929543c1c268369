// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace pellucid::reference {

/// Matrices (or a batch of them) as numbers, row-major.
struct Matrices {
  int64_t batch, rows, columns;
  std::vector<double> values;

  double at(int64_t b, int64_t row, int64_t column) const {
    return values[(b * rows + row) * columns + column];
  }
};

static Matrices numbersOf(const TileValue &tile) {
  size_t rank = tile.shape.size();
  Matrices result{rank == 3 ? tile.shape[0] : 1, tile.shape[rank - 2], tile.shape[rank - 1], {}};
  const FloatFormat &format = formatOf(tile.elementType);
  for (const Element &element : tile.elements)
    result.values.push_back(decodeFloat(element.bits, format));
  return result;
}

/// Products of operands narrower than float64 are exact. The accumulator comes last, so that its
/// size does not cost the sum bits.
static TileValue multiplyFloats(const Matrices &a, const Matrices &b, const TileValue &c) {
  TileValue result = c;
  const FloatFormat &format = formatOf(c.elementType);
  for (int64_t i = 0; i < result.count(); ++i) {
    int64_t column = i % b.columns, row = i / b.columns % a.rows, batch = i / b.columns / a.rows;
    double sum = 0;
    for (int64_t k = 0; k < a.columns; ++k)
      sum += a.at(batch, row, k) * b.at(batch, k, column);
    result.elements[i].bits = encodeFloat(sum + decodeFloat(c.elements[i].bits, format), format);
  }
  return result;
}

static TileValue multiplyIntegers(const TileValue &a, const TileValue &b, const TileValue &c) {
  TileValue result = c;
  size_t rank = a.shape.size();
  int64_t rows = a.shape[rank - 2], inner = a.shape[rank - 1], columns = b.shape[rank - 1];
  unsigned widthA = widthOf(a.elementType), widthB = widthOf(b.elementType);
  for (int64_t i = 0; i < result.count(); ++i) {
    int64_t column = i % columns, row = i / columns % rows, batch = i / columns / rows;
    uint64_t sum = c.elements[i].bits;
    for (int64_t k = 0; k < inner; ++k)
      sum += static_cast<uint64_t>(
                 signExtended(a.elements[(batch * rows + row) * inner + k].bits, widthA)) *
             static_cast<uint64_t>(
                 signExtended(b.elements[(batch * inner + k) * columns + column].bits, widthB));
    result.elements[i].bits = wrap(sum, widthOf(c.elementType));
  }
  return result;
}

static void evaluateDot(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  const TileValue &a = *operands[0], &b = *operands[1], &c = *operands[2];
  if (isa<FloatType>(a.elementType) != isa<FloatType>(c.elementType))
    machine.fail(op, "dot of integers into floats or the reverse cannot be interpreted");
  machine.setResult(op, isa<FloatType>(a.elementType)
                            ? multiplyFloats(numbersOf(a), numbersOf(b), c)
                            : multiplyIntegers(a, b, c));
}

//===--- microscaled operands --------------------------------------------------------------===//

static constexpr FloatFormat float6E2M3Format{2, 3, 1, FloatFormat::Specials::NanAllOnes};
static constexpr FloatFormat float6E3M2Format{3, 2, 3, FloatFormat::Specials::NanAllOnes};

static double decodeFp4(uint64_t nibble) {
  static constexpr double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return nibble & 8 ? -magnitudes[nibble & 7] : magnitudes[nibble & 7];
}

/// fp6 has no NaN, unlike what FloatFormat can say.
static double decodeFp6(uint64_t bits, const FloatFormat &format) {
  uint64_t exponent = (bits & 31) >> format.mantissaBits;
  double mantissa = static_cast<double>(bits & ((1 << format.mantissaBits) - 1));
  if (exponent)
    mantissa += 1 << format.mantissaBits;
  int power = static_cast<int>(std::max<uint64_t>(exponent, 1)) - format.bias - format.mantissaBits;
  return std::ldexp(bits & 32 ? -mantissa : mantissa, power);
}

static double decodeScaledElement(uint64_t bits, Type type, tt::ScaleDotElemType kind) {
  // Only fp8 comes in integers too.
  if (auto floatType = dyn_cast<FloatType>(type))
    return decodeFloat(bits, formatOf(floatType));
  switch (kind) {
  case tt::ScaleDotElemType::E4M3:
    return decodeFloat(bits, float8E4M3FNFormat);
  case tt::ScaleDotElemType::E5M2:
    return decodeFloat(bits, float8E5M2Format);
  case tt::ScaleDotElemType::E2M3:
    return decodeFp6(bits, float6E2M3Format);
  case tt::ScaleDotElemType::E3M2:
    return decodeFp6(bits, float6E3M2Format);
  case tt::ScaleDotElemType::BF16:
    return decodeFloat(bits, bfloat16Format);
  case tt::ScaleDotElemType::FP16:
    return decodeFloat(bits, float16Format);
  case tt::ScaleDotElemType::E2M1:
    return decodeFp4(bits);
  }
  return 0;
}

/// fp4 comes in pairs, the first in the low half, along dimension `packedDim` (from the end: 0 is
/// columns, 1 rows).
static Matrices unpackFp4(const TileValue &tile, bool alongColumns) {
  size_t rank = tile.shape.size();
  Matrices result{rank == 3 ? tile.shape[0] : 1, tile.shape[rank - 2], tile.shape[rank - 1], {}};
  int64_t packedRows = result.rows, packedColumns = result.columns;
  (alongColumns ? result.columns : result.rows) *= 2;
  for (int64_t b = 0; b < result.batch; ++b)
    for (int64_t row = 0; row < result.rows; ++row)
      for (int64_t column = 0; column < result.columns; ++column) {
        int64_t byteRow = alongColumns ? row : row / 2;
        int64_t byteColumn = alongColumns ? column / 2 : column;
        int64_t half = alongColumns ? column % 2 : row % 2;
        uint64_t byte = tile.elements[(b * packedRows + byteRow) * packedColumns + byteColumn].bits;
        result.values.push_back(decodeFp4(byte >> (4 * half) & 15));
      }
  return result;
}

static Matrices unpack(const TileValue &tile, tt::ScaleDotElemType kind, bool alongColumns) {
  if (kind == tt::ScaleDotElemType::E2M1)
    return unpackFp4(tile, alongColumns);
  size_t rank = tile.shape.size();
  Matrices result{rank == 3 ? tile.shape[0] : 1, tile.shape[rank - 2], tile.shape[rank - 1], {}};
  for (const Element &element : tile.elements)
    result.values.push_back(decodeScaledElement(element.bits, tile.elementType, kind));
  return result;
}

/// E8M0: a power of two, all ones is NaN. As a float type (E4M3 with groups of 16): its value.
static double scaleOf(const Element &element, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return decodeFloat(element.bits, formatOf(floatType));
  if (element.bits == 0xff)
    return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, static_cast<int>(element.bits) - 127);
}

/// `scales` is [rows of A or columns of B] x [groups along K].
static void applyScales(Matrices &matrices, const TileValue &scales, bool isLhs) {
  size_t rank = scales.shape.size();
  int64_t lines = scales.shape[rank - 2], groups = scales.shape[rank - 1];
  int64_t inner = isLhs ? matrices.columns : matrices.rows;
  for (int64_t b = 0; b < matrices.batch; ++b)
    for (int64_t row = 0; row < matrices.rows; ++row)
      for (int64_t column = 0; column < matrices.columns; ++column) {
        int64_t line = isLhs ? row : column, k = isLhs ? column : row;
        const Element &scale = scales.elements[(b * lines + line) * groups + k * groups / inner];
        matrices.values[(b * matrices.rows + row) * matrices.columns + column] *=
            scaleOf(scale, scales.elementType);
      }
}

static void evaluateDotScaled(Machine &machine, Operation &op) {
  auto dot = cast<tt::DotScaledOp>(op);
  Matrices a = unpack(*machine.get(dot.getA()), dot.getAElemType(), dot.getLhsKPack());
  Matrices b = unpack(*machine.get(dot.getB()), dot.getBElemType(), !dot.getRhsKPack());
  if (dot.getAScale())
    applyScales(a, *machine.get(dot.getAScale()), /*isLhs=*/true);
  if (dot.getBScale())
    applyScales(b, *machine.get(dot.getBScale()), /*isLhs=*/false);
  machine.setResult(op, multiplyFloats(a, b, *machine.get(dot.getC())));
}

void addDotHandlers(HandlerTable &table) {
  table["tt.dot"] = evaluateDot;
  table["tt.dot_scaled"] = evaluateDotScaled;
}

} // namespace pellucid::reference
