#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that torchao quantises, exported, compiled and compared: prepared and converted by PT2E (static, dynamic, by channels, in training), and
with the weights of torchao's own tensors (int8, int4 in groups, rows of activations as they come).

    quantized_models.py PROGRAM [NAME…]

Results are compared with the quantised model's own; a step of a quantisation is a step of its result, so that a share of the elements may be
one step off where a value lies between two. No test: it needs torchao.
"""
import copy
import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "judge")]
from judge import errors_of_largest  # noqa: E402
from tool import check_each, pellucid, run_package  # noqa: E402

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
TARGET = "cpu:x86-64-v3"


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3, stride=2, groups=2)
        self.third, self.head = nn.Conv2d(8, 8, 3, stride=2), nn.Linear(16, 5)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)))
        y = F.max_pool2d(x, 2)
        y = y + F.hardswish(y)
        y = torch.cat([self.second(y), self.third(y * 0.5)], 1)
        return self.head(F.adaptive_avg_pool2d(y, 1).flatten(1))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.layer = nn.Embedding(50, 64), nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.head = nn.Linear(64, 64, bias=False)

    def forward(self, ids):
        return self.head(self.layer(self.table(ids)))


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 128), nn.Linear(128, 64, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.up(x))) + x


def images():
    return Images(), (torch.randn(2, 3, 16, 16),)  # means of 9 elements: of 4, halves of steps are common


def words():
    return Words(), (torch.randint(0, 50, (2, 9)),)


def rows():
    return Rows(), (torch.randn(5, 64),)


def pt2e(make, quantizer, training=False):
    from torchao.quantization.pt2e import allow_exported_model_train_eval, move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

    model, inputs = make()
    graph = torch.export.export(model if training else model.eval(), inputs).module()
    graph = (prepare_qat_pt2e if training else prepare_pt2e)(graph, quantizer)
    for _ in range(3):
        graph(*inputs)
    if training:
        move_exported_model_to_eval(graph)
    return convert_pt2e(graph), inputs


def x86(make, training=False, **options):
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x

    quantizer = x.X86InductorQuantizer().set_global(x.get_default_x86_inductor_quantization_config(is_qat=training, **options))
    return pt2e(make, quantizer, training)


def xnnpack(make, training=False, **options):
    from torchao.testing.pt2e import _xnnpack_quantizer as x

    return pt2e(make, x.XNNPACKQuantizer().set_global(x.get_symmetric_quantization_config(is_qat=training, **options)), training)


def tensors(make, config):
    from torchao import quantization

    model, inputs = make()
    model = copy.deepcopy(model.eval())
    quantization.quantize_(model, config(quantization))
    return model, inputs


MODELS = {
    "x86_images": lambda: x86(images),
    "x86_images_training": lambda: x86(images, training=True),
    "x86_words": lambda: x86(words),
    "x86_rows_dynamic": lambda: x86(rows, is_dynamic=True),
    "xnnpack_images": lambda: xnnpack(images),
    "xnnpack_images_channels": lambda: xnnpack(images, is_per_channel=True),
    "xnnpack_images_training": lambda: xnnpack(images, training=True, is_per_channel=True),
    "xnnpack_rows_dynamic": lambda: xnnpack(rows, is_per_channel=True, is_dynamic=True),
    "xnnpack_words": lambda: xnnpack(words, is_per_channel=True),
    "int8_weights": lambda: tensors(rows, lambda q: q.Int8WeightOnlyConfig()),
    "int8_rows": lambda: tensors(rows, lambda q: q.Int8DynamicActivationInt8WeightConfig()),
    "int8_words": lambda: tensors(words, lambda q: q.Int8DynamicActivationInt8WeightConfig()),
    "int4_groups": lambda: tensors(rows, lambda q: q.IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=q.PerGroup(32))),
    "int2_channels": lambda: tensors(rows, lambda q: q.IntxWeightOnlyConfig(weight_dtype=torch.int2, granularity=q.PerAxis(0))),
    "int4_rows": lambda: tensors(rows, lambda q: q.Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=q.PerGroup(32))),
}


def check(folder, name):
    torch.manual_seed(0)
    with torch.no_grad():
        model, inputs = MODELS[name]()
        want = model(*inputs).numpy()
        program = torch.export.export(model, inputs)
        found = []
        for dialect, one in (("as exported", program), ("core", program.run_decompositions())):
            torch.export.save(one, folder / "model.pt2")
            pellucid("compile", folder / "model.pt2", "-o", folder / "model.plc", "--target", TARGET)
            [got] = run_package(folder, folder / "model.plc", [inputs[0].numpy()], 1)
            assert got.shape == want.shape and got.dtype == want.dtype, f"{got.dtype}{got.shape}, not {want.dtype}{want.shape}"
            off = errors_of_largest(got, want)
            found.append((float(off.max()), float((off > 1e-5).mean())))
    operators = sorted({str(n.target).split(".")[0] for n in program.graph.nodes if n.op == "call_function" and str(n.target).split(".")[0] not in ("aten",) and "built-in" not in str(n.target)})
    worst, share = max(f[0] for f in found), max(f[1] for f in found)
    right = worst < 0.05 and share < 0.02 or worst < 1e-5
    print(f"{name:26} {'right' if right else 'WRONG'}  largest difference {worst:.1e}, {share:.1%} of the elements off by more than 1e-5  ({', '.join(operators)})", flush=True)
    return right


if __name__ == "__main__":
    check_each(sys.argv[2:] or MODELS, check)
