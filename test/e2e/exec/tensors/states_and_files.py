# States of generators as bytes, numpy's files and buffers, torch.special.
import io
import os
import tempfile

import numpy as np
import torch

torch.manual_seed(3)
torch.rand(5)
state = torch.get_rng_state()
print(state.dtype, state.shape, int(state.sum()))
first = (torch.rand(3), torch.randn(5), torch.randint(9, (4,)), torch.randperm(6))
torch.set_rng_state(state)
print(all(torch.equal(a, b) for a, b in zip(first, (torch.rand(3), torch.randn(5), torch.randint(9, (4,)), torch.randperm(6)))), torch.initial_seed())
buffer = io.BytesIO()
torch.save({"rng": state, "step": 4}, buffer)
buffer.seek(0)
torch.manual_seed(9)
torch.set_rng_state(torch.load(buffer)["rng"])
print(torch.equal(torch.rand(3), first[0]), torch.randn(3))
own = torch.Generator().manual_seed(1)
torch.randn(3, generator=own)
kept = own.get_state()
a = torch.randn(3, generator=own)
other = torch.Generator()
other.set_state(kept)
print(torch.equal(a, torch.randn(3, generator=other)), other.initial_seed(), torch.randn(4, generator=own))
with torch.random.fork_rng():
    torch.manual_seed(100)
    torch.rand(3)
print(torch.rand(2))
for wrong in (torch.zeros(3), torch.zeros(3, dtype=torch.uint8), 4):
    try:
        torch.set_rng_state(wrong)
    except Exception as error:
        print(type(error).__name__, str(error)[:60] if isinstance(wrong, torch.Tensor) else "")

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a")
    for array in (np.arange(6).reshape(2, 3), np.float32(2.5), np.array([], dtype=np.float32), np.array([True, False]), np.arange(6.0).reshape(2, 3).T, np.arange(4, dtype=np.uint8)):
        np.save(path, array)
        back = np.load(path + ".npy")
        print(back.dtype, back.shape, back.tolist(), open(path + ".npy", "rb").read(6))
    np.savez(path, np.ones(2), x=np.zeros((1, 2), dtype=np.int32))
    with np.load(path + ".npz") as file:
        print(sorted(file.files), file["x"].dtype, "x" in file, len(file), file["arr_0"] + 1)
        try:
            file["y"]
        except KeyError as error:
            print(error)
    np.savez_compressed(path, **{"é b": np.arange(3)})
    print(dict(np.load(path + ".npz").items()))
    np.savetxt(path + ".txt", np.array([[1.0, 2.5], [3.0, -4.0]]), fmt="%.2f", delimiter=",", header="a,b")
    print(open(path + ".txt").read(), np.loadtxt(path + ".txt", delimiter=",", skiprows=1), np.loadtxt(path + ".txt", delimiter=",", usecols=1))
    np.arange(3, dtype=np.int16).tofile(path)
    print(np.fromfile(path, dtype=np.int16), os.path.getsize(path))
memory = io.BytesIO()
np.save(memory, np.eye(2))
memory.seek(0)
print(np.load(memory), np.arange(3, dtype=np.int16).tobytes(), np.frombuffer(b"\x00\x00\x80?\x00\x00\x00@", dtype=np.float32))
print(torch.frombuffer(bytearray(b"\x01\x00\x02\x00\x03\x00"), dtype=torch.int16, offset=2), torch.from_numpy(np.array([[1, 2], [3, 4]], order="C")).sum())

x = torch.tensor([0.25, 0.5, 0.75])
for name in "expit logit psi digamma gammaln erf erfc erfcx erfinv exp2 expm1 log1p i0 i0e i1 i1e ndtr ndtri log_ndtr entr sinc round".split():
    print(name, getattr(torch.special, name)(x))
print(torch.special.xlog1py(x, x), torch.special.xlogy(x, x), torch.special.logsumexp(x, 0), torch.special.softmax(x, 0), torch.special.polygamma(1, x), torch.special.zeta(x + 2, x), torch.special.multigammaln(x + 2, 2))


def one():
    yield 1


generator = one()
next(generator)
generator.close()
for over in (generator, iter([])):
    try:
        over.send(1) if over is generator else next(over)
    except StopIteration:
        print("over")
torch.manual_seed(0)
x = torch.randn(1, 2, 5, 6)
for mode in ("circular", "reflect", "replicate", "zeros"):
    for padding in ("same", "valid", 1):
        print(mode, padding, torch.nn.Conv2d(2, 3, (3, 4), padding=padding, padding_mode=mode)(x).shape, torch.nn.Conv1d(2, 2, 4, padding=padding, dilation=1, padding_mode=mode)(x[0, :, 0]).shape)
p = torch.nn.Parameter(torch.ones(2))
print(len(torch.optim.SGD([p, p], lr=0.1).param_groups[0]["params"]))
try:
    torch.nn.ConvTranspose2d(2, 2, 3, padding_mode="circular")
except ValueError as error:
    print(error)
