// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <string>
#include <string_view>

namespace pellucid::trace {

/// The record in which an archive of ours holds the program itself: a line that ties it to the
/// graph beside it, then the program's text with its kernels (graph/ProgramText.h).
inline constexpr std::string_view programRecord = "extra/pellucid.program";

/// The first line of that record.
std::string programRecordHead(std::string_view graphJson);

/// Writes an archive that torch.export.load reads; its weights are carried. Throws DiagnosticError.
void writeArchive(const graph::Program &program, const graph::OperatorRegistry &registry,
                  const std::string &path);

} // namespace pellucid::trace
