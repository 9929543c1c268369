// SPDX-License-Identifier: Apache-2.0
// The kernels of one trace: one specialisation per signature and constants.
#include "trace/KernelLaunch.h"

#include "frontend/EmitKernel.h"
#include "host/InterpreterState.h"
#include "tt/AccessAnalysis.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <map>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using frontend::ParameterSpec;

Argument constantArgument(const h::Value &value) {
  switch (value.kind()) {
  case h::Kind::Bool:
    return Argument(value.boolean());
  case h::Kind::Int:
    return Argument(static_cast<int64_t>(value.integer()));
  case h::Kind::Float:
    return Argument(value.real());
  case h::Kind::None:
    return Argument();
  case h::Kind::Str:
    return Argument(value.str());
  default:
    if (auto *type = value.as<h::DType>())
      return Argument(type->type);
    return Argument(h::repr(value));
  }
}

/// What a kernel was made of, kept alive so that no other thing comes to lie at its address.
struct KernelEntry {
  uint32_t index = 0;
  std::shared_ptr<const h::Object> kernel;
  std::vector<ParameterSpec> specs;
  frontend::HostReads reads;
};

struct KernelTable::State {
  Tracer &tracer;
  h::Interpreter &interpreter;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::map<std::string, KernelEntry> entries = {}; ///< by the function object and its arguments
  std::map<std::string, uint32_t> byText = {};     ///< by what came out
  frontend::EmitOptions options = {};
  uint64_t emitted = 0;
};

/// A constant as text that no other constant has: things that are told apart by identity get their
/// address.
static std::string textOfConstant(const h::Value &value) {
  std::string text = h::typeName(value) + ":";
  if (value.isSequence()) {
    for (const h::Value &element : value.elements())
      text += textOfConstant(element) + ",";
    return text + ";";
  }
  if (auto *constant = value.as<h::Constexpr>())
    return text + textOfConstant(constant->value);
  bool byName = !value.isObject() || value.as<h::DType>() || value.as<h::NamedBuiltin>();
  text += h::repr(value);
  return byName ? text
                : text + "@" + std::to_string(reinterpret_cast<uintptr_t>(value.object().get()));
}

/// A run-time parameter, the `index`th of the kernel.
/// A mistake in a kernel is Triton's exception in a script, which may handle it; what this language
/// lacks is refused.
[[noreturn]] static void failKernel(h::Interpreter &interpreter, const Diagnostic &diagnostic,
                                    bool isUnsupported) {
  std::shared_ptr<h::Module> errors;
  // A name that is nowhere is no part of the language either way.
  bool isMistake = !isUnsupported || diagnostic.message.ends_with("' is not defined");
  if (interpreter.options().script && isMistake)
    errors = interpreter.nativeModule("triton.compiler.errors");
  if (!errors)
    throw DiagnosticError(diagnostic);
  bool isAssertion = diagnostic.message.starts_with("static assertion");
  h::Value kind = interpreter.getAttr(h::Value(errors), isAssertion ? "CompileTimeAssertionFailure"
                                                                    : "CompilationError");
  const SourceLocation &where = diagnostic.location;
  std::string place = where.file ? "at " + std::to_string(where.range.line) + ":" +
                                       std::to_string(where.range.column) + ":\n"
                                 : std::string();
  h::Value exception = interpreter.call(kind, {h::Value(place + diagnostic.message)});
  h::noteRaised(interpreter, exception);
  throw h::RaisedError(diagnostic, exception);
}

static KernelParameter parameterOf(const frontend::EmittedParameter &emitted,
                                   const tt::AccessSummary &summary, size_t index) {
  KernelParameter parameter;
  parameter.name = emitted.name;
  parameter.dtype = emitted.dtype;
  if (emitted.kind == ParameterSpec::Kind::Scalar) {
    parameter.kind = KernelParameter::Kind::Scalar;
    return parameter;
  }
  const tt::ArgumentAccess &access = summary.arguments[index];
  bool read = access.read || summary.defeated, written = access.written || summary.defeated;
  parameter.kind = KernelParameter::Kind::Pointer;
  parameter.unknownAccess = summary.defeated;
  parameter.access = read && written ? Access::ReadWrite
                     : written       ? Access::Write
                     : read          ? Access::Read
                                     : Access::None;
  return parameter;
}

KernelTable::KernelTable(Tracer &tracer, h::Interpreter &interpreter)
    : state(new State{tracer, interpreter}) {
  tt::loadTtDialects(state->context);
}
KernelTable::~KernelTable() = default;

uint64_t KernelTable::emitted() const { return state->emitted; }

void KernelTable::stopAt(std::string path, uint32_t line) {
  state->options.stopAt = frontend::StopPoint{std::move(path), line};
}

frontend::ParameterSpec KernelTable::Parameter::spec() const {
  ParameterSpec out;
  out.dtype = dtype;
  switch (kind) {
  case Kind::Tensor:
    out.kind = ParameterSpec::Kind::Pointer;
    break;
  case Kind::Loaded:
    out.kind = ParameterSpec::Kind::Loaded;
    break;
  case Kind::Int:
  case Kind::Float:
  case Kind::Bool:
    out.kind = ParameterSpec::Kind::Scalar;
    out.equalsOne = equalsOne;
    break;
  case Kind::None:
    out.kind = ParameterSpec::Kind::None;
    break;
  case Kind::Constexpr:
    out.kind = ParameterSpec::Kind::Constexpr;
    out.constant = constant;
    break;
  case Kind::Descriptor:
    out.kind = ParameterSpec::Kind::Descriptor;
    out.block = block;
    out.padsWithNan = padsWithNan;
    break;
  case Kind::Tuple:
    out.kind = ParameterSpec::Kind::Tuple;
    out.tupleClass = tupleClass;
    for (const Parameter &element : elements)
      out.elements.push_back(element.spec());
    break;
  }
  return out;
}

/// What tells two specialisations apart, but for a parameter's own constant.
static std::string kindText(const ParameterSpec &spec) {
  std::string kind = "|" + std::to_string(static_cast<int>(spec.kind));
  kind += "," + std::to_string(static_cast<int>(spec.dtype));
  kind += spec.equalsOne ? "=1" : "";
  for (int64_t size : spec.block)
    kind += "," + std::to_string(size);
  if (spec.padsWithNan)
    kind += ",nan";
  if (spec.kind != ParameterSpec::Kind::Tuple)
    return kind;
  kind += "(" + std::to_string(reinterpret_cast<uintptr_t>(spec.tupleClass.get()));
  for (const ParameterSpec &element : spec.elements) {
    kind += kindText(element);
    if (element.kind == ParameterSpec::Kind::Constexpr)
      kind += "=" + textOfConstant(element.constant);
  }
  return kind + ")";
}

uint32_t KernelTable::specialise(const h::JitFunction &kernel,
                                 const std::vector<Parameter> &parameters) {
  Tracer &tracer = state->tracer;
  // Functions that one `def` made at two calls of the function around it are two kernels.
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(&kernel));
  key.reserve(key.size() + 12 * parameters.size());
  std::vector<ParameterSpec> specs;
  std::vector<std::string> kinds;
  specs.reserve(parameters.size());
  kinds.reserve(parameters.size());
  for (const Parameter &parameter : parameters) {
    ParameterSpec spec = parameter.spec();
    std::string kind = kindText(spec);
    key += kind;
    if (spec.kind == ParameterSpec::Kind::Constexpr)
      key += "=" + textOfConstant(spec.constant);
    kinds.push_back(std::move(kind));
    specs.push_back(std::move(spec));
  }
  auto entry = state->entries.find(key);
  if (entry != state->entries.end() && entry->second.reads.unchanged(state->interpreter))
    return entry->second.index;
  ++state->emitted;
  KernelEntry made;
  made.kernel = kernel.shared_from_this();
  made.specs = specs;
  Diagnostics diagnostics;
  std::vector<frontend::EmittedParameter> emitted;
  frontend::EmitOutcome outcome;
  auto module = frontend::emitKernel(state->interpreter, kernel, specs, state->context, diagnostics,
                                     &emitted, state->options, &outcome, &made.reads);
  if (!module) {
    for (const Diagnostic &d : diagnostics.all())
      if (d.severity == Severity::Error)
        failKernel(state->interpreter, d, outcome.isUnsupported);
    throw DiagnosticError(kernel.location(), "the kernel could not be compiled");
  }
  // Functions that differ in nothing the kernel uses are one kernel.
  std::string shown =
      kernel.location().file->path() + ":" + std::to_string(kernel.def().range.line);
  for (size_t i = 0; i < specs.size(); ++i) {
    shown += kinds[i];
    if (specs[i].kind == ParameterSpec::Kind::Constexpr)
      shown += "=" + h::typeName(specs[i].constant) + ":" + h::repr(specs[i].constant);
  }
  shown += "|" + tt::printTtir(*module, tt::TtirVersion::V3_6, true);
  if (auto same = state->byText.find(shown); same != state->byText.end()) {
    made.index = same->second;
    return (state->entries[key] = std::move(made)).index;
  }
  KernelDef def;
  def.name = kernel.name();
  def.symbol = tracer.program.uniqueSymbol(kernel.name());
  def.sourcePath = kernel.location().file->path();
  def.sourceLine = kernel.def().range.line;
  tt::FuncOp function;
  module->walk([&](tt::FuncOp f) {
    if (f.isKernel())
      function = f;
  });
  function.setName(def.symbol);
  Diagnostics warnings;
  tt::AccessAnalysis analysis(warnings);
  const tt::AccessSummary &summary = analysis.of(function);
  size_t next = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind == ParameterSpec::Kind::Constexpr ||
        specs[i].kind == ParameterSpec::Kind::None) {
      KernelParameter parameter;
      parameter.name = kernel.parameters[i].name;
      parameter.dtype = specs[i].dtype;
      parameter.kind = KernelParameter::Kind::Constant;
      parameter.constant = constantArgument(specs[i].constant);
      def.parameters.push_back(std::move(parameter));
      continue;
    }
    for (; next < emitted.size() && emitted[next].parameter == i; ++next)
      def.parameters.push_back(parameterOf(emitted[next], summary, next));
  }
  def.usesAddresses = summary.touchesUnknownMemory;
  for (const Diagnostic &warning : warnings.all()) {
    def.warning = warning.message;
    tracer.warn(warning);
  }
  module->walk([&](tt::PrintOp) { def.prints = true; });
  module->walk([&](tt::AssertOp) { def.asserts = true; });
  def.ttir = tt::printTtir(*module, tt::TtirVersion::V3_6, true);
  tracer.program.kernels.push_back(std::move(def));
  made.index = state->byText[shown] = static_cast<uint32_t>(tracer.program.kernels.size() - 1);
  return (state->entries[key] = std::move(made)).index;
}

} // namespace pellucid::trace
