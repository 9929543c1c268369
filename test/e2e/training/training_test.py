#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps as packages: losses, parameters and what optimisers keep, after every step of models.py, compared with PyTorch's
(expected.npz, written by record.py); state that is saved and loaded; steps that are refused.

    training_test.py PROGRAM [CASE…]

Exit code 77 without numpy.
"""
import json
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]
from cases import CASES, OPTIMIZER_STEPS, STEPS, gradient  # noqa: E402
from safetensors_file import read_safetensors  # noqa: E402
from tool import pellucid  # noqa: E402

EXPECTED = dict(np.load(HERE / "expected.npz"))


def compiled(folder, name, inputs):
    package = folder / f"{name}.plc"
    pellucid("compile", f"{HERE / 'models.py'}:{name}", *[w for i in inputs for w in ("--input", i)], "--train", "--target", "cpu:x86-64-v3", "-o", package)
    return package


def step(folder, package, inputs, arrays, results, *words):
    given = []
    for text, array in zip(inputs, arrays, strict=True):
        file = folder / f"in.{text.split('=')[0]}.npy"
        np.save(file, array)
        given += ["--input", f"{text.split('=')[0]}=@{file}"]
    files = [folder / f"out.{i}.npy" for i in range(results)]
    pellucid("run", package, *given, *words, *[w for f in files for w in ("--output", f)])
    return [np.load(f) for f in files]


def near(what, got, want, bound):
    assert got.shape == want.shape, f"{what}: {got.shape}, expected {want.shape}"
    error = np.max(np.abs(got.astype(np.float64) - want) / np.maximum(np.abs(want), 1e-3 * np.max(np.abs(want))))
    assert error <= bound, f"{what}: {error:.3g} off, {bound:.3g} is allowed"


def check_optimizers(folder):
    """Twenty steps of every optimiser, beside PyTorch's."""
    package, state = compiled(folder, "Optimizers", ["grad=f32[5,3]"]), folder / "optimizers.safetensors"
    want = EXPECTED["Optimizers"]
    for i in range(OPTIMIZER_STEPS):
        results = step(folder, package, ["grad=f32[5,3]"], [gradient(i)], len(want), "--state", state)
    for i, got in enumerate(results):
        error = np.max(np.abs(got.astype(np.float64) - want[i])) / np.max(np.abs(want[i]))
        assert error <= 1e-6, f"optimiser {i}: {error:.3g} off"


def check_case(folder, name):
    """Every step by a process of its own, which goes on where the one before it ended."""
    inputs, arrays = CASES[name]
    package, state = compiled(folder, name, inputs), folder / f"{name}.safetensors"
    losses = [float(step(folder, package, inputs, arrays(i), 1, "--state", state)[0]) for i in range(STEPS)]
    near(f"losses of {name}", np.array(losses), EXPECTED[name], 1e-4)
    kept = read_safetensors(state)
    prefix = "model."
    for key, want in EXPECTED.items():
        if key.startswith(name + "."):
            near(f"{key} after {STEPS} steps", kept[prefix + key.removeprefix(name + ".")], want, 5e-3)
    described = json.loads(pellucid("inspect", package, "--json"))["state"]
    assert sorted(kept) == sorted(entry["name"] for entry in described)


def check_saved(folder):
    """A step from a file of state is the step that was not interrupted; without one, training begins anew."""
    inputs, arrays = CASES["TrainLion"]
    package = compiled(folder, "TrainLion", inputs)
    state = folder / "saved.safetensors"
    first = [float(step(folder, package, inputs, arrays(i), 1, "--state", state)[0]) for i in range(3)]
    kept = read_safetensors(state)
    counts = {key: value for key, value in kept.items() if key.endswith(".step")}
    assert len(counts) == 4 and all(int(value) == 3 for value in counts.values()), counts
    fresh = folder / "fresh.safetensors"
    assert float(step(folder, package, inputs, arrays(0), 1, "--state", fresh)[0]) == first[0]
    assert float(step(folder, package, inputs, arrays(3), 1, "--state", fresh)[0]) != float(step(folder, package, inputs, arrays(3), 1, "--state", state)[0])


SCHEDULED = """import torch


class Train(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)

    def forward(self, x):
        self.optimizer.zero_grad()
        self.model(x).sum().backward()
        self.optimizer.step()
        self.scheduler.step()
        return x


def plain(x):
    return x
"""


COMPUTED = """import torch


class Own(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            if not state:
                state["mean"] = p.grad * 2
            p.sub_(state["mean"])


class Train(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(2, 1, bias=False)
        self.optimizer = Own(self.model.parameters(), {})

    def forward(self, x):
        self.model(x).sum().backward()
        self.optimizer.step()
        return x
"""


def check_refused(folder):
    """What a package cannot keep is refused by its name."""
    file = folder / "refused.py"
    for name, text, wanted in (("Train", COMPUTED, "the first value of 'optimizer.state.model.weight.mean' is computed by 'mul'"), ("Train", SCHEDULED, "'scheduler._step_count' is 1 before a step and 2 after it"), ("plain", SCHEDULED, "its file holds no optimiser of torch.optim")):
        file.write_text(text)
        said = pellucid("compile", f"{file}:{name}", "--train", "--input", "x=f32[4,2]", "--target", "cpu:x86-64-v3", "-o", folder / "refused.plc", fails=True)
        assert wanted in said, said


def main():
    checks = {"optimizers": check_optimizers, "saved": check_saved, "refused": check_refused, **{name: lambda folder, n=name: check_case(folder, n) for name in CASES}}
    chosen = sys.argv[2:] or list(checks)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            try:
                checks[name](pathlib.Path(folder))
            except AssertionError as problem:
                failed += 1
                print(f"{name}: {problem}")
    print(f"{len(chosen) - failed} as expected, {failed} not")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
