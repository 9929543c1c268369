# SPDX-License-Identifier: Apache-2.0
# --- random numbers, as RandomState draws them; part of numpy.py's namespace


class RandomState:
    def __init__(self, seed=None):
        self._draws = _python_random.Random()
        self._kept = None
        if seed is not None:
            self.seed(seed)

    def seed(self, seed=None):
        self._kept = None
        if seed is None:
            return self._draws.seed()
        words = [int(seed) & 0xFFFFFFFF]
        for i in range(1, 624):
            words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
        self._draws.setstate((3, tuple(words) + (624,), None))

    def _many(self, size, draw, kind=None):
        if size is None:
            value = draw()
            return float64(value) if isinstance(value, float) else value
        shape = _sized(size)
        values = [draw() for _ in range(math.prod(shape))]
        kind = kind or (torch.float64 if not values or isinstance(values[0], float) else torch.int64)
        return ndarray(torch.tensor(values, dtype=kind).reshape(shape))

    def random_sample(self, size=None):
        return self._many(size, self._draws.random)

    random = ranf = sample = random_sample

    def rand(self, *shape):
        return self.random_sample(shape if shape else None)

    def _gauss(self):
        if self._kept is not None:
            value, self._kept = self._kept, None
            return value
        while True:
            x = 2.0 * self._draws.random() - 1.0
            y = 2.0 * self._draws.random() - 1.0
            r = x * x + y * y
            if r < 1.0 and r != 0.0:
                break
        f = math.sqrt(-2.0 * math.log(r) / r)
        self._kept = f * x
        return f * y

    def randn(self, *shape):
        return self._many(shape if shape else None, self._gauss)

    def standard_normal(self, size=None):
        return self._many(size, self._gauss)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return self._many(size, lambda: loc + scale * self._gauss())

    def uniform(self, low=0.0, high=1.0, size=None):
        return self._many(size, lambda: low + (high - low) * self._draws.random())

    def _below(self, most):
        """A whole number up to `most`, by throwing away what is more."""
        if most == 0:
            return 0
        mask = (1 << most.bit_length()) - 1
        while True:
            if most <= 0xFFFFFFFF:
                value = self._draws.getrandbits(32) & mask
            else:
                high = self._draws.getrandbits(32)
                value = (high << 32 | self._draws.getrandbits(32)) & mask
            if value <= most:
                return value

    def randint(self, low, high=None, size=None, dtype=int):
        low, high = (0, low) if high is None else (low, high)
        if low >= high:
            raise ValueError("low >= high")
        name = _name_of(bool if dtype is bool else dtype)
        if name in ("bool", "int8", "uint8", "int16", "uint16"):
            return self._narrow(low, high - 1, 1 if name == "bool" else int(name.lstrip("uint")), size, _torch_type(dtype))
        return self._many(size, lambda: low + self._below(high - low - 1), _torch_type(dtype))

    def _narrow(self, low, most, bits, size, kind):
        """A word of 32 bits holds several of these, the lowest first; what is left at the end is lost."""
        left, word = 0, 0
        mask = (1 << (most - low).bit_length()) - 1

        def draw():
            nonlocal left, word
            while most > low:
                if left:
                    left, word = left - 1, word >> bits
                else:
                    left, word = 32 // bits - 1, self._draws.getrandbits(32)
                value = word & mask
                if value <= most - low:
                    return low + value
            return low

        return self._many(size, draw, kind)

    def shuffle(self, x):
        order = self._order(len(x))
        if isinstance(x, ndarray):
            x._t.copy_(x._t[torch.tensor(order, dtype=torch.int64)])
        else:
            x[:] = [x[i] for i in order]

    def _order(self, count):
        order = list(range(count))
        for i in range(count - 1, 0, -1):
            j = self._below(i)
            order[i], order[j] = order[j], order[i]
        return order

    def permutation(self, x):
        if isinstance(x, int):
            return array(self._order(x), int64)
        x = asarray(x)
        return ndarray(x._t[torch.tensor(self._order(len(x)), dtype=torch.int64)])

    def choice(self, a, size=None, replace=True, p=None):
        values = None if isinstance(a, int) else a
        count = a if values is None else len(a)
        if p is not None:
            total, edges = 0.0, []
            for weight in asarray(p).tolist():
                total += weight
                edges.append(total)
            if not replace:
                raise NotImplementedError("numpy.random.choice without replacement and with p")
            found = self._chosen(size, edges, total)
        elif replace:
            found = self.randint(0, count, size)
        else:
            shape = () if size is None else _sized(size)
            wanted = math.prod(shape)
            if wanted > count:
                raise ValueError("Cannot take a larger sample than population when 'replace=False'")
            order = self._order(count)[:wanted]
            found = order[0] if size is None else array(order, int64).reshape(shape)
        if values is None:
            return found
        return values[found] if isinstance(values, ndarray) or size is None else take(array(values), found)

    def _chosen(self, size, edges, total):
        def draw():
            value, place = self._draws.random(), 0
            while place < len(edges) - 1 and edges[place] / total <= value:
                place += 1
            return place

        return self._many(size, draw)

    def get_state(self):
        return ("MT19937", self._draws.getstate(), self._kept)

    def set_state(self, state):
        self._draws.setstate(state[1])
        self._kept = state[2]


# --- testing


class _Testing:
    def assert_allclose(self, actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True):
        if asarray(actual).shape != asarray(desired).shape and asarray(desired).ndim and asarray(actual).ndim:
            raise AssertionError(f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{err_msg}\n(shapes {asarray(actual).shape}, {asarray(desired).shape} mismatch)")
        if not allclose(actual, desired, rtol, atol, equal_nan):
            close = isclose(actual, desired, rtol, atol, equal_nan)
            wrong, total = int(count_nonzero(logical_not(close))), asarray(close).size
            raise AssertionError(f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{err_msg}\nMismatched elements: {wrong} / {total} ({100 * wrong / total:.3g}%)\n ACTUAL: {asarray(actual)!r}\n DESIRED: {asarray(desired)!r}")

    def assert_array_equal(self, actual, desired, err_msg=""):
        if not array_equal(actual, desired):
            raise AssertionError(f"\nArrays are not equal\n{err_msg}\n ACTUAL: {asarray(actual)!r}\n DESIRED: {asarray(desired)!r}")

    assert_equal = assert_array_equal

    def assert_almost_equal(self, actual, desired, decimal=7, err_msg=""):
        if not all(abs(asarray(desired) - asarray(actual)) < 1.5 * 10.0**-decimal):
            raise AssertionError(f"\nArrays are not almost equal to {decimal} decimals\n{err_msg}\n ACTUAL: {asarray(actual)!r}\n DESIRED: {asarray(desired)!r}")

    assert_array_almost_equal = assert_almost_equal


class _Linalg:
    def norm(self, x, ord=None, axis=None, keepdims=False):
        if ord not in (None, 2, 1, inf) or (ord is not None and asarray(x).ndim > 1 and axis is None):
            raise NotImplementedError(f"numpy.linalg.norm: ord={ord}")
        a = asarray(x).astype(float64) if not asarray(x).dtype.name.startswith("float") else asarray(x)
        if ord == 1:
            return sum(abs(a), axis, keepdims=keepdims)
        if ord == inf:
            return max(abs(a), axis, keepdims=keepdims)
        return sqrt(sum(a * a, axis, keepdims=keepdims))


testing, linalg = _Testing(), _Linalg()
