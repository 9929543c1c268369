# SPDX-License-Identifier: Apache-2.0
# What scripts take from Triton's own library: products of matrices to compare theirs with.
import torch


class CublasLt:
    """b is given transposed, as (N, K). The products are torch's; the workspace is not needed."""

    def __init__(self, workspace):
        if not isinstance(workspace, torch.Tensor):
            raise TypeError(f"CublasLt(): a tensor is needed as the workspace, got {type(workspace).__name__}")

    def _product(self, A, B, C):
        if A.dim() != 2 or B.dim() != 2 or C.dim() != 2 or A.shape[1] != B.shape[1] or tuple(C.shape) != (A.shape[0], B.shape[0]):
            raise RuntimeError(f"Dimension mismatch: A {tuple(A.shape)}, B {tuple(B.shape)} and C {tuple(C.shape)} are not (M, K), (N, K) and (M, N)")
        if A.dtype != B.dtype or A.dtype not in (torch.float8_e4m3fn, torch.float16, torch.float32, torch.bfloat16):
            raise RuntimeError(f"Data type mismatch: A is {A.dtype} and B is {B.dtype}; float8_e4m3fn, float16, bfloat16 and float32 can be multiplied")
        # One rounding, of the sums.
        if A.dtype == torch.float8_e4m3fn:
            A, B = A.float(), B.float()
        return torch.matmul(A, B.T)

    def matmul(self, A, B, C):
        C.copy_(self._product(A, B, C))

    def gemm(self, A, B, C, D, alpha=1.0, beta=0.0):
        D.copy_(alpha * self._product(A, B, D).float() + beta * C.float())


class _Cublas:
    CublasLt = CublasLt


class nvidia:
    cublas = _Cublas
