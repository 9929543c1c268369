// SPDX-License-Identifier: Apache-2.0
#include "host/ByteString.h"

#include "host/InterpreterState.h"

namespace pellucid::host {

std::string ByteString::repr() const {
  bool hasSingle = bytes->find('\'') != std::string::npos,
       hasDouble = bytes->find('"') != std::string::npos;
  char quote = hasSingle && !hasDouble ? '"' : '\'';
  std::string text = std::string("b") + quote;
  for (unsigned char c : *bytes) {
    if (c == static_cast<unsigned char>(quote) || c == '\\') {
      text += '\\';
      text += static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      text += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (c < 32 || c > 126) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
      text += escaped;
    } else {
      text += static_cast<char>(c);
    }
  }
  return text + quote;
}

std::optional<Value> ByteString::getAttr(Interpreter &, std::string_view name) {
  std::shared_ptr<const std::string> held = bytes;
  if (name == "decode")
    return native("bytes.decode", "encoding='utf-8', errors='strict'",
                  [held](Interpreter &i, std::vector<Value> &) {
                    for (unsigned char c : *held)
                      if (c > 127)
                        i.refuse("bytes.decode() of what is beside ASCII is not supported");
                    return Value(*held);
                  });
  if (name == "hex")
    return native("bytes.hex", "", [held](Interpreter &, std::vector<Value> &) {
      std::string text;
      for (unsigned char c : *held) {
        char digits[4];
        std::snprintf(digits, sizeof digits, "%02x", c);
        text += digits;
      }
      return Value(text);
    });
  if (name == "nbytes")
    return Value(static_cast<int64_t>(held->size()));
  return std::nullopt;
}

std::optional<Value> ByteString::getItem(Interpreter &interpreter, const Value &key) {
  auto size = static_cast<int64_t>(bytes->size());
  if (key.isInt()) {
    int64_t at = interpreter.toInt64(key, "an index");
    if (at < -size || at >= size)
      interpreter.raise("IndexError", "index out of range");
    return Value(static_cast<int64_t>(
        static_cast<unsigned char>((*bytes)[static_cast<size_t>(at < 0 ? at + size : at)])));
  }
  if (key.kind() != Kind::Slice)
    interpreter.raise("TypeError",
                      "byte indices must be integers or slices, not " + host::typeName(key));
  // As a list of its numbers is sliced.
  Value numbers = Value::list(*iterate(interpreter));
  Value chosen = interpreter.getItem(numbers, key);
  std::string out;
  for (const Value &number : chosen.elements())
    out += static_cast<char>(interpreter.toInt64(number, "a byte"));
  return Value(std::make_shared<ByteString>(std::move(out)));
}

std::optional<Value> ByteString::binaryOp(Interpreter &, BinaryOp op, const Value &other,
                                          bool reflected) {
  auto *more = other.as<ByteString>();
  if (!more || op != BinaryOp::Add || reflected)
    return std::nullopt;
  return Value(std::make_shared<ByteString>(*bytes + *more->bytes));
}

std::optional<Value> ByteString::length(Interpreter &) {
  return Value(static_cast<int64_t>(bytes->size()));
}

std::optional<std::vector<Value>> ByteString::iterate(Interpreter &) {
  std::vector<Value> out;
  for (unsigned char c : *bytes)
    out.emplace_back(static_cast<int64_t>(c));
  return out;
}

bool ByteString::equals(const Object &other) const {
  auto *more = dynamic_cast<const ByteString *>(&other);
  return more && *more->bytes == *bytes;
}

} // namespace pellucid::host
