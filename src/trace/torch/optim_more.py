# SPDX-License-Identifier: Apache-2.0
"""Further optimisers of torch.optim; what they are written with is in optim.py, whose names are there."""
import torch


class Adadelta(_Stepping):
    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False, differentiable=False):
        _lr_check(lr)
        _check(0.0 <= rho <= 1.0, f"Invalid rho value: {rho}")
        _check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        _check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable, foreach=foreach, differentiable=differentiable))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["square_avg"] = torch.zeros_like(p)
        state["acc_delta"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        rho, eps = group["rho"], group["eps"]
        state["step"].add_(1)
        grad = _decayed(p, grad, group["weight_decay"])
        square, moved = state["square_avg"], state["acc_delta"]
        square.copy_(_scaled(square, rho))
        _add_product(square, grad, grad, 1 - rho)
        delta = (moved + eps).sqrt() / (square + eps).sqrt() * grad
        moved.copy_(_scaled(moved, rho))
        _add_product(moved, delta, delta, 1 - rho)
        _add(p, delta, -_number(group["lr"]))


class Adamax(_Stepping):
    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False, differentiable=False, capturable=False):
        _lr_check(lr)
        _check_betas(betas, eps, weight_decay)
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["exp_avg"] = torch.zeros_like(p)
        state["exp_inf"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        grad = _decayed(p, grad, group["weight_decay"])
        mean, most = state["exp_avg"], state["exp_inf"]
        mean.copy_(torch.lerp(mean, grad, 1 - beta1))
        most.copy_(torch.maximum(most * beta2, grad.abs() + group["eps"]))
        rate = _number(group["lr"]) / (1 - _power(beta1, _count(state["step"])))
        _add_quotient(p, mean, most, -rate)


class NAdam(_Stepping):
    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, *, foreach=None, maximize=False,
                 capturable=False, differentiable=False):
        _lr_check(lr)
        _check_betas(betas, eps, weight_decay)
        _check(0.0 <= momentum_decay, f"Invalid momentum_decay value: {momentum_decay}")
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
                                      maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["mu_product"] = torch.ones((), dtype=torch.float32)
        state["exp_avg"] = torch.zeros_like(p)
        state["exp_avg_sq"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        beta1, beta2 = group["betas"]
        lr = _number(group["lr"])
        state["step"].add_(1)
        grad = _decayed_or_shrunk(p, grad, lr, group)
        count = _count(state["step"])
        mu = beta1 * (1.0 - 0.5 * _power(0.96, count * group["momentum_decay"]))
        next_mu = beta1 * (1.0 - 0.5 * _power(0.96, (count + 1) * group["momentum_decay"]))
        product = state["mu_product"]
        product.mul_(mu.to(torch.float32))
        mean, square = _moments(state, grad, beta1, beta2)
        denominator = _divided(square, 1 - _power(beta2, count)).sqrt() + group["eps"]
        so_far = _count(product)
        _add_quotient(p, grad, denominator, -lr * (1.0 - mu) / (1.0 - so_far))
        _add_quotient(p, mean, denominator, -lr * next_mu / (1.0 - so_far * next_mu))


class RAdam(_Stepping):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        _lr_check(lr)
        _check_betas(betas, eps, weight_decay)
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
                                      decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["exp_avg"] = torch.zeros_like(p)
        state["exp_avg_sq"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        beta1, beta2 = group["betas"]
        lr = _number(group["lr"])
        state["step"].add_(1)
        grad = _decayed_or_shrunk(p, grad, lr, group)
        mean, square = _moments(state, grad, beta1, beta2)
        count = _count(state["step"])
        power = _power(beta2, count)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * count * power / (1 - power)
        corrected = _divided(mean, 1 - _power(beta1, count))
        # Below five terms the variance is not known: the root of a negative number is not taken.
        enough = length > 5.0
        known = torch.where(enough, length, torch.full_like(length, longest))
        rectified = ((known - 4) * (known - 2) * longest / ((longest - 4) * (longest - 2) * known)) ** 0.5
        adaptive = (_factor((1 - power) ** 0.5, square) / _wide(square.sqrt() + group["eps"])).to(p.dtype)
        change = _scaled(corrected, lr)
        _add(p, torch.where(enough, _scaled(change * adaptive, rectified), change), -1.0)


class ASGD(_Stepping):
    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, differentiable=False, capturable=False):
        _lr_check(lr)
        _check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize, differentiable=differentiable,
                                      capturable=capturable))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["eta"] = torch.zeros((), dtype=torch.float32) + group["lr"]
        state["mu"] = torch.ones((), dtype=torch.float32)
        state["ax"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        lr, lambd = _number(group["lr"]), group["lambd"]
        eta, mu, mean = state["eta"], state["mu"], state["ax"]
        state["step"].add_(1)
        grad = _decayed(p, grad, group["weight_decay"])
        rate = _count(eta)
        p.copy_(_scaled(p, 1 - lambd * rate))
        _add(p, grad, -rate)
        mean.copy_(torch.where(mu == 1, p, mean + _scaled(p - mean, _count(mu))))
        count = _count(state["step"])
        eta.copy_(lr / (1 + lambd * lr * count) ** group["alpha"])
        mu.copy_(1 / torch.clamp(count - group["t0"], min=1.0))


class Rprop(_Stepping):
    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False, differentiable=False):
        _lr_check(lr)
        _check(0.0 < etas[0] < 1.0 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        _undifferentiated(differentiable)
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        state["prev"] = torch.zeros_like(p)
        state["step_size"] = torch.zeros_like(p) + group["lr"]

    def _update(self, p, grad, state, group):
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        state["step"].add_(1)
        turned = (grad * state["prev"]).sign()
        size = state["step_size"]
        size.copy_((size * torch.where(turned > 0, grow, torch.where(turned < 0, shrink, 1.0)).to(p.dtype)).clamp(least, most))
        grad = torch.where(turned < 0, torch.zeros_like(grad), grad)
        _add_product(p, grad.sign(), size, -1.0)
        state["prev"].copy_(grad)
