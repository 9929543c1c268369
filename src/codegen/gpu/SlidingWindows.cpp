// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/SlidingWindows.h"

#include "codegen/common/CodeBuilder.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::ttgpu {

namespace {

constexpr int64_t vectorBytes = 16;
constexpr unsigned deepest = 16;

std::optional<int64_t> constantOf(Value value) {
  llvm::APInt number;
  DenseElementsAttr elements;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<llvm::APInt>().getSExtValue();
  return std::nullopt;
}

int64_t powerOfTwoIn(int64_t bytes) {
  return bytes % vectorBytes == 0 ? vectorBytes : bytes & -bytes;
}

/// What divides the parts of an address of which it is known how they move.
class Alignment {
public:
  Alignment(int64_t elementBytes, bool alsoElsewhere)
      : elementBytes(elementBytes), alsoElsewhere(alsoElsewhere) {}

  /// Of `value` times `bytes`.
  int64_t of(Value value, int64_t bytes, unsigned depth = 0) const {
    if (bytes % vectorBytes == 0 || depth == deepest)
      return vectorBytes;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      auto step =
          loop && argument == loop.getInductionVar() ? constantOf(loop.getStep()) : std::nullopt;
      return step ? powerOfTwoIn(*step * bytes) : vectorBytes;
    }
    Operation *op = value.getDefiningOp();
    if (alsoElsewhere && (isa_and_present<tt::GetProgramIdOp>(op) ||
                          (isa_and_present<tt::MakeRangeOp>(op) && bytes != elementBytes)))
      return powerOfTwoIn(bytes);
    auto ofOperand = [&](Value operand) { return of(operand, bytes, depth + 1); };
    if (isa_and_present<arith::AddIOp, arith::SubIOp, tt::AddPtrOp>(op))
      return std::min(ofOperand(op->getOperand(0)), ofOperand(op->getOperand(1)));
    if (isa_and_present<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, arith::ExtSIOp,
                        arith::ExtUIOp, arith::IndexCastOp>(op))
      return ofOperand(op->getOperand(0));
    if (isa_and_present<arith::MulIOp>(op))
      for (unsigned i : {0U, 1U})
        if (auto factor = constantOf(op->getOperand(i)))
          return of(op->getOperand(1 - i), bytes * *factor, depth + 1);
    return vectorBytes;
  }

private:
  int64_t elementBytes;
  bool alsoElsewhere;
};

int64_t alignmentOf(Value pointers, bool alsoElsewhere) {
  auto pointer = dyn_cast<tt::PointerType>(codegen::elementTypeOf(pointers.getType()));
  if (!pointer)
    return vectorBytes;
  int64_t bytes = codegen::memoryBytes(pointer.getPointeeType());
  return Alignment(bytes, alsoElsewhere).of(pointers, bytes);
}

} // namespace

int64_t slidingAlignment(Value pointers) { return alignmentOf(pointers, false); }
int64_t steadyAlignment(Value pointers) { return alignmentOf(pointers, true); }

} // namespace pellucid::ttgpu
