// SPDX-License-Identifier: Apache-2.0
/// Programs as text: versioned, readable, and the same bytes every time
/// (printProgram(parseProgram(t)) == t for every t that printProgram wrote). Kernels travel inside;
/// weights are named, their bytes are ProgramFile's business.
#pragma once

#include "graph/Program.h"

#include <memory>
#include <string>

namespace pellucid::graph {

std::string printProgram(const Program &program);

/// The main graph alone, as it stands in printProgram's text.
std::string printMain(const Program &program);

/// Throws DiagnosticError with the place in `file`. Weights come back without data.
Program parseProgram(std::shared_ptr<const SourceFile> file);

} // namespace pellucid::graph
