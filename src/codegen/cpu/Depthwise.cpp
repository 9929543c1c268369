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
      loads.forEachWay([&] {
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
      value = widenFloat(b, value, l.element);
      b.CreateStore(b.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                                      {value, factor, b.CreateLoad(type, held[r])}),
                    held[r]);
    }
  }

  void storeLines(llvm::ArrayRef<llvm::AllocaInst *> held, Value *line, Value *lane,
                  bool isChecked) {
    for (int64_t r = 0; r < linesAtOnce; ++r) {
      Value *own = b.CreateAdd(line, b.getInt64(r));
      Value *isThere = isChecked ? b.CreateICmpSLT(own, a.output[1]) : b.getTrue();
      emitWhen(b, isThere, [&] {
        Value *to = l.elementAt(output, b.CreateAdd(b.CreateMul(own, a.output[2]), lane));
        l.memory.store(l.element, LaneValue::ramp(to, b.getInt64(l.elementBytes())),
                       LaneValue::vector(narrowFloat(b, b.CreateLoad(type, held[r]), l.element)),
                       LaneValue::prefix(b.CreateSub(a.output[2], lane)), lanes);
      });
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
