// SPDX-License-Identifier: Apache-2.0
/// torch.autocast: the types that operators compute in, by PyTorch's lists for each device.
#pragma once

#include "host/Interpreter.h"
#include "host/Kernel.h"

#include <optional>
#include <string>

namespace pellucid::trace {

/// The arguments that autocast hands to `aten.name` in place of these; nullopt where it leaves
/// them.
std::optional<host::CallArgs> autocastArguments(host::Interpreter &interpreter,
                                                const std::string &name,
                                                const host::CallArgs &args);
/// The same for an operator of the user's with register_autocast.
std::optional<host::CallArgs> autocastArguments(host::Interpreter &interpreter,
                                                const host::Operator &op,
                                                const host::CallArgs &args);

/// While it lives, operators get their arguments as they are: what an operator that autocast has
/// seen to is written with.
class AutocastHandled {
public:
  explicit AutocastHandled(host::Interpreter &i) : depth(i.dispatch.autocastHandled) { ++depth; }
  ~AutocastHandled() { --depth; }
  AutocastHandled(const AutocastHandled &) = delete;

private:
  unsigned &depth;
};

/// torch.autocast, torch.amp, GradScaler.
void addAutocast(host::NativeModules &modules);

} // namespace pellucid::trace
