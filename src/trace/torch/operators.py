# SPDX-License-Identifier: Apache-2.0
"""torch.vmap over operators, and torch.library.opcheck."""
import torch
from torch._pellucid_autograd import _GradientOfBatch

aten = torch.ops.aten


# ---- vmap: a tensor with a batch in front, that operators do not see


class _Info:
    """What the rule of register_vmap is told."""

    def __init__(self, batch_size, randomness):
        self.batch_size, self.randomness = batch_size, randomness


class _Batched(torch.Tensor):
    """The batch is the first dim of `values`; what the mapped function sees is what lies behind it."""

    @staticmethod
    def __new__(cls, values, level):
        return torch.Tensor._make_wrapper_subclass(cls, values.shape[1:], dtype=values.dtype, device=values.device)

    def __init__(self, values, level):
        self._values, self._level = values, level
        self._batch_level = level

    def requires_grad_(self, requires_grad=True):
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a function being transformed by a "
            "functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
            "requires_grad_() outside of a function being transformed instead.")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _apply(func, args, kwargs or {})


_POINTWISE = ("abs add acos acosh asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil clamp clamp_max clamp_min cos cosh div eq erf erfc "
              "exp exp2 expm1 floor floor_divide fmod ge gelu gt hardtanh isfinite isinf isnan le leaky_relu log log10 log1p log2 logical_and logical_not logical_or lt maximum minimum mul ne neg pow "
              "reciprocal relu remainder round rsqrt rsub sigmoid sign silu sin sinh softplus sqrt square sub tan tanh trunc where to _to_copy clone detach elu").split()


def _tensors(args):
    for one in args:
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, (tuple, list)):
            yield from _tensors(one)


def _innermost(args, kwargs):
    levels = [one._level for one in _tensors([*args, *kwargs.values()]) if isinstance(one, _Batched)]
    return max(levels) if levels else None


def _of_level(value, level):
    return isinstance(value, _Batched) and value._level == level


def _size(args, kwargs, level):
    for one in _tensors([*args, *kwargs.values()]):
        if _of_level(one, level):
            return one._values.shape[0]


def _each(value, level, i):
    """The argument in turn `i`."""
    if _of_level(value, level):
        return value._values[i]
    if isinstance(value, (tuple, list)):
        return type(value)([_each(one, level, i) for one in value])
    return value


def _stacked(results, level):
    first = results[0]
    if isinstance(first, torch.Tensor):
        return _Batched(torch.stack(results), level)
    if isinstance(first, (tuple, list)):
        return type(first)([_stacked([one[k] for one in results], level) for k in range(len(first))])
    return first


def _each_leaf(value, level, i):
    if isinstance(value, dict):
        return {key: _each_leaf(one, level, i) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([_each_leaf(one, level, i) for one in value])
    return _each(value, level, i)


def _stacked_leaves(results, level):
    if isinstance(results[0], dict):
        return {key: _stacked_leaves([one[key] for one in results], level) for key in results[0]}
    if isinstance(results[0], (tuple, list)):
        return type(results[0])([_stacked_leaves([one[k] for one in results], level) for k in range(len(results[0]))])
    return _stacked(results, level)


def _aligned(value, level, rank):
    """For operators that work on each element: as many dims behind the batch as the widest operand has."""
    if not _of_level(value, level):
        return value
    values = value._values
    while values.dim() < rank + 1:
        values = values.unsqueeze(1)
    return values


def _apply(func, args, kwargs):
    level = _innermost(args, kwargs)
    if func.namespace != "aten":
        rule = _vmap_rule_of(func)
        if rule is not None:
            return _by_rule(rule, args, kwargs, level)
    name = func.__name__.split(".")[0]
    if name.endswith("_") and not name.startswith("_"):
        raise NotImplementedError(f"torch.vmap: '{func}' writes to a tensor of the batch, which is not supported; write it without the underscore")
    if name in _POINTWISE:
        rank = max([one.dim() for one in _tensors(args)])
        values = func(*[_aligned(one, level, rank) for one in args], **kwargs)
        return _Batched(values, level)
    count = _size(args, kwargs, level)
    results = [func(*[_each(one, level, i) for one in args], **{key: _each(one, level, i) for key, one in kwargs.items()}) for i in range(count)]
    return _stacked(results, level)


def _by_rule(rule, args, kwargs, level):
    if kwargs:
        raise NotImplementedError("torch.vmap: an operator with a rule of register_vmap takes its arguments by position")

    def dims(value):
        if isinstance(value, (tuple, list)):
            return [dims(one) for one in value]
        return 0 if _of_level(value, level) else None

    def plain(value):
        if isinstance(value, (tuple, list)):
            return type(value)([plain(one) for one in value])
        return value._values if _of_level(value, level) else value

    def wrapped(value, dim):
        if isinstance(value, (tuple, list)):
            return type(value)([wrapped(one, dim[k] if isinstance(dim, (tuple, list)) else dim) for k, one in enumerate(value)])
        return value if dim is None or not isinstance(value, torch.Tensor) else _Batched(value.movedim(dim, 0), level)

    info = _Info(_size(args, {}, level), "error")
    given = rule(info, tuple([dims(one) for one in args]), *[plain(one) for one in args])
    if not isinstance(given, tuple) or len(given) != 2:
        raise RuntimeError("a rule of register_vmap returns (output, out_dims)")
    return wrapped(given[0], given[1])


_levels = []


def _spread(dims, arg):
    """The dims that in_dims gives to the leaves of an argument."""
    if isinstance(arg, (tuple, list)):
        parts = dims if isinstance(dims, (tuple, list)) else [dims] * len(arg)
        return [_spread(d, a) for d, a in zip(parts, arg)]
    if isinstance(arg, dict):
        return {key: _spread(dims[key] if isinstance(dims, dict) else dims, one) for key, one in arg.items()}
    return dims


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """What draws random numbers draws them once for each turn (`randomness="different"`) where a loop over the batch stands for the call."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if randomness == "same":
        raise NotImplementedError("torch.vmap with randomness='same' is not supported; draw before it and pass the numbers in")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def mapped(*args, **kwargs):
        level = len(_levels) + 1
        sizes = []

        def enter(arg, dim):
            if isinstance(arg, (tuple, list)):
                return type(arg)([enter(a, d) for a, d in zip(arg, dim)])
            if isinstance(arg, dict):
                return {key: enter(one, dim[key]) for key, one in arg.items()}
            if dim is None or not isinstance(arg, torch.Tensor):
                if dim is not None and isinstance(in_dims, (tuple, list)):
                    raise ValueError(f"vmap({func.__name__}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input is of type {type(arg)}. We cannot vmap over "
                                     "non-Tensor arguments, please use None as the respective in_dim")
                return arg
            if arg.dim() == 0:
                raise ValueError(f"vmap({func.__name__}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input is a Tensor of dimensionality 0")
            sizes.append(arg.shape[dim])
            return _Batched(arg.movedim(dim, 0), level)

        if isinstance(in_dims, (tuple, list)) and len(in_dims) != len(args):
            raise ValueError(f"vmap({func.__name__}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of inputs. in_dims has structure of "
                             f"{len(in_dims)} but inputs has structure of {len(args)}.")
        given = [enter(arg, _spread(in_dims[i] if isinstance(in_dims, (tuple, list)) else in_dims, arg)) for i, arg in enumerate(args)]
        given_keywords = {key: enter(one, _spread(0, one)) for key, one in kwargs.items()}
        if not sizes:
            raise ValueError(f"vmap({func.__name__}, in_dims={in_dims}, ...)(<inputs>): at least one input must be mapped over")
        if any(size != sizes[0] for size in sizes):
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")

        def leave(value, dim):
            if isinstance(value, (tuple, list)):
                return type(value)([leave(one, dim[i] if isinstance(dim, (tuple, list)) else dim) for i, one in enumerate(value)])
            if isinstance(value, dict):
                return {key: leave(one, dim) for key, one in value.items()}
            if not isinstance(value, torch.Tensor):
                raise ValueError(f"vmap({func.__name__}, ...): `{func.__name__}` must only return Tensors, got type {type(value)}.")
            if not _of_level(value, level):
                value = value.unsqueeze(0).expand(sizes[0], *value.shape) if dim is not None else value
                return value.movedim(0, dim) if dim else value
            if dim is None:
                raise ValueError(f"vmap({func.__name__}, ...): `{func.__name__}` can not return a BatchedTensor when out_dim is None")
            return value._values.movedim(0, dim) if dim else value._values

        def turn(i):
            _levels.append(level)
            try:
                return func(*[_each_leaf(one, level, i) for one in given], **{key: _each_leaf(one, level, i) for key, one in given_keywords.items()})
            finally:
                _levels.pop()

        _levels.append(level)
        try:
            result = func(*given, **given_keywords)
        except _GradientOfBatch as asked:
            if asked.level != level:
                raise
            result = None
        finally:
            _levels.pop()
        if result is None:
            result = _stacked_leaves([turn(i) for i in range(sizes[0])], level)
        return leave(result, out_dims)

    return mapped


# ---- opcheck


class OpCheckError(Exception):
    pass


_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def _copies(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)([_copies(one) for one in value])
    return value


def _differs(one, other, atol, rtol):
    if not one.is_floating_point():
        return not torch.equal(one, other)
    return not torch.allclose(one, other, 1e-5 if rtol is None else rtol, 1e-8 if atol is None else atol, True)


def _problem(name, op, args, kwargs, atol, rtol):
    """What is wrong with the operator on these arguments; None where nothing is. Each call checks what the operator writes and gives
    against its schema, and its fake against both."""
    if name == "test_autograd_registration" and not any(one.requires_grad for one in _tensors([*args, *kwargs.values()])):
        return None
    given, named = _copies(tuple(args)), {key: _copies(one) for key, one in kwargs.items()}
    made = []
    problem = _refusal_of(lambda: made.append(op(*given, **named)))
    if problem is not None:
        return problem
    results = list(_tensors(made))
    if name == "test_schema" and _is_users(op):
        if any(_share_memory(one, other) for one in results for other in _tensors([*given, *named.values()])):
            return "an argument is not defined to alias an output, and the function returns its memory"
    if name == "test_aot_dispatch_dynamic":
        again = list(_tensors([op(*_copies(tuple(args)), **{key: _copies(one) for key, one in kwargs.items()})]))
        if any(_differs(one, other, atol, rtol) for one, other in zip(results, again)):
            return "a second call with the same arguments gives other values"
    if name in ("test_faketensor", "test_aot_dispatch_dynamic") and _is_users(op):
        return _problem_of_fake(op, args, kwargs, results)
    return None


def _problem_of_fake(op, args, kwargs, results):
    fake = _fake_of(op)
    if fake is None:
        return (f"There was no fake impl registered for <CustomOpDef({op._qualname})>. This is necessary for torch.compile/export/fx tracing to work. "
                f"Please use `{op._qualname.split('::')[1]}.register_fake` to add an fake impl.")
    promised = []
    problem = _refusal_of(lambda: promised.append(fake(*_copies(tuple(args)), **{key: _copies(one) for key, one in kwargs.items()})))
    if problem is not None:
        return problem
    promised = list(_tensors(promised))
    if len(promised) != len(results):
        return f"the fake gives {len(promised)} tensor(s), the function {len(results)}"
    for one, other in zip(promised, results):
        if one.dtype != other.dtype or tuple(one.shape) != tuple(other.shape):
            return f"the fake gives {one.dtype} of shape {tuple(one.shape)}, the function {other.dtype} of shape {tuple(other.shape)}"
    return None


def opcheck(op, args, kwargs=None, *, test_utils=_TESTS, raise_exception=True, atol=None, rtol=None):
    if (atol is None) != (rtol is None):
        raise ValueError("opcheck(op, ...): atol and rtol are given together")
    names = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    unknown = [name for name in names if name not in _TESTS]
    if unknown:
        raise ValueError(f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of {_TESTS} but it was not")
    if not _is_operator(op):
        raise ValueError(f"opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got {type(op)}")
    results = {}
    for name in names:
        problem = _problem(name, op, args, kwargs or {}, atol, rtol)
        if problem is None:
            results[name] = "SUCCESS"
        elif raise_exception:
            raise OpCheckError(f"opcheck(op, ...): {name} failed with {problem} (scroll up for stack trace)")
        else:
            results[name] = OpCheckError(problem)
    return results
