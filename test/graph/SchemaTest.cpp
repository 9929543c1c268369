// SPDX-License-Identifier: Apache-2.0
#include "graph/Registry.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

using namespace pellucid;
using namespace pellucid::graph;

namespace {
// Every schema the registry holds prints as itself.
TEST(Schema, builtinsReadBack) {
  std::vector<std::string> targets = OperatorRegistry::builtins().targets();
  ASSERT_GT(targets.size(), 120u);
  for (const std::string &target : targets) {
    const Schema &schema = OperatorRegistry::builtins().find(target)->schema;
    std::string text = printSchema(schema);
    EXPECT_EQ(printSchema(parseSchema(text)), text);
    EXPECT_EQ(parseSchema(text).target(), target);
  }
}

TEST(Schema, everyConstructOfTheLanguage) {
  for (const char *text : {"ns::f(Tensor(a!) x, Tensor? y=None, *, int[2] k=[1, 2], float "
                           "eps=1e-05) -> (Tensor(a!), Tensor z)",
                           "ns::g.out(Tensor(a -> *) x, Tensor?[] list, str mode='none', Scalar "
                           "s=-1.5) -> Tensor(a)[]",
                           "h() -> ()", "(SymInt n, bool b=True, ScalarType? t=None) -> Tensor"})
    EXPECT_EQ(printSchema(parseSchema(text)), text);
  Schema mutating = parseSchema("m(Tensor(a!) x) -> ()");
  EXPECT_TRUE(mutating.mutates());
  EXPECT_EQ(mutating.arguments[0].type.alias, "a");
}

TEST(Schema, mistakesAreNamedInPlace) {
  auto message = [](const char *text) {
    try {
      parseSchema(text);
      return std::string("accepted");
    } catch (const DiagnosticError &e) {
      return std::string(e.what());
    }
  };
  EXPECT_NE(message("f(Tensr x) -> Tensor").find("schema:1:3: error: 'Tensr' is not a schema type"),
            std::string::npos);
  EXPECT_NE(message("f(Tensor x").find("expected ',', found the end"), std::string::npos);
  EXPECT_NE(message("f(Tensor x) - Tensor").find("schema:1:13: error: expected '->'"),
            std::string::npos);
  EXPECT_NE(message("f(Tensor x, int x) -> Tensor").find("two arguments are called 'x'"),
            std::string::npos);
  EXPECT_NE(message("f(int x=) -> Tensor").find("expected a default value"), std::string::npos);
}

TEST(Schema, argumentsBindByPositionNameAndDefault) {
  Schema schema =
      parseSchema("ns::f(Tensor x, int[2] size=3, *, float alpha=1.0, Tensor? y=None) -> Tensor");
  Graph graph;
  Value *x = graph.placeholder("x", TensorType(DataType::Float32, {4}));
  std::string error;
  auto bound = bindArguments(schema, std::vector<Argument>{x}, {{"alpha", 2}}, false, error);
  ASSERT_TRUE(bound) << error;
  EXPECT_EQ((*bound)[1], Argument(Argument::List{3, 3}));
  EXPECT_EQ((*bound)[2], Argument(2));
  EXPECT_TRUE((*bound)[3].isNone());
  auto refuse = [&](std::vector<Argument> args, KeywordArguments kwargs) {
    EXPECT_FALSE(bindArguments(schema, args, kwargs, false, error));
    return error;
  };
  EXPECT_EQ(refuse({}, {}), "ns.f.default needs the argument 'x' (Tensor)");
  EXPECT_EQ(refuse({x, 1, 2.0}, {}), "ns.f.default takes 2 positional arguments, got 3");
  EXPECT_EQ(refuse({x}, {{"beta", 1}}), "ns.f.default has no argument 'beta'");
  EXPECT_EQ(refuse({x}, {{"x", x}}), "ns.f.default got the argument 'x' twice");
  EXPECT_EQ(refuse({1.5}, {}), "ns.f.default expects 'x' to be Tensor, got 1.5");
  EXPECT_EQ(refuse({x, "a"}, {}), "ns.f.default expects 'size' to be int[2], got 'a'");
}
} // namespace
