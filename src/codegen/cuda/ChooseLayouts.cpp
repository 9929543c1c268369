// SPDX-License-Identifier: Apache-2.0
// Which layout a tile gets. Tiles of one shape share a layout wherever they can: the one that the
// widest access of that shape is fastest in. Tiles that are spread into a larger one take that
// one's.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ElementOps.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

/// What one load or store instruction of a thread moves at most.
static constexpr int64_t accessBytes = 16;
/// Beyond this a tile would live in spilled registers only.
static constexpr int64_t mostRegisters = 512;

using Order = std::vector<unsigned>;

static Order orderFrom(unsigned rank, unsigned fastest) {
  Order order = {fastest};
  for (unsigned d = rank; d-- > 0;)
    if (d != fastest)
      order.push_back(d);
  return order;
}

static unsigned fastestByDefault(llvm::ArrayRef<int64_t> shape) {
  for (unsigned d = shape.size(); d-- > 0;)
    if (shape[d] > 1)
      return d;
  return shape.empty() ? 0 : shape.size() - 1;
}

static int64_t perThread(llvm::ArrayRef<int64_t> shape, unsigned warps, int64_t bytes,
                         unsigned fastest) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  int64_t share = std::max<int64_t>(1, elements / (32 * warps));
  return std::min({accessBytes / bytes, share, shape[fastest]});
}

std::optional<unsigned> CudaEmitter::contiguousDim(mlir::Value pointers) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(pointers.getType());
  if (!tile)
    return std::nullopt;
  tt::AxisInfo info = axes.of(pointers);
  std::optional<unsigned> best;
  for (unsigned d = tile.getRank(); d-- > 0;)
    if (info.contiguity[d] > (best ? info.contiguity[*best] : 1))
      best = d;
  return best;
}

void CudaEmitter::chooseAnchors() {
  auto visit = [&](mlir::Value pointers, mlir::Type data) {
    auto tile = mlir::dyn_cast<mlir::RankedTensorType>(pointers.getType());
    auto fastest = contiguousDim(pointers);
    if (!tile || !fastest)
      return;
    int64_t bytes = memoryBytes(elementTypeOf(data));
    int64_t length = std::min(perThread(tile.getShape(), options.numWarps, bytes, *fastest),
                              axes.of(pointers).contiguity[*fastest]);
    auto [found, isNew] =
        anchors.try_emplace(tile.getShape().vec(), orderFrom(tile.getRank(), *fastest), length);
    auto &[order, longest] = found->second;
    if (order.front() == *fastest)
      longest = std::max(longest, length);
  };
  kernel->walk([&](tt::StoreOp op) { visit(op.getPtr(), op.getValue().getType()); });
  kernel->walk([&](tt::LoadOp op) { visit(op.getPtr(), op.getType()); });
  kernel->walk(
      [&](ttgpu::AsyncCopyOp op) { visit(op.getPtr(), op.getBuffer().getType().getTile()); });
  kernel->walk([&](tt::DotOp op) {
    llvm::ArrayRef<int64_t> shape =
        mlir::cast<mlir::RankedTensorType>(op.getD().getType()).getShape();
    MatrixUnit unit = unitOf(op);
    if (unit == MatrixUnit::Warp)
      products.try_emplace(shape.vec(), Layout::product(shape, options.numWarps));
    if (unit == MatrixUnit::Warpgroup)
      products.try_emplace(shape.vec(), Layout::warpgroupProduct(shape, options.numWarps));
  });
}

Layout CudaEmitter::anchor(llvm::ArrayRef<int64_t> shape) {
  auto product = products.find(shape.vec());
  return product == products.end() ? blockedAnchor(shape) : product->second;
}

Layout CudaEmitter::blockedAnchor(llvm::ArrayRef<int64_t> shape) {
  auto found = anchors.find(shape.vec());
  if (found == anchors.end())
    found =
        anchors.try_emplace(shape.vec(), orderFrom(shape.size(), fastestByDefault(shape)), 1).first;
  auto &[order, length] = found->second;
  return Layout::blocked(shape, order, length, options.numWarps);
}

Layout CudaEmitter::accessLayout(mlir::Value pointers, mlir::Value data) {
  auto tile = mlir::cast<mlir::RankedTensorType>(pointers.getType());
  auto fastest = contiguousDim(pointers);
  if (auto crosswise = fastest ? crosswiseLayout(data, *fastest) : std::nullopt)
    return *crosswise;
  auto found = anchors.find(tile.getShape().vec());
  if (!fastest || found == anchors.end() || found->second.first.front() == *fastest)
    return feedsMatrixUnits(data) ? blockedAnchor(tile.getShape()) : anchor(tile.getShape());
  if (products.count(tile.getShape().vec()) && !feedsMatrixUnits(data))
    return anchor(tile.getShape());
  int64_t bytes = memoryBytes(elementTypeOf(data.getType()));
  return Layout::blocked(tile.getShape(), orderFrom(tile.getRank(), *fastest),
                         std::min(perThread(tile.getShape(), options.numWarps, bytes, *fastest),
                                  axes.of(pointers).contiguity[*fastest]),
                         options.numWarps);
}

/// The values that `use` hands on to: the next round's of a loop, or what comes out of a region.
static llvm::SmallVector<mlir::Value, 2> handedOnBy(mlir::OpOperand &use) {
  mlir::Operation *parent = use.getOwner()->getParentOp();
  unsigned number = use.getOperandNumber();
  if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(parent))
    return {loop.getRegionIterArg(number), loop.getResult(number)};
  if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(parent))
    return {branch.getResult(number)};
  return {};
}

std::optional<Layout> CudaEmitter::wishOf(mlir::OpOperand &use,
                                          llvm::SmallPtrSetImpl<void *> &asked) {
  mlir::Operation *user = use.getOwner();
  llvm::ArrayRef<int64_t> shape =
      mlir::cast<mlir::RankedTensorType>(use.get().getType()).getShape();
  if (auto expand = mlir::dyn_cast<tt::ExpandDimsOp>(user))
    return wantedLayout(expand, asked).throughExpandDims(expand.getAxis());
  if (auto broadcast = mlir::dyn_cast<tt::BroadcastOp>(user))
    return wantedLayout(broadcast, asked).throughBroadcast(shape);
  if (auto reshape = mlir::dyn_cast<tt::ReshapeOp>(user))
    return wantedLayout(reshape, asked).throughReshape(shape);
  if (auto copy = mlir::dyn_cast<ttgpu::AsyncCopyOp>(user))
    return layoutToCopy(copy);
  if (isElementOp(user))
    return wantedLayout(user->getResult(0), asked);
  if (mlir::isa<mlir::scf::YieldOp>(user)) {
    for (mlir::Value next : handedOnBy(use))
      if (Layout wanted = wantedLayout(next, asked); wanted != anchor(shape))
        return wanted;
    return std::nullopt;
  }
  return anchor(shape);
}

// A use that spreads the tile decides where no other use wants the shape's own layout.
Layout CudaEmitter::wantedLayout(mlir::Value value, llvm::SmallPtrSetImpl<void *> &asked) {
  llvm::ArrayRef<int64_t> shape = mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
  constexpr size_t deepest = 10;
  if (asked.size() >= deepest || !asked.insert(value.getAsOpaquePointer()).second)
    return anchor(shape);
  llvm::scope_exit done([&] { asked.erase(value.getAsOpaquePointer()); });
  std::optional<Layout> spread;
  for (mlir::OpOperand &use : value.getUses()) {
    std::optional<Layout> wish = wishOf(use, asked);
    bool spreads = mlir::isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, ttgpu::AsyncCopyOp,
                             mlir::scf::YieldOp>(use.getOwner());
    if (wish && !spreads && *wish == anchor(shape))
      return *wish;
    if (wish)
      spread = wish;
  }
  return spread ? spread->withoutRepeats() : anchor(shape);
}

Layout CudaEmitter::wantedLayout(mlir::Value value) {
  llvm::SmallPtrSet<void *, 16> asked;
  return wantedLayout(value, asked);
}

mlir::RankedTensorType CudaEmitter::checkedTile(mlir::Operation *op, mlir::Value tile) {
  auto type = mlir::cast<mlir::RankedTensorType>(tile.getType());
  for (int64_t extent : type.getShape())
    if (!llvm::isPowerOf2_64(extent))
      refuse(op, "has a tile with an extent of " + std::to_string(extent) +
                     "; the CUDA code generator takes powers of two");
  if (type.getNumElements() > mostRegisters * 32 * options.numWarps)
    refuse(op, "has a tile of " + std::to_string(type.getNumElements()) + " elements, more than " +
                   std::to_string(mostRegisters) + " for each of " +
                   std::to_string(32 * options.numWarps) + " threads");
  return type;
}

} // namespace pellucid::codegen
