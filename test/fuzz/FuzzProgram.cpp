// SPDX-License-Identifier: Apache-2.0
/// The text of a saved program.
#include "FuzzTarget.h"

#include "graph/ProgramText.h"
#include "support/Diagnostics.h"

using namespace pellucid;

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  try {
    graph::Program program =
        graph::parseProgram(std::make_shared<SourceFile>("program", textOf(data)));
    (void)graph::printProgram(program);
  } catch (const DiagnosticError &) {
  }
  return 0;
}
