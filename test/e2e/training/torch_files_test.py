#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of torch.save between PyTorch and scripts, both ways: what PyTorch wrote is read, written again, and read by PyTorch's
torch.load(weights_only=True), with every bit, name, class, view and shared tensor as it was; what is no data is refused by its name.

    torch_files_test.py PROGRAM

Exit code 77 without PyTorch.
"""
import collections
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)

torch.set_num_threads(1)
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64]


def bits(tensor):
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).tolist() if tensor.numel() else []


def trained():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    optimizers = [torch.optim.AdamW(model.parameters(), lr=1e-3, amsgrad=True), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)]
    for _ in range(2):
        for optimizer in optimizers:
            optimizer.zero_grad()
            model(torch.randn(5, 3)).sum().backward()
            optimizer.step()
    return {"model": model.state_dict(), "optimizers": [optimizer.state_dict() for optimizer in optimizers], "epoch": 3}


def everything():
    torch.manual_seed(0)
    base = torch.arange(12.0).reshape(3, 4)
    shared = torch.nn.Parameter(torch.randn(2))
    values = {
        "types": {str(kind): (torch.randn(3, 5).to(kind) if kind in FLOATS else torch.randint(0, 100, (4,)).to(kind)) for kind in FLOATS + INTEGERS},
        "bools": torch.tensor([True, False, True]),
        "odd": torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0]),
        "scalar": torch.tensor(3.5),
        "empty": torch.empty(0, 4),
        "views": [base, base[1:, ::2], base.t(), torch.arange(3.0)[:, None].expand(3, 4), base[2]],
        "tied": {"a": shared, "b": shared},
        "frozen": torch.nn.Parameter(torch.randn(2), requires_grad=False),
        "leaf": torch.randn(2, requires_grad=True),
        "numbers": (1, 2.5, True, None, "text é", -3, 2**40, -(2**63), float("inf"), [1, [2, (3,)]], {"a": 1, 2: "b", (1, 2): 3}, (), [], {}),
        "ordered": collections.OrderedDict([("z", 1), ("a", 2)]),
        "counter": collections.Counter("aab"),
        "set": {1, 2},
        "size": base.shape,
        "dtype": torch.bfloat16,
        "device": torch.device("cpu"),
    }
    values.update(trained())
    return values


def same(got, want, path):
    assert type(got) is type(want), (path, type(got), type(want))
    if isinstance(want, torch.Tensor):
        assert (got.dtype, got.shape, got.stride(), got.requires_grad) == (want.dtype, want.shape, want.stride(), want.requires_grad), path
        assert bits(got) == bits(want), path
    elif isinstance(want, dict):
        assert list(got) == list(want), path
        for key in want:
            same(got[key], want[key], f"{path}[{key!r}]")
    elif isinstance(want, (list, tuple)):
        assert len(got) == len(want), path
        for i, (a, b) in enumerate(zip(got, want)):
            same(a, b, f"{path}[{i}]")
    else:
        assert got == want, (path, got, want)


def check_views(read):
    base, part, turned, _, last = read["views"]
    base[1, 2] = 100
    assert part[0, 1] == 100 and turned[2, 1] == 100 and last[2] == 10, "views of one memory"
    assert read["tied"]["a"] is read["tied"]["b"]


THROUGH = """
import sys, torch
values = torch.load(sys.argv[1], weights_only=True)
base, part, turned, spread, last = values["views"]
base[1, 2] = 100
assert part[0, 1] == 100 and turned[2, 1] == 100 and last[2] == 10
base[1, 2] = 6
assert values["tied"]["a"] is values["tied"]["b"]
copied = torch.zeros(2)
copied.copy_(values["leaf"].detach())
values["apart"] = [values["leaf"].detach().clone(), copied]
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
model.load_state_dict(values["model"])
optimizer = torch.optim.AdamW(model.parameters(), amsgrad=True)
optimizer.load_state_dict(values["optimizers"][0])
values["again"] = [model.state_dict(), optimizer.state_dict()]
torch.save(values, sys.argv[2])
"""

REFUSED = {
    "complex": (torch.zeros(3, dtype=torch.complex64), "ComplexFloatStorage"),
    "module": (torch.nn.Linear(3, 2), "of class torch.nn.modules.linear.Linear"),
    "sparse": (torch.eye(3).to_sparse(), "_get_layout"),
    "bytes": (b"abc", "_codecs.encode"),
    "slice": (slice(1, 2), "__builtin__.slice"),
    "number": (2**70, "more than 64 bits"),
    "factory": (collections.defaultdict(dict), "defaultdict"),
}

UNWRITTEN = """
import torch, collections
class Own(dict):
    pass
Point = collections.namedtuple("Point", "x y")
torch.save(VALUE, "unwritten.pt")
"""


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def run(text, *arguments, refused=None):
            (folder / "script.py").write_text(text)
            done = subprocess.run([program, "exec", "script.py", *arguments], cwd=folder, capture_output=True, text=True)
            if refused is None:
                assert done.returncode == 0, done.stderr
            else:
                assert done.returncode == 1 and refused in done.stderr, (refused, done.stderr)

        want = everything()
        torch.save(want, folder / "theirs.pt")
        run(THROUGH, "theirs.pt", "ours.pt")
        read = torch.load(folder / "ours.pt", weights_only=True)
        apart, again = read.pop("apart"), read.pop("again")
        same(read, want, "")
        check_views(read)
        assert apart[0].untyped_storage().data_ptr() != apart[1].untyped_storage().data_ptr(), "copies have memory of their own"
        same(again[0], want["model"], "model")
        same(again[1]["state"], want["optimizers"][0]["state"], "state")
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
        model.load_state_dict(again[0])
        optimizer = torch.optim.AdamW(model.parameters())
        optimizer.load_state_dict(again[1])
        assert optimizer.param_groups[0]["amsgrad"] is True

        for name, (value, words) in REFUSED.items():
            torch.save(value, folder / f"{name}.pt")
            for strictly in (True, False):
                run(f"import torch\ntorch.load('{name}.pt', weights_only={strictly})\n", refused=words)
        torch.save({"x": torch.zeros(3)}, folder / "old.pt", _use_new_zipfile_serialization=False)
        run("import torch\ntorch.load('old.pt')\n", refused="_use_new_zipfile_serialization=False")
        for text, words in {"Own(a=1)": "Own", "Point(1, 2)": "Point", "frozenset([1])": "frozenset", "collections.defaultdict(dict)": "defaultdict",
                            "torch.nn.Linear(2, 2)": "Linear", "print": "builtin"}.items():
            run(UNWRITTEN.replace("VALUE", text), refused=words)
            assert not (folder / "unwritten.pt").exists()
    print("files of torch.save go both ways")


main()
