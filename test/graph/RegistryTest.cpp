// SPDX-License-Identifier: Apache-2.0
#include "graph/Registry.h"
#include "graph/FakeRules.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

using namespace pellucid;
using namespace pellucid::graph;
using enum DataType;

namespace {
struct Registry : ::testing::Test {
  Registry() {
    symbols.declare("b", {{1, 1024}, 1, 8});
    symbols.declare("s", {{1, 512}, 1, {}});
  }

  Value *tensor(DataType dtype, std::vector<Expr> shape) {
    return graph.placeholder("t" + std::to_string(count++), TensorType(dtype, std::move(shape)));
  }
  Node *call(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(graph, registry, symbols, target, std::move(args), std::move(kwargs));
  }
  TensorType type(std::string_view target, std::vector<Argument> args,
                  KeywordArguments kwargs = {}) {
    return call(target, std::move(args), std::move(kwargs))->result()->type();
  }
  std::string refusal(std::string_view target, std::vector<Argument> args,
                      KeywordArguments kwargs = {}) {
    try {
      call(target, std::move(args), std::move(kwargs));
    } catch (const DiagnosticError &e) {
      return e.what();
    }
    return "accepted";
  }

  const OperatorRegistry &registry = OperatorRegistry::builtins();
  SymbolTable symbols;
  Graph graph;
  int count = 0;
  const Expr b = Expr::symbol("b"), s = Expr::symbol("s");
};

// The table of torch.promote_types, in the order of its documentation.
TEST(Promotion, isTorchs) {
  const DataType types[] = {UInt8,   Int8,    Int16,   Int32, Int64,
                            Float16, Float32, Float64, Bool,  BFloat16};
  const DataType expected[10][10] = {
      {UInt8, Int16, Int16, Int32, Int64, Float16, Float32, Float64, UInt8, BFloat16},
      {Int16, Int8, Int16, Int32, Int64, Float16, Float32, Float64, Int8, BFloat16},
      {Int16, Int16, Int16, Int32, Int64, Float16, Float32, Float64, Int16, BFloat16},
      {Int32, Int32, Int32, Int32, Int64, Float16, Float32, Float64, Int32, BFloat16},
      {Int64, Int64, Int64, Int64, Int64, Float16, Float32, Float64, Int64, BFloat16},
      {Float16, Float16, Float16, Float16, Float16, Float16, Float32, Float64, Float16, Float32},
      {Float32, Float32, Float32, Float32, Float32, Float32, Float32, Float64, Float32, Float32},
      {Float64, Float64, Float64, Float64, Float64, Float64, Float64, Float64, Float64, Float64},
      {UInt8, Int8, Int16, Int32, Int64, Float16, Float32, Float64, Bool, BFloat16},
      {BFloat16, BFloat16, BFloat16, BFloat16, BFloat16, Float32, Float32, Float64, BFloat16,
       BFloat16},
  };
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j)
      EXPECT_EQ(promoteTypes(types[i], types[j]), expected[i][j]) << i << " " << j;
}

// test/passes/graph/record_edge_cases.py makes the file.
TEST(EdgeCases, holdCallsOfEveryOperator) {
  std::ifstream file(PELLUCID_SOURCE_DIR "/test/passes/graph/edge_cases.txt");
  std::set<std::string> called;
  for (std::string line; std::getline(file, line);)
    called.insert("aten." + line.substr(0, line.find('(')));
  // PyTorch says nothing of operators that it has not; assertions have no results.
  for (const std::string &target : OperatorRegistry::builtins().targets())
    EXPECT_TRUE(called.count(target) || target.starts_with("pellucid.") ||
                OperatorRegistry::builtins().find(target)->kind == Operator::Kind::Assertion)
        << target;
}

// The examples of torch's page on type promotion.
TEST_F(Registry, tensorsOutweighZeroDimTensorsOutweighNumbers) {
  Value *f32 = tensor(Float32, {1}), *f64 = tensor(Float64, {1}), *i32 = tensor(Int32, {1}),
        *i64 = tensor(Int64, {1});
  Value *u8 = tensor(UInt8, {1}), *flag = tensor(Bool, {1}), *bf16 = tensor(BFloat16, {1});
  Value *i64zero = tensor(Int64, {}), *f64zero = tensor(Float64, {}),
        *f32zero = tensor(Float32, {});
  EXPECT_EQ(type("aten.add", {i32, 5}).dtype, Int32);
  EXPECT_EQ(type("aten.add", {i32, i64zero}).dtype, Int32);
  EXPECT_EQ(type("aten.add", {i64, 1.5}).dtype, Float32);
  EXPECT_EQ(type("aten.add", {flag, 1}).dtype, Int64);
  EXPECT_EQ(type("aten.add", {f32, f64zero}).dtype, Float32);
  EXPECT_EQ(type("aten.add", {i32, f64zero}).dtype, Float64);
  EXPECT_EQ(type("aten.add", {i32, f32zero}).dtype, Float32);
  EXPECT_EQ(type("aten.add", {f32, f64}).dtype, Float64);
  EXPECT_EQ(type("aten.add", {u8, i32}).dtype, Int32);
  EXPECT_EQ(type("aten.add", {bf16, 1.5}).dtype, BFloat16);
  EXPECT_EQ(type("aten.div", {i32, i32}).dtype, Float32);
  EXPECT_EQ(type("aten.div", {i32, i32}, {{"rounding_mode", "floor"}}).dtype, Int32);
  EXPECT_EQ(type("aten.gt", {bf16, 0}).dtype, Bool);
  EXPECT_EQ(type("aten.exp", {i64}).dtype, Float32);
  EXPECT_EQ(type("aten.exp", {bf16}).dtype, BFloat16);
  EXPECT_EQ(type("aten.sum", {i32}).dtype, Int64);
  EXPECT_EQ(type("aten.where", {flag, f32, f64}).dtype, Float64);
}

TEST_F(Registry, overloadsAreThoseOfTorch) {
  Value *x = tensor(Float32, {4});
  EXPECT_EQ(call("aten.add", {x, 2})->target(), "aten.add.Tensor");
  EXPECT_EQ(call("aten.gt", {x, 0})->target(), "aten.gt.Scalar");
  EXPECT_EQ(call("aten.pow", {x, 2})->target(), "aten.pow.Tensor_Scalar");
  EXPECT_EQ(call("aten.sum", {x, 0})->target(), "aten.sum.dim_IntList");
  EXPECT_EQ(call("aten.sum", {x})->target(), "aten.sum.default");
  EXPECT_EQ(call("aten.div", {x, x}, {{"rounding_mode", "trunc"}})->target(),
            "aten.div.Tensor_mode");
  EXPECT_EQ(call("aten.arange", {0, 8, 2})->target(), "aten.arange.start_step");
  EXPECT_EQ(call("aten.softmax", {x, -1})->target(), "aten.softmax.int");
  EXPECT_NE(refusal("aten.nonsense", {x}).find("operator 'aten.nonsense' is not supported"),
            std::string::npos);
  EXPECT_NE(refusal("aten.mul", {x, "a"}).find("no overload of 'aten.mul' takes these arguments"),
            std::string::npos);
}

TEST_F(Registry, broadcastingIsProved) {
  EXPECT_EQ(type("aten.add", {tensor(Float32, {b, 1, 8}), tensor(Float32, {s, 8})}).shape,
            (std::vector<Expr>{b, s, 8}));
  EXPECT_EQ(type("aten.add", {tensor(Float32, {}), tensor(Float32, {b})}).shape,
            (std::vector<Expr>{b}));
  EXPECT_NE(refusal("aten.add", {tensor(Float32, {b, 8}), tensor(Float32, {s, 8})})
                .find("'aten.add.Tensor' cannot broadcast [b, 8] with [s, 8]: b and s are not "
                      "known to be equal"),
            std::string::npos);
}

TEST_F(Registry, resultsKeepTheOrderOfDims) {
  Value *x = tensor(Float32, {b, 8});
  Value *turned = call("aten.t", {x})->result();
  EXPECT_EQ(type("aten.exp", {turned}).strides, (std::vector<Expr>{1, 8}));
  EXPECT_EQ(type("aten.add", {turned, turned}).strides, (std::vector<Expr>{1, 8}));
  EXPECT_EQ(type("aten.clone", {turned}, {{"memory_format", "contiguous_format"}}).strides,
            (std::vector<Expr>{b, 1}));
}

TEST_F(Registry, viewsSayWhereElementsLie) {
  Value *x = tensor(Float32, {b, 12, 4});
  EXPECT_EQ(type("aten.view", {x, Argument::List{-1, 4}}).shape, (std::vector<Expr>{b * 12, 4}));
  EXPECT_EQ(type("aten.view", {x, Argument::List{Argument(b), 3, -1, 4}}).strides,
            (std::vector<Expr>{48, 16, 4, 1}));
  EXPECT_EQ(type("aten.select", {x, 1, -1}).offset, Expr(44));
  TensorType part = type("aten.slice", {x, 1, 2, INT64_MAX, 3});
  EXPECT_EQ(part.shape, (std::vector<Expr>{b, 4, 4}));
  EXPECT_EQ(part.offset, Expr(8));
  EXPECT_EQ(part.strides, (std::vector<Expr>{48, 12, 1}));
  EXPECT_EQ(type("aten.slice", {x, 0, 0, 4}).shape[0], symbolic::min(b, 4));
  EXPECT_EQ(type("aten.slice", {x, 1, -5, -1}).shape[1], Expr(4));
  Node *halves = call("aten.chunk", {x, 2, -2});
  ASSERT_EQ(halves->resultCount(), 2u);
  EXPECT_EQ(halves->result(1)->type().offset, Expr(24));
  ASSERT_EQ(call("aten.chunk", {x, 5, 1})->resultCount(), 4u);
  EXPECT_EQ(call("aten.split", {x, 5, 1})->result(2)->type().shape[1], Expr(2));
  EXPECT_NE(refusal("aten.chunk", {x, 2, 0}).find("cannot tell into how many pieces"),
            std::string::npos);
  Value *turned = call("aten.transpose", {x, 1, 2})->result();
  EXPECT_NE(
      refusal("aten.view", {turned, Argument::List{-1, 48}}).find("without a copy; use reshape"),
      std::string::npos);
  EXPECT_EQ(type("aten.reshape", {turned, Argument::List{-1, 48}}).strides,
            (std::vector<Expr>{48, 1}));
  EXPECT_EQ(type("aten.expand", {tensor(Float32, {1, 4}), Argument::List{Argument(b), -1}}).strides,
            (std::vector<Expr>{0, 1}));
  EXPECT_EQ(type("aten.flatten", {x, 1}).shape, (std::vector<Expr>{b, 48}));
  // A row slice of a wider matrix can be split but not merged.
  Value *narrow = call("aten.slice", {tensor(Float32, {b, 64}), 1, 0, 32})->result();
  EXPECT_EQ(type("aten.view", {narrow, Argument::List{Argument(b), 4, 8}}).strides,
            (std::vector<Expr>{64, 8, 1}));
  EXPECT_NE(refusal("aten.view", {narrow, Argument::List{-1}}).find("without a copy"),
            std::string::npos);
}

TEST_F(Registry, shapesOfProductsReductionsAndNorms) {
  Value *x = tensor(BFloat16, {b, s, 128}), *w = tensor(BFloat16, {64, 128}),
        *bias = tensor(BFloat16, {64});
  EXPECT_EQ(type("aten.linear", {x, w, bias}).shape, (std::vector<Expr>{b, s, 64}));
  EXPECT_NE(refusal("aten.linear", {x, tensor(BFloat16, {64, 100})})
                .find("inner dims to match, got 128 and 100"),
            std::string::npos);
  EXPECT_EQ(type("aten.matmul", {x, tensor(BFloat16, {128, 8})}).shape,
            (std::vector<Expr>{b, s, 8}));
  EXPECT_EQ(type("aten.matmul", {tensor(BFloat16, {128}), tensor(BFloat16, {128})}).rank(), 0u);
  EXPECT_EQ(type("aten.sum", {x, Argument::List{0, -1}}, {{"keepdim", true}}).shape,
            (std::vector<Expr>{1, s, 1}));
  EXPECT_EQ(type("aten.mean", {x, -1}).shape, (std::vector<Expr>{b, s}));
  EXPECT_NE(refusal("aten.sum", {x, Argument::List{0, -3}}).find("reduces dim 0 twice"),
            std::string::npos);
  EXPECT_NE(refusal("aten.sum", {x, 3}).find("expects a dim in [-3, 2], got 3"), std::string::npos);
  EXPECT_NE(refusal("aten.mean", {tensor(Int64, {4})}).find("floating-point"), std::string::npos);
  EXPECT_EQ(type("aten.layer_norm", {x, Argument::List{128}}).dtype, BFloat16);
  EXPECT_NE(
      refusal("aten.layer_norm", {x, Argument::List{64}}).find("last dims of its input to be [64]"),
      std::string::npos);
  EXPECT_EQ(type("aten.cat", {Argument::List{x, x}, 1}).shape[1], s * 2);
  EXPECT_EQ(type("aten.stack", {Argument::List{x, x}, -1}).shape,
            (std::vector<Expr>{b, s, 128, 2}));
  EXPECT_EQ(type("aten.embedding", {w, tensor(Int64, {b, s})}).shape,
            (std::vector<Expr>{b, s, 128}));
  EXPECT_EQ(type("aten.arange", {Argument(b)}).shape, (std::vector<Expr>{b}));
  EXPECT_EQ(type("aten.new_empty", {x, Argument::List{Argument(b * 2)}}).dtype, BFloat16);
  EXPECT_EQ(type("aten.dropout", {x, 0.5, true}).dtype, BFloat16);
  EXPECT_EQ(type("aten.native_dropout", {x, 0.5, true}).dtype, BFloat16);
  EXPECT_EQ(type("pellucid.probability", {x}).shape, type("aten.dropout", {x, 0.5, true}).shape);
  EXPECT_NE(refusal("aten.dropout", {x, 1.5, true}).find("between 0 and 1"), std::string::npos);
}

TEST_F(Registry, costs) {
  Value *x = tensor(BFloat16, {b, 128}), *w = tensor(BFloat16, {64, 128});
  Node *linear = call("aten.linear", {x, w});
  ResultType result = linear->result()->type();
  Cost cost = costOf(*callOf(*linear, registry, symbols), {&result, 1});
  EXPECT_EQ(cost.flops, b * (2 * 64 * 128));
  EXPECT_EQ(cost.bytes, b * (128 * 2 + 64 * 2) + 64 * 128 * 2);
}

TEST_F(Registry, bodiesAreChosenByTypeAndArgument) {
  auto text = [&](Node *node) {
    OperatorCall c = *callOf(*node, registry, symbols);
    return chooseCase(c, pointwiseTypes(c).compute).expression;
  };
  Value *x = tensor(BFloat16, {b});
  EXPECT_EQ(text(call("aten.gelu", {x})), "0.5 * self * (1.0 + tl.erf(self * 0.7071067811865476))");
  EXPECT_NE(text(call("aten.gelu", {x}, {{"approximate", "tanh"}})).find("libdevice.tanh"),
            std::string::npos);
  EXPECT_EQ(text(call("aten.pow", {x, 2})), "self * self");
  EXPECT_EQ(text(call("aten.add", {tensor(Bool, {b}), tensor(Bool, {b})})), "self | other");
  EXPECT_NE(refusal("aten.silu", {tensor(Int64, {b})}).find("is not defined for int64"),
            std::string::npos);
  PointwiseTypes types = pointwiseTypes(*callOf(*call("aten.gt", {x, 0}), registry, symbols));
  EXPECT_EQ(types.compute, Float32);
  EXPECT_EQ(types.result, Bool);
}

// Decompositions give the types that they replace.
TEST_F(Registry, decompositionsKeepTypes) {
  Value *x = tensor(BFloat16, {b, 12, 4});
  Value *turned = call("aten.transpose", {x, 1, 2})->result();
  for (Node *node :
       {call("aten.softmax", {x, -1}), call("aten.log_softmax", {x, 1}),
        call("aten.layer_norm", {x, Argument::List{4}}),
        call("aten.rms_norm", {x, Argument::List{12, 4}}),
        call("aten.reshape", {turned, Argument::List{-1, 48}}),
        call("aten.stack", {Argument::List{x, x}, 1}), call("aten.contiguous", {turned}),
        call("aten.repeat", {x, Argument::List{2, 1, 1, 3}}), call("aten.flatten", {x, 1}),
        call("aten.var", {x, Argument::List{0}}, {{"correction", 0}}),
        call("aten.dropout", {x, 0.5, false})}) {
    std::vector<Value *> values = decompose(graph, *node, registry, symbols);
    ASSERT_EQ(values.size(), 1u);
    EXPECT_EQ(values[0]->type(), node->result()->type())
        << node->target() << ": " << toString(values[0]->type());
  }
  EXPECT_TRUE(graph.verify().empty());
}

TEST_F(Registry, usersOperatorsAreLikeBuiltInOnes) {
  OperatorRegistry mine;
  Operator op;
  op.schema = parseSchema("custom_ops::scale_(Tensor(a!) x, float by=2.0) -> Tensor");
  op.kind = Operator::Kind::CustomOp;
  op.fake = [](const OperatorCall &c) -> std::vector<ResultType> {
    return {c.tensor("x"), c.tensor("x")};
  };
  mine.add(op);
  EXPECT_THROW(mine.add(op), DiagnosticError);
  Operator taken;
  taken.schema = parseSchema("aten::add.Tensor(Tensor a) -> Tensor");
  EXPECT_THROW(mine.add(taken), DiagnosticError);
  Value *x = tensor(Float32, {b});
  Node *node = emitCall(graph, mine, symbols, "custom_ops.scale_", {x}, {{"by", 3.0}});
  EXPECT_EQ(node->target(), "custom_ops.scale_.default");
  EXPECT_EQ(node->mutatedArgs, (std::vector<uint32_t>{0}));
  EXPECT_EQ(emitCall(graph, mine, symbols, "aten.neg", {x})->target(), "aten.neg.default");
}
} // namespace
