// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/EagerRecorder.h"

namespace pellucid::trace {

/// Whether the interpreter gives the very bits that compiled code gives, and soon enough: few
/// elements, which are only moved, or computed by what rounds in one way only.
bool isInterpretable(const graph::Program &program);
/// The dense elements of every output of such a program.
std::vector<std::shared_ptr<const std::byte>>
interpretSegment(const graph::Program &program, const graph::OperatorRegistry &registry,
                 const std::vector<ConcreteTensor> &inputs);

} // namespace pellucid::trace
