# SPDX-License-Identifier: Apache-2.0
"""Random numbers against Philox 4x32 of Salmon et al. (SC 2011) in numpy."""
import numpy as np

from launch_case import Case

FILE = "random.py"
N = 256


def philox(seed, count):
    """Four rows of uint32: the words of the counters 0 … count-1."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.arange(count, dtype=np.uint64)] + [np.zeros(count, np.uint64)] * 3
    k = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        left, right = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(right >> np.uint64(32)) ^ c[1] ^ k[0], right & mask, (left >> np.uint64(32)) ^ c[3] ^ k[1], left & mask]
        k = [(k[0] + np.uint64(0x9E3779B9)) & mask, (k[1] + np.uint64(0xBB67AE85)) & mask]
    return np.array(c, np.uint64).astype(np.uint32)


def uniform(words):
    """Triton's: the magnitude of the word as a signed integer, scaled into [0, 1)."""
    signed = words.view(np.int32).astype(np.int64)
    return np.where(signed < 0, -signed - 1, signed) * 4.6566127342e-10


def normal(u, v):
    radius, angle = np.sqrt(-2 * np.log(np.maximum(1e-7, u))), 2 * np.pi * v
    return radius * np.cos(angle), radius * np.sin(angle)


def cases():
    rng = np.random.default_rng(31)
    for seed in (0, 1, 2147483647):
        words = philox(seed, N)
        u = uniform(words)
        normals = np.array([*normal(u[0], u[1]), *normal(u[2], u[3])])
        ints, floats = np.zeros((4, N), np.uint32), np.zeros((4, N), np.float32)
        yield Case(f"philox seed {seed}", FILE, "philox_words", "1", dict(out_ptr=ints, seed=seed, BLOCK=N), dict(out_ptr=words), 0)
        yield Case(f"randint4x seed {seed}", FILE, "four_integers", "1", dict(out_ptr=ints, seed=seed, BLOCK=N), dict(out_ptr=words), 0)
        yield Case(f"rand4x seed {seed}", FILE, "four_uniforms", "1", dict(out_ptr=floats, seed=seed, BLOCK=N),
                   dict(out_ptr=np.array([u[0], u[1], u[2], u[0]])), 1e-7)
        # A float32 angle of up to 2 pi is off by 2.4e-7, and the radius reaches 5.7.
        yield Case(f"randn4x seed {seed}", FILE, "four_normals", "1", dict(out_ptr=floats, seed=seed, BLOCK=N),
                   dict(out_ptr=np.array([normals[0], normals[1], normals[2], normals[0]])), 4e-6)
    u = rng.random((2, N)).astype(np.float32)
    u[:, :3] = [[0, 1e-8, 1 - 2**-24], [0, 0.25, 0.5]]
    yield Case("pairs of uniforms", FILE, "normals_of", "1", dict(u_ptr=u, out_ptr=np.zeros((2, N), np.float32), BLOCK=N),
               dict(out_ptr=np.array(normal(*u.astype(np.float64)))), 4e-6)
