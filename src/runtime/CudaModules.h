// SPDX-License-Identifier: Apache-2.0
/// Code on a device: packages of a process that hold the same PTX share one module.
#pragma once

#include "runtime/CudaDriver.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::runtime {

/// Unloaded with its last holder.
class CudaModule {
public:
  CudaModule(const cuda::Driver &d, cuda::Context c) : driver(d), context(c) {}
  ~CudaModule();
  CudaModule(const CudaModule &) = delete;

  cuda::Module handle = nullptr;

private:
  const cuda::Driver &driver;
  cuda::Context context;
};

struct WantedModule {
  std::string record;                 ///< for messages
  std::string_view text;              ///< PTX
  uint32_t sharedBytes = 0;           ///< of its launches: a module has one number for them
  std::shared_ptr<CudaModule> module; ///< what loadModules() found or made
};

/// The driver's compiler is what loading takes: new modules are loaded by several threads at once.
Result loadModules(const cuda::Driver &driver, cuda::Context context,
                   std::vector<WantedModule> &wanted);

} // namespace pellucid::runtime
