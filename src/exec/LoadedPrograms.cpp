// SPDX-License-Identifier: Apache-2.0
// What torch.export.load reads in a script: the program of an archive, its weights as tensors of
// the script, and what its results were made of.
#include "archive/Archive.h"
#include "driver/LoadModel.h"
#include "exec/Programs.h"
#include "trace/TensorObject.h"

namespace pellucid::exec {

namespace h = pellucid::host;
using graph::InputSpec;

namespace {

trace::ConcreteTensor valuesOf(const graph::Weight &weight) {
  trace::ConcreteTensor out;
  out.dtype = weight.dtype;
  out.shape = weight.shape;
  out.strides.resize(out.shape.size());
  int64_t stride = 1;
  for (size_t d = out.shape.size(); d-- > 0; stride *= out.shape[d])
    out.strides[d] = stride;
  out.data = weight.data;
  return out;
}

/// Each dim's size or its text.
h::Value sizesOf(const graph::TensorType &type) {
  h::List sizes;
  for (const symbolic::Expr &size : type.shape)
    sizes.push_back(size.isConstant() ? h::Value(*size.constant()) : h::Value(size.text()));
  return h::Value::list(std::move(sizes));
}

} // namespace

h::Value loadProgram(eager::Session &session, const std::string &path) {
  driver::ModelRequest request;
  request.model = path;
  if (!request.isArchive())
    throw DiagnosticError(SourceLocation(path), "is no archive of torch.export.save");
  auto loaded = std::make_shared<ProgramObject>();
  graph::Program &program = loaded->traced.program;
  program = driver::loadModel(request, {});
  h::List held, inputs;
  size_t at = 0;
  for (const graph::Node &node : program.main) {
    if (!node.isPlaceholder())
      continue;
    const InputSpec &spec = program.inputs.at(at++);
    if (spec.kind == InputSpec::Kind::UserInput) {
      if (node.result()->isTensor())
        inputs.push_back(
            h::Value::tuple({h::Value(node.result()->name()), sizesOf(node.result()->type())}));
      continue;
    }
    auto weight = program.weights.find(spec.name);
    if (weight == program.weights.end() || !weight->second.data)
      continue;
    h::Value tensor = session.tensorOf(valuesOf(weight->second));
    const auto &storage = tensor.as<trace::TensorObject>()->tensor.storage;
    loaded->traced.held.emplace_back(storage, storage->version);
    held.push_back(tensor);
  }
  archive::Archive archive = archive::readArchive(path);
  return h::Value::tuple({h::Value(loaded), h::Value::list(std::move(held)),
                          h::Value::list(std::move(inputs)), h::Value(archive.outputTree)});
}

} // namespace pellucid::exec
