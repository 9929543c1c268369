# SPDX-License-Identifier: Apache-2.0
import json
print(json.dumps({'a': [1, 2.5, None, True], 'b': {'c': 'é"\n'}}), json.dumps([1], indent=2), json.dumps({'b': 1, 'a': 2}, sort_keys=True, indent=4, separators=(',', ':')), json.dumps('é', ensure_ascii=False), json.dumps({1: 2, None: 3, True: 4, 1.5: 2}), json.dumps(float('nan')), json.dumps((1, 2)), json.dumps([]), json.dumps({}), json.dumps([], indent=2), json.dumps({'a': []}, indent=1))
print(json.loads('{"a": [1, 2.0, null, true, "x\\u00e9\\n"], "b": -1e3}'), json.loads(' [] '), json.loads('"a"'), json.loads('{"x": {"y": 1}}', object_hook=lambda d: tuple(d.items())), json.loads('[1.5]', parse_float=str), json.loads('{"a":1}', object_pairs_hook=list), json.loads('"\\ud83d\\ude00"'), json.loads('NaN'), json.loads('123456789012345678901'))
for bad in ('{', '[1,]', '{"a" 1}', 'x', '', '[1 2]', '"abc', "{'a': 1}", '1 2', '{"a":1,}', '[\n1,\nx]', 'tru', '"\\q"', '-'):
    try: print(json.loads(bad))
    except json.JSONDecodeError as e: print(repr(bad), e, e.pos, e.lineno, e.colno)
class E(json.JSONEncoder):
    def default(self, o): return list(o) if isinstance(o, set) else super().default(o)
print(json.dumps({'s': {1}}, cls=E), json.dumps({'a': {1}}, default=sorted))
try: json.dumps({1})
except TypeError as e: print(e)
l = []; l.append(l)
try: json.dumps(l)
except ValueError as e: print(e)
import io
f = io.StringIO(); json.dump({'a': 1}, f, indent=2); print(f.getvalue()); f.seek(0); print(json.load(f))
