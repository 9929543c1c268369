// SPDX-License-Identifier: Apache-2.0
// Operations that only move elements, ranges, the grid and pointer arithmetic.
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

using namespace mlir;

namespace pellucid::reference {

/// result[c] = source[from(c)] for every coordinate c of the result.
template <typename From>
static TileValue rearrange(Type resultType, const TileValue &source, From from) {
  TileValue result = zerosOf(resultType);
  Shape strides = stridesOf(source.shape);
  for (int64_t i = 0; i < result.count(); ++i) {
    Shape coordinates = from(coordinatesOf(i, result.shape));
    int64_t index = 0;
    for (size_t dim = 0; dim < coordinates.size(); ++dim)
      index += coordinates[dim] * strides[dim];
    result.elements[i] = source.elements[index];
  }
  return result;
}

static Type typeOf(Operation &op) { return op.getResult(0).getType(); }

static void evaluateSplat(Machine &machine, Operation &op) {
  TileValue result = zerosOf(typeOf(op));
  result.elements.assign(result.elements.size(), machine.operand(op, 0).elements[0]);
  machine.setResult(op, std::move(result));
}

/// expand_dims, reshape, unsplat: the same elements in the same order.
static void evaluateReshape(Machine &machine, Operation &op) {
  TileValue result = zerosOf(typeOf(op));
  result.elements = machine.operand(op, 0).elements;
  machine.setResult(op, std::move(result));
}

static void evaluateBroadcast(Machine &machine, Operation &op) {
  const TileValue &source = machine.operand(op, 0);
  machine.setResult(op, rearrange(typeOf(op), source, [&](Shape c) {
                      for (size_t dim = 0; dim < c.size(); ++dim)
                        c[dim] = source.shape[dim] == 1 ? 0 : c[dim];
                      return c;
                    }));
}

static void evaluateTranspose(Machine &machine, Operation &op) {
  ArrayRef<int32_t> order = cast<tt::TransOp>(op).getOrder();
  machine.setResult(op, rearrange(typeOf(op), machine.operand(op, 0), [&](const Shape &c) {
                      Shape source(c.size());
                      for (size_t dim = 0; dim < c.size(); ++dim)
                        source[order[dim]] = c[dim];
                      return source;
                    }));
}

static void evaluateCat(Machine &machine, Operation &op) {
  TileValue result = zerosOf(typeOf(op));
  result.elements = machine.operand(op, 0).elements;
  const auto &second = machine.operand(op, 1).elements;
  result.elements.insert(result.elements.end(), second.begin(), second.end());
  machine.setResult(op, std::move(result));
}

static void evaluateJoin(Machine &machine, Operation &op) {
  TileValue result = zerosOf(typeOf(op));
  for (int64_t i = 0; i < result.count(); ++i)
    result.elements[i] = machine.operand(op, i % 2).elements[i / 2];
  machine.setResult(op, std::move(result));
}

static void evaluateSplit(Machine &machine, Operation &op) {
  const TileValue &source = machine.operand(op, 0);
  for (unsigned side = 0; side < 2; ++side) {
    TileValue half = zerosOf(op.getResult(side).getType());
    for (int64_t i = 0; i < half.count(); ++i)
      half.elements[i] = source.elements[2 * i + side];
    machine.setResult(op, std::move(half), side);
  }
}

static void evaluateGather(Machine &machine, Operation &op) {
  const TileValue &source = machine.operand(op, 0), &indices = machine.operand(op, 1);
  size_t axis = cast<tt::GatherOp>(op).getAxis();
  Shape indexStrides = stridesOf(indices.shape);
  machine.setResult(
      op, rearrange(typeOf(op), source, [&](Shape c) {
        int64_t at = 0;
        for (size_t dim = 0; dim < c.size(); ++dim)
          at += c[dim] * indexStrides[dim];
        int64_t index = signExtended(indices.elements[at].bits, widthOf(indices.elementType));
        if (index < 0 || index >= source.shape[axis]) {
          machine.report(op, "gather",
                         "gathers index " + std::to_string(index) + " along a dimension of size " +
                             std::to_string(source.shape[axis]));
          index = 0;
        }
        c[axis] = index;
        return c;
      }));
}

/// Values without a bin are not counted.
static void evaluateHistogram(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  TileValue bins = zerosOf(typeOf(op));
  for (int64_t i = 0; i < operands[0]->count(); ++i) {
    bool counted = operands.size() < 2 || operands[1]->at(i).bits;
    uint64_t value = operands[0]->elements[i].bits;
    if (counted && value < static_cast<uint64_t>(bins.count()))
      ++bins.elements[value].bits;
  }
  machine.setResult(op, std::move(bins));
}

/// What has no digit is reported, and counts as the first.
static void evaluateDistribute(Machine &machine, Operation &op) {
  const TileValue &source = machine.operand(op, 0), &digits = machine.operand(op, 1);
  TileValue counts = zerosOf(op.getResult(1).getType());
  std::vector<std::vector<int64_t>> places(counts.count());
  for (int64_t i = 0; i < source.count(); ++i) {
    int64_t digit = signExtended(digits.elements[i].bits, widthOf(digits.elementType));
    if (digit < 0 || digit >= counts.count()) {
      machine.report(op, "distribute",
                     "has the digit " + std::to_string(digit) + " where there are " +
                         std::to_string(counts.count()));
      digit = 0;
    }
    places[digit].push_back(i);
    ++counts.elements[digit].bits;
  }
  TileValue result = zerosOf(typeOf(op));
  size_t next = 0;
  for (const std::vector<int64_t> &ofDigit : places)
    for (int64_t place : ofDigit)
      result.elements[next++] = source.elements[place];
  machine.setResult(op, std::move(result), 0);
  machine.setResult(op, std::move(counts), 1);
}

static void evaluateRange(Machine &machine, Operation &op) {
  TileValue range = zerosOf(typeOf(op));
  int64_t first = cast<tt::MakeRangeOp>(op).getFirst();
  for (int64_t i = 0; i < range.count(); ++i)
    range.elements[i].bits = wrap(static_cast<uint64_t>(first + i), 32);
  machine.setResult(op, std::move(range));
}

static void evaluateProgramId(Machine &machine, Operation &op) {
  int axis = cast<tt::GetProgramIdOp>(op).getAxisAsInt();
  machine.setResult(op, scalarOf(typeOf(op), machine.program[axis]));
}

static void evaluateNumPrograms(Machine &machine, Operation &op) {
  int axis = cast<tt::GetNumProgramsOp>(op).getAxisAsInt();
  machine.setResult(op, scalarOf(typeOf(op), machine.options.grid[axis]));
}

static void evaluateAddPtr(Machine &machine, Operation &op) {
  auto operands = operandsOf(machine, op);
  auto pointer = cast<tt::PointerType>(operands[0]->elementType);
  uint64_t size = bytesInMemory(pointer.getPointeeType());
  unsigned width = widthOf(operands[1]->elementType);
  TileValue result;
  result.elementType = pointer;
  result.shape = commonShape(operands);
  result.elements.resize(countOf(result.shape));
  for (int64_t i = 0; i < result.count(); ++i) {
    int64_t offset = signExtended(operands[1]->at(i).bits, width);
    result.elements[i] = operands[0]->at(i);
    result.elements[i].bits += static_cast<uint64_t>(offset) * size;
  }
  machine.setResult(op, std::move(result));
}

void addShapeHandlers(HandlerTable &table) {
  table["tt.splat"] = evaluateSplat;
  table["tt.unsplat"] = evaluateReshape;
  table["tt.expand_dims"] = evaluateReshape;
  table["tt.reshape"] = evaluateReshape;
  table["tt.broadcast"] = evaluateBroadcast;
  table["tt.trans"] = evaluateTranspose;
  table["tt.cat"] = evaluateCat;
  table["tt.join"] = evaluateJoin;
  table["tt.split"] = evaluateSplit;
  table["tt.gather"] = evaluateGather;
  table["tt.histogram"] = evaluateHistogram;
  table["tt.distribute"] = evaluateDistribute;
  table["tt.make_range"] = evaluateRange;
  table["tt.get_program_id"] = evaluateProgramId;
  table["tt.get_num_programs"] = evaluateNumPrograms;
  table["tt.addptr"] = evaluateAddPtr;
}

} // namespace pellucid::reference
