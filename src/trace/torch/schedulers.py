# SPDX-License-Identifier: Apache-2.0
"""torch.optim.lr_scheduler: learning rates of an optimiser's groups, by the number of steps."""
import math
import types
import torch
from bisect import bisect_right
from collections import Counter as _Counter
from torch.optim import Optimizer as _Optimizer


def _set(group, key, value):
    """A rate that is a tensor stays that tensor, so that what reads it sees the new one."""
    if isinstance(group[key], torch.Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


def _copied(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


def _per_group(optimizer, value, name):
    if not isinstance(value, (list, tuple)):
        return [value] * len(optimizer.param_groups)
    if len(value) != len(optimizer.param_groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has {len(optimizer.param_groups)}.")
    return list(value)


class LRScheduler:
    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, _Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", _copied(group["lr"]))
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.")
        self.base_lrs = [_copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._get_lr_called_within_step = False
        self._is_initial = False
        self._initial_step()

    def _initial_step(self):
        self._is_initial = True
        self.step()
        self._is_initial = False

    def _left_out(self):
        return ("optimizer",)

    def state_dict(self):
        return {key: value for key, value in self.__dict__.items() if key not in self._left_out()}

    def load_state_dict(self, state_dict):
        for key, value in state_dict.items():
            setattr(self, key, value)

    def get_last_lr(self):
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    def _rates(self):
        return [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, rates):
            _set(group, "lr", rate)
        self._last_lr = self._rates()


_LRScheduler = LRScheduler


class _ByFunctions(LRScheduler):
    """Rates that functions of the user give, one for each group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _functions(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def _left_out(self):
        return ("optimizer", "lr_lambdas")

    def state_dict(self):
        return _with_functions(self, super().state_dict())

    def load_state_dict(self, state_dict):
        _load_functions(self, state_dict, super().load_state_dict)


class LambdaLR(_ByFunctions):
    def get_lr(self):
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs)]


def _functions(optimizer, given):
    if not isinstance(given, (list, tuple)):
        return [given] * len(optimizer.param_groups)
    if len(given) != len(optimizer.param_groups):
        raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(given)}")
    return list(given)


def _with_functions(scheduler, state):
    """Functions are not saved; what an object of a class with __call__ holds is."""
    state["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in scheduler.lr_lambdas]
    return state


def _load_functions(scheduler, state_dict, load):
    state = dict(state_dict)
    for function, held in zip(scheduler.lr_lambdas, state.pop("lr_lambdas")):
        if held is not None:
            function.__dict__.update(held)
    load(state)


class MultiplicativeLR(_ByFunctions):
    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [rate * function(self.last_epoch) for function, rate in zip(self.lr_lambdas, self._rates())]


class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = _Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch not in self.milestones:
            return self._rates()
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates()]

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [rate * (1.0 / self.factor) for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        change = self.end_factor - self.start_factor
        return [rate * (1.0 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)) for rate in self._rates()]

    def _get_closed_form_lr(self):
        change = self.end_factor - self.start_factor
        return [base * (self.start_factor + change * min(self.total_iters, self.last_epoch) / self.total_iters) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        decay = ((1.0 - self.last_epoch / self.total_iters) / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power
        return [rate * decay for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and self.last_epoch > 0:
            return [self.eta_min + (base - self.eta_min) * (1 + math.cos(self.last_epoch * math.pi / self.T_max)) / 2 for base in self.base_lrs]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [rate + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2 for base, rate in zip(self.base_lrs, self._rates())]
        step = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / (1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max))
        return [step * (rate - self.eta_min) + self.eta_min for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2 for base in self.base_lrs]

    def step(self, epoch=None):
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            if epoch >= self.T_0:
                if self.T_mult == 1:
                    self.T_cur = epoch % self.T_0
                else:
                    n = int(math.log((epoch / self.T_0 * (self.T_mult - 1) + 1), self.T_mult))
                    self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                    self.T_i = self.T_0 * self.T_mult**n
            else:
                self.T_i, self.T_cur = self.T_0, epoch
        self.last_epoch = math.floor(epoch)
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            _set(group, "lr", rate)
        self._last_lr = self._rates()


def _with_schedulers(scheduler, state):
    state["_schedulers"] = [one.state_dict() for one in scheduler._schedulers]
    return state


def _load_schedulers(scheduler, state_dict):
    state = dict(state_dict)
    for one, inner in zip(scheduler._schedulers, state.pop("_schedulers")):
        one.load_state_dict(inner)
    return state


class SequentialLR(LRScheduler):
    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        for i, scheduler in enumerate(schedulers):
            if optimizer is not scheduler.optimizer:
                raise ValueError(f"SequentialLR expects all schedulers to belong to the same optimizer, but got scheduler at index {i} to be different.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, but got number of schedulers "
                             f"{len(schedulers)} and the number of milestones to be equal to {len(milestones)}")
        self._schedulers, self._milestones, self.last_epoch, self.optimizer = schedulers, milestones, last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            _set(group, "lr", group["initial_lr"])
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def _left_out(self):
        return ("optimizer", "_schedulers")

    def state_dict(self):
        return _with_schedulers(self, super().state_dict())

    def load_state_dict(self, state_dict):
        super().load_state_dict(_load_schedulers(self, state_dict))

    def step(self):
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(LRScheduler):
    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        for i, scheduler in enumerate(schedulers):
            if optimizer is not scheduler.optimizer:
                raise ValueError(f"ChainedScheduler expects all schedulers to belong to the same optimizer, but got scheduler at index {i} to be different.")
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = self._rates()

    def _left_out(self):
        return ("optimizer", "_schedulers")

    def state_dict(self):
        return _with_schedulers(self, super().state_dict())

    def load_state_dict(self, state_dict):
        super().load_state_dict(_load_schedulers(self, state_dict))

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()


class ReduceLROnPlateau(LRScheduler):
    """Looks at the number that it is told, so that where it is called the number must be known."""

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0, min_lr=0, eps=1e-8):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, _Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.factor, self.optimizer, self.patience, self.cooldown, self.eps = factor, optimizer, patience, cooldown, eps
        self.min_lrs = _per_group(optimizer, min_lr, "min_lrs")
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.cooldown_counter, self.last_epoch = 0, 0
        self.best, self.num_bad_epochs = self.mode_worse, 0
        self._last_lr = self._rates()

    def step(self, metrics, epoch=None):
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                old = float(group["lr"])
                new = max(old * self.factor, least)
                if old - new > self.eps:
                    _set(group, "lr", new)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def _is_better(self, a, best):
        if self.threshold_mode == "rel":
            return a < best * (1.0 - self.threshold) if self.mode == "min" else a > best * (self.threshold + 1.0)
        return a < best - self.threshold if self.mode == "min" else a > best + self.threshold


class OneCycleLR(LRScheduler):
    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85,
                 max_momentum=0.95, div_factor=25.0, final_div_factor=1e4, three_phase=False, last_epoch=-1):
        if not isinstance(optimizer, _Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            if not isinstance(epochs, int) or epochs <= 0:
                raise ValueError(f"Expected positive integer epochs, but got {epochs}")
            if not isinstance(steps_per_epoch, int) or steps_per_epoch <= 0:
                raise ValueError(f"Expected positive integer steps_per_epoch, but got {steps_per_epoch}")
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        warm = float(pct_start * self.total_steps)
        low = ("min_lr", "min_momentum" if not three_phase else "max_momentum")
        if three_phase:
            self._schedule_phases = [_phase(warm - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                                     _phase(2 * warm - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                                     _phase(self.total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
        else:
            self._schedule_phases = [_phase(warm - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                                     _phase(self.total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._anneal_func_type = anneal_strategy
        highest = _per_group(optimizer, max_lr, "max_lr")
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, highest):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            if last_epoch == -1:
                for group, most, least in zip(optimizer.param_groups, _per_group(optimizer, max_momentum, "max_momentum"), _per_group(optimizer, base_momentum, "base_momentum")):
                    _set_momentum(group, self.use_beta1, most)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)

    def _annealed(self, start, end, part):
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The total number of steps is {self.total_steps}")
        rates = []
        for group in self.optimizer.param_groups:
            start = 0.0
            for i, phase in enumerate(self._schedule_phases):
                end = phase["end_step"]
                if step <= end or i == len(self._schedule_phases) - 1:
                    part = (step - start) / (end - start)
                    rate = self._annealed(group[phase["start_lr"]], group[phase["end_lr"]], part)
                    if self.cycle_momentum:
                        momentum = self._annealed(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                    break
                start = phase["end_step"]
            rates.append(rate)
            if self.cycle_momentum:
                _set_momentum(group, self.use_beta1, momentum)
        return rates


def _phase(end, start_lr, end_lr, start_momentum, end_momentum):
    return {"end_step": float(end), "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum, "end_momentum": end_momentum}


def _set_momentum(group, in_betas, value):
    if in_betas:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0, scale_fn=None, scale_mode="cycle", cycle_momentum=True,
                 base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        if not isinstance(optimizer, _Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        lowest = _per_group(optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for rate, group in zip(lowest, optimizer.param_groups):
                _set(group, "lr", rate)
        self.max_lrs = _per_group(optimizer, max_lr, "max_lr")
        step_size_up = float(step_size_up)
        step_size_down = float(step_size_down) if step_size_down is not None else step_size_up
        self.total_size = step_size_up + step_size_down
        self.step_ratio = step_size_up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = _per_group(optimizer, base_momentum, "base_momentum")
            self.max_momentums = _per_group(optimizer, max_momentum, "max_momentum")
            if last_epoch == -1:
                for most, least, group in zip(self.max_momentums, self.base_momentums, optimizer.param_groups):
                    _set_momentum(group, self.use_beta1, most)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def _left_out(self):
        return ("optimizer", "_scale_fn_custom")

    def scale_fn(self, x):
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        factor = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for least, most, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                _set_momentum(group, self.use_beta1, most - (most - least) * factor * scale)
        return [base + (most - base) * factor * scale for base, most in zip(self.base_lrs, self.max_lrs)]
