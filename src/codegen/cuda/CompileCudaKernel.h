// SPDX-License-Identifier: Apache-2.0
// One kernel of a module of the tt dialect -> PTX for one compute capability.
#pragma once

#include "package/KernelAbi.h"
#include "package/TensorMap.h"
#include "support/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace pellucid::codegen {

struct CodeTexts;

struct CudaKernelOptions {
  uint32_t sm = 90; ///< 80 for sm_80
  uint32_t numWarps = 4;
  /// Rounds of a loop whose loads are under way at the same time, where the loop does not say; 1
  /// loads where it is written.
  uint32_t numStages = 3;
  /// Of any loop; lowered where shared memory does not suffice.
  uint32_t mostStages = 8;
  /// Instructions that devices of other generations do not have (sm_90a) may be used.
  bool thisGenerationOnly = false;
  /// Tiles of tensors may be copied by box, where such instructions may be used.
  bool tensorCopies = false;
  /// A product feeding a sum may be rounded once (Triton's default up to 3.9).
  bool fpContract = true;
  CodeTexts *texts = nullptr; ///< filled when given
};

struct CompiledPtx {
  std::string symbol; ///< of the .entry
  std::string ptx;
  uint32_t sharedBytes = 0;                     ///< dynamic shared memory of a launch
  bool thisGenerationOnly = false;              ///< such instructions are used
  bool matrixUnits = false;                     ///< some product is made by mma.sync or wgmma
  bool dependentLaunch = false;                 ///< it waits for the launches ahead of it itself
  std::vector<package::ArgumentSlot> arguments; ///< one per parameter, in order
  std::vector<package::TensorMap> tensorMaps;   ///< what the entry takes behind all else
};

/// Compiles the kernel `symbol` of `module`, which has been through tt-kernel-pipeline. The entry
/// takes the kernel's parameters, laid out as KernelAbi.h says, and Triton's two scratch pointers;
/// a program is a block of 32 * numWarps threads. On failure reports through `diagnostics` at the
/// user's line and returns false.
bool compileCudaKernel(mlir::ModuleOp module, std::string_view symbol,
                       const CudaKernelOptions &options, CompiledPtx &result,
                       Diagnostics &diagnostics);

} // namespace pellucid::codegen
