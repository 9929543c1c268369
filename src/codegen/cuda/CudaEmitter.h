// SPDX-License-Identifier: Apache-2.0
// The body of one kernel as LLVM IR for one thread: statements in program order, scalars held alike
// by all threads of the block, tiles spread over their registers by a layout. Internal to
// codegen/cuda.
//
// What there is to choose has been chosen by the passes of codegen/gpu: a tile's type has its
// layout, and operations are emitted in the order in which they stand.
#pragma once

#include "codegen/common/StatementEmitter.h"
#include "codegen/cuda/CompileCudaKernel.h"
#include "codegen/gpu/LaneExchange.h"
#include "codegen/gpu/Layout.h"
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/SharedUse.h"
#include "tt/AxisInfo.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace pellucid::codegen {

using ttgpu::stepK;

class SharedSwizzle;
struct WarpMove;

/// One value per register, in register form (CodeBuilder.h).
using Registers = std::vector<llvm::Value *>;

/// What the mask of a vector's neighbours can look like.
enum class MaskRuns : uint8_t {
  Any,
  Falling, ///< never true behind a false one
  Rising,  ///< never false behind a true one
};

/// A tile of elements that moves from or to global memory, per register.
struct TileAccess {
  Registers pointers, active;
  unsigned vector = 1; ///< so many registers are neighbours in memory
  mlir::Type element;
  MaskRuns runs = MaskRuns::Any;
  /// Known of every vector, so that nothing is to be asked at run time.
  bool isAligned = false, isWhole = false; ///< whole: active as a whole or not at all
  bool isVolatile = false;                 ///< what other blocks write is seen
  bool isSure() const { return isAligned && isWhole; }
};

/// A thread's place in its block (i32), and what has been computed from it.
struct ThreadNumbers {
  llvm::Value *thread = nullptr, *lane = nullptr, *warp = nullptr;
  /// By layout and dim.
  std::map<std::pair<unsigned, unsigned>, llvm::Value *> coordinates;
  llvm::BasicBlock *block = nullptr; ///< where; null for where it is asked for
};

/// A tile in registers.
struct HeldTile {
  Layout layout;
  Registers registers;
};

using ttgpu::MatrixUnit;
using ttgpu::multipliesBytes;
using ttgpu::unitOf;

/// A tile in shared memory; an operand of a product, for example.
struct SharedOperand {
  SharedTile tile = {};
  unsigned contiguousDim = 1;   ///< of the operand: 1 when the tile's rows are the operand's
  llvm::Value *stage = nullptr; ///< bytes from `tile` to the copy of it that is meant; null for 0
  Registers words = {};         ///< of a left operand that is in registers instead
};

class CudaEmitter : public StatementEmitter {
public:
  CudaEmitter(llvm::Module &module, tt::FuncOp kernel, const CudaKernelOptions &options,
              CompiledPtx &result);

  /// Emits the entry function.
  void emit();

  const TileBuffer *buffer(mlir::Value) override { return nullptr; }

private:
  // CudaEmitter.cpp
  void createEntry();
  void loadArguments();
  void emitBlock(mlir::Block &block);
  void emitStatement(mlir::Operation *op);
  llvm::SmallVector<llvm::Value *, 2> emitElement(mlir::Operation *op,
                                                  llvm::ArrayRef<llvm::Value *> operands) override;
  llvm::SmallVector<llvm::Value *, 2> emitInRegion(CodeBuilder &builder, mlir::Operation *op,
                                                   llvm::ArrayRef<llvm::Value *> operands) override;
  void emitBarrier();
  void emitDependencyWait();
  ThreadNumbers numbersOf(llvm::Value *thread, llvm::BasicBlock *block);

  // EvaluateTiles.cpp
  const Layout &layoutOf(mlir::Value tile);
  /// One value per register of a tile, or a scalar.
  Registers registersOf(mlir::Value value);
  HeldTile held(mlir::Value tile) { return {layoutOf(tile), registersOf(tile)}; }
  /// A tile, or a scalar.
  void hold(mlir::Value value, Registers registers);
  /// Operations on tiles that only compute.
  void compute(mlir::Operation *op);
  Registers computeTile(mlir::Operation *op);
  void computeElements(mlir::Operation *op);
  Registers computeHalves(mlir::Operation *op, llvm::ArrayRef<Registers> operands);
  Registers computeConstant(mlir::arith::ConstantOp op);
  Registers computeRange(tt::MakeRangeOp op);
  Registers computeJoin(tt::JoinOp op);
  void computeSplit(tt::SplitOp op);
  void computeMap(tt::MapElementwiseOp op);
  /// The index along `dim` of each register's element (i32).
  llvm::Value *coordinate(const Layout &layout, unsigned dim, unsigned registerIndex);
  llvm::Value *threadCoordinate(const Layout &layout, unsigned dim);
  /// Row-major position of each register's element in the tile (i32).
  llvm::Value *position(const Layout &layout, unsigned registerIndex);
  /// An i1: of all threads that hold the same elements, this is the first.
  llvm::Value *isFirstHolder(const Layout &layout);

  // InlineAssembly.cpp
  void emitInlineAssembly(tt::ElementwiseInlineAsmOp op);

  // AccessMemory.cpp
  void emitLoad(tt::LoadOp op);
  Registers loadTile(tt::LoadOp op);
  void emitScalarLoad(tt::LoadOp op);
  void emitStore(tt::StoreOp op);
  void emitScalarStore(tt::StoreOp op);
  /// As registersOf(), for a path that is rarely taken: what is cheap is computed there from
  /// scratch, so that it takes no registers before.
  Registers registersAgain(mlir::Value tile);
  void computeAgain(mlir::Value tile);

  // VectorAccess.cpp
  /// The dim along which most pointers of a tile are neighbours; nullopt where none is known.
  std::optional<unsigned> contiguousDim(mlir::Value pointers);
  unsigned vectorLength(mlir::Value pointers, const Layout &layout, mlir::Type element);
  /// How a mask may change along the dim of `pointers` that is contiguous.
  MaskRuns maskRuns(mlir::Value pointers, mlir::Value mask);
  /// What is known of the vectors of an access.
  void judgeVectors(TileAccess &access, mlir::Value pointers, mlir::Value mask);
  /// An i1: every vector of this thread is aligned, and active as a whole or not at all; what is
  /// known is not asked.
  llvm::Value *movesByVectors(const TileAccess &access);
  /// The neighbours of each vector's first pointer, as distances from it.
  void followFirstPointers(TileAccess &access);
  /// Vectors as the words that they move in, and back.
  Registers packWords(const Registers &values, unsigned vector, mlir::Type element);
  Registers unpackWords(const Registers &words, unsigned vector, mlir::Type element);
  Registers loadVectors(const TileAccess &access, const Registers &otherWords);
  /// `vector` elements from shared memory on.
  Registers loadShared(llvm::Value *address, unsigned vector, mlir::Type element);
  void storeVectors(const TileAccess &access, const Registers &words);
  Registers loadVector(llvm::Value *pointer, llvm::Value *active,
                       llvm::ArrayRef<llvm::Value *> other, bool isVolatile);
  void storeVector(llvm::Value *pointer, llvm::Value *active, llvm::ArrayRef<llvm::Value *> words);
  llvm::Value *loadOne(llvm::Value *pointer, llvm::Value *active, llvm::Value *other,
                       mlir::Type element, bool isVolatile = false);
  void storeOne(llvm::Value *pointer, llvm::Value *value, llvm::Value *active, mlir::Type element);

  // CudaAtomics.cpp
  void emitAtomicRmw(tt::AtomicRMWOp op);
  void emitAtomicCas(tt::AtomicCASOp op);
  void emitAtomic(mlir::Operation *op, mlir::Value pointer, mlir::Value data, mlir::Value mask,
                  llvm::function_ref<llvm::Value *(unsigned, llvm::Value *)> emitOne,
                  llvm::function_ref<void(llvm::Value *)> before,
                  llvm::function_ref<void(llvm::Value *)> behind);
  llvm::Value *emitWhereActive(llvm::Value *active, llvm::Type *type,
                               llvm::function_ref<llvm::Value *()> emitOne);
  bool addNeighbours(tt::AtomicRMWOp op, llvm::function_ref<void(llvm::Value *)> fence);
  llvm::Value *emitOneRmw(tt::AtomicRMWOp op, llvm::Value *pointer, llvm::Value *value);
  llvm::Value *emitOneCas(tt::AtomicCASOp op, llvm::Value *pointer, llvm::Value *expected,
                          llvm::Value *desired);

  // ExchangeData.cpp
  Registers convert(ttgpu::ConvertLayoutOp op);
  llvm::Value *sharedAddress(uint64_t byteOffset, mlir::Type element, llvm::Value *index);
  void writeShared(uint64_t byteOffset, mlir::Type element, llvm::Value *index, llvm::Value *value,
                   llvm::Value *condition);
  llvm::Value *readShared(uint64_t byteOffset, mlir::Type element, llvm::Value *index);
  llvm::Value *shuffle(llvm::Value *value, unsigned laneMask);
  llvm::Value *shuffleFrom(llvm::Value *value, llvm::Value *lane);
  llvm::Value *shuffleBy(unsigned intrinsic, llvm::Value *value, llvm::Value *lane);
  Registers moveInWarp(const Registers &values, const WarpMove &move);
  Registers exchangeLanes(const Registers &values, mlir::Type element, const LaneExchange &plan);
  Registers throughShared(uint64_t at, const HeldTile &tile, const Layout &layout,
                          mlir::Type element);
  std::vector<llvm::Value *> placesIn(const SharedSwizzle &swizzle, const Layout &layout);

  // CudaMessages.cpp
  void emitAssert(tt::AssertOp op);
  void emitPrint(tt::PrintOp op);
  void printElement(const std::string &format, llvm::ArrayRef<llvm::Value *> values);
  llvm::Value *textConstant(const std::string &text);

  // CudaReduce.cpp, CudaScan.cpp, CudaDot.cpp
  void emitReduce(tt::ReduceOp op);
  void emitScan(tt::ScanOp op);
  // CudaScanBits.cpp. False where the layout is not one for it.
  bool scanByBits(tt::ScanOp op);
  void emitGather(tt::GatherOp op);
  void emitCat(tt::CatOp op);
  void emitHistogram(tt::HistogramOp op);
  // CudaDistribute.cpp
  void emitDistribute(tt::DistributeOp op);
  void emitDot(tt::DotOp op);
  /// What a product adds to, as it is added up, and the product from that.
  Registers sumsOf(tt::DotOp op);
  void finishDot(tt::DotOp op, Registers sums);
  void shareOperand(const HeldTile &tile, mlir::Type type, mlir::Type element, uint64_t byteOffset);

  // CudaMatrixUnits.cpp
  void emitMatrixDot(tt::DotOp op);
  /// How many blocks a multiprocessor is to hold at least; 1 leaves it to the assembler.
  unsigned blocksSideBySide();
  /// The operand where it lies in shared memory already.
  std::optional<SharedOperand> sharedOperand(mlir::Value operand);
  /// Where an operand of this layout lies whose neighbours are along `dim`.
  static SharedOperand placeFor(const Layout &layout, mlir::Type element, unsigned dim);
  void shareTile(const HeldTile &tile, mlir::Type element, const SharedOperand &place);
  void multiplyByWarps(tt::DotOp op, const SharedOperand &left, const SharedOperand &right,
                       Registers &sums);
  /// Of the element in a row and column of the tile as it lies in memory; `further` rows behind
  /// them, a multiple of eight, cost nothing.
  llvm::Value *elementAddress(const SharedOperand &operand, llvm::Value *row, llvm::Value *column,
                              int64_t further = 0);
  llvm::Value *rowAddress(const SharedOperand &operand, const Layout &layout, unsigned index,
                          llvm::Value *column);
  /// Of the `vector` elements of so many bytes from register `index` of a layout of the tile on.
  llvm::Value *elementAddress(const SharedOperand &operand, const Layout &layout, unsigned index,
                              unsigned elementBytes, unsigned vector);

  // CudaMatrixMoves.cpp
  /// By instructions that move whole matrices, where the tile lies as they want it; else nothing.
  bool storeMatrices(const HeldTile &tile, mlir::Type element, const SharedOperand &place);
  std::optional<Registers> loadMatrices(const Layout &layout, mlir::Type element,
                                        const SharedOperand &place);

  // CudaWordProducts.cpp
  void multiplyWordsByWarps(tt::DotOp op, const SharedOperand &left, const SharedOperand &right,
                            Registers &sums);

  // CudaLaneProducts.cpp
  void multiplyByLanes(tt::DotOp op, const SharedOperand &left, const SharedOperand &right,
                       Registers &sums);

  // CudaByteProducts.cpp
  void emitByteDot(tt::DotOp op);
  void shareBytes(const HeldTile &tile, const SharedOperand &place);

  // CudaWarpgroups.cpp
  void multiplyByWarpgroups(tt::DotOp op, const SharedOperand &left, const SharedOperand &right,
                            Registers &sums);
  void awaitProduct(Registers &sums);
  /// The left operand's words where its elements are in the threads that multiply them.
  Registers leftWords(tt::DotOp op);
  llvm::Value *descriptorAddress(const SharedOperand &operand, bool kIsContiguous,
                                 llvm::Value *outer);

  // CudaSharedTiles.cpp
  void emitShare(ttgpu::ShareOp op);
  void emitAsyncCopy(ttgpu::AsyncCopyOp op);
  void copyVectors(const TileAccess &access, const Layout &layout, const SharedOperand &place);
  void emitAwaitProducts(ttgpu::AwaitProductsOp op);
  /// One copy of a buffer; the first where `copy` is null.
  SharedOperand placeOf(mlir::Value buffer, mlir::Value copy);
  Registers readTile(ttgpu::ReadSharedOp op);

  // CudaTensorCopies.cpp
  void addTensorMaps(llvm::SmallVectorImpl<llvm::Type *> &parameters);
  void describeTensorMaps();
  llvm::Value *inOneThread();
  llvm::Value *barrierAddress(mlir::Value barriers, llvm::Value *number);
  void emitAllocBarriers(ttgpu::AllocBarriersOp op);
  void emitFreeBarriers(ttgpu::FreeBarriersOp op);
  void emitExpectCopies(ttgpu::ExpectCopiesOp op);
  void emitAwaitTensorCopies(ttgpu::AwaitTensorCopiesOp op);
  void addTensorCopy(ttgpu::TensorCopyOp op, std::string &text,
                     llvm::SmallVectorImpl<llvm::Value *> &operands);

  // CudaControlFlow.cpp
  void emitFor(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitWhile(mlir::scf::WhileOp op);
  /// What a value that crosses a region border is, per register.
  using Carried = std::vector<llvm::PHINode *>;
  Carried makePhis(mlir::Value value);
  static void addIncoming(const Carried &carried, const Registers &values, llvm::BasicBlock *from);
  unsigned layoutId(const Layout &layout);

  const CudaKernelOptions &options;
  CompiledPtx &result;
  tt::AxisAnalysis axes;

  ThreadNumbers threadNumbers;
  llvm::GlobalVariable *shared = nullptr;
  llvm::DenseMap<mlir::Value, Registers> tiles;
  /// By the type of a tile; references stay valid.
  std::map<const void *, Layout> layouts;
  std::vector<Layout> layoutNumbers;
};

} // namespace pellucid::codegen
