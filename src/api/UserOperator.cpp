// SPDX-License-Identifier: Apache-2.0
// triton_op and custom_op.
#include "api/Functions.h"
#include "api/Session.h"
#include "trace/OperatorCall.h"

namespace pellucid {

using namespace api;
using detail::OperatorState;
using graph::SchemaArgument;
using graph::SchemaType;
namespace h = pellucid::host;

namespace {

struct OperatorTable {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<OperatorState>> byName;
};

OperatorTable &operators() {
  static OperatorTable table;
  return table;
}

Operator declareUserOperator(h::Operator::Form form, const std::string &name,
                             const std::string &schema, OperatorFunction function) {
  return guarded([&] {
    if (name.find("::") == std::string::npos)
      throw Error("operator name '" + name + "' has no namespace; write 'namespace::name'");
    if (!function)
      throw Error("operator '" + name + "' needs a function");
    auto state = std::make_shared<OperatorState>();
    state->declared.form = form;
    state->declared.name = name;
    state->declared.overload = "default";
    state->declared.schemaText = schema;
    state->schema = graph::parseSchema(schema.empty() || schema[0] == '(' ? name + schema : schema,
                                       SourceLocation(name));
    state->function = std::move(function);
    OperatorTable &table = operators();
    std::lock_guard guard(table.lock);
    table.byName[name] = state;
    return Operator{state};
  });
}

/// The schema's default as an argument.
Argument defaultArgument(const graph::Argument &value) {
  if (auto flag = value.as<bool>())
    return *flag;
  if (auto integer = value.as<int64_t>())
    return *integer;
  if (auto real = value.as<double>())
    return *real;
  if (const std::string *text = value.string())
    return *text;
  if (auto type = value.as<DataType>())
    return fromDataType(*type);
  if (const graph::Argument::List *list = value.list()) {
    std::vector<SymInt> sizes;
    for (const graph::Argument &element : *list)
      sizes.emplace_back(element.as<int64_t>().value_or(0));
    return sizes;
  }
  return std::monostate();
}

bool isTensorLike(const Argument &argument, const SchemaType &type) {
  if (type.list)
    return std::holds_alternative<std::vector<Tensor>>(argument);
  if (auto *tensor = std::get_if<Tensor>(&argument))
    return tensor->defined() || type.optional;
  return type.optional && std::holds_alternative<std::monostate>(argument);
}

void bindArguments(const OperatorState &op, std::vector<Argument> &arguments) {
  const std::vector<SchemaArgument> &expected = op.schema.arguments;
  const std::string &name = op.declared.name;
  if (arguments.size() > expected.size())
    throw Error("operator '" + name + "' takes " + std::to_string(expected.size()) +
                " arguments, got " + std::to_string(arguments.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i >= arguments.size()) {
      if (!expected[i].defaultValue)
        throw Error("operator '" + name + "' needs an argument for '" + expected[i].name + "'");
      arguments.push_back(defaultArgument(*expected[i].defaultValue));
    }
    if (expected[i].type.kind == SchemaType::Kind::Tensor &&
        !isTensorLike(arguments[i], expected[i].type))
      throw Error("parameter '" + expected[i].name + "' of operator '" + name + "' is a " +
                  (expected[i].type.list ? "list of tensors" : "tensor") +
                  "; it got something else");
    // torch lets an integer stand for a float.
    if (auto *integer = std::get_if<int64_t>(&arguments[i]);
        integer && expected[i].type.kind == SchemaType::Kind::Float)
      arguments[i] = static_cast<double>(*integer);
  }
}

bool returnsList(const OperatorState &op) {
  return op.schema.returns.size() == 1 && op.schema.returns[0].type.list;
}

std::vector<Tensor> runFunction(const OperatorState &op, const std::vector<Argument> &arguments) {
  std::vector<Tensor> results = op.function(arguments);
  if (!returnsList(op) && results.size() != op.schema.returns.size())
    throw Error("operator '" + op.declared.name + "' is declared to return " +
                std::to_string(op.schema.returns.size()) + " tensor(s) and returns " +
                std::to_string(results.size()));
  return results;
}

/// As torch returns them: None, a tensor, a tuple, a list.
h::Value resultValue(Session &session, const OperatorState &op,
                     const std::vector<Tensor> &results) {
  if (returnsList(op))
    return session.listOf(results);
  if (results.empty())
    return {};
  if (results.size() == 1)
    return session.toHost(Argument(results.front()));
  h::Tuple values;
  for (const Tensor &tensor : results)
    values.push_back(session.toHost(Argument(tensor)));
  return h::Value::tuple(std::move(values));
}

/// The arguments of a call, defaults filled in, from what the evaluator has of them.
std::vector<Argument> argumentsOf(Session &session, const OperatorState &op,
                                  const h::Value &positional, const h::Value *keywords) {
  std::vector<Argument> out;
  size_t next = 0;
  for (const SchemaArgument &argument : op.schema.arguments) {
    const h::Value *value = nullptr;
    if (!argument.keywordOnly)
      value = &positional.elements().at(next++);
    else if (keywords && keywords->isDict())
      value = keywords->dictionary().find(std::string_view(argument.name));
    out.push_back(value ? toArgument(session, *value, argument.type)
                        : defaultArgument(*argument.defaultValue));
  }
  return out;
}

/// A call on recorded tensors runs the function on them, as in a script; what it computes has the
/// derivative that was registered, or none.
std::vector<Tensor> callRecorded(const OperatorState &op, const std::vector<Argument> &arguments) {
  Session &session = *Session::get();
  return session.call([&](Recording &) {
    h::Operator declared = op.declared;
    auto context = std::make_shared<autograd::AutogradContext>();
    if (op.backward)
      declared.backward = autograd::backwardFunction(session, context, op.backward);
    if (op.setupContext)
      declared.setupContext = h::nativeRaw(
          "setup_context", [&session, &op, context](h::Interpreter &, const h::CallArgs &args) {
            const h::Value *results = args.keyword("output");
            autograd::BoundContext bound(*context, *args.keyword("ctx"));
            op.setupContext(context.get(),
                            argumentsOf(session, op, *args.keyword("inputs"),
                                        args.keyword("keyword_only_inputs")),
                            session.fromHost(*results));
            return h::Value();
          });
    return session.fromHost(trace::callDifferentiably(
        session.tracer, session.interpreter(), declared, session.operatorArgs(op, arguments),
        [&] { return resultValue(session, op, runFunction(op, arguments)); }));
  });
}

} // namespace

namespace api {

std::shared_ptr<OperatorState> findOperator(const std::string &name) {
  OperatorTable &table = operators();
  std::lock_guard guard(table.lock);
  auto entry = table.byName.find(name);
  return entry == table.byName.end() ? nullptr : entry->second;
}

} // namespace api

std::vector<Tensor> Operator::operator()(std::vector<Argument> arguments) const {
  if (!state)
    throw Error("a call of an undefined operator");
  return guarded([&] {
    bindArguments(*state, arguments);
    if (Session::takes(arguments))
      return callRecorded(*state, arguments);
    if (Recording *recording = Recording::active())
      return recording->callOperator(*state, arguments);
    return runFunction(*state, arguments);
  });
}

Tensor Operator::onlyResult(std::vector<Tensor> results) const {
  if (results.size() > 1)
    throw Error("operator '" + state->declared.name + "' returns " +
                std::to_string(results.size()) +
                " tensors; call it with a list, op({…}), to get them all");
  return results.empty() ? Tensor() : std::move(results.front());
}

Operator &Operator::register_fake(OperatorFunction function) {
  if (!state)
    throw Error("register_fake of an undefined operator");
  state->fake = std::move(function);
  return *this;
}

Operator &Operator::register_autograd(
    std::function<std::vector<Tensor>(autograd::AutogradContext *, std::vector<Tensor>)> backward,
    std::function<void(autograd::AutogradContext *, const std::vector<Argument> &,
                       const std::vector<Tensor> &)>
        setupContext) {
  if (!state)
    throw Error("register_autograd of an undefined operator");
  for (const SchemaArgument &argument : state->schema.arguments)
    if (argument.type.list && argument.type.kind == SchemaType::Kind::Tensor)
      throw Error("register_autograd of operator '" + state->declared.name + "': '" +
                  argument.name +
                  "' is a list of tensors, and gradients go to arguments that are "
                  "tensors themselves");
    else if (argument.type.mutated)
      throw Error("register_autograd of operator '" + state->declared.name + "': it writes to '" +
                  argument.name +
                  "', and an operator that writes to its arguments has no derivative");
  if (!backward)
    throw Error("register_autograd of operator '" + state->declared.name + "' needs a function");
  state->backward = std::move(backward);
  state->setupContext = std::move(setupContext);
  return *this;
}

Operator &Operator::register_kernel(const std::string &device, OperatorFunction function) {
  if (!state)
    throw Error("register_kernel of an undefined operator");
  if (device != "cpu" && device != "cuda")
    throw Error("register_kernel of operator '" + state->declared.name + "': there is no device '" +
                device + "'; \"cpu\" and \"cuda\" are");
  // Tensors of this interface are on the CPU.
  if (device == "cpu")
    state->function = std::move(function);
  return *this;
}

Operator triton_op(const std::string &name, const std::string &schema, OperatorFunction function) {
  return declareUserOperator(h::Operator::Form::Triton, name, schema, std::move(function));
}

Operator custom_op(const std::string &name, const std::string &schema, OperatorFunction function) {
  return declareUserOperator(h::Operator::Form::Custom, name, schema, std::move(function));
}

} // namespace pellucid
