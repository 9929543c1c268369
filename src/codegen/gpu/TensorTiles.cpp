// SPDX-License-Identifier: Apache-2.0
// What is known of the places of boxes, and the IR that computes them. What is a box is said in
// TensorBoxes.cpp.
#include "codegen/gpu/TensorTiles.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::ttgpu {

using tt::OffsetSymbol;
using Form = tt::OffsetForm;

std::optional<int64_t> scalarConstantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

//===--- rounds -------------------------------------------------------------------------------===//

TensorTiles::TensorTiles(scf::ForOp loop, const tt::AxisAnalysis &axes) : loop(loop), axes(axes) {
  round = {OffsetSymbol::Scalar, 1, loop.getInductionVar().getAsOpaquePointer()};
  auto function = loop->getParentOfType<tt::FuncOp>();
  function.walk([&](tt::AssumeOp op) {
    auto compared = op->getOperand(0).getDefiningOp<arith::CmpIOp>();
    auto end = compared ? scalarConstantOf(compared.getRhs()) : std::nullopt;
    if (!end || compared.getPredicate() != arith::CmpIPredicate::slt)
      return;
    // Met by every run, or whenever the value is computed.
    Value less = compared.getLhs();
    if (less.getParentBlock() != op->getBlock() && op->getBlock() != &function.getBody().front())
      return;
    assumed[less] = *end - 1;
    if (auto widened = less.getDefiningOp<arith::ExtSIOp>())
      less = widened.getIn();
    if (auto id = less.getDefiningOp<tt::GetProgramIdOp>())
      programs[id.getAxisAsInt()] = *end - 1;
  });
  auto first = tt::offsetForm(loop.getLowerBound());
  if (auto by = scalarConstantOf(loop.getStep());
      first && by && *by > 0 && !loop.getUnsignedCmp()) {
    lower = *first;
    step = *by;
    // From 0 on at least.
    if (auto end = mostOf(loop.getUpperBound(), 0); end && isNeverNegative(lower)) {
      mostIndex = std::max<int64_t>(0, *end - 1);
      mostRound = *mostIndex / step;
    }
  }
}

std::optional<Form> TensorTiles::inRounds(const OffsetSymbol &symbol) {
  auto asItIs = Form::symbol(symbol);
  if (step == 0 || symbol.kind != OffsetSymbol::Scalar || isOfRound(symbol))
    return asItIs;
  Form number = Form::symbol(round);
  if (symbol.value() == loop.getInductionVar()) {
    auto moved = number * Form::constant(step);
    return moved ? *moved + lower : std::nullopt;
  }
  auto argument = dyn_cast<BlockArgument>(symbol.value());
  if (!argument || argument.getOwner() != loop.getBody())
    return asItIs;
  // Moved by the same in every round.
  auto next = tt::offsetForm(loop.getTiedLoopYieldedValue(argument)->get());
  auto first = tt::offsetForm(loop.getTiedLoopInit(argument)->get());
  auto by = next ? *next - asItIs : std::nullopt;
  if (!by || !first)
    return asItIs;
  for (const auto &[monomial, coefficient] : by->terms())
    for (const OffsetSymbol &factor : monomial)
      if (factor.kind == OffsetSymbol::Scalar && !loop.isDefinedOutsideOfLoop(factor.value()))
        return asItIs;
  auto moved = *by * number;
  return moved ? *moved + *first : std::nullopt;
}

std::optional<Form> TensorTiles::inRounds(const Form &form) {
  Form result;
  for (const auto &[monomial, coefficient] : form.terms()) {
    std::optional<Form> term = Form::constant(coefficient);
    for (const OffsetSymbol &symbol : monomial) {
      auto factor = inRounds(symbol);
      term = term && factor ? *term * *factor : std::nullopt;
    }
    auto sum = term ? result + *term : std::nullopt;
    if (!sum)
      return std::nullopt;
    result = *sum;
  }
  return result;
}

bool TensorTiles::isNeverNegative(const Form &form) {
  return llvm::all_of(form.terms(), [&](const auto &term) {
    return term.second >= 0 && llvm::all_of(term.first, [&](const OffsetSymbol &symbol) {
             return symbol.kind != OffsetSymbol::Scalar || isOfRound(symbol) ||
                    axes.of(symbol.value()).nonNegative;
           });
  });
}

std::optional<int64_t> TensorTiles::mostOf(const Form &form) {
  int64_t sum = 0;
  for (const auto &[monomial, coefficient] : form.terms()) {
    int64_t product = coefficient;
    for (const OffsetSymbol &symbol : monomial) {
      auto most = mostOf(symbol);
      if (!most || llvm::MulOverflow(product, *most, product))
        return std::nullopt;
    }
    if (llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<int64_t> TensorTiles::mostOf(const OffsetSymbol &symbol) {
  if (symbol.kind == OffsetSymbol::ProgramId) {
    auto known = programs.find(symbol.dim);
    return known == programs.end() ? std::nullopt : std::optional(known->second);
  }
  if (symbol.kind != OffsetSymbol::Scalar)
    return std::nullopt;
  return isOfRound(symbol) ? mostRound : mostOf(symbol.value(), 0);
}

std::optional<int64_t> TensorTiles::mostOf(Value value, unsigned depth) {
  constexpr unsigned deepest = 8;
  if (auto number = scalarConstantOf(value))
    return number;
  if (value == loop.getInductionVar())
    return mostIndex;
  if (auto known = assumed.find(value); known != assumed.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return mostOf(op->getOperand(0), depth + 1);
  if (auto id = dyn_cast<tt::GetProgramIdOp>(op))
    return mostOf(OffsetSymbol::programId(id.getAxisAsInt()));
  if (!isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp, arith::MinSIOp>(op) ||
      !llvm::all_of(op->getOperands(), [&](Value in) { return axes.of(in).nonNegative; }))
    return std::nullopt;
  auto left = mostOf(op->getOperand(0), depth + 1), right = mostOf(op->getOperand(1), depth + 1);
  auto divisor = scalarConstantOf(op->getOperand(1));
  int64_t result = 0;
  if (isa<arith::DivSIOp>(op))
    return left && divisor && *divisor > 0 ? std::optional(*left / *divisor) : left;
  if (isa<arith::RemSIOp>(op) && right)
    right = *right - 1;
  if (isa<arith::RemSIOp, arith::MinSIOp>(op))
    return left && right ? std::min(*left, *right) : left ? left : right;
  bool overflows = !left || !right ||
                   (isa<arith::AddIOp>(op) ? llvm::AddOverflow(*left, *right, result)
                                           : llvm::MulOverflow(*left, *right, result));
  return overflows ? std::nullopt : std::optional(result);
}

//===--- places -------------------------------------------------------------------------------===//

/// A value that stands for the symbol; null where none is at hand.
Value TensorTiles::scalarOf(const OffsetSymbol &symbol) {
  if (symbol.kind == OffsetSymbol::Scalar)
    return symbol.value();
  Block &entry = loop->getParentOfType<tt::FuncOp>().getBody().front();
  Operation *before = entry.findAncestorOpInBlock(*loop);
  for (Operation &op : llvm::make_range(entry.begin(), before->getIterator())) {
    auto id = dyn_cast<tt::GetProgramIdOp>(op);
    auto count = dyn_cast<tt::GetNumProgramsOp>(op);
    if ((id && OffsetSymbol::programId(id.getAxisAsInt()) == symbol) ||
        (count && symbol.kind == OffsetSymbol::NumPrograms &&
         count.getAxisAsInt() == static_cast<int>(symbol.dim)))
      return op.getResult(0);
  }
  return {};
}

bool TensorTiles::addPlace(TensorTile &tile, const Form &form) {
  TensorTile::Place &place = tile.at.emplace_back();
  place.mayBeNegative = !isNeverNegative(form);
  for (const auto &[monomial, coefficient] : form.terms()) {
    TensorTile::Term &term = place.terms.emplace_back();
    term.coefficient = coefficient;
    for (const OffsetSymbol &symbol : monomial) {
      if (isOfRound(symbol)) {
        term.factors.push_back(-1);
        continue;
      }
      Value scalar = scalarOf(symbol);
      if (!scalar)
        return false;
      auto at = llvm::find(tile.scalars, scalar);
      term.factors.push_back(static_cast<int>(at - tile.scalars.begin()));
      if (at == tile.scalars.end())
        tile.scalars.push_back(scalar);
    }
  }
  return true;
}

static Value indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

static Value widened(OpBuilder &b, Location loc, Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  return value.getType().isInteger(64)
             ? value
             : Value(arith::ExtSIOp::create(b, loc, b.getI64Type(), value));
}

SmallVector<TensorCopyOp> copiesOf(ExpectCopiesOp expected) {
  SmallVector<TensorCopyOp> copies;
  for (Operation *next = expected->getNextNode(); isa_and_present<TensorCopyOp>(next);
       next = next->getNextNode())
    copies.push_back(cast<TensorCopyOp>(next));
  return copies;
}

SmallVector<Value> TensorTiles::placeOf(OpBuilder &b, const TensorTile &tile, Value index,
                                        const IRMapping &known) {
  Location loc = loop.getLoc();
  auto product = [&](const TensorTile::Term &term) {
    int64_t factor = term.coefficient;
    Value result;
    for (int number : term.factors) {
      Value next;
      if (number >= 0) {
        next = widened(b, loc, known.lookupOrDefault(tile.scalars[number]));
      } else {
        next = arith::SubIOp::create(b, loc, widened(b, loc, index),
                                     widened(b, loc, known.lookupOrDefault(tile.scalars[0])));
        if (factor % step == 0)
          factor /= step;
        else
          next = arith::DivUIOp::create(b, loc, next, indexConstant(b, loc, step));
      }
      result = result ? arith::MulIOp::create(b, loc, result, next) : next;
    }
    if (result && factor != 1)
      result = arith::MulIOp::create(b, loc, result, indexConstant(b, loc, factor));
    return result ? result : indexConstant(b, loc, factor);
  };
  SmallVector<Value> places;
  for (const TensorTile::Place &place : tile.at) {
    Value sum;
    for (const TensorTile::Term &term : place.terms) {
      Value next = product(term);
      sum = sum ? arith::AddIOp::create(b, loc, sum, next) : next;
    }
    // What 32 bits do not hold is outside, on the side where it is.
    Value at = sum ? sum : indexConstant(b, loc, 0);
    at = arith::MinSIOp::create(b, loc, at, indexConstant(b, loc, mostSize));
    if (place.mayBeNegative)
      at = arith::MaxSIOp::create(b, loc, at, indexConstant(b, loc, -mostSize));
    places.push_back(arith::TruncIOp::create(b, loc, b.getI32Type(), at));
  }
  return places;
}

} // namespace pellucid::ttgpu
