// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "syntax/Ast.h"

#include <functional>

namespace pellucid::host {

/// Calls the visitors for each direct child, in source order. Patterns of `match` are left out.
void forEachChild(const syntax::Expr &expr, const std::function<void(const syntax::Expr &)> &visit);
void forEachChild(const syntax::Stmt &stmt,
                  const std::function<void(const syntax::Expr &)> &visitExpr,
                  const std::function<void(const syntax::Stmt &)> &visitStmt);

} // namespace pellucid::host
