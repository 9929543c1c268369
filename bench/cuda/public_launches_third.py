# SPDX-License-Identifier: Apache-2.0
"""A third table for bench/cuda/public_kernels.py (--table public_launches_third): files of which the first two have none."""
import torch

from public_launches import Row, config, ints, rand
from public_launches_more import ENGINE, FLA, GEMS, LIGER, MAMBA, decay, files, half, single, tiles, unit
from public_launches_more import STUBS as STUBS_OF_MORE

LIGHT, AO, BENCH, APPLIED, UNSLOTH, DEPLOY, FLASH = (
    "ModelTC/lightllm pytorch/ao pytorch-labs/tritonbench pytorch-labs/applied-ai unslothai/unsloth InternLM/lmdeploy Dao-AILab/flash-attention".split()
)
TRITON, XFORMERS, VLLM = "openai/triton facebookresearch/xformers opendatahub-io/vllm".split()


def renamed(repository, root, prefix, names):
    """Files of a folder beside each other: PREFIX_NAME.py."""
    return {f"{prefix}_{name.rsplit('/', 1)[-1]}.py": (repository, f"{root}{name}.py", None) for name in names.split()}


# File in the folder: repository, path there, and the line that its own tests begin with (what follows is left away).
SOURCES = {
    **files(UNSLOTH, "", " ".join(f"unsloth/kernels/{n}.py" for n in "geglu layernorm rope_embedding".split())),
    **renamed(APPLIED, "kernels/triton/", "applied", "inference/gptq/splitk_dequant_gemm inference/fp8/scaled_fp8_gemm training/rms_norm/fused_rms_norm inference/mamba/causal_1d_conv/causal_1d_conv/causal_1d_conv"),
    **renamed(BENCH, "tritonbench/operators/", "bench", "gather_gemv/triton_gather_gemv template_attention/triton_attention gemm/partition_k int4_gemm/kernel"),
    "bench_sum.py": (BENCH, "tritonbench/operators/sum/kernels.py", None),
    "bench_jagged_mean.py": (BENCH, "tritonbench/operators/jagged_mean/kernels.py", None),
    "bench_int16.py": (BENCH, "tritonbench/operators/bf16xint16_gemm/kernel.py", None),
    **renamed(LIGHT, "lightllm/", "light", "common/basemodel/triton_kernel/quantize_gemm_int8 common/fused_moe/softmax_topk models/gemma_2b/triton_kernel/gelu_and_mul models/bloom/triton_kernel/layernorm"),
    "light/moe_sum_reduce.py": (LIGHT, "lightllm/common/fused_moe/moe_sum_reduce.py", None),
    "light_mla_prefill.py": (LIGHT, "lightllm/models/deepseek2/triton_kernel/context_flashattention_nopad.py", None),
    "light_mla_decode.py": (LIGHT, "lightllm/models/deepseek2/triton_kernel/gqa_flash_decoding_stage1.py", None),
    "light_gqa_decode.py": (LIGHT, "lightllm/models/llama/triton_kernel/gqa_flash_decoding_stage1.py", None),
    "light_window.py": (LIGHT, "lightllm/models/mistral/triton_kernel/context_flashattention_nopad.py", None),
    "ao_int8.py": (AO, "torchao/prototype/quantized_training/int8_mm.py", None),
    "ao_rowwise.py": (AO, "torchao/prototype/moe_training/kernels/float8_rowwise.py", None),
    **files(GEMS, "src/", " ".join(f"flag_gems/ops/{n}.py" for n in "amax bmm layernorm rms_norm batch_norm conv2d vector_norm weightnorm embedding avg_pool2d triu".split()) + " flag_gems/utils/limits.py flag_gems/utils/triton_lang_extension.py"),
    "flag_gems/heuristics.py": (GEMS, "src/flag_gems/runtime/backend/_nvidia/heuristics_config_utils.py", None),
    **files(FLA, "", "fla/modules/rotary.py fla/modules/token_shift.py fla/ops/hgrn/chunk.py fla/ops/attn/parallel.py fla/ops/common/fused_recurrent.py fla/ops/gla/chunk.py fla/ops/utils/softmax.py fla/ops/utils/op.py fla/ops/utils/constant.py fla/ops/utils/cumsum.py fla/ops/utils/softplus.py fla/ops/common/chunk_h.py"),
    **files(MAMBA, "", "mamba_ssm/ops/triton/k_activations.py mamba_ssm/ops/triton/layer_norm.py mamba_ssm/ops/triton/ssd_chunk_scan.py mamba_ssm/ops/triton/ssd_chunk_state.py mamba_ssm/ops/triton/ssd_bmm.py mamba_ssm/ops/triton/softplus.py mamba_ssm/utils/determinism.py"),
    **files(LIGER, "src/", "liger_kernel/utils.py " + " ".join(f"liger_kernel/ops/{n}.py" for n in "utils rope geglu swiglu relu_squared".split())),
    "flash_cross_entropy.py": (FLASH, "flash_attn/ops/triton/cross_entropy.py", None),
    **{f"lmdeploy/kernels/{n}.py": (DEPLOY, f"lmdeploy/pytorch/kernels/cuda/{n}.py", None) for n in "rms_norm blocked_gemm_fp8 flashattention utils".split()},
    "xformers_tiled.py": (XFORMERS, "xformers/ops/_triton/tiled_matmul_kernels.py", None),
    "tutorial_softmax.py": (TRITON, "python/tutorials/02-fused-softmax.py", "device = "),
}
UNSLOTH_UTILS = """
import contextlib

import torch
import triton
from triton.language.extra.libdevice import tanh as triton_tanh


def torch_gpu_device(device):
    return contextlib.nullcontext()


torch_device_stream = None


def calculate_settings(n):
    size = triton.next_power_of_2(n)
    return size, 32 if size >= 32768 else 16 if size >= 8192 else 8 if size >= 2048 else 4
"""
LOGGER = "import logging\n\n\ndef get_logger(name):\n    return logging.getLogger(name)\n"
# Of the many that the project tries.
TUNED = """
TUNED.update(
    amax=[triton.Config({"BLOCK_M": 4, "BLOCK_N": 1024}, num_warps=4)],
    bmm=[triton.Config({"TILE_M": 128, "TILE_N": 128, "TILE_K": 32, "GROUP_M": 2}, num_warps=4, num_stages=3)],
    conv2d_forward=[triton.Config({"BLOCK_NI_HO_WO": 128, "BLOCK_CO": 64, "BLOCK_CI": 32}, num_warps=4, num_stages=3)],
    vector_norm=[triton.Config({"BLOCK_M": 4, "BLOCK_N": 1024}, num_warps=4)],
    weight_norm_kernel_first=[triton.Config({"BLOCK_ROW_SIZE": 2, "BLOCK_COL_SIZE": 1024}, num_warps=8)],
    weight_norm_kernel_last=[triton.Config({"BLOCK_ROW_SIZE": 1024, "BLOCK_COL_SIZE": 2}, num_warps=8)],
    triu=[triton.Config({"M_BLOCK_SIZE": 1, "N_BLOCK_SIZE": 2048}, num_warps=4)],
)
"""
STUBS = {
    **STUBS_OF_MORE,
    **{f"{name}/__init__.py": "" for name in "unsloth unsloth/kernels unsloth_zoo lightllm lightllm/utils light lmdeploy flash_attn flash_attn/utils fla/modules fla/ops/attn fla/ops/gla fla/ops/hgrn tritonbench tritonbench/utils".split()},
    "unsloth/kernels/utils.py": UNSLOTH_UTILS,
    "unsloth/device_type.py": "DEVICE_COUNT = 1\n",
    "unsloth_zoo/patching_utils.py": "patch_layernorm = None\n",
    "lightllm/utils/device_utils.py": "def is_tesla():\n    return False\n\n\ndef calcu_kernel_best_vsm_count(kernel, num_warps):\n    return 132\n",
    "light/moe_sum_recude_config.py": "MoeSumReduceKernelConfig = None\n",
    "moe_sum_recude_config.py": "MoeSumReduceKernelConfig = None\n",
    "lmdeploy/utils.py": LOGGER,
    "flash_attn/utils/torch.py": "def custom_fwd(fn):\n    return fn\n\n\ncustom_bwd = custom_fwd\n",
    "flash_attn/utils/library.py": "def triton_op(*words, **options):\n    return lambda fn: fn\n",
    "mamba_ssm/utils/torch.py": "def custom_fwd(fn):\n    return fn\n\n\ncustom_bwd = custom_fwd\n",
    "tritonbench/utils/env_utils.py": "def is_cuda():\n    return True\n",
    "fla/ops/backends/__init__.py": "def dispatch(name):\n    return lambda fn: fn\n",
    "einops.py": STUBS_OF_MORE["einops.py"] + "reduce = rearrange\n",
    "flag_gems/utils/__init__.py": "import triton.language.extra.libdevice\n" + STUBS_OF_MORE["flag_gems/utils/__init__.py"],
    "flag_gems/runtime/__init__.py": STUBS_OF_MORE["flag_gems/runtime/__init__.py"] + TUNED,
}
del STUBS["fla/ops/backends.py"]


def fp8(*shape):
    return rand(*shape, dtype=torch.float32).clamp(-8, 8).to(torch.float8_e4m3fn)


def splitk_gptq(module):
    m, n, k = 16, 4096, 4096
    a, c, scales = unit(m, k).half(), torch.zeros(m, n, device="cuda", dtype=torch.float16), rand(k // 128, n) * 0.01
    b, zeros = ints(2**31 - 1, k // 8, n), ints(2**31 - 1, k // 128, n // 8)
    module.matmul_split_k_kernel[(1 * n // 32, 4)](a, b, c, scales, zeros, k, 1, n, 1, n, 1, n, 1, n // 8, 1, 128, m, n, k, 16, 32, 128, 8, 4, num_stages=3, num_warps=4)


def scaled_fp8(module):
    m, n, k = 64, 4096, 4096
    a, b, c = fp8(m, k), fp8(n, k), torch.zeros(m, n, device="cuda", dtype=torch.float16)
    module.scaled_gemm_splitk[(m // 64 * n // 64, 4)](a, b, c, k, 1, 1, k, n, 1, 0.01, 0.01, m, n, k, 64, 64, 256, 4, 8, num_stages=3, num_warps=8)


def causal_convolution(module):
    x = half(4, 4096, 4096).transpose(1, 2)
    module.causal_conv1d_fwd(x, half(4096, 4), half(4096), activation="silu")


def gathered_gemv(module):
    size = 4096
    w, chosen, x = torch.randint(-127, 127, (8, size, size), device="cuda", dtype=torch.int8), ints(8, 2, dtype=torch.int64), half(size)
    module.triton_red_fused_mv_0[lambda words: (-(-2 * size // words["XBLOCK"]),)](chosen, w, x, half(2 * size), 2 * size, size)


def template_attention(module):
    q, k, v = (rand(16, 16, 4096, 64) for _ in range(3))
    module.triton_tem_fused_with_exp2[lambda words: (4096 // words["BLOCK_M"], 256, 1)](q, k, v, torch.empty_like(q), 4096)


def sums_of_rows(module):
    x, out = single(8192, 4096), single(8192)
    module.triton_sum_kernel_1D_result_sum_then_buffer[lambda words: (8192 // words["BLOCK_SIZE_NON_REDUCE_DIM"],)](x, out, 8192, 4096, dim=1)


def jagged_mean(module):
    lengths = ints(1024, 1024, dtype=torch.int64)
    offsets = torch.cat([torch.zeros(1, device="cuda", dtype=torch.int64), torch.cumsum(lengths, 0)])
    values, out = single(1024 * 1024, 128), single(1024, 128)
    module.triton_jagged_mean_kernel_variable_length_loop_sum_then_buffer[lambda words: (1024 * 128 // words["BLOCK_SIZE_M"],)](values, offsets, out, 128)


def mla_prefill(module):
    heads, length, batch = 16, 2048, 4
    q, rope, kv, kv_rope = half(batch * length, heads, 512), half(batch * length, heads, 64), half(batch * length, 1, 512), half(batch * length, 1, 64)
    starts = torch.arange(batch, device="cuda", dtype=torch.int32) * length
    module.context_attention_fwd_no_prompt_cache(q, rope, kv, kv_rope, torch.empty_like(q), starts, torch.full_like(starts, length), length, 0.05)


def gqa_decode(module):
    batch, heads, kv, width, length, block = 32, 32, 8, 128, 4096, 256
    q, k, v = half(batch, heads, width), half(batch * length, kv, width), half(batch * length, kv, width)
    pages = torch.randperm(batch * length, device="cuda", dtype=torch.int32).reshape(batch, length)
    numbers = torch.arange(batch, device="cuda", dtype=torch.int32)
    module.flash_decode_stage1(q, k, v, pages, numbers, torch.full_like(numbers, length), length, single(batch, heads, length // block, width), single(batch, heads, length // block), block)


def window_prefill(module):
    heads, kv, width, length, batch = 32, 8, 128, 4096, 2
    q, k, v = half(batch * length, heads, width), half(batch * length, kv, width), half(batch * length, kv, width)
    starts = torch.arange(batch, device="cuda", dtype=torch.int32) * length
    module.context_attention_fwd(q, k, v, torch.empty_like(q), starts, torch.full_like(starts, length), length, 1024)


def bloom_norm(module):
    x, rows, columns = rand(16384, 4096), 16384, 4096
    module._layer_norm_fwd_fused[(rows,)](x, torch.empty_like(x), rand(columns), rand(columns), columns, columns, 1e-5, BLOCK_SIZE=8192, num_warps=8)


def light_int8(module):
    a, b = (torch.randint(-128, 128, (2048, 4096), device="cuda", dtype=torch.int8), torch.randint(-128, 128, (4096, 4096), device="cuda", dtype=torch.int8).t())
    module.matmul_int8(a, rand(2048).abs() * 1e-3, b, rand(4096).abs() * 1e-3)


def ao_int8(module):
    a, b = (torch.randint(-128, 128, (4096, 4096), device="cuda", dtype=torch.int8) for _ in range(2))
    module.scaled_int8_mm_cuda(a, b.t(), half(4096).abs() * 1e-3, half(4096).abs() * 1e-3)


def fp8_rows(module):
    x, out, scales = half(16384, 4096), torch.empty(16384, 4096, device="cuda", dtype=torch.float8_e4m3fn), single(16384)
    kinds = module.FP8_DTYPE_MAP[x.dtype], module.FP8_DTYPE_MAP[out.dtype]
    module._triton_fp8_rowwise_2d_fused_scale_and_cast_kernel[(16384,)](x, 4096, 1, out, 4096, 1, scales, 16384, 4096, -448.0, 448.0, *kinds, round_scales_to_power_of_2=False, EPS=1e-12)


def fp8_columns(module):
    x, out, scales = half(8, 4096, 4096), torch.empty(8, 4096, 4096, device="cuda", dtype=torch.float8_e4m3fn), single(8, 4096)
    kinds, strides = (module.FP8_DTYPE_MAP[x.dtype], module.FP8_DTYPE_MAP[out.dtype]), (4096 * 4096, 1, 4096)
    grid = lambda words: (8, 4096 // words["BLOCK_SIZE_N"])
    module._triton_fp8_colwise_3d_scale_and_cast_kernel[grid](x, *strides, out, *strides, scales, 4096, 1, 8, 4096, 4096, -448.0, 448.0, *kinds, round_scales_to_power_of_2=False, EPS=1e-12)


def convolution(module):
    module.Conv2d.forward(type("Context", (), {"save_for_backward": lambda *tensors: None})(), rand(16, 128, 56, 56), rand(128, 128, 3, 3), None, 1, 1, 1, 1)


def hgrn(module):
    module.ChunkHGRNFunction.forward(type("Context", (), {"save_for_backward": lambda *tensors: None})(), single(4, 4096, 2048), decay(4, 4096, 2048))


def recurrent_gla(module):
    module.fused_recurrent_fwd(unit(2, 1024, 16, 128), unit(2, 1024, 16, 128), half(2, 1024, 16, 128), gk=decay(2, 1024, 16, 128), scale=0.09)


def state_gradients(module):
    module._chunk_scan_bwd_dstates(unit(4, 4096, 1, 128), decay(4, 64, 16, 256).cumsum(-1), half(4, 4096, 64, 64), dtype=torch.bfloat16)


def input_gradients(module):
    dt, sums = torch.rand(4, 64, 16, 256, device="cuda") * 0.1, decay(4, 64, 16, 256).cumsum(-1)
    module._chunk_scan_bwd_dx(half(4, 16, 1, 256, 256), half(4, 4096, 64, 64), dt, sums, half(4, 4096, 64, 64), D=single(64))


def gradients_of_b(module):
    dt, sums = torch.rand(4, 64, 16, 256, device="cuda") * 0.1, decay(4, 64, 16, 256).cumsum(-1)
    module._chunk_state_bwd_db(half(4, 4096, 64, 64), dt, sums, half(4, 16, 64, 64, 128))


def liger_rope(module):
    module.rope_forward(half(4, 4096, 32, 128).transpose(1, 2), half(4, 4096, 8, 128).transpose(1, 2), half(1, 4096, 128), half(1, 4096, 128))


def varlen_attention(module):
    heads, kv, width, length, batch = 32, 8, 128, 2048, 4
    q, k, v = half(batch * length, heads, width), half(kv, batch * length, width), half(kv, batch * length, width)
    starts = torch.arange(batch + 1, device="cuda", dtype=torch.int32) * length
    module.flash_attn_varlen_func(q, k, v, starts, starts, length, length, causal=True, kv_layout="hsd")


def tutorial_softmax(module):
    x = single(16384, 2048)
    module.softmax_kernel[(132 * 8, 1, 1)](torch.empty_like(x), x, 2048, 2048, 16384, 2048, BLOCK_SIZE=2048, num_stages=4, num_warps=8)


GEMS_OPS, TRITON_OPS, LIGER_OPS = "flag_gems.ops.", "mamba_ssm.ops.triton.", "liger_kernel.ops."
ROWS = [
    Row("geglu, exact (unsloth)", "unsloth.kernels.geglu", lambda m: m.geglu_exact_forward_kernel(half(4, 2048, 14336), half(4, 2048, 14336))),
    Row("geglu backward (unsloth)", "unsloth.kernels.geglu", lambda m: m.geglu_approx_backward_kernel(half(8192, 8192), half(8192, 8192), half(8192, 8192)), bound=0.1),
    Row("layer norm (unsloth)", "unsloth.kernels.layernorm", lambda m: m.Fast_Layernorm.apply(half(4, 4096, 4096), half(4096), half(4096), 1e-5)),
    Row("rope (unsloth)", "unsloth.kernels.rope_embedding", lambda m: m.Fast_RoPE_Embedding.apply(half(4, 4096, 32, 128), half(4096, 128), half(4096, 128))),
    Row("gptq, split (applied-ai)", "applied_splitk_dequant_gemm", splitk_gptq, bound=0.05, computes=True),
    Row("fp8 product, split (applied-ai)", "applied_scaled_fp8_gemm", scaled_fp8, bound=0.05, computes=True),
    Row("rms norm (applied-ai)", "applied_fused_rms_norm", lambda m: m.fused_rms_norm_fn(half(16384, 4096), half(4096)), {"_rms_norm_fwd_kernel": tiles(8, 2)}),
    Row("causal convolution (applied-ai)", "applied_causal_1d_conv", causal_convolution),
    Row("gathered matrix by vector (inductor)", "bench_triton_gather_gemv", gathered_gemv, computes=True),
    Row("attention template (inductor)", "bench_triton_attention", template_attention),
    Row("product in 32 parts", "bench_partition_k", lambda m: m.matmul_partition_k(half(256, 16384), half(16384, 256), True)),
    Row("product of bf16 and packed int4", "bench_kernel", lambda m: m.matmul(half(1024, 4096), torch.randint(-128, 128, (2048, 4096), device="cuda", dtype=torch.int8))),
    Row("product of bf16 and int16", "bench_int16", lambda m: m.bf16xint16_matmul(half(2048, 4096), torch.randint(-100, 100, (4096, 2048), device="cuda", dtype=torch.int16))),
    Row("sums of rows", "bench_sum", sums_of_rows),
    Row("jagged mean", "bench_jagged_mean", jagged_mean, computes=True),
    Row("int8 product (lightllm)", "light_quantize_gemm_int8", light_int8, bound=0.02),
    Row("int8 of rows (lightllm)", "light_quantize_gemm_int8", lambda m: m.quantize_int8_perrow(rand(8192, 4096)), bound=0.02),
    Row("softmax and topk (lightllm)", "light_softmax_topk", lambda m: m.softmax_topk(single(32768, 128), 8, True)),
    Row("gelu and product (lightllm)", "light_gelu_and_mul", lambda m: m.gelu_and_mul_fwd(half(8192, 16384), half(8192, 8192))),
    Row("sum of experts (lightllm)", "light.moe_sum_reduce", lambda m: m.moe_sum_reduce(half(8192, 8, 4096), half(8192, 4096), BLOCK_M=1, BLOCK_DIM=2048, NUM_STAGE=1, num_warps=4)),
    Row("layer norm of bloom (lightllm)", "light_layernorm", bloom_norm),
    Row("mla prefill (lightllm)", "light_mla_prefill", mla_prefill),
    Row("gqa decode (lightllm)", "light_gqa_decode", gqa_decode),
    Row("window prefill (lightllm)", "light_window", window_prefill),
    Row("scaled int8 product (ao)", "ao_int8", ao_int8, {"_scaled_int8_mm_kernel": tiles(4, 4, BLOCK_M=128, BLOCK_N=128, BLOCK_K=128)}),
    Row("fp8 of rows (ao)", "ao_rowwise", fp8_rows),
    Row("fp8 of columns (ao)", "ao_rowwise", fp8_columns),
    Row("largest of rows (flaggems)", GEMS_OPS + "amax", lambda m: m.amax(single(16384, 4096), [1])),
    Row("batched product (flaggems)", GEMS_OPS + "bmm", lambda m: m.bmm(rand(64, 1024, 512), rand(64, 512, 1024))),
    Row("layer norm (flaggems)", GEMS_OPS + "layernorm", lambda m: m.layer_norm(half(16384, 4096), [4096], half(4096), half(4096))),
    Row("rms norm (flaggems)", GEMS_OPS + "rms_norm", lambda m: m.rms_norm(half(16384, 4096), [4096], half(4096))),
    Row("batch norm (flaggems)", GEMS_OPS + "batch_norm", lambda m: m.batch_norm(single(32, 256, 56, 56), single(256), single(256), single(256), single(256).abs(), True)),
    Row("convolution (flaggems)", GEMS_OPS + "conv2d", convolution),
    Row("norm of rows (flaggems)", GEMS_OPS + "vector_norm", lambda m: m.vector_norm(single(16384, 4096), 2, [1])),
    Row("weight norm (flaggems)", GEMS_OPS + "weightnorm", lambda m: m.weight_norm_interface(single(4096, 8192), single(4096, 1), 0)),
    Row("embedding (flaggems)", GEMS_OPS + "embedding", lambda m: m.embedding(half(50000, 4096), ints(50000, 16384, dtype=torch.int64))),
    Row("average pool (flaggems)", GEMS_OPS + "avg_pool2d", lambda m: m.avg_pool2d(rand(32, 128, 112, 112), 3, 2, 1)),
    Row("upper triangle (flaggems)", GEMS_OPS + "triu", lambda m: m.triu(single(8192, 8192), 1)),
    Row("rotary (fla)", "fla.modules.rotary", lambda m: m.rotary_embedding_fwdbwd(half(4, 4096, 32, 128), half(4096, 64), half(4096, 64))),
    Row("token shift (fla)", "fla.modules.token_shift", lambda m: m.token_shift_fwd(half(8, 4096, 4096))),
    Row("hgrn of chunks (fla)", "fla.ops.hgrn.chunk", hgrn),
    Row("attention of groups (fla)", "fla.ops.attn.parallel", lambda m: m.parallel_attn_fwd(half(2, 4096, 32, 128), half(2, 4096, 8, 128), half(2, 4096, 8, 128), None, None, 0.09)),
    Row("recurrence of gates (fla)", "fla.ops.common.fused_recurrent", recurrent_gla, bound=0.1),
    Row("inner chunks of gla (fla)", "fla.ops.gla.chunk", lambda m: m.chunk_gla_fwd_intra_gk(unit(4, 4096, 16, 128), unit(4, 4096, 16, 128), decay(4, 4096, 16, 128), 0.09)),
    Row("softmax (fla)", "fla.ops.utils.softmax", lambda m: m.softmax_fwd(single(65536, 512))),
    Row("swiglu (mamba)", TRITON_OPS + "k_activations", lambda m: m._swiglu_fwd(half(16384, 16384))),
    Row("sum and norm (mamba)", TRITON_OPS + "layer_norm", lambda m: m._layer_norm_fwd(half(16384, 4096), half(4096), None, 1e-5, residual=half(16384, 4096), is_rms_norm=True)),
    Row("gradients of states (mamba)", TRITON_OPS + "ssd_chunk_scan", state_gradients),
    Row("gradients of x (mamba)", TRITON_OPS + "ssd_chunk_scan", input_gradients, bound=0.05),
    Row("gradients of b (mamba)", TRITON_OPS + "ssd_chunk_state", gradients_of_b, bound=0.05),
    Row("rope (liger)", LIGER_OPS + "rope", liger_rope),
    Row("geglu backward (liger)", LIGER_OPS + "geglu", lambda m: m.geglu_backward(half(8192, 8192), half(8192, 8192), half(8192, 8192)), bound=0.1),
    Row("swiglu backward (liger)", LIGER_OPS + "swiglu", lambda m: m.swiglu_backward(half(8192, 8192), half(8192, 8192), half(8192, 8192)), bound=0.1),
    Row("squared relu (liger)", LIGER_OPS + "relu_squared", lambda m: m.relu_squared_forward(half(8192, 16384))),
    Row("cross entropy (flash-attention)", "flash_cross_entropy", lambda m: m.CrossEntropyLoss.apply(half(4096, 65536), ints(65536, 4096, dtype=torch.int64))),
    Row("rms norm (lmdeploy)", "lmdeploy.kernels.rms_norm", lambda m: m.rms_norm(half(16384, 4096), half(4096), residual=half(16384, 4096))),
    Row("fp8 of groups (lmdeploy)", "lmdeploy.kernels.blocked_gemm_fp8", lambda m: m.quant_fp8(half(8192, 4096), 128)),
    Row("causal attention of sequences (lmdeploy)", "lmdeploy.kernels.flashattention", varlen_attention),
    Row("softmax, persistent (tutorial)", "tutorial_softmax", tutorial_softmax),
]
