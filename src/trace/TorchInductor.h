// SPDX-License-Identifier: Apache-2.0
/// What kernels that torch.compile wrote import: their helpers, and the decorators that say how
/// they are launched.
#pragma once

namespace pellucid::host {
class NativeModules;
}

namespace pellucid::trace {

void addInductorKernels(host::NativeModules &modules);

} // namespace pellucid::trace
