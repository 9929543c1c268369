// SPDX-License-Identifier: Apache-2.0
#include "ExampleProgram.h"
#include "counted/CountedWork.h"
#include "graph/NodeTable.h"
#include "graph/ProgramText.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <random>

using namespace pellucid;
using namespace pellucid::graph;
using pellucid::package::LibraryKernel;
using namespace pellucid::graph::testing;

namespace {
Program parse(const std::string &text) {
  return parseProgram(std::make_shared<SourceFile>("p.graph", text));
}

std::string refusal(const std::string &text) {
  try {
    parse(text);
  } catch (const DiagnosticError &e) {
    return e.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Text, everyConstructReadsBackAndPrintsTheSameBytes) {
  Program program = exampleProgram();
  ASSERT_EQ(program.verify(), std::vector<std::string>());
  std::string text = printProgram(program);
  Program again = parse(text);
  EXPECT_EQ(printProgram(again), text);
  EXPECT_EQ(again.kernels[0].ttir, program.kernels[0].ttir);
  EXPECT_EQ(again.kernels[1].ttir, program.kernels[1].ttir);
  EXPECT_EQ(again.kernels[0].parameters, program.kernels[0].parameters);
  EXPECT_EQ(again.kernels[0].numerics, program.kernels[0].numerics);
  EXPECT_EQ(again.main.find("linear")->stackNote, program.main.find("linear")->stackNote);
  EXPECT_EQ(again.main.find("linear")->location.range.column, 9u);
  EXPECT_EQ(again.main.findValue("x")->type(), program.main.findValue("x")->type());
  EXPECT_EQ(printProgram(program.clone()), text);
}

TEST(Text, reads) {
  std::string text = printProgram(exampleProgram());
  EXPECT_EQ(text.substr(0, 31), "pellucid.program 1\nstrict True\n");
  EXPECT_NE(text.find("symbol batch 1..1024 hint 8\n"), std::string::npos);
  EXPECT_NE(text.find("  %linear: f32[batch, 4] = call linear aten.linear.default(%\"odd name\", "
                      "%p_linear_weight) at \"model.py\" 3 9 3 20"),
            std::string::npos);
  EXPECT_NE(
      text.find(
          "variant if `Eq(Mod(batch, 4), 0)` kernel 0 grid [(batch*4 + 1023)//1024, 1, 1] warps 4"),
      std::string::npos)
      << text;
}

TEST(Text, kernelsOfTheBackEndAreTyped) {
  using Kind = LibraryKernel::Kind;
  for (LibraryKernel library : {LibraryKernel{Kind::Gemm, DataType::BFloat16, true, true},
                                LibraryKernel{Kind::Gemm, DataType::Float32, false, true},
                                LibraryKernel{Kind::Pack, DataType::Float16},
                                LibraryKernel{Kind::Convolve, DataType::Float64, true},
                                LibraryKernel{Kind::Depthwise, DataType::Float32}}) {
    Program program = exampleProgram();
    program.kernels[1].library = library;
    std::string text = printProgram(program);
    EXPECT_EQ(parse(text).kernels[1].library, library) << toString(library);
    EXPECT_EQ(parse(text).kernels[0].library, std::nullopt);
    EXPECT_EQ(printProgram(parse(text)), text);
    std::string line = "  library " + toString(library) + "\n";
    EXPECT_NE(refusal(replaced(text, line, "  library multiply f32\n"))
                  .find("error: expected a kernel of the back end (gemm, pack, convolve or "
                        "depthwise), found 'multiply'"),
              std::string::npos);
    EXPECT_NE(refusal(replaced(text, line, "  library gemm f31\n")), "accepted");
    EXPECT_NE(refusal(replaced(text, line, "  library gemm f32 unpacked bias\n")), "accepted");
  }
  EXPECT_EQ(toString(LibraryKernel{Kind::Gemm, DataType::BFloat16, true, true}),
            "gemm bf16 bias unpacked");
}

TEST(Text, versionsAreRefusedByName) {
  EXPECT_EQ(refusal("pellucid.program 2\nstrict True\nend\n").substr(0, 76),
            "p.graph:1:18: error: the program has version 2, this reader takes version 1\n");
  EXPECT_NE(refusal("hello").find("p.graph:1:1: error: expected 'pellucid.program', found 'hello'"),
            std::string::npos);
  EXPECT_NE(refusal("").find("found the end of the file"), std::string::npos);
}

TEST(Text, mistakesAreNamedInPlace) {
  std::string text = printProgram(exampleProgram());
  auto refuse = [&](const std::string &from, const std::string &to) {
    return refusal(replaced(text, from, to));
  };
  EXPECT_NE(refuse("%p_linear_weight)", "%p_lin)").find("error: value '%p_lin' is not defined"),
            std::string::npos);
  EXPECT_NE(refuse("symbol n16", "symbol batch").find("declared twice"), std::string::npos);
  EXPECT_NE(refuse("call mul", "call linear").find("the name 'linear' is taken by another node"),
            std::string::npos);
  EXPECT_NE(refuse("f32[batch, 4]", "f3[batch, 4]").find("expected an element type, found 'f3'"),
            std::string::npos);
  EXPECT_NE(refuse("f32[batch, 4]", "f32[batch +, 4]").find("'batch +' is not an expression"),
            std::string::npos);
  EXPECT_NE(refuse("kernel 1 grid", "kernel 9 grid").find("launches kernel 9 of 2"),
            std::string::npos);
  EXPECT_NE(refuse("input buffer", "input pointer").find("expected one of user_input, parameter"),
            std::string::npos);
  EXPECT_NE(refuse(" body 0", " body 3").find("has body 3 of 1"), std::string::npos);
  std::string caret = refuse("readwrite unknown\n", "reads\n");
  EXPECT_NE(caret.find("expected none, read, write or readwrite, found 'reads'\n"),
            std::string::npos);
  EXPECT_NE(caret.find("reads\n"), std::string::npos);
  EXPECT_NE(caret.find("^"), std::string::npos);
}

// A cut or damaged text is a diagnostic or another valid program, never a crash.
TEST(Text, damageIsDiagnosed) {
  std::string text = printProgram(exampleProgram());
  for (size_t size = 0; size + 1 < text.size(); ++size)
    if (size + 4 < text.size() || text.substr(0, size).find("\nend") == std::string::npos)
      ASSERT_NE(refusal(text.substr(0, size)), "accepted") << size;
  std::mt19937 rng(7);
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 1 + i % 3; ++k)
      damaged[rng() % damaged.size()] = static_cast<char>(rng() % 3 ? 32 + rng() % 95 : rng());
    std::string message = refusal(damaged);
    if (message == "accepted")
      continue;
    ++refused;
    ASSERT_EQ(message.substr(0, 8), "p.graph:") << message;
  }
  EXPECT_GT(refused, 1000u);
}

TEST(NodeTable, printsAsTorchExportDoes) {
  Program program = exampleProgram();
  std::vector<NodeRow> rows = nodeRows(program, program.main);
  auto row = [&](std::string_view name) {
    for (const NodeRow &r : rows)
      if (r.name == name)
        return r;
    return NodeRow{};
  };
  EXPECT_EQ(row("linear").target, "aten.linear.default");
  EXPECT_EQ(row("linear").args, "(odd name, p_linear_weight)");
  EXPECT_EQ(row("getitem_1").target, "_operator.getitem");
  EXPECT_EQ(row("getitem_1").args, "(chunk, 1)");
  // The contents after a launch print as the tensor that was launched into.
  EXPECT_EQ(row("silu").args, "(empty_like,)");
  EXPECT_EQ(row("triton_kernel_wrapper_mutation").target, "triton_kernel_wrapper_mutation");
  EXPECT_NE(row("triton_kernel_wrapper_mutation")
                .kwargs.find("'kwargs': {'x_ptr': mul, 'out_ptr': empty_like, 'n': batch*4"),
            std::string::npos);
  EXPECT_EQ(row("output").args, "((scale_, silu, add, full, None, 7),)");
  std::string table = printNodeTable(rows);
  EXPECT_EQ(table.substr(0, 6), "opcode");
  EXPECT_EQ(static_cast<size_t>(std::count(table.begin(), table.end(), '\n')), rows.size() + 2);
}

void buildPrintAndRead(int nodes) {
  Program program;
  Value *x = program.main.placeholder("x", TensorType(DataType::Float32, {Expr::symbol("b"), 8}));
  program.symbols.declare("b", {{1, 9}, 1, {}});
  Value *y = x;
  for (int i = 0; i < nodes; ++i)
    y = emitCall(program.main, OperatorRegistry::builtins(), program.symbols, "aten.add", {y, x})
            ->result();
  program.main.output({y});
  program.inputs = {{InputSpec::Kind::UserInput, "x", {}, true}};
  program.outputs = {{}};
  std::string text = printProgram(program);
  EXPECT_EQ(printProgram(parse(text)), text);
}

TEST(Scale, textIsLinear) {
  double growth = test::growthOverEightfold(buildPrintAndRead, 500);
  EXPECT_GT(growth, 7) << "the work is not counted";
  EXPECT_LT(growth, 10);
}
} // namespace
