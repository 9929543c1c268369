// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelWriter.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pellucid::passes {

std::string tlName(DataType type) {
  switch (type) {
  case DataType::Bool:
    return "tl.int1";
  case DataType::Float8E4M3FN:
    return "tl.float8e4nv";
  case DataType::Float8E5M2:
    return "tl.float8e5";
  case DataType::Float8E4M3FNUZ:
    return "tl.float8e4b8";
  case DataType::Float8E5M2FNUZ:
    return "tl.float8e5b16";
  default:
    return "tl." + std::string(info(type).torch);
  }
}

std::string roundedToTf32(const std::string &name) {
  std::string bits = name + ".to(tl.int32, bitcast=True)";
  return "tl.where(" + name + " == " + name + ", ((" + bits + " + (((" + bits +
         " >> 13) & 1) + 4095)) & -8192).to(tl.float32, bitcast=True), " + name + ")";
}

std::string tlNumber(double value) {
  if (std::isnan(value))
    return "float('nan')";
  if (std::isinf(value))
    return value > 0 ? "float('inf')" : "float('-inf')";
  char text[40];
  std::string result(
      text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 17).ptr);
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

std::string KernelWriter::pointer(const std::string &wanted) {
  pointerNames.push_back(wanted);
  return wanted;
}

std::string KernelWriter::scalar(const Expr &expr) {
  auto value = expr.constant();
  return value ? std::to_string(*value) : argument(expr);
}

std::string KernelWriter::argument(const Expr &expr) {
  auto [entry, isNew] = scalarNames.try_emplace(expr.text(), "e" + std::to_string(scalars.size()));
  if (isNew)
    scalars.push_back(expr);
  return entry->second;
}

void KernelWriter::line(const std::string &one) {
  text += std::string(4 * indent, ' ') + one + "\n";
}

void KernelWriter::lines(const std::vector<std::string> &texts) {
  for (const std::string &one : texts)
    line(one);
}

void KernelWriter::chunksOfRows(const std::string &size, const std::string &column) {
  line("pid = tl.program_id(0).to(tl.int64)");
  line("chunks = tl.cdiv(" + size + ", BLOCK)");
  line("row = pid // chunks");
  line(column + " = (pid % chunks) * BLOCK + tl.arange(0, BLOCK)");
  line("mask = " + column + " < " + size);
}

void KernelWriter::open(const std::string &one) {
  line(one);
  ++indent;
}

std::string KernelWriter::address(const TextOperand &operand,
                                  const std::vector<std::string> &indices) {
  std::string text;
  auto add = [&](const std::string &term) { text += text.empty() ? term : " + " + term; };
  if (operand.offsetIsArgument)
    add(argument(operand.offset));
  else if (operand.offset.constant() != 0)
    add(scalar(operand.offset));
  for (size_t d = 0; d < operand.strides.size(); ++d) {
    auto stride = operand.strides[d].constant();
    if (stride == 0 || indices[d].empty())
      continue;
    add(stride == 1 ? indices[d] : indices[d] + " * " + scalar(operand.strides[d]));
  }
  return text.empty() ? "0" : text;
}

std::vector<std::string> KernelWriter::delinearize(const std::string &linear,
                                                   const std::vector<Expr> &shape, size_t count,
                                                   const std::string &prefix) {
  std::vector<std::string> names(count);
  std::string rest = linear;
  for (size_t d = count; d-- > 0;) {
    names[d] = prefix + std::to_string(d);
    if (d == 0) {
      line(names[d] + " = " + rest);
      break;
    }
    std::string size = scalar(shape[d]);
    line(names[d] + " = " + rest + " % " + size);
    line(prefix + "rest" + std::to_string(d) + " = " + rest + " // " + size);
    rest = prefix + "rest" + std::to_string(d);
  }
  return names;
}

void KernelWriter::body(const std::vector<TextScalar> &values,
                        const std::vector<TextStatement> &statements) {
  for (const TextScalar &value : values)
    line(value.name + " = " + scalar(value.value));
  for (const TextStatement &statement : statements)
    if (statement.failure.empty())
      line(statement.name + " = " + statement.text);
    else
      check("(" + statement.text + ") | (mask == 0)", statement.failure, statement.where);
}

void KernelWriter::check(const std::string &condition, const std::string &message,
                         const SourceLocation &where) {
  line("tl.device_assert(" + condition + ", \"" + message + "\")");
  assertions.push_back(where);
}

KernelText KernelWriter::finish(Expr grid, int64_t block) {
  std::string parameters;
  for (const std::string &p : pointerNames)
    parameters += p + ", ";
  for (size_t i = 0; i < scalars.size(); ++i)
    parameters += "e" + std::to_string(i) + ", ";
  KernelText out;
  out.name = name;
  out.source = "import triton\nimport triton.language as tl\nfrom triton.language.extra import "
               "libdevice\n\n\n" +
               helper + "@triton.jit\ndef " + name + "(" + parameters +
               "BLOCK: tl.constexpr = " + std::to_string(block) + "):\n" + text;
  out.pointers = pointerNames.size();
  out.scalars = scalars;
  out.grid = grid;
  out.assertions = assertions;
  return out;
}

int64_t chooseBlock(const Expr &extent, const SymbolTable &symbols, int64_t most) {
  int64_t upper = std::min(symbols.range(extent).max, most);
  int64_t block = 16;
  while (block < upper)
    block *= 2;
  return std::min(block, most);
}

Expr product(const std::vector<Expr> &values, size_t begin, size_t end) {
  Expr result = 1;
  for (size_t i = begin; i < end; ++i)
    result = result * values[i];
  return result;
}

namespace {

/// Dimension d may be merged into d+1 when stepping it once equals running through all of d+1, for
/// every operand.
bool canMerge(size_t d, const std::vector<Expr> &shape,
              const std::vector<TextOperand *> &operands) {
  for (const TextOperand *operand : operands)
    if (!(operand->strides[d] == operand->strides[d + 1] * shape[d + 1]))
      return false;
  return true;
}

} // namespace

size_t collapse(std::vector<Expr> &shape, size_t begin, size_t end,
                const std::vector<TextOperand *> &operands,
                const std::vector<TextWindow *> &windows) {
  auto isCounted = [&](size_t d) {
    return std::any_of(windows.begin(), windows.end(),
                       [&](const TextWindow *window) { return window->dim == d; });
  };
  auto drop = [&](size_t d) {
    for (TextWindow *window : windows)
      window->dim -= window->dim > d;
    shape.erase(shape.begin() + static_cast<long>(d));
    for (TextOperand *operand : operands)
      operand->strides.erase(operand->strides.begin() + static_cast<long>(d));
    --end;
  };
  for (size_t d = end; d-- > begin;)
    if (shape[d].constant() == 1 && !isCounted(d))
      drop(d);
  for (size_t d = end; d-- > begin;) {
    if (d + 1 >= end || isCounted(d) || isCounted(d + 1) || !canMerge(d, shape, operands))
      continue;
    shape[d + 1] = shape[d] * shape[d + 1];
    drop(d);
  }
  return end;
}

std::vector<TextOperand *> pointersTo(std::vector<TextOperand> &operands) {
  std::vector<TextOperand *> result;
  for (TextOperand &operand : operands)
    result.push_back(&operand);
  return result;
}

std::string storeText(const std::string &pointer, const std::string &address,
                      const std::string &value, DataType type, const std::string &mask) {
  return "tl.store(" + pointer + " + (" + address + "), (" + value + ").to(" + tlName(type) + ")" +
         (mask.empty() ? "" : ", mask=" + mask) + ")";
}

bool anyStrideAlong(const TextOperand &operand, size_t begin) {
  for (size_t d = begin; d < operand.strides.size(); ++d)
    if (operand.strides[d].constant() != 0)
      return true;
  return false;
}

} // namespace pellucid::passes
