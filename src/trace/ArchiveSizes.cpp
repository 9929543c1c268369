// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveSizes.h"

#include "archive/SymbolicText.h"
#include "graph/HostSteps.h"
#include "support/Diagnostics.h"
#include "symbolic/Linear.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
using package::JsonWriter;
using symbolic::ExprOp;

static std::map<std::string, SizeSource> sourcesOf(const Program &program, const Graph &graph) {
  std::map<std::string, SizeSource> sources;
  std::vector<Node *> placeholders = graph.placeholders();
  bool isMain = &graph == &program.main;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    if ((isMain && program.inputs[i].kind != InputSpec::Kind::UserInput) ||
        !placeholders[i]->resultCount() || !placeholders[i]->result()->isTensor())
      continue;
    const TensorType &type = placeholders[i]->result()->type();
    for (size_t d = 0; d < type.rank(); ++d)
      for (const std::string &symbol : type.shape[d].symbols()) {
        auto linear = symbolic::linearIn(type.shape[d], symbol);
        if (!linear)
          continue;
        SizeSource source{placeholders[i]->name(), d, linear->factor, linear->offset, false};
        auto [known, isNew] = sources.try_emplace(symbol, source);
        if (!isNew && known->second.factor != 1 && source.factor == 1)
          known->second = source;
      }
  }
  return sources;
}

static void addSymbols(const Argument &argument, std::set<std::string> &symbols) {
  auto addAll = [&](const Expr &size) {
    for (std::string &name : size.symbols())
      symbols.insert(std::move(name));
  };
  if (const Argument::List *list = argument.list())
    for (const Argument &element : *list)
      addSymbols(element, symbols);
  else if (auto size = argument.as<Expr>())
    addAll(*size);
  else if (const Value *value = argument.value(); value && value->isSymInt())
    addAll(value->expr());
}

std::set<std::string> symbolsFromOutside(const Program &program, const Graph &region) {
  std::set<std::string> symbols;
  for (const Node &node : region) {
    for (const Argument &argument : node.args())
      addSymbols(argument, symbols);
    for (const auto &[name, argument] : node.kwargs())
      addSymbols(argument, symbols);
    for (uint32_t inner : node.regions)
      symbols.merge(symbolsFromOutside(program, program.bodies[inner].graph));
  }
  for (const auto &[symbol, source] : sourcesOf(program, region))
    symbols.erase(symbol);
  for (const Node &node : region)
    if (node.calls(readSizeTarget))
      symbols.erase(sizeReadOf(node).symbol);
  return symbols;
}

ArchiveSizes::ArchiveSizes(const Program &p, const Graph &g, const std::set<std::string> &reads)
    : program(p), graph(g) {
  size_t read = 0;
  for (const std::string &name : program.symbols.names()) {
    std::string shown = name;
    if (reads.count(name))
      shown = "u" + std::to_string(read++);
    else
      while (shown[0] == 'u' || shown[0] == 'z' || taken.count(shown))
        shown.insert(0, "s_");
    taken.insert(shown);
    symbols[name] = shown;
    renames.emplace(name, Expr::symbol(shown));
  }
  for (const Node &node : graph)
    for (size_t i = 0; i < node.resultCount(); ++i)
      taken.insert(node.result(i)->name());
  sources = sourcesOf(program, graph);
}

const SizeSource *ArchiveSizes::findSource(const std::string &symbol) const {
  auto source = sources.find(symbol);
  return source == sources.end() ? nullptr : &source->second;
}

std::string ArchiveSizes::sourceOf(const std::string &symbol) const {
  const SizeSource *source = findSource(symbol);
  if (!source || source->factor != 1 || source->offset != 0)
    return {};
  return "L['" + source->input + "'].size()[" + std::to_string(source->dim) + "]";
}

std::string ArchiveSizes::uniqueName(std::string hint) {
  std::replace_if(
      hint.begin(), hint.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_');
      },
      '_');
  if (hint.empty() || (hint[0] >= '0' && hint[0] <= '9'))
    hint.insert(0, "_");
  std::string name = hint;
  for (int &suffix = nextSuffix[hint]; !taken.insert(name).second;)
    name = hint + "_" + std::to_string(++suffix);
  return name;
}

Expr ArchiveSizes::renamed(const Expr &size) const { return substitute(size, renames); }

[[noreturn]] static void noWordFor(const SourceLocation &where, const std::string &what) {
  throw DiagnosticError(where, "an archive of torch.export has no word for the " + what +
                                   "; save a .program instead");
}

void ArchiveSizes::print(JsonWriter &json, const Expr &size) const {
  json.beginObject();
  if (auto value = size.constant()) {
    json.field("as_int", *value).endObject();
    return;
  }
  auto text = archive::printSymbolic(renamed(size));
  if (!text)
    noWordFor(SourceLocation("-o"), "size '" + size.text() + "'");
  json.key("as_expr").beginObject().field("expr_str", *text).key("hint");
  if (auto hint = program.symbols.hint(size))
    json.beginObject().field("as_int", *hint).endObject();
  else
    json.null();
  json.endObject().endObject();
}

void ArchiveSizes::printCondition(JsonWriter &json, const Expr &condition) const {
  auto text = archive::printSymbolicCondition(renamed(condition));
  if (!text)
    noWordFor(SourceLocation("-o"), "condition '" + condition.text() + "'");
  json.beginObject().key("as_expr").beginObject().field("expr_str", *text).key("hint").null();
  json.endObject().endObject();
}

/// What Python calls the operands.
static const char *operandName(std::string_view target, size_t index) {
  static constexpr const char *plain[] = {"a", "b"}, *sized[] = {"self", "dim"},
                              *choice[] = {"b", "t", "f"};
  return target == "torch.sym_ite"               ? choice[index]
         : target.starts_with("torch.ops.aten.") ? sized[index]
                                                 : plain[index];
}

/// A node that takes sizes and conditions and gives one; operands are Arguments in JSON.
static std::string numberNode(std::string_view target, const std::vector<std::string> &operands,
                              const char *kind, const std::string &name) {
  JsonWriter json;
  json.beginObject().field("target", target).key("inputs").beginArray();
  for (size_t i = 0; i < operands.size(); ++i) {
    json.beginObject().field("name", operandName(target, i)).key("arg").json(operands[i]);
    json.field("kind", 1).endObject();
  }
  json.endArray().key("outputs").beginArray().beginObject().key(kind).beginObject();
  json.field("as_name", name).endObject().endObject().endArray();
  json.key("metadata").beginObject().endObject().key("is_hop_single_tensor_return").null();
  return json.field("name", name).endObject().take();
}

std::string ArchiveSizes::compute(const char *target, std::vector<std::string> operands,
                                  const Expr &value, std::vector<std::string> &nodes) {
  std::string hint = std::string(target).substr(std::string(target).rfind('.') + 1);
  if (hint == "int")
    hint = "sym_size_int";
  if (hint == "default")
    hint = "item";
  std::string name = uniqueName(hint);
  nodes.push_back(numberNode(target, operands, "as_sym_int", name));
  values.emplace(name, value);
  return name;
}

std::string ArchiveSizes::computeCondition(const char *target, std::vector<std::string> operands,
                                           const Expr &value, std::vector<std::string> &nodes) {
  std::string name = uniqueName(std::string(target).substr(std::string(target).rfind('.') + 1));
  nodes.push_back(numberNode(target, operands, "as_sym_bool", name));
  conditions.emplace(name, value);
  return name;
}

static std::string constantArgument(const char *kind, auto value) {
  return JsonWriter().beginObject().field(kind, value).endObject().take();
}
static std::string integerArgument(int64_t value) { return constantArgument("as_int", value); }
static std::string namedArgument(const char *kind, const std::string &name) {
  JsonWriter json;
  json.beginObject().key(kind).beginObject().field("as_name", name);
  return json.endObject().endObject().take();
}
static std::string sizeArgument(const std::string &name) {
  return namedArgument("as_sym_int", name);
}
static std::string tensorArgumentText(const std::string &name) {
  JsonWriter json;
  json.beginObject().key("as_tensor").beginObject().field("name", name);
  return json.endObject().endObject().take();
}

std::string ArchiveSizes::operand(const Expr &size, std::vector<std::string> &nodes,
                                  const SourceLocation &where) {
  if (auto value = size.constant())
    return integerArgument(*value);
  return sizeArgument(nameOf(size, nodes, where));
}

std::string ArchiveSizes::conditionOperand(const Expr &condition, std::vector<std::string> &nodes,
                                           const SourceLocation &where) {
  if (auto value = condition.constant())
    return constantArgument("as_bool", *value != 0);
  return namedArgument("as_sym_bool", conditionNameOf(condition, nodes, where));
}

void ArchiveSizes::read(const std::string &symbol, const std::string &tensor,
                        std::vector<std::string> &nodes) {
  Expr value = Expr::symbol(symbol);
  names.insert_or_assign(
      value, compute("torch.ops.aten.item.default", {tensorArgumentText(tensor)}, value, nodes));
}

/// The input's size, or what solves `size = symbol * factor + offset`.
std::string ArchiveSizes::symbolValue(const std::string &symbol, std::vector<std::string> &nodes,
                                      const SourceLocation &where) {
  const SizeSource *source = findSource(symbol);
  if (!source)
    throw DiagnosticError(where, "no input has the size '" + symbol +
                                     "', from which an archive of torch.export would take it; save "
                                     "a .program instead");
  auto sizeOf = [&](size_t dim, const Expr &size) {
    return compute("torch.ops.aten.sym_size.int",
                   {tensorArgumentText(source->input), integerArgument(static_cast<int64_t>(dim))},
                   size, nodes);
  };
  Expr value = Expr::symbol(symbol) * source->factor + source->offset;
  if (source->isSigned) {
    std::string above = sizeOf(source->dim, max(value, 0)),
                below = sizeOf(source->dim + 1, max(-value, 0));
    return compute("_operator.sub", {sizeArgument(above), sizeArgument(below)}, value, nodes);
  }
  std::string name = sizeOf(source->dim, value);
  if (source->offset) {
    value = value - source->offset;
    name = compute("_operator.sub", {sizeArgument(name), integerArgument(source->offset)}, value,
                   nodes);
  }
  if (source->factor != 1)
    name = compute("_operator.floordiv", {sizeArgument(name), integerArgument(source->factor)},
                   Expr::symbol(symbol), nodes);
  return name;
}

std::string ArchiveSizes::chosen(const Expr &condition, const Expr &a, const Expr &b,
                                 const Expr &value, std::vector<std::string> &nodes,
                                 const SourceLocation &where) {
  std::string which = conditionOperand(condition, nodes, where), yes = operand(a, nodes, where),
              no = operand(b, nodes, where);
  return compute("torch.sym_ite", {which, yes, no}, value, nodes);
}

/// Of any number of operands, two at a time.
std::string ArchiveSizes::folded(const char *target, const Expr &size,
                                 std::vector<std::string> &nodes, const SourceLocation &where) {
  std::string name, total = operand(size.operands()[0], nodes, where);
  Expr value = size.operands()[0];
  for (size_t i = 1; i < size.operands().size(); ++i) {
    const Expr &next = size.operands()[i];
    value = size.op() == ExprOp::Add        ? value + next
            : size.op() == ExprOp::Mul      ? value * next
            : size.op() == ExprOp::FloorDiv ? floorDiv(value, next)
            : size.op() == ExprOp::Mod      ? mod(value, next)
            : size.op() == ExprOp::Min      ? min(value, next)
                                            : max(value, next);
    name = compute(target, {total, operand(next, nodes, where)}, value, nodes);
    total = sizeArgument(name);
  }
  return name;
}

std::string ArchiveSizes::nameOf(const Expr &size, std::vector<std::string> &nodes,
                                 const SourceLocation &where) {
  if (auto known = names.find(size); known != names.end())
    return known->second;
  std::string name;
  switch (size.op()) {
  case ExprOp::Symbol:
    name = symbolValue(size.symbolName(), nodes, where);
    break;
  case ExprOp::CeilDiv: {
    const Expr &a = size.operands()[0], &b = size.operands()[1];
    Expr negative = -a, quotient = floorDiv(negative, b);
    std::string below = operand(negative, nodes, where), by = operand(b, nodes, where);
    std::string rounded = compute("_operator.floordiv", {below, by}, quotient, nodes);
    name = compute("_operator.neg", {sizeArgument(rounded)}, size, nodes);
    break;
  }
  case ExprOp::Add:
    name = folded("_operator.add", size, nodes, where);
    break;
  case ExprOp::Mul:
    name = folded("_operator.mul", size, nodes, where);
    break;
  case ExprOp::FloorDiv:
    name = folded("_operator.floordiv", size, nodes, where);
    break;
  case ExprOp::Mod:
    name = folded("_operator.mod", size, nodes, where);
    break;
  case ExprOp::Min:
    name = folded("torch.sym_min", size, nodes, where);
    break;
  case ExprOp::Max:
    name = folded("torch.sym_max", size, nodes, where);
    break;
  case ExprOp::Select:
    name = chosen(size.operands()[0], size.operands()[1], size.operands()[2], size, nodes, where);
    break;
  case ExprOp::Eq:
  case ExprOp::Ne:
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Not:
    name = chosen(size, 1, 0, size, nodes, where);
    break;
  default:
    noWordFor(where, "number '" + size.text() + "'");
  }
  names.emplace(size, name);
  return name;
}

std::string ArchiveSizes::conditionNameOf(const Expr &condition, std::vector<std::string> &nodes,
                                          const SourceLocation &where) {
  if (auto known = conditionNames.find(condition); known != conditionNames.end())
    return known->second;
  const std::vector<Expr> &operands = condition.operands();
  auto compared = [&](const char *target, const Expr &a, const Expr &b) {
    std::string left = operand(a, nodes, where), right = operand(b, nodes, where);
    return computeCondition(target, {left, right}, condition, nodes);
  };
  auto joined = [&](const char *target, Expr (*join)(const Expr &, const Expr &)) {
    std::string name, total = conditionOperand(operands[0], nodes, where);
    Expr value = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) {
      value = join(value, operands[i]);
      name = computeCondition(target, {total, conditionOperand(operands[i], nodes, where)}, value,
                              nodes);
      total = namedArgument("as_sym_bool", name);
    }
    return name;
  };
  std::string name;
  switch (condition.op()) {
  case ExprOp::Eq:
    name = compared("_operator.eq", operands[0], operands[1]);
    break;
  case ExprOp::Ne:
    name = compared("_operator.ne", operands[0], operands[1]);
    break;
  case ExprOp::Lt:
    name = compared("_operator.lt", operands[0], operands[1]);
    break;
  case ExprOp::Le:
    name = compared("_operator.le", operands[0], operands[1]);
    break;
  case ExprOp::And:
    name = joined("_operator.and_", symbolic::logicalAnd);
    break;
  case ExprOp::Or:
    name = joined("_operator.or_", symbolic::logicalOr);
    break;
  case ExprOp::Not:
    name = computeCondition("torch.sym_not", {conditionOperand(operands[0], nodes, where)},
                            condition, nodes);
    break;
  default:
    name = compared("_operator.ne", condition, 0);
  }
  conditionNames.emplace(condition, name);
  return name;
}

} // namespace pellucid::trace
