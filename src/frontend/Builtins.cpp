// SPDX-License-Identifier: Apache-2.0
// Every built-in of the kernel language: one row each. Methods of tensors (`x.sum(0)`, `x.to(t)`)
// are the same rows with the tensor as first argument; tl.math.x and tl.x share the row of x.
// libdevice.x is another function: EmitForeign.cpp.
#include "frontend/Emitter.h"

#include <unordered_map>

namespace pellucid::frontend {

static const Builtin builtins[] = {
    // grid and ranges
    {"program_id", "axis", &Emitter::emitProgramId},
    {"num_programs", "axis", &Emitter::emitNumPrograms},
    {"arange", "start, end", &Emitter::emitArange},
    // memory
    {"load",
     "pointer, mask=None, other=None, boundary_check=(), padding_option=\"\", cache_modifier=\"\", "
     "eviction_policy=\"\", volatile=False",
     &Emitter::emitLoad},
    {"store",
     "pointer, value, mask=None, boundary_check=(), cache_modifier=\"\", eviction_policy=\"\"",
     &Emitter::emitStore},
    {"make_block_ptr", "base, shape, strides, offsets, block_shape, order",
     &Emitter::emitMakeBlockPtr},
    {"advance", "base, offsets", &Emitter::emitAdvance},
    {"item", "input", &Emitter::emitItem},
    {"descriptor_load", "desc, offsets, cache_modifier=\"\", eviction_policy=\"\"",
     &Emitter::emitDescriptorLoad},
    {"load_tensor_descriptor", "desc, offsets, cache_modifier=\"\", eviction_policy=\"\"",
     &Emitter::emitDescriptorLoad},
    {"descriptor_store", "desc, offsets, value", &Emitter::emitDescriptorStore},
    {"store_tensor_descriptor", "desc, offsets, value", &Emitter::emitDescriptorStore},
    {"descriptor_atomic_add", "desc, offsets, value", &Emitter::emitDescriptorAdd},
    {"descriptor_atomic_min", "desc, offsets, value", &Emitter::emitDescriptorMin},
    {"descriptor_atomic_max", "desc, offsets, value", &Emitter::emitDescriptorMax},
    {"descriptor_atomic_and", "desc, offsets, value", &Emitter::emitDescriptorAnd},
    {"descriptor_atomic_or", "desc, offsets, value", &Emitter::emitDescriptorOr},
    {"descriptor_atomic_xor", "desc, offsets, value", &Emitter::emitDescriptorXor},
    {"descriptor_gather", "desc, x_offsets, y_offset", &Emitter::emitDescriptorGather},
    {"descriptor_scatter", "desc, value, x_offsets, y_offset", &Emitter::emitDescriptorScatter},
    {"make_tensor_descriptor", "base, shape, strides, block_shape, padding_option=\"zero\"",
     &Emitter::emitMakeTensorDescriptor},
    {"atomic_add", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicAdd},
    {"atomic_max", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicMax},
    {"atomic_min", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicMin},
    {"atomic_and", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicAnd},
    {"atomic_or", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicOr},
    {"atomic_xor", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicXor},
    {"atomic_xchg", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicXchg},
    {"atomic_cas", "pointer, cmp, val, sem=None, scope=None", &Emitter::emitAtomicCas},
    // making tiles
    {"full", "shape, value, dtype", &Emitter::emitFull},
    {"cast", "input, dtype, fp_downcast_rounding=None, bitcast=False", &Emitter::emitCast},
    // shapes
    {"trans", "input, *dims", &Emitter::emitTrans},
    {"permute", "input, *dims", &Emitter::emitPermute},
    {"reshape", "input, *shape, can_reorder=False", &Emitter::emitReshape},
    {"view", "input, *shape, can_reorder=True", &Emitter::emitReshape},
    {"expand_dims", "input, axis", &Emitter::emitExpandDims},
    {"broadcast_to", "input, *shape", &Emitter::emitBroadcastTo},
    {"broadcast", "input, other", &Emitter::emitBroadcast},
    {"join", "a, b", &Emitter::emitJoin},
    {"split", "a", &Emitter::emitSplit},
    {"cat", "input, other, can_reorder=False, dim=0", &Emitter::emitCat},
    {"gather", "src, index, axis", &Emitter::emitGather},
    {"histogram", "input, num_bins, mask=None", &Emitter::emitHistogram},
    {"_distribute", "input, digits, num_digits", &Emitter::emitDistribute},
    // arithmetic
    {"add", "x, y, sanitize_overflow=True", &Emitter::emitAdd},
    {"sub", "x, y, sanitize_overflow=True", &Emitter::emitSub},
    {"mul", "x, y, sanitize_overflow=True", &Emitter::emitMul},
    {"condition", "arg1, disable_licm=False", &Emitter::emitCondition},
    {"tuple", "args, type=None", &Emitter::emitTuple},
    {"where", "condition, x, y", &Emitter::emitWhere},
    {"maximum", "x, y, propagate_nan=None", &Emitter::emitMaximum},
    {"minimum", "x, y, propagate_nan=None", &Emitter::emitMinimum},
    {"clamp", "x, min, max, propagate_nan=None", &Emitter::emitClamp},
    {"dot",
     "input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, "
     "out_dtype=None, trans_a=False, trans_b=False",
     &Emitter::emitDot},
    {"dot_scaled",
     "lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False, "
     "lhs_k_pack=True, rhs_k_pack=True, out_dtype=None",
     &Emitter::emitDotScaled},
    {"abs", "x", &Emitter::emitAbs},
    {"exp", "x", &Emitter::emitExp},
    {"exp2", "x", &Emitter::emitExp2},
    {"log", "x", &Emitter::emitLog},
    {"log2", "x", &Emitter::emitLog2},
    {"sqrt", "x", &Emitter::emitSqrt},
    {"sqrt_rn", "x", &Emitter::emitSqrtRn},
    {"rsqrt", "x", &Emitter::emitRsqrt},
    {"sin", "x", &Emitter::emitSin},
    {"cos", "x", &Emitter::emitCos},
    {"erf", "x", &Emitter::emitErf},
    {"floor", "x", &Emitter::emitFloor},
    {"ceil", "x", &Emitter::emitCeil},
    {"fma", "x, y, z", &Emitter::emitFma},
    {"fdiv", "x, y, ieee_rounding=False, approx=False", &Emitter::emitFdiv},
    {"div_rn", "x, y", &Emitter::emitDivRn},
    {"umulhi", "x, y", &Emitter::emitUmulhi},
    // reductions and scans
    {"reduce", "input, axis, combine_fn, keep_dims=False", &Emitter::emitReduce},
    {"associative_scan", "input, axis, combine_fn, reverse=False", &Emitter::emitAssociativeScan},
    {"map_elementwise", "scalar_fn, *args, pack=1", &Emitter::emitMapElementwise},
    {"_reduce_with_indices", "input, axis, combine_fn, keep_dims=False",
     &Emitter::emitReduceWithIndices},
    {"_promote_bfloat16_to_float32", "t", &Emitter::emitPromoteBfloat16},
    // hints, checks, output
    {"multiple_of", "input, values", &Emitter::emitMultipleOf},
    {"max_contiguous", "input, values", &Emitter::emitMaxContiguous},
    {"max_constancy", "input, values", &Emitter::emitMaxConstancy},
    {"assume", "cond", &Emitter::emitAssume},
    {"logical_and", "x, y", &Emitter::emitLogicalAnd},
    {"logical_or", "x, y", &Emitter::emitLogicalOr},
    {"debug_barrier", "", &Emitter::emitDebugBarrier},
    {"static_assert", "cond, msg=\"\"", &Emitter::emitStaticAssert},
    {"static_print", "*values, sep=\" \", end=\"\n\"", &Emitter::emitStaticPrint},
    {"device_assert", "cond, msg=\"\", mask=None", &Emitter::emitDeviceAssert},
    {"device_print", "prefix, *args, hex=False", &Emitter::emitDevicePrint},
    {"constexpr", "value", &Emitter::emitConstexpr},
    // types
    {"to_tensor", "x", &Emitter::emitToTensor},
    {"dtype", "name", &Emitter::emitDtype},
    {"_log2", "i", &Emitter::emitExponentOf},
    {"pointer_type", "element_ty, address_space=1, const=False", &Emitter::emitPointerType},
    {"block_type", "element_ty, shape", &Emitter::emitBlockType},
    {"get_int_dtype", "bitwidth, signed", &Emitter::emitGetIntDtype},
    // the target: kernels are compiled for all of them at once
    {"is_cuda", "", &Emitter::emitTargetQuery},
    {"is_hip", "", &Emitter::emitTargetQuery},
    {"is_hip_cdna3", "", &Emitter::emitTargetQuery},
    {"is_hip_cdna4", "", &Emitter::emitTargetQuery},
    {"cuda_capability_geq", "major, minor=0", &Emitter::emitTargetQuery},
    {"current_target", "", &Emitter::emitCurrentTarget},
    // foreign code
    {"inline_asm_elementwise", "asm, constraints, args, dtype, is_pure, pack",
     &Emitter::emitInlineAsm},
    // written in the kernel language
    {"zeros", nullptr, nullptr},
    {"zeros_like", nullptr, nullptr},
    {"ravel", nullptr, nullptr},
    {"squeeze", nullptr, nullptr},
    {"unsqueeze", nullptr, nullptr},
    {"gdc_wait", nullptr, nullptr},
    {"gdc_launch_dependents", nullptr, nullptr},
    {"interleave", nullptr, nullptr},
    {"cdiv", nullptr, nullptr},
    {"sigmoid", nullptr, nullptr},
    {"softmax", nullptr, nullptr},
    {"sum", nullptr, nullptr},
    {"max", nullptr, nullptr},
    {"min", nullptr, nullptr},
    {"argmax", nullptr, nullptr},
    {"argmin", nullptr, nullptr},
    {"xor_sum", nullptr, nullptr},
    {"reduce_or", nullptr, nullptr},
    {"cumsum", nullptr, nullptr},
    {"cumprod", nullptr, nullptr},
    {"swizzle2d", nullptr, nullptr},
    {"sort", nullptr, nullptr},
    {"topk", nullptr, nullptr},
    {"expect_zero", nullptr, nullptr},
    {"atomic_load", nullptr, nullptr},
    {"atomic_store", nullptr, nullptr},
    {"atomic_poll", nullptr, nullptr},
    {"smid", nullptr, nullptr},
    {"globaltimer", nullptr, nullptr},
    {"bitonic_merge", nullptr, nullptr},
    {"flip", nullptr, nullptr},
    {"philox_impl", nullptr, nullptr},
    {"philox", nullptr, nullptr},
    {"randint", nullptr, nullptr},
    {"randint4x", nullptr, nullptr},
    {"rand", nullptr, nullptr},
    {"rand4x", nullptr, nullptr},
    {"randn", nullptr, nullptr},
    {"randn4x", nullptr, nullptr},
    {"uint_to_uniform_float", nullptr, nullptr},
    {"pair_uniform_to_normal", nullptr, nullptr},
    {"_draw_turn", nullptr, nullptr},
    {"_philox_uniform", nullptr, nullptr},
    {"_philox_normal", nullptr, nullptr},
    {"_philox_exponential", nullptr, nullptr},
    {"_philox_randint", nullptr, nullptr},
    {"_cuda_uniform", nullptr, nullptr},
    {"_cuda_normal", nullptr, nullptr},
    {"_cuda_exponential", nullptr, nullptr},
    {"_cuda_randint", nullptr, nullptr},
};

const Builtin *findBuiltin(std::string_view name) {
  static const auto *table = [] {
    auto *map = new std::unordered_map<std::string_view, const Builtin *>;
    for (const Builtin &row : builtins)
      map->emplace(row.name, &row);
    return map;
  }();
  auto entry = table->find(name);
  return entry == table->end() ? nullptr : entry->second;
}

std::vector<std::string> builtinNames() {
  std::vector<std::string> names;
  for (const Builtin &row : builtins)
    if (row.name[0] != '_' && !std::string_view(row.name).starts_with("descriptor_"))
      names.push_back(row.name);
  return names;
}

} // namespace pellucid::frontend
