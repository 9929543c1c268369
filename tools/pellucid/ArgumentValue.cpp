// SPDX-License-Identifier: Apache-2.0
#include "ArgumentValue.h"

#include <charconv>

namespace pellucid::cli {

namespace {

template <typename T> std::optional<T> wholeNumber(std::string_view text) {
  T value{};
  if (!text.empty() && text[0] == '+')
    text.remove_prefix(1);
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    size_t end = text.find(by, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos)
      return parts;
    begin = end + 1;
  }
}

bool parseExtents(std::string_view text, std::vector<int64_t> &out) {
  if (text.empty())
    return true;
  for (std::string_view part : split(text, 'x')) {
    auto value = wholeNumber<int64_t>(part);
    if (!value)
      return false;
    out.push_back(*value);
  }
  return true;
}

bool parseView(std::string_view text, TensorArgument::View &view, std::string &error) {
  bool hasShape = false;
  for (std::string_view part : split(text, ',')) {
    size_t equals = part.find('=');
    std::string_view key = part.substr(0, equals);
    std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    bool ok = false;
    if (key == "offset") {
      auto number = wholeNumber<int64_t>(value);
      ok = number && *number >= 0;
      view.offset = number.value_or(0);
    } else if (key == "shape") {
      ok = hasShape = parseExtents(value, view.shape);
      for (int64_t size : view.shape)
        ok &= size >= 0;
    } else if (key == "strides") {
      ok = parseExtents(value, view.strides);
    }
    if (!ok) {
      error = "'" + std::string(part) +
              "' is not part of a view; offset=2, shape=3x4 and strides=8x1 are (in elements)";
      return false;
    }
  }
  if (!hasShape) {
    error = "a view needs its shape, such as [offset=2,shape=3x4,strides=8x1]";
    return false;
  }
  if (view.strides.empty()) {
    view.strides.assign(view.shape.size(), 1);
    for (size_t d = view.shape.size(); d-- > 1;)
      view.strides[d - 1] = view.strides[d] * view.shape[d];
  }
  if (view.strides.size() != view.shape.size()) {
    error = "the view has " + std::to_string(view.shape.size()) + " sizes and " +
            std::to_string(view.strides.size()) + " strides; there must be one stride per size";
    return false;
  }
  return true;
}

/// A path may hold colons; what follows the last one is an element type only if it names one.
bool parseTensor(std::string_view text, TensorArgument &tensor, std::string &error) {
  if (!text.empty() && text.back() == ']') {
    size_t open = text.rfind('[');
    if (open == std::string_view::npos) {
      error = "']' without '['";
      return false;
    }
    tensor.view.emplace();
    if (!parseView(text.substr(open + 1, text.size() - open - 2), *tensor.view, error))
      return false;
    text = text.substr(0, open);
  }
  size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view name = text.substr(colon + 1);
    if (auto type = dataTypeNamed(name)) {
      tensor.dtype = type;
      text = text.substr(0, colon);
    } else if (name.find('/') == std::string_view::npos &&
               name.find('.') == std::string_view::npos) {
      error = "'" + std::string(name) +
              "' is not an element type; bf16, fp8e4nv, fp8e5, f16, f32 … are";
      return false;
    }
  }
  tensor.path = text;
  if (tensor.path.empty()) {
    error = "no file is named after '@'";
    return false;
  }
  return true;
}

bool parseTable(std::string_view text, PointerTableArgument &table, std::string &error) {
  for (std::string_view part : split(text, ',')) {
    TensorArgument tensor;
    if (!parseTensor(part, tensor, error))
      return false;
    if (tensor.view) {
      error = "a table of addresses takes whole files, not views";
      return false;
    }
    table.tensors.push_back(std::move(tensor));
  }
  return true;
}

std::optional<ArgumentValue> parseValue(std::string_view text, std::string &error) {
  constexpr std::string_view tableMark = "@ptrs:";
  if (text.substr(0, tableMark.size()) == tableMark) {
    PointerTableArgument table;
    if (!parseTable(text.substr(tableMark.size()), table, error))
      return std::nullopt;
    return table;
  }
  if (!text.empty() && text[0] == '@') {
    TensorArgument tensor;
    if (!parseTensor(text.substr(1), tensor, error))
      return std::nullopt;
    return tensor;
  }
  if (text == "true" || text == "True")
    return true;
  if (text == "false" || text == "False")
    return false;
  if (text == "none" || text == "None")
    return NoneValue{};
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    return std::string(text.substr(1, text.size() - 2));
  if (text.substr(0, 3) == "tl.") {
    if (auto type = dataTypeNamed(text.substr(3)))
      return DataTypeValue{*type};
    error = "'" + std::string(text) + "' is not an element type of the kernel language";
    return std::nullopt;
  }
  if (auto integer = wholeNumber<int64_t>(text))
    return *integer;
  if (text.find_first_not_of("+-0123456789") == std::string_view::npos) {
    error = "'" + std::string(text) + "' is not a 64-bit integer";
    return std::nullopt;
  }
  if (auto real = wholeNumber<double>(text))
    return *real;
  error = "'" + std::string(text) +
          "' is not a value; @file.npy, an integer, a float, true, false, none, \"text\" and "
          "tl.float16 are";
  return std::nullopt;
}

} // namespace

std::optional<NamedValue> parseNamedValue(const std::string &text, std::string &error) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    error = "expected NAME=VALUE";
    return std::nullopt;
  }
  auto value = parseValue(std::string_view(text).substr(equals + 1), error);
  if (!value)
    return std::nullopt;
  return NamedValue{text.substr(0, equals), text, std::move(*value)};
}

} // namespace pellucid::cli
