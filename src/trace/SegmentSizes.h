// SPDX-License-Identifier: Apache-2.0
/// What two segments of a script have in common: their operators, and how their sizes differ.
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::trace {

/// A segment taken apart. Segments with equal text and equal sizes are computed by one package;
/// those with equal text do the same with other sizes.
struct SegmentKey {
  std::string text;           ///< everything but the sizes; names and lines are left out
  std::vector<int64_t> sizes; ///< sizes and strides of inputs, integer arguments, grids, in order

  /// Both, as one text.
  std::string whole() const;
};

SegmentKey keyOf(const graph::Program &program);

/// Sizes as expressions over symbols, found from segments with one text. That an expression was
/// found proves nothing: what takes the place of a segment is asked for every segment anew whether
/// its sizes are those of the segment.
class SizePattern {
public:
  /// A symbol has one value in `samples` per segment, none of them 0 or 1. Nullopt where no
  /// expressions are found for the segments' sizes.
  static std::optional<SizePattern> of(const graph::Program &program,
                                       const graph::OperatorRegistry &registry,
                                       const std::vector<std::vector<int64_t>> &samples);

  /// The symbols' values where the expressions give these very sizes, in the symbols' ranges; else
  /// nullopt.
  std::optional<std::vector<int64_t>> valuesFor(const std::vector<int64_t> &sizes) const;

  /// `program`, which must be the one with the last of the samples, over the symbols. Behind its
  /// own inputs it has one of bytes per free symbol, whose size is the symbol's value and whose
  /// elements are not read. Nullopt where an operator does not take symbols at these places. Where
  /// only some sizes do, such as those of which a window is cut, the symbols' ranges become
  /// smaller.
  std::optional<graph::Program> generalized(const graph::Program &program,
                                            const graph::OperatorRegistry &registry);

  /// Symbols that are no size of an input, as indices of valuesFor's result.
  const std::vector<size_t> &freeSymbols() const { return free; }

  /// Whether results of these types, generalized()'s, are `program`'s under the symbols' values.
  bool givesResultsOf(const graph::Program &program, const std::vector<graph::TensorType> &general,
                      const std::vector<int64_t> &values) const;

private:
  struct Symbol {
    std::string name;
    size_t place; ///< in the sizes
    int64_t least = 2, most = INT64_MAX;
    int64_t smallest = 0, largest = 0; ///< of the samples, as powers of two about them
  };
  std::optional<graph::Program> overSymbols(const graph::Program &program,
                                            const graph::OperatorRegistry &registry) const;
  std::vector<Symbol> symbols;
  std::vector<size_t> free;
  std::vector<graph::Expr> expressions; ///< per size
  std::vector<size_t> varying;          ///< the sizes whose expressions are no constants
  std::vector<int64_t> example;         ///< the last sample

  friend class PatternSearch;
};

/// The types of a program's results.
std::vector<graph::TensorType> resultTypes(const graph::Program &program);

} // namespace pellucid::trace
