// SPDX-License-Identifier: Apache-2.0
// Tiles of 16-bit elements whose lanes hold pairs as matrix units do, between registers and shared
// memory: ldmatrix and stmatrix move four matrices of 8x8 elements at once, of which each lane
// holds one pair and names one row. Words of 32 bits take four instructions for the same.
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

namespace {

/// Lanes and the first bit of the registers are of one matrix, the next ones number the matrices.
struct MatrixMove {
  Layout rows; ///< eight elements of the row that a lane names, for each move
  unsigned count;
  bool transposed; ///< pairs lie across the rows of memory
};

} // namespace

static std::optional<MatrixMove> matrixMove(const Layout &layout, mlir::Type element,
                                            const SharedOperand &place) {
  constexpr unsigned lanesOfPairs = 2, laneBits = 5;
  constexpr int32_t extent = SharedTile::chunkElements;
  bool isMatrix = layout.rank() == 2 && memoryBytes(element) == SharedTile::elementBytes &&
                  layout.registers.size() >= 2 && layout.lanes.size() == laneBits &&
                  layout.shape[0] >= extent && layout.shape[1] >= extent;
  if (!isMatrix)
    return std::nullopt;
  unsigned pairs = layout.registers[0][0] == 1 ? 0 : 1, across = 1 - pairs;
  auto isAt = [](const Layout::Point &point, unsigned dim, int32_t distance) {
    return point[dim] == distance && point[1 - dim] == 0;
  };
  bool fits = isAt(layout.registers[0], pairs, 1);
  for (unsigned lane = 0; lane < laneBits; ++lane)
    fits &= lane < lanesOfPairs ? isAt(layout.lanes[lane], pairs, 2 << lane)
                                : isAt(layout.lanes[lane], across, 1 << (lane - lanesOfPairs));
  auto isWhole = [](const Layout::Point &point) {
    return point[0] % extent == 0 && point[1] % extent == 0;
  };
  auto others = llvm::drop_begin(layout.registers);
  if (!fits || !llvm::all_of(others, isWhole) || !llvm::all_of(layout.warps, isWhole))
    return std::nullopt;
  unsigned bits = layout.registers.size() > 2 ? 2 : 1, along = place.contiguousDim;
  MatrixMove move{layout, 1u << bits, pairs != along};
  auto step = [&](unsigned dim, int32_t distance) {
    Layout::Point point = layout.zero();
    point[dim] = distance;
    return point;
  };
  move.rows.registers.clear();
  move.rows.lanes.clear();
  for (int32_t distance = 1; distance < extent; distance *= 2) {
    move.rows.registers.push_back(step(along, distance));
    move.rows.lanes.push_back(step(1 - along, distance));
  }
  for (unsigned bit = 1; bit <= 2; ++bit)
    move.rows.lanes.push_back(bit <= bits ? layout.registers[bit] : layout.zero());
  for (size_t bit = 1 + bits; bit < layout.registers.size(); ++bit)
    move.rows.registers.push_back(layout.registers[bit]);
  return move;
}

bool CudaEmitter::storeMatrices(const HeldTile &tile, mlir::Type element,
                                const SharedOperand &place) {
  constexpr unsigned firstWithStores = 90;
  auto move =
      options.sm >= firstWithStores ? matrixMove(tile.layout, element, place) : std::nullopt;
  if (!move)
    return false;
  I::ID store = move->count == 4   ? move->transposed
                                         ? I::nvvm_stmatrix_sync_aligned_m8n8_x4_trans_b16
                                         : I::nvvm_stmatrix_sync_aligned_m8n8_x4_b16
                : move->transposed ? I::nvvm_stmatrix_sync_aligned_m8n8_x2_trans_b16
                                   : I::nvvm_stmatrix_sync_aligned_m8n8_x2_b16;
  const auto &[layout, values] = tile;
  Registers words = packWords(values, 2, element);
  for (unsigned first = 0, at = 0; first < words.size(); first += move->count, at += 8) {
    Value *address = elementAddress(place, move->rows, at, SharedTile::elementBytes, 8);
    llvm::SmallVector<Value *> operands = {address};
    for (unsigned i = 0; i < move->count; ++i)
      operands.push_back(words[first + i]);
    b.CreateIntrinsic(store, {address->getType()}, operands)
        ->addFnAttr(llvm::Attribute::Convergent);
  }
  return true;
}

std::optional<Registers> CudaEmitter::loadMatrices(const Layout &layout, mlir::Type element,
                                                   const SharedOperand &place) {
  auto move = matrixMove(layout, element, place);
  if (!move)
    return std::nullopt;
  I::ID load = move->count == 4 ? move->transposed ? I::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                                   : I::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
               : move->transposed ? I::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                                  : I::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
  Registers words;
  for (unsigned at = 0; words.size() < layout.registerCount() / 2; at += 8) {
    Value *address = elementAddress(place, move->rows, at, SharedTile::elementBytes, 8);
    Value *loaded = b.CreateIntrinsic(load, {address->getType()}, {address});
    for (unsigned i = 0; i < move->count; ++i)
      words.push_back(b.CreateExtractValue(loaded, i));
  }
  return unpackWords(words, 2, element);
}

} // namespace pellucid::codegen
