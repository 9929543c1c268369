#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives with everything that the format has (unusual_models.py, unusual_values.py), exported strict and not, in both dialects, as the PyTorch that is here writes
them: each call's results are PyTorch's, over calls too where the model keeps something, and so is every input after it, changed or not.

    unusual_archives_test.py PROGRAM [NAME…]

Exit code 77 where PyTorch is missing.
"""
import json
import pathlib
import subprocess
import sys
import warnings

try:
    import numpy as np
    import torch
    from torch.utils import _pytree as pytree
except ImportError as missing:
    print(f"skipped: this Python has no PyTorch ({missing})")
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import unusual_models  # noqa: E402
import unusual_values  # noqa: E402
from tool import check_each, pellucid  # noqa: E402

MODELS = {**unusual_models.MODELS, **unusual_values.MODELS}

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def array(tensor):
    """bfloat16 goes as its bits."""
    tensor = tensor.detach()
    return tensor.view(torch.uint16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def close(name, got, want):
    assert tuple(got.shape) == tuple(want.shape), f"{name} is {got.shape}, not {tuple(want.shape)}"
    assert got.dtype == array(want).dtype, f"{name} is {got.dtype}, not {want.dtype}"
    if want.dtype == torch.bfloat16:
        got, want = (got.astype(np.uint32) << 16).view(np.float32), want.float()
    wide = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(want.dtype, 2e-5)
    np.testing.assert_allclose(got, array(want), rtol=wide, atol=wide, err_msg=name)


def tensors(tree, numbers=False):
    """With those ints that differ from call to call, which a package takes as tensors."""
    leaves = [torch.tensor(leaf) if numbers and type(leaf) is int else leaf for leaf in pytree.tree_leaves(tree)]
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def words_of(folder, package, state, names, values):
    words = ["run", package, *state]
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        np.save(folder / f"in{i}.npy", array(value))
        words += ["--input", f"{name}=@{folder / f'in{i}.npy'}" + (":bf16" if value.dtype == torch.bfloat16 else "")]
    return words


def check(folder, program, calls, expected, refused, numbers):
    torch.export.save(program, folder / "model.pt2")
    package, state = folder / "model.plc", folder / "state.safetensors"
    state.unlink(missing_ok=True)
    pellucid("compile", folder / "model.pt2", "-o", package, "--target", "cpu:x86-64-v3", "--verify-each")
    shown = json.loads(pellucid("inspect", package, "--json"))
    names = [i["name"] for i in shown["inputs"]]
    changed = [i["name"] for i in shown["inputs"] if i["mutated"]]
    for number, ((args, kwargs), (results, after)) in enumerate(zip(calls, expected, strict=True)):
        values = tensors(in_order(program, args, kwargs), numbers)
        assert len(values) == len(names), f"inputs {names} for {len(values)} tensors"
        words = words_of(folder, package, ("--state", state) if shown.get("state") else (), names, values)
        words += ["--changed", folder] if changed else []
        for i in range(len(results)):
            words += ["--output", folder / f"out{i}.npy"]
        pellucid(*words)
        for i, want in enumerate(results):
            close(f"call {number}, result {i}", np.load(folder / f"out{i}.npy"), want)
        for name, before, value in zip(names, values, tensors(in_order(program, *after), numbers), strict=True):
            if name in changed:
                close(f"call {number}, input '{name}' after it", np.load(folder / f"{name}.npy"), value)
            else:
                close(f"call {number}, input '{name}', which the package does not change", array(before), value)
    for number, (args, kwargs, text) in enumerate(refused):
        done = subprocess.run([sys.argv[1], *map(str, words_of(folder, package, (), names, tensors(in_order(program, args, kwargs))))], capture_output=True, text=True)
        assert done.returncode == 1 and text in done.stderr and done.stderr.count("\n") == 1, f"refused call {number} ends with {done.returncode}: {done.stderr}"


def check_written(folder, program, calls, expected, numbers):
    """The program written as an archive again, which PyTorch loads and runs: inputs are positional there, results flat."""
    done = subprocess.run([sys.argv[1], "export", folder / "model.pt2", "-o", folder / "again.pt2"], capture_output=True, text=True)
    if done.returncode:
        assert done.returncode == 1 and "save a .program instead" in done.stderr, done.stderr
        return print(f"not written: {done.stderr.strip().splitlines()[0][-150:]}")
    module = torch.export.load(folder / "again.pt2").module()
    for number, ((args, kwargs), (results, _)) in enumerate(zip(calls, expected, strict=True)):
        with torch.no_grad():
            given = tensors(module(*tensors(cloned(in_order(program, args, kwargs)), numbers)))
        assert len(given) == len(results), f"written again it gives {len(given)} results, not {len(results)}"
        for i, want in enumerate(results):
            close(f"written again: call {number}, result {i}", array(given[i]), want)


def in_order(program, args, kwargs):
    """Keywords in the order of the export's."""
    spec = program.call_spec.in_spec
    if spec is None:
        return args, kwargs
    names = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)[1]
    return args, {name: kwargs[name] for name in names}


def cloned(tree):
    return pytree.tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, tree)


def references(name):
    """Each call's results of the module itself, call after call."""
    torch.manual_seed(4)
    model, calls, options = MODELS[name]()
    expected = []
    with torch.no_grad():
        for args, kwargs in calls:
            args, kwargs = cloned((args, kwargs))
            results = model.eval()(*args, **kwargs)
            expected.append((tensors(cloned(sized(results))), cloned((args, kwargs))))
    return expected


def sized(results):
    """A package gives a number as a tensor without dims, and no texts."""
    return pytree.tree_map(lambda leaf: torch.tensor(leaf, dtype=torch.float64) if type(leaf) is float else torch.tensor(leaf) if type(leaf) in (int, bool) else leaf, results)


def exported(model, call, options, strict):
    shapes = options.get("dynamic_shapes")
    if collection := options.get("collection"):
        # It knows the tensors of the call by their identity.
        shapes, call = (collection.dynamic_shapes(model, *call) if isinstance(collection, torch.export.ShapesCollection) else collection), call
    else:
        call = cloned(call)
    others = {name: value for name, value in options.items() if name not in ("dynamic_shapes", "collection", "refused", "guarded", "numbers")}
    return torch.export.export(model, *call, strict=strict, dynamic_shapes=shapes, **others)


def check_model(folder, name):
    expected = references(name)
    made = 0
    for strict in (False, True):
        torch.manual_seed(4)
        model, calls, options = MODELS[name]()
        try:
            with torch.no_grad():
                program = exported(model.eval(), calls[0], options, strict)
        except Exception as error:
            assert strict, error
            print(f"{name}: PyTorch does not export it with strict=True: {str(error).strip().splitlines()[0][:100]}")
            continue
        for one in (program, program.run_decompositions()):
            guarded = options.get("guarded", ()) if getattr(one, "_guards_code", None) else ()
            check(folder, one, calls, expected, [*options.get("refused", ()), *guarded], options.get("numbers"))
        if not strict:
            torch.export.save(program, folder / "model.pt2")
            check_written(folder, program, calls, expected, options.get("numbers"))
        made += 2
    print(f"{name}: {made} archives", flush=True)


if __name__ == "__main__":
    check_each(sys.argv[2:] or MODELS, check_model)
