// SPDX-License-Identifier: Apache-2.0
/// What happens when an instance goes: __del__, and weak references to it.
#include "host/InterpreterState.h"

#include <map>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

/// weakref.ref: the object while somebody else holds it, then None.
class WeakReference : public Object {
public:
  WeakReference(const std::shared_ptr<Object> &o, Value c)
      : target(o), callback(std::move(c)), place(o.get()) {}
  std::string typeName() const override { return "weakref.ReferenceType"; }
  std::string repr() const override {
    auto alive = target.lock();
    return "<weakref" + placeText(this) +
           (alive ? "; to '" + alive->typeName() + "'" + placeText(place) + ">" : "; dead>");
  }
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs) override {
    auto alive = target.lock();
    return alive ? Value(alive) : Value();
  }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override {
    return name == "__callback__" ? std::optional(callback) : std::nullopt;
  }
  bool equals(const Object &other) const override {
    if (this == &other)
      return true;
    auto *reference = dynamic_cast<const WeakReference *>(&other);
    auto mine = target.lock(), theirs = reference ? reference->target.lock() : nullptr;
    return mine && theirs && equal(Value(mine), Value(theirs));
  }
  std::optional<size_t> hash() const override {
    if (!known)
      if (auto alive = target.lock())
        known = alive->hash();
    return known;
  }
  void visitReferences(ReferenceVisitor &visitor) const override { visitor.value(callback); }
  std::weak_ptr<Object> target;
  Value callback;

private:
  const void *place;
  mutable std::optional<size_t> known;
};

using Watchers = std::map<const Instance *, std::vector<std::weak_ptr<WeakReference>>>;
Watchers &watchers() {
  static thread_local Watchers all;
  return all;
}

/// Runs code of the program where an object goes: what it raises is nobody's, as in Python.
void runUnheard(Interpreter &interpreter, const Value &function, std::vector<Value> arguments) {
  try {
    interpreter.call(function, std::move(arguments));
  } catch (const RaisedError &error) {
    interpreter.hooks().errorOutput("Exception ignored in: " + interpreter.repr(function) + "\n" +
                                    interpreter.tracebackText(error.exception));
  } catch (const DiagnosticError &error) {
    interpreter.hooks().errorOutput("Exception ignored in: " + repr(function) + "\n" +
                                    error.diagnostic.message + "\n");
  }
}

void tellWatchers(const Instance &instance) {
  auto found = watchers().find(&instance);
  if (found == watchers().end())
    return;
  auto references = std::move(found->second);
  watchers().erase(found);
  Interpreter *interpreter = Interpreter::active();
  for (size_t i = references.size(); interpreter && i-- > 0;)
    if (auto reference = references[i].lock())
      runUnheard(*interpreter, reference->callback, {Value(reference)});
}

} // namespace

bool finaliseInstance(const std::shared_ptr<Instance> &instance) {
  Interpreter *interpreter = Interpreter::active();
  if (!interpreter || std::exchange(instance->isFinalised, true))
    return false;
  if (auto method = instance->special(*interpreter, "__del__"))
    runUnheard(*interpreter, *method, {});
  return true;
}

/// The one that goes has no references any more: __del__ is told of an heir with all that it held.
Instance::~Instance() {
  if (!isWatched && !(cls->hasFinalizer && !isFinalised))
    return;
  try {
    if (isWatched)
      tellWatchers(*this);
    if (!cls->hasFinalizer || isFinalised)
      return;
    auto heir = std::make_shared<Instance>(cls);
    heir->attributes = std::move(attributes);
    heir->payload = std::move(payload);
    heir->content = std::move(content);
    finaliseInstance(heir);
  } catch (...) { // nothing may be raised where an object goes
  }
}

void addWeakReferences(NativeModules &modules) {
  modules.add("_weakref", [](Interpreter &, Module &m) {
    auto cls = Class::make("ReferenceType", "weakref");
    cls->accepts = [](const Value &v) { return v.as<WeakReference>() != nullptr; };
    cls->construct = [signature = Signature("object, callback=None")](Interpreter &i,
                                                                      CallArgs args) {
      Bound a = signature.bind(i, "ref", args);
      if (!a[0].isObject())
        i.raise("TypeError", "cannot create weak reference to '" + typeName(a[0]) + "' object");
      auto reference = std::make_shared<WeakReference>(a[0].object(), a[1]);
      if (a[1].isNone())
        return Value(reference);
      auto instance = a[0].shared<Instance>();
      if (!instance)
        i.refuse(
            "a callback of a weak reference is called for instances of classes, and this is a " +
            typeName(a[0]) + "; leave the callback out");
      instance->isWatched = true;
      watchers()[instance.get()].push_back(reference);
      return Value(reference);
    };
    m.globals->set("ref", Value(cls));
    m.globals->set(
        "getweakrefcount",
        native("weakref.getweakrefcount", "object", [](Interpreter &i, Bound &) -> Value {
          i.refuse("weakref.getweakrefcount() is not "
                   "supported: weak references are not counted");
        }));
  });
  modules.add("_gc", [](Interpreter &, Module &m) {
    m.globals->set("collect", native("gc.collect", "generation=2", [](Interpreter &i, Bound &) {
                     return Value(static_cast<int64_t>(i.state().cycles.collectAll()));
                   }));
    m.globals->set("enable", native("gc.enable", "enabled=True", [](Interpreter &i, Bound &a) {
                     i.state().cycles.isEnabled = i.truth(a[0]);
                     return Value();
                   }));
  });
}

} // namespace pellucid::host
