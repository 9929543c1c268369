# SPDX-License-Identifier: Apache-2.0
from collections import *
d = defaultdict(list); d['a'].append(1); print(d, d['z'], dict(d), d.get('q'), 'q' in d); dd = defaultdict(lambda: defaultdict(int)); dd['x']['y'] += 1; print(dd['x']['y'], len(dd))
c = Counter('abracadabra'); print(c, c.most_common(2), c['zz'], sum(c.values()), c + Counter(a=1), c - Counter('aaa'), list(Counter(a=2).elements()), c.total(), Counter(a=1) | Counter(a=3, b=1), Counter(a=1) & Counter(a=3))
c.update('aa'); c.subtract({'a': 3}); del c['b']; print(c, +Counter(a=-1, b=2))
o = OrderedDict(a=1, b=2); o.move_to_end('a'); print(o, o.popitem(), list(o), OrderedDict(a=1) == {'a': 1}, repr(OrderedDict())); o['q'] = 1; o.move_to_end('q', last=False); print(list(o.items()), reversed(o) and list(reversed(o)))
q = deque([1, 2, 3], maxlen=3); q.append(4); q.appendleft(0); print(q, q[0], q[-1], len(q), list(reversed(q)), q.maxlen, 2 in q); q.rotate(1); print(q, q.pop(), q.popleft(), q); q.extend([5, 6]); q.extendleft([9]); print(q, deque('abc').index('b'), q == deque([9, 5], 3))
P = namedtuple('P', 'x y'); p = P(1, 2); print(p, p.x, p[1], p._replace(x=5), p._asdict(), P._fields, P._make([3, 4]), *p, p == (1, 2), isinstance(p, tuple), P(y=1, x=2), hash(p) == hash((1, 2)), p + (3,), len(p), max(p), p.count(1), p.index(2), sorted([P(2, 1), P(1, 9)]), P.__doc__, P.__name__)
Q = namedtuple('Q', ['a', 'b'], defaults=[9]); print(Q(1), Q._field_defaults)
try: P(1)
except TypeError as e: print(e)
try: p.x = 3
except AttributeError as e: print(e)
cm = ChainMap({'a': 1}, {'a': 2, 'b': 3}); print(cm['a'], cm['b'], dict(cm), len(cm), cm.new_child({'z': 1})['z'])
class UD(UserDict):
    def __setitem__(s, k, v): super().__setitem__(k, v * 2)
u = UD(a=1); u['b'] = 2; print(u, u.data, dict(u), list(u.items()))
