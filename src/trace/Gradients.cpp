// SPDX-License-Identifier: Apache-2.0
// Edges, views and writes of reverse mode.
#include "trace/Gradients.h"

#include "graph/FakeRules.h"
#include "trace/Derivatives.h"
#include "trace/TensorCalls.h"

#include <algorithm>
#include <numeric>

namespace pellucid::trace {

using namespace graph;
using autograd::Edge;
namespace h = pellucid::host;

namespace {

h::Value sizesValue(const std::vector<Expr> &sizes) {
  h::Tuple values;
  for (const Expr &size : sizes)
    values.push_back(h::Value::integer(size));
  return h::Value::tuple(std::move(values));
}

h::Value callDerivativeFunction(h::Interpreter &interpreter, const char *name,
                                std::vector<h::Value> arguments) {
  auto module = interpreter.nativeModule("torch._pellucid_derivatives");
  return interpreter.call(*module->globals->find(name), std::move(arguments));
}

/// Sizes, strides and offset of a view, and those of the tensor that it is a view of.
struct Placement {
  TensorType of, view;
  std::vector<h::Value> arguments() const {
    return {sizesValue(of.shape),   sizesValue(of.strides),   h::Value::integer(of.offset),
            sizesValue(view.shape), sizesValue(view.strides), h::Value::integer(view.offset)};
  }
};

/// A view whose base was written to since: as_strided of the base.
class RegeneratedView : public TensorNode {
public:
  RegeneratedView(Tracer &t, h::Interpreter &i, Placement p)
      : TensorNode(t, i), place(std::move(p)) {
    outputs = {place.view};
  }
  std::string name() const override { return "AsStridedBackward0"; }
  std::vector<h::Value> apply(h::Interpreter &interpreter,
                              std::vector<h::Value> gradients) override {
    std::vector<h::Value> arguments = place.arguments();
    arguments.insert(arguments.begin(), gradients[0]);
    return {callDerivativeFunction(interpreter, "_of_view", std::move(arguments))};
  }

private:
  Placement place;
};

/// A write through a view: what was there before, with the contents in their place.
class CopySlices : public TensorNode {
public:
  CopySlices(Tracer &t, h::Interpreter &i, Placement p) : TensorNode(t, i), place(std::move(p)) {
    outputs = {place.of};
  }
  std::string name() const override { return "CopySlices"; }
  std::vector<h::Value> apply(h::Interpreter &interpreter,
                              std::vector<h::Value> gradients) override {
    std::vector<h::Value> arguments = place.arguments();
    arguments.insert(arguments.begin(), gradients[0]);
    std::vector<h::Value> results(2);
    if (next[0])
      results[0] = callDerivativeFunction(interpreter, "_of_rest", arguments);
    if (next[1])
      results[1] = callDerivativeFunction(interpreter, "_of_place", arguments);
    return results;
  }

private:
  Placement place;
};

/// A copy on another device.
class Move : public TensorNode {
public:
  Move(Tracer &t, h::Interpreter &i, const TensorObject &copy, Device d)
      : TensorNode(t, i), device(d) {
    outputs = {copy.tensor.type};
  }
  std::string name() const override { return "ToCopyBackward0"; }
  std::vector<h::Value> apply(h::Interpreter &interpreter,
                              std::vector<h::Value> gradients) override {
    auto *gradient = gradients[0].as<TensorObject>();
    return {gradient ? onDevice(*gradient, interpreter, device) : gradients[0]};
  }

private:
  Device device;
};

/// Adds to a leaf's gradient.
class Accumulation : public TensorNode {
public:
  Accumulation(Tracer &t, h::Interpreter &i, std::shared_ptr<TensorObject> leaf)
      : TensorNode(t, i), variable(std::move(leaf)) {
    outputs = {variable->tensor.type};
    outputHooks = {variable->meta->hooks};
  }
  std::string name() const override { return "AccumulateGrad"; }
  bool accumulates() const override { return true; }
  h::Value context() const override { return h::Value(variable); }
  std::vector<h::Value> apply(h::Interpreter &interpreter,
                              std::vector<h::Value> gradients) override {
    accumulateGradient(interpreter, *variable, gradients[0]);
    return {};
  }

private:
  std::shared_ptr<TensorObject> variable;
};

/// Memory of its own that holds what `gradient` holds: in a graph of immutable values that costs
/// nothing.
h::Value ownCopy(h::Interpreter &interpreter, TensorObject &gradient) {
  Tracer &tracer = gradient.tracer;
  TracedTensor &tensor = gradient.tensor;
  if (tensor.mayOverlap || !tensor.type.isContiguous(tracer.symbols()))
    return callAten(tracer, interpreter, "clone",
                    argsOf({selfOf(gradient)}, {{"memory_format", h::Value("contiguous_format")}}));
  Value *value = tracer.valueOf(tensor, interpreter.location());
  if (value->type() != TensorType(value->type().dtype, value->type().shape, value->type().device))
    return callAten(tracer, interpreter, "clone", argsOf({selfOf(gradient)}));
  return tensorValue(tracer, tracer.wrap(value));
}

/// A gradient of a leaf's own has the order of its memory, where that is dense.
static h::Value inOrderOf(h::Interpreter &interpreter, const TensorObject &leaf,
                          TensorObject &gradient) {
  Tracer &tracer = leaf.tracer;
  const TensorType &type = leaf.tensor.type;
  if (type.isContiguous(tracer.symbols()) || gradient.tensor.type.shape != type.shape ||
      preservedStrides(type, tracer.symbols()) != type.strides)
    return ownCopy(interpreter, gradient);
  std::vector<size_t> order(type.rank());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return type.strides[a].constantOr(0) > type.strides[b].constantOr(0);
  });
  h::List toMemory, back(type.rank());
  for (size_t i = 0; i < order.size(); ++i) {
    toMemory.emplace_back(static_cast<int64_t>(order[i]));
    back[order[i]] = h::Value(static_cast<int64_t>(i));
  }
  h::Value laid = callAten(tracer, interpreter, "permute",
                           argsOf({selfOf(gradient), h::Value::list(std::move(toMemory))}));
  laid = callAten(tracer, interpreter, "clone",
                  argsOf({laid}, {{"memory_format", h::Value("contiguous_format")}}));
  return callAten(tracer, interpreter, "permute", argsOf({laid, h::Value::list(std::move(back))}));
}

/// A gradient lies where its leaf does.
void placeBeside(const h::Value &gradient, const TensorObject &leaf, bool isOwn) {
  auto *tensor = gradient.as<TensorObject>();
  if (!tensor || (!isOwn && tensor->tensor.storage->isPlaced))
    return;
  tensor->tensor.storage->device = leaf.tensor.storage->device;
  tensor->tensor.storage->isPlaced = leaf.tensor.storage->isPlaced;
}

} // namespace

void accumulateGradient(h::Interpreter &interpreter, TensorObject &leaf, const h::Value &gradient) {
  auto *given = gradient.as<TensorObject>();
  if (!given)
    return;
  autograd::Meta &meta = metaOf(leaf);
  bool recorded = isNoted(leaf.tracer);
  if (meta.grad.isNone()) {
    meta.grad = recorded ? gradient : inOrderOf(interpreter, leaf, *given);
    placeBeside(meta.grad, leaf, !recorded);
  } else if (recorded)
    meta.grad = interpreter.binary(h::BinaryOp::Add, meta.grad, gradient);
  else
    meta.grad.as<TensorObject>()->assign(
        interpreter, interpreter.binary(h::BinaryOp::Add, meta.grad, gradient), "add_");
  for (const h::Value &hook : meta.afterAccumulation.functions())
    interpreter.call(hook, {selfOf(leaf)});
}

bool isNoted(const Tracer &tracer) {
  return tracer.gradients.records() && (!tracer.isConstructing() || isEager(tracer));
}

autograd::Meta &metaOf(TensorObject &tensor) {
  if (!tensor.meta)
    tensor.meta = std::make_shared<autograd::Meta>();
  return *tensor.meta;
}

/// The base of a view was written to since the view's history was made: it has the base's now.
static void refresh(TensorObject &tensor) {
  if (!tensor.base || tensor.seen == tensor.tensor.storage->counted ||
      tensor.making == TensorObject::Making::WithoutGrad)
    return;
  h::Interpreter *interpreter = h::Interpreter::active();
  Edge edge = gradientEdge(*tensor.base);
  tensor.seen = tensor.tensor.storage->counted;
  if (!interpreter || (!edge && !tensor.meta))
    return;
  autograd::Meta &meta = metaOf(tensor);
  if (!edge) {
    meta.source = {};
    return;
  }
  auto node = std::make_shared<RegeneratedView>(
      tensor.tracer, *interpreter, Placement{tensor.base->tensor.type, tensor.tensor.type});
  node->next = {edge};
  meta.source = {node, 0};
}

bool requiresGrad(TensorObject &tensor) {
  if (!tensor.tracer.gradients.available)
    return false;
  refresh(tensor);
  return tensor.meta && (tensor.meta->requiresGrad || tensor.meta->source);
}

void noteMove(h::Interpreter &interpreter, TensorObject &source, TensorObject &copy) {
  if (!isNoted(source.tracer) || !requiresGrad(source))
    return;
  auto node =
      std::make_shared<Move>(source.tracer, interpreter, copy, source.tensor.storage->device);
  node->next = {gradientEdge(source)};
  metaOf(copy).source = {node, 0};
}

bool isLeaf(TensorObject &tensor) { return !requiresGrad(tensor) || !tensor.meta->source; }

Edge gradientEdge(TensorObject &tensor) {
  if (!requiresGrad(tensor))
    return {};
  autograd::Meta &meta = *tensor.meta;
  if (meta.source)
    return meta.source;
  std::shared_ptr<autograd::Node> accumulator = meta.accumulator.lock();
  if (!accumulator) {
    auto self = std::static_pointer_cast<TensorObject>(tensor.shared_from_this());
    accumulator = std::make_shared<Accumulation>(tensor.tracer, *h::Interpreter::active(), self);
    meta.accumulator = accumulator;
  }
  return {accumulator, 0};
}

void setRequiresGrad(h::Interpreter &interpreter, TensorObject &tensor, bool value) {
  if (value && !isFloat(tensor.tensor.type.dtype))
    interpreter.raise("RuntimeError",
                      "only Tensors of floating point and complex dtype can require gradients");
  bool isResult = requiresGrad(tensor) && tensor.meta->source;
  if (!value && isResult)
    interpreter.raise(
        "RuntimeError",
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use var_no_grad = "
        "var.detach().");
  if (!isResult && (value || tensor.meta))
    metaOf(tensor).requiresGrad = value;
}

std::shared_ptr<TensorObject> detached(const TensorObject &tensor) {
  auto other = std::make_shared<TensorObject>(tensor.tracer, tensor.tensor);
  other->isUncounted = tensor.isUncounted;
  return other;
}

//===-- Gradients have their tensor's type ----------------------------------------------------===//

static std::string shapeOf(const TensorType &type) {
  std::string text;
  for (const Expr &size : type.shape)
    text += (text.empty() ? "" : ", ") + size.text();
  return "[" + text + "]";
}

/// Sums over the dims that were broadcast; null where the shapes do not go together.
static std::optional<h::Value> sumTo(Tracer &tracer, h::Interpreter &interpreter,
                                     TensorObject &gradient, const TensorType &type) {
  const std::vector<Expr> &from = gradient.tensor.type.shape, &to = type.shape;
  if (from.size() < to.size())
    return std::nullopt;
  size_t lead = from.size() - to.size();
  h::List dims;
  for (size_t d = 0; d < from.size(); ++d) {
    bool isOne = d >= lead && tracer.symbols().proveEqual(to[d - lead], 1);
    if (d >= lead && tracer.symbols().proveEqual(to[d - lead], from[d]))
      continue;
    if (d >= lead && !isOne) {
      // Sizes of the program that were taken as equal when they met.
      if (from[d].constant() && to[d - lead].constant())
        return std::nullopt;
      continue;
    }
    dims.push_back(h::Value(static_cast<int64_t>(d)));
  }
  if (dims.empty())
    return selfOf(gradient);
  h::Value sum = callAten(tracer, interpreter, "aten.sum.dim_IntList",
                          argsOf({selfOf(gradient), h::Value::list(dims), h::Value(true)}));
  return lead ? callAten(tracer, interpreter, "reshape", argsOf({sum, sizesValue(to)})) : sum;
}

h::Value TensorNode::conform(h::Interpreter &interpreter, uint32_t output, h::Value gradient,
                             const autograd::Node &from) {
  auto *tensor = gradient.as<TensorObject>();
  if (!tensor)
    interpreter.raise("RuntimeError", from.name() + " returned a gradient of type " +
                                          h::typeName(gradient) + "; tensors and None are");
  const TensorType &type = outputs.at(output);
  if (!isFloat(tensor->tensor.type.dtype))
    interpreter.raise("RuntimeError", "Function " + from.name() +
                                          " returned a gradient of an integer or bool type");
  if (tensor->tensor.type.shape != type.shape) {
    std::optional<h::Value> sum = sumTo(tracer, interpreter, *tensor, type);
    if (!sum)
      interpreter.raise("RuntimeError",
                        "Function " + from.name() + " returned an invalid gradient at index " +
                            std::to_string(output) + " - got " + shapeOf(tensor->tensor.type) +
                            " but expected shape compatible with " + shapeOf(type));
    gradient = *sum;
    tensor = gradient.as<TensorObject>();
  }
  return castTo(*tensor, interpreter, type.dtype);
}

//===-- Saved tensors -------------------------------------------------------------------------===//

static h::Value hookOf(h::Interpreter &interpreter, const char *name) {
  auto module = interpreter.nativeModule("torch._pellucid_tape");
  const h::Value *found = module ? module->globals->find(name) : nullptr;
  return found ? *found : h::Value();
}

SavedTensor::SavedTensor(h::Interpreter &interpreter, TensorObject &object,
                         std::optional<uint32_t> o)
    : tracer(object.tracer), tensor(object.tensor), version(object.tensor.storage->counted),
      output(o) {
  if (!output && requiresGrad(object)) {
    source = object.meta->source;
    if (!source) {
      gradientEdge(object);
      meta = object.meta;
    }
  }
  h::Value pack = hookOf(interpreter, "_pack");
  if (pack.isNone())
    return;
  unpackHook = hookOf(interpreter, "_unpack");
  autograd::ModeGuard guard(tracer.gradients, false);
  packed = interpreter.call(pack, {h::Value(detached(object))});
  tensor = TracedTensor();
}

static std::string torchTypeName(const TensorType &type) {
  static const std::pair<DataType, const char *> names[] = {
      {DataType::Float32, "FloatTensor"}, {DataType::Float64, "DoubleTensor"},
      {DataType::Float16, "HalfTensor"},  {DataType::BFloat16, "BFloat16Tensor"},
      {DataType::Int64, "LongTensor"},    {DataType::Int32, "IntTensor"},
      {DataType::Int16, "ShortTensor"},   {DataType::Int8, "CharTensor"},
      {DataType::UInt8, "ByteTensor"},    {DataType::Bool, "BoolTensor"}};
  std::string device = type.device.kind == Device::Kind::Cuda ? "torch.cuda." : "torch.";
  for (auto [known, name] : names)
    if (known == type.dtype)
      return device + name;
  return device + std::string(info(type.dtype).torch);
}

h::Value SavedTensor::unpack(h::Interpreter &interpreter, const autograd::Node &owner) const {
  std::shared_ptr<TensorObject> object;
  if (!tensor.storage) {
    h::Value given = interpreter.call(unpackHook, {packed});
    auto *unpacked = given.as<TensorObject>();
    if (!unpacked)
      interpreter.raise("TypeError", "Output of saved tensor unpack_hook expected to be a Tensor "
                                     "but got result of type " +
                                         h::typeName(given));
    object = detached(*unpacked);
  } else {
    if (tensor.storage->counted != version) {
      std::string maker =
          output ? ", which is output " + std::to_string(*output) + " of " + owner.name()
          : source
              ? ", which is output " + std::to_string(source.output) + " of " + source.node->name()
              : "";
      try {
        interpreter.raise(
            "RuntimeError",
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation: [" +
                torchTypeName(tensor.type) + " " + shapeOf(tensor.type) + "]" + maker +
                ", is at version " + std::to_string(tensor.storage->counted) +
                "; expected version " + std::to_string(version) +
                " instead. Hint: enable anomaly detection to find the operation that failed to "
                "compute its gradient, with torch.autograd.set_detect_anomaly(True).");
      } catch (h::RaisedError &error) {
        if (tensor.storage->written)
          error.diagnostic.note(*tensor.storage->written, "it was written to here");
        error.diagnostic.note(owner.where, "it was needed for the gradient of this");
        throw h::RaisedError(error.diagnostic, error.exception);
      }
    }
    object = std::make_shared<TensorObject>(tracer, tensor);
  }
  object->meta = meta;
  if (output) {
    metaOf(*object).source = {std::const_pointer_cast<autograd::Node>(owner.shared_from_this()),
                              *output};
  } else if (source) {
    metaOf(*object).source = source;
  }
  return h::Value(object);
}

void SavedTensor::moveTo(const TracedTensor &from, const TracedTensor &self) {
  if (tensor.storage != from.storage || tensor.type != self.type)
    return;
  tensor = self;
  version = self.storage->counted;
}

//===-- Views and writes ----------------------------------------------------------------------===//

void linkView(TensorObject &result, const std::vector<h::Value> &operands, bool severalViews) {
  for (const h::Value &operand : operands) {
    auto object = operand.shared<TensorObject>();
    if (!object || object.get() == &result || object->tensor.storage != result.tensor.storage)
      continue;
    result.base = object->base ? object->base : object;
    result.seen = result.tensor.storage->counted;
    result.isUncounted = object->isUncounted;
    const autograd::Mode &mode = result.tracer.gradients;
    result.making = severalViews    ? TensorObject::Making::SeveralViews
                    : !mode.enabled ? TensorObject::Making::WithoutGrad
                                    : object->making;
    return;
  }
}

void checkInPlace(h::Interpreter &interpreter, TensorObject &tensor) {
  if (!isNoted(tensor.tracer))
    return;
  if (tensor.base && tensor.making != TensorObject::Making::Plain &&
      (requiresGrad(tensor) || requiresGrad(*tensor.base))) {
    if (tensor.making == TensorObject::Making::WithoutGrad)
      interpreter.raise(
          "RuntimeError",
          "A view was created in no_grad mode and is being modified inplace with grad "
          "mode enabled. Given that this use case is ambiguous and error-prone, it is "
          "forbidden. You can clarify your code by moving both the view and the "
          "inplace either both inside the no_grad block (if you don't want the "
          "inplace to be tracked) or both outside (if you want the inplace to be "
          "tracked).");
    interpreter.raise("RuntimeError",
                      "Output " + std::to_string(tensor.meta ? tensor.meta->source.output : 0) +
                          " of " +
                          (tensor.meta && tensor.meta->source ? tensor.meta->source.node->name()
                                                              : std::string("a function")) +
                          " is a view and is being modified inplace. This view is the output of a "
                          "function that returns multiple views. Such functions do not allow the "
                          "output views to be modified inplace. You should replace the inplace "
                          "operation by an out-of-place one.");
  }
  if (requiresGrad(tensor) && isLeaf(tensor))
    interpreter.raise("RuntimeError", "a leaf Variable that requires grad is being used in an "
                                      "in-place operation.");
  if (tensor.base && requiresGrad(*tensor.base) && isLeaf(*tensor.base))
    interpreter.raise("RuntimeError", "a view of a leaf Variable that requires grad is being used "
                                      "in an in-place operation.");
}

h::Value contentsOf(TensorObject &tensor, h::Interpreter &interpreter,
                    const h::CallArgs *operands) {
  bool isRequiring = requiresGrad(tensor);
  if (!isNoted(tensor.tracer) ||
      (isRequiring ? isLeaf(tensor) : !operands || !wantsGradient(*operands)))
    return selfOf(tensor);
  Value *value = tensor.tracer.valueOf(tensor.tensor, interpreter.location());
  auto contents = std::make_shared<TensorObject>(tensor.tracer, tensor.tracer.wrap(value));
  if (isRequiring)
    metaOf(*contents).source = gradientEdge(tensor);
  contents->tensor.storage->stridesKnown = tensor.tensor.storage->stridesKnown;
  return h::Value(contents);
}

void noteWrite(h::Interpreter &interpreter, TensorObject &tensor, TensorObject &contents) {
  Tracer &tracer = tensor.tracer;
  if (!tracer.gradients.available)
    return;
  bool records = isNoted(tracer);
  Edge edge = records ? gradientEdge(contents) : Edge();
  Edge before;
  if (records && tensor.base)
    before = gradientEdge(*tensor.base);
  if (!tensor.isUncounted)
    ++tensor.tensor.storage->counted;
  if (!records)
    return;
  if (!tensor.base) {
    if (edge || tensor.meta) {
      autograd::Meta &meta = metaOf(tensor);
      meta.source = edge;
      if (edge)
        meta.requiresGrad = false;
    }
    if (edge)
      rehomeResults(*edge.node, contents.tensor, tensor.tensor);
    return;
  }
  if (!edge && !before)
    return;
  auto node = std::make_shared<CopySlices>(tracer, interpreter,
                                           Placement{tensor.base->tensor.type, tensor.tensor.type});
  node->next = {before, edge};
  autograd::Meta &meta = metaOf(*tensor.base);
  meta.source = {node, 0};
  meta.requiresGrad = false;
}

} // namespace pellucid::trace
