// SPDX-License-Identifier: Apache-2.0
#include "driver/ListKernels.h"

#include "driver/GuessSpecialisation.h"
#include "driver/OperatorWrites.h"
#include "host/MadeKernels.h"
#include "host/TreeWalk.h"
#include "trace/OperatorCall.h"
#include "trace/TensorObject.h"
#include "tt/AccessAnalysis.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <map>
#include <set>

namespace pellucid::driver {

namespace h = host;
namespace s = syntax;
using frontend::ParameterSpec;

namespace {

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

/// Adds the names of the functions with a jit decorator in the module's code, branches included.
void addJitNames(const s::Stmt &statement, std::set<std::string> &names) {
  if (auto *function = s::as<s::FunctionDef>(&statement)) {
    if (h::hasJitDecorator(*function))
      names.insert(function->name);
    return;
  }
  h::forEachChild(
      statement, [](const s::Expr &) {}, [&](const s::Stmt &inner) { addJitNames(inner, names); });
}

/// Adds the names of the functions that the body calls.
void addCalledNames(const s::Expr &expr, std::set<std::string> &names) {
  if (auto *call = s::as<s::Call>(&expr))
    if (auto *name = s::as<s::Name>(call->func.get()))
      names.insert(name->id);
  h::forEachChild(expr, [&](const s::Expr &child) { addCalledNames(child, names); });
}
void addCalledNames(const s::Stmt &stmt, std::set<std::string> &names) {
  h::forEachChild(
      stmt, [&](const s::Expr &child) { addCalledNames(child, names); },
      [&](const s::Stmt &child) { addCalledNames(child, names); });
}

void refuse(ListedStatus &report, const Diagnostic &error) {
  report.ok = false;
  report.reason = error.message;
  report.detail = render(error);
}

struct KeepWarnings : h::HostHooks {
  void warn(Diagnostic warning) override { warnings.push_back(std::move(warning)); }
  std::vector<Diagnostic> warnings;
};

class Lister {
public:
  Lister(const std::vector<std::string> &roots, const HostLimits &limits)
      : interpreter(makeOptions(roots, limits)) {
    tt::loadTtDialects(context);
  }

  FileReport list(const std::string &path) {
    auto module = interpreter.importFile(path);
    hints = constantHints(*module->syntax);
    FileReport report;
    report.warnings = warningsOf(*module);
    std::set<std::string> refused = addUnusable(*module, report);
    std::vector<KernelReport> unmade = callMakers(*module);
    h::FileListing listing = h::listKernels(interpreter, *module, madeKernels);
    qualifyNames(listing);
    // A kernel exists even where a decorator around it was refused.
    std::erase_if(listing.kernels,
                  [&](const h::KernelListing &kernel) { return refused.count(kernel.name) != 0; });
    for (const h::KernelListing &kernel : listing.kernels)
      for (const auto &statement : kernel.kernel->def().body)
        addCalledNames(*statement, calledByKernels);
    for (const h::KernelListing &kernel : listing.kernels)
      report.kernels.push_back(describe(kernel));
    report.kernels.insert(report.kernels.end(), unmade.begin(), unmade.end());
    std::stable_sort(report.kernels.begin(), report.kernels.end(),
                     [](const KernelReport &a, const KernelReport &b) { return a.line < b.line; });
    for (const h::OperatorListing &op : listing.operators)
      report.operators.push_back(describe(op));
    if (report.kernels.empty() && report.operators.empty() && !interpreter.passedRaises().empty())
      throw DiagnosticError(interpreter.passedRaises().front());
    return report;
  }

private:
  /// Reports the kernels whose definition was refused; returns their names.
  std::set<std::string> addUnusable(const h::Module &module, FileReport &report) {
    std::set<std::string> jitNames, refused;
    for (const auto &statement : module.syntax->body)
      addJitNames(*statement, jitNames);
    for (const auto &[name, value] : module.globals->items()) {
      auto *opaque = value.as<h::Opaque>();
      if (!opaque || !opaque->reason || !jitNames.count(name))
        continue;
      refused.insert(name);
      KernelReport &kernel = report.kernels.emplace_back();
      kernel.name = name;
      kernel.line = opaque->origin.range.line;
      refuse(kernel, *opaque->reason);
    }
    return refused;
  }

  /// Tests define a kernel of one name each; `launch` takes the name with the maker's.
  void qualifyNames(h::FileListing &listing) {
    std::map<std::string, unsigned> uses;
    for (const h::KernelListing &kernel : listing.kernels)
      ++uses[kernel.name];
    for (h::KernelListing &kernel : listing.kernels)
      if (auto made = madeNames.find(kernel.kernel.get());
          made != madeNames.end() && uses[kernel.name] > 1)
        kernel.name = made->second;
  }

  h::InterpreterOptions makeOptions(const std::vector<std::string> &roots,
                                    const HostLimits &limits) {
    h::InterpreterOptions options;
    options.maxSteps = limits.steps.value_or(options.maxSteps);
    options.maxBytes = limits.bytes.value_or(options.maxBytes);
    options.hooks = &hooks;
    options.searchRoots = roots;
    options.defersFileErrors = options.defersMissingImports = true;
    trace::addTorchRuntime(options.modules);
    return options;
  }

  std::vector<Diagnostic> warningsOf(const h::Module &module) {
    std::vector<Diagnostic> warnings;
    for (Diagnostic warning : interpreter.passedRaises()) {
      warning.severity = Severity::Warning;
      warning.message = "importing the file raises " + warning.message;
      warnings.push_back(std::move(warning));
    }
    for (const Diagnostic &warning : hooks.warnings)
      if (warning.location.file == module.syntax->file)
        warnings.push_back(warning);
    return warnings;
  }

  /// Calls the functions that define kernels and were not called while the file was read; returns
  /// those kernels that none of them can make without arguments.
  std::vector<KernelReport> callMakers(const h::Module &module) {
    std::vector<KernelReport> unmade;
    for (const h::MadeKernel &made : h::kernelsMadeByFunctions(*module.syntax)) {
      if (h::isMade(interpreter, made))
        continue;
      try {
        madeKernels.push_back(h::makeKernel(interpreter, module, made));
        if (auto kernel = h::innermostKernel(madeKernels.back()))
          madeNames[kernel.get()] = made.name();
      } catch (const DiagnosticError &error) {
        KernelReport &report = unmade.emplace_back();
        report.name = made.name();
        report.line = made.kernel->range.line;
        refuse(report, error.diagnostic);
      }
    }
    return unmade;
  }

  KernelReport describe(const h::KernelListing &listing) {
    const h::JitFunction &kernel = *listing.kernel;
    KernelReport report;
    report.name = listing.name;
    report.line = kernel.def().range.line;
    report.decorators = listing.decorators;
    for (h::Value layer = listing.value; auto *decorator = layer.as<h::KernelDecorator>();
         layer = decorator->fn)
      if (auto *unread = layer.as<h::UnreadDecorator>())
        report.unread.push_back({unread->name, unread->reason.message});
    for (const auto &launch : listing.launches)
      report.launches.push_back({launch.where, launch.inFunction, launch.wrapped});
    report.helper = returnsValue(kernel.def().body);
    if (report.helper)
      return report;
    Specialisation best = guessSpecialisation(interpreter, context, listing.value, kernel, hints);
    // One that takes tiles compiles for no arguments of a launch.
    bool isCalledOnly = listing.launches.empty() && calledByKernels.count(kernel.name());
    if (best.module)
      addParameters(report, kernel, best.specs, *best.module);
    else if (isCalledOnly)
      report.helper = true;
    else if (best.isUnsupported)
      refuse(report, *best.error);
    else
      leaveUnchecked(report, kernel, best);
    return report;
  }

  /// The guess at the arguments is wrong, or the kernel is: only a launch can tell.
  static void leaveUnchecked(KernelReport &report, const h::JitFunction &kernel,
                             const Specialisation &best) {
    report.stoppedAt =
        "line " + std::to_string(best.error->location.range.line) + ": " + best.error->message;
    for (size_t i = 0; i < best.specs.size(); ++i) {
      const auto &parameter = kernel.parameters[i];
      bool isConstexpr = best.specs[i].kind == ParameterSpec::Kind::Constexpr;
      report.parameters.push_back(
          {parameter.name, isConstexpr ? "constexpr" : "unknown", "", guessOf(best.specs[i])});
      if (!parameter.defaultValue)
        report.needs.push_back(parameter.name);
    }
  }

  static std::string guessOf(const ParameterSpec &spec) {
    if (spec.kind == ParameterSpec::Kind::Constexpr)
      return h::repr(spec.constant);
    return spec.kind == ParameterSpec::Kind::None ? "None" : std::string(info(spec.dtype).triton);
  }

  void addParameters(KernelReport &report, const h::JitFunction &kernel,
                     const std::vector<ParameterSpec> &specs, mlir::ModuleOp module) {
    Diagnostics warnings;
    tt::AccessAnalysis analysis(warnings);
    tt::FuncOp function = *module.getOps<tt::FuncOp>().begin();
    const tt::AccessSummary &summary = analysis.of(function);
    std::set<std::string> &written = writtenBy[&kernel];
    size_t next = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      KernelReport::Parameter parameter{kernel.parameters[i].name, "constexpr", "",
                                        guessOf(specs[i])};
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
        if (pointer && access.written && !summary.defeated)
          written.insert(parameter.name);
      }
      report.parameters.push_back(std::move(parameter));
    }
    if (summary.defeated)
      writtenBy.erase(&kernel);
  }

  /// What a kernel writes; also one that another file defines.
  const std::set<std::string> *writtenParameters(const h::JitFunction &kernel) {
    if (auto entry = writtenBy.find(&kernel); entry != writtenBy.end())
      return &entry->second;
    if (!tried.insert(&kernel).second)
      return nullptr;
    Specialisation best = guessSpecialisation(interpreter, context, h::Value(), kernel, hints);
    if (!best.module)
      return nullptr;
    KernelReport ignored;
    addParameters(ignored, kernel, best.specs, *best.module);
    auto entry = writtenBy.find(&kernel);
    return entry == writtenBy.end() ? nullptr : &entry->second;
  }

  OperatorReport describe(const h::OperatorListing &listing) {
    const h::Operator &op = *listing.op;
    OperatorReport report;
    report.name = op.name;
    report.form = op.form == h::Operator::Form::Triton ? "triton_op" : "custom_op";
    report.line = op.location.range.line;
    report.kernels = listing.kernels;
    try {
      graph::Schema schema = trace::schemaOf(interpreter, op);
      report.schema = graph::printSchema(schema);
      for (const auto &argument : schema.arguments)
        if (argument.type.mutated)
          report.mutates.push_back(argument.name);
      checkMutation(report, op, schema);
    } catch (const DiagnosticError &error) {
      refuse(report, error.diagnostic);
    }
    return report;
  }

  void checkMutation(OperatorReport &report, const h::Operator &op, const graph::Schema &schema) {
    auto *function = op.function.as<h::Function>();
    if (!function || !function->def)
      return;
    OperatorWrites found = findWrites(interpreter, *function, [this](const h::JitFunction &kernel) {
      return writtenParameters(kernel);
    });
    for (const auto &argument : schema.arguments) {
      if (argument.type.kind != graph::SchemaType::Kind::Tensor)
        continue;
      auto write =
          std::find_if(found.writes.begin(), found.writes.end(),
                       [&](const OperatorWrite &w) { return w.parameter == argument.name; });
      bool isWritten = write != found.writes.end();
      if (isWritten && !argument.type.mutated && report.ok) {
        Diagnostic error(Severity::Error, write->where,
                         write->by + " writes '" + argument.name +
                             "', which mutates_args of operator '" + op.name +
                             "' does not name; write mutates_args={\"" + argument.name + "\"}");
        error.note(op.location, "the operator is here");
        refuse(report, error);
      }
      if (!isWritten && argument.type.mutated && !found.lost.count(argument.name))
        report.warnings.push_back("mutates_args names '" + argument.name +
                                  "', which nothing writes to");
    }
  }

  KeepWarnings hooks;
  h::Interpreter interpreter;
  ConstantHints hints;
  std::set<std::string> calledByKernels;
  std::vector<h::Value> madeKernels; ///< by functions that were called or read for them
  std::map<const h::JitFunction *, std::string> madeNames; ///< with the maker's
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::map<const h::JitFunction *, std::set<std::string>> writtenBy;
  std::set<const h::JitFunction *> tried;
};

} // namespace

FileReport listKernels(const std::string &path, const std::vector<std::string> &roots,
                       const HostLimits &limits) {
  return Lister(roots, limits).list(path);
}

} // namespace pellucid::driver
