#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes files of a corpus at random and hands each to a program of ours, as a process.

    change_files.py CORPUS --dictionary FILE.dict [--seconds S --jobs J --first N --keep FOLDER] -- COMMAND… {}

For what takes MLIR and so needs no build of its own with libFuzzer: `pellucid kernels --host-steps 200000 {}`, `pellucid-opt {}`.
A run must end within 10 s and 4 GB with exit code 0, or with 1 and a diagnostic. Change N is the same each time.

With --scripts the files are programs, `pellucid exec --device cuda=cpu {}`: they may run for ever, so that after 10 s SIGINT has to end them, and may
end with any code; but no signal, no failure of ours and no memory beyond the limit ends them. What names files or processes is not run.
"""
import argparse
import concurrent.futures
import itertools
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

SECONDS, BYTES = 10, 4 << 30


def changed(texts, words, rng):
    """Some words replaced, lines removed, repeated or taken from another file."""
    text = rng.choice(texts)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind < 4:
            places = list(re.finditer(r"\w+|[^\w\s]+", text))
            if places:
                place = rng.choice(places)
                other = rng.choice(words) if rng.random() < 0.5 else rng.choice(places).group()
                text = text[: place.start()] + (other if rng.random() < 0.9 else "") + text[place.end() :]
            continue
        if kind == 4:
            del lines[at]
        elif kind == 5:
            lines.insert(at, rng.choice(lines))
        elif kind == 6:
            others = rng.choice(texts).split("\n")
            begin = rng.randrange(len(others))
            lines[at:at] = others[begin : begin + rng.randrange(1, 6)]
        else:
            lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)] + rng.choice(("(" * 50, "9" * 40, "\\", "\x00", "\u00e9", "-", "[", "x" * 3000))
        text = "\n".join(lines)
    return text


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))


def attempt(path, text, command):
    """None, or what went wrong."""
    path.write_text(text, errors="surrogateescape")
    try:
        done = subprocess.run([str(path) if word == "{}" else word for word in command], capture_output=True, timeout=120, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return "took 120 s"
    said = b"error: " in done.stderr or b"refused" in done.stdout
    if done.returncode == 0 or (done.returncode == 1 and said):
        return None
    return f"exit code {done.returncode}: {done.stderr[:300].decode(errors='replace')} … {done.stderr[-700:].decode(errors='replace')}"


FILES = re.compile(r"\b(os|shutil|pathlib|Path|tempfile|glob|subprocess|open|open_code|io|save|savez|tofile|to_file|dump|write_text|write_bytes|export_chrome_trace|SummaryWriter|input|stdin)\b")


def attempt_script(path, text, command):
    """None, or what went wrong."""
    if FILES.search(text):
        return None
    path.write_text(text, errors="surrogateescape")
    limits = lambda: resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([str(path) if word == "{}" else word for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=limits)
        stopped = False
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            stopped = True
            process.send_signal(signal.SIGINT)
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return f"goes on {SECONDS} s after SIGINT"
        said.seek(0)
        words = said.read().decode(errors="replace")
    ours = re.search(r"internal error|ended by signal|std::|assert(ion)? failed|MLIR|LLVM ERROR|Sanitizer|runtime error", words)
    if ours or (process.returncode < 0 and not (stopped and process.returncode == -signal.SIGINT)):
        return f"exit code {process.returncode}: {words[:300]} … {words[-700:]}"
    return None


def work(job, options, texts, words):
    count, problems, end = 0, [], time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        for number in itertools.count(options.first + job, options.jobs):
            if time.monotonic() > end or len(problems) == 30:
                return count, problems
            text = changed(texts, words, random.Random(number))
            problem = (attempt_script if options.scripts else attempt)(pathlib.Path(folder, "changed.py"), text, options.command)
            count += 1
            if problem:
                problems.append((number, problem))
                (options.keep / f"changed_{number}").write_text(text, errors="surrogateescape")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--dictionary", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--scripts", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    texts = [path.read_text() for path in sorted(options.corpus.iterdir())]
    words = ["0", "-1", "1e400", "None"]
    if options.dictionary:
        words += [re.sub(r"\\x(..)", lambda m: chr(int(m[1], 16)), line[1:-1]) for line in options.dictionary.read_text().splitlines()]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda job: work(job, options, texts, words), range(options.jobs)))
    problems = [problem for _, some in done for problem in some]
    for number, problem in problems:
        print(f"--- change {number}: {problem}")
    print(f"{sum(count for count, _ in done)} changes, {len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
