// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/TensorMap.h"
#include "runtime/CudaDriver.h"

namespace pellucid::runtime::cuda {

/// Describes the tensor at `address`, which is a multiple of 16, to the device. The map is of a
/// valid manifest (ValidateManifest.h), and the driver can make maps.
Code encodeTensorMap(const Driver &driver, const package::TensorMap &map, Address address,
                     TensorMap &out);

} // namespace pellucid::runtime::cuda
