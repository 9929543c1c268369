// SPDX-License-Identifier: Apache-2.0
/// What statements do to names, read from the tree; private to this folder.
#pragma once

#include "frontend/Emitter.h"

namespace pellucid::frontend {

/// The first `return` of the list and of its compound statements; null: there is none.
const syntax::Stmt *firstReturn(const syntax::List<syntax::Stmt> &list);

/// Whether the expression assigns a name with `:=`.
bool assignsNames(const syntax::Expr &expr);

/// The names that statements of the list assign, in order of first assignment.
std::vector<std::string> assignedNames(const syntax::List<syntax::Stmt> &list);

/// Whether both are one value: the same IR values, or equal constants.
bool sameValue(const Val &a, const Val &b);

} // namespace pellucid::frontend
