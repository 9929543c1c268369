// SPDX-License-Identifier: Apache-2.0
/// A Python file's model or function as a program.
#pragma once

#include "graph/Program.h"
#include "host/Interpreter.h"
#include "trace/AssumedDevice.h"
#include "trace/TuneConfigs.h"

#include <optional>
#include <string>
#include <vector>

namespace pellucid::trace {

struct TraceInput {
  enum class Form : uint8_t { Tensor, Literal, Tuple, List, Dict };
  std::string name; ///< the parameter it is given for; empty: by position
  graph::TensorType type;
  Form form = Form::Tensor;
  std::string literal;              ///< Literal: a Python literal, fixed in the program
  std::string key;                  ///< of an element of a dict: a Python literal
  std::vector<TraceInput> elements; ///< of a container; its tensors are inputs of the program
};

struct TraceOptions {
  bool strict = false;
  bool train = false; ///< the model as after train() instead of eval()
  /// Operators are noted for reverse mode. A model that asks for gradients is traced again with it.
  bool gradients = false;
  std::vector<std::string> roots; ///< folders that absolute imports are looked up in
  std::optional<DataType> dtype;  ///< model.to(dtype)
  AssumedDevice device;
  /// What the program is made for: it chooses among an operator's kernels. Empty: the device's.
  std::vector<std::string> kernelDevices;
  std::vector<std::pair<std::string, std::string>>
      init;                                     ///< constructor arguments: name, Python literal
  uint64_t seed = 0;                            ///< of parameters that `weights` does not have
  std::map<std::string, graph::Weight> weights; ///< by state_dict name; all of them when not empty
  bool strictWeights = true; ///< `weights` has what state_dict() has, no less and no more
  std::function<void(Diagnostic)> warn = [](Diagnostic) {};
  std::function<void(const std::string &)> note = [](const std::string &) {};
  ConfigChooser chooseConfig; ///< of @triton.autotune's; empty: the first that pruning leaves
  /// What the host code may use (host/Budget.h); none: the interpreter's own limits.
  std::optional<uint64_t> hostSteps, hostBytes;
  bool defersMissingImports =
      false; ///< names from files that are not there fail where they are used
};

/// Traces `name` (a class derived from torch.nn.Module, or a function) of `path` on `inputs`, whose
/// dynamic dims are declared in `symbols`. Throws DiagnosticError.
graph::Program traceModel(const std::string &path, const std::string &name,
                          const std::vector<TraceInput> &inputs,
                          const symbolic::SymbolTable &symbols, const TraceOptions &options);

/// Replays the graph of an archive of torch.export.save; its calls of triton_ops and custom_ops run
/// what the files `kernels` define. Throws DiagnosticError; operators that are missing are named
/// all at once.
graph::Program traceArchive(const std::string &path, const std::vector<std::string> &kernels,
                            const TraceOptions &options);

/// One launch of one kernel on tensors of known types: what `launch` compiles. `arguments` are by
/// parameter name; tensors become inputs `name` of the program, written ones its mutated inputs.
/// `warn` is told of what is left out or passed over in this launch.
/// `stopAt`: a file and a line before which the interpreter is to stop (KernelTable::stopAt).
struct LaunchValue {
  std::string name;
  std::optional<graph::TensorType> tensor;
  host::Value value; ///< when it is no tensor
};
graph::Program traceLaunch(const std::string &path, const std::string &kernel,
                           const std::vector<int64_t> &grid,
                           const std::vector<LaunchValue> &arguments,
                           const std::vector<std::string> &roots, std::optional<int32_t> numWarps,
                           std::optional<int32_t> numStages,
                           std::optional<std::pair<std::string, uint32_t>> stopAt = std::nullopt,
                           const std::function<void(const Diagnostic &)> &warn = nullptr);

} // namespace pellucid::trace
