// SPDX-License-Identifier: Apache-2.0
// Tiles in shared memory that a pass has asked for: what is copied there by cp.async, written there
// from registers, and read from there in whatever layout is wanted.
#include "codegen/common/ControlFlow.h"
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

static constexpr unsigned globalSpace = 1;
static constexpr unsigned leastCopyBytes = 4;

static bool isOne(Value *condition) {
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(condition);
  return constant && constant->isOne();
}

SharedOperand CudaEmitter::placeOf(mlir::Value buffer, mlir::Value copy) {
  auto type = mlir::cast<ttgpu::BufferType>(buffer.getType());
  SharedOperand place{.tile = ttgpu::tileOf(type), .contiguousDim = type.getAlong()};
  place.tile.byteOffset = ttgpu::offsetOf(buffer.getDefiningOp());
  if (!copy)
    return place;
  Value *number = scalar(copy);
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(number);
  if (!constant || !constant->isZero())
    place.stage = b.CreateMul(number, b.getInt32(static_cast<uint32_t>(place.tile.bytes())));
  return place;
}

void CudaEmitter::emitShare(ttgpu::ShareOp op) {
  HeldTile tile = held(op.getTile());
  shareTile(tile, elementTypeOf(op.getTile().getType()), placeOf(op.getBuffer(), {}));
  if (result.thisGenerationOnly)
    b.CreateIntrinsic(I::nvvm_fence_proxy_async_shared_cta, {});
}

Registers CudaEmitter::readTile(ttgpu::ReadSharedOp op) {
  const Layout &layout = layoutOf(op);
  mlir::Type element = elementTypeOf(op.getTile().getType());
  SharedOperand place = placeOf(op.getBuffer(), op.getCopy());
  if (auto values = loadMatrices(layout, element, place))
    return *values;
  unsigned bytes = memoryBytes(element);
  unsigned vector = std::min<unsigned>(layout.contiguousAlong(place.contiguousDim),
                                       SharedTile::chunkBytes / bytes);
  Registers values;
  for (unsigned r = 0; r < layout.registerCount(); r += vector) {
    Value *address = elementAddress(place, layout, r, bytes, vector);
    llvm::append_range(values, loadShared(address, vector, element));
  }
  return values;
}

void CudaEmitter::copyVectors(const TileAccess &access, const Layout &layout,
                              const SharedOperand &place) {
  unsigned elementBytes = memoryBytes(access.element), bytes = access.vector * elementBytes;
  I::ID copy = bytes == 16  ? I::nvvm_cp_async_cg_shared_global_16_s
               : bytes == 8 ? I::nvvm_cp_async_ca_shared_global_8_s
                            : I::nvvm_cp_async_ca_shared_global_4_s;
  for (size_t r = 0; r < access.pointers.size(); r += access.vector) {
    // What is not copied becomes zero.
    Value *copied = b.CreateSelect(access.active[r], b.getInt32(bytes), b.getInt32(0));
    Value *to = elementAddress(place, layout, r, elementBytes, access.vector);
    Value *from = b.CreateAddrSpaceCast(access.pointers[r], b.getPtrTy(globalSpace));
    b.CreateIntrinsic(copy, {}, {to, from, copied});
  }
}

/// Moves one tile; where a thread's part of it is not whole aligned vectors, by way of registers.
void CudaEmitter::emitAsyncCopy(ttgpu::AsyncCopyOp op) {
  mlir::Value mask = op.getMask();
  mlir::Type element = op.getBuffer().getType().getTile().getElementType();
  const Layout &layout = layoutOf(op.getPtr());
  SharedOperand place = placeOf(op.getBuffer(), op.getCopy());
  Value *comes = op.getComes() ? scalar(op.getComes()) : b.getTrue();
  auto activeOf = [&](const Registers &of) {
    Registers active;
    for (Value *one : of)
      active.push_back(b.CreateAnd(comes, one));
    return active;
  };
  Registers all(layout.registerCount(), b.getTrue());
  TileAccess access{registersOf(op.getPtr()), {}, 1, element};
  access.vector = vectorLength(op.getPtr(), layout, element);
  followFirstPointers(access);
  judgeVectors(access, op.getPtr(), mask);
  if (access.vector == 1) // elements are aligned by themselves
    access.isAligned = access.isWhole = true;
  access.active = activeOf(mask ? registersOf(mask) : all);
  auto copyEach = [&] {
    if (memoryBytes(element) >= leastCopyBytes) {
      TileAccess single = access;
      single.vector = 1;
      return copyVectors(single, layout, place);
    }
    Registers active = mask ? registersOf(mask) : all, values;
    Value *zero = llvm::Constant::getNullValue(registerType(b.getContext(), element));
    for (size_t r = 0; r < active.size(); ++r)
      values.push_back(loadOne(access.pointers[r], active[r], zero, element));
    shareTile({layout, values}, element, place);
    if (result.thisGenerationOnly)
      b.CreateIntrinsic(I::nvvm_fence_proxy_async_shared_cta, {});
  };
  bool mayCopy = access.vector * memoryBytes(element) >= leastCopyBytes;
  auto copyAsMayBe = [&] {
    if (!mayCopy)
      return copyEach();
    emitBranches(b, movesByVectors(access), [&](unsigned which) {
      if (which == 0)
        copyVectors(access, layout, place);
      else
        copyEach();
    });
  };
  auto copy = [&] {
    if (mayCopy && access.isSure())
      copyVectors(access, layout, place);
    else // nobody reads what does not come
      emitWhen(b, comes, copyAsMayBe);
  };
  Value *holds = isFirstHolder(layout);
  if (isOne(holds))
    copy();
  else
    emitWhen(b, holds, copy);
}

void CudaEmitter::emitAwaitProducts(ttgpu::AwaitProductsOp op) {
  Registers sums = registersOf(op.getRunning());
  awaitProduct(sums);
  tiles[op] = std::move(sums);
}

} // namespace pellucid::codegen
