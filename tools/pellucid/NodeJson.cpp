// SPDX-License-Identifier: Apache-2.0
#include "NodeJson.h"

#include <nlohmann/json.hpp>

namespace pellucid::cli {

nlohmann::json toJson(const std::vector<graph::NodeRow> &rows) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const graph::NodeRow &row : rows)
    nodes.push_back({{"opcode", row.opcode},
                     {"name", row.name},
                     {"target", row.target},
                     {"args", row.args},
                     {"kwargs", row.kwargs}});
  return nodes;
}

} // namespace pellucid::cli
