// SPDX-License-Identifier: Apache-2.0
/// What a program says of itself is held against its operators: by cases, by random changes of
/// texts and by random calls.
#include "ExampleProgram.h"
#include "RandomCalls.h"
#include "graph/CheckProgram.h"
#include "graph/ProgramText.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <random>

using namespace pellucid;
using namespace pellucid::graph;
using namespace pellucid::graph::testing;

namespace {
std::string refusal(const std::string &text) {
  try {
    parseProgram(std::make_shared<SourceFile>("p.graph", text));
  } catch (const DiagnosticError &e) {
    return e.what();
  }
  return "accepted";
}

struct Change {
  const char *from, *to;
  const char *expected; ///< of the refusal
};

class Reader : public ::testing::TestWithParam<Change> {};

TEST_P(Reader, refusesWhatDoesNotHold) {
  std::string text = printProgram(exampleProgram());
  ASSERT_EQ(refusal(text), "accepted");
  size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << GetParam().from << "\n" << text;
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  EXPECT_NE(refusal(text).find(GetParam().expected), std::string::npos) << refusal(text);
  EXPECT_EQ(refusal(text).substr(0, 8), "p.graph:");
}

const Change changes[] = {
    {"%linear: f32[batch, 4]", "%linear: f32[0]",
     "'aten.linear.default' gives f32[batch, 4], the program says f32[0]"},
    {"%linear: f32[batch, 4]", "%linear: bf16[batch, 4]", "the program says bf16[batch, 4]"},
    {"%linear: f32[batch, 4]", "%linear: f32[batch, 4] strides [1, batch]", "strides"},
    {"%linear: f32[batch, 4]", "%linear: f32[batch, 4] offset `1`", "offset"},
    {"%linear: f32[batch, 4]", "%linear: int `4`", "the program says int `4`"},
    {"call linear aten.linear.default", "call linear aten.no_such.default",
     "operator 'aten.no_such.default' is not registered"},
    {"aten.linear.default(%\"odd name\", %p_linear_weight)", "aten.linear.default(%\"odd name\")",
     "needs the argument 'weight'"},
    {"aten.linear.default(%\"odd name\", %p_linear_weight)",
     "aten.linear.default(%\"odd name\", %b_scale)", "a weight with 1 or 2, got [batch, 4] and []"},
    {"aten.chunk.default(%linear, 2, -1)", "aten.chunk.default(%linear, 1, -1)",
     "gives 1 results, the program says 2"},
    {"%b_scale: f32[]", "%b_scale: f32[64]",
     "the weight 'scale' is f32[], its placeholder says f32[64]"},
    {"(Tensor x, *, float alpha=1.0)", "(Tensyr x, *, float alpha=1.0)",
     "'Tensyr' is not a schema type"},
    {"grid [(batch*4 + 1023)//1024, 1, 1]", "grid [(other*4 + 1023)//1024, 1, 1]",
     "symbol 'other' is not declared"},
    {"grid [(batch*4 + 1023)//1024, 1, 1]", "grid [-1, 1, 1]", "a grid of -1 programs"},
    {"operand out_ptr = %empty_like readwrite unknown", "operand out_ptr = %empty_like read",
     "has 1 results for 0 written operands"},
    {"operand x_ptr = %mul read", "operand x_ptr = %mul none",
     "has 'x_ptr' as read, the launch as none"},
    {"operand x_ptr = %mul read", "operand x_ptr = 5 none",
     "takes 'x_ptr' as a pointer to f32, got 5"},
    {"operand x_ptr = %mul read", "operand y_ptr = %mul read",
     "takes 'x_ptr', which the launch does not give"},
    {"operand n = ", "operand n = \"4\" none\n    operand m = ", "as a number of type i32"},
    {" warps 4", " warps 0", "num_warps 0, expected 1 to 1024"},
    {" warps 4", " warps 3", "not a power of 2"},
    {"custom_ops.silu.default(", "custom_ops.silu.default(1, ", "takes 1 positional arguments"},
    {"result buffer_mutation \"scale\"", "result buffer_mutation \"scales\"",
     "there is no such tensor"},
    {" mutates 0", " mutates 1", "names 1 or others"},
    {"triton_op \"custom_ops::silu\"", "triton_op \"custom_ops::relu\"", "is not registered"},
};

INSTANTIATE_TEST_SUITE_P(Changes, Reader, ::testing::ValuesIn(changes));

//===-- Bodies --------------------------------------------------------------------------------===//

/// `count` operators, each of which calls the next `calls` times.
Program nested(int count, int calls, bool inRing) {
  Program program;
  TensorType type(DataType::Float32, {4});
  auto call = [&](Graph &g, Value *x, int which) {
    Node *node = g.call("n.f" + std::to_string(which) + ".default", {x}, {}, {type});
    node->body = static_cast<uint32_t>(which);
    return node->result();
  };
  for (int i = 0; i < count; ++i) {
    program.operators.push_back({"n::f" + std::to_string(i), "(Tensor x) -> Tensor", {}, {}});
    Graph &g = program.bodies.emplace_back(Body{"n::f" + std::to_string(i), {}}).graph;
    Value *x = g.placeholder("x", type);
    if (i + 1 < count || inRing)
      for (int c = 0; c < calls; ++c)
        x = call(g, x, (i + 1) % count);
    g.output({x});
  }
  Value *x = program.main.placeholder("x", type);
  program.main.output({call(program.main, x, 0)});
  program.inputs = {{InputSpec::Kind::UserInput, "x", {}, true}};
  program.outputs = {{}};
  return program;
}

TEST(Bodies, areOpenedWithinBounds) {
  EXPECT_EQ(refusal(printProgram(nested(10, 2, false))), "accepted");
  EXPECT_NE(refusal(printProgram(nested(3, 1, true))).find("'n::f0' calls itself"),
            std::string::npos);
  EXPECT_NE(refusal(printProgram(nested(60, 2, false))).find("more than 1000000 nodes"),
            std::string::npos);
  EXPECT_NE(refusal(printProgram(nested(5000, 1, false))).find("more than 256 levels"),
            std::string::npos);
}

//===-- Random changes ------------------------------------------------------------------------===//

/// A text with one number, type, name or sign replaced by another one of the text or of a list.
std::string changed(const std::string &text, std::mt19937 &rng) {
  static const char *const words[] = {"0",    "-1",   "1",      "7",       "9223372036854775807",
                                      "f16",  "i64",  "bool",   "f64",     "None",
                                      "True", "nan",  "[]",     "`batch`", "\"x\"",
                                      "read", "none", "[0, 1]", "1e300",   "%x"};
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  size_t main = text.find("\nmain {");
  for (;;) {
    size_t begin = main + rng() % (text.size() - main);
    while (begin < text.size() && !isWord(text[begin]))
      ++begin;
    size_t end = begin;
    while (end < text.size() && isWord(text[end]))
      ++end;
    if (end == begin)
      continue;
    std::string out = text;
    return out.replace(begin, end - begin, words[rng() % std::size(words)]);
  }
}

// A changed text is refused with a place, or it is a program whose every node holds.
TEST(RandomChanges, areRefusedOrHold) {
  std::string text = printProgram(exampleProgram());
  std::mt19937 rng(11);
  size_t accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string other = changed(text, rng);
    if (i % 3 == 0)
      other = changed(other, rng);
    std::string message = refusal(other);
    if (message != "accepted") {
      ASSERT_EQ(message.substr(0, 8), "p.graph:") << message << other;
      continue;
    }
    ++accepted;
    Program program = parseProgram(std::make_shared<SourceFile>("p.graph", other));
    ASSERT_EQ(program.verify(), std::vector<std::string>());
  }
  EXPECT_GT(accepted, 20u);
  EXPECT_LT(accepted, 1000u);
}

//===-- Random calls --------------------------------------------------------------------------===//

// Whatever an operator takes, it says the same of it again, and what it decomposes to has its type.
TEST(RandomCalls, areRefusedOrHold) {
  RandomCalls random(5);
  size_t taken = 0, opened = 0;
  for (const std::string &target : OperatorRegistry::builtins().targets()) {
    const Operator &op = *OperatorRegistry::builtins().find(target);
    for (int i = 0; i < 80; ++i) {
      Node *node = random.call(op);
      if (!node)
        continue;
      ++taken;
      // Types of calls that were made before are looked up: they are those of the call itself.
      auto bound = callOf(*node, OperatorRegistry::builtins(), random.program.symbols);
      std::vector<ResultType> own = resultsOf(*bound);
      for (size_t r = 0; r < own.size() && node->result(r)->isTensor(); ++r)
        EXPECT_EQ(std::get<TensorType>(own[r]), node->result(r)->type()) << target;
      if (!op.decompose)
        continue;
      try {
        std::vector<Value *> values = decompose(
            random.program.main, *node, OperatorRegistry::builtins(), random.program.symbols);
        if (values.empty()) // stays as it is
          continue;
        ASSERT_EQ(values.size(), node->resultCount()) << target;
        for (size_t r = 0; r < values.size(); ++r) {
          EXPECT_EQ(values[r]->type().dtype, node->result(r)->type().dtype) << target;
          EXPECT_EQ(values[r]->type().rank(), node->result(r)->type().rank()) << target;
        }
        ++opened;
      } catch (const DiagnosticError &) {
        // What only the parts refuse.
      }
    }
  }
  EXPECT_GT(taken, 2000u);
  EXPECT_GT(opened, 200u);
  random.program.main.output({});
  for (Node *node : random.program.main.placeholders())
    random.program.inputs.push_back({InputSpec::Kind::UserInput, node->name(), {}, true});
  ASSERT_EQ(random.program.verify(), std::vector<std::string>());
  checkProgram(random.program, OperatorRegistry::builtins(),
               [](const Node &node) { return SourceLocation(node.name()); });
  std::string text = printProgram(random.program);
  EXPECT_EQ(refusal(text), "accepted");
}
} // namespace
