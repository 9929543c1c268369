// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/PartsConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace pellucid::tt {

namespace {

// select(c, a, b) => select(c, a.part, b.part) for each part
struct SelectParts : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (auto [whenTrue, whenFalse] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(arith::SelectOp::create(rewriter, op.getLoc(), adaptor.getCondition().front(),
                                              whenTrue, whenFalse));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct PoisonParts : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ub::PoisonOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    SmallVector<Value> parts;
    for (Type type : types)
      parts.push_back(ub::PoisonOp::create(rewriter, op.getLoc(), type, op.getValue()));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

} // namespace

void populatePartsPatterns(const TypeConverter &converter, RewritePatternSet &patterns,
                           ConversionTarget &target) {
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  patterns.add<SelectParts, PoisonParts>(converter, patterns.getContext());
  target.markUnknownOpDynamicallyLegal(
      [&converter](Operation *op) { return converter.isLegal(op); });
}

} // namespace pellucid::tt
