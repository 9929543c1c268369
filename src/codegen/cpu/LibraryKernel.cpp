// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/LibraryKernel.h"

#include "codegen/common/ControlFlow.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/IR/Module.h"

namespace pellucid::codegen {

using llvm::Value;

LibraryKernel::LibraryKernel(llvm::Module &module, DataType type, mlir::Type element,
                             CpuLevel level, CompiledObject &object, unsigned fields)
    : b(module.getContext(), true), memory(b, level), type(type), element(element), level(level),
      object(object) {
  auto *function = llvm::FunctionType::get(
      b.i32(), {b.getPtrTy(), b.getPtrTy(), b.i64(), b.i64(), b.getPtrTy(), b.getPtrTy()}, false);
  entry = llvm::Function::Create(function, llvm::Function::ExternalLinkage, object.symbol, module);
  memory.setSafeAddress(entry->getArg(4));
  object.scratchBytes = ScratchMemory::safeBytes;
  held = memoryType(b.getContext(), element);
  sum = element.isF64() ? b.getDoubleTy() : b.getFloatTy();
  for (unsigned i = 0; i < fields; ++i)
    object.arguments.push_back({8 * i, 8});
  auto *first = llvm::BasicBlock::Create(b.getContext(), "entry", entry);
  auto *start = llvm::BasicBlock::Create(b.getContext(), "start", entry);
  b.SetInsertPoint(first);
  b.CreateBr(start);
  b.SetInsertPoint(start);
}

Value *LibraryKernel::reserveScratch(uint64_t bytes) {
  Value *at = b.CreateConstInBoundsGEP1_64(b.i8(), entry->getArg(4), object.scratchBytes);
  object.scratchBytes += (bytes + 63) / 64 * 64;
  return at;
}

Value *LibraryKernel::extent(unsigned axis) {
  Value *address = b.CreateConstInBoundsGEP1_32(b.i32(), entry->getArg(1), axis);
  return b.CreateZExt(b.CreateAlignedLoad(b.i32(), address, llvm::Align(4)), b.i64());
}

/// Of the program `index` of columns x rows of the grid. A band is `width` rows, the last one what
/// is left.
LibraryKernel::Place LibraryKernel::placeInBand(Value *index, Value *columns, Value *rows,
                                                Value *width) {
  llvm::AllocaInst *x = emitVariable(b, b.i64()), *y = emitVariable(b, b.i64());
  b.CreateStore(b.getInt64(0), x);
  b.CreateStore(index, y);
  // Divisions take longer than the smallest products.
  emitWhen(b, b.CreateICmpNE(columns, b.getInt64(1)), [&] {
    Value *whole = b.CreateMul(columns, width), *band = b.CreateUDiv(index, whole);
    Value *first = b.CreateMul(band, width), *inside = b.CreateSub(index, b.CreateMul(band, whole));
    Value *high = smaller(width, b.CreateSub(rows, first));
    b.CreateStore(b.CreateUDiv(inside, high), x);
    b.CreateStore(b.CreateAdd(first, b.CreateURem(inside, high)), y);
  });
  return {b.CreateLoad(b.i64(), x), b.CreateLoad(b.i64(), y)};
}

void LibraryKernel::forPrograms(llvm::function_ref<void(Value *, Value *, Value *)> body,
                                llvm::function_ref<void()> finish, Value *width) {
  Value *x = extent(0), *y = extent(1);
  emitLoop(b, entry->getArg(2), entry->getArg(3), 1, false, [&](Value *id) {
    if (width) {
      Value *matrix = b.CreateMul(x, y), *z = b.CreateUDiv(id, matrix);
      Place place = placeInBand(b.CreateSub(id, b.CreateMul(z, matrix)), x, y, width);
      return body(place.x, place.y, z);
    }
    Value *rest = b.CreateUDiv(id, x);
    body(b.CreateURem(id, x), b.CreateURem(rest, y), b.CreateUDiv(rest, y));
  });
  finish();
  b.CreateRet(b.getInt32(0));
}

Value *LibraryKernel::argument(unsigned field, llvm::Type *type) {
  Value *address = b.CreateConstInBoundsGEP1_32(b.i64(), entry->getArg(0), field);
  return b.CreateAlignedLoad(type, address, llvm::Align(8));
}

} // namespace pellucid::codegen
