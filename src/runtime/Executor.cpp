// SPDX-License-Identifier: Apache-2.0
#include "runtime/Executor.h"

namespace pellucid::runtime {

Result Executor::readFlag(const unsigned char *flag, bool &out) {
  unsigned char byte = 0;
  Result result = read(flag, &byte, 1);
  out = byte != 0;
  return result;
}

Result Executor::branch(const unsigned char *flag, const DoSteps &whenTrue,
                        const DoSteps &whenFalse) {
  bool holds = false;
  if (Result result = readFlag(flag, holds); !result.ok())
    return result;
  return holds ? whenTrue() : whenFalse();
}

Result Executor::loop(const LoopSteps &steps) {
  for (uint64_t turn = 0;; ++turn) {
    // Steps ask, too; a loop may have none.
    Result result = whyCancelled();
    bool goesOn = steps.turns && turn < *steps.turns;
    if (result.ok() && (goesOn || !steps.turns))
      result = steps.enter(turn);
    if (result.ok() && !steps.turns)
      result = steps.condition();
    if (result.ok() && !steps.turns)
      result = readFlag(steps.flag, goesOn);
    if (result.ok() && !goesOn)
      return turn % 2 ? steps.settle() : Result();
    if (result.ok())
      result = steps.body();
    if (!result.ok())
      return result;
  }
}

} // namespace pellucid::runtime
