// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveGuards.h"

#include "archive/Json.h"
#include "host/Interpreter.h"
#include "trace/GuardedPaths.h"

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
              const TraceOptions &o)
      : archive(a), scope(s), tracer(t), interpreter(i), options(o) {}

  void run() {
    applyDerivedRanges();
    if (archive.guards.empty())
      return;
    std::optional<h::Value> inputs = inputsByName();
    auto module = std::make_shared<h::Module>("guards of the archive");
    if (inputs)
      module->globals->set("L", *inputs);
    for (const std::string &guard : archive.guards) {
      h::Value holds;
      try {
        holds = interpreter.evaluateText(std::make_shared<SourceFile>("guard", guard), module);
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

private:
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
    auto kept = rangesWhere(condition, true, tracer.symbols());
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

  /// `s % 8 == 0`
  bool narrowDivisor(const Expr &condition) {
    if (condition.op() != symbolic::ExprOp::Eq)
      return false;
    for (int side : {0, 1}) {
      const Expr &rest = condition.operands()[size_t(side)];
      if (rest.op() != symbolic::ExprOp::Mod || condition.operands()[size_t(1 - side)] != Expr(0))
        continue;
      const Expr &symbol = rest.operands()[0];
      auto divisor = rest.operands()[1].constant();
      if (symbol.op() != symbolic::ExprOp::Symbol || !divisor || *divisor <= 0)
        continue;
      symbolic::SymbolInfo info = *tracer.symbols().find(symbol.symbolName());
      info.divisor = std::lcm(info.divisor, *divisor);
      tracer.program.symbols.declare(symbol.symbolName(), info);
      return true;
    }
    return false;
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
};

} // namespace

void applyGuards(const Archive &archive, const ArchiveScope &scope, Tracer &tracer,
                 h::Interpreter &interpreter, const TraceOptions &options) {
  GuardReader(archive, scope, tracer, interpreter, options).run();
}

} // namespace pellucid::trace
