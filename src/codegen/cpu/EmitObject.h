// SPDX-License-Identifier: Apache-2.0
// An LLVM module of one kernel as an object file for one ISA level.
#pragma once

#include "support/Diagnostics.h"
#include "support/Target.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string_view>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace pellucid::codegen {

struct CodeTexts;

/// Position-independent code of the functions that `emit` defines: no library calls, no unwind
/// tables, the full vector width of `level`. `texts`: as generateCode's. On failure reports through
/// `diagnostics` and returns false.
bool emitObject(CpuLevel level, std::string_view symbol,
                llvm::function_ref<void(llvm::Module &)> emit, std::vector<char> &object,
                Diagnostics &diagnostics, CodeTexts *texts = nullptr);

} // namespace pellucid::codegen
