// SPDX-License-Identifier: Apache-2.0
// The nodes of operators: what their formulas need is kept, and the formulas are called later.
#include "trace/Derivatives.h"
#include "trace/FormulaMemory.h"
#include "trace/GradientNames.h"
#include "trace/Gradients.h"
#include "trace/OperatorCall.h"
#include "trace/TensorCalls.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

h::Value hostValueOf(h::Interpreter &interpreter, const Argument &argument) {
  if (auto expr = argument.as<Expr>())
    return h::Value::integer(*expr);
  if (auto device = argument.as<Device>())
    return deviceValue(interpreter, *device);
  if (const Argument::List *list = argument.list()) {
    h::List values;
    for (const Argument &element : *list)
      values.push_back(hostValueOf(interpreter, element));
    return h::Value::list(std::move(values));
  }
  return constantValue(argument);
}

/// One value that a formula is called with, kept until then.
struct Kept {
  enum class Form : uint8_t { Plain, Tensor, List } form = Form::Plain;
  h::Value plain;
  std::optional<SavedTensor> tensor;
  std::vector<Kept> elements;
  bool holdsTensors() const {
    return form == Form::Tensor ||
           std::any_of(elements.begin(), elements.end(),
                       [](const Kept &element) { return element.holdsTensors(); });
  }
};

class FormulaNode : public TensorNode {
public:
  FormulaNode(Tracer &t, h::Interpreter &i, const Derivative &d)
      : TensorNode(t, i), derivative(d) {}

  std::string name() const override { return shown.empty() ? derivative.name : shown; }
  /// PyTorch's name of the whole call, of which this is the last operator.
  std::string shown;

  std::vector<h::Value> apply(h::Interpreter &interpreter,
                              std::vector<h::Value> gradients) override {
    if (isReleased)
      interpreter.raise(
          "RuntimeError",
          "Trying to backward through the graph a second time (or directly access saved tensors "
          "after they have already been freed). Saved intermediate values of the graph are freed "
          "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
          "backward through the graph a second time or if you need to access saved tensors after "
          "calling backward.");
    values.clear();
    given = &gradients;
    std::vector<h::Value> results(next.size());
    for (const Formula &formula : derivative.formulas)
      if (isNeeded(formula))
        call(interpreter, formula, results);
    values.clear();
    given = nullptr;
    return results;
  }

  void release() override {
    for (auto it = kept.begin(); it != kept.end();)
      if (it->second.holdsTensors()) {
        isReleased = true;
        it = kept.erase(it);
      } else {
        ++it;
      }
  }

  bool isNeeded(const Formula &formula) const {
    return std::any_of(formula.arguments.begin(), formula.arguments.end(),
                       [&](const std::string &name) { return wants(name); });
  }
  bool wants(const std::string &argument) const {
    auto place = places.find(argument);
    if (place == places.end())
      return false;
    for (size_t i = 0; i < place->second.count; ++i)
      if (next[place->second.first + i])
        return true;
    return false;
  }

  /// Where the edges of an argument stand in `next`; a list has one for each tensor.
  struct Place {
    size_t first = 0, count = 1;
    bool isList = false;
  };
  const Derivative &derivative;
  std::map<std::string, Place> places;
  std::map<std::string, Kept> kept; ///< by the name of a formula's parameter

private:
  h::Value widened(h::Interpreter &interpreter, h::Value value) {
    auto *tensor = value.as<TensorObject>();
    if (!derivative.isWide || !tensor)
      return value;
    DataType type = tensor->tensor.type.dtype;
    return isFloat(type) && byteSize(type) < 4 ? castTo(*tensor, interpreter, DataType::Float32)
                                               : value;
  }

  /// Where the gradients lie that have arrived.
  h::Value zeros(h::Interpreter &interpreter, size_t output) {
    h::List sizes;
    for (const Expr &size : outputs[output].shape)
      sizes.push_back(h::Value::integer(size));
    auto arrived = std::find_if(given->begin(), given->end(),
                                [](const h::Value &one) { return !one.isNone(); });
    return callAten(
        tracer, interpreter, "new_zeros",
        argsOf({*arrived, h::Value::list(sizes)}, {{"dtype", dtypeValue(outputs[output].dtype)}}));
  }

  h::Value restore(h::Interpreter &interpreter, const Kept &one) {
    if (one.form == Kept::Form::Tensor)
      return widened(interpreter, one.tensor->unpack(interpreter, *this));
    if (one.form == Kept::Form::Plain)
      return one.plain;
    h::List list;
    for (const Kept &element : one.elements)
      list.push_back(restore(interpreter, element));
    return h::Value::list(std::move(list));
  }

  h::Value valueFor(h::Interpreter &interpreter, const Formula &formula, const std::string &name) {
    if (name == "needs") {
      h::List needs;
      for (const std::string &argument : formula.arguments)
        needs.push_back(h::Value(wants(argument)));
      return h::Value::list(std::move(needs));
    }
    auto [known, isNew] = values.try_emplace(name);
    if (!isNew)
      return known->second;
    h::Value value;
    if (name == "grad") {
      value = (*given)[0].isNone() ? zeros(interpreter, 0) : widened(interpreter, (*given)[0]);
    } else if (name == "grads") {
      h::List list;
      for (size_t i = 0; i < outputs.size(); ++i)
        list.push_back(!(*given)[i].isNone()       ? widened(interpreter, (*given)[i])
                       : isFloat(outputs[i].dtype) ? widened(interpreter, zeros(interpreter, i))
                                                   : h::Value());
      value = h::Value::list(std::move(list));
    } else {
      value = restore(interpreter, kept.at(name));
    }
    return values[name] = value;
  }

  void put(const std::string &argument, const h::Value &gradient, std::vector<h::Value> &results) {
    auto place = places.find(argument);
    if (place == places.end() || gradient.isNone())
      return;
    if (!place->second.isList) {
      if (next[place->second.first])
        results[place->second.first] = gradient;
      return;
    }
    const std::vector<h::Value> &list = gradient.elements();
    for (size_t i = 0; i < place->second.count && i < list.size(); ++i)
      if (next[place->second.first + i])
        results[place->second.first + i] = list[i];
  }

  void call(h::Interpreter &interpreter, const Formula &formula, std::vector<h::Value> &results) {
    h::CallArgs args;
    args.location = where;
    for (const std::string &parameter : formula.parameters)
      args.positional.push_back(valueFor(interpreter, formula, parameter));
    h::Value result = tracer.recorder
                          ? tracer.recorder->formulas().call(interpreter, formula, std::move(args))
                          : interpreter.call(formula.function, std::move(args));
    if (formula.arguments.size() == 1) {
      put(formula.arguments[0], result, results);
      return;
    }
    for (size_t i = 0; i < formula.arguments.size(); ++i)
      put(formula.arguments[i], result.elements().at(i), results);
  }

  bool isReleased = false;
  std::map<std::string, h::Value> values; ///< of one application
  std::vector<h::Value> *given = nullptr;
};

/// What has no formula: that is said when its gradient is asked for.
class UnknownDerivative : public TensorNode {
public:
  UnknownDerivative(Tracer &t, h::Interpreter &i, std::string o)
      : TensorNode(t, i), operatorName(std::move(o)) {}
  std::string name() const override { return "NotImplemented"; }
  std::vector<h::Value> apply(h::Interpreter &interpreter, std::vector<h::Value>) override {
    try {
      interpreter.raise("RuntimeError", "derivative for " + operatorName + " is not implemented");
    } catch (h::RaisedError &error) {
      error.diagnostic.note(where, "it was called here");
      throw h::RaisedError(error.diagnostic, error.exception);
    }
  }

private:
  std::string operatorName;
};

/// The arguments of a call by the schema's places.
class BoundCall {
public:
  BoundCall(h::Interpreter &i, const OperatorCall &c, const h::CallArgs &args)
      : interpreter(i), call(c), schema(call.op.schema) {
    given.resize(schema.arguments.size());
    for (size_t k = 0; k < args.positional.size() && k < given.size(); ++k)
      given[k] = args.positional[k];
    for (const auto &[key, value] : args.keywords)
      if (auto index = schema.indexOf(key == "axis" ? "dim" : key))
        given[*index] = value;
  }

  bool isTensor(size_t i) const {
    return schema.arguments[i].type.kind == SchemaType::Kind::Tensor;
  }
  h::Value value(size_t i) {
    return isTensor(i) ? h::contentOf(h::unwrapConstexpr(given[i]))
                       : hostValueOf(interpreter, call.args[i]);
  }

  h::Interpreter &interpreter;
  const OperatorCall call; ///< a copy: hooks of what is saved may call operators
  const Schema &schema;
  std::vector<h::Value> given;
};

bool needsGradient(const h::Value &value) {
  if (auto *tensor = value.as<TensorObject>())
    return requiresGrad(*tensor);
  return value.isSequence() &&
         std::any_of(value.elements().begin(), value.elements().end(), needsGradient);
}

h::Value exprList(const std::vector<Expr> &sizes) {
  h::Tuple values;
  for (const Expr &size : sizes)
    values.push_back(h::Value::integer(size));
  return h::Value::tuple(std::move(values));
}

/// `self_sizes` and its kin.
std::optional<h::Value> property(const h::Value &value, std::string_view of) {
  if (value.isSequence()) {
    h::List list;
    for (const h::Value &element : value.elements())
      list.push_back(property(element, of).value_or(h::Value()));
    return h::Value::list(std::move(list));
  }
  auto *tensor = value.as<TensorObject>();
  if (!tensor)
    return h::Value();
  const TensorType &type = tensor->tensor.type;
  if (of == "sizes")
    return exprList(type.shape);
  if (of == "strides")
    return exprList(type.strides);
  if (of == "offset")
    return h::Value::integer(type.offset);
  if (of == "dtype")
    return dtypeValue(type.dtype);
  if (of == "wants")
    return h::Value(requiresGrad(*tensor));
  return std::nullopt;
}

class NodeBuilder {
public:
  NodeBuilder(Tracer &tracer, h::Interpreter &i, const Derivative &derivative, BoundCall &b,
              const std::vector<h::Value> &r)
      : interpreter(i), bound(b), results(r),
        node(std::make_shared<FormulaNode>(tracer, i, derivative)) {}

  std::shared_ptr<FormulaNode> build() {
    for (const h::Value &result : results)
      node->outputs.push_back(result.as<TensorObject>()->tensor.type);
    node->outputCount = static_cast<uint32_t>(results.size());
    for (const Formula &formula : node->derivative.formulas)
      for (const std::string &argument : formula.arguments)
        addEdges(argument);
    for (const Formula &formula : node->derivative.formulas)
      if (node->isNeeded(formula))
        for (const std::string &parameter : formula.parameters)
          if (parameter != "grad" && parameter != "grads" && parameter != "needs" &&
              !node->kept.count(parameter))
            node->kept.emplace(parameter, keep(parameter));
    return node;
  }

private:
  void addEdges(const std::string &argument) {
    auto index = bound.schema.indexOf(argument);
    if (!index || node->places.count(argument))
      return;
    h::Value value = bound.value(*index);
    FormulaNode::Place place{node->next.size(), 1, value.isSequence()};
    auto add = [&](const h::Value &one) {
      auto *tensor = one.as<TensorObject>();
      node->next.push_back(tensor ? gradientEdge(*tensor) : autograd::Edge());
    };
    if (place.isList) {
      place.count = value.elements().size();
      for (const h::Value &element : value.elements())
        add(element);
    } else {
      add(value);
    }
    node->places.emplace(argument, place);
  }

  Kept keepValue(const h::Value &value, std::optional<uint32_t> output = std::nullopt) {
    Kept one;
    if (auto *tensor = value.as<TensorObject>()) {
      one.form = Kept::Form::Tensor;
      one.tensor.emplace(interpreter, *tensor, output);
    } else if (value.isSequence()) {
      one.form = Kept::Form::List;
      for (const h::Value &element : value.elements())
        one.elements.push_back(keepValue(element));
    } else {
      one.plain = value;
    }
    return one;
  }

  Kept keep(const std::string &parameter) {
    if (auto index = bound.schema.indexOf(parameter))
      return keepValue(bound.value(*index));
    if (parameter.starts_with("result")) {
      size_t output = parameter.size() > 6 ? static_cast<size_t>(parameter[6] - '0') : 0;
      return keepValue(results.at(output), static_cast<uint32_t>(output));
    }
    if (size_t line = parameter.rfind('_'); line != std::string::npos)
      if (auto index = bound.schema.indexOf(parameter.substr(0, line)))
        if (auto found = property(bound.value(*index), parameter.substr(line + 1))) {
          Kept one;
          one.plain = *found;
          return one;
        }
    interpreter.refuse("the derivative of '" + bound.call.op.target() + "' asks for an unknown '" +
                       parameter + "'");
  }

  h::Interpreter &interpreter;
  BoundCall &bound;
  const std::vector<h::Value> &results;
  std::shared_ptr<FormulaNode> node;
};

void setSource(const std::vector<h::Value> &results, const std::shared_ptr<TensorNode> &node) {
  for (uint32_t i = 0; i < results.size(); ++i)
    if (auto *tensor = results[i].as<TensorObject>();
        tensor && isFloat(tensor->tensor.type.dtype)) {
      autograd::Meta &meta = metaOf(*tensor);
      meta.source = {node, i};
      tensor->seen = tensor->tensor.storage->counted;
    }
}

} // namespace

void noteUnknown(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                 const std::vector<h::Value> &results, const std::vector<h::Value> &operands) {
  if (!isNoted(tracer))
    return;
  auto node = std::make_shared<UnknownDerivative>(tracer, interpreter, name);
  for (const h::Value &operand : operands)
    if (auto *tensor = operand.as<TensorObject>())
      node->next.push_back(gradientEdge(*tensor));
  for (const h::Value &result : results)
    if (auto *tensor = result.as<TensorObject>())
      node->outputs.push_back(tensor->tensor.type);
    else
      node->outputs.emplace_back();
  node->outputCount = static_cast<uint32_t>(results.size());
  setSource(results, node);
}

void noteCall(Tracer &tracer, h::Interpreter &interpreter, const OperatorCall &call,
              const h::CallArgs &args, const std::vector<h::Value> &results) {
  if (!isNoted(tracer) || results.empty())
    return;
  bool wanted = wantsGradient(args);
  bool any = std::any_of(results.begin(), results.end(), [](const h::Value &result) {
    auto *tensor = result.as<TensorObject>();
    return tensor && isFloat(tensor->tensor.type.dtype);
  });
  if (!wanted || !any)
    return;
  const Derivative *derivative = derivativeOf(interpreter, call.op.target());
  if (derivative && derivative->formulas.empty())
    return;
  if (!derivative) {
    std::vector<h::Value> operands = args.positional;
    for (const auto &[key, value] : args.keywords)
      operands.push_back(value);
    noteUnknown(tracer, interpreter, call.op.target(), results, operands);
    return;
  }
  BoundCall bound(interpreter, call, args);
  std::shared_ptr<FormulaNode> made =
      NodeBuilder(tracer, interpreter, *derivative, bound, results).build();
  if (std::any_of(made->next.begin(), made->next.end(),
                  [](const autograd::Edge &e) { return bool(e); }))
    setSource(results, made);
}

bool wantsGradient(const h::CallArgs &args) {
  return std::any_of(args.positional.begin(), args.positional.end(), needsGradient) ||
         std::any_of(args.keywords.begin(), args.keywords.end(),
                     [](const auto &one) { return needsGradient(one.second); });
}

void refuseOutOfGradient(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                         const h::CallArgs &args) {
  if (!isNoted(tracer))
    return;
  if (wantsGradient(args))
    interpreter.raise("RuntimeError",
                      name + "(): functions with out=... arguments don't support automatic "
                             "differentiation, but one of the arguments requires grad.");
}

h::Value requiringAsAsked(h::Interpreter &interpreter, const h::Value &result,
                          const h::CallArgs &args) {
  const h::Value *asked = args.keyword("requires_grad");
  auto *tensor = result.as<TensorObject>();
  if (asked && tensor && interpreter.truth(*asked))
    setRequiresGrad(interpreter, *tensor, true);
  return result;
}

void noteResults(Tracer &tracer, h::Interpreter &interpreter, const OperatorCall &call,
                 const h::CallArgs &args, const std::vector<h::Value> &operands,
                 const std::vector<h::Value> &results) {
  static const std::unordered_set<std::string_view> drawing = {
      "bernoulli",         "dropout", "exponential", "multinomial", "native_dropout", "normal",
      "normal_functional", "rand",    "rand_like",   "randint",     "randint_like",   "randn",
      "randn_like",        "random",  "randperm",    "uniform"};
  tracer.draws += drawing.count(call.op.schema.name);
  const std::string &target = call.op.registeredTarget;
  bool isCut = target == "aten.detach.default" || target == "aten.view.dtype";
  for (const h::Value &result : results)
    if (!isCut)
      linkView(*result.as<TensorObject>(), operands, results.size() > 1);
  noteCall(tracer, interpreter, call, args, results);
}

void showGradientAs(TensorObject &tensor, const std::string &title) {
  if (auto *node = dynamic_cast<FormulaNode *>(tensor.meta->source.node.get()))
    node->shown = title;
}

void rehomeResults(autograd::Node &node, const TracedTensor &from, const TracedTensor &self) {
  if (auto *formula = dynamic_cast<FormulaNode *>(&node))
    for (auto &[name, one] : formula->kept)
      if (one.tensor && name.starts_with("result"))
        one.tensor->moveTo(from, self);
}

} // namespace pellucid::trace
