// SPDX-License-Identifier: Apache-2.0
// Which loads read boxes: the offset of a tile of pointers is divided among the dims of a tensor,
// so that its masks are the tensor's ends.
#include "codegen/gpu/TensorTiles.h"

#include "codegen/common/CodeBuilder.h"
#include "codegen/gpu/GlobalAccesses.h"
#include "codegen/gpu/MatrixUnits.h"
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
constexpr int64_t leastFarStride = 256;
constexpr size_t mostMaps = 16;

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
    if (!offset || pointer->offset.strideOf(along).asConstant() != 1 ||
        !findPitch(pointer->offset.strideOf(across)))
      return std::nullopt;
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

  /// A constant, or an argument of a descriptor's.
  bool findPitch(const Form &stride) {
    pitchForm = stride;
    if (auto number = stride.asConstant()) {
      pitch = *number;
      return isStride(pitch);
    }
    auto argument = argumentOf(stride);
    if (!argument || of.axes.of(argument).divisibilityOfAll() * bytes % alignment != 0)
      return false;
    pitch = -1 - static_cast<int64_t>(argument.getArgNumber());
    return true;
  }

  /// Of the kernel, where the form is just that: what a descriptor was made from, or 32 bits.
  BlockArgument argumentOf(const Form &form, bool isSize = false) {
    if (form.terms().size() != 1)
      return {};
    const auto &[monomial, coefficient] = *form.terms().begin();
    if (coefficient != 1 || monomial.size() != 1 || monomial[0].kind != OffsetSymbol::Scalar)
      return {};
    auto argument = dyn_cast<BlockArgument>(monomial[0].value());
    bool isOfKernel = argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp());
    bool isPlain = isSize && argument && argument.getType().isInteger(32);
    return isOfKernel && (isPlain || load->hasAttr(tt::ofDescriptorName)) ? argument
                                                                          : BlockArgument();
  }

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
    auto difference = one.lhs - one.rhs;
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
      if (auto limit = scalarConstantOf(least->getOperand(i)); limit && *limit + more >= extent) {
        auto left = tt::offsetForm(untruncated(least->getOperand(1 - i)));
        return left ? *left + Form::constant(more) : std::nullopt;
      }
    return bound;
  }

  /// Divides the offset into what it moves along each dim; what is left moves along one more.
  bool place(const Form &offset) {
    Form rest = offset;
    auto take = [&](unsigned d, const Form &part) {
      auto moved = d == across ? part * pitchForm : std::optional(part);
      auto left = moved ? rest - *moved : std::nullopt;
      auto sum = dims[d].at + part;
      if (!left || !sum)
        return false;
      rest = *left;
      dims[d].at = *sum;
      return true;
    };
    for (unsigned d : {across, along})
      if (dims[d].end) {
        auto ofPlace = [&](const OffsetMonomial &monomial, int64_t factor) {
          return !monomial.empty() && !argumentOf(termOf(monomial, factor), true);
        };
        auto moved = divided(*dims[d].end, ofPlace).first * Form::constant(-1);
        if (!moved || !take(d, *moved))
          return false;
      }
    int64_t left = constantPart(rest);
    if (left < 0 || !take(across, Form::constant(pitch > 0 ? left / pitch : 0)) ||
        !take(along, Form::constant(pitch > 0 ? left % pitch : left)))
      return false;
    auto [whole, cut] =
        divided(rest, [&](auto &, int64_t factor) { return pitch > 0 && factor % pitch == 0; });
    if (!dims[across].end && pitch > 0 && !take(across, quotient(whole, pitch)))
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
      if (auto argument = end ? argumentOf(*end, true) : BlockArgument()) {
        dim.size = -1 - static_cast<int64_t>(argument.getArgNumber());
        continue;
      }
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

  /// No device has a tensor of half a terabyte, with so many of these strides that 32 bits would
  /// not count them.
  bool isFar(int64_t stride) const { return stride * bytes >= leastFarStride; }

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
                                  strides, box, of.roundedOf(load, type) != nullptr);
    return tile;
  }

  TensorTiles &of;
  tt::LoadOp load;
  ArrayRef<int64_t> shape;
  unsigned along, across;
  int64_t bytes = 0;
  int64_t pitch = 0; ///< below zero: an argument, as in a TensorMapAttr
  Form pitchForm;
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
static bool sourceMayBeWritten(Value pointer, tt::FuncOp function) {
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

/// `where(x == x, (b + ((b >> 13 & 1) + 2^12 - 1)) without the last 13 bits, x)` for the bits b of
/// x as integers of 32 bits: to the nearest, halves to the even one, as devices round what they
/// copy; what is not a number stays. null: `value` is something else.
static Value roundedToTf32(Value value) {
  constexpr int64_t digits = 13, belowHalf = (1 << 12) - 1, kept = -(1 << digits);
  auto number = [](Value of) -> std::optional<int64_t> {
    SplatElementsAttr splat;
    return matchPattern(of, m_Constant(&splat)) && splat.getElementType().isInteger(32)
               ? std::optional(splat.getSplatValue<APInt>().getSExtValue())
               : std::nullopt;
  };
  auto choice = value.getDefiningOp<arith::SelectOp>();
  auto isNumber = choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  auto bits = choice ? choice.getTrueValue().getDefiningOp<tt::BitcastOp>() : tt::BitcastOp();
  auto cut = bits ? bits.getSrc().getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  auto sum = cut ? cut.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  auto from = sum ? sum.getLhs().getDefiningOp<tt::BitcastOp>() : tt::BitcastOp();
  auto added = sum ? sum.getRhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  auto odd = added ? added.getLhs().getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  auto shifted = odd ? odd.getLhs().getDefiningOp<arith::ShRSIOp>() : arith::ShRSIOp();
  bool isEven = shifted && from && shifted.getLhs() == from.getResult() &&
                number(shifted.getRhs()) == digits && number(odd.getRhs()) == 1 &&
                number(added.getRhs()) == belowHalf;
  Value source = from ? from.getSrc() : Value();
  bool rounds = isEven && tileOf(source) && tileOf(source).getElementType().isF32() && isNumber &&
                isNumber.getPredicate() == arith::CmpFPredicate::OEQ &&
                isNumber.getLhs() == source && isNumber.getRhs() == source &&
                choice.getFalseValue() == source && number(cut.getRhs()) == kept;
  return rounds ? source : Value();
}

Value TensorTiles::roundedOf(tt::LoadOp load, BufferType type) {
  for (Operation *user : load->getUsers()) {
    auto choice = dyn_cast<arith::SelectOp>(user);
    if (!choice || roundedToTf32(choice) != load.getResult() || !choice->hasOneUse())
      continue;
    auto dot = dyn_cast<tt::DotOp>(*choice->user_begin());
    unsigned inner = dot && dot.getA() == choice.getResult() ? 1 : 0;
    bool isRead = dot && dot.getC() != choice.getResult() && type.getAlong() == inner &&
                  unitOf(dot) == MatrixUnit::Warpgroup && multipliesTruncated(dot);
    // The comparison, the bits and the number itself are all that is made of what is loaded.
    constexpr size_t uses = 4;
    if (isRead && size_t(std::distance(load->use_begin(), load->use_end())) == uses)
      return choice;
  }
  return {};
}

std::optional<TensorTile> TensorTiles::tileOf(tt::LoadOp load, BufferType type) {
  auto function = loop->getParentOfType<tt::FuncOp>();
  if (!function->hasAttr(copiesTensorsName) || type.getTile().getRank() != 2 ||
      sourceMayBeWritten(load.getPtr(), function))
    return std::nullopt;
  std::optional<TensorTile> tile = Box(*this, load, type).find(type);
  auto number = tile ? addTensorMap(function, tile->map) : std::nullopt;
  if (!number)
    return std::nullopt;
  tile->number = *number;
  return tile;
}

} // namespace pellucid::ttgpu
