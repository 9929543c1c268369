// SPDX-License-Identifier: Apache-2.0
/// Sizes that values decide: an integer that a tensor holds becomes a symbol of the program, which
/// a call reads on its way (graph/HostSteps.h).
#pragma once

#include "trace/TensorCalls.h"

namespace pellucid::trace {

/// The one integer in `tensor` as a size in [least, most]; `text` says to people what reads it. A
/// plain number where the trace knows it.
host::Value readSize(Tracer &tracer, host::Interpreter &interpreter, const host::Value &tensor,
                     int64_t least, const Expr &most, const std::string &text);
/// x.item(), a number computed from such numbers, or any other int, as a size.
host::Value sizeOf(Tracer &tracer, host::Interpreter &interpreter, const host::Value &number);
/// A call in which `condition` does not hold ends with `text`; nothing where it always holds.
/// Ranges of sizes that are read become narrower by it.
void checkSizes(Tracer &tracer, host::Interpreter &interpreter, const Expr &condition,
                const std::string &text);
/// What `torch._check` is given: the condition over sizes, comparisons of x.item() too. nullopt for
/// what is no condition over sizes.
std::optional<Expr> sizeCondition(Tracer &tracer, host::Interpreter &interpreter,
                                  const host::Value &condition);
/// Whether values decide some of the sizes in it.
bool mentionsRead(const Tracer &tracer, const Expr &e);
/// A tensor as large as a size that is read: that size is none below 0.
void noteSizes(Tracer &tracer, const graph::TensorType &type);
/// Where the user's text calls what is written with others.
SourceLocation usersLocation(const host::Interpreter &interpreter);
/// The name that comparisons of x.item() hang on the tensors that they give: operator and operands.
inline constexpr std::string_view comparisonName = "__pellucid_comparison__";

/// `_read_size`, `_check_sizes`, … for the operators that are written with them.
void addSizeReads(host::Module &module);

} // namespace pellucid::trace
