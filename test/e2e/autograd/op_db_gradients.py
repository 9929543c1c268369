#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""First and second derivatives of PyTorch's own sample calls of its operators (op_db) in a script, against PyTorch's, in float64.

    op_db_gradients.py PROGRAM [--samples 5] [--part I/N] [--results FILE] [NAME…]
    op_db_gradients.py --page FILE…      writes docs/op-db-gradients.md of such results

A process of `pellucid exec` takes the samples of one operator: it loads their arguments, calls the operator, and saves the results, their
derivatives by every floating-point argument and the derivatives of those. NAME: operators of op_db; none: all that PyTorch
differentiates. Needs torch and its testing packages. No test: it takes minutes.
"""
import argparse
import collections
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Samples of these are drawn, or their derivatives are those of what was drawn.
DRAWN = ("rand_like", "randn_like", "randint_like", "normal", "bernoulli", "multinomial", "uniform", "cauchy", "exponential", "geometric", "log_normal", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "nn.functional.rrelu", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout", "svd_lowrank", "pca_lowrank", "nn.functional.fractional_max_pool2d",
         "nn.functional.fractional_max_pool3d", "nn.functional.multi_head_attention_forward")

# Runs with PyTorch and in `pellucid exec` alike: one text for both.
SCRIPT = '''
import sys
import torch

name, source, first, last, target = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]


def found(name):
    place = torch
    for part in name.split("."):
        place = getattr(place, part)
    return place


def leaves_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves_of(part)]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves_of(part)]
    return []


def weights_like(values, shift):
    return [torch.cos(torch.arange(v.numel(), dtype=torch.float64) * 0.7 + shift).reshape(v.shape).to(v.dtype) for v in values]


samples = torch.load(source)
for i in range(first, last):
    args, kwargs = samples[i]
    inputs = [t for t in leaves_of([args, kwargs]) if t.is_floating_point() and t.requires_grad]
    before = [t.detach().clone() for t in inputs]
    outs = [o for o in leaves_of(found(name)(*args, **kwargs))]
    smooth = [o for o in outs if o.is_floating_point() and o.requires_grad]
    saved = {"outs": [o.detach().clone() for o in outs], "first": [], "second": []}
    if smooth and inputs:
        total = sum((o * w).sum() for o, w in zip(smooth, weights_like(smooth, 0.3)))
        grads = torch.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
        saved["first"] = [None if g is None else g.detach().clone() for g in grads]
        torch.save(saved, f"{target}{i}.pt")
        again = [g for g in grads if g is not None and g.requires_grad]
        if again:
            total = sum((g * w).sum() for g, w in zip(again, weights_like(again, 0.9)))
            if total.requires_grad:
                grads = torch.autograd.grad(total, inputs, allow_unused=True)
                saved["second"] = [None if g is None else g.detach().clone() for g in grads]
        saved["whole"] = True
    torch.save(saved, f"{target}{i}.pt")
'''


def plain(value):
    """Whether a script can load it."""
    import torch

    if isinstance(value, (list, tuple)):
        return all(plain(v) for v in value)
    if isinstance(value, dict):
        return all(plain(v) for v in value.values())
    return value is None or isinstance(value, (int, float, str, bool, torch.Tensor, torch.dtype, torch.Size, torch.device))


def leaf(value):
    """Leaves with their memory in order, that ask for a gradient where they did."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, list):
        return [leaf(v) for v in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(leaf(v) for v in value)
    if isinstance(value, dict):
        return {k: leaf(v) for k, v in value.items()}
    return value


def samples_of(op, count):
    import torch

    torch.manual_seed(7)
    found = list(itertools.islice(op.sample_inputs("cpu", torch.float64, requires_grad=True), 100))
    found = [((s.input, *s.args), s.kwargs) for s in found]
    found = [(leaf(list(a)), leaf(k)) for a, k in found if plain(a) and plain(k)]
    if len(found) > count:
        found = [found[i * (len(found) - 1) // (count - 1)] for i in range(count)]
    return found


def close(ours, theirs, what):
    import torch

    if len(ours) != len(theirs):
        return f"{what}: {len(ours)} for {len(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a is None or b is None:
            # PyTorch may say that there is none where ours is zero, and the other way round.
            present = a if b is None else b
            if present is not None and present.numel() and present.abs().max() > 0:
                return f"{what} {i}: {'none' if a is None else 'one'} for {'none' if b is None else 'one'}"
            continue
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{what} {i}: {a.dtype}{list(a.shape)} for {b.dtype}{list(b.shape)}"
        if not a.numel() or not a.dtype.is_floating_point:
            if not torch.equal(a, b):
                return f"{what} {i}: another value"
            continue
        if not torch.allclose(a, b, rtol=1e-6, atol=1e-8 * max(1.0, float(b[torch.isfinite(b)].abs().max()) if torch.isfinite(b).any() else 1.0), equal_nan=True):
            return f"{what} {i}: off by {float((a - b).abs().nan_to_num(1e30).max()):.3g}"
    return None


def name_of(op):
    import torch

    place = torch
    for part in op.name.split("."):
        place = getattr(place, part, None)
        if place is None:
            return None
    return op.name


def run(command, seconds=120):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "too slow")


def reason_of(said):
    lines = [line for line in said.splitlines() if "error: " in line]
    return lines[0].split("error: ", 1)[1][:200] if lines else (said.strip().splitlines() or ["no word"])[-1][:200]


def judge(program, op, count, folder):
    import torch

    name = name_of(op)
    if name is None:
        return {"state": "no function of that name"}
    try:
        samples = samples_of(op, count)
    except Exception as error:  # noqa: BLE001: whatever PyTorch's samples raise
        return {"state": "no samples", "why": str(error)[:100]}
    if not samples:
        return {"state": "no samples"}
    script, source = folder / "gradients.py", folder / "samples.pt"
    script.write_text(SCRIPT)
    torch.save(samples, source)
    row = collections.Counter()
    whys = []
    for i in range(len(samples)):
        theirs, ours = folder / f"theirs{i}.pt", folder / f"ours{i}.pt"
        theirs.unlink(missing_ok=True), ours.unlink(missing_ok=True)
        saved = sys.argv
        try:
            sys.argv = ["gradients.py", name, str(source), str(i), str(i + 1), str(folder / "theirs")]
            exec(compile(SCRIPT, "gradients.py", "exec"), {"__name__": "__main__"})
        except Exception:  # noqa: BLE001: PyTorch has no derivative of this one, or none of the second order
            pass
        finally:
            sys.argv = saved
    left = list(range(len(samples)))
    first = 0
    said = {}
    while first < len(samples):
        done = run([program, "exec", str(script), name, str(source), str(first), str(len(samples)), str(folder / "ours")])
        if done.returncode == 0:
            break
        # The one that failed is the first without a whole result.
        while first < len(samples) and (folder / f"ours{first}.pt").exists() and (torch.load(folder / f"ours{first}.pt").get("whole") or not torch.load(folder / f"ours{first}.pt")["first"]):
            first += 1
        if first < len(samples):
            said[first] = (done.returncode, done.stderr)
        first += 1
    for i in left:
        theirs, ours = folder / f"theirs{i}.pt", folder / f"ours{i}.pt"
        if not theirs.exists():
            row["no derivative in PyTorch"] += 1
            continue
        wanted = torch.load(theirs)
        got = torch.load(ours) if ours.exists() else None
        if i in said:
            code, text = said[i]
            why = reason_of(text)
            if got is None:
                row["refused" if code == 1 else "crash"] += 1
                whys.append(why)
                continue
        if any(out.is_complex() for out in wanted["outs"]):
            row["complex"] += 1
            continue
        wrong = close(got["outs"], wanted["outs"], "result") or close(got["first"], wanted["first"], "derivative")
        if wrong:
            row["wrong"] += 1
            whys.append(f"sample {i}: {wrong}")
            continue
        row["right"] += 1
        if not wanted.get("whole") or not wanted["second"]:
            continue
        if i in said:
            row["second refused"] += 1
            whys.append(reason_of(said[i][1]))
            continue
        wrong = close(got["second"], wanted["second"], "second derivative")
        if wrong and not got["second"] and all(g is None or not g.any() for g in wanted["second"]):
            # Its first derivative does not ask for one here.
            row["second not asked for, zero in PyTorch"] += 1
            continue
        row["second wrong" if wrong else "second right"] += 1
        if wrong:
            whys.append(f"sample {i}: {wrong}")
    return {"state": dict(row), "why": sorted(set(whys))[:4]}


def state_of(row):
    state = row["state"]
    if isinstance(state, str):
        return state
    for one in ("crash", "wrong", "second wrong", "refused", "second refused", "right"):
        if state.get(one):
            return one
    return "no derivative in PyTorch"


def page(files):
    """docs/op-db-gradients.md of results."""
    rows, torch_version = {}, ""
    for file in files:
        found = json.loads(pathlib.Path(file).read_text())
        rows |= found["rows"]
        torch_version = found["torch"]
    judged = {name: row for name, row in sorted(rows.items()) if isinstance(row["state"], dict) and set(row["state"]) - {"no derivative in PyTorch"}}
    # Complex results are no tensors here.
    is_complex = {name for name, row in judged.items() if "complex" in row["state"] or any("complex" in why or "result: 0 for" in why for why in row["why"])}
    samples = collections.Counter()
    for row in judged.values():
        samples.update(row["state"])
    entries = collections.Counter(state_of(row) for row in judged.values())
    plain = len(judged) - len(is_complex)
    right = sum(state_of(row) in ("right", "second refused", "second wrong") for name, row in judged.items() if name not in is_complex)
    lines = [
        "# Derivatives of PyTorch's sample calls",
        "",
        "Written by `test/e2e/autograd/op_db_gradients.py` of one run of one build: samples that PyTorch " + torch_version + " has of its operators (`op_db`) in float64, called in a script; results, derivatives by every floating-point",
        "argument, and derivatives of those, against PyTorch's.",
        "",
        f"Of {plain} entries (without those whose numbers are complex) {right} have all results and derivatives of the first order right: {100 * right / max(1, plain):.1f} %. Entries by their worst sample: "
        + ", ".join(f"{count} {state}" for state, count in entries.most_common())
        + ". Samples: "
        + ", ".join(f"{count} {state}" for state, count in samples.most_common())
        + ".",
        "",
        "| entry | samples | why |",
        "|---|---|---|",
    ]
    for name, row in judged.items():
        if state_of(row) != "right" and name not in is_complex:
            lines.append(f"| {name} | " + ", ".join(f"{count} {state}" for state, count in row["state"].items()) + " | " + "; ".join(why.replace("|", "/")[:140] for why in row["why"][:2]) + " |")
    (ROOT / "docs/op-db-gradients.md").write_text("\n".join(lines) + "\n")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program", nargs="?")
    options.add_argument("names", nargs="*")
    options.add_argument("--samples", type=int, default=5)
    options.add_argument("--part", default="1/1")
    options.add_argument("--results")
    options.add_argument("--page", nargs="+")
    options = options.parse_intermixed_args()
    if options.page:
        return page(options.page)
    warnings.simplefilter("ignore")
    import torch

    # PyTorch's testing package derives a class from this one, which nothing here uses.
    if "expecttest" not in sys.modules:
        sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase)
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    part, parts = map(int, options.part.split("/"))
    ops = [op for op in op_db if op.supports_autograd and op.supports_dtype(torch.float64, "cpu") and op.name not in DRAWN]
    ops = [op for op in ops if not options.names or op.name in options.names][part - 1::parts]
    rows = {}
    counts = collections.Counter()
    for op in ops:
        with tempfile.TemporaryDirectory() as scratch:
            row = judge(options.program, op, options.samples, pathlib.Path(scratch))
        name = op.name + (f" ({op.variant_test_name})" if op.variant_test_name else "")
        rows[name] = row
        counts[state_of(row)] += 1
        if state_of(row) not in ("right", "no samples", "no function of that name", "no derivative in PyTorch"):
            print(name, "|", row["state"], "|", *row.get("why", []), flush=True)
        if options.results:
            pathlib.Path(options.results).write_text(json.dumps({"command": sys.argv[1:], "torch": torch.__version__, "rows": rows}, indent=1))
    print(dict(counts))


if __name__ == "__main__":
    main()
