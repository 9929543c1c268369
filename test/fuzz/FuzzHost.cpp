// SPDX-License-Identifier: Apache-2.0
/// The evaluator on any file, with a small budget.
#include "FuzzTarget.h"

#include "host/Interpreter.h"

using namespace pellucid;

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  host::InterpreterOptions options;
  options.maxSteps = 200'000;
  options.maxBytes = 64 << 20;
  options.defersFileErrors = !data.empty() && data[0] == '#';
  try {
    host::Interpreter interpreter(std::move(options));
    interpreter.importSource("fuzz", std::make_shared<SourceFile>("fuzz.py", textOf(data)));
  } catch (const DiagnosticError &) {
  }
  return 0;
}
