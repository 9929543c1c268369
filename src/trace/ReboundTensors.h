// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/TensorObject.h"

#include <string>
#include <vector>

namespace pellucid::trace {

/// A tensor that a module held before forward ran, with its dotted name.
struct HeldTensor {
  std::string name;
  std::shared_ptr<host::Instance> module;
  std::string key; ///< its attribute
  std::shared_ptr<TensorObject> object;
  bool isRegistered;       ///< a parameter or a buffer, no plain attribute
  host::Value container{}; ///< a dict that has it as `key`, in place of the module
};

/// `self.calls = self.calls + 1` in forward: the next call finds what this one has bound, so that
/// it is written to the memory of what the module held. Throws DiagnosticError, at the assignment,
/// where the new value cannot live there; of a plain attribute that is a warning: many only pass
/// something on within one call.
void keepRebound(host::Interpreter &interpreter, Tracer &tracer,
                 const std::vector<HeldTensor> &held);

} // namespace pellucid::trace
