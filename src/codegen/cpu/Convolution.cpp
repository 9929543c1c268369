// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/Convolution.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/cpu/ProductBlock.h"
#include "codegen/cpu/Windows.h"

#include "llvm/IR/IntrinsicsX86.h"

namespace pellucid::codegen {

using llvm::Value;
using package::productColumns;

namespace {

/// Terms of a block: whole channels of them. Tile registers take more of them in the time that
/// loading and storing their sums takes.
constexpr int64_t tileBlockDepth = 2 * package::windowTerms;

/// Of sums in registers: two vectors of windows stay in the first-level cache beside the weights
/// that go by, but for kernels with more places.
constexpr int64_t convolutionDepth = 192;

/// Lanes of the widest load; a line's last one may reach so far beyond it.
constexpr int64_t mostLanes = 16;

class ConvolutionEmitter {
public:
  ConvolutionEmitter(LibraryKernel &kernel, bool hasBias)
      : l(kernel), b(kernel.b), hasBias(hasBias), group(package::packedGroup(kernel.type)),
        lanes(std::min<int64_t>(16, 64 / int64_t(kernel.elementBytes()))),
        mostColumns(group == 2 ? productColumns : package::windowColumns),
        pitch(mostColumns + mostLanes), sums(kernel, mostConvolutionRows, mostColumns), a(kernel),
        loads(kernel, a.stride[2], lanes) {
    bool hasTiles = hasTileProducts(l.level) && hasProductUnits(l.level, l.type);
    unit = hasTiles ? package::depthUnit(l.type) : group;
    depth = hasTiles ? tileBlockDepth : convolutionDepth;
    int64_t most = std::max(depth, package::windowTerms);
    windowElements = (most + unit - 1) * pitch;
    int64_t bytes = windowElements * int64_t(l.elementBytes());
    windows = l.reserveScratch(bytes);
    if (group == 2)
      pairs = l.reserveScratch(bytes);
    else
      packedOffsets = l.reserveScratch(8 * most), offsets = l.reserveScratch(8 * most);
    if (storesSums())
      stores = l.reserveScratch(sizeof(int64_t) * fieldsOfStore * mostColumns / 8);
    if (hasTiles)
      tiles.emplace(l, mostConvolutionRows);
  }

  void emit() {
    taps = b.CreateMul(b.CreateMul(a.kernel[0], a.kernel[1]), a.kernel[2]);
    findLayout();
    Value *channelsAtOnce = channelsOfBlock();
    if (group == 1)
      writeOffsets(channelsAtOnce);
    auto body = [&](Value *x, Value *y, Value *z) {
      findProgram(x, y, z);
      CountedLoop loop =
          CountedLoop::begin(b, b.getInt64(0), a.channels, channelsAtOnce, /*isUnsigned=*/false);
      Value *count = l.smaller(channelsAtOnce, b.CreateSub(a.channels, loop.index));
      emitWhen(b, b.CreateNot(isThere), [&] { pack(loop.index, count); });
      if (group == 2)
        putPairsTogether(b.CreateMul(count, taps));
      multiply(loop.index, count);
      loop.end();
      if (!storesSums())
        emitLoop(b, b.getInt64(0), rows, 1, false, [&](Value *row) { store(row); });
    };
    auto finish = [&] {
      if (tiles)
        tiles->release();
    };
    l.forPrograms(body, finish, bandWidth());
  }

private:
  /// Where the weight is larger than the image, a block of its rows is used for all places first.
  Value *bandWidth() {
    Value *image = b.CreateMul(b.CreateMul(a.input[0], a.input[1]), a.input[2]);
    Value *isHeavy = b.CreateICmpSGT(b.CreateMul(a.m, a.k), b.CreateMul(image, a.channels));
    return b.CreateSelect(isHeavy, b.getInt64(INT32_MAX), b.getInt64(1));
  }

  /// What does not depend on the program.
  void findLayout() {
    Value *zero = b.getInt64(0), *one = b.getInt64(1);
    isByLines = group == 1 ? b.CreateICmpNE(a.byLines, zero) : b.getFalse();
    // Behind all lines of windows stands no border.
    Value *reach = b.CreateMul(b.CreateSub(a.kernel[2], one), a.dilation[2]);
    Value *height = b.CreateMul(b.CreateSub(a.kernel[1], one), a.dilation[1]);
    lineWidth = b.CreateAdd(a.output[2], reach);
    lineSpan = b.CreateAdd(b.CreateMul(height, lineWidth), reach);
    lineStep = b.CreateAdd(b.CreateAdd(lineSpan, a.columnsAtOnce), b.getInt64(mostLanes));
    // Windows of one element, place after place, are rows of a matrix as they lie.
    Value *plain = b.CreateAnd(b.CreateICmpEQ(taps, one), b.CreateNot(isByLines));
    for (size_t d = 0; d < 3; ++d) {
      plain = b.CreateAnd(plain, b.CreateICmpEQ(a.stride[d], one));
      plain = b.CreateAnd(plain, b.CreateICmpEQ(a.padding[d], zero));
    }
    auto isNext = [&](Value *size, Value *step, Value *wanted) {
      return b.CreateOr(b.CreateICmpEQ(size, one), b.CreateICmpEQ(step, wanted));
    };
    plain = b.CreateAnd(plain, isNext(a.input[1], a.lineX, a.input[2]));
    Value *plane = b.CreateMul(a.input[1], a.input[2]);
    isPlain = b.CreateAnd(plain, isNext(a.input[0], a.planeX, plane));
    columnCount = b.CreateSelect(
        isByLines, b.CreateAdd(b.CreateMul(b.CreateSub(a.output[1], one), lineWidth), a.output[2]),
        a.n);
  }

  /// Where the columns of each term of a block begin: in packed windows, and in what else there is.
  void writeOffsets(Value *channelsAtOnce) {
    auto write = [&](Value *to, Value *channelStep, const WindowArguments::Three &steps) {
      emitLoop(b, b.getInt64(0), channelsAtOnce, 1, true, [&](Value *channel) {
        Value *at = b.CreateMul(channel, channelStep), *term = b.CreateMul(channel, taps);
        forTaps([&](const WindowArguments::Three &tap) {
          Value *offset = at;
          for (size_t d = 0; d < 3; ++d)
            offset = b.CreateAdd(offset, b.CreateMul(tap[d], steps[d]));
          Value *index = b.CreateAdd(term, indexOf(tap));
          b.CreateAlignedStore(offset, b.CreateGEP(b.i64(), to, index), llvm::Align(8));
        });
      });
    };
    Value *step = b.getInt64(pitch), *zero = b.getInt64(0);
    Value *line = b.CreateMul(a.kernel[2], step);
    write(packedOffsets, b.CreateMul(taps, step), {b.CreateMul(a.kernel[1], line), line, step});
    write(offsets, b.CreateSelect(isByLines, lineStep, a.channelX),
          {zero, b.CreateMul(a.dilation[1], lineWidth), a.dilation[2]});
  }

  void forTaps(llvm::function_ref<void(const WindowArguments::Three &)> body) {
    Value *zero = b.getInt64(0);
    emitLoop(b, zero, a.kernel[0], 1, true, [&](Value *i) {
      emitLoop(b, zero, a.kernel[1], 1, true, [&](Value *j) {
        emitLoop(b, zero, a.kernel[2], 1, true, [&](Value *k) { body({i, j, k}); });
      });
    });
  }

  Value *indexOf(const WindowArguments::Three &tap) {
    Value *line = b.CreateAdd(b.CreateMul(tap[0], a.kernel[1]), tap[1]);
    return b.CreateAdd(b.CreateMul(line, a.kernel[2]), tap[2]);
  }

  /// As many as fit, the same number in each block; of tile registers so many that their terms are
  /// whole tiles, if any are.
  Value *channelsOfBlock() {
    Value *most = b.getInt64(depth);
    if (group == 1)
      most = b.CreateSelect(isByLines, b.getInt64(package::windowTerms), most);
    Value *fitting = b.CreateUDiv(most, taps);
    if (group == 1) {
      Value *inScratch = b.CreateUDiv(b.getInt64(windowElements), lineStep);
      fitting = b.CreateSelect(isByLines, l.smaller(fitting, inScratch), fitting);
    }
    fitting = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, fitting, b.getInt64(1));
    if (tiles) {
      Value *factors = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, taps, b.getFalse());
      factors = l.smaller(factors, b.getInt64(llvm::Log2_64(unit)));
      Value *step = b.CreateLShr(b.getInt64(unit), factors);
      Value *whole = b.CreateAnd(fitting, b.CreateNeg(step));
      return b.CreateSelect(b.CreateICmpEQ(whole, b.getInt64(0)), fitting, whole);
    }
    auto roundedUp = [&](Value *size, Value *by) {
      return b.CreateUDiv(b.CreateAdd(size, b.CreateSub(by, b.getInt64(1))), by);
    };
    return roundedUp(a.channels, roundedUp(a.channels, fitting));
  }

  void findProgram(Value *x, Value *y, Value *z) {
    Value *image = b.CreateUDiv(z, a.groups), *member = b.CreateURem(z, a.groups);
    Value *row = b.CreateMul(x, a.rowsAtOnce);
    rows = l.smaller(b.CreateSub(a.m, row), a.rowsAtOnce);
    firstRow = b.CreateAdd(b.CreateMul(member, a.m), row);
    column = b.CreateMul(y, a.columnsAtOnce);
    columns = l.smaller(b.CreateSub(columnCount, column), a.columnsAtOnce);
    Value *channel = b.CreateMul(b.CreateMul(member, a.channels), a.channelX);
    input = l.elementAt(a.x, b.CreateAdd(b.CreateMul(image, a.batchX), channel));
    weight = l.elementAt(a.weight, b.CreateMul(firstRow, a.k));
    width = b.CreateSelect(isByLines, lineWidth, a.output[2]);
    Value *plane = b.CreateMul(a.output[1], width);
    Value *inPlane = b.CreateSelect(isByLines, column, b.CreateURem(column, plane));
    place = {b.CreateSelect(isByLines, b.getInt64(0), b.CreateUDiv(column, plane)),
             b.CreateUDiv(inPlane, width), b.CreateURem(inPlane, width)};
    // Whole vectors alone: there may be nothing behind the last place.
    Value *isWhole = b.CreateICmpEQ(b.CreateAnd(columns, b.getInt64(mostLanes - 1)), b.getInt64(0));
    isThere = group == 1 ? b.CreateAnd(isPlain, isWhole) : b.getFalse();
    Value *firstStored =
        b.CreateAdd(b.CreateMul(place[1], a.output[2]), l.smaller(place[2], a.output[2]));
    firstStored = b.CreateSelect(isByLines, firstStored, column);
    output = l.elementAt(a.c, b.CreateAdd(b.CreateMul(image, a.batchC), firstStored));
    output = l.elementAt(output, b.CreateMul(firstRow, a.channelC));
    if (storesSums())
      findStores();
  }

  /// Of each vector of sums: what of the result comes before it, how many elements of it are the
  /// result's, and which.
  void findStores() {
    Value *zero = b.getInt64(0), *one = b.getInt64(1);
    std::array<llvm::AllocaInst *, 3> held; // a place in its line, elements before, which of them
    std::array<Value *, 3> begin{b.CreateSelect(isByLines, place[2], zero), zero, zero};
    for (size_t i = 0; i < held.size(); ++i)
      b.CreateStore(begin[i], held[i] = emitVariable(b, b.i64()));
    Value *end = b.CreateSelect(isByLines, a.output[2], b.getInt64(INT64_MAX));
    int64_t sumLanes = widthOfSums();
    emitLoop(b, zero, columns, sumLanes, true, [&](Value *first) {
      Value *before = b.CreateLoad(b.i64(), held[1]);
      b.CreateStore(zero, held[2]);
      Value *count = l.smaller(b.CreateSub(columns, first), b.getInt64(sumLanes));
      emitLoop(b, zero, count, 1, true, [&](Value *lane) {
        Value *x = b.CreateLoad(b.i64(), held[0]);
        Value *isStored = b.CreateZExt(b.CreateICmpSLT(x, end), b.i64());
        Value *next = b.CreateAdd(x, one);
        Value *wraps = b.CreateAnd(isByLines, b.CreateICmpEQ(next, lineWidth));
        b.CreateStore(b.CreateSelect(wraps, zero, next), held[0]);
        b.CreateStore(b.CreateAdd(b.CreateLoad(b.i64(), held[1]), isStored), held[1]);
        Value *bits = b.CreateOr(b.CreateLoad(b.i64(), held[2]), b.CreateShl(isStored, lane));
        b.CreateStore(bits, held[2]);
      });
      Value *stored = b.CreateSub(b.CreateLoad(b.i64(), held[1]), before);
      unsigned field = 0;
      for (Value *value : {before, stored, static_cast<Value *>(b.CreateLoad(b.i64(), held[2]))})
        b.CreateAlignedStore(value, storeField(stores, first, field++), llvm::Align(8));
    });
  }

  /// Of the vector that begins with `column`.
  Value *storeField(Value *base, Value *column, unsigned field) {
    Value *vector = b.CreateUDiv(column, b.getInt64(widthOfSums()));
    Value *index = b.CreateMul(vector, b.getInt64(fieldsOfStore));
    return b.CreateGEP(b.i64(), base, b.CreateAdd(index, b.getInt64(field)));
  }

  int64_t widthOfSums() const {
    return (hasAvx512(l.level) ? 512 : 256) / int64_t(l.sum->getPrimitiveSizeInBits());
  }

  /// A place and where its line is wanted.
  struct Lines {
    Value *width;   ///< places of a line
    Value *columns; ///< places there are
    Value *step;    ///< from one channel to the next
  };

  /// Of `count` channels from `channel` on the windows' elements, [channel][tap][pitch], or the
  /// lines that they lie in.
  void pack(Value *channel, Value *count) {
    loads.forEachWay([&] {
      auto windows = [&] {
        Lines lines{a.output[2], columns, b.CreateMul(taps, b.getInt64(pitch))};
        forTaps([&](const WindowArguments::Three &tap) {
          packTap(tap, b.CreateMul(indexOf(tap), b.getInt64(pitch)), lines, channel, count);
        });
      };
      if (group == 2)
        return windows();
      emitBranches(b, isByLines,
                   [&](unsigned side) { side == 0 ? packLines(channel, count) : windows(); });
    });
  }

  /// Long lines channel after channel: they follow one another in memory. Masks of short ones are
  /// made once for all channels.
  void packLines(Value *channel, Value *count) {
    Value *zero = b.getInt64(0), *one = b.getInt64(1);
    Value *isLong = b.CreateICmpSGE(lineWidth, b.getInt64(3 * mostLanes));
    Value *atOnce = b.CreateSelect(isLong, one, count);
    CountedLoop loop = CountedLoop::begin(b, zero, count, atOnce, false);
    packTap({zero, zero, zero}, b.CreateMul(loop.index, lineStep),
            {lineWidth, b.CreateAdd(columns, lineSpan), lineStep}, b.CreateAdd(channel, loop.index),
            atOnce);
    loop.end();
  }

  /// Columns in ascending order, so that what a vector stores beyond its line is stored again.
  void packTap(const WindowArguments::Three &tap, Value *line, const Lines &lines, Value *channel,
               Value *count) {
    std::array<llvm::AllocaInst *, 4> at; // the place and the column
    for (size_t d = 0; d < 4; ++d) {
      at[d] = emitVariable(b, b.i64());
      b.CreateStore(d < 3 ? place[d] : b.getInt64(0), at[d]);
    }
    auto valueOf = [&](size_t d) { return b.CreateLoad(b.i64(), at[d]); };
    TestedLoop loop = TestedLoop::begin(b);
    Value *done = valueOf(3);
    loop.enterBody(b.CreateICmpSLT(done, lines.columns));
    WindowArguments::Three p{valueOf(0), valueOf(1), valueOf(2)}, in;
    for (size_t d = 0; d < 3; ++d)
      in[d] = b.CreateSub(
          b.CreateAdd(b.CreateMul(p[d], a.stride[d]), b.CreateMul(tap[d], a.dilation[d])),
          a.padding[d]);
    Value *length = l.smaller(b.CreateSub(lines.width, p[2]), b.CreateSub(lines.columns, done));
    packLine(in, b.CreateAdd(line, done), length, lines.step, channel, count);
    // The next line begins at its first place; those of windows go on behind the last result.
    Value *next = b.CreateAdd(p[1], b.getInt64(1)), *ends = b.CreateICmpEQ(next, a.output[1]);
    ends = b.CreateAnd(ends, b.CreateNot(isByLines));
    b.CreateStore(b.getInt64(0), at[2]);
    b.CreateStore(b.CreateSelect(ends, b.getInt64(0), next), at[1]);
    b.CreateStore(b.CreateAdd(p[0], b.CreateZExt(ends, b.i64())), at[0]);
    b.CreateStore(b.CreateAdd(done, length), at[3]);
    loop.end();
  }

  void packLine(const WindowArguments::Three &in, Value *target, Value *length, Value *channelStep,
                Value *channel, Value *count) {
    Value *isInside =
        b.CreateAnd(b.CreateICmpULT(in[0], a.input[0]), b.CreateICmpULT(in[1], a.input[1]));
    Value *size = b.CreateSelect(isInside, a.input[2], b.getInt64(0));
    Value *offset = b.CreateAdd(b.CreateMul(in[0], a.planeX), b.CreateMul(in[1], a.lineX));
    offset = b.CreateAdd(offset, b.CreateMul(channel, a.channelX));
    emitLoop(b, b.getInt64(0), length, lanes, true, [&](Value *lane) {
      Value *first = b.CreateAdd(in[2], b.CreateMul(lane, a.stride[2]));
      Value *from = l.elementAt(input, b.CreateAdd(offset, first));
      Value *to = b.CreateAdd(target, lane);
      auto copy = [&](Value *mask) {
        emitLoop(b, b.getInt64(0), count, 1, true, [&](Value *i) {
          Value *value = loads.load(l.elementAt(from, b.CreateMul(i, a.channelX)), mask);
          Value *at = b.CreateAdd(to, b.CreateMul(i, channelStep));
          b.CreateAlignedStore(value, l.elementAt(windows, at), llvm::Align(l.elementBytes()));
        });
      };
      emitBranches(b, loads.isWhole(first, size),
                   [&](unsigned side) { copy(side == 0 ? nullptr : loads.inside(first, size)); });
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
    if (group == 1) {
      Value *first = b.CreateAdd(b.CreateMul(channel, a.channelX), column);
      block.panels = b.CreateSelect(isThere, l.elementAt(input, first), windows);
      block.offsets = b.CreateSelect(b.CreateOr(isThere, isByLines), offsets, packedOffsets);
    }
    block.panelStride = b.getInt64(package::productPanel * group);
    block.count = b.CreateMul(count, taps);
    block.first = b.CreateICmpEQ(channel, b.getInt64(0));
    block.depthStride = pitch;
    block.narrow = true;
    if (tiles)
      return tiles->emitBlock(block, sums);
    Value *isLast = b.CreateICmpEQ(b.CreateAdd(channel, count), a.channels);
    ProductBlock::Finish finish = storing(isLast);
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
    finish.given = {output, a.channelC, stores, firstBias, a.biasStep};
    finish.added = [this](auto given, Value *row, Value *, Value *sum) -> Value * {
      if (!hasBias)
        return sum;
      Value *at = l.elementAt(given[3], b.CreateMul(row, given[4]));
      Value *loaded = b.CreateAlignedLoad(l.held, at, llvm::Align(l.elementBytes()));
      return b.CreateFAdd(sum, widenFloat(b, splatTo(b, loaded, laneCount(sum)), l.element));
    };
    finish.store = [this](auto given, Value *row, Value *column, Value *sum) {
      auto field = [&](unsigned number) {
        return b.CreateAlignedLoad(b.i64(), storeField(given[2], column, number), llvm::Align(8));
      };
      Value *at = b.CreateAdd(b.CreateMul(row, given[1]), field(0));
      LaneValue to =
          LaneValue::ramp(l.elementAt(given[0], at), b.getInt64(int64_t(l.elementBytes())));
      if (group == 1) {
        unsigned count = laneCount(sum);
        Value *wanted = b.CreateBitCast(b.CreateTrunc(field(2), b.getIntNTy(count)),
                                        lanesOf(b.getInt1Ty(), count));
        sum = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_compress, {sum->getType()},
                                {sum, sum, wanted});
      }
      l.memory.store(l.element, to, LaneValue::vector(roundedSums(l, sum)),
                     LaneValue::prefix(field(1)), laneCount(sum));
    };
    return finish;
  }

  /// From scratch memory, line by line.
  void store(Value *row) {
    int64_t width = widthOfSums();
    Value *to = l.elementAt(output, b.CreateMul(row, a.channelC)), *added = nullptr;
    if (hasBias) {
      Value *at = b.CreateMul(b.CreateAdd(firstRow, row), a.biasStep);
      Value *loaded =
          b.CreateAlignedLoad(l.held, l.elementAt(a.bias, at), llvm::Align(l.elementBytes()));
      added = widenFloat(b, splatTo(b, loaded, width), l.element);
    }
    auto part = [&](Value *from, Value *at, const LaneValue &mask) {
      llvm::Align align(l.sum->getPrimitiveSizeInBits() / 8);
      Value *result = b.CreateAlignedLoad(lanesOf(l.sum, width), sums.at(row, from), align);
      if (added)
        result = b.CreateFAdd(result, added);
      l.memory.store(l.element, LaneValue::ramp(l.elementAt(to, at), b.getInt64(l.elementBytes())),
                     LaneValue::vector(roundedSums(l, result)), mask, width);
    };
    auto line = [&](Value *from, Value *at, Value *length) {
      Value *whole = b.CreateAnd(length, b.getInt64(-width));
      emitLoop(b, b.getInt64(0), whole, width, false, [&](Value *lane) {
        part(b.CreateAdd(from, lane), b.CreateAdd(at, lane), LaneValue::uniform(b.getTrue()));
      });
      emitWhen(b, b.CreateICmpSLT(whole, length), [&] {
        part(b.CreateAdd(from, whole), b.CreateAdd(at, whole),
             LaneValue::prefix(b.CreateSub(length, whole)));
      });
    };
    emitBranches(b, isByLines, [&](unsigned side) {
      side == 0 ? forLines(line) : line(b.getInt64(0), b.getInt64(0), columns);
    });
  }

  /// Of the program's columns those that are a line's results: the first, where it goes, how many.
  void forLines(llvm::function_ref<void(Value *, Value *, Value *)> body) {
    Value *zero = b.getInt64(0);
    auto *from = emitVariable(b, b.i64()), *to = emitVariable(b, b.i64());
    b.CreateStore(b.CreateSub(zero, place[2]), from);
    b.CreateStore(zero, to);
    TestedLoop loop = TestedLoop::begin(b);
    Value *line = b.CreateLoad(b.i64(), from), *at = b.CreateLoad(b.i64(), to);
    loop.enterBody(b.CreateICmpSLT(line, columns));
    Value *begin = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, line, zero);
    Value *length = b.CreateSub(l.smaller(b.CreateAdd(line, a.output[2]), columns), begin);
    length = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, length, zero);
    body(begin, at, length);
    b.CreateStore(b.CreateAdd(line, lineWidth), from);
    b.CreateStore(b.CreateAdd(at, length), to);
    loop.end();
  }

  LibraryKernel &l;
  CodeBuilder &b;
  bool hasBias;
  static constexpr int64_t fieldsOfStore = 3;
  int64_t group, lanes, mostColumns;
  int64_t pitch;       ///< columns of a packed line, and as many as a vector may reach beyond it
  int64_t unit, depth; ///< terms that are multiplied at once; most of a block
  int64_t windowElements;
  ProductSums sums;
  Value *windows, *pairs = nullptr;                   ///< scratch
  Value *packedOffsets = nullptr, *offsets = nullptr; ///< scratch: ProductBlock::offsets
  Value *stores = nullptr;                            ///< scratch: findStores
  WindowArguments a;
  WindowLoads loads;
  std::optional<TileProduct> tiles;
  Value *taps, *columnCount;
  Value *isByLines, *isPlain;             ///< i1: from lines; B lies in memory as it is wanted
  Value *lineWidth, *lineSpan, *lineStep; ///< elements: of one, of a window, of a channel
  // Of one program.
  Value *isThere; ///< an i1: nothing is packed
  Value *rows, *firstRow, *column, *columns, *width, *input, *output, *weight;
  WindowArguments::Three place;
};

} // namespace

void emitConvolution(LibraryKernel &kernel, bool hasBias) {
  ConvolutionEmitter(kernel, hasBias).emit();
}

} // namespace pellucid::codegen
