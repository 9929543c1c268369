// SPDX-License-Identifier: Apache-2.0
/// Sizes and elements of tensors with values.
#pragma once

#include "trace/EagerRecorder.h"

namespace pellucid::trace {

std::vector<int64_t> constants(const std::vector<Expr> &sizes);
std::vector<Expr> expressions(const std::vector<int64_t> &sizes);
size_t byteCount(const graph::TensorType &type);

} // namespace pellucid::trace
