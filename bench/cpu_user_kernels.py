# SPDX-License-Identifier: Apache-2.0
"""Public Triton kernels on the CPU beside the PyTorch operators that they replace.

    python3 bench/cpu_user_kernels.py --pellucid DIR --kernels FOLDER [--out results.json] [--threads N] [CASE…]

FOLDER holds the files that `bench/cuda/public_kernels.py fetch` copies. A launch is compiled as it stands there, with the sizes below; its
result is held against PyTorch's in float64, then both take turns and the fastest turn of each counts. Speed is PyTorch's eager time over ours.
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

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "cuda")]
from operators import Clock, processor  # noqa: E402
from package_call import Package, open_library  # noqa: E402

ROWS, COLUMNS, SIZE, HEADS, LENGTH = 1024, 1024, 512, 8, 512
f32, f16, bf16, i64 = torch.float32, torch.float16, torch.bfloat16, torch.int64


def rows(dtype=f32, columns=COLUMNS, count=ROWS):
    return torch.randn(count, columns).to(dtype)


def strides(name, seq="m", dim="k"):
    """Of [1, HEADS, LENGTH, 64]."""
    return f"stride_{name}z={HEADS * LENGTH * 64}, stride_{name}h={LENGTH * 64}, stride_{name}{seq}=64, stride_{name}{dim}=1"


def product(m, n, k):
    return f"M={m}, N={n}, K={k}, stride_am={k}, stride_ak=1, stride_bk={n}, stride_bn=1, stride_cm={n}, stride_cn=1"


TILE = "BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, GROUP_SIZE_M=8"
GRID = (SIZE // 64) ** 2


def heads(dtype):
    return torch.randn(1, HEADS, LENGTH, 64).to(dtype)


def attention(q, k, v, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


# name: file, kernel, grid, arguments after the tensors, tensors by name (the result is the one that `result` names), PyTorch's operator.
CASES = {
    "softmax": ("softmax_triton1", "softmax_kernel", (ROWS,), f"input_row_stride={COLUMNS}, output_row_stride={COLUMNS}, n_cols={COLUMNS}, BLOCK_SIZE={COLUMNS}",
                lambda: {"output_ptr": rows(), "input_ptr": rows()}, "output_ptr", lambda t: F.softmax(t["input_ptr"], -1)),
    "layer norm (liger)": ("layer_norm_liger", "_layer_norm_forward_kernel", (ROWS,),
                           f"Y_row_stride={COLUMNS}, X_row_stride={COLUMNS}, W_row_stride=1, B_row_stride=1, Mean_row_stride=1, RSTD_row_stride=1, n_cols={COLUMNS}, eps=1e-05, BLOCK_SIZE={COLUMNS}",
                           lambda: {"Y_ptr": rows(), "X_ptr": rows(), "W_ptr": torch.randn(COLUMNS), "B_ptr": torch.randn(COLUMNS), "Mean_ptr": torch.zeros(ROWS), "RSTD_ptr": torch.zeros(ROWS)},
                           "Y_ptr", lambda t: F.layer_norm(t["X_ptr"], (COLUMNS,), t["W_ptr"], t["B_ptr"])),
    "layer norm (tutorial)": ("tutorial_layer_norm", "_layer_norm_fwd_fused", (ROWS,), f"stride={COLUMNS}, N={COLUMNS}, eps=1e-05, BLOCK_SIZE={COLUMNS}",
                              lambda: {"X": rows(bf16), "Y": rows(bf16), "W": torch.randn(COLUMNS).to(bf16), "B": torch.randn(COLUMNS).to(bf16), "Mean": torch.zeros(ROWS), "Rstd": torch.zeros(ROWS)},
                              "Y", lambda t: F.layer_norm(t["X"], (COLUMNS,), t["W"], t["B"])),
    "rms norm (lightllm)": ("rmsnorm_fused_llama", "_rms_norm_fwd_fused", (ROWS,), f"stride={COLUMNS}, N={COLUMNS}, eps=1e-05, BLOCK_SIZE=2048",
                            lambda: {"X": rows(bf16), "Y": rows(bf16), "W": torch.randn(COLUMNS).to(bf16)}, "Y", lambda t: F.rms_norm(t["X"], (COLUMNS,), t["W"], 1e-5)),
    "swiglu (liger)": ("swiglu_triton", "_swiglu_forward_kernel", (ROWS,), "stride=1376, n_cols=1376, BLOCK_SIZE=2048",
                       lambda: {"a_ptr": rows(f32, 1376), "b_ptr": rows(f32, 1376), "c_ptr": rows(f32, 1376)}, "c_ptr", lambda t: F.silu(t["a_ptr"]) * t["b_ptr"]),
    "geglu (liger)": ("geglu_tanh_triton", "_geglu_tanh_forward_kernel", (ROWS,), "stride=1024, n_cols=1024, BLOCK_SIZE=1024",
                      lambda: {"a": rows(), "b": rows(), "c": rows()}, "c", lambda t: F.gelu(t["a"], approximate="tanh") * t["b"]),
    "log_softmax (flaggems)": ("log_softmax", "log_softmax_kernel.fn.fn", (ROWS, 1), f"M={ROWS}, N={COLUMNS}, K=1, BLOCK_M=1, BLOCK_N={COLUMNS}",
                               lambda: {"output_ptr": rows(), "input_ptr": rows()}, "output_ptr", lambda t: F.log_softmax(t["input_ptr"], -1)),
    "l2 norm": ("l2_norm_triton1", "_l2_norm_fwd_1pass_kernel", (ROWS,), f"stride_x_row={COLUMNS}, N={COLUMNS}, eps=1e-06, BLOCK_N={COLUMNS}",
                lambda: {"X": rows(), "Y": rows()}, "Y", lambda t: F.normalize(t["X"], dim=-1)),
    "embedding (lightllm)": ("embedding_triton_kernel", "embedding_kernel", (16, 1, 1), "vob_start_id=0, vob_end_id=5000, stride_weight_seq=768, stride_out_seq=768, n_ctx=1024, hiden_size=768, BLOCK_DMODEL=1024, BLOCK_N=64, BLOCK_NN=1",
                             lambda: {"weight": torch.randn(5000, 768), "input_ids": torch.randint(0, 5000, (1024,)), "out": torch.zeros(1024, 768)}, "out",
                             lambda t: F.embedding(t["input_ids"], t["weight"])),
    "product (tutorial), f32": ("tutorial_product", "triton.jit(matmul_kernel.fn)", (GRID,), product(SIZE, SIZE, SIZE) + ", " + TILE + ", ACTIVATION=''",
                                lambda: {"a_ptr": rows(f32, SIZE, SIZE), "b_ptr": rows(f32, SIZE, SIZE), "c_ptr": rows(f16, SIZE, SIZE)}, "c_ptr", lambda t: t["a_ptr"] @ t["b_ptr"]),
    "product (tutorial), f16": ("tutorial_product", "triton.jit(matmul_kernel.fn)", (GRID,), product(SIZE, SIZE, SIZE) + ", " + TILE + ", ACTIVATION=''",
                                lambda: {"a_ptr": rows(f16, SIZE, SIZE), "b_ptr": rows(f16, SIZE, SIZE), "c_ptr": rows(f16, SIZE, SIZE)}, "c_ptr", lambda t: t["a_ptr"] @ t["b_ptr"]),
    "product, leaky relu, bf16": ("tutorial_product", "triton.jit(matmul_kernel.fn)", (GRID,), product(SIZE, SIZE, SIZE) + ", " + TILE + ", ACTIVATION='leaky_relu'",
                                  lambda: {"a_ptr": rows(bf16, SIZE, SIZE), "b_ptr": rows(bf16, SIZE, SIZE), "c_ptr": rows(f16, SIZE, SIZE)}, "c_ptr",
                                  lambda t: F.leaky_relu(t["a_ptr"] @ t["b_ptr"], 0.01)),
    "product (collection), bf16": ("triton_matmul", "matmul_kernel", (GRID,), product(SIZE, SIZE, SIZE) + ", " + TILE,
                                   lambda: {"a_ptr": rows(bf16, SIZE, SIZE), "b_ptr": rows(bf16, SIZE, SIZE), "c_ptr": rows(f16, SIZE, SIZE)}, "c_ptr", lambda t: t["a_ptr"] @ t["b_ptr"]),
    "attention (tutorial), causal, bf16": ("tutorial_attention", "triton.jit(_attn_fwd.fn)", (LENGTH // 64, HEADS, 1),
                                           f"sm_scale=0.125, {strides('q')}, {strides('k', 'n')}, {strides('v', 'k', 'n')}, {strides('o', 'm', 'n')}, Z=1, H={HEADS}, N_CTX={LENGTH}, HEAD_DIM=64, BLOCK_M=64, BLOCK_N=64, STAGE=3",
                                           lambda: {"Q": heads(f16), "K": heads(f16), "V": heads(f16), "M": torch.zeros(HEADS, LENGTH), "Out": heads(f16)}, "Out",
                                           lambda t: attention(t["Q"], t["K"], t["V"], True)),
    "attention (tiny flash), f16": ("flash_attn", "_fwd_kernel", (LENGTH // 64, HEADS, 1),
                                    "sm_scale=0.125, " + ", ".join(f"stride_{x}_bs={HEADS * LENGTH * 64}, stride_{x}_head={LENGTH * 64}, stride_{x}_seqlen=64, stride_{x}_dim=1" for x in "qkvo")
                                    + f", BS=1, HEAD={HEADS}, SEQLEN={LENGTH}, BLOCK_M=64, DIM=64, BLOCK_N=64, IS_CAUSAL=False",
                                    lambda: {"Q": heads(f16), "K": heads(f16), "V": heads(f16), "L": torch.zeros(HEADS, LENGTH), "O": heads(f16)}, "O",
                                    lambda t: attention(t["Q"], t["K"], t["V"], False)),
    "cross entropy (unsloth)": ("fast_ce_loss", "_cross_entropy_forward.fn", (128,), "VOCAB_SIZE=32000, BLOCK_SIZE=32768, DO_SOFTCAPPING=False, SOFTCAP=0, DO_LOGIT_SCALING=False, LOGIT_SCALE=0, logits_row_stride=32000",
                                lambda: {"logits_ptr": rows(f32, 32000, 128), "loss_ptr": torch.zeros(128), "logsumexp_ptr": torch.zeros(128), "labels_ptr": torch.randint(0, 32000, (128,))}, "loss_ptr",
                                lambda t: F.cross_entropy(t["logits_ptr"], t["labels_ptr"], reduction="none")),
    "convolution 3x3 (conv2d)": ("triton_conv2d_fwd", "conv2d_forward_kernel", (2 * 28 * 28 // 64 + 1, 2, 1),
                                 "batch_dim=2, in_feat_dim=64, in_height=28, in_width=28, out_feat_dim=64, out_height=28, out_width=28, input_batch_stride=50176, input_in_feat_stride=784, input_height_stride=28, input_width_stride=1, "
                                 "weight_out_feat_stride=576, weight_in_feat_stride=9, weight_height_stride=3, weight_width_stride=1, output_batch_stride=50176, output_out_feat_stride=784, output_height_stride=28, output_width_stride=1, "
                                 "kernel_height=3, kernel_width=3, stride_height=1, stride_width=1, padding_height=1, padding_width=1, groups=1, fp16=False, tf32=False, BLOCK_SIZE_BATCH_HEIGHT_WIDTH=64, BLOCK_SIZE_IN_FEAT=32, BLOCK_SIZE_OUT_FEAT=32",
                                 lambda: {"input_pointer": torch.randn(2, 64, 28, 28), "weight_pointer": torch.randn(64, 64, 3, 3) / 24, "output_pointer": torch.zeros(2, 64, 28, 28)}, "output_pointer",
                                 lambda t: F.conv2d(t["input_pointer"], t["weight_pointer"], padding=1)),
    "kl divergence (liger)": ("kldiv_triton", "_kldiv_kernel_forward", (128,), "y_stride=16384, gt_stride=16384, loss_stride=1, n_cols=16384, BLOCK_SIZE=16384, log_target=False, reduction=1",
                              lambda: {"y_ptr": F.log_softmax(rows(f32, 16384, 128), -1), "gt_ptr": F.softmax(rows(f32, 16384, 128), -1), "loss_ptr": torch.zeros(128)}, "loss_ptr",
                              lambda t: F.kl_div(t["y_ptr"], t["gt_ptr"], reduction="none").sum(-1)),
    "product int8": ("int_scaled_matmul", "matmul_kernel_with_block_pointers", (GRID,), product(SIZE, SIZE, SIZE) + ", BLOCK_M=64, BLOCK_N=64, BLOCK_K=64, GROUP_M=8",
                     lambda: {"a_ptr": torch.randint(-100, 100, (SIZE, SIZE), dtype=torch.int8), "b_ptr": torch.randint(-100, 100, (SIZE, SIZE), dtype=torch.int8), "c_ptr": torch.zeros(SIZE, SIZE, dtype=torch.int32)},
                     "c_ptr", lambda t: torch._int_mm(t["a_ptr"], t["b_ptr"]) if t["a_ptr"].dtype == torch.int8 else t["a_ptr"] @ t["b_ptr"]),
}
NAMES = {f32: "f32", f16: "f16", bf16: "bf16", i64: "i64", torch.int8: "i8", torch.int32: "i32"}


def compile_case(case, tensors, build, kernels, folder):
    module, kernel, grid, rest, _, result, _ = case
    source = f"import torch\nimport triton\nimport triton.language as tl\nfrom {module} import {kernel.removeprefix('triton.jit(').split('.')[0]}\n\nbare = {kernel}\n\n\n"
    source += f"class Model(torch.nn.Module):\n    def forward(self, {', '.join(tensors)}):\n"
    source += f"        bare[{grid}]({', '.join(f'{n}={n}' for n in tensors)}, {rest})\n        return {result}.new_empty(1)\n"
    path, package = folder / "model.py", folder / "model.plc"
    path.write_text(source)
    words = [str(build / "bin/pellucid"), "compile", f"{path}:Model", "--target", "cpu", "--path", str(kernels), "-o", str(package)]
    for name, tensor in tensors.items():
        words += ["--input", f"{name}={NAMES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return None, (next((line for line in done.stderr.splitlines() if "error" in line), done.stderr))[-400:]
    return package, None


def measure(name, build, kernels, folder, clock, library):
    case = CASES[name]
    torch.manual_seed(0)
    tensors = case[4]()
    package, problem = compile_case(case, tensors, build, kernels, folder)
    if package is None:
        return {"refused": problem}
    result, operator = tensors[case[5]], case[6]
    exact = operator({n: t.double() if t.is_floating_point() or t.dtype == torch.int8 else t for n, t in tensors.items()})
    theirs = operator(tensors)
    call = Package(library, package).prepare(list(tensors.values()), [torch.empty(1, dtype=result.dtype)])
    call()
    scale = exact.abs().max().item()
    row = {"error": (result.double() - exact).abs().max().item() / scale, "error_of_eager": (theirs.double() - exact).abs().max().item() / scale}
    kinds = [t.dtype for t in tensors.values() if t.is_floating_point()]
    coarse = max([torch.finfo(k).eps for k in kinds], default=0)
    row["right"] = row["error"] <= max(2 * row["error_of_eager"], 4 * coarse)
    if row["right"]:
        times = clock.in_turns({"us": call, "eager_us": lambda: operator(tensors)})
        row |= {key: best * 1e6 for key, (best, _) in times.items()}
        row["speed"] = row["eager_us"] / row["us"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pellucid", type=pathlib.Path, required=True)
    parser.add_argument("--kernels", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=0.5)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
    build, folder = args.pellucid.resolve(), pathlib.Path(tempfile.mkdtemp())
    clock, library, load, table = Clock("cpu", args.budget), open_library(build / "lib/libpellucid_runtime.so"), os.getloadavg()[0], {}
    for name in args.names or CASES:
        try:
            table[name] = measure(name, build, args.kernels.resolve(), folder, clock, library)
        except Exception as problem:  # a case that fails is a row, too
            table[name] = {"failed": str(problem).splitlines()[0][:300] if str(problem) else repr(problem)}
        print(f"{name:36}", json.dumps(table[name]), flush=True)
    speeds = [row["speed"] for row in table.values() if "speed" in row]
    if args.out:
        report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "command": " ".join(["python3 bench/cpu_user_kernels.py", *sys.argv[1:]]),
                  "processor": processor(), "threads": args.threads, "load": [load, os.getloadavg()[0]], "torch": torch.__version__, "rows": table,
                  "geometric_mean": math.exp(sum(map(math.log, speeds)) / len(speeds)) if speeds else None}
        args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
