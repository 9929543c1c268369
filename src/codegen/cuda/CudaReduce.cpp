// SPDX-License-Identifier: Apache-2.0
// Reductions: over the registers of a thread, then over the lanes of a warp by shuffles, then over
// the warps through shared memory. The order depends on the shape and num_warps only; combining
// functions are taken to be associative and commutative, as in Triton.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/RegionOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace pellucid::codegen {

using llvm::Value;
using Values = llvm::SmallVector<Value *, 2>;

namespace {

/// A range along `axis`, spread over the other dims: its elements ascend with their places.
bool ascends(mlir::Value tile, unsigned axis) {
  while (true) {
    mlir::Operation *op = tile.getDefiningOp();
    if (auto expand = mlir::dyn_cast_if_present<tt::ExpandDimsOp>(op)) {
      if (expand.getAxis() == axis)
        return false;
      axis -= expand.getAxis() < axis;
    } else if (mlir::isa_and_present<tt::MakeRangeOp>(op)) {
      return true;
    } else if (!mlir::isa_and_present<tt::BroadcastOp, ttgpu::ConvertLayoutOp>(op)) {
      return false;
    }
    tile = op->getOperand(0);
  }
}

/// A thread combines its elements in their order, so that it is known which of two places comes
/// first: a comparison of them, which decides between equal values, takes no instruction, and those
/// of the values become one.
class InOrder : public LaneEnvironment {
public:
  InOrder(LaneEnvironment &other, tt::ReduceOp op) : other(other), op(op) {}

  Value *scalar(mlir::Value value) override { return other.scalar(value); }
  const TileBuffer *buffer(mlir::Value tile) override { return other.buffer(tile); }
  [[noreturn]] void refuse(mlir::Operation *at, const std::string &why) override {
    other.refuse(at, why);
  }
  llvm::SmallVector<Value *, 2> emitInRegion(CodeBuilder &b, mlir::Operation *inner,
                                             llvm::ArrayRef<Value *> operands) override {
    if (auto compared = mlir::dyn_cast<mlir::arith::CmpIOp>(inner))
      if (std::optional<bool> known = outcomeOf(compared))
        return {b.getInt1(*known)};
    return other.emitInRegion(b, inner, operands);
  }

private:
  /// Of two places that differ, of which one is known to come first.
  std::optional<bool> outcomeOf(mlir::arith::CmpIOp compared) {
    using P = mlir::arith::CmpIPredicate;
    auto left = mlir::dyn_cast<mlir::BlockArgument>(compared.getLhs());
    auto right = mlir::dyn_cast<mlir::BlockArgument>(compared.getRhs());
    unsigned sources = op.getSrcs().size();
    if (!left || !right || left.getOwner() != &op.getCombineOp().front() ||
        right.getOwner() != left.getOwner())
      return std::nullopt;
    bool isForward = right.getArgNumber() == left.getArgNumber() + sources;
    bool isBackward = left.getArgNumber() == right.getArgNumber() + sources;
    if ((!isForward && !isBackward) ||
        !ascends(op.getSrcs()[left.getArgNumber() % sources], op.getAxis()))
      return std::nullopt;
    switch (compared.getPredicate()) {
    case P::slt:
    case P::sle:
      return isForward;
    case P::sgt:
    case P::sge:
      return isBackward;
    case P::eq:
      return false;
    case P::ne:
      return true;
    default:
      return std::nullopt;
    }
  }

  LaneEnvironment &other;
  tt::ReduceOp op;
};

/// All operands of a reduction, held alike.
class Reduction {
public:
  Reduction(CodeBuilder &b, LaneEnvironment &environment, tt::ReduceOp op)
      : b(b), environment(environment), inOrder(environment, op), region(op.getCombineOp()) {}

  Values combine(const Values &first, const Values &second) {
    return combineIn(environment, first, second);
  }

  /// Any two threads get the same bits from the same operands in either order.
  bool commutesExactly() {
    auto &body = region.front();
    return region.hasOneBlock() && std::distance(body.begin(), body.end()) == 2 &&
           body.front().hasTrait<mlir::OpTrait::IsCommutative>();
  }

  /// Combines registers whose elements differ along `axis` only; leaves one of each. A few chains
  /// of sums, so that products which are added up become multiply-adds, and enough of them to
  /// hide how long one takes.
  std::vector<Values> overRegisters(const std::vector<Values> &registers, const Layout &layout,
                                    unsigned axis) {
    constexpr size_t sideBySide = 8;
    size_t along = 0; // the bits of register numbers that move along the axis
    for (size_t bit = 0; bit < layout.registers.size(); ++bit)
      if (layout.registers[bit][axis] != 0)
        along |= size_t(1) << bit;
    bool ascending = registersAscend(layout, axis);
    std::map<size_t, std::vector<Values>> lines; // by what of the number stays
    for (size_t r = 0; r < registers.size(); ++r)
      lines[r & ~along].push_back(registers[r]);
    std::vector<Values> results;
    for (auto &[first, line] : lines) {
      size_t chains = std::min(line.size(), std::max<size_t>(1, sideBySide / lines.size()));
      for (size_t i = chains; i < line.size(); ++i)
        line[i % chains] = combineIn(ascending ? inOrder : environment, line[i % chains], line[i]);
      for (; chains > 1; chains /= 2)
        for (size_t i = 0; i < chains / 2; ++i)
          line[i] = combine(line[i], line[i + chains / 2]);
      results.push_back(line[0]);
    }
    return results;
  }

private:
  Values combineIn(LaneEnvironment &where, const Values &first, const Values &second) {
    llvm::SmallVector<Value *, 4> arguments(first.begin(), first.end());
    arguments.append(second.begin(), second.end());
    return emitRegion(b, where, region, arguments);
  }

  /// Later registers of a thread are further along the axis.
  static bool registersAscend(const Layout &layout, unsigned axis) {
    int32_t last = 0, ofThreads = 0;
    for (const Layout::Bits *bits : {&layout.lanes, &layout.warps})
      for (const Layout::Point &point : *bits)
        ofThreads |= point[axis];
    for (const Layout::Point &point : layout.registers) {
      if (point[axis] == 0)
        continue;
      if (point[axis] <= last || (point[axis] & ofThreads) != 0)
        return false;
      last = point[axis];
    }
    return true;
  }

  CodeBuilder &b;
  LaneEnvironment &environment;
  InOrder inOrder;
  mlir::Region &region;
};

} // namespace

void CudaEmitter::emitReduce(tt::ReduceOp op) {
  unsigned axis = op.getAxis();
  auto tile = mlir::cast<mlir::RankedTensorType>(op.getSrcs()[0].getType());
  const Layout &layout = layoutOf(op.getSrcs()[0]);
  std::vector<Values> registers(layout.registerCount());
  for (mlir::Value source : op.getSrcs()) {
    Registers values = registersOf(source);
    for (size_t r = 0; r < values.size(); ++r)
      registers[r].push_back(values[r]);
  }
  Reduction reduction(b, *this, op);
  auto shuffled = [&](const Values &values, unsigned laneMask) {
    Values others;
    for (Value *value : values)
      others.push_back(shuffle(value, laneMask));
    return others;
  };
  registers = reduction.overRegisters(registers, layout, axis);

  for (unsigned bit = 0; bit < layout.lanes.size(); ++bit)
    if (layout.lanes[bit][axis] != 0)
      for (Values &values : registers)
        values = reduction.combine(values, shuffled(values, 1u << bit));

  Layout reduced = layout.reducedAlong(axis);
  llvm::SmallVector<unsigned> warpBits;
  for (unsigned bit = 0; bit < layout.warps.size(); ++bit)
    if (layout.warps[bit][axis] != 0)
      warpBits.push_back(bit);
  if (!warpBits.empty()) {
    unsigned groups = 1u << warpBits.size();
    int64_t elements = tile.getNumElements() / tile.getDimSize(axis);
    uint64_t bytes = 0;
    llvm::SmallVector<uint64_t> offsets;
    for (mlir::Value source : op.getSrcs()) {
      bytes = (bytes + 7) / 8 * 8;
      offsets.push_back(bytes);
      bytes += groups * elements * memoryBytes(elementTypeOf(source.getType()));
    }
    uint64_t place = ttgpu::offsetOf(op);
    // Lanes along the axis hold the same by now; one of them writes. Warps along it do not.
    Layout holders = reduced;
    for (unsigned bit : warpBits)
      holders.warps[bit] = layout.warps[bit];
    Value *holds = isFirstHolder(holders);
    Value *group = b.getInt32(0);
    for (unsigned i = 0; i < warpBits.size(); ++i)
      group = b.CreateOr(
          group, b.CreateShl(b.CreateAnd(b.CreateLShr(threadNumbers.warp, warpBits[i]), 1), i));
    Value *firstOfGroup = b.CreateMul(group, b.getInt32(static_cast<uint32_t>(elements)));
    for (size_t r = 0; r < registers.size(); ++r)
      for (auto [i, source] : llvm::enumerate(op.getSrcs()))
        writeShared(place + offsets[i], elementTypeOf(source.getType()),
                    b.CreateAdd(firstOfGroup, position(reduced, r)), registers[r][i], holds);
    emitBarrier();
    auto readPart = [&](Value *index) {
      Values part;
      for (auto [i, source] : llvm::enumerate(op.getSrcs()))
        part.push_back(readShared(place + offsets[i], elementTypeOf(source.getType()), index));
      return part;
    };
    // Parts of many warps by lanes: each thread would have to read and combine all of them.
    constexpr unsigned groupsForLanes = 16;
    bool byLanes = elements == 1 && groups >= groupsForLanes && reduction.commutesExactly();
    if (byLanes) {
      Values sum = readPart(b.CreateAnd(threadNumbers.lane, b.getInt32(groups - 1)));
      for (unsigned distance = 1; distance < groups; distance *= 2)
        sum = reduction.combine(sum, shuffled(sum, distance));
      registers.assign(registers.size(), sum);
    }
    for (size_t r = 0; !byLanes && r < registers.size(); ++r) {
      Values sum;
      for (unsigned g = 0; g < groups; ++g) {
        Values part = readPart(
            b.CreateAdd(b.getInt32(static_cast<uint32_t>(g * elements)), position(reduced, r)));
        sum = g == 0 ? part : reduction.combine(sum, part);
      }
      registers[r] = sum;
    }
  }

  for (auto [i, made] : llvm::enumerate(op.getResult())) {
    Registers results;
    for (const Values &values : registers)
      results.push_back(values[i]);
    hold(made, results);
  }
}

} // namespace pellucid::codegen
