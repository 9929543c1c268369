// SPDX-License-Identifier: Apache-2.0
// Tile registers (AMX): squares of 32 x 32 sums from two tiles of A, 16 rows x 32 k as they lie in
// memory, and two of B, 16 pairs x 16 columns of a panel.
#include "codegen/cpu/ProductBlock.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/cpu/DotUnits.h"

#include "llvm/IR/IntrinsicsX86.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {
/// k of a tile of bf16.
constexpr int64_t tileDepth = tileBytes / 2;
/// The configuration's fields (Intel's manual, LDTILECFG): palette, bytes of a row of each tile,
/// rows of each.
constexpr int64_t configBytes = 64, bytesAt = 16, rowsAt = 48;
} // namespace

TileProduct::TileProduct(LibraryKernel &kernel, int64_t mostRows)
    : l(kernel), b(kernel.b), whole(kernel.reserveScratch(configBytes)),
      part(kernel.reserveScratch(configBytes)), tail(kernel.reserveScratch(mostRows * tileBytes)) {
  llvm::Constant *zero = llvm::Constant::getNullValue(lanesOf(b.i64(), 8));
  for (Value *config : {whole, part}) {
    b.CreateAlignedStore(zero, config, llvm::Align(64));
    b.CreateStore(b.getInt8(1), config);
    Value *widths = b.CreateConstInBoundsGEP1_64(b.i8(), config, bytesAt);
    b.CreateAlignedStore(splatTo(b, b.getInt16(tileBytes), 8), widths, llvm::Align(16));
  }
  configure(whole, b.getInt64(tileRows), b.getInt64(tileRows));
}

/// Tiles of sums and of A have as many rows as there are, so that nothing beyond is read.
void TileProduct::configure(Value *at, Value *firstRows, Value *secondRows) {
  // One byte per tile: sums 0 and 1, sums 2 and 3, A's two, B's two.
  Value *first = b.CreateMul(firstRows, b.getInt64(0x0000000100000101));
  Value *second = b.CreateMul(secondRows, b.getInt64(0x0000010001010000));
  Value *rows = b.CreateAdd(b.CreateAdd(first, second), b.getInt64(0x1010000000000000));
  b.CreateAlignedStore(rows, b.CreateConstInBoundsGEP1_64(b.i8(), at, rowsAt), llvm::Align(16));
  b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, llvm::ArrayRef(at));
}

void TileProduct::release() {
  b.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, llvm::ArrayRef<Value *>());
}

/// The last k of A's rows, fewer than a tile has, with zeros behind them.
void TileProduct::copyTail(const ProductBlock &block) {
  Value *left = b.CreateAnd(block.count, b.getInt64(tileDepth - 1));
  Value *from = b.CreateSub(block.count, left);
  emitLoop(b, b.getInt64(0), block.rows, 1, false, [&](Value *row) {
    Value *source = l.elementAt(block.a, b.CreateAdd(b.CreateMul(row, block.lda), from));
    LaneValue pointer = LaneValue::ramp(source, b.getInt64(2));
    LaneValue loaded = l.memory.load(l.element, pointer, LaneValue::prefix(left), {}, tileDepth);
    Value *target = b.CreateGEP(b.i8(), tail, b.CreateMul(row, b.getInt64(tileBytes)));
    b.CreateAlignedStore(toVector(b, loaded, tileDepth), target, llvm::Align(64));
  });
}

void TileProduct::emitBlock(const ProductBlock &block, const ProductSums &sums) {
  constexpr int64_t step = 2 * tileRows;
  Value *hasTail =
      b.CreateICmpNE(b.CreateAnd(block.count, b.getInt64(tileDepth - 1)), b.getInt64(0));
  emitWhen(b, hasTail, [&] { copyTail(block); });
  Value *limit = l.smaller(block.columns, b.getInt64(package::productColumns));
  emitLoop(b, b.getInt64(0), limit, step, true, [&](Value *column) {
    emitLoop(b, b.getInt64(0), block.rows, step, false, [&](Value *row) {
      Value *rows = l.smaller(b.CreateSub(block.rows, row), b.getInt64(step));
      Value *isPart = b.CreateICmpNE(b.CreateAnd(rows, b.getInt64(tileRows - 1)), b.getInt64(0));
      Value *isHigh = b.CreateICmpSGT(rows, b.getInt64(tileRows));
      emitWhen(b, isPart, [&] {
        Value *full = b.getInt64(tileRows);
        Value *second = b.CreateSelect(isHigh, b.CreateSub(rows, full), full);
        configure(part, l.smaller(rows, full), second);
      });
      emitBranches(b, isHigh,
                   [&](unsigned side) { emitSquare(block, sums, row, column, side == 0 ? 2 : 1); });
      emitWhen(b, isPart, [&] {
        b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, llvm::ArrayRef(whole));
      });
    });
  });
}

/// `high` x 2 tiles of sums.
void TileProduct::emitSquare(const ProductBlock &block, const ProductSums &sums, Value *row,
                             Value *column, unsigned high) {
  Value *sumStride = b.getInt64(sums.columns * 4);
  auto tile = [&](unsigned number) { return b.getInt8(number); };
  auto forSums = [&](llvm::function_ref<void(unsigned, Value *)> body) {
    for (unsigned i = 0; i < high; ++i)
      for (unsigned j = 0; j < 2; ++j)
        body(2 * i + j, sums.at(b.CreateAdd(row, b.getInt64(i * tileRows)),
                                b.CreateAdd(column, b.getInt64(j * tileRows))));
  };
  auto clear = [&] {
    forSums([&](unsigned number, Value *) {
      b.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {tile(number)});
    });
  };
  auto load = [&] {
    forSums([&](unsigned number, Value *at) {
      b.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {}, {tile(number), at, sumStride});
    });
  };
  emitBranches(b, block.first, [&](unsigned side) { side == 0 ? clear() : load(); });

  llvm::SmallVector<Value *, 2> left, right, rest;
  for (unsigned i = 0; i < high; ++i) {
    Value *at = b.CreateAdd(row, b.getInt64(i * tileRows));
    left.push_back(l.elementAt(block.a, b.CreateMul(at, block.lda)));
    rest.push_back(b.CreateGEP(b.i8(), tail, b.CreateMul(at, b.getInt64(tileBytes))));
  }
  for (unsigned j = 0; j < 2; ++j) {
    Value *panel =
        b.CreateAdd(b.CreateLShr(column, llvm::Log2_64(package::productPanel)), b.getInt64(j));
    right.push_back(l.elementAt(block.panels, b.CreateMul(panel, block.panelStride)));
  }
  Value *leftStride = b.CreateMul(block.lda, b.getInt64(2));
  auto rightAt = [&](Value *k) {
    llvm::SmallVector<Value *, 2> at;
    for (Value *panel : right)
      at.push_back(l.elementAt(panel, b.CreateMul(k, b.getInt64(block.depthStride))));
    return at;
  };
  // A row of a tile of B is a group of terms of 16 columns.
  Value *rightStride = b.getInt64(block.depthStride * 4);
  Value *inTail = b.CreateAnd(block.count, b.getInt64(tileDepth - 1));
  Value *steps = b.CreateSub(block.count, inTail);
  emitLoop(b, b.getInt64(0), steps, tileDepth, false, [&](Value *k) {
    llvm::SmallVector<Value *, 2> at;
    for (Value *base : left)
      at.push_back(l.elementAt(base, k));
    emitStep(at, leftStride, rightAt(k), rightStride);
  });
  emitWhen(b, b.CreateICmpNE(inTail, b.getInt64(0)),
           [&] { emitStep(rest, b.getInt64(tileBytes), rightAt(steps), rightStride); });
  forSums([&](unsigned number, Value *at) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {}, {tile(number), at, sumStride});
  });
}

void TileProduct::emitStep(llvm::ArrayRef<Value *> left, Value *leftStride,
                           llvm::ArrayRef<Value *> right, Value *rightStride) {
  auto load = [&](unsigned number, Value *at, Value *stride) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {}, {b.getInt8(number), at, stride});
  };
  for (unsigned j = 0; j < right.size(); ++j)
    load(rightTile + j, right[j], rightStride);
  for (unsigned i = 0; i < left.size(); ++i) {
    load(leftTile + i, left[i], leftStride);
    for (unsigned j = 0; j < right.size(); ++j)
      b.CreateIntrinsic(llvm::Intrinsic::x86_tdpbf16ps, {},
                        {b.getInt8(2 * i + j), b.getInt8(leftTile + i), b.getInt8(rightTile + j)});
  }
}

} // namespace pellucid::codegen
