// SPDX-License-Identifier: Apache-2.0
// Functions of torch that are written with its other operators, in the language that models are
// written in. Each is also a method of tensors where its first parameter is the tensor.
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

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


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training or running_mean is None:
        raise NotImplementedError("batch norm in training; a program computes with the running statistics")
    shape = [1, -1] + [1] * (input.dim() - 2)
    y = (input - running_mean.reshape(shape)) * torch.rsqrt(running_var + eps).reshape(shape)
    if weight is not None:
        y = y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    channels = input.shape[1]
    grouped = input.reshape(input.shape[0], num_groups, -1)
    centred = grouped - grouped.mean(-1, True)
    y = (centred * torch.rsqrt((centred * centred).mean(-1, True) + eps)).reshape(input.shape)
    shape = [1, channels] + [1] * (input.dim() - 2)
    if weight is not None:
        y = y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def pad(input, pad, mode="constant", value=None):
    if mode != "constant":
        raise NotImplementedError(f"padding by {mode}; 'constant' is there")
    value = 0 if value is None else value
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        before, after = pad[2 * i], pad[2 * i + 1]
        if before < 0 or after < 0:
            start = -before if before < 0 else 0
            stop = input.shape[dim] + (after if after < 0 else 0)
            input = input.narrow(dim, start, stop - start)
        parts = [input]
        for count, place in ((before, 0), (after, len(parts) + 1)):
            if count > 0:
                shape = list(input.shape)
                shape[dim] = count
                parts.insert(place, input.new_full(shape, value))
        input = torch.cat(parts, dim) if len(parts) > 1 else input
    return input


def running(input, dim, dtype, neutral, join):
    """Each element with those before it along `dim`, joined."""
    if dtype is not None:
        input = input.to(dtype)
    elif not input.is_floating_point():
        input = input.to(torch.int64)
    x = input.transpose(dim, -1)
    size = x.shape[-1]
    before = torch.arange(size).unsqueeze(0) <= torch.arange(size).unsqueeze(1)
    return join(torch.where(before, x.unsqueeze(-2), neutral)).transpose(dim, -1)


def cumsum(input, dim, dtype=None):
    return running(input, dim, dtype, 0, lambda x: x.sum(-1))


def cumprod(input, dim, dtype=None):
    return running(input, dim, dtype, 1, lambda x: x.prod(-1))


def eye(n, m=None, dtype=None, device=None, layout=None, requires_grad=False):
    same = torch.arange(n).unsqueeze(1) == torch.arange(n if m is None else m).unsqueeze(0)
    return same.to(torch.float32 if dtype is None else dtype)


def linspace(start, end, steps, dtype=None, device=None, layout=None, requires_grad=False):
    i = torch.arange(steps, dtype=torch.float32)
    if steps == 1:
        return (i + start).to(torch.float32 if dtype is None else dtype)
    step = (end - start) / (steps - 1)
    line = torch.where(i < steps // 2, start + step * i, end - step * (steps - 1 - i))
    return line.to(torch.float32 if dtype is None else dtype)


def lerp(input, end, weight):
    if isinstance(weight, torch.Tensor):
        return torch.where(weight < 0.5, input + weight * (end - input), end - (end - input) * (1 - weight))
    return input + weight * (end - input) if weight < 0.5 else end - (end - input) * (1 - weight)


def addcdiv(input, tensor1, tensor2, value=1):
    return input + value * (tensor1 / tensor2)


def hypot(input, other):
    return torch.sqrt(input * input + other * other)


def tan(input):
    return torch.sin(input) / torch.cos(input)


def sinh(input):
    return (torch.expm1(input) - torch.expm1(-input)) / 2


def cosh(input):
    return (torch.exp(input) + torch.exp(-input)) / 2


def frac(input):
    return input - torch.trunc(input)


def count_nonzero(input, dim=None):
    return (input != 0).sum() if dim is None else (input != 0).sum(dim)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    if not input.is_floating_point():
        return input
    top = torch.finfo(input.dtype).max
    input = torch.where(torch.isnan(input), nan, input)
    input = torch.where(input == float("inf"), top if posinf is None else posinf, input)
    return torch.where(input == float("-inf"), -top if neginf is None else neginf, input)


def cdist(x1, x2, p=2.0, compute_mode=None):
    return norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


def product(sizes):
    count = 1
    for size in sizes:
        count = count * size
    return count


def contract(a, a_labels, b, b_labels, kept):
    """The product of two tensors, summed over the labels that are in neither `kept` nor the result."""
    for_a = [c for c in a_labels if c not in b_labels and c not in kept]
    for_b = [c for c in b_labels if c not in a_labels and c not in kept]
    if for_a:
        a = a.sum([a_labels.index(c) for c in for_a])
    if for_b:
        b = b.sum([b_labels.index(c) for c in for_b])
    a_labels = [c for c in a_labels if c not in for_a]
    b_labels = [c for c in b_labels if c not in for_b]
    size = dict(zip(b_labels, b.shape))
    size.update(zip(a_labels, a.shape))
    batch = [c for c in a_labels if c in b_labels and c in kept]
    summed = [c for c in a_labels if c in b_labels and c not in kept]
    rows = [c for c in a_labels if c not in b_labels]
    columns = [c for c in b_labels if c not in a_labels]
    shape = [[size[c] for c in group] for group in (batch, rows, columns, summed)]
    a = torch.permute(a, [a_labels.index(c) for c in batch + rows + summed])
    b = torch.permute(b, [b_labels.index(c) for c in batch + summed + columns])
    if not summed:
        result = a.reshape(shape[0] + shape[1] + [1] * len(columns)) * b.reshape(shape[0] + [1] * len(rows) + shape[2])
    else:
        b_count, m, n, k = [product(group) for group in shape]
        left = a.reshape([b_count, m, k] if batch else [m, k])
        right = b.reshape([b_count, k, n] if batch else [k, n])
        result = torch.matmul(left, right).reshape(shape[0] + shape[1] + shape[2])
    return result, batch + rows + columns


def einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    equation = equation.replace(" ", "")
    if "." in equation:
        raise NotImplementedError("einsum with '...'; name every dim")
    inputs, arrow, output = equation.partition("->")
    terms = [list(term) for term in inputs.split(",")]
    if not arrow:
        output = "".join(sorted(c for c in inputs if c != "," and inputs.count(c) == 1))
    for term, operand in zip(terms, operands):
        if len(set(term)) != len(term):
            raise NotImplementedError("einsum with a label twice in one term; take the diagonal first")
        if len(term) != operand.dim():
            raise ValueError(f"einsum: '{''.join(term)}' names {len(term)} dims of a tensor of {operand.dim()}")
    result, labels = operands[0], terms[0]
    for i in range(1, len(terms)):
        later = list(output) + [c for term in terms[i + 1 :] for c in term]
        result, labels = contract(result, labels, operands[i], terms[i], later)
    rest = [c for c in labels if c not in output]
    if rest:
        result = result.sum([labels.index(c) for c in rest])
        labels = [c for c in labels if c not in rest]
    return torch.permute(result, [labels.index(c) for c in output])


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

const char *const names[] = {"nll_loss",
                             "cross_entropy",
                             "mse_loss",
                             "l1_loss",
                             "smooth_l1_loss",
                             "huber_loss",
                             "binary_cross_entropy",
                             "binary_cross_entropy_with_logits",
                             "kl_div",
                             "cosine_similarity",
                             "one_hot",
                             "batch_norm",
                             "group_norm",
                             "pad",
                             "cumsum",
                             "cumprod",
                             "eye",
                             "linspace",
                             "lerp",
                             "addcdiv",
                             "hypot",
                             "tan",
                             "sinh",
                             "cosh",
                             "frac",
                             "count_nonzero",
                             "nan_to_num",
                             "cdist",
                             "einsum",
                             "max",
                             "min",
                             "std",
                             "var",
                             "logsumexp",
                             "norm",
                             "swapaxes",
                             "swapdims",
                             "movedim",
                             "flip",
                             "roll",
                             "hstack",
                             "vstack",
                             "tril",
                             "triu",
                             "outer",
                             "true_divide",
                             "divide",
                             "multiply",
                             "subtract",
                             "negative",
                             "absolute",
                             "clip",
                             "greater",
                             "less",
                             "normalize",
                             "logsigmoid",
                             "softmin",
                             "mish",
                             "hardsigmoid",
                             "glu",
                             "scaled_dot_product_attention"};

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
        "torch_composite_source",
        std::make_shared<SourceFile>("<torch>", std::string(compositeSource) + lossSource));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch.linalg", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("vector_norm", compositeNamed(interpreter, "vector_norm"));
  });
}

} // namespace pellucid::trace
