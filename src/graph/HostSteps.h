// SPDX-License-Identifier: Apache-2.0
/// What the host does between the launches of a call: it reads sizes that values decide, and checks
/// what the program says of them.
#pragma once

#include "graph/Program.h"

#include <set>

namespace pellucid::graph {

/// `read_size(tensor, symbol, most, text) -> int`: a tensor of one int64 holds the value of
/// `symbol`, which is known from here on. The result is the symbol itself; nothing needs to use it.
inline constexpr std::string_view readSizeTarget = "pellucid.read_size";
/// `check_sizes(condition, text)`: a call in which it does not hold ends with the text.
inline constexpr std::string_view checkSizesTarget = "pellucid.check_sizes";

bool isHostStep(const Node &node);

struct SizeRead {
  Value *from = nullptr;
  std::string symbol;
  Expr most = 0;
  std::string text;
};
SizeRead sizeReadOf(const Node &node);

struct SizeCheck {
  Expr condition = 0;
  std::string text;
};
SizeCheck sizeCheckOf(const Node &node);

/// Why the node is not what its target says; empty when it is.
std::string whyNotHostStep(const Node &node);

/// The symbols that some graph of the program reads.
std::set<std::string> readSymbols(const Program &program);

} // namespace pellucid::graph
