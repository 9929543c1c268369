// SPDX-License-Identifier: Apache-2.0
/// Operators as data: built-in ones and the user's are the same kind of record.
#pragma once

#include "graph/Graph.h"
#include "graph/Schema.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pellucid::graph {

struct Operator;
class OperatorRegistry;

/// A call with its arguments bound: in schema order, defaults filled in.
struct OperatorCall {
  const Operator &op;
  const SymbolTable &symbols;
  std::vector<Argument> args;
  SourceLocation where;

  /// By the schema's argument name; none of these is called for an argument of another type.
  const Argument &at(std::string_view name) const;
  bool has(std::string_view name) const { return !at(name).isNone(); }
  Value *value(std::string_view name) const { return at(name).value(); }
  const TensorType &tensor(std::string_view name) const;
  Expr integer(std::string_view name) const;
  int64_t constant(std::string_view name) const; ///< throws DiagnosticError where it is symbolic
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string string(std::string_view name) const;
  std::vector<Expr> integers(std::string_view name) const;
  std::vector<int64_t> constants(std::string_view name) const;
  std::vector<Value *> tensors(std::string_view name) const;
  std::optional<DataType> dtype(std::string_view name) const;
  std::optional<Device> device(std::string_view name) const;
  /// A dim in [-rank, rank) made non-negative; throws DiagnosticError naming both otherwise.
  int64_t dim(std::string_view name, size_t rank) const;

  [[noreturn]] void fail(const std::string &message) const;
};

/// What the results are; throws DiagnosticError for what the operator refuses.
using FakeFunction = std::function<std::vector<ResultType>(const OperatorCall &)>;

/// Makes nodes at the graph's insertion point that compute the same, and returns their values, one
/// per result.
using DecomposeFunction =
    std::function<std::vector<Value *>(Graph &, const OperatorCall &, const OperatorRegistry &)>;

/// Whether a result is its operand's memory, as ATen decides it from sizes and strides.
enum class Aliasing : uint8_t {
  Fresh,   ///< memory of its own
  View,    ///< the operand's memory
  Same,    ///< the operand itself
  Unknown, ///< one or the other, by sizes that are only known when the program runs
};
using AliasingFunction = std::function<Aliasing(const OperatorCall &)>;

struct Cost {
  Expr flops = 0;
  Expr bytes = 0; ///< read and written once each
};
using CostFunction = std::function<Cost(const OperatorCall &, std::span<const ResultType>)>;

/// How result and computation types follow from the arguments', as ATen's elementwise kinds.
enum class Promotion : uint8_t {
  Default,    ///< promoted; bf16 and f16 computed in f32 and rounded once at the end
  NoOpMath,   ///< promoted, computed in that type (copies, min, max)
  IntToFloat, ///< integers and bool become f32 first
  AlwaysBool, ///< promoted for the comparison, the result is bool
  BoolToLong, ///< bool counts as i64
  Explicit,   ///< the result's dtype comes from an argument (casts): nothing is promoted
};

/// One way to compute an element, chosen by an argument's value and by the computation type.
struct PointwiseCase {
  enum class Domain : uint8_t { Any, Floating, Integer, Bool };
  /// Triton-language expression over the schema's argument names (`self`, `other`, `alpha`), which
  /// are values of the computation type, save `condition` and `mask`, which are bool. `tl` and
  /// `libdevice` are at hand. Its value is converted to the result's type at the end; to bool that
  /// is `!= 0`.
  std::string expression;
  Domain domain = Domain::Any;
  std::string argument = {}; ///< applies when this argument …
  std::string equals = {};   ///< … is this string, or prints like this (`2`, `0.5`; empty: None)
  /// The argument by which the expression divides integers. On the CPU a zero in it ends the run
  /// with an error, as in PyTorch.
  std::string dividesBy = {};
  /// A condition over the arguments that each element meets, else the run ends with the error
  /// `failure`.
  std::string condition = {}, failure = {};
};

struct PointwiseBody {
  Promotion promotion = Promotion::Default;
  std::vector<PointwiseCase> cases; ///< the first that applies
  uint32_t flopsPerElement = 1;
};

/// Reduces `dim` (absent or empty: all) with `keepdim`.
struct ReductionBody {
  enum class Combine : uint8_t { Sum, Max, Min, Prod, ArgMax, ArgMin };
  enum class Accumulate : uint8_t { OpMath, ResultType, Same };
  Combine combine = Combine::Sum;
  Accumulate accumulate =
      Accumulate::OpMath;       ///< bf16 and f16 in f32; bool and integers of a sum in i64
  std::string map = "x";        ///< Triton expression of the element `x`
  std::string finalize = "acc"; ///< of the accumulated `acc` and the count `n`
  std::string identity;         ///< what masked-out elements count as: `0`, `-inf`, …
};

/// A row at a time: one kernel that keeps the row in registers where it fits.
struct RowKernelBody {
  enum class Rule : uint8_t {
    Softmax,
    LogSoftmax,
    LayerNorm,
    RmsNorm,
    LogSumExp,
    Variance,
    Deviation
  };
  Rule rule = Rule::Softmax;
  std::string input;   ///< the row tensor's argument name
  std::string rowDims; ///< the argument with the row's dim(s): `dim` or `normalized_shape`

  /// Normalised to a variance of one over the trailing dims, then scaled by an optional `weight`.
  bool isNorm() const { return rule == Rule::LayerNorm || rule == Rule::RmsNorm; }
  /// One number per row. Calls that are no rows of one dim are decomposed.
  bool isReduced() const { return rule >= Rule::LogSumExp; }
};

/// softmax(query · keyᵀ * scale + mask) · value over the last two dims of `query`, `key` and
/// `value`, whose other dims are a batch. A row that attends to nothing gives zeros.
struct AttentionBody {
  std::string mask; ///< the argument that holds it; empty: the operator takes none
  /// There is a second result: the logarithm of each row's sum of exponentials, 0 for a row that
  /// attends to nothing.
  bool logsumexp = false;
};

/// The value of an element of a tensor made from nothing, as a Triton expression over `i` (the
/// linear index) and the argument names; empty: uninitialised.
struct FactoryBody {
  std::string value;
};

struct Operator {
  enum class Kind : uint8_t {
    Pointwise,
    Reduction,
    RowKernel,
    View,
    Factory,
    Attention, ///< scaled_dot_product_attention
    Gemm,      ///< library call: linear, mm, bmm, addmm, matmul
    Gather,    ///< rows by index: embedding, index_select, gather, index
    Scatter,   ///< the other way: index_put, scatter and their relatives
    Line,      ///< whole lines: running sums, orders
    Copy,      ///< moves elements: clone, contiguous, cat, copy, as_strided_scatter
    Assertion, ///< gives nothing; the run ends with an error where its tensor is 0
    Composite, ///< only ever decomposed
    TritonOp,
    CustomOp, ///< the user's
  };
  Schema schema;
  Kind kind = Kind::Pointwise;
  FakeFunction fake;
  PointwiseBody pointwise;     ///< Pointwise
  ReductionBody reduction;     ///< Reduction
  RowKernelBody row;           ///< RowKernel
  AttentionBody attention;     ///< Attention
  FactoryBody factory;         ///< Factory
  DecomposeFunction decompose; ///< Composite, and any other that can be said in other operators
  CostFunction cost;           ///< empty: what the kind says
  AliasingFunction aliasing;   ///< empty: views are, everything else is fresh
  /// A Python number may stand for a tensor argument (`x + 2` is add.Tensor(x, 2)); it promotes
  /// like a scalar.
  bool numbersAreTensors = false;
  /// Without effect besides its results: may be dropped when they are unused.
  bool pure = true;

  bool isBuiltin = false; ///< registered for all programs
  /// Of a registered one: its target, so that it need not be put together again.
  std::string registeredTarget = {};
  std::string target() const {
    return registeredTarget.empty() ? schema.target() : registeredTarget;
  }
  Aliasing aliasingOf(const OperatorCall &call) const {
    return aliasing ? aliasing(call) : kind == Kind::View ? Aliasing::View : Aliasing::Fresh;
  }
};

/// What the kind says: every operand and result moved once, the pointwise body's flops. Views cost
/// nothing.
Cost kindCost(const OperatorCall &call, std::span<const ResultType> results);
/// FLOPs and bytes of a call, by the operator's own formula or its kind's.
Cost costOf(const OperatorCall &call, std::span<const ResultType> results);

/// The case that applies to these arguments and computation type; throws DiagnosticError when none
/// does.
const PointwiseCase &chooseCase(const OperatorCall &call, DataType computeType);

} // namespace pellucid::graph
