// SPDX-License-Identifier: Apache-2.0
/// The model of silu_model.py in C++: linear, SiLU held in one of three ways, linear.
#pragma once

#include <pellucid/pellucid.hpp>

class SiluModel : public pellucid::nn::Module {
public:
  /// `way`: "raw", "triton_op" or "custom_op". `kernels` is silu_kernels.py.
  SiluModel(const pellucid::triton::File &kernels, const std::string &way, int64_t features = 128,
            int64_t hidden = 64, pellucid::dtype type = pellucid::dtype::bfloat16);
  std::vector<pellucid::Tensor> forward(const std::vector<pellucid::Tensor> &inputs) override;

private:
  std::shared_ptr<pellucid::nn::Linear> linear1, linear2;
  std::function<pellucid::Tensor(const pellucid::Tensor &)> activation;
};
