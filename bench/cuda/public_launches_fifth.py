# SPDX-License-Identifier: Apache-2.0
"""A fifth table for bench/cuda/public_kernels.py (--table public_launches_fifth): files of which the first four have none."""
import types

import torch

from public_launches import COLLECTION, Row, config, ints, rand
from public_launches_more import FLA, GEMS, HSTU, LIGER, files, half, single, unit
from public_launches_third import AO, DEPLOY, LIGHT, UNSLOTH, fp8
from public_launches_third import STUBS as STUBS_OF_THIRD
from public_launches_fourth import FBGEMM, jagged_offsets
from public_launches_fourth import STUBS as STUBS_OF_FOURTH

ATTORCH, STK, TGI, KERNL, VLLM, SAGE = "BobMcDear/attorch stanford-futuredata/stk huggingface/text-generation-inference ELS-RD/kernl opendatahub-io/vllm thu-ml/SageAttention".split()
LORA, MOE = "vllm/lora/ops/triton_ops/", "fbgemm_gpu/experimental/gen_ai/gen_ai/moe/"

# File in the folder: repository, path there, and the line that its own tests begin with (what follows is left away).
SOURCES = {
    **{
        f"{name}.py": (COLLECTION, f"data/TritonBench_G_v1/{name}.py", "####")
        for name in (
            "chunk_gated_attention batched_vecmat_mult fp4_to_bf16 fused_recurrent_hgrn int4_matmul llama_ff_triton "
            "mixed_sparse_attention swiglu_backward uniform_sampling sin_kernel"
        ).split()
    },
    **files(ATTORCH, "", " ".join(f"attorch/{n}_kernels.py" for n in "act batch_norm cross_entropy_loss dropout glu layer_norm linear softmax".split()) + " attorch/utils.py attorch/types.py attorch/math.py"),
    "stk_kernels.py": (STK, "stk/backend/triton_kernels.py", None),
    "block_pointer_attention.py": ("hkproj/triton-flash-attention", "triton/flash_attention.py", "def test_op"),
    "vllm_flash_attention.py": (VLLM, "vllm/attention/ops/triton_flash_attention.py", None),
    **files(VLLM, "", " ".join(LORA + f"{n}.py" for n in "sgmv_shrink kernel_utils utils".split())),
    "unsloth/kernels/fp8.py": (UNSLOTH, "unsloth/kernels/fp8.py", None),
    "sage_varlen.py": (SAGE, "sageattention/triton/attn_qk_int8_block_varlen.py", None),
    **files(HSTU, "", " ".join(f"generative_recommenders/ops/triton/triton_{n}.py" for n in "jagged_tensors jagged position hstu_linear addmm".split())),
    **{f"fbgemm_moe/{n}.py": (FBGEMM, MOE + f"{n}.py", None) for n in ("activation", "gather_scatter")},
    **{f"fbgemm_gpu/sll/{n}.py": (FBGEMM, f"fbgemm_gpu/fbgemm_gpu/sll/triton/{n}.py", None) for n in ("triton_jagged_dense_flash_attention", "common")},
    "fbgemm_gpu/experimental/gemm/triton_gemm/fp8_gemm.py": (FBGEMM, "fbgemm_gpu/experimental/gemm/triton_gemm/fp8_gemm.py", None),
    "fbgemm_simplicial.py": (FBGEMM, "fbgemm_gpu/experimental/simplicial_attention/simplicial/ops/triton/fwd.py", None),
    **{f"kernl_{n}.py": (KERNL, f"src/kernl/implementations/{n}.py", None) for n in ("layer_norm", "batched_matmul")},
    "ao_fp8_attention.py": (AO, "torchao/prototype/fp8_sdpa_inference/fp8_sdpa_quantization.py", None),
    **{f"lmdeploy/kernels/{n}.py": (DEPLOY, f"lmdeploy/pytorch/kernels/cuda/{n}.py", None) for n in "fused_moe activation fused_lora utils".split()},
    "light_vit_attention.py": (LIGHT, "lightllm/models/vit/triton_kernel/flashattention_nopad.py", None),
    "light_vit_gelu.py": (LIGHT, "lightllm/models/vit/triton_kernel/gelu_vit.py", None),
    "light_cohere_norm.py": (LIGHT, "lightllm/models/cohere/triton_kernels/layernorm.py", None),
    "light/moe_silu_and_mul.py": (LIGHT, "lightllm/common/fused_moe/moe_silu_and_mul.py", None),
    "light_mrope.py": (LIGHT, "lightllm/models/qwen2_vl/triton_kernel/mrope.py", None),
    **files(
        FLA,
        "",
        "fla/modules/activations.py fla/modules/conv/triton/kernels.py fla/modules/fused_cross_entropy.py fla/ops/nsa/compression.py fla/ops/utils/logcumsumexp.py fla/ops/utils/pooling.py "
        "fla/ops/utils/matmul.py fla/ops/rwkv7/fused_addcmul.py fla/ops/rebased/parallel.py fla/ops/utils/op.py fla/ops/attn/parallel.py fla/ops/utils/constant.py fla/ops/utils/cumsum.py fla/ops/utils/softplus.py",
    ),
    **files(GEMS, "src/", " ".join(f"flag_gems/ops/{n}.py" for n in "prod nllloss cummax dropout mse_loss log_softmax std mm mm_streamk".split()) + " flag_gems/utils/limits.py flag_gems/utils/triton_lang_extension.py flag_gems/utils/random_utils.py"),
    "flag_gems/heuristics.py": (GEMS, "src/flag_gems/runtime/backend/_nvidia/heuristics_config_utils.py", None),
    **files(LIGER, "src/", "liger_kernel/utils.py " + " ".join(f"liger_kernel/ops/{n}.py" for n in "utils dyt softmax modulated_rms_norm attn_res fused_neighborhood_attention multi_token_attention sparsemax".split())),
    "liger_embedding.py": (LIGER, "src/liger_kernel/ops/experimental/embedding.py", None),
    "tgi/gptq.py": (TGI, "server/text_generation_server/layers/gptq/triton.py", None),
    "bench_dropout.py": ("meta-pytorch/tritonbench", "tritonbench/operators/low_mem_dropout/kernels.py", None),
}
# Of the many that the project tries.
TUNED = """
TUNED.update(
    naive_reduction=[triton.Config({"BLOCK_M": 4, "BLOCK_N": 1024}, num_warps=4)],
    log_softmax=[triton.Config({"BLOCK_M": 8, "BLOCK_N": 256}, num_warps=8)],
    mm=[triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}, num_warps=8, num_stages=3)],
)
"""
FP8_LINEAR = "class FP8Linear:\n    def forward(self, x):\n        return x\n\n\nFP8GroupedLinear = FbgemmFp8Linear = FP8Linear\n"
STUBS = {
    **STUBS_OF_THIRD,
    **{k: v for k, v in STUBS_OF_FOURTH.items() if k.startswith("fbgemm_gpu")},
    **{f"{name}/__init__.py": "" for name in "attorch vllm/lora vllm/lora/ops vllm/lora/ops/triton_ops fbgemm_moe fbgemm_gpu/experimental fbgemm_gpu/experimental/gemm fbgemm_gpu/experimental/gemm/triton_gemm fla/modules/conv fla/modules/conv/triton fla/ops/nsa fla/ops/rwkv7 fla/ops/rebased transformers transformers/integrations unsloth_zoo/temporary_patches lightllm/common lightllm/common/basemodel lightllm/common/basemodel/layer_infer".split()},
    "unsloth_zoo/utils.py": "from packaging.version import Version\n",
    "unsloth_zoo/log.py": "import logging\n\nlogger = logging.getLogger(__name__)\n",
    "unsloth_zoo/temporary_patches/common.py": "def torch_compile(fn):\n    return fn\n",
    "transformers/integrations/finegrained_fp8.py": FP8_LINEAR,
    "transformers/integrations/fbgemm_fp8.py": FP8_LINEAR,
    "fbgemm_gpu/experimental/gemm/triton_gemm/matmul_perf_model.py": "early_config_prune = estimate_matmul_time = None\n",
    "fbgemm_gpu/experimental/gemm/triton_gemm/utils.py": "map_dtype_to_triton = TmaAutoTuneHelper = None\n",
    "lightllm/utils/device_utils.py": "def is_hopper():\n    return False\n",
    "lightllm/utils/sgl_utils.py": "",
    "lightllm/common/basemodel/layer_infer/cache_tensor_manager.py": "g_cache_manager = None\n",
    "light/moe_silu_and_mul_config.py": "MoeSiluAndMulKernelConfig = None\n",
    "transformers/__init__.py": "__version__ = \"4.50.0\"\n",
    "transformers/utils.py": "def is_torch_npu_available():\n    return False\n",
    "flag_gems/utils/__init__.py": STUBS_OF_THIRD["flag_gems/utils/__init__.py"] + "\n\ndef pointwise_dynamic(*words, **options):\n    return lambda fn: fn\n",
    "flag_gems/runtime/__init__.py": STUBS_OF_THIRD["flag_gems/runtime/__init__.py"] + TUNED,
    "fla/utils.py": STUBS_OF_THIRD["fla/utils.py"] + "IS_ARM = False\n\n\ndef check_pytorch_version(version):\n    return True\n",
    "tabulate.py": "def tabulate(*words, **options):\n    return \"\"\n",
    "tgi/__init__.py": "",
    "tgi/custom_autotune.py": "import triton\n\n\ndef autotune(configs, key, **options):\n    return triton.autotune(configs=configs, key=key)\n\n\nhadamard248_kernel_config_pruner = matmul248_kernel_config_pruner = None\n",
}


class Context(types.SimpleNamespace):
    """What torch.autograd.Function hands to forward and backward."""

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        pass

    set_materialize_grads = mark_non_differentiable


def attorch_activation(module):
    x = half(16384, 4096)
    module.act_func_backward_kernel[lambda words: (-(-x.numel() // words["BLOCK_SIZE"]),)](half(16384, 4096), x, torch.empty_like(x), x.numel(), 0.1, 1234, 0.0, act_func="gelu", dropout=True)


def attorch_gates(module):
    x, y = half(16384, 4096), half(16384, 4096)
    module.glu_backward_kernel[lambda words: (-(-x.numel() // words["BLOCK_SIZE"]),)](half(16384, 4096), x, y, torch.empty_like(x), torch.empty_like(y), x.numel(), 0.0, act_func="silu")


def attorch_batch_norm(module):
    x, ones = single(64, 256, 3136), torch.ones(256, device="cuda")
    strides, numbers = x.stride(), [torch.zeros(256, device="cuda") for _ in range(4)]
    module.batch_norm_forward_kernel[(256,)](x, ones, ones, *numbers[:2], None, None, torch.empty_like(x), *numbers[2:], 64, 3136, *strides, 0, 0, 0, 0, 0, 0, *strides, 0.1, 1e-5, 0.0,
                                             affine=True, save_stats=True, track_running_stats=True, is_train=True, add_pre_act=False, act_func="relu", save_pre_act=False)  # fmt: skip


def attorch_layer_norm(module):
    rows, width = 16384, 1024
    x, numbers, w = single(rows, width), single(rows), single(width)
    parts = -(-rows // 4)
    grads = torch.empty(parts, width, device="cuda"), torch.empty(parts, width, device="cuda")
    module.layer_norm_backward_kernel[lambda words: (-(-rows // words["BLOCK_SIZE_BATCH"]),)](single(rows, width), x, numbers, numbers.abs(), w, torch.empty_like(x), *grads, rows, width, *(width, 1) * 5, scale_by_weight=True, add_bias=True)


def attorch_linear(module):
    rows, inner, outer = 8192, 4096, 4096
    x, w, out = rand(rows, inner), rand(inner, outer) * 0.02, torch.empty(rows, outer, device="cuda", dtype=torch.float16)
    grid = lambda words: (-(-rows // words["BLOCK_SIZE_BATCH"]) * -(-outer // words["BLOCK_SIZE_OUT_FEAT"]),)
    module.linear_forward_kernel[grid](x, w, rand(outer), None, out, rows, inner, outer, inner, 1, outer, 1, 0, 0, outer, 1, 0.0, add_bias=True, act_func="gelu", save_pre_act=False, fp16=True, tf32=True)


def attorch_cross_entropy(module):
    rows, classes = 8192, 1000
    x = single(rows, classes)
    grid = lambda words: (-(-rows // words["BLOCK_SIZE_BATCH"]),)
    module.cross_entropy_loss_backward_kernel[grid](single(1), ints(classes, rows, dtype=torch.int64), x, None, single(1) + 8192, torch.empty_like(x), rows, classes, classes, 1, classes, 1, weighted=False)


def blocks_of(rows, columns, each):
    """A matrix of 128x128 blocks, `each` of them in a row."""
    chosen = torch.stack([torch.randperm(columns, device="cuda")[:each].sort().values for _ in range(rows)]).to(torch.int16)
    return torch.arange(0, rows * each + 1, each, device="cuda", dtype=torch.int32), torch.arange(rows, device="cuda", dtype=torch.int16).repeat_interleave(each), chosen.flatten()


def sparse_out(module):
    m, k, n = 4096, 4096, 4096
    offsets, rows, columns = blocks_of(m // 128, n // 128, 8)
    module.sdd(rand(m, k), rand(k, n), (m, n), torch.empty(rows.numel(), 128, 128, device="cuda", dtype=torch.float16), offsets, rows, columns)


def sparse_left(module):
    m, k, n = 4096, 8192, 4096
    offsets, rows, columns = blocks_of(m // 128, k // 128, 16)
    module.dsd((m, k), rand(rows.numel(), 128, 128), offsets, rows, columns, offsets, columns, rows, False, rand(k, n), torch.empty(m, n, device="cuda", dtype=torch.float16))


def attention_and_gradients(module):
    q, k, v = (rand(4, 16, 2048, 64) for _ in range(3))
    context = Context()
    out = module.TritonAttention.forward(context, q, k, v, True, 0.125)
    module.TritonAttention.backward(context, torch.randn_like(out))


def vllm_flash(module):
    tokens, heads, width, batch = 8192, 32, 128, 8
    starts = torch.arange(0, tokens + 1, tokens // batch, device="cuda", dtype=torch.int32)
    module._attention.forward(Context(), rand(tokens, heads, width), rand(tokens, 8, width), rand(tokens, 8, width), None, starts, starts, tokens // batch, tokens // batch, True, width**-0.5)


def lora_rows(count, tokens):
    lengths = torch.full((count,), tokens // count, device="cuda", dtype=torch.int64)
    return torch.arange(0, tokens, tokens // count, device="cuda", dtype=torch.int64), lengths, ints(8, count, dtype=torch.int64)


def lora_shrinks(module):
    tokens, count = 8192, 16
    starts, lengths, indices = lora_rows(count, tokens)
    module._sgmv_shrink(rand(tokens, 4096), [rand(8, 1, 16, 4096)], torch.zeros(1, tokens, 16, device="cuda"), starts, lengths, indices, count, tokens // count, tokens, 1.0)


def fp8_blocks(module):
    m, n, k = 4096, 4096, 4096
    module.w8a8_block_fp8_matmul_triton(fp8(m, k), fp8(n, k), single(m, k // 128).abs(), single(n // 128, k // 128).abs(), [128, 128], torch.bfloat16)


def int8_attention(module):
    tokens, heads, width, batch = 8192, 32, 128, 4
    starts = torch.arange(0, tokens + 1, tokens // batch, device="cuda", dtype=torch.int32)
    words = [torch.randint(-100, 100, (tokens, heads, width), device="cuda", dtype=torch.int8) for _ in range(2)]
    q_starts, k_starts = (torch.arange(0, tokens // size + 1, tokens // batch // size, device="cuda", dtype=torch.int32) for size in (128, 64))
    q_scale, k_scale = torch.rand(tokens // 128, heads, device="cuda") * 0.001, torch.rand(tokens // 64, heads, device="cuda") * 0.001
    module.forward(*words, rand(tokens, heads, width), starts, starts, tokens // batch, q_scale, k_scale, q_starts, k_starts)


def joined(module):
    lengths, offsets = jagged_offsets(256, 512)
    others, offsets_of_others = jagged_offsets(256, 200)
    a, b = half(int(offsets[-1]), 512), half(int(offsets_of_others[-1]), 512)
    module._Concat2DJaggedFunction.forward(Context(), int(lengths.max() + others.max()), a, b, None, None, offsets, offsets_of_others, 0)


def jagged_by_dense(module):
    lengths, offsets = jagged_offsets(256, 512)
    module._JaggedDenseBmmBroadcastAddFunction.forward(Context(), int(lengths.max()), offsets, half(int(offsets[-1]), 256), half(256, 256, 256), half(256, 256))


def positions(module):
    lengths, offsets = jagged_offsets(256, 512)
    n = int(offsets[-1])
    times = torch.sort(ints(1 << 20, n, dtype=torch.int64)).values
    module._AddTimestampPositionEmbeddingsFunction.forward(Context(), half(n, 512), offsets, half(2048, 512), half(2049, 512), times, int(lengths.max()), 0, lengths, None, False, "sqrt")


def norm_and_dropout(module):
    module.triton_layer_norm_mul_dropout_fwd(half(32768, 1024), half(32768, 1024), half(1024), half(1024), 1e-5, 0.1, True, False, False, 42)


def scaled_rows(module):
    tokens, width = 16384, 4096
    module.gather_scale_dense_tokens(half(tokens, width), ints(tokens, 2 * tokens), ints(16, 2 * tokens), half(tokens, 16))


def jagged_attention(module):
    batch, width, t = 256, 128, 128
    lengths, offsets = jagged_offsets(batch, 256)
    n = int(offsets[-1])
    module.jagged_dense_flash_attention_fwd(single(n, width) * 0.1, single(batch, width, t), single(n, width), single(batch, int(lengths.max()), t), offsets, int(lengths.max()), True)


def simplicial(module):
    shape = 1, 1024, 1, 128
    module.triton_fwd(half(1, 1024, 64, 128), half(*shape), half(*shape), half(*shape), half(*shape), 32, 256)


def experts(module):
    tokens, count, chosen, inner, outer = 4096, 16, 2, 2048, 4096
    ids = ints(count, tokens * chosen, dtype=torch.int64)
    order = torch.argsort(ids, stable=True)
    ends = torch.cumsum(torch.bincount(ids, minlength=count), 0)
    module.fused_moe_kernel_launcher(half(tokens, inner), half(count, outer, inner), torch.empty(tokens * chosen, outer, device="cuda", dtype=torch.bfloat16), order, ends - torch.bincount(ids, minlength=count), ends, top_k=chosen, num_tokens=tokens, reindex_c=False)


def both_loras(module):
    tokens, count, rank = 8192, 16, 16
    starts, lengths, ids = lora_rows(count, tokens)
    ranks, first = torch.full((8,), rank, device="cuda", dtype=torch.int64), torch.arange(0, 8 * rank, rank, device="cuda", dtype=torch.int64)
    module.fused_lora(rand(tokens, 4096), rand(8 * rank, 4096) * 0.02, rand(8 * rank, 4096), torch.ones(8, device="cuda", dtype=torch.int64), first, ranks, starts, lengths, ids, rank, tokens // count)


def vit_attention(module):
    tokens, heads, width = 16400, 16, 64
    starts = torch.arange(0, tokens + 1, 1025, device="cuda", dtype=torch.int32)
    q = rand(tokens, heads, width)
    module.flash_attention_fwd(q, rand(tokens, heads, width), rand(tokens, heads, width), torch.empty_like(q), starts, 1025)


def three_axes(module):
    length, width = 8192, 128
    module.mrope_triton(half(1, 32, length, width), half(1, 8, length, width), half(3, 1, length, width), half(3, 1, length, width), ints(3, width))


def short_convolution(module):
    b, t, d, w = 4, 4096, 4096, 4
    x, bt = half(b, t, d), 64
    grid = lambda words: (-(-d // words["BD"]), t // bt, b)
    module.causal_conv1d_fwd_kernel[grid](x=x, y=torch.empty_like(x), weight=half(d, w), bias=half(d), residual=None, cu_seqlens=None, initial_state=None, chunk_indices=None, B=b, T=t, stride_x_n=t * d, stride_x_t=d, stride_x_d=1,
                                          D=d, W=w, BT=bt, BW=4, NB=b * t // 1024, ACTIVATION="silu")  # fmt: skip


def log_sums(module):
    s = single(128, 4096, 64)
    module.logcumsumexp_fwd_kernel[(128,)](s, torch.empty_like(s), 4096, S=64)


def mixed_rows(module):
    b, t, d = 8, 4096, 2048
    x, weights = half(b, t, d), [half(1, 1, d) for _ in range(6)]
    outs = [torch.empty_like(x) for _ in range(6)]
    module.fused_addcmul_fwd_kernel[lambda words: (b, -(-t // words["BT"]))](x, half(b, t, d), *weights, *outs, True, T=t, T_OFFSET=0, D=d, BD=2048)


def rebased(module):
    b, h, t, k, v = 4, 16, 2048, 16, 128
    module.ParallelBasedFunction.forward(Context(), half(b, h, t, k), half(b, h, t, k), half(b, h, t, v), 0.25)


def modulated(module):
    module.modulated_rms_norm_forward(half(8, 2048, 4096), half(4096), half(8, 4096), half(8, 4096), 1e-6, 0.0, "llama")


def gems_gradient(module):
    module.log_softmax_backward(single(8192, 4096), -single(8192, 4096).abs(), 1, torch.float32)


def neighbours(module):
    module.fused_neighborhood_attention_forward(rand(2, 8, 2048, 64), rand(2, 8, 2048, 64), rand(2, 8, 2048, 64))


def gated_states(module):
    b, h, t, s, k, v = 4, 16, 4096, 64, 128, 128
    k_rows, v_rows = rand(b, h, k, t), rand(b, h, t, v)
    module.fwd_inner(rand(b, h, t, v), k_rows * 0.05, v_rows, -torch.rand(b, h, t, v, device="cuda") * 0.01, b, h, t, k, v, 64, 64, 64)


def gated_sums(module):
    module.fwd_pre(rand(4, 16, 4096, 128), 4, 16, 4096, 128, 64)


def int4_scaled(module):
    k, n, m = 4096, 4096, 32
    module.matmul_dequantize_int4_s2(rand(m, k), ints(2**31 - 1, k // 8, n), rand(k // 128, n) * 0.01, ints(2**31 - 1, k // 128, n // 8), 128)


def two_sparsities(module):
    b, h, t, d, blocks = 1, 16, 8192, 128, 8192 // 64
    counts = torch.full((b, h, blocks), 8, device="cuda", dtype=torch.int32)
    row = torch.arange(blocks, device="cuda")[None, None, :, None] * 64
    offsets = (row - torch.arange(8, device="cuda") * 64).clamp(min=0).expand(b, h, blocks, 8).contiguous().to(torch.int32)
    columns = torch.sort(ints(t, b, h, blocks, 128), -1).values.to(torch.int32)
    module._triton_mixed_sparse_attention(rand(b, h, t, d), rand(b, h, t, d), rand(b, h, t, d), torch.full((b,), t, device="cuda", dtype=torch.int32), counts, offsets, torch.full_like(counts, 128), columns, d**-0.5)


def gptq(module):
    m, k, n = 64, 4096, 4096
    module.matmul248(rand(m, k), ints(2**31 - 1, k // 8, n), rand(k // 128, n) * 0.01, ints(2**31 - 1, k // 128, n // 8), (torch.arange(k, device="cuda") // 128).to(torch.int32), 4, 15)


def dropout_of_seed(module):
    x = single(1 << 26)
    module._seeded_triton_dropout[((1 << 26) // 1024,)](x, torch.empty_like(x), x.numel(), 0.5, 123, BLOCK_SIZE=1024)


LIGER_OPS, TRITON_OPS, GEMS_OPS = "liger_kernel.ops.", "generative_recommenders.ops.triton.triton_", "flag_gems.ops."
ROWS = [
    Row("gelu and dropout backward (attorch)", "attorch.act_kernels", attorch_activation),
    Row("gates backward (attorch)", "attorch.glu_kernels", attorch_gates),
    Row("batch norm (attorch)", "attorch.batch_norm_kernels", attorch_batch_norm),
    Row("layer norm backward (attorch)", "attorch.layer_norm_kernels", attorch_layer_norm, bound=0.01),
    Row("linear and gelu (attorch)", "attorch.linear_kernels", attorch_linear, {"linear_forward_kernel": config(4, 3, BLOCK_SIZE_BATCH=128, BLOCK_SIZE_IN_FEAT=64, BLOCK_SIZE_OUT_FEAT=128, GROUP_SIZE_BATCH=8)}),
    Row("cross entropy backward (attorch)", "attorch.cross_entropy_loss_kernels", attorch_cross_entropy),
    Row("product to blocks (stk)", "stk_kernels", sparse_out, computes=True),
    Row("blocks by dense (stk)", "stk_kernels", sparse_left, computes=True),
    Row("attention, block pointers in the loop", "block_pointer_attention", attention_and_gradients, {"_attn_fwd": config(4, 3, BLOCK_SIZE_Q=128, BLOCK_SIZE_KV=64)}),
    Row("gradients of k and v", "block_pointer_attention", attention_and_gradients, {"_attn_fwd": config(4, 3, BLOCK_SIZE_Q=128, BLOCK_SIZE_KV=64)}, take=2, bound=0.02),
    Row("gradients of q", "block_pointer_attention", attention_and_gradients, {"_attn_fwd": config(4, 3, BLOCK_SIZE_Q=128, BLOCK_SIZE_KV=64)}, take=3, bound=0.02),
    Row("attention of sequences (vllm)", "vllm_flash_attention", vllm_flash, {"attn_fwd": config(8, 1, BLOCK_M=128, BLOCK_N=64, PRE_LOAD_V=False)}),
    Row("lora shrink (vllm)", "vllm.lora.ops.triton_ops.sgmv_shrink", lora_shrinks, computes=True),
    Row("fp8 of activations (unsloth)", "unsloth.kernels.fp8", lambda m: m.act_quant(half(16384, 4096))),
    Row("weights of fp8 (unsloth)", "unsloth.kernels.fp8", lambda m: m.weight_dequant_block(fp8(8192, 8192), single(64, 64).abs())),
    Row("fp8 product by blocks (unsloth)", "unsloth.kernels.fp8", fp8_blocks),
    Row("int8 attention of sequences (sage)", "sage_varlen", int8_attention),
    Row("jagged tensors joined (hstu)", TRITON_OPS + "jagged_tensors", joined, computes=True),
    Row("jagged by dense (hstu)", TRITON_OPS + "jagged", jagged_by_dense, computes=True),
    Row("positions and times (hstu)", TRITON_OPS + "position", positions, computes=True),
    Row("norm, product and dropout (hstu)", TRITON_OPS + "hstu_linear", norm_and_dropout),
    Row("silu and product (fbgemm)", "fbgemm_moe.activation", lambda m: m.silu_mul(half(16384, 4096), half(16384, 4096))),
    Row("rows chosen and scaled (fbgemm)", "fbgemm_moe.gather_scatter", scaled_rows),
    Row("jagged attention (fbgemm)", "fbgemm_gpu.sll.triton_jagged_dense_flash_attention", jagged_attention, computes=True, bound=0.02),
    Row("fp8 of rows (fbgemm)", "fbgemm_gpu.experimental.gemm.triton_gemm.fp8_gemm", lambda m: m.triton_quantize_fp8_row(half(16384, 4096))),
    Row("simplicial attention (fbgemm)", "fbgemm_simplicial", simplicial),
    Row("layer norm (kernl)", "kernl_layer_norm", lambda m: m.LayerNorm.forward(Context(), rand(16384, 4096), rand(4096), rand(4096), 1e-5, m._layer_norm_fwd_fused_single_pass, False)),
    Row("batched product (kernl)", "kernl_batched_matmul", lambda m: m.batched_matmul(rand(32, 1024, 1024), rand(32, 1024, 1024)), {"matmul_kernel": config(4, 3, BLOCK_M_SIZE=128, BLOCK_N_SIZE=128, BLOCK_K_SIZE=32, GROUP_M_SIZE=8)}),
    Row("maxima of q, k and v (ao)", "ao_fp8_attention", lambda m: m.qkv_quantize_func(half(4, 32, 4096, 128), half(4, 32, 4096, 128), half(4, 32, 4096, 128)), computes=True),
    Row("fp8 of q, k and v (ao)", "ao_fp8_attention", lambda m: m.qkv_quantize_func(half(4, 32, 4096, 128), half(4, 32, 4096, 128), half(4, 32, 4096, 128)), take=2, computes=True),
    Row("experts (lmdeploy)", "lmdeploy.kernels.fused_moe", experts, {"fused_moe_kernel": config(4, 3, BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=1)}, computes=True),
    Row("both parts of lora (lmdeploy)", "lmdeploy.kernels.fused_lora", both_loras, computes=True, bound=0.01),
    Row("attention of images (lightllm)", "light_vit_attention", vit_attention, computes=True),
    Row("gelu (lightllm)", "light_vit_gelu", lambda m: m.gelu_fwd(half(16384, 4096))),
    Row("norm of heads (lightllm)", "light_cohere_norm", lambda m: m.layernorm_forward(half(16384, 32, 128), half(32, 128), 1e-5)),
    Row("silu and product (lightllm)", "light.moe_silu_and_mul", lambda m: m.silu_and_mul_fwd(half(16384, 8192), torch.empty(16384, 4096, device="cuda", dtype=torch.bfloat16), BLOCK_M=8, BLOCK_N=256, num_warps=4)),
    Row("rope of three axes (lightllm)", "light_mrope", three_axes, bound=0.05),
    Row("silu backward (fla)", "fla.modules.activations", lambda m: m.swish_bwd(half(16384, 4096), half(16384, 4096))),
    Row("short convolution (fla)", "fla.modules.conv.triton.kernels", short_convolution),
    Row("cross entropy of 50304 (fla)", "fla.modules.fused_cross_entropy", lambda m: m.fused_cross_entropy_forward(half(4096, 50304), ints(50304, 4096, dtype=torch.int64))),
    Row("attention of compressed keys (fla)", "fla.ops.nsa.compression", lambda m: m.parallel_nsa_compression_fwd(half(1, 8192, 64, 128), half(1, 128, 4, 128), half(1, 128, 4, 128), 8192, 64, 128**-0.5)),
    Row("logarithms of sums so far (fla)", "fla.ops.utils.logcumsumexp", log_sums),
    Row("means of chunks (fla)", "fla.ops.utils.pooling", lambda m: m.mean_pooling_fwd(half(4, 8192, 16, 128), 64)),
    Row("product and leaky relu (fla)", "fla.ops.utils.matmul", lambda m: m.matmul(half(4096, 4096), half(4096, 4096), "leaky_relu"), {"matmul_kernel": config(4, 3, BM=128, BN=128, BK=64, G=4)}),
    Row("rows mixed six times (fla)", "fla.ops.rwkv7.fused_addcmul", mixed_rows),
    Row("rebased attention (fla)", "fla.ops.rebased.parallel", rebased),
    Row("products of rows (flaggems)", "flag_gems.ops.prod", lambda m: m.prod_dim(single(16384, 4096) + 1, 1)),
    Row("losses of places (flaggems)", "flag_gems.ops.nllloss", lambda m: m.nll_loss2d_forward(single(64, 64, 1, 65536), ints(64, 64, 1, 65536, dtype=torch.int64), None, 0)),
    Row("maxima so far (flaggems)", "flag_gems.ops.cummax", lambda m: m.cummax(single(4096, 8192), 1)),
    Row("squared differences (flaggems)", "flag_gems.ops.mse_loss", lambda m: m.mse_loss(single(1 << 26), single(1 << 26))),
    Row("log softmax backward (flaggems)", "flag_gems.ops.log_softmax", gems_gradient),
    Row("deviations of rows (flaggems)", "flag_gems.ops.std", lambda m: m.std(single(16384, 4096), 1)),
    Row("product (flaggems)", "flag_gems.ops.mm", lambda m: m.general_mm(rand(4096, 4096), rand(4096, 4096), torch.empty(4096, 4096, device="cuda", dtype=torch.float16), 4096, 4096, 4096)),
    Row("dynamic tanh (liger)", LIGER_OPS + "dyt", lambda m: m.liger_dyt_fwd(half(16384, 4096), single(1), half(4096), half(4096))),
    Row("dynamic tanh backward (liger)", LIGER_OPS + "dyt", lambda m: m.liger_dyt_bwd(half(16384, 4096), half(16384, 4096), single(1), half(4096), half(4096)), bound=0.02),
    Row("softmax backward (liger)", LIGER_OPS + "softmax", lambda m: m._softmax_backward(half(16384, 4096), torch.softmax(single(16384, 4096), 1).bfloat16(), 4096, 8, False)),
    Row("modulated rms norm (liger)", LIGER_OPS + "modulated_rms_norm", modulated),
    Row("attention over layers (liger)", LIGER_OPS + "attn_res", lambda m: m.attn_res_forward(half(8, 8, 1024, 4096), half(4096) * 0.02, half(4096))),
    Row("scores of neighbours (liger)", LIGER_OPS + "fused_neighborhood_attention", neighbours, take=1),
    Row("causal mask (liger)", LIGER_OPS + "multi_token_attention", lambda m: m._mask_inf_forward(single(64, 1024, 1024))),
    Row("gradients of rows by atomics (liger)", "liger_embedding", lambda m: m.LigerEmbeddingFunction.backward(types.SimpleNamespace(saved_tensors=(ints(32000, 32768, dtype=torch.int64), single(32000, 1024))), single(32768, 1024)), bound=0.01),
    Row("states of gates (abc)", "chunk_gated_attention", gated_states),
    Row("sums of gates (abc)", "chunk_gated_attention", gated_sums),
    Row("vectors by matrices", "batched_vecmat_mult", lambda m: m.batched_vecmat(512, 512, 512, 16, 32, 64)),
    Row("bf16 of fp4", "fp4_to_bf16", lambda m: m.triton_f4_to_bf16(torch.randint(0, 256, (1 << 25,), dtype=torch.uint8, device="cuda")), computes=True),
    Row("hgrn, recurrent", "fused_recurrent_hgrn", lambda m: m.FusedRecurrentHGRNFunction.forward(Context(), single(8, 32, 2048, 128), -single(8, 32, 2048, 128).abs())),
    Row("int4 product, scaled", "int4_matmul", int4_scaled, bound=0.01),
    Row("norm and gated products", "llama_ff_triton", lambda m: m.kernel_ff(rand(1, 512, 4096), rand(4096, 4096) * 0.02, rand(4096, 4096) * 0.02, rand(4096))),
    Row("attention of blocks and columns", "mixed_sparse_attention", two_sparsities, computes=True),
    Row("swiglu backward (mamba)", "swiglu_backward", lambda m: m._swiglu_bwd(half(16384, 8192), half(16384, 4096))),
    Row("random numbers", "uniform_sampling", lambda m: m.uniform_(torch.empty(1 << 26, device="cuda")), computes=True),
    Row("sines", "sin_kernel", lambda m: m.call_kernel(single(1 << 26))),
    Row("gptq of groups (tgi)", "tgi.gptq", gptq, {"matmul_248_kernel": config(4, 4, BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=32, GROUP_SIZE_M=8)}, bound=0.01),
    Row("dropout of a seed", "bench_dropout", dropout_of_seed),
]
