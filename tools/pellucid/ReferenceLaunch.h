// SPDX-License-Identifier: Apache-2.0
/// `launch --reference` and `--sanitize`: the traced launch on the interpreter of src/reference.
#pragma once

#include "ArrayFile.h"
#include "graph/Program.h"
#include "reference/tt/Interpreter.h"

#include <string>
#include <vector>

namespace pellucid::cli {

/// One tensor argument of the launch; a table of addresses has its tensors in `members`.
struct ReferenceOperand {
  std::string name;
  Array *array = nullptr;
  std::vector<Array *> members;
};

/// Where an interpretation ends early: before the stop point of one program (trace::traceLaunch).
struct ReferenceStop {
  std::array<uint32_t, 3> program{};
  std::vector<reference::StoppedVariable> *variables = nullptr; ///< filled there
};

/// Interprets the one launch of `program` on `memory` and returns the seconds it took. Every access
/// outside of the arrays is refused; with `sanitize`, reads of what was never written and races
/// between programs too. Throws DiagnosticError for the first finding, after all others were
/// printed as notes of it.
double runReference(const graph::Program &program, const std::vector<ReferenceOperand> &memory,
                    bool sanitize, const ReferenceStop *stop = nullptr);

} // namespace pellucid::cli
