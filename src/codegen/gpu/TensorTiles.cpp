// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/TensorTiles.h"

#include "codegen/common/CodeBuilder.h"
#include "codegen/gpu/GlobalAccesses.h"
#include "codegen/gpu/SharedUse.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace pellucid::ttgpu {

using tt::OffsetMonomial;
using tt::OffsetSymbol;

namespace {

using Form = tt::OffsetForm;

/// Of what the hardware takes: bytes of an address and a stride, elements of a dim and of a box.
constexpr int64_t alignment = 16, mostOfBox = 256, mostMemory = int64_t(1) << 40;
constexpr size_t mostMaps = 16;
/// Places are numbers of 32 bits; a tile that begins in the last ones would leave them.
constexpr int64_t mostSize = INT32_MAX - 2 * mostOfBox;

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

std::optional<Form> minus(const Form &a, const Form &b) {
  auto negated = b * Form::constant(-1);
  return negated ? a + *negated : std::nullopt;
}

Form termOf(const OffsetMonomial &monomial, int64_t coefficient) {
  Form term = Form::constant(coefficient);
  for (const OffsetSymbol &symbol : monomial)
    term = *(term * Form::symbol(symbol)); // one term of distinct factors stays one
  return term;
}

int64_t constantPart(const Form &form) {
  auto found = form.terms().find({});
  return found == form.terms().end() ? 0 : found->second;
}

/// The terms that `holds` says, and the others.
std::pair<Form, Form> divided(const Form &form,
                              llvm::function_ref<bool(const OffsetMonomial &, int64_t)> holds) {
  std::pair<Form, Form> parts;
  for (const auto &[monomial, coefficient] : form.terms()) {
    Form &part = holds(monomial, coefficient) ? parts.first : parts.second;
    part = *(part + termOf(monomial, coefficient));
  }
  return parts;
}

/// `form / by`, whose terms are all multiples of it.
Form quotient(const Form &form, int64_t by) {
  Form result;
  for (const auto &[monomial, coefficient] : form.terms())
    result = *(result + termOf(monomial, coefficient / by));
  return result;
}

/// What is behind a smaller number of bits; the number is taken to fit.
Value untruncated(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::TruncIOp, arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

} // namespace

//===--- rounds -------------------------------------------------------------------------------===//

TensorTiles::TensorTiles(scf::ForOp loop, const tt::AxisAnalysis &axes) : loop(loop), axes(axes) {
  round = {OffsetSymbol::Scalar, 1, loop.getInductionVar().getAsOpaquePointer()};
  auto first = tt::offsetForm(loop.getLowerBound());
  if (auto by = constantOf(loop.getStep()); first && by && *by > 0 && !loop.getUnsignedCmp()) {
    lower = *first;
    step = *by;
    // From 0 on at least.
    if (auto end = constantOf(loop.getUpperBound()); end && isNeverNegative(lower)) {
      mostIndex = std::max<int64_t>(0, *end - 1);
      mostRound = *mostIndex / step;
    }
  }
  loop->getParentOfType<tt::FuncOp>().walk([&](tt::AssumeOp op) {
    auto compared = op->getOperand(0).getDefiningOp<arith::CmpIOp>();
    auto end = compared ? constantOf(compared.getRhs()) : std::nullopt;
    if (!end || compared.getPredicate() != arith::CmpIPredicate::slt)
      return;
    assumed[compared.getLhs()] = *end - 1;
    if (auto id = compared.getLhs().getDefiningOp<tt::GetProgramIdOp>())
      programs[id.getAxisAsInt()] = *end - 1;
  });
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
  auto by = next ? minus(*next, asItIs) : std::nullopt;
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
  if (auto number = constantOf(value))
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
  auto divisor = constantOf(op->getOperand(1));
  int64_t result = 0;
  if (isa<arith::DivSIOp>(op))
    return left && divisor && *divisor > 0 ? std::optional(*left / *divisor) : std::nullopt;
  if (isa<arith::RemSIOp>(op) && right)
    right = *right - 1;
  if (isa<arith::RemSIOp, arith::MinSIOp>(op))
    return left && right ? std::min(*left, *right) : left ? left : right;
  bool overflows = !left || !right ||
                   (isa<arith::AddIOp>(op) ? llvm::AddOverflow(*left, *right, result)
                                           : llvm::MulOverflow(*left, *right, result));
  return overflows ? std::nullopt : std::optional(result);
}

//===--- boxes --------------------------------------------------------------------------------===//

/// What an access says of the box, dim by dim of the tile.
class TensorTiles::Box {
public:
  Box(TensorTiles &of, tt::LoadOp load, BufferType type)
      : of(of), load(load), shape(type.getTile().getShape()), along(type.getAlong()),
        across(1 - along) {}

  std::optional<TensorTile> find(BufferType type) {
    auto pointer = tt::pointerForm(load.getPtr());
    auto base = pointer ? dyn_cast<BlockArgument>(pointer->base) : BlockArgument();
    bytes = codegen::memoryBytes(type.getTile().getElementType());
    if (!base || !isa<tt::FuncOp>(base.getOwner()->getParentOp()) ||
        of.axes.of(base).divisibilityOfAll(1) % alignment != 0)
      return std::nullopt;
    auto offset = of.inRounds(pointer->offset.uniformPart());
    auto stride = pointer->offset.strideOf(across).asConstant();
    if (!offset || pointer->offset.strideOf(along).asConstant() != 1 || !stride ||
        !isStride(*stride))
      return std::nullopt;
    pitch = *stride;
    if (!findEnds() || !place(*offset))
      return std::nullopt;
    return describe(base.getArgNumber(), type);
  }

private:
  /// lane of `dim` < end, and >= begin where that is known.
  struct Dim {
    std::optional<Form> end, begin;
    Form at;
    int64_t size = 0;
  };

  bool findEnds() {
    if (!load.getMask())
      return true;
    auto comparisons = tt::maskForm(load.getMask());
    return comparisons && llvm::all_of(*comparisons, [&](const tt::OffsetComparison &one) {
             return noteComparison(one);
           });
  }

  /// As `lane + rest < 0` or `rest - lane < 0`.
  bool noteComparison(const tt::OffsetComparison &one) {
    using Predicate = arith::CmpIPredicate;
    auto difference = minus(one.lhs, one.rhs);
    bool swaps = one.predicate == Predicate::sgt || one.predicate == Predicate::sge;
    if (difference && swaps)
      difference = *difference * Form::constant(-1);
    bool admitsEqual = one.predicate == Predicate::sle || one.predicate == Predicate::sge;
    if (!difference || (!swaps && !admitsEqual && one.predicate != Predicate::slt))
      return false;
    if (admitsEqual)
      difference = *difference + Form::constant(-1);
    for (unsigned d : {0U, 1U}) {
      auto factor = difference->strideOf(d).asConstant();
      auto other = difference->strideOf(1 - d).asConstant();
      if (!factor || other != 0 || (*factor != 1 && *factor != -1))
        continue;
      auto rest = difference->uniformPart();
      auto bound = *factor == 1 ? rest * Form::constant(-1) : rest + Form::constant(1);
      return bound && noteBound(d, *factor == 1, *bound);
    }
    return false;
  }

  bool noteBound(unsigned d, bool isEnd, const Form &bound) {
    auto behind = isEnd ? withoutTile(bound, shape[d]) : std::optional(bound);
    auto form = behind ? of.inRounds(*behind) : std::nullopt;
    if (!form)
      return false;
    std::optional<Form> &known = isEnd ? dims[d].end : dims[d].begin;
    if (known && *known != *form)
      return false;
    known = form;
    return true;
  }

  /// Of `min(left, tile)`, what is left: no lane comes to the tile's end.
  static std::optional<Form> withoutTile(const Form &bound, int64_t extent) {
    int64_t more = constantPart(bound);
    auto rest = bound + Form::constant(-more);
    if (!rest || rest->terms().size() != 1)
      return bound;
    const auto &[monomial, coefficient] = *rest->terms().begin();
    if (coefficient != 1 || monomial.size() != 1 || monomial[0].kind != OffsetSymbol::Scalar)
      return bound;
    auto least = untruncated(monomial[0].value()).getDefiningOp<arith::MinSIOp>();
    if (!least)
      return bound;
    for (unsigned i : {0U, 1U})
      if (auto limit = constantOf(least->getOperand(i)); limit && *limit + more >= extent) {
        auto left = tt::offsetForm(untruncated(least->getOperand(1 - i)));
        return left ? *left + Form::constant(more) : std::nullopt;
      }
    return bound;
  }

  /// Divides the offset into what it moves along each dim; what is left moves along one more.
  bool place(const Form &offset) {
    Form rest = offset;
    auto take = [&](unsigned d, const Form &part) {
      auto moved = part * Form::constant(d == across ? pitch : 1);
      auto left = moved ? minus(rest, *moved) : std::nullopt;
      auto sum = dims[d].at + part;
      if (!left || !sum)
        return false;
      rest = *left;
      dims[d].at = *sum;
      return true;
    };
    for (unsigned d : {across, along})
      if (dims[d].end) {
        auto moved =
            divided(*dims[d].end, [](auto &monomial, int64_t) { return !monomial.empty(); }).first *
            Form::constant(-1);
        if (!moved || !take(d, *moved))
          return false;
      }
    int64_t left = constantPart(rest);
    if (left < 0 || !take(across, Form::constant(left / pitch)) ||
        !take(along, Form::constant(left % pitch)))
      return false;
    auto [whole, cut] = divided(rest, [&](auto &, int64_t factor) { return factor % pitch == 0; });
    if (!dims[across].end && !take(across, quotient(whole, pitch)))
      return false;
    if (!dims[along].end && !take(along, cut))
      return false;
    return checkBegins() && findSizes() && placeOutside(rest);
  }

  bool findSizes() {
    for (auto [d, dim] : llvm::enumerate(dims)) {
      auto end = dim.end ? *dim.end + dim.at : std::nullopt;
      bool isBounded = !dim.end && of.isNeverNegative(dim.at);
      auto most = isBounded ? of.mostOf(dim.at) : std::nullopt;
      if (isBounded && !most && d == across && isFar(pitch))
        most = mostSize - shape[d];
      auto size = end ? end->asConstant() : most ? std::optional(*most + shape[d]) : std::nullopt;
      if (!size || *size <= 0 || *size > mostSize)
        return false;
      dim.size = *size;
    }
    return true;
  }

  bool isStride(int64_t stride) const {
    return stride > 0 && stride < mostMemory / bytes && stride * bytes % alignment == 0;
  }

  /// No memory has so many of these strides that 32 bits would not count them.
  bool isFar(int64_t stride) const { return stride * bytes >= mostMemory / INT32_MAX + 1; }

  bool placeOutside(const Form &rest) {
    for (const auto &[monomial, coefficient] : rest.terms())
      outerStride = std::gcd(outerStride, coefficient);
    if (outerStride == 0)
      return true;
    outerAt = quotient(rest, outerStride);
    bool isBounded = of.isNeverNegative(outerAt);
    auto most = isBounded ? of.mostOf(outerAt) : std::nullopt;
    if (isBounded && !most && isFar(outerStride))
      most = mostSize - 1;
    outerSize = most.value_or(mostSize) + 1;
    return isStride(outerStride) && outerSize <= mostSize;
  }

  /// No box begins before its tensor, or the load masks off just that.
  bool checkBegins() {
    return llvm::all_of(dims, [&](const Dim &dim) {
      if (!dim.begin)
        return of.isNeverNegative(dim.at);
      auto sum = *dim.begin + dim.at;
      return sum && sum->asConstant() == 0;
    });
  }

  std::optional<TensorTile> describe(unsigned argument, BufferType type) {
    codegen::SharedTile held = ttgpu::tileOf(type);
    if (!codegen::SharedTile::holds(held.rows, held.columns) || shape[across] > mostOfBox)
      return std::nullopt;
    TensorTile tile;
    tile.scalars.push_back(of.loop.getLowerBound());
    int64_t row = held.rowBytes() / bytes;
    SmallVector<int64_t> sizes{dims[along].size, dims[across].size}, strides{1, pitch},
        box{row, shape[across]};
    if (!of.addPlace(tile, dims[along].at) || !of.addPlace(tile, dims[across].at))
      return std::nullopt;
    if (outerStride != 0) {
      sizes.push_back(outerSize);
      strides.push_back(outerStride);
      box.push_back(1);
      if (!of.addPlace(tile, outerAt))
        return std::nullopt;
    }
    tile.map = TensorMapAttr::get(type.getContext(), argument, bytes, held.rowBytes(), sizes,
                                  strides, box);
    return tile;
  }

  TensorTiles &of;
  tt::LoadOp load;
  ArrayRef<int64_t> shape;
  unsigned along, across;
  int64_t bytes = 0, pitch = 0;
  std::array<Dim, 2> dims;
  int64_t outerStride = 0, outerSize = 0;
  Form outerAt;
};

/// The number of `map` among those of the function; none where it has too many.
static std::optional<unsigned> addTensorMap(tt::FuncOp function, TensorMapAttr map) {
  SmallVector<Attribute> maps;
  if (auto known = function->getAttrOfType<ArrayAttr>(tensorMapsName))
    maps.assign(known.begin(), known.end());
  auto found = llvm::find(maps, map);
  unsigned number = found - maps.begin();
  if (found == maps.end()) {
    if (maps.size() == mostMaps)
      return std::nullopt;
    maps.push_back(map);
    function->setAttr(tensorMapsName, ArrayAttr::get(function.getContext(), maps));
  }
  return number;
}

/// Copies by box are not ordered with what threads store.
static bool mayBeWritten(Value pointer, tt::FuncOp function) {
  return function
      ->walk([&](Operation *op) {
        auto store = dyn_cast<tt::StoreOp>(op);
        bool writes = isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::ElementwiseInlineAsmOp>(op) ||
                      (store && mayShareMemory(pointer, store.getPtr()));
        return writes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Value baseOf(TensorCopyOp copy) {
  auto function = copy->getParentOfType<tt::FuncOp>();
  auto map = cast<TensorMapAttr>(function->getAttrOfType<ArrayAttr>(tensorMapsName)[copy.getMap()]);
  return function.getArgument(map.getArgument());
}

std::optional<TensorTile> TensorTiles::tileOf(tt::LoadOp load, BufferType type) {
  auto function = loop->getParentOfType<tt::FuncOp>();
  if (!function->hasAttr(copiesTensorsName) || type.getTile().getRank() != 2 ||
      mayBeWritten(load.getPtr(), function))
    return std::nullopt;
  std::optional<TensorTile> tile = Box(*this, load, type).find(type);
  auto number = tile ? addTensorMap(function, tile->map) : std::nullopt;
  if (!number)
    return std::nullopt;
  tile->number = *number;
  return tile;
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

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

static Value widened(OpBuilder &b, Location loc, Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  return value.getType().isInteger(64)
             ? value
             : Value(arith::ExtSIOp::create(b, loc, b.getI64Type(), value));
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
          next = arith::DivUIOp::create(b, loc, next, constant(b, loc, step));
      }
      result = result ? arith::MulIOp::create(b, loc, result, next) : next;
    }
    if (result && factor != 1)
      result = arith::MulIOp::create(b, loc, result, constant(b, loc, factor));
    return result ? result : constant(b, loc, factor);
  };
  SmallVector<Value> places;
  for (const TensorTile::Place &place : tile.at) {
    Value sum;
    for (const TensorTile::Term &term : place.terms) {
      Value next = product(term);
      sum = sum ? arith::AddIOp::create(b, loc, sum, next) : next;
    }
    // What 32 bits do not hold is outside, on the side where it is.
    Value at = sum ? sum : constant(b, loc, 0);
    at = arith::MinSIOp::create(b, loc, at, constant(b, loc, mostSize));
    if (place.mayBeNegative)
      at = arith::MaxSIOp::create(b, loc, at, constant(b, loc, -mostSize));
    places.push_back(arith::TruncIOp::create(b, loc, b.getI32Type(), at));
  }
  return places;
}

} // namespace pellucid::ttgpu
