# SPDX-License-Identifier: Apache-2.0
"""Random functions: chains of pointwise operators before and after the kernels of random_kernels.py.

Operands are numbers, scalars, row and column vectors, reductions and tensors of every type; some values are used twice
or returned as well; kernels follow kernels.
"""
import random

FLOATS = ["f32", "f32", "f32", "bf16", "f16", "f64"]
TORCH = {"f32": "torch.float32", "bf16": "torch.bfloat16", "f16": "torch.float16", "f64": "torch.float64",
         "i8": "torch.int8", "i16": "torch.int16", "i32": "torch.int32", "i64": "torch.int64", "bool": "torch.bool"}
SHAPES = [["n"], ["m", "37"], ["m", "c"], ["m", "1"], ["2", "m", "19"], ["m", "64"], ["45"], ["m", "48"]]
RANGES = {"n": ":0..3000", "m": ":0..64", "c": ":1..64"}
UNARY = ["torch.relu({})", "torch.sigmoid({})", "torch.tanh({})", "torch.abs({})", "-{}", "torch.exp(-torch.abs({}))",
         "torch.nn.functional.gelu({})", "torch.nn.functional.gelu({}, approximate='tanh')",
         "torch.nn.functional.silu({})", "torch.sqrt(torch.abs({}))", "torch.floor({})",
         "torch.rsqrt(torch.abs({}) + 1)", "({}) ** 2", "torch.log1p(torch.abs({}))"]
SAME_TYPE = ["scale", "twice", "reverse", "persistent", "even", "head", "read_back", "accumulate"]
ANY_SHAPE = SAME_TYPE + ["silu", "silu_op", "add", "add_same", "add_inner", "in_place", "two", "negate", "flattened", "tail",
                         "other_out"]
ROWS = ["strided", "strided", "block", "softmax", "softmax", "other_sum", "other_sum", "rms", "rms", "centered", "transposed",
        "every_second"]
NUMBERS = ("int", "float")


def kind(dtype):
    return "bool" if dtype == "bool" else "f" if dtype[0] == "f" or dtype == "bf16" else "i"


class Value:
    """A piece of source text. `sort`: full, or how it broadcasts."""

    def __init__(self, text, dtype, sort="full"):
        self.text, self.dtype, self.sort = text, dtype, sort


class Model:
    def __init__(self, seed, outputs):
        self.rng = random.Random(seed)
        self.inputs, self.lines, self.results = [], [], []
        self.broadcasts = []
        self.shape = self.rng.choice(SHAPES)
        self.pool = [self.input(self.rng.choice(FLOATS + ["i32", "i64", "bool"]), self.shape)
                     for _ in range(self.rng.randint(2, 4))]
        self.pool.append(self.input("f32", self.shape))
        while len(self.results) < outputs:
            self.graph()

    def source(self, name):
        body = "".join(f"    {line}\n" for line in self.lines)
        results = ", ".join(value.text for value in self.results)
        return f"def {name}({', '.join(text for text, _, _ in self.inputs)}):\n{body}    return {results},\n"

    def input_texts(self):
        """For --input; each dynamic dim has its range where it first stands."""
        seen, out = set(), []
        for name, dtype, dims in self.inputs:
            words = [d if d.isdigit() or d in seen or seen.add(d) else d + RANGES[d] for d in dims]
            out.append(f"{name}={dtype}[{','.join(words)}]")
        return out

    # --- values

    def input(self, dtype, dims, sort="full"):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, dtype, list(dims)))
        return Value(name, dtype, sort)

    def fresh(self, text, dtype):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return Value(name, dtype)

    def real(self):
        return self.rng.choice([value for value in self.pool if kind(value.dtype) == "f"])

    def operand(self, like):
        """Something that broadcasts to the shape, or has it."""
        sort = self.rng.choice(["number", "number", "integer", "scalar", "one", "row", "row", "row1", "column", "full",
                                "reduced"])
        if sort == "number":
            return Value(repr(self.rng.choice([0.5, -1.25, 2.0, 0.0, 3.0, 1.0, 0.1])), "float")
        if sort == "integer":
            return Value(repr(self.rng.choice([1, 2, -3, 7])), "int")
        if sort == "full":
            return self.rng.choice(self.pool)
        if sort == "reduced":
            source = self.real()
            return Value(f"{source.text}.amax(dim=-1, keepdim=True)", source.dtype, sort)
        known = [value for value in self.broadcasts if value.sort == sort]
        if known and self.rng.random() < 0.5:
            return self.rng.choice(known)
        dims = {"scalar": [], "one": ["1"], "row": self.shape[-1:], "column": self.shape[:-1] + ["1"],
                "row1": ["1"] * (len(self.shape) - 1) + self.shape[-1:]}[sort]
        self.broadcasts.append(self.input(self.rng.choice(FLOATS if kind(like) == "f" else ["i32", "i64"]), dims, sort))
        return self.broadcasts[-1]

    @staticmethod
    def promoted(a, b):
        """The type of an operation between them, by ATen's rules."""
        rank = {"bool": 0, "i": 1, "f": 2}
        if b.dtype in NUMBERS:
            if kind(a.dtype) == "f" or (b.dtype == "int" and a.dtype != "bool"):
                return a.dtype
            return "f32" if b.dtype == "float" else "i64"
        if b.sort == "scalar" and a.sort != "scalar" and rank[kind(a.dtype)] >= rank[kind(b.dtype)]:
            return a.dtype
        if kind(a.dtype) != kind(b.dtype):
            return max(a.dtype, b.dtype, key=lambda dtype: rank[kind(dtype)])
        if kind(a.dtype) == "i":
            return max(a.dtype, b.dtype, key=lambda dtype: int(dtype[1:]))
        if {a.dtype, b.dtype} == {"f16", "bf16"}:
            return "f32"
        return max(a.dtype, b.dtype, key=["bool", "f16", "bf16", "f32", "f64"].index)

    # --- pointwise operators

    def chain(self, value, most):
        for _ in range(self.rng.randint(0, most)):
            value = {"bool": self.step_of_truth, "i": self.step_of_integers, "f": self.step_of_reals}[kind(value.dtype)](value)
        return value

    def step_of_truth(self, v):
        step = self.rng.choice(["not", "cast", "where", "and"])
        if step == "not":
            return self.fresh(f"~{v.text}", "bool")
        if step == "cast":
            return self.cast(v, FLOATS + ["i32"])
        if step == "and":
            return self.fresh(f"{v.text} {self.rng.choice('&|^')} ({self.rng.choice(self.pool).text} > 0)", "bool")
        other = self.real()
        return self.fresh(f"torch.where({v.text}, {other.text}, {self.rng.choice([0.0, -1.0])})", other.dtype)

    def step_of_integers(self, v):
        step = self.rng.choice(["arithmetic", "arithmetic", "cast", "compare", "bits", "floor", "divide", "abs"])
        if step == "arithmetic":
            other = self.operand("i32")
            other = Value("3", "int") if other.dtype == "float" else other
            return self.fresh(f"{v.text} {self.rng.choice('+-*')} {other.text}", self.promoted(v, other))
        if step == "cast":
            return self.cast(v, FLOATS + ["i8", "i16", "i32", "i64"])
        if step == "compare":
            return self.fresh(f"{v.text} {self.rng.choice(['>', '<=', '==', '!='])} {self.rng.choice([0, 1, 3])}", "bool")
        if step == "bits":
            return self.fresh(f"({v.text} {self.rng.choice('&|^')} {self.rng.choice([1, 7, 12])})", v.dtype)
        if step == "floor":
            return self.fresh(f"{v.text} {self.rng.choice(['//', '%'])} {self.rng.choice([2, 3, -3, 7])}", v.dtype)
        if step == "divide":
            return self.fresh(f"{v.text} / {self.rng.choice([2, 3, 8])}", "f32")
        return self.fresh(f"torch.abs({v.text})", v.dtype)

    def step_of_reals(self, v):
        step = self.rng.choice(["arithmetic"] * 6 + ["unary"] * 4 + ["cast"] * 2 +
                               ["where", "where", "compare", "clamp", "extremum", "divide"])
        if step == "unary":
            return self.fresh(self.rng.choice(UNARY).format(v.text), v.dtype)
        if step == "cast":
            return self.cast(v, FLOATS)
        if step == "clamp":
            return self.fresh(f"{v.text}.clamp({self.rng.choice([-4.0, -0.5])}, {self.rng.choice([0.5, 6.0])})", v.dtype)
        other = self.operand(v.dtype)
        if step == "compare":
            return self.fresh(f"{v.text} {self.rng.choice(['>', '<=', '=='])} {other.text}", "bool")
        if step == "where":
            value, order = self.real(), self.rng.choice(['>', '<', '>=', '!='])
            return self.fresh(f"torch.where({v.text} {order} {other.text}, {v.text}, {value.text})", self.promoted(v, value))
        if step == "extremum":
            other = self.real() if other.dtype in NUMBERS else other
            return self.fresh(f"torch.{self.rng.choice(['maximum', 'minimum'])}({v.text}, {other.text})",
                              self.promoted(v, other))
        sign = "/" if step == "divide" else self.rng.choice("+-*")
        left, right = self.rng.choice([(v.text, other.text)] * 4 + [(other.text, v.text)])
        return self.fresh(f"{left} {sign} {right}", self.promoted(v, other))

    def cast(self, v, types):
        to = self.rng.choice(types)
        return self.fresh(f"{v.text}.to({TORCH[to]})", to)

    # --- kernels

    def graph(self):
        """One or two kernels with what stands around them; now and then a value between is a result as well."""
        self.broadcasts = []
        before = self.chain(self.rng.choice(self.pool), 4)
        between = self.kernel(before)
        after = self.chain(between, 4)
        self.results += [value for value in (before, between) if self.rng.random() < 0.15]
        if self.rng.random() < 0.3:
            after = self.chain(self.kernel(after), 3)
        self.results.append(after)

    def kernel(self, v):
        name = self.rng.choice(ANY_SHAPE + (ROWS if len(self.shape) == 2 else []))
        if name == "negate":
            v = v if v.dtype == "bool" else self.fresh(f"{v.text} > 0", "bool")
        elif kind(v.dtype) != "f" and (v.dtype == "bool" or name not in SAME_TYPE + ["add", "strided", "block"]):
            v = self.cast(v, FLOATS)
        special = getattr(self, "kernel_" + name, None)
        return special(v) if special else self.fresh(f"{name}({v.text})", v.dtype)

    def kernel_add(self, v):
        other = self.chain(self.rng.choice(self.pool), 2)
        other = self.fresh(f"{other.text}.to({TORCH[v.dtype]})", v.dtype)
        return self.fresh(f"add({v.text}, {other.text})", v.dtype)

    def kernel_add_same(self, v):
        return self.fresh(f"add({v.text}, {v.text})", v.dtype)

    def kernel_add_inner(self, v):
        one = self.fresh(f"{v.text} * 1", v.dtype)
        return self.fresh(f"add({one.text}, {self.fresh(f'{one.text} + 1', v.dtype).text})", v.dtype)

    def kernel_in_place(self, v):
        return self.fresh(f"in_place({self.fresh(f'{v.text} + 1', v.dtype).text})", v.dtype)

    def kernel_two(self, v):
        both = self.fresh(f"two({v.text})", v.dtype)
        if self.rng.random() < 0.6:
            self.results.append(Value(f"{both.text}[0]", v.dtype))
        return self.fresh(f"{both.text}[1]", v.dtype)

    def kernel_flattened(self, v):
        flat = self.fresh(f"scale({v.text}.view(-1))", v.dtype)
        return self.fresh(f"{flat.text}.view({self.pool[0].text}.shape)", v.dtype)

    def kernel_tail(self, v):
        tail = self.fresh(f"scale(({v.text}).view(-1)[1:])", v.dtype)
        self.results.append(Value(tail.text + self.rng.choice(["", " * 2"]), v.dtype))
        return v

    def kernel_other_out(self, v):
        to = self.rng.choice(FLOATS)
        return self.fresh(f"flat(scale_kernel, {v.text}, out=torch.empty({v.text}.shape, dtype={TORCH[to]}))", to)

    def kernel_transposed(self, v):
        return self.fresh(f"{self.fresh(f'strided({v.text}.t())', v.dtype).text}.t()", v.dtype)

    def kernel_every_second(self, v):
        part = self.fresh(f"strided({v.text}[:, ::2])", v.dtype)
        self.results.append(Value(part.text + self.rng.choice(["", " + 1"]), v.dtype))
        return v

    def kernel_other_sum(self, v):
        return self.fresh(f"other_sum({v.text}, {self.rng.choice(['0.0', '1.0', '0.5', '-1.0'])})", v.dtype)

    def kernel_rms(self, v):
        weight = self.input(self.rng.choice(FLOATS), self.shape[-1:], "row")
        return self.fresh(f"rms({v.text}, {weight.text}{self.rng.choice(['', '', ' + 1', ' * 0.5'])})", v.dtype)
