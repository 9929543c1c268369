#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Modules of torch.nn and functions of torch.nn.functional, called from a model's source and from its archive: both give
what PyTorch gives.

    modules_test.py PROGRAM [--all | GROUP[:TEXT]…]      nothing: an eighth of the rows, to save time; TEXT: rows that hold it

Exit code 77 where PyTorch is missing.
"""
import pathlib
import sys
import tempfile
import zlib

try:
    import numpy as np
    import torch
    import torch.ao.quantization.fx._decomposed  # noqa: F401, its operators
except ImportError as missing:
    print(f"skipped: this Python has no PyTorch ({missing})")
    sys.exit(77)

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
import more_functions  # noqa: E402
from tool import inputs_of, pellucid, run_package  # noqa: E402

torch.set_num_threads(1)

# Of each group: its inputs (`shape` of normal numbers, or an expression), modules with their arguments, and expressions.
GROUPS = {
    "images": (
        {"x": (2, 4, 7, 9), "w": (2, 4, 5, 6, 7), "l": (2, 4, 9)},
        [
            ("nn.Upsample(scale_factor=2)", "x"),
            ("nn.Upsample(size=(5, 4), mode='bilinear', align_corners=True)", "x"),
            ("nn.UpsamplingNearest2d(scale_factor=3)", "x"),
            ("nn.UpsamplingBilinear2d(size=(9, 5))", "x"),
            ("nn.PixelShuffle(2)", "x"),
            ("nn.PixelUnshuffle(2)", "x[..., :6, :8]"),
            ("nn.ChannelShuffle(2)", "x"),
            ("nn.Fold((7, 9), (2, 3), padding=1)", "F.unfold(x, (2, 3), padding=1)"),
            ("nn.Unfold((2, 3), dilation=2, padding=1, stride=2)", "x"),
            ("nn.Unflatten(1, (2, 2))", "x"),
            ("nn.ZeroPad1d(2)", "l"),
            ("nn.ZeroPad2d((1, 2, 0, 3))", "x"),
            ("nn.ZeroPad3d(1)", "w"),
            ("nn.ConstantPad1d((1, -2), 3.5)", "l"),
            ("nn.ConstantPad2d(1, -1.5)", "x"),
            ("nn.ConstantPad3d((1, 0, 2, 0, 0, 1), 2.0)", "w"),
            ("nn.ReflectionPad1d((2, 1))", "l"),
            ("nn.ReflectionPad2d((1, 2, 3, 0))", "x"),
            ("nn.ReflectionPad3d(1)", "w"),
            ("nn.ReplicationPad1d(3)", "l"),
            ("nn.ReplicationPad2d((10, 2, 3, 0))", "x"),
            ("nn.ReplicationPad3d((1, 2, 3, 0, 0, 1))", "w"),
            ("nn.CircularPad1d(3)", "l"),
            ("nn.CircularPad2d((1, 2, 3, 0))", "x"),
            ("nn.CircularPad3d(1)", "w"),
        ],
        [
            "F.interpolate(x, size=11, mode='nearest-exact')",
            "F.interpolate(x, scale_factor=(1.7, 0.6), mode='nearest-exact')",
            "F.interpolate(l, scale_factor=1.3, mode='nearest-exact')",
            "F.interpolate(w, size=(3, 8, 5), mode='nearest-exact')",
            "F.interpolate(x, size=(9, 5), mode='bicubic')",
            "F.interpolate(x, scale_factor=(1.5, 2.0), mode='bicubic', align_corners=True)",
            "F.interpolate(x, size=(3, 5), mode='area')",
            "F.interpolate(w, size=(3, 8, 5), mode='trilinear')",
            "F.interpolate(w, scale_factor=1.5, mode='trilinear', align_corners=True)",
            "F.interpolate(l, size=4, mode='linear', align_corners=True)",
            "F.interpolate(x, scale_factor=1.7, mode='bilinear', recompute_scale_factor=True)",
            "F.interpolate(x, size=(3, 4), mode='bilinear', antialias=True)",
            "F.interpolate(x, size=(12, 3), mode='bicubic', antialias=True)",
            "F.interpolate(x, size=(3, 13), mode='bicubic', antialias=True, align_corners=True)",
            "F.upsample(x, scale_factor=2, mode='bilinear')",
            "F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.4)",
            "F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.4, 'nearest', 'border', True)",
            "F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 2.4, 'bilinear', 'reflection')",
            "F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 2.4, 'bilinear', 'reflection', True)",
            "F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.4, 'bicubic', 'zeros')",
            "F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.4, 'bicubic', 'border', True)",
            "F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.4, 'bicubic', 'reflection', True)",
            "F.grid_sample(w, torch.tanh(w[:, :3, :2, :3, :4]).permute(0, 2, 3, 4, 1) * 1.2)",
            "F.grid_sample(w, torch.tanh(w[:, :3, :2, :3, :4]).permute(0, 2, 3, 4, 1) * 1.2, 'nearest', 'reflection', True)",
            "F.affine_grid(x[:, :2, :1, :3].reshape(2, 2, 3), (2, 4, 5, 6))",
            "F.affine_grid(x[:, :3, :1, :4].reshape(2, 3, 4), (2, 4, 3, 1, 6), True)",
            "F.pad(x, (1, 2, 0, 1), 'reflect')",
            "F.fold(F.unfold(x, (2, 3), 2, 1), (7, 9), (2, 3), 2, 1)",
        ],
    ),
    "pools": (
        {"x": (2, 4, 7, 9), "w": (2, 4, 5, 6, 7), "l": (2, 4, 9)},
        [
            ("nn.MaxPool1d(3, 2, 1)", "l"),
            ("nn.MaxPool2d((2, 3), ceil_mode=True)", "x"),
            ("nn.MaxPool3d(2, 1, dilation=2)", "w"),
            ("nn.AvgPool1d(3, 2, 1)", "l"),
            ("nn.AvgPool2d(3, 2, 1, True, False)", "x"),
            ("nn.AvgPool3d((1, 2, 3), divisor_override=5)", "w"),
            ("nn.LPPool1d(2, 3)", "l"),
            ("nn.LPPool2d(3, (2, 3), stride=2, ceil_mode=True)", "x.abs()"),
            ("nn.LPPool3d(2, 2)", "w"),
            ("nn.AdaptiveAvgPool1d(4)", "l"),
            ("nn.AdaptiveAvgPool2d((None, 4))", "x"),
            ("nn.AdaptiveAvgPool3d((2, 4, 5))", "w"),
            ("nn.AdaptiveMaxPool1d(4)", "l"),
            ("nn.AdaptiveMaxPool2d((3, 4))", "x"),
            ("nn.AdaptiveMaxPool3d(2)", "w"),
            ("nn.MaxUnpool1d(2)", "*F.max_pool1d(l, 2, return_indices=True)"),
            ("nn.MaxUnpool2d(2, 2)", "*F.max_pool2d(x, 2, return_indices=True), output_size=(7, 9)"),
            ("nn.MaxUnpool3d(2)", "*F.max_pool3d(w[:, :, :4, :, :6], 2, return_indices=True)"),
        ],
        [
            "F.max_pool2d(x, 3, 2, 1, 2, True, True)[1]",
            "F.max_pool3d(w, 2, 2, 1, return_indices=True)[1]",
            "F.adaptive_max_pool2d(x, 3, return_indices=True)[1]",
            "F.max_pool2d(x, 5, 1, 2)",
            "F.avg_pool2d(x, 7, 1, 3, count_include_pad=False)",
        ],
    ),
    "layers": (
        {"x": (3, 4, 7, 9), "w": (2, 4, 5, 6, 7), "l": (3, 4, 9), "r": (3, 6)},
        [
            ("(lambda s: (s.add_module('more', nn.Linear(9, 7)), s)[1])(nn.Sequential(nn.ReLU()))", "x"),
            ("nn.BatchNorm3d(4)", "w"),
            ("nn.SyncBatchNorm(4)", "x"),
            ("nn.InstanceNorm1d(4, affine=True)", "l"),
            ("nn.InstanceNorm2d(4)", "x"),
            ("nn.InstanceNorm2d(4, track_running_stats=True)", "x"),
            ("nn.InstanceNorm2d(4, eps=0.1)", "x[0]"),
            ("nn.InstanceNorm3d(4, affine=True)", "w"),
            ("nn.LocalResponseNorm(3, 0.2)", "x"),
            ("nn.LocalResponseNorm(2)", "l"),
            ("nn.GroupNorm(2, 4)", "x"),
            ("nn.LayerNorm((7, 9))", "x"),
            ("nn.RMSNorm(9)", "x"),
            ("nn.Bilinear(4, 9, 5)", "x[0, :, :, 0].t(), x[0, 0]"),
            ("nn.PairwiseDistance(3.0, keepdim=True)", "r, r * 2"),
            ("nn.CosineSimilarity(1)", "x, x[:, :1] + 1"),
            ("nn.Hardtanh(-0.5, 0.7)", "x"),
            ("nn.CELU(1.3)", "x"),
            ("nn.SELU()", "x"),
            ("nn.Threshold(0.1, 2.0)", "x"),
            ("nn.RReLU()", "x"),
            ("nn.PReLU(4)", "x"),
            ("nn.Hardshrink(0.3)", "x"),
            ("nn.Softshrink(0.3)", "x"),
            ("nn.Softsign()", "x"),
            ("nn.Tanhshrink()", "x"),
            ("nn.Softmin(1)", "x"),
            ("nn.Softmax2d()", "x"),
            ("nn.Dropout1d()", "l"),
            ("nn.Dropout2d()", "x"),
            ("nn.Dropout3d()", "w"),
            ("nn.AlphaDropout()", "x"),
            ("nn.FeatureAlphaDropout()", "x"),
            ("nn.EmbeddingBag(6, 3, mode='max', padding_idx=2)", "(r.abs() * 2).long().clamp(0, 5)"),
            ("nn.EmbeddingBag(6, 3, mode='sum')", "(r.abs() * 2).long().clamp(0, 5), per_sample_weights=r"),
            ("nn.EmbeddingBag(6, 3, include_last_offset=True)", "(r.abs() * 2).long().clamp(0, 5).view(-1), torch.tensor([0, 4, 4, 18])"),
            ("nn.EmbeddingBag(6, 3, mode='max')", "(r.abs() * 2).long().clamp(0, 5).view(-1), torch.tensor([0, 0, 7])"),
            ("nn.Conv1d(4, 6, 3, 2, 2, 2, 2)", "l"),
            ("nn.Conv3d(4, 6, (2, 3, 2), 1, (1, 0, 1), 1, 2)", "w"),
            ("nn.Conv2d(4, 6, 3, padding=2, padding_mode='circular')", "x"),
            ("nn.Conv2d(4, 6, 3, padding='same', dilation=2)", "x"),
            ("nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, 2, dilation=2)", "l"),
            ("nn.ConvTranspose2d(4, 6, (2, 3), 2, 1, 1)", "x"),
            ("nn.ConvTranspose3d(4, 6, 2, 2, groups=2)", "w"),
        ],
        [
            "F.cosine_similarity(x, x[:, :, :1] * 2, 2)",
            "F.cosine_similarity(r, r[0], -1, 0.5)",
            "F.pairwise_distance(r, r[:1], 1.0)",
            "torch.cdist(x[0], x[1], 1.0)",
            "torch.cdist(x[0], x[1], float('inf'))",
            "F.pdist(r)",
            "(0.5 < x) | (-0.5 >= x)",
            "torch.take_along_dim(r, torch.tensor([[-1], [0], [-6]]), 1)",
            "F.instance_norm(x, weight=x[0, :, 0, 0], bias=x[1, :, 0, 0])",
            "F.instance_norm(x, x[0, :, 0, 0], x[1, :, 0, 0].abs(), use_input_stats=False)",
        ],
    ),
    "losses": (
        {"x": (6, 4), "y": (6, 4), "t": "torch.randint(0, 4, (6,))", "b": "torch.randint(0, 2, (6, 4)) * 2 - 1", "p": "torch.softmax(torch.randn(6, 4), 1)"},
        [
            ("nn.MarginRankingLoss(0.3)", "x, y, b"),
            ("nn.HingeEmbeddingLoss(0.7)", "x, b"),
            ("nn.CosineEmbeddingLoss(0.2)", "x, y, b[:, 0]"),
            ("nn.SoftMarginLoss()", "x, b"),
            ("nn.MultiMarginLoss(2, 0.7)", "x, t"),
            ("nn.MultiMarginLoss(reduction='none')", "x, t"),
            ("nn.MultiLabelMarginLoss()", "x, torch.stack([t, (t + 1) % 4, t * 0 - 1, t], 1)"),
            ("nn.MultiLabelSoftMarginLoss()", "x, p"),
            ("nn.PoissonNLLLoss()", "x, y.abs() * 3"),
            ("nn.PoissonNLLLoss(False, True, reduction='sum')", "x.abs(), y.abs() * 3"),
            ("nn.GaussianNLLLoss(full=True)", "x, y, p"),
            ("nn.TripletMarginLoss(0.7, 3.0, swap=True)", "x, y, p"),
            ("nn.TripletMarginWithDistanceLoss(margin=0.7, swap=True)", "x, y, p"),
            ("nn.CTCLoss()", "torch.log_softmax(torch.stack([x, y, x * y, x - y, x + y, y * 2]), 2), 1 + torch.stack([t, t, t], 1) % 3, (6, 5, 6, 4, 6, 6), (3, 1, 2, 0, 3, 2)"),
            ("nn.CTCLoss(reduction='none')", "torch.log_softmax(torch.stack([x, y, x * y, x - y, x + y, y * 2]), 2), 1 + torch.cat([t, t])[:11] % 3, (6, 5, 6, 4, 6, 6), (3, 1, 2, 0, 3, 2)"),
            ("nn.CTCLoss(3, 'sum', True)", "torch.log_softmax(torch.stack([x, y, x * y]), 2), torch.stack([t, t, t], 1) % 3, torch.tensor([3, 3, 2, 3, 3, 3]), torch.tensor([3, 1, 2, 3, 3, 2])"),
            ("nn.CrossEntropyLoss(label_smoothing=0.2)", "x, t"),
            ("nn.KLDivLoss(reduction='batchmean', log_target=True)", "x, y"),
            ("nn.BCELoss()", "torch.sigmoid(x), p"),
        ],
        [
            "F.cross_entropy(x, t, y[0].abs(), ignore_index=2, label_smoothing=0.1)",
            "F.cross_entropy(x, t, y[0].abs(), label_smoothing=0.1, reduction='none')",
            "F.cross_entropy(x, p, y[0].abs(), label_smoothing=0.1)",
            "F.cross_entropy(x.reshape(2, 4, 3), t.reshape(2, 3), reduction='sum')",
            "F.gaussian_nll_loss(x, y, p[:, :1])",
            "F.multi_margin_loss(x[0], t[0], weight=y[0].abs())",
        ],
    ),
    "gradients": (
        {"x": (2, 4, 10, 8), "g": (2, 6, 5, 4), "w": (6, 2, 3, 3), "l": (3, 5, 6), "k": "torch.randint(0, 7, (3, 4))"},
        [],
        [
            "torch.ops.aten.convolution_backward(g, x, w, [6], [2, 2], [1, 1], [1, 1], False, [0, 0], 2, [True, True, True])",
            "torch.ops.aten.convolution_backward(x[:, :, :6, :6], x, w[:4, :1], [4], [1, 1], [0, 1], [2, 2], False, [0, 0], 4, [True, True, False])",
            "torch.ops.aten.convolution_backward(x[:, :, :, :7], g, w, [4], [2, 2], [1, 1], [1, 1], True, [1, 0], 2, [True, True, True])",
            "torch.ops.aten.max_pool2d_with_indices_backward(F.max_pool2d(x, 3, 2, 1), x, [3, 3], [2, 2], [1, 1], [1, 1], False, F.max_pool2d(x, 3, 2, 1, return_indices=True)[1])",
            "torch.ops.aten.avg_pool2d_backward(F.avg_pool2d(x, 3, 2, 1), x, [3, 3], [2, 2], [1, 1], False, True, None)",
            "torch.ops.aten.avg_pool2d_backward(F.avg_pool2d(x, 3, 2, 1, True, False), x, [3, 3], [2, 2], [1, 1], True, False, None)",
            "torch.ops.aten.avg_pool2d_backward(F.avg_pool2d(x, 2), x, [2, 2], [], [0, 0], False, True, 3)",
            "torch.ops.aten._adaptive_avg_pool2d_backward(F.adaptive_avg_pool2d(x, (4, 3)), x)",
            "torch.ops.aten.embedding_dense_backward(l[:, :4], k, 7, 2, False)",
            "torch.ops.aten.embedding_dense_backward(l[:, :4], k, 7, -1, True)",
            "torch.ops.aten.native_layer_norm_backward(l, l * 2 + 1, [6], *torch.ops.aten.native_layer_norm(l * 2 + 1, [6], None, None, 1e-5)[1:], l[0, 0], l[0, 1], [True, True, True])",
            "torch.ops.aten.native_group_norm_backward(x, x * 2, *torch.ops.aten.native_group_norm(x * 2, None, None, 2, 4, 80, 2, 1e-5)[1:], x[0, :, 0, 0], 2, 4, 80, 2, [True, True, True])",
            "torch.ops.aten._softmax_backward_data(l, torch.softmax(l, 1), 1, torch.float32)",
            "torch.ops.aten._log_softmax_backward_data(l, torch.log_softmax(l, 2), 2, torch.float32)",
            "torch.atan2(x, x + 1)",
        ],
    ),
    "quantized": (
        {"x": (6, 8), "s": "torch.rand(6) * 0.05 + 0.01", "z": "torch.randint(-3, 4, (6,))", "i": "torch.randint(-128, 128, (6, 8)).to(torch.int8)"},
        [],
        [
            "Q.quantize_per_tensor(x, 0.03, 5, -128, 127, torch.int8)",
            "Q.quantize_per_tensor(x, 0.03, 131, 0, 255, torch.uint8)",
            "Q.quantize_per_tensor.tensor(x, s[0], z[0], -7, 7, torch.int8)",
            "Q.quantize_per_tensor.tensor2(x, s[0], z[0], z[1] - 9, z[2] + 9, torch.int8)",
            "Q.dequantize_per_tensor(i, 0.03, 5, -128, 127, torch.int8)",
            "Q.dequantize_per_tensor(i, 0.03, 5, -128, 127, torch.int8, out_dtype=torch.float64)",
            "Q.dequantize_per_tensor.tensor(i, s[0], z[0], -128, 127, torch.int8)",
            "Q.quantize_per_channel(x, s, z, 0, -128, 127, torch.int8)",
            "Q.dequantize_per_channel(i, s, z, 0, -128, 127, torch.int8)",
            "Q.dequantize_per_channel(i, s, None, 0, -128, 127, torch.int8)",
            "Q.choose_qparams.tensor(x, -128, 127, 1e-7, torch.int8)",
            "Q.choose_qparams_symmetric.tensor(x, -127, 127, 1e-7, torch.int8)",
            "Q.choose_qparams_per_token_asymmetric(x, torch.int8)",
            "Q.quantize_per_token(x, s[:, None], z[:, None].float(), -128, 127, torch.int8)",
            "Q.dequantize_per_token(i, s[:, None], z[:, None].float(), -128, 127, torch.int8, torch.float32)",
            "Q.quantize_per_channel_group(x, s[:, None].expand(6, 2).contiguous(), z[:, None].expand(6, 2).contiguous().float(), -8, 7, torch.int8, 4)",
            "Q.dequantize_per_channel_group(i, s[:, None].expand(6, 2).contiguous(), z[:, None].expand(6, 2).contiguous().float(), -8, 7, torch.int8, 4, torch.float32)",
            "torch.ops.aten._weight_int8pack_mm(x, i, s)",
            "(i & 15, i | 3, i ^ 5)",
            "torch._int_mm(i.repeat(4, 1), i.t().contiguous().repeat(1, 4))",
            "torch.ops.aten._weight_int4pack_mm_for_cpu(x.repeat(1, 8), torch.ops.aten._convert_weight_to_int4pack_for_cpu((i.repeat(16, 8) & 15).int()[:64], 1), 32, s[:2, None, None].expand(2, 64, 2).contiguous())",
            "torch.ops.aten._convert_weight_to_int4pack_for_cpu((i.repeat(16, 8) & 15).int()[:80], 1)",
            "torch.ops.aten._weight_int4pack_mm_for_cpu(x.repeat(1, 8), torch.ops.aten._convert_weight_to_int4pack_for_cpu((i.repeat(16, 8) & 15).int()[:80], 1), 32, s[:2, None, None].expand(2, 80, 2).contiguous())",
            "torch.fake_quantize_per_tensor_affine(x, 0.02, 3, -128, 127)",
            "torch.fake_quantize_per_channel_affine(x, s, z.int(), 0, -128, 127)",
        ],
    ),
    "recurrent": (
        {"x": (5, 2, 6), "h": (2, 2, 4), "c": (2, 2, 4), "m": "torch.rand(2, 5) > 0.7"},
        [
            ("nn.LSTM(6, 4, 2, bidirectional=True)", "x"),
            ("nn.LSTM(6, 4, 2, bias=False, batch_first=True)", "x[:2], (h, c)"),
            ("nn.LSTM(6, 4, proj_size=3)", "x"),
            ("nn.LSTM(6, 4)", "x[:, 0]"),
            ("nn.GRU(6, 4, 1, bidirectional=True)", "x, h"),
            ("nn.GRU(6, 4, batch_first=True)", "x"),
            ("nn.RNN(6, 4, 2, 'relu')", "x, h"),
            ("nn.RNN(6, 4, bidirectional=True, bias=False)", "x"),
            ("nn.LSTMCell(6, 4)", "x[0], (h[0], c[0])"),
            ("nn.LSTMCell(6, 4, bias=False)", "x[0, 0]"),
            ("nn.GRUCell(6, 4)", "x[0]"),
            ("nn.RNNCell(6, 4, nonlinearity='relu')", "x[0], h[0]"),
            ("nn.MultiheadAttention(6, 2)", "x, x, x"),
            ("nn.MultiheadAttention(6, 2, batch_first=True)", "x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), key_padding_mask=m & (torch.arange(5) > 0), need_weights=False"),
            ("nn.MultiheadAttention(6, 2, add_bias_kv=True, add_zero_attn=True)", "x, x * 2, x, key_padding_mask=m & (torch.arange(5) > 0)"),
            ("nn.MultiheadAttention(6, 3, kdim=4, vdim=5)", "x, x[..., :4], x[..., 1:], need_weights=False"),
            ("nn.MultiheadAttention(6, 2)", "x[:, 0], x[:, 1], x[:, 1], average_attn_weights=False"),
            ("nn.TransformerEncoderLayer(6, 2, 16)", "x"),
            ("nn.TransformerEncoderLayer(6, 2, 16, layer_norm_eps=0.1)", "x, src_key_padding_mask=m & (torch.arange(5) > 0)"),
            ("nn.TransformerEncoderLayer(6, 2, 16)", "x, nn.Transformer.generate_square_subsequent_mask(5), is_causal=True"),
            ("nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 16), 2)", "x, x, tgt_key_padding_mask=m & (torch.arange(5) > 0), memory_key_padding_mask=m & (torch.arange(5) > 1)"),
            ("nn.TransformerEncoderLayer(6, 3, 16, activation='gelu', batch_first=True, norm_first=True, bias=False)", "x.transpose(0, 1)"),
            ("nn.TransformerDecoderLayer(6, 2, 16)", "x, x * 2"),
            ("nn.TransformerDecoderLayer(6, 2, 16, norm_first=True)", "x, x[:3], nn.Transformer.generate_square_subsequent_mask(5)"),
            ("nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 16), 2, nn.LayerNorm(6), enable_nested_tensor=False)", "x"),
            ("nn.Transformer(6, 2, 1, 2, 16)", "x, x * 0.5"),
        ],
        [],
    ),
}


GROUPS.update(more_functions.GROUPS)

# How weights are packed there is the processor's, and here AVX-512's.
if torch.backends.cpu.get_cpu_capability() != "AVX512":
    GROUPS["quantized"][2][:] = [row for row in GROUPS["quantized"][2] if not row.startswith("torch.ops.aten._convert_weight_to_int4pack_for_cpu")]


def source_of(inputs, modules, expressions):
    lines = ["import torch", "from torch import nn", "from torch.nn import functional as F", "", "Q = torch.ops.quantized_decomposed", "", "", "class Model(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    lines += [f"        self.m{i} = {made}" for i, (made, _) in enumerate(modules)]
    lines += ["", f"    def forward(self, {', '.join(inputs)}):", "        out = []"]
    lines += [f"        out.append(self.m{i}({arguments}))" for i, (_, arguments) in enumerate(modules)]
    lines += [f"        out.append({expression})" for expression in expressions]
    return "\n".join(lines + ["        return out", ""])


def flat(value):
    return [] if value is None else [value] if isinstance(value, torch.Tensor) else [t for part in value for t in flat(part)]


def labels_of(results, texts):
    return [text for result, text in zip(results, texts) for _ in flat(result)]


def compared(name, way, got, expected, labels):
    for found, want, label in zip(got, expected, labels, strict=True):
        want = want.numpy()
        assert found.dtype == want.dtype and found.shape == want.shape, f"{label} ({way}): {found.dtype}{found.shape}, not {want.dtype}{want.shape}"
        np.testing.assert_allclose(found, want, rtol=2e-4, atol=2e-5, err_msg=f"{name}, {way}: {label}")


# PyTorch asks these for values of theirs, which its export() has not.
NOT_EXPORTED = ("GaussianNLLLoss", "gaussian_nll_loss", "CTCLoss")


def is_exported(row):
    return not any(name in row for name in NOT_EXPORTED)


def check(folder, name, wanted, exported=True):
    inputs, modules, expressions = GROUPS[name]
    modules = [row for row in modules if wanted(row[0] + row[1])]
    expressions = [row for row in expressions if wanted(row)]
    if not modules and not expressions:
        return
    torch.manual_seed(5)
    values = {key: torch.randn(given) if isinstance(given, tuple) else eval(given) for key, given in inputs.items()}
    text = source_of(inputs, modules, expressions)
    path, scope = folder / f"{name}_model.py", {}
    path.write_text(text)
    exec(text, scope)
    model = scope["Model"]().eval()
    with torch.no_grad():
        for _, buffer in model.named_buffers():
            if buffer.is_floating_point():
                buffer.add_(torch.rand_like(buffer))
        results = model(*values.values())
    expected, labels = flat(results), labels_of(results, [row[0] for row in modules] + list(expressions))
    np.savez(folder / "state.npz", **{key: value.numpy() for key, value in model.state_dict().items()})
    shapes = []
    for key, value in values.items():
        kind = {torch.float32: "f32", torch.int64: "i64", torch.int8: "i8", torch.bool: "bool"}[value.dtype]
        shapes += ["--input", f"{key}={kind}[{','.join(map(str, value.shape))}]"]
    weights = ["--weights", folder / "state.npz"] if model.state_dict() else []
    pellucid("compile", f"{path}:Model", *shapes, *weights, "-o", folder / "source.plc", "--target", "cpu:x86-64-v3")
    source = run_package(folder, folder / "source.plc", [values[name] for name in inputs_of(folder / "source.plc")], len(expected))
    compared(name, "source", source, expected, labels)
    if not exported:
        return
    torch.export.save(torch.export.export(model, tuple(values.values())), folder / "model.pt2")
    pellucid("compile", folder / "model.pt2", "-o", folder / "archive.plc", "--target", "cpu:x86-64-v3")
    archive = run_package(folder, folder / "archive.plc", [values[name] for name in inputs_of(folder / "archive.plc")], len(expected))
    compared(name, "archive", archive, expected, labels)
    for one, other, label in zip(source, archive, labels, strict=True):
        assert one.tobytes() == other.tobytes(), f"{name}: {label}: the source and its archive give other bits"
    print(f"{name}: {len(expected)} results from {len(modules)} modules and {len(expressions)} functions, from source and archive")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        chosen = sys.argv[2:]
        for name in GROUPS if not chosen or chosen == ["--all"] else chosen:
            group, _, text = name.partition(":")
            wanted = (lambda row: text in row) if chosen else (lambda row: zlib.crc32(row.encode()) % 8 == 0)
            for exported in (True, False):
                check(pathlib.Path(scratch), group, lambda row: wanted(row) and is_exported(row) == exported, exported)


if __name__ == "__main__":
    main()
