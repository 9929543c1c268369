// SPDX-License-Identifier: Apache-2.0
// device_assert: the driver's own assertion, which prints the kernel's text and ends the launch
// with an error; the context is lost with it, as for every program on the device. device_print: the
// driver's vprintf, whose text comes out when the device is next waited for.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "tt/Tt.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

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
  for (Value *one : registersOf(op.getCondition()))
    holds = b.CreateAnd(holds, one);
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

/// Calls the driver's vprintf; its arguments lie in memory, eight bytes each.
void CudaEmitter::printElement(const std::string &format, llvm::ArrayRef<Value *> values) {
  llvm::IRBuilderBase::InsertPoint here = b.saveIP();
  b.SetInsertPoint(&entry->getEntryBlock(), entry->getEntryBlock().begin());
  Value *arguments = b.CreateAlloca(b.i64(), b.getInt32(values.size()));
  b.restoreIP(here);
  for (auto [i, value] : llvm::enumerate(values))
    b.CreateStore(value, b.CreateConstGEP1_64(b.i64(), arguments, i));
  auto *type = llvm::FunctionType::get(b.i32(), {b.getPtrTy(), b.getPtrTy()}, false);
  b.CreateCall(module.getOrInsertFunction("vprintf", type),
               {textConstant(format), b.CreateAddrSpaceCast(arguments, b.getPtrTy())});
}

/// i64 or double.
static Value *printedValue(CodeBuilder &b, Value *value, mlir::Type element, bool isSigned) {
  if (mlir::isa<mlir::FloatType>(element))
    return narrowFloat(b, widenFloat(b, value, element),
                       mlir::Float64Type::get(element.getContext()));
  if (value->getType()->isPointerTy())
    return b.CreatePtrToInt(value, b.i64());
  return isSigned && !element.isInteger(1) ? b.CreateSExt(value, b.i64())
                                           : b.CreateZExt(value, b.i64());
}

/// The prefix as text of a format.
static std::string escaped(llvm::StringRef prefix) {
  std::string text;
  for (char c : prefix)
    text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

// A line for each element, as on the CPU: "pid (0, 0, 0) idx (3) prefix: 1.5".
void CudaEmitter::emitPrint(tt::PrintOp op) {
  llvm::SmallVector<Value *> program;
  for (auto id :
       {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
        llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z})
    program.push_back(b.CreateZExt(b.CreateIntrinsic(id, {}), b.i64()));
  std::string prefix = escaped(op.getPrefix());
  if (op.getArgs().empty())
    emitWhen(b, b.CreateICmpEQ(threadNumbers.thread, b.getInt32(0)),
             [&] { printElement(prefix + "\n", program); });
  for (auto [index, argument] : llvm::enumerate(op.getArgs())) {
    mlir::Type element = elementTypeOf(argument.getType());
    bool isSigned = index < op.getIsSigned().size() && op.getIsSigned()[index];
    bool isTile = mlir::isa<mlir::RankedTensorType>(argument.getType());
    Layout layout = isTile ? layoutOf(argument) : Layout::blocked({}, {}, 1, options.numWarps);
    Registers values = registersOf(argument);
    const char *number = mlir::isa<mlir::FloatType>(element) ? "%f\n"
                         : op.getHex()                       ? "0x%016llx\n"
                                                             : "%lld\n";
    std::string format = "pid (%lld, %lld, %lld) idx (%lld) " + prefix + number;
    emitWhen(b, isFirstHolder(layout), [&] {
      for (unsigned r = 0; r < values.size(); ++r) {
        llvm::SmallVector<Value *> printed(program);
        printed.push_back(b.CreateZExt(position(layout, r), b.i64()));
        printed.push_back(printedValue(b, values[r], element, isSigned));
        printElement(format, printed);
      }
    });
  }
}

} // namespace pellucid::codegen
