// SPDX-License-Identifier: Apache-2.0
/// `compile --tune FILE`: the configs of @triton.autotune are timed on this machine.
#pragma once

#include "support/Target.h"
#include "trace/TuneConfigs.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pellucid::cli {

/// Times each config of a launch once and keeps what was chosen in a file, whose choices are taken
/// without timing. One process per launch that is timed: a config that fails harms nothing.
class ConfigTimer {
public:
  /// Throws DiagnosticError where the file holds anything else than choices, or cannot be written.
  ConfigTimer(std::string file, const std::vector<Target> &targets);

  /// The fastest of those that run; the first, with a warning, where none does.
  size_t choose(const trace::TuneQuestion &question);
  /// Writes the file if there is a new choice. Throws DiagnosticError.
  void save();

private:
  size_t fastest(const trace::TuneQuestion &question, nlohmann::json &entry);
  /// {"seconds": …} or {"refused": why}.
  nlohmann::json timed(const trace::TuneQuestion &question, size_t config) const;

  std::string file;
  Target target;
  nlohmann::json choices = nlohmann::json::array();
  bool changed = false;
};

} // namespace pellucid::cli
