# SPDX-License-Identifier: Apache-2.0
"""torch.optim. Counts of steps are tensors and what follows from them is computed in float64 tensors, as PyTorch computes it in
Python's floats: a step reads no tensor, so that it is the same program at every turn. One tensor at a time; `foreach`, `fused` and
`capturable` choose among PyTorch's ways to compute the same numbers."""
import warnings

import torch
from collections import OrderedDict as _OrderedDict
from collections import defaultdict as _defaultdict


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


class _Handle:
    def __init__(self, hooks, key):
        self._hooks, self._key = hooks, key

    def remove(self):
        self._hooks.pop(self._key, None)


def _hook(hooks, hook, prepend=False):
    key = max(hooks.keys(), default=0) + 1
    hooks[key] = hook
    if prepend:
        hooks.move_to_end(key, last=False)
    return _Handle(hooks, key)


def _is_tensor(value):
    return isinstance(value, torch.Tensor)


def _number(value):
    """A number, or a tensor of one in float64."""
    return value.detach().to(torch.float64) if _is_tensor(value) else float(value)


def _count(step):
    """How many steps were taken: the tensor in float64."""
    return step.to(torch.float64)


def _power(base, exponent):
    """base ** exponent in float64."""
    return torch.pow(torch.zeros_like(exponent) + base, exponent)


def _wide(tensor):
    """The type that PyTorch computes in before it rounds to the tensor's own."""
    return tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)


def _factor(value, like):
    """A factor, rounded as PyTorch rounds the number that it has there."""
    return value.to(torch.float64 if like.dtype == torch.float64 else torch.float32) if _is_tensor(value) else value


def _scaled(tensor, factor):
    """tensor * factor, rounded once."""
    return (_wide(tensor) * _factor(factor, tensor)).to(tensor.dtype)


def _divided(tensor, divisor):
    return (_wide(tensor) / _factor(divisor, tensor)).to(tensor.dtype)


def _add(p, x, factor):
    """p += factor * x, rounded once."""
    if _is_tensor(factor):
        p.copy_(_wide(p) + _wide(x) * _factor(factor, p))
    else:
        p.add_(x, alpha=factor)


def _add_product(p, a, b, factor):
    p.copy_(_wide(p) + _wide(a) * _factor(factor, p) * _wide(b))


def _add_quotient(p, a, b, factor):
    p.copy_(_wide(p) + _wide(a) * _factor(factor, p) / _wide(b))


def _step_tensor(group=None):
    return torch.zeros((), dtype=torch.float32)


class Optimizer:
    """Base of all optimisers, those of users too."""

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._hooks_before, self._hooks_after = _OrderedDict(), _OrderedDict()
        self._hooks_of_state = {name: _OrderedDict() for name in ("state_pre", "state_post", "load_pre", "load_post")}
        if isinstance(params, torch.Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {torch.typename(params)}")
        self.state = _defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if len(groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group.keys()):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, torch.Tensor):
            param_group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. "
                            "Please use a list instead.")
        else:
            param_group["params"] = list(params)
        named = [isinstance(p, tuple) for p in param_group["params"]]
        if any(named):
            if not all(named):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = [name for name, _ in param_group["params"]]
            param_group["params"] = [p for _, p in param_group["params"]]
        for p in param_group["params"]:
            if not isinstance(p, torch.Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p)}")
            if not (p.is_leaf or getattr(p, "retains_grad", False)):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        known = [id(p) for group in self.param_groups for p in group["params"]]
        if any(id(p) in known for p in param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        ids = [id(p) for p in param_group["params"]]
        if len(set(ids)) != len(ids):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = torch.zeros_like(p.grad)

    def step(self, closure=None):
        raise NotImplementedError

    def register_step_pre_hook(self, hook):
        return _hook(self._hooks_before, hook)

    def register_step_post_hook(self, hook):
        return _hook(self._hooks_after, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return _hook(self._hooks_of_state["state_pre"], hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        return _hook(self._hooks_of_state["state_post"], hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        return _hook(self._hooks_of_state["load_pre"], hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return _hook(self._hooks_of_state["load_post"], hook, prepend)

    @staticmethod
    def profile_hook_step(func):
        return func

    def _numbered(self):
        """Every parameter by its place among all groups, as state_dict() names them."""
        return [p for group in self.param_groups for p in group["params"]]

    def state_dict(self):
        for hook in list(self._hooks_of_state["state_pre"].values()):
            hook(self)
        place, groups = {}, []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for p in group["params"]:
                place.setdefault(id(p), len(place))
            packed["params"] = [place[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {place[id(key)] if isinstance(key, torch.Tensor) else key: value for key, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in list(self._hooks_of_state["state_post"].values()):
            changed = hook(self, result)
            if changed is not None:
                result = changed
        return result

    def _loaded(self, p, key, value):
        """What is loaded becomes the parameter's type; counts of steps stay as they are."""
        if isinstance(value, torch.Tensor):
            if key == "step":
                return value.to(torch.float32).clone()
            return value.to(p.dtype).clone() if p.is_floating_point() else value.clone()
        if isinstance(value, dict):
            return {k: self._loaded(p, k, v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)([self._loaded(p, None, v) for v in value])
        if key == "step" and not isinstance(value, bool) and isinstance(value, (int, float)) and self._counts:
            return torch.tensor(float(value), dtype=torch.float32)
        return value

    _counts = False

    def load_state_dict(self, state_dict):
        state_dict = dict(state_dict)
        for hook in list(self._hooks_of_state["load_pre"].values()):
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        saved = [dict(group) for group in state_dict["param_groups"]]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(group["params"]) != len(own["params"]) for group, own in zip(saved, self.param_groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        numbers = [number for group in saved for number in group["params"]]
        of_number = dict(zip(numbers, self._numbered()))
        state = _defaultdict(dict)
        for number, value in state_dict["state"].items():
            if number in of_number:
                p = of_number[number]
                state[p] = {key: self._loaded(p, key, one) for key, one in value.items()}
            else:
                state[number] = value
        self.state = state
        for own, group in zip(list(self.param_groups), saved):
            params = own["params"]
            for key, value in group.items():
                if key != "params":
                    own[key] = value
            own["params"] = params
        for hook in list(self._hooks_of_state["load_post"].values()):
            hook(self)

    def __init_subclass__(cls, **kwargs):
        """step() of every optimiser calls the hooks around itself, as PyTorch patches it."""
        own = cls.__dict__.get("step")
        if own is None:
            return

        def step(self, *args, **kwargs):
            if getattr(self, "_in_step", False):  # super().step()
                return own(self, *args, **kwargs)
            self._in_step = True
            try:
                for hook in list(self._hooks_before.values()):
                    changed = hook(self, args, kwargs)
                    if changed is not None:
                        if not (isinstance(changed, tuple) and len(changed) == 2):
                            raise RuntimeError(f"{own} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
                        args, kwargs = changed
                result = own(self, *args, **kwargs)
                for hook in list(self._hooks_after.values()):
                    hook(self, args, kwargs)
                _flush()
            finally:
                self._in_step = False
            return result

        cls.step = step


def _check(condition, message):
    if not condition:
        raise ValueError(message)


class _Stepping(Optimizer):
    """What the optimisers here share: one parameter at a time, without gradients being recorded."""

    _counts = True

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self._state_of(p, group)
                    grad = p.grad
                    self._update(p, -grad if group.get("maximize") else grad, state, group)
        return loss

    def _begin(self, p, group, state):
        """Fills `state` before the first step of `p`."""

    def _state_of(self, p, group):
        if p not in self.state or not self.state[p]:
            state = {}
            self._begin(p, group, state)
            if not state:
                return state
            self.state[p] = state
        return self.state[p]

    def _begin_all(self):
        """The state that first steps would make: what a package holds before its first call."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.requires_grad:
                    self._state_of(p, group)


def _decayed(p, grad, weight_decay):
    return grad if weight_decay == 0 else grad.add(p, alpha=weight_decay)


def _lr_check(lr):
    if isinstance(lr, torch.Tensor):
        _check(lr.numel() == 1, "Tensor lr must be 1-element")
    else:
        _check(0.0 <= lr, f"Invalid learning rate: {lr}")


def _ways(foreach, fused, capturable=False):
    if foreach and fused:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


class SGD(_Stepping):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None, differentiable=False, fused=None):
        _lr_check(lr)
        _check(momentum >= 0.0, f"Invalid momentum value: {momentum}")
        _check(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        _check(not nesterov or (momentum > 0 and dampening == 0), "Nesterov momentum requires a momentum and zero dampening")
        _ways(foreach, fused)
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov, maximize=maximize, foreach=foreach,
                                      differentiable=differentiable, fused=fused))

    def _begin(self, p, group, state):
        # The first buffer is the gradient itself, without dampening: zeros and a count say that it is the first.
        if group["momentum"] != 0 and group["dampening"] != 0:
            state["_first"] = torch.ones((), dtype=torch.float32)
        if group["momentum"] != 0:
            state["momentum_buffer"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        momentum, dampening = group["momentum"], group["dampening"]
        grad = _decayed(p, grad, group["weight_decay"])
        if momentum != 0:
            buffer = state["momentum_buffer"]
            if dampening != 0:
                if "_first" not in state:
                    state["_first"] = torch.zeros((), dtype=torch.float32)
                usual = _scaled(buffer, momentum).add(grad, alpha=1 - dampening)
                buffer.copy_(torch.where(state["_first"] != 0, grad, usual))
                state["_first"].zero_()
            else:
                buffer.copy_(_scaled(buffer, momentum)).add_(grad)
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        _add(p, grad, -_number(group["lr"]))

    def state_dict(self):
        result = super().state_dict()
        result["state"] = {place: {key: value for key, value in state.items() if key != "_first"} for place, state in result["state"].items()}
        return result


def _undifferentiated(differentiable):
    if differentiable:
        raise NotImplementedError("differentiable=True keeps the steps of an optimiser in the graph of gradients, which is not supported; leave it out")


def _check_betas(betas, eps, weight_decay):
    _check(0.0 <= eps, f"Invalid epsilon value: {eps}")
    _check(0.0 <= betas[0] < 1.0, f"Invalid beta parameter at index 0: {betas[0]}")
    _check(0.0 <= betas[1] < 1.0, f"Invalid beta parameter at index 1: {betas[1]}")
    _check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")


def _decayed_or_shrunk(p, grad, lr, group):
    """The gradient with the decay added to it; a decoupled one shrinks the parameter instead."""
    decay = group["weight_decay"]
    if decay != 0 and group["decoupled_weight_decay"]:
        p.copy_(_scaled(p, 1 - lr * decay))
        return grad
    return _decayed(p, grad, decay)


def _moments(state, grad, beta1, beta2):
    mean, square = state["exp_avg"], state["exp_avg_sq"]
    mean.copy_(torch.lerp(mean, grad, 1 - beta1))
    square.copy_(_scaled(square, beta2))
    _add_product(square, grad, grad, 1 - beta2)
    return mean, square


class Adam(_Stepping):
    _decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False, fused=None, decoupled_weight_decay=False):
        _lr_check(lr)
        _check_betas(betas, eps, weight_decay)
        _ways(foreach, fused)
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused, decoupled_weight_decay=decoupled_weight_decay))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["exp_avg"] = torch.zeros_like(p)
        state["exp_avg_sq"] = torch.zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        beta1, beta2 = _number(group["betas"][0]), _number(group["betas"][1])
        lr = _number(group["lr"])
        state["step"].add_(1)
        grad = _decayed_or_shrunk(p, grad, lr, group)
        mean, square = _moments(state, grad, beta1, beta2)
        count = _count(state["step"])
        first, second = 1 - _power(beta1, count), 1 - _power(beta2, count)
        if group["amsgrad"]:
            most = state["max_exp_avg_sq"]
            most.copy_(torch.maximum(most, square))
            square = most
        denominator = _divided(square.sqrt(), second**0.5) + group["eps"]
        _add_quotient(p, mean, denominator, -(lr / first))


class AdamW(Adam):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False, foreach=None, capturable=False,
                 differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)


class RMSprop(_Stepping):
    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None, maximize=False, differentiable=False):
        _lr_check(lr)
        _check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        _check(0.0 <= momentum, f"Invalid momentum value: {momentum}")
        _check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        _check(0.0 <= alpha, f"Invalid alpha value: {alpha}")
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay, capturable=capturable, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["square_avg"] = torch.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = torch.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        alpha, lr = group["alpha"], _number(group["lr"])
        state["step"].add_(1)
        grad = _decayed(p, grad, group["weight_decay"])
        square = state["square_avg"]
        square.copy_(_scaled(square, alpha))
        _add_product(square, grad, grad, 1 - alpha)
        average = square
        if group["centered"]:
            mean = state["grad_avg"]
            mean.copy_(torch.lerp(mean, grad, 1 - alpha))
            average = square.addcmul(mean, mean, value=-1)
        root = average.sqrt() + group["eps"]
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.copy_(_scaled(buffer, group["momentum"]))
            _add_quotient(buffer, grad, root, 1)
            _add(p, buffer, -lr)
        else:
            _add_quotient(p, grad, root, -lr)


class Adagrad(_Stepping):
    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None):
        _lr_check(lr)
        _check(0.0 <= lr_decay, f"Invalid lr_decay value: {lr_decay}")
        _check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        _check(0.0 <= initial_accumulator_value, f"Invalid initial_accumulator_value value: {initial_accumulator_value}")
        _check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        _ways(foreach, fused)
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, fused=fused))
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(p, group, self.state[p])

    def share_memory(self):
        return None

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["sum"] = torch.full_like(p, group["initial_accumulator_value"])

    def _update(self, p, grad, state, group):
        state["step"].add_(1)
        grad = _decayed(p, grad, group["weight_decay"])
        rate = _number(group["lr"])
        if group["lr_decay"] != 0:
            rate = rate / (1 + (_count(state["step"]) - 1) * group["lr_decay"])
        total = state["sum"]
        _add_product(total, grad, grad, 1)
        _add_quotient(p, grad, total.sqrt() + group["eps"], -rate)


class SparseAdam(Optimizer):
    def __init__(self, params, *args, **kwargs):
        raise NotImplementedError("torch.optim.SparseAdam is for sparse gradients, which are not supported; use Adam")
