// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveGuards.h"

#include "archive/Json.h"
#include "host/Interpreter.h"
#include "trace/GuardedPaths.h"
#include "trace/ReadSizes.h"

#include <algorithm>
#include <numeric>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;
using AKind = archive::Argument::Kind;

/// Symbols that stand for inputs which are numbers, not for the size of one.
static std::set<std::string> symbolsOfNumbers(const Archive &archive) {
  std::set<std::string> numbers;
  for (const archive::Input &input : archive.inputs)
    if (auto known = archive.graph->integers.find(input.value.text);
        input.kind == archive::Input::Kind::User && input.value.kind == AKind::SymInt &&
        known != archive.graph->integers.end())
      for (const std::string &symbol : known->second.symbols())
        numbers.insert(symbol);
  return numbers;
}

std::set<std::string> symbolsOfInputs(const Archive &archive) {
  std::set<std::string> symbols;
  for (const archive::Input &input : archive.inputs)
    if (auto meta = archive.graph->tensors.find(input.value.text);
        input.value.kind == AKind::Tensor && meta != archive.graph->tensors.end())
      for (const Expr &size : meta->second.sizes)
        for (const std::string &name : size.symbols())
          symbols.insert(name);
  return symbols;
}

symbolic::SymbolTable declaredSymbols(const Archive &archive) {
  symbolic::SymbolTable table;
  auto declare = [&](const std::string &name, symbolic::Range range) {
    symbolic::SymbolInfo info;
    info.range = range;
    if (auto hint = archive.hints.find(name); hint != archive.hints.end())
      info.hint = hint->second;
    table.declare(name, info);
  };
  std::set<std::string> ofNumbers = symbolsOfNumbers(archive), ofInputs = symbolsOfInputs(archive);
  // Others are what PyTorch could not tell (u0, u1, …: sizes that values decide, or that two
  // branches agree on), or sizes of what the model did not use after all.
  for (const auto &[name, range] : archive.ranges)
    if (auto expr = symbolic::parse(name);
        expr && *expr == Expr::symbol(name) && !ofNumbers.count(name) && ofInputs.count(name))
      declare(name, {std::max<int64_t>(range.min, 0), range.max});
  for (const std::string &name : ofInputs)
    if (!table.find(name))
      declare(name, {0, INT64_MAX});
  return table;
}

namespace {

class GuardReader {
public:
  GuardReader(const Archive &a, const ArchiveScope &s, Tracer &t, h::Interpreter &i,
              const TraceOptions &o, OddGuards g)
      : archive(a), scope(s), tracer(t), interpreter(i), options(o), odd(g) {}

  /// The number of guards that are checked when the program runs.
  size_t run() {
    read();
    return checks;
  }

private:
  void read() {
    applyDerivedRanges();
    if (archive.guards.empty())
      return;
    std::optional<h::Value> inputs = inputsByName();
    auto module = std::make_shared<h::Module>("guards of the archive");
    if (inputs)
      module->globals->set("L", *inputs);
    for (const char *name : {"torch", "math"})
      module->globals->set(name, h::Value(interpreter.importModule(name)));
    // What a dim is a multiple of decides most of the others.
    std::vector<std::string> rest;
    std::set<std::string> known;
    for (const std::string &whole : archive.guards)
      for (const std::string &guard : split(bare(whole), " and "))
        if (known.insert(guard).second && !isApplied(guard, module))
          rest.push_back(guard);
    for (const std::string &guard : rest) {
      h::Value holds;
      try {
        holds = conditionOf(guard, module);
      } catch (const DiagnosticError &error) {
        options.warn(Diagnostic(Severity::Warning, SourceLocation(archive.path),
                                "the archive's guard '" + guard +
                                    "' is not read, and calls that break it are not refused: " +
                                    error.diagnostic.message));
        continue;
      }
      applyGuard(guard, holds);
    }
  }

  using Module = std::shared_ptr<h::Module>;

  bool isApplied(const std::string &guard, const Module &module) {
    try {
      h::Value holds = conditionOf(guard, module);
      return holds.isSymBool() &&
             (tracer.symbols().prove(holds.symBool()) == true || narrowDivisor(holds.symBool()));
    } catch (const DiagnosticError &) {
      return false;
    }
  }

  /// The parts between `word` where no parenthesis is open.
  static std::vector<std::string> split(const std::string &text, const std::string &word) {
    std::vector<std::string> parts;
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
      if (depth == 0 && text.compare(i, word.size(), word) == 0) {
        parts.push_back(text.substr(begin, i - begin));
        begin = i + word.size();
      }
    }
    parts.push_back(text.substr(begin));
    return parts;
  }

  /// Without parentheses around all of it.
  static std::string bare(std::string text) {
    while (text.size() > 2 && text.front() == '(' && text.back() == ')') {
      int depth = 0;
      for (size_t i = 0; i + 1 < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0)
          return text;
      }
      text = text.substr(1, text.size() - 2);
    }
    return text;
  }

  /// A condition as a whole: `or` and `and` ask for the truth of their sides, which sizes may leave
  /// open.
  h::Value conditionOf(const std::string &guard, const Module &module, int depth = 0) {
    constexpr int deepest = 64;
    std::string text = depth < deepest ? bare(guard) : guard;
    for (bool isOr : {true, false}) {
      std::vector<std::string> parts = split(text, isOr ? " or " : " and ");
      if (parts.size() == 1 || depth == deepest)
        continue;
      constexpr size_t most = 64;
      if (parts.size() > most)
        throw DiagnosticError(SourceLocation(), "a condition of " + std::to_string(parts.size()) +
                                                    " parts, more than 64");
      std::optional<Expr> whole;
      for (const std::string &part : parts) {
        h::Value value = conditionOf(part, module, depth + 1);
        if (!value.isSymBool()) {
          if (interpreter.truth(value) == isOr)
            return h::Value(isOr);
          continue;
        }
        whole = !whole ? value.symBool()
                : isOr ? logicalOr(*whole, value.symBool())
                       : logicalAnd(*whole, value.symBool());
      }
      return whole ? h::Value::condition(*whole) : h::Value(!isOr);
    }
    return interpreter.evaluateText(std::make_shared<SourceFile>("guard", text), module);
  }

  [[noreturn]] void fail(const std::string &message) const {
    throw DiagnosticError(SourceLocation(archive.path), message);
  }

  /// Ranges of expressions, such as `2*s17` where a size is derived from another.
  void applyDerivedRanges() {
    for (const auto &[text, range] : archive.ranges) {
      auto expr = symbolic::parse(text);
      if (!expr)
        fail("gives a range to '" + text + "', which is not read");
      std::vector<std::string> names = expr->symbols();
      bool isOfInputs = std::all_of(names.begin(), names.end(), [&](const std::string &name) {
        return tracer.symbols().find(name) && !tracer.readSymbols.count(name);
      });
      if (isOfInputs && *expr != Expr::symbol(text))
        applyGuard(text, h::Value::condition(logicalAnd(symbolic::lessEqual(range.min, *expr),
                                                        symbolic::lessEqual(*expr, range.max))));
    }
  }

  void applyGuard(const std::string &guard, const h::Value &holds) {
    if (!holds.isSymBool()) {
      if (!interpreter.truth(holds))
        fail("the archive's guard '" + guard + "' holds for none of the sizes it was exported for");
      return;
    }
    const Expr &condition = holds.symBool();
    if (tracer.symbols().prove(condition) == true || narrowDivisor(condition))
      return;
    if (odd != OddGuards::Checked && narrowMultiples(guard, condition))
      return;
    auto kept = rangesWhere(condition, true, tracer.symbols());
    if (odd != OddGuards::Narrowing && !(kept && isWhole(condition, *kept))) {
      ++checks;
      return checkSizes(tracer, interpreter, condition,
                        "RuntimeError: the archive's guard '" + guard + "' does not hold");
    }
    if (!kept)
      fail("the archive's guard '" + guard +
           "' ties sizes together in a way that no package can check; export it with a static "
           "size there");
    for (const auto &[name, range] : *kept) {
      symbolic::SymbolInfo info = *tracer.symbols().find(name);
      info.range = range;
      tracer.program.symbols.declare(name, info);
    }
  }

  /// Whether a range of one size is all of where the condition holds, as far as its neighbours
  /// tell.
  bool isWhole(const Expr &condition, const std::map<std::string, symbolic::Range> &kept) const {
    if (kept.size() != 1)
      return false;
    const auto &[name, range] = *kept.begin();
    const symbolic::SymbolInfo &info = *tracer.symbols().find(name);
    constexpr int64_t tried = 4096;
    auto holdsAt = [&, &symbol = name](int64_t size) {
      return size % info.divisor == 0 &&
             symbolic::evaluate(condition, {{symbol, size}}).value_or(0) != 0;
    };
    for (int64_t size = range.min; size > info.range.min && range.min - size < tried;)
      if (holdsAt(--size))
        return false;
    for (int64_t size = range.max; size < info.range.max && size - range.max < tried;)
      if (holdsAt(++size))
        return false;
    return true;
  }

  /// Whether the symbol stands nowhere but in remainders by constants; `period` is their multiple.
  static bool isPeriodic(const Expr &expr, int64_t &period) {
    constexpr int64_t longest = 4096;
    if (expr.op() == symbolic::ExprOp::Symbol)
      return false;
    if (expr.op() == symbolic::ExprOp::Mod && expr.operands()[0].op() == symbolic::ExprOp::Symbol) {
      auto divisor = expr.operands()[1].constant();
      if (!divisor || *divisor <= 0 || *divisor > longest)
        return false;
      period = std::lcm(period, *divisor);
      return period <= longest;
    }
    return std::all_of(expr.operands().begin(), expr.operands().end(),
                       [&](const Expr &operand) { return isPeriodic(operand, period); });
  }

  /// `s % 8 == 0`, in these words or others.
  bool narrowDivisor(const Expr &condition) {
    std::vector<std::string> names = condition.symbols();
    int64_t period = 1;
    if (names.size() != 1 || !isPeriodic(condition, period))
      return false;
    int64_t step = 0;
    auto holdsAt = [&](int64_t size) {
      return symbolic::evaluate(condition, {{names[0], size}}).value_or(0) != 0;
    };
    for (int64_t size = 1; size <= period && !step; ++size)
      step = holdsAt(size) ? size : 0;
    if (!step || period % step)
      return false;
    for (int64_t size = 1; size <= period; ++size)
      if (holdsAt(size) != (size % step == 0))
        return false;
    symbolic::SymbolInfo info = *tracer.symbols().find(names[0]);
    info.divisor = std::lcm(info.divisor, step);
    tracer.program.symbols.declare(names[0], info);
    return true;
  }

  /// Sizes on a grid, as images and blocks of tokens are: all of them have the guard proved.
  bool narrowMultiples(const std::string &guard, const Expr &condition) {
    auto multiples = multiplesWhere(condition, true, tracer.symbols());
    if (!multiples)
      return false;
    symbolic::SymbolInfo info = *tracer.symbols().find(multiples->first);
    info.divisor = multiples->second;
    tracer.program.symbols.declare(multiples->first, info);
    options.note("'" + multiples->first + "' is a multiple of " + std::to_string(info.divisor) +
                 " in this package: that is what the archive's guard '" + guard +
                 "' needs to be known for");
    return true;
  }

  /// The inputs as guards name them: `L['x']`, `L['batch']['ids']`.
  std::optional<h::Value> inputsByName() const {
    archive::JsonDocument tree;
    if (!tree.read(archive.inputTree).ok())
      return std::nullopt;
    archive::JsonValue children = tree.root().at(1).member("children_spec");
    size_t next = 0;
    std::vector<h::Value> leaves;
    for (const archive::Input &input : archive.inputs)
      if (input.kind == archive::Input::Kind::User ||
          input.kind == archive::Input::Kind::ConstantInput) {
        auto known = scope.find(input.value.text);
        leaves.push_back(known == scope.end() ? h::Value() : known->second);
      }
    h::Value positional = treeValue(children.at(0), leaves, next),
             keywords = treeValue(children.at(1), leaves, next);
    h::Dict named;
    // What strict exports of PyTorch 2.15 call them.
    named.set(h::Value("flat_args"), h::Value::tuple(leaves));
    for (size_t i = 0; positional.isSequence() && i < positional.elements().size(); ++i)
      if (i < archive.argumentNames.size())
        named.set(h::Value(archive.argumentNames[i]), positional.elements()[i]);
    for (auto &[name, values] : variadic(positional))
      named.set(h::Value(name), h::Value::tuple(std::move(values)));
    if (keywords.isDict())
      for (const auto &[key, value] : keywords.dictionary().items())
        named.set(key, value);
    return h::Value::dict(std::move(named));
  }

  /// `*inputs` under that name, which the archive calls inputs_0, inputs_1, …
  std::map<std::string, h::Tuple> variadic(const h::Value &positional) const {
    std::map<std::string, h::Tuple> groups;
    for (size_t i = 0; positional.isSequence() && i < positional.elements().size(); ++i) {
      if (i >= archive.argumentNames.size())
        break;
      const std::string &name = archive.argumentNames[i];
      size_t end = name.rfind('_');
      std::string group = end == name.npos ? "" : name.substr(0, end);
      if (!group.empty() && name.substr(end + 1) == std::to_string(groups[group].size()))
        groups[group].push_back(positional.elements()[i]);
    }
    for (const std::string &name : archive.argumentNames)
      groups.erase(name);
    return groups;
  }

  static h::Value treeValue(archive::JsonValue node, const std::vector<h::Value> &leaves,
                            size_t &next) {
    archive::JsonValue children = node.member("children_spec");
    if (node.member("type").isNull())
      return next < leaves.size() ? leaves[next++] : h::Value();
    h::List parts;
    for (size_t i = 0; i < children.size(); ++i)
      parts.push_back(treeValue(children.at(i), leaves, next));
    if (node.member("type").string() != "builtins.dict")
      return h::Value::tuple(std::move(parts));
    archive::JsonDocument keys;
    h::Dict dict;
    if (keys.read(node.member("context").string()).ok())
      for (size_t i = 0; i < parts.size(); ++i)
        if (archive::JsonValue key = keys.root().at(i); key.isString())
          dict.set(h::Value(key.string()), parts[i]);
    return h::Value::dict(std::move(dict));
  }

  const Archive &archive;
  const ArchiveScope &scope;
  Tracer &tracer;
  h::Interpreter &interpreter;
  const TraceOptions &options;
  OddGuards odd;
  size_t checks = 0;
};

} // namespace

size_t applyGuards(const Archive &archive, const ArchiveScope &scope, Tracer &tracer,
                   h::Interpreter &interpreter, const TraceOptions &options, OddGuards odd) {
  return GuardReader(archive, scope, tracer, interpreter, options, odd).run();
}

} // namespace pellucid::trace
