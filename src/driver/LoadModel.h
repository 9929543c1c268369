// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "support/Diagnostics.h"
#include "support/Target.h"
#include "trace/TuneConfigs.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pellucid::driver {

/// A model in the words of the command line; every text but `model` may be empty.
struct ModelRequest {
  /// FILE.py:CLASS, FILE.py:FUNCTION, a saved program, or an archive of torch.export.save
  std::string model;
  std::vector<std::string> inputs; ///< NAME=TYPE[DIMS]
  std::string init;                ///< NAME=LITERAL,…: arguments of the constructor
  std::string dtype;               ///< of the parameters
  std::string weights;             ///< .safetensors, .npz or .safetensors.index.json
  bool looseWeights = false;       ///< they may lack some of the state_dict and have more
  /// What files are told that ask for one: cpu or cuda. Empty: cuda where a target is a GPU.
  std::string device;
  /// What it is compiled for; register_kernel's functions are chosen by their kinds. Empty: by
  /// `device`.
  std::vector<Target> targets;
  /// Files that define the triton_ops and custom_ops that an archive calls.
  std::vector<std::string> kernels;
  std::vector<std::string> paths; ///< folders that absolute imports are looked up in, in order
  std::optional<uint64_t> seed;   ///< of the parameters where there are no weights; none: 0
  bool strict = false;
  bool train = false; ///< a Python model as after train() instead of eval()
  /// Most steps and bytes of values that the model's host code may take (host/Budget.h).
  std::optional<uint64_t> hostSteps, hostMemory;

  bool isPython() const;
  /// By its content.
  bool isArchive() const;
  /// Throws a DiagnosticError for an option that only a Python model takes; the model is `what`.
  void refuseTraceOptions(const char *what) const;
};

/// What loading has to say beside its result. A warning may be followed by an error; notes say what
/// was chosen, such as the size that a dynamic dim has in the example.
struct ModelMessages {
  std::function<void(const Diagnostic &)> warn = [](const Diagnostic &) {};
  std::function<void(const std::string &)> note = [](const std::string &) {};
  /// Asked which config of @triton.autotune a launch takes; empty: the first.
  trace::ConfigChooser chooseConfig;
};

/// Traces the Python model, replays the archive, or loads the program file. Throws DiagnosticError;
/// a mistake in one of the texts is at `--NAME TEXT`.
graph::Program loadModel(const ModelRequest &request, const ModelMessages &messages);

/// `FILE.py:NAME` in two; throws DiagnosticError when it is not of that form (`what` stands for
/// NAME in the text) or the file cannot be read.
std::pair<std::string, std::string> splitTarget(const std::string &text, const char *what);

} // namespace pellucid::driver
