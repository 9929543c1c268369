// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/StreamedProduct.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"

#include "llvm/IR/IntrinsicsX86.h"

#include <numeric>

namespace pellucid::codegen {

using llvm::Value;

namespace {

class Streamer {
public:
  Streamer(LibraryKernel &kernel, const StreamedProduct &product, const ProductSums &sums)
      : l(kernel), b(kernel.b), p(product), sums(sums), group(package::packedGroup(kernel.type)) {
    lanes = 512 / l.sum->getPrimitiveSizeInBits();
    type = lanesOf(l.sum, lanes);
  }

  void emit() {
    Value *limit = l.smaller(p.right.columns, b.getInt64(package::productColumns));
    int64_t below = 0;
    for (int64_t height : {1, 2, 4}) {
      Value *fits = b.CreateAnd(b.CreateICmpSGT(p.rows, b.getInt64(below)),
                                b.CreateICmpSLE(p.rows, b.getInt64(height)));
      // Sixteen sums of a register each, where there are as many registers.
      int64_t width = hasAvx512(l.level) ? (height == 4 ? 4 : 8) : 4 / height;
      auto columns = [&](int64_t width, int64_t chains) {
        emitLoop(b, b.getInt64(0), limit, width, true,
                 [&](Value *column) { emitColumns(column, limit, height, width, chains); });
      };
      emitWhen(b, fits, [&] {
        if (height > 1)
          return columns(width, 1);
        // One column has several sums: each addition to one alone would wait for the one before.
        emitBranches(b, b.CreateICmpEQ(limit, b.getInt64(1)), [&](unsigned side) {
          side == 0 ? columns(1, chainsOfOne) : columns(width, 1);
        });
      });
      below = height;
    }
  }

private:
  /// The same on every level, as the order of a sum is.
  static constexpr int64_t chainsOfOne = 4;

  /// Rows and columns beyond the last are that one again. Each sum is that of `chains` registers,
  /// which take vectors of terms by turns.
  void emitColumns(Value *column, Value *limit, int64_t height, int64_t width, int64_t chains) {
    left.clear(), right.clear(), registers.clear();
    int64_t sumsOfChain = height * width;
    Value *lastRow = b.CreateSub(p.rows, b.getInt64(1)),
          *lastColumn = b.CreateSub(limit, b.getInt64(1));
    llvm::SmallVector<Value *> rows;
    for (int64_t r = 0; r < height; ++r) {
      rows.push_back(l.smaller(b.getInt64(r), lastRow));
      left.push_back(l.elementAt(p.a, b.CreateMul(rows.back(), p.lda)));
    }
    for (int64_t v = 0; v < width; ++v) {
      Value *at = l.smaller(b.CreateAdd(column, b.getInt64(v)), lastColumn);
      right.push_back(l.elementAt(p.right.base, b.CreateMul(at, p.right.strideN)));
    }
    for (int64_t i = 0; i < sumsOfChain * chains; ++i) {
      registers.push_back(emitVariable(b, type));
      b.CreateStore(llvm::Constant::getNullValue(type), registers.back());
    }
    int64_t step = lanes * group;
    Value *whole = b.CreateAnd(p.right.depth, b.getInt64(-step)), *begin = b.getInt64(0);
    LaneValue all = LaneValue::uniform(b.getTrue());
    if (chains > 1) {
      Value *even = b.CreateAnd(p.right.depth, b.getInt64(-step * chains));
      emitLoop(b, begin, even, step * chains, false, [&](Value *k) {
        for (int64_t c = 0; c < chains; ++c)
          multiply(b.CreateAdd(k, b.getInt64(c * step)), all, c * sumsOfChain);
      });
      begin = even;
    }
    emitLoop(b, begin, whole, step, false, [&](Value *k) { multiply(k, all, 0); });
    emitWhen(b, b.CreateICmpSLT(whole, p.right.depth),
             [&] { multiply(whole, LaneValue::prefix(b.CreateSub(p.right.depth, whole)), 0); });
    auto sumOfChains = [&](int64_t i) {
      llvm::SmallVector<Value *> parts;
      for (int64_t c = 0; c < chains; ++c)
        parts.push_back(b.CreateLoad(type, registers[c * sumsOfChain + i]));
      for (; parts.size() > 1; parts.truncate(parts.size() / 2))
        for (size_t c = 0; c < parts.size() / 2; ++c)
          parts[c] = b.CreateFAdd(parts[c], parts[c + parts.size() / 2]);
      return sumOf(parts[0]);
    };
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < width; ++v)
        b.CreateAlignedStore(sumOfChains(r * width + v),
                             sums.at(rows[r], b.CreateAdd(column, b.getInt64(v))),
                             llvm::Align(l.sum->getPrimitiveSizeInBits() / 8));
  }

  /// Adds to the sums from the register `first` on.
  void multiply(Value *k, const LaneValue &mask, int64_t first) {
    llvm::SmallVector<Value *> rows;
    for (Value *row : left)
      rows.push_back(load(row, k, mask));
    for (size_t v = 0; v < right.size(); ++v) {
      Value *column = load(right[v], k, mask);
      for (size_t r = 0; r < rows.size(); ++r) {
        llvm::AllocaInst *held = registers[size_t(first) + r * right.size() + v];
        b.CreateStore(product(rows[r], column, b.CreateLoad(type, held)), held);
      }
    }
  }

  Value *load(Value *base, Value *k, const LaneValue &mask) {
    LaneValue pointer = LaneValue::ramp(l.elementAt(base, k), b.getInt64(l.elementBytes()));
    return toVector(b, l.memory.load(l.element, pointer, mask, {}, lanes * group), lanes * group);
  }

  Value *product(Value *row, Value *column, Value *sum) {
    auto fma = [&](Value *x, Value *y, Value *z) {
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, z});
    };
    if (group == 1)
      return fma(widenFloat(b, row, l.element), widenFloat(b, column, l.element), sum);
    if (hasPairProducts(l.level)) {
      llvm::Type *pairs = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes);
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                               {sum, b.CreateBitCast(row, pairs), b.CreateBitCast(column, pairs)});
    }
    llvm::Type *units = lanesOf(b.i32(), lanes);
    Value *x = b.CreateBitCast(row, units), *y = b.CreateBitCast(column, units);
    return fma(highOf(x), highOf(y), fma(lowOf(x), lowOf(y), sum));
  }
  /// The f32 of the first bf16 of each pair, and of the second.
  Value *lowOf(Value *pairs) {
    return b.CreateBitCast(b.CreateShl(pairs, integerLike(pairs, 16)), type);
  }
  Value *highOf(Value *pairs) {
    return b.CreateBitCast(b.CreateAnd(pairs, integerLike(pairs, -0x10000)), type);
  }

  Value *sumOf(Value *value) {
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      llvm::SmallVector<int> low(half), high(half);
      std::iota(low.begin(), low.end(), 0);
      std::iota(high.begin(), high.end(), int(half));
      value = b.CreateFAdd(b.CreateShuffleVector(value, low), b.CreateShuffleVector(value, high));
    }
    return b.CreateExtractElement(value, uint64_t(0));
  }

  LibraryKernel &l;
  CodeBuilder &b;
  const StreamedProduct &p;
  const ProductSums &sums;
  int64_t group, lanes;
  llvm::Type *type;
  llvm::SmallVector<llvm::AllocaInst *> registers;
  llvm::SmallVector<Value *> left, right; ///< addresses: of rows of A, of columns of B
};

} // namespace

void emitStreamedProduct(LibraryKernel &kernel, const StreamedProduct &product,
                         const ProductSums &sums) {
  Streamer(kernel, product, sums).emit();
}

} // namespace pellucid::codegen
