// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/Compile.h"
#include "passes/graph/PlanBuffers.h"

#include <map>
#include <set>
#include <vector>

namespace pellucid::driver {

/// A program that has become launches on one kind of device, with its memory plan.
struct LoweredProgram {
  Target::Kind device = Target::Kind::Cpu;
  graph::Program program;
  passes::BufferPlan plan;
  std::map<uint32_t, passes::BufferPlan> regions; ///< of the bodies that control flow runs
  std::vector<uint32_t> usedKernels;              ///< indices into program.kernels, ascending
  /// Of each used kernel: the most that a launch asks for.
  std::vector<uint32_t> numWarps, numStages;
  /// Inputs that instances of the package own, and what the model calls them.
  std::map<std::string, std::string> state;
  std::set<uint32_t>
      orderedKernels; ///< of usedKernels: the order of their programs shows in the result

  /// Fills usedKernels, numWarps and numStages from the launches.
  void collectKernels();
};

struct TargetCode {
  Target target;
  std::vector<uint32_t> kernels; ///< those of the result, indices into program.kernels
  CodegenResult result;
};

/// Writes down what a call does: inputs, outputs, weights, state, buffers, kernels and steps; code
/// and IR become records. `lowered` is ordered by device; kernels and weights that they have in
/// common are written once, and what `source` holds for the state is what it begins with. Throws
/// DiagnosticError for what a package cannot say.
void assemblePackage(const graph::Program &source, const std::vector<LoweredProgram> &lowered,
                     const std::vector<TargetCode> &code, const CompileOptions &options,
                     const CompileReport &report, package::Contents &out);

} // namespace pellucid::driver
