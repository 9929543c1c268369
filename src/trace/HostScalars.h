// SPDX-License-Identifier: Apache-2.0
/// Arithmetic of a script's numbers that are tensors: counters, indices, learning rates.
#pragma once

#include "trace/TensorObject.h"

namespace pellucid::trace {

/// What an operator gives for tensors without dims whose values lie on the host, where it is exact
/// or rounds once: computed now, as it takes less than to record it. Nullopt for all else; nothing
/// has happened then.
std::optional<host::Value> computedAtOnce(Tracer &tracer, const std::string &name,
                                          const host::CallArgs &args);

} // namespace pellucid::trace
