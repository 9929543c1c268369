// SPDX-License-Identifier: Apache-2.0
#include "host/InterpreterState.h"
#include "host/Kernel.h"
#include "host/TypeForm.h"

#include <algorithm>

namespace pellucid::host {

using namespace syntax;

Evaluator::Flow Evaluator::run(const syntax::List<Stmt> &body) {
  for (const auto &s : body)
    if (Flow flow = defersErrors ? execDeferring(*s) : exec(*s); flow != Flow::Normal)
      return flow;
  return Flow::Normal;
}

Evaluator::Flow Evaluator::exec(const Stmt &s) {
  at(s);
  state.budget.step();
  switch (s.kind) {
  case StmtKind::Expr:
    eval(*as<ExprStmt>(&s)->value);
    return Flow::Normal;
  case StmtKind::Assign: {
    auto *a = as<Assign>(&s);
    Value value = eval(*a->value);
    for (const auto &t : a->targets)
      assign(*t, value);
    return Flow::Normal;
  }
  case StmtKind::AugAssign:
    execAugAssign(*as<AugAssign>(&s));
    return Flow::Normal;
  case StmtKind::AnnAssign:
    execAnnAssign(*as<AnnAssign>(&s));
    return Flow::Normal;
  case StmtKind::Return:
    result = as<Return>(&s)->value ? eval(*as<Return>(&s)->value) : Value();
    return Flow::Return;
  case StmtKind::If: {
    auto *i = as<If>(&s);
    Value test = eval(*i->test);
    at(*i->test);
    if (mergedBranch(*i, test))
      return Flow::Normal;
    return run(interpreter.truth(test) ? i->body : i->orelse);
  }
  case StmtKind::For:
    return execFor(static_cast<const For &>(s));
  case StmtKind::While:
    return execWhile(*as<While>(&s));
  case StmtKind::Break:
    return Flow::Break;
  case StmtKind::Continue:
    return Flow::Continue;
  case StmtKind::Pass:
  case StmtKind::Global:
  case StmtKind::Nonlocal:
    return Flow::Normal;
  case StmtKind::FunctionDef:
    execFunctionDef(static_cast<const FunctionDef &>(s));
    return Flow::Normal;
  case StmtKind::ClassDef:
    execClassDef(*as<ClassDef>(&s));
    return Flow::Normal;
  case StmtKind::Import:
    execImport(*as<Import>(&s));
    return Flow::Normal;
  case StmtKind::ImportFrom:
    execImportFrom(*as<ImportFrom>(&s));
    return Flow::Normal;
  case StmtKind::Assert:
    execAssert(*as<Assert>(&s));
    return Flow::Normal;
  case StmtKind::Raise:
    execRaise(*as<Raise>(&s));
    return Flow::Normal;
  case StmtKind::Try:
  case StmtKind::TryStar: {
    ++triesAround;
    struct Leave {
      unsigned &count;
      ~Leave() { --count; }
    } leave{triesAround};
    return execTry(static_cast<const Try &>(s));
  }
  case StmtKind::With:
    return execWith(static_cast<const With &>(s), 0);
  case StmtKind::Delete:
    for (const auto &t : as<Delete>(&s)->targets)
      execDelete(*t);
    return Flow::Normal;
  case StmtKind::TypeAlias:
    store(as<Name>(as<TypeAlias>(&s)->name.get())->id,
          Value(std::make_shared<Opaque>("type alias", scope->module->locate(s))));
    return Flow::Normal;
  case StmtKind::Match:
    return execMatch(*as<Match>(&s));
  case StmtKind::AsyncFunctionDef: // refused where it is called
    execFunctionDef(static_cast<const FunctionDef &>(s));
    return Flow::Normal;
  case StmtKind::AsyncFor:
  case StmtKind::AsyncWith:
    interpreter.refuse("'async' is not supported in host code; write an ordinary function");
  }
  return Flow::Normal;
}

// ---- assignment
// ----------------------------------------------------------------------------------------------------

void Evaluator::assign(const syntax::Expr &target, const Value &value) {
  switch (target.kind) {
  case ExprKind::Name:
    at(target);
    return store(as<Name>(&target)->id, value);
  case ExprKind::Tuple:
    at(target);
    return unpack(as<syntax::Tuple>(&target)->elts, value);
  case ExprKind::List:
    at(target);
    return unpack(as<ListExpr>(&target)->elts, value);
  case ExprKind::Attribute: {
    Value object = eval(*as<Attribute>(&target)->value);
    at(target);
    return interpreter.setAttr(object, as<Attribute>(&target)->attr, value);
  }
  case ExprKind::Subscript: {
    Value object = eval(*as<Subscript>(&target)->value), key = eval(*as<Subscript>(&target)->slice);
    at(target);
    return interpreter.setItem(object, key, value);
  }
  default:
    at(target);
    interpreter.refuse("cannot assign to this expression");
  }
}

void Evaluator::unpack(const syntax::List<syntax::Expr> &targets, const Value &value) {
  std::vector<Value> elements = interpreter.iterate(value);
  auto star = std::find_if(targets.begin(), targets.end(),
                           [](const auto &t) { return t->kind == ExprKind::Starred; });
  size_t wanted = targets.size();
  if (star == targets.end()) {
    if (elements.size() > wanted)
      interpreter.raise("ValueError",
                        "too many values to unpack (expected " + std::to_string(wanted) + ")");
    if (elements.size() < wanted)
      interpreter.raise("ValueError", "not enough values to unpack (expected " +
                                          std::to_string(wanted) + ", got " +
                                          std::to_string(elements.size()) + ")");
    for (size_t i = 0; i < wanted; ++i)
      assign(*targets[i], elements[i]);
    return;
  }
  if (elements.size() + 1 < wanted)
    interpreter.raise("ValueError", "not enough values to unpack (expected at least " +
                                        std::to_string(wanted - 1) + ", got " +
                                        std::to_string(elements.size()) + ")");
  auto before = static_cast<size_t>(star - targets.begin()), after = wanted - before - 1;
  for (size_t i = 0; i < before; ++i)
    assign(*targets[i], elements[i]);
  auto first = elements.begin() + static_cast<std::ptrdiff_t>(before);
  auto last = elements.end() - static_cast<std::ptrdiff_t>(after);
  assign(*as<Starred>(star->get())->value, Value::list({first, last}));
  for (size_t i = 0; i < after; ++i)
    assign(*targets[before + 1 + i], *(last + static_cast<std::ptrdiff_t>(i)));
}

static std::optional<Value> inPlace(Interpreter &interpreter, host::BinaryOp op,
                                    const Value &current, const Value &operand) {
  if (current.isObject())
    return current.object()->inPlaceOp(interpreter, op, operand);
  if (current.isList() && op == host::BinaryOp::Add) {
    std::vector<Value> more = interpreter.iterate(operand);
    current.list().insert(current.list().end(), more.begin(), more.end());
    return current;
  }
  if (current.isDict() && op == host::BinaryOp::BitOr && operand.isDict()) {
    host::Dict entries = operand.dictionary();
    for (const auto &[key, value] : entries.items())
      current.dictionary().set(key, value);
    return current;
  }
  return std::nullopt;
}

void Evaluator::execAugAssign(const AugAssign &s) {
  static constexpr host::BinaryOp table[] = {
      host::BinaryOp::Add,     host::BinaryOp::Sub,    host::BinaryOp::Mul,
      host::BinaryOp::MatMul,  host::BinaryOp::Div,    host::BinaryOp::Mod,
      host::BinaryOp::Pow,     host::BinaryOp::LShift, host::BinaryOp::RShift,
      host::BinaryOp::BitOr,   host::BinaryOp::BitXor, host::BinaryOp::BitAnd,
      host::BinaryOp::FloorDiv};
  host::BinaryOp op = table[size_t(s.op)];
  auto update = [&](const Value &current) {
    Value operand = eval(*s.value);
    at(s);
    if (auto changed = inPlace(interpreter, op, current, operand))
      return *changed;
    return interpreter.binary(op, current, operand);
  };
  if (auto *attribute = as<Attribute>(s.target.get())) {
    Value object = eval(*attribute->value);
    at(*attribute);
    Value next = update(interpreter.getAttr(object, attribute->attr));
    return interpreter.setAttr(object, attribute->attr, next);
  }
  if (auto *subscript = as<Subscript>(s.target.get())) {
    Value object = eval(*subscript->value), key = eval(*subscript->slice);
    at(*subscript);
    Value next = update(interpreter.getItem(object, key));
    return interpreter.setItem(object, key, next);
  }
  Value next = update(load(*as<Name>(s.target.get())));
  store(as<Name>(s.target.get())->id, std::move(next));
}

void Evaluator::execAnnAssign(const AnnAssign &s) {
  if (scope->form == Scope::Form::Class && s.target->kind == ExprKind::Name) {
    // Dataclasses and named tuples read the names in order; what they say is evaluated when asked.
    if (!scope->names->find("__annotations__"))
      scope->names->set("__annotations__", Value::dict());
    scope->names->at("__annotations__")
        .dictionary()
        .set(Value(as<Name>(s.target.get())->id),
             Value(std::make_shared<Annotation>(*s.annotation, scope)));
  }
  if (s.value)
    assign(*s.target, eval(*s.value));
}

/// `del name` of what has no value.
void Evaluator::raiseUnbound(const std::string &name, bool isGlobal) {
  bool isFree = scope->nonlocalNames && scope->nonlocalNames->count(name);
  if (isFree)
    interpreter.raise("NameError", "cannot access free variable '" + name +
                                       "' where it is not associated with a value in enclosing "
                                       "scope");
  if (!isGlobal && scope->form == Scope::Form::Function)
    interpreter.raise("UnboundLocalError", "cannot access local variable '" + name +
                                               "' where it is not associated with a value");
  interpreter.raise("NameError", "name '" + name + "' is not defined");
}

void Evaluator::execDelete(const syntax::Expr &target) {
  at(target);
  if (auto *name = as<Name>(&target)) {
    Scope *owner = scope.get();
    bool global = owner->globalNames && owner->globalNames->count(name->id);
    bool outer = owner->nonlocalNames && owner->nonlocalNames->count(name->id);
    for (owner = outer ? owner->parent.get() : owner; outer && owner; owner = owner->parent.get())
      if (owner->form != Scope::Form::Class && owner->locals && owner->locals->count(name->id))
        break;
    if (!owner || !(global ? scope->globals : owner->names)->erase(name->id))
      raiseUnbound(name->id, global);
    return;
  }
  if (auto *subscript = as<Subscript>(&target)) {
    Value object = eval(*subscript->value), key = eval(*subscript->slice);
    at(target);
    return interpreter.delItem(object, key);
  }
  if (auto *attribute = as<Attribute>(&target)) {
    Value object = eval(*attribute->value);
    at(target);
    if (!object.isObject() || !object.object()->delAttr(interpreter, attribute->attr))
      interpreter.raise("AttributeError", attribute->attr);
    return;
  }
  if (auto *tuple = as<syntax::Tuple>(&target)) {
    for (const auto &t : tuple->elts)
      execDelete(*t);
    return;
  }
  interpreter.refuse("cannot delete this expression");
}

// ---- loops
// ---------------------------------------------------------------------------------------------------------

Evaluator::Flow Evaluator::execFor(const For &s) {
  Value iterable = eval(*s.iter);
  at(*s.iter);
  Flow outcome = Flow::Normal;
  forEach(interpreter, iterable, [&](const Value &v) {
    assign(*s.target, v);
    Flow flow = run(s.body);
    if (flow == Flow::Break || flow == Flow::Return)
      outcome = flow;
    return outcome == Flow::Normal;
  });
  if (outcome == Flow::Normal)
    return run(s.orelse);
  return outcome == Flow::Break ? Flow::Normal : outcome;
}

Evaluator::Flow Evaluator::execWhile(const While &s) {
  for (;;) {
    Value test = eval(*s.test);
    at(*s.test);
    if (!interpreter.truth(test))
      return run(s.orelse);
    Flow flow = run(s.body);
    if (flow == Flow::Break)
      return Flow::Normal;
    if (flow == Flow::Return)
      return flow;
  }
}

// ---- errors
// --------------------------------------------------------------------------------------------------------

void Evaluator::execAssert(const Assert &s) {
  Value test = eval(*s.test);
  at(*s.test);
  auto words = [&] { return s.msg ? interpreter.str(eval(*s.msg)) : std::string(); };
  if (interpreter.hooks().assertsLater(interpreter, test, words) || interpreter.truth(test))
    return;
  Value message = s.msg ? eval(*s.msg) : Value();
  at(s);
  Value error = makeException(interpreter, interpreter.builtinClass("AssertionError"),
                              s.msg ? std::vector<Value>{message} : std::vector<Value>{});
  noteRaised(interpreter, error);
  std::string text = s.msg ? interpreter.str(message) : "";
  Diagnostic d(Severity::Error, interpreter.location(), "AssertionError: " + text);
  for (const SourceLocation &site : interpreter.callStack())
    d.note(site, "called from here");
  throw RaisedError(std::move(d), error);
}

void Evaluator::execRaise(const Raise &s) {
  if (!s.exc) {
    if (state.handling.empty())
      interpreter.raise("RuntimeError", "No active exception to reraise");
    noteHandled(interpreter, state.handling.back()->exception, false);
    throw RaisedError(*state.handling.back());
  }
  Value exception = eval(*s.exc), cause = s.cause ? eval(*s.cause) : Value();
  at(s);
  if (exception.as<Class>())
    exception = interpreter.call(exception);
  if (cause.as<Class>())
    cause = interpreter.call(cause);
  if (auto *instance = exception.as<Instance>(); instance && s.cause) {
    instance->attributes.set("__cause__", cause);
    instance->attributes.set("__suppress_context__", Value(true));
  }
  throw RaisedError(raisedOf(interpreter, exception));
}

RaisedError raisedOf(Interpreter &interpreter, Value exception) {
  if (exception.as<Class>())
    exception = interpreter.call(exception);
  auto *instance = exception.as<Instance>();
  if (!instance || !instance->cls->isSubclassOf(*interpreter.builtinClass("BaseException")))
    interpreter.raise("TypeError", "exceptions must derive from BaseException");
  noteRaised(interpreter, exception);
  std::string message = interpreter.str(exception);
  Diagnostic d(Severity::Error, interpreter.location(),
               instance->cls->name + (message.empty() ? "" : ": " + message));
  for (const SourceLocation &site : interpreter.callStack())
    d.note(site, "called from here");
  return {std::move(d), exception};
}

/// `except ImportError` and wider: what a missing optional library is caught by.
bool Evaluator::guardsImports(const Try &s) const {
  static const NameSet names = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"};
  auto covers = [](const syntax::Expr *type) {
    auto *name = as<Name>(type);
    return name && names.count(name->id);
  };
  for (const ExceptHandler &h : s.handlers) {
    if (!h.type || covers(h.type.get()))
      return true;
    if (auto *tuple = as<syntax::Tuple>(h.type.get()))
      for (const auto &t : tuple->elts)
        if (covers(t.get()))
          return true;
  }
  return false;
}

bool Evaluator::matches(const RaisedError &error, const ExceptHandler &handler) {
  return !handler.type || interpreter.isInstance(error.exception, eval(*handler.type));
}

Evaluator::Flow Evaluator::execHandlers(const Try &s, const RaisedError &error, bool &handled) {
  for (const ExceptHandler &h : s.handlers) {
    if (!matches(error, h))
      continue;
    handled = true;
    noteHandled(interpreter, error.exception, true);
    if (h.name)
      store(*h.name, error.exception);
    struct Handling {
      std::vector<const RaisedError *> &stack;
      ~Handling() { stack.pop_back(); }
    } handling{state.handling};
    state.handling.push_back(&error);
    Flow flow = run(h.body);
    if (h.name)
      scope->names->erase(*h.name);
    return flow;
  }
  return Flow::Normal;
}

/// Whether the statements only ask and name things, so that nothing is lost by leaving them.
static bool isProbe(const syntax::List<Stmt> &body) {
  return std::none_of(body.begin(), body.end(), [](const auto &statement) {
    return statement->kind == StmtKind::FunctionDef || statement->kind == StmtKind::ClassDef;
  });
}

/// The body of a `try`. Where a file is read for its kernels, what is refused in a probe at the
/// file's top level counts as an exception: it takes the way that the author wrote for machines
/// where it fails.
Evaluator::Flow Evaluator::execTriedBody(const Try &s) {
  bool isReading = defersErrors && defersImports && !s.handlers.empty() && isProbe(s.body);
  struct Leave {
    unsigned &count;
    unsigned before;
    ~Leave() { count = before; }
  } leave{probesAround, probesAround};
  probesAround = isReading ? probesAround + 1 : 0;
  try {
    return run(s.body);
  } catch (const RaisedError &) {
    throw;
  } catch (const DiagnosticError &error) {
    if (!isReading || state.budget.isSpent())
      throw;
    const ExceptHandler &first = s.handlers.front();
    Value type = first.type ? eval(*first.type) : Value(interpreter.builtinClass("Exception"));
    auto cls =
        (type.isTuple() && !type.tuple().empty() ? type.tuple().front() : type).shared<Class>();
    if (!cls || !cls->isSubclassOf(*interpreter.builtinClass("BaseException")))
      cls = interpreter.builtinClass("Exception");
    throw RaisedError(error.diagnostic,
                      makeException(interpreter, cls, {Value(error.diagnostic.message)}));
  }
}

bool Interpreter::isTrying() const { return impl->triedAround > 0; }

namespace {
/// While it lives, exceptions may be handled around.
class Tried {
public:
  Tried(uint32_t &c, bool c2) : count(c), counts(c2) { count += counts; }
  ~Tried() { count -= counts; }
  Tried(const Tried &) = delete;
  Tried &operator=(const Tried &) = delete;

private:
  uint32_t &count;
  bool counts;
};
} // namespace

/// The end of what is tried: what it has put off fails in it. What it returns stays.
void Evaluator::settleTried() {
  Value kept = result;
  interpreter.hooks().settle(interpreter);
  result = std::move(kept);
}

/// Whether the context may handle exceptions. Those of torch's own classes do not.
static bool mayHandle(const Instance &context) {
  const SourceLocation &written = context.cls->location;
  return !written.file || !written.file->path().starts_with("<torch");
}

Evaluator::Flow Evaluator::execTry(const Try &s) {
  Flow flow = Flow::Normal;
  std::optional<RaisedError> pending;
  size_t frames = state.frames.size();
  uint32_t depth = state.depth, guards = state.importGuards;
  // What was put off before belongs to the handlers around.
  interpreter.hooks().settle(interpreter);
  try {
    state.importGuards += guardsImports(s);
    {
      Tried tried(state.triedAround, !s.handlers.empty());
      flow = execTriedBody(s);
      settleTried();
    }
    state.importGuards = guards;
    if (flow == Flow::Normal)
      flow = run(s.orelse);
  } catch (const RaisedError &error) {
    pending.emplace(error);
  } catch (const Interrupted &) {
    pending.emplace(interruptionOf(interpreter));
  }
  state.importGuards = guards;
  state.depth = depth;
  state.frames.resize(frames);
  if (pending && !s.handlers.empty()) {
    // A copy: the handler may raise anew, and `finally` still runs then.
    RaisedError error = *pending;
    pending.reset();
    try {
      bool handled = false;
      flow = s.kind == StmtKind::TryStar ? execTryStar(s, error, handled)
                                         : execHandlers(s, error, handled);
      if (!handled)
        pending.emplace(error);
    } catch (const RaisedError &next) {
      pending.emplace(next);
    }
  }
  Value kept = result;
  if (Flow last = run(s.finalbody); last != Flow::Normal)
    return last;
  result = std::move(kept);
  if (pending)
    throw RaisedError(*pending);
  return flow;
}

Evaluator::Flow Evaluator::execWith(const With &s, size_t index) {
  if (index == s.items.size())
    return run(s.body);
  const WithItem &item = s.items[index];
  Value context = eval(*item.contextExpr);
  at(*item.contextExpr);
  if (auto *generator = context.as<GeneratorContext>())
    return execWithGenerator(s, index, *generator);
  auto *instance = context.as<Instance>();
  auto enter = instance ? instance->special(interpreter, "__enter__") : std::nullopt;
  if (!enter && interpreter.options().script && !context.as<Opaque>())
    interpreter.raise("TypeError", "'" + typeName(context) +
                                       "' object does not support the context manager protocol");
  if (!enter)
    interpreter.refuse("'with' over " + interpreter.repr(context) +
                       " is not supported; contexts that change nothing here (torch.no_grad(), "
                       "torch.cuda.device(...)) and classes with __enter__ and __exit__ are");
  if (interpreter.options().script && !instance->cls->find("__exit__"))
    interpreter.raise("TypeError", "'" + typeName(context) +
                                       "' object does not support the context manager protocol "
                                       "(missed __exit__ method)");
  bool handles = mayHandle(*instance);
  if (handles)
    interpreter.hooks().settle(interpreter);
  Value entered = interpreter.call(*enter);
  if (item.optionalVars)
    assign(*item.optionalVars, entered);
  Value exit = interpreter.getAttr(context, "__exit__");
  Flow flow = Flow::Normal;
  try {
    Tried tried(state.triedAround, handles);
    flow = execWith(s, index + 1);
    if (handles)
      settleTried();
  } catch (const RaisedError &error) {
    Value swallowed =
        interpreter.call(exit, {interpreter.typeOf(error.exception), error.exception, Value()});
    if (!interpreter.truth(swallowed))
      throw;
    return Flow::Normal;
  } catch (const DiagnosticError &) {
    // What cannot be traced may be run after all: modes of the library end where they end.
    const auto &file = instance->cls->location.file;
    if (interpreter.options().script && file && file->path().starts_with("<"))
      interpreter.call(exit, {Value(), Value(), Value()});
    throw;
  }
  interpreter.call(exit, {Value(), Value(), Value()});
  return flow;
}

/// The `with` block runs where the generator yields, so that what it raises is raised there.
Evaluator::Flow Evaluator::execWithGenerator(const With &s, size_t index,
                                             GeneratorContext &context) {
  std::shared_ptr<Object> keepAlive = context.shared_from_this();
  Flow flow = Flow::Normal;
  context.run(interpreter, [&](const Value &entered) {
    if (s.items[index].optionalVars)
      assign(*s.items[index].optionalVars, entered);
    flow = execWith(s, index + 1);
  });
  return flow;
}

// ---- definitions
// ---------------------------------------------------------------------------------------------------

/// The last part of a decorator's name, seen through a call: `pkg.libentry(...)` -> "libentry".
static std::string decoratorName(const syntax::Expr *e) {
  if (auto *call = as<Call>(e))
    e = call->func.get();
  if (auto *attribute = as<Attribute>(e))
    return attribute->attr;
  auto *name = as<Name>(e);
  return name ? name->id : "";
}

/// What a decorator of a kernel would choose may depend on the device or on a library that is not
/// here: the kernel stays, and a launch must then give what the decorator would.
Value Evaluator::leaveOut(const syntax::Expr &decorator, const Diagnostic &reason,
                          const Value &kernel) {
  auto unread = std::make_shared<UnreadDecorator>();
  unread->fn = kernel;
  unread->name = decoratorName(&decorator);
  unread->reason = reason;
  unread->decoratorLocation = scope->module->locate(decorator);
  Diagnostic warning = reason;
  warning.severity = Severity::Warning;
  warning.message = "'@" + unread->name + "' is left out: " + reason.message;
  interpreter.hooks().warn(std::move(warning));
  return Value(unread);
}

/// A kernel, or the one that a project's own `jit` had made of the function before it failed; else
/// None.
Value Evaluator::madeOf(const Value &value) const {
  if (isKernel(value))
    return value;
  auto *function = value.as<Function>();
  auto made = function && function->def ? state.kernelsByText.find(function->def)
                                        : state.kernelsByText.end();
  return made == state.kernelsByText.end() ? Value() : Value(made->second);
}

/// Decorators are evaluated top down and applied bottom up.
Value Evaluator::decorate(const syntax::List<syntax::Expr> &decorators, Value value) {
  // Kernels lie in classes of a file too.
  bool reads = defersErrors || (scope->form == Scope::Form::Class &&
                                state.options.defersFileErrors && interpreter.atModuleLevel());
  bool ofKernel = reads && std::any_of(decorators.begin(), decorators.end(),
                                       [](auto &d) { return decoratorName(d.get()) == "jit"; });
  std::vector<std::optional<Value>> evaluated;
  std::vector<std::optional<Diagnostic>> refused;
  for (const auto &d : decorators) {
    std::string name = decoratorName(d.get());
    evaluated.emplace_back();
    refused.emplace_back();
    try {
      if (state.options.script || !isTransparentDecorator(name))
        evaluated.back() = eval(*d);
    } catch (const DiagnosticError &error) {
      if (!ofKernel || name == "jit")
        throw;
      refused.back() = error.diagnostic;
    }
  }
  for (size_t i = decorators.size(); i-- > 0;) {
    at(*decorators[i]);
    if (refused[i])
      value = leaveOut(*decorators[i], *refused[i], value);
    if (!evaluated[i])
      continue;
    try {
      value = applyDecorator(*evaluated[i], value);
    } catch (const DiagnosticError &error) {
      Value kernel = ofKernel ? madeOf(value) : Value();
      if (kernel.isNone())
        throw;
      value = leaveOut(*decorators[i], error.diagnostic, kernel);
    }
  }
  return value;
}

Value Evaluator::applyDecorator(const Value &decorator, const Value &value) {
  auto *opaque = decorator.as<Opaque>();
  if (!opaque)
    return interpreter.call(decorator, CallArgs{{value}, {}, interpreter.location()});
  if (isKernel(value) && opaque->reason)
    throw DiagnosticError(*opaque->reason);
  if (isKernel(value))
    interpreter.refuse("'@" + opaque->path + "' over a kernel is not supported");
  return Value(std::make_shared<Opaque>("what the decorator '" + opaque->path + "' made",
                                        interpreter.location()));
}

void Evaluator::execFunctionDef(const FunctionDef &s) {
  auto f = makeFunction(s.args);
  f->name = s.name;
  f->def = &s;
  store(s.name, decorate(s.decoratorList, Value(f)));
}

std::vector<std::shared_ptr<Class>> Evaluator::basesOf(const ClassDef &s) {
  std::vector<std::shared_ptr<Class>> bases;
  for (const Value &written : evalElements(s.bases)) {
    auto *form = written.as<TypeForm>(); // `Generic[T]`, `dict[str, int]`
    const Value &base = form && !form->origin.isNone() ? form->origin : written;
    if (auto cls = base.shared<Class>())
      bases.push_back(cls);
    else if (base.as<Opaque>()) { // what it inherits from there is refused when it is used
      bases.push_back(Class::make(repr(base), "opaque"));
      bases.back()->absent = base;
    } else {
      at(s);
      interpreter.refuse("class '" + s.name + "' inherits from " + interpreter.repr(base) +
                         ", which is not a class");
    }
  }
  return bases;
}

/// `class A(B, metaclass=M, key=1)`: the keywords but for the metaclass.
CallArgs Evaluator::classKeywords(const ClassDef &s, Value &metaclass) {
  CallArgs keywords;
  keywords.location = scope->module->locate(s);
  for (const auto &keyword : s.keywords) {
    if (!keyword->arg)
      interpreter.refuse(keywords.location, "class '" + s.name +
                                                "' takes keywords from a mapping; "
                                                "write them out");
    Value value = eval(*keyword->value);
    if (*keyword->arg == "metaclass")
      metaclass = std::move(value);
    else
      keywords.keywords.emplace_back(*keyword->arg, std::move(value));
  }
  return keywords;
}

/// The text that a body begins with.
static std::optional<Value> docOf(const syntax::List<Stmt> &body) {
  auto *first = body.empty() ? nullptr : as<ExprStmt>(body[0].get());
  auto *text = first ? as<Constant>(first->value.get()) : nullptr;
  return text && text->type == Constant::Type::String ? std::optional(Value(text->text))
                                                      : std::nullopt;
}

std::shared_ptr<Scope> Evaluator::classBody(const ClassDef &s, const Dict &prepared) {
  auto body = std::make_shared<Scope>();
  body->form = Scope::Form::Class;
  body->names = std::make_shared<Namespace>();
  body->globals = scope->globals;
  body->parent = scope;
  body->module = scope->module;
  const ScopeFacts &facts = state.factsOfClass(s);
  body->locals = &facts.locals;
  body->globalNames = &facts.globals;
  body->nonlocalNames = &facts.nonlocals;
  for (const auto &[name, value] : prepared.items())
    body->names->set(interpreter.toStr(name, "a name that __prepare__ gives"), value);
  state.capture(body);
  return body;
}

/// A class made by the file's own metaclass, or by what stands in its place: a function.
Value Evaluator::callMetaclass(const ClassDef &s, const Value &metaclass, Tuple bases,
                               CallArgs keywords) {
  CallArgs call = keywords;
  call.positional = {Value(s.name), Value::tuple(bases)};
  Value names = Value::dict();
  if (metaclass.as<Class>())
    names = interpreter.call(interpreter.getAttr(metaclass, "__prepare__"), call);
  if (!contentOf(names).isDict())
    interpreter.refuse(call.location, "'__prepare__' of the metaclass of '" + s.name + "' gives " +
                                          typeName(names) + "; only a dict is supported");
  auto body = classBody(s, contentOf(names).dictionary());
  Evaluator(interpreter, body).run(s.body);
  at(s);
  Dict &held = contentOf(names).dictionary();
  const Value *module = scope->globals->find("__name__");
  held.set(Value("__module__"), module ? *module : Value(""));
  held.set(Value("__qualname__"), Value(scope->form == Scope::Form::Module
                                            ? s.name
                                            : qualifiedNameOf(*scope->module, s.range, s.name)));
  if (auto doc = docOf(s.body))
    held.set(Value("__doc__"), *doc);
  for (const auto &[name, value] : body->names->items())
    held.set(Value(name), value);
  held.set(Value("__classcell__"), Value(std::make_shared<ClassCell>(body)));
  call.positional.push_back(std::move(names));
  return interpreter.call(metaclass, std::move(call));
}

void Evaluator::execClassDef(const ClassDef &s) {
  std::vector<std::shared_ptr<Class>> bases = basesOf(s);
  Value written;
  CallArgs keywords = classKeywords(s, written);
  at(s);
  bool isFunction = !written.isNone() && !written.as<Class>() && !written.as<Opaque>();
  auto metaclass = metaclassOf(interpreter, written.shared<Class>(), bases);
  if (isFunction || (metaclass && runsOwnCode(*metaclass))) {
    Value made = callMetaclass(s, isFunction ? written : Value(metaclass),
                               Tuple(bases.begin(), bases.end()), std::move(keywords));
    return store(s.name, decorate(s.decoratorList, made));
  }
  auto cls = Class::make(s.name, "", std::move(bases));
  cls->location = scope->module->locate(s);
  // Of our own sources the module's name is no name of a library.
  const Value *module = scope->globals->find("__name__");
  if (interpreter.options().script && module && module->isStr() &&
      !(cls->location.file && cls->location.file->path().starts_with("<")))
    cls->module = module->str();
  cls->meta = metaclass;
  if (auto *absent = written.as<Opaque>())
    cls->absentMetaclass = absent->path;
  state.madeClasses.push_back(cls);
  if (scope->form != Scope::Form::Module)
    cls->qualifiedName = qualifiedNameOf(*scope->module, s.range, s.name);
  auto body = classBody(s, {});
  body->cls = cls;
  Evaluator(interpreter, body).run(s.body);
  if (auto doc = docOf(s.body))
    cls->attributes.set("__doc__", *doc);
  for (const auto &[name, value] : body->names->items())
    cls->attributes.set(name, value);
  at(s);
  completeClass(interpreter, cls, std::move(keywords));
  store(s.name, decorate(s.decoratorList, Value(cls)));
}

} // namespace pellucid::host
