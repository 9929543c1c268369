#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrappers of further libraries under `pellucid exec`, unmodified, against float64. usage and meaning: public_functions.py."""
import sys
import textwrap

import public_functions
from public_functions import main

public_functions.CASES.clear()
SAY = 'print("WORST %.3g %s of %d" % (*max(worst), len(worst)))\n'


def case(name, path, bound, text):
    """The text fills `worst`, or calls check."""
    text = textwrap.dedent(text)
    said = SAY if "worst" in text else ""
    public_functions.CASES.append((name, path, bound, ("worst = []\n" if said else "") + text + said))


case("xformers rmsnorm", "xformers", 0.0001, """
    from xformers.ops._triton.rmsnorm_kernels import _rms_norm_forward, _rms_norm_add_forward
    x, w, y = (draw(7, 200), draw(200), draw(7, 200))
    got = _rms_norm_forward(x, w, 1e-06)
    _worst('out', got, F.rms_norm(x.double(), (200,), w.double(), 1e-06), worst)
    x2 = x.clone()
    got = _rms_norm_add_forward(x2, y, w, 1e-06)
    _worst('add', got, F.rms_norm((x + y).double(), (200,), w.double(), 1e-06), worst)
    _worst('x', x2, x + y, worst)
""")
case("xformers index_select_cat, scaled_index_add", "xformers", 0.0001, """
    from xformers.ops._triton.k_index_select_cat import index_select_cat_fwd, index_select_cat_bwd
    from xformers.ops._triton.k_scaled_index_add import scaled_index_add_fwd
    s = draw(20, 300)
    i = torch.randperm(20)[:9].to(dev)
    o = torch.zeros(9, 300, device=dev)
    index_select_cat_fwd(o, s, i)
    _worst('fwd', o, s[i], worst)
    g = torch.zeros_like(s)
    index_select_cat_bwd(g, i, o)
    r = torch.zeros_like(s)
    r[i] = o
    _worst('bwd', g, r, worst)
    x = draw(20, 5, 60)
    src = draw(9, 5, 60)
    sc = draw(60)
    x0 = x.double().clone()
    scaled_index_add_fwd(x, i, src, sc, 0.7)
    x0[i] += 0.7 * (src * sc).double()
    _worst('add', x, x0, worst)
""")
case("lmdeploy rms_norm", "lmdeploy", 0.0001, """
    from lmdeploy.pytorch.kernels.cuda.rms_norm import rms_norm
    x, w, r = (draw(5, 96), draw(96), draw(5, 96))
    _worst('o', rms_norm(x, w, 1e-06), F.rms_norm(x.double(), (96,), w.double(), 1e-06), worst)
    o, rr = rms_norm(x, w, 1e-06, residual=r)
    _worst('res', rr, x + r, worst)
    _worst('o2', o, F.rms_norm((x + r).double(), (96,), w.double(), 1e-06), worst)
""")
case("lmdeploy silu_and_mul", "lmdeploy", 0.0001, """
    from lmdeploy.pytorch.kernels.cuda.activation import silu_and_mul
    x = draw(5, 192)
    _worst('o', silu_and_mul(x), F.silu(x[:, :96].double()) * x[:, 96:].double(), worst)
""")
case("lmdeploy apply_rotary_pos_emb", "lmdeploy", 0.0001, """
    from lmdeploy.pytorch.kernels.cuda.apply_rotary_pos_emb import apply_rotary_pos_emb
    q, k, c, s = (draw(7, 4, 64), draw(7, 2, 64), draw(7, 64), draw(7, 64))
    c = torch.cat([c[:, :32]] * 2, -1)
    s = torch.cat([s[:, :32]] * 2, -1)
    oq, ok = apply_rotary_pos_emb(q, k, c, s)
    _worst('q', oq, rope_of(q.double(), c[:, None].double(), s[:, None].double()), worst)
    _worst('k', ok, rope_of(k.double(), c[:, None].double(), s[:, None].double()), worst)
""")
case("lmdeploy w8a8", "lmdeploy", 0.02, """
    from lmdeploy.pytorch.kernels.cuda.w8a8_triton_kernels import per_channel_quant, per_token_quant_int8, matmul_kernel_dynamic_quant
    x, w = (draw(17, 64), draw(48, 64))
    wq, ws = per_channel_quant(w, torch.int8)
    xq, xs = per_token_quant_int8(x, 1e-07)
    o = matmul_kernel_dynamic_quant(xq, wq, xs, ws, output_dtype=torch.float32)
    _worst('o', o, xq.double() * xs.double() @ (wq.double() * ws.double()).t(), worst)
""")
case("lmdeploy fused_moe", "lmdeploy", 0.02, """
    from lmdeploy.pytorch.kernels.cuda.fused_moe import fused_moe
    E, K, N, T = (4, 64, 32, 9)
    x = draw(T, K, dtype=torch.float16)
    w1 = draw(E, 2 * N, K, dtype=torch.float16, scale=0.1)
    w2 = draw(E, K, N, dtype=torch.float16, scale=0.1)
    p = torch.softmax(draw(T, E), -1)
    tw, ti = p.topk(2, -1)
    o = fused_moe(x, w1, w2, tw, ti, 2, renormalize=False)
    r = torch.zeros(T, K, dtype=torch.float64, device=dev)
    for t in range(T):
        for j in range(2):
            e = int(ti[t, j])
            h = w1[e].double() @ x[t].double()
            r[t] += tw[t, j].double() * (w2[e].double() @ (F.silu(h[:N]) * h[N:]))
    _worst('o', o, r, worst)
""")
case("ColossalAI softmax", "ColossalAI", 0.0001, """
    from colossalai.kernel.triton.softmax import softmax
    x = draw(5, 77)
    _worst('o', softmax(x), torch.softmax(x.double(), -1), worst)
""")
case("TransformerEngine cross_entropy", "TransformerEngine", 0.0001, """
    from transformer_engine.pytorch.triton.cross_entropy import cross_entropy_forward, cross_entropy_backward
    x = draw(2, 5, 77)
    t = torch.randint(0, 77, (2, 5)).to(dev)
    got = cross_entropy_forward(x.clone(), t, 0.0, False, None, -100)
    _worst('o', got[0].reshape(-1), F.cross_entropy(x.double().view(10, 77), t.view(-1), reduction='none'), worst)
""")
case("ml-cross-entropy cce", "ml-cross-entropy", 0.001, """
    from cut_cross_entropy import linear_cross_entropy
    e, c = (draw(40, 64, dtype=torch.bfloat16, scale=0.3), draw(300, 64, dtype=torch.bfloat16, scale=0.3))
    t = torch.randint(0, 300, (40,)).to(dev)
    e.requires_grad_()
    c.requires_grad_()
    l = linear_cross_entropy(e, c, t, impl='cce')
    l.backward()
    ed, cd = (e.detach().double().requires_grad_(), c.detach().double().requires_grad_())
    r = F.cross_entropy(ed @ cd.t(), t)
    r.backward()
    _worst('l', l, r, worst)
    print('grads', ((e.grad.double() - ed.grad).abs().max() / ed.grad.abs().max()).item(), ((c.grad.double() - cd.grad).abs().max() / cd.grad.abs().max()).item())
""")
case("FBGEMM jagged_softmax", "FBGEMM/fbgemm_gpu", 0.001, """
    from fbgemm_gpu.sll.triton.triton_jagged_softmax import jagged_softmax
    off = torch.tensor([0, 5, 9, 17], device=dev)
    check(lambda x: jagged_softmax(x, off, 8, False), lambda x: torch.cat([torch.softmax(x[off[i]:off[i + 1]], 0) for i in range(3)]), draw(17, 32))
""")
case("FBGEMM jagged_dense_bmm", "FBGEMM/fbgemm_gpu", 0.001, """
    from fbgemm_gpu.sll.triton.triton_jagged_bmm import jagged_dense_bmm
    off = torch.tensor([0, 5, 9, 17], device=dev)
    check(lambda x, y: jagged_dense_bmm(x, y, off, 8, False, False), lambda x, y: torch.cat([x[off[i]:off[i + 1]] @ y[i] for i in range(3)]), draw(17, 32), draw(3, 32, 48))
""")
case("applied-ai rms_norm", "applied-ai/kernels/triton/training/rms_norm", 0.0001, """
    from fused_rms_norm import fused_rms_norm_fn
    check(lambda x, w: fused_rms_norm_fn(x, w, 1e-06), lambda x, w: F.rms_norm(x, (96,), w, 1e-06), draw(33, 96), draw(96))
""")
case("megablocks gather/scatter", "megablocks", 0.0001, """
    from megablocks.backend import kernels as K
    x = draw(6, 64)
    idx = torch.tensor([2, 0, 5, 1, 4, 3], device=dev, dtype=torch.int32)
    bid = torch.tensor([0, 0, 1, 1, 1, 2], device=dev, dtype=torch.int32)
    bins = torch.tensor([2, 5, 6], device=dev, dtype=torch.int32)
    o = K.gather(x, idx, bid, None, bins, 1)
    _worst('g', o, x[idx.long()], worst)
    w = torch.rand(6, device=dev)
    s = K.scatter(o, idx, bid, w, bins, 1)
    r = torch.zeros(6, 64, device=dev)
    r[idx.long()] = o * w[idx.long()][:, None]
    _worst('s', s, r, worst)
""")
case("DeepSeek-V3 kernels", "DeepSeek-V3/inference", 0.02, """
    from kernel import act_quant, weight_dequant, fp8_gemm
    x = draw(16, 256)
    w = draw(128, 256)
    q, s = act_quant(x, 128)
    _worst('act', (q.double().view(16, 2, 128) * s.double()[..., None]).view(16, 256), x, [])
    wq = w.to(torch.float8_e4m3fn)
    ws = torch.rand(1, 2, device=dev)
    _worst('deq', weight_dequant(wq, ws), wq.double() * ws.double().repeat_interleave(128, 1), worst)
    o = fp8_gemm(q, s, wq, ws)
    _worst('mm', o, (q.double().view(16, 2, 128) * s.double()[..., None]).view(16, 256) @ (wq.double() * ws.double().repeat_interleave(128, 1)).t(), worst)
""")
case("based layer_norm", "based", 1e-05, """
    from based.ops.triton.layer_norm import layer_norm_fn, rms_norm_fn
    check(lambda x, w, b: layer_norm_fn(x, w, b), lambda x, w, b: F.layer_norm(x, (96,), w, b, 1e-06), draw(33, 96), draw(96), draw(96))
""")
case("based selective_state_update", "based", 0.001, """
    from based.models.mixers.mamba.ops.triton.selective_state_update import selective_state_update, selective_state_update_ref
    B, D, N = (3, 64, 16)
    st, x, dt, A, Bm, C, Dp, z, bias = (draw(B, D, N), draw(B, D), draw(B, D), -draw(D, N).abs(), draw(B, N), draw(B, N), draw(D), draw(B, D), draw(D))
    s0 = st.double()
    o = selective_state_update(st, x, dt, A, Bm, C, Dp, z, bias, True)
    r = selective_state_update_ref(s0, *[t.double() for t in (x, dt, A, Bm, C, Dp, z, bias)], True)
    _worst('o', o, r, worst)
    _worst('s', st, s0, worst)
""")
case("lightllm context attention", "lightllm", 0.02, """
    from lightllm.models.llama.triton_kernel.context_flashattention_nopad import context_attention_fwd_no_prompt_cache
    q, k, v = (draw(29, 4, 64, dtype=torch.float16), draw(29, 2, 64, dtype=torch.float16), draw(29, 2, 64, dtype=torch.float16))
    o = torch.empty_like(q)
    st = torch.tensor([0, 12], dtype=torch.int32, device=dev)
    L = torch.tensor([12, 17], dtype=torch.int32, device=dev)
    context_attention_fwd_no_prompt_cache(q, k, v, o, st, L, 17)
    for a, b in ((0, 12), (12, 29)):
        Q, K, V = [t[a:b].double().transpose(0, 1) for t in (q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1))]
        _worst('o', o[a:b], F.scaled_dot_product_attention(Q, K, V, is_causal=True).transpose(0, 1), worst)
""")
case("ao blockwise fp8 inference", "ao", 0.05, """
    from torchao.prototype.blockwise_fp8_inference.kernels import *
    from torchao.prototype.blockwise_fp8_inference import kernels as K
    x = draw(16, 256)
    q, s = K.fp8_blockwise_act_quant(x, 128)
    _worst('act', (q.double().view(16, 2, 128) * s.double()[..., None]).view(16, 256), x, worst)
""")
case("ao scaled_int8_mm", "ao", 0.001, """
    from torchao.prototype.quantized_training.int8_mm import scaled_int8_mm
    a = torch.randint(-100, 100, (33, 64), dtype=torch.int8).to(dev)
    b = torch.randint(-100, 100, (64, 48), dtype=torch.int8).to(dev)
    r, c = (draw(33), draw(48))
    _worst('o', scaled_int8_mm(a, b, r, c), a.double() @ b.double() * r.double()[:, None] * c.double(), worst)
""")
case("sglang softcap", "sglang-0.5.23", 0.0001, """
    from sglang.kernels.ops.activation.softcap import softcap_inplace_logits
    x = draw(5, 300) * 20
    r = 30 * torch.tanh(x.double() / 30)
    o = softcap_inplace_logits(x, 30.0)
    _worst('o', x, r, worst)
""")
case("GPTQModel awq gemm", "GPTQModel", 0.02, """
    from gptqmodel.quantization.awq.modules.triton.gemm import awq_dequantize_triton, awq_gemm_triton
    K, N, G = (128, 64, 64)
    q = torch.randint(0, 2 ** 31 - 1, (K, N // 8), dtype=torch.int32).to(dev)
    zq = torch.randint(0, 2 ** 31 - 1, (K // G, N // 8), dtype=torch.int32).to(dev)
    sc = draw(K // G, N, dtype=torch.float16, scale=0.05)
    sh = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7], device=dev) * 4
    un = lambda t: (t[:, :, None] >> sh & 15).reshape(t.shape[0], -1)
    w = (un(q) - un(zq).repeat_interleave(G, 0)).double() * sc.double().repeat_interleave(G, 0)
    _worst('w', awq_dequantize_triton(q, sc, zq), w, worst)
""")
case("kernl layer_norm", "kernl/src", 0.0001, """
    from kernl.implementations.layer_norm import layer_norm
    x, w, b = (draw(33, 96), draw(96), draw(96))
    _worst('o', layer_norm(x, w, b, 1e-05), F.layer_norm(x.double(), (96,), w.double(), b.double(), 1e-05), worst)
""")
case("kernl attention", "kernl/src", 0.01, """
    from kernl.implementations.attention import attention_forward
    q, k, v = (draw(2, 3, 64, 32, dtype=torch.float16), draw(2, 3, 64, 32, dtype=torch.float16), draw(2, 3, 64, 32, dtype=torch.float16))
    o = torch.empty_like(q)
    attention_forward(q, k, v, o, 32 ** (-0.5), True)
    _worst('o', o, F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True), worst)
""")
case("SageAttention int8", "SageAttention", 0.05, """
    from sageattention.triton.quant_per_block import per_block_int8
    from sageattention.triton.attn_qk_int8_per_block import forward as f
    from sageattention.triton.attn_qk_int8_per_block_causal import forward as fc
    q, k, v = (draw(1, 4, 128, 64, dtype=torch.float16), draw(1, 4, 128, 64, dtype=torch.float16), draw(1, 4, 128, 64, dtype=torch.float16))
    qi, qs, ki, ks = per_block_int8(q, k)
    o = f(qi, ki, v, qs, ks)
    o = o[0] if isinstance(o, tuple) else o
    _worst('o', o, F.scaled_dot_product_attention(q.double(), k.double(), v.double()), worst)
    o = fc(qi, ki, v, qs, ks)
    o = o[0] if isinstance(o, tuple) else o
    _worst('c', o, F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True), worst)
""")
case("DeepSpeed triton layer_norm", "DeepSpeed", 0.001, """
    from deepspeed.ops.transformer.inference.triton.layer_norm import layer_norm, layer_norm_residual
    x, w, b = (draw(33, 96), draw(96), draw(96))
    _worst('o', layer_norm(x, w, b, 1e-05), F.layer_norm(x.double(), (96,), w.double(), b.double(), 1e-05), worst)
""")
case("xformers tiled_matmul", "xformers", 0.001, """
    from xformers.ops.tiled_matmul import tiled_matmul
    a = [[draw(64, 64), draw(64, 32)]]
    b = [[draw(64, 48)], [draw(32, 48)]]
    c = tiled_matmul(a, b)
    _worst('c', c[0][0], a[0][0].double() @ b[0][0].double() + a[0][1].double() @ b[1][0].double(), worst)
""")

if __name__ == "__main__":
    sys.exit(main())
