// SPDX-License-Identifier: Apache-2.0
/// @triton.autotune's configs in scripts, timed on the device that the launch is for.
#pragma once

#include "eager/Packages.h"
#include "trace/TuneConfigs.h"

#include <map>
#include <string>

namespace pellucid::eager {

class ConfigTimes {
public:
  explicit ConfigTimes(bool contractsFma) : contractsFma(contractsFma) {}

  /// The fastest of the question's configs on `device`; asked once per kernel and key. Those that
  /// cannot be compiled or run are left out, and the first is taken where none can.
  size_t choose(const trace::TuneQuestion &question, graph::Device device);

private:
  size_t fastest(const trace::TuneQuestion &question, graph::Device device) const;

  bool contractsFma;
  std::map<std::string, size_t> chosen;
};

} // namespace pellucid::eager
