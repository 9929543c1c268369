// SPDX-License-Identifier: Apache-2.0
#include "trace/LaunchVariants.h"

#include "trace/GuardedPaths.h"
#include "trace/TensorObject.h"

#include <functional>
#include <map>
#include <set>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

constexpr size_t mostVariants = 256, mostPaths = 4096;
constexpr int64_t mostSizes = 65536;

using Variants = std::vector<std::pair<Expr, BoundLaunch>>;
using BinaryRule = Expr (*)(const Expr &, const Expr &);

BinaryRule operatorOf(symbolic::ExprOp op) {
  using symbolic::ExprOp;
  switch (op) {
  case ExprOp::Add:
    return [](const Expr &a, const Expr &b) { return a + b; };
  case ExprOp::Mul:
    return [](const Expr &a, const Expr &b) { return a * b; };
  case ExprOp::FloorDiv:
    return symbolic::floorDiv;
  case ExprOp::Mod:
    return symbolic::mod;
  case ExprOp::CeilDiv:
    return symbolic::ceilDiv;
  case ExprOp::Min:
    return symbolic::min;
  case ExprOp::Max:
    return symbolic::max;
  default:
    return nullptr;
  }
}

/// While it lives, conditions that cannot be proved are answered by the path.
struct FollowPath {
  FollowPath(Tracer &t, DecisionPath &path) : tracer(t), outer(t.path) { tracer.path = &path; }
  ~FollowPath() { tracer.path = outer; }
  Tracer &tracer;
  DecisionPath *outer;
};

class VariantFinder {
public:
  VariantFinder(Tracer &t, h::Interpreter &i, const LaunchBinder &b)
      : tracer(t), interpreter(i), binder(b), kernel(*b.given().kernel) {}

  Variants run() {
    try {
      return followPaths();
    } catch (const DiagnosticError &) {
      // What cannot be said of symbols (a float of a size) can be said of every number.
      std::optional<std::string> symbol = onlySymbolAskedFor();
      if (!symbol)
        throw;
      const symbolic::Range range = tracer.symbols().find(*symbol)->range;
      if (range.max - range.min >= mostSizes)
        throw;
      return enumerate(*symbol, range);
    }
  }

private:
  // --- one variant per way that the decorators can go

  /// A constexpr or option as a constant: the path decides which of its possible values it has.
  h::Value settled(const std::string &name, const h::Value &raw) {
    h::Value value = h::unwrapConstexpr(raw);
    if (value.isSymBool())
      return h::Value(interpreter.truth(value));
    if (value.isTuple() && h::isSymbolic(value)) {
      h::Tuple elements;
      for (const h::Value &element : value.tuple())
        elements.push_back(settled(name, element));
      return h::Value::tuple(std::move(elements));
    }
    if (!value.isSymInt())
      return raw;
    Expr expr = resolved(value.symInt());
    auto values = possibleValues(expr, tracer.symbols());
    if (!values || values->empty())
      binder.refuse("constexpr '" + name + "' of '" + kernel.name() +
                    "' has too many values over the dynamic dims: " + expr.text() +
                    "; make the dims static or pass it as an ordinary argument");
    return h::Value(valueOnPath(expr, *values));
  }

  int64_t valueOnPath(const Expr &expr, const std::set<int64_t> &values) {
    for (int64_t candidate : values)
      if (candidate == *values.rbegin() ||
          interpreter.truth(h::Value::condition(symbolic::equal(expr, candidate))))
        return candidate;
    return *values.rbegin();
  }

  /// `expr` without its selections and powers of two: the path decides them.
  Expr resolved(const Expr &expr) {
    const std::vector<Expr> &operands = expr.operands();
    if (expr.op() == symbolic::ExprOp::Select)
      return resolved(interpreter.truth(h::Value::condition(operands[0])) ? operands[1]
                                                                          : operands[2]);
    if (expr.op() == symbolic::ExprOp::NextPowerOf2) {
      Expr power = symbolic::nextPowerOf2(resolved(operands[0]));
      return valueOnPath(power, possibleValues(power, tracer.symbols()).value());
    }
    auto join = operatorOf(expr.op());
    if (!join)
      return expr;
    Expr result = resolved(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i)
      result = join(result, resolved(operands[i]));
    return result;
  }

  BoundLaunch settledLaunch() {
    BoundLaunch done = binder.decorated(binder.given());
    for (const auto &parameter : kernel.parameters)
      if (parameter.isConstexpr)
        done.values[parameter.name] = settled(parameter.name, done.values.at(parameter.name));
    for (auto &[name, value] : done.options)
      value = settled(name, value);
    return done;
  }

  /// One run of the decorators along `path`; nullopt where no size goes that way.
  std::optional<BoundLaunch> along(DecisionPath &path) {
    FollowPath scope(tracer, path);
    try {
      BoundLaunch done = settledLaunch();
      return canHold(path.guard(), tracer.symbols()) ? std::optional(std::move(done))
                                                     : std::nullopt;
    } catch (const DiagnosticError &) {
      if (canHold(path.guard(), tracer.symbols()))
        throw;
      return std::nullopt;
    }
  }

  Variants followPaths() {
    Variants groups;
    std::map<std::string, size_t> groupOf;
    DecisionPath path;
    size_t paths = 0;
    do {
      std::optional<BoundLaunch> done = along(path);
      if (!done)
        continue;
      // Nothing was asked of sizes: there is no other way.
      if (path.guard().constant() == 1) {
        groups.clear();
        groups.emplace_back(Expr(1), std::move(*done));
        return groups;
      }
      auto [entry, isNew] = groupOf.try_emplace(signatureOf(*done), groups.size());
      if (isNew)
        groups.emplace_back(path.guard(), std::move(*done));
      else
        groups[entry->second].first =
            symbolic::logicalOr(groups[entry->second].first, path.guard());
      checkCount(groups);
    } while (path.advance() && ++paths < mostPaths);
    if (paths == mostPaths)
      binder.refuse("the decorators of '" + kernel.name() + "' can go more than " +
                    std::to_string(mostPaths) +
                    " ways over the dynamic dims; make some of them static");
    if (groups.size() == 1)
      groups[0].first = 1;
    return groups;
  }

  void checkCount(const Variants &groups) {
    if (groups.size() > mostVariants)
      binder.refuse("'" + kernel.name() + "' needs more than " + std::to_string(mostVariants) +
                    " variants over the dynamic dims; make some of them static");
  }

  /// What tells variants apart: constants, options, and what the decorators set of the rest.
  std::string signatureOf(const BoundLaunch &launch) {
    std::string text;
    for (const auto &parameter : kernel.parameters) {
      const h::Value &value = launch.values.at(parameter.name);
      if (parameter.isConstexpr || !binder.given().values.count(parameter.name))
        text += parameter.name + "=" + h::repr(value) + ";";
    }
    for (const auto &[name, value] : launch.options)
      text += name + "=" + h::repr(value) + ";";
    if (launch.config)
      text += launch.config->repr();
    return text;
  }

  // --- one variant per value of a dynamic dimension

  /// The one dynamic dim that the decorators look at: one more is fixed at each try until they
  /// finish.
  std::optional<std::string> onlySymbolAskedFor() {
    std::set<std::string> chosen;
    while (true) {
      std::map<std::string, Expr> numbers;
      for (const std::string &symbol : chosen)
        numbers.emplace(symbol, tracer.symbols().find(symbol)->range.min);
      std::set<std::string> asked;
      try {
        askedWith(numbers, asked);
      } catch (const DiagnosticError &) {
        std::set<std::string> candidates = symbolsSeen();
        return candidates.size() == 1 ? std::optional(*candidates.begin()) : std::nullopt;
      }
      size_t before = chosen.size();
      chosen.insert(asked.begin(), asked.end());
      if (chosen.size() == before || chosen.size() > 1)
        break;
    }
    return chosen.size() == 1 ? std::optional(*chosen.begin()) : std::nullopt;
  }

  /// The dynamic dims that constexprs, options, heuristics or tuning hooks may look at.
  std::set<std::string> symbolsSeen() {
    std::set<std::string> names;
    std::function<void(const h::Value &)> add = [&](const h::Value &value) {
      if (value.isSequence())
        for (const h::Value &element : value.elements())
          add(element);
      if (value.isSymInt())
        for (const std::string &symbol : value.symInt().symbols())
          names.insert(symbol);
      if (auto *tensor = value.as<TensorObject>())
        for (const Expr &size : tensor->tensor.type.shape)
          for (const std::string &symbol : size.symbols())
            names.insert(symbol);
    };
    const BoundLaunch &given = binder.given();
    for (const auto &parameter : kernel.parameters)
      if (auto entry = given.values.find(parameter.name); entry != given.values.end())
        if (parameter.isConstexpr || binder.hasHooks())
          add(entry->second);
    for (const auto &[name, value] : given.options)
      add(value);
    return names;
  }

  h::Value substituted(const h::Value &value, const std::map<std::string, Expr> &numbers) {
    if (value.isSymInt())
      return h::Value::integer(symbolic::substitute(value.symInt(), numbers));
    if (value.isSymBool())
      return h::Value::condition(symbolic::substitute(value.symBool(), numbers));
    if (value.isTuple()) {
      h::Tuple elements;
      for (const h::Value &element : value.tuple())
        elements.push_back(substituted(element, numbers));
      return h::Value::tuple(std::move(elements));
    }
    if (auto *tensor = value.as<TensorObject>()) {
      TracedTensor copy = tensor->tensor;
      for (std::vector<Expr> *list : {&copy.type.shape, &copy.type.strides})
        for (Expr &e : *list)
          e = symbolic::substitute(e, numbers);
      return tensorValue(tracer, copy);
    }
    return value;
  }

  /// Decorates with these sizes and collects the symbols that a branch or a constant still asks
  /// for; nullopt when there are some.
  std::optional<BoundLaunch> askedWith(const std::map<std::string, Expr> &numbers,
                                       std::set<std::string> &asked) {
    struct Probe {
      std::set<std::string> *&slot;
      ~Probe() { slot = nullptr; }
    } probe{tracer.askedSymbols};
    tracer.askedSymbols = &asked;
    BoundLaunch concrete = binder.given();
    for (auto *named : {&concrete.values, &concrete.options})
      for (auto &[name, value] : *named)
        value = substituted(value, numbers);
    try {
      BoundLaunch done = binder.decorated(std::move(concrete));
      std::function<void(const h::Value &)> note = [&](const h::Value &value) {
        h::Value plain = h::unwrapConstexpr(value);
        if (plain.isTuple())
          for (const h::Value &element : plain.tuple())
            note(element);
        if (plain.isSymInt() || plain.isSymBool())
          for (const std::string &symbol :
               (plain.isSymInt() ? plain.symInt() : plain.symBool()).symbols())
            asked.insert(symbol);
      };
      for (const auto &parameter : kernel.parameters)
        if (parameter.isConstexpr)
          note(done.values.at(parameter.name));
      for (const auto &[name, value] : done.options)
        note(value);
      return asked.empty() ? std::optional(std::move(done)) : std::nullopt;
    } catch (const UndecidedCondition &) {
      return std::nullopt;
    }
  }

  struct Interval {
    int64_t low, high;
  };

  Variants enumerate(const std::string &symbol, symbolic::Range range) {
    Variants groups;
    std::vector<std::vector<Interval>> intervals;
    std::map<std::string, size_t> groupOf;
    for (int64_t value = range.min; value <= range.max; ++value) {
      std::set<std::string> asked;
      std::optional<BoundLaunch> done = askedWith({{symbol, Expr(value)}}, asked);
      if (!done)
        binder.refuse("the decorators of '" + kernel.name() + "' depend on '" + symbol + "' and '" +
                      *asked.begin() +
                      "' in a way that only numbers decide; make one "
                      "of them static");
      auto [entry, isNew] = groupOf.try_emplace(signatureOf(*done), groups.size());
      if (isNew) {
        groups.emplace_back(Expr(0), withGivenArguments(std::move(*done)));
        intervals.emplace_back();
        checkCount(groups);
      }
      std::vector<Interval> &own = intervals[entry->second];
      if (!own.empty() && own.back().high == value - 1)
        own.back().high = value;
      else
        own.push_back({value, value});
    }
    for (size_t i = 0; i < groups.size(); ++i)
      groups[i].first = groups.size() == 1 ? Expr(1) : within(Expr::symbol(symbol), intervals[i]);
    return groups;
  }

  static Expr within(const Expr &s, const std::vector<Interval> &intervals) {
    Expr guard = 0;
    for (const auto &[low, high] : intervals)
      guard = symbolic::logicalOr(
          guard, symbolic::logicalAnd(symbolic::lessEqual(low, s), symbolic::lessEqual(s, high)));
    return guard;
  }

  /// Sizes that need not be constant are passed as they are.
  BoundLaunch withGivenArguments(BoundLaunch launch) {
    for (const auto &parameter : kernel.parameters)
      if (auto original = binder.given().values.find(parameter.name);
          !parameter.isConstexpr && original != binder.given().values.end())
        launch.values[parameter.name] = original->second;
    return launch;
  }

  Tracer &tracer;
  h::Interpreter &interpreter;
  const LaunchBinder &binder;
  const h::JitFunction &kernel;
};

} // namespace

Variants launchVariants(Tracer &tracer, h::Interpreter &interpreter, const LaunchBinder &binder) {
  return VariantFinder(tracer, interpreter, binder).run();
}

std::vector<Expr> sizesOverRange(Tracer &tracer,
                                 const std::function<std::vector<Expr>()> &function) {
  std::vector<std::pair<Expr, std::vector<Expr>>> ways;
  DecisionPath path;
  size_t paths = 0;
  do {
    FollowPath scope(tracer, path);
    try {
      std::vector<Expr> sizes = function();
      if (canHold(path.guard(), tracer.symbols()))
        ways.emplace_back(path.guard(), std::move(sizes));
    } catch (const DiagnosticError &) {
      if (canHold(path.guard(), tracer.symbols())) {
        ways.clear();
        break;
      }
    }
  } while (path.advance() && ++paths < mostVariants);
  if (ways.empty() || paths == mostVariants)
    return function();
  std::vector<Expr> sizes = std::move(ways.back().second);
  ways.pop_back();
  for (const auto &[guard, other] : ways)
    for (size_t d = 0; d < sizes.size(); ++d)
      sizes[d] = symbolic::select(guard, other[d], sizes[d]);
  return sizes;
}

} // namespace pellucid::trace
