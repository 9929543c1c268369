#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention beside PyTorch's backends, and tiles of the template beside each other, on a device.

    python3 bench/cuda/attention.py --pellucid DIR [--out results.json] [--only TEXT] [--tiles]

--tiles times candidates: what the table in src/passes/graph/AttentionTiles.cpp stands on. Results are compared with PyTorch's first.
"""
import argparse
import concurrent.futures
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
from package_call import Package, open_library, write_report  # noqa: E402

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}
TORCH = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "bool": torch.bool}

# name: dtype, batch, heads, heads of keys, queries, keys, width, causal, dims of a mask, dtype of a mask
CASES = {
    "64": ("bf16", 4, 32, 32, 2048, 2048, 64, False, None, None),
    "64 causal": ("bf16", 4, 32, 32, 2048, 2048, 64, True, None, None),
    "128": ("bf16", 4, 16, 16, 2048, 2048, 128, False, None, None),
    "128 causal": ("bf16", 4, 16, 16, 2048, 2048, 128, True, None, None),
    "128 causal, 8192": ("bf16", 1, 16, 16, 8192, 8192, 128, True, None, None),
    "64 causal, 512": ("f16", 16, 16, 16, 512, 512, 64, True, None, None),
    "80, odd length": ("bf16", 2, 16, 16, 1999, 1999, 80, False, None, None),
    "256 causal": ("bf16", 2, 8, 8, 2048, 2048, 256, True, None, None),
    "128 causal, 32 over 8 heads": ("bf16", 2, 32, 8, 2048, 2048, 128, True, None, None),
    "64, bool mask of keys": ("bf16", 4, 16, 16, 2048, 2048, 64, False, (4, 1, 1, 2048), "bool"),
    "64, added mask": ("bf16", 2, 16, 16, 2048, 2048, 64, False, (2, 1, 2048, 2048), "bf16"),
    "decode 128, 32 over 8 heads, 8192 keys": ("bf16", 4, 32, 8, 1, 8192, 128, False, None, None),
    "decode 128, 32 over 8 heads, batch 64": ("bf16", 64, 32, 8, 1, 2048, 128, False, None, None),
    "decode 64, 32 heads, 4096 keys": ("bf16", 1, 32, 32, 1, 4096, 64, False, None, None),
    "f32 64": ("f32", 1, 16, 16, 1024, 1024, 64, False, None, None),
}


def seconds(call, rounds=12):
    for _ in range(3):
        call()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        times.append((begin, end))
    torch.cuda.synchronize()
    return statistics.median(b.elapsed_time(e) for b, e in times) / 1000


def compile_package(options, source, function, kinds, out, words=()):
    program = next(path for path in (pathlib.Path(options.pellucid) / "bin/pellucid", pathlib.Path(options.pellucid) / "pellucid") if path.exists())
    command = [str(program), "compile", f"{source}:{function}", "--target", "cuda:sm_90", "-o", str(out), *words]
    for name, kind in kinds.items():
        command += ["--input", f"{name}={kind}"]
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr[-600:]


def operands(case):
    dtype, batch, heads, shared, queries, keys, width, _, mask, kind = case
    shapes = {"q": (batch, heads, queries, width), "k": (batch, shared, keys, width), "v": (batch, shared, keys, width)}
    kinds = {name: f"{dtype}[{','.join(map(str, shape))}]" for name, shape in shapes.items()}
    tensors = [torch.randn(shape, device="cuda").to(TORCH[dtype]) for shape in shapes.values()]
    if mask:
        kinds["m"] = f"{kind}[{','.join(map(str, mask))}]"
        values = torch.randn(mask, device="cuda")
        tensors.append(values > -0.5 if kind == "bool" else values.to(TORCH[kind]))
    return kinds, tensors


def text_of(case):
    _, _, heads, shared, _, _, _, causal, mask, _ = case
    words = ["q, k, v"] + ["m"] * bool(mask) + ["is_causal=True"] * causal + ["enable_gqa=True"] * (heads != shared)
    names = "q, k, v, m" if mask else "q, k, v"
    return f"import torch.nn.functional as F\n\n\ndef f({names}):\n    return F.scaled_dot_product_attention({', '.join(words)})\n"


def time_cases(options, folder, library):
    chosen = {name: case for name, case in CASES.items() if not options.only or options.only in name}
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for i, (name, case) in enumerate(chosen.items()):
            source = folder / f"model{i}.py"
            source.write_text(text_of(case))
            kinds, tensors = operands(case)
            jobs[name] = (folder / f"case{i}.plc", tensors, pool.submit(compile_package, options, source, "f", kinds, folder / f"case{i}.plc"))
    rows = []
    for name, case in chosen.items():
        package, tensors, job = jobs[name]
        if job.result():
            print(f"{name:40} does not compile: {job.result()}", flush=True)
            rows.append({"case": name, "error": job.result()})
            continue
        dtype, batch, heads, shared, queries, keys, width, causal, mask, _ = case
        more = {"is_causal": causal, "enable_gqa": heads != shared, **({"attn_mask": tensors[3]} if mask else {})}
        try:
            with sdpa_kernel(SDPBackend.MATH):
                small = [t[:1, :, :, :] if t.shape[0] == batch else t for t in tensors]
                wide = [t if t.dtype == torch.bool else t.double() for t in small]
                exact = F.scaled_dot_product_attention(*wide[:3], **{**more, **({"attn_mask": wide[3]} if mask else {})})
            expected = F.scaled_dot_product_attention(*tensors[:3], **more)
            out = torch.empty(expected.shape, dtype=expected.dtype, device="cuda")
            call = Package(library, package).bind(tensors, [out])
            call()
            torch.cuda.synchronize()
            error, theirs = ((x[:1].double() - exact).abs().max().item() for x in (out, expected))
            ours = seconds(call)
            times = {}
            for backend, kind in BACKENDS.items():
                try:
                    with sdpa_kernel(kind):
                        times[backend] = seconds(lambda: F.scaled_dot_product_attention(*tensors[:3], **more))
                except RuntimeError:
                    times[backend] = None
            times["default"] = seconds(lambda: F.scaled_dot_product_attention(*tensors[:3], **more))
        except Exception as problem:  # noqa: BLE001
            print(f"{name:40} fails: {problem}", flush=True)
            rows.append({"case": name, "error": str(problem)})
            continue
        flops = 4 * batch * heads * queries * keys * width / (2 if causal and queries == keys else 1)
        best = min(t for t in times.values() if t)
        row = {"case": name, "us": ours * 1e6, "torch_us": {k: t and t * 1e6 for k, t in times.items()}, "speed": best / ours,
               "tflops": flops / ours / 1e12, "error": error, "error_of_torch": theirs}
        rows.append(row)
        print(f"{name:40} {row['us']:8.1f} us {row['tflops']:6.1f} TFLOP/s  speed {row['speed']:5.2f}  off by {error:.2g} (torch {theirs:.2g})  torch: "
              + ", ".join(f"{k} {t * 1e6:.0f}" for k, t in times.items() if t), flush=True)
        del tensors, out, expected, exact, small, wide
    return rows


# --- tiles

KERNEL = '''import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def attention(p0, p1, p2, o0, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, WAY: tl.constexpr, H: tl.constexpr, L: tl.constexpr, HEADS: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    blocks: tl.constexpr = L // BM
    tl.assume(pid < HEADS * blocks)
    if CAUSAL and WAY != "blocks first":
        block = blocks - 1 - pid // HEADS
        batch = pid % HEADS
    else:
        block = blocks - 1 - pid % blocks if CAUSAL else pid % blocks
        batch = pid // blocks
    top_row = block * BM
    r = tl.arange(0, BM)
    row = (top_row + r).to(tl.int32)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    kb = p1 + batch * (L * D)
    vb = p2 + batch * (L * D)
    qt = tl.load(p0 + batch * (L * D) + row[:, None].to(tl.int64) * D + d[None, :], mask=row[:, None] < L, other=0)
    m = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = tl.full([], L, tl.int32)
    full = end
    if CAUSAL:
        end = tl.minimum(end, (top_row + BM).to(tl.int32))
        full = tl.minimum(full, (top_row + 1).to(tl.int32))
    full = full // BN * BN
    if WAY == "one loop" and CAUSAL:
        full = tl.full([], 0, tl.int32)
    ahead = tl.zeros([BM, BN], tl.float32)
    if WAY == "ahead":
        ahead = tl.dot(qt, tl.trans(tl.load(kb + (n[:, None] * D + d[None, :]))))
        for start in range(0, full, BN):
            after = tl.minimum(start + BN, L - BN)
            kt = tl.trans(tl.load(kb + after.to(tl.int64) * D + (n[:, None] * D + d[None, :])))
            vt = tl.load(vb + start.to(tl.int64) * D + (n[:, None] * D + d[None, :]))
            later = tl.dot(qt, kt)
            s = ahead
            top = tl.maximum(m, tl.max(s, axis=1) * 0.18)
            base = tl.where(top == float("-inf"), 0.0, top)
            p = tl.exp2(s * 0.18 - base[:, None])
            alpha = tl.exp2(m - base)
            total = total * alpha + tl.sum(p, axis=1)
            acc = tl.dot(p.to(vt.dtype), vt, acc * alpha[:, None])
            m = top
            ahead = later
    for start in range(full if WAY == "ahead" else 0, full, BN):
        kt = tl.trans(tl.load(kb + start.to(tl.int64) * D + (n[:, None] * D + d[None, :])))
        s = tl.dot(qt, kt)
        top = tl.maximum(m, tl.max(s, axis=1) * 0.18)
        base = top if WAY == "no guard" else tl.where(top == float("-inf"), 0.0, top)
        p = tl.exp2(s * 0.18 - base[:, None])
        alpha = tl.exp2(m - base)
        total = total * alpha + tl.sum(p, axis=1)
        vt = tl.load(vb + start.to(tl.int64) * D + (n[:, None] * D + d[None, :]))
        acc = tl.dot(p.to(vt.dtype), vt, acc * alpha[:, None])
        m = top
    for start in range(full, end, BN):
        at = start + n
        kt = tl.trans(tl.load(kb + start.to(tl.int64) * D + (n[:, None] * D + d[None, :]), mask=(at < end)[:, None], other=0))
        s = tl.dot(qt, kt)
        s = tl.where(at[None, :] <= row[:, None], s, float("-inf")) if CAUSAL else tl.where((at < end)[None, :], s, float("-inf"))
        top = tl.maximum(m, tl.max(s, axis=1) * 0.18)
        base = top if WAY == "no guard" else tl.where(top == float("-inf"), 0.0, top)
        p = tl.exp2(s * 0.18 - base[:, None])
        alpha = tl.exp2(m - base)
        total = total * alpha + tl.sum(p, axis=1)
        vt = tl.load(vb + start.to(tl.int64) * D + (n[:, None] * D + d[None, :]), mask=(at < end)[:, None], other=0)
        acc = tl.dot(p.to(vt.dtype), vt, acc * alpha[:, None])
        m = top
    safe = tl.where(total == 0.0, 1.0, total)
    tl.store(o0 + batch * (L * D) + row[:, None].to(tl.int64) * D + d[None, :], (acc / safe[:, None]).to(tl.bfloat16), mask=row[:, None] < L)


@triton_op("bench::attention", mutates_args={})
def call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bm: int, bn: int, causal: bool, way: str, warps: int, stages: int) -> torch.Tensor:
    out = torch.empty_like(q)
    heads, length, width = q.shape
    wrap_triton(attention)[(heads * length // bm,)](q, k, v, out, BM=bm, BN=bn, D=width, CAUSAL=causal, WAY=way, H=heads, L=length, HEADS=heads, num_warps=warps, num_stages=stages)
    return out


class Model(nn.Module):
    def __init__(self, bm=128, bn=64, causal=False, way="", warps=4, stages=3):
        super().__init__()
        self.options = (bm, bn, causal, way, warps, stages)

    def forward(self, q, k, v):
        return call(q, k, v, *self.options)
'''
TILES = {
    128: [(128, 128, 8, 2), (64, 64, 4, 2), (64, 64, 4, 3), (64, 128, 4, 2), (128, 64, 8, 2), (128, 64, 8, 3), (64, 32, 4, 3)],
    64: [(64, 128, 4, 2), (64, 64, 4, 2), (64, 64, 4, 3), (128, 64, 8, 2), (128, 128, 8, 2), (128, 128, 8, 3)],
    256: [(128, 32, 8, 2), (128, 32, 8, 3), (128, 64, 8, 2), (64, 64, 4, 2), (64, 32, 4, 2)],
}
WAYS = {128: [("blocks first", 128, 128, 8, 2), ("ahead", 64, 64, 4, 2), ("ahead", 128, 64, 8, 2)], 64: [("blocks first", 64, 64, 4, 2), ("no guard", 64, 64, 4, 2)], 256: []}


def time_tiles(options, folder, library):
    source = folder / "tiles.py"
    source.write_text(KERNEL)
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for width, heads in ((128, 64), (64, 128), (256, 32)):
            for way, bm, bn, warps, stages in [("", *tile) for tile in TILES[width]] + WAYS[width]:
                for causal in (False, True):
                    out = folder / f"tile{len(jobs)}.plc"
                    kind = f"bf16[{heads},2048,{width}]"
                    words = ["--init", f"bm={bm},bn={bn},causal={causal},way='{way}',warps={warps},stages={stages}"]
                    job = pool.submit(compile_package, options, source, "Model", {"q": kind, "k": kind, "v": kind}, out, words)
                    jobs.append((width, heads, way, bm, bn, warps, stages, causal, out, job))
    rows, data = [], {}
    for width, heads, way, bm, bn, warps, stages, causal, package, job in jobs:
        label = f"{width} {'causal' if causal else '      '} {bm}x{bn} {warps} warps {stages} stages {way}"
        if job.result():
            print(f"{label}: {job.result()}", flush=True)
            continue
        if (width, causal) not in data:
            tensors = [torch.randn((heads, 2048, width), device="cuda").bfloat16() for _ in range(3)]
            data[width, causal] = tensors, F.scaled_dot_product_attention(*(t[None] for t in tensors), is_causal=causal, scale=0.18 / 1.4426950408889634)[0]
        tensors, expected = data[width, causal]
        out = torch.empty_like(tensors[0])
        try:
            call = Package(library, package).bind(tensors, [out])
            call()
            torch.cuda.synchronize()
            error = (out.float() - expected.float()).abs().max().item()
            time = seconds(call, 8)
        except Exception as problem:  # noqa: BLE001
            print(f"{label}: {problem}", flush=True)
            continue
        tflops = 4 * heads * 2048 * 2048 * width / (2 if causal else 1) / time / 1e12
        rows.append({"width": width, "causal": causal, "rows": bm, "keys": bn, "warps": warps, "stages": stages, "way": way, "us": time * 1e6, "tflops": tflops, "error": error})
        print(f"{label:46} {time * 1e6:8.1f} us {tflops:6.1f} TFLOP/s  off by {error:.2g}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pellucid", required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--tiles", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(1)
    root = pathlib.Path(options.pellucid)
    library = open_library(next(path for folder in (root / "lib", root, root.parent / "lib") for path in sorted(folder.glob("libpellucid_runtime.so*"))))
    with tempfile.TemporaryDirectory() as name:
        rows = (time_tiles if options.tiles else time_cases)(options, pathlib.Path(name), library)
    if options.out:
        write_report(options.out, "python3 bench/cuda/attention.py --pellucid DIR" + (" --tiles" if options.tiles else ""), rows)


if __name__ == "__main__":
    main()
