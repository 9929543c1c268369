// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"

#include <map>

namespace pellucid::passes {

/// The names of buffers and parameters that the program changes, in the order of its outputs.
std::vector<std::string> changedBuffers(const graph::Program &program);

/// Makes each of them an input of its own name whose new contents are written back to it: a
/// package's weights are read-only and shared by all calls, so what changes comes from outside,
/// from an instance of the package or the caller. Of the caller's, an input of that name must not
/// be there (DiagnosticError); an instance's gets a name of its own where it is. Gives what each
/// input is called in the model.
std::map<std::string, std::string> stateAsInputs(graph::Program &program, bool ofCaller);

} // namespace pellucid::passes
