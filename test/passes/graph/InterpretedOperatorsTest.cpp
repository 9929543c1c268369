// SPDX-License-Identifier: Apache-2.0
// Rows, reductions, scans, orders, gathers and elements as kernels.
#include "InterpretedOperators.h"

namespace pellucid::passes {
namespace {

TEST_F(InterpretedOperators, rowsOfAllLengths) {
  for (const Shape &shape : std::vector<Shape>{{5, 1}, {3, 7}, {4, 130}, {2, 1300}, {2, 3, 5000}})
    for (DataType type : {f32, f16}) {
      onBoth(boundOf(type) * 2, [&] {
        Value *x = tensor(type, shape);
        return std::vector{one("aten.softmax.int", {x, -1}), one("aten.log_softmax.int", {x, -1})};
      });
      onBoth(type == f16 ? 8e-3 : 2e-5, [&] {
        Value *x = tensor(type, shape), *w = tensor(type, {shape.back()}),
              *b = tensor(type, {shape.back()});
        return std::vector{
            one("aten.layer_norm.default", {x, List{shape.back()}, w, b, 0.01}),
            one("aten.rms_norm.default", {x, List{shape.back()}, w, 0.01}),
            one("aten.layer_norm.default", {x, List{shape.back()}, Argument(), Argument(), 0.01})};
      });
    }
}

/// Too long to be held, of any number of elements: vectors begin in front of a row.
TEST_F(InterpretedOperators, longRowsBeginAnywhere) {
  for (DataType type : {f32, bf16})
    for (int64_t length : {32771, 33000})
      onDevice(boundOf(type) * 2, [&] {
        Value *x = tensor(type, {3, length}, 2);
        values(0).set(Shape{1, 0}, -HUGE_VAL);
        values(0).set(Shape{2, length - 1}, 3);
        return std::vector{one("aten.softmax.int", {x, -1}), one("aten.log_softmax.int", {x, -1})};
      });
  for (int64_t length : {8193, 9003})
    onDevice(2e-5, [&] {
      Value *x = tensor(f32, {5, length}, 2), *y = tensor(f32, {5, length}, 2);
      Value *sum = one("aten.add.Tensor", {x, y});
      return std::vector{one("aten.logsumexp.default", {x, List{1}}),
                         one("aten.var.correction", {sum, List{1}})};
    });
}

/// Entropies of long rows, and rows by their norms, are read once; of several tensors that a
/// program could not hold, not.
TEST_F(InterpretedOperators, longRowsAreHeld) {
  auto launchesOf = [&](int64_t length, size_t tensors) {
    sources.clear();
    onDevice(2e-5, [&] {
      Value *x = tensor(f32, {130, length}, 2), *sum = x;
      for (size_t i = 1; i < tensors; ++i)
        sum = one("aten.mul.Tensor", {sum, tensor(f32, {130, length}, 2)});
      Value *total = one("aten.sum.dim_IntList", {sum, List{1}, true});
      return std::vector{one("aten.div.Tensor", {sum, one("aten.add.Scalar", {total, 9000.0})})};
    });
    size_t kernels = 0;
    for (size_t at = 0; (at = sources.find("@triton.jit", at)) != std::string::npos; ++at)
      ++kernels;
    return kernels;
  };
  EXPECT_EQ(launchesOf(8195, 1), 1u);
  EXPECT_EQ(launchesOf(9000, 2), 1u);
  EXPECT_GT(launchesOf(9000, 3), 1u);
}

/// Columns and rows that take several rounds, or more threads.
TEST_F(InterpretedOperators, longColumns) {
  for (const Shape &shape : std::vector<Shape>{{600, 40}, {257, 33}, {1030, 5}})
    onDevice(4e-6, [&] {
      Value *x = tensor(f32, shape, 2);
      return std::vector{one("aten.softmax.int", {x, 0}), one("aten.log_softmax.int", {x, 0})};
    });
  onDevice(1e-4, [&] { // sums of 16389 terms
    Value *x = tensor(f32, {2, 16389}, 2), *w = tensor(f32, {16389});
    return std::vector{one("aten.layer_norm.default", {x, List{16389}, w, w, 0.01})};
  });
}

/// A program holds the row and looks for the place once: the first of equal ones, the first NaN.
TEST_F(InterpretedOperators, placesInRowsThatAreHeld) {
  for (int64_t length : {1025, 4096})
    for (DataType type : {f32, bf16, i64, i8})
      for (double special : {nan, HUGE_VAL, -HUGE_VAL}) {
        if (!isFloat(type) && !std::isnan(special))
          continue;
        onDevice(0, [&] {
          Value *x = tensor(type, {3, length}, 3);
          if (isFloat(type))
            for (int64_t at : {length - 1, length / 2})
              values(0).set(Shape{1, at}, special);
          if (isFloat(type) && special < 0)
            for (int64_t at = 0; at < length; ++at)
              values(0).set(Shape{2, at}, special);
          std::vector<Value *> results{one("aten.argmin.default", {x, 1})};
          for (const char *target : {"aten.max.dim", "aten.min.dim"})
            for (Value *result : two(call(target, {x, 1})))
              results.push_back(result);
          return results;
        });
      }
}

/// One number for each channel is computed in the launch that is scaled by it.
TEST_F(InterpretedOperators, parametersOfChannels) {
  Argument single(f32);
  auto scaled = [&](bool isReadElsewhere) {
    Value *x = tensor(f32, {2, 3, 32, 33}), *mean = tensor(f16, {3}), *var = tensor(f16, {3}, 1);
    Value *wide = one("aten.to.dtype", {var, single});
    Value *scale = one("aten.rsqrt.default", {one("aten.add.Scalar", {wide, 2.5})});
    Value *shift = one("aten.mul.Tensor", {one("aten.to.dtype", {mean, single}), scale});
    auto ofChannels = [&](Value *value) {
      return one("aten.view.default", {value, List{1, 3, 1, 1}});
    };
    Value *y =
        one("aten.add.Tensor", {one("aten.mul.Tensor", {x, ofChannels(scale)}), ofChannels(shift)});
    return isReadElsewhere ? std::vector{y, scale} : std::vector{y};
  };
  for (bool moves : {false, true}) {
    withPasses =
        moves; // views of what is seen through them alone move, but not those of parameters
    for (bool isReadElsewhere : {false, true})
      onDevice(4e-6, [&] { return scaled(isReadElsewhere); });
    program = Program();
    inputs.clear();
    EXPECT_EQ(lower(scaled(false), hopper).size(), 1u);
  }
}

TEST_F(InterpretedOperators, rowsOfAllStrides) {
  for (int64_t dim : {0, 1, 2})
    onBoth(4e-6,
           [&] { return std::vector{one("aten.softmax.int", {tensor(f32, {9, 11, 6}), dim})}; });
  onBoth(4e-6, [&] {
    return std::vector{one("aten.softmax.int", {turned(f32, {9, 70}), -1}),
                       one("aten.softmax.int", {sliced(f32, {9, 70}), -1}),
                       one("aten.log_softmax.int", {turned(f32, {9, 70}), 0})};
  });
  onBoth(2e-5, [&] {
    Value *x = tensor(f32, {5, 6, 7}), *w = tensor(f32, {6, 7});
    return std::vector{one("aten.layer_norm.default", {x, List{6, 7}, w, w, 0.01})};
  });
}

TEST_F(InterpretedOperators, reductionsOfAllKinds) {
  const char *const ofDims[] = {"aten.sum.dim_IntList", "aten.mean.dim",
                                "aten.amax.default",    "aten.amin.default",
                                "aten.var.correction",  "aten.std.correction"};
  const char *const ofOne[] = {"aten.argmax.default", "aten.argmin.default", "aten.prod.dim_int",
                               "aten.any.dim", "aten.all.dim"};
  for (const Shape &shape : std::vector<Shape>{{3, 5, 7}, {2, 1, 300}, {300, 2, 3}, {6, 130, 9}})
    for (int64_t dim : {0, 1, 2})
      onBoth(2e-5, [&] {
        Value *x = tensor(f32, shape, 1);
        std::vector<Value *> results;
        for (const char *target : ofDims)
          results.push_back(one(target, {x, List{dim}}));
        for (const char *target : ofOne)
          results.push_back(one(target, {x, dim}));
        return results;
      });
  for (const List &dims : std::vector<List>{{0, 1}, {0, 2}, {1, 2}, {0, 1, 2}})
    onBoth(2e-5, [&] {
      Value *x = tensor(f32, {6, 5, 40}, 1), *y = turned(f32, {6, 5, 40});
      return std::vector{one("aten.sum.dim_IntList", {x, dims, true}),
                         one("aten.amax.default", {y, dims}), one("aten.mean.dim", {y, dims}),
                         one("aten.var.correction", {x, dims})};
    });
}

TEST_F(InterpretedOperators, reductionsOfAllTypes) {
  for (DataType type : {f64, f16, bf16, i64, i8})
    onBoth(isFloat(type) ? boundOf(type) : 0, [&] {
      Value *x = tensor(type, {9, 70});
      return std::vector{one("aten.sum.dim_IntList", {x, List{1}}),
                         one("aten.amax.default", {x, List{0}}), one("aten.argmin.default", {x, 1}),
                         one("aten.any.dim", {x, 1})};
    });
  // The first of equal ones, the first NaN, and -inf among them.
  for (double special : {nan, HUGE_VAL, -HUGE_VAL})
    onBoth(0, [&] {
      Value *x = tensor(f32, {70, 9}, 1);
      for (int64_t at : {3, 40})
        values(0).set(Shape{at, 4}, special);
      std::vector<Value *> results;
      for (int64_t dim : {0, 1}) {
        for (const char *target : {"aten.argmax.default", "aten.argmin.default"})
          results.push_back(one(target, {x, dim}));
        for (const char *target : {"aten.amax.default", "aten.amin.default"})
          results.push_back(one(target, {x, List{dim}}));
      }
      for (const char *target : {"aten.max.dim", "aten.min.dim"})
        for (Value *result : two(call(target, {x, 0})))
          results.push_back(result);
      return results;
    });
}

TEST_F(InterpretedOperators, runningSums) {
  for (const Shape &shape : std::vector<Shape>{{3, 7}, {2, 1100}, {1, 9000}, {9000, 2}, {3, 70, 5}})
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      onBoth(1e-5, [&] {
        return std::vector{one("aten.cumsum.default", {tensor(f32, shape, 1), dim}),
                           one("aten.cumsum.default", {tensor(i32, shape), dim})};
      });
  onBoth(1e-5, [&] {
    Value *x =
        one("aten.add.Scalar", {one("aten.mul.Scalar", {tensor(f32, {4, 40}, 1), 0.01}), 1.0});
    return std::vector{one("aten.cumprod.default", {x, 1}), one("aten.cumprod.default", {x, 0}),
                       one("aten.cumsum.default", {turned(f32, {9, 70}), 1}),
                       one("aten.cumsum.default", {sliced(f32, {9, 70}), 1})};
  });
}

TEST_F(InterpretedOperators, ordersOfAllLengths) {
  for (int64_t length : {1, 2, 5, 33, 129, 300, 700})
    for (bool descending : {false, true})
      for (DataType type : {f32, i64, i8}) {
        if (length > 200 && type == i64 && descending)
          continue;
        onBoth(0, [&] {
          Value *x = tensor(type, {2, length}, 3);
          if (type == f32 && length > 4) {
            values(0).set(Shape{1, 2}, nan);
            values(0).set(Shape{1, length - 1}, -HUGE_VAL);
          }
          return two(call("aten.sort.stable", {x},
                          {{"stable", Argument(true)}, {"descending", Argument(descending)}}));
        });
        onBoth(0, [&] {
          Value *x = tensor(type, {2, length}, 3);
          return two(call("aten.topk.default", {x, std::min<int64_t>(length, 4), -1, descending}));
        });
      }
  onBoth(0, [&] {
    return two(call("aten.sort.stable", {tensor(f32, {40, 3})},
                    {{"stable", Argument(true)}, {"dim", Argument(int64_t(0))}}));
  });
}

// Lines that a program holds are sorted in one launch.
TEST_F(InterpretedOperators, shortLinesTakeOneLaunch) {
  auto launches = [&](int64_t length) {
    program = Program();
    inputs.clear();
    Node *sorted =
        call("aten.sort.stable", {tensor(f32, {2, length})}, {{"stable", Argument(true)}});
    return lower(two(sorted), hopper).size();
  };
  EXPECT_EQ(launches(5), 1u);
  EXPECT_EQ(launches(256), 1u);
  EXPECT_EQ(launches(8192), 1u);
  EXPECT_GT(launches(8193), 1u);
}

TEST_F(InterpretedOperators, gathersOfAllKinds) {
  onBoth(0, [&] {
    Value *x = tensor(f32, {7, 9, 5}), *rows = tensor(i64, {4, 3}, 7),
          *columns = tensor(i64, {3}, 9);
    Value *below = one("aten.sub.Scalar", {rows, 7});
    return std::vector{one("aten.index.Tensor", {x, List{rows}}),
                       one("aten.index.Tensor", {x, List{below}}),
                       one("aten.index.Tensor", {x, List{rows, columns}}),
                       one("aten.index.Tensor", {x, List{Argument(), columns}}),
                       one("aten.index.Tensor", {x, List{rows, Argument(), tensor(i64, {3}, 5)}}),
                       one("aten.index_select.default", {x, 1, columns}),
                       one("aten.embedding.default", {tensor(f32, {7, 70}), rows})};
  });
  for (int64_t dim : {0, 1})
    onBoth(0, [&] {
      return std::vector{
          one("aten.gather.default", {turned(f32, {7, 7}), dim, tensor(i64, {5, 6}, 7)})};
    });
}

// Rows that are taken: several of a program, and parts of one.
TEST_F(InterpretedOperators, rowsThatAreTaken) {
  for (DataType type : {f32, f16})
    for (int64_t width : {1, 5, 64, 129, 1000, 1025, 5000})
      for (int64_t count : {int64_t(1), int64_t(3), 2100 / width + 2})
        onDevice(0, [&] {
          Value *rows = tensor(i64, {count}, 9), *pairs = tensor(i64, {count, 2}, 9);
          return std::vector{
              one("aten.embedding.default", {tensor(type, {9, width}), rows}),
              one("aten.embedding.default", {tensor(type, {9, width}), pairs}),
              one("aten.index_select.default", {sliced(type, {9, width}), int64_t(0), rows})};
        });
}

TEST_F(InterpretedOperators, scattersOfAllKinds) {
  deterministic = true; // indices are equal here and there
  for (int64_t dim : {0, 1}) {
    onBoth(2e-6, [&] {
      Value *x = tensor(f32, {9, 9}), *at = tensor(i64, {4, 5}, 9), *from = tensor(f32, {4, 5});
      return std::vector{one("aten.scatter_add.default", {x, dim, at, from}),
                         one("aten.scatter.value", {x, dim, at, 2.5})};
    });
    onBoth(2e-6, [&] {
      Value *x = tensor(f32, {9, 9}), *at = tensor(i64, {4}, 9);
      Value *from = tensor(f32, dim ? Shape{9, 4} : Shape{4, 9});
      return std::vector{
          one("aten.index_add.default", {x, dim, at, from}, {{"alpha", Argument(2.0)}}),
          one("aten.index_fill.int_Scalar", {x, dim, at, 1.5}),
          one("aten.index_copy.default", {x, dim, at, from})};
    });
  }
  for (bool accumulate : {false, true})
    for (DataType type : {f32, f16, i32})
      onBoth(type == f16 ? 1e-2 : 2e-6, [&] {
        Value *x = tensor(type, {7, 9}), *rows = tensor(i64, {60}, 7),
              *columns = tensor(i64, {60}, 9);
        return std::vector{
            one("aten.index_put.default", {x, List{rows, columns}, tensor(type, {60}), accumulate}),
            one("aten.index_put.default",
                {x, List{Argument(), columns}, tensor(type, {7, 60}), accumulate}),
            one("aten.index_put.default", {x, List{rows}, tensor(type, {1}), accumulate})};
      });
}

// Where entries lie one after another and rows apart, a CPU goes along each row.
TEST_F(InterpretedOperators, scattersAlongRows) {
  deterministic = true;
  for (std::string_view target : {"aten.scatter.src", "aten.scatter_add.default"})
    for (DataType type : {f32, bf16, i32})
      onBoth(boundOf(type), [&] {
        Value *x = tensor(type, {3, 2, 9}), *at = tensor(i64, {2, 2, 40}, 9);
        return std::vector{one(target, {x, -1, at, tensor(type, {3, 2, 50})})};
      });
  inputs.clear(), program = Program();
  Value *x = tensor(f32, {64, 9}), *at = tensor(i64, {64, 9}, 9);
  std::vector<int64_t> grids =
      lower({one("aten.scatter.src", {x, 1, at, tensor(f32, {64, 9})})}, cpu);
  EXPECT_EQ(grids.back(), 64);
}

// Few of a line are taken one after the other, each the largest below the one before.
TEST_F(InterpretedOperators, fewOfALineAreTakenByRounds) {
  for (DataType type : {f32, bf16, i8, i32})
    for (bool largest : {false, true})
      for (int64_t length : {2, 8, 33, 300})
        onBoth(0, [&] {
          Value *x = tensor(type, {5, length}, 3);
          if (isFloat(type))
            for (int64_t row : {0, 2}) {
              values(0).set(Shape{row, 0}, nan);
              values(0).set(Shape{row, length - 1}, nan);
              values(0).set(Shape{row + 1, length / 2}, -0.0);
              values(0).set(Shape{row + 1, 0}, HUGE_VAL);
            }
          return two(call("aten.topk.default", {x, std::min<int64_t>(length / 2, 5), -1, largest}));
        });
  auto launches = [&](int64_t length, int64_t count) {
    inputs.clear(), program = Program();
    return lower(two(call("aten.topk.default", {tensor(f32, {4, length}), count})), cpu).size();
  };
  EXPECT_EQ(launches(128, 8), 1u);
  EXPECT_EQ(launches(2000, 8), 1u);
  EXPECT_GT(launches(2000, 30), 1u);
  EXPECT_GT(launches(20000, 8), 1u);
}

// Borders and turned lines are copies of parts: constant places along few runs.
TEST_F(InterpretedOperators, takesAlongRuns) {
  auto places = [&](const std::vector<int64_t> &numbers) {
    auto kept = std::make_shared<std::vector<int64_t>>(numbers);
    Weight made;
    made.dtype = i64;
    made.shape = {static_cast<int64_t>(numbers.size())};
    made.bytes = numbers.size() * sizeof(int64_t);
    made.data = {kept, reinterpret_cast<const std::byte *>(kept->data())};
    std::string name = "at" + std::to_string(program.inputs.size());
    program.weights[name] = std::move(made);
    program.inputs.push_back({InputSpec::Kind::Buffer, name, {}, true});
    return program.main.placeholder(name, TensorType(i64, {Expr(int64_t(numbers.size()))}));
  };
  auto mirrored = [](int64_t size, int64_t border) {
    std::vector<int64_t> all;
    for (int64_t i = -border; i < size + border; ++i)
      all.push_back(size - 1 - std::abs(size - 1 - std::abs(i)));
    return all;
  };
  auto take = [&](Value *x, int64_t dim, const std::vector<int64_t> &numbers) {
    return one("aten.index_select.default", {x, dim, places(numbers)});
  };
  struct Row {
    size_t launches;
    std::function<Value *()> build;
  } rows[] = {
      {1, [&] { return take(tensor(f32, {5, 40}), 1, {4, 3, 2, 1, 0}); }},
      {1, [&] { return take(tensor(bf16, {50}), 0, {30, 30, 30}); }},
      {1, [&] { return take(turned(f32, {6, 70}), 0, {1, 3, 5}); }},
      {3, [&] { return take(tensor(f32, {40, 30}), 1, mirrored(30, 3)); }},
      {9,
       [&] { return take(take(tensor(i8, {3, 40, 30}), 2, mirrored(30, 3)), 1, mirrored(40, 2)); }},
      // Turned along every dim: the takes go the latest first.
      {1,
       [&] {
         Value *x = take(tensor(f32, {3, 4, 2, 5}), 3, {4, 3, 2, 1, 0});
         return take(take(take(x, 2, {1, 0}), 1, {3, 2, 1, 0}), 0, {2, 1, 0});
       }},
      // The inner take has another reader's order: no run, and what reads it takes by runs.
      {2, [&] { return take(take(tensor(f32, {9, 9}), 1, {0, 5, 2, 8, 1, 7, 3}), 1, {6, 5, 4}); }},
      // Too few elements for so many copies.
      {1, [&] { return take(tensor(f32, {4, 9}), 1, mirrored(9, 3)); }},
  };
  for (const Row &row : rows) {
    inputs.clear(), program = Program();
    EXPECT_EQ(lower({row.build()}, cpu).size(), row.launches);
    expectSame(0);
  }
}

TEST_F(InterpretedOperators, elementsOfAllStrides) {
  onBoth(2e-6, [&] {
    Value *x = tensor(f32, {6, 70}), *column = tensor(f32, {6, 1}), *row = tensor(f32, {70});
    Value *y = turned(f32, {6, 70}), *z = sliced(f32, {6, 70});
    Value *scalar = tensor(f32, {});
    Value *sum = one("aten.add.Tensor",
                     {one("aten.mul.Tensor", {x, column}), one("aten.mul.Tensor", {y, row})});
    return std::vector{one("aten.add.Tensor", {sum, one("aten.mul.Tensor", {z, scalar})}),
                       one("aten.maximum.default", {y, z}),
                       one("aten.where.self", {one("aten.gt.Tensor", {x, row}), y, column})};
  });
  onBoth(0, [&] {
    Value *x = tensor(f32, {70, 45}), *y = tensor(f32, {5, 33, 40});
    auto dense = [&](Value *value) {
      return one("aten.clone.default", {value}, {{"memory_format", Argument("contiguous_format")}});
    };
    return std::vector{dense(one("aten.t.default", {x})),
                       dense(one("aten.permute.default", {y, List{2, 0, 1}})),
                       dense(one("aten.permute.default", {y, List{0, 2, 1}})),
                       dense(one("aten.expand.default", {tensor(f32, {3, 1, 5}), List{3, 4, 5}}))};
  });
  onBoth(0, [&] {
    Value *x = tensor(f32, {3, 5}), *y = tensor(f32, {3, 7}), *z = turned(f32, {3, 5});
    return std::vector{one("aten.cat.default", {List{x, y, z}, 1}),
                       one("aten.stack.default", {List{x, z}, 1}),
                       one("aten.cat.default", {List{x, z}, 0}),
                       one("aten.repeat.default", {x, List{2, 2, 3}}),
                       one("aten.slice_scatter.default", {y, x, 1, 1, 6}),
                       one("aten.select_scatter.default", {x, tensor(f32, {3}), 1, 2})};
  });
}

TEST_F(InterpretedOperators, boundsAndTypesOfElements) {
  onBoth(0, [&] {
    Value *x = tensor(i8, {300}, 100), *y = tensor(i64, {300}, 1000);
    return std::vector{one("aten.clamp.default", {x, -300, 50}),
                       one("aten.clamp.default", {x, 20, 300}),
                       one("aten.clamp_min.default", {x, 100}),
                       one("aten.add.Scalar", {x, 300}),
                       one("aten.to.dtype", {y, i8}),
                       one("aten.to.dtype", {y, boolean}),
                       one("aten.floor_divide.default",
                           {one("aten.sub.Scalar", {y, 500}), one("aten.add.Scalar", {x, 1})}),
                       one("aten.remainder.Scalar", {one("aten.sub.Scalar", {y, 500}), 7}),
                       one("aten.fmod.Scalar", {one("aten.sub.Scalar", {y, 500}), 7})};
  });
  onBoth(2e-6, [&] {
    Value *n = one("aten.arange.start_step", {3, 100, 7}, {{"dtype", Argument(f32)}});
    return std::vector{one("aten.mul.Tensor", {n, one("aten.full_like.default", {n, 2.5})}),
                       one("aten.arange.default", {300}, {{"dtype", Argument(i64)}})};
  });
}

} // namespace
} // namespace pellucid::passes
