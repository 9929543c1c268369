// SPDX-License-Identifier: Apache-2.0
/// The lexer and the parser of Python files.
#include "FuzzTarget.h"

#include "support/Diagnostics.h"
#include "syntax/Parser.h"

using namespace pellucid;

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  try {
    auto module = syntax::parseModule(std::make_shared<SourceFile>("fuzz.py", textOf(data)));
    (void)syntax::dump(*module);
  } catch (const DiagnosticError &) {
  }
  return 0;
}
