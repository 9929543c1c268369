// SPDX-License-Identifier: Apache-2.0
// Expressions other than calls.
#include "frontend/Emitter.h"

#include "frontend/Names.h"

#include <algorithm>

namespace pellucid::frontend {

using namespace mlir;

std::optional<bool> Emitter::constantTruth(const Val &value) {
  if (value.isConstexpr())
    return interpreter.truth(value.constant);
  if (value.isTuple())
    return !value.elements.empty();
  return std::nullopt;
}

static const char *expressionName(syntax::ExprKind kind) {
  using K = syntax::ExprKind;
  switch (kind) {
  case K::Dict:
    return "a dict";
  case K::Set:
    return "a set";
  case K::SetComp:
  case K::DictComp:
  case K::GeneratorExp:
    return "this comprehension";
  case K::Await:
    return "'await'";
  case K::Yield:
  case K::YieldFrom:
    return "'yield'";
  default:
    return "this expression";
  }
}

Val Emitter::expression(const syntax::Expr &expr) {
  SourceRange saved = here;
  here = expr.range;
  Val result = [&]() -> Val {
    switch (expr.kind) {
    case syntax::ExprKind::Constant:
      return constant(static_cast<const syntax::Constant &>(expr));
    case syntax::ExprKind::Name:
      return name(static_cast<const syntax::Name &>(expr));
    case syntax::ExprKind::Attribute:
      return attribute(static_cast<const syntax::Attribute &>(expr));
    case syntax::ExprKind::Subscript:
      return subscript(static_cast<const syntax::Subscript &>(expr));
    case syntax::ExprKind::Call:
      return call(static_cast<const syntax::Call &>(expr));
    case syntax::ExprKind::BinOp: {
      const auto &op = static_cast<const syntax::BinOp &>(expr);
      Val left = expression(*op.left), right = expression(*op.right);
      return binary(op.op, left, right);
    }
    case syntax::ExprKind::UnaryOp: {
      const auto &op = static_cast<const syntax::UnaryOp &>(expr);
      return unary(op.op, expression(*op.operand));
    }
    case syntax::ExprKind::Compare:
      return compare(static_cast<const syntax::Compare &>(expr));
    case syntax::ExprKind::BoolOp:
      return boolOp(static_cast<const syntax::BoolOp &>(expr));
    case syntax::ExprKind::IfExp:
      return conditional(static_cast<const syntax::IfExp &>(expr));
    case syntax::ExprKind::Tuple:
      return Val::tuple(elementsOf(static_cast<const syntax::Tuple &>(expr).elts));
    case syntax::ExprKind::List:
      return Val::tuple(elementsOf(static_cast<const syntax::ListExpr &>(expr).elts));
    case syntax::ExprKind::NamedExpr: {
      const auto &named = static_cast<const syntax::NamedExpr &>(expr);
      Val value = settled(expression(*named.value));
      assign(*named.target, value);
      return value;
    }
    case syntax::ExprKind::JoinedStr:
      return formatted(static_cast<const syntax::JoinedStr &>(expr));
    case syntax::ExprKind::ListComp:
      return comprehension(static_cast<const syntax::ListComp &>(expr));
    case syntax::ExprKind::Lambda:
      failUnsupported("a lambda is not part of the kernel language; write a @triton.jit function");
    default:
      failUnsupported(std::string(expressionName(expr.kind)) +
                      " is not part of the kernel language");
    }
  }();
  result.range = expr.range;
  here = saved;
  return result;
}

Val Emitter::constant(const syntax::Constant &c) {
  using Type = syntax::Constant::Type;
  switch (c.type) {
  case Type::None:
    return Val();
  case Type::True:
  case Type::False:
    return Val::of(host::Value(c.type == Type::True));
  case Type::Int:
    return Val::integer(c.intValue);
  case Type::BigInt: {
    host::Int big = 0;
    for (char digit : c.text) {
      if (big > (host::Int(1) << 120))
        fail("integer " + c.text + " does not fit in 64 bits");
      big = big * 10 + (digit - '0');
    }
    return Val::of(host::Value(big));
  }
  case Type::Float:
    return Val::of(host::Value(c.floatValue));
  case Type::String:
    return Val::of(host::Value(c.text));
  default:
    fail("this literal is not part of the kernel language");
  }
}

Val Emitter::formatted(const syntax::JoinedStr &expr) {
  std::string text;
  for (const auto &part : expr.values) {
    auto *field = syntax::as<syntax::FormattedValue>(part.get());
    if (!field) {
      text += static_cast<const syntax::Constant &>(*part).text;
      continue;
    }
    host::Value value = toHost(expression(*field->value), "a value in an f-string");
    std::string spec;
    if (auto *nested = syntax::as<syntax::JoinedStr>(field->formatSpec.get()))
      spec = formatted(*nested).constant.str();
    if (field->conversion == 'r' || field->conversion == 'a')
      value = host::Value(interpreter.repr(value));
    else if (field->conversion == 's')
      value = host::Value(interpreter.str(value));
    text += spec.empty() ? interpreter.str(value) : interpreter.format(value, spec);
  }
  return Val::of(host::Value(text));
}

// --- names
// ----------------------------------------------------------------------------------------------------------

static bool isPythonBuiltin(const std::string &id) {
  static const char *names[] = {"range",     "min",     "max",        "len",   "abs", "int",
                                "float",     "bool",    "isinstance", "print", "str", "tuple",
                                "list",      "getattr", "hasattr",    "type",  "sum", "zip",
                                "enumerate", "round",   "pow",        "slice"};
  return std::any_of(std::begin(names), std::end(names), [&](const char *n) { return id == n; });
}

Val Emitter::name(const syntax::Name &expr) {
  if (auto entry = frame->names.find(expr.id); entry != frame->names.end()) {
    if (entry->second.kind == Val::Kind::Undefined)
      fail(entry->second.constant.str());
    return entry->second;
  }
  const host::Function &function = *frame->function->function;
  // Python's own functions have kernel meanings of their own, unless the module gave the name to
  // something else.
  if (isPythonBuiltin(expr.id) && !function.globals->find(expr.id))
    return Val::of(host::Value(std::make_shared<host::NamedBuiltin>("py." + expr.id)));
  auto found = frame->function->lookup(interpreter, expr.id);
  if (!found) {
    std::vector<std::string> assigned = assignedNames(frame->function->def().body);
    if (std::find(assigned.begin(), assigned.end(), expr.id) != assigned.end())
      fail("'" + expr.id +
           "' is not defined: it is assigned only where these constexpr values do not lead");
    failUnsupported("'" + expr.id + "' is not defined");
  }
  const host::Value &value = *found;
  if (reads && !frame->isStandard)
    reads->name(*frame->function, expr.id, value);
  if (value.as<host::Constexpr>())
    return fromHost(value);
  if (auto *opaque = value.as<host::Opaque>(); opaque && opaque->reason) {
    pellucid::Diagnostic unusable = *opaque->reason;
    unusable.note({frame->module->file, expr.range}, "the kernel uses '" + expr.id + "' here");
    throw UnsupportedError(std::move(unusable));
  }
  if (auto *plain = value.as<host::Function>())
    failUnsupported("'" + plain->name +
                    "' is a plain Python function; a kernel can call @triton.jit and "
                    "@triton.constexpr_function functions");
  // Triton allows plain values of a module in defaults of parameters only: they may change between
  // launches.
  if (!value.isObject() && !value.isNone())
    failUnsupported(
        "'" + expr.id +
        "' is a global of the module and not a constexpr, so a kernel cannot use it; write " +
        expr.id + " = tl.constexpr(" + host::repr(value) + ") or pass it as an argument");
  return Val::of(value);
}

Val Emitter::attribute(const syntax::Attribute &expr) {
  Val object = expression(*expr.value);
  here = expr.range;
  return attributeOf(object, expr.attr);
}

/// Attributes of values of the kernel.
Val Emitter::valueAttribute(const Val &object, const std::string &attr) {
  bool block = object.kind == Val::Kind::BlockPointer;
  TlType type = object.type;
  if (block)
    type.pointer = false;
  if (attr == "type" || (attr == "dtype" && block))
    return Val::of(block ? host::Value(std::make_shared<BlockType>(type, true)) : typeValue(type));
  if (attr == "dtype")
    return Val::of(typeValue(type.scalar()));
  if (object.kind == Val::Kind::Descriptor && (attr == "shape" || attr == "strides"))
    return Val::tuple(attr == "shape" ? object.shape : object.strides);
  if (attr == "shape" || attr == "block_shape") {
    std::vector<Val> dims;
    for (int64_t size : type.shape)
      dims.push_back(Val::integer(size));
    return Val::tuple(std::move(dims));
  }
  if (attr == "numel") {
    int64_t count = 1;
    for (int64_t size : type.shape)
      count *= size;
    return Val::integer(count);
  }
  if (attr == "T") {
    if (type.shape.size() != 2)
      fail("'.T' needs a tile of two dims, got " + toString(type));
    Bound args{object, Val::tuple({Val::integer(1), Val::integer(0)})};
    return emitPermute(args);
  }
  fail("a value of type " + toString(object.type) + " has no attribute '" + attr + "'");
}

Val Emitter::attributeOf(const Val &object, const std::string &attr) {
  if (object.isTuple())
    return field(object, attr);
  if (!object.isConstexpr())
    return valueAttribute(object, attr);
  if (attr == "value" && !object.constant.isObject())
    return object;
  if (attr == "value" && object.constant.as<host::DType>())
    return object;
  if (auto *builtin = object.constant.as<host::NamedBuiltin>())
    if (builtin->name.starts_with("py."))
      fail("'" + builtin->name.substr(3) + "' has no attribute '" + attr + "'");
  auto found = interpreter.findAttr(object.constant, attr);
  if (!found)
    fail("no attribute '" + attr + "' on " + host::repr(object.constant));
  if (reads)
    reads->attribute(object.constant, attr, *found);
  return fromHost(*found);
}

// --- subscripts
// -----------------------------------------------------------------------------------------------------

Val Emitter::subscript(const syntax::Subscript &expr) {
  Val object = expression(*expr.value);
  here = expr.range;
  auto *attribute = syntax::as<syntax::Attribute>(expr.value.get());
  if (object.isTuple() && object.elements.empty() && attribute && attribute->attr == "shape")
    fail("a pointer or scalar has no dims to ask for; pass sizes as arguments");
  if (isAggregate(object)) {
    bool takesSelf = false;
    auto method = methodOf(object, "__getitem__", takesSelf);
    if (!method)
      fail("a value of '" + object.tupleClass->name + "' cannot be indexed");
    return callValue(*method, {object, expression(*expr.slice)}, {}, expr.range);
  }
  if (object.isTuple())
    return tupleItem(object, *expr.slice);
  if (object.isConstexpr() && reads && object.constant.isObject())
    reads->unrepeatable();
  if (object.isConstexpr())
    return hostResult([&] {
      return interpreter.getItem(object.constant, toHost(expression(*expr.slice), "an index"));
    });
  if (!object.isTensor())
    fail("a block pointer or descriptor cannot be indexed; load it first");
  // x[:, None]: full slices keep a dim, None inserts one.
  std::vector<const syntax::Expr *> parts;
  if (auto *tuple = syntax::as<syntax::Tuple>(expr.slice.get()))
    for (const auto &element : tuple->elts)
      parts.push_back(element.get());
  else
    parts.push_back(expr.slice.get());
  Val result = object;
  int64_t axis = 0;
  for (const syntax::Expr *part : parts) {
    auto *slice = syntax::as<syntax::Slice>(part);
    auto isLeftOut = [&](const auto &bound) { return !bound || expression(*bound).isNone(); };
    bool whole =
        slice && isLeftOut(slice->lower) && isLeftOut(slice->upper) && isLeftOut(slice->step);
    if (!whole && (slice || !expression(*part).isNone()) && !object.type.isTile() &&
        object.type.pointer)
      failAt(part->range, "a pointer cannot be indexed; add the index: tl.load(pointer + index)");
    if (!whole && (slice || !expression(*part).isNone()))
      failAt(part->range, "a tile can be indexed with ':' and None only; single elements are "
                          "reached with tl.gather or a reduction");
    if (!whole)
      result = expandDims(result, axis);
    ++axis;
  }
  if (object.type.isTile() && axis > static_cast<int64_t>(result.type.shape.size()))
    fail("the index has " + std::to_string(axis) + " dims, the tile " + toString(object.type) +
         " has fewer");
  return result;
}

// --- conditions
// -----------------------------------------------------------------------------------------------------

Val Emitter::compare(const syntax::Compare &expr) {
  using Cmp = syntax::CmpOperator;
  Val left = expression(*expr.left);
  std::optional<Val> all;
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    Val right = expression(*expr.comparators[i]), result;
    here = expr.range;
    switch (expr.ops[i]) {
    case Cmp::Is:
    case Cmp::IsNot: {
      bool both = left.isConstexpr() && right.isConstexpr();
      bool same =
          both && (left.constant.isSame(right.constant) ||
                   (left.constant.isObject() && host::equal(left.constant, right.constant)));
      result = Val::of(host::Value(same == (expr.ops[i] == Cmp::Is)));
      break;
    }
    case Cmp::In:
    case Cmp::NotIn: {
      bool found = interpreter.contains(toHost(right, "the right side of 'in'"),
                                        toHost(left, "the left side of 'in'"));
      result = Val::of(host::Value(found == (expr.ops[i] == Cmp::In)));
      break;
    }
    default:
      result = comparison(expr.ops[i], left, right);
    }
    if (all && all->isConstexpr() && result.isConstexpr())
      all = Val::of(
          host::Value(interpreter.truth(all->constant) && interpreter.truth(result.constant)));
    else
      all = all ? binary(syntax::Operator::BitAnd, truthOf(*all), truthOf(result)) : result;
    left = right;
  }
  return *all;
}

Val Emitter::boolOp(const syntax::BoolOp &expr) {
  bool isAnd = expr.op == syntax::BoolOperator::And;
  std::vector<Val> flags;
  Val last;
  for (const auto &part : expr.values) {
    last = expression(*part);
    auto known = constantTruth(last);
    if (known && *known != isAnd)
      return last;
    if (!known)
      flags.push_back(truthOf(last));
  }
  if (flags.empty())
    return last;
  Val result = flags.back();
  for (size_t i = flags.size() - 1; i-- > 0;)
    result = binary(isAnd ? syntax::Operator::BitAnd : syntax::Operator::BitOr, flags[i], result);
  return result;
}

Val Emitter::conditional(const syntax::IfExp &expr) {
  Val condition = expression(*expr.test);
  if (auto known = constantTruth(condition))
    return expression(*known ? *expr.body : *expr.orelse);
  here = expr.test->range;
  condition = scalarCondition(condition, "'a if c else b'", "write tl.where(c, a, b)");
  here = expr.range;
  auto holder = scf::IfOp::create(builder, loc(), TypeRange{}, condition.value, true);
  std::map<std::string, Val> before = frame->names;
  auto side = [&](Block *block, const syntax::Expr &value) {
    OpBuilder::InsertionGuard guard(builder);
    if (!block->empty())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    Val result = toTensor(expression(value));
    frame->names = before;
    return result;
  };
  Val a = side(holder.thenBlock(), *expr.body), b = side(holder.elseBlock(), *expr.orelse);
  if (!(a.type == b.type))
    fail("both sides of 'a if c else b' must have one type, got " + toString(a.type) + " and " +
         toString(b.type));
  auto typed =
      scf::IfOp::create(builder, loc(), TypeRange{a.value.getType()}, condition.value, true);
  typed.getThenRegion().takeBody(holder.getThenRegion());
  typed.getElseRegion().takeBody(holder.getElseRegion());
  holder.erase();
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, value] :
       {std::pair{typed.thenBlock(), a.value}, std::pair{typed.elseBlock(), b.value}}) {
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, loc(), value);
  }
  return Val::tensor(typed.getResult(0), a.type);
}

} // namespace pellucid::frontend
