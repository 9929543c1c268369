// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace pellucid::reference {

/// A function of one to three floats, computed in float64. Arguments beyond its own are not read.
struct FloatFunction {
  std::string_view name; ///< as `math` and libdevice spell it: "exp2", "atan2"
  unsigned arguments;
  double (*call)(const double *);
};

/// Null when there is none of that name.
const FloatFunction *findFloatFunction(std::string_view name);

} // namespace pellucid::reference
