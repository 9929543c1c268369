// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/StateAsInputs.h"

#include "support/Diagnostics.h"

#include <algorithm>

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

void stateAsInputs(Program &program) {
  std::vector<std::string> names = changedBuffers(program);
  for (InputSpec &input : program.inputs) {
    bool changes = std::find(names.begin(), names.end(), input.name) != names.end();
    if (changes && input.kind == InputSpec::Kind::UserInput)
      throw DiagnosticError(SourceLocation(input.name),
                            "is the name of an input and of a buffer that the model changes; "
                            "rename one of them");
    if (!changes)
      continue;
    if (input.name == safetensorsMetadata)
      throw DiagnosticError(SourceLocation(input.name),
                            "cannot be the name of a buffer that the model changes: files of "
                            "state use it; rename it");
    input.kind = InputSpec::Kind::UserInput;
    // Of buffers in general; the program may have asked.
    input.alignment = stateAlignment;
  }
  for (OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::BufferMutation)
      output.kind = OutputSpec::Kind::UserInputMutation;
}

} // namespace pellucid::passes
