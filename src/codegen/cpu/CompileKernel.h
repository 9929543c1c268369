// SPDX-License-Identifier: Apache-2.0
// One kernel of a module of the tt dialect -> one relocatable object for one ISA level.
#pragma once

#include "package/KernelAbi.h"
#include "support/Diagnostics.h"
#include "support/Target.h"

#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace pellucid::codegen {

struct CodeTexts;

struct CpuKernelOptions {
  CpuLevel level = CpuLevel::X86_64_v3;
  /// A product feeding a sum may be rounded once (Triton's default up to 3.9).
  bool fpContract = true;
  /// Functions that only bf16 results depend on may be of its accuracy (common/BFloat16Grade.h).
  bool bfloat16Grade = true;
  CodeTexts *texts = nullptr; ///< filled when given
};

/// Text behind `KernelContext::message` and the print callback's `message`.
struct KernelMessage {
  bool print = false; ///< a device_print's prefix; else an assertion's text
  std::string text, file;
  uint32_t line = 0, column = 0;
  bool hex = false;
};

struct CompiledObject {
  std::string symbol; ///< of the KernelEntry
  std::vector<char> object;
  uint64_t scratchBytes = 0;
  std::vector<KernelMessage> messages;
  std::vector<package::ArgumentSlot> arguments; ///< one per parameter, in order
  /// Products of bf16 are made by instructions that the level adds, whose sums have other bits.
  bool productUnits = false;
  bool bfloat16Grade = false; ///< some function is computed to the accuracy of bf16 only
};

/// Compiles the kernel `symbol` of `module`, which has been through tt-kernel-pipeline (one block
/// per function, no calls, block pointers or descriptors). On failure reports through `diagnostics`
/// at the user's line and returns false.
bool compileKernel(mlir::ModuleOp module, std::string_view symbol, const CpuKernelOptions &options,
                   CompiledObject &object, Diagnostics &diagnostics);

} // namespace pellucid::codegen
