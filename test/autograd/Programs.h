// SPDX-License-Identifier: Apache-2.0
/// Functions of a text, traced with reverse mode and evaluated by the reference interpreter.
#pragma once

#include "reference/graph/Interpreter.h"
#include "trace/TraceModel.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace pellucid::trace {

struct GivenTensor {
  std::string name;
  reference::Tensor tensor;
};

class TextFile {
public:
  explicit TextFile(const std::string &text)
      : path(std::filesystem::path(testing::TempDir()) /
             ("pellucid_autograd_" + std::to_string(getpid()) + "_" + std::to_string(++count) +
              ".py")) {
    std::ofstream(path) << "import math\nimport torch\nimport torch.nn as nn\nimport "
                           "torch.nn.functional as F\n"
                        << text;
  }
  ~TextFile() { std::filesystem::remove(path); }
  const std::filesystem::path path;

private:
  static inline int count = 0;
};

inline graph::Program traceText(const std::string &text, const std::string &name,
                                const std::vector<GivenTensor> &given, bool fromTheStart = false) {
  TextFile file(text);
  std::vector<TraceInput> inputs;
  for (const GivenTensor &one : given) {
    TraceInput input;
    input.name = one.name;
    input.type =
        graph::TensorType(one.tensor.dtype, {one.tensor.shape.begin(), one.tensor.shape.end()});
    inputs.push_back(std::move(input));
  }
  TraceOptions options;
  options.gradients = fromTheStart;
  return traceModel(file.path.string(), name, inputs, symbolic::SymbolTable(), options);
}

/// The user's outputs: what is written to inputs stands before them.
inline std::vector<reference::Tensor> evaluateProgram(const graph::Program &program,
                                                      const std::vector<GivenTensor> &given) {
  std::vector<reference::Datum> inputs;
  for (const GivenTensor &one : given)
    inputs.push_back(one.tensor.copy());
  std::vector<reference::Tensor> results;
  std::vector<reference::Datum> all = reference::evaluate(program, inputs, {});
  for (size_t i = 0; i < all.size(); ++i)
    if (program.outputs[i].kind == graph::OutputSpec::Kind::UserOutput)
      results.push_back(std::get<reference::Tensor>(all[i]));
  return results;
}

/// What the program is refused with, notes included; empty when it is not.
inline std::string refusalOf(const std::string &text, const std::string &name,
                             const std::vector<GivenTensor> &given = {}) {
  try {
    traceText(text, name, given);
    return {};
  } catch (const DiagnosticError &error) {
    std::string all = error.diagnostic.message;
    for (const Diagnostic &note : error.diagnostic.notes)
      all += "\n" + note.message;
    return all;
  }
}

} // namespace pellucid::trace
