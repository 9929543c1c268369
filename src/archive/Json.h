// SPDX-License-Identifier: Apache-2.0
/// JSON as archives hold it, read into one array of small values. Safe on any bytes: nesting is
/// bounded, and memory is a fixed multiple of the text.
#pragma once

#include "package/Status.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::archive {

class JsonDocument;

/// A value of a document, which outlives it. What is not there, or of another kind, is null: a
/// reader asks and checks what it got.
class JsonValue {
public:
  enum class Kind : uint8_t { Null, Bool, Integer, Float, String, Array, Object };

  JsonValue() = default;
  Kind kind() const;
  bool isNull() const { return kind() == Kind::Null; }
  bool isArray() const { return kind() == Kind::Array; }
  bool isObject() const { return kind() == Kind::Object; }
  bool isString() const { return kind() == Kind::String; }
  bool isInteger() const { return kind() == Kind::Integer; }
  bool isBool() const { return kind() == Kind::Bool; }
  bool isNumber() const { return isInteger() || kind() == Kind::Float; }

  bool boolean() const;            ///< false for others
  int64_t integer() const;         ///< 0 for others
  double number() const;           ///< of an integer too; 0 for others
  std::string_view string() const; ///< empty for others

  size_t size() const; ///< of an array or object; 0 for others
  JsonValue at(size_t index) const;
  std::string_view key(size_t index) const;
  JsonValue member(std::string_view key) const; ///< the first of that name

private:
  friend class JsonDocument;
  JsonValue(const JsonDocument *d, uint32_t i) : document(d), index(i) {}
  const JsonDocument *document = nullptr;
  uint32_t index = 0;
};

class JsonDocument {
public:
  static constexpr unsigned maxDepth = 256;

  JsonDocument() = default;
  JsonDocument(const JsonDocument &) = delete;
  JsonDocument &operator=(const JsonDocument &) = delete;

  /// Reads `text`, which outlives the document. Besides JSON's numbers it takes the bare words NaN,
  /// Infinity and -Infinity, as Python's json writes them. On a mistake the document is empty.
  package::Status read(std::string_view text);
  JsonValue root() const { return values.empty() ? JsonValue() : JsonValue(this, rootIndex); }

private:
  friend class JsonValue;
  friend class JsonReader;
  struct Stored {
    JsonValue::Kind kind = JsonValue::Kind::Null;
    uint32_t count = 0; ///< of elements, or of keys and values
    union {
      bool flag;
      int64_t integer;
      double real;
      uint64_t first; ///< index of the first element
      const char *text = nullptr;
    };
  };
  std::vector<Stored> values;
  std::deque<std::string> decoded; ///< strings that were written with escapes
  uint32_t rootIndex = 0;
};

} // namespace pellucid::archive
