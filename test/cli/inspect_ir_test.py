#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inspect --ir shows a program and its kernels after every stage, and refuses other names with the list.

    inspect_ir_test.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

MODEL = '''
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2.0, mask=offsets < n)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x) + 1.0
        out = torch.empty_like(x)
        double_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return torch.chunk(torch.relu(out), 2, dim=1)[0].sum()
'''

# Each text: words that it has and words that it has not.
STAGES = {
    "program": (["pellucid.program", "aten.chunk", "aten.relu", "kernel \"double_kernel\""], ["double_kernel_fused"]),
    "decomposed": (["main {", "aten.relu", "aten.linear"], ["pellucid.program"]),
    "fused": (["main {", "aten.linear", "operand fused0"], ["aten.relu", "aten.add"]),
    "lowered": (["pellucid.program", "double_kernel_fused", "library gemm f32 bias"], ["aten.linear", "aten.sum"]),
    "buffers": (["input", "output0", "buffer0", "slot 0"], []),
    "double_kernel_fused": (["tt.func public @double_kernel_fused", "tt.make_range"], []),
    "double_kernel_fused:tt": (["tt.func public @double_kernel_fused"], []),
    "double_kernel_fused:tt-prepared": (["tt.func public @double_kernel_fused"], ["#loc"]),
    "double_kernel_fused:llvm": (["target triple", "define"], []),
    "double_kernel_fused:llvm-optimized": (["target triple", "define"], ["alloca"]),
    "double_kernel_fused:asm": (["double_kernel_fused:", "vm"], []),
}
WRONG = {
    "gone": "expected program, decomposed, fused, lowered, buffers, lowered.cuda, buffers.cuda, or KERNEL:STAGE with tt, tt-prepared, llvm, "
            "llvm-optimized, asm; the kernels are ",
    "double_kernel_fused:ptx": "a kernel has the stages tt, tt-prepared, llvm, llvm-optimized, asm, not 'ptx'",
    "double_kernel:asm": "the kernels are ",
}


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def check_stages(program, file):
    problems = []
    for stage, (present, absent) in STAGES.items():
        done = run(program, "inspect", file, "--ir", stage)
        missing = [word for word in present if word not in done.stdout]
        extra = [word for word in absent if word in done.stdout]
        if done.returncode or missing or extra:
            problems.append(f"{file.name} --ir {stage}: exit {done.returncode}, lacks {missing}, has {extra}: {done.stderr}")
    for stage, message in WRONG.items():
        done = run(program, "inspect", file, "--ir", stage)
        first = done.stderr.split("\n")[0]
        if done.returncode != 1 or not first.startswith(f"--ir {stage}: error: ") or message not in first:
            problems.append(f"{file.name} --ir {stage}: exit {done.returncode}: {done.stderr}")
    return problems


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.py").write_text(MODEL)
        model = [f"{folder}/model.py:Model", "--input", "x=f32[n:2..64,8]"]
        for command in (["compile", *model, "-o", folder / "model.plc"], ["export", *model, "-o", folder / "model.program"]):
            done = run(program, *command)
            assert done.returncode == 0, done.stderr
        problems = check_stages(program, folder / "model.plc") + check_stages(program, folder / "model.program")

        def asm(target):
            return run(program, "inspect", folder / "model.plc", "--ir", "double_kernel_fused:asm", "--target", target)

        if "zmm" in asm("cpu:x86-64-v3").stdout or "zmm" not in asm("cpu:x86-64-v4").stdout:
            problems.append("--target does not choose the code")
        done = asm("cuda:sm_80")
        if done.returncode != 1 or "was compiled for" not in done.stderr:
            problems.append(f"--target cuda:sm_80 of a package for CPUs: exit {done.returncode}: {done.stderr}")
        # On a device the product before it computes what the kernel does.
        done = run(program, "inspect", folder / "model.program", "--ir", "gemm_linear_double_kernel:asm", "--target", "cuda:sm_80")
        if done.returncode or ".target sm_80" not in done.stdout or ".entry gemm_linear_double_kernel(" not in done.stdout:
            problems.append(f"no PTX of a program: exit {done.returncode}: {done.stderr}")
        # A launch's warps and stages are those of the package.
        (folder / "product.py").write_text("import torch\ndef f(a, b):\n    return torch.mm(a, b)\n")
        done = run(program, "compile", f"{folder}/product.py:f", "--input", "a=f16[1024,2048]", "--input", "b=f16[2048,4096]", "--target", "cuda:sm_90",
                   "-o", folder / "product.plc")
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(folder / "product.plc") as package:
            ptx = package.read("code/gemm_mm.sm_90a.ptx").decode()
        shown = run(program, "inspect", folder / "product.plc", "--ir", "gemm_mm:asm").stdout
        waits = [text.count("mbarrier.init") for text in (ptx, shown)]  # one for each stage
        if not waits[0] or waits[0] != waits[1]:
            problems.append(f"the PTX shown waits for other copies than the package's: {waits}")
        # A masked store of one lane of 16 bits writes two bytes, on machines that this one need not be.
        (folder / "put.py").write_text("import torch\ndef f(x):\n    y = x.clone()\n    x.index_put_((torch.arange(2) * 5 % 4,), x[:2].clone(), accumulate=True)\n    return y\n")
        done = run(program, "export", f"{folder}/put.py:f", "--input", "x=bf16[4,1]", "-o", folder / "put.program")
        code = run(program, "inspect", folder / "put.program", "--ir", "scatter_index_put:asm", "--target", "cpu:x86-64-v4").stdout
        wide = re.findall(r"mov[lq]\s+%\w+, \(%\w+,%\w+.*", code)
        if done.returncode or "scatter_index_put:" not in code or wide:
            problems.append(f"a masked store writes elements behind it: {wide} {done.stderr}")
        if "llvm-optimized" not in run(program, "inspect", "--help").stdout:
            problems.append("--help does not list the stages")
    print("\n".join(problems) or f"{len(STAGES)} stages and {len(WRONG)} refusals, of a package and of a program")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
