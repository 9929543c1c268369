// SPDX-License-Identifier: Apache-2.0
// Matrix products by mma.sync: 16-bit operands through shared memory, whose rows are padded by 16
// bytes so that the eight rows of an ldmatrix lie in different banks; sums of f32 in registers.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"

#include "llvm/IR/InlineAsm.h"

namespace pellucid::codegen {

using llvm::Value;

/// One instruction makes 16x8 sums over 16 products.
static constexpr int64_t stepK = 16;
static constexpr int64_t rowPadding = 8; // elements

bool CudaEmitter::usesMatrixUnits(tt::DotOp op) {
  auto a = mlir::cast<mlir::RankedTensorType>(op.getA().getType());
  auto b = mlir::cast<mlir::RankedTensorType>(op.getB().getType());
  auto d = mlir::cast<mlir::RankedTensorType>(op.getD().getType());
  mlir::Type element = a.getElementType();
  return a.getRank() == 2 && element == b.getElementType() &&
         (element.isF16() || element.isBF16()) && d.getElementType().isF32() &&
         d.getDimSize(0) >= 16 && d.getDimSize(1) >= 8 && a.getDimSize(1) >= stepK;
}

bool CudaEmitter::feedsMatrixUnits(mlir::Value tile, unsigned depth) {
  constexpr unsigned deepest = 6;
  return depth < deepest && llvm::any_of(
                                tile.getUsers(),
                                [&](mlir::Operation *user) {
                                  if (auto dot = mlir::dyn_cast<tt::DotOp>(user))
                                    return tile != dot.getC() && usesMatrixUnits(dot);
                                  return (isElementOp(user) || mlir::isa<tt::TransOp>(user)) &&
                                         feedsMatrixUnits(user->getResult(0), depth + 1);
                                });
}

namespace {

/// An operand in shared memory.
struct SharedMatrix {
  Value *base;
  int64_t stride; ///< of its rows, in elements
};

/// Instructions that all threads of a warp execute together.
class WarpAssembly {
public:
  explicit WarpAssembly(CodeBuilder &b) : b(b) {}

  /// `count` matrices of 8x8 elements; each lane gives the address of one of their rows.
  llvm::SmallVector<Value *, 4> loadMatrices(Value *address, unsigned count, bool transposed) {
    std::string outputs, constraints;
    for (unsigned i = 0; i < count; ++i) {
      outputs += (i ? ", $" : "$") + std::to_string(i);
      constraints += "=r,";
    }
    std::string text = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                       (transposed ? ".trans" : "") + ".shared.b16 {" + outputs + "}, [$" +
                       std::to_string(count) + "];";
    return call(text, constraints + "l,~{memory}", b.i32(), count, {address}, true);
  }

  llvm::SmallVector<Value *, 4> multiply(mlir::Type element, llvm::ArrayRef<Value *> left,
                                         llvm::ArrayRef<Value *> right,
                                         llvm::ArrayRef<Value *> sums) {
    std::string type = element.isBF16() ? "bf16" : "f16";
    std::string text = "mma.sync.aligned.m16n8k16.row.col.f32." + type + "." + type +
                       ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};";
    llvm::SmallVector<Value *> operands(left);
    operands.append(right.begin(), right.end());
    operands.append(sums.begin(), sums.end());
    return call(text, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", b.getFloatTy(), 4, operands, false);
  }

private:
  llvm::SmallVector<Value *, 4> call(const std::string &text, const std::string &constraints,
                                     llvm::Type *result, unsigned count,
                                     llvm::ArrayRef<Value *> operands, bool readsMemory) {
    llvm::SmallVector<llvm::Type *> types, results(count, result);
    for (Value *operand : operands)
      types.push_back(operand->getType());
    auto *type =
        llvm::FunctionType::get(llvm::StructType::get(b.getContext(), results), types, false);
    llvm::CallInst *made =
        b.CreateCall(llvm::InlineAsm::get(type, text, constraints, readsMemory), operands);
    made->addFnAttr(llvm::Attribute::Convergent);
    llvm::SmallVector<Value *, 4> values;
    for (unsigned i = 0; i < count; ++i)
      values.push_back(b.CreateExtractValue(made, i));
    return values;
  }

  CodeBuilder &b;
};

} // namespace

/// Writes a tile row by row, `stride` elements apart, in vectors where its layout has them.
void CudaEmitter::shareRows(const HomeTile &tile, mlir::Type element, uint64_t byteOffset,
                            int64_t stride) {
  const auto &[layout, values] = tile;
  constexpr unsigned mostAccessBytes = 16;
  unsigned bytes = memoryBytes(element);
  unsigned vector = std::min<unsigned>(layout.contiguousAlong(1), mostAccessBytes / bytes);
  Registers words = packWords(values, vector, element);
  size_t perVector = words.size() * vector / values.size();
  auto write = [&] {
    for (size_t r = 0, w = 0; r < values.size(); r += vector, w += perVector) {
      Value *row = b.CreateMul(coordinate(layout, 0, r), b.getInt32(static_cast<uint32_t>(stride)));
      Value *address =
          sharedAddress(byteOffset, element, b.CreateAdd(row, coordinate(layout, 1, r)));
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

// A product waits for memory in every round, so a second block pays even where it costs a few
// spills: 229 instead of 161 TFLOP/s for tiles of 128x128x64 on an H200.
unsigned CudaEmitter::blocksSideBySide() {
  constexpr int64_t threadsOfAll = 512, mostSums = 64; // 128 registers for each thread
  unsigned threads = 32 * options.numWarps, count = 0;
  bool fits = true;
  kernel->walk([&](tt::DotOp op) {
    auto product = mlir::cast<mlir::RankedTensorType>(op.getD().getType());
    fits &= usesMatrixUnits(op) && product.getNumElements() <= mostSums * threads;
    ++count;
  });
  return fits && count == 1 ? std::max<unsigned>(1, threadsOfAll / threads) : 1;
}

void CudaEmitter::emitMatrixDot(tt::DotOp op) {
  auto a = checkedTile(op, op.getA()), product = checkedTile(op, op.getD());
  checkedTile(op, op.getB());
  mlir::Type element = a.getElementType();
  int64_t m = a.getDimSize(0), k = a.getDimSize(1), n = product.getDimSize(1);
  Layout layout = anchor(product.getShape());
  Registers sums = evaluate(op.getC(), layout);
  // Tiles are evaluated before the memory is claimed: their own exchanges use the same.
  HomeTile left = asItLies(op.getA()), right = asItLies(op.getB());
  int64_t strideA = k + rowPadding, strideB = n + rowPadding;
  uint64_t bytesOfA = m * strideA * memoryBytes(element);
  uint64_t at = claimShared(op, bytesOfA + k * strideB * memoryBytes(element));
  shareRows(left, element, at, strideA);
  shareRows(right, element, at + bytesOfA, strideB);
  emitBarrier();

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
  Value *lane = threadNumbers.lane;
  Value *rowOfLane = b.CreateAnd(lane, number(15)), *upperHalf = b.CreateLShr(lane, 4);
  // Two columns of fragments come with one instruction, the second's rows from the upper lanes.
  bool inPairs = columns.size() > 1;
  int32_t apart = inPairs ? std::next(columns.begin())->first - columns.begin()->first : 0;
  Value *leftPlace = b.CreateAdd(b.CreateMul(b.CreateAdd(firstRow, rowOfLane), number(strideA)),
                                 b.CreateMul(upperHalf, number(8)));
  Value *rightPlace = b.CreateAdd(b.CreateMul(rowOfLane, number(strideB)),
                                  b.CreateAdd(firstColumn, b.CreateMul(upperHalf, number(apart))));
  WarpAssembly assembly(b);
  for (int64_t step = 0; step < k; step += stepK) {
    for (auto &[row, fragment] : rows) {
      Value *place = b.CreateAdd(leftPlace, number(row * strideA + step));
      fragment = assembly.loadMatrices(sharedAddress(at, element, place), 4, false);
    }
    for (auto next = columns.begin(); next != columns.end();) {
      Value *place = b.CreateAdd(rightPlace, number(step * strideB + next->first));
      auto loaded = assembly.loadMatrices(sharedAddress(at + bytesOfA, element, place),
                                          inPairs ? 4 : 2, true);
      for (size_t i = 0; i < loaded.size(); i += 2)
        (next++)->second = {loaded[i], loaded[i + 1]};
    }
    for (unsigned r = 0; r < layout.registerCount(); r += 4) {
      Layout::Point point = layout.registerPoint(r);
      auto next = assembly.multiply(element, rows[point[0]], columns[point[1]],
                                    llvm::ArrayRef(sums).slice(r, 4));
      std::copy(next.begin(), next.end(), sums.begin() + r);
    }
  }
  homes[op] = {layout, sums};
}

} // namespace pellucid::codegen
