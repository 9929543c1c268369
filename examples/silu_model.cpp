// SPDX-License-Identifier: Apache-2.0
#include "silu_model.h"

using namespace pellucid;

namespace {

void launchSilu(const triton::Kernel &kernel, const Tensor &x, const Tensor &out) {
  SymInt n = x.numel();
  auto grid = [&](const triton::Meta &meta) {
    return std::vector<SymInt>{cdiv(n, meta["BLOCK_SIZE"])};
  };
  kernel[grid]({x, out, n}, {{"BLOCK_SIZE", 1024}});
}

/// A raw launch: nothing registered.
Tensor siluRaw(const triton::Kernel &kernel, const Tensor &x) {
  Tensor out = empty_like(x);
  launchSilu(kernel, x, out);
  return out;
}

/// Transparent: one node in an export, opened by the compiler.
Operator siluOp(const triton::Kernel &kernel) {
  return triton_op("examples_cpp::silu", "(Tensor x) -> Tensor",
                   [=](const std::vector<Argument> &arguments) {
                     auto x = std::get<Tensor>(arguments[0]);
                     Tensor out = empty_like(x);
                     launchSilu(wrap_triton(kernel), x, out);
                     return std::vector<Tensor>{out};
                   });
}

/// Opaque: one node everywhere, compiled as a unit of its own.
Operator siluOpaque(const triton::Kernel &kernel) {
  Operator op =
      custom_op("examples_cpp::silu_opaque", "(Tensor x) -> Tensor",
                [=](const std::vector<Argument> &arguments) {
                  return std::vector<Tensor>{siluRaw(kernel, std::get<Tensor>(arguments[0]))};
                });
  op.register_fake([](const std::vector<Argument> &arguments) {
    return std::vector<Tensor>{empty_like(std::get<Tensor>(arguments[0]))};
  });
  return op;
}

} // namespace

SiluModel::SiluModel(const triton::File &kernels, const std::string &way, int64_t features,
                     int64_t hidden, dtype type)
    : linear1(register_module("linear1",
                              std::make_shared<nn::Linear>(features, hidden, true, type, 1))),
      linear2(register_module("linear2",
                              std::make_shared<nn::Linear>(hidden, features, true, type, 2))) {
  triton::Kernel kernel = kernels["silu_kernel"];
  if (way == "raw")
    activation = [=](const Tensor &x) { return siluRaw(kernel, x); };
  else if (way == "triton_op")
    activation = siluOp(kernel);
  else if (way == "custom_op")
    activation = siluOpaque(kernel);
  else
    throw Error("unknown way: " + way);
}

std::vector<Tensor> SiluModel::forward(const std::vector<Tensor> &inputs) {
  Tensor x = (*linear1)(inputs.at(0));
  x = activation(x);
  return {(*linear2)(x)};
}
