# SPDX-License-Identifier: Apache-2.0
d = {'a': 1, 'b': 2}; d['c'] = 3; print(d.pop('a'), d.get('z', 9), d.setdefault('q', []), d.items(), list(d.keys()), d.values(), d | {'n': 1}, {**d}, d.popitem(), 'b' in d, len(d), dict(zip('ab', [1, 2])), dict.fromkeys('ab', 0), {k: v for k, v in d.items()}, d == {'c': 3, 'b': 2}, sorted(d), list(reversed(d)), d.copy() is d, d.update(x=5), d, d.keys() & {'b'}, sorted(d.items() - {('b', 2)}), next(iter(d)))
del d['x']
for k, v in d.items(): print(k, v)
try:
    for k in d: d['new' + k] = 1
except RuntimeError as e: print(e)
s = {3, 1, 2}; s.add(5); s.discard(9); print(sorted(s), sorted(s | {9}), s & {1, 9}, sorted(s - {1}), sorted(s ^ {1, 7}), s <= {1, 2, 3, 5, 6}, s.isdisjoint({9}), s.issuperset({1}), frozenset([1, 2]) == {1, 2}, len(s), {1, 2}.union([3], [4]), sorted({1, 2}.symmetric_difference([2, 3])), {1}.intersection([1, 2]), set('aab') == {'a', 'b'}); s.update([7, 8]); s.difference_update([7]); s.intersection_update([1, 8, 3]); print(sorted(s)); s |= {4}; s -= {1}; print(sorted(s), type(frozenset()) , hash(frozenset([1])) == hash(frozenset([1])))
