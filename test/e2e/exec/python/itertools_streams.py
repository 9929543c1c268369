# SPDX-License-Identifier: Apache-2.0
from itertools import *
print(list(chain([1], 'ab')), list(chain.from_iterable([[1], [2]])), list(islice(count(5, 2), 3)), list(islice('abcdef', 1, None, 2)), list(zip_longest('ab', [1], fillvalue='-')), list(product('ab', [1, 2])), list(permutations('abc', 2)), list(combinations('abc', 2)), list(combinations_with_replacement('ab', 2)), list(accumulate([1, 2, 3])), list(accumulate([1, 2, 3], lambda a, b: a * b, initial=5)))
print([(k, list(g)) for k, g in groupby('aabbca')], list(takewhile(lambda x: x < 3, [1, 2, 5, 1])), list(dropwhile(lambda x: x < 3, [1, 2, 5, 1])), list(filterfalse(None, [0, 1])), list(compress('abc', [1, 0, 1])), list(starmap(pow, [(2, 3)])), list(pairwise('abc')), list(batched('abcde', 2)), list(repeat(7, 3)), [next(c) for c in [cycle('ab')] for _ in range(3)])
a, b = tee([1, 2, 3]); print(next(a), list(b), list(a))
it = iter([1, 2, 3, 4]); print(list(islice(it, 2)), list(it))
print(next(chain(iter(int, 1), [])) , list(zip(count(), 'ab')), list(product(range(2), repeat=3))[:3], sum(1 for _ in permutations(range(5))))
