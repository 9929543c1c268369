// SPDX-License-Identifier: Apache-2.0
#include "support/NearNames.h"

#include <algorithm>
#include <numeric>

namespace pellucid {

/// Insertions, deletions and replacements from one text to the other.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string suggestName(std::string_view wanted, const std::vector<std::string> &known) {
  const std::string *nearest = nullptr;
  // More changes than that make another word.
  size_t least = (wanted.size() < 4 ? 1 : std::max<size_t>(wanted.size() / 3, 2)) + 1;
  for (const std::string &name : known) {
    bool begins = wanted.size() > 1 && name.starts_with(wanted);
    if (size_t d = begins ? 1 : distance(wanted, name); d < least) {
      least = d;
      nearest = &name;
    }
  }
  if (nearest)
    return "; did you mean '" + *nearest + "'";
  if (known.empty() || known.size() > 8)
    return "";
  std::string list;
  for (const std::string &name : known)
    list += (list.empty() ? "" : ", ") + name;
  return "; known are " + list;
}

} // namespace pellucid
