// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace pellucid::runtime {

/// Bytes that this process can still fill with data before the machine, or a control group around
/// it, runs out and the system ends a process: what is free or can be freed, swap included, read
/// anew at each call. UINT64_MAX where nothing says.
uint64_t availableMemory();
/// Bytes of this process that are filled already and belong to no file.
uint64_t residentMemory();

} // namespace pellucid::runtime
