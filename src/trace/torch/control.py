# SPDX-License-Identifier: Apache-2.0
import torch


def _flatten(tree, leaves):
    """Puts the leaves of nested dicts, lists and tuples behind `leaves`, and gives the shape of what they hang on."""
    if tree is None:
        return "None"
    if isinstance(tree, dict):
        return ["dict", list(tree.keys()), [_flatten(value, leaves) for value in tree.values()]]
    if isinstance(tree, (tuple, list)):
        parts = [_flatten(value, leaves) for value in tree]
        if hasattr(tree, "_fields"):
            return ["named", type(tree), parts]
        return ["tuple" if isinstance(tree, tuple) else "list", None, parts]
    leaves.append(tree)
    return "*"


def _build(spec, leaves):
    if spec == "None":
        return None
    if spec == "*":
        return leaves.pop(0)
    kind, extra, specs = spec
    parts = [_build(part, leaves) for part in specs]
    if kind == "dict":
        return dict(zip(extra, parts))
    if kind == "named":
        return extra(*parts)
    return tuple(parts) if kind == "tuple" else parts


def _unflatten(spec, leaves):
    return _build(spec, list(leaves))


def _spec_text(spec):
    if isinstance(spec, str):
        return spec
    kind, extra, parts = spec
    names = extra if kind == "dict" else [None] * len(parts)
    inner = ", ".join([_spec_text(p) if n is None else f"{n!r}: {_spec_text(p)}" for n, p in zip(names, parts)])
    return {"dict": "{" + inner + "}", "list": "[" + inner + "]"}.get(kind, "(" + inner + ")")


class _Region:
    """What a branch or body is while it is recorded: it takes leaves and gives leaves."""

    def __init__(self, what, function, specs):
        self.what, self.function, self.specs = what, function, specs
        self.result = None

    def __call__(self, leaves):
        leaves = list(leaves)
        results = []
        self.result = _flatten(self.run([_build(spec, leaves) for spec in self.specs]), results)
        return results

    def run(self, arguments):
        return self.function(*arguments)


def _record(kind, name, regions, predicate=None, carried=(), scanned=(), additional=(), reverse=False):
    return _record_control(
        kind, name, [region.what for region in regions], regions, predicate, list(carried), list(scanned), list(additional), reverse
    )


def _differentiate(pred, regions, leaves, results):
    """The gradients of a cond are those of the branch that is taken, which is computed again."""
    captures = any([isinstance(one, torch.Tensor) and one.grad_fn is not None for one in results])
    wanted = [i for i, leaf in enumerate(leaves) if leaf.requires_grad]
    followed = [i for i, one in enumerate(results) if isinstance(one, torch.Tensor) and one.is_floating_point()]
    kept, tape = [], torch._pellucid_tape
    types = [(list(results[i].shape), results[i].dtype) for i in followed]
    node = tape.node("CondAutogradOpBackward", leaves, results, _backward_of_cond(pred, regions, kept, wanted, followed, types, captures))
    kept.extend([tape.saved(leaf, node) for leaf in leaves])


def _backward_of_cond(pred, regions, kept, wanted, followed, types, captures):
    """A function of its own, so that it holds no result of the call."""

    def side(region, count):
        def run(*values):
            with torch.enable_grad():
                inner = [value.detach().requires_grad_() if i in wanted else value for i, value in enumerate(values[:count])]
                outputs = region(inner)
                pairs = [(outputs[i], values[count + k]) for k, i in enumerate(followed) if outputs[i].requires_grad]
                if not pairs:
                    return tuple([torch.zeros_like(inner[i]) for i in wanted])
                found = torch.autograd.grad([a for a, _ in pairs], [inner[i] for i in wanted], [b for _, b in pairs], materialize_grads=True)
            return tuple([one.clone() for one in found])

        return run

    def backward(gradients):
        if captures:
            raise RuntimeError("derivative for torch.cond is not implemented for tensors that its branches close over; pass them as operands")
        there = [one for one in gradients if one is not None][0]
        given = [there.new_zeros(kind[0], dtype=kind[1]) if gradients[i] is None else gradients[i] for kind, i in zip(types, followed)]
        count = len(kept)
        found = cond(pred, side(regions[0], count), side(regions[1], count), tuple([one() for one in kept] + given))
        spread = [None] * count
        for i, one in zip(wanted, found):
            spread[i] = one
        return spread

    return backward


def cond(pred, true_fn, false_fn, operands=()):
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}.")
    # Not what sizes decide: that is a branch of the program.
    if pred is True or pred is False:
        return (true_fn if pred else false_fn)(*operands)
    leaves = []
    specs = [_flatten(operand, leaves) for operand in operands]
    for leaf in leaves:
        if not isinstance(leaf, torch.Tensor):
            raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}.")
    regions = [_Region("torch.cond's true_fn", true_fn, specs), _Region("torch.cond's false_fn", false_fn, specs)]
    results = _record("cond", "torch.cond", regions, pred, additional=leaves)
    if results is None:
        return (true_fn if bool(pred) else false_fn)(*operands)
    specs = [region.result for region in regions if region.result is not None]
    if len(specs) == 2 and specs[0] != specs[1]:
        raise RuntimeError(
            "Unmatched output spec from torch.cond branches: "
            f"true branch tree_spec {_spec_text(specs[0])} vs false branch tree_spec {_spec_text(specs[1])}."
        )
    if _values_are_known() and _is_followed(results):
        return (true_fn if bool(pred) else false_fn)(*operands)
    if torch.is_grad_enabled() and any([leaf.requires_grad for leaf in leaves]):
        _differentiate(pred, regions, leaves, results)
    return _unflatten(specs[0], results)


def _is_followed(results):
    return torch.is_grad_enabled() and any([isinstance(one, torch.Tensor) and one.requires_grad for one in results])


def _turns(body, carried, scanned, additional, reverse):
    """A loop whose gradient may be asked is its turns one by one, where their number is known: the carry's leaves, then the stacked rest."""
    count, carry, rows = len(carried), list(carried), []
    order = range(scanned[0].shape[0])
    for i in reversed(order) if reverse else order:
        results = body(carry + [leaf[i] for leaf in scanned] + additional)
        carry = results[:count]
        rows.append(results[count:])
    if reverse:
        rows.reverse()
    return carry + [torch.stack([row[k] for row in rows]) for k in range(len(rows[0]))]


def _is_known(leaf):
    return isinstance(leaf.shape[0], int) and leaf.shape[0] > 0


def _goes_turn_by_turn(results, leaves, name):
    """Where a gradient may be asked, and where the body needs values (`results` is None): then there is no other way."""
    if results is None and not _is_known(leaves[0]):
        raise RuntimeError(f"{name} of no turns has a body that needs values: of what shape its results are is not known")
    return results is None or (_is_followed(results) and _is_known(leaves[0]))


def _differentiate_loop(cond_fn, body_fn, specs, leaves, results):
    """A loop is run again to count its turns, once more to keep what each began with, and then its turns are gone through backwards."""
    captures = any([isinstance(one, torch.Tensor) and one.grad_fn is not None for one in results])
    whole = all([isinstance(leaf, torch.Tensor) for leaf in leaves])
    kept, tape = [], torch._pellucid_tape
    node = tape.node("WhileLoopAutogradOpBackward", leaves, results, _backward_of_loop(cond_fn, body_fn, specs, kept, captures, whole))
    kept.extend([tape.saved(leaf, node) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves])


def _backward_of_loop(cond_fn, body_fn, specs, kept, captures, whole):
    goes_on, body = _Region("torch.while_loop's cond_fn", cond_fn, specs), _WhileBody("torch.while_loop's body_fn", body_fn, specs)

    def backward(gradients):
        if captures:
            raise RuntimeError("derivative for torch.while_loop is not implemented for tensors that its functions close over; carry them")
        if not whole:
            raise RuntimeError("derivative for torch.while_loop is not implemented for ints that it carries; carry tensors")
        values = [one() for one in kept]
        floats = [i for i, value in enumerate(values) if value.is_floating_point()]
        count = while_loop(lambda n, *c: goes_on(c)[0], lambda n, *c: (n + 1, *body(c)), (torch.zeros([], dtype=torch.int64), *values))[0]

        def forth(carry, turn):
            return body(carry), [one.clone() for one in carry]

        def back(given, before):
            with torch.enable_grad():
                inner = [one.detach().requires_grad_() if i in floats else one for i, one in enumerate(before)]
                outputs = body(inner)
                pairs = [(outputs[i], given[k]) for k, i in enumerate(floats) if outputs[i].requires_grad]
                if not pairs:
                    return [torch.zeros_like(one) for one in given], given[0].clone()
                found = torch.autograd.grad([a for a, _ in pairs], [inner[i] for i in floats], [b for _, b in pairs], materialize_grads=True)
            return [one.clone() for one in found], given[0].clone()

        _, before = scan(forth, [value.clone() for value in values], torch.arange(count.item()))
        start = [torch.zeros_like(values[i]) if gradients[i] is None else gradients[i].clone() for i in floats]
        found, _ = scan(back, start, before, reverse=True)
        spread = [None] * len(values)
        for i, one in zip(floats, found):
            spread[i] = one
        return spread

    return backward


class _WhileBody(_Region):
    def run(self, arguments):
        result = self.function(*arguments)
        # One carry may come back as it is.
        if len(arguments) == 1 and not isinstance(result, (tuple, list)):
            return (result,)
        return tuple(result) if isinstance(result, list) else result


def while_loop(cond_fn, body_fn, carried_inputs):
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"carried_inputs must be a tuple or list, got {type(carried_inputs)}")
    leaves = []
    specs = [_flatten(carried, leaves) for carried in carried_inputs]
    regions = [
        _Region("torch.while_loop's cond_fn", cond_fn, specs),
        _WhileBody("torch.while_loop's body_fn", body_fn, specs),
    ]
    results = _record("while_loop", "torch.while_loop", regions, carried=leaves)
    if results is None:
        results = leaves
        while bool(regions[0](results)[0]):
            results = regions[1](results)
        return _unflatten(["tuple", None, specs], results)
    if _is_followed(results + leaves):
        if _values_are_known():
            results = leaves
            while bool(regions[0](results)[0]):
                results = regions[1](results)
        elif any([isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in leaves]):
            _differentiate_loop(cond_fn, body_fn, specs, leaves, results)
    return _unflatten(regions[1].result, results)


def _moved(leaves, dim, what):
    """The leaves with the scanned dim in front."""
    for leaf in leaves:
        if not isinstance(leaf, torch.Tensor):
            raise RuntimeError(f"All {what} leaves must be a Tensor but got {leaf}")
    rank = leaves[0].dim()
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    dim = dim + rank if dim < 0 else dim
    if any([leaf.dim() <= dim for leaf in leaves]):
        raise RuntimeError(f"All {what} leaves must have at least 'dim + 1' dimensions")
    return [leaf if dim == 0 else torch.movedim(leaf, dim, 0) for leaf in leaves], dim


def _checked(combine_fn, dim, reverse):
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise RuntimeError(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")


class _ScanBody(_Region):
    """The carry's leaves, then those of y; each spec is kept."""

    def run(self, arguments):
        result = self.function(*arguments)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise RuntimeError(f"Expect combine_fn to return a tuple (next_carry, y) but got {result}.")
        return tuple(result)


def scan(combine_fn, init, xs, *, dim=0, reverse=False, length=None):
    _checked(combine_fn, dim, reverse)
    init_leaves, leaves = [], []
    init_spec, spec = _flatten(init, init_leaves), _flatten(xs, leaves)
    if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 0):
        raise RuntimeError(f"scan() length must be a non-negative integer, got {length!r}")
    if not leaves:
        if length is None:
            return init, []
        # Nothing but the number of turns; the slices go nowhere.
        leaves = [torch.zeros(length, dtype=torch.int64)]
        function, spec = combine_fn, "*"
        combine_fn = lambda carry, ignored: function(carry, None)
    elif length is not None and leaves[0].shape[dim] != length:
        raise RuntimeError(f"scan() length={length} does not match xs size along dim={dim}: {leaves[0].shape[dim]}")
    if not init_leaves:
        raise RuntimeError("scan() operator requires init leaves.")
    for leaf in init_leaves:
        if not isinstance(leaf, torch.Tensor):
            raise RuntimeError(f"All init leaves must be a Tensor but got {leaf}")
    leaves, dim = _moved(leaves, dim, "xs")
    body = _ScanBody("torch.scan's combine_fn", combine_fn, [init_spec, spec])
    results = _record("scan", "torch.scan", [body], carried=init_leaves, scanned=leaves, reverse=reverse)
    if _goes_turn_by_turn(results, leaves, "torch.scan"):
        results = _turns(body, init_leaves, leaves, [], reverse)
    carry_spec, y_spec = body.result[2]
    if carry_spec != init_spec:
        raise RuntimeError(f"Expected init and carry to have the same pytree: combine_fn's next_carry is {_spec_text(carry_spec)}, init is {_spec_text(init_spec)}")
    count = len(init_leaves)
    ys = [y if dim == 0 else torch.movedim(y, 0, dim) for y in results[count:]]
    return _unflatten(init_spec, results[:count]), _unflatten(y_spec, ys)


def map(f, xs, *args):
    leaves = []
    spec = _flatten(xs, leaves)
    if not leaves:
        raise RuntimeError("map() requires tensors in xs.")
    leaves, _ = _moved(leaves, 0, "mapped xs")
    if leaves[0].shape[0] == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    inner = []
    specs = [_flatten(argument, inner) for argument in args]
    body = _Region("torch.map's f", f, [spec] + specs)
    results = _record("scan", "torch.map", [body], scanned=leaves, additional=inner)
    if _goes_turn_by_turn(results, leaves, "torch.map"):
        results = _turns(body, [], leaves, inner, False)
    return _unflatten(body.result, results)


def _prefixes(body, leaves):
    rows = [[leaf[0] for leaf in leaves]]
    for i in range(1, leaves[0].shape[0]):
        rows.append(body(rows[-1] + [leaf[i] for leaf in leaves]))
    return [torch.stack([row[k] for row in rows]) for k in range(len(leaves))]


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    _checked(combine_fn, dim, reverse)
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves = []
    spec = _flatten(xs, leaves)
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    leaves, dim = _moved(leaves, dim, "xs")
    if reverse:
        leaves = [torch.flip(leaf, [0]) for leaf in leaves]
    body = _Region("torch.associative_scan's combine_fn", combine_fn, [spec, spec])
    results = _record("associative_scan", "torch.associative_scan", [body], scanned=leaves)
    if _goes_turn_by_turn(results, leaves, "torch.associative_scan"):
        results = _prefixes(body, leaves)
    if body.result != spec:
        raise RuntimeError(f"combine_fn should return what xs is: it gives {_spec_text(body.result)}, xs is {_spec_text(spec)}")
    if reverse:
        results = [torch.flip(result, [0]) for result in results]
    return _unflatten(spec, [result if dim == 0 else torch.movedim(result, 0, dim) for result in results])
