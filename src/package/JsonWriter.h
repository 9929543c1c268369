// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace pellucid::package {

/// Writes JSON text piece by piece; commas and quotes come by themselves. Bytes that are no UTF-8
/// are written as U+FFFD, numbers that JSON lacks (nan, inf) as null.
class JsonWriter {
public:
  JsonWriter &beginObject() { return open('{'); }
  JsonWriter &endObject() { return close('}'); }
  JsonWriter &beginArray() { return open('['); }
  JsonWriter &endArray() { return close(']'); }
  JsonWriter &key(std::string_view name);

  JsonWriter &value(std::string_view text);
  JsonWriter &value(const char *text) { return value(std::string_view(text)); }
  JsonWriter &value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonWriter &value(double number);
  /// `text` is a JSON value already.
  JsonWriter &json(std::string_view text) { return raw(text); }
  JsonWriter &null() { return raw("null"); }
  template <std::integral T> JsonWriter &value(T number) { return raw(std::to_string(number)); }

  JsonWriter &field(std::string_view name, const auto &content) { return key(name).value(content); }

  const std::string &text() const { return out; }
  std::string take() { return std::move(out); }

private:
  std::string out;
  bool needsComma = false;

  JsonWriter &open(char bracket);
  JsonWriter &close(char bracket);
  JsonWriter &raw(std::string_view token);
  void separate();
  void quote(std::string_view text);
};

} // namespace pellucid::package
