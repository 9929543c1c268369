// SPDX-License-Identifier: Apache-2.0
/// What torch.compile gives: one compiled program per kind of call. A kind is told by the tensors'
/// types, their sizes, the plain values among the arguments, and what of the program around it the
/// function can see.
#include "exec/Programs.h"
#include "exec/ScriptHooks.h"
#include "host/InterpreterState.h"
#include "host/TreeWalk.h"
#include "syntax/Ast.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <set>

namespace pellucid::exec {

namespace h = pellucid::host;

namespace {

constexpr size_t mostPrograms = 8; ///< as torch._dynamo.config.recompile_limit

bool isPlain(const h::Value &value) {
  return value.isNone() || value.isBool() || value.isInt() || value.isFloat() || value.isStr();
}

/// Values around a function that it may depend on: names in its text and those of functions it can
/// reach, attributes of modules and instances.
class Surroundings {
public:
  void add(const h::Value &value) {
    if (value.isSequence()) {
      for (const h::Value &element : value.elements())
        add(element);
      return;
    }
    if (value.isDict()) {
      for (const auto &[key, element] : value.dictionary().items())
        add(element);
      return;
    }
    if (!value.isObject() || seen.size() > mostObjects || !seen.insert(value.object().get()).second)
      return;
    if (value.as<trace::TensorObject>())
      tensors.push_back(value);
    else if (auto function = value.shared<h::Function>())
      addFunction(function);
    else if (auto *bound = value.as<h::BoundMethod>()) {
      add(bound->self);
      add(bound->function);
    } else if (auto instance = value.shared<h::Instance>())
      addInstance(instance);
    else if (auto cls = value.shared<h::Class>())
      addMethods(*cls);
  }

  std::vector<h::Value> tensors;

  /// Whether everything is as it was when it was added.
  bool holds() const {
    return std::all_of(cells.begin(), cells.end(), [](const Cell &cell) {
      const h::Value *now = cell.names->find(cell.name);
      return now ? isSame(*now, cell.value) : cell.isAbsent;
    });
  }

private:
  static constexpr size_t mostObjects = 20'000, mostElements = 256;
  struct Cell {
    std::shared_ptr<const void> keepAlive;
    const h::Namespace *names;
    std::string name;
    h::Value value;
    bool isAbsent = false;
  };

  /// Containers are compared by what they hold, for which a copy is kept.
  static h::Value snapshot(const h::Value &value) {
    if (value.isList() && value.list().size() <= mostElements)
      return h::Value::list(h::List(value.list()));
    if (value.isDict() && value.dictionary().size() <= mostElements)
      return h::Value::dict(h::Dict(value.dictionary()));
    return value;
  }
  static bool isSame(const h::Value &a, const h::Value &b) {
    if (a.kind() != b.kind())
      return false;
    if (isPlain(a))
      return a.isFloat() ? a.real() == b.real() || (a.real() != a.real() && b.real() != b.real())
                         : h::equal(a, b);
    auto all = [](const std::vector<h::Value> &x, const std::vector<h::Value> &y) {
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), isSame);
    };
    if (a.isSequence())
      return a.isSame(b) || all(a.elements(), b.elements());
    if (a.isDict()) {
      const auto &x = a.dictionary().items(), &y = b.dictionary().items();
      return x.size() == y.size() &&
             std::equal(x.begin(), x.end(), y.begin(), [](const auto &p, const auto &q) {
               return isSame(p.first, q.first) && isSame(p.second, q.second);
             });
    }
    return a.isSame(b);
  }

  void addCell(std::shared_ptr<const void> keepAlive, const h::Namespace &names,
               const std::string &name) {
    const h::Value *value = names.find(name);
    cells.push_back({std::move(keepAlive), &names, name, value ? snapshot(*value) : h::Value(),
                     value == nullptr});
    if (value)
      add(h::Value(*value));
  }

  void addInstance(const std::shared_ptr<h::Instance> &instance) {
    std::vector<std::string> names;
    for (const auto &[name, value] : instance->attributes.items())
      names.push_back(name);
    for (const std::string &name : names)
      addCell(instance, instance->attributes, name);
    addMethods(*instance->cls);
  }

  void addMethods(const h::Class &cls) {
    auto addOf = [&](const h::Class &one) {
      bool isUsers = one.location.file && !one.location.file->path().starts_with("<");
      if (!isUsers || !classes.insert(&one).second)
        return;
      for (const auto &[name, value] : one.attributes.items())
        if (value.as<h::Function>())
          add(value);
    };
    addOf(cls);
    for (const auto &base : cls.mro)
      addOf(*base);
  }

  void addFunction(const std::shared_ptr<h::Function> &function) {
    if (!function->module || !function->module->file ||
        function->module->file->path().starts_with("<"))
      return;
    std::set<std::string> names;
    auto visitExpr = [&](const auto &self, const syntax::Expr &e) -> void {
      if (auto *name = syntax::as<syntax::Name>(&e))
        names.insert(name->id);
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
    for (const std::string &name : names)
      for (const h::Scope *scope = function->closure.get(); scope; scope = scope->parent.get())
        if (scope->names->find(name)) {
          addCell(scope->names, *scope->names, name);
          break;
        }
    for (const h::Value &value : function->defaults)
      add(value);
  }

  std::set<const h::Object *> seen;
  std::set<const h::Class *> classes;
  std::vector<Cell> cells;
};

/// The kind of a call, and its tensors.
struct CallKind {
  std::string text; ///< everything but sizes
  std::vector<h::Value> tensors;
  std::vector<std::vector<int64_t>> sizes;

  explicit CallKind(const h::CallArgs &args) {
    for (const h::Value &value : args.positional)
      add(value);
    for (const auto &[name, value] : args.keywords) {
      text += name + "=";
      add(value);
    }
  }

private:
  void add(const h::Value &value) {
    if (auto *tensor = value.as<trace::TensorObject>()) {
      const graph::TensorType &type = tensor->tensor.type;
      tensors.push_back(value);
      auto &row = sizes.emplace_back();
      for (const symbolic::Expr &size : type.shape)
        row.push_back(size.constant().value_or(-1));
      // The same tensor twice is another kind of call.
      size_t first = 0;
      while (!tensors[first].isSame(value))
        ++first;
      // What the function asks of devices is decided while it is traced.
      text += "T" + std::string(info(type.dtype).torch) + std::to_string(type.rank()) + "@" +
              toString(tensor->tensor.storage->device) +
              (first + 1 < tensors.size() ? "=" + std::to_string(first) : "") + ";";
    } else if (value.isDict()) {
      text += "{";
      for (const auto &[key, element] : value.dictionary().items()) {
        text += h::repr(key) + ":";
        add(element);
      }
      text += "}";
    } else if (value.isSequence()) {
      text += value.isTuple() ? "(" : "[";
      for (const h::Value &element : value.elements())
        add(element);
      text += ")";
    } else if (value.isObject()) {
      text += value.object()->typeName() + "@" +
              std::to_string(reinterpret_cast<uintptr_t>(value.object().get())) + ";";
    } else {
      text += h::repr(value) + ";";
    }
  }
};

/// One compiled program and what calls it is for.
struct CompiledKind {
  std::string text;
  std::vector<std::vector<std::optional<std::string>>> symbols; ///< per tensor and dim
  std::vector<std::vector<int64_t>> sizes;                      ///< of the call it was made for
  std::shared_ptr<ProgramObject> program;
  std::shared_ptr<Surroundings> surroundings;

  /// Whether sizes are the static ones, and dynamic ones in their ranges and on the side of every
  /// condition that the example was on.
  bool takes(const std::vector<std::vector<int64_t>> &given) const {
    symbolic::SymbolTable values = program->traced.program.symbols;
    for (size_t t = 0; t < given.size(); ++t)
      for (size_t d = 0; d < given[t].size(); ++d) {
        bool isDynamic = t < symbols.size() && d < symbols[t].size() && symbols[t][d];
        if (!isDynamic) {
          if (given[t][d] != sizes[t][d])
            return false;
          continue;
        }
        const auto *known = values.find(*symbols[t][d]);
        if (!known)
          continue;
        if (given[t][d] < known->range.min || given[t][d] > known->range.max)
          return false;
        symbolic::SymbolInfo exact = *known;
        exact.range = {given[t][d], given[t][d]};
        exact.hint = given[t][d];
        values.declare(*symbols[t][d], exact);
      }
    return std::all_of(program->traced.followed.begin(), program->traced.followed.end(),
                       [&](const auto &condition) {
                         auto now = values.hint(condition.first);
                         return now && (*now != 0) == condition.second;
                       });
  }
  bool isCurrent() const {
    return surroundings->holds() &&
           std::all_of(program->traced.held.begin(), program->traced.held.end(),
                       [](const auto &held) { return held.first->version == held.second; });
  }
};

class CompiledFunction : public h::Object {
public:
  CompiledFunction(eager::Session &s, ScriptHooks &k, h::Value f, bool whole, const h::Value &dyn)
      : session(s), hooks(k), function(std::move(f)), fullGraph(whole),
        isAlwaysDynamic(dyn.isBool() && dyn.boolean()),
        isNeverDynamic(dyn.isBool() && !dyn.boolean()) {}
  std::string typeName() const override { return "function"; }
  bool isCallable() const override { return true; }

  h::Value call(h::Interpreter &i, h::CallArgs args) override {
    // Inside of another trace it is the function itself; and what has gradients is recorded.
    if (!session.recorder().isRecording())
      return i.call(function, std::move(args));
    CallKind kind(args);
    if (eagerKinds.count(kind.text) || needsGradients(i, kind))
      return i.call(function, std::move(args));
    for (const CompiledKind &one : kinds)
      if (one.text == kind.text && one.takes(kind.sizes) && one.isCurrent()) {
        ScriptHooks::RegionScope region(
            hooks, "Torch-Compiled Region: " + std::to_string(&one - kinds.data()) + "/0");
        return runProgram(session, i, *one.program, kind.tensors);
      }
    return compileAndRun(i, kind, std::move(args));
  }

  std::optional<h::Value> getAttr(h::Interpreter &i, std::string_view name) override {
    if (name == "_torchdynamo_orig_callable" || name == "__wrapped__")
      return function;
    return i.findAttr(function, name);
  }
  void reset() {
    kinds.clear();
    eagerKinds.clear();
    reachable.reset();
  }

private:
  eager::Session &session;
  ScriptHooks &hooks;
  h::Value function;
  bool fullGraph, isAlwaysDynamic, isNeverDynamic;
  std::vector<CompiledKind> kinds;
  std::set<std::string> eagerKinds;
  std::optional<std::vector<h::Value>> reachable; ///< tensors that the function can see

  bool needsGradients(h::Interpreter &i, const CallKind &kind) {
    auto torch = i.nativeModule("torch");
    auto enabled = i.findAttr(h::Value(torch), "is_grad_enabled");
    if (!enabled || enabled->as<h::Opaque>() || !i.truth(i.call(*enabled)))
      return false;
    auto requires_ = [&](const h::Value &tensor) {
      auto flag = i.findAttr(tensor, "requires_grad");
      return flag && flag->isBool() && flag->boolean();
    };
    if (std::any_of(kind.tensors.begin(), kind.tensors.end(), requires_))
      return true;
    if (!reachable) {
      Surroundings surroundings;
      surroundings.add(function);
      reachable = surroundings.tensors;
    }
    return std::any_of(reachable->begin(), reachable->end(), requires_);
  }

  [[noreturn]] void refuseWhole(h::Interpreter &i, const std::string &why,
                                const Diagnostic *diagnostic) {
    auto exceptions = i.nativeModule("torch._dynamo.exc");
    h::Value exception = i.call(i.getAttr(h::Value(exceptions), "Unsupported"), {h::Value(why)});
    h::noteRaised(i, exception);
    throw h::RaisedError(diagnostic ? *diagnostic : Diagnostic(Severity::Error, i.location(), why),
                         exception);
  }

  /// Dims that were another number before are dynamic from the second on; 0 and 1 never are.
  std::vector<std::vector<std::optional<std::string>>> dynamicDims(const CallKind &kind) const {
    std::vector<std::vector<std::optional<std::string>>> out;
    std::map<int64_t, std::string> named; // equal sizes are one symbol
    for (size_t t = 0; t < kind.sizes.size(); ++t) {
      auto &row = out.emplace_back(kind.sizes[t].size());
      for (size_t d = 0; d < row.size(); ++d) {
        int64_t size = kind.sizes[t][d];
        bool varies = std::any_of(kinds.begin(), kinds.end(), [&](const CompiledKind &other) {
          return other.text == kind.text && other.sizes[t][d] != size;
        });
        if (size < 2 || isNeverDynamic || !(isAlwaysDynamic || varies))
          continue;
        row[d] = named.try_emplace(size, "s" + std::to_string(named.size())).first->second;
      }
    }
    return out;
  }

  static eager::TraceRequest
  requestOf(const std::vector<std::vector<std::optional<std::string>>> &symbols) {
    eager::TraceRequest request;
    for (const auto &row : symbols) {
      auto &dims = request.dims.emplace_back();
      for (const auto &symbol : row)
        dims.push_back(symbol ? std::optional(eager::TraceRequest::Dim{*symbol, 2, INT64_MAX})
                              : std::nullopt);
    }
    return request;
  }

  static bool drawsNumbers(const graph::Program &program) {
    static const std::set<std::string_view> words = {
        "rand", "dropout", "bernoulli", "normal", "uniform", "multinomial", "exponential"};
    auto draws = [](const graph::Graph &graph) {
      for (const graph::Node &node : graph)
        for (std::string_view word : words)
          if (node.target().starts_with("aten.") && node.target().find(word) != std::string::npos)
            return true;
      return false;
    };
    return draws(program.main) || std::any_of(program.bodies.begin(), program.bodies.end(),
                                              [&](const auto &body) { return draws(body.graph); });
  }

  h::Value runEagerly(h::Interpreter &i, const CallKind &kind, h::CallArgs args) {
    eagerKinds.insert(kind.text);
    return i.call(function, std::move(args));
  }

  h::Value compileAndRun(h::Interpreter &i, const CallKind &kind, h::CallArgs args) {
    auto ofKind = [&](const CompiledKind &one) { return one.text == kind.text; };
    auto same = static_cast<size_t>(std::count_if(kinds.begin(), kinds.end(), ofKind));
    // What changed around it once will change again: recorded as it runs, it compiles nothing new.
    bool wasStale = std::any_of(kinds.begin(), kinds.end(), [&](const CompiledKind &one) {
      return ofKind(one) && one.takes(kind.sizes) && !one.program->traced.held.empty() &&
             one.surroundings->holds();
    });
    if (wasStale || (same >= mostPrograms && !fullGraph))
      return runEagerly(i, kind, std::move(args));
    if (same >= mostPrograms)
      refuseWhole(i,
                  "torch.compile: recompile_limit reached with fullgraph=True: the function was "
                  "compiled " +
                      std::to_string(same) + " times for calls of one kind",
                  nullptr);
    CompiledKind made;
    made.text = kind.text;
    made.sizes = kind.sizes;
    made.symbols = dynamicDims(kind);
    made.program = std::make_shared<ProgramObject>();
    auto before = std::make_shared<Surroundings>();
    before->add(function);
    bool hasPrinted = false;
    try {
      ScriptHooks::Silence silence(hooks);
      made.program->traced = session.trace(function, args, requestOf(made.symbols));
      hasPrinted = silence.wasBroken();
    } catch (const h::RaisedError &) {
      throw;
    } catch (const DiagnosticError &error) {
      if (fullGraph)
        refuseWhole(i, error.diagnostic.message, &error.diagnostic);
      return runEagerly(i, kind, std::move(args));
    }
    // What a call does to the script beside its results is done in every call.
    if (hasPrinted || !before->holds() || drawsNumbers(made.program->traced.program))
      return runEagerly(i, kind, std::move(args));
    made.surroundings = std::move(before);
    kinds.push_back(std::move(made));
    try {
      return runProgram(session, i, *kinds.back().program, kind.tensors);
    } catch (const h::RaisedError &) {
      throw;
    } catch (const DiagnosticError &error) {
      kinds.pop_back();
      if (fullGraph)
        refuseWhole(i, error.diagnostic.message, &error.diagnostic);
      return runEagerly(i, kind, std::move(args));
    }
  }
};

} // namespace

h::Value makeCompiled(eager::Session &session, ScriptHooks &hooks, const h::Value &function,
                      bool fullGraph, const h::Value &dynamic) {
  auto compiled = std::make_shared<CompiledFunction>(session, hooks, function, fullGraph, dynamic);
  hooks.onReset([weak = std::weak_ptr<CompiledFunction>(compiled)] {
    if (auto alive = weak.lock())
      alive->reset();
  });
  return h::Value(compiled);
}

} // namespace pellucid::exec
