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


class Adafactor(_Stepping):
    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False):
        _lr_check(lr)
        _check(0.0 >= beta2_decay, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        _check(eps[0] is None or 0.0 <= eps[0], f"epsilon1 should be >= 0 but is: {eps[0]}")
        _check(0.0 <= eps[1], f"epsilon2 should be >= 0 but is: {eps[1]}")
        _check(1.0 <= d, f"Clipping threshold d should be >= 1 but is: {d}")
        _check(0.0 <= weight_decay, f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach, maximize=maximize))

    def _begin(self, p, group, state):
        state["step"] = _step_tensor()
        if p.dim() > 1:
            state["row_var"] = torch.zeros(list(p.shape[:-1]) + [1], dtype=p.dtype, device=p.device)
            state["col_var"] = torch.zeros(list(p.shape[:-2]) + [1, p.shape[-1]], dtype=p.dtype, device=p.device)
        else:
            state["variance"] = torch.zeros_like(p)

    def _update(self, p, grad, state, group):
        least = torch.finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
        lr = _number(group["lr"])
        state["step"].add_(1)
        count = _count(state["step"])
        share = torch.pow(count, group["beta2_decay"])
        size = (torch.linalg.vector_norm(p).to(torch.float64) / p.numel() ** 0.5).clamp(min=group["eps"][1])
        rate = size * torch.minimum(torch.zeros_like(count) + lr, 1 / count.sqrt())
        if group["weight_decay"] != 0:
            p.copy_(_scaled(p, 1 - lr * group["weight_decay"]))
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            for kept, dim in ((rows, -1), (columns, -2)):
                mean = torch.linalg.vector_norm(grad, 2, dim, True).square() / grad.shape[dim]
                kept.copy_(torch.lerp(kept, mean, share.to(p.dtype)))
            variance = rows @ columns / rows.mean(-2, True).clamp(min=least)
        else:
            kept = state["variance"]
            kept.copy_(torch.lerp(kept, grad * grad, share.to(p.dtype)))
            variance = kept
        update = variance.clamp(min=least * least).rsqrt() * grad
        clipped = (torch.linalg.vector_norm(update).to(torch.float64) / (update.numel() ** 0.5 * group["d"])).clamp(min=1.0)
        _add(p, update, -rate / clipped)


class Muon(_Stepping):
    _counts = False

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        _check(_is_tensor(lr) or 0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}")
        _check(0.0 <= momentum, f"momentum should be >= 0 but is: {momentum}")
        _check(0.0 <= weight_decay, f"weight decay should be >= 0 but is: {weight_decay}")
        _check(adjust_lr_fn in (None, "original", "match_rms_adamw", "spectral_unclamped"), f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov, ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps,
                                      adjust_lr_fn=adjust_lr_fn))
        for group in self.param_groups:
            for p in group["params"]:
                _check(p.dim() == 2, f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _begin(self, p, group, state):
        state["momentum_buffer"] = torch.zeros_like(p)

    def _orthogonal(self, matrix, group):
        """Newton and Schulz' iteration, in bfloat16 as PyTorch has it."""
        a, b, c = group["ns_coefficients"]
        tall = matrix.shape[0] > matrix.shape[1]
        x = matrix.to(torch.bfloat16)
        x = x.T if tall else x
        x = x / x.norm().clamp(min=group["eps"])
        for _ in range(group["ns_steps"]):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        return x.T if tall else x

    def _update(self, p, grad, state, group):
        held, momentum = state["momentum_buffer"], group["momentum"]
        held.copy_(torch.lerp(held, grad, 1 - momentum))
        update = self._orthogonal(torch.lerp(grad, held, momentum) if group["nesterov"] else held, group)
        rows, columns = p.shape
        how = group["adjust_lr_fn"]
        ratio = 0.2 * max(rows, columns) ** 0.5 if how == "match_rms_adamw" else (rows / columns) ** 0.5 if how == "spectral_unclamped" else max(1, rows / columns) ** 0.5
        lr = _number(group["lr"])
        p.copy_(_scaled(p, 1 - lr * group["weight_decay"]))
        _add(p, update.to(p.dtype), -lr * ratio)


# --- L-BFGS, which asks for values to decide how far to go


def _cubic_minimum(x1, f1, g1, x2, f2, g2, low=None, high=None):
    """Where the cubic through two points with their slopes is least, within bounds."""
    if low is None:
        low, high = min(x1, x2), max(x1, x2)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square ** 0.5
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


class _Point:
    """A length along the direction: the loss, the gradient and its slope there."""

    def __init__(self, at, loss, grad, slope):
        self.at, self.loss, self.grad, self.slope = at, loss, grad, slope


def _wolfe(evaluate, begin, step, largest, most, least_change):
    """A point that satisfies the strong Wolfe conditions; how often the loss was computed."""
    c1, c2 = 1e-4, 0.9

    def rises(point):
        return point.loss > begin.loss + c1 * point.at * begin.slope

    def is_flat(point):
        return abs(point.slope) <= -c2 * begin.slope

    point, before, turns, done = evaluate(step), begin, 0, False
    calls, bracket = 1, None
    while turns < most:
        if rises(point) or (turns > 1 and point.loss >= before.loss):
            bracket = [before, point]
            break
        if is_flat(point):
            bracket, done = [point, point], True
            break
        if point.slope >= 0:
            bracket = [before, point]
            break
        at = _cubic_minimum(before.at, before.loss, before.slope, point.at, point.loss, point.slope, point.at + 0.01 * (point.at - before.at), point.at * 10)
        before, point = point, evaluate(at)
        calls += 1
        turns += 1
    if bracket is None:
        bracket = [begin, point]
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    stuck = False
    while not done and turns < most:
        left, right = min(b.at for b in bracket), max(b.at for b in bracket)
        if (right - left) * largest < least_change:
            break
        a, b = bracket
        at = _cubic_minimum(a.at, a.loss, a.slope, b.at, b.loss, b.slope)
        # Too close to an end twice, or at it: a tenth of the bracket away from it.
        margin = 0.1 * (right - left)
        if min(right - at, at - left) < margin:
            if stuck or at >= right or at <= left:
                at = right - margin if abs(at - right) < abs(at - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        point = evaluate(at)
        calls += 1
        turns += 1
        if rises(point) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        if is_flat(point):
            done = True
        elif point.slope * (bracket[high].at - bracket[low].at) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
    return bracket[low], calls


class LBFGS(Optimizer):
    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100, line_search_fn=None):
        _lr_check(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad, tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn))
        _check(len(self.param_groups) == 1, "LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gathered(self):
        return torch.cat([torch.zeros(p.numel(), dtype=p.dtype, device=p.device) if p.grad is None else p.grad.reshape(-1) for p in self._params])

    def _move(self, length, direction):
        at = 0
        with torch.no_grad():
            for p in self._params:
                p.add_(direction[at:at + p.numel()].view_as(p), alpha=length)
                at += p.numel()

    def _evaluated(self, closure):
        with torch.enable_grad():
            loss = float(closure())
        return loss, self._gathered()

    def _along(self, closure, direction):
        kept = [p.detach().clone() for p in self._params]

        def evaluate(length):
            self._move(length, direction)
            loss, grad = self._evaluated(closure)
            with torch.no_grad():
                for p, value in zip(self._params, kept):
                    p.copy_(value)
            return _Point(length, loss, grad, float(grad.dot(direction)))

        return evaluate

    def _direction(self, grad, state, history):
        """The approximate inverse Hessian times the negative gradient."""
        if state["n_iter"] == 1:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            return -grad
        y, s = grad - state["prev_flat_grad"], state["d"] * state["t"]
        ys = y.dot(s)
        if float(ys) > 1e-10:
            if len(state["old_dirs"]) == history:
                for name in ("old_dirs", "old_stps", "ro"):
                    state[name].pop(0)
            state["old_dirs"].append(y)
            state["old_stps"].append(s)
            state["ro"].append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        q, shares = -grad, [None] * len(dirs)
        for i in range(len(dirs) - 1, -1, -1):
            shares[i] = steps[i].dot(q) * ro[i]
            q = q - dirs[i] * shares[i]
        d = q * state["H_diag"]
        for i in range(len(dirs)):
            d = d + steps[i] * (shares[i] - dirs[i].dot(d) * ro[i])
        return d

    def step(self, closure):
        if not torch._is_script():
            raise NotImplementedError("torch.optim.LBFGS looks at the loss to decide how far to go, in Python: it is for scripts; use Adam or SGD in a program")
        group = self.param_groups[0]
        lr, change = float(group["lr"]), group["tolerance_change"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with torch.enable_grad():
            first = closure()
        loss, grad = float(first), self._gathered()
        calls = 1
        state["func_evals"] += 1
        if float(grad.abs().max()) <= group["tolerance_grad"]:
            return first
        turn = 0
        with torch.no_grad():
            while turn < group["max_iter"]:
                turn += 1
                state["n_iter"] += 1
                d = state["d"] = self._direction(grad, state, group["history_size"])
                state["prev_flat_grad"], state["prev_loss"] = grad, loss
                t = state["t"] = min(1.0, 1.0 / float(grad.abs().sum())) * lr if state["n_iter"] == 1 else lr
                slope = float(grad.dot(d))
                if slope > -change:
                    break
                used = 0
                if group["line_search_fn"] is not None:
                    if group["line_search_fn"] != "strong_wolfe":
                        raise RuntimeError("only 'strong_wolfe' is supported")
                    best, used = _wolfe(self._along(closure, d), _Point(0, loss, grad, slope), t, float(d.abs().max()), group["max_eval"] - calls, change)
                    t = state["t"] = best.at
                    loss, grad = best.loss, best.grad
                    self._move(t, d)
                else:
                    self._move(t, d)
                    if turn != group["max_iter"]:
                        loss, grad = self._evaluated(closure)
                        used = 1
                calls += used
                state["func_evals"] += used
                if turn == group["max_iter"] or calls >= group["max_eval"] or float(grad.abs().max()) <= group["tolerance_grad"]:
                    break
                if float((d * t).abs().max()) <= change or abs(loss - state["prev_loss"]) < change:
                    break
        return first
