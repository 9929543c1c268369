// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pellucid::syntax {

inline constexpr char32_t InvalidCodePoint = 0xFFFFFFFF;

/// The code point `text` starts with and the bytes it takes; InvalidCodePoint for malformed UTF-8.
/// Surrogates are malformed unless `allowSurrogates`, because string values may hold them and
/// source text may not.
char32_t decodeUtf8(std::string_view text, size_t &length, bool allowSurrogates = false);

/// Surrogates are encoded like any other code point.
void appendUtf8(std::string &out, char32_t codePoint);

/// Whether Python's repr() prints the character as it is.
bool isPrintable(char32_t codePoint);

/// XID_Start or '_', and XID_Continue, of Unicode 14 as in CPython 3.11.
bool isIdentifierStart(char32_t codePoint);
bool isIdentifierContinue(char32_t codePoint);

} // namespace pellucid::syntax
