// SPDX-License-Identifier: Apache-2.0
#include "driver/InputSpec.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace pellucid::driver {

namespace {

/// Walks the text of one spec; every take… leaves the position behind what it took.
class Cursor {
public:
  explicit Cursor(std::string_view t) : text(t) {}
  bool done() const { return position == text.size(); }
  bool take(std::string_view word) {
    if (text.substr(position, word.size()) != word)
      return false;
    position += word.size();
    return true;
  }
  std::string takeName() {
    size_t begin = position;
    while (position < text.size() && isInName(static_cast<unsigned char>(text[position])))
      ++position;
    return std::string(text.substr(begin, position - begin));
  }
  std::optional<int64_t> takeInt() {
    int64_t value = 0;
    auto [end, status] = std::from_chars(text.data() + position, text.data() + text.size(), value);
    if (status != std::errc())
      return std::nullopt;
    position = static_cast<size_t>(end - text.data());
    return value;
  }
  std::string rest() const { return std::string(text.substr(position)); }
  void skipSpaces() {
    while (position < text.size() && text[position] == ' ')
      ++position;
  }
  /// A Python literal: up to the first of `ends` outside of its own brackets and quotes.
  std::string takeLiteral(std::string_view ends) {
    size_t begin = position;
    int nesting = 0;
    char quote = 0;
    for (; position < text.size(); ++position) {
      char c = text[position];
      if (quote) {
        if (c == '\\')
          ++position;
        else if (c == quote)
          quote = 0;
        continue;
      }
      if (nesting == 0 && ends.find(c) != std::string_view::npos)
        break;
      if (c == '\'' || c == '"')
        quote = c;
      nesting += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    }
    position = std::min(position, text.size());
    size_t end = position;
    while (end > begin && text[end - 1] == ' ')
      --end;
    return std::string(text.substr(begin, end - begin));
  }
  bool at(char c) const { return position < text.size() && text[position] == c; }

private:
  std::string_view text;
  size_t position = 0;

  /// Python's names may hold letters beyond ASCII; whether these are some is the parser's affair.
  static bool isInName(unsigned char c) { return isalnum(c) || c == '_' || c >= 0x80; }
};

bool startsNumber(const std::string &rest) {
  return !rest.empty() && (isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '-');
}

bool parseDim(Cursor &cursor, InputDim &dim, std::string &error) {
  std::string at = cursor.rest();
  if (startsNumber(at)) {
    auto size = cursor.takeInt();
    if (!size || *size < 0) {
      error = "'" + at + "': a size must be an integer of at least 0";
      return false;
    }
    if (!cursor.take("*")) {
      dim.size = *size;
      return true;
    }
    dim.factor = *size;
    if (dim.factor < 1 || dim.factor > INT32_MAX) {
      error = "'" + at + "': the factor of a dynamic dimension must be from 1 to 2^31 - 1";
      return false;
    }
  }
  dim.symbol = cursor.takeName();
  if (dim.symbol.empty()) {
    error = "'" + at + "': expected a size or the name of a dynamic dimension";
    return false;
  }
  if (dim.factor == 1 && cursor.take("*")) {
    auto factor = cursor.takeInt();
    if (!factor || *factor < 1 || *factor > INT32_MAX) {
      error = "'" + at + "': expected a factor from 1 to 2^31 - 1 after '*'";
      return false;
    }
    dim.factor = *factor;
  }
  if (cursor.take("=")) {
    dim.example = cursor.takeInt();
    if (!dim.example || *dim.example < 0) {
      error = "'" + at + "': expected an example size after '='";
      return false;
    }
  }
  if (!cursor.take(":"))
    return true;
  auto low = cursor.takeInt();
  auto high = low && cursor.take("..") ? cursor.takeInt() : std::nullopt;
  if (!low || !high) {
    error = "'" + at + "': expected a range such as 1..1024 after ':'";
    return false;
  }
  if (*low < 0 || *low > *high) {
    error = "'" + at + "': the range " + std::to_string(*low) + ".." + std::to_string(*high) +
            " must start at 0 or more and not end before it starts";
    return false;
  }
  dim.range = {*low, *high};
  dim.hasRange = true;
  if (dim.example && !dim.range.contains(*dim.example)) {
    error = "'" + at + "': the example size " + std::to_string(*dim.example) +
            " is outside of the range " + std::to_string(*low) + ".." + std::to_string(*high);
    return false;
  }
  return true;
}

bool parseDims(Cursor &cursor, InputSpec &spec, std::string &error) {
  if (cursor.take("]"))
    return true;
  do {
    if (!parseDim(cursor, spec.dims.emplace_back(), error))
      return false;
  } while (cursor.take(","));
  if (cursor.take("]"))
    return true;
  error = "'" + cursor.rest() + "': expected ',' or ']'";
  return false;
}

/// Between the range's ends, near 8: small enough to follow quickly, and neither 0 nor 1, which
/// branches like to single out.
int64_t chooseExample(symbolic::Range range) {
  return std::clamp<int64_t>(8, range.min, range.max);
}

} // namespace

std::vector<const InputSpec *> tensorsOf(const std::vector<InputSpec> &specs) {
  std::vector<const InputSpec *> tensors;
  for (const InputSpec &spec : specs) {
    if (spec.form == InputSpec::Form::Tensor)
      tensors.push_back(&spec);
    for (const InputSpec *inside : tensorsOf(spec.elements))
      tensors.push_back(inside);
  }
  return tensors;
}

namespace {

bool parseValue(Cursor &cursor, InputSpec &spec, std::string_view ends, std::string &error);

/// `(f32[4], 2)`, `[…]`, `{"ids": i64[b,16]}`, with the opening bracket taken already.
bool parseElements(Cursor &cursor, InputSpec &spec, const char *closing, std::string &error) {
  cursor.skipSpaces();
  while (!cursor.take(closing)) {
    InputSpec &element = spec.elements.emplace_back();
    std::string at = cursor.rest();
    if (spec.form == InputSpec::Form::Dict) {
      element.key = cursor.takeLiteral(":,}");
      if (element.key.empty() || !cursor.take(":")) {
        error = "'" + at + "': expected KEY: VALUE in a dict, such as \"ids\": i64[8]";
        return false;
      }
      cursor.skipSpaces();
    }
    if (!parseValue(cursor, element, std::string(",") + closing, error))
      return false;
    cursor.skipSpaces();
    bool more = cursor.take(",");
    cursor.skipSpaces();
    if (!more && !cursor.at(closing[0])) {
      error = "'" + cursor.rest() + "': expected ',' or '" + closing + "'";
      return false;
    }
  }
  return true;
}

/// What one name or one place in a container stands for.
bool parseValue(Cursor &cursor, InputSpec &spec, std::string_view ends, std::string &error) {
  static constexpr struct {
    const char *opening, *closing;
    InputSpec::Form form;
  } containers[] = {{"{", "}", InputSpec::Form::Dict},
                    {"(", ")", InputSpec::Form::Tuple},
                    {"[", "]", InputSpec::Form::List}};
  for (const auto &container : containers)
    if (cursor.take(container.opening)) {
      spec.form = container.form;
      return parseElements(cursor, spec, container.closing, error);
    }
  Cursor start = cursor;
  std::string typeName = cursor.takeName();
  auto dtype = dataTypeNamed(typeName);
  if (dtype && cursor.take("[")) {
    spec.dtype = *dtype;
    return parseDims(cursor, spec, error);
  }
  if (dtype) {
    error = "'" + cursor.rest() + "': expected '[' after the element type " + typeName;
    return false;
  }
  bool isWord = !typeName.empty() && !isdigit(static_cast<unsigned char>(typeName[0])) &&
                typeName != "True" && typeName != "False" && typeName != "None";
  if (isWord || (typeName.empty() && cursor.done())) {
    error = "'" + typeName +
            "' is not an element type; f32, f16, bf16, f64, i8 … i64, u8 … u64 and bool are, with "
            "their "
            "dims in brackets; a number, True, False, None or a quoted text stands for itself";
    return false;
  }
  cursor = start;
  spec.form = InputSpec::Form::Literal;
  spec.literal = cursor.takeLiteral(ends);
  return true;
}

/// An element is called by the way to it: batch_ids, pair_0.
void nameElements(InputSpec &spec) {
  for (size_t i = 0; i < spec.elements.size(); ++i) {
    InputSpec &element = spec.elements[i];
    std::string part;
    for (char c : element.key)
      if (c != '\'' && c != '"')
        part += isalnum(static_cast<unsigned char>(c)) ? c : '_';
    element.name =
        spec.name + "_" + (spec.form == InputSpec::Form::Dict ? part : std::to_string(i));
    nameElements(element);
  }
}

} // namespace

std::optional<InputSpec> parseInputSpec(std::string_view text, std::string &error) {
  Cursor cursor(text);
  InputSpec spec;
  spec.name = cursor.takeName();
  if (spec.name.empty() || !cursor.take("=")) {
    error = "expected NAME=TYPE[DIM,…] such as x=bf16[batch:1..1024,128]";
    return std::nullopt;
  }
  if (!parseValue(cursor, spec, "", error))
    return std::nullopt;
  if (!cursor.done()) {
    error = "'" + cursor.rest() + "' follows the closing bracket";
    return std::nullopt;
  }
  nameElements(spec);
  return spec;
}

/// What a symbol that only stands as a multiple of itself is called in the program: the dim itself.
static std::string multipleName(const std::string &symbol, int64_t factor) {
  return symbol + "_times_" + std::to_string(factor);
}

symbolic::Expr sizeOf(const InputDim &dim, const symbolic::SymbolTable &symbols) {
  if (dim.symbol.empty())
    return dim.size;
  if (symbols.find(dim.symbol))
    return symbolic::Expr::symbol(dim.symbol) * dim.factor;
  // The one multiple that is declared stands for the symbol.
  for (const std::string &name : symbols.names())
    if (name.starts_with(dim.symbol + "_times_")) {
      int64_t declared = std::stoll(name.substr(dim.symbol.size() + 7));
      symbolic::Expr multiple = symbolic::Expr::symbol(name);
      return declared == dim.factor ? multiple
                                    : symbolic::floorDiv(multiple, declared) * dim.factor;
    }
  return symbolic::Expr::symbol(dim.symbol) * dim.factor;
}

/// A call finds a symbol's value in a dim that is the symbol. Where there is none, the smallest
/// multiple of it that is a dim becomes the symbol, of which the other one is a quotient.
static void declareMultiples(const std::vector<const InputSpec *> &tensors,
                             symbolic::SymbolTable &table) {
  std::map<std::string, int64_t> smallest;
  for (const InputSpec *spec : tensors)
    for (const InputDim &dim : spec->dims)
      if (!dim.symbol.empty()) {
        auto [entry, isNew] = smallest.try_emplace(dim.symbol, dim.factor);
        entry->second = std::min(entry->second, dim.factor);
      }
  symbolic::SymbolTable declared;
  for (const std::string &name : table.names()) {
    symbolic::SymbolInfo info = *table.find(name);
    int64_t factor = smallest.count(name) ? smallest[name] : 1;
    if (factor == 1) {
      declared.declare(name, info);
      continue;
    }
    info.range.min *= factor;
    info.range.max = info.range.max > INT64_MAX / factor ? INT64_MAX : info.range.max * factor;
    info.divisor = factor;
    if (info.hint)
      *info.hint *= factor;
    declared.declare(multipleName(name, factor), info);
  }
  table = std::move(declared);
}

bool declareSymbols(const std::vector<InputSpec> &specs, symbolic::SymbolTable &table,
                    std::string &error) {
  auto refuse = [&](const InputDim &dim, const std::string &what) {
    error = "dynamic dimension '" + dim.symbol + "' " + what;
    return false;
  };
  const std::vector<const InputSpec *> tensors = tensorsOf(specs);
  for (const InputSpec *spec : tensors)
    for (const InputDim &dim : spec->dims) {
      if (dim.symbol.empty() || !dim.hasRange)
        continue;
      if (const auto *known = table.find(dim.symbol);
          known && (known->range.min != dim.range.min || known->range.max != dim.range.max))
        return refuse(dim, "has two ranges, " + std::to_string(known->range.min) + ".." +
                               std::to_string(known->range.max) + " and " +
                               std::to_string(dim.range.min) + ".." +
                               std::to_string(dim.range.max));
      symbolic::SymbolInfo info;
      info.range = dim.range;
      const auto *known = table.find(dim.symbol);
      info.hint = dim.example ? *dim.example
                              : (known && known->hint ? *known->hint : chooseExample(dim.range));
      table.declare(dim.symbol, info);
    }
  for (const InputSpec *spec : tensors)
    for (const InputDim &dim : spec->dims) {
      if (dim.symbol.empty())
        continue;
      const auto *known = table.find(dim.symbol);
      if (!known)
        return refuse(dim, "of input '" + spec->name + "' has no range; write " + dim.symbol +
                               ":1..1024");
      if (!dim.example || !known->range.contains(*dim.example)) {
        if (dim.example)
          return refuse(dim, "has the example size " + std::to_string(*dim.example) +
                                 " outside of its range");
        continue;
      }
      symbolic::SymbolInfo info = *known;
      info.hint = dim.example;
      table.declare(dim.symbol, info);
    }
  declareMultiples(tensors, table);
  return true;
}

} // namespace pellucid::driver
