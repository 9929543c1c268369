#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What launches know reaches the kernels of a CUDA package: variants, their conditions, and the instructions that follow. Needs no device.

    cuda_facts_test.py PROGRAM [PTXAS]
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

PROGRAM, PTXAS = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""

SOURCE = '''
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2.0, mask=at < n)


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["x_ptr", "out_ptr"])
def scale_as_it_comes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2.0, mask=at < n)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    width = GROUP * tl.cdiv(N, BN)
    first = pid // width * GROUP
    height = min(tl.cdiv(M, BM) - first, GROUP)
    row = first + pid % width % height
    column = pid % width // height
    m = (row * BM + tl.arange(0, BM)) % M
    n = (column * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_at = a_ptr + (m[:, None] * am + k[None, :] * ak)
    b_at = b_ptr + (k[:, None] * bk + n[None, :] * bn)
    sums = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_at, mask=k[None, :] < K - step * BK, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < K - step * BK, other=0.0)
        sums = tl.dot(a, b, sums)
        a_at += BK * ak
        b_at += BK * bk
    m = row * BM + tl.arange(0, BM)
    n = column * BN + tl.arange(0, BN)
    tl.store(c_ptr + cm * m[:, None] + cn * n[None, :], sums.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def chosen_rows(a_ptr, rows_ptr, b_ptr, c_ptr, count, N, K, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    rows = tl.load(rows_ptr + at, mask=at < count, other=0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * am + (step + k)[None, :], mask=(at < count)[:, None], other=0.0)
        b = tl.load(b_ptr + (step + k)[:, None] * bk + n[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + at[:, None] * cm + n[None, :], sums.to(tl.float16), mask=(at < count)[:, None])


@triton.jit
def paged(q_ptr, k_ptr, pages_ptr, out_ptr, length, page_stride, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    best = tl.full((BM,), float("-inf"), tl.float32)
    for start in range(0, length, BN):
        page = tl.load(pages_ptr + start // BN)
        n = tl.arange(0, BN)
        k = tl.load(k_ptr + page * page_stride + n[None, :] * D + d[:, None])
        best = tl.maximum(best, tl.max(tl.dot(q, k), 1))
    tl.store(out_ptr + m, best)


class Scale(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
        return out


class ScaleAsItComes(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_as_it_comes[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
        return out


class ScaleRest(torch.nn.Module):
    def forward(self, x):
        rest = x[3:]
        out = torch.empty_like(rest)
        scale[(triton.cdiv(rest.numel(), 1024),)](rest, out, rest.numel(), BLOCK=1024)
        return out


class Product(torch.nn.Module):
    def forward(self, a, b):
        M, K = a.shape
        N = b.shape[1]
        c = torch.empty((M, N), dtype=torch.float16, device=a.device)
        grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
        product[grid](a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
                      BM=128, BN=128, BK=64, GROUP=8, num_warps=4, num_stages=3)
        return c


class ChosenRows(torch.nn.Module):
    def forward(self, a, rows, b):
        c = torch.empty((rows.numel(), b.shape[1]), dtype=torch.float16, device=a.device)
        grid = (triton.cdiv(rows.numel(), 64), b.shape[1] // 64)
        chosen_rows[grid](a, rows, b, c, rows.numel(), b.shape[1], a.shape[1], a.stride(0), b.stride(0), c.stride(0), BM=64, BN=64, BK=32)
        return c


class Paged(torch.nn.Module):
    def forward(self, q, k, pages):
        out = torch.empty(64, dtype=torch.float32, device=q.device)
        paged[(1,)](q, k, pages, out, pages.numel() * 64, 64 * 128, D=128, BM=64, BN=64)
        return out
'''


class Compiled:
    """A package's kernels in the order of their first launch, with the PTX for devices of 9.0 alone, or else for all."""

    def __init__(self, folder, model, *inputs):
        path = folder / f"{model}.plc"
        words = [PROGRAM, "compile", f"{folder / 'facts.py'}:{model}", "--target", "cuda:sm_90", "-o", str(path)]
        for text in inputs:
            words += ["--input", text]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.text = subprocess.run([PROGRAM, "inspect", str(path)], capture_output=True, text=True, check=True).stdout
        with zipfile.ZipFile(path) as archive:
            self.kernels = json.loads(archive.read("describe.json"))["kernels"]
            self.ptx = {n: archive.read(n).decode() for n in archive.namelist() if n.endswith(".ptx")}
        for name, ptx in self.ptx.items():
            if PTXAS:
                (folder / "k.ptx").write_text(ptx)
                arch = re.search(r"\.target (sm_\w+)", ptx)[1]
                subprocess.run([PTXAS, f"-arch={arch}", str(folder / "k.ptx"), "-o", str(folder / "k.cubin")], check=True)

    def code(self, kernel):
        return self.ptx.get(f"code/{kernel}.sm_90a.ptx") or self.ptx[f"code/{kernel}.sm_90.ptx"]

    def facts(self, position):
        kernel = self.kernels[position]
        divisors = {p["name"]: p["divisor"] for p in kernel["parameters"] if p["divisor"] > 1}
        return divisors, {c["name"]: c["value"] for c in kernel["constants"]}


def scalar_accesses(ptx):
    return len(re.findall(r"(?:ld|st)\.global(?:\.\w+)*\.[bu]16 ", ptx))


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    (folder / "facts.py").write_text(SOURCE)

    # A size known in the program is a constant; where the callers' tensors lie is asked of each call.
    known = Compiled(folder, "Scale", "x=f16[65536]")
    assert [k["name"] for k in known.kernels] == ["scale", "scale_unaligned"], known.text
    assert known.facts(0) == ({"x_ptr": 16, "out_ptr": 16}, {"n": "65536", "BLOCK": "1024"}), known.facts(0)
    assert known.facts(1) == ({}, {"n": "65536", "BLOCK": "1024"}), known.facts(1)
    assert scalar_accesses(known.code("scale")) == 0 and ".v4.b32" in known.code("scale"), known.code("scale")
    assert scalar_accesses(known.code("scale_unaligned")) > 0
    assert "if x_ptr, out_ptr % 16 == 0" in known.text and "else" in known.text, known.text

    # A dynamic size: as hoped, with aligned tensors alone, and for all others.
    dynamic = Compiled(folder, "Scale", "x=f16[n:1..100000]")
    assert [sorted(dynamic.facts(i)[0]) for i in range(len(dynamic.kernels))] == [["n", "out_ptr", "x_ptr"], ["out_ptr", "x_ptr"], []], dynamic.text
    assert scalar_accesses(dynamic.code("scale")) == 0
    assert all("n" not in dynamic.facts(i)[1] for i in range(3))

    # What the decorator keeps out.
    kept = Compiled(folder, "ScaleAsItComes", "x=f16[65536]")
    assert len(kept.kernels) == 1 and kept.facts(0) == ({}, {"BLOCK": "1024"}), kept.text

    # A view whose offset is 6 bytes is not a multiple of 16, whatever its tensor is.
    rest = Compiled(folder, "ScaleRest", "x=f16[65536]")
    assert all(rest.facts(i)[0].get("x_ptr", 1) <= 2 for i in range(len(rest.kernels))), rest.text

    # Strides of 1 are constants; the remainders by the sizes stay neighbours: all of the product's tiles are copied by 16 bytes.
    whole = Compiled(folder, "Product", "a=f16[512,256]", "b=f16[256,384]")
    first = whole.code("product")
    assert whole.facts(0)[1]["ak"] == "1" and whole.facts(0)[1]["bn"] == "1", whole.facts(0)
    assert "wgmma.mma_async" in first and "cp.async.cg.shared.global" in first, first
    assert not re.search(r"ld\.global", first), re.findall(r".*ld\.global.*", first)[:4]
    # Odd sizes have no such facts, and still a kernel.
    odd = Compiled(folder, "Product", "a=f16[511,255]", "b=f16[255,383]")
    assert "wgmma.mma_async" in odd.code("product") and scalar_accesses(odd.code("product")) > 0
    # Rows of a dynamic number change nothing along the columns: two variants, not three.
    rows = Compiled(folder, "Product", "a=f16[m:1..4096,256]", "b=f16[256,384]")
    assert len(rows.kernels) == 2, rows.text
    assert not re.search(r"ld\.global", rows.code("product")), rows.text

    # Rows whose numbers are loaded are staged all the same, and so are pages whose numbers the loop loads.
    chosen = Compiled(folder, "ChosenRows", "a=f16[1024,512]", "rows=i32[200]", "b=f16[512,256]")
    assert "cp.async.cg.shared.global" in chosen.code("chosen_rows") and scalar_accesses(chosen.code("chosen_rows")) == 0
    pages = Compiled(folder, "Paged", "q=f16[64,128]", "k=f16[65536,128]", "pages=i32[32]")
    assert "cp.async.cg.shared.global" in pages.code("paged") and scalar_accesses(pages.code("paged")) == 0
print("ok")
