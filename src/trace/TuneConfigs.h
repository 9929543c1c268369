// SPDX-License-Identifier: Apache-2.0
/// Which of @triton.autotune's configs a launch takes, where somebody can time them.
#pragma once

#include "graph/Program.h"
#include "support/Diagnostics.h"

#include <functional>
#include <string>
#include <vector>

namespace pellucid::host {
class Interpreter;
class Value;
struct CallArgs;
} // namespace pellucid::host

namespace pellucid::trace {

class LaunchBinder;
class Tracer;

/// One launch whose kernel has several configs left after pruning.
struct TuneQuestion {
  std::string kernel;
  std::string source; ///< of the kernel's definition, decorators included
  /// What Triton tunes by: the values of `key` and the element types of the tensors, as
  /// "M=64, N=128, f32, bf16". Dynamic dims have their example sizes.
  std::string key;
  SourceLocation where;
  std::vector<std::string> configs; ///< as triton.Config prints them
  /// The launch with config `i` alone, at the example sizes: its tensors are the program's inputs.
  /// Throws DiagnosticError where such a launch is refused.
  std::function<graph::Program(size_t i)> launchWith;
};

/// The index of the config to take.
using ConfigChooser = std::function<size_t(const TuneQuestion &)>;

/// Asks the tracer's chooser where the kernel's outermost tuner has several configs left, and tells
/// the binder which it prefers. Where the example sizes do not make a launch, a warning says why.
/// A script's tuner keeps what was chosen, and is not asked again for the same key.
void tuneLaunch(Tracer &tracer, host::Interpreter &interpreter, LaunchBinder &binder,
                const host::Value &kernel, const host::Value &grid, const host::CallArgs &args);

} // namespace pellucid::trace
