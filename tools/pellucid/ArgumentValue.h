// SPDX-License-Identifier: Apache-2.0
/// The VALUEs that `launch --arg NAME=VALUE` and `run --input NAME=VALUE` take.
#pragma once

#include "support/DataType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pellucid::cli {

/// `@x.npy`, `@x.npy:bf16`, `@x.npy[offset=2,shape=3x4,strides=8x1]`: a file, its element type
/// where the file's own cannot say it, and a view in elements.
struct TensorArgument {
  std::string path;
  std::optional<DataType> dtype;
  struct View {
    int64_t offset = 0;
    std::vector<int64_t> shape, strides;
  };
  std::optional<View> view;
};

/// `@ptrs:a.npy,b.npy`: a table of addresses, each element typed like a TensorArgument.
struct PointerTableArgument {
  std::vector<TensorArgument> tensors;
};

struct NoneValue {};
/// `tl.float16`
struct DataTypeValue {
  DataType type;
};

using ArgumentValue = std::variant<TensorArgument, PointerTableArgument, bool, int64_t, double,
                                   std::string, NoneValue, DataTypeValue>;

struct NamedValue {
  std::string name, text; ///< `text`: the whole argument as typed
  ArgumentValue value;
};

/// Parses `NAME=VALUE`; nullopt with `error` set on a mistake.
std::optional<NamedValue> parseNamedValue(const std::string &text, std::string &error);

} // namespace pellucid::cli
