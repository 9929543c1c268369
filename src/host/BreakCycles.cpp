// SPDX-License-Identifier: Apache-2.0
/// Values are counted references, so what a program ties into a ring would stay for ever.
#include "host/DictView.h"
#include "host/InterpreterState.h"

#include <unordered_map>

namespace pellucid::host {

namespace {

/// What tells one container from another; null for a value that holds no others.
const void *identityOf(const Value &value) {
  if (value.isTuple())
    return &value.tuple();
  if (value.isList())
    return &value.list();
  if (value.isDict())
    return &value.dictionary();
  if (value.isSet())
    return &value.elementSet();
  return value.as<Instance>() || value.as<BoundMethod>() || value.as<DictView>()
             ? value.object().get()
             : nullptr;
}

std::vector<Value> heldBy(const Value &value) {
  if (value.isSequence())
    return value.elements();
  if (value.isSet())
    return value.elementSet().elements();
  std::vector<Value> held;
  if (value.isDict())
    for (const auto &[key, element] : value.dictionary().items())
      held.insert(held.end(), {key, element});
  if (auto *instance = value.as<Instance>()) {
    for (const auto &[name, attribute] : instance->attributes.items())
      held.push_back(attribute);
    if (instance->content)
      held.push_back(*instance->content);
  }
  if (auto *method = value.as<BoundMethod>())
    held = {method->self, method->function};
  if (auto *view = value.as<DictView>())
    held = {view->dict};
  return held;
}

bool canBeEmptied(const Value &value) {
  return value.isList() || value.isDict() || value.as<Instance>();
}

void empty(const Value &value) {
  if (value.isList())
    List().swap(value.list());
  else if (value.isDict())
    value.dictionary().clear();
  else if (auto *instance = value.as<Instance>())
    instance->attributes.clear();
}

/// A walk in depth; what leads back to a container on the way down closes a ring. The way is no
/// recursion, because chains of lists may be longer than the stack is deep.
class RingFinder {
public:
  void search(const Value &root) {
    enter(root);
    while (!way.empty()) {
      Step &last = way.back();
      if (last.next < last.held.size()) {
        enter(Value(last.held[last.next++]));
        continue;
      }
      isOnWay[identityOf(last.value)] = false;
      way.pop_back();
    }
  }
  void breakRings() {
    for (const Value &value : inRings)
      empty(value);
  }

private:
  struct Step {
    Value value;
    std::vector<Value> held;
    size_t next = 0;
  };
  std::vector<Step> way;
  std::unordered_map<const void *, bool> isOnWay;
  std::vector<Value> inRings;

  void enter(const Value &value) {
    const void *identity = identityOf(value);
    if (!identity)
      return;
    auto [known, isNew] = isOnWay.try_emplace(identity, true);
    if (isNew)
      way.push_back({value, heldBy(value)});
    else if (known->second)
      markRing(identity);
  }

  /// Tuples and methods cannot be emptied, but no ring is of them alone.
  void markRing(const void *first) {
    for (size_t i = way.size(); i-- > 0;) {
      if (canBeEmptied(way[i].value)) {
        inRings.push_back(way[i].value);
        return;
      }
      if (identityOf(way[i].value) == first)
        return;
    }
  }
};

} // namespace

void breakCycles(const std::vector<const Namespace *> &roots) {
  RingFinder finder;
  for (const Namespace *names : roots)
    for (const auto &[name, value] : names->items())
      finder.search(value);
  finder.breakRings();
}

} // namespace pellucid::host
