// SPDX-License-Identifier: Apache-2.0
#include "frontend/EmitKernel.h"

#include "frontend/Emitter.h"

#include "mlir/IR/Verifier.h"

namespace pellucid::frontend {

using namespace mlir;

static bool isPointer(const ParameterSpec &spec) {
  return spec.kind == ParameterSpec::Kind::Pointer || spec.kind == ParameterSpec::Kind::Loaded;
}
static bool isRuntime(const ParameterSpec &spec) {
  return isPointer(spec) || spec.kind == ParameterSpec::Kind::Scalar;
}

void Emitter::declareKernel(const host::JitFunction &kernel,
                            std::span<const ParameterSpec> parameters, Location place) {
  SmallVector<mlir::Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (auto [spec, declared] : llvm::zip_equal(parameters, kernel.parameters)) {
    if (!isRuntime(spec))
      continue;
    types.push_back(irType({spec.dtype, isPointer(spec), {}}));
    NamedAttrList list;
    if (spec.divisibility > 1)
      list.append("tt.divisibility",
                  builder.getI32IntegerAttr(static_cast<int32_t>(spec.divisibility)));
    if (declared.doNotSpecialize)
      list.append("pellucid.no_specialize", builder.getUnitAttr());
    if (declared.doNotSpecializeOnAlignment)
      list.append("pellucid.no_specialize_on_alignment", builder.getUnitAttr());
    attributes.push_back(list.getDictionary(&context));
  }
  auto function =
      tt::FuncOp::create(builder, place, kernel.name(), builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attributes);
  function->setAttr("sym_visibility", builder.getStringAttr("public"));
  function->setAttr("noinline", builder.getBoolAttr(false));
  Block *entry =
      function.getBody().empty() ? &function.getBody().emplaceBlock() : &function.getBody().front();
  if (entry->getNumArguments() == 0)
    for (mlir::Type type : types)
      entry->addArgument(type, place);
  unsigned next = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ParameterSpec &spec = parameters[i];
    const std::string &name = kernel.parameters[i].name;
    if (!isRuntime(spec)) {
      bool isNone = spec.kind == ParameterSpec::Kind::None;
      frame->names[name] = isNone ? Val() : fromHost(spec.constant);
      continue;
    }
    BlockArgument argument = entry->getArgument(next++);
    // The parameter's name, for diagnostics of everything that works on the IR.
    argument.setLoc(NameLoc::get(builder.getStringAttr(name), place));
    Val &value = frame->names[name] = Val::tensor(argument, {spec.dtype, isPointer(spec), {}});
    if (spec.equalsOne)
      value.constant = host::Value(int64_t(1));
  }
  builder.setInsertionPointToStart(entry);
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].kind == ParameterSpec::Kind::Loaded) {
      Val &value = frame->names[kernel.parameters[i].name];
      value = Val::tensor(tt::LoadOp::create(builder, place, value.value, mlir::Value(),
                                             mlir::Value(), tt::CacheModifier::NONE,
                                             tt::EvictionPolicy::NORMAL, false),
                          {parameters[i].dtype, false, {}});
    }
}

mlir::OwningOpRef<mlir::ModuleOp> Emitter::emit(const host::JitFunction &kernel,
                                                std::span<const ParameterSpec> parameters,
                                                std::vector<EmittedParameter> *emitted) {
  Frame top;
  top.module = kernel.function->module;
  top.function = &kernel;
  top.isKernel = true;
  frame = &top;
  here = kernel.def().range;
  auto file = FileLineColLoc::get(&context, top.module->file->path(), here.line, here.column);
  OwningOpRef<ModuleOp> module = ModuleOp::create(file);
  builder.setInsertionPointToEnd(module->getBody());
  declareKernel(kernel, parameters, file);
  for (size_t i = 0; emitted && i < parameters.size(); ++i)
    if (isRuntime(parameters[i]))
      emitted->push_back({kernel.parameters[i].name, parameters[i].kind, parameters[i].dtype});
  top.arguments = top.names;
  statements(kernel.def().body);
  here = kernel.def().range;
  tt::ReturnOp::create(builder, loc());
  if (options.stopAt && !stops)
    fail("no statement of '" + kernel.name() +
         "', or of what it calls, that is compiled for these " + "arguments begins at " +
         options.stopAt->path + ":" + std::to_string(options.stopAt->line));
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp>
emitKernel(host::Interpreter &interpreter, const host::JitFunction &kernel,
           std::span<const ParameterSpec> parameters, mlir::MLIRContext &context,
           Diagnostics &diagnostics, std::vector<EmittedParameter> *emitted,
           const EmitOptions &options, EmitOutcome *outcome, HostReads *reads) {
  EmitOutcome ignored;
  EmitOutcome &result = outcome ? *outcome : ignored;
  if (parameters.size() != kernel.parameters.size()) {
    diagnostics.error(kernel.location(), "'" + kernel.name() + "' has " +
                                             std::to_string(kernel.parameters.size()) +
                                             " parameters, and " +
                                             std::to_string(parameters.size()) + " are described");
    return {};
  }
  // The IR of a refused kernel is thrown away whole, so what MLIR would say about it is of no use
  // to the user.
  ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module;
  Emitter emitter(interpreter, context, options);
  emitter.reads = reads;
  try {
    module = emitter.emit(kernel, parameters, emitted);
  } catch (const DiagnosticError &error) {
    diagnostics.add(error.diagnostic);
    result.isUnsupported = dynamic_cast<const UnsupportedError *>(&error) != nullptr;
  }
  result.statements = emitter.emittedStatements;
  if (!module)
    return {};
  std::string reason;
  ScopedDiagnosticHandler listen(&context, [&](mlir::Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (failed(verify(*module))) {
    diagnostics.error(kernel.location(), "the kernel's IR does not verify: " + reason);
    return {};
  }
  return module;
}

} // namespace pellucid::frontend
