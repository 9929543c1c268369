// SPDX-License-Identifier: Apache-2.0
// The body of one kernel as LLVM IR: statements in program order, control flow as branches, tiles
// as loop nests. Internal to codegen/cpu.
#pragma once

#include "codegen/common/StatementEmitter.h"
#include "codegen/cpu/CompileKernel.h"
#include "codegen/cpu/CpuMemory.h"
#include "codegen/cpu/DotUnits.h"
#include "codegen/cpu/PlanTiles.h"
#include "codegen/cpu/ScratchMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace pellucid::codegen {

/// A loop nest over a tile. Lanes run along `laneDim`.
struct NestShape {
  llvm::SmallVector<int64_t, 4> extents;
  /// Where the loops are fewer than the tile's dimensions: its shape, and its map in terms of them.
  llvm::SmallVector<int64_t, 4> tile;
  std::optional<IndexMapId> map;
  unsigned laneDim = 0;
  unsigned lanes = 1;
  /// A dimension that is run from its end; along the lanes only with one lane.
  std::optional<unsigned> reversedDim;
};

class KernelEmitter : public StatementEmitter {
public:
  KernelEmitter(llvm::Module &module, tt::FuncOp kernel, const CpuKernelOptions &options,
                CompiledObject &object);

  /// Emits the entry function.
  void emit();

  const TileBuffer *buffer(mlir::Value tile) override;
  llvm::Value *firstOfRamp(mlir::Value tile) override;

private:
  using ChunkBody = llvm::function_ref<void(LaneEvaluator &, IndexMapId)>;

  // KernelEmitter.cpp
  void loadArguments();
  void emitProgramLoop();
  void emitReturn(int32_t status);
  void emitBlock(mlir::Block &block);
  void emitStatement(mlir::Operation *op);
  void emitScalarLoad(tt::LoadOp op);

  // EmitNests.cpp
  NestShape nestOver(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> values);
  /// As nestOver, but tiles of many short dimensions get one loop.
  NestShape flatNestOver(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> values);
  /// A loop over what lies before `axis`, one over it, and one over what lies behind.
  NestShape nestAround(llvm::ArrayRef<int64_t> shape, unsigned axis,
                       llvm::ArrayRef<mlir::Value> values);
  NestShape nestWithLoops(llvm::ArrayRef<int64_t> loops, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<mlir::Value> values);
  /// Emits what `roots` need first, then the nest, with the tiles due at this use as by-products.
  /// `limits`: masks outside of which `body` has nothing to do.
  void emitNest(const NestShape &nest, llvm::ArrayRef<mlir::Value> roots,
                llvm::ArrayRef<mlir::Value> limits, ChunkBody body);
  void emitRow(const NestShape &nest, llvm::SmallVector<LaneValue, 4> indices,
               llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<mlir::Value> limits,
               ChunkBody body);
  void finishRow(const NestShape &nest, llvm::SmallVector<LaneValue, 4> indices);
  void prepare(llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<int64_t> shape);
  void prepareValue(mlir::Value value, bool inPlace, llvm::ArrayRef<int64_t> shape,
                    llvm::DenseMap<mlir::Value, bool> &seen);
  TileBuffer allocate(mlir::Type element, llvm::ArrayRef<int64_t> shape);
  TileBuffer allocateFor(mlir::Value tile);
  /// The tile in scratch memory, written there now if need be.
  const TileBuffer &ensureBuffer(mlir::Value tile);
  void storeTile(mlir::Value tile, const TileBuffer &into);

  // EmitRamps.cpp
  /// Asks a line of indices in scratch memory whether it counts up by one.
  void noteRamp(mlir::Value line);
  /// What `emit` emits to evaluate `tile`; twice where indices that it is made of may count up by
  /// one: for those that do, and for all others.
  void withRamps(mlir::Value tile, llvm::function_ref<void()> emit);

  // EmitTurned.cpp
  /// The dim other than the last along which all that `tile` is evaluated from lies dense, where
  /// along the last one it does not.
  std::optional<unsigned> turnedDim(mlir::Value tile);
  /// As storeTile(): lanes run along `across`, and squares are transposed in registers.
  void storeTurned(mlir::Value tile, const TileBuffer &into, unsigned across);
  void emitSquares(mlir::Value tile, const TileBuffer &into, unsigned across,
                   llvm::SmallVector<LaneValue, 4> indices);
  bool isWorthTurning(mlir::Value tile);

  // EmitNests.cpp
  void copyTile(const TileBuffer &from, const TileBuffer &to);
  void emitStore(tt::StoreOp op);
  /// How many elements of the row that `row` analyses lie before the first one that a streaming
  /// store of whole vectors may start from (i64).
  llvm::Value *unalignedHead(tt::StoreOp op, llvm::Value *streaming, LaneEvaluator &row,
                             IndexMapId at);
  /// True when the chunks of a row over `value` may start at any element.
  bool startsAnywhere(mlir::Value value, llvm::DenseSet<mlir::Value> &seen);
  /// An i1: all programs together write more through `op` than caches hold.
  llvm::Value *writesBeyondCaches(tt::StoreOp op);

  // EmitPrefetch.cpp
  /// A load whose data the program after the next one will need, that many bytes further on.
  struct Prefetch {
    tt::LoadOp load;
    llvm::Value *distance;
    unsigned locality;
  };
  /// Of the statement being emitted, whose nest is one row.
  llvm::SmallVector<Prefetch, 2> startPrefetches(llvm::ArrayRef<mlir::Value> roots,
                                                 LaneEvaluator &row, IndexMapId at);
  /// How far the current program's `address` (i64) lies behind the last one's, if that is as far as
  /// then; else 0.
  llvm::Value *distanceOfPrograms(llvm::Value *address);
  void emitPrefetches(llvm::ArrayRef<Prefetch> prefetches, LaneEvaluator &chunk, IndexMapId at);

  // EmitControlFlow.cpp
  void emitFor(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitIndexSwitch(mlir::scf::IndexSwitchOp op);
  void emitExecuteRegion(mlir::scf::ExecuteRegionOp op);
  void emitWhile(mlir::scf::WhileOp op);
  /// Where a value that crosses a region border is kept: a variable or a buffer.
  struct Carrier {
    llvm::AllocaInst *variable = nullptr;
    TileBuffer tile;
  };
  Carrier makeCarrier(mlir::Type type);
  /// Regions that yield the results of `op`, and one of them.
  void emitWithResults(mlir::Operation *op,
                       llvm::function_ref<void(llvm::ArrayRef<Carrier>)> emitRegions);
  void emitBranch(mlir::Region &region, llvm::ArrayRef<Carrier> carriers);
  void readCarrier(const Carrier &carrier, mlir::Value as);
  /// Writes all `values` at once: none of the tiles read is overwritten before its last read.
  void writeCarriers(llvm::ArrayRef<Carrier> carriers, mlir::ValueRange values);
  bool readsOnlyInPlace(mlir::Value value, llvm::Value *own, llvm::ArrayRef<Carrier> carriers,
                        bool inPlace, llvm::DenseSet<std::pair<mlir::Value, unsigned>> &seen);

  // EmitReduce.cpp, EmitScan.cpp
  void emitReduce(tt::ReduceOp op);
  void emitRowReduce(tt::ReduceOp op, const NestShape &nest);
  /// `axis`: of the nest.
  void emitColumnReduce(tt::ReduceOp op, const NestShape &nest, unsigned axis);
  void emitScan(tt::ScanOp op);
  void emitHistogram(tt::HistogramOp op);
  void emitDistribute(tt::DistributeOp op);
  void emitCat(tt::CatOp op);
  void emitUnsplat(tt::UnsplatOp op);

  // EmitAtomics.cpp
  void emitAtomicRmw(tt::AtomicRMWOp op);
  void emitAtomicCas(tt::AtomicCASOp op);
  llvm::Value *emitOneRmw(tt::AtomicRMWOp op, llvm::Value *address, llvm::Value *value);

  // EmitDot.cpp
  void emitDot(tt::DotOp op);
  mlir::Value turnedOperand(tt::DotOp op, DotForm form);
  bool roundsForDots(mlir::Value tile);
  TileBuffer roundedTile(mlir::Value tile);
  TileBuffer convertedTile(mlir::Value tile, mlir::Type element);
  void convertTile(mlir::Value tile, const TileBuffer &into);
  std::optional<TileBuffer> carriedTarget(tt::DotOp op);
  TileBuffer startSums(tt::DotOp op, llvm::ArrayRef<llvm::Value *> operands);
  void groupOperand(mlir::Value tile, mlir::Value turned, const GroupedDot &dot);
  TileBuffer emitMatrixDot(tt::DotOp op, DotForm form, mlir::Type operand);
  TileBuffer emitStackedDot(tt::DotOp op, DotForm form, mlir::Type operand);

  // EmitOperands.cpp
  /// Rows of a matrix in memory, each dense.
  struct MatrixRows {
    llvm::Value *base, *rowBytes;
  };
  /// A tile that a load reads whole, as rows where one i1 holds and as columns where the other
  /// does.
  struct LoadedBlock {
    MatrixRows rows, columns;
    llvm::Value *hasDenseRows, *hasDenseColumns;
  };
  std::optional<LoadedBlock> loadedBlock(mlir::Value tile);
  void copyRows(const MatrixRows &from, mlir::Type element, const TileBuffer &into);
  void copyColumns(const MatrixRows &columns, mlir::Type element, const TileBuffer &into);
  void prepareForBranch(mlir::Value tile);
  /// As emitBranches(): tiles that one side makes are its own.
  void emitSides(llvm::Value *condition, llvm::function_ref<void(unsigned)> emit);
  /// A tile of two dims as `element`s: in scratch memory, or, if that is allowed, where it lies.
  MatrixRows operandRows(mlir::Value tile, mlir::Type element, bool inPlace);

  // EmitMessages.cpp
  void emitAssert(tt::AssertOp op);
  void emitPrint(tt::PrintOp op);
  int32_t addMessage(mlir::Operation *op, KernelMessage message);
  void emitFailure(llvm::Value *failed, int32_t message);

  const CpuKernelOptions &options;
  CompiledObject &object;
  CpuMemory memory;
  IndexMaps maps;
  TilePlan plan;
  std::unique_ptr<ScratchMemory> scratch;

  llvm::AllocaInst *program[3] = {};
  llvm::Value *gridSize[3] = {};
  llvm::DenseMap<mlir::Value, TileBuffer> buffers;
  struct Ramp {
    llvm::Value *holds, *first; ///< an i1, an integer
  };
  llvm::DenseMap<mlir::Value, Ramp> ramps;
  bool assumesRamps = false;
  /// Tiles that the nest being emitted writes on the side.
  llvm::MapVector<mlir::Value, TileBuffer> byProducts;
  mlir::Operation *current = nullptr;
  /// Programs talk to each other through memory, so their writes must not overtake one another.
  bool synchronizes = false;
  /// Some product is made in tile registers.
  bool usesTiles = false;
  /// Some store may go past the caches, so a fence is due at the end.
  bool streams = false;
  /// Of the chunk being emitted: its first index along the lanes, and the index in every loop.
  llvm::Value *laneBase = nullptr;
  llvm::SmallVector<LaneValue, 4> nestIndices;
  /// Called around every row of the next nest.
  std::function<void()> rowStart;
  std::function<void(LaneEvaluator &, IndexMapId)> rowEnd;
  /// Of the next nest, when its chunks should start where memory is aligned.
  std::function<llvm::Value *(LaneEvaluator &, IndexMapId)> rowHead;
};

} // namespace pellucid::codegen
