// SPDX-License-Identifier: Apache-2.0
/// The text of JSON to values, with Python's messages. What the module offers is in json.py.
#include "host/InterpreterState.h"
#include "host/Text.h"

#include <cstdlib>

namespace pellucid::host {

namespace {

constexpr unsigned mostJsonNesting = 900;

/// What the text is no JSON for, and where: JSONDecodeError.
struct JsonError {
  std::string message;
  size_t at;
};

class JsonReader {
public:
  JsonReader(Interpreter &i, const std::string &t, const Dict &h, bool s)
      : interpreter(i), text(t), hooks(h), strict(s) {}

  std::pair<Value, size_t> read(size_t begin) {
    at = begin;
    Value value = element(0);
    return {value, at};
  }

private:
  Interpreter &interpreter;
  const std::string &text;
  const Dict &hooks;
  const bool strict;
  size_t at = 0;

  const Value *hook(std::string_view name) const {
    const Value *found = hooks.find(name);
    return found && !found->isNone() ? found : nullptr;
  }
  void skip() {
    while (at < text.size() && std::string_view(" \t\n\r").find(text[at]) != std::string_view::npos)
      ++at;
  }
  char here() const { return at < text.size() ? text[at] : '\0'; }

  Value element(unsigned depth) {
    interpreter.state().budget.step();
    if (depth > mostJsonNesting)
      interpreter.raise("RecursionError",
                        "maximum recursion depth exceeded while decoding a JSON document");
    switch (here()) {
    case '"':
      ++at;
      return Value(quoted());
    case '{':
      ++at;
      return object(depth);
    case '[':
      ++at;
      return array(depth);
    default:
      return word();
    }
  }

  Value object(unsigned depth) {
    Tuple pairs;
    Dict out;
    const Value *pairsHook = hook("object_pairs_hook");
    skip();
    if (here() == '}') {
      ++at;
    } else {
      for (;;) {
        if (here() != '"')
          throw JsonError{"Expecting property name enclosed in double quotes", at};
        ++at;
        Value key(quoted());
        skip();
        if (here() != ':')
          throw JsonError{"Expecting ':' delimiter", at};
        ++at;
        skip();
        Value value = element(depth + 1);
        if (pairsHook)
          pairs.push_back(Value::tuple({key, value}));
        else
          out.set(key, std::move(value));
        skip();
        if (here() == '}') {
          ++at;
          break;
        }
        if (here() != ',')
          throw JsonError{"Expecting ',' delimiter", at};
        size_t comma = at++;
        skip();
        if (here() == '}')
          throw JsonError{"Expecting property name enclosed in double quotes", comma + 1};
      }
    }
    if (pairsHook)
      return interpreter.call(*pairsHook, {Value::list(List(pairs.begin(), pairs.end()))});
    Value made = Value::dict(std::move(out));
    const Value *objectHook = hook("object_hook");
    return objectHook ? interpreter.call(*objectHook, {made}) : made;
  }

  Value array(unsigned depth) {
    List out;
    skip();
    if (here() == ']') {
      ++at;
      return Value::list(std::move(out));
    }
    for (;;) {
      out.push_back(element(depth + 1));
      skip();
      if (here() == ']') {
        ++at;
        return Value::list(std::move(out));
      }
      if (here() != ',')
        throw JsonError{"Expecting ',' delimiter", at};
      ++at;
      skip();
    }
  }

  uint32_t escape(size_t backslash) {
    uint32_t code = 0;
    for (size_t i = 0; i < 4; ++i, ++at) {
      char c = here();
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      if (digit < 0)
        throw JsonError{"Invalid \\uXXXX escape", backslash + 1};
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return code;
  }

  std::string quoted() {
    size_t begin = at - 1;
    std::string out;
    for (;;) {
      if (at >= text.size())
        throw JsonError{"Unterminated string starting at", begin};
      char c = text[at];
      if (c == '"') {
        ++at;
        return out;
      }
      if (static_cast<unsigned char>(c) < 32 && strict)
        throw JsonError{"Invalid control character at", at};
      if (c != '\\') {
        out += c;
        ++at;
        continue;
      }
      size_t backslash = at++;
      static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
      if (at >= text.size())
        throw JsonError{"Unterminated string starting at", begin};
      if (size_t known = names.find(text[at]); known != names.npos) {
        out += values[known];
        ++at;
        continue;
      }
      if (text[at] != 'u')
        throw JsonError{"Invalid \\escape", backslash};
      ++at;
      uint32_t code = escape(backslash);
      if (code >= 0xd800 && code < 0xdc00 && text.compare(at, 2, "\\u") == 0) {
        size_t before = at;
        at += 2;
        uint32_t low = escape(before);
        if (low >= 0xdc00 && low < 0xe000)
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
          at = before;
      }
      out += encodeCodePoint(code);
    }
  }

  bool take(std::string_view word) {
    if (text.compare(at, word.size(), word) != 0)
      return false;
    at += word.size();
    return true;
  }

  Value word() {
    if (take("true"))
      return Value(true);
    if (take("false"))
      return Value(false);
    if (take("null"))
      return Value();
    for (std::string_view constant : {"NaN", "Infinity", "-Infinity"})
      if (take(constant)) {
        if (const Value *own = hook("parse_constant"))
          return interpreter.call(*own, {Value(constant)});
        return Value(std::strtod(std::string(constant).c_str(), nullptr));
      }
    return number();
  }

  Value number() {
    size_t begin = at, i = at;
    auto digits = [&] {
      size_t first = i;
      while (i < text.size() && text[i] >= '0' && text[i] <= '9')
        ++i;
      return i > first;
    };
    if (i < text.size() && text[i] == '-')
      ++i;
    if (i < text.size() && text[i] == '0')
      ++i;
    else if (!digits())
      throw JsonError{"Expecting value", begin};
    bool isFloat = false;
    size_t whole = i;
    if (i < text.size() && text[i] == '.') {
      ++i;
      if (digits())
        isFloat = true, whole = i;
      else
        i = whole;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
      ++i;
      if (i < text.size() && (text[i] == '+' || text[i] == '-'))
        ++i;
      if (digits())
        isFloat = true, whole = i;
    }
    at = whole;
    Value written(text.substr(begin, whole - begin));
    if (const Value *own = hook(isFloat ? "parse_float" : "parse_int"))
      return interpreter.call(*own, {written});
    return interpreter.call(Value(interpreter.builtinClass(isFloat ? "float" : "int")), {written});
  }
};

/// How many characters lie before that byte.
int64_t characters(const std::string &text, size_t at) {
  return static_cast<int64_t>(codePointCount(text.substr(0, at)));
}

} // namespace

void addJson(NativeModules &modules) {
  modules.add("_json", [](Interpreter &, Module &m) {
    // (value, where it ends, None), or (None, where it is wrong, message). Places count characters.
    m.globals->set("scan",
                   native("json.scan", "text, begin, hooks, strict",
                          [](Interpreter &i, std::vector<Value> &a) {
                            const std::string &text = i.toStr(a[0], "the JSON document");
                            int64_t begin = i.toInt64(a[1], "idx");
                            size_t first = 0;
                            for (int64_t n = 0; n < begin && first < text.size(); ++n) {
                              ++first;
                              while (first < text.size() &&
                                     (static_cast<unsigned char>(text[first]) & 0xc0) == 0x80)
                                ++first;
                            }
                            const Dict hooks = a[2].dictionary();
                            try {
                              auto [value, end] =
                                  JsonReader(i, text, hooks, i.truth(a[3])).read(first);
                              return Value::tuple({value, Value(characters(text, end)), Value()});
                            } catch (const JsonError &error) {
                              return Value::tuple({Value(), Value(characters(text, error.at)),
                                                   Value(error.message)});
                            }
                          }));
  });
}

} // namespace pellucid::host
