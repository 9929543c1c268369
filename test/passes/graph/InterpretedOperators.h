// SPDX-License-Identifier: Apache-2.0
/// Every way to write an operator as kernels, for both kinds of device, at sizes that fit no tile:
/// against the operator's definition, and no kernel touches what is not its own.
#pragma once

#include "InterpretedLaunches.h"

namespace pellucid::passes {

using List = Argument::List;
using Shape = std::vector<int64_t>;
inline constexpr DataType f32 = DataType::Float32, f16 = DataType::Float16,
                          bf16 = DataType::BFloat16, f64 = DataType::Float64, i64 = DataType::Int64,
                          i32 = DataType::Int32, i8 = DataType::Int8, boolean = DataType::Bool;

inline double boundOf(DataType type) { return type == f16 ? 2e-3 : type == bf16 ? 1.6e-2 : 2e-6; }

class InterpretedOperators : public InterpretedLaunches {
protected:
  Value *tensor(DataType type, Shape shape, int64_t range = 4) {
    std::string name = "x" + std::to_string(inputs.size());
    return input(name.c_str(), type, std::move(shape), range);
  }
  Value *one(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return call(target, std::move(args), std::move(kwargs))->result();
  }
  void onDevice(double bound, const std::function<std::vector<Value *>()> &build) {
    onEach({hopper}, bound, build);
  }
  std::vector<Value *> two(Node *node) { return {node->result(0), node->result(1)}; }
  /// The same elements with the last two dims of the memory exchanged.
  Value *turned(DataType type, Shape shape) {
    size_t rank = shape.size();
    std::swap(shape[rank - 1], shape[rank - 2]);
    return one("aten.transpose.int", {tensor(type, shape), int64_t(rank) - 2, int64_t(rank) - 1});
  }
  /// The same elements with memory between them.
  Value *sliced(DataType type, Shape shape) {
    shape.back() = shape.back() * 2 + 1;
    return one("aten.slice.Tensor",
               {tensor(type, shape), int64_t(shape.size()) - 1, 1, shape.back(), 2});
  }
};

} // namespace pellucid::passes
