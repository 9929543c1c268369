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

/// What divides `value` times `bytes`, of which it is known how it moves from round to round.
int64_t alignmentOf(Value value, int64_t bytes, unsigned depth) {
  auto powerOfTwo = [](int64_t moves) {
    return moves % vectorBytes == 0 ? vectorBytes : moves & -moves;
  };
  if (bytes % vectorBytes == 0 || depth == deepest)
    return vectorBytes;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    auto step =
        loop && argument == loop.getInductionVar() ? constantOf(loop.getStep()) : std::nullopt;
    return step ? powerOfTwo(*step * bytes) : vectorBytes;
  }
  auto ofOperand = [&](Value operand) { return alignmentOf(operand, bytes, depth + 1); };
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::AddIOp, arith::SubIOp, tt::AddPtrOp>(op))
    return std::min(ofOperand(op->getOperand(0)), ofOperand(op->getOperand(1)));
  if (isa_and_present<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, arith::ExtSIOp,
                      arith::ExtUIOp, arith::IndexCastOp>(op))
    return ofOperand(op->getOperand(0));
  if (isa_and_present<arith::MulIOp>(op))
    for (unsigned i : {0U, 1U})
      if (auto factor = constantOf(op->getOperand(i)))
        return alignmentOf(op->getOperand(1 - i), bytes * *factor, depth + 1);
  return vectorBytes;
}

} // namespace

int64_t slidingAlignment(Value pointers) {
  auto pointer = dyn_cast<tt::PointerType>(codegen::elementTypeOf(pointers.getType()));
  return pointer ? alignmentOf(pointers, codegen::memoryBytes(pointer.getPointeeType()), 0)
                 : vectorBytes;
}

} // namespace pellucid::ttgpu
