// SPDX-License-Identifier: Apache-2.0
// Operations that read other elements of a tile, through shared memory. Scans double the distance
// they reach in each step, so that the order depends on the extent only.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/RegionOps.h"

namespace pellucid::codegen {

using llvm::Value;

void CudaEmitter::emitScan(tt::ScanOp op) {
  unsigned axis = op.getAxis();
  mlir::RankedTensorType tile = checkedTile(op, op.getSrcs()[0]);
  int64_t extent = tile.getDimSize(axis), stride = 1;
  for (unsigned d = axis + 1; d < tile.getRank(); ++d)
    stride *= tile.getDimSize(d);
  Layout layout = anchor(tile.getShape()).withoutRepeats();
  std::vector<Registers> values;
  std::vector<mlir::Type> elements;
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  for (mlir::Value source : op.getSrcs()) {
    values.push_back(evaluate(source, layout));
    elements.push_back(elementTypeOf(source.getType()));
    bytes = (bytes + 7) / 8 * 8;
    offsets.push_back(bytes);
    bytes += tile.getNumElements() * memoryBytes(elements.back());
  }
  Value *holds = isFirstHolder(layout);
  for (int64_t distance = 1; distance < extent; distance *= 2) {
    uint64_t place = claimShared(op, bytes);
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
      int64_t step = (op.getReverse() ? distance : -distance) * stride;
      Value *from = b.CreateAdd(position(layout, r), b.getInt32(static_cast<uint32_t>(step)));
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
    homes[op.getResult()[i]] = {layout, values[i]};
}

void CudaEmitter::emitGather(tt::GatherOp op) {
  mlir::RankedTensorType source = checkedTile(op, op.getSrc());
  mlir::RankedTensorType result = checkedTile(op, op.getResult());
  mlir::Type element = source.getElementType();
  HomeTile from = asItLies(op.getSrc());
  Layout layout = anchor(result.getShape());
  Registers indices = evaluate(op.getIndices(), layout), values;
  uint64_t place = claimShared(op, source.getNumElements() * memoryBytes(element));
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
  homes[op] = {layout, values};
}

void CudaEmitter::emitCat(tt::CatOp op) {
  mlir::RankedTensorType half = checkedTile(op, op.getLhs()),
                         whole = checkedTile(op, op.getResult());
  if (whole.getRank() != 1)
    refuse(op, "of tiles with several dims is not supported by the CUDA code generator");
  mlir::Type element = half.getElementType();
  HomeTile first = asItLies(op.getLhs()), second = asItLies(op.getRhs());
  uint64_t bytes = half.getNumElements() * memoryBytes(element);
  uint64_t place = claimShared(op, 2 * bytes);
  shareOperand(first, element, element, place);
  shareOperand(second, element, element, place + bytes);
  emitBarrier();
  Layout layout = anchor(whole.getShape());
  Registers values;
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    values.push_back(readShared(place, element, position(layout, r)));
  homes[op] = {layout, values};
}

// Counted by atomics in shared memory; what lies in no bin is not counted.
void CudaEmitter::emitHistogram(tt::HistogramOp op) {
  mlir::RankedTensorType source = checkedTile(op, op.getSrc()),
                         bins = checkedTile(op, op.getResult());
  Layout from = anchor(source.getShape()), layout = anchor(bins.getShape());
  Registers values = evaluate(op.getSrc(), from);
  Registers active(values.size(), isFirstHolder(from));
  if (op.getMask())
    for (auto [one, mask] : llvm::zip(active, evaluate(op.getMask(), from)))
      one = b.CreateAnd(one, mask);
  mlir::Type counter = mlir::IntegerType::get(op.getContext(), 32);
  uint64_t count = bins.getNumElements();
  uint64_t place = claimShared(op, count * memoryBytes(counter));
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
  homes[op] = {layout, counts};
}

} // namespace pellucid::codegen
