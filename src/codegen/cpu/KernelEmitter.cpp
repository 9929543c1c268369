// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/RegionOps.h"
#include "codegen/cpu/DotUnits.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace pellucid::codegen {

using llvm::Value;
namespace scf = mlir::scf;

KernelEmitter::KernelEmitter(llvm::Module &module, tt::FuncOp kernel,
                             const CpuKernelOptions &options, CompiledObject &object)
    : StatementEmitter(module, kernel, options.fpContract, "CPU"), options(options), object(object),
      memory(b, options.level) {
  b.hasScale16 = hasAvx512(options.level);
}

/// A constant of different elements, as read-only data of the image.
static TileBuffer constantTable(CodeBuilder &b, llvm::Module &module,
                                mlir::DenseElementsAttr tile) {
  mlir::Type element = tile.getElementType();
  llvm::Type *type = memoryType(b.getContext(), element);
  std::vector<llvm::Constant *> values;
  for (mlir::Attribute value : tile.getValues<mlir::Attribute>()) {
    llvm::Constant *held = scalarConstant(b.getContext(), value, element);
    values.push_back(element.isInteger(1) ? b.getInt8(held->isOneValue()) : held);
  }
  auto *array = llvm::ConstantArray::get(llvm::ArrayType::get(type, values.size()), values);
  auto *table = new llvm::GlobalVariable(module, array->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, array, "table");
  table->setAlignment(llvm::Align(64));
  return {table, element, llvm::SmallVector<int64_t, 4>(tile.getType().getShape())};
}

const TileBuffer *KernelEmitter::buffer(mlir::Value tile) {
  auto found = buffers.find(tile);
  if (found == buffers.end()) {
    mlir::DenseElementsAttr elements;
    if (!mlir::matchPattern(tile, mlir::m_Constant(&elements)) || elements.isSplat())
      return nullptr;
    found = buffers.try_emplace(tile, constantTable(b, module, elements)).first;
  }
  scratch->touch(found->second, current);
  return &found->second;
}

void KernelEmitter::emit() {
  plan = planTiles(kernel);
  kernel->walk([&](mlir::Operation *op) {
    synchronizes |= mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::BarrierOp>(op);
    auto dot = mlir::dyn_cast<tt::DotOp>(op);
    usesTiles |= dot && dotFormOf(dot, options.level) == DotForm::Tiles;
  });
  llvm::Type *pointer = b.getPtrTy();
  auto *type = llvm::FunctionType::get(
      b.i32(), {pointer, pointer, b.i64(), b.i64(), pointer, pointer}, false);
  entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, object.symbol, module);
  entry->addParamAttr(4, llvm::Attribute::NoAlias);
  entry->addParamAttr(4, llvm::Attribute::getWithAlignment(b.getContext(), llvm::Align(64)));
  memory.setSafeAddress(entry->getArg(4));
  scratch = std::make_unique<ScratchMemory>(b, entry->getArg(4));
  scratch->numberOperations(kernel);
  // Variables and buffer addresses go to the first block, which stays free of all else.
  llvm::BasicBlock *first = llvm::BasicBlock::Create(b.getContext(), "entry", entry);
  llvm::BasicBlock *start = llvm::BasicBlock::Create(b.getContext(), "start", entry);
  b.SetInsertPoint(start);
  current = kernel;
  emitProgramLoop();
  b.SetInsertPoint(first);
  b.CreateBr(start);
  object.scratchBytes = scratch->finish();
}

void KernelEmitter::loadArguments() {
  checkParameters();
  uint32_t offset = 0;
  for (mlir::BlockArgument argument : kernel.getBody().getArguments()) {
    mlir::Type type = argument.getType();
    uint32_t bytes = memoryBytes(type);
    offset = (offset + bytes - 1) / bytes * bytes;
    Value *address = b.CreateConstInBoundsGEP1_32(b.i8(), entry->getArg(0), offset);
    Value *loaded =
        b.CreateAlignedLoad(memoryType(b.getContext(), type), address, llvm::Align(bytes));
    if (type.isInteger(1))
      loaded = b.CreateICmpNE(loaded, b.getInt8(0));
    define(argument, loaded);
    object.arguments.push_back({offset, bytes});
    offset += bytes;
  }
}

void KernelEmitter::emitReturn(int32_t status) {
  if (usesTiles)
    emitTileEnd(b);
  b.CreateRet(b.getInt32(static_cast<uint32_t>(status)));
}

void KernelEmitter::emitProgramLoop() {
  loadArguments();
  if (usesTiles)
    emitTileStart(b, module);
  Value *first = entry->getArg(2), *last = entry->getArg(3);
  Value *rest = first;
  for (int axis = 0; axis < 3; ++axis) {
    Value *address = b.CreateConstInBoundsGEP1_32(b.i32(), entry->getArg(1), axis);
    gridSize[axis] = b.CreateAlignedLoad(b.i32(), address, llvm::Align(4));
    Value *extent = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax,
                                            b.CreateZExt(gridSize[axis], b.i64()), b.getInt64(1));
    program[axis] = emitVariable(b, b.i32());
    b.CreateStore(b.CreateTrunc(b.CreateURem(rest, extent), b.i32()), program[axis]);
    rest = b.CreateUDiv(rest, extent);
  }
  emitLoop(b, first, last, 1, false, [&](Value *) {
    emitBlock(kernel.getBody().front());
    // The next program: x runs fastest.
    Value *carry = b.getInt32(1);
    for (int axis = 0; axis < 3; ++axis) {
      Value *next = b.CreateAdd(b.CreateLoad(b.i32(), program[axis]), carry);
      Value *wraps = b.CreateICmpEQ(next, gridSize[axis]);
      b.CreateStore(b.CreateSelect(wraps, b.getInt32(0), next), program[axis]);
      carry = b.CreateZExt(wraps, b.i32());
    }
  });
  if (streams)
    b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
  emitReturn(0);
}

void KernelEmitter::emitBlock(mlir::Block &block) {
  mlir::Operation *outer = current;
  for (mlir::Operation &op : block.without_terminator()) {
    current = &op;
    emitStatement(&op);
  }
  current = outer;
}

void KernelEmitter::emitStatement(mlir::Operation *op) {
  if (isLazyTileOp(op)) {
    for (mlir::Value result : op->getResults())
      if (plan.lookup(result) == TilePlacement::AtDefinition) {
        ensureBuffer(result);
        if (plan.likelyRamps.contains(result))
          noteRamp(result);
      }
    return;
  }
  llvm::TypeSwitch<mlir::Operation *>(op)
      .Case<tt::GetProgramIdOp>(
          [&](auto id) { define(id, b.CreateLoad(b.i32(), program[id.getAxisAsInt()])); })
      .Case<tt::GetNumProgramsOp>(
          [&](auto count) { define(count, gridSize[count.getAxisAsInt()]); })
      .Case<tt::LoadOp>([&](auto load) { emitScalarLoad(load); })
      .Case<tt::StoreOp>([&](auto store) { emitStore(store); })
      .Case<tt::ReduceOp>([&](auto reduce) { emitReduce(reduce); })
      .Case<tt::ScanOp>([&](auto scan) { emitScan(scan); })
      .Case<tt::DotOp>([&](auto dot) { emitDot(dot); })
      .Case<tt::HistogramOp>([&](auto histogram) { emitHistogram(histogram); })
      .Case<tt::DistributeOp>([&](auto distribute) { emitDistribute(distribute); })
      .Case<tt::CatOp>([&](auto cat) { emitCat(cat); })
      .Case<tt::UnsplatOp>([&](auto unsplat) { emitUnsplat(unsplat); })
      .Case<tt::AtomicRMWOp>([&](auto atomic) { emitAtomicRmw(atomic); })
      .Case<tt::AtomicCASOp>([&](auto atomic) { emitAtomicCas(atomic); })
      .Case<scf::ForOp>([&](auto loop) { emitFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { emitIf(branch); })
      .Case<scf::IndexSwitchOp>([&](auto branch) { emitIndexSwitch(branch); })
      .Case<scf::ExecuteRegionOp>([&](auto region) { emitExecuteRegion(region); })
      .Case<scf::WhileOp>([&](auto loop) { emitWhile(loop); })
      .Case<tt::AssertOp>([&](auto assertion) { emitAssert(assertion); })
      .Case<tt::PrintOp>([&](auto print) { emitPrint(print); })
      // One program is one thread: program order is the barrier, and a promise costs nothing.
      .Case<tt::BarrierOp, tt::AssumeOp>([](auto) {})
      .Case<tt::ElementwiseInlineAsmOp>([&](auto) {
        refuse(op, "is assembly for another processor; the CPU code generator cannot run it");
      })
      .Default([&](auto) { emitScalarOp(op); });
}

void KernelEmitter::emitScalarLoad(tt::LoadOp op) {
  LaneValue mask = LaneValue::uniform(op.getMask() ? scalar(op.getMask()) : b.getTrue());
  LaneValue other;
  if (op.getOther())
    other = LaneValue::uniform(scalar(op.getOther()));
  LaneValue pointer = LaneValue::uniform(scalar(op.getPtr()));
  define(op, memory.load(op.getType(), pointer, mask, other, 1).value);
}

} // namespace pellucid::codegen
