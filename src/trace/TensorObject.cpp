// SPDX-License-Identifier: Apache-2.0
#include "trace/TensorCalls.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

h::Value tensorValue(Tracer &tracer, TracedTensor tensor) {
  return h::Value(std::make_shared<TensorObject>(tracer, std::move(tensor)));
}

namespace {

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

using Method = h::Value (*)(TensorObject &, h::Interpreter &, const h::CallArgs &);

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
    {"__getitem__",
     [](TensorObject &self, h::Interpreter &i, const h::CallArgs &args) {
       return *self.getItem(i, args.positional.at(0));
     }},
    {"__setitem__",
     [](TensorObject &self, h::Interpreter &i, const h::CallArgs &args) {
       self.setItem(i, args.positional.at(0), args.positional.at(1));
       return h::Value();
     }},
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
          return callInPlace(*self, i, base, args);
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
  case h::BinaryOp::LShift:
    return "bitwise_left_shift";
  case h::BinaryOp::RShift:
    return "bitwise_right_shift";
  default:
    return nullptr;
  }
}

} // namespace

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
  return callInPlace(*this, interpreter, name, argsOf({other}));
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
