// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive/Archive.h"

namespace pellucid::archive {

/// Whether all elements lie in the storage. The sentence says "has …" of the tensor.
package::Status checkTensor(const Tensor &tensor);

} // namespace pellucid::archive
