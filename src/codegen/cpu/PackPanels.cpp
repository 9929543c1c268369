// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/PackPanels.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/cpu/TransposeSquare.h"
#include "package/PackedMatrix.h"

namespace pellucid::codegen {

using llvm::Value;
using package::productPanel;

namespace {

class PanelPacker {
public:
  PanelPacker(LibraryKernel &kernel, const PanelSource &source)
      : l(kernel), b(kernel.b), from(source), group(package::packedGroup(kernel.type)) {
    unitBits = 8 * l.elementBytes() * group;
    unit = b.getIntNTy(unitBits);
    int64_t native = (hasAvx512(l.level) ? 512 : 256) / unitBits;
    lanes = std::min<int64_t>(productPanel, native);
  }

  void emit(Value *depth, Value *target, Value *panelStride, Value *columns) {
    // Where k is the dense dimension, squares are transposed in registers.
    Value *dense = b.CreateAnd(b.CreateICmpEQ(from.strideK, b.getInt64(1)),
                               b.CreateICmpNE(from.strideN, b.getInt64(1)));
    Value *step = b.getInt64(lanes * group);
    Value *squares = b.CreateMul(b.CreateUDiv(from.depth, step), step);
    squares = b.CreateSelect(dense, squares, b.getInt64(0));
    if (!columns)
      columns = b.getInt64(package::productColumns);
    emitLoop(b, b.getInt64(0), columns, productPanel, true, [&](Value *column) {
      left = b.CreateSub(from.columns, column);
      firstColumn = column;
      Value *index = b.CreateLShr(column, llvm::Log2_64(productPanel));
      panel = l.elementAt(target, b.CreateMul(index, panelStride));
      Value *some = b.CreateICmpSGT(left, b.getInt64(0));
      Value *begin = b.CreateSelect(some, squares, b.getInt64(0));
      emitLoop(b, b.getInt64(0), begin, lanes * group, false,
               [&](Value *k) { transposeSquares(k); });
      copyRows(begin, depth);
    });
  }

private:
  /// Where the group of terms that begins with k lies in the panel.
  Value *groupAt(Value *k) { return l.elementAt(panel, b.CreateMul(k, b.getInt64(productPanel))); }

  void transposeSquares(Value *k) {
    Value *last = b.CreateSub(left, b.getInt64(1));
    llvm::Type *type = lanesOf(unit, lanes);
    for (int64_t first = 0; first < productPanel; first += lanes) {
      llvm::SmallVector<Value *> rows;
      for (int64_t i = 0; i < lanes; ++i) {
        Value *column = b.CreateAdd(firstColumn, l.smaller(b.getInt64(first + i), last));
        Value *address = l.elementAt(from.base, b.CreateAdd(k, b.CreateMul(column, from.strideN)));
        rows.push_back(b.CreateAlignedLoad(type, address, llvm::Align(l.elementBytes())));
      }
      transposeSquare(b, rows);
      // Columns beyond the last are copies of it until here.
      Value *inside = b.CreateICmpSLT(iota(b.i64(), lanes),
                                      splatTo(b, b.CreateSub(left, b.getInt64(first)), lanes));
      for (int64_t i = 0; i < lanes; ++i) {
        Value *kept = b.CreateSelect(inside, rows[i], llvm::Constant::getNullValue(type));
        Value *index = b.getInt64(i * productPanel + first);
        b.CreateAlignedStore(kept, b.CreateGEP(unit, groupAt(k), index),
                             llvm::Align(l.elementBytes()));
      }
    }
  }

  /// Rows of the panel, one group after the other, whatever the strides.
  void copyRows(Value *begin, Value *end) {
    Value *pairs = b.CreateSub(from.depth, b.CreateURem(from.depth, b.getInt64(group)));
    Value *whole = b.CreateICmpSGE(left, b.getInt64(productPanel));
    Value *inside = b.CreateSelect(whole, pairs, begin);
    emitLoop(b, begin, inside, group, false, [&](Value *k) {
      copyGroup(k, [&](int64_t) { return LaneValue::uniform(b.getTrue()); });
    });
    emitLoop(b, inside, end, group, false, [&](Value *k) {
      copyGroup(k, [&](int64_t term) {
        Value *isThere = b.CreateICmpSLT(b.CreateAdd(k, b.getInt64(term)), from.depth);
        return LaneValue::prefix(b.CreateSelect(isThere, left, b.getInt64(0)));
      });
    });
  }

  void copyGroup(Value *k, llvm::function_ref<LaneValue(int64_t)> maskOf) {
    llvm::SmallVector<Value *> terms;
    for (int64_t term = 0; term < group; ++term) {
      Value *row = b.CreateAdd(k, b.getInt64(term));
      Value *index =
          b.CreateAdd(b.CreateMul(row, from.strideK), b.CreateMul(firstColumn, from.strideN));
      Value *stride = b.CreateMul(from.strideN, b.getInt64(l.elementBytes()));
      LaneValue pointer = LaneValue::ramp(l.elementAt(from.base, index), stride);
      LaneValue loaded = l.memory.load(l.element, pointer, maskOf(term), {}, productPanel);
      terms.push_back(toVector(b, loaded, productPanel));
    }
    Value *value = terms[0];
    if (group == 2) {
      Value *low = b.CreateZExt(terms[0], lanesOf(unit, productPanel));
      Value *high = b.CreateZExt(terms[1], low->getType());
      value = b.CreateOr(low, b.CreateShl(high, integerLike(high, unitBits / 2)));
    }
    b.CreateAlignedStore(value, groupAt(k), llvm::Align(l.elementBytes()));
  }

  LibraryKernel &l;
  CodeBuilder &b;
  PanelSource from;
  int64_t group, lanes;
  unsigned unitBits;
  llvm::Type *unit; ///< a group of terms of one column
  Value *left, *firstColumn, *panel;
};

} // namespace

void emitPackColumns(LibraryKernel &kernel, const PanelSource &source, Value *depth, Value *target,
                     Value *panelStride, Value *columns) {
  PanelPacker(kernel, source).emit(depth, target, panelStride, columns);
}

} // namespace pellucid::codegen
