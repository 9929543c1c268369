// SPDX-License-Identifier: Apache-2.0
/// Which elements of a tensor all programs of one launch together touch.
#pragma once

#include "symbolic/Expr.h"
#include "tt/TtOps.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::fusion {

/// What a launch fixes of its kernel: the grid, and the value of each integer argument that is
/// known.
struct LaunchValues {
  std::array<symbolic::Expr, 3> grid{1, 1, 1};
  std::vector<std::optional<symbolic::Expr>> arguments;
  const symbolic::SymbolTable *symbols = nullptr;
};

/// Why it is not proved that the launch stores every element of a dense tensor of `elements`
/// elements through `store`; nullopt when it is. Elements that no program stores keep what the
/// tensor held before, so nothing may be computed from them in the kernel.
std::optional<std::string> refusePartialStore(tt::StoreOp store, const LaunchValues &launch,
                                              const symbolic::Expr &elements);
/// The same of a load: each element is loaded, and once, so that a store beside it would write all
/// of them.
std::optional<std::string> refusePartialLoad(tt::LoadOp load, const LaunchValues &launch,
                                             const symbolic::Expr &elements);

/// True when it is known that several programs load the same elements through `load`.
bool isLoadedByManyPrograms(tt::LoadOp load, const LaunchValues &launch);

} // namespace pellucid::fusion
