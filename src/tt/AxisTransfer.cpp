// SPDX-License-Identifier: Apache-2.0
// What each operation makes of the facts of its operands (AxisInfo.h).
#include "tt/AxisInfo.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace pellucid::tt {

namespace {

constexpr int64_t most = AxisInfo::mostDivisibility;

int64_t powerOfTwoIn(int64_t number) {
  return number == 0 ? most : std::min(most, number & -number);
}

int64_t times(int64_t a, int64_t b) { return a > most / b ? most : a * b; }

/// The facts of one operation. `in` holds those of the operands.
class Transfer {
public:
  Transfer(Operation *op, ArrayRef<AxisInfo> in) : op(op), in(in) {}

  AxisInfo run(Value value) {
    AxisInfo info = AxisInfo::unknown(value.getType());
    tile = dyn_cast<RankedTensorType>(value.getType());
    unit = axisUnit(value.getType());
    compute(info);
    info.fallsBelowZero = !info.nonNegative && fallsBelowZero();
    return info;
  }

private:
  int64_t extent(unsigned dim) const { return tile ? powerOfTwoIn(tile.getDimSize(dim)) : 1; }
  unsigned rank() const { return tile ? tile.getRank() : 1; }

  bool fallsBelowZero() const {
    auto falls = [](const AxisInfo &operand) { return operand.fallsBelowZero; };
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case<arith::ConstantOp, MakeRangeOp>([](auto) { return true; })
        .Case<arith::SubIOp>([&](auto) { return tile || llvm::any_of(in, falls); })
        .Case<arith::MaxSIOp, arith::AndIOp>([&](auto) { return llvm::all_of(in, falls); })
        .Case<LoadOp, arith::CmpIOp, GetProgramIdOp, GetNumProgramsOp>([](auto) { return false; })
        .Default([&](Operation *) { return llvm::any_of(in, falls); });
  }

  /// All elements are the same value.
  void makeUniform(AxisInfo &info, int64_t divisibility, bool nonNegative) const {
    for (unsigned d = 0; d < rank(); ++d) {
      info.contiguity[d] = 1;
      info.constancy[d] = extent(d);
      info.divisibility[d] = divisibility;
    }
    info.nonNegative = nonNegative;
  }

  /// A scalar operand is the same for all elements of a tile.
  int64_t constancy(unsigned operand, unsigned d) const {
    bool isScalar = tile && !isa<RankedTensorType>(op->getOperand(operand).getType());
    return isScalar ? extent(d) : in[operand].constancy[d];
  }

  /// Where all elements are one known number.
  std::optional<int64_t> constantOf(unsigned operand) const {
    Value value = op->getOperand(operand);
    if (auto splat = value.getDefiningOp<SplatOp>())
      value = splat.getSrc();
    APInt number;
    if (!matchPattern(value, m_ConstantInt(&number)) || number.getSignificantBits() > 62)
      return std::nullopt;
    return number.getSExtValue();
  }

  void compute(AxisInfo &info) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<arith::ConstantOp>([&](auto constant) { ofConstant(constant, info); })
        .Case<MakeRangeOp>([&](MakeRangeOp range) {
          info.contiguity[0] = extent(0);
          info.divisibility[0] = powerOfTwoIn(static_cast<int32_t>(range.getFirst()));
          info.nonNegative = static_cast<int32_t>(range.getFirst()) >= 0;
        })
        .Case<GetProgramIdOp, GetNumProgramsOp>([&](auto) { info.nonNegative = true; })
        .Case<SplatOp>(
            [&](auto) { makeUniform(info, in[0].divisibilityOfAll(), in[0].nonNegative); })
        .Case<ExpandDimsOp>([&](ExpandDimsOp expand) { ofExpand(expand.getAxis(), info); })
        .Case<BroadcastOp>([&](auto) { ofBroadcast(info); })
        .Case<TransOp>([&](TransOp trans) { ofTrans(trans.getOrder(), info); })
        .Case<ReshapeOp>([&](ReshapeOp reshape) { ofReshape(reshape, info); })
        .Case<AddPtrOp>([&](auto) { ofSum(info, 1, /*isPointer=*/true); })
        .Case<arith::AddIOp>([&](auto) { ofSum(info, 1, false); })
        .Case<arith::SubIOp>([&](auto) { ofSum(info, -1, false); })
        .Case<arith::MulIOp>([&](auto) { ofProduct(info); })
        .Case<arith::ShLIOp>([&](auto) { ofShiftLeft(info); })
        .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { ofShiftRight(info); })
        .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) { ofQuotient(info); })
        .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { ofRemainder(info); })
        .Case<arith::AndIOp>([&](auto) { ofAnd(info); })
        .Case<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>([&](auto) {
          ofChoice(info, 0, 1);
          if (isa<arith::MaxSIOp>(op))
            info.nonNegative = in[0].nonNegative || in[1].nonNegative;
        })
        .Case<arith::SelectOp>([&](auto) { ofSelect(info); })
        .Case<arith::CmpIOp>([&](arith::CmpIOp compare) { ofComparison(compare, info); })
        .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { info = in[0]; })
        .Case<arith::ExtUIOp, arith::TruncIOp>([&](auto) { ofWidthChange(info); })
        .Case<BitcastOp, PtrToIntOp, IntToPtrOp>([&](auto) { ofReinterpretation(info); })
        .Case<LoadOp>([&](LoadOp load) { ofLoad(load, info); })
        .Default([&](Operation *) {
          if (keepsElements(op))
            info = in[0];
          else if (op->hasTrait<OpTrait::Elementwise>())
            ofElements(info);
        });
  }

  //===--- values -----------------------------------------------------------------------------===//

  void ofConstant(arith::ConstantOp constant, AxisInfo &info) const {
    Attribute value = constant.getValue();
    if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
      if (!elements.isSplat())
        return;
      value = elements.getSplatValue<Attribute>();
    }
    auto number = dyn_cast<IntegerAttr>(value);
    if (!number || number.getValue().getSignificantBits() > 64)
      return makeUniform(info, 1, false);
    int64_t integer = number.getValue().getSExtValue();
    makeUniform(info, powerOfTwoIn(integer), integer >= 0);
  }

  /// A load of equal addresses gives equal elements.
  void ofLoad(LoadOp load, AxisInfo &info) const {
    if (load.getIsVolatile())
      return;
    for (unsigned d = 0; d < rank(); ++d) {
      info.constancy[d] = extent(d);
      for (unsigned operand = 0; operand < in.size(); ++operand)
        info.constancy[d] = std::min(info.constancy[d], constancy(operand, d));
    }
  }

  /// Equal operands give equal results.
  void ofElements(AxisInfo &info) const {
    for (unsigned d = 0; d < rank() && !in.empty(); ++d) {
      info.constancy[d] = extent(d);
      for (unsigned operand = 0; operand < in.size(); ++operand)
        info.constancy[d] = std::min(info.constancy[d], constancy(operand, d));
    }
  }

  //===--- shapes -----------------------------------------------------------------------------===//

  void ofExpand(unsigned axis, AxisInfo &info) const {
    info = in[0];
    // Along the new dim every element begins a group.
    info.contiguity.insert(info.contiguity.begin() + axis, 1);
    info.divisibility.insert(info.divisibility.begin() + axis, in[0].divisibilityOfAll(unit));
    info.constancy.insert(info.constancy.begin() + axis, 1);
  }

  void ofBroadcast(AxisInfo &info) const {
    info = in[0];
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    for (unsigned d = 0; d < rank(); ++d)
      if (from.getDimSize(d) == 1)
        info.constancy[d] = extent(d);
  }

  void ofTrans(ArrayRef<int32_t> order, AxisInfo &info) const {
    info.nonNegative = in[0].nonNegative;
    for (auto [to, from] : llvm::enumerate(order)) {
      info.contiguity[to] = in[0].contiguity[from];
      info.divisibility[to] = in[0].divisibility[from];
      info.constancy[to] = in[0].constancy[from];
    }
  }

  /// Elements stay in row-major order, so the innermost dim keeps what fits into it.
  void ofReshape(ReshapeOp reshape, AxisInfo &info) const {
    auto from = cast<RankedTensorType>(reshape.getSrc().getType());
    int64_t ofAll = in[0].divisibilityOfAll(unit);
    for (int64_t &divisor : info.divisibility)
      divisor = ofAll;
    info.nonNegative = in[0].nonNegative;
    auto last = [](RankedTensorType type) {
      unsigned d = type.getRank() - 1;
      while (d > 0 && type.getDimSize(d) == 1)
        --d;
      return d;
    };
    if (reshape.getAllowReorder() || from.getRank() == 0 || tile.getRank() == 0)
      return;
    unsigned source = last(from), target = last(tile);
    info.contiguity[target] = std::min(in[0].contiguity[source], extent(target));
    info.constancy[target] = std::min(in[0].constancy[source], extent(target));
    info.divisibility[target] = in[0].divisibilityAt(source, info.contiguity[target], unit);
  }

  //===--- arithmetic -------------------------------------------------------------------------===//

  void ofSum(AxisInfo &info, int sign, bool isPointer) const {
    const AxisInfo &left = in[0], &right = in[1];
    int64_t scale = isPointer ? unit & -unit : 1;
    for (unsigned d = 0; d < rank(); ++d) {
      int64_t along = std::min(left.contiguity[d], right.constancy[d]);
      if (sign > 0)
        along = std::max(along, std::min(left.constancy[d], right.contiguity[d]));
      info.contiguity[d] = along;
      info.constancy[d] = std::min(left.constancy[d], right.constancy[d]);
      info.divisibility[d] = std::min(left.divisibilityAt(d, along, isPointer ? unit : 1),
                                      times(right.divisibilityAt(d, along), scale));
    }
    info.nonNegative = sign > 0 && left.nonNegative && right.nonNegative;
  }

  void ofProduct(AxisInfo &info) const {
    for (unsigned one : {0, 1})
      if (constantOf(one) == 1) {
        info = in[1 - one];
        return;
      }
    for (unsigned d = 0; d < rank(); ++d) {
      info.constancy[d] = std::min(in[0].constancy[d], in[1].constancy[d]);
      info.divisibility[d] = times(in[0].divisibilityAt(d, 1), in[1].divisibilityAt(d, 1));
    }
    info.nonNegative = in[0].nonNegative && in[1].nonNegative;
  }

  std::optional<int64_t> constantShift() const {
    std::optional<int64_t> number = constantOf(1);
    return number && *number >= 0 && *number < 30 ? number : std::nullopt;
  }

  void ofShiftLeft(AxisInfo &info) const {
    std::optional<int64_t> bits = constantShift();
    if (bits == 0) {
      info = in[0];
      return;
    }
    for (unsigned d = 0; d < rank(); ++d) {
      info.constancy[d] = std::min(in[0].constancy[d], in[1].constancy[d]);
      if (bits)
        info.divisibility[d] = times(in[0].divisibilityAt(d, 1), int64_t(1) << *bits);
    }
    info.nonNegative = bits && in[0].nonNegative;
  }

  /// The longest group of consecutive elements up to `longest` that begins at a multiple of its
  /// length.
  int64_t alignedGroup(unsigned operand, unsigned d, int64_t longest) const {
    int64_t group = std::min(in[operand].contiguity[d], longest);
    while (group > 1 && in[operand].divisibilityAt(d, group) < group)
      group /= 2;
    return group;
  }

  /// Aligned groups no longer than `divisor` have one quotient.
  void divideBy(AxisInfo &info, int64_t divisor, unsigned d, int64_t uniform) const {
    info.constancy[d] = std::max(std::min(in[0].constancy[d], uniform),
                                 alignedGroup(0, d, std::min(divisor, uniform)));
  }

  void ofShiftRight(AxisInfo &info) const {
    std::optional<int64_t> bits = constantShift();
    if (!bits)
      return ofElements(info);
    for (unsigned d = 0; d < rank(); ++d) {
      divideBy(info, int64_t(1) << *bits, d, extent(d));
      info.divisibility[d] = std::max<int64_t>(1, in[0].divisibilityAt(d, 1) >> *bits);
    }
    info.nonNegative = in[0].nonNegative || (isa<arith::ShRUIOp>(op) && *bits > 0);
  }

  /// Division rounds towards zero: groups below zero are cut elsewhere. What is not seen to be
  /// negative is taken not to be, as everywhere in Triton: the block of a program is number
  /// `(pid % width) // height`, whose sign nothing but the size of the grid tells.
  bool roundsDown() const {
    return isa<arith::DivUIOp, arith::RemUIOp>(op) || !in[0].fallsBelowZero;
  }

  void ofQuotient(AxisInfo &info) const {
    std::optional<int64_t> number = constantOf(1);
    if (number == 1) {
      info = in[0];
      return;
    }
    for (unsigned d = 0; d < rank(); ++d) {
      int64_t uniform = in[1].constancy[d];
      if (roundsDown())
        divideBy(info, in[1].divisibilityAt(d, 1), d, uniform);
      else
        info.constancy[d] = std::min(in[0].constancy[d], uniform);
      if (number && *number > 0 && (*number & (*number - 1)) == 0)
        info.divisibility[d] =
            std::max<int64_t>(1, in[0].divisibilityAt(d, 1) / std::min(most, *number));
    }
    info.nonNegative = in[0].nonNegative && in[1].nonNegative;
  }

  /// x % m: aligned groups whose length divides m stay groups.
  void ofRemainder(AxisInfo &info) const {
    for (unsigned d = 0; d < rank(); ++d) {
      int64_t modulus = in[1].divisibilityAt(d, 1), uniform = in[1].constancy[d];
      info.contiguity[d] = roundsDown() ? alignedGroup(0, d, std::min(modulus, uniform)) : 1;
      info.constancy[d] = std::min(in[0].constancy[d], uniform);
      info.divisibility[d] = std::min(in[0].divisibilityAt(d, info.contiguity[d]), modulus);
    }
    info.nonNegative = in[0].nonNegative;
  }

  /// With 2^k - 1 this is the remainder by 2^k, below zero as well.
  void ofAnd(AxisInfo &info) const {
    ofElements(info);
    info.nonNegative = in[0].nonNegative || in[1].nonNegative;
    for (unsigned d = 0; d < rank(); ++d)
      info.divisibility[d] = std::max(in[0].divisibilityAt(d, 1), in[1].divisibilityAt(d, 1));
    std::optional<int64_t> mask = constantOf(1);
    if (!mask || *mask < 0 || *mask >= most || (*mask & (*mask + 1)) != 0)
      return;
    int64_t modulus = *mask + 1;
    for (unsigned d = 0; d < rank(); ++d) {
      int64_t group = alignedGroup(0, d, modulus);
      info.contiguity[d] = group;
      info.divisibility[d] = std::min(in[0].divisibilityAt(d, group), modulus);
    }
  }

  /// Each element is that of one operand or of the other.
  void ofChoice(AxisInfo &info, unsigned a, unsigned b) const {
    for (unsigned d = 0; d < rank(); ++d) {
      info.constancy[d] = std::min(in[a].constancy[d], in[b].constancy[d]);
      info.divisibility[d] =
          std::min(in[a].divisibilityAt(d, 1, unit), in[b].divisibilityAt(d, 1, unit));
    }
    info.nonNegative = in[a].nonNegative && in[b].nonNegative;
  }

  void ofSelect(AxisInfo &info) const {
    ofChoice(info, 1, 2);
    for (unsigned d = 0; d < rank(); ++d) {
      int64_t alike = constancy(0, d);
      info.constancy[d] = std::min(info.constancy[d], alike);
      int64_t group = std::min({in[1].contiguity[d], in[2].contiguity[d], alike});
      info.contiguity[d] = group;
      info.divisibility[d] =
          std::min(in[1].divisibilityAt(d, group, unit), in[2].divisibilityAt(d, group, unit));
    }
  }

  /// An aligned group of x is below a multiple of its length as a whole or not at all.
  void ofComparison(arith::CmpIOp compare, AxisInfo &info) const {
    using arith::CmpIPredicate;
    CmpIPredicate predicate = compare.getPredicate();
    bool leftGrows = llvm::is_contained(
        {CmpIPredicate::slt, CmpIPredicate::sge, CmpIPredicate::ult, CmpIPredicate::uge},
        predicate);
    bool rightGrows = llvm::is_contained(
        {CmpIPredicate::sgt, CmpIPredicate::sle, CmpIPredicate::ugt, CmpIPredicate::ule},
        predicate);
    ofElements(info);
    if (!leftGrows && !rightGrows)
      return;
    unsigned growing = leftGrows ? 0 : 1, other = 1 - growing;
    for (unsigned d = 0; d < rank(); ++d) {
      int64_t longest = std::min(in[other].constancy[d], in[other].divisibilityAt(d, 1));
      info.constancy[d] = std::max(info.constancy[d], alignedGroup(growing, d, longest));
    }
  }

  //===--- types ------------------------------------------------------------------------------===//

  /// Adding or dropping high bits tears groups apart only where they cross a multiple of 2^bits,
  /// and what is left has a sign: of 0 to 255 the upper half is below zero in 8 bits.
  void ofWidthChange(AxisInfo &info) const {
    info = in[0];
    bool isTruncation = isa<arith::TruncIOp>(op);
    info.nonNegative = !isTruncation;
    if (in[0].nonNegative && !isTruncation)
      return;
    unsigned narrow = getElementTypeOrSelf(isTruncation ? op->getResult(0).getType()
                                                        : op->getOperand(0).getType())
                          .getIntOrFloatBitWidth();
    int64_t period = narrow < 30 ? int64_t(1) << narrow : most;
    for (unsigned d = 0; d < rank(); ++d) {
      int64_t group = alignedGroup(0, d, isTruncation ? (period + 1) / 2 : period);
      info.contiguity[d] = group;
      info.divisibility[d] = std::min(in[0].divisibilityAt(d, group), isTruncation ? most : period);
    }
  }

  /// The same bits, counted in another unit.
  void ofReinterpretation(AxisInfo &info) const {
    int64_t before = axisUnit(op->getOperand(0).getType());
    if (before == unit) {
      info = in[0];
      info.nonNegative = false;
      return;
    }
    for (unsigned d = 0; d < rank(); ++d) {
      info.constancy[d] = in[0].constancy[d];
      info.divisibility[d] = in[0].divisibilityAt(d, 1, before);
    }
  }

  Operation *op;
  ArrayRef<AxisInfo> in;
  RankedTensorType tile;
  int64_t unit = 1;
};

} // namespace

bool keepsElements(Operation *op) {
  if (!isa<CastOpInterface>(op) || op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return from && to && from.getShape() == to.getShape() &&
         from.getElementType() == to.getElementType();
}

SmallVector<AxisInfo, 1> axisTransfer(Operation *op, ArrayRef<AxisInfo> operands) {
  SmallVector<AxisInfo, 1> results;
  for (Value result : op->getResults())
    results.push_back(Transfer(op, operands).run(result));
  return results;
}

} // namespace pellucid::tt
