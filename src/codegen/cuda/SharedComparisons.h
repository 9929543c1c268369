// SPDX-License-Identifier: Apache-2.0
// A minimum and a maximum of the same integers of 64 bits, by one comparison.
#pragma once

namespace llvm {
class Module;
}

namespace pellucid::codegen {

/// PTX has both as instructions, but a device compares twice for them, in two instructions each:
/// they become one comparison and two selections. A sort exchanges elements in this way. Runs after
/// LLVM's passes, which would put the instructions back.
void shareComparisons(llvm::Module &module);

} // namespace pellucid::codegen
