// SPDX-License-Identifier: Apache-2.0
#include "trace/OperatorCall.h"

#include "trace/AtenComposites.h"
#include "trace/Dispatch.h"
#include "trace/TensorCalls.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
namespace s = pellucid::syntax;

namespace {

/// Traces one call of an operator into a body of its own, and records the node.
class OperatorCallRecorder {
public:
  OperatorCallRecorder(Tracer &t, const h::Operator &o, h::Interpreter &i, const h::CallArgs &a)
      : op(o), tracer(t), interpreter(i), args(a),
        where(a.location.known() ? a.location : i.location()), schema(schemaOf(i, o)) {}

  h::Value run() {
    bind();
    bindOuterArguments();
    uint32_t body = static_cast<uint32_t>(tracer.program.bodies.size());
    tracer.program.bodies.push_back({op.name, Graph()});
    traceBody(tracer.program.bodies[body].graph);
    defineOperator();
    tracer.graph().setLocation(where);
    std::vector<ResultType> types = resultTypes;
    types.insert(types.end(), mutatedTypes.begin(), mutatedTypes.end());
    Node *node = tracer.graph().call(schema.target(), outerArguments, outerKeywords, types,
                                     std::string(schema.name));
    node->body = body;
    for (size_t m = 0; m < mutatedParameters.size(); ++m) {
      auto *object = bound[mutatedParameters[m]].as<TensorObject>();
      node->mutatedArgs.push_back(static_cast<uint32_t>(mutatedParameters[m]));
      tracer.write(object->tensor, node->result(resultTypes.size() + m), where);
    }
    return wrapResults(*node);
  }

private:
  [[noreturn]] void refuse(const std::string &message) { interpreter.refuse(where, message); }

  /// As PyTorch's nodes carry them: what is only a keyword as one, and no default at the end.
  void bindOuterArguments() {
    bool writesKeyword = false;
    for (const SchemaArgument &argument : schema.arguments)
      writesKeyword |= argument.keywordOnly && argument.type.mutated;
    size_t positional = 0; // those before it are written out
    for (size_t i = 0; i < bound.size(); ++i) {
      const SchemaArgument &argument = schema.arguments[i];
      Argument value = toArgument(tracer, interpreter, bound[i]);
      bool isDefault =
          argument.defaultValue && isConstant(value) && value == *argument.defaultValue;
      if (argument.keywordOnly && !writesKeyword) {
        if (!isDefault)
          outerKeywords.emplace_back(argument.name, std::move(value));
        continue;
      }
      outerArguments.push_back(std::move(value));
      if (!isDefault)
        positional = outerArguments.size();
    }
    if (!writesKeyword)
      outerArguments.resize(positional);
  }

  static bool isConstant(const Argument &value) {
    return !value.value() && !value.list() && !value.as<Expr>();
  }

  void bind() {
    for (size_t i = 0; i < schema.arguments.size(); ++i) {
      const SchemaArgument &argument = schema.arguments[i];
      if (i < args.positional.size() && !argument.keywordOnly) {
        bound.push_back(args.positional[i]);
      } else if (const h::Value *value = args.keyword(argument.name)) {
        bound.push_back(*value);
      } else if (const h::Value *fallback = defaultOf(argument.name)) {
        bound.push_back(*fallback);
      } else if ((op.schemaText || !op.function.as<h::Function>()) && argument.defaultValue) {
        bound.push_back(constantValue(*argument.defaultValue));
      } else {
        refuse("operator '" + op.name + "' needs an argument for '" + argument.name + "'");
      }
    }
    if (args.positional.size() > schema.arguments.size())
      refuse("operator '" + op.name + "' takes " + std::to_string(schema.arguments.size()) +
             " arguments, got " + std::to_string(args.positional.size()));
    for (const auto &[key, value] : args.keywords)
      if (!schema.indexOf(key))
        refuse("operator '" + op.name + "' has no parameter '" + key + "'");
    for (size_t i = 0; i < bound.size(); ++i) {
      bool wantsTensor = schema.arguments[i].type.kind == SchemaType::Kind::Tensor &&
                         !schema.arguments[i].type.list;
      // PyTorch hands None on as an undefined tensor, whatever the schema says.
      if (wantsTensor && bound[i].isNone())
        schema.arguments[i].type.optional = true;
      else if (wantsTensor && !bound[i].as<TensorObject>())
        refuse("parameter '" + schema.arguments[i].name + "' of operator '" + op.name +
               "' is a tensor, got " + h::typeName(bound[i]));
    }
  }

  const h::Value *defaultOf(const std::string &parameter) const {
    auto *fn = op.function.as<h::Function>();
    if (!fn || !fn->def)
      return nullptr;
    std::vector<const s::Arg *> positional;
    for (const auto *list : {&fn->def->args.posonlyargs, &fn->def->args.args})
      for (const auto &p : *list)
        positional.push_back(p.get());
    size_t without = positional.size() - fn->defaults.size();
    for (size_t i = without; i < positional.size(); ++i)
      if (positional[i]->arg == parameter)
        return &fn->defaults[i - without];
    for (size_t i = 0; i < fn->def->args.kwonlyargs.size(); ++i)
      if (fn->def->args.kwonlyargs[i]->arg == parameter && i < fn->keywordDefaults.size() &&
          fn->keywordDefaults[i])
        return &*fn->keywordDefaults[i];
    return nullptr;
  }

  static bool isSame(const h::Value &a, const h::Value &b) {
    return a.isObject() && b.isObject() && a.object() == b.object();
  }

  /// Kernels run on every device here: one that is registered for another device alone is taken.
  h::Value kernelFor(const std::string &device) {
    if (!op.isOnlyDeclared || op.hasKernelFor(device) || op.kernels.empty())
      return op.kernelFor(device);
    tracer.warn(Diagnostic(Severity::Warning, op.location,
                           "operator '" + op.name + "' has no kernel for " + device +
                               ", where PyTorch raises NotImplementedError; that for " +
                               op.kernels.back().first + " is taken"));
    return op.kernels.back().second;
  }

  /// What register_kernel gave the devices that the program is made for takes the place of the
  /// function.
  h::Value implementation() {
    std::vector<std::string> devices = tracer.kernelDevices;
    if (devices.empty())
      devices.push_back(tracer.assumedDevice);
    h::Value chosen = kernelFor(devices.front());
    for (const std::string &device : devices) {
      if (!isSame(kernelFor(device), chosen))
        refuse("operator '" + op.name + "' runs another kernel on " + device + " than on " +
               devices.front() + "; compile a package for each");
      if (op.lacksKernelFor(interpreter, device))
        tracer.warn(Diagnostic(Severity::Warning, op.location,
                               "operator '" + op.name + "' has no kernel for " + device +
                                   ", where PyTorch raises NotImplementedError; the function of "
                                   "its device_types is taken"));
    }
    return chosen;
  }

  /// The argument inside the body: tensors and symbolic integers are placeholders there.
  h::Value inner(const h::Value &value, const std::string &name) {
    if (auto *tensor = value.as<TensorObject>()) {
      TracedTensor input = tracer.placeholder(name, tensor->tensor.type);
      input.storage->stridesKnown = tensor->tensor.storage->stridesKnown;
      input.mayOverlap = tensor->tensor.mayOverlap;
      auto object = std::make_shared<TensorObject>(tracer, input);
      innerTensors.push_back(object);
      return h::Value(std::static_pointer_cast<h::Object>(object));
    }
    if (value.isSequence()) {
      h::List list;
      for (size_t i = 0; i < value.elements().size(); ++i)
        list.push_back(inner(value.elements()[i], name + "_" + std::to_string(i)));
      return value.isTuple() ? h::Value::tuple(list) : h::Value::list(list);
    }
    if (value.isSymInt())
      tracer.graph().placeholder(name, value.symInt());
    return value;
  }

  void traceBody(Graph &graph) {
    Tracer::Redirect redirect(tracer, graph);
    h::CallArgs call;
    call.location = where;
    std::vector<std::shared_ptr<TensorObject>> parameterTensor(bound.size());
    for (size_t i = 0; i < bound.size(); ++i) {
      size_t before = innerTensors.size();
      h::Value value = inner(bound[i], schema.arguments[i].name);
      if (innerTensors.size() == before + 1 && value.as<TensorObject>())
        parameterTensor[i] = innerTensors.back();
      else
        for (size_t e = before; e < innerTensors.size(); ++e)
          elements.emplace_back(i, innerTensors[e]);
      if (schema.arguments[i].keywordOnly)
        call.keywords.emplace_back(schema.arguments[i].name, value);
      else
        call.positional.push_back(value);
    }
    h::Value result = interpreter.call(implementation(), std::move(call));
    std::vector<Argument> outputs;
    collectOutputs(result, outputs);
    checkReturns(returned.size());
    checkFake();
    for (size_t i = 0; i < bound.size(); ++i) {
      if (!parameterTensor[i]) {
        refuseWrittenElements(i);
        continue;
      }
      const TracedStorage &storage = *parameterTensor[i]->tensor.storage;
      bool written = storage.version > 0;
      bool declared = schema.arguments[i].type.mutated;
      if (written && !declared)
        refuseUndeclared(schema.arguments[i].name, storage);
      if (!written && declared && !op.mutatesUnknown())
        tracer.warn(Diagnostic(Severity::Warning, op.location,
                               "mutates_args of operator '" + op.name + "' names '" +
                                   schema.arguments[i].name + "', which nothing writes to"));
      if (!written)
        continue;
      checkApart(i);
      mutatedParameters.push_back(i);
      Value *contents = tracer.valueOf(parameterTensor[i]->tensor, where);
      mutatedTypes.push_back(contents->type());
      outputs.push_back(Argument(contents));
    }
    tracer.graph().output(std::move(outputs));
  }

  [[noreturn]] void refuseUndeclared(const std::string &name, const TracedStorage &storage) {
    std::string text = "operator '" + op.name + "' " +
                       (storage.written ? "writes to '" : "may write to '") + name +
                       "', which mutates_args does not name; write mutates_args={\"" + name + "\"}";
    Diagnostic problem(Severity::Error, where, text);
    if (storage.written)
      problem.note(*storage.written, "'" + name + "' is written here");
    problem.note(op.location, "the operator is declared here");
    throw DiagnosticError(problem);
  }

  /// A node gives back whole parameters that it wrote, no elements of lists.
  void refuseWrittenElements(size_t parameter) {
    for (const auto &[index, object] : elements)
      if (index == parameter && object->tensor.storage->version > 0) {
        Diagnostic problem(Severity::Error, where,
                           "operator '" + op.name + "' writes to a tensor in the list '" +
                               schema.arguments[parameter].name +
                               "', which is not supported; pass the tensors that it writes as "
                               "parameters of their own");
        if (object->tensor.storage->written)
          problem.note(*object->tensor.storage->written, "it is written here");
        throw DiagnosticError(problem);
      }
  }

  static void collectStorages(const h::Value &value, std::vector<const TracedStorage *> &out) {
    if (auto *tensor = value.as<TensorObject>())
      out.push_back(tensor->tensor.storage.get());
    else if (value.isSequence())
      for (const h::Value &element : value.elements())
        collectStorages(element, out);
  }

  /// The body is recorded with tensors that are apart.
  void checkApart(size_t written) {
    const TracedStorage *memory = bound[written].as<TensorObject>()->tensor.storage.get();
    for (size_t i = 0; i < bound.size(); ++i) {
      std::vector<const TracedStorage *> others;
      if (i != written)
        collectStorages(bound[i], others);
      if (std::find(others.begin(), others.end(), memory) != others.end())
        refuse("operator '" + op.name + "' writes to '" + schema.arguments[written].name +
               "', whose memory '" + schema.arguments[i].name +
               "' shares in this call; pass a clone() of one of them");
    }
  }

  /// register_fake must promise what the function gives: PyTorch believes it, and so may the rest
  /// of the model.
  void checkFake() {
    if (op.fake.isNone())
      return;
    Graph scratch;
    Tracer::Redirect redirect(tracer, scratch);
    std::vector<std::shared_ptr<TensorObject>> saved = innerTensors;
    h::CallArgs call;
    call.location = where;
    for (size_t i = 0; i < bound.size(); ++i) {
      h::Value value = inner(bound[i], schema.arguments[i].name);
      if (schema.arguments[i].keywordOnly)
        call.keywords.emplace_back(schema.arguments[i].name, value);
      else
        call.positional.push_back(value);
    }
    innerTensors = std::move(saved);
    std::vector<TensorType> promised;
    collectTypes(interpreter.call(op.fake, std::move(call)), promised);
    bool same = promised.size() == resultTypes.size();
    for (size_t r = 0; same && r < promised.size(); ++r) {
      const TensorType &made = std::get<TensorType>(resultTypes[r]);
      same = made.dtype == promised[r].dtype && made.rank() == promised[r].rank();
      for (size_t d = 0; same && d < made.rank(); ++d)
        same = tracer.symbols().proveEqual(made.shape[d], promised[r].shape[d]);
      if (!same)
        refuse("the fake of operator '" + op.name + "' promises " + toString(promised[r]) +
               " where its function gives " + toString(made));
    }
    if (!same)
      refuse("the fake of operator '" + op.name + "' promises " + std::to_string(promised.size()) +
             " tensor(s) where its function gives " + std::to_string(resultTypes.size()));
  }

  static void collectTypes(const h::Value &result, std::vector<TensorType> &types) {
    if (result.isSequence())
      for (const h::Value &element : result.elements())
        collectTypes(element, types);
    else if (auto *tensor = result.as<TensorObject>())
      types.push_back(tensor->tensor.type);
  }

  void collectOutputs(const h::Value &result, std::vector<Argument> &outputs) {
    if (result.isSequence()) {
      for (const h::Value &element : result.elements())
        collectOutputs(element, outputs);
      return;
    }
    auto *tensor = result.as<TensorObject>();
    if (tensor || !schema.returns.empty())
      returned.push_back(tensor != nullptr);
    if (result.isNone())
      return;
    if (!tensor)
      refuse("operator '" + op.name + "' returns a value of type " + h::typeName(result) +
             "; operators return tensors");
    for (const auto &parameter : innerTensors)
      if (!op.schemaText && parameter->tensor.storage == tensor->tensor.storage)
        refuse("operator '" + op.name +
               "' returns the memory of a parameter, which PyTorch refuses; return a clone()");
    Value *value = tracer.valueOf(tensor->tensor, where);
    outputs.push_back(Argument(value));
    resultTypes.push_back(value->type());
    stridesKnown.push_back(tensor->tensor.storage->stridesKnown);
  }

  void checkReturns(size_t count) {
    bool list = schema.returns.size() == 1 && schema.returns[0].type.list;
    if (!list && count != schema.returns.size())
      refuse("operator '" + op.name + "' is annotated to return " +
             std::to_string(schema.returns.size()) + " tensor(s) and returns " +
             std::to_string(count));
  }

  void defineOperator() {
    for (OperatorDefinition &known : tracer.program.operators)
      if (known.name == op.name) {
        allowNone(known);
        return;
      }
    OperatorDefinition definition;
    definition.name = op.name;
    definition.schema = printSchema(schema, true);
    definition.kind = op.form == h::Operator::Form::Triton ? OperatorDefinition::Kind::TritonOp
                                                           : OperatorDefinition::Kind::CustomOp;
    for (const SchemaArgument &argument : schema.arguments)
      if (argument.type.mutated)
        definition.mutates.push_back(argument.name);
    tracer.program.operators.push_back(std::move(definition));
  }

  /// A parameter that one of the calls gave None for is optional in all of them.
  void allowNone(OperatorDefinition &known) {
    Schema earlier = parseSchema(op.name + known.schema, op.location);
    bool changed = false;
    for (size_t i = 0; i < schema.arguments.size() && i < earlier.arguments.size(); ++i)
      if (schema.arguments[i].type.optional && !earlier.arguments[i].type.optional)
        changed = earlier.arguments[i].type.optional = true;
    if (changed)
      known.schema = printSchema(earlier, true);
  }

  /// None stays where the function returned it.
  h::Value wrapResults(Node &node) {
    h::Tuple values;
    size_t next = 0;
    for (bool isTensor : returned) {
      if (!isTensor) {
        values.emplace_back();
        continue;
      }
      TracedTensor result = tracer.wrap(node.result(next));
      result.storage->stridesKnown = stridesKnown[next++];
      values.push_back(tensorValue(tracer, std::move(result)));
    }
    if (next == 0 && schema.returns.empty())
      values.clear();
    bool list = schema.returns.size() == 1 && schema.returns[0].type.list;
    if (values.empty())
      return h::Value();
    if (values.size() == 1 && !list)
      return values[0];
    return list ? h::Value::list(values) : h::Value::tuple(values);
  }

  const h::Operator &op;
  Tracer &tracer;
  h::Interpreter &interpreter;
  const h::CallArgs &args;
  SourceLocation where;
  Schema schema;
  std::vector<h::Value> bound;
  std::vector<Argument> outerArguments;
  KeywordArguments outerKeywords;
  std::vector<std::shared_ptr<TensorObject>> innerTensors;
  std::vector<std::pair<size_t, std::shared_ptr<TensorObject>>> elements; ///< of list parameters
  std::vector<size_t> mutatedParameters;
  std::vector<ResultType> resultTypes, mutatedTypes;
  std::vector<bool> stridesKnown; ///< of the results
  std::vector<bool> returned;     ///< of each result: a tensor, or None
};

} // namespace

namespace {

/// The first tensor among the arguments, in lists too; null where there is none.
TensorObject *firstTensor(const std::vector<h::Value> &values) {
  for (const h::Value &value : values) {
    if (auto *tensor = value.as<TensorObject>())
      return tensor;
    if (value.isSequence())
      if (TensorObject *inside = firstTensor(value.elements()))
        return inside;
  }
  return nullptr;
}

/// While it lives, wrap_triton() gives kernels back as they are.
class Unwrapped {
public:
  Unwrapped(h::Interpreter &i, bool applies) : flag(i.wrapsTriton), before(flag) {
    flag = flag && !applies;
  }
  ~Unwrapped() { flag = before; }

private:
  bool &flag, before;
};

} // namespace

h::Value runOperator(Tracer &tracer, h::Interpreter &interpreter, const h::Operator &op,
                     const h::CallArgs &args) {
  Schema schema = schemaOf(interpreter, op);
  h::CallArgs call = args;
  // Defaults of a schema that was written out are nobody's parameters.
  for (size_t i = 0; op.schemaText && i < schema.arguments.size(); ++i) {
    const SchemaArgument &argument = schema.arguments[i];
    if (i >= call.positional.size() && !call.keyword(argument.name) && argument.defaultValue)
      call.keywords.emplace_back(argument.name, constantValue(*argument.defaultValue));
  }
  std::vector<std::pair<const SchemaArgument *, TensorObject *>> tensors;
  std::vector<uint64_t> versions;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const h::Value *given =
        i < call.positional.size() ? &call.positional[i] : call.keyword(schema.arguments[i].name);
    if (auto *tensor = given ? given->as<TensorObject>() : nullptr) {
      tensors.emplace_back(&schema.arguments[i], tensor);
      versions.push_back(tensor->tensor.storage->version);
    }
  }
  std::vector<h::Value> values = call.positional;
  for (const auto &[key, value] : call.keywords)
    values.push_back(value);
  std::string device = tracer.assumedDevice;
  if (TensorObject *first = firstTensor(values))
    device = interpreter.str(interpreter.getAttr(selfOf(*first), "device"));
  device = device.substr(0, device.find(':'));
  if (op.lacksKernelFor(interpreter, device))
    interpreter.raise("NotImplementedError", "Could not run '" + op.name +
                                                 "' with arguments from the '" + device +
                                                 "' backend: no kernel is registered for it");
  Unwrapped unwrapped(interpreter, op.form == h::Operator::Form::Triton);
  h::Value result = interpreter.call(op.kernelFor(device), std::move(call));
  auto isDeclared = [&](const TracedStorage *memory) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const auto &one) {
      return one.first->type.mutated && one.second->tensor.storage.get() == memory;
    });
  };
  for (size_t i = 0; i < tensors.size(); ++i)
    if (const TracedStorage *memory = tensors[i].second->tensor.storage.get();
        memory->version != versions[i] && !isDeclared(memory))
      interpreter.refuse("operator '" + op.name + "' writes to '" + tensors[i].first->name +
                         "', which mutates_args does not name; write mutates_args={\"" +
                         tensors[i].first->name + "\"}");
  return result;
}

h::Value recordOperatorCall(Tracer &tracer, h::Interpreter &interpreter, const h::Operator &op,
                            const h::CallArgs &args) {
  return OperatorCallRecorder(tracer, op, interpreter, args).run();
}

} // namespace pellucid::trace
