// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"

namespace pellucid::passes {

/// The names of buffers and parameters that the program changes, in the order of its outputs.
std::vector<std::string> changedBuffers(const graph::Program &program);

/// Makes each of them an input of its own name whose new contents are written back to it: a
/// package's weights are read-only and shared by all calls, so what changes comes from outside,
/// from an instance of the package or the caller. Throws DiagnosticError where an input has such a
/// name already.
void stateAsInputs(graph::Program &program);

} // namespace pellucid::passes
