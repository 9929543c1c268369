// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"
#include "support/DataType.h"
#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <span>
#include <string>
#include <vector>

namespace pellucid::frontend {

/// What one parameter of the Python function is in this specialisation.
struct ParameterSpec {
  enum class Kind : uint8_t { Pointer, Scalar, Constexpr, None } kind = Kind::Scalar;
  DataType dtype = DataType::Int32; ///< pointee or scalar
  host::Value constant;             ///< Constexpr
  uint32_t divisibility =
      0;                  ///< Pointer, Scalar: known to be a multiple of it (0: nothing is known)
  bool equalsOne = false; ///< Scalar: an integer that is 1, as a stride must be in some places
};

/// A run-time parameter of the tt.func; constexprs and None are gone.
struct EmittedParameter {
  std::string name;
  ParameterSpec::Kind kind = ParameterSpec::Kind::Scalar;
  DataType dtype = DataType::Int32;
};

struct EmitOptions {
  /// tl.device_assert and `assert` on values of the kernel are kept. Triton keeps them with
  /// debug=True only.
  bool assertions = true;
};

/// Emits one public tt.func named like the kernel, and nothing else, for this specialisation (one
/// spec per Python parameter). On an error reports at the user's line and returns null.
/// `interpreter` evaluates module globals and constexpr functions.
mlir::OwningOpRef<mlir::ModuleOp> emitKernel(host::Interpreter &interpreter,
                                             const host::JitFunction &kernel,
                                             std::span<const ParameterSpec> parameters,
                                             mlir::MLIRContext &context, Diagnostics &diagnostics,
                                             std::vector<EmittedParameter> *emitted,
                                             const EmitOptions &options = {});

} // namespace pellucid::frontend
