# SPDX-License-Identifier: Apache-2.0
"""torch.func and torch.autograd.functional over the tape, and the checks of gradients."""
import torch
import torch._pellucid_tape as tape
from torch._pellucid_autograd import _refuse_batches, _tensors, enable_grad, grad, is_grad_enabled, no_grad


def _pick(args, argnums):
    return args[argnums] if isinstance(argnums, int) else tuple([args[i] for i in argnums])


def _leaf(tensor, name):
    _refuse_batches([tensor])
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name} takes tensors, or lists, tuples and dicts of them, to differentiate by; got {type(tensor).__name__}")
    return tensor.detach().requires_grad_() if not tensor.requires_grad else tensor.view_as(tensor)


def _map_tree(function, tree):
    if isinstance(tree, dict):
        return {key: _map_tree(function, value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([_map_tree(function, value) for value in tree])
    return function(tree)


def _leaves(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if not isinstance(tree, (list, tuple)):
        return [tree]
    found = []
    for one in tree:
        found.extend(_leaves(one))
    return found


def _fill_tree(tree, values):
    values = iter(values)
    return _map_tree(lambda one: next(values), tree)


def _detached(tree):
    return _map_tree(lambda one: one.detach() if isinstance(one, torch.Tensor) else one, tree)


def _func_grad_and_value(func, argnums=0, has_aux=False):
    def inside(*args, **kwargs):
        tape.ask()
        nested = is_grad_enabled() and any([isinstance(one, torch.Tensor) and one.requires_grad for one in _leaves(args)])
        with enable_grad():
            numbers = [argnums] if isinstance(argnums, int) else list(argnums)
            numbers = [number % len(args) for number in numbers]
            args = [_map_tree(lambda one: _leaf(one, "torch.func.grad"), one) if i in numbers else one for i, one in enumerate(args)]
            output = func(*args, **kwargs)
            output, aux = output if has_aux else (output, None)
            _refuse_batches(_leaves(output))
            if not isinstance(output, torch.Tensor):
                raise RuntimeError(f"Expected f(*args) to return tensor, got {type(output).__name__}")
            if output.dim() != 0:
                raise RuntimeError(f"Expected f(*args) to return a scalar tensor, got tensor with {output.dim()} dims. Did you forget to use .sum()?")
            wanted = _pick(args, argnums)
            flat = _leaves(wanted)
            found = grad(output, flat, create_graph=nested, materialize_grads=True) if output.requires_grad else [torch.zeros_like(one) for one in flat]
        found = _fill_tree(wanted, found)
        output = output if nested else output.detach()
        aux = aux if nested else _detached(aux)
        return (found, (output, aux)) if has_aux else (found, output)

    return inside


def _func_grad(func, argnums=0, has_aux=False):
    both = _func_grad_and_value(func, argnums, has_aux)

    def inside(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return inside


def _func_vjp(func, *primals, has_aux=False):
    tape.ask()
    nested = is_grad_enabled() and any([isinstance(one, torch.Tensor) and one.requires_grad for one in _leaves(primals)])
    with enable_grad():
        leaves = [_map_tree(lambda one: _leaf(one, "torch.func.vjp"), one) for one in primals]
        output = func(*leaves)
        output, aux = output if has_aux else (output, None)
        _refuse_batches(_leaves(output))

    def backward(*cotangents, retain_graph=True, create_graph=None):
        with enable_grad():
            given = _leaves(cotangents[0] if len(cotangents) == 1 else cotangents)
            flat = _leaves(leaves)
            pairs = [(one, gradient) for one, gradient in zip(_leaves(output), given) if one.requires_grad]
            if not pairs:
                found = [torch.zeros_like(one) for one in flat]
            else:
                creates = create_graph if create_graph is not None else nested or any([gradient.requires_grad for _, gradient in pairs])
                found = grad([one for one, _ in pairs], flat, [gradient for _, gradient in pairs], retain_graph=True, create_graph=creates, materialize_grads=True)
        return tuple(_fill_tree(leaves, found))

    shown = output if nested else _detached(output)
    aux = aux if nested else _detached(aux)
    return (shown, backward, aux) if has_aux else (shown, backward)


def _rows(output, inputs, create_graph):
    """The gradients of every element of the output."""
    _refuse_batches([output])
    flat, rows = output.reshape(-1), []
    for i in range(flat.shape[0]):
        row = torch.zeros_like(flat)
        row[i] = 1.0
        if output.requires_grad:
            rows.append(grad(flat, inputs, row, retain_graph=True, create_graph=create_graph, materialize_grads=True))
        else:
            rows.append([torch.zeros_like(one) for one in inputs])
    return [torch.stack([row[k] for row in rows]).reshape(list(output.shape) + list(one.shape)) for k, one in enumerate(inputs)]


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    tape.ask()
    if strict or strategy != "reverse-mode":
        raise NotImplementedError("torch.autograd.functional.jacobian with strict=True or forward mode is not supported; leave them out")
    with enable_grad():
        single = isinstance(inputs, torch.Tensor)
        leaves = [one.view_as(one) if create_graph and one.requires_grad else one.detach().requires_grad_() for one in _tensors(inputs)]
        output = func(*leaves)
        found = [_rows(one, leaves, create_graph) for one in _tensors(output)]
    found = [row[0] if single else tuple(row) for row in found]
    return found[0] if isinstance(output, torch.Tensor) else tuple(found)


def _func_jacrev(func, argnums=0, has_aux=False, chunk_size=None):
    if has_aux:
        raise NotImplementedError("torch.func.jacrev with has_aux=True is not supported; return the value alone")

    def inside(*args):
        tape.ask()
        with enable_grad():
            numbers = [argnums] if isinstance(argnums, int) else list(argnums)
            nested = any([isinstance(one, torch.Tensor) and one.requires_grad for one in args])
            args = [_leaf(one, "torch.func.jacrev") if i in numbers else one for i, one in enumerate(args)]
            wanted = [args[i] for i in numbers]
            found = tuple(_rows(func(*args), wanted, nested))
        return found[0] if isinstance(argnums, int) else found

    return inside


def _pushed(output, leaves, tangents, create_graph):
    """How the output changes along the tangents. Its reverse product with u is linear in u, and the derivative of that by u is it."""
    shown = [one for one in _leaves(output) if one.requires_grad]
    if not shown:
        return _map_tree(torch.zeros_like, output)
    weights = [torch.zeros_like(one).requires_grad_() for one in shown]
    back = grad(shown, leaves, weights, retain_graph=True, create_graph=True, allow_unused=True)
    pairs = [(one, tangent) for one, tangent in zip(back, tangents) if one is not None and one.requires_grad]
    if pairs:
        found = grad([one for one, _ in pairs], weights, [tangent for _, tangent in pairs], create_graph=create_graph, materialize_grads=True)
    else:
        found = [torch.zeros_like(one) for one in shown]
    found = iter(found)
    return _map_tree(lambda one: next(found) if one.requires_grad else torch.zeros_like(one), output)


def _checked_tangents(leaves, tangents, name):
    if len(leaves) != len(tangents):
        raise RuntimeError(f"{name}: Expected primals and tangents to have the same python structure.")
    for one, tangent in zip(leaves, tangents):
        if not isinstance(tangent, torch.Tensor) or tuple(one.shape) != tuple(tangent.shape):
            raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
                               f"Tensor is of size {list(one.shape)} while the given forward gradient is of size {list(tangent.shape)}.")
    return [tangent.to(one.dtype) for one, tangent in zip(leaves, tangents)]


def _func_jvp(func, primals, tangents, *, strict=False, has_aux=False):
    tape.ask()
    if strict:
        raise NotImplementedError("torch.func.jvp with strict=True is not supported; leave it out")
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(f"jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals). Got {type(primals).__name__}")
    nested = is_grad_enabled() and any([isinstance(one, torch.Tensor) and one.requires_grad for one in _leaves([primals, tangents])])
    with enable_grad():
        leaves = [_map_tree(lambda one: _leaf(one, "torch.func.jvp"), one) for one in primals]
        output = func(*leaves)
        output, aux = output if has_aux else (output, None)
        _refuse_batches(_leaves([output, tangents]))
        flat = _leaves(leaves)
        pushed = _pushed(output, flat, _checked_tangents(flat, _leaves(tangents), "torch.func.jvp"), nested)
    if not nested:
        output = _map_tree(lambda one: one.detach(), output)
    return (output, pushed, aux) if has_aux else (output, pushed)


def _func_linearize(func, *primals):
    output = func(*primals)
    return output, lambda *tangents: _func_jvp(func, primals, tangents)[1]


def _func_jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """The same matrix as jacrev's, which is computed."""
    if has_aux or randomness != "error":
        raise NotImplementedError("torch.func.jacfwd with has_aux or randomness is not supported; return the value alone")
    return _func_jacrev(func, argnums)


def _func_hessian(func, argnums=0):
    return _func_jacfwd(_func_jacrev(func, argnums), argnums)


def _func_functionalize(func, *, remove="mutations"):
    """Whatever is recorded has no mutations left."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n     remove='mutations'\n     remove='mutations_and_views'")
    return func


def _owner_of(module, name):
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    return module, last


def _func_functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """The module called with other tensors in place of those that are named."""
    given = {}
    for one in [parameter_and_buffer_dicts] if isinstance(parameter_and_buffer_dicts, dict) else parameter_and_buffer_dicts:
        repeated = [name for name in one if name in given]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given.update(one)
    own = dict(module.named_parameters(remove_duplicate=False))
    own.update(module.named_buffers(remove_duplicate=False))
    unexpected, missing = [name for name in given if name not in own], [name for name in own if name not in given]
    given = {name: one for name, one in given.items() if name in own}
    if strict and (missing or unexpected):
        words = (f" missing keys: {missing}" if missing else "") + (f" unexpected keys: {unexpected}" if unexpected else "")
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:{words}")
    if tie_weights:
        for name in missing:
            twins = [other for other in given if own[other] is own[name]]
            if len(twins) > 1 and any([given[one] is not given[twins[0]] for one in twins]):
                raise ValueError(f"functional_call got multiple values for keys {sorted([name] + twins)}, which are tied. Consider using tie_weights=False")
            if twins:
                given[name] = given[twins[0]]
    places = [(*_owner_of(module, name), own[name]) for name in given]
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        for (owner, last, _), name in zip(places, given):
            vars(owner)[last] = given[name]
        return module(*args, **(kwargs or {}))
    finally:
        for owner, last, before in places:
            vars(owner)[last] = before


def _func_stack_module_state(models):
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any([model.training != models[0].training for model in models]):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any([type(model) is not type(models[0]) for model in models]):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(list_of, leaves):
        found = {}
        for name, first in list_of(models[0]):
            rows = torch.stack([dict(list_of(model))[name].detach() for model in models])
            found[name] = rows.requires_grad_(first.requires_grad) if leaves else rows
        return found

    return stacked(lambda model: model.named_parameters(), True), stacked(lambda model: model.named_buffers(), False)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    if outer_jacobian_strategy != "reverse-mode":
        raise NotImplementedError("torch.autograd.functional.hessian with an outer Jacobian in forward mode is not supported; leave outer_jacobian_strategy out")
    single = isinstance(inputs, torch.Tensor)

    def slopes(*leaves):
        output = func(*leaves)
        if output.numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        found = grad(output, leaves, create_graph=True, materialize_grads=True)
        return found[0] if single else tuple(found)

    return jacobian(slopes, inputs, create_graph, strict)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    tape.ask()
    if strict:
        raise NotImplementedError("torch.autograd.functional.vjp with strict=True is not supported; leave it out")
    with enable_grad():
        leaves = [one.view_as(one) if create_graph and one.requires_grad else one.detach().requires_grad_() for one in _tensors(inputs)]
        output = func(*leaves)
        if v is None and output.numel() != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a single element.")
        found = grad(output, leaves, v, create_graph=create_graph, materialize_grads=True)
    shown = output if create_graph else _map_tree(lambda one: one.detach(), output)
    return shown, found[0] if isinstance(inputs, torch.Tensor) else found


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    if strict:
        raise NotImplementedError("torch.autograd.functional.jvp with strict=True is not supported; leave it out")
    tape.ask()
    with enable_grad():
        leaves = [one.view_as(one) if create_graph and one.requires_grad else one.detach().requires_grad_() for one in _tensors(inputs)]
        output = func(*leaves)
        if v is None and any([one.numel() != 1 for one in leaves]):
            raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.")
        tangents = [torch.ones_like(one) for one in leaves] if v is None else _tensors(v)
        pushed = _pushed(output, leaves, _checked_tangents(leaves, tangents, "torch.autograd.functional.jvp"), create_graph)
    return output if create_graph else _map_tree(lambda one: one.detach(), output), pushed


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    tape.ask()
    if strict:
        raise NotImplementedError("torch.autograd.functional.vhp with strict=True is not supported; leave it out")
    with enable_grad():
        leaves = [one.detach().requires_grad_() for one in _tensors(inputs)]
        output = func(*leaves)
        slopes = grad(output, leaves, create_graph=True, materialize_grads=True)
        found = grad(slopes, leaves, _tensors(v), create_graph=create_graph, materialize_grads=True)
    return output.detach(), found[0] if isinstance(inputs, torch.Tensor) else found


hvp = vhp


# --- checks


def _numeric(func, inputs, place, eps, nondifferentiable):
    """Central differences: a row for each element of inputs[place], of every output flattened."""
    rows = []
    one = inputs[place]
    for i in range(one.numel()):
        sides = []
        for sign in (1.0, -1.0):
            step = one.new_zeros([one.numel()])
            step[i] = sign * eps
            moved = [(other + step.reshape(one.shape)) if k == place else other for k, other in enumerate(inputs)]
            sides.append([side.detach() for side in nondifferentiable(func(*moved))])
        rows.append([((a - b) / (2.0 * eps)).reshape(-1) for a, b in zip(*sides)])
    return rows


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):
    """The gradients of one output at a time leave those of the others undefined (`check_undefined_grad`). All elements are compared, which
    `fast_mode` would not; `masked` is about sparse tensors."""
    tape.ask()
    inputs = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    if not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad or check_forward_ad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck of batched gradients and of forward mode is not supported; leave them out")
    wanted = [i for i, one in enumerate(inputs) if isinstance(one, torch.Tensor) and one.requires_grad]
    if not wanted:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")

    def differentiable(result):
        return [one for one in _tensors(result) if one.is_floating_point()]

    def differing(text):
        if raise_exception:
            raise RuntimeError(text)
        return False

    outputs = [one for one in differentiable(func(*inputs))]
    for place in wanted:
        with no_grad():
            rows = _numeric(func, inputs, place, eps, differentiable)
        for k, output in enumerate(outputs):
            if output.requires_grad:
                analytic, again = [_rows(output, [inputs[place]], False)[0] for _ in range(2)]
                if check_grad_dtypes and analytic.dtype != inputs[place].dtype:
                    return differing(f"Mismatch in the types of gradient {analytic.dtype} and input {inputs[place].dtype}")
                if not torch.allclose(analytic, again, 0.0, nondet_tol, True):
                    return differing(f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, although "
                                     f"analytical gradient matches numerical gradient. The tolerance for nondeterminism was {nondet_tol}.")
                analytic = analytic.reshape([output.numel(), inputs[place].numel()])
            else:
                analytic = output.new_zeros([output.numel(), inputs[place].numel()])
            if not rows or output.numel() == 0:
                continue
            numeric = torch.stack([row[k] for row in rows], 1)
            if not torch.allclose(analytic, numeric, rtol, atol):
                return differing(f"Jacobian mismatch for output {k} with respect to input {place},\nnumerical:{numeric}\nanalytical:{analytic}\n")
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    inputs = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    outputs = [one for one in _tensors(func(*inputs)) if one.is_floating_point() and one.requires_grad]
    given = [torch.randn_like(one).requires_grad_() for one in outputs] if grad_outputs is None else _tensors(grad_outputs)
    if gen_non_contig_grad_outputs and grad_outputs is None:
        given = [torch.stack([one.detach(), one.detach()], -1).select(-1, 0).requires_grad_() for one in given]
    count = len(inputs)

    def slopes(*args):
        # The numeric side calls it with gradients off and with tensors that were moved.
        with enable_grad():
            differs = [isinstance(one, torch.Tensor) and one.requires_grad for one in inputs]
            args = [one.detach().requires_grad_() if asked and not one.requires_grad else one for one, asked in zip(args, differs)] + list(args[count:])
            made = [one for one in _tensors(func(*args[:count])) if one.is_floating_point() and one.requires_grad]
            leaves = [one for one, asked in zip(args, differs) if asked]
            return grad(made, leaves, args[count:], create_graph=True, allow_unused=True, materialize_grads=True)

    return gradcheck(slopes, inputs + given, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
                     fast_mode=fast_mode, masked=masked)
