// SPDX-License-Identifier: Apache-2.0
/// What torch.save makes of a dict of tensors: a zip file with a pickle. No part of it is run: of
/// the pickle's instructions only those that build tensors, numbers, texts, tuples, lists and dicts
/// are known.
#pragma once

#include "archive/Archive.h"

#include <span>

namespace pellucid::archive {

/// The tensors of the dict by their keys, as views of the bytes, which `owner` keeps.
package::Status readTorchSave(std::span<const uint8_t> file, std::shared_ptr<const void> owner,
                              std::map<std::string, Tensor> &tensors);

} // namespace pellucid::archive
