# SPDX-License-Identifier: Apache-2.0
"""A fifth table of graph operators, for a device, with functions of its own: places that are computed, several results, losses, odd sizes."""
import torch
import torch.nn.functional as F


def log_cumulated(x):
    return torch.logcumsumexp(x, -1)


def cummin_places(x):
    return torch.cummin(x, -1)


def logsumexp_columns(x):
    return torch.logsumexp(x, 0)


def extremes_of_rows(x):
    return torch.aminmax(x, dim=-1)


def var_mean_columns(x):
    return torch.var_mean(x, 0)


def entropy(x):
    p = torch.softmax(x, -1)
    return -(p * torch.log_softmax(x, -1)).sum(-1)


def picked_log_probability(x, index):
    return torch.log_softmax(x, -1).gather(1, index[:, None])[:, 0]


def taken_along(x, index):
    return torch.take_along_dim(x, index, 1) * 2 + 1


def two_indices(x, i, j):
    return torch.relu(x[i, j] - 0.5)


def mean_of_embeddings(weight, index):
    return F.embedding(index, weight).mean(1)


def sorted_places(x, values):
    return torch.searchsorted(torch.sort(x).values, values)


def relative_bias(x, table, index):
    return torch.softmax(x + table[index].permute(2, 0, 1), -1)


def conv1d_7(x, w):
    return F.conv1d(x, w, padding=3)


def depthwise_7(x, w):
    return F.conv2d(x, w, padding=3, groups=x.shape[1])


def conv_5_stride(x, w):
    return F.conv2d(x, w, padding=2, stride=2)


def conv_bias_silu(x, w, b):
    return F.silu(F.conv2d(x, w, b, padding=1))


def conv_transposed_3(x, w):
    return F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)


def max_pool_places(x):
    return F.max_pool2d(x, 3, 2, 1, return_indices=True)


def adaptive_max(x):
    return F.adaptive_max_pool2d(x, 5)


def rotated_image(x, theta):
    return F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), padding_mode="border", align_corners=False)


def nearest_to(x):
    return F.interpolate(x, size=(77, 77), mode="nearest")


def residual_rms(x, r, w):
    h = x + r
    return h, F.rms_norm(h, (h.shape[-1],), w, 1e-6)


def channel_norm(x, w, b):
    return F.layer_norm(x.permute(0, 2, 3, 1), (x.shape[1],), w, b).permute(0, 3, 1, 2)


def geglu(x):
    a, b = x.chunk(2, -1)
    return a * F.gelu(b)


def weight_of_bytes(x, w, scale):
    return F.linear(x, w.to(x.dtype) * scale[:, None])


def bmm(x, y):
    return torch.bmm(x, y)


def mm(x, y):
    return torch.mm(x, y)


def linear(x, w):
    return F.linear(x, w)


def attention_padded(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def attention_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def weighted_entropy(x, target, weight):
    return F.cross_entropy(x, target, weight)


def huber(x, y):
    return F.huber_loss(x, y)


def pairs_apart(x, y):
    return F.pairwise_distance(x, y)


def similarities(x, y):
    return F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).t()


def routed(x):
    values, experts = torch.topk(torch.softmax(x, -1), 8)
    return values / values.sum(-1, keepdim=True), experts


def reversed_cumsum(x):
    return x.flip(-1).cumsum(-1).flip(-1)


def differences(x):
    return torch.diff(x)


def adam_step(p, g, m, v):
    m = torch.lerp(m, g, 0.1)
    v = v * 0.999 + 0.001 * g * g
    return p - 1e-3 * m / (v.abs().sqrt() + 1e-8), m, v


def capped(x):
    return 30.0 * torch.tanh(x / 30.0)


def softmax(x):
    return torch.softmax(x, -1)


def masked_mean(x, mask):
    m = mask[:, :, None].to(x.dtype)
    return (x * m).sum(1) / m.sum(1).clamp(min=1)


def windows_of_rows(x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 7, 7, w // 7, 7, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)


def quantised_rows(x):
    scale = x.abs().amax(-1, keepdim=True) / 127.0
    return torch.round(x / scale).clamp(-127, 127) * scale


def _both(function, cuda, cpu):
    return function, {"cuda": tuple(cuda.split()), "cpu": tuple(cpu.split())}


FIFTH_CASES = {
    "logcumsumexp": _both(log_cumulated, "f32[4096,2048]", "f32[64,256]"),
    "cummin and places": _both(cummin_places, "f32[2048,5000]", "f32[64,300]"),
    "logsumexp of columns": _both(logsumexp_columns, "f32[8192,4096]", "f32[512,256]"),
    "smallest and largest of rows": _both(extremes_of_rows, "bf16[16384,3000]", "f32[512,300]"),
    "variance and mean of columns": _both(var_mean_columns, "f32[20000,1000]", "f32[512,100]"),
    "entropy": _both(entropy, "f32[4096,8192]", "f32[64,1000]"),
    "log probability of one": _both(picked_log_probability, "bf16[8192,16000] index16000[8192]", "f32[64,1000] index1000[64]"),
    "taken along rows": _both(taken_along, "f32[4096,4096] index4096[4096,2048]", "f32[128,256] index256[128,100]"),
    "two indices": _both(two_indices, "f32[4096,4096] index4096[3000000] index4096[3000000]", "f32[256,256] index256[3000] index256[3000]"),
    "mean of embeddings": _both(mean_of_embeddings, "bf16[50000,512] index50000[4096,32]", "f32[1000,64] index1000[64,8]"),
    "sorted places": _both(sorted_places, "f32[100000] f32[1000000]", "f32[1000] f32[5000]"),
    "relative bias": _both(relative_bias, "bf16[16,577,577] bf16[2209,16] index2209[577,577]", "f32[4,50,50] f32[200,4] index200[50,50]"),
    "conv1d 7": _both(conv1d_7, "f16[16,384,2000] f16[384,384,7]", "f32[2,32,200] f32[32,32,7]"),
    "depthwise 7x7": _both(depthwise_7, "f16[32,192,56,56] f16[192,1,7,7]", "f32[1,16,28,28] f32[16,1,7,7]"),
    "convolution 5x5, step 2": _both(conv_5_stride, "f16[16,48,112,112] f16[96,48,5,5]", "f32[1,8,28,28] f32[16,8,5,5]"),
    "convolution, bias, silu": _both(conv_bias_silu, "f16[16,160,40,40] f16[320,160,3,3] f16[320]", "f32[1,16,20,20] f32[32,16,3,3] f32[32]"),
    "transposed 3x3": _both(conv_transposed_3, "f16[16,192,28,28] f16[192,96,3,3]", "f32[1,16,14,14] f32[16,8,3,3]"),
    "max_pool and places": _both(max_pool_places, "f32[16,64,112,112]", "f32[1,8,28,28]"),
    "adaptive max": _both(adaptive_max, "f16[32,256,33,33]", "f32[2,16,33,33]"),
    "rotated image": _both(rotated_image, "f32[8,32,224,224] f32[8,2,3]", "f32[1,3,32,32] f32[1,2,3]"),
    "nearest to any size": _both(nearest_to, "f16[16,128,50,50]", "f32[1,8,50,50]"),
    "residual, rms_norm": _both(residual_rms, "bf16[8192,5120] bf16[8192,5120] bf16[5120]", "f32[64,512] f32[64,512] f32[512]"),
    "norm of channels": _both(channel_norm, "f16[16,192,56,56] f16[192] f16[192]", "f32[1,16,28,28] f32[16] f32[16]"),
    "geglu": _both(geglu, "bf16[6000,10240]", "f32[64,1024]"),
    "weight of bytes, 48 rows": _both(weight_of_bytes, "bf16[48,4096] i8[6144,4096] bf16[6144]", "f32[48,256] i8[384,256] f32[384]"),
    "bmm of 48": _both(bmm, "f32[2000,48,48] f32[2000,48,48]", "f32[50,48,48] f32[50,48,48]"),
    "mm tall, f32": _both(mm, "f32[100000,64] f32[64,96]", "f32[5000,64] f32[64,96]"),
    "linear 150 rows": _both(linear, "bf16[150,5120] bf16[5120,5120]", "f32[50,512] f32[512,512]"),
    "linear 700 rows, odd": _both(linear, "f16[700,1500] f16[2500,1500]", "f32[70,150] f32[250,150]"),
    "attention, padded keys": _both(attention_padded, "bf16[8,12,1024,64] bf16[8,12,1024,64] bf16[8,12,1024,64] bool[8,1,1,1024]", "f32[1,2,128,64] f32[1,2,128,64] f32[1,2,128,64] bool[1,1,1,128]"),
    "attention 80": _both(attention, "f16[4,16,2000,80] f16[4,16,2000,80] f16[4,16,2000,80]", "f32[1,2,128,80] f32[1,2,128,80] f32[1,2,128,80]"),
    "attention 48": _both(attention, "f16[8,12,1500,48] f16[8,12,1500,48] f16[8,12,1500,48]", "f32[1,2,128,48] f32[1,2,128,48] f32[1,2,128,48]"),
    "attention 64, causal, odd": _both(attention_causal, "bf16[4,16,1777,64] bf16[4,16,1777,64] bf16[4,16,1777,64]", "f32[1,2,128,64] f32[1,2,128,64] f32[1,2,128,64]"),
    "cross entropy, weighted": _both(weighted_entropy, "f32[8192,5000] index5000[8192] f32[5000]", "f32[64,1000] index1000[64] f32[1000]"),
    "huber": _both(huber, "f32[8192,3000] f32[8192,3000]", "f32[256,300] f32[256,300]"),
    "pairs apart": _both(pairs_apart, "f32[65536,300] f32[65536,300]", "f32[512,300] f32[512,300]"),
    "similarities": _both(similarities, "bf16[4096,768] bf16[4096,768]", "f32[256,64] f32[256,64]"),
    "routed": _both(routed, "f32[32768,128]", "f32[256,64]"),
    "cumsum from behind": _both(reversed_cumsum, "f32[4096,4096]", "f32[128,256]"),
    "differences": _both(differences, "f32[8192,4097]", "f32[128,257]"),
    "adam": _both(adam_step, "f32[16000000] f32[16000000] f32[16000000] f32[16000000]", "f32[100000] f32[100000] f32[100000] f32[100000]"),
    "capped": _both(capped, "bf16[40000001]", "f32[100001]"),
    "softmax f64": _both(softmax, "f64[4096,3000]", "f64[64,300]"),
    "masked mean": _both(masked_mean, "f32[64,1024,768] bool[64,1024]", "f32[4,64,76] bool[4,64]"),
    "windows of rows": _both(windows_of_rows, "f32[32,56,56,96]", "f32[1,14,14,32]"),
    "rows quantised and back": _both(quantised_rows, "f32[8192,3000]", "f32[64,300]"),
}
