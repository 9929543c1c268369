// SPDX-License-Identifier: Apache-2.0
/// The variables of a kernel at a stop point, for people and as JSON.
#pragma once

#include "reference/tt/Interpreter.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace pellucid::cli {

/// `FILE:LINE`; throws DiagnosticError for other texts.
std::pair<std::string, uint32_t> parseStopPoint(const std::string &text);
/// `X`, `X,Y` or `X,Y,Z`.
std::array<uint32_t, 3> parseProgram(const std::string &text);

/// One table per tile, its rows and columns abbreviated in the middle; scalars and constants in
/// one line each.
std::string stopTables(const std::vector<reference::StoppedVariable> &variables);
/// name, dtype, shape, count and `data`: the elements in row-major order as texts, at most 4096.
nlohmann::json stopJson(const std::vector<reference::StoppedVariable> &variables);

} // namespace pellucid::cli
