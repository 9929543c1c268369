// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace pellucid::codegen {

/// Gives masked loads masks that no other operation has, and masked stores masks whose lanes are
/// not known, where code is for mask registers.
///
/// LLVM 22 folds a masked load into an operation under the same mask. Of a permutation that gives
/// masked-off elements of memory instead of zeros, and of a product and sum it later takes the load
/// out again without its mask, which reads beside the tensor. An empty assembly statement between
/// the masks keeps it from seeing that they are equal; it costs a copy of a mask register. A masked
/// store of truncated integers with one known lane LLVM 22 makes a store of the whole integer, over
/// the elements behind.
void separateMasks(llvm::Module &module);

} // namespace pellucid::codegen
