#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pellucid compile --tune`: which configs are timed, what is kept, and that the rest goes on as if the choice had been first.

    tune_test.py PROGRAM      Standard library only. Which config is the fastest is not asked.
"""
import array
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
MODEL = '''
import torch
import triton
import triton.language as tl


def fitting(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["B"] <= 64]


def cleared(args):
    args["o"].zero_()


@triton.autotune(
    configs=[
        triton.Config({"B": 16, "FAR": 0, "GAIN": 1}, num_warps=1),
        triton.Config({"B": 48, "FAR": 0, "GAIN": 1}),          # no power of two
        triton.Config({"B": 32, "FAR": 1 << 40, "GAIN": 1}),    # reads where nothing is
        triton.Config({"B": 64, "FAR": 0, "GAIN": 1}, num_warps=8, pre_hook=cleared),
        triton.Config({"B": 128, "FAR": 0, "GAIN": 1}),         # pruned
    ],
    key=["n"],
    prune_configs_by={"early_config_prune": fitting},
)
@triton.heuristics({"TWICE": lambda args: 2 * args["B"]})
@triton.jit
def scale(x, o, n, B: tl.constexpr, FAR: tl.constexpr, GAIN: tl.constexpr, TWICE: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i + FAR, mask=m) * GAIN
    tl.store(o + i, v + TWICE - 2 * B, mask=m)


class Model(torch.nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        n = x.numel()
        scale[lambda meta: (triton.cdiv(n, meta["B"]),)](x, o, n)
        return o + o


class Hopeless(torch.nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        broken[(1,)](x, o, x.numel())
        return o


@triton.autotune(configs=[triton.Config({"B": 16}), triton.Config({"B": 32})], key=[])
@triton.jit
def broken(x, o, n, B: tl.constexpr):
    tl.store(o + (1 << 40) + tl.arange(0, B), 1.0)
'''
INPUT = ["--input", "x=f32[rows=5:1..64,20]"]


def compile_model(name, choices, *more):
    return subprocess.run([PROGRAM, "compile", f"m.py:{name}", *INPUT, "-o", "p.plc", "--tune", choices, *more], capture_output=True,
                          text=True, timeout=300)


def block_of_package():
    plan = subprocess.run([PROGRAM, "inspect", "p.plc"], capture_output=True, text=True, check=True).stdout
    line = next(line for line in plan.splitlines() if "grid (" in line)
    return int(re.search(r"// (\d+)", line).group(1))


def write_npy(path, values, shape):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + array.array("f", values).tobytes())


def check_run():
    values = [i / 8 - 9 for i in range(7 * 20)]
    write_npy("x.npy", values, (7, 20))
    subprocess.run([PROGRAM, "run", "p.plc", "--input", "x=@x.npy", "--output", "o.npy"], check=True, capture_output=True)
    got = array.array("f")
    got.frombytes(pathlib.Path("o.npy").read_bytes()[-4 * len(values):])
    assert list(got) == [2 * v for v in values], list(got)[:8]


def check_timing():
    done = compile_model("Model", "t.json")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("tune:")]
    assert lines[0].startswith("tune: scale (n=100, f32, f32), 4 configs on cpu:"), lines
    assert len(lines) == 5 and not any("B: 128" in line for line in lines), lines
    assert re.search(r"B: 16,.* (us|ms)$", lines[1]) and re.search(r"B: 64,.* (us|ms)$", lines[4]), lines
    assert "power of 2" in lines[2], lines[2]
    assert "the launch ended with Segmentation fault" in lines[3], lines[3]
    kept = json.loads(pathlib.Path("t.json").read_text())
    [choice] = kept["choices"]
    assert [("seconds" in t) for t in choice["timed"]] == [True, False, False, True], choice
    fastest = min((t for t in choice["timed"] if "seconds" in t), key=lambda t: t["seconds"])
    assert choice["config"] == fastest["config"], choice
    assert f"B: {block_of_package()}," in choice["config"], (block_of_package(), choice)
    check_run()
    return kept


def check_kept(kept):
    """What the file says is taken, whatever was measured."""
    configs = [t["config"] for t in kept["choices"][0]["timed"] if "seconds" in t]
    for config in configs:
        kept["choices"][0]["config"] = config
        pathlib.Path("t.json").write_text(json.dumps(kept))
        done = compile_model("Model", "t.json")
        assert done.returncode == 0 and "tune:" not in done.stderr, done.stderr
        assert f"B: {block_of_package()}," in config, (block_of_package(), config)
        check_run()
    text = pathlib.Path("m.py").read_text()
    for changed, why in [(text.replace("TWICE - 2 * B", "TWICE - B - B"), "another kernel"), (text, "another size")]:
        pathlib.Path("m.py").write_text(changed)
        rows = INPUT[1] if changed != text else "x=f32[rows=6:1..64,20]"
        done = subprocess.run([PROGRAM, "compile", "m.py:Model", "--input", rows, "-o", "p.plc", "--tune", "t.json"], capture_output=True,
                              text=True)
        assert done.returncode == 0 and "tune: scale" in done.stderr, (why, done.stderr)
    assert len(json.loads(pathlib.Path("t.json").read_text())["choices"]) == 3
    pathlib.Path("m.py").write_text(text)
    # A config that pruning no longer leaves is not taken.
    kept["choices"][0]["config"] = "B: 128, FAR: 0, GAIN: 1, num_warps: 4, num_stages: 3, num_ctas: 1"
    pathlib.Path("t.json").write_text(json.dumps(kept))
    done = compile_model("Model", "t.json")
    assert done.returncode == 0 and "tune: scale" in done.stderr and block_of_package() != 128, done.stderr


def check_none_runs():
    done = compile_model("Hopeless", "none.json")
    assert done.returncode == 0, done.stderr
    assert "warning: no config of 'broken' could be timed, the first is taken: " in done.stderr, done.stderr
    assert not os.path.exists("none.json"), "nothing was chosen"


def check_refusals():
    for text, why in [("{", "something else than the choices"), ('{"format": 7, "choices": []}', "format 7"),
                      ('{"format": 1, "choices": [{"kernel": "scale"}]}', "a choice without 'source'"),
                      ('{"format": 1, "choices": [3]}', "a choice without 'kernel'"), ("[]", "something else"), ("", "something else")]:
        pathlib.Path("bad.json").write_text(text)
        done = compile_model("Model", "bad.json")
        assert done.returncode == 1 and why in done.stderr and done.stderr.startswith("bad.json: error: "), (text, done.stderr)
        assert pathlib.Path("bad.json").read_text() == text, "the file is left alone"
    done = compile_model("Model", "absent/t.json")
    assert done.returncode == 1 and "absent/t.json: error: cannot be written" in done.stderr, done.stderr
    subprocess.run([PROGRAM, "export", "m.py:Model", *INPUT, "-o", "m.program"], check=True, capture_output=True)
    done = subprocess.run([PROGRAM, "compile", "m.program", "-o", "p.plc", "--tune", "t.json"], capture_output=True, text=True)
    assert done.returncode == 1 and "--tune t.json: error: is for models" in done.stderr, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("m.py").write_text(MODEL)
        check_kept(check_timing())
        check_none_runs()
        check_refusals()
        os.chdir("/")
    print("ok")


if __name__ == "__main__":
    main()
