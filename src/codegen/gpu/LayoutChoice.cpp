// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/LayoutChoice.h"

#include "codegen/common/CodeBuilder.h"
#include "codegen/common/ElementOps.h"
#include "codegen/gpu/LaneExchange.h"
#include "codegen/gpu/SharedTile.h"
#include "codegen/gpu/SlidingWindows.h"
#include "tt/OffsetAnalysis.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pellucid::ttgpu {

using codegen::elementTypeOf;
using codegen::isElementOp;
using codegen::Layout;
using codegen::memoryBytes;
using codegen::SharedTile;

/// What one load or store instruction of a thread moves at most.
static constexpr int64_t accessBytes = 16;

static SmallVector<unsigned> orderFrom(unsigned rank, unsigned fastest) {
  SmallVector<unsigned> order = {fastest};
  for (unsigned d = rank; d-- > 0;)
    if (d != fastest)
      order.push_back(d);
  return order;
}

static unsigned fastestByDefault(ArrayRef<int64_t> shape) {
  for (unsigned d = shape.size(); d-- > 0;)
    if (shape[d] > 1)
      return d;
  return shape.empty() ? 0 : shape.size() - 1;
}

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

bool isComputedAtUse(Operation *op) {
  bool makesTiles = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  return makesTiles && (onlyComputes(op) || isa<tt::MapElementwiseOp, ReadSharedOp>(op));
}

bool isReadInPlace(Value operand, tt::DotOp dot) {
  auto read = withoutTranspositions(operand).getDefiningOp<ReadSharedOp>();
  if (!read || unitOf(dot) == MatrixUnit::None)
    return false;
  BufferType type = read.getBuffer().getType();
  RankedTensorType tile = type.getTile();
  unsigned along = type.getAlong();
  if (tile.getRank() != 2 ||
      !SharedTile::holds(tile.getDimSize(1 - along), tile.getDimSize(along) *
                                                         memoryBytes(tile.getElementType()) /
                                                         SharedTile::elementBytes))
    return false;
  if (!liesAlongInner(dot))
    return true;
  for (Value at = operand; auto trans = at.getDefiningOp<tt::TransOp>(); at = trans.getSrc())
    if (trans.getOrder()[0] == 1)
      along = 1 - along;
  return along == (operand == dot.getA() ? 1 : 0);
}

LayoutChoice::LayoutChoice(tt::FuncOp function, TargetAttr target)
    : target(target), axes(function) {
  // Where a loop stores tiles of a shape, what is stored of them once behind it decides nothing.
  std::map<std::vector<int64_t>, unsigned> deepest;
  auto depthOf = [](Operation *op) {
    unsigned depth = 0;
    while ((op = op->getParentOfType<LoopLikeOpInterface>()))
      ++depth;
    return depth;
  };
  auto shapeOf = [](tt::StoreOp op) {
    auto tile = dyn_cast<RankedTensorType>(op.getPtr().getType());
    return tile ? tile.getShape().vec() : std::vector<int64_t>();
  };
  function.walk([&](tt::StoreOp op) {
    unsigned &depth = deepest[shapeOf(op)];
    depth = std::max(depth, depthOf(op));
  });
  function.walk([&](tt::StoreOp op) {
    bool decides = depthOf(op) == deepest[shapeOf(op)];
    noteAccess(op.getPtr(), op.getValue().getType(), decides ? accessBytes : 0);
  });
  // An atomic addition of a warp takes a sector once where its lanes are neighbours.
  function.walk([&](tt::AtomicRMWOp op) { noteAccess(op.getPtr(), op.getVal().getType(), 1); });
  function.walk([&](tt::LoadOp op) { noteLoad(op.getPtr(), op.getType()); });
  function.walk([&](AsyncCopyOp op) { noteLoad(op.getPtr(), op.getBuffer().getType().getTile()); });
  function.walk([&](tt::DotOp op) { noteProduct(op); });
  function.walk([&](tt::ReshapeOp op) { noteReshape(op); });
  function.walk(
      [&](tt::DistributeOp op) { distributed.insert(tileOf(op.getSrc()).getShape().vec()); });
}

std::optional<unsigned> LayoutChoice::contiguousDim(Value pointers) const {
  return isa<RankedTensorType>(pointers.getType()) ? axes.of(pointers).contiguousDim()
                                                   : std::nullopt;
}

std::optional<unsigned> LayoutChoice::nearestDim(Value pointers) {
  auto form = tt::pointerForm(pointers);
  std::optional<unsigned> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (unsigned d = tileOf(pointers).getRank(); form && d-- > 0;) {
    auto stride = form->offset.strideOf(d).asConstant();
    int64_t distance = stride ? std::abs(*stride) : 0;
    if (distance != 0 && distance < least) {
      least = distance;
      best = d;
    }
  }
  return best;
}

/// The distance of neighbours along `dim` of a tile of integers or pointers, in elements, whatever
/// it is along the others; nullopt where it is not known.
static std::optional<int64_t> stepAlong(Value tile, unsigned dim, unsigned depth = 0) {
  constexpr unsigned deepest = 32;
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || type.getDimSize(dim) == 1)
    return 0;
  Operation *op = tile.getDefiningOp();
  if (!op || depth == deepest)
    return std::nullopt;
  auto of = [&](Value operand, unsigned along) { return stepAlong(operand, along, depth + 1); };
  if (isa<tt::MakeRangeOp>(op))
    return 1;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto all = dyn_cast<DenseElementsAttr>(constant.getValue());
    return all && all.isSplat() ? std::optional<int64_t>(0) : std::nullopt;
  }
  if (isa<tt::SplatOp>(op))
    return 0;
  if (isa<tt::BroadcastOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return of(op->getOperand(0), dim);
  if (auto expanded = dyn_cast<tt::ExpandDimsOp>(op))
    return of(expanded.getSrc(), dim - (dim > static_cast<unsigned>(expanded.getAxis())));
  if (isa<arith::AddIOp, tt::AddPtrOp>(op)) {
    auto a = of(op->getOperand(0), dim), b = of(op->getOperand(1), dim);
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }
  APInt factor;
  if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&factor)))
    if (auto step = of(op->getOperand(0), dim))
      return *step * factor.getSExtValue();
  // What is made of what stands still stands still.
  bool stands = isElementOp(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
                  return of(operand, dim) == 0;
                });
  return stands ? std::optional<int64_t>(0) : std::nullopt;
}

/// Some, but not all elements of a line are taken, at equal distances.
bool LayoutChoice::isSparse(Value pointers) {
  constexpr int64_t farthest = 8;
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  if (!type)
    return false;
  auto step = stepAlong(pointers, fastestByDefault(type.getShape()));
  return step && std::abs(*step) > 1 && std::abs(*step) <= farthest;
}

/// How many neighbours a thread moves at once.
int64_t LayoutChoice::lengthAlong(Value pointers, unsigned dim, int64_t elementBytes) const {
  ArrayRef<int64_t> shape = tileOf(pointers).getShape();
  int64_t share = std::max<int64_t>(1, elementsOf(shape) / (32 * target.getWarps()));
  int64_t aligned = std::max<int64_t>(1, steadyAlignment(pointers) / elementBytes);
  return std::min(
      {accessBytes / elementBytes, share, shape[dim], axes.of(pointers).contiguity[dim], aligned});
}

void LayoutChoice::noteAccess(Value pointers, Type data, int64_t atOnce) {
  auto fastest = contiguousDim(pointers);
  if (!fastest && !atOnce && isSparse(pointers))
    ++steps[tileOf(pointers).getShape().vec()].sparse;
  if (!fastest)
    return;
  RankedTensorType tile = tileOf(pointers);
  ++steps[tile.getShape().vec()].dense;
  int64_t bytes = memoryBytes(elementTypeOf(data));
  int64_t length = lengthAlong(pointers, *fastest, bytes);
  auto [found, isNew] = anchors.try_emplace(
      tile.getShape().vec(), Blocked{orderFrom(tile.getRank(), *fastest), length, accessBytes});
  Blocked &blocked = found->second;
  if (blocked.order.front() != *fastest)
    return;
  if (atOnce)
    blocked.perStore = std::min(blocked.perStore, std::max<int64_t>(1, atOnce / bytes));
  blocked.perThread = std::max(blocked.perThread, length);
}

/// Neighbours along `dim` of the operand are neighbours in shared memory.
static bool liesAlong(Value operand, unsigned dim) {
  if (auto trans = operand.getDefiningOp<tt::TransOp>())
    return liesAlong(trans.getSrc(), trans.getOrder()[dim]);
  auto read = operand.getDefiningOp<ReadSharedOp>();
  return read && read.getBuffer().getType().getAlong() == dim;
}

void LayoutChoice::noteProduct(tt::DotOp dot) {
  ArrayRef<int64_t> shape = tileOf(dot.getD()).getShape();
  if (unitOf(dot) == MatrixUnit::Warp)
    products.try_emplace(shape.vec(), Layout::product(shape, target.getWarps()));
  if (unitOf(dot) == MatrixUnit::Warpgroup)
    products.try_emplace(shape.vec(), Layout::warpgroupProduct(shape, target.getWarps()));
  if (unitOf(dot) == MatrixUnit::Lane)
    products.try_emplace(shape.vec(),
                         Layout::laneProduct(shape, target.getWarps(), liesAlong(dot.getA(), 0),
                                             liesAlong(dot.getB(), 1)));
}

void LayoutChoice::noteReshape(tt::ReshapeOp reshape) {
  std::vector<int64_t> from = tileOf(reshape.getSrc()).getShape().vec(),
                       to = tileOf(reshape.getResult()).getShape().vec();
  for (auto [accessed, other] : {std::pair(from, to), std::pair(to, from)})
    if (anchors.count(accessed) && !anchors.count(other))
      reshaped.try_emplace(other, accessed);
}

Layout LayoutChoice::alongDim(ArrayRef<int64_t> shape, unsigned dim, int64_t length) const {
  return Layout::blocked(shape, orderFrom(shape.size(), dim), length, target.getWarps());
}

Layout LayoutChoice::anchor(ArrayRef<int64_t> shape) const {
  auto product = products.find(shape.vec());
  return product == products.end() ? blocked(shape) : product->second;
}

Layout LayoutChoice::blocked(ArrayRef<int64_t> shape) const {
  if (distributed.count(shape.vec()))
    return Layout::pieces(shape, target.getWarps());
  auto found = anchors.find(shape.vec());
  if (found == anchors.end() && Layout::isCube(shape))
    return Layout::cube(shape, target.getWarps());
  if (auto source = reshaped.find(shape.vec()); found == anchors.end() && source != reshaped.end())
    return blocked(source->second).throughReshape(shape);
  if (found == anchors.end())
    return alongDim(shape, fastestByDefault(shape), 1);
  // What a product's sums are stored from moves on its own (byVectors).
  const auto &[order, perThread, perStore] = found->second;
  int64_t count = products.count(shape.vec()) ? perThread : std::min(perThread, perStore);
  // Where most loads take every other element, no vector is to be had of them, and neighbours in
  // one thread would send each lane to a line of memory of its own.
  constexpr unsigned many = 4;
  if (auto known = steps.find(shape.vec());
      known != steps.end() && known->second.sparse >= many * std::max(1u, known->second.dense))
    count = 1;
  return Layout::blocked(shape, order, count, target.getWarps());
}

bool LayoutChoice::feedsMatrixUnits(Value tile, unsigned depth) const {
  constexpr unsigned deepest = 6;
  auto feeds = [&](Operation *user) {
    if (auto dot = dyn_cast<tt::DotOp>(user))
      return tile != dot.getC() && unitOf(dot) != MatrixUnit::None;
    if (isa<ShareOp>(user))
      return true;
    return (isElementOp(user) || isa<tt::TransOp>(user)) &&
           feedsMatrixUnits(user->getResult(0), depth + 1);
  };
  return depth < deepest && llvm::any_of(tile.getUsers(), feeds);
}

std::optional<Layout> LayoutChoice::crosswise(Value data, unsigned fastest) const {
  constexpr unsigned wordBytes = 4;
  auto tile = tileOf(data);
  if (tile.getRank() != 2 || !tile.getElementType().isInteger(8))
    return std::nullopt;
  bool isCrosswise = !data.use_empty() && llvm::all_of(data.getUsers(), [&](Operation *user) {
    auto dot = dyn_cast<tt::DotOp>(user);
    return dot && unitOf(dot) != MatrixUnit::None && multipliesBytes(dot) &&
           (data == dot.getA() ? fastest == 0 : data == dot.getB() && fastest == 1);
  });
  unsigned inner = 1 - fastest;
  if (!isCrosswise || tile.getDimSize(inner) < wordBytes)
    return std::nullopt;
  // As if four neighbours along the inner dim were one.
  SmallVector<int64_t> shape(tile.getShape());
  shape[inner] /= wordBytes;
  int64_t share = std::max<int64_t>(1, shape[0] * shape[1] / (32 * target.getWarps()));
  Layout layout = alongDim(shape, fastest, std::min({accessBytes, share, shape[fastest]}));
  for (Layout::Bits *bits : {&layout.registers, &layout.lanes, &layout.warps})
    for (Layout::Point &point : *bits)
      point[inner] *= static_cast<int32_t>(wordBytes);
  layout.shape[inner] *= wordBytes;
  for (int32_t distance : {1, 2}) {
    Layout::Point point = layout.zero();
    point[inner] = distance;
    layout.registers.push_back(point);
  }
  return layout;
}

//===--- accesses -----------------------------------------------------------------------------===//

Layout LayoutChoice::ofAccess(Value pointers, Value data, bool loads) const {
  ArrayRef<int64_t> shape = tileOf(pointers).getShape();
  auto fastest = contiguousDim(pointers);
  if (auto across = fastest ? crosswise(data, *fastest) : std::nullopt)
    return *across;
  auto found = anchors.find(shape.vec());
  bool feeds = loads && feedsMatrixUnits(data);
  // It goes through shared memory anyway, so lanes may lie as memory is reached best.
  if (auto nearest = feeds && !fastest ? nearestDim(pointers) : std::nullopt)
    return alongDim(shape, *nearest, 1);
  int64_t bytes = memoryBytes(elementTypeOf(data.getType()));
  if (feeds && fastest && slidingAlignment(pointers) < accessBytes)
    return alongDim(shape, *fastest, lengthAlong(pointers, *fastest, bytes));
  if (!fastest || found == anchors.end() || found->second.order.front() == *fastest)
    return feeds ? blocked(shape) : anchor(shape);
  if (products.count(shape.vec()) && !feeds)
    return anchor(shape);
  return alongDim(shape, *fastest, lengthAlong(pointers, *fastest, bytes));
}

/// Every thread would load a large part of the tile, element by element.
static bool isWideSpread(const Layout &spread, const Layout &own) {
  constexpr unsigned least = 32, atLeastTimes = 8;
  unsigned registers = spread.registerCount();
  return registers >= least && registers >= atLeastTimes * own.registerCount();
}

// Spread tiles are loaded as they are wanted, so that nothing moves afterwards, but where that is
// more than to move them.
Layout LayoutChoice::ofLoad(tt::LoadOp load) const {
  Layout layout = ofAccess(load.getPtr(), load.getResult(), true);
  if (layout == anchor(layout.shape)) {
    Layout spread = wanted(load.getResult());
    if (!isWideSpread(spread, layout))
      layout = spread;
  }
  return byVectors(load.getPtr(), load.getMask(), load.getType(), layout);
}

Layout LayoutChoice::byVectors(Value pointers, Value mask, Type data, const Layout &held) const {
  auto dim = contiguousDim(pointers);
  auto product = products.find(tileOf(pointers).getShape().vec());
  if (!dim || product == products.end() || held != product->second)
    return held;
  int64_t bytes = memoryBytes(elementTypeOf(data)), count = accessBytes / bytes;
  tt::AxisInfo info = axes.of(pointers);
  bool isSure = info.contiguity[*dim] >= count &&
                info.divisibilityAt(*dim, count, tt::axisUnit(pointers.getType())) >= accessBytes &&
                (!mask || axes.of(mask).constancy[*dim] >= count);
  if (isSure)
    return codegen::withVectors(held, *dim, count);
  // Not even two neighbours move at once: lanes are neighbours then, a sector for sixteen of them.
  constexpr int64_t wordBytes = 4, lanes = 32;
  bool isNarrow = bytes < wordBytes && info.contiguity[*dim] >= lanes;
  bool isOdd =
      info.divisibilityAt(*dim, wordBytes / bytes, tt::axisUnit(pointers.getType())) < wordBytes;
  return isNarrow && isOdd ? alongDim(tileOf(pointers).getShape(), *dim, 1) : held;
}

Layout LayoutChoice::ofCopy(AsyncCopyOp copy) const {
  BufferType type = copy.getBuffer().getType();
  RankedTensorType tile = type.getTile();
  unsigned along = type.getAlong();
  int64_t most =
      std::max<int64_t>(1, slidingAlignment(copy.getPtr()) / memoryBytes(tile.getElementType()));
  return alongDim(
      tile.getShape(), along,
      std::min({most, axes.of(copy.getPtr()).contiguity[along], tile.getDimSize(along)}));
}

Layout LayoutChoice::ofReading(ReadSharedOp read) const {
  BufferType type = read.getBuffer().getType();
  RankedTensorType tile = type.getTile();
  if (auto across = crosswise(read.getTile(), type.getAlong()))
    return *across;
  int64_t share = std::max<int64_t>(1, tile.getNumElements() / (32 * target.getWarps()));
  int64_t most = accessBytes / memoryBytes(tile.getElementType());
  return alongDim(tile.getShape(), type.getAlong(), std::min(share, most));
}

//===--- wishes -------------------------------------------------------------------------------===//

/// The values that `use` hands on to: the first round's of a loop, the next round's, or what comes
/// out of a region.
static SmallVector<Value, 2> handedOnBy(OpOperand &use) {
  if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
    return {loop.getTiedLoopRegionIterArg(&use)};
  Operation *parent = use.getOwner()->getParentOp();
  unsigned number = use.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return {loop.getRegionIterArg(number), loop.getResult(number)};
  if (auto branch = dyn_cast<scf::IfOp>(parent))
    return {branch.getResult(number)};
  return {};
}

std::optional<Layout> LayoutChoice::wishOf(OpOperand &use, Asked &asked) const {
  Operation *user = use.getOwner();
  ArrayRef<int64_t> shape = tileOf(use.get()).getShape();
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(user))
    return wanted(expand, asked).throughExpandDims(expand.getAxis());
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(user))
    return wanted(broadcast, asked).throughBroadcast(shape);
  if (auto reshape = dyn_cast<tt::ReshapeOp>(user))
    return wanted(reshape, asked).throughReshape(shape);
  if (auto copy = dyn_cast<AsyncCopyOp>(user))
    return ofCopy(copy);
  if (isa<tt::ReduceOp>(user))
    return ofReduced(use.get());
  if (isElementOp(user))
    return askedOf(user->getResult(0), asked);
  if (isa<scf::YieldOp, scf::ForOp>(user)) {
    for (Value next : handedOnBy(use))
      if (Layout layout = wanted(next, asked); layout != anchor(shape))
        return layout;
    return std::nullopt;
  }
  return anchor(shape);
}

// A use that spreads the tile decides where no other use wants the shape's own layout. What comes
// back to the value that is asked about, by way of a loop, has no wish of its own.
std::optional<Layout> LayoutChoice::askedOf(Value value, Asked &asked) const {
  ArrayRef<int64_t> shape = tileOf(value).getShape();
  // From a sum that a loop carries, through a second loop, to the quotient behind that.
  constexpr size_t deepest = 16;
  if (asked.path.contains(value.getAsOpaquePointer()))
    return std::nullopt;
  if (asked.path.size() >= deepest || asked.left == 0)
    return anchor(shape);
  asked.path.insert(value.getAsOpaquePointer());
  --asked.left;
  llvm::scope_exit done([&] { asked.path.erase(value.getAsOpaquePointer()); });
  std::optional<Layout> spread;
  for (OpOperand &use : value.getUses()) {
    std::optional<Layout> wish = wishOf(use, asked);
    bool spreads = isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, AsyncCopyOp, scf::YieldOp,
                       scf::ForOp>(use.getOwner());
    if (wish && !spreads && *wish == anchor(shape))
      return *wish;
    if (wish)
      spread = wish;
  }
  return spread ? std::optional(spread->withoutRepeats()) : std::nullopt;
}

Layout LayoutChoice::wanted(Value value, Asked &asked) const {
  return askedOf(value, asked).value_or(anchor(tileOf(value).getShape()));
}

/// The reduction of a loop's round that the value is computed from, on any side of a branch.
static Value reductionBehind(Value value, Block *round, unsigned depth = 0) {
  constexpr unsigned deepest = 6;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != round || depth == deepest)
    return {};
  if (isa<tt::ReduceOp>(op))
    return value;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    for (scf::YieldOp side : {branch.thenYield(), branch.elseYield()})
      if (Value found = reductionBehind(side.getOperand(cast<OpResult>(value).getResultNumber()),
                                        side->getBlock(), depth + 1))
        return found;
  if (isElementOp(op))
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        if (Value found = reductionBehind(operand, round, depth + 1))
          return found;
  return {};
}

// What a loop carries and no user in it has a wish for lies as the round's reduction gives it.
Layout LayoutChoice::wanted(Value value) const {
  if (auto layout = ofCarriedOperand(value))
    return *layout;
  Asked asked;
  if (auto wish = askedOf(value, asked))
    return *wish;
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  Value sum;
  if (loop && argument != loop.getInductionVar())
    sum = reductionBehind(loop.getTiedLoopYieldedValue(argument)->get(), loop.getBody());
  else if (value.getDefiningOp<scf::IfOp>() &&
           isa<scf::ForOp>(value.getParentRegion()->getParentOp()))
    sum = reductionBehind(value, value.getParentBlock());
  if (sum)
    return *ofHome(sum);
  return anchor(tileOf(value).getShape());
}

//===--- operands of products -----------------------------------------------------------------===//

std::optional<Layout> LayoutChoice::ofHome(Value tile) const {
  ArrayRef<int64_t> shape = tileOf(tile).getShape();
  Operation *op = tile.getDefiningOp();
  if (!op || isa<scf::IfOp>(op))
    return wanted(tile);
  unsigned number = cast<OpResult>(tile).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return wanted(loop.getRegionIterArg(number));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return wanted(loop.getAfterArguments()[number]);
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return ofLoad(load);
  if (auto await = dyn_cast<AwaitProductsOp>(op))
    return ofHome(await.getRunning());
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return ofReduced(reduce.getSrcs()[0]).reducedAlong(reduce.getAxis());
  if (isa<tt::ScanOp>(op))
    return anchor(shape).withoutRepeats();
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op))
    return ofAccess(op->getOperand(0), op->getOperand(op->getNumOperands() > 1 ? 1 : 0));
  return isComputedAtUse(op) ? std::nullopt : std::optional(anchor(shape));
}

/// The loads of whole tiles that a tile is computed from, element by element; false where it is
/// made of anything else that has elements of its own.
static bool findLoads(Value tile, llvm::SmallSetVector<tt::LoadOp, 4> &loads,
                      llvm::SmallPtrSetImpl<Operation *> &seen) {
  constexpr unsigned most = 64;
  Operation *op = tile.getDefiningOp();
  if (!op || seen.size() == most)
    return false;
  if (!isa<RankedTensorType>(tile.getType()) || !seen.insert(op).second ||
      isa<tt::BroadcastOp, tt::SplatOp, tt::ExpandDimsOp, tt::MakeRangeOp, arith::ConstantOp>(op))
    return true;
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    loads.insert(load);
    return true;
  }
  return isElementOp(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return findLoads(operand, loads, seen);
         });
}

/// Bits of a warp's number that move along `dim`.
static unsigned warpBitsAlong(const Layout &layout, unsigned dim) {
  return llvm::count_if(layout.warps, [&](const auto &point) { return point[dim] != 0; });
}

// Where one shape is read along one dim and stored along another, what is loaded is reduced as it
// was loaded; unless more warps would then have a part of each sum, which every thread adds up.
Layout LayoutChoice::ofComputed(Value tile) const {
  Layout own = anchor(tileOf(tile).getShape());
  llvm::SmallSetVector<tt::LoadOp, 4> loads;
  llvm::SmallPtrSet<Operation *, 16> seen;
  if (!findLoads(tile, loads, seen) || loads.empty())
    return own;
  std::optional<Layout> loaded;
  for (tt::LoadOp load : loads) {
    Layout layout = ofAccess(load.getPtr(), load.getResult(), true);
    if (loaded && layout != *loaded)
      return own;
    loaded = layout;
  }
  for (Operation *user : tile.getUsers())
    if (auto reduce = dyn_cast<tt::ReduceOp>(user);
        reduce && warpBitsAlong(*loaded, reduce.getAxis()) > warpBitsAlong(own, reduce.getAxis()))
      return own;
  return *loaded;
}

Layout LayoutChoice::ofReduced(Value tile) const {
  constexpr unsigned deepest = 16;
  ArrayRef<int64_t> shape = tileOf(tile).getShape();
  Value at = tile;
  for (unsigned depth = 0; shape.size() == 1 && depth < deepest; ++depth) {
    Operation *op = at.getDefiningOp();
    if (auto reshape = dyn_cast_if_present<tt::ReshapeOp>(op))
      return ofComputed(reshape.getSrc()).throughReshape(shape);
    Value next;
    if (op && isElementOp(op))
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()) && !operand.getDefiningOp<arith::ConstantOp>())
          next = operand;
    if (!next)
      break;
    at = next;
  }
  return ofComputed(tile);
}

static bool isReadFromShared(Value value, llvm::SmallDenseSet<Value, 16> &seen) {
  constexpr unsigned most = 64;
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || isa_and_nonnull<ReadSharedOp>(op) ||
      !seen.insert(value).second)
    return true;
  return op && seen.size() < most && onlyComputes(op) &&
         llvm::all_of(
             op->getOperands(), [&](Value operand) { return isReadFromShared(operand, seen); });
}
bool isReadFromShared(Value value) {
  llvm::SmallDenseSet<Value, 16> seen;
  return isReadFromShared(value, seen);
}

/// Sums of a matrix unit, or elements computed from some.
static bool comesFromProduct(Value value, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest || !isa<RankedTensorType>(value.getType()))
    return false;
  if (isa<AwaitProductsOp, tt::DotOp>(op))
    return true;
  return isElementOp(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return comesFromProduct(operand, depth + 1);
         });
}

/// The operand that lies where it would be dear to move from: sums of a product rather than what is
/// loaded beside them, as masks of scores are, and what threads hold rather than what can be read
/// from shared memory in any layout. A row or column that is spread over the tile lies anyhow.
static Value heldSource(Operation *op) {
  SmallVector<Value> tiles;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !operand.getDefiningOp<arith::ConstantOp>())
      tiles.push_back(operand);
  for (Value tile : tiles)
    if (comesFromProduct(tile))
      return tile;
  auto isSpread = [](Value tile) { return tile.getDefiningOp<tt::BroadcastOp>() != nullptr; };
  for (Value tile : tiles)
    if (!isReadFromShared(tile) && !isSpread(tile))
      return tile;
  for (Value tile : tiles)
    if (!isSpread(tile))
      return tile;
  return tiles.empty() ? Value() : tiles.front();
}

/// How many tiles lie side by side along the last dim, an element of each in turn, as weights that
/// are unpacked of words do; 1 for others.
static int64_t interleaved(Value tile) {
  auto reshape = tile.getDefiningOp<tt::ReshapeOp>();
  if (!reshape || reshape.getAllowReorder())
    return 1;
  int64_t count = 1;
  Value at = reshape.getSrc();
  for (auto join = at.getDefiningOp<tt::JoinOp>(); join && join.getLhs() != join.getRhs();
       join = at.getDefiningOp<tt::JoinOp>()) {
    count *= 2;
    at = join.getLhs();
  }
  bool keepsRest = tileOf(at).getRank() == tileOf(tile).getRank() &&
                   tileOf(at).getShape().drop_back() == tileOf(tile).getShape().drop_back();
  return keepsRest ? count : 1;
}

Layout LayoutChoice::asItLies(Value tile) const {
  if (auto home = ofHome(tile))
    return *home;
  Operation *op = tile.getDefiningOp();
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    SmallVector<int32_t> back(trans.getOrder().size());
    for (auto [d, from] : llvm::enumerate(trans.getOrder()))
      back[from] = static_cast<int32_t>(d);
    return asItLies(trans.getSrc()).throughTranspose(back);
  }
  if (auto read = dyn_cast<ReadSharedOp>(op))
    return ofReading(read);
  // A thread has one element of each, so that it chooses nothing between them.
  ArrayRef<int64_t> shape = tileOf(tile).getShape();
  if (int64_t count = interleaved(tile); count > 1 && feedsMatrixUnits(tile))
    return alongDim(shape, shape.size() - 1, count);
  if (isElementOp(op) && feedsMatrixUnits(tile))
    if (Value source = heldSource(op))
      return asItLies(source);
  return anchor(tileOf(tile).getShape());
}

std::optional<Layout> LayoutChoice::ofLeftInRegisters(tt::DotOp dot) const {
  Operation *maker = dot.getA().getDefiningOp();
  if (unitOf(dot) != MatrixUnit::Warpgroup || liesAlongInner(dot) || !maker || !isElementOp(maker))
    return std::nullopt;
  ArrayRef<int64_t> shape = tileOf(dot.getA()).getShape();
  Layout layout = Layout::warpgroupLeft(shape, anchor(tileOf(dot.getD()).getShape()));
  if (isReadFromShared(dot.getA()) || !layout.registersIn(asItLies(dot.getA())).empty())
    return layout;
  return std::nullopt;
}

} // namespace pellucid::ttgpu
