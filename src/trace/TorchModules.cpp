// SPDX-License-Identifier: Apache-2.0
// torch, torch.nn, torch.nn.functional. Functions without a rule of their own are the ATen operator
// of that name.
#include "trace/TensorObject.h"

#include <cmath>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// torch.nn in the language the models are written in; run by the host evaluator.
const char *const nnSource = R"(
import torch
import torch.nn.functional as F


class Module:
    training = False

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def eval(self):
        return self

    def train(self, mode=True):
        return self

    def to(self, *args, **kwargs):
        return self

    def cuda(self, *args):
        return self

    def cpu(self):
        return self

    def requires_grad_(self, value=True):
        return self

    def register_buffer(self, name, tensor, persistent=True):
        setattr(self, name, tensor)

    def register_parameter(self, name, parameter):
        setattr(self, name, parameter)

    def add_module(self, name, module):
        setattr(self, name, module)


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_uniform([out_features, in_features], in_features, dtype))
        self.bias = Parameter(_uniform([out_features], in_features, dtype)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = Parameter(_uniform([num_embeddings, embedding_dim], 1, dtype))

    def forward(self, x):
        return F.embedding(x, self.weight)


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self.eps = eps
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.bias = Parameter(torch.zeros(self.normalized_shape, dtype=dtype)) if elementwise_affine and bias else None

    def forward(self, x):
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self.eps = eps
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class SiLU(Module):
    def forward(self, x):
        return F.silu(x)


class ReLU(Module):
    def forward(self, x):
        return F.relu(x)


class Sigmoid(Module):
    def forward(self, x):
        return torch.sigmoid(x)


class Tanh(Module):
    def forward(self, x):
        return torch.tanh(x)


class GELU(Module):
    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, x):
        return F.gelu(x, approximate=self.approximate)


class Softmax(Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return F.softmax(x, self.dim)


class Identity(Module):
    def forward(self, x):
        return x


class Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p

    def forward(self, x):
        return x


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x):
        return torch.flatten(x, self.start_dim, self.end_dim)


class ModuleList(Module):
    def __init__(self, modules=()):
        super().__init__()
        self._list = []
        for module in modules:
            self.append(module)

    def append(self, module):
        setattr(self, str(len(self._list)), module)
        self._list.append(module)
        return self

    def __iter__(self):
        return iter(self._list)

    def __getitem__(self, index):
        return self._list[index]

    def __len__(self):
        return len(self._list)


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        self._list = []
        for module in modules:
            setattr(self, str(len(self._list)), module)
            self._list.append(module)

    def forward(self, x):
        for module in self._list:
            x = module(x)
        return x

    def __getitem__(self, index):
        return self._list[index]

    def __len__(self):
        return len(self._list)
)";

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
              if (args.positional.size() > 1)
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
                                 dtypeArgument(args, DataType::Float32), {kind, value});
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

/// Attributes that the module lacks are ATen operators of that name.
void fallBackToAten(h::Module &module, Tracer &tracer) {
  auto next = module.fallback;
  module.fallback = [&tracer, next](h::Interpreter &i,
                                    std::string_view attribute) -> std::optional<h::Value> {
    if (auto composite = compositeFunction(i, attribute))
      return composite;
    std::string name(attribute);
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
                                              {Initializer::Kind::Uniform, 1.0});
                       }));
    auto tensorClass = h::Class::make("Tensor", "torch");
    tensorClass->accepts = [](const h::Value &value) {
      return value.as<TensorObject>() != nullptr;
    };
    module.globals->set("Tensor", h::Value(tensorClass));
    module.globals->set(
        "is_tensor",
        h::native("torch.is_tensor", "x", [](h::Interpreter &, std::vector<h::Value> &a) {
          return h::Value(a[0].as<TensorObject>() != nullptr);
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
    auto source = std::make_shared<SourceFile>("<torch.nn>", nnSource);
    auto isInitial = h::native(
        "_uniform", "shape, fan_in, dtype=None",
        [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
          std::vector<Expr> sizes = sizesOf(inner, {a[0]});
          double fanIn = static_cast<double>(inner.toInt64(a[1], "fan_in"));
          auto *type = a[2].as<h::DType>();
          return initialTensor(tracer, std::move(sizes), type ? type->type : DataType::Float32,
                               {Initializer::Kind::Uniform, 1.0 / std::sqrt(std::max(1.0, fanIn))});
        });
    auto parameter = h::native("torch.nn.Parameter", "data=None, requires_grad=True",
                               [](h::Interpreter &inner, std::vector<h::Value> &a) {
                                 auto *tensor = a[0].as<TensorObject>();
                                 if (!tensor)
                                   inner.refuse("torch.nn.Parameter takes a tensor");
                                 auto copy =
                                     std::make_shared<TensorObject>(tensor->tracer, tensor->tensor);
                                 copy->isParameter = true;
                                 return h::Value(std::static_pointer_cast<h::Object>(copy));
                               });
    auto nn = i.importSource("torch_nn_source", source);
    nn->globals->set("Parameter", parameter);
    nn->globals->set("_uniform", isInitial);
    for (const auto &[name, value] : nn->globals->items())
      if (!name.starts_with("__"))
        module.globals->set(name, value);
    module.globals->set("Parameter", parameter);
  });
}

} // namespace pellucid::trace
