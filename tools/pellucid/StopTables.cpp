// SPDX-License-Identifier: Apache-2.0
#include "StopTables.h"

#include "CommandLine.h"

#include "TextTable.h"

#include <algorithm>
#include <charconv>

namespace pellucid::cli {

using reference::StoppedVariable;

namespace {

std::optional<uint32_t> wholePlace(std::string_view text) {
  uint32_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

std::string tileShape(const StoppedVariable &variable) {
  std::string dims;
  for (int64_t size : variable.shape)
    dims += (dims.empty() ? "" : ", ") + std::to_string(size);
  return variable.type + (variable.shape.empty() ? "" : "[" + dims + "]");
}

/// The indices that are shown of `size` many; -1 stands for those left out.
std::vector<int64_t> shownIndices(int64_t size) {
  constexpr int64_t edge = 4;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < size; ++i)
    if (size <= 2 * edge + 1 || i < edge || i >= size - edge)
      out.push_back(i);
    else if (i == edge)
      out.push_back(-1);
  return out;
}

/// One table of rows and columns, whose first element is `begin`.
std::string sheet(const StoppedVariable &variable, int64_t begin, int64_t rows, int64_t columns) {
  std::vector<int64_t> across = shownIndices(columns);
  TextTable table("l" + std::string(across.size(), 'r'));
  std::vector<std::string> head{""};
  for (int64_t column : across)
    head.push_back(column < 0 ? "..." : std::to_string(column));
  table.add(head);
  for (int64_t row : shownIndices(rows)) {
    std::vector<std::string> cells{rows == 1 ? "" : row < 0 ? "..." : std::to_string(row)};
    for (int64_t column : across)
      cells.push_back(row < 0 || column < 0
                          ? "..."
                          : variable.texts[static_cast<size_t>(begin + row * columns + column)]);
    table.add(cells);
  }
  return table.text(2);
}

std::string tileTable(const StoppedVariable &variable) {
  size_t rank = variable.shape.size();
  int64_t columns = variable.shape.back(), rows = rank > 1 ? variable.shape[rank - 2] : 1;
  int64_t sheets = static_cast<int64_t>(variable.texts.size()) / (rows * columns);
  std::string text = variable.name + ": " + tileShape(variable) + "\n";
  for (int64_t number : shownIndices(sheets)) {
    if (sheets > 1)
      text += "  sheet " + (number < 0 ? "..." : std::to_string(number)) + " of " +
              std::to_string(sheets) + "\n";
    if (number >= 0)
      text += sheet(variable, number * rows * columns, rows, columns);
  }
  return text;
}

} // namespace

std::pair<std::string, uint32_t> parseStopPoint(const std::string &text) {
  size_t colon = text.rfind(':');
  auto line = colon == std::string::npos ? std::nullopt
                                         : wholePlace(std::string_view(text).substr(colon + 1));
  if (!line || *line == 0 || colon == 0)
    fail("--stop-at " + text, "expected FILE:LINE");
  return {text.substr(0, colon), *line};
}

std::array<uint32_t, 3> parseProgram(const std::string &text) {
  std::array<uint32_t, 3> program{};
  size_t axis = 0;
  for (size_t begin = 0; begin <= text.size(); ++axis) {
    size_t end = std::min(text.find(',', begin), text.size());
    auto index = wholePlace(std::string_view(text).substr(begin, end - begin));
    if (!index || axis == 3)
      fail("--program " + text, "expected one to three indices such as 5 or 0,2,1");
    program[axis] = *index;
    begin = end + 1;
  }
  return program;
}

std::string stopTables(const std::vector<StoppedVariable> &variables) {
  std::string tiles;
  TextTable scalars("lll");
  for (const StoppedVariable &variable : variables)
    if (variable.shape.empty())
      scalars.add({variable.name, variable.type.empty() ? "constexpr" : variable.type,
                   variable.texts.front()});
    else
      tiles += tileTable(variable);
  return scalars.text() + tiles;
}

nlohmann::json stopJson(const std::vector<StoppedVariable> &variables) {
  constexpr size_t most = 4096;
  nlohmann::json out = nlohmann::json::array();
  for (const StoppedVariable &variable : variables) {
    std::vector<std::string> data(variable.texts.begin(),
                                  variable.texts.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                               most, variable.texts.size())));
    out.push_back({{"name", variable.name},
                   {"dtype", variable.type.empty() ? "constexpr" : variable.type},
                   {"shape", variable.shape},
                   {"count", variable.texts.size()},
                   {"data", data}});
  }
  return out;
}

} // namespace pellucid::cli
