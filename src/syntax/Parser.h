// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "syntax/Ast.h"

namespace pellucid::syntax {

/// Parses a whole file: the Python 3.11 grammar, 3.12's f-strings (PEP 701), type parameters (PEP
/// 695). Throws DiagnosticError at the first syntax error.
std::shared_ptr<const Module> parseModule(std::shared_ptr<const SourceFile> file);

/// Parses `text` as one expression (`ast.parse(text, mode="eval")`), e.g. a string annotation or an
/// `--init` literal.
Ptr<Expr> parseExpression(std::shared_ptr<const SourceFile> file);

struct DumpOptions {
  bool includeAttributes = false;
  /// False: nodes inside an f-string are all at line 0, because CPython before 3.12 does not know
  /// their places.
  bool positionsInFStrings = true;
};

/// The tree in the exact format of CPython 3.11's `ast.dump(tree, include_attributes=…)`; what the
/// comparison with CPython reads. Type parameters, which 3.11 lacks, are written only where there
/// are any.
std::string dump(const Module &module, DumpOptions options = {});

} // namespace pellucid::syntax
