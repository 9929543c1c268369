// SPDX-License-Identifier: Apache-2.0
/// The tensors that a call is given, or that it gives.
#pragma once

#include "host/Objects.h"
#include "trace/TensorObject.h"

namespace pellucid::trace {

/// Those in lists and tuples too. `named`: also the fields of named results, which are instances;
/// of an argument they are not an operand's, as an operator takes none.
template <bool named = false> void forEachTensor(const host::Value &value, const auto &visit) {
  if (auto *tensor = value.as<TensorObject>()) {
    visit(*tensor);
  } else if (value.isSequence()) {
    for (const host::Value &element : value.elements())
      forEachTensor<named>(element, visit);
  } else if constexpr (named) {
    if (auto *instance = value.as<host::Instance>())
      for (const auto &[name, attribute] : instance->attributes.items())
        if (auto *field = attribute.as<TensorObject>())
          visit(*field);
  }
}

template <bool named = false> void forEachTensor(const host::CallArgs &args, const auto &visit) {
  for (const host::Value &value : args.positional)
    forEachTensor<named>(value, visit);
  for (const auto &[key, value] : args.keywords)
    forEachTensor<named>(value, visit);
}

} // namespace pellucid::trace
