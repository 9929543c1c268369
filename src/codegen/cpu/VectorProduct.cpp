// SPDX-License-Identifier: Apache-2.0
// A register tile of rows x vectors of columns runs over the inner dimension in ascending order.
#include "codegen/cpu/ProductBlock.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <array>

namespace pellucid::codegen {

using llvm::Value;

namespace {

class VectorBlock {
public:
  VectorBlock(LibraryKernel &kernel, const ProductBlock &block, const ProductSums &sums)
      : l(kernel), b(kernel.b), block(block), sums(sums),
        group(block.isWide ? 1 : package::packedGroup(kernel.type)) {
    bool wide = hasAvx512(l.level);
    lanes = (wide ? 512 : 256) / l.sum->getPrimitiveSizeInBits();
    type = lanesOf(l.sum, lanes);
    take(2);
  }

  void emit() {
    Value *limit = l.smaller(block.columns, b.getInt64(sums.columns));
    if (block.narrow)
      return emitNarrow(limit);
    emitLoop(b, b.getInt64(0), limit, vectors * lanes, true,
             [&](Value *column) { emitRows(column); });
  }

private:
  /// Blocks of other heights take the next of these and compute their last row again.
  static constexpr int64_t heights[] = {1, 2, 4, 6, 8, 12};

  /// Two vectors of many rows ask least of the second-level cache, and a block of B for them fits
  /// the first. One alone waits for loads, so of an odd number three come last, of fewer rows.
  void take(int64_t count) {
    bool wide = hasAvx512(l.level);
    vectors = count;
    rowsAtOnce = count == 3 ? (wide ? 8 : 4) : (wide ? 12 : 6);
  }

  void emitNarrow(Value *limit) {
    constexpr int64_t most = 3;
    std::array<llvm::Function *, most> functions;
    for (int64_t width = 1; width <= most; ++width) {
      take(width);
      functions[width - 1] = functionOfRows();
    }
    llvm::AllocaInst *at = emitVariable(b, b.i64());
    b.CreateStore(b.getInt64(0), at);
    TestedLoop loop = TestedLoop::begin(b);
    Value *column = b.CreateLoad(b.i64(), at), *left = b.CreateSub(limit, column);
    loop.enterBody(b.CreateICmpSGT(left, b.getInt64(0)));
    Value *count = b.CreateUDiv(b.CreateAdd(left, b.getInt64(lanes - 1)), b.getInt64(lanes));
    Value *width = b.CreateSelect(b.CreateICmpEQ(count, b.getInt64(most)), b.getInt64(most),
                                  l.smaller(count, b.getInt64(2)));
    for (int64_t chosen = 1; chosen <= most; ++chosen)
      emitWhen(b, b.CreateICmpEQ(width, b.getInt64(chosen)), [&] {
        llvm::SmallVector<Value *> values = {block.a,      block.lda,         block.rows,
                                             block.panels, block.panelStride, block.count,
                                             block.first,  sums.base,         column};
        for (Value *value : {block.offsets, block.termStride})
          if (value)
            values.push_back(value);
        if (block.finish) {
          values.push_back(block.finish->finished);
          values.append(block.finish->given);
        }
        b.CreateCall(functions[chosen - 1], values);
      });
    b.CreateStore(b.CreateAdd(column, b.CreateMul(width, b.getInt64(lanes))), at);
    loop.end();
  }

  /// Of `vectors` vectors. A function of its own: in one with several, the loops' sums were kept in
  /// memory by turns.
  llvm::Function *functionOfRows() {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    llvm::Type *pointer = b.getPtrTy(), *size = b.i64();
    llvm::SmallVector<llvm::Type *> types = {pointer, size,          size,    pointer, size,
                                             size,    b.getInt1Ty(), pointer, size};
    if (block.offsets)
      types.push_back(pointer);
    if (block.termStride)
      types.push_back(size);
    if (block.finish) {
      types.push_back(b.getInt1Ty());
      for (Value *value : block.finish->given)
        types.push_back(value->getType());
    }
    auto *signature = llvm::FunctionType::get(b.getVoidTy(), types, false);
    auto *function = llvm::Function::Create(signature, llvm::Function::InternalLinkage,
                                            l.entry->getName() + ".rows" + std::to_string(vectors),
                                            l.entry->getParent());
    function->addFnAttr(llvm::Attribute::NoInline);
    auto *first = llvm::BasicBlock::Create(b.getContext(), "entry", function);
    auto *start = llvm::BasicBlock::Create(b.getContext(), "start", function);
    b.SetInsertPoint(first);
    b.CreateBr(start);
    b.SetInsertPoint(start);
    auto given = [&](unsigned i) { return function->getArg(i); };
    ProductBlock inner = block;
    inner.a = given(0), inner.lda = given(1), inner.rows = given(2), inner.panels = given(3);
    inner.panelStride = given(4), inner.count = given(5), inner.first = given(6);
    unsigned next = 9;
    if (block.offsets)
      inner.offsets = given(next++);
    if (block.termStride)
      inner.termStride = given(next++);
    ProductBlock::Finish finish;
    if (block.finish) {
      finish = *block.finish;
      finish.finished = given(next++);
      for (Value *&value : finish.given)
        value = given(next++);
      inner.finish = &finish;
    }
    ProductSums own(l, sums, given(7));
    VectorBlock part(l, inner, own);
    part.take(vectors);
    part.emitRows(given(8));
    b.CreateRetVoid();
    return function;
  }

  void emitRows(Value *column) {
    emitLoop(b, b.getInt64(0), block.rows, rowsAtOnce, false, [&](Value *row) {
      Value *count = l.smaller(b.CreateSub(block.rows, row), b.getInt64(rowsAtOnce));
      int64_t below = 0;
      for (int64_t height : heights) {
        if (height > rowsAtOnce)
          break;
        Value *fits = b.CreateAnd(b.CreateICmpSGT(count, b.getInt64(below)),
                                  b.CreateICmpSLE(count, b.getInt64(height)));
        emitWhen(b, fits, [&] { emitRegisters(row, count, column, height); });
        below = height;
      }
    });
  }

  Value *elementAt(Value *base, Value *index) {
    return block.isWide ? b.CreateGEP(l.sum, base, index) : l.elementAt(base, index);
  }

  /// Where the vector `v` of the columns from `column` on begins in the panels.
  Value *panelAt(Value *column, int64_t v) {
    Value *at = b.CreateAdd(column, b.getInt64(v * lanes));
    Value *inside = b.CreateAnd(at, b.getInt64(package::productPanel - 1));
    Value *panel = b.CreateLShr(at, llvm::Log2_64(package::productPanel));
    Value *index =
        b.CreateAdd(b.CreateMul(panel, block.panelStride), b.CreateMul(inside, b.getInt64(group)));
    return elementAt(block.panels, index);
  }

  /// Sums `height` rows, of which `count` are wanted, in registers.
  void emitRegisters(Value *row, Value *count, Value *column, int64_t height) {
    registers.clear(), left.clear(), right.clear();
    Value *lastRow = b.CreateSub(count, b.getInt64(1));
    llvm::SmallVector<Value *> rows;
    for (int64_t r = 0; r < height; ++r) {
      rows.push_back(b.CreateAdd(row, l.smaller(b.getInt64(r), lastRow)));
      left.push_back(elementAt(block.a, b.CreateMul(rows.back(), block.lda)));
    }
    auto sumAt = [&](int64_t r, int64_t v) {
      return sums.at(rows[r], b.CreateAdd(column, b.getInt64(v * lanes)));
    };
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        registers.push_back(emitVariable(b, type));
        b.CreateStore(begin(sumAt(r, v)), registers.back());
      }
    for (int64_t v = 0; v < vectors; ++v)
      right.push_back(panelAt(column, v));
    emitLoop(b, b.getInt64(0), b.CreateUDiv(block.count, b.getInt64(group)), 1, false,
             [&](Value *inner) { emitStep(inner, false); });
    if (group == 2) {
      Value *odd = b.CreateTrunc(block.count, b.getInt1Ty());
      emitWhen(b, odd, [&] { emitStep(b.CreateLShr(block.count, 1), true); });
    }
    auto forSums = [&](llvm::function_ref<void(llvm::AllocaInst *, Value *)> body) {
      for (int64_t r = 0; r < height; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          body(registers[r * vectors + v], sumAt(r, v));
    };
    if (sumsBlocks())
      emitWhen(b, b.CreateNot(block.first), [&] {
        forSums([&](llvm::AllocaInst *held, Value *address) {
          Value *before = b.CreateAlignedLoad(type, address, align());
          b.CreateStore(b.CreateFAdd(before, b.CreateLoad(type, held)), held);
        });
      });
    auto store = [&] {
      forSums([&](llvm::AllocaInst *held, Value *address) {
        b.CreateAlignedStore(b.CreateLoad(type, held), address, align());
      });
    };
    if (!block.finish)
      return store();
    emitBranches(b, block.finish->finished,
                 [&](unsigned side) { side == 0 ? finish(rows, column) : store(); });
  }

  /// A row that is there twice must not be read between its stores.
  void finish(llvm::ArrayRef<Value *> rows, Value *column) {
    auto columnOf = [&](int64_t v) { return b.CreateAdd(column, b.getInt64(v * lanes)); };
    for (size_t r = 0; r < rows.size(); ++r)
      for (int64_t v = 0; v < vectors; ++v)
        update(r, v, [&](Value *sum) {
          return block.finish->added(block.finish->given, rows[r], columnOf(v), sum);
        });
    for (size_t r = 0; r < rows.size(); ++r)
      for (int64_t v = 0; v < vectors; ++v)
        block.finish->store(block.finish->given, rows[r], columnOf(v),
                            b.CreateLoad(type, registers[r * vectors + v]));
  }

  llvm::Align align() const { return llvm::Align(l.sum->getPrimitiveSizeInBits() / 8); }

  /// A long sum of f32 in one register loses bits that the result has: each block is summed by
  /// itself. The results of 16-bit types have not so many.
  bool sumsBlocks() const { return l.type == DataType::Float32; }

  /// Of the block's sum: the sum so far at `address`, or zero.
  Value *begin(Value *address) {
    Value *zero = llvm::Constant::getNullValue(type);
    if (sumsBlocks())
      return zero;
    Value *goesOn = splatTo(b, b.CreateNot(block.first), lanes);
    return b.CreateMaskedLoad(type, address, align(), goesOn, zero);
  }

  /// Where the columns of a group of terms begin behind the vector's panel.
  Value *termAt(Value *inner) {
    if (block.offsets)
      return b.CreateAlignedLoad(b.i64(), b.CreateGEP(b.i64(), block.offsets, inner),
                                 llvm::Align(8));
    return b.CreateMul(inner,
                       block.termStride ? block.termStride : b.getInt64(block.depthStride * group));
  }

  void emitStep(Value *inner, bool half) {
    Value *inPanel = termAt(inner);
    Value *inRow = b.CreateMul(inner, b.getInt64(group));
    llvm::SmallVector<Value *> from;
    for (Value *address : right)
      from.push_back(elementAt(address, inPanel));
    auto rowAt = [&](size_t r) { return elementAt(left[r], inRow); };
    if (group == 1)
      return multiply([&](size_t v) { return loadVector(from[v]); },
                      [&](size_t r) { return loadScalar(rowAt(r)); });
    if (hasPairProducts(l.level))
      return multiplyPairs(from, [&](size_t r) { return loadPair(rowAt(r), half); });
    multiply([&](size_t v) { return lowOf(loadPairs(from[v])); },
             [&](size_t r) { return lowOf(splatTo(b, loadPair(rowAt(r), half), lanes)); });
    if (half)
      return;
    // Pairs are loaded again, with the instruction that takes them apart: held, they would take the
    // place of sums.
    b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false), "",
                                      "~{memory}", /*hasSideEffects=*/true));
    multiply([&](size_t v) { return highOf(loadPairs(from[v])); },
             [&](size_t r) { return highOf(splatTo(b, loadPair(rowAt(r), false), lanes)); });
  }

  void multiply(llvm::function_ref<Value *(size_t)> rightOf,
                llvm::function_ref<Value *(size_t)> leftOf) {
    llvm::SmallVector<Value *> values;
    for (int64_t v = 0; v < vectors; ++v)
      values.push_back(rightOf(v));
    for (size_t r = 0; r < left.size(); ++r) {
      Value *scalar = leftOf(r);
      for (int64_t v = 0; v < vectors; ++v)
        update(r, v, [&](Value *sum) {
          return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {scalar, values[v], sum});
        });
    }
  }

  void multiplyPairs(llvm::ArrayRef<Value *> from, llvm::function_ref<Value *(size_t)> leftOf) {
    llvm::Type *pairs = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes);
    llvm::SmallVector<Value *> values;
    for (Value *address : from)
      values.push_back(b.CreateAlignedLoad(pairs, address, llvm::Align(2)));
    for (size_t r = 0; r < left.size(); ++r) {
      Value *pair = b.CreateBitCast(splatTo(b, leftOf(r), lanes), pairs);
      for (int64_t v = 0; v < vectors; ++v)
        update(r, v, [&](Value *sum) {
          return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                                   {sum, pair, values[v]});
        });
    }
  }

  void update(size_t r, int64_t v, llvm::function_ref<Value *(Value *)> next) {
    llvm::AllocaInst *held = registers[r * vectors + v];
    b.CreateStore(next(b.CreateLoad(type, held)), held);
  }

  Value *loadVector(Value *address) {
    if (block.isWide)
      return b.CreateAlignedLoad(type, address, align());
    llvm::Align held(l.elementBytes());
    return widenFloat(b, b.CreateAlignedLoad(lanesOf(l.held, lanes), address, held), l.element);
  }
  Value *loadScalar(Value *address) {
    if (block.isWide)
      return splatTo(b, b.CreateAlignedLoad(l.sum, address, align()), lanes);
    Value *loaded = b.CreateAlignedLoad(l.held, address, llvm::Align(l.elementBytes()));
    return widenFloat(b, splatTo(b, loaded, lanes), l.element);
  }
  /// Two neighbours of a row as an i32, or its last element and zero.
  Value *loadPair(Value *address, bool half) {
    llvm::Type *held = half ? l.held : b.i32();
    return b.CreateZExt(b.CreateAlignedLoad(held, address, llvm::Align(2)), b.i32());
  }
  Value *loadPairs(Value *address) {
    return b.CreateAlignedLoad(lanesOf(b.i32(), lanes), address, llvm::Align(2));
  }
  /// The f32 of the first bf16 of each pair, and of the second.
  Value *lowOf(Value *pairs) {
    return b.CreateBitCast(b.CreateShl(pairs, integerLike(pairs, 16)), type);
  }
  Value *highOf(Value *pairs) {
    return b.CreateBitCast(b.CreateAnd(pairs, integerLike(pairs, -0x10000)), type);
  }

  LibraryKernel &l;
  CodeBuilder &b;
  const ProductBlock &block;
  const ProductSums &sums;
  int64_t group, lanes;
  int64_t vectors, rowsAtOnce; ///< what is held in registers
  llvm::Type *type;
  llvm::SmallVector<llvm::AllocaInst *> registers;
  llvm::SmallVector<Value *> left, right; ///< addresses: of rows of A, of vectors of the panels
};

} // namespace

Value *roundedSums(LibraryKernel &kernel, Value *sums) {
  CodeBuilder &b = kernel.b;
  if (!hasProductUnits(kernel.level, kernel.type) || laneCount(sums) != 16)
    return narrowFloat(b, sums, kernel.element);
  Value *rounded = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {sums});
  return b.CreateBitCast(rounded, lanesOf(b.getInt16Ty(), 16));
}

void emitVectorBlock(LibraryKernel &kernel, const ProductBlock &block, const ProductSums &sums) {
  VectorBlock(kernel, block, sums).emit();
}

} // namespace pellucid::codegen
