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

/// What a reader takes for granted of a program whose graph is well formed.
enum class Believe : uint8_t {
  Nothing, ///< types and arguments are held against operators and kernels (CheckProgram.h)
  Types,   ///< for texts of ours that nothing is compiled from, such as those that packages carry
};

/// Throws DiagnosticError with the place in `file`. Weights come back without data.
Program parseProgram(std::shared_ptr<const SourceFile> file, Believe believe = Believe::Nothing);

} // namespace pellucid::graph
