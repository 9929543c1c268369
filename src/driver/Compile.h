// SPDX-License-Identifier: Apache-2.0
/// From a traced program to a package.
#pragma once

#include "driver/CodegenJob.h"
#include "fusion/FuseIntoKernels.h"
#include "graph/Program.h"
#include "package/Package.h"
#include "support/Target.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace pellucid::driver {

class Worker;

/// Workers that stay from one compilation to the next, with the kernels that they made: one per CPU
/// level, which links them, and several for a device. For one thread at a time.
struct KeptWorkers {
  KeptWorkers();
  ~KeptWorkers();
  KeptWorkers(const KeptWorkers &) = delete;
  KeptWorkers &operator=(const KeptWorkers &) = delete;

  std::map<std::string, std::unique_ptr<Worker>> workers;
  std::unordered_map<std::string, CodegenKernelResult> ptx; ///< by kernelKey()
  size_t ptxBytes = 0;
  uint64_t made = 0, remembered = 0; ///< kernels
};

/// Kernels whose integer arguments are no constants of theirs, save 1: as in Triton, launches that
/// differ by such numbers share the code.
using SharesNumbers = std::function<bool(const graph::KernelDef &)>;

struct CompileOptions {
  std::vector<Target> targets; ///< empty: every CPU level
  bool fuseIntoKernels = true;
  bool fpContract = true; ///< Triton's default until 3.9
  /// No generated kernel adds floating-point numbers in an order that depends on timing.
  bool deterministic = false;
  /// Convolutions of f32 on a device round what they multiply to tf32, which has 10 digits, as
  /// PyTorch lets cuDNN (`torch.backends.cudnn.allow_tf32`).
  bool tf32 = false;
  /// Products of matrices of f32 on a device multiply tf32
  /// (`torch.backends.cuda.matmul.allow_tf32`, `torch.set_float32_matmul_precision("high")`).
  bool tf32Products = false;
  std::string worker; ///< pellucid-worker; empty: findWorker()
  /// Null: workers of this compilation's own.
  std::shared_ptr<KeptWorkers> keptWorkers = nullptr;
  /// The package runs on devices of exactly the targets' generation.
  bool exactTarget = false;
  SharesNumbers sharesNumbers = nullptr; ///< of kernels for devices; null: none
  /// Refuses a program whose values would have other bits than one that knows its sizes.
  bool bitsOfKnownSizes = false;
  /// Of the data of the program's tensor inputs, in order: a call with another is refused. What is
  /// left out may lie anywhere.
  std::vector<uint32_t> inputAlignment = {};
  /// Of the memory of results, for devices: who runs the package gives none that lies otherwise.
  uint32_t outputAlignment = 1;
  /// Buffers that the model changes are inputs that a call writes to, instead of state that an
  /// instance of the package owns.
  bool stateAsInputs = false;
  std::string name = "model";
  bool verifyEach = false; ///< check the graph after every pass (for tests and for finding bugs)
  bool keepIr = true; ///< the program after each stage goes into the package, for `inspect --ir`
};

struct StageTime {
  std::string stage;
  double seconds = 0;
};

/// The graph after one stage of the pipeline.
struct StageText {
  std::string stage, text;
};

struct CompileReport {
  std::vector<fusion::FusionEdge> edges;
  std::vector<StageTime> times;
  std::vector<StageText> texts; ///< with keepIr: program, decomposed, fused, lowered, buffers
};

/// Compiles `program` for the options' targets. False with errors in `diagnostics`: what the
/// program asks for has no kernel, a symbol has no input to take its value from, or code generation
/// failed.
///
/// Buffers and parameters that the program changes are state of the package.
bool compileProgram(const graph::Program &program, const CompileOptions &options,
                    package::Contents &out, CompileReport &report, Diagnostics &diagnostics);

/// One of several programs that are compiled at once.
struct SeparateResult {
  bool ok = false;
  package::Contents contents;
  Diagnostics diagnostics;
};

/// Compiles each program for the options' one target, a device, with their kept workers: all
/// kernels are made at once, and what is refused of one program concerns no other.
std::vector<SeparateResult> compileSeparately(const std::vector<const graph::Program *> &programs,
                                              const CompileOptions &options);

/// What becomes of the buffers that the program changes, for the user: "'calls' changes in forward:
/// …"; empty where there are none.
std::string stateNote(const graph::Program &program, const CompileOptions &options);

/// The program twice, with and without fusion. Behind its own results both packages return what
/// each kernel that took operators in computes; `results[i]` is output number `firstOutput + i`.
struct FusionCheck {
  package::Contents unfused, fused;
  std::vector<fusion::FusedResult> results;
  size_t firstOutput = 0;
};

/// Compiles both for the CPU. False with errors in `diagnostics`, as compileProgram.
bool compileFusionCheck(const graph::Program &program, const CompileOptions &options,
                        FusionCheck &check, Diagnostics &diagnostics);

} // namespace pellucid::driver
