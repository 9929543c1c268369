// SPDX-License-Identifier: Apache-2.0
/// Programs on disk: the text, and behind it the carried weights as a safetensors file on a page
/// boundary, so that they are mapped and never copied. Referenced weights stay in their own
/// .safetensors or .npz file.
#pragma once

#include "graph/Program.h"

#include <string>
#include <string_view>

namespace pellucid::graph {

/// Writes beside `path` and renames, so that a reader sees the old file or the new one. Throws
/// DiagnosticError.
void saveProgram(const Program &program, const std::string &path);

/// Maps the file; weights point into it, or into the files that it references (relative paths start
/// at its folder). Throws DiagnosticError.
Program loadProgram(const std::string &path);

/// Whether a file that begins like this is a program.
bool isProgramFile(std::string_view start);

/// The tensors of a .safetensors or .npz file, recognised by content, as weights that reference
/// `path`. Throws DiagnosticError.
std::map<std::string, Weight> loadWeights(const std::string &path);

} // namespace pellucid::graph
