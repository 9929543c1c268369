# SPDX-License-Identifier: Apache-2.0
"""A whole program: a model with a Triton kernel, compiled, exported, packaged, compared and profiled.

    pellucid exec --device cuda=cpu examples/silu_script.py --rows 32
"""
import argparse
import os
import tempfile

import torch
import triton
import triton.language as tl
from torch.export import Dim, export
from torch.library import triton_op, wrap_triton


@triton.jit
def silu_kernel(in_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(in_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, (x / (1.0 + tl.exp(-x))).to(out_ptr.dtype.element_ty), mask=mask)


@triton_op("examples::silu", mutates_args={})
def silu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    count = x.numel()
    wrap_triton(silu_kernel)[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, out, count, BLOCK=256)
    return out


def raw_silu(x):
    out = torch.empty_like(x)
    count = x.numel()
    silu_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, out, count, BLOCK=256)
    return out


class Model(torch.nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.up(x)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=16, help="rows of the input (default: %(default)s)")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--raw", action="store_true", help="launch the kernel itself instead of a triton_op")
    parser.add_argument("--strict", action="store_true", help="export with strict=True")
    args = parser.parse_args()

    torch.manual_seed(0)
    model = Model(args.width, raw_silu if args.raw else silu).to("cuda", torch.bfloat16).eval()
    x = torch.randn(args.rows, args.width, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        expected = model.down(torch.nn.functional.silu(model.up(x)))
        compiled = torch.compile(model, fullgraph=True)(x)

        program = export(model, (x,), dynamic_shapes={"x": {0: Dim("rows", min=2, max=4096)}}, strict=args.strict)
        program.graph.print_tabular()
        with tempfile.TemporaryDirectory() as folder:
            path = torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(folder, "silu.pt2"))
            packaged = torch._inductor.aoti_load_package(path)(x)

            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
                with torch.profiler.record_function("model"):
                    model(x)
            trace = os.path.join(folder, "trace.json")
            profile.export_chrome_trace(trace)
            print("trace of", "some" if os.path.getsize(trace) > 0 else "no", "bytes")

    for name, result in (("compiled", compiled), ("packaged", packaged)):
        print(name, tuple(result.shape), torch.allclose(result, expected, rtol=2e-2, atol=2e-2))


if __name__ == "__main__":
    main()
