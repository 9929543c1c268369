#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged packages and programs, and workers that die: never a crash, a hang or a wrong result.

    package_faults_test.py PROGRAM

A package made by `compile` is cut at every record's border and gets a bit flipped in every region (zip headers, manifest,
code, weights, central directory); `run` must refuse it, or give the same result as the whole one where the bit does not matter
(weights carry a checksum that is compared on request only, so there another number is allowed). Thousands of cuts and bits
within one process are the business of test/api/damaged_package_test.cpp, workers that say nothing or are ended by signals
that of test/driver/worker_test.cpp. Standard library only.
"""
import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
MODEL = '''import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, v / (1.0 + tl.exp(-v)), mask=i < n)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
    def forward(self, x):
        h = self.linear(x)
        y = torch.empty_like(h)
        silu_kernel[(triton.cdiv(h.numel(), 64),)](h, y, h.numel(), BLOCK=64)
        return y
'''
problems = []


def report(name, problem):
    problems.append(name)
    print(f"FAILED {name}: {problem}")


def run(*words, program=PROGRAM, **options):
    return subprocess.run([str(program), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900, **options)


def npy(path, values, shape):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    data = struct.pack(f"<{len(values)}f", *values)
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def regions(path):
    """Byte ranges by name, from the archive's own directory."""
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        found = {}
        for entry in archive.infolist():
            with open(path, "rb") as file:
                file.seek(entry.header_offset + 26)
                name, extra = struct.unpack("<HH", file.read(4))
            data = entry.header_offset + 30 + name + extra
            found[f"header of {entry.filename}"] = (entry.header_offset, data)
            found[entry.filename] = (data, data + entry.file_size)
        found["central directory"] = (archive.start_dir, size)
    return found


def check_refused_or_same(name, data, want, anything=False):
    pathlib.Path("bad.plc").write_bytes(data)
    pathlib.Path("o.npy").unlink(missing_ok=True)
    done = run("run", "bad.plc", "--input", "x=@x.npy", "--output", "o.npy")
    first = done.stderr.decode("utf-8", "replace").split("\n")[0]
    wrote = pathlib.Path("o.npy").exists()
    if done.returncode == 1:
        if "bad.plc" not in first or wrote:
            report(name, f"refused without naming the file, or wrote an output: {first}")
    elif done.returncode != 0:
        report(name, f"exit code {done.returncode}: {first}")
    elif not anything and pathlib.Path("o.npy").read_bytes() != want:
        report(name, "another result")
    return done.returncode


def damaged_packages(rng):
    whole = pathlib.Path("m.plc").read_bytes()
    places = regions(pathlib.Path("m.plc"))
    run("run", "m.plc", "--input", "x=@x.npy", "--output", "want.npy")
    want = pathlib.Path("want.npy").read_bytes()
    borders = sorted({b for begin, end in places.values() for b in (begin, end)})
    cuts = sorted({min(len(whole) - 1, b) for b in borders} | {1, len(whole) - 1})
    for cut in cuts:
        if check_refused_or_same(f"cut at {cut} of {len(whole)}", whole[:cut], want) == 0:
            report(f"cut at {cut}", "a truncated package was taken")
    for name, (begin, end) in places.items():
        if end > begin:
            at, bit = rng.randrange(begin, end), rng.randrange(8)
            data = bytearray(whole)
            data[at] ^= 1 << bit
            check_refused_or_same(f"bit {bit} of byte {at} in {name}", bytes(data), want, anything="weight" in name)
    for _ in range(5):
        data = bytearray(whole)
        for _ in range(rng.randrange(2, 40)):
            begin, end = rng.choice([p for n, p in places.items() if "weight" not in n and p[1] > p[0]])
            data[rng.randrange(begin, end)] = rng.randrange(256)
        check_refused_or_same("random bytes", bytes(data), want)
    check_refused_or_same("bytes behind the end", whole + bytes(100), want)
    check_refused_or_same("twice the file", whole + whole, want)


def damaged_programs(rng):
    whole = pathlib.Path("m.program").read_bytes()
    text_end = min(len(whole), 6000)
    for round in range(40):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(text_end)] = rng.randrange(32, 127)
        pathlib.Path("bad.program").write_bytes(data)
        done = run("compile", "bad.program", "--target", "cpu:x86-64-v3", "-o", "bad.out")
        if done.returncode not in (0, 1):
            report(f"damaged program {round}", f"exit code {done.returncode}: {done.stderr[:200]}")
        pathlib.Path("bad.out").unlink(missing_ok=True)


def mutated_sources(rng):
    """Kernels and models with tokens lost, doubled and exchanged: any answer but a crash."""
    words = MODEL.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split(" ")
    for round in range(60):
        mutant = list(words)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(mutant))
            change = rng.randrange(3)
            if change == 0:
                del mutant[at]
            elif change == 1:
                mutant.insert(at, rng.choice(words))
            else:
                mutant[at] = rng.choice(["0", "-1", "None", "x", "tl.float16", "[", "1e999", "lambda", "\n", '"', "1 << 70", "n"])
        pathlib.Path("mutant.py").write_text(" ".join(mutant))
        for words_of in (["kernels", "mutant.py"], ["export", "mutant.py:Model", "--input", "x=f32[b:1..8,8]"]):
            try:
                done = run(*words_of)
            except subprocess.TimeoutExpired:
                report(f"mutant {round}", "did not end")
                continue
            if done.returncode not in (0, 1):
                shutil.copy("mutant.py", f"mutant_{round}.py")
                report(f"mutant {round}: {words_of[0]}", f"exit code {done.returncode}: {done.stderr[-300:]}")


def fake_worker(folder, script):
    """The program beside a worker of our own."""
    (folder / "bin").mkdir(parents=True)
    shutil.copy(PROGRAM, folder / "bin" / "pellucid")
    library = PROGRAM.parent.parent / "lib"
    os.symlink(library, folder / "lib")
    if script is not None:
        worker = folder / "bin" / "pellucid-worker"
        worker.write_text(script)
        worker.chmod(0o755)
    return folder / "bin" / "pellucid"


def workers():
    scripts = {
        "missing": None,
        "not executable": "",
        "ends at once": "#!/bin/sh\nexit 3\n",
        "kills itself": "#!/bin/sh\nkill -9 $$\n",
        "writes garbage": "#!/bin/sh\nhead -c 100000 /dev/urandom\n",
    }
    # A program that is still being copied cannot be started, so the folders come first.
    programs = {name: fake_worker(pathlib.Path(f"fake {name}").absolute(), script) for name, script in scripts.items()}
    (programs["not executable"].parent / "pellucid-worker").chmod(0o644)
    with concurrent.futures.ThreadPoolExecutor(len(scripts)) as pool:
        list(pool.map(lambda item: one_worker(*item), programs.items()))
    if list(pathlib.Path(".").glob("w *.plc*")):
        report("workers", "left a file behind")


def one_worker(name, program):
    try:
        done = run("compile", "m.program", "--target", "cpu:x86-64-v3", "-o", f"w {name}.plc", program=program)
    except subprocess.TimeoutExpired:
        return report(f"worker {name}", "did not end")
    first = done.stderr.decode("utf-8", "replace").split("\n")[0]
    if done.returncode != 1 or "worker" not in first:
        report(f"worker {name}", f"exit code {done.returncode}: {first}")


def killed_worker():
    """The real worker, killed while it works."""
    killed = 0
    for wait in (0.0, 0.005, 0.02, 0.05, 0.1, 0.2):
        process = subprocess.Popen([str(PROGRAM), "compile", "m.program", "-o", "k.plc"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        children = []
        while process.poll() is None and not children:
            children = children_of(process.pid)
        time.sleep(wait)
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        error = process.communicate()[1].decode("utf-8", "replace")
        if process.returncode == 1:
            killed += 1
            if "worker" not in error.split("\n")[0] or "signal 9" not in error.split("\n")[0]:
                report(f"worker killed after {wait} s", error[:200])
            if list(pathlib.Path(".").glob("k.plc*")):
                report(f"worker killed after {wait} s", "left a file behind")
        elif process.returncode != 0:
            report(f"worker killed after {wait} s", f"exit code {process.returncode}")
        for leftover in pathlib.Path(".").glob("k.plc*"):
            leftover.unlink()
    if not killed:
        report("killed worker", "was never killed in time")


def children_of(pid):
    try:
        return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def killed_compiler():
    """Leaves neither a file nor a worker, whenever it is killed."""
    before = sorted(os.listdir("."))
    for wait in (0.01, 0.05, 0.1, 0.15, 0.2, 0.3):
        process = subprocess.Popen([str(PROGRAM), "compile", "m.program", "-o", "k.plc"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(wait)
        children = children_of(process.pid)
        process.kill()
        process.communicate()
        if pathlib.Path("k.plc").exists():
            pathlib.Path("k.plc").unlink()  # it was done
        if sorted(os.listdir(".")) != before:
            report(f"compiler killed after {wait} s", f"left {set(os.listdir('.')) - set(before)}")
        # Ends when they do; a worker that stays is what ctest's own limit is for.
        while any(is_running(child) for child in children):
            time.sleep(0.02)


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def elsewhere():
    """An empty PATH, no HOME, no folder for temporary files, and another working directory."""
    folder = pathlib.Path.cwd()
    for name, words in (("compile", ["compile", folder / "m.program", "-o", folder / "e.plc"]),
                        ("run", ["run", folder / "e.plc", "--input", f"x=@{folder / 'x.npy'}", "--output", folder / "e.npy"])):
        done = run(*words, env={"PATH": "", "TMPDIR": "/nonexistent"}, cwd="/")
        if done.returncode != 0:
            report(f"{name} with an empty PATH from /", done.stderr[:200])


def main():
    start, folder = os.getcwd(), tempfile.mkdtemp(prefix="pellucid-faults-")
    try:
        os.chdir(folder)
        pathlib.Path("model.py").write_text(MODEL)
        npy("x.npy", [0.25 * i - 3 for i in range(24)], (3, 8))
        made = run("export", "model.py:Model", "--input", "x=f32[batch:1..64,8]", "-o", "m.program")
        made = run("compile", "m.program", "-o", "m.plc") if made.returncode == 0 else made
        if made.returncode != 0:
            report("the whole package", made.stderr[:300])
            return 1
        rng = random.Random(5)
        for stage in (lambda: damaged_packages(rng), lambda: damaged_programs(rng), lambda: mutated_sources(rng), workers, killed_worker, killed_compiler,
                      elsewhere):
            stage()
    finally:
        os.chdir(start)
        if "--keep" not in sys.argv:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print("kept", folder)
    print(f"{len(problems)} failed" if problems else "all ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
