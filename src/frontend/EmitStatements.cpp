// SPDX-License-Identifier: Apache-2.0
#include "frontend/Emitter.h"

#include <algorithm>
#include <functional>
#include <set>

namespace pellucid::frontend {

using namespace mlir;

namespace {

/// Calls `visit` for every statement in the list and in the bodies of its compound statements.
void walk(const syntax::List<syntax::Stmt> &list, const std::function<void(const syntax::Stmt &)> &visit) {
  for (const auto &statement : list) {
    visit(*statement);
    if (auto *branch = syntax::as<syntax::If>(statement.get())) {
      walk(branch->body, visit);
      walk(branch->orelse, visit);
    } else if (auto *loop = syntax::as<syntax::For>(statement.get())) {
      walk(loop->body, visit);
    } else if (auto *whileLoop = syntax::as<syntax::While>(statement.get())) {
      walk(whileLoop->body, visit);
    } else if (auto *with = syntax::as<syntax::With>(statement.get())) {
      walk(with->body, visit);
    }
  }
}

bool containsReturn(const syntax::List<syntax::Stmt> &list) {
  bool found = false;
  walk(list, [&](const syntax::Stmt &s) { found |= s.kind == syntax::StmtKind::Return; });
  return found;
}

void addTargets(const syntax::Expr &target, std::vector<std::string> &names) {
  if (auto *name = syntax::as<syntax::Name>(&target)) {
    if (std::find(names.begin(), names.end(), name->id) == names.end())
      names.push_back(name->id);
  } else if (auto *tuple = syntax::as<syntax::Tuple>(&target)) {
    for (const auto &element : tuple->elts)
      addTargets(*element, names);
  } else if (auto *list = syntax::as<syntax::ListExpr>(&target)) {
    for (const auto &element : list->elts)
      addTargets(*element, names);
  }
}

/// The names that statements of the list assign, in order of first assignment.
std::vector<std::string> assignedNames(const syntax::List<syntax::Stmt> &list) {
  std::vector<std::string> names;
  walk(list, [&](const syntax::Stmt &s) {
    if (auto *assign = syntax::as<syntax::Assign>(&s)) {
      for (const auto &target : assign->targets)
        addTargets(*target, names);
    } else if (auto *augmented = syntax::as<syntax::AugAssign>(&s)) {
      addTargets(*augmented->target, names);
    } else if (auto *annotated = syntax::as<syntax::AnnAssign>(&s)) {
      addTargets(*annotated->target, names);
    } else if (auto *loop = syntax::as<syntax::For>(&s)) {
      addTargets(*loop->target, names);
    }
  });
  return names;
}

/// The values of the kernel inside `value`, tuples opened.
void flatten(const Val &value, std::vector<Val> &out) {
  if (value.isTuple())
    for (const Val &element : value.elements)
      flatten(element, out);
  else
    out.push_back(value);
}

bool sameValue(const Val &a, const Val &b) {
  if (a.kind != b.kind)
    return false;
  if (a.isTuple()) {
    if (a.elements.size() != b.elements.size())
      return false;
    for (size_t i = 0; i < a.elements.size(); ++i)
      if (!sameValue(a.elements[i], b.elements[i]))
        return false;
    return true;
  }
  return a.isConstexpr() ? host::equal(a.constant, b.constant) && a.constant.kind() == b.constant.kind() : a.value == b.value;
}

} // namespace

mlir::Location Emitter::loc() {
  return FileLineColLoc::get(&context, frame->module->file->path(), here.line, here.column);
}

void Emitter::fail(const std::string &message) { failAt(here, message); }

void Emitter::failAt(SourceRange range, const std::string &message) {
  Diagnostic diagnostic(Severity::Error, {frame->module->file, range}, message);
  for (Frame *inner = frame; inner->caller; inner = inner->caller)
    diagnostic.note({inner->caller->module->file, inner->callSite}, "in the call of '" + inner->function->name() + "' here");
  throw DiagnosticError(std::move(diagnostic));
}

Emitter::Flow Emitter::statements(const Statements &list) {
  for (size_t i = 0; i < list.size(); ++i) {
    const syntax::Stmt &statement = *list[i];
    here = statement.range;
    Statements rest(list.begin() + static_cast<long>(i) + 1, list.end());
    switch (statement.kind) {
    case syntax::StmtKind::Pass:
      break;
    case syntax::StmtKind::Return: {
      const auto &ret = static_cast<const syntax::Return &>(statement);
      if (loopDepth > 0)
        fail("'return' inside a loop is not part of the kernel language");
      Val value = ret.value ? expression(*ret.value) : Val();
      if (frame->isKernel && !value.isNone())
        fail("a kernel returns nothing");
      return {true, value};
    }
    case syntax::StmtKind::Expr:
      // A text that stands alone is a comment.
      if (!syntax::as<syntax::Constant>(static_cast<const syntax::ExprStmt &>(statement).value.get()))
        expression(*static_cast<const syntax::ExprStmt &>(statement).value);
      break;
    case syntax::StmtKind::Assign: {
      const auto &assignment = static_cast<const syntax::Assign &>(statement);
      Val value = expression(*assignment.value);
      for (const auto &target : assignment.targets)
        assign(*target, value);
      break;
    }
    case syntax::StmtKind::AnnAssign: {
      const auto &assignment = static_cast<const syntax::AnnAssign &>(statement);
      if (!assignment.value)
        break;
      Val value = expression(*assignment.value);
      if (auto *attr = syntax::as<syntax::Attribute>(assignment.annotation.get()); attr && attr->attr == "constexpr" && !value.isConstexpr() && !value.isTuple())
        failAt(assignment.value->range, "a value annotated tl.constexpr must be known while compiling, got " + toString(value.type));
      assign(*assignment.target, value);
      break;
    }
    case syntax::StmtKind::AugAssign: {
      const auto &assignment = static_cast<const syntax::AugAssign &>(statement);
      Val left = expression(*assignment.target), right = expression(*assignment.value);
      here = statement.range;
      assign(*assignment.target, binary(assignment.op, left, right));
      break;
    }
    case syntax::StmtKind::If: {
      const auto &branch = static_cast<const syntax::If &>(statement);
      Val condition = expression(*branch.test);
      if (auto known = constantTruth(condition)) {
        Statements chosen;
        for (const auto &inner : *known ? branch.body : branch.orelse)
          chosen.push_back(inner.get());
        Flow flow = statements(chosen);
        if (flow.returned)
          return flow;
        break;
      }
      here = branch.test->range;
      if (condition.type.isTile())
        fail("the condition of an 'if' must be a scalar, got " + toString(condition.type) + "; use tl.where for tiles");
      if (containsReturn(branch.body) || containsReturn(branch.orelse))
        return returningIf(branch, condition, rest);
      runtimeIf(branch, condition);
      break;
    }
    case syntax::StmtKind::For:
      forStatement(static_cast<const syntax::For &>(statement));
      break;
    case syntax::StmtKind::While:
      whileStatement(static_cast<const syntax::While &>(statement));
      break;
    case syntax::StmtKind::Assert: {
      const auto &check = static_cast<const syntax::Assert &>(statement);
      Val condition = expression(*check.test);
      Val message = check.msg ? expression(*check.msg) : Val::of(host::Value(""));
      if (auto known = constantTruth(condition)) {
        if (!*known)
          failAt(check.test->range, "assertion does not hold" + (message.isConstexpr() && message.constant.isStr() && !message.constant.str().empty() ? ": " + message.constant.str() : ""));
        break;
      }
      Bound args{condition, message, Val()};
      emitDeviceAssert(args);
      break;
    }
    case syntax::StmtKind::Raise:
      fail("this 'raise' is reached with these constexpr values");
    default:
      fail("this statement is not part of the kernel language");
    }
  }
  return {};
}

void Emitter::assign(const syntax::Expr &target, Val value) {
  if (auto *name = syntax::as<syntax::Name>(&target)) {
    frame->names[name->id] = std::move(value);
    return;
  }
  const syntax::List<syntax::Expr> *targets = nullptr;
  if (auto *tuple = syntax::as<syntax::Tuple>(&target))
    targets = &tuple->elts;
  if (auto *list = syntax::as<syntax::ListExpr>(&target))
    targets = &list->elts;
  if (!targets)
    failAt(target.range, "only names and tuples of names can be assigned in a kernel");
  if (!value.isTuple() || value.elements.size() != targets->size())
    failAt(target.range, "cannot unpack " + (value.isTuple() ? std::to_string(value.elements.size()) + " values" : std::string("one value")) + " into " +
                             std::to_string(targets->size()) + " names");
  for (size_t i = 0; i < targets->size(); ++i)
    assign(*(*targets)[i], value.elements[i]);
}

// --- if -----------------------------------------------------------------------------------------------------------

namespace {

/// One side of a branch: its block, its names afterwards and what it returned.
struct Side {
  Block *block;
  std::map<std::string, Val> names;
  Emitter::Flow flow;
};

} // namespace

/// Makes `then` and `other` of one type and kind, as tensors where they differ.
static bool unify(Emitter &emitter, const std::string &name, Val &a, Block *inA, Val &b, Block *inB) {
  if (sameValue(a, b))
    return false;
  OpBuilder::InsertionGuard guard(emitter.builder);
  if (a.isTuple() && b.isTuple() && a.elements.size() == b.elements.size())
    return true;
  auto convertible = [](const Val &v) { return !v.isConstexpr() ? !v.isTuple() : v.isNumber(); };
  if (!convertible(a) || !convertible(b))
    emitter.fail("'" + name + "' is set to things that cannot be chosen between while the kernel runs");
  // A number takes the other side's type where that holds it.
  auto convert = [&](Val &v, Block *block, const Val &other) {
    if (!v.isConstexpr())
      return;
    emitter.builder.setInsertionPointToEnd(block);
    Val tensor = emitter.toTensor(v);
    if (other.isTensor() && !other.type.isTile() && !other.type.pointer && other.type.isFloating() == v.constant.isFloat())
      tensor = emitter.numberAs(v, other.type.element);
    v = tensor;
  };
  Val beforeA = a;
  convert(a, inA, b);
  convert(b, inB, a);
  if (!(a.type == b.type))
    emitter.fail("'" + name + "' has type " + toString(a.type) + " on one side of the branch and " + toString(b.type) + " on the other");
  return true;
}

void Emitter::runtimeIf(const syntax::If &statement, Val condition) {
  Val flag = truthOf(condition);
  auto holder = scf::IfOp::create(builder, loc(), TypeRange{}, flag.value, true);
  std::map<std::string, Val> before = frame->names;
  auto emitSide = [&](Block *block, const syntax::List<syntax::Stmt> &body) {
    OpBuilder::InsertionGuard guard(builder);
    if (!block->empty())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    frame->names = before;
    Statements list;
    for (const auto &inner : body)
      list.push_back(inner.get());
    Flow flow = statements(list);
    return Side{block, frame->names, flow};
  };
  Side thenSide = emitSide(holder.thenBlock(), statement.body);
  Side elseSide = emitSide(holder.elseBlock(), statement.orelse);
  here = statement.range;

  // Names that differ afterwards become results; those set on one side only are not defined behind the branch.
  std::vector<std::string> names;
  std::vector<Val> results;
  std::vector<mlir::Value> thenValues, elseValues;
  std::map<std::string, Val> after = before;
  std::function<Val(const std::string &, Val, Val)> join = [&](const std::string &name, Val a, Val b) -> Val {
    if (!unify(*this, name, a, thenSide.block, b, elseSide.block))
      return a;
    if (a.isTuple()) {
      std::vector<Val> elements;
      for (size_t i = 0; i < a.elements.size(); ++i)
        elements.push_back(join(name, a.elements[i], b.elements[i]));
      return Val::tuple(std::move(elements));
    }
    thenValues.push_back(a.value);
    elseValues.push_back(b.value);
    Val result = a;
    result.value = {};
    results.push_back(result);
    return result;
  };
  std::vector<std::pair<std::string, Val>> joined;
  for (auto &[name, value] : thenSide.names) {
    auto other = elseSide.names.find(name);
    if (other == elseSide.names.end())
      continue;
    joined.emplace_back(name, join(name, value, other->second));
  }
  SmallVector<mlir::Type> types;
  for (mlir::Value value : thenValues)
    types.push_back(value.getType());
  auto typed = scf::IfOp::create(builder, loc(), types, flag.value, true);
  typed.getThenRegion().takeBody(holder.getThenRegion());
  typed.getElseRegion().takeBody(holder.getElseRegion());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(typed.thenBlock());
    scf::YieldOp::create(builder, loc(), thenValues);
    builder.setInsertionPointToEnd(typed.elseBlock());
    scf::YieldOp::create(builder, loc(), elseValues);
  }
  holder.erase();
  size_t next = 0;
  std::function<void(Val &)> fill = [&](Val &value) {
    if (value.isTuple())
      for (Val &element : value.elements)
        fill(element);
    else if (!value.isConstexpr() && !value.value)
      value.value = typed.getResult(static_cast<unsigned>(next++));
  };
  frame->names = before;
  for (auto &[name, value] : joined) {
    fill(value);
    frame->names[name] = value;
  }
}

/// A branch with a return inside: what follows it becomes part of both sides, so every path ends in a return.
Emitter::Flow Emitter::returningIf(const syntax::If &statement, Val condition, const Statements &rest) {
  Val flag = truthOf(condition);
  auto holder = scf::IfOp::create(builder, loc(), TypeRange{}, flag.value, true);
  std::map<std::string, Val> before = frame->names;
  auto emitSide = [&](Block *block, const syntax::List<syntax::Stmt> &body) {
    OpBuilder::InsertionGuard guard(builder);
    if (!block->empty())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    frame->names = before;
    Statements list;
    for (const auto &inner : body)
      list.push_back(inner.get());
    list.insert(list.end(), rest.begin(), rest.end());
    return statements(list);
  };
  Flow thenFlow = emitSide(holder.thenBlock(), statement.body);
  Flow elseFlow = emitSide(holder.elseBlock(), statement.orelse);
  here = statement.range;
  Val a = thenFlow.returned ? thenFlow.value : Val(), b = elseFlow.returned ? elseFlow.value : Val();
  std::vector<Val> left, right;
  flatten(a, left);
  flatten(b, right);
  if (left.size() != right.size())
    fail("'" + frame->function->name() + "' returns " + std::to_string(left.size()) + " values on one path and " + std::to_string(right.size()) + " on another");
  std::vector<mlir::Value> thenValues, elseValues;
  std::vector<bool> differs;
  for (size_t i = 0; i < left.size(); ++i) {
    differs.push_back(unify(*this, "the result", left[i], holder.thenBlock(), right[i], holder.elseBlock()));
    if (differs.back()) {
      thenValues.push_back(left[i].value);
      elseValues.push_back(right[i].value);
    }
  }
  SmallVector<mlir::Type> types;
  for (mlir::Value value : thenValues)
    types.push_back(value.getType());
  auto typed = scf::IfOp::create(builder, loc(), types, flag.value, true);
  typed.getThenRegion().takeBody(holder.getThenRegion());
  typed.getElseRegion().takeBody(holder.getElseRegion());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(typed.thenBlock());
    scf::YieldOp::create(builder, loc(), thenValues);
    builder.setInsertionPointToEnd(typed.elseBlock());
    scf::YieldOp::create(builder, loc(), elseValues);
  }
  holder.erase();
  size_t next = 0;
  for (size_t i = 0; i < left.size(); ++i)
    if (differs[i])
      left[i].value = typed.getResult(static_cast<unsigned>(next++));
  Val result = left.size() == 1 && !a.isTuple() ? left[0] : Val::tuple(left);
  return {true, result};
}

// --- loops --------------------------------------------------------------------------------------------------------

void Emitter::forStatement(const syntax::For &statement) {
  if (!statement.orelse.empty())
    fail("'else' of a loop is not part of the kernel language");
  const syntax::Expr &iter = *statement.iter;
  if (auto *called = syntax::as<syntax::Call>(&iter)) {
    Val callee = expression(*called->func);
    std::string name;
    if (callee.isConstexpr()) {
      if (auto *builtin = callee.constant.as<host::NamedBuiltin>())
        name = builtin->name.substr(builtin->name.rfind('.') + 1);
      else if (auto *plain = syntax::as<syntax::Name>(called->func.get()))
        name = plain->id;
    }
    if (name == "range" || name == "static_range") {
      std::vector<Val> bounds;
      std::map<std::string, Val> options;
      for (const auto &argument : called->args)
        bounds.push_back(expression(*argument));
      for (const auto &keyword : called->keywords)
        options[keyword->arg.value_or("")] = expression(*keyword->value);
      if (bounds.empty() || bounds.size() > 3)
        failAt(iter.range, "range takes one to three arguments, got " + std::to_string(bounds.size()));
      Val start = bounds.size() > 1 ? bounds[0] : Val::of(host::Value(0));
      Val stop = bounds.size() > 1 ? bounds[1] : bounds[0];
      Val step = bounds.size() > 2 ? bounds[2] : options.count("step") ? options["step"] : Val::of(host::Value(1));
      if (name == "range") {
        rangeLoop(statement, {start, stop, step}, options);
        return;
      }
      int64_t at = constantInt(start, "static_range's start"), end = constantInt(stop, "static_range's end"), by = constantInt(step, "static_range's step");
      if (by == 0)
        failAt(iter.range, "static_range's step must not be 0");
      for (; by > 0 ? at < end : at > end; at += by) {
        assign(*statement.target, Val::of(host::Value(at)));
        Statements body;
        for (const auto &inner : statement.body)
          body.push_back(inner.get());
        if (statements(body).returned)
          fail("'return' inside a loop is not part of the kernel language");
      }
      return;
    }
  }
  Val over = expression(iter);
  if (!over.isTuple())
    failAt(iter.range, "a loop runs over range, tl.range, tl.static_range or a tuple");
  for (const Val &element : over.elements) {
    assign(*statement.target, element);
    Statements body;
    for (const auto &inner : statement.body)
      body.push_back(inner.get());
    if (statements(body).returned)
      fail("'return' inside a loop is not part of the kernel language");
  }
}

namespace {

/// The variables a loop carries: those that its body assigns and that had a value before.
struct Carried {
  std::vector<std::string> names;
  std::vector<Val> inits; ///< tensors and tuples of tensors
};

Carried carriedBy(Emitter &emitter, const syntax::List<syntax::Stmt> &body, const std::string &induction) {
  Carried carried;
  std::function<std::optional<Val>(const Val &)> asTensors = [&](const Val &value) -> std::optional<Val> {
    if (value.isTuple()) {
      std::vector<Val> elements;
      for (const Val &element : value.elements) {
        auto converted = asTensors(element);
        if (!converted)
          return std::nullopt;
        elements.push_back(*converted);
      }
      return Val::tuple(std::move(elements));
    }
    if (value.isConstexpr() && !value.isNumber())
      return std::nullopt;
    if (value.kind == Val::Kind::Descriptor)
      return std::nullopt;
    return emitter.toTensor(value);
  };
  for (const std::string &name : assignedNames(body)) {
    auto entry = emitter.frame->names.find(name);
    if (entry == emitter.frame->names.end() || name == induction)
      continue;
    auto converted = asTensors(entry->second);
    if (!converted)
      continue;
    carried.names.push_back(name);
    carried.inits.push_back(*converted);
  }
  return carried;
}

/// `shape` with its values taken from `values` in order.
Val refill(const Val &shape, ValueRange values, unsigned &next) {
  Val out = shape;
  if (out.isTuple()) {
    for (Val &element : out.elements)
      element = refill(element, values, next);
    return out;
  }
  out.value = values[next++];
  return out;
}

SmallVector<mlir::Value> flatValues(const std::vector<Val> &values) {
  std::vector<Val> flat;
  for (const Val &value : values)
    flatten(value, flat);
  SmallVector<mlir::Value> out;
  for (const Val &value : flat)
    out.push_back(value.value);
  return out;
}

/// What a carried variable is at the end of the body, brought to the type it had before.
Val carriedResult(Emitter &emitter, const std::string &name, const Val &init, const Val &now) {
  if (init.isTuple()) {
    if (!now.isTuple() || now.elements.size() != init.elements.size())
      emitter.fail("loop-carried variable '" + name + "' changes its number of elements");
    std::vector<Val> elements;
    for (size_t i = 0; i < init.elements.size(); ++i)
      elements.push_back(carriedResult(emitter, name, init.elements[i], now.elements[i]));
    return Val::tuple(std::move(elements));
  }
  Val value = now.isNumber() && init.isTensor() && !init.type.isTile() && !init.type.pointer && now.constant.isFloat() == init.type.isFloating()
                  ? emitter.numberAs(now, init.type.element)
                  : emitter.toTensor(now);
  if (!(value.type == init.type) || value.kind != init.kind)
    emitter.fail("loop-carried variable '" + name + "' has type " + toString(init.type) + " before the loop and " + toString(value.type) +
                 " after one pass; make it one type, for example with .to()");
  return value;
}

} // namespace

void Emitter::rangeLoop(const syntax::For &statement, const std::vector<Val> &given, const std::map<std::string, Val> &options) {
  here = statement.iter->range;
  auto *target = syntax::as<syntax::Name>(statement.target.get());
  if (!target)
    failAt(statement.target->range, "the variable of a range loop is one name");
  std::vector<Val> bounds = given;
  bool negative = bounds[2].isConstexpr() && bounds[2].isNumber() && bounds[2].constant.isInt() && bounds[2].constant.integer() < 0;
  if (negative) {
    // range(a, b, -s) runs like range(b, a, s) with the index counted from the other end.
    bounds[2] = unary(syntax::UnaryOperator::USub, bounds[2]);
    std::swap(bounds[0], bounds[1]);
  }
  DataType type = DataType::Int32;
  for (Val &bound : bounds) {
    bound = toTensor(bound);
    if (!bound.type.isInt() || bound.type.isTile())
      fail("the bounds of range must be integers, got " + toString(bound.type));
    if (byteSize(bound.type.element) == 8)
      type = info(bound.type.element).isSigned ? DataType::Int64 : DataType::UInt64;
  }
  for (Val &bound : bounds)
    bound = cast(bound, type);
  Carried carried = carriedBy(*this, statement.body, target->id);
  auto loop = scf::ForOp::create(builder, loc(), bounds[0].value, bounds[1].value, bounds[2].value, flatValues(carried.inits));
  for (const auto &[key, value] : options)
    if ((key == "num_stages" || key == "loop_unroll_factor") && value.isNumber())
      loop->setAttr("tt." + key, builder.getI32IntegerAttr(static_cast<int32_t>(constantInt(value, key.c_str()))));
  std::map<std::string, Val> before = frame->names;
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = loop.getBody();
    if (!body->empty())
      body->back().erase();
    builder.setInsertionPointToEnd(body);
    Val index = Val::tensor(loop.getInductionVar(), {type, false, {}});
    if (negative)
      index = binary(syntax::Operator::Add, binary(syntax::Operator::Sub, bounds[1], index), bounds[0]);
    frame->names[target->id] = index;
    unsigned next = 0;
    for (size_t i = 0; i < carried.names.size(); ++i)
      frame->names[carried.names[i]] = refill(carried.inits[i], loop.getRegionIterArgs(), next);
    Statements list;
    for (const auto &inner : statement.body)
      list.push_back(inner.get());
    ++loopDepth;
    statements(list);
    --loopDepth;
    here = statement.range;
    std::vector<Val> results;
    for (size_t i = 0; i < carried.names.size(); ++i)
      results.push_back(carriedResult(*this, carried.names[i], carried.inits[i], frame->names[carried.names[i]]));
    scf::YieldOp::create(builder, loc(), flatValues(results));
  }
  frame->names = before;
  unsigned next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i)
    frame->names[carried.names[i]] = refill(carried.inits[i], loop.getResults(), next);
}

void Emitter::whileStatement(const syntax::While &statement) {
  if (!statement.orelse.empty())
    fail("'else' of a loop is not part of the kernel language");
  Carried carried = carriedBy(*this, statement.body, "");
  SmallVector<mlir::Value> inits = flatValues(carried.inits);
  SmallVector<mlir::Type> types;
  for (mlir::Value init : inits)
    types.push_back(init.getType());
  auto loop = scf::WhileOp::create(builder, loc(), types, inits);
  std::map<std::string, Val> before = frame->names;
  SmallVector<Location> places(types.size(), loc());
  Block *check = builder.createBlock(&loop.getBefore(), {}, types, places);
  unsigned next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i)
    frame->names[carried.names[i]] = refill(carried.inits[i], check->getArguments(), next);
  Val condition = truthOf(expression(*statement.test));
  if (condition.type.isTile())
    failAt(statement.test->range, "the condition of a 'while' must be a scalar, got " + toString(condition.type));
  scf::ConditionOp::create(builder, loc(), condition.value, check->getArguments());
  frame->names = before;
  Block *body = builder.createBlock(&loop.getAfter(), {}, types, places);
  next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i)
    frame->names[carried.names[i]] = refill(carried.inits[i], body->getArguments(), next);
  Statements list;
  for (const auto &inner : statement.body)
    list.push_back(inner.get());
  ++loopDepth;
  statements(list);
  --loopDepth;
  here = statement.range;
  std::vector<Val> results;
  for (size_t i = 0; i < carried.names.size(); ++i)
    results.push_back(carriedResult(*this, carried.names[i], carried.inits[i], frame->names[carried.names[i]]));
  scf::YieldOp::create(builder, loc(), flatValues(results));
  builder.setInsertionPointAfter(loop);
  frame->names = before;
  next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i)
    frame->names[carried.names[i]] = refill(carried.inits[i], loop.getResults(), next);
}

} // namespace pellucid::frontend
