// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Discovery.h"

#include <functional>
#include <set>

namespace pellucid::driver {

/// The names of a kernel's parameters whose memory it writes; null where that is not known.
using WrittenParameters =
    std::function<const std::set<std::string> *(const host::JitFunction &kernel)>;

struct OperatorWrite {
  std::string parameter; ///< of the operator
  std::string by;        ///< `kernel 'add'`, `'.copy_'`
  SourceLocation where;
};

struct OperatorWrites {
  std::vector<OperatorWrite> writes; ///< the first one per parameter
  /// Parameters handed to something that cannot be followed.
  std::set<std::string> lost;
};

/// Which of a function's parameters its body writes to, told from its text: launches, methods whose
/// names end in _, out=, assignments to elements; through local names, views and helpers.
OperatorWrites findWrites(host::Interpreter &interpreter, const host::Function &function,
                          const WrittenParameters &written);

} // namespace pellucid::driver
