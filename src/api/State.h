// SPDX-License-Identifier: Apache-2.0
/// What stands behind the handles of pellucid.hpp.
#pragma once

#include "graph/Program.h"
#include "host/Interpreter.h"
#include "support/DataType.h"
#include "trace/TensorObject.h"
#include "trace/TraceHooks.h"

#include <pellucid/pellucid.hpp>
#include <pellucid/runtime.h>

namespace pellucid::api {
class Recording;
}

namespace pellucid::detail {

/// Something of the evaluator that a handle stands for.
struct HookState {
  host::Value value;
};

/// Memory with a type, or a value of a trace.
struct TensorState {
  std::shared_ptr<void> owner; ///< keeps `data` alive
  bool isBorrowed = false;     ///< the memory is the caller's or another library's
  /// One for all tensors over the same memory.
  std::shared_ptr<const char> sharers = std::make_shared<const char>('\0');
  std::byte *data = nullptr; ///< the first element
  DataType type = DataType::Float32;
  std::vector<int64_t> shape, strides; ///< strides in elements

  std::shared_ptr<api::Recording> recording; ///< null: the tensor holds data
  std::shared_ptr<trace::TensorObject> object;
};

/// An evaluator and the hooks that lead what it is asked to the trace at hand.
struct FileState {
  FileState(const std::vector<std::string> &roots);

  trace::Tracer moduleTracer; ///< what torch's functions of the file's top level record on
  trace::TraceHooks hooks;
  std::unique_ptr<host::Interpreter> interpreter;
  std::shared_ptr<host::Module> module;
};

struct KernelState {
  std::shared_ptr<FileState> file;
  host::Value kernel;
};

struct OperatorState {
  host::Operator declared; ///< name, form and schema; its function calls `function`
  graph::Schema schema;
  OperatorFunction function, fake;
  std::function<std::vector<Tensor>(autograd::AutogradContext *, std::vector<Tensor>)> backward;
  std::function<void(autograd::AutogradContext *, const std::vector<Argument> &,
                     const std::vector<Tensor> &)>
      setupContext;
};

struct ProgramState {
  graph::Program program;
  std::vector<std::string> warnings;
};

struct PackageState {
  std::vector<uint8_t> bytes; ///< of a package in memory
  pellucid_package *package = nullptr;
  ~PackageState() { (void)pellucid_unload(package); }
};

struct InstanceState {
  std::shared_ptr<PackageState> package;
  pellucid_instance *instance = nullptr;
  ~InstanceState() { pellucid_instance_destroy(instance); }
};

struct CallState {
  std::shared_ptr<PackageState> package;
  std::shared_ptr<InstanceState> instance; ///< null: of the package itself
  std::vector<Tensor> tensors;             ///< whose memory the call uses
  pellucid_call *call = nullptr;
  ~CallState() { pellucid_call_destroy(call); }
};

struct ModuleState {
  std::vector<std::pair<std::string, Tensor>> parameters, buffers;
  std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> children;
};

struct CompiledState {
  std::shared_ptr<PackageState> package;
  std::vector<std::string> names; ///< of the inputs
  /// Where each dynamic dim is read: name, input, dim.
  std::vector<std::tuple<std::string, size_t, size_t>> symbols;
  std::vector<std::pair<symbolic::Expr, bool>> followed; ///< Tracer::followed
};

} // namespace pellucid::detail

namespace pellucid::api {

using detail::TensorState;
using pellucid::Argument; // over graph::Argument, where both are in sight

/// Runs `body` and turns what the compiler throws into Error.
template <typename F> auto guarded(F &&body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error &) {
    throw;
  } catch (const DiagnosticError &error) {
    throw Error(error.what());
  } catch (const std::exception &error) {
    throw Error(std::string("internal error: ") + error.what());
  }
}

static_assert(static_cast<int>(dtype::uint64) == static_cast<int>(DataType::UInt64) &&
              static_cast<int>(dtype::float64) == static_cast<int>(DataType::Float64) &&
              static_cast<int>(dtype::float8_e5m2) == static_cast<int>(DataType::Float8E5M2));
inline DataType toDataType(dtype type) { return static_cast<DataType>(type); }
inline dtype fromDataType(DataType type) { return static_cast<dtype>(type); }

/// A size as an expression, and back.
symbolic::Expr toExpr(const SymInt &size);
SymInt fromExpr(const symbolic::Expr &expr);

/// The state of a tensor that must exist, and be of the trace under way or none.
const TensorState &stateOf(const Tensor &tensor, const char *what);
/// Whether it is a value of a trace, which has no data. Of what is recorded outside of a trace it
/// is not so.
bool isTraced(const TensorState &state);
/// The tensor itself where its data lie in memory; a recorded one's values, computed now, to be
/// read only. Error inside of a trace that it is a value of.
Tensor inMemory(const Tensor &tensor, const char *what);
/// Fresh row-major memory.
Tensor allocate(DataType type, const std::vector<int64_t> &shape);
Tensor wrapState(TensorState state);
std::vector<int64_t> rowMajor(const std::vector<int64_t> &shape);
bool isRowMajor(const TensorState &state);
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
/// What `path` holds becomes the values of `tensors`: all of it, or an Error that lists the names
/// that do not fit (with `strict`), or the first tensor of another type or shape.
void assignStateDict(NamedTensors tensors, const std::map<std::string, Tensor> &given,
                     const std::string &path, bool strict);
/// The elements of `to` become those of `from`, whose shape and type they have.
void assign(const Tensor &to, const Tensor &from);
/// Refuses what a package cannot be given.
void checkOutsideOfTraces(const TensorState &state);
/// A view of the tensor, which keeps memory, shape and strides.
DLTensor borrowTensor(const TensorState &state);
/// Takes `managed` over, whose type and device must be ones of ours.
Tensor adoptTensor(DLManagedTensorVersioned *managed);

/// Runs a loaded package, with the state of `instance` unless that is null. Throws Error with the
/// run time's words.
std::vector<Tensor> runPackage(const detail::PackageState &package,
                               const std::vector<Tensor> &inputs,
                               pellucid_instance *instance = nullptr,
                               const pellucid_run_options *options = nullptr);
/// Compiles into memory and loads. Throws DiagnosticError or Error.
std::shared_ptr<detail::PackageState> compileAndLoad(const graph::Program &program,
                                                     const CompileOptions &options);

/// Calls a built-in operator: recorded while tracing, else compiled for these arguments, kept and
/// run.
std::vector<Tensor> callBuiltin(const std::string &name, const std::vector<Argument> &arguments,
                                const triton::Keywords &keywords);
/// Launches a kernel the same two ways.
void launchKernel(const std::shared_ptr<detail::KernelState> &kernel, const triton::Grid &grid,
                  const std::vector<Argument> &arguments, const triton::Keywords &keywords);
/// A user operator by `ns::name`; null when there is none.
std::shared_ptr<detail::OperatorState> findOperator(const std::string &name);

} // namespace pellucid::api
