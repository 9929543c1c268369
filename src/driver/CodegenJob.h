// SPDX-License-Identifier: Apache-2.0
/// The worker's border: kernel IR and options in, an image or PTX with its metadata, or a
/// diagnostic, out.
#pragma once

#include "package/LibraryKernel.h"
#include "package/TensorMap.h"
#include "support/Diagnostics.h"
#include "support/Target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::driver {

/// One kernel to generate code for: TTIR text with one public tt.func named `symbol`, or a library
/// kernel.
struct CodegenKernel {
  std::string symbol;
  std::string ttir;
  std::optional<package::LibraryKernel> library; ///< graph::KernelDef::library
  uint32_t numWarps = 4, numStages = 3;
};

struct CodegenJob {
  Target target;
  bool fpContract = true; ///< Triton's default: a*b+c may become one fma
  /// The code runs on devices of exactly the target: what others would run is left out.
  bool exactTarget = false;
  bool keepTexts = false; ///< give CodegenKernelResult::texts, for people
  /// The worker stays and remembers the kernels that it makes: one that comes again, under whatever
  /// name, is linked from memory.
  bool remembersKernels = false;
  std::vector<CodegenKernel> kernels;
};

/// A kernel after one stage of the back end: `tt-prepared`, `llvm`, `llvm-optimized` or `asm`.
struct CodegenText {
  std::string stage, text;
};

/// A text that a running kernel refers to by index: an assertion or a device_print prefix, with its
/// place.
struct CodegenMessage {
  std::string text, file;
  uint32_t line = 0, column = 0;
  bool isPrint = false, hex = false;
};

struct CodegenSlot {
  uint32_t offset = 0, bytes = 0;
};

/// PTX of a kernel, with the dynamic shared memory of a launch.
struct CodegenPtx {
  std::string text;
  uint32_t sharedBytes = 0;
  bool thisGenerationOnly = false; ///< runs on devices of exactly the job's target
  bool dependentLaunch = false;    ///< waits for the launches ahead of it itself
  std::vector<package::TensorMap> tensorMaps;
};

struct CodegenKernelResult {
  std::string symbol;
  std::string entry;         ///< CUDA: the name in the PTX, where it is another one's than symbol
  uint64_t entryOffset = 0;  ///< CPU: file offset of the entry in the image
  uint64_t scratchBytes = 0; ///< CPU: per running thread
  uint32_t numWarps = 0;     ///< CUDA
  std::vector<CodegenSlot> arguments;
  std::vector<CodegenMessage> messages;
  std::vector<CodegenPtx> ptx; ///< CUDA only
  /// Some product is made by mma.sync or wgmma, or of bf16 by the instructions of a CPU level.
  bool matrixUnits = false;
  bool bfloat16Grade = false; ///< CPU: some functions are of the accuracy of bf16
  double seconds = 0;         ///< time spent on this kernel inside the worker
  bool remembered = false;    ///< it was made for an earlier job
  std::vector<CodegenText> texts;
};

struct CodegenResult {
  std::string image; ///< CPU: the linked ELF image; empty for CUDA
  std::vector<CodegenKernelResult> kernels;
};

class KernelMemory;

/// Generates code in this process. Called by the worker only: LLVM may abort on an input. `memory`
/// is where kernels are remembered; null: nowhere.
bool runCodegenJob(const CodegenJob &job, CodegenResult &result, Diagnostics &diagnostics,
                   void (*onKernel)(void *state, const std::string &symbol), void *state,
                   KernelMemory *memory = nullptr);

} // namespace pellucid::driver
