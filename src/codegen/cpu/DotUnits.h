// SPDX-License-Identifier: Apache-2.0
// tl.dot of bf16 and int8 with the instructions that levels beyond x86-64-v4 have for them. Free
// functions over dense tiles in scratch memory.
#pragma once

#include "codegen/common/CodeBuilder.h"
#include "support/Target.h"
#include "tt/TtOps.h"

namespace pellucid::codegen {

inline mlir::RankedTensorType tileType(mlir::Value tile) {
  return mlir::cast<mlir::RankedTensorType>(tile.getType());
}

enum class DotForm : uint8_t {
  MultiplyAdd, ///< operands in the type of the sums
  Groups,      ///< vdpbf16ps, vpdpbusd: pairs of bf16, quads of int8
  Tiles,       ///< tdpbf16ps, tdpbssd
};
DotForm dotFormOf(tt::DotOp op, CpuLevel level);

/// Elements of `from` as operands of a product have them, `to`.
llvm::Value *convertOperand(CodeBuilder &b, llvm::Value *value, mlir::Type from, mlir::Type to);

/// A tile register: 16 rows of 64 bytes. 0 to 3 hold sums (2 * row + column), 4 and 5 rows of a,
/// 6 and 7 groups of b.
inline constexpr int64_t tileRows = 16, tileBytes = 64;
inline constexpr unsigned leftTile = 4, rightTile = 6;

/// d[m, n] += a[m, k] * b[k, n]. `grouped` is b as [k / group][n][group].
struct GroupedDot {
  llvm::Value *lhs, *lhsRowBytes; ///< a's rows are dense
  llvm::Value *grouped, *sums;
  int64_t m, n, k;
  bool integers;        ///< int8 and i32; else bf16 and f32
  bool isFirst = false; ///< d is not read: it begins with zeros
  int64_t group() const { return integers ? 4 : 2; }
};

/// Writes b, [k] dense rows of n at `rows`, as a GroupedDot has it.
void emitGrouping(CodeBuilder &b, llvm::Value *rows, llvm::Value *rowBytes, const GroupedDot &dot);
/// The same of b's transpose, [n] dense rows of k at `columns`; n and the groups of k are multiples
/// of turnedUnit. A group is one number of 32 bits, whatever it is made of.
inline constexpr int64_t turnedUnit = 16;
void emitTurnedGrouping(CodeBuilder &b, llvm::Value *columns, llvm::Value *columnBytes,
                        const GroupedDot &dot);
void emitGroupDot(CodeBuilder &b, const GroupedDot &dot);

/// Tile registers are configured once for all of a kernel's products.
void emitTileStart(CodeBuilder &b, llvm::Module &module);
void emitTileDot(CodeBuilder &b, const GroupedDot &dot);
void emitTileEnd(CodeBuilder &b);

} // namespace pellucid::codegen
