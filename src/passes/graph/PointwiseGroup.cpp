// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/PointwiseGroup.h"

#include "graph/FakeRules.h"
#include "passes/graph/ArrangedWeights.h"
#include "passes/graph/FetchedElements.h"

#include <algorithm>
#include <cmath>

namespace pellucid::passes {

using namespace graph;

std::string renameIdentifiers(const std::string &text,
                              const std::map<std::string, std::string> &names) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    bool starts = isalpha(static_cast<unsigned char>(text[i])) || text[i] == '_';
    if (!starts) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() &&
           (isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    std::string word = text.substr(i, end - i);
    bool attribute = i > 0 && text[i - 1] == '.';
    bool number = i > 0 && isdigit(static_cast<unsigned char>(text[i - 1]));
    bool keyword =
        end < text.size() && text[end] == '=' && !(end + 1 < text.size() && text[end + 1] == '=');
    auto entry = names.find(word);
    out += !attribute && !number && !keyword && entry != names.end() ? entry->second : word;
    i = end;
  }
  return out;
}

namespace {

bool looksExpensive(const std::string &expression) {
  return expression.find("tl.") != std::string::npos ||
         expression.find("libdevice") != std::string::npos ||
         expression.find('/') != std::string::npos || expression.find("**") != std::string::npos;
}

/// The value's name in the group; a new input when it has none.
std::string nameOf(PointwiseGroup &group, Value *value) {
  if (auto entry = group.names.find(value); entry != group.names.end())
    return entry->second;
  std::string name = "in" + std::to_string(group.inputs.size());
  group.inputs.push_back(value);
  group.names[value] = name;
  return name;
}

/// A float in a kernel is single precision until something gives it a type, as in Triton.
std::string doubleText(double value) { return "tl.full([], " + tlNumber(value) + ", tl.float64)"; }

/// A bool, an integer or a float as an operand of `type`.
std::string numberText(const Argument &number, DataType type, OutOfRange how) {
  if (type == DataType::Bool && (number.as<int64_t>() || number.as<double>()))
    return integerOf(number, type, how) ? "True" : "False";
  if (isInteger(type) && (number.as<int64_t>() || number.as<double>())) {
    int64_t value = integerOf(number, type, how);
    return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
  }
  if (auto flag = number.as<bool>())
    return *flag ? "True" : "False";
  if (auto integer = number.as<int64_t>())
    return *integer < 0 ? "(" + std::to_string(*integer) + ")" : std::to_string(*integer);
  if (auto real = number.as<double>())
    return type == DataType::Float64 ? doubleText(*real) : "(" + tlNumber(*real) + ")";
  return "None";
}

/// A float as 8 or 16 bits keeps the low bits of a wider integer, as PyTorch says of uint8 and as
/// its processors do it for the others; what that one does not hold becomes 0. On the CPU what 32
/// and 64 bits do not hold, NaN too, is their smallest number, as the processor has it.
std::string asInteger(const std::string &value, DataType from, DataType to, bool onCpu) {
  bool narrow = byteSize(to) < 4, isSigned = to == DataType::Int32 || to == DataType::Int64;
  if (!narrow && !(onCpu && isSigned))
    return value;
  bool wide = narrow ? from == DataType::Float64 && to == DataType::UInt8 : to == DataType::Int64;
  std::string real = byteSize(from) < 4 ? "tl.cast(" + value + ", tl.float32)" : value;
  std::string limit = wide ? "9223372036854775808.0" : "2147483648.0";
  return "tl.where(tl.abs(" + real + ") < " + limit + ", " + real + ", " +
         (narrow ? "0.0" : "-" + limit) + ").to(" + (wide ? "tl.int64)" : "tl.int32)");
}

std::string argumentText(PointwiseGroup &group, const Argument &argument, DataType common,
                         DataType compute, OutOfRange how = OutOfRange::Wraps) {
  if (Value *value = argument.value()) {
    std::string name = nameOf(group, value);
    if (value->isSymInt())
      return name;
    std::string converted = name;
    DataType type = value->type().dtype;
    if (isFloat(type) && isInteger(common))
      converted = asInteger(converted, type, common, group.divisionFails);
    if (type != common)
      converted += ".to(" + tlName(common) + ")";
    return compute == common ? converted : converted + ".to(" + tlName(compute) + ")";
  }
  if (auto expr = argument.as<Expr>()) {
    std::string name = "sym" + std::to_string(group.scalars.size());
    group.scalars.push_back({name, *expr});
    return name;
  }
  return numberText(argument, compute, how);
}

void addStatement(PointwiseGroup &group, const Node &node, const std::string &expression,
                  DataType result) {
  std::string name = "v" + std::to_string(group.body.size());
  // Python's numbers have no .to(); adding zero of the right type gives them one.
  group.body.push_back({name, "tl.cast(" + expression + ", " + tlName(result) + ")"});
  group.names[node.result()] = name;
}

bool mentions(const std::string &expression, const std::string &name) {
  return renameIdentifiers(expression, {{name, "another " + name}}) != expression;
}

/// Integers beside doubles are doubles: a formula may make a float of them, which would be single.
Argument groupOperand(const Argument &argument, DataType compute) {
  auto integer = argument.as<int64_t>();
  return integer && compute == DataType::Float64 ? Argument(static_cast<double>(*integer))
                                                 : argument;
}

/// Numbers have been looked at when the node was made.
bool needsDivisorCheck(const PointwiseGroup &group, const OperatorCall &call,
                       const PointwiseCase &chosen) {
  if (!group.divisionFails || chosen.dividesBy.empty())
    return false;
  const Argument &divisor = call.at(chosen.dividesBy);
  if (auto size = divisor.as<Expr>())
    return call.symbols.prove(symbolic::notEqual(*size, 0)) != true;
  return divisor.value() != nullptr;
}

void addPointwise(PointwiseGroup &group, const Node &node, const OperatorCall &call) {
  PointwiseTypes types = pointwiseTypes(call);
  const PointwiseCase &chosen = chooseCase(call, types.compute);
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const std::string &name = call.op.schema.arguments[i].name;
    Value *value = call.args[i].value();
    // What only says a type is not read, and need not broadcast.
    if (value && !mentions(chosen.expression, name))
      continue;
    // Conditions and the like keep their own type; the schema says which operands take part in
    // promotion.
    bool isBoolOperand =
        value && value->isTensor() && value->type().dtype == DataType::Bool && name == "condition";
    bool isBound = name.starts_with("min") || name.starts_with("max");
    bool isFactor = name == "alpha" || name == "value";
    names[name] = isBoolOperand ? nameOf(group, value)
                                : argumentText(group, groupOperand(call.args[i], types.compute),
                                               types.common, types.compute,
                                               isBound ? OutOfRange::Saturates : OutOfRange::Wraps);
    // Python's product of two numbers is one of any size.
    if (isFactor && isInteger(types.compute) && call.args[i].as<int64_t>())
      names[name] = "tl.full([], " + names[name] + ", " + tlName(types.compute) + ")";
  }
  if (needsDivisorCheck(group, call, chosen)) {
    group.body.push_back({"", names[chosen.dividesBy] + " != 0",
                          "'" + node.target() + "' divides integers by zero", node.location});
    group.hasChecks = true;
  }
  if (!chosen.condition.empty()) {
    group.body.push_back(
        {"", renameIdentifiers(chosen.condition, names), chosen.failure, node.location});
    group.hasChecks = true;
  }
  group.expensive |= looksExpensive(chosen.expression);
  DataType result = node.result()->type().dtype;
  std::string text = renameIdentifiers(chosen.expression, names);
  // Bits that are called another type's are that type's already.
  bool isConverted = node.target() != "aten.view.dtype";
  if (isConverted && isFloat(types.compute) && isInteger(result))
    text = asInteger(text, types.compute, result, group.divisionFails);
  addStatement(group, node, text, result);
}

/// `text` with the names of `part`, a group of its own, as those of `group`.
std::map<std::string, std::string> namesIn(const PointwiseGroup &group,
                                           const PointwiseGroup &part) {
  std::map<std::string, std::string> names;
  auto move = [&](const std::string &prefix, size_t count, size_t base) {
    for (size_t i = 0; i < count; ++i)
      names[prefix + std::to_string(i)] = prefix + std::to_string(base + i);
  };
  move("in", part.inputs.size(), group.inputs.size());
  move("sym", part.scalars.size(), group.scalars.size());
  move("part", part.windows.size(), group.windows.size());
  move("v", part.body.size(), group.body.size());
  return names;
}

/// Takes up what computes a part of a joined tensor, read inside of `window` only.
std::string addPart(PointwiseGroup &group, PointwiseGroup part, const std::string &result,
                    size_t window) {
  std::map<std::string, std::string> names = namesIn(group, part);
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    std::vector<size_t> &own = group.windowsOf[group.inputs.size()];
    if (auto inner = part.windowsOf.find(i); inner != part.windowsOf.end())
      for (size_t w : inner->second)
        own.push_back(group.windows.size() + w);
    own.push_back(window);
    group.inputs.push_back(part.inputs[i]);
  }
  // The windows of joins inside of the part, where the part is.
  TextWindow outer = group.windows[window];
  for (TextWindow inner : part.windows) {
    if (inner.dim == outer.dim) {
      inner.from = inner.from + outer.from;
      inner.to = inner.to + outer.from;
    }
    group.windows.push_back(inner);
  }
  for (TextScalar &scalar : part.scalars)
    group.scalars.push_back({names.at(scalar.name), scalar.value});
  for (TextStatement &statement : part.body)
    group.body.push_back({names.at(statement.name), renameIdentifiers(statement.text, names)});
  group.expensive |= part.expensive;
  return names.at(result);
}

} // namespace

bool holdsIndex(const Node &node, const OperatorRegistry &registry) {
  const Operator *op = registry.find(node.target());
  return op && op->kind == Operator::Kind::Factory &&
         renameIdentifiers(op->factory.value, {{"i", "element_index"}}) != op->factory.value;
}

bool isPointwise(const Node &node, const OperatorRegistry &registry) {
  if (!node.isCall() || node.isLaunch() || node.resultCount() != 1 || !node.result()->isTensor())
    return false;
  const Operator *op = registry.find(node.target());
  if (!op)
    return false;
  if (op->kind == Operator::Kind::Pointwise)
    return true;
  if (op->kind == Operator::Kind::Factory)
    return !op->factory.value.empty();
  return op->kind == Operator::Kind::Copy &&
         (op->schema.name == "clone" || op->schema.name == "contiguous");
}

void addToGroup(PointwiseGroup &group, const Node &node, const OperatorRegistry &registry,
                const SymbolTable &symbols) {
  auto call = callOf(node, registry, symbols);
  switch (call->op.kind) {
  case Operator::Kind::Copy:
    addStatement(group, node, nameOf(group, call->args[0].value()), node.result()->type().dtype);
    return;
  case Operator::Kind::Factory: {
    std::map<std::string, std::string> names;
    DataType type = node.result()->type().dtype;
    for (size_t i = 0; i < call->args.size(); ++i) {
      const std::string &name = call->op.schema.arguments[i].name;
      if (Value *value = call->args[i].value()) {
        // What only says a shape or a type is not read.
        if (mentions(call->op.factory.value, name))
          names[name] = nameOf(group, value);
      } else if (!call->args[i].list()) {
        names[name] = argumentText(group, call->args[i], type, type);
      }
    }
    group.usesIndex |= holdsIndex(node, registry);
    group.expensive |= looksExpensive(call->op.factory.value);
    addStatement(group, node, renameIdentifiers(call->op.factory.value, names), type);
    return;
  }
  default:
    addPointwise(group, node, *call);
  }
}

bool isJoin(const Node &node, const OperatorRegistry &registry, const SymbolTable &symbols,
            size_t mostParts) {
  if (!node.isCall() || node.isLaunch())
    return false;
  const Operator *op = registry.find(node.target());
  if (!op || op->kind != Operator::Kind::Copy || op->schema.name != "cat")
    return false;
  auto call = callOf(node, registry, symbols);
  const TensorType &type = node.result()->type();
  size_t dim = static_cast<size_t>(call->dim("dim", type.rank()));
  std::vector<Value *> parts = call->tensors("tensors");
  // ATen lets an empty one-dimensional tensor stand among parts of any rank. What does not move
  // along the dim is read everywhere, so there must be something.
  return parts.size() <= mostParts && std::all_of(parts.begin(), parts.end(), [&](Value *part) {
           return part->type().rank() == type.rank() &&
                  symbols.prove(symbolic::lessEqual(1, part->type().shape[dim])) == true;
         });
}

std::vector<Node *> addJoin(PointwiseGroup &group, const Node &node,
                            const OperatorRegistry &registry, const SymbolTable &symbols) {
  auto call = callOf(node, registry, symbols);
  const TensorType &type = node.result()->type();
  size_t dim = static_cast<size_t>(call->dim("dim", type.rank()));
  std::vector<Node *> taken;
  std::vector<std::string> values;
  std::vector<std::string> conditions;
  Expr at = 0;
  for (Value *value : call->tensors("tensors")) {
    Expr from = at;
    at = at + value->type().shape[dim];
    size_t window = group.windows.size();
    group.windows.push_back({dim, from, at});
    conditions.push_back("part" + std::to_string(window));
    PointwiseGroup part;
    part.divisionFails = group.divisionFails;
    std::vector<Node *> nodes;
    Node *producer = value->producer();
    bool isOnlyPart = value->users().size() == 1;
    if (isPointwise(*producer, registry) && isOnlyPart)
      nodes = collectProducers(*producer, true, value->type().shape, registry, &symbols);
    else if (isJoin(*producer, registry, symbols) && isOnlyPart)
      nodes.push_back(producer);
    addNodes(part, nodes, registry, symbols);
    // Lanes outside of the part compute something, too: it must not fail there.
    if (nodes.empty() || part.hasChecks || part.usesIndex) {
      nodes.clear();
      part = {};
      nameOf(part, value);
    }
    // One tensor may be several parts, each of which computes it.
    for (Node *made : nodes)
      if (std::find(taken.begin(), taken.end(), made) == taken.end())
        taken.push_back(made);
    std::string name = part.names.at(value);
    values.push_back(addPart(group, std::move(part), name, window));
  }
  auto typed = [&](size_t i) { return "tl.cast(" + values[i] + ", " + tlName(type.dtype) + ")"; };
  std::string text = typed(values.size() - 1);
  for (size_t i = values.size() - 1; i-- > 0;)
    text = "tl.where(" + conditions[i] + ", " + typed(i) + ", " + text + ")";
  addStatement(group, node, text, type.dtype);
  return taken;
}

bool isTake(const Node &node, const OperatorRegistry &registry) {
  if (!node.calls("aten.index_select.default") || !registry.find(node.target()))
    return false;
  const Value *self = node.arg(0).value(),
              *index = node.args().size() == 3 ? node.arg(2).value() : nullptr;
  return self && index && self->type().rank() > 0 && index->type().rank() == 1;
}

/// Adds `node` (isTake) to the group, with what takes along other dims before it: that is returned.
static std::vector<Node *> addTake(PointwiseGroup &group, const Node &node,
                                   const OperatorRegistry &registry, const SymbolTable &symbols) {
  std::vector<Node *> before;
  std::vector<PointwiseSpec::Taken> places;
  std::vector<size_t> dims;
  const Node *at = &node;
  Value *source = nullptr;
  for (;;) {
    auto call = callOf(*at, registry, symbols);
    source = call->value("self");
    Value *index = call->value("index");
    size_t dim = static_cast<size_t>(call->dim("dim", source->type().rank()));
    Value *inside =
        group.weights ? group.weights->indicesBelow(index, source->type().shape[dim]) : nullptr;
    if (inside)
      index = inside;
    // The same indices along the same dim are loaded once.
    auto known = std::find_if(group.along.begin(), group.along.end(), [&](const auto &entry) {
      return entry.second == dim && group.inputs[entry.first] == index;
    });
    size_t number = known == group.along.end() ? group.inputs.size() : known->first;
    if (known == group.along.end()) {
      group.inputs.push_back(index);
      group.along[number] = dim;
    }
    if (known == group.along.end() && !inside) {
      std::string name = "in" + std::to_string(number),
                  size = "sym" + std::to_string(group.scalars.size());
      group.scalars.push_back({size, source->type().shape[dim]});
      group.body.push_back({"", "(" + name + " >= 0) & (" + name + " < " + size + ")",
                            "'" + at->target() + "' got an index out of range", at->location});
      group.hasChecks = true;
    }
    places.push_back({group.windows.size(), number, source->type().shape[dim], inside != nullptr});
    group.windows.push_back({dim, 0, node.result()->type().shape[dim]});
    dims.push_back(dim);
    Node *producer = source->producer();
    if (source->users().size() != 1 || !isTake(*producer, registry))
      break;
    auto inner = callOf(*producer, registry, symbols);
    size_t next = static_cast<size_t>(inner->dim("dim", source->type().rank()));
    if (std::find(dims.begin(), dims.end(), next) != dims.end())
      break;
    before.push_back(producer);
    at = producer;
  }
  std::string name = "in" + std::to_string(group.inputs.size());
  group.taken[group.inputs.size()] = std::move(places);
  group.inputs.push_back(source);
  group.names[node.result()] = name;
  std::reverse(before.begin(), before.end());
  return before;
}

void addNodes(PointwiseGroup &group, std::vector<Node *> &nodes, const OperatorRegistry &registry,
              const SymbolTable &symbols) {
  std::vector<Node *> taken;
  for (Node *member : nodes) {
    if (isPointwise(*member, registry)) {
      addToGroup(group, *member, registry, symbols);
      continue;
    }
    if (member->calls("aten.expand.default"))
      continue;
    if (isFetch(*member, registry)) {
      addFetch(group, *member, registry, symbols);
      continue;
    }
    std::vector<Node *> parts = isTake(*member, registry)
                                    ? addTake(group, *member, registry, symbols)
                                    : addJoin(group, *member, registry, symbols);
    taken.insert(taken.end(), parts.begin(), parts.end());
  }
  nodes.insert(nodes.begin(), taken.begin(), taken.end());
}

std::vector<TextOperand> operandsOf(const PointwiseGroup &group, const std::vector<Expr> &shape,
                                    const SymbolTable &symbols) {
  std::vector<TextOperand> operands;
  for (size_t i = 0; i < group.inputs.size(); ++i) {
    const TensorType &type = group.inputs[i]->type();
    if (auto own = group.laid.find(i); own != group.laid.end()) {
      operands.push_back({type.dtype, own->second, 0});
      continue;
    }
    if (auto line = group.along.find(i); line != group.along.end()) {
      TextOperand operand{type.dtype, std::vector<Expr>(shape.size(), Expr(0)), 0};
      operand.strides[line->second] = type.strides[0];
      operands.push_back(std::move(operand));
      continue;
    }
    if (auto taken = group.taken.find(i); taken != group.taken.end()) {
      std::vector<Expr> own = shape;
      for (const PointwiseSpec::Taken &place : taken->second)
        own[group.windows[place.window].dim] = place.size;
      TextOperand operand = broadcastOperand(type, own, symbols);
      operands.push_back(std::move(operand));
      continue;
    }
    auto placed = group.windowsOf.find(i);
    if (placed == group.windowsOf.end()) {
      operands.push_back(broadcastOperand(group.inputs[i]->type(), shape, symbols));
      continue;
    }
    // Along each dim the innermost window says where the part lies: it comes first.
    std::map<size_t, const TextWindow *> along;
    for (size_t w : placed->second)
      along.try_emplace(group.windows[w].dim, &group.windows[w]);
    std::vector<Expr> part = shape;
    for (const auto &[dim, window] : along)
      part[dim] = window->to - window->from;
    TextOperand operand = broadcastOperand(group.inputs[i]->type(), part, symbols);
    for (const auto &[dim, window] : along)
      operand.offset = operand.offset - window->from * operand.strides[dim];
    operand.windows = placed->second;
    operands.push_back(std::move(operand));
  }
  return operands;
}

TextOperand broadcastOperand(const TensorType &type, const std::vector<Expr> &shape,
                             const SymbolTable &symbols) {
  TextOperand operand;
  operand.dtype = type.dtype;
  operand.strides.assign(shape.size(), Expr(0));
  size_t missing = shape.size() - type.rank();
  for (size_t d = 0; d < type.rank(); ++d) {
    bool broadcast =
        symbols.proveEqual(type.shape[d], 1) && !symbols.proveEqual(shape[missing + d], 1);
    operand.strides[missing + d] = broadcast ? Expr(0) : type.strides[d];
  }
  return operand;
}

} // namespace pellucid::passes
