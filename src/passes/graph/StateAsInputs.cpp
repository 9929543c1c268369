// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/StateAsInputs.h"

#include "support/Diagnostics.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

std::vector<std::string> changedBuffers(const Program &program) {
  std::vector<std::string> names;
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::BufferMutation)
      names.push_back(output.name);
  return names;
}

void stateAsInputs(Program &program) {
  std::vector<std::string> names = changedBuffers(program);
  for (InputSpec &input : program.inputs) {
    bool changes = std::find(names.begin(), names.end(), input.name) != names.end();
    if (changes && input.kind == InputSpec::Kind::UserInput)
      throw DiagnosticError(SourceLocation(input.name),
                            "is the name of an input and of a buffer that the model changes, which "
                            "becomes an input too; rename one of them");
    if (changes)
      input.kind = InputSpec::Kind::UserInput;
  }
  for (OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::BufferMutation)
      output.kind = OutputSpec::Kind::UserInputMutation;
}

} // namespace pellucid::passes
