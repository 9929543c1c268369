// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/Printable.h"

#include <string>
#include <utility>

namespace pellucid::package {

/// Success, or a sentence that says why not. Nothing in this layer or the run time throws it.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status error(std::string message) {
    Status status;
    status.failed = true;
    status.text = printable(message);
    return status;
  }
  bool ok() const { return !failed; }
  const std::string &message() const { return text; }

private:
  bool failed = false;
  std::string text;
};

} // namespace pellucid::package
