# SPDX-License-Identifier: Apache-2.0
"""What torch.compile and torch.export promise; every line that fails says so."""
import json
import os
import tempfile

import torch
import torch._dynamo
import triton
import triton.language as tl
from torch.export import Dim, export

calls = []


def close(a, b):
    return torch.allclose(a, b, rtol=1e-5, atol=1e-6)


@triton.jit
def scale_kernel(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
        self.factor = 2.0

    def forward(self, x, extra=None):
        calls.append(1)
        h = torch.relu(self.linear(x))
        out = torch.empty_like(h)
        n = h.numel()
        scale_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](h, out, n, self.factor, BLOCK=32)
        return {"out": out, "parts": (h, extra)}


torch.manual_seed(1)
net = Net().eval()
with torch.no_grad():
    # Lists that the function writes to are an effect: it runs every time.
    compiled = torch.compile(net, fullgraph=True)
    x = torch.randn(3, 8)
    for _ in range(3):
        compiled(x)
    print("calls", len(calls) >= 3)

    Net.forward_counted = Net.forward
    traces = [0]

    @torch.compile
    def f(x, scale=2, *, shift=None):
        y = x * scale
        return y if shift is None else y + shift

    for rows in (4, 5, 6, 9):
        a = torch.randn(rows, 3)
        print(rows, close(f(a), a * 2), close(f(a, 3), a * 3), close(f(a, scale=4, shift=a), a * 5))
    b = torch.arange(6).reshape(2, 3)
    print(f(b).dtype, f(b).tolist(), f(torch.ones(2, 2, 2)).shape)

    # A value of the surroundings.
    factor = 10

    @torch.compile(fullgraph=True)
    def g(x):
        return x * factor

    one = torch.ones(3)
    print(g(one).tolist())
    factor = 20
    print(g(one).tolist())

    # Weights that change.
    layer = torch.nn.Linear(3, 2, bias=False)
    fast = torch.compile(layer)
    before = fast(one).clone()
    layer.weight.mul_(2)
    print("weights", close(fast(one), before * 2), close(fast(one), layer(one)))

    # Writes to an argument.
    @torch.compile
    def add_to(x, y):
        x.add_(y)
        return x.sum()

    target = torch.zeros(4)
    for _ in range(2):
        total = add_to(target, torch.ones(4))
    print(target.tolist(), total.item())

    # What prints runs each time.
    @torch.compile
    def talks(x):
        print("talking", x.shape[0])
        return x + 1

    talks(one), talks(one)
    try:
        torch.compile(lambda x: x + 1 if x.sum() > 0 else x, fullgraph=True)(one)
        print("no error")
    except torch._dynamo.exc.Unsupported:
        print("unsupported")
    print(torch.compile(lambda x: x + 1 if x.sum() > 0 else x)(one).tolist())
    for wrong in (dict(mode="fastest"), dict(backend="nothing")):
        try:
            torch.compile(f, **wrong)
        except RuntimeError as error:
            print(type(error).__name__)
    torch._dynamo.reset()
    print(close(f(one), one * 2))


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.register_buffer("offset", torch.arange(8.0))

    def forward(self, x, y):
        return {"sum": self.linear(x) + self.offset, "both": [x * y]}


model = Plain().eval()
x, y = torch.randn(4, 8), torch.randn(4, 8)
with torch.no_grad():
    expected = model(x, y)
    rows = Dim("rows", min=1, max=64)
    for shapes in ({"x": {0: rows}, "y": {0: rows}}, ({0: rows}, {0: rows}), [(rows, None), (rows, None)], {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO}}, None):
        program = export(model, (x, y), dynamic_shapes=shapes)
        result = program.module()(x, y)
        print(sorted(result), close(result["sum"], expected["sum"]), close(result["both"][0], expected["both"][0]))
    program = export(model, (x,), {"y": y}, dynamic_shapes={"x": {0: rows}, "y": {0: rows}}, strict=True)
    program.graph.print_tabular()
    print(program.graph_signature.parameters, program.graph_signature.buffers, program.graph_signature.user_inputs, program.range_constraints)
    for wrong in ({"x": {0: rows}}, {"x": {0: rows}, "y": {9: rows}}, {"x": {0: Dim("few", max=3)}, "y": None}, ({0: rows},), {"x": {0: 5}, "y": None}):
        try:
            export(model, (x, y), dynamic_shapes=wrong)
            print("no error")
        except torch._dynamo.exc.UserError as error:
            print("refused:", type(error).__name__)
    with tempfile.TemporaryDirectory() as folder:
        path = torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(folder, "m.pt2"))
        loaded = torch._inductor.aoti_load_package(path)
        for rows in (1, 4, 64):
            a, b = torch.randn(rows, 8), torch.randn(rows, 8)
            got, want = loaded(a, b), model(a, b)
            print(rows, sorted(got), type(got["both"]).__name__, close(got["sum"], want["sum"]), close(got["both"][0], want["both"][0]))
        try:
            loaded(torch.randn(65, 8), torch.randn(65, 8))
        except RuntimeError:
            print("out of range")
        torch.export.save(program, os.path.join(folder, "saved.pt2"))
        print("saved", os.path.getsize(os.path.join(folder, "saved.pt2")) > 1000)

        fast = torch.compile(model)
        fast(x, y)
        ready = []
        with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=lambda p: ready.append(p.step_num)) as prof:
            for step in range(6):
                with torch.profiler.record_function("turn"):
                    fast(x, y)
                prof.step()
        print("ready", ready)
        prof.export_chrome_trace(os.path.join(folder, "trace.json"))
        with open(os.path.join(folder, "trace.json")) as file:
            events = json.load(file)["traceEvents"]
        names = [event["name"] for event in events if event["ph"] == "X"]
        print("turns", names.count("turn"), "steps", sum(name.startswith("ProfilerStep") for name in names), "regions", sum(name.startswith("Torch-Compiled") for name in names), "kernels", any(event.get("cat") == "kernel" for event in events))
        print("turn" in prof.key_averages().table(sort_by="cpu_time_total", row_limit=5))

try:
    torch.testing.assert_close(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.5, 3.0]))
except AssertionError as error:
    print(str(error).splitlines()[0], "|", str(error).splitlines()[2])
torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-7)


@triton.testing.perf_report(triton.testing.Benchmark(x_names=["N"], x_vals=[128, 256], line_arg="provider", line_vals=["a", "b"], line_names=["First", "Second"], plot_name="speed", args={"M": 3}, ylabel="GB/s"))
def bench(N, M, provider):
    assert triton.testing.do_bench(lambda: torch.ones(4) + 1, warmup=1, rep=1) > 0
    return {"a": 1.5, "b": 2.25}[provider] * N


bench.run(print_data=True)
