// SPDX-License-Identifier: Apache-2.0
/// What PyTorch raises where operands do not fit, as the exceptions that a script can catch.
#pragma once

#include "trace/EagerRecorder.h"

#include <optional>
#include <string>

namespace pellucid::trace {

class TensorObject;

/// A Python exception, by the name of its class.
struct OperandError {
  std::string type, text;
};

/// What PyTorch raises for a call with these arguments. nullopt where it takes them, or where that
/// is not known: what is missing here is refused, and no `except` catches it.
std::optional<OperandError> operandError(const graph::OperatorRegistry &registry,
                                         const std::string &packet,
                                         const std::vector<graph::Argument> &positional,
                                         const graph::KeywordArguments &keywords);

/// What PyTorch raises for a call that no overload takes: a keyword that it does not have, one that
/// lacks, a list with what is no tensor. nullopt as above.
std::optional<OperandError> argumentError(host::Interpreter &interpreter,
                                          const graph::OperatorRegistry &registry,
                                          const std::string &packet,
                                          const std::vector<graph::Argument> &positional,
                                          const graph::KeywordArguments &keywords);

/// What PyTorch raises where a condition or a mask is none, for clamp() without bounds, which would
/// be computed all the same, and for negative powers of integers, which are refused later.
std::optional<OperandError> conditionError(const std::string &target,
                                           const std::vector<graph::Argument> &positional,
                                           const graph::KeywordArguments &keywords);

/// Raises what PyTorch raises where the call `written.NAME_(args)`, or NAME with `out=written`,
/// reads places that it writes, other than element by element, or writes one place several times.
void checkOverlaps(host::Interpreter &interpreter, const TensorObject &written,
                   const std::string &name, const host::CallArgs &args);

/// `Float`, as PyTorch's messages call a dtype.
std::string scalarName(DataType type);

/// Raises `error` at `where` in the script that runs.
[[noreturn]] void raiseOperandError(host::Interpreter &interpreter, const OperandError &error);

/// Raises what PyTorch raises where a segment's code fails, at the line of `node`, which may be
/// null.
[[noreturn]] void raiseFailure(const SegmentFailure &failure, const graph::Node *node);

} // namespace pellucid::trace
