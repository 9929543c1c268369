# SPDX-License-Identifier: Apache-2.0
import operator as op
print(op.itemgetter(1)([5, 6]), op.itemgetter('a', 'b')({'a': 1, 'b': 2}), op.attrgetter('real')(5), op.attrgetter('a.b')(type('X', (), {'a': type('Y', (), {'b': 7})})), op.methodcaller('upper')('a'), op.add(1, 2), op.mul(2, 3), op.neg(1), op.not_(0), op.truth([]), op.contains([1], 1), op.getitem([1], 0), op.concat([1], [2]), op.and_(6, 3), op.or_(6, 3), op.xor(6, 3), op.lshift(1, 2), op.pow(2, 3), op.mod(7, 3), op.is_(None, None), op.index(5), op.iadd([1], [2]), op.le(1, 1), op.inv(1), op.abs(-2), op.countOf([1, 1], 1), op.indexOf([5, 6], 6))
l = [1, 2]; op.setitem(l, 0, 9); op.delitem(l, 1); print(l)
