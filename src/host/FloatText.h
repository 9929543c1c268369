// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Value.h"

#include <string>
#include <string_view>

namespace pellucid::host {

/// Python's repr of a float: the shortest digits that read back.
std::string floatRepr(double value);

/// format(value, spec) for ints, floats and strings; throws std::invalid_argument with Python's
/// words on a wrong spec.
std::string formatInt(Int value, std::string_view spec);
std::string formatFloat(double value, std::string_view spec);
std::string formatStr(const std::string &value, std::string_view spec);

/// repr() of a container with the given text for its elements.
std::string reprWith(const Value &value, const std::function<std::string(const Value &)> &text);

} // namespace pellucid::host
