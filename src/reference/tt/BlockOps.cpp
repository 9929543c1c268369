// SPDX-License-Identifier: Apache-2.0
// Block pointers and tensor descriptors, taken at their word: no rewriting to tiles of pointers.
#include "reference/tt/BlockAccess.h"
#include "reference/tt/ElementAccess.h"

#include "tt/TtOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace pellucid::reference {

static int64_t signedScalar(Machine &machine, Value value) {
  const TileValue &tile = *machine.get(value);
  return signExtended(tile.elements[0].bits, widthOf(tile.elementType));
}

static SmallVector<int64_t, 4> signedScalars(Machine &machine, ValueRange values) {
  SmallVector<int64_t, 4> result;
  for (Value value : values)
    result.push_back(signedScalar(machine, value));
  return result;
}

//===--- one element of a block ------------------------------------------------------------===//

/// Where element `at` of the tensor lies.
static Element addressOf(const BlockView &view, ArrayRef<int64_t> at, Type elementType) {
  Element pointer = view.base;
  for (size_t dim = 0; dim < at.size(); ++dim)
    pointer.bits += static_cast<uint64_t>(at[dim] * view.strides[dim]) * bytesInMemory(elementType);
  return pointer;
}

static bool isInside(const BlockView &view, ArrayRef<int64_t> at, ArrayRef<int32_t> dims) {
  return llvm::all_of(dims, [&](int32_t dim) { return at[dim] >= 0 && at[dim] < view.sizes[dim]; });
}

/// Calls `visit(index in the block, coordinates in the tensor)` for each element of a block.
static void forEachElement(ArrayRef<int64_t> blockShape, ArrayRef<int64_t> offsets,
                           llvm::function_ref<void(int64_t, const Shape &)> visit) {
  for (int64_t i = 0, count = countOf(blockShape); i < count; ++i) {
    Shape at = coordinatesOf(i, blockShape);
    for (size_t dim = 0; dim < at.size(); ++dim)
      at[dim] += offsets[dim];
    visit(i, at);
  }
}

static SmallVector<int32_t> everyDim(size_t rank) {
  SmallVector<int32_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

//===--- block pointers --------------------------------------------------------------------===//

static TileValue pointerTo(Type type, BlockView view) {
  TileValue pointer = scalarOf(type, view.base.bits);
  pointer.block = std::make_shared<const BlockView>(std::move(view));
  return pointer;
}

static const BlockView &viewOf(Machine &machine, Operation &op, Value value) {
  const BlockView *view = machine.get(value)->block.get();
  if (!view)
    machine.fail(op, "uses a poison block pointer or descriptor, in " + machine.programText());
  return *view;
}

static void evaluateMakePointer(Machine &machine, Operation &op) {
  auto make = cast<tt::MakeTensorPtrOp>(op);
  BlockView view;
  view.base = machine.get(make.getBase())->elements[0];
  view.sizes = signedScalars(machine, make.getShape());
  view.strides = signedScalars(machine, make.getStrides());
  view.offsets = signedScalars(machine, make.getOffsets());
  machine.setResult(op, pointerTo(make.getType(), std::move(view)));
}

static void evaluateAdvance(Machine &machine, Operation &op) {
  auto advance = cast<tt::AdvanceOp>(op);
  BlockView view = viewOf(machine, op, advance.getPtr());
  for (auto [offset, step] :
       llvm::zip_equal(view.offsets, signedScalars(machine, advance.getOffsets())))
    // Offsets are i32 and wrap as such.
    offset = signExtended(wrap(static_cast<uint64_t>(offset + step), 32), 32);
  machine.setResult(op, pointerTo(advance.getType(), std::move(view)));
}

void loadBlockPointer(Machine &machine, Operation &op) {
  auto load = cast<tt::LoadOp>(op);
  const BlockView &view = viewOf(machine, op, load.getPtr());
  TileValue result = zerosOf(load.getType());
  uint64_t padding =
      paddingBits(result.elementType, load.getPadding() == tt::PaddingOption::PAD_NAN);
  forEachElement(result.shape, view.offsets, [&](int64_t i, const Shape &at) {
    result.elements[i].bits =
        isInside(view, at, load.getBoundaryCheck())
            ? loadElement(machine, op, addressOf(view, at, result.elementType), result.elementType)
            : padding;
  });
  machine.setResult(op, std::move(result));
}

void storeBlockPointer(Machine &machine, Operation &op) {
  auto store = cast<tt::StoreOp>(op);
  const BlockView &view = viewOf(machine, op, store.getPtr());
  const TileValue &values = *machine.get(store.getValue());
  forEachElement(values.shape, view.offsets, [&](int64_t i, const Shape &at) {
    if (isInside(view, at, store.getBoundaryCheck()))
      storeElement(machine, op, addressOf(view, at, values.elementType), values.elementType,
                   values.elements[i].bits);
  });
}

//===--- descriptors: every dim is checked -------------------------------------------------===//

static void evaluateMakeDescriptor(Machine &machine, Operation &op) {
  auto make = cast<tt::MakeTensorDescOp>(op);
  BlockView view;
  view.base = machine.get(make.getBase())->elements[0];
  view.sizes = signedScalars(machine, make.getShape());
  view.strides = signedScalars(machine, make.getStrides());
  view.padsWithNan = make.getPadding() == tt::PaddingOption::PAD_NAN;
  TileValue descriptor = scalarOf(make.getType(), view.base.bits);
  descriptor.block = std::make_shared<const BlockView>(std::move(view));
  machine.setResult(op, std::move(descriptor));
}

static uint64_t loadOrPad(Machine &machine, Operation &op, const BlockView &view, const Shape &at,
                          Type elementType) {
  if (!isInside(view, at, everyDim(at.size())))
    return paddingBits(elementType, view.padsWithNan);
  return loadElement(machine, op, addressOf(view, at, elementType), elementType);
}

static void evaluateDescriptorLoad(Machine &machine, Operation &op) {
  auto load = cast<tt::DescriptorLoadOp>(op);
  const BlockView &view = viewOf(machine, op, load.getDesc());
  TileValue result = zerosOf(load.getType());
  forEachElement(load.getDesc().getType().getShape(), signedScalars(machine, load.getIndices()),
                 [&](int64_t i, const Shape &at) {
                   result.elements[i].bits = loadOrPad(machine, op, view, at, result.elementType);
                 });
  machine.setResult(op, std::move(result));
}

static void evaluateDescriptorStore(Machine &machine, Operation &op) {
  auto store = cast<tt::DescriptorStoreOp>(op);
  const BlockView &view = viewOf(machine, op, store.getDesc());
  const TileValue &values = *machine.get(store.getSrc());
  forEachElement(store.getDesc().getType().getShape(), signedScalars(machine, store.getIndices()),
                 [&](int64_t i, const Shape &at) {
                   if (isInside(view, at, everyDim(at.size())))
                     storeElement(machine, op, addressOf(view, at, values.elementType),
                                  values.elementType, values.elements[i].bits);
                 });
}

static uint64_t combine(Machine &machine, Operation &op, uint64_t a, uint64_t b, Type type) {
  using Kind = tt::DescriptorReduceKind;
  auto reduce = cast<tt::DescriptorReduceOp>(op);
  Type declared = reduce.getDesc().getType().getElementType();
  unsigned width = widthOf(type);
  bool isFloat = isa<FloatType>(type);
  auto isLess = [&](uint64_t x, uint64_t y) {
    if (isFloat)
      return decodeFloat(x, formatOf(type)) < decodeFloat(y, formatOf(type));
    if (declared.isUnsignedInteger())
      return x < y;
    return signExtended(x, width) < signExtended(y, width);
  };
  switch (reduce.getKind()) {
  case Kind::ADD:
    return isFloat ? addFloats(a, b, type) : wrap(a + b, width);
  case Kind::MIN:
    return isLess(b, a) ? b : a;
  case Kind::MAX:
    return isLess(a, b) ? b : a;
  case Kind::AND:
    return a & b;
  case Kind::OR:
    return a | b;
  case Kind::XOR:
    return a ^ b;
  case Kind::INC:
    return a >= b ? 0 : a + 1;
  case Kind::DEC:
    return a == 0 || a > b ? b : a - 1;
  }
  machine.fail(op, "reduction of a kind that cannot be interpreted");
}

static void evaluateDescriptorReduce(Machine &machine, Operation &op) {
  auto reduce = cast<tt::DescriptorReduceOp>(op);
  const BlockView &view = viewOf(machine, op, reduce.getDesc());
  const TileValue &values = *machine.get(reduce.getSrc());
  Type type = values.elementType;
  forEachElement(reduce.getDesc().getType().getShape(), signedScalars(machine, reduce.getIndices()),
                 [&](int64_t i, const Shape &at) {
                   if (isInside(view, at, everyDim(at.size())))
                     updateElement(
                         machine, op, addressOf(view, at, type), type, [&](uint64_t previous) {
                           return combine(machine, op, previous, values.elements[i].bits, type);
                         });
                 });
}

/// Row `x_offsets[i]` of the tensor from column `y_offset` on, for each row i of `shape`.
static void forEachRowElement(Machine &machine, Value rows, Value column, ArrayRef<int64_t> shape,
                              llvm::function_ref<void(int64_t, const Shape &)> visit) {
  const TileValue &rowNumbers = *machine.get(rows);
  int64_t first = signedScalar(machine, column);
  for (int64_t i = 0, count = countOf(shape); i < count; ++i) {
    int64_t row = signExtended(rowNumbers.elements[i / shape[1]].bits, 32);
    visit(i, Shape{row, first + i % shape[1]});
  }
}

static void evaluateDescriptorGather(Machine &machine, Operation &op) {
  auto gather = cast<tt::DescriptorGatherOp>(op);
  const BlockView &view = viewOf(machine, op, gather.getDesc());
  TileValue result = zerosOf(gather.getType());
  forEachRowElement(machine, gather.getXOffsets(), gather.getYOffset(), result.shape,
                    [&](int64_t i, const Shape &at) {
                      result.elements[i].bits =
                          loadOrPad(machine, op, view, at, result.elementType);
                    });
  machine.setResult(op, std::move(result));
}

static void evaluateDescriptorScatter(Machine &machine, Operation &op) {
  auto scatter = cast<tt::DescriptorScatterOp>(op);
  const BlockView &view = viewOf(machine, op, scatter.getDesc());
  const TileValue &values = *machine.get(scatter.getSrc());
  forEachRowElement(machine, scatter.getXOffsets(), scatter.getYOffset(), values.shape,
                    [&](int64_t i, const Shape &at) {
                      if (isInside(view, at, everyDim(2)))
                        storeElement(machine, op, addressOf(view, at, values.elementType),
                                     values.elementType, values.elements[i].bits);
                    });
}

void addBlockHandlers(HandlerTable &table) {
  table["tt.make_tensor_ptr"] = evaluateMakePointer;
  table["tt.advance"] = evaluateAdvance;
  table["tt.make_tensor_descriptor"] = evaluateMakeDescriptor;
  table["tt.descriptor_load"] = evaluateDescriptorLoad;
  table["tt.descriptor_store"] = evaluateDescriptorStore;
  table["tt.descriptor_reduce"] = evaluateDescriptorReduce;
  table["tt.descriptor_gather"] = evaluateDescriptorGather;
  table["tt.descriptor_scatter"] = evaluateDescriptorScatter;
}

} // namespace pellucid::reference
