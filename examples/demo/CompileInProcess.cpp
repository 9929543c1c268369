// SPDX-License-Identifier: Apache-2.0
#include "CompileInProcess.h"

#include "driver/Compile.h"
#include "graph/ProgramFile.h"
#include "package/PackageWriter.h"
#include "trace/TraceModel.h"

#include <cstring>
#include <pellucid/runtime.h>
#include <stdexcept>

namespace demo {

using namespace pellucid;

struct CompiledModel::State {
  std::vector<uint8_t> bytes;
  pellucid_package *package = nullptr;
  ~State() { (void)pellucid_unload(package); }
};

namespace {

graph::Program traceProgram(const std::string &source, const std::string &way, bool strict, const std::string &weights) {
  symbolic::SymbolTable symbols;
  symbols.declare("batch", {{1, 1024}, 1, 8});
  trace::TraceOptions options;
  options.strict = strict;
  options.dtype = DataType::BFloat16;
  options.init = {{"way", "'" + way + "'"}};
  options.weights = graph::loadWeights(weights);
  graph::TensorType type(DataType::BFloat16, {symbolic::Expr::symbol("batch"), features});
  return trace::traceModel(source, "Model", {{"x", type}}, symbols, options);
}

} // namespace

CompiledModel::CompiledModel(const std::string &source, const std::string &way, bool strict, const std::string &weights)
    : state(new State) {
  graph::Program program = traceProgram(source, way, strict, weights);
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, {}, contents, report, diagnostics))
    throw std::runtime_error(diagnostics.text());
  if (package::Status status = package::packageBytes(contents, state->bytes); !status.ok())
    throw std::runtime_error(status.message());
  if (pellucid_load_memory(state->bytes.data(), state->bytes.size(), nullptr, &state->package) != PELLUCID_OK)
    throw std::runtime_error(pellucid_last_error());
}

CompiledModel::~CompiledModel() = default;

Bf16 CompiledModel::run(const Bf16 &input, int64_t batch) const {
  int64_t shape[] = {batch, features};
  DLTensor tensor{};
  tensor.data = const_cast<uint16_t *>(input.data());
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 2;
  tensor.dtype = {kDLBfloat, 16, 1};
  tensor.shape = shape;
  DLManagedTensorVersioned *result = nullptr;
  if (pellucid_run(state->package, &tensor, 1, &result, 1, nullptr) != PELLUCID_OK)
    throw std::runtime_error(pellucid_last_error());
  Bf16 output(static_cast<size_t>(result->dl_tensor.shape[0] * result->dl_tensor.shape[1]));
  std::memcpy(output.data(), result->dl_tensor.data, output.size() * sizeof(uint16_t));
  result->deleter(result);
  return output;
}

} // namespace demo
