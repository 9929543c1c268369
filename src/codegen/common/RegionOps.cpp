// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/RegionOps.h"

#include "codegen/common/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace pellucid::codegen {

using llvm::Value;

llvm::Constant *scalarConstant(llvm::LLVMContext &context, mlir::Attribute value, mlir::Type type) {
  llvm::Type *held = registerType(context, type);
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value)) {
    unsigned width = held->getIntegerBitWidth();
    return llvm::ConstantInt::get(held, integer.getValue().zextOrTrunc(width));
  }
  llvm::APFloat number = mlir::cast<mlir::FloatAttr>(value).getValue();
  if (held->isIntegerTy())
    return llvm::ConstantInt::get(held, number.bitcastToAPInt());
  return llvm::ConstantFP::get(held, number);
}

namespace {

class RegionEmitter {
public:
  RegionEmitter(CodeBuilder &builder, LaneEnvironment &environment, unsigned lanes)
      : b(builder), environment(environment), lanes(lanes) {}

  llvm::SmallVector<Value *, 2> run(mlir::Block &block) {
    for (mlir::Operation &op : block.without_terminator())
      emit(op);
    llvm::SmallVector<Value *, 2> results;
    for (mlir::Value operand : block.getTerminator()->getOperands())
      results.push_back(valueOf(operand));
    return results;
  }

  llvm::DenseMap<mlir::Value, Value *> values;

private:
  Value *valueOf(mlir::Value value) {
    if (Value *known = values.lookup(value))
      return known;
    return splatTo(b, environment.scalar(value), lanes);
  }

  void emit(mlir::Operation &op) {
    if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(op)) {
      values[constant] = splatTo(
          b, scalarConstant(b.getContext(), constant.getValue(), constant.getType()), lanes);
      return;
    }
    if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op); branch && branch.getNumResults()) {
      llvm::SmallVector<Value *, 2> yes = run(branch.getThenRegion().front());
      llvm::SmallVector<Value *, 2> no = run(branch.getElseRegion().front());
      for (auto [result, x, y] : llvm::zip(branch.getResults(), yes, no))
        values[result] = b.CreateSelect(valueOf(branch.getCondition()), x, y);
      return;
    }
    if (!isElementOp(&op))
      environment.refuse(&op, "is not supported inside a combining or mapping function");
    llvm::SmallVector<Value *, 4> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(valueOf(operand));
    for (auto [result, value] :
         llvm::zip(op.getResults(), environment.emitInRegion(b, &op, operands)))
      values[result] = value;
  }

  CodeBuilder &b;
  LaneEnvironment &environment;
  unsigned lanes;
};

} // namespace

llvm::SmallVector<Value *, 2> LaneEnvironment::emitInRegion(CodeBuilder &builder,
                                                            mlir::Operation *op,
                                                            llvm::ArrayRef<Value *> operands) {
  return emitElementOp(builder, op, operands);
}

llvm::SmallVector<Value *, 2> emitRegion(CodeBuilder &builder, LaneEnvironment &environment,
                                         mlir::Region &region, llvm::ArrayRef<Value *> arguments) {
  mlir::Block &block = region.front();
  if (!region.hasOneBlock())
    environment.refuse(region.getParentOp(),
                       "has a function with early returns, which is not supported");
  RegionEmitter emitter(builder, environment, arguments.empty() ? 1 : laneCount(arguments[0]));
  for (auto [parameter, argument] : llvm::zip(block.getArguments(), arguments))
    emitter.values[parameter] = argument;
  return emitter.run(block);
}

} // namespace pellucid::codegen
