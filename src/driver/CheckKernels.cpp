// SPDX-License-Identifier: Apache-2.0
#include "driver/CheckKernels.h"

#include "support/CrashHandler.h"
#include "tt/AccessAnalysis.h"
#include "tt/ElementType.h"
#include "tt/Tt.h"

#include "llvm/Support/raw_ostream.h"

namespace pellucid::driver {

using namespace graph;

namespace {

class KernelChecker {
public:
  KernelChecker(const KernelDef &k, mlir::MLIRContext &c) : kernel(k), context(c) {}

  void run() {
    Diagnostics diagnostics;
    auto module = tt::parseTtir(kernel.ttir, &context, diagnostics, kernel.symbol);
    if (!module)
      fail("is not read: " + diagnostics.text());
    tt::FuncOp function;
    module->walk([&](tt::FuncOp f) {
      if (f.isKernel())
        function = f;
    });
    if (!function || function.getSymName() != kernel.symbol)
      fail("has no public function of its name");
    std::vector<const KernelParameter *> parameters = variableParameters();
    if (parameters.size() != function.getNumArguments())
      fail("has " + std::to_string(function.getNumArguments()) + " arguments, the program says " +
           std::to_string(parameters.size()));
    Diagnostics warnings;
    tt::AccessAnalysis analysis(warnings);
    const tt::AccessSummary &summary = analysis.of(function);
    for (size_t i = 0; i < parameters.size(); ++i)
      check(*parameters[i], function.getArgument(static_cast<unsigned>(i)).getType(), summary,
            summary.arguments[i]);
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    SourceLocation where(kernel.sourcePath.empty() ? kernel.symbol : kernel.sourcePath);
    where.range.line = kernel.sourceLine;
    throw DiagnosticError(where, "kernel '" + kernel.symbol + "' " + what);
  }

  std::vector<const KernelParameter *> variableParameters() const {
    std::vector<const KernelParameter *> list;
    for (const KernelParameter &parameter : kernel.parameters)
      if (parameter.kind != KernelParameter::Kind::Constant)
        list.push_back(&parameter);
    return list;
  }

  static std::string textOf(mlir::Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  void check(const KernelParameter &parameter, mlir::Type type, const tt::AccessSummary &summary,
             const tt::ArgumentAccess &does) const {
    bool isPointer = parameter.kind == KernelParameter::Kind::Pointer;
    auto pointer = mlir::dyn_cast<tt::PointerType>(type);
    mlir::Type element = pointer ? pointer.getPointeeType() : type;
    if (isPointer != static_cast<bool>(pointer) ||
        element != tt::elementType(&context, parameter.dtype))
      fail("takes '" + parameter.name + "' as " + textOf(type) + ", the program says " +
           (isPointer ? "a pointer to " : "a number of type ") +
           std::string(info(parameter.dtype).cli));
    if (!isPointer || parameter.unknownAccess)
      return;
    if (summary.defeated)
      fail("may read and write '" + parameter.name + "', the program says " +
           std::string(toString(parameter.access)));
    if ((does.read && !reads(parameter.access)) || (does.written && !writes(parameter.access)))
      fail(std::string(does.written ? "writes" : "reads") + " '" + parameter.name +
           "', the program says " + std::string(toString(parameter.access)));
  }

  const KernelDef &kernel;
  mlir::MLIRContext &context;
};

} // namespace

void checkKernels(const Program &program, mlir::MLIRContext &context) {
  for (const KernelDef &kernel : program.kernels) {
    Working work("checking the kernel", kernel.symbol);
    if (kernel.library)
      throw DiagnosticError(SourceLocation(kernel.symbol),
                            "a program has kernels as TTIR, and this one is '" +
                                toString(*kernel.library) + "' of the back end");
    KernelChecker(kernel, context).run();
  }
}

} // namespace pellucid::driver
