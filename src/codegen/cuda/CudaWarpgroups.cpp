// SPDX-License-Identifier: Apache-2.0
// Matrix products by wgmma: a warpgroup of four warps multiplies 64 rows by up to 256 columns, both
// operands described by where they lie in shared memory, or the left one in registers. The products
// run while the threads go on, which queue the copies of a later round meanwhile; where a loop only
// adds up, they run on into the next round.
#include "codegen/common/ElementOps.h"
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;
namespace I = llvm::Intrinsic;

static constexpr int64_t mostColumns = 256;
static constexpr unsigned wordsOfStep = 4; ///< of a left operand in registers, for each step

/// The address / 16 (i32) of what begins at `outer` along m or n, a multiple of 8.
Value *CudaEmitter::descriptorAddress(const SharedOperand &operand, bool kIsContiguous,
                                      Value *outer) {
  const SharedTile &tile = operand.tile;
  auto number = [&](uint64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };
  Value *offset = b.CreateMul(outer, number(tile.rowBytes()));
  if (!kIsContiguous) {
    Value *panel = b.CreateLShr(outer, llvm::Log2_64(tile.panelColumns()));
    Value *within = b.CreateAnd(outer, number(tile.panelColumns() - 1));
    offset = b.CreateAdd(b.CreateMul(panel, number(tile.panelBytes())),
                         b.CreateMul(within, number(SharedTile::elementBytes)));
  }
  if (operand.stage)
    offset = b.CreateAdd(offset, operand.stage);
  Value *address = b.CreateAdd(b.CreatePtrToInt(shared, b.i32()), number(tile.byteOffset));
  return b.CreateLShr(b.CreateAdd(address, offset), 4);
}

/// The matrix descriptor of what begins `k` behind such an address.
static Value *descriptorAt(CodeBuilder &b, const SharedTile &tile, bool kIsContiguous,
                           Value *address, int64_t k) {
  int64_t row = kIsContiguous ? 0 : k, column = kIsContiguous ? k : 0;
  uint64_t offset = column / tile.panelColumns() * tile.panelBytes() + row * tile.rowBytes() +
                    column % tile.panelColumns() * SharedTile::elementBytes;
  uint64_t constant = tile.descriptor(kIsContiguous);
  Value *low = b.CreateAdd(address, b.getInt32(static_cast<uint32_t>(offset / 16)), "", true, true);
  low = b.CreateOr(low, b.getInt32(static_cast<uint32_t>(constant)));
  return b.CreateOr(b.CreateZExt(low, b.i64()), b.getInt64(constant >> 32 << 32));
}

/// "{$0, $1, …}"
static std::string registerList(size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(i);
  return text + "}";
}

/// Emits `text` on `registers`, which it reads and writes; the inputs are numbered behind them.
static void updateRegisters(CodeBuilder &b, llvm::MutableArrayRef<Value *> registers,
                            const std::string &text, llvm::ArrayRef<Value *> inputs = {}) {
  std::string outputs, tied;
  llvm::SmallVector<Value *> operands(inputs);
  llvm::SmallVector<llvm::Type *> types, results;
  for (auto [i, value] : llvm::enumerate(registers)) {
    outputs += value->getType()->isIntegerTy() ? "=r," : "=f,";
    tied += std::to_string(i) + ",";
    operands.push_back(value);
    results.push_back(value->getType());
  }
  for (Value *input : inputs)
    outputs += input->getType()->isIntegerTy(64) ? "l," : "r,";
  for (Value *operand : operands)
    types.push_back(operand->getType());
  auto *type =
      llvm::FunctionType::get(llvm::StructType::get(b.getContext(), results), types, false);
  auto *code = llvm::InlineAsm::get(type, text, outputs + tied + "~{memory}", true);
  llvm::CallInst *call = b.CreateCall(code, operands);
  call->addFnAttr(llvm::Attribute::Convergent);
  for (auto [i, value] : llvm::enumerate(registers))
    value = b.CreateExtractValue(call, i);
}

/// "k16.f32.bf16.bf16": how many of k a step takes, and the types.
static std::string kindOf(mlir::Type left, mlir::Type right) {
  auto nameOf = [](mlir::Type type) -> std::string {
    return type.isInteger(8)                       ? "s8"
           : type.isF32()                          ? "tf32"
           : type.isBF16()                         ? "bf16"
           : type.isF16()                          ? "f16"
           : mlir::isa<mlir::Float8E5M2Type>(type) ? "e5m2"
                                                   : "e4m3";
  };
  int64_t steps = stepK * SharedTile::elementBytes / memoryBytes(left);
  return "k" + std::to_string(steps) + (left.isInteger(8) ? ".s32." : ".f32.") + nameOf(left) +
         "." + nameOf(right);
}

Registers CudaEmitter::leftWords(tt::DotOp op) {
  if (ttgpu::isShared(op, 0))
    return {};
  return packWords(registersOf(op.getA()), 2, elementTypeOf(op.getA().getType()));
}

void CudaEmitter::multiplyByWarpgroups(tt::DotOp op, const SharedOperand &left,
                                       const SharedOperand &right, Registers &sums) {
  auto a = mlir::cast<mlir::RankedTensorType>(op.getA().getType());
  const Layout &layout = layoutOf(op);
  Layout ofGroups = layout;
  ofGroups.lanes.assign(Layout::laneBits, layout.zero());
  ofGroups.warps[0] = ofGroups.warps[1] = layout.zero();
  Value *firstRow = coordinate(ofGroups, 0, 0), *firstColumn = coordinate(ofGroups, 1, 0);
  // Registers run along the columns first, four for each eight of them.
  int64_t columns = 8;
  for (const Layout::Point &point : layout.registers)
    if (point[1] >= 8)
      columns *= 2;
  int64_t columnsAtOnce = std::min(columns, mostColumns);
  size_t count = columnsAtOnce / 8 * 4;
  bool leftAlongK = left.contiguousDim == 1, rightAlongK = right.contiguousDim == 0;
  // Two bytes count as one element of 16 bits, and f32 as two, in tiles and here; they lie along k.
  int64_t depth = a.getDimSize(1) * memoryBytes(a.getElementType()) / SharedTile::elementBytes;
  std::string product = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columnsAtOnce) +
                        kindOf(a.getElementType(), elementTypeOf(op.getB().getType())) + " " +
                        registerList(count);
  std::string options = ", p, 1, 1;";
  if (a.getElementType().isInteger(8))
    options = ", p;";
  else if (!ttgpu::liesAlongInner(op))
    options = std::string(", p, 1, 1, ") + (left.words.empty() ? leftAlongK ? "0, " : "1, " : "") +
              (rightAlongK ? "0;" : "1;");
  arith::SelectOp restart = ttgpu::restartOf(op);
  Value *restarts = restart ? scalar(restart.getCondition()) : nullptr;
  std::string restartOptions = options;
  restartOptions[2] = 'q';
  auto number = [&](int64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };
  // A thread's sums of further rows, and its words of them.
  int32_t rowsApart = layout.shape[0];
  for (const Layout::Point &point : layout.registers)
    if (point[0] > 8)
      rowsApart = std::min(rowsApart, point[0]);
  size_t wordsOfRows = depth / stepK * wordsOfStep;

  b.CreateIntrinsic(I::nvvm_wgmma_fence_sync_aligned, {});
  for (size_t r = 0; r < sums.size(); r += count) {
    Layout::Point point = layout.registerPoint(r);
    Value *row = b.CreateAdd(firstRow, number(point[0]));
    Value *column = b.CreateAdd(firstColumn, number(point[1]));
    std::string text = "{ .reg .pred p, q; setp.eq.b32 p, 0, 0;";
    llvm::SmallVector<Value *> inputs;
    auto input = [&](Value *value) {
      inputs.push_back(value);
      return "$" + std::to_string(count + inputs.size() - 1);
    };
    if (restarts) // the first step adds to nothing then
      text += " setp.eq.b32 q, " + input(b.CreateZExt(restarts, b.i32())) + ", 0;";
    Value *leftAddress = left.words.empty() ? descriptorAddress(left, leftAlongK, row) : nullptr;
    Value *rightAddress = descriptorAddress(right, rightAlongK, column);
    size_t word = point[0] / rowsApart * wordsOfRows;
    for (int64_t k = 0; k < depth; k += stepK) {
      text += " " + product + ", ";
      if (left.words.empty()) {
        text += input(descriptorAt(b, left.tile, leftAlongK, leftAddress, k));
      } else {
        for (unsigned i = 0; i < wordsOfStep; ++i, ++word)
          text += (i ? ", " : "{") + input(left.words[word]);
        text += "}";
      }
      text += ", " + input(descriptorAt(b, right.tile, rightAlongK, rightAddress, k)) +
              (restarts && k == 0 ? restartOptions : options);
    }
    updateRegisters(b, llvm::MutableArrayRef(sums).slice(r, count), text + " }", inputs);
  }
  b.CreateIntrinsic(I::nvvm_wgmma_commit_group_sync_aligned, {});
  if (!op->hasAttr(ttgpu::runsName))
    awaitProduct(sums);
}

void CudaEmitter::awaitProduct(Registers &sums) {
  size_t count = std::min<size_t>(sums.size(), mostColumns / 8 * 4);
  for (size_t r = 0; r < sums.size(); r += count)
    updateRegisters(b, llvm::MutableArrayRef(sums).slice(r, count),
                    r == 0 ? "wgmma.wait_group.sync.aligned 0;" : "");
}

} // namespace pellucid::codegen
