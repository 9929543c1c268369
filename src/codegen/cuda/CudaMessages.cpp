// SPDX-License-Identifier: Apache-2.0
// device_assert: the driver's own assertion, which prints the kernel's text and ends the launch
// with an error. The context is lost with it, as for every program on the device.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "tt/Tt.h"

namespace pellucid::codegen {

using llvm::Value;

/// A generic pointer to `text`, which ends in a NUL.
Value *CudaEmitter::textConstant(const std::string &text) {
  auto *bytes = llvm::ConstantDataArray::getString(b.getContext(), text);
  constexpr unsigned globalSpace = 1;
  auto *global = new llvm::GlobalVariable(module, bytes->getType(), true,
                                          llvm::GlobalValue::InternalLinkage, bytes, "text",
                                          nullptr, llvm::GlobalValue::NotThreadLocal, globalSpace);
  return b.CreateAddrSpaceCast(global, b.getPtrTy());
}

void CudaEmitter::emitAssert(tt::AssertOp op) {
  Value *holds = b.getTrue();
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(op.getCondition().getType())) {
    checkedTile(op, op.getCondition());
    for (Value *one : evaluate(op.getCondition(), anchor(tile.getShape())))
      holds = b.CreateAnd(holds, one);
  } else {
    holds = scalar(op.getCondition());
  }
  SourceLocation where = tt::sourceLocationOf(op->getLoc());
  llvm::Type *pointer = b.getPtrTy();
  auto *type =
      llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, b.i32(), pointer, b.i64()}, false);
  llvm::FunctionCallee fail = module.getOrInsertFunction("__assertfail", type);
  emitWhen(b, b.CreateNot(holds), [&] {
    std::string file = where.file ? where.file->path() : where.name;
    constexpr uint64_t characterBytes = 1;
    b.CreateCall(fail, {textConstant(op.getMessage().str()), textConstant(file),
                        b.getInt32(where.range.line), textConstant(result.symbol),
                        b.getInt64(characterBytes)});
  });
}

} // namespace pellucid::codegen
