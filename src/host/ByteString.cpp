// SPDX-License-Identifier: Apache-2.0
#include "host/ByteString.h"

#include "host/ByteContents.h"
#include "host/InterpreterState.h"
#include "host/Text.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

/// As a text of one character for each byte. Bytes that would be letters or spaces there and are
/// none here stand for themselves beyond Unicode's letters.
constexpr uint32_t apart = 0xf0000;

Value asText(std::string_view bytes, bool splitsLines = false) {
  std::string out;
  for (unsigned char c : bytes) {
    bool isOther = c >= 0x80 || (c >= 0x1c && c <= 0x1f) || (splitsLines && (c == 11 || c == 12));
    out += encodeCodePoint(isOther ? apart + c : c);
  }
  return Value(std::move(out));
}

std::string asBytes(const std::string &text) {
  std::string out;
  for (const std::string &letter : codePoints(text))
    out += static_cast<char>(decodeCodePoint(letter) & 0xff);
  return out;
}

Value textArgument(Interpreter &interpreter, const Value &v, bool takesNumbers) {
  if (auto *bytes = v.as<ByteString>())
    return asText(*bytes->bytes);
  if (v.isStr())
    interpreter.raise("TypeError", "a bytes-like object is required, not 'str'");
  if (takesNumbers && v.isInt())
    return asText(std::string(1, byteOf(interpreter, v, "byte")));
  if (v.isTuple()) {
    Tuple out;
    for (const Value &element : v.tuple())
      out.push_back(textArgument(interpreter, element, false));
    return Value::tuple(std::move(out));
  }
  return v;
}

using Maker = std::function<Value(std::string)>;

Value bytesResult(const Value &v, const Maker &make) {
  if (v.isStr())
    return make(asBytes(v.str()));
  if (!v.isSequence())
    return v;
  std::vector<Value> out;
  for (const Value &element : v.elements())
    out.push_back(bytesResult(element, make));
  return v.isTuple() ? Value::tuple(std::move(out)) : Value::list(std::move(out));
}

const NameSet &sharedMethods() {
  static const NameSet names = {
      "split",     "rsplit",     "strip",      "lstrip",       "rstrip",       "startswith",
      "endswith",  "find",       "rfind",      "index",        "rindex",       "count",
      "replace",   "upper",      "lower",      "title",        "capitalize",   "swapcase",
      "isdigit",   "isalpha",    "isalnum",    "isspace",      "isupper",      "islower",
      "istitle",   "isascii",    "center",     "ljust",        "rjust",        "zfill",
      "partition", "rpartition", "splitlines", "removeprefix", "removesuffix", "expandtabs"};
  return names;
}

/// A method of str on the bytes as a text.
Value sharedMethod(const std::string &name, const std::shared_ptr<const std::string> &held,
                   const Maker &make) {
  return nativeRaw("bytes." + name, [name, held, make](Interpreter &i, CallArgs args) {
    static const NameSet takeNumbers = {"find", "rfind", "index", "rindex", "count"};
    for (size_t k = 0; k < args.positional.size(); ++k)
      args.positional[k] = textArgument(i, args.positional[k], k == 0 && takeNumbers.count(name));
    for (auto &[key, value] : args.keywords)
      value = textArgument(i, value, false);
    Value text = asText(*held, name == "splitlines");
    Value result;
    try {
      result = i.call(i.getAttr(text, name), std::move(args));
    } catch (const RaisedError &error) {
      if (name != "index" && name != "rindex")
        throw;
      i.raise("ValueError", "subsection not found");
    }
    return bytesResult(result, make);
  });
}

std::string hexText(const std::string &bytes, const std::string &separator, int64_t every) {
  std::string out;
  auto group = static_cast<size_t>(std::abs(every));
  for (size_t k = 0; k < bytes.size(); ++k) {
    size_t place = every < 0 ? k : bytes.size() - k;
    if (k > 0 && group && !separator.empty() && place % group == 0)
      out += separator;
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes[k]));
    out += digits;
  }
  return out;
}

Value itemOf(Interpreter &interpreter, const std::string &bytes, const Value &key,
             const char *type) {
  Value numbers = Value::list({});
  for (unsigned char c : bytes)
    numbers.list().emplace_back(static_cast<int64_t>(c));
  if (key.kind() != Kind::Slice && !key.isInt() && !key.isBool() && !key.isObject())
    interpreter.raise("TypeError", std::string(type) + " indices must be integers or slices, not " +
                                       typeName(key));
  return interpreter.getItem(numbers, key);
}

} // namespace

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
      text += escapedCodePoint(c);
    } else {
      text += static_cast<char>(c);
    }
  }
  return text + quote;
}

std::optional<Value> ByteString::getAttr(Interpreter &interpreter, std::string_view name) {
  std::shared_ptr<const std::string> held = std::make_shared<std::string>(*bytes);
  auto self = std::static_pointer_cast<ByteString>(shared_from_this());
  Maker make = [self](std::string b) { return self->made(std::move(b)); };
  if (name == "__class__" && interpreter.options().script)
    return Value(interpreter.builtinClass(typeName()));
  if (name == "decode")
    return native("bytes.decode", "encoding='utf-8', errors='strict'",
                  [held](Interpreter &i, Bound &a) { return decoded(i, *held, a[0], a[1]); });
  if (name == "hex")
    return native("bytes.hex", "sep=None, bytes_per_sep=1", [held](Interpreter &i, Bound &a) {
      std::string separator = a[0].isNone() ? "" : a[0].isStr() ? a[0].str() : bytesOf(i, a[0]);
      return Value(hexText(*held, separator, i.toInt64(a[1], "bytes_per_sep")));
    });
  if (name == "join")
    return native("bytes.join", "iterable", [held, make](Interpreter &i, Bound &a) {
      std::string out;
      size_t count = 0;
      forEach(i, a[0], [&](const Value &v) {
        if (!v.as<ByteString>())
          i.raise("TypeError", "sequence item " + std::to_string(count) +
                                   ": expected a bytes-like object, " + host::typeName(v) +
                                   " found");
        out += (count++ ? *held : "") + bytesOf(i, v);
        checkLength(i, out.size());
        return true;
      });
      return make(std::move(out));
    });
  if (name == "translate")
    return native("bytes.translate", "table, delete=None", [held, make](Interpreter &i, Bound &a) {
      std::string out, dropped = a[1].isNone() ? "" : bytesOf(i, a[1]);
      const std::string *table = a[0].isNone() ? nullptr : &bytesOf(i, a[0]);
      if (table && table->size() != 256)
        i.raise("ValueError", "translation table must be 256 characters long");
      for (char c : *held)
        if (dropped.find(c) == std::string::npos)
          out += table ? (*table)[static_cast<unsigned char>(c)] : c;
      return make(std::move(out));
    });
  if (name == "nbytes")
    return Value(static_cast<int64_t>(held->size()));
  if (sharedMethods().count(name))
    return sharedMethod(std::string(name), held, make);
  return std::nullopt;
}

std::optional<Value> ByteString::getItem(Interpreter &interpreter, const Value &key) {
  auto size = static_cast<int64_t>(bytes->size());
  if (key.isInt()) {
    int64_t at = interpreter.toInt64(key, "an index");
    if (at < -size || at >= size)
      interpreter.raise("IndexError", typeName() == "bytes" ? "index out of range"
                                                            : "bytearray index out of range");
    return Value(static_cast<int64_t>(
        static_cast<unsigned char>((*bytes)[static_cast<size_t>(at < 0 ? at + size : at)])));
  }
  if (key.kind() != Kind::Slice)
    return itemOf(interpreter, *bytes, key, typeName() == "bytes" ? "byte" : "bytearray");
  Range range = sliceIndices(interpreter, key.slice(), size);
  if (range.step == 1)
    return made(bytes->substr(static_cast<size_t>(range.start),
                              static_cast<size_t>(std::max<int64_t>(0, range.stop - range.start))));
  std::string out;
  for (int64_t i = 0, n = range.length(); i < n; ++i)
    out += (*bytes)[static_cast<size_t>(range.start + i * range.step)];
  return made(std::move(out));
}

std::optional<Value> ByteString::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                          bool reflected) {
  if (op == BinaryOp::Add && !reflected)
    if (auto *more = other.as<ByteString>())
      return made(*bytes + *more->bytes);
  if (op == BinaryOp::Mul && (other.isInt() || other.isBool())) {
    int64_t times = std::max<int64_t>(0, interpreter.toInt64(other, "a number of times"));
    std::string out;
    if (!bytes->empty())
      checkLength(interpreter, static_cast<size_t>(
                                   std::min<double>(1e18, double(times) * double(bytes->size()))));
    for (int64_t i = 0; i < times && !bytes->empty(); ++i)
      out += *bytes;
    return made(std::move(out));
  }
  if (op != BinaryOp::Mod || reflected)
    return std::nullopt;
  // %b and %s take bytes; the rest is as of a text.
  std::string format = asText(*bytes).str();
  for (size_t i = 0; i + 1 < format.size(); ++i)
    if (format[i] == '%') {
      size_t end = format.find_first_not_of("-+ #0123456789.*", i + 1);
      if (end != std::string::npos && format[end] == 'b')
        format[end] = 's';
      i = end == std::string::npos ? format.size() : end;
    }
  auto plain = [&](const Value &v) {
    auto *text = v.as<ByteString>();
    return text ? asText(*text->bytes) : v;
  };
  Value arguments = plain(other);
  if (other.isTuple()) {
    Tuple out;
    for (const Value &v : other.tuple())
      out.push_back(plain(v));
    arguments = Value::tuple(std::move(out));
  }
  return made(asBytes(interpreter.binary(BinaryOp::Mod, Value(format), arguments).str()));
}

std::optional<Value> ByteString::compare(Interpreter &, CompareOp op, const Value &other,
                                         bool reflected) {
  auto *more = other.as<ByteString>();
  if (!more || reflected)
    return std::nullopt;
  int order = bytes->compare(*more->bytes);
  switch (op) {
  case CompareOp::Eq:
    return Value(order == 0);
  case CompareOp::Ne:
    return Value(order != 0);
  case CompareOp::Lt:
    return Value(order < 0);
  case CompareOp::Le:
    return Value(order <= 0);
  case CompareOp::Gt:
    return Value(order > 0);
  default:
    return Value(order >= 0);
  }
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

std::optional<bool> ByteString::contains(Interpreter &interpreter, const Value &value) {
  if (value.isInt() || value.isBool())
    return bytes->find(byteOf(interpreter, value, "byte")) != std::string::npos;
  return bytes->find(bytesOf(interpreter, value)) != std::string::npos;
}

bool ByteString::equals(const Object &other) const {
  auto *more = dynamic_cast<const ByteString *>(&other);
  return more && *more->bytes == *bytes;
}

} // namespace pellucid::host
