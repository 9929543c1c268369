# SPDX-License-Identifier: Apache-2.0
"""Random host code of the subset that the evaluator takes: typed expressions and statements that end, in plain Python.

Numbers stay far below 2^63: the evaluator refuses what grows beyond it.
"""
import random

CONSTANTS = {"int": ["0", "1", "-1", "2", "3", "-7", "10", "64", "255"], "float": ["0.0", "-0.0", "0.5", "-1.5", "2.0", "3.25", "1e3", "1e-3"],
             "bool": ["True", "False"], "str": ["''", "'a'", "'abc'", "'x y'", "'-12'", "'Hello'", "'a,b,,c'"],
             "list": ["[]", "[1]", "[3, 1, 2]", "[0, 5, -5, 2]", "list(range(6))"], "dict": ["{}", "{'a': 1}", "{'b': 2, 'a': -3}", "dict(a=4, c=5)"]}
TYPES = list(CONSTANTS)


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names, self.depth, self.lines, self.loops, self.functions = {}, 0, [], 0, {}

    def pick(self, *choices):
        return self.rng.choice(choices)

    def of(self, kind, depth=3):
        """An expression of a type."""
        known = [name for name, its in self.names.items() if its == kind]
        if depth <= 0 or self.rng.random() < 0.15:
            return self.pick(*known) if known and self.rng.random() < 0.7 else self.pick(*CONSTANTS[kind])
        return getattr(self, kind)(depth - 1)

    def int(self, d):
        a, b = (lambda: self.of("int", d)), (lambda: self.of("int", d))
        return self.pick(
            lambda: f"({a()} {self.pick('+', '-', '*')} {b()}) % 1009", lambda: f"{a()} // ({b()} or 3)", lambda: f"{a()} % ({b()} or 7)",
            lambda: f"({a()} {self.pick('&', '|', '^')} {b()})", lambda: f"({a()} << ({b()} & 3)) % 997", lambda: f"({a()} >> ({b()} & 3))",
            lambda: f"-({a()})", lambda: f"~({a()})", lambda: f"abs({a()})", lambda: f"min({a()}, {b()})", lambda: f"max({a()}, {b()}, 1)",
            lambda: f"len({self.of('list', d)})", lambda: f"len({self.of('str', d)})", lambda: f"sum({self.of('list', d)}) % 1013",
            lambda: f"({a()} if {self.of('bool', d)} else {b()})", lambda: f"int({self.of('bool', d)})", lambda: f"int({self.of('float', d)})",
            lambda: f"({self.of('list', d)} or [4])[{self.pick('0', '-1')}]", lambda: f"{self.of('dict', d)}.get({self.pick(chr(39) + 'a' + chr(39), self.of('str', 1))}, {a()})",
            lambda: f"({a()} and {b()})", lambda: f"({a()} or {b()})", lambda: f"divmod({a()}, {b()} or 5)[{self.pick('0', '1')}]",
            lambda: f"({a()}).bit_length()", lambda: f"pow({a()} % 9, {b()} & 3)", lambda: f"{self.of('str', d)}.count({self.of('str', 1)} or 'a')",
            lambda: f"round({self.of('float', d)})", lambda: f"(lambda p, q=3: (p + q) % 101)({a()})",
            lambda: f"sum(v * v % 11 for v in {self.of('list', d)})", lambda: f"{self.of('str', d)}.find({self.of('str', 1)})",
            *([lambda: f"{self.pick(*self.functions)}({a()}, {b()})"] if self.functions else []))()

    def float(self, d):
        a, b = (lambda: self.of("float", d)), (lambda: self.of("float", d))
        return self.pick(
            lambda: f"({a()} {self.pick('+', '-', '*')} {b()})", lambda: f"({a()} / ({b()} or 2.0))", lambda: f"{self.of('int', d)} / ({self.of('int', d)} or 4)",
            lambda: f"({a()} // ({b()} or 0.5))", lambda: f"({a()} % ({b()} or 1.5))", lambda: f"float({self.of('int', d)})", lambda: f"abs({a()})",
            lambda: f"-({a()})", lambda: f"round({a()}, {self.pick('0', '1', '2')})", lambda: f"max({a()}, {b()})", lambda: f"math.floor({a()}) * 0.5",
            lambda: f"math.sqrt(abs({a()}))", lambda: f"({a()} if {self.of('bool', d)} else {b()})", lambda: f"float({self.of('bool', d)})",
            lambda: f"{self.of('int', d)} * 0.25")()

    def bool(self, d):
        kind = self.pick("int", "float", "str", "list")
        a, b = self.of(kind, d), self.of(kind, d)
        c = self.of(kind, 1)
        return self.pick(
            lambda: f"({a} {self.pick('<', '<=', '==', '!=', '>', '>=')} {b})", lambda: f"({a} <= {b} < {c})", lambda: f"(not {self.of('bool', d)})",
            lambda: f"({self.of('bool', d)} {self.pick('and', 'or')} {self.of('bool', d)})", lambda: f"({self.of('int', d)} in {self.of('list', d)})",
            lambda: f"({self.of('str', 1)} {self.pick('in', 'not in')} {self.of('str', d)})", lambda: f"({self.of('str', 1)} in {self.of('dict', d)})",
            lambda: f"isinstance({self.of(self.pick(*TYPES), d)}, {self.pick('int', 'float', 'bool', 'str', 'list', 'dict')})", lambda: f"bool({self.of(self.pick(*TYPES), d)})",
            lambda: f"any(v > {self.of('int', 1)} for v in {self.of('list', d)})", lambda: f"all(v != {self.of('int', 1)} for v in {self.of('list', d)})",
            lambda: f"({self.view(d)} {self.pick('<', '<=', '==', '!=', '>', '>=')} {self.view(d)})", lambda: f"{self.view(d)}.isdisjoint({self.texts(d)})",
            lambda: f"(({self.of('str', 1)}, {self.of('int', 1)}) in {self.of('dict', d)}.items())", lambda: f"({self.of('int', d)} in {self.of('dict', d)}.values())",
            lambda: f"{self.of('str', d)}.startswith({self.of('str', 1)})", lambda: f"({self.of('bool', d)} is {self.pick('True', 'False', 'None')})")()

    def str(self, d):
        a, b = (lambda: self.of("str", d)), (lambda: self.of("str", d))
        return self.pick(
            lambda: f"({a()} + {b()})[:40]", lambda: f"({a()} * ({self.of('int', 1)} & 3))", lambda: f"{a()}.upper()", lambda: f"{a()}.lower()",
            lambda: f"{a()}[{self.slice(d)}]", lambda: f"str({self.of(self.pick('int', 'float', 'bool', 'list'), d)})", lambda: f"repr({self.of(self.pick(*TYPES), d)})", lambda: f"str({self.of('dict', d)}.{self.pick('keys', 'values', 'items')}())",
            lambda: f"{a()}.replace({self.of('str', 1)} or 'b', {self.of('str', 1)})[:60]", lambda: f"{a()}.strip()", lambda: f"'-'.join(str(v) for v in {self.of('list', d)})",
            lambda: f"f'{{{self.plain('int', d)}}}|{{{self.plain('float', d)}:.{self.pick('1', '3')}f}}'", lambda: f"f'{{{self.plain('int', d)}:{self.pick('>6', '<5', '04', '+', 'x', ',')}}}'",
            lambda: f"'%s:%d' % ({b()}, {self.of('int', d)})", lambda: f"{a()}.zfill({self.pick('0', '3', '6')})", lambda: f"','.join(sorted({a()}))",
            lambda: f"({a()} if {self.of('bool', d)} else {b()})", lambda: f"{a()}.split({self.pick('', chr(39) + ',' + chr(39))})[-1:].__repr__()" if False else f"str({a()}.split({self.pick('', chr(39) + ',' + chr(39))}))")()

    def plain(self, kind, d):
        """For an f-string of single quotes."""
        text = self.of(kind, min(d, 1))
        return "7" if any(c in text for c in "'{}\\:") else f"({text})"

    def slice(self, d):
        part = lambda: self.pick("", self.of("int", min(d, 1)))  # noqa: E731
        return f"{part()}:{part()}" + self.pick("", ":2", ":-1", ":-2")

    def list(self, d):
        a, b = (lambda: self.of("list", d)), (lambda: self.of("int", d))
        return self.pick(
            lambda: f"[{b()}, {b()}]", lambda: f"({a()} + {self.of('list', d)})[:12]", lambda: f"{a()}[{self.slice(d)}]", lambda: f"sorted({a()}{self.pick('', ', reverse=True', ', key=lambda v: v % 3')})",
            lambda: f"[v {self.pick('+', '*', '-')} 1 for v in {a()} if {self.pick('v % 2', 'v > 0', 'v < 5', 'True')}]", lambda: f"list(reversed({a()}))", lambda: f"[*{a()}, {b()}][-9:]",
            lambda: f"list(range({b()} % 9))", lambda: f"list({self.of('dict', d)}.values())", lambda: f"[i * v % 13 for i, v in enumerate({a()})]",
            lambda: f"[u - v for u, v in zip({a()}, {self.of('list', d)})]", lambda: f"({a()} * 2)[:10]", lambda: f"list(map(lambda v: v % 5, {a()}))",
            lambda: f"[v for v in {a()} for _ in range(v % 3)][:12]", lambda: f"list(filter(lambda v: v % 2 == 0, {a()}))", lambda: f"({a()} if {self.of('bool', d)} else {self.of('list', d)})",
            lambda: f"[len(w) for w in {self.of('str', d)}.split()]", lambda: f"sorted(set({a()}))",
            lambda: f"[len(k) for k in sorted({self.view(d)} {self.pick('|', '&', '-', '^')} {self.pick(self.view, self.texts)(d)})]",
            lambda: f"[v for k, v in sorted({self.of('dict', d)}.items() {self.pick('|', '&', '-', '^')} {self.of('dict', d)}.items())]",
            lambda: f"[len(k) for k in sorted({self.texts(d)} {self.pick('|', '&', '-', '^')} {self.view(d)})]")()

    def view(self, d):
        return f"{self.of('dict', d)}.keys()"

    def texts(self, d):
        return f"{self.pick('', 'set')}({self.of('str', d)}.split())"

    def dict(self, d):
        return self.pick(
            lambda: f"{{{self.of('str', 1)}: {self.of('int', d)}, 'z': {self.of('int', d)}}}", lambda: f"{{str(v): v for v in {self.of('list', d)}}}",
            lambda: f"{{**{self.of('dict', d)}, 'a': {self.of('int', d)}}}", lambda: f"{{k: v % 7 for k, v in {self.of('dict', d)}.items() if v > {self.of('int', 1)}}}",
            lambda: f"dict(zip({self.of('str', d)}, {self.of('list', d)}))", lambda: f"({self.of('dict', d)} | {{'q': {self.of('int', 1)}}})")()

    # --- statements

    def add(self, text):
        self.lines.append("    " * (self.depth + 1) + text)

    def assign(self):
        kind = self.pick(*TYPES)
        name = f"{kind[0]}{self.rng.randrange(4)}"
        value = self.of(kind)
        self.add(f"{name} = {value}")
        self.names[name] = kind

    def change(self):
        lists = [n for n, kind in self.names.items() if kind == "list"]
        dicts = [n for n, kind in self.names.items() if kind == "dict"]
        ints = [n for n, kind in self.names.items() if kind == "int"]
        choices = []
        if lists:
            n = self.pick(*lists)
            choices += [f"{n}.append({self.of('int', 2)})", f"{n}.extend({self.of('list', 1)}[:3])", f"{n}[{self.slice(1)[:1] or ':'}:] = [{self.of('int', 1)}]" if False else f"{n}[1:3] = {self.of('list', 1)}[:3]",
                        f"{n}.insert({self.of('int', 1)}, {self.of('int', 2)})", f"{n}.sort()", f"{n}.reverse()", f"del {n}[:1]", f"{n} += [{self.of('int', 2)}]", f"{n} = {n}[:12]",
                        f"{n}.pop()", f"{n}[0] = {self.of('int', 2)}", f"{n}.remove({self.of('int', 1)})"]
        if dicts:
            n = self.pick(*dicts)
            choices += [f"{n}[{self.of('str', 1)}] = {self.of('int', 2)}", f"{n}.update({self.of('dict', 1)})", f"{n}.setdefault('s', {self.of('int', 1)})", f"{n}.pop('a', None)", f"del {n}[{self.of('str', 1)}]"]
        if ints:
            n = self.pick(*ints)
            choices += [f"{n} {self.pick('+=', '-=', '|=', '&=', '^=')} {self.of('int', 2)}", f"{n} = {n} * 3 % 211"]
            if len(ints) > 1:
                m = self.pick(*ints)
                choices += [f"{n}, {m} = {m}, {n}", f"{n}, *_ = [{self.of('int', 1)}, {m}, 5]"]
        self.add(self.pick(*choices)) if choices else self.assign()

    def block(self, size):
        self.depth += 1
        before = dict(self.names)
        for _ in range(size):
            self.statement()
        self.names = {n: k for n, k in self.names.items() if before.get(n) == k}
        self.depth -= 1

    def branch(self):
        self.add(f"if {self.of('bool')}:")
        self.block(self.pick(1, 2))
        if self.rng.random() < 0.4:
            self.add(f"elif {self.of('bool')}:")
            self.block(1)
        if self.rng.random() < 0.6:
            self.add("else:")
            self.block(self.pick(1, 2))

    def loop(self):
        self.loops += 1
        name = f"k{self.loops}"
        if self.rng.random() < 0.3:
            # Its counter is in no other statement, or it might never end.
            self.add(f"{name} = {self.of('int', 1)} % 5")
            self.add(f"while {name} < 6:")
            self.depth += 1
            self.add(f"{name} += 1")
            self.depth -= 1
            name = None
        else:
            self.add(f"for {name} in {self.pick('range(4)', '(' + self.of('list', 1) + ')[:5]', 'range(5, 0, -2)')}:")
        if name:
            self.names[name] = "int"
        self.depth += 1
        if self.rng.random() < 0.3:
            self.add(f"if {self.of('bool', 2)}:")
            self.depth += 1
            self.add(self.pick("break", "continue"))
            self.depth -= 1
        self.depth -= 1
        self.block(self.pick(1, 2))
        if self.rng.random() < 0.2:
            self.add("else:")
            self.block(1)
        self.names.pop(name, None)

    def guarded(self):
        self.add("try:")
        self.block(2)
        self.depth += 1
        self.add(self.pick("[][1]", "{}['no']", "1 // 0", "int('x')", "raise ValueError('v')", "assert False, 'why'", "None.nothing", "pass"))
        self.depth -= 1
        self.add(f"except {self.pick('Exception', '(IndexError, KeyError, ZeroDivisionError, ValueError, AssertionError, AttributeError)', 'LookupError')} as error:")
        self.depth += 1
        self.add("out.append(type(error).__name__)")
        self.depth -= 1
        if self.rng.random() < 0.3:
            self.add("finally:")
            self.depth += 1
            self.add("out.append('finally')")
            self.depth -= 1

    def function(self):
        name = f"g{len(self.functions)}"
        kept = self.names
        self.names = {"p": "int", "q": "int", **{n: k for n, k in kept.items() if k == "int"}}
        body, self.functions = self.of("int", 3), {**self.functions}
        self.names = kept
        self.add(f"def {name}(p, q=2, *rest, **more):")
        self.depth += 1
        self.add(f"return ({body}) % 1021")
        self.depth -= 1
        self.functions[name] = 2

    def statement(self):
        roll = self.rng.random()
        if self.depth < 2 and roll < 0.12:
            self.branch()
        elif self.depth < 2 and roll < 0.24:
            self.loop()
        elif self.depth < 1 and roll < 0.32:
            self.guarded()
        elif self.depth < 1 and roll < 0.38 and len(self.functions) < 3:
            self.function()
        elif roll < 0.65:
            self.change()
        else:
            self.assign()

    def source(self, name):
        """A function without arguments that returns a list."""
        for kind in ("int", "list", "str", "dict", "float"):
            self.add(f"{kind[0]}0 = {self.pick(*CONSTANTS[kind])}")
            self.names[f"{kind[0]}0"] = kind
        for _ in range(8):
            self.statement()
        values = ", ".join(sorted(n for n in self.names)) + ", " + ", ".join(self.of(self.pick(*TYPES)) for _ in range(4))
        self.add(f"out.extend([{values}])")
        body = "\n".join("    " + line for line in self.lines)
        return f"def {name}():\n    out = []\n    try:\n{body}\n    except Exception as error:\n        out.append('raised ' + type(error).__name__)\n    return out\n"
