// SPDX-License-Identifier: Apache-2.0
// Creators and registration of the passes in Passes.td.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace pellucid::tt {

#define GEN_PASS_DECL
#include "passes/tt/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/tt/Passes.h.inc"

} // namespace pellucid::tt
