// SPDX-License-Identifier: Apache-2.0
#include "exec/Programs.h"

#include "driver/LoadModel.h"
#include "exec/ScriptHooks.h"
#include "graph/NodeTable.h"
#include "host/InterpreterState.h"
#include "package/PackageFile.h"
#include "package/PackageWriter.h"
#include "passes/graph/InlineOperators.h"
#include "trace/TensorObject.h"
#include "trace/WriteArchive.h"

#include <algorithm>

namespace pellucid::exec {

namespace h = pellucid::host;
using graph::InputSpec;
using graph::OutputSpec;
using Bound = std::vector<h::Value>;

void collectTensors(h::Interpreter &interpreter, const h::Value &value,
                    std::vector<h::Value> &out) {
  if (value.as<trace::TensorObject>())
    out.push_back(value);
  else if (value.isDict())
    for (const auto &[key, element] : value.dictionary().items())
      collectTensors(interpreter, element, out);
  else if (value.isSequence())
    for (const h::Value &element : value.elements())
      collectTensors(interpreter, element, out);
  else if (value.as<h::Instance>() && interpreter.findAttr(value, "_fields"))
    for (const h::Value &element : interpreter.iterate(value))
      collectTensors(interpreter, element, out);
}

namespace {

/// What stands at a leaf instead; nullopt: what is there.
using Leaf = std::function<std::optional<h::Value>(const h::Value &)>;

/// The structure of dicts, lists, tuples and named ones with other leaves.
h::Value withLeaves(h::Interpreter &interpreter, const h::Value &shape, const Leaf &leaf) {
  if (auto other = leaf(shape))
    return *other;
  if (shape.isDict()) {
    h::Dict dict;
    for (const auto &[key, element] : shape.dictionary().items())
      dict.set(key, withLeaves(interpreter, element, leaf));
    return h::Value::dict(std::move(dict));
  }
  std::vector<h::Value> elements;
  if (shape.isSequence()) {
    for (const h::Value &element : shape.elements())
      elements.push_back(withLeaves(interpreter, element, leaf));
    return shape.isTuple() ? h::Value::tuple(std::move(elements))
                           : h::Value::list(std::move(elements));
  }
  auto *instance = shape.as<h::Instance>();
  if (!instance || !interpreter.findAttr(shape, "_fields"))
    return shape;
  for (const h::Value &element : interpreter.iterate(shape))
    elements.push_back(withLeaves(interpreter, element, leaf));
  return interpreter.call(h::Value(instance->cls), std::move(elements));
}

} // namespace

// ---- running
// --------------------------------------------------------------------------------------------------------

namespace {

/// The program as a function of its tensors: what it writes to inputs and buffers it gives as
/// results, and buffers that it writes to are inputs behind the others.
graph::Program asFunction(const graph::Program &program) {
  graph::Program out = program.clone();
  for (OutputSpec &output : out.outputs) {
    if (output.kind == OutputSpec::Kind::BufferMutation)
      for (InputSpec &input : out.inputs)
        if (input.kind != InputSpec::Kind::UserInput && input.name == output.name) {
          out.weights.erase(input.name);
          input.kind = InputSpec::Kind::UserInput;
        }
    output = {OutputSpec::Kind::UserOutput, ""};
  }
  return out;
}

/// The script's tensor over all of a storage.
h::Value wholeTensor(eager::Session &session,
                     const std::shared_ptr<trace::TracedStorage> &storage) {
  trace::TracedTensor tensor;
  tensor.storage = storage;
  tensor.type = storage->type;
  return trace::tensorValue(session.tracer(), tensor);
}

/// Where the program's tensors are: with its inputs, or with what it holds.
graph::Device deviceOf(const ProgramObject &program, const std::vector<h::Value> &inputs) {
  for (const h::Value &input : inputs)
    if (auto *tensor = input.as<trace::TensorObject>();
        tensor && tensor->tensor.storage->device.kind == graph::Device::Kind::Cuda)
      return tensor->tensor.storage->device;
  if (inputs.empty())
    for (const auto &[storage, version] : program.traced.held)
      if (storage->device.kind == graph::Device::Kind::Cuda)
        return storage->device;
  return {};
}

using Sizes = std::map<std::string, int64_t>;

/// What the symbols of the program's inputs are in this call.
Sizes sizesOf(const graph::Program &program, const std::vector<h::Value> &inputs) {
  Sizes sizes;
  size_t user = 0, at = 0;
  for (const graph::Node &node : program.main) {
    if (!node.isPlaceholder())
      continue;
    if (program.inputs.at(at++).kind != InputSpec::Kind::UserInput || user >= inputs.size())
      continue;
    auto *tensor = inputs[user++].as<trace::TensorObject>();
    if (!tensor || !node.result()->isTensor())
      continue;
    const auto &dims = node.result()->type().shape, &given = tensor->tensor.type.shape;
    for (size_t d = 0; d < std::min(dims.size(), given.size()); ++d)
      if (dims[d].op() == symbolic::ExprOp::Symbol && given[d].isConstant())
        sizes[dims[d].symbolName()] = *given[d].constant();
  }
  return sizes;
}

/// What a size, a condition on sizes or arithmetic of them is in this call; nullopt for other
/// values.
std::optional<h::Value> numberOf(h::Interpreter &interpreter, const h::Value &value,
                                 const Sizes &sizes) {
  auto *number = value.as<h::SymFloat>();
  if (!value.isSymInt() && !value.isSymBool() && !number)
    return std::nullopt;
  if (!number) {
    if (auto known = symbolic::evaluate(value.isSymInt() ? value.symInt() : value.symBool(), sizes))
      return value.isSymInt() ? h::Value(*known) : h::Value(*known != 0);
  } else if (auto *op = std::get_if<h::BinaryOp>(&number->operation)) {
    std::vector<h::Value> operands;
    for (const h::Value &operand : number->operands)
      operands.push_back(numberOf(interpreter, operand, sizes).value_or(operand));
    return interpreter.binary(*op, operands.at(0), operands.at(1));
  }
  interpreter.refuse("the program's result " + h::repr(value) +
                     " is a number that follows from no input's size alone; give it as a tensor");
}

/// What one of the program's inputs and buffers is in the script.
h::Value tensorNamed(eager::Session &session, const ProgramObject &program, const std::string &name,
                     bool isInput, const std::vector<h::Value> &inputs) {
  size_t user = 0, held = 0;
  for (const InputSpec &spec : program.traced.program.inputs) {
    bool isUser = spec.kind == InputSpec::Kind::UserInput;
    if (isUser == isInput && spec.name == name)
      return isUser ? inputs.at(user) : wholeTensor(session, program.traced.held.at(held).first);
    ++(isUser ? user : held);
  }
  throw DiagnosticError(SourceLocation(name), "the program has no such input");
}

} // namespace

h::Value runProgram(eager::Session &session, h::Interpreter &interpreter, ProgramObject &program,
                    const std::vector<h::Value> &inputs) {
  const graph::Program &source = program.traced.program;
  if (!program.compiled)
    program.compiled = session.compile(asFunction(source), deviceOf(program, inputs));
  std::vector<h::Value> all;
  size_t user = 0;
  for (const InputSpec &spec : program.compiled->program().inputs) {
    if (spec.kind != InputSpec::Kind::UserInput)
      continue;
    // Those that were buffers stand where they stood.
    bool isInput = false;
    for (const InputSpec &before : source.inputs)
      isInput |= before.kind == InputSpec::Kind::UserInput && before.name == spec.name;
    if (isInput && user >= inputs.size())
      interpreter.raise("TypeError", "the program takes more tensors than it was given");
    all.push_back(isInput ? inputs[user++]
                          : tensorNamed(session, program, spec.name, false, inputs));
  }
  std::vector<h::Value> outputs = session.run(*program.compiled, all), results;
  graph::Device device = deviceOf(program, inputs);
  for (const h::Value &output : outputs)
    output.as<trace::TensorObject>()->tensor.storage->device = device;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputSpec &spec = source.outputs.at(i);
    if (spec.kind == OutputSpec::Kind::UserOutput) {
      results.push_back(outputs[i]);
      continue;
    }
    h::Value target = tensorNamed(session, program, spec.name,
                                  spec.kind == OutputSpec::Kind::UserInputMutation, inputs);
    interpreter.call(interpreter.getAttr(target, "copy_"), {outputs[i]});
  }
  size_t next = 0;
  Sizes sizes = sizesOf(source, inputs);
  return withLeaves(interpreter, program.traced.result,
                    [&](const h::Value &leaf) -> std::optional<h::Value> {
                      auto *traced = leaf.as<trace::TensorObject>();
                      if (!traced || next >= results.size())
                        return numberOf(interpreter, leaf, sizes);
                      // What was put elsewhere than the rest is there in every call.
                      graph::Device said = traced->tensor.storage->device;
                      if (said.kind != program.traced.device.kind)
                        results[next].as<trace::TensorObject>()->tensor.storage->device = said;
                      return results[next++];
                    });
}

// ---- native functions
// -----------------------------------------------------------------------------------------------

namespace {

/// Per tensor and dim None or (symbol, least, most).
eager::TraceRequest requestOf(h::Interpreter &interpreter, const h::Value &dims, bool strict) {
  eager::TraceRequest request;
  request.strict = strict;
  for (const h::Value &tensor : interpreter.iterate(dims)) {
    auto &row = request.dims.emplace_back();
    for (const h::Value &dim : interpreter.iterate(tensor)) {
      if (dim.isNone()) {
        row.emplace_back();
        continue;
      }
      const h::Tuple &parts = dim.tuple();
      row.push_back(eager::TraceRequest::Dim{interpreter.toStr(parts.at(0), "a dim's name"),
                                             interpreter.toInt64(parts.at(1), "min"),
                                             interpreter.toInt64(parts.at(2), "max")});
    }
  }
  return request;
}

/// What is refused while `body` runs is raised as an exception of that class, at its place.
template <typename Body>
auto raising(h::Interpreter &interpreter, const h::Value &errorClass, const Body &body) {
  try {
    return body();
  } catch (const h::RaisedError &) {
    throw;
  } catch (const DiagnosticError &error) {
    h::Value exception = interpreter.call(errorClass, {h::Value(error.diagnostic.message)});
    h::noteRaised(interpreter, exception);
    throw h::RaisedError(error.diagnostic, exception);
  }
}

h::CallArgs callOf(h::Interpreter &interpreter, const h::Value &args, const h::Value &kwargs) {
  h::CallArgs call;
  call.positional = interpreter.iterate(args);
  for (const auto &[name, value] : kwargs.dictionary().items())
    call.keywords.emplace_back(interpreter.toStr(name, "a keyword"), value);
  call.location = interpreter.location();
  return call;
}

h::Value tracedProgram(eager::Session &session, h::Interpreter &interpreter, Bound &a) {
  // callable, args, kwargs, dims, strict, error
  auto program = std::make_shared<ProgramObject>();
  raising(interpreter, a[5], [&] {
    program->traced = session.trace(a[0], callOf(interpreter, a[1], a[2]),
                                    requestOf(interpreter, a[3], interpreter.truth(a[4])));
  });
  return h::Value(program);
}

ProgramObject &programOf(const h::Value &value) {
  return value.expect<ProgramObject>("a traced program");
}

h::Value nodeRows(h::Interpreter &, Bound &a) {
  const graph::Program &program = programOf(a[0]).traced.program;
  h::List rows;
  for (const graph::NodeRow &row : graph::nodeRows(program, program.main))
    rows.push_back(h::Value::tuple({h::Value(row.opcode), h::Value(row.name), h::Value(row.target),
                                    h::Value(row.args), h::Value(row.kwargs)}));
  return h::Value::list(std::move(rows));
}

h::Value nodeTable(h::Interpreter &, Bound &a) {
  const graph::Program &program = programOf(a[0]).traced.program;
  return h::Value(graph::printNodeTable(graph::nodeRows(program, program.main)));
}

h::Value inputsOf(h::Interpreter &, Bound &a) {
  static constexpr const char *kinds[] = {"user", "parameter", "buffer", "constant", "literal"};
  h::List rows;
  for (const InputSpec &spec : programOf(a[0]).traced.program.inputs)
    rows.push_back(h::Value::tuple({h::Value(kinds[size_t(spec.kind)]), h::Value(spec.name)}));
  return h::Value::list(std::move(rows));
}

/// For each result what it is and its name: the value's, or that of what is written to.
h::Value outputsOf(h::Interpreter &, Bound &a) {
  static constexpr const char *kinds[] = {"user", "buffer_mutation", "input_mutation"};
  const graph::Program &program = programOf(a[0]).traced.program;
  h::List rows;
  std::vector<graph::NodeRow> nodes = graph::nodeRows(program, program.main);
  std::string names = nodes.empty() ? "" : nodes.back().args;
  for (const OutputSpec &spec : program.outputs) {
    const char *kind = spec.kind == OutputSpec::Kind::UserOutput       ? kinds[0]
                       : spec.kind == OutputSpec::Kind::BufferMutation ? kinds[1]
                                                                       : kinds[2];
    rows.push_back(h::Value::tuple({h::Value(kind), h::Value(spec.name)}));
  }
  return h::Value::tuple({h::Value::list(std::move(rows)), h::Value(names)});
}

/// Whether a weight that the program holds was written to since it was traced. What the program
/// itself writes to is given to it in each call.
h::Value haveChanged(h::Interpreter &interpreter, Bound &a) {
  const ProgramObject &object = programOf(a[0]);
  size_t held = 0;
  for (const InputSpec &spec : object.traced.program.inputs) {
    if (spec.kind == InputSpec::Kind::UserInput)
      continue;
    const auto &[storage, version] = object.traced.held.at(held++);
    bool isWritten = std::ranges::any_of(object.traced.program.outputs, [&](const auto &output) {
      return output.kind == OutputSpec::Kind::BufferMutation && output.name == spec.name;
    });
    if (!isWritten && storage->version != version)
      return h::Value(true);
  }
  // Parameters that were given other memory.
  for (const h::Value &parameter : interpreter.iterate(a[1])) {
    auto *tensor = parameter.as<trace::TensorObject>();
    if (tensor && std::ranges::none_of(object.traced.held, [&](const auto &one) {
          return one.first == tensor->tensor.storage;
        }))
      return h::Value(true);
  }
  return h::Value(false);
}

/// symbol -> (least, most).
h::Value rangesOf(h::Interpreter &, Bound &a) {
  h::Dict out;
  const graph::Program &program = programOf(a[0]).traced.program;
  for (const std::string &name : program.symbols.names()) {
    const symbolic::Range &range = program.symbols.find(name)->range;
    out.set(h::Value(name), h::Value::tuple({h::Value(range.min), h::Value(range.max)}));
  }
  return h::Value::dict(std::move(out));
}

h::Value decomposed(h::Interpreter &, Bound &a) {
  const ProgramObject &before = programOf(a[0]);
  auto after = std::make_shared<ProgramObject>();
  after->traced.result = before.traced.result;
  after->traced.followed = before.traced.followed;
  after->traced.held = before.traced.held;
  after->traced.program = before.traced.program.clone();
  passes::inlineOperators(after->traced.program, /*transparentOnly=*/true);
  return h::Value(after);
}

void carryWeights(graph::Program &program) {
  for (auto &[name, weight] : program.weights)
    if (weight.data)
      weight.source = graph::Weight::Source::Carried;
}

/// A result's structure as a literal, one `...` for each tensor: `(..., {'a': ...})`.
std::string structureText(h::Interpreter &interpreter, const h::Value &value) {
  if (value.as<trace::TensorObject>())
    return "...";
  std::string out;
  if (value.isDict()) {
    for (const auto &[key, element] : value.dictionary().items())
      out += (out.empty() ? "" : ", ") + h::repr(key) + ": " + structureText(interpreter, element);
    return "{" + out + "}";
  }
  if (h::isSymbolicNumber(value) || value.isSymBool() || value.isObject())
    interpreter.refuse("a package gives tensors, and constants beside them; its result " +
                       h::repr(value) + " is of type " + h::typeName(value));
  if (!value.isSequence())
    return h::repr(value);
  for (const h::Value &element : value.elements())
    out += (out.empty() ? "" : ", ") + structureText(interpreter, element);
  if (value.isTuple() && value.tuple().size() == 1)
    out += ",";
  return value.isTuple() ? "(" + out + ")" : "[" + out + "]";
}

constexpr const char *structureRecord = "script/result";

h::Value writePackage(eager::Session &session, h::Interpreter &interpreter, Bound &a) {
  // program, path, error
  ProgramObject &object = programOf(a[0]);
  const std::string &path = interpreter.toStr(a[1], "package_path");
  raising(interpreter, a[2], [&] {
    for (const OutputSpec &output : object.traced.program.outputs)
      if (output.kind == OutputSpec::Kind::UserInputMutation)
        throw DiagnosticError(interpreter.location(),
                              "the model writes to its input '" + output.name +
                                  "'; a package that a script makes cannot do that: return the "
                                  "new value, or write a copy");
    std::string structure = structureText(interpreter, object.traced.result);
    graph::Program program = object.traced.program.clone();
    carryWeights(program);
    driver::CompileOptions options = eager::eagerOptions(
        /*contractsFma=*/true, session.devices().placeOf(object.traced.device));
    options.stateAsInputs = false;
    options.tf32 = session.truncated().convolutions;
    options.tf32Products = session.truncated().products;
    package::Contents contents;
    driver::CompileReport report;
    Diagnostics diagnostics;
    if (!driver::compileProgram(program, options, contents, report, diagnostics))
      throw DiagnosticError(diagnostics.all().front());
    contents.records.push_back(package::textRecord(structureRecord, structure));
    if (package::Status status = package::writePackage(contents, path); !status.ok())
      throw DiagnosticError(SourceLocation(path), status.message());
  });
  return a[1];
}

/// A package in a file, loaded.
class PackageObject : public h::Object {
public:
  explicit PackageObject(const std::string &path) {
    if (pellucid_load(path.c_str(), &package) != PELLUCID_OK)
      throw DiagnosticError(SourceLocation(path), pellucid_last_error());
    std::unique_ptr<package::PackageFile> file;
    if (package::PackageFile::open(path, file).ok()) {
      isForCpu = std::ranges::any_of(file->manifest().programs, [](const package::Program &one) {
        return one.device == Target::Kind::Cpu;
      });
      if (auto text = file->record(structureRecord))
        structure.assign(text->begin(), text->end());
    }
    if (pellucid_state_count(package) > 0 &&
        pellucid_instance_create(package, nullptr, &instance) != PELLUCID_OK)
      throw DiagnosticError(SourceLocation(path), pellucid_last_error());
  }
  ~PackageObject() override {
    pellucid_instance_destroy(instance);
    (void)pellucid_unload(package);
  }
  std::string typeName() const override { return "AOTICompiledModel"; }
  /// Where it runs without tensors that say it.
  graph::Device device() const {
    return isForCpu ? graph::Device() : graph::Device{graph::Device::Kind::Cuda, 0};
  }

  std::vector<trace::ConcreteTensor> run(const std::vector<trace::ConcreteTensor> &inputs,
                                         graph::Device place) const {
    std::vector<DLTensor> tensors;
    for (const trace::ConcreteTensor &input : inputs)
      tensors.push_back(eager::borrowed(input));
    std::vector<DLManagedTensorVersioned *> outputs(pellucid_output_count(package));
    pellucid_run_options options = eager::scriptRunOptions(place);
    pellucid_status status = instance
                                 ? pellucid_instance_run(instance, tensors.data(), tensors.size(),
                                                         outputs.data(), outputs.size(), &options)
                                 : pellucid_run(package, tensors.data(), tensors.size(),
                                                outputs.data(), outputs.size(), &options);
    if (status != PELLUCID_OK)
      throw DiagnosticError(SourceLocation("package"), pellucid_last_error());
    std::vector<trace::ConcreteTensor> results;
    for (DLManagedTensorVersioned *output : outputs)
      results.push_back(eager::adopted(output));
    return results;
  }

  pellucid_package *package = nullptr;
  pellucid_instance *instance = nullptr;
  std::string structure;
  bool isForCpu = true;
};

h::Value runPackage(eager::Session &session, h::Interpreter &interpreter, Bound &a) {
  // package, tensors, error
  auto &package = a[0].expect<PackageObject>("a package");
  std::vector<h::Value> given;
  graph::Device device = package.device();
  for (const h::Value &tensor : interpreter.iterate(a[1])) {
    given.push_back(tensor);
    if (auto *object = tensor.as<trace::TensorObject>())
      device = object->tensor.storage->device;
  }
  graph::Device place = session.devices().placeOf(device);
  std::vector<trace::ConcreteTensor> inputs;
  for (const h::Value &tensor : given)
    inputs.push_back(session.inputOf(tensor, place));
  std::vector<h::Value> tensors;
  raising(interpreter, a[2], [&] {
    for (const trace::ConcreteTensor &result : package.run(inputs, place))
      tensors.push_back(session.tensorOf(result, device));
  });
  if (package.structure.empty()) // made by `pellucid compile`
    return tensors.size() == 1 ? tensors[0] : h::Value::tuple(std::move(tensors));
  h::Value shape = interpreter.evaluateText(
      std::make_shared<SourceFile>("<" + std::string(structureRecord) + ">", package.structure));
  size_t next = 0;
  return withLeaves(interpreter, shape, [&](const h::Value &leaf) -> std::optional<h::Value> {
    if (leaf.kind() != h::Kind::Ellipsis)
      return std::nullopt;
    return tensors.at(next++);
  });
}

} // namespace

void addPrograms(h::NativeModules &modules, eager::Session &session, ScriptHooks &hooks) {
  modules.add("_programs", [&session, &hooks](h::Interpreter &, h::Module &m) {
    auto add = [&](const char *name, const char *signature, h::NativeFunction::Body body) {
      m.globals->set(name, h::native(name, signature, std::move(body)));
    };
    add("trace", "callable, args, kwargs, dims, strict, error",
        [&session](h::Interpreter &i, Bound &a) { return tracedProgram(session, i, a); });
    add("run", "program, args, kwargs, error", [&session](h::Interpreter &i, Bound &a) {
      std::vector<h::Value> tensors;
      collectTensors(i, a[1], tensors);
      collectTensors(i, a[2], tensors);
      return raising(i, a[3], [&] { return runProgram(session, i, programOf(a[0]), tensors); });
    });
    add("compiled", "function, fullgraph, dynamic",
        [&session, &hooks](h::Interpreter &i, Bound &a) {
          return makeCompiled(session, hooks, a[0], i.truth(a[1]), a[2]);
        });
    add("node_rows", "program", nodeRows);
    add("node_table", "program", nodeTable);
    add("inputs", "program", inputsOf);
    add("outputs", "program", outputsOf);
    add("changed", "program, parameters", haveChanged);
    add("ranges", "program", rangesOf);
    add("decomposed", "program", decomposed);
    add("tensors", "value", [](h::Interpreter &i, Bound &a) {
      std::vector<h::Value> out;
      collectTensors(i, a[0], out);
      return h::Value::list(std::move(out));
    });
    add("save_archive", "program, path, error", [](h::Interpreter &i, Bound &a) {
      raising(i, a[2], [&] {
        graph::Program program = programOf(a[0]).traced.program.clone();
        carryWeights(program);
        trace::writeArchive(program, graph::OperatorRegistry::builtins(),
                            i.toStr(a[1], "a file's name"));
      });
      return h::Value();
    });
    add("load_archive", "path, error", [&session](h::Interpreter &i, Bound &a) {
      return raising(i, a[1], [&] { return loadProgram(session, i.toStr(a[0], "a file's name")); });
    });
    add("set_result", "program, structure", [](h::Interpreter &, Bound &a) {
      programOf(a[0]).traced.result = a[1];
      return h::Value();
    });
    add("write_package", "program, path, error",
        [&session](h::Interpreter &i, Bound &a) { return writePackage(session, i, a); });
    add("load_package", "path, error", [](h::Interpreter &i, Bound &a) {
      return raising(i, a[1], [&] {
        return h::Value(std::make_shared<PackageObject>(i.toStr(a[0], "a package's path")));
      });
    });
    add("run_package", "package, tensors, error", [&session, &hooks](h::Interpreter &i, Bound &a) {
      ScriptHooks::RegionScope region(hooks, "AOTICompiledModel");
      return runPackage(session, i, a);
    });
    add("describe_package", "package", [](h::Interpreter &, Bound &a) {
      return h::Value(pellucid_describe(a[0].expect<PackageObject>("a package").package));
    });
  });
}

} // namespace pellucid::exec
