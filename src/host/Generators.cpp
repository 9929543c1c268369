// SPDX-License-Identifier: Apache-2.0
/// Generator functions. A body cannot be left at a `yield` and entered again, so what asks for its
/// values runs inside: a `for` loop's body, or a `with` block of contextlib.contextmanager, is
/// called where the generator yields.
#include "host/InterpreterState.h"

namespace pellucid::host {

namespace {

class FunctionGenerator : public GeneratorCall {
public:
  FunctionGenerator(Interpreter &i, std::shared_ptr<Function> f, std::shared_ptr<Scope> s,
                    SourceLocation site)
      : interpreter(i), state(i.state()), function(std::move(f)), scope(std::move(s)),
        callSite(std::move(site)) {}
  /// As at the end of a call.
  ~FunctionGenerator() override {
    if (Interpreter::active() == &interpreter)
      releaseLocals(scope);
  }

  std::string name() const override { return function->name; }
  void run(const std::function<void(const Value &)> &sink) override {
    if (state.frames.size() >= state.options.maxDepth)
      interpreter.refuse("generators are nested too deeply (more than " +
                         std::to_string(state.options.maxDepth) + ")");
    PlaceGuard place(state);
    consumer = state.module;
    level = state.frames.size();
    struct Leave {
      FunctionGenerator &self;
      ~Leave() { self.state.frames.resize(std::min(self.level, self.state.frames.size())); }
    } leave{*this};
    state.module = function->module.get();
    state.frames.push_back({function.get(), scope, callSite});
    Evaluator::Sink give = [&](const Value &v) { suspended(sink, v); };
    Evaluator evaluator(interpreter, scope);
    evaluator.sink = &give;
    if (function->lambda) {
      result = evaluator.eval(*function->lambda->body);
      return;
    }
    evaluator.run(function->def->body);
    result = evaluator.takeResult();
  }

private:
  Interpreter &interpreter;
  Interpreter::State &state;
  std::shared_ptr<Function> function;
  std::shared_ptr<Scope> scope;
  SourceLocation callSite;
  const syntax::Module *consumer = nullptr;
  size_t level = 0;

  /// The consumer's code sees its own frames, module and handled errors, however it leaves.
  void suspended(const std::function<void(const Value &)> &sink, const Value &value) {
    struct Resume {
      Interpreter::State &state;
      PlaceGuard place;
      std::vector<Frame> frames;
      std::vector<const RaisedError *> handling;
      size_t level;
      ~Resume() {
        state.frames.resize(std::min(level, state.frames.size()));
        state.frames.insert(state.frames.end(), frames.begin(), frames.end());
        state.handling = std::move(handling);
      }
    } resume{state,
             PlaceGuard(state),
             {state.frames.begin() + static_cast<std::ptrdiff_t>(level), state.frames.end()},
             std::exchange(state.handling, {}),
             level};
    state.frames.resize(level);
    state.module = consumer;
    sink(value);
  }
};

/// Ends a generator whose consumer wants no more: GeneratorExit is raised at its `yield`.
RaisedError exitOf(Interpreter &interpreter) {
  Value exit = makeException(interpreter, interpreter.builtinClass("GeneratorExit"), {});
  return {Diagnostic(Severity::Error, interpreter.location(), "GeneratorExit"), exit};
}

/// Hands the values to `f` until it returns false. What `f` throws is not the generator's affair:
/// it passes it by.
void streamGenerator(Interpreter &interpreter, GeneratorCall &generator,
                     const std::function<bool(const Value &)> &f) {
  std::exception_ptr failure;
  std::optional<RaisedError> exit;
  try {
    generator.run([&](const Value &v) {
      if (exit)
        interpreter.raise("RuntimeError", "generator ignored GeneratorExit");
      bool goesOn = false;
      try {
        goesOn = f(v);
      } catch (...) {
        failure = std::current_exception();
      }
      if (goesOn)
        return;
      exit.emplace(exitOf(interpreter));
      throw RaisedError(*exit);
    });
  } catch (const RaisedError &error) {
    if (!exit || !error.exception.isSame(exit->exception))
      throw;
  }
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace

Value beginGenerator(Interpreter &interpreter, std::shared_ptr<Function> function,
                     std::shared_ptr<Scope> scope, SourceLocation callSite) {
  interpreter.state().capture(scope);
  auto call = std::make_shared<FunctionGenerator>(interpreter, std::move(function),
                                                  std::move(scope), std::move(callSite));
  Iterator::Producer produce = [&interpreter, call](const std::function<bool(const Value &)> &f) {
    streamGenerator(interpreter, *call, f);
  };
  auto iterator = std::make_shared<Iterator>("generator", std::move(produce));
  iterator->generator = call;
  return Value(iterator);
}

void GeneratorContext::run(Interpreter &interpreter,
                           const std::function<void(const Value &)> &body) {
  Value made = interpreter.call(function, args);
  auto iterator = made.shared<Iterator>();
  if (!iterator || !iterator->generator)
    interpreter.raise("TypeError",
                      "contextmanager needs a generator function, got one that gives " +
                          host::typeName(made));
  bool entered = false;
  iterator->generator->run([&](const Value &v) {
    if (std::exchange(entered, true))
      interpreter.raise("RuntimeError", "generator didn't stop");
    body(v);
  });
  if (!entered)
    interpreter.raise("RuntimeError", "generator didn't yield");
}

std::optional<Value> GeneratorContext::getAttr(Interpreter &interpreter, std::string_view name) {
  bool isEnter = name == "__enter__", isExit = name == "__exit__";
  auto self = std::static_pointer_cast<GeneratorContext>(shared_from_this());
  if (isEnter && interpreter.options().script)
    return native("__enter__", "",
                  [self](Interpreter &i, std::vector<Value> &) { return self->enter(i); });
  if (isExit && interpreter.options().script)
    return native("__exit__", "type=None, value=None, traceback=None",
                  [self](Interpreter &i, std::vector<Value> &a) { return self->exit(i, a[1]); });
  if (isEnter || isExit)
    interpreter.refuse("'" + std::string(name) +
                       "' of a contextlib.contextmanager is not supported by itself; enter it with "
                       "a 'with' statement");
  return std::nullopt;
}

Value GeneratorContext::enter(Interpreter &interpreter) {
  running = interpreter.call(function, args).shared<Iterator>();
  if (!running || !running->generator)
    interpreter.raise("TypeError", "contextmanager needs a generator function");
  if (auto entered = running->next(interpreter))
    return *entered;
  interpreter.raise("RuntimeError", "generator didn't yield");
}

/// Whether the exception is handled.
Value GeneratorContext::exit(Interpreter &interpreter, const Value &exception) {
  auto iterator = std::exchange(running, nullptr);
  if (!iterator)
    interpreter.raise("RuntimeError", "generator didn't yield");
  bool goesOn = false;
  if (exception.isNone()) {
    goesOn = iterator->next(interpreter).has_value();
  } else {
    try {
      goesOn = iterator->throwInto(interpreter, raisedOf(interpreter, exception)).has_value();
    } catch (const RaisedError &error) {
      if (!error.exception.isSame(exception))
        throw;
      return Value(false);
    }
  }
  if (goesOn)
    interpreter.raise("RuntimeError", exception.isNone() ? "generator didn't stop"
                                                         : "generator didn't stop after throw()");
  return Value(!exception.isNone());
}

/// As a decorator: every call of the function runs inside.
Value GeneratorContext::call(Interpreter &, CallArgs decorated) {
  auto self = std::static_pointer_cast<GeneratorContext>(shared_from_this());
  return nativeRaw("inner",
                   [self, wrapped = decorated.positional.at(0)](Interpreter &i, CallArgs inner) {
                     Value result;
                     self->run(i, [&](const Value &) { result = i.call(wrapped, inner); });
                     return result;
                   });
}

} // namespace pellucid::host
