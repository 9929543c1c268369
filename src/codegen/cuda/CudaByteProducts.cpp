// SPDX-License-Identifier: Apache-2.0
// Products of i8 by mma.sync or wgmma, summed in i32, and of fp8 by wgmma, summed in f32. Both
// operands lie in shared memory with the inner dim along the rows, so that two bytes take the place
// of one element of 16 bits everywhere else (SharedTile.h, ldmatrix, the fragments of the
// instruction).
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace pellucid::codegen {

using llvm::Value;

static constexpr unsigned bytesPerUnit = SharedTile::elementBytes, wordBytes = 4;

/// The number of the register that holds each point, of those of the thread whose other bits are
/// zero.
static std::map<std::pair<int32_t, int32_t>, unsigned> registersByPoint(const Layout &layout) {
  std::map<std::pair<int32_t, int32_t>, unsigned> known;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Layout::Point point = layout.registerPoint(r);
    known.try_emplace({point[0], point[1]}, r);
  }
  return known;
}

static int32_t threadBits(const Layout &layout, unsigned dim) {
  int32_t all = 0;
  for (const Layout::Bits *bits : {&layout.lanes, &layout.warps})
    for (const Layout::Point &point : *bits)
      all |= point[dim];
  return all;
}

/// Writes as many neighbours along the inner dim at once as a thread has, up to 16.
void CudaEmitter::shareBytes(const HeldTile &tile, const SharedOperand &place) {
  const auto &[layout, values] = tile;
  unsigned inner = place.contiguousDim, outer = 1 - inner;
  auto known = registersByPoint(layout);
  int32_t ofThreads = threadBits(layout, inner);
  auto registerAt = [&, &layout = layout](unsigned r, int32_t distance) -> std::optional<unsigned> {
    Layout::Point point = layout.registerPoint(r);
    point[inner] += distance;
    auto found = known.find({point[0], point[1]});
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  // So many neighbours are in one thread, from a multiple of their number on.
  int32_t length = 16;
  auto isWhole = [&, &layout = layout] {
    for (unsigned r = 0; r < layout.registerCount(); ++r)
      if (layout.registerPoint(r)[inner] % length == 0)
        for (int32_t i = 1; i < length; ++i)
          if (!registerAt(r, i))
            return false;
    return (ofThreads & (length - 1)) == 0;
  };
  while (length > 1 && !isWhole())
    length /= 2;
  unsigned inWord = std::min<unsigned>(length, wordBytes), words = length / inWord;
  llvm::Type *word = b.getIntNTy(8 * inWord);
  auto wordFrom = [&](unsigned r, unsigned first) {
    Value *whole = llvm::ConstantInt::get(word, 0);
    for (unsigned i = 0; i < inWord; ++i) {
      Value *part = b.CreateZExt(values[*registerAt(r, static_cast<int32_t>(first + i))], word);
      whole = b.CreateOr(whole, b.CreateShl(part, 8 * i));
    }
    return whole;
  };
  auto write = [&, &layout = layout] {
    for (unsigned r = 0; r < layout.registerCount(); ++r) {
      Layout::Point point = layout.registerPoint(r);
      if (point[inner] % length != 0 || known.at({point[0], point[1]}) != r)
        continue;
      Value *at = coordinate(layout, inner, r);
      Value *address =
          elementAddress(place, coordinate(layout, outer, r), b.CreateLShr(at, b.getInt32(1)));
      if (length == 1)
        address = b.CreateGEP(b.i8(), address, b.CreateAnd(at, b.getInt32(bytesPerUnit - 1)));
      Value *whole = wordFrom(r, 0);
      if (words > 1) {
        Value *vector = llvm::PoisonValue::get(lanesOf(word, words));
        for (unsigned w = 0; w < words; ++w)
          vector = b.CreateInsertElement(vector, w ? wordFrom(r, w * inWord) : whole, w);
        whole = vector;
      }
      b.CreateAlignedStore(whole, address, llvm::Align(length));
    }
  };
  Value *holds = isFirstHolder(layout);
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(holds); constant && constant->isOne())
    write();
  else
    emitWhen(b, holds, write);
}

void CudaEmitter::emitByteDot(tt::DotOp op) {
  auto a = mlir::cast<mlir::RankedTensorType>(op.getA().getType());
  auto product = mlir::cast<mlir::RankedTensorType>(op.getD().getType());
  bool byGroups = unitOf(op) == MatrixUnit::Warpgroup;
  auto restart = byGroups ? ttgpu::restartOf(op) : nullptr;
  Registers sums = restart ? registersOf(restart.getFalseValue()) : sumsOf(op);
  int64_t units = a.getDimSize(1) / bytesPerUnit;
  mlir::Value operands[] = {op.getA(), op.getB()};
  SharedOperand places[] = {{.tile = {product.getDimSize(0), units}, .contiguousDim = 1},
                            {.tile = {product.getDimSize(1), units}, .contiguousDim = 0}};
  std::optional<HeldTile> tiles[2];
  uint64_t bytes = 0;
  for (unsigned i : {0, 1}) {
    if (auto known = sharedOperand(operands[i])) {
      places[i] = *known;
      continue;
    }
    tiles[i] = held(operands[i]);
    places[i].tile.byteOffset = bytes;
    bytes += places[i].tile.bytes();
  }
  if (bytes != 0) {
    uint64_t at = ttgpu::offsetOf(op);
    for (unsigned i : {0, 1})
      if (tiles[i]) {
        places[i].tile.byteOffset += at;
        shareBytes(*tiles[i], places[i]);
      }
    if (byGroups)
      b.CreateIntrinsic(llvm::Intrinsic::nvvm_fence_proxy_async_shared_cta, {});
    emitBarrier();
  }
  if (byGroups)
    multiplyByWarpgroups(op, places[0], places[1], sums);
  else
    multiplyByWarps(op, places[0], places[1], sums);
  finishDot(op, std::move(sums));
}

} // namespace pellucid::codegen
