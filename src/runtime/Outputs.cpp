// SPDX-License-Identifier: Apache-2.0
#include "runtime/Outputs.h"

#include <cstdlib>
#include <new>

namespace pellucid::runtime {

namespace {
/// Lies in one block with its shape and strides behind it.
struct OwnedTensor {
  DLManagedTensorVersioned tensor;
  OutputMemory memory;
};
} // namespace

static void giveBack(const OutputMemory &memory) {
  if (memory.release)
    memory.release(memory.state, memory.data, memory.bytes, memory.device);
}

static void deleteOutput(DLManagedTensorVersioned *tensor) {
  if (!tensor)
    return;
  giveBack(static_cast<OwnedTensor *>(tensor->manager_ctx)->memory);
  std::free(tensor->manager_ctx);
}

DLManagedTensorVersioned *makeOutput(DLDataType dtype, std::span<const int64_t> dims,
                                     const OutputMemory &memory) {
  void *block = std::malloc(sizeof(OwnedTensor) + 2 * dims.size() * sizeof(int64_t));
  if (!block) {
    giveBack(memory);
    return nullptr;
  }
  OwnedTensor *owned = new (block) OwnedTensor{{}, memory};
  int64_t *shape = reinterpret_cast<int64_t *>(owned + 1), *strides = shape + dims.size();
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    shape[i] = dims[i];
    strides[i] = stride;
    stride *= dims[i];
  }
  owned->tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  owned->tensor.manager_ctx = owned;
  owned->tensor.deleter = deleteOutput;
  owned->tensor.dl_tensor = {
      memory.data, memory.device, static_cast<int32_t>(dims.size()), dtype, shape, strides, 0};
  return &owned->tensor;
}

} // namespace pellucid::runtime
