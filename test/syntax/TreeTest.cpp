// SPDX-License-Identifier: Apache-2.0
/// Shapes and ranges that the comparison with CPython 3.11 cannot cover, and the reading of a tree
/// as other parts do it.
#include "syntax/ParseSource.h"

#include <gtest/gtest.h>

namespace pellucid::syntax {
namespace {

std::string dumpStatement(const std::string &text) {
  std::string whole = dump(*parseSource(text));
  return whole.substr(13, whole.size() - 13 - 19);
}

TEST(Tree, TypeParameters) {
  EXPECT_EQ(dumpStatement("def f[T: int, *Ts, **P](): pass"),
            "FunctionDef(name='f', args=arguments(posonlyargs=[], args=[], kwonlyargs=[], "
            "kw_defaults=[], "
            "defaults=[]), body=[Pass()], decorator_list=[], type_params=[TypeVar(name='T', "
            "bound=Name(id='int', "
            "ctx=Load())), TypeVarTuple(name='Ts'), ParamSpec(name='P')])");
  EXPECT_EQ(dumpStatement("class C[T,](B): pass"),
            "ClassDef(name='C', bases=[Name(id='B', ctx=Load())], keywords=[], body=[Pass()], "
            "decorator_list=[], "
            "type_params=[TypeVar(name='T')])");
}

TEST(Tree, TypeAlias) {
  EXPECT_EQ(dumpStatement("type X[T] = list[T]"),
            "TypeAlias(name=Name(id='X', ctx=Store()), type_params=[TypeVar(name='T')], "
            "value=Subscript(value=Name(id='list', ctx=Load()), slice=Name(id='T', ctx=Load()), "
            "ctx=Load()))");
  EXPECT_EQ(dumpStatement("type match = int"),
            "TypeAlias(name=Name(id='match', ctx=Store()), type_params=[], "
            "value=Name(id='int', ctx=Load()))");
}

TEST(Tree, NodesAreReachedByKind) {
  auto module = parseSource("@jit\ndef k(x, BLOCK: tl.constexpr = 4):\n  return x + 1\n");
  const auto *function = as<FunctionDef>(module->body[0].get());
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(as<ClassDef>(module->body[0].get()), nullptr);
  EXPECT_EQ(rangeOf(*function), "2:1-3:15");
  EXPECT_EQ(rangeOf(*function->decoratorList[0]), "1:2-1:5");
  EXPECT_EQ(rangeOf(*function->args.args[1]), "2:10-2:29");
  EXPECT_EQ(as<Attribute>(function->args.args[1]->annotation.get())->attr, "constexpr");
  const auto *sum = as<BinOp>(as<Return>(function->body[0].get())->value.get());
  EXPECT_EQ(sum->op, Operator::Add);
  EXPECT_EQ(module->locate(*sum).range.column, 10u);
}

TEST(Tree, ParenthesesWidenTheOuterNodeOnly) {
  auto module = parseSource("(a) * (b)");
  const auto *product = as<BinOp>(as<ExprStmt>(module->body[0].get())->value.get());
  EXPECT_EQ(rangeOf(*product), "1:1-1:10");
  EXPECT_EQ(rangeOf(*product->left), "1:2-1:3");
}

TEST(Tree, ExpressionAlone) {
  auto parse = [](std::string text) {
    return parseExpression(std::make_shared<SourceFile>("e", std::move(text)));
  };
  EXPECT_EQ(parse("a + 1")->kind, ExprKind::BinOp);
  EXPECT_EQ(parse("{'x': (1, 2)}\n")->kind, ExprKind::Dict);
  EXPECT_THROW(parse("a = 1"), DiagnosticError);
  EXPECT_THROW(parse("a; b"), DiagnosticError);
  EXPECT_THROW(parse(""), DiagnosticError);
}

TEST(Tree, ByteOrderMarkIsNoPartOfTheText) {
  auto module = parseSource("\xEF\xBB\xBFx = 'é'");
  EXPECT_EQ(rangeOf(*module->body[0]), "1:1-1:9");
  EXPECT_EQ(module->file->line(1), "x = 'é'");
}

TEST(Tree, Latin1IsDecoded) {
  auto module = parseSource("# coding: latin-1\nx = '\xE9'");
  EXPECT_EQ(as<Constant>(as<Assign>(module->body[0].get())->value.get())->text, "é");
}

TEST(Tree, EmptyFile) {
  EXPECT_TRUE(parseSource("")->body.empty());
  EXPECT_TRUE(parseSource("\n  # only a comment")->body.empty());
}

} // namespace
} // namespace pellucid::syntax
