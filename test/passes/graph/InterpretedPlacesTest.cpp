// SPDX-License-Identifier: Apache-2.0
// Elements at places that the kernel computes itself, and the places of running extremes.
#include "InterpretedOperators.h"

namespace pellucid::passes {
namespace {

/// Integers from 0 up to and without `size`, by arithmetic that a kernel takes along.
class ComputedPlaces : public InterpretedOperators {
protected:
  Value *places(Shape shape, int64_t size) {
    Value *some = one("aten.mul.Scalar", {tensor(i64, std::move(shape), size), 5});
    return one("aten.remainder.Scalar", {some, size});
  }
  size_t launches(const std::vector<Value *> &results) { return lower(results, hopper).size(); }
  void begin() {
    program = Program();
    inputs.clear();
  }
};

TEST_F(ComputedPlaces, gathersTakePartInKernels) {
  for (const Shape &shape : std::vector<Shape>{{7, 5}, {3, 300}, {1, 1}, {2, 1300}, {0, 4}})
    for (int64_t dim : {0, 1}) {
      Shape table = shape;
      table[static_cast<size_t>(dim)] = 11;
      onDevice(1e-6, [&] {
        Value *taken = one("aten.gather.default", {tensor(f32, table), dim, places(shape, 11)});
        Value *scaled = one("aten.mul.Tensor", {taken, tensor(f32, shape)});
        return std::vector{one("aten.relu.default", {scaled})};
      });
      onDevice(0, [&] { // an index from memory, two readers of one element
        Value *taken =
            one("aten.gather.default", {turned(f16, table), dim, tensor(i64, shape, 11)});
        return std::vector{one("aten.maximum.default", {one("aten.neg.default", {taken}), taken})};
      });
    }
  begin();
  Value *taken = one("aten.gather.default", {tensor(f32, {3, 11}), 1, places({3, 300}, 11)});
  EXPECT_EQ(launches({one("aten.neg.default", {taken})}), 1u);
}

/// An index of few elements is repeated by an expand, and computed for each of them.
TEST_F(ComputedPlaces, repeatedIndicesAreComputed) {
  auto sampled = [&](int64_t channels, int64_t count) {
    Value *at = places({2, 1, count}, 9),
          *share = one("aten.sigmoid.default", {tensor(f32, {2, 1, count})});
    Value *next = one("aten.remainder.Scalar", {one("aten.add.Scalar", {at, 1}), 9});
    Value *x = tensor(f32, {2, channels, 9});
    auto takenAt = [&](Value *index) {
      Value *wide = one("aten.expand.default", {index, List{2, channels, count}});
      return one("aten.gather.default", {x, -1, wide});
    };
    Value *low = one("aten.mul.Tensor", {takenAt(at), share});
    Value *high = one("aten.mul.Tensor", {takenAt(next), one("aten.rsub.Scalar", {share, 1.0})});
    return one("aten.add.Tensor", {low, high});
  };
  for (auto [channels, count] : {std::pair<int64_t, int64_t>{3, 7}, {1, 1}, {2, 1100}, {70, 3}})
    onDevice(4e-6, [&] { return std::vector{sampled(channels, count)}; });
  begin();
  EXPECT_EQ(launches({sampled(3, 40)}), 1u);
  // What somebody else reads of the index is in memory.
  begin();
  Value *at = places({2, 1, 40}, 9);
  Value *taken = one("aten.gather.default", {tensor(f32, {2, 3, 9}), -1,
                                             one("aten.expand.default", {at, List{2, 3, 40}})});
  EXPECT_EQ(launches({one("aten.neg.default", {taken}), at}), 2u);
}

TEST_F(ComputedPlaces, rowsAndElementsOfTables) {
  onDevice(1e-6, [&] {
    Value *table = tensor(f16, {13, 40}), *rows = tensor(i64, {4, 3}, 13);
    Value *taken = one("aten.embedding.default", {table, rows});
    return std::vector{one("aten.mul.Tensor", {taken, tensor(f16, {4, 3, 40}, 1)})};
  });
  for (bool fromBehind : {false, true})
    onDevice(0, [&] {
      Value *x = tensor(f32, {7, 9, 5}), *rows = tensor(i64, {4, 3}, 7),
            *columns = tensor(i64, {3}, 9);
      if (fromBehind)
        rows = one("aten.sub.Scalar", {rows, 7});
      auto negated = [&](std::vector<Argument> args) {
        return one("aten.neg.default", {one("aten.index.Tensor", std::move(args))});
      };
      return std::vector{negated({x, List{rows}}), negated({x, List{rows, columns}}),
                         negated({x, List{Argument(), columns}}),
                         negated({x, List{rows, Argument(), tensor(i64, {3}, 5)}})};
    });
  // Of a table that is computed the elements lie in memory first.
  onDevice(0, [&] {
    Value *table = one("aten.neg.default", {tensor(f32, {5, 6})});
    Value *taken = one("aten.gather.default", {table, 1, places({5, 20}, 6)});
    return std::vector{one("aten.add.Tensor", {taken, taken})};
  });
  // What says the places is a table of places.
  onDevice(0, [&] {
    Value *first = one("aten.gather.default", {tensor(i64, {4, 8}, 6), 1, places({4, 9}, 8)});
    Value *taken = one("aten.gather.default", {tensor(f32, {4, 6}), 1, first});
    return std::vector{one("aten.abs.default", {taken})};
  });
}

/// Reductions of the same elements share their reading, whatever each makes of them first.
TEST_F(ComputedPlaces, reductionsShareTheirReading) {
  auto extremes = [&](Value *x, Argument dims) {
    return std::vector{one("aten.amin.default", {x, dims}), one("aten.amax.default", {x, dims})};
  };
  for (const Shape &shape :
       std::vector<Shape>{{3, 7}, {2, 1300}, {70, 33}, {20000, 3}, {1, 70000}, {5, 1}})
    for (int64_t dim = 0; dim < 2; ++dim)
      for (double special : {0.0, nan, -HUGE_VAL})
        onDevice(0, [&] {
          Value *x = tensor(f32, shape, 3);
          values(0).set(Shape{shape[0] - 1, shape[1] / 2}, special);
          return extremes(x, List{dim});
        });
  onDevice(2e-5, [&] { // sums of other functions of two tensors, one of them of bool
    Value *x = tensor(f32, {40, 50}, 1), *y = tensor(f16, {40, 50}, 1);
    Value *both = one("aten.mul.Tensor", {x, y}), *larger = one("aten.gt.Tensor", {x, y});
    return std::vector{
        one("aten.sum.dim_IntList", {both, List{1}}), one("aten.sum.dim_IntList", {x, List{1}}),
        one("aten.mean.dim", {y, List{1}}), one("aten.any.dim", {larger, int64_t(1)})};
  });
  onDevice(2e-5, [&] { // the mean is needed before what is summed of it
    Value *x = tensor(f32, {40, 50}, 1), *mean = one("aten.mean.dim", {x, List{1}, true});
    Value *away = one("aten.abs.default", {one("aten.sub.Tensor", {x, mean})});
    return std::vector{mean, one("aten.amax.default", {away, List{1}}),
                       one("aten.sum.dim_IntList", {x, List{1}})};
  });
  onDevice(2e-5, [&] { // products beside sums, integers, a computed tensor that both read
    Value *x = one("aten.relu.default", {tensor(f32, {3, 9000}, 1)});
    Value *k = tensor(i32, {9, 40}, 5);
    return std::vector{
        one("aten.sum.dim_IntList", {x, List{1}}), one("aten.amax.default", {x, List{1}}),
        one("aten.prod.dim_int", {k, int64_t(0)}), one("aten.sum.dim_IntList", {k, List{0}})};
  });
  begin();
  EXPECT_EQ(launches(extremes(tensor(f32, {64, 5000}), List{1})), 1u);
  begin();
  EXPECT_EQ(launches(extremes(tensor(f32, {1 << 20}), List{0})), 2u);
}

TEST_F(ComputedPlaces, runningExtremes) {
  for (const Shape &shape : std::vector<Shape>{
           {3, 7}, {2, 5000}, {1, 9000}, {9000, 2}, {3, 70, 5}, {0, 3}, {4, 1}, {40, 33}})
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      for (const char *target : {"aten.cummax.default", "aten.cummin.default"}) {
        onBoth(0, [&] {
          Value *x = tensor(f32, shape, 3); // many are equal: the last of them is wanted
          if (shape.back() > 4 && shape[0] > 1 && shape.size() == 2) {
            values(0).set(Shape{1, 3}, nan);
            values(0).set(Shape{0, 2}, HUGE_VAL);
            values(0).set(Shape{0, shape.back() - 2}, -HUGE_VAL);
          }
          return two(call(target, {x, dim}));
        });
        if (shape[0] > 100)
          continue;
        onBoth(0, [&] { return std::vector{call(target, {tensor(f32, shape), dim})->result(0)}; });
      }
  for (DataType type : {f16, bf16, f64, i64, i32, i8, boolean})
    onBoth(0, [&] {
      Value *x = tensor(type, {5, 70}, type == boolean ? 2 : 100);
      return std::vector{call("aten.cummax.default", {x, 1})->result(0),
                         call("aten.cummin.default", {x, 0})->result(1),
                         call("aten.cummin.default", {turned(type, {6, 9}), 1})->result(1)};
    });
  onBoth(0, [&] { return two(call("aten.cummax.default", {tensor(f32, {}), 0})); });
  begin();
  EXPECT_EQ(launches(two(call("aten.cummax.default", {tensor(f32, {100, 5000}), 1}))), 1u);
}

} // namespace
} // namespace pellucid::passes
