// SPDX-License-Identifier: Apache-2.0
/// Parts of torch in the language that models are written in; the host evaluator runs them.
#pragma once

namespace pellucid::trace {

extern const char *const networkSource; ///< torch.nn
extern const char *const initSource;    ///< torch.nn.init
extern const char *const shapeSource;   ///< functions that move elements
extern const char *const lossSource;    ///< the losses of torch.nn.functional

} // namespace pellucid::trace
