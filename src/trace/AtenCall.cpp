// SPDX-License-Identifier: Apache-2.0
// Operators of torch as the traced file calls them.
#include "trace/AtenComposites.h"
#include "trace/Autocast.h"
#include "trace/Dispatch.h"
#include "trace/EagerRecorder.h"
#include "trace/Gradients.h"
#include "trace/HostDraws.h"
#include "trace/HostScalars.h"
#include "trace/MemoryFormats.h"
#include "trace/OperandErrors.h"
#include "trace/ReadSizes.h"

#include <algorithm>
#include <cmath>
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

bool holdsFloatOfSizes(const h::CallArgs &args) {
  auto isOne = [](const h::Value &value) { return value.as<h::SymFloat>() != nullptr; };
  return std::any_of(args.positional.begin(), args.positional.end(), isOne) ||
         std::any_of(args.keywords.begin(), args.keywords.end(),
                     [&](const auto &keyword) { return isOne(keyword.second); });
}

/// full(size, x), full_like(self, x), new_full(self, size, x): the one number in every place.
std::optional<h::Value> filledWith(Tracer &tracer, h::Interpreter &interpreter,
                                   const std::string &name, const h::CallArgs &args) {
  bool like = name == "full_like", fresh = name == "new_full";
  if (name != "full" && !like && !fresh)
    return std::nullopt;
  static const h::Signature shaped("size, fill_value, *, dtype=None, **options"),
      ofSelf("self, fill_value, *, dtype=None, **options"),
      both("self, size, fill_value, *, dtype=None, **options");
  std::vector<h::Value> a = (like    ? ofSelf
                             : fresh ? both
                                     : shaped)
                                .bind(interpreter, "torch." + name, args);
  size_t fill = fresh ? 2 : 1;
  auto *self = a[0].as<TensorObject>();
  auto *asked = a[fill + 1].as<h::DType>();
  auto *item = a[fill].as<ItemNumber>();
  bool isWhole = item && item->isWhole();
  DataType type = asked     ? asked->type
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

/// An operator of whose numbers some depend on dynamic sizes: they take part as tensors without
/// dims, which count for the result's type as numbers do. Products and sums in 16 bits are formed
/// in float32, as PyTorch forms those with a number.
h::Value callWithFloatOfSizes(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                              h::CallArgs args) {
  if (auto filled = filledWith(tracer, interpreter, name, args))
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

} // namespace

h::Value tensorOfNumber(Tracer &tracer, h::Interpreter &interpreter, const h::Value &number) {
  if (auto *item = number.as<ItemNumber>(); item && item->isWhole())
    return item->operands[0];
  h::Value wide = computedNumber(tracer, interpreter, number);
  return castTo(*wide.as<TensorObject>(), interpreter, DataType::Float32);
}

Argument toArgument(Tracer &tracer, h::Interpreter &interpreter, const h::Value &raw) {
  if (auto *tensor = raw.as<TensorObject>())
    return Argument(tracer.valueOf(tensor->tensor, interpreter.location()));
  h::Value value = h::contentOf(h::unwrapConstexpr(raw));
  switch (value.kind()) {
  case h::Kind::None:
    return Argument();
  case h::Kind::Bool:
    return Argument(value.boolean());
  case h::Kind::Int:
    return Argument(interpreter.toInt64(value, "an argument"));
  case h::Kind::Float:
    return Argument(value.real());
  case h::Kind::Str:
    if (auto device = deviceNamed(value.str()))
      return Argument(*device);
    return Argument(value.str());
  case h::Kind::SymInt:
    return Argument(value.symInt());
  case h::Kind::SymBool:
    return Argument(interpreter.truth(value));
  case h::Kind::Tuple:
  case h::Kind::List: {
    Argument::List list;
    for (const h::Value &element : value.elements())
      list.push_back(toArgument(tracer, interpreter, element));
    return Argument(std::move(list));
  }
  case h::Kind::Object:
    if (auto *tensor = value.as<TensorObject>())
      return Argument(tracer.valueOf(tensor->tensor, interpreter.location()));
    if (auto *type = value.as<h::DType>())
      return Argument(type->type);
    if (auto *instance = value.as<h::Instance>(); instance && instance->cls->name == "device")
      if (auto device = deviceNamed(interpreter.str(value)))
        return Argument(*device);
    if (auto *number = value.as<ItemNumber>(); number && number->isWhole())
      return toArgument(tracer, interpreter, sizeOf(tracer, interpreter, value));
    if (value.as<h::SymFloat>()) {
      std::string what = value.as<h::SymFloat>()->description();
      if (what.ends_with(','))
        what.pop_back();
      interpreter.refuse("'" + h::repr(value) + "', " + what +
                         ", is supported as an operand of tensors; " +
                         value.as<h::SymFloat>()->advice());
    }
    if (auto *opaque = value.as<h::Opaque>(); opaque && opaque->reason)
      throw DiagnosticError(*opaque->reason);
    break;
  default:
    break;
  }
  interpreter.refuse("a value of type " + h::typeName(value) +
                     " cannot be the argument of an operator; tensors, numbers, "
                     "dtypes, strings and lists of them can");
}

/// x.split([2, 5]) is another operator than x.split(2).
static void splitBySizes(std::string &packet, const std::vector<Argument> &positional,
                         KeywordArguments &keywords) {
  bool sizes = positional.size() > 1 && positional[1].list();
  for (auto &[key, value] : keywords)
    if ((key == "split_size" || key == "split_size_or_sections") && value.list()) {
      key = "split_sizes";
      sizes = true;
    } else if (key == "split_size_or_sections") {
      key = "split_size";
    }
  if (sizes)
    packet = "aten.split_with_sizes";
}

/// Arguments as PyTorch's nodes carry them: by position where they have one, without defaults at
/// the end.
/// Gives the overload that takes them.
static const Operator &normalizeArguments(const Tracer &tracer, const std::string &packet,
                                          std::vector<Argument> &positional,
                                          KeywordArguments &keywords, const SourceLocation &where) {
  const Operator &op = tracer.registry.resolve(packet, positional, keywords, where);
  const Schema &schema = op.schema;
  auto isDefault = [](const SchemaArgument &argument, const Argument &value) {
    return !value.value() && !value.as<Expr>() && argument.defaultValue &&
           value == *argument.defaultValue;
  };
  std::erase_if(keywords, [&](const auto &keyword) {
    auto index = schema.indexOf(keyword.first);
    return index && isDefault(schema.arguments[*index], keyword.second);
  });
  // What has a position stands there, as in PyTorch's nodes.
  while (positional.size() < schema.arguments.size() &&
         !schema.arguments[positional.size()].keywordOnly) {
    const std::string &name = schema.arguments[positional.size()].name;
    auto keyword = std::find_if(keywords.begin(), keywords.end(),
                                [&](const auto &k) { return k.first == name; });
    if (keyword == keywords.end())
      break;
    positional.push_back(std::move(keyword->second));
    keywords.erase(keyword);
  }
  for (size_t i = 0; i < positional.size() && i < schema.arguments.size(); ++i)
    if (schema.arguments[i].type.list && (positional[i].as<int64_t>() || positional[i].as<Expr>()))
      positional[i] = Argument(Argument::List{positional[i]});
  while (!positional.empty() && positional.size() <= schema.arguments.size() &&
         isDefault(schema.arguments[positional.size() - 1], positional.back()))
    positional.pop_back();
  return op;
}

/// A list of one tensor is a list still.
static bool returnsList(const Operator &op) {
  return op.schema.returns.size() == 1 && op.schema.returns[0].type.list;
}

/// Where a call wants its result: `out=`, or its first tensor for `inplace=True`. Null: a new one.
static TensorObject *destinationOf(h::Interpreter &interpreter, const h::CallArgs &args) {
  if (const h::Value *out = args.keyword("out"); out && !out->isNone()) {
    auto *tensor = out->as<TensorObject>();
    if (!tensor)
      interpreter.refuse("'out' must be one tensor, got " + h::typeName(*out));
    return tensor;
  }
  const h::Value *inPlace = args.keyword("inplace");
  if (!inPlace || !interpreter.truth(*inPlace))
    return nullptr;
  const h::Value *input =
      args.positional.empty() ? args.keyword("input") : &args.positional.front();
  return input ? input->as<TensorObject>() : nullptr;
}

/// The tensors in an argument, those in lists too.
static void collectTensors(const h::Value &value, std::vector<h::Value> &out) {
  if (value.as<TensorObject>())
    out.push_back(value);
  else if (value.isSequence())
    for (const h::Value &element : value.elements())
      collectTensors(element, out);
}

/// A program draws from the seed and offset of its run.
static void refuseGenerator(h::Interpreter &interpreter, const std::string &name,
                            const h::Value &generator) {
  if (!generator.isNone())
    interpreter.refuse("'" + name +
                       "' with a generator: a program draws from the seed and offset "
                       "of its run; leave generator out");
}

/// arange(n, 0, -1.0) of a dynamic n: floats that are whole numbers become integers.
static std::optional<h::Value> callOfWholeFloats(Tracer &tracer, h::Interpreter &interpreter,
                                                 const std::string &name, const h::CallArgs &args) {
  if (name != "arange" && !name.starts_with("aten.arange"))
    return std::nullopt;
  h::CallArgs call = args;
  bool hasSize = false, hasFloat = false;
  auto look = [&](h::Value &value) {
    constexpr double largest = 9007199254740992.0;
    hasSize |= value.isSymInt();
    if (!value.isFloat() || !(std::abs(value.real()) <= largest) ||
        value.real() != std::trunc(value.real()))
      return;
    value = h::Value(static_cast<int64_t>(value.real()));
    hasFloat = true;
  };
  for (h::Value &value : call.positional)
    look(value);
  bool hasDtype = false;
  for (auto &[key, value] : call.keywords)
    if (key == "start" || key == "end" || key == "step")
      look(value);
    else if (key == "dtype" && !value.isNone())
      hasDtype = true;
  if (!hasSize || !hasFloat)
    return std::nullopt;
  if (!hasDtype) {
    std::erase_if(call.keywords, [](const auto &keyword) { return keyword.first == "dtype"; });
    call.keywords.emplace_back("dtype", dtypeValue(DataType::Float32));
  }
  return callAten(tracer, interpreter, name, call);
}

/// x.split(sizes) where values decide some of them: they are held against the dim in the call.
static std::optional<h::Value> splitByValues(h::Interpreter &interpreter, const h::Value &self,
                                             const h::Value &sizes, const h::Value *dim) {
  auto *tensor = self.as<TensorObject>();
  if (!tensor)
    return std::nullopt;
  std::vector<h::Value> parts;
  bool any = false;
  for (const h::Value &size : sizes.elements()) {
    parts.push_back(sizeOf(tensor->tracer, interpreter, size));
    any |= parts.back().isSymInt() && mentionsRead(tensor->tracer, parts.back().symInt());
  }
  if (!any)
    return std::nullopt;
  auto module = interpreter.nativeModule("torch._pellucid_aten");
  h::CallArgs call;
  call.positional = {self, h::Value::list(std::move(parts)), dim ? *dim : h::Value(int64_t(0))};
  h::Value result = interpreter.call(*module->globals->find("_split_by_values"), std::move(call));
  return result.isNone() ? std::nullopt : std::optional(result);
}

/// index() and index_put() whose indices are masks, where() of a condition alone, uneven paddings:
/// written with others.
static std::optional<h::Value> callOfMasks(h::Interpreter &interpreter, const std::string &name,
                                           const h::CallArgs &args) {
  std::string packet = name.starts_with("aten.") ? name.substr(5) : name;
  packet = packet.substr(0, packet.find('.'));
  if (packet == "where" && args.positional.size() == 1 && args.keywords.empty())
    return callAtenPacket(interpreter, "aten.where", args);
  bool puts = packet == "index_put";
  auto argument = [&](size_t at, const char *keyword) -> const h::Value * {
    return args.positional.size() > at ? &args.positional[at] : args.keyword(keyword);
  };
  if (packet == "conv1d" || packet == "conv2d" || packet == "conv3d") {
    const h::Value *padding = argument(4, "padding");
    if (!padding || !padding->isStr() || padding->str() != "same")
      return std::nullopt;
    auto module = interpreter.nativeModule("torch._pellucid_aten");
    h::CallArgs call = args;
    call.keywords.emplace_back("_name", h::Value(packet));
    h::Value result =
        interpreter.call(*module->globals->find("_convolution_same"), std::move(call));
    return result.isNone() ? std::nullopt : std::optional(result);
  }
  if (packet == "split" || packet == "split_with_sizes") {
    const h::Value *sizes = argument(1, packet == "split" ? "split_size" : "split_sizes");
    const h::Value *self = argument(0, "self");
    if (!self || !sizes || !sizes->isSequence())
      return std::nullopt;
    return splitByValues(interpreter, *self, *sizes, argument(2, "dim"));
  }
  if (packet != "index" && !puts)
    return std::nullopt;
  const h::Value *indices = argument(1, "indices"), *values = argument(2, "values");
  if (!indices || !indices->isSequence())
    return std::nullopt;
  bool any = false;
  for (const h::Value &index : indices->elements())
    if (auto *tensor = index.as<TensorObject>())
      any |= tensor->tensor.type.dtype == DataType::Bool ||
             tensor->tensor.type.dtype == DataType::UInt8;
  if (!any)
    return std::nullopt;
  // One value for all places is a selection.
  auto *source = puts && values ? values->as<TensorObject>() : nullptr;
  if (source && (source->tensor.type.rank() == 0 || source->tensor.type.shape[0].constant() == 1))
    return std::nullopt;
  auto module = interpreter.nativeModule("torch._pellucid_aten");
  return interpreter.call(*module->globals->find(puts ? "_index_put_masks" : "_index_masks"), args);
}

/// A call with an argument that only overloads written with other operators have: round(decimals=).
static std::optional<h::Value> callOfComposite(Tracer &tracer, h::Interpreter &interpreter,
                                               const std::string &name, const h::CallArgs &args) {
  if (args.keywords.empty() || name.find('.') != std::string::npos)
    return std::nullopt;
  std::string packet = "aten." + name;
  std::vector<const Operator *> overloads = tracer.registry.overloads(packet);
  for (const auto &[key, value] : args.keywords) {
    auto has = [&](const Schema &schema) { return schema.indexOf(key).has_value(); };
    if (std::any_of(overloads.begin(), overloads.end(),
                    [&](const Operator *op) { return has(op->schema); }))
      continue;
    for (const AtenComposite *record : atenComposites(interpreter, packet))
      if (has(record->schema))
        return callAtenComposite(interpreter, *record, args);
  }
  return std::nullopt;
}

/// The overload written with other operators that takes what none of the registry's does:
/// masked_fill of a value that is a tensor, any() over several dims. Null where there is none.
static const AtenComposite *otherOverload(h::Interpreter &interpreter, const std::string &packet,
                                          const std::vector<Argument> &positional,
                                          const KeywordArguments &keywords) {
  std::string reason;
  for (const AtenComposite *record : atenComposites(interpreter, packet))
    if (bindArguments(record->schema, positional, keywords, false, reason))
      return record;
  return nullptr;
}

/// A sum of floats as integers is one of integers, and a product of numbers as bools one of bools:
/// each is converted before it is added.
static std::optional<h::Value> callOfIntegerSum(Tracer &tracer, h::Interpreter &interpreter,
                                                const std::string &name, const h::CallArgs &args) {
  static const std::set<std::string> sums = {"sum", "prod", "cumsum", "cumprod"};
  const h::Value *dtype = args.keyword("dtype");
  if (!dtype)
    return std::nullopt;
  std::string plain = name.starts_with("aten.") ? name.substr(5) : name;
  if (!sums.count(plain.substr(0, plain.find('.'))) || !dtype || dtype->isNone() ||
      args.positional.empty())
    return std::nullopt;
  auto *self = args.positional[0].as<TensorObject>();
  Argument wanted = toArgument(tracer, interpreter, *dtype);
  auto type = wanted.as<DataType>();
  bool differs = self && type && self->tensor.type.dtype != *type;
  bool isTruth = differs && *type == DataType::Bool;
  if (!isTruth && !(differs && isFloat(self->tensor.type.dtype) && isInteger(*type)))
    return std::nullopt;
  h::CallArgs converted = args;
  converted.positional[0] = castTo(*self, interpreter, *type);
  return callAten(tracer, interpreter, name, converted);
}

/// div(rounding_mode=None) is div.
static std::optional<h::Value> callOfPlainQuotient(Tracer &tracer, h::Interpreter &interpreter,
                                                   const std::string &name,
                                                   const h::CallArgs &args) {
  const h::Value *mode = args.keyword("rounding_mode");
  if (!mode || !mode->isNone() || (name != "div" && name != "divide"))
    return std::nullopt;
  h::CallArgs plain = args;
  std::erase_if(plain.keywords, [](const auto &word) { return word.first == "rounding_mode"; });
  return callAten(tracer, interpreter, "div", plain);
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

/// The call with numbers that change from turn to turn as operands; nullopt where there are none.
static std::optional<h::Value> withNumbersAsOperands(Tracer &tracer, h::Interpreter &interpreter,
                                                     const std::string &name,
                                                     const h::CallArgs &args) {
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

/// str(value); what a torch.device says needs no call.
static std::string deviceText(h::Interpreter &interpreter, const h::Value &value) {
  auto *device = value.as<h::Instance>();
  if (!device || device->cls->name != "device")
    return interpreter.str(value);
  const h::Value *type = device->attributes.find("type"), *index = device->attributes.find("index");
  if (!type || !index || !type->isStr() || !(index->isNone() || index->isInt()))
    return interpreter.str(value);
  return index->isNone() ? type->str() : type->str() + ":" + h::toString(index->integer());
}

/// Where a script wants a tensor; nullopt where it says nothing.
std::optional<Device> deviceAsked(Tracer &tracer, h::Interpreter &interpreter,
                                  const h::Value &value) {
  if (value.isNone())
    return std::nullopt;
  std::string text =
      value.isInt() ? "cuda:" + interpreter.str(value) : deviceText(interpreter, value);
  std::optional<Device> device = deviceNamed(text);
  if (!device)
    interpreter.raise("RuntimeError",
                      "Expected one of cpu, cuda device type at start of device string: " + text);
  if (device->kind == Device::Kind::Cpu)
    return Device();
  int count = tracer.devices ? tracer.devices->count() : 0;
  if (count == 0)
    interpreter.raise("AssertionError", "Torch not compiled with CUDA enabled: there is no '" +
                                            text +
                                            "' here; 'pellucid exec --device cuda=cpu' runs the "
                                            "script on the CPU");
  tracer.devices->areUsed = true;
  if (device->index < 0)
    device->index = tracer.devices->current;
  if (device->index >= count)
    interpreter.raise(
        "RuntimeError",
        "CUDA error: invalid device ordinal: '" + text + "', and there " +
            (count == 1 ? "is one device" : "are " + std::to_string(count) + " devices"));
  return device;
}

/// Where tensors are made of which a script does not say it.
static std::optional<Device> defaultDevice(const Tracer &tracer) {
  return tracer.devices ? tracer.devices->byDefault : std::nullopt;
}

/// Whether torch's own code runs: what it makes for itself goes along with any device.
static bool isTorchsOwn(const SourceLocation &where) {
  if (!where.file)
    return false;
  for (std::string_view ours : {"<torch>", "<torch.optim>", "<torch.nn.functional>"})
    if (where.file->path() == ours)
      return true;
  return false;
}

h::Value placedAs(h::Interpreter &interpreter, const h::Value &result,
                  std::optional<Device> device) {
  auto *tensor = result.as<TensorObject>();
  if (!tensor)
    return result;
  TracedStorage &storage = *tensor->tensor.storage;
  if (device) {
    storage.device = *device;
    storage.isPlaced = true;
    return result;
  }
  if (isTorchsOwn(interpreter.location()))
    storage.isPlaced = false;
  else if (auto wanted = defaultDevice(tensor->tracer))
    storage.device = *wanted;
  return result;
}

/// As PyTorch: a number without dims goes along with any device, indices and copies may lie
/// anywhere.
static void checkOneDevice(h::Interpreter &interpreter, const std::string &packet,
                           const std::vector<h::Value> &tensors) {
  if (packet == "aten.copy" || packet.starts_with("aten.index") || packet.starts_with("aten.to"))
    return;
  std::optional<Device> first;
  for (const h::Value &value : tensors) {
    const TracedTensor &tensor = value.as<TensorObject>()->tensor;
    Device device = tensor.storage->device;
    if (!tensor.storage->isPlaced || (tensor.type.rank() == 0 && device.kind == Device::Kind::Cpu))
      continue;
    if (first && *first != device) {
      // The CPU is named last.
      bool isCpu = first->kind == Device::Kind::Cpu;
      interpreter.raise("RuntimeError",
                        "Expected all tensors to be on the same device, but found at least two "
                        "devices, " +
                            toString(isCpu ? device : *first) + " and " +
                            toString(isCpu ? *first : device) + "!");
    }
    first = device;
  }
}

namespace {
/// Which device the tensors that it is shown lie on.
class DeviceOfTensors {
public:
  void add(const TracedTensor &tensor) {
    const TracedStorage &storage = *tensor.storage;
    if (!storage.isPlaced)
      return;
    int counts = 2 * (tensor.type.rank() > 0) + (storage.device.kind == Device::Kind::Cuda);
    if (counts > best)
      found = storage.device;
    best = std::max(best, counts);
  }
  std::optional<Device> found;

private:
  int best = -1;
};

/// The tensors in an argument, those in lists too, as collectTensors() has them.
void forEachTensor(const h::Value &value, const auto &visit) {
  if (auto *tensor = value.as<TensorObject>())
    visit(tensor->tensor);
  else if (value.isSequence())
    for (const h::Value &element : value.elements())
      forEachTensor(element, visit);
}

void forEachTensor(const h::CallArgs &args, const auto &visit) {
  for (const h::Value &value : args.positional)
    forEachTensor(value, visit);
  for (const auto &[key, value] : args.keywords)
    forEachTensor(value, visit);
}

bool hasTensors(const h::CallArgs &args) {
  bool any = false;
  forEachTensor(args, [&](const TracedTensor &) { any = true; });
  return any;
}
} // namespace

std::optional<Device> deviceOfTensors(const std::vector<h::Value> &tensors) {
  DeviceOfTensors device;
  for (const h::Value &value : tensors)
    device.add(value.as<TensorObject>()->tensor);
  return device.found;
}

/// Operators are computed where their tensors are, and factories where the script wants theirs.
static void computeBesideOperands(Tracer &tracer, h::Interpreter &interpreter,
                                  const h::CallArgs &args) {
  DeviceOfTensors ofTensors;
  bool any = false;
  forEachTensor(args, [&](const TracedTensor &tensor) {
    any = true;
    ofTensors.add(tensor);
  });
  std::optional<Device> device = ofTensors.found;
  if (!any && !isTorchsOwn(interpreter.location()))
    device = defaultDevice(tracer).value_or(Device());
  if (const h::Value *asked = args.keyword("device"))
    if (auto wanted = deviceAsked(tracer, interpreter, *asked))
      device = wanted;
  if (device)
    tracer.recorder->computeOn(*device);
}

static h::Value recordAten(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                           const h::CallArgs &args);

h::Value callAten(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                  const h::CallArgs &args) {
  if (!interpreter.dispatch.autocast.empty())
    if (auto cast = autocastArguments(interpreter, name, args))
      return callAten(tracer, interpreter, name, *cast);
  if (auto result = dispatchAten(tracer, interpreter, name, args))
    return *result;
  if (!isEager(tracer))
    return recordAten(tracer, interpreter, name, args);
  if (auto number = computedAtOnce(tracer, name, args))
    return *number;
  if (tracer.devices && tracer.devices->areUsed)
    computeBesideOperands(tracer, interpreter, args);
  tracer.recorder->beforeOperator(interpreter.location());
  const h::Value *device = args.keyword("device");
  if (!device) {
    {
      // Numbers go along with any device, and do not end a segment.
      EagerRecorder::Placed placed(*tracer.recorder, tracer.recorder->device());
      if (auto result = withNumbersAsOperands(tracer, interpreter, name, args))
        return *result;
    }
    h::Value result = recordAten(tracer, interpreter, name, args);
    return hasTensors(args) ? result : placedAs(interpreter, result, std::nullopt);
  }
  h::CallArgs plain = args;
  std::optional<Device> asked = deviceAsked(tracer, interpreter, *device);
  std::erase_if(plain.keywords, [](const auto &keyword) { return keyword.first == "device"; });
  return placedAs(interpreter, recordAten(tracer, interpreter, name, plain), asked);
}

namespace {
/// What the call that was just recorded in a script asks of its operands' values.
class CallChecks {
public:
  CallChecks(Tracer &t, const std::vector<TracedTensor *> &operands,
             const std::vector<TracedTensor> &results)
      : tracer(t), segment(t.segment) {
    if (!t.called || !isEager(t))
      return;
    if (t.called->op.kind == Operator::Kind::Assertion)
      t.recorder->noteAssertion();
    if (results.empty())
      return;
    for (ValueCheck &check : valueChecks(*t.called, *results.front().value->producer()))
      for (TracedTensor *operand : operands)
        if (operand->value == check.value) {
          checks.emplace_back(std::move(check), operand);
          break;
        }
  }
  /// When the call is noted: what is not known may be computed now.
  void run() {
    for (auto &[check, operand] : checks) {
      if (tracer.segment != segment) {
        check.node = nullptr;
        check.value = tracer.valueOf(*operand, check.where);
      }
      tracer.recorder->check(check, *operand);
    }
  }

private:
  Tracer &tracer;
  uint64_t segment;
  std::vector<std::pair<ValueCheck, TracedTensor *>> checks;
};
} // namespace

/// What torch's functions call otherwise than ATen's schemas do.
static std::string nameInSchemas(const OperatorRegistry &registry, const std::string &packet,
                                 const std::string &key) {
  if (key == "axis")
    return "dim";
  if (key == "keepdims")
    return "keepdim";
  if (key != "input")
    return key;
  std::vector<const Operator *> overloads = registry.overloads(packet);
  bool isSelf = !overloads.empty() &&
                std::none_of(overloads.begin(), overloads.end(),
                             [](auto *op) { return op->schema.indexOf("input").has_value(); });
  return isSelf ? "self" : key;
}

static bool isInOurText(const SourceLocation &where) {
  return where.file && where.file->path().starts_with("<");
}

/// A layer's own line says nothing of which of the user's layers it is.
static DiagnosticError withCallers(const h::Interpreter &interpreter, Diagnostic diagnostic) {
  constexpr size_t mostOutside = 4;
  size_t outside = 0;
  for (const SourceLocation &site : interpreter.callStack())
    if (!isInOurText(site) && outside++ < mostOutside)
      diagnostic.note(site, "called from here");
  return DiagnosticError(std::move(diagnostic));
}

/// Under another default than float32: a call whose floats have no type of their own, with that
/// type. Integers become floats of it before they are computed with.
static std::optional<h::Value>
withDefaultFloats(Tracer &tracer, h::Interpreter &interpreter, const std::string &target,
                  const std::vector<Argument> &positional, const KeywordArguments &keywords,
                  const std::vector<h::Value> &tensors, const h::CallArgs &args) {
  DataType wanted = tracer.printing.floats;
  auto isType = [](const Argument &given) { return given.as<DataType>().has_value(); };
  bool isFloating = std::any_of(tensors.begin(), tensors.end(), [](const h::Value &value) {
    return isFloat(value.as<TensorObject>()->tensor.type.dtype);
  });
  if (isFloating || std::any_of(positional.begin(), positional.end(), isType) ||
      std::any_of(keywords.begin(), keywords.end(),
                  [&](const auto &keyword) { return isType(keyword.second); }))
    return std::nullopt;
  std::vector<ResultType> results = resultsOf(bindCall(
      tracer.registry, tracer.symbols(), target, positional, keywords, interpreter.location()));
  const TensorType *first = results.empty() ? nullptr : std::get_if<TensorType>(&results.front());
  if (!first || first->dtype != DataType::Float32)
    return std::nullopt;
  h::CallArgs again = args;
  if (tensors.empty()) {
    std::erase_if(again.keywords, [](const auto &keyword) { return keyword.first == "dtype"; });
    again.keywords.emplace_back("dtype", dtypeValue(wanted));
    return callAten(tracer, interpreter, target, again);
  }
  auto widen = [&](h::Value &value) {
    if (auto *tensor = value.as<TensorObject>())
      value = castTo(*tensor, interpreter, wanted);
  };
  for (h::Value &value : again.positional)
    widen(value);
  for (auto &[key, value] : again.keywords)
    widen(value);
  return callAten(tracer, interpreter, target, again);
}

static h::Value recordAten(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                           const h::CallArgs &args) {
  if (TensorObject *destination = destinationOf(interpreter, args)) {
    h::CallArgs plain = args;
    std::erase_if(plain.keywords, [](const auto &keyword) {
      return keyword.first == "out" || keyword.first == "inplace";
    });
    if (args.keyword("out")) {
      refuseOutOfGradient(tracer, interpreter, name, args);
      if (isEager(tracer))
        checkOverlaps(interpreter, *destination, name, plain);
    } else if (!plain.positional.empty())
      plain.positional.front() = contentsOf(*destination, interpreter);
    return destination->assign(interpreter, callAten(tracer, interpreter, name, plain), name);
  }
  if (auto formatted = callInFormat(tracer, interpreter, name, args))
    return *formatted;
  if (interpreter.merging())
    interpreter.refuse("a side of a branch that may not be taken records nothing");
  if (tracer.isConstructing())
    if (std::optional<h::Value> drawn = drawOnHost(tracer, interpreter, name, args)) {
      ++tracer.draws;
      return requiringAsAsked(interpreter, *drawn, args);
    }
  if (std::optional<h::Value> chosen = callOfMasks(interpreter, name, args))
    return *chosen;
  if (std::optional<h::Value> whole = callOfWholeFloats(tracer, interpreter, name, args))
    return *whole;
  if (std::optional<h::Value> composite = callOfComposite(tracer, interpreter, name, args))
    return *composite;
  if (std::optional<h::Value> sum = callOfIntegerSum(tracer, interpreter, name, args))
    return *sum;
  if (std::optional<h::Value> quotient = callOfPlainQuotient(tracer, interpreter, name, args))
    return *quotient;
  if (holdsFloatOfSizes(args))
    return callWithFloatOfSizes(tracer, interpreter, name, args);
  std::string packet = name.find('.') == std::string::npos ? "aten." + name : name;
  std::vector<Argument> positional;
  KeywordArguments keywords;
  std::vector<h::Value> tensors;
  positional.reserve(args.positional.size());
  keywords.reserve(args.keywords.size());
  tensors.reserve(args.positional.size());
  for (const h::Value &value : args.positional) {
    collectTensors(value, tensors);
    positional.push_back(toArgument(tracer, interpreter, value));
  }
  for (const auto &[key, value] : args.keywords) {
    // Things that steer autograd or memory and change no value.
    if (key == "requires_grad" || key == "pin_memory" || key == "inplace" || key == "out")
      continue;
    if (key == "generator") {
      refuseGenerator(interpreter, name, value);
      continue;
    }
    if (key == "dtype" && value.isStr() && isEager(tracer))
      interpreter.raise("TypeError", name.substr(name.starts_with("aten.") ? 5 : 0) +
                                         "(): argument 'dtype' must be torch.dtype, not str");
    if (key == "layout") {
      if (!value.isNone() && !(value.isStr() && value.str() == "strided"))
        interpreter.refuse("tensors have the strided layout, got " + interpreter.str(value));
      continue;
    }
    if (key == "memory_format" && !value.isNone() &&
        (!value.isStr() ||
         (value.str() != "contiguous_format" && value.str() != "preserve_format")))
      interpreter.refuse("tensors in the memory format " + interpreter.str(value) +
                         " are not supported; contiguous_format and preserve_format are");
    collectTensors(value, tensors);
    keywords.emplace_back(nameInSchemas(tracer.registry, packet, key),
                          toArgument(tracer, interpreter, value));
  }
  if (packet == "aten.split")
    splitBySizes(packet, positional, keywords);
  auto raising = [&](auto body) {
    try {
      return body();
    } catch (const h::RaisedError &) {
      throw;
    } catch (const DiagnosticError &error) {
      if (isEager(tracer))
        if (auto operand = operandError(tracer.registry, packet, positional, keywords))
          raiseOperandError(interpreter, *operand);
      if (isEager(tracer) && !isInOurText(interpreter.location()))
        if (auto given = argumentError(interpreter, tracer.registry, packet, positional, keywords))
          raiseOperandError(interpreter, *given);
      if (isInOurText(error.diagnostic.location) && error.diagnostic.notes.empty())
        throw withCallers(interpreter, error.diagnostic);
      throw;
    }
  };
  // From here on the overload is known: nothing tries the others again.
  const AtenComposite *other = nullptr;
  const Operator *op = raising([&]() -> const Operator * {
    try {
      return &normalizeArguments(tracer, packet, positional, keywords, interpreter.location());
    } catch (const DiagnosticError &) {
      other = otherOverload(interpreter, packet, positional, keywords);
      if (!other)
        throw;
      return nullptr;
    }
  });
  if (other)
    return callAtenComposite(interpreter, *other, args);
  const std::string &target = op->registeredTarget;
  // An assertion of an operator is its caller's.
  SourceLocation where = packet.starts_with("aten._assert_async") ? usersLocation(interpreter)
                                                                  : interpreter.location();
  std::vector<TracedTensor *> operands;
  operands.reserve(tensors.size());
  for (const h::Value &value : tensors)
    operands.push_back(&value.as<TensorObject>()->tensor);
  if (tracer.devices && tracer.devices->areUsed && isEager(tracer))
    checkOneDevice(interpreter, packet, tensors);
  if (tracer.printing.floats != DataType::Float32)
    if (auto result =
            withDefaultFloats(tracer, interpreter, target, positional, keywords, tensors, args))
      return *result;
  if (isEager(tracer) && !isInOurText(interpreter.location()))
    if (auto wrong = conditionError(target, positional, keywords))
      raiseOperandError(interpreter, *wrong);
  auto same = raising([&] { return tracer.givenBack(*op, positional, keywords, operands, where); });
  if (same)
    return tensors[*same];
  std::vector<TracedTensor> results =
      raising([&] { return tracer.call(*op, positional, keywords, operands, where); });
  CallChecks checks(tracer, operands, results);
  if (!tracer.readSymbols.empty())
    for (const TracedTensor &result : results)
      noteSizes(tracer, result.type);
  h::Tuple tuple;
  tuple.reserve(results.size());
  for (TracedTensor &result : results)
    tuple.push_back(tensorValue(tracer, std::move(result)));
  if (tracer.gradients.available)
    noteResults(tracer, interpreter, *tracer.called, args, tensors, tuple);
  if (tracer.recorder)
    for (const h::Value &result : tuple)
      tracer.recorder->forgetView(result.as<TensorObject>()->tensor);
  checks.run();
  if (tuple.size() == 1 && !returnsList(*op))
    return requiringAsAsked(interpreter, tuple[0], args);
  return h::Value::tuple(std::move(tuple));
}

h::CallArgs argsOf(std::vector<h::Value> positional,
                   std::vector<std::pair<std::string, h::Value>> keywords) {
  h::CallArgs args;
  args.positional = std::move(positional);
  args.keywords = std::move(keywords);
  return args;
}

h::Value selfOf(TensorObject &object) {
  return h::Value(std::static_pointer_cast<h::Object>(object.shared_from_this()));
}

h::Value dtypeValue(DataType type) {
  return h::Value(std::make_shared<h::DType>(type, h::DType::Family::Torch));
}

h::Value castTo(TensorObject &self, h::Interpreter &interpreter, DataType type) {
  if (self.tensor.type.dtype == type)
    return selfOf(self);
  return callAten(self.tracer, interpreter, "to", argsOf({selfOf(self), dtypeValue(type)}));
}

/// What fill_ and copy_ write.
static h::Value writtenValue(h::Interpreter &interpreter, const std::string &name,
                             const h::CallArgs &args) {
  const char *parameter = name == "fill" ? "value" : "src";
  if (!args.positional.empty())
    return args.positional[0];
  if (const h::Value *given = args.keyword(parameter))
    return *given;
  interpreter.refuse("'" + name + "_' needs the argument '" + parameter + "'");
}

/// The operator that gives what `x.NAME_()` writes, where it is not `NAME`.
static std::string functionalName(const std::string &name) {
  return name == "normal" ? "normal_functional" : name == "bernoulli" ? "pellucid.bernoulli" : name;
}

h::Value callInPlace(TensorObject &self, h::Interpreter &interpreter, const std::string &method,
                     const h::CallArgs &args) {
  if (auto result = dispatchInPlace(self, interpreter, method, args))
    return *result;
  std::string name = functionalName(method);
  if (isEager(self.tracer))
    checkOverlaps(interpreter, self, name, args);
  h::Value before = contentsOf(self, interpreter);
  h::CallArgs call = argsOf({before}, args.keywords);
  call.positional.insert(call.positional.end(), args.positional.begin(), args.positional.end());
  h::Value result;
  bool uniform = false;
  if (self.tracer.isConstructing())
    if (std::optional<h::Value> drawn = fillOnHost(self, interpreter, name, args)) {
      ++self.tracer.draws;
      return *drawn;
    }
  if (name == "copy" || name == "fill" || name == "zero") {
    h::Value source = name == "zero" ? h::Value(0) : writtenValue(interpreter, name, args);
    auto *other = source.as<TensorObject>();
    // `x[1:] += y` ends with a copy of what is there already.
    if (other && other->tensor.storage == self.tensor.storage &&
        other->tensor.type == self.tensor.type)
      return selfOf(self);
    uniform = !other || other->tensor.type.rank() == 0;
    result = callAten(self.tracer, interpreter, source.as<TensorObject>() ? "copy" : "fill",
                      argsOf({before, source}));
  } else if (auto composite = compositeFunction(interpreter, name)) {
    result = callComposite(interpreter, name, *composite, std::move(call));
  } else if (self.tracer.registry.overloads("aten." + name).empty() &&
             !atenComposites(interpreter, "aten." + name).empty()) {
    result = callAtenPacket(interpreter, "aten." + name, std::move(call));
  } else {
    result = callAten(self.tracer, interpreter, name, call);
  }
  return self.assign(interpreter, result, method + "_", uniform);
}

} // namespace pellucid::trace
