// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/PartsConversion.h"
#include "passes/tt/Passes.h"
#include "passes/tt/TileAddressing.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_REWRITEBLOCKPOINTERS
#include "passes/tt/Passes.h.inc"

namespace {

RankedTensorType blockOf(Type pointer) {
  return cast<RankedTensorType>(cast<PointerType>(pointer).getPointeeType());
}

/// A block pointer's parts: base, sizes, strides, offsets.
struct BlockPointerParts : TypeConverter {
  BlockPointerParts() {
    addConversion([](Type type) { return type; });
    addConversion(
        [](PointerType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
          if (!isBlockPointer(type))
            return std::nullopt;
          parts.push_back(basePointerOf(type));
          parts.append(3 * blockOf(type).getRank(), IntegerType::get(type.getContext(), 64));
          return success();
        });
  }
};

TileView viewOf(Type pointer, ValueRange parts) {
  TileView view;
  view.block = blockOf(pointer).getShape();
  size_t rank = view.block.size();
  view.base = parts[0];
  view.sizes.assign(parts.begin() + 1, parts.begin() + 1 + rank);
  view.strides.assign(parts.begin() + 1 + rank, parts.begin() + 1 + 2 * rank);
  view.offsets.assign(parts.begin() + 1 + 2 * rank, parts.end());
  return view;
}

struct MakePattern : OpConversionPattern<MakeTensorPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeTensorPtrOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(adaptor.getBase());
    for (ValueRange size : adaptor.getShape())
      llvm::append_range(parts, size);
    for (ValueRange stride : adaptor.getStrides())
      llvm::append_range(parts, stride);
    for (ValueRange offset : adaptor.getOffsets())
      parts.push_back(toI64(rewriter, op.getLoc(), offset.front()));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct AdvancePattern : OpConversionPattern<AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AdvanceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(adaptor.getPtr());
    size_t rank = op.getOffsets().size();
    MutableArrayRef<Value> offsets = MutableArrayRef<Value>(parts).take_back(rank);
    for (auto [offset, step] : llvm::zip_equal(offsets, adaptor.getOffsets())) {
      Value wide = toI64(rewriter, op.getLoc(), step.front());
      offset = arith::AddIOp::create(rewriter, op.getLoc(), offset, wide);
    }
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

// load(block pointer) => load(tile of pointers, inside the checked dims, padding)
struct LoadPattern : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileView view = viewOf(op.getPtr().getType(), adaptor.getPtr());
    Value pointers = tilePointers(rewriter, loc, view);
    Value mask = tileMask(rewriter, loc, view, op.getBoundaryCheck());
    Value other;
    if (mask && op.getPadding()) {
      Value padNan = arith::ConstantOp::create(
          rewriter, loc, rewriter.getBoolAttr(*op.getPadding() == PaddingOption::PAD_NAN));
      other = paddingTile(rewriter, loc, cast<RankedTensorType>(op.getType()), padNan);
    }
    rewriter.replaceOpWithNewOp<LoadOp>(op, pointers, mask, other, op.getCache(), op.getEvict(),
                                        op.getIsVolatile());
    return success();
  }
};

// store(block pointer, v) => store(tile of pointers, v, inside the checked dims)
struct StorePattern : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileView view = viewOf(op.getPtr().getType(), adaptor.getPtr());
    Value pointers = tilePointers(rewriter, op.getLoc(), view);
    Value mask = tileMask(rewriter, op.getLoc(), view, op.getBoundaryCheck());
    rewriter.replaceOpWithNewOp<StoreOp>(op, pointers, adaptor.getValue().front(), mask,
                                         op.getCache(), op.getEvict());
    return success();
  }
};

struct RewriteBlockPointersPass : impl::RewriteBlockPointersBase<RewriteBlockPointersPass> {
  void runOnOperation() override {
    BlockPointerParts converter;
    ConversionTarget target(getContext());
    RewritePatternSet patterns(&getContext());
    populatePartsPatterns(converter, patterns, target);
    patterns.add<MakePattern, AdvancePattern, LoadPattern, StorePattern>(converter, &getContext());
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace pellucid::tt
