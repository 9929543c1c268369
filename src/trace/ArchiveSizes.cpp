// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveSizes.h"

#include "archive/SymbolicText.h"
#include "support/Diagnostics.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
using package::JsonWriter;
using symbolic::ExprOp;

ArchiveSizes::ArchiveSizes(const Program &p, const Graph &g) : program(p), graph(g) {
  for (const std::string &name : program.symbols.names()) {
    std::string shown = name;
    while (shown[0] == 'u' || shown[0] == 'z' || taken.count(shown))
      shown.insert(0, "s_");
    taken.insert(shown);
    symbols[name] = shown;
    renames.emplace(name, Expr::symbol(shown));
  }
  for (const Node &node : graph)
    for (size_t i = 0; i < node.resultCount(); ++i)
      taken.insert(node.result(i)->name());
  findSources();
}

/// symbol * factor + offset, when `size` is that.
static bool isLinear(const Expr &size, const std::string &symbol, int64_t &factor,
                     int64_t &offset) {
  auto at = [&](int64_t value) { return substitute(size, {{symbol, Expr(value)}}).constant(); };
  auto zero = at(0), one = at(1);
  if (!zero || !one || *one == *zero)
    return false;
  offset = *zero;
  factor = *one - *zero;
  return size == Expr::symbol(symbol) * factor + offset;
}

void ArchiveSizes::findSources() {
  std::vector<Node *> placeholders = graph.placeholders();
  bool isMain = &graph == &program.main;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    if ((isMain && program.inputs[i].kind != InputSpec::Kind::UserInput) ||
        !placeholders[i]->resultCount() || !placeholders[i]->result()->isTensor())
      continue;
    const TensorType &type = placeholders[i]->result()->type();
    for (size_t d = 0; d < type.rank(); ++d)
      for (const std::string &symbol : type.shape[d].symbols()) {
        Source source{placeholders[i]->name(), d};
        if (!isLinear(type.shape[d], symbol, source.factor, source.offset))
          continue;
        auto [known, isNew] = sources.try_emplace(symbol, source);
        if (!isNew && known->second.factor != 1 && source.factor == 1)
          known->second = source;
      }
  }
}

const ArchiveSizes::Source *ArchiveSizes::findSource(const std::string &symbol) const {
  auto source = sources.find(symbol);
  return source == sources.end() ? nullptr : &source->second;
}

std::string ArchiveSizes::sourceOf(const std::string &symbol) const {
  const Source *source = findSource(symbol);
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

void ArchiveSizes::print(JsonWriter &json, const Expr &size) const {
  json.beginObject();
  if (auto value = size.constant()) {
    json.field("as_int", *value).endObject();
    return;
  }
  auto text = archive::printSymbolic(renamed(size));
  if (!text)
    throw DiagnosticError(SourceLocation("-o"), "an archive of torch.export has no word for the "
                                                "size '" +
                                                    size.text() + "'; save a .program instead");
  json.key("as_expr").beginObject().field("expr_str", *text).key("hint");
  if (auto hint = program.symbols.hint(size))
    json.beginObject().field("as_int", *hint).endObject();
  else
    json.null();
  json.endObject().endObject();
}

/// A node that takes and gives sizes; operands are Arguments in JSON.
std::string ArchiveSizes::compute(const char *target, std::vector<std::string> operands,
                                  const Expr &value, std::vector<std::string> &nodes) {
  std::string hint = std::string(target).substr(std::string(target).rfind('.') + 1);
  if (hint == "int")
    hint = "sym_size_int";
  std::string name = uniqueName(hint);
  static constexpr const char *plain[] = {"a", "b"}, *sized[] = {"self", "dim"};
  auto &names = hint == "sym_size_int" ? sized : plain;
  JsonWriter json;
  json.beginObject().field("target", target).key("inputs").beginArray();
  for (size_t i = 0; i < operands.size(); ++i) {
    json.beginObject().field("name", names[i]).key("arg").json(operands[i]);
    json.field("kind", 1).endObject();
  }
  json.endArray().key("outputs").beginArray().beginObject().key("as_sym_int").beginObject();
  json.field("as_name", name).endObject().endObject().endArray();
  json.key("metadata").beginObject().endObject().key("is_hop_single_tensor_return").null();
  nodes.push_back(json.field("name", name).endObject().take());
  values.emplace(name, value);
  return name;
}

static std::string integerArgument(int64_t value) {
  return JsonWriter().beginObject().field("as_int", value).endObject().take();
}
static std::string sizeArgument(const std::string &name) {
  JsonWriter json;
  json.beginObject().key("as_sym_int").beginObject().field("as_name", name);
  return json.endObject().endObject().take();
}

std::string ArchiveSizes::operand(const Expr &size, std::vector<std::string> &nodes,
                                  const SourceLocation &where) {
  if (auto value = size.constant())
    return integerArgument(*value);
  return sizeArgument(nameOf(size, nodes, where));
}

/// The input's size, or what solves `size = symbol * factor + offset`.
std::string ArchiveSizes::symbolValue(const std::string &symbol, std::vector<std::string> &nodes,
                                      const SourceLocation &where) {
  const Source *source = findSource(symbol);
  if (!source)
    throw DiagnosticError(where, "no input has the size '" + symbol +
                                     "', from which an archive of torch.export would take it; save "
                                     "a .program instead");
  JsonWriter tensor;
  tensor.beginObject().key("as_tensor").beginObject().field("name", source->input);
  tensor.endObject().endObject();
  Expr value = Expr::symbol(symbol) * source->factor + source->offset;
  std::string name =
      compute("torch.ops.aten.sym_size.int",
              {tensor.take(), integerArgument(static_cast<int64_t>(source->dim))}, value, nodes);
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

std::string ArchiveSizes::nameOf(const Expr &size, std::vector<std::string> &nodes,
                                 const SourceLocation &where) {
  if (auto known = names.find(size); known != names.end())
    return known->second;
  std::string name;
  const char *target = nullptr;
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
    target = "_operator.add";
    break;
  case ExprOp::Mul:
    target = "_operator.mul";
    break;
  case ExprOp::FloorDiv:
    target = "_operator.floordiv";
    break;
  case ExprOp::Mod:
    target = "_operator.mod";
    break;
  case ExprOp::Min:
    target = "torch.sym_min";
    break;
  case ExprOp::Max:
    target = "torch.sym_max";
    break;
  default:
    throw DiagnosticError(where, "an archive of torch.export has no word for the number '" +
                                     size.text() + "'; save a .program instead");
  }
  if (target) {
    std::string total = operand(size.operands()[0], nodes, where);
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
  }
  names.emplace(size, name);
  return name;
}

} // namespace pellucid::trace
