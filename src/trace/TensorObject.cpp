// SPDX-License-Identifier: Apache-2.0
#include "trace/AtenComposites.h"
#include "trace/Dispatch.h"
#include "trace/EagerRecorder.h"
#include "trace/Gradients.h"
#include "trace/OperandErrors.h"
#include "trace/PytorchNames.h"
#include "trace/TensorMethods.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using Bound = std::vector<h::Value>;

bool isEager(const Tracer &tracer) { return tracer.recorder && tracer.recorder->isRecording(); }

/// As torch names it: "cuda:0", "cpu".
static std::string deviceText(const TensorObject &tensor) {
  const Device &device = tensor.tensor.storage->device;
  return saysCuda(tensor) ? "cuda:" + std::to_string(std::max(device.index, 0))
                          : toString(tensor.tensor.type.device);
}

std::string TensorObject::repr() const {
  if (!isEager(tracer))
    return "tensor(" + toString(tensor.type) + ")";
  TracedTensor held = tensor;
  h::Interpreter *interpreter = h::Interpreter::active();
  SourceLocation where = interpreter ? interpreter->location() : SourceLocation();
  std::vector<std::string> before, after;
  if (saysCuda(*this))
    before.push_back("device='" + deviceText(*this) + "'");
  if (interpreter) {
    auto *self = const_cast<TensorObject *>(this);
    auto grad = self->getAttr(*interpreter, "grad_fn"),
         wants = self->getAttr(*interpreter, "requires_grad");
    if (grad && !grad->isNone())
      after.push_back("grad_fn=<" + h::typeName(*grad) + ">");
    else if (wants && interpreter->truth(*wants))
      after.push_back("requires_grad=True");
  }
  std::string text =
      tensorText(tracer.recorder->valuesOf(held, where), tracer.printing, before, after);
  return isParameter ? "Parameter containing:\n" + text : text;
}

std::string TensorObject::format(h::Interpreter &interpreter, std::string_view spec) {
  if (isEager(tracer) && tensor.type.rank() == 0 && !isParameter)
    return interpreter.format(itemOf(*this, interpreter), spec);
  if (spec.empty())
    return interpreter.str(selfOf(*this));
  interpreter.raise("TypeError",
                    "unsupported format string passed to " + typeName() + ".__format__");
}

h::Value tensorValue(Tracer &tracer, TracedTensor tensor) {
  return h::Value(std::make_shared<TensorObject>(tracer, std::move(tensor)));
}

void TensorObject::beforeReplaced(h::Interpreter &interpreter, const h::Value &owner,
                                  std::string_view name, const h::Value &next) {
  auto *other = next.as<TensorObject>();
  auto *module = isParameter && other && !other->isParameter ? owner.as<h::Instance>() : nullptr;
  if (!module || !isEager(tracer))
    return;
  bool isModule =
      std::any_of(module->cls->mro.begin(), module->cls->mro.end(), [](const auto &cls) {
        return cls->name == "Module" && cls->location.file &&
               cls->location.file->path() == "<torch.nn>";
      });
  if (isModule)
    interpreter.raise("TypeError", "cannot assign '" + nameOfClass(*other) + "' as parameter '" +
                                       std::string(name) +
                                       "' (torch.nn.Parameter or None expected)");
}

static std::string sizesText(const TensorType &type) {
  std::string text = "[";
  for (const Expr &size : type.shape)
    text += (text.size() > 1 ? ", " : "") + size.text();
  return text + "]";
}

h::Value TensorObject::assign(h::Interpreter &interpreter, const h::Value &value,
                              const std::string &name, bool uniform) {
  SourceLocation where = interpreter.location();
  auto *contents = value.as<TensorObject>();
  checkInPlace(interpreter, *this);
  if (!contents)
    interpreter.refuse("'" + name + "' has several results, which one tensor cannot receive");
  if (isEager(tracer) && contents->tensor.type.shape != tensor.type.shape)
    interpreter.raise("RuntimeError", "output with shape " + sizesText(tensor.type) +
                                          " doesn't match the broadcast shape " +
                                          sizesText(contents->tensor.type));
  if (contents->tensor.type.shape != tensor.type.shape)
    interpreter.refuse("'" + name + "' would change the tensor's shape from " +
                       toString(tensor.type) + " to " + toString(contents->tensor.type));
  // copy_() and fill_() convert whatever they get.
  auto category = [](DataType type) { return isFloat(type) ? 2 : type == DataType::Bool ? 0 : 1; };
  if (category(contents->tensor.type.dtype) > category(tensor.type.dtype) && name != "copy_" &&
      name != "fill_" && name != "zero_" && isEager(tracer))
    interpreter.raise("RuntimeError", "result type " + scalarName(contents->tensor.type.dtype) +
                                          " can't be cast to the desired output type " +
                                          scalarName(tensor.type.dtype));
  if (category(contents->tensor.type.dtype) > category(tensor.type.dtype) && name != "copy_" &&
      name != "fill_" && name != "zero_")
    interpreter.refuse("'" + name + "' gives " +
                       std::string(info(contents->tensor.type.dtype).torch) +
                       ", which PyTorch does not write into a tensor of " +
                       std::string(info(tensor.type.dtype).torch) + "; convert it first");
  h::Value cast = castTo(*contents, interpreter, tensor.type.dtype);
  tracer.write(tensor, tracer.valueOf(cast.as<TensorObject>()->tensor, where), where, uniform);
  noteWrite(interpreter, *this, *cast.as<TensorObject>());
  return h::Value(shared_from_this());
}

/// x.T reverses the dims, x.mT swaps the last two. Numbers here are real, so that H is T.
static h::Value flipped(h::Interpreter &interpreter, TensorObject &self, std::string_view name) {
  int64_t rank = static_cast<int64_t>(self.tensor.type.rank());
  bool matrices = name[0] == 'm';
  if (matrices && rank == 1)
    interpreter.raise(
        "RuntimeError",
        "tensor." + std::string(name) +
            " is only supported on matrices or batches of matrices, got a tensor of " +
            std::to_string(rank) + " dims");
  if (name == "H" && rank != 0 && rank != 2)
    interpreter.raise("RuntimeError", "tensor.H is only supported on matrices, got a tensor of " +
                                          std::to_string(rank) + " dims; write mH for batches");
  h::List order;
  for (int64_t d = 0; d < rank; ++d)
    order.push_back(h::Value(rank - 1 - d));
  if (rank < 2)
    return requiresGrad(self) ? callAten(self.tracer, interpreter, "alias", argsOf({selfOf(self)}))
                              : tensorValue(self.tracer, self.tensor);
  if (!matrices && rank > 2)
    return callAten(self.tracer, interpreter, "permute",
                    argsOf({selfOf(self), h::Value::list(std::move(order))}));
  return callAten(self.tracer, interpreter, "transpose",
                  argsOf({selfOf(self), h::Value(rank - 2), h::Value(rank - 1)}));
}

/// Methods that make the tensor look at its memory in another way; no element moves.
static bool changesShape(const std::string &method) {
  static const std::set<std::string> names = {"t_",       "transpose_", "swapaxes_", "swapdims_",
                                              "squeeze_", "unsqueeze_", "detach_",   "as_strided_",
                                              "resize_",  "resize_as_"};
  return names.count(method) != 0;
}

/// int(x), float(x), and x as an index, of a script's tensor with one element.
static std::optional<h::Value> numberMethod(const std::shared_ptr<TensorObject> &self,
                                            std::string_view name) {
  bool isIndex = name == "__index__", isFloating = name == "__float__";
  if (!isIndex && !isFloating && name != "__int__")
    return std::nullopt;
  return h::nativeRaw(std::string(name), [self, isIndex, isFloating](h::Interpreter &i,
                                                                     const h::CallArgs &) {
    const TensorType &type = self->tensor.type;
    if (isIndex && (isFloat(type.dtype) || type.numel().constantOr(0) != 1))
      i.raise("TypeError", "only integer tensors of a single element can be converted to an index");
    if (!isIndex && self->tensor.type.numel().constantOr(1) != 1)
      i.raise("ValueError", "only one element tensors can be converted to Python scalars");
    h::Value number = itemOf(*self, i);
    if (isFloating)
      return h::Value(i.toDouble(number, "a number"));
    if (number.isFloat())
      return i.call(*i.builtin("int"), {number});
    return h::Value(i.toInt64(number, "a number"));
  });
}

static h::Value changeShape(h::Interpreter &interpreter, TensorObject &self,
                            const std::string &name, h::CallArgs args) {
  h::Value view = interpreter.call(interpreter.getAttr(selfOf(self), name), std::move(args));
  TensorObject &changed = *view.as<TensorObject>();
  if (name != "detach")
    checkInPlace(interpreter, self);
  self.tensor = changed.tensor;
  if (name == "detach" && self.base)
    interpreter.raise("RuntimeError",
                      "Can't detach views in-place. Use detach() instead. If you are using "
                      "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is "
                      "set as True, gradients are views of DDP buckets, and hence detach_() cannot "
                      "be called on these gradients. To fix this error, please refer to the "
                      "Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.");
  // What shares its history from here on is the changed one; leaves keep what was asked of them.
  if (name == "detach")
    self.meta.reset();
  else if (changed.meta && changed.meta->source)
    metaOf(self).source = changed.meta->source;
  self.seen = changed.seen;
  return selfOf(self);
}

/// torch.device of the tensor's device; nothing changes one, and each is made once.
static h::Value deviceOf(h::Interpreter &interpreter, const TensorObject &tensor) {
  std::string text = deviceText(tensor);
  auto torch = interpreter.nativeModule("torch");
  std::string key = "_device " + text;
  if (const h::Value *known = torch->globals->find(key))
    return *known;
  h::Value device =
      interpreter.call(interpreter.getAttr(h::Value(torch), "device"), {h::Value(std::move(text))});
  torch->globals->set(key, device);
  return device;
}

std::optional<h::Value> TensorObject::getAttr(h::Interpreter &interpreter, std::string_view name) {
  const TensorType &type = tensor.type;
  if (const h::Value *own = attributes.find(name))
    return *own;
  if (name == "shape")
    return shapeValue(type);
  if (name == "as_subclass")
    return h::native("torch.Tensor.as_subclass", "cls",
                     [self = shared_from_this()](h::Interpreter &i, Bound &a) {
                       return asSubclass(static_cast<TensorObject &>(*self).tracer, i,
                                         h::Value(self), a[0]);
                     });
  if (name == "dtype")
    return dtypeValue(type.dtype);
  if (name == "__class__" && !userClass())
    return isParameter
               ? interpreter.getAttr(h::Value(interpreter.nativeModule("torch.nn")), "Parameter")
               : interpreter.getAttr(h::Value(interpreter.nativeModule("torch")), "Tensor");
  if (name == "device")
    return deviceOf(interpreter, *this);
  if (name == "ndim")
    return h::Value(static_cast<int64_t>(type.rank()));
  if (name == "is_cuda")
    return h::Value(saysCuda(*this));
  constexpr std::string_view others[] = {"is_xpu",    "is_mps",       "is_meta",
                                         "is_sparse", "is_quantized", "is_nested"};
  if (std::find(std::begin(others), std::end(others), name) != std::end(others))
    return h::Value(false);
  if (name == "is_cpu")
    return h::Value(!saysCuda(*this));
  if (std::optional<h::Value> found = gradientAttribute(interpreter, *this, name))
    return found;
  if (name == "layout")
    return h::Value("strided");
  if (name == "nbytes")
    return interpreter.binary(h::BinaryOp::Mul, h::Value::integer(type.numel()),
                              h::Value(static_cast<int64_t>(byteSize(type.dtype))));
  if (name == "itemsize")
    return h::Value(static_cast<int64_t>(byteSize(type.dtype)));
  // Another tensor over the same memory: what transpose_() does to one is not seen by the other.
  if (name == "data") {
    auto other = detached(*this);
    other->isUncounted = true;
    return h::Value(std::static_pointer_cast<h::Object>(other));
  }
  if (name == "real")
    return h::Value(shared_from_this());
  if (name == "T" || name == "mT" || name == "H" || name == "mH")
    return flipped(interpreter, *this, name);
  std::string method(name);
  auto self = std::static_pointer_cast<TensorObject>(shared_from_this());
  if (name == "__abs__")
    return getAttr(interpreter, "abs");
  if (name.starts_with("__") && isEager(tracer))
    if (auto number = numberMethod(self, name))
      return number;
  if (const KnownMethod *known = methodNamed(name)) {
    if (known->signature)
      return h::native("torch.Tensor." + method, known->signature,
                       [self, call = known->row->bound](h::Interpreter &i, Bound &a) {
                         return call(*self, i, a);
                       });
    return h::nativeRaw("torch.Tensor." + method,
                        [self, call = known->row->method](h::Interpreter &i, h::CallArgs args) {
                          return call(*self, i, args);
                        });
  }
  // Operators and functions of torch are methods where PyTorch has them so.
  if (!isPytorchName("torch.Tensor", name) && !isInOurText(interpreter.location()))
    return std::nullopt;
  if (tracer.recorder)
    if (auto function = eagerFunction(interpreter, method))
      return h::nativeRaw("torch.Tensor." + method,
                          [self, function = *function](h::Interpreter &i, h::CallArgs args) {
                            args.positional.insert(args.positional.begin(), selfOf(*self));
                            return i.call(function, std::move(args));
                          });
  if (changesShape(method))
    return h::nativeRaw(
        "torch.Tensor." + method,
        [self, name = method.substr(0, method.size() - 1)](h::Interpreter &i, h::CallArgs args) {
          return changeShape(i, *self, name, std::move(args));
        });
  if (method.size() > 1 && method.back() == '_' && isInPlace(method))
    return h::nativeRaw(
        "torch.Tensor." + method,
        [self, base = method.substr(0, method.size() - 1)](h::Interpreter &i, h::CallArgs args) {
          return callInPlace(*self, i, base, args);
        });
  if (auto composite = compositeFunction(interpreter, method))
    return h::nativeRaw("torch.Tensor." + method, [self, method, function = *composite](
                                                      h::Interpreter &i, h::CallArgs args) {
      gatherSizes(method, args);
      args.positional.insert(args.positional.begin(),
                             h::Value(std::static_pointer_cast<h::Object>(self)));
      return callComposite(i, method, function, std::move(args));
    });
  if (name.starts_with("to_sparse"))
    return h::nativeRaw("torch.Tensor." + method,
                        [method](h::Interpreter &i, const h::CallArgs &) -> h::Value {
                          i.refuse("'" + method +
                                   "': sparse tensors are not supported; keep the tensor dense, or "
                                   "its indices and values as two tensors");
                        });
  if (tracer.registry.overloads("aten." + method).empty()) {
    if (atenComposites(interpreter, "aten." + method).empty())
      return isEager(tracer) && !name.starts_with("_") && isPytorchName("torch.Tensor", name)
                 ? std::optional(h::Value(std::make_shared<h::Opaque>("torch.Tensor." + method,
                                                                      interpreter.location())))
                 : std::nullopt;
    return h::nativeRaw("torch.Tensor." + method,
                        [self, method](h::Interpreter &i, h::CallArgs args) {
                          gatherSizes(method, args);
                          args.positional.insert(args.positional.begin(), selfOf(*self));
                          return callAtenPacket(i, "aten." + method, std::move(args));
                        });
  }
  return h::nativeRaw("torch.Tensor." + method, [self, method](h::Interpreter &i,
                                                               h::CallArgs args) {
    h::CallArgs call = argsOf({h::Value(std::static_pointer_cast<h::Object>(self))}, args.keywords);
    call.positional.insert(call.positional.end(), args.positional.begin(), args.positional.end());
    return callAten(self->tracer, i, method, call);
  });
}

bool TensorObject::truth(h::Interpreter &interpreter) {
  if (isEager(tracer) && tensor.type.numel().constantOr(0) != 1)
    interpreter.raise("RuntimeError",
                      tensor.type.numel().constantOr(0) == 0
                          ? "Boolean value of Tensor with no values is ambiguous"
                          : "Boolean value of Tensor with more than one value is ambiguous");
  if (tensor.type.numel().constantOr(0) == 1)
    if (auto known = knownNumbers(*this, interpreter)) {
      while (known->isList())
        known = h::Value(known->list().front());
      return interpreter.truth(*known);
    }
  interpreter.refuse("a branch on a tensor's value cannot be traced: the value is only known when "
                     "the program runs; use torch.where");
}

/// What files note on a tensor is theirs: it stays with this object, as in PyTorch.
bool TensorObject::setAttr(h::Interpreter &interpreter, std::string_view name,
                           const h::Value &value) {
  if (setGradientAttribute(interpreter, *this, name, value))
    return true;
  if (name == "data" && isEager(tracer) && !base) {
    auto *other = value.as<TensorObject>();
    if (!other)
      interpreter.raise("TypeError",
                        "Variable data has to be a tensor, but got " + h::typeName(value));
    // A leaf stays one; programs that were compiled with what it held are made anew.
    tensor = other->tensor;
    if (auto script = interpreter.nativeModule("_script_torch"))
      interpreter.call(*script->globals->find("reset"));
    return true;
  }
  if (name == "data")
    interpreter.refuse("assigning to a tensor's '.data' gives it other memory, which is not "
                       "supported; copy_() the new values into it");
  auto known = getAttr(interpreter, name);
  if (known && !attributes.find(name))
    interpreter.refuse("'" + std::string(name) + "' of a tensor cannot be set");
  attributes.set(name, value);
  return true;
}

/// A parameter's copy begins with the same values.
std::optional<h::Value> TensorObject::deepCopy(h::Interpreter &interpreter) {
  auto copy = std::make_shared<TensorObject>(tracer, tensor);
  TracedStorage &storage = *tensor.storage;
  if (!storage.base && !storage.constructed) {
    copy->tensor = tracer.unbound(storage.type, storage.initializer);
    copy->tensor.type = tensor.type;
  } else {
    autograd::ModeGuard guard(tracer.gradients, false);
    h::Value clone = callAten(tracer, interpreter, "clone", argsOf({h::Value(shared_from_this())}));
    copy->tensor = clone.as<TensorObject>()->tensor;
  }
  if (requiresGrad(*this) && !isLeaf(*this))
    interpreter.raise("RuntimeError",
                      "Only Tensors created explicitly by the user (graph leaves) support the "
                      "deepcopy protocol at the moment.  If you were attempting to deepcopy a "
                      "module, this may be because of a torch.nn.utils.weight_norm usage");
  if (meta) {
    metaOf(*copy).requiresGrad = meta->requiresGrad;
    if (auto *own = meta->grad.as<TensorObject>())
      metaOf(*copy).grad = *own->deepCopy(interpreter);
  }
  copy->isParameter = isParameter;
  for (const auto &[name, value] : attributes.items())
    copy->attributes.set(name, value);
  return h::Value(std::static_pointer_cast<h::Object>(copy));
}

/// `for row in x`, `a, b = x`: views of the first dim.
std::optional<std::vector<h::Value>> TensorObject::iterate(h::Interpreter &interpreter) {
  if (tensor.type.shape.empty())
    interpreter.raise("TypeError", "iteration over a 0-d tensor");
  auto rows = tensor.type.shape[0].constant();
  if (!rows)
    interpreter.refuse("a loop over a tensor whose first dim, " + tensor.type.shape[0].text() +
                       ", is dynamic cannot be traced; compute with the whole tensor");

  std::vector<h::Value> out;
  for (int64_t i = 0; i < *rows; ++i)
    out.push_back(*getItem(interpreter, h::Value(i)));
  return out;
}

std::optional<h::Value> TensorObject::length(h::Interpreter &) {
  if (tensor.type.shape.empty())
    return std::nullopt;
  return exprValue(tensor.type.shape[0]);
}

} // namespace pellucid::trace
