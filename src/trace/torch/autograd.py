# SPDX-License-Identifier: Apache-2.0
"""torch.autograd over the tape: which gradients are asked for, Functions, modes and checks."""
import functools

import torch
import torch._pellucid_tape as tape


class _Handle:
    def __init__(self, remove):
        self._remove = remove

    def remove(self):
        self._remove()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._remove()


# --- modes


def is_grad_enabled():
    return tape.mode()[0]


def is_inference_mode_enabled():
    return tape.mode()[1]


class _Mode:
    """While it is entered, `_enabled` and `_inference` hold; a decorator enters it around every call."""

    _enabled, _inference = None, None

    def __enter__(self):
        _, inference, enabled = tape.mode()
        self._outside = (enabled, inference)
        tape.set_mode(enabled if self._enabled is None else self._enabled, inference if self._inference is None else self._inference)

    def __exit__(self, *exception):
        tape.set_mode(*self._outside)
        return False

    def _again(self):
        return type(self)()

    def __call__(self, function):
        if isinstance(function, type):
            function.__init__ = self(function.__init__)
            return function
        again = self._again

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with again():
                return function(*args, **kwargs)

        return inside


class _NoGrad(_Mode):
    _enabled = False


class _EnableGrad(_Mode):
    _enabled = True


class _InferenceMode(_Mode):
    def __init__(self, mode=True):
        self._asked = mode
        self._enabled, self._inference = (False, True) if mode else (None, False)

    def _again(self):
        return _InferenceMode(self._asked)


class set_grad_enabled(_Mode):
    def __init__(self, mode):
        self._asked = self._enabled = bool(mode)
        _, inference, enabled = tape.mode()
        self._before = (enabled, inference)
        tape.set_mode(self._enabled, inference)

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        tape.set_mode(*self._before)
        return False

    def __call__(self, function):
        tape.set_mode(*self._before)
        return super().__call__(function)

    def _again(self):
        return set_grad_enabled(self._asked)


def _is_plain(argument):
    return argument is None or isinstance(argument, bool)


def no_grad(orig_func=None):
    return _NoGrad() if orig_func is None else _NoGrad()(orig_func)


def enable_grad(orig_func=None):
    return _EnableGrad() if orig_func is None else _EnableGrad()(orig_func)


def inference_mode(mode=True):
    return _InferenceMode(mode) if _is_plain(mode) else _InferenceMode()(mode)


# Whether anomalies are looked for, and NaN with them.
_anomaly = [False, True]


class set_detect_anomaly:
    """Errors name the call whose gradient failed without it too; with it, the gradients of every node are looked at for NaN."""

    def __init__(self, mode=True, check_nan=True):
        self._before = list(_anomaly)
        _anomaly[:] = [bool(mode), bool(check_nan)]

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _anomaly[:] = self._before
        return False


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)


def is_anomaly_enabled():
    return _anomaly[0]


def is_anomaly_check_nan_enabled():
    return _anomaly[1]


def _check_of_nan():
    return _refuse_nan if _anomaly[0] and _anomaly[1] else None


def _refuse_nan(name, index, gradient):
    if gradient.is_floating_point() and torch.isnan(gradient).any():
        raise RuntimeError(f"Function '{name}' returned nan values in its {index}th output.")


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, torch.Tensor)


class Variable(metaclass=_VariableMeta):
    def __new__(cls, data, requires_grad=False):
        return data.detach().requires_grad_(requires_grad)


# --- backward and grad


def _tensors(value):
    if value is None:
        return []
    return [value] if isinstance(value, torch.Tensor) else list(value)


def _roots(outputs, gradients):
    outputs = _tensors(outputs)
    _refuse_batches(outputs)
    given = [None] * len(outputs) if gradients is None else _tensors(gradients)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    roots = []
    for i, (output, gradient) in enumerate(zip(outputs, given)):
        if gradient is None and output.requires_grad and output.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if not output.requires_grad:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        if gradient is None:
            gradient = torch.ones(list(output.shape), dtype=output.dtype, device=output.device)
        elif tuple(gradient.shape) != tuple(output.shape):
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of torch.Size({list(gradient.shape)}) and output[{i}] has a shape of torch.Size({list(output.shape)})."
            )
        roots.append(gradient)
    return outputs, roots


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None, grad_variables=None):
    tape.ask()
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    if inputs is not None and not isinstance(inputs, torch.Tensor) and len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
    outputs, gradients = _roots(tensors, grad_tensors)
    keeps = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        tape.run(outputs, gradients, keeps, create_graph, None, _check_of_nan())
        return
    inputs = _tensors(inputs)
    _check_inputs(inputs)
    found = tape.run(outputs, gradients, keeps, create_graph, inputs, _check_of_nan())
    with set_grad_enabled(create_graph):
        for one, gradient in zip(inputs, found):
            tape.accumulate(one, gradient)


def _check_inputs(inputs):
    for one in inputs:
        if not isinstance(one, torch.Tensor):
            raise TypeError(f"element 0 of inputs tuple is a {type(one).__name__}, expected a Tensor")
        if not one.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    tape.ask()
    if is_grads_batched:
        raise NotImplementedError("torch.autograd.grad with is_grads_batched maps over a batch of gradients, which is not supported; loop over them")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if allow_unused is None:
        allow_unused = materialize_grads
    inputs = _tensors(inputs)
    if not inputs:
        raise ValueError("grad requires non-empty inputs.")
    outputs, gradients = _roots(outputs, grad_outputs)
    _check_inputs(inputs)
    found = tape.run(outputs, gradients, create_graph if retain_graph is None else retain_graph, create_graph, inputs, _check_of_nan())
    for i, gradient in enumerate(found):
        if gradient is None and not allow_unused:
            raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")
        if gradient is None and materialize_grads:
            found[i] = torch.zeros_like(inputs[i])
    return tuple(found)


# --- Function

_freed = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if "
    "you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
)


class FunctionCtx:
    needs_input_grad = ()
    materialize_grads = True
    _to_save, _saved, _freed, _had_saved = (), None, False, False
    _dirty, _fixed = (), ()

    def save_for_backward(self, *tensors):
        for one in tensors:
            if one is not None and not isinstance(one, torch.Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(one).__name__}")
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        pass

    @property
    def saved_tensors(self):
        if self._freed and self._had_saved:
            raise RuntimeError(_freed)
        if self._saved is None:
            return tuple(self._to_save)
        return tuple([None if one is None else one() for one in self._saved])

    @property
    def saved_variables(self):
        return self.saved_tensors

    def mark_dirty(self, *tensors):
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        self._fixed = tensors

    def set_materialize_grads(self, value):
        self.materialize_grads = value

    def _release(self):
        self._freed, self._saved = True, None


class Function:
    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    @classmethod
    def apply(cls, *args, **kwargs):
        if kwargs:
            raise TypeError("apply() takes no keyword arguments")
        return _apply(cls, args)


def _apply(cls, args):
    ctx = FunctionCtx()
    ctx.needs_input_grad = needs = tape.needs(args)
    recorded = True in needs and is_grad_enabled()
    if cls.setup_context is Function.setup_context:
        output = tape.without_grad(cls.forward, (ctx,) + args)
    else:
        with no_grad():
            output = cls.forward(*args)
            cls.setup_context(ctx, args, output)
    outputs = list(output) if isinstance(output, tuple) else [output]
    for i, one in enumerate(outputs):
        if tape.stands_in(args, one) and isinstance(one, torch.Tensor) and not tape.stands_in(ctx._dirty, one):
            outputs[i] = tape.detached(one)
            ctx._to_save = tuple([outputs[i] if saved is one and not recorded else saved for saved in ctx._to_save])
    if recorded:
        _record(cls, ctx, args, outputs)
    return tuple(outputs) if isinstance(output, tuple) else outputs[0]


def _record(cls, ctx, args, outputs):
    for one in ctx._dirty:
        tape.check_in_place(one)
        if one._base is not None and (one._base.requires_grad or one.requires_grad):
            raise NotImplementedError("a Function that marks a view dirty is not followed; give it the whole tensor, or return a new one")
        tape.written(one)
    # Functions of ours stand for operators that PyTorch has.
    tape.function(getattr(cls, "_named_as", None) or cls.__name__ + "Backward", cls, ctx, args, outputs)


def _materialized(ctx, gradients, types):
    if not ctx.materialize_grads:
        return gradients
    there = [one for one in gradients if one is not None]
    if not there or len(there) == len(gradients):
        return gradients
    return [there[0].new_zeros(kind[0], dtype=kind[1]) if given is None and kind is not None else given for given, kind in zip(gradients, types)]


def _checked(result, are_tensors, name):
    result = list(result) if isinstance(result, tuple) else [result]
    count = len(are_tensors)
    while len(result) > count and result[-1] is None:
        result.pop()
    if len(result) != count:
        raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {count}, got {len(result)})")
    for i, (gradient, is_tensor) in enumerate(zip(result, are_tensors)):
        if gradient is None:
            continue
        if not is_tensor:
            raise RuntimeError(f"function {name} returned a gradient different than None at position {i + 1}, but the corresponding forward input was not a Variable")
        if not isinstance(gradient, torch.Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
    return result


def once_differentiable(function):
    @functools.wraps(function)
    def inside(ctx, *gradients):
        with no_grad():
            results = function(ctx, *gradients)
        if not is_grad_enabled() or not any([isinstance(one, torch.Tensor) and one.requires_grad for one in gradients]):
            return results

        def refuse(gradients):
            raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

        several = list(results) if isinstance(results, tuple) else [results]
        several = [tape.detached(one) if isinstance(one, torch.Tensor) else one for one in several]
        tape.node("DelayedError", list(gradients), several, refuse)
        return tuple(several) if isinstance(results, tuple) else several[0]

    return inside


# --- operators of the user


def _operator_call(name, title, function, backward, setup_context, args, given, keywords):
    """A triton_op or custom_op on tensors that require gradients: `function` makes the call itself. `args` are all of its
    positional arguments; the first `given` of them are what it was called with, those behind are defaults."""
    tensors = []
    _collect(args, tensors)
    ctx = FunctionCtx()
    ctx.needs_input_grad = tuple([isinstance(a, torch.Tensor) and a.requires_grad for a in args[:given]])
    with no_grad():
        output = function()
    if setup_context is not None:
        if keywords is not None:
            setup_context(ctx=ctx, inputs=args, keyword_only_inputs=keywords, output=output)
        else:
            setup_context(ctx=ctx, inputs=args, output=output)
    outputs = list(output) if isinstance(output, (list, tuple)) else [output]
    types = [(list(one.shape), one.dtype) if isinstance(one, torch.Tensor) else None for one in outputs]
    forms = [_form(one) for one in args]
    node = tape.node(title, tensors, outputs, _backward_of_operator(name, ctx, backward, forms, given, types, isinstance(output, list)), ctx)
    tape.save(ctx, [one if one.is_floating_point() else None for one in outputs if isinstance(one, torch.Tensor)], node)
    return output


def _form(argument):
    """-1: a tensor; otherwise how many places a list has, and which of them are tensors."""
    if isinstance(argument, torch.Tensor):
        return -1
    if isinstance(argument, (list, tuple)):
        return [isinstance(one, torch.Tensor) for one in argument]
    return []


def _backward_of_operator(name, ctx, backward, forms, given, types, is_list):
    def run(gradients):
        if backward is None:
            raise RuntimeError(f"Trying to backward through {name} but no autograd formula was registered. Please use register_autograd to add one.")
        gradients = _materialized(ctx, gradients, types)
        found = backward(ctx, list(gradients)) if is_list else backward(ctx, *gradients)
        found = list(found) if isinstance(found, tuple) else [found]
        if len(found) not in (given, len(forms)):
            expected = f"{given}" if given == len(forms) else f"{given} or {len(forms)}"
            raise RuntimeError(
                f"The backward formula for {name} returned an incorrect number of gradients (expected {expected}, got {len(found)}). Expected one gradient "
                "for each forward input, or for each positional input to the operator. Use None for inputs that do not require a gradient."
            )
        result = []
        for form, gradient in zip(forms, found + [None] * len(forms)):
            if form == -1:
                result.append(gradient)
            elif True in form:
                parts = [None] * len(form) if gradient is None else list(gradient)
                if len(parts) != len(form):
                    raise RuntimeError(f"the backward formula for {name} gave {len(parts)} gradients for a list of {len(form)} tensors")
                result.extend([part for part, is_tensor in zip(parts, form) if is_tensor])
            elif isinstance(gradient, torch.Tensor):
                raise RuntimeError(f"the backward formula for {name} gave a gradient for an argument that is no tensor; give None")
        return result

    return run


def _collect(args, tensors):
    for one in args:
        if isinstance(one, torch.Tensor):
            tensors.append(one)
        elif isinstance(one, (list, tuple)):
            tensors.extend([part for part in one if isinstance(part, torch.Tensor)])


# --- hooks of modules


def _with_backward_hooks(module, hooks, args, kwargs):
    """The module's inputs and results pass through nodes of their own, which see the gradients."""
    inputs_seen = is_grad_enabled() and any([isinstance(one, torch.Tensor) and one.requires_grad for one in args])
    before, after = _hook_calls(module, hooks, 0 if inputs_seen else len(args))
    if inputs_seen:
        args = _passed(args, after)
    result = module.forward(*args, **kwargs)
    outputs = list(result) if isinstance(result, tuple) else [result]
    if is_grad_enabled() and any([isinstance(one, torch.Tensor) and one.requires_grad for one in outputs]):
        outputs = _passed(outputs, before)
    return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def _hook_calls(module, hooks, unseen):
    seen = []

    def before(gradients):
        for hook in list(hooks["before_backward"]):
            changed = hook(module, tuple(gradients))
            if changed is not None:
                gradients = list(changed) if isinstance(changed, tuple) else [changed]
        seen.clear()
        seen.append(tuple(gradients))
        if unseen:
            after([None] * unseen)
        return gradients

    def after(gradients):
        for hook in list(hooks["after_backward"]):
            changed = hook(module, tuple(gradients), seen[0])
            if changed is not None:
                gradients = list(changed) if isinstance(changed, tuple) else [changed]
        return gradients

    return before, after


def _passed(tensors, backward):
    made = [tape.detached(one) if isinstance(one, torch.Tensor) else one for one in tensors]
    followed = [new if isinstance(one, torch.Tensor) and one.requires_grad else None for one, new in zip(tensors, made)]
    tape.node("BackwardHookFunctionBackward", list(tensors), followed, backward)
    return made


# --- saved tensors and checkpoints


class saved_tensors_hooks:
    def __init__(self, pack_hook, unpack_hook):
        self._hooks = (pack_hook, unpack_hook)

    def __enter__(self):
        self._outside = tape.set_hooks(*self._hooks)

    def __exit__(self, *exception):
        tape.set_hooks(*self._outside)
        return False


class save_on_cpu(saved_tensors_hooks):
    """As PyTorch's, without pages that are pinned; a tensor comes back to where it was, whatever kind of device that is."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0]))


def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False, early_stop=True, preserve_rng_state=True, **kwargs):
    """What the function saves is dropped and computed again when it is needed."""
    if context_fn is not None:
        raise NotImplementedError("checkpoint with context_fn chooses what is kept, which is not supported; leave it out")
    if not is_grad_enabled():
        return function(*args, **kwargs)
    kept, again, drew, before = [], [], [], tape.draws()

    def pack(tensor):
        kept.append(tensor)
        return len(kept) - 1

    def unpack(index):
        # What was drawn would be drawn anew: then all is kept.
        if True in drew:
            return kept[index]
        if not again:
            with enable_grad(), saved_tensors_hooks(again.append, _refuse_unpack):
                function(*args, **kwargs)
            if len(again) != len(kept):
                raise RuntimeError(
                    f"torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                    f"Number of tensors saved during forward: {len(kept)}\nNumber of tensors saved during recomputation: {len(again)}."
                )
        return again[index]

    with saved_tensors_hooks(pack, unpack):
        result = function(*args, **kwargs)
    drew.append(tape.draws() != before)
    if not drew[0]:
        kept[:] = [None] * len(kept)
    return result


def _refuse_unpack(packed):
    raise RuntimeError("a gradient inside of a function that is computed again is not supported")


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    functions = list(functions.children()) if isinstance(functions, torch.nn.Sequential) else list(functions)

    def part(first, last):
        def run(x):
            for one in functions[first:last]:
                x = one(x)
            return x

        return run

    size, first = len(functions) // segments, 0
    for _ in range(segments - 1):
        input = checkpoint(part(first, first + size), input, use_reentrant=use_reentrant, **kwargs)
        first += size
    return part(first, len(functions))(input)


class _GradientOfBatch(BaseException):
    """Asked inside of torch.vmap: it takes the turns one by one then."""

    def __init__(self, level):
        super().__init__(level)
        self.level = level


def _refuse_batches(tensors):
    """Tensors of torch.vmap have no history; a gradient of one is that of every turn."""
    for one in tensors:
        if isinstance(one, torch.Tensor) and hasattr(one, "_batch_level"):
            raise _GradientOfBatch(one._batch_level)
