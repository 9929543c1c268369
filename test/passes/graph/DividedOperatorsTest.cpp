// SPDX-License-Identifier: Apache-2.0
// Operators that several launches share: how many there are and how large, and that the
// interpreter, which also looks for races, gets from them what the operator says. No device is
// needed for either.
#include "InterpretedLaunches.h"

namespace pellucid::passes {
namespace {

class DividedOperators : public InterpretedLaunches {};

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

// A variance reads its elements once, whatever their dims: a mean and what is spread around it are
// put together from those of the parts.
TEST_F(DividedOperators, variancesReadOnce) {
  for (DataType type : {DataType::Float32, DataType::Float64, DataType::BFloat16})
    for (double far : {0.0, 10000.0})
      for (const auto &[shape, dims, launches] :
           {std::tuple{std::vector<int64_t>{1500, 130}, Argument::List{0}, 2u},
            std::tuple{std::vector<int64_t>{3, 7, 40, 50}, Argument::List{0, 2, 3}, 2u},
            std::tuple{std::vector<int64_t>{5, 3}, Argument::List{0}, 1u},
            std::tuple{std::vector<int64_t>{40000}, Argument::List{0}, 2u}}) {
        program = Program();
        inputs.clear();
        Value *x = input("x", type, shape);
        Tensor &elements = values(0);
        if (type != DataType::BFloat16)
          Tensor::forEachIndex(shape, [&](std::span<const int64_t> index) {
            elements.set(index, elements.real(index) + far);
          });
        Value *spread =
            call("aten.var.correction", {x, dims}, {{"correction", Argument(1)}})->result();
        EXPECT_LE(lower({spread}, hopper).size(), launches);
        expectSame(type == DataType::Float64 ? 1e-12 : type == DataType::Float32 ? 3e-3 : 1e-2);
      }
  // A mean that something else reads is computed as well.
  program = Program();
  inputs.clear();
  Value *x = input("x", DataType::Float32, {1500, 130});
  lower(
      {call("aten.std.correction", {x, Argument::List{0}}, {{"correction", Argument(0)}})->result(),
       call("aten.mean.dim", {x, Argument::List{0}})->result()},
      hopper);
  expectSame(1e-5);
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
  EXPECT_EQ(lower({call("aten.cumsum.default", {x, 0})->result()}, hopper), (Grids{1, 5}));
  expectSame(1e-6);
}

// Groups of 32 tiles leave totals of their own; totals of 64 bits are two words.
TEST_F(DividedOperators, aScanInOnePassGoesOnFromGroupToGroup) {
  Value *x = input("x", DataType::Int32, {2, 33 * 4096 + 5}, 100);
  EXPECT_EQ(lower({call("aten.cumsum.default", {x, 1})->result()}, hopper), (Grids{1, 68}));
  expectSame(0);
}

TEST_F(DividedOperators, linesOfEveryTypeAreScannedInOnePass) {
  for (DataType type : {DataType::Float64, DataType::Float16, DataType::Int8, DataType::Float32}) {
    program = Program();
    inputs.clear();
    Value *x = input("x", type, {3, 9000}, 2);
    for (int64_t i = 0; i < 9000; ++i)
      values(0).set(std::vector<int64_t>{1, i}, i < 8200 ? -0.0 : i % 3 - 1);
    if (isFloat(type)) {
      values(0).set(std::vector<int64_t>{2, 4097}, nan);
      values(0).set(std::vector<int64_t>{0, 5000}, std::numeric_limits<double>::infinity());
    }
    lower({call("aten.cumsum.default", {x, 1})->result()}, hopper);
    expectSame(type == DataType::Float16 ? 1e-3 : 1e-6);
  }
}

TEST_F(DividedOperators, productsAreScannedInOnePass) {
  Value *x = input("x", DataType::Float64, {2, 12289}, 2);
  for (int64_t i = 0; i < 12289; ++i)
    values(0).set(std::vector<int64_t>{1, i}, i % 2 ? 1.25 : 0.8);
  EXPECT_EQ(lower({call("aten.cumprod.default", {x, 1})->result()}, hopper), (Grids{1, 8}));
  expectSame(1e-9);
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

// Words are cleared, digits counted, and three tiles of 4096 a line are distributed four times.
// Many are equal.
TEST_F(DividedOperators, longLinesAreSortedByDigits) {
  Value *x = input("x", DataType::Float32, {2, 8700}, 4);
  values(0).set(std::vector<int64_t>{0, 7}, nan);
  values(0).set(std::vector<int64_t>{0, 8600}, nan);
  Node *sorted = call("aten.sort.stable", {x}, {{"stable", Argument(true)}});
  EXPECT_EQ(lower({sorted->result(0), sorted->result(1)}, hopper), (Grids{3, 6, 6, 6, 6, 6}));
  expectSame(0);
}

// Digits that all keys of a type have alike are not looked at. A look takes in sixteen tiles.
TEST_F(DividedOperators, digitsFollowFromTheType) {
  using Case = std::tuple<DataType, bool, int64_t, Grids>;
  for (const auto &[type, descending, length, grids] :
       {Case{DataType::UInt8, false, 69000, {2, 17, 17}},
        Case{DataType::BFloat16, true, 69000, {3, 17, 17, 17}},
        Case{DataType::Int32, true, 8300, {2, 3, 3, 3, 3, 3}},
        Case{DataType::Int64, false, 8300, {2, 3, 3, 3, 3, 3, 2, 3, 3, 3, 3, 3}}}) {
    program = Program();
    inputs.clear();
    Value *x = input("x", type, {length}, 100);
    Node *sorted = call("aten.sort.stable", {x},
                        {{"stable", Argument(true)}, {"descending", Argument(descending)}});
    EXPECT_EQ(lower({sorted->result(0), sorted->result(1)}, hopper), grids);
    expectSame(0);
  }
}

// A line whose length is an argument takes as many launches, with counts of 64 bits.
TEST_F(DividedOperators, linesOfUnknownLengthAreSortedByDigits) {
  program.symbols.declare("n", {{0, int64_t(1) << 40}, 1, {}});
  program.inputs.push_back({InputSpec::Kind::UserInput, "x", {}, true});
  Value *x = program.main.placeholder("x", TensorType(DataType::BFloat16, {Expr::symbol("n")}));
  Node *sorted = call("aten.sort.stable", {x}, {{"stable", Argument(true)}});
  EXPECT_EQ(lower({sorted->result(0), sorted->result(1)}, hopper).size(), 4u);
  for (int64_t size : {0, 1, 9000}) {
    inputs = {Datum(Tensor(DataType::BFloat16, {size}))};
    for (int64_t i = 0; i < size; ++i)
      values(0).set(std::vector<int64_t>{i}, static_cast<double>(i * 7 % 200 - 100));
    expectSame(0);
  }
}

TEST_F(DividedOperators, aLineOfATileIsOneLaunch) {
  Value *x = input("x", DataType::Float32, {3, 1100}, 4);
  values(0).set(std::vector<int64_t>{1, 1099}, nan);
  Node *sorted =
      call("aten.sort.stable", {x}, {{"stable", Argument(true)}, {"descending", Argument(true)}});
  EXPECT_EQ(lower({sorted->result(0), sorted->result(1)}, hopper), (Grids{3}));
  expectSame(0);
}

// Keys and places of 16 bits are packed into an int32.
TEST_F(DividedOperators, narrowElementsAreSortedInOneWord) {
  Value *x = input("x", DataType::BFloat16, {2, 4500}, 4);
  for (int64_t at : {int64_t(3), int64_t(4499)})
    values(0).set(std::vector<int64_t>{0, at}, nan);
  values(0).set(std::vector<int64_t>{1, 9}, -std::numeric_limits<double>::infinity());
  values(0).set(std::vector<int64_t>{1, 10}, -0.0);
  Value *y = input("y", DataType::Float16, {3, 300}, 4);
  values(1).set(std::vector<int64_t>{2, 7}, nan);
  values(1).set(std::vector<int64_t>{2, 8}, -65504.0);
  Value *z = input("z", DataType::Int16, {300}, 40);
  values(2).setInteger(std::vector<int64_t>{5}, -32768);
  values(2).setInteger(std::vector<int64_t>{6}, 32767);
  std::vector<Value *> results;
  for (bool descending : {false, true})
    for (Value *value : {x, y, z}) {
      Node *sorted = call("aten.sort.stable", {value},
                          {{"stable", Argument(true)}, {"descending", Argument(descending)}});
      results.insert(results.end(), {sorted->result(0), sorted->result(1)});
    }
  Node *top = call("aten.topk.default", {x, 5});
  results.insert(results.end(), {top->result(0), top->result(1)});
  lower(results, hopper);
  EXPECT_EQ(sources.find("4294967295"), std::string::npos);
  expectSame(0);
}

// A line whose places take more than 16 bits has wide numbers.
TEST_F(DividedOperators, longLinesOfNarrowElementsAreSortedInTwoWords) {
  Value *x = input("x", DataType::Int8, {65537}, 100);
  lower({call("aten.topk.default", {x, 5})->result(1)}, hopper);
  EXPECT_NE(sources.find("4294967295"), std::string::npos);
  expectSame(0);
}

// 16 lines of 50 to a program.
TEST_F(DividedOperators, shortLinesAreSortedTogether) {
  Value *x = input("x", DataType::Int32, {2, 50, 13}, 9);
  Node *sorted = call("aten.sort.stable", {x}, {{"stable", Argument(true)}, {"dim", Argument(1)}});
  EXPECT_EQ(lower({sorted->result(0), sorted->result(1)}, hopper), (Grids{2}));
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
  deterministic = true;
  lower({call("aten.index_put.default", {x, Argument::List{rows}, y, true})->result()}, hopper);
  EXPECT_EQ(sources.find("range(0, 300)"), std::string::npos);
  expectSame(1e-6);
}

TEST_F(DividedOperators, anIndexPerElementIsSortedAsWell) {
  Value *x = input("x", DataType::Float32, {7, 5}), *rows = input("i", DataType::Int64, {40, 5}, 7);
  Value *y = input("y", DataType::Float32, {40, 5});
  deterministic = true;
  lower({call("aten.scatter_add.default", {x, 0, rows, y})->result()}, hopper);
  EXPECT_EQ(sources.find("atomic"), std::string::npos);
  expectSame(1e-6);
}

// As PyTorch adds on a device, unless it is asked not to.
TEST_F(DividedOperators, floatsAreAddedAsProgramsCome) {
  for (DataType type : {DataType::Float32, DataType::Float64, DataType::BFloat16}) {
    program = Program();
    inputs.clear();
    sources.clear();
    Value *x = input("x", type, {7, 5}), *rows = input("i", DataType::Int64, {40, 5}, 7);
    Value *y = input("y", type, {40, 5}), *list = input("j", DataType::Int64, {40}, 7);
    bool isExact = type == DataType::BFloat16;
    Grids grids =
        lower({call("aten.scatter_add.default", {x, 0, rows, y})->result(),
               call("aten.index_put.default", {x, Argument::List{list}, y, true})->result()},
              hopper);
    // What would be rounded at every step is sorted instead.
    EXPECT_EQ(grids.size() == 4, !isExact);
    EXPECT_EQ(sources.find("atomic") == std::string::npos, isExact);
    expectSame(isExact ? 1e-2 : 1e-6);
  }
}

// The last one wins, as where one program goes through all in order.
TEST_F(DividedOperators, theLastOfEqualIndicesWins) {
  deterministic = true;
  Value *x = input("x", DataType::Float32, {9, 6}), *rows = input("i", DataType::Int64, {50}, 9);
  Value *y = input("y", DataType::Float32, {50, 6});
  EXPECT_EQ(lower({call("aten.index_put.default", {x, Argument::List{rows}, y})->result()}, hopper)
                .size(),
            4u);
  expectSame(0);
}

// Any of equal ones may stay else, as in PyTorch's kernels: each entry is stored where it goes, at
// once. Here none are equal.
TEST_F(DividedOperators, entriesAreStoredInOneLaunch) {
  auto apart = [&](size_t which, int64_t rows, int64_t columns, int64_t size) {
    Tensor &numbers = values(which);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        numbers.set(std::vector<int64_t>{r, c}, static_cast<double>((r * 7 + c * 3) % size));
  };
  for (DataType type : {DataType::Float32, DataType::Float16, DataType::Int64, DataType::Bool}) {
    program = Program();
    inputs.clear();
    sources.clear();
    Value *x = input("x", type, {61, 37}, 2), *down = input("i", DataType::Int64, {50, 37}, 61);
    Value *y = input("y", type, {50, 37}, 2), *rows = input("j", DataType::Int64, {50}, 61);
    Value *across = input("k", DataType::Int64, {61, 30}, 37), *z = input("z", type, {61, 30}, 2);
    apart(1, 50, 37, 61);
    for (int64_t r = 0; r < 50; ++r)
      values(3).set(std::vector<int64_t>{r}, static_cast<double>(r * 11 % 61));
    for (int64_t r = 0; r < 61; ++r)
      for (int64_t c = 0; c < 30; ++c)
        values(4).set(std::vector<int64_t>{r, c}, static_cast<double>((r + c * 5) % 37));
    Grids grids = lower({call("aten.scatter.src", {x, 0, down, y})->result(),
                         call("aten.index_put.default", {x, Argument::List{rows}, y})->result(),
                         call("aten.scatter.src", {x, 1, across, z})->result()},
                        hopper);
    EXPECT_EQ(grids.size(), 6u); // a copy of x, each
    EXPECT_EQ(sources.find("winners"), std::string::npos);
    expectSame(0);
  }
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
// Each reads its rows once, with what comes before: short ones together, long ones in stripes; a
// mean far from zero takes nothing from the differences.
TEST_F(DividedOperators, oneNumberPerRowIsOneKernel) {
  for (uint32_t device : {cpu, hopper})
    for (auto [rows, length] :
         {std::pair<int64_t, int64_t>{7, 1}, {300, 70}, {5, 3000}, {128, 8200}}) {
      if (device == cpu && rows * length > 100000)
        continue;
      program = Program();
      inputs.clear();
      Value *x = input("x", DataType::Float32, {rows, length}, 4);
      if (rows > 1 && length > 1) {
        values(0).set(std::vector<int64_t>{1, length / 2}, nan);
        values(0).set(std::vector<int64_t>{2, 0}, HUGE_VAL);
        for (int64_t i = 0; i < length; ++i)
          values(0).set(std::vector<int64_t>{3, i}, -HUGE_VAL);
      }
      Value *far = call("aten.add.Tensor", {x, 4096.0})->result();
      Argument::List last{1};
      std::vector<Value *> results = {call("aten.logsumexp.default", {x, last, true})->result()};
      if (length != 8200)
        results.push_back(call("aten.std.correction", {x, last}, {{"correction", 0}})->result());
      results.push_back(call("aten.var.correction", {far, Argument::List{-1}})->result());
      EXPECT_EQ(lower(results, device).size(), results.size());
      // The interpreter adds one element after the other.
      expectSame(1e-5);
    }
}

// What is not the last dim, and few long rows, are sums that programs share.
TEST_F(DividedOperators, otherVariancesAreDecomposed) {
  Value *x = input("x", DataType::Float32, {2, 9000});
  std::vector<Value *> results = {
      call("aten.var.correction", {x, Argument::List{1}})->result(),
      call("aten.std.correction", {x, Argument::List{0}})->result(),
      call("aten.logsumexp.default", {x, Argument::List{0, 1}})->result()};
  EXPECT_GT(lower(results, hopper).size(), 6u);
  expectSame(2e-6);
}

// What becomes of the sum of the parts is computed where they are added; two sums are no such case.
TEST_F(DividedOperators, aReductionTakesWhatFollows) {
  for (uint32_t device : {cpu, hopper})
    for (DataType type : {DataType::Float32, DataType::BFloat16}) {
      program = Program();
      inputs.clear();
      Value *x = input("x", type, {70000}), *y = input("y", type, {300, 130});
      Value *squares = call("aten.mul.Tensor", {x, x})->result();
      Value *norm =
          call("aten.sqrt.default", {call("aten.sum.default", {squares})->result()})->result();
      Value *mean = call("aten.mean.dim", {y, Argument::List{0}})->result();
      Value *scaled =
          call("aten.exp.default", {call("aten.mul.Scalar", {mean, 0.125})->result()})->result();
      Value *half = call("aten.mul.Scalar", {norm, 0.5})->result();
      EXPECT_EQ(lower({half, scaled}, device).size(), device == cpu ? 2u : 4u);
      expectSame(type == DataType::Float32 ? 2e-6 : 2e-2);
    }
}

/// It shares a launch with another reduction of the same elements all the same.
TEST_F(DividedOperators, aReductionWithOtherReadersStandsAlone) {
  Value *x = input("x", DataType::Float32, {7, 300});
  Value *sum = call("aten.sum.dim_IntList", {x, Argument::List{1}})->result();
  Value *most = call("aten.amax.default", {x, Argument::List{1}})->result();
  Value *both = call("aten.div.Tensor", {sum, most})->result();
  Value *root = call("aten.sqrt.default", {call("aten.abs.default", {sum})->result()})->result();
  EXPECT_EQ(lower({both, root}, hopper).size(), 3u);
  expectSame(2e-6);
}

// The sum that a norm is of is wanted behind it as well: one launch writes both.
TEST_F(DividedOperators, aRowWritesWhatItIsOf) {
  for (uint32_t device : {cpu, hopper})
    for (DataType type : {DataType::Float32, DataType::BFloat16}) {
      program = Program();
      inputs.clear();
      Value *x = input("x", type, {5, 700}), *y = input("y", type, {5, 700});
      Value *weight = input("w", type, {700});
      Value *sum = call("aten.add.Tensor", {x, y})->result();
      Value *norm = call("aten.rms_norm.default", {sum, Argument::List{700}, weight})->result();
      Value *behind = call("aten.mul.Tensor", {sum, norm})->result();
      EXPECT_EQ(lower({sum, norm, behind}, device).size(), 2u);
      expectSame(type == DataType::Float32 ? 2e-6 : 1e-2);
    }
}

// What reads the sum before the norm cannot wait for it.
TEST_F(DividedOperators, aRowDoesNotWriteWhatIsReadBeforeIt) {
  Value *x = input("x", DataType::Float32, {5, 700}), *y = input("y", DataType::Float32, {700});
  Value *sum = call("aten.add.Tensor", {x, y})->result();
  Value *soft = call("aten.softmax.int", {sum, -1})->result();
  Value *weight = call("aten.sum.dim_IntList", {soft, Argument::List{0}})->result();
  Value *norm = call("aten.rms_norm.default", {sum, Argument::List{700}, weight})->result();
  EXPECT_EQ(lower({norm}, hopper).size(), 3u);
  expectSame(2e-6);
}

// Rows that no block holds are read twice, the second time from the end.
TEST_F(DividedOperators, longSoftmaxIsReadTwice) {
  Value *x = input("x", DataType::Float32, {2, 33000}, 4);
  for (int64_t i = 0; i < 33000; ++i)
    values(0).set(std::vector<int64_t>{1, i}, i == 31000 ? 3.0 : -HUGE_VAL);
  lower({call("aten.softmax.int", {x, -1})->result(),
         call("aten.log_softmax.int", {x, -1})->result()},
        hopper);
  expectSame(2e-6);
}

// The rows of a cross-entropy that no block holds are read once all the same.
TEST_F(DividedOperators, aLongPickedLogarithmIsReadOnce) {
  Value *x = input("x", DataType::Float32, {4, 9000}, 4),
        *index = input("i", DataType::Int64, {4, 1}, 9000);
  values(0).set(std::vector<int64_t>{1, 8999}, nan);
  values(0).set(std::vector<int64_t>{2, 5000}, HUGE_VAL);
  Value *log = call("aten.log_softmax.int", {x, -1})->result();
  EXPECT_EQ(lower({call("aten.gather.default", {log, -1, index})->result()}, hopper), (Grids{4}));
  EXPECT_EQ(sources.find("for start", sources.find("for start") + 1), std::string::npos);
  expectSame(2e-6);
}

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

// Rotary embeddings as they are written: half of the row, negated, in front of the other half.
TEST_F(DividedOperators, aRotationIsOneKernel) {
  Value *x = input("x", DataType::Float32, {3, 4, 8}),
        *cos = input("cos", DataType::Float32, {4, 8});
  auto half = [&](int64_t from, int64_t to) {
    return call("aten.slice.Tensor", {x, 2, from, to})->result();
  };
  Value *turned = call("aten.neg.default", {half(4, 8)})->result();
  Value *joined =
      call("aten.cat.default", {Argument::list(std::vector<Value *>{turned, half(0, 4)}), -1})
          ->result();
  Value *scaled = call("aten.mul.Tensor", {joined, cos})->result();
  EXPECT_EQ(lower({call("aten.add.Tensor", {scaled, x})->result()}, hopper).size(), 1u);
  expectSame(0);
}

// Whichever dim is joined, and however the kernel goes through the elements.
TEST_F(DividedOperators, partsAreReadInTheirPlaces) {
  std::vector<Value *> results;
  for (auto [shape, turns] : {std::pair{std::array<int64_t, 3>{5, 3, 7}, false},
                              std::pair{std::array<int64_t, 3>{2, 30, 5}, true},
                              std::pair{std::array<int64_t, 3>{3, 5, 300}, false}})
    for (int64_t dim = 0; dim < 3; ++dim) {
      std::vector<int64_t> one(shape.begin(), shape.end()), other = one;
      one[dim] = 1;
      other[dim] += 2;
      std::string at = std::to_string(results.size());
      if (turns)
        std::swap(other[1], other[2]);
      Value *a = input(("a" + at).c_str(), DataType::Float32, {shape.begin(), shape.end()});
      Value *b = input(("b" + at).c_str(), DataType::Float64, one);
      Value *c = input(("c" + at).c_str(), DataType::Float32, other);
      if (turns)
        c = call("aten.transpose.int", {c, 1, 2})->result();
      Value *made = call("aten.mul.Tensor", {a, a})->result();
      Value *joined =
          call("aten.cat.default", {Argument::list(std::vector<Value *>{made, b, c}), dim})
              ->result();
      Value *back =
          call("aten.cat.default", {Argument::list(std::vector<Value *>{joined, joined}), 0})
              ->result();
      results.push_back(call("aten.neg.default", {back})->result());
    }
  lower(results, hopper);
  EXPECT_NE(sources.find("part1 = "), std::string::npos);
  expectSame(0);
}

// As frequencies are for both halves of a row.
TEST_F(DividedOperators, oneTensorMayBeSeveralParts) {
  Value *x = input("x", DataType::Float32, {3, 5}), *y = input("y", DataType::Float32, {3, 5});
  Value *made = call("aten.mul.Tensor", {x, y})->result();
  Value *joined =
      call("aten.cat.default", {Argument::list(std::vector<Value *>{made, x, made}), -1})->result();
  EXPECT_EQ(lower({call("aten.cos.default", {joined})->result()}, hopper).size(), 1u);
  expectSame(1e-6);
}

// Beside its part a lane has no number to divide by.
TEST_F(DividedOperators, whatMayFailIsNotComputedBesideItsPart) {
  Value *x = input("x", DataType::Int64, {4, 3}), *y = input("y", DataType::Int64, {4, 2});
  for (size_t i : {0, 1})
    Tensor::forEachIndex(values(i).shape, [&](std::span<const int64_t> index) {
      values(i).set(index, static_cast<double>(index[1] + 1));
    });
  Value *quotient = call("aten.floor_divide.default", {x, x})->result();
  Value *joined =
      call("aten.cat.default", {Argument::list(std::vector<Value *>{quotient, y}), 1})->result();
  lower({call("aten.add.Tensor", {joined, 1})->result()}, hopper);
  expectSame(0);
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
