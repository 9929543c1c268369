// SPDX-License-Identifier: Apache-2.0
/// What a reduction of the registry is in the kernel language.
#pragma once

#include "graph/Operator.h"
#include "passes/graph/KernelText.h"

namespace pellucid::passes {

ReductionRule reductionRule(const graph::OperatorCall &call, DataType from, DataType result);

/// The sum of squared distances from the mean, in one reading: Welford's steps, and Chan's sums of
/// them.
ReductionRule spreadRule(DataType accumulate);

/// `map` (ReductionBody) with `to` in the place of the whole identifier `x`.
std::string reductionMap(const std::string &map, const std::string &to);

} // namespace pellucid::passes
