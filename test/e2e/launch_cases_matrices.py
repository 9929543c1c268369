# SPDX-License-Identifier: Apache-2.0
"""Matrix products of every kind, and attention."""
import numpy as np

from launch_case import Bf16, Bits, Case, Words

FILE = "matrices.py"


def products(rng):
    for M, N, K, transposed in ((70, 51, 33, False), (64, 64, 64, True), (1, 3, 781, True)):
        a, b = rng.standard_normal((M, K)).astype(np.float32), rng.standard_normal((K, N)).astype(np.float32)
        want = a.astype(np.float64) @ b
        given = np.ascontiguousarray(b.T) if transposed else b
        strides = dict(stride_am=K, stride_ak=1, stride_bk=1 if transposed else N, stride_bn=K if transposed else 1, stride_cm=N, stride_cn=1)
        grid = str(-(-M // 32) * -(-N // 32))
        blocks = dict(BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP=2)
        yield Case(f"grouped matmul {M}x{N}x{K}", FILE, "grouped_matmul", grid,
                   dict(a_ptr=a, b_ptr=given, c_ptr=np.zeros((M, N), np.float32), M=M, N=N, K=K, **strides, **blocks), dict(c_ptr=want), 1e-5,
                   extra=["--num-warps", "8", "--num-stages", "4"])
        # A device may leave out the last 13 bits of each operand, of K terms of size one.
        yield Case(f"grouped matmul tf32 {M}x{N}x{K}", FILE, "grouped_matmul", grid,
                   dict(a_ptr=a, b_ptr=given, c_ptr=np.zeros((M, N), np.float32), M=M, N=N, K=K, **strides, **blocks, PRECISION=Words('"tf32"')),
                   dict(c_ptr=want), 2.0**-9 * K**0.5, computed_in="tf32")
        low, high = Bf16(a), Bf16(given)
        w = low.values @ (high.values.T if transposed else high.values)
        yield Case(f"grouped matmul bf16 {M}x{N}x{K}", FILE, "grouped_matmul", grid,
                   dict(a_ptr=low, b_ptr=high, c_ptr=Bf16(np.zeros((M, N))), M=M, N=N, K=K, **strides, **blocks, OUT=Words("tl.bfloat16")),
                   dict(c_ptr=w), 5e-3)
    # Whole blocks have indices that count up by one, the last ones have others.
    for M, N, K, wide in ((64, 96, 40, True), (64, 96, 40, False), (50, 71, 33, True), (33, 32, 64, False)):
        a, b = rng.standard_normal((M, K)).astype(np.float32), rng.standard_normal((K, N)).astype(np.float32)
        for name, given in (("f32", (a, b)), ("bf16", (Bf16(a), Bf16(b)))):
            want = a.astype(np.float64) @ b if name == "f32" else given[0].values @ given[1].values
            yield Case(f"matmul in range {M}x{N}x{K} {name}{' wide' if wide else ''}", FILE, "matmul_in_range", f"{-(-M // 32)},{-(-N // 32)}",
                       dict(a_ptr=given[0], b_ptr=given[1], c_ptr=np.zeros((M, N), np.float32), M=M, N=N, K=K, WIDE=wide, BLOCK=32), dict(c_ptr=want), 1e-5)
    for split in (1, 4):
        a, b = rng.standard_normal((37, 200)).astype(np.float32), rng.standard_normal((200, 41)).astype(np.float32)
        yield Case(f"split K {split}", FILE, "split_k_matmul", f"2,2,{split}",
                   dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((37, 41), np.float32), M=37, N=41, K=200, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, SPLIT=split),
                   dict(c_ptr=a.astype(np.float64) @ b), 1e-5)
    half = rng.standard_normal((37, 200)).astype(np.float16), rng.standard_normal((200, 41)).astype(np.float16)
    yield Case("split K float16", FILE, "split_k_matmul", "2,2,2",
               dict(a_ptr=half[0], b_ptr=half[1], c_ptr=np.zeros((37, 41), np.float32), M=37, N=41, K=200, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, SPLIT=2),
               dict(c_ptr=half[0].astype(np.float64) @ half[1].astype(np.float64)), 1e-5)
    a, b = rng.integers(-128, 128, (33, 100)).astype(np.int8), rng.integers(-128, 128, (50, 100)).astype(np.int8)
    sa, sb = rng.uniform(0.01, 0.1, 33).astype(np.float32), rng.uniform(0.01, 0.1, 50).astype(np.float32)
    yield Case("int8 matmul with scales", FILE, "int8_matmul", "2,2",
               dict(a_ptr=a, b_ptr=b, sa_ptr=sa, sb_ptr=sb, c_ptr=np.zeros((33, 50), np.float32), M=33, N=50, K=100, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32),
               dict(c_ptr=(a.astype(np.int64) @ b.T.astype(np.int64)) * sa[:, None].astype(np.float64) * sb), 1e-6)
    a, b = rng.standard_normal((40, 64)).astype(np.float16), rng.standard_normal((48, 64)).astype(np.float16)
    yield Case("descriptor matmul", FILE, "descriptor_matmul", "2,2",
               dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((40, 48), np.float16), M=40, N=48, K=64, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32),
               dict(c_ptr=a.astype(np.float64) @ b.T.astype(np.float64)), 2e-3)
    for kind in ("fp8e4nv", "fp8e5"):
        a, b = (Bits((rng.integers(0, 0x58, s) | rng.integers(0, 2, s) << 7).astype(np.uint8), kind) for s in ((16, 32), (32, 16)))
        want = a.values @ b.values * 0.25
        yield Case(f"matmul of {kind}", FILE, "fp8_matmul", "1", dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((16, 16), np.float32), scale=0.25, K=32, BLOCK=16),
                   dict(c_ptr=want), 1e-5)
    a, b = rng.standard_normal((4, 16, 32)).astype(np.float32), rng.standard_normal((4, 32, 16)).astype(np.float32)
    yield Case("batched dot", FILE, "batched_dot", "1", dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((4, 16, 16), np.float32), B=4, M=16, K=32, N=16),
               dict(c_ptr=a.astype(np.float64) @ b), 1e-5)
    a, x = rng.standard_normal((53, 301)).astype(np.float32), rng.standard_normal(301).astype(np.float32)
    yield Case("matrix times vector", FILE, "matrix_vector", "4",
               dict(a_ptr=a, x_ptr=x, y_ptr=np.zeros(53, np.float32), M=53, N=301, BLOCK_M=16, BLOCK_N=64), dict(y_ptr=a.astype(np.float64) @ x), 1e-5)
    a, b = (Bits((rng.integers(0, 0x60, s) | rng.integers(0, 2, s) << 7).astype(np.uint8), "fp8e4nv") for s in ((32, 64), (64, 32)))
    sa, sb = rng.integers(124, 131, (32, 2)).astype(np.uint8), rng.integers(124, 131, (32, 2)).astype(np.uint8)
    grow = lambda s: np.repeat(2.0 ** (s.astype(np.float64) - 127), 32, -1)  # noqa: E731
    yield Case("dot with scales", FILE, "scaled_dot", "1",
               dict(a_ptr=a, a_scale_ptr=sa, b_ptr=b, b_scale_ptr=sb, c_ptr=np.zeros((32, 32), np.float32), M=32, N=32, K=64),
               dict(c_ptr=(a.values * grow(sa)) @ (b.values * grow(sb).T)), 1e-4)  # sums in float32 of terms up to 10^5 that cancel
    packed, b = rng.integers(0, 256, (16, 32)).astype(np.uint8), Bf16(rng.standard_normal((64, 16)))
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(16, 64)
    numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.where(codes & 8, -1, 1)
    scales = np.array([0, 1, 90, 127, 140, 20, 133, 126] * 4, np.uint8).reshape(16, 2)
    yield Case("dot with scales, fp4", FILE, "scaled_dot_fp4", "1",
               dict(a_ptr=packed, a_scale_ptr=scales, b_ptr=b, c_ptr=np.zeros((16, 16), np.float32), M=16, N=16, K=64),
               dict(c_ptr=(numbers * grow(scales)) @ b.values), 1e-5)


def attentions(rng):
    heads, shared, length, d = 4, 2, 45, 16
    for causal, kind in ((False, np.float32), (True, np.float32), (True, np.float16)):
        q = rng.standard_normal((heads, length, d)).astype(kind)
        k, v = (rng.standard_normal((shared, length, d)).astype(kind) for _ in range(2))
        s = np.einsum("hmd,hnd->hmn", q.astype(np.float64), np.repeat(k, 2, 0).astype(np.float64)) * 0.25
        s = np.where(np.tril(np.ones((length, length), bool)), s, -np.inf) if causal else s
        peak = s.max(-1, keepdims=True)
        e = np.exp(s - peak)
        out = np.einsum("hmn,hnd->hmd", e / e.sum(-1, keepdims=True), np.repeat(v, 2, 0).astype(np.float64))
        yield Case(f"grouped-query attention {np.dtype(kind).name} causal {causal}", FILE, "attention_gqa", f"3,{heads}",
                   dict(q_ptr=q, k_ptr=k, v_ptr=v, out_ptr=np.zeros_like(q), lse_ptr=np.zeros((heads, length), np.float32), scale=0.25, length=length,
                        kv_length=length, HEADS=heads, KV_HEADS=shared, D=d, BLOCK_M=16, BLOCK_N=32, CAUSAL=causal),
                   dict(out_ptr=out, lse_ptr=(peak[..., 0] + np.log(e.sum(-1)))), 1e-5 if kind == np.float32 else 4e-3)
    pages, page, d = 10, 8, 32
    keys, held = (rng.standard_normal((pages, page, d)).astype(np.float16) for _ in range(2))
    table = np.stack([rng.permutation(pages)[:4] for _ in range(3)]).astype(np.int32)
    lengths = np.array([1, 17, 32], np.int32)
    q = rng.standard_normal((3, d)).astype(np.float16)
    want = []
    for s in range(3):
        k, v = (c[table[s]].reshape(-1, d)[:lengths[s]].astype(np.float64) for c in (keys, held))
        e = np.exp(k @ q[s].astype(np.float64) * 0.125)
        want.append(e @ v / e.sum())
    yield Case("paged attention", FILE, "paged_attention", "3",
               dict(q_ptr=q, k_cache=keys, v_cache=held, table_ptr=table, lengths_ptr=lengths, out_ptr=np.zeros((3, d), np.float32), scale=0.125,
                    MAX_PAGES=4, PAGE=page, D=d), dict(out_ptr=np.array(want)), 1e-5)
    T, d = 50, 16
    q, k, v = (rng.standard_normal((T, d)).astype(np.float32) for _ in range(3))
    state, out = np.zeros((d, d)), np.zeros((T, d))
    for t in range(T):
        state = state * 2.0 ** -0.125 + np.outer(k[t], v[t]).astype(np.float64)
        out[t] = q[t] @ state
    yield Case("chunked linear attention", FILE, "chunk_recurrence", "1",
               dict(q_ptr=q, k_ptr=k, v_ptr=v, out_ptr=np.zeros_like(q), T=T, decay=-0.125, D=d, C=16), dict(out_ptr=out), 2e-5)


def old_spellings(rng):
    a, b = (rng.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
    yield Case("trans_a and trans_b", FILE, "transposed_operands", "1", dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros_like(a)),
               dict(c_ptr=a.astype(np.float64).T @ b.astype(np.float64).T), 1e-5)
    x = rng.standard_normal(37).astype(np.float32)
    want = np.where(np.arange(37) < 4, 0, 2 * x.astype(np.float64))
    yield Case("block pointers of one dim", FILE, "one_dim_blocks", "5", dict(x_ptr=x, o_ptr=np.zeros_like(x), n=37, BLOCK=8),
               dict(o_ptr=want), 0)


def cases():
    rng = np.random.default_rng(19)
    for part in (products, attentions, old_spellings):
        yield from part(rng)
