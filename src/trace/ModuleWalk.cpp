// SPDX-License-Identifier: Apache-2.0
#include "trace/ModuleWalk.h"

#include "support/Stack.h"
#include "trace/TensorObject.h"

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

std::string joined(const std::string &prefix, const std::string &name) {
  return prefix.empty() ? name : prefix + "." + name;
}

/// torch.nn.Module.named_modules(). A module of a class that says otherwise is asked itself.
class ModuleWalk {
public:
  ModuleWalk(h::Interpreter &i, const h::Value &module, h::Set &m, bool removes)
      : interpreter(i), base(module.expect<h::Class>("torch.nn.Module")), memo(m),
        removesDuplicates(removes), ordinary(base.find("named_modules")) {}

  void visit(const h::Value &value, const std::string &prefix) {
    auto &module = value.expect<h::Instance>("a module");
    if (!h::hashOf(value))
      interpreter.raise("TypeError", "unhashable type: '" + h::typeName(value) + "'");
    if (removesDuplicates ? !memo.insert(value) : memo.contains(value))
      return;
    // Without a memo, a module that is inside of itself goes on for ever.
    if (depth >= interpreter.options().maxDepth || stackIsLow())
      interpreter.raise("RecursionError", "maximum recursion depth exceeded");
    ++depth;
    found.push_back(h::Value::tuple({h::Value(prefix), value}));
    // A copy: what a class of the user's does when it is asked may add attributes.
    const auto attributes = module.attributes.items();
    for (const auto &[name, attribute] : attributes) {
      auto *child = attribute.as<h::Instance>();
      if (!child || !h::isInstance(attribute, base))
        continue;
      if (child->cls->find("named_modules") == ordinary && !child->attributes.find("named_modules"))
        visit(attribute, joined(prefix, name));
      else
        ask(attribute, joined(prefix, name));
    }
    --depth;
  }

  std::vector<h::Value> found;

private:
  void ask(const h::Value &child, const std::string &prefix) {
    h::Value theirs = interpreter.call(interpreter.getAttr(child, "named_modules"),
                                       {known, h::Value(prefix), h::Value(removesDuplicates)});
    for (h::Value &one : interpreter.iterate(theirs))
      found.push_back(std::move(one));
  }

  h::Interpreter &interpreter;
  const h::Class &base;
  h::Set &memo;
  bool removesDuplicates;
  const h::Value *ordinary;
  size_t depth = 0;

public:
  h::Value known; ///< the set as the program has it
};

h::Value namedModules(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  const h::Value &base = a[0], &module = a[1], &memo = a[2], &prefix = a[3];
  h::Value known = memo.isNone() ? h::Value::set({}) : memo;
  ModuleWalk walk(interpreter, base, known.elementSet(), interpreter.truth(a[4]));
  walk.known = known;
  walk.visit(module, interpreter.toStr(prefix, "prefix"));
  return h::Value::list(std::move(walk.found));
}

/// The tensors among the attributes of `modules`, pairs of a path and a module: parameters, or what
/// `accepts(module, name, tensor)`.
h::Value namedTensors(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  const auto &parameter = a[0].expect<h::Class>("torch.nn.Parameter");
  const h::Value &accepts = a[2];
  bool removesDuplicates = interpreter.truth(a[3]);
  h::Set memo;
  h::List found;
  for (const h::Value &pair : interpreter.iterate(a[1])) {
    const std::string &path = interpreter.toStr(pair.elements().at(0), "a path");
    const h::Value &module = pair.elements().at(1);
    // A copy: `accepts` may add attributes.
    const auto attributes = module.expect<h::Instance>("a module").attributes.items();
    for (const auto &[name, value] : attributes) {
      if (!value.isObject())
        continue;
      bool isWanted = accepts.isNone()
                          ? h::isInstance(value, parameter)
                          : interpreter.truth(interpreter.call(accepts, {module, name, value}));
      if (!isWanted || (removesDuplicates && memo.contains(value)))
        continue;
      memo.insert(value);
      found.push_back(h::Value::tuple({h::Value(joined(path, name)), value}));
    }
  }
  return h::Value::list(std::move(found));
}

/// module(...): its forward(), or all that hooks want around it.
h::Value callModule(h::Interpreter &interpreter, h::CallArgs args) {
  if (args.positional.empty())
    interpreter.raise("TypeError", "__call__() missing 1 required positional argument: 'self'");
  h::Value self = args.positional.front();
  const auto &module = self.expect<h::Instance>("a module");
  args.positional.erase(args.positional.begin());
  if (!module.attributes.find("_hooks"))
    return interpreter.call(interpreter.getAttr(self, "forward"), std::move(args));
  h::Dict keywords;
  for (auto &[name, value] : args.keywords)
    keywords.set(h::Value(name), value);
  return interpreter.call(interpreter.getAttr(self, "_called"),
                          {h::Value::tuple({args.positional.begin(), args.positional.end()}),
                           h::Value::dict(keywords)});
}

} // namespace

void addModuleWalk(h::Module &nn) {
  nn.globals->at("Module").expect<h::Class>("a class").attributes.set(
      "__call__", h::nativeRaw("torch.nn.Module.__call__", callModule));
  nn.globals->set(
      "_named_modules",
      h::native("named_modules", "base, module, memo, prefix, remove_duplicate", namedModules));
  nn.globals->set(
      "_named_tensors",
      h::native("named_parameters", "parameter, modules, accepts, remove_duplicate", namedTensors));
}

} // namespace pellucid::trace
