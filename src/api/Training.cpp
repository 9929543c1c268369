// SPDX-License-Identifier: Apache-2.0
// Training steps as programs: traced in the session, whose tensors are state of the program.
#include "api/Session.h"
#include "trace/Gradients.h"
#include "trace/TraceSession.h"

#include <set>

namespace pellucid {

using namespace api;
using graph::InputSpec;
using trace::TensorObject;
namespace h = pellucid::host;

namespace {

/// An entry of the optimiser's state for one parameter.
struct StateEntry {
  std::string name; ///< "optimizer.state.weight.exp_avg"
  h::Value container;
  h::Value key;
  h::Value before;
};

bool isSame(const h::Value &a, const h::Value &b) {
  auto *x = a.as<TensorObject>(), *y = b.as<TensorObject>();
  return x || y ? x == y : h::equal(a, b);
}

/// What a step may change beside its inputs. As it was again when the trace is over.
class TrainedState {
public:
  TrainedState(Session &s, nn::Module &module, const optim::Optimizer &o)
      : session(s), interpreter(s.interpreter()), optimizer(o.held->value) {
    for (auto &[name, tensor] : module.named_parameters())
      add(name, tensor);
    for (auto &[name, tensor] : module.named_buffers())
      add(name, tensor);
    session.callMethod(optimizer, "_begin_all");
    collectStates();
    collectGroups();
  }

  ~TrainedState() {
    for (const auto &[tensor, gradient] : gradients)
      trace::metaOf(*tensor).grad = gradient;
    for (StateEntry &entry : entries)
      interpreter.setItem(entry.container, entry.key, entry.before);
    for (StateEntry &entry : options)
      interpreter.setItem(entry.container, entry.key, entry.before);
  }
  TrainedState(const TrainedState &) = delete;
  TrainedState &operator=(const TrainedState &) = delete;

  void bind(trace::EagerRecorder::NestedTrace &nested) {
    std::set<const trace::TracedStorage *> bound;
    auto one = [&](const std::string &name, TensorObject &tensor) {
      if (bound.insert(tensor.tensor.storage.get()).second)
        nested.bind(tensor.tensor, name, InputSpec::Kind::Buffer);
    };
    for (auto &[name, tensor] : tensors)
      one(name, *tensor);
    for (StateEntry &entry : entries)
      if (auto *tensor = entry.before.as<TensorObject>())
        one(entry.name, *tensor);
    for (StateEntry &entry : options)
      if (auto *tensor = entry.before.as<TensorObject>())
        one(entry.name, *tensor);
  }

  /// A gradient that is there when the step begins may not be read: packages keep none.
  void hideGradients() {
    for (auto &[name, tensor] : tensors) {
      if (!trace::requiresGrad(*tensor))
        continue;
      gradients.emplace_back(tensor, trace::metaOf(*tensor).grad);
      auto hidden = trace::detached(*tensor);
      hidden->tensor.storage = std::make_shared<trace::TracedStorage>(*tensor->tensor.storage);
      hidden->tensor.storage->unreadable =
          "the step adds to the gradient that the step before left on '" + name +
          "'; call the optimiser's or the module's zero_grad() before backward()";
      trace::metaOf(*tensor).grad = h::Value(hidden);
    }
  }

  /// What the step put into the optimiser's state in place of what was there is written to it.
  void writeBack() {
    for (StateEntry &entry : entries) {
      h::Value now = interpreter.contains(entry.container, entry.key)
                         ? interpreter.getItem(entry.container, entry.key)
                         : h::Value();
      if (isSame(now, entry.before))
        continue;
      if (!now.as<TensorObject>() || !entry.before.as<TensorObject>()) {
        checkUnchanged(entry, now);
        continue;
      }
      autograd::ModeGuard guard(session.tracer.gradients, false);
      session.callMethod(entry.before, "copy_", {now});
    }
    for (const StateEntry &entry : options)
      checkUnchanged(entry, interpreter.getItem(entry.container, entry.key));
  }

private:
  void add(const std::string &name, const Tensor &tensor) {
    if (!stateOf(tensor, name.c_str()).recording)
      session.take(tensor);
    tensors.emplace_back(name, tensor.state->object);
  }

  std::string nameOf(const h::Value &parameter) const {
    for (const auto &[name, tensor] : tensors)
      if (parameter.as<TensorObject>() == tensor.get())
        return name;
    throw Error("export_training: a parameter of the optimiser is none of the module's");
  }

  void collectStates() {
    h::Value all = interpreter.getAttr(optimizer, "state");
    for (const auto &[parameter, state] : h::contentOf(all).dictionary().items())
      for (const auto &[key, value] : h::contentOf(state).dictionary().items())
        entries.push_back({"optimizer.state." + nameOf(parameter) + "." + interpreter.str(key),
                           state, key, value});
  }

  void collectGroups() {
    h::Value groups = interpreter.getAttr(optimizer, "param_groups");
    for (size_t g = 0; g < groups.elements().size(); ++g)
      for (const auto &[key, value] : h::contentOf(groups.elements()[g]).dictionary().items()) {
        if (key.isStr() && key.str() == "params") {
          for (const h::Value &parameter : value.elements())
            (void)nameOf(parameter);
          continue;
        }
        options.push_back(
            {"optimizer.param_groups." + std::to_string(g) + "." + interpreter.str(key),
             groups.elements()[g], key, value});
      }
  }

  void checkUnchanged(const StateEntry &entry, const h::Value &now) const {
    if (!isSame(now, entry.before))
      throw Error("export_training: the step changes '" + entry.name + "' from " +
                  h::repr(entry.before) + " to " + h::repr(now) +
                  ", which is not a tensor and so cannot be state of a package");
  }

  Session &session;
  h::Interpreter &interpreter;
  h::Value optimizer;
  std::vector<std::pair<std::string, std::shared_ptr<TensorObject>>> tensors;
  std::vector<StateEntry> entries, options;
  std::vector<std::pair<std::shared_ptr<TensorObject>, h::Value>> gradients;
};

/// While it lives, what torch makes is part of the program.
struct InsideProgram {
  explicit InsideProgram(h::Interpreter &i) : interpreter(i) {
    trace::setConstructing(interpreter, false);
  }
  ~InsideProgram() { trace::setConstructing(interpreter, true); }
  h::Interpreter &interpreter;
};

} // namespace

ExportedProgram export_training(nn::Module &module, optim::Optimizer &optimizer,
                                const Function &step, const std::vector<Tensor> &examples,
                                const DynamicShapes &dynamic,
                                const std::vector<std::string> &names) {
  return guarded([&] {
    if (Recording::active())
      throw Error("a trace cannot be started inside of another");
    if (!optimizer.held)
      throw Error("the optimiser is empty");
    Session &session = *Session::get();
    Session::Entered entered(session);
    symbolic::SymbolTable symbols;
    std::vector<NamedInput> inputs = inputsOf(symbols, examples, dynamic, names);
    TrainedState state(session, module, optimizer);
    ExportedProgram exported;
    exported.state = std::make_shared<detail::ProgramState>();
    auto warn = std::exchange(session.tracer.warn, [&](Diagnostic warning) {
      exported.state->warnings.push_back(render(warning));
    });
    struct Restore {
      std::function<void(Diagnostic)> &place, before;
      ~Restore() { place = std::move(before); }
    } restore{session.tracer.warn, std::move(warn)};
    trace::EagerRecorder::NestedTrace nested(session.eager().recorder(), symbols);
    InsideProgram inside(session.interpreter());
    state.bind(nested);
    state.hideGradients();
    std::vector<Tensor> given;
    for (const NamedInput &input : inputs)
      given.push_back(session.fromTraced(nested.input(input.name, input.type)));
    std::vector<Tensor> results = step(given);
    state.writeBack();
    std::vector<trace::TracedTensor> traced;
    for (const Tensor &result : results) {
      if (!stateOf(result, "a result").recording)
        throw Error("export_training: a result of the step does not depend on its inputs or "
                    "parameters");
      traced.push_back(session.objectOf(result).tensor);
    }
    exported.state->program = nested.finish(traced, session.interpreter().location());
    exported.state->program.sourceNames = session.sourceNames;
    return exported;
  });
}

} // namespace pellucid
