// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/Windows.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/cpu/Convolution.h"

namespace pellucid::codegen {

using llvm::Value;

WindowArguments::WindowArguments(LibraryKernel &l) {
  unsigned field = 0;
  for (Value **pointer : {&x, &weight, &bias, &c})
    *pointer = l.pointerArgument(field++);
  for (Value **size : {&m, &n, &k, &channels, &groups, &rowsAtOnce, &columnsAtOnce, &byLines})
    *size = l.integerArgument(field++);
  for (Three *list : {&input, &output, &kernel, &stride, &padding, &dilation})
    for (Value *&size : *list)
      size = l.integerArgument(field++);
  for (Value **step : {&batchX, &channelX, &planeX, &lineX, &batchC, &channelC, &biasStep})
    *step = l.integerArgument(field++);
  static_assert(sizeof(ConvolutionArguments) == 8 * convolutionFields);
}

void WindowLoads::forEachWay(llvm::function_ref<void()> body) {
  CodeBuilder &b = l.b;
  auto when = [&](Way chosen, Value *condition) {
    emitWhen(b, condition, [&] {
      way = chosen;
      body();
    });
  };
  when(Way::Dense, b.CreateICmpEQ(step, b.getInt64(1)));
  when(Way::EverySecond, b.CreateICmpEQ(step, b.getInt64(2)));
  when(Way::Apart, b.CreateICmpSGT(step, b.getInt64(2)));
}

Value *WindowLoads::inside(Value *first, Value *size) {
  CodeBuilder &b = l.b;
  int64_t count = way == Way::EverySecond ? 2 * lanes : lanes;
  if (way == Way::Apart) {
    Value *places = b.CreateMul(iota(b.i64(), count), splatTo(b, step, count));
    places = b.CreateAdd(places, splatTo(b, first, count));
    return b.CreateICmpULT(places, splatTo(b, size, count));
  }
  // The first lane that is inside, and the first one behind them.
  auto lanesUpTo = [&](Value *place) {
    Value *reached = b.CreateSub(place, first);
    reached = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, reached, b.getInt64(0));
    reached = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, reached, b.getInt64(count));
    return splatTo(b, b.CreateTrunc(reached, b.i32()), count);
  };
  Value *lane = iota(b.i32(), count);
  return b.CreateAnd(b.CreateICmpSGE(lane, lanesUpTo(b.getInt64(0))),
                     b.CreateICmpSLT(lane, lanesUpTo(size)));
}

Value *WindowLoads::isWhole(Value *first, Value *size) {
  CodeBuilder &b = l.b;
  Value *reach = b.CreateMul(b.getInt64(way == Way::EverySecond ? 2 * lanes : lanes),
                             way == Way::Apart ? step : b.getInt64(1));
  return b.CreateAnd(b.CreateICmpSGE(first, b.getInt64(0)),
                     b.CreateICmpSLE(b.CreateAdd(first, reach), size));
}

Value *WindowLoads::load(Value *address, Value *mask) {
  CodeBuilder &b = l.b;
  int64_t bytes = int64_t(l.elementBytes()), count = way == Way::EverySecond ? 2 * lanes : lanes;
  if (!mask && way != Way::Apart)
    return chosen(b.CreateAlignedLoad(lanesOf(l.held, count), address, llvm::Align(bytes)));
  if (!mask)
    mask = llvm::ConstantInt::getTrue(lanesOf(b.getInt1Ty(), count));
  if (way == Way::Apart) {
    LaneValue pointer = LaneValue::ramp(address, b.CreateMul(step, b.getInt64(bytes)));
    // Lanes in a vector: what is no ramp with a step known here is gathered.
    pointer = LaneValue::vector(toVector(b, pointer, count));
    return toVector(b, l.memory.load(l.element, pointer, LaneValue::vector(mask), {}, count),
                    count);
  }
  Value *loaded;
  if (hasAvx512(l.level)) {
    llvm::Type *type = lanesOf(l.held, count);
    loaded = b.CreateMaskedLoad(type, address, llvm::Align(bytes), mask,
                                llvm::Constant::getNullValue(type));
  } else {
    LaneValue pointer = LaneValue::ramp(address, b.getInt64(bytes));
    loaded =
        toVector(b, l.memory.load(l.element, pointer, LaneValue::vector(mask), {}, count), count);
  }
  return chosen(loaded);
}

Value *WindowLoads::chosen(Value *loaded) {
  if (way == Way::Dense)
    return loaded;
  llvm::SmallVector<int> even;
  for (int64_t lane = 0; lane < lanes; ++lane)
    even.push_back(int(2 * lane));
  return l.b.CreateShuffleVector(loaded, even);
}

} // namespace pellucid::codegen
