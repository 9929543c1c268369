// SPDX-License-Identifier: Apache-2.0
#include "frontend/EmitKernel.h"

#include "frontend/Emitter.h"

#include "mlir/IR/Verifier.h"

#include <algorithm>

namespace pellucid::frontend {

using namespace mlir;

static bool isPointer(ParameterSpec::Kind kind) {
  using Kind = ParameterSpec::Kind;
  return kind == Kind::Pointer || kind == Kind::Loaded;
}

namespace {
/// The run-time parameters that stand for one of the kernel's, each under a name of its own.
struct Parts {
  const host::JitFunction &kernel;
  std::vector<EmittedParameter> out;

  void add(const ParameterSpec &spec, const std::string &name, size_t index) {
    using Kind = ParameterSpec::Kind;
    if (spec.kind == Kind::Constexpr || spec.kind == Kind::None)
      return;
    if (spec.kind == Kind::Tuple) {
      for (size_t i = 0; i < spec.elements.size(); ++i)
        add(spec.elements[i], name + "_item_" + std::to_string(i), index);
      return;
    }
    bool isDescriptor = spec.kind == Kind::Descriptor;
    push(name, isDescriptor ? Kind::Pointer : spec.kind, spec.dtype, index);
    if (!isDescriptor)
      return;
    size_t rank = spec.block.size();
    for (size_t d = 0; d < rank; ++d)
      push(name + "_shape_" + std::to_string(d), Kind::Scalar, DataType::Int32, index);
    for (size_t d = 0; d + 1 < rank; ++d)
      push(name + "_stride_" + std::to_string(d), Kind::Scalar, DataType::Int64, index);
  }

private:
  bool isTaken(const std::string &name, size_t index) const {
    const host::JitFunction::Parameter *declared = kernel.parameter(name);
    return (declared && declared != &kernel.parameters[index]) ||
           std::any_of(out.begin(), out.end(),
                       [&](const EmittedParameter &part) { return part.name == name; });
  }
  void push(std::string name, ParameterSpec::Kind kind, DataType dtype, size_t index) {
    while (isTaken(name, index))
      name += "_";
    out.push_back({std::move(name), kind, dtype, index});
  }
};
} // namespace

std::vector<EmittedParameter> runtimeParameters(const host::JitFunction &kernel,
                                                std::span<const ParameterSpec> parameters) {
  Parts parts{kernel, {}};
  for (size_t i = 0; i < parameters.size(); ++i)
    parts.add(parameters[i], kernel.parameters[i].name, i);
  return std::move(parts.out);
}

/// Whether an annotation says that what a pointer leads to is only read: `x: tl.const`.
static bool namesConst(const syntax::Expr *annotation) {
  if (auto *attribute = syntax::as<syntax::Attribute>(annotation))
    return attribute->attr == "const";
  if (auto *name = syntax::as<syntax::Name>(annotation))
    return name->id == "const";
  auto *text = syntax::as<syntax::Constant>(annotation);
  return text && text->type == syntax::Constant::Type::String &&
         (text->text == "const" || text->text == "tl.const");
}

static DictionaryAttr attributesOf(const ParameterSpec &spec,
                                   const host::JitFunction::Parameter &declared,
                                   OpBuilder &builder) {
  NamedAttrList list;
  if (spec.divisibility > 1)
    list.append("tt.divisibility",
                builder.getI32IntegerAttr(static_cast<int32_t>(spec.divisibility)));
  if (declared.doNotSpecialize)
    list.append("pellucid.no_specialize", builder.getUnitAttr());
  if (declared.doNotSpecializeOnAlignment)
    list.append("pellucid.no_specialize_on_alignment", builder.getUnitAttr());
  return list.getDictionary(builder.getContext());
}

/// A descriptor as the kernel sees it, made from its parts, which begin with the base.
static Val descriptorOf(Emitter &e, Location place, const ParameterSpec &spec,
                        ArrayRef<BlockArgument> parts) {
  size_t rank = spec.block.size();
  Val out;
  out.kind = Val::Kind::Descriptor;
  out.type = {spec.dtype, false, spec.block};
  SmallVector<mlir::Value> shape, strides;
  for (size_t d = 0; d < rank; ++d) {
    out.shape.push_back(Val::tensor(parts[1 + d], {DataType::Int32, false, {}}));
    shape.push_back(out.shape.back().value);
  }
  for (size_t d = 0; d < rank; ++d) {
    bool isLast = d + 1 == rank;
    out.strides.push_back(isLast ? e.numberAs(Val::of(host::Value(int64_t(1))), DataType::Int64)
                                 : Val::tensor(parts[1 + rank + d], {DataType::Int64, false, {}}));
    strides.push_back(out.strides.back().value);
  }
  auto padding = spec.padsWithNan ? tt::PaddingOption::PAD_NAN : tt::PaddingOption::PAD_ZERO;
  out.value =
      tt::MakeTensorDescOp::create(e.builder, place, parts[0], shape, strides, spec.block, padding);
  return out;
}

void Emitter::declareKernel(const host::JitFunction &kernel,
                            std::span<const ParameterSpec> parameters, Location place) {
  std::vector<EmittedParameter> parts = runtimeParameters(kernel, parameters);
  SmallVector<mlir::Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const EmittedParameter &part : parts) {
    types.push_back(irType({part.dtype, isPointer(part.kind), {}}));
    attributes.push_back(
        attributesOf(parameters[part.parameter], kernel.parameters[part.parameter], builder));
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
  // The parameters' names, for diagnostics of everything that works on the IR.
  for (auto [argument, part] : llvm::zip_equal(entry->getArguments(), parts))
    argument.setLoc(NameLoc::get(builder.getStringAttr(part.name), place));
  builder.setInsertionPointToStart(entry);
  size_t next = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    size_t first = next;
    while (next < parts.size() && parts[next].parameter == i)
      ++next;
    if (const syntax::Expr *annotation = kernel.parameters[i].annotation;
        annotation && parameters[i].kind == ParameterSpec::Kind::Pointer && namesConst(annotation))
      constantPointers.insert(
          mlir::Value(entry->getArgument(static_cast<unsigned>(first))).getAsOpaquePointer());
    frame->names[kernel.parameters[i].name] =
        parameterValue(place, parameters[i],
                       ArrayRef<BlockArgument>(entry->getArguments()).slice(first, next - first));
  }
  if (!kernel.rest.empty())
    frame->names[kernel.rest] = Val::tuple({});
}

/// How many of a kernel's run-time parameters stand for this one.
static size_t partCount(const ParameterSpec &spec) {
  using Kind = ParameterSpec::Kind;
  switch (spec.kind) {
  case Kind::Constexpr:
  case Kind::None:
    return 0;
  case Kind::Descriptor:
    return 2 * spec.block.size();
  case Kind::Tuple: {
    size_t count = 0;
    for (const ParameterSpec &element : spec.elements)
      count += partCount(element);
    return count;
  }
  default:
    return 1;
  }
}

Val Emitter::parameterValue(Location place, const ParameterSpec &spec,
                            llvm::ArrayRef<BlockArgument> parts) {
  using Kind = ParameterSpec::Kind;
  switch (spec.kind) {
  case Kind::None:
    return Val();
  case Kind::Constexpr:
    return fromHost(spec.constant);
  case Kind::Descriptor:
    return descriptorOf(*this, place, spec, parts);
  case Kind::Tuple: {
    std::vector<Val> elements;
    for (const ParameterSpec &element : spec.elements) {
      size_t count = partCount(element);
      elements.push_back(parameterValue(place, element, parts.take_front(count)));
      parts = parts.drop_front(count);
    }
    return spec.tupleClass ? Val::named(spec.tupleClass, std::move(elements))
                           : Val::tuple(std::move(elements));
  }
  case Kind::Loaded:
    return Val::tensor(tt::LoadOp::create(builder, place, parts[0], mlir::Value(), mlir::Value(),
                                          tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL,
                                          false),
                       {spec.dtype, false, {}});
  case Kind::Pointer:
  case Kind::Scalar: {
    Val value = Val::tensor(parts[0], {spec.dtype, spec.kind == Kind::Pointer, {}});
    if (spec.equalsOne)
      value.constant = host::Value(int64_t(1));
    return value;
  }
  }
  return Val();
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
  if (emitted)
    *emitted = runtimeParameters(kernel, parameters);
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
