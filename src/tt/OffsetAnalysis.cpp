// SPDX-License-Identifier: Apache-2.0
#include "tt/OffsetAnalysis.h"

#include "tt/AxisInfo.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace pellucid::tt {

//===--- the algebra --------------------------------------------------------------------------===//

OffsetForm OffsetForm::constant(int64_t value) {
  OffsetForm form;
  form.add({}, value);
  return form;
}

OffsetForm OffsetForm::symbol(OffsetSymbol symbol) {
  OffsetForm form;
  form.add({symbol}, 1);
  return form;
}

void OffsetForm::add(const OffsetMonomial &monomial, int64_t coefficient) {
  int64_t total = sum[monomial] += coefficient;
  if (total == 0)
    sum.erase(monomial);
}

std::optional<OffsetForm> operator+(const OffsetForm &a, const OffsetForm &b) {
  OffsetForm result = a;
  for (const auto &[monomial, coefficient] : b.sum) {
    auto known = result.sum.find(monomial);
    int64_t total;
    if (llvm::AddOverflow(known == result.sum.end() ? int64_t(0) : known->second, coefficient,
                          total))
      return std::nullopt;
    result.add(monomial, coefficient);
  }
  return result;
}

std::optional<OffsetForm> operator-(const OffsetForm &a, const OffsetForm &b) {
  auto negated = b * OffsetForm::constant(-1);
  return negated ? a + *negated : std::nullopt;
}

static bool dependsOnLane(const OffsetMonomial &monomial) {
  return llvm::any_of(monomial,
                      [](const OffsetSymbol &symbol) { return symbol.kind == OffsetSymbol::Lane; });
}

std::optional<OffsetForm> operator*(const OffsetForm &a, const OffsetForm &b) {
  OffsetForm result;
  for (const auto &[left, leftCount] : a.sum)
    for (const auto &[right, rightCount] : b.sum) {
      int64_t count;
      if (llvm::MulOverflow(leftCount, rightCount, count) ||
          (dependsOnLane(left) && dependsOnLane(right)))
        return std::nullopt;
      OffsetMonomial product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      OffsetForm term;
      term.add(product, count);
      std::optional<OffsetForm> next = result + term;
      if (!next)
        return std::nullopt;
      result = *next;
    }
  return result;
}

OffsetForm OffsetForm::uniformPart() const {
  OffsetForm form;
  for (const auto &[monomial, coefficient] : sum)
    if (!dependsOnLane(monomial))
      form.add(monomial, coefficient);
  return form;
}

OffsetForm OffsetForm::strideOf(unsigned dim) const {
  OffsetForm form;
  for (const auto &[monomial, coefficient] : sum) {
    auto lane = std::find(monomial.begin(), monomial.end(), OffsetSymbol::lane(dim));
    if (lane == monomial.end())
      continue;
    OffsetMonomial rest(monomial.begin(), lane);
    rest.insert(rest.end(), lane + 1, monomial.end());
    form.add(rest, coefficient);
  }
  return form;
}

std::optional<int64_t> OffsetForm::asConstant() const {
  if (sum.empty())
    return 0;
  if (sum.size() == 1 && sum.begin()->first.empty())
    return sum.begin()->second;
  return std::nullopt;
}

OffsetForm OffsetForm::withLanes(ArrayRef<int> newDim) const {
  OffsetForm form;
  for (const auto &[monomial, coefficient] : sum) {
    OffsetMonomial renamed = monomial;
    bool vanishes = false;
    for (OffsetSymbol &symbol : renamed) {
      if (symbol.kind != OffsetSymbol::Lane)
        continue;
      vanishes |= newDim[symbol.dim] < 0;
      symbol.dim = newDim[symbol.dim] < 0 ? 0 : newDim[symbol.dim];
    }
    if (vanishes)
      continue;
    std::sort(renamed.begin(), renamed.end());
    form.add(renamed, coefficient);
  }
  return form;
}

std::string OffsetForm::text() const {
  std::vector<void *> scalars;
  auto nameOf = [&](const OffsetSymbol &symbol) -> std::string {
    switch (symbol.kind) {
    case OffsetSymbol::Lane:
      return "lane" + std::to_string(symbol.dim);
    case OffsetSymbol::ProgramId:
      return "pid" + std::to_string(symbol.dim);
    case OffsetSymbol::NumPrograms:
      return "programs" + std::to_string(symbol.dim);
    case OffsetSymbol::Scalar:
      break;
    }
    auto known = std::find(scalars.begin(), scalars.end(), symbol.scalar);
    size_t index = known - scalars.begin();
    if (known == scalars.end())
      scalars.push_back(symbol.scalar);
    return "s" + std::to_string(index);
  };
  std::string result;
  for (const auto &[monomial, coefficient] : sum) {
    std::string term = coefficient == 1 && !monomial.empty() ? "" : std::to_string(coefficient);
    for (const OffsetSymbol &symbol : monomial)
      term += (term.empty() ? "" : "*") + nameOf(symbol);
    result += (result.empty() ? "" : " + ") + term;
  }
  return result.empty() ? "0" : result;
}

//===--- operations ---------------------------------------------------------------------------===//

/// Lanes of dims of size 1 are 0, so they are dropped: expand_dims and broadcast then only rename.
static SmallVector<int> lanesAfterExpand(int64_t rank, int64_t axis) {
  SmallVector<int> lanes;
  for (int64_t dim = 0; dim < rank; ++dim)
    lanes.push_back(static_cast<int>(dim < axis ? dim : dim + 1));
  return lanes;
}

static SmallVector<int> lanesAfterBroadcast(RankedTensorType from) {
  SmallVector<int> lanes;
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    lanes.push_back(from.getDimSize(dim) == 1 ? -1 : static_cast<int>(dim));
  return lanes;
}

static SmallVector<int> lanesAfterTrans(ArrayRef<int32_t> order) {
  SmallVector<int> lanes(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    lanes[from] = static_cast<int>(to);
  return lanes;
}

/// For a reshape that only adds or drops dims of size 1.
static std::optional<SmallVector<int>> lanesAfterReshape(RankedTensorType from,
                                                         RankedTensorType to) {
  SmallVector<int> lanes(from.getRank(), -1);
  int64_t target = 0;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (from.getDimSize(dim) == 1)
      continue;
    while (target < to.getRank() && to.getDimSize(target) == 1)
      ++target;
    if (target == to.getRank() || to.getDimSize(target) != from.getDimSize(dim))
      return std::nullopt;
    lanes[dim] = static_cast<int>(target++);
  }
  return lanes;
}

/// How the lanes of a shape operation's operand are called in its result; none if the operation is
/// no such thing.
static std::optional<SmallVector<int>> laneRenaming(Operation *op) {
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  return llvm::TypeSwitch<Operation *, std::optional<SmallVector<int>>>(op)
      .Case<ExpandDimsOp>([&](ExpandDimsOp expand) {
        return lanesAfterExpand(typeOf(expand.getSrc()).getRank(), expand.getAxis());
      })
      .Case<BroadcastOp>(
          [&](BroadcastOp spread) { return lanesAfterBroadcast(typeOf(spread.getSrc())); })
      .Case<TransOp>([&](TransOp trans) { return lanesAfterTrans(trans.getOrder()); })
      .Case<ReshapeOp>([&](ReshapeOp reshape) -> std::optional<SmallVector<int>> {
        if (reshape.getAllowReorder())
          return std::nullopt;
        return lanesAfterReshape(typeOf(reshape.getSrc()), typeOf(reshape.getResult()));
      })
      .Default([&](Operation *other) -> std::optional<SmallVector<int>> {
        if (!keepsElements(other))
          return std::nullopt;
        auto dims = llvm::seq<int>(0, static_cast<int>(typeOf(other->getResult(0)).getRank()));
        return SmallVector<int>(dims.begin(), dims.end());
      });
}

static std::optional<OffsetForm> constantForm(Value value) {
  IntegerAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return OffsetForm::constant(number.getValue().getSExtValue());
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && isa<IntegerType>(splat.getElementType()))
    return OffsetForm::constant(splat.getSplatValue<APInt>().getSExtValue());
  return std::nullopt;
}

namespace {

/// Remembers forms, so that a value used twice is looked at once.
class FormBuilder {
public:
  std::optional<OffsetForm> form(Value value) {
    if (auto known = forms.find(value); known != forms.end())
      return known->second;
    std::optional<OffsetForm> result = compute(value);
    forms[value] = result;
    return result;
  }

private:
  llvm::DenseMap<Value, std::optional<OffsetForm>> forms;

  std::optional<OffsetForm> compute(Value value) {
    if (auto known = constantForm(value))
      return known;
    bool scalar = isa<IntegerType, IndexType>(value.getType());
    if (Operation *op = value.getDefiningOp())
      if (auto result = ofOperation(op))
        return result;
    return scalar ? std::optional(OffsetForm::symbol(OffsetSymbol::ofValue(value))) : std::nullopt;
  }

  std::optional<OffsetForm> sum(Value a, Value b, int64_t sign = 1) {
    auto left = form(a), right = form(b);
    if (!left || !right)
      return std::nullopt;
    auto signedRight = *right * OffsetForm::constant(sign);
    return signedRight ? *left + *signedRight : std::nullopt;
  }

  std::optional<OffsetForm> product(Value a, Value b) {
    auto left = form(a), right = form(b);
    return left && right ? *left * *right : std::nullopt;
  }

  std::optional<OffsetForm> shifted(Value a, Value by) {
    auto left = form(a), distance = form(by);
    std::optional<int64_t> bits = distance ? distance->asConstant() : std::nullopt;
    if (!left || !bits || *bits < 0 || *bits > 62)
      return std::nullopt;
    return *left * OffsetForm::constant(int64_t(1) << *bits);
  }

  std::optional<OffsetForm> ofOperation(Operation *op) {
    return llvm::TypeSwitch<Operation *, std::optional<OffsetForm>>(op)
        .Case<MakeRangeOp>([](MakeRangeOp range) {
          return OffsetForm::symbol(OffsetSymbol::lane(0)) + OffsetForm::constant(range.getFirst());
        })
        .Case<GetProgramIdOp>([](GetProgramIdOp id) {
          return OffsetForm::symbol(OffsetSymbol::programId(id.getAxisAsInt()));
        })
        .Case<GetNumProgramsOp>([](GetNumProgramsOp number) {
          return OffsetForm::symbol(
              {OffsetSymbol::NumPrograms, static_cast<unsigned>(number.getAxisAsInt()), nullptr});
        })
        .Case<SplatOp>([&](SplatOp splat) { return form(splat.getSrc()); })
        .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto cast) { return form(cast.getIn()); })
        .Case<arith::AddIOp>([&](arith::AddIOp add) { return sum(add.getLhs(), add.getRhs()); })
        .Case<arith::SubIOp>([&](arith::SubIOp sub) { return sum(sub.getLhs(), sub.getRhs(), -1); })
        .Case<arith::MulIOp>([&](arith::MulIOp mul) { return product(mul.getLhs(), mul.getRhs()); })
        .Case<arith::ShLIOp>(
            [&](arith::ShLIOp shift) { return shifted(shift.getLhs(), shift.getRhs()); })
        .Default([&](Operation *other) -> std::optional<OffsetForm> {
          auto lanes = laneRenaming(other);
          auto before = lanes ? form(other->getOperand(0)) : std::nullopt;
          return before ? std::optional(before->withLanes(*lanes)) : std::nullopt;
        });
  }
};

} // namespace

std::optional<OffsetForm> offsetForm(Value value) { return FormBuilder().form(value); }

std::optional<PointerForm> pointerForm(Value pointer) {
  Operation *op = pointer.getDefiningOp();
  if (auto add = dyn_cast_or_null<AddPtrOp>(op)) {
    auto before = pointerForm(add.getPtr());
    auto step = offsetForm(add.getOffset());
    auto total = before && step ? before->offset + *step : std::nullopt;
    return total ? std::optional(PointerForm{before->base, *total}) : std::nullopt;
  }
  if (auto splat = dyn_cast_or_null<SplatOp>(op))
    return pointerForm(splat.getSrc());
  if (auto lanes = op ? laneRenaming(op) : std::nullopt) {
    auto before = pointerForm(op->getOperand(0));
    return before ? std::optional(PointerForm{before->base, before->offset.withLanes(*lanes)})
                  : std::nullopt;
  }
  if (isScalarPointer(pointer.getType()))
    return PointerForm{pointer, OffsetForm()};
  return std::nullopt;
}

std::optional<std::vector<OffsetComparison>> maskForm(Value mask) {
  if (matchPattern(mask, m_One()))
    return std::vector<OffsetComparison>();
  Operation *op = mask.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
    auto left = maskForm(both.getLhs()), right = maskForm(both.getRhs());
    if (!left || !right)
      return std::nullopt;
    left->insert(left->end(), right->begin(), right->end());
    return left;
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    auto left = offsetForm(compare.getLhs()), right = offsetForm(compare.getRhs());
    if (!left || !right)
      return std::nullopt;
    return std::vector<OffsetComparison>{{*left, *right, compare.getPredicate()}};
  }
  if (auto splat = dyn_cast_or_null<SplatOp>(op))
    return maskForm(splat.getSrc());
  auto lanes = op ? laneRenaming(op) : std::nullopt;
  auto inner = lanes ? maskForm(op->getOperand(0)) : std::nullopt;
  if (!inner)
    return std::nullopt;
  for (OffsetComparison &comparison : *inner) {
    comparison.lhs = comparison.lhs.withLanes(*lanes);
    comparison.rhs = comparison.rhs.withLanes(*lanes);
  }
  return inner;
}

} // namespace pellucid::tt
