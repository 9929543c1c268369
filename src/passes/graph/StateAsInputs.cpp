// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/StateAsInputs.h"

#include "support/Diagnostics.h"

#include <set>

namespace pellucid::passes {

using namespace graph;

static constexpr const char *safetensorsMetadata = "__metadata__";
static constexpr uint32_t stateAlignment = 64;

std::vector<std::string> changedBuffers(const Program &program) {
  std::vector<std::string> names;
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::BufferMutation)
      names.push_back(output.name);
  return names;
}

std::map<std::string, std::string> stateAsInputs(Program &program, bool ofCaller) {
  std::vector<std::string> names = changedBuffers(program);
  std::set<std::string> changes(names.begin(), names.end()), inputs;
  for (const InputSpec &input : program.inputs)
    if (input.kind == InputSpec::Kind::UserInput)
      inputs.insert(input.name);
  std::map<std::string, std::string> newNames, modelNames;
  for (const std::string &name : names) {
    bool isTaken = inputs.count(name);
    if (isTaken && ofCaller)
      throw DiagnosticError(SourceLocation(name),
                            "is the name of an input and of a buffer that the model changes, which "
                            "becomes an input too; rename one of them");
    if (name == safetensorsMetadata)
      throw DiagnosticError(SourceLocation(name),
                            "cannot be the name of a buffer that the model changes: files of "
                            "state use it; rename it");
    std::string made = name;
    while (inputs.count(made))
      made = "state " + made;
    inputs.insert(made);
    newNames[name] = made;
    modelNames[made] = name;
  }
  for (InputSpec &input : program.inputs) {
    if (input.kind == InputSpec::Kind::UserInput || !changes.count(input.name))
      continue;
    input.name = newNames.at(input.name);
    input.kind = InputSpec::Kind::UserInput;
    // Of buffers in general; the program may have asked.
    input.alignment = stateAlignment;
  }
  for (OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::BufferMutation) {
      output.kind = OutputSpec::Kind::UserInputMutation;
      output.name = newNames.at(output.name);
    }
  return modelNames;
}

} // namespace pellucid::passes
