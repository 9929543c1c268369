// SPDX-License-Identifier: Apache-2.0
#include "exec/Surroundings.h"

#include "host/InterpreterState.h"
#include "host/TreeWalk.h"
#include "trace/TensorObject.h"

#include <algorithm>

namespace pellucid::exec {

namespace h = pellucid::host;

namespace {

constexpr size_t mostObjects = 20'000;

/// Plain values by what they are, all else by identity: what a container holds is compared where
/// the container itself was added.
bool isUnchanged(const h::Value &a, const h::Value &b) {
  if (a.kind() != b.kind())
    return false;
  if (a.isFloat())
    return a.real() == b.real() || (a.real() != a.real() && b.real() != b.real());
  if (a.isNone() || a.isBool() || a.isInt() || a.isStr())
    return h::equal(a, b);
  if (a.isTuple())
    return a.isSame(b) || (a.tuple().size() == b.tuple().size() &&
                           std::equal(a.tuple().begin(), a.tuple().end(), b.tuple().begin(),
                                      isUnchanged));
  return a.isSame(b);
}

bool hasSameEntries(const h::Dict &a, const h::Dict &b) {
  const auto &x = a.items(), &y = b.items();
  return x.size() == y.size() &&
         std::equal(x.begin(), x.end(), y.begin(), [](const auto &p, const auto &q) {
           return isUnchanged(p.first, q.first) && isUnchanged(p.second, q.second);
         });
}

bool holdsTheSame(const h::Value &container, const h::Value &copy) {
  if (container.isList())
    return container.list().size() == copy.list().size() &&
           std::equal(container.list().begin(), container.list().end(), copy.list().begin(),
                      isUnchanged);
  return container.isDict() ? hasSameEntries(container.dictionary(), copy.dictionary())
                            : hasSameEntries(container.elementSet().entries(),
                                             copy.elementSet().entries());
}

bool isUsersFile(const SourceLocation &location) {
  return location.file && !location.file->path().starts_with("<");
}

} // namespace

void Surroundings::add(const h::Value &value) {
  if (value.isTuple()) {
    for (const h::Value &element : value.tuple())
      add(element);
    return;
  }
  if (addContainer(value) || !value.isObject())
    return;
  if (seen.size() > mostObjects || !seen.insert(value.object().get()).second)
    return;
  if (value.as<trace::TensorObject>()) {
    tensors.push_back(value);
  } else if (auto function = value.shared<h::Function>()) {
    addFunction(function);
  } else if (auto *bound = value.as<h::BoundMethod>()) {
    add(bound->self);
    add(bound->function);
  } else if (auto instance = value.shared<h::Instance>()) {
    addAttributes(instance, instance->attributes);
    if (instance->content)
      add(*instance->content);
    addClass(instance->cls);
  } else if (auto cls = value.shared<h::Class>()) {
    addClass(cls);
  } else if (auto module = value.shared<h::Module>()) {
    modules.push_back(module);
    addModule(module);
  } else if (value.as<h::Iterator>() || value.as<h::GeneratorContext>()) {
    opaque = true;
  }
}

bool Surroundings::addContainer(const h::Value &value) {
  if (!value.isList() && !value.isDict() && !value.isSet())
    return false;
  const void *place = value.isList()   ? static_cast<const void *>(&value.list())
                      : value.isDict() ? static_cast<const void *>(&value.dictionary())
                                       : static_cast<const void *>(&value.elementSet());
  if (seen.size() > mostObjects || !seen.insert(place).second)
    return true;
  if (value.isList()) {
    containers.push_back({value, h::Value::list(h::List(value.list()))});
    for (const h::Value &element : containers.back().copy.list())
      add(h::Value(element));
  } else if (value.isDict()) {
    containers.push_back({value, h::Value::dict(h::Dict(value.dictionary()))});
    for (const auto &[key, element] : h::Dict(value.dictionary()).items())
      add(element);
  } else {
    containers.push_back({value, h::Value::set(h::Set(value.elementSet()))});
  }
  return true;
}

void Surroundings::addCell(std::shared_ptr<const void> keepAlive, h::Namespace &names,
                           const std::string &name) {
  const h::Value *found = names.find(name);
  cells.push_back({std::move(keepAlive), &names, name,
                   found ? std::optional<h::Value>(*found) : std::nullopt});
  if (found)
    add(h::Value(*found));
}

void Surroundings::addAttributes(std::shared_ptr<const void> keepAlive, h::Namespace &names) {
  auto items = names.items();
  attributes.push_back({std::move(keepAlive), &names, items});
  for (const auto &[name, value] : items)
    add(value);
}

void Surroundings::addClass(const std::shared_ptr<h::Class> &cls) {
  auto addOf = [&](const std::shared_ptr<h::Class> &one) {
    if (isUsersFile(one->location) && seen.insert(&one->attributes).second)
      addAttributes(one, one->attributes);
  };
  addOf(cls);
  for (const auto &base : cls->mro)
    addOf(std::const_pointer_cast<h::Class>(base));
}

/// Of a user's file what the texts name.
void Surroundings::addModule(const std::shared_ptr<h::Module> &module) {
  if (!module->syntax || !module->syntax->file || module->syntax->file->path().starts_with("<"))
    return;
  for (const std::string &name : mentioned)
    if (module->globals->find(name))
      addCell(module->globals, *module->globals, name);
}

void Surroundings::addFunction(const std::shared_ptr<h::Function> &function) {
  if (!function->module || !function->module->file ||
      function->module->file->path().starts_with("<"))
    return;
  std::set<std::string> names;
  bool mentionsMore = false;
  auto visitExpr = [&](const auto &self, const syntax::Expr &e) -> void {
    if (auto *name = syntax::as<syntax::Name>(&e))
      names.insert(name->id);
    if (auto *attribute = syntax::as<syntax::Attribute>(&e))
      mentionsMore |= mentioned.insert(attribute->attr).second;
    h::forEachChild(e, [&](const syntax::Expr &child) { self(self, child); });
  };
  auto visitStmt = [&](const auto &self, const syntax::Stmt &s) -> void {
    h::forEachChild(
        s, [&](const syntax::Expr &child) { visitExpr(visitExpr, child); },
        [&](const syntax::Stmt &child) { self(self, child); });
  };
  if (function->def)
    for (const auto &s : function->def->body)
      visitStmt(visitStmt, *s);
  else if (function->lambda)
    visitExpr(visitExpr, *function->lambda->body);
  if (mentionsMore)
    for (const auto &module : std::vector(modules))
      addModule(module);
  for (const std::string &name : names)
    for (const h::Scope *scope = function->closure.get(); scope; scope = scope->parent.get())
      // A name of a file that is not there yet may be bound by `global`.
      if (scope->names->find(name) || !scope->parent) {
        addCell(scope->names, *scope->names, name);
        break;
      }
  for (const h::Value &value : function->defaults)
    add(value);
}

bool Surroundings::holds() const {
  return std::all_of(cells.begin(), cells.end(),
                     [](const Cell &cell) {
                       const h::Value *now = cell.names->find(cell.name);
                       return now ? cell.value && isUnchanged(*now, *cell.value) : !cell.value;
                     }) &&
         std::all_of(attributes.begin(), attributes.end(),
                     [](const Attributes &one) {
                       const auto &now = one.names->items();
                       return now.size() == one.items.size() &&
                              std::equal(now.begin(), now.end(), one.items.begin(),
                                         [](const auto &a, const auto &b) {
                                           return a.first == b.first &&
                                                  isUnchanged(a.second, b.second);
                                         });
                     }) &&
         std::all_of(containers.begin(), containers.end(), [](const Container &one) {
           return holdsTheSame(one.value, one.copy);
         });
}

void Surroundings::restore() const {
  for (const Cell &cell : cells)
    if (cell.value)
      cell.names->set(cell.name, *cell.value);
    else
      cell.names->erase(cell.name);
  for (const Attributes &one : attributes) {
    one.names->clear();
    for (const auto &[name, value] : one.items)
      one.names->set(name, value);
  }
  for (const Container &one : containers)
    if (one.value.isList())
      one.value.list() = one.copy.list();
    else if (one.value.isDict())
      one.value.dictionary() = one.copy.dictionary();
    else
      one.value.elementSet() = one.copy.elementSet();
}

} // namespace pellucid::exec
