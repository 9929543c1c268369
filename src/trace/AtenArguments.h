// SPDX-License-Identifier: Apache-2.0
/// Arguments of a call as a graph's node has them.
#pragma once

#include "trace/TensorObject.h"

namespace pellucid::trace {

/// x.split([2, 5]) is another operator than x.split(2).
void splitBySizes(std::string &packet, const std::vector<graph::Argument> &positional,
                  graph::KeywordArguments &keywords);
/// Arguments as PyTorch's nodes carry them: by position where they have one, without defaults at
/// the end. Gives the overload that takes them.
const graph::Operator &normalizeArguments(const Tracer &tracer, const std::string &packet,
                                          std::vector<graph::Argument> &positional,
                                          graph::KeywordArguments &keywords,
                                          const SourceLocation &where);
/// What torch's functions call otherwise than ATen's schemas do.
std::string nameInSchemas(const graph::OperatorRegistry &registry, const std::string &packet,
                          const std::string &key);

} // namespace pellucid::trace
