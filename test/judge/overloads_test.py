# SPDX-License-Identifier: Apache-2.0
"""scripts/check_overloads.py: what it takes for a function of a source's own, and which pairs it names."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_overloads  # noqa: E402

OWN = "namespace pellucid {{\nnamespace {{\n{}\n}} // namespace\n}} // namespace pellucid\n"
SHARED = "namespace pellucid {{\n{}\n}} // namespace pellucid\n"


def names(one, other):
    return [name for name, _, _ in check_overloads.pairs({"one.cpp": one, "other.cpp": other})]


class Overloads(unittest.TestCase):
    def test_own_functions_that_take_as_many_arguments_are_a_pair(self):
        self.assertEqual(names(OWN.format("int little(int x) { return x; }"), OWN.format("int little(long x) { return 1; }")), ["little"])
        self.assertEqual(names(SHARED.format("static int little(int x) { return x; }"), SHARED.format("int little(long x) { return 1; }")), ["little"])

    def test_defaults_and_packs_take_more(self):
        two = OWN.format("int f(int x, int y) { return x; }")
        self.assertEqual(names(two, OWN.format("int f(int x, int y = f(1, 2), int z = 3) { return x; }")), ["f"])
        self.assertEqual(names(two, OWN.format("template <typename... T> int f(T &&...x) { return 1; }")), ["f"])
        self.assertEqual(names(two, OWN.format("int f(const std::map<int, int> &x) { return 1; }")), [])

    def test_shared_functions_are_overloads_in_every_source(self):
        self.assertEqual(names(SHARED.format("int f(int x) { return x; }"), SHARED.format("int f(long x) { return 1; }")), [])

    def test_methods_and_what_bodies_hold_are_no_functions(self):
        text = OWN.format('struct S {{ int f(int x) {{ return g("{{", x); }} }}; // f(int x) {{\nint S::h(int x) {{ auto k = [](int y) {{ return y; }}; return k(x); }}'.replace("{{", "{").replace("}}", "}"))
        self.assertEqual(check_overloads.functions(text), [])

    def test_initialisers_and_macros_do_not_hide_what_follows(self):
        text = OWN.format("#define F(x) { x\nconst int table[] = {1, 2};\nconstexpr auto body = R\"({)\";\nstd::vector<int>\nf(int x,\n  int y) noexcept {\n  return {};\n}")
        self.assertEqual([(name, taken, own) for name, taken, own, _ in check_overloads.functions(text)], [("f", (2, 2), True)])

    def test_sources_that_stand_alone_are_left_out(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        held = {path.name for path in check_overloads.sources_of(root / "src/fusion/CMakeLists.txt")}
        self.assertNotIn("AccessExtent.cpp", held)
        self.assertGreater(len(held), 1)


if __name__ == "__main__":
    unittest.main()
