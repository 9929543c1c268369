// SPDX-License-Identifier: Apache-2.0
#include "driver/KernelTexts.h"

#include "driver/Worker.h"

namespace pellucid::driver {

const std::vector<std::string> &kernelStages() {
  static const std::vector<std::string> stages{"tt", "tt-prepared", "llvm", "llvm-optimized",
                                               "asm"};
  return stages;
}

bool kernelTexts(const graph::KernelDef &kernel, uint32_t numWarps, uint32_t numStages,
                 CodegenJob job, std::vector<CodegenText> &texts, Diagnostics &diagnostics) {
  job.keepTexts = true;
  job.kernels = {{kernel.symbol, kernel.ttir, kernel.library, numWarps, numStages}};
  CodegenResult result;
  if (!Worker(findWorker(), job).wait(result, diagnostics))
    return false;
  texts = {{"tt", kernel.ttir}};
  for (CodegenText &text : result.kernels.front().texts)
    texts.push_back(std::move(text));
  return true;
}

} // namespace pellucid::driver
