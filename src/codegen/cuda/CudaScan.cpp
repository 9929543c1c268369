// SPDX-License-Identifier: Apache-2.0
// Operations that read other elements of a tile, through shared memory. Scans that CudaScanBits.cpp
// does not take double the distance they reach in each step.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/RegionOps.h"

namespace pellucid::codegen {

using llvm::Value;

void CudaEmitter::emitScan(tt::ScanOp op) {
  if (scanByBits(op))
    return;
  unsigned axis = op.getAxis();
  auto tile = mlir::cast<mlir::RankedTensorType>(op.getSrcs()[0].getType());
  int64_t extent = tile.getDimSize(axis), stride = 1;
  for (unsigned d = axis + 1; d < tile.getRank(); ++d)
    stride *= tile.getDimSize(d);
  const Layout &layout = layoutOf(op.getSrcs()[0]);
  std::vector<Registers> values;
  std::vector<mlir::Type> elements;
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  for (mlir::Value source : op.getSrcs()) {
    values.push_back(registersOf(source));
    elements.push_back(elementTypeOf(source.getType()));
    bytes = (bytes + 7) / 8 * 8;
    offsets.push_back(bytes);
    bytes += tile.getNumElements() * memoryBytes(elements.back());
  }
  Value *holds = isFirstHolder(layout);
  ttgpu::ScanPlaces places = ttgpu::scanPlaces(op);
  uint64_t step = 0;
  for (int64_t distance = 1; distance < extent; distance *= 2) {
    // What one step writes is not what the one before it is still reading.
    if (distance > 1 && places.count == 1)
      emitBarrier();
    uint64_t place = ttgpu::offsetOf(op) + step++ % places.count * places.bytes;
    for (size_t i = 0; i < values.size(); ++i)
      for (unsigned r = 0; r < layout.registerCount(); ++r)
        writeShared(place + offsets[i], elements[i], position(layout, r), values[i][r], holds);
    emitBarrier();
    for (unsigned r = 0; r < layout.registerCount(); ++r) {
      Value *at = coordinate(layout, axis, r);
      Value *reaches =
          op.getReverse()
              ? b.CreateICmpULT(at, b.getInt32(static_cast<uint32_t>(extent - distance)))
              : b.CreateICmpUGE(at, b.getInt32(static_cast<uint32_t>(distance)));
      int64_t reach = (op.getReverse() ? distance : -distance) * stride;
      Value *from = b.CreateAdd(position(layout, r), b.getInt32(static_cast<uint32_t>(reach)));
      from = b.CreateSelect(reaches, from, b.getInt32(0));
      llvm::SmallVector<Value *, 4> arguments;
      for (size_t i = 0; i < values.size(); ++i)
        arguments.push_back(readShared(place + offsets[i], elements[i], from));
      for (const Registers &own : values)
        arguments.push_back(own[r]);
      auto combined = emitRegion(b, *this, op.getCombineOp(), arguments);
      for (size_t i = 0; i < values.size(); ++i)
        values[i][r] = b.CreateSelect(reaches, combined[i], values[i][r]);
    }
  }
  for (size_t i = 0; i < values.size(); ++i)
    tiles[op.getResult()[i]] = values[i];
}

void CudaEmitter::emitGather(tt::GatherOp op) {
  auto source = mlir::cast<mlir::RankedTensorType>(op.getSrc().getType());
  mlir::Type element = source.getElementType();
  HeldTile from = held(op.getSrc());
  const Layout &layout = layoutOf(op);
  Registers indices = registersOf(op.getIndices()), values;
  uint64_t place = ttgpu::offsetOf(op);
  shareOperand(from, element, element, place);
  emitBarrier();
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Value *at = b.getInt32(0);
    for (unsigned d = 0; d < source.getRank(); ++d) {
      auto extent = static_cast<uint32_t>(source.getDimSize(d));
      Value *index = coordinate(layout, d, r);
      // Out of range must stay in the tile; negative is far out of range here.
      if (d == op.getAxis()) {
        Value *wide = b.CreateSExt(indices[r], b.i64());
        wide = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, wide, b.getInt64(extent - 1));
        index = b.CreateTrunc(wide, b.i32());
      }
      at = b.CreateAdd(b.CreateMul(at, b.getInt32(extent)), index);
    }
    values.push_back(readShared(place, element, at));
  }
  tiles[op] = values;
}

void CudaEmitter::emitCat(tt::CatOp op) {
  auto half = mlir::cast<mlir::RankedTensorType>(op.getLhs().getType());
  auto whole = mlir::cast<mlir::RankedTensorType>(op.getResult().getType());
  if (whole.getRank() != 1)
    refuse(op, "of tiles with several dims is not supported by the CUDA code generator");
  mlir::Type element = half.getElementType();
  HeldTile first = held(op.getLhs()), second = held(op.getRhs());
  uint64_t bytes = half.getNumElements() * memoryBytes(element);
  uint64_t place = ttgpu::offsetOf(op);
  shareOperand(first, element, element, place);
  shareOperand(second, element, element, place + bytes);
  emitBarrier();
  const Layout &layout = layoutOf(op);
  Registers values;
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    values.push_back(readShared(place, element, position(layout, r)));
  tiles[op] = values;
}

// Counted by atomics in shared memory; what lies in no bin is not counted.
void CudaEmitter::emitHistogram(tt::HistogramOp op) {
  auto bins = mlir::cast<mlir::RankedTensorType>(op.getResult().getType());
  const Layout &from = layoutOf(op.getSrc()), &layout = layoutOf(op);
  Registers values = registersOf(op.getSrc());
  Registers active(values.size(), isFirstHolder(from));
  if (op.getMask())
    for (auto [one, mask] : llvm::zip(active, registersOf(op.getMask())))
      one = b.CreateAnd(one, mask);
  mlir::Type counter = mlir::IntegerType::get(op.getContext(), 32);
  uint64_t count = bins.getNumElements();
  uint64_t place = ttgpu::offsetOf(op);
  Value *holds = isFirstHolder(layout);
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    writeShared(place, counter, position(layout, r), b.getInt32(0), holds);
  emitBarrier();
  for (auto [value, one] : llvm::zip(values, active)) {
    Value *bin = b.CreateSExtOrTrunc(value, b.i64());
    Value *counted = b.CreateAnd(one, b.CreateICmpULT(bin, b.getInt64(count)));
    emitWhen(b, counted, [&] {
      b.CreateAtomicRMW(llvm::AtomicRMWInst::Add,
                        sharedAddress(place, counter, b.CreateTrunc(bin, b.i32())), b.getInt32(1),
                        llvm::Align(4), llvm::AtomicOrdering::Monotonic,
                        b.getContext().getOrInsertSyncScopeID("block"));
    });
  }
  emitBarrier();
  Registers counts;
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    counts.push_back(b.CreateZExtOrTrunc(readShared(place, counter, position(layout, r)),
                                         registerType(b.getContext(), bins.getElementType())));
  tiles[op] = counts;
}

} // namespace pellucid::codegen
