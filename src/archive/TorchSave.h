// SPDX-License-Identifier: Apache-2.0
/// What torch.save makes of a dict of tensors: a zip file with a pickle. No part of it is run: of
/// the pickle's instructions only those that build tensors, numbers, texts, tuples, lists and dicts
/// are known.
#pragma once

#include "archive/Archive.h"

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pellucid::archive {

/// A value of a pickle. `kind` says which fields count.
struct PickleItem {
  enum class Kind : uint8_t {
    None,
    Bool,
    Integer,
    Float,
    Text,
    Tuple,
    List,
    Dict,
    Name,
    Storage,
    Tensor,
    Mark
  };
  Kind kind = Kind::None;
  int64_t integer = 0; ///< Bool, Integer
  double real = 0;     ///< Float
  /// Text; Name: "module name"; Storage: its key; Tensor: the key of its storage.
  std::string text;
  /// What was called to make a container or a text, as a Name's text; empty: nothing was.
  std::string maker;
  DataType dtype = DataType::Float32;            ///< Storage
  mutable std::vector<const PickleItem *> items; ///< Tuple, List; Dict: keys and values in turn
  std::optional<Tensor> tensor;
  bool isParameter = false, requiresGrad = false; ///< Tensor
  /// Storage, Tensor: of complex numbers; the tensor is that of their pairs.
  bool isComplex = false;
};

/// A file of torch.save: its value, and all that was made on the way to it. Items may refer to each
/// other in circles.
struct TorchFile {
  std::deque<PickleItem> items;
  const PickleItem *root = nullptr;
};

/// Tensors are views of the bytes, which `owner` keeps.
package::Status readTorchFile(std::span<const uint8_t> file, std::shared_ptr<const void> owner,
                              TorchFile &out);

/// The tensors of the dict by their keys, as views of the bytes, which `owner` keeps.
package::Status readTorchSave(std::span<const uint8_t> file, std::shared_ptr<const void> owner,
                              std::map<std::string, Tensor> &tensors);

} // namespace pellucid::archive
