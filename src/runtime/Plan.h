// SPDX-License-Identifier: Apache-2.0
/// A program of the manifest made ready to run: names resolved to indices, expressions to values,
/// executables chosen.
#pragma once

#include "runtime/CpuPool.h"
#include "runtime/Signature.h"

#include <functional>

namespace pellucid::runtime {

/// A place of a call: `base` counts through inputs, outputs, weights, buffers, state and windows
/// (ProgramPlan::baseOf).
struct PlacePlan {
  uint32_t base = 0;
  Value offset;
};

struct ArgumentPlan {
  enum class Kind : uint8_t { Pointer, Value, Immediate } kind;
  const package::KernelParameter *parameter;
  PlacePlan place;
  Value value;
  uint64_t bits = 0;
};

struct VariantPlan {
  const package::Kernel *kernel;
  const package::Executable *executable;
  Value guard;
  std::array<Value, 3> grid;
  std::vector<ArgumentPlan> arguments;
  uint32_t argumentBytes = 0;
  /// CPU: a package::KernelEntry. CUDA: null, modules are loaded per device.
  const void *entry = nullptr;
  std::unique_ptr<CostEstimate> cost;
};

struct LaunchPlan {
  const package::Launch *launch;
  std::vector<VariantPlan> variants;
  Value bytes, flops; ///< constant -1: unknown
};

struct CopyPlan {
  PlacePlan destination, source;
  Value bytes;
};

struct FillPlan {
  const package::Fill *fill;
  PlacePlan destination;
  Value bytes;
};

struct BranchPlan {
  const package::Branch *branch;
  Value condition; ///< unless `branch` has none
  PlacePlan predicate;
};

struct LoopPlan {
  const package::Loop *loop;
  Value turns; ///< unless `loop` has none
  PlacePlan predicate;
  struct Carry {
    PlacePlan first, second;
    Value bytes;
  };
  struct Slice {
    PlacePlan first;
    Value step, bytes;
  };
  std::vector<Carry> carries;
  std::vector<Slice> slices;
  uint32_t firstWindow; ///< a base
};

struct ReadPlan {
  const package::ReadSize *read;
  PlacePlan from;
  Value most;
  uint32_t stage; ///< that it begins
};

struct CheckPlan {
  const package::CheckSizes *check;
  Value condition;
};

/// The steps of control flow stand behind it, as in package::Program.
using StepPlan =
    std::variant<LaunchPlan, CopyPlan, FillPlan, BranchPlan, LoopPlan, ReadPlan, CheckPlan>;

struct BufferPlan {
  Value bytes;
  uint32_t slot;
  uint32_t stage; ///< in which its size is known
};

/// Chooses the executable of a kernel, or null with a sentence in `why`.
using ChooseExecutable =
    std::function<const package::Executable *(const package::Kernel &kernel, std::string &why)>;

struct ProgramPlan {
  ProgramPlan(const package::Manifest &manifest, const package::Program &program)
      : manifest(manifest), program(program), expressions(manifest),
        signature(manifest, expressions) {}
  ProgramPlan(const ProgramPlan &) = delete;

  const package::Manifest &manifest;
  const package::Program &program;
  Expressions expressions;
  Signature signature;
  std::vector<StepPlan> steps;
  std::vector<BufferPlan> buffers;
  uint32_t maxArgumentBytes = 0;
  /// By weight: some step names it. Weights that only programs of other devices use need not be on
  /// this one.
  std::vector<bool> usesWeight;
  /// The first of `steps` that may write to state; a call that ends before it leaves the state as
  /// it was. Their number when none does.
  size_t firstStateWrite = 0;

  uint32_t windows = 0; ///< of all loops
  /// What sizes are known divides a call into stages: the first begins with the call, each other
  /// one with a step that reads a size.
  uint32_t stages = 1;
  std::vector<uint32_t> outputStages;
  std::vector<uint32_t> slotStages;

  size_t baseCount() const { return baseOf(package::PlaceKind::Window) + windows; }
  /// The step at `at`, with those that stand behind it as part of it.
  size_t stepsAt(size_t at) const;
  size_t baseOf(package::PlaceKind kind) const;
  /// "buffer 'hidden'"
  std::string nameOfBase(size_t base) const;
};

/// Refuses a kernel that has no executable for the device.
Result makePlan(const package::Manifest &manifest, const package::Program &program,
                const ChooseExecutable &choose, std::unique_ptr<ProgramPlan> &out);

} // namespace pellucid::runtime
