// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pellucid::trace {

/// Whether PyTorch's module (or `torch.Tensor`) has that public name; true also of modules that are
/// not listed and of private names, of which nothing is known.
bool isPytorchName(std::string_view module, std::string_view name);
/// The modules whose names are listed.
std::vector<std::string> listedModules();

} // namespace pellucid::trace
