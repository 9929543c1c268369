// SPDX-License-Identifier: Apache-2.0
/// Iterators: elements that are produced one at a time, when they are asked for.
#include "host/InterpreterState.h"
#include "support/Coroutine.h"

#include <algorithm>

namespace pellucid::host {

namespace {

/// What of the evaluator's state belongs to the code that runs; a generator that was left has its
/// own.
struct RunningCode {
  std::vector<Frame> frames;
  const syntax::Module *module;
  const syntax::Node *node;
  std::vector<const RaisedError *> handling;
  uint32_t depth, importGuards;

  explicit RunningCode(const Interpreter::State &s)
      : frames(s.frames), module(s.module), node(s.node), depth(s.depth),
        importGuards(s.importGuards) {}
  void swap(Interpreter::State &s) {
    std::swap(frames, s.frames);
    std::swap(module, s.module);
    std::swap(node, s.node);
    std::swap(handling, s.handling);
    std::swap(depth, s.depth);
    std::swap(importGuards, s.importGuards);
  }
};

} // namespace

/// A producer that runs on a stack of its own, so that it can be left at each element.
class Suspension {
public:
  Suspension(Interpreter &i, Iterator::Producer producer, bool raises)
      : interpreter(i), code(i.state()), raisesHere(raises),
        coroutine(std::make_unique<Coroutine>([this, run = std::move(producer)] {
          run([this](const Value &v) {
            element = v;
            coroutine->suspend();
            auto &thrown = interpreter.state().thrown;
            if (thrown && raisesHere) // a generator expression has no `yield` that would
              throw RaisedError(*std::exchange(thrown, std::nullopt));
            return !isClosing;
          });
        })) {}

  std::optional<Value> next() {
    if (isRunning)
      interpreter.raise("ValueError", "generator already executing");
    struct Swap {
      Suspension &self;
      explicit Swap(Suspension &s) : self(s) { flip(true); }
      ~Swap() { flip(false); }
      void flip(bool running) {
        self.code.swap(self.interpreter.state());
        self.isRunning = running;
      }
    } swap(*this);
    bool isAtYield = coroutine->resume();
    return isAtYield ? std::exchange(element, std::nullopt) : std::nullopt;
  }

  /// The body goes on with GeneratorExit at its `yield`.
  void close() {
    isClosing = true;
    next();
  }
  /// What is left of the body is unwound, in its own state.
  void cancel() {
    code.swap(interpreter.state());
    coroutine.reset();
    code.swap(interpreter.state());
  }
  bool runs() const { return isRunning; }
  Interpreter &owner() const { return interpreter; }

private:
  Interpreter &interpreter;
  RunningCode code;
  const bool raisesHere;
  std::optional<Value> element;
  bool isClosing = false, isRunning = false;
  std::unique_ptr<Coroutine> coroutine;
};

Iterator::~Iterator() {
  if (!suspension)
    return;
  // Where nothing runs any more, as at the interpreter's end, its body is only unwound.
  Interpreter &owner = suspension->owner();
  try {
    close(owner, Interpreter::active() != &owner);
  } catch (...) { // as Python ignores what is raised while an object goes
  }
  owner.state().suspended.erase(this);
}

void Iterator::suspendAtYields(Interpreter &interpreter) {
  suspension = std::make_shared<Suspension>(interpreter, std::exchange(producer, Producer()),
                                            generator == nullptr);
  interpreter.state().suspended.insert(this);
}

void Iterator::close(Interpreter &interpreter, bool silently) {
  producer = nullptr;
  puller = nullptr;
  if (suspension && suspension->runs()) {
    if (silently)
      return; // it is being left
    interpreter.raise("ValueError", "generator already executing");
  }
  std::shared_ptr<Suspension> own = std::move(suspension);
  interpreter.state().suspended.erase(this);
  if (own && silently)
    own->cancel();
  else if (own)
    own->close();
}

std::optional<std::vector<Value>> Iterator::iterate(Interpreter &) {
  std::vector<Value> out;
  stream([&](const Value &v) { return out.push_back(v), true; });
  return out;
}

void Iterator::stream(const std::function<bool(const Value &)> &f) {
  forgetResult();
  Interpreter *interpreter = Interpreter::active();
  // A producer that may have to go on later is left at its `yield`; else what wants its elements
  // runs inside of it.
  bool mayGoOn = suspension || (producer && interpreter && interpreter->options().script);
  if (producer && !mayGoOn) {
    Producer run = std::exchange(producer, Producer());
    run(f);
    return;
  }
  if (mayGoOn || puller) {
    auto keepAlive = shared_from_this();
    while (auto element = next(*interpreter))
      if (!f(*element))
        return;
    return;
  }
  while (position < elements.size())
    if (!f(elements[position++]))
      return;
}

/// Of a generator that ended before, who asks now gets nothing.
void Iterator::forgetResult() {
  if (generator)
    generator->result = Value();
}

std::optional<Value> Iterator::next(Interpreter &interpreter) {
  forgetResult();
  if (producer)
    suspendAtYields(interpreter);
  if (suspension) {
    auto keepAlive = shared_from_this();
    std::optional<Value> element;
    try {
      element = suspension->next();
    } catch (...) {
      close(interpreter, true);
      throw;
    }
    if (!element)
      close(interpreter, true);
    return element;
  }
  if (puller) {
    auto pull = puller; // close() may drop it meanwhile
    std::optional<Value> element = (*pull)();
    if (!element)
      puller = nullptr;
    return element;
  }
  if (position == elements.size())
    return std::nullopt;
  return elements[position++];
}

std::optional<Value> Iterator::throwInto(Interpreter &interpreter, RaisedError error) {
  forgetResult();
  if (!suspension) { // it has not begun, or is over
    close(interpreter, true);
    elements.clear();
    throw RaisedError(std::move(error));
  }
  interpreter.state().thrown = std::move(error);
  return next(interpreter);
}

std::optional<Value> Iterator::getAttr(Interpreter &, std::string_view attribute) {
  auto self = std::static_pointer_cast<Iterator>(shared_from_this());
  auto give = [](Interpreter &i, const std::shared_ptr<Iterator> &from) {
    if (auto element = from->next(i))
      return *element;
    raiseStop(i, *from);
  };
  if (attribute == "__iter__")
    return native("__iter__", "",
                  [self](Interpreter &, std::vector<Value> &) { return Value(self); });
  if (attribute == "__next__")
    return native("__next__", "",
                  [self, give](Interpreter &i, std::vector<Value> &) { return give(i, self); });
  if (name != "generator")
    return std::nullopt;
  if (attribute == "close")
    return native("close", "", [self](Interpreter &i, std::vector<Value> &) {
      self->close(i, false);
      return Value();
    });
  if (attribute == "throw")
    return native("throw", "type, value=None, traceback=None",
                  [self](Interpreter &i, std::vector<Value> &a) {
                    bool isClass = a[0].as<Class>() != nullptr;
                    Value exception = !isClass                   ? a[0]
                                      : a[1].isNone()            ? i.call(a[0])
                                      : i.isInstance(a[1], a[0]) ? a[1]
                                                                 : i.call(a[0], {a[1]});
                    if (auto element = self->throwInto(i, raisedOf(i, exception)))
                      return *element;
                    raiseStop(i, *self);
                  });
  if (attribute == "gi_frame" || attribute == "gi_running" || attribute == "gi_suspended") {
    bool runs = self->suspension && self->suspension->runs();
    if (attribute != "gi_frame")
      return Value(attribute == "gi_running" ? runs : self->suspension && !runs);
    bool isOver = !self->suspension && !self->producer;
    return isOver ? Value() : Value(self);
  }
  if (attribute == "__name__" || attribute == "__qualname__")
    return Value(self->generator ? self->generator->name() : "<genexpr>");
  if (attribute == "send")
    return native("send", "value", [self, give](Interpreter &i, std::vector<Value> &a) {
      // One that is over stops, whatever it is sent.
      if (!self->suspension && self->producer && !a[0].isNone())
        i.raise("TypeError", "can't send non-None value to a just-started generator");
      i.state().sent = a[0];
      return give(i, self);
    });
  return std::nullopt;
}

// ---- one element at a time
// ---------------------------------------------------------------------------------------------

namespace {

/// The elements of what has __next__, until StopIteration.
Iterator::Puller pullNext(Interpreter &interpreter, const Value &iterator) {
  return [&interpreter, iterator]() -> std::optional<Value> {
    try {
      return interpreter.call(interpreter.getAttr(iterator, "__next__"));
    } catch (const RaisedError &error) {
      if (interpreter.isInstance(error.exception, Value(interpreter.builtinClass("StopIteration"))))
        return std::nullopt;
      throw;
    }
  };
}

Iterator::Puller pullElements(std::vector<Value> elements) {
  auto held = std::make_shared<std::vector<Value>>(std::move(elements));
  return [held, i = size_t(0)]() mutable -> std::optional<Value> {
    return i < held->size() ? std::optional((*held)[i++]) : std::nullopt;
  };
}

} // namespace

Iterator::Puller pullerOf(Interpreter &interpreter, const Value &iterable) {
  if (auto iterator = iterable.shared<Iterator>())
    return [&interpreter, iterator] { return iterator->next(interpreter); };
  if (iterable.kind() == Kind::Range)
    return [r = iterable.range(), i = int64_t(0)]() mutable -> std::optional<Value> {
      return i < r.length() ? std::optional(Value(r.start + r.step * i++)) : std::nullopt;
    };
  if (iterable.isList()) // may grow while it is walked
    return [iterable, i = size_t(0)]() mutable -> std::optional<Value> {
      return i < iterable.list().size() ? std::optional(iterable.list()[i++]) : std::nullopt;
    };
  if (auto *instance = iterable.as<Instance>())
    if (auto method = instance->special(interpreter, "__iter__")) {
      Value iterator = interpreter.call(*method);
      auto *own = iterator.as<Instance>();
      if (own && own->cls->find("__next__"))
        return pullNext(interpreter, iterator);
      if (!own)
        return pullerOf(interpreter, iterator);
    }
  return pullElements(interpreter.iterate(iterable));
}

} // namespace pellucid::host
