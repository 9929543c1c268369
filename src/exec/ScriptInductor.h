// SPDX-License-Identifier: Apache-2.0
/// What the files that torch.compile writes import, so that they run as they lie.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::exec {

/// Buffers, checks, library products and the reader of kernels in strings; the kernels' own imports
/// are of every verb (trace/TorchInductor.cpp).
void addScriptInductor(host::NativeModules &modules);

} // namespace pellucid::exec
