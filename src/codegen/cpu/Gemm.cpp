// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/Gemm.h"
#include "codegen/cpu/Convolution.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/cpu/EmitObject.h"
#include "codegen/cpu/PackPanels.h"
#include "codegen/cpu/ProductBlock.h"
#include "codegen/cpu/StreamedProduct.h"
#include "codegen/cpu/Windows.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/Module.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {

mlir::Type mlirType(DataType type, mlir::MLIRContext *context) {
  switch (type) {
  case DataType::Float32:
    return mlir::Float32Type::get(context);
  case DataType::Float64:
    return mlir::Float64Type::get(context);
  case DataType::BFloat16:
    return mlir::BFloat16Type::get(context);
  case DataType::Float16:
    return mlir::Float16Type::get(context);
  default:
    return {};
  }
}

/// Most k that a program packs or widens for itself: they stay in the second-level cache.
constexpr int64_t blockDepth = 256;

/// k of a block: so many f32 are summed in one register, and B for two vectors (of tiles: two
/// panels) stays in the first-level cache beside the rows of A that go by.
int64_t stepOf(DataType type, bool hasTiles) {
  if (type == DataType::BFloat16)
    return hasTiles ? 512 : 384;
  return type == DataType::Float64 ? 128 : 192;
}

/// Half of the smallest second-level cache of a core with AVX-512.
constexpr int64_t bandBytes = int64_t(512) << 10;

class GemmEmitter {
public:
  GemmEmitter(LibraryKernel &kernel, const GemmKernel &options)
      : l(kernel), b(kernel.b), hasBias(options.bias), unpacked(options.unpacked), sums(kernel) {
    if (hasTileProducts(l.level) && hasProductUnits(l.level, l.type))
      tiles.emplace(l);
    if (isWidened()) {
      wideA = l.reserveScratch(package::productRows * blockDepth * wideBytes);
      wideB = l.reserveScratch(blockDepth * package::productColumns * wideBytes);
    }
    if (unpacked)
      ownPanels = l.reserveScratch(blockDepth * package::productColumns * l.elementBytes());
  }

  void emit() {
    a = l.pointerArgument(0), packed = l.pointerArgument(1), bias = l.pointerArgument(2);
    c = l.pointerArgument(3), m = l.integerArgument(4), n = l.integerArgument(5);
    k = l.integerArgument(6), lda = l.integerArgument(7), ldc = l.integerArgument(8);
    Value *batchA = l.integerArgument(9), *batchB = l.integerArgument(10),
          *batchC = l.integerArgument(11);
    biasRow = l.integerArgument(12);
    Value *batchBias = l.integerArgument(13);
    depth = roundedUp(k);
    if (unpacked)
      isFew = b.CreateICmpSLE(m, b.getInt64(package::productRows));
    auto body = [&](Value *x, Value *y, Value *z) {
      Value *row = b.CreateMul(x, b.getInt64(package::productRows));
      Value *column = b.CreateMul(y, b.getInt64(package::productColumns));
      rowsLeft = l.smaller(b.CreateSub(m, row), b.getInt64(package::productRows));
      columnsLeft = b.CreateSub(n, column);
      tileA = l.elementAt(a, b.CreateAdd(b.CreateMul(z, batchA), b.CreateMul(row, lda)));
      tileB = l.elementAt(packed, b.CreateAdd(b.CreateMul(z, batchB), b.CreateMul(column, depth)));
      Value *offset = b.CreateAdd(b.CreateMul(row, ldc), column);
      tileC = l.elementAt(c, b.CreateAdd(b.CreateMul(z, batchC), offset));
      Value *biasOffset = b.CreateAdd(b.CreateMul(row, biasRow), column);
      tileBias = l.elementAt(bias, b.CreateAdd(b.CreateMul(z, batchBias), biasOffset));
      isWhole = b.CreateICmpSGE(columnsLeft, b.getInt64(package::productColumns));
      Value *isStored = isWhole;
      if (unpacked) {
        Value *isInRegisters = b.CreateNot(emitUnpacked(column, z));
        isStored = isNarrow() ? isInRegisters : b.CreateAnd(isWhole, isInRegisters);
      } else
        emitBlocks();
      auto storeRows = [&](llvm::function_ref<void(Value *)> store) {
        emitLoop(b, b.getInt64(0), rowsLeft, 1, false, store);
      };
      if (tiles)
        emitBranches(b, isWhole, [&](unsigned side) {
          storeRows([&](Value *row) { side == 0 ? storeWholeRow(row) : storeRow(row); });
        });
      else
        emitWhen(b, b.CreateNot(isStored), [&] { storeRows([&](Value *row) { storeRow(row); }); });
    };
    auto finish = [&] {
      if (tiles)
        tiles->release();
    };
    l.forPrograms(body, finish, bandWidth());
  }

private:
  /// Stripes of packed columns that stay in the second-level cache while the rows go by; those of
  /// A's rows are used for each of them.
  Value *bandWidth() {
    Value *stripe = b.CreateMul(depth, b.getInt64(package::productColumns * l.elementBytes()));
    stripe = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, stripe, b.getInt64(1));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.getInt64(1),
                                   b.CreateUDiv(b.getInt64(bandBytes), stripe));
  }

  Value *roundedUp(Value *size) {
    int64_t unit = package::depthUnit(l.type);
    return b.CreateAnd(b.CreateAdd(size, b.getInt64(unit - 1)), b.getInt64(-unit));
  }

  void findSource(Value *column, Value *z) {
    source.strideK = l.integerArgument(15), source.strideN = l.integerArgument(16);
    Value *offset =
        b.CreateAdd(b.CreateMul(column, source.strideN), b.CreateMul(z, l.integerArgument(17)));
    source.base = l.elementAt(l.pointerArgument(14), offset);
    source.columns = columnsLeft;
    if (readsInPlace())
      isInPlace = b.CreateAnd(isFew, findInPlace());
  }

  /// Types whose panels hold nothing but what B holds.
  bool readsInPlace() const { return l.type == DataType::Float32 || l.type == DataType::Float64; }

  /// An i1: B's rows are read where they lie, as whole vectors. They are where B is gone through
  /// once or twice, or where its rows lie so near each other that they share pages and cache lines.
  Value *findInPlace() {
    constexpr int64_t mostRows = 24, nearBytes = 1024;
    Value *isDense = b.CreateICmpEQ(source.strideN, b.getInt64(1));
    Value *cut = b.CreateAnd(columnsLeft, b.getInt64(package::productPanel - 1));
    Value *fills = b.CreateOr(isWhole, b.CreateICmpEQ(cut, b.getInt64(0)));
    Value *isNear =
        b.CreateICmpULE(source.strideK, b.getInt64(nearBytes / int64_t(l.elementBytes())));
    Value *isOnce = b.CreateICmpSLE(m, b.getInt64(mostRows));
    return b.CreateAnd(b.CreateAnd(isDense, fills), b.CreateOr(isNear, isOnce));
  }

  /// An i1: the sums are in scratch memory.
  Value *emitUnpacked(Value *column, Value *z) {
    findSource(column, z);
    source.depth = k;
    Value *isStreamed = b.CreateAnd(b.CreateICmpEQ(source.strideK, b.getInt64(1)),
                                    b.CreateICmpSLE(m, b.getInt64(mostStreamedRows)));
    emitBranches(b, isStreamed, [&](unsigned side) {
      if (side == 0)
        emitStreamedProduct(l, {rowsLeft, tileA, lda, source}, sums);
      else
        emitBlocks();
    });
    return isStreamed;
  }

  void emitBlocks() {
    Value *whole = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, k, b.getInt64(1));
    Value *step = b.getInt64(stepOf(l.type, tiles.has_value()));
    if (unpacked)
      step = b.CreateSelect(isFew, l.smaller(step, b.getInt64(blockDepth)), step);
    // Without any k the sums are zero all the same.
    CountedLoop loop = CountedLoop::begin(b, b.getInt64(0), whole, step, false);
    Value *count = l.smaller(step, b.CreateSub(k, loop.index));
    emitBlock(loop.index, count, b.CreateICmpEQ(loop.index, b.getInt64(0)));
    loop.end();
  }

  void emitBlock(Value *from, Value *count, Value *first) {
    ProductBlock block;
    block.rows = rowsLeft, block.columns = columnsLeft;
    block.a = l.elementAt(tileA, from), block.lda = lda;
    Value *panelSize = b.getInt64(package::productPanel);
    block.panels = l.elementAt(tileB, b.CreateMul(from, panelSize));
    block.panelStride = b.CreateMul(depth, panelSize);
    block.count = count, block.first = first;
    if (unpacked) {
      Value *ownStride = b.getInt64(blockDepth * package::productPanel);
      block.panels = b.CreateSelect(isFew, ownPanels, block.panels);
      block.panelStride = b.CreateSelect(isFew, ownStride, block.panelStride);
      Value *packs = isFew;
      if (readsInPlace()) {
        Value *there = l.elementAt(source.base, b.CreateMul(from, source.strideK));
        block.panels = b.CreateSelect(isInPlace, there, block.panels);
        block.panelStride = b.CreateSelect(isInPlace, panelSize, block.panelStride);
        block.termStride = b.CreateSelect(isInPlace, source.strideK, panelSize);
        packs = b.CreateAnd(isFew, b.CreateNot(isInPlace));
      }
      emitWhen(b, packs, [&] {
        PanelSource part = source;
        part.base = l.elementAt(source.base, b.CreateMul(from, source.strideK));
        part.depth = count;
        // Most products take two panels at a time.
        int64_t panels = (isNarrow() ? 1 : 2) * package::productPanel;
        Value *some =
            b.CreateAnd(b.CreateAdd(columnsLeft, b.getInt64(panels - 1)), b.getInt64(-panels));
        emitPackColumns(l, part, roundedUp(count), ownPanels, ownStride,
                        l.smaller(some, b.getInt64(package::productColumns)));
      });
    }
    if (tiles)
      return tiles->emitBlock(block, sums);
    if (isWidened())
      widen(block);
    Value *isLast = b.CreateICmpEQ(b.CreateAdd(from, count), k);
    ProductBlock::Finish finish;
    finish.finished = isNarrow() ? isLast : b.CreateAnd(isWhole, isLast);
    finish.given = {tileC, ldc, columnsLeft, tileBias, biasRow};
    auto maskOf = [&](Value *left, Value *column) {
      return isNarrow() ? LaneValue::prefix(b.CreateSub(left, column))
                        : LaneValue::uniform(b.getTrue());
    };
    finish.added = [&](auto given, Value *row, Value *column, Value *sum) {
      return biased(given[3], given[4], row, column, sum, maskOf(given[2], column));
    };
    finish.store = [&](auto given, Value *row, Value *column, Value *sum) {
      storeSums(given[0], given[1], row, column, sum, maskOf(given[2], column));
    };
    block.narrow = isNarrow();
    block.finish = &finish;
    emitVectorBlock(l, block, sums);
  }

  /// Of few rows no more vectors of columns are multiplied than there are, and where a part of one
  /// can be stored, none goes through scratch memory.
  bool isNarrow() const { return unpacked && !tiles && hasAvx512(l.level); }

  /// f16 is made f32 once for each block: in front of each multiplication that takes as many
  /// instructions as the multiplications.
  bool isWidened() const { return l.type == DataType::Float16; }
  static constexpr int64_t wideBytes = 4, wideLanes = 16;

  void widen(ProductBlock &block) {
    auto copy = [&](Value *from, Value *to, Value *count) {
      auto part = [&](Value *at, const LaneValue &mask) {
        LaneValue pointer = LaneValue::ramp(l.elementAt(from, at), b.getInt64(l.elementBytes()));
        LaneValue loaded = l.memory.load(l.element, pointer, mask, {}, wideLanes);
        b.CreateAlignedStore(widenFloat(b, toVector(b, loaded, wideLanes), l.element),
                             b.CreateGEP(l.sum, to, at), llvm::Align(wideBytes));
      };
      Value *whole = b.CreateAnd(count, b.getInt64(-wideLanes));
      emitLoop(b, b.getInt64(0), whole, wideLanes, false,
               [&](Value *at) { part(at, LaneValue::uniform(b.getTrue())); });
      emitWhen(b, b.CreateICmpSLT(whole, count),
               [&] { part(whole, LaneValue::prefix(b.CreateSub(count, whole))); });
    };
    emitLoop(b, b.getInt64(0), block.rows, 1, false, [&](Value *row) {
      copy(l.elementAt(block.a, b.CreateMul(row, block.lda)),
           b.CreateGEP(l.sum, wideA, b.CreateMul(row, b.getInt64(blockDepth))), block.count);
    });
    Value *stride = b.getInt64(blockDepth * package::productPanel);
    emitLoop(b, b.getInt64(0), b.getInt64(package::productColumns / package::productPanel), 1,
             false, [&](Value *panel) {
               copy(l.elementAt(block.panels, b.CreateMul(panel, block.panelStride)),
                    b.CreateGEP(l.sum, wideB, b.CreateMul(panel, stride)),
                    b.CreateMul(block.count, b.getInt64(package::productPanel)));
             });
    block.a = wideA, block.lda = b.getInt64(blockDepth);
    block.panels = wideB, block.panelStride = stride;
    block.isWide = true;
  }

  LaneValue place(Value *base, Value *step, Value *row, Value *column) {
    Value *index = b.CreateAdd(b.CreateMul(row, step), column);
    return LaneValue::ramp(l.elementAt(base, index), b.getInt64(l.elementBytes()));
  }

  Value *biased(Value *base, Value *step, Value *row, Value *column, Value *sum,
                const LaneValue &mask) {
    if (!hasBias)
      return sum;
    unsigned lanes = laneCount(sum);
    LaneValue at = place(base, step, row, column);
    Value *loaded;
    // A finish may be in a function of its own, to which the kernel's scratch memory, that other
    // masked loads read instead, is another function's value.
    if (isNarrow())
      loaded = b.CreateMaskedLoad(lanesOf(l.held, lanes), at.value, llvm::Align(l.elementBytes()),
                                  toVector(b, mask, lanes));
    else
      loaded = toVector(b, l.memory.load(l.element, at, mask, {}, lanes), lanes);
    return b.CreateFAdd(sum, widenFloat(b, loaded, l.element));
  }

  void storeSums(Value *base, Value *step, Value *row, Value *column, Value *sum,
                 const LaneValue &mask) {
    l.memory.store(l.element, place(base, step, row, column),
                   LaneValue::vector(roundedSums(l, sum)), mask, laneCount(sum));
  }

  int64_t sumLanes() const {
    return (hasAvx512(l.level) ? 512 : 256) / int64_t(l.sum->getPrimitiveSizeInBits());
  }

  /// From scratch memory.
  void storePart(Value *row, Value *column, const LaneValue &mask) {
    llvm::Align align(l.sum->getPrimitiveSizeInBits() / 8);
    Value *sum = b.CreateAlignedLoad(lanesOf(l.sum, sumLanes()), sums.at(row, column), align);
    storeSums(tileC, ldc, row, column, biased(tileBias, biasRow, row, column, sum, mask), mask);
  }

  void storeWholeRow(Value *row) {
    for (int64_t column = 0; column < package::productColumns; column += sumLanes())
      storePart(row, b.getInt64(column), LaneValue::uniform(b.getTrue()));
  }

  void storeRow(Value *row) {
    int64_t lanes = sumLanes();
    Value *limit = l.smaller(columnsLeft, b.getInt64(package::productColumns));
    auto store = [&](Value *column, const LaneValue &mask) { storePart(row, column, mask); };
    Value *whole = b.CreateAnd(limit, b.getInt64(-lanes));
    emitLoop(b, b.getInt64(0), whole, lanes, false,
             [&](Value *column) { store(column, LaneValue::uniform(b.getTrue())); });
    emitWhen(b, b.CreateICmpSLT(whole, limit),
             [&] { store(whole, LaneValue::prefix(b.CreateSub(limit, whole))); });
  }

  LibraryKernel &l;
  CodeBuilder &b;
  bool hasBias, unpacked;
  ProductSums sums;
  std::optional<TileProduct> tiles;
  Value *a, *packed, *bias, *c, *m, *n, *k, *depth, *lda, *ldc, *biasRow;
  Value *isWhole; ///< an i1: all productColumns are there
  Value *rowsLeft, *columnsLeft, *tileA, *tileB, *tileC, *tileBias;
  PanelSource source;
  Value *isFew = nullptr, *ownPanels = nullptr; ///< of unpacked
  Value *isInPlace = nullptr;                   ///< where readsInPlace
  Value *wideA, *wideB;                         ///< scratch, where isWidened
};

void emitPack(LibraryKernel &l) {
  CodeBuilder &b = l.b;
  Value *from = l.pointerArgument(0), *to = l.pointerArgument(1);
  Value *n = l.integerArgument(2), *k = l.integerArgument(3), *strideK = l.integerArgument(4);
  Value *strideN = l.integerArgument(5), *batchB = l.integerArgument(6);
  int64_t unit = package::depthUnit(l.type);
  Value *depth = b.CreateAnd(b.CreateAdd(k, b.getInt64(unit - 1)), b.getInt64(-unit));
  Value *panelStride = b.CreateMul(depth, b.getInt64(package::productPanel));
  l.forPrograms([&](Value *x, Value *y, Value *) {
    Value *columns = b.getInt64(package::productColumns);
    Value *tiles = b.CreateUDiv(b.CreateAdd(n, b.getInt64(package::productColumns - 1)), columns);
    Value *tile = b.CreateAdd(b.CreateMul(y, tiles), x), *column = b.CreateMul(x, columns);
    Value *offset = b.CreateAdd(b.CreateMul(y, batchB), b.CreateMul(column, strideN));
    Value *target = l.elementAt(to, b.CreateMul(b.CreateMul(tile, columns), depth));
    // Rows of B are read once for each panel: in blocks that stay in the cache.
    emitLoop(b, b.getInt64(0), depth, blockDepth, false, [&](Value *k0) {
      PanelSource part{l.elementAt(l.elementAt(from, offset), b.CreateMul(k0, strideK)), strideK,
                       strideN, b.CreateSub(n, column),
                       l.smaller(b.CreateSub(k, k0), b.getInt64(blockDepth))};
      Value *size = l.smaller(b.CreateSub(depth, k0), b.getInt64(blockDepth));
      Value *at = b.CreateMul(k0, b.getInt64(package::productPanel));
      emitPackColumns(l, part, size, l.elementAt(target, at), panelStride);
    });
  });
}

/// `Options`: GemmKernel or ConvolutionKernel.
template <typename Options>
bool compileLibraryKernel(const Options &options, std::string_view symbol, unsigned fields,
                          CompiledObject &object, Diagnostics &diagnostics,
                          llvm::function_ref<void(LibraryKernel &)> emit) {
  mlir::MLIRContext types(mlir::MLIRContext::Threading::DISABLED);
  mlir::Type element = mlirType(options.type, &types);
  if (!element) {
    diagnostics.error(SourceLocation(), "matrix products of " +
                                            std::string(info(options.type).cli) +
                                            " are not supported");
    return false;
  }
  object = CompiledObject();
  object.symbol = symbol;
  auto emitWhole = [&](llvm::Module &module) {
    LibraryKernel kernel(module, options.type, element, options.level, object, fields);
    emit(kernel);
  };
  return emitObject(options.level, symbol, emitWhole, object.object, diagnostics, options.texts);
}

} // namespace

bool compileGemm(const GemmKernel &kernel, std::string_view symbol, CompiledObject &object,
                 Diagnostics &diagnostics) {
  return compileLibraryKernel(kernel, symbol, kernel.unpacked ? unpackedGemmFields : gemmFields,
                              object, diagnostics, [&](LibraryKernel &l) {
                                GemmEmitter(l, kernel).emit();
                                object.productUnits = hasProductUnits(l.level, l.type);
                              });
}

bool compilePack(const GemmKernel &kernel, std::string_view symbol, CompiledObject &object,
                 Diagnostics &diagnostics) {
  return compileLibraryKernel(kernel, symbol, sizeof(PackArguments) / 8, object, diagnostics,
                              [](LibraryKernel &l) { emitPack(l); });
}

bool compileConvolution(const ConvolutionKernel &kernel, std::string_view symbol,
                        CompiledObject &object, Diagnostics &diagnostics) {
  return compileLibraryKernel(kernel, symbol, convolutionFields, object, diagnostics,
                              [&](LibraryKernel &l) {
                                emitConvolution(l, kernel.bias);
                                object.productUnits = hasProductUnits(l.level, l.type);
                              });
}

bool compileDepthwise(const ConvolutionKernel &kernel, std::string_view symbol,
                      CompiledObject &object, Diagnostics &diagnostics) {
  return compileLibraryKernel(kernel, symbol, convolutionFields, object, diagnostics,
                              [&](LibraryKernel &l) { emitDepthwise(l, kernel.bias); });
}

} // namespace pellucid::codegen
