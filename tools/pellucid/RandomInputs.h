// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ArrayFile.h"
#include "graph/Program.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace pellucid::cli {

/// The program's tensors for the caller to give, where the dynamic dims are `sizes`: floats in
/// [-2, 2), integers 0 and 1, which are indices into anything.
std::vector<Array> randomInputs(const graph::Program &program,
                                const std::map<std::string, int64_t> &sizes, std::mt19937 &random);

} // namespace pellucid::cli
