# SPDX-License-Identifier: Apache-2.0
import math
import random
import statistics

random.seed(42)
print([random.random() for _ in range(5)])
print([random.randint(1, 6) for _ in range(20)], random.randrange(0, 100, 7))
print(random.uniform(-1, 1), random.gauss(0, 1), random.gauss(0, 1), random.gauss(2, 3))
print(random.choice("abcdef"), random.choices([1, 2, 3], weights=[1, 1, 5], k=8), random.choices("xy", k=4))
letters = list(range(20))
random.shuffle(letters)
print(letters, random.sample(range(1000), 5), random.sample(letters, 12))
print(random.getrandbits(7), random.getrandbits(100), random.normalvariate(1, 2), random.expovariate(3), random.triangular(0, 5, 2))
state = random.getstate()
first = random.random()
random.setstate(state)
print(first == random.random())
for seed in (0, 1, -7, 2**70 + 3, "text", "ünï", ""):
    random.seed(seed)
    print(seed, random.random(), random.getrandbits(32))
own = random.Random(7)
print(own.random(), own.randint(0, 10**12))
print(math.fsum([0.1] * 10), math.hypot(3, 4), math.comb(10, 3), math.degrees(math.pi), math.isqrt(99))
print(statistics.mean([1, 2, 3, 4]), statistics.median([3, 1, 2]), statistics.stdev([1.0, 2.5, 4.0]), statistics.mean([1.5, 2.5]))
print(f"{3.14159:.3f}|{12:5d}|{12:<5}|{12:^7}|{'a':>4}|{1234567:,}|{0.25:.1%}|{255:#x}|{255:08b}|{1e10:g}|{-3:+d}|{12345.678:12.2f}|{1.5e-7:.2e}|{True}|{None!r:>6}")
print(f"{'x'!r} {3 + 4 = } {[1, 2][0]:03}", "%5.2f|%-4d|%s|%%" % (1.005, 3, "s"), "{:>6}|{0}".format("a") if False else "{0:>6}|{0}".format("a"))
