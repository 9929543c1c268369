// SPDX-License-Identifier: Apache-2.0
// Operators that several launches share: how many there are and how large, and that the
// interpreter, which also looks for races, gets from them what the operator says. No device is
// needed for either.
#include "driver/EmitSource.h"
#include "graph/FakeRules.h"
#include "passes/graph/InlineOperators.h"
#include "passes/graph/LowerToLaunches.h"
#include "reference/graph/Interpreter.h"
#include "reference/tt/Launch.h"
#include "support/Diagnostics.h"
#include "tt/Tt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pellucid::passes {
namespace {

using namespace graph;
using reference::Datum;
using reference::Tensor;

constexpr uint32_t cpu = 0, hopper = 90;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class DividedOperators : public ::testing::Test {
protected:
  DividedOperators() : context(mlir::MLIRContext::Threading::DISABLED) {
    tt::loadTtDialects(context);
  }

  /// `range`: values are multiples of 1/8 within it, or integers; `place` is where `special`
  /// stands.
  Value *input(const char *name, DataType type, std::vector<int64_t> shape, int64_t range = 8) {
    Tensor values(type, shape);
    Tensor::forEachIndex(shape, [&](std::span<const int64_t> index) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      int64_t number = static_cast<int64_t>(state >> 33) % (isFloat(type) ? 16 * range : range);
      values.set(index, isFloat(type) ? static_cast<double>(number) / 8 - static_cast<double>(range)
                                      : static_cast<double>(number));
    });
    inputs.emplace_back(values);
    program.inputs.push_back({InputSpec::Kind::UserInput, name, {}, true});
    return program.main.placeholder(name, TensorType(type, {shape.begin(), shape.end()}));
  }
  Tensor &values(size_t i) { return std::get<Tensor>(inputs[i]); }
  Node *call(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args),
                    std::move(kwargs), {});
  }

  /// The grids of the launches that `results` become.
  std::vector<int64_t> lower(const std::vector<Value *> &results, uint32_t device) {
    std::vector<Argument> list(results.begin(), results.end());
    program.outputs.assign(list.size(), {OutputSpec::Kind::UserOutput, ""});
    program.main.output(std::move(list));
    decomposeComposites(program, registry);
    unlowered = program.clone();
    CompileText text = driver::textCompiler(context);
    CompileText compile = [&](const KernelText &one, const std::vector<DataType> &pointers,
                              const std::vector<Access> &accesses) {
      sources += one.source;
      return text(one, pointers, accesses);
    };
    lowerToLaunches(program, registry, compile, device);
    program.main.eraseUnused([](const Node &) { return true; });
    EXPECT_EQ(program.main.verify(), std::vector<std::string>{});
    std::vector<int64_t> grids;
    for (const Node &node : program.main)
      if (node.isLaunch())
        grids.push_back(node.launch()->variants[0].grid[0].constantOr(-1));
    return grids;
  }

  /// Interprets the operators and their launches, and compares.
  void expectSame(double bound) {
    reference::EvaluateOptions options;
    std::vector<Datum> want = reference::evaluate(unlowered, inputs, options);
    options.launcher = [&](const Program &, const KernelDef &kernel, const LaunchVariant &,
                           const std::array<int64_t, 3> &grid,
                           std::span<reference::LaunchArgument> arguments) {
      interpret(kernel, grid, arguments);
    };
    std::vector<Datum> got = reference::evaluate(program, inputs, options);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      std::vector<double> made = std::get<Tensor>(got[i]).reals(),
                          meant = std::get<Tensor>(want[i]).reals();
      ASSERT_EQ(made.size(), meant.size());
      for (size_t e = 0; e < made.size(); ++e)
        ASSERT_TRUE((std::isnan(made[e]) && std::isnan(meant[e])) || made[e] == meant[e] ||
                    std::abs(made[e] - meant[e]) <= bound * std::max(1.0, std::abs(meant[e])))
            << "result " << i << " element " << e << ": " << made[e] << ", not " << meant[e];
    }
  }

  void interpret(const KernelDef &kernel, const std::array<int64_t, 3> &grid,
                 std::span<reference::LaunchArgument> arguments) {
    if (grid[0] == 0)
      return;
    Diagnostics diagnostics;
    auto module = tt::parseTtir(kernel.ttir, &context, diagnostics);
    ASSERT_TRUE(module) << diagnostics.text();
    std::vector<reference::HostArgument> list;
    for (const reference::LaunchArgument &argument : arguments)
      if (const Tensor *tensor = std::get_if<Tensor>(&argument.value)) {
        uint8_t *bytes = tensor->storage->data();
        list.emplace_back(reference::HostTensor{
            argument.operand.name, tensor->dtype,
            bytes + tensor->offset * static_cast<int64_t>(byteSize(tensor->dtype)), bytes,
            tensor->storage->size(), true});
      } else {
        list.emplace_back(std::get<int64_t>(argument.value));
      }
    reference::InterpretOptions options;
    for (size_t d = 0; d < 3; ++d)
      options.grid[d] = static_cast<uint32_t>(grid[d]);
    options.sanitize = true;
    EXPECT_TRUE(reference::launchReference(*module, kernel.symbol, list, options, diagnostics))
        << diagnostics.text() << kernel.symbol;
  }

  mlir::MLIRContext context;
  Program program, unlowered;
  const OperatorRegistry &registry = OperatorRegistry::builtins();
  std::vector<Datum> inputs;
  std::string sources;
  uint64_t state = 1;
};

using Grids = std::vector<int64_t>;

// One program would read the whole tensor.
TEST_F(DividedOperators, aWholeSumHasManyPrograms) {
  Value *x = input("x", DataType::Float32, {40000});
  EXPECT_EQ(lower({call("aten.sum.default", {x})->result()}, hopper), (Grids{5, 1}));
  expectSame(1e-6);
}

TEST_F(DividedOperators, placesOfExtremesSurviveTheParts) {
  Value *x = input("x", DataType::Float32, {40000});
  values(0).set(std::vector<int64_t>{31000}, nan);
  values(0).set(std::vector<int64_t>{35000}, nan);
  lower({call("aten.argmax.default", {x})->result(), call("aten.amin.default", {x})->result()},
        hopper);
  expectSame(0);
}

// Both results of a maximum along a dim come from one reading.
TEST_F(DividedOperators, anExtremeComesWithItsPlace) {
  for (uint32_t device : {cpu, hopper})
    for (int64_t rows : {70, 1500}) {
      program = Program();
      inputs.clear();
      Value *x = input("x", DataType::Float32, {rows, 130});
      values(0).set(std::vector<int64_t>{60, 4}, nan);
      Node *most = call("aten.max.dim", {x, 0});
      size_t launches = lower({most->result(0), most->result(1)}, device).size();
      EXPECT_EQ(launches, rows > 1000 ? 2u : 1u);
      expectSame(0);
    }
}

TEST_F(DividedOperators, columnsAreReducedAlongTheMemory) {
  Value *x = input("x", DataType::Float32, {1500, 130});
  Value *sum = call("aten.sum.dim_IntList", {x, Argument::List{0}})->result();
  Grids grids = lower({sum, call("aten.argmin.default", {x, 0})->result()}, hopper);
  ASSERT_EQ(grids.size(), 4u);
  EXPECT_GE(grids[0], 16);
  expectSame(1e-6);
}

// The innermost reduced dim is shorter than a piece, and the outer ones are divided.
TEST_F(DividedOperators, severalReducedDimsAreDividedTogether) {
  Value *x = input("x", DataType::Float32, {300, 3, 70});
  EXPECT_EQ(lower({call("aten.sum.dim_IntList", {x, Argument::List{0, 2}})->result()}, hopper),
            (Grids{3, 1}));
  expectSame(1e-6);
}

TEST_F(DividedOperators, shortRowsShareAProgram) {
  Value *x = input("x", DataType::Float32, {5000, 7});
  EXPECT_EQ(lower({call("aten.sum.dim_IntList", {x, Argument::List{1}})->result()}, hopper),
            (Grids{20}));
  expectSame(1e-6);
}

TEST_F(DividedOperators, manyLongRowsStayWhole) {
  Value *x = input("x", DataType::Float32, {4096, 40000}, 1);
  EXPECT_EQ(lower({call("aten.sum.dim_IntList", {x, Argument::List{1}})->result()}, hopper),
            (Grids{4096}));
}

TEST_F(DividedOperators, aLongLineIsScannedInPieces) {
  Value *x = input("x", DataType::Float32, {20000});
  EXPECT_EQ(lower({call("aten.cumsum.default", {x, 0})->result()}, hopper), (Grids{5, 1, 5}));
  expectSame(1e-6);
}

TEST_F(DividedOperators, columnsAreScannedInPieces) {
  Value *x = input("x", DataType::Int32, {150, 33});
  EXPECT_EQ(lower({call("aten.cumsum.default", {x, 0})->result()}, hopper), (Grids{5, 1, 5}));
  expectSame(0);
}

// Tiles keep their first few, the last launch the first of those.
TEST_F(DividedOperators, topkDoesNotGrowWithTheSquare) {
  Value *x = input("x", DataType::Float32, {2, 4500});
  values(0).set(std::vector<int64_t>{1, 4000}, nan);
  Node *top = call("aten.topk.default", {x, 5});
  EXPECT_EQ(lower({top->result(0), top->result(1)}, hopper), (Grids{6, 2}));
  expectSame(0);
}

TEST_F(DividedOperators, longLinesAreSortedByMergingRuns) {
  Value *x = input("x", DataType::Float32, {2, 1100}, 4);
  values(0).set(std::vector<int64_t>{0, 7}, nan);
  values(0).set(std::vector<int64_t>{0, 1000}, nan);
  Node *sorted = call("aten.sort.stable", {x}, {{"stable", Argument(true)}});
  EXPECT_EQ(lower({sorted->result(0), sorted->result(1)}, hopper).size(), 4u);
  expectSame(0);
}

// Elements of 64 bits take a round for each half of their keys.
TEST_F(DividedOperators, wideElementsAreSortedInTwoRounds) {
  Value *x = input("x", DataType::Int64, {300}, 50);
  values(0).setInteger(std::vector<int64_t>{5}, std::numeric_limits<int64_t>::min());
  values(0).setInteger(std::vector<int64_t>{9}, (int64_t(7) << 32) + 3);
  Node *sorted =
      call("aten.sort.stable", {x}, {{"stable", Argument(true)}, {"descending", Argument(true)}});
  lower({sorted->result(0), sorted->result(1)}, hopper);
  expectSame(0);
}

TEST_F(DividedOperators, aProcessorSortsALineByDigits) {
  Value *x = input("x", DataType::Float32, {2, 300});
  values(0).set(std::vector<int64_t>{0, 7}, nan);
  Node *sorted = call("aten.sort.stable", {x}, {{"stable", Argument(true)}});
  Node *top = call("aten.topk.default", {x, 20});
  lower({sorted->result(0), sorted->result(1), top->result(0), top->result(1)}, cpu);
  expectSame(0);
}

// 300 rows that fall on 5: no program goes through all of them.
TEST_F(DividedOperators, sumsOfIndexedRowsAreSegments) {
  Value *x = input("x", DataType::Float32, {5, 20}), *rows = input("i", DataType::Int64, {300}, 5);
  Value *y = input("y", DataType::Float32, {300, 20});
  lower({call("aten.index_put.default", {x, Argument::List{rows}, y, true})->result()}, hopper);
  EXPECT_EQ(sources.find("range(0, 300)"), std::string::npos);
  expectSame(1e-6);
}

TEST_F(DividedOperators, anIndexPerElementIsSortedAsWell) {
  Value *x = input("x", DataType::Float32, {7, 5}), *rows = input("i", DataType::Int64, {40, 5}, 7);
  Value *y = input("y", DataType::Float32, {40, 5});
  lower({call("aten.scatter_add.default", {x, 0, rows, y})->result()}, hopper);
  expectSame(1e-6);
}

// The last one wins, as where one program goes through all in order.
TEST_F(DividedOperators, theLastOfEqualIndicesWins) {
  Value *x = input("x", DataType::Float32, {9, 6}), *rows = input("i", DataType::Int64, {50}, 9);
  Value *y = input("y", DataType::Float32, {50, 6});
  EXPECT_EQ(lower({call("aten.index_put.default", {x, Argument::List{rows}, y})->result()}, hopper)
                .size(),
            4u);
  expectSame(0);
}

TEST_F(DividedOperators, sumsOfIntegersAreAtomic) {
  Value *x = input("x", DataType::Int32, {9, 6}), *rows = input("i", DataType::Int64, {50}, 9);
  Value *y = input("y", DataType::Int32, {50, 6});
  lower({call("aten.index_put.default", {x, Argument::List{rows}, y, true})->result()}, hopper);
  EXPECT_NE(sources.find("tl.atomic_add"), std::string::npos);
  expectSame(0);
}

TEST_F(DividedOperators, aTransposedCopyReadsAndWritesAlongTheMemory) {
  Value *x = input("x", DataType::Float32, {70, 45});
  Value *turned = call("aten.t.default", {x})->result();
  lower({call("aten.clone.default", {turned}, {{"memory_format", Argument("contiguous_format")}})
             ->result()},
        hopper);
  EXPECT_NE(sources.find("tl.trans"), std::string::npos);
  expectSame(0);
}

// What is computed before and after a row is part of its kernel.
TEST_F(DividedOperators, aRowTakesItsNeighbours) {
  for (uint32_t device : {cpu, hopper}) {
    program = Program();
    inputs.clear();
    Value *x = input("x", DataType::Float32, {6, 40}), *m = input("m", DataType::Float32, {40});
    Value *shifted = call("aten.add.Tensor", {x, m})->result();
    Value *soft = call("aten.softmax.int", {shifted, -1})->result();
    EXPECT_EQ(lower({call("aten.mul.Tensor", {soft, m})->result()}, device).size(), 1u);
    expectSame(1e-6);
  }
}

// Of a row's logarithms one is wanted; the others are not written.
TEST_F(DividedOperators, aPickedLogarithmIsAllThatIsWritten) {
  Value *x = input("x", DataType::Float32, {6, 700}),
        *at = input("t", DataType::Int64, {6, 1}, 700);
  Value *logs = call("aten.log_softmax.int", {x, 1})->result();
  EXPECT_EQ(lower({call("aten.gather.default", {logs, 1, at})->result()}, hopper), (Grids{6}));
  expectSame(1e-5);
}

TEST_F(DividedOperators, rowsAcrossTheMemoryAreTakenTogether) {
  for (uint32_t device : {cpu, hopper}) {
    program = Program();
    inputs.clear();
    Value *x = input("x", DataType::Float32, {300, 40});
    values(0).set(std::vector<int64_t>{3, 4}, -std::numeric_limits<double>::infinity());
    lower({call("aten.softmax.int", {x, 0})->result()}, device);
    expectSame(1e-6);
  }
}

// Without elements there is nothing to launch, or a neutral result.
TEST_F(DividedOperators, dynamicSizesIncludeNone) {
  program.symbols.declare("n", {{0, 1000000}, 1, {}});
  Expr n = Expr::symbol("n");
  program.inputs.push_back({InputSpec::Kind::UserInput, "x", {}, true});
  Value *x = program.main.placeholder("x", TensorType(DataType::Float32, {n}));
  Value *sum = call("aten.sum.default", {x})->result();
  lower({sum, call("aten.cumsum.default", {x, 0})->result()}, hopper);
  for (int64_t size : {0, 1, 17000}) {
    inputs = {Datum(Tensor(DataType::Float32, {size}))};
    for (int64_t i = 0; i < size; ++i)
      values(0).set(std::vector<int64_t>{i}, static_cast<double>(i % 7));
    expectSame(1e-6);
  }
}

} // namespace
} // namespace pellucid::passes
