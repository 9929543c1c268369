// SPDX-License-Identifier: Apache-2.0
/// Where tensors lie, as values of the host program.
#pragma once

#include "trace/TensorObject.h"

namespace pellucid::trace {

/// What x.data_ptr() gives.
host::Value addressValue(const TensorObject &tensor);
/// What x.untyped_storage() gives: the memory itself, to compare.
host::Value storageValue(const TensorObject &tensor);

} // namespace pellucid::trace
