// SPDX-License-Identifier: Apache-2.0
#include "syntax/Literals.h"

#include "syntax/Unicode.h"

#include <charconv>
#include <limits>

namespace pellucid::syntax {
namespace {

// CPython's limit of decimal digits (sys.int_info.default_max_str_digits) and what it is in bits.
constexpr size_t MaxDecimalDigits = 4300;
constexpr size_t MaxBits = 14284;

int digitValue(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string withoutUnderscores(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '_')
      out += c;
  return out;
}

/// Decimal digits of a number written in base 2, 8 or 16.
std::string toDecimal(std::string_view digits, unsigned base) {
  constexpr uint64_t limbBase = 1'000'000'000;
  std::vector<uint32_t> limbs; // least significant first
  for (char c : digits) {
    uint64_t carry = digitValue(c);
    for (uint32_t &limb : limbs) {
      carry += static_cast<uint64_t>(limb) * base;
      limb = static_cast<uint32_t>(carry % limbBase);
      carry /= limbBase;
    }
    if (carry)
      limbs.push_back(static_cast<uint32_t>(carry));
  }
  std::string out;
  for (size_t i = limbs.size(); i-- > 0;) {
    std::string part = std::to_string(limbs[i]);
    if (!out.empty())
      out.append(9 - part.size(), '0');
    out += part;
  }
  return out;
}

std::string decodeInteger(std::string_view digits, unsigned base, Constant &into) {
  size_t significant = digits.find_first_not_of('0');
  digits.remove_prefix(significant == digits.npos ? digits.size() - 1 : significant);
  into.type = Constant::Type::Int;
  auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into.intValue,
                                       static_cast<int>(base));
  if (error == std::errc{})
    return {};
  if (base == 10 && digits.size() > MaxDecimalDigits)
    return "exceeds the limit (4300 digits) for integer string conversion: value has " +
           std::to_string(digits.size()) + " digits";
  size_t bitsPerDigit = base == 16 ? 4 : base == 8 ? 3 : 1;
  if (base != 10 && digits.size() * bitsPerDigit > MaxBits)
    return "integer literal has more than 4300 decimal digits";
  into.type = Constant::Type::BigInt;
  into.intValue = 0;
  into.text = base == 10 ? std::string(digits) : toDecimal(digits, base);
  return {};
}

/// Out of double's range: infinity or zero, by the decimal exponent of the first nonzero digit.
double saturated(std::string_view text) {
  long exponent = 0;
  size_t mark = text.find_first_of("eE");
  if (mark != text.npos) {
    std::string_view digits = text.substr(mark + 1);
    bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+'))
      digits.remove_prefix(1);
    auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc{})
      exponent = std::numeric_limits<int>::max();
    exponent = negative ? -exponent : exponent;
  }
  std::string_view mantissa = text.substr(0, mark);
  size_t first = mantissa.find_first_of("123456789");
  if (first == mantissa.npos)
    return 0;
  auto point = static_cast<long>(std::min(mantissa.find('.'), mantissa.size()));
  return exponent + point - static_cast<long>(first) > 0 ? std::numeric_limits<double>::infinity()
                                                         : 0;
}

double decodeFloat(std::string_view text) {
  double value = 0;
  auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range ? saturated(text) : value;
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

/// Reads one literal's body. The error texts and positions are those of CPython's decoders.
class StringDecoder {
public:
  StringDecoder(std::string_view b, StringForm f, std::string &o) : body(b), form(f), out(o) {}

  std::string run() {
    while (i < body.size() && error.empty()) {
      char c = body[i];
      if (c == '\\' && !form.raw) {
        escape();
      } else if (c == '\r') {
        i += body.substr(i).starts_with("\r\n") ? 2 : 1;
        out += '\n';
      } else {
        i += form.doubledBraces && (c == '{' || c == '}') ? 2 : 1;
        out += c;
      }
    }
    return std::move(error);
  }

private:
  void escape();
  void octal();
  void hexadecimal(size_t digits, const char *shape);
  void put(char32_t value) {
    if (form.bytes)
      out += static_cast<char>(value);
    else
      appendUtf8(out, value);
  }

  std::string_view body;
  StringForm form;
  std::string &out;
  std::string error;
  size_t i = 0;
};

char simpleEscape(char c) {
  switch (c) {
  case 'a':
    return '\a';
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  case 'v':
    return '\v';
  case '\\':
  case '\'':
  case '"':
    return c;
  default:
    return '\0';
  }
}

/// At a backslash; an unknown escape keeps it.
void StringDecoder::escape() {
  char c = i + 1 < body.size() ? body[i + 1] : '\\';
  if (char simple = simpleEscape(c)) {
    out += simple;
    i += 2;
  } else if (c == '\n') {
    i += 2;
  } else if (c == '\r') {
    i += body.substr(i + 1).starts_with("\r\n") ? 3 : 2;
  } else if (c >= '0' && c <= '7') {
    octal();
  } else if (c == 'x') {
    hexadecimal(2, "\\xXX");
  } else if (c == 'u' && !form.bytes) {
    hexadecimal(4, "\\uXXXX");
  } else if (c == 'U' && !form.bytes) {
    hexadecimal(8, "\\UXXXXXXXX");
  } else if (c == 'N' && !form.bytes) {
    error = "named character escapes (\\N{...}) are not supported; write \\uXXXX or the character "
            "itself";
  } else {
    out += '\\';
    ++i;
  }
}

void StringDecoder::octal() {
  char32_t value = 0;
  size_t last = std::min(body.size(), i + 4);
  for (++i; i < last && body[i] >= '0' && body[i] <= '7'; ++i)
    value = value * 8 + digitValue(body[i]);
  put(value);
}

void StringDecoder::hexadecimal(size_t digits, const char *shape) {
  size_t first = i + 2, last = first;
  char32_t value = 0;
  for (; last < body.size() && last < first + digits && digitValue(body[last]) < 16; ++last)
    value = value * 16 + digitValue(body[last]);
  bool truncated = last != first + digits;
  if (form.bytes && truncated) {
    error = "(value error) invalid \\x escape at position " + std::to_string(i);
  } else if (truncated || value > 0x10FFFF) {
    error =
        "(unicode error) 'unicodeescape' codec can't decode bytes in position " +
        std::to_string(i) + "-" + std::to_string(last - 1) + ": " +
        (truncated ? std::string("truncated ") + shape + " escape" : "illegal Unicode character");
  } else {
    put(value);
    i = last;
  }
}

} // namespace

std::string decodeNumber(std::string_view text, Constant &into) {
  std::string plain;
  if (text.find('_') != text.npos) {
    plain = withoutUnderscores(text);
    text = plain;
  }
  char radix = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 32) : '\0';
  if (radix == 'x' || radix == 'o' || radix == 'b')
    return decodeInteger(text.substr(2), radix == 'x' ? 16 : radix == 'o' ? 8 : 2, into);
  bool imaginary = (text.back() | 32) == 'j';
  if (!imaginary && text.find_first_not_of("0123456789") == text.npos)
    return decodeInteger(text, 10, into);
  into.type = imaginary ? Constant::Type::Imaginary : Constant::Type::Float;
  into.floatValue = decodeFloat(text.substr(0, text.size() - imaginary));
  return {};
}

std::string decodeString(std::string_view body, StringForm form, std::string &into) {
  if (form.bytes)
    for (char c : body)
      if (c & 0x80)
        return "bytes can only contain ASCII literal characters";
  bool plain = !form.doubledBraces && body.find('\r') == body.npos &&
               (form.raw || body.find('\\') == body.npos);
  if (plain) {
    into += body;
    return {};
  }
  return StringDecoder(body, form, into).run();
}

} // namespace pellucid::syntax
