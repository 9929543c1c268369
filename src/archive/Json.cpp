// SPDX-License-Identifier: Apache-2.0
#include "archive/Json.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

namespace pellucid::archive {

using package::Status;
using Kind = JsonValue::Kind;

//===-- Reading -------------------------------------------------------------------------------===//

class JsonReader {
public:
  JsonReader(JsonDocument &d, std::string_view t) : document(d), text(t) {}

  Status read() {
    // Indices and counts are 32 bits wide.
    if (text.size() >= std::numeric_limits<uint32_t>::max())
      return Status::error("the text has " + std::to_string(text.size()) +
                           " bytes; at most 4 GiB are read");
    Stored root;
    if (value(root, 0)) {
      space();
      if (at != text.size())
        fail("the end");
    }
    if (!problem.empty()) {
      document.values.clear();
      document.decoded.clear();
      return Status::error(problem);
    }
    document.rootIndex = static_cast<uint32_t>(document.values.size());
    document.values.push_back(root);
    return {};
  }

private:
  using Stored = JsonDocument::Stored;

  bool fail(const std::string &expected) {
    if (problem.empty())
      problem =
          "byte " + std::to_string(at) + ": expects " + expected +
          (at < text.size() ? ", got '" + std::string(1, text[at]) + "'" : ", and the text ends");
    return false;
  }

  void space() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
      ++at;
  }
  bool accept(char c) {
    space();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool word(std::string_view w) {
    if (!text.substr(at).starts_with(w))
      return false;
    at += w.size();
    return true;
  }

  bool value(Stored &out, unsigned depth) {
    if (depth > JsonDocument::maxDepth) {
      problem = "byte " + std::to_string(at) + ": values are nested more than " +
                std::to_string(JsonDocument::maxDepth) + " deep";
      return false;
    }
    space();
    if (at >= text.size())
      return fail("a value");
    switch (text[at]) {
    case '{':
      return container(out, depth, Kind::Object, '}');
    case '[':
      return container(out, depth, Kind::Array, ']');
    case '"':
      return string(out);
    default:
      return wordOrNumber(out);
    }
  }

  bool wordOrNumber(Stored &out) {
    if (word("null"))
      return true;
    if (bool isTrue = word("true"); isTrue || word("false")) {
      out.kind = Kind::Bool;
      out.flag = isTrue;
      return true;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (auto [name, value] : {std::pair<std::string_view, double>{"NaN", std::nan("")},
                               {"Infinity", infinity},
                               {"-Infinity", -infinity}})
      if (word(name)) {
        out.kind = Kind::Float;
        out.real = value;
        return true;
      }
    return number(out);
  }

  bool number(Stored &out) {
    size_t end = at;
    bool isFloat = false;
    while (end < text.size() &&
           (text[end] == '-' || text[end] == '+' || text[end] == '.' || text[end] == 'e' ||
            text[end] == 'E' || (text[end] >= '0' && text[end] <= '9'))) {
      isFloat |= text[end] == '.' || text[end] == 'e' || text[end] == 'E';
      ++end;
    }
    const char *begin = text.data() + at, *stop = text.data() + end;
    std::from_chars_result read{};
    if (isFloat) {
      out.kind = Kind::Float;
      read = std::from_chars(begin, stop, out.real);
    } else {
      out.kind = Kind::Integer;
      read = std::from_chars(begin, stop, out.integer);
      if (read.ec == std::errc::result_out_of_range) {
        out.kind = Kind::Float;
        read = std::from_chars(begin, stop, out.real);
      }
    }
    if (begin == stop || read.ec != std::errc() || read.ptr != stop)
      return fail("a value");
    at = end;
    return true;
  }

  bool container(Stored &out, unsigned depth, Kind kind, char close) {
    ++at;
    size_t base = pending.size();
    if (!accept(close))
      do {
        Stored element;
        if (kind == Kind::Object) {
          space();
          if (at >= text.size() || text[at] != '"')
            return fail("a key in quotes");
          if (!string(element))
            return false;
          pending.push_back(element);
          element = {};
          if (!accept(':'))
            return fail("':'");
        }
        if (!value(element, depth + 1))
          return false;
        pending.push_back(element);
        if (accept(close))
          break;
        if (!accept(','))
          return fail(std::string("',' or '") + close + "'");
      } while (true);
    out.kind = kind;
    out.count = static_cast<uint32_t>(pending.size() - base);
    out.first = document.values.size();
    document.values.insert(document.values.end(),
                           pending.begin() + static_cast<std::ptrdiff_t>(base), pending.end());
    pending.resize(base);
    return true;
  }

  bool string(Stored &out) {
    size_t start = ++at;
    while (at < text.size() && text[at] != '"' && text[at] != '\\')
      ++at;
    out.kind = Kind::String;
    if (at < text.size() && text[at] == '"') {
      out.text = text.data() + start;
      out.count = static_cast<uint32_t>(at++ - start);
      return true;
    }
    std::string &copy = document.decoded.emplace_back(text.substr(start, at - start));
    while (at < text.size() && text[at] != '"') {
      if (text[at] != '\\')
        copy += text[at++];
      else if (!escape(copy))
        return false;
    }
    if (at >= text.size())
      return fail("the end of a string");
    ++at;
    out.text = copy.data();
    out.count = static_cast<uint32_t>(copy.size());
    return true;
  }

  bool hex4(uint32_t &code) {
    code = 0;
    for (int i = 0; i < 4; ++i, ++at) {
      char c = at < text.size() ? text[at] : ' ';
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      if (digit < 0)
        return fail("four hexadecimal digits");
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return true;
  }

  bool escape(std::string &out) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    ++at;
    if (at >= text.size())
      return fail("an escape");
    if (size_t known = letters.find(text[at]); known != std::string_view::npos) {
      out += meanings[known];
      ++at;
      return true;
    }
    if (text[at] != 'u')
      return fail("an escape");
    ++at;
    uint32_t code = 0, low = 0;
    if (!hex4(code))
      return false;
    if (code >= 0xd800 && code < 0xdc00 && word("\\u")) {
      if (!hex4(low))
        return false;
      code = 0x10000 + ((code - 0xd800) << 10) + ((low - 0xdc00) & 0x3ff);
    }
    appendUtf8(out, code);
    return true;
  }

  static void appendUtf8(std::string &out, uint32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
      return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static constexpr uint32_t heads[] = {0, 0xc0, 0xe0, 0xf0};
    out += static_cast<char>(heads[more] | code >> (6 * more));
    while (more-- > 0)
      out += static_cast<char>(0x80 | (code >> (6 * more) & 0x3f));
  }

  JsonDocument &document;
  std::string_view text;
  size_t at = 0;
  std::vector<Stored> pending; ///< elements of the containers that are open
  std::string problem;
};

Status JsonDocument::read(std::string_view text) {
  values.clear();
  decoded.clear();
  return JsonReader(*this, text).read();
}

//===-- Values --------------------------------------------------------------------------------===//

Kind JsonValue::kind() const { return document ? document->values[index].kind : Kind::Null; }

bool JsonValue::boolean() const { return isBool() && document->values[index].flag; }

int64_t JsonValue::integer() const { return isInteger() ? document->values[index].integer : 0; }

double JsonValue::number() const {
  return isInteger()             ? static_cast<double>(integer())
         : kind() == Kind::Float ? document->values[index].real
                                 : 0;
}

std::string_view JsonValue::string() const {
  if (!isString())
    return {};
  const JsonDocument::Stored &stored = document->values[index];
  return {stored.text, stored.count};
}

size_t JsonValue::size() const {
  return isArray()    ? document->values[index].count
         : isObject() ? document->values[index].count / 2
                      : 0;
}

JsonValue JsonValue::at(size_t i) const {
  if (i >= size())
    return {};
  uint64_t first = document->values[index].first;
  return {document, static_cast<uint32_t>(first + (isObject() ? 2 * i + 1 : i))};
}

std::string_view JsonValue::key(size_t i) const {
  if (!isObject() || i >= size())
    return {};
  return JsonValue(document, static_cast<uint32_t>(document->values[index].first + 2 * i)).string();
}

JsonValue JsonValue::member(std::string_view wanted) const {
  for (size_t i = 0; isObject() && i < size(); ++i)
    if (key(i) == wanted)
      return at(i);
  return {};
}

} // namespace pellucid::archive
