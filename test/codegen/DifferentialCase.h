// SPDX-License-Identifier: Apache-2.0
// One kernel of differential/ with random inputs, and what the interpreter makes of it.
#pragma once

#include "reference/tt/Launch.h"
#include "support/DataType.h"

#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

namespace pellucid::codegen {

struct Array {
  std::string name;
  DataType type;
  std::vector<char> bytes;
};

struct Case {
  std::string text;
  uint32_t grid[3] = {1, 1, 1};
  std::vector<Array> arrays;
  /// In the order of the parameters: an array by number, or a scalar.
  std::vector<std::variant<size_t, int64_t, double>> parameters;
  std::vector<DataType> scalarTypes;
};

/// Reads a kernel and what it is launched with from the first lines of its file.
Case readCase(const std::string &path);
/// The parameters as a launch takes them; tensors are the arrays of `launched`.
std::vector<reference::HostArgument> hostArguments(Case &launched);
/// The arrays after the launch.
std::vector<Array> runReference(Case launched, const std::string &symbol);
/// `slack` multiplies the bounds of floating-point types.
void expectClose(const std::vector<Array> &actual, const std::vector<Array> &expected,
                 double slack = 1);
std::vector<std::string> caseFiles();

} // namespace pellucid::codegen
