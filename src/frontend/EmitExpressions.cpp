// SPDX-License-Identifier: Apache-2.0
#include "frontend/Emitter.h"

#include <algorithm>

namespace pellucid::frontend {

using namespace mlir;

Val Emitter::fromHost(const host::Value &value) {
  host::Value plain = host::unwrapConstexpr(value);
  if (plain.isSequence()) {
    std::vector<Val> elements;
    for (const host::Value &element : plain.elements())
      elements.push_back(fromHost(element));
    return Val::tuple(std::move(elements));
  }
  return Val::of(plain);
}

host::Value Emitter::toHost(const Val &value, const std::string &what) {
  if (value.isConstexpr())
    return value.constant;
  if (value.isTuple()) {
    host::Tuple elements;
    for (const Val &element : value.elements)
      elements.push_back(toHost(element, what));
    return host::Value::tuple(std::move(elements));
  }
  fail(what + " must be known while compiling (a constexpr), got " + toString(value.type));
}

std::optional<bool> Emitter::constantTruth(const Val &value) {
  if (value.isConstexpr())
    return interpreter.truth(value.constant);
  if (value.isTuple())
    return !value.elements.empty();
  return std::nullopt;
}

Val Emitter::expression(const syntax::Expr &expr) {
  SourceRange saved = here;
  here = expr.range;
  Val result = [&]() -> Val {
    switch (expr.kind) {
    case syntax::ExprKind::Constant: {
      const auto &c = static_cast<const syntax::Constant &>(expr);
      using Type = syntax::Constant::Type;
      switch (c.type) {
      case Type::None:
        return Val();
      case Type::True:
      case Type::False:
        return Val::of(host::Value(c.type == Type::True));
      case Type::Int:
        return Val::of(host::Value(c.intValue));
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
    case syntax::ExprKind::List: {
      const auto &elements = expr.kind == syntax::ExprKind::Tuple ? static_cast<const syntax::Tuple &>(expr).elts
                                                                  : static_cast<const syntax::ListExpr &>(expr).elts;
      std::vector<Val> values;
      for (const auto &element : elements) {
        if (auto *starred = syntax::as<syntax::Starred>(element.get())) {
          Val inner = expression(*starred->value);
          if (!inner.isTuple())
            failAt(starred->range, "only a tuple can be spread with *");
          values.insert(values.end(), inner.elements.begin(), inner.elements.end());
          continue;
        }
        values.push_back(expression(*element));
      }
      return Val::tuple(std::move(values));
    }
    case syntax::ExprKind::JoinedStr: {
      std::string text;
      for (const auto &part : static_cast<const syntax::JoinedStr &>(expr).values) {
        if (auto *formatted = syntax::as<syntax::FormattedValue>(part.get())) {
          Val value = expression(*formatted->value);
          text += value.isConstexpr() ? interpreter.str(value.constant) : toString(value.type);
        } else {
          text += static_cast<const syntax::Constant &>(*part).text;
        }
      }
      return Val::of(host::Value(text));
    }
    case syntax::ExprKind::ListComp: {
      const auto &comp = static_cast<const syntax::ListComp &>(expr);
      if (comp.generators.size() != 1)
        fail("a list comprehension in a kernel takes one 'for'");
      Val over = expression(*comp.generators[0].iter);
      if (!over.isTuple())
        fail("a list comprehension in a kernel runs over a tuple or list");
      std::map<std::string, Val> before = frame->names;
      std::vector<Val> values;
      for (const Val &element : over.elements) {
        assign(*comp.generators[0].target, element);
        bool keep = true;
        for (const auto &condition : comp.generators[0].ifs) {
          auto truth = constantTruth(expression(*condition));
          if (!truth)
            failAt(condition->range, "the condition of a comprehension must be known while compiling");
          keep &= *truth;
        }
        if (keep)
          values.push_back(expression(*comp.elt));
      }
      frame->names = before;
      return Val::tuple(std::move(values));
    }
    case syntax::ExprKind::Lambda:
      fail("a lambda is not part of the kernel language; write a @triton.jit function");
    default:
      fail("this expression is not part of the kernel language");
    }
  }();
  result.range = expr.range;
  here = saved;
  return result;
}

static bool isKnownPythonBuiltin(const std::string &id) {
  static const char *names[] = {"range", "min", "max", "len", "abs", "int", "float", "bool", "isinstance", "print", "str", "tuple", "list", "getattr", "type", "sum", "zip", "enumerate"};
  return std::any_of(std::begin(names), std::end(names), [&](const char *n) { return id == n; });
}

Val Emitter::name(const syntax::Name &expr) {
  if (auto entry = frame->names.find(expr.id); entry != frame->names.end())
    return entry->second;
  if (auto found = frame->function->lookup(interpreter, expr.id)) {
    const host::Value &value = *found;
    bool allowed = value.isObject() || value.isNone();
    // Plain numbers of a module may change between launches; Triton takes only those declared constexpr.
    if (auto *constexprValue = value.as<host::Constexpr>())
      return fromHost(constexprValue->value);
    if (allowed || isKnownPythonBuiltin(expr.id))
      return Val::of(value);
    fail("'" + expr.id + "' is a global of the module and not a constexpr, so a kernel cannot use it; write " + expr.id +
         " = tl.constexpr(" + host::repr(value) + ") or pass it as an argument");
  }
  if (isKnownPythonBuiltin(expr.id))
    return Val::of(host::Value(std::make_shared<host::NamedBuiltin>("py." + expr.id)));
  fail("'" + expr.id + "' is not defined");
}

Val Emitter::attribute(const syntax::Attribute &expr) { return attributeOf(expression(*expr.value), expr.attr, expr); }

Val Emitter::attributeOf(const Val &object, const std::string &attr, const syntax::Expr &) {
  auto typeValue = [&](const TlType &type) {
    return Val::of(host::Value(std::make_shared<host::DType>(type.element, host::DType::Family::Triton, type.pointer)));
  };
  if (object.isTensor() || object.kind == Val::Kind::BlockPointer || object.kind == Val::Kind::Descriptor) {
    if (attr == "dtype")
      return typeValue(object.type.scalar());
    if (attr == "type" && !object.type.isTile())
      return typeValue(object.type.scalar());
    if (attr == "type") {
      // x.type.element_ty and x.type.scalar lead to the element; the shape is asked of x itself.
      return typeValue(object.type.scalar());
    }
    if (attr == "shape" || attr == "block_shape") {
      std::vector<Val> dims;
      for (int64_t size : object.type.shape)
        dims.push_back(Val::of(host::Value(size)));
      return Val::tuple(std::move(dims));
    }
    if (attr == "numel") {
      int64_t count = 1;
      for (int64_t size : object.type.shape)
        count *= size;
      return Val::of(host::Value(count));
    }
    if (attr == "T") {
      if (object.type.shape.size() != 2)
        fail("'.T' needs a tile of two dims, got " + toString(object.type));
      Bound args{object, Val::tuple({Val::of(host::Value(1)), Val::of(host::Value(0))})};
      return emitPermute(args);
    }
    fail("a value of type " + toString(object.type) + " has no attribute '" + attr + "'");
  }
  if (object.isConstexpr()) {
    if (attr == "value" && !object.constant.isObject())
      return object;
    if (auto *type = object.constant.as<host::DType>()) {
      if (attr == "element_ty" || attr == "scalar") {
        bool keepPointer = attr == "scalar" && type->isPointer;
        return Val::of(host::Value(std::make_shared<host::DType>(type->type, type->family, keepPointer)));
      }
    }
    if (auto found = interpreter.findAttr(object.constant, attr)) {
      host::Value value = *found;
      if (value.isObject() || value.isNone())
        return fromHost(value);
      if (object.constant.as<host::Module>())
        fail("'" + attr + "' is a global of another module and not a constexpr; write " + attr + " = tl.constexpr(" + host::repr(value) + ") there");
      return fromHost(value);
    }
  }
  fail("no attribute '" + attr + "' on " + (object.isTuple() ? std::string("a tuple") : host::repr(object.constant)));
}

Val Emitter::subscript(const syntax::Subscript &expr) {
  Val object = expression(*expr.value);
  if (object.isTuple()) {
    if (auto *slice = syntax::as<syntax::Slice>(expr.slice.get())) {
      auto bound = [&](const syntax::Ptr<syntax::Expr> &e, int64_t fallback) {
        if (!e)
          return fallback;
        int64_t v = constantInt(expression(*e), "a slice bound");
        return v < 0 ? v + static_cast<int64_t>(object.elements.size()) : v;
      };
      int64_t size = static_cast<int64_t>(object.elements.size());
      int64_t low = std::clamp<int64_t>(bound(slice->lower, 0), 0, size), high = std::clamp<int64_t>(bound(slice->upper, size), low, size);
      return Val::tuple({object.elements.begin() + low, object.elements.begin() + high});
    }
    int64_t index = constantInt(expression(*expr.slice), "an index into a tuple");
    int64_t size = static_cast<int64_t>(object.elements.size());
    if (index < -size || index >= size)
      fail("index " + std::to_string(index) + " is out of range for a tuple of " + std::to_string(size));
    return object.elements[static_cast<size_t>(index < 0 ? index + size : index)];
  }
  if (object.isConstexpr())
    return fromHost(interpreter.getItem(object.constant, toHost(expression(*expr.slice), "an index")));
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
    auto *constant = syntax::as<syntax::Constant>(part);
    auto *slice = syntax::as<syntax::Slice>(part);
    if (constant && constant->type == syntax::Constant::Type::None) {
      result = expandDims(result, axis++);
    } else if (slice && !slice->lower && !slice->upper && !slice->step) {
      ++axis;
    } else {
      failAt(part->range, "a tile can be indexed with ':' and None only; single elements are reached with tl.gather or a reduction");
    }
  }
  if (axis > static_cast<int64_t>(result.type.shape.size()))
    fail("the index has " + std::to_string(axis) + " dims, the tile " + toString(object.type) + " has fewer");
  return result;
}

Val Emitter::compare(const syntax::Compare &expr) {
  Val left = expression(*expr.left);
  std::optional<Val> all;
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    Val right = expression(*expr.comparators[i]);
    Val result;
    using Cmp = syntax::CmpOperator;
    switch (expr.ops[i]) {
    case Cmp::Is:
    case Cmp::IsNot: {
      bool same = left.isConstexpr() && right.isConstexpr() && left.constant.isSame(right.constant);
      result = Val::of(host::Value(same == (expr.ops[i] == Cmp::Is)));
      break;
    }
    case Cmp::In:
    case Cmp::NotIn: {
      bool found = interpreter.contains(toHost(right, "the right side of 'in'"), toHost(left, "the left side of 'in'"));
      result = Val::of(host::Value(found == (expr.ops[i] == Cmp::In)));
      break;
    }
    default:
      result = comparison(expr.ops[i], left, right);
    }
    if (all && all->isConstexpr() && result.isConstexpr())
      all = Val::of(host::Value(interpreter.truth(all->constant) && interpreter.truth(result.constant)));
    else
      all = all ? binary(syntax::Operator::BitAnd, truthOf(*all), truthOf(result)) : result;
    left = right;
  }
  return *all;
}

Val Emitter::boolOp(const syntax::BoolOp &expr) {
  bool isAnd = expr.op == syntax::BoolOperator::And;
  std::optional<Val> result;
  for (const auto &part : expr.values) {
    Val value = expression(*part);
    auto known = constantTruth(value);
    if (known && !result) {
      if (*known != isAnd || &part == &expr.values.back())
        return value;
      continue;
    }
    if (known) {
      if (*known == isAnd)
        continue;
      return Val::of(host::Value(!isAnd));
    }
    Val flag = truthOf(value);
    result = result ? binary(isAnd ? syntax::Operator::BitAnd : syntax::Operator::BitOr, *result, flag) : flag;
  }
  return result ? *result : Val::of(host::Value(isAnd));
}

Val Emitter::conditional(const syntax::IfExp &expr) {
  Val condition = expression(*expr.test);
  if (auto known = constantTruth(condition))
    return expression(*known ? *expr.body : *expr.orelse);
  if (condition.type.isTile())
    failAt(expr.test->range, "the condition of 'a if c else b' must be a scalar, got " + toString(condition.type) + "; write tl.where(c, a, b)");
  // Both sides are computed: expressions of the kernel language other than loads have no effects, and loads here are
  // put into the branch that asks for them.
  Val flag = truthOf(condition);
  auto ifOp = scf::IfOp::create(builder, loc(), TypeRange{}, flag.value, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(ifOp.thenBlock());
  Val a = expression(*expr.body);
  if (!a.isTensor())
    a = toTensor(a);
  builder.setInsertionPointToStart(ifOp.elseBlock());
  Val b = expression(*expr.orelse);
  if (!b.isTensor())
    b = toTensor(b);
  if (!(a.type == b.type))
    fail("both sides of 'a if c else b' must have one type, got " + toString(a.type) + " and " + toString(b.type));
  builder.setInsertionPoint(ifOp);
  auto typed = scf::IfOp::create(builder, loc(), TypeRange{a.value.getType()}, flag.value, true);
  typed.getThenRegion().takeBody(ifOp.getThenRegion());
  typed.getElseRegion().takeBody(ifOp.getElseRegion());
  for (auto [block, value] : {std::pair{typed.thenBlock(), a.value}, std::pair{typed.elseBlock(), b.value}}) {
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, loc(), value);
  }
  ifOp.erase();
  return Val::tensor(typed.getResult(0), a.type);
}

Val Emitter::call(const syntax::Call &expr) {
  // A method of a value of the kernel is the built-in of that name with the value as its first argument.
  std::vector<Val> positional;
  std::vector<std::pair<std::string, Val>> keywords;
  Val callee;
  std::string method;
  if (auto *attr = syntax::as<syntax::Attribute>(expr.func.get())) {
    Val object = expression(*attr->value);
    bool onValue = object.isTensor() || object.kind == Val::Kind::BlockPointer || object.kind == Val::Kind::Descriptor;
    if (onValue) {
      method = attr->attr;
      positional.push_back(object);
    } else {
      callee = attributeOf(object, attr->attr, *expr.func);
    }
  } else {
    callee = expression(*expr.func);
  }
  for (const auto &argument : expr.args) {
    if (auto *starred = syntax::as<syntax::Starred>(argument.get())) {
      Val spread = expression(*starred->value);
      if (!spread.isTuple())
        failAt(starred->range, "only a tuple can be spread with *");
      positional.insert(positional.end(), spread.elements.begin(), spread.elements.end());
      continue;
    }
    positional.push_back(expression(*argument));
  }
  for (const auto &keyword : expr.keywords) {
    if (!keyword->arg)
      failAt(keyword->range, "** arguments are not part of the kernel language");
    keywords.emplace_back(*keyword->arg, expression(*keyword->value));
  }
  if (!method.empty())
    return callBuiltin(method == "to" ? "cast" : method, std::move(positional), std::move(keywords));
  if (!callee.isConstexpr())
    fail("this value cannot be called");
  if (auto *jit = callee.constant.as<host::JitFunction>())
    return callFunction(*jit, std::move(positional), std::move(keywords), expr.range);
  if (auto *builtin = callee.constant.as<host::NamedBuiltin>()) {
    if (builtin->name.rfind("py.", 0) == 0) {
      bool known = true;
      Val result = pythonBuiltin(builtin->name.substr(3), positional, expr, known);
      if (known)
        return result;
    }
    return callBuiltin(builtin->name, std::move(positional), std::move(keywords));
  }
  if (auto *named = syntax::as<syntax::Name>(expr.func.get()); named && isKnownPythonBuiltin(named->id)) {
    bool known = true;
    Val result = pythonBuiltin(named->id, positional, expr, known);
    if (known)
      return result;
  }
  // tl.float32(x), tl.constexpr(x) and dtype calls.
  if (auto *type = callee.constant.as<host::DType>(); type && positional.size() == 1)
    return cast(positional[0], type->type, type->isPointer);
  return callHost(callee.constant, positional, keywords);
}

Val Emitter::callHost(const host::Value &callee, const std::vector<Val> &positional,
                      const std::vector<std::pair<std::string, Val>> &keywords) {
  host::CallArgs args;
  std::string what = "an argument of " + host::repr(callee);
  for (const Val &value : positional)
    args.positional.push_back(toHost(value, what));
  for (const auto &[key, value] : keywords)
    args.keywords.emplace_back(key, toHost(value, what));
  args.location = {frame->module->file, here};
  return fromHost(interpreter.call(callee, std::move(args)));
}

Val Emitter::pythonBuiltin(const std::string &id, std::vector<Val> &args, const syntax::Call &expr, bool &known) {
  bool allConstant = std::all_of(args.begin(), args.end(), [](const Val &v) { return v.isConstexpr(); });
  if ((id == "min" || id == "max") && args.size() >= 2 && !allConstant) {
    Val result = args[0];
    for (size_t i = 1; i < args.size(); ++i)
      result = minimumOrMaximum(result, args[i], id == "max", false);
    return result;
  }
  if (id == "abs" && args.size() == 1 && args[0].isTensor())
    return callBuiltin("abs", args, {});
  if (id == "len" && args.size() == 1 && args[0].isTuple())
    return Val::of(host::Value(static_cast<int64_t>(args[0].elements.size())));
  if (id == "isinstance" && args.size() == 2 && args[0].isTensor()) {
    std::string text = args[1].isConstexpr() ? host::repr(args[1].constant) : "";
    return Val::of(host::Value(text.find("tensor") != std::string::npos));
  }
  if ((id == "int" || id == "float" || id == "bool") && args.size() == 1 && args[0].isTensor())
    failAt(expr.range, id + "() of a value of the kernel is not possible; write x.to(tl." + (id == "int" ? "int32" : id == "float" ? "float32" : "int1") + ")");
  if (id == "print") {
    std::vector<std::pair<std::string, Val>> none;
    return callBuiltin("device_print", args, none);
  }
  if (const host::Value *value = interpreter.builtin(id))
    return callHost(*value, args, {});
  known = false;
  return Val();
}

Val Emitter::callFunction(const host::JitFunction &function, std::vector<Val> positional,
                          std::vector<std::pair<std::string, Val>> keywords, SourceRange site) {
  if (++depth > 64)
    fail("the call of '" + function.name() + "' is nested more than 64 deep; recursion is not part of the kernel language");
  Frame inner;
  inner.module = function.function->module;
  inner.function = &function;
  inner.caller = frame;
  inner.callSite = site;
  if (positional.size() > function.parameters.size())
    fail("'" + function.name() + "' takes " + std::to_string(function.parameters.size()) + " arguments, got " + std::to_string(positional.size()));
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const auto &parameter = function.parameters[i];
    if (i < positional.size()) {
      inner.names[parameter.name] = positional[i];
      continue;
    }
    auto given = std::find_if(keywords.begin(), keywords.end(), [&](const auto &k) { return k.first == parameter.name; });
    if (given != keywords.end()) {
      inner.names[parameter.name] = given->second;
      given->first.clear();
    } else if (parameter.defaultValue) {
      inner.names[parameter.name] = fromHost(*parameter.defaultValue);
    } else {
      fail("'" + function.name() + "' needs an argument for '" + parameter.name + "'");
    }
  }
  for (const auto &[key, value] : keywords)
    if (!key.empty())
      fail("'" + function.name() + "' has no parameter '" + key + "', or it is given twice");
  for (const auto &parameter : function.parameters)
    if (parameter.isConstexpr && !inner.names[parameter.name].isConstexpr() && !inner.names[parameter.name].isTuple())
      fail("parameter '" + parameter.name + "' of '" + function.name() + "' is a constexpr, got " + toString(inner.names[parameter.name].type));
  Frame *outer = frame;
  SourceRange savedHere = here;
  unsigned savedLoops = loopDepth;
  loopDepth = 0;
  frame = &inner;
  Statements body;
  for (const auto &statement : function.def().body)
    body.push_back(statement.get());
  Flow flow = statements(body);
  frame = outer;
  here = savedHere;
  loopDepth = savedLoops;
  --depth;
  return flow.returned ? flow.value : Val();
}

/// Splits a signature at its top-level commas.
static std::vector<std::pair<std::string, std::string>> signatureOf(const std::string &text) {
  std::vector<std::pair<std::string, std::string>> out;
  std::string word;
  int nesting = 0;
  auto finish = [&] {
    size_t begin = word.find_first_not_of(' ');
    if (begin == std::string::npos)
      return;
    word = word.substr(begin);
    size_t equals = word.find('=');
    out.emplace_back(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1));
    word.clear();
  };
  for (char c : text) {
    nesting += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && nesting == 0)
      finish();
    else
      word += c;
  }
  finish();
  return out;
}

static Val defaultOf(const std::string &text) {
  if (text == "None")
    return Val();
  if (text == "True" || text == "False")
    return Val::of(host::Value(text == "True"));
  if (text == "()")
    return Val::tuple({});
  if (text.front() == '"')
    return Val::of(host::Value(text.substr(1, text.size() - 2)));
  if (text.find('.') != std::string::npos)
    return Val::of(host::Value(std::stod(text)));
  return Val::of(host::Value(static_cast<int64_t>(std::stoll(text))));
}

Val Emitter::callBuiltin(const std::string &fullName, std::vector<Val> positional, std::vector<std::pair<std::string, Val>> keywords) {
  std::string shortName = fullName.substr(fullName.rfind('.') + 1);
  const Builtin *builtin = findBuiltin(shortName);
  std::string shown = fullName.find('.') == std::string::npos ? "tl." + fullName : fullName;
  if (!builtin)
    fail("'" + shown + "' is not supported");
  auto signature = signatureOf(builtin->signature);
  Bound bound(signature.size());
  std::vector<bool> given(signature.size());
  size_t next = 0;
  for (size_t i = 0; i < signature.size(); ++i) {
    if (signature[i].first[0] == '*') {
      bound[i] = Val::tuple({positional.begin() + static_cast<long>(std::min(next, positional.size())), positional.end()});
      given[i] = true;
      next = positional.size();
    } else if (next < positional.size()) {
      bound[i] = positional[next++];
      given[i] = true;
    }
  }
  if (next < positional.size())
    fail("'" + shown + "' takes " + std::to_string(signature.size()) + " arguments, got " + std::to_string(positional.size()));
  for (auto &[key, value] : keywords) {
    size_t i = 0;
    while (i < signature.size() && signature[i].first != key)
      ++i;
    // Options that only steer a GPU's caches or scheduling are read and have no meaning for the values.
    if (i == signature.size()) {
      if (key == "_semantic" || key == "_builder" || key == "_generator")
        continue;
      fail("'" + shown + "' has no parameter '" + key + "'");
    }
    if (given[i])
      fail("'" + shown + "' got two values for '" + key + "'");
    bound[i] = std::move(value);
    given[i] = true;
  }
  for (size_t i = 0; i < signature.size(); ++i) {
    if (given[i])
      continue;
    if (signature[i].second.empty())
      fail("'" + shown + "' needs an argument for '" + signature[i].first + "'");
    bound[i] = defaultOf(signature[i].second);
  }
  return (this->*builtin->emit)(bound);
}

// --- constant arguments -------------------------------------------------------------------------------------------

int64_t Emitter::constantInt(const Val &value, const char *what) {
  if (value.isConstexpr() && (value.constant.isInt() || value.constant.isBool()))
    return value.constant.isBool() ? value.constant.boolean() : static_cast<int64_t>(value.constant.integer());
  fail(std::string(what) + " must be an integer known while compiling, got " +
       (value.isTensor() ? toString(value.type) : value.isTuple() ? "a tuple" : host::repr(value.constant)));
}

std::vector<int64_t> Emitter::constantInts(const Val &value, const char *what) {
  std::vector<int64_t> out;
  if (!value.isTuple())
    return {constantInt(value, what)};
  for (const Val &element : value.elements)
    out.push_back(constantInt(element, what));
  return out;
}

bool Emitter::constantBool(const Val &value, const char *what) {
  auto known = constantTruth(value);
  if (!known)
    fail(std::string(what) + " must be known while compiling");
  return *known;
}

std::string Emitter::constantString(const Val &value, const char *what) {
  if (value.isConstexpr() && value.constant.isStr())
    return value.constant.str();
  fail(std::string(what) + " must be a string known while compiling");
}

std::pair<DataType, bool> Emitter::constantType(const Val &value, const char *what) {
  if (value.isConstexpr())
    if (auto *type = value.constant.as<host::DType>())
      return {type->type, type->isPointer};
  if (value.isConstexpr() && value.constant.isStr())
    if (auto named = dataTypeNamed(value.constant.str()))
      return {*named, false};
  fail(std::string(what) + " must be an element type such as tl.float32, got " +
       (value.isTensor() ? toString(value.type) : value.isTuple() ? "a tuple" : host::repr(value.constant)));
}

} // namespace pellucid::frontend
