# SPDX-License-Identifier: Apache-2.0
"""What bench/cuda/public_kernels.py launches: where each file comes from, and how its own wrapper is called at a real size."""
import types

import torch

COLLECTION = "thunlp/TritonBench"
TRITON = "openai/triton"

# File in the folder: repository, path there, and the line that its own tests begin with (what follows is left away).
SOURCES = {
    "tutorial_product.py": (TRITON, "python/tutorials/03-matrix-multiplication.py", "# Unit Test"),
    "tutorial_layer_norm.py": (TRITON, "python/tutorials/05-layer-norm.py", "@triton.testing"),
    "tutorial_attention.py": (TRITON, "python/tutorials/06-fused-attention.py", "@pytest"),
    "moe_columns.py": ("pytorch-labs/applied-ai", "kernels/triton/inference/col_major_moe_gemm/v0_moe_fused.py", None),
    "flash_rotary.py": ("Dao-AILab/flash-attention", "flash_attn/ops/triton/rotary.py", None),
    "nf4.py": ("bitsandbytes-foundation/bitsandbytes", "bitsandbytes/backends/triton/kernels_4bit.py", None),
    **{
        f"{name}.py": (COLLECTION, f"data/TritonBench_G_v1/{name}.py", "####")
        for name in (
            "matmul_persistent_triton matmul_leakyrelu triton_matmul int_scaled_matmul matmul_dequantize_int4 attn_fwd_causal flash_attn "
            "context_attn_llama bmm_chunk_fwd chunked_cumsum_fwd triton_conv2d_fwd triton_attention fast_layernorm fast_rms_layernorm "
            "geglu_tanh_triton swiglu_triton fast_ce_loss softmax_triton1 rmsnorm_fused_llama rotary_emb quantize_copy_kv "
            "embedding_triton_kernel l2_norm_triton1 log_softmax kldiv_triton iv_dependent_matmul lora_expand_gemv layer_norm_liger "
            "chunk_gla_fwd lightning_attention token_attn_llama2 flash_decode2_llama cross_entropy2 softmax_reducev token_attn_reduceV int8_quantization"
        ).split()
    },
}
# Modules that files import and their kernels do not need.
STUBS = {"pytest.py": "", "vllm/__init__.py": "", "vllm/_C.py": "ops = None\n"}


def rand(*shape, dtype=torch.float16):
    return torch.randn(*shape, device="cuda").to(dtype)


def ints(high, *shape, dtype=torch.int32):
    return torch.randint(0, high, shape, device="cuda", dtype=dtype)


class Row:
    def __init__(self, name, module, call, configs=None, take=0, bound=None, computes=False, reference=None):
        self.name, self.module, self.call = name, module, call
        self.configs, self.take, self.bound = configs or {}, take, bound
        self.reference = reference  # tensors by name, computed from the arguments; else the peer's results count
        self.computes = computes  # what is launched depends on contents of tensors


def config(warps, stages, **constants):
    return lambda triton, given: triton.Config(constants, num_warps=warps, num_stages=stages)


def tiles(warps, stages, m, n, k, group=8):
    return config(warps, stages, BLOCK_SIZE_M=m, BLOCK_SIZE_N=n, BLOCK_SIZE_K=k, GROUP_SIZE_M=group)


def moe(tokens, experts, chosen, inner, outer, block):
    def call(module):
        x, w = rand(tokens, inner), rand(experts, outer, inner)
        ids = ints(experts, tokens, chosen, dtype=torch.int64)
        order = torch.argsort(ids.flatten(), stable=True).to(torch.int32)
        sorted_ids, blocks = [], []
        for expert in range(experts):
            mine = order[ids.flatten()[order.long()] == expert]
            padded = -(-mine.numel() // block["BLOCK_SIZE_M"]) * block["BLOCK_SIZE_M"]
            sorted_ids.append(torch.cat([mine, torch.full((padded - mine.numel(),), tokens * chosen, dtype=torch.int32, device="cuda")]))
            blocks += [expert] * (padded // block["BLOCK_SIZE_M"])
        sorted_ids = torch.cat(sorted_ids)
        out = torch.zeros(tokens, chosen, outer, device="cuda", dtype=torch.float16)
        expert_ids = torch.tensor(blocks, dtype=torch.int32, device="cuda")
        count = torch.tensor([sorted_ids.numel()], dtype=torch.int32, device="cuda")
        weights = torch.rand(tokens, chosen, device="cuda")
        module.invoke_fused_moe_kernel(x, w, out, weights, ids, sorted_ids, expert_ids, count, False, chosen, block)

    return call


def paged_prefill(module):
    heads, width, length, batch = 16, 128, 2048, 4
    q, k, v = (rand(batch * length, heads, width) for _ in range(3))
    pages = torch.randperm(batch * length, device="cuda", dtype=torch.int32).reshape(batch, length)
    numbers = torch.arange(batch, device="cuda", dtype=torch.int32)
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
    module.context_attention_fwd(q, k, v, torch.empty_like(q), numbers, numbers * length, lengths, torch.zeros_like(numbers), length, pages)


def paged_decode(module):
    batch, heads, width, length = 64, 32, 128, 2048
    q, k = rand(batch, heads, width), rand(batch * length, heads, width)
    pages = torch.randperm(batch * length, device="cuda", dtype=torch.int32).reshape(batch, length)
    starts = torch.arange(batch, device="cuda", dtype=torch.int32) * length
    scores = torch.empty(heads, batch * length, device="cuda")
    module.token_att_fwd(q, k, scores, pages, starts, torch.full_like(starts, length), length)


def decode_reduce(module):
    batch, heads, width, blocks, block = 256, 32, 128, 32, 128
    lengths = torch.full((batch,), blocks * block, device="cuda", dtype=torch.int32)
    parts, sums = rand(batch, heads, blocks, width, dtype=torch.float32), rand(batch, heads, blocks, dtype=torch.float32)
    module.flash_decode_stage2(parts, sums, lengths, rand(batch, heads, width, dtype=torch.float32), block)


def paged(batch, heads, length):
    """Pages of a cache, where each batch begins, and how long it is."""
    pages = torch.randperm(batch * length, device="cuda", dtype=torch.int32).reshape(batch, length)
    starts = torch.arange(batch, device="cuda", dtype=torch.int32) * length
    return pages, starts, torch.full_like(starts, length)


def softmax_and_values(module):
    batch, heads, width, length = 64, 32, 128, 2048
    scores, v = rand(heads, batch * length, dtype=torch.float32), rand(batch * length, heads, width, dtype=torch.float32)
    module.token_softmax_reducev_fwd(scores, v, torch.empty(batch, heads, width, device="cuda"), *paged(batch, heads, length), length, 0)


def weighted_values(module):
    batch, heads, width, length = 64, 32, 128, 2048
    pages, starts, lengths = paged(batch, heads, length)
    weights, v = torch.rand(heads, batch * length, device="cuda"), rand(batch * length, heads, width, dtype=torch.float32)
    module.token_att_fwd2(weights, v, torch.empty(batch, heads, width, device="cuda"), pages, torch.arange(batch, device="cuda", dtype=torch.int32), starts, lengths)


def odd_cross_entropy(module):
    logits, labels = rand(4096, 50257, dtype=torch.bfloat16), ints(50257, 4096, dtype=torch.int64)
    module.fast_cross_entropy_loss(logits.reshape(1, 4096, 50257), labels.reshape(1, 4096))


def int8_product(module):
    a, b = (torch.randint(-128, 128, (4096, 4096), dtype=torch.int8, device="cuda") for _ in range(2))
    tile = types.SimpleNamespace(kwargs=dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8), num_warps=8, num_stages=3, num_ctas=1)
    module.int_matmul_kernel(a, b, torch.empty(4096, 4096, dtype=torch.int32, device="cuda"), tile)


def int4_product(module):
    quantised = module.quantize_int4(rand(4096, 4096), group_size=128)
    module.matmul_dequantize_int4_gptq(rand(512, 4096), *quantised[:3], 128)


def nf4(module):
    codes = torch.randint(0, 256, (4096 * 4096 // 2,), dtype=torch.uint8, device="cuda")
    absmax, out = torch.rand(4096 * 4096 // 64, device="cuda"), torch.empty(4096, 4096, dtype=torch.float16, device="cuda")
    module.dequantize_4bit_impl(codes, absmax, 64, "nf4", torch.float16, out)


def cross_entropy(module):
    logits, labels = rand(8192, 32000, dtype=torch.bfloat16), ints(32000, 8192, dtype=torch.int64)
    module.fast_cross_entropy_loss(logits.reshape(1, 8192, 32000), labels.reshape(1, 8192))


def layer_norm_forward(module):
    module.layer_norm(rand(8192, 4096), (4096,), rand(4096), rand(4096), 1e-5)


def layer_norm_backward(module):
    x, w, b = (t.requires_grad_(True) for t in (rand(8192, 4096), rand(4096), rand(4096)))
    module.layer_norm(x, (4096,), w, b, 1e-5).backward(rand(8192, 4096))


def liger_norm(module):
    module.LigerLayerNormFunction.apply(rand(16384, 4096, dtype=torch.bfloat16), *(rand(4096, dtype=torch.bfloat16) for _ in range(2)), 1e-5)


def unsloth_rms(module):
    norm = types.SimpleNamespace(weight=rand(4096, dtype=torch.bfloat16), variance_epsilon=1e-6, eps=1e-6)
    module.fast_rms_layernorm(norm, rand(4, 4096, 4096, dtype=torch.bfloat16))


def attention(heads, length, width, causal):
    def call(module):
        q, k, v = (rand(4, heads, length, width) for _ in range(3))
        module._attention.apply(q, k, v, causal, width**-0.5)

    return call


def flash(causal):
    def call(module):
        q, k, v = (rand(4, 32, 2048, 64) for _ in range(3))
        module.flash_attn_triton(q, k, v, causal=causal, sm_scale=0.125)

    return call


def sage(module):
    q, k = (torch.randint(-100, 100, (4, 32, 2048, 128), dtype=torch.int8, device="cuda") for _ in range(2))
    scales = [torch.rand(4, 32, 2048 // block, 1, device="cuda") * 0.01 for block in (128, 64)]
    module.forward(q, k, rand(4, 32, 2048, 128), *scales)


def gla(module):
    q, k, v, g = (rand(4, 16, 2048, 128) for _ in range(4))
    module.chunk_fwd_o_gated_gk_fn(q, v, -g.float().abs() * 0.01, rand(4, 16, 2048, 64), rand(4, 16, 2048 // 64 * 128, 128), 64, 0.1)


def pair(module_function, rows=8192, columns=4096, dtype=torch.bfloat16):
    return lambda module: getattr(module, module_function)(rand(rows, columns, dtype=dtype), rand(rows, columns, dtype=dtype))


PRODUCT = "tutorial_product"
ROWS = [
    Row("product 128x128x64, 4 warps", PRODUCT, lambda m: m.matmul(rand(4096, 4096), rand(4096, 4096)), {"matmul_kernel": tiles(4, 3, 128, 128, 64)}),
    Row("product 128x256x64, 8 warps", PRODUCT, lambda m: m.matmul(rand(4096, 4096), rand(4096, 4096)), {"matmul_kernel": tiles(8, 3, 128, 256, 64)}),
    Row("product 64x128x32, 4 warps", PRODUCT, lambda m: m.matmul(rand(4096, 4096), rand(4096, 4096)), {"matmul_kernel": tiles(4, 4, 64, 128, 32)}),
    Row("product 8192, 128x128x64", PRODUCT, lambda m: m.matmul(rand(8192, 8192), rand(8192, 8192)), {"matmul_kernel": tiles(8, 4, 128, 128, 64)}),
    Row("product 4095x4097x4099", PRODUCT, lambda m: m.matmul(rand(4095, 4099), rand(4099, 4097)), {"matmul_kernel": tiles(4, 3, 128, 128, 64)}),
    Row("product and leaky relu", PRODUCT, lambda m: m.matmul(rand(2048, 8192), rand(8192, 2048), "leaky_relu"), {"matmul_kernel": tiles(4, 4, 128, 128, 32)}),
    Row("product, persistent", "matmul_persistent_triton", lambda m: m.matmul_persistent(rand(4096, 4096), rand(4096, 4096))),
    Row("product of the collection", "triton_matmul", lambda m: m.matmul(rand(4096, 4096), rand(4096, 4096))),
    Row("product int8", "int_scaled_matmul", int8_product),
    Row("product int4 gptq", "matmul_dequantize_int4", int4_product, computes=True),
    Row("moe, prefill", "moe_columns", moe(4096, 8, 2, 4096, 4096, dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=32, GROUP_SIZE_M=8)), computes=True),
    Row("moe, decode", "moe_columns", moe(32, 8, 2, 4096, 14336, dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=32, BLOCK_SIZE_K=64, GROUP_SIZE_M=1)), computes=True),
    Row("attention 64, block pointers", "tutorial_attention", attention(32, 2048, 64, False), {"_attn_fwd": config(4, 3, BLOCK_M=128, BLOCK_N=64)}),
    Row("attention 64, causal", "tutorial_attention", attention(32, 2048, 64, True), {"_attn_fwd": config(4, 3, BLOCK_M=128, BLOCK_N=64)}),
    Row("attention 128, block pointers", "tutorial_attention", attention(16, 2048, 128, False), {"_attn_fwd": config(8, 3, BLOCK_M=128, BLOCK_N=64)}),
    Row("attention of tiny-flash", "flash_attn", flash(False)),
    Row("attention int8 (sage)", "attn_fwd_causal", sage),
    Row("attention of the collection", "triton_attention", lambda m: m.attention(*(rand(4, 32, 2048, 64) for _ in range(3)), 0.125)),
    Row("paged prefill (lightllm)", "context_attn_llama", paged_prefill),
    Row("paged decode scores (lightllm)", "token_attn_llama2", paged_decode, bound=0.02),
    Row("decode reduction (lightllm)", "flash_decode2_llama", decode_reduce),
    Row("bmm of chunks (mamba)", "bmm_chunk_fwd", lambda m: m._bmm_chunk_fwd(rand(8, 4096, 8, 128), rand(8, 4096, 8, 128), 256)),
    Row("cumsum of chunks (mamba)", "chunked_cumsum_fwd", lambda m: m._chunk_cumsum_fwd(rand(8, 4096, 64, dtype=torch.float32), rand(64, dtype=torch.float32), 256)),
    Row("gated linear attention (fla)", "chunk_gla_fwd", gla),
    Row("convolution 3x3 (conv2d)", "triton_conv2d_fwd", lambda m: m.conv2d_forward(rand(32, 64, 56, 56), rand(64, 64, 3, 3), 3, 3, 1, 1, 1, 1, 1, True)),
    Row("layer norm (tutorial)", "tutorial_layer_norm", layer_norm_forward),
    Row("layer norm backward (tutorial)", "tutorial_layer_norm", layer_norm_backward, take=1),
    Row("layer norm (liger)", "layer_norm_liger", liger_norm, bound=0.1),
        Row("rms norm (unsloth)", "fast_rms_layernorm", unsloth_rms),
    Row("rms norm (llama)", "rmsnorm_fused_llama", lambda m: m.rmsnorm_forward(rand(16384, 4096), rand(4096), 1e-5)),
    Row("l2 norm", "l2_norm_triton1", lambda m: m._l2_norm_fwd(rand(16384, 4096, dtype=torch.bfloat16))),
    Row("softmax", "softmax_triton1", lambda m: m.softmax(rand(16384, 4096, dtype=torch.float32))),
    Row("log softmax (flaggems)", "log_softmax", lambda m: m.log_softmax(rand(16384, 4096, dtype=torch.float32), dim=-1)),
    Row("swiglu (liger)", "swiglu_triton", pair("swiglu_forward", 16384, 8192)),
    Row("geglu (liger)", "geglu_tanh_triton", pair("geglu_forward", 16384, 8192)),
    Row("cross entropy (unsloth)", "fast_ce_loss", cross_entropy),
    Row("kl divergence (liger)", "kldiv_triton", lambda m: m.kldiv_forward_triton(torch.rand(8192, 16384, device="cuda") + 0.1, torch.rand(8192, 16384, device="cuda") + 0.1, False, "batchmean")),
    Row("rotary (lightllm)", "rotary_emb", lambda m: m.rotary_emb_fwd(rand(8192, 32, 128), rand(8192, 32, 128), rand(8192, 128), rand(8192, 128))),
    Row("rotary (flash-attention)", "flash_rotary", lambda m: m.apply_rotary(rand(4, 4096, 32, 128), rand(4096, 64), rand(4096, 64))),
    Row("nf4 dequantisation", "nf4", nf4),
    Row("quantised kv copy (lightllm)", "quantize_copy_kv", lambda m: m.destindex_copy_quantize_kv(rand(16384, 32, 128), torch.randperm(16384, device="cuda", dtype=torch.int32), torch.empty(16384, 32, 128, dtype=torch.int8, device="cuda"), torch.empty(16384, 32, 1, dtype=torch.float16, device="cuda"))),
    Row("embedding (lightllm)", "embedding_triton_kernel", lambda m: m.embedding(ints(32000, 16384), rand(32000, 4096), 0, 32000, torch.empty(16384, 4096, dtype=torch.float16, device="cuda"))),
    Row("softmax, odd rows f16", "softmax_triton1", lambda m: m.softmax(rand(16384, 4095))),
    Row("cross entropy, 50257 classes", "fast_ce_loss", odd_cross_entropy),
    Row("layer norm, odd rows", "tutorial_layer_norm", lambda m: m.layer_norm(rand(8192, 4095), (4095,), rand(4095), rand(4095), 1e-5)),
    Row("softmax and values (lightllm)", "softmax_reducev", softmax_and_values),
    Row("weighted values (lightllm)", "token_attn_reduceV", weighted_values),
    Row("int8 blocks (sage)", "int8_quantization", lambda m: m.per_block_int8(*(rand(4, 32, 4096, 128, dtype=torch.float32) for _ in range(2)))),
    Row("lora expand", "lora_expand_gemv", lambda m: m._bgmv_expand(rand(256, 64), rand(8, 4096, 64), torch.zeros(256, 4096, dtype=torch.float16, device="cuda"), ints(8, 256), True)),
]
