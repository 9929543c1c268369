// SPDX-License-Identifier: Apache-2.0
#include "driver/InputSpec.h"

#include <algorithm>
#include <charconv>

namespace pellucid::driver {

namespace {

/// Walks the text of one spec; every take… leaves the position behind what it took.
class Cursor {
public:
  explicit Cursor(std::string_view t) : text(t) {}
  bool done() const { return position == text.size(); }
  bool take(std::string_view word) {
    if (text.substr(position, word.size()) != word)
      return false;
    position += word.size();
    return true;
  }
  std::string takeName() {
    size_t begin = position;
    while (position < text.size() && isInName(static_cast<unsigned char>(text[position])))
      ++position;
    return std::string(text.substr(begin, position - begin));
  }
  std::optional<int64_t> takeInt() {
    int64_t value = 0;
    auto [end, status] = std::from_chars(text.data() + position, text.data() + text.size(), value);
    if (status != std::errc())
      return std::nullopt;
    position = static_cast<size_t>(end - text.data());
    return value;
  }
  std::string rest() const { return std::string(text.substr(position)); }

private:
  std::string_view text;
  size_t position = 0;

  /// Python's names may hold letters beyond ASCII; whether these are some is the parser's affair.
  static bool isInName(unsigned char c) { return isalnum(c) || c == '_' || c >= 0x80; }
};

bool startsNumber(const std::string &rest) {
  return !rest.empty() && (isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '-');
}

bool parseDim(Cursor &cursor, InputDim &dim, std::string &error) {
  std::string at = cursor.rest();
  if (startsNumber(at)) {
    auto size = cursor.takeInt();
    if (!size || *size < 0) {
      error = "'" + at + "': a size must be an integer of at least 0";
      return false;
    }
    dim.size = *size;
    return true;
  }
  dim.symbol = cursor.takeName();
  if (dim.symbol.empty()) {
    error = "'" + at + "': expected a size or the name of a dynamic dimension";
    return false;
  }
  if (cursor.take("=")) {
    dim.example = cursor.takeInt();
    if (!dim.example || *dim.example < 0) {
      error = "'" + at + "': expected an example size after '='";
      return false;
    }
  }
  if (!cursor.take(":"))
    return true;
  auto low = cursor.takeInt();
  auto high = low && cursor.take("..") ? cursor.takeInt() : std::nullopt;
  if (!low || !high) {
    error = "'" + at + "': expected a range such as 1..1024 after ':'";
    return false;
  }
  if (*low < 0 || *low > *high) {
    error = "'" + at + "': the range " + std::to_string(*low) + ".." + std::to_string(*high) +
            " must start at 0 or more and not end before it starts";
    return false;
  }
  dim.range = {*low, *high};
  dim.hasRange = true;
  if (dim.example && !dim.range.contains(*dim.example)) {
    error = "'" + at + "': the example size " + std::to_string(*dim.example) +
            " is outside of the range " + std::to_string(*low) + ".." + std::to_string(*high);
    return false;
  }
  return true;
}

bool parseDims(Cursor &cursor, InputSpec &spec, std::string &error) {
  if (cursor.take("]"))
    return true;
  do {
    if (!parseDim(cursor, spec.dims.emplace_back(), error))
      return false;
  } while (cursor.take(","));
  if (cursor.take("]"))
    return true;
  error = "'" + cursor.rest() + "': expected ',' or ']'";
  return false;
}

/// Between the range's ends, near 8: small enough to follow quickly, and neither 0 nor 1, which
/// branches like to single out.
int64_t chooseExample(symbolic::Range range) {
  return std::clamp<int64_t>(8, range.min, range.max);
}

} // namespace

std::optional<InputSpec> parseInputSpec(std::string_view text, std::string &error) {
  Cursor cursor(text);
  InputSpec spec;
  spec.name = cursor.takeName();
  if (spec.name.empty() || !cursor.take("=")) {
    error = "expected NAME=TYPE[DIM,…] such as x=bf16[batch:1..1024,128]";
    return std::nullopt;
  }
  std::string typeName = cursor.takeName();
  auto dtype = dataTypeNamed(typeName);
  if (!dtype) {
    error = "'" + typeName +
            "' is no element type; f32, f16, bf16, f64, i8 … i64, u8 … u64 and bool are";
    return std::nullopt;
  }
  spec.dtype = *dtype;
  if (!cursor.take("[")) {
    error = "'" + cursor.rest() + "': expected '[' after the element type " + typeName;
    return std::nullopt;
  }
  if (!parseDims(cursor, spec, error))
    return std::nullopt;
  if (!cursor.done()) {
    error = "'" + cursor.rest() + "' follows the closing ']'";
    return std::nullopt;
  }
  return spec;
}

bool declareSymbols(const std::vector<InputSpec> &specs, symbolic::SymbolTable &table,
                    std::string &error) {
  auto refuse = [&](const InputDim &dim, const std::string &what) {
    error = "dynamic dimension '" + dim.symbol + "' " + what;
    return false;
  };
  for (const InputSpec &spec : specs)
    for (const InputDim &dim : spec.dims) {
      if (dim.symbol.empty() || !dim.hasRange)
        continue;
      if (const auto *known = table.find(dim.symbol);
          known && (known->range.min != dim.range.min || known->range.max != dim.range.max))
        return refuse(dim, "has two ranges, " + std::to_string(known->range.min) + ".." +
                               std::to_string(known->range.max) + " and " +
                               std::to_string(dim.range.min) + ".." +
                               std::to_string(dim.range.max));
      symbolic::SymbolInfo info;
      info.range = dim.range;
      const auto *known = table.find(dim.symbol);
      info.hint = dim.example ? *dim.example
                              : (known && known->hint ? *known->hint : chooseExample(dim.range));
      table.declare(dim.symbol, info);
    }
  for (const InputSpec &spec : specs)
    for (const InputDim &dim : spec.dims) {
      if (dim.symbol.empty())
        continue;
      const auto *known = table.find(dim.symbol);
      if (!known)
        return refuse(dim, "of input '" + spec.name + "' has no range; write " + dim.symbol +
                               ":1..1024");
      if (!dim.example || !known->range.contains(*dim.example)) {
        if (dim.example)
          return refuse(dim, "has the example size " + std::to_string(*dim.example) +
                                 " outside of its range");
        continue;
      }
      symbolic::SymbolInfo info = *known;
      info.hint = dim.example;
      table.declare(dim.symbol, info);
    }
  return true;
}

} // namespace pellucid::driver
