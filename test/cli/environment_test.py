#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program under conditions that are none of its making: standard streams that are closed, full or read by nobody, disks
without room, variables unset or odd.

    environment_test.py PROGRAM

Standard library only.
"""
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
MODEL = '''import torch
import triton
import triton.language as tl


@triton.jit
def silu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x / (1 + tl.exp(-x)), mask=i < n)


class Model(torch.nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        h = self.linear(x)
        out = torch.empty_like(h)
        silu[(triton.cdiv(h.numel(), 64),)](h, out, h.numel(), BLOCK=64)
        return out
'''
INPUT = ["--input", "x=f32[batch=4:1..16,64]"]
TRACED = ["model.py:Model", *INPUT]
WHOLE = "model.plc"
CALL = [WHOLE, "--input", "x=@x.npy"]
LAUNCH = ["launch", "model.py:silu", "--grid", "2", "--arg", "x_ptr=@x.npy", "--arg", "out_ptr=@x.npy", "--arg", "n=128", "--arg", "BLOCK=64"]
VERBS = {
    "kernels": ["kernels", "model.py"],
    "launch": LAUNCH,
    "export": ["export", *TRACED],
    "compile": ["compile", "model.program", "-o", "made.plc"],
    "run": ["run", *CALL],
    "inspect": ["inspect", WHOLE],
    "explain": ["explain", WHOLE],
    "profile": ["profile", *CALL, "-o", "trace.json"],
    "doctor": ["doctor"],
}
# What a script does on a disk of one page that is full, and what is left of it: as in Python, but that a tensor file is whole or not there.
SCRIPT = '''import csv, json, os, pathlib
import torch

x = torch.softmax(torch.arange(12.0).reshape(3, 4), -1)
print([round(v, 4) for v in x.sum(-1).tolist()])


def attempt(name, write):
    try:
        write()
        print(name, "is written")
    except OSError as error:
        print(name, type(error).__name__, "No space left on device" in str(error) or "File too large" in str(error))
    print(sorted(os.listdir("disk")))


def text(mode, write):
    with open("disk/t", mode) as file:
        write(file)


if os.path.exists("disk/taken"):
    attempt("torch.save", lambda: torch.save({"w": torch.zeros(4000)}, "disk/w.pt"))
    attempt("write", lambda: text("w", lambda f: f.write("x" * 20000)))
    attempt("append", lambda: text("ab", lambda f: [f.write(b"y" * 1000) and f.flush() for _ in range(20)]))
    attempt("json", lambda: text("w", lambda f: json.dump(list(range(5000)), f)))
    attempt("csv", lambda: text("w", lambda f: csv.writer(f).writerows([i, i] for i in range(3000))))
    attempt("write_text", lambda: pathlib.Path("disk/t").write_text("z" * 20000))
'''
FULL = ["torch.save OSError True", "['taken']"] + [line for name in ("write", "append", "json", "csv", "write_text") for line in (f"{name} OSError True", "['t', 'taken']")]
problems = []


def expect(name, condition, detail=""):
    if not condition:
        problems.append(name)
        print(f"FAILED {name}: {detail}")


def run(*words, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([PROGRAM, *map(str, words)], timeout=900, **options)


def shell(script, *words):
    return subprocess.run(["sh", "-c", script, "sh", PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)


def first_line(done):
    return done.stderr.decode("utf-8", "replace").split("\n")[0]


def prepare():
    pathlib.Path("model.py").write_text(MODEL)
    pathlib.Path("script.py").write_text(SCRIPT)
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 64), }"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    data = struct.pack("<128f", *(0.25 * i - 16 for i in range(128)))
    pathlib.Path("x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
    for words in (["export", *TRACED, "-o", "model.program"], ["compile", "model.program", "-o", WHOLE],
                  ["run", *CALL, "--output", "want.npy"]):
        done = run(*words)
        assert done.returncode == 0, done.stderr


def closed_streams():
    for verb, words in VERBS.items():
        done = shell('"$@" <&- >&- 2>&-', *words)
        expect(f"{verb} with all streams closed", done.returncode == 0, f"exit code {done.returncode}")
    # What is printed must not end up in the file that got the stream's number.
    shell('"$@" --output closed.npy >&-', "run", *CALL)
    expect("run with stdout closed", pathlib.Path("closed.npy").read_bytes() == pathlib.Path("want.npy").read_bytes(), "another result")
    shell('"$@" >&- 2>&-', "compile", "model.program", "-o", "closed.plc")
    expect("compile with stdout closed", pathlib.Path("closed.plc").read_bytes() == pathlib.Path(WHOLE).read_bytes(), "another package")
    done = shell('"$@" 2>&-', "run", "gone.plc")
    expect("a refusal with stderr closed", done.returncode == 1, f"exit code {done.returncode}")


def full_and_broken_streams():
    for verb, words in VERBS.items():
        for form in ([], ["--json"]):
            name = " ".join([verb, *form])
            with open("/dev/full", "wb") as full:
                done = run(*words, *form, stdout=full)
            expect(f"{name} onto a full device", done.returncode == 1 and "standard output: error: " in first_line(done),
                   f"exit code {done.returncode}: {first_line(done)}")
            done = shell('"$@" | head -c 1 >/dev/null', *words, *form)
            expect(f"{name} into head", done.returncode == 0 and not done.stderr, done.stderr[:200])
    # A reader that is gone is a signal by default, and an error where that is ignored.
    reader, writer = os.pipe()
    os.close(reader)
    done = run("inspect", WHOLE, stdout=writer, stderr=subprocess.PIPE, restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    os.close(writer)
    expect("a pipe that nobody reads", done.returncode == 1 and b"standard output: error: " in done.stderr, done.stderr[:200])


def with_most_bytes(limit):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    return limited


WRITING = {
    "run": ["run", *CALL, "--output", "{}"],
    "compile": ["compile", "model.program", "-o", "{}"],
    "export": ["export", *TRACED, "-o", "{}"],
    "profile": ["profile", *CALL, "-o", "{}"],
    "launch": [*LAUNCH, "--out", "out_ptr={}"],
}


def check_no_room(name, verb, folder, **options):
    before = sorted(os.listdir(folder))
    target = f"{folder}/o"
    done = run(*(w.format(target) for w in WRITING[verb]), **options)
    expect(f"{verb} {name}", done.returncode == 1 and target in first_line(done), f"exit code {done.returncode}: {first_line(done)}")
    expect(f"{verb} {name}", sorted(os.listdir(folder)) == before, f"left {os.listdir(folder)}")


def no_room():
    os.mkdir("limited")
    for verb in ("run", "export", "profile"):  # the others link their code in files without names, which the limit stops first
        check_no_room("over the limit of a file's size", verb, "limited", preexec_fn=with_most_bytes(64))
    # A disk of one page, where this user may make one.
    os.mkdir("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", "disk"], stderr=subprocess.DEVNULL).returncode == 0:
        try:
            pathlib.Path("disk/taken").write_bytes(b"x" * 4000)
            for verb in WRITING:
                check_no_room("onto a full disk", verb, "disk")
            done = run("exec", "script.py")
            expect("exec onto a full disk", done.stdout.decode().split("\n")[1:-1] == FULL, done.stdout.decode() + done.stderr.decode())
            os.remove("disk/t")
            if subprocess.run(["mount", "-o", "remount,ro", "disk"], stderr=subprocess.DEVNULL).returncode == 0:
                for verb in WRITING:
                    check_no_room("onto a disk mounted read-only", verb, "disk")
        finally:
            subprocess.run(["umount", "disk"])


def scripts():
    """As the other verbs, but that what cannot be printed is Python's exit code 120."""
    done = shell('"$@" <&- >&- 2>&-', "exec", "script.py")
    expect("exec with all streams closed", done.returncode == 0, f"exit code {done.returncode}")
    with open("/dev/full", "wb") as full:
        done = run("exec", "script.py", stdout=full)
    expect("exec onto a full device", done.returncode == 120 and "standard output: error: " in first_line(done), f"exit code {done.returncode}: {first_line(done)}")
    for name, environment in {"an empty environment": {}, "a HOME that is not there": {"HOME": "/nonexistent", "TMPDIR": "/nonexistent"}}.items():
        done = run("exec", "script.py", env=environment)
        expect(f"exec with {name}", (done.returncode, done.stdout) == (0, b"[1.0, 1.0, 1.0]\n"), f"exit code {done.returncode}: {first_line(done)}")
    os.mkdir("left")
    script = os.path.abspath("script.py")
    done = shell(f'cd left && rmdir ../left && exec "$@"', "exec", script)
    expect("exec in a folder that is gone", (done.returncode, done.stdout) == (0, b"[1.0, 1.0, 1.0]\n"), f"exit code {done.returncode}: {first_line(done)}")


def ended():
    """By a signal, at any time: the file is whole, or what was there before."""
    whole, folder = pathlib.Path(WHOLE).read_bytes(), "ended"
    os.mkdir(folder)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        for seconds in (0.05, 0.4, 1.6):
            process = subprocess.Popen([PROGRAM, "compile", "model.program", "-o", f"{folder}/o.plc"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
            code = process.wait()
            there = os.listdir(folder)
            expect(f"compile ended by {number.name}", code in (0, -number) and there in ([], ["o.plc"]), f"exit code {code}, left {there}")
            expect(f"compile ended by {number.name}", not there or pathlib.Path(folder, "o.plc").read_bytes() == whole, "a file that is not whole")
            for name in there:
                os.remove(os.path.join(folder, name))


def other_user():
    """In folders that it may not write to, where this user may become another one."""
    os.makedirs("closed", exist_ok=True)
    for name in ("model.program", "script.py"):
        shutil.copy(name, "closed")
    os.chmod("closed", 0o555)
    os.chmod(".", 0o755)

    def nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    if os.getuid() != 0 or subprocess.run(["cat", os.path.abspath("closed/script.py")], preexec_fn=nobody, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        return
    done = run("compile", "model.program", "-o", "x.plc", cwd="closed", preexec_fn=nobody)
    expect("compile into a folder of others", done.returncode == 1 and "x.plc: error: cannot be written: Permission denied" in first_line(done), f"exit code {done.returncode}: {first_line(done)}")
    done = run("exec", "script.py", cwd="closed", preexec_fn=nobody)
    expect("exec in a folder of others", (done.returncode, done.stdout) == (0, b"[1.0, 1.0, 1.0]\n"), f"exit code {done.returncode}: {first_line(done)}")
    expect("a folder of others", sorted(os.listdir("closed")) == ["model.program", "script.py"], f"left {os.listdir('closed')}")


def variables():
    for name, environment in {"an empty environment": {}, "an empty PATH": {"PATH": ""}, "a HOME that is not there": {"HOME": "/nonexistent"},
                              "no folder for temporary files": {"TMPDIR": "/nonexistent", "TMP": "/dev/null"},
                              "a locale with decimal commas": {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"},
                              "a locale of no kind": {"LC_ALL": "xx_YY.KOI8-R", "LANGUAGE": "\udcff"}}.items():
        for verb, words in VERBS.items():
            done = run(*words, env=environment)
            expect(f"{verb} with {name}", done.returncode == 0, f"exit code {done.returncode}: {first_line(done)}")
        run("run", *CALL, "--output", "again.npy", env=environment)
        expect(f"run with {name}", pathlib.Path("again.npy").read_bytes() == pathlib.Path("want.npy").read_bytes(), "another result")


def limits():
    def few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))

    def small_stack():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))

    for name, limit in {"few descriptors": few_descriptors, "a stack of 1 MiB": small_stack}.items():
        for verb, words in VERBS.items():
            done = run(*words, preexec_fn=limit)
            expect(f"{verb} with {name}", done.returncode in (0, 1), f"exit code {done.returncode}: {first_line(done)}")


def names():
    """Files whose names need care wherever they are printed, looked up or split."""
    for name in ("sp ace", "ünïcode", "new\nline", "quo'te\"s", "-dash", "100%s", "a=b", "[0]", b"\xff\xfe".decode("utf-8", "surrogateescape")):
        folder = pathlib.Path("names") / name
        folder.mkdir(parents=True)
        shutil.copy("model.py", folder / "model.py")
        shutil.copy("x.npy", folder / "x.npy")
        steps = (["export", f"{folder}/model.py:Model", *INPUT, "-o", f"{folder}/m.program"],
                 ["compile", f"{folder}/m.program", "-o", f"{folder}/m.plc"], ["inspect", "--json", f"{folder}/m.plc"],
                 ["run", f"{folder}/m.plc", "--input", f"x=@{folder}/x.npy", "--output", f"{folder}/y.npy"])
        for words in steps:
            if name == "[0]" and words[0] == "run":
                continue  # the bracket begins a view there
            done = subprocess.run([PROGRAM, *map(os.fsencode, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)
            expect(f"{words[0]} in the folder {name!a}", done.returncode == 0, f"exit code {done.returncode}: {first_line(done)}")


def main():
    start, folder = os.getcwd(), tempfile.mkdtemp(prefix="pellucid-environment-")
    try:
        os.chdir(folder)
        prepare()
        for check in (closed_streams, full_and_broken_streams, no_room, scripts, ended, other_user, variables, limits, names):
            check()
    finally:
        os.chdir(start)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(problems)} failed" if problems else "all ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
