# SPDX-License-Identifier: Apache-2.0
# What asks whether a name is there, and names without a value: hasattr, getattr with a default, methods without a tensor, numbers of types.
import importlib.machinery

import getpass, shlex, sqlite3  # noqa: E401,F401  of Python, whatever of them can be used
import torch
import triton.language as tl


def there(label, holder, *names):
    print(label, {name: hasattr(holder, name) for name in names}, getattr(holder, "nothing_of_that_name", "default"))


there("tl", tl, "dot", "make_tensor_descriptor", "_experimental_make_tensor_descriptor", "async_task", "float8e4nv", "gather", "map_elementwise", "no_such", "core", "extra")
there("tl.math", tl.math, "exp", "tanh", "fast_expf", "rsqrt", "umulhi")
there("tl.core", tl.core, "get_int_dtype", "no_such")
there("tl.extra.cuda", tl.extra.cuda, "gdc_wait", "globaltimer", "no_such")
print(hasattr(torch.nn.attention, "no_such"))
x = torch.tensor([1.0, -2.0])
there("tensor", x, "add", "add_", "sum", "sum_", "no_such_", "relu_", "matmul_", "no_such")
there("Tensor", torch.Tensor, "add", "add_", "sum", "sum_", "no_such_", "relu_", "no_such")
print(torch.Tensor.add(x, x), torch.Tensor.sum(x), torch.Tensor.relu_(x.clone()), list(map(torch.Tensor.item, x)))
try:
    torch.Tensor.add()
except TypeError as error:
    print(type(error).__name__)
for name in "float64 float32 bfloat16 float16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz int8 bool".split():
    try:
        f = torch.finfo(getattr(torch, name))
        print(f, f.bits, f.resolution, f.smallest_normal, f.tiny, f.eps, f.max, f.min, f.dtype)
    except TypeError as error:
        print(name, error)
for name in "int8 uint8 int64 uint16 bool float32".split():
    try:
        print(torch.iinfo(getattr(torch, name)))
    except TypeError as error:
        print(name, error)
try:
    torch.ops.load_library("/no/such/library.so")
except OSError as error:
    print("OSError", "/no/such/library.so" in str(error))
print([str(tl.core.get_int_dtype(bits, signed)) for bits, signed in ((1, True), (8, False), (32, True), (64, False))])
try:
    tl.core.get_int_dtype(7, True)
except ValueError as error:
    print(error)
finder = importlib.machinery.FileFinder("/no/such/folder", (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES))
print(finder.find_spec("_C"))
for f in (torch.nn.functional.selu, torch.nn.functional.celu, torch.nn.functional.leaky_relu, torch.nn.functional.silu):
    y = torch.tensor([-2.0, 3.0])
    print(f(y, inplace=True) is y, y, f(torch.tensor([-2.0, 3.0])))
