// SPDX-License-Identifier: Apache-2.0
/// Which numbers a type of integers has.
#pragma once

#include "host/Value.h"
#include "support/DataType.h"

#include <cmath>

namespace pellucid::trace {

/// As PyTorch looks before it cuts off a fraction: 127.9 is an int8, -128.5 and -0.5 as a uint8 are
/// none. Types that are not of integers take any number. A long double has all integers of 64 bits.
inline bool isHeldBy(DataType type, long double number) {
  if (!isInteger(type))
    return true;
  bool isSigned = info(type).isSigned;
  long double end = std::exp2(static_cast<long double>(8 * byteSize(type) - (isSigned ? 1 : 0)));
  return number < end && number >= (isSigned ? -end : 0);
}

inline bool isHeldBy(DataType type, const host::Value &number) {
  if (number.isBool())
    return true;
  return isHeldBy(type, number.isFloat() ? static_cast<long double>(number.real())
                                         : static_cast<long double>(number.integer()));
}

} // namespace pellucid::trace
