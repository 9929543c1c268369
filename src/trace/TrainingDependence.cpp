// SPDX-License-Identifier: Apache-2.0
#include "trace/TrainingDependence.h"

#include "host/TreeWalk.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

namespace h = pellucid::host;
namespace s = pellucid::syntax;

namespace {

/// The first `….training` that is read.
const s::Attribute *findQuestion(const s::Expr &expr) {
  if (auto *attribute = s::as<s::Attribute>(&expr);
      attribute && attribute->attr == "training" && attribute->ctx == s::ExprContext::Load)
    return attribute;
  const s::Attribute *found = nullptr;
  h::forEachChild(expr, [&](const s::Expr &child) { found = found ? found : findQuestion(child); });
  return found;
}

const s::Attribute *findQuestion(const s::Stmt &stmt) {
  const s::Attribute *found = nullptr;
  h::forEachChild(
      stmt, [&](const s::Expr &child) { found = found ? found : findQuestion(child); },
      [&](const s::Stmt &child) { found = found ? found : findQuestion(child); });
  return found;
}

bool isOurs(const h::Class &cls) {
  return cls.location.file && cls.location.file->path().starts_with("<torch");
}

/// The class and what it derives from.
std::vector<std::shared_ptr<h::Class>> classesOf(const h::Instance &module) {
  std::vector<std::shared_ptr<h::Class>> classes = {module.cls};
  classes.insert(classes.end(), module.cls->mro.begin(), module.cls->mro.end());
  return classes;
}

/// What a module of torch.nn does differently after eval().
std::string changeOf(h::Interpreter &interpreter, const h::Instance &module) {
  std::vector<std::shared_ptr<h::Class>> classes = classesOf(module);
  auto named = [&](const char *name) {
    return std::any_of(classes.begin(), classes.end(),
                       [&](const auto &cls) { return cls->name == name && isOurs(*cls); });
  };
  const h::Value *running = module.attributes.find("running_mean");
  if (named("_BatchNorm") && running && !running->isNone())
    return module.cls->name + " takes its running statistics";
  const h::Value *p = module.attributes.find("p");
  if (named("_DropoutNd") && p && interpreter.truth(*p))
    return module.cls->name + "(" + interpreter.str(*p) + ") passes its input on";
  return {};
}

} // namespace

std::vector<std::string> trainingDependence(h::Interpreter &interpreter, const h::Value &model) {
  std::vector<std::string> phrases;
  std::set<std::string> said;
  std::set<const h::Class *> read;
  auto say = [&](const std::string &phrase) {
    if (!phrase.empty() && said.insert(phrase).second)
      phrases.push_back(phrase);
  };
  h::Value modules = interpreter.call(interpreter.getAttr(model, "modules"));
  for (const h::Value &module : interpreter.iterate(modules)) {
    auto *instance = module.as<h::Instance>();
    if (!instance)
      continue;
    say(changeOf(interpreter, *instance));
    for (const auto &cls : classesOf(*instance)) {
      if (isOurs(*cls) || !read.insert(cls.get()).second)
        continue;
      for (const auto &[name, attribute] : cls->attributes.items()) {
        auto *function = attribute.as<h::Function>();
        const s::Attribute *question = nullptr;
        if (function && function->def && name != "train" && name != "__init__")
          for (const auto &statement : function->def->body)
            question = question ? question : findQuestion(*statement);
        if (question)
          say("'training' is False in " + cls->name + "." + name + ", line " +
              std::to_string(question->range.line));
      }
    }
  }
  return phrases;
}

} // namespace pellucid::trace
