# SPDX-License-Identifier: Apache-2.0
# --- tests that are functions, and what leaves one out; part of unittest.py's namespace


def _lines(value):
    import pprint

    return pprint.pformat(value).splitlines()


def _diff_words(standard, first, second):
    common = min(len(first), len(second))
    at = 0
    while at < common and first[at] == second[at]:
        at += 1
    return standard + "\n" + "\n".join(["  " + line for line in first[:at]] + ["- " + line for line in first[at:]] + ["+ " + line for line in second[at:]]) + "\n"


def _sequence_words(first, second):
    kind = {list: "Lists", tuple: "Tuples"}.get(type(first), "Sequences") if type(first) is type(second) else "Sequences"
    out = f"{kind} differ: {_short(first)} != {_short(second)}\n"
    for at, (a, b) in enumerate(zip(first, second)):
        if a != b:
            out += f"\nFirst differing element {at}:\n{_short(a)}\n{_short(b)}\n"
            break
    else:
        more, less, which = (first, second, "First") if len(first) > len(second) else (second, first, "Second")
        out += f"\n{which} {kind.lower().removesuffix('s')} contains {len(more) - len(less)} additional elements.\nFirst extra element {len(less)}:\n{_short(more[len(less)])}\n"
    return out + f"\n- {_short(first)}\n+ {_short(second)}"


class _Named:
    def __init__(self, case, name):
        self._case, self._name = case, name

    def __str__(self):
        return self._name

    def id(self):
        return self._case.id()

    def shortDescription(self):
        return None


class FunctionTestCase(TestCase):
    def __init__(self, testFunc, setUp=None, tearDown=None, description=None):
        super().__init__()
        self._function, self._before, self._after, self._description = testFunc, setUp, tearDown, description

    def shortDescription(self):
        return self._description

    def setUp(self):
        if self._before is not None:
            self._before()

    def tearDown(self):
        if self._after is not None:
            self._after()

    def runTest(self):
        self._function()


def skip(reason=""):
    def mark(item):
        item.__unittest_skip__, item.__unittest_skip_why__ = True, reason
        return item

    if callable(reason):
        item, reason = reason, ""
        return mark(item)
    return mark


def skipIf(condition, reason):
    return skip(reason) if condition else lambda item: item


def skipUnless(condition, reason):
    return skipIf(not condition, reason)


def expectedFailure(item):
    item.__unittest_expecting_failure__ = True
    return item
