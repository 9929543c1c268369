// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/PartsConversion.h"
#include "passes/tt/Passes.h"
#include "passes/tt/TileAddressing.h"
#include "tt/OffsetAnalysis.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

#include <numeric>

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_REWRITEDESCRIPTORS
#include "passes/tt/Passes.h.inc"

namespace {

/// What memory holds: signedness is known to the descriptor only.
Type storedElement(TensorDescType type) {
  Type element = type.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return element;
}

/// A descriptor's parts: base, sizes, strides (i64), and an i1 that says whether it pads with NaN.
struct DescriptorParts : TypeConverter {
  DescriptorParts() {
    addConversion([](Type type) { return type; });
    addConversion(
        [](TensorDescType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
          parts.push_back(PointerType::get(storedElement(type)));
          parts.append(2 * type.getShape().size(), IntegerType::get(type.getContext(), 64));
          parts.push_back(IntegerType::get(type.getContext(), 1));
          return success();
        });
  }
};

struct Descriptor {
  TileView view;
  Value padNan;
  RankedTensorType block;
};

Descriptor descriptorOf(TensorDescType type, ValueRange parts) {
  Descriptor result;
  size_t rank = type.getShape().size();
  result.view.block = type.getShape();
  result.view.base = parts[0];
  result.view.sizes.assign(parts.begin() + 1, parts.begin() + 1 + rank);
  result.view.strides.assign(parts.begin() + 1 + rank, parts.begin() + 1 + 2 * rank);
  result.padNan = parts.back();
  result.block = RankedTensorType::get(type.getShape(), storedElement(type));
  return result;
}

/// The pointers and the mask of the block at `indices`.
std::pair<Value, Value> blockAt(OpBuilder &builder, Location loc, Descriptor &descriptor,
                                ArrayRef<ValueRange> indices) {
  for (ValueRange index : indices)
    descriptor.view.offsets.push_back(toI64(builder, loc, index.front()));
  SmallVector<int32_t> everyDim(descriptor.view.rank());
  std::iota(everyDim.begin(), everyDim.end(), 0);
  return {tilePointers(builder, loc, descriptor.view),
          tileMask(builder, loc, descriptor.view, everyDim)};
}

/// Pointers and mask of whole rows, one per element of `rows`.
std::pair<Value, Value> rowsAt(OpBuilder &builder, Location loc, const Descriptor &descriptor,
                               Value rows, Value column) {
  const TileView &all = descriptor.view;
  int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0);
  SmallVector<int64_t> shape{count, all.block[1]};
  TileView line;
  line.base = all.base;
  line.sizes = {all.sizes[1]};
  line.strides = {all.strides[1]};
  line.offsets = {toI64(builder, loc, column)};
  line.block = all.block.drop_front();
  Value pointers = spreadAlong(builder, loc, tilePointers(builder, loc, line), 1, shape);
  Value columnMask = spreadAlong(builder, loc, tileMask(builder, loc, line, {0}), 1, shape);

  Value row = toI64(builder, loc, rows);
  Value skipped =
      arith::MulIOp::create(builder, loc, row, splatTo(builder, loc, all.strides[0], {count}));
  pointers = AddPtrOp::create(builder, loc, pointers, spreadAlong(builder, loc, skipped, 0, shape));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, row,
                                      splatTo(builder, loc, zero, {count}));
  Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, row,
                                      splatTo(builder, loc, all.sizes[0], {count}));
  Value inside = arith::AndIOp::create(builder, loc, above, below);
  Value mask =
      arith::AndIOp::create(builder, loc, spreadAlong(builder, loc, inside, 0, shape), columnMask);
  return {pointers, mask};
}

/// A block may be given without its leading dims of size 1.
Value inShapeOf(OpBuilder &builder, Location loc, Value tile, Type type) {
  auto shape = cast<RankedTensorType>(type).getShape();
  if (cast<RankedTensorType>(tile.getType()).getShape() == shape)
    return tile;
  return ReshapeOp::create(builder, loc, shape, tile);
}

struct MakeDescriptorPattern : OpConversionPattern<MakeTensorDescOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeTensorDescOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> parts(adaptor.getBase());
    for (ValueRange size : adaptor.getShape())
      parts.push_back(toI64(rewriter, loc, size.front()));
    for (ValueRange stride : adaptor.getStrides())
      llvm::append_range(parts, stride);
    bool padNan = op.getPadding() == PaddingOption::PAD_NAN;
    parts.push_back(arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(padNan)));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct LoadDescriptorPattern : OpConversionPattern<DescriptorLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DescriptorLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Descriptor descriptor = descriptorOf(op.getDesc().getType(), adaptor.getDesc());
    auto [pointers, mask] = blockAt(rewriter, loc, descriptor, adaptor.getIndices());
    Value other = paddingTile(rewriter, loc, descriptor.block, descriptor.padNan);
    auto tile = LoadOp::create(rewriter, loc, pointers, mask, other, op.getCache(), op.getEvict());
    tile->setAttr(ofDescriptorName, rewriter.getUnitAttr());
    rewriter.replaceOp(op, inShapeOf(rewriter, loc, tile, op.getType()));
    return success();
  }
};

struct StoreDescriptorPattern : OpConversionPattern<DescriptorStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DescriptorStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Descriptor descriptor = descriptorOf(op.getDesc().getType(), adaptor.getDesc());
    auto [pointers, mask] = blockAt(rewriter, loc, descriptor, adaptor.getIndices());
    Value tile = inShapeOf(rewriter, loc, adaptor.getSrc().front(), descriptor.block);
    rewriter.replaceOpWithNewOp<StoreOp>(op, pointers, tile, mask);
    return success();
  }
};

struct GatherPattern : OpConversionPattern<DescriptorGatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DescriptorGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Descriptor descriptor = descriptorOf(op.getDesc().getType(), adaptor.getDesc());
    auto [pointers, mask] = rowsAt(rewriter, loc, descriptor, adaptor.getXOffsets().front(),
                                   adaptor.getYOffset().front());
    auto type = RankedTensorType::get(cast<RankedTensorType>(op.getType()).getShape(),
                                      descriptor.block.getElementType());
    Value other = paddingTile(rewriter, loc, type, descriptor.padNan);
    rewriter.replaceOpWithNewOp<LoadOp>(op, pointers, mask, other);
    return success();
  }
};

struct ScatterPattern : OpConversionPattern<DescriptorScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DescriptorScatterOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Descriptor descriptor = descriptorOf(op.getDesc().getType(), adaptor.getDesc());
    auto [pointers, mask] = rowsAt(rewriter, op.getLoc(), descriptor, adaptor.getXOffsets().front(),
                                   adaptor.getYOffset().front());
    rewriter.replaceOpWithNewOp<StoreOp>(op, pointers, adaptor.getSrc().front(), mask);
    return success();
  }
};

/// The atomic operation on `element` that `kind` stands for; none where there is no single one.
std::optional<RMWOp> atomicFor(DescriptorReduceKind kind, Type element) {
  bool isFloat = isa<FloatType>(element);
  bool isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case DescriptorReduceKind::ADD:
    return isFloat ? RMWOp::FADD : RMWOp::ADD;
  case DescriptorReduceKind::MIN:
    return isFloat ? std::nullopt : std::optional(isUnsigned ? RMWOp::UMIN : RMWOp::MIN);
  case DescriptorReduceKind::MAX:
    return isFloat ? std::nullopt : std::optional(isUnsigned ? RMWOp::UMAX : RMWOp::MAX);
  case DescriptorReduceKind::AND:
    return RMWOp::AND;
  case DescriptorReduceKind::OR:
    return RMWOp::OR;
  case DescriptorReduceKind::XOR:
    return RMWOp::XOR;
  case DescriptorReduceKind::INC:
  case DescriptorReduceKind::DEC:
    return std::nullopt;
  }
  return std::nullopt;
}

struct ReducePattern : OpConversionPattern<DescriptorReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DescriptorReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TensorDescType type = op.getDesc().getType();
    std::optional<RMWOp> atomic = atomicFor(op.getKind(), type.getElementType());
    if (!atomic)
      return op.emitOpError() << "'" << stringifyDescriptorReduceKind(op.getKind()) << "' on "
                              << type.getElementType()
                              << " is not supported outside of TMA hardware";
    Location loc = op.getLoc();
    Descriptor descriptor = descriptorOf(type, adaptor.getDesc());
    auto [pointers, mask] = blockAt(rewriter, loc, descriptor, adaptor.getIndices());
    Value tile = inShapeOf(rewriter, loc, adaptor.getSrc().front(), descriptor.block);
    AtomicRMWOp::create(rewriter, loc, tile.getType(), *atomic, pointers, tile, mask,
                        MemSemantic::RELAXED, MemSyncScope::GPU);
    rewriter.eraseOp(op);
    return success();
  }
};

/// A cast from parts, which splitDescriptorArguments leaves, is its own decomposition.
struct CastPattern : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(UnrealizedConversionCastOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(op.getInputs());
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

DictionaryAttr partAttribute(Builder &builder, unsigned argument, StringRef part, int dim) {
  SmallVector<NamedAttribute> fields{
      builder.getNamedAttr("argument", builder.getI32IntegerAttr(argument)),
      builder.getNamedAttr("part", builder.getStringAttr(part))};
  if (dim >= 0)
    fields.push_back(builder.getNamedAttr("dim", builder.getI32IntegerAttr(dim)));
  return builder.getDictionaryAttr(
      builder.getNamedAttr("pellucid.descriptor", builder.getDictionaryAttr(fields)));
}

/// Replaces argument `index`, a descriptor, by its parts. `original` is its number before any was
/// replaced.
unsigned splitDescriptorArgument(FuncOp function, unsigned index, unsigned original) {
  Builder attributes(function.getContext());
  auto type = cast<TensorDescType>(function.getArgumentTypes()[index]);
  SmallVector<Type> types;
  (void)DescriptorParts().convertType(type, types);
  int rank = static_cast<int>(type.getShape().size());
  SmallVector<DictionaryAttr> attrs{partAttribute(attributes, original, "base", -1)};
  for (StringRef part : {"size", "stride"})
    for (int dim = 0; dim < rank; ++dim)
      attrs.push_back(partAttribute(attributes, original, part, dim));
  attrs.push_back(partAttribute(attributes, original, "pads_with_nan", -1));

  SmallVector<unsigned> at(types.size(), index + 1);
  SmallVector<Location> locations(types.size(), function.getArgument(index).getLoc());
  (void)function.insertArguments(at, types, attrs, locations);
  OpBuilder builder(function.getBody());
  ValueRange parts = function.getArguments().slice(index + 1, types.size());
  Value whole =
      UnrealizedConversionCastOp::create(builder, function.getLoc(), TypeRange(type), parts)
          .getResult(0);
  function.getArgument(index).replaceAllUsesWith(whole);
  (void)function.eraseArgument(index);
  return types.size();
}

struct RewriteDescriptorsPass : impl::RewriteDescriptorsBase<RewriteDescriptorsPass> {
  void runOnOperation() override {
    for (FuncOp function : getOperation().getOps<FuncOp>())
      splitDescriptorArguments(function);
    DescriptorParts converter;
    ConversionTarget target(getContext());
    RewritePatternSet patterns(&getContext());
    populatePartsPatterns(converter, patterns, target);
    patterns.add<MakeDescriptorPattern, LoadDescriptorPattern, StoreDescriptorPattern,
                 GatherPattern, ScatterPattern, ReducePattern, CastPattern>(converter,
                                                                            &getContext());
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }

  static void splitDescriptorArguments(FuncOp function) {
    if (function.isExternal())
      return;
    unsigned original = 0;
    for (unsigned index = 0; index < function.getNumArguments(); ++original) {
      bool split = isa<TensorDescType>(function.getArgumentTypes()[index]);
      index += split ? splitDescriptorArgument(function, index, original) : 1;
    }
  }
};

} // namespace

} // namespace pellucid::tt
