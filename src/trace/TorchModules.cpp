// SPDX-License-Identifier: Apache-2.0
// torch, torch.nn, torch.nn.functional. Functions without a rule of their own are the ATen operator
// of that name.
#include "trace/AtenComposites.h"
#include "trace/Gradients.h"
#include "trace/HostDraws.h"
#include "trace/MemoryFormats.h"
#include "trace/ModulePlaces.h"
#include "trace/ModuleWalk.h"
#include "trace/PytorchNames.h"
#include "trace/ReadSizes.h"
#include "trace/TensorCalls.h"
#include "trace/TorchRandom.h"
#include "trace/TorchSources.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// The size arguments of torch.empty(2, 3) and torch.empty((2, 3)).
std::vector<Expr> sizesOf(h::Interpreter &interpreter, const std::vector<h::Value> &values) {
  std::vector<h::Value> list = values;
  if (values.size() == 1 && values[0].isSequence())
    list = values[0].elements();
  std::vector<Expr> sizes;
  for (const h::Value &value : list)
    sizes.push_back(interpreter.toExpr(value, "a size"));
  return sizes;
}

/// A tensor that a module makes in its constructor: shape and initial values, no node.
h::Value initialTensor(Tracer &tracer, std::vector<Expr> sizes, DataType type,
                       Initializer initializer) {
  return tensorValue(tracer, tracer.unbound(TensorType(type, std::move(sizes)), initializer));
}

/// Whether torch makes a tensor on the CPU without a layout of its own, as all are here.
void checkMaking(h::Interpreter &interpreter, const h::Value &layout) {
  if (!layout.isNone() && !(layout.isStr() && layout.str() == "strided"))
    interpreter.refuse("tensors have the strided layout, got " + interpreter.str(layout));
}

/// Raises what PyTorch raises for sizes below zero, and for what is no dtype.
void checkAsked(h::Interpreter &interpreter, const std::string &name,
                const std::vector<h::Value> &sizes, const h::Value &dtype) {
  askedType(interpreter, name, dtype);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const h::Value &size = sizes[i];
    if (size.isFloat() || size.isStr())
      interpreter.raise("TypeError", name +
                                         "(): argument 'size' failed to unpack the object at "
                                         "pos " +
                                         std::to_string(i + 1) +
                                         " with error \"type must be tuple of ints,but got " +
                                         h::typeName(size) + "\"");
    if (!size.isInt() || size.integer() >= 0)
      continue;
    if (name == "zeros")
      interpreter.raise("RuntimeError", "zeros: Dimension size must be non-negative.");
    std::string all;
    for (const h::Value &each : sizes)
      all += (all.empty() ? "" : ", ") + interpreter.str(each);
    interpreter.raise("RuntimeError", "Trying to create tensor with negative dimension " +
                                          interpreter.str(size) + ": [" + all + "]");
  }
}

/// What torch.full makes of a number without a dtype.
DataType typeOfNumber(const Tracer &tracer, const h::Value &number) {
  return number.isBool() || number.isSymBool() ? DataType::Bool
         : number.isFloat()                    ? tracer.printing.floats
                                               : DataType::Int64;
}

h::Value onAsked(Tracer &tracer, h::Interpreter &interpreter, const h::Value &device,
                 const h::Value &made) {
  return tracer.recorder ? placedAs(interpreter, made, deviceAsked(tracer, interpreter, device))
                         : made;
}

/// torch.zeros and the like: a node while a graph is recorded, an initial tensor while a module is
/// constructed.
void addFactory(h::Module &module, Tracer &tracer, const std::string &name, Initializer::Kind kind,
                const bool *constructing) {
  bool full = kind == Initializer::Kind::Full;
  static const std::string options = "out=None, dtype=None, layout=None, device=None, "
                                     "pin_memory=False, requires_grad=False, memory_format=None";
  h::Signature signature(full ? "size, fill_value, *, " + options : "*size, " + options);
  auto make = [&tracer, name, full, kind, constructing, signature](h::Interpreter &i,
                                                                   h::CallArgs args) -> h::Value {
    h::Value format;
    auto asked = [&](h::Value made, const h::Value &wanted) {
      if (isChannelsLast(format))
        made = toFormat(*made.as<TensorObject>(), i, format);
      if (auto *tensor = made.as<TensorObject>(); tensor && i.truth(wanted))
        setRequiresGrad(i, *tensor, true);
      return made;
    };
    if (auto size = std::find_if(args.keywords.begin(), args.keywords.end(),
                                 [](const auto &keyword) { return keyword.first == "size"; });
        !full && size != args.keywords.end() && args.positional.empty()) {
      args.positional = {size->second};
      args.keywords.erase(size);
    }
    if (!full && args.positional.empty())
      i.raise("TypeError", name + "() missing 1 required positional arguments: \"size\"");
    std::vector<h::Value> a = signature.bind(i, name, args);
    size_t at = full ? 2 : 1; // of the options
    checkMaking(i, a[at + 2]);
    format = a[at + 6];
    if (!format.isNone() && !isChannelsLast(format) && i.str(format) != "contiguous_format")
      i.refuse("torch." + name +
               " makes contiguous tensors, got memory_format=" + i.str(a[at + 6]));
    h::Value size =
        !full && a[0].tuple().size() == 1 && a[0].tuple()[0].isSequence() ? a[0].tuple()[0] : a[0];
    if (!size.isSequence())
      i.raise("TypeError", "torch." + name + " takes a tuple of sizes, got " + h::typeName(size));
    checkAsked(i, name, size.elements(), a[at + 1]);
    // Of a script it needs no contents; others are made where they are first used.
    bool isNode = !*constructing || (tracer.recorder && name == "empty");
    if (isNode || !a[at].isNone()) {
      h::CallArgs call = argsOf({h::Value::list(h::List(size.elements()))},
                                {{"dtype", a[at + 1]}, {"device", a[at + 3]}});
      if (full)
        call.positional.push_back(a[1]);
      if (!a[at].isNone())
        call.keywords.emplace_back("out", a[at]);
      return asked(callAten(tracer, i, name, call), a[at + 5]);
    }
    DataType type = full ? typeOfNumber(tracer, a[1]) : tracer.printing.floats;
    type = askedType(i, name, a[at + 1]).value_or(type);
    Initializer filled = full ? filledWith(i, a[1], "fill_value") : Initializer{kind, 0, {}};
    return asked(onAsked(tracer, i, a[at + 3],
                         initialTensor(tracer, sizesOf(i, {size}), type, std::move(filled))),
                 a[at + 5]);
  };
  module.globals->set(name, h::nativeRaw("torch." + name, make));
}

/// torch.rand and torch.randn of a program.
h::Value drawnInProgram(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                        const std::vector<h::Value> &a) {
  h::Tuple sizes = a[0].tuple();
  h::Value size = sizes.size() == 1 && sizes[0].isSequence() ? sizes[0] : a[0];
  h::CallArgs call =
      argsOf({h::Value::list(h::List(size.elements()))},
             {{"generator", a[1]}, {"dtype", a[3]}, {"layout", a[4]}, {"device", a[5]}});
  if (!a[2].isNone())
    call.keywords.emplace_back("out", a[2]);
  return callAten(tracer, interpreter, name, call);
}

/// torch.rand and torch.randn.
void addDraw(h::Module &module, Tracer &tracer, const std::string &name, HostDraw::Kind kind,
             const bool *constructing) {
  module.globals->set(
      name,
      h::native("torch." + name,
                "*size, generator=None, out=None, dtype=None, layout=None, device=None, "
                "requires_grad=False, pin_memory=False",
                [&tracer, constructing, name, kind](h::Interpreter &i, std::vector<h::Value> &a) {
                  h::Value drawn;
                  const h::Tuple &given = a[0].tuple();
                  bool isOne = given.size() == 1 && given[0].isSequence();
                  checkAsked(i, name, isOne ? given[0].elements() : given, a[3]);
                  if (!*constructing) {
                    drawn = drawnInProgram(tracer, i, name, a);
                  } else {
                    checkMaking(i, a[4]);
                    if (!a[2].isNone())
                      i.refuse("torch." + name + " with out= is not supported; take its result");
                    std::optional<DataType> type = askedType(i, name, a[3]);
                    AskedDevice asked(tracer, i, &a[5]);
                    drawn = onAsked(tracer, i, a[5],
                                    drawSized(tracer, i, kind, sizesOf(i, a[0].tuple()),
                                              type.value_or(tracer.printing.floats), a[1]));
                  }
                  if (i.truth(a[6]))
                    setRequiresGrad(i, *drawn.as<TensorObject>(), true);
                  return drawn;
                }));
}

/// The softmax functions of torch.nn.functional choose a dim where none is given.
void addSoftmax(h::Module &module, Tracer &tracer, const std::string &name) {
  module.globals->set(
      name, h::native("torch.nn.functional." + name, "input, dim=None, _stacklevel=3, dtype=None",
                      [&tracer, name](h::Interpreter &i, std::vector<h::Value> &a) {
                        auto *input = a[0].as<TensorObject>();
                        if (!input)
                          i.refuse(name + " takes a tensor, got " + h::typeName(a[0]));
                        size_t rank = input->tensor.type.rank();
                        if (a[1].isNone())
                          a[1] = h::Value(rank == 0 || rank == 1 || rank == 3 ? 0 : 1);
                        bool negates = name == "softmin";
                        h::Value x = negates ? i.unary(h::UnaryOp::Minus, a[0]) : a[0];
                        return callAten(tracer, i, negates ? "softmax" : name,
                                        argsOf({x, a[1], a[3]}));
                      }));
}

/// torch.nn.Parameter: makes one of a tensor, and isinstance() knows it.
std::shared_ptr<h::Class> parameterClass() {
  auto cls = h::Class::make("Parameter", "torch.nn");
  cls->accepts = [](const h::Value &value) {
    auto *tensor = value.as<TensorObject>();
    return tensor && tensor->isParameter;
  };
  cls->construct = [signature = h::Signature("data=None, requires_grad=True")](
                       h::Interpreter &interpreter, h::CallArgs call) -> h::Value {
    std::vector<h::Value> a = signature.bind(interpreter, "Parameter", call);
    auto *tensor = a[0].as<TensorObject>();
    if (!tensor && !interpreter.options().script)
      interpreter.refuse("torch.nn.Parameter takes a tensor");
    if (!tensor)
      interpreter.raise("AttributeError",
                        "'" + h::typeName(a[0]) + "' object has no attribute 'detach'");
    auto copy = std::make_shared<TensorObject>(tensor->tracer, tensor->tensor);
    copy->isParameter = true;
    if (interpreter.truth(a[1]))
      setRequiresGrad(interpreter, *copy, true);
    return h::Value(std::static_pointer_cast<h::Object>(copy));
  };
  return cls;
}

/// The dtype that Module.to(…) asks for, as torch reads its arguments; None for a device alone.
h::Value conversion(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  h::Value dtype;
  auto take = [&](const h::Value &value) {
    if (auto *type = value.as<h::DType>(); type && type->family == h::DType::Family::Torch)
      dtype = value;
    else if (auto *tensor = value.as<TensorObject>())
      dtype = dtypeValue(tensor->tensor.type.dtype);
    else if (!value.isNone() && !value.isStr() && !value.isInt() && !value.isBool() &&
             h::typeName(value) != "device")
      interpreter.raise("TypeError",
                        "to() received an invalid argument of type " + h::typeName(value));
  };
  for (const h::Value &value : a[0].tuple())
    take(value);
  for (const auto &[name, value] : a[1].dictionary().items()) {
    const std::string &key = name.str();
    if (key == "memory_format") {
      if (!value.isNone() && !isChannelsLast(value) && interpreter.str(value) != "preserve_format")
        interpreter.refuse("a module's parameters in another memory format are not supported; "
                           "leave memory_format out");
    } else if (key == "dtype" || key == "device" || key == "tensor" || key == "non_blocking") {
      if (key == "dtype" && !value.isNone() && !value.as<h::DType>())
        interpreter.refuse("a module is converted to a torch dtype, got " + h::typeName(value));
      take(value);
    } else {
      interpreter.raise("TypeError", "to() got an unexpected keyword argument '" + key + "'");
    }
  }
  return dtype;
}

/// The tensor object holds `dtype` from here on, as Module.to() does to a parameter.
h::Value convertInPlace(Tracer &tracer, h::Interpreter &interpreter, std::vector<h::Value> &a) {
  auto *object = a[0].as<TensorObject>();
  auto *dtype = a[1].as<h::DType>();
  if (!object || !dtype || dtype->family != h::DType::Family::Torch)
    interpreter.refuse("a module is converted to a torch dtype, got " + h::typeName(a[1]));
  TracedTensor &tensor = object->tensor;
  if (tensor.type.dtype == dtype->type)
    return h::Value();
  TracedStorage &storage = *tensor.storage;
  if (!storage.base && !storage.constructed && tensor.type == storage.type) {
    // Nothing has been computed with it: the initial values are converted when they are made.
    TensorType type(dtype->type, tensor.type.shape);
    Initializer initializer = storage.initializer;
    initializer.through.push_back(type.dtype);
    tensor = tracer.unbound(type, std::move(initializer));
  } else {
    h::Value converted = castTo(*object, interpreter, dtype->type);
    tensor = converted.as<TensorObject>()->tensor;
  }
  return h::Value();
}

/// The tensor object lies on the device from here on, as Module.to() does to a parameter.
h::Value moveInPlace(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  auto *object = a[0].as<TensorObject>();
  if (!object || !isEager(object->tracer))
    return h::Value();
  if (auto device = deviceAsked(object->tracer, interpreter, a[1]))
    object->tensor = onDevice(*object, interpreter, *device).as<TensorObject>()->tensor;
  return h::Value();
}

/// The parameter lies in that format from here on, where it has as many dims.
h::Value layInPlace(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  auto *object = a[0].as<TensorObject>();
  size_t wanted = a[1].isStr() && a[1].str() == "channels_last" ? 4 : 5;
  if (!object || !isChannelsLast(a[1]) || object->tensor.type.rank() != wanted)
    return h::Value();
  object->tensor = toFormat(*detached(*object), interpreter, a[1]).as<TensorObject>()->tensor;
  return h::Value();
}

h::Value dropout(Tracer &tracer, h::Interpreter &interpreter, std::vector<h::Value> &a) {
  auto *input = a[0].as<TensorObject>();
  if (!input)
    interpreter.refuse("dropout takes a tensor, got " + h::typeName(a[0]));
  double p = interpreter.toDouble(a[1], "dropout's p");
  if (!(p >= 0 && p <= 1))
    interpreter.raise("ValueError", "dropout probability has to be between 0 and 1, but got " +
                                        interpreter.str(a[1]));
  if (!interpreter.truth(a[2]) || p == 0)
    return a[0];
  h::Value dropped = callAten(tracer, interpreter, "dropout", argsOf({a[0], a[1], h::Value(true)}));
  return interpreter.truth(a[3]) ? input->assign(interpreter, dropped, "dropout_") : dropped;
}

/// Attributes that the module lacks are ATen operators of that name, where PyTorch's has it; in
/// torch also those that are written with others (torch.nn.functional often gives its arguments
/// another order).
/// F.relu(x, True): ATen's operators do not have the last parameter of torch.nn.functional's.
static void nameInPlace(const std::string &name, h::CallArgs &args) {
  static const std::map<std::string, size_t, std::less<>> places = {
      {"relu", 1},      {"relu6", 1},       {"celu", 2},       {"threshold", 3},
      {"hardswish", 1}, {"hardsigmoid", 1}, {"silu", 1},       {"mish", 1},
      {"elu", 2},       {"selu", 1},        {"leaky_relu", 2}, {"hardtanh", 3}};
  auto place = places.find(name);
  if (place == places.end() || args.positional.size() != place->second + 1)
    return;
  args.keywords.emplace_back("inplace", args.positional.back());
  args.positional.pop_back();
}

void fallBackToAten(h::Module &module, Tracer &tracer, bool isTorch) {
  auto next = module.fallback;
  module.fallback = [&tracer, next, isTorch](
                        h::Interpreter &i, std::string_view attribute) -> std::optional<h::Value> {
    std::string name(attribute);
    if (!isPytorchName(isTorch ? "torch" : "torch.nn.functional", name) &&
        !isInOurText(i.location()))
      return next ? next(i, attribute) : std::nullopt;
    if (auto composite = compositeFunction(i, attribute))
      return h::nativeRaw("torch." + name,
                          [name, function = *composite](h::Interpreter &inner, h::CallArgs args) {
                            return callComposite(inner, name, function, std::move(args));
                          });
    if (name.size() > 1 && name.back() == '_' && name.front() != '_')
      return h::nativeRaw("torch." + name, [name](h::Interpreter &inner, h::CallArgs args) {
        if (args.positional.empty() || !args.positional[0].as<TensorObject>())
          inner.refuse("torch." + name + " takes a tensor first");
        h::Value self = args.positional.front();
        args.positional.erase(args.positional.begin());
        // torch has some that tensors have not: torch.celu_(x).
        if (auto method = inner.findAttr(self, name))
          return inner.call(*method, std::move(args));
        return callInPlace(*self.as<TensorObject>(), inner, name.substr(0, name.size() - 1), args);
      });
    if (!tracer.registry.overloads("aten." + name).empty())
      return h::nativeRaw("torch." + name,
                          [&tracer, name, isTorch](h::Interpreter &inner, h::CallArgs args) {
                            if (!isTorch)
                              nameInPlace(name, args);
                            return callAten(tracer, inner, name, args);
                          });
    if (isTorch && !atenComposites(i, "aten." + name).empty())
      return h::nativeRaw("torch." + name, [name](h::Interpreter &inner, h::CallArgs args) {
        h::Value found = callAtenPacket(inner, "aten." + name, std::move(args));
        // Several tensors are a tuple here, a list below torch.ops.
        if (!found.isList())
          return found;
        return h::Value::tuple({found.list().begin(), found.list().end()});
      });
    return next ? next(i, attribute) : std::nullopt;
  };
}

/// Whether the condition holds, or is checked when the program runs; None for what is no condition
/// over sizes that values decide.
h::Value checkedSizes(Tracer &tracer, h::Interpreter &inner, std::vector<h::Value> &a) {
  if (a[0].isBool())
    return h::Value();
  auto condition = sizeCondition(tracer, inner, a[0]);
  if (!condition || (a[0].isSymBool() && !mentionsRead(tracer, *condition)))
    return h::Value();
  if (a[1].isNone())
    return h::Value(true);
  if (auto known = tracer.symbols().prove(*condition))
    return h::Value(*known);
  checkSizes(tracer, inner, *condition, inner.str(a[1]));
  return h::Value(true);
}

/// torch.sym_min, torch.sym_max, torch.sym_not.
h::Value symbolicResult(Tracer &tracer, h::Interpreter &inner, std::vector<h::Value> &a) {
  const std::string &name = a[0].str();
  if (name == "not") {
    if (auto condition = sizeCondition(tracer, inner, a[1]))
      return h::Value::condition(symbolic::logicalNot(*condition));
    inner.refuse("torch.sym_not takes a condition over sizes, got " + h::typeName(a[1]));
  }
  Expr left = inner.toExpr(sizeOf(tracer, inner, a[1]), "torch.sym_" + name),
       right = inner.toExpr(sizeOf(tracer, inner, a[2]), "torch.sym_" + name);
  return h::Value::integer(name == "min" ? symbolic::min(left, right) : symbolic::max(left, right));
}

} // namespace

void addTorchModules(h::NativeModules &modules, Tracer &tracer) {
  addTorchRandom(modules, tracer);
  // Module constructors run before forward; from then on, factories are nodes.
  auto constructing = std::make_shared<bool>(true);
  modules.add("torch", [&tracer, constructing](h::Interpreter &, h::Module &module) {
    const bool *flag = constructing.get();
    module.globals->set(
        "_pellucid_constructing",
        h::nativeRaw("constructing",
                     [constructing](h::Interpreter &inner, h::CallArgs args) -> h::Value {
                       *constructing = inner.truth(args.positional.at(0));
                       return h::Value();
                     }));
    addFactory(module, tracer, "empty", Initializer::Kind::Zeros, flag);
    addFactory(module, tracer, "zeros", Initializer::Kind::Zeros, flag);
    addFactory(module, tracer, "ones", Initializer::Kind::Ones, flag);
    addFactory(module, tracer, "full", Initializer::Kind::Full, flag);
    addDraw(module, tracer, "randn", HostDraw::Kind::Normal, flag);
    addDraw(module, tracer, "rand", HostDraw::Kind::Uniform, flag);
    module.globals->set("strided", h::Value("strided"));
    auto tensorClass = h::Class::make("Tensor", "torch");
    tensorClass->accepts = [](const h::Value &value) {
      return value.as<TensorObject>() != nullptr;
    };
    tensorClass->construct = [&tracer](h::Interpreter &inner, h::CallArgs call) -> h::Value {
      if (!isEager(tracer))
        inner.refuse("torch.Tensor(…) is not supported here; torch.tensor and torch.empty are");
      h::Value make = inner.getAttr(h::Value(inner.nativeModule("torch")), "FloatTensor");
      return inner.call(make, std::move(call));
    };
    addUnboundMethods(*tensorClass);
    module.globals->set("Tensor", h::Value(tensorClass));
    auto sizes = h::Class::make("Size", "torch");
    sizes->accepts = [](const h::Value &value) { return value.isSizes(); };
    sizes->construct = [signature = h::Signature("sizes=()")](h::Interpreter &inner,
                                                              h::CallArgs call) -> h::Value {
      std::vector<h::Value> a = signature.bind(inner, "torch.Size", call);
      std::vector<h::Value> elements = inner.iterate(a[0]);
      return h::Value::sizes({elements.begin(), elements.end()});
    };
    module.globals->set("Size", h::Value(sizes));
    module.globals->set("squeeze",
                        h::nativeRaw("torch.squeeze", [](h::Interpreter &inner, h::CallArgs args) {
                          h::Value self = args.positional.at(0);
                          args.positional.erase(args.positional.begin());
                          return inner.call(inner.getAttr(self, "squeeze"), std::move(args));
                        }));
    module.globals->set(
        "is_tensor",
        h::native("torch.is_tensor", "x", [](h::Interpreter &, std::vector<h::Value> &a) {
          return h::Value(a[0].as<TensorObject>() != nullptr);
        }));
    module.globals->set(
        "tensor", h::native("torch.tensor", "data, *, dtype=None, device=None, requires_grad=False",
                            [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                              checkAsked(inner, "tensor", {}, a[1]);
                              h::Value made =
                                  onAsked(tracer, inner, a[2], tensorOfNumbers(tracer, inner, a));
                              if (inner.truth(a[3]))
                                setRequiresGrad(inner, *made.as<TensorObject>(), true);
                              return made;
                            }));
    module.globals->set("_pellucid_check_sizes",
                        h::native("torch._check", "condition, text",
                                  [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                                    return checkedSizes(tracer, inner, a);
                                  }));
    module.globals->set("_pellucid_sym",
                        h::native("torch.sym_max", "name, a, b",
                                  [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                                    return symbolicResult(tracer, inner, a);
                                  }));
    module.globals->set(
        "_pellucid_default_dtype",
        h::native("set_default_dtype", "d=None",
                  [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                    if (a[0].isNone())
                      return dtypeValue(tracer.printing.floats);
                    auto *type = a[0].as<h::DType>();
                    if (!type)
                      inner.raise("TypeError", "invalid dtype object: " + inner.str(a[0]));
                    if (!isFloat(type->type))
                      inner.raise("TypeError",
                                  "only floating-point types are supported as the default type");
                    tracer.printing.floats = type->type;
                    return h::Value();
                  }));
    for (const char *name : {"concat", "concatenate"})
      module.globals->set(name, h::nativeRaw(std::string("torch.") + name,
                                             [&tracer](h::Interpreter &inner, h::CallArgs args) {
                                               return callAten(tracer, inner, "cat", args);
                                             }));
    fallBackToAten(module, tracer, true);
  });
  modules.add("torch.nn.functional", [&tracer](h::Interpreter &i, h::Module &module) {
    for (const char *name : {"softmax", "log_softmax", "softmin"})
      addSoftmax(module, tracer, name);
    module.globals->set("dropout",
                        h::native("torch.nn.functional.dropout",
                                  "input, p=0.5, training=True, inplace=False",
                                  [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
                                    return dropout(tracer, i, a);
                                  }));
    auto functions =
        i.importSource("torch_functional_source",
                       std::make_shared<SourceFile>("<torch.nn.functional>", functionalSource));
    for (const auto &[function, value] : functions->globals->items())
      if (!function.starts_with("_") || function == "__dir__")
        module.globals->set(function, value);
    fallBackToAten(module, tracer, false);
  });
  modules.add("torch._pellucid_module_text", [](h::Interpreter &i, h::Module &module) {
    auto text = std::make_shared<SourceFile>("<torch.nn>", std::string(moduleTextSource));
    for (const auto &[name, value] : i.importSource("torch_module_text", text)->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch.nn", [&tracer](h::Interpreter &i, h::Module &module) {
    auto source = std::make_shared<SourceFile>(
        "<torch.nn>", std::string(hookSource) + moduleNameSource + networkSource +
                          activationSource + poolSource + lossModuleSource + layerSource +
                          recurrentSource + transformerSource);
    h::Value parameter(parameterClass());
    auto nn = i.importSource("torch_nn_source", source);
    nn->globals->set("Parameter", parameter);
    auto init = i.nativeModule("torch.nn.init");
    for (const char *name : {"_default_weight", "_default_bias", "_bounded", "_xavier_uniform",
                             "_xavier_normal", "_normal", "_zeros", "_ones"})
      nn->globals->set(name, *init->globals->find(name));
    nn->globals->set("_conversion", h::native("to", "*args, **kwargs", conversion));
    nn->globals->set("_convert_in_place",
                     h::native("to", "tensor, dtype",
                               [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                                 return convertInPlace(tracer, inner, a);
                               }));
    nn->globals->set("_move_in_place", h::native("to", "tensor, device", moveInPlace));
    nn->globals->set("_lay_in_place", h::native("to", "tensor, memory_format", layInPlace));
    addModuleWalk(*nn);
    // What torch.nn.init lends to the constructors is no name of torch.nn.
    for (const auto &[name, value] : nn->globals->items())
      if (!name.starts_with("__") && !init->globals->find(name))
        module.globals->set(name, value);
    module.globals->set("Parameter", parameter);
    parameter.as<h::Class>()->module = "torch.nn.parameter";
    nameClasses(module);
  });
}

} // namespace pellucid::trace
