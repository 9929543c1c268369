// SPDX-License-Identifier: Apache-2.0
// What fusion believes of a store, held against what the launch did: where it may compute from a
// stored tensor, every element of it was written, and none was read.
#include "codegen/DifferentialCase.h"
#include "fusion/SpliceKernel.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <filesystem>
#include <set>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

struct Launched {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<reference::TouchedRegion> touched;
};

/// Faults count as little as results here: a smaller grid leaves arrays half done.
void launch(Case given, const std::string &symbol, Launched &out) {
  tt::loadTtDialects(out.context);
  Diagnostics diagnostics;
  out.module = tt::parseTtir(given.text, &out.context, diagnostics, "kernel.ttir");
  ASSERT_TRUE(out.module) << diagnostics.text();
  std::vector<reference::HostArgument> arguments = hostArguments(given);
  reference::InterpretOptions options;
  for (int axis = 0; axis < 3; ++axis)
    options.grid[axis] = given.grid[axis];
  options.sanitize = true;
  options.touched = &out.touched;
  reference::launchReference(*out.module, symbol, arguments, options, diagnostics);
}

fusion::LaunchValues valuesOf(const Case &given, const symbolic::SymbolTable &symbols) {
  fusion::LaunchValues values;
  for (int axis = 0; axis < 3; ++axis)
    values.grid[axis] = int64_t(given.grid[axis]);
  for (auto &parameter : given.parameters) {
    auto *integer = std::get_if<int64_t>(&parameter);
    values.arguments.push_back(integer ? std::optional<symbolic::Expr>(*integer) : std::nullopt);
  }
  values.symbols = &symbols;
  return values;
}

/// Sizes that a tensor of the case could have: its own, the launch's numbers and their products,
/// and their neighbours.
std::set<int64_t> sizesOf(const Case &given, int64_t count) {
  std::vector<int64_t> numbers{1, count};
  for (auto &parameter : given.parameters)
    if (auto *integer = std::get_if<int64_t>(&parameter); integer && *integer > 0)
      numbers.push_back(*integer);
  std::set<int64_t> sizes;
  for (int64_t a : numbers)
    for (int64_t b : numbers)
      for (int64_t size : {a * b - 1, a * b, a * b + 1})
        if (size > 0 && size <= count)
          sizes.insert(size);
  return sizes;
}

/// How often fusion would have taken the store of a tensor.
int checkCase(const std::string &path, int smaller) {
  Case given = readCase(path);
  std::string symbol = std::filesystem::path(path).stem();
  if (given.grid[0] <= uint32_t(smaller))
    return 0;
  given.grid[0] -= smaller;
  Launched done;
  launch(given, symbol, done);
  auto kernel = done.module->lookupSymbol<tt::FuncOp>(symbol);
  symbolic::SymbolTable symbols;
  fusion::LaunchValues values = valuesOf(given, symbols);
  int taken = 0;
  for (unsigned p = 0; p < given.parameters.size(); ++p) {
    auto *number = std::get_if<size_t>(&given.parameters[p]);
    if (!number)
      continue;
    const Array &array = given.arrays[*number];
    size_t bytes = byteSize(array.type);
    const reference::TouchedRegion &touched = done.touched[*number];
    EXPECT_EQ(touched.name, array.name);
    for (int64_t size : sizesOf(given, int64_t(array.bytes.size() / bytes))) {
      if (fusion::refuseStoreFusion(kernel, p, values, size))
        continue;
      ++taken;
      for (size_t i = 0; i < size * bytes; ++i) {
        EXPECT_TRUE(touched.written[i]) << symbol << ": element " << i / bytes << " of "
                                        << array.name << " of " << size << " is not stored";
        EXPECT_FALSE(touched.read[i]) << symbol << ": " << array.name << " is read";
        if (testing::Test::HasFailure())
          return taken;
      }
    }
  }
  return taken;
}

TEST(StoreCoverage, IsWhatFusionBelieves) {
  int taken = 0;
  for (const std::string &path : caseFiles())
    for (int smaller : {0, 1})
      taken += checkCase(path, smaller);
  EXPECT_GE(taken, 5) << "the property is hardly tested";
  RecordProperty("taken", taken);
}

} // namespace
