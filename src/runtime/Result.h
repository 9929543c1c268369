// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Status.h"
#include "support/Printable.h"

#include <pellucid/runtime.h>

#include <memory>
#include <string>
#include <utility>

namespace pellucid::runtime {

/// Success, or one of pellucid_status's codes with its sentence. One pointer wide: success costs
/// nothing.
class [[nodiscard]] Result {
public:
  Result() = default;
  static Result error(pellucid_status code, std::string message) {
    Result result;
    result.failure = std::make_unique<Failure>(Failure{code, printable(message)});
    return result;
  }
  static Result invalid(std::string message) {
    return error(PELLUCID_INVALID_ARGUMENT, std::move(message));
  }
  static Result from(pellucid_status code, const package::Status &status) {
    return status.ok() ? Result() : error(code, status.message());
  }

  bool ok() const { return !failure; }
  pellucid_status code() const { return failure ? failure->code : PELLUCID_OK; }
  /// Only of a failure.
  const std::string &message() const { return failure->message; }

private:
  struct Failure {
    pellucid_status code;
    std::string message;
  };
  std::unique_ptr<Failure> failure;
};

} // namespace pellucid::runtime
