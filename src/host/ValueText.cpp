// SPDX-License-Identifier: Apache-2.0
// Values as texts: repr().
#include "host/DictView.h"
#include "host/FloatText.h"
#include "host/Interpreter.h"
#include "host/Objects.h"
#include "host/Text.h"
#include "support/Stack.h"
#include "syntax/Unicode.h"

#include <algorithm>

namespace pellucid::host {

std::string toString(Int value) {
  if (value == 0)
    return "0";
  bool negative = value < 0;
  unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  for (; rest; rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  return negative ? "-" + digits : digits;
}

static std::string quote(const std::string &text) {
  bool useDouble = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  char mark = useDouble ? '"' : '\'';
  std::string out(1, mark);
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      size_t length = 0;
      char32_t point = syntax::decodeUtf8(std::string_view(text).substr(i), length, true);
      bool isWhole = point != syntax::InvalidCodePoint;
      out += !isWhole || syntax::isPrintable(point) ? text.substr(i, length ? length : 1)
                                                    : escapedCodePoint(point);
      i += (length ? length : 1) - 1;
      continue;
    }
    if (c == static_cast<unsigned char>(mark) || c == '\\')
      (out += '\\') += static_cast<char>(c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c < 0x20 || c == 0x7f) {
      static constexpr char hex[] = "0123456789abcdef";
      ((out += "\\x") += hex[c >> 4]) += hex[c & 15];
    } else
      out += static_cast<char>(c);
  }
  return out + mark;
}

/// A text that grows is paid for before it becomes a value.
static void payForText(const std::string &text) {
  Budget::pay(1);
  Budget::check(text.capacity());
}

std::string joinRepr(const std::vector<Value> &elements,
                     const std::function<std::string(const Value &)> &text) {
  std::string out;
  // A __repr__ may change the list that is being printed.
  for (size_t i = 0; i < elements.size(); ++i) {
    Value element = elements[i];
    (out += out.empty() ? "" : ", ") += text(element);
    payForText(out);
  }
  return out;
}

namespace {
/// One container that is being printed: as in Python, inside of itself it is "...". So is what is
/// nested deeper, or has more elements, than anybody reads.
class PrintedContainer {
public:
  explicit PrintedContainer(const void *container) : isCut(++printed > mostContainers) {
    isCut |= active.size() > deepest || stackIsLow() ||
             std::find(active.begin(), active.end(), container) != active.end();
    active.push_back(container);
  }
  ~PrintedContainer() {
    active.pop_back();
    if (active.empty())
      printed = 0;
  }
  PrintedContainer(const PrintedContainer &) = delete;
  PrintedContainer &operator=(const PrintedContainer &) = delete;
  bool isCut;

private:
  static constexpr size_t deepest = 200, mostContainers = 1'000'000;
  static thread_local std::vector<const void *> active;
  static thread_local size_t printed;
};
thread_local std::vector<const void *> PrintedContainer::active;
thread_local size_t PrintedContainer::printed = 0;
} // namespace

static const void *addressOf(const Value &v) {
  return v.isList()    ? static_cast<const void *>(&v.list())
         : v.isTuple() ? static_cast<const void *>(&v.tuple())
         : v.isDict()  ? static_cast<const void *>(&v.dictionary())
                       : &v.elementSet();
}

static std::string reprContainer(const Value &v,
                                 const std::function<std::string(const Value &)> &text) {
  PrintedContainer container(addressOf(v));
  switch (v.kind()) {
  case Kind::Tuple:
    if (v.isSizes() && !container.isCut)
      return "torch.Size([" + joinRepr(v.tuple(), text) + "])";
    return container.isCut ? "(...)"
                           : "(" + joinRepr(v.tuple(), text) + (v.tuple().size() == 1 ? ",)" : ")");
  case Kind::List:
    return container.isCut ? "[...]" : "[" + joinRepr(v.list(), text) + "]";
  case Kind::Dict: {
    std::string out;
    if (container.isCut)
      return "{...}";
    for (size_t i = 0; i < v.dictionary().size(); ++i) {
      auto [key, value] = v.dictionary().items()[i];
      out += (out.empty() ? "" : ", ") + text(key) + ": " + text(value);
      payForText(out);
    }
    return "{" + out + "}";
  }
  default: {
    const Set &s = v.elementSet();
    if (container.isCut)
      return "{...}";
    std::string body = s.size() ? "{" + joinRepr(s.elements(), text) + "}" : "";
    if (s.frozen)
      return "frozenset(" + body + ")";
    return s.size() ? body : "set()";
  }
  }
}

static thread_local bool symbolicText = false;

TextWatch::TextWatch() : outer(symbolicText) { symbolicText = false; }
TextWatch::~TextWatch() { symbolicText = outer; }
bool TextWatch::sawSymbols() const { return symbolicText; }

std::string reprWith(const Value &v, const std::function<std::string(const Value &)> &text) {
  // Slices and objects hold values too, and are no containers.
  if (stackIsLow())
    return "...";
  switch (v.kind()) {
  case Kind::None:
    return "None";
  case Kind::Ellipsis:
    return "Ellipsis";
  case Kind::Bool:
    return v.boolean() ? "True" : "False";
  case Kind::Int:
    return toString(v.integer());
  case Kind::Float:
    return floatRepr(v.real());
  case Kind::Str:
    return quote(v.str());
  case Kind::Tuple:
  case Kind::List:
  case Kind::Dict:
  case Kind::Set:
    return reprContainer(v, text);
  case Kind::Slice:
    return "slice(" + text(v.slice().lower) + ", " + text(v.slice().upper) + ", " +
           text(v.slice().step) + ")";
  case Kind::Range: {
    const Range &r = v.range();
    std::string out = "range(" + std::to_string(r.start) + ", " + std::to_string(r.stop);
    return out + (r.step != 1 ? ", " + std::to_string(r.step) : "") + ")";
  }
  case Kind::SymInt:
    symbolicText = true;
    return v.symInt().text();
  case Kind::SymBool:
    symbolicText = true;
    return v.symBool().text();
  case Kind::Object:
    symbolicText |= v.object()->isSymbolic();
    if (auto *view = v.as<DictView>())
      return view->textWith(text);
    return v.object()->repr();
  }
  return {};
}

std::string repr(const Value &value) {
  return reprWith(value, [](const Value &v) { return repr(v); });
}

} // namespace pellucid::host
