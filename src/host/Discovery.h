// SPDX-License-Identifier: Apache-2.0
/// Finds kernels: those inside an operator's body and those of a whole file.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::host {

/// The kernels a function may launch, in order of first mention: named directly, through local
/// assignments, closures, globals, attributes of modules, and helpers it calls (cycles and depth
/// handled). It reads the source and runs nothing.
std::vector<Value> discoverKernels(Interpreter &, const Value &function);

struct KernelListing {
  struct Launch {
    SourceLocation where;
    std::string inFunction; ///< empty at module level
  };
  std::string name; ///< the module's name for it
  Value value;      ///< JitFunction, Autotuner or Heuristics
  std::shared_ptr<JitFunction> kernel;
  std::vector<std::string> decorators; ///< outermost first: "autotune", "heuristics", "jit"
  std::vector<Launch> launches;
};
struct OperatorListing {
  std::shared_ptr<Operator> op;
  std::vector<std::string> kernels; ///< names of the kernels inside it
};
struct FileListing {
  std::vector<KernelListing> kernels; ///< those defined in the file itself, in order of definition
  std::vector<OperatorListing> operators;
};

/// Every jit kernel and operator that the module's own file defines (imported ones are left out).
FileListing listKernels(Interpreter &, const Module &module);

} // namespace pellucid::host
