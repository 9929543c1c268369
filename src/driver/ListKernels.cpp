// SPDX-License-Identifier: Apache-2.0
#include "driver/ListKernels.h"

#include "driver/GuessPointers.h"
#include "frontend/EmitKernel.h"
#include "host/Interpreter.h"
#include "host/TreeWalk.h"
#include "trace/TensorObject.h"
#include "tt/AccessAnalysis.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>

namespace pellucid::driver {

namespace h = host;
namespace s = syntax;
using frontend::ParameterSpec;

namespace {

/// What a parameter without any hint may be, likely ones first.
std::vector<h::Value> constantCandidates() {
  auto type = [](DataType t) {
    return h::Value(std::make_shared<h::DType>(t, h::DType::Family::Triton));
  };
  return {h::Value(64),
          h::Value(16),
          h::Value(true),
          type(DataType::Float32),
          h::Value(""),
          h::Value(),
          h::Value(1),
          h::Value(0),
          h::Value(false),
          h::Value(128),
          h::Value(32),
          h::Value("ieee"),
          h::Value(1e-5),
          type(DataType::Int32),
          type(DataType::Float16)};
}

/// Texts that the file compares something with.
void addComparedTexts(const s::Expr &expr, std::vector<h::Value> &out) {
  if (auto *compare = s::as<s::Compare>(&expr))
    for (const auto &other : compare->comparators)
      if (auto *constant = s::as<s::Constant>(other.get());
          constant && constant->type == s::Constant::Type::String)
        out.push_back(h::Value(constant->text));
  h::forEachChild(expr, [&](const s::Expr &child) { addComparedTexts(child, out); });
}
void addComparedTexts(const s::Stmt &stmt, std::vector<h::Value> &out) {
  h::forEachChild(
      stmt, [&](const s::Expr &child) { addComparedTexts(child, out); },
      [&](const s::Stmt &child) { addComparedTexts(child, out); });
}

std::vector<ParameterSpec> alternatives(const ParameterSpec &spec,
                                        const std::vector<h::Value> &texts) {
  std::vector<ParameterSpec> out;
  auto add = [&](ParameterSpec::Kind kind, DataType type) {
    ParameterSpec other;
    other.kind = kind;
    other.dtype = type;
    out.push_back(std::move(other));
  };
  if (spec.kind == ParameterSpec::Kind::Constexpr) {
    std::vector<h::Value> candidates = constantCandidates();
    candidates.insert(candidates.end(), texts.begin(), texts.end());
    for (h::Value &candidate : candidates) {
      ParameterSpec other = spec;
      other.constant = std::move(candidate);
      out.push_back(std::move(other));
    }
    return out;
  }
  for (DataType type :
       {DataType::Float32, DataType::Int32, DataType::Int64, DataType::Float16, DataType::UInt8})
    add(ParameterSpec::Kind::Pointer, type);
  for (DataType type : {DataType::Int32, DataType::Float32})
    add(ParameterSpec::Kind::Scalar, type);
  add(ParameterSpec::Kind::None, DataType::Int32);
  return out;
}

/// How far into the kernel's text a choice of parameters compiled: the line of the error in the
/// kernel, then in the function it calls. Columns say nothing: inner expressions come first.
using Progress = std::array<uint32_t, 2>;

/// One choice, compiled.
struct Attempt {
  std::vector<ParameterSpec> specs;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<Diagnostic> error;
  Progress progress{};
};

/// A function that returns something is no kernel of its own.
bool returnsValue(const s::List<s::Stmt> &body) {
  for (const auto &statement : body) {
    if (auto *ret = s::as<s::Return>(statement.get())) {
      auto *constant = ret->value ? s::as<s::Constant>(ret->value.get()) : nullptr;
      if (ret->value && !(constant && constant->type == s::Constant::Type::None))
        return true;
    } else if (auto *branch = s::as<s::If>(statement.get())) {
      if (returnsValue(branch->body) || returnsValue(branch->orelse))
        return true;
    }
  }
  return false;
}

/// Whether the file's top level has `@triton.jit def name`.
bool definesKernel(const s::Module &file, const std::string &name) {
  for (const auto &statement : file.body)
    if (auto *function = s::as<s::FunctionDef>(statement.get()); function && function->name == name)
      for (const auto &decorator : function->decoratorList) {
        const s::Expr *e = decorator.get();
        if (auto *call = s::as<s::Call>(e))
          e = call->func.get();
        auto *attribute = s::as<s::Attribute>(e);
        auto *plain = s::as<s::Name>(e);
        if ((attribute && attribute->attr == "jit") || (plain && plain->id == "jit"))
          return true;
      }
  return false;
}

class Lister {
public:
  explicit Lister(const std::vector<std::string> &roots) : interpreter(makeOptions(roots)) {
    tt::loadTtDialects(context);
  }

  std::vector<KernelReport> list(const std::string &path) {
    auto module = interpreter.importFile(path);
    for (const auto &statement : module->syntax->body)
      addComparedTexts(*statement, texts);
    std::vector<KernelReport> reports;
    for (const auto &[name, value] : module->globals->items()) {
      if (auto *opaque = value.as<h::Opaque>();
          opaque && opaque->reason && definesKernel(*module->syntax, name)) {
        KernelReport &report = reports.emplace_back();
        report.name = name;
        report.line = opaque->origin.range.line;
        refuse(report, *opaque->reason);
        continue;
      }
      auto kernel = h::innermostKernel(value);
      if (!kernel || kernel->location().file != module->syntax->file)
        continue;
      reports.push_back(describe(name, value, *kernel));
    }
    return reports;
  }

private:
  static h::InterpreterOptions makeOptions(const std::vector<std::string> &roots) {
    h::InterpreterOptions options;
    options.searchRoots = roots;
    options.defersFileErrors = true;
    trace::addTorchRuntime(options.modules);
    return options;
  }

  /// Defaults of constexprs: the first autotune config, else the signature's.
  std::map<std::string, h::Value> knownConstants(const h::Value &value,
                                                 const h::JitFunction &kernel) {
    std::map<std::string, h::Value> known;
    for (const auto &parameter : kernel.parameters)
      if (parameter.isConstexpr && parameter.defaultValue)
        known[parameter.name] = *parameter.defaultValue;
    for (h::Value layer = value; auto *decorator = layer.as<h::KernelDecorator>();
         layer = decorator->fn)
      if (auto *tuner = layer.as<h::Autotuner>(); tuner && !tuner->configs.empty())
        for (const auto &[key, v] : tuner->configs.front()->kwargs.dictionary().items())
          known[key.str()] = v;
    return known;
  }

  Attempt attempt(const h::JitFunction &kernel, std::vector<ParameterSpec> specs) {
    Attempt result;
    Diagnostics diagnostics;
    result.module = frontend::emitKernel(interpreter, kernel, specs, context, diagnostics, nullptr);
    result.specs = std::move(specs);
    for (const Diagnostic &d : diagnostics.all())
      if (d.severity == Severity::Error && !result.error)
        result.error = d;
    if (!result.error)
      return result;
    const SourceRange &range = kernel.def().range;
    auto within = [&](const SourceLocation &l) {
      return l.file == kernel.location().file && l.range.line >= range.line &&
             l.range.line <= range.endLine;
    };
    SourceLocation here = result.error->location;
    for (const Diagnostic &note : result.error->notes)
      if (!within(here) && within(note.location))
        here = note.location;
    const SourceLocation &inner = result.error->location;
    if (within(here))
      result.progress = {here.range.line, inner.range.line};
    return result;
  }

  /// Changes one parameter at a time as long as that compiles further.
  void improve(const h::JitFunction &kernel, const std::vector<bool> &free, Attempt &best) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    for (bool better = true; better && !best.module;) {
      better = false;
      for (size_t i = 0; i < free.size() && !best.module; ++i) {
        for (ParameterSpec &other :
             free[i] ? alternatives(best.specs[i], texts) : std::vector<ParameterSpec>()) {
          std::vector<ParameterSpec> specs = best.specs;
          specs[i] = std::move(other);
          Attempt next = attempt(kernel, std::move(specs));
          if (!next.module && next.progress <= best.progress)
            continue;
          best = std::move(next);
          better = true;
          break;
        }
        if (std::chrono::steady_clock::now() > deadline)
          return;
      }
    }
  }

  Attempt firstAttempt(const h::Value &value, const h::JitFunction &kernel,
                       std::vector<bool> &free) {
    std::set<std::string> pointers = guessPointers(interpreter, kernel);
    std::map<std::string, h::Value> known = knownConstants(value, kernel);
    std::vector<ParameterSpec> specs;
    for (const auto &parameter : kernel.parameters) {
      ParameterSpec spec;
      spec.kind = pointers.count(parameter.name) ? ParameterSpec::Kind::Pointer
                                                 : ParameterSpec::Kind::Scalar;
      spec.dtype = spec.kind == ParameterSpec::Kind::Pointer ? DataType::Float32 : DataType::Int32;
      auto entry = known.find(parameter.name);
      if (parameter.isConstexpr) {
        spec.kind = ParameterSpec::Kind::Constexpr;
        spec.constant =
            h::unwrapConstexpr(entry == known.end() ? constantCandidates().front() : entry->second);
      }
      free.push_back(!parameter.isConstexpr || entry == known.end());
      specs.push_back(std::move(spec));
    }
    Attempt best = attempt(kernel, specs);
    // Constants of one kind often go together.
    for (const h::Value &candidate : constantCandidates()) {
      if (best.module)
        break;
      for (size_t i = 0; i < specs.size(); ++i)
        if (free[i] && specs[i].kind == ParameterSpec::Kind::Constexpr)
          specs[i].constant = candidate;
      if (Attempt next = attempt(kernel, specs); next.module || next.progress > best.progress)
        best = std::move(next);
    }
    return best;
  }

  KernelReport describe(const std::string &name, const h::Value &value,
                        const h::JitFunction &kernel) {
    KernelReport report;
    report.name = name;
    report.line = kernel.def().range.line;
    report.helper = returnsValue(kernel.def().body);
    if (report.helper)
      return report;
    std::vector<bool> free;
    Attempt best = firstAttempt(value, kernel, free);
    if (!best.module)
      improve(kernel, free, best);
    if (best.module) {
      addParameters(report, kernel, best.specs, *best.module);
      return report;
    }
    refuse(report, *best.error);
    return report;
  }

  static void refuse(KernelReport &report, const Diagnostic &error) {
    report.ok = false;
    report.reason = error.message;
    report.detail = render(error);
  }

  void addParameters(KernelReport &report, const h::JitFunction &kernel,
                     const std::vector<ParameterSpec> &specs, mlir::ModuleOp module) {
    Diagnostics warnings;
    tt::AccessAnalysis analysis(warnings);
    tt::FuncOp function = *module.getOps<tt::FuncOp>().begin();
    const tt::AccessSummary &summary = analysis.of(function);
    size_t next = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      KernelReport::Parameter parameter{kernel.parameters[i].name, "constexpr", ""};
      if (specs[i].kind == ParameterSpec::Kind::None) {
        parameter.kind = "none";
      } else if (specs[i].kind != ParameterSpec::Kind::Constexpr) {
        const tt::ArgumentAccess &access = summary.arguments[next++];
        bool pointer = specs[i].kind == ParameterSpec::Kind::Pointer;
        parameter.kind = pointer ? "pointer" : "scalar";
        if (pointer)
          parameter.access = summary.defeated                ? "unknown"
                             : access.read && access.written ? "read and write"
                             : access.written                ? "write"
                             : access.read                   ? "read"
                                                             : "unused";
      }
      report.parameters.push_back(std::move(parameter));
    }
  }

  h::Interpreter interpreter;
  std::vector<h::Value> texts; ///< that a string parameter may be meant to equal
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

} // namespace

std::vector<KernelReport> listKernels(const std::string &path,
                                      const std::vector<std::string> &roots) {
  return Lister(roots).list(path);
}

} // namespace pellucid::driver
