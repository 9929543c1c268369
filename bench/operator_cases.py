# SPDX-License-Identifier: Apache-2.0
"""Graph operators as programs use them: what bench/operators.py compiles and times. Stock source, read by both sides."""
import torch
import torch.nn.functional as F


def linear(x, w):
    return F.linear(x, w)


def linear_bias_gelu(x, w, b):
    return F.gelu(F.linear(x, w, b))


def gated_mlp(x, w1, w3, w2):
    return F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3), w2)


def mm(a, b):
    return torch.mm(a, b)


def mm_left_transposed(a, b):
    return torch.mm(a.t(), b)


def bmm(a, b):
    return torch.bmm(a, b)


def addmm(c, a, b):
    return torch.addmm(c, a, b)


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def attention_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def attention_grouped(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def attention_masked(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def softmax(x):
    return torch.softmax(x, -1)


def log_softmax(x):
    return torch.log_softmax(x, -1)


def layer_norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def rms_norm(x, w):
    return F.rms_norm(x, (x.shape[-1],), w)


def residual_norm(x, y, w):
    s = x + y
    return s, F.rms_norm(s, (s.shape[-1],), w)


def group_norm(x, w, b):
    return F.group_norm(x, 32, w, b)


def batch_norm(x, mean, var, w, b):
    return F.batch_norm(x, mean, var, w, b)


def cross_entropy(x, target):
    return F.cross_entropy(x, target)


def sum_all(x):
    return x.sum()


def sum_columns(x):
    return x.sum(0)


def sum_middle(x):
    return x.sum(1)


def mean_rows(x):
    return x.mean(-1)


def amax_columns(x):
    return x.amax(0)


def argmax_rows(x):
    return x.argmax(-1)


def var_rows(x):
    return x.var(-1)


def logsumexp(x):
    return torch.logsumexp(x, -1)


def norm_all(x):
    return torch.linalg.vector_norm(x)


def cumsum(x):
    return x.cumsum(-1)


def cumsum_columns(x):
    return x.cumsum(0)


def topk(x):
    return torch.topk(x, 50)


def sort(x):
    return torch.sort(x)


def index_add(x, index, source):
    return x.index_add(0, index, source)


def scatter_add(x, index, source):
    return x.scatter_add(0, index, source)


def embedding(table, index):
    return F.embedding(index, table)


def gather(x, index):
    return torch.gather(x, 1, index)


def transposed_copy(x):
    return x.t().contiguous()


def permuted_copy(x):
    return x.permute(0, 2, 1, 3).contiguous()


def cat(x, y):
    return torch.cat([x, y], -1)


def gelu(x):
    return F.gelu(x)


def silu_mul(x, y):
    return F.silu(x) * y


def broadcast_add(x, row, column):
    return x * column + row


def where(x, y):
    return torch.where(x > y, x, y * 0.5)


def to_f32(x):
    return x.float()


def rotary(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


def conv3x3(x, w):
    return F.conv2d(x, w, padding=1)


def conv1x1(x, w):
    return F.conv2d(x, w)


def conv3x3_stride(x, w):
    return F.conv2d(x, w, stride=2, padding=1)


def conv7x7_stride(x, w):
    return F.conv2d(x, w, stride=2, padding=3)


def conv_bias_relu(x, w, b):
    return F.relu(F.conv2d(x, w, b, padding=1))


def conv_depthwise(x, w):
    return F.conv2d(x, w, padding=w.shape[-1] // 2, groups=x.shape[1])


def conv_grouped(x, w):
    return F.conv2d(x, w, padding=1, groups=4)


def conv_patches(x, w):
    return F.conv2d(x, w, stride=16)


def conv_transposed(x, w):
    return F.conv_transpose2d(x, w, stride=2)


def conv_line(x, w):
    return F.conv1d(x, w, padding=1)


def avg_pool(x):
    return F.avg_pool2d(x, 2)


def mean_of_places(x):
    return x.mean((2, 3))


def upsample(x):
    return F.interpolate(x, scale_factor=2)


def dequantised(x, scale):
    return x.float() * scale


def quantised(x, scale):
    return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)


def linear_of_int8(x, w, scale):
    return F.linear(x, w.float() * scale[:, None])


def add(x, y):
    return x + y


def relu(x):
    return F.relu(x)


def tanh(x):
    return torch.tanh(x)


def exp(x):
    return torch.exp(x)


def sum_rows(x):
    return x.sum(-1)


def max_rows(x):
    return x.max(-1)


def index_select(x, index):
    return x.index_select(0, index)


def max_pool(x):
    return F.max_pool2d(x, 3, 2, 1)


def log_softmax_columns(x):
    return torch.log_softmax(x, 0)


def cross_entropy_ignored(x, target):
    return F.cross_entropy(x, target, ignore_index=-100)


def softmax_scaled(x):
    return torch.softmax(x * 0.125, -1)


def std_columns(x):
    return x.std(0)


def argsort(x):
    return torch.argsort(x, stable=True)


def topk_8(x):
    return torch.topk(x, 8)


def sort_columns(x):
    return torch.sort(x, dim=0)


def masked_fill(x, mask):
    return x.masked_fill(mask, -10000.0)


def triangle(x):
    return torch.tril(x)


def cat_many(a, b, c, d, e, f):
    return torch.cat([a, b, c, d, e, f], 1)


def stack_last(a, b):
    return torch.stack([a, b], -1)


def scatter_put(x, index, source):
    return x.scatter(1, index, source)


def bilinear(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


def pixel_shuffle(x):
    return F.pixel_shuffle(x, 2)


def max_pool_2(x):
    return F.max_pool2d(x, 2)


def adaptive_pool(x):
    return F.adaptive_avg_pool2d(x, 7)


def pad_reflected(x):
    return F.pad(x, (3, 3, 3, 3), mode="reflect")


def addmm_gelu(c, a, b):
    return F.gelu(torch.addmm(c, a, b), approximate="tanh")


def vector_product(w, x):
    return torch.mv(w, x)


def outer(x, y):
    return torch.outer(x, y)


def products_of_heads(q, k):
    return torch.einsum("bshd,bthd->bhst", q, k)


def einsum_chain(x, w):
    return torch.einsum("bsd,hdk->bhsk", x, w)


def baddbmm(c, a, b):
    return torch.baddbmm(c, a, b)


def linear_residual(x, w, y):
    return F.linear(x, w) + y


def attention_scaled_bool(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def attention_grouped_decode(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def layer_norm_gelu(x, w, b):
    return F.gelu(F.layer_norm(x, (x.shape[-1],), w, b))


def instance_norm(x):
    return F.instance_norm(x)


def normalise(x):
    return F.normalize(x, dim=-1)


def cosine(x, y):
    return F.cosine_similarity(x, y, dim=-1)


def mse(x, y):
    return F.mse_loss(x, y)


def glu(x):
    return F.glu(x, -1)


def any_rows(x):
    return (x > 3.0).any(-1)


def cumprod_rows(x):
    return x.cumprod(-1)


def roll(x):
    return torch.roll(x, 17, -1)


def flip(x):
    return x.flip(-1)


def repeat_heads(x):
    return x.repeat_interleave(4, 1)


def clamp_pow(x):
    return torch.clamp(x, -3, 3) ** 2 + 0.5 * x


def sigmoid_grad(g, y):
    return g * y * (1 - y)


def norm_rows(x):
    return torch.linalg.vector_norm(x, dim=-1)


def bin_count_like(index, source):
    return torch.zeros(1024, device=source.device, dtype=source.dtype).index_add(0, index, source)


def unfold_windows(x):
    return F.unfold(x, 3, padding=1)


def linear_relu(x, w, b):
    return F.relu(F.linear(x, w, b))


def mm_right_transposed(a, b):
    return torch.mm(a, b.t())


def bmm_left_transposed(a, b):
    return torch.bmm(a.transpose(1, 2), b)


def attention_of_rows(q, k, v):
    return F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2).contiguous()


def softmax_middle(x):
    return torch.softmax(x, 1)


def layer_norm_two(x, w, b):
    return F.layer_norm(x, x.shape[1:], w, b)


def batch_norm_training(x, w, b):
    return F.batch_norm(x, None, None, w, b, training=True)


def group_norm_silu(x, w, b):
    return F.silu(F.group_norm(x, 32, w, b))


def binary_entropy(x, y):
    return F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))


def divergence(x, y):
    return F.kl_div(torch.log_softmax(x, -1), torch.softmax(y, -1), reduction="batchmean")


def cross_entropy_smoothed(x, target):
    return F.cross_entropy(x, target, label_smoothing=0.1)


def mean_of_channels(x):
    return x.mean((0, 2, 3))


def argmin_columns(x):
    return x.argmin(0)


def extremes(x):
    return x.amin(), x.amax()


def count(x):
    return (x > 0.5).sum()


def cumsum_middle(x):
    return x.cumsum(1)


def cummax(x):
    return torch.cummax(x, -1).values


def topk_200(x):
    return torch.topk(x, 200)


def median(x):
    return x.median(-1).values


def index_select_columns(x, index):
    return x.index_select(1, index)


def index_put_added(x, index, source):
    return x.index_put((index,), source, accumulate=True)


def one_hot(index):
    return F.one_hot(index, 100)


def scatter_rows(x, index, source):
    return x.index_copy(0, index, source)


def channels_last(x):
    return x.permute(0, 2, 3, 1).contiguous()


def batched_transpose(x):
    return x.transpose(1, 2).contiguous()


def every_other(x):
    return x[:, ::2].contiguous()


def add_transposed(x, y):
    return x + y.t()


def mish(x):
    return F.mish(x)


def integer_arithmetic(x, y):
    return (x * 3 + y) % 7


def lerp(x, y, w):
    return torch.lerp(x, y, w)


def small_layer(x, w, b, scale):
    return F.layer_norm(F.gelu(F.linear(x, w, b)), (x.shape[-1],), scale)


def conv_channels_last(x, w):
    return F.conv2d(x.permute(0, 3, 1, 2), w, padding=1)


def conv1x1_channels_last(x, w):
    return F.conv2d(x.permute(0, 3, 1, 2), w)


def conv_volumes(x, w):
    return F.conv3d(x, w, padding=1)


def conv_dilated(x, w):
    return F.conv2d(x, w, padding=2, dilation=2)


def conv_transposed_4(x, w):
    return F.conv_transpose2d(x, w, stride=2, padding=1)


def avg_pool_3(x):
    return F.avg_pool2d(x, 3, 2, 1)


def bicubic(x):
    return F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)


def bilinear_to(x):
    return F.interpolate(x, size=(75, 75), mode="bilinear", align_corners=False)


def grid_sample(x, grid):
    return F.grid_sample(x, grid, align_corners=False)


def distances(x, y):
    return torch.cdist(x, y)


def matmul(x, y):
    return torch.matmul(x, y)


def rotated_pairs(x, cos, sin):
    pairs = x.float().unflatten(-1, (-1, 2))
    a, b = pairs[..., 0], pairs[..., 1]
    c, s = cos[:, None, :], sin[:, None, :]
    return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2).to(x.dtype)


def split_gated(x):
    a, b = x.chunk(2, -1)
    return F.gelu(a, approximate="tanh") * b


def _same(*words):
    return {"cuda": words, "cpu": words}


def _both(cuda, cpu):
    return {"cuda": tuple(cuda.split()), "cpu": tuple(cpu.split())}


# name: function, inputs on either device (an index input is `index<extent>[dims]`).
CASES = {
    "linear 16 rows": (linear, _both("bf16[16,4096] bf16[4096,4096]", "bf16[16,2048] bf16[2048,2048]")),
    "linear 1024 rows": (linear, _both("bf16[1024,4096] bf16[4096,4096]", "bf16[1024,1024] bf16[1024,1024]")),
    "linear 8192 rows": (linear, _both("bf16[8192,4096] bf16[4096,4096]", "f32[1024,1024] f32[1024,1024]")),
    "linear 4096, 14336 wide": (linear, _both("bf16[4096,4096] bf16[14336,4096]", "f32[64,1024] f32[4096,1024]")),
    "linear, bias, gelu": (linear_bias_gelu, _both("f16[2048,1024] f16[4096,1024] f16[4096]", "f32[256,512] f32[2048,512] f32[2048]")),
    "gated mlp": (gated_mlp, _both("bf16[1024,4096] bf16[11008,4096] bf16[11008,4096] bf16[4096,11008]",
                                   "f32[64,512] f32[1376,512] f32[1376,512] f32[512,1376]")),
    "mm 4096": (mm, _both("bf16[4096,4096] bf16[4096,4096]", "f32[768,768] f32[768,768]")),
    "mm 1000x3000x2000": (mm, _both("f16[1000,2000] f16[2000,3000]", "f32[300,500] f32[500,700]")),
    "mm, left transposed": (mm_left_transposed, _both("bf16[4096,4096] bf16[4096,4096]", "f32[768,768] f32[768,768]")),
    "mm f32": (mm, _both("f32[2048,2048] f32[2048,2048]", "f64[512,512] f64[512,512]")),
    "bmm": (bmm, _both("bf16[64,1024,128] bf16[64,128,1024]", "f32[16,256,64] f32[16,64,256]")),
    "addmm": (addmm, _both("bf16[4096] bf16[2048,4096] bf16[4096,4096]", "f32[512] f32[256,512] f32[512,512]")),
    "attention 64": (attention, _both("bf16[4,32,2048,64] bf16[4,32,2048,64] bf16[4,32,2048,64]", "f32[1,8,512,64] f32[1,8,512,64] f32[1,8,512,64]")),
    "attention 64 causal": (attention_causal, _both("bf16[4,32,2048,64] bf16[4,32,2048,64] bf16[4,32,2048,64]", "f32[1,8,512,64] f32[1,8,512,64] f32[1,8,512,64]")),
    "attention 128": (attention, _both("bf16[2,16,4096,128] bf16[2,16,4096,128] bf16[2,16,4096,128]", "f32[1,4,512,128] f32[1,4,512,128] f32[1,4,512,128]")),
    "attention 128 causal": (attention_causal, _both("bf16[2,16,4096,128] bf16[2,16,4096,128] bf16[2,16,4096,128]", "bf16[1,4,512,128] bf16[1,4,512,128] bf16[1,4,512,128]")),
    "attention, grouped heads": (attention_grouped, _both("bf16[2,32,2048,128] bf16[2,8,2048,128] bf16[2,8,2048,128]", "f32[1,8,256,64] f32[1,2,256,64] f32[1,2,256,64]")),
    "attention, added mask": (attention_masked, _both("f16[2,16,1024,64] f16[2,16,1024,64] f16[2,16,1024,64] f16[1024,1024]", "f32[1,4,256,64] f32[1,4,256,64] f32[1,4,256,64] f32[256,256]")),
    "attention, one query": (attention, _both("bf16[8,32,1,128] bf16[8,32,8192,128] bf16[8,32,8192,128]", "f32[1,8,1,64] f32[1,8,2048,64] f32[1,8,2048,64]")),
    "softmax 4096": (softmax, _both("bf16[16384,4096]", "f32[2048,1024]")),
    "softmax 100000": (softmax, _both("f32[512,100000]", "f32[32,50000]")),
    "log_softmax 32000": (log_softmax, _both("bf16[4096,32000]", "f32[64,32000]")),
    "layer_norm": (layer_norm, _both("bf16[16384,4096] bf16[4096] bf16[4096]", "f32[2048,1024] f32[1024] f32[1024]")),
    "rms_norm": (rms_norm, _both("f16[16384,3072] f16[3072]", "f32[2048,768] f32[768]")),
    "add, rms_norm": (residual_norm, _both("bf16[8192,4096] bf16[8192,4096] bf16[4096]", "f32[1024,1024] f32[1024,1024] f32[1024]")),
    "group_norm": (group_norm, _both("f16[16,256,64,64] f16[256] f16[256]", "f32[2,64,32,32] f32[64] f32[64]")),
    "batch_norm": (batch_norm, _both("f16[32,256,56,56] f16[256] f16[256] f16[256] f16[256]", "f32[4,64,56,56] f32[64] f32[64] f32[64] f32[64]")),
    "cross_entropy 32000": (cross_entropy, _both("bf16[8192,32000] index32000[8192]", "f32[128,32000] index32000[128]")),
    "sum": (sum_all, _both("f32[8192,8192]", "f32[2048,2048]")),
    "sum of columns": (sum_columns, _both("bf16[16384,4096]", "f32[4096,1024]")),
    "sum of a middle dim": (sum_middle, _both("f32[64,1024,1024]", "f32[16,256,256]")),
    "mean of rows": (mean_rows, _both("bf16[16384,4096]", "f32[2048,1024]")),
    "amax of columns": (amax_columns, _both("f16[32768,1024]", "f32[4096,512]")),
    "argmax of rows": (argmax_rows, _both("bf16[4096,32000]", "f32[64,32000]")),
    "var of rows": (var_rows, _both("f32[8192,4096]", "f32[1024,1024]")),
    "logsumexp": (logsumexp, _both("f32[8192,8192]", "f32[512,4096]")),
    "norm": (norm_all, _both("bf16[67108864]", "f32[4194304]")),
    "cumsum of rows": (cumsum, _both("f32[8192,4096]", "f32[1024,1024]")),
    "cumsum of a line": (cumsum, _both("f32[16777216]", "f32[2097152]")),
    "cumsum of columns": (cumsum_columns, _both("f32[4096,4096]", "f32[1024,1024]")),
    "topk 50 of 32000": (topk, _both("f32[256,32000]", "f32[16,32000]")),
    "sort rows": (sort, _both("f32[1024,4096]", "f32[64,2048]")),
    "sort a line": (sort, _both("f32[1048576]", "f32[65536]")),
    "index_add": (index_add, _both("f32[4096,1024] index4096[16384] f32[16384,1024]", "f32[512,256] index512[2048] f32[2048,256]")),
    "scatter_add": (scatter_add, _both("f32[4096,1024] index4096[8192,1024] f32[8192,1024]", "f32[512,256] index512[1024,256] f32[1024,256]")),
    "embedding": (embedding, _both("bf16[50257,4096] index50257[16384]", "f32[5000,768] index5000[2048]")),
    "gather": (gather, _both("f32[4096,4096] index4096[4096,4096]", "f32[512,1024] index1024[512,1024]")),
    "transposed copy": (transposed_copy, _both("f32[8192,8192]", "f32[2048,2048]")),
    "permuted copy": (permuted_copy, _both("bf16[8,2048,32,128]", "f32[2,256,8,64]")),
    "cat": (cat, _both("bf16[8192,4096] bf16[8192,4096]", "f32[1024,1024] f32[1024,1024]")),
    "gelu": (gelu, _both("bf16[16384,4096]", "f32[2048,1024]")),
    "silu, product": (silu_mul, _both("bf16[8192,11008] bf16[8192,11008]", "f32[1024,1024] f32[1024,1024]")),
    "row and column": (broadcast_add, _both("f32[8192,4096] f32[4096] f32[8192,1]", "f32[2048,1024] f32[1024] f32[2048,1]")),
    "where": (where, _both("f16[8192,8192] f16[8192,8192]", "f32[2048,1024] f32[2048,1024]")),
    "to float": (to_f32, _both("bf16[8192,8192]", "bf16[2048,2048]")),
    "rotary": (rotary, _both("bf16[4,32,2048,128] bf16[2048,128] bf16[2048,128]", "f32[1,8,512,64] f32[512,64] f32[512,64]")),
    "convolution 3x3": (conv3x3, _both("f16[32,256,28,28] f16[256,256,3,3]", "f32[2,64,28,28] f32[64,64,3,3]")),
    "convolution 1x1": (conv1x1, _both("f16[32,256,28,28] f16[512,256,1,1]", "f32[2,64,28,28] f32[128,64,1,1]")),
    "max_pool": (max_pool, _both("f16[32,64,112,112]", "f32[2,64,56,56]")),
}


def _cpu(function, words):
    return function, {"cpu": tuple(words.split())}


# What the CPU runs besides: 16-bit types, odd sizes, one row, sizes where the call itself is most of the time, windows of all kinds.
CPU_CASES = {
    "linear bf16, 1 row": _cpu(linear, "bf16[1,2048] bf16[2048,2048]"),
    "linear bf16, 4 rows": _cpu(linear, "bf16[4,1024] bf16[1024,1024]"),
    "linear f32, 1 row": _cpu(linear, "f32[1,2048] f32[2048,2048]"),
    "linear f16": _cpu(linear, "f16[128,512] f16[512,512]"),
    "linear, odd": _cpu(linear, "f32[37,333] f32[211,333]"),
    "linear bf16, odd": _cpu(linear, "bf16[37,333] bf16[211,333]"),
    "linear, small": _cpu(linear, "f32[4,32] f32[32,32]"),
    "bmm bf16": _cpu(bmm, "bf16[16,256,64] bf16[16,64,256]"),
    "bmm, small": _cpu(bmm, "f32[64,17,9] f32[64,9,13]"),
    "weights of int8": _cpu(linear_of_int8, "f32[16,512] i8[512,512] f32[512]"),
    "dequantised": _cpu(dequantised, "i8[1024,1024] f32[1024]"),
    "quantised": _cpu(quantised, "f32[1024,1024] f32[1024]"),
    "attention bf16": _cpu(attention_causal, "bf16[1,8,512,64] bf16[1,8,512,64] bf16[1,8,512,64]"),
    "attention, odd": _cpu(attention, "f32[2,3,77,40] f32[2,3,77,40] f32[2,3,77,40]"),
    "softmax bf16": _cpu(softmax, "bf16[1024,1024]"),
    "softmax, odd": _cpu(softmax, "f32[333,777]"),
    "softmax, small": _cpu(softmax, "f32[8,32]"),
    "layer_norm bf16": _cpu(layer_norm, "bf16[1024,1024] bf16[1024] bf16[1024]"),
    "layer_norm, odd": _cpu(layer_norm, "f32[501,333] f32[333] f32[333]"),
    "layer_norm, small": _cpu(layer_norm, "f32[4,64] f32[64] f32[64]"),
    "rms_norm bf16": _cpu(rms_norm, "bf16[1024,768] bf16[768]"),
    "add, small": _cpu(add, "f32[64] f32[64]"),
    "add, 1,000": _cpu(add, "f32[1000] f32[1000]"),
    "add, 100,000": _cpu(add, "f32[100000] f32[100000]"),
    "add bf16": _cpu(add, "bf16[1024,1024] bf16[1024,1024]"),
    "relu, 16 million": _cpu(relu, "f32[4096,4096]"),
    "gelu bf16": _cpu(gelu, "bf16[1024,1024]"),
    "gelu f16": _cpu(gelu, "f16[1024,1024]"),
    "silu, product bf16": _cpu(silu_mul, "bf16[512,1376] bf16[512,1376]"),
    "tanh": _cpu(tanh, "f32[1024,1024]"),
    "tanh f64": _cpu(tanh, "f64[512,512]"),
    "exp": _cpu(exp, "f32[1024,1024]"),
    "sum, small": _cpu(sum_all, "f32[1000]"),
    "sum of rows": _cpu(sum_rows, "f32[1024,1024]"),
    "sum of short rows": _cpu(sum_rows, "f32[65536,8]"),
    "sum of columns bf16": _cpu(sum_columns, "bf16[2048,1024]"),
    "max of rows": _cpu(max_rows, "f32[1024,1024]"),
    "argmax of long rows": _cpu(argmax_rows, "f32[4,1000000]"),
    "mean of places": _cpu(mean_of_places, "f32[8,256,14,14]"),
    "cumsum bf16": _cpu(cumsum, "bf16[512,1024]"),
    "index_select": _cpu(index_select, "f32[5000,64] index5000[8192]"),
    "embedding, one": _cpu(embedding, "f32[5000,768] index5000[1]"),
    "transposed copy, odd": _cpu(transposed_copy, "f32[777,1333]"),
    "transposed copy bf16": _cpu(transposed_copy, "bf16[1024,1024]"),
    "cat, long": _cpu(cat, "f32[4096,1024] f32[4096,1024]"),
    "convolution 3x3, 128": _cpu(conv3x3, "f32[1,128,28,28] f32[128,128,3,3]"),
    "convolution 3x3, 56": _cpu(conv3x3, "f32[1,64,56,56] f32[64,64,3,3]"),
    "convolution 3x3, 14": _cpu(conv3x3, "f32[1,256,14,14] f32[256,256,3,3]"),
    "convolution 3x3, 7": _cpu(conv3x3, "f32[1,512,7,7] f32[512,512,3,3]"),
    "convolution 3x3, step 2": _cpu(conv3x3_stride, "f32[1,128,56,56] f32[128,128,3,3]"),
    "convolution 7x7, step 2": _cpu(conv7x7_stride, "f32[1,3,224,224] f32[64,3,7,7]"),
    "convolution 1x1, 512": _cpu(conv1x1, "f32[1,256,14,14] f32[1024,256,1,1]"),
    "convolution, bias, relu": _cpu(conv_bias_relu, "f32[1,64,32,32] f32[64,64,3,3] f32[64]"),
    "convolution bf16": _cpu(conv3x3, "bf16[1,128,28,28] bf16[128,128,3,3]"),
    "convolution, odd": _cpu(conv3x3, "f32[3,37,19,23] f32[41,37,3,3]"),
    "convolution, grouped": _cpu(conv_grouped, "f32[2,64,28,28] f32[64,16,3,3]"),
    "convolution, depthwise 3x3": _cpu(conv_depthwise, "f32[1,96,56,56] f32[96,1,3,3]"),
    "convolution, depthwise 7x7": _cpu(conv_depthwise, "f32[1,96,56,56] f32[96,1,7,7]"),
    "convolution, patches": _cpu(conv_patches, "f32[1,3,224,224] f32[384,3,16,16]"),
    "convolution, transposed": _cpu(conv_transposed, "f32[1,64,28,28] f32[64,32,2,2]"),
    "convolution of lines": _cpu(conv_line, "f32[1,80,1500] f32[384,80,3]"),
    "avg_pool": _cpu(avg_pool, "f32[4,64,56,56]"),
    "upsample": _cpu(upsample, "f32[1,64,64,64]"),
}
