// SPDX-License-Identifier: Apache-2.0
/// Fusion inside a kernel: a load becomes the computation of what was loaded, a store is preceded
/// by what follows it. DESIGN section 5: recomputation at an offset.
#pragma once

#include "fusion/AccessExtent.h"
#include "support/DataType.h"
#include "symbolic/Expr.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace pellucid::tt {
class FuncOp;
class LoadOp;
class StoreOp;
} // namespace pellucid::tt

namespace pellucid::fusion {

/// How an operand of a chain is found from the linear offset of the element that the kernel
/// touches.
struct ChainOperand {
  enum class Kind : uint8_t {
    SameOrder, ///< the element at the same offset
    Scalar,    ///< the only element
    Broadcast, ///< the element at the sum of `parts`
    Through,   ///< epilogues only: the value that the kernel stores
    Size,      ///< no tensor: the integer `size`, as an int64
  } kind = Kind::SameOrder;
  DataType dtype = DataType::Float32;
  symbolic::Expr size = 1; ///< Size
  /// Dims that are not broadcast, neighbours as one: (offset floordiv inner mod extent) * stride.
  /// All three are at least 1, in an empty tensor too.
  struct Part {
    symbolic::Expr inner = 1;             ///< elements of the result in all later dims
    std::optional<symbolic::Expr> extent; ///< none where no dim comes before
    symbolic::Expr stride = 1;
  };
  std::vector<Part> parts; ///< Broadcast
};

/// A pointwise computation as scalar code: a module with one kernel `chain(out, in0, in1, …)` of
/// straight-line code that ends by storing its result through `out`.
struct Chain {
  mlir::ModuleOp scalar; ///< ChainBuilder's
  std::vector<ChainOperand> operands;
  DataType result = DataType::Float32;
  bool expensive = false; ///< has an exp, a division or the like: not to be repeated in a loop
  bool fitsInt32 = false; ///< so does the offset of every element

  tt::FuncOp function() const;
  tt::StoreOp store() const; ///< of the result
};

/// What the kernel has been given: arguments appended to its signature, in this order.
struct AddedArguments {
  std::vector<std::optional<unsigned>>
      pointers; ///< per operand of the chain: its argument's number; none for Through and Size
  std::vector<std::pair<symbolic::Expr, unsigned>> scalars; ///< int64 values
  /// Where the chain's result is stored: after a kernel, and before it where the result is kept.
  std::optional<unsigned> output;
};

/// Why the loads through `arguments` cannot be replaced by `chain`; nullopt when they can. Reasons
/// begin with the rule that stands against it: `atomic`, `masked with other`, `cost`, …
std::optional<std::string> refuseLoadFusion(tt::FuncOp kernel,
                                            const std::vector<unsigned> &arguments,
                                            const Chain &chain, const LaunchValues &launch);
/// Why no load through `arguments` touches each of `elements` elements once, so that what it loads
/// could be stored beside it; nullopt when one does.
std::optional<std::string> refuseKeeping(tt::FuncOp kernel, const std::vector<unsigned> &arguments,
                                         const LaunchValues &launch,
                                         const symbolic::Expr &elements);
/// Whether what a kernel computed or stored so far is stored as well.
enum class Keep : bool { No, Yes };
/// Replaces them. Only after refuseLoadFusion found nothing. The arguments stay, unused. Keep::Yes,
/// only after refuseKeeping found nothing for `launch`: the result is stored through a new pointer,
/// too.
AddedArguments fuseIntoLoads(tt::FuncOp kernel, const std::vector<unsigned> &arguments,
                             const Chain &chain, Keep keep, const LaunchValues &launch,
                             const symbolic::Expr &elements);

/// Why nothing may follow the store through argument `argument` to a tensor of `elements` elements;
/// nullopt when something can.
std::optional<std::string> refuseStoreFusion(tt::FuncOp kernel, unsigned argument,
                                             const LaunchValues &launch,
                                             const symbolic::Expr &elements);

/// What kind of access makes the kernel read and write what is behind `argument`: `atomic: …`,
/// `read-back: …`.
std::string describeReadWrite(tt::FuncOp kernel, unsigned argument);
/// Makes the kernel store chain(value, …) through a new pointer argument. The old argument stays,
/// unused; with Keep::Yes the value is stored through it as before.
AddedArguments fuseIntoStore(tt::FuncOp kernel, unsigned argument, const Chain &chain, Keep keep);

/// Drops the arguments in `unused` (ascending) from the signature.
void eraseArguments(tt::FuncOp kernel, const std::vector<unsigned> &unused);

} // namespace pellucid::fusion
