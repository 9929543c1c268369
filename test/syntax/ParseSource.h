// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/Diagnostics.h"
#include "syntax/Parser.h"

namespace pellucid::syntax {

inline std::shared_ptr<const Module> parseSource(std::string text) {
  return parseModule(std::make_shared<SourceFile>("test.py", std::move(text)));
}

/// "line:column: message", or "no error".
inline std::string errorOf(std::string text) {
  try {
    parseSource(std::move(text));
    return "no error";
  } catch (const DiagnosticError &error) {
    const SourceRange &range = error.diagnostic.location.range;
    return std::to_string(range.line) + ":" + std::to_string(range.column) + ": " +
           error.diagnostic.message;
  }
}

/// The dump of the expression that `text` is, without positions; or the error.
inline std::string dumpExpression(const std::string &text) {
  std::string error = errorOf(text);
  if (error != "no error")
    return error;
  std::string whole = dump(*parseSource(text));
  std::string before = "Module(body=[Expr(value=", after = ")], type_ignores=[])";
  if (!whole.starts_with(before) || !whole.ends_with(after))
    return whole;
  return whole.substr(before.size(), whole.size() - before.size() - after.size());
}

/// "line:column-line:column", as text editors count.
inline std::string rangeOf(const Node &node) {
  const SourceRange &r = node.range;
  return std::to_string(r.line) + ":" + std::to_string(r.column) + "-" + std::to_string(r.endLine) +
         ":" + std::to_string(r.endColumn);
}

} // namespace pellucid::syntax
