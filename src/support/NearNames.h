// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pellucid {

/// What to say after "there is no 'wanted'": `; did you mean 'scale'`, or `; known are a, b` where
/// few names exist and none is near, or nothing.
std::string suggestName(std::string_view wanted, const std::vector<std::string> &known);

} // namespace pellucid
