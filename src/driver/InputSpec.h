// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"
#include "symbolic/Expr.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::driver {

/// One dimension of an input: a number, or a symbol with its range.
struct InputDim {
  std::string symbol; ///< empty: static
  int64_t size = 0;   ///< the static size
  std::optional<int64_t> example;
  symbolic::Range range{0, INT64_MAX};
  bool hasRange = false;
};

/// `x=bf16[batch:1..1024,128]`: name, element type, dimensions. `batch=8:1..1024` names the example
/// size; a symbol that stood before may be repeated by name alone. `f32[]` is a zero-dimensional
/// tensor; `x=int`, `x=float` and `x=bool` (with `=VALUE` after it) give a Python scalar.
struct InputSpec {
  std::string name;
  DataType dtype = DataType::Float32;
  std::vector<InputDim> dims;
};

/// Parses the text of one --input. On a mistake returns nullopt and sets `error` to a sentence that
/// names the part of the text it is about.
std::optional<InputSpec> parseInputSpec(std::string_view text, std::string &error);

/// Declares every symbol of `specs` in `table` with its range and example size (8 within the range
/// where none was given). Refuses two different ranges of one symbol and a symbol that never gets a
/// range.
bool declareSymbols(const std::vector<InputSpec> &specs, symbolic::SymbolTable &table,
                    std::string &error);

} // namespace pellucid::driver
