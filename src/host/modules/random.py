# SPDX-License-Identifier: Apache-2.0
import _script
import math as _math

_MAGIC = 4 * _math.exp(-0.5) / _math.sqrt(2.0)
_LOG4 = _math.log(4.0)


class Random:
    def __init__(self, x=None):
        self._generator = _script.twister()
        self.gauss_next = None
        self.seed(x)

    def seed(self, a=None, version=2):
        if version != 2:
            raise NotImplementedError("random.seed: version 1")
        if a is None:
            words = _script.entropy(32)
        elif isinstance(a, str):
            words = _script.sha512_words(a)
        elif isinstance(a, (int, float)):
            a = abs(a) if isinstance(a, int) else hash(a)
            words = []
            while a:
                words.append(a & 0xFFFFFFFF)
                a >>= 32
        else:
            raise TypeError("The only supported seed types are: None,\nint, float, str, bytes, and bytearray.")
        _script.seed_words(self._generator, words or [0])
        self.gauss_next = None

    def getstate(self):
        return 3, _script.get_words(self._generator), self.gauss_next

    def setstate(self, state):
        version, words, self.gauss_next = state
        _script.set_words(self._generator, words)

    def random(self):
        return _script.uniform(self._generator)

    def getrandbits(self, k):
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        value, shift = 0, 0
        while k > 0:
            word = _script.word(self._generator)
            if k < 32:
                word >>= 32 - k
            value |= word << shift
            shift += 32
            k -= 32
        return value

    def _randbelow(self, n):
        k = n.bit_length()
        r = self.getrandbits(k)
        while r >= n:
            r = self.getrandbits(k)
        return r

    def randrange(self, start, stop=None, step=1):
        if stop is None:
            if start > 0:
                return self._randbelow(start)
            raise ValueError("empty range for randrange()")
        width = stop - start
        if step == 1:
            if width > 0:
                return start + self._randbelow(width)
            raise ValueError(f"empty range for randrange() ({start}, {stop}, {width})")
        if step == 0:
            raise ValueError("zero step for randrange()")
        n = (width + step - 1) // step if step > 0 else (width + step + 1) // step
        if n <= 0:
            raise ValueError("empty range for randrange()")
        return start + step * self._randbelow(n)

    def randint(self, a, b):
        return self.randrange(a, b + 1)

    def uniform(self, a, b):
        return a + (b - a) * self.random()

    def choice(self, seq):
        if not len(seq):
            raise IndexError("Cannot choose from an empty sequence")
        return seq[self._randbelow(len(seq))]

    def choices(self, population, weights=None, *, cum_weights=None, k=1):
        n = len(population)
        if cum_weights is None:
            if weights is None:
                return [population[_math.floor(self.random() * (n + 0.0))] for _ in range(k)]
            cum_weights, total = [], 0
            for weight in weights:
                total += weight
                cum_weights.append(total)
        elif weights is not None:
            raise TypeError("Cannot specify both weights and cumulative weights")
        if len(cum_weights) != n:
            raise ValueError("The number of weights does not match the population")
        total = cum_weights[-1] + 0.0
        if total <= 0.0:
            raise ValueError("Total of weights must be greater than zero")
        out = []
        for _ in range(k):
            place = self.random() * total
            low, high = 0, n - 1
            while low < high:
                middle = (low + high) // 2
                if place < cum_weights[middle]:
                    high = middle
                else:
                    low = middle + 1
            out.append(population[low])
        return out

    def shuffle(self, x):
        for i in range(len(x) - 1, 0, -1):
            j = self._randbelow(i + 1)
            x[i], x[j] = x[j], x[i]

    def sample(self, population, k, *, counts=None):
        if counts is not None:
            population = [element for element, count in zip(population, counts) for _ in range(count)]
        if isinstance(population, (set, dict)):
            raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
        n = len(population)
        if not 0 <= k <= n:
            raise ValueError("Sample larger than population or is negative")
        result = [None] * k
        setsize = 21
        if k > 5:
            setsize += 4 ** _math.ceil(_math.log(k * 3, 4))
        if n <= setsize:
            pool = list(population)
            for i in range(k):
                j = self._randbelow(n - i)
                result[i] = pool[j]
                pool[j] = pool[n - i - 1]
        else:
            selected = set()
            for i in range(k):
                j = self._randbelow(n)
                while j in selected:
                    j = self._randbelow(n)
                selected.add(j)
                result[i] = population[j]
        return result

    def gauss(self, mu=0.0, sigma=1.0):
        z = self.gauss_next
        self.gauss_next = None
        if z is None:
            angle = self.random() * 2 * _math.pi
            radius = _math.sqrt(-2.0 * _math.log(1.0 - self.random()))
            z = _math.cos(angle) * radius
            self.gauss_next = _math.sin(angle) * radius
        return mu + z * sigma

    def normalvariate(self, mu=0.0, sigma=1.0):
        while True:
            u1 = self.random()
            u2 = 1.0 - self.random()
            z = _MAGIC * (u1 - 0.5) / u2
            if z * z / 4.0 <= -_math.log(u2):
                return mu + z * sigma

    def lognormvariate(self, mu=0.0, sigma=1.0):
        return _math.exp(self.normalvariate(mu, sigma))

    def expovariate(self, lambd=1.0):
        return -_math.log(1.0 - self.random()) / lambd

    def triangular(self, low=0.0, high=1.0, mode=None):
        u = self.random()
        if high == low:
            return low
        c = 0.5 if mode is None else (mode - low) / (high - low)
        if u > c:
            u, c, low, high = 1.0 - u, 1.0 - c, high, low
        return low + (high - low) * _math.sqrt(u * c)

    def gammavariate(self, alpha, beta):
        if alpha <= 0.0 or beta <= 0.0:
            raise ValueError("gammavariate: alpha and beta must be > 0.0")
        if alpha > 1.0:
            ainv = _math.sqrt(2.0 * alpha - 1.0)
            bbb, ccc = alpha - _LOG4, alpha + ainv
            while True:
                u1 = self.random()
                if not 1e-7 < u1 < 0.9999999:
                    continue
                u2 = 1.0 - self.random()
                v = _math.log(u1 / (1.0 - u1)) / ainv
                x = alpha * _math.exp(v)
                z = u1 * u1 * u2
                r = bbb + ccc * v - x
                if r + _SG_MAGICCONST - 4.5 * z >= 0.0 or r >= _math.log(z):
                    return x * beta
        if alpha == 1.0:
            return -_math.log(1.0 - self.random()) * beta
        while True:
            u = self.random()
            b = (_math.e + alpha) / _math.e
            p = b * u
            x = p ** (1.0 / alpha) if p <= 1.0 else -_math.log((b - p) / alpha)
            u1 = self.random()
            if p > 1.0:
                if u1 <= x ** (alpha - 1.0):
                    return x * beta
            elif u1 <= _math.exp(-x):
                return x * beta

    def betavariate(self, alpha, beta):
        y = self.gammavariate(alpha, 1.0)
        return y / (y + self.gammavariate(beta, 1.0)) if y else 0.0

    def paretovariate(self, alpha):
        return (1.0 - self.random()) ** (-1.0 / alpha)

    def weibullvariate(self, alpha, beta):
        return alpha * (-_math.log(1.0 - self.random())) ** (1.0 / beta)

    def vonmisesvariate(self, mu, kappa):
        if kappa <= 1e-6:
            return 2 * _math.pi * self.random()
        s = 0.5 / kappa
        r = s + _math.sqrt(1.0 + s * s)
        while True:
            z = _math.cos(_math.pi * self.random())
            d = z / (r + z)
            u = self.random()
            if u < 1.0 - d * d or u <= (1.0 - d) * _math.exp(d):
                break
        q = 1.0 / r
        f = (q + z) / (1.0 + q * z)
        angle = _math.acos(f)
        return (mu + angle if self.random() > 0.5 else mu - angle) % (2 * _math.pi)

    def binomialvariate(self, n=1, p=0.5):
        if n < 0:
            raise ValueError("n must be non-negative")
        if p <= 0.0 or p >= 1.0:
            if p in (0.0, 1.0):
                return n if p else 0
            raise ValueError("p must be in the range 0.0 <= p <= 1.0")
        if n == 1:
            return int(self.random() < p)
        raise NotImplementedError("random.binomialvariate of more than one trial")

    def randbytes(self, n):
        return self.getrandbits(n * 8).to_bytes(n, "little")


_LOG4 = _math.log(4.0)
_SG_MAGICCONST = 1.0 + _math.log(4.5)

_inst = Random()
seed = _inst.seed
random = _inst.random
uniform = _inst.uniform
triangular = _inst.triangular
randint = _inst.randint
choice = _inst.choice
randrange = _inst.randrange
sample = _inst.sample
shuffle = _inst.shuffle
choices = _inst.choices
normalvariate = _inst.normalvariate
lognormvariate = _inst.lognormvariate
expovariate = _inst.expovariate
gauss = _inst.gauss
getstate = _inst.getstate
setstate = _inst.setstate
getrandbits = _inst.getrandbits
gammavariate = _inst.gammavariate
betavariate = _inst.betavariate
paretovariate = _inst.paretovariate
weibullvariate = _inst.weibullvariate
vonmisesvariate = _inst.vonmisesvariate
binomialvariate = _inst.binomialvariate
randbytes = _inst.randbytes
