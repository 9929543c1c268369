# SPDX-License-Identifier: Apache-2.0
"""The decoder stack of decoder.py, prefill and decode, beside PyTorch with the same kernels in one run.

    python3 bench/cuda/decoder_bench.py --pellucid DIR [--out results.json] [--layers 4]

Results are held against PyTorch's eager mode in f32 on the same bf16 weights and inputs: twice the error of its bf16 eager mode at most. Peers are eager, `torch.compile` and, for
decode, `torch.compile(mode="reduce-overhead")`, which uses CUDA graphs as a prepared call of ours does.
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import decoder  # noqa: E402
from package_call import Package, open_library  # noqa: E402

DIM, HEADS, GROUPS, INNER, TOKENS, BATCH, LENGTH = 4096, 32, 8, 14336, 2048, 8, 4096
WIDTH = DIM // HEADS


def save_weights(model, path):
    """safetensors, by hand: a length, a JSON directory, the bytes."""
    directory, at, parts = {}, 0, []
    for name, tensor in model.state_dict().items():
        data = tensor.contiguous().cpu().view(torch.uint8).numpy().tobytes()
        directory[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(directory).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for part in parts:
            file.write(part)


def compile_package(pellucid, name, layers, weights, inputs, out):
    command = [str(pellucid / "bin/pellucid"), "compile", f"{HERE / 'decoder.py'}:{name}", "--init", f"layers={layers}", "--dtype", "bf16",
               "--weights", str(weights), "--target", "cuda:sm_90", "-o", str(out)]
    for text in inputs:
        command += ["--input", text]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)


def seconds(call, rounds=30):
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return sorted(times)[rounds // 2]


def rotary_tables(tokens):
    angles = torch.outer(torch.arange(tokens, device="cuda", dtype=torch.float32), 10000.0 ** (-torch.arange(WIDTH // 2, device="cuda") / (WIDTH // 2)))
    return angles.cos(), angles.sin()


def bench(kind, pellucid, library, layers, folder):
    torch.manual_seed(1)
    model = (decoder.Prefill if kind == "prefill" else decoder.Decode)(DIM, HEADS, GROUPS, INNER, layers).to("cuda", torch.bfloat16).eval()
    tokens = TOKENS if kind == "prefill" else BATCH
    cos, sin = rotary_tables(tokens)
    inputs = [torch.randn(tokens, DIM, device="cuda").bfloat16(), cos, sin]
    specs = [f"x=bf16[{tokens},{DIM}]", f"cos=f32[{tokens},{WIDTH // 2}]", f"sin=f32[{tokens},{WIDTH // 2}]"]
    if kind == "decode":
        inputs += [torch.randn(layers, BATCH, GROUPS, LENGTH, WIDTH, device="cuda").bfloat16() for _ in range(2)]
        specs += [f"{name}=bf16[{layers},{BATCH},{GROUPS},{LENGTH},{WIDTH}]" for name in ("keys", "values")]
    weights, path = folder / "weights.safetensors", folder / f"{kind}.plc"
    save_weights(model, weights)
    compile_package(pellucid, "Prefill" if kind == "prefill" else "Decode", layers, weights, specs, path)
    row = {}
    with torch.no_grad():
        exact = model.float()(*[t.float() for t in inputs])
        model.bfloat16()
        eager = model(*inputs)
        free = torch.cuda.mem_get_info()[0]
        out = torch.full_like(eager, float("nan"))
        package = Package(library, path)
        outputs = [out] if kind == "prefill" else [out, inputs[3], inputs[4]]
        call = package.bind(inputs, outputs[: package.output_count()])
        call()
        torch.cuda.synchronize()
        row["bytes"] = free - torch.cuda.mem_get_info()[0]
        row["error"] = (out.float() - exact).abs().max().item()
        row["error_of_eager"] = (eager.float() - exact).abs().max().item()
        row["right"] = row["error"] <= 2 * row["error_of_eager"]
        row["us"] = seconds(call) * 1e6
        row["graph_us"] = seconds(package.prepare(inputs, outputs[: package.output_count()])) * 1e6
        row["eager_us"] = seconds(lambda: model(*inputs)) * 1e6
        # What a call holds beside its inputs: weights, and what is in between at most.
        held = torch.cuda.memory_allocated() - sum(p.numel() * p.element_size() for p in model.parameters())
        for name, options in (("compiled", {}), ("reduce_overhead", {"mode": "reduce-overhead"})):
            torch._dynamo.reset()
            compiled = torch.compile(model, **options)
            torch.cuda.reset_peak_memory_stats()
            row[f"{name}_us"] = seconds(lambda: compiled(*inputs)) * 1e6
            row[f"{name}_bytes"] = torch.cuda.max_memory_allocated() - held
    row["speed"] = row["compiled_us"] / min(row["us"], row["graph_us"])
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pellucid", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    pellucid = options.pellucid.resolve()
    folder = pathlib.Path("/tmp/pellucid_decoder")
    folder.mkdir(exist_ok=True)
    library = open_library(pellucid / "lib/libpellucid_runtime.so")
    rows = {}
    for kind in ("prefill", "decode"):
        try:
            rows[kind] = bench(kind, pellucid, library, options.layers, folder)
        except Exception as problem:
            rows[kind] = {"failed": str(problem)[:2000]}
        print(kind, json.dumps(rows[kind]), flush=True)
        torch.cuda.empty_cache()
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": f"python3 bench/cuda/decoder_bench.py --pellucid DIR --layers {options.layers}",
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "shape": f"{options.layers} blocks of {DIM}, {HEADS} heads, {GROUPS} groups, {INNER} inner; prefill {TOKENS} tokens; decode {BATCH} sequences of {LENGTH}",
        "rows": rows,
    }
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if all(row.get("right") for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
