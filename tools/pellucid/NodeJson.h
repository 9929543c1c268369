// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/NodeTable.h"

#include <nlohmann/json_fwd.hpp>

namespace pellucid::cli {

/// PyTorch's node table as `export --json` and `inspect --json` print it.
nlohmann::json toJson(const std::vector<graph::NodeRow> &rows);

} // namespace pellucid::cli
