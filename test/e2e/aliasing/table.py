# SPDX-License-Identifier: Apache-2.0
"""Every operator that gives a view or a copy, over every layout, with every kind of write, in both directions."""

# Of a tensor `t` of two dims, both larger than 1.
OPERATORS = {
    "reshape_flat": "t.reshape(-1)",
    "reshape_same": "t.reshape(t.shape)",
    "reshape_other": "torch.reshape(t, (t.shape[1], t.shape[0]))",
    "reshape_as": "t.reshape_as(torch.zeros(t.shape[1], t.shape[0]))",
    "flatten": "t.flatten()",
    "flatten_one": "torch.flatten(t, 1)",
    "ravel": "t.ravel()",
    "contiguous": "t.contiguous()",
    "contiguous_of_transposed": "t.t().contiguous()",
    "view": "t.view(-1)",
    "view_split": "t.view(t.shape[0], 2, -1)",
    "view_as": "t.view_as(torch.zeros(t.shape))",
    "view_bits": "t.view(torch.int32).view(torch.float32)",
    "view_bits_part": "t.view(torch.int32)[1:, ::2].view(dtype=torch.float32)",
    "unflatten": "t.unflatten(1, (2, -1))",
    "type_as": "t.type_as(torch.zeros(1))",
    "to_type": "t.to(torch.float32)",
    "to_keyword": "t.to(dtype=torch.float32)",
    "to_tensor": "t.to(torch.zeros(1))",
    "to_device": "t.to('cpu')",
    "to_copy": "t.to(torch.float32, copy=True)",
    "float": "t.float()",
    "int": "t.int()",
    "cpu": "t.cpu()",
    "expand": "t.expand(2, *t.shape)[1]",
    "expand_as": "t.expand_as(torch.zeros(t.shape))",
    "broadcast_to": "torch.broadcast_to(t, t.shape)",
    "squeeze": "t.unsqueeze(0).squeeze()",
    "squeeze_dim": "torch.squeeze(t.unsqueeze(1), 1)",
    "unsqueeze": "t.unsqueeze(1)",
    "transpose": "t.transpose(0, 1)",
    "t": "t.t()",
    "T": "t.T",
    "mT": "t.mT",
    "H": "t.H",
    "adjoint": "t.adjoint()",
    "permute": "t.permute(1, 0)",
    "swapaxes": "t.swapaxes(0, 1)",
    "swapdims": "torch.swapdims(t, 0, 1)",
    "movedim": "t.movedim(0, 1)",
    "moveaxis": "torch.moveaxis(t, 0, 1)",
    "unbind": "t.unbind()[1]",
    "chunk": "t.chunk(2, 1)[1]",
    "split": "t.split(2, 1)[1]",
    "split_sizes": "torch.split(t, [1, t.shape[1] - 1], 1)[1]",
    "tensor_split": "t.tensor_split(2, 1)[0]",
    "narrow": "t.narrow(1, 1, 2)",
    "select": "t.select(1, 1)",
    "slice": "t[:, 1:3]",
    "step": "t[:, ::2]",
    "item": "t[1]",
    "ellipsis": "t[...]",
    "new_axis": "t[None]",
    "diagonal": "t.diagonal()",
    "diagonal_offset": "torch.diagonal(t, 1)",
    "unfold": "t.unfold(1, 2, 2)",
    "as_strided": "t.as_strided((2, 2), (2, 1))",
    "atleast_2d": "torch.atleast_2d(t)",
    "atleast_3d": "torch.atleast_3d(t)",
    "real": "t.real",
    "data": "t.data",
    "detach": "t.detach()",
    "alias": "torch.ops.aten.alias.default(t)",
    "positive": "torch.positive(t)",
    "plus": "+t",
    "einsum": "torch.einsum('ij->ji', t)",
    "dropout": "torch.nn.functional.dropout(t, 0.5, training=False)",
    "identity": "torch.nn.Identity()(t)",
    # Copies, whatever the layout.
    "clone": "t.clone()",
    "clone_reshape": "t.clone().reshape(-1)",
    "times_one": "(t * 1).contiguous()",
    "times_one_flat": "(t * 1).reshape(-1)",
    "add_layouts": "(t + torch.zeros(t.shape)).reshape(-1)",
    "zeros_like": "torch.zeros_like(t).reshape(-1)",
    "flip": "t.flip([])",
    "flip_dim": "t.flip(0)",
    "repeat_interleave": "t.repeat_interleave(1, 0)",
    "repeat": "t.repeat(1, 1)",
    "cat": "torch.cat([t])",
    "pad": "torch.nn.functional.pad(t, (0, 0))",
    "roll": "t.roll(0, 0)",
    "indices": "t[[0, 1]]",
    "where": "torch.where(t == t, t, t)",
    "tril": "t.tril(9)",
}

# How `t` comes from the input `x`; `b` is the memory behind it.
LAYOUTS = {
    "dense": ([4, 6], ["b = x * 1", "t = b"]),
    "transposed": ([6, 4], ["b = x * 1", "t = b.t()"]),
    "sliced": ([4, 8], ["b = x * 1", "t = b[:, 1:7]"]),
    "expanded": ([1, 6], ["b = x * 1", "t = b.expand(4, 6)"]),
    "input": ([4, 6], ["b = x", "t = x"]),
}

WRITES = {
    "in_place": "v.add_(1)",
    "item": "v[0] = 9",
    "kernel": "fill_kernel[(1,)](v, 2, 5, BLOCK=8)",
    "base": "b.add_(100)",
}


def rows():
    """Name and program of each."""
    for operator, expression in OPERATORS.items():
        for layout, (sizes, lines) in LAYOUTS.items():
            for write, line in WRITES.items():
                body = lines + [f"v = {expression}", line, "seen = b.clone()", "b.mul_(2)"]
                yield f"{operator} {layout} {write}", {"inputs": {"x": sizes}, "body": body, "results": ["seen", "v"]}
