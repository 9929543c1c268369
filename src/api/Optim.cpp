// SPDX-License-Identifier: Apache-2.0
// torch.optim of the session, and files of what is trained.
#include "api/Session.h"

namespace pellucid {

using namespace api;
namespace h = pellucid::host;

namespace optim {

void Options::set(const char *name, Argument value) {
  for (auto &[known, old] : values)
    if (known == name) {
      old = std::move(value);
      return;
    }
  values.emplace_back(name, std::move(value));
}

namespace {

const h::Value &optimizerObject(const Optimizer &optimizer) {
  if (!optimizer.held)
    throw Error("the optimiser is empty");
  return optimizer.held->value;
}

std::vector<std::pair<std::string, h::Value>> keywordsOf(Session &session, const Options &options) {
  std::vector<std::pair<std::string, h::Value>> keywords;
  for (const auto &[name, value] : options.values)
    keywords.emplace_back(name, session.toHost(value));
  for (const auto &[name, pair] : options.pairs) {
    std::erase_if(keywords, [&](const auto &known) { return known.first == name; });
    keywords.emplace_back(name, h::Value::tuple({h::Value(pair.first), h::Value(pair.second)}));
  }
  return keywords;
}

h::Value parametersOf(Session &session, const std::vector<Tensor> &parameters) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const TensorState &state = stateOf(parameters[i], "a parameter");
    if (!state.recording || isTraced(state))
      throw Error("parameter " + std::to_string(i) +
                  " of the optimiser does not require grad; call requires_grad_() on it first");
  }
  return session.listOf(parameters);
}

template <typename F> auto inOptimizerSession(F &&body) {
  return guarded([&] {
    if (Recording *active = Recording::active(); active && !active->isSession())
      throw Error("an optimiser cannot be used in a function that is traced; export_training "
                  "traces a step with its optimiser");
    Session &session = *Session::get();
    Session::Entered entered(session);
    return body(session);
  });
}

h::Value groupOf(Session &session, const Optimizer &optimizer, size_t group) {
  h::Value groups = session.interpreter().getAttr(optimizerObject(optimizer), "param_groups");
  if (group >= groups.elements().size())
    throw Error("the optimiser has " + std::to_string(groups.elements().size()) +
                " groups of parameters; group " + std::to_string(group) + " is asked for");
  return groups.elements()[group];
}

/// A number of a group, which must be there.
h::Value optionOf(Session &session, const Optimizer &optimizer, const std::string &name,
                  size_t group) {
  h::Value options = groupOf(session, optimizer, group);
  const h::Value *value = options.dictionary().find(std::string_view(name));
  if (!value || !(value->isFloat() || value->isInt() || value->isBool()))
    throw Error("the optimiser has no number '" + name + "'");
  return *value;
}

} // namespace

Optimizer::Optimizer(const char *name, const std::vector<Tensor> &parameters,
                     const Options &options) {
  inOptimizerSession([&](Session &session) {
    held = std::make_shared<detail::HookState>();
    held->value =
        session.callMethod(session.torch("optim"), name, {parametersOf(session, parameters)},
                           keywordsOf(session, options));
  });
}

void Optimizer::step() {
  inOptimizerSession([&](Session &session) { session.callMethod(optimizerObject(*this), "step"); });
}

Tensor Optimizer::step(const std::function<Tensor()> &closure) {
  return inOptimizerSession([&](Session &session) {
    h::Value function = h::nativeRaw("closure", [&](h::Interpreter &, const h::CallArgs &) {
      return session.toHost(Argument(closure()));
    });
    return session.tensorFrom(session.callMethod(optimizerObject(*this), "step", {function}));
  });
}

void Optimizer::zero_grad(bool setToNone) {
  inOptimizerSession([&](Session &session) {
    session.callMethod(optimizerObject(*this), "zero_grad", {h::Value(setToNone)});
  });
}

void Optimizer::add_param_group(const std::vector<Tensor> &parameters, const Options &options) {
  inOptimizerSession([&](Session &session) {
    h::Dict group;
    group.set(h::Value("params"), parametersOf(session, parameters));
    for (auto &[name, value] : keywordsOf(session, options))
      group.set(h::Value(name), value);
    session.callMethod(optimizerObject(*this), "add_param_group",
                       {h::Value::dict(std::move(group))});
  });
}

size_t Optimizer::param_group_count() const {
  return inOptimizerSession([&](Session &session) {
    return session.interpreter().getAttr(optimizerObject(*this), "param_groups").elements().size();
  });
}

double Optimizer::option(const std::string &name, size_t group) const {
  return inOptimizerSession([&](Session &session) {
    return session.interpreter().toDouble(optionOf(session, *this, name, group), name);
  });
}

void Optimizer::set_option(const std::string &name, double value, size_t group) {
  inOptimizerSession([&](Session &session) {
    if (!optionOf(session, *this, name, group).isFloat())
      throw Error("the optimiser's '" + name +
                  "' is not a floating-point number, and is set when it is made");
    session.interpreter().setItem(groupOf(session, *this, group), h::Value(name), h::Value(value));
  });
}

Tensor Optimizer::state(const Tensor &parameter, const std::string &name) const {
  return inOptimizerSession([&](Session &session) -> Tensor {
    const TensorState &known = stateOf(parameter, "state");
    if (!known.recording || isTraced(known))
      return {};
    h::Interpreter &interpreter = session.interpreter();
    h::Value all = interpreter.getAttr(optimizerObject(*this), "state"), key(known.object);
    if (!interpreter.contains(all, key))
      return {};
    h::Value entry = interpreter.getItem(all, key);
    return interpreter.contains(entry, h::Value(name))
               ? session.tensorFrom(interpreter.getItem(entry, h::Value(name)))
               : Tensor();
  });
}

} // namespace optim

//===-- files ---------------------------------------------------------------------------------===//

namespace {

std::vector<std::pair<std::string, Tensor>> namedTensors(const nn::Module &module) {
  auto tensors = module.named_parameters();
  for (auto &entry : module.named_buffers())
    tensors.push_back(std::move(entry));
  return tensors;
}

template <typename F> void outsideOfTraces(const char *what, F &&body) {
  guarded([&] {
    if (Recording::active())
      throw Error(std::string(what) + ": files are not for functions that are traced");
    Session &session = *Session::get();
    session.call([&](Recording &) {
      body(session);
      return std::vector<Tensor>();
    });
  });
}

void saveValue(Session &session, const h::Value &value, const std::string &path) {
  session.callMethod(session.torch("save"), nullptr, {value, h::Value(path)});
}

h::Value loadValue(Session &session, const std::string &path) {
  return session.callMethod(session.torch("load"), nullptr, {h::Value(path)});
}

} // namespace

void save(const nn::Module &module, const std::string &path) {
  outsideOfTraces("save", [&](Session &session) {
    h::Dict dict;
    for (const auto &[name, tensor] : namedTensors(module))
      dict.set(h::Value(name), session.toHost(Argument(tensor.detach())));
    saveValue(session, h::Value::dict(std::move(dict)), path);
  });
}

void save(const optim::Optimizer &optimizer, const std::string &path) {
  outsideOfTraces("save", [&](Session &session) {
    if (!optimizer.held)
      throw Error("the optimiser is empty");
    saveValue(session, session.callMethod(optimizer.held->value, "state_dict"), path);
  });
}

void load(optim::Optimizer &optimizer, const std::string &path) {
  outsideOfTraces("load", [&](Session &session) {
    if (!optimizer.held)
      throw Error("the optimiser is empty");
    session.callMethod(optimizer.held->value, "load_state_dict", {loadValue(session, path)});
  });
}

void load(nn::Module &module, const std::string &path) {
  std::map<std::string, Tensor> given;
  outsideOfTraces("load", [&](Session &session) {
    h::Value dict = loadValue(session, path);
    if (!dict.isDict())
      throw Error(path + ": error: the file does not hold a dict of tensors");
    for (const auto &[key, value] : dict.dictionary().items())
      if (Tensor tensor = session.tensorFrom(value); key.isStr() && tensor.defined())
        given[key.str()] = tensor;
      else
        throw Error(path + ": error: entry " + h::repr(key) + " is not a tensor with a name");
  });
  guarded([&] { assignStateDict(namedTensors(module), given, path, true); });
}

} // namespace pellucid
