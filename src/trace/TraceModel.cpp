// SPDX-License-Identifier: Apache-2.0
#include "trace/TraceModel.h"

#include "reference/graph/Interpreter.h"
#include "trace/ModelTrace.h"
#include "trace/TrainingDependence.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

void throwIfUnusable(const h::Value &value) {
  if (auto *opaque = value.as<h::Opaque>(); opaque && opaque->reason)
    throw DiagnosticError(*opaque->reason);
}

ModelTrace::ModelTrace(const SymbolTable &symbols, const TraceOptions &o, const TrainingPlan *p)
    : options(o), hooks(&tracer), interpreter(beginTrace(tracer, hooks, symbols, options)),
      plan(p) {}

Program ModelTrace::trace(const std::string &path, const std::string &name,
                          const std::vector<TraceInput> &inputs) {
  auto module = interpreter->importFile(path);
  const h::Value *found = module->globals->find(name);
  if (!found)
    throw DiagnosticError(SourceLocation(path + ":" + name), "the file defines no '" + name + "'");
  h::Value callee = *found;
  throwIfUnusable(callee);
  if (h::isKernel(callee))
    throw DiagnosticError(
        h::innermostKernel(callee)->location(),
        "'" + name + "' is a kernel; a program needs a function or module that launches it");
  const h::Function *function = callee.as<h::Function>();
  if (callee.as<h::Class>()) {
    callee = construct(callee);
    enterMode(callee);
    bindRoots({{"", callee}});
    h::Value forward = interpreter->getAttr(callee, "forward");
    if (auto *bound = forward.as<h::BoundMethod>())
      function = bound->function.as<h::Function>();
    else
      function = forward.as<h::Function>();
  } else if (!options.init.empty()) {
    throw DiagnosticError(SourceLocation("--init"),
                          "'" + name + "' is a function; constructor arguments are for classes");
  } else if (options.train) {
    bindRoots(heldByFile(*module));
    if (optimizers.empty())
      throw DiagnosticError(SourceLocation("--train"),
                            "'" + name +
                                "' is a function and its file holds no optimiser of torch.optim; "
                                "modules and training steps have a training mode");
  }
  tracer.endConstruction();
  if (plan && !optimizers.empty()) {
    trained.emplace(*interpreter, tracer, optimizers, parameters());
    trained->prepare(*plan, [&](const StateTensor &state) { return bindState(state); });
  }
  h::CallArgs args = bindInputs(function, callee, inputs);
  setConstructing(*interpreter, false);
  if (planned && !optimizers.empty()) {
    *planned = planTraining(*interpreter, tracer, optimizers, parameters(), rootValues,
                            [&] { interpreter->call(callee, args); });
    return {};
  }
  if (planned)
    return {};
  h::Value result = interpreter->call(callee, std::move(args));
  finish(result);
  tracer.program.sourceNames = interpreter->sourceNames();
  return std::move(tracer.program);
}

/// The objects and tensors of a file, which a function of it trains.
ModelTrace::Roots ModelTrace::heldByFile(const h::Module &module) {
  Roots roots;
  for (const auto &[name, value] : module.globals->items())
    if (value.as<h::Instance>() || value.as<TensorObject>())
      roots.emplace_back(name, value);
  return roots;
}

void ModelTrace::bindRoots(const Roots &roots) {
  for (const auto &[name, value] : roots) {
    rootValues.push_back(value);
    if (!options.train)
      continue;
    for (HeldOptimizer &one : optimizersOf(*interpreter, value, name))
      if (std::none_of(optimizers.begin(), optimizers.end(),
                       [&](const auto &known) { return known.object == one.object; }))
        optimizers.push_back(std::move(one));
  }
  bindTensors(roots);
}

/// What the modules hold, by name.
NamedTensors ModelTrace::parameters() const {
  NamedTensors out;
  for (const HeldTensor &tensor : held)
    out.emplace_back(tensor.name, tensor.object);
  return out;
}

/// What an optimiser keeps is a buffer of the program.
TracedTensor ModelTrace::bindState(const StateTensor &state) {
  Weight weight = state.copyOf.empty() ? initialWeight(state.name, state.type, state.initializer)
                                       : copiedWeight(state);
  std::string flat = state.name;
  std::replace(flat.begin(), flat.end(), '.', '_');
  TracedTensor tensor = tracer.unbound(state.type, {});
  tracer.bind(tensor, tracer.graph().placeholder("b_" + flat, state.type));
  InputSpec spec;
  spec.kind = InputSpec::Kind::Buffer;
  spec.name = state.name;
  tracer.program.inputs.push_back(spec);
  tracer.program.weights[state.name] = std::move(weight);
  buffers.emplace_back(state.name, tensor.storage);
  return tensor;
}

Weight ModelTrace::copiedWeight(const StateTensor &state) {
  std::vector<Node *> placeholders = tracer.graph().placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    if (placeholders[i]->name() != state.copyOf)
      continue;
    auto weight = tracer.program.weights.find(tracer.program.inputs[i].name);
    if (weight != tracer.program.weights.end())
      return computedWeight(reference::tensorOf(weight->second), state.type.dtype);
  }
  throw DiagnosticError(SourceLocation("--train"),
                        "the first value of '" + state.name +
                            "' is a copy of an input; what an optimiser keeps begins with "
                            "numbers or a copy of its parameter");
}

h::Value ModelTrace::construct(const h::Value &cls) {
  h::CallArgs args;
  for (const auto &[key, text] : options.init) {
    auto file = std::make_shared<SourceFile>("--init " + key + "=" + text, text);
    args.keywords.emplace_back(key, interpreter->evaluateText(file));
  }
  setConstructing(*interpreter, true);
  return interpreter->call(cls, std::move(args));
}

/// A program computes what the model does after eval(), or train() where that is asked for.
void ModelTrace::enterMode(const h::Value &model) {
  if (!interpreter->isInstance(model, moduleClass()))
    return;
  interpreter->call(interpreter->getAttr(model, options.train ? "train" : "eval"));
  if (options.train)
    return;
  if (std::vector<std::string> changed = trainingDependence(*interpreter, model);
      !changed.empty()) {
    std::string text;
    for (const std::string &one : changed)
      text += (text.empty() ? "" : ", ") + one;
    options.note("the model is compiled as after eval(): " + text);
  }
}

h::CallArgs ModelTrace::bindInputs(const h::Function *function, const h::Value &callee,
                                   const std::vector<TraceInput> &inputs) {
  std::vector<std::string> names;
  bool method = callee.as<h::Instance>() != nullptr;
  if (function && function->parameters) {
    for (const auto *list : {&function->parameters->posonlyargs, &function->parameters->args,
                             &function->parameters->kwonlyargs})
      for (const auto &parameter : *list)
        names.push_back(parameter->arg);
    if (method && !names.empty())
      names.erase(names.begin());
  }
  h::CallArgs args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = inputs[i].name;
    if (name.empty())
      name = i < names.size() ? names[i] : "arg" + std::to_string(i);
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      std::string list;
      for (const std::string &n : names)
        list += (list.empty() ? "'" : ", '") + n + "'";
      throw DiagnosticError(SourceLocation("--input " + name),
                            "the model has no parameter '" + name + "'; it has " + list);
    }
    args.keywords.emplace_back(name, inputValue(inputs[i], name));
  }
  return args;
}

h::Value ModelTrace::literalValue(const std::string &name, const std::string &text) {
  return interpreter->evaluateText(
      std::make_shared<SourceFile>("--input " + name + "=" + text, text));
}

/// Tensors inside of containers are inputs of their own.
h::Value ModelTrace::inputValue(const TraceInput &input, const std::string &name) {
  if (input.form == TraceInput::Form::Literal)
    return literalValue(name, input.literal);
  if (input.form == TraceInput::Form::Tensor) {
    TracedTensor tensor = tracer.placeholder(name, input.type);
    InputSpec spec;
    spec.name = name;
    tracer.program.inputs.push_back(spec);
    userInputs.emplace_back(name, tensor.storage);
    return tensorValue(tracer, tensor);
  }
  h::Dict dict;
  h::List list;
  for (size_t i = 0; i < input.elements.size(); ++i) {
    const TraceInput &element = input.elements[i];
    if (input.form != TraceInput::Form::Dict) {
      list.push_back(inputValue(element, element.name));
      continue;
    }
    h::Value key = literalValue(name, element.key);
    if (!h::hashOf(key))
      throw DiagnosticError(SourceLocation("--input " + name),
                            "unhashable key " + h::repr(key) + " in a dict");
    dict.set(key, inputValue(element, element.name));
  }
  return input.form == TraceInput::Form::Dict    ? h::Value::dict(std::move(dict))
         : input.form == TraceInput::Form::Tuple ? h::Value::tuple(std::move(list))
                                                 : h::Value::list(std::move(list));
}

void ModelTrace::finish(const h::Value &result) {
  std::vector<Argument> results, outputs;
  std::vector<OutputSpec> specs;
  SourceLocation where = interpreter->location();
  collectResults(result, results, where);
  std::swap(specs, tracer.program.outputs);
  keepRebound(*interpreter, tracer, held);
  if (trained)
    trained->finish();
  auto mutation = [&](const std::string &name, const std::shared_ptr<TracedStorage> &storage,
                      OutputSpec::Kind kind) {
    if (storage->conflict)
      tracer.checkKnown(*storage, storage->conflict->written);
    // A kernel that could not be analysed hardly writes to parameters.
    if (storage->version == 0 || (storage->isParameter && !storage->written))
      return;
    outputs.push_back(Argument(storage->base));
    tracer.program.outputs.push_back({kind, name});
  };
  for (const auto &[name, storage] : buffers)
    mutation(name, storage, OutputSpec::Kind::BufferMutation);
  for (const auto &[name, storage] : userInputs)
    mutation(name, storage, OutputSpec::Kind::UserInputMutation);
  outputs.insert(outputs.end(), results.begin(), results.end());
  tracer.program.outputs.insert(tracer.program.outputs.end(), specs.begin(), specs.end());
  for (const auto &[name, storage] : tracer.lifted) {
    if (storage->outlivesCall && storage->written)
      throw DiagnosticError(*storage->written,
                            "a tensor that was made outside of forward is written to in "
                            "it; a program's constants are read-only, so clone() it "
                            "first, or make it an input");
    tracer.program.weights[name] = initialWeight(
        name, tracer.program.main.find("c_" + name)->result()->type(), storage->initializer);
  }
  tracer.program.main.output(std::move(outputs));
}

void ModelTrace::collectResults(const h::Value &given, std::vector<Argument> &outputs,
                                const SourceLocation &where) {
  h::Value value = h::contentOf(given);
  if (auto *number = value.as<ItemNumber>())
    value = number->operands[0];
  if (value.isNone())
    return;
  if (value.isSequence()) {
    for (const h::Value &element : value.elements())
      collectResults(element, outputs, where);
    return;
  }
  // What torch.sort and its kin give.
  if (auto *instance = value.as<h::Instance>(); instance && instance->cls->find("_fields")) {
    for (const h::Value &element : interpreter->iterate(value))
      collectResults(element, outputs, where);
    return;
  }
  if (value.isDict()) {
    for (const auto &[key, element] : value.dictionary().items())
      collectResults(element, outputs, where);
    return;
  }
  auto *tensor = value.as<TensorObject>();
  if (!tensor)
    throw DiagnosticError(where,
                          "the model returns a value of type " + h::typeName(value) +
                              "; tensors and tuples, lists and dicts of them can be returned");
  if (const auto &conflict = tensor->tensor.storage->conflict)
    tracer.checkKnown(*tensor->tensor.storage, conflict->written);
  outputs.push_back(Argument(tracer.valueOf(tensor->tensor, where)));
  tracer.program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
}

/// With branches on dynamic dims as selections where that goes, else along the example.
static Program traceEitherWay(const std::string &path, const std::string &name,
                              const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                              const TraceOptions &options) {
  TrainingPlan plan;
  if (options.train) {
    TraceOptions silent = options;
    silent.warn = [](Diagnostic) {};
    silent.note = [](const std::string &) {};
    ModelTrace planning(symbols, silent);
    planning.planned = &plan;
    planning.trace(path, name, inputs);
  }
  std::vector<Diagnostic> warnings;
  std::vector<std::string> notes;
  TraceOptions attempt = options;
  attempt.warn = [&](Diagnostic warning) { warnings.push_back(std::move(warning)); };
  attempt.note = [&](const std::string &note) { notes.push_back(note); };
  ModelTrace trace(symbols, attempt, &plan);
  try {
    Program program = trace.trace(path, name, inputs);
    for (Diagnostic &warning : warnings)
      options.warn(std::move(warning));
    for (const std::string &note : notes)
      options.note(note);
    return program;
  } catch (const DiagnosticError &) {
    if (options.strict || !trace.tracer.merged)
      throw;
  }
  // A selection can stand where only a number can; the example then decides.
  ModelTrace following(symbols, options, &plan);
  following.tracer.mergesBranches = false;
  return following.trace(path, name, inputs);
}

/// Most models ask for no gradient, and nothing is noted for one then.
static Program traceWithGradients(const std::string &path, const std::string &name,
                                  const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                                  const TraceOptions &options) {
  try {
    return traceEitherWay(path, name, inputs, symbols, options);
  } catch (const autograd::GradientsAsked &) {
    TraceOptions again = options;
    again.gradients = true;
    return traceEitherWay(path, name, inputs, symbols, again);
  }
}

Program traceModel(const std::string &path, const std::string &name,
                   const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                   const TraceOptions &options) {
  try {
    return traceWithGradients(path, name, inputs, symbols, options);
  } catch (const DiagnosticError &error) {
    throw DiagnosticError(atUsersLine(error.diagnostic));
  }
}

} // namespace pellucid::trace
