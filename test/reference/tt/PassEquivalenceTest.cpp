// SPDX-License-Identifier: Apache-2.0
// No pass may change what a kernel computes: each kernel gives the same bits before the pipeline
// and after each of its passes.
#include "reference/tt/KernelCases.h"

#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"
#include "tt/TtOps.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace pellucid::reference {
namespace {

constexpr unsigned seeds[] = {1, 2};

using Contents = std::vector<std::vector<uint8_t>>;

/// What the kernel leaves in its tensors; nothing where it fails.
Contents contentsAfter(mlir::ModuleOp module, const KernelCase &kernel, unsigned seed,
                       std::string &error) {
  CaseBuffers launch(kernel, seed);
  InterpretOptions options;
  options.grid = kernel.grid;
  options.stepLimit = 50'000'000;
  Diagnostics diagnostics;
  if (launchReference(module, kernel.name, launch.arguments, options, diagnostics))
    return launch.buffers;
  error = diagnostics.text();
  return {};
}

struct CompareAfterEachPass : mlir::PassInstrumentation {
  CompareAfterEachPass(const KernelCase &kernel, std::vector<Contents> expected, int &compared)
      : kernel(kernel), expected(std::move(expected)), compared(compared) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    auto module = mlir::dyn_cast<mlir::ModuleOp>(op);
    if (!module)
      return;
    for (size_t i = 0; i < std::size(seeds); ++i) {
      std::string error;
      EXPECT_EQ(contentsAfter(module, kernel, seeds[i], error), expected[i])
          << "'" << pass->getArgument().str() << "' changes '" << kernel.name << "' " << error;
    }
    ++compared;
  }

  const KernelCase &kernel;
  std::vector<Contents> expected;
  int &compared;
};

/// Marks every integer argument of the kernel as the constant it is launched with.
void specialize(mlir::ModuleOp module, const KernelCase &kernel) {
  auto function = module.lookupSymbol<tt::FuncOp>(kernel.name);
  for (unsigned i = 0; i < kernel.arguments.size(); ++i)
    if (auto value = std::get_if<int64_t>(&kernel.arguments[i]))
      function.setArgAttr(i, "pellucid.constant",
                          mlir::IntegerAttr::get(function.getArgumentTypes()[i], *value));
}

void compareThroughPipeline(const KernelCase &kernel, const std::string &folder, bool specialized) {
  SCOPED_TRACE(folder + kernel.name);
  std::ifstream file(std::string(PELLUCID_SOURCE_DIR) + "/test/reference/tt/kernels/" + folder +
                     kernel.name + ".ttir");
  std::stringstream text;
  text << file.rdbuf();
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  auto module = tt::parseTtir(text.str(), &context, diagnostics);
  ASSERT_TRUE(module) << diagnostics.text();
  std::vector<Contents> expected;
  for (unsigned seed : seeds) {
    std::string error;
    expected.push_back(contentsAfter(*module, kernel, seed, error));
    ASSERT_EQ(error, "");
  }
  if (specialized)
    specialize(*module, kernel);
  int compared = 0;
  mlir::PassManager pm(&context);
  tt::buildKernelPipeline(pm);
  pm.addInstrumentation(std::make_unique<CompareAfterEachPass>(kernel, expected, compared));
  EXPECT_TRUE(mlir::succeeded(pm.run(*module)));
  EXPECT_GE(compared, 6);
}

TEST(PassEquivalence, KernelsAsTritonsPassesLeaveThem) {
  for (const KernelCase &kernel : kernelCases())
    compareThroughPipeline(kernel, "", /*specialized=*/false);
}

TEST(PassEquivalence, KernelsAsTritonsFrontEndEmitsThem) {
  for (const KernelCase &kernel : kernelCases())
    compareThroughPipeline(kernel, "raw/", /*specialized=*/false);
}

TEST(PassEquivalence, KernelsWithConstantArguments) {
  for (const KernelCase &kernel : kernelCases())
    compareThroughPipeline(kernel, "raw/", /*specialized=*/true);
}

} // namespace
} // namespace pellucid::reference
