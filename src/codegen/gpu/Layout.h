// SPDX-License-Identifier: Apache-2.0
// Where the elements of a tile live on the device.
//
// A layout is linear over bits: each bit of a register number, of a lane (0..31) and of a warp
// number stands for a point, and the element that a register of a thread holds is the xor of the
// points of the bits that are set. Example, a row of 1024 f32 on 4 warps:
//   registers (1) (2) (512)   lanes (4) (8) (16) (32) (64)   warps (128) (256)
// gives every thread four neighbours, twice. A bit that stands for zero repeats elements.
//
// Because shape operations move bits, each of them maps a layout of its result to one of its source
// without data moving; everything else goes through a conversion.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pellucid::codegen {

class Layout {
public:
  using Point = llvm::SmallVector<int32_t, 4>;
  using Bits = std::vector<Point>;
  static constexpr unsigned laneBits = 5;

  /// Vectors of `perThread` elements along `order[0]`, the lanes of a warp and then the warps side
  /// by side along `order`, repeated by registers until the tile is covered. All extents and counts
  /// are powers of two.
  static Layout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                        int64_t perThread, unsigned warps);

  /// A tile whose dims are all two, as bitonic sorting sees it: the inner dims, along which
  /// elements are exchanged most, by registers, then lanes, then warps.
  static bool isCube(llvm::ArrayRef<int64_t> shape);
  static Layout cube(llvm::ArrayRef<int64_t> shape, unsigned warps);

  /// A tile of one dim, a piece of it to each warp, which takes it by neighbouring lanes, one
  /// register after another.
  static Layout pieces(llvm::ArrayRef<int64_t> shape, unsigned warps);

  /// The sums of mma.sync.m16n8: each instruction's four registers come first; warps and then
  /// registers repeat its 16x8 elements, along the longer side first.
  static Layout product(llvm::ArrayRef<int64_t> shape, unsigned warps);

  /// The sums of wgmma.m64nN: the first two warp bits are a warpgroup's rows of 16; warpgroups lie
  /// side by side along the rows and then the columns. Registers run along the columns first.
  static Layout warpgroupProduct(llvm::ArrayRef<int64_t> shape, unsigned warps);

  /// The sums of multiply-adds by lanes: a warp has 4 rows by 8 columns, a thread about as many of
  /// either. Along a dim whose operand lies along it in memory, `rowsLie` or `columnsLie`, four
  /// neighbours come first; else neighbours are in different lanes.
  static Layout laneProduct(llvm::ArrayRef<int64_t> shape, unsigned warps, bool rowsLie,
                            bool columnsLie);

  /// The left operand of a product by warpgroups in registers: rows as in the sums `product`, and
  /// along the columns as many as it has.
  static Layout warpgroupLeft(llvm::ArrayRef<int64_t> shape, const Layout &product);

  llvm::SmallVector<int64_t, 4> shape;
  Bits registers, lanes, warps;

  unsigned rank() const { return shape.size(); }
  unsigned registerCount() const { return 1u << registers.size(); }
  Point zero() const { return Point(shape.size(), 0); }
  /// The element of register `index` in the thread whose other bits are all zero.
  Point registerPoint(unsigned index) const;
  Point pointOf(unsigned registerIndex, unsigned lane, unsigned warp) const;

  /// Layouts of the source of a shape operation whose result has this one.
  Layout throughExpandDims(unsigned axis) const;
  Layout throughBroadcast(llvm::ArrayRef<int64_t> source) const;
  Layout throughTranspose(llvm::ArrayRef<int32_t> order) const;
  Layout throughReshape(llvm::ArrayRef<int64_t> source) const;
  /// With a last dim of two that the highest register bit runs over.
  Layout throughSplit() const;

  /// What is left of the layout when `axis` has been combined away; register bits along it go.
  Layout reducedAlong(unsigned axis) const;
  /// Without register bits that only repeat elements.
  Layout withoutRepeats() const;
  /// Register i of `this` holds what register result[i] of `source` does, in every thread; empty
  /// when data must move between threads.
  std::vector<unsigned> registersIn(const Layout &source) const;
  /// How many consecutive elements along `dim` consecutive registers hold, from a multiple of it
  /// on.
  unsigned contiguousAlong(unsigned dim) const;

  bool operator==(const Layout &) const = default;
  /// "registers (1) (2) lanes (4) …"
  std::string text() const;

private:
  template <typename Map> Layout mapped(llvm::ArrayRef<int64_t> newShape, Map map) const;
};

bool isZero(const Layout::Point &point);

/// A bit of a register, lane or warp number that moves along one dim by a power of two.
struct AxisBit {
  enum class Of : uint8_t { Register, Lane, Warp } of;
  unsigned index;
  int32_t stride;
};
/// The bits that run along `axis`, least first; none where one of them moves along another dim as
/// well, or they do not make up the extent.
std::vector<AxisBit> bitsAlong(const Layout &layout, unsigned axis);

} // namespace pellucid::codegen
