// SPDX-License-Identifier: Apache-2.0
/// What the program knows of the arguments of its launches goes into the kernels: constants,
/// divisors, signs and alignments become attributes of the arguments of the tt.func, from which the
/// passes and the code generator work (docs/design/0011-launch-facts-and-axis-analysis.md).
#pragma once

#include "driver/AssemblePackage.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace pellucid::driver {

/// What is known of addresses in a call.
struct KnownAlignment {
  const std::vector<uint32_t> &inputs; ///< the user's, in order; what is left out may lie anywhere
  uint32_t outputs = 1;
};

/// Gives each launch kernels for what is known of its arguments. What only a call can tell (that a
/// caller's tensor is aligned, that a dynamic size is a multiple of 16) is asked by the run time:
/// such a variant stands before one that assumes less. At most three variants for each that was.
/// Numbers of kernels that share them are no constants. `besideCpu`: the package has the kernels as
/// they came for the CPU, so these get names of their own.
void specializeLaunches(LoweredProgram &lowered, const KnownAlignment &alignment,
                        const SharesNumbers &sharesNumbers, bool besideCpu,
                        mlir::MLIRContext &context);

} // namespace pellucid::driver
