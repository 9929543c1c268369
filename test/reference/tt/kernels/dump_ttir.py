# SPDX-License-Identifier: Apache-2.0
"""Writes the TTIR of every kernel in kernels.py beside it, as Triton makes it. Needs no GPU.

Twice per kernel: NAME.ttir after Triton's own TTIR passes, raw/NAME.ttir as its front end emits it.
"""
import pathlib

import kernels
import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

HERE = pathlib.Path(__file__).parent


def dump(kernel, parameters):
    constants = {k: v for k, v in parameters.items() if not isinstance(v, str)}
    signature = {k: v if isinstance(v, str) else "constexpr" for k, v in parameters.items()}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({"debug": True, "sanitize_overflow": False})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                            backend.get_module_map(), context)

    def write(name):
        # Places are written relative to this folder and to Triton's own.
        text = module.str().replace(f"{HERE}/", "").replace(f"{pathlib.Path(triton.__file__).parents[1]}/", "")
        (HERE / name).write_text(text)

    (HERE / "raw").mkdir(exist_ok=True)
    write(f"raw/{kernel.__name__}.ttir")
    module = backend.make_ttir(module, {}, options, 90)
    write(f"{kernel.__name__}.ttir")


for kernel, parameters in kernels.SIGNATURES.items():
    dump(kernel, parameters)
