// SPDX-License-Identifier: Apache-2.0
#include "host/InterpreterState.h"
#include "host/Letters.h"
#include "host/Text.h"
#include "syntax/Unicode.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

// ---- % and format
// --------------------------------------------------------------------------------------------------

/// `%-8.3f` and its kin. The argument list is a tuple, a dict (for %(name)s) or one value.
class PercentFormatter {
public:
  PercentFormatter(Interpreter &i, const std::string &f, const Value &a)
      : interpreter(i), format(f), args(a) {}

  std::string run() {
    std::string out;
    for (size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%') {
        out += format[i];
        continue;
      }
      if (++i >= format.size())
        interpreter.raise("ValueError", "incomplete format");
      out += format[i] == '%' ? "%" : conversion(i);
      checkLength(interpreter, out.size());
    }
    if (args.isTuple() && next < args.tuple().size())
      interpreter.raise("TypeError", "not all arguments converted during string formatting");
    return out;
  }

private:
  Interpreter &interpreter;
  const std::string &format;
  const Value &args;
  size_t next = 0;

  Value take() {
    if (!args.isTuple())
      return next++ == 0 ? args : missing();
    return next < args.tuple().size() ? args.tuple()[next++] : missing();
  }
  [[noreturn]] Value missing() {
    interpreter.raise("TypeError", "not enough arguments for format string");
  }

  std::string conversion(size_t &i) {
    std::optional<Value> named;
    if (format[i] == '(') {
      size_t close = format.find(')', i);
      if (close == std::string::npos)
        interpreter.raise("ValueError", "incomplete format key");
      named = interpreter.getItem(args, Value(format.substr(i + 1, close - i - 1)));
      i = close + 1;
    }
    Conversion c;
    for (; i < format.size() && std::string_view("-+ #0").find(format[i]) != std::string_view::npos;
         ++i) {
      c.left |= format[i] == '-';
      c.zeros |= format[i] == '0';
      c.alternate |= format[i] == '#';
      if (format[i] == '+' || (format[i] == ' ' && c.sign.empty()))
        c.sign = format[i];
    }
    int64_t width = numberAt(i, "width").value_or(0);
    c.left |= width < 0;
    c.width = static_cast<size_t>(std::abs(width));
    if (i < format.size() && format[i] == '.') {
      ++i;
      c.precision = std::max<int64_t>(0, numberAt(i, "precision").value_or(0));
    }
    while (i < format.size() && std::string_view("hlL").find(format[i]) != std::string_view::npos)
      ++i;
    if (i >= format.size())
      interpreter.raise("ValueError", "incomplete format");
    c.type = format[i];
    if (c.type == '%')
      return "%";
    if (std::string_view("sradiufFeEgGxXoc").find(c.type) == std::string_view::npos)
      interpreter.raise("ValueError", std::string("unsupported format character '") + c.type +
                                          "' (0x" + hexOf(c.type) + ") at index " +
                                          std::to_string(codePointCount(format.substr(0, i))));
    return converted(c, named ? *named : take());
  }

private:
  struct Conversion {
    bool left = false, zeros = false, alternate = false;
    std::string sign;
    size_t width = 0;
    std::optional<int64_t> precision;
    char type = 's';
  };

  static std::string hexOf(char c) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%x", static_cast<unsigned char>(c));
    return digits;
  }

  /// The digits there, or the argument that a `*` stands for.
  std::optional<int64_t> numberAt(size_t &i, const char *what) {
    if (i < format.size() && format[i] == '*') {
      ++i;
      Value given = take();
      if (!given.isInt() && !given.isBool())
        interpreter.raise("TypeError", "* wants int");
      return interpreter.toInt64(given, what);
    }
    size_t begin = i;
    while (i < format.size() && std::isdigit(static_cast<unsigned char>(format[i])))
      ++i;
    if (i == begin)
      return std::nullopt;
    if (i - begin > 9)
      interpreter.raise("ValueError", std::string(what) + " too big");
    return std::stoll(format.substr(begin, i - begin));
  }

  std::string padded(const Conversion &c, const std::string &body, size_t signLength) {
    size_t length = codePointCount(body);
    if (length >= c.width)
      return body;
    checkLength(interpreter, c.width);
    std::string fill(c.width - length, ' ');
    if (c.left)
      return body + fill;
    if (!c.zeros)
      return fill + body;
    return body.substr(0, signLength) + std::string(c.width - length, '0') +
           body.substr(signLength);
  }

  std::string converted(Conversion c, const Value &value) {
    switch (c.type) {
    case 's':
    case 'r':
    case 'a':
      c.zeros = false;
      return padded(c, textConverted(c, value), 0);
    case 'c':
      c.zeros = false;
      return padded(c, characterOf(value), 0);
    default:
      break;
    }
    if (isSymbolic(value))
      return interpreter.format(value, "");
    bool isFloat = std::string_view("fFeEgG").find(c.type) != std::string_view::npos;
    std::string body = isFloat ? floatConverted(c, value) : wholeConverted(c, value);
    size_t signLength =
        !body.empty() && std::string_view("+- ").find(body[0]) != std::string_view::npos;
    if (c.alternate && !isFloat && (c.type == 'x' || c.type == 'X' || c.type == 'o'))
      signLength += 2;
    return padded(c, body, signLength);
  }

  std::string textConverted(const Conversion &c, const Value &value) {
    std::string text;
    Value made =
        textOf([&] { return c.type == 's' ? interpreter.str(value) : interpreter.repr(value); });
    if (made.as<SymText>())
      return interpreter.format(made, "");
    if (!c.precision)
      return made.str();
    for (const std::string &point : codePoints(made.str())) {
      if (static_cast<int64_t>(codePointCount(text)) >= *c.precision)
        break;
      text += point;
    }
    return text;
  }

  std::string characterOf(const Value &value) {
    Value plain = contentOf(value);
    if (plain.isStr() && codePointCount(plain.str()) == 1)
      return plain.str();
    if (!plain.isInt() && !plain.isBool())
      interpreter.raise("TypeError", "%c requires int or char");
    int64_t point = interpreter.toInt64(plain, "a character");
    if (point < 0 || point > 0x10ffff)
      interpreter.raise("OverflowError", "%c arg not in range(0x110000)");
    return encodeCodePoint(static_cast<uint32_t>(point));
  }

  std::string floatConverted(const Conversion &c, const Value &value) {
    Value plain = contentOf(value);
    if (plain.isStr() || plain.isNone() || plain.isSequence() || plain.isDict() || plain.isSet())
      interpreter.raise("TypeError", "must be real number, not " + typeName(value));
    return interpreter.format(Value(interpreter.toDouble(plain, "a format argument")),
                              c.sign + (c.alternate ? "#" : "") + "." +
                                  std::to_string(c.precision.value_or(6)) + c.type);
  }

  std::string wholeConverted(const Conversion &c, const Value &value) {
    bool isDecimal = c.type == 'd' || c.type == 'i' || c.type == 'u';
    Value plain = contentOf(value);
    bool isNumber = plain.isInt() || plain.isBool() || plain.isFloat() ||
                    (plain.isObject() && interpreter.findAttr(plain, "__int__"));
    if (!isNumber || (!isDecimal && plain.isFloat()))
      interpreter.raise("TypeError", std::string("%") + c.type + " format: " +
                                         (isDecimal ? "a real number" : "an integer") +
                                         " is required, not " + typeName(value));
    Value whole = interpreter.call(Value(interpreter.builtinClass("int")), {plain});
    std::string body = interpreter.format(whole, c.sign + (c.alternate && !isDecimal ? "#" : "") +
                                                     (isDecimal ? 'd' : c.type));
    if (!c.precision)
      return body;
    size_t first = body.find_first_of("0123456789abcdefABCDEF");
    if (c.alternate && !isDecimal)
      first += 2;
    auto digits = static_cast<int64_t>(body.size() - first);
    if (digits < *c.precision) {
      checkLength(interpreter, static_cast<size_t>(*c.precision));
      body.insert(first, std::string(static_cast<size_t>(*c.precision - digits), '0'));
    }
    return body;
  }
};

/// `{}`, `{0}`, `{name.attr[key]!r:spec}` of str.format.
class BraceFormatter {
public:
  BraceFormatter(Interpreter &i, const CallArgs &a) : interpreter(i), args(a) {}

  std::string run(const std::string &format) {
    std::string out;
    ValueLevel level; // a field's format has fields too
    for (size_t i = 0; i < format.size(); ++i) {
      char c = format[i];
      bool doubled = i + 1 < format.size() && format[i + 1] == c;
      if ((c == '{' || c == '}') && doubled) {
        out += c;
        ++i;
      } else if (c == '{') {
        out += field(format, i);
        checkLength(interpreter, out.size());
      } else if (c == '}')
        interpreter.raise("ValueError", "Single '}' encountered in format string");
      else
        out += c;
    }
    return out;
  }

private:
  Interpreter &interpreter;
  const CallArgs &args;
  size_t next = 0;

  std::string field(const std::string &format, size_t &i) {
    size_t begin = i + 1, depth = 1, end = begin;
    for (; end < format.size() && depth; ++end)
      depth += format[end] == '{' ? 1 : format[end] == '}' ? size_t(-1) : 0;
    if (depth)
      interpreter.raise("ValueError", "expected '}' before end of string");
    i = end - 1;
    std::string body = format.substr(begin, end - 1 - begin), spec;
    if (size_t colon = body.find(':'); colon != std::string::npos) {
      spec = run(body.substr(colon + 1));
      body.resize(colon);
    }
    char conversion = 0;
    if (body.size() >= 2 && body[body.size() - 2] == '!') {
      conversion = body.back();
      body.resize(body.size() - 2);
    }
    Value value = lookup(body);
    if (conversion)
      value = textOf(
          [&] { return conversion == 's' ? interpreter.str(value) : interpreter.repr(value); });
    return interpreter.format(value, spec);
  }

  Value lookup(const std::string &path) {
    size_t end = std::min(path.find('.'), path.find('['));
    std::string head = path.substr(0, end);
    Value value;
    bool isIndex =
        std::all_of(head.begin(), head.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (isIndex) {
      size_t index = head.empty() ? next++ : std::stoul(head);
      if (index >= args.positional.size())
        interpreter.raise("IndexError", "Replacement index " + std::to_string(index) +
                                            " out of range for positional args tuple");
      value = args.positional[index];
    } else if (const Value *named = args.keyword(head))
      value = *named;
    else
      interpreter.raiseKey(Value(head));
    while (end < path.size()) {
      bool item = path[end] == '[';
      size_t stop = item ? std::min(path.find(']', end), path.size())
                         : std::min(path.find_first_of(".[", end + 1), path.size());
      std::string part = path.substr(end + 1, stop - end - 1);
      bool number = !part.empty() && std::all_of(part.begin(), part.end(),
                                                 [](char c) { return c >= '0' && c <= '9'; });
      value =
          item ? interpreter.getItem(value, number ? Value(static_cast<int64_t>(std::stoll(part)))
                                                   : Value(part))
               : interpreter.getAttr(value, part);
      end = stop + (item ? 1 : 0);
    }
    return value;
  }
};

// ---- methods
// -------------------------------------------------------------------------------------------------------

bool inSet(std::string_view chars, std::string_view c) {
  return chars.empty() ? (letterKind(decodeCodePoint(c)) & Space) != 0
                       : chars.find(c) != std::string_view::npos;
}

Value strip(Interpreter &interpreter, Bound &a, bool left, bool right) {
  std::string chars = a[1].isNone() ? "" : interpreter.toStr(a[1], "strip()'s argument");
  std::vector<std::string> points = codePoints(a[0].str());
  size_t first = 0, last = points.size();
  while (left && first < last && inSet(chars, points[first]))
    ++first;
  while (right && last > first && inSet(chars, points[last - 1]))
    --last;
  return Value(joinCodePoints(points, first, last));
}

/// Bytes of the space at `at`; 0 where there is none.
size_t spaceAt(std::string_view text, size_t at) {
  if ((text[at] & 0x80) == 0)
    return isSpace(text[at]);
  return letterKind(decodeCodePoint(text.substr(at))) & Space ? codePointLength(text, at) : 0;
}

List splitSpaces(const std::string &text, int64_t limit) {
  List out;
  size_t i = 0;
  while (true) {
    while (i < text.size() && spaceAt(text, i))
      i += spaceAt(text, i);
    if (i == text.size())
      return out;
    size_t begin = i;
    // The rest keeps what is at its end.
    bool isRest = limit >= 0 && static_cast<int64_t>(out.size()) == limit;
    while (i < text.size() && (isRest || !spaceAt(text, i)))
      i += codePointLength(text, i);
    out.emplace_back(text.substr(begin, i - begin));
  }
}

Value split(Interpreter &interpreter, Bound &a) {
  const std::string &text = a[0].str();
  int64_t limit = interpreter.toInt64(a[2], "maxsplit");
  if (a[1].isNone())
    return Value::list(splitSpaces(text, limit));
  const std::string &separator = interpreter.toStr(a[1], "the separator");
  if (separator.empty())
    interpreter.raise("ValueError", "empty separator");
  List out;
  size_t begin = 0;
  for (size_t at; limit != 0 && (at = text.find(separator, begin)) != std::string::npos; --limit) {
    out.emplace_back(text.substr(begin, at - begin));
    begin = at + separator.size();
  }
  out.emplace_back(text.substr(begin));
  return Value::list(std::move(out));
}

Value splitRight(Interpreter &interpreter, Bound &a) {
  int64_t limit = interpreter.toInt64(a[2], "maxsplit");
  if (a[1].isNone() || limit < 0)
    return split(interpreter, a);
  const std::string &text = a[0].str(), &separator = interpreter.toStr(a[1], "the separator");
  List out;
  size_t end = text.size();
  while (limit-- > 0) {
    size_t at =
        end < separator.size() ? std::string::npos : text.rfind(separator, end - separator.size());
    if (at == std::string::npos)
      break;
    out.insert(out.begin(), Value(text.substr(at + separator.size(), end - at - separator.size())));
    end = at;
  }
  out.insert(out.begin(), Value(text.substr(0, end)));
  return Value::list(std::move(out));
}

Value join(Interpreter &interpreter, Bound &a) {
  return textOf([&] {
    std::string out;
    size_t n = 0;
    for (const Value &v : interpreter.iterate(a[1])) {
      if (!v.isStr() && !v.as<SymText>())
        interpreter.raise("TypeError", "sequence item " + std::to_string(n) +
                                           ": expected str instance, " + typeName(v) + " found");
      out += (n++ ? a[0].str() : "") + interpreter.str(v);
      checkLength(interpreter, out.size());
    }
    return out;
  });
}

Value replace(Interpreter &interpreter, Bound &a) {
  std::string out;
  const std::string &text = a[0].str(), &from = interpreter.toStr(a[1], "replace()'s argument"),
                    &to = interpreter.toStr(a[2], "replace()'s argument");
  int64_t limit = interpreter.toInt64(a[3], "count");
  size_t begin = 0;
  for (size_t at; limit != 0 && !from.empty() && (at = text.find(from, begin)) != std::string::npos;
       --limit) {
    out += text.substr(begin, at - begin) + to;
    checkLength(interpreter, out.size());
    begin = at + from.size();
  }
  return Value(out + text.substr(begin));
}

/// What of a text the arguments `start` and `end` leave, as find(), count() and their kin read
/// them.
struct TextPart {
  std::string text;
  int64_t start = 0;   ///< in code points
  bool isThere = true; ///< false: `start` lies behind the end, where not even "" is found
};

TextPart partOf(Interpreter &interpreter, Bound &a) {
  const std::string &text = a[0].str();
  if (a[2].isNone() && a[3].isNone())
    return {text};
  auto count = static_cast<int64_t>(codePointCount(text));
  auto place = [&](const Value &given, int64_t fallback) {
    int64_t at = given.isNone() ? fallback : interpreter.toInt64(given, "a place in the text");
    return at < 0 ? std::max<int64_t>(0, at + count) : at;
  };
  int64_t start = place(a[2], 0), end = std::min(place(a[3], count), count);
  if (start > end)
    return {"", start, false};
  return {joinCodePoints(codePoints(text), static_cast<size_t>(start), static_cast<size_t>(end)),
          start};
}

Value affixed(Interpreter &interpreter, Bound &a, bool atStart) {
  TextPart part = partOf(interpreter, a);
  for (const Value &v : a[1].isTuple() ? a[1].tuple() : Tuple{a[1]}) {
    const std::string &affix = interpreter.toStr(v, "the argument");
    if (part.isThere && (atStart ? part.text.starts_with(affix) : part.text.ends_with(affix)))
      return Value(true);
  }
  return Value(false);
}

Value find(Interpreter &interpreter, Bound &a, bool fromRight, bool mustFind) {
  const std::string &wanted = interpreter.toStr(a[1], "the argument");
  TextPart part = partOf(interpreter, a);
  size_t at = !part.isThere ? std::string::npos
              : fromRight   ? part.text.rfind(wanted)
                            : part.text.find(wanted);
  if (at == std::string::npos && mustFind)
    interpreter.raise("ValueError", "substring not found");
  return at == std::string::npos
             ? Value(-1)
             : Value(part.start + static_cast<int64_t>(codePointCount(part.text.substr(0, at))));
}

Value countParts(Interpreter &interpreter, Bound &a) {
  const std::string &wanted = interpreter.toStr(a[1], "the argument");
  TextPart part = partOf(interpreter, a);
  if (!part.isThere)
    return Value(0);
  int64_t n = wanted.empty() ? static_cast<int64_t>(codePointCount(part.text)) + 1 : 0;
  for (size_t at = 0; !wanted.empty() && (at = part.text.find(wanted, at)) != std::string::npos;
       at += wanted.size())
    ++n;
  return Value(n);
}

Value partition(Interpreter &interpreter, Bound &a, bool fromRight) {
  const std::string &text = a[0].str(), &separator = interpreter.toStr(a[1], "the separator");
  size_t at = fromRight ? text.rfind(separator) : text.find(separator);
  if (at == std::string::npos)
    return fromRight ? Value::tuple({Value(""), Value(""), a[0]})
                     : Value::tuple({a[0], Value(""), Value("")});
  return Value::tuple(
      {Value(text.substr(0, at)), Value(separator), Value(text.substr(at + separator.size()))});
}

/// At every end of a line that Unicode knows of.
Value splitLines(Interpreter &interpreter, Bound &a) {
  List out;
  std::string line;
  const std::string text = a[0].str();
  bool keepsEnds = interpreter.truth(a[1]);
  auto endAt = [&](size_t i) -> size_t {
    std::string_view rest = std::string_view(text).substr(i);
    for (std::string_view end : {"\r\n", "\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\xc2\x85",
                                 "\xe2\x80\xa8", "\xe2\x80\xa9"})
      if (rest.starts_with(end))
        return end.size();
    return 0;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    size_t length = endAt(i);
    if (length == 0) {
      line += text[i];
      continue;
    }
    if (keepsEnds)
      line += text.substr(i, length);
    i += length - 1;
    out.emplace_back(std::exchange(line, {}));
  }
  if (!line.empty())
    out.emplace_back(line);
  return Value::list(std::move(out));
}

void checkFill(Interpreter &interpreter, const std::string &fill) {
  if (codePointCount(fill) != 1)
    interpreter.raise("TypeError", "The fill character must be exactly one character long");
}

Value justify(Interpreter &interpreter, Bound &a, char align) {
  std::string fill = a[2].isNone() ? " " : interpreter.toStr(a[2], "the fill character");
  checkFill(interpreter, fill);
  return Value(interpreter.format(
      a[0],
      fill + align + std::to_string(std::max<int64_t>(0, interpreter.toInt64(a[1], "width")))));
}

/// The odd character goes left when the width is odd, as in CPython.
Value center(Interpreter &interpreter, Bound &a) {
  std::string fill = a[2].isNone() ? " " : interpreter.toStr(a[2], "the fill character"),
              text = a[0].str();
  int64_t width = interpreter.toInt64(a[1], "width");
  checkFill(interpreter, fill);
  int64_t missing = std::max<int64_t>(0, width - static_cast<int64_t>(codePointCount(text)));
  int64_t left = missing / 2 + (missing & width & 1);
  checkLength(interpreter, static_cast<size_t>(missing));
  std::string before, after;
  for (int64_t i = 0; i < missing; ++i)
    (i < left ? before : after) += fill;
  return Value(before + text + after);
}

Value zeroFill(Interpreter &interpreter, Bound &a) {
  std::string text = a[0].str();
  auto missing = interpreter.toInt64(a[1], "width") - static_cast<int64_t>(codePointCount(text));
  bool isSigned = !text.empty() && (text[0] == '-' || text[0] == '+');
  if (missing > 0)
    checkLength(interpreter, static_cast<size_t>(missing));
  if (missing > 0)
    text.insert(isSigned ? 1 : 0, static_cast<size_t>(missing), '0');
  return Value(text);
}

/// Every character satisfies `test`, and there is one.
/// Whether all letters are of one of the kinds, and there is one.
Value every(const std::string &text, uint16_t kinds) {
  for (size_t i = 0; i < text.size(); i += codePointLength(text, i))
    if (!(letterKind(decodeCodePoint(std::string_view(text).substr(i))) & kinds))
      return Value(false);
  return Value(!text.empty());
}

/// Whether all letters that have a case have this one, and there is one.
Value everyCase(const std::string &text, uint16_t wanted) {
  bool any = false;
  for (size_t i = 0; i < text.size(); i += codePointLength(text, i)) {
    uint16_t kind = letterKind(decodeCodePoint(std::string_view(text).substr(i)));
    if (kind & Cased & ~wanted)
      return Value(false);
    any |= (kind & wanted) != 0;
  }
  return Value(any);
}

Value isIdentifier(const std::string &text) {
  for (size_t i = 0; i < text.size();) {
    size_t length = 0;
    char32_t point = syntax::decodeUtf8(std::string_view(text).substr(i), length, true);
    if (!(i ? syntax::isIdentifierContinue(point) : syntax::isIdentifierStart(point)))
      return Value(false);
    i += length;
  }
  return Value(!text.empty());
}

} // namespace

Value stringPercent(Interpreter &interpreter, const std::string &format, const Value &args) {
  return textOf([&] { return PercentFormatter(interpreter, format, args).run(); });
}

void addStringMethods(Interpreter &interpreter) {
  Namespace &m = interpreter.builtinClass("str")->attributes;
  auto add = [&](const char *name, const char *signature, NativeFunction::Body body) {
    m.set(name, native(std::string("str.") + name, signature, std::move(body)));
  };
  add("strip", "self, chars=None",
      [](Interpreter &i, Bound &a) { return strip(i, a, true, true); });
  add("lstrip", "self, chars=None",
      [](Interpreter &i, Bound &a) { return strip(i, a, true, false); });
  add("rstrip", "self, chars=None",
      [](Interpreter &i, Bound &a) { return strip(i, a, false, true); });
  add("split", "self, sep=None, maxsplit=-1", split);
  add("rsplit", "self, sep=None, maxsplit=-1", splitRight);
  add("splitlines", "self, keepends=False", splitLines);
  add("join", "self, iterable", join);
  add("replace", "self, old, new, count=-1", replace);
  add("startswith", "self, prefix, start=None, end=None",
      [](Interpreter &i, Bound &a) { return affixed(i, a, true); });
  add("endswith", "self, suffix, start=None, end=None",
      [](Interpreter &i, Bound &a) { return affixed(i, a, false); });
  add("find", "self, sub, start=None, end=None",
      [](Interpreter &i, Bound &a) { return find(i, a, false, false); });
  add("rfind", "self, sub, start=None, end=None",
      [](Interpreter &i, Bound &a) { return find(i, a, true, false); });
  add("index", "self, sub, start=None, end=None",
      [](Interpreter &i, Bound &a) { return find(i, a, false, true); });
  add("rindex", "self, sub, start=None, end=None",
      [](Interpreter &i, Bound &a) { return find(i, a, true, true); });
  add("partition", "self, sep", [](Interpreter &i, Bound &a) { return partition(i, a, false); });
  add("rpartition", "self, sep", [](Interpreter &i, Bound &a) { return partition(i, a, true); });
  add("count", "self, sub, start=None, end=None", countParts);
  add("upper", "self", [](Interpreter &, Bound &a) { return Value(upperCase(a[0].str())); });
  add("lower", "self", [](Interpreter &, Bound &a) { return Value(lowerCase(a[0].str())); });
  add("casefold", "self",
      [](Interpreter &, Bound &a) { return Value(inCase(a[0].str(), Case::Fold)); });
  add("capitalize", "self",
      [](Interpreter &, Bound &a) { return Value(titleCase(a[0].str(), false)); });
  add("title", "self", [](Interpreter &, Bound &a) { return Value(titleCase(a[0].str(), true)); });
  add("ljust", "self, width, fillchar=None",
      [](Interpreter &i, Bound &a) { return justify(i, a, '<'); });
  add("rjust", "self, width, fillchar=None",
      [](Interpreter &i, Bound &a) { return justify(i, a, '>'); });
  add("center", "self, width, fillchar=None", center);
  add("zfill", "self, width", zeroFill);
  add("removeprefix", "self, prefix", [](Interpreter &i, Bound &a) {
    const std::string &p = i.toStr(a[1], "the prefix");
    return a[0].str().starts_with(p) ? Value(a[0].str().substr(p.size())) : a[0];
  });
  add("removesuffix", "self, suffix", [](Interpreter &i, Bound &a) {
    const std::string &p = i.toStr(a[1], "the suffix"), &text = a[0].str();
    return !p.empty() && text.ends_with(p) ? Value(text.substr(0, text.size() - p.size())) : a[0];
  });
  static const std::pair<const char *, uint16_t> kinds[] = {
      {"isdecimal", Decimal},
      {"isdigit", Digit | Decimal},
      {"isnumeric", Numeric | Digit | Decimal},
      {"isalpha", Alpha},
      {"isalnum", Alnum},
      {"isspace", Space}};
  for (auto [name, kind] : kinds)
    add(name, "self", [kind = kind](Interpreter &, Bound &a) { return every(a[0].str(), kind); });
  add("isidentifier", "self", [](Interpreter &, Bound &a) { return isIdentifier(a[0].str()); });
  add("isupper", "self", [](Interpreter &, Bound &a) { return everyCase(a[0].str(), Upper); });
  add("islower", "self", [](Interpreter &, Bound &a) { return everyCase(a[0].str(), Lower); });
  m.set("format", nativeRaw("str.format", [](Interpreter &i, CallArgs args) {
          Value self = args.positional.at(0);
          args.positional.erase(args.positional.begin());
          return textOf([&] { return BraceFormatter(i, args).run(self.str()); });
        }));
  add("format_map", "self, mapping", [](Interpreter &i, Bound &a) {
    auto entries = mappingOf(i, a[1]);
    if (!entries)
      i.raise("TypeError", "format_map() takes a mapping, got " + typeName(a[1]));
    CallArgs args;
    for (const auto &[key, value] : entries->items())
      if (key.isStr())
        args.keywords.emplace_back(key.str(), value);
    return textOf([&] { return BraceFormatter(i, args).run(a[0].str()); });
  });
}

} // namespace pellucid::host
