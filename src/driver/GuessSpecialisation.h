// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/EmitKernel.h"

#include <array>
#include <map>
#include <optional>

namespace pellucid::driver {

/// One choice of argument types and constants for a kernel, compiled.
struct Specialisation {
  std::vector<frontend::ParameterSpec> specs;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null: refused, for `error`
  std::optional<Diagnostic> error;
  bool isUnsupported = false; ///< the error is there for all arguments
  /// How far into the kernel's text it compiled: the line of the error in the kernel, then in the
  /// function it calls. Columns say nothing: inner expressions come first.
  std::array<uint32_t, 2> progress{};
};

/// What a file says of the constants that its kernels are meant for.
struct ConstantHints {
  std::vector<host::Value> compared; ///< texts and small numbers that something is compared with
  std::map<std::string, host::Value> launched; ///< literals given by keyword at `kernel[grid](…)`
};
ConstantHints constantHints(const syntax::Module &file);

/// Compiles a kernel that nobody launches for likely argument types: parameters that addresses are
/// made of are pointers to float32, or to int32 where what they hold becomes an offset, others
/// int32, constexprs their default, their first autotune config (of `decorated`), what a launch
/// says or a size; then with one parameter changed at a time as long as more of the kernel
/// compiles. Without a choice that does: the one that comes furthest.
Specialisation guessSpecialisation(host::Interpreter &interpreter, mlir::MLIRContext &context,
                                   const host::Value &decorated, const host::JitFunction &kernel,
                                   const ConstantHints &hints);

} // namespace pellucid::driver
