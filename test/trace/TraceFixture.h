// SPDX-License-Identifier: Apache-2.0
/// Models and functions traced from a text.
#pragma once

#include "trace/TraceModel.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace pellucid::trace {

class TextTrace : public testing::Test {
protected:
  std::filesystem::path file;
  symbolic::SymbolTable symbols;
  TraceOptions options;
  std::vector<TraceInput> inputs;
  std::vector<std::string> warnings, notes;

  void SetUp() override {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    file = std::filesystem::path(testing::TempDir()) /
           ("pellucid_" + std::to_string(getpid()) + "_" + name + ".py");
    options.warn = [this](Diagnostic d) { warnings.push_back(d.message); };
    options.note = [this](const std::string &note) { notes.push_back(note); };
  }
  void TearDown() override { std::filesystem::remove(file); }

  void input(const char *name, std::vector<graph::Expr> shape, DataType type = DataType::Float32) {
    inputs.push_back({name, graph::TensorType(type, std::move(shape))});
  }
  graph::Program trace(const std::string &text, const std::string &name) {
    std::ofstream(file) << "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
                           "import triton\nimport triton.language as tl\n"
                        << text;
    return traceModel(file.string(), name, inputs, symbols, options);
  }
  /// What the trace is refused with; empty when it is not.
  std::string refusal(const std::string &text, const std::string &name) {
    try {
      trace(text, name);
      return {};
    } catch (const DiagnosticError &error) {
      return error.diagnostic.message;
    }
  }
  static bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
  }
  /// A weight of floats, as a file holds it.
  static graph::Weight weight(std::vector<int64_t> shape, float value) {
    graph::Weight made;
    made.path = "w.safetensors";
    made.shape = std::move(shape);
    size_t count = 1;
    for (int64_t size : made.shape)
      count *= static_cast<size_t>(size);
    auto data = std::make_shared<std::vector<float>>(count, value);
    made.bytes = count * sizeof(float);
    made.data = {data, reinterpret_cast<const std::byte *>(data->data())};
    return made;
  }
};

} // namespace pellucid::trace
