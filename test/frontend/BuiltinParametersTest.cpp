// SPDX-License-Identifier: Apache-2.0
/// No parameter of a built-in is taken and ignored: every optional one has a row in
/// builtin_parameters.txt, and the rows are true.
#include "frontend/Emitter.h"
#include "frontend/KernelCases.h"

#include "tt/Tt.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace pellucid::frontend {
namespace {

using Key = std::pair<std::string, std::string>;

struct Row {
  Key key;
  std::string kind, expression, text;
};

std::vector<Row> rows() {
  std::ifstream file(std::string(PELLUCID_SOURCE_DIR) + "/test/frontend/builtin_parameters.txt");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> cells;
    for (size_t at = 0; at <= line.size();) {
      size_t bar = std::min(line.find(" | ", at), line.size());
      cells.push_back(line.substr(at, bar - at));
      at = bar + 3;
    }
    bool argued = cells.at(2) == "argued";
    out.push_back({{cells.at(0), cells.at(1)},
                   cells.at(2),
                   argued ? "" : cells.at(3),
                   cells.at(argued ? 3 : 4)});
  }
  return out;
}

const char *const before = R"py(import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def plus(a, b):
    return a + b

@triton.jit
def twice(a):
    return a + a

@triton.jit
def twice_two(a, b):
    return a + a, b + b

@triton.jit
def kernel(p, q, h, n, s):
    i = tl.arange(0, 16)
    square = i[:, None] * 16 + i[None, :]
    t = tl.load(p + i)
    j = tl.load(q + i)
    u = j.to(tl.uint32)
    c = j > 0
    m = tl.load(p + square)
    m2 = tl.load(p + 256 + square)
    h2 = tl.load(h + square)
    block = tl.make_block_ptr(p, (64,), (1,), (0,), (16,), (0,))
    desc = tl.make_tensor_descriptor(p, [64, 64], [64, 1], [16, 16])
)py";

/// The kernel's IR, or what the kernel is refused with.
struct Emitted {
  std::string ir, refusal;
};

Emitted emitted(const std::string &expression) {
  std::string last =
      expression[0] == '!' ? expression.substr(1) : "tl.device_print(\"r\", " + expression + ")";
  static int count = 0;
  try {
    host::Interpreter interpreter{host::InterpreterOptions()};
    auto module = interpreter.importSource(
        "case_" + std::to_string(++count),
        std::make_shared<SourceFile>("case.py", before + ("    " + last) + "\n"));
    auto kernel = test::kernelNamed(*module, "kernel");
    auto specs = test::parseSignature(interpreter, *kernel, "*fp32, *i32, *fp16, i32, fp32");
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    tt::loadTtDialects(context);
    Diagnostics diagnostics;
    auto ir = emitKernel(interpreter, *kernel, specs, context, diagnostics, nullptr);
    if (!ir)
      return {"", diagnostics.text()};
    return {tt::printTtir(*ir), ""};
  } catch (const DiagnosticError &error) {
    return {"", error.what()};
  }
}

std::vector<std::string> optionalNames(const std::string &signature) {
  std::vector<std::string> names;
  std::stringstream parts(signature);
  for (std::string part; std::getline(parts, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    if (part.find('=') != std::string::npos)
      names.push_back(part.substr(0, part.find('=')));
    else if (part.size() > 1 && part[0] == '*')
      names.push_back(part);
  }
  return names;
}

TEST(BuiltinParameters, everyOneHasARow) {
  std::set<Key> known;
  std::set<std::string> functions = {"range", "static_range", "libdevice.pow"};
  for (const Row &row : rows())
    EXPECT_TRUE(known.insert(row.key).second)
        << row.key.first << " | " << row.key.second << " has two rows";
  std::vector<std::string> names = builtinNames();
  names.push_back("descriptor_load");
  for (const std::string &name : names) {
    std::vector<std::string> optional;
    if (const char *signature = findBuiltin(name)->signature)
      optional = optionalNames(signature);
    else
      for (const auto &parameter : standardFunction(name)->parameters)
        if (parameter.defaultValue)
          optional.push_back(parameter.name);
    if (!optional.empty())
      functions.insert(name);
    for (const std::string &parameter : optional)
      EXPECT_TRUE(known.count({name, parameter}))
          << "builtin_parameters.txt has no row for " << name << " | " << parameter;
  }
  for (const auto &[function, parameter] : known)
    EXPECT_TRUE(functions.count(function)) << "there is no built-in " << function;
}

TEST(BuiltinParameters, rowsAreTrue) {
  for (const Row &row : rows()) {
    SCOPED_TRACE(row.key.first + " | " + row.key.second + ": " + row.expression);
    if (row.kind == "argued")
      continue;
    Emitted given = emitted(row.expression);
    if (row.kind == "refused") {
      EXPECT_NE(given.refusal.find(row.text), std::string::npos) << given.refusal;
      continue;
    }
    EXPECT_EQ(given.refusal, "");
    if (row.kind == "changes") {
      Emitted base = emitted(row.text);
      EXPECT_EQ(base.refusal, "");
      EXPECT_NE(given.ir, base.ir);
    } else {
      EXPECT_EQ(row.kind, "same");
    }
  }
}

} // namespace
} // namespace pellucid::frontend
