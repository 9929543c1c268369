// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ElementOps.h"
#include "codegen/cuda/CudaMath.h"
#include "codegen/cuda/HalfMath.h"
#include "codegen/gpu/LayoutChoice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace pellucid::codegen {

using llvm::Value;
namespace scf = mlir::scf;
namespace I = llvm::Intrinsic;

static constexpr unsigned sharedSpace = 3;

CudaEmitter::CudaEmitter(llvm::Module &module, tt::FuncOp kernel, const CudaKernelOptions &options,
                         CompiledPtx &result)
    : StatementEmitter(module, kernel, options.fpContract, "CUDA"), options(options),
      result(result), axes(kernel) {
  b.hasPackedRounding = true;
}

void CudaEmitter::emit() {
  shared = new llvm::GlobalVariable(
      module, llvm::ArrayType::get(b.i8(), 0), false, llvm::GlobalValue::ExternalLinkage, nullptr,
      result.symbol + "_shared", nullptr, llvm::GlobalValue::NotThreadLocal, sharedSpace);
  shared->setAlignment(llvm::Align(16));
  if (auto bytes = kernel->getAttrOfType<mlir::IntegerAttr>(ttgpu::sharedBytesName))
    result.sharedBytes = static_cast<uint32_t>(bytes.getInt());
  result.dependentLaunch = kernel->hasAttr(ttgpu::dependentLaunchName);
  createEntry();
  emitBlock(kernel.getBody().front());
  b.CreateRetVoid();
  if (result.sharedBytes == 0)
    shared->eraseFromParent();
}

// Twice what a thread has registers for: ptxas leaves most of it in memory as soon as it aims at
// several blocks side by side, and uses all registers where it is told that one will do.
static bool holdsLongTiles(tt::FuncOp kernel) {
  constexpr unsigned longTile = 512;
  return kernel
      ->walk([&](tt::LoadOp op) {
        auto layout = ttgpu::layoutOf(op.getResult());
        return layout && layout->registerCount() >= longTile ? mlir::WalkResult::interrupt()
                                                             : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

void CudaEmitter::createEntry() {
  checkParameters();
  llvm::SmallVector<llvm::Type *> parameters;
  for (mlir::Type type : kernel.getArgumentTypes())
    parameters.push_back(memoryType(b.getContext(), type));
  parameters.append({b.getPtrTy(), b.getPtrTy()}); // Triton's scratch pointers
  addTensorMaps(parameters);
  auto *type = llvm::FunctionType::get(b.getVoidTy(), parameters, false);
  entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, result.symbol, module);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  describeTensorMaps();
  entry->addFnAttr("nvvm.reqntid", std::to_string(32 * options.numWarps));
  if (unsigned blocks = blocksSideBySide(); blocks > 1 || holdsLongTiles(kernel))
    entry->addFnAttr("nvvm.minctasm", std::to_string(blocks));
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  // What depends on the thread alone goes to the first block, which stays free of all else.
  llvm::BasicBlock *first = llvm::BasicBlock::Create(b.getContext(), "entry", entry);
  llvm::BasicBlock *start = llvm::BasicBlock::Create(b.getContext(), "start", entry);
  b.SetInsertPoint(first);
  threadNumbers = numbersOf(b.CreateIntrinsic(I::nvvm_read_ptx_sreg_tid_x, {}), first);
  // Descriptors of matrices must be seen to be alike in all lanes.
  if (result.thisGenerationOnly)
    threadNumbers.warp =
        b.CreateIntrinsic(I::nvvm_shfl_sync_idx_i32, {},
                          {b.getInt32(~0u), threadNumbers.warp, b.getInt32(0), b.getInt32(31)});
  b.CreateBr(start);
  b.SetInsertPoint(start);
  loadArguments();
}

ThreadNumbers CudaEmitter::numbersOf(Value *thread, llvm::BasicBlock *block) {
  ThreadNumbers numbers;
  numbers.thread = thread;
  numbers.lane = b.CreateAnd(thread, b.getInt32(31), "lane");
  numbers.warp = b.CreateLShr(thread, b.getInt32(5), "warp");
  numbers.block = block;
  return numbers;
}

void CudaEmitter::loadArguments() {
  uint32_t offset = 0;
  for (mlir::BlockArgument argument : kernel.getBody().getArguments()) {
    uint32_t bytes = memoryBytes(argument.getType());
    offset = (offset + bytes - 1) / bytes * bytes;
    Value *value = entry->getArg(argument.getArgNumber());
    if (argument.getType().isInteger(1))
      value = b.CreateICmpNE(value, b.getInt8(0));
    define(argument, value);
    result.arguments.push_back({offset, bytes});
    offset += bytes;
  }
}

void CudaEmitter::emitBarrier() {
  b.CreateIntrinsic(I::nvvm_barrier_cta_sync_aligned_all, {}, {b.getInt32(0)});
}

void CudaEmitter::emitBlock(mlir::Block &block) {
  for (mlir::Operation &op : block.without_terminator())
    emitStatement(&op);
}

static I::ID programIdRegister(unsigned axis) {
  constexpr I::ID registers[] = {I::nvvm_read_ptx_sreg_ctaid_x, I::nvvm_read_ptx_sreg_ctaid_y,
                                 I::nvvm_read_ptx_sreg_ctaid_z};
  return registers[axis];
}
static I::ID programCountRegister(unsigned axis) {
  constexpr I::ID registers[] = {I::nvvm_read_ptx_sreg_nctaid_x, I::nvvm_read_ptx_sreg_nctaid_y,
                                 I::nvvm_read_ptx_sreg_nctaid_z};
  return registers[axis];
}

void CudaEmitter::emitStatement(mlir::Operation *op) {
  if (ttgpu::isComputedAtUse(op)) {
    // Where no layout was chosen, a product reads the tile in place.
    if (ttgpu::layoutOf(op->getResult(0)))
      compute(op);
    return;
  }
  llvm::TypeSwitch<mlir::Operation *>(op)
      .Case<tt::GetProgramIdOp>(
          [&](auto id) { define(id, b.CreateIntrinsic(programIdRegister(id.getAxisAsInt()), {})); })
      .Case<tt::GetNumProgramsOp>([&](auto count) {
        define(count, b.CreateIntrinsic(programCountRegister(count.getAxisAsInt()), {}));
      })
      .Case<tt::LoadOp>([&](auto load) { emitLoad(load); })
      .Case<tt::StoreOp>([&](auto store) { emitStore(store); })
      .Case<tt::ReduceOp>([&](auto reduce) { emitReduce(reduce); })
      .Case<tt::ScanOp>([&](auto scan) { emitScan(scan); })
      .Case<tt::GatherOp>([&](auto gather) { emitGather(gather); })
      .Case<tt::HistogramOp>([&](auto histogram) { emitHistogram(histogram); })
      .Case<tt::DistributeOp>([&](auto distribute) { emitDistribute(distribute); })
      .Case<tt::CatOp>([&](auto cat) { emitCat(cat); })
      .Case<tt::DotOp>([&](auto dot) { emitDot(dot); })
      .Case<tt::AtomicRMWOp>([&](auto atomic) { emitAtomicRmw(atomic); })
      .Case<tt::AtomicCASOp>([&](auto atomic) { emitAtomicCas(atomic); })
      .Case<tt::ElementwiseInlineAsmOp>([&](auto assembly) { emitInlineAssembly(assembly); })
      .Case<scf::ForOp>([&](auto loop) { emitFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { emitIf(branch); })
      .Case<scf::WhileOp>([&](auto loop) { emitWhile(loop); })
      .Case<tt::BarrierOp, ttgpu::BarrierOp>([&](auto) { emitBarrier(); })
      .Case<tt::GridDependencyLaunchDependentsOp>(
          [&](auto) { b.CreateIntrinsic(I::nvvm_griddepcontrol_launch_dependents, {}); })
      .Case<tt::GridDependencyWaitOp>([&](auto) { emitDependencyWait(); })
      .Case<tt::PrintOp>([&](auto print) { emitPrint(print); })
      .Case<tt::AssertOp>([&](auto assertion) { emitAssert(assertion); })
      .Case<tt::AssumeOp>([](auto) {})
      .Case<ttgpu::ConvertLayoutOp>([&](auto other) { compute(other); })
      .Case<ttgpu::AllocSharedOp, ttgpu::FreeSharedOp>([](auto) {}) // places are known
      .Case<ttgpu::ShareOp>([&](auto share) { emitShare(share); })
      .Case<ttgpu::AsyncCopyOp>([&](auto copy) { emitAsyncCopy(copy); })
      .Case<ttgpu::CommitCopiesOp>(
          [&](auto) { b.CreateIntrinsic(I::nvvm_cp_async_commit_group, {}); })
      .Case<ttgpu::AwaitCopiesOp>([&](auto await) {
        b.CreateIntrinsic(I::nvvm_cp_async_wait_group, {}, {b.getInt32(await.getPending())});
      })
      .Case<ttgpu::AllocBarriersOp>([&](auto barriers) { emitAllocBarriers(barriers); })
      .Case<ttgpu::FreeBarriersOp>([&](auto barriers) { emitFreeBarriers(barriers); })
      .Case<ttgpu::ExpectCopiesOp>([&](auto expected) { emitExpectCopies(expected); })
      .Case<ttgpu::TensorCopyOp>([](auto) {}) // with what expects them
      .Case<ttgpu::AwaitTensorCopiesOp>([&](auto await) { emitAwaitTensorCopies(await); })
      .Case<ttgpu::AwaitProductsOp>([&](auto await) { emitAwaitProducts(await); })
      .Case<ttgpu::ReleaseOperandsOp>([&](auto release) {
        b.CreateIntrinsic(I::nvvm_wgmma_wait_group_sync_aligned, {},
                          {b.getInt64(release.getPending())});
      })
      .Default([&](auto) { emitScalarOp(op); });
}

/// LLVM's intrinsic touches no memory, so that loads could move ahead of it.
void CudaEmitter::emitDependencyWait() {
  auto *type = llvm::FunctionType::get(b.getVoidTy(), false);
  b.CreateCall(type, llvm::InlineAsm::get(type, "griddepcontrol.wait;", "~{memory}", true));
}

llvm::SmallVector<Value *, 2> CudaEmitter::emitElement(mlir::Operation *op,
                                                       llvm::ArrayRef<Value *> operands) {
  return emitCudaElementOp(b, op, operands);
}

llvm::SmallVector<Value *, 2> CudaEmitter::emitInRegion(CodeBuilder &builder, mlir::Operation *op,
                                                        llvm::ArrayRef<Value *> operands) {
  return emitCudaElementOp(builder, op, operands);
}

} // namespace pellucid::codegen
