// SPDX-License-Identifier: Apache-2.0
// Single passes over small graphs, and the kernels that they write.
#include "graph/RandomCalls.h"
#include "passes/graph/InlineOperators.h"
#include "passes/graph/KernelText.h"
#include "passes/graph/LowerToLaunches.h"
#include "passes/graph/PlanBuffers.h"
#include "passes/graph/PointwiseGroup.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace pellucid::passes {
namespace {

using namespace graph;

/// Stands for the front end: a kernel that has the parameters of the text.
KernelDef kernelOf(const KernelText &text, const std::vector<DataType> &pointers,
                   const std::vector<Access> &accesses) {
  KernelDef kernel;
  kernel.name = kernel.symbol = text.name;
  for (size_t i = 0; i < pointers.size(); ++i)
    kernel.parameters.push_back({"p" + std::to_string(i),
                                 KernelParameter::Kind::Pointer,
                                 pointers[i],
                                 accesses[i],
                                 false,
                                 1,
                                 {}});
  for (size_t i = 0; i < text.scalars.size(); ++i)
    kernel.parameters.push_back({"e" + std::to_string(i),
                                 KernelParameter::Kind::Scalar,
                                 DataType::Int64,
                                 Access::None,
                                 false,
                                 1,
                                 {}});
  return kernel;
}

/// A program of one input `x`, f32[b, 8], to which nodes are added by target.
class PassesTest : public ::testing::Test {
protected:
  PassesTest() {
    program.symbols.declare("b", {{1, 64}, 1, {}});
    x = program.main.placeholder("x", TensorType(DataType::Float32, {Expr::symbol("b"), 8}));
    program.inputs.push_back({InputSpec::Kind::UserInput, "x", {}, true});
    registerBorder(registry);
  }

  Value *call(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args),
                    std::move(kwargs), {})
        ->result();
  }
  void output(std::vector<Argument> results) {
    program.outputs.assign(results.size(), {OutputSpec::Kind::UserOutput, ""});
    program.main.output(std::move(results));
  }
  std::vector<std::string> targets() const {
    std::vector<std::string> found;
    for (const Node &node : program.main)
      if (node.isCall())
        found.push_back(node.isLaunch() ? "launch" : node.target());
    return found;
  }
  CompileText compile = [this](const KernelText &text, const std::vector<DataType> &pointers,
                               const std::vector<Access> &accesses) {
    texts.push_back(text.source);
    return kernelOf(text, pointers, accesses);
  };
  void lower() {
    lowerToLaunches(program, registry, compile, 90);
    program.main.eraseUnused([](const Node &) { return true; });
    EXPECT_EQ(program.main.verify(), std::vector<std::string>{});
  }

  Program program;
  OperatorRegistry registry;
  Value *x = nullptr;
  std::vector<std::string> texts;
};

TEST_F(PassesTest, aCompositeOpensIntoOperatorsWithKernels) {
  Node *extremes =
      emitCall(program.main, registry, program.symbols, "aten.max.dim", {x, 1}, {}, {});
  output({extremes->result(0), extremes->result(1)});
  decomposeComposites(program, registry);
  EXPECT_EQ(targets(), (std::vector<std::string>{"aten.amax.default", "aten.argmax.default"}));
}

TEST_F(PassesTest, compositesOfCompositesOpenToTheEnd) {
  output({call("aten.std.correction", {x, Argument::List{1}})});
  decomposeComposites(program, registry);
  for (const std::string &target : targets())
    EXPECT_NE(registry.find(target)->kind, Operator::Kind::Composite) << target;
}

TEST_F(PassesTest, anEmptyTensorNoLongerReadsWhatItIsLike) {
  output({call("aten.empty_like", {x})});
  detachEmptyTensors(program, registry);
  EXPECT_EQ(targets(), std::vector<std::string>{"aten.empty_strided.default"});
  EXPECT_TRUE(x->isUnused());
}

TEST_F(PassesTest, aResultThatIsAnInputIsCloned) {
  output({call("aten.view", {x, Argument::List{-1}})});
  ownOutputs(program, registry);
  EXPECT_EQ(targets().back(), "aten.clone.default");
}

TEST_F(PassesTest, aResultOfItsOwnStays) {
  output({call("aten.exp", {x})});
  ownOutputs(program, registry);
  EXPECT_EQ(targets(), std::vector<std::string>{"aten.exp.default"});
}

TEST_F(PassesTest, twoResultsInOneMemoryAreApartAfterwards) {
  Value *y = call("aten.exp", {x});
  output({y, call("aten.view", {y, Argument::List{-1}})});
  ownOutputs(program, registry);
  EXPECT_EQ(targets().back(), "aten.clone.default");
}

TEST_F(PassesTest, aChainOfPointwiseOperatorsIsOneLaunch) {
  output({call("aten.exp", {call("aten.mul.Tensor", {x, 2.0})})});
  lower();
  EXPECT_EQ(targets(), (std::vector<std::string>{"aten.empty_strided.default", "launch"}));
  EXPECT_NE(texts.at(0).find("tl.exp"), std::string::npos);
}

TEST_F(PassesTest, aValueWithTwoReadersIsComputedOnce) {
  Value *y = call("aten.exp", {x});
  output({call("aten.sum.dim_IntList", {y, Argument::List{0}}),
          call("aten.sum.dim_IntList", {y, Argument::List{1}})});
  lower();
  EXPECT_EQ(texts.size(), 3u);
}

TEST_F(PassesTest, aReductionTakesItsProducersAlong) {
  output({call("aten.sum.dim_IntList", {call("aten.exp", {x}), Argument::List{1}})});
  lower();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("tl.exp"), std::string::npos);
  EXPECT_NE(texts[0].find("tl.sum"), std::string::npos);
}

TEST_F(PassesTest, kernelsOfTheSameTextAreOne) {
  // Of two tensors, so that no launch has both results.
  program.inputs.push_back({InputSpec::Kind::UserInput, "other", {}, true});
  Value *other = program.main.placeholder("other", x->type());
  output({call("aten.exp", {x}), call("aten.exp", {other})});
  lower();
  size_t launches = 0;
  for (const Node &node : program.main)
    launches += node.isLaunch();
  EXPECT_EQ(launches, 2u);
  EXPECT_EQ(program.kernels.size(), 1u);
}

TEST_F(PassesTest, anOperatorWithTwoResultsIsOneLaunchWithTwo) {
  Node *top = emitCall(program.main, registry, program.symbols, "aten.topk", {x, 3}, {}, {});
  output({top->result(0), top->result(1)});
  lower();
  const Node *launch = nullptr;
  for (const Node &node : program.main)
    if (node.isLaunch())
      launch = &node;
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->resultCount(), 2u);
  EXPECT_EQ(launch->result(1)->type().dtype, DataType::Int64);
}

TEST_F(PassesTest, aScatterWritesACopy) {
  Value *index = call("aten.full", {Argument::List{4}, 0}, {{"dtype", DataType::Int64}});
  Value *source = call("aten.full", {Argument::List{4, 8}, 1.0});
  output({call("aten.index_put", {x, Argument::List{index}, source, true}), call("aten.exp", {x})});
  lower();
  for (const Node &node : program.main)
    if (node.isLaunch())
      for (const LaunchOperand &operand : node.launch()->operands)
        if (operand.value.value() == x)
          EXPECT_EQ(operand.access, Access::Read);
}

TEST_F(PassesTest, anOperatorWithoutAKernelIsNamed) {
  output({call("aten.var.correction", {x})});
  try {
    lowerToLaunches(program, registry, compile, 90);
    FAIL() << "nothing was refused";
  } catch (const DiagnosticError &error) {
    EXPECT_NE(error.diagnostic.message.find("aten.var.correction"), std::string::npos);
  }
}

TEST_F(PassesTest, broadcastDimsHaveNoStride) {
  TensorType column(DataType::Float32, {Expr::symbol("b"), 1});
  TextOperand operand = broadcastOperand(column, {3, Expr::symbol("b"), 8}, program.symbols);
  EXPECT_EQ(operand.strides, (std::vector<Expr>{0, 1, 0}));
}

TEST_F(PassesTest, producersOfAnotherShapeStayOutside) {
  Value *row = call("aten.exp", {call("aten.sum.dim_IntList", {x, Argument::List{1}, true})});
  Value *sum = call("aten.add.Tensor", {call("aten.exp", {x}), row});
  std::vector<Node *> nodes = collectProducers(*sum->producer(), true, sum->type().shape, registry);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0]->target(), "aten.exp.default");
  EXPECT_EQ(nodes[1], sum->producer());
}

/// Which operands of launches are one memory, as far as a write shows it, by what operators say:
/// views are their operand, all else is memory of its own.
class WrittenTogether {
public:
  explicit WrittenTogether(const Program &program) {
    for (const Node &node : program.main) {
      if (node.isLaunch())
        note(node);
      else if (node.resultCount() && node.isCall() && node.calls("aten.view.default"))
        memory[node.result()] = memory.at(node.arg(0).value());
      else if (node.resultCount())
        memory[node.result()] = next++;
    }
  }
  std::vector<std::string> pairs;

private:
  void note(const Node &node) {
    const std::vector<LaunchOperand> &operands = node.launch()->operands;
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if ((writes(operands[i].access) || writes(operands[j].access)) &&
            memory.at(operands[i].value.value()) == memory.at(operands[j].value.value()))
          pairs.push_back(node.name() + " " + std::to_string(j) + " " + std::to_string(i));
    std::map<size_t, size_t> moved;
    for (size_t r = 0; r < node.resultCount(); ++r) {
      size_t before = memory.at(operands[node.launch()->resultOperands[r]].value.value());
      memory[node.result(r)] = moved.try_emplace(before, next++).first->second;
    }
  }
  std::map<const Value *, size_t> memory;
  size_t next = 0;
};

class CopiesTest : public PassesTest {
protected:
  Value *copyOf(Value *value) { return call("aten.copy.default", {x, value}); }
  Value *viewOf(Value *value) {
    return call("aten.view.default", {value, Argument::List{Expr::symbol("b"), 8}});
  }
  Node *launch(const std::vector<std::pair<Value *, Access>> &operands) {
    Launch launch;
    launch.variants.emplace_back();
    for (auto [value, access] : operands) {
      launch.operands.emplace_back();
      launch.operands.back().name = "p" + std::to_string(launch.operands.size());
      launch.operands.back().value = Argument(value);
      launch.operands.back().access = access;
    }
    return program.main.launch(std::move(launch), "launch");
  }
  size_t copiesLeft() {
    decomposeComposites(program, registry);
    std::vector<std::string> left = targets();
    return static_cast<size_t>(std::count(left.begin(), left.end(), "aten.clone.default"));
  }
};

// A launch writes where its operands lie: one value in two memories would be one memory.
TEST_F(CopiesTest, aCopyStaysWhereALaunchWritesBesideItsSource) {
  Node *apart = launch({{x, Access::Read}, {copyOf(x), Access::ReadWrite}});
  output({apart->result()});
  EXPECT_EQ(copiesLeft(), 1u);
}

TEST_F(CopiesTest, aCopyOfACopyIsAMemoryOfItsOwn) {
  Value *one = copyOf(x), *two = copyOf(one);
  Node *apart =
      launch({{viewOf(x), Access::Write}, {one, Access::Read}, {viewOf(two), Access::Write}});
  output({apart->result(0), apart->result(1)});
  EXPECT_EQ(copiesLeft(), 2u);
}

TEST_F(CopiesTest, whatIsOnlyReadIsNotCopied) {
  Value *one = copyOf(x);
  Node *reads = launch({{x, Access::Read}, {one, Access::Read}});
  Node *writes = launch({{copyOf(one), Access::ReadWrite}});
  static_cast<void>(reads);
  output({writes->result()});
  EXPECT_EQ(copiesLeft(), 0u);
}

// Random programs of copies, views and launches: before and after, the same operands share memory.
TEST_F(CopiesTest, launchesFindTheMemoriesThatTheProgramSays) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    program = Program();
    program.symbols.declare("b", {{1, 64}, 1, {}});
    x = program.main.placeholder("x", TensorType(DataType::Float32, {Expr::symbol("b"), 8}));
    program.inputs.push_back({InputSpec::Kind::UserInput, "x", {}, true});
    uint64_t state = seed;
    auto draw = [&](size_t below) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<size_t>(state >> 33) % below;
    };
    std::vector<Value *> values{x};
    for (size_t step = 0; step < 14; ++step) {
      Value *one = values[draw(values.size())];
      switch (draw(5)) {
      case 0:
      case 1:
        values.push_back(copyOf(one));
        break;
      case 2:
        values.push_back(viewOf(one));
        break;
      case 3:
        values.push_back(call("aten.relu.default", {one}));
        break;
      default: {
        std::vector<std::pair<Value *, Access>> operands;
        for (size_t i = 0; i < 2 + draw(2); ++i)
          operands.emplace_back(values[draw(values.size())],
                                draw(3) ? Access::ReadWrite : Access::Read);
        Node *node = launch(operands);
        for (size_t r = 0; r < node->resultCount(); ++r)
          values.push_back(node->result(r));
      }
      }
    }
    output({values.back()});
    std::vector<std::string> before = WrittenTogether(program).pairs;
    decomposeComposites(program, registry);
    EXPECT_EQ(WrittenTogether(program).pairs, before) << seed;
    EXPECT_EQ(program.main.verify(), std::vector<std::string>{}) << seed;
  }
}

/// One random call from the graph to buffers; the number of kernels, or nothing where it is
/// refused.
std::optional<size_t> lowered(const Operator &op, uint32_t seed) {
  graph::testing::RandomCalls random(seed);
  Node *node = random.call(op);
  if (!node)
    return std::nullopt;
  Program &program = random.program;
  std::vector<Argument> results;
  for (size_t r = 0; r < node->resultCount(); ++r)
    results.emplace_back(node->result(r));
  program.outputs.assign(results.size(), {OutputSpec::Kind::UserOutput, ""});
  program.main.output(std::move(results));
  for (Node *placeholder : program.main.placeholders())
    program.inputs.push_back({InputSpec::Kind::UserInput, placeholder->name(), {}, true});
  const OperatorRegistry &registry = OperatorRegistry::builtins();
  try {
    decomposeComposites(program, registry);
    detachEmptyTensors(program, registry);
    ownOutputs(program, registry);
    lowerToLaunches(program, registry, kernelOf, seed % 2 ? 0 : 90);
    planBuffers(program, [&](const Node &n) { return classifyLowered(n, registry); });
  } catch (const DiagnosticError &) {
    return std::nullopt;
  }
  EXPECT_EQ(program.main.verify(), std::vector<std::string>{}) << op.target() << " " << seed;
  return program.kernels.size();
}

// Reductions of constants, rows of tensors without dims and the like: every operator on tensors of
// all kinds of shapes either has kernels or is refused.
TEST(RandomCalls, areLoweredOrRefused) {
  size_t done = 0, seed = 0;
  for (const std::string &target : OperatorRegistry::builtins().targets())
    for (int i = 0; i < 25; ++i)
      done += lowered(*OperatorRegistry::builtins().find(target), static_cast<uint32_t>(++seed))
                  .has_value();
  EXPECT_GT(done, 800u);
}

TEST(KernelTextTest, contiguousDimsAreOneLoop) {
  SymbolTable symbols;
  symbols.declare("b", {{1, 64}, 1, {}});
  Expr b = Expr::symbol("b");
  PointwiseSpec spec{"copy", {b, 4, 8}, {{DataType::Float32, {32, 8, 1}, 0}},
                     {},     {},        {{DataType::Float32, {32, 8, 1}, 0}},
                     {"in0"}};
  KernelText text = writePointwise(spec, symbols);
  EXPECT_EQ(text.source.find("idx"), std::string::npos) << text.source;
  ASSERT_EQ(text.scalars.size(), 1u);
  EXPECT_EQ(text.scalars[0], b * 32);
}

TEST(KernelTextTest, aTransposedOperandKeepsTwoLoops) {
  SymbolTable symbols;
  PointwiseSpec spec{"copy", {4, 8}, {{DataType::Float32, {1, 4}, 0}},
                     {},     {},     {{DataType::Float32, {8, 1}, 0}},
                     {"in0"}};
  EXPECT_NE(writePointwise(spec, symbols).source.find("idx0"), std::string::npos);
}

TEST(RenameIdentifiers, LeavesAttributesExponentsAndKeywords) {
  std::map<std::string, std::string> names{{"min", "in0"}, {"e5", "in1"}, {"self", "v3"}};
  EXPECT_EQ(renameIdentifiers("tl.min(min, axis=min, min=self) + self.min", names),
            "tl.min(in0, axis=in0, min=v3) + v3.min");
  EXPECT_EQ(renameIdentifiers("1e5 * e5 + minimum(self == min)", names),
            "1e5 * in1 + minimum(v3 == in0)");
  EXPECT_EQ(renameIdentifiers("min", names), "in0");
}

} // namespace
} // namespace pellucid::passes
