// SPDX-License-Identifier: Apache-2.0
/// Operators of ATen that are written with other operators: one record each in torch/aten_*.py, a
/// schema and a body.
#pragma once

#include "graph/Schema.h"
#include "host/Interpreter.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

struct AtenComposite {
  graph::Schema schema;
  host::Value function; ///< takes the schema's arguments by position
};

/// By target: `aten.batch_norm.default`; null where there is none.
const AtenComposite *findAtenComposite(host::Interpreter &interpreter, std::string_view target);
/// All of `aten.batch_norm`, in the order of the file.
std::vector<const AtenComposite *> atenComposites(host::Interpreter &interpreter,
                                                  std::string_view packet);
/// Why a packet (`aten.nonzero`) can never be compiled; empty for others.
std::string whyNotCompiled(host::Interpreter &interpreter, const std::string &packet);

/// Binds the arguments to the schema and runs the body.
host::Value callAtenComposite(host::Interpreter &interpreter, const AtenComposite &composite,
                              const host::CallArgs &args);

/// `torch.NAME(…)`, `x.NAME(…)`, `torch.ops.aten.NAME(…)`: the first record of the packet that
/// takes the arguments, under the names that torch's functions give them (`input`, `axis`, `out`).
host::Value callAtenPacket(host::Interpreter &interpreter, const std::string &packet,
                           host::CallArgs args);

/// torch._pellucid_aten: the records.
void addAtenComposites(host::NativeModules &modules);

} // namespace pellucid::trace
