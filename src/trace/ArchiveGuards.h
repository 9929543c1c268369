// SPDX-License-Identifier: Apache-2.0
/// What an archive says of its inputs' sizes: ranges, and the guards that export() found.
#pragma once

#include "archive/Archive.h"
#include "trace/ArchiveValues.h"
#include "trace/TraceModel.h"
#include "trace/Tracer.h"

#include <set>

namespace pellucid::trace {

/// The symbols in the sizes of the inputs.
std::set<std::string> symbolsOfInputs(const archive::Archive &archive);
/// Those that a call can tell, with their ranges and examples.
symbolic::SymbolTable declaredSymbols(const archive::Archive &archive);

/// What export() found to hold for the inputs' sizes beyond their ranges becomes the ranges of the
/// program's symbols; throws DiagnosticError where they cannot say it. `scope` has the inputs.
void applyGuards(const archive::Archive &archive, const ArchiveScope &scope, Tracer &tracer,
                 host::Interpreter &interpreter, const TraceOptions &options);

} // namespace pellucid::trace
