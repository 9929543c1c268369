#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example of --help, and every command and program of the README's tour, works as it stands there.

    documented_commands_test.py PROGRAM SOURCE [CC CXX]

They run in an empty folder beside links to the checkout's examples/, include/ and build. The programs are compiled where
compilers are named. Standard library only.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
COMPILERS = sys.argv[3:5]
# compile first: the examples of the verbs that read a package take the one it writes.
VERBS = ("compile", "kernels", "launch", "export", "run", "inspect", "explain", "profile", "bench", "doctor")


def run(command, where):
    done = subprocess.run(command, shell=True, cwd=where, env={"PATH": f"{PROGRAM.parent}:{where}/tools:/usr/bin:/bin"}, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def help_examples(where):
    for verb in VERBS:
        code, text, error = run(f"pellucid {verb} --help", where)
        examples = re.findall(r"^  (pellucid .*)$", text, re.MULTILINE)
        if code != 0 or len(examples) != 1 or f" {verb} " not in examples[0] + " ":
            yield f"pellucid {verb} --help", f"exit code {code}, examples {examples} {error}"
        yield from failures(examples, where)


def readme_commands(where):
    text = (SOURCE / "README.md").read_text()
    tour = text[text.index("## A tour"):]
    commands = []
    for block in re.findall(r"```sh\n(.*?)```", tour, re.DOTALL):
        commands += [line for line in block.replace("\\\n", " ").splitlines() if line.startswith("pellucid ")]
    if len(commands) < 8:
        yield "README.md", f"the tour has {len(commands)} commands"
    yield from failures(commands, where)
    if COMPILERS:
        yield from readme_programs(tour, where)


def readme_programs(tour, where):
    """The blocks of C and C++, by the name in their first line, and the commands that compile them."""
    (where / "tools").mkdir()
    for name, compiler in zip(("cc", "c++"), COMPILERS):
        os.symlink(compiler, where / "tools" / name)
    (where / "build").mkdir()
    os.symlink(PROGRAM.parent.parent, where / "build" / "release")
    os.symlink(SOURCE / "include", where / "include")
    for text, name in re.findall(r"```c(?:pp)?\n((?:/\*|//) (\w+\.\w+).*?)```", tour, re.DOTALL):
        (where / name).write_text(text)
    commands = re.findall(r"^c(?:c|\+\+) .*$", tour, re.MULTILINE)
    if len(commands) != 2:
        yield "README.md", f"the tour compiles {len(commands)} programs"
    yield from failures(commands, where)


def failures(commands, where):
    for command in commands:
        code, _, error = run(command, where)
        if code != 0:
            yield command, f"exit code {code}: {error}"


def broken_links():
    """Links to files in every document."""
    for document in [SOURCE / "README.md", SOURCE / "CHANGELOG.md", *SOURCE.glob("docs/**/*.md"), *SOURCE.glob("bench/**/*.md")]:
        text = re.sub(r"`[^`]*`", "", document.read_text())
        for target in re.findall(r"\]\(([^)#]+)", text):
            if "://" not in target and not (document.parent / target).exists():
                yield str(document), f"the link to {target} leads nowhere"


def main():
    count = 0
    for check in (help_examples, readme_commands):
        where = pathlib.Path(tempfile.mkdtemp(prefix="pellucid-documented-"))
        try:
            os.symlink(SOURCE / "examples", where / "examples")
            for what, why in check(where):
                count += 1
                print(f"FAILED {what}\n  {why}")
        finally:
            shutil.rmtree(where)
    for what, why in broken_links():
        count += 1
        print(f"FAILED {what}\n  {why}")
    print("all ok" if count == 0 else f"{count} failed")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
