// SPDX-License-Identifier: Apache-2.0
#include "package/JsonWriter.h"

#include <charconv>
#include <cmath>

namespace pellucid::package {

void JsonWriter::separate() {
  if (needsComma)
    out += ',';
  needsComma = true;
}

JsonWriter &JsonWriter::open(char bracket) {
  separate();
  out += bracket;
  needsComma = false;
  return *this;
}

JsonWriter &JsonWriter::close(char bracket) {
  out += bracket;
  needsComma = true;
  return *this;
}

JsonWriter &JsonWriter::raw(std::string_view token) {
  separate();
  out += token;
  return *this;
}

JsonWriter &JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out += ':';
  needsComma = false;
  return *this;
}

JsonWriter &JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter &JsonWriter::value(double number) {
  if (!std::isfinite(number))
    return null();
  char digits[32];
  auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  return raw(std::string_view(digits, static_cast<size_t>(end - digits)));
}

/// Bytes of the UTF-8 sequence at the front of `text`; 0 when there is none.
static size_t sequenceLength(std::string_view text) {
  uint8_t lead = static_cast<uint8_t>(text[0]);
  size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4 || text.size() < length))
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80)
      return 0;
  uint8_t second = length > 1 ? static_cast<uint8_t>(text[1]) : 0;
  bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  bool outside = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

void JsonWriter::quote(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    uint8_t c = static_cast<uint8_t>(text[0]);
    if (length == 0)
      out += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\')
      (out += '\\') += text[0];
    else if (c < 0x20)
      ((out += "\\u00") += hex[c >> 4]) += hex[c & 15];
    else
      out += text.substr(0, length);
    text.remove_prefix(length ? length : 1);
  }
  out += '"';
}

} // namespace pellucid::package
