// SPDX-License-Identifier: Apache-2.0
// assert, raise, try and with: what raises, and what handles it.
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

using namespace syntax;

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

} // namespace pellucid::host
