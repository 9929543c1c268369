// SPDX-License-Identifier: Apache-2.0
// From an LLVM module of one kernel to PTX text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace pellucid::codegen {

/// A machine for sm_`sm` and the lowest PTX version that has it. Null when this build has none.
std::unique_ptr<llvm::TargetMachine> createCudaTargetMachine(uint32_t sm);

/// Optimises and prints. On failure returns false and says why in `error`.
bool emitPtx(llvm::Module &module, llvm::TargetMachine &machine, std::string &ptx,
             std::string &error);

} // namespace pellucid::codegen
