// SPDX-License-Identifier: Apache-2.0
#include "graph/FakeRules.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace pellucid::graph {

using enum DataType;

//===-- Promotion -----------------------------------------------------------------------------===//

/// 0: bool, 1: integer, 2: floating.
static int category(DataType t) { return t == Bool ? 0 : isFloat(t) ? 2 : 1; }

static bool isFloat8(DataType t) { return isFloat(t) && byteSize(t) == 1; }

static DataType promoteIntegers(DataType a, DataType b) {
  if (info(a).isSigned == info(b).isSigned)
    return byteSize(a) >= byteSize(b) ? a : b;
  DataType isSigned = info(a).isSigned ? a : b, isUnsigned = info(a).isSigned ? b : a;
  if (byteSize(isSigned) > byteSize(isUnsigned))
    return isSigned;
  // ATen has no type that holds both u64 and a signed one; wider unsigned types go to the next
  // signed one.
  switch (byteSize(isUnsigned)) {
  case 1:
    return Int16;
  case 2:
    return Int32;
  default:
    return Int64;
  }
}

static DataType promoteFloats(DataType a, DataType b) {
  if (isFloat8(a) || isFloat8(b))
    return isFloat8(a) ? b : a;
  if (byteSize(a) != byteSize(b))
    return byteSize(a) > byteSize(b) ? a : b;
  return Float32; // bf16 with f16
}

DataType promoteTypes(DataType a, DataType b) {
  if (a == b)
    return a;
  if (category(a) != category(b))
    return category(a) > category(b) ? a : b;
  return category(a) == 2 ? promoteFloats(a, b) : promoteIntegers(a, b);
}

namespace {
/// The ends of an integer type's range, as far as 64 bits hold them.
struct IntegerRange {
  int64_t least, most;
};
IntegerRange rangeOf(DataType type) {
  unsigned bits = 8 * byteSize(type);
  if (!info(type).isSigned)
    return {0, bits == 64 ? INT64_MAX : (int64_t(1) << bits) - 1};
  int64_t most = static_cast<int64_t>(~uint64_t(0) >> (65 - bits));
  return {-most - 1, most};
}

/// Towards zero; what 64 bits do not hold, to their ends.
int64_t truncated(const Argument &number) {
  if (std::optional<double> real = number.as<double>())
    return std::isnan(*real) ? 0
           : *real >= 0x1p63 ? INT64_MAX
           : *real < -0x1p63 ? INT64_MIN
                             : static_cast<int64_t>(*real);
  return number.as<bool>() ? *number.as<bool>() : number.as<int64_t>().value_or(0);
}
} // namespace

int64_t integerOf(const Argument &number, DataType type, OutOfRange how) {
  if (type == DataType::Bool) { // NaN is no zero
    std::optional<double> real = number.as<double>();
    return real ? *real != 0 : truncated(number) != 0;
  }
  int64_t value = truncated(number);
  IntegerRange range = rangeOf(type);
  if (how == OutOfRange::Saturates)
    return std::clamp(value, range.least, range.most);
  unsigned spare = 64 - 8 * byteSize(type);
  uint64_t shifted = static_cast<uint64_t>(value) << spare;
  return info(type).isSigned ? static_cast<int64_t>(shifted) >> spare
                             : static_cast<int64_t>(shifted >> spare);
}

void checkNumberFits(const OperatorCall &call, std::string_view name, DataType type) {
  const Argument &number = call.at(name);
  std::optional<double> real = number.as<double>();
  if (!isInteger(type) || (!real && !number.as<int64_t>()))
    return;
  IntegerRange range = rangeOf(type);
  int64_t value = truncated(number), least = info(type).isSigned ? range.least : -range.most;
  bool fits = value >= least && value <= range.most;
  if (real && (std::isnan(*real) || std::isinf(*real)))
    fits = false;
  if (!fits)
    call.fail("expects '" + std::string(name) + "' to be a number that " +
              std::string(info(type).torch) + " holds, got " + toString(number));
}

DataType numberType(const Argument &number) {
  if (number.as<bool>())
    return Bool;
  return number.as<double>() ? Float32 : Int64;
}

DataType resultType(std::span<const PromotionOperand> operands) {
  using Priority = PromotionOperand::Priority;
  std::optional<DataType> byPriority[3];
  for (const PromotionOperand &o : operands) {
    std::optional<DataType> &slot = byPriority[static_cast<int>(o.priority)];
    slot = slot ? promoteTypes(*slot, o.dtype) : o.dtype;
  }
  std::optional<DataType> result;
  for (Priority p : {Priority::Dimensioned, Priority::ZeroDim, Priority::Number})
    if (std::optional<DataType> lower = byPriority[static_cast<int>(p)])
      // A lower priority counts only when it lifts the category: i32 tensor + 1.5 is f32, bf16
      // tensor + 1.5 is bf16.
      result = !result                                ? *lower
               : category(*lower) > category(*result) ? promoteTypes(*result, *lower)
                                                      : *result;
  return result.value_or(Float32);
}

DataType opMathType(DataType t) { return isFloat(t) && byteSize(t) < 4 ? Float32 : t; }

/// Conditions choose, they do not promote; of the numbers only those that stand for an operand do.
static bool isPromoting(const SchemaArgument &argument, bool tensor) {
  static constexpr std::string_view choosing[] = {"condition", "mask"};
  static constexpr std::string_view numbers[] = {"self", "other", "exponent", "min", "max"};
  auto named = [&](std::string_view name) { return argument.name == name; };
  return tensor ? std::none_of(std::begin(choosing), std::end(choosing), named)
                : std::any_of(std::begin(numbers), std::end(numbers), named);
}

static std::vector<PromotionOperand> promotionOperands(const OperatorCall &call) {
  using Priority = PromotionOperand::Priority;
  std::vector<PromotionOperand> operands;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Argument &a = call.args[i];
    const Value *v = a.value();
    if (a.isNone() || !isPromoting(call.op.schema.arguments[i], v))
      continue;
    if (v && v->isTensor())
      operands.push_back(
          {v->type().dtype, v->type().rank() ? Priority::Dimensioned : Priority::ZeroDim});
    else if (a.integer() || a.number())
      operands.push_back({numberType(a), Priority::Number});
  }
  return operands;
}

PointwiseTypes pointwiseTypes(const OperatorCall &call) {
  if (call.op.pointwise.promotion == Promotion::Explicit) {
    DataType from = call.tensor("self").dtype;
    ResultType result = call.op.fake(call)[0];
    return {from, from, std::get<TensorType>(result).dtype};
  }
  DataType common = resultType(promotionOperands(call));
  switch (call.op.pointwise.promotion) {
  case Promotion::IntToFloat:
    if (!isFloat(common))
      common = Float32;
    break;
  case Promotion::BoolToLong:
    if (common == Bool)
      common = Int64;
    break;
  case Promotion::AlwaysBool:
    return {opMathType(common), common, Bool};
  case Promotion::NoOpMath:
    return {common, common, common};
  default:
    break;
  }
  return {opMathType(common), common, common};
}

//===-- Shapes --------------------------------------------------------------------------------===//

std::string shapeText(const std::vector<Expr> &shape) {
  std::string text = "[";
  for (const Expr &e : shape)
    text += (text.size() > 1 ? ", " : "") + e.text();
  return text + "]";
}

int64_t wrapDim(const OperatorCall &call, int64_t dim, size_t rank) {
  int64_t r = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -r || dim >= r)
    call.fail("expects a dim in [" + std::to_string(-r) + ", " + std::to_string(r - 1) + "], got " +
              std::to_string(dim));
  return dim < 0 ? dim + r : dim;
}

size_t existingDim(const OperatorCall &call, std::string_view name, const TensorType &self) {
  if (self.rank() == 0)
    call.fail("expects a tensor with at least 1 dim, got one without dims");
  return static_cast<size_t>(call.dim(name, self.rank()));
}

std::vector<Expr> broadcastShapes(const OperatorCall &call, const std::vector<Expr> &a,
                                  const std::vector<Expr> &b) {
  std::vector<Expr> out(std::max(a.size(), b.size()), Expr(1));
  for (size_t back = 1; back <= out.size(); ++back) {
    Expr x = back <= a.size() ? a[a.size() - back] : Expr(1);
    Expr y = back <= b.size() ? b[b.size() - back] : Expr(1);
    Expr &dim = out[out.size() - back];
    if (x == y || call.symbols.proveEqual(y, 1))
      dim = x;
    else if (call.symbols.proveEqual(x, 1))
      dim = y;
    else if (call.symbols.proveEqual(x, y))
      dim = x.isConstant() ? x : y.isConstant() ? y : x;
    else
      call.fail("cannot broadcast " + shapeText(a) + " with " + shapeText(b) + ": " + x.text() +
                " and " + y.text() + " are not known to be equal, and neither is known to be 1");
  }
  return out;
}

/// Strides of a tensor of `shape` whose dims lie in memory as `order` has them, outermost first.
static std::vector<Expr> stridesInOrder(const std::vector<Expr> &shape,
                                        const std::vector<size_t> &order) {
  std::vector<Expr> strides(shape.size(), Expr(1));
  Expr next = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = next;
    if (shape[order[i]].constant() != 0)
      next = next * shape[order[i]];
  }
  return strides;
}

namespace {
/// Sorts dims by the strides that operands have in them, as TensorIterator does: comparisons may be
/// ambiguous, so that it is an insertion sort.
struct DimOrder {
  const std::vector<Expr> &shape;
  std::vector<std::vector<Expr>> strides; ///< per operand, over `shape`; 0 where it broadcasts
  const SymbolTable &symbols;
  bool known = true;

  /// Negative: `a` lies inside of `b`; positive: the other way; 0: nothing tells.
  int compare(size_t a, size_t b) {
    for (const std::vector<Expr> &operand : strides) {
      const Expr &left = operand[a], &right = operand[b];
      if (symbols.proveEqual(left, 0) || symbols.proveEqual(right, 0))
        continue;
      if (symbols.proveEqual(left, right)) {
        if (symbols.prove(less(shape[b], shape[a])).value_or(false))
          return 1;
        continue;
      }
      // Strides that are equal for some sizes belong to dims of size 1 there.
      if (symbols.prove(lessEqual(left, right)) == true)
        return -1;
      if (symbols.prove(lessEqual(right, left)) == true)
        return 1;
      known = false;
    }
    return 0;
  }

  /// Outermost first.
  std::vector<size_t> sorted() {
    size_t rank = shape.size();
    std::vector<size_t> order(rank); // innermost first
    std::iota(order.rbegin(), order.rend(), size_t(0));
    for (size_t i = 1; i < rank; ++i)
      for (size_t at = i; at-- > 0;) {
        int found = compare(order[at], order[at + 1]);
        if (found < 0)
          break;
        if (found > 0)
          std::swap(order[at], order[at + 1]);
      }
    std::reverse(order.begin(), order.end());
    return order;
  }
};
} // namespace

NewStrides elementwiseStrides(const std::vector<Expr> &shape,
                              std::span<const TensorType *const> operands,
                              const SymbolTable &symbols) {
  if (std::all_of(operands.begin(), operands.end(),
                  [&](const TensorType *operand) { return operand->isContiguous(symbols); }))
    return {contiguousStrides(shape)};
  DimOrder order{shape, {}, symbols};
  for (const TensorType *operand : operands) {
    std::vector<Expr> strides(shape.size(), Expr(0));
    size_t added = shape.size() - operand->rank();
    for (size_t i = 0; i < operand->rank(); ++i)
      if (operand->shape[i] == shape[i + added] || !symbols.proveEqual(operand->shape[i], 1))
        strides[i + added] = operand->strides[i];
    order.strides.push_back(std::move(strides));
  }
  std::vector<size_t> sorted = order.sorted();
  return {stridesInOrder(shape, sorted), order.known};
}

bool suggestsChannelsLast(const TensorType &type, const SymbolTable &symbols) {
  size_t rank = type.rank();
  if ((rank != 4 && rank != 5) || symbols.proveEqual(type.strides[1], 0))
    return false;
  Expr least = 0;
  for (size_t i = 0; i < rank; ++i) {
    size_t dim = i == 0 ? 1 : i + 1 < rank ? rank - i : 0;
    const Expr &stride = type.strides[dim];
    if (symbols.prove(symbolic::lessEqual(least, stride)) != true ||
        symbols.proveEqual(type.shape[dim], 0) ||
        (dim == 0 && symbols.proveEqual(least, type.strides[1])))
      return false;
    least = symbols.proveEqual(type.shape[dim], 1) ? stride : stride * type.shape[dim];
  }
  return true;
}

std::vector<Expr> channelsLastStrides(std::vector<Expr> shape) {
  std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  std::vector<Expr> strides = contiguousStrides(shape);
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return strides;
}

std::vector<Expr> preservedStrides(const TensorType &type, const SymbolTable &symbols) {
  const TensorType *only = &type;
  return elementwiseStrides(type.shape, {&only, 1}, symbols).strides;
}

static std::vector<const TensorType *> tensorsOf(const OperatorCall &call) {
  std::vector<const TensorType *> types;
  for (const Argument &argument : call.args)
    argument.forEachValue([&](const Value *value) {
      if (value->isTensor())
        types.push_back(&value->type());
    });
  return types;
}

/// matmul() of a matrix and more of them computes with the second operand's rows first, and gives
/// the product's other order.
static bool isProductInRows(const OperatorCall &call) {
  static const std::unordered_set<std::string_view> products = {"addmm", "bmm", "linear", "mm"};
  if (call.op.schema.name != "matmul")
    return products.count(call.op.schema.name) != 0;
  const Value *first = call.args[0].value(), *second = call.args[1].value();
  return first && second && (first->type().rank() > 2 || second->type().rank() <= 2);
}

bool isAlwaysRowMajor(const OperatorCall &call) {
  const std::string &name = call.op.schema.name;
  bool isMade = call.op.kind == Operator::Kind::Factory && !name.ends_with("_like");
  // Copied or not.
  if (name == "contiguous") {
    const std::string *format = call.args.size() > 1 ? call.args[1].string() : nullptr;
    return !format || *format == "contiguous_format";
  }
  return isMade || name == "masked_fill" || name.ends_with("softmax") || isProductInRows(call);
}

bool hasKnownStrides(const OperatorCall &call) {
  std::vector<const TensorType *> operands = tensorsOf(call);
  const std::string &name = call.op.schema.name;
  if (std::all_of(operands.begin(), operands.end(),
                  [&](const TensorType *type) { return type->isContiguous(call.symbols); }))
    return true;
  if (isAlwaysRowMajor(call))
    return true;
  // It has its operands in another order.
  bool elementwise = call.op.kind == Operator::Kind::Pointwise && name != "rsub";
  bool preserving = name == "clone" || name == "sort" || name.ends_with("_like");
  if (!elementwise && !preserving)
    return false;
  TensorType result = std::get<TensorType>(call.op.fake(call)[0]);
  return elementwiseStrides(result.shape, operands, call.symbols).known;
}

bool isWithoutOverlap(const TensorType &type, const SymbolTable &symbols) {
  if (type.isContiguous(symbols))
    return true;
  std::vector<size_t> left;
  for (size_t i = 0; i < type.rank(); ++i) {
    if (symbols.proveEqual(type.shape[i], 0))
      return true;
    if (!symbols.proveEqual(type.shape[i], 1))
      left.push_back(i);
  }
  // From the innermost: each stride is wider than all that lies inside of it.
  Expr span = 1;
  while (!left.empty()) {
    auto next = std::find_if(left.begin(), left.end(), [&](size_t i) {
      bool innermost = std::all_of(left.begin(), left.end(), [&](size_t j) {
        return symbols.prove(lessEqual(type.strides[i], type.strides[j])) == true;
      });
      return innermost && symbols.prove(lessEqual(span, type.strides[i])) == true;
    });
    if (next == left.end())
      return false;
    span = span + (type.shape[*next] - 1) * type.strides[*next];
    left.erase(next);
  }
  return true;
}

//===-- Views ---------------------------------------------------------------------------------===//

std::vector<Expr> inferSizes(const OperatorCall &call, const TensorType &from,
                             const std::vector<Expr> &sizes) {
  std::vector<Expr> out = sizes;
  std::optional<size_t> inferred;
  Expr known = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].constant() == -1) {
      if (inferred)
        call.fail("can infer one dim only, got " + shapeText(sizes));
      inferred = i;
    } else {
      known = known * sizes[i];
    }
  }
  Expr numel = from.numel();
  if (inferred) {
    if (call.symbols.proveEqual(known, 0))
      call.fail("cannot infer the dim -1 of " + shapeText(sizes) + " for a tensor with 0 elements");
    out[*inferred] = floorDiv(numel, known);
    known = known * out[*inferred];
  }
  if (!call.symbols.proveEqual(known, numel))
    call.fail("cannot see " + shapeText(from.shape) + " (" + numel.text() + " elements) as " +
              shapeText(sizes) + ": the counts are not known to be equal");
  return out;
}

namespace {
/// Walks both shapes from the back in groups whose element counts are equal; within a group of the
/// old shape the dims must follow each other without gaps.
struct ViewMatcher {
  const TensorType &from;
  const std::vector<Expr> &shape;
  const SymbolTable &symbols;
  std::vector<Expr> strides{};
  bool undecided = false; ///< a comparison that failed holds for some sizes

  bool same(const Expr &a, const Expr &b) {
    std::optional<bool> proved = symbols.prove(equal(a, b));
    undecided = undecided || !proved;
    return proved.value_or(false);
  }
  bool isOne(const Expr &a) { return same(a, 1); }

  bool run() {
    strides.assign(shape.size(), Expr(1));
    size_t oldEnd = from.rank(), newEnd = shape.size();
    while (true) {
      while (oldEnd > 0 && isOne(from.shape[oldEnd - 1]))
        --oldEnd;
      while (newEnd > 0 && isOne(shape[newEnd - 1])) {
        strides[newEnd - 1] = newEnd < shape.size() ? strides[newEnd] * shape[newEnd] : Expr(1);
        --newEnd;
      }
      if (oldEnd == 0 || newEnd == 0) {
        undecided = undecided || oldEnd != newEnd;
        return oldEnd == newEnd;
      }
      if (!matchGroup(oldEnd, newEnd))
        return false;
    }
  }

  /// Takes the smallest group with equal counts off both ends.
  bool matchGroup(size_t &oldEnd, size_t &newEnd) {
    Expr oldCount = from.shape[oldEnd - 1], newCount = shape[newEnd - 1];
    Expr innerStride = from.strides[oldEnd - 1];
    size_t oldStart = oldEnd - 1, newStart = newEnd - 1;
    while (!same(oldCount, newCount)) {
      bool growNew = newStart > 0 && (oldStart == 0 || shouldGrowNew(oldCount, newCount));
      if (growNew) {
        newCount = newCount * shape[--newStart];
      } else if (oldStart > 0) {
        --oldStart;
        if (!isOne(from.shape[oldStart]) && !same(from.strides[oldStart], innerStride * oldCount))
          return false;
        oldCount = oldCount * from.shape[oldStart];
      } else {
        undecided = true;
        return false;
      }
    }
    Expr stride = innerStride;
    for (size_t i = newEnd; i-- > newStart;) {
      strides[i] = stride;
      stride = stride * shape[i];
    }
    oldEnd = oldStart;
    newEnd = newStart;
    return true;
  }

  bool shouldGrowNew(const Expr &oldCount, const Expr &newCount) const {
    if (std::optional<bool> smaller = symbols.prove(less(newCount, oldCount)))
      return *smaller;
    // Neither is known to be larger: the one that divides the other is the smaller one.
    return !(floorDiv(newCount, oldCount) * oldCount == newCount);
  }
};
} // namespace

std::optional<std::vector<Expr>> viewStrides(const TensorType &from, const std::vector<Expr> &shape,
                                             const SymbolTable &symbols) {
  if (from.isContiguous(symbols))
    return contiguousStrides(shape);
  ViewMatcher matcher{from, shape, symbols};
  if (!matcher.run())
    return std::nullopt;
  return std::move(matcher.strides);
}

Aliasing reshapeAliasing(const TensorType &from, const std::vector<Expr> &shape,
                         const SymbolTable &symbols) {
  if (from.isContiguous(symbols))
    return Aliasing::View;
  ViewMatcher matcher{from, shape, symbols};
  if (matcher.run())
    return Aliasing::View;
  return matcher.undecided ? Aliasing::Unknown : Aliasing::Fresh;
}

//===-- Reductions ----------------------------------------------------------------------------===//

std::vector<int64_t> reducedDims(const OperatorCall &call, const TensorType &self,
                                 std::string_view argument) {
  std::vector<int64_t> dims;
  if (call.op.schema.indexOf(argument) && call.has(argument)) {
    if (call.at(argument).list())
      for (int64_t d : call.constants(argument))
        dims.push_back(wrapDim(call, d, self.rank()));
    else
      dims.push_back(call.dim(argument, self.rank()));
  }
  if (dims.empty()) {
    dims.resize(self.rank());
    std::iota(dims.begin(), dims.end(), 0);
    return dims;
  }
  std::sort(dims.begin(), dims.end());
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end())
    call.fail("reduces dim " + std::to_string(*std::adjacent_find(dims.begin(), dims.end())) +
              " twice");
  if (self.rank() == 0)
    dims.clear();
  return dims;
}

std::vector<Expr> reducedShape(const TensorType &self, const std::vector<int64_t> &dims,
                               bool keepdim) {
  std::vector<Expr> shape;
  for (size_t i = 0; i < self.rank(); ++i) {
    bool reduced = std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    if (!reduced)
      shape.push_back(self.shape[i]);
    else if (keepdim)
      shape.emplace_back(1);
  }
  return shape;
}

//===-- Pointwise -----------------------------------------------------------------------------===//

/// A divisor that is known is checked here; any other one while the kernel runs.
static void checkDivisor(const OperatorCall &call, const PointwiseCase &chosen, DataType type) {
  if (chosen.dividesBy.empty())
    return;
  const Argument &divisor = call.at(chosen.dividesBy);
  bool isZero = divisor.as<Expr>()
                    ? call.symbols.proveEqual(*divisor.integer(), 0)
                    : !divisor.value() && integerOf(divisor, type, OutOfRange::Wraps) == 0;
  if (isZero)
    call.fail("divides integers by zero");
}

/// Numbers that are operands wrap around; factors, and what is chosen, must fit; and one bound of a
/// clamp may leave the type's range, as long as the range between both does not.
static void checkNumbers(const OperatorCall &call, DataType common) {
  if (!isInteger(common))
    return;
  const Schema &schema = call.op.schema;
  for (std::string_view name : {"alpha", "value"})
    if (schema.indexOf(name))
      checkNumberFits(call, name, common);
  if (schema.name == "masked_fill" && !info(common).isSigned &&
      call.at("value").as<int64_t>().value_or(0) < 0)
    call.fail("expects 'value' to be a number that " + std::string(info(common).torch) +
              " holds, got " + toString(call.at("value")));
  for (std::string_view name : {"self", "other"})
    if (schema.name == "where" && schema.indexOf(name))
      checkNumberFits(call, name, common);
  IntegerRange range = rangeOf(common);
  for (std::string_view name : {"min", "max"}) {
    if (!schema.indexOf(name) || !call.at(name).as<int64_t>())
      continue;
    int64_t bound = *call.at(name).as<int64_t>();
    if (name == "min" ? bound > range.most : bound < range.least)
      call.fail("expects '" + std::string(name) + "' to leave values of " +
                std::string(info(common).torch) + ", got " + std::to_string(bound));
  }
}

/// What ATen asks of the factor of add and sub, and of booleans.
static void checkFactor(const OperatorCall &call, const PointwiseTypes &types) {
  const std::string &name = call.op.schema.name;
  bool subtracts = name == "sub" || name == "rsub";
  for (std::string_view operand : {"self", "other"})
    if (const Value *v = call.value(operand);
        subtracts &&
        ((v && v->isTensor() && v->type().dtype == Bool) || call.at(operand).as<bool>()))
      call.fail("is not defined for bool; for the inverse of a mask use ~ or torch.logical_not");
  const Argument &alpha = call.at("alpha");
  if (alpha.as<double>() && !isFloat(types.common))
    call.fail("expects an integer 'alpha' for " + std::string(info(types.common).torch) +
              " tensors, got " + toString(alpha));
  if (alpha.as<bool>() && types.common != Bool)
    call.fail("expects a bool 'alpha' for bool tensors only, got " + toString(alpha));
}

std::vector<ResultType> pointwiseFake(const OperatorCall &call) {
  std::vector<const TensorType *> operands;
  for (size_t i = 0; i < call.args.size(); ++i)
    if (const Value *v = call.args[i].value(); v && v->isTensor())
      operands.push_back(&v->type());
  if (operands.empty())
    call.fail("needs a tensor");
  std::vector<Expr> shape = operands[0]->shape;
  const TensorType *placed = operands[0];
  for (const TensorType *operand : operands) {
    shape = broadcastShapes(call, shape, operand->shape);
    // A CPU tensor without dims goes along with any device.
    if (placed->rank() == 0 && operand->rank() != 0)
      placed = operand;
    if (operand->device != placed->device && operand->rank() != 0)
      call.fail("expects its tensors on one device, got " + toString(placed->device) + " and " +
                toString(operand->device));
  }
  PointwiseTypes types = pointwiseTypes(call);
  if (call.op.schema.indexOf("alpha") && call.op.schema.indexOf("other"))
    checkFactor(call, types);
  checkDivisor(call, chooseCase(call, types.compute), types.common);
  checkNumbers(call, types.common);
  TensorType result(types.result, shape, placed->device);
  // A row-major copy is what is filled.
  if (call.op.schema.name != "masked_fill")
    result.strides = elementwiseStrides(shape, operands, call.symbols).strides;
  return {result};
}

} // namespace pellucid::graph
