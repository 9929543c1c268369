// SPDX-License-Identifier: Apache-2.0
/// Expressions that are a multiple of one symbol and a number.
#pragma once

#include "symbolic/Expr.h"

namespace pellucid::symbolic {

/// symbol * factor + offset.
struct Linear {
  int64_t factor = 1, offset = 0;
};

/// `expr` as that, where it is; its factor is not 0.
std::optional<Linear> linearIn(const Expr &expr, const std::string &symbol);

} // namespace pellucid::symbolic
