// SPDX-License-Identifier: Apache-2.0
/// ExceptionGroup and `except*` (PEP 654).
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

Instance &groupIn(const Value &v) { return v.expect<Instance>("an exception group"); }

bool isGroup(Interpreter &interpreter, const Value &v) {
  return interpreter.isInstance(v, Value(interpreter.builtinClass("BaseExceptionGroup")));
}

const Tuple &membersOf(const Value &group) {
  return groupIn(group).attributes.at("exceptions").tuple();
}

/// The same message, cause and notes over other exceptions; by the class's own derive().
Value derived(Interpreter &interpreter, const Value &group, Tuple exceptions) {
  if (exceptions.empty())
    return Value();
  Value out =
      interpreter.call(interpreter.getAttr(group, "derive"), {Value::list(std::move(exceptions))});
  for (const char *name : {"__cause__", "__context__", "__traceback__", "__suppress_context__"})
    if (const Value *held = groupIn(group).attributes.find(name))
      groupIn(out).attributes.set(name, *held);
  if (const Value *notes = groupIn(group).attributes.find("__notes__"); notes && notes->isList())
    groupIn(out).attributes.set("__notes__", Value::list(List(notes->list())));
  return out;
}

using Test = std::function<bool(const Value &)>;

std::pair<Value, Value> splitGroup(Interpreter &interpreter, const Value &exception,
                                   const Test &test) {
  ValueLevel level;
  if (test(exception))
    return {exception, Value()};
  if (!isGroup(interpreter, exception))
    return {Value(), exception};
  Tuple taken, left;
  const Tuple members = membersOf(exception);
  for (const Value &member : members) {
    auto [inside, outside] = splitGroup(interpreter, member, test);
    if (!inside.isNone())
      taken.push_back(inside);
    if (!outside.isNone())
      left.push_back(outside);
  }
  if (left.empty())
    return {exception, Value()};
  if (taken.empty())
    return {Value(), exception};
  return {derived(interpreter, exception, std::move(taken)),
          derived(interpreter, exception, std::move(left))};
}

/// What split() and subgroup() are told: classes, or a function.
Test testOf(Interpreter &interpreter, const Value &condition) {
  if (condition.as<Class>() || condition.isTuple())
    return
        [&interpreter, condition](const Value &v) { return interpreter.isInstance(v, condition); };
  if (!condition.isObject() || !condition.object()->isCallable())
    interpreter.raise("TypeError",
                      "expected a function, exception type or tuple of exception types");
  return [&interpreter, condition](const Value &v) {
    return interpreter.truth(interpreter.call(condition, {v}));
  };
}

Value newGroup(Interpreter &interpreter, CallArgs args) {
  auto cls = args.positional.empty() ? nullptr : args.positional[0].shared<Class>();
  if (!cls || !cls->isSubclassOf(*interpreter.builtinClass("BaseExceptionGroup")))
    interpreter.raise("TypeError",
                      "BaseExceptionGroup.__new__() takes a class of exception groups");
  if (args.positional.size() != 3 || !args.positional[1].isStr())
    interpreter.raise("TypeError", cls->name + "() takes a message and a sequence of exceptions");
  if (!contentOf(args.positional[2]).isSequence())
    interpreter.raise("TypeError", "second argument (exceptions) must be a sequence");
  std::vector<Value> members = interpreter.iterate(args.positional[2]);
  if (members.empty())
    interpreter.raise("ValueError", "second argument (exceptions) must be a non-empty sequence");
  Value ordinary(interpreter.builtinClass("Exception"));
  bool allOrdinary = true;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!interpreter.isInstance(members[i], Value(interpreter.builtinClass("BaseException"))))
      interpreter.raise("ValueError", "Item " + std::to_string(i) +
                                          " of second argument (exceptions) is not an exception");
    allOrdinary = allOrdinary && interpreter.isInstance(members[i], ordinary);
  }
  if (cls == interpreter.builtinClass("BaseExceptionGroup") && allOrdinary)
    cls = interpreter.builtinClass("ExceptionGroup");
  else if (!allOrdinary && cls->isSubclassOf(*interpreter.builtinClass("Exception")))
    interpreter.raise("TypeError", "Cannot nest BaseExceptions in " +
                                       (cls == interpreter.builtinClass("ExceptionGroup")
                                            ? std::string("an ExceptionGroup")
                                            : "'" + cls->name + "'"));
  auto group = std::make_shared<Instance>(cls);
  group->attributes.set("args", Value::tuple({args.positional[1], args.positional[2]}));
  group->attributes.set("message", args.positional[1]);
  group->attributes.set("exceptions", Value::tuple(Tuple(members.begin(), members.end())));
  return Value(group);
}

bool isPartOf(Interpreter &interpreter, const Value &group, const Value &exception) {
  if (group.isSame(exception))
    return true;
  if (!isGroup(interpreter, group))
    return false;
  const Tuple &members = membersOf(group);
  return std::any_of(members.begin(), members.end(),
                     [&](const Value &member) { return isPartOf(interpreter, member, exception); });
}

} // namespace

std::pair<Value, Value> splitGroup(Interpreter &interpreter, const Value &exception,
                                   const Value &types) {
  auto test = [&](const Value &v) { return interpreter.isInstance(v, types); };
  if (isGroup(interpreter, exception))
    return splitGroup(interpreter, exception, test);
  if (!test(exception))
    return {Value(), exception};
  return {groupOf(interpreter, Value(""), {exception}), Value()};
}

Value groupOf(Interpreter &interpreter, const Value &message, Tuple exceptions) {
  return interpreter.call(Value(interpreter.builtinClass("BaseExceptionGroup")),
                          {message, Value::list(std::move(exceptions))});
}

void addExceptionGroups(Interpreter &interpreter) {
  Interpreter::State &state = interpreter.state();
  auto base =
      Class::make("BaseExceptionGroup", "builtins", {interpreter.builtinClass("BaseException")});
  auto ordinary =
      Class::make("ExceptionGroup", "builtins", {base, interpreter.builtinClass("Exception")});
  for (const auto &cls : {base, ordinary}) {
    state.classes.emplace(cls->name, cls);
    state.builtins.set(cls->name, Value(cls));
  }
  auto add = [&](const char *name, const char *signature, NativeFunction::Body body) {
    base->attributes.set(
        name, native(std::string("BaseExceptionGroup.") + name, signature, std::move(body)));
  };
  base->attributes.set(
      "__new__", Value(std::make_shared<Descriptor>(
                     Descriptor::Form::Static, nativeRaw("BaseExceptionGroup.__new__", newGroup))));
  add("__init__", "self, *args, **kwargs", [](Interpreter &, Bound &) { return Value(); });
  add("__str__", "self", [](Interpreter &i, Bound &a) {
    size_t count = membersOf(a[0]).size();
    return Value(i.str(groupIn(a[0]).attributes.at("message")) + " (" + std::to_string(count) +
                 " sub-exception" + (count == 1 ? ")" : "s)"));
  });
  add("derive", "self, excs", [](Interpreter &i, Bound &a) {
    std::vector<Value> members = i.iterate(a[1]);
    return groupOf(i, groupIn(a[0]).attributes.at("message"),
                   Tuple(members.begin(), members.end()));
  });
  add("split", "self, condition", [](Interpreter &i, Bound &a) {
    auto [taken, left] = splitGroup(i, a[0], testOf(i, a[1]));
    return Value::tuple({taken, left});
  });
  add("subgroup", "self, condition",
      [](Interpreter &i, Bound &a) { return splitGroup(i, a[0], testOf(i, a[1])).first; });
  base->attributes.set(
      "__class_getitem__",
      Value(std::make_shared<Descriptor>(
          Descriptor::Form::Class, nativeRaw("__class_getitem__", [](Interpreter &, CallArgs args) {
            return args.positional.at(0);
          }))));
}

/// Each clause gets what it takes of what the ones before have left. What they raise, and what no
/// clause takes, is raised at the end.
Evaluator::Flow Evaluator::execTryStar(const syntax::Try &s, const RaisedError &error,
                                       bool &handled) {
  Value left = error.exception;
  bool wasGroup = isGroup(interpreter, left);
  Tuple raised, passedOn;
  for (const syntax::ExceptHandler &h : s.handlers) {
    if (left.isNone())
      break;
    Value types = eval(*h.type);
    at(*h.type);
    auto [taken, rest] = splitGroup(interpreter, left, types);
    if (taken.isNone())
      continue;
    handled = true;
    left = rest;
    if (h.name)
      store(*h.name, taken);
    RaisedError part(error.diagnostic, taken);
    noteHandled(interpreter, taken, true);
    state.handling.push_back(&part);
    struct Handling {
      std::vector<const RaisedError *> &stack;
      ~Handling() { stack.pop_back(); }
    } handling{state.handling};
    try {
      run(h.body);
    } catch (const RaisedError &next) {
      (next.exception.isSame(taken) ? passedOn : raised).push_back(next.exception);
    }
    if (h.name)
      scope->names->erase(*h.name);
  }
  if (!handled || (left.isNone() && raised.empty() && passedOn.empty()))
    return Flow::Normal;
  if (!left.isNone())
    passedOn.push_back(left);
  Value whole;
  if (!wasGroup && raised.size() + passedOn.size() == 1) {
    whole = raised.empty() ? passedOn[0] : raised[0];
  } else {
    if (!passedOn.empty()) {
      auto stays = [&](const Value &v) {
        return !isGroup(interpreter, v) &&
               std::any_of(passedOn.begin(), passedOn.end(),
                           [&](const Value &part) { return isPartOf(interpreter, part, v); });
      };
      Value rest = splitGroup(interpreter, error.exception, stays).first;
      if (raised.empty())
        whole = rest;
      else
        raised.push_back(rest);
    }
    if (!raised.empty())
      whole = groupOf(interpreter, Value(""), std::move(raised));
  }
  at(s);
  noteRaised(interpreter, whole);
  auto *instance = whole.as<Instance>();
  throw RaisedError(Diagnostic(Severity::Error, interpreter.location(),
                               instance->cls->name + ": " + interpreter.str(whole)),
                    whole);
}

} // namespace pellucid::host
