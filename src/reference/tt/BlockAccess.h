// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/tt/Machine.h"

namespace pellucid::reference {

/// tt.load and tt.store through a block pointer.
void loadBlockPointer(Machine &machine, mlir::Operation &op);
void storeBlockPointer(Machine &machine, mlir::Operation &op);

} // namespace pellucid::reference
