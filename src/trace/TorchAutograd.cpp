// SPDX-License-Identifier: Apache-2.0
// torch.autograd, torch.func and torch.utils.checkpoint. What walks the tape is here; what is
// written with it is torch/autograd.py.
#include "autograd/Engine.h"
#include "trace/Derivatives.h"
#include "trace/FormulaMemory.h"
#include "trace/Gradients.h"
#include "trace/TensorCalls.h"
#include "trace/TorchSources.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
using autograd::Edge;
namespace h = pellucid::host;

using Bound = std::vector<h::Value>;

namespace {

/// What `grad_fn` gives.
class NodeObject : public h::Object {
public:
  explicit NodeObject(std::shared_ptr<autograd::Node> n) : node(std::move(n)) {}
  std::string typeName() const override { return node->name(); }
  std::string repr() const override {
    bool isUsers = !node->context().isNone() && !node->accumulates();
    std::string place = " object" + h::placeText(node.get()) + ">";
    return (isUsers ? "<torch.autograd.function." : "<") + node->name() + place;
  }
  std::optional<h::Value> getAttr(h::Interpreter &interpreter, std::string_view name) override {
    std::shared_ptr<autograd::Node> self = node;
    if (name == "name")
      return h::native("name", "", [self](h::Interpreter &, Bound &) {
        return h::Value((self->accumulates() ? "torch::autograd::" : "") + self->name());
      });
    if (name == "next_functions") {
      h::Tuple edges;
      for (const Edge &edge : node->next)
        edges.push_back(
            h::Value::tuple({edge ? h::Value(std::make_shared<NodeObject>(edge.node)) : h::Value(),
                             h::Value(static_cast<int64_t>(edge.output))}));
      return h::Value::tuple(std::move(edges));
    }
    if (name == "variable" && node->accumulates())
      return node->context();
    if (name == "register_hook" || name == "register_prehook")
      return h::native(
          std::string(name), "fn",
          [self, isBefore = name == "register_prehook"](h::Interpreter &i, Bound &a) {
            autograd::HookList &list = isBefore ? self->before : self->after;
            uint64_t number = list.add(a[0]);
            return handleOf(
                i, h::nativeRaw("remove", [self, isBefore, number](h::Interpreter &, h::CallArgs) {
                  (isBefore ? self->before : self->after).remove(number);
                  return h::Value();
                }));
          });
    if (h::Value context = node->context(); !context.isNone() && name != "__class__")
      return interpreter.findAttr(context, name);
    return std::nullopt;
  }
  bool equals(const h::Object &other) const override {
    auto *object = dynamic_cast<const NodeObject *>(&other);
    return object && object->node == node;
  }
  std::optional<size_t> hash() const override { return std::hash<const void *>()(node.get()); }
  static h::Value handleOf(h::Interpreter &interpreter, h::Value remove) {
    return interpreter.call(autogradFunction(interpreter, "_Handle"), {std::move(remove)});
  }

  std::shared_ptr<autograd::Node> node;
};

/// A node whose gradients a function of the program computes: torch.autograd.Function.
class CallbackNode : public TensorNode {
public:
  using TensorNode::TensorNode;
  std::string name() const override { return title; }
  h::Value context() const override { return ctx; }
  std::vector<h::Value> apply(h::Interpreter &interpreter,
                              std::vector<h::Value> gradients) override {
    h::CallArgs args;
    args.location = where;
    args.positional = {h::Value::list(std::move(gradients))};
    return interpreter.call(backward, std::move(args)).elements();
  }
  void release() override {
    if (auto *interpreter = h::Interpreter::active(); interpreter && !ctx.isNone())
      interpreter->call(interpreter->getAttr(ctx, "_release"));
  }
  std::string title;
  h::Value ctx, backward;
};

/// ctx.save_for_backward's, and what else is kept for a backward.
class SavedObject : public h::Object {
public:
  SavedObject(h::Interpreter &i, TensorObject &tensor, std::optional<uint32_t> output,
              std::weak_ptr<autograd::Node> n)
      : saved(i, tensor, output), node(std::move(n)) {}
  std::string typeName() const override { return "SavedTensor"; }
  bool isCallable() const override { return true; }
  h::Value call(h::Interpreter &interpreter, h::CallArgs) override {
    std::shared_ptr<autograd::Node> owner = node.lock();
    if (!owner)
      interpreter.raise("RuntimeError", "the node that saved this tensor is gone");
    return saved.unpack(interpreter, *owner);
  }

private:
  SavedTensor saved;
  std::weak_ptr<autograd::Node> node;
};

bool isAmong(const std::vector<h::Value> &values, const h::Value &one) {
  return std::any_of(values.begin(), values.end(),
                     [&](const h::Value &value) { return value.isSame(one); });
}

/// The node of a torch.autograd.Function.
class FunctionNode : public CallbackNode {
public:
  using CallbackNode::CallbackNode;
  std::vector<h::Value> apply(h::Interpreter &interpreter,
                              std::vector<h::Value> gradients) override {
    if (isAmong(gradients, h::Value()) &&
        interpreter.truth(interpreter.getAttr(ctx, "materialize_grads")))
      gradients = ours(interpreter, "_materialized",
                       {ctx, h::Value::list(std::move(gradients)), h::Value::list(kinds)})
                      .elements();
    h::CallArgs args;
    args.location = where;
    args.positional = std::move(gradients);
    args.positional.insert(args.positional.begin(), ctx);
    h::Value result = interpreter.call(interpreter.getAttr(function, "backward"), std::move(args));
    if (fits(result))
      return result.elements();
    return ours(interpreter, "_checked", {result, h::Value::list(areTensors), h::Value(title)})
        .elements();
  }
  h::Value function;
  h::List areTensors; ///< of the inputs
  h::List kinds;      ///< of each output its sizes and type; None for what is no tensor

private:
  h::Value ours(h::Interpreter &interpreter, const char *name, std::vector<h::Value> arguments) {
    h::CallArgs args;
    args.location = where;
    args.positional = std::move(arguments);
    return interpreter.call(autogradFunction(interpreter, name), std::move(args));
  }
  /// A gradient or None for each input, and None for what is no tensor.
  bool fits(const h::Value &result) const {
    if (!result.isTuple() || result.elements().size() != areTensors.size())
      return false;
    for (size_t i = 0; i < areTensors.size(); ++i)
      if (const h::Value &one = result.elements()[i];
          !one.isNone() && (!areTensors[i].boolean() || !one.as<TensorObject>()))
        return false;
    return true;
  }
};

TensorObject &tensorNamed(h::Interpreter &interpreter, const h::Value &value, const char *what) {
  auto *tensor = value.as<TensorObject>();
  if (!tensor)
    interpreter.raise("TypeError",
                      std::string(what) + " must be a Tensor, got " + h::typeName(value));
  return *tensor;
}

std::vector<h::Value> listOf(const h::Value &value) {
  return value.isNone()       ? std::vector<h::Value>()
         : value.isSequence() ? value.elements()
                              : std::vector<h::Value>{value};
}

/// run(roots, gradients, keeps, creates, wanted): the engine. `wanted` None: every leaf's.
h::Value runEngine(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  autograd::Request request;
  std::vector<h::Value> gradients = listOf(a[1]);
  for (const h::Value &root : listOf(a[0]))
    request.roots.push_back(gradientEdge(tensorNamed(interpreter, root, "a root of backward")));
  for (size_t i = 0; i < request.roots.size(); ++i)
    if (const Edge &edge = request.roots[i])
      gradients[i] = edge.node->conform(interpreter, edge.output, gradients[i], *edge.node);
  request.gradients = std::move(gradients);
  request.keepsGraph = interpreter.truth(a[2]);
  for (const h::Value &one : listOf(a[4]))
    request.wanted.push_back(gradientEdge(tensorNamed(interpreter, one, "an input")));
  if (h::Value check = a[5]; !check.isNone())
    request.afterEach = [&interpreter, check](const autograd::Node &node,
                                              const std::vector<h::Value> &results) {
      for (size_t i = 0; i < results.size(); ++i)
        if (results[i].as<TensorObject>())
          interpreter.call(check,
                           {h::Value(node.name()), h::Value(static_cast<int64_t>(i)), results[i]});
    };
  autograd::ModeGuard guard(tracer.gradients, interpreter.truth(a[3]));
  return h::Value::list(autograd::run(interpreter, request));
}

/// The outputs have `node` as their grad_fn from here on; None stands for what has none.
void link(const std::shared_ptr<CallbackNode> &node, const std::vector<h::Value> &inputs,
          const std::vector<h::Value> &outputs) {
  for (const h::Value &input : inputs) {
    auto *tensor = input.as<TensorObject>();
    node->next.push_back(tensor ? gradientEdge(*tensor) : Edge());
  }
  node->outputCount = static_cast<uint32_t>(outputs.size());
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    auto *tensor = outputs[i].as<TensorObject>();
    node->outputs.push_back(tensor ? tensor->tensor.type : TensorType());
    if (!tensor || !isFloat(tensor->tensor.type.dtype))
      continue;
    metaOf(*tensor).source = {node, i};
    metaOf(*tensor).requiresGrad = false;
    tensor->seen = tensor->tensor.storage->counted;
  }
}

/// node(name, inputs, outputs, backward, ctx): the outputs have it as their grad_fn from here on.
h::Value makeNode(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  auto node = std::make_shared<CallbackNode>(tracer, interpreter);
  node->title = a[0].str();
  node->backward = a[3];
  node->ctx = a[4];
  link(node, a[1].elements(), a[2].elements());
  return h::Value(std::make_shared<NodeObject>(node));
}

/// stands_in(values, one): whether it is one of them.
h::Value standsIn(h::Interpreter &, Bound &a) { return h::Value(isAmong(a[0].elements(), a[1])); }

/// needs(args): for each whether it is a tensor that requires a gradient.
h::Value needsOf(h::Interpreter &interpreter, Bound &a) {
  std::optional<h::Value> kind;
  h::Tuple needs;
  for (const h::Value &value : a[0].elements()) {
    bool isTensor = value.as<TensorObject>() != nullptr;
    if (!isTensor && value.isObject()) {
      if (!kind)
        kind = interpreter.getAttr(h::Value(interpreter.nativeModule("torch")), "Tensor");
      isTensor = interpreter.isInstance(value, *kind);
    }
    needs.emplace_back(isTensor && interpreter.truth(interpreter.getAttr(value, "requires_grad")));
  }
  return h::Value::tuple(std::move(needs));
}

/// without_grad(function, args): as under no_grad().
h::Value callWithoutGrad(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  autograd::ModeGuard guard(tracer.gradients, false);
  return interpreter.call(a[0], a[1].elements());
}

/// save(ctx, outputs, node): what the context is to keep for the backward pass. Outputs among it
/// would hold what holds them.
h::Value saveInContext(h::Interpreter &interpreter, Bound &a) {
  const h::Value &ctx = a[0];
  const std::shared_ptr<autograd::Node> &node = a[2].as<NodeObject>()->node;
  const std::vector<h::Value> outputs = listOf(a[1]);
  h::List saved;
  for (const h::Value &one : listOf(interpreter.getAttr(ctx, "_to_save"))) {
    auto *tensor = one.as<TensorObject>();
    std::optional<uint32_t> place;
    for (uint32_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].isSame(one))
        place = i;
    saved.push_back(tensor
                        ? h::Value(std::make_shared<SavedObject>(interpreter, *tensor, place, node))
                        : h::Value());
  }
  const h::Value none = h::Value::tuple({});
  interpreter.setAttr(ctx, "_had_saved", h::Value(!saved.empty()));
  interpreter.setAttr(ctx, "_saved", h::Value::list(std::move(saved)));
  for (const char *name : {"_to_save", "_dirty", "_fixed"})
    interpreter.setAttr(ctx, name, none);
  return h::Value();
}

/// function(name, cls, ctx, args, outputs): the outputs have the Function as their grad_fn, but
/// those that its context says have none.
h::Value makeFunctionNode(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  auto node = std::make_shared<FunctionNode>(tracer, interpreter);
  node->title = a[0].str();
  node->function = a[1];
  node->ctx = a[2];
  for (const h::Value &input : a[3].elements())
    node->areTensors.emplace_back(input.as<TensorObject>() != nullptr);
  const std::vector<h::Value> stays = listOf(interpreter.getAttr(node->ctx, "_fixed"));
  h::List followed;
  for (const h::Value &output : a[4].elements()) {
    auto *tensor = output.as<TensorObject>();
    followed.push_back(tensor && !isAmong(stays, output) ? output : h::Value());
    if (!tensor) {
      node->kinds.emplace_back();
      continue;
    }
    h::List sizes;
    for (const Expr &size : tensor->tensor.type.shape)
      sizes.push_back(h::Value::integer(size));
    node->kinds.push_back(
        h::Value::tuple({h::Value::list(std::move(sizes)), dtypeValue(tensor->tensor.type.dtype)}));
  }
  link(node, a[3].elements(), followed);
  Bound saved = {node->ctx, h::Value::list(std::move(followed)),
                 h::Value(std::make_shared<NodeObject>(node))};
  return saveInContext(interpreter, saved);
}

/// An output that a Function wrote in place is rebased like any tensor that is written to.
h::Value rebase(h::Interpreter &interpreter, Bound &a) {
  TensorObject &tensor = tensorNamed(interpreter, a[0], "a dirty tensor");
  checkInPlace(interpreter, tensor);
  return h::Value();
}

} // namespace

h::Value autogradFunction(h::Interpreter &interpreter, const char *name) {
  auto module = interpreter.nativeModule("torch._pellucid_autograd");
  if (const h::Value *function = module->globals->find(std::string_view(name)))
    return *function;
  return *interpreter.nativeModule("torch._pellucid_transforms")
              ->globals->find(std::string_view(name));
}

std::optional<h::Value> gradientAttribute(h::Interpreter &interpreter, TensorObject &tensor,
                                          std::string_view name) {
  if (name == "requires_grad")
    return h::Value(requiresGrad(tensor));
  if (name == "is_leaf")
    return h::Value(isLeaf(tensor));
  if (name == "retains_grad")
    return h::Value(requiresGrad(tensor) && tensor.meta->retainsGrad);
  if (name == "grad")
    return tensor.meta ? tensor.meta->grad : h::Value();
  if (name == "_version")
    return h::Value(static_cast<int64_t>(tensor.tensor.storage->counted));
  if (name == "output_nr")
    return h::Value(static_cast<int64_t>(requiresGrad(tensor) ? tensor.meta->source.output : 0));
  if (name == "_base")
    return tensor.base ? selfOf(*tensor.base) : h::Value();
  if (name == "grad_fn") {
    if (!tensor.tracer.gradients.available)
      throw autograd::GradientsAsked();
    if (!requiresGrad(tensor) || !tensor.meta->source)
      return h::Value();
    return h::Value(std::make_shared<NodeObject>(tensor.meta->source.node));
  }
  static_cast<void>(interpreter);
  return std::nullopt;
}

bool setGradientAttribute(h::Interpreter &interpreter, TensorObject &tensor, std::string_view name,
                          const h::Value &value) {
  if (name == "requires_grad") {
    setRequiresGrad(interpreter, tensor, interpreter.truth(value));
    return true;
  }
  if (name != "grad")
    return false;
  auto *given = value.as<TensorObject>();
  if (!given && !value.isNone())
    interpreter.raise("TypeError", "assigned grad expected to be a Tensor or None but got grad of "
                                   "type " +
                                       h::typeName(value));
  if (given && given->tensor.type.shape != tensor.tensor.type.shape)
    interpreter.raise("RuntimeError", "assigned grad has data of a different size");
  if (given && given->tensor.type.dtype != tensor.tensor.type.dtype)
    interpreter.raise("RuntimeError", "assigned grad has data of a different type");
  if (given || tensor.meta)
    metaOf(tensor).grad = value;
  return true;
}

void retainGrad(h::Interpreter &interpreter, TensorObject &tensor) {
  if (!tensor.tracer.gradients.available)
    throw autograd::GradientsAsked();
  if (!requiresGrad(tensor))
    interpreter.raise("RuntimeError", "can't retain_grad on Tensor that has requires_grad=False");
  autograd::Meta &meta = *tensor.meta;
  if (!meta.source || meta.retainsGrad)
    return;
  meta.retainsGrad = true;
  meta.source.node->retained.emplace_back(meta.source.output, tensor.meta);
}

h::Value registerHook(h::Interpreter &interpreter, TensorObject &tensor, h::Value hook,
                      bool afterAccumulation) {
  if (!tensor.tracer.gradients.available)
    throw autograd::GradientsAsked();
  if (!requiresGrad(tensor))
    interpreter.raise("RuntimeError",
                      "cannot register a hook on a tensor that doesn't require gradient");
  std::shared_ptr<autograd::Meta> meta = tensor.meta;
  if (afterAccumulation) {
    if (meta->source)
      interpreter.raise("RuntimeError",
                        "post accumulate grad hooks cannot be registered on non-leaf tensors");
    uint64_t number = meta->afterAccumulation.add(hook);
    return NodeObject::handleOf(
        interpreter, h::nativeRaw("remove", [meta, number](h::Interpreter &, h::CallArgs) {
          meta->afterAccumulation.remove(number);
          return h::Value();
        }));
  }
  if (!meta->source) {
    uint64_t number = meta->hooks->add(hook);
    return NodeObject::handleOf(
        interpreter, h::nativeRaw("remove", [meta, number](h::Interpreter &, h::CallArgs) {
          meta->hooks->remove(number);
          return h::Value();
        }));
  }
  Edge edge = meta->source;
  uint64_t number = edge.node->hooksOf(edge.output).add(hook);
  return NodeObject::handleOf(interpreter,
                              h::nativeRaw("remove", [edge, number](h::Interpreter &, h::CallArgs) {
                                edge.node->hooksOf(edge.output).remove(number);
                                return h::Value();
                              }));
}

void addTorchAutograd(h::NativeModules &modules, Tracer &tracer) {
  addDerivatives(modules);
  modules.add("torch._pellucid_tape", [&tracer](h::Interpreter &, h::Module &module) {
    h::Namespace &names = *module.globals;
    names.set("_pack", h::Value());
    names.set("_unpack", h::Value());
    names.set("set_hooks", h::native("set_hooks", "pack, unpack", [](h::Interpreter &i, Bound &a) {
                h::Namespace &own = *i.nativeModule("torch._pellucid_tape")->globals;
                h::Value before = h::Value::tuple({own.at("_pack"), own.at("_unpack")});
                own.set("_pack", a[0]);
                own.set("_unpack", a[1]);
                return before;
              }));
    names.set("run", h::native("run", "roots, gradients, keeps, creates, wanted, check=None",
                               [&tracer](h::Interpreter &i, Bound &a) {
                                 return runEngine(tracer, i, a);
                               }));
    names.set("node",
              h::native("node", "name, inputs, outputs, backward, ctx=None",
                        [&tracer](h::Interpreter &i, Bound &a) { return makeNode(tracer, i, a); }));
    names.set("saved", h::native("saved", "tensor, node", [](h::Interpreter &i, Bound &a) {
                return h::Value(std::make_shared<SavedObject>(
                    i, *a[0].as<TensorObject>(), std::nullopt, a[1].as<NodeObject>()->node));
              }));
    names.set("save", h::native("save", "ctx, outputs, node", saveInContext));
    names.set("stands_in", h::native("stands_in", "values, one", standsIn));
    // Of text of ours whose operators follow from its arguments: they are recorded again.
    names.set("repeated", h::nativeRaw("repeated", [&tracer](h::Interpreter &i, h::CallArgs args) {
                h::Value function = args.positional.at(0);
                args.positional.erase(args.positional.begin());
                return tracer.recorder
                           ? tracer.recorder->formulas().call(i, function, std::move(args))
                           : i.call(function, std::move(args));
              }));
    names.set("needs", h::native("needs", "args", needsOf));
    names.set("function", h::native("function", "name, cls, ctx, args, outputs",
                                    [&tracer](h::Interpreter &i, Bound &a) {
                                      return makeFunctionNode(tracer, i, a);
                                    }));
    names.set("without_grad",
              h::native("without_grad", "function, args", [&tracer](h::Interpreter &i, Bound &a) {
                return callWithoutGrad(tracer, i, a);
              }));
    names.set("detached", h::native("detached", "tensor", [](h::Interpreter &, Bound &a) {
                return h::Value(detached(*a[0].as<TensorObject>()));
              }));
    names.set("check_in_place", h::native("check_in_place", "tensor", rebase));
    names.set("written", h::native("written", "tensor", [](h::Interpreter &i, Bound &a) {
                TensorObject &tensor = tensorNamed(i, a[0], "a dirty tensor");
                ++tensor.tensor.storage->counted;
                tensor.seen = tensor.tensor.storage->counted;
                return h::Value();
              }));
    names.set("accumulate",
              h::native("accumulate", "leaf, gradient", [](h::Interpreter &i, Bound &a) {
                accumulateGradient(i, *a[0].as<TensorObject>(), a[1]);
                return h::Value();
              }));
    names.set("draws", h::native("draws", "", [&tracer](h::Interpreter &, Bound &) {
                return h::Value(tracer.draws);
              }));
    // Reverse mode is on from here, or the trace begins again with it.
    names.set("ask", h::native("ask", "", [&tracer](h::Interpreter &, Bound &) {
                if (!tracer.gradients.available)
                  throw autograd::GradientsAsked();
                return h::Value();
              }));
    names.set("mode", h::native("mode", "", [&tracer](h::Interpreter &, Bound &) {
                const autograd::Mode &mode = tracer.gradients;
                return h::Value::tuple({h::Value(mode.available && mode.enabled),
                                        h::Value(mode.inference), h::Value(mode.enabled)});
              }));
    names.set("set_mode",
              h::native("set_mode", "enabled, inference", [&tracer](h::Interpreter &i, Bound &a) {
                tracer.gradients.enabled = i.truth(a[0]);
                tracer.gradients.inference = i.truth(a[1]);
                return h::Value();
              }));
    names.set("formulas", h::native("formulas", "", [](h::Interpreter &i, Bound &) {
                h::List list;
                for (const std::string &target : derivativeTargets(i, true))
                  list.push_back(h::Value(target));
                return h::Value::list(std::move(list));
              }));
  });
  modules.add("torch._pellucid_autograd", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource("torch_autograd_source",
                                           std::make_shared<SourceFile>("<torch>", autogradSource));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch._pellucid_transforms", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_transforms_source", std::make_shared<SourceFile>("<torch>", transformSource));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  auto lend = [&modules](const char *to, std::vector<std::string> names) {
    modules.add(to, [names](h::Interpreter &interpreter, h::Module &module) {
      for (const std::string &name : names) {
        size_t colon = name.find('=');
        module.globals->set(
            name.substr(0, colon),
            autogradFunction(interpreter,
                             name.substr(colon == std::string::npos ? 0 : colon + 1).c_str()));
      }
    });
  };
  // Read when they are called: most files want no more than these.
  modules.add("torch", [](h::Interpreter &, h::Module &module) {
    for (const char *name :
         {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "is_grad_enabled",
          "is_inference_mode_enabled", "is_anomaly_enabled", "is_anomaly_check_nan_enabled"})
      module.globals->set(
          name,
          h::nativeRaw(std::string("torch.") + name, [name](h::Interpreter &i, h::CallArgs args) {
            return i.call(autogradFunction(i, name), std::move(args));
          }));
  });
  lend("torch.autograd", {"backward", "grad", "Function", "no_grad", "enable_grad",
                          "inference_mode", "set_grad_enabled", "gradcheck", "gradgradcheck",
                          "set_detect_anomaly", "detect_anomaly", "Variable"});
  lend("torch.autograd.function", {"Function", "once_differentiable", "FunctionCtx"});
  lend("torch.autograd.grad_mode",
       {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled"});
  lend("torch.autograd.gradcheck", {"gradcheck", "gradgradcheck"});
  lend("torch.autograd.graph", {"saved_tensors_hooks", "save_on_cpu"});
  lend("torch.autograd.functional", {"vjp", "jvp", "jacobian", "hessian", "vhp", "hvp"});
  lend("torch.utils.checkpoint", {"checkpoint", "checkpoint_sequential"});
  lend("torch.func",
       {"grad=_func_grad", "grad_and_value=_func_grad_and_value", "vjp=_func_vjp",
        "jacrev=_func_jacrev", "jvp=_func_jvp", "jacfwd=_func_jacfwd", "hessian=_func_hessian",
        "linearize=_func_linearize", "functionalize=_func_functionalize",
        "functional_call=_func_functional_call", "stack_module_state=_func_stack_module_state"});
}

} // namespace pellucid::trace
