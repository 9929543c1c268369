# SPDX-License-Identifier: Apache-2.0
# eval() of expressions: names of where it is called, of dicts, and errors.
a = 3


def inner(b):
    names = {"x": 5}
    return eval("a + b"), eval("x * 2", names), eval("x + y", names, {"y": 1}), eval(" [i * a for i in range(3)]"), eval("lambda n: n + a")(1)


print(inner(4))
print([eval(f"{x} {op} 3") for x in (7, 8) for op in ("+", "//", "<")])
for text in ("1 +", "nothing", "1 / 0", "a = 1"):
    try:
        print(eval(text))
    except Exception as error:
        print(type(error).__name__)
