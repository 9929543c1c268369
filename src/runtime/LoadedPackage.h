// SPDX-License-Identifier: Apache-2.0
/// The run time's own view of a package in C++; runtime.h's functions are a thin skin over it.
#pragma once

#include "package/PackageFile.h"
#include "runtime/CodeImage.h"
#include "runtime/CudaExecutor.h"
#include "runtime/Frame.h"
#include "runtime/HostMemory.h"
#include "runtime/Instance.h"
#include "runtime/PreparedCall.h"

#include <atomic>
#include <map>
#include <mutex>

namespace pellucid::runtime {

struct LoadOptions {
  /// No CPU level above it; nullopt: the machine's.
  std::optional<CpuLevel> cpuLevel;
  /// Only this kind of device; nullopt: every one the package has a program for.
  std::optional<Target::Kind> device;
  bool verify = false;
};

/// Reads "cpu", "cuda" or "cpu:x86-64-v3".
Result parseLoadTarget(std::string_view text, LoadOptions &options);

/// A package ready to run. Immutable but for its idle frames: any number of threads may call it.
class LoadedPackage {
public:
  static Result load(const std::string &path, const LoadOptions &options,
                     std::unique_ptr<LoadedPackage> &out);
  /// `bytes` must outlive the package.
  static Result loadMemory(std::span<const uint8_t> bytes, const LoadOptions &options,
                           std::unique_ptr<LoadedPackage> &out);

  const package::Manifest &manifest() const { return file->manifest(); }
  const package::PackageFile &packageFile() const { return *file; }
  /// describe(manifest()), made at the first call.
  const std::string &description() const;
  /// The target of the code it runs on the CPU: "cpu:x86-64-v4"; empty without a CPU program.
  const std::string &cpuTarget() const { return chosenCpuTarget; }

  /// With the state that the package gives. A device of type 0 stands for the CPU where the package
  /// has a program for it, else for the first CUDA device.
  Result makeInstance(const InstanceOptions &options, std::unique_ptr<Instance> &out) const;

  // Calls of a package with state need an instance of it, whose state they read and write.

  /// New outputs. On failure all are null.
  Result run(std::span<const DLTensor> inputs, std::span<DLManagedTensorVersioned *> outputs,
             const pellucid_run_options *options = nullptr, Instance *instance = nullptr) const;
  /// Into the caller's memory.
  Result runInto(std::span<const DLTensor> inputs, std::span<const DLTensor> outputs,
                 const pellucid_run_options *options = nullptr, Instance *instance = nullptr) const;
  /// runInto of these tensors, checked and planned once. Package and instance must outlive the
  /// call.
  Result prepareCall(std::span<const DLTensor> inputs, std::span<const DLTensor> outputs,
                     std::unique_ptr<PreparedCall> &out, Instance *instance = nullptr) const;
  /// The dims of each output for these inputs.
  Result outputShapes(std::span<const DLTensor> inputs,
                      std::vector<std::vector<int64_t>> &shapes) const;

private:
  struct DeviceProgram {
    std::unique_ptr<ProgramPlan> plan;
    std::unique_ptr<CudaResources> cuda; ///< null: the CPU
    std::vector<unsigned char *> weights;
    mutable FramePool frames;
  };
  class Call;

  std::unique_ptr<package::PackageFile> file;
  LoadOptions loadOptions;
  std::map<std::string, std::unique_ptr<CodeImage>> images;
  HostBlock movedWeights; ///< of a package in memory that is not aligned
  DeviceProgram cpu;      ///< no plan: not for the CPU
  std::string chosenCpuTarget;
  /// By device ordinal; made at a device's first call, then kept.
  mutable std::mutex cudaMutex;
  mutable std::map<int32_t, std::unique_ptr<DeviceProgram>> cuda;
  /// Of calls without a seed of their own, in a package that draws.
  uint64_t ownSeed = 0;
  mutable std::atomic<uint64_t> callsDrawn = 0;
  mutable std::once_flag described;
  mutable std::string descriptionText;

  LoadedPackage() = default;
  static Result prepare(std::unique_ptr<package::PackageFile> file, const LoadOptions &options,
                        std::unique_ptr<LoadedPackage> &out);
  const package::Program *programFor(Target::Kind device) const;
  bool hasCodeFor(CpuLevel level) const;
  Result prepareCpu(const package::Program &program);
  Result placeWeights();
  Result mapImages();
  Result prepareCuda(int ordinal, const package::Program &program, DeviceProgram &out) const;
  Result deviceProgram(DLDevice device, const DeviceProgram *&out) const;
  DrawStart drawStart(const pellucid_run_options *options) const;
  Result findDevice(std::span<const DLTensor> inputs, std::span<const DLTensor> outputs,
                    const Instance *instance, DLDevice &where, const DeviceProgram *&device) const;
  DLDevice deviceOfCall(std::span<const DLTensor> inputs, std::span<const DLTensor> outputs) const;
};

} // namespace pellucid::runtime
