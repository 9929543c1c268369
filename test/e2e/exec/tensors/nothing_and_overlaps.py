# SPDX-License-Identifier: Apache-2.0
"""Of no elements, and memory that a call reads and writes."""
import torch
import torch.nn.functional as F


def show(name, call):
    try:
        results = call()
        for t in results if isinstance(results, tuple) else (results,):
            print(name, t.dtype, tuple(t.shape), t.stride(), t.tolist())
    except (RuntimeError, IndexError, NotImplementedError) as error:
        print(name, type(error).__name__, str(error).split("\n")[0])


for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
    show("median of nothing", lambda: torch.median(torch.zeros(0, dtype=dtype)))
    show("nanmedian of nothing", lambda: torch.nanmedian(torch.zeros((2, 0), dtype=dtype)))
show("median along nothing", lambda: torch.median(torch.zeros(2, 0), 1))
show("nanmedian along nothing", lambda: torch.nanmedian(torch.zeros(2, 0), 1))
show("median along two", lambda: tuple(torch.median(torch.zeros(2, 0), 0)))
show("a line of bools", lambda: torch.linspace(-3e38, 3e38, 5, dtype=torch.bool))
show("a line of bools", lambda: torch.linspace(0, 3, 4, dtype=torch.bool))
show("unshuffle", lambda: F.pixel_unshuffle(torch.zeros(0, 2, 4, 4), 2))
show("unshuffle", lambda: F.pixel_unshuffle(torch.zeros(2, 0, 4, 4), 2))
show("unshuffle", lambda: F.pixel_unshuffle(torch.zeros(2, 1, 4, 4), 2))

edges = torch.tensor([1.0, 3.0])
x = torch.arange(6.0).reshape(2, 3).T
show("bucketize", lambda: torch.bucketize(x, edges))
show("bucketize", lambda: torch.bucketize(x[::2], edges, out_int32=True))
show("bucketize", lambda: torch.bucketize(x.reshape(1, 3, 2).expand(2, 3, 2), edges, right=True))
show("searchsorted", lambda: torch.searchsorted(edges.expand(3, 2).contiguous(), x.contiguous()))
show("strides", lambda: torch.bucketize(torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), edges).sum())


def into(call):
    a = torch.arange(6.0)
    call(a)
    return a


show("cat", lambda: into(lambda a: torch.cat([a[:3], a[3:]], out=a)))
show("cat", lambda: into(lambda a: torch.cat([a], out=a)))
show("cat apart", lambda: into(lambda a: torch.cat([a[:1], a[1:3]], out=a[3:])))
show("stack", lambda: into(lambda a: torch.stack([a[:3], a[3:]], out=a.view(2, 3))))
show("gather", lambda: into(lambda a: torch.gather(a, 0, torch.tensor([2, 1, 0]), out=a[:3])))
show("gather apart", lambda: into(lambda a: torch.gather(a[3:], 0, torch.tensor([2, 1, 0]), out=a[:3])))
show("index_select", lambda: into(lambda a: torch.index_select(a, 0, torch.tensor([2, 1, 0]), out=a[:3])))
show("index_select", lambda: into(lambda a: torch.index_select(a[:3], 0, torch.tensor([2, 1, 0]), out=a[:3])))
show("cumsum", lambda: into(lambda a: torch.cumsum(a[:-1], 0, out=a[1:])))
show("cumsum itself", lambda: into(lambda a: torch.cumsum(a, 0, out=a)))
show("gather one", lambda: torch.gather(torch.arange(4.0), 0, torch.tensor(2)))
show("gather one", lambda: torch.gather(torch.tensor(5.0), 0, torch.tensor(0)))
show("gather one", lambda: torch.gather(torch.tensor(5.0), 0, torch.tensor([0, 0])))
show("cumprod", lambda: into(lambda a: torch.cumprod(a[1:], 0, out=a[:-1])))
