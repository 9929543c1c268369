// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"

namespace pellucid::trace {

/// The classes of a module of torch's are said to be in PyTorch's files.
void nameClasses(host::Module &module);
/// PyTorch's files as modules that are imported from: each has what its package has.
void addModulePlaces(host::NativeModules &modules);

} // namespace pellucid::trace
