// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Kernel.h"

#include <map>
#include <string>
#include <vector>

namespace pellucid::driver {

/// What a kernel does with one of its constexprs, as its text says it.
struct ConstantUse {
  bool isFlag = false;     ///< branched on
  bool isSize = false;     ///< the extent of a tile
  bool isCount = false;    ///< the bound of a loop
  bool isExponent = false; ///< 2 ** x, 1 << x
  bool isType = false;
  bool isFunction = false; ///< called
  bool mayBeNone = false;
  std::vector<host::Value> values; ///< texts and numbers that it is compared with, or stands for

  /// Values to try, likely ones first; empty where the text says nothing, or nothing can be tried.
  std::vector<host::Value> candidates() const;
};

/// By name of the parameter; follows the helpers that a constexpr is passed to.
std::map<std::string, ConstantUse> constantUses(host::Interpreter &interpreter,
                                                const host::JitFunction &kernel);

} // namespace pellucid::driver
