// SPDX-License-Identifier: Apache-2.0
/// What a compiled function can see beside its tensors, as it was when the function was traced.
#pragma once

#include "host/Interpreter.h"
#include "syntax/Ast.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pellucid::exec {

/// Names in a function's text and in those of functions it can reach, attributes of modules,
/// instances and classes, and what containers hold.
class Surroundings {
public:
  void add(const host::Value &value);

  /// Whether everything is as it was when it was added.
  bool holds() const;
  /// Makes everything what it was when it was added.
  void restore() const;
  /// Whether it reached something with a state that cannot be copied: an iterator, a generator.
  bool isOpaque() const { return opaque; }

  std::vector<host::Value> tensors;

private:
  struct Cell {
    std::shared_ptr<const void> keepAlive;
    host::Namespace *names;
    std::string name;
    std::optional<host::Value> value; ///< none: there was no such name
  };
  /// All names of an instance or a class: none may come, go or change.
  struct Attributes {
    std::shared_ptr<const void> keepAlive;
    host::Namespace *names;
    std::vector<std::pair<std::string, host::Value>> items;
  };
  struct Container {
    host::Value value, copy;
  };

  void addCell(std::shared_ptr<const void> keepAlive, host::Namespace &names,
               const std::string &name);
  void addAttributes(std::shared_ptr<const void> keepAlive, host::Namespace &names);
  void addClass(const std::shared_ptr<host::Class> &cls);
  void addModule(const std::shared_ptr<host::Module> &module);
  void addFunction(const std::shared_ptr<host::Function> &function);
  bool addContainer(const host::Value &value);

  std::set<const void *> seen;
  std::set<std::string> mentioned; ///< attributes that the texts seen so far name
  std::vector<std::shared_ptr<host::Module>> modules;
  std::vector<Cell> cells;
  std::vector<Attributes> attributes;
  std::vector<Container> containers;
  bool opaque = false;
};

} // namespace pellucid::exec
