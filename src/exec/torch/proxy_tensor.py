# SPDX-License-Identifier: Apache-2.0
import _programs
from torch._dynamo.exc import Unsupported


def make_fx(f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *, pre_dispatch=False, record_module_stack=False):
    if decomposition_table or pre_dispatch or record_module_stack:
        raise NotImplementedError("make_fx: decomposition_table, pre_dispatch and record_module_stack are not supported")
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"Unexpected tracing_mode {tracing_mode!r}")

    def traced(*args):
        from torch.export import GraphModule

        rows = []
        for tensor in _programs.tensors(list(args)):
            sizes = list(tensor.shape)
            rows.append([(f"s{len(rows)}_{d}", 2, 9223372036854775807) if tracing_mode == "symbolic" and size > 1 else None for d, size in enumerate(sizes)])
        return GraphModule(_programs.trace(f, list(args), {}, rows, False, Unsupported))

    return traced
