// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "Reference.h"

#include <memory>
#include <string>

namespace demo {

/// The model traced and compiled inside this process.
class CompiledModel {
public:
  /// `way`: "raw", "triton_op" or "custom_op". Throws std::exception.
  CompiledModel(const std::string &source, const std::string &way, bool strict, const std::string &weights);
  ~CompiledModel();
  /// Throws std::exception with the run time's words when a guard refuses the input.
  Bf16 run(const Bf16 &input, int64_t batch) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace demo
