// SPDX-License-Identifier: Apache-2.0
#include "trace/TrainingState.h"

#include "support/PlainNumbers.h"
#include "trace/TensorCalls.h"
#include "trace/TorchSources.h"
#include "trace/TorchTraining.h"

#include <algorithm>
#include <cmath>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

constexpr size_t mostVisits = 100'000;

/// Calls `visit(path, instance)` for every object below `value`.
template <typename Visit>
void forEachInstance(const h::Value &value, const std::string &path,
                     std::set<const h::Object *> &seen, const Visit &visit) {
  auto instance = value.shared<h::Instance>();
  if (!instance || seen.size() > mostVisits || !seen.insert(instance.get()).second)
    return;
  visit(path, instance);
  std::vector<std::pair<std::string, h::Value>> inside;
  for (const auto &[key, attribute] : instance->attributes.items())
    inside.emplace_back(key, attribute);
  for (const auto &[key, attribute] : inside) {
    std::string below = path.empty() ? key : path + "." + key;
    forEachInstance(attribute, below, seen, visit);
    if (attribute.isSequence())
      for (size_t i = 0; i < attribute.elements().size(); ++i)
        forEachInstance(attribute.elements()[i], below + "." + std::to_string(i), seen, visit);
  }
}

h::Value helper(h::Interpreter &interpreter, const char *name) {
  interpreter.nativeModule("torch");
  return *interpreter.nativeModule("torch._pellucid_training")->globals->find(name);
}

bool isStateNumber(const h::Value &value) { return value.isInt() || value.isFloat(); }

double realOf(const h::Value &value) {
  PlainNumbers numbers;
  return value.isInt() ? std::stod(h::repr(value)) : value.real();
}

std::string packetOfTarget(const std::string &target) {
  size_t begin = target.find('.'), end = target.rfind('.');
  return begin == std::string::npos || end == begin ? target
                                                    : target.substr(begin + 1, end - begin - 1);
}

/// The number of a fill; nullopt where it is none.
std::optional<double> fillOf(const Node &node, size_t at) {
  if (node.args().size() <= at)
    return std::nullopt;
  const Argument &value = node.arg(at);
  if (auto real = value.as<double>())
    return *real;
  if (auto integer = value.as<int64_t>())
    return static_cast<double>(*integer);
  if (auto flag = value.as<bool>())
    return *flag ? 1.0 : 0.0;
  return std::nullopt;
}

/// Follows copies back to what made the values.
void traceBack(Tracer &tracer, const Value *value, FirstValue &out) {
  static const std::set<std::string> copies = {"clone", "detach", "alias",      "_to_copy",
                                               "to",    "copy",   "contiguous", "lift_fresh_copy"};
  for (;;) {
    const Node &node = *value->producer();
    std::string packet = packetOfTarget(node.target());
    if (node.isPlaceholder() && node.graph() == &tracer.constructed) {
      std::vector<Node *> leaves = tracer.constructed.placeholders();
      auto at = std::find(leaves.begin(), leaves.end(), &node);
      out.initializer =
          tracer.constructedLeaves.at(static_cast<size_t>(at - leaves.begin()))->initializer;
      return;
    }
    if (node.isPlaceholder()) {
      out.copyOf = node.name();
      return;
    }
    using Kind = Initializer::Kind;
    auto filled = [&](Kind kind, double number) { out.initializer = {kind, number, {}}; };
    if (packet == "zeros" || packet == "zeros_like" || packet == "new_zeros")
      return filled(Kind::Zeros, 0);
    if (packet == "ones" || packet == "ones_like" || packet == "new_ones")
      return filled(Kind::Ones, 1);
    bool like = packet == "full_like" || packet == "fill" || packet == "full";
    if (auto number = like || packet == "new_full" ? fillOf(node, like ? 1 : 2) : std::nullopt)
      return filled(Kind::Full, *number);
    size_t source = packet == "copy" ? 1 : 0;
    if (!copies.count(packet) || node.args().size() <= source || !node.arg(source).value()) {
      out.problem = "computed by '" + packet + "'";
      return;
    }
    value = node.arg(source).value();
  }
}

/// The innermost place of the user's own text.
SourceLocation usersPlace(h::Interpreter &interpreter) {
  for (const SourceLocation &where : interpreter.callStack())
    if (where.file && !where.file->path().starts_with("<torch"))
      return where;
  return interpreter.location();
}

h::Value firstValue(Tracer &tracer, h::Interpreter &interpreter, const h::Value &value) {
  auto *object = value.as<TensorObject>();
  if (!object)
    return value;
  auto first = std::make_shared<FirstValue>();
  const TracedStorage &storage = *object->tensor.storage;
  first->type = TensorType(object->tensor.type.dtype, object->tensor.type.shape);
  first->where = usersPlace(interpreter);
  if (object->tensor.type.shape != storage.type.shape)
    first->problem = "a view of another tensor";
  else if (!storage.base)
    first->initializer = storage.initializer;
  else
    traceBack(tracer, storage.base, *first);
  return h::Value(std::static_pointer_cast<h::Object>(first));
}

/// The numbers of the optimisers' groups, and those that objects hold, by their paths.
using Numbers = std::map<std::string, h::Value>;

Numbers numbersOfGroups(const std::vector<HeldOptimizer> &optimizers) {
  Numbers out;
  for (size_t o = 0; o < optimizers.size(); ++o) {
    const h::Value *groups = optimizers[o].object->attributes.find("param_groups");
    for (size_t g = 0; groups && groups->isSequence() && g < groups->elements().size(); ++g)
      for (const auto &[key, value] : groups->elements()[g].dictionary().items())
        if (key.isStr())
          out[std::to_string(o) + " " + std::to_string(g) + " " + key.str()] = value;
  }
  return out;
}

Numbers numbersOfObjects(const std::vector<h::Value> &roots) {
  Numbers out;
  std::set<const h::Object *> seen;
  for (const h::Value &root : roots)
    forEachInstance(root, "", seen, [&](const std::string &path, const auto &instance) {
      for (const auto &[key, value] : instance->attributes.items())
        if (isStateNumber(value) || value.isBool() || value.isStr())
          out[(path.empty() ? "" : path + ".") + key] = value;
    });
  return out;
}

[[noreturn]] void refuseChange(h::Interpreter &interpreter, const std::string &what,
                               const h::Value &before, const h::Value &after) {
  interpreter.refuse("'" + what + "' is " + h::repr(before) + " before a step and " +
                     h::repr(after) +
                     " after it; a package takes the same step at every call, so make it a tensor, "
                     "or do what changes it outside of the step (a learning rate can be a tensor, "
                     "lr=torch.tensor(…), that the step writes from an input)");
}

/// A number before the first step, of what it was first, after one step and after two.
h::Value numberBefore(h::Interpreter &interpreter, const std::string &what, const h::Value &first,
                      const h::Value &one, const h::Value &two) {
  double v0 = isStateNumber(first) ? realOf(first) : NAN, v1 = realOf(one), v2 = realOf(two);
  if (v1 - v0 == v2 - v1 || std::abs(v1 * v1 - v0 * v2) <= 1e-12 * std::abs(v1 * v1))
    return first;
  // It is made in the first step as what that step leaves: a count that begins with 1.
  if (one.isInt() && two.isInt() && v0 == v1)
    return h::Value(static_cast<int64_t>(2 * v1 - v2));
  refuseChange(interpreter, what, one, two);
}

} // namespace

std::vector<HeldOptimizer> optimizersOf(h::Interpreter &interpreter, const h::Value &value,
                                        const std::string &prefix) {
  std::vector<HeldOptimizer> out;
  // Nothing is an optimiser where nobody has asked for torch.optim.
  auto loaded = interpreter.nativeModule("torch.optim");
  const h::Value *base = loaded ? loaded->globals->find("Optimizer") : nullptr;
  std::set<const h::Object *> seen;
  forEachInstance(value, prefix, seen, [&](const std::string &path, const auto &instance) {
    if (base && instance->cls->isSubclassOf(*base->as<h::Class>()))
      out.push_back({path, instance});
  });
  return out;
}

std::vector<GroupTensor> groupTensors(const std::vector<HeldOptimizer> &optimizers) {
  std::vector<GroupTensor> out;
  for (const HeldOptimizer &optimizer : optimizers) {
    const h::Value *groups = optimizer.object->attributes.find("param_groups");
    for (size_t g = 0; groups && groups->isSequence() && g < groups->elements().size(); ++g)
      for (const auto &[key, value] : groups->elements()[g].dictionary().items())
        if (auto tensor = value.shared<TensorObject>())
          out.push_back({optimizer.path + ".param_groups." + std::to_string(g) + "." + key.str(),
                         tensor, groups->elements()[g], key.str()});
  }
  return out;
}

namespace {

/// One trace that takes two steps.
class Planner {
public:
  Planner(h::Interpreter &i, Tracer &t, const std::vector<HeldOptimizer> &o, const NamedTensors &n,
          const std::vector<h::Value> &r)
      : interpreter(i), tracer(t), optimizers(o), tensors(n), roots(r) {}

  TrainingPlan run(const std::function<void()> &step) {
    for (const HeldOptimizer &optimizer : optimizers)
      interpreter.call(helper(interpreter, "record"), {h::Value(optimizer.object)});
    bindMadeBefore();
    Numbers objects = numbersOfObjects(roots), groups = numbersOfGroups(optimizers);
    step();
    Numbers after = numbersOfObjects(roots);
    for (const auto &[path, value] : objects)
      if (auto now = after.find(path); now != after.end() && !h::equal(value, now->second))
        refuseChange(interpreter, path, value, now->second);
    std::vector<h::Value> one = entriesNow();
    Numbers groupsOne = numbersOfGroups(optimizers);
    auto gradients = replaceGradients();
    step();
    for (const auto &[name, value] : gradients)
      if (!value->isUnused())
        plan.gradients.insert(name);
    std::vector<h::Value> two = entriesNow();
    for (size_t o = 0; o < optimizers.size(); ++o)
      addStates(o, one[o].elements(), two[o].elements());
    addGroups(groups, groupsOne, numbersOfGroups(optimizers));
    return std::move(plan);
  }

private:
  std::vector<h::Value> entriesNow() {
    std::vector<h::Value> out;
    for (const HeldOptimizer &optimizer : optimizers)
      out.push_back(interpreter.call(helper(interpreter, "entries"), {h::Value(optimizer.object)}));
    return out;
  }

  /// State that a constructor made is an input of the steps.
  void bindMadeBefore() {
    std::vector<h::Value> all = entriesNow();
    for (size_t o = 0; o < optimizers.size(); ++o)
      for (const h::Value &entry : all[o].elements()) {
        auto *made = entry.elements()[3].as<TensorObject>();
        if (!made)
          continue;
        TracedTensor tensor = tracer.placeholder(
            "made_before", TensorType(made->tensor.type.dtype, made->tensor.type.shape));
        h::Value states = interpreter.getAttr(h::Value(optimizers[o].object), "state");
        interpreter.setItem(interpreter.getItem(states, entry.elements()[0]), entry.elements()[1],
                            tensorValue(tracer, std::move(tensor)));
      }
  }

  /// A gradient that the second step reads is one that the first has left.
  std::vector<std::pair<std::string, Value *>> replaceGradients() {
    std::vector<std::pair<std::string, Value *>> out;
    for (const auto &[name, object] : tensors) {
      h::Value self(std::static_pointer_cast<h::Object>(object));
      h::Value gradient = interpreter.getAttr(self, "grad");
      auto *left = gradient.as<TensorObject>();
      if (!left)
        continue;
      TracedTensor tensor =
          tracer.placeholder("gradient_of_" + std::to_string(out.size()),
                             TensorType(left->tensor.type.dtype, left->tensor.type.shape));
      out.emplace_back(name, tensor.storage->base);
      interpreter.setAttr(self, "grad", tensorValue(tracer, std::move(tensor)));
    }
    return out;
  }

  std::string parameterNamed(const h::Value &key, const std::string &optimizer) {
    for (const auto &[name, object] : tensors)
      if (key.as<TensorObject>() == object.get())
        return name;
    interpreter.refuse(
        "the optimiser '" + optimizer +
        "' has state for something that is not a parameter of the model: " + h::typeName(key));
  }

  void addStates(size_t optimizer, const std::vector<h::Value> &one,
                 const std::vector<h::Value> &two) {
    const std::string &path = optimizers[optimizer].path;
    if (one.size() != two.size())
      interpreter.refuse("the state of the optimiser '" + path +
                         "' has more entries after the second step than after the first; a package "
                         "takes the same step at every call");
    for (size_t i = 0; i < one.size(); ++i) {
      const std::vector<h::Value> &before = one[i].elements(), &after = two[i].elements();
      TrainingPlan::Entry entry;
      entry.optimizer = optimizer;
      entry.parameter = parameterNamed(before[0], path);
      entry.key = interpreter.toStr(before[1], "a key of an optimiser's state");
      std::string what = path + ".state." + entry.parameter + "." + entry.key;
      entry.tensor = std::dynamic_pointer_cast<FirstValue>(before[2].isObject() ? before[2].object()
                                                                                : nullptr);
      if (entry.tensor) {
        entry.kind = TrainingPlan::Entry::Kind::Tensor;
        if (!entry.tensor->problem.empty())
          interpreter.refuse(entry.tensor->where,
                             "the first value of '" + what + "' is " + entry.tensor->problem +
                                 "; what an optimiser keeps begins with torch.zeros_like(p), "
                                 "torch.full(…) or a copy of its parameter, and is written with "
                                 "copy_() or bound anew from then on");
      } else if (isStateNumber(before[3]) && isStateNumber(after[3])) {
        entry.kind = TrainingPlan::Entry::Kind::Number;
        entry.value = numberBefore(interpreter, what, before[2], before[3], after[3]);
        if (h::equal(before[3], after[3]) && h::equal(entry.value, after[3]))
          entry.kind = TrainingPlan::Entry::Kind::Constant;
      } else if (isPlain(before[3]) && h::equal(before[3], after[3])) {
        entry.value = before[3];
      } else {
        interpreter.refuse("'" + what + "' is of type " + h::typeName(after[3]) +
                           "; what an optimiser keeps from step to step is a tensor or a number");
      }
      plan.entries.push_back(std::move(entry));
    }
  }

  static bool isPlain(const h::Value &value) {
    return isStateNumber(value) || value.isNone() || value.isStr() || value.isBool();
  }

  void addGroups(const Numbers &before, const Numbers &one, const Numbers &two) {
    for (const auto &[place, value] : two) {
      size_t first = place.find(' '), second = place.find(' ', first + 1);
      TrainingPlan::Entry entry;
      entry.optimizer = std::stoul(place.substr(0, first));
      entry.group = std::stoul(place.substr(first + 1, second - first - 1));
      entry.key = place.substr(second + 1);
      auto old = before.find(place), middle = one.find(place);
      bool isNew = old == before.end();
      if (middle == one.end() || value.isSequence() || value.as<TensorObject>())
        continue;
      if (!isNew && h::equal(old->second, middle->second) && h::equal(middle->second, value))
        continue;
      std::string what = optimizers[entry.optimizer].path + ".param_groups." +
                         std::to_string(entry.group) + "." + entry.key;
      if (!isStateNumber(value) || !isStateNumber(middle->second))
        refuseChange(interpreter, what, isNew ? h::Value() : old->second, value);
      entry.kind = TrainingPlan::Entry::Kind::Number;
      entry.value = numberBefore(interpreter, what, isNew ? middle->second : old->second,
                                 middle->second, value);
      plan.entries.push_back(std::move(entry));
    }
  }

  h::Interpreter &interpreter;
  Tracer &tracer;
  const std::vector<HeldOptimizer> &optimizers;
  const NamedTensors &tensors;
  const std::vector<h::Value> &roots;
  TrainingPlan plan;
};

} // namespace

TrainingPlan planTraining(h::Interpreter &interpreter, Tracer &tracer,
                          const std::vector<HeldOptimizer> &optimizers, const NamedTensors &tensors,
                          const std::vector<h::Value> &roots, const std::function<void()> &step) {
  return Planner(interpreter, tracer, optimizers, tensors, roots).run(step);
}

h::Value OptimizerState::containerOf(const TrainingPlan::Entry &entry) {
  h::Value optimizer(optimizers.at(entry.optimizer).object);
  if (entry.parameter.empty())
    return interpreter.getItem(interpreter.getAttr(optimizer, "param_groups"),
                               h::Value(static_cast<int64_t>(entry.group)));
  auto named = std::find_if(tensors.begin(), tensors.end(),
                            [&](const auto &t) { return t.first == entry.parameter; });
  return interpreter.getItem(interpreter.getAttr(optimizer, "state"),
                             h::Value(std::static_pointer_cast<h::Object>(named->second)));
}

void OptimizerState::keep(Kept kept) { all.push_back(std::move(kept)); }

void OptimizerState::prepare(const TrainingPlan &plan, const Bind &bind) {
  for (const HeldOptimizer &optimizer : optimizers)
    interpreter.call(helper(interpreter, "preset"), {h::Value(optimizer.object)});
  using Kind = TrainingPlan::Entry::Kind;
  for (const TrainingPlan::Entry &entry : plan.entries) {
    h::Value container = containerOf(entry);
    if (entry.kind == Kind::Constant) {
      interpreter.setItem(container, h::Value(entry.key), entry.value);
      continue;
    }
    Kept kept;
    kept.name = optimizers[entry.optimizer].path +
                (entry.parameter.empty() ? ".param_groups." + std::to_string(entry.group)
                                         : ".state." + entry.parameter) +
                "." + entry.key;
    kept.container = container;
    kept.key = entry.key;
    kept.isNumber = entry.kind == Kind::Number;
    StateTensor state;
    state.name = kept.name;
    if (kept.isNumber) {
      state.type = TensorType(entry.value.isInt() ? DataType::Int64 : DataType::Float64, {});
      state.initializer = {Initializer::Kind::Full, realOf(entry.value), {}};
    } else {
      state.type = entry.tensor->type;
      state.initializer = entry.tensor->initializer;
      state.copyOf = entry.tensor->copyOf;
    }
    kept.object = std::make_shared<TensorObject>(tracer, bind(state));
    h::Value value(std::static_pointer_cast<h::Object>(kept.object));
    if (kept.isNumber)
      value = h::Value(std::make_shared<ItemNumber>(kept.object));
    interpreter.setItem(container, h::Value(entry.key), value);
    keep(std::move(kept));
  }
  for (const auto &[name, object] : tensors) {
    if (!plan.gradients.count(name))
      continue;
    Kept kept;
    kept.name = name + ".grad";
    kept.container = h::Value(std::static_pointer_cast<h::Object>(object));
    kept.isGradient = true;
    TensorType type(object->tensor.type.dtype, object->tensor.type.shape);
    kept.object = std::make_shared<TensorObject>(
        tracer, bind({kept.name, type, {Initializer::Kind::Zeros, 0, {}}, ""}));
    interpreter.setAttr(kept.container, "grad",
                        h::Value(std::static_pointer_cast<h::Object>(kept.object)));
    keep(std::move(kept));
  }
}

/// What the entry holds after the step, as a tensor of the state's type.
h::Value OptimizerState::tensorOf(const Kept &kept, const h::Value &now) {
  const TensorType &type = kept.object->tensor.type;
  if (kept.isGradient && now.isNone())
    return callAten(tracer, interpreter, "zeros_like",
                    argsOf({h::Value(std::static_pointer_cast<h::Object>(kept.object))}));
  auto *item = now.as<ItemNumber>();
  if (item && item->isWhole() && type.dtype == DataType::Int64)
    return item->operands[0];
  if (kept.isNumber && (isStateNumber(now) || now.as<h::SymFloat>()))
    return callAten(tracer, interpreter, "full",
                    argsOf({h::Value::list({}), now}, {{"dtype", dtypeValue(type.dtype)}}));
  auto *tensor = now.as<TensorObject>();
  if (!tensor)
    interpreter.refuse("'" + kept.name + "' is a tensor before a step and of type " +
                       h::typeName(now) + " after it; a package keeps it from call to call");
  if (tensor->tensor.type.dtype != type.dtype || tensor->tensor.type.shape != type.shape)
    interpreter.refuse("'" + kept.name + "' is " + toString(type) + " before a step and " +
                       toString(tensor->tensor.type) + " after it");
  return now;
}

void OptimizerState::finish() {
  // All are read before the first is written: two may have changed places.
  std::vector<std::pair<TensorObject *, Value *>> rebound;
  SourceLocation where = interpreter.location();
  for (const Kept &kept : all) {
    h::Value now = kept.isGradient ? interpreter.getAttr(kept.container, "grad")
                                   : interpreter.getItem(kept.container, h::Value(kept.key));
    if (now.as<TensorObject>() == kept.object.get())
      continue;
    h::Value value = tensorOf(kept, now);
    TracedTensor &tensor = value.as<TensorObject>()->tensor;
    if (tensor.storage != kept.object->tensor.storage)
      rebound.emplace_back(kept.object.get(), tracer.valueOf(tensor, where));
  }
  for (auto &[object, value] : rebound)
    tracer.write(object->tensor, value, where);
}

void addTrainingState(h::NativeModules &modules, Tracer &tracer) {
  modules.add(
      "torch._pellucid_training", [&tracer](h::Interpreter &interpreter, h::Module &module) {
        auto source = interpreter.importSource(
            "torch_training_source", std::make_shared<SourceFile>("<torch.optim>", trainingSource));
        source->globals->set("_first_value",
                             h::native("_first_value", "value",
                                       [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                                         return firstValue(tracer, inner, a[0]);
                                       }));
        for (const auto &[name, value] : source->globals->items())
          module.globals->set(name, value);
      });
}

} // namespace pellucid::trace
