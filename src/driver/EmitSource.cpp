// SPDX-License-Identifier: Apache-2.0
#include "driver/EmitSource.h"

#include "frontend/EmitKernel.h"
#include "host/Interpreter.h"
#include "tt/SeparateMemory.h"
#include "tt/Tt.h"
#include "tt/TtOps.h"

namespace pellucid::driver {

using frontend::ParameterSpec;

namespace {

/// Kernels from text, each in a module of its own.
class GeneratedKernels {
public:
  explicit GeneratedKernels(mlir::MLIRContext &c) : context(c) {}

  /// `kinds` holds one spec per parameter without a default; parameters with one are constexprs at
  /// that value.
  mlir::OwningOpRef<mlir::ModuleOp> emit(const std::string &name, const std::string &source,
                                         std::vector<ParameterSpec> specs,
                                         std::vector<frontend::EmittedParameter> *emitted) {
    auto file = std::make_shared<SourceFile>("<generated " + name + ">", source);
    // An interpreter keeps what it has imported.
    if (count++ % 500 == 0)
      interpreter = std::make_unique<host::Interpreter>();
    auto module = interpreter->importSource("generated_" + std::to_string(count), file);
    const host::Value *value = module->globals->find(name);
    auto kernel = host::innermostKernel(*value);
    for (size_t i = specs.size(); i < kernel->parameters.size(); ++i) {
      ParameterSpec spec;
      spec.kind = ParameterSpec::Kind::Constexpr;
      spec.constant = *kernel->parameters[i].defaultValue;
      specs.push_back(std::move(spec));
    }
    Diagnostics diagnostics;
    auto result = frontend::emitKernel(*interpreter, *kernel, specs, context, diagnostics, emitted);
    if (!result)
      throw std::logic_error("the generated kernel " + name + " is refused:\n" +
                             diagnostics.text() + source);
    return result;
  }

private:
  mlir::MLIRContext &context;
  std::unique_ptr<host::Interpreter> interpreter;
  size_t count = 0;
};

ParameterSpec pointerTo(DataType type) {
  ParameterSpec spec;
  spec.kind = ParameterSpec::Kind::Pointer;
  spec.dtype = type;
  return spec;
}

ParameterSpec scalarOf(DataType type) {
  ParameterSpec spec;
  spec.kind = ParameterSpec::Kind::Scalar;
  spec.dtype = type;
  return spec;
}

} // namespace

/// The checks of a generated kernel stand where the user asked for what they check.
static void placeAssertions(mlir::ModuleOp module, const std::vector<SourceLocation> &places) {
  size_t next = 0;
  module.walk([&](tt::AssertOp assertion) {
    const SourceLocation &where = places.at(next++);
    if (where.known())
      assertion->setLoc(mlir::FileLineColLoc::get(module.getContext(),
                                                  where.file ? where.file->path() : where.name,
                                                  where.range.line, where.range.column));
  });
}

passes::CompileText textCompiler(mlir::MLIRContext &context) {
  auto kernels = std::make_shared<GeneratedKernels>(context);
  return [kernels](const passes::KernelText &text, const std::vector<DataType> &pointers,
                   const std::vector<graph::Access> &accesses) {
    std::vector<ParameterSpec> specs;
    for (DataType type : pointers)
      specs.push_back(pointerTo(type));
    for (size_t i = 0; i < text.scalars.size(); ++i)
      specs.push_back(scalarOf(DataType::Int64));
    std::vector<frontend::EmittedParameter> emitted;
    auto module = kernels->emit(text.name, text.source, specs, &emitted);
    placeAssertions(*module, text.assertions);
    auto function = module->lookupSymbol<tt::FuncOp>(text.name);
    for (size_t pointer : text.separate)
      function.setArgAttr(static_cast<unsigned>(pointer), tt::separateMemory,
                          mlir::UnitAttr::get(module->getContext()));
    graph::KernelDef def;
    def.name = def.symbol = text.name;
    def.ttir = tt::printTtir(*module, tt::TtirVersion::V3_6, true);
    def.sourcePath = "<generated " + text.name + ">";
    for (size_t i = 0; i < emitted.size(); ++i) {
      graph::KernelParameter parameter;
      parameter.name = emitted[i].name;
      parameter.kind = i < pointers.size() ? graph::KernelParameter::Kind::Pointer
                                           : graph::KernelParameter::Kind::Scalar;
      parameter.dtype = emitted[i].dtype;
      if (i < pointers.size())
        parameter.access = accesses[i];
      def.parameters.push_back(std::move(parameter));
    }
    return def;
  };
}

fusion::EmitChain chainEmitter(mlir::MLIRContext &context) {
  auto kernels = std::make_shared<GeneratedKernels>(context);
  return
      [kernels](const std::string &source, DataType result, const std::vector<DataType> &inputs) {
        std::vector<ParameterSpec> specs{pointerTo(result)};
        for (DataType type : inputs)
          specs.push_back(scalarOf(type));
        return kernels->emit("chain", source, specs, nullptr);
      };
}

} // namespace pellucid::driver
