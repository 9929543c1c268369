// SPDX-License-Identifier: Apache-2.0
// What is computed from weights alone, and weights in another order.
#include "driver/FoldWeights.h"
#include "graph/FakeRules.h"
#include "passes/graph/ArrangedWeights.h"
#include "reference/graph/Interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pellucid::passes {
namespace {

using namespace graph;
using List = Argument::List;

class FoldedWeights : public ::testing::Test {
protected:
  Value *weight(const std::string &name, const std::vector<int64_t> &shape,
                InputSpec::Kind kind = InputSpec::Kind::Parameter) {
    TensorType type(DataType::Float32, {shape.begin(), shape.end()});
    size_t count = 1;
    for (int64_t size : shape)
      count *= static_cast<size_t>(size);
    auto numbers = std::make_shared<std::vector<float>>(count);
    for (size_t i = 0; i < count; ++i)
      (*numbers)[i] = static_cast<float>(i + 1);
    Weight made;
    made.shape = shape;
    made.bytes = count * sizeof(float);
    made.data = {numbers, reinterpret_cast<const std::byte *>(numbers->data())};
    if (kind != InputSpec::Kind::UserInput)
      program.weights[name] = std::move(made);
    InputSpec spec;
    spec.kind = kind;
    spec.name = name;
    program.inputs.push_back(std::move(spec));
    return program.main.placeholder(name, type);
  }
  Value *call(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args),
                    std::move(kwargs))
        ->result();
  }
  void give(const std::vector<Value *> &values) {
    program.outputs.assign(values.size(), {OutputSpec::Kind::UserOutput, ""});
    program.main.output({values.begin(), values.end()});
  }
  size_t calls() const {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isCall();
    return count;
  }

  Program program;
  const OperatorRegistry &registry = OperatorRegistry::builtins();
};

TEST_F(FoldedWeights, areComputedOnce) {
  Value *x = weight("x", {2, 3, 4}, InputSpec::Kind::UserInput);
  Value *w = weight("w", {3}), *b = weight("b", {3}, InputSpec::Kind::Buffer);
  Value *scale = call("aten.rsqrt.default", {call("aten.add.Tensor", {w, 0.5})});
  Value *shift = call("aten.mul.Tensor", {call("aten.neg.default", {b}), scale});
  Value *y = call("aten.mul.Tensor", {x, call("aten.view.default", {scale, List{1, 3, 1}})});
  y = call("aten.add.Tensor", {y, call("aten.view.default", {shift, List{1, 3, 1}})});
  // A view of a weight computes nothing, a large result stays, and a result of the program is its
  // own.
  Value *large = call("aten.neg.default", {weight("large", {20000})});
  Value *seen = call("aten.mul.Tensor", {x, call("aten.view.default", {b, List{1, 3, 1}})});
  Value *given = call("aten.neg.default", {w});
  give({y, call("aten.neg.default", {large}), seen, given});

  reference::Tensor input(DataType::Float32, {2, 3, 4});
  int64_t next = 0;
  reference::Tensor::forEachIndex(input.shape, [&](std::span<const int64_t> index) {
    input.set(index, static_cast<double>(next++) / 4);
  });
  auto run = [&] {
    std::vector<reference::Datum> inputs{input};
    std::vector<std::vector<double>> values;
    reference::EvaluateOptions options;
    for (reference::Datum &datum : reference::evaluate(program, inputs, options))
      values.push_back(std::get<reference::Tensor>(datum).reals());
    return values;
  };
  std::vector<std::vector<double>> before = run();
  EXPECT_EQ(driver::foldWeights(program, registry), 2u);
  program.main.eraseUnused([](const Node &) { return true; });
  EXPECT_EQ(program.verify(), std::vector<std::string>{});
  EXPECT_EQ(calls(), 7u);
  EXPECT_EQ(run(), before);
  EXPECT_EQ(driver::foldWeights(program, registry), 0u);
}

TEST_F(FoldedWeights, waitForWhatARunDecides) {
  Value *w = weight("w", {3}), *x = weight("x", {3}, InputSpec::Kind::UserInput);
  Value *sum = call("aten.add.Tensor", {w, x});
  give({call("aten.neg.default", {sum})});
  EXPECT_EQ(driver::foldWeights(program, registry), 0u);
  // Contents that are not at hand.
  program.weights.at("w").data = nullptr;
  EXPECT_EQ(driver::foldWeights(program, registry), 0u);
}

// Of a program that is to keep its launches, what a gather reads at is folded all the same.
TEST_F(FoldedWeights, areOnlyPlaces) {
  Value *x = weight("x", {5, 7}, InputSpec::Kind::UserInput);
  Value *back = call("aten.rsub.Scalar", {call("aten.arange.default", {int64_t(7)}), int64_t(6)});
  Value *taken = call("aten.index_select.default", {x, int64_t(1), back});
  Value *scale = call("aten.neg.default", {weight("w", {7})});
  give({call("aten.mul.Tensor", {taken, scale})});
  EXPECT_EQ(driver::foldWeights(program, registry, {true, true}), 1u);
  EXPECT_EQ(program.verify(), std::vector<std::string>{});
  ArrangedWeights weights(program, registry);
  EXPECT_EQ(weights.placesBelow(taken->producer()->arg(2).value(), 7),
            (std::vector<int64_t>{6, 5, 4, 3, 2, 1, 0}));
  EXPECT_FALSE(weights.placesBelow(taken->producer()->arg(2).value(), 6));
  EXPECT_EQ(driver::foldWeights(program, registry), 1u);
}

TEST_F(FoldedWeights, areArranged) {
  Value *w = weight("w", {2, 3, 2});
  ArrangedWeights weights(program, registry);
  TextOperand turned{DataType::Float32, {6, 1, 2}, 0};
  Value *made = weights.arrange(w, turned, {2, 2, 3}, {2, 2, 4});
  ASSERT_TRUE(made);
  EXPECT_EQ(weights.arrange(w, turned, {2, 2, 3}, {2, 2, 4}), made);
  EXPECT_NE(weights.arrange(w, turned, {2, 2, 3}, {2, 2, 3}), made);
  const Weight &arranged = program.weights.at("w.arranged");
  EXPECT_EQ(arranged.shape, (std::vector<int64_t>{2, 2, 4}));
  std::vector<float> values(16);
  ASSERT_EQ(arranged.bytes, sizeof(float) * values.size());
  std::memcpy(values.data(), arranged.data.get(), arranged.bytes);
  EXPECT_EQ(values, (std::vector<float>{1, 3, 5, 0, 2, 4, 6, 0, 7, 9, 11, 0, 8, 10, 12, 0}));
  // Through a view, whose offset counts.
  Value *part = call("aten.select.int", {w, int64_t(0), int64_t(1)});
  Value *half = weights.arrange(part, {DataType::Float32, {1, 2}, 0}, {2, 3}, {2, 3});
  ASSERT_TRUE(half);
  std::memcpy(values.data(), program.weights.at("w.arranged2").data.get(), 6 * sizeof(float));
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[5], 12);
  EXPECT_FALSE(weights.arrange(call("aten.neg.default", {w}), turned, {2, 2, 3}, {2, 2, 3}));
}

// Constant indices are i32 where all are inside; a launch would check the others.
TEST_F(FoldedWeights, areIndices) {
  std::vector<int64_t> numbers{3, 0, 6, 1};
  Value *at = weight("at", {4});
  Weight made;
  made.dtype = DataType::Int64;
  made.shape = {4};
  made.bytes = sizeof(int64_t) * numbers.size();
  made.data = {std::make_shared<int>(), reinterpret_cast<const std::byte *>(numbers.data())};
  program.weights["at"] = made;
  at->setType(TensorType(DataType::Int64, {4}));
  ArrangedWeights weights(program, registry);
  EXPECT_FALSE(weights.indicesBelow(at, 6));
  Value *inside = weights.indicesBelow(at, 7);
  ASSERT_TRUE(inside);
  EXPECT_EQ(weights.indicesBelow(at, 7), inside);
  EXPECT_EQ(inside->type().dtype, DataType::Int32);
  std::vector<int32_t> narrow(4);
  std::memcpy(narrow.data(), program.weights.at("at.arranged").data.get(), 16);
  EXPECT_EQ(narrow, (std::vector<int32_t>{3, 0, 6, 1}));
  numbers[2] = -1;
  EXPECT_FALSE(weights.indicesBelow(at, 8));
  EXPECT_FALSE(weights.indicesBelow(weight("w", {4}), 8));
}

} // namespace
} // namespace pellucid::passes
