// SPDX-License-Identifier: Apache-2.0
/// Finds kernels: those inside an operator's body and those of a whole file.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::host {

/// The kernels a function may launch, in order of first mention: named directly, through local
/// assignments, closures, globals, attributes of modules, and helpers it calls (cycles and depth
/// handled). It reads the source and runs nothing.
std::vector<Value> discoverKernels(Interpreter &, const Value &function);

/// What a name bound in the function under consideration stands for.
using LocalNames = std::map<std::string, const syntax::Expr *>;

struct NamedKernel {
  std::shared_ptr<JitFunction> kernel; ///< null: none
  bool wrapped = false;                ///< by wrap_triton, or another function of one argument
};

/// The value of a dotted name as code inside `scope` would see it; nullopt when it has none or
/// running code is needed.
std::optional<Value> resolveName(Interpreter &, const Scope &scope, const syntax::Expr &);

/// The kernel behind `launched` in `launched(…)`, which is `kernel[grid]` or a local name for that.
NamedKernel launchedKernel(Interpreter &, const Scope &scope, const LocalNames &locals,
                           const syntax::Expr &launched);

struct KernelListing {
  struct Launch {
    SourceLocation where;
    std::string inFunction; ///< empty at module level
    bool wrapped = false;   ///< by wrap_triton
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
/// `made` are kernels that no name of the module stands for.
FileListing listKernels(Interpreter &, const Module &module, const std::vector<Value> &made = {});

} // namespace pellucid::host
