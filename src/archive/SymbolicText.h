// SPDX-License-Identifier: Apache-2.0
/// Sizes and conditions as archives write them: sympy's srepr, and its shorter str.
#pragma once

#include "symbolic/Expr.h"

#include <optional>
#include <string>
#include <string_view>

namespace pellucid::archive {

/// `Mul(Integer(48), Symbol('s27', positive=True, integer=True))` as an expression; a condition
/// (`Eq(…)`) gives 0 or 1. On anything else nullopt, and `error` says what is not read, by name.
std::optional<symbolic::Expr> parseSymbolic(std::string_view text, std::string &error);

/// As PyTorch writes a size, or a condition; nullopt for what its archives have no word for (the
/// next power of two).
std::optional<std::string> printSymbolic(const symbolic::Expr &expr);
std::optional<std::string> printSymbolicCondition(const symbolic::Expr &expr);

} // namespace pellucid::archive
