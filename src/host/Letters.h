// SPDX-License-Identifier: Apache-2.0
/// What Python's str methods know of code points beyond ASCII: kinds of letters and digits, cases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pellucid::host {

/// str.isalpha() and its kin of one code point, as bits.
enum Letter : uint16_t {
  Alpha = 1,
  Decimal = 2,
  Digit = 4,
  Numeric = 8,
  Space = 16,
  Upper = 32,
  Lower = 64,
  Title = 128,
  Ignorable = 256, ///< marks that a word's end looks over
  Cased = Upper | Lower | Title,
  Alnum = Alpha | Decimal | Digit | Numeric,
};

uint16_t letterKind(uint32_t point);

enum class Case : uint8_t { Lower, Upper, Title, Fold };

/// One code point in another case, as UTF-8; several may come of one.
std::string inCase(uint32_t point, Case wanted);
/// str.lower(), upper() and casefold(); str.title() is of words and not here.
std::string inCase(std::string_view text, Case wanted);
/// str.title(), and str.capitalize() where only the first letter is large.
std::string titleCase(std::string_view text, bool everyWord);

} // namespace pellucid::host
