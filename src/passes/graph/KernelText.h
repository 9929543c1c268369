// SPDX-License-Identifier: Apache-2.0
/// Kernels that the scheduler needs, written as stock Triton source (docs/design/0003). Every
/// kernel has a one-dimensional grid; sizes and strides that are constants stand in the text, the
/// others become scalar parameters.
#pragma once

#include "graph/Operator.h"
#include "support/DataType.h"
#include "support/SourceFile.h"
#include "symbolic/Expr.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::passes {

/// An element type and a number as the kernel language spells them: `tl.float32`, `0.5`.
std::string tlName(DataType type);
std::string tlNumber(double value);
/// The number of tf32 that is nearest to an f32, whose last 13 bits its units would leave out. What
/// is not a number stays one. Copies by box know this text (codegen/gpu/TensorBoxes.cpp).
std::string roundedToTf32(const std::string &name);

/// A finished kernel: `source` holds one @triton.jit function `name`, whose parameters are first
/// `pointers` pointers (in the order of the spec's inputs, then its outputs), then one int64 for
/// each of `scalars`.
struct KernelText {
  std::string name, source;
  size_t pointers = 0;
  std::vector<symbolic::Expr> scalars;
  symbolic::Expr grid = 1;
  int32_t numWarps = 4;
  int32_t numStages = 3;
  std::string origin; ///< how it was chosen among others, for `inspect`; may be empty
  /// Where the user asked for what each device_assert of `source` checks, in their order.
  std::vector<SourceLocation> assertions;
  /// Pointers, by number, whose memory no other operand of the launch shares.
  std::vector<size_t> separate;
};

/// A tensor that a generated kernel reads or writes. `strides` has one entry per loop dimension, in
/// elements; 0 where it is broadcast. `offset`, in elements, is from the address that the launch
/// passes.
struct TextOperand {
  DataType dtype = DataType::Float32;
  std::vector<symbolic::Expr> strides;
  symbolic::Expr offset = 0;
  bool offsetIsArgument = false;    ///< even where it is known: one kernel serves several places
  std::vector<size_t> windows = {}; ///< of the spec's: it is read inside of all of them only
  int64_t every = 1;                ///< of rows: along them it moves once in so many places
};

/// The indices along `dim` from `from` up to and without `to`: a part of a tensor that is joined
/// from several. A body calls them `part0`, `part1`, …: whether the element is inside.
struct TextWindow {
  size_t dim = 0;
  symbolic::Expr from = 0, to = 0;
};

/// An element of input `table` of a body, at what its earlier values say: each `index` counts along
/// a dim of `size` elements, `along` apart. One outside of the dim fails with a device assertion.
struct TextFetch {
  struct Place {
    std::string index;
    symbolic::Expr along = 1, size = 0;
    bool wraps = false; ///< negative ones count from the end
  };
  size_t table = 0;
  std::vector<Place> places;
};

/// One value of a pointwise body. `text` is an expression of the kernel language over earlier
/// names; `in0`, `in1`, … are the loaded inputs in their stored type.
struct TextStatement {
  std::string name, text;
  /// When not empty, `text` is a condition instead that each element meets, and this says what is
  /// wrong otherwise; a device assertion that names `where`.
  std::string failure = {};
  SourceLocation where = {};
  /// Instead of `text`: what is loaded.
  std::optional<TextFetch> fetch = {};
};
/// An integer that a body mentions by `name`.
struct TextScalar {
  std::string name;
  symbolic::Expr value = 0;
};

/// out_j[i…] = value_j(inputs[i…]) for every index of `shape`.
struct PointwiseSpec {
  std::string name;
  std::vector<symbolic::Expr> shape;
  std::vector<TextOperand> inputs;
  std::vector<TextScalar> scalars;
  std::vector<TextStatement> body;
  std::vector<TextOperand> outputs;
  std::vector<std::string> results; ///< per output: the body's name (or in<k>) that is stored
  bool usesIndex = false;           ///< the body mentions `i`, the element's row-major index
  std::vector<TextWindow> windows = {};
  /// Of inputs that are read where an earlier input says: along the dim of window `window`, at what
  /// input `index` holds, below `size`.
  struct Taken {
    size_t window = 0, index = 0;
    symbolic::Expr size = 0;
    bool isInside = false; ///< every index is known to be below it
  };
  std::map<size_t, std::vector<Taken>> taken = {};
  /// A few columns that lie across the memory are turned round by lines of them: on a device, where
  /// a square would be empty beside them.
  bool turnsByLines = false;
  /// Of each input, where several are read through one pointer; empty: each has its own.
  std::vector<size_t> pointers = {};
};
/// Merges neighbouring dimensions where every operand allows it, then writes the kernel.
KernelText writePointwise(PointwiseSpec spec, const symbolic::SymbolTable &symbols);

/// How a reduction combines. `acc` starts as a tile of `identity`; `step` are statements that take
/// up the tile `v`, at position `at` among the reduced elements where `inside`; `across` are
/// statements that reduce the tile along AXIS (`RAISED(x)` is a result of that beside the tile
/// again) and leave the combined value in `acc`. A state that is more than `acc` is in `place`.
struct ReductionRule {
  std::string identity; ///< `0.0`, `float("-inf")`, …
  std::vector<std::string> start, step, across;
  std::string finish = "acc"; ///< the result, of the combined state
  std::string helper;         ///< a function that `across` or `whole` calls
  /// Of rows that a program holds as a whole, in the place of `step` and `across`: of the elements
  /// `v` at `at`, where `inside`. Empty: there is no other way.
  std::vector<std::string> whole = {};
  DataType accumulate = DataType::Float32;
  bool keepsPlace = false; ///< the state is also `place`, an int64: -1 where there is none
  /// `acc` is a mean; the state is also `spread`, the sum of squared distances from it, and
  /// `count`. Of states `in0`, `in1` and `in2` one is made by `merge`.
  bool keepsSpread = false;
  std::vector<std::string> merge = {};
};

/// out[kept…] = finalize(combine over reduced… of value(inputs[kept…, reduced…])). Strides of the
/// inputs are given over kept dimensions, then reduced ones; those of the output over the kept
/// ones.
struct ReductionSpec {
  std::string name;
  std::vector<symbolic::Expr> kept, reduced;
  std::vector<TextOperand> inputs;
  std::vector<TextScalar> scalars;
  std::vector<TextStatement> body;
  std::string value; ///< the body's name (or in<k>) that is reduced
  ReductionRule rule;
  std::string finalize =
      "acc"; ///< over `acc` (the combined value, a scalar or a tile) and the count `n`
  /// What becomes of the result: statements over `made`, which has the type `type`, and the name
  /// of what is stored. No inputs beside it.
  std::vector<TextStatement> after = {};
  std::string result = "made";
  DataType type = DataType::Float32;
  std::string place; ///< an input that holds where an element stood; empty: it is counted
  std::optional<symbolic::Expr> count; ///< `n`; absent: of the reduced elements
  TextOperand output;
  /// Further reductions of the same elements, whose rules keep one number each: outputs behind the
  /// first, with its strides.
  struct Beside {
    std::string value;
    ReductionRule rule;
    std::string finalize = "acc";
    DataType type = DataType::Float32;
  };
  std::vector<Beside> beside = {};
  /// A second output, with the strides of `output`: the extreme value whose place is the first.
  std::optional<DataType> extreme;
};

/// An index tensor: what it holds counts along a dim of `size` elements, `along` apart. One outside
/// of the dim fails with a device assertion.
struct TextIndex {
  TextOperand operand;
  symbolic::Expr along = 1, size = 0;
  bool wraps = false; ///< negative ones count from the end
};

/// out[i…] = table[i…, with its indexed dims at what places[i…] hold]. Strides of all operands run
/// over `shape`: those of an index are 0 where it is shared, and the table has 0 for dims that it
/// has not and for those that are indexed.
struct GatherSpec {
  std::string name;
  std::vector<symbolic::Expr> shape;
  std::vector<TextIndex> places;
  TextOperand table, output;
  std::string operation; ///< who fails for an index out of range, and where
  SourceLocation where;
  bool forCpu = false; ///< whose programs are started one after the other
};
KernelText writeGather(GatherSpec spec, const symbolic::SymbolTable &symbols);

/// out[i…, with its indexed dims at what places[i…] hold] = source[i…], or that much more. The last
/// `ordered` dims of `shape` are gone through one by one, in order, so that what falls on the same
/// element has one result whatever the number of threads.
/// What becomes of an element that a scatter meets.
enum class ScatterCombine : uint8_t { Replace, Sum, Product, Largest, Smallest };
/// The combination of `old` and `v` as text; NaN wins over every number.
std::string combinedText(ScatterCombine combine, DataType type);

struct ScatterSpec {
  std::string name;
  std::vector<symbolic::Expr> shape;
  size_t ordered = 1;
  std::vector<TextIndex> places;
  TextOperand source, output;
  ScatterCombine combine = ScatterCombine::Replace;
  DataType compute = DataType::Float32;
  std::string operation; ///< as for GatherSpec
  SourceLocation where;
  bool forCpu = false;
};
KernelText writeScatter(ScatterSpec spec, const symbolic::SymbolTable &symbols);

/// out[batch…, m, n] = stored(alpha * sum over k of a[batch…, m, k] * b[batch…, k, n]
/// (+ beta * bias[…, m, n])), accumulated in `accumulate` and rounded once, to `type`. Strides of
/// every operand run over batch…, then its two own dimensions; those of bias over batch…, m, n.
struct GemmSpec {
  std::string name;
  std::vector<symbolic::Expr> batch;
  symbolic::Expr m = 1, n = 1, k = 1;
  TextOperand a, b, output;
  std::vector<TextOperand> bias; ///< none or one
  double alpha = 1, beta = 1;    ///< of the product and of the bias
  DataType accumulate = DataType::Float32;
  bool tf32 = false;   ///< matrix units may leave out the last 13 bits of f32 operands
  bool rounds = false; ///< to tf32, each operand as it is loaded

  /// What becomes of an element before it is stored: statements over `product`, which has the type
  /// `type`, and over elements `in0`, `in1`, … that stand at the same place of `inputs`. Their
  /// strides run over batch…, `rows`…, `columns`….
  DataType type = DataType::Float32;
  std::vector<symbolic::Expr> rows; ///< the dims that m is the product of, outermost first
  /// The dims that n and k are the products of. a and b have a stride for each of `depth`; b, bias,
  /// output and inputs one for each of `columns`. One each where a library kernel multiplies.
  std::vector<symbolic::Expr> columns, depth;
  /// a, bias and output have a stride for each of `rows` instead of one along m.
  bool rowsApart = false;
  /// Where a is seen through windows that reach beyond it (rowsApart): along dim `row` of `rows`
  /// a window begins at row * stride - padding, and place t along dim `depth` of `depth` is
  /// t * dilation further; outside of [0, size) a has zeros.
  struct Border {
    size_t row = 0, depth = 0;
    int64_t stride = 1, dilation = 1, padding = 0;
    symbolic::Expr size = 0;
  };
  std::vector<Border> borders;
  std::vector<TextOperand> inputs;
  std::vector<TextScalar> scalars;
  std::vector<TextStatement> body;
  std::string result = "product"; ///< the body's name (or in<k>) that is stored
};

} // namespace pellucid::passes
