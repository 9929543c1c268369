# SPDX-License-Identifier: Apache-2.0
"""What vars(x) and x.__dict__ give is a dict, of the names themselves."""
import copy
import json
import pprint


class A:
    def __init__(self):
        self.a = 1
        self.b = [1, 2]


x = A()
d = vars(x)
print(isinstance(d, dict), type(d), {**d}, dict(d), d == {"a": 1, "b": [1, 2]})


def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


t(lambda: json.dumps(x.__dict__))
t(lambda: json.dumps({"k": vars(x)}))
t(lambda: copy.copy(d))
t(lambda: copy.deepcopy(d))
t(lambda: d | {"z": 1})
t(lambda: {"z": 1} | d)
t(lambda: {"z": 1, **d})
t(lambda: (lambda **k: sorted(k))(**d))
t(lambda: "{a} {b}".format(**d))
t(lambda: "{a} {b}".format_map(d))
t(lambda: "%(a)s" % d)
t(lambda: list(d.items()))
t(lambda: sorted(d))
t(lambda: pprint.pformat(d))
t(lambda: d.get("a"))
d["c"] = 5
print(x.c)
del d["c"]
print(hasattr(x, "c"))
d.update(q=3)
print(x.q, len(d))
t(lambda: {}.update(d))
e = {}
e.update(d)
print(e)
t(lambda: next(iter(d)))
t(lambda: f"{d}")
