// SPDX-License-Identifier: Apache-2.0
// What an archive takes: placeholders for tensors, numbers and weights.
#include "trace/ArchiveComplex.h"
#include "trace/ArchiveReplay.h"
#include "trace/ArchiveWeights.h"

#include <algorithm>
#include <functional>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;
using AKind = archive::Argument::Kind;

void ArchiveReplay::bindInputs() {
  for (size_t i = 0; i < archive.inputs.size(); ++i) {
    const archive::Input &input = archive.inputs[i];
    const archive::Argument &name = archive.graph->inputs[i];
    current = SourceLocation(archive.path);
    switch (input.kind) {
    case archive::Input::Kind::User:
      bindUserInput(input);
      break;
    case archive::Input::Kind::ConstantInput:
      // Fixed at export: the model was traced with this value.
      scope[name.text.empty() ? input.name : name.text] =
          hostValue(input.value, scope, *archive.graph);
      break;
    default:
      bindWeight(input);
    }
  }
}

const archive::TensorMeta &ArchiveReplay::metaOf(const std::string &name) const {
  auto meta = archive.graph->tensors.find(name);
  if (meta == archive.graph->tensors.end())
    fail("describes no tensor '" + name + "', which is an input");
  return meta->second;
}

void ArchiveReplay::bindUserInput(const archive::Input &input) {
  const archive::Argument &given = input.value;
  if (given.kind == AKind::SymBool)
    fail("its input '" + given.text +
         "' is a truth value that differs from call to call; a package takes tensors: export it "
         "with a constant there, or with a tensor");
  if (given.kind == AKind::SymInt || given.kind == AKind::SymFloat)
    return bindNumber(given);
  if (given.kind != AKind::Tensor)
    return; // a number, a text or None, of which the graph holds the value already
  const archive::TensorMeta &meta = metaOf(given.text);
  h::Value tensor = userTensor(given.text, TensorType(meta.dtype, meta.sizes));
  if (!meta.isComplex)
    return define(given.text, tensor);
  options.note("'" + given.text +
               "' is complex: the package takes the pairs of its parts, as torch.view_as_real() "
               "gives them");
  define(given.text, complexOf(*interpreter, tensor));
}

h::Value ArchiveReplay::userTensor(const std::string &name, const TensorType &type) {
  TracedTensor tensor = tracer.placeholder(name, type);
  InputSpec spec;
  spec.name = name;
  tracer.program.inputs.push_back(spec);
  userInputs.emplace_back(name, tensor.storage);
  return tensorValue(tracer, tensor);
}

/// A number that differs from call to call comes in a tensor without dims.
void ArchiveReplay::bindNumber(const archive::Argument &given) {
  DataType dtype = given.kind == AKind::SymInt ? DataType::Int64 : DataType::Float64;
  h::Value tensor = userTensor(given.text, TensorType(dtype, {}));
  define(given.text, interpreter->call(interpreter->getAttr(tensor, "item")));
  options.note("'" + given.text + "' is a number: the package takes it as a tensor without dims, " +
               std::string(info(dtype).cli) + "[]");
}

void ArchiveReplay::define(const std::string &name, h::Value value) {
  scope.insert_or_assign(name, std::move(value));
}

std::vector<Expr> ArchiveReplay::exprs(const std::vector<int64_t> &numbers) {
  return {numbers.begin(), numbers.end()};
}

TracedTensor ArchiveReplay::weightPlaceholder(const archive::Input &input, Weight weight) {
  TensorType type(weight.dtype, exprs(weight.shape));
  TracedTensor tensor = tracer.placeholder(input.value.text, type);
  tensor.storage->isParameter = input.kind == archive::Input::Kind::Parameter;
  InputSpec spec;
  spec.kind = input.kind == archive::Input::Kind::Parameter ? InputSpec::Kind::Parameter
              : input.kind == archive::Input::Kind::Buffer  ? InputSpec::Kind::Buffer
                                                            : InputSpec::Kind::ConstantTensor;
  spec.name = input.name;
  spec.persistent = input.persistent;
  if (tracer.program.weights.count(input.name))
    fail("has two tensors of the name '" + input.name + "'");
  tracer.program.weights.emplace(input.name, std::move(weight));
  tracer.program.inputs.push_back(spec);
  buffers.emplace_back(input.name, tensor.storage);
  return tensor;
}

/// Its elements as they lie in the file become a placeholder; where they do not lie row by row,
/// the tensor is a view of that.
void ArchiveReplay::bindWeight(const archive::Input &input) {
  const archive::Tensor &tensor = tensorOf(archive, input);
  const archive::TensorMeta &meta = metaOf(input.value.text);
  if (meta.dtype != tensor.dtype || meta.sizes != exprs(tensor.sizes))
    fail("describes '" + input.name + "' in its graph otherwise than among its tensors");
  auto [tied, isNew] = bound.try_emplace(
      {tensor.storage.get(), tensor.dtype, tensor.offset, tensor.sizes, tensor.strides});
  bool isEmpty = std::count(tensor.sizes.begin(), tensor.sizes.end(), 0) > 0;
  if (isNew || isEmpty)
    tied->second = boundWeight(input, tensor);
  h::Value value = tensorValue(tracer, tied->second);
  define(input.value.text, meta.isComplex ? complexOf(*interpreter, value) : value);
  if (isNew)
    viewsOf[tensor.storage.get()].push_back(tied->second.storage);
}

TracedTensor ArchiveReplay::boundWeight(const archive::Input &input,
                                        const archive::Tensor &tensor) {
  if (isRowMajor(tensor) || std::count(tensor.sizes.begin(), tensor.sizes.end(), 0))
    return weightPlaceholder(input, weightAt(tensor, tensor.sizes));
  if (auto order = denseOrder(tensor)) {
    std::vector<int64_t> shape, inverse(order->size());
    for (size_t i = 0; i < order->size(); ++i) {
      shape.push_back(tensor.sizes[(*order)[i]]);
      inverse[(*order)[i]] = static_cast<int64_t>(i);
    }
    TracedTensor whole = weightPlaceholder(input, weightAt(tensor, shape));
    return viewOf(whole, "aten.permute.default", {Argument::list(exprs(inverse))});
  }
  int64_t span = 1;
  for (size_t d = 0; d < tensor.sizes.size(); ++d)
    span += (tensor.sizes[d] - 1) * tensor.strides[d];
  TracedTensor whole = weightPlaceholder(input, weightAt(tensor, {span}));
  return viewOf(whole, "aten.as_strided.default",
                {Argument::list(exprs(tensor.sizes)), Argument::list(exprs(tensor.strides)),
                 Argument(int64_t(0))});
}

TracedTensor ArchiveReplay::viewOf(TracedTensor &whole, const char *target,
                                   std::vector<Argument> arguments) {
  SourceLocation where(archive.path);
  arguments.insert(arguments.begin(), Argument(tracer.valueOf(whole, where)));
  return tracer.call(target, std::move(arguments), {}, {&whole}, where).at(0);
}

} // namespace pellucid::trace
