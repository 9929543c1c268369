// SPDX-License-Identifier: Apache-2.0
// Several operators as one kernel.
#include "InterpretedOperators.h"

namespace pellucid::passes {
namespace {

using InterpretedFusions = InterpretedOperators;

// A pool as it is traced: the largest of each window along one dim, then along the next, of parts
// where some windows begin before the tensor. Its first half is never in memory.
TEST_F(InterpretedFusions, slicesAreComputedOfSlices) {
  withPasses = true;
  auto list = [](const Shape &numbers) { return List(numbers.begin(), numbers.end()); };
  auto view = [&](Value *x, Shape size, Shape apart, int64_t offset) {
    return one("aten.as_strided.default", {x, list(size), list(apart), offset});
  };
  // Windows of three with a step of two along `dim`, the first of which begins outside.
  auto largest = [&](Value *x, Shape size, size_t dim, int64_t step) {
    Shape apart(size.size(), 1);
    for (size_t d = size.size() - 1; d-- > 0;)
      apart[d] = apart[d + 1] * size[d + 1];
    Shape out = size, part = size, first = size, jump = apart;
    out[dim] = (size[dim] - 1) / step + 1;
    first[dim] = 1;
    jump[dim] *= step;
    part[dim] = out[dim] - 1;
    Value *outside = one("aten.new_full.default", {x, list(first), -1e4});
    Value *before = view(x, part, jump, apart[dim] * (step - 1));
    Value *most = one("aten.cat.default", {List{outside, before}, static_cast<int64_t>(dim)});
    most = one("aten.maximum.default", {most, view(x, out, jump, 0)});
    if (step == 2 && size[dim] % 2 == 0)
      most = one("aten.maximum.default", {most, view(x, out, jump, apart[dim])});
    return std::pair{most, out};
  };
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  for (DataType type : {f16, f32})
    for (const Shape &shape : {Shape{2, 3, 8, 10}, Shape{1, 2, 6, 70}, Shape{2, 1, 4, 6}}) {
      onDevice(0, [&] {
        auto [rows, size] = largest(tensor(type, shape), shape, 2, 2);
        return std::vector<Value *>{largest(rows, size, 3, 2).first};
      });
      EXPECT_EQ(slicesComputed, 1u);
      EXPECT_EQ(launches(), 1u);
    }
  // Joins of joins along one dim.
  onDevice(0, [&] {
    Value *a = tensor(f32, {3, 5}), *b = tensor(f32, {3, 2}), *c = tensor(f32, {3, 4});
    Value *inner = one("aten.cat.default", {List{one("aten.neg.default", {a}), b}, 1});
    inner = one("aten.mul.Tensor", {inner, tensor(f32, {7})});
    return std::vector<Value *>{
        one("aten.abs.default", {one("aten.cat.default", {List{c, inner, b}, 1})})};
  });
  EXPECT_EQ(launches(), 1u);
  // Nearly three times as many elements would be computed.
  onDevice(0, [&] {
    auto [rows, size] = largest(tensor(f32, {2, 3, 8, 9}), {2, 3, 8, 9}, 2, 2);
    Value *whole = view(rows, {2, 3, 4, 9}, {108, 36, 9, 1}, 0);
    return std::vector<Value *>{
        one("aten.maximum.default", {largest(rows, size, 3, 1).first, whole})};
  });
  EXPECT_EQ(slicesComputed, 0u);
  // What a result holds is in memory anyway.
  onDevice(0, [&] {
    auto [rows, size] = largest(tensor(f32, {2, 3, 8, 10}), {2, 3, 8, 10}, 2, 2);
    return std::vector<Value *>{largest(rows, size, 3, 2).first, rows};
  });
  EXPECT_EQ(slicesComputed, 0u);
}

// What is taken along dims is loaded from where it is by the operators behind it; an index that is
// out of range fails as it does alone.
TEST_F(InterpretedFusions, takesAreLoadsOfTheOperatorsBehind) {
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  for (DataType type : {f32, f16})
    for (const auto &shape : {Shape{3, 5, 7}, Shape{2, 4, 300}, Shape{6, 1030, 2}}) {
      auto taken = [&, shape](Value *x, int64_t dim, int64_t count) {
        return one("aten.index_select.default",
                   {x, dim, tensor(i64, {count}, shape[static_cast<size_t>(dim)])});
      };
      // Two neighbours and their shares, along the last dim and along the one before it.
      for (int64_t dim : {2, 1}) {
        onDevice(boundOf(type), [&] {
          Value *x = tensor(type, shape);
          Value *share = dim == 2 ? tensor(type, {9}) : tensor(type, {9, 1});
          Value *low = taken(x, dim, 9), *high = taken(x, dim, 9);
          return std::vector<Value *>{
              one("aten.add.Tensor",
                  {one("aten.mul.Tensor", {low, share}), one("aten.mul.Tensor", {high, share})})};
        });
        EXPECT_EQ(launches(), 1u);
      }
      // Along all dims, one after the other.
      onDevice(0, [&] {
        Value *x = taken(taken(taken(tensor(type, shape), 1, 6), 2, 8), 0, 5);
        return std::vector<Value *>{one("aten.neg.default", {x})};
      });
      EXPECT_EQ(launches(), 1u);
      onDevice(0,
               [&] { return std::vector<Value *>{taken(taken(tensor(type, shape), 1, 6), 2, 8)}; });
      EXPECT_EQ(launches(), 1u);
    }
  // Indices and elements that other operators of the same shape read as well.
  onDevice(boundOf(f32), [&] {
    Value *x = one("aten.abs.default", {tensor(f32, {9})}),
          *at = one("aten.remainder.Scalar", {tensor(i64, {9}, 9), 9});
    Value *some = one("aten.index_select.default", {x, int64_t(0), at});
    return std::vector<Value *>{one("aten.add.Tensor", {one("aten.add.Tensor", {some, x}), at})};
  });
  // Beside other views of the same tensor, and in turned rows.
  onDevice(boundOf(f32), [&] {
    Value *x = tensor(f32, {9, 9});
    Value *some = one("aten.index_select.default", {x, int64_t(0), tensor(i64, {9}, 9)});
    return std::vector<Value *>{
        one("aten.add.Tensor", {some, one("aten.transpose.int", {x, 0, 1})})};
  });
}

// What is seen of a computation through views, and taken of it, is computed of its operands: no
// tensor lies between. What fails, or is read as a whole, too, stays.
TEST_F(InterpretedFusions, viewsMoveInFrontOfWhatComputes) {
  withPasses = true;
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  for (int64_t width : {4, 6, 130})
    for (DataType type : {f16, f32}) {
      // Pairs of neighbours turned, as rotary embeddings are written.
      onDevice(boundOf(type), [&] {
        Value *x = tensor(type, {2, 5, 3, width});
        Value *cos = tensor(f32, {5, 1, width / 2}), *sin = tensor(f32, {5, 1, width / 2});
        Value *pairs =
            one("aten.view.default", {one("aten.to.dtype", {x, f32}), List{2, 5, 3, width / 2, 2}});
        Value *a = one("aten.select.int", {pairs, 4, 0}),
              *b = one("aten.select.int", {pairs, 4, 1});
        auto mul = [&](Value *l, Value *r) { return one("aten.mul.Tensor", {l, r}); };
        Value *first = one("aten.sub.Tensor", {mul(a, cos), mul(b, sin)}),
              *second = one("aten.add.Tensor", {mul(a, sin), mul(b, cos)});
        Value *both = one("aten.cat.default", {List{one("aten.unsqueeze.default", {first, 4}),
                                                    one("aten.unsqueeze.default", {second, 4})},
                                               4});
        return std::vector<Value *>{
            one("aten.to.dtype", {one("aten.view.default", {both, List{2, 5, 3, width}}), type})};
      });
      EXPECT_EQ(launches(), 1u);
      EXPECT_GT(moved, 0u);
      // Neighbours and their shares along both dims, one dim after the other.
      onDevice(4 * boundOf(type), [&] {
        Value *x = one("aten.to.dtype", {tensor(type, {3, 7, width}), f32});
        auto resampled = [&](Value *from, int64_t dim, int64_t size, Value *share) {
          auto part = [&] {
            return one(
                "aten.mul.Tensor",
                {one("aten.index_select.default", {from, dim, tensor(i64, {9}, size)}), share});
          };
          return one("aten.add.Tensor", {part(), part()});
        };
        Value *lines = resampled(x, 2, width, tensor(f32, {9}));
        Value *all = resampled(lines, 1, 7, tensor(f32, {9, 1}));
        return std::vector<Value *>{one("aten.to.dtype", {all, type})};
      });
      EXPECT_EQ(launches(), 1u);
    }
  // Broadcast operands, a dim moved and cut, a scalar.
  onDevice(boundOf(f32), [&] {
    Value *x = tensor(f32, {4, 6, 5}), *row = tensor(f32, {6, 1}), *scale = tensor(f32, {});
    Value *y = one("aten.mul.Tensor", {one("aten.add.Tensor", {x, row}), scale});
    Value *turned = one("aten.transpose.int", {y, 0, 2});
    Value *part = one("aten.slice.Tensor", {turned, 1, 1, 6, 2});
    return std::vector<Value *>{one("aten.neg.default", {part})};
  });
  EXPECT_EQ(launches(), 1u);
  // Read as a whole by another one: it is in memory.
  onDevice(boundOf(f32), [&] {
    Value *y = one("aten.mul.Tensor", {tensor(f32, {4, 6}), 2.0});
    Value *part = one("aten.neg.default", {one("aten.select.int", {y, 0, 1})});
    return std::vector<Value *>{part, one("aten.abs.default", {y})};
  });
  EXPECT_EQ(moved, 0u);
}

// Few rows that are long: parts of them are added up by programs of their own.
TEST_F(InterpretedFusions, normsOfLongRowsAreDivided) {
  withPasses = true;
  for (DataType type : {f32, f16}) {
    onDevice(4 * boundOf(type), [&] {
      Value *x = tensor(type, {3, 5, 8000}), *w = tensor(type, {5, 8000}),
            *b = tensor(type, {5, 8000});
      return std::vector<Value *>{
          one("aten.layer_norm.default", {x, List{5, 8000}, w, b, 1e-5}),
          one("aten.layer_norm.default", {x, List{5, 8000}, Argument(), Argument(), 1e-5})};
    });
    EXPECT_EQ(replaced, 2u);
  }
}

// Group norms with the channels' factors and what follows: one launch, on a CPU where a channel's
// places are as many as a few vectors have; the parts of a row that a channel is are gone through
// one by one there.
TEST_F(InterpretedFusions, groupNormsScaleTheirChannels) {
  struct Case {
    int64_t images, groups, channels, places;
    size_t onCpu;
  };
  for (DataType type : {f32, f16, f64})
    for (auto [images, groups, channels, places, onCpu] :
         {Case{2, 3, 2, 64, 1}, Case{1, 2, 3, 81, 1}, Case{2, 2, 4, 1030, 1},
          Case{1, 1, 5, 1024, 1}, Case{2, 2, 2, 36, 2}})
      for (uint32_t device : {cpu, hopper}) {
        onEach({device}, 8 * boundOf(type), [&, n = images, g = groups, c = channels, p = places] {
          Value *x = tensor(type, {n, g * c, p}), *w = tensor(type, {g * c}),
                *b = tensor(type, {g * c}), *other = tensor(type, {n, g * c, p});
          Value *rows = one("aten.view.default", {x, List{n, g, c * p}});
          Value *norm =
              one("aten.layer_norm.default", {rows, List{c * p}, Argument(), Argument(), 1e-3});
          Value *seen = one("aten.view.default", {norm, List{n, g * c, p}});
          auto ofChannels = [&](Value *line) {
            return one("aten.view.default", {line, List{1, g * c, 1}});
          };
          Value *scaled = one("aten.mul.Tensor", {seen, ofChannels(w)});
          Value *made = one("aten.add.Tensor", {scaled, ofChannels(b)});
          return std::vector<Value *>{
              one("aten.add.Tensor", {one("aten.relu.default", {made}), other})};
        });
        size_t launches = 0;
        for (const Node &node : program.main)
          launches += node.isLaunch();
        EXPECT_EQ(launches, device == cpu ? onCpu : 1u) << places << " places of a channel";
      }
}

// Rows are read once by what reduces them and what goes on from the results; short ones share a
// program.
TEST_F(InterpretedFusions, regionsOfRowsAreOneLaunch) {
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  auto sum = [&](Value *x, bool keeps) {
    return one("aten.sum.dim_IntList", {x, List{int64_t(-1)}, keeps});
  };
  for (int64_t length : {3, 16, 300, 1000})
    for (DataType type : {f32, bf16}) {
      double bound = type == f32 ? 1e-5 : 2e-2;
      // Divided by a norm, with a factor for each column and a number for each row.
      onDevice(bound, [&] {
        Value *x = tensor(type, {70, length}), *w = tensor(type, {length}),
              *c = tensor(type, {70, 1});
        Value *norm = one("aten.sqrt.default", {sum(one("aten.mul.Tensor", {x, x}), true)});
        Value *y = one("aten.div.Tensor", {x, one("aten.add.Scalar", {norm, 1.0})});
        return std::vector<Value *>{one("aten.add.Tensor", {one("aten.mul.Tensor", {y, w}), c})};
      });
      EXPECT_EQ(launches(), 1u);
      // What is left of the mean, by the largest of what is left; results without the dim, seen
      // with it.
      onDevice(bound, [&] {
        Value *x = tensor(type, {10, 7, length});
        Value *mean = one("aten.mean.dim", {x, List{int64_t(-1)}});
        Value *rest = one("aten.sub.Tensor", {x, one("aten.unsqueeze.default", {mean, -1})});
        Value *most =
            one("aten.amax.default", {one("aten.abs.default", {rest}), List{int64_t(-1)}, true});
        return std::vector<Value *>{
            one("aten.div.Tensor", {rest, one("aten.add.Scalar", {most, 1.0})})};
      });
      EXPECT_EQ(launches(), 1u);
      // Three sums of two tensors.
      onDevice(bound, [&] {
        Value *x = tensor(type, {70, length}), *y = tensor(type, {70, length});
        Value *both = sum(one("aten.mul.Tensor", {x, y}), false),
              *first = sum(one("aten.mul.Tensor", {x, x}), false),
              *second = sum(one("aten.mul.Tensor", {y, y}), false);
        Value *size = one("aten.add.Scalar", {one("aten.mul.Tensor", {first, second}), 1.0});
        return std::vector<Value *>{
            one("aten.div.Tensor", {both, one("aten.sqrt.default", {size})})};
      });
      EXPECT_EQ(launches(), 1u);
    }
  // As many rows as columns: what has one number of each row without its dim is one of each column.
  onDevice(1e-5, [&] {
    Value *x = tensor(f32, {64, 64});
    return std::vector<Value *>{one("aten.sub.Tensor", {x, sum(x, false)})};
  });
  // A sum that something else reads, too, and rows that are across the memory.
  onDevice(1e-5, [&] {
    Value *x = tensor(f32, {70, 30}), *total = sum(x, true);
    return std::vector<Value *>{one("aten.div.Tensor", {x, one("aten.abs.default", {total})}),
                                one("aten.neg.default", {total})};
  });
  onDevice(1e-5, [&] {
    Value *x = turned(f32, {70, 30});
    return std::vector<Value *>{one("aten.sub.Tensor", {x, sum(x, true)})};
  });
  EXPECT_EQ(launches(), 2u);
}

// Parts that begin at whole vectors are copied by one launch, others by one each.
TEST_F(InterpretedFusions, partsThatLieInVectorsAreOneLaunch) {
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  auto joined = [&](Shape first, Shape second, int64_t dim) {
    return [=, this] {
      return std::vector<Value *>{
          one("aten.cat.default", {List{tensor(f32, first), tensor(f32, second)}, dim})};
    };
  };
  onDevice(0, joined({6, 16}, {6, 36}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({3, 7}, {5, 7}, 0));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({2, 3, 5}, {2, 1, 5}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({6, 50}, {6, 70}, 1));
  EXPECT_EQ(launches(), 2u);
  // Few elements of each part would be a part of each sector.
  onDevice(0, joined({6, 5}, {6, 7}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({40, 1}, {40, 1}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, [&] {
    List parts;
    for (int64_t size : {16, 4, 32, 100, 8, 4})
      parts.push_back(tensor(f32, {3, size}));
    return std::vector<Value *>{one("aten.cat.default", {parts, 1})};
  });
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({0, 7}, {5, 7}, 0)); // without elements there is no such part
}

TEST_F(InterpretedFusions, normsThatAreWrittenOut) {
  withPasses = true;
  Argument wide(f32), narrow(bf16);
  auto square = [&](Value *x) { return one("aten.pow.Tensor_Scalar", {x, int64_t(2)}); };
  auto root = [&](Value *y, int64_t dim, double epsilon) {
    Value *mean = one("aten.mean.dim", {y, List{dim}, true});
    return one("aten.rsqrt.default", {one("aten.add.Tensor", {mean, epsilon})});
  };
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  // As Llama and T5 have it: what is multiplied is the wide one or the narrow one.
  for (bool isWide : {true, false}) {
    onDevice(boundOf(bf16), [&] {
      Value *x = tensor(bf16, {2, 5, 40}), *y = one("aten.to.dtype", {x, wide});
      y = one("aten.mul.Tensor", {isWide ? y : x, root(square(y), -1, 1e-6)});
      y = one("aten.to.dtype", {y, narrow});
      return std::vector{one("aten.mul.Tensor", {tensor(bf16, {40}), y})};
    });
    EXPECT_EQ(replaced, 1u);
    EXPECT_EQ(launches(), 1u);
  }
  onDevice(2e-6, [&] {
    Value *x = tensor(f32, {5, 40});
    return std::vector{one("aten.mul.Tensor", {root(one("aten.mul.Tensor", {x, x}), 1, 0.5), x})};
  });
  EXPECT_EQ(replaced, 1u);
  // Another dim, another factor, another power, squares that are rounded, a result that is not.
  const std::vector<std::function<Value *()>> others{
      [&] {
        Value *x = tensor(f32, {5, 40});
        return one("aten.mul.Tensor", {x, root(square(x), 0, 1e-6)});
      },
      [&] {
        Value *x = tensor(f32, {5, 40});
        return one("aten.mul.Tensor", {tensor(f32, {5, 40}), root(square(x), 1, 1e-6)});
      },
      [&] {
        Value *x = tensor(f32, {5, 40});
        Value *fourth = one("aten.pow.Tensor_Scalar", {x, int64_t(4)});
        return one("aten.mul.Tensor", {x, root(fourth, 1, 1e-6)});
      },
      [&] {
        Value *x = tensor(bf16, {5, 40});
        return one("aten.mul.Tensor", {x, root(square(x), 1, 0.5)});
      },
      [&] {
        Value *x = tensor(bf16, {5, 40}), *y = one("aten.to.dtype", {x, wide});
        return one("aten.mul.Tensor", {y, root(square(y), 1, 1e-6)});
      }};
  for (const auto &other : others) {
    onDevice(boundOf(bf16), [&] { return std::vector{other()}; });
    EXPECT_EQ(replaced, 0u);
  }
}

} // namespace
} // namespace pellucid::passes
