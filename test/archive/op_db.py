#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports PyTorch's own sample calls of its operators (op_db), compiles the archives and compares; prints a table.

    op_db.py PROGRAM [--dtypes float32,bfloat16,int64,bool] [--samples 4] [--core] [--target cuda:sm_90] [--part I/N] [--results FILE] [NAME…]
    op_db.py --page FILE… [--device FILE…]      writes docs/op-db.md of such results, those of a device in a table of their own, and the
                                                part on Core ATen of docs/operators.md

One archive for each operator and dtype, which calls it with samples spread over those that PyTorch has. NAME: operators of
op_db; none: all. `--core`: only those with an overload that PyTorch tags `core`. Needs torch and its testing packages. No
test: it takes minutes.
"""
import argparse
import collections
import datetime
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import warnings

# PyTorch's kernels without vectors: those with vectors give NaN for fmod and remainder where the quotient is beyond float32, as it is for
# the smallest numbers that op_db puts in the place of zeros.
os.environ.setdefault("ATEN_CPU_CAPABILITY", "default")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DTYPES = ("float32", "bfloat16", "int64", "bool")
# Of what a package does by design otherwise: the state of a pair that counts neither as right nor as refused.
UNCOUNTED = ("not exported", "no samples", "no tensors", "complex", "sparse")

# Factors of matrices whose vectors are theirs up to a sign, and to a turn where values are equal.
FACTORS = ("linalg.svd", "svd", "svd_lowrank", "pca_lowrank", "linalg.eigh")

# Whose numbers nobody can compare: of memory as it was, and of another generator.
DRAWN = ("empty", "new_empty", "rand", "normal", "multinomial", "bernoulli", "uniform", "cauchy", "exponential", "geometric", "log_normal", "nn.functional.rrelu", "nn.functional.multi_head_attention_forward")


def samples_of(op, dtype, count):
    """Spread over the first hundred, the first one among them."""
    import torch

    torch.manual_seed(7)
    found = list(itertools.islice(op.sample_inputs("cpu", getattr(torch, dtype)), 100))
    if len(found) <= count:
        return found
    return [found[i * (len(found) - 1) // (count - 1)] for i in range(count)]


def model_of(operator, samples):
    """The calls of one operator; the tensors of all of them are the inputs."""
    import torch
    from torch.utils import _pytree as pytree

    class Samples(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tensors, self.calls, self.samples, self.owners = [], [], samples, []
            for sample in samples:
                leaves, tree = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
                places = []
                for leaf in leaves:
                    is_tensor = isinstance(leaf, torch.Tensor)
                    places.append(len(self.tensors) if is_tensor else ("constant", leaf))
                    if is_tensor:
                        self.tensors.append(leaf.detach().clone().contiguous())
                self.calls.append((places, tree))

        def forward(self, *tensors):
            results, owners = [], []
            for call, (places, tree) in enumerate(self.calls):
                leaves = [tensors[p] if isinstance(p, int) else p[1] for p in places]
                args, kwargs = pytree.tree_unflatten(leaves, tree)
                own = [t for t in pytree.tree_leaves(operator(*args, **kwargs)) if isinstance(t, torch.Tensor)]
                results += own
                owners += [call] * len(own)
            self.owners = owners
            return tuple(results)

        def expected(self, seed):
            torch.manual_seed(seed)
            with torch.no_grad():
                return self(*[t.clone() for t in self.tensors])

    return Samples()


def pellucid(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def as_numpy(value):
    import torch

    # Some samples lie on a device where one is.
    value = value.detach().cpu()
    return value.view(torch.uint16).numpy() if value.dtype == torch.bfloat16 else value.numpy()


def widened(array):
    import numpy as np

    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


def difference(got, expected):
    """None where they agree to within what the type holds, otherwise what differs."""
    import numpy as np
    import torch

    wanted = as_numpy(expected)
    if got.dtype != wanted.dtype:
        return f"{got.dtype} for {wanted.dtype}"
    if got.shape != wanted.shape:
        return f"{got.shape} for {wanted.shape}"
    got, wanted = widened(got).astype(np.float64), widened(wanted).astype(np.float64)
    tolerance = {torch.float32: 2e-4, torch.float64: 2e-4, torch.bfloat16: 3e-2, torch.float16: 4e-3}.get(expected.dtype, 0)
    if np.allclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True):
        return None
    return f"off by {np.nanmax(np.abs(got - wanted))}"


def tied(op, model, index, wanted, found):
    """Whether places that differ are those of equal elements, of which PyTorch promises no order."""
    import torch

    sample = model.samples[model.owners[index]]
    if op.name not in ("sort", "argsort", "topk", "kthvalue", "median", "nanmedian", "mode") or wanted.dtype != torch.int64 or sample.kwargs.get("stable"):
        return False
    numbers = [a for a in sample.args if isinstance(a, int) and not isinstance(a, bool)]
    dim = sample.kwargs.get("dim", ((numbers[1:] if op.name in ("topk", "kthvalue") else numbers) or [-1])[0])
    if found.shape != tuple(wanted.shape) or sample.input.dim() == 0:
        return False
    places = torch.from_numpy(found)
    if wanted.dim() == sample.input.dim() - 1:  # without keepdim
        places, wanted = places.unsqueeze(dim), wanted.unsqueeze(dim)
    if wanted.dim() != sample.input.dim():
        return False
    if places.numel() and not (0 <= int(places.min()) and int(places.max()) < sample.input.shape[dim]):
        return False
    return torch.equal(torch.gather(sample.input, dim, places), torch.gather(sample.input, dim, wanted))


def same_factors(op, ours, theirs):
    """Whether factors are those of the same matrix: its values, vectors that stand on one another, the same product."""
    import torch

    ours, theirs = ([t.double() for t in factors] for factors in (ours, theirs))
    close = lambda a, b: a.shape == b.shape and torch.allclose(a, b, rtol=2e-4, atol=2e-4 * max(1.0, float(b.abs().max()) if b.numel() else 1.0))
    upright = lambda V: close(V.mT @ V, torch.eye(V.shape[-1], dtype=V.dtype).expand(*V.shape[:-2], -1, -1))
    if [t.shape for t in ours] != [t.shape for t in theirs]:
        return False
    if op.name == "linalg.eigh":
        product = lambda values, vectors: vectors * values.unsqueeze(-2) @ vectors.mT
        return close(ours[0], theirs[0]) and upright(ours[1]) and close(product(*ours), product(*theirs))
    if op.name == "linalg.svd":
        ours, theirs = ((U, S, V.mT) for U, S, V in (ours, theirs))
    product = lambda U, S, V: (U[..., : S.shape[-1]] * S.unsqueeze(-2)) @ V[..., : S.shape[-1]].mT
    return close(ours[1], theirs[1]) and upright(ours[0]) and upright(ours[2]) and close(product(*ours), product(*theirs))


def better(op, model, index, wanted, found):
    """Whether of 16-bit numbers ours are as near to what float32 gives as PyTorch's, which it rounds at every step."""
    import numpy as np
    import torch

    if wanted.dtype != torch.bfloat16 or found.shape != tuple(wanted.shape):
        return False
    wide = model_of(op.op, model.samples)
    wide.tensors = [t.float() if t.dtype == torch.bfloat16 else t for t in wide.tensors]
    exact, ours = wide.expected(0)[index].double().cpu().numpy(), widened(found).astype(np.float64)
    own, theirs = np.abs(ours - exact), np.abs(wanted.double().cpu().numpy() - exact)
    # Beside an infinity every finite number would be near enough.
    special = ~np.isfinite(exact) | ~np.isfinite(ours)
    return bool(np.all(np.where(special, (ours == exact) | (np.isnan(ours) & np.isnan(exact)), own <= np.fmax(theirs, 3e-2 * np.maximum(np.abs(exact), 1)))))


def check(program, target, op, dtypes, count, folder):
    """(state, why) of the operator's samples in all of the dtypes: right, wrong, refused, not exported, …"""
    import numpy as np
    import torch

    samples = [sample for dtype in dtypes for sample in samples_of(op, dtype, count)]
    if not samples:
        return "no samples", ""
    try:
        model = model_of(op.op, samples)
        expected, again = model.expected(0), model.expected(1)
        if not expected:
            return "no tensors", ""
        if any(t.is_complex() for t in (*expected, *model.tensors)):
            return "complex", ""
        if any(t.layout != torch.strided for t in (*expected, *model.tensors)):
            return "sparse", ""
        with torch.no_grad():
            exported = torch.export.export(model, tuple(model.tensors))
            torch.export.save(exported, folder / "op.pt2")
    except Exception as error:
        return "not exported", str(error).split("\n")[0][:150]
    status, _, said = pellucid(program, "compile", folder / "op.pt2", "-o", folder / "op.plc", "--target", target, "--no-tf32")
    if status:
        return ("refused" if status == 1 else "crash"), " ".join(said.split("error: ", 1)[-1].split("\n")[:2])[:250]
    names = [i["name"] for i in json.loads(pellucid(program, "inspect", folder / "op.plc", "--json")[1])["inputs"]]
    words = ["run", folder / "op.plc"]
    for name, value in zip(names, model.tensors, strict=True):
        np.save(folder / f"{name}.npy", as_numpy(value))
        words += ["--input", f"{name}=@{folder / name}.npy" + (":bf16" if value.dtype == torch.bfloat16 else "")]
    for i in range(len(expected)):
        words += ["--output", folder / f"out{i}.npy"]
    status, _, said = pellucid(program, *words)
    if status:
        try:
            exported.module()(*[t.clone() for t in model.tensors])
        except Exception as error:
            return "not exported", f"PyTorch's own archive fails: {str(error).split(chr(10))[0][:120]}"
        return "run fails", said.strip().split("\n")[0][:250]
    results = [np.load(folder / f"out{i}.npy") for i in range(len(expected))]
    agree = set()
    if op.name in FACTORS and not any(t.dtype == torch.bfloat16 for t in expected):
        for call in set(model.owners):
            places = [i for i, owner in enumerate(model.owners) if owner == call]
            if same_factors(op, [torch.from_numpy(results[i]) for i in places], [expected[i] for i in places]):
                agree.update(places)
    for i, (value, other) in enumerate(zip(expected, again)):
        got = results[i]
        if i in agree:
            continue
        drawn = op.name.startswith(DRAWN) or "dropout" in op.name or not torch.equal(value.nan_to_num(), other.nan_to_num())
        if drawn and got.shape == value.shape and got.dtype == as_numpy(value).dtype:
            continue
        if (why := difference(got, value)) and not tied(op, model, i, value, got) and not better(op, model, i, value, got):
            return "wrong", f"result {i}: {why}"
    return "right", ""


def attempt(arguments, op, dtypes):
    with tempfile.TemporaryDirectory() as folder:
        try:
            return check(arguments.program, arguments.target, op, dtypes, arguments.samples, pathlib.Path(folder))
        except subprocess.TimeoutExpired:
            return "too slow", ""


def is_core(op):
    """Whether PyTorch tags an overload of the operator's ATen name `core`."""
    import torch

    packet = getattr(torch.ops.aten, op.aten_name, None)
    return packet is not None and any(torch.Tag.core in getattr(packet, name).tags for name in packet.overloads())


def run(arguments):
    import torch

    # PyTorch's testing package derives a class from this one, which nothing here uses.
    if "expecttest" not in sys.modules:
        sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase)
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    rows = []
    part, parts = map(int, arguments.part.split("/"))
    for number, op in enumerate(op_db):
        if number % parts != part - 1:
            continue
        if arguments.names and op.name not in arguments.names and op.formatted_name not in arguments.names:
            continue
        core = is_core(op)
        dtypes = [d for d in arguments.dtypes.split(",") if op.supports_dtype(getattr(torch, d), "cpu")]
        if arguments.core and not core:
            continue
        # All at once to save time; one by one where that is not right.
        together = attempt(arguments, op, dtypes) if len(dtypes) > 1 else ("", "")
        for dtype in dtypes:
            state, why = together if together[0] == "right" else attempt(arguments, op, [dtype])
            rows.append({"name": op.formatted_name, "dtype": dtype, "core": core, "state": state, "why": why})
            print(f"{op.formatted_name:44} {dtype:9} {'core' if core else '':5}{state:13} {why}", flush=True)
    if arguments.results:
        pathlib.Path(arguments.results).write_text(json.dumps(rows, indent=0))
    print("\n".join(summary(rows)))


def summary(rows):
    """A table: of all operators and of the core ones, for each dtype, how many are in which state."""
    states = [s for s, _ in collections.Counter(r["state"] for r in rows if r["state"] not in UNCOUNTED).most_common()]
    yield "| operators | dtype | entries | " + " | ".join(states) + " | right of those that PyTorch exports |"
    yield "|---" * (4 + len(states)) + "|"
    for title, chosen in (("Core ATen", [r for r in rows if r["core"]]), ("all", rows)):
        for dtype in DTYPES:
            count = collections.Counter(r["state"] for r in chosen if r["dtype"] == dtype)
            counted = sum(n for state, n in count.items() if state not in UNCOUNTED)
            if counted and any(not r["core"] or title == "Core ATen" for r in chosen if r["dtype"] == dtype):
                cells = " | ".join(str(count[s]) for s in states)
                yield f"| {title} | {dtype} | {counted} | {cells} | {100 * count['right'] / counted:.1f} % |"


def records():
    """The schemas of composites and the packets that are refused, with the reason, as the embedded sources have them."""
    import types

    sys.modules["torch._pellucid_composites"] = types.ModuleType("composites")
    sys.modules["triton"], sys.modules["triton.language"] = types.ModuleType("triton"), types.ModuleType("triton.language")
    sys.modules["triton"].jit, sys.modules["triton.language"].constexpr = lambda kernel: kernel, int
    scope = {}
    for name in ("aten.py", *sorted(path.name for path in (ROOT / "src/trace/torch").glob("aten_*.py"))):
        exec(compile((ROOT / "src/trace/torch" / name).read_text(), name, "exec"), scope)
    complex_ones = {"aten::" + target.removeprefix("aten.") for target in scope["_complex_operators"]}
    return [schema.split("(")[0] for schema, _ in scope["_records"]], scope["_refused"], complex_ones


def core_section():
    """Which overloads that PyTorch tags `core` are there, and why the others are not."""
    import torch

    page = ROOT / "docs/operators.md"
    composites, refused, complex_ones = records()
    have = set(re.findall(r"^(aten::\w+\.\w+)\(", page.read_text(), re.M))
    have |= {name if "." in name else name + ".default" for name in composites}
    # Of archives alone.
    have |= complex_ones
    # Sizes and strides are not operators here, but numbers of the trace; item() is one when it is a size.
    have |= {"aten::_local_scalar_dense.default", "aten::sym_size.int", "aten::sym_stride.int", "aten::sym_numel.default", "aten::sym_storage_offset.default"}
    tagged = []
    # dir(torch.ops.aten) has only those that something asked for.
    for name in sorted({full.removeprefix("aten::").split(".")[0] for full in torch._C._dispatch_get_all_op_names() if full.startswith("aten::")}):
        packet = getattr(torch.ops.aten, name, None)
        if isinstance(packet, torch._ops.OpOverloadPacket):
            tagged += [f"aten::{name}.{overload}" for overload in packet.overloads() if torch.Tag.core in getattr(packet, overload).tags]
    missing = sorted(set(tagged) - have)
    lines = ["## Core ATen", "", f"Of the {len(tagged)} overloads that PyTorch {torch.__version__.split('+')[0]} tags `core`, {len(tagged) - len(missing)} are there, as"]
    lines += ["operators above or as [composites](archives.md#operators); PyTorch's own sample calls of them are in [op-db.md](op-db.md). Those that give or take", "complex numbers are there between those that make and end them ([design/0084](design/0084-complex-tensors-and-types-that-scripts-ask-for.md))." + (" Not there:" if missing else ""), ""]
    lines += [f"* `{name.removeprefix('aten::').removesuffix('.default')}`: {refused.get('aten.' + name[6:].split('.')[0], 'not supported')}." for name in missing]
    text = page.read_text().split("\n## Core ATen")[0]
    page.write_text(text.rstrip("\n") + "\n\n" + "\n".join(lines) + "\n")


def rows_of(files):
    """Of a later file what it has anew. A file is a list of rows, or has them beside the build that they are of."""
    read = [json.loads(pathlib.Path(file).read_text()) for file in files]
    return list({(row["name"], row["dtype"]): row for rows in read for row in (rows["rows"] if isinstance(rows, dict) else rows)}.values())


def builds_of(files):
    """Their names, with the PyTorch that exported where a file says it."""
    said = []
    for file in files:
        read = json.loads(pathlib.Path(file).read_text())
        torch = f", PyTorch {read['torch']}" if isinstance(read, dict) and "torch" in read else ""
        said.append(f"`{pathlib.Path(file).name}`{torch}")
    return "; ".join(said)


def write_page(files):
    files, device = (files[: files.index("--device")], files[files.index("--device") + 1 :]) if "--device" in files else (files, [])
    rows = rows_of(files)
    marks = {"right": "yes", "refused": "no", "not exported": "–", "no samples": "–", "no tensors": "–", "complex": "–", "sparse": "–"}
    by_name = {}
    for row in rows:
        by_name.setdefault(row["name"], {})[row["dtype"]] = row
    before = sum("build" in row for row in rows)
    earlier = f" {before} rows of operators that are not core are of an earlier build: they were not reached in that run." if before else ""
    lines = ["# PyTorch's sample calls", "", f"Written by `test/archive/op_db.py` on {datetime.date.today()} of what ran ({builds_of(files)}; in [bench/results](../bench/results), a later file has what was run again): samples that", "PyTorch has of its operators (`op_db`), four of each element type, spread over the first hundred, exported by PyTorch, compiled for", "`cpu:x86-64-v3` and compared with what PyTorch gives. A dash: PyTorch has no sample, does not export it or its own archive fails, its", "numbers are complex or its result is sparse. Of singular values and eigenvectors the product of the factors is compared: signs are free." + earlier, "", *summary(rows), ""]
    if device:
        lines += [f"On an H200, four samples of core operators, and two of the others in float32 ({builds_of(device)}):", "", *summary(rows_of(device)), ""]
    lines += ["| operator | core | " + " | ".join(DTYPES) + " | what is not right |", "|---" * (3 + len(DTYPES)) + "|"]
    for name, cells in by_name.items():
        wrong = next((row for row in cells.values() if row["state"] not in ("right", *UNCOUNTED)), None)
        why = "" if wrong is None else re.sub(r"\s+", " ", wrong["why"]).replace("|", "\\|").replace("<", "&lt;")
        found = re.search(r"(\w+::[\w.]+)\(.*?\) -> .*?: (.*?)(?: \(|$)", why)
        why = f"`{found[1]}`: {found[2]}" if found and "not there" in why else why[:110]
        shown = [marks.get(cells[d]["state"], cells[d]["state"]) if d in cells else "–" for d in DTYPES]
        lines.append(f"| {name} | {'core' if next(iter(cells.values()))['core'] else ''} | " + " | ".join(shown) + f" | {why} |")
    (ROOT / "docs/op-db.md").write_text("\n".join(lines) + "\n")
    core_section()


def main():
    if sys.argv[1:2] == ["--page"]:
        return write_page(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--target", default="cpu:x86-64-v3", help="what the archives are compiled for, and run on")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every Nth operator, beginning with the Ith")
    parser.add_argument("--results")
    run(parser.parse_intermixed_args())


if __name__ == "__main__":
    main()
