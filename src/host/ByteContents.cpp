// SPDX-License-Identifier: Apache-2.0
#include "host/ByteContents.h"

#include "host/InterpreterState.h"
#include "host/Text.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

const std::string &bytesOf(Interpreter &interpreter, const Value &value) {
  auto *bytes = value.as<ByteString>();
  if (!bytes)
    interpreter.raise("TypeError",
                      "a bytes-like object is required, not '" + typeName(value) + "'");
  return *bytes->bytes;
}

char byteOf(Interpreter &interpreter, const Value &value, const char *what) {
  if (!value.isInt() && !value.isBool() && !value.isObject())
    interpreter.raise("TypeError",
                      "'" + typeName(value) + "' object cannot be interpreted as an integer");
  int64_t byte = interpreter.toInt64(value, "a byte");
  if (byte < 0 || byte > 255)
    interpreter.raise("ValueError", std::string(what) + " must be in range(0, 256)");
  return static_cast<char>(byte);
}

namespace {

/// The encoding by its plain name: "utf8", "ascii", "latin1".
std::string codecOf(Interpreter &interpreter, const Value &encoding) {
  std::string name = lowerCase(interpreter.toStr(encoding, "encoding"));
  std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == ' '; });
  if (name == "u8" || name == "utf8" || name == "utf8sig")
    return "utf8";
  if (name == "ascii" || name == "usascii")
    return "ascii";
  if (name == "latin1" || name == "iso88591" || name == "l1")
    return "latin1";
  interpreter.raise("LookupError", "unknown encoding: " + encoding.str());
}

/// How many bytes of `text` from `at` are one character; 0 where they are none.
size_t sequenceAt(const std::string &text, size_t at) {
  auto c = static_cast<unsigned char>(text[at]);
  size_t length = c < 0x80                ? 1
                  : c >= 0xc2 && c < 0xe0 ? 2
                  : c >= 0xe0 && c < 0xf0 ? 3
                  : c >= 0xf0 && c < 0xf5 ? 4
                                          : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80)
      return 0;
  if (length < 3)
    return length;
  uint32_t point = decodeCodePoint(text.substr(at, length));
  bool isOver = length == 3 ? point < 0x800 || (point >= 0xd800 && point < 0xe000)
                            : point < 0x10000 || point > 0x10ffff;
  return isOver ? 0 : length;
}

} // namespace

Value decoded(Interpreter &interpreter, const std::string &bytes, const Value &encoding,
              const Value &errors) {
  std::string codec = codecOf(interpreter, encoding);
  const std::string &handling = interpreter.toStr(errors, "errors");
  std::string out;
  for (size_t i = 0; i < bytes.size();) {
    auto c = static_cast<unsigned char>(bytes[i]);
    size_t length = codec == "utf8" ? sequenceAt(bytes, i) : c < 0x80 || codec == "latin1";
    if (length > 0) {
      out += codec == "latin1" ? encodeCodePoint(c) : bytes.substr(i, length);
      i += length;
      continue;
    }
    if (handling == "replace") {
      out += "\xef\xbf\xbd";
    } else if (handling == "backslashreplace") {
      out += escapedCodePoint(c);
    } else if (handling != "ignore") {
      char text[8];
      std::snprintf(text, sizeof text, "0x%02x", c);
      interpreter.raise(
          "UnicodeDecodeError",
          "'" + std::string(codec == "utf8" ? "utf-8" : codec) + "' codec can't decode byte " +
              text + " in position " + std::to_string(i) + ": " +
              (codec == "ascii" ? "ordinal not in range(128)"
               : c >= 0xc2 && c < 0xf5
                   ? i + 1 >= bytes.size() ? "unexpected end of data" : "invalid continuation byte"
                   : "invalid start byte"));
    }
    ++i;
  }
  return Value(std::move(out));
}

std::string encoded(Interpreter &interpreter, const std::string &text, const Value &encoding,
                    const Value &errors) {
  std::string codec = codecOf(interpreter, encoding);
  const std::string &handling = interpreter.toStr(errors, "errors");
  if (codec == "utf8")
    return text;
  std::string out;
  uint32_t most = codec == "ascii" ? 0x80 : 0x100;
  size_t place = 0;
  for (const std::string &letter : codePoints(text)) {
    uint32_t point = decodeCodePoint(letter);
    if (point < most)
      out += static_cast<char>(point);
    else if (handling == "replace")
      out += '?';
    else if (handling == "backslashreplace")
      out += escapedCodePoint(point);
    else if (handling != "ignore")
      interpreter.raise("UnicodeEncodeError",
                        "'" + std::string(codec == "latin1" ? "latin-1" : codec) +
                            "' codec can't encode character '" + escapedCodePoint(point) +
                            "' in position " + std::to_string(place) + ": ordinal not in range(" +
                            std::to_string(most) + ")");
    ++place;
  }
  return out;
}

std::string fromHex(Interpreter &interpreter, const std::string &text) {
  std::string out;
  auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (size_t k = 0; k < text.size();) {
    if (isSpace(text[k])) {
      ++k;
      continue;
    }
    int high = digit(text[k]), low = k + 1 < text.size() ? digit(text[k + 1]) : -1;
    if (high < 0 || low < 0)
      interpreter.raise("ValueError", "non-hexadecimal number found in fromhex() arg at position " +
                                          std::to_string(high < 0 ? k : k + 1));
    out += static_cast<char>(high * 16 + low);
    k += 2;
  }
  return out;
}

std::string contentsOf(Interpreter &interpreter, const Bound &a, const char *type) {
  const Value &source = a[0];
  if (source.isStr()) {
    if (a[1].isNone())
      interpreter.raise("TypeError", "string argument without an encoding");
    return encoded(interpreter, source.str(), a[1], a[2].isNone() ? Value("strict") : a[2]);
  }
  if (!a[1].isNone() || !a[2].isNone())
    interpreter.raise("TypeError", std::string(a[1].isNone() ? "errors" : "encoding") +
                                       " without a string argument");
  if (auto *bytes = source.as<ByteString>())
    return *bytes->bytes;
  if (source.isInt() || source.isBool()) {
    int64_t count = interpreter.toInt64(source, "the size");
    if (count < 0)
      interpreter.raise("ValueError", "negative count");
    checkLength(interpreter, static_cast<size_t>(count));
    return std::string(static_cast<size_t>(count), '\0');
  }
  if (auto *instance = source.as<Instance>())
    if (auto method = instance->special(interpreter, "__bytes__"))
      return bytesOf(interpreter, interpreter.call(*method));
  if (source.isNone() || source.isFloat())
    interpreter.raise("TypeError", "cannot convert '" + typeName(source) + "' object to " + type);
  std::string out;
  for (const Value &v : interpreter.iterate(source))
    out += byteOf(interpreter, v, std::string_view(type) == "bytes" ? "bytes" : "byte");
  return out;
}

} // namespace pellucid::host
