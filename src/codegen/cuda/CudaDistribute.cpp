// SPDX-License-Identifier: Apache-2.0
// A stable distribution of a tile by digits. Each warp takes its piece of the tile 32 elements at a
// time: lanes find those of their digit by votes, and a counter of the warp says how many came
// before. Then the counters of all warps and digits are added up, and each element goes through
// shared memory to where its digit and its warp have come to.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

namespace {

constexpr uint32_t lanes = 32;

/// The steps of one distribution.
class Distribution {
public:
  Distribution(CodeBuilder &b, const ThreadNumbers &thread, uint32_t digits, uint32_t warps)
      : b(b), thread(thread), digits(digits), warps(warps) {}

  void syncWarp() { b.CreateIntrinsic(I::nvvm_bar_warp_sync, {}, {b.getInt32(~0u)}); }
  Value *vote(Value *bit) {
    return b.CreateIntrinsic(I::nvvm_vote_ballot_sync, {}, {b.getInt32(~0u), bit});
  }
  Value *shuffleUp(Value *value, uint32_t distance) {
    return b.CreateIntrinsic(I::nvvm_shfl_sync_up_i32, {},
                             {b.getInt32(~0u), value, b.getInt32(distance), b.getInt32(0)});
  }

  /// The lanes of `active` that have the digit of this one.
  Value *equals(Value *digit, Value *active) {
    Value *mask = active;
    for (uint32_t bit = 0; bit < llvm::Log2_32(digits); ++bit) {
      Value *isSet = b.CreateICmpNE(b.CreateAnd(digit, b.getInt32(1u << bit)), b.getInt32(0));
      Value *differs = b.CreateSelect(isSet, b.getInt32(0), b.getInt32(~0u));
      mask = b.CreateAnd(mask, b.CreateXor(vote(isSet), differs));
    }
    return mask;
  }
  Value *count(Value *mask) { return b.CreateUnaryIntrinsic(I::ctpop, mask); }
  Value *lanesBefore() {
    return b.CreateSub(b.CreateShl(b.getInt32(1), thread.lane), b.getInt32(1));
  }

  /// The sum of the lanes before this one.
  Value *sumBefore(Value *value) {
    Value *sum = value;
    for (uint32_t distance = 1; distance < lanes; distance *= 2) {
      Value *reaches = b.CreateICmpUGE(thread.lane, b.getInt32(distance));
      sum = b.CreateAdd(sum, b.CreateSelect(reaches, shuffleUp(sum, distance), b.getInt32(0)));
    }
    return b.CreateSub(sum, value);
  }

  /// Runs `body` for each share of 32 digits that this warp takes.
  void forEachShare(llvm::function_ref<void(Value *)> body) {
    uint32_t shares = digits / lanes;
    for (uint32_t first = 0; first < shares; first += warps) {
      Value *share = b.CreateAdd(thread.warp, b.getInt32(first));
      if (first + warps <= shares)
        body(share);
      else
        emitWhen(b, b.CreateICmpULT(share, b.getInt32(shares)), [&] { body(share); });
    }
  }

  CodeBuilder &b;
  const ThreadNumbers &thread;
  uint32_t digits, warps;
};

} // namespace

void CudaEmitter::emitDistribute(tt::DistributeOp op) {
  const Layout &layout = layoutOf(op.getSrc()), &countLayout = layoutOf(op.getCounts());
  mlir::Type element = elementTypeOf(op.getSrc().getType());
  mlir::Type counter = mlir::IntegerType::get(op.getContext(), 32);
  auto digits = static_cast<uint32_t>(
      mlir::cast<mlir::RankedTensorType>(op.getCounts().getType()).getNumElements());
  uint32_t warps = 1u << layout.warps.size();
  Distribution steps(b, threadNumbers, digits, warps);
  ttgpu::DistributionPlaces places = ttgpu::distributionPlaces(op);
  uint64_t base = ttgpu::offsetOf(op);
  Value *always = b.getTrue();
  Registers values = registersOf(op.getSrc()), number;
  for (Value *digit : registersOf(op.getDigits()))
    number.push_back(b.CreateAnd(b.CreateZExtOrTrunc(digit, b.i32()), b.getInt32(digits - 1)));

  // The warp's own counters.
  Value *own = b.CreateMul(threadNumbers.warp, b.getInt32(digits));
  for (uint32_t digit = 0; digit < digits; digit += lanes)
    writeShared(base, counter, b.CreateAdd(own, b.CreateAdd(threadNumbers.lane, b.getInt32(digit))),
                b.getInt32(0), always);
  steps.syncWarp();
  Value *holds = isFirstHolder(layout), *active = steps.vote(holds), *before = steps.lanesBefore();
  Registers rank;
  for (Value *digit : number) {
    Value *alike = steps.equals(digit, active);
    Value *place = b.CreateAdd(own, digit), *counted = readShared(base, counter, place);
    Value *ahead = steps.count(b.CreateAnd(alike, before));
    rank.push_back(b.CreateAdd(counted, ahead));
    steps.syncWarp();
    Value *isFirst = b.CreateAnd(holds, b.CreateICmpEQ(ahead, b.getInt32(0)));
    writeShared(base, counter, place, b.CreateAdd(counted, steps.count(alike)), isFirst);
    steps.syncWarp();
  }
  emitBarrier();

  // A lane adds up one digit over the warps, a warp 32 digits.
  uint64_t starts = base + places.starts, counts = base + places.counts,
           shares = base + places.shares, exchange = base + places.exchange;
  steps.forEachShare([&](Value *share) {
    Value *digit = b.CreateAdd(b.CreateMul(share, b.getInt32(lanes)), threadNumbers.lane);
    Value *sum = b.getInt32(0);
    for (uint32_t warp = 0; warp < warps; ++warp) {
      Value *place = b.CreateAdd(digit, b.getInt32(warp * digits));
      Value *part = readShared(base, counter, place);
      writeShared(base, counter, place, sum, always);
      sum = b.CreateAdd(sum, part);
    }
    Value *start = steps.sumBefore(sum);
    writeShared(starts, counter, digit, start, always);
    writeShared(counts, counter, digit, sum, always);
    writeShared(shares, counter, share, b.CreateAdd(start, sum),
                b.CreateICmpEQ(threadNumbers.lane, b.getInt32(lanes - 1)));
  });
  emitBarrier();
  steps.forEachShare([&](Value *share) {
    Value *digit = b.CreateAdd(b.CreateMul(share, b.getInt32(lanes)), threadNumbers.lane);
    Value *start = readShared(starts, counter, digit);
    for (uint32_t other = 0; other + 1 < digits / lanes; ++other) {
      Value *all = readShared(shares, counter, b.getInt32(other));
      Value *isBefore = b.CreateICmpULT(b.getInt32(other), share);
      start = b.CreateAdd(start, b.CreateSelect(isBefore, all, b.getInt32(0)));
    }
    writeShared(starts, counter, digit, start, always);
  });
  emitBarrier();
  for (auto [digit, ahead, value] : llvm::zip(number, rank, values)) {
    Value *place = b.CreateAdd(ahead, readShared(base, counter, b.CreateAdd(own, digit)));
    place = b.CreateAdd(place, readShared(starts, counter, digit));
    writeShared(exchange, element, place, value, holds);
  }
  emitBarrier();
  Registers ordered, found;
  const Layout &to = layoutOf(op.getResult());
  for (unsigned r = 0; r < to.registerCount(); ++r)
    ordered.push_back(readShared(exchange, element, position(to, r)));
  for (unsigned r = 0; r < countLayout.registerCount(); ++r)
    found.push_back(readShared(counts, counter, position(countLayout, r)));
  tiles[op.getResult()] = ordered;
  tiles[op.getCounts()] = found;
}

} // namespace pellucid::codegen
