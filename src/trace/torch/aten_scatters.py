# SPDX-License-Identifier: Apache-2.0
# --- writes at computed places, said with the scatters; part of aten.py's namespace


def _reduction_of(reduce):
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return "sum" if reduce == "add" else "prod"


@_aten("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor")
def _scatter_reduce(self, dim, index, src, reduce):
    return torch.ops.aten.scatter_reduce.two(self, dim, index, src, _reduction_of(reduce))


@_aten("aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor")
def _scatter_value_reduce(self, dim, index, value, reduce):
    return torch.ops.aten.scatter_reduce.two(self, dim, index, torch.full(index.shape, value, dtype=self.dtype), _reduction_of(reduce))


@_aten("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor")
def _index_reduce(self, dim, index, source, reduce, include_self):
    if self.dim() == 0:
        return _index_reduce(self.reshape(1), 0, index, source.reshape(1), reduce, include_self).reshape([])
    dim = F._wrapped(dim, self.dim())
    places = index.reshape([-1 if d == dim else 1 for d in range(self.dim())]).expand(source.shape)
    return torch.ops.aten.scatter_reduce.two(self, dim, places, source, reduce, include_self=include_self)


@_aten("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor")
def _put(self, index, source, accumulate):
    count = self.numel()
    places = index.reshape(-1)
    written = torch.ops.aten.index_put.default(self.reshape(-1), [torch.where(places < 0, places + count, places)], source.reshape(-1), accumulate)
    return written.reshape(self.shape)


@_aten("aten::atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
def _atan2_out(self, other, out):
    out.copy_(torch.atan2(self, other))
    return out
