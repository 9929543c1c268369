// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ElementFacts.h"

#include "support/Diagnostics.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace pellucid::passes {

using namespace graph;
using symbolic::Expr;
using Kind = ElementFacts::Kind;
using Exprs = std::vector<Expr>;

namespace {

bool isZero(const Expr &expr) { return expr.constant() == 0; }
bool isOneElement(const Expr &expr) { return expr.constant() == 1; }

CountedNumber constant(const Expr &value, size_t rank) { return {value, Exprs(rank, Expr(0))}; }

CountedNumber plus(const CountedNumber &a, const CountedNumber &b, const Expr &factor) {
  CountedNumber sum{a.base + b.base * factor, {}};
  for (size_t d = 0; d < a.steps.size(); ++d)
    sum.steps.push_back(a.steps[d] + b.steps[d] * factor);
  return sum;
}

bool isConstant(const CountedNumber &number) {
  return std::all_of(number.steps.begin(), number.steps.end(), isZero);
}

/// Every number of it by `change`.
ElementFacts mapped(ElementFacts facts, auto change) {
  if (facts.kind == Kind::Number)
    change(facts.number);
  for (CountedNumber &one : facts.holds)
    change(one);
  return facts;
}

bool isOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

const ElementFacts *ElementAnalysis::of(const Value *value) {
  if (!value || !value->isTensor())
    return nullptr;
  auto entry = known.find(value);
  if (entry == known.end()) {
    // Operators that make long chains of one another stand in the order of the graph.
    std::vector<const Value *> open{value};
    std::set<const Value *> entered;
    while (!open.empty()) {
      const Value *next = open.back();
      const Node *node = next->producer();
      if (known.count(next) || !node || node->resultCount() != 1) {
        known.try_emplace(next);
        open.pop_back();
        continue;
      }
      if (entered.insert(next).second) {
        node->forEachOperand([&](const Value *one) {
          if (one->isTensor() && !known.count(one))
            open.push_back(one);
        });
        continue;
      }
      known[next] = find(*node);
      open.pop_back();
    }
    entry = known.find(value);
  }
  return entry->second ? &*entry->second : nullptr;
}

ElementAnalysis::Found ElementAnalysis::find(const Node &node) {
  if (!node.isCall() || node.isLaunch() || !node.regions.empty())
    return std::nullopt;
  const Operator *op = registry.find(node.target());
  if (!op || !op->pure)
    return std::nullopt;
  try {
    auto call = callOf(node, registry, symbols);
    const TensorType &type = node.result()->type();
    Found found = call ? ofOperator(*call, type) : std::nullopt;
    if (!found)
      return std::nullopt;
    return mapped(std::move(*found), [&](CountedNumber &number) {
      for (size_t d = 0; d < type.rank(); ++d)
        if (isOneElement(type.shape[d]))
          number.steps[d] = 0;
    });
  } catch (const DiagnosticError &) {
    return std::nullopt;
  } catch (const std::overflow_error &) {
    return std::nullopt;
  }
}

ElementAnalysis::Found ElementAnalysis::ofOperator(const OperatorCall &call,
                                                   const TensorType &type) {
  std::string_view name = call.op.schema.name;
  if (isOf(name, {"arange", "full", "ones", "zeros", "scalar_tensor", "new_ones", "new_zeros",
                  "new_full", "ones_like", "zeros_like", "full_like", "fill"}))
    return ofFactory(call, type);
  if (isOf(name, {"alias", "detach", "clone", "contiguous", "expand", "unsqueeze", "squeeze",
                  "transpose", "permute"}))
    return ofView(call, type);
  if (isOf(name, {"slice", "narrow", "select"}))
    return ofSlice(call, type);
  if (isOf(name, {"view", "reshape"}))
    return ofReshape(call, type);
  if (isOf(name, {"to", "_to_copy"}))
    return ofCast(call, type);
  if (isOf(name, {"add", "sub", "rsub", "mul"}))
    return ofArithmetic(call, type);
  if (isOf(name, {"le", "lt", "ge", "gt", "eq", "ne"}))
    return ofComparison(call, type);
  if (isOf(name, {"bitwise_and", "bitwise_or", "bitwise_not", "logical_and", "logical_or",
                  "logical_not"}))
    return ofLogic(call, type);
  if (isOf(name, {"where", "masked_fill"}))
    return ofSelection(call, type);
  if (name == "cat")
    return ofJoin(call, type);
  if (name == "index")
    return ofLookup(call, type);
  return name == "cumsum" ? ofSums(call, type) : std::nullopt;
}

std::optional<ElementAnalysis::Bounds> ElementAnalysis::bounds(const CountedNumber &number,
                                                               const Exprs &shape) const {
  Bounds found{number.base, number.base};
  for (size_t d = 0; d < shape.size(); ++d) {
    symbolic::Range range = symbols.range(number.steps[d]);
    Expr farthest = number.steps[d] * (shape[d] - 1);
    if (range.min >= 0)
      found.most = found.most + farthest;
    else if (range.max <= 0)
      found.least = found.least + farthest;
    else
      return std::nullopt;
  }
  return found;
}

/// A result that its type holds.
ElementAnalysis::Found ElementAnalysis::fitting(CountedNumber number,
                                                const TensorType &type) const {
  if (type.dtype != DataType::Int64 && type.dtype != DataType::Int32)
    return std::nullopt;
  auto range = bounds(number, type.shape);
  if (!range)
    return std::nullopt;
  int64_t least = symbols.range(range->least).min, most = symbols.range(range->most).max;
  bool isShort = type.dtype == DataType::Int32;
  if (isShort ? least < INT32_MIN || most > INT32_MAX : least == INT64_MIN || most == INT64_MAX)
    return std::nullopt;
  ElementFacts facts;
  facts.number = std::move(number);
  return facts;
}

ElementFacts ElementAnalysis::truth(CountedNumber atLeastZero, const Exprs &shape) const {
  ElementFacts facts;
  facts.kind = Kind::Truth;
  auto range = bounds(atLeastZero, shape);
  if (range && symbols.range(range->least).min >= 0)
    return facts;
  facts.never = range && symbols.range(range->most).max < 0;
  if (!facts.never)
    facts.holds.push_back(std::move(atLeastZero));
  return facts;
}

ElementAnalysis::Found ElementAnalysis::negated(const ElementFacts &facts) const {
  ElementFacts other;
  other.kind = Kind::Truth;
  if (facts.kind != Kind::Truth || facts.holds.size() > 1)
    return std::nullopt;
  if (facts.never)
    return other;
  if (facts.holds.empty()) {
    other.never = true;
    return other;
  }
  // a < 0 is -a - 1 >= 0.
  const CountedNumber &one = facts.holds[0];
  other.holds.push_back(plus(constant(-1, one.steps.size()), one, -1));
  return other;
}

ElementFacts ElementAnalysis::broadcast(const ElementFacts &facts, const Exprs &from,
                                        const Exprs &to) const {
  return mapped(facts, [&](CountedNumber &number) {
    Exprs steps(to.size() - from.size(), Expr(0));
    for (size_t d = 0; d < from.size(); ++d)
      steps.push_back(isOneElement(from[d]) ? Expr(0) : number.steps[d]);
    number.steps = std::move(steps);
  });
}

ElementAnalysis::Found ElementAnalysis::operand(const OperatorCall &call, std::string_view name,
                                                const Exprs &shape) {
  const Argument &argument = call.at(name);
  if (const Value *value = argument.value()) {
    const ElementFacts *facts = of(value);
    if (!facts || value->type().rank() > shape.size())
      return std::nullopt;
    return broadcast(*facts, value->type().shape, shape);
  }
  ElementFacts facts;
  if (auto flag = argument.as<bool>()) {
    facts.kind = Kind::Truth;
    facts.never = !*flag;
  } else if (auto integer = argument.integer()) {
    facts.number = constant(*integer, shape.size());
  } else if (auto number = argument.number()) {
    facts.kind = Kind::Choice;
    facts.yes = facts.no = *number;
  } else {
    return std::nullopt;
  }
  return facts;
}

std::optional<CountedNumber> ElementAnalysis::counted(const Found &facts) const {
  if (facts && facts->kind == Kind::Number)
    return facts->number;
  return std::nullopt;
}

ElementAnalysis::Found ElementAnalysis::ofFactory(const OperatorCall &call,
                                                  const TensorType &type) {
  std::string_view name = call.op.schema.name;
  if (name == "arange") {
    bool hasStart = call.op.schema.indexOf("start").has_value();
    bool hasStep = call.op.schema.indexOf("step").has_value();
    auto start = hasStart ? call.at("start").integer() : Expr(0);
    auto step = hasStep ? call.at("step").integer() : Expr(1);
    return start && step ? fitting({*start, {*step}}, type) : std::nullopt;
  }
  Argument filled = name.find("ones") != std::string_view::npos    ? Argument(1)
                    : name.find("zeros") != std::string_view::npos ? Argument(0)
                    : name == "scalar_tensor"                      ? call.at("s")
                    : name == "fill"                               ? call.at("value")
                                                                   : call.at("fill_value");
  if (filled.value())
    return std::nullopt;
  ElementFacts facts;
  if (isFloat(type.dtype)) {
    auto number = filled.number();
    facts.kind = Kind::Choice;
    facts.yes = facts.no = number.value_or(0);
    return number ? Found(facts) : std::nullopt;
  }
  auto integer = filled.integer();
  if (!integer)
    return std::nullopt;
  if (type.dtype != DataType::Bool)
    return fitting(constant(*integer, type.rank()), type);
  if (!integer->constant())
    return std::nullopt;
  facts.kind = Kind::Truth;
  facts.never = integer->constant() == 0;
  return facts;
}

ElementAnalysis::Found ElementAnalysis::ofView(const OperatorCall &call, const TensorType &type) {
  std::string_view name = call.op.schema.name;
  const ElementFacts *facts = of(call.value("self"));
  if (!facts)
    return std::nullopt;
  const Exprs &from = call.tensor("self").shape;
  if (name == "expand")
    return broadcast(*facts, from, type.shape);
  if (name == "unsqueeze" || name == "squeeze")
    return ofReshape(call, type);
  std::vector<size_t> order;
  for (size_t d = 0; d < from.size(); ++d)
    order.push_back(d);
  if (name == "transpose" && !from.empty())
    std::swap(order[static_cast<size_t>(call.dim("dim0", from.size()))],
              order[static_cast<size_t>(call.dim("dim1", from.size()))]);
  if (name == "permute") {
    std::vector<int64_t> dims = call.constants("dims");
    for (size_t d = 0; d < order.size(); ++d)
      order[d] =
          static_cast<size_t>(dims[d] < 0 ? dims[d] + static_cast<int64_t>(from.size()) : dims[d]);
  }
  return mapped(*facts, [&](CountedNumber &number) {
    Exprs steps;
    for (size_t d : order)
      steps.push_back(number.steps[d]);
    number.steps = std::move(steps);
  });
}

/// Dims of one element come and go; all others stay what they are.
ElementAnalysis::Found ElementAnalysis::ofReshape(const OperatorCall &call,
                                                  const TensorType &type) {
  const ElementFacts *facts = of(call.value("self"));
  if (!facts)
    return std::nullopt;
  const Exprs &from = call.tensor("self").shape;
  auto longer = [](const Exprs &shape) {
    std::vector<size_t> dims;
    for (size_t d = 0; d < shape.size(); ++d)
      if (!isOneElement(shape[d]))
        dims.push_back(d);
    return dims;
  };
  std::vector<size_t> before = longer(from), after = longer(type.shape);
  if (before.size() != after.size())
    return std::nullopt;
  for (size_t i = 0; i < before.size(); ++i)
    if (!symbols.proveEqual(from[before[i]], type.shape[after[i]]))
      return std::nullopt;
  return mapped(*facts, [&](CountedNumber &number) {
    Exprs steps(type.rank(), Expr(0));
    for (size_t i = 0; i < before.size(); ++i)
      steps[after[i]] = number.steps[before[i]];
    number.steps = std::move(steps);
  });
}

ElementAnalysis::Found ElementAnalysis::ofSlice(const OperatorCall &call, const TensorType &type) {
  std::string_view name = call.op.schema.name;
  const ElementFacts *facts = of(call.value("self"));
  if (!facts)
    return std::nullopt;
  const Exprs &from = call.tensor("self").shape;
  auto dim = static_cast<size_t>(call.dim("dim", from.size()));
  const Argument &argument = call.at(name == "select" ? "index" : "start");
  Expr start = argument.isNone() ? Expr(0) : argument.integer().value_or(Expr(-1));
  Expr step = name == "slice" ? call.integer("step") : Expr(1);
  // Counted from the end, or cut off at it, it is not what stands there.
  if (symbols.range(start).min < 0 || symbols.range(from[dim] - start).min < 0)
    return std::nullopt;
  return mapped(*facts, [&](CountedNumber &number) {
    number.base = number.base + number.steps[dim] * start;
    number.steps[dim] = number.steps[dim] * step;
    if (name == "select")
      number.steps.erase(number.steps.begin() + static_cast<std::ptrdiff_t>(dim));
  });
}

ElementAnalysis::Found ElementAnalysis::ofCast(const OperatorCall &call, const TensorType &type) {
  const ElementFacts *facts = of(call.value("self"));
  if (!facts)
    return std::nullopt;
  DataType from = call.tensor("self").dtype;
  if (from == type.dtype)
    return *facts;
  if (facts->kind == Kind::Number && isInteger(type.dtype))
    return fitting(facts->number, type);
  // Zeros and infinities stay what they are; large numbers stay large or become infinite.
  if (facts->kind == Kind::Choice && isFloat(type.dtype) && byteSize(type.dtype) >= 2)
    return *facts;
  return std::nullopt;
}

ElementAnalysis::Found ElementAnalysis::ofArithmetic(const OperatorCall &call,
                                                     const TensorType &type) {
  auto a = counted(operand(call, "self", type.shape));
  auto b = counted(operand(call, "other", type.shape));
  if (!a || !b)
    return std::nullopt;
  std::string_view name = call.op.schema.name;
  if (name == "mul") {
    if (!isConstant(*a))
      std::swap(a, b);
    return isConstant(*a) ? fitting(plus(constant(0, type.rank()), *b, a->base), type)
                          : std::nullopt;
  }
  if (call.at("alpha").integer() != Expr(1))
    return std::nullopt;
  if (name == "rsub")
    std::swap(a, b);
  return fitting(plus(*a, *b, name == "add" ? 1 : -1), type);
}

ElementAnalysis::Found ElementAnalysis::ofComparison(const OperatorCall &call,
                                                     const TensorType &type) {
  std::string_view name = call.op.schema.name;
  auto a = counted(operand(call, "self", type.shape));
  auto b = counted(operand(call, "other", type.shape));
  if (!a || !b)
    return std::nullopt;
  CountedNumber less = constant(-1, type.rank());
  CountedNumber upwards = plus(*b, *a, -1), downwards = plus(*a, *b, -1);
  if (name == "le")
    return truth(upwards, type.shape);
  if (name == "ge")
    return truth(downwards, type.shape);
  if (name == "lt")
    return truth(plus(upwards, less, 1), type.shape);
  if (name == "gt")
    return truth(plus(downwards, less, 1), type.shape);
  ElementFacts equal = truth(upwards, type.shape), other = truth(downwards, type.shape);
  equal.never |= other.never;
  equal.holds.insert(equal.holds.end(), other.holds.begin(), other.holds.end());
  if (equal.never)
    equal.holds.clear();
  return name == "eq" ? Found(equal) : negated(equal);
}

ElementAnalysis::Found ElementAnalysis::ofLogic(const OperatorCall &call, const TensorType &type) {
  std::string_view name = call.op.schema.name;
  if (type.dtype != DataType::Bool)
    return std::nullopt;
  Found a = operand(call, "self", type.shape);
  if (!a || a->kind != Kind::Truth)
    return std::nullopt;
  if (name.ends_with("not"))
    return negated(*a);
  Found b = operand(call, "other", type.shape);
  if (!b || b->kind != Kind::Truth)
    return std::nullopt;
  if (name.ends_with("or")) {
    if (a->isAlways() || b->never)
      return a;
    return b->isAlways() || a->never ? b : std::nullopt;
  }
  a->never |= b->never;
  a->holds.insert(a->holds.end(), b->holds.begin(), b->holds.end());
  if (a->never)
    a->holds.clear();
  return a;
}

/// Two numbers, one where something holds, the other elsewhere.
ElementAnalysis::Found ElementAnalysis::ofSelection(const OperatorCall &call,
                                                    const TensorType &type) {
  bool isFill = call.op.schema.name == "masked_fill";
  if (!isFloat(type.dtype))
    return std::nullopt;
  Found condition = operand(call, isFill ? "mask" : "condition", type.shape);
  Found yes = operand(call, isFill ? "value" : "self", type.shape);
  Found no = operand(call, isFill ? "self" : "other", type.shape);
  auto number = [](const Found &facts) -> std::optional<double> {
    if (!facts)
      return std::nullopt;
    if (facts->kind == Kind::Choice && facts->yes == facts->no)
      return facts->yes;
    if (facts->kind == Kind::Number && isConstant(facts->number) && facts->number.base.constant())
      return static_cast<double>(*facts->number.base.constant());
    return std::nullopt;
  };
  std::optional<double> one = number(yes), other = number(no);
  if (!condition || condition->kind != Kind::Truth || !one || !other)
    return std::nullopt;
  condition->kind = Kind::Choice;
  condition->yes = *one;
  condition->no = *other;
  return condition;
}

/// Parts that go on where the one before ends.
ElementAnalysis::Found ElementAnalysis::ofJoin(const OperatorCall &call, const TensorType &type) {
  auto dim = static_cast<size_t>(call.dim("dim", type.rank()));
  std::optional<CountedNumber> whole;
  struct Part {
    CountedNumber number;
    Expr at, size;
  };
  std::vector<Part> parts;
  Expr at = 0;
  for (const Value *value : call.tensors("tensors")) {
    const ElementFacts *facts = of(value);
    if (!facts || facts->kind != Kind::Number || value->type().rank() != type.rank() ||
        value->type().dtype != type.dtype)
      return std::nullopt;
    Expr size = value->type().shape[dim];
    parts.push_back({facts->number, at, size});
    if (!whole && !isOneElement(size)) {
      whole = facts->number;
      whole->base = whole->base - whole->steps[dim] * at;
    }
    at = at + size;
  }
  if (!whole)
    return std::nullopt;
  for (const Part &part : parts) {
    CountedNumber expected = *whole;
    expected.base = expected.base + expected.steps[dim] * part.at;
    if (!(expected.base == part.number.base))
      return std::nullopt;
    for (size_t d = 0; d < type.rank(); ++d)
      if (!(d == dim && isOneElement(part.size)) && !(expected.steps[d] == part.number.steps[d]))
        return std::nullopt;
  }
  return fitting(*whole, type);
}

/// A number counted by numbers that are counted themselves.
ElementAnalysis::Found ElementAnalysis::ofLookup(const OperatorCall &call, const TensorType &type) {
  const ElementFacts *facts = of(call.value("self"));
  const Argument::List *indices = call.at("indices").list();
  const Exprs &from = call.tensor("self").shape;
  if (!facts || facts->kind == Kind::Choice || !indices || indices->size() > from.size())
    return std::nullopt;
  size_t looked = indices->size(), kept = from.size() - looked;
  Exprs places(type.shape.begin(), type.shape.end() - static_cast<std::ptrdiff_t>(kept));
  std::vector<CountedNumber> numbers;
  for (size_t d = 0; d < looked; ++d) {
    const Value *index = (*indices)[d].value();
    const ElementFacts *one = index ? of(index) : nullptr;
    if (!one || one->kind != Kind::Number || index->type().rank() > places.size())
      return std::nullopt;
    CountedNumber number = broadcast(*one, index->type().shape, places).number;
    auto range = bounds(number, places);
    // What is not there fails when the program runs.
    if (!range || symbols.range(range->least).min < 0 ||
        symbols.range(from[d] - 1 - range->most).min < 0)
      return std::nullopt;
    numbers.push_back(std::move(number));
  }
  return mapped(*facts, [&](CountedNumber &number) {
    CountedNumber found = constant(number.base, places.size());
    for (size_t d = 0; d < looked; ++d)
      found = plus(found, numbers[d], number.steps[d]);
    found.steps.insert(found.steps.end(),
                       number.steps.begin() + static_cast<std::ptrdiff_t>(looked),
                       number.steps.end());
    number = std::move(found);
  });
}

/// Sums of one number.
ElementAnalysis::Found ElementAnalysis::ofSums(const OperatorCall &call, const TensorType &type) {
  const ElementFacts *facts = of(call.value("self"));
  if (!facts || type.rank() == 0)
    return std::nullopt;
  Expr each = 0;
  if (facts->kind == Kind::Truth && (facts->isAlways() || facts->never))
    each = facts->never ? 0 : 1;
  else if (facts->kind == Kind::Number && isConstant(facts->number))
    each = facts->number.base;
  else
    return std::nullopt;
  CountedNumber sums = constant(each, type.rank());
  sums.steps[static_cast<size_t>(call.dim("dim", type.rank()))] = each;
  return fitting(std::move(sums), type);
}

} // namespace pellucid::passes
