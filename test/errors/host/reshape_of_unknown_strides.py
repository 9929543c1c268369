# SPDX-License-Identifier: Apache-2.0
# error: 9:5: whether this memory was written is not known for all sizes: 'reshape' of f32[3, 3] strides=[1, 3] may be a copy or the tensor's own memory
# command: export {file}:f --input x=f32[4,3]
import torch


def f(x):
    product = torch.einsum("ij,jk->ki", x.t(), x)
    product.reshape(-1).add_(1)
    return product
