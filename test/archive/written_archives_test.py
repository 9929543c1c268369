#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives that `export -o model.pt2` writes: read back they are the program that was exported, byte for byte; and where no
kernel of the model's own is in the way, torch.export.load reads them and computes what the models' references say.

    written_archives_test.py PROGRAM [NAME…]

Exit code 77 where numpy is missing; without PyTorch the second half is left out.
"""
import importlib.util
import logging
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e" / "models"))
from check_models import arguments, call, compare  # noqa: E402  (leaves with 77 where numpy is missing)

import numpy as np  # noqa: E402

try:
    import torch

    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
except ImportError:
    torch = None

STATE = """
import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x, scale=0.5):
        self.calls.add_(1)
        x.mul_(2)
        half = x.shape[0] // 2
        rows = torch.arange(x.shape[0] * 2 - 1, dtype=torch.float32)
        return self.linear(x[:half]) * scale + self.calls, x.view(-1)[: max(half, 2)], rows / half, torch.topk(x, 2)
"""


def own_operators(program):
    """What of its targets stock PyTorch has not."""
    table = __import__("json").loads(call(program[0], "export", program[1], "--json"))
    return sorted({n["target"].split(".")[0] for n in table["nodes"] if n["opcode"] == "call_function"} - {"aten", "_operator"})


def load(path):
    """The module, or PyTorch's complaint."""
    try:
        return torch.export.load(path).module(), None
    except Exception as error:
        # load() itself only points to what it logged.
        from torch.export.pt2_archive._package import load_pt2

        try:
            load_pt2(str(path))
        except Exception as inner:
            return None, str(inner)
        return None, str(error)


def check_case(program, case, folder):
    rng = np.random.default_rng(11)
    weights = {k: make(rng) for k, make in case.weights.items()}
    file = folder / "weights.npz" if weights else None
    if weights:
        np.savez(file, **weights)
    words = arguments(case, file)
    direct, archive, back = folder / "direct.program", folder / "model.pt2", folder / "back.program"
    call(program, "export", *words, "-o", direct)
    call(program, "export", *words, "-o", archive)
    call(program, "export", archive, "-o", back)
    assert direct.read_bytes() == back.read_bytes(), "the program that was read from the archive is another"
    if torch is None:
        return "read back"
    module, complaint = load(archive)
    own = own_operators((program, archive))
    if own:
        assert module is None and any(f"failed to resolve torch.ops.{name}." in complaint for name in [*own, "pellucid"]), f"{own}: {complaint}"
        return f"refused by PyTorch for {', '.join(own)}"
    assert module is not None, complaint
    values = {k: make(rng, case.batches[-1]) for k, make in case.values.items()}
    wide = {k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in {**values, **weights}.items()}
    expected = case.reference(**{k: wide[k] for k in values}, w=wide)
    with torch.no_grad():
        got = module(*(torch.from_numpy(v) for v in values.values()))
    got, expected = (v if isinstance(v, tuple) else (v,) for v in (got, expected))
    assert len(got) == len(expected), f"{len(got)} results, not {len(expected)}"
    for i, (one, want) in enumerate(zip(got, expected)):
        compare(f"result {i}", one.numpy(), want, case.tolerance)
    return "PyTorch computes the same"


def check_state(program, folder):
    """Changed buffers and inputs, sizes in expressions, several results of one operator: ours beside PyTorch's reading."""
    (folder / "counter.py").write_text(STATE)
    archive = folder / "counter.pt2"
    call(program, "export", f"{folder / 'counter.py'}:Counter", "--input", "x=f32[batch:4..32,3]", "--input", "scale=0.25", "--seed", "3", "-o", archive)
    call(program, "compile", archive, "-o", folder / "counter.plc", "--target", "cpu:x86-64-v3")
    if torch is None:
        return
    module, complaint = load(archive)
    assert module is not None, complaint
    state = folder / "state.safetensors"
    for batch in (4, 7, 32):
        x = np.random.default_rng(batch).standard_normal((batch, 3)).astype(np.float32)
        np.save(folder / "x.npy", x)
        given = torch.from_numpy(x.copy())
        with torch.no_grad():
            want = [t.numpy() for t in module(given)] + [given.numpy()]
        outs = [word for i in range(len(want) - 1) for word in ("--output", folder / f"o{i}.npy")]
        call(program, "run", folder / "counter.plc", "--state", state, "--input", f"x=@{folder}/x.npy", *outs)
        for i, value in enumerate(want[:-1]):
            compare(f"counter, batch {batch}, result {i}", np.load(folder / f"o{i}.npy"), value, 1e-5)


VALUES = """
import torch
from torch._higher_order_ops.scan import scan


def branch(x, y):
    '''On sizes in several words; the region needs one that none of its operands has.'''
    return torch.cond((x.shape[0] > 4) & (x.shape[0] != 7), lambda y: y.sin() + torch.arange(x.shape[0]).sum(), lambda y: y.cos() * x.shape[0], (y,))


def backwards(x, y):
    return scan(lambda c, x: (c + x, c * x), y[:3] * 0, x, reverse=True)


def chosen(x, y):
    n = x.shape[0] * 2 if x.shape[0] > 4 else x.shape[0] + 1
    return torch.zeros(n) + x.sum()


def places(x, y):
    found = torch.nonzero(x > 0)
    z = x.clone()
    z[z > 0.5] = -1
    return found, x[x > 0], torch.unique((x * 3).round()), found.shape[0] * x.sum(), z


def number(x, y):
    n = (y > 0).sum().item()
    torch._check(n >= 0)
    torch._check(n <= y.shape[0], lambda: "as many as there are")
    return x[:n].sum(0), torch.cond(x.sum() > 0, lambda x: x.sum() + torch.arange(n).sum(), lambda x: x.sum() * n, (x,))


def below(x, y):
    '''A number of either sign in a region.'''
    n = ((y > 0).sum() - 2).item()
    torch._check(n >= -2)
    torch._check(n <= 2)
    z = torch.zeros(n + 3)
    return torch.cond(x.sum() > 0, lambda x: x.sum() + torch.arange(n + 3).sum(), lambda x: x.sum() * torch.ones(n + 3).sum(), (x,)), z
"""


def check_values(program, folder):
    """Sizes that decide control flow, and sizes that values decide: PyTorch reads them, computes the same at other sizes,
    and what it saves again, without our record, is a program of ours with the same numbers."""
    if torch is None:
        return "PyTorch is missing"
    (folder / "values.py").write_text(VALUES)
    scope = {}
    exec(VALUES, scope)
    leaves = torch.utils._pytree.tree_leaves
    for name in ("below", "branch", "backwards", "chosen", "places", "number"):
        archive, again = folder / f"{name}.pt2", folder / f"{name}_again.pt2"
        call(program, "export", f"{folder / 'values.py'}:{name}", "--input", "x=f32[n=5:1..20,3]", "--input", "y=f32[4]", "-o", archive)
        module, complaint = load(archive)
        assert module is not None, f"{name}: {complaint}"
        torch.export.save(torch.export.load(archive), again)
        call(program, "compile", again, "-o", folder / "again.plc", "--target", "cpu:x86-64-v3")
        for size in (3, 5, 7, 9):
            generator = np.random.default_rng(size)
            given = {k: generator.standard_normal(shape).astype(np.float32) for k, shape in (("x", (size, 3)), ("y", (4,)))}
            tensors = [torch.from_numpy(v) for v in given.values()]
            want, got = leaves(scope[name](*tensors)), leaves(module(*tensors))
            words = ["run", folder / "again.plc"]
            for key, value in given.items():
                np.save(folder / f"{key}.npy", value)
                words += ["--input", f"{key}=@{folder / key}.npy"]
            call(program, *words, *[word for i in range(len(want)) for word in ("--output", folder / f"o{i}.npy")])
            for i, (one, other) in enumerate(zip(got, want, strict=True)):
                for who, value in (("PyTorch's reading", one), ("read again", torch.from_numpy(np.load(folder / f"o{i}.npy")))):
                    torch.testing.assert_close(value, other, rtol=1e-5, atol=1e-6, msg=lambda text: f"{name} at {size}, {who}: {text}")
    return "PyTorch computes the same"


CONTROL = HERE.parent / "e2e" / "control_flow"


def module_of(name):
    spec = importlib.util.spec_from_file_location(f"control_flow_{name}", CONTROL / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_control(program, folder):
    """Branches, loops and scans: what PyTorch reads computes what the model's own Python does."""
    if torch is None:
        return "PyTorch is missing"
    cases, models = module_of("cases"), module_of("models")
    same = 0
    for name, (inputs, calls) in cases.CASES.items():
        # What PyTorch itself exports.
        if name not in cases.ARCHIVES or isinstance(model := getattr(models, name), type):
            continue
        archive = folder / "control.pt2"
        words = [f"{CONTROL / 'models.py'}:{name}", *[w for key, spec in inputs.items() for w in ("--input", f"{key}={spec}")]]
        call(program, "export", *words, "-o", archive)
        module, complaint = load(archive)
        assert module is not None, f"{name}: {complaint}"
        # PyTorch's scans of no slice and lookups beyond their table fail.
        for at in (0, *cases.ARCHIVES[name][1]):
            values = [torch.from_numpy(np.array(v)) for v in calls[at].values()]
            with torch.no_grad():
                want, got = (torch.utils._pytree.tree_leaves(f(*[v.clone() for v in values])) for f in (model, module))
            for one, other in zip(got, want, strict=True):
                torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6, equal_nan=True, msg=lambda text: f"{name}: {text}")
        same += 1
    return f"{same} computed by PyTorch"


def main():
    program, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    failed = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        cases = [case for module in ("model_cases", "network_cases", "library_cases") for case in importlib.import_module(module).CASES]
        for label, run in [(case.label, lambda case=case: check_case(program, case, folder)) for case in cases] + [
            ("state", lambda: check_state(program, folder)), ("control flow", lambda: check_control(program, folder)), ("values", lambda: check_values(program, folder))]:
            if wanted and not any(word in label for word in wanted):
                continue
            count += 1
            try:
                print(f"ok      {label}  {run() or ''}", flush=True)
            except Exception as error:
                failed += 1
                print(f"FAILED  {label}: {type(error).__name__}: {str(error)[:700]}", flush=True)
    print(f"{count} cases, {failed} failed" + ("" if torch else ", PyTorch is missing"))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
