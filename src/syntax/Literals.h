// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "syntax/Ast.h"

#include <string_view>

namespace pellucid::syntax {

/// Fills in the value of a number token. Returns what is wrong with it, or an empty string.
std::string decodeNumber(std::string_view text, Constant &into);

struct StringForm {
  bool raw = false, bytes = false;
  bool doubledBraces = false; ///< literal text of an f-string, where `{{` is `{`
};

/// Appends the value of the characters between a literal's quotes. Returns what is wrong, or an
/// empty string.
std::string decodeString(std::string_view body, StringForm form, std::string &into);

} // namespace pellucid::syntax
