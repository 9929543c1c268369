// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "syntax/Ast.h"

namespace pellucid::syntax {

/// Parses a whole file: the Python 3.11 grammar, 3.12's f-strings (PEP 701), type parameters (PEP 695). Throws
/// DiagnosticError at the first syntax error.
std::shared_ptr<const Module> parseModule(std::shared_ptr<const SourceFile> file);

/// Parses `text` as one expression (`ast.parse(text, mode="eval")`), e.g. a string annotation or an `--init` literal.
Ptr<Expr> parseExpression(std::shared_ptr<const SourceFile> file);

/// The tree in the exact format of CPython 3.11's `ast.dump(tree, include_attributes=…)`; what the comparison with
/// CPython reads.
std::string dump(const Module &module, bool includeAttributes);

} // namespace pellucid::syntax
