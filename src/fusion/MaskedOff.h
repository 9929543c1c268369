// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fusion/SpliceKernel.h"
#include "tt/TtOps.h"

namespace pellucid::fusion {

/// True when `chain` is known to turn what masked-off elements of `load` read as into itself: 0
/// where there is no `other`. Operands of the same order are taken to read as that too; of scalars
/// and row vectors nothing is known but that they are finite.
bool keepsOther(tt::LoadOp load, const Chain &chain);

} // namespace pellucid::fusion
