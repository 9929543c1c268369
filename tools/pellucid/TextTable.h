// SPDX-License-Identifier: Apache-2.0
/// Columns of text for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pellucid::cli {

/// Rows of cells; every column is as wide as its widest cell.
class TextTable {
public:
  /// One letter per column: 'l' for text on the left, 'r' for numbers on the right.
  explicit TextTable(std::string sides) : sides(std::move(sides)) {}
  /// Missing cells are empty.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows.empty(); }
  /// Every line begins with `indent` spaces and ends without any.
  std::string text(size_t indent = 0) const;

private:
  std::string sides;
  std::vector<std::vector<std::string>> rows;
};

/// A number with so many digits behind its point.
std::string decimal(double value, int digits);
/// "812 bytes", "66.3 KiB", "1.2 GiB".
std::string byteText(double bytes);
/// "3.21 us", "12.5 ms", "1.50 s".
std::string durationText(double seconds);

} // namespace pellucid::cli
