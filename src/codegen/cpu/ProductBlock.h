// SPDX-License-Identifier: Apache-2.0
// The inner loops of a product: the sums of one program over a block of the inner dimension, with
// the instructions that a level has for the type.
#pragma once

#include "codegen/cpu/LibraryKernel.h"
#include "package/PackedMatrix.h"

#include <functional>

namespace pellucid::codegen {

/// One program's share, productRows x productColumns at most, and one block of k.
struct ProductBlock {
  llvm::Value *rows, *columns;       ///< of the program; at most productRows, columns may be more
  llvm::Value *a, *lda;              ///< A from the program's first row and the block's first k on
  llvm::Value *panels, *panelStride; ///< B likewise; from one panel to the next in elements
  llvm::Value *count;                ///< of k; but for the last block a multiple of depthUnit
  llvm::Value *first;                ///< an i1: the sums begin here
  int64_t depthStride = package::productPanel; ///< from one group of terms to the next, in groups
  /// Of types that are no pairs, i64s in memory, instead of depthStride: where the columns of each
  /// term begin behind `panels`, in elements.
  llvm::Value *offsets = nullptr;
  /// Of types that are no pairs, instead of depthStride: from one term to the next, in elements.
  llvm::Value *termStride = nullptr;
  bool isWide = false; ///< A and the panels hold elements as wide as sums, whatever the type is
  bool narrow = false; ///< columns beyond the last are left out by vectors, not by all there may be
  /// Where `finished` (an i1), sums do not go to memory but, once they are whole, here: of one row,
  /// from `column` on. `added` makes them the result, all of them before the first is stored. Both
  /// may be called in a function of its own: they get what stands in `given` there.
  struct Finish {
    using Values = llvm::ArrayRef<llvm::Value *>;
    llvm::Value *finished;
    llvm::SmallVector<llvm::Value *> given;
    std::function<llvm::Value *(Values given, llvm::Value *row, llvm::Value *column,
                                llvm::Value *sums)>
        added;
    std::function<void(Values given, llvm::Value *row, llvm::Value *column, llvm::Value *sums)>
        store;
  };
  const Finish *finish = nullptr;
};

/// Sums [rows][columns] in scratch memory, of LibraryKernel::sum.
class ProductSums {
public:
  explicit ProductSums(LibraryKernel &kernel, int64_t rows = package::productRows,
                       int64_t columns = package::productColumns)
      : base(kernel.reserveScratch(rows * columns * kernel.sum->getPrimitiveSizeInBits() / 8)),
        columns(columns), l(kernel) {}
  ProductSums(LibraryKernel &kernel, const ProductSums &sums, llvm::Value *base)
      : base(base), columns(sums.columns), l(kernel) {}
  llvm::Value *at(llvm::Value *row, llvm::Value *column) const {
    llvm::Value *index = l.b.CreateMul(row, l.b.getInt64(columns));
    return l.b.CreateGEP(l.sum, base, l.b.CreateAdd(index, column));
  }

  llvm::Value *base;
  int64_t columns;

private:
  LibraryKernel &l;
};

/// With vectors: multiply-adds, or pairs of bf16 where the level has them.
void emitVectorBlock(LibraryKernel &kernel, const ProductBlock &block, const ProductSums &sums);

/// With tile registers.
class TileProduct {
public:
  /// Configures the tiles; before the loop over programs. `mostRows`: of a block. Where k is no
  /// multiple of a tile's, B goes on to the next one with zeros.
  explicit TileProduct(LibraryKernel &kernel, int64_t mostRows = package::productRows);
  void emitBlock(const ProductBlock &block, const ProductSums &sums);
  /// Leaves the tiles as a caller expects them: unused.
  void release();

private:
  void configure(llvm::Value *at, llvm::Value *firstRows, llvm::Value *secondRows);
  void copyTail(const ProductBlock &block);
  void emitSquare(const ProductBlock &block, const ProductSums &sums, llvm::Value *row,
                  llvm::Value *column, unsigned high);
  void emitStep(llvm::ArrayRef<llvm::Value *> left, llvm::Value *leftStride,
                llvm::ArrayRef<llvm::Value *> right, llvm::Value *rightStride);

  LibraryKernel &l;
  CodeBuilder &b;
  llvm::Value *whole, *part, *tail; ///< scratch: two configurations, the last k of A
};

/// A vector of sums as elements, rounded once. Levels that multiply pairs of bf16 have an
/// instruction that rounds to it; like the products it takes subnormals for zero.
llvm::Value *roundedSums(LibraryKernel &kernel, llvm::Value *sums);

} // namespace pellucid::codegen
