# SPDX-License-Identifier: Apache-2.0
import random
random.seed(42); print(random.random(), random.randint(1, 10), random.choice('abc'), random.sample(range(100), 5), random.uniform(1, 2), random.gauss(0, 1), random.shuffle(l := list(range(8))), l, random.randrange(0, 100, 5), random.choices([1, 2, 3], weights=[1, 1, 5], k=4), random.getrandbits(16), random.triangular(0, 1, .5), random.betavariate(1, 2), random.expovariate(2), random.normalvariate(0, 1), random.lognormvariate(0, 1))
r = random.Random(7); print(r.random(), r.randint(0, 5)); s = random.getstate(); a = random.random(); random.setstate(s); print(a == random.random()); random.seed('text'); print(random.random())
