// SPDX-License-Identifier: Apache-2.0
#include "driver/ReportText.h"

#include <nlohmann/json.hpp>

namespace pellucid::driver {

std::string explainJson(const std::vector<fusion::FusionEdge> &edges) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const fusion::FusionEdge &edge : edges)
    list.push_back(
        {{"from", edge.from}, {"to", edge.to}, {"fused", edge.fused}, {"reason", edge.reason}});
  return nlohmann::ordered_json{{"edges", list}}.dump(
      1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace pellucid::driver
