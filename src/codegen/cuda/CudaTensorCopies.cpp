// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of a tensor by one thread (cp.async.bulk.tensor), and the barriers in shared
// memory that count their bytes (mbarrier). They are predicated in text: a branch would end what
// warpgroups have under way.
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

static constexpr unsigned mapWords = 16, mapAlignment = 64; // a CUtensorMap

/// Emits `text`, whose operands are numbers of 32 bits and pointers.
static void emitText(CodeBuilder &b, const std::string &text, llvm::ArrayRef<Value *> operands) {
  std::string constraints;
  llvm::SmallVector<llvm::Type *> types;
  for (Value *operand : operands) {
    types.push_back(operand->getType());
    constraints += operand->getType()->isPointerTy() ? "l," : "r,";
  }
  auto *type = llvm::FunctionType::get(b.getVoidTy(), types, false);
  auto *code = llvm::InlineAsm::get(type, text, constraints + "~{memory}", true);
  b.CreateCall(code, operands)->addFnAttr(llvm::Attribute::Convergent);
}

/// Below zero: of an argument.
static package::TensorMap::Dim dimOf(int64_t size, int64_t stride, int64_t box) {
  package::TensorMap::Dim dim{.box = static_cast<uint32_t>(box)};
  if (size < 0)
    dim.sizeParameter = static_cast<int32_t>(-1 - size);
  else
    dim.size = size;
  if (stride < 0)
    dim.strideParameter = static_cast<int32_t>(-1 - stride);
  else
    dim.stride = stride;
  return dim;
}

void CudaEmitter::addTensorMaps(llvm::SmallVectorImpl<llvm::Type *> &parameters) {
  if (auto maps = kernel->getAttrOfType<mlir::ArrayAttr>(ttgpu::tensorMapsName))
    for (mlir::Attribute one : maps) {
      auto map = mlir::cast<ttgpu::TensorMapAttr>(one);
      package::TensorMap made{map.getArgument(), map.getElementBytes(), map.getSwizzle(), {}};
      for (size_t d = 0; d < map.getSizes().size(); ++d)
        made.dims.push_back(dimOf(map.getSizes()[d], map.getStrides()[d], map.getBox()[d]));
      result.tensorMaps.push_back(std::move(made));
      parameters.push_back(b.getPtrTy());
    }
}

/// Maps are the last parameters, read where the launch put them.
void CudaEmitter::describeTensorMaps() {
  auto *map = llvm::ArrayType::get(b.i64(), mapWords);
  for (size_t i = 0; i < result.tensorMaps.size(); ++i) {
    unsigned number = entry->arg_size() - result.tensorMaps.size() + i;
    llvm::AttrBuilder attributes(b.getContext());
    attributes.addByValAttr(map);
    attributes.addAlignmentAttr(llvm::Align(mapAlignment));
    attributes.addAttribute("nvvm.grid_constant");
    entry->addParamAttrs(number, attributes);
  }
}

/// 1 in one thread of the block, where `comes` holds.
Value *CudaEmitter::inOneThread(Value *comes) {
  Value *isFirst = b.CreateICmpEQ(threadNumbers.thread, b.getInt32(0));
  return b.CreateZExt(comes ? b.CreateAnd(isFirst, comes) : isFirst, b.i32());
}

Value *CudaEmitter::barrierAddress(mlir::Value barriers, Value *number) {
  uint64_t begin = ttgpu::offsetOf(barriers.getDefiningOp());
  Value *first =
      b.CreateAdd(b.CreatePtrToInt(shared, b.i32()), b.getInt32(static_cast<uint32_t>(begin)));
  return b.CreateAdd(first, b.CreateMul(number, b.getInt32(ttgpu::barrierBytes)));
}

// What threads wrote to shared memory before is ordered with the copies, which are another kind of
// access.
void CudaEmitter::emitAllocBarriers(ttgpu::AllocBarriersOp op) {
  for (unsigned i = 0; i < op.getBarriers().getType().getCount(); ++i)
    emitText(b, "{ .reg .pred p; setp.ne.b32 p, $0, 0; @p mbarrier.init.shared::cta.b64 [$1], 1; }",
             {inOneThread(nullptr), barrierAddress(op, b.getInt32(i))});
  emitText(b, "fence.proxy.async.shared::cta;", {});
  emitBarrier();
}

void CudaEmitter::emitFreeBarriers(ttgpu::FreeBarriersOp op) {
  emitBarrier();
  for (unsigned i = 0; i < op.getBarriers().getType().getCount(); ++i)
    emitText(b, "{ .reg .pred p; setp.ne.b32 p, $0, 0; @p mbarrier.inval.shared::cta.b64 [$1]; }",
             {inOneThread(nullptr), barrierAddress(op.getBarriers(), b.getInt32(i))});
}

void CudaEmitter::emitExpectCopies(ttgpu::ExpectCopiesOp op) {
  emitText(b,
           "{ .reg .pred p; setp.ne.b32 p, $0, 0; "
           "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1], " +
               std::to_string(op.getBytes()) + "; }",
           {inOneThread(scalar(op.getComes())),
            barrierAddress(op.getBarriers(), scalar(op.getNumber()))});
}

void CudaEmitter::emitAwaitTensorCopies(ttgpu::AwaitTensorCopiesOp op) {
  emitText(b,
           "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
           "@!done bra again; }",
           {barrierAddress(op.getBarriers(), scalar(op.getNumber())), scalar(op.getPhase())});
}

/// A copy for each panel of the tile (SharedTile.h), whose swizzle the hardware makes.
void CudaEmitter::emitTensorCopy(ttgpu::TensorCopyOp op) {
  const package::TensorMap &map = result.tensorMaps[op.getMap()];
  SharedOperand place = placeOf(op.getBuffer(), op.getCopy());
  Value *to = b.CreateAdd(b.CreatePtrToInt(shared, b.i32()),
                          b.getInt32(static_cast<uint32_t>(place.tile.byteOffset)));
  if (place.stage)
    to = b.CreateAdd(to, place.stage);
  llvm::SmallVector<Value *> operands{
      inOneThread(scalar(op.getComes())), to,
      entry->getArg(entry->arg_size() - result.tensorMaps.size() + op.getMap()),
      barrierAddress(op.getBarriers(), scalar(op.getNumber()))};
  std::string places;
  for (mlir::Value at : op.getAt()) {
    places += (places.empty() ? "$" : ", $") + std::to_string(operands.size());
    operands.push_back(scalar(at));
  }
  std::string text = "{ .reg .pred p; setp.ne.b32 p, $0, 0; @p cp.async.bulk.tensor." +
                     std::to_string(op.getAt().size()) +
                     "d.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$2, {" + places +
                     "}], [$3]; }";
  constexpr unsigned firstPlace = 4;
  Value *along = operands[firstPlace];
  uint64_t panels = place.tile.columns / place.tile.panelColumns();
  for (uint64_t panel = 0; panel < panels; ++panel) {
    operands[1] = b.CreateAdd(to, b.getInt32(panel * place.tile.panelBytes()));
    operands[firstPlace] = b.CreateAdd(along, b.getInt32(panel * map.dims[0].box));
    emitText(b, text, operands);
  }
}

} // namespace pellucid::codegen
