// SPDX-License-Identifier: Apache-2.0
// Statements other than loops.
#include "frontend/Emitter.h"

#include "frontend/Names.h"

#include <filesystem>

namespace pellucid::frontend {

using namespace mlir;

/// The innermost frame that stands in the user's source.
static const Frame *userFrame(const Frame *frame, SourceRange &range) {
  while (frame->isStandard && frame->caller) {
    range = frame->callSite;
    frame = frame->caller;
  }
  return frame;
}

mlir::Location Emitter::loc() {
  SourceRange range = here;
  const Frame *user = userFrame(frame, range);
  return FileLineColLoc::get(&context, user->module->file->path(), range.line, range.column);
}

void Emitter::fail(const std::string &message) { failAt(here, message); }

Diagnostic Emitter::diagnosticAt(SourceRange range, const std::string &message) const {
  const Frame *user = userFrame(frame, range);
  Diagnostic diagnostic(Severity::Error, {user->module->file, range}, message);
  for (const Frame *inner = user; inner->caller; inner = inner->caller)
    if (!inner->caller->isStandard)
      diagnostic.note({inner->caller->module->file, inner->callSite},
                      "in the call of '" + inner->function->name() + "' here");
  return diagnostic;
}

void Emitter::failAt(SourceRange range, const std::string &message) {
  throw DiagnosticError(diagnosticAt(range, message));
}

void Emitter::failUnsupported(const std::string &message) {
  throw UnsupportedError(diagnosticAt(here, message));
}

/// What can be written in place of a refused statement.
static const char *insteadOf(syntax::StmtKind kind) {
  using K = syntax::StmtKind;
  switch (kind) {
  case K::FunctionDef:
    return "; define a @triton.jit function outside of it";
  case K::Import:
  case K::ImportFrom:
    return "; import at the top of the file";
  case K::Break:
  case K::Continue:
    return "; write a 'while' with a flag, or a mask";
  default:
    return "";
  }
}

static const char *statementName(syntax::StmtKind kind) {
  using K = syntax::StmtKind;
  switch (kind) {
  case K::FunctionDef:
  case K::AsyncFunctionDef:
    return "a function inside a kernel";
  case K::ClassDef:
    return "'class'";
  case K::Delete:
    return "'del'";
  case K::With:
  case K::AsyncWith:
    return "'with'";
  case K::Match:
    return "'match'";
  case K::Try:
  case K::TryStar:
    return "'try'";
  case K::Import:
  case K::ImportFrom:
    return "'import'";
  case K::Global:
    return "'global'";
  case K::Nonlocal:
    return "'nonlocal'";
  case K::Break:
    return "'break'";
  case K::Continue:
    return "'continue'";
  default:
    return "this statement";
  }
}

/// The list and what is to be done after it.
static Emitter::Statements joined(const syntax::List<syntax::Stmt> &list,
                                  const Emitter::Statements &rest) {
  Emitter::Statements all;
  for (const auto &inner : list)
    all.push_back(inner.get());
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

Emitter::Flow Emitter::statements(const syntax::List<syntax::Stmt> &list) {
  return statements(joined(list, {}));
}

Emitter::Flow Emitter::statements(const Statements &list) {
  for (size_t i = 0; i < list.size(); ++i) {
    here = list[i]->range;
    if (++emittedStatements > mostStatements)
      failUnsupported(
          "the kernel unrolls to more than " + std::to_string(mostStatements) +
          " statements, which is the limit; write the loops around this one as loops that run: "
          "tl.range instead of tl.static_range");
    if (options.stopAt)
      stopBefore(*list[i]);
    Flow flow =
        statement(*list[i], Statements(list.begin() + static_cast<long>(i) + 1, list.end()));
    if (flow.returned)
      return flow;
  }
  return {};
}

Emitter::Flow Emitter::statement(const syntax::Stmt &statement, const Statements &rest) {
  switch (statement.kind) {
  case syntax::StmtKind::Pass:
    return {};
  case syntax::StmtKind::Return: {
    const auto &ret = static_cast<const syntax::Return &>(statement);
    if (loopDepth > 0)
      failReturnInLoop(statement.range);
    Val value = ret.value ? settled(expression(*ret.value)) : Val();
    if (frame->isKernel && !value.isNone())
      fail("a kernel returns nothing");
    return {true, value};
  }
  case syntax::StmtKind::Expr: {
    // A text that stands alone is a comment.
    const syntax::Expr &value = *static_cast<const syntax::ExprStmt &>(statement).value;
    if (!syntax::as<syntax::Constant>(&value))
      expression(value);
    return {};
  }
  case syntax::StmtKind::Assign: {
    const auto &assignment = static_cast<const syntax::Assign &>(statement);
    Val value = expression(*assignment.value);
    for (const auto &target : assignment.targets)
      assign(*target, settledFor(*target, value));
    return {};
  }
  case syntax::StmtKind::AnnAssign:
    annotatedAssign(static_cast<const syntax::AnnAssign &>(statement));
    return {};
  case syntax::StmtKind::AugAssign: {
    const auto &assignment = static_cast<const syntax::AugAssign &>(statement);
    Val left = expression(*assignment.target), right = expression(*assignment.value);
    here = statement.range;
    Val result = settled(binary(assignment.op, left, right));
    result.range = statement.range;
    assign(*assignment.target, result);
    return {};
  }
  case syntax::StmtKind::If:
    return ifStatement(static_cast<const syntax::If &>(statement), rest);
  case syntax::StmtKind::For:
    forStatement(static_cast<const syntax::For &>(statement));
    return {};
  case syntax::StmtKind::While:
    whileStatement(static_cast<const syntax::While &>(statement));
    return {};
  case syntax::StmtKind::Assert:
    assertStatement(static_cast<const syntax::Assert &>(statement));
    return {};
  case syntax::StmtKind::Raise:
    fail("this 'raise' is reached with these constexpr values");
  default:
    failUnsupported(std::string(statementName(statement.kind)) +
                    " is not part of the kernel language" + insteadOf(statement.kind));
  }
}

/// Whether the statement is the one that begins at the line, or goes over it without having
/// statements of its own.
static bool standsAt(const syntax::Stmt &statement, uint32_t line) {
  using K = syntax::StmtKind;
  bool isCompound = statement.kind == K::If || statement.kind == K::For ||
                    statement.kind == K::While || statement.kind == K::With;
  const SourceRange &range = statement.range;
  return range.line == line || (!isCompound && range.line < line && line <= range.endLine);
}

void Emitter::stopBefore(const syntax::Stmt &statement) {
  if (!standsAt(statement, options.stopAt->line))
    return;
  std::error_code error;
  if (!std::filesystem::equivalent(frame->module->file->path(), options.stopAt->path, error))
    return;
  stops = true;
  for (const auto &[name, value] : frame->names)
    printVariable(name, value);
  tt::PrintOp::create(builder, loc(), builder.getStringAttr(stopPrefix), builder.getBoolAttr(false),
                      ValueRange(), builder.getDenseI32ArrayAttr({}));
}

void Emitter::printVariable(const std::string &name, const Val &value) {
  std::string label = std::string(stopPrefix) + name;
  if (value.isTuple())
    for (size_t i = 0; i < value.elements.size(); ++i)
      printVariable(name + "[" + std::to_string(i) + "]", value.elements[i]);
  bool isConstant =
      value.isNumber() || value.isNone() ||
      (value.isConstexpr() && (value.constant.isStr() || value.constant.as<host::DType>()));
  if (isConstant)
    tt::PrintOp::create(builder, loc(),
                        builder.getStringAttr(label + "=" + host::repr(value.constant)),
                        builder.getBoolAttr(false), ValueRange(), builder.getDenseI32ArrayAttr({}));
  if (!value.isTensor())
    return;
  bool isSigned = value.type.isInt() && info(value.type.element).isSigned;
  tt::PrintOp::create(builder, loc(), builder.getStringAttr(label), builder.getBoolAttr(false),
                      value.value, builder.getDenseI32ArrayAttr({isSigned}));
}

void Emitter::failReturnInLoop(SourceRange range) {
  failAt(range, "'return' inside a loop is not part of the kernel language; write a 'while' with a "
                "flag, or a mask");
}

static bool namesConstexpr(const syntax::Expr *annotation) {
  if (auto *attribute = syntax::as<syntax::Attribute>(annotation))
    return attribute->attr == "constexpr";
  if (auto *name = syntax::as<syntax::Name>(annotation))
    return name->id == "constexpr";
  auto *text = syntax::as<syntax::Constant>(annotation);
  return text && text->type == syntax::Constant::Type::String && text->text.ends_with("constexpr");
}

void Emitter::annotatedAssign(const syntax::AnnAssign &assignment) {
  auto *declared = syntax::as<syntax::Name>(assignment.target.get());
  if (!assignment.value) {
    if (declared && namesConstexpr(assignment.annotation.get()))
      frame->constants.insert(declared->id);
    return;
  }
  // As Triton; a name of which only one side of a branch made something is still free.
  if (auto known = declared ? frame->names.find(declared->id) : frame->names.end();
      known != frame->names.end() && known->second.kind != Val::Kind::Undefined &&
      namesConstexpr(assignment.annotation.get()) && !frame->isStandard)
    failAt(assignment.target->range, "'" + declared->id +
                                         "' is defined already, and a constexpr is not assigned "
                                         "again; give it another name");
  Val value = expression(*assignment.value);
  // The annotation keeps constants as they are; a value of the kernel stays one, as in Triton.
  if (!namesConstexpr(assignment.annotation.get()))
    value = settled(value);
  assign(*assignment.target, value);
}

void Emitter::assertStatement(const syntax::Assert &check) {
  Val condition = expression(*check.test);
  Val message = check.msg ? expression(*check.msg) : Val::of(host::Value(""));
  auto known = constantTruth(condition);
  if (!known) {
    Bound args{condition, message, Val()};
    emitDeviceAssert(args);
  } else if (!*known) {
    bool hasText =
        message.isConstexpr() && message.constant.isStr() && !message.constant.str().empty();
    failAt(check.test->range,
           "assertion does not hold" + (hasText ? ": " + message.constant.str() : ""));
  }
}

Val Emitter::settled(const Val &value) {
  // A field keeps being a constant, and so does what a constructor computes for it.
  if (isAggregate(value) || !frame->constructs.empty())
    return value;
  if (value.isTuple()) {
    Val out = value;
    for (Val &element : out.elements)
      element = settled(element);
    return out;
  }
  if (!value.isNumber())
    return value;
  Val out = toTensor(value);
  out.range = value.range;
  return out;
}

Val Emitter::settledFor(const syntax::Expr &target, const Val &value) {
  auto *name = syntax::as<syntax::Name>(&target);
  if (name && frame->constants.contains(name->id))
    return value;
  auto *tuple = syntax::as<syntax::Tuple>(&target);
  if (!tuple || !value.isTuple() || isAggregate(value) ||
      tuple->elts.size() != value.elements.size())
    return settled(value);
  Val out = value;
  for (size_t i = 0; i < out.elements.size(); ++i)
    out.elements[i] = settledFor(*tuple->elts[i], out.elements[i]);
  return out;
}

void Emitter::assign(const syntax::Expr &target, Val value) {
  if (auto *name = syntax::as<syntax::Name>(&target)) {
    frame->names[name->id] = std::move(value);
    return;
  }
  if (auto *tuple = syntax::as<syntax::Tuple>(&target))
    return unpack(tuple->elts, target.range, value);
  if (auto *list = syntax::as<syntax::ListExpr>(&target))
    return unpack(list->elts, target.range, value);
  if (syntax::as<syntax::Subscript>(&target))
    failAt(target.range, "elements cannot be assigned in a kernel; write tl.store for memory and "
                         "tl.where for tiles");
  if (auto *attribute = syntax::as<syntax::Attribute>(&target))
    return assignField(*attribute, value);
  failAt(target.range, "only names and tuples of names can be assigned in a kernel");
}

// --- if
// -------------------------------------------------------------------------------------------------------------

namespace {

/// An scf.if without results, whose sides are filled first; finish() gives it the results they turn
/// out to have.
class Branch {
public:
  Branch(Emitter &emitter, mlir::Value condition)
      : e(emitter), flag(condition),
        holder(scf::IfOp::create(e.builder, e.loc(), TypeRange{}, condition, true)),
        before(e.frame->names) {
    for (Block *block : {thenBlock(), elseBlock()})
      if (!block->empty())
        block->back().erase();
  }
  Block *thenBlock() { return holder.thenBlock(); }
  Block *elseBlock() { return holder.elseBlock(); }

  /// Runs `body` with the names from before the branch; afterwards `names` are those it left.
  Emitter::Flow side(bool first, const std::function<Emitter::Flow()> &body) {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(first ? thenBlock() : elseBlock());
    e.frame->names = before;
    Emitter::Flow flow = body();
    (first ? thenNames : elseNames) = e.frame->names;
    e.frame->names = before;
    return flow;
  }

  /// One value that is `a` or `b`; becomes a result where they differ. `result.value` is set by
  /// finish().
  Val join(const std::string &what, Val a, Val b) {
    if (sameValue(a, b))
      return a;
    if (a.isTuple() && b.isTuple() && a.elements.size() == b.elements.size() &&
        a.tupleClass == b.tupleClass) {
      Val both = a;
      for (size_t i = 0; i < a.elements.size(); ++i)
        both.elements[i] = join(what, a.elements[i], b.elements[i]);
      return both;
    }
    auto carriesValue = [](const Val &v) {
      return v.isTensor() || v.isNumber() || v.kind == Val::Kind::BlockPointer ||
             v.kind == Val::Kind::Descriptor;
    };
    if (!carriesValue(a) || !carriesValue(b))
      return Val::undefined(
          "'" + what +
          "' is set to different things on the two sides of a branch that is taken at run time");
    a = inBlock(a, thenBlock());
    b = inBlock(b, elseBlock());
    if (a.kind != b.kind || !(a.type == b.type))
      e.failAt(b.range.line ? b.range : e.here, "'" + what + "' has type " + toString(a.type) +
                                                    " on one side of the branch and " +
                                                    toString(b.type) +
                                                    " on the other; make it one type, for example "
                                                    "with .to()");
    thenValues.push_back(a.value);
    elseValues.push_back(b.value);
    Val result = a;
    result.value = {};
    return result;
  }

  scf::IfOp finish() {
    SmallVector<mlir::Type> types;
    for (mlir::Value value : thenValues)
      types.push_back(value.getType());
    auto typed = scf::IfOp::create(e.builder, e.loc(), types, flag, true);
    typed.getThenRegion().takeBody(holder.getThenRegion());
    typed.getElseRegion().takeBody(holder.getElseRegion());
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(typed.thenBlock());
    scf::YieldOp::create(e.builder, e.loc(), thenValues);
    e.builder.setInsertionPointToEnd(typed.elseBlock());
    scf::YieldOp::create(e.builder, e.loc(), elseValues);
    holder.erase();
    return typed;
  }

  std::map<std::string, Val> thenNames, elseNames;

private:
  Val inBlock(const Val &v, Block *block) {
    if (!v.isNumber())
      return v;
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(block);
    return e.toTensor(v);
  }

  Emitter &e;
  mlir::Value flag;
  scf::IfOp holder;
  std::map<std::string, Val> before;
  std::vector<mlir::Value> thenValues, elseValues;
};

/// Gives the joined values of `value` their results, in order.
void takeResults(Val &value, scf::IfOp op, unsigned &next) {
  for (Val &element : value.elements)
    takeResults(element, op, next);
  bool joined = !value.isTuple() && !value.isConstexpr() && value.kind != Val::Kind::Undefined &&
                !value.value;
  if (joined)
    value.value = op.getResult(next++);
}

} // namespace

Emitter::Flow Emitter::ifStatement(const syntax::If &branch, const Statements &rest) {
  Val condition = expression(*branch.test);
  if (auto known = constantTruth(condition)) {
    const auto &taken = *known ? branch.body : branch.orelse;
    if (!firstReturn(taken))
      return statements(taken);
    // A return inside may depend on a value of the kernel, and then decides over what follows.
    Flow flow = statements(joined(taken, rest));
    flow.returned = true;
    return flow;
  }
  here = branch.test->range;
  condition = scalarCondition(condition, "an 'if'", "use tl.where for tiles");
  const syntax::Stmt *inner = firstReturn(branch.body);
  if (!inner)
    inner = firstReturn(branch.orelse);
  if (inner && loopDepth > 0)
    failReturnInLoop(inner->range);
  if (inner)
    return returningIf(branch, condition, rest);
  runtimeIf(branch, condition);
  return {};
}

/// The condition as i1; a tile of one element counts as that element.
Val Emitter::scalarCondition(Val condition, const char *where, const char *advice) {
  if (!condition.isTensor())
    fail(std::string("the condition of ") + where + " must be a number or a scalar of the kernel");
  for (int64_t size : condition.type.shape)
    if (size != 1)
      fail(std::string("the condition of ") + where + " must be a scalar, got " +
           toString(condition.type) + "; " + advice);
  if (condition.type.isTile())
    condition = Val::tensor(tt::UnsplatOp::create(builder, loc(), condition.value),
                            condition.type.scalar());
  return truthOf(condition);
}

void Emitter::runtimeIf(const syntax::If &statement, Val condition) {
  Branch branch(*this, condition.value);
  branch.side(true, [&] { return statements(statement.body); });
  branch.side(false, [&] { return statements(statement.orelse); });
  here = statement.range;
  auto oneSided = [&](const std::string &name) {
    return Val::undefined("'" + name + "' is assigned on one side only of the branch in line " +
                          std::to_string(statement.range.line) +
                          "; give it a value before the branch");
  };
  std::map<std::string, Val> after;
  for (auto &[name, value] : branch.thenNames) {
    auto other = branch.elseNames.find(name);
    after[name] =
        other == branch.elseNames.end() ? oneSided(name) : branch.join(name, value, other->second);
  }
  for (auto &[name, value] : branch.elseNames)
    if (!after.count(name))
      after[name] = oneSided(name);
  scf::IfOp op = branch.finish();
  unsigned next = 0;
  // The results were joined in the order of the names.
  for (auto &[name, value] : after)
    takeResults(value, op, next);
  frame->names = std::move(after);
}

/// A branch with a return inside: what follows it becomes part of both sides, so every path ends in
/// a return.
Emitter::Flow Emitter::returningIf(const syntax::If &statement, Val condition,
                                   const Statements &rest) {
  Branch branch(*this, condition.value);
  Flow first = branch.side(true, [&] { return statements(joined(statement.body, rest)); });
  Flow second = branch.side(false, [&] { return statements(joined(statement.orelse, rest)); });
  here = statement.range;
  Val a = first.returned ? first.value : Val(), b = second.returned ? second.value : Val();
  size_t countA = a.isNone()    ? 0
                  : a.isTuple() ? a.elements.size()
                                : 1,
         countB = b.isNone()    ? 0
                  : b.isTuple() ? b.elements.size()
                                : 1;
  if (countA != countB)
    fail("'" + frame->function->name() + "' returns " + std::to_string(countA) +
         " values on one path and " + std::to_string(countB) + " on another");
  Val result = branch.join("the returned value", a, b);
  scf::IfOp op = branch.finish();
  unsigned next = 0;
  takeResults(result, op, next);
  return {true, result};
}

} // namespace pellucid::frontend
