// SPDX-License-Identifier: Apache-2.0
// From an LLVM module of one kernel to an object file for one ISA level.
#pragma once

#include "support/Target.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace pellucid::codegen {

/// A machine for position-independent code of `level`; the same settings on every host.
std::unique_ptr<llvm::TargetMachine> createCpuTargetMachine(CpuLevel level);

/// Sets triple and data layout; before anything is emitted into `module`.
void prepareCpuModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Gives the functions of `module` the attributes of an image's code: no library calls, no unwind
/// tables, the full vector width of `level`.
void setCpuAttributes(llvm::Module &module, CpuLevel level);

/// Optimises and emits. On failure returns false and says why in `error`.
bool emitObject(llvm::Module &module, llvm::TargetMachine &machine, std::vector<char> &object,
                std::string &error);

} // namespace pellucid::codegen
