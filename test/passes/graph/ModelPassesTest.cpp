// SPDX-License-Identifier: Apache-2.0
// What is decided over a whole model, on programs as models of public libraries write them
// (docs/design/0061).
#include "InterpretedLaunches.h"

namespace pellucid::passes {
namespace {

class ModelPasses : public InterpretedLaunches {
protected:
  ModelPasses() { withPasses = true; }

  Value *of(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return call(target, std::move(args), std::move(kwargs))->result();
  }
  Value *count(int64_t end) { return of("aten.arange.default", {end}); }
  Value *view(Value *value, std::vector<int64_t> shape) {
    return of("aten.view.default", {value, Argument::List(shape.begin(), shape.end())});
  }
  Value *column(Value *value) { return of("aten.unsqueeze.default", {value, int64_t(-1)}); }

  /// `mask` of the numbers of queries (a column) and keys, on attention of both devices.
  void attend(int64_t queries, int64_t keys, size_t expected, DataType type,
              const std::function<Value *()> &mask) {
    for (uint32_t device : {cpu, hopper}) {
      SCOPED_TRACE(device);
      program = Program();
      inputs.clear();
      Value *q = input("q", type, {2, 2, queries, 16}, 2),
            *k = input("k", type, {2, 2, keys, 16}, 2), *v = input("v", type, {2, 2, keys, 16}, 2);
      lower({of("aten.scaled_dot_product_attention.default", {q, k, v, mask()})}, device);
      EXPECT_EQ(masks, expected);
      expectSame(type == DataType::Float32 ? 1e-5 : 2e-2);
    }
  }
};

/// As transformers does: places of packed sequences, compared where they are looked up.
TEST_F(ModelPasses, MaskOfPackedPlaces) {
  auto mask = [&](int64_t most) {
    Value *places =
        of("aten.unsqueeze.default", {of("aten.add.Tensor", {count(37), int64_t(0)}), int64_t(0)});
    places = of("aten.expand.default", {places, Argument::List{int64_t(2), int64_t(-1)}});
    Value *before =
        of("aten.sub.Tensor",
           {of("aten.slice.Tensor", {places, int64_t(1), int64_t(0), int64_t(1)}), int64_t(1)});
    Value *all = of("aten.cat.default", {Argument::List{before, places}, int64_t(-1)});
    Value *jump = of("aten.ne.Scalar",
                     {of("aten.sub.Tensor",
                         {of("aten.narrow.default", {all, int64_t(-1), int64_t(1), int64_t(37)}),
                          of("aten.narrow.default", {all, int64_t(-1), int64_t(0), int64_t(37)})}),
                      int64_t(1)});
    Value *sequence = of("aten.cumsum.default", {jump, int64_t(-1)});
    Value *row = view(count(2), {2, 1, 1, 1}), *query = view(count(37), {1, 1, 37, 1}),
          *key = view(count(37), {1, 1, 1, 37});
    auto at = [&](Value *from, Value *index) {
      return of("aten.index.Tensor", {from, Argument::List{row, index}});
    };
    Value *one =
        of("aten.new_ones.default", {query, Argument::List{}}, {{"dtype", DataType::Bool}});
    Value *same = of("aten.eq.Tensor", {at(sequence, query), at(sequence, key)});
    Value *past =
        of("aten.le.Tensor", {of("aten.sub.Tensor", {at(places, key), most}), at(places, query)});
    Value *seen = of("aten.bitwise_and.Tensor", {of("aten.bitwise_and.Tensor", {one, same}), past});
    return of("aten.expand.default",
              {seen, Argument::List{int64_t(2), int64_t(-1), int64_t(37), int64_t(37)}});
  };
  for (DataType type : {DataType::Float32, DataType::BFloat16}) {
    attend(37, 37, 1, type, [&] { return mask(0); });
    attend(37, 37, 0, type, [&] { return mask(1); });  // one key more
    attend(37, 37, 1, type, [&] { return mask(40); }); // all keys
  }
}

TEST_F(ModelPasses, MasksThatAreCausalOrNothing) {
  auto compare = [&](const char *how, int64_t queries, int64_t keys, int64_t add) {
    return [=, this] {
      Value *query = of("aten.add.Scalar", {column(count(queries)), add});
      return of(how, {query, count(keys)});
    };
  };
  DataType type = DataType::Float32;
  attend(9, 9, 1, type, compare("aten.ge.Tensor", 9, 9, 0));
  attend(9, 9, 1, type, compare("aten.gt.Tensor", 9, 9, 1));
  attend(9, 21, 1, type, compare("aten.ge.Tensor", 9, 21, 0));
  attend(9, 21, 0, type, compare("aten.ge.Tensor", 9, 21, 12));
  attend(1, 21, 1, type, compare("aten.ge.Tensor", 1, 21, 20)); // the last query sees every key
  attend(9, 9, 0, type, compare("aten.le.Tensor", 9, 9, 0));
  attend(9, 9, 0, type, compare("aten.ne.Tensor", 9, 9, 0));
  attend(9, 9, 0, type, compare("aten.gt.Tensor", 9, 9, 0)); // the first row sees nothing
  attend(9, 9, 0, type, compare("aten.lt.Tensor", 9, 9, 100));
  attend(9, 9, 1, type, compare("aten.ne.Tensor", 9, 9, 100));
}

TEST_F(ModelPasses, WindowsAsWideAsAllKeys) {
  auto window = [&](int64_t width) {
    return [=, this] {
      Value *query = column(count(9)), *key = count(9);
      Value *near = of("aten.lt.Scalar", {of("aten.sub.Tensor", {query, key}), width});
      return of("aten.logical_and.default", {of("aten.le.Tensor", {key, query}), near});
    };
  };
  attend(9, 9, 1, DataType::Float32, window(9));
  attend(9, 9, 0, DataType::Float32, window(8));
}

/// Added masks: 0 where a key counts, minus infinity or the least number elsewhere.
TEST_F(ModelPasses, MasksThatAreAdded) {
  auto added = [&](double yes, double no, bool past) {
    return [=, this] {
      Value *query = column(count(9)), *key = count(9);
      Value *condition = of(past ? "aten.le.Tensor" : "aten.gt.Tensor", {key, query});
      Value *zero =
          of("aten.full.default", {Argument::List{}, yes}, {{"dtype", DataType::Float32}});
      return of("aten.where.ScalarOther", {condition, zero, no});
    };
  };
  double least = -3.4028234663852886e38, infinity = HUGE_VAL;
  attend(9, 9, 1, DataType::Float32, added(0, -infinity, true));
  attend(9, 9, 1, DataType::Float32, added(0, least, true));
  attend(9, 9, 1, DataType::Float32, added(-infinity, 0, false));
  attend(9, 9, 0, DataType::Float32, added(0, -3, true));
  attend(9, 9, 0, DataType::Float32, added(1, -infinity, true));
  attend(9, 9, 1, DataType::Float32, added(0, 0, true));
}

/// What a program is given is not known.
TEST_F(ModelPasses, MasksOfInputsStay) {
  attend(9, 9, 0, DataType::Float32, [&] { return input("m", DataType::Bool, {9, 9}, 2); });
  attend(9, 9, 0, DataType::Float32, [&] {
    Value *places = input("p", DataType::Int64, {9}, 9);
    return of("aten.le.Tensor", {count(9), column(places)});
  });
}

/// Heads that are copied next to each other for attention, and its result back behind it.
TEST_F(ModelPasses, HeadsAreReadWhereTheyLie) {
  struct Case {
    const char *behind;
    size_t copies;
  } cases[] = {{"layer", 4}, {"heads", 3}, {"transposed", 3}, {"sum", 3}, {"strided", 3}};
  for (const Case &one : cases) {
    SCOPED_TRACE(one.behind);
    program = Program();
    inputs.clear();
    std::string behind = one.behind;
    auto heads = [&](const char *name, int64_t length) {
      Value *whole = input(name, DataType::BFloat16, {2, length, 3 * 16}, 2);
      Value *apart =
          of("aten.transpose.int", {view(whole, {2, length, 3, 16}), int64_t(1), int64_t(2)});
      return of("aten.clone.default", {apart}, {{"memory_format", "contiguous_format"}});
    };
    Value *out = of("aten.scaled_dot_product_attention.default",
                    {heads("q", 21), heads("k", 9), heads("v", 9)});
    if (behind == "sum")
      out = of("aten.sum.dim_IntList", {out, Argument::List{int64_t(1)}});
    if (behind == "strided")
      out = of("aten.as_strided.default",
               {out, Argument::List{int64_t(5)}, Argument::List{int64_t(7)}});
    if (behind == "layer" || behind == "transposed")
      out = of("aten.transpose.int", {out, int64_t(1), int64_t(2)});
    if (behind == "layer") {
      out = of("aten.clone.default", {out}, {{"memory_format", "contiguous_format"}});
      out = of("aten.linear.default",
               {view(out, {2, 21, 48}), input("w", DataType::BFloat16, {8, 48}, 2)});
    }
    TensorType type = out->type();
    lower({out}, hopper);
    EXPECT_EQ(copies, one.copies);
    EXPECT_EQ(program.main.outputNode()->arg(0).value()->type().strides, type.strides);
    expectSame(5e-2); // weights of attention are rounded before 48 terms
  }
}

/// Copies that stay: rows that are no vectors, and what something else reads as well.
TEST_F(ModelPasses, CopiesThatStay) {
  for (bool isRead : {false, true}) {
    program = Program();
    inputs.clear();
    Value *x = isRead
                   ? of("aten.transpose.int",
                        {input("x", DataType::BFloat16, {2, 9, 3, 16}, 2), int64_t(1), int64_t(2)})
                   : of("aten.transpose.int",
                        {input("x", DataType::BFloat16, {2, 3, 16, 9}, 2), int64_t(2), int64_t(3)});
    Value *copy = of("aten.clone.default", {x}, {{"memory_format", "contiguous_format"}});
    std::vector<Value *> results{
        of("aten.scaled_dot_product_attention.default", {copy, copy, copy})};
    if (isRead)
      results.push_back(copy);
    lower(results, hopper);
    EXPECT_EQ(copies, 0u);
    expectSame(2e-2);
  }
}

/// `layers` linear layers of one input, looked at as heads.
TEST_F(ModelPasses, LayersOfOneInputAreOne) {
  for (const char *behind :
       {"attention", "sum", "bias", "no bias", "scaled", "given", "twice", "halves", "wide"}) {
    SCOPED_TRACE(behind);
    std::string how = behind;
    program = Program();
    inputs.clear();
    DataType type = how == "sum"    ? DataType::Float16
                    : how == "wide" ? DataType::Float32
                                    : DataType::BFloat16;
    auto weight = [&](const char *name, std::vector<int64_t> shape) {
      Tensor values(type, shape);
      Tensor::forEachIndex(shape, [&](std::span<const int64_t> index) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        values.set(index, static_cast<double>(static_cast<int64_t>(state >> 33) % 9 - 4) / 8);
      });
      Weight made;
      made.dtype = type;
      made.shape = shape;
      made.bytes = values.storage->size();
      made.data = {values.storage, reinterpret_cast<const std::byte *>(values.storage->data())};
      program.weights[name] = made;
      program.inputs.push_back({InputSpec::Kind::Parameter, name, {}, true});
      return program.main.placeholder(name, TensorType(type, {shape.begin(), shape.end()}));
    };
    std::vector<Value *> weights;
    for (const char *name : {"q", "k", "v"})
      weights.push_back(weight(name, {how == "halves" ? 36 : 48, 24}));
    Value *bias = weight("b", {how == "halves" ? 36 : 48});
    Value *x = input("x", type, {2, 9, 24}, 1);
    std::vector<Value *> parts;
    for (size_t i = 0; i < 3; ++i) {
      std::vector<Argument> args{x, how == "twice" ? weights[0] : weights[i]};
      if (how.ends_with("bias") && i == 1)
        args.emplace_back(bias);
      if (how == "no bias" && i == 2)
        args.emplace_back();
      Value *part = of("aten.linear.default", std::move(args));
      if (how == "scaled" && i == 0)
        part = of("aten.mul.Scalar", {part, 0.25});
      if (how == "given" && i == 2)
        part = of("aten.as_strided.default",
                  {part, Argument::List{int64_t(2), int64_t(9), int64_t(48)},
                   Argument::List{int64_t(9 * 48), int64_t(48), int64_t(1)}});
      parts.push_back(of("aten.transpose.int", {view(part, {2, 9, 3, how == "halves" ? 12 : 16}),
                                                int64_t(1), int64_t(2)}));
    }
    Value *out = nullptr;
    if (how == "sum")
      out = of("aten.add.Tensor", {of("aten.mul.Tensor", {parts[0], parts[1]}), parts[2]});
    else
      out = of("aten.scaled_dot_product_attention.default", {parts[0], parts[1], parts[2]});
    lower({of("aten.clone.default", {out})}, hopper);
    bool isJoined = how != "twice" && how != "halves" && how != "wide";
    EXPECT_EQ(joined, !isJoined ? 0u : how == "given" ? 1u : 2u);
    expectSame(type == DataType::Float16 ? 5e-3 : 3e-2);
  }
}

} // namespace
} // namespace pellucid::passes
