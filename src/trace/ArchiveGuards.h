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

/// What becomes of a guard that ranges and divisors of the program's symbols do not say: a check
/// when the program runs, sizes that are multiples of a number, which have it proved, or a range
/// around the example's sizes over all of which it holds.
enum class OddGuards : uint8_t { Checked, Multiples, Narrowing };

/// What export() found to hold for the inputs' sizes beyond their ranges becomes the ranges of the
/// program's symbols, and checks; `scope` has the inputs. Gives the number of checks.
size_t applyGuards(const archive::Archive &archive, const ArchiveScope &scope, Tracer &tracer,
                   host::Interpreter &interpreter, const TraceOptions &options, OddGuards odd);

} // namespace pellucid::trace
