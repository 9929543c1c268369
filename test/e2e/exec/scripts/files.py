# SPDX-License-Identifier: Apache-2.0
import glob
import json
import os
import pathlib
import shutil
import sys
import tempfile

root = tempfile.mkdtemp()
try:
    os.chdir(root)
    os.makedirs("a/b/c", exist_ok=True)
    with open("a/one.txt", "w") as file:
        print("first", 1, 2.5, sep=", ", file=file)
        print(file.write("second\nthird ünïcode"))
    with open(os.path.join("a", "one.txt")) as file:
        print(file.readline(), end="")
        print(file.readlines())
    with open("a/one.txt", "a", encoding="utf-8") as file:
        file.writelines(["\n", "more\n"])
    print([line.rstrip("\n") for line in open("a/one.txt")])
    print(os.path.exists("a/one.txt"), os.path.isdir("a"), os.path.isfile("a"), os.path.getsize("a/one.txt"))
    print(os.path.splitext("x/y.tar.gz"), os.path.basename("x/y"), os.path.dirname("x/y/z"), os.path.splitext(".rc"))
    print(os.path.normpath("a//b/../c/./d"), os.path.relpath("a/b", "a/c"))
    for call in (lambda: open("missing"), lambda: os.rmdir("a"), lambda: os.mkdir("a"), lambda: open("a"), lambda: os.remove("missing")):
        try:
            call()
        except FileNotFoundError as error:
            print("not found:", error, error.errno, error.filename)
        except OSError as error:
            print(type(error).__name__, error.errno)
    p = pathlib.Path("a") / "b" / "two.json"
    p.write_text(json.dumps({"x": [1, 2, {"y": None}], "t": True}, indent=2))
    with p.open() as file:
        print(json.load(file))
    with open("a/three.json", "w") as file:
        json.dump([1.5, "ü"], file)
    print(pathlib.Path("a/three.json").read_text(), p.name, p.stem, p.suffix, p.parent, p.exists(), p.with_suffix(".txt"))
    print(sorted(os.listdir("a")), sorted(str(x) for x in pathlib.Path("a").rglob("*.json")), sorted(glob.glob("a/*.txt")))
    print(sorted((len(d), len(f)) for _, d, f in os.walk("a")))
    shutil.copy("a/one.txt", "copy.txt")
    os.rename("copy.txt", "moved.txt")
    print(os.path.exists("copy.txt"), os.path.exists("moved.txt"))
    with tempfile.TemporaryDirectory() as folder:
        inner = folder
        print(os.path.isdir(folder))
    print(os.path.isdir(inner))
    try:
        with open("moved.txt") as file:
            pass
        file.read()
    except ValueError as error:
        print(error)
    os.environ["PELLUCID_TEST"] = "on"
    print(os.environ.get("PELLUCID_TEST"), os.getenv("PELLUCID_ABSENT", "off"), "PELLUCID_TEST" in os.environ)
    sys.stdout.write("written\n")
    sys.stderr.write("to stderr\n")
    print("also", file=sys.stderr, flush=True)
finally:
    os.chdir("/")
    shutil.rmtree(root)
print(os.path.exists(root))
