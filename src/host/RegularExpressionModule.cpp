// SPDX-License-Identifier: Apache-2.0
// The module `re`: modules/re.py over the matcher.
#include "host/InterpreterState.h"
#include "host/RegularExpression.h"
#include "host/Text.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

const char *const reSource =
#include "host/modules/re.py.inc"
    ;

class CompiledPattern : public Object {
public:
  const std::shared_ptr<const RegularExpression> expression;
  explicit CompiledPattern(std::shared_ptr<const RegularExpression> e) : expression(std::move(e)) {}
  std::string typeName() const override { return "re.Pattern"; }
};

/// The pattern, or the text of re.error.
Value compilePattern(Interpreter &interpreter, Bound &a) {
  const std::string &pattern = interpreter.toStr(a[0], "a pattern");
  int64_t flags = interpreter.toInt64(a[1], "flags");
  try {
    return Value(std::make_shared<CompiledPattern>(
        RegularExpression::parse(pattern, static_cast<uint32_t>(flags))));
  } catch (const PatternError &error) {
    return Value(error.what());
  } catch (const PatternLimit &limit) {
    interpreter.refuse("the regular expression " + repr(a[0]) + ": " + limit.what());
  }
}

Value describePattern(Interpreter &, Bound &a) {
  const RegularExpression &expression = *a[0].expect<CompiledPattern>("a pattern").expression;
  Dict names;
  for (const auto &[name, index] : expression.groupNames())
    names.set(Value(name), Value(static_cast<int64_t>(index)));
  return Value::tuple({Value(static_cast<int64_t>(expression.groupCount())),
                       Value::dict(std::move(names)),
                       Value(static_cast<int64_t>(expression.flags()))});
}

Value spansOf(const RegularExpression::Match &match) {
  Tuple spans;
  for (auto [first, last] : match.spans)
    spans.push_back(Value::tuple({Value(first), Value(last)}));
  spans.emplace_back(static_cast<int64_t>(match.lastGroup));
  return Value::tuple(std::move(spans));
}

/// Up to `limit` matches (0: all), one behind the other.
Value scanText(Interpreter &interpreter, Bound &a) {
  const RegularExpression &expression = *a[0].expect<CompiledPattern>("a pattern").expression;
  const std::string &text = interpreter.toStr(a[1], "the text");
  auto at = static_cast<size_t>(interpreter.toInt64(a[2], "pos")),
       end = static_cast<size_t>(interpreter.toInt64(a[3], "endpos"));
  auto mode = static_cast<RegularExpression::Mode>(interpreter.toInt64(a[4], "the mode"));
  int64_t limit = interpreter.toInt64(a[5], "the limit");
  RegularExpression::Text points;
  for (size_t i = 0; i < text.size(); i += codePointLength(text, i))
    points.push_back(decodeCodePoint(std::string_view(text).substr(i)));
  List found;
  try {
    for (bool mustAdvance = false; at <= end;) {
      auto match = expression.match(points, at, end, mode, mustAdvance);
      if (!match)
        break;
      found.push_back(spansOf(*match));
      at = static_cast<size_t>(match->spans[0].second);
      mustAdvance = match->spans[0].first == match->spans[0].second;
      if (static_cast<int64_t>(found.size()) == limit)
        break;
    }
  } catch (const PatternLimit &stop) {
    interpreter.refuse(stop.what());
  }
  return Value::list(std::move(found));
}

void fillRegularExpressions(Interpreter &interpreter, Module &m) {
  auto written = interpreter.importSource("re", std::make_shared<SourceFile>("<re>", reSource));
  written->globals->set("_compile", native("re._compile", "pattern, flags", compilePattern));
  written->globals->set("_describe", native("re._describe", "pattern", describePattern));
  written->globals->set("_scan",
                        native("re._scan", "pattern, text, pos, endpos, mode, limit", scanText));
  for (const auto &[name, value] : written->globals->items())
    if (!name.starts_with("_"))
      m.globals->set(name, value);
}

} // namespace

void addRegularExpressions(NativeModules &modules) { modules.add("re", fillRegularExpressions); }

} // namespace pellucid::host
