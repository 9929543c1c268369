// SPDX-License-Identifier: Apache-2.0
/// .npy files in and out, and what --arg and --input make of them.
#pragma once

#include "ArgumentValue.h"
#include "support/DataType.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pellucid::cli {

/// A strided array in memory of its own. Strides are in elements.
struct Array {
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape, strides;
  int64_t offset = 0; ///< of the first element, in elements
  std::shared_ptr<std::vector<char>> bytes;
  std::vector<int64_t> wholeShape; ///< of the file; differs from `shape` for a view

  char *data() const { return bytes->data() + offset * static_cast<int64_t>(byteSize(dtype)); }
  int64_t numel() const;
};

/// Reads what `argument` names; a DiagnosticError naming the file says why not.
Array readArray(const TensorArgument &argument);
/// Row-major zeros.
Array makeArray(DataType dtype, std::vector<int64_t> shape);

/// Writes the whole array (for a view: all of the file's elements) beside `path` and renames it there. Types that numpy
/// lacks are written as unsigned integers of their size.
void writeArray(const Array &array, const std::string &path);

} // namespace pellucid::cli
