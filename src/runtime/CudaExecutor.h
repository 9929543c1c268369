// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/PackageFile.h"
#include "runtime/CudaModules.h"
#include "runtime/Executor.h"

#include <map>

namespace pellucid::runtime {

/// A package's code and weights on one CUDA device.
class CudaResources {
public:
  /// Opens the device; `sm` is its compute capability, for choosing executables.
  static Result open(int ordinal, std::unique_ptr<CudaResources> &out, uint32_t &sm);
  ~CudaResources();
  CudaResources(const CudaResources &) = delete;

  /// Loads the modules of the plan's executables and sets their entries; uploads the weights.
  Result load(const package::PackageFile &file, ProgramPlan &plan);
  const std::vector<unsigned char *> &weightAddresses() const { return weights; }

private:
  friend class CudaExecutor;
  friend class CudaGraph;
  friend class CudaStateMemory;
  CudaResources(const cuda::Driver &d, int ordinal) : driver(d), ordinal(ordinal) {}

  const cuda::Driver &driver;
  int ordinal;
  cuda::Context context = nullptr;
  std::map<std::string, std::shared_ptr<CudaModule>> modules; ///< by record
  cuda::Address weightMemory = 0, zeros = 0;
  std::vector<unsigned char *> weights;

  Result loadCode(const package::PackageFile &file, const ProgramPlan &plan);
  Result makeZeros(const ProgramPlan &plan);
  static Result checkUsable(const VariantPlan &variant);
  Result findEntry(VariantPlan &variant);
  /// Those that the plan uses; the others have no address.
  Result uploadWeights(const package::PackageFile &file, const ProgramPlan &plan);
};

/// Queues a call's steps on a stream.
class CudaExecutor : public Executor {
public:
  CudaExecutor(const CudaResources &resources, const pellucid_run_options *options);
  /// On a stream of ours instead of the options'.
  CudaExecutor(const CudaResources &resources, const pellucid_run_options *options,
               cuda::Stream stream);
  ~CudaExecutor() override;

  Result allocateOutput(size_t bytes, OutputMemory &memory) override;
  Result allocateArena(Frame::Arena &arena, unsigned char *&memory) override;
  const GridLimits &gridLimits() const override { return cudaGridLimits; }
  Result launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                const unsigned char *arguments) override;
  Result copy(unsigned char *destination, const unsigned char *source, size_t bytes) override;
  Result fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
              size_t bytes) override;
  Result read(const unsigned char *from, void *out, size_t bytes) override;
  /// Until the stream has done what was queued.
  Result wait();
  Result finish() override;
  size_t mark() override;
  double microsecondsOf(size_t mark) override;

private:
  Result describeTensors(const LaunchPlan &step, const VariantPlan &variant,
                         const unsigned char *arguments, cuda::TensorMap *maps);
  cuda::Code queue(const PreparedLaunch &prepared, void **parameters);
  const CudaResources &resources;
  const cuda::Driver &driver;
  const pellucid_run_options *options;
  cuda::Stream stream;
  cuda::CurrentContext current;
  std::vector<cuda::Address> arenas; ///< of this call, in its stream's order
  std::vector<cuda::Event> events;
  double originMicroseconds = 0; ///< host time of the first event

  /// The text is made for failures only.
  Result checked(cuda::Code code, auto &&what) const {
    return code == 0 ? Result() : driver.check(code, what());
  }
};

} // namespace pellucid::runtime
