// SPDX-License-Identifier: Apache-2.0
/// What torch.nn.Module does in every step of a training loop, without evaluating Python: calls of
/// modules, and walks over their attributes.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::trace {

/// Gives the text of torch.nn `_named_modules` and `_named_tensors`, and its Module `__call__`.
void addModuleWalk(host::Module &nn);

} // namespace pellucid::trace
