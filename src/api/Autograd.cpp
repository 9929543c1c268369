// SPDX-License-Identifier: Apache-2.0
// Gradients of recorded tensors: torch.autograd of the session.
#include "api/Functions.h"
#include "api/Session.h"
#include "trace/Gradients.h"

namespace pellucid {

using namespace api;
namespace h = pellucid::host;

namespace {

/// The session's state of a recorded tensor; null for one in memory. Error inside of a trace.
const TensorState *recordedState(const Tensor &tensor, const char *what) {
  const TensorState &state = stateOf(tensor, what);
  if (isTraced(state) || (Recording::active() && !Recording::active()->isSession()))
    throw Error(std::string(what) +
                ": a function that is traced is not differentiated; export_training traces a step "
                "with its gradients");
  return state.recording ? &state : nullptr;
}

trace::TensorObject &recordedObject(const Tensor &tensor, const char *what) {
  const TensorState *state = recordedState(tensor, what);
  if (!state)
    throw Error(std::string(what) +
                ": element 0 of tensors does not require grad and does not have a grad_fn");
  return *state->object;
}

h::Value optionalFlag(std::optional<bool> flag) { return flag ? h::Value(*flag) : h::Value(); }

/// Runs `body` in the session.
template <typename F> auto inSession(F &&body) {
  return guarded([&] {
    Session &session = *Session::get();
    Session::Entered entered(session);
    return body(session);
  });
}

h::Value attribute(Session &session, const Tensor &tensor, const char *name) {
  return session.interpreter().getAttr(h::Value(tensor.state->object), name);
}

} // namespace

bool GradMode::is_enabled() { return Session::gradEnabled(); }
void GradMode::set_enabled(bool enabled) { Session::setGradEnabled(enabled); }

//===-- tensors -------------------------------------------------------------------------------===//

bool Tensor::requires_grad() const {
  const TensorState &s = stateOf(*this, "requires_grad");
  return s.recording && !isTraced(s) &&
         inSession([&](Session &) { return trace::requiresGrad(*s.object); });
}

const Tensor &Tensor::requires_grad_(bool requiresGrad) const {
  const TensorState *s = recordedState(*this, "requires_grad_");
  if (!s && !requiresGrad)
    return *this;
  if (!s && !isFloat(toDataType(scalar_type())))
    throw Error("only Tensors of floating point dtype can require gradients");
  inSession([&](Session &session) {
    if (!s)
      session.take(*this);
    trace::setRequiresGrad(session.interpreter(), session.objectOf(*this), requiresGrad);
  });
  return *this;
}

bool Tensor::is_leaf() const {
  const TensorState &s = stateOf(*this, "is_leaf");
  return !s.recording || isTraced(s) ||
         inSession([&](Session &) { return trace::isLeaf(*s.object); });
}

Tensor Tensor::grad() const {
  if (!recordedState(*this, "grad"))
    return {};
  return inSession(
      [&](Session &session) { return session.tensorFrom(attribute(session, *this, "grad")); });
}

void Tensor::set_grad(const Tensor &gradient) const {
  trace::TensorObject &object = recordedObject(*this, "set_grad");
  inSession([&](Session &session) {
    session.interpreter().setAttr(h::Value(object.shared_from_this()), "grad",
                                  gradient.state ? session.toHost(Argument(gradient)) : h::Value());
  });
}

void Tensor::backward(const Tensor &gradient, std::optional<bool> retainGraph,
                      bool createGraph) const {
  recordedObject(*this, "backward");
  autograd::backward({*this}, {gradient}, retainGraph, createGraph);
}

Tensor Tensor::detach() const {
  if (stateOf(*this, "detach").recording)
    return guarded([&] { return callBuiltin("aten::detach", {*this}, {}).at(0); });
  return wrapState(TensorState(*state));
}

Tensor Tensor::clone() const {
  return guarded([&] { return callBuiltin("aten::clone", {*this}, {}).at(0); });
}

void Tensor::retain_grad() const {
  trace::TensorObject &object = recordedObject(*this, "retain_grad");
  inSession([&](Session &session) { trace::retainGrad(session.interpreter(), object); });
}

uint64_t Tensor::register_hook(std::function<Tensor(Tensor)> hook) const {
  trace::TensorObject &object = recordedObject(*this, "register_hook");
  return inSession([&](Session &session) {
    h::Value function = h::nativeRaw(
        "hook", [&session, hook = std::move(hook)](h::Interpreter &, const h::CallArgs &args) {
          Tensor given = hook(session.tensorFrom(args.positional.at(0)));
          return given.state ? session.toHost(Argument(given)) : h::Value();
        });
    session.hooks[++session.lastHook] =
        trace::registerHook(session.interpreter(), object, function, false);
    return session.lastHook;
  });
}

void Tensor::remove_hook(uint64_t number) const {
  inSession([&](Session &session) {
    auto known = session.hooks.find(number);
    if (known == session.hooks.end())
      throw Error("remove_hook: there is no hook " + std::to_string(number));
    session.callMethod(known->second, "remove");
    session.hooks.erase(known);
  });
}

//===-- backward and grad ---------------------------------------------------------------------===//

namespace autograd {

namespace {

/// One per output, None where the caller gives none.
h::Value gradientsOf(Session &session, const variable_list &gradients) {
  return gradients.empty() ? h::Value() : session.listOf(gradients);
}

void checkRecorded(const variable_list &tensors, const char *what) {
  if (tensors.empty())
    throw Error(std::string(what) + ": there are no tensors");
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!recordedState(tensors[i], what))
      throw Error(std::string(what) + ": element " + std::to_string(i) +
                  " of tensors does not require grad and does not have a grad_fn");
}

} // namespace

void backward(const variable_list &tensors, const variable_list &gradients,
              std::optional<bool> retainGraph, bool createGraph) {
  checkRecorded(tensors, "backward");
  inSession([&](Session &session) {
    session.call([&](Recording &) {
      session.callMethod(
          session.torch("autograd.backward"), nullptr,
          {session.listOf(tensors), gradientsOf(session, gradients)},
          {{"retain_graph", optionalFlag(retainGraph)}, {"create_graph", h::Value(createGraph)}});
      return variable_list();
    });
  });
}

variable_list grad(const variable_list &outputs, const variable_list &inputs,
                   const variable_list &gradients, std::optional<bool> retainGraph,
                   bool createGraph, bool allowUnused) {
  checkRecorded(outputs, "grad");
  checkRecorded(inputs, "grad");
  return inSession([&](Session &session) {
    return session.call([&](Recording &) {
      return session.tensorsFrom(session.callMethod(
          session.torch("autograd.grad"), nullptr,
          {session.listOf(outputs), session.listOf(inputs), gradientsOf(session, gradients)},
          {{"retain_graph", optionalFlag(retainGraph)},
           {"create_graph", h::Value(createGraph)},
           {"allow_unused", h::Value(allowUnused)}}));
    });
  });
}

//===-- functions -----------------------------------------------------------------------------===//

namespace {

/// Of a context inside of its function, nothing of a call that is not recorded.
const h::Value *contextOf(const AutogradContext &context, const char *what) {
  if (!context.state)
    throw Error(std::string(what) + ": the context is used outside of its forward and backward");
  return context.state->value.isNone() ? nullptr : &context.state->value;
}

void callWithTensors(const AutogradContext &context, const char *name,
                     const variable_list &tensors) {
  const h::Value *own = contextOf(context, name);
  if (!own)
    return;
  Session &session = *Session::get();
  std::vector<h::Value> values;
  for (const Tensor &tensor : tensors)
    values.push_back(tensor.state ? session.toHost(Argument(tensor)) : h::Value());
  session.callMethod(*own, name, std::move(values));
}

h::Value tupleOf(Session &session, const variable_list &tensors) {
  h::Tuple values;
  for (const Tensor &tensor : tensors)
    values.push_back(tensor.state ? session.toHost(Argument(tensor)) : h::Value());
  return h::Value::tuple(std::move(values));
}

/// The tensors of a call behind its context.
variable_list tensorsBehind(Session &session, const h::CallArgs &args) {
  variable_list tensors;
  for (size_t i = 1; i < args.positional.size(); ++i)
    if (args.positional[i].isList())
      for (Tensor &tensor : session.tensorsFrom(args.positional[i]))
        tensors.push_back(std::move(tensor));
    else
      tensors.push_back(session.tensorFrom(args.positional[i]));
  return tensors;
}

void refuseLists(const std::string &name, const std::vector<Argument> &arguments) {
  if (!GradMode::is_enabled())
    return;
  for (const Argument &argument : arguments)
    if (auto *list = std::get_if<std::vector<Tensor>>(&argument))
      for (const Tensor &tensor : *list)
        if (tensor.defined() && tensor.requires_grad())
          throw Error("function '" + name +
                      "': a tensor in a list requires grad, and gradients go to tensors that are "
                      "arguments themselves; pass it as one");
}

} // namespace

BoundContext::BoundContext(AutogradContext &c, h::Value value) : context(c) {
  context.state = std::make_shared<pellucid::detail::HookState>();
  context.state->value = std::move(value);
}

BoundContext::~BoundContext() { context.state.reset(); }

h::Value backwardFunction(Session &session, std::shared_ptr<AutogradContext> context,
                          detail::Backward backward) {
  return h::nativeRaw(
      "backward", [&session, context = std::move(context),
                   backward = std::move(backward)](h::Interpreter &, const h::CallArgs &args) {
        BoundContext bound(*context, args.positional.at(0));
        return tupleOf(session, backward(context.get(), tensorsBehind(session, args)));
      });
}

void AutogradContext::save_for_backward(variable_list tensors) {
  callWithTensors(*this, "save_for_backward", tensors);
}
void AutogradContext::mark_dirty(const variable_list &inputs) {
  callWithTensors(*this, "mark_dirty", inputs);
}
void AutogradContext::mark_non_differentiable(const variable_list &outputs) {
  callWithTensors(*this, "mark_non_differentiable", outputs);
}

variable_list AutogradContext::get_saved_variables() const {
  const h::Value *own = contextOf(*this, "get_saved_variables");
  if (!own)
    return {};
  Session &session = *Session::get();
  return session.tensorsFrom(session.interpreter().getAttr(*own, "saved_tensors"));
}

void AutogradContext::set_materialize_grads(bool value) {
  if (const h::Value *own = contextOf(*this, "set_materialize_grads"))
    Session::get()->callMethod(*own, "set_materialize_grads", {h::Value(value)});
}

bool AutogradContext::needs_input_grad(size_t index) const {
  const h::Value *own = contextOf(*this, "needs_input_grad");
  if (!own)
    return false;
  h::Value all = Session::get()->interpreter().getAttr(*own, "needs_input_grad");
  constexpr size_t before = 2; // the two functions of the glue
  if (index + before >= all.elements().size())
    throw Error("needs_input_grad: the forward has " +
                std::to_string(all.elements().size() - before) + " arguments, " +
                std::to_string(index) + " is asked for");
  return all.elements()[index + before].boolean();
}

void detail::refuseArgument(size_t position) {
  throw Error("argument " + std::to_string(position) +
              " of a Function's apply is of another type than forward's parameter");
}

variable_list detail::applyFunction(const std::string &name, const Forward &forward,
                                    const Backward &backward,
                                    const std::vector<Argument> &arguments) {
  return guarded([&]() -> variable_list {
    auto context = std::make_shared<AutogradContext>();
    if (!Session::takes(arguments)) {
      BoundContext bound(*context, {});
      return forward(context.get(), arguments);
    }
    refuseLists(name, arguments);
    Session &session = *Session::get();
    return session.call([&](Recording &) {
      h::Value run = h::nativeRaw("forward", [&](h::Interpreter &, const h::CallArgs &args) {
        BoundContext bound(*context, args.positional.at(0));
        variable_list tensors = tensorsBehind(session, args);
        std::vector<Argument> given = arguments;
        for (size_t i = 0; i < given.size(); ++i)
          if (std::holds_alternative<Tensor>(given[i]))
            given[i] = tensors.at(i);
        return tupleOf(session, forward(context.get(), given));
      });
      h::Value back = backwardFunction(
          session, context,
          [name, backward, count = arguments.size()](AutogradContext *own, variable_list given) {
            variable_list gradients = backward(own, std::move(given));
            if (gradients.size() != count)
              throw Error("function " + name +
                          "Backward returned an incorrect number of gradients (expected " +
                          std::to_string(count) + ", got " + std::to_string(gradients.size()) +
                          ")");
            return gradients;
          });
      std::vector<h::Value> inputs{run, back};
      for (const Argument &argument : arguments)
        inputs.push_back(std::holds_alternative<Tensor>(argument) ? session.toHost(argument)
                                                                  : h::Value());
      h::Value made = session.callMethod(session.glue("function"), nullptr, {h::Value(name)});
      return session.tensorsFrom(session.callMethod(made, "apply", std::move(inputs)));
    });
  });
}

} // namespace autograd

//===-- losses --------------------------------------------------------------------------------===//

static Tensor lossOf(const char *name, const Tensor &input, const Tensor &target) {
  return guarded([&] {
    return callBuiltin(std::string("torch::nn.functional.") + name, {input, target}, {}).at(0);
  });
}

Tensor mse_loss(const Tensor &input, const Tensor &target) {
  return lossOf("mse_loss", input, target);
}
Tensor cross_entropy(const Tensor &input, const Tensor &target) {
  return lossOf("cross_entropy", input, target);
}

} // namespace pellucid
