// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace pellucid {

/// `text` as a terminal may show it: names of files, packages, weights and models come from others,
/// and a control sequence in one would be carried out. Control characters, marks that reverse the
/// direction of text and bytes that are no UTF-8 become \x1b and the like; newlines and tabs stay.
std::string printable(std::string_view text);

/// The same where newlines and tabs would break a line: a cell of a table, a name in a message.
std::string printableLine(std::string_view text);

} // namespace pellucid
