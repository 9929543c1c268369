# SPDX-License-Identifier: Apache-2.0
# triton.tools.tensor_descriptor: what a kernel's parameter gets that loads and stores blocks of a tensor.


class TensorDescriptor:
    _describes_memory = True  # by which launches know it, and what derives from it

    def __init__(self, base, shape, strides, block_shape, padding="zero", round_f32_to_tf32=False):
        self.base, self.shape, self.strides, self.block_shape, self.padding = base, shape, strides, block_shape, padding
        if round_f32_to_tf32:
            raise NotImplementedError("TensorDescriptor(round_f32_to_tf32=True): round the tensor, or ask tl.dot for tf32")
        rank = len(shape)
        assert rank > 0, "rank must not be zero"
        assert len(strides) == rank, f"rank mismatch: {self}"
        assert len(block_shape) == rank, f"rank mismatch: {self}"
        assert base.data_ptr() % 16 == 0, "base must be 16-byte aligned"
        for stride in strides[:-1]:
            assert stride * base.element_size() % 16 == 0, "strides must be 16-byte aligned"
        assert strides[-1] == 1, "Last dimension must be contiguous"
        assert padding in ("zero", "nan"), "Illegal value for padding"
        if padding == "nan":
            assert base.is_floating_point(), "Padding option `nan` is only supported for floating point tensors"

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, padding, round_f32_to_tf32)

    def __repr__(self):
        return f"TensorDescriptor(base={self.base!r}, shape={self.shape!r}, strides={self.strides!r}, block_shape={self.block_shape!r}, padding={self.padding!r})"
