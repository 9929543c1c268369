// SPDX-License-Identifier: Apache-2.0
#include "CompileInProcess.h"

#include "../silu_model.h"

#include <cstring>

namespace demo {

using namespace pellucid;

CompiledModel::CompiledModel(const std::string &kernels, const std::string &way, bool strict,
                             const std::string &work) {
  auto model = std::make_shared<SiluModel>(triton::load(kernels), way);
  model->load_state_dict(work + "/weights.safetensors");
  Tensor example = zeros({8, features}, dtype::bfloat16);
  DynamicShapes dynamic = {{0, {{0, Dim{"batch", 1, 1024}}}}};
  if (!strict) {
    CompileOptions options;
    options.input_names = {"x"};
    call = compile([model](const std::vector<Tensor> &inputs) { return model->forward(inputs); },
                   {example}, dynamic, options);
    return;
  }
  std::string path = work + "/" + way + "-cpp.plc";
  compile_package(export_program(*model, {example}, dynamic, /*strict=*/true, {"x"}), path);
  call = [package = load_package(path)](const std::vector<Tensor> &inputs) {
    return package.run(inputs);
  };
}

Bf16 CompiledModel::run(const Bf16 &input, int64_t batch) const {
  Tensor x = from_blob(const_cast<uint16_t *>(input.data()), {batch, features}, dtype::bfloat16);
  Tensor result = call({x}).at(0);
  Bf16 output(static_cast<size_t>(result.numel().guard_int()));
  std::memcpy(output.data(), result.data_ptr(), output.size() * sizeof(uint16_t));
  return output;
}

} // namespace demo
