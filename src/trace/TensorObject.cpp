// SPDX-License-Identifier: Apache-2.0
#include "trace/TensorObject.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

h::Value tensorValue(Tracer &tracer, TracedTensor tensor) {
  return h::Value(std::make_shared<TensorObject>(tracer, std::move(tensor)));
}

Argument toArgument(Tracer &tracer, h::Interpreter &interpreter, const h::Value &raw) {
  h::Value value = h::unwrapConstexpr(raw);
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

/// Arguments as PyTorch's nodes carry them: by position where they have one, without a None that
/// stands for itself.
static void normalizeArguments(const Tracer &tracer, const std::string &packet,
                               std::vector<Argument> &positional, KeywordArguments &keywords,
                               const SourceLocation &where) {
  const Schema &schema = tracer.registry.resolve(packet, positional, keywords, where).schema;
  auto isDefault = [](const SchemaArgument &argument, const Argument &value) {
    return value.isNone() && argument.defaultValue && argument.defaultValue->isNone();
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
}

/// A list of one tensor is a list still.
static bool returnsList(const Tracer &tracer, const std::string &packet) {
  const Operator *op = tracer.registry.find(packet);
  if (auto overloads = tracer.registry.overloads(packet); !op && !overloads.empty())
    op = overloads.front();
  return op && op->schema.returns.size() == 1 && op->schema.returns[0].type.list;
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

h::Value callAten(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                  const h::CallArgs &args) {
  if (TensorObject *destination = destinationOf(interpreter, args)) {
    h::CallArgs plain = args;
    std::erase_if(plain.keywords, [](const auto &keyword) {
      return keyword.first == "out" || keyword.first == "inplace";
    });
    return destination->assign(interpreter, callAten(tracer, interpreter, name, plain), name);
  }
  if (interpreter.merging())
    interpreter.refuse("a side of a branch that may not be taken records nothing");
  std::vector<Argument> positional;
  KeywordArguments keywords;
  TracedTensor *first = nullptr;
  auto note = [&](const h::Value &value) {
    if (auto *tensor = value.as<TensorObject>(); tensor && !first)
      first = &tensor->tensor;
  };
  for (const h::Value &value : args.positional) {
    note(value);
    positional.push_back(toArgument(tracer, interpreter, value));
  }
  for (const auto &[key, value] : args.keywords) {
    // Things that steer autograd or memory and change no value.
    if (key == "requires_grad" || key == "pin_memory" || key == "inplace" || key == "out" ||
        key == "layout")
      continue;
    note(value);
    keywords.emplace_back(key == "axis" ? "dim" : key, toArgument(tracer, interpreter, value));
  }
  std::string packet = name.find('.') == std::string::npos ? "aten." + name : name;
  if (packet == "aten.split")
    splitBySizes(packet, positional, keywords);
  normalizeArguments(tracer, packet, positional, keywords, interpreter.location());
  bool list = returnsList(tracer, packet);
  std::vector<TracedTensor> results = tracer.call(
      packet, std::move(positional), std::move(keywords), first, interpreter.location());
  if (results.size() == 1 && !list)
    return tensorValue(tracer, results[0]);
  h::Tuple tuple;
  for (TracedTensor &result : results)
    tuple.push_back(tensorValue(tracer, std::move(result)));
  return h::Value::tuple(std::move(tuple));
}

namespace {

h::CallArgs argsOf(std::vector<h::Value> positional,
                   std::vector<std::pair<std::string, h::Value>> keywords = {}) {
  h::CallArgs args;
  args.positional = std::move(positional);
  args.keywords = std::move(keywords);
  return args;
}

h::Value selfOf(TensorObject &object) {
  return h::Value(std::static_pointer_cast<h::Object>(object.shared_from_this()));
}

/// `x.view(2, 3)` and `x.view((2, 3))`.
h::Value gathered(const std::vector<h::Value> &values) {
  if (values.size() == 1 && values[0].isSequence())
    return values[0];
  return h::Value::list(h::List(values.begin(), values.end()));
}

h::Value exprValue(const Expr &expr) { return h::Value::integer(expr); }

h::Value shapeValue(const TensorType &type) {
  h::Tuple dims;
  for (const Expr &size : type.shape)
    dims.push_back(exprValue(size));
  return h::Value::tuple(std::move(dims));
}

int64_t wrapped(h::Interpreter &interpreter, const h::Value &dim, size_t rank) {
  int64_t d = interpreter.toInt64(dim, "dim"), r = static_cast<int64_t>(rank);
  if (d < -r || d >= r)
    interpreter.raise("IndexError", "dim " + std::to_string(d) +
                                        " is out of range for a tensor of " + std::to_string(r) +
                                        " dims");
  return d < 0 ? d + r : d;
}

h::Value dtypeValue(DataType type) {
  return h::Value(std::make_shared<h::DType>(type, h::DType::Family::Torch));
}

using Method = h::Value (*)(TensorObject &, h::Interpreter &, const h::CallArgs &);

h::Value castTo(TensorObject &self, h::Interpreter &interpreter, DataType type) {
  if (self.tensor.type.dtype == type)
    return selfOf(self);
  return callAten(self.tracer, interpreter, "to", argsOf({selfOf(self), dtypeValue(type)}));
}

h::Value methodTo(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  for (const h::Value &value : args.positional) {
    if (auto *type = value.as<h::DType>())
      return castTo(self, interpreter, type->type);
    if (auto *other = value.as<TensorObject>())
      return castTo(self, interpreter, other->tensor.type.dtype);
  }
  if (const h::Value *type = args.keyword("dtype"))
    if (auto *dtype = type->as<h::DType>())
      return castTo(self, interpreter, dtype->type);
  return selfOf(self); // a device: every tensor of a trace is on the trace's
}

h::Value methodSize(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  const TensorType &type = self.tensor.type;
  if (args.positional.empty() && !args.keyword("dim"))
    return shapeValue(type);
  const h::Value &dim = args.positional.empty() ? *args.keyword("dim") : args.positional[0];
  return exprValue(type.shape[static_cast<size_t>(wrapped(interpreter, dim, type.rank()))]);
}

h::Value methodStride(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  const TensorType &type = self.tensor.type;
  if (!args.positional.empty())
    return exprValue(
        type.strides[static_cast<size_t>(wrapped(interpreter, args.positional[0], type.rank()))]);
  h::Tuple strides;
  for (const Expr &stride : type.strides)
    strides.push_back(exprValue(stride));
  return h::Value::tuple(std::move(strides));
}

struct NamedMethod {
  const char *name;
  Method method;
};

/// An ATen operator whose size list may be written out as several arguments.
template <const char *name>
h::Value spreadable(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  h::CallArgs call = argsOf({selfOf(self)}, args.keywords);
  if (!args.positional.empty())
    call.positional.push_back(gathered(args.positional));
  return callAten(self.tracer, interpreter, name, call);
}
constexpr char viewName[] = "view", reshapeName[] = "reshape", permuteName[] = "permute",
               expandName[] = "expand", repeatName[] = "repeat", newEmptyName[] = "new_empty",
               newZerosName[] = "new_zeros", newOnesName[] = "new_ones";

const NamedMethod methods[] = {
    {"to", methodTo},
    {"type", methodTo},
    {"size", methodSize},
    {"stride", methodStride},
    {"view",
     [](TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
       if (args.positional.size() == 1)
         if (auto *type = args.positional[0].as<h::DType>())
           return callAten(self.tracer, interpreter, "view",
                           argsOf({selfOf(self), dtypeValue(type->type)}));
       return spreadable<viewName>(self, interpreter, args);
     }},
    {"reshape", spreadable<reshapeName>},
    {"permute", spreadable<permuteName>},
    {"expand", spreadable<expandName>},
    {"repeat", spreadable<repeatName>},
    {"new_empty", spreadable<newEmptyName>},
    {"new_zeros", spreadable<newZerosName>},
    {"new_ones", spreadable<newOnesName>},
    {"dim",
     [](TensorObject &self, h::Interpreter &, const h::CallArgs &) {
       return h::Value(static_cast<int64_t>(self.tensor.type.rank()));
     }},
    {"ndimension",
     [](TensorObject &self, h::Interpreter &, const h::CallArgs &) {
       return h::Value(static_cast<int64_t>(self.tensor.type.rank()));
     }},
    {"numel", [](TensorObject &self, h::Interpreter &,
                 const h::CallArgs &) { return exprValue(self.tensor.type.numel()); }},
    {"nelement", [](TensorObject &self, h::Interpreter &,
                    const h::CallArgs &) { return exprValue(self.tensor.type.numel()); }},
    {"element_size",
     [](TensorObject &self, h::Interpreter &, const h::CallArgs &) {
       return h::Value(static_cast<int64_t>(byteSize(self.tensor.type.dtype)));
     }},
    {"storage_offset", [](TensorObject &self, h::Interpreter &,
                          const h::CallArgs &) { return exprValue(self.tensor.type.offset); }},
    {"is_contiguous",
     [](TensorObject &self, h::Interpreter &, const h::CallArgs &) {
       return h::Value(self.tensor.type.isContiguous(self.tracer.symbols()));
     }},
    {"is_floating_point",
     [](TensorObject &self, h::Interpreter &, const h::CallArgs &) {
       return h::Value(isFloat(self.tensor.type.dtype));
     }},
    {"float", [](TensorObject &self, h::Interpreter &i,
                 const h::CallArgs &) { return castTo(self, i, DataType::Float32); }},
    {"half", [](TensorObject &self, h::Interpreter &i,
                const h::CallArgs &) { return castTo(self, i, DataType::Float16); }},
    {"bfloat16", [](TensorObject &self, h::Interpreter &i,
                    const h::CallArgs &) { return castTo(self, i, DataType::BFloat16); }},
    {"double", [](TensorObject &self, h::Interpreter &i,
                  const h::CallArgs &) { return castTo(self, i, DataType::Float64); }},
    {"int", [](TensorObject &self, h::Interpreter &i,
               const h::CallArgs &) { return castTo(self, i, DataType::Int32); }},
    {"long", [](TensorObject &self, h::Interpreter &i,
                const h::CallArgs &) { return castTo(self, i, DataType::Int64); }},
    {"bool", [](TensorObject &self, h::Interpreter &i,
                const h::CallArgs &) { return castTo(self, i, DataType::Bool); }},
    {"cpu", [](TensorObject &self, h::Interpreter &, const h::CallArgs &) { return selfOf(self); }},
    {"cuda",
     [](TensorObject &self, h::Interpreter &, const h::CallArgs &) { return selfOf(self); }},
    {"requires_grad_",
     [](TensorObject &self, h::Interpreter &, const h::CallArgs &) { return selfOf(self); }},
    {"item",
     [](TensorObject &, h::Interpreter &i, const h::CallArgs &) -> h::Value {
       i.refuse(
           "'.item()' asks for a value that is only known when the program runs; keep it a tensor");
     }},
    {"tolist",
     [](TensorObject &, h::Interpreter &i, const h::CallArgs &) -> h::Value {
       i.refuse("'.tolist()' asks for values that are only known when the program runs; keep them "
                "a tensor");
     }},
    {"data_ptr",
     [](TensorObject &, h::Interpreter &i, const h::CallArgs &) -> h::Value {
       i.refuse("'.data_ptr()' has no meaning while tracing; pass the tensor itself to the kernel");
     }},
};

/// `x.add_(y)`: the operator without the underscore, cast to x's type, written back.
h::Value inPlaceMethod(TensorObject &self, h::Interpreter &interpreter, const std::string &name,
                       const h::CallArgs &args) {
  h::CallArgs call = argsOf({selfOf(self)}, args.keywords);
  call.positional.insert(call.positional.end(), args.positional.begin(), args.positional.end());
  h::Value result;
  if (name == "copy" || name == "fill" || name == "zero") {
    h::Value source = name == "zero" ? h::Value(0) : args.positional.at(0);
    result = callAten(self.tracer, interpreter, source.as<TensorObject>() ? "copy" : "fill",
                      argsOf({selfOf(self), source}));
  } else {
    result = callAten(self.tracer, interpreter, name, call);
  }
  return self.assign(interpreter, result, name + "_");
}

} // namespace

h::Value TensorObject::assign(h::Interpreter &interpreter, const h::Value &value,
                              const std::string &name) {
  SourceLocation where = interpreter.location();
  auto *contents = value.as<TensorObject>();
  if (!contents)
    interpreter.refuse("'" + name + "' has several results, which one tensor cannot receive");
  if (contents->tensor.type.shape != tensor.type.shape)
    interpreter.refuse("'" + name + "' would change the tensor's shape from " +
                       toString(tensor.type) + " to " + toString(contents->tensor.type));
  h::Value cast = castTo(*contents, interpreter, tensor.type.dtype);
  tracer.write(tensor, tracer.valueOf(cast.as<TensorObject>()->tensor, where), where);
  return h::Value(shared_from_this());
}

std::optional<h::Value> TensorObject::getAttr(h::Interpreter &interpreter, std::string_view name) {
  const TensorType &type = tensor.type;
  if (name == "shape")
    return shapeValue(type);
  if (name == "dtype")
    return dtypeValue(type.dtype);
  if (name == "device")
    return deviceValue(interpreter, type.device);
  if (name == "ndim")
    return h::Value(static_cast<int64_t>(type.rank()));
  if (name == "is_cuda")
    return h::Value(type.device.kind == Device::Kind::Cuda);
  if (name == "requires_grad")
    return h::Value(false);
  if (name == "data")
    return h::Value(shared_from_this());
  if (name == "T" || name == "mT") {
    size_t rank = type.rank();
    if (rank < 2)
      return h::Value(shared_from_this());
    return callAten(tracer, interpreter, "transpose",
                    argsOf({h::Value(shared_from_this()), h::Value(static_cast<int64_t>(rank) - 2),
                            h::Value(static_cast<int64_t>(rank) - 1)}));
  }
  std::string method(name);
  auto self = std::static_pointer_cast<TensorObject>(shared_from_this());
  for (const NamedMethod &row : methods)
    if (method == row.name)
      return h::nativeRaw("torch.Tensor." + method,
                          [self, call = row.method](h::Interpreter &i, h::CallArgs args) {
                            return call(*self, i, args);
                          });
  if (method.size() > 1 && method.back() == '_' && method[0] != '_')
    return h::nativeRaw(
        "torch.Tensor." + method,
        [self, base = method.substr(0, method.size() - 1)](h::Interpreter &i, h::CallArgs args) {
          return inPlaceMethod(*self, i, base, args);
        });
  if (auto composite = compositeFunction(interpreter, method))
    return h::nativeRaw("torch.Tensor." + method, [self, function = *composite](h::Interpreter &i,
                                                                                h::CallArgs args) {
      args.positional.insert(args.positional.begin(),
                             h::Value(std::static_pointer_cast<h::Object>(self)));
      return i.call(function, std::move(args));
    });
  if (tracer.registry.overloads("aten." + method).empty())
    return std::nullopt;
  return h::nativeRaw("torch.Tensor." + method, [self, method](h::Interpreter &i,
                                                               h::CallArgs args) {
    h::CallArgs call = argsOf({h::Value(std::static_pointer_cast<h::Object>(self))}, args.keywords);
    call.positional.insert(call.positional.end(), args.positional.begin(), args.positional.end());
    return callAten(self->tracer, i, method, call);
  });
}

namespace {

/// A tensor or list of integers used as an index, as a tensor.
std::optional<h::Value> asIndices(TensorObject &self, h::Interpreter &interpreter,
                                  const h::Value &part) {
  if (auto *tensor = part.as<TensorObject>()) {
    if (tensor->tensor.type.dtype == DataType::Bool)
      interpreter.refuse("indexing with a boolean mask gives as many elements as the mask's values "
                         "say, which is only known when the program runs; use torch.where");
    return part;
  }
  if (!part.isList())
    return std::nullopt;
  h::List rows;
  for (const h::Value &element : part.elements())
    rows.push_back(callAten(self.tracer, interpreter, "full",
                            argsOf({h::Value::list({h::Value(1)}), element},
                                   {{"dtype", dtypeValue(DataType::Int64)}})));
  return callAten(self.tracer, interpreter, "cat", argsOf({h::Value::list(rows)}));
}

/// The elements of `from` along `dim` at `index`, whose dims take that dim's place. Negative
/// indices count from the end.
h::Value gathered(TensorObject &self, h::Interpreter &interpreter, const h::Value &from,
                  int64_t dim, const h::Value &index, bool second) {
  if (second)
    interpreter.refuse("indexing with two tensors at once is not supported; index with one after "
                       "the other, or with torch.gather");
  auto call = [&](const char *name, std::vector<h::Value> args) {
    return callAten(self.tracer, interpreter, name, argsOf(std::move(args)));
  };
  const TensorType source = from.as<TensorObject>()->tensor.type;
  const TensorType type = index.as<TensorObject>()->tensor.type;
  h::Value size = exprValue(source.shape[static_cast<size_t>(dim)]);
  h::Value wrapped =
      call("where", {call("lt", {index, h::Value(0)}), call("add", {index, size}), index});
  h::Value flat = call("reshape", {wrapped, h::Value::list({h::Value(-1)})});
  h::Value picked = call("index_select", {from, h::Value(dim), flat});
  h::List shape;
  for (size_t d = 0; d < source.rank(); ++d) {
    if (d != static_cast<size_t>(dim))
      shape.push_back(exprValue(source.shape[d]));
    else
      for (const Expr &s : type.shape)
        shape.push_back(exprValue(s));
  }
  return type.rank() == 1 ? picked : call("reshape", {picked, h::Value::list(shape)});
}

/// Beside a tensor, an integer is an index of the same kind: where something stands between them,
/// their dim comes first in the result.
void refuseSpreadIndices(h::Interpreter &interpreter, const std::vector<h::Value> &parts) {
  auto isTensor = [](const h::Value &part) { return part.as<TensorObject>() || part.isList(); };
  auto isIndex = [&](const h::Value &part) {
    return isTensor(part) || part.isInt() || part.isSymInt();
  };
  if (std::none_of(parts.begin(), parts.end(), isTensor))
    return;
  auto first = std::find_if(parts.begin(), parts.end(), isIndex);
  auto last = std::find_if(parts.rbegin(), parts.rend(), isIndex).base();
  if (!std::all_of(first, last, isIndex))
    interpreter.refuse("indexing with a tensor and an integer that do not stand side by side is "
                       "not supported; index with one after the other");
}

/// x[1, :, None, ...]: each part is a select, a slice or an unsqueeze.
h::Value indexed(TensorObject &self, h::Interpreter &interpreter, const h::Value &key) {
  std::vector<h::Value> parts = key.isTuple() ? key.tuple() : std::vector<h::Value>{key};
  refuseSpreadIndices(interpreter, parts);
  size_t consumed = 0;
  for (const h::Value &part : parts)
    consumed += !part.isNone() && part.kind() != h::Kind::Ellipsis;
  size_t rank = self.tensor.type.rank();
  if (consumed > rank)
    interpreter.raise("IndexError", "too many indices: " + std::to_string(consumed) +
                                        " for a tensor of " + std::to_string(rank) + " dims");
  h::Value result = selfOf(self);
  int64_t dim = 0;
  bool indexedBefore = false;
  for (const h::Value &part : parts) {
    if (part.isNone()) {
      result = callAten(self.tracer, interpreter, "unsqueeze", argsOf({result, h::Value(dim++)}));
    } else if (part.kind() == h::Kind::Ellipsis) {
      dim += static_cast<int64_t>(rank - consumed);
    } else if (part.kind() == h::Kind::Slice) {
      const h::Slice &s = part.slice();
      if (!s.lower.isNone() || !s.upper.isNone() || !s.step.isNone()) {
        // As PyTorch's nodes spell the bounds that are left out.
        std::vector<h::Value> arguments = {result, h::Value(dim),
                                           s.lower.isNone() ? h::Value(0) : s.lower,
                                           s.upper.isNone() ? h::Value(INT64_MAX) : s.upper};
        if (!s.step.isNone())
          arguments.push_back(s.step);
        result = callAten(self.tracer, interpreter, "slice", argsOf(std::move(arguments)));
      }
      ++dim;
    } else if (part.isInt() || part.isSymInt()) {
      result = callAten(self.tracer, interpreter, "select", argsOf({result, h::Value(dim), part}));
    } else if (auto index = asIndices(self, interpreter, part)) {
      result = gathered(self, interpreter, result, dim, *index, indexedBefore);
      dim += static_cast<int64_t>(index->as<TensorObject>()->tensor.type.rank());
      indexedBefore = true;
    } else {
      interpreter.refuse("indexing with a value of type " + h::typeName(part) +
                         " is not supported; integers, slices, None, ... and one tensor or list of "
                         "integers are");
    }
  }
  return result;
}

const char *atenName(h::BinaryOp op) {
  switch (op) {
  case h::BinaryOp::Add:
    return "add";
  case h::BinaryOp::Sub:
    return "sub";
  case h::BinaryOp::Mul:
    return "mul";
  case h::BinaryOp::MatMul:
    return "matmul";
  case h::BinaryOp::Div:
    return "div";
  case h::BinaryOp::Mod:
    return "remainder";
  case h::BinaryOp::Pow:
    return "pow";
  case h::BinaryOp::FloorDiv:
    return "floor_divide";
  case h::BinaryOp::BitOr:
    return "bitwise_or";
  case h::BinaryOp::BitXor:
    return "bitwise_xor";
  case h::BinaryOp::BitAnd:
    return "bitwise_and";
  default:
    return nullptr;
  }
}

} // namespace

std::optional<h::Value> TensorObject::getItem(h::Interpreter &interpreter, const h::Value &key) {
  return indexed(*this, interpreter, key);
}

bool TensorObject::setItem(h::Interpreter &interpreter, const h::Value &key,
                           const h::Value &value) {
  h::Value view = indexed(*this, interpreter, key);
  inPlaceMethod(*view.as<TensorObject>(), interpreter, "copy", argsOf({value}));
  return true;
}

std::optional<h::Value> TensorObject::binaryOp(h::Interpreter &interpreter, h::BinaryOp op,
                                               const h::Value &other, bool reflected) {
  bool usable = other.as<TensorObject>() || other.isInt() || other.isFloat() || other.isBool() ||
                other.isSymInt();
  const char *name = atenName(op);
  if (!usable || !name)
    return std::nullopt;
  h::Value self(shared_from_this());
  if (!reflected)
    return callAten(tracer, interpreter, name, argsOf({self, other}));
  if (other.as<TensorObject>() || op == h::BinaryOp::Pow)
    return callAten(tracer, interpreter, name, argsOf({other, self}));
  switch (op) {
  case h::BinaryOp::Sub:
    return callAten(tracer, interpreter, other.isObject() ? "aten.rsub.Tensor" : "aten.rsub.Scalar",
                    argsOf({self, other}));
  case h::BinaryOp::Div: {
    h::Value inverse = callAten(tracer, interpreter, "reciprocal", argsOf({self}));
    return callAten(tracer, interpreter, "mul", argsOf({inverse, other}));
  }
  case h::BinaryOp::Add:
  case h::BinaryOp::Mul:
  case h::BinaryOp::BitAnd:
  case h::BinaryOp::BitOr:
  case h::BinaryOp::BitXor:
    return callAten(tracer, interpreter, name, argsOf({self, other}));
  default:
    return std::nullopt;
  }
}

std::optional<h::Value> TensorObject::inPlaceOp(h::Interpreter &interpreter, h::BinaryOp op,
                                                const h::Value &other) {
  const char *name = atenName(op);
  if (!name)
    return std::nullopt;
  return inPlaceMethod(*this, interpreter, name, argsOf({other}));
}

std::optional<h::Value> TensorObject::unaryOp(h::Interpreter &interpreter, h::UnaryOp op) {
  h::Value self(shared_from_this());
  if (op == h::UnaryOp::Plus)
    return self;
  return callAten(tracer, interpreter, op == h::UnaryOp::Minus ? "neg" : "bitwise_not",
                  argsOf({self}));
}

std::optional<h::Value> TensorObject::compare(h::Interpreter &interpreter, h::CompareOp op,
                                              const h::Value &other, bool reflected) {
  bool usable = other.as<TensorObject>() || other.isInt() || other.isFloat() || other.isBool() ||
                other.isSymInt();
  if (!usable)
    return std::nullopt;
  static constexpr const char *straight[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  static constexpr const char *mirrored[] = {"eq", "ne", "gt", "ge", "lt", "le"};
  return callAten(tracer, interpreter, (reflected ? mirrored : straight)[static_cast<size_t>(op)],
                  argsOf({h::Value(shared_from_this()), other}));
}

bool TensorObject::truth(h::Interpreter &interpreter) {
  interpreter.refuse("a branch on a tensor's value cannot be traced: the value is only known when "
                     "the program runs; use torch.where");
}

std::optional<h::Value> TensorObject::length(h::Interpreter &) {
  if (tensor.type.shape.empty())
    return std::nullopt;
  return exprValue(tensor.type.shape[0]);
}

} // namespace pellucid::trace
