// SPDX-License-Identifier: Apache-2.0
/// What a launch becomes over the whole range of the dynamic dims.
#pragma once

#include "trace/BindLaunch.h"
#include "trace/Tracer.h"

#include <utility>
#include <vector>

namespace pellucid::trace {

/// The launch with every decorator applied, once per way that constexprs and options can go, each
/// with its guard: 1 when it is the only one, else they cover the range and exclude each other.
/// Refuses at the launch's line what has too many ways.
std::vector<std::pair<Expr, BoundLaunch>>
launchVariants(Tracer &tracer, host::Interpreter &interpreter, const LaunchBinder &binder);

/// The sizes that `function` gives when called, over the whole range: where it branches on dynamic
/// dims they are selections. A non-strict trace follows the example where a way cannot be taken.
std::vector<Expr> sizesOverRange(Tracer &tracer,
                                 const std::function<std::vector<Expr>()> &function);

} // namespace pellucid::trace
