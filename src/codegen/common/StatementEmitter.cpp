// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/StatementEmitter.h"

#include "codegen/common/ElementOps.h"
#include "codegen/common/RegionOps.h"
#include "tt/Tt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;

bool touchesTiles(mlir::Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<mlir::RankedTensorType>) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<mlir::RankedTensorType>);
}

void StatementEmitter::refuse(mlir::Operation *op, const std::string &why) {
  std::string name = op->getName().getStringRef().str();
  throw DiagnosticError(tt::sourceLocationOf(op->getLoc()), "'" + name + "' " + why);
}

Value *StatementEmitter::scalar(mlir::Value value) {
  if (Value *known = scalars.lookup(value))
    return known;
  // Constants may be asked for before their statement, by a region.
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return scalarConstant(b.getContext(), constant.getValue(), constant.getType());
  mlir::Operation *op = value.getDefiningOp();
  refuse(op ? op : kernel, std::string(op ? "has a result" : "has an argument") +
                               " of a type the " + target + " code generator does not support");
}

void StatementEmitter::checkParameters() {
  for (mlir::Type type : kernel.getArgumentTypes())
    if (mlir::isa<mlir::RankedTensorType>(type) ||
        !(mlir::isa<tt::PointerType>(type) || type.isIntOrFloat()))
      refuse(kernel, "has an argument of a type that cannot be passed");
}

llvm::SmallVector<Value *, 2> StatementEmitter::emitElement(mlir::Operation *op,
                                                            llvm::ArrayRef<Value *> operands) {
  return emitElementOp(b, op, operands);
}

void StatementEmitter::emitScalarOp(mlir::Operation *op) {
  if (auto call = mlir::dyn_cast<tt::ExternElementwiseOp>(op); call && !isElementOp(op))
    refuse(op, "calls '" + call.getSymbol().str() + "', which the " + target +
                   " code generator does not know");
  if (auto constant = mlir::dyn_cast<arith::ConstantOp>(op))
    return define(constant,
                  scalarConstant(b.getContext(), constant.getValue(), constant.getType()));
  if (mlir::isa<mlir::ub::PoisonOp>(op))
    return define(op->getResult(0), llvm::Constant::getNullValue(
                                        registerType(b.getContext(), op->getResult(0).getType())));
  if (touchesTiles(op) || !isElementOp(op))
    refuse(op, std::string("is not supported by the ") + target + " code generator");
  llvm::SmallVector<Value *, 4> operands;
  for (mlir::Value operand : op->getOperands())
    operands.push_back(scalar(operand));
  for (auto [result, value] : llvm::zip(op->getResults(), emitElement(op, operands)))
    define(result, value);
}

} // namespace pellucid::codegen
