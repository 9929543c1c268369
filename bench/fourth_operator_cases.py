# SPDX-License-Identifier: Apache-2.0
"""A fourth table of graph operators, for the CPU: small and odd sizes, short calls, channels_last, f64, integers, bool."""
import torch
import torch.nn.functional as F


def router(x):
    return torch.softmax(x, -1).topk(2)


def topk_2(x):
    return x.topk(2)


def max_of_columns(x):
    return x.max(0).values


def sort(x):
    return x.sort()


def sum_of_bools(x):
    return x.sum()


def all_of_rows(x):
    return x.all(-1)


def wide_product(x, y):
    return x.int() * y.int()


def integer_32(x, y):
    return x * y + (x >> 2)


def remainders(x):
    return x // 7 + x % 5


def bits(x, y):
    return (x & y) ^ (x | ~y)


def between(x, y):
    return (x > -1) & (y < 1)


def to_numbers(x):
    return x.float()


def to_bf16(x):
    return x.bfloat16()


def to_f16(x):
    return x.half()


def softmax(x):
    return torch.softmax(x, -1)


def layer_norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def mm(a, b):
    return a @ b


def linear(x, w):
    return F.linear(x, w)


def linear_bias(x, w, b):
    return F.linear(x, w, b)


def sum_rows(x):
    return x.sum(-1)


def conv3x3(x, w):
    return F.conv2d(x, w, padding=1)


def conv5x5(x, w):
    return F.conv2d(x, w, padding=2)


def bilinear_form(x, w, y):
    return torch.einsum("bi,ij,bj->b", x, w, y)


def dot(x, y):
    return x @ y


def causal_line(x, w):
    return F.conv1d(x, w, padding=3, groups=w.shape[0])[..., : x.shape[-1]]


def depthwise_channels_last(x, w):
    return F.conv2d(x.permute(0, 3, 1, 2), w, padding=1, groups=w.shape[0]).permute(0, 2, 3, 1).contiguous()


def conv_line_step(x, w):
    return F.conv1d(x, w, stride=2, padding=3)


def transposed_3(x, w):
    return F.conv_transpose2d(x, w, stride=2, padding=1)


def max_pool(x):
    return F.max_pool2d(x, 3, 2, 1)


def max_pool_channels_last(x):
    return F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1).contiguous()


def avg_pool_line(x):
    return F.avg_pool1d(x, 4, 2)


def mean_of_places_last(x):
    return x.mean((1, 2))


def layer_norm_of_channels(x, w, b):
    return F.layer_norm(x.permute(0, 2, 3, 1), (x.shape[1],), w, b).permute(0, 3, 1, 2).contiguous()


def batch_norm_rows(x, w, b):
    return F.batch_norm(x, None, None, w, b, training=True)


def group_norm(x, w, b):
    return F.group_norm(x, 32, w, b)


def rms_norm(x, w):
    return F.rms_norm(x, (x.shape[-1],), w)


def masked_softmax(x, mask):
    return torch.softmax(x.masked_fill(~mask, float("-inf")), -1)


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def gelu(x):
    return F.gelu(x)


def silu(x):
    return F.silu(x)


def expanded(x):
    return x.expand(1024, -1).contiguous()


def pad_zeros(x):
    return F.pad(x, (1, 1, 1, 1))


def pad_circular(x):
    return F.pad(x, (2, 2, 2, 2), mode="circular")


def pad_replicated(x):
    return F.pad(x, (3, 1, 2, 2), mode="replicate")


def turned(x):
    return torch.rot90(x, 1).contiguous()


def reverse_cumsum(x):
    return x.flip(-1).cumsum(-1).flip(-1)


def differences(x):
    return torch.diff(x)


def similarity(x, y):
    return F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T


def huber(x, y):
    return F.huber_loss(x, y)


def bags(table, index):
    return table[index].sum(1)


def take_along(x, index):
    return torch.take_along_dim(x, index, 1)


def masked_mean(x, mask):
    kept = mask.to(x.dtype)
    return (x * kept[..., None]).sum(1) / kept.sum(1, keepdim=True).clamp(min=1)


def scatter_largest(x, index, source):
    return x.scatter_reduce(0, index, source, "amax")


def bilinear_corners(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)


def std_all(x):
    return x.std()


def found(x, y):
    return torch.searchsorted(x.sort().values, y)


def sigmoid(x):
    return torch.sigmoid(x)


def sine(x):
    return torch.sin(x)


def logarithm(x):
    return torch.log1p(x.abs())


def erf(x):
    return torch.erf(x)


def power(x):
    return x.abs() ** 1.7


def add(x, y):
    return x + y


def lstm_cell(x, h, c, w, u, b):
    i, f, g, o = (F.linear(x, w, b) + F.linear(h, u)).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def rotary_pairs(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    c, s = cos[:, None], sin[:, None]
    return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


def patches(x):
    b, c, h, w = x.shape
    return x.reshape(b, c, h // 16, 16, w // 16, 16).permute(0, 2, 4, 1, 3, 5).reshape(b, -1, c * 256)


def windows(x):
    b, h, w, c = x.shape
    x = torch.roll(x, (-3, -3), (1, 2))
    return x.reshape(b, h // 7, 7, w // 7, 7, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)


def unshuffle(x):
    return F.pixel_unshuffle(x, 2)


def channel_shuffle(x):
    b, c, h, w = x.shape
    return x.reshape(b, 2, c // 2, h, w).transpose(1, 2).reshape(b, c, h, w)


def squeeze_excite(x, w, u):
    s = torch.sigmoid(F.linear(F.relu(F.linear(x.mean((2, 3)), w)), u))
    return x * s[:, :, None, None]


def small_mlp(x, w, b, u, c):
    return F.linear(F.relu(F.linear(x, w, b)), u, c)


def classifier(x, w, b):
    return torch.softmax(F.linear(x, w, b), -1)


#: Whose indices may be those of any equal elements.
FREE_PLACES = (topk_2, sort)


def _cpu(function, words):
    return function, {"cpu": tuple(words.split())}


FOURTH_CASES = {
    "router of 64": _cpu(router, "f32[2048,64]"),
    "topk 2 of 8": _cpu(topk_2, "f32[4096,8]"),
    "topk 2 of 300": _cpu(topk_2, "f32[512,300]"),
    "max of columns": _cpu(max_of_columns, "f32[512,512]"),
    "sort 16": _cpu(sort, "f32[8192,16]"),
    "sort i32": _cpu(sort, "i32[64,1000]"),
    "sum of bools": _cpu(sum_of_bools, "bool[1024,1024]"),
    "all of rows": _cpu(all_of_rows, "bool[1024,1024]"),
    "products of int8": _cpu(wide_product, "i8[512,512] i8[512,512]"),
    "arithmetic of i32": _cpu(integer_32, "i32[100001] i32[100001]"),
    "remainders of i32": _cpu(remainders, "i32[100001]"),
    "remainders of i64": _cpu(remainders, "i64[100001]"),
    "bits": _cpu(bits, "i64[100001] i64[100001]"),
    "between": _cpu(between, "f32[512,512] f32[512,512]"),
    "bool to f32": _cpu(to_numbers, "bool[1024,1024]"),
    "i64 to f32": _cpu(to_numbers, "i64[512,512]"),
    "f32 to bf16": _cpu(to_bf16, "f32[1024,1024]"),
    "bf16 to f16": _cpu(to_f16, "bf16[1024,1024]"),
    "softmax f64": _cpu(softmax, "f64[256,512]"),
    "layer_norm f64": _cpu(layer_norm, "f64[256,512] f64[512] f64[512]"),
    "mm f64, small": _cpu(mm, "f64[64,64] f64[64,64]"),
    "linear f64": _cpu(linear, "f64[33,200] f64[100,200]"),
    "sum of rows f64": _cpu(sum_rows, "f64[512,1024]"),
    "convolution f64": _cpu(conv3x3, "f64[1,16,28,28] f64[16,16,3,3]"),
    "attention f64": _cpu(attention, "f64[1,2,128,32] f64[1,2,128,32] f64[1,2,128,32]"),
    "linear 1 row, 256": _cpu(linear_bias, "f32[1,256] f32[256,256] f32[256]"),
    "linear 1 row, 2304": _cpu(linear_bias, "f32[1,768] f32[2304,768] f32[2304]"),
    "linear 7 rows": _cpu(linear_bias, "f32[7,768] f32[768,768] f32[768]"),
    "linear of 3": _cpu(linear_bias, "f32[10000,3] f32[64,3] f32[64]"),
    "linear to 1": _cpu(linear_bias, "f32[10000,64] f32[1,64] f32[1]"),
    "bmm of 3x3": _cpu(mm, "f32[4096,3,3] f32[4096,3,3]"),
    "bmm of one row": _cpu(mm, "f32[32,1,64] f32[32,64,512]"),
    "points": _cpu(mm, "f32[10000,4] f32[4,4]"),
    "bilinear form": _cpu(bilinear_form, "f32[256,64] f32[64,64] f32[256,64]"),
    "dot": _cpu(dot, "f32[100000] f32[100000]"),
    "dot, small": _cpu(dot, "f32[100] f32[100]"),
    "causal line": _cpu(causal_line, "f32[2,256,512] f32[256,1,4]"),
    "depthwise, channels last": _cpu(depthwise_channels_last, "f32[1,28,28,96] f32[96,1,3,3]"),
    "convolution 5x5": _cpu(conv5x5, "f32[1,32,28,28] f32[32,32,5,5]"),
    "convolution of 3 channels": _cpu(conv3x3, "f32[8,3,32,32] f32[16,3,3,3]"),
    "convolution of 1 channel": _cpu(conv3x3, "f32[16,1,28,28] f32[32,1,3,3]"),
    "convolution of a line, step 2": _cpu(conv_line_step, "f32[4,16,1000] f32[32,16,7]"),
    "convolution, transposed 3x3": _cpu(transposed_3, "f32[1,32,16,16] f32[32,16,3,3]"),
    "convolution, tiny": _cpu(conv3x3, "f32[1,4,8,8] f32[4,4,3,3]"),
    "max_pool, odd": _cpu(max_pool, "f32[2,16,35,35]"),
    "max_pool, channels last": _cpu(max_pool_channels_last, "f32[2,56,56,32]"),
    "avg_pool of lines": _cpu(avg_pool_line, "f32[4,32,1000]"),
    "mean of places, channels last": _cpu(mean_of_places_last, "f32[2,28,28,64]"),
    "layer_norm of channels": _cpu(layer_norm_of_channels, "f32[1,96,28,28] f32[96] f32[96]"),
    "batch_norm of rows": _cpu(batch_norm_rows, "f32[256,64] f32[64] f32[64]"),
    "group_norm, small": _cpu(group_norm, "f32[1,128,8,8] f32[128] f32[128]"),
    "rms_norm, small": _cpu(rms_norm, "f32[16,64] f32[64]"),
    "softmax, masked": _cpu(masked_softmax, "f32[2,4,64,64] bool[64,64]"),
    "attention, short cache": _cpu(attention, "f32[1,4,1,64] f32[1,4,64,64] f32[1,4,64,64]"),
    "attention, tiny": _cpu(attention, "f32[8,2,16,16] f32[8,2,16,16] f32[8,2,16,16]"),
    "gelu, small": _cpu(gelu, "f32[4096]"),
    "silu, small": _cpu(silu, "f32[1000]"),
    "expanded": _cpu(expanded, "f32[1,512]"),
    "border of zeros": _cpu(pad_zeros, "f32[1,64,56,56]"),
    "border, circular": _cpu(pad_circular, "f32[1,16,32,32]"),
    "border, replicated": _cpu(pad_replicated, "f32[1,16,32,32]"),
    "turned": _cpu(turned, "f32[512,512]"),
    "cumsum, reversed": _cpu(reverse_cumsum, "f32[64,1000]"),
    "differences": _cpu(differences, "f32[64,1000]"),
    "similarity": _cpu(similarity, "f32[64,128] f32[200,128]"),
    "huber": _cpu(huber, "f32[100000] f32[100000]"),
    "bags": _cpu(bags, "f32[1000,64] index1000[256,16]"),
    "take along": _cpu(take_along, "f32[256,500] index500[256,100]"),
    "masked mean": _cpu(masked_mean, "f32[8,128,256] bool[8,128]"),
    "scatter, largest": _cpu(scatter_largest, "f32[100,64] index100[500,64] f32[500,64]"),
    "bilinear, corners": _cpu(bilinear_corners, "f32[1,16,32,32]"),
    "std": _cpu(std_all, "f32[100000]"),
    "found": _cpu(found, "f32[1000] f32[10000]"),
    "sigmoid bf16, odd": _cpu(sigmoid, "bf16[777,333]"),
    "sine": _cpu(sine, "f32[100001]"),
    "log1p": _cpu(logarithm, "f32[100001]"),
    "erf": _cpu(erf, "f32[100001]"),
    "power": _cpu(power, "f32[100001]"),
    "exp f64": _cpu(softmax, "f64[10000,10]"),
    "add f16": _cpu(add, "f16[100000] f16[100000]"),
    "add f64": _cpu(add, "f64[100000] f64[100000]"),
    "add i64": _cpu(add, "i64[100000] i64[100000]"),
    "lstm cell": _cpu(lstm_cell, "f32[8,128] f32[8,128] f32[8,128] f32[512,128] f32[512,128] f32[512]"),
    "rotary of pairs": _cpu(rotary_pairs, "f32[128,4,64] f32[128,32] f32[128,32]"),
    "patches": _cpu(patches, "f32[1,3,224,224]"),
    "windows": _cpu(windows, "f32[1,56,56,96]"),
    "unshuffle": _cpu(unshuffle, "f32[1,16,64,64]"),
    "channel shuffle": _cpu(channel_shuffle, "f32[1,116,28,28]"),
    "squeeze and excite": _cpu(squeeze_excite, "f32[1,64,28,28] f32[16,64] f32[64,16]"),
    "mlp, small": _cpu(small_mlp, "f32[1,16] f32[64,16] f32[64] f32[4,64] f32[4]"),
    "classifier": _cpu(classifier, "f32[4,128] f32[10,128] f32[10]"),
}
