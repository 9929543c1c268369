// SPDX-License-Identifier: Apache-2.0
// Channels with a kernel each: a few lines of a channel's results at a time, as vectors along the
// line.
#include "codegen/cpu/Convolution.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/cpu/Windows.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {

class DepthwiseEmitter {
public:
  DepthwiseEmitter(LibraryKernel &kernel, bool hasBias)
      : l(kernel), b(kernel.b), hasBias(hasBias),
        lanes((hasAvx512(kernel.level) ? 512 : 256) / kernel.sum->getPrimitiveSizeInBits()),
        type(lanesOf(kernel.sum, lanes)), a(kernel), loads(kernel, a.stride[2], lanes) {}

  void emit() {
    l.forPrograms([&](Value *x, Value *y, Value *z) {
      findProgram(x, y, z);
      // Where neighbouring lines' windows share lines of the input, each is loaded once for all.
      Value *isShared = b.CreateAnd(b.CreateICmpEQ(a.stride[1], b.getInt64(1)),
                                    b.CreateICmpEQ(a.dilation[1], b.getInt64(1)));
      Value *isHigh = b.CreateICmpSGE(a.kernel[1], b.getInt64(4));
      isShared = b.CreateAnd(isShared, b.CreateICmpSGE(a.kernel[1], b.getInt64(3)));
      Value *isLine = b.CreateAnd(b.CreateICmpEQ(a.output[1], b.getInt64(1)),
                                  b.CreateICmpEQ(a.dilation[1], b.getInt64(1)));
      Value *hasLines = b.CreateNot(isLine);
      isShared = b.CreateAnd(isShared, hasLines);
      loads.forEachWay([&] {
        emitWhen(b, isLine, [&] { emitOneLine(); });
        emitWhen(b, b.CreateAnd(isShared, isHigh), [&] { emitShared(4); });
        emitWhen(b, b.CreateAnd(isShared, b.CreateNot(isHigh)), [&] { emitShared(3); });
        emitWhen(b, b.CreateAnd(hasLines, b.CreateNot(isShared)), [&] { emitApart(); });
      });
    });
  }

private:
  static constexpr int64_t linesAtOnce = 4;

  /// The index in the input of a window's first element.
  Value *firstOf(size_t d, Value *place) {
    return b.CreateSub(b.CreateMul(place, a.stride[d]), a.padding[d]);
  }

  void findProgram(Value *x, Value *y, Value *z) {
    Value *source = b.CreateUDiv(x, a.m);
    input =
        l.elementAt(a.x, b.CreateAdd(b.CreateMul(y, a.batchX), b.CreateMul(source, a.channelX)));
    Value *plane = b.CreateMul(z, b.CreateMul(a.output[1], a.output[2]));
    Value *offset = b.CreateAdd(b.CreateMul(y, a.batchC), b.CreateMul(x, a.channelC));
    output = l.elementAt(a.c, b.CreateAdd(offset, plane));
    weight = l.elementAt(a.weight, b.CreateMul(x, a.k));
    firstPlane = firstOf(0, z);
    begin = llvm::Constant::getNullValue(type);
    if (hasBias)
      begin = scalar(l.elementAt(a.bias, b.CreateMul(x, a.biasStep)));
  }

  Value *scalar(Value *address) {
    Value *loaded = b.CreateAlignedLoad(l.held, address, llvm::Align(l.elementBytes()));
    return widenFloat(b, splatTo(b, loaded, lanes), l.element);
  }

  void emitApart() {
    emitLoop(b, b.getInt64(0), a.output[1], linesAtOnce, false, [&](Value *line) {
      Value *top = firstOf(1, line);
      Value *reach = b.CreateMul(b.CreateSub(a.kernel[1], b.getInt64(1)), a.dilation[1]);
      reach = b.CreateAdd(reach, b.CreateMul(a.stride[1], b.getInt64(linesAtOnce - 1)));
      Value *isWhole =
          b.CreateAnd(b.CreateICmpSLE(b.CreateAdd(line, b.getInt64(linesAtOnce)), a.output[1]),
                      b.CreateAnd(b.CreateICmpSGE(top, b.getInt64(0)),
                                  b.CreateICmpSLT(b.CreateAdd(top, reach), a.input[1])));
      emitWhen(b, isWhole, [&] { emitLines(line, top, false); });
      emitWhen(b, b.CreateNot(isWhole), [&] { emitLines(line, top, true); });
    });
  }

  /// `count` lines at a time, of which the kernel has as many at least.
  void emitShared(int64_t count) {
    emitLoop(b, b.getInt64(0), a.output[1], count, false, [&](Value *line) {
      emitLoop(b, b.getInt64(0), a.output[2], 2 * lanes, true, [&](Value *lane) {
        Value *isWide = b.CreateICmpSGT(b.CreateSub(a.output[2], lane), b.getInt64(lanes));
        emitWhen(b, isWide, [&] { SharedLines(*this, line, lane, count, 2).emit(); });
        emitWhen(b, b.CreateNot(isWide), [&] { SharedLines(*this, line, lane, count, 1).emit(); });
      });
    });
  }

  /// Four vectors of the line at a time; where no window of theirs reaches beyond the input,
  /// without masks.
  void emitOneLine() {
    constexpr int64_t most = 4;
    Value *line = b.getInt64(0);
    llvm::AllocaInst *at = emitVariable(b, b.i64());
    b.CreateStore(line, at);
    Value *reach = b.CreateMul(b.CreateSub(a.kernel[2], b.getInt64(1)), a.dilation[2]);
    TestedLoop loop = TestedLoop::begin(b);
    Value *lane = b.CreateLoad(b.i64(), at), *left = b.CreateSub(a.output[2], lane);
    loop.enterBody(b.CreateICmpSGT(left, b.getInt64(0)));
    Value *isTwo = b.CreateICmpSGT(left, b.getInt64(lanes));
    Value *last = firstOf(2, b.CreateAdd(lane, b.getInt64((most - 1) * lanes)));
    Value *isWhole = b.CreateAnd(b.CreateICmpSGE(firstOf(2, lane), b.getInt64(0)),
                                 loads.isWhole(b.CreateAdd(last, reach), a.input[2]));
    isWhole = b.CreateAnd(isWhole, b.CreateICmpSGT(left, b.getInt64((most - 1) * lanes)));
    Value *isCut = b.CreateNot(isWhole);
    auto sums = [&](Value *condition, int64_t vectors, bool whole) {
      emitWhen(b, condition, [&] { SharedLines(*this, line, lane, 1, vectors, whole).emit(); });
    };
    sums(isWhole, most, true);
    sums(b.CreateAnd(isCut, isTwo), 2, false);
    sums(b.CreateAnd(isCut, b.CreateNot(isTwo)), 1, false);
    Value *done = b.CreateSelect(isTwo, b.getInt64(2), b.getInt64(1));
    done = b.CreateSelect(isWhole, b.getInt64(most), done);
    b.CreateStore(b.CreateAdd(lane, b.CreateMul(done, b.getInt64(lanes))), at);
    loop.end();
  }

  /// Sums of `count` lines and `vectors` vectors of each. `isWhole`: all that their windows have of
  /// a line lies inside the input.
  struct SharedLines {
    SharedLines(DepthwiseEmitter &emitter, Value *line, Value *lane, int64_t count, int64_t vectors,
                bool isWhole = false)
        : e(emitter), b(emitter.b), line(line), lane(lane), count(count), vectors(vectors),
          isWhole(isWhole), top(e.firstOf(1, line)) {}

    void emit() {
      for (int64_t i = 0; i < count * vectors; ++i) {
        held.push_back(emitVariable(b, e.type));
        b.CreateStore(e.begin, held.back());
      }
      Value *zero = b.getInt64(0);
      emitLoop(b, zero, e.a.kernel[0], 1, true, [&](Value *i) {
        Value *plane = b.CreateAdd(e.firstPlane, b.CreateMul(i, e.a.dilation[0]));
        emitWhen(b, b.CreateICmpULT(plane, e.a.input[0]), [&] {
          emitLoop(b, zero, e.a.kernel[2], 1, true, [&](Value *k) { addColumn(i, plane, k); });
        });
      });
      for (int64_t r = 0; r < count; ++r) {
        Value *own = b.CreateAdd(line, b.getInt64(r));
        emitWhen(b, b.CreateICmpSLT(own, e.a.output[1]), [&] {
          for (int64_t v = 0; v < vectors; ++v)
            e.storeLine(held[r * vectors + v], own, b.CreateAdd(lane, b.getInt64(v * e.lanes)),
                        isWhole);
        });
      }
    }

  private:
    /// One column of the kernel. The input's lines that some of the sums' windows begin or end in,
    /// and those between.
    void addColumn(Value *i, Value *plane, Value *k) {
      masks.clear(), from.clear();
      for (int64_t v = 0; v < vectors; ++v) {
        Value *first = e.firstOf(2, b.CreateAdd(lane, b.getInt64(v * e.lanes)));
        first = b.CreateAdd(first, b.CreateMul(k, e.a.dilation[2]));
        masks.push_back(isWhole ? nullptr : e.loads.inside(first, e.a.input[2]));
        from.push_back(e.l.elementAt(e.input, b.CreateAdd(b.CreateMul(plane, e.a.planeX), first)));
      }
      Value *above = b.CreateMul(b.CreateMul(i, e.a.kernel[1]), e.a.kernel[2]);
      column = e.l.elementAt(e.weight, b.CreateAdd(above, k));
      Value *height = e.a.kernel[1], *size = e.a.input[1];
      auto edge = [&](Value *j, int64_t begin, int64_t end) {
        emitWhen(b, b.CreateICmpULT(b.CreateAdd(top, j), size), [&] { addLine(j, begin, end); });
      };
      for (int64_t j = 0; j + 1 < count; ++j)
        edge(b.getInt64(j), 0, j + 1);
      Value *begin =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.getInt64(count - 1), b.CreateNeg(top));
      Value *end = e.l.smaller(height, b.CreateSub(size, top));
      emitLoop(b, begin, end, 1, false, [&](Value *j) { addLine(j, 0, count); });
      for (int64_t j = 1; j < count; ++j)
        edge(b.CreateAdd(height, b.getInt64(j - 1)), j, count);
    }

    /// The window's line `j`, counted from the first sum's, to the sums from `begin` to `end`.
    void addLine(Value *j, int64_t begin, int64_t end) {
      Value *offset = b.CreateMul(b.CreateAdd(top, j), e.a.lineX);
      llvm::SmallVector<Value *> values;
      for (int64_t v = 0; v < vectors; ++v)
        values.push_back(
            widenFloat(b, e.loads.load(e.l.elementAt(from[v], offset), masks[v]), e.l.element));
      for (int64_t r = begin; r < end; ++r) {
        Value *own = b.CreateMul(b.CreateSub(j, b.getInt64(r)), e.a.kernel[2]);
        Value *factor = e.scalar(e.l.elementAt(column, own));
        for (int64_t v = 0; v < vectors; ++v)
          e.addTerm(held[r * vectors + v], values[v], factor);
      }
    }

    DepthwiseEmitter &e;
    CodeBuilder &b;
    Value *line, *lane;
    int64_t count, vectors;
    bool isWhole;
    Value *top, *column = nullptr;
    llvm::SmallVector<llvm::AllocaInst *> held;
    llvm::SmallVector<Value *> masks, from;
  };

  void addTerm(llvm::AllocaInst *held, Value *value, Value *factor) {
    b.CreateStore(
        b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {value, factor, b.CreateLoad(type, held)}),
        held);
  }

  void storeLine(llvm::AllocaInst *held, Value *line, Value *lane, bool isWhole = false) {
    Value *to = l.elementAt(output, b.CreateAdd(b.CreateMul(line, a.output[2]), lane));
    l.memory.store(l.element, LaneValue::ramp(to, b.getInt64(l.elementBytes())),
                   LaneValue::vector(narrowFloat(b, b.CreateLoad(type, held), l.element)),
                   isWhole ? LaneValue::uniform(b.getTrue())
                           : LaneValue::prefix(b.CreateSub(a.output[2], lane)),
                   lanes);
  }

  /// `isChecked`: some of the lines have windows beyond the input, or are not there.
  void emitLines(Value *line, Value *top, bool isChecked) {
    emitLoop(b, b.getInt64(0), a.output[2], lanes, true, [&](Value *lane) {
      llvm::SmallVector<llvm::AllocaInst *> held;
      for (int64_t r = 0; r < linesAtOnce; ++r) {
        held.push_back(emitVariable(b, type));
        b.CreateStore(begin, held.back());
      }
      Value *zero = b.getInt64(0);
      emitLoop(b, zero, a.kernel[0], 1, true, [&](Value *i) {
        Value *plane = b.CreateAdd(firstPlane, b.CreateMul(i, a.dilation[0]));
        emitWhen(b, b.CreateICmpULT(plane, a.input[0]), [&] {
          emitLoop(b, zero, a.kernel[2], 1, true, [&](Value *k) {
            Value *first = b.CreateAdd(firstOf(2, lane), b.CreateMul(k, a.dilation[2]));
            Value *mask = loads.inside(first, a.input[2]);
            Value *from = l.elementAt(input, b.CreateAdd(b.CreateMul(plane, a.planeX), first));
            emitLoop(b, zero, a.kernel[1], 1, true, [&](Value *j) {
              Value *tap = b.CreateAdd(b.CreateMul(i, a.kernel[1]), j);
              Value *factor =
                  scalar(l.elementAt(weight, b.CreateAdd(b.CreateMul(tap, a.kernel[2]), k)));
              Value *at = b.CreateAdd(top, b.CreateMul(j, a.dilation[1]));
              addLines(held, from, at, mask, factor, isChecked);
            });
          });
        });
      });
      storeLines(held, line, lane, isChecked);
    });
  }

  void addLines(llvm::ArrayRef<llvm::AllocaInst *> held, Value *from, Value *at, Value *mask,
                Value *factor, bool isChecked) {
    for (int64_t r = 0; r < linesAtOnce; ++r) {
      Value *own = b.CreateAdd(at, b.CreateMul(a.stride[1], b.getInt64(r))), *inside = mask;
      if (isChecked)
        inside = b.CreateSelect(b.CreateICmpULT(own, a.input[1]), mask,
                                llvm::Constant::getNullValue(mask->getType()));
      Value *value = loads.load(l.elementAt(from, b.CreateMul(own, a.lineX)), inside);
      addTerm(held[r], widenFloat(b, value, l.element), factor);
    }
  }

  void storeLines(llvm::ArrayRef<llvm::AllocaInst *> held, Value *line, Value *lane,
                  bool isChecked) {
    for (int64_t r = 0; r < linesAtOnce; ++r) {
      Value *own = b.CreateAdd(line, b.getInt64(r));
      Value *isThere = isChecked ? b.CreateICmpSLT(own, a.output[1]) : b.getTrue();
      emitWhen(b, isThere, [&] { storeLine(held[r], own, lane); });
    }
  }

  LibraryKernel &l;
  CodeBuilder &b;
  bool hasBias;
  int64_t lanes;
  llvm::Type *type;
  WindowArguments a;
  WindowLoads loads;
  // Of one program.
  Value *input, *output, *weight, *firstPlane, *begin;
};

} // namespace

void emitDepthwise(LibraryKernel &kernel, bool hasBias) {
  DepthwiseEmitter(kernel, hasBias).emit();
}

} // namespace pellucid::codegen
