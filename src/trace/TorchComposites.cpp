// SPDX-License-Identifier: Apache-2.0
// Functions of torch that are written with its other operators, in the language that models are
// written in. Each is also a method of tensors where its first parameter is the tensor.
#include "trace/TensorObject.h"

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

const char *const compositeSource = R"py(
import torch


class Extremes:
    def __init__(self, values, indices):
        self.values = values
        self.indices = indices

    def __iter__(self):
        return iter((self.values, self.indices))

    def __getitem__(self, index):
        return (self.values, self.indices)[index]

    def __len__(self):
        return 2


def max(input, dim=None, keepdim=False, other=None):
    if isinstance(dim, torch.Tensor):
        other = dim
    if other is not None:
        return torch.maximum(input, other)
    if dim is None:
        return torch.ops.aten.max.default(input)
    return Extremes(torch.amax(input, [dim], keepdim), torch.argmax(input, dim, keepdim))


def min(input, dim=None, keepdim=False, other=None):
    if isinstance(dim, torch.Tensor):
        other = dim
    if other is not None:
        return torch.minimum(input, other)
    if dim is None:
        return torch.ops.aten.min.default(input)
    return Extremes(torch.amin(input, [dim], keepdim), torch.argmin(input, dim, keepdim))


def variance(operator, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if isinstance(dim, int):
        dim = [dim]
    if correction is None:
        correction = 1 if unbiased else 0
    return operator(input, dim, correction=correction, keepdim=keepdim)


def std(input, dim=None, unbiased=True, keepdim=False, correction=None):
    return variance(torch.ops.aten.std.correction, input, dim, unbiased, keepdim, correction)


def var(input, dim=None, unbiased=True, keepdim=False, correction=None):
    return variance(torch.ops.aten.var.correction, input, dim, unbiased, keepdim, correction)


def logsumexp(input, dim, keepdim=False):
    top = torch.amax(input, dim, True)
    top = torch.where(torch.isinf(top), 0.0, top)
    total = torch.sum(torch.exp(input - top), dim, True)
    result = torch.log(total) + top
    return result if keepdim else result.squeeze(dim)


def norm(input, p=2, dim=None, keepdim=False):
    if p == "fro":
        p = 2
    if dim is None:
        dim = list(range(input.dim()))
    if p == 1:
        return torch.sum(torch.abs(input), dim, keepdim)
    if p == float("inf"):
        return torch.amax(torch.abs(input), dim, keepdim)
    if p != 2:
        raise NotImplementedError(f"norm of order {p}; 1, 2 and inf are there")
    return torch.sqrt(torch.sum(input * input, dim, keepdim))


def vector_norm(x, ord=2, dim=None, keepdim=False):
    return norm(x, ord, dim, keepdim)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    return input / norm(input, p, dim, True).clamp(min=eps)


def swapaxes(input, axis0, axis1):
    return torch.transpose(input, axis0, axis1)


def swapdims(input, dim0, dim1):
    return torch.transpose(input, dim0, dim1)


def movedim(input, source, destination):
    rank = input.dim()
    if isinstance(source, int):
        source, destination = [source], [destination]
    source = [d % rank for d in source]
    destination = [d % rank for d in destination]
    rest = [d for d in range(rank) if d not in source]
    order = []
    for d in range(rank):
        order.append(source[destination.index(d)] if d in destination else rest.pop(0))
    return torch.permute(input, order)


def flip(input, dims):
    for dim in [dims] if isinstance(dims, int) else dims:
        size = input.shape[dim]
        input = torch.index_select(input, dim, size - 1 - torch.arange(size))
    return input


def roll(input, shifts, dims=None):
    if not isinstance(shifts, int) or not isinstance(dims, int):
        raise NotImplementedError("roll takes one shift and one dim")
    size = input.shape[dims]
    split = (size - shifts) % size
    return torch.cat([input.narrow(dims, split, size - split), input.narrow(dims, 0, split)], dims)


def hstack(tensors):
    return torch.cat(tensors, 0 if tensors[0].dim() == 1 else 1)


def vstack(tensors):
    return torch.cat([x.unsqueeze(0) if x.dim() == 1 else x for x in tensors], 0)


def offsets(input):
    rows, columns = torch.arange(input.shape[-2]), torch.arange(input.shape[-1])
    return columns.unsqueeze(0) - rows.unsqueeze(1)


def tril(input, diagonal=0):
    return torch.where(offsets(input) <= diagonal, input, torch.zeros_like(input))


def triu(input, diagonal=0):
    return torch.where(offsets(input) >= diagonal, input, torch.zeros_like(input))


def outer(input, vec2):
    return input.unsqueeze(1) * vec2.unsqueeze(0)


def true_divide(input, other):
    return torch.div(input, other)


def divide(input, other, rounding_mode=None):
    return torch.div(input, other) if rounding_mode is None else torch.div(input, other, rounding_mode=rounding_mode)


def multiply(input, other):
    return torch.mul(input, other)


def subtract(input, other, alpha=1):
    return torch.sub(input, other, alpha=alpha)


def negative(input):
    return torch.neg(input)


def absolute(input):
    return torch.abs(input)


def clip(input, min=None, max=None):
    return torch.clamp(input, min, max)


def greater(input, other):
    return torch.gt(input, other)


def less(input, other):
    return torch.lt(input, other)


def logsigmoid(input):
    return torch.clamp(input, max=0) - torch.log1p(torch.exp(-torch.abs(input)))


def softmin(input, dim):
    return torch.softmax(-input, dim)


def mish(input):
    return input * torch.tanh(torch.nn.functional.softplus(input))


def hardsigmoid(input):
    return torch.clamp(input + 3, 0, 6) / 6


def glu(input, dim=-1):
    a, b = torch.chunk(input, 2, dim)
    return a * torch.sigmoid(b)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if dropout_p != 0.0:
        raise NotImplementedError("attention with dropout draws random numbers, which a package cannot")
    if enable_gqa:
        raise NotImplementedError("enable_gqa; repeat the heads of key and value instead")
    if scale is None:
        scale = query.shape[-1] ** -0.5
    scores = torch.matmul(query, key.transpose(-2, -1)) * scale
    if is_causal:
        scores = torch.where(offsets(scores) <= 0, scores, float("-inf"))
    if attn_mask is not None:
        scores = torch.where(attn_mask, scores, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.matmul(torch.softmax(scores, -1), value)
)py";

const char *const names[] = {
    "max",         "min",         "std",        "var",
    "logsumexp",   "norm",        "swapaxes",   "swapdims",
    "movedim",     "flip",        "roll",       "hstack",
    "vstack",      "tril",        "triu",       "outer",
    "true_divide", "divide",      "multiply",   "subtract",
    "negative",    "absolute",    "clip",       "greater",
    "less",        "normalize",   "logsigmoid", "softmin",
    "mish",        "hardsigmoid", "glu",        "scaled_dot_product_attention"};

h::Value compositeNamed(h::Interpreter &interpreter, std::string_view name) {
  auto module = interpreter.nativeModule("torch._pellucid_composites");
  return *module->globals->find(name);
}

} // namespace

std::optional<h::Value> compositeFunction(h::Interpreter &interpreter, std::string_view name) {
  for (const char *known : names)
    if (name == known)
      return compositeNamed(interpreter, name);
  return std::nullopt;
}

void addTorchComposites(h::NativeModules &modules) {
  modules.add("torch._pellucid_composites", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_composite_source", std::make_shared<SourceFile>("<torch>", compositeSource));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch.linalg", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("vector_norm", compositeNamed(interpreter, "vector_norm"));
  });
}

} // namespace pellucid::trace
