# SPDX-License-Identifier: Apache-2.0
"""A fourth table for bench/cuda/public_kernels.py (--table public_launches_fourth): files of which the first three have none."""
import torch

from public_launches import COLLECTION, Row, config, ints, rand
from public_launches_more import FLA, HSTU, LIGER, decay, files, half, single, unit
from public_launches_third import AO, BENCH, DEPLOY, FLASH, UNSLOTH, XFORMERS, fp8
from public_launches_third import STUBS as STUBS_OF_THIRD

FBGEMM, ROCM, LIGHTNING = "pytorch/FBGEMM ROCm/vllm OpenNLPLab/lightning-attention".split()

# File in the folder: repository, path there, and the line that its own tests begin with (what follows is left away).
SOURCES = {
    **{
        f"{name}.py": (COLLECTION, f"data/TritonBench_G_v1/{name}.py", "####")
        for name in (
            "adam_update_triton chunk_delta_fwd fused_rwkv6_kernel fused_recurrent_delta diag_ssm_triton fifth_order_sph_harmonics index_select_bwd "
            "layer_norm_welfold logsumexp_fwd reversed_cumsum rms_matmul_rbe rope_backward_transform rowwise_quantization_triton dequantize_rowwise "
            "streamk_matmul kcache_copy_triton apply_penalty int8_matmul_kernel decay_cumsum attn_fwd_triton token_softmax_llama multinomial_sampling "
            "chunk_gate_recurrence bmm_chunk_bwd l2_norm_bwd attention_score mean_reduction quant_transpose_kernel "
            "fused_activation masked_select cosine_compute bgmv_shrink_kernel"
        ).split()
    },
    **files(LIGER, "src/", "liger_kernel/utils.py " + " ".join(f"liger_kernel/ops/{n}.py" for n in "utils grpo_loss qwen2vl_mrope kl_div mhc llama4_rope".split())),
    **files(UNSLOTH, "", " ".join(f"unsloth/kernels/{n}.py" for n in "rms_layernorm swiglu".split())),
    **{f"fbgemm_gpu/sll/{n}.py": (FBGEMM, f"fbgemm_gpu/fbgemm_gpu/sll/triton/{n}.py", None) for n in ("triton_jagged2_to_padded_dense", "common")},
    "fbgemm_gpu/triton/quantize.py": (FBGEMM, "fbgemm_gpu/fbgemm_gpu/triton/quantize.py", None),
    "fbgemm_gpu/triton/common.py": (FBGEMM, "fbgemm_gpu/fbgemm_gpu/triton/common.py", None),
    "flash_attn_triton.py": (FLASH, "flash_attn/flash_attn_triton.py", None),
    "lightning_srmsnorm.py": (LIGHTNING, "lightning_attn/ops/triton/srmsnorm.py", None),
    "xformers_cat.py": (XFORMERS, "xformers/ops/_triton/k_index_select_cat.py", None),
    "rocm_merge.py": (ROCM, "vllm/attention/ops/triton_merge_attn_states.py", None),
    "bench_jagged_sum.py": (BENCH, "tritonbench/operators/jagged_sum/kernels.py", None),
    "bench_jagged_softmax.py": (BENCH, "tritonbench/operators/jagged_softmax/kernels.py", None),
    "lmdeploy_topk.py": (DEPLOY, "lmdeploy/pytorch/kernels/cuda/bitonic_topk.py", None),
    "ao_fp8_training.py": (AO, "torchao/prototype/blockwise_fp8_training/kernels.py", None),
    "scatter_single.py": ("shawntan/scattermoe", "scattermoe/kernels/single.py", None),
}
STUBS = {
    **STUBS_OF_THIRD,
    "transformers/__init__.py": "__version__ = \"4.50.0\"\n",
    "transformers/utils.py": "def is_torch_npu_available():\n    return False\n",
    "fbgemm_gpu/__init__.py": "",
    "fbgemm_gpu/triton/__init__.py": "",
    "fbgemm_gpu/sll/__init__.py": "",
    "torchao/__init__.py": "",
    "torchao/float8/__init__.py": "",
    "torchao/float8/config.py": "import torch\n\ne4m3_dtype = torch.float8_e4m3fn\n",
    "tritonbench/kernels/__init__.py": "",
    "tritonbench/kernels/profile.py": "smid = time = profile_mem_pre_hook = None\n",
    "vllm/triton_utils.py": "import triton\nimport triton.language as tl\n",
    "vllm/platforms.py": "import types\n\ncurrent_platform = types.SimpleNamespace(is_fp8_fnuz=lambda: False, fp8_dtype=lambda: None)\n",
}


def jagged_offsets(count, mean):
    lengths = torch.randint(mean // 2, mean * 3 // 2, (count,), device="cuda")
    return lengths, torch.cat([torch.zeros(1, device="cuda", dtype=torch.int64), torch.cumsum(lengths, 0)])


def adam(module):
    n = 1 << 26
    module.update_fn(single(n), single(n), single(n), 1e-3, 0.1, 0.9, 0.99)


def delta_states(module):
    b, h, t, d = 4, 16, 4096, 128
    module.chunk_fwd_h_fn(unit(b, h, t, d), unit(b, h, t, d), half(b, h, t, d), 64, None, None)


def rwkv6(module):
    b, h, t, d = 8, 32, 1024, 64
    module.fused_recurrent_rwkv6(unit(b, h, t, d), unit(b, h, t, d), half(b, h, t, d), decay(b, h, t, d).to(torch.bfloat16), half(h, d), scale=0.125)


def delta_rule(module):
    b, h, t, d = 8, 32, 1024, 64
    module.fused_recurrent_delta_rule(unit(b, h, t, d), unit(b, h, t, d), half(b, h, t, d), beta=torch.rand(b, h, t, device="cuda").to(torch.bfloat16), scale=0.125)


def ssm(module):
    module.diag_ssm_forward_kernel[(64 * 1024 // 128,)](single(64, 1024), single(2048, 64, 1024), single(1024).sigmoid(), torch.empty(2048, 64, 1024, device="cuda"), 2048, 64, 1024, BLOCK_SIZE=128)


def rope_gradients(module):
    module.rope_backward(half(4, 32, 4096, 128), half(4, 8, 4096, 128), half(4096, 128), half(4096, 128))


def stream_k(module):
    module.matmul.forward(None, rand(4096, 4096), rand(4096, 4096), grid=132, BLK_M=128, BLK_N=128, BLK_K=32, two_tiles=True, num_stages=3, num_warps=4)


def cache_copy(module):
    b, heads, size, width = 512, 32, 16, 128
    k, cache = rand(b, heads, width), torch.zeros(b * 8, heads, size, width, device="cuda", dtype=torch.float16)
    module.copy_k_to_blocked_cache(k, cache, ints(8 * size - 2, b) + 1, torch.randperm(b * 8, device="cuda").reshape(b, 8).to(torch.int32))


def penalties(module):
    b, vocabulary, each = 128, 128256, 1024
    ones = torch.rand(b, device="cuda") + 0.5
    tokens = torch.argsort(torch.rand(b, vocabulary, device="cuda"), 1)[:, :each].reshape(-1).to(torch.int32)
    module.apply_penalty(single(b, vocabulary), ones, ones, ones, tokens, ints(5, b * each) + 1, torch.arange(0, b * each + 1, each, device="cuda", dtype=torch.int32), each)


def packed_int2(module):
    module.matmul(ints(100, 1024, 4096, dtype=torch.int8), ints(255, 1024, 4096, dtype=torch.uint8))


def decay_sums(module):
    b, h, t, d = 4, 32, 4096, 128
    g = -single(b, h, t, d).abs()
    module.fwd_decay_cumsum[(2, t // 64, b * h)](g, torch.empty_like(g), t * d, d, 1, b, h, t, 1.0, BT=64, BK=64, DK=d)


def int8_scores(module):
    b, h, t, d = 4, 32, 4096, 128
    q, k = torch.randint(-100, 100, (b, h, t, d), device="cuda", dtype=torch.int8), torch.randint(-100, 100, (b, h, t, d), device="cuda", dtype=torch.int8)
    module.forward(q, k, rand(b, h, t, d), torch.rand(b, h, t // 128, 1, device="cuda") * 0.001, torch.rand(b, h, t // 64, 1, device="cuda") * 0.001)


def token_softmax(module):
    b, h, t = 16, 32, 8192
    starts, lengths = torch.arange(0, b * t, t, device="cuda", dtype=torch.int32), torch.full((b,), t, device="cuda", dtype=torch.int32)
    scores = single(h, b * t)
    module.token_softmax_fwd(scores, starts, lengths, torch.empty_like(scores), t)


def sampling(module):
    scores = torch.softmax(single(512, 32768), 1)
    module.multinomial_sampling(scores, ints(1000, 512, dtype=torch.int64), ints(1000, 512, dtype=torch.int64))


def gate_recurrence(module):
    b, h, n, d = 4, 16, 64, 128
    kv, cross = single(b, h, n, d, d), decay(b, h, n).exp()
    module.ChunkGateRecurrent.apply(kv, cross, None)


def windows(module):
    b, h, t, d = 2, 32, 4096, 128
    module.get_score(rand(b, h, t, d), rand(b, h, t, d), single(b, h, t) + 20, (0, 2048), False)


def lora_shrink(module):
    tokens, rank, inner = 512, 16, 4096
    module._bgmv_shrink(rand(tokens, inner), rand(32, 1, rank, inner), torch.zeros(tokens, rank, device="cuda"), ints(32, tokens, dtype=torch.int64), 1.0)


def mrope(module):
    cos = half(3, 4, 4096, 128)
    module.qwen2vl_mrope_forward(half(4, 32, 4096, 128), half(4, 8, 4096, 128), cos, cos, [16, 24, 24])


def kl(module):
    p, q = torch.log_softmax(single(4096, 32000), 1), torch.softmax(single(4096, 32000), 1)
    module.kldiv_forward_triton(p, q, False, "batchmean", 1e-10)


def grpo(module):
    module.fused_selective_log_softmax(half(4, 1025, 128256), ints(128256, 4, 1024, dtype=torch.int64))


def hyper_streams(module):
    module.mhc_post_res_fwd(half(16384, 4, 4096), half(16384, 4096), single(16384, 4).sigmoid(), single(16384, 4, 4).sigmoid())


def hyper_sums(module):
    module.mhc_pre_fwd(half(16384, 4, 4096), single(16384, 4).sigmoid())


def padded(module):
    lengths, offsets = jagged_offsets(256, 200)
    module.jagged2_to_padded_dense_fwd(single(int((lengths * lengths).sum())), lengths, torch.cat([torch.zeros(1, device="cuda", dtype=torch.int64), torch.cumsum(lengths * lengths, 0)]), 300, 0.0)


def flash_forward(module):
    module._flash_attn_forward(rand(4, 2048, 32, 64), rand(4, 2048, 32, 64), rand(4, 2048, 32, 64), causal=True)


def merged(module):
    t, h, d = 8192, 32, 128
    module.merge_attn_states(half(t, h, d), half(t, h, d), single(h, t), half(t, h, d), single(h, t), torch.empty(h, t, device="cuda"))


def jagged_sum(module):
    lengths, offsets = jagged_offsets(1024, 512)
    values, out = single(1024 * 768, 128), torch.zeros(1024, 128, device="cuda")
    kernel = module.triton_jagged_sum_kernel_variable_length_loop_buffer_then_sum
    kernel[lambda words: (1024 * 128 // words["BLOCK_SIZE_M"],)](values, offsets, out, 128)


def jagged_softmax(module):
    lengths, offsets = jagged_offsets(1024, 512)
    values = single(1024 * 768, 128)
    kernel = module.triton_jagged_softmax_kernel_variable_length_loop_buffer_then_sum
    kernel[lambda words: (1024 * 128 // words["BLOCK_SIZE_M"],)](values, offsets, torch.zeros_like(values), 128)


def one_to_many(module):
    module.single2scatter(half(1, 4096), half(8, 4096, 14336), ints(8, 1, 2, dtype=torch.int64))


LIGER_OPS = "liger_kernel.ops."
ROWS = [
    Row("lion", "adam_update_triton", adam),
    Row("states of the delta rule", "chunk_delta_fwd", delta_states, bound=0.05),
    Row("rwkv6", "fused_rwkv6_kernel", rwkv6),
    Row("delta rule, recurrent", "fused_recurrent_delta", delta_rule),
    Row("diagonal state space", "diag_ssm_triton", ssm),
    Row("spherical harmonics", "fifth_order_sph_harmonics", lambda m: m.FifthOrderSphericalHarmonic.apply(single(1 << 20, 3))),
    Row("index select backward", "index_select_bwd", lambda m: m.index_select_cat_bwd(torch.zeros(65536, 4096, device="cuda"), torch.randperm(65536, device="cuda")[:32768], single(32768, 4096)), computes=True),
    Row("layer norm without welford", "layer_norm_welfold", lambda m: m.fused_native_layer_norm_no_welford(half(4096), half(4096), half(16384, 4096))),
    Row("log-sum-exp", "logsumexp_fwd", lambda m: m.logsumexp_fwd(single(8192, 16384))),
    Row("cumsum from behind", "reversed_cumsum", lambda m: m.chunk_global_reversed_cumsum_vector(single(4, 32, 4096, 128))),
    Row("rope backward", "rope_backward_transform", rope_gradients, bound=0.05),
    Row("int8 of rows", "rowwise_quantization_triton", lambda m: m.quantize_rowwise(rand(16384, 4096)), bound=0.01),
    Row("rows of int8", "dequantize_rowwise", lambda m: m.dequantize_rowwise(torch.randint(-127, 127, (16384, 4096), device="cuda", dtype=torch.int8), single(16384).abs())),
    Row("product of streams", "streamk_matmul", stream_k),
    Row("copies to a paged cache", "kcache_copy_triton", cache_copy, computes=True),
    Row("penalties", "apply_penalty", penalties, computes=True),
    Row("packed int2 product", "int8_matmul_kernel", packed_int2, bound=0.01),
    Row("cumsum of decays", "decay_cumsum", decay_sums),
    Row("attention of int8 scores", "attn_fwd_triton", int8_scores, bound=0.05),
    Row("softmax of tokens", "token_softmax_llama", token_softmax),
    Row("multinomial sampling", "multinomial_sampling", sampling),
    Row("recurrence of gates over chunks", "chunk_gate_recurrence", gate_recurrence),
    Row("gradient of products of chunks", "bmm_chunk_bwd", lambda m: m._bmm_chunk_bwd(rand(8, 4096, 8, 128), rand(8, 16, 8, 256, 256)), {"_bmm_chunk_bwd_kernel": config(8, 3, BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_CS=64)}),
    Row("l2 norm backward", "l2_norm_bwd", lambda m: m._l2_norm_bwd(half(65536, 1024), half(65536, 1024))),
    Row("scores of windows", "attention_score", windows),
    Row("means of rows", "mean_reduction", lambda m: m.mean_dim(single(16384, 8192), 1)),
    Row("int8 and transposition", "quant_transpose_kernel", lambda m: m.quantize_global_transpose(single(8192, 8192)), bound=0.01, computes=True),
    Row("sum, product and sigmoid", "fused_activation", lambda m: m.fused_add_mul_activation_torch(single(1 << 26), single(4096), single(1 << 26))),
    Row("masked selection", "masked_select", lambda m: m.masked_select(single(1 << 26), torch.rand(1 << 26, device="cuda") < 0.3), computes=True),
    Row("cosines", "cosine_compute", lambda m: m.cos(single(1 << 26))),
    Row("lora shrink, vectors", "bgmv_shrink_kernel", lora_shrink),
    Row("rope of three sections (liger)", LIGER_OPS + "qwen2vl_mrope", mrope, bound=0.05),
    Row("kl divergence of classes (liger)", LIGER_OPS + "kl_div", kl),
    Row("log softmax of the chosen (liger)", LIGER_OPS + "grpo_loss", grpo),
    Row("streams and residuals (liger)", LIGER_OPS + "mhc", hyper_streams),
    Row("sums of streams (liger)", LIGER_OPS + "mhc", hyper_sums),
    Row("jagged to padded (fbgemm)", "fbgemm_gpu.sll.triton_jagged2_to_padded_dense", padded, computes=True),
    Row("mx4 of groups (fbgemm)", "fbgemm_gpu.triton.quantize", lambda m: m.triton_quantize_mx4(single(8192, 8192))),
    Row("attention with bias (flash-attention)", "flash_attn_triton", flash_forward),
    Row("simple rms norm (lightning)", "lightning_srmsnorm", lambda m: m.SimpleRMSNorm(4096)(half(16384, 4096))),
    Row("rows chosen and joined (xformers)", "xformers_cat", lambda m: m.index_select_cat_fwd(torch.empty(32768, 4096, device="cuda"), single(65536, 4096), ints(65536, 32768, dtype=torch.int64))),
    Row("merging of attention (vllm)", "rocm_merge", merged),
    Row("jagged sums", "bench_jagged_sum", jagged_sum, computes=True),
    Row("jagged softmax of columns", "bench_jagged_softmax", jagged_softmax, computes=True),
    Row("fp8 of tokens by groups (ao)", "ao_fp8_training", lambda m: m.triton_fp8_blockwise_act_quant_lhs(half(16384, 4096)), computes=True),
    Row("fp8 of groups of columns (ao)", "ao_fp8_training", lambda m: m.triton_fp8_blockwise_act_quant_rhs(half(16384, 4096)), computes=True),
    Row("fp8 transposed (ao)", "ao_fp8_training", lambda m: m.triton_fp8_blockwise_act_quant_transposed_lhs(half(16384, 4096)), computes=True),
    Row("fp8 of weights (ao)", "ao_fp8_training", lambda m: m.triton_fp8_blockwise_weight_quant_transposed_rhs(half(8192, 8192)), computes=True),
    Row("one row to experts (scattermoe)", "scatter_single", one_to_many, computes=True),
]
