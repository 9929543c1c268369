// SPDX-License-Identifier: Apache-2.0
// torch, torch.nn, torch.nn.functional. Functions without a rule of their own are the ATen operator
// of that name.
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

#include <cmath>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

DataType dtypeArgument(const h::CallArgs &args, DataType fallback) {
  if (const h::Value *value = args.keyword("dtype"))
    if (auto *type = value->as<h::DType>())
      return type->type;
  return fallback;
}

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

/// torch.zeros and the like: a node while a graph is recorded, an initial tensor while a module is
/// constructed.
void addFactory(h::Module &module, Tracer &tracer, const std::string &name, Initializer::Kind kind,
                const bool *constructing) {
  module.globals->set(
      name,
      h::nativeRaw(
          "torch." + name,
          [&tracer, name, kind, constructing](h::Interpreter &i, h::CallArgs args) -> h::Value {
            h::CallArgs call = args;
            double value = 0;
            if (kind == Initializer::Kind::Full) {
              if (*constructing && args.positional.size() > 1)
                value = args.positional[1].isFloat()
                            ? args.positional[1].real()
                            : static_cast<double>(i.toInt64(args.positional[1], "fill_value"));
            } else {
              h::List sizes;
              const std::vector<h::Value> &given = args.positional;
              if (given.size() == 1 && given[0].isSequence())
                sizes = given[0].elements();
              else
                sizes = given;
              call.positional = {h::Value::list(sizes)};
            }
            if (!*constructing)
              return callAten(tracer, i, name, call);
            return initialTensor(tracer, sizesOf(i, {call.positional.at(0)}),
                                 dtypeArgument(args, DataType::Float32), {kind, value, {}});
          }));
}

void aliasFunction(h::Module &module, Tracer &tracer, const std::string &name,
                   const std::string &operatorName, std::string signature,
                   std::vector<size_t> order) {
  module.globals->set(
      name, h::native("torch." + name, signature,
                      [&tracer, operatorName, order](h::Interpreter &i, std::vector<h::Value> &a) {
                        h::CallArgs call;
                        for (size_t index : order)
                          call.positional.push_back(a[index]);
                        return callAten(tracer, i, operatorName, call);
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
    if (!tensor)
      interpreter.refuse("torch.nn.Parameter takes a tensor");
    auto copy = std::make_shared<TensorObject>(tensor->tracer, tensor->tensor);
    copy->isParameter = true;
    return h::Value(std::static_pointer_cast<h::Object>(copy));
  };
  return cls;
}

/// torch.nn.init: a number for every element, or None for values from --seed as wide as the
/// modules' own. What the constructor has computed already keeps its values.
h::Value initialize(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  auto *tensor = a[0].as<TensorObject>();
  if (!tensor)
    interpreter.refuse("torch.nn.init takes a tensor");
  TracedStorage &storage = *tensor->tensor.storage;
  if (storage.constructed || storage.base)
    return a[0];
  if (!a[1].isNone()) {
    storage.initializer = {Initializer::Kind::Full, interpreter.toDouble(a[1], "the value"), {}};
    return a[0];
  }
  const std::vector<Expr> &shape = tensor->tensor.type.shape;
  double fanIn = shape.empty() ? 1 : static_cast<double>(shape.back().constantOr(1));
  storage.initializer = {Initializer::Kind::Uniform, 1.0 / std::sqrt(std::max(1.0, fanIn)), {}};
  return a[0];
}

/// Attributes that the module lacks are ATen operators of that name.
void fallBackToAten(h::Module &module, Tracer &tracer) {
  auto next = module.fallback;
  module.fallback = [&tracer, next](h::Interpreter &i,
                                    std::string_view attribute) -> std::optional<h::Value> {
    std::string name(attribute);
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
        return inner.call(inner.getAttr(self, name), std::move(args));
      });
    if (!tracer.registry.overloads("aten." + name).empty())
      return h::nativeRaw("torch." + name,
                          [&tracer, name](h::Interpreter &inner, h::CallArgs args) {
                            return callAten(tracer, inner, name, args);
                          });
    return next ? next(i, attribute) : std::nullopt;
  };
}

} // namespace

void addTorchModules(h::NativeModules &modules, Tracer &tracer) {
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
    for (const char *random : {"randn", "rand"})
      module.globals->set(
          random,
          h::nativeRaw(std::string("torch.") + random,
                       [&tracer, constructing, name = std::string(random)](
                           h::Interpreter &inner, h::CallArgs args) -> h::Value {
                         if (!*constructing)
                           inner.refuse("torch." + name +
                                        " in forward gives other numbers at every call, which a "
                                        "package cannot; pass the tensor as an input");
                         return initialTensor(tracer, sizesOf(inner, args.positional),
                                              dtypeArgument(args, DataType::Float32),
                                              {Initializer::Kind::Uniform, 1.0, {}});
                       }));
    auto tensorClass = h::Class::make("Tensor", "torch");
    tensorClass->accepts = [](const h::Value &value) {
      return value.as<TensorObject>() != nullptr;
    };
    module.globals->set("Tensor", h::Value(tensorClass));
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
                              return tensorOfNumbers(tracer, inner, a);
                            }));
    aliasFunction(module, tracer, "concat", "cat", "tensors, dim=0", {0, 1});
    aliasFunction(module, tracer, "concatenate", "cat", "tensors, dim=0", {0, 1});
    fallBackToAten(module, tracer);
  });
  modules.add("torch.nn.functional", [&tracer](h::Interpreter &, h::Module &module) {
    aliasFunction(module, tracer, "embedding", "embedding",
                  "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, "
                  "scale_grad_by_freq=False, sparse=False",
                  {1, 0});
    aliasFunction(module, tracer, "softmax", "softmax", "input, dim=-1, _stacklevel=3, dtype=None",
                  {0, 1, 3});
    aliasFunction(module, tracer, "log_softmax", "log_softmax",
                  "input, dim=-1, _stacklevel=3, dtype=None", {0, 1, 3});
    module.globals->set(
        "dropout",
        h::native("torch.nn.functional.dropout", "input, p=0.5, training=True, inplace=False",
                  [](h::Interpreter &i, std::vector<h::Value> &a) {
                    if (i.truth(a[2]) && !a[2].isBool())
                      i.refuse("dropout in training draws random numbers, which a package cannot");
                    return a[0];
                  }));
    fallBackToAten(module, tracer);
  });
  modules.add("torch.nn", [&tracer](h::Interpreter &i, h::Module &module) {
    auto source =
        std::make_shared<SourceFile>("<torch.nn>", std::string(hookSource) + networkSource);
    auto isInitial =
        h::native("_uniform", "shape, fan_in, dtype=None",
                  [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                    std::vector<Expr> sizes = sizesOf(inner, {a[0]});
                    double fanIn = static_cast<double>(inner.toInt64(a[1], "fan_in"));
                    auto *type = a[2].as<h::DType>();
                    return initialTensor(
                        tracer, std::move(sizes), type ? type->type : DataType::Float32,
                        {Initializer::Kind::Uniform, 1.0 / std::sqrt(std::max(1.0, fanIn)), {}});
                  });
    h::Value parameter(parameterClass());
    auto nn = i.importSource("torch_nn_source", source);
    nn->globals->set("Parameter", parameter);
    nn->globals->set("_uniform", isInitial);
    for (const auto &[name, value] : nn->globals->items())
      if (!name.starts_with("__"))
        module.globals->set(name, value);
    module.globals->set("Parameter", parameter);
  });
  modules.add("torch.nn.init", [](h::Interpreter &i, h::Module &module) {
    auto source = i.importSource("torch_init_source",
                                 std::make_shared<SourceFile>("<torch.nn.init>", initSource));
    source->globals->set("_initialize", h::native("_initialize", "tensor, value=None", initialize));
    for (const auto &[name, value] : source->globals->items())
      if (!name.starts_with("__"))
        module.globals->set(name, value);
  });
}

} // namespace pellucid::trace
