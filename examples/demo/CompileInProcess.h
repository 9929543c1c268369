// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "Reference.h"

#include <pellucid/pellucid.hpp>
#include <string>

namespace demo {

/// The model of examples/silu_model.cpp, compiled inside this process through pellucid.hpp.
class CompiledModel {
public:
  /// `way`: "raw", "triton_op" or "custom_op". A strict model is exported strict, written and
  /// loaded as a package; else it is what pellucid::compile gives. Throws pellucid::Error.
  CompiledModel(const std::string &kernels, const std::string &way, bool strict,
                const std::string &work);
  /// Throws pellucid::Error when a guard refuses the input.
  Bf16 run(const Bf16 &input, int64_t batch) const;

private:
  std::function<std::vector<pellucid::Tensor>(const std::vector<pellucid::Tensor> &)> call;
};

} // namespace demo
