// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Executor.h"

namespace pellucid::runtime {

/// A tensor with its own dims that gives `memory` back when its deleter is called. Null when there
/// is no memory for it (then `memory` has been given back).
DLManagedTensorVersioned *makeOutput(DLDataType dtype, std::span<const int64_t> dims,
                                     const OutputMemory &memory);

} // namespace pellucid::runtime
