// SPDX-License-Identifier: Apache-2.0
/// triton.tools.tensor_descriptor.TensorDescriptor as an argument of a launch.
#pragma once

#include "host/Interpreter.h"

#include <functional>
#include <optional>
#include <vector>

namespace pellucid::trace {

struct HostDescriptor {
  host::Value base;                        ///< a tensor
  std::vector<host::Value> shape, strides; ///< the last stride is 1
  std::vector<int64_t> block;
  bool padsWithNan = false;
};

bool isHostDescriptor(const host::Value &value);
/// What the object says now; nullopt for other values. Refuses what no kernel can take.
std::optional<HostDescriptor> hostDescriptor(host::Interpreter &interpreter,
                                             const host::Value &value);
/// The tensor that it describes; nullopt for other values.
std::optional<host::Value> describedTensor(const host::Value &value);
/// Another descriptor like it, with what `map` makes of its tensor, sizes and strides.
host::Value mappedDescriptor(const host::Value &value,
                             const std::function<host::Value(const host::Value &)> &map);

} // namespace pellucid::trace
