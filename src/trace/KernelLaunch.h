// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"
#include "trace/Tracer.h"

namespace pellucid::frontend {
struct ParameterSpec;
}

namespace pellucid::trace {

/// A tensor as the host program sees it.
class TensorObject;

/// Kernels of one trace: specialises them on first use and shares them afterwards.
class KernelTable {
public:
  KernelTable(Tracer &tracer, host::Interpreter &interpreter);
  ~KernelTable();

  /// What one parameter of the kernel is at this launch.
  struct Parameter {
    /// Loaded: a number that is computed when the program runs, passed as a tensor of one element.
    /// Descriptor: the host's, of a tensor of this dtype.
    /// Tuple: one that holds a tensor, or a size that is not known while compiling.
    enum class Kind : uint8_t {
      Tensor,
      Int,
      Float,
      Bool,
      None,
      Constexpr,
      Loaded,
      Descriptor,
      Tuple
    } kind = Kind::Constexpr;
    DataType dtype = DataType::Int32;
    host::Value constant;
    bool equalsOne = false;                  ///< Int: known to be 1 in every call
    std::vector<int64_t> block;              ///< Descriptor
    bool padsWithNan = false;                ///< Descriptor
    std::vector<Parameter> elements;         ///< Tuple
    std::shared_ptr<host::Class> tupleClass; ///< Tuple: the NamedTuple's; null: a plain one

    /// What the kernel's compiler is told of it.
    frontend::ParameterSpec spec() const;
  };
  /// The index in Program::kernels of `kernel` for these parameters. Throws DiagnosticError at the
  /// kernel's line.
  uint32_t specialise(const host::JitFunction &kernel, const std::vector<Parameter> &parameters);

  /// How often IR was made.
  uint64_t emitted() const;

  /// Kernels print their variables before the statement at this place, for the interpreter.
  void stopAt(std::string path, uint32_t line);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// A host value as a constant of a launch.
graph::Argument constantArgument(const host::Value &value);

/// Binds `kernel[grid](args…)` as Triton does and records the launch: autotune (what the tracer's
/// chooser says, else the first config after pruning) and its pre_hook, heuristics, defaults, grid.
/// Where constexprs or options depend on a dynamic dimension there is one guarded variant per way
/// that they can go. Gives whether it prints.
bool recordLaunch(Tracer &tracer, KernelTable &kernels, host::Interpreter &interpreter,
                  const host::Value &kernel, const host::Value &grid, const host::CallArgs &args);

} // namespace pellucid::trace
