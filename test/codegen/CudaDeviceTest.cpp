// SPDX-License-Identifier: Apache-2.0
// Generated PTX on a device against the interpreter. Skipped where there is no device.
#include "codegen/DifferentialCase.h"
#include "codegen/KernelFixture.h"
#include "codegen/cuda/CompileCudaKernel.h"
#include "passes/tt/Pipeline.h"
#include "runtime/CudaDriver.h"
#include "runtime/TensorMaps.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <filesystem>

using namespace pellucid;
using namespace pellucid::codegen;
using namespace pellucid::runtime;

namespace {

class CudaDifferential : public testing::TestWithParam<std::tuple<bool, uint32_t, std::string>> {
protected:
  const cuda::Driver *driver = nullptr;
  uint32_t sm = 0;

  void SetUp() override {
    std::string why;
    driver = cuda::Driver::get(why);
    cuda::Context context = nullptr;
    if (!driver || !cuda::openDevice(*driver, 0, context, sm).ok())
      GTEST_SKIP() << "no CUDA device: " << why;
    driver->ctxSetCurrent(context);
  }

  /// The arrays after the launch.
  std::vector<Array> runOnDevice(Case launched, const CompiledPtx &compiled, uint32_t warps) {
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
    EXPECT_EQ(driver->moduleLoadDataEx(&module, compiled.ptx.c_str(), 0, nullptr, nullptr), 0)
        << compiled.ptx;
    EXPECT_EQ(driver->moduleGetFunction(&function, module, compiled.symbol.c_str()), 0);
    constexpr int maxDynamicShared = 8;
    EXPECT_EQ(driver->funcSetAttribute(function, maxDynamicShared,
                                       static_cast<int>(compiled.sharedBytes)),
              0);
    std::vector<cuda::Address> addresses;
    for (Array &array : launched.arrays) {
      addresses.emplace_back();
      EXPECT_EQ(driver->memAlloc(&addresses.back(), array.bytes.size()), 0);
      driver->memcpyHtoD(addresses.back(), array.bytes.data(), array.bytes.size());
    }
    std::vector<uint64_t> words;
    for (size_t i = 0; i < launched.parameters.size(); ++i) {
      auto &parameter = launched.parameters[i];
      if (auto *number = std::get_if<size_t>(&parameter))
        words.push_back(addresses[*number]);
      else if (auto *integer = std::get_if<int64_t>(&parameter))
        words.push_back(static_cast<uint64_t>(*integer));
      else
        words.push_back(std::bit_cast<uint32_t>(static_cast<float>(std::get<double>(parameter))));
    }
    words.push_back(0);
    words.push_back(0);
    std::vector<void *> pointers;
    for (uint64_t &word : words)
      pointers.push_back(&word);
    cuda::Address zeros = 0;
    EXPECT_EQ(driver->memAlloc(&zeros, 256), 0);
    driver->memsetD8Async(zeros, 0, 256, nullptr);
    std::vector<cuda::TensorMap> maps(compiled.tensorMaps.size());
    for (size_t i = 0; i < maps.size(); ++i) {
      const package::TensorMap &map = compiled.tensorMaps[i];
      Result described = cuda::encodeTensorMap(
          *driver, map, words[map.parameter], zeros,
          [&](uint32_t parameter) { return static_cast<int64_t>(words[parameter]); }, maps[i]);
      EXPECT_TRUE(described.ok()) << described.message();
      pointers.push_back(&maps[i]);
    }
    EXPECT_EQ(driver->launchKernel(function, launched.grid[0], launched.grid[1], launched.grid[2],
                                   32 * warps, 1, 1, compiled.sharedBytes, nullptr, pointers.data(),
                                   nullptr),
              0);
    EXPECT_EQ(driver->ctxSynchronize(), 0);
    for (size_t i = 0; i < addresses.size(); ++i) {
      driver->memcpyDtoH(launched.arrays[i].bytes.data(), addresses[i],
                         launched.arrays[i].bytes.size());
      driver->memFree(addresses[i]);
    }
    driver->memFree(zeros);
    driver->moduleUnload(module);
    return std::move(launched.arrays);
  }
};

/// All that the code generator may refuse of these kernels: scf.index_switch.
constexpr std::string_view refusedKernel = "switches";

TEST_P(CudaDifferential, AgreesWithTheInterpreter) {
  auto [ofGeneration, warps, path] = GetParam();
  Case launched = readCase(path);
  std::string symbol = std::filesystem::path(path).stem();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  Diagnostics diagnostics;
  CompiledPtx compiled;
  auto module = tt::parseTtir(launched.text, &context, diagnostics, "kernel.ttir");
  ASSERT_TRUE(module && tt::runKernelPipeline(*module, diagnostics)) << diagnostics.text();
  CudaKernelOptions options{.sm = sm >= 90 ? 90u : 80u,
                            .numWarps = warps,
                            .thisGenerationOnly = ofGeneration && sm == 90,
                            .tensorCopies = true};
  if (!compileCudaKernel(*module, symbol, options, compiled, diagnostics)) {
    ASSERT_EQ(symbol, refusedKernel) << diagnostics.text();
    GTEST_SKIP() << diagnostics.text();
  }
  ASSERT_NE(symbol, refusedKernel) << "is taken now";
  // Quotients have 2 ulp on the device, exponentials a few more.
  expectClose(runOnDevice(launched, compiled, warps), runReference(launched, symbol), 2);
}

INSTANTIATE_TEST_SUITE_P(Warps, CudaDifferential,
                         testing::Combine(testing::Bool(), testing::Values(1u, 4u, 8u),
                                          testing::ValuesIn(caseFiles())),
                         [](const auto &point) {
                           return std::string(std::get<0>(point.param) ? "generation_" : "") +
                                  "warps" + std::to_string(std::get<1>(point.param)) + "_" +
                                  std::filesystem::path(std::get<2>(point.param)).stem().string();
                         });

} // namespace
