# SPDX-License-Identifier: Apache-2.0
# --- products of groups of rows, and how many there are of each; part of aten.py's namespace
import triton
import triton.language as tl


@triton.jit
def _grouped_mm_kernel(x, w, ends, out, rows, groups, depth, width, x_row, x_column, w_group, w_row, w_column,
                       ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    """Rows of `x` up to ends[0] times w[0], up to ends[1] times w[1] …; each tile looks which groups its rows belong to."""
    first = tl.program_id(0) * ROWS
    m = first + tl.arange(0, ROWS)
    n = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    places = out + m[:, None].to(tl.int64) * width + n[None, :]
    start = 0
    for group in range(groups):
        end = tl.minimum(tl.load(ends + group), rows).to(tl.int32)
        if (end > first) & (start < first + ROWS) & (end > start):
            inside = (m >= start) & (m < end)
            total = tl.zeros([ROWS, COLUMNS], tl.float32)
            for begin in range(0, depth, DEPTH):
                k = begin + tl.arange(0, DEPTH)
                a = tl.load(x + m[:, None].to(tl.int64) * x_row + k[None, :].to(tl.int64) * x_column, inside[:, None] & (k[None, :] < depth), 0.0)
                b = tl.load(w + group.to(tl.int64) * w_group + k[:, None].to(tl.int64) * w_row + n[None, :].to(tl.int64) * w_column,
                            (k[:, None] < depth) & (n[None, :] < width), 0.0)
                total = tl.dot(a, b, total, input_precision="ieee")
            tl.store(places, total.to(out.dtype.element_ty), inside[:, None] & (n[None, :] < width))
        start = tl.maximum(start, end)
    # Rows of no group.
    tl.store(places, tl.zeros([ROWS, COLUMNS], out.dtype.element_ty), (m[:, None] >= start) & (m[:, None] < rows) & (n[None, :] < width))


def _grouped(input, weight, ends):
    if input.dtype not in (torch.float32, torch.float16, torch.bfloat16) or weight.dtype != input.dtype:
        raise NotImplementedError(f"a grouped product of {input.dtype} and {weight.dtype}; both must be float32, float16 or bfloat16")
    if ends.dtype not in (torch.int32, torch.int64):
        raise RuntimeError(f"Offsets have to be int32, got {ends.dtype}")
    rows, depth = input.shape
    groups, width = weight.shape[0], weight.shape[2]
    if _is_proved(input, weight.shape[1] != depth):
        raise RuntimeError(f"contraction dimension of mat_a and mat_b must match, got {depth} and {weight.shape[1]}")
    if _is_proved(input, ends.shape[0] != groups):
        raise RuntimeError(f"matrix batch sizes have to match, got {ends.shape[0]} and {groups}")
    ends = ends.contiguous()
    out = torch.empty([rows, width], dtype=input.dtype)
    grid = (triton.cdiv(rows, 32), triton.cdiv(width, 64))
    _grouped_mm_kernel[grid](input, weight, ends, out, rows, groups, depth, width, input.stride(0), input.stride(1), weight.stride(0), weight.stride(1), weight.stride(2),
                             ROWS=32, COLUMNS=64, DEPTH=32)
    return out


@_aten("aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor")
def _grouped_mm(self, mat2, offs, bias, out_dtype):
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype is not None and out_dtype != self.dtype:
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")
    if offs is None:
        if self.dim() != 3 or mat2.dim() != 3:
            raise RuntimeError("Must provide offsets for a grouped product of a matrix")
        return torch.bmm(self, mat2)
    if self.dim() != 2 or mat2.dim() != 3:
        raise NotImplementedError(f"a grouped product of tensors of {self.dim()} and {mat2.dim()} dims with offs; rows of a matrix [s, k] times weights [groups, k, n] are there")
    return _grouped(self, mat2, offs)


@_aten("transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor")
def _grouped_mm_fallback(input, weight, offs):
    return _grouped(input, weight, offs)


@_aten("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor")
def _histc(self, bins, min, max):
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    if max < min:
        raise RuntimeError("torch.histc: max must be larger than min")
    flat = self.reshape([self.numel()])
    wide = flat if flat.dtype in (torch.float32, torch.float64) else flat.to(torch.float64)
    low, high = min, max
    if low == high:
        low, high = torch.amin(wide), torch.amax(wide)
        torch._assert_async(torch.isfinite(high - low), "range of the elements is not finite")
        alone = low == high
        low, high = torch.where(alone, low - 1, low), torch.where(alone, high + 1, high)
    inside = torch.logical_and(wide >= low, wide <= high)
    place = torch.clamp(torch.floor((wide - low) * bins / (high - low)), max=bins - 1)
    # What lies outside falls behind the end.
    place = torch.where(inside, place, bins).to(torch.int64)
    ones = torch.ones(place.shape, dtype=self.dtype)
    return torch.zeros([bins + 1], dtype=self.dtype).scatter_add(0, place, ones)[:bins].clone()
