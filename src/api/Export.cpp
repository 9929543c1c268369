// SPDX-License-Identifier: Apache-2.0
// Programs: tracing C++ functions and modules, and what can be done with the result.
#include "api/Recording.h"
#include "graph/NodeTable.h"
#include "graph/ProgramFile.h"
#include "graph/ProgramText.h"
#include "passes/graph/InlineOperators.h"

#include <algorithm>
#include <numeric>

namespace pellucid {

using namespace api;
using graph::InputSpec;
using graph::TensorType;
using symbolic::Expr;

namespace {

void declare(symbolic::SymbolTable &symbols, const Dim &dim, int64_t example,
             const std::string &input) {
  if (example < dim.min || example > dim.max)
    throw Error("input '" + input + "': '" + dim.name + "' is " + std::to_string(example) +
                " in the example, its range is " + std::to_string(dim.min) + ".." +
                std::to_string(dim.max));
  if (const auto *known = symbols.find(dim.name)) {
    if (known->range.min != dim.min || known->range.max != dim.max)
      throw Error("'" + dim.name + "' is declared with two ranges");
    if (known->hint != example)
      throw Error("'" + dim.name + "' is " + std::to_string(*known->hint) + " in one example and " +
                  std::to_string(example) + " in input '" + input + "'");
    return;
  }
  symbols.declare(dim.name, {{dim.min, dim.max}, 1, example});
}

/// The example's strides, in terms of dynamic sizes where the example is dense.
std::vector<Expr> stridesOf(const TensorState &example, const std::vector<Expr> &shape) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return example.strides[a] > example.strides[b]; });
  std::vector<Expr> strides(shape.size());
  Expr next = 1;
  int64_t expected = 1;
  for (size_t k = order.size(); k-- > 0;) {
    size_t d = order[k];
    if (example.shape[d] != 1 && example.strides[d] != expected)
      return std::vector<Expr>(example.strides.begin(), example.strides.end());
    strides[d] = next;
    next = next * shape[d];
    expected *= example.shape[d];
  }
  return strides;
}

} // namespace

namespace api {

static TensorType inputType(symbolic::SymbolTable &symbols, const TensorState &example,
                            const std::map<size_t, Dim> *dynamic, const std::string &name) {
  std::vector<Expr> shape(example.shape.begin(), example.shape.end());
  if (dynamic)
    for (const auto &[d, dim] : *dynamic) {
      if (d >= shape.size())
        throw Error("input '" + name + "' has " + std::to_string(shape.size()) + " dims; dim " +
                    std::to_string(d) + " cannot be dynamic");
      declare(symbols, dim, example.shape[d], name);
      shape[d] = Expr::symbol(dim.name);
    }
  TensorType type(example.type, shape);
  if (!isRowMajor(example))
    type.strides = stridesOf(example, shape);
  return type;
}

std::vector<NamedInput> inputsOf(symbolic::SymbolTable &symbols,
                                 const std::vector<Tensor> &examples, const DynamicShapes &dynamic,
                                 const std::vector<std::string> &names) {
  for (const auto &[input, dims] : dynamic)
    if (input >= examples.size())
      throw Error("input " + std::to_string(input) + " has dynamic dims; there are " +
                  std::to_string(examples.size()) + " inputs");
  if (!names.empty() && names.size() != examples.size())
    throw Error(std::to_string(names.size()) + " names are given for " +
                std::to_string(examples.size()) + " inputs");
  std::vector<NamedInput> inputs;
  for (size_t i = 0; i < examples.size(); ++i) {
    std::string name = names.empty() ? "arg" + std::to_string(i) : names[i];
    if (isTraced(stateOf(examples[i], name.c_str())))
      throw Error("input '" + name + "': an example must hold data");
    Tensor example = inMemory(examples[i], name.c_str());
    auto dims = dynamic.find(i);
    inputs.push_back({name, inputType(symbols, *example.state,
                                      dims == dynamic.end() ? nullptr : &dims->second, name)});
  }
  return inputs;
}

std::shared_ptr<Recording> traceFunction(const Function &function, nn::Module *module,
                                         const std::vector<Tensor> &examples,
                                         const DynamicShapes &dynamic, bool strict,
                                         const std::vector<std::string> &names) {
  if (Recording::active())
    throw Error("a trace cannot be started inside of another");
  auto recording = std::make_shared<Recording>();
  Recording::Scope scope(*recording);
  recording->tracer.strict = recording->tracer.program.strict = strict;
  if (module) {
    for (const auto &[name, tensor] : module->named_parameters())
      recording->addWeight(name, tensor, InputSpec::Kind::Parameter);
    for (const auto &[name, tensor] : module->named_buffers())
      recording->addWeight(name, tensor, InputSpec::Kind::Buffer);
  }
  std::vector<Tensor> inputs;
  for (const NamedInput &input :
       inputsOf(recording->tracer.program.symbols, examples, dynamic, names))
    inputs.push_back(recording->addInput(input.name, input.type));
  recording->finish(module ? module->forward(inputs) : function(inputs));
  return recording;
}

} // namespace api

static ExportedProgram fromRecording(Recording &recording) {
  ExportedProgram exported;
  exported.state = std::make_shared<detail::ProgramState>();
  exported.state->program = std::move(recording.tracer.program);
  exported.state->program.sourceNames = std::move(recording.sourceNames);
  exported.state->warnings = recording.warnings;
  return exported;
}

static const graph::Program &programOf(const ExportedProgram &exported) {
  if (!exported.state)
    throw Error("the program is empty; make it with export_program or load_program");
  return exported.state->program;
}

ExportedProgram export_program(const Function &function, const std::vector<Tensor> &examples,
                               const DynamicShapes &dynamic, bool strict,
                               const std::vector<std::string> &names) {
  return guarded([&] {
    return fromRecording(*traceFunction(function, nullptr, examples, dynamic, strict, names));
  });
}

ExportedProgram export_program(nn::Module &module, const std::vector<Tensor> &examples,
                               const DynamicShapes &dynamic, bool strict,
                               const std::vector<std::string> &names) {
  return guarded(
      [&] { return fromRecording(*traceFunction({}, &module, examples, dynamic, strict, names)); });
}

std::string ExportedProgram::graph_table() const {
  return guarded([&] {
    return graph::printNodeTable(graph::nodeRows(programOf(*this), programOf(*this).main));
  });
}
std::string ExportedProgram::text() const {
  return guarded([&] { return graph::printProgram(programOf(*this)); });
}
std::vector<std::string> ExportedProgram::warnings() const {
  return state ? state->warnings : std::vector<std::string>();
}

ExportedProgram ExportedProgram::run_decompositions() const {
  return guarded([&] {
    ExportedProgram opened;
    opened.state = std::make_shared<detail::ProgramState>();
    opened.state->program = programOf(*this).clone();
    opened.state->warnings = state->warnings;
    passes::inlineOperators(opened.state->program, /*transparentOnly=*/true);
    return opened;
  });
}

void ExportedProgram::save(const std::string &path) const {
  guarded([&] { graph::saveProgram(programOf(*this), path); });
}

ExportedProgram load_program(const std::string &path) {
  return guarded([&] {
    ExportedProgram loaded;
    loaded.state = std::make_shared<detail::ProgramState>();
    loaded.state->program = graph::loadProgram(path);
    return loaded;
  });
}

} // namespace pellucid
