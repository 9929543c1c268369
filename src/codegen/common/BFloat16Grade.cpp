// SPDX-License-Identifier: Apache-2.0
// A function qualifies when everything computed from it ends in a rounding to bf16 and only passes
// operations on the way that keep relative errors as they are or add them up. Sums qualify where
// both sides have one sign: nothing cancels.
#include "codegen/common/BFloat16Grade.h"

#include "codegen/common/CodeBuilder.h"
#include "codegen/common/VectorMath.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace pellucid::codegen {

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {

mlir::Type element(mlir::Value value) { return elementTypeOf(value.getType()); }

bool movesElements(mlir::Operation *op) {
  return mlir::isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp,
                   tt::UnsplatOp, tt::SplitOp, tt::JoinOp>(op);
}
bool isSum(mlir::Operation *op) { return mlir::isa<arith::AddFOp>(op); }
bool isExtremum(mlir::Operation *op) {
  return mlir::isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op);
}
bool isQuotient(mlir::Operation *op) {
  return mlir::isa<arith::DivFOp, tt::PreciseDivFOp, tt::ApproxDivFOp>(op);
}
bool isRoot(mlir::Operation *op) {
  return mlir::isa<math::SqrtOp, tt::PreciseSqrtOp, math::RsqrtOp>(op);
}
bool isWidening(mlir::Operation *op) {
  auto cast = mlir::dyn_cast<tt::FpToFpOp>(op);
  return mlir::isa<arith::ExtFOp>(op) ||
         (cast &&
          element(cast).getIntOrFloatBitWidth() > element(cast.getSrc()).getIntOrFloatBitWidth());
}

/// The one operation that a reduction combines with; null when there are several.
mlir::Operation *combiner(tt::ReduceOp reduce) {
  mlir::Region &region = reduce.getCombineOp();
  if (reduce.getSrcs().size() != 1 || !region.hasOneBlock() ||
      region.front().getOperations().size() != 2)
    return nullptr;
  mlir::Operation *step = &region.front().front();
  bool captures = !llvm::all_of(step->getOperands(), llvm::IsaPred<mlir::BlockArgument>);
  return captures ? nullptr : step;
}

/// A NaN that comes out is one that went in, or the processor's own, which is short.
bool computesFloats(mlir::Operation *op) {
  llvm::StringRef dialect = op->getName().getDialectNamespace();
  if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op))
    return combiner(reduce) != nullptr;
  return movesElements(op) || isQuotient(op) || isRoot(op) || dialect == "math" ||
         (dialect == "arith" && !mlir::isa<arith::BitcastOp>(op));
}

/// Never below zero, NaN aside.
bool isNonNegative(mlir::Value value, int depth = 12) {
  llvm::APFloat number(0.0f);
  if (mlir::matchPattern(value, mlir::m_ConstantFloat(&number)))
    return !number.isNegative();
  mlir::Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto operandsAre = [&] {
    return llvm::all_of(op->getOperands(),
                        [&](mlir::Value v) { return isNonNegative(v, depth - 1); });
  };
  if (mlir::isa<math::ExpOp, math::Exp2Op, math::AbsFOp, arith::UIToFPOp>(op) || isRoot(op))
    return true;
  if (mlir::isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
    return true;
  if (auto choice = mlir::dyn_cast<arith::SelectOp>(op))
    return isNonNegative(choice.getTrueValue(), depth - 1) &&
           isNonNegative(choice.getFalseValue(), depth - 1);
  if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op)) {
    mlir::Operation *step = combiner(reduce);
    return step && (isSum(step) || isExtremum(step)) && operandsAre();
  }
  if (mlir::isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return isNonNegative(op->getOperand(0), depth - 1) ||
           isNonNegative(op->getOperand(1), depth - 1);
  if (isSum(op) || isQuotient(op) || isWidening(op) || movesElements(op) ||
      mlir::isa<arith::MulFOp, arith::MinimumFOp, arith::MinNumFOp, arith::TruncFOp>(op))
    return operandsAre();
  return false;
}

/// How much a value may be off: by `errors` times 2^-16, because of `functions`.
struct Inaccuracy {
  llvm::SmallSetVector<mlir::Operation *, 4> functions;
  unsigned errors = 0;
};

class Marker {
public:
  bool run(mlir::Operation *kernel) {
    kernel->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      op->removeAttr(bfloat16GradeAttr);
      op->removeAttr(shortNanAttr);
      // What a reduction does with its operands is said at the reduction.
      if (mlir::isa<tt::ReduceOp>(op->getParentOp()))
        return;
      noteSources(op);
      visit(op);
    });
    bool any = false;
    for (mlir::Operation *function : functions) {
      if (rejected.contains(function))
        continue;
      function->setAttr(bfloat16GradeAttr, mlir::UnitAttr::get(function->getContext()));
      any = true;
    }
    return any;
  }

private:
  /// 16 units are 2^-12: an eighth of half a unit in bf16's last place.
  static constexpr unsigned mostErrors = 16;

  static bool isFunction(mlir::Operation *op) {
    return op->getName().getDialectNamespace() == "math" && op->getNumOperands() == 1 &&
           element(op->getResult(0)).isF32() && bfloat16GradeMath(op->getName().stripDialect());
  }

  /// Computed from loads of f32 or f64, or from what cannot be seen.
  void noteSources(mlir::Operation *op) {
    bool wide = op->getNumRegions() != 0 && !mlir::isa<tt::ReduceOp>(op);
    bool shortNan = false;
    if (mlir::isa<tt::LoadOp>(op)) {
      wide = true;
    } else if (isWidening(op) && isNarrow(op->getOperand(0))) {
      shortNan = element(op->getOperand(0)).isBF16();
    } else {
      auto isFloat = [](mlir::Value v) { return mlir::isa<mlir::FloatType>(element(v)); };
      auto floats = llvm::make_filter_range(op->getOperands(), isFloat);
      wide |= llvm::any_of(floats, [&](mlir::Value v) { return isWide(v); });
      shortNan = !wide && computesFloats(op) &&
                 llvm::all_of(floats, [&](mlir::Value v) { return hasShortNan(v); });
    }
    for (mlir::Value result : op->getResults()) {
      if (wide && !isNarrow(result))
        wideValues.insert(result);
      if (shortNan)
        shortNans.insert(result);
    }
  }
  static bool isNarrow(mlir::Value value) {
    return mlir::isa<mlir::FloatType>(element(value)) &&
           element(value).getIntOrFloatBitWidth() <= 16;
  }
  bool isWide(mlir::Value value) const {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
    bool carried = argument && !mlir::isa<tt::FuncOp>(argument.getOwner()->getParentOp());
    return carried || wideValues.contains(value);
  }
  bool hasShortNan(mlir::Value value) const {
    llvm::APFloat number(0.0f);
    if (mlir::matchPattern(value, mlir::m_ConstantFloat(&number)))
      return !number.isNaN();
    return shortNans.contains(value);
  }

  void visit(mlir::Operation *op) {
    bool narrows =
        mlir::isa<arith::TruncFOp, tt::FpToFpOp>(op) && element(op->getResult(0)).isBF16();
    if (narrows && element(op->getOperand(0)).isF32() && hasShortNan(op->getOperand(0)))
      op->setAttr(shortNanAttr, mlir::UnitAttr::get(op->getContext()));
    if (isFunction(op)) {
      reject(op->getOperands());
      functions.push_back(op);
      Inaccuracy &own = inaccuracies[op->getResult(0)];
      own.functions.insert(op);
      own.errors = 1;
      return;
    }
    if (llvm::none_of(op->getOperands(), [&](mlir::Value v) { return inaccuracies.contains(v); }))
      return;
    if (narrows) {
      if (isWide(op->getOperand(0)))
        reject(op->getOperands());
      return;
    }
    std::optional<Inaccuracy> result = passedOn(op);
    if (!result || result->errors > mostErrors)
      return reject(op->getOperands());
    for (mlir::Value value : op->getResults())
      inaccuracies[value] = *result;
  }

  /// What `op` makes of its operands' inaccuracy; nullopt where that cannot be bounded.
  std::optional<Inaccuracy> passedOn(mlir::Operation *op) {
    bool adds = mlir::isa<arith::MulFOp>(op) || isQuotient(op);
    bool keeps = movesElements(op) || isExtremum(op) || isRoot(op) ||
                 mlir::isa<arith::NegFOp, math::AbsFOp>(op);
    if (auto choice = mlir::dyn_cast<arith::SelectOp>(op))
      keeps = !inaccuracies.contains(choice.getCondition());
    auto sameSign = [&] {
      return llvm::all_of(op->getOperands(), [](mlir::Value v) { return isNonNegative(v); });
    };
    if (isSum(op))
      keeps = sameSign();
    if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op))
      if (mlir::Operation *step = combiner(reduce))
        keeps = isExtremum(step) || (isSum(step) && sameSign());
    if (!adds && !keeps)
      return std::nullopt;
    Inaccuracy result;
    for (mlir::Value operand : op->getOperands()) {
      auto found = inaccuracies.find(operand);
      if (found == inaccuracies.end())
        continue;
      const Inaccuracy &own = found->second;
      result.functions.insert(own.functions.begin(), own.functions.end());
      result.errors = adds ? result.errors + own.errors : std::max(result.errors, own.errors);
    }
    return result;
  }

  void reject(mlir::ValueRange values) {
    for (mlir::Value value : values)
      if (auto found = inaccuracies.find(value); found != inaccuracies.end())
        rejected.insert(found->second.functions.begin(), found->second.functions.end());
  }

  llvm::SmallVector<mlir::Operation *> functions;
  llvm::DenseSet<mlir::Operation *> rejected;
  llvm::DenseMap<mlir::Value, Inaccuracy> inaccuracies;
  llvm::DenseSet<mlir::Value> wideValues, shortNans;
};

} // namespace

bool markBFloat16Grade(mlir::Operation *kernel) { return Marker().run(kernel); }

} // namespace pellucid::codegen
