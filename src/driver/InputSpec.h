// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"
#include "symbolic/Expr.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::driver {

/// One dimension of an input: a number, or a symbol with its range, or a multiple of a symbol.
struct InputDim {
  std::string symbol; ///< empty: static
  int64_t size = 0;   ///< the static size
  int64_t factor = 1; ///< of the symbol: 64 in `64*n`
  std::optional<int64_t> example;
  symbolic::Range range{0, INT64_MAX};
  bool hasRange = false;
};

/// `x=bf16[batch:1..1024,128]`: name, element type, dimensions. `batch=8:1..1024` names the example
/// size; a symbol that stood before may be repeated by name alone. `f32[]` is a zero-dimensional
/// tensor. A Python literal (`p=0.5`, `causal=True`, `mode="sum"`, `mask=None`) is fixed in the
/// program; `{"ids": i64[b,16]}`, `(f32[4], f32[4])` and `[…]` hold such values.
struct InputSpec {
  enum class Form : uint8_t { Tensor, Literal, Tuple, List, Dict } form = Form::Tensor;
  std::string name;
  DataType dtype = DataType::Float32;
  std::vector<InputDim> dims;
  std::string literal;             ///< Literal: its text
  std::string key;                 ///< of an element of a dict: its text
  std::vector<InputSpec> elements; ///< Tuple, List, Dict
};

/// The tensors among the inputs and inside of them.
std::vector<const InputSpec *> tensorsOf(const std::vector<InputSpec> &specs);
/// The size that a dim stands for; `symbols` has the symbols declared.
symbolic::Expr sizeOf(const InputDim &dim, const symbolic::SymbolTable &symbols);

/// Parses the text of one --input. On a mistake returns nullopt and sets `error` to a sentence that
/// names the part of the text it is about.
std::optional<InputSpec> parseInputSpec(std::string_view text, std::string &error);

/// Declares every symbol of `specs` in `table` with its range and example size (8 within the range
/// where none was given). Refuses two different ranges of one symbol and a symbol that never gets a
/// range.
bool declareSymbols(const std::vector<InputSpec> &specs, symbolic::SymbolTable &table,
                    std::string &error);

} // namespace pellucid::driver
