// SPDX-License-Identifier: Apache-2.0
/// How the files that write kernels write them (KernelText.h says what).
#pragma once

#include "passes/graph/KernelText.h"

#include <map>

namespace pellucid::passes {

using symbolic::Expr;
using symbolic::SymbolTable;

/// As kernels write it.
inline std::string number(int64_t value) { return std::to_string(value); }

/// The least power of two that is not below `n`.
inline int64_t powerOver(int64_t n) {
  int64_t power = 1;
  while (power < n)
    power *= 2;
  return power;
}

/// Collects the lines, the pointer parameters and the scalar parameters of one kernel.
class KernelWriter {
public:
  explicit KernelWriter(std::string n) : name(std::move(n)) {}

  std::string pointer(const std::string &wanted);
  /// A literal for a constant, else the name of the parameter that carries it.
  std::string scalar(const Expr &expr);
  /// The parameter's name, for a constant too.
  std::string argument(const Expr &expr);
  void line(const std::string &text);
  void lines(const std::vector<std::string> &texts);
  void open(const std::string &text);
  /// A program per BLOCK of a row of `size`: `row`, the elements' places `column` in it, and
  /// `mask`.
  void chunksOfRows(const std::string &size, const std::string &column);
  void close() { --indent; }

  /// `offset + index0 * stride0 + …`; indices are names of int64 values.
  std::string address(const TextOperand &operand, const std::vector<std::string> &indices);
  /// Emits `name_d = …` for the first `count` dimensions from the linear index `linear`; returns
  /// their names.
  std::vector<std::string> delinearize(const std::string &linear, const std::vector<Expr> &shape,
                                       size_t count, const std::string &prefix);
  /// A device assertion; the run fails with `message`.
  void check(const std::string &condition, const std::string &message, const SourceLocation &where);
  void body(const std::vector<TextScalar> &scalars, const std::vector<TextStatement> &statements);

  KernelText finish(Expr grid, int64_t block);

  std::string helper; ///< a function before the kernel

private:
  std::string name, text;
  size_t indent = 1;
  std::vector<std::string> pointerNames;
  std::map<std::string, std::string> scalarNames;
  std::vector<Expr> scalars;
  std::vector<SourceLocation> assertions;
};

/// The tile length for a loop over `extent`: a power of two, no longer than the extent needs.
int64_t chooseBlock(const Expr &extent, const SymbolTable &symbols, int64_t most);

Expr product(const std::vector<Expr> &values, size_t begin, size_t end);

/// Drops dimensions of size one and merges neighbours in [begin, end) of `shape`; returns the new
/// end. Dimensions that a window counts along stay what they are.
size_t collapse(std::vector<Expr> &shape, size_t begin, size_t end,
                const std::vector<TextOperand *> &operands,
                const std::vector<TextWindow *> &windows = {});

std::vector<TextOperand *> pointersTo(std::vector<TextOperand> &operands);

std::string storeText(const std::string &pointer, const std::string &address,
                      const std::string &value, DataType type, const std::string &mask);

bool anyStrideAlong(const TextOperand &operand, size_t begin);

} // namespace pellucid::passes
