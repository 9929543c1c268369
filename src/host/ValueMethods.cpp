// SPDX-License-Identifier: Apache-2.0
// Methods of numbers, ranges, slices and texts that few programs call.
#include "host/ValueMethods.h"

#include "host/InterpreterState.h"
#include "host/Letters.h"
#include "host/Objects.h"
#include "host/Text.h"
#include "support/PlainNumbers.h"
#include "syntax/Unicode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

Int wholeOf(Interpreter &interpreter, const Value &value) {
  Value number = unwrapConstexpr(value);
  return number.isBool()  ? Int(number.boolean())
         : number.isInt() ? number.integer()
                          : Int(interpreter.toInt64(number, "the number"));
}

unsigned __int128 magnitude(Int n) {
  return n < 0 ? -static_cast<unsigned __int128>(n) : static_cast<unsigned __int128>(n);
}

Value bitCount(Interpreter &interpreter, Bound &a) {
  auto bits = magnitude(wholeOf(interpreter, a[0]));
  return Value(static_cast<int64_t>(std::popcount(static_cast<uint64_t>(bits)) +
                                    std::popcount(static_cast<uint64_t>(bits >> 64))));
}

/// Where `value` stands in a range; -1 where it does not.
int64_t placeIn(const Range &range, const Value &value) {
  if (!value.isInt())
    return -1;
  constexpr Int far = Int(1) << 100;
  Int distance = std::clamp<Int>(value.integer(), -far, far) - range.start;
  Int place = distance / range.step;
  bool inside = distance % range.step == 0 && place >= 0 && place < range.length();
  return inside ? static_cast<int64_t>(place) : -1;
}

Value indexInRange(Interpreter &interpreter, Bound &a) {
  int64_t place = placeIn(a[0].range(), a[1]);
  if (place < 0)
    interpreter.raise("ValueError", interpreter.repr(a[1]) + " is not in range");
  return Value(place);
}

Value indicesOf(Interpreter &interpreter, Bound &a) {
  int64_t length = interpreter.toInt64(a[1], "the length");
  if (length < 0)
    interpreter.raise("ValueError", "length should not be negative");
  Range range = sliceIndices(interpreter, a[0].slice(), length);
  return Value::tuple({Value(range.start), Value(range.stop), Value(range.step)});
}

Value textTable(Interpreter &interpreter, Bound &a) {
  Dict table;
  if (a[1].isNone()) {
    if (!a[0].isDict())
      interpreter.raise("TypeError",
                        "if you give only one argument to maketrans it must be a dict");
    for (const auto &[key, value] : a[0].dictionary().items())
      if (key.isStr() && codePointCount(key.str()) != 1)
        interpreter.raise("ValueError", "string keys in translate table must be of length 1");
    for (const auto &[key, value] : a[0].dictionary().items())
      table.set(key.isStr() ? Value(static_cast<int64_t>(decodeCodePoint(key.str()))) : key, value);
    return Value::dict(std::move(table));
  }
  std::vector<Value> from = interpreter.iterate(a[0]), to = interpreter.iterate(a[1]);
  if (from.size() != to.size())
    interpreter.raise("ValueError", "the first two maketrans arguments must have equal length");
  auto key = [](const Value &letter) {
    return Value(static_cast<int64_t>(decodeCodePoint(letter.str())));
  };
  for (size_t i = 0; i < from.size(); ++i)
    table.set(key(from[i]), key(to[i]));
  if (!a[2].isNone())
    for (const Value &letter : interpreter.iterate(a[2]))
      table.set(key(letter), Value());
  return Value::dict(std::move(table));
}

Value translated(Interpreter &interpreter, Bound &a) {
  if (!a[1].isDict())
    interpreter.raise("TypeError", "translate() needs a dict, got " + typeName(a[1]));
  std::string out;
  for (const Value &letter : interpreter.iterate(a[0])) {
    const Value *entry =
        a[1].dictionary().find(Value(static_cast<int64_t>(decodeCodePoint(letter.str()))));
    if (!entry)
      out += letter.str();
    else if (entry->isStr())
      out += entry->str();
    else if (!entry->isNone())
      out += encodeCodePoint(static_cast<uint32_t>(interpreter.toInt64(*entry, "a character")));
  }
  return textOf([&] { return out; });
}

bool isAsciiText(const std::string &text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

/// To the next column that is a multiple of the size.
Value expandedTabs(Interpreter &interpreter, Bound &a) {
  int64_t size = interpreter.toInt64(a[1], "the tab's size"), column = 0;
  std::string out;
  for (const Value &letter : interpreter.iterate(a[0])) {
    const std::string &c = letter.str();
    int64_t spaces = size > 0 ? size - column % size : 0;
    Budget::check(c == "\t" ? static_cast<size_t>(spaces) : 0);
    out += c == "\t" ? std::string(static_cast<size_t>(spaces), ' ') : c;
    column = c == "\n" || c == "\r" ? 0 : c == "\t" ? column + spaces : column + 1;
  }
  return textOf([&] { return out; });
}

bool isPrintable(const std::string &text) {
  for (size_t i = 0; i < text.size();) {
    size_t length = 0;
    if (!syntax::isPrintable(syntax::decodeUtf8(std::string_view(text).substr(i), length, true)))
      return false;
    i += length;
  }
  return true;
}

Value swappedCase(Interpreter &interpreter, Bound &a) {
  std::string out;
  for (const Value &letter : interpreter.iterate(a[0])) {
    uint32_t point = decodeCodePoint(letter.str());
    uint16_t kind = letterKind(point);
    out += kind & Upper   ? inCase(point, Case::Lower)
           : kind & Lower ? inCase(point, Case::Upper)
                          : letter.str();
  }
  return textOf([&] { return out; });
}

/// Words begin with capitals, all other letters are small ones.
bool isTitle(Interpreter &interpreter, const Value &text) {
  bool follows = false, any = false;
  for (const Value &letter : interpreter.iterate(text)) {
    uint16_t kind = letterKind(decodeCodePoint(letter.str()));
    if (((kind & (Upper | Title)) && follows) || ((kind & Lower) && !follows))
      return false;
    follows = (kind & Cased) != 0;
    any |= follows;
  }
  return any;
}

/// Attributes that are no methods.
void addProperties(Interpreter &interpreter) {
  auto add = [&](const char *type, const char *name, NativeFunction::Body body) {
    interpreter.builtinClass(type)->attributes.set(
        name, Value(std::make_shared<Descriptor>(
                  Descriptor::Form::Property,
                  native(std::string(type) + "." + name, "self", std::move(body)))));
  };
  auto whole = [](Interpreter &i, Bound &a) {
    return a[0].isBool() ? Value(wholeOf(i, a[0])) : a[0];
  };
  for (const char *name : {"real", "numerator"})
    add("int", name, whole);
  add("int", "imag", [](Interpreter &, Bound &) { return Value(int64_t(0)); });
  add("int", "denominator", [](Interpreter &, Bound &) { return Value(int64_t(1)); });
  add("float", "real", [](Interpreter &, Bound &a) { return a[0]; });
  add("float", "imag", [](Interpreter &, Bound &) { return Value(0.0); });
  add("range", "start", [](Interpreter &, Bound &a) { return Value(a[0].range().start); });
  add("range", "stop", [](Interpreter &, Bound &a) { return Value(a[0].range().stop); });
  add("range", "step", [](Interpreter &, Bound &a) { return Value(a[0].range().step); });
  add("slice", "start", [](Interpreter &, Bound &a) { return a[0].slice().lower; });
  add("slice", "stop", [](Interpreter &, Bound &a) { return a[0].slice().upper; });
  add("slice", "step", [](Interpreter &, Bound &a) { return a[0].slice().step; });
}

/// The fraction that a float is, exactly.
Value ratioOf(Interpreter &interpreter, Bound &a) {
  double x = a[0].real();
  if (std::isnan(x) || std::isinf(x))
    interpreter.raise(std::isnan(x) ? "ValueError" : "OverflowError",
                      std::string("cannot convert ") + (std::isnan(x) ? "NaN" : "Infinity") +
                          " to integer ratio");
  int exponent = 0;
  double part = std::frexp(x, &exponent);
  for (int i = 0; i < 60 && part != std::floor(part); ++i) {
    part *= 2;
    --exponent;
  }
  if (exponent > 60 || exponent < -120)
    interpreter.raise("OverflowError", "a ratio of integers beyond 127 bits");
  Int top = static_cast<Int>(part), bottom = 1;
  if (exponent > 0)
    top <<= exponent;
  else
    bottom <<= -exponent;
  return Value::tuple({Value(top), Value(bottom)});
}

Value hexOfFloat(Interpreter &, Bound &a) {
  double x = a[0].real();
  if (std::isnan(x) || std::isinf(x))
    return Value(std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
  auto bits = std::bit_cast<uint64_t>(std::fabs(x));
  int exponent = static_cast<int>(bits >> 52);
  char text[40];
  if (x == 0)
    std::snprintf(text, sizeof text, "%s0x0.0p+0", std::signbit(x) ? "-" : "");
  else
    std::snprintf(text, sizeof text, "%s0x%d.%013llxp%+d", x < 0 ? "-" : "", exponent != 0,
                  static_cast<unsigned long long>(bits & 0xfffffffffffffull),
                  exponent ? exponent - 1023 : -1022);
  return Value(text);
}

} // namespace

void addValueMethods(Interpreter &interpreter) {
  addProperties(interpreter);
  auto add = [&](const char *type, const char *name, const char *signature,
                 NativeFunction::Body body) {
    interpreter.builtinClass(type)->attributes.set(
        name, native(std::string(type) + "." + name, signature, std::move(body)));
  };
  auto itself = [](Interpreter &, Bound &a) { return a[0]; };
  add("int", "bit_count", "self", bitCount);
  add("int", "conjugate", "self", itself);
  add("int", "is_integer", "self", [](Interpreter &, Bound &) { return Value(true); });
  add("int", "as_integer_ratio", "self", [](Interpreter &i, Bound &a) {
    return Value::tuple({Value(wholeOf(i, a[0])), Value(int64_t(1))});
  });
  add("float", "conjugate", "self", itself);
  add("float", "as_integer_ratio", "self", ratioOf);
  add("float", "hex", "self", hexOfFloat);
  interpreter.builtinClass("float")->attributes.set(
      "fromhex",
      Value(std::make_shared<Descriptor>(
          Descriptor::Form::Static, native("float.fromhex", "string", [](Interpreter &i, Bound &a) {
            const std::string &text = i.toStr(a[0], "fromhex()'s argument");
            char *end = nullptr;
            std::string hex = text;
            bool hasMark = text.find_first_of("xX") != std::string::npos;
            if (!hasMark && text.find_first_of("nN") == std::string::npos)
              hex.insert(hex.find_first_not_of("+-") == 1 ? 1 : 0, "0x");
            PlainNumbers numbers;
            double x = std::strtod(hex.c_str(), &end);
            if (hex.empty() || *end)
              i.raise("ValueError", "invalid hexadecimal floating-point string");
            return Value(x);
          }))));
  for (const char *type : {"int", "float"}) {
    auto rounding = [&](const char *name, const char *function) {
      add(type, name, "self", [function](Interpreter &i, Bound &a) {
        return i.call(i.getAttr(Value(i.nativeModule("math")), function), {a[0]});
      });
    };
    rounding("__floor__", "floor");
    rounding("__ceil__", "ceil");
    rounding("__trunc__", "trunc");
    add(type, "__round__", "self, ndigits=None",
        [](Interpreter &i, Bound &a) { return i.call(*i.builtin("round"), {a[0], a[1]}); });
    add(type, "__divmod__", "self, other",
        [](Interpreter &i, Bound &a) { return i.call(*i.builtin("divmod"), {a[0], a[1]}); });
  }
  add("range", "index", "self, value", indexInRange);
  add("range", "count", "self, value",
      [](Interpreter &, Bound &a) { return Value(int64_t(placeIn(a[0].range(), a[1]) >= 0)); });
  add("slice", "indices", "self, length", indicesOf);
  add("str", "maketrans", "x, y=None, z=None", textTable);
  add("str", "isascii", "self",
      [](Interpreter &, Bound &a) { return Value(isAsciiText(a[0].str())); });
  add("str", "isprintable", "self",
      [](Interpreter &, Bound &a) { return Value(isPrintable(a[0].str())); });
  add("str", "istitle", "self", [](Interpreter &i, Bound &a) { return Value(isTitle(i, a[0])); });
  add("str", "swapcase", "self", swappedCase);
  add("str", "expandtabs", "self, tabsize=8", expandedTabs);
  add("str", "translate", "self, table", translated);
}

} // namespace pellucid::host
