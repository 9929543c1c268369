// SPDX-License-Identifier: Apache-2.0
// for and while.
#include "frontend/Emitter.h"

#include "frontend/Names.h"

#include <algorithm>

namespace pellucid::frontend {

using namespace mlir;

DataType promoteIntegers(DataType a, DataType b);

namespace {

/// The variables a loop carries from one pass to the next: those that have a value before it and
/// another after a pass.
struct Carried {
  std::vector<std::string> names;
  std::vector<Val> inits; ///< values of the kernel, and tuples of them
};

/// A block outside the IR, thrown away with what was emitted into it.
class ScratchBlock {
public:
  explicit ScratchBlock(Emitter &emitter)
      : e(emitter), guard(emitter.builder), names(emitter.frame->names) {
    e.builder.setInsertionPointToEnd(&block);
    ++e.rehearsals;
  }
  ~ScratchBlock() {
    --e.rehearsals;
    block.dropAllReferences();
    block.dropAllDefinedValueUses();
    block.clear();
  }

private:
  Emitter &e;
  Block block;
  OpBuilder::InsertionGuard guard;

public:
  const std::map<std::string, Val> names; ///< as they were before
};

/// A number that a loop changes is a value of the kernel; what is no value of the kernel cannot be
/// carried. The constants of an aggregate stay what they are.
std::optional<Val> asCarried(Emitter &e, const Val &value) {
  if (value.isTuple()) {
    Val out = value;
    for (Val &element : out.elements) {
      if (isAggregate(value) && element.isConstexpr())
        continue;
      auto inner = asCarried(e, element);
      if (!inner)
        return std::nullopt;
      element = *inner;
    }
    return out;
  }
  if (value.isNumber())
    return e.toTensor(value);
  if (value.isConstexpr() || value.kind == Val::Kind::Undefined)
    return std::nullopt;
  return value;
}

void flatten(const Val &value, SmallVector<mlir::Value> &out) {
  for (const Val &element : value.elements)
    flatten(element, out);
  if (!value.isTuple() && !value.isConstexpr())
    out.push_back(value.value);
}

SmallVector<mlir::Value> flatValues(const std::vector<Val> &values) {
  SmallVector<mlir::Value> out;
  for (const Val &value : values)
    flatten(value, out);
  return out;
}

/// `shape` with its values taken from `values` in order.
Val refill(const Val &shape, ValueRange values, unsigned &next) {
  Val out = shape;
  for (Val &element : out.elements)
    element = refill(element, values, next);
  if (!out.isTuple() && !out.isConstexpr())
    out.value = values[next++];
  return out;
}

void bind(Emitter &e, const Carried &carried, ValueRange values) {
  unsigned next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i)
    e.frame->names[carried.names[i]] = refill(carried.inits[i], values, next);
}

std::string describeCarried(const Val &value) {
  return value.isTuple()       ? "a tuple of " + std::to_string(value.elements.size())
         : value.isTensor()    ? toString(value.type)
         : value.isConstexpr() ? host::repr(value.constant)
                               : toString(value.type);
}

/// What a carried variable is at the end of the body; it must keep its type.
Val carriedResult(Emitter &e, const std::string &name, const Val &init, const Val &now) {
  Val value = now;
  bool same = init.isTuple()       ? now.isTuple() && now.elements.size() == init.elements.size() &&
                                         now.tupleClass == init.tupleClass
              : init.isConstexpr() ? now.isConstexpr() && host::equal(init.constant, now.constant)
                                   : now.isNumber() || now.kind == init.kind;
  if (same && init.isTuple())
    for (size_t i = 0; i < init.elements.size(); ++i)
      value.elements[i] = carriedResult(e, name, init.elements[i], now.elements[i]);
  else if (same && now.isNumber() && !init.isConstexpr())
    value = e.toTensor(now);
  if (!same || (!init.isTuple() && !(value.type == init.type)))
    e.failAt(now.range.line ? now.range : e.here,
             "loop-carried variable '" + name + "' has type " + describeCarried(init) +
                 " before the loop and " + describeCarried(value) +
                 " after one pass; make it one type, for example with .to()");
  return value;
}

/// Emits the body once to see which names it changes. Names that it merely mentions on paths not
/// taken while compiling stay what they are, constexprs included.
Carried findCarried(Emitter &e, const syntax::List<syntax::Stmt> &body,
                    const std::string &induction) {
  std::vector<std::string> candidates;
  for (const std::string &name : assignedNames(body))
    if (name != induction && e.frame->names.count(name))
      candidates.push_back(name);
  Carried carried;
  if (candidates.empty())
    return carried;
  std::vector<std::string> changed;
  SourceRange where = e.here;
  {
    ScratchBlock scratch(e);
    e.loopBody(body);
    for (const std::string &name : candidates) {
      const Val &before = scratch.names.at(name), &now = e.frame->names[name];
      if (sameValue(before, now) || before.kind == Val::Kind::Undefined)
        continue;
      if (auto init = asCarried(e, before)) {
        carriedResult(e, name, *init, now);
        changed.push_back(name);
      }
    }
    e.frame->names = scratch.names;
  }
  e.here = where;
  for (const std::string &name : changed) {
    carried.names.push_back(name);
    carried.inits.push_back(*asCarried(e, e.frame->names[name]));
  }
  return carried;
}

SmallVector<mlir::Value> carriedResults(Emitter &e, const Carried &carried) {
  std::vector<Val> results;
  for (size_t i = 0; i < carried.names.size(); ++i)
    results.push_back(
        carriedResult(e, carried.names[i], carried.inits[i], e.frame->names[carried.names[i]]));
  return flatValues(results);
}

/// After a loop: the names from before it, the carried ones with the loop's results. What the body
/// introduced has no value, since the body may never have run.
void leaveLoop(Emitter &e, const std::map<std::string, Val> &before, const Carried &carried,
               ValueRange results, uint32_t line) {
  std::map<std::string, Val> inside = std::move(e.frame->names);
  e.frame->names = before;
  for (const auto &[name, value] : inside)
    if (!before.count(name) && !value.isConstexpr())
      e.frame->names[name] =
          Val::undefined("'" + name + "' is assigned inside the loop in line " +
                         std::to_string(line) + " only; give it a value before the loop");
  bind(e, carried, results);
}

void setLoopAttributes(Emitter &e, Operation *loop, const std::map<std::string, Val> &options) {
  for (const auto &[key, value] : options) {
    if (key == "step" || key == "disable_licm" || value.isNone())
      continue;
    if (key == "num_stages" || key == "loop_unroll_factor")
      loop->setAttr("tt." + key, e.builder.getI32IntegerAttr(
                                     static_cast<int32_t>(e.constantInt(value, key.c_str()))));
    else if (key == "flatten" || key == "warp_specialize" || key == "disallow_acc_multi_buffer") {
      if (e.constantBool(value, key.c_str()))
        loop->setAttr("tt." + key, e.builder.getUnitAttr());
    } else
      e.fail("'tl.range' has no parameter '" + key + "'");
  }
}

} // namespace

void Emitter::loopBody(const syntax::List<syntax::Stmt> &body) {
  ++loopDepth;
  statements(body);
  --loopDepth;
}

void Emitter::unrolledLoop(const syntax::For &statement, const std::vector<Val> &elements) {
  for (const Val &element : elements) {
    assign(*statement.target, element);
    loopBody(statement.body);
    // An empty pass counts too.
    ++emittedStatements;
  }
}

/// `py.range`, `tl.range` or `tl.static_range`, where the loop runs over a call of one; else empty.
std::string Emitter::rangeName(const syntax::Expr &iter) {
  auto *called = syntax::as<syntax::Call>(&iter);
  if (!called)
    return "";
  Val callee = expression(*called->func);
  auto *builtin = callee.isConstexpr() ? callee.constant.as<host::NamedBuiltin>() : nullptr;
  for (const char *name : {"py.range", "tl.range", "tl.static_range"})
    if (builtin && builtin->name == name)
      return name;
  return "";
}

/// Triton's compiler reads the positional arguments of Python's own range and passes over its
/// keywords, a step too. So do we, and say so where that changes what runs.
static void passOver(Emitter &e, const syntax::Keyword &keyword, const std::string &key) {
  Val value = e.expression(*keyword.value);
  bool isOne = value.isNumber() && value.constant.isInt() && value.constant.integer() == 1;
  if (key != "step" || isOne || e.rehearsals)
    return;
  Diagnostic warning = e.diagnosticAt(
      keyword.range,
      "Triton ignores the keywords of Python's range, so this loop steps by 1; write "
      "the step as the third argument, or tl.range(..., step=...)");
  warning.severity = Severity::Warning;
  e.interpreter.hooks().warn(std::move(warning));
}

/// Start, end and step of a call of a range, and the options of tl.range.
std::vector<Val> Emitter::rangeArguments(const syntax::Call &call, const std::string &name,
                                         std::map<std::string, Val> &options) {
  std::vector<Val> bounds = elementsOf(call.args);
  static const char *parameters[] = {
      "num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer",
      "flatten",    "warp_specialize",    "disable_licm"};
  for (size_t i = 3; i < bounds.size() && i < 9 && name == "tl.range"; ++i)
    options[parameters[i - 3]] = bounds[i];
  if (name == "tl.range" && bounds.size() > 3 && bounds.size() < 10)
    bounds.resize(3);
  const std::string shown = name.starts_with("py.") ? name.substr(3) : name;
  for (const auto &keyword : call.keywords) {
    std::string key = keyword->arg.value_or("**");
    bool isBound = key == "arg1" || key == "arg2" || key == "step";
    bool isOption =
        std::find(std::begin(parameters), std::end(parameters), key) != std::end(parameters);
    if (name == "py.range" && (key == "step" || isOption)) {
      passOver(*this, *keyword, key);
      continue;
    }
    if (name == "py.range" || (!isBound && (name != "tl.range" || !isOption)))
      failAt(keyword->range, "'" + shown + "' has no parameter '" + key + "'");
    Val value = expression(*keyword->value);
    size_t place = key == "arg1" ? 0 : key == "arg2" ? 1 : key == "step" ? 2 : 3;
    if (place < bounds.size() && isBound)
      failAt(keyword->range, "'" + shown + "' got two values for '" + key + "'");
    if (!options.emplace(key, value).second)
      failAt(keyword->range, "'" + shown + "' got two values for '" + key + "'");
  }
  if (options.count("arg1"))
    bounds.insert(bounds.begin(), options.extract("arg1").mapped());
  if (options.count("arg2"))
    bounds.push_back(options.extract("arg2").mapped());
  if (bounds.empty() || bounds.size() > 3)
    failAt(call.range, "range takes one to three arguments, got " + std::to_string(bounds.size()));
  if (bounds.size() == 1)
    bounds.insert(bounds.begin(), Val::integer(0));
  if (bounds.size() == 2 || bounds[2].isNone())
    bounds.resize(2),
        bounds.push_back(options.count("step") && !options["step"].isNone() ? options["step"]
                                                                            : Val::integer(1));
  options.erase("step");
  return bounds;
}

std::vector<Val> Emitter::staticRange(const std::vector<Val> &bounds) {
  int64_t at = constantInt(bounds[0], "static_range's start"),
          end = constantInt(bounds[1], "static_range's end"),
          by = constantInt(bounds[2], "static_range's step");
  if (by == 0)
    fail("static_range's step must not be 0");
  // Unsigned, because the distance of two 64-bit integers may be longer than one.
  uint64_t distance = 0, stride = by > 0 ? uint64_t(by) : -uint64_t(by);
  if (by > 0 ? at < end : at > end)
    distance = by > 0 ? uint64_t(end) - uint64_t(at) : uint64_t(at) - uint64_t(end);
  uint64_t passes = distance / stride + (distance % stride != 0);
  if (passes > mostStatements)
    failUnsupported("static_range runs " + std::to_string(passes) +
                    " passes, and a kernel unrolls to at most " + std::to_string(mostStatements) +
                    " statements; write tl.range, a loop that runs, or fewer passes");
  std::vector<Val> elements;
  for (uint64_t pass = 0; pass < passes; ++pass)
    elements.push_back(Val::integer(at + static_cast<int64_t>(pass) * by));
  return elements;
}

void Emitter::forStatement(const syntax::For &statement) {
  if (!statement.orelse.empty())
    failUnsupported("'else' of a loop is not part of the kernel language");
  const syntax::Expr &iter = *statement.iter;
  std::string name = rangeName(iter);
  if (name.empty()) {
    Val over = expression(iter);
    if (!over.isTuple())
      failAt(iter.range, "a loop runs over range, tl.range, tl.static_range or a tuple");
    unrolledLoop(statement, over.elements);
    return;
  }
  std::map<std::string, Val> options;
  std::vector<Val> bounds = rangeArguments(static_cast<const syntax::Call &>(iter), name, options);
  here = iter.range;
  if (name == "tl.static_range")
    unrolledLoop(statement, staticRange(bounds));
  else
    rangeLoop(statement, bounds, options);
}

void Emitter::rangeLoop(const syntax::For &statement, const std::vector<Val> &given,
                        const std::map<std::string, Val> &options) {
  auto *target = syntax::as<syntax::Name>(statement.target.get());
  if (!target)
    failAt(statement.target->range, "the variable of a range loop is one name");
  std::vector<Val> bounds = given;
  bool negative =
      bounds[2].isNumber() && bounds[2].constant.isInt() && bounds[2].constant.integer() < 0;
  if (negative) {
    // range(a, b, -s) runs like range(b, a, s) with the index counted from the other end.
    bounds[2] = unary(syntax::UnaryOperator::USub, bounds[2]);
    std::swap(bounds[0], bounds[1]);
  }
  for (Val &bound : bounds) {
    TlType type = typeOf(bound);
    if (!type.isInt() || type.isTile())
      fail("the bounds of range must be integer scalars, got " + toString(type));
    bound = toTensor(bound);
  }
  DataType type = promoteIntegers(promoteIntegers(bounds[0].type.element, bounds[1].type.element),
                                  bounds[2].type.element);
  for (Val &bound : bounds)
    bound = cast(bound, type);
  std::map<std::string, Val> before = frame->names;
  // The rehearsal sees an index that is no constant; the lower bound stands in for it.
  frame->names[target->id] = bounds[0];
  Carried carried = findCarried(*this, statement.body, target->id);
  auto loop = scf::ForOp::create(builder, loc(), bounds[0].value, bounds[1].value, bounds[2].value,
                                 flatValues(carried.inits));
  setLoopAttributes(*this, loop, options);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = loop.getBody();
    if (!body->empty())
      body->back().erase();
    builder.setInsertionPointToEnd(body);
    Val index = Val::tensor(loop.getInductionVar(), {type, false, {}});
    if (negative)
      index =
          binary(syntax::Operator::Add, binary(syntax::Operator::Sub, bounds[1], index), bounds[0]);
    frame->names[target->id] = index;
    bind(*this, carried, loop.getRegionIterArgs());
    loopBody(statement.body);
    here = statement.range;
    scf::YieldOp::create(builder, loc(), carriedResults(*this, carried));
  }
  before.erase(target->id);
  leaveLoop(*this, before, carried, loop.getResults(), statement.range.line);
}

/// `while tl.condition(c, disable_licm=True)`: what the option says of code motion changes no
/// value.
Val Emitter::emitCondition(Bound &args) { return args[0]; }

void Emitter::whileStatement(const syntax::While &statement) {
  if (!statement.orelse.empty())
    failUnsupported("'else' of a loop is not part of the kernel language");
  if (assignsNames(*statement.test))
    failAt(statement.test->range,
           "':=' in the condition of a 'while' is not part of the kernel language; assign the name "
           "before the loop and at the end of its body");
  Carried carried = findCarried(*this, statement.body, "");
  SmallVector<mlir::Value> inits = flatValues(carried.inits);
  SmallVector<mlir::Type> types;
  for (mlir::Value init : inits)
    types.push_back(init.getType());
  auto loop = scf::WhileOp::create(builder, loc(), types, inits);
  std::map<std::string, Val> before = frame->names;
  SmallVector<Location> places(types.size(), loc());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *check = builder.createBlock(&loop.getBefore(), {}, types, places);
    bind(*this, carried, check->getArguments());
    Val condition = expression(*statement.test);
    here = statement.test->range;
    condition = scalarCondition(condition.isNumber() ? toTensor(condition) : condition, "a 'while'",
                                "reduce it to one value");
    scf::ConditionOp::create(builder, loc(), condition.value, check->getArguments());
    frame->names = before;
    Block *body = builder.createBlock(&loop.getAfter(), {}, types, places);
    bind(*this, carried, body->getArguments());
    loopBody(statement.body);
    here = statement.range;
    scf::YieldOp::create(builder, loc(), carriedResults(*this, carried));
  }
  leaveLoop(*this, before, carried, loop.getResults(), statement.range.line);
}

} // namespace pellucid::frontend
