// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"
#include "host/Kernel.h"
#include "support/DataType.h"
#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::frontend {

/// What one parameter of the Python function is in this specialisation.
struct ParameterSpec {
  /// Loaded: a scalar that a launch passes in memory, being computed when the program runs.
  /// Descriptor: a tensor descriptor that the host made; its base, sizes and strides are passed.
  /// Tuple: of `elements`, which are passed one by one.
  enum class Kind : uint8_t {
    Pointer,
    Scalar,
    Constexpr,
    None,
    Loaded,
    Descriptor,
    Tuple
  } kind = Kind::Scalar;
  DataType dtype = DataType::Int32; ///< pointee or scalar
  host::Value constant;             ///< Constexpr
  uint32_t divisibility =
      0;                  ///< Pointer, Scalar: known to be a multiple of it (0: nothing is known)
  bool equalsOne = false; ///< Scalar: an integer that is 1, as a stride must be in some places
  std::vector<int64_t> block;          ///< Descriptor: of a tile
  bool padsWithNan = false;            ///< Descriptor: what is read outside of the tensor, else 0
  std::vector<ParameterSpec> elements; ///< Tuple
  std::shared_ptr<host::Class> tupleClass; ///< Tuple: the NamedTuple's; null: a plain one
};

/// A run-time parameter of the tt.func; constexprs and None are gone.
struct EmittedParameter {
  std::string name;
  ParameterSpec::Kind kind = ParameterSpec::Kind::Scalar;
  DataType dtype = DataType::Int32;
  size_t parameter = 0; ///< of the Python function that it belongs to
};

/// The run-time parameters of the kernel, in order. A descriptor has several: its base, then its
/// sizes as int32, then all strides but the last, which is 1, as int64. A tuple has those of its
/// elements.
std::vector<EmittedParameter> runtimeParameters(const host::JitFunction &kernel,
                                                std::span<const ParameterSpec> parameters);

/// What a kernel may unroll to, helpers and `static_range` included. Every stage that follows is
/// linear in it.
inline constexpr uint64_t mostStatements = 100'000;

/// A statement before which a debugger wants to see the kernel's variables.
struct StopPoint {
  std::string path; ///< of the source file
  uint32_t line = 0;
};
/// How the tt.print of a variable at a stop point begins; its name follows. The one that ends the
/// stop has no name. `=text` after a name: the variable is this constant.
inline constexpr std::string_view stopPrefix = "\x01stop:";

struct EmitOptions {
  /// tl.device_assert and `assert` on values of the kernel are kept. Triton keeps them with
  /// debug=True only.
  bool assertions = true;
  std::optional<StopPoint> stopAt;
};

/// What became of an emission beside the module and the diagnostics.
struct EmitOutcome {
  uint64_t statements = 0; ///< emitted, those thrown away again included
  /// Refused for something that no other argument types and constants change: a name that the
  /// language or the file does not have, a construct that is not part of the language.
  bool isUnsupported = false;
};

/// What an emission took from the host program around the kernel. While none of it has changed,
/// emitting again gives the same IR.
class HostReads {
public:
  void name(const host::JitFunction &reader, std::string_view name, const host::Value &value);
  void attribute(const host::Value &object, std::string_view name, const host::Value &value);
  /// Something was asked for that may answer differently without any of the above changing.
  void unrepeatable() { repeatable = false; }
  bool unchanged(host::Interpreter &interpreter) const;

private:
  struct Read {
    std::shared_ptr<host::Function> reader; ///< of a free name …
    host::Value object;                     ///< … or what has the attribute
    std::string name;
    host::Value value;
  };
  void add(Read read);
  std::vector<Read> reads;
  bool repeatable = true;
};

/// Emits one public tt.func named like the kernel, and nothing else, for this specialisation (one
/// spec per Python parameter). On an error reports at the user's line and returns null.
/// `interpreter` evaluates module globals and constexpr functions.
mlir::OwningOpRef<mlir::ModuleOp>
emitKernel(host::Interpreter &interpreter, const host::JitFunction &kernel,
           std::span<const ParameterSpec> parameters, mlir::MLIRContext &context,
           Diagnostics &diagnostics, std::vector<EmittedParameter> *emitted,
           const EmitOptions &options = {}, EmitOutcome *outcome = nullptr,
           HostReads *reads = nullptr);

} // namespace pellucid::frontend
