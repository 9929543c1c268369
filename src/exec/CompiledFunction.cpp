// SPDX-License-Identifier: Apache-2.0
/// What torch.compile gives: one compiled program per kind of call. A kind is told by the tensors'
/// types, their sizes, the plain values among the arguments, and what of the program around it the
/// function can see.
#include "exec/Programs.h"
#include "exec/ScriptHooks.h"
#include "exec/Surroundings.h"
#include "host/InterpreterState.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <set>

namespace pellucid::exec {

namespace h = pellucid::host;

namespace {

constexpr size_t mostPrograms = 8; ///< as torch._dynamo.config.recompile_limit

bool isRowMajor(const graph::TensorType &type) {
  return type.isContiguous(symbolic::SymbolTable());
}

/// The kind of a call, and its tensors.
struct CallKind {
  std::string text; ///< everything but sizes
  std::vector<h::Value> tensors;
  std::vector<std::vector<int64_t>> sizes;
  bool sharesMemory = false; ///< two of the tensors do
  std::vector<h::Value> objects; ///< others than tensors, whose attributes the function may read

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
      // The same tensor twice is another kind of call, and so are two views of one memory.
      size_t first = 0, sharing = 0;
      while (!tensors[first].isSame(value))
        ++first;
      auto storageOf = [&](size_t at) {
        return tensors[at].as<trace::TensorObject>()->tensor.storage.get();
      };
      while (storageOf(sharing) != tensor->tensor.storage.get())
        ++sharing;
      sharesMemory |= sharing + 1 < tensors.size();
      // What the function asks of devices is decided while it is traced.
      text += "T" + std::string(info(type.dtype).torch) + std::to_string(type.rank()) + "@" +
              toString(tensor->tensor.storage->device) +
              (first + 1 < tensors.size() ? "=" + std::to_string(first) : "") +
              (sharing + 1 < tensors.size() ? "~" + std::to_string(sharing) : "") +
              (isRowMajor(type) ? "" : "s") + ";";
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
      objects.push_back(value);
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
        return runOrCall(i, one, kind, std::move(args));
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
    changed.clear();
    reachable.reset();
  }

private:
  eager::Session &session;
  ScriptHooks &hooks;
  h::Value function;
  bool fullGraph, isAlwaysDynamic, isNeverDynamic;
  std::vector<CompiledKind> kinds;
  std::set<std::string> eagerKinds;
  std::set<std::string> changed; ///< kinds whose first call changed what the function can see
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
    for (const h::Value &object : kind.objects)
      before->add(object);
    if (before->isOpaque())
      return runEagerly(i, kind, std::move(args));
    // A call that is traced has no effects: what it changed is put back, and it is made again.
    try {
      ScriptHooks::Silence silence(hooks, true);
      eager::TraceRequest request = requestOf(made.symbols);
      request.keepsViews = true;
      made.program->traced = session.trace(function, args, request);
    } catch (const ScriptHooks::OutsideEffect &) {
      before->restore();
      return runEagerly(i, kind, std::move(args));
    } catch (const h::RaisedError &) {
      before->restore();
      if (fullGraph)
        throw;
      return runEagerly(i, kind, std::move(args));
    } catch (const DiagnosticError &error) {
      before->restore();
      if (fullGraph)
        refuseWhole(i, error.diagnostic.message, &error.diagnostic);
      return runEagerly(i, kind, std::move(args));
    }
    if (!before->holds()) {
      before->restore();
      // What is made in the first call and kept is there in the second.
      return changed.insert(kind.text).second ? i.call(function, std::move(args))
                                              : runEagerly(i, kind, std::move(args));
    }
    const eager::TracedModel &traced = made.program->traced;
    if (traced.changesArguments || traced.results.isUnknown ||
        drawsNumbers(made.program->traced.program))
      return runEagerly(i, kind, std::move(args));
    made.surroundings = std::move(before);
    kinds.push_back(std::move(made));
    try {
      return runOrCall(i, kinds.back(), kind, args);
    } catch (const h::RaisedError &) {
      throw;
    } catch (const DiagnosticError &error) {
      kinds.pop_back();
      if (fullGraph)
        refuseWhole(i, error.diagnostic.message, &error.diagnostic);
      return runEagerly(i, kind, std::move(args));
    }
  }

  /// The program, or, where it writes to memory that another of its tensors sees too, the function.
  h::Value runOrCall(h::Interpreter &i, const CompiledKind &one, const CallKind &kind,
                     h::CallArgs args) {
    const eager::TracedModel &traced = one.program->traced;
    const auto &outputs = traced.program.outputs;
    bool writes = std::any_of(outputs.begin(), outputs.end(), [](const graph::OutputSpec &spec) {
      return spec.kind != graph::OutputSpec::Kind::UserOutput;
    });
    auto isHeld = [&](const h::Value &value) {
      const auto &storage = value.as<trace::TensorObject>()->tensor.storage;
      return std::any_of(traced.held.begin(), traced.held.end(),
                         [&](const auto &held) { return held.first == storage; });
    };
    bool shares = kind.sharesMemory ||
                  std::any_of(kind.tensors.begin(), kind.tensors.end(), isHeld);
    if (shares && (writes || !traced.results.places.empty()))
      return i.call(function, std::move(args));
    return runProgram(session, i, *one.program, kind.tensors);
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
