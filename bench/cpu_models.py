#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole models of public libraries on the CPU beside PyTorch, inference: results first, then times.

    python3 bench/cpu_models.py --pellucid DIR [--threads N] [--out FILE.json] [--folder DIR] [--no-compile-peer] [NAME…]
    python3 bench/cpu_models.py --table FILE.json…

DIR holds bin/ and lib/ of a build. Models come from torchvision, transformers and timm as installed, with random weights; the PyTorch that
is here exports them, Pellucid compiles the archives. Peers are eager, eager with channels_last where there are convolutions, and
`torch.compile`. All take turns, with the same threads, and the fastest call of each counts; the machine's load before and after stands in
the file. Errors are the largest beside the largest element of the same model in float64; a model is right where ours is at most twice
eager's, or of a few roundings. Each model is a process of its own; one that is refused or wrong is a row, too.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cuda")]
from public_models import call, image, tokens  # noqa: E402


def vision(name, batch=1):
    from torchvision import models

    return getattr(models, name)(), image(batch)


def timm_model(name, batch=1):
    import timm

    return timm.create_model(name), image(batch)


def unet(batch=1):
    """The UNet of google/ddpm-cifar10-32, as diffusers writes it."""
    import torch
    from diffusers import UNet2DModel

    model = UNet2DModel(sample_size=32, block_out_channels=(128, 256, 256, 256), norm_eps=1e-6, flip_sin_to_cos=False, freq_shift=1, downsample_padding=0,
                        down_block_types=("DownBlock2D", "AttnDownBlock2D", "DownBlock2D", "DownBlock2D"),
                        up_block_types=("UpBlock2D", "UpBlock2D", "AttnUpBlock2D", "UpBlock2D"), attention_head_dim=None)
    return call(model, lambda m, x, t: m(x, t, return_dict=False)[0]), (torch.randn(batch, 3, 32, 32), torch.full((batch,), 10))


def unet_block():
    """Down, middle and up of a UNet, 64 to 128 channels at 64 x 64."""
    import torch
    from torch import nn

    def twice(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(8, b), nn.SiLU(), nn.Conv2d(b, b, 3, padding=1), nn.GroupNorm(8, b), nn.SiLU())

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.middle, self.after = twice(64, 64), twice(64, 128), twice(128, 64)
            self.up = nn.ConvTranspose2d(128, 64, 2, stride=2)

        def forward(self, x):
            x = self.before(x)
            return self.after(torch.cat([x, self.up(self.middle(nn.functional.max_pool2d(x, 2)))], 1))

    return Block(), (torch.randn(1, 64, 64, 64),)


def bert():
    import transformers as t

    return call(t.BertModel(t.BertConfig()), lambda m, ids: m(ids, return_dict=False)[0]), (tokens(1, 128, 30522),)


def t5():
    import transformers as t

    config = t.T5Config()
    return call(t.T5EncoderModel(config), lambda m, ids: m(ids, return_dict=False)[0]), (tokens(1, 128, 32000),)


def gpt2(rows=1, columns=128):
    import transformers as t

    return call(t.GPT2LMHeadModel(t.GPT2Config(n_layer=6)), lambda m, ids: m(ids, use_cache=False, return_dict=False)[0]), (tokens(rows, columns, 50257),)


def llama(rows=1, columns=128):
    import transformers as t

    config = t.LlamaConfig(hidden_size=768, intermediate_size=2048, num_hidden_layers=6, num_attention_heads=12, num_key_value_heads=4, vocab_size=32000)
    return call(t.LlamaForCausalLM(config), lambda m, ids: m(ids, use_cache=False, return_dict=False)[0]), (tokens(rows, columns, 32000),)


def whisper_encoder():
    import torch
    import transformers as t

    config = t.WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536)
    return call(t.models.whisper.modeling_whisper.WhisperEncoder(config), lambda m, x: m(x, return_dict=False)[0]), (torch.randn(1, 80, 3000),)


MODELS = {
    "resnet18": lambda: vision("resnet18"),
    "resnet50": lambda: vision("resnet50"),
    "mobilenet_v3_small": lambda: vision("mobilenet_v3_small"),
    "mobilenet_v2": lambda: vision("mobilenet_v2"),
    "convnext_tiny": lambda: vision("convnext_tiny"),
    "unet block": unet_block,
    "vit_b_16": lambda: vision("vit_b_16"),
    "efficientnet_b0 (timm)": lambda: timm_model("efficientnet_b0"),
    "swin_t": lambda: vision("swin_t"),
    "bert base, 128 tokens": bert,
    "gpt2, 6 layers, 128 tokens": gpt2,
    "gpt2, 6 layers, 1 token": lambda: gpt2(1, 1),
    "llama, 6 layers, 128 tokens": llama,
    "llama, 6 layers, 4 tokens": lambda: llama(1, 4),
    "whisper tiny encoder": whisper_encoder,
    "unet of diffusers": unet,
    "shufflenet_v2_x1_0": lambda: vision("shufflenet_v2_x1_0"),
    "regnet_y_400mf": lambda: vision("regnet_y_400mf"),
    "densenet121": lambda: vision("densenet121"),
    "resnet18, batch 8": lambda: vision("resnet18", 8),
    "mobilenet_v2, batch 8": lambda: vision("mobilenet_v2", 8),
    "efficientnet_b0, batch 8": lambda: timm_model("efficientnet_b0", 8),
    "t5 small's encoder": t5,
    "bert base, bf16": bert,
    "resnet50, bf16": lambda: vision("resnet50"),
}


def made(name, dtype):
    import torch

    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model = model.eval()
    with torch.no_grad():
        # A layer that starts at zero would give zeros whatever comes before it.
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(std=0.02)
    move = lambda t: t.to(dtype if t.is_floating_point() else t.dtype)
    return model.to(dtype), tuple(map(move, inputs))


def in_turns(calls, budget):
    from operators import own_time, rest

    now, times = own_time(), {name: [] for name in calls}
    for work in calls.values():
        work(), work()
    end = time.perf_counter() + budget
    while len(next(iter(times.values()))) < 5 or time.perf_counter() < end:
        for name, work in calls.items():
            rest(work)
            start = now()
            work()
            times[name].append(now() - start)
    return {name: min(t) * 1e3 for name, t in times.items()}


def measure(name, build, folder, compile_peer, budget):
    import torch
    from package_call import Package, open_library

    dtype = torch.bfloat16 if "bf16" in name else torch.float32
    model, inputs = made(name, dtype)
    archive, package = folder / "model.pt2", folder / "model.plc"
    row = {}
    with torch.no_grad():
        torch.export.save(torch.export.export(model, inputs), archive)
        start = time.monotonic()
        words = [build / "bin/pellucid", "compile", archive, "--target", "cpu", "-o", package]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode:
            return {"refused": next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)[-400:]}
        row["compile_s"] = round(time.monotonic() - start, 2)
        archive.unlink()
        theirs = model(*inputs)
        wide, wide_inputs = made(name, torch.float64)
        exact = wide(*[t.to(dtype).double() if t.is_floating_point() else t for t in wide_inputs])
        del wide
        scale = exact.abs().max().item()
        out = torch.full(exact.shape, float("nan"), dtype=dtype)
        opened = Package(open_library(build / "lib/libpellucid_runtime.so"), package)
        ours = opened.prepare(inputs, [out])
        ours()
        row |= {"error": (out.double() - exact).abs().max().item() / scale, "error_of_eager": (theirs.double() - exact).abs().max().item() / scale}
        row["right"] = row["error"] <= max(2 * row["error_of_eager"], 4 * torch.finfo(dtype).eps)
        if not row["right"]:
            return row
        calls = {"ms": ours, "eager_ms": lambda: model(*inputs)}
        if any(p.dim() == 4 for p in model.parameters()):
            last = lambda t: t.to(memory_format=torch.channels_last) if t.dim() == 4 else t
            turned, turned_inputs = made(name, dtype)[0].to(memory_format=torch.channels_last), tuple(map(last, inputs))
            calls["channels_last_ms"] = lambda: turned(*turned_inputs)
        if compile_peer:
            try:
                fast = torch.compile(model)
                fast(*inputs)
                calls["compiled_ms"] = lambda: fast(*inputs)
            except Exception as problem:  # a peer that cannot do it is no failure of ours
                row["compiled_problem"] = str(problem).splitlines()[0][:200]
        row |= in_turns(calls, budget)
    row["speed"] = min(value for key, value in row.items() if key.endswith("_ms")) / row["ms"]
    return row


def print_table(reports):
    for report in reports:
        print(f"{report['threads']} thread(s), load {report['load']}, {report['processor']}\n")
        print("| model | ours, ms | eager | channels_last | compiled | speed | error; eager's |\n|---|---|---|---|---|---|---|")
        for name, row in report["rows"].items():
            if "speed" not in row:
                print(f"| {name} | {row.get('refused') or row.get('failed') or 'wrong'} | | | | | |")
                continue
            cell = lambda key: f"{row[key]:.1f}" if key in row else "-"
            print(f"| {name} | {row['ms']:.1f} | {cell('eager_ms')} | {cell('channels_last_ms')} | {cell('compiled_ms')} | {row['speed']:.2f} | {row['error']:.1e}; {row['error_of_eager']:.1e} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pellucid", type=pathlib.Path, help="a folder with bin/ and lib/ of a build")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=3, help="seconds of turns for a model")
    parser.add_argument("--no-compile-peer", action="store_true")
    parser.add_argument("--table", type=pathlib.Path, nargs="+")
    parser.add_argument("--stage", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    if args.table:
        return print_table([json.loads(path.read_text()) for path in args.table])
    folder = args.folder or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    if args.stage:
        import torch

        torch.set_num_threads(args.threads)
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])  # what ours takes its threads from
        try:
            row = measure(args.names[0], args.pellucid.resolve(), folder, not args.no_compile_peer, args.budget)
        except Exception:
            row = {"failed": traceback.format_exc().splitlines()[-1][:400]}
        (folder / "row.json").write_text(json.dumps(row))
        return
    from operators import processor

    rows, load = {}, os.getloadavg()[0]
    for name in args.names or MODELS:
        words = [sys.executable, "-W", "ignore", HERE, "--pellucid", args.pellucid, "--stage", "--folder", folder, "--threads", args.threads, "--budget", args.budget]
        (folder / "row.json").unlink(missing_ok=True)
        done = subprocess.run(list(map(str, words + ["--no-compile-peer"] * args.no_compile_peer + [name])), capture_output=True, text=True)
        try:
            row = json.loads((folder / "row.json").read_text())
        except OSError:
            row = {"failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:400]}
        rows[name] = row
        print(f"{name:28}", json.dumps(row), flush=True)
    speeds = [row["speed"] for row in rows.values() if "speed" in row]
    if args.out:
        import torch

        report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "command": " ".join(["python3 bench/cpu_models.py", *sys.argv[1:]]),
                  "processor": processor(), "threads": args.threads, "load": [load, os.getloadavg()[0]], "torch": torch.__version__, "rows": rows,
                  "geometric_mean": math.exp(sum(map(math.log, speeds)) / len(speeds)) if speeds else None}
        args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
