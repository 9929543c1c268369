// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llvm {
class Module;
}

namespace pellucid::codegen {

/// In long blocks: puts what only computes right before what needs it first.
void orderByUse(llvm::Module &module);

} // namespace pellucid::codegen
