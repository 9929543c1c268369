#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of torchvision, timm and transformers from their own Python source, unchanged, and from the archive that PyTorch makes of them: both
give the same bits, which are PyTorch's to within rounding.

    library_bits.py PROGRAM [NAME…]

No test: it takes minutes, and the libraries beside torch.
"""
import pathlib
import sys
import warnings

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "judge")]
from judge import errors_of_largest  # noqa: E402
from tool import check_each, pellucid, run_package  # noqa: E402

warnings.simplefilter("ignore")
torch.set_num_threads(1)

IMAGE, IDS = "x=f32[2,3,64,64]", "x=i64[2,7]"
VISION, TEXT = "x", "x, return_dict=False"
CACHED = "x, use_cache=False, return_dict=False"


def hf(name, config, model, words, arguments=TEXT, folder=None):
    folder = folder or name
    return (f"from transformers.models.{folder}.modeling_{folder} import {model}\nfrom transformers.models.{folder}.configuration_{folder} import {config}", f"{model}({config}({words}))", IDS, arguments)


def timm(name, words="img_size=64, "):
    return "import timm", f"timm.create_model('{name}', {words}num_classes=7)", IMAGE, VISION


def vision(module, call):
    return f"from torchvision.models.{module} import {call.partition('(')[0]}", call, IMAGE, VISION


SMALL = "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=100"

# Of each model: what its file imports, how it is made, its input, and how it is called.
MODELS = {
    "resnet18": vision("resnet", "resnet18(num_classes=10)"),
    "mobilenet_v3_small": vision("mobilenetv3", "mobilenet_v3_small(num_classes=10)"),
    "VisionTransformer": vision("vision_transformer", "VisionTransformer(64, 16, 2, 2, 32, 64, num_classes=7)"),
    "convnext_tiny": vision("convnext", "convnext_tiny(num_classes=10)"),
    "swin_t": vision("swin_transformer", "swin_t(num_classes=10)"),
    "densenet121": vision("densenet", "densenet121(num_classes=10)"),
    "efficientnet_b0": vision("efficientnet", "efficientnet_b0(num_classes=10)"),
    "shufflenet_v2_x0_5": vision("shufflenetv2", "shufflenet_v2_x0_5(num_classes=10)"),
    "squeezenet1_1": vision("squeezenet", "squeezenet1_1(num_classes=10)"),
    "vgg11_bn": vision("vgg", "vgg11_bn(num_classes=10)"),
    "googlenet": vision("googlenet", "googlenet(num_classes=10, aux_logits=False, init_weights=False)"),
    "MaxVit": vision("maxvit", "MaxVit((64, 64), 16, 2, [16, 32], [1, 1], 8, 0.0, num_classes=7)"),
    "vit_tiny_patch16_224": timm("vit_tiny_patch16_224"),
    "resmlp_12_224": timm("resmlp_12_224"),
    "convmixer_768_32": timm("convmixer_768_32", ""),
    "mixer_s16_224": timm("mixer_s16_224"),
    "res2net50_26w_4s": timm("res2net50_26w_4s", ""),
    "coat_lite_tiny": timm("coat_lite_tiny"),
    "cait_xxs24_224": timm("cait_xxs24_224"),
    "poolformer_s12": timm("poolformer_s12", ""),
    "pvt_v2_b0": timm("pvt_v2_b0", ""),
    "regnety_002": timm("regnety_002", ""),
    "rexnet_100": timm("rexnet_100", ""),
    "xcit_nano_12_p16_224": timm("xcit_nano_12_p16_224"),
    "bert": hf("bert", "BertConfig", "BertModel", SMALL),
    "gpt2": hf("gpt2", "GPT2Config", "GPT2Model", "n_embd=32, n_layer=2, n_head=2, vocab_size=100", CACHED),
    "llama": hf("llama", "LlamaConfig", "LlamaModel", SMALL + ", num_key_value_heads=2", CACHED),
    "t5": hf("t5", "T5Config", "T5EncoderModel", "d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=100"),
    "distilbert": hf("distilbert", "DistilBertConfig", "DistilBertModel", "dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=100"),
    "albert": hf("albert", "AlbertConfig", "AlbertModel", SMALL + ", embedding_size=16"),
    "gpt_neox": hf("gpt_neox", "GPTNeoXConfig", "GPTNeoXModel", SMALL, CACHED),
    "phi": hf("phi", "PhiConfig", "PhiModel", SMALL, CACHED),
}


def flat(value):
    if value is None:
        return []
    return [value] if isinstance(value, torch.Tensor) else [t for part in (value.values() if isinstance(value, dict) else value) for t in flat(part)]


def check(folder, name):
    imports, made, spec, arguments = MODELS[name]
    text = f"import torch\n{imports}\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.model = {made}\n\n    def forward(self, x):\n        return self.model({arguments})\n"
    (folder / "model.py").write_text(text)
    scope = {}
    torch.manual_seed(0)
    exec(text, scope)
    model = scope["Model"]().eval()
    value = torch.randint(0, 99, (2, 7)) if spec == IDS else torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        expected = flat(model(value))
    np.savez(folder / "state.npz", **{key: t.numpy() for key, t in model.state_dict().items()})
    torch.export.save(torch.export.export(model, (value,)), folder / "model.pt2")
    site = pathlib.Path(torch.__file__).parent.parent
    found = []
    for words in ([folder / "model.pt2"], [f"{folder / 'model.py'}:Model", "--path", site, "--input", spec, "--weights", folder / "state.npz"]):
        pellucid("compile", *words, "-o", folder / "model.plc", "--target", "cpu:x86-64-v3")
        found.append(run_package(folder, folder / "model.plc", [value.numpy()], len(expected)))
    worst = max(float(errors_of_largest(got, want.numpy()).max(initial=0.0)) for got, want in zip(found[0], expected, strict=True))
    same = all(a.tobytes() == b.tobytes() for a, b in zip(*found, strict=True))
    print(f"{name:24s} {worst:.1e}  {'same bits' if same else 'OTHER BITS'}", flush=True)
    return same and worst < 1e-5


if __name__ == "__main__":
    check_each(sys.argv[2:] or MODELS, check)
