// SPDX-License-Identifier: Apache-2.0
#include "host/CollectCycles.h"

#include "host/InterpreterState.h"

#include <unordered_map>

namespace pellucid::host {

namespace {

/// A container, object or scope that was reached; `holder` is one of the places that hold it.
struct HeldNode {
  const Value *holder = nullptr;
  const Object *object = nullptr;
  const std::shared_ptr<Scope> *scope = nullptr;
  long uses = 0, seen = 0;
  bool isAlive = false;
};

/// A longer list is not walked for the sake of a few young closures.
constexpr size_t longest = 4096;

class Search {
public:
  explicit Search(bool a) : all(a) {}

  /// `held` has references of the search's own, which do not count.
  void add(const std::shared_ptr<Scope> &held) {
    HeldNode &node = enter(held.get(), held.use_count());
    node.scope = &held;
    ++node.seen;
  }
  void add(const std::shared_ptr<Object> &held) {
    HeldNode &node = enter(held.get(), held.use_count());
    node.object = held.get();
    ++node.seen;
  }

  /// The nodes that nothing outside holds.
  std::vector<const HeldNode *> garbage() {
    Counter counter(*this);
    while (!pending.empty())
      visit(take(), counter);
    for (auto &[place, node] : nodes)
      if (node.uses > node.seen || isShared(node))
        revive(node);
    Reviver reviver(*this);
    while (!pending.empty())
      visit(take(), reviver);
    std::vector<const HeldNode *> dead;
    for (const auto &[place, node] : nodes)
      if (!node.isAlive)
        dead.push_back(&node);
    return dead;
  }

private:
  const bool all;
  std::unordered_map<const void *, HeldNode> nodes;
  std::vector<HeldNode *> pending;

  static const void *placeOf(const Value &v) {
    switch (v.kind()) {
    case Kind::Tuple:
      return &v.tuple();
    case Kind::List:
      return &v.list();
    case Kind::Dict:
      return &v.dictionary();
    case Kind::Set:
      return &v.elementSet();
    case Kind::Slice:
      return &v.slice();
    case Kind::Object:
      return v.object().get();
    default:
      return nullptr;
    }
  }
  static bool isPassed(const Object &object) { return dynamic_cast<const Module *>(&object); }
  /// What was there long before stays out of a search among the young.
  bool isLeftOut(const Object &object) const {
    if (all)
      return false;
    auto *instance = dynamic_cast<const Instance *>(&object);
    if (instance)
      return instance->isOld;
    auto *cls = dynamic_cast<const Class *>(&object);
    return cls && !cls->isLocal;
  }
  static bool isShared(const HeldNode &node) {
    return node.scope && (*node.scope)->names.use_count() > 1;
  }

  HeldNode &enter(const void *place, long uses) {
    auto [found, isNew] = nodes.try_emplace(place);
    if (isNew) {
      found->second.uses = uses;
      pending.push_back(&found->second);
    }
    return found->second;
  }
  HeldNode &take() {
    HeldNode &node = *pending.back();
    pending.pop_back();
    return node;
  }
  void revive(HeldNode &node) {
    if (!std::exchange(node.isAlive, true))
      pending.push_back(&node);
  }

  /// Counts the references from inside.
  struct Counter final : ReferenceVisitor {
    Search &search;
    explicit Counter(Search &s) : search(s) {}
    void value(const Value &v) override {
      if (v.isObject())
        return object(*v.object(), v.useCount());
      const void *place = placeOf(v);
      if (!place)
        return;
      HeldNode &node = search.enter(place, v.useCount());
      node.holder = &v;
      ++node.seen;
    }
    void object(const Object &held, long uses) override {
      if (isPassed(held) || search.isLeftOut(held))
        return;
      HeldNode &node = search.enter(&held, uses);
      node.object = &held;
      ++node.seen;
    }
    void scope(const std::shared_ptr<Scope> &held) override {
      if (!held || held->form == Scope::Form::Module || (held->isOld && !search.all))
        return;
      HeldNode &node = search.enter(held.get(), held.use_count());
      node.scope = &held;
      ++node.seen;
    }
  };

  /// What something alive holds is alive.
  struct Reviver final : ReferenceVisitor {
    Search &search;
    explicit Reviver(Search &s) : search(s) {}
    void at(const void *place) {
      auto found = place ? search.nodes.find(place) : search.nodes.end();
      if (found != search.nodes.end())
        search.revive(found->second);
    }
    void value(const Value &v) override { at(placeOf(v)); }
    void object(const Object &held, long) override { at(&held); }
    void scope(const std::shared_ptr<Scope> &held) override { at(held.get()); }
  };

  void visit(const HeldNode &node, ReferenceVisitor &visitor) {
    if (node.scope) {
      visitor.values(*(*node.scope)->names);
      visitor.scope((*node.scope)->parent);
    } else if (node.object) {
      node.object->visitReferences(visitor);
    } else {
      visitElements(*node.holder, visitor);
    }
  }
  void visitElements(const Value &v, ReferenceVisitor &visitor) {
    if (v.isSequence()) {
      if (all || v.elements().size() <= longest)
        visitor.values(v.elements());
    } else if (v.isDict() || v.isSet()) {
      const Dict &entries = v.isDict() ? std::as_const(v.dictionary()) : v.elementSet().entries();
      if (all || entries.size() <= longest)
        for (const auto &[key, element] : entries.items()) {
          visitor.value(key);
          visitor.value(element);
        }
    } else {
      for (const Value *part : {&v.slice().lower, &v.slice().upper, &v.slice().step})
        visitor.value(*part);
    }
  }
};

/// The garbage, held until all of it is taken apart.
struct Remains {
  std::vector<std::shared_ptr<Scope>> scopes;
  std::vector<Value> values;

  explicit Remains(const std::vector<const HeldNode *> &dead) {
    for (const HeldNode *node : dead)
      if (node->scope)
        scopes.push_back(*node->scope);
      else
        values.push_back(node->object
                             ? Value(const_cast<Object *>(node->object)->shared_from_this())
                             : *node->holder);
  }

  /// Tells those that have a __del__; whether there were any.
  bool finalise() {
    bool any = false;
    for (const Value &v : values)
      if (auto instance = v.shared<Instance>(); instance && instance->cls->hasFinalizer)
        any |= finaliseInstance(instance);
    return any;
  }
  void takeApart() {
    for (const auto &scope : scopes)
      scope->names->clear();
    for (const Value &v : values) {
      if (v.isList())
        List().swap(v.list());
      else if (v.isDict())
        v.dictionary().clear();
      else if (auto *instance = v.as<Instance>())
        instance->attributes.clear();
      else if (auto *function = v.as<Function>())
        function->attributes.clear();
      else if (auto *cls = v.as<Class>())
        cls->attributes.clear();
    }
  }
};

template <typename T>
std::vector<std::shared_ptr<T>> aliveOf(const std::vector<std::weak_ptr<T>> &young,
                                        const std::vector<std::weak_ptr<T>> *old) {
  std::vector<std::shared_ptr<T>> out;
  for (const auto *list : {&young, old})
    if (list)
      for (const auto &weak : *list)
        if (auto alive = weak.lock())
          out.push_back(std::move(alive));
  return out;
}

} // namespace

size_t CycleCollector::collectAmong(bool all) {
  isRunning = true;
  struct Leave {
    bool &flag;
    ~Leave() { flag = false; }
  } leave{isRunning};
  auto scopes = aliveOf(youngScopes, all ? &oldScopes : nullptr);
  std::vector<std::shared_ptr<Object>> instances;
  for (auto &instance : aliveOf(youngInstances, all ? &oldInstances : nullptr))
    instances.push_back(std::move(instance));
  std::optional<Remains> remains;
  {
    Search search(all);
    for (const auto &scope : scopes)
      search.add(scope);
    for (const auto &instance : instances)
      search.add(instance);
    remains.emplace(search.garbage());
  }
  // Who is told may hold it anew: it is looked at again the next time.
  size_t count = remains->scopes.size() + remains->values.size();
  if (remains->finalise())
    count = 0;
  else
    remains->takeApart();
  remains.reset();
  // What is left is old.
  if (all)
    oldScopes.clear(), oldInstances.clear();
  youngScopes.clear();
  youngInstances.clear();
  for (auto &scope : scopes)
    if (scope.use_count() > 1) {
      scope->isOld = true;
      oldScopes.push_back(scope);
    }
  for (auto &object : instances)
    if (object.use_count() > 1) {
      auto instance = std::static_pointer_cast<Instance>(object);
      instance->isOld = true;
      oldInstances.push_back(instance);
    }
  return count;
}

void CycleCollector::collect() {
  size_t before = oldScopes.size() + oldInstances.size();
  // Most young ones are gone already; a search is for those that are not.
  std::erase_if(youngScopes, [](const auto &weak) { return weak.expired(); });
  std::erase_if(youngInstances, [](const auto &weak) { return weak.expired(); });
  if (!isDue() && youngScopes.size() + youngInstances.size() < fewest / 4)
    return;
  sinceAll += youngScopes.size() + youngInstances.size();
  bool all = sinceAll > 4 * fewest + before / 4;
  if (all)
    sinceAll = 0;
  collectAmong(all);
}

size_t CycleCollector::collectAll() {
  if (isRunning)
    return 0;
  sinceAll = 0;
  size_t count = collectAmong(true);
  // Once more for those whose __del__ has run.
  return count ? count : collectAmong(true);
}

std::vector<std::shared_ptr<Namespace>> CycleCollector::names() const {
  std::vector<std::shared_ptr<Namespace>> out;
  for (const auto &scope : aliveOf(youngScopes, &oldScopes))
    out.push_back(scope->names);
  return out;
}

// ---- what functions, classes and instances hold
// ---------------------------------------------------------------------

void Function::visitReferences(ReferenceVisitor &visitor) const {
  visitor.scope(closure);
  visitor.values(defaults);
  for (const auto &fallback : keywordDefaults)
    if (fallback)
      visitor.value(*fallback);
  visitor.values(attributes);
}

void Class::visitReferences(ReferenceVisitor &visitor) const {
  for (const auto *list : {&bases, &mro})
    for (const auto &cls : *list)
      visitor.held(cls);
  visitor.held(meta);
  visitor.value(absent);
  visitor.values(attributes);
}

void Instance::visitReferences(ReferenceVisitor &visitor) const {
  visitor.held(cls);
  visitor.held(payload);
  visitor.values(attributes);
  if (content)
    visitor.value(*content);
}

} // namespace pellucid::host
