// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/EmitKernel.h"

#include <array>
#include <optional>

namespace pellucid::driver {

/// One choice of argument types and constants for a kernel, compiled.
struct Specialisation {
  std::vector<frontend::ParameterSpec> specs;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null: refused, for `error`
  std::optional<Diagnostic> error;
  /// How far into the kernel's text it compiled: the line of the error in the kernel, then in the
  /// function it calls. Columns say nothing: inner expressions come first.
  std::array<uint32_t, 2> progress{};
};

/// Texts that the file compares something with: what its string parameters may be meant to equal.
std::vector<host::Value> comparedTexts(const syntax::Module &file);

/// Compiles a kernel that nobody launches for likely argument types: parameters that addresses are
/// made of are pointers to float32, others int32, constexprs their default, their first autotune
/// config (of `decorated`) or a size; then with one parameter changed at a time as long as more of
/// the kernel compiles. Without a choice that does: the one that comes furthest.
Specialisation guessSpecialisation(host::Interpreter &interpreter, mlir::MLIRContext &context,
                                   const host::Value &decorated, const host::JitFunction &kernel,
                                   const std::vector<host::Value> &texts);

} // namespace pellucid::driver
