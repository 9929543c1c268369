// SPDX-License-Identifier: Apache-2.0
#include "trace/RewrittenCalls.h"

#include "trace/AtenComposites.h"
#include "trace/ReadSizes.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

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

/// torch's functions of several tensors give tuples, torch.ops' lists.
static h::Value asTuple(h::Value found) {
  if (!found.isList())
    return found;
  const h::List &elements = found.list();
  return h::Value::tuple({elements.begin(), elements.end()});
}

/// index() and index_put() whose indices are masks, narrow() from a tensor's value, where() of a
/// condition alone, uneven paddings:
/// written with others.
static std::optional<h::Value> callOfMasks(h::Interpreter &interpreter, const std::string &name,
                                           const h::CallArgs &args) {
  std::string packet = name.starts_with("aten.") ? name.substr(5) : name;
  packet = packet.substr(0, packet.find('.'));
  if (packet == "where" && args.positional.size() == 1 && args.keywords.empty())
    return asTuple(callAtenPacket(interpreter, "aten.where", args));
  bool puts = packet == "index_put";
  auto argument = [&](size_t at, const char *keyword) -> const h::Value * {
    return args.positional.size() > at ? &args.positional[at] : args.keyword(keyword);
  };
  bool transposed =
      packet == "conv_transpose1d" || packet == "conv_transpose2d" || packet == "conv_transpose3d";
  bool ofEitherKind = packet == "convolution";
  if (packet == "conv1d" || packet == "conv2d" || packet == "conv3d" || transposed ||
      ofEitherKind) {
    const h::Value *image = argument(0, "input");
    auto *tensor = image ? image->as<TensorObject>() : nullptr;
    if (tensor && isInteger(tensor->tensor.type.dtype)) {
      auto module = interpreter.nativeModule("torch._pellucid_aten");
      const char *name = ofEitherKind ? "_any_convolution_of_integers"
                         : transposed ? "_transposed_of_integers"
                                      : "_convolution_of_integers";
      return interpreter.call(*module->globals->find(name), h::CallArgs(args));
    }
    if (transposed || ofEitherKind)
      return std::nullopt;
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
  if (packet == "narrow") {
    const h::Value *start = argument(2, "start");
    if (!start || !start->as<TensorObject>())
      return std::nullopt;
    h::Value read = interpreter.call(interpreter.getAttr(*start, "item"));
    h::CallArgs call = args;
    if (call.positional.size() > 2)
      call.positional[2] = std::move(read);
    else
      for (auto &[keyword, value] : call.keywords)
        if (keyword == "start")
          value = read;
    return callAtenPacket(interpreter, "aten.narrow", call);
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

/// A sum of floats as integers is one of integers, and a product of numbers as bools one of bools:
/// each is converted before it is added.
static std::optional<h::Value> callOfIntegerSum(Tracer &tracer, h::Interpreter &interpreter,
                                                const std::string &name, const h::CallArgs &args) {
  static const std::set<std::string> sums = {"sum", "prod", "cumsum", "cumprod"};
  const h::Value *dtype = args.keyword("dtype");
  if (!dtype)
    return std::nullopt;
  std::string plain = name.starts_with("aten.") ? name.substr(5) : name;
  if (!sums.count(plain.substr(0, plain.find('.'))) || dtype->isNone() || args.positional.empty())
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

/// Negative integers wrap around where a type without a sign is filled.
static std::optional<h::Value> callOfWrappedNumber(Tracer &tracer, h::Interpreter &interpreter,
                                                   const std::string &name,
                                                   const h::CallArgs &args) {
  std::string_view plain = name;
  if (plain.starts_with("aten."))
    plain.remove_prefix(5);
  plain = plain.substr(0, plain.find('.'));
  if ((plain != "fill" && plain != "masked_fill") || args.positional.empty())
    return std::nullopt;
  auto *self = args.positional[0].as<TensorObject>();
  DataType type = self ? self->tensor.type.dtype : DataType::Float32;
  if (!isInteger(type) || info(type).isSigned || byteSize(type) == 8)
    return std::nullopt;
  h::CallArgs call = args;
  const h::Value *given = args.keyword("value");
  size_t place = plain == "fill" ? 1 : 2;
  if (!given && place < args.positional.size())
    given = &args.positional[place];
  if (!given || !given->isInt() || given->integer() >= 0)
    return std::nullopt;
  h::Value wrapped(given->integer() + (h::Int(1) << (8 * byteSize(type))));
  if (wrapped.integer() <= 0)
    return std::nullopt;
  for (auto &[key, value] : call.keywords)
    if (key == "value")
      value = wrapped;
  if (place < call.positional.size())
    call.positional[place] = wrapped;
  return callAten(tracer, interpreter, name, call);
}

std::optional<h::Value> rewrittenCall(Tracer &tracer, h::Interpreter &interpreter,
                                      const std::string &name, const h::CallArgs &args) {
  if (std::optional<h::Value> chosen = callOfMasks(interpreter, name, args))
    return chosen;
  if (std::optional<h::Value> whole = callOfWholeFloats(tracer, interpreter, name, args))
    return whole;
  if (std::optional<h::Value> composite = callOfComposite(tracer, interpreter, name, args))
    return composite;
  if (std::optional<h::Value> sum = callOfIntegerSum(tracer, interpreter, name, args))
    return sum;
  if (std::optional<h::Value> wrapped = callOfWrappedNumber(tracer, interpreter, name, args))
    return wrapped;
  return callOfPlainQuotient(tracer, interpreter, name, args);
}

} // namespace pellucid::trace
