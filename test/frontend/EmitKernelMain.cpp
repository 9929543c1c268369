// SPDX-License-Identifier: Apache-2.0
// pellucid-emit-kernel FILE.py[:KERNEL --signature TEXT]: prints the TTIR of one kernel, or of
// every case the file names.
#include "frontend/KernelCases.h"

#include "tt/Tt.h"

#include <cstring>
#include <iostream>

using namespace pellucid;

static bool emitCase(host::Interpreter &interpreter, const host::Module &module,
                     const test::KernelCase &which) {
  auto kernel = test::kernelNamed(module, which.kernel);
  if (!kernel) {
    std::cerr << "no kernel '" << which.kernel << "'\n";
    return false;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  Diagnostics diagnostics;
  std::vector<frontend::EmittedParameter> emitted;
  auto specs = test::parseSignature(interpreter, *kernel, which.signature);
  auto ir = frontend::emitKernel(interpreter, *kernel, specs, context, diagnostics, &emitted);
  std::cerr << diagnostics.text();
  if (!ir)
    return false;
  std::cout << "// case: " << which.kernel << " | " << which.signature << "\n"
            << tt::printTtir(*ir) << "\n";
  return true;
}

int main(int argc, char **argv) {
  std::string target, signature;
  bool one = false;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--signature") && i + 1 < argc) {
      signature = argv[++i];
      one = true;
    } else {
      target = argv[i];
    }
  }
  try {
    host::InterpreterOptions options;
    host::Interpreter interpreter(std::move(options));
    size_t colon = one ? target.rfind(':') : std::string::npos;
    auto module = interpreter.importFile(target.substr(0, colon));
    if (one)
      return emitCase(interpreter, *module, {target.substr(colon + 1), signature}) ? 0 : 1;
    bool ok = true;
    for (const test::KernelCase &which : test::casesOf(interpreter, *module))
      ok &= emitCase(interpreter, *module, which);
    return ok ? 0 : 1;
  } catch (const DiagnosticError &error) {
    std::cerr << error.what();
    return 1;
  }
}
