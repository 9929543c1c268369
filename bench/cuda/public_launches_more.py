# SPDX-License-Identifier: Apache-2.0
"""A second table for bench/cuda/public_kernels.py (--table public_launches_more): kernels of other families, on which nothing was tuned."""
import types

import torch

from public_launches import Row, config, ints, rand

FLA = "fla-org/flash-linear-attention"
MAMBA = "state-spaces/mamba"
LIGER = "linkedin/Liger-Kernel"
GEMS = "FlagOpen/FlagGems"
VLLM = "opendatahub-io/vllm"
DEPLOY = "InternLM/lmdeploy"
ENGINE = "NVIDIA/TransformerEngine"
CCE = "apple/ml-cross-entropy"
HSTU = "facebookresearch/generative-recommenders"
BNB = "bitsandbytes-foundation/bitsandbytes"


def files(repository, root, names):
    return {name: (repository, root + name, None) for name in names.split()}


# File in the folder: repository, path there, and the line that its own tests begin with (what follows is left away).
SOURCES = {
    **files(
        FLA,
        "",
        "fla/ops/common/chunk_h.py fla/ops/common/chunk_o.py fla/ops/common/chunk_delta_h.py fla/ops/common/chunk_scaled_dot_kkt.py fla/ops/utils/solve_tril.py fla/ops/utils/cumsum.py fla/ops/utils/op.py "
        "fla/ops/utils/constant.py fla/ops/utils/softplus.py fla/ops/gated_delta_rule/wy_fast.py fla/ops/gated_delta_rule/fused_recurrent.py fla/ops/simple_gla/parallel.py fla/modules/fused_norm_gate.py fla/modules/l2norm.py",
    ),
    **files(
        MAMBA,
        "",
        " ".join(f"mamba_ssm/ops/triton/{n}.py" for n in "ssd_chunk_state ssd_chunk_scan ssd_state_passing selective_state_update layernorm_gated softplus ssd_bmm".split()) + " mamba_ssm/utils/determinism.py",
    ),
    **files(LIGER, "src/", "liger_kernel/utils.py " + " ".join(f"liger_kernel/ops/{n}.py" for n in "utils rms_norm layer_norm group_norm jsd tvd fused_add_rms_norm cross_entropy sparsemax poly_norm softmax dyt".split())),
    **files(
        GEMS,
        "src/",
        " ".join(f"flag_gems/ops/{n}.py" for n in "cumsum argmax softmax groupnorm var_mean index_select upsample_nearest2d max_pool2d_with_indices addmm mv topk sort nllloss".split())
        + " flag_gems/utils/limits.py flag_gems/utils/triton_lang_extension.py",
    ),
    "flag_gems/heuristics.py": (GEMS, "src/flag_gems/runtime/backend/_nvidia/heuristics_config_utils.py", None),
    "vllm_decode.py": (VLLM, "vllm/attention/ops/triton_decode_attention.py", None),
    "vllm_prefix_prefill.py": (VLLM, "vllm/attention/ops/prefix_prefill.py", None),
    "vllm_awq.py": (VLLM, "vllm/model_executor/layers/quantization/awq_triton.py", None),
    "vllm_moe.py": (VLLM, "vllm/model_executor/layers/fused_moe/fused_moe.py", None),
    "vllm/model_executor/layers/quantization/utils/fp8_utils.py": (VLLM, "vllm/model_executor/layers/quantization/utils/fp8_utils.py", None),
    "vllm_scaled_mm.py": (VLLM, "vllm/model_executor/layers/quantization/compressed_tensors/triton_scaled_mm.py", None),
    "lmdeploy/kernels/w8a8_triton_kernels.py": (DEPLOY, "lmdeploy/pytorch/kernels/cuda/w8a8_triton_kernels.py", None),
    **{f"lmdeploy/kernels/{n}.py": (DEPLOY, f"lmdeploy/pytorch/kernels/cuda/{n}.py", None) for n in "awq_kernels apply_rotary_pos_emb activation utils".split()},
    "lmdeploy/default/w8a8_kernels.py": (DEPLOY, "lmdeploy/pytorch/kernels/default/w8a8_kernels.py", None),
    **files(ENGINE, "", "transformer_engine/common/triton/permutation.py transformer_engine/common/triton/cross_entropy.py transformer_engine/pytorch/triton/permutation.py transformer_engine/pytorch/triton/cross_entropy.py"),
    **files(CCE, "", " ".join(f"cut_cross_entropy/{n}.py" for n in "cce_lse_forward indexed_dot tl_autotune tl_utils utils constants".split())),
    **files(HSTU, "", " ".join(f"generative_recommenders/ops/triton/{n}.py" for n in "triton_addmm triton_layer_norm".split())),
    **{f"jagged_{n}.py": ("pytorch/FBGEMM", f"fbgemm_gpu/fbgemm_gpu/sll/triton/triton_jagged_{n}.py", None) for n in ("bmm", "softmax")},
    "scattermoe_ops.py": ("shawntan/scattermoe", "scattermoe/kernels/ops.py", None),
    "lightning_attn2.py": ("OpenNLPLab/lightning-attention", "lightning_attn/ops/triton/lightning_attn2.py", None),
    **files("fla-org/native-sparse-attention", "", "native_sparse_attention/ops/parallel.py native_sparse_attention/ops/utils.py"),
    "deepseek_kernel.py": ("deepseek-ai/DeepSeek-V3", "inference/kernel.py", None),
    "xformers_index_add.py": ("facebookresearch/xformers", "xformers/ops/_triton/k_scaled_index_add.py", None),
    "megablocks_kernels.py": ("stanford-futuredata/megablocks", "megablocks/backend/kernels.py", None),
    "sage_causal.py": ("thu-ml/SageAttention", "sageattention/triton/attn_qk_int8_per_block_causal.py", None),
    "sage_per_thread.py": ("thu-ml/SageAttention", "sageattention/triton/quant_per_thread.py", None),
    **{f"bnb/{n}.py": (BNB, f"bitsandbytes/backends/triton/{n}.py", None) for n in ("kernels_optim", "kernels_8bit_quant")},
    "kernl_attention.py": ("ELS-RD/kernl", "src/kernl/implementations/attention.py", None),
}

FLA_UTILS = """
import contextlib
import torch
IS_INTEL = IS_INTEL_ALCHEMIST = IS_AMD = IS_NPU = IS_NVIDIA_BLACKWELL = IS_TMA_SUPPORTED = False
IS_NVIDIA = IS_NVIDIA_HOPPER = IS_GATHER_SUPPORTED = TRITON_ABOVE_3_4_0 = TRITON_ABOVE_3_5_1 = True
TRITON_ABOVE_3_7_1 = False
autotune_cache_kwargs = {}


def check_shared_mem(arch="none", tensor_idx=0):
    return True


def get_multiprocessor_count(tensor_idx=0):
    return 132


def input_guard(fn=None, **options):
    return fn if fn is not None else input_guard


autocast_custom_fwd = autocast_custom_bwd = contiguous = tensor_cache = input_guard
"""
DISPATCH = "def dispatch(name):\n    return lambda fn: fn\n"
GEMS_RUNTIME = """
import types

import torch
import triton
from flag_gems.heuristics import HEURISTICS_CONFIGS

TUNED = {
    "var_mean": [triton.Config({"BLOCK_M": 1, "BLOCK_N": 1024}, num_warps=4)],
    "upsample_nearest2d": [triton.Config({"BLOCK_SIZE": 1024}, num_warps=4)],
    "addmm": [triton.Config({"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 64}, num_warps=8, num_stages=3)],
    "mv": [triton.Config({"BLOCK_M": 128, "BLOCK_N": 32}, num_warps=4)],
}
device = types.SimpleNamespace(name="cuda")
torch_device_fn = torch.cuda


def get_tuned_config(name):
    return TUNED.get(name, [triton.Config({})])


def get_heuristic_config(name):
    return HEURISTICS_CONFIGS[name]
"""
GEMS_UTILS = """
import triton
import triton.language.extra.libdevice
from flag_gems.utils import triton_lang_extension
tl_extra_shim = triton.language.extra.libdevice


def libentry():
    return lambda fn: fn


def libtuner(configs, key, **options):
    return triton.autotune(configs=configs, key=key)


def broadcastable_to(a, b):
    return True


def get_device_properties(index):
    import torch
    return torch.cuda.get_device_properties(index)


def dim_compress(inp, dims):
    dims = [dims] if isinstance(dims, int) else dims
    order = [i for i in range(inp.ndim) if i not in dims] + sorted(dims, key=lambda d: inp.stride(d), reverse=True)
    return inp.permute(order).contiguous()
"""
VLLM_PLATFORM = """
class Platform:
    def is_rocm(self):
        return False

    def is_cuda(self):
        return True

    def has_device_capability(self, capability):
        return True

    def get_device_capability(self):
        return (9, 0)

    def get_device_name(self):
        return "NVIDIA_H200"

    simple_compile_backend = "inductor"


current_platform = Platform()
"""
# What files import and their kernels do not need.
PACKAGES = (
    "fla fla/ops fla/ops/common fla/ops/gated_delta_rule fla/ops/simple_gla mamba_ssm mamba_ssm/ops mamba_ssm/ops/triton mamba_ssm/utils liger_kernel liger_kernel/ops flag_gems flag_gems/ops "
    "vllm vllm/model_executor vllm/model_executor/layers vllm/model_executor/layers/quantization vllm/model_executor/layers/quantization/utils lmdeploy lmdeploy/kernels lmdeploy/default transformer_engine transformer_engine/common "
    "transformer_engine/common/triton transformer_engine/pytorch transformer_engine/pytorch/triton cut_cross_entropy generative_recommenders generative_recommenders/ops generative_recommenders/ops/triton bnb native_sparse_attention native_sparse_attention/ops"
)
STUBS = {
    **{f"{name}/__init__.py": "" for name in PACKAGES.split()},
    "einops.py": "def rearrange(*words, **sizes):\n    raise NotImplementedError\n\n\nrepeat = rearrange\n",
    "fla/utils.py": FLA_UTILS,
    "fla/ops/backends.py": DISPATCH,
    "fla/ops/common/backends.py": DISPATCH,
    "fla/modules/backends.py": DISPATCH,
    "fla/modules/__init__.py": "",
    "fla/ops/utils/__init__.py": "from fla.ops.utils.index import *\n\nmean_pooling = None\n",
    "fla/ops/utils/index.py": "".join(f"def {name}(*words):\n    raise NotImplementedError\n\n\n" for name in "prepare_chunk_indices prepare_chunk_offsets prepare_lens prepare_token_indices".split()),
    "fla/ops/common/utils.py": "from fla.ops.utils.index import *\n",
    "fla/ops/utils/cache.py": "import triton\n\n\ndef fla_cache_autotune(configs, key, **options):\n    return triton.autotune(configs=configs, key=key)\n",
    "flag_gems/runtime/__init__.py": GEMS_RUNTIME,
    "flag_gems/utils/__init__.py": GEMS_UTILS,
    "flag_gems/utils/triton_lang_helper.py": "def use_tl_extra(fn):\n    return fn\n",
    "vllm/platforms.py": VLLM_PLATFORM,
    "vllm/_custom_ops.py": "",
    "vllm/envs.py": "",
    "vllm/logger.py": "import logging\n\n\ndef init_logger(name):\n    return logging.getLogger(name)\n",
    "vllm/utils.py": "def direct_register_custom_op(*words, **options):\n    pass\n",
    "vllm/model_executor/layers/quantization/utils/quant_utils.py": "_normalize_quant_group_shape = scaled_dequantize = None\n",
    "vllm/model_executor/layers/quantization/utils/w8a8_utils.py": "CUTLASS_BLOCK_FP8_SUPPORTED = CUTLASS_FP8_SUPPORTED = False\napply_fp8_linear = cutlass_block_fp8_supported = cutlass_fp8_supported = None\n",
    "cut_cross_entropy/__init__.py": "",
    "generative_recommenders/common.py": "import triton\n\n\ndef triton_autotune(configs, key, **options):\n    return triton.autotune(configs=configs, key=key)\n\n\ndef triton_cc(*words, **options):\n    return lambda fn: fn\n\n\n"
    "def autotune_max_seq_len(n):\n    return 1\n\n\ndef prev_power_of_2(x):\n    n = triton.next_power_of_2(x)\n    return n // 2 if n > x else n\n\n\ndef switch_to_contiguous_if_needed(x):\n    return x\n",
    "transformer_engine/pytorch/triton/__init__.py": "",
}


def half(*shape):
    return rand(*shape, dtype=torch.bfloat16)


def single(*shape):
    return rand(*shape, dtype=torch.float32)


def decay(*shape):
    return -torch.rand(*shape, device="cuda") * 0.05


def unit(*shape):
    """Rows short enough that sums of their products stay moderate."""
    return (rand(*shape, dtype=torch.float32) * shape[-1] ** -0.5).bfloat16()


def chunk_states(module):
    module.chunk_fwd_h(unit(4, 4096, 16, 128), unit(4, 4096, 16, 128), g=decay(4, 4096, 16), output_final_state=True)


def chunk_outputs(module):
    q, k, v, h = unit(4, 4096, 16, 128), unit(4, 4096, 16, 128), half(4, 4096, 16, 128), half(4, 64, 16, 128, 128)
    module.chunk_fwd_o(q, k, v, h, g=decay(4, 4096, 16))


def delta_states(module):
    k, w, u = unit(2, 4096, 16, 128), unit(2, 4096, 16, 128), unit(2, 4096, 16, 128)
    module.chunk_gated_delta_rule_fwd_h(k, w, u, g=decay(2, 4096, 16), output_final_state=True)


def key_products(module):
    module.chunk_scaled_dot_kkt_fwd(unit(4, 4096, 16, 128), g=decay(4, 4096, 16), beta=torch.rand(4, 4096, 16, device="cuda").bfloat16(), chunk_size=64)


def recomputed(module):
    module.recompute_w_u_fwd(unit(4, 4096, 16, 128), half(4, 4096, 16, 128), torch.rand(4, 4096, 16, device="cuda").bfloat16(), unit(4, 4096, 16, 64), g=decay(4, 4096, 16))


def recurrent_decode(module):
    q, k, v, s = unit(128, 1, 16, 128), unit(128, 1, 16, 128), half(128, 1, 32, 128), single(128, 32, 128, 128)
    module.fused_recurrent_gated_delta_rule_fwd(q, k, v, g=decay(128, 1, 32), beta=torch.rand(128, 1, 32, device="cuda").bfloat16(), scale=0.09, initial_state=s, output_final_state=True)


def mamba_chunk_state(module):
    dt, sums = torch.rand(8, 64, 16, 256, device="cuda") * 0.1, decay(8, 64, 16, 256).cumsum(-1)
    module._chunk_state_fwd(unit(8, 4096, 1, 128), half(8, 4096, 64, 64), dt, sums)


def mamba_chunk_scan(module):
    dt, sums = torch.rand(4, 64, 16, 256, device="cuda") * 0.1, decay(4, 64, 16, 256).cumsum(-1)
    module._chunk_scan_fwd(half(4, 16, 1, 256, 256), half(4, 4096, 64, 64), dt, sums, unit(4, 4096, 1, 128), half(4, 16, 64, 64, 128), D=single(64))


def mamba_update(module):
    heads, dim, states = 64, 64, 128
    a = -torch.rand(heads, device="cuda")[:, None, None].expand(heads, dim, states)
    dt = half(256, heads)[:, :, None].expand(256, heads, dim)
    bias = single(heads)[:, None].expand(heads, dim)
    module.selective_state_update(half(256, heads, dim, states), half(256, heads, dim), dt, a, half(256, 1, states), half(256, 1, states), D=single(heads)[:, None].expand(heads, dim), dt_bias=bias, dt_softplus=True)


def mamba_state_passing(module):
    module._state_passing_fwd(single(8, 16, 64, 8192), decay(8, 64, 16))


def mamba_gated_norm(module):
    module._layer_norm_fwd(half(16384, 4096), half(4096), None, 1e-5, z=half(16384, 4096), group_size=512, norm_before_gate=False, is_rms_norm=True)


def liger_rms_backward(module):
    module.rms_norm_backward(half(16384, 4096), half(16384, 4096), half(4096), torch.rand(16384, device="cuda"), 0.0, 0, 4096, 8, True, None)


def liger_layer_backward(module):
    module.layer_norm_backward(half(16384, 4096), half(16384, 4096), half(4096), half(4096), single(16384), torch.rand(16384, device="cuda"))


def liger_group_norm(module):
    module.group_norm_forward(single(32, 512, 64 * 64).reshape(32, 512, 4096), 512, 32, single(512), single(512), 1e-5)


def liger_jsd(module):
    module.jsd_forward(torch.log_softmax(single(4096, 32000), -1), torch.log_softmax(single(4096, 32000), -1), None, 0.5, -100, False)


def liger_tvd(module):
    module.tv_distance_forward_triton(torch.softmax(single(4096, 32000), -1), torch.softmax(single(4096, 32000), -1), None, "batchmean", -100, False)


def liger_fused_add(module):
    module.fused_add_rms_norm_forward(half(16384, 4096), half(16384, 4096), half(4096), 1e-6, 0.0, "llama")


def liger_cross_entropy(module):
    module.cross_entropy_forward(half(4096, 128256).requires_grad_(True), ints(128256, 4096, dtype=torch.int64), None, -100, 0.0, 0.0, "mean", None, False)


def liger_sparsemax(module):
    module._sparsemax_forward(single(8192, 4096), -1)


def liger_poly_norm(module):
    module.poly_norm_forward(half(16384, 4096), half(3), half(1))


def gems_index_select(module):
    module.index_select(single(4096, 8192), 1, ints(8192, 4096, dtype=torch.int64))


def decode_grouped(module):
    batch, heads, kv, width, length, splits = 64, 32, 4, 128, 4096, 8
    pages = torch.randperm(batch * length, device="cuda", dtype=torch.int32).reshape(batch, length)
    q, k, v = half(batch, heads, width), half(batch * length, kv, width), half(batch * length, kv, width)
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
    module._decode_grouped_att_m_fwd(q, k, v, torch.empty(batch, heads, splits, width + 1, device="cuda"), pages, lengths, splits, width**-0.5, 1, 0.0)


def decode_plain(module):
    batch, heads, width, length, splits = 32, 32, 128, 2048, 8
    pages = torch.randperm(batch * length, device="cuda", dtype=torch.int32).reshape(batch, length)
    q, k, v = half(batch, heads, width), half(batch * length, heads, width), half(batch * length, heads, width)
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
    module._decode_att_m_fwd(q, k, v, torch.empty(batch, heads, splits, width + 1, device="cuda"), pages, lengths, splits, width**-0.5, 1, 0.0)


def prefix_prefill(module):
    batch, heads, kv, width, context, fresh, block = 4, 32, 8, 128, 1024, 1024, 16
    blocks = batch * context // block
    cache_k, cache_v = half(blocks, kv, width // 8, block, 8), half(blocks, kv, width, block)
    table = torch.randperm(blocks, device="cuda", dtype=torch.int32).reshape(batch, -1)
    starts = torch.arange(batch + 1, device="cuda", dtype=torch.int32) * fresh
    lengths = torch.full((batch,), context + fresh, device="cuda", dtype=torch.int32)
    q, k, v = half(batch * fresh, heads, width), half(batch * fresh, kv, width), half(batch * fresh, kv, width)
    one = torch.ones(1, device="cuda")
    module.context_attention_fwd(q, k, v, torch.empty_like(q), "auto", cache_k, cache_v, table, starts, lengths, torch.full_like(lengths, context), fresh, one, one)


def fp8(*shape):
    return rand(*shape, dtype=torch.float32).to(torch.float8_e4m3fn)


def block_fp8(module):
    module.w8a8_block_fp8_matmul(fp8(4096, 4096), fp8(4096, 4096), torch.rand(4096, 32, device="cuda"), torch.rand(32, 32, device="cuda"), [128, 128], torch.bfloat16)


def vllm_moe(tokens, block, warps, stages):
    def call(module):
        experts, chosen, inner, outer = 64, 6, 2048, 2816
        x, w = half(tokens, inner), half(experts, outer, inner)
        ids = ints(experts, tokens, chosen, dtype=torch.int64)
        order = torch.argsort(ids.flatten(), stable=True).to(torch.int32)
        counts = torch.bincount(ids.flatten(), minlength=experts)
        padded = -(-counts // block["BLOCK_SIZE_M"]) * block["BLOCK_SIZE_M"]
        starts, firsts = padded.cumsum(0) - padded, counts.cumsum(0) - counts
        places = torch.full((int(padded.sum()),), tokens * chosen, dtype=torch.int32, device="cuda")
        mine = ids.flatten()[order.long()]
        places[starts[mine] + torch.arange(order.numel(), device="cuda") - firsts[mine]] = order
        owners = torch.repeat_interleave(torch.arange(experts, device="cuda", dtype=torch.int32), padded // block["BLOCK_SIZE_M"])
        count = torch.tensor([places.numel()], dtype=torch.int32, device="cuda")
        out = torch.zeros(tokens, chosen, outer, device="cuda", dtype=torch.bfloat16)
        import triton.language as tl

        launch = {**block, "num_warps": warps, "num_stages": stages}
        module.invoke_fused_moe_kernel(x, w, out, None, None, None, torch.rand(tokens, chosen, device="cuda"), ids, places, owners, count, False, chosen, launch, tl.bfloat16, False, False, False)

    return call


def awq(rows):
    return torch.randint(-(2**31), 2**31 - 1, (4096, 512), device="cuda", dtype=torch.int32), rand(32, 4096) * 0.01, torch.randint(-(2**31), 2**31 - 1, (32, 512), device="cuda", dtype=torch.int32)


def awq_product(module):
    weights, scales, zeros = awq(16)
    module.awq_gemm_triton(rand(16, 4096), weights, scales, zeros, 8)


def awq_unpack(module):
    weights, scales, zeros = awq(16)
    module.awq_dequantize_triton(weights, scales, zeros)


def awq_linear(module):
    weights, scales, zeros = awq(16)
    module.awq_linear(rand(64, 4096), weights, scales, zeros)


def scaled_mm(module):
    a, b = (torch.randint(-128, 128, (4096, 4096), dtype=torch.int8, device="cuda") for _ in range(2))
    module.triton_scaled_mm(a, b.t(), torch.rand(4096, 1, device="cuda"), torch.rand(4096, 1, device="cuda"), torch.bfloat16)


def rotary(module):
    module.apply_rotary_pos_emb(half(16384, 32, 128), half(16384, 8, 128), half(16384, 128), half(16384, 128))


def engine_permute(module):
    tokens, experts, chosen, hidden = 8192, 32, 4, 2048
    routes = torch.zeros(tokens, experts, device="cuda", dtype=torch.bool)
    routes.scatter_(1, torch.rand(tokens, experts, device="cuda").topk(chosen).indices, True)
    rows = (routes.int().cumsum(0) - 1) + (routes.sum(0).cumsum(0) - routes.sum(0))[None]
    places = torch.full((tokens, experts * 2 + 1), -1, dtype=torch.int32, device="cuda")
    which = routes.nonzero()[:, 1].reshape(tokens, chosen)
    places[:, :chosen] = rows.gather(1, which).int()
    places[:, experts : experts + chosen] = which.int()
    places[:, -1] = chosen
    module.permute_with_mask_map(half(tokens, hidden), places, single(tokens, experts), None, None, tokens, experts, tokens * chosen, hidden, 0)


def engine_cross_entropy(module):
    module.cross_entropy_forward(half(2, 2048, 128256), ints(128256, 2, 2048, dtype=torch.int64), 0.0, False, None, -100)


def jagged_product(module):
    offsets = torch.arange(129, device="cuda", dtype=torch.int64) * 512
    module.triton_jagged_dense_bmm(rand(128 * 512, 256), rand(128, 256, 256), offsets, 512, True)


def jagged_softmax(module):
    offsets = torch.arange(257, device="cuda", dtype=torch.int64) * 512
    module.jagged_softmax_(single(256 * 512, 64), offsets, 512)


def scatter_moe(module):
    experts, order = torch.sort(ints(32, 8192 * 2, dtype=torch.int64))
    module.scatter2scatter(half(8192, 2048), unit(32, 2048, 1408), experts, order, 2)


def lightning(module):
    q, k, v = (unit(2, 16, 8192, 128) for _ in range(3))
    module.LightningAttention2.apply(q, k, v, torch.rand(16, device="cuda"))


def sparse_attention(module):
    q, k, v = half(2, 4096, 64, 128), half(2, 4096, 4, 128), half(2, 4096, 4, 128)
    blocks = torch.rand(2, 4096, 4, 64, device="cuda").topk(16, -1).indices
    blocks = torch.minimum(blocks, (torch.arange(4096, device="cuda") // 64)[None, :, None, None])
    module.parallel_nsa_fwd(q, k, v, blocks, 16, 64, 128**-0.5)


def fp8_product(module):
    torch.set_default_dtype(torch.bfloat16)
    module.fp8_gemm(fp8(1024, 4096), torch.rand(1024, 32, device="cuda").float(), fp8(4096, 4096), torch.rand(32, 32, device="cuda").float())
    torch.set_default_dtype(torch.float32)


def index_add(module):
    module.scaled_index_add_fwd(half(256, 1024, 1024), torch.randperm(256, device="cuda")[:192], half(192, 1024, 1024), half(1024), 0.5)


def padded_gather(module):
    tokens, experts = 16384, 16
    ids, order = torch.sort(ints(experts, tokens * 2))
    bins = torch.bincount(ids, minlength=experts).cumsum(0)
    padded = (-(-torch.bincount(ids, minlength=experts) // 128) * 128).cumsum(0)
    module.padded_gather(half(tokens, 2048), order.int(), ids, None, bins.int(), padded.int(), 2)


def sage_causal(module):
    q, k = (torch.randint(-100, 100, (4, 32, 4096, 64), dtype=torch.int8, device="cuda") for _ in range(2))
    scales = [torch.rand(4, 32, 4096 // block, 1, device="cuda") * 0.01 for block in (128, 64)]
    module.forward(q, k, rand(4, 32, 4096, 64), *scales, return_lse=True)


def adam_8bit(module):
    n = 1 << 25
    codes = torch.linspace(-1, 1, 256, device="cuda")
    states = [torch.randint(0, 256, (n,), dtype=torch.uint8, device="cuda") for _ in range(2)]
    scales = [torch.rand(n // 256, device="cuda") for _ in range(2)]
    module.optimizer_update_8bit_blockwise_impl("adam", single(n), single(n), *states, 0.9, 0.999, 0.0, 0.0, 1e-8, 3, 1e-3, codes, codes.abs().sort().values, *scales)


def quantise_8bit(module):
    module.quantize_blockwise_triton(single(1 << 24), torch.linspace(-1, 1, 256, device="cuda"), 256)


def kernl_attention(module):
    q, k, v = (rand(8, 16, 1024, 64) for _ in range(3))
    launch = module.Attention.forward
    context = types.SimpleNamespace()
    getattr(launch, "__wrapped__", launch)(context, q, k, v, torch.empty_like(q), 0.125, False, rand(1, 1, 1, 1024))


def lightning_reference(given):
    """Each position takes the values before it, weighted by its products with their keys, which decay."""
    q, k, v, rates = (given[n].float() for n in ("Q", "K", "V", "S"))
    away = torch.arange(q.shape[2], device=q.device)
    away = (away[:, None] - away[None, :]).float()
    out = torch.empty_like(given["Out"])
    for batch in range(q.shape[0]):
        for head in range(q.shape[1]):
            weights = torch.exp(-rates[head] * away).masked_fill(away < 0, 0.0)
            out[batch, head] = ((q[batch, head] @ k[batch, head].T * weights) @ v[batch, head]).to(out.dtype)
    return {"Out": out}


def chunk_state_reference(given):
    x, b, dt, sums = (given[n].float() for n in ("x_ptr", "b_ptr", "dt_ptr", "dA_cumsum_ptr"))
    batch, length, heads, width = x.shape
    chunks = dt.shape[2]
    scale = torch.exp(sums[..., -1:] - sums) * dt  # batch, head, chunk, position
    x, b = x.reshape(batch, chunks, -1, heads, width), b.reshape(batch, chunks, -1, b.shape[-1])
    states = torch.empty_like(given["states_ptr"])
    for head in range(heads):
        scaled = (b * scale[:, head, :, :, None]).to(given["x_ptr"].dtype).float()
        states[:, :, head] = torch.einsum("bclp,bcln->bcpn", x[:, :, :, head], scaled)
    return {"states_ptr": states}


def tiles(warps, stages, **constants):
    return config(warps, stages, **constants)


HSTU_OPS = "generative_recommenders.ops.triton."
COMMON, TRITON_OPS, LIGER_OPS, GEMS_OPS = "fla.ops.common.", "mamba_ssm.ops.triton.", "liger_kernel.ops.", "flag_gems.ops."
ROWS = [
    Row("states of chunks (fla)", COMMON + "chunk_h", chunk_states, {"chunk_fwd_kernel_h": tiles(4, 3, BK=64, BV=64)}),
    Row("outputs of chunks (fla)", COMMON + "chunk_o", chunk_outputs),
    Row("states of the gated delta rule (fla)", COMMON + "chunk_delta_h", delta_states, {"chunk_gated_delta_rule_fwd_kernel_h_blockdim64": tiles(4, 2, BV=32)}),
    Row("products of keys (fla)", COMMON + "chunk_scaled_dot_kkt", key_products, {"chunk_scaled_dot_kkt_fwd_kernel": tiles(4, 3, BK=64)}),
    Row("inverses of triangles of 64 (fla)", "fla.ops.utils.solve_tril", lambda m: m.solve_tril(torch.tril(unit(4, 4096, 16, 64).float(), -1) * 0.1), {"merge_16x16_to_64x64_inverse_kernel": tiles(4, 3, DOT_PRECISION="ieee")}),
    Row("w and u of the delta rule (fla)", "fla.ops.gated_delta_rule.wy_fast", recomputed, {"recompute_w_u_fwd_kernel": tiles(4, 3)}),
    Row("gated delta rule, decode (fla)", "fla.ops.gated_delta_rule.fused_recurrent", recurrent_decode),
    Row("cumsum of chunks of vectors (fla)", "fla.ops.utils.cumsum", lambda m: m.chunk_local_cumsum_vector(single(4, 4096, 16, 128), 64), {"chunk_local_cumsum_vector_kernel": tiles(4, 3, BS=32)}),
    Row("parallel retention (fla)", "fla.ops.simple_gla.parallel", lambda m: m.parallel_simple_gla_fwd(unit(4, 2048, 16, 128), unit(4, 2048, 16, 128), half(4, 2048, 16, 128), None, 1.0), {"parallel_simple_gla_fwd_kernel": tiles(4, 3)}),
    Row("gated norm (fla)", "fla.modules.fused_norm_gate", lambda m: m.layer_norm_gated_fwd(half(131072, 128), half(131072, 128), half(128), None, is_rms_norm=True), {"layer_norm_gated_fwd_kernel": tiles(4, 3, BT=32)}),
    Row("l2 norm of heads (fla)", "fla.modules.l2norm", lambda m: m.l2norm_fwd(half(262144, 128)), {"l2norm_fwd_kernel": tiles(4, 3, BT=32)}),
    Row("chunk state (mamba)", TRITON_OPS + "ssd_chunk_state", mamba_chunk_state, {"_chunk_state_fwd_kernel": tiles(4, 4, BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=32)}, bound=0.02, reference=chunk_state_reference),
    Row("chunk scan (mamba)", TRITON_OPS + "ssd_chunk_scan", mamba_chunk_scan, {"_chunk_scan_fwd_kernel": tiles(4, 4, BLOCK_SIZE_M=128, BLOCK_SIZE_N=64, BLOCK_SIZE_K=32)}),
    Row("state passing (mamba)", TRITON_OPS + "ssd_state_passing", mamba_state_passing, {"_state_passing_fwd_kernel": tiles(4, 3, BLOCK_SIZE=512)}),
    Row("selective state update (mamba)", TRITON_OPS + "selective_state_update", mamba_update),
    Row("gated norm of groups (mamba)", TRITON_OPS + "layernorm_gated", mamba_gated_norm),
    Row("rms norm backward (liger)", LIGER_OPS + "rms_norm", liger_rms_backward),
    Row("layer norm backward (liger)", LIGER_OPS + "layer_norm", liger_layer_backward),
    Row("group norm (liger)", LIGER_OPS + "group_norm", liger_group_norm),
    Row("jsd (liger)", LIGER_OPS + "jsd", liger_jsd),
    Row("total variation (liger)", LIGER_OPS + "tvd", liger_tvd),
    Row("sum and rms norm (liger)", LIGER_OPS + "fused_add_rms_norm", liger_fused_add),
    Row("cross entropy (liger)", LIGER_OPS + "cross_entropy", liger_cross_entropy, computes=True),
    Row("sparsemax (liger)", LIGER_OPS + "sparsemax", liger_sparsemax),
    Row("poly norm (liger)", LIGER_OPS + "poly_norm", liger_poly_norm, bound=0.02),
    Row("cumsum of rows (flaggems)", GEMS_OPS + "cumsum", lambda m: m.cumsum_wrapper(single(4096, 8192), 1)),
    Row("cumsum of columns (flaggems)", GEMS_OPS + "cumsum", lambda m: m.cumsum_wrapper(single(64, 1024, 512), 1)),
    Row("argmax of rows (flaggems)", GEMS_OPS + "argmax", lambda m: m.argmax(single(8192, 8192), 1)),
    Row("softmax of columns (flaggems)", GEMS_OPS + "softmax", lambda m: m.softmax(single(64, 1024, 512), 1)),
    Row("group norm (flaggems)", GEMS_OPS + "groupnorm", lambda m: m.group_norm(rand(32, 512, 32, 32), rand(512), rand(512), 32, 512, 1024, 32)),
    Row("variance and mean (flaggems)", GEMS_OPS + "var_mean", lambda m: m.var_mean(single(16384, 4096), [1])),
    Row("index select (flaggems)", GEMS_OPS + "index_select", gems_index_select),
    Row("nearest upsampling (flaggems)", GEMS_OPS + "upsample_nearest2d", lambda m: m.upsample_nearest2d(rand(16, 64, 128, 128), (256, 256), None, None)),
    Row("max pool with indices (flaggems)", GEMS_OPS + "max_pool2d_with_indices", lambda m: m.max_pool2d_with_indices(rand(32, 64, 112, 112), 3, 2, 1)),
    Row("addmm (flaggems)", GEMS_OPS + "addmm", lambda m: m.addmm(rand(4096), rand(4096, 4096), rand(4096, 4096))),
    Row("matrix by vector (flaggems)", GEMS_OPS + "mv", lambda m: m.mv(rand(8192, 8192), rand(8192))),
    Row("topk, first stage (flaggems)", GEMS_OPS + "topk", lambda m: m.topk(single(1024, 32768), 32)),
    Row("histogram of radix sort (flaggems)", GEMS_OPS + "sort", lambda m: m.radix_sort(single(64, 262144)), computes=True),
    Row("grouped decode (vllm)", "vllm_decode", decode_grouped, bound=0.02),
    Row("plain decode (vllm)", "vllm_decode", decode_plain, bound=0.05),
    Row("prefill behind a prefix (vllm)", "vllm_prefix_prefill", prefix_prefill),
    Row("awq product, split (vllm)", "vllm_awq", awq_product, bound=0.02),
    Row("awq dequantisation (vllm)", "vllm_awq", awq_unpack),
    Row("fp8 product by blocks (vllm)", "vllm.model_executor.layers.quantization.utils.fp8_utils", block_fp8),
    Row("fp8 of groups (vllm)", "vllm.model_executor.layers.quantization.utils.fp8_utils", lambda m: m.per_token_group_quant_fp8(half(16384, 4096), 128)),
    Row("scaled int8 product (vllm)", "vllm_scaled_mm", scaled_mm),
    Row("moe of 64 experts, prefill (vllm)", "vllm_moe", vllm_moe(8192, dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8), 4, 3), computes=True),
    Row("moe of 64 experts, decode (vllm)", "vllm_moe", vllm_moe(64, dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=64, BLOCK_SIZE_K=128, GROUP_SIZE_M=1), 4, 3), computes=True),
    Row("awq product (lmdeploy)", "lmdeploy.kernels.awq_kernels", awq_linear),
    Row("int8 of tokens (lmdeploy)", "lmdeploy.kernels.w8a8_triton_kernels", lambda m: m.per_token_quant_int8(rand(16384, 4096), 1e-7)),
    Row("rms norm to int8 (lmdeploy)", "lmdeploy.kernels.w8a8_triton_kernels", lambda m: m.rms_norm_dynamic_quant(rand(16384, 4096), rand(4096), 1e-6), bound=1e-4),
    Row("rotary of q and k (lmdeploy)", "lmdeploy.kernels.apply_rotary_pos_emb", rotary),
    Row("silu and product (lmdeploy)", "lmdeploy.kernels.activation", lambda m: m.silu_and_mul(half(8192, 28672))),
    Row("permutation of tokens (transformer engine)", "transformer_engine.pytorch.triton.permutation", engine_permute, computes=True),
    Row("cross entropy (transformer engine)", "transformer_engine.pytorch.triton.cross_entropy", engine_cross_entropy, take=1),
    Row("linear and log-sum-exp (apple)", "cut_cross_entropy.cce_lse_forward", lambda m: m.cce_lse_forward_kernel(half(4096, 2048), unit(32000, 2048)), bound=0.02),
    Row("indexed dot (apple)", "cut_cross_entropy.indexed_dot", lambda m: m.indexed_neg_dot_forward_kernel(half(16384, 4096), unit(32000, 4096), ints(32000, 16384, dtype=torch.int64)), bound=0.02),
    Row("addmm (hstu)", HSTU_OPS + "triton_addmm", lambda m: m.triton_addmm_fwd(half(8192, 2048), half(2048, 2048), half(2048)), {"_addmm_fwd": tiles(4, 4, BLOCK_M=128, BLOCK_N=128, BLOCK_K=32, GROUP_M=8)}),
    Row("weighted layer norm (hstu)", HSTU_OPS + "triton_layer_norm", lambda m: m.triton_weighted_layer_norm_fwd(half(65536, 512), half(512), half(512), 1e-6)),
    Row("jagged product (fbgemm)", "jagged_bmm", jagged_product),
    Row("jagged softmax (fbgemm)", "jagged_softmax", jagged_softmax),
    Row("scattered moe", "scattermoe_ops", scatter_moe, computes=True),
    Row("lightning attention 2", "lightning_attn2", lightning, reference=lightning_reference),
    Row("native sparse attention", "native_sparse_attention.ops.parallel", sparse_attention, {"parallel_nsa_fwd_kernel": tiles(2, 3)}),
    Row("fp8 quantisation (deepseek)", "deepseek_kernel", lambda m: m.act_quant(half(16384, 4096))),
    Row("fp8 dequantisation (deepseek)", "deepseek_kernel", lambda m: m.weight_dequant(fp8(8192, 8192), torch.rand(64, 64, device="cuda"))),
    Row("fp8 product (deepseek)", "deepseek_kernel", fp8_product, {"fp8_gemm_kernel": tiles(8, 4, BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128)}),
    Row("scaled index add (xformers)", "xformers_index_add", index_add),
    Row("padded gather (megablocks)", "megablocks_kernels", padded_gather, {"_padded_copy": tiles(2, 3, BLOCK_X=256)}, computes=True),
    Row("causal int8 attention (sage)", "sage_causal", sage_causal, bound=0.02),
    Row("int8 by threads (sage)", "sage_per_thread", lambda m: m.per_thread_int8(half(4, 32, 4096, 128), half(4, 32, 4096, 128)), take=1),
    Row("adam of 8 bits (bitsandbytes)", "bnb.kernels_optim", adam_8bit, bound=1e-4),
    Row("8 bits by blocks (bitsandbytes)", "bnb.kernels_8bit_quant", quantise_8bit),
    Row("masked attention (kernl)", "kernl_attention", kernl_attention),
]
