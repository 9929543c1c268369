// SPDX-License-Identifier: Apache-2.0
#include "archive/CheckTensor.h"

namespace pellucid::archive {

using package::Status;

Status checkTensor(const Tensor &tensor) {
  if (tensor.sizes.size() != tensor.strides.size())
    return Status::error("has " + std::to_string(tensor.sizes.size()) + " sizes and " +
                         std::to_string(tensor.strides.size()) + " strides");
  int64_t last = tensor.offset, count = 1, bytes = 0;
  bool isWrong = tensor.offset < 0, isEmpty = false;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    int64_t size = tensor.sizes[d], reach = 0;
    isWrong |= size < 0 || tensor.strides[d] < 0;
    isEmpty |= size == 0;
    isWrong |= __builtin_mul_overflow(count, size ? size : 1, &count);
    isWrong |= size > 0 && (__builtin_mul_overflow(size - 1, tensor.strides[d], &reach) ||
                            __builtin_add_overflow(last, reach, &last));
  }
  isWrong |= __builtin_add_overflow(last, 1, &last) ||
             __builtin_mul_overflow(last, int64_t(byteSize(tensor.dtype)), &bytes);
  if (isWrong)
    return Status::error("has sizes or strides that are negative or go beyond 64 bits");
  if (!isEmpty && static_cast<uint64_t>(bytes) > tensor.bytes)
    return Status::error("needs " + std::to_string(bytes) + " bytes and its record has " +
                         std::to_string(tensor.bytes));
  return {};
}

} // namespace pellucid::archive
