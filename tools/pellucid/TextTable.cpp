// SPDX-License-Identifier: Apache-2.0
#include "TextTable.h"

#include <algorithm>
#include <cstdio>

namespace pellucid::cli {

/// How many characters a terminal shows; every one of ours is one column wide.
static size_t width(const std::string &utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(sides.size());
  rows.push_back(std::move(cells));
}

std::string TextTable::text(size_t indent) const {
  std::vector<size_t> widths(sides.size(), 0);
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i]));
  std::string out;
  for (const auto &row : rows) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      std::string padding(widths[i] - width(row[i]), ' ');
      line += (i ? "  " : "") + (sides[i] == 'r' ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// The value in the largest unit that it reaches, with three digits.
static std::string scaled(double value, const std::vector<std::pair<double, const char *>> &units) {
  size_t i = 0;
  while (i + 1 < units.size() && value >= units[i + 1].first)
    ++i;
  double number = value / units[i].first;
  return decimal(number, number < 10 ? 2 : number < 100 ? 1 : 0) + " " + units[i].second;
}

std::string byteText(double bytes) {
  if (bytes < 1024)
    return decimal(bytes, 0) + (bytes == 1 ? " byte" : " bytes");
  return scaled(bytes, {{1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}});
}

std::string durationText(double seconds) {
  return scaled(seconds, {{1e-6, "us"}, {1e-3, "ms"}, {1.0, "s"}});
}

} // namespace pellucid::cli
