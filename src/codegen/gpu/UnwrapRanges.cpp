// SPDX-License-Identifier: Apache-2.0
// Rows of a tile that are taken modulo the tensor's size, as many kernels do instead of a mask:
// where tiles divide the size, a tile wraps as a whole, and its rows follow each other.
//
//   (row * 128 + arange(0, 128)) % 4096   is   row * 128 % 4096 + arange(0, 128)
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/TtGpu.h"
#include "tt/AxisInfo.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_UNWRAPRANGES
#include "codegen/gpu/Passes.h.inc"

namespace {

/// Of a tile of equal numbers.
std::optional<int64_t> numberOf(Value tile) {
  APInt number;
  DenseElementsAttr elements;
  if (auto splat = tile.getDefiningOp<tt::SplatOp>())
    return matchPattern(splat.getSrc(), m_ConstantInt(&number))
               ? std::optional(number.getSExtValue())
               : std::nullopt;
  if (matchPattern(tile, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APInt>().getSExtValue();
  return std::nullopt;
}

struct WrappedRange {
  arith::RemSIOp wrapped;
  Value start; ///< a scalar
  Value range;
  int64_t size;
};

std::optional<WrappedRange> wrappedRange(arith::RemSIOp op, const tt::AxisAnalysis &axes) {
  auto sum = op.getLhs().getDefiningOp<arith::AddIOp>();
  auto size = numberOf(op.getRhs());
  for (unsigned i : {0U, 1U}) {
    auto start = sum ? sum->getOperand(i).getDefiningOp<tt::SplatOp>() : tt::SplatOp();
    auto range = sum ? sum->getOperand(1 - i).getDefiningOp<tt::MakeRangeOp>() : tt::MakeRangeOp();
    if (!start || !range || !size || *size <= 0 || range.getFirst() != 0)
      continue;
    int64_t extent = cast<RankedTensorType>(range.getType()).getNumElements();
    tt::AxisInfo info = axes.of(start.getSrc());
    if (info.nonNegative && info.divisibilityOfAll() % extent == 0 && *size % extent == 0)
      return WrappedRange{op, start.getSrc(), range, *size};
  }
  return std::nullopt;
}

struct UnwrapRangesPass : impl::UnwrapRangesBase<UnwrapRangesPass> {
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (!function->hasAttr(copiesTensorsName) || function.isExternal())
        continue;
      SmallVector<WrappedRange> found;
      {
        tt::AxisAnalysis axes(function);
        function.walk([&](arith::RemSIOp op) {
          if (auto range = wrappedRange(op, axes))
            found.push_back(*range);
        });
      }
      for (WrappedRange &range : found)
        unwrap(range);
    }
  }

  static void unwrap(WrappedRange &range) {
    OpBuilder b(range.wrapped);
    Location loc = range.wrapped.getLoc();
    Type type = range.start.getType();
    Value size = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, range.size));
    Value start = arith::RemSIOp::create(b, loc, range.start, size);
    Value tile = tt::SplatOp::create(b, loc, range.wrapped.getType(), start);
    Value rows = arith::AddIOp::create(b, loc, tile, range.range);
    range.wrapped.replaceAllUsesWith(rows);
    range.wrapped.erase();
  }
};

} // namespace

} // namespace pellucid::ttgpu
