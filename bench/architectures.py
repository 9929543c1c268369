#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten architectures at their real sizes with random weights: exported by the PyTorch that is here, compiled from the archive,
run, and compared with PyTorch.

    architectures.py PROGRAM [NAME…] [--folder DIR] [--json FILE] [--aot]

Each stage is a process of its own, one model after the other. `DIR/NAME` keeps the archive with what PyTorch gave, and is
made anew only where it is missing. Needs torch, torchvision, transformers, timm and (for the UNet) diffusers, 3 GB of disk
and 8 GB of memory. No test: it takes half an hour.

What is compared: each result of each call, with the same model in float64 where its own code allows that: the largest error
relative to the largest element, ours beside PyTorch's float32. Memory is the largest sum over the compiler's processes of
what is theirs alone (anonymous pages, `private`) and the largest resident set (`resident`, with the mapped archive).
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import time
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve()
TARGET = "cpu:x86-64-v3"


# --- the models: (module, inputs of calls, dynamic shapes). The first call is what export() sees.


def call(module, forward):
    """A module that takes and gives tensors only."""
    from torch import nn

    class Call(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = module

        def forward(self, *inputs):
            return forward(self.model, *inputs)

    return Call()


def dim(name, low, high):
    from torch.export import Dim

    return Dim(name, min=low, max=high)


def resnet50():
    import torch
    from torchvision import models

    return models.resnet50(), [(torch.randn(2, 3, 224, 224),), (torch.randn(1, 3, 224, 224),)], ({0: dim("batch", 1, 16)},)


def vit_b_16():
    import timm
    import torch

    return timm.create_model("vit_base_patch16_224"), [(torch.randn(2, 3, 224, 224),), (torch.randn(1, 3, 224, 224),)], ({0: dim("batch", 1, 16)},)


def tokens(rows, columns, vocabulary):
    import torch

    return torch.randint(0, vocabulary, (rows, columns))


def bert_base():
    import torch
    import transformers as t

    model = call(t.BertModel(t.BertConfig()), lambda m, ids, mask: tuple(m(ids, mask, return_dict=False)))

    def inputs(rows, columns, real):
        mask = torch.ones(rows, columns, dtype=torch.int64)
        mask[-1, real:] = 0
        return tokens(rows, columns, 30522), mask

    shape = {0: dim("batch", 1, 16), 1: dim("length", 2, 512)}
    return model, [inputs(2, 64, 50), inputs(3, 33, 7)], ((shape, shape),)


def gpt2():
    import transformers as t

    model = call(t.GPT2LMHeadModel(t.GPT2Config()), lambda m, ids: m(ids, use_cache=False, return_dict=False)[0])
    return model, [(tokens(2, 48, 50257),), (tokens(1, 17, 50257),)], (({0: dim("batch", 1, 16), 1: dim("length", 2, 1024)},),)


def llama():
    """Four layers as wide as Llama 3.2 1B's, and a static cache in buffers that each call writes to."""
    import torch
    import transformers as t
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    config = t.LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=4, num_attention_heads=32, num_key_value_heads=8,
                           head_dim=64, vocab_size=32000, max_position_embeddings=2048, rope_theta=500000.0)
    model = t.LlamaForCausalLM(config)
    model.generation_config = t.GenerationConfig(use_cache=True, cache_implementation="static", max_length=256,
                                                 cache_config={"batch_size": 1, "max_cache_len": 256})
    model = call(TorchExportableModuleWithStaticCache(model), lambda m, ids, place: m(input_ids=ids, cache_position=place))
    calls = [(tokens(1, n, 32000), torch.arange(start, start + n)) for start, n in ((0, 12), (12, 3), (15, 4))]
    length = dim("length", 2, 255)
    return model, calls, (({1: length}, {0: length}),)


def whisper():
    import torch
    import transformers as t

    config = t.WhisperConfig(vocab_size=51865, d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8, decoder_attention_heads=8,
                             encoder_ffn_dim=2048, decoder_ffn_dim=2048, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    hear = lambda m, sound, targets: m(input_features=sound, decoder_input_ids=targets, use_cache=False, return_dict=False)[0]
    model = call(t.WhisperForConditionalGeneration(config), hear)
    return model, [(torch.randn(1, 80, 3000), tokens(1, 20, 51865)), (torch.randn(1, 80, 3000), tokens(1, 7, 51865))], (({}, {1: dim("length", 2, 400)}),)


def mamba():
    """Mamba 130M; transformers' loop over the sequence is unrolled by export."""
    import transformers as t

    config = t.MambaConfig(hidden_size=768, num_hidden_layers=24, vocab_size=50280, pad_token_id=0, bos_token_id=0, eos_token_id=0)
    model = call(t.MambaForCausalLM(config), lambda m, ids: m(ids, use_cache=False, return_dict=False)[0])
    return model, [(tokens(2, 16, 50280),), (tokens(1, 16, 50280),)], (({0: dim("batch", 1, 8)},),)


def unet():
    """The first two levels of Stable Diffusion 1.5's UNet with its middle, at their widths."""
    import torch
    from diffusers import UNet2DConditionModel

    net = UNet2DConditionModel(sample_size=32, block_out_channels=(320, 640), down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
                               up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=768, attention_head_dim=8)
    model = call(net, lambda m, x, time, text: m(x, time, text, return_dict=False)[0])
    inputs = lambda rows, step: (torch.randn(rows, 4, 32, 32), torch.tensor([step] * rows), torch.randn(rows, 77, 768))
    batch = {0: dim("batch", 1, 8)}
    return model, [inputs(2, 500), inputs(1, 7)], ((batch, batch, batch),)


def dlrm():
    """The shape of the MLPerf model, tables cut to 100,000 rows: 26 bags, 13 numbers, products of all pairs."""
    import torch
    from torch import nn

    def tower(*widths):
        return nn.Sequential(*[part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.ReLU())])

    class Dlrm(nn.Module):
        def __init__(self):
            super().__init__()
            self.bags = nn.ModuleList(nn.EmbeddingBag(100_000, 64, mode="sum") for _ in range(26))
            self.bottom, self.top = tower(13, 512, 256, 64), tower(64 + 27 * 26 // 2, 512, 256)
            self.out = nn.Linear(256, 1)
            rows, columns = torch.tril_indices(27, 27, -1)
            self.register_buffer("rows", rows), self.register_buffer("columns", columns)

        def forward(self, numbers, items):
            dense = self.bottom(numbers)
            all = torch.stack([dense, *(bag(items[:, i]) for i, bag in enumerate(self.bags))], 1)
            pairs = torch.bmm(all, all.transpose(1, 2))[:, self.rows, self.columns]
            return torch.sigmoid(self.out(self.top(torch.cat((dense, pairs), 1))))

    inputs = lambda rows: (torch.randn(rows, 13), torch.randint(0, 100_000, (rows, 26, 3)))
    batch = {0: dim("batch", 1, 4096)}
    return Dlrm(), [inputs(128), inputs(31)], (batch, batch)


def t5():
    import transformers as t

    config = t.T5Config(vocab_size=32128, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12)
    decode = lambda m, ids, targets: m(input_ids=ids, decoder_input_ids=targets, use_cache=False, return_dict=False)[0]
    model = call(t.T5ForConditionalGeneration(config), decode)
    shapes = ({0: dim("batch", 1, 8), 1: dim("length", 2, 512)}, {0: dim("batch", 1, 8), 1: dim("targets", 2, 512)})
    return model, [(tokens(2, 40, 32128), tokens(2, 12, 32128)), (tokens(1, 9, 32128), tokens(1, 5, 32128))], (shapes,)


MODELS = (resnet50, vit_b_16, bert_base, gpt2, llama, whisper, mamba, unet, dlrm, t5)


# --- stages


def flat(value):
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    return [t for part in (value.values() if isinstance(value, dict) else value) for t in flat(part)]


def stage_export(name, folder):
    """Writes model.pt2, what PyTorch gives in float32 and float64 (case.npz), and what is known of the model."""
    import torch

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, calls, dynamic = globals()[name]()
    model = model.eval()
    with torch.no_grad():
        # A layer that starts at zero would give zeros whatever comes before it.
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(std=0.02)
        program = torch.export.export(model, calls[0], dynamic_shapes=dynamic)
        torch.export.save(program, folder / "model.pt2")
        arrays = {f"{i}.in.{j}": t.numpy() for i, values in enumerate(calls) for j, t in enumerate(flat(values))}
        for i, values in enumerate(calls):
            arrays |= {f"{i}.out.{j}": t.numpy() for j, t in enumerate(flat(model(*values)))}
        facts = {"nodes": len(program.graph.nodes), "dynamic": sorted(map(str, program.range_constraints.values())),
                 "largest_tensor": max(t.numel() * t.element_size() for t in model.state_dict().values()),
                 "parameters": sum(p.numel() for p in model.parameters()), "torch": torch.__version__}
        (folder / "facts.json").write_text(json.dumps(facts))
        del program
        try:
            for name, value in list(model.named_buffers()):
                if name.split(".")[-1].startswith(("key_cache", "value_cache", "cumulative_length")):
                    value.zero_()
            model = model.double()
            for module in model.modules():
                for layer in getattr(getattr(module, "static_cache", None), "layers", ()):
                    layer.keys, layer.values = layer.keys.double().zero_(), layer.values.double().zero_()
            for i, values in enumerate(calls):
                values = [v.double() if v.is_floating_point() else v for v in flat(values)]
                arrays |= {f"{i}.wide.{j}": t.numpy() for j, t in enumerate(flat(model(*values)))}
        except RuntimeError as error:
            print(f"  no float64: {str(error)[:200]}", flush=True)
    np.savez(folder / "case.npz", **arrays)


def stage_aot(name, folder):
    """Seconds that AOTInductor takes for the same archive, once."""
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    import torch

    torch.set_num_threads(1)
    program = torch.export.load(folder / "model.pt2")
    start, before = time.monotonic(), sum(os.times()[:4])
    torch._inductor.aoti_compile_and_package(program, package_path=str(folder / "aot.pt2"))
    print(time.monotonic() - start, sum(os.times()[:4]) - before)
    (folder / "aot.pt2").unlink()


def memory_of(root):
    """Bytes of the process and its children: (anonymous, resident)."""
    private = resident = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        private += int(fields.get("RssAnon", "0").split()[0]) * 1024
        resident += int(fields.get("VmRSS", "0").split()[0]) * 1024
    return private, resident


def measured(words):
    """Runs a program; its seconds, processor seconds, and the most memory that it had."""
    before, start = os.times(), time.monotonic()
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    private = resident = 0
    while True:
        try:
            out, err = process.communicate(timeout=0.01)
            break
        except subprocess.TimeoutExpired:
            now = memory_of(process.pid)
            private, resident = max(private, now[0]), max(resident, now[1])
    after = os.times()
    if process.returncode:
        raise RuntimeError(f"{words[1]}: {err.strip()[:1500]}")
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": time.monotonic() - start, "processor_seconds": busy, "private": private, "resident": resident}


def distance(got, reference):
    if not reference.size:
        return 0.0
    assert np.isfinite(reference).all() and np.isfinite(got).all(), "a result is not finite"
    return float(np.abs(got.astype(np.float64) - reference).max() / max(np.abs(reference).max(), 1e-30))


def run_and_compare(program, folder):
    """The largest error of our results and of PyTorch's float32, over all calls."""
    arrays = np.load(folder / "case.npz")
    shown = json.loads(subprocess.run([program, "inspect", folder / "model.plc", "--json"], capture_output=True, text=True, check=True).stdout)
    names = [i["name"] for i in shown["inputs"]]
    # What the model keeps from call to call.
    state = ["--state", folder / "state.safetensors"] if shown.get("state") else []
    (folder / "state.safetensors").unlink(missing_ok=True)
    ours = theirs = seconds = 0.0
    case = 0
    while f"{case}.in.0" in arrays:
        words = [program, "run", folder / "model.plc"] + state
        for j, name in enumerate(names):
            np.save(folder / f"{name}.npy", arrays[f"{case}.in.{j}"])
            words += ["--input", f"{name}=@{folder / name}.npy"]
        count = sum(key.startswith(f"{case}.out.") for key in arrays)
        for j in range(count):
            words += ["--output", folder / f"out{j}.npy"]
        seconds += measured(words)["seconds"]
        for j in range(count):
            got, narrow = np.load(folder / f"out{j}.npy"), arrays[f"{case}.out.{j}"]
            assert got.shape == narrow.shape and got.dtype == narrow.dtype, f"call {case}, result {j} is {got.dtype}{got.shape}, not {narrow.dtype}{narrow.shape}"
            reference = arrays[f"{case}.wide.{j}"] if f"{case}.wide.{j}" in arrays else narrow
            ours, theirs = max(ours, distance(got, reference)), max(theirs, distance(narrow, reference))
        case += 1
    return {"calls": case, "error": ours, "pytorch_error": theirs, "run_seconds": seconds}


def stage(word, name, folder):
    done = subprocess.run([sys.executable, HERE, "--stage", word, name, "--folder", folder], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{word}: {done.stderr.strip()[-800:]}")
    return done.stdout


def check(options, name):
    folder = options.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "case.npz").exists():
        print(stage("export", name, folder), end="", flush=True)
    row = {"model": name, **json.loads((folder / "facts.json").read_text())}
    row |= measured([options.program, "compile", folder / "model.pt2", "-o", folder / "model.plc", "--target", TARGET])
    row["memory_bound"] = int(1.2 * row["largest_tensor"] + 500e6)
    row |= run_and_compare(options.program, folder)
    row["right"] = row["error"] <= max(1e-5, 4 * row["pytorch_error"])
    if options.aot:
        try:
            row["aot_seconds"], row["aot_processor_seconds"] = map(float, stage("aot", name, folder).split()[-2:])
        except RuntimeError as error:  # theirs: ours is right or wrong all the same
            row["aot_refused"] = next((text for text in str(error).splitlines() if "Error" in text or "report a bug" in text), str(error))[-300:]
    return row


def line(row):
    mega = lambda count: f"{count / 1e6:.0f} MB"
    aot = f"  AOTInductor {row['aot_seconds']:.1f} s ({row['aot_processor_seconds']:.1f} busy)" if "aot_seconds" in row else "  AOTInductor fails" if "aot_refused" in row else ""
    return (f"{row['model']:10} {'right' if row['right'] else 'WRONG'}  error {row['error']:.1e} (PyTorch {row['pytorch_error']:.1e})  {row['nodes']} nodes  "
            f"compiled in {row['seconds']:.1f} s ({row['processor_seconds']:.1f} busy){aot}  private {mega(row['private'])}, resident {mega(row['resident'])}, bound {mega(row['memory_bound'])}")


def processor():
    for text in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            return text.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/architectures"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--aot", action="store_true", help="time AOTInductor, too")
    parser.add_argument("--stage", nargs=2)
    options = parser.parse_args()
    if options.stage:
        return globals()[f"stage_{options.stage[0]}"](options.stage[1], options.folder)
    rows, failed = [], 0
    load = os.getloadavg()[0]
    for model in MODELS:
        name = model.__name__
        if options.names and name not in options.names:
            continue
        try:
            rows.append(check(options, name))
            print(line(rows[-1]), flush=True)
            failed += not rows[-1]["right"]
        except (RuntimeError, AssertionError) as error:
            rows.append({"model": name, "refused": str(error)})
            print(f"{name:10} {error}", flush=True)
            failed += 1
    if options.json:
        options.json.write_text(json.dumps({"date": datetime.date.today().isoformat(), "processor": processor(), "cores": os.cpu_count(), "load_before": load,
                                            "load_after": os.getloadavg()[0], "target": TARGET, "command": " ".join(sys.argv[1:]), "rows": rows}, indent=1) + "\n")
    sys.exit(failed > 0)


main()
