// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/TensorMap.h"
#include "runtime/CudaDriver.h"

#include <functional>

namespace pellucid::runtime::cuda {

/// Describes the tensor at `address`, which is a multiple of 16, to the device. The map is of a
/// valid manifest (ValidateManifest.h), the driver can make maps, and `valueOf` gives the launch's
/// numbers by parameter. A tensor without elements is 16 bytes of `zeros`, so that all of its boxes
/// are zero.
Result encodeTensorMap(const Driver &driver, const package::TensorMap &map, Address address,
                       Address zeros, const std::function<int64_t(uint32_t)> &valueOf,
                       TensorMap &out);

/// The map needs the zeros.
bool mayBeEmpty(const package::TensorMap &map);

} // namespace pellucid::runtime::cuda
