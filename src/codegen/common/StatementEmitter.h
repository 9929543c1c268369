// SPDX-License-Identifier: Apache-2.0
// What the emitters of all targets share: the function being made, and the scalars of the kernel,
// which each target holds in one register.
#pragma once

#include "codegen/common/LaneEvaluator.h"

#include "tt/TtOps.h"

#include "llvm/IR/Module.h"

namespace pellucid::codegen {

class StatementEmitter : public LaneEnvironment {
public:
  llvm::Value *scalar(mlir::Value value) final;
  [[noreturn]] void refuse(mlir::Operation *op, const std::string &why) final;

protected:
  /// `target` as in "the CPU code generator".
  StatementEmitter(llvm::Module &module, tt::FuncOp kernel, bool contract, const char *target)
      : module(module), kernel(kernel), b(module.getContext(), contract), target(target) {}

  void define(mlir::Value value, llvm::Value *emitted) { scalars[value] = emitted; }
  /// A constant, or an operation that computes on scalars alone; refuses all others.
  void emitScalarOp(mlir::Operation *op);
  /// How the target emits an operation that isElementOp() knows.
  virtual llvm::SmallVector<llvm::Value *, 2> emitElement(mlir::Operation *op,
                                                          llvm::ArrayRef<llvm::Value *> operands);
  /// Refuses parameters of types that cannot be passed.
  void checkParameters();

  llvm::Module &module;
  tt::FuncOp kernel;
  CodeBuilder b;
  llvm::Function *entry = nullptr;
  llvm::DenseMap<mlir::Value, llvm::Value *> scalars;

private:
  const char *target;
};

/// Some operand or result is a tile.
bool touchesTiles(mlir::Operation *op);

} // namespace pellucid::codegen
