// SPDX-License-Identifier: Apache-2.0
/// Python's functools: partial, wraps, reduce, and what its caches keep.
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

class Partial : public Object {
public:
  Value function;
  CallArgs fixed;
  std::string typeName() const override { return "functools.partial"; }
  std::string repr() const override {
    std::string out = "functools.partial(" + host::repr(function);
    for (const Value &v : fixed.positional)
      out += ", " + host::repr(v);
    for (const auto &[name, v] : fixed.keywords)
      out += ", " + name + "=" + host::repr(v);
    return out + ")";
  }
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override {
    return attributes.set(name, value), true;
  }
  void visitReferences(ReferenceVisitor &visitor) const override {
    visitor.value(function);
    visitor.values(fixed);
    visitor.values(attributes);
  }
  Namespace attributes;
  bool isCallable() const override { return true; }
  Value call(Interpreter &interpreter, CallArgs args) override {
    args.positional.insert(args.positional.begin(), fixed.positional.begin(),
                           fixed.positional.end());
    for (const auto &[name, value] : fixed.keywords)
      if (!args.keyword(name))
        args.keywords.emplace_back(name, value);
    return interpreter.call(function, std::move(args));
  }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override {
    if (name == "func")
      return function;
    if (name == "args")
      return Value::tuple(fixed.positional);
    if (const Value *found = attributes.find(name))
      return *found;
    if (name == "__doc__")
      return Value("partial(func, *args, **keywords) - new function with partial application\n    "
                   "of the given arguments and keywords.\n");
    if (name != "keywords")
      return std::nullopt;
    Dict out;
    for (const auto &[key, value] : fixed.keywords)
      out.set(Value(key), value);
    return Value::dict(std::move(out));
  }
};

/// lru_cache and cache: results by arguments that can be hashed, the last used ones where there is
/// a limit.
class ResultCache {
public:
  ResultCache(Value f, std::optional<size_t> m, bool t)
      : function(std::move(f)), most(m), typed(t) {}

  Value call(Interpreter &interpreter, CallArgs args) {
    Value key = keyOf(interpreter, args);
    // What depends on a dynamic size may go another way at every call.
    bool keeps = !isSymbolic(key);
    if (keeps && !hashOf(key)) {
      if (interpreter.options().script)
        interpreter.raise("TypeError", "unhashable type: '" + unhashableIn(args) + "'");
      keeps = false;
    }
    if (Value *found = keeps ? results.find(key) : nullptr) {
      ++hits;
      Value result = found->tuple()[0];
      if (most)
        *found = Value::tuple({result, use(key, found->tuple()[1])});
      return result;
    }
    ++misses;
    Value out = interpreter.call(function, std::move(args));
    if (keeps && most != 0 && !results.find(key)) {
      if (most && results.size() >= *most) {
        results.erase(uses.begin()->second);
        uses.erase(uses.begin());
      }
      results.set(key, Value::tuple({out, most ? use(key, Value()) : Value()}));
    }
    return out;
  }
  void clear() {
    results.clear();
    uses.clear();
    hits = misses = 0;
  }
  Value info() const {
    return Value::tuple({Value(hits), Value(misses),
                         most ? Value(static_cast<int64_t>(*most)) : Value(),
                         Value(static_cast<int64_t>(results.size()))});
  }

private:
  const Value function;
  const std::optional<size_t> most;
  const bool typed;
  Dict results;                  ///< (result, when it was used last)
  std::map<int64_t, Value> uses; ///< the keys by that
  int64_t hits = 0, misses = 0, now = 0;

  Value keyOf(Interpreter &interpreter, const CallArgs &args) const {
    // One number or text is a key as it is: 1 and 1.0 are two of them, as in CPython.
    if (!typed && args.keywords.empty() && args.positional.size() == 1 &&
        (args.positional[0].isInt() || args.positional[0].isStr()))
      return args.positional[0];
    Tuple key = args.positional;
    if (!args.keywords.empty())
      key.emplace_back(EllipsisType());
    for (const auto &[name, value] : args.keywords) {
      key.emplace_back(name);
      key.push_back(value);
    }
    for (size_t i = 0, n = typed ? key.size() : 0; i < n; ++i)
      key.push_back(interpreter.typeOf(key[i]));
    return Value::tuple(std::move(key));
  }
  static std::string unhashableIn(const CallArgs &args) {
    for (const Value &v : args.positional)
      if (!hashOf(v))
        return typeName(v);
    for (const auto &[name, v] : args.keywords)
      if (!hashOf(v))
        return typeName(v);
    return "object";
  }
  Value use(const Value &key, const Value &before) {
    if (before.isInt())
      uses.erase(static_cast<int64_t>(before.integer()));
    uses.emplace(++now, key);
    return Value(now);
  }
};

/// (the function, clear(), info())
Value cachedParts(Interpreter &interpreter, Bound &a) {
  std::optional<size_t> most;
  if (!a[1].isNone())
    most = static_cast<size_t>(std::max<int64_t>(0, interpreter.toInt64(a[1], "maxsize")));
  auto cache = std::make_shared<ResultCache>(a[0], most, interpreter.truth(a[2]));
  return Value::tuple(
      {nativeRaw(
           "functools.cache",
           [cache](Interpreter &i, CallArgs args) { return cache->call(i, std::move(args)); }),
       native("cache_clear", "",
              [cache](Interpreter &, Bound &) { return cache->clear(), Value(); }),
       native("cache_info", "", [cache](Interpreter &, Bound &) { return cache->info(); })});
}

/// functools.update_wrapper: what the one says of itself, the other says too.
void takeNames(Interpreter &interpreter, const Value &target, const Value &wrapped,
               const std::vector<Value> &assigned) {
  if (!target.as<Function>() && !target.as<NativeFunction>() && !target.as<Instance>())
    return;
  if (!wrapped.as<Opaque>())
    for (const Value &name : assigned)
      if (auto found = attributeIfAny(interpreter, wrapped, name.str());
          found && !found->as<Opaque>())
        interpreter.setAttr(target, name.str(), *found);
  const Namespace *held = nullptr;
  if (auto *function = wrapped.as<Function>())
    held = &function->attributes;
  else if (auto *instance = wrapped.as<Instance>())
    held = &instance->attributes;
  if (held)
    for (const auto &[name, value] : std::vector(held->items()))
      interpreter.setAttr(target, name, value);
  interpreter.setAttr(target, "__wrapped__", wrapped);
}

std::vector<Value> wrapperAssignments(const Value &given, Interpreter &interpreter) {
  if (!given.isNone())
    return interpreter.iterate(given);
  return {Value("__module__"), Value("__name__"), Value("__qualname__"), Value("__doc__")};
}

void fillFunctools(Interpreter &, Module &m) {
  auto partial = Class::make("partial", "functools");
  partial->construct = [](Interpreter &i, CallArgs args) {
    if (args.positional.empty())
      i.raise("TypeError", "type 'partial' takes at least one argument");
    auto p = std::make_shared<Partial>();
    p->function = args.positional[0];
    args.positional.erase(args.positional.begin());
    if (!p->function.isObject() || !p->function.object()->isCallable())
      i.raise("TypeError", "the first argument must be callable");
    if (auto *inner = p->function.as<Partial>()) { // one of one is one
      CallArgs all = inner->fixed;
      all.positional.insert(all.positional.end(), args.positional.begin(), args.positional.end());
      for (auto &[name, value] : args.keywords) {
        std::erase_if(all.keywords, [&](const auto &known) { return known.first == name; });
        all.keywords.emplace_back(name, value);
      }
      args = std::move(all);
      p->function = Value(inner->function);
    }
    p->fixed = std::move(args);
    return Value(p);
  };
  partial->accepts = [](const Value &v) { return v.as<Partial>() != nullptr; };
  m.globals->set("partial", Value(partial));
  setNative(m, "update_wrapper", "wrapper, wrapped, assigned=None, updated=None",
            [](Interpreter &i, Bound &a) {
              takeNames(i, a[0], a[1], wrapperAssignments(a[2], i));
              return a[0];
            });
  setNative(m, "wraps", "wrapped, assigned=None, updated=None", [](Interpreter &, Bound &a) {
    return nativeRaw("wraps", [wrapped = a[0], names = a[1]](Interpreter &i, CallArgs args) {
      takeNames(i, args.positional.at(0), wrapped, wrapperAssignments(names, i));
      return args.positional[0];
    });
  });
  m.globals->set("reduce", nativeRaw("functools.reduce", [](Interpreter &i, CallArgs args) {
                   if (args.positional.size() < 2)
                     i.raise("TypeError", "reduce expected at least 2 arguments");
                   std::vector<Value> items = i.iterate(args.positional[1]);
                   size_t first = args.positional.size() > 2 ? 0 : 1;
                   if (first && items.empty())
                     i.raise("TypeError", "reduce() of empty iterable with no initial value");
                   Value total = first ? items[0] : args.positional[2];
                   for (size_t k = first; k < items.size(); ++k)
                     total = i.call(args.positional[0], {total, items[k]});
                   return total;
                 }));
}

} // namespace

void addFunctools(NativeModules &modules) {
  modules.add("functools", fillFunctools);
  modules.add("_functools", [](Interpreter &, Module &m) {
    setNative(m, "cached", "function, maxsize, typed", cachedParts);
  });
}

} // namespace pellucid::host
