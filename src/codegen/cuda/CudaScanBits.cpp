// SPDX-License-Identifier: Apache-2.0
// Scans of tiles whose elements lie by whole bits: blocks of one element grow to twice their size
// along the bits of the position, least first. Where a bit is one of the register number this costs
// arithmetic, where it is one of the lane a shuffle, and only bits of the warp number go through
// shared memory. The order follows from the extent alone, wherever the bits lie.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/RegionOps.h"

#include <map>

namespace pellucid::codegen {

using llvm::Value;
using Values = llvm::SmallVector<Value *, 2>;

bool CudaEmitter::scanByBits(tt::ScanOp op) {
  unsigned axis = op.getAxis();
  const Layout &layout = layoutOf(op.getSrcs()[0]);
  std::vector<AxisBit> bits = bitsAlong(layout, axis);
  if (bits.empty())
    return false;
  auto tile = mlir::cast<mlir::RankedTensorType>(op.getSrcs()[0].getType());
  int64_t rowStride = 1;
  for (unsigned d = axis + 1; d < tile.getRank(); ++d)
    rowStride *= tile.getDimSize(d);
  bool reverse = op.getReverse();

  // What a register has so far, and what its whole block adds up to.
  std::vector<Values> prefix(layout.registerCount());
  for (mlir::Value source : op.getSrcs())
    for (auto [own, value] : llvm::zip(prefix, registersOf(source)))
      own.push_back(value);
  // Registers of one block have one total, whose exchange and sum are made once.
  std::vector<Values> total = prefix;
  auto combine = [&](const Values &first, const Values &second) {
    llvm::SmallVector<Value *, 4> arguments(first.begin(), first.end());
    arguments.append(second.begin(), second.end());
    auto combined = emitRegion(b, *this, op.getCombineOp(), arguments);
    return Values(combined.begin(), combined.end());
  };
  auto chosen = [&](Value *condition, const Values &yes, const Values &no) {
    Values values;
    for (auto [y, n] : llvm::zip(yes, no))
      values.push_back(b.CreateSelect(condition, y, n));
    return values;
  };
  /// `others` has the totals of the blocks beside; `isLater` (an i1) says of which side this is.
  auto join = [&](const std::vector<Values> &others, Value *isLater) {
    std::map<Values, Values> joined;
    for (size_t r = 0; r < prefix.size(); ++r) {
      prefix[r] = chosen(isLater, combine(others[r], prefix[r]), prefix[r]);
      auto [known, isNew] = joined.try_emplace(total[r]);
      if (isNew)
        known->second =
            combine(chosen(isLater, others[r], total[r]), chosen(isLater, total[r], others[r]));
      total[r] = known->second;
    }
  };
  auto bitOf = [&](Value *number, unsigned index) {
    Value *bit = b.CreateAnd(b.CreateLShr(number, index), 1);
    return b.CreateICmpEQ(bit, b.getInt32(reverse ? 0 : 1));
  };

  uint64_t steps = 0;
  for (const AxisBit &bit : bits) {
    std::vector<Values> others(total.size());
    switch (bit.of) {
    case AxisBit::Of::Register: {
      std::map<std::pair<Values, Values>, Values> joined;
      for (size_t r = 0; r < total.size(); ++r) {
        if (r >> bit.index & 1)
          continue;
        size_t first = r, second = r | size_t(1) << bit.index;
        if (reverse)
          std::swap(first, second);
        prefix[second] = combine(total[first], prefix[second]);
        auto [known, isNew] = joined.try_emplace({total[first], total[second]});
        if (isNew)
          known->second = combine(total[first], total[second]);
        total[first] = total[second] = known->second;
      }
      continue;
    }
    case AxisBit::Of::Lane: {
      std::map<Values, Values> exchanged;
      for (size_t r = 0; r < total.size(); ++r) {
        auto [known, isNew] = exchanged.try_emplace(total[r]);
        if (isNew)
          for (Value *value : total[r])
            known->second.push_back(shuffle(value, 1u << bit.index));
        others[r] = known->second;
      }
      join(others, bitOf(threadNumbers.lane, bit.index));
      continue;
    }
    case AxisBit::Of::Warp:
      break;
    }
    uint64_t bytes = 0;
    llvm::SmallVector<uint64_t> offsets;
    for (mlir::Value source : op.getSrcs()) {
      bytes = (bytes + 7) / 8 * 8;
      offsets.push_back(bytes);
      bytes += tile.getNumElements() * memoryBytes(elementTypeOf(source.getType()));
    }
    // What one step writes is not what the one before it is still reading.
    ttgpu::ScanPlaces places = ttgpu::scanPlaces(op);
    if (steps > 0 && places.count == 1)
      emitBarrier();
    uint64_t place = ttgpu::offsetOf(op) + steps++ % places.count * places.bytes;
    Value *holds = isFirstHolder(layout);
    std::map<Values, Values> exchanged;
    for (size_t r = 0; r < total.size(); ++r)
      if (exchanged.try_emplace(total[r]).second)
        for (auto [i, source] : llvm::enumerate(op.getSrcs()))
          writeShared(place + offsets[i], elementTypeOf(source.getType()), position(layout, r),
                      total[r][i], holds);
    emitBarrier();
    exchanged.clear();
    for (size_t r = 0; r < total.size(); ++r) {
      auto [known, isNew] = exchanged.try_emplace(total[r]);
      if (isNew) {
        Value *beside = b.CreateXor(position(layout, r),
                                    b.getInt32(static_cast<uint32_t>(bit.stride * rowStride)));
        for (auto [i, source] : llvm::enumerate(op.getSrcs()))
          known->second.push_back(
              readShared(place + offsets[i], elementTypeOf(source.getType()), beside));
      }
      others[r] = known->second;
    }
    join(others, bitOf(threadNumbers.warp, bit.index));
  }
  for (auto [i, made] : llvm::enumerate(op.getResult())) {
    Registers results;
    for (const Values &values : prefix)
      results.push_back(values[i]);
    tiles[made] = results;
  }
  return true;
}

} // namespace pellucid::codegen
