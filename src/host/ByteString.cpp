// SPDX-License-Identifier: Apache-2.0
#include "host/ByteString.h"

#include "host/InterpreterState.h"
#include "host/Text.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

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

// ---- encodings
// -----------------------------------------------------------------------------------------------------

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
      char text[8];
      std::snprintf(text, sizeof text, "\\x%02x", c);
      out += text;
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
    char escaped[16];
    std::snprintf(escaped, sizeof escaped,
                  point < 0x100     ? "\\x%02x"
                  : point < 0x10000 ? "\\u%04x"
                                    : "\\U%08x",
                  point);
    if (point < most)
      out += static_cast<char>(point);
    else if (handling == "replace")
      out += '?';
    else if (handling == "backslashreplace")
      out += escaped;
    else if (handling != "ignore")
      interpreter.raise("UnicodeEncodeError",
                        "'" + std::string(codec == "latin1" ? "latin-1" : codec) +
                            "' codec can't encode character '" + escaped + "' in position " +
                            std::to_string(place) + ": ordinal not in range(" +
                            std::to_string(most) + ")");
    ++place;
  }
  return out;
}

// ---- methods that str has too
// -------------------------------------------------------------------------------------------

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

/// What bytes() and bytearray() are given.
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
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
      text += escaped;
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

// ---- bytearray
// ------------------------------------------------------------------------------------------------------

std::string &ByteArray::own() {
  if (bytes.use_count() > 1)
    bytes = std::make_shared<std::string>(*bytes);
  return const_cast<std::string &>(*bytes); // made as one that may change
}

std::optional<Value> ByteArray::getAttr(Interpreter &interpreter, std::string_view name) {
  auto self = std::static_pointer_cast<ByteArray>(shared_from_this());
  auto method = [&](const char *signature, std::function<Value(Interpreter &, Bound &)> body) {
    return native("bytearray." + std::string(name), signature, std::move(body));
  };
  if (name == "append")
    return method("item", [self](Interpreter &i, Bound &a) {
      self->own() += byteOf(i, a[0], "byte");
      return Value();
    });
  if (name == "extend")
    return method("iterable", [self](Interpreter &i, Bound &a) {
      std::string more = contentsOf(i, {a[0], Value(), Value()}, "bytearray");
      self->own() += more;
      return Value();
    });
  if (name == "insert")
    return method("index, item", [self](Interpreter &i, Bound &a) {
      auto size = static_cast<int64_t>(self->bytes->size());
      int64_t at = i.toInt64(a[0], "an index");
      at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
      self->own().insert(static_cast<size_t>(at), 1, byteOf(i, a[1], "byte"));
      return Value();
    });
  if (name == "pop")
    return method("index=-1", [self](Interpreter &i, Bound &a) {
      if (self->bytes->empty())
        i.raise("IndexError", "pop from empty bytearray");
      Value byte = *self->getItem(i, a[0]);
      self->remove(i, a[0]);
      return byte;
    });
  if (name == "clear" || name == "reverse" || name == "copy")
    return method("", [self, what = name[1]](Interpreter &, Bound &) {
      if (what == 'o')
        return self->made(*self->bytes);
      std::string &bytes = self->own();
      if (what == 'l')
        bytes.clear();
      else
        std::reverse(bytes.begin(), bytes.end());
      return Value();
    });
  if (name == "remove")
    return method("value", [self](Interpreter &i, Bound &a) {
      size_t at = self->bytes->find(byteOf(i, a[0], "byte"));
      if (at == std::string::npos)
        i.raise("ValueError", "value not found in bytearray");
      self->own().erase(at, 1);
      return Value();
    });
  return ByteString::getAttr(interpreter, name);
}

bool ByteArray::setItem(Interpreter &interpreter, const Value &key, const Value &value) {
  // As a list of its numbers is written.
  Value numbers = Value::list(*iterate(interpreter));
  if (key.kind() == Kind::Slice) {
    std::string more = contentsOf(interpreter, {value, Value(), Value()}, "bytearray");
    List elements;
    for (unsigned char c : more)
      elements.emplace_back(static_cast<int64_t>(c));
    interpreter.setItem(numbers, key, Value::list(std::move(elements)));
    own() = contentsOf(interpreter, {numbers, Value(), Value()}, "bytearray");
    return true;
  }
  auto size = static_cast<int64_t>(bytes->size());
  int64_t at = interpreter.toInt64(key, "an index");
  if (at < -size || at >= size)
    interpreter.raise("IndexError", "bytearray index out of range");
  own()[static_cast<size_t>(at < 0 ? at + size : at)] = byteOf(interpreter, value, "byte");
  return true;
}

void ByteArray::remove(Interpreter &interpreter, const Value &key) {
  Value numbers = Value::list(*iterate(interpreter));
  interpreter.delItem(numbers, key);
  own() = contentsOf(interpreter, {numbers, Value(), Value()}, "bytearray");
}

std::optional<Value> ByteArray::inPlaceOp(Interpreter &interpreter, BinaryOp op,
                                          const Value &other) {
  if (op == BinaryOp::Add) {
    std::string more = bytesOf(interpreter, other);
    own() += more;
    return Value(shared_from_this());
  }
  if (op != BinaryOp::Mul)
    return std::nullopt;
  Value product = interpreter.binary(op, Value(shared_from_this()), other);
  own() = bytesOf(interpreter, product);
  return Value(shared_from_this());
}

// ---- the classes
// ----------------------------------------------------------------------------------------------------

namespace {

/// int.to_bytes() and int.from_bytes()
void addWholeNumbers(Interpreter &interpreter) {
  auto isLittle = [](Interpreter &i, const Value &order) {
    const std::string &name = i.toStr(order, "byteorder");
    if (name != "little" && name != "big")
      i.raise("ValueError", "byteorder must be either 'little' or 'big'");
    return name == "little";
  };
  Namespace &integer = interpreter.builtinClass("int")->attributes;
  integer.set("to_bytes",
              native("int.to_bytes", "self, length=1, byteorder='big', *, signed=False",
                     [isLittle](Interpreter &i, Bound &a) {
                       Value plain = contentOf(a[0]);
                       Int value = plain.isBool() ? Int(plain.boolean()) : plain.integer();
                       int64_t length = i.toInt64(a[1], "length");
                       if (length < 0)
                         i.raise("ValueError", "length argument must be non-negative");
                       checkLength(i, static_cast<size_t>(length));
                       bool isSigned = i.truth(a[3]), little = isLittle(i, a[2]);
                       if (value < 0 && !isSigned)
                         i.raise("OverflowError", "can't convert negative int to unsigned");
                       std::string out;
                       Int rest = value;
                       for (int64_t k = 0; k < length; ++k, rest >>= 8)
                         out += static_cast<char>(rest & 0xff);
                       bool top = !out.empty() && (out.back() & 0x80);
                       bool fits = isSigned ? rest == (value < 0 ? -1 : 0) &&
                                                  (out.empty() ? value == 0 : top == (value < 0))
                                            : rest == 0;
                       if (!fits)
                         i.raise("OverflowError", "int too big to convert");
                       if (!little)
                         std::reverse(out.begin(), out.end());
                       return Value(std::make_shared<ByteString>(std::move(out)));
                     }));
  integer.set("from_bytes",
              Value(std::make_shared<Descriptor>(
                  Descriptor::Form::Static,
                  native("int.from_bytes", "bytes, byteorder='big', *, signed=False",
                         [isLittle](Interpreter &i, Bound &a) {
                           std::string bytes = contentsOf(i, {a[0], Value(), Value()}, "bytes");
                           if (isLittle(i, a[1]))
                             std::reverse(bytes.begin(), bytes.end());
                           if (bytes.size() > 15 && std::any_of(bytes.begin(), bytes.end() - 15,
                                                                [](char c) { return c != 0; }))
                             i.raise("OverflowError",
                                     "int.from_bytes() of a number that does not fit 127 bits");
                           Int value = 0;
                           for (unsigned char c : bytes)
                             value = value * 256 + c;
                           if (i.truth(a[2]) && !bytes.empty() && (bytes[0] & 0x80))
                             value -= Int(1) << (8 * bytes.size());
                           return Value(value);
                         }))));
}

} // namespace

void addBytes(Interpreter &interpreter) {
  Interpreter::State &state = interpreter.state();
  auto add = [&](const char *name, bool isArray) {
    auto cls = Class::make(name, "builtins");
    cls->accepts = [isArray](const Value &v) {
      return isArray ? v.as<ByteArray>() != nullptr : v.as<ByteString>() && !v.as<ByteArray>();
    };
    cls->construct = [name, isArray,
                      signature = Signature("source=None, encoding=None, errors=None")](
                         Interpreter &i, CallArgs args) {
      bool isEmpty = args.positional.empty() && args.keywords.empty();
      Bound a = signature.bind(i, name, args);
      std::string held = isEmpty ? "" : contentsOf(i, a, name);
      return isArray ? Value(std::make_shared<ByteArray>(std::move(held)))
                     : Value(std::make_shared<ByteString>(std::move(held)));
    };
    auto made = [isArray](std::string held) {
      return isArray ? Value(std::make_shared<ByteArray>(std::move(held)))
                     : Value(std::make_shared<ByteString>(std::move(held)));
    };
    auto set = [&](const char *method, const char *signature, NativeFunction::Body body) {
      cls->attributes.set(
          method, Value(std::make_shared<Descriptor>(
                      Descriptor::Form::Static,
                      native(std::string(name) + "." + method, signature, std::move(body)))));
    };
    set("fromhex", "string", [made](Interpreter &i, Bound &a) {
      return made(fromHex(i, i.toStr(a[0], "fromhex()'s argument")));
    });
    set("maketrans", "frm, to", [](Interpreter &i, Bound &a) {
      const std::string &from = bytesOf(i, a[0]), &to = bytesOf(i, a[1]);
      if (from.size() != to.size())
        i.raise("ValueError", "maketrans arguments must have same length");
      std::string table;
      for (int c = 0; c < 256; ++c)
        table += static_cast<char>(c);
      for (size_t k = 0; k < from.size(); ++k)
        table[static_cast<unsigned char>(from[k])] = to[k];
      return Value(std::make_shared<ByteString>(std::move(table)));
    });
    state.classes.emplace(name, cls);
    state.builtins.set(name, Value(cls));
  };
  add("bytes", false);
  add("bytearray", true);
  interpreter.builtinClass("str")->attributes.set(
      "encode",
      native("str.encode", "self, encoding='utf-8', errors='strict'", [](Interpreter &i, Bound &a) {
        return Value(std::make_shared<ByteString>(
            encoded(i, i.toStr(contentOf(a[0]), "the text"), a[1], a[2])));
      }));
  addWholeNumbers(interpreter);
}

} // namespace pellucid::host
