#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts draw on a CUDA device is what PyTorch draws there: the sums of bits that PyTorch printed on a GPU (`recorded.txt`), and a simulation of
its kernels, thread by thread, from Philox's definition. The operators are `pellucid.cuda_uniform`, `cuda_normal`, `cuda_exponential` and `cuda_randint`.

    device_draws_test.py PROGRAM
    device_draws_test.py --record python3 > recorded.txt      on a machine with a GPU; of that what any device draws alike, up to 30000 elements
"""
import ast
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
THREADS = 108 * 2048  # of the device that the CPU stands for


def philox(seed, turn, thread):
    c, k = [turn & 0xFFFFFFFF, turn >> 32, thread, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class Device:
    """A generator, and kernels that are loops over threads, or some of them: then other elements are None."""

    def __init__(self, seed, step=1):
        self.seed, self.offset, self.step = seed, 0, step

    def launch(self, count, width, vector=1):
        """For each element the numbers of its draw and which one is its own. A thread begins at its number and goes on by all threads."""
        blocks = min(-(-count // 256), THREADS // 256)
        threads, out = blocks * 256, [None] * count
        for thread in range(0, min(threads, count), self.step):
            turn, first = 0, thread * vector
            while first < count:
                if vector == 1:
                    words = philox(self.seed, self.offset // 4 + turn, thread)
                    turn += 1
                    for number in range(width):
                        if first + threads * number < count:
                            out[first + threads * number] = words, number
                    first += threads * width
                else:
                    for number in range(vector):
                        if number % 4 == 0:
                            words = philox(self.seed, self.offset // 4 + turn, thread)
                            turn += 1
                        out[first + number] = words, number % 4
                    first += threads * vector
        self.offset += ((count - 1) // (threads * width) + 1) * 4
        return out

    def each(self, drawn, number):
        return [d and number(*d) for d in drawn]

    def uniform(self, count):
        return self.each(self.launch(count, 4), lambda w, i: single(single(w[i]) * 2.0**-32 + 2.0**-33))

    def rand(self, count):
        return [0.0 if x == 1 else x for x in self.uniform(count)]

    def rand64(self, count):
        return self.each(self.launch(count, 2), lambda w, i: ((w[2 * i] ^ w[2 * i + 1] << 21) * 2.0**-53 + 2.0**-54) % 1.0)

    def randint(self, count, low, high):
        if high - low >= 1 << 28:
            return self.each(self.launch(count, 2), lambda w, i: low + (w[2 * i] << 32 | w[2 * i + 1]) % (high - low))
        return self.each(self.launch(count, 4), lambda w, i: low + w[i] % (high - low))

    def dropout(self, count, p, bytes):
        vector = 16 // bytes
        while count % vector:
            vector //= 2
        kept = self.each(self.launch(count, 4, vector), lambda w, i: single(single(w[i]) * 2.0**-32 + 2.0**-33) < single(1 - p))
        return [single(1 / single(1 - p)) if k else None if k is None else 0.0 for k in kept]

    def normal(self, count):
        def one(w, i):
            u, v = w[i // 2 * 2] * 2.0**-32 + 2.0**-33, (w[i // 2 * 2 + 1] * 2.0**-32 + 2.0**-33) * 2 * math.pi
            return math.sqrt(-2 * math.log(u)) * (math.cos(v) if i % 2 else math.sin(v))

        return self.each(self.launch(count, 4), one)

    def permutation(self, n):
        if self.step > 1:
            self.launch(n, 2)
            self.offset += -(-n // 4) * 4
            return [None] * n
        bits = min(64, math.ceil(math.log2(n - (6.0 * n * n + 1) / (math.log(0.9) * 12))))
        wide = bits > 32
        span, least = (2**64 - 1, -(2**63)) if wide else (2**32 - 1, -(2**31))
        keys = [((w[2 * i] << 32 | w[2 * i + 1]) % span + least) % 2**bits for w, i in self.launch(n, 2)]
        order = sorted(range(n), key=lambda i: (keys[i] + 2 ** (bits - 1)) % 2**bits if bits in (32, 64) else keys[i])
        first = 0
        while first < n:
            last = first
            while last + 1 < n and keys[order[last + 1]] == keys[order[first]]:
                last += 1
            for taken, i in enumerate(range(last - first, 0, -1)):
                r = philox(self.seed, self.offset // 4 + taken // 4, first)[taken % 4] % (i + 1)
                order[first + i], order[first + r] = order[first + r], order[first + i]
            first = last + 1
        self.offset += -(-n // 4) * 4
        return order


def run(program, source):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(source)
        file.flush()
        done = subprocess.run([program, "exec", "--device", "cuda=cpu", file.name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [ast.literal_eval(line) for line in done.stdout.splitlines()]


def differing(ours, theirs, bound):
    """Where ours are not the others to within `bound`; None is any number."""
    return [i for i, (a, b) in enumerate(zip(ours, theirs)) if b is not None and not (a == b or (a != a and b != b) or abs(a - b) <= bound * (1 + abs(b)) < math.inf)]


def check_thread_by_thread(program):
    for seed, count in ((0, 1), (5, 300), (2**64 - 3, 4098), (77, 5000), (3, 221185 + 7)):
        got = run(
            program,
            f"""
import torch
import torch.nn.functional as F
torch.manual_seed({seed})
n, d = {count}, "cuda"
for x in (torch.rand(n, device=d), torch.randn(n, device=d), torch.randint(3, 50, (n,), device=d), torch.randint(-(2**50), 2**50, (n,), device=d),
          torch.rand(n, device=d, dtype=torch.float64), F.dropout(torch.ones(n, device=d), 0.3), F.dropout(torch.ones(n, device=d, dtype=torch.bfloat16), 0.5),
          torch.randperm(n, device=d), torch.rand(n // 2 + 1, device=d)):
    print(x.tolist())
""",
        )
        step = max(1, count // 5000)
        device = Device(seed, step)
        want = [
            device.rand(count),
            device.normal(count),
            device.randint(count, 3, 50),
            device.randint(count, -(2**50), 2**50),
            device.rand64(count),
            device.dropout(count, 0.3, 4),
            device.dropout(count, 0.5, 2),
            device.permutation(count),
            device.rand(count // 2 + 1),
        ]
        for place, (ours, theirs) in enumerate(zip(got, want)):
            assert len(ours) == len(theirs)
            wrong = differing(ours, theirs, 4e-6 if place == 1 else 0)
            assert not wrong, (seed, count, place, wrong[:5], [ours[i] for i in wrong[:5]], [theirs[i] for i in wrong[:5]])


def check_errors(program):
    got = run(
        program,
        """
import torch
texts = []
for call in (lambda: torch.rand(3, device="cuda", generator=torch.Generator()), lambda: torch.rand(3, generator=torch.Generator(device="cuda")),
             lambda: torch.rand(3, device="cuda").uniform_(2, 1), lambda: torch.Generator().get_offset()):
    try:
        call()
    except RuntimeError as error:
        texts.append(str(error).splitlines()[0])
print(texts)
print([str(torch.Generator(device="cuda").device), torch.Generator(device="cuda").manual_seed(3).initial_seed()])
""",
    )
    assert got[0][:2] == ["Expected a 'cuda' device type for generator but found 'cpu'", "Expected a 'cpu' device type for generator but found 'cuda'"], got
    assert len(got[0]) == 4 and got[1] == ["cuda:0", 3], got


def check_recorded(program):
    """What PyTorch printed on a GPU; normal numbers hang on the device's sine and are compared there."""
    recorded = HERE / "recorded.txt"
    done = subprocess.run([program, "exec", "--device", "cuda=cpu", HERE / "draws.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    ours, theirs = done.stdout.splitlines(), recorded.read_text().splitlines()
    assert len(ours) > len(theirs) > 100
    for a, b in zip(ours, theirs):
        assert a == b, f"ours:   {a}\nrecorded: {b}"


def main():
    if sys.argv[1] == "--record":
        return sys.exit(subprocess.run([sys.argv[2], HERE / "draws.py"]).returncode)
    check_errors(sys.argv[1])
    check_thread_by_thread(sys.argv[1])
    check_recorded(sys.argv[1])
    print("done")


if __name__ == "__main__":
    main()
