#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Matrix products of the graph beside PyTorch's, and the template's tiles beside each other, on a device.

    python3 bench/cuda/products.py --pellucid DIR [--out results.json] [--only TEXT] [--tiles] [--sizes M,N,K M,N,K ...]

--tiles times every candidate on every size (or on those of --sizes): what the table in src/passes/graph/ProductTiles.cpp stands on.
Each call is timed with a cold second-level cache; results are compared with PyTorch's first.
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
from package_call import Package, open_library, write_report  # noqa: E402

# name -> function of products_models.py, inputs, what PyTorch does, operations
MODELS = '''import torch
import torch.nn.functional as F


def linear(x, w):
    return F.linear(x, w)


def linear_bias(x, w, b):
    return F.linear(x, w, b)


def linear_relu(x, w, b):
    return F.relu(F.linear(x, w, b))


def linear_gelu(x, w, b):
    return F.gelu(F.linear(x, w, b))


def linear_residual(x, w, b, r):
    return F.linear(x, w, b) + r


def gated(x, w, v):
    return F.silu(F.linear(x, w)) * F.linear(x, v)


def mm(x, w):
    return torch.mm(x, w)


def mm_left(x, w):
    return torch.mm(x.t(), w)


def bmm(x, w):
    return torch.bmm(x, w)


def bmm_right(x, w):
    return torch.bmm(x, w.transpose(1, 2))


def conv3(x, w):
    return F.conv2d(x, w, padding=1)


def conv1(x, w):
    return F.conv2d(x, w)


def conv7(x, w):
    return F.conv2d(x, w, stride=2, padding=3)


def conv3_relu(x, w, b, r):
    return F.relu(F.conv2d(x, w, b, padding=1) + r)


def depthwise(x, w):
    return F.conv2d(x, w, padding=1, groups=256)
'''


def cases():
    found = {}

    def add(name, function, flops, *shapes, dtype="bf16"):
        found[name] = (function, dtype, shapes, flops)

    for n, k in ((4096, 4096), (14336, 4096), (4096, 14336)):
        for m in (1, 16, 64, 256, 1024, 4096, 8192):
            add(f"linear {m}x{n}x{k}", "linear", 2 * m * n * k, (m, k), (n, k))
    add("linear 8192x8192x8192", "linear", 2 * 8192**3, (8192, 8192), (8192, 8192))
    add("linear 16x1024x4096", "linear", 2 * 16 * 1024 * 4096, (16, 4096), (1024, 4096))
    add("linear 512x512x16384", "linear", 2 * 512 * 512 * 16384, (512, 16384), (512, 16384))
    add("linear f16 2000x3000x1000", "linear", 2 * 2000 * 3000 * 1000, (2000, 1000), (3000, 1000), dtype="f16")
    add("mm 4096", "mm", 2 * 4096**3, (4096, 4096), (4096, 4096))
    add("mm left transposed 4096", "mm_left", 2 * 4096**3, (4096, 4096), (4096, 4096))
    add("bias 4096", "linear_bias", 2 * 4096**3, (4096, 4096), (4096, 4096), (4096,))
    add("relu 4096", "linear_relu", 2 * 4096**3, (4096, 4096), (4096, 4096), (4096,))
    add("gelu 2048x4096x1024", "linear_gelu", 2 * 2048 * 4096 * 1024, (2048, 1024), (4096, 1024), (4096,), dtype="f16")
    add("residual 4096", "linear_residual", 2 * 4096**3, (4096, 4096), (4096, 4096), (4096,), (4096, 4096))
    add("gated 1024x11008x4096", "gated", 4 * 1024 * 11008 * 4096, (1024, 4096), (11008, 4096), (11008, 4096))
    add("gated 16x11008x4096", "gated", 4 * 16 * 11008 * 4096, (16, 4096), (11008, 4096), (11008, 4096))
    add("bmm 128x2048x2048x64", "bmm_right", 2 * 128 * 2048 * 2048 * 64, (128, 2048, 64), (128, 2048, 64))
    add("bmm 128x2048x64x2048", "bmm", 2 * 128 * 2048 * 64 * 2048, (128, 2048, 2048), (128, 2048, 64))
    add("bmm 64x512", "bmm", 2 * 64 * 512**3, (64, 512, 512), (64, 512, 512))
    add("conv 3x3 256, 28x28", "conv3", 2 * 32 * 784 * 256 * 2304, (32, 256, 28, 28), (256, 256, 3, 3), dtype="f16")
    add("conv 3x3 64, 56x56", "conv3", 2 * 32 * 3136 * 64 * 576, (32, 64, 56, 56), (64, 64, 3, 3), dtype="f16")
    add("conv 3x3 512, 7x7", "conv3", 2 * 32 * 49 * 512 * 4608, (32, 512, 7, 7), (512, 512, 3, 3), dtype="f16")
    add("conv 1x1 256 to 512, 28x28", "conv1", 2 * 32 * 784 * 256 * 512, (32, 256, 28, 28), (512, 256, 1, 1), dtype="f16")
    add("conv 1x1 1024 to 256, 14x14", "conv1", 2 * 32 * 196 * 256 * 1024, (32, 1024, 14, 14), (256, 1024, 1, 1), dtype="f16")
    add("conv 7x7 3 to 64, 224x224", "conv7", 2 * 32 * 12544 * 147 * 64, (32, 3, 224, 224), (64, 3, 7, 7), dtype="f16")
    add("conv, bias, residual, relu", "conv3_relu", 2 * 32 * 784 * 256 * 2304, (32, 256, 28, 28), (256, 256, 3, 3), (256,), (32, 256, 28, 28), dtype="f16")
    add("depthwise 3x3 256, 28x28", "depthwise", 2 * 32 * 784 * 256 * 9, (32, 256, 28, 28), (256, 1, 3, 3), dtype="f16")
    add("f32 1024", "linear", 2 * 1024**3, (1024, 1024), (1024, 1024), dtype="f32")
    return found


TORCH = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}


class Clock:
    def __init__(self):
        self.cold = torch.empty(64 * 2**20, dtype=torch.int32, device="cuda")

    def seconds(self, call, rounds=12):
        for _ in range(2):
            call()
        times = []
        for _ in range(rounds):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            self.cold.zero_()
            begin.record()
            call()
            end.record()
            times.append((begin, end))
        torch.cuda.synchronize()
        return statistics.median(b.elapsed_time(e) for b, e in times) / 1000


def compile_package(pellucid, source, function, inputs, out):
    program = next(path for path in (pathlib.Path(pellucid) / "bin/pellucid", pathlib.Path(pellucid) / "pellucid") if path.exists())
    words = [str(program), "compile", f"{source}:{function}", "--target", "cuda:sm_90", "-o", str(out)]
    for key, kind in inputs.items():
        words += ["--input", f"{key}={kind}"]
    done = subprocess.run(words, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr[-500:]


def tensors(dtype, shapes):
    torch.manual_seed(1)
    return [torch.randn(shape, device="cuda", dtype=torch.float32).to(TORCH[dtype]) for shape in shapes]


def check(got, expected):
    """The largest difference by the size of the result."""
    scale = expected.float().abs().mean().item() + 1e-6
    return ((got.float() - expected.float()).abs().max().item()) / scale


def time_cases(options, folder, library, clock):
    source = folder / "products_models.py"
    source.write_text(MODELS)
    namespace = {}
    exec(MODELS, namespace)
    chosen = {name: case for name, case in cases().items() if not options.only or options.only in name}
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for i, (name, (function, dtype, shapes, _)) in enumerate(chosen.items()):
            inputs = {key: f"{dtype}[{','.join(map(str, shape))}]" for key, shape in zip(namespace[function].__code__.co_varnames, shapes)}
            jobs[name] = (folder / f"case{i}.plc", pool.submit(compile_package, options.pellucid, source, function, inputs, folder / f"case{i}.plc"))
    rows = []
    for name, (function, dtype, shapes, flops) in chosen.items():
        package, job = jobs[name]
        if job.result():
            rows.append({"case": name, "error": job.result()})
            print(f"{name:34} does not compile: {job.result()[-200:]}", flush=True)
            continue
        inputs = tensors(dtype, shapes)
        try:
            expected = namespace[function](*inputs)
            out = torch.empty_like(expected)
            call = Package(library, package).bind(inputs, [out])
            call()
            torch.cuda.synchronize()
            error = check(out, expected)
            ours, theirs = clock.seconds(call), clock.seconds(lambda: namespace[function](*inputs))
        except Exception as problem:  # noqa: BLE001
            rows.append({"case": name, "error": str(problem)})
            print(f"{name:34} fails: {problem}", flush=True)
            continue
        row = {"case": name, "us": ours * 1e6, "torch_us": theirs * 1e6, "speed": theirs / ours, "tflops": flops / ours / 1e12, "error_of_size": error}
        rows.append(row)
        print(f"{name:34} {row['us']:9.1f} us  torch {row['torch_us']:9.1f} us  speed {row['speed']:5.2f}  {row['tflops']:6.1f} TFLOP/s  difference {error:.3f}", flush=True)
        del inputs, expected, out, call
    return rows


# --- tiles

TILES = [
    # rows, columns, depth, warps, stages
    (128, 256, 64, 8, 4), (128, 256, 64, 8, 3), (256, 128, 64, 8, 4), (256, 128, 64, 8, 3), (128, 128, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 64, 4, 3), (128, 128, 128, 8, 3),
    (128, 192, 64, 8, 4), (64, 256, 64, 4, 4), (64, 128, 64, 4, 4), (64, 128, 128, 4, 3), (128, 64, 64, 4, 4), (128, 64, 128, 4, 3),
    (64, 64, 128, 4, 4), (64, 32, 128, 4, 4), (64, 32, 256, 4, 3), (64, 64, 128, 4, 5), (32, 64, 128, 4, 4), (32, 32, 256, 4, 4),
    (16, 64, 128, 4, 4), (16, 32, 256, 4, 4), (16, 32, 128, 4, 6), (16, 32, 512, 4, 3), (16, 64, 256, 4, 4), (16, 128, 128, 4, 4), (16, 16, 512, 4, 4),
    (64, 128, 64, 4, 6), (128, 64, 64, 4, 6), (128, 128, 64, 8, 4), (128, 128, 64, 4, 6), (64, 64, 64, 4, 8), (256, 64, 64, 8, 4), (64, 256, 64, 8, 4),
]
SIZES = [(16, 4096, 4096), (16, 14336, 4096), (64, 4096, 4096), (64, 14336, 4096), (256, 4096, 4096), (1024, 4096, 4096), (1024, 14336, 4096), (4096, 4096, 4096), (8192, 4096, 4096), (8192, 8192, 8192)]
GROUPS = (8,)

TILE_KERNEL = '''
@triton.jit
def {name}(a, b, c):
    pid = tl.program_id(0)
    turn = pid // ({group} * {across})
    place = pid % ({group} * {across})
    height = tl.minimum({down} - turn * {group}, {group})
    m0 = (turn * {group} + place % height).to(tl.int64) * {bm}
    n0 = (place // height).to(tl.int64) * {bn}
    rows = tl.arange(0, {bm})
    cols = tl.arange(0, {bn})
    ks = tl.arange(0, {bk})
    left_rows = tl.minimum({m} - m0, {bm}).to(tl.int32)
    left_cols = tl.minimum({n} - n0, {bn}).to(tl.int32)
    x = a + m0 * {k} + (tl.minimum(rows, left_rows - 1)[:, None] * {k} + ks[None, :])
    y = b + n0 * {k} + (ks[:, None] + tl.minimum(cols, left_cols - 1)[None, :] * {k})
    acc = tl.zeros([{bm}, {bn}], tl.float32)
    for at in range(0, {k}, {bk}):
        acc = tl.dot(tl.load(x, mask=ks[None, :] < {k} - at, other=0), tl.load(y, mask=ks[:, None] < {k} - at, other=0), acc)
        x += {bk}
        y += {bk}
    out = c + m0 * {n} + n0 + (rows[:, None] * {n} + cols[None, :])
    tl.store(out, acc.to(tl.bfloat16), mask=(rows[:, None] < left_rows) & (cols[None, :] < left_cols))


@triton_op("tiles::{name}", mutates_args={{}})
def {name}_op(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty(({m}, {n}), dtype=a.dtype, device=a.device)
    wrap_triton({name})[({grid},)](a, b, out, num_warps={warps}, num_stages={stages})
    return out


def f_{name}(a, b):
    return {name}_op(a, b)
'''


def time_tiles(options, folder, library, clock):
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        for m, n, k in SIZES:
            for bm, bn, bk, warps, stages in TILES:
                # Tiles far from the size are not worth the time.
                if bn & (bn - 1) or bm > max(64, 2 * m) or (m >= 1024 and bm < 64) or (m >= 4096 and bm * bn < 8192):
                    continue
                for group in GROUPS:
                    down, across = -(-m // bm), -(-n // bn)
                    name = f"t{m}_{n}_{k}_{bm}_{bn}_{bk}_{warps}_{stages}_{group}"
                    source = folder / f"{name}.py"
                    source.write_text("import torch, triton, triton.language as tl\nfrom torch.library import triton_op, wrap_triton\n" + TILE_KERNEL.format(
                        name=name, m=m, n=n, k=k, bm=bm, bn=bn, bk=bk, warps=warps, stages=stages, group=group, down=down, across=across, grid=down * across))
                    inputs = {"a": f"bf16[{m},{k}]", "b": f"bf16[{n},{k}]"}
                    package = folder / f"{name}.plc"
                    jobs[(m, n, k, bm, bn, bk, warps, stages, group)] = (package, pool.submit(compile_package, options.pellucid, source, f"f_{name}", inputs, package))
    rows = []
    for m, n, k in sizes:
        a, b = tensors("bf16", [(m, k), (n, k)])
        expected = F.linear(a, b)
        theirs = clock.seconds(lambda: F.linear(a, b), 8)
        found = []
        for key, (package, job) in jobs.items():
            if key[:3] != (m, n, k):
                continue
            if job.result():
                print("tile", key, "does not compile", job.result()[-160:], flush=True)
                continue
            try:
                out = torch.empty_like(expected)
                call = Package(library, package).bind([a, b], [out])
                call()
                torch.cuda.synchronize()
                error = check(out, expected)
                found.append((clock.seconds(call, 6), key[3:], error))
            except Exception as problem:  # noqa: BLE001
                print("tile", key, problem, flush=True)
        found.sort()
        rows += [{"size": [m, n, k], "tile": list(tile), "us": t * 1e6, "error_of_size": error} for t, tile, error in found]
        print(f"tiles for {m}x{n}x{k} (torch {theirs * 1e6:.1f} us): " + "; ".join(f"{'x'.join(map(str, tile[:3]))} w{tile[3]} s{tile[4]} {t * 1e6:.1f}" for t, tile, _ in found[:9]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pellucid", required=True)
    parser.add_argument("--library")
    parser.add_argument("--out")
    parser.add_argument("--only")
    parser.add_argument("--tiles", action="store_true")
    parser.add_argument("--sizes", nargs="+", help="M,N,K of a linear layer of bf16, for --tiles")
    options = parser.parse_args()
    root = pathlib.Path(options.pellucid)
    found = sorted(root.glob("**/libpellucid_runtime.so")) or sorted(root.parent.glob("lib/libpellucid_runtime.so"))
    library = open_library(options.library or found[0])
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = time_tiles(options, folder, library, clock) if options.tiles else time_cases(options, folder, library, clock)
    if options.out:
        write_report(options.out, "python3 bench/cuda/products.py --pellucid DIR" + (" --tiles" if options.tiles else ""), rows)


if __name__ == "__main__":
    main()
