// SPDX-License-Identifier: Apache-2.0
// Precompiled for every library without MLIR (cmake/PellucidTargets.cmake). Not to be included by
// hand.
#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
#endif
