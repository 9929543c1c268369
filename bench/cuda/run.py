# SPDX-License-Identifier: Apache-2.0
"""On a machine with a CUDA device and PyTorch: checks packages made by a portable build, then times them.

    python3 bench/cuda/run.py --pellucid DIR [--out results.json] [--compile-peer]

DIR is the unpacked tarball of scripts/package-portable.sh. Correctness comes first, against float64 and against PyTorch's
own operators; a wrong result ends the run. Times are medians of CUDA events, beside a copy measured in the same run.
"""
import argparse
import datetime
import json
import pathlib
import platform
import subprocess
import sys
import time

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "test/judge")]
import models  # noqa: E402
from judge import judge  # noqa: E402
from package_call import Package, open_library  # noqa: E402

ROWS, COLUMNS = 16384, 4096


def compile_package(pellucid, model, inputs, out, target):
    words = [str(pellucid / "bin/pellucid"), "compile", str(HERE / "models.py") + ":" + model, "--target", target, "-o", str(out)]
    for text in inputs:
        words += ["--input", text]
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def flat_input(count, dtype, seed, shift=0):
    """Random numbers with every special value among them; `shift` elements beyond an aligned address."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    whole = torch.randn(count + shift, generator=generator, device="cuda") * 4
    special = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 88.0, -88.0, 3e38, -3e38, 1e-38], device="cuda")
    places = torch.randint(0, count + shift, (min(count, 20),), generator=generator, device="cuda")
    whole[places] = special.repeat(2)[: len(places)]
    return whole.to(dtype)[shift:]


def eager_pointwise(x):
    inner = (x * 1.5 + 0.25).float()
    return (inner / (1 + torch.exp(-inner))).to(x.dtype) * 0.5


def exact_pointwise(x):
    inner = x.double() * 1.5 + 0.25
    return torch.nan_to_num(inner * torch.sigmoid(inner), nan=float("nan"), posinf=float("inf"), neginf=0.0) * 0.5


def compare(name, actual, expected, bound, failures):
    """The largest error, relative to max(0.1, |expected|); what the tests' judge says of it goes to `failures`."""
    actual, expected = (values.double().cpu().numpy() for values in (actual, expected))
    with np.errstate(invalid="ignore"):
        verdict = judge(actual, expected, bound * np.maximum(0.1, np.abs(expected)), signed_zeros=False)
    if verdict.problem:
        failures.append(f"{name}: {verdict.problem}")
    return verdict.of_bound * bound


def check_pointwise(library, pellucid, work, target, failures):
    """One kernel for flat tensors of any size, odd ones and misaligned ones too."""
    errors = {}
    for dtype, word, bound in ((torch.bfloat16, "bf16", 3 * 2**-8), (torch.float16, "f16", 4 * 2**-11), (torch.float32, "f32", 2e-6)):
        path = work / f"pointwise_{word}_{target[-5:]}.plc"
        compile_package(pellucid, "Pointwise", [f"x={word}[n:1..100000000]"], path, target)
        package = Package(library, path)
        worst = 0.0
        for count in (1, 7, 127, 1023, 1024, 1025, 4099, 1048577):
            for shift in (0, 1, 3):
                x = flat_input(count, dtype, count, shift)
                out = torch.full((count + shift + 64,), 123.0, dtype=dtype, device="cuda")
                into = out[shift : shift + count]
                package.bind([x], [into])()
                torch.cuda.synchronize()
                name = f"{target} {word}[{count}] shift {shift}"
                # Where a narrower type overflows and float64 does not, PyTorch's own operators say what is right.
                finite = x.double().abs() * 1.5 < torch.finfo(dtype).max / 4
                worst = max(worst, compare(name, into[finite], exact_pointwise(x)[finite], bound, failures))
                compare(name + " (eager)", into, eager_pointwise(x), bound, failures)
                outside = torch.cat([out[:shift], out[shift + count :]])
                if not bool((outside == 123.0).all()):
                    failures.append(name + ": wrote outside its output")
        errors[word] = worst
    return errors


def check_rows(library, pellucid, work, target, failures):
    path = work / f"softmax_{target[-5:]}.plc"
    compile_package(pellucid, "Softmax", ["x=f32[rows:1..65536,cols:1..4096]"], path, target)
    package = Package(library, path)
    worst = 0.0
    for rows, columns in ((1, 1), (3, 7), (17, 129), (5, 1000), (64, 4096), (33, 4095)):
        x = torch.randn(rows, columns, device="cuda") * 5
        out = torch.empty_like(x)
        package.bind([x], [out])()
        torch.cuda.synchronize()
        worst = max(worst, compare(f"{target} softmax {rows}x{columns}", out, torch.softmax(x.double(), 1), 2e-6, failures))
    return worst


def norm_of(x, eps, centre):
    wide = x.double()
    wide = wide - wide.mean(1, keepdim=True) if centre else wide
    return wide / (wide.square().mean(1, keepdim=True) + eps).sqrt()


# Row kernels and one over two dims: their inputs for a shape, and what they compute in float64.
ROW_MODELS = {
    "RmsNorm": (lambda rows, columns: {"weight": (columns,)}, lambda x, weight: norm_of(x, 1e-6, False) * weight.double()),
    "LayerNorm": (
        lambda rows, columns: {"weight": (columns,), "bias": (columns,)},
        lambda x, weight, bias: norm_of(x, 1e-5, True) * weight.double() + bias.double(),
    ),
    "ScaleRows": (
        lambda rows, columns: {"scale": (rows,), "bias": (columns,)},
        lambda x, scale, bias: x.double() * scale.double()[:, None] + bias.double(),
    ),
}


def row_specs(model, word):
    dims = {"weight": "cols", "bias": "cols", "scale": "rows"}
    return [f"x={word}[rows:1..65536,cols:1..4096]"] + [f"{n}={word}[{dims[n]}]" for n in ROW_MODELS[model][0](1, 1)]


def check_norms(library, pellucid, work, target, failures):
    worst = {}
    for dtype, word, bound in ((torch.float32, "f32", 1e-5), (torch.bfloat16, "bf16", 2**-8)):
        for model, (extra, exact) in ROW_MODELS.items():
            path = work / f"{model}_{word}_{target[-5:]}.plc"
            compile_package(pellucid, model, row_specs(model, word), path, target)
            package = Package(library, path)
            for rows, columns in ((1, 8), (3, 7), (17, 129), (5, 1000), (64, 4096), (33, 4095)):
                inputs = [torch.randn(shape, device="cuda").to(dtype) for shape in ((rows, columns), *extra(rows, columns).values())]
                out = torch.full_like(inputs[0], 123.0)
                package.bind(inputs, [out])()
                torch.cuda.synchronize()
                error = compare(f"{target} {model} {word} {rows}x{columns}", out, exact(*inputs), bound, failures)
                worst[f"{model} {word}"] = max(worst.get(f"{model} {word}", 0.0), error)
    return worst


def check_products(library, pellucid, work, target, failures):
    worst = {}
    for dtype, word, bound in ((torch.bfloat16, "bf16", 1.1 * 2**-8), (torch.float16, "f16", 1.1 * 2**-11)):
        path = work / f"Matmul_{word}_{target[-5:]}.plc"
        compile_package(pellucid, "Matmul", [f"a={word}[m:1..65536,k:1..65536]", f"b={word}[k,n:1..65536]"], path, target)
        package = Package(library, path)
        for m, n, k in ((64, 64, 64), (1, 1, 1), (100, 72, 40), (257, 129, 65), (128, 1000, 512), (1024, 1024, 1024)):
            a, b = torch.randn(m, k, device="cuda").to(dtype), torch.randn(k, n, device="cuda").to(dtype)
            out = torch.full((m, n), 123.0, dtype=dtype, device="cuda")
            package.bind([a, b], [out])()
            torch.cuda.synchronize()
            # Sums of k products have a size of sqrt(k), and errors of that of their parts.
            size = k**0.5
            error = compare(f"{target} matmul {word} {m}x{n}x{k}", out.double() / size, a.double() @ b.double() / size, bound, failures)
            worst[word] = max(worst.get(word, 0.0), error)
    return worst


def check_attention(library, pellucid, work, target, failures):
    path = work / f"Attention_{target[-5:]}.plc"
    compile_package(pellucid, "Attention", ["q=bf16[heads:1..64,n:1..65536,64]", "k=bf16[heads,n,64]", "v=bf16[heads,n,64]"], path, target)
    package = Package(library, path)
    worst = 0.0
    for heads, n in ((1, 64), (2, 100), (3, 257), (2, 1024)):
        q, k, v = (torch.randn(heads, n, 64, device="cuda").to(torch.bfloat16) for _ in range(3))
        out = torch.empty_like(q)
        package.bind([q, k, v], [out])()
        torch.cuda.synchronize()
        exact = torch.softmax(q.double() @ k.double().transpose(1, 2) * 0.125, -1) @ v.double()
        worst = max(worst, compare(f"{target} attention {heads}x{n}", out, exact, 0.03, failures))
    return worst


def time_product(library, pellucid, work, model, columns):
    side = 4096
    a, b = (torch.randn(side, side, device="cuda").to(torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    path = work / f"{model}_timed.plc"
    seconds = compile_package(pellucid, model, [f"a=bf16[m:1..65536,{side}]", f"b=bf16[{side},{side}]"], path, "cuda:sm_90")
    grid = (side // 128, side // columns)
    times = {
        "pellucid": seconds_of(Package(library, path).bind([a, b], [out])),
        "triton": seconds_of(lambda: models.matmul_kernel[grid](a, b, out, side, side, side, BM=128, BN=columns, BK=64, num_warps=8)),
        "torch eager": seconds_of(lambda: torch.mm(a, b, out=out)),
    }
    flops = 2 * side**3
    return {"shape": f"{side}x{side}x{side} bf16, tiles of 128x{columns}x64", "compile_s": seconds, **times,
            "tflops": {name: flops / time * 1e-12 for name, time in times.items()}}


def time_attention(library, pellucid, work):
    heads, n, d = 64, 4096, 64
    q, k, v = (torch.randn(heads, n, d, device="cuda").to(torch.bfloat16) for _ in range(3))
    out = torch.empty_like(q)
    path = work / "Attention_timed.plc"
    specs = [f"q=bf16[heads:1..64,n:1..65536,{d}]", f"k=bf16[heads,n,{d}]", f"v=bf16[heads,n,{d}]"]
    seconds = compile_package(pellucid, "Attention", specs, path, "cuda:sm_90")
    scale = 0.125 * 1.4426950408889634
    times = {
        "pellucid": seconds_of(Package(library, path).bind([q, k, v], [out])),
        "triton": seconds_of(lambda: models.attention_kernel[(n // 128, heads)](q, k, v, out, n, scale, D=d, BM=128, BN=64, num_warps=4)),
        "torch eager": seconds_of(lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])),
    }
    flops = 4 * heads * n * n * d
    return {"shape": f"{heads} heads of {n}x{d} bf16", "compile_s": seconds, **times,
            "tflops": {name: flops / time * 1e-12 for name, time in times.items()}}


def seconds_of(call, rounds=30):
    for _ in range(5):
        call()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return sorted(times)[rounds // 2]


def host_seconds_of(call, calls=2000):
    for _ in range(50):
        call()
    torch.cuda.synchronize()
    best = 1.0
    for _ in range(10):
        start = time.perf_counter()
        for _ in range(calls // 10):
            call()
        best = min(best, (time.perf_counter() - start) / (calls // 10))
        torch.cuda.synchronize()
    return best


def time_all(library, pellucid, work, with_compile):
    x = torch.randn(ROWS, COLUMNS, device="cuda").to(torch.bfloat16)
    y = torch.randn(ROWS, COLUMNS, device="cuda").to(torch.bfloat16)
    out = torch.empty_like(x)
    n, grid = x.numel(), ((x.numel() + 1023) // 1024,)
    bytes_of = x.numel() * x.element_size()
    results = {"copy": {"bytes": 2 * bytes_of, "torch copy_": seconds_of(lambda: out.copy_(x))}}

    def ours(model, inputs, specs):
        path = work / f"{model}_timed.plc"
        seconds = compile_package(pellucid, model, specs, path, "cuda:sm_90")
        call = Package(library, path).bind(inputs, [out])
        return {"compile_s": seconds, "pellucid": seconds_of(call), "pellucid_host_s": host_seconds_of(call)}

    shape = f"bf16[rows:1..65536,{COLUMNS}]"
    add = ours("Add", [x, y], [f"x={shape}", f"y=bf16[rows,{COLUMNS}]"])
    add["triton"] = seconds_of(lambda: models.add_kernel[grid](x, y, out, n, BLOCK=1024))
    add["torch eager"] = seconds_of(lambda: torch.add(x, y, out=out))
    results["add"] = {"bytes": 3 * bytes_of, **add}
    softmax = ours("Softmax", [x], [f"x={shape}"])
    softmax["triton"] = seconds_of(lambda: models.softmax_kernel[(ROWS,)](x, out, COLUMNS, BLOCK=4096, num_warps=8))
    softmax["torch eager"] = seconds_of(lambda: torch.softmax(x, 1))
    results["softmax"] = {"bytes": 2 * bytes_of, **softmax}
    for model, eager in (
        ("RmsNorm", lambda x, w: torch.nn.functional.rms_norm(x, (COLUMNS,), w, 1e-6)),
        ("LayerNorm", lambda x, w, b: torch.nn.functional.layer_norm(x, (COLUMNS,), w, b, 1e-5)),
        ("ScaleRows", lambda x, s, b: x * s[:, None] + b),
    ):
        extra = [torch.randn(dims, device="cuda").to(torch.bfloat16) for dims in ROW_MODELS[model][0](ROWS, COLUMNS).values()]
        specs = [s.replace("cols:1..4096", str(COLUMNS)).replace("[cols]", f"[{COLUMNS}]") for s in row_specs(model, "bf16")]
        row = ours(model, [x, *extra], specs)
        if model == "ScaleRows":
            blocks = (ROWS // 8, COLUMNS // 256)
            row["triton"] = seconds_of(lambda: models.scale_rows_kernel[blocks](x, *extra, out, ROWS, COLUMNS, ROWS=8, COLUMNS=256))
        else:
            kernel = models.rms_norm_kernel if model == "RmsNorm" else models.layer_norm_kernel
            eps = 1e-6 if model == "RmsNorm" else 1e-5
            row["triton"] = seconds_of(lambda: kernel[(ROWS,)](x, *extra, out, COLUMNS, eps, BLOCK=4096, num_warps=8))
        row["torch eager"] = seconds_of(lambda: eager(x, *extra))
        results[model] = {"bytes": 2 * bytes_of, **row}
    results["pointwise-silu-pointwise"] = {"bytes": 2 * bytes_of, **ours("Pointwise", [x], [f"x={shape}"])}
    results["pointwise-silu-pointwise+residual"] = {
        "bytes": 3 * bytes_of,
        **ours("PointwiseResidual", [x, y], [f"x={shape}", f"residual=bf16[rows,{COLUMNS}]"]),
    }
    for name, model, inputs in (
        ("pointwise-silu-pointwise", models.Pointwise(), (x,)),
        ("pointwise-silu-pointwise+residual", models.PointwiseResidual(), (x, y)),
    ):
        results[name]["torch eager + triton"] = seconds_of(lambda: model(*inputs))
        if with_compile:
            compiled = torch.compile(model)
            results[name]["torch.compile + triton_op"] = seconds_of(lambda: compiled(*inputs))
    ceiling = results["copy"]["bytes"] / results["copy"]["torch copy_"]
    for row in results.values():
        row["of_copy_ceiling"] = row["bytes"] / row.get("pellucid", row.get("torch copy_")) / ceiling
    return ceiling, results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pellucid", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--compile-peer", action="store_true", help="time torch.compile too (a minute more)")
    options = parser.parse_args()
    pellucid = options.pellucid.resolve()
    work = pathlib.Path("/tmp/pellucid_bench")
    work.mkdir(exist_ok=True)
    library = open_library(pellucid / "lib/libpellucid_runtime.so")
    failures, checks = [], {}
    for target in ("cuda:sm_80", "cuda:sm_90"):
        checks[target] = {
            "pointwise_error_against_float64": check_pointwise(library, pellucid, work, target, failures),
            "softmax_error_against_float64": check_rows(library, pellucid, work, target, failures),
            "row_kernels_error_against_float64": check_norms(library, pellucid, work, target, failures),
            "products_error_against_float64": check_products(library, pellucid, work, target, failures),
            "attention_error_against_float64": check_attention(library, pellucid, work, target, failures),
        }
    print(json.dumps(checks, indent=1))
    for failure in failures:
        print("WRONG", failure)
    ceiling, times = (0, {}) if failures else time_all(library, pellucid, work, options.compile_peer)
    try:
        import triton

        triton_version = triton.__version__
    except ImportError:
        triton_version = None
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": " ".join(["python3", "bench/cuda/run.py"] + [a for a in sys.argv[1:] if "/" not in a]),
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton_version,
        "cuda": torch.version.cuda,
        "host": platform.platform(),
        "shape": f"{ROWS}x{COLUMNS} bf16",
        "copy_bytes_per_s": ceiling,
        "checks": checks,
        "failures": failures,
        "times": times,
        "product": {} if failures else time_product(library, pellucid, work, "Matmul", 128),
        "product_wide": {} if failures else time_product(library, pellucid, work, "MatmulWide", 256),
        "attention": {} if failures else time_attention(library, pellucid, work),
    }
    text = json.dumps(report, indent=1)
    if options.out:
        options.out.write_text(text + "\n")
    for name, row in times.items():
        rest = ", ".join(f"{key} {value * 1e6:.1f} us" for key, value in row.items() if key not in ("bytes", "of_copy_ceiling"))
        print(f"{name}: {rest}; {row['of_copy_ceiling']:.2f} of the copy ceiling")
    for name in ("product", "product_wide", "attention"):
        print(f"{name}:", json.dumps(report[name]))
    print("FAILED" if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
