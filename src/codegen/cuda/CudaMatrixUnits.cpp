// SPDX-License-Identifier: Apache-2.0
// Matrix products by matrix units: 16-bit operands in shared memory (SharedTile.h), sums of f32 in
// registers. Here is what mma.sync, wgmma and multiply-adds by lanes have in common, and mma.sync.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"

#include "mlir/IR/Matchers.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

/// Of a product in no loop, or one that starts from more than zeros.
static bool addsToCarried(tt::DotOp op) {
  bool isInLoop = op->getParentOfType<mlir::scf::ForOp>() != nullptr;
  return !isInLoop || !mlir::matchPattern(op.getC(), mlir::m_AnyZeroFloat());
}

// A product waits for memory in every round, so a second block pays even where it costs a few
// spills.
unsigned CudaEmitter::blocksSideBySide() {
  constexpr int64_t threadsOfAll = 512, mostSums = 64; // 128 registers for each thread
  unsigned threads = 32 * options.numWarps, count = 0;
  bool fits = true;
  kernel->walk([&](tt::DotOp op) {
    auto product = mlir::cast<mlir::RankedTensorType>(op.getD().getType());
    // What does not add to what the loop carries is held beside that.
    int64_t sums = product.getNumElements() * (addsToCarried(op) ? 1 : 2);
    fits &= unitOf(op) != MatrixUnit::None && sums <= mostSums * threads;
    ++count;
  });
  return fits && count == 1 ? std::max<unsigned>(1, threadsOfAll / threads) : 1;
}

std::optional<SharedOperand> CudaEmitter::sharedOperand(mlir::Value operand) {
  if (ttgpu::layoutOf(operand))
    return std::nullopt;
  if (auto read = operand.getDefiningOp<ttgpu::ReadSharedOp>())
    return placeOf(read.getBuffer(), read.getCopy());
  auto trans = operand.getDefiningOp<tt::TransOp>();
  std::optional<SharedOperand> source = trans ? sharedOperand(trans.getSrc()) : std::nullopt;
  if (source && trans.getOrder()[0] == 1)
    source->contiguousDim = 1 - source->contiguousDim;
  return source;
}

SharedOperand CudaEmitter::placeFor(const Layout &layout, mlir::Type element, unsigned dim) {
  int64_t units = memoryBytes(element) / SharedTile::elementBytes;
  return {.tile = {layout.shape[1 - dim], layout.shape[dim] * units}, .contiguousDim = dim};
}

Value *CudaEmitter::elementAddress(const SharedOperand &operand, Value *row, Value *column,
                                   int64_t further) {
  const SharedTile &tile = operand.tile;
  auto number = [&](uint64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };
  Value *offset = b.CreateMul(row, number(tile.rowBytes()));
  if (tile.columns > tile.panelColumns()) {
    Value *panel = b.CreateLShr(column, llvm::Log2_64(tile.panelColumns()));
    offset = b.CreateAdd(offset, b.CreateMul(panel, number(tile.panelBytes())));
    column = b.CreateAnd(column, number(tile.panelColumns() - 1));
  }
  Value *swizzle = b.CreateAnd(b.CreateLShr(row, tile.swizzleShift()), number(tile.swizzleMask()));
  Value *bytes = b.CreateMul(column, number(SharedTile::elementBytes));
  bytes = b.CreateXor(bytes, b.CreateMul(swizzle, number(SharedTile::chunkBytes)));
  offset = b.CreateAdd(offset, bytes);
  Value *base = b.CreateConstGEP1_64(b.i8(), shared, tile.byteOffset);
  if (operand.stage)
    base = b.CreateGEP(b.i8(), base, operand.stage);
  return b.CreateConstGEP1_64(b.i8(), b.CreateGEP(b.i8(), base, offset), further * tile.rowBytes());
}

Value *CudaEmitter::elementAddress(const SharedOperand &operand, const Layout &layout,
                                   unsigned index, unsigned elementBytes, unsigned vector) {
  unsigned dim = operand.contiguousDim;
  Value *along = coordinate(layout, dim, index), *column = along;
  if (elementBytes == 1)
    column = b.CreateLShr(along, 1);
  else if (elementBytes > SharedTile::elementBytes)
    column = b.CreateMul(along, b.getInt32(elementBytes / SharedTile::elementBytes));
  Value *address = rowAddress(operand, layout, index, column);
  if (elementBytes == 1 && vector == 1) // the second byte of a unit
    address = b.CreateGEP(b.i8(), address, b.CreateAnd(along, b.getInt32(1)));
  return address;
}

Value *CudaEmitter::rowAddress(const SharedOperand &operand, const Layout &layout, unsigned index,
                               Value *column) {
  if (layout.rank() == 1)
    return elementAddress(operand, b.getInt32(0), column);
  unsigned rowDim = 1 - operand.contiguousDim;
  int32_t own = layout.registerPoint(index)[rowDim], ofThreads = 0;
  for (const Layout::Bits *bits : {&layout.lanes, &layout.warps})
    for (const Layout::Point &point : *bits)
      ofThreads |= point[rowDim];
  if (own % 8 != 0 || (own & ofThreads) != 0)
    return elementAddress(operand, coordinate(layout, rowDim, index), column);
  return elementAddress(operand, threadCoordinate(layout, rowDim), column, own);
}

namespace {

/// Instructions that all threads of a warp execute together.
class WarpUnit {
public:
  explicit WarpUnit(CodeBuilder &b) : b(b) {}

  /// Two or four matrices of 8x8 elements; each lane gives the address of one of their rows.
  llvm::SmallVector<Value *, 4> loadMatrices(Value *address, unsigned count, bool transposed) {
    I::ID load = count == 4   ? transposed ? I::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                           : I::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
                 : transposed ? I::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                              : I::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
    return fieldsOf(b.CreateIntrinsic(load, {address->getType()}, {address}));
  }

  llvm::SmallVector<Value *, 4> multiply(mlir::Type element, llvm::ArrayRef<Value *> left,
                                         llvm::ArrayRef<Value *> right,
                                         llvm::ArrayRef<Value *> sums) {
    I::ID multiply = element.isInteger(8) ? I::nvvm_mma_m16n8k32_row_col_s8
                     : element.isF32()    ? I::nvvm_mma_m16n8k8_row_col_tf32
                     : element.isBF16()   ? I::nvvm_mma_m16n8k16_row_col_bf16
                                          : I::nvvm_mma_m16n8k16_row_col_f32_f32;
    llvm::SmallVector<Value *> operands;
    for (llvm::ArrayRef<Value *> words : {left, right})
      for (Value *word : words)
        operands.push_back(element.isF16() ? b.CreateBitCast(word, lanesOf(b.getHalfTy(), 2))
                                           : word);
    operands.append(sums.begin(), sums.end());
    llvm::CallInst *made = b.CreateIntrinsic(multiply, {}, operands);
    made->addFnAttr(llvm::Attribute::Convergent);
    return fieldsOf(made);
  }

private:
  llvm::SmallVector<Value *, 4> fieldsOf(Value *made) {
    llvm::SmallVector<Value *, 4> values;
    for (unsigned i = 0; i < llvm::cast<llvm::StructType>(made->getType())->getNumElements(); ++i)
      values.push_back(b.CreateExtractValue(made, i));
    return values;
  }

  CodeBuilder &b;
};

} // namespace

/// Writes a tile to its place, in vectors where its layout has them.
void CudaEmitter::shareTile(const HeldTile &tile, mlir::Type element, const SharedOperand &place) {
  const auto &[layout, values] = tile;
  unsigned bytes = memoryBytes(element);
  unsigned vector = std::min<unsigned>(layout.contiguousAlong(place.contiguousDim),
                                       SharedTile::chunkBytes / bytes);
  auto write = [&] {
    if (storeMatrices(tile, element, place))
      return;
    Registers words = packWords(values, vector, element);
    size_t perVector = words.size() * vector / values.size();
    for (size_t r = 0, w = 0; r < values.size(); r += vector, w += perVector) {
      Value *address = elementAddress(place, layout, r, bytes, vector);
      Value *whole = perVector == 1
                         ? words[w]
                         : llvm::PoisonValue::get(lanesOf(words[w]->getType(), perVector));
      for (size_t i = 0; perVector > 1 && i < perVector; ++i)
        whole = b.CreateInsertElement(whole, words[w + i], i);
      b.CreateAlignedStore(whole, address, llvm::Align(vector * bytes));
    }
  };
  Value *holds = isFirstHolder(layout);
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(holds); constant && constant->isOne())
    write();
  else
    emitWhen(b, holds, write);
}

void CudaEmitter::emitMatrixDot(tt::DotOp op) {
  if (multipliesBytes(op))
    return emitByteDot(op);
  bool byGroups = unitOf(op) == MatrixUnit::Warpgroup;
  auto restart = byGroups ? ttgpu::restartOf(op) : nullptr;
  Registers sums = restart ? registersOf(restart.getFalseValue()) : sumsOf(op);
  mlir::Value operands[] = {op.getA(), op.getB()};
  SharedOperand places[2];
  std::optional<HeldTile> tiles[2];
  uint64_t bytes = 0;
  for (unsigned i : {0, 1}) {
    if (auto known = sharedOperand(operands[i])) {
      places[i] = *known;
      continue;
    }
    if (byGroups && i == 0)
      places[i].words = leftWords(op);
    if (!places[i].words.empty())
      continue;
    tiles[i] = held(operands[i]);
    mlir::Type element = elementTypeOf(operands[i].getType());
    places[i] = placeFor(tiles[i]->layout, element,
                         ttgpu::liesAlongInner(op) ? 1 - i : ttgpu::alongOf(tiles[i]->layout));
    places[i].tile.byteOffset = bytes;
    bytes += places[i].tile.bytes();
  }
  if (bytes != 0) {
    uint64_t at = ttgpu::offsetOf(op);
    for (unsigned i : {0, 1})
      if (tiles[i]) {
        places[i].tile.byteOffset += at;
        shareTile(*tiles[i], elementTypeOf(operands[i].getType()), places[i]);
      }
    if (byGroups)
      b.CreateIntrinsic(I::nvvm_fence_proxy_async_shared_cta, {});
    emitBarrier();
  }
  if (byGroups)
    multiplyByWarpgroups(op, places[0], places[1], sums);
  else if (unitOf(op) == MatrixUnit::Lane)
    multiplyByLanes(op, places[0], places[1], sums);
  else
    multiplyByWarps(op, places[0], places[1], sums);
  finishDot(op, std::move(sums));
}

/// Fragments come four 8x8 matrices at a time: lanes 8*i to 8*i+7 name the rows of matrix i.
void CudaEmitter::multiplyByWarps(tt::DotOp op, const SharedOperand &left,
                                  const SharedOperand &right, Registers &sums) {
  auto a = mlir::cast<mlir::RankedTensorType>(op.getA().getType());
  bool turnsRound = left.contiguousDim != 1 || right.contiguousDim != 0;
  if (a.getElementType().isF64() || (a.getElementType().isF32() && turnsRound))
    return multiplyWordsByWarps(op, left, right, sums);
  const Layout &layout = layoutOf(op);
  // Where this warp's part of the product begins.
  Layout ofWarps = layout;
  ofWarps.lanes.assign(Layout::laneBits, layout.zero());
  Value *firstRow = coordinate(ofWarps, 0, 0), *firstColumn = coordinate(ofWarps, 1, 0);
  std::map<int32_t, llvm::SmallVector<Value *, 4>> rows, columns; // fragments, by first row, column
  for (unsigned r = 0; r < layout.registerCount(); r += 4) {
    rows[layout.registerPoint(r)[0]];
    columns[layout.registerPoint(r)[1]];
  }
  auto number = [&](int64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };
  // Two columns of fragments come with one instruction, the second from the upper lanes.
  bool inPairs = columns.size() > 1;
  int32_t apart = inPairs ? std::next(columns.begin())->first - columns.begin()->first : 0;
  Value *lane = threadNumbers.lane, *row = b.CreateAnd(lane, number(7));
  Value *second = b.CreateAnd(b.CreateLShr(lane, 3), number(1)), *upper = b.CreateLShr(lane, 4);
  auto eight = [&](Value *bit) { return b.CreateMul(bit, number(8)); };
  // Matrices of the left go down first, of the right along k first.
  Value *leftRow = b.CreateAdd(firstRow, row), *leftK = eight(upper);
  leftRow = b.CreateAdd(leftRow, eight(second));
  Value *rightColumn = b.CreateAdd(firstColumn, b.CreateMul(upper, number(apart)));
  Value *rightK = eight(second);
  // The lanes run along the rows in memory.
  bool leftAlongK = left.contiguousDim == 1, rightAlongK = right.contiguousDim == 0;
  if (!leftAlongK) {
    leftRow = b.CreateAdd(firstRow, eight(second));
    leftK = b.CreateAdd(eight(upper), row);
  }
  if (rightAlongK)
    rightColumn = b.CreateAdd(rightColumn, row);
  else
    rightK = b.CreateAdd(rightK, row);
  auto addressOf = [&](const SharedOperand &operand, bool alongK, Value *outer, int64_t first,
                       Value *k, int64_t step) {
    return alongK ? elementAddress(operand, outer, b.CreateAdd(k, number(step)), first)
                  : elementAddress(operand, k, b.CreateAdd(outer, number(first)), step);
  };
  WarpUnit unit(b);
  // Two bytes count as one element of 16 bits, and f32 as two: the fragments are the same.
  int64_t depth = a.getDimSize(1) * memoryBytes(a.getElementType()) / SharedTile::elementBytes;
  for (int64_t step = 0; step < depth; step += stepK) {
    for (auto &[first, fragment] : rows) {
      Value *address = addressOf(left, leftAlongK, leftRow, first, leftK, step);
      fragment = unit.loadMatrices(address, 4, !leftAlongK);
    }
    for (auto next = columns.begin(); next != columns.end();) {
      Value *address = addressOf(right, rightAlongK, rightColumn, next->first, rightK, step);
      auto loaded = unit.loadMatrices(address, inPairs ? 4 : 2, !rightAlongK);
      for (size_t i = 0; i < loaded.size(); i += 2)
        (next++)->second = {loaded[i], loaded[i + 1]};
    }
    for (unsigned r = 0; r < layout.registerCount(); r += 4) {
      Layout::Point point = layout.registerPoint(r);
      auto next = unit.multiply(a.getElementType(), rows[point[0]], columns[point[1]],
                                llvm::ArrayRef(sums).slice(r, 4));
      std::copy(next.begin(), next.end(), sums.begin() + r);
    }
  }
}

} // namespace pellucid::codegen
