# SPDX-License-Identifier: Apache-2.0
"""torch.utils.flop_counter: multiplications and additions of products, convolutions and attention, and what operators' own formulas say."""
import inspect
import torch
from collections import defaultdict
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


def _shape(value):
    if isinstance(value, torch.Tensor):
        return value.shape
    if isinstance(value, (tuple, list)):
        return type(value)([_shape(one) for one in value])
    return value


def _takes(function, name):
    """Whether a formula has the parameter: PyTorch hands it to all, and those without it fail there."""
    return any(p.name == name or p.kind == inspect.Parameter.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def _product(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


def _mm(a, b, *args, out_shape=None, **kwargs):
    return a[0] * b[1] * 2 * a[1]


def _addmm(self, a, b, *args, out_shape=None, **kwargs):
    return _mm(a, b)


def _bmm(a, b, *args, out_shape=None, **kwargs):
    return a[0] * a[1] * b[2] * 2 * a[2]


def _baddbmm(self, a, b, *args, out_shape=None, **kwargs):
    return _bmm(a, b)


def _convolution(x, w, bias, stride, padding, dilation, transposed, *args, out_shape=None, **kwargs):
    spatial = x[2:] if transposed else out_shape[2:]
    return _product(spatial) * _product(w[2:]) * x[0] * w[0] * w[1] * 2


def _attention(query, key, value, *args, out_shape=None, **kwargs):
    b, h, s_q, d = query
    return _bmm((b * h, s_q, d), (b * h, d, key[2])) + _bmm((b * h, s_q, key[2]), (b * h, key[2], value[3]))


flop_registry = {
    "aten.mm": _mm,
    "aten.addmm": _addmm,
    "aten.bmm": _bmm,
    "aten.baddbmm": _baddbmm,
    "aten.convolution": _convolution,
    "aten._convolution": _convolution,
    "aten.scaled_dot_product_attention": _attention,
    "aten._scaled_dot_product_flash_attention_for_cpu": _attention,
}


def register_flop_formula(targets, get_raw=False):
    return _register_for_operator(targets, get_raw)


_suffixes = ["", "K", "M", "B", "T"]


def get_suffix_str(number):
    at = max(0, min(len(_suffixes) - 1, (len(str(number)) - 2) // 3))
    return _suffixes[at]


def convert_num_with_suffix(number, suffix):
    return f"{number / 1000 ** _suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(part, whole):
    return "0%" if whole == 0 else f"{part / whole:.2%}"


class FlopCounterMode(TorchDispatchMode):
    """Counts by operator, for the whole block. There are no operators without a formula that it could stop at (`skip_unsupported`)."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None, skip_unsupported=False):
        super().__init__()
        self.depth, self.display, self.mods = depth, display, mods
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.custom_mapping = {str(getattr(key, "overloadpacket", key)): value for key, value in (custom_mapping or {}).items()}

    def get_total_flops(self):
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        total = self.get_total_flops()
        suffix = get_suffix_str(total)
        rows = [["Global", convert_num_with_suffix(total, suffix), convert_to_percent_str(total, total)]]
        for name, count in self.flop_counts["Global"].items():
            rows.append([" - " + name, convert_num_with_suffix(count, suffix), convert_to_percent_str(count, total)])
        return _table(["Module", "FLOP", "% Total"], rows)

    def __enter__(self):
        self.flop_counts.clear()
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        if self.display:
            print(self.get_table(self.depth))
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        name = str(func.overloadpacket) if func.namespace == "aten" else func._qualified_op_name.replace("::", ".")
        formula, raw = self.custom_mapping.get(name), False
        if formula is None and func.namespace != "aten":
            given = _formula_of(func)
            if given is not None:
                formula, raw = given
        if formula is None:
            formula = flop_registry.get(name)
        if formula is not None:
            if raw:
                count = formula(*args, **kwargs, out_val=out)
            else:
                named = {key: _shape(one) for key, one in kwargs.items()}
                if _takes(formula, "out_shape"):
                    named["out_shape"] = _shape(out)
                count = formula(*[_shape(one) for one in args], **named)
            self.flop_counts["Global"][name] += count
        return out


def _table(header, rows):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
             for row in [header, *rows]]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)
