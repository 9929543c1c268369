// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/GlobalAccesses.h"

#include "codegen/gpu/TtGpu.h"
#include "tt/OffsetAnalysis.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace pellucid::ttgpu {

/// What `value` may be, one step back; empty where it is a root.
static SmallVector<Value> sourcesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (argument == loop.getInductionVar())
        return {};
      return {loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()};
    }
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getAfterBody())
        return {loop.getConditionOp().getArgs()[number]};
      return {loop.getInits()[number], loop.getYieldOp().getOperand(number)};
    }
    return {};
  }
  auto number = cast<OpResult>(value).getResultNumber();
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(value.getDefiningOp())
      .Case<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp,
            tt::TransOp, tt::BitcastOp, ConvertLayoutOp>(
          [](Operation *op) { return SmallVector<Value>{op->getOperand(0)}; })
      .Case<arith::SelectOp>([](auto select) {
        return SmallVector<Value>{select.getTrueValue(), select.getFalseValue()};
      })
      .Case<scf::IfOp>([&](auto branch) {
        return SmallVector<Value>{branch.thenYield().getOperand(number),
                                  branch.elseYield().getOperand(number)};
      })
      .Case<scf::ForOp>([&](auto loop) {
        return SmallVector<Value>{loop.getInitArgs()[number], loop.getYieldedValues()[number]};
      })
      .Case<scf::WhileOp>(
          [&](auto loop) { return SmallVector<Value>{loop.getConditionOp().getArgs()[number]}; })
      .Default([](Operation *) { return SmallVector<Value>(); });
}

llvm::SetVector<Value> pointerRoots(Value pointer) {
  llvm::SetVector<Value> seen, roots;
  seen.insert(pointer);
  for (size_t next = 0; next < seen.size(); ++next) {
    SmallVector<Value> sources = sourcesOf(seen[next]);
    if (sources.empty())
      roots.insert(seen[next]);
    seen.insert(sources.begin(), sources.end());
  }
  return roots;
}

/// Arguments of the kernel, each of which is memory of its own.
static bool isArgument(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp());
}

/// No two threads hold the same element.
static bool isSpread(Value pointer) {
  std::optional<codegen::Layout> layout = layoutOf(pointer);
  return layout && llvm::none_of(layout->lanes, codegen::isZero) &&
         llvm::none_of(layout->warps, codegen::isZero);
}

static bool shareRoots(const llvm::SetVector<Value> &roots, const llvm::SetVector<Value> &others) {
  return llvm::any_of(roots, [&](Value root) {
    return llvm::any_of(others, [&](Value another) {
      return root == another || !isArgument(root) || !isArgument(another);
    });
  });
}

bool mayShareMemory(Value pointer, Value other) {
  return shareRoots(pointerRoots(pointer), pointerRoots(other));
}

const AccessOrder::Facts &AccessOrder::factsOf(Value pointer) {
  auto [place, isNew] = known.try_emplace(pointer.getAsOpaquePointer());
  if (isNew)
    place->second = {pointerRoots(pointer), tt::pointerForm(pointer), isSpread(pointer)};
  return place->second;
}

/// Has one value in a run of the kernel.
static bool isSteady(Value value) {
  Operation *parent = value.getParentRegion()->getParentOp();
  return isa<tt::FuncOp>(parent);
}
static bool isSteady(const tt::OffsetSymbol &symbol) {
  return symbol.kind != tt::OffsetSymbol::Scalar || isSteady(symbol.value());
}

/// What a loop adds to the number in each round; none where it may do something else.
static std::optional<int64_t> stepInLoop(Value number) {
  auto argument = dyn_cast<BlockArgument>(number);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop)
    return std::nullopt;
  bool isCounter = argument == loop.getInductionVar();
  Value init = isCounter ? loop.getLowerBound() : loop.getTiedLoopInit(argument)->get();
  std::optional<tt::OffsetForm> step = tt::offsetForm(loop.getStep());
  if (!isCounter) {
    auto before = tt::offsetForm(argument);
    auto after = tt::offsetForm(loop.getTiedLoopYieldedValue(argument)->get());
    auto back = before ? *before * tt::OffsetForm::constant(-1) : std::nullopt;
    step = after && back ? *after + *back : std::nullopt;
  }
  return isSteady(init) && step ? step->asConstant() : std::nullopt;
}

int64_t AccessOrder::stepOf(const tt::OffsetSymbol &symbol) {
  std::optional<int64_t> step = stepInLoop(symbol.value());
  return step ? *step : divisorOf(symbol);
}

int64_t AccessOrder::divisorOf(const tt::OffsetSymbol &symbol) {
  if (!axes)
    axes = std::make_unique<tt::AxisAnalysis>(
        symbol.value().getParentRegion()->getParentOfType<tt::FuncOp>());
  return axes->of(symbol.value()).divisibilityOfAll();
}

/// The distance of neighbours along a dim, and how many there are.
using Dims = SmallVector<std::pair<int64_t, int64_t>>;

/// Of each loop that a tile's number changes with, how far a round is from the next one, and how
/// many there are; nullopt where that is not known, or where it changes with something else.
static std::optional<Dims> roundsOf(const tt::OffsetForm &uniform) {
  Dims rounds;
  for (const auto &[monomial, count] : uniform.terms()) {
    if (llvm::all_of(monomial, [](const tt::OffsetSymbol &symbol) { return isSteady(symbol); }))
      continue;
    if (monomial.size() != 1)
      return std::nullopt;
    auto argument = dyn_cast<BlockArgument>(monomial.front().value());
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    auto known = [](Value bound) {
      auto form = tt::offsetForm(bound);
      return form ? form->asConstant() : std::nullopt;
    };
    auto lower = known(loop.getLowerBound()), upper = known(loop.getUpperBound()),
         step = known(loop.getStep());
    int64_t reach, distance;
    if (!lower || !upper || !step || *step <= 0 || llvm::SubOverflow(*upper, *lower, reach) ||
        reach <= 0 || llvm::MulOverflow(count, *step, distance))
      return std::nullopt;
    rounds.push_back({std::abs(distance), (reach - 1) / *step + 1});
  }
  return rounds;
}

/// Distances of neighbours along the dims, where all elements of the tile are at different places:
/// each is more than all that lies within those with smaller ones. And how far the tile reaches.
/// The rounds of loops count as further dims, so that no two rounds share a place.
static std::optional<int64_t> extentOf(const tt::OffsetForm &offset, Value pointer,
                                       Dims dims = {}) {
  if (auto tile = dyn_cast<RankedTensorType>(pointer.getType()))
    for (unsigned dim = 0; dim < tile.getRank(); ++dim) {
      std::optional<int64_t> distance = offset.strideOf(dim).asConstant();
      if (!distance)
        return std::nullopt;
      if (tile.getDimSize(dim) > 1)
        dims.push_back({std::abs(*distance), tile.getDimSize(dim)});
    }
  llvm::sort(dims);
  int64_t extent = 1;
  for (auto [distance, elements] : dims) {
    int64_t reach;
    if (distance < extent || llvm::MulOverflow(distance, elements - 1, reach) ||
        llvm::AddOverflow(extent, reach, extent))
      return std::nullopt;
  }
  return extent;
}

// An element of either is u + l: u is one number for the tile, l belongs to the place. Where the
// distance of both u is a multiple of more than the l reach, they meet where u and l are equal.
bool AccessOrder::meetAtEqualPlacesOnly(Value pointer, Value other) {
  const Facts &facts = factsOf(pointer), &others = factsOf(other);
  if (!facts.form || !others.form || facts.form->base != others.form->base ||
      pointer.getType() != other.getType() || !isSteady(facts.form->base))
    return false;
  if (auto tile = dyn_cast<RankedTensorType>(pointer.getType()))
    for (unsigned dim = 0; dim < tile.getRank(); ++dim)
      if (facts.form->offset.strideOf(dim) != others.form->offset.strideOf(dim))
        return false;
  tt::OffsetForm uniform = facts.form->offset.uniformPart(),
                 another = others.form->offset.uniformPart();
  if (auto rounds = uniform == another ? roundsOf(uniform) : std::nullopt)
    if (extentOf(facts.form->offset, pointer, *rounds))
      return true;
  std::optional<int64_t> extent = extentOf(facts.form->offset, pointer);
  if (!extent)
    return false;
  int64_t multiple = std::gcd(distances(uniform, another), distances(another, uniform));
  return multiple == 0 || multiple >= *extent; // 0: always at one place
}

int64_t AccessOrder::distances(const tt::OffsetForm &from, const tt::OffsetForm &to) {
  int64_t multiple = 0;
  for (const auto &[monomial, count] : from.terms()) {
    auto there = to.terms().find(monomial);
    bool isInBoth = there != to.terms().end() && there->second == count;
    auto changing = llvm::find_if_not(
        monomial, [](const tt::OffsetSymbol &symbol) { return isSteady(symbol); });
    int64_t distance = count, step;
    if (changing == monomial.end())
      distance -= there == to.terms().end() ? 0 : there->second;
    else if (monomial.size() == 1 &&
             !llvm::MulOverflow(count, isInBoth ? stepOf(*changing) : divisorOf(*changing), step))
      distance = step;
    multiple = std::gcd(multiple, distance);
  }
  return multiple;
}

// At equal places of equal layouts it is the same thread, if one alone holds an element; of those
// that hold one together, the same one stores it.
bool AccessOrder::meet(Access access, Access other, bool ofOtherRound) {
  if (!access.isStore && !other.isStore)
    return false;
  const Facts &facts = factsOf(access.pointer), &others = factsOf(other.pointer);
  if (!shareRoots(facts.roots, others.roots))
    return false;
  bool isOfOneThread =
      facts.isSpread || (access.isStore && other.isStore) || access.isOfHolder || other.isOfHolder;
  bool isAsync = access.isAsync || other.isAsync;
  if (isOfOneThread && !isAsync && meetAtEqualPlacesOnly(access.pointer, other.pointer))
    return false;
  bool isSame = facts.form && others.form && facts.form->base == others.form->base &&
                access.pointer.getType() == other.pointer.getType() &&
                facts.form->offset == others.form->offset;
  return ofOtherRound || !isSame || !isOfOneThread;
}

} // namespace pellucid::ttgpu
