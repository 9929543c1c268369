// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/Convolution.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/cpu/ProductBlock.h"
#include "codegen/cpu/Windows.h"

namespace pellucid::codegen {

using llvm::Value;
using package::productColumns;

namespace {

/// Terms of a block: whole channels of them. Tile registers take more of them in the time that
/// loading and storing their sums takes.
constexpr int64_t tileBlockDepth = 2 * package::windowTerms;

/// Of sums in registers: two vectors of windows stay in the first-level cache beside the weights
/// that go by, but for kernels with more places.
constexpr int64_t blockDepth = 192;

/// Columns of a packed line. A vector that ends in the last of them may reach beyond.
constexpr int64_t pitch = productColumns + 16;

class ConvolutionEmitter {
public:
  ConvolutionEmitter(LibraryKernel &kernel, bool hasBias)
      : l(kernel), b(kernel.b), hasBias(hasBias), group(package::packedGroup(kernel.type)),
        lanes(std::min<int64_t>(16, 64 / int64_t(kernel.elementBytes()))),
        sums(kernel, mostConvolutionRows), a(kernel), loads(kernel, a.stride[2], lanes) {
    bool hasTiles = hasTileProducts(l.level) && hasProductUnits(l.level, l.type);
    unit = hasTiles ? package::depthUnit(l.type) : group;
    depth = hasTiles ? tileBlockDepth : blockDepth;
    int64_t most = std::max(depth, package::windowTerms);
    int64_t bytes = (most + unit - 1) * pitch * int64_t(l.elementBytes());
    windows = l.reserveScratch(bytes);
    if (group == 2)
      pairs = l.reserveScratch(bytes);
    if (hasTiles)
      tiles.emplace(l, mostConvolutionRows);
  }

  void emit() {
    taps = b.CreateMul(b.CreateMul(a.kernel[0], a.kernel[1]), a.kernel[2]);
    Value *channelsAtOnce = channelsOfBlock();
    auto body = [&](Value *x, Value *y, Value *z) {
      findProgram(x, y, z);
      CountedLoop loop =
          CountedLoop::begin(b, b.getInt64(0), a.channels, channelsAtOnce, /*isUnsigned=*/false);
      Value *count = l.smaller(channelsAtOnce, b.CreateSub(a.channels, loop.index));
      pack(loop.index, count);
      if (group == 2)
        putPairsTogether(b.CreateMul(count, taps));
      multiply(loop.index, count);
      loop.end();
      if (!storesSums())
        emitLoop(b, b.getInt64(0), rows, 1, false, [&](Value *row) { store(row); });
    };
    l.forPrograms(body, [&] {
      if (tiles)
        tiles->release();
    });
  }

private:
  /// As many as fit; of tile registers so many that their terms are whole tiles, if any are.
  Value *channelsOfBlock() {
    Value *fitting = b.CreateUDiv(b.getInt64(depth), taps);
    if (tiles) {
      Value *factors = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, taps, b.getFalse());
      factors = l.smaller(factors, b.getInt64(llvm::Log2_64(unit)));
      Value *step = b.CreateLShr(b.getInt64(unit), factors);
      Value *whole = b.CreateAnd(fitting, b.CreateNeg(step));
      fitting = b.CreateSelect(b.CreateICmpEQ(whole, b.getInt64(0)), fitting, whole);
    }
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, fitting, b.getInt64(1));
  }

  void findProgram(Value *x, Value *y, Value *z) {
    Value *image = b.CreateUDiv(z, a.groups), *member = b.CreateURem(z, a.groups);
    Value *row = b.CreateMul(x, a.rowsAtOnce);
    rows = l.smaller(b.CreateSub(a.m, row), a.rowsAtOnce);
    firstRow = b.CreateAdd(b.CreateMul(member, a.m), row);
    column = b.CreateMul(y, b.getInt64(productColumns));
    columns = l.smaller(b.CreateSub(a.n, column), b.getInt64(productColumns));
    Value *channel = b.CreateMul(b.CreateMul(member, a.channels), a.channelX);
    input = l.elementAt(a.x, b.CreateAdd(b.CreateMul(image, a.batchX), channel));
    output = l.elementAt(a.c, b.CreateAdd(b.CreateMul(image, a.batchC), column));
    output = l.elementAt(output, b.CreateMul(firstRow, a.channelC));
    weight = l.elementAt(a.weight, b.CreateMul(firstRow, a.k));
    Value *plane = b.CreateMul(a.output[1], a.output[2]), *inPlane = b.CreateURem(column, plane);
    place = {b.CreateUDiv(column, plane), b.CreateUDiv(inPlane, a.output[2]),
             b.CreateURem(inPlane, a.output[2])};
  }

  /// The windows' elements of `count` channels from `channel` on: [channel][tap][pitch].
  void pack(Value *channel, Value *count) {
    loads.forEachWay([&] {
      Value *zero = b.getInt64(0);
      emitLoop(b, zero, a.kernel[0], 1, true, [&](Value *i) {
        emitLoop(b, zero, a.kernel[1], 1, true, [&](Value *j) {
          emitLoop(b, zero, a.kernel[2], 1, true,
                   [&](Value *k) { packTap({i, j, k}, channel, count); });
        });
      });
    });
  }

  /// Columns in ascending order, so that what a vector stores beyond its line is stored again.
  void packTap(const WindowArguments::Three &tap, Value *channel, Value *count) {
    std::array<llvm::AllocaInst *, 4> at; // the place and the column
    for (size_t d = 0; d < 4; ++d) {
      at[d] = emitVariable(b, b.i64());
      b.CreateStore(d < 3 ? place[d] : b.getInt64(0), at[d]);
    }
    auto valueOf = [&](size_t d) { return b.CreateLoad(b.i64(), at[d]); };
    Value *line = b.CreateMul(tap[0], a.kernel[1]);
    line = b.CreateMul(b.CreateAdd(line, tap[1]), a.kernel[2]);
    line = b.CreateMul(b.CreateAdd(line, tap[2]), b.getInt64(pitch));
    TestedLoop loop = TestedLoop::begin(b);
    Value *done = valueOf(3);
    loop.enterBody(b.CreateICmpSLT(done, columns));
    WindowArguments::Three p{valueOf(0), valueOf(1), valueOf(2)}, in;
    for (size_t d = 0; d < 3; ++d)
      in[d] = b.CreateSub(
          b.CreateAdd(b.CreateMul(p[d], a.stride[d]), b.CreateMul(tap[d], a.dilation[d])),
          a.padding[d]);
    Value *length = l.smaller(b.CreateSub(a.output[2], p[2]), b.CreateSub(columns, done));
    packLine(in, b.CreateAdd(line, done), length, channel, count);
    // The next line begins at its first place.
    Value *next = b.CreateAdd(p[1], b.getInt64(1)), *ends = b.CreateICmpEQ(next, a.output[1]);
    b.CreateStore(b.getInt64(0), at[2]);
    b.CreateStore(b.CreateSelect(ends, b.getInt64(0), next), at[1]);
    b.CreateStore(b.CreateAdd(p[0], b.CreateZExt(ends, b.i64())), at[0]);
    b.CreateStore(b.CreateAdd(done, length), at[3]);
    loop.end();
  }

  void packLine(const WindowArguments::Three &in, Value *target, Value *length, Value *channel,
                Value *count) {
    Value *isThere =
        b.CreateAnd(b.CreateICmpULT(in[0], a.input[0]), b.CreateICmpULT(in[1], a.input[1]));
    Value *size = b.CreateSelect(isThere, a.input[2], b.getInt64(0));
    Value *offset = b.CreateAdd(b.CreateMul(in[0], a.planeX), b.CreateMul(in[1], a.lineX));
    offset = b.CreateAdd(offset, b.CreateMul(channel, a.channelX));
    Value *lineStep = b.CreateMul(taps, b.getInt64(pitch));
    emitLoop(b, b.getInt64(0), length, lanes, true, [&](Value *lane) {
      Value *first = b.CreateAdd(in[2], b.CreateMul(lane, a.stride[2]));
      Value *mask = loads.inside(first, size);
      Value *from = l.elementAt(input, b.CreateAdd(offset, first));
      Value *to = b.CreateAdd(target, lane);
      emitLoop(b, b.getInt64(0), count, 1, true, [&](Value *i) {
        Value *value = loads.load(l.elementAt(from, b.CreateMul(i, a.channelX)), mask);
        Value *at = b.CreateAdd(to, b.CreateMul(i, lineStep));
        b.CreateAlignedStore(value, l.elementAt(windows, at), llvm::Align(l.elementBytes()));
      });
    });
  }

  /// Lines of two terms side by side; behind an odd number of them stands one of zeros.
  void putPairsTogether(Value *count) {
    llvm::Type *line = lanesOf(l.held, lanes), *pair = lanesOf(b.i32(), lanes);
    llvm::Align align(l.elementBytes());
    auto at = [&](Value *term, Value *lane) {
      return b.CreateAdd(b.CreateMul(term, b.getInt64(pitch)), lane);
    };
    emitWhen(b, b.CreateTrunc(count, b.getInt1Ty()), [&] {
      for (int64_t lane = 0; lane < productColumns; lane += lanes)
        b.CreateAlignedStore(llvm::Constant::getNullValue(line),
                             l.elementAt(windows, at(count, b.getInt64(lane))), align);
    });
    if (tiles)
      fillUnit(count);
    emitLoop(b, b.getInt64(0), count, 2, true, [&](Value *term) {
      emitLoop(b, b.getInt64(0), columns, lanes, true, [&](Value *lane) {
        auto wide = [&](Value *of) {
          Value *loaded = b.CreateAlignedLoad(line, l.elementAt(windows, at(of, lane)), align);
          return b.CreateZExt(loaded, pair);
        };
        Value *low = wide(term), *high = wide(b.CreateAdd(term, b.getInt64(1)));
        Value *to = b.CreateAdd(b.CreateMul(term, b.getInt64(pitch)), b.CreateShl(lane, 1));
        b.CreateAlignedStore(b.CreateOr(low, b.CreateShl(high, integerLike(high, 16))),
                             l.elementAt(pairs, to), align);
      });
    });
  }

  /// Zeros from the last pair of terms to where the last tile of them ends.
  void fillUnit(Value *count) {
    Value *begin = b.CreateAnd(b.CreateAdd(count, b.getInt64(1)), b.getInt64(-2));
    Value *end = b.CreateAnd(b.CreateAdd(count, b.getInt64(unit - 1)), b.getInt64(-unit));
    llvm::Type *line = lanesOf(b.i32(), lanes);
    emitLoop(b, begin, end, 2, true, [&](Value *term) {
      for (int64_t lane = 0; lane < productColumns; lane += lanes)
        b.CreateAlignedStore(llvm::Constant::getNullValue(line),
                             l.elementAt(pairs, b.CreateAdd(b.CreateMul(term, b.getInt64(pitch)),
                                                            b.getInt64(2 * lane))),
                             llvm::Align(l.elementBytes()));
    });
  }

  void multiply(Value *channel, Value *count) {
    ProductBlock block;
    block.rows = rows, block.columns = columns;
    block.a = l.elementAt(weight, b.CreateMul(channel, taps)), block.lda = a.k;
    block.panels = group == 2 ? pairs : windows;
    block.panelStride = b.getInt64(package::productPanel * group);
    block.count = b.CreateMul(count, taps);
    block.first = b.CreateICmpEQ(channel, b.getInt64(0));
    block.depthStride = pitch;
    block.narrow = true;
    if (tiles)
      return tiles->emitBlock(block, sums);
    ProductBlock::Finish finish = storing(b.CreateICmpEQ(b.CreateAdd(channel, count), a.channels));
    if (storesSums())
      block.finish = &finish;
    emitVectorBlock(l, block, sums);
  }

  /// Sums go from registers to the result: where a part of a vector can be stored.
  bool storesSums() const { return !tiles && hasAvx512(l.level); }

  ProductBlock::Finish storing(Value *finished) {
    ProductBlock::Finish finish;
    finish.finished = finished;
    Value *firstBias = l.elementAt(a.bias, b.CreateMul(firstRow, a.biasStep));
    finish.given = {output, a.channelC, columns, firstBias, a.biasStep};
    finish.added = [this](auto given, Value *row, Value *, Value *sum) -> Value * {
      if (!hasBias)
        return sum;
      Value *at = l.elementAt(given[3], b.CreateMul(row, given[4]));
      Value *loaded = b.CreateAlignedLoad(l.held, at, llvm::Align(l.elementBytes()));
      return b.CreateFAdd(sum, widenFloat(b, splatTo(b, loaded, laneCount(sum)), l.element));
    };
    finish.store = [this](auto given, Value *row, Value *column, Value *sum) {
      Value *at = b.CreateAdd(b.CreateMul(row, given[1]), column);
      LaneValue to =
          LaneValue::ramp(l.elementAt(given[0], at), b.getInt64(int64_t(l.elementBytes())));
      l.memory.store(l.element, to, LaneValue::vector(roundedSums(l, sum)),
                     LaneValue::prefix(b.CreateSub(given[2], column)), laneCount(sum));
    };
    return finish;
  }

  void store(Value *row) {
    int64_t width = (hasAvx512(l.level) ? 512 : 256) / int64_t(l.sum->getPrimitiveSizeInBits());
    Value *to = l.elementAt(output, b.CreateMul(row, a.channelC)), *added = nullptr;
    if (hasBias) {
      Value *at = b.CreateMul(b.CreateAdd(firstRow, row), a.biasStep);
      Value *loaded =
          b.CreateAlignedLoad(l.held, l.elementAt(a.bias, at), llvm::Align(l.elementBytes()));
      added = widenFloat(b, splatTo(b, loaded, width), l.element);
    }
    auto part = [&](Value *lane, const LaneValue &mask) {
      llvm::Align align(l.sum->getPrimitiveSizeInBits() / 8);
      Value *result = b.CreateAlignedLoad(lanesOf(l.sum, width), sums.at(row, lane), align);
      if (added)
        result = b.CreateFAdd(result, added);
      l.memory.store(l.element,
                     LaneValue::ramp(l.elementAt(to, lane), b.getInt64(l.elementBytes())),
                     LaneValue::vector(roundedSums(l, result)), mask, width);
    };
    Value *whole = b.CreateAnd(columns, b.getInt64(-width));
    emitLoop(b, b.getInt64(0), whole, width, false,
             [&](Value *lane) { part(lane, LaneValue::uniform(b.getTrue())); });
    emitWhen(b, b.CreateICmpSLT(whole, columns),
             [&] { part(whole, LaneValue::prefix(b.CreateSub(columns, whole))); });
  }

  LibraryKernel &l;
  CodeBuilder &b;
  bool hasBias;
  int64_t group, lanes;
  int64_t unit, depth; ///< terms that are multiplied at once; most of a block
  ProductSums sums;
  Value *windows, *pairs = nullptr; ///< scratch
  WindowArguments a;
  WindowLoads loads;
  std::optional<TileProduct> tiles;
  Value *taps;
  // Of one program.
  Value *rows, *firstRow, *column, *columns, *input, *output, *weight;
  WindowArguments::Three place;
};

} // namespace

void emitConvolution(LibraryKernel &kernel, bool hasBias) {
  ConvolutionEmitter(kernel, hasBias).emit();
}

} // namespace pellucid::codegen
