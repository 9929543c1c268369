// SPDX-License-Identifier: Apache-2.0
// Every built-in of the kernel language: one row each. Methods of tensors (`x.sum(0)`, `x.to(t)`) are the same rows with
// the tensor as first argument; tl.math.x, tl.standard.x and libdevice.x share the row of x.
#include "frontend/Emitter.h"

#include <unordered_map>

namespace pellucid::frontend {

static const Builtin builtins[] = {
    // grid and ranges
    {"program_id", "axis", &Emitter::emitProgramId},
    {"num_programs", "axis", &Emitter::emitNumPrograms},
    {"arange", "start, end", &Emitter::emitArange},
    // memory
    {"load", "pointer, mask=None, other=None, boundary_check=(), padding_option=\"\", cache_modifier=\"\", eviction_policy=\"\", volatile=False",
     &Emitter::emitLoad},
    {"store", "pointer, value, mask=None, boundary_check=(), cache_modifier=\"\", eviction_policy=\"\"", &Emitter::emitStore},
    {"make_block_ptr", "base, shape, strides, offsets, block_shape, order", &Emitter::emitMakeBlockPtr},
    {"advance", "base, offsets", &Emitter::emitAdvance},
    {"make_tensor_descriptor", "base, shape, strides, block_shape, padding_option=\"zero\"", &Emitter::emitMakeTensorDescriptor},
    {"atomic_add", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicAdd},
    {"atomic_max", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicMax},
    {"atomic_min", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicMin},
    {"atomic_and", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicAnd},
    {"atomic_or", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicOr},
    {"atomic_xor", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicXor},
    {"atomic_xchg", "pointer, val, mask=None, sem=None, scope=None", &Emitter::emitAtomicXchg},
    {"atomic_cas", "pointer, cmp, val, sem=None, scope=None", &Emitter::emitAtomicCas},
    // making tiles
    {"zeros", "shape, dtype", &Emitter::emitZeros},
    {"full", "shape, value, dtype", &Emitter::emitFull},
    {"zeros_like", "input", &Emitter::emitZerosLike},
    {"cast", "input, dtype, fp_downcast_rounding=None, bitcast=False", &Emitter::emitCast},
    // shapes
    {"trans", "input, *dims", &Emitter::emitTrans},
    {"permute", "input, *dims", &Emitter::emitPermute},
    {"reshape", "input, *shape, can_reorder=False", &Emitter::emitReshape},
    {"view", "input, *shape", &Emitter::emitReshape},
    {"ravel", "x, can_reorder=False", &Emitter::emitRavel},
    {"expand_dims", "input, axis", &Emitter::emitExpandDims},
    {"broadcast_to", "input, *shape", &Emitter::emitBroadcastTo},
    {"broadcast", "input, other", &Emitter::emitBroadcast},
    {"join", "a, b", &Emitter::emitJoin},
    {"split", "a", &Emitter::emitSplit},
    {"interleave", "a, b", &Emitter::emitInterleave},
    {"cat", "input, other, can_reorder=False", &Emitter::emitCat},
    {"gather", "src, index, axis", &Emitter::emitGather},
    {"histogram", "input, num_bins, mask=None", &Emitter::emitHistogram},
    // arithmetic
    {"add", "x, y, sanitize_overflow=True", &Emitter::emitAdd},
    {"sub", "x, y, sanitize_overflow=True", &Emitter::emitSub},
    {"mul", "x, y, sanitize_overflow=True", &Emitter::emitMul},
    {"where", "condition, x, y", &Emitter::emitWhere},
    {"maximum", "x, y, propagate_nan=None", &Emitter::emitMaximum},
    {"minimum", "x, y, propagate_nan=None", &Emitter::emitMinimum},
    {"clamp", "x, min, max, propagate_nan=None", &Emitter::emitClamp},
    {"cdiv", "x, div", &Emitter::emitCdiv},
    {"dot", "input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, out_dtype=None",
     &Emitter::emitDot},
    {"abs", "x", &Emitter::emitAbs},
    {"exp", "x", &Emitter::emitExp},
    {"fast_expf", "x", &Emitter::emitExp},
    {"exp2", "x", &Emitter::emitExp2},
    {"expm1", "x", &Emitter::emitExpm1},
    {"log", "x", &Emitter::emitLog},
    {"fast_logf", "x", &Emitter::emitLog},
    {"log2", "x", &Emitter::emitLog2},
    {"log1p", "x", &Emitter::emitLog1p},
    {"sqrt", "x", &Emitter::emitSqrt},
    {"sqrt_rn", "x", &Emitter::emitSqrtRn},
    {"rsqrt", "x", &Emitter::emitRsqrt},
    {"sin", "x", &Emitter::emitSin},
    {"cos", "x", &Emitter::emitCos},
    {"tanh", "x", &Emitter::emitTanh},
    {"erf", "x", &Emitter::emitErf},
    {"floor", "x", &Emitter::emitFloor},
    {"ceil", "x", &Emitter::emitCeil},
    {"rint", "x", &Emitter::emitRint},
    {"nearbyint", "x", &Emitter::emitRint},
    {"fma", "x, y, z", &Emitter::emitFma},
    {"fdiv", "x, y, ieee_rounding=False", &Emitter::emitFdiv},
    {"fast_dividef", "x, y, ieee_rounding=False", &Emitter::emitFdiv},
    {"div_rn", "x, y", &Emitter::emitDivRn},
    {"umulhi", "x, y", &Emitter::emitUmulhi},
    {"pow", "x, y", &Emitter::emitPow},
    {"isnan", "x", &Emitter::emitIsNaN},
    {"sigmoid", "x", &Emitter::emitSigmoid},
    {"softmax", "x, dim=None, keep_dims=False, ieee_rounding=False", &Emitter::emitSoftmax},
    // reductions and scans
    {"sum", "input, axis=None, keep_dims=False, dtype=None", &Emitter::emitSum},
    {"max", "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False", &Emitter::emitMax},
    {"min", "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False", &Emitter::emitMin},
    {"argmax", "input, axis, tie_break_left=True, keep_dims=False", &Emitter::emitArgmax},
    {"argmin", "input, axis, tie_break_left=True, keep_dims=False", &Emitter::emitArgmin},
    {"xor_sum", "input, axis=None, keep_dims=False", &Emitter::emitXorSum},
    {"reduce_or", "input, axis, keep_dims=False", &Emitter::emitReduceOr},
    {"reduce", "input, axis, combine_fn, keep_dims=False", &Emitter::emitReduce},
    {"associative_scan", "input, axis, combine_fn, reverse=False", &Emitter::emitAssociativeScan},
    {"cumsum", "input, axis=0, reverse=False, dtype=None", &Emitter::emitCumsum},
    {"cumprod", "input, axis=0, reverse=False", &Emitter::emitCumprod},
    // hints, checks, output
    {"multiple_of", "input, values", &Emitter::emitMultipleOf},
    {"max_contiguous", "input, values", &Emitter::emitMaxContiguous},
    {"max_constancy", "input, values", &Emitter::emitMaxConstancy},
    {"assume", "cond", &Emitter::emitAssume},
    {"debug_barrier", "", &Emitter::emitDebugBarrier},
    {"static_assert", "cond, msg=\"\"", &Emitter::emitStaticAssert},
    {"static_print", "*values", &Emitter::emitStaticPrint},
    {"device_assert", "cond, msg=\"\", mask=None", &Emitter::emitDeviceAssert},
    {"device_print", "*values, hex=False", &Emitter::emitDevicePrint},
    {"constexpr", "value", &Emitter::emitConstexpr},
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

} // namespace pellucid::frontend
