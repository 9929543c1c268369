// SPDX-License-Identifier: Apache-2.0
// Generated code against the interpreter on the same random inputs. Each file of differential/ says
// in its first lines what it is launched with.
#include "codegen/DifferentialCase.h"
#include "codegen/KernelFixture.h"

#include <filesystem>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

std::vector<Array> runCompiled(Case launched, const std::string &symbol, CpuLevel level) {
  CompiledKernel kernel(launched.text, symbol, level);
  Arguments arguments;
  for (size_t i = 0; i < launched.parameters.size(); ++i) {
    auto &parameter = launched.parameters[i];
    if (auto *number = std::get_if<size_t>(&parameter))
      arguments.add(launched.arrays[*number].bytes.data());
    else if (auto *integer = std::get_if<int64_t>(&parameter))
      launched.scalarTypes[i] == DataType::Int64 ? arguments.add(*integer)
                                                 : arguments.add(int32_t(*integer));
    else
      arguments.add(static_cast<float>(std::get<double>(parameter)));
  }
  EXPECT_EQ(kernel.run(arguments, launched.grid[0], launched.grid[1], launched.grid[2]), 0);
  return std::move(launched.arrays);
}

class Differential : public testing::TestWithParam<std::tuple<CpuLevel, std::string>> {};

TEST_P(Differential, AgreesWithTheInterpreter) {
  auto [level, path] = GetParam();
  Case launched = readCase(path);
  std::string symbol = std::filesystem::path(path).stem();
  std::vector<Array> expected = runReference(launched, symbol);
  std::vector<Array> actual = runCompiled(launched, symbol, level);
  expectClose(actual, expected);
}

/// Where the processor lacks the higher level, ctest says so.
TEST(Levels, BothRunHere) {
  if (runnableLevels().size() < 2)
    GTEST_SKIP() << "every kernel test runs on x86-64-v3 alone: this processor lacks x86-64-v4";
}

INSTANTIATE_TEST_SUITE_P(
    Levels, Differential,
    testing::Combine(testing::ValuesIn(runnableLevels()), testing::ValuesIn(caseFiles())),
    [](const auto &point) {
      return std::string(std::get<0>(point.param) == CpuLevel::X86_64_v4 ? "v4_" : "v3_") +
             std::filesystem::path(std::get<1>(point.param)).stem().string();
    });

} // namespace
