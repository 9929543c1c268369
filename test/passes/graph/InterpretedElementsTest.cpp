// SPDX-License-Identifier: Apache-2.0
// Several pointwise results of one kernel, and softmaxes inside of row kernels.
#include "InterpretedOperators.h"

namespace pellucid::passes {
namespace {

class SharedElements : public InterpretedOperators {
protected:
  size_t launches(const std::function<std::vector<Value *>()> &build) {
    program = Program();
    inputs.clear();
    return lower(build(), hopper).size();
  }
  /// An optimiser's step: three results, of which one is made of the other two.
  std::vector<Value *> step(const Shape &shape) {
    Value *p = tensor(f32, shape, 1), *g = tensor(f32, shape, 1), *m = tensor(f32, shape, 1),
          *v = tensor(f32, shape, 1);
    Value *mean = one("aten.add.Tensor", {one("aten.mul.Scalar", {m, 0.5}), g});
    Value *square = one("aten.add.Tensor", {v, one("aten.mul.Tensor", {g, g})});
    Value *size = one("aten.add.Scalar", {one("aten.abs.default", {square}), 1.0});
    return {one("aten.sub.Tensor", {p, one("aten.div.Tensor", {mean, size})}), mean, square};
  }
};

TEST_F(SharedElements, resultsThatReadEachOtherAreOneLaunch) {
  for (const Shape &shape :
       std::vector<Shape>{{7}, {3, 5}, {2, 1300}, {1, 1}, {0, 4}, {70, 33}, {5000}})
    onDevice(1e-6, [&] { return step(shape); });
  EXPECT_EQ(launches([&] { return step({70, 33}); }), 1u);
}

TEST_F(SharedElements, resultsOfTheSameTensorsAreOneLaunch) {
  auto both = [&](const Shape &shape, DataType narrow) {
    Value *x = tensor(f32, shape, 2), *y = turned(f32, shape);
    return std::vector{one("aten.maximum.default", {x, y}), one("aten.gt.Tensor", {x, y}),
                       one("aten._to_copy.default", {one("aten.add.Tensor", {x, y})},
                           {{"dtype", Argument(narrow)}})};
  };
  for (const Shape &shape : std::vector<Shape>{{3, 5}, {1, 1300}, {40, 33}, {0, 4}, {300, 7}})
    for (DataType narrow : {f16, i8, f64})
      onDevice(0, [&] { return both(shape, narrow); });
  EXPECT_EQ(launches([&] { return both({40, 33}, f16); }), 1u);
  // Nothing is read by both: each has its own launch.
  EXPECT_EQ(launches([&] {
              return std::vector{one("aten.neg.default", {tensor(f32, {40, 33})}),
                                 one("aten.neg.default", {tensor(f32, {40, 33})})};
            }),
            2u);
}

/// A reader between two results is launched between them.
TEST_F(SharedElements, whatLiesBetweenResultsKeepsThemApart) {
  auto between = [&] {
    Value *x = tensor(f32, {40, 33}, 1);
    Value *e = one("aten.add.Scalar", {one("aten.abs.default", {x}), 1.0});
    Value *sum = one("aten.cumsum.default", {e, int64_t(1)});
    return std::vector{one("aten.div.Tensor", {e, sum}), e};
  };
  onDevice(1e-5, between);
  onDevice(1e-5, [&] { // what follows a product stays with the product
    Value *x = tensor(f32, {17, 20}, 1), *y = tensor(f32, {20, 19}, 1), *z = tensor(f32, {17, 19});
    Value *h = one("aten.relu.default", {one("aten.mm.default", {x, y})});
    return std::vector{h, one("aten.add.Tensor", {h, z}), one("aten.mul.Scalar", {z, 2.0})};
  });
  onDevice(1e-5, [&] { // a row kernel takes its producer along, and does not leave it to others
    Value *x = tensor(f32, {70, 33}, 1);
    Value *soft = one("aten.softmax.int", {one("aten.mul.Scalar", {x, 0.5}), int64_t(-1)});
    return std::vector{soft, one("aten.neg.default", {x})};
  });
  EXPECT_EQ(launches([&] {
              Value *x = tensor(f32, {70, 33}, 1);
              return std::vector{
                  one("aten.softmax.int", {one("aten.mul.Scalar", {x, 0.5}), int64_t(-1)}),
                  one("aten.neg.default", {x})};
            }),
            2u);
}

/// Each softmax of a tensor has the other's maximum and sum.
TEST_F(SharedElements, softmaxesArePartsOfRowKernels) {
  auto entropy = [&](const Shape &shape, DataType type, double special) {
    Value *x = tensor(type, shape, 2);
    if (special != 0)
      values(0).set(Shape{shape[0] - 1, shape[1] / 2}, special);
    Value *p = one("aten.softmax.int", {x, int64_t(-1)});
    Value *q = one("aten.log_softmax.int", {x, int64_t(-1)});
    return std::vector{one("aten.sum.dim_IntList", {one("aten.mul.Tensor", {p, q}), List{-1}})};
  };
  for (const Shape &shape : std::vector<Shape>{{64, 7}, {65, 33}, {64, 1300}, {1000, 2}, {3, 9}})
    for (double special : {0.0, nan, HUGE_VAL})
      onDevice(1e-5, [&] { return entropy(shape, f32, special); });
  onDevice(2e-2, [&] { return entropy({70, 40}, bf16, 0); });
  onDevice(1e-12, [&] { return entropy({70, 40}, f64, 0); });
  onDevice(1e-5, [&] { // a divergence: of two tensors, one of them computed
    Value *x = one("aten.mul.Scalar", {tensor(f32, {70, 40}, 1), 3.0}), *y = tensor(f32, {70, 40});
    Value *p = one("aten.softmax.int", {x, int64_t(-1)});
    Value *difference = one("aten.sub.Tensor", {one("aten.log_softmax.int", {x, int64_t(-1)}),
                                                one("aten.log_softmax.int", {y, int64_t(-1)})});
    return std::vector{
        one("aten.sum.dim_IntList", {one("aten.mul.Tensor", {p, difference}), List{-1}})};
  });
  EXPECT_EQ(launches([&] { return entropy({64, 1300}, f32, 0); }), 1u);
}

/// The mean that a variance is taken from is there for others, too.
TEST_F(SharedElements, meansComeWithTheirVariance) {
  auto moments = [&](const Shape &shape, int64_t dim, bool keeps) {
    Value *x = tensor(f32, shape, 2);
    Value *mean = one("aten.mean.dim", {x, List{dim}, keeps});
    Value *away = one("aten.sub.Tensor", {x, one("aten.mean.dim", {x, List{dim}, true})});
    Value *sum =
        one("aten.sum.dim_IntList", {one("aten.mul.Tensor", {away, away}), List{dim}, keeps});
    return std::vector{mean, one("aten.div.Scalar", {sum, 3.0})};
  };
  for (const Shape &shape :
       std::vector<Shape>{{3, 7}, {2, 1300}, {70, 33}, {20000, 3}, {1, 70000}, {5, 1}})
    for (int64_t dim : {0, 1})
      for (bool keeps : {false, true})
        onDevice(2e-5, [&] { return moments(shape, dim, keeps); });
  EXPECT_EQ(launches([&] { return moments({2000, 40}, 0, false); }), 2u);
  EXPECT_EQ(launches([&] { return moments({40, 5000}, 1, true); }), 1u);
}

/// The largest value and its place are of one launch, where both are of the same elements.
TEST_F(SharedElements, extremesComeWithTheirPlaces) {
  auto both = [&](const char *value, const char *place, const Shape &shape, int64_t dim) {
    Value *x = tensor(f32, shape, 2);
    return std::vector{one(value, {x, List{dim}, false}), one(place, {x, dim, false})};
  };
  for (const Shape &shape : std::vector<Shape>{{3, 7}, {2, 1300}, {70, 33}, {1, 1}})
    for (int64_t dim : {0, 1}) {
      onDevice(0, [&] { return both("aten.amax.default", "aten.argmax.default", shape, dim); });
      onDevice(0, [&] { return both("aten.amin.default", "aten.argmin.default", shape, dim); });
      // Of two tensors each has its own, and so have different extremes of one.
      onDevice(0, [&] { return both("aten.amin.default", "aten.argmax.default", shape, dim); });
    }
  auto count = [&](const char *value, const char *place) {
    return launches([&] { return both(value, place, {40, 33}, 1); });
  };
  EXPECT_EQ(count("aten.amax.default", "aten.argmax.default"), 1u);
  EXPECT_EQ(count("aten.amin.default", "aten.argmin.default"), 1u);
}

/// contiguous() of what is contiguous moves nothing; of anything else it does.
TEST_F(SharedElements, whatIsContiguousIsNotCopied) {
  auto sums = [&](bool turns) {
    Value *x = turns ? turned(f32, {40, 33}) : tensor(f32, {40, 33});
    Value *laid = one("aten.contiguous.default", {x});
    return std::vector{one("aten.cumsum.default", {laid, int64_t(1)})};
  };
  for (bool turns : {false, true})
    onDevice(1e-5, [&] { return sums(turns); });
  EXPECT_EQ(launches([&] { return sums(false); }), 1u);
  onDevice(0, [&] { return std::vector{one("aten.contiguous.default", {turned(f32, {17, 9})})}; });
}

} // namespace
} // namespace pellucid::passes
