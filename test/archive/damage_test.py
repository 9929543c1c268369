#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives with changed records: read and replayed, or refused in one sentence, in little memory.

    damage_test.py PROGRAM
    damage_test.py PROGRAM --from SEED --seconds S [ARCHIVE…]      other changes, for as long as that
    damage_test.py PROGRAM --today N                               N seeds of the day for every archive, spread over what is damaged

Every record of every archive in data/ gets changes, with a checksum that fits: bits flipped, pieces cut out or doubled; in texts
numbers and names for others, huge ones and those of another place; in JSON parts that are missing, doubled, turned around, of another kind or deep. Then come files that mean harm as a whole.
Seeds also damage the file beside its records: cut off, bits flipped, fields of the directory and of the records' headers, records twice or under
another's name, another schema.
"""
import argparse
import datetime
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
import zlib

DATA = pathlib.Path(__file__).resolve().parent / "data"
MOST_MEMORY = 600 << 20
NUMBERS = ["0", "-1", "1", "2", "3", "7", "8", "255", "65536", "2147483648", "1000000007", "4611686018427387904", "9223372036854775807",
           "-9223372036854775808", "18446744073709551616", "1e309", "0.5", "NaN", "null", "true", '"x"', "[]", "{}"]


def records_of(path):
    with zipfile.ZipFile(path) as file:
        return [(info.filename, file.read(info)) for info in file.infolist()]


def write(path, records, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in records:
            file.writestr(name, content)


def changed_bytes(rng, content):
    copy = bytearray(content or b"\0")
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(copy))
        kind = rng.randrange(4)
        if kind == 0:
            copy[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            copy[at] = rng.choice((0, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            del copy[at : at + rng.choice((1, 4, 64))]
            copy = copy or bytearray(b"\0")
        else:
            copy[at:at] = copy[at : at + rng.choice((1, 8, 300))]
    return bytes(copy)


def changed_text(rng, content):
    text = content.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.randrange(4)
        if kind == 0 and (found := [m.span() for m in re.finditer(r"(?<=[ \[(,])-?\d+(?=[,\]})])", text)]):
            start, end = rng.choice(found)
            text = text[:start] + rng.choice(NUMBERS) + text[end:]
        elif kind == 1 and (found := [m.span() for m in re.finditer(r'"[^"\\]*"', text)]):
            (a, b), (c, d) = rng.choice(found), rng.choice(found)
            text = text[:a] + text[c:d] + text[b:]
        elif kind == 2 and (found := [m.span() for m in re.finditer(r"\{[^{}]*\}|\[[^\[\]]*\]", text)]):
            (a, b), (c, d) = rng.choice(found), rng.choice(found)
            text = text[:a] + text[c:d] + text[b:]
        else:
            return changed_bytes(rng, text.encode())
    return text.encode()


def containers(tree):
    """Every dict and list of the tree that holds something."""
    found, open_ = [], [tree]
    while open_:
        one = open_.pop()
        if isinstance(one, (dict, list)) and one:
            found.append(one)
            open_ += one.values() if isinstance(one, dict) else one
    return found


def changed_tree(rng, content):
    """What stays JSON and says something else: parts that are missing, twice, in another order or place, of another kind, and deep."""
    try:
        return rearranged(rng, json.loads(content))
    except (ValueError, RecursionError):  # no JSON, or deeper than Python writes it
        return changed_text(rng, content)


def rearranged(rng, tree):
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        all_ = containers(tree)
        if not all_:
            break
        holder = rng.choice(all_)
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        other = rng.choice(all_)
        part = other[rng.choice(list(other) if isinstance(other, dict) else range(len(other)))]
        kind = rng.randrange(7)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), holder[key])
        elif kind == 2 and isinstance(holder, list):
            rng.shuffle(holder)
        elif kind == 3:
            holder[key] = json.loads(json.dumps(part))
        elif kind == 4:
            for _ in range(rng.choice((1, 3, 300, 900))):
                holder[key] = [holder[key]] if rng.random() < 0.5 else {"as_ints": holder[key]}
        elif kind == 5 and isinstance(holder, dict):
            holder[rng.choice(("as_int", "as_tensor", "as_expr", "as_graph", "as_tensors", "name", "", "x" * 5000))] = holder.pop(key)
        else:
            holder[key] = rng.choice((None, True, -1, 0, 2**62, -(2**63), 2**64, 10**400, 1e308, "", "x", [], {}, [[]], {"as_int": -7}))
    return json.dumps(tree).encode()


# Of a record in the directory (`PK 1 2`) and in its own header (`PK 3 4`), of the directory's end, and of its 64-bit forms: where each field lies and its bytes.
FIELDS = {b"PK\1\2": ((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)), b"PK\3\4": ((6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
          b"PK\5\6": ((8, 2), (10, 2), (12, 4), (16, 4), (20, 2)), b"PK\6\6": ((4, 8), (24, 8), (32, 8), (40, 8), (48, 8)), b"PK\6\7": ((4, 4), (8, 8), (16, 4))}


def cut_off(rng, content):
    return content[: rng.choice((rng.randrange(len(content)), len(content) - rng.randrange(1, 200)))]


def flipped(rng, content):
    """Checksums do not fit then, or it is a byte between the records."""
    copy = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 40))):
        copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
    return bytes(copy)


def with_fields(rng, content):
    """Counts, sizes, offsets, flags and methods of the zip file: huge, zero, a little off, another record's."""
    copy = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        magic = rng.choice(list(FIELDS))
        places = [m.start() for m in re.finditer(re.escape(magic), content)]
        if not places:
            continue
        at, bytes_ = rng.choice(FIELDS[magic])
        at += rng.choice(places)
        if at + bytes_ > len(copy):
            continue
        now = int.from_bytes(copy[at : at + bytes_], "little")
        most = (1 << 8 * bytes_) - 1
        new = rng.choice((0, 1, most, most - 1, most >> 1, (most >> 1) + 1, now + 1, now - 1, now * 2, len(content), len(content) - 1, rng.randrange(most + 1), 1 << rng.randrange(8 * bytes_))) & most
        copy[at : at + bytes_] = new.to_bytes(bytes_, "little")
    return bytes(copy)


def with_other_records(rng, path):
    """Records that are missing, twice, under another's name or of another's content."""
    records = records_of(path)
    for _ in range(rng.choice((1, 1, 3))):
        i, j = rng.randrange(len(records)), rng.randrange(len(records))
        kind = rng.randrange(5)
        if kind == 0 and len(records) > 1:
            del records[i]
        elif kind == 1:
            records.insert(j, records[i])
        elif kind == 2:
            records[i] = (records[j][0], records[i][1])
        elif kind == 3:
            records[i] = (records[i][0], records[j][1])
        else:
            name = records[i][0]
            records[i] = (rng.choice((name + "x", name.upper(), "../" + name, "/" + name, name.replace("/", "//"), "/", name * 400, name + "\0y", "models/other.json")), records[i][1])
    return records


def with_schema(rng, path):
    """Versions of the schema and of its parts, and words that no schema has."""
    def edit(graph):
        version = graph.get("schema_version")
        if isinstance(version, dict) and rng.random() < 0.6:
            version[rng.choice(("major", "minor"))] = rng.choice((0, 7, 9, 21, 99, 2**31, -1, None, "8", 8.5))
        if rng.random() < 0.5:
            graph[rng.choice(("opset_version", "range_constraints", "verifiers", "torch_version", "guards_code", "schema_version", "later"))] = rng.choice(({}, [], None, {"aten": 2**40}, [["deep"]], "TRAINING"))
        for node in rng.sample(graph["graph_module"]["graph"]["nodes"], 1) if rng.random() < 0.5 and graph["graph_module"]["graph"]["nodes"] else ():
            node[rng.choice(("is_hop_single_tensor_return", "name", "later", "target", "metadata"))] = rng.choice((True, None, "torch.ops.higher_order.later", {"stack_trace": "x" * 9000}, []))
    return edited(path, edit)


class Checks:
    def __init__(self, program, folder):
        self.program, self.folder, self.count = program, folder, 0

    def run(self, path, verb="export", refused=False):
        """What the program says, which must be one error or a success, soon and in little memory."""
        words = [self.program, verb, str(path)] + (["-o", str(self.folder / "out.plc"), "--target", "cpu:x86-64-v3", "--verify-each"] if verb == "compile" else [])
        with open(self.folder / "said", "w+b") as said:
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read().decode("utf-8", "replace")
        self.count += 1
        assert code in ((1,) if refused else (0, 1)), f"exit {code}: {text[:600]}"
        assert code == 0 or text.count("error:") == 1, f"not one sentence: {text[:600]}"
        assert used.ru_maxrss < MOST_MEMORY >> 10, f"{used.ru_maxrss >> 10} MB of memory: {text[:300]}"
        return text

    def changed(self, rng, path, verb="export", at=None):
        records = records_of(path)
        at = rng.randrange(len(records)) if at is None else at
        name, content = records[at]
        isText = name.endswith((".json", ".program"))
        change = changed_bytes
        if isText and rng.random() < 0.8:
            change = changed_tree if name.endswith(".json") and rng.random() < 0.5 else changed_text
        records[at] = (name, change(rng, content))
        copy = self.folder / "changed.pt2"
        write(copy, records)
        return self.run(copy, verb)


    def damaged(self, rng, path, verb="export"):
        """One damage of the whole file."""
        copy = self.folder / "changed.pt2"
        kind = rng.choice((cut_off, flipped, with_fields, with_other_records, with_schema))
        if kind in (with_other_records, with_schema):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                write(copy, kind(rng, path))
        else:
            copy.write_bytes(kind(rng, path.read_bytes()))
        return self.run(copy, verb)


def edited(path, edit):
    """The archive with another graph."""
    records = []
    for name, content in records_of(path):
        if name.endswith(("models/model.json", "serialized_exported_program.json")):
            graph = json.loads(content)
            edit(graph)
            content = json.dumps(graph).encode()
        records.append((name, content))
    return records


def check_hostile(checks):
    """Files that mean harm: each is refused for what it is."""
    net, copy = DATA / "net.pt2", checks.folder / "hostile.pt2"

    def refused(records, words, method=zipfile.ZIP_STORED):
        write(copy, records, method)
        said = checks.run(copy, refused=True)
        assert words in said, f"'{words}' expected: {said[:400]}"

    whole = records_of(net)
    replaced = lambda ending, content: [(n, content if n.endswith(ending) else c) for n, c in whole]
    refused(replaced("weight_0", bytes(200 << 20)), "compressed", zipfile.ZIP_DEFLATED)
    refused(replaced("model.json", b"[" * 1_000_000), "nested")
    refused(replaced("model.json", b'{"graph_module":' * 100_000), "nested")
    refused(replaced("archive_version", b"1"), "version 1")
    refused(whole + [(whole[0][0], b"")], "twice")

    def edits(words, edit):
        refused(edited(net, edit), words)

    graph = lambda g: g["graph_module"]["graph"]
    edits("schema 9", lambda g: g["schema_version"].update(major=9))
    edits("nested", lambda g: graph(g)["tensor_values"]["x"]["sizes"].__setitem__(0, {"as_expr": {"expr_str": "Add(" * 5000 + "1", "hint": None}}))
    edits("64 bits", lambda g: graph(g)["tensor_values"]["x"]["sizes"].__setitem__(0, {"as_expr": {"expr_str": "Pow(Integer(9), Integer(60))", "hint": None}}))

    # What is said to be written must be an input that is a tensor; a guard names inputs as forward() does.
    def mutation(g):
        out = graph(g)["outputs"][0]["as_tensor"]["name"]
        graph(g)["outputs"].insert(0, {"as_tensor": {"name": out}})
        g["graph_module"]["signature"]["output_specs"].insert(0, {"user_input_mutation": {"arg": {"name": out}, "user_input_name": "gone"}})

    edits("which is none of its inputs", mutation)
    edits("holds for none", lambda g: g["guards_code"].append("L['x'].size()[1] > 9000000"))
    write(copy, edited(net, lambda g: g["guards_code"].append("L['x'].size()[0] > 0")))
    assert "not read" not in (said := checks.run(copy)), said[:300]

    def unbound(target, **more):
        """A hundred million results, of which the archive names one."""
        def edit(g):
            graph(g)["tensor_values"]["x"]["sizes"] = [{"as_int": 100_000_000}, {"as_int": 8}]
            inputs = [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}] + [{"name": n, "arg": {"as_int": v}, "kind": 1} for n, v in more.items()]
            graph(g)["nodes"].insert(0, {"target": target, "inputs": inputs, "outputs": [{"as_tensors": [{"name": "part"}]}], "metadata": {}})
            graph(g)["tensor_values"]["part"] = graph(g)["tensor_values"]["x"]
        return edit

    # Guards are Python: of any length and depth, over sizes that are not there, and never true.
    size = "L['x'].size()[0]"
    for guard, words in ((" or ".join(f"{size} != {i}" for i in range(3000)), "more than 64"), ("(" * 5000 + size + ")" * 5000 + " > 1", "nested"), (f"{size} % 0 == 0", "not read"),
                         ("9**9**9 > 1", "not read"), ("L['gone'].size()[7] > 1", "not read")):
        write(copy, edited(net, lambda g, guard=guard: g["guards_code"].append(guard)))
        said = checks.run(copy)
        assert words in said, f"'{words}' expected: {said[:300]}"
    refused(edited(net, lambda g: g["guards_code"].append("1 > 2")), "holds for none")
    edits("65536", unbound("torch.ops.aten.unbind.int"))
    edits("65536", unbound("torch.ops.aten.split.Tensor", split_size=1))
    edits("65536", unbound("torch.ops.aten.chunk.default", chunks=50_000_000))
    # A directory that promises more than the file holds.
    bytes_ = bytearray(net.read_bytes())
    at = bytes_.rfind(b"PK\5\6")
    bytes_[at + 8 : at + 12] = struct.pack("<HH", 0xFFFE, 0xFFFE)
    copy.write_bytes(bytes_)
    checks.run(copy, refused=True)
    bytes_ = bytearray(net.read_bytes())
    at = struct.unpack_from("<I", bytes_, bytes_.rfind(b"PK\5\6") + 16)[0]
    bytes_[at + 20 : at + 28] = struct.pack("<II", 0x7FFFFFFF, 0x7FFFFFFF)
    copy.write_bytes(bytes_)
    assert "beyond the file" in checks.run(copy, refused=True)


def own_archive(checks):
    """One that we wrote, with a kernel and a program inside."""
    path = checks.folder / "own.pt2"
    model = DATA.parents[2] / "examples/silu_model.py"
    subprocess.run([checks.program, "export", f"{model}:Model", "--input", "x=f32[b:1..9,128]", "--seed", "1", "-o", path], check=True, capture_output=True)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("archives", nargs="*", type=pathlib.Path)
    parser.add_argument("--from", dest="seed", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--today", type=int)
    options = parser.parse_args()
    if options.today:
        options.seed = int(datetime.date.today().strftime("%Y%m%d")) * 100_000
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(options.program, pathlib.Path(scratch))
        archives = options.archives or [*sorted(DATA.glob("*.pt2")), own_archive(checks)]
        if options.seed is None:
            check_hostile(checks)
            for path in archives:
                rng = random.Random(zlib.crc32(path.name.encode()))
                for at, (name, content) in enumerate(records_of(path)):
                    for _ in range(5 if name.endswith(("model.json", "program", ".pt")) else 1):
                        checks.changed(rng, path, at=at)
        else:
            seeded(options, checks, archives)
        print(f"{checks.count} files")


def seeded(options, checks, archives):
    """One change for each seed, until the time or their number is over."""
    end, seed, failed = time.monotonic() + options.seconds, options.seed, 0
    while seed < options.seed + options.today * len(archives) if options.today else time.monotonic() < end:
        rng = random.Random(seed)
        change = checks.damaged if rng.random() < 0.5 else checks.changed
        try:
            change(rng, archives[seed % len(archives)], "compile" if seed % 4 == 0 else "export")
        except AssertionError as problem:
            failed += 1
            print(f"seed {seed}: {problem}", flush=True)
            (pathlib.Path.cwd() / f"damaged-{seed}.pt2").write_bytes((checks.folder / "changed.pt2").read_bytes())
        seed += 1
    print(f"seeds {options.seed} to {seed - 1}, {failed} failed")
    if failed:
        sys.exit(1)


main()
