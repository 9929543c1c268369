// SPDX-License-Identifier: Apache-2.0
/// Python strings are sequences of code points; ours are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::host {

/// Bytes of the code point at `at` (1 on malformed text).
size_t codePointLength(std::string_view text, size_t at);
size_t codePointCount(std::string_view text);
std::vector<std::string> codePoints(std::string_view text);
/// Elements [first, last) joined; `last` may lie beyond the end.
std::string joinCodePoints(const std::vector<std::string> &points, size_t first, size_t last);
std::string encodeCodePoint(uint32_t point);
uint32_t decodeCodePoint(std::string_view text);
/// A code point as Python escapes it: `\xe9`, `\u20ac`, `\U0001f600`.
std::string escapedCodePoint(uint32_t point);
/// str.upper() and str.lower().
std::string upperCase(std::string_view text);
std::string lowerCase(std::string_view text);
bool isSpace(char c);
/// What is beyond ASCII as escapes: ascii().
std::string asciiText(std::string_view text);

} // namespace pellucid::host
