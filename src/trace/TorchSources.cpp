// SPDX-License-Identifier: Apache-2.0
#include "trace/TorchSources.h"

namespace pellucid::trace {

const char *const compositeSource =
#include "trace/torch/composites.py.inc"
    ;
const char *const shapeSource =
#include "trace/torch/shapes.py.inc"
    ;
const char *const lossSource =
#include "trace/torch/losses.py.inc"
    ;
const char *const atenSource =
#include "trace/torch/aten.py.inc"
    ;
const char *const hookSource =
#include "trace/torch/hooks.py.inc"
    ;
const char *const lossModuleSource =
#include "trace/torch/nn_losses.py.inc"
    ;
const char *const networkSource =
#include "trace/torch/nn.py.inc"
    ;
const char *const initSource =
#include "trace/torch/init.py.inc"
    ;
const char *const backendSource =
#include "trace/torch/backends.py.inc"
    ;
const char *const runtimeSource =
#include "trace/torch/runtime.py.inc"
    ;

} // namespace pellucid::trace
