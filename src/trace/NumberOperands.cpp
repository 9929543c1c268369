// SPDX-License-Identifier: Apache-2.0
#include "trace/NumberOperands.h"

#include "trace/EagerRecorder.h"
#include "trace/ReadSizes.h"
#include "trace/TensorCalls.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <variant>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// A float of dynamic sizes as a tensor without dims, in double precision as Python computes it.
h::Value computedNumber(Tracer &tracer, h::Interpreter &interpreter, const h::Value &number) {
  if (auto *held = number.as<TensorObject>())
    return castTo(*held, interpreter, DataType::Float64);
  auto *symbolic = number.as<h::SymFloat>();
  if (!symbolic)
    return callAten(
        tracer, interpreter, "full",
        argsOf({h::Value::list({}), number}, {{"dtype", dtypeValue(DataType::Float64)}}));
  auto operand = [&](size_t i) {
    return computedNumber(tracer, interpreter, symbolic->operands[i]);
  };
  if (auto *op = std::get_if<h::BinaryOp>(&symbolic->operation)) {
    static constexpr std::pair<h::BinaryOp, const char *> names[] = {{h::BinaryOp::Add, "add"},
                                                                     {h::BinaryOp::Sub, "sub"},
                                                                     {h::BinaryOp::Mul, "mul"},
                                                                     {h::BinaryOp::Div, "div"},
                                                                     {h::BinaryOp::Pow, "pow"}};
    for (auto [known, name] : names)
      if (known == *op)
        return callAten(tracer, interpreter, name, argsOf({operand(0), operand(1)}));
    interpreter.refuse("'" + number.as<h::SymFloat>()->repr() + "' is not supported");
  }
  if (auto *function = std::get_if<std::string>(&symbolic->operation)) {
    std::string name = *function == "fabs" ? "abs" : *function;
    return interpreter.call(interpreter.getAttr(h::Value(interpreter.nativeModule("torch")), name),
                            {operand(0)});
  }
  return operand(0);
}

/// scalar_tensor(x), which is a float where no dtype is asked for, as full([], x).
h::CallArgs inOnePlace(h::CallArgs args) {
  args.positional.insert(args.positional.begin(), h::Value::list({}));
  for (auto &[key, value] : args.keywords)
    if (key == "s")
      key = "fill_value";
  if (!args.keyword("dtype"))
    args.keywords.emplace_back("dtype", dtypeValue(DataType::Float32));
  return args;
}

/// full(size, x), full_like(self, x), new_full(self, size, x): the one number in every place.
std::optional<h::Value> filledFull(Tracer &tracer, h::Interpreter &interpreter,
                                   const std::string &name, const h::CallArgs &args) {
  bool like = name == "full_like", fresh = name == "new_full", one = name == "scalar_tensor";
  if (name != "full" && !like && !fresh && !one)
    return std::nullopt;
  if (one)
    return filledFull(tracer, interpreter, "full", inOnePlace(args));
  static const h::Signature shaped("size, fill_value, *, dtype=None, **options"),
      ofSelf("self, fill_value, *, dtype=None, **options"),
      both("self, size, fill_value, *, dtype=None, **options");
  std::vector<h::Value> a = (like    ? ofSelf
                             : fresh ? both
                                     : shaped)
                                .bind(interpreter, "torch." + name, args);
  size_t fill = fresh ? 2 : 1;
  auto *self = a[0].as<TensorObject>();
  std::optional<DataType> asked = askedType(interpreter, name, a[fill + 1]);
  auto *item = a[fill].as<ItemNumber>();
  bool isWhole = item && item->isWhole();
  DataType type = asked     ? *asked
                  : self    ? self->tensor.type.dtype
                  : isWhole ? DataType::Int64
                            : DataType::Float32;
  h::Value number = isWhole ? item->operands[0] : computedNumber(tracer, interpreter, a[fill]);
  number = castTo(*number.as<TensorObject>(), interpreter, type);
  h::Value size = like ? interpreter.getAttr(a[0], "shape") : a[fresh ? 1 : 0];
  h::Value spread = callAten(tracer, interpreter, "expand", argsOf({number, size}));
  return callAten(tracer, interpreter, "clone", argsOf({spread}));
}

/// Whether an overload of the operator takes a tensor or a number of any kind there, not only a
/// size or a dim.
bool takesNumberAt(const Tracer &tracer, const std::string &name,
                   const std::variant<size_t, std::string> &place) {
  std::string packet = name.starts_with("aten.") ? name : "aten." + name;
  // Its numbers are a size.
  if (packet.starts_with("aten.arange"))
    return false;
  auto takes = [&](const Operator &op) {
    using Kind = SchemaType::Kind;
    const size_t *position = std::get_if<size_t>(&place);
    std::optional<size_t> at =
        position ? std::optional(*position) : op.schema.indexOf(std::get<std::string>(place));
    if (!at || *at >= op.schema.arguments.size())
      return false;
    Kind kind = op.schema.arguments[*at].type.kind;
    return kind == Kind::Tensor || kind == Kind::Scalar || kind == Kind::Float;
  };
  if (const Operator *one = tracer.registry.find(packet))
    return takes(*one);
  std::vector<const Operator *> all = tracer.registry.overloads(packet);
  return all.empty() || std::any_of(all.begin(), all.end(), [&](auto *op) { return takes(*op); });
}

} // namespace

bool holdsFloatOfSizes(const h::CallArgs &args) {
  auto isOne = [](const h::Value &value) { return value.as<h::SymFloat>() != nullptr; };
  return std::any_of(args.positional.begin(), args.positional.end(), isOne) ||
         std::any_of(args.keywords.begin(), args.keywords.end(),
                     [&](const auto &keyword) { return isOne(keyword.second); });
}

/// `clamp` of `aten.clamp.default`, an overload that takes numbers where the packet takes tensors.
static std::string packetOf(const std::string &name) {
  size_t last = name.rfind('.');
  return name.starts_with("aten.") && last > 5 ? name.substr(5, last - 5) : name;
}

/// Whether the overload that an archive names has a tensor wherever a float of sizes stands.
static bool takesTensors(const Tracer &tracer, const std::string &name, const h::CallArgs &args) {
  const Operator *op = tracer.registry.find(name);
  auto takes = [&](std::optional<size_t> at, const h::Value &value) {
    return !value.as<h::SymFloat>() || !op || !at || *at >= op->schema.arguments.size() ||
           op->schema.arguments[*at].type.kind == SchemaType::Kind::Tensor;
  };
  bool all = true;
  for (size_t i = 0; i < args.positional.size(); ++i)
    all = all && takes(i, args.positional[i]);
  for (const auto &[key, value] : args.keywords)
    all = all && takes(op ? op->schema.indexOf(key) : std::nullopt, value);
  return all;
}

h::Value callWithFloatOfSizes(Tracer &tracer, h::Interpreter &interpreter, const std::string &given,
                              h::CallArgs args) {
  const std::string name = takesTensors(tracer, given, args) ? given : packetOf(given);
  if (auto filled = filledFull(tracer, interpreter, name, args))
    return *filled;
  std::optional<DataType> type;
  auto note = [&](const h::Value &value) {
    if (auto *tensor = value.as<TensorObject>(); tensor && !type)
      type = tensor->tensor.type.dtype;
  };
  for (size_t i = 0; i < args.positional.size(); ++i)
    if (auto *item = args.positional[i].as<ItemNumber>(); item && !takesNumberAt(tracer, name, i)) {
      if (!item->isWhole())
        item->refuse(interpreter, "used as argument " + std::to_string(i) + " of '" + name + "'");
      args.positional[i] = sizeOf(tracer, interpreter, args.positional[i]);
    }
  for (auto &[key, value] : args.keywords)
    if (auto *item = value.as<ItemNumber>();
        item && item->isWhole() && !takesNumberAt(tracer, name, key))
      value = sizeOf(tracer, interpreter, value);
  if (!holdsFloatOfSizes(args))
    return callAten(tracer, interpreter, name, args);
  std::for_each(args.positional.begin(), args.positional.end(), note);
  for (const auto &[key, value] : args.keywords)
    note(value);
  bool isHalf = type && isFloat(*type) && byteSize(*type) < 4;
  DataType computed = type == DataType::Float64 ? DataType::Float64 : DataType::Float32;
  auto convert = [&](h::Value &value) {
    auto *item = value.as<ItemNumber>();
    if (item && item->isWhole() && !(type && isFloat(*type))) {
      value = item->operands[0];
    } else if (value.as<h::SymFloat>()) {
      h::Value number = computedNumber(tracer, interpreter, value);
      value = castTo(*number.as<TensorObject>(), interpreter, computed);
    } else if (auto *tensor = value.as<TensorObject>(); tensor && isHalf) {
      value = castTo(*tensor, interpreter, DataType::Float32);
    }
  };
  for (h::Value &value : args.positional)
    convert(value);
  for (auto &[key, value] : args.keywords)
    convert(value);
  h::Value result = callAten(tracer, interpreter, name, args);
  auto *tensor = result.as<TensorObject>();
  return isHalf && tensor && tensor->tensor.type.dtype == DataType::Float32
             ? castTo(*tensor, interpreter, *type)
             : result;
}

h::Value exactTensorOfNumber(Tracer &tracer, h::Interpreter &interpreter, const h::Value &number) {
  if (auto *item = number.as<ItemNumber>(); item && item->isWhole())
    return item->operands[0];
  return computedNumber(tracer, interpreter, number);
}

h::Value tensorOfNumber(Tracer &tracer, h::Interpreter &interpreter, const h::Value &number) {
  if (auto *item = number.as<ItemNumber>(); item && item->isWhole())
    return item->operands[0];
  h::Value wide = computedNumber(tracer, interpreter, number);
  return castTo(*wide.as<TensorObject>(), interpreter, DataType::Float32);
}

static size_t placeIn(const SourceLocation &where, const std::string &name, size_t position) {
  size_t key = std::hash<const void *>()(where.file.get());
  for (size_t part : {size_t(where.range.line), size_t(where.range.column),
                      std::hash<std::string>()(name), position})
    key = key * 0x9e3779b97f4a7c15ull + part;
  return key;
}

/// The turns of a loop are then one program.
std::optional<h::Value> numberAsOperand(Tracer &tracer, const std::string &name, size_t position,
                                        const h::Value &value, const SourceLocation &where) {
  if (!value.isFloat() && !value.isInt())
    return std::nullopt;
  if (value.isInt() &&
      (value.integer() > (int64_t(1) << 53) || value.integer() < -(int64_t(1) << 53)))
    return std::nullopt;
  double number = value.isFloat() ? value.real() : static_cast<double>(value.integer());
  if (!tracer.recorder->changes(placeIn(where, name, position), number))
    return std::nullopt;
  ConcreteTensor held{value.isInt() ? DataType::Int64 : DataType::Float64, {}, {}, nullptr};
  std::shared_ptr<std::byte[]> bytes(new std::byte[8]);
  int64_t whole = value.isInt() ? static_cast<int64_t>(value.integer()) : 0;
  std::memcpy(bytes.get(), value.isInt() ? static_cast<const void *>(&whole) : &number, 8);
  held.data = {bytes, bytes.get()};
  auto operand = std::make_shared<ItemNumber>(
      std::make_shared<TensorObject>(tracer, tracer.recorder->tensorOf(held)));
  operand->given = value;
  return h::Value(operand);
}

/// alpha and value are factors, which PyTorch multiplies an operand by.
static std::optional<h::Value> withFactorAsOperand(Tracer &tracer, h::Interpreter &interpreter,
                                                   const std::string &name,
                                                   const h::CallArgs &args) {
  bool adds = name == "add" || name == "sub", product = name == "addcmul",
       quotient = name == "addcdiv";
  if ((!adds && !product && !quotient) || args.positional.size() != (adds ? 2u : 3u) ||
      args.keywords.size() != 1 || args.keywords[0].first != (adds ? "alpha" : "value"))
    return std::nullopt;
  auto *self = args.positional[0].as<TensorObject>();
  const std::vector<h::Value> &given = args.positional;
  if (!self || !isFloat(self->tensor.type.dtype) || byteSize(self->tensor.type.dtype) < 4 ||
      std::any_of(given.begin(), given.end(), [&](const h::Value &value) {
        auto *tensor = value.as<TensorObject>();
        return !tensor || tensor->tensor.type.dtype != self->tensor.type.dtype;
      }))
    return std::nullopt;
  auto factor = numberAsOperand(tracer, name, 0, args.keywords[0].second, interpreter.location());
  if (!factor)
    return std::nullopt;
  auto call = [&](const char *callee, h::Value a, h::Value b) {
    return callAten(tracer, interpreter, callee, argsOf({std::move(a), std::move(b)}));
  };
  if (adds)
    return call(name.c_str(), given[0], call("mul", given[1], *factor));
  if (product)
    return call("add", given[0], call("mul", call("mul", given[1], *factor), given[2]));
  return call("add", given[0], call("mul", call("div", given[1], given[2]), *factor));
}

std::optional<h::Value> withNumbersAsOperands(Tracer &tracer, h::Interpreter &interpreter,
                                              const std::string &name, const h::CallArgs &args) {
  static const std::set<std::string> takers = {
      "add", "sub", "mul", "div", "rsub", "maximum",   "minimum", "lt",
      "le",  "gt",  "ge",  "eq",  "ne",   "remainder", "where",   "floor_divide"};
  auto isNumber = [](const h::Value &value) { return value.isInt() || value.isFloat(); };
  if (args.keywords.empty() &&
      std::none_of(args.positional.begin(), args.positional.end(), isNumber))
    return std::nullopt;
  if (auto result = withFactorAsOperand(tracer, interpreter, name, args))
    return result;
  std::string plain = name.starts_with("aten.") ? name.substr(5, name.find('.', 5) - 5) : name;
  const TensorObject *first = nullptr;
  for (const h::Value &value : args.positional)
    if (auto *tensor = value.as<TensorObject>(); tensor && !first)
      first = tensor;
  if (!first || !takers.count(plain) || !args.keywords.empty() ||
      first->tensor.type.dtype == DataType::Bool)
    return std::nullopt;
  h::CallArgs lifted = args;
  bool any = false;
  for (size_t i = 0; i < lifted.positional.size(); ++i)
    if (lifted.positional[i].isFloat() && !isFloat(first->tensor.type.dtype))
      return std::nullopt;
    else if (auto operand =
                 numberAsOperand(tracer, name, i, lifted.positional[i], interpreter.location())) {
      lifted.positional[i] = *operand;
      any = true;
    }
  if (!any)
    return std::nullopt;
  return callAten(tracer, interpreter, plain == "rsub" ? "rsub" : name, lifted);
}

} // namespace pellucid::trace
