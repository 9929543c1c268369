// SPDX-License-Identifier: Apache-2.0
// Which layout a tile gets that is not computed where it is used: loads, products, reductions,
// values that cross the border of a region. Tiles of one shape share a layout wherever they can:
// the one that the widest access of that shape is fastest in. Tiles that are spread into a larger
// one take that one's. Looks at a kernel before any tile has a layout.
#pragma once

#include "codegen/gpu/MatrixUnits.h"
#include "tt/AxisInfo.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <set>

namespace pellucid::ttgpu {

class LayoutChoice {
public:
  using Layout = codegen::Layout;

  LayoutChoice(tt::FuncOp function, TargetAttr target);

  /// The layout that tiles of `shape` have unless their use asks for another one.
  Layout anchor(llvm::ArrayRef<int64_t> shape) const;
  /// The layout that an access is fastest in.
  Layout ofAccess(mlir::Value pointers, mlir::Value data, bool loads = false) const;
  Layout ofLoad(tt::LoadOp load) const;
  /// What lies as a product does, `held`, goes to or comes from memory in this layout: where
  /// vectors are known to be aligned and whole, one in which each thread has some; where not even
  /// pairs of 16 bits are aligned, one in which lanes are neighbours.
  Layout byVectors(mlir::Value pointers, mlir::Value mask, mlir::Type data,
                   const Layout &held) const;
  Layout ofCopy(AsyncCopyOp copy) const;
  /// The layout that a reduction takes a tile in: of all elements of a tile of several dims, that
  /// of the tile.
  Layout ofReduced(mlir::Value tile) const;
  /// The layout that the users of `value` will ask for first.
  Layout wanted(mlir::Value value) const;
  /// The layout in which the tile costs least: where it is made.
  Layout asItLies(mlir::Value tile) const;
  /// How a product by warpgroups takes its left operand from registers; nullopt where the elements
  /// are in other threads.
  std::optional<Layout> ofLeftInRegisters(tt::DotOp dot) const;

private:
  /// The values on the way to the one that is asked about, and how many more may be: there are many
  /// ways.
  struct Asked {
    llvm::SmallPtrSet<void *, 16> path;
    unsigned left = 256;
  };
  void noteLoad(mlir::Value pointers, mlir::Type data) { noteAccess(pointers, data, 0); }
  /// `atOnce`: the bytes that one instruction of a thread writes at most; 0: it only reads.
  void noteAccess(mlir::Value pointers, mlir::Type data, int64_t atOnce);
  void noteProduct(tt::DotOp dot);
  void noteReshape(tt::ReshapeOp reshape);
  Layout blocked(llvm::ArrayRef<int64_t> shape) const;
  Layout alongDim(llvm::ArrayRef<int64_t> shape, unsigned dim, int64_t length) const;
  /// As what it is computed from was loaded, else as tiles of its shape.
  Layout ofComputed(mlir::Value tile) const;
  Layout ofReading(ReadSharedOp read) const;
  std::optional<unsigned> contiguousDim(mlir::Value pointers) const;
  /// Where no pointers are neighbours: the dim along which they are known to be nearest.
  static std::optional<unsigned> nearestDim(mlir::Value pointers);
  static bool isSparse(mlir::Value pointers);
  int64_t lengthAlong(mlir::Value pointers, unsigned dim, int64_t elementBytes) const;
  bool feedsMatrixUnits(mlir::Value tile, unsigned depth = 0) const;
  /// Where neighbours in memory lie across the inner dim of a product of bytes: four neighbours
  /// along that dim come into one thread as well.
  std::optional<Layout> crosswise(mlir::Value data, unsigned fastest) const;
  Layout wanted(mlir::Value value, Asked &asked) const;
  /// The same; nullopt where no user has a wish.
  std::optional<Layout> askedOf(mlir::Value value, Asked &asked) const;
  /// The layout that one of them asks for; nullopt where it takes any.
  std::optional<Layout> wishOf(mlir::OpOperand &use, Asked &asked) const;
  /// What a loop carries from a round's reading of shared memory, which any layout can have, lies
  /// as the product needs it that the next round computes from it.
  std::optional<Layout> ofCarriedOperand(mlir::Value value) const;
  mlir::Value findOperand(mlir::Value value, llvm::SmallVectorImpl<mlir::OpOperand *> &way,
                          llvm::SmallPtrSetImpl<mlir::Operation *> &seen) const;
  /// Where a value that is not computed at its use has been made.
  std::optional<Layout> ofHome(mlir::Value tile) const;

  mutable bool asksForOperand = false; ///< what is carried may be what an operand is computed from
  TargetAttr target;
  tt::AxisAnalysis axes;
  struct Blocked {
    llvm::SmallVector<unsigned> order;
    int64_t perThread;
    /// A store of more than one instruction per thread leaves gaps between lanes, and memory gets
    /// parts of its sectors.
    int64_t perStore;
  };
  std::map<std::vector<int64_t>, Blocked> anchors;
  /// Accesses of tiles of a shape: loads that take every second element or fewer, and those along
  /// neighbours.
  struct Steps {
    unsigned sparse = 0, dense = 0;
  };
  std::map<std::vector<int64_t>, Steps> steps;
  /// For shapes that no access has: those that are accessed and reshaped to them.
  std::map<std::vector<int64_t>, std::vector<int64_t>> reshaped;
  /// Shapes of tiles that are distributed by digits.
  std::set<std::vector<int64_t>> distributed;
  /// Shapes of products by matrix units: tiles of these lie as the sums do.
  std::map<std::vector<int64_t>, Layout> products;
};

/// The layout in which an operation reads the source of a result of `layout`; nullopt where it
/// reads no tile.
std::optional<codegen::Layout> layoutOfSource(mlir::Operation *op, mlir::Value operand,
                                              const codegen::Layout &layout);

/// Computed from tiles in shared memory alone, so that it is there in every layout.
bool isReadFromShared(mlir::Value value);

/// Computed where it is used, in the layout of that use.
bool isComputedAtUse(mlir::Operation *op);

/// The operand of a product by matrix units that is read where it lies in shared memory.
bool isReadInPlace(mlir::Value operand, tt::DotOp dot);

} // namespace pellucid::ttgpu
