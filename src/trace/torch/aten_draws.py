# SPDX-License-Identifier: Apache-2.0
# --- factories and draws; part of aten.py's namespace


@_aten("aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _eye(n, dtype, layout, device, pin_memory):
    return F.eye(n, None, dtype, device)


@_aten("aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _eye_m(n, m, dtype, layout, device, pin_memory):
    return F.eye(n, m, dtype, device)


@_aten("aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _linspace(start, end, steps, dtype, layout, device, pin_memory):
    return F.linspace(start, end, steps, dtype, device)


def _triangle(row, col, offset, lower, dtype, device):
    places = [[i, j] for i in range(row) for j in range(col) if (j - i <= offset if lower else j - i >= offset)]
    # The schema's default is the number of int64.
    kept = torch.int64 if dtype is None or isinstance(dtype, int) else dtype
    return torch.tensor([[p[0] for p in places], [p[1] for p in places]], dtype=kept, device=device) if places else torch.tensor([[0], [0]], dtype=kept, device=device)[:, :0]


@_aten("aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _tril_indices(row, col, offset, dtype, layout, device, pin_memory):
    return _triangle(row, col, offset, True, dtype, device)


@_aten("aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _triu_indices(row, col, offset, dtype, layout, device, pin_memory):
    return _triangle(row, col, offset, False, dtype, device)


@_aten("aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _empty_permuted(size, physical_layout, dtype, layout, device, pin_memory):
    inner = torch.empty([size[d] for d in physical_layout], dtype=dtype, device=device)
    return torch.permute(inner, [physical_layout.index(d) for d in range(len(size))])


@_aten("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _new_empty_strided(self, size, stride, dtype, layout, device, pin_memory):
    return torch.ops.aten.empty_strided.default(size, stride, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device)


@_aten("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor")
def _feature_dropout(input, p, train):
    return F.feature_dropout(input, p, train)


@_aten("aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor")
def _feature_alpha_dropout(input, p, train):
    return torch.nn.functional.feature_alpha_dropout(input, p, train)


@_aten("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor")
def _alpha_dropout(input, p, train):
    return F.alpha_dropout(input, p, train)


def _cumulative(probabilities):
    sums = torch.cumsum(probabilities, -1)
    return sums / sums[..., -1:]


def _asserted(holds, text):
    """Raised as PyTorch's own in a script, and an assertion of a program."""
    if torch._is_script():
        torch._check_all(holds, "RuntimeError", text)
    else:
        torch._assert_async(holds, text)


@_aten("aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor")
def _multinomial(self, num_samples, replacement, generator):
    if self.dim() not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    _asserted(torch.logical_and(wide >= 0, wide < float("inf")).all(), "probability tensor contains either `inf`, `nan` or element < 0")
    _asserted((wide.sum(-1) > 0).all(), "invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if num_samples == 1 or not replacement:
        waits = torch.ops.aten.exponential(wide)
        return torch.argmax(wide / waits, -1, True) if num_samples == 1 else torch.topk(wide / waits, num_samples)[1]
    # PyTorch draws doubles here, whatever the weights are.
    drawn = torch.rand(list(self.shape[:-1]) + [num_samples], dtype=torch.float64)
    return (_cumulative(wide).unsqueeze(-2) < drawn.unsqueeze(-1)).sum(-1)


def _drawn(self):
    """What the elements of a draw are computed in."""
    return self if self.dtype in (torch.float32, torch.float64) else torch.empty(self.shape, dtype=torch.float32)


@_aten("aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor")
def _geometric(self, p, generator):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    waits = torch.ceil(torch.ops.aten.exponential(_drawn(self)) / -math.log1p(-p))
    return torch.clamp(waits, min=1).to(self.dtype)


@_aten("aten::log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor")
def _log_normal(self, mean, std, generator):
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return torch.exp(torch.randn(self.shape, dtype=_drawn(self).dtype) * std + mean).to(self.dtype)


@_aten("aten::cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor")
def _cauchy(self, median, sigma, generator):
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    turn = torch.ops.aten.uniform(_drawn(self)) - 0.5
    return (torch.tan(turn * math.pi) * sigma + median).to(self.dtype)


@_aten("aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)")
def _rrelu_with_noise(self, noise, lower, upper, training, generator):
    if not training:
        return torch.nn.functional.leaky_relu(self, (lower + upper) / 2), noise
    noise = torch.where(self <= 0, torch.ops.aten.uniform(self, lower, upper), 1.0)
    return self * noise, noise


@_aten("aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor")
def _rrelu(self, lower, upper, training, generator):
    if not training:
        return torch.nn.functional.leaky_relu(self, (lower + upper) / 2)
    return _rrelu_with_noise(self, None, lower, upper, training, None)[0]
