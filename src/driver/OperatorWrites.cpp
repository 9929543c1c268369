// SPDX-License-Identifier: Apache-2.0
#include "driver/OperatorWrites.h"

#include "host/TreeWalk.h"

#include <algorithm>

namespace pellucid::driver {

namespace h = host;
namespace s = syntax;

namespace {

using Origins = std::set<std::string>;

/// Methods and attributes whose result lies in the memory of the tensor they are taken from.
bool isView(const std::string &name) {
  static const std::set<std::string> views{
      "T",       "mT",    "data",   "view",      "view_as", "reshape",    "flatten", "squeeze",
      "permute", "t",     "detach", "unsqueeze", "expand",  "contiguous", "narrow",  "transpose",
      "chunk",   "split", "unbind", "select",    "movedim", "unflatten",  "swapaxes"};
  return views.count(name) != 0;
}

class WriteFinder {
public:
  WriteFinder(h::Interpreter &i, const WrittenParameters &w) : interpreter(i), written(w) {}
  OperatorWrites result;

  /// `origins` says which parameters of the operator each of the function's names stands for.
  void function(const h::Function &f, std::map<std::string, Origins> origins) {
    if (!f.def || std::find(active.begin(), active.end(), f.def) != active.end())
      return;
    active.push_back(f.def);
    Body body{*this, f, std::move(origins), {}};
    for (const auto &statement : f.def->body)
      body.stmt(*statement);
    active.pop_back();
  }

private:
  h::Interpreter &interpreter;
  const WrittenParameters &written;
  std::vector<const s::FunctionDef *> active;

  struct Body {
    WriteFinder &finder;
    const h::Function &f;
    std::map<std::string, Origins> origins;
    h::LocalNames locals;

    Origins of(const s::Expr &e) const {
      if (auto *name = s::as<s::Name>(&e)) {
        auto it = origins.find(name->id);
        return it == origins.end() ? Origins() : it->second;
      }
      if (auto *subscript = s::as<s::Subscript>(&e))
        return of(*subscript->value);
      if (auto *attribute = s::as<s::Attribute>(&e))
        return isView(attribute->attr) ? of(*attribute->value) : Origins();
      if (auto *call = s::as<s::Call>(&e)) {
        auto *method = s::as<s::Attribute>(call->func.get());
        return method ? of(*method) : Origins();
      }
      if (auto *choice = s::as<s::IfExp>(&e)) {
        Origins both = of(*choice->body);
        both.merge(of(*choice->orelse));
        return both;
      }
      return {};
    }

    void write(const Origins &to, const std::string &by, const s::Node &where) {
      for (const std::string &parameter : to) {
        auto &writes = finder.result.writes;
        if (std::none_of(writes.begin(), writes.end(),
                         [&](const OperatorWrite &w) { return w.parameter == parameter; }))
          writes.push_back({parameter, by, f.module->locate(where)});
      }
    }

    /// The arguments of a call with the names of the parameters they are for.
    template <typename NameOf, typename Visit>
    static void arguments(const s::Call &call, NameOf nameOf, Visit visit) {
      for (size_t i = 0; i < call.args.size(); ++i)
        if (auto name = nameOf(i))
          visit(*name, *call.args[i]);
      for (const auto &keyword : call.keywords)
        if (keyword->arg)
          visit(*keyword->arg, *keyword->value);
    }

    void launch(const h::JitFunction &kernel, const s::Call &call) {
      const std::set<std::string> *names = finder.written(kernel);
      auto nameOf = [&](size_t i) {
        return i < kernel.parameters.size() ? std::optional(kernel.parameters[i].name)
                                            : std::nullopt;
      };
      arguments(call, nameOf, [&](const std::string &name, const s::Expr &value) {
        if (!names)
          finder.result.lost.merge(of(value));
        else if (names->count(name))
          write(of(value), "kernel '" + kernel.name() + "'", call);
      });
    }

    void helper(const h::Function &callee, const s::Call &call) {
      std::map<std::string, Origins> inner;
      const s::Arguments &parameters = callee.def->args;
      auto nameOf = [&](size_t i) -> std::optional<std::string> {
        size_t first = parameters.posonlyargs.size();
        if (i < first)
          return parameters.posonlyargs[i]->arg;
        return i - first < parameters.args.size() ? std::optional(parameters.args[i - first]->arg)
                                                  : std::nullopt;
      };
      arguments(call, nameOf,
                [&](const std::string &name, const s::Expr &value) { inner[name] = of(value); });
      finder.function(callee, std::move(inner));
    }

    void call(const s::Call &call) {
      h::Interpreter &interpreter = finder.interpreter;
      if (auto named = h::launchedKernel(interpreter, *f.closure, locals, *call.func); named.kernel)
        return launch(*named.kernel, call);
      for (const auto &keyword : call.keywords)
        if (keyword->arg == "out")
          write(of(*keyword->value), "'out='", call);
      if (auto *method = s::as<s::Attribute>(call.func.get())) {
        const std::string &name = method->attr;
        if (name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_')
          write(of(*method->value), "'." + name + "'", call);
      }
      auto callee = h::resolveName(interpreter, *f.closure, *call.func);
      auto *inner = callee ? callee->as<h::Function>() : nullptr;
      if (inner && inner->def)
        return helper(*inner, call);
      if (!callee && s::as<s::Name>(call.func.get()))
        for (const auto &argument : call.args)
          finder.result.lost.merge(of(*argument));
    }

    void expr(const s::Expr &e) {
      if (auto *made = s::as<s::Call>(&e))
        call(*made);
      h::forEachChild(e, [this](const s::Expr &child) { expr(child); });
    }

    void target(const s::Expr &e, const s::Expr &value) {
      if (auto *name = s::as<s::Name>(&e)) {
        origins[name->id] = of(value);
        locals[name->id] = &value;
      } else if (auto *element = s::as<s::Subscript>(&e)) {
        write(of(*element->value), "the assignment", e);
      } else if (auto *tuple = s::as<s::Tuple>(&e)) {
        auto *values = s::as<s::Tuple>(&value);
        for (size_t i = 0; i < tuple->elts.size(); ++i)
          target(*tuple->elts[i], values && i < values->elts.size() ? *values->elts[i] : value);
      }
    }

    void stmt(const s::Stmt &statement) {
      h::forEachChild(
          statement, [this](const s::Expr &e) { expr(e); },
          [this](const s::Stmt &inner) { stmt(inner); });
      if (auto *assign = s::as<s::Assign>(&statement))
        for (const auto &t : assign->targets)
          target(*t, *assign->value);
      if (auto *augmented = s::as<s::AugAssign>(&statement))
        write(of(*augmented->target), "the assignment", *augmented);
    }
  };
};

} // namespace

OperatorWrites findWrites(h::Interpreter &interpreter, const h::Function &function,
                          const WrittenParameters &written) {
  std::map<std::string, Origins> origins;
  for (const auto *list : {&function.parameters->posonlyargs, &function.parameters->args,
                           &function.parameters->kwonlyargs})
    for (const auto &parameter : *list)
      origins[parameter->arg] = {parameter->arg};
  WriteFinder finder(interpreter, written);
  finder.function(function, std::move(origins));
  return std::move(finder.result);
}

} // namespace pellucid::driver
