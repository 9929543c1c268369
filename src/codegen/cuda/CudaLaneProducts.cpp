// SPDX-License-Identifier: Apache-2.0
// Products of f32 by multiply-adds: each thread sums a part of the result, some rows by some
// columns, from vectors of both operands in shared memory. The order over k is ascending.
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

using llvm::Value;

/// Neighbours that one load takes.
static constexpr int64_t vectorOfK = 4;
/// Along k, between branches: what fills a row of a panel.
static constexpr int64_t mostUnrolled = 32;
static constexpr int64_t unitsOfElement = 4 / SharedTile::elementBytes;

namespace {

/// One operand's rows or columns, as a thread multiplies them.
struct LaneSide {
  SharedOperand place;
  unsigned dim;                        ///< of the product: 0 for rows
  bool alongK;                         ///< neighbours in memory are neighbours along k
  std::map<int32_t, unsigned> outer;   ///< a thread's places along `dim`, and a register of each
  std::map<int32_t, Registers> values; ///< by place, for `vectorOfK` of k
};

} // namespace

/// How many neighbours along `dim` a thread has, up to a vector.
static int64_t neighboursOfThread(const Layout &layout, unsigned dim) {
  int64_t count = 1;
  for (bool found = true; found && count < vectorOfK;) {
    found = llvm::any_of(layout.registers, [&](const Layout::Point &point) {
      return point[dim] == count && point[1 - dim] == 0;
    });
    if (found)
      count *= 2;
  }
  return count;
}

/// Moves the begin of the operand on by `distance` (i32) along k, a multiple of `mostUnrolled`.
static void moveAlongK(CodeBuilder &b, LaneSide &side, Value *distance) {
  const SharedTile &tile = side.place.tile;
  int64_t bytes = side.alongK ? static_cast<int64_t>(tile.panelBytes()) / mostUnrolled
                              : static_cast<int64_t>(tile.rowBytes());
  Value *moved = b.CreateMul(distance, b.getInt32(static_cast<uint32_t>(bytes)));
  side.place.stage = side.place.stage ? b.CreateAdd(side.place.stage, moved) : moved;
}

void CudaEmitter::multiplyByLanes(tt::DotOp op, const SharedOperand &left,
                                  const SharedOperand &right, Registers &sums) {
  const Layout &layout = layoutOf(op);
  mlir::Type element = elementTypeOf(op.getType());
  int64_t depth = mlir::cast<mlir::RankedTensorType>(op.getA().getType()).getDimSize(1);
  LaneSide sides[] = {{left, 0, left.contiguousDim == 1, {}, {}},
                      {right, 1, right.contiguousDim == 0, {}, {}}};
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    for (LaneSide &side : sides)
      side.outer.try_emplace(layout.registerPoint(r)[side.dim], r);
  auto number = [&](int64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };

  auto loadAlongK = [&](LaneSide &side, int64_t k) {
    int32_t ofThreads = 0;
    for (const Layout::Bits *bits : {&layout.lanes, &layout.warps})
      for (const Layout::Point &point : *bits)
        ofThreads |= point[side.dim];
    for (auto [place, r] : side.outer) {
      bool isFurther = place % 8 == 0 && (place & ofThreads) == 0;
      Value *row = isFurther ? threadCoordinate(layout, side.dim) : coordinate(layout, side.dim, r);
      Value *address =
          elementAddress(side.place, row, number(k * unitsOfElement), isFurther ? place : 0);
      side.values[place] = loadShared(address, vectorOfK, element);
    }
  };
  auto loadAcrossK = [&](LaneSide &side, int64_t k) {
    int64_t vector = neighboursOfThread(layout, side.dim);
    for (auto [place, r] : side.outer)
      side.values[place].assign(vectorOfK, nullptr);
    for (auto [place, r] : side.outer)
      for (int64_t i = 0; place % vector == 0 && i < vectorOfK; ++i) {
        Value *column = b.CreateMul(coordinate(layout, side.dim, r), number(unitsOfElement));
        Value *address = elementAddress(side.place, number((k + i) % 8), column, (k + i) / 8 * 8);
        Registers loaded = loadShared(address, vector, element);
        for (int64_t next = 0; next < vector; ++next)
          side.values.at(place + static_cast<int32_t>(next))[i] = loaded[next];
      }
  };
  auto multiply = [&](int64_t steps) {
    for (int64_t k = 0; k < steps; k += vectorOfK) {
      for (LaneSide &side : sides)
        side.alongK ? loadAlongK(side, k) : loadAcrossK(side, k);
      for (int64_t i = 0; i < vectorOfK; ++i)
        for (unsigned r = 0; r < sums.size(); ++r) {
          Layout::Point point = layout.registerPoint(r);
          sums[r] = b.CreateIntrinsic(
              llvm::Intrinsic::fma, {sums[r]->getType()},
              {sides[0].values.at(point[0])[i], sides[1].values.at(point[1])[i], sums[r]});
        }
    }
  };
  if (depth <= mostUnrolled)
    return multiply(depth);

  for (unsigned dim : {0, 1}) // what depends on the thread alone stands before the loop
    threadCoordinate(layout, dim);
  auto *before = b.GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "dot", entry);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "summed", entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode *step = b.CreatePHI(b.i32(), 2);
  step->addIncoming(number(0), before);
  std::vector<llvm::PHINode *> carried;
  for (Value *&sum : sums) {
    carried.push_back(b.CreatePHI(sum->getType(), 2));
    carried.back()->addIncoming(sum, before);
    sum = carried.back();
  }
  for (LaneSide &side : sides)
    moveAlongK(b, side, step);
  multiply(mostUnrolled);
  Value *following = b.CreateAdd(step, number(mostUnrolled));
  step->addIncoming(following, loop);
  for (size_t r = 0; r < sums.size(); ++r)
    carried[r]->addIncoming(sums[r], loop);
  b.CreateCondBr(b.CreateICmpULT(following, number(depth)), loop, after);
  b.SetInsertPoint(after);
}

} // namespace pellucid::codegen
