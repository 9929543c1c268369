// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/SharedUse.h"

#include "codegen/common/CodeBuilder.h"
#include "codegen/gpu/LaneExchange.h"
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/WarpMove.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pellucid::ttgpu {

using codegen::Layout;
using codegen::memoryBytes;
using codegen::SharedTile;

static uint64_t elementBytes(Value value) {
  return memoryBytes(codegen::elementTypeOf(value.getType()));
}

static uint64_t tileBytes(Value tile) { return tileOf(tile).getNumElements() * elementBytes(tile); }

uint64_t mostSharedBytes(unsigned sm) { return (sm >= 90 ? 227 : 163) << 10; }

SharedTile tileOf(BufferType type) {
  RankedTensorType tile = type.getTile();
  unsigned along = type.getAlong();
  int64_t rows = tile.getRank() == 2 ? tile.getDimSize(1 - along) : 1;
  int64_t bytes = tile.getDimSize(along) * memoryBytes(tile.getElementType());
  return {rows, bytes / SharedTile::elementBytes};
}

uint64_t bytesOf(BufferType type) { return type.getCopies() * tileOf(type).bytes(); }

unsigned alongOf(const Layout &layout) {
  unsigned first = layout.contiguousAlong(0), second = layout.contiguousAlong(1);
  // Single elements: neighbouring lanes write neighbours.
  if (first == 1 && second == 1)
    return layout.lanes[0][0] == 1 ? 0 : 1;
  return first > second ? 0 : 1;
}

bool isShared(tt::DotOp dot, unsigned operand) {
  Value tile = dot->getOperand(operand);
  std::optional<Layout> layout = layoutOf(tile), sums = layoutOf(dot.getD());
  if (!layout || !sums)
    return false;
  bool isLeftInRegisters = operand == 0 && unitOf(dot) == MatrixUnit::Warpgroup &&
                           !liesAlongInner(dot) &&
                           *layout == Layout::warpgroupLeft(tileOf(tile).getShape(), *sums);
  return !isLeftInRegisters;
}

/// One operand as the units read it.
static SharedTile sharedOperandTile(tt::DotOp dot, unsigned operand) {
  RankedTensorType tile = tileOf(dot->getOperand(operand));
  unsigned along = liesAlongInner(dot) ? 1 - operand : alongOf(*layoutOf(dot->getOperand(operand)));
  int64_t bytes = tile.getDimSize(along) * memoryBytes(tile.getElementType());
  return {tile.getDimSize(1 - along), bytes / SharedTile::elementBytes};
}

static Scratch scratchOfProduct(tt::DotOp dot) {
  if (unitOf(dot) == MatrixUnit::None) {
    // Narrow floats are added up in f32.
    bool isNarrow = isa<FloatType>(codegen::elementTypeOf(dot.getType()));
    uint64_t bytes = std::max<uint64_t>(elementBytes(dot.getD()), isNarrow ? 4 : 1);
    uint64_t ofA = llvm::alignTo(tileOf(dot.getA()).getNumElements() * bytes, 16);
    return {ofA + tileOf(dot.getB()).getNumElements() * bytes};
  }
  Scratch scratch{0, SharedTile::alignment};
  for (unsigned i : {0, 1})
    if (isShared(dot, i))
      scratch.bytes += sharedOperandTile(dot, i).bytes();
  return scratch;
}

static Scratch scratchOfReduction(tt::ReduceOp reduce) {
  Layout layout = *layoutOf(reduce.getSrcs()[0]);
  unsigned axis = reduce.getAxis(), groups = 1;
  for (const Layout::Point &point : layout.warps)
    if (point[axis] != 0)
      groups *= 2;
  Scratch scratch;
  RankedTensorType tile = tileOf(reduce.getSrcs()[0]);
  for (Value source : reduce.getSrcs())
    if (groups > 1)
      scratch.bytes =
          llvm::alignTo(scratch.bytes, 8) +
          groups * (tile.getNumElements() / tile.getDimSize(axis)) * elementBytes(source);
  return scratch;
}

ScanPlaces scanPlaces(tt::ScanOp op) {
  constexpr uint64_t mostForTwo = 8 << 10;
  uint64_t bytes = 0;
  for (Value source : op.getSrcs())
    bytes = llvm::alignTo(bytes, 8) + tileBytes(source);
  bytes = llvm::alignTo(bytes, 16);
  return {bytes, bytes <= mostForTwo ? 2u : 1u};
}

DistributionPlaces distributionPlaces(tt::DistributeOp op) {
  constexpr uint64_t counterBytes = 4, digitsOfShare = 32;
  uint64_t digits = tileOf(op.getCounts()).getNumElements(),
           warps = uint64_t(1) << layoutOf(op.getSrc())->warps.size();
  DistributionPlaces places;
  places.starts = warps * digits * counterBytes;
  places.counts = places.starts + digits * counterBytes;
  places.shares = places.counts + digits * counterBytes;
  places.exchange = llvm::alignTo(places.shares + digits / digitsOfShare * counterBytes, 16);
  places.bytes = places.exchange + tileBytes(op.getSrc());
  return places;
}

/// Along the axis there are registers and lanes alone.
static bool staysInWarps(tt::ScanOp scan) {
  Layout layout = *layoutOf(scan.getSrcs()[0]);
  if (layout.shape[scan.getAxis()] == 1)
    return true;
  std::vector<codegen::AxisBit> bits = codegen::bitsAlong(layout, scan.getAxis());
  return !bits.empty() && llvm::none_of(bits, [](const codegen::AxisBit &bit) {
    return bit.of == codegen::AxisBit::Of::Warp;
  });
}

Scratch scratchOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Scratch>(op)
      .Case<ConvertLayoutOp>([](auto other) -> Scratch {
        auto from = layoutOf(other.getSrc()), to = layoutOf(other.getResult());
        bool staysInWarps = !from || !to || !to->registersIn(*from).empty() ||
                            codegen::exchangeThatPays(*from, *to) ||
                            codegen::warpMoveThatPays(*from, *to);
        return {staysInWarps ? 0 : tileBytes(other.getSrc())};
      })
      .Case<tt::ReduceOp>([](auto reduce) { return scratchOfReduction(reduce); })
      .Case<tt::ScanOp>([](auto scan) -> Scratch {
        if (staysInWarps(scan))
          return {};
        ScanPlaces places = scanPlaces(scan);
        return {places.bytes * places.count};
      })
      .Case<tt::GatherOp>([](auto gather) -> Scratch { return {tileBytes(gather.getSrc())}; })
      .Case<tt::CatOp>([](auto cat) -> Scratch { return {tileBytes(cat.getResult())}; })
      .Case<tt::HistogramOp>([](auto histogram) -> Scratch {
        return {static_cast<uint64_t>(tileOf(histogram.getResult()).getNumElements()) * 4};
      })
      .Case<tt::DistributeOp>(
          [](auto distribute) -> Scratch { return {distributionPlaces(distribute).bytes}; })
      .Case<tt::DotOp>([](auto dot) { return scratchOfProduct(dot); })
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp>([](auto atomic) -> Scratch {
        Value old = atomic.getResult();
        if (old.use_empty())
          return {};
        return {tileOf(old) ? tileBytes(old) : elementBytes(old)};
      })
      .Default([](Operation *) { return Scratch(); });
}

uint64_t offsetOf(Operation *op) {
  auto offset = op->getAttrOfType<IntegerAttr>(offsetName);
  return offset ? offset.getInt() : 0;
}

} // namespace pellucid::ttgpu
