// SPDX-License-Identifier: Apache-2.0
#include "host/FloatText.h"

#include "host/Text.h"
#include "support/PlainNumbers.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace pellucid::host {

std::string floatRepr(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  size_t e = text.find('e');
  int exponent = std::stoi(text.substr(e + 1));
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = text.substr(0, e);
    char tail[8];
    std::snprintf(tail, sizeof tail, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    return mantissa + tail;
  }
  end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  text.assign(buffer, end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

namespace {

struct FormatSpec {
  std::string fill = " ";
  char align = 0, sign = '-', group = 0, type = 0;
  bool alternate = false, zeroPad = false;
  int width = 0, precision = -1;
};

bool isAlign(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

int number(std::string_view spec, size_t &i) {
  int value = 0;
  while (i < spec.size() && std::isdigit(static_cast<unsigned char>(spec[i])))
    value = std::min(value * 10 + (spec[i++] - '0'), 100000);
  return value;
}

FormatSpec parseSpec(std::string_view spec) {
  FormatSpec f;
  size_t i = 0, first = spec.empty() ? 0 : codePointLength(spec, 0);
  if (first < spec.size() && isAlign(spec[first])) {
    f.fill = spec.substr(0, first);
    f.align = spec[first];
    i = first + 1;
  } else if (!spec.empty() && isAlign(spec[0]))
    f.align = spec[i++];
  if (i < spec.size() && (spec[i] == '+' || spec[i] == '-' || spec[i] == ' '))
    f.sign = spec[i++];
  if (i < spec.size() && spec[i] == '#')
    f.alternate = true, ++i;
  if (i < spec.size() && spec[i] == '0') {
    f.zeroPad = true, ++i;
    if (!f.align)
      f.align = '=', f.fill = "0";
  }
  f.width = number(spec, i);
  if (i < spec.size() && (spec[i] == ',' || spec[i] == '_'))
    f.group = spec[i++];
  if (i < spec.size() && spec[i] == '.') {
    size_t before = ++i;
    f.precision = number(spec, i);
    if (i == before)
      throw std::invalid_argument("Format specifier missing precision");
  }
  if (i < spec.size())
    f.type = spec[i++];
  if (i != spec.size())
    throw std::invalid_argument("Invalid format specifier '" + std::string(spec) + "'");
  return f;
}

std::string pad(const FormatSpec &f, const std::string &prefix, const std::string &body,
                char defaultAlign) {
  int length = static_cast<int>(codePointCount(prefix) + codePointCount(body));
  int missing = std::max(0, f.width - length);
  auto fill = [&](int n) {
    std::string out;
    while (n-- > 0)
      out += f.fill;
    return out;
  };
  switch (f.align ? f.align : defaultAlign) {
  case '<':
    return prefix + body + fill(missing);
  case '^':
    return fill(missing / 2) + prefix + body + fill(missing - missing / 2);
  case '=':
    return prefix + fill(missing) + body;
  default:
    return fill(missing) + prefix + body;
  }
}

/// Inserts separators from the right of the integer part; `every` is 3, or 4 for bases other than
/// ten.
std::string group(const std::string &digits, char separator, size_t every) {
  size_t end = digits.find_first_of(".e%");
  std::string whole = digits.substr(0, end),
              rest = end == std::string::npos ? "" : digits.substr(end);
  for (size_t i = whole.size(); i > every;)
    whole.insert(i -= every, 1, separator);
  return whole + rest;
}

/// With separators among the zeros that fill it up, too.
std::string grouped(const FormatSpec &f, size_t prefix, std::string digits, size_t every) {
  std::string out = group(digits, f.group, every);
  bool fills = f.zeroPad && f.align == '=' && f.fill == "0";
  while (fills && prefix + out.size() < static_cast<size_t>(std::max(0, f.width))) {
    digits.insert(0, 1, '0');
    out = group(digits, f.group, every);
  }
  return out;
}

std::string signText(const FormatSpec &f, bool negative) {
  if (negative)
    return "-";
  return f.sign == '-' ? "" : std::string(1, f.sign);
}

std::string unknownCode(char type, const char *of) {
  return std::string("Unknown format code '") + type + "' for object of type '" + of + "'";
}

} // namespace

std::string formatInt(Int value, std::string_view spec) {
  FormatSpec f = parseSpec(spec);
  if (f.type && std::string_view("eEfFgG%").find(f.type) != std::string_view::npos)
    return formatFloat(static_cast<double>(value), spec);
  bool negative = value < 0;
  unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  unsigned base = f.type == 'x' || f.type == 'X' ? 16 : f.type == 'b' ? 2 : f.type == 'o' ? 8 : 10;
  if (f.type == 'c' && (value < 0 || value > 0x10ffff))
    throw std::invalid_argument("%c arg not in range(0x110000)");
  if (f.type == 'c')
    return pad(f, "", encodeCodePoint(static_cast<uint32_t>(value)), '<');
  if (base == 10 && f.type && f.type != 'd' && f.type != 'n')
    throw std::invalid_argument(unknownCode(f.type, "int"));
  const char *alphabet = f.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do
    digits.insert(digits.begin(), alphabet[static_cast<unsigned>(rest % base)]);
  while (rest /= base);
  if (f.precision >= 0)
    throw std::invalid_argument("Precision not allowed in integer format specifier");
  if (f.group == ',' && base != 10)
    throw std::invalid_argument(std::string("Cannot specify ',' with '") + f.type + "'.");
  std::string prefix = signText(f, negative);
  if (f.alternate && base != 10)
    (prefix += '0') += f.type;
  if (f.group)
    digits = grouped(f, prefix.size(), digits, base == 10 ? 3 : 4);
  return pad(f, prefix, digits, '>');
}

std::string formatFloat(double value, std::string_view spec) {
  FormatSpec f = parseSpec(spec);
  bool negative = std::signbit(value) && !std::isnan(value);
  double magnitude = std::abs(value);
  std::string body;
  if (!std::isfinite(value)) {
    body = std::isnan(value) ? "nan" : "inf";
    if (f.type == 'E' || f.type == 'F' || f.type == 'G')
      body = upperCase(body);
  } else if (!f.type && f.precision < 0) {
    body = floatRepr(magnitude);
  } else {
    char type = f.type ? f.type : 'g';
    if (std::string_view("eEfFgGn%").find(type) == std::string_view::npos)
      throw std::invalid_argument(unknownCode(type, "float"));
    if (type == 'n')
      type = 'g';
    int precision = f.precision < 0 ? 6 : f.precision;
    std::string format = std::string(f.alternate ? "%#.*" : "%.*") + (type == '%' ? 'f' : type);
    PlainNumbers numbers;
    std::vector<char> buffer(400 + static_cast<size_t>(precision));
    std::snprintf(buffer.data(), buffer.size(), format.c_str(), precision,
                  type == '%' ? magnitude * 100 : magnitude);
    body = buffer.data();
    if (type == '%')
      body += '%';
    if (!f.type && body.find_first_of(".e") == std::string::npos)
      body += ".0";
  }
  if (f.group && std::isfinite(value))
    body = grouped(f, signText(f, negative).size(), body, 3);
  return pad(f, signText(f, negative), body, '>');
}

std::string formatStr(const std::string &value, std::string_view spec) {
  FormatSpec f = parseSpec(spec);
  if (f.type && f.type != 's')
    throw std::invalid_argument(unknownCode(f.type, "str"));
  if (f.align == '=' && f.zeroPad) // of a text the zeros follow
    f.align = '<';
  if (f.group)
    throw std::invalid_argument(std::string("Cannot specify '") + f.group + "' with 's'.");
  if (f.align == '=')
    throw std::invalid_argument("'=' alignment not allowed in string format specifier");
  std::string text = value;
  if (f.precision >= 0)
    text = joinCodePoints(codePoints(value), 0, static_cast<size_t>(f.precision));
  return pad(f, "", text, '<');
}

} // namespace pellucid::host
