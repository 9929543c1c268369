// SPDX-License-Identifier: Apache-2.0
// Tensors of other libraries and ours, without copies.
#include "api/State.h"
#include "runtime/DlpackTypes.h"

namespace pellucid {

using namespace api;

namespace api {

DLTensor borrowTensor(const TensorState &state) {
  DLTensor tensor{};
  tensor.data = state.data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(state.shape.size());
  tensor.dtype = runtime::toDlpack(state.type);
  // DLPack's pointers are not const, but nobody writes through them.
  tensor.shape = const_cast<int64_t *>(state.shape.data());
  tensor.strides = const_cast<int64_t *>(state.strides.data());
  return tensor;
}

Tensor adoptTensor(DLManagedTensorVersioned *managed) {
  const DLTensor &t = managed->dl_tensor;
  TensorState state;
  state.owner = std::shared_ptr<void>(managed, [](void *m) {
    auto *tensor = static_cast<DLManagedTensorVersioned *>(m);
    if (tensor->deleter)
      tensor->deleter(tensor);
  });
  state.data = reinterpret_cast<std::byte *>(runtime::dataOf(t));
  state.type = *runtime::fromDlpack(t.dtype);
  state.shape.assign(t.shape, t.shape + t.ndim);
  state.strides =
      t.strides ? std::vector<int64_t>(t.strides, t.strides + t.ndim) : rowMajor(state.shape);
  return wrapState(std::move(state));
}

} // namespace api

static void checkForeign(const DLManagedTensorVersioned *managed) {
  if (!managed)
    throw Error("from_dlpack: the tensor is NULL");
  if (managed->version.major != DLPACK_MAJOR_VERSION)
    throw Error("from_dlpack: the tensor's DLPack version is " +
                std::to_string(managed->version.major) + "." +
                std::to_string(managed->version.minor) + ", must be " +
                std::to_string(DLPACK_MAJOR_VERSION) + ".x");
  const DLTensor &t = managed->dl_tensor;
  if (t.device.device_type != kDLCPU)
    throw Error("from_dlpack: the tensor's device is " + runtime::text(t.device) + ", must be cpu");
  std::optional<DataType> type = runtime::fromDlpack(t.dtype);
  if (!type || *type > toDataType(dtype::float8_e5m2))
    throw Error("from_dlpack: the tensor's dtype is " + runtime::text(t.dtype) +
                ", which Tensor lacks");
  if (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY)
    throw Error("from_dlpack: the tensor is read-only, and a Tensor may be written; copy it");
  if (t.ndim < 0)
    throw Error("from_dlpack: the tensor's rank is " + std::to_string(t.ndim));
  for (int32_t i = 0; i < t.ndim; ++i)
    if (t.shape[i] < 0)
      throw Error("from_dlpack: dim " + std::to_string(i) + " is " + std::to_string(t.shape[i]));
}

Tensor from_dlpack(DLManagedTensorVersioned *managed) {
  checkForeign(managed);
  return guarded([&] {
    Tensor tensor = adoptTensor(managed);
    tensor.state->isBorrowed = true;
    return tensor;
  });
}

DLManagedTensorVersioned *to_dlpack(const Tensor &tensor) {
  const TensorState &state = stateOf(tensor, "to_dlpack");
  if (state.recording)
    throw Error(isTraced(state)
                    ? "to_dlpack: a tensor has no data while it is traced"
                    : "to_dlpack: a recorded tensor is written by operators alone; share "
                      "a copy of it, values()");
  struct Shared {
    DLManagedTensorVersioned managed{};
    std::shared_ptr<TensorState> state;
  };
  auto *shared = new Shared;
  shared->state = tensor.state;
  shared->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  shared->managed.manager_ctx = shared;
  shared->managed.deleter = [](DLManagedTensorVersioned *self) {
    delete static_cast<Shared *>(self->manager_ctx);
  };
  shared->managed.dl_tensor = borrowTensor(state);
  return &shared->managed;
}

} // namespace pellucid
