// SPDX-License-Identifier: Apache-2.0
/// What every trace begins with, whether it runs a file or replays an archive.
#pragma once

#include "trace/TraceHooks.h"
#include "trace/TraceModel.h"

namespace pellucid::trace {

/// The evaluator with torch over `tracer`, which records what module constructors compute; sets up
/// the tracer by the options, too.
std::unique_ptr<host::Interpreter> beginTrace(Tracer &tracer, TraceHooks &hooks,
                                              const symbolic::SymbolTable &symbols,
                                              const TraceOptions &options);
/// torch and what is below it, over `tracer`. `device` is what files that ask are told.
void addTracedModules(host::NativeModules &modules, Tracer &tracer, const AssumedDevice &device);
/// Behind them, for a script: what needs the values of tensors.
void addEagerModules(host::NativeModules &modules, Tracer &tracer);
/// From here on factories (torch.zeros …) are nodes, or again tensors of a constructor.
void setConstructing(host::Interpreter &interpreter, bool value);

/// What our own part of torch refuses is said at the line of the file that called it.
Diagnostic atUsersLine(Diagnostic diagnostic);

/// The values of a tensor that no file gives, made by its initialiser.
graph::Weight initialWeight(const std::string &name, const graph::TensorType &type,
                            const Initializer &initializer);

} // namespace pellucid::trace
