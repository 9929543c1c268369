// SPDX-License-Identifier: Apache-2.0
/// The rules that fake functions share: type promotion, broadcasting, strides of results, views.
#pragma once

#include "graph/Operator.h"

namespace pellucid::graph {

/// ATen's promotion of two types, without looking at scalars: i8 with u8 is i16, bf16 with f16 is
/// f32.
DataType promoteTypes(DataType a, DataType b);

/// One operand as promotion sees it: a tensor with dims weighs more than one without, which weighs
/// more than a number, as far as they are of one category (bool < integer < floating).
struct PromotionOperand {
  DataType dtype;
  enum class Priority : uint8_t { Dimensioned, ZeroDim, Number } priority;
};
DataType resultType(std::span<const PromotionOperand> operands);
/// What a number becomes where elements of an integer type are computed: truncated, then wrapped,
/// or for the bounds of a clamp moved to the end of the type's range.
enum class OutOfRange : uint8_t { Wraps, Saturates };
int64_t integerOf(const Argument &number, DataType type, OutOfRange how);
/// Refuses a number that ATen does not convert to `type`: for unsigned types negative ones of a
/// size that fits are converted.
void checkNumberFits(const OperatorCall &call, std::string_view name, DataType type);

/// bool, i64 or f32 for a Python number. (f32 is PyTorch's default dtype.)
DataType numberType(const Argument &number);

/// bf16 and f16 are computed in f32; everything else in itself.
DataType opMathType(DataType dtype);
/// The type that elements are computed in, and the one of the result, for a pointwise call.
struct PointwiseTypes {
  DataType compute; ///< what the expression works in
  DataType common;  ///< promoted; operands are converted to it first
  DataType result;
};
PointwiseTypes pointwiseTypes(const OperatorCall &call);

/// Broadcasts; where dims can neither be proved equal nor 1, fails naming both. `names` are for the
/// message.
std::vector<Expr> broadcastShapes(const OperatorCall &call, const std::vector<Expr> &a,
                                  const std::vector<Expr> &b);

/// Strides of a new tensor.
struct NewStrides {
  std::vector<Expr> strides;
  bool known = true; ///< false: symbolic strides could not be ordered, PyTorch's may be others
};
/// For a tensor of `shape` computed element by element from `operands`: dense, with the dims in the
/// operands' order, of which the first that tells two dims apart decides (TensorIterator's rule).
NewStrides elementwiseStrides(const std::vector<Expr> &shape,
                              std::span<const TensorType *const> operands,
                              const SymbolTable &symbols);
/// What PyTorch's suggest_memory_format() says: the channels of images (4 dims) or volumes (5) lie
/// innermost, in slices of such tensors too.
bool suggestsChannelsLast(const TensorType &type, const SymbolTable &symbols);
/// Those of a tensor of that shape whose channels lie innermost.
std::vector<Expr> channelsLastStrides(std::vector<Expr> shape);
/// Dense, with the dims in the order that they have in `type`.
std::vector<Expr> preservedStrides(const TensorType &type, const SymbolTable &symbols);
/// Whether a fresh result has the strides that PyTorch gives it for every size.
bool hasKnownStrides(const OperatorCall &call);
/// Whether it is row-major whatever strides its operands have, and whether or not they are known.
bool isAlwaysRowMajor(const OperatorCall &call);
/// Whether every element of `type` is known to have a place of its own.
bool isWithoutOverlap(const TensorType &type, const SymbolTable &symbols);

/// The sizes with -1 replaced; fails when the counts cannot be proved to match.
std::vector<Expr> inferSizes(const OperatorCall &call, const TensorType &from,
                             const std::vector<Expr> &sizes);
/// `from` seen with `shape` without moving an element; nullopt where that is not possible or not
/// provable.
std::optional<std::vector<Expr>> viewStrides(const TensorType &from, const std::vector<Expr> &shape,
                                             const SymbolTable &symbols);
/// View where viewStrides() has strides, Fresh where none are possible, Unknown where sizes decide.
Aliasing reshapeAliasing(const TensorType &from, const std::vector<Expr> &shape,
                         const SymbolTable &symbols);

/// The dims of a reduction made non-negative, all of them when none is named; each at most once.
std::vector<int64_t> reducedDims(const OperatorCall &call, const TensorType &self,
                                 std::string_view argument = "dim");
std::vector<Expr> reducedShape(const TensorType &self, const std::vector<int64_t> &dims,
                               bool keepdim);

int64_t wrapDim(const OperatorCall &call, int64_t dim, size_t rank);
/// A dim of `self` that is there: reductions and orders take a tensor without dims for one with a
/// dim of size 1, what cuts a tensor along a dim does not.
size_t existingDim(const OperatorCall &call, std::string_view name, const TensorType &self);
std::string shapeText(const std::vector<Expr> &shape);

/// The eps of a norm: the argument, or for None the machine epsilon of the input's dtype.
double rowEpsilon(const OperatorCall &call);

/// The fake function of every pointwise operator.
std::vector<ResultType> pointwiseFake(const OperatorCall &call);

} // namespace pellucid::graph
