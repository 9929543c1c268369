// SPDX-License-Identifier: Apache-2.0
// Evaluates tile expressions at a run of consecutive lanes. Shared by the back ends, which differ
// in where materialised tiles lie and in how memory is reached.
#pragma once

#include "codegen/common/IndexMap.h"
#include "codegen/common/LaneArithmetic.h"
#include "codegen/common/LaneValue.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace pellucid::codegen {

/// A tile that lies in memory, row-major and dense.
struct TileBuffer {
  llvm::Value *base = nullptr;
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> shape;
};

/// What is known of values that are not evaluated lane by lane.
class LaneEnvironment {
public:
  virtual ~LaneEnvironment() = default;
  /// The register that holds a scalar of the kernel.
  virtual llvm::Value *scalar(mlir::Value value) = 0;
  /// The memory that holds a tile; null when it is to be evaluated from its operation.
  virtual const TileBuffer *buffer(mlir::Value tile) = 0;
  /// The first element of a line of integers in memory that is known to count up by one here; null:
  /// nothing is known.
  virtual llvm::Value *firstOfRamp(mlir::Value) { return nullptr; }
  /// Reports an operation that cannot be generated, at its place. Does not return.
  [[noreturn]] virtual void refuse(mlir::Operation *op, const std::string &why) = 0;
  /// An operation of a combining or mapping function.
  virtual llvm::SmallVector<llvm::Value *, 2>
  emitInRegion(CodeBuilder &builder, mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);
};

/// How lanes reach memory.
class LaneMemory {
public:
  virtual ~LaneMemory() = default;
  /// Masked-off lanes are not touched and get `other` (zero where that is opaque).
  virtual LaneValue load(mlir::Type element, const LaneValue &pointer, const LaneValue &mask,
                         const LaneValue &other, unsigned lanes) = 0;
  virtual void store(mlir::Type element, const LaneValue &pointer, const LaneValue &value,
                     const LaneValue &mask, unsigned lanes) = 0;
};

/// A mask of a memory access, true in the lanes of a row below `count` (i64).
struct RowMask {
  mlir::Value mask;
  IndexMapId map;
  llvm::Value *count;
};

/// One run of lanes. Emits at the builder's insertion point; values are reused, so all evaluation
/// must happen where earlier evaluation dominates.
class LaneEvaluator {
public:
  /// In a row analysis `lanes` is the extent of the whole row and nothing but scalars is emitted.
  LaneEvaluator(CodeBuilder &builder, LaneEnvironment &environment, LaneMemory &memory,
                IndexMaps &maps, unsigned lanes, bool rowAnalysis = false)
      : b(builder), environment(environment), memory(memory), maps(maps), lanes(lanes),
        rowAnalysis(rowAnalysis) {}

  /// The index of each loop of the nest (i64), one of them a ramp.
  void setLoops(llvm::ArrayRef<LaneValue> indices) { loops.assign(indices.begin(), indices.end()); }

  LaneValue evaluate(mlir::Value value, IndexMapId map);
  llvm::Value *evaluateVector(mlir::Value value, IndexMapId map);
  /// Fixes what evaluate() gives for `value`.
  void assume(mlir::Value value, IndexMapId map, LaneValue lanes) { known[{value, map}] = lanes; }

  /// Only the first `count` lanes (i64) may touch memory.
  void restrictTo(llvm::Value *count) { active = count; }
  /// Lanes that `mask` selects and that may touch memory.
  LaneValue activeLanes(const LaneValue &mask);

  /// The linear position in a tile of `shape` (i64).
  LaneValue position(IndexMapId map, llvm::ArrayRef<int64_t> shape);
  LaneValue readBuffer(const TileBuffer &buffer, IndexMapId map);
  void writeBuffer(const TileBuffer &buffer, IndexMapId map, const LaneValue &value);

  unsigned laneCount() const { return lanes; }
  /// Found by a row analysis: masks, and how the lanes lie in what is read.
  llvm::ArrayRef<RowMask> rowMasks() const { return masks; }
  bool readsDense() const { return someDense && !someApart; }
  bool readsApart() const { return someApart; }

private:
  LaneValue compute(mlir::Value value, IndexMapId map);
  LaneValue computeElementOp(mlir::Operation *op, mlir::Value result, IndexMapId map);
  LaneValue computeLoad(mlir::Operation *op, IndexMapId map);
  LaneValue computeConstant(mlir::Operation *op, IndexMapId map);
  LaneValue rampFrom(llvm::Value *first, IndexMapId map);
  LaneValue computeGather(mlir::Operation *op, IndexMapId map);
  LaneValue computeJoin(mlir::Operation *op, IndexMapId map);
  LaneValue computeMap(mlir::Operation *op, mlir::Value result, IndexMapId map);
  LaneValue index(const DimIndex &dim);
  LaneValue derivedIndex(const DerivedIndex &derived);
  /// The dims of a tile from `d` down that take the same position apart as one; `d` becomes the
  /// last of them.
  DerivedIndex joinedIndex(IndexMapId map, llvm::ArrayRef<int64_t> shape, size_t &d);
  /// Elements of a tile in memory whose places relative to the first one are known.
  struct Window {
    llvm::Value *first;
    llvm::SmallVector<int64_t> offsets;
  };
  std::optional<Window> windowOf(IndexMapId map, llvm::ArrayRef<int64_t> shape);
  /// Reads a short window once and spreads its elements over the lanes.
  std::optional<LaneValue> readWindow(const TileBuffer &buffer, IndexMapId map);
  std::optional<llvm::SmallVector<int64_t>> stepsWithin(const DerivedIndex &derived) const;
  llvm::Value *constants(llvm::ArrayRef<int64_t> numbers);
  LaneValue pointerAt(const TileBuffer &buffer, const LaneValue &position);
  void noteRowMask(mlir::Value mask, IndexMapId map, const LaneValue &value);
  void noteAccess(mlir::Type element, const LaneValue &pointer);

  CodeBuilder &b;
  LaneEnvironment &environment;
  LaneMemory &memory;
  IndexMaps &maps;
  unsigned lanes;
  bool rowAnalysis;
  bool someDense = false, someApart = false;
  /// True while the offset of a pointer is evaluated.
  bool inOffset = false;
  llvm::Value *active = nullptr;
  llvm::SmallVector<LaneValue, 4> loops;
  llvm::DenseMap<std::pair<mlir::Value, IndexMapId>, LaneValue> known, knownOffsets;
  llvm::SmallVector<RowMask, 4> masks;
};

} // namespace pellucid::codegen
