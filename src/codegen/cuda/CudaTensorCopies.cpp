// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of a tensor by one thread (cp.async.bulk.tensor), and the barriers in shared
// memory that count their bytes (mbarrier). The first warp alone takes the branch, and elects its
// thread in the instruction that ptxas knows to leave one: it would look for others else.
#include "codegen/common/ControlFlow.h"
#include "codegen/cuda/CudaEmitter.h"
#include "codegen/gpu/TensorTiles.h"

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
      package::TensorMap made{
          map.getArgument(), map.getElementBytes(), map.getSwizzle(), map.getRounds(), {}};
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

/// 1 in one thread of the block.
Value *CudaEmitter::inOneThread() {
  return b.CreateZExt(b.CreateICmpEQ(threadNumbers.thread, b.getInt32(0)), b.i32());
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
             {inOneThread(), barrierAddress(op, b.getInt32(i))});
  emitText(b, "fence.proxy.async.shared::cta;", {});
  emitBarrier();
}

void CudaEmitter::emitFreeBarriers(ttgpu::FreeBarriersOp op) {
  emitBarrier();
  for (unsigned i = 0; i < op.getBarriers().getType().getCount(); ++i)
    emitText(b, "{ .reg .pred p; setp.ne.b32 p, $0, 0; @p mbarrier.inval.shared::cta.b64 [$1]; }",
             {inOneThread(), barrierAddress(op.getBarriers(), b.getInt32(i))});
}

/// With the copies that follow it.
void CudaEmitter::emitExpectCopies(ttgpu::ExpectCopiesOp op) {
  Value *isFirst = b.CreateICmpEQ(threadNumbers.warp, b.getInt32(0));
  Value *comes = scalar(op.getComes());
  emitWhen(b, b.CreateAnd(isFirst, comes), [&] {
    std::string text = "{ .reg .pred p; elect.sync _|p, 0xffffffff; "
                       "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                       std::to_string(op.getBytes()) + ";";
    llvm::SmallVector<Value *> operands{barrierAddress(op.getBarriers(), scalar(op.getNumber()))};
    for (ttgpu::TensorCopyOp copy : ttgpu::copiesOf(op))
      addTensorCopy(copy, text, operands);
    emitText(b, text + " }", operands);
  });
}

void CudaEmitter::emitAwaitTensorCopies(ttgpu::AwaitTensorCopiesOp op) {
  emitText(b,
           "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
           "@!done bra again; }",
           {barrierAddress(op.getBarriers(), scalar(op.getNumber())), scalar(op.getPhase())});
}

/// A copy for each panel of the tile (SharedTile.h), whose swizzle the hardware makes.
void CudaEmitter::addTensorCopy(ttgpu::TensorCopyOp op, std::string &text,
                                llvm::SmallVectorImpl<Value *> &operands) {
  const package::TensorMap &map = result.tensorMaps[op.getMap()];
  SharedOperand place = placeOf(op.getBuffer(), op.getCopy());
  auto operand = [&](Value *value) {
    operands.push_back(value);
    return "$" + std::to_string(operands.size() - 1);
  };
  auto number = [&](uint64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };
  Value *to = b.CreateAdd(b.CreatePtrToInt(shared, b.i32()), number(place.tile.byteOffset));
  if (place.stage)
    to = b.CreateAdd(to, place.stage);
  std::string tensor =
      operand(entry->getArg(entry->arg_size() - result.tensorMaps.size() + op.getMap()));
  std::string barrier = operand(barrierAddress(op.getBarriers(), scalar(op.getNumber())));
  std::string further;
  for (mlir::Value at : op.getAt().drop_front())
    further += ", " + operand(scalar(at));
  Value *along = scalar(op.getAt().front());
  uint64_t panels = place.tile.columns / place.tile.panelColumns();
  for (uint64_t panel = 0; panel < panels; ++panel)
    text += " @p cp.async.bulk.tensor." + std::to_string(op.getAt().size()) +
            "d.shared::cluster.global.mbarrier::complete_tx::bytes [" +
            operand(b.CreateAdd(to, number(panel * place.tile.panelBytes()))) + "], [" + tensor +
            ", {" + operand(b.CreateAdd(along, number(panel * map.dims[0].box))) + further +
            "}], [" + barrier + "];";
}

} // namespace pellucid::codegen
