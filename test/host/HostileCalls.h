// SPDX-License-Identifier: Apache-2.0
/// Calls of every built-in that is registered, with arguments that it was not made for. Shared by
/// the test, which takes a fixed sequence of choices, and by the fuzz target, which is given one.
#pragma once

#include "host/InterpreterState.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace pellucid::host {

/// Values of every kind, the awkward ones among them.
inline constexpr const char *hostileValues = R"py(
import collections
import dataclasses
import enum
import functools

class Plain:
    def method(self, *args): return args
    @property
    def prop(self): return 1
    @staticmethod
    def static(*args): return args

class Odd:
    def __eq__(self, other):
        shared.clear()
        return False
    def __hash__(self): return 1
    def __repr__(self):
        shared.clear()
        return "odd"
    def __lt__(self, other): return len(shared) % 2 == 0
    def __len__(self): return -5
    def __iter__(self): return iter(shared)
    def __getitem__(self, i): return shared[i]
    def __bool__(self): raise ValueError("no truth")
    def __call__(self, *args, **kwargs): return args

class Colour(enum.Enum):
    RED = 1
    BLUE = 'b'

@dataclasses.dataclass
class Point:
    x: int
    y: int = 2

Pair = collections.namedtuple("Pair", "a b")

shared = [1, 2, 3]
ring = []
ring.append(ring)
table = {}
table["self"] = table
deep = ()
for _ in range(3000):
    deep = (deep,)
deepList = []
for _ in range(3000):
    deepList = [deepList]

def generate(n=3):
    for i in range(n):
        yield i

def identity(*args, **kwargs):
    return args[0] if args else None

def fails(*args):
    raise KeyError("fails")

values = [
    None, ..., True, False, 0, 1, -1, 3, 2**31, 2**63 - 1, -2**63, 2**64, 2**126, -2**126 * 2,
    0.0, -0.0, 0.5, -1.5, 1e308, float("inf"), float("nan"),
    "", "a", "text", "x y z", "{", "{}", "{0[", "{:{}}", "{:>99999}", "%", "%(", "%d %s", "%*d", "é→", "0x1f", "__class__", "a.b",
    "\x00", "abc" * 1000,
    [], [1, 2], [[1], [2, [3]]], ["a", "b"], shared, ring, deepList, [0] * 1000,
    (), (1,), (1, "a"), deep, ((1, 2), (3, 4)),
    {}, {"a": 1}, {1: 2}, table, set(), {1, 2}, frozenset([1]),
    slice(None), slice(1, 2, 0), slice(-2**63, 2**63 - 1, -2**63),
    range(0), range(3), range(10**18), range(2**63 - 1, 0, -2**63), range(-2**63, -1, 2**62),
    Plain, Plain(), Plain().method, Plain.prop, Odd(), Odd, Colour, Colour.RED, Point, Point(1), Pair(1, 2), Pair,
    generate, generate(), identity, fails, lambda: 1, len, int, str, list, dict, type, object, ValueError, ValueError("v"),
    iter([1, 2]), functools.partial(identity, 1), functools.partial, property(identity), staticmethod(identity),
    super, NotImplemented, functools,
]
)py";

class HostileCalls {
public:
  /// `choose(n)` gives a number below n.
  using Choose = std::function<size_t(size_t)>;

  explicit HostileCalls(InterpreterOptions options = {}) : interpreter(std::move(options)) {
    auto module = interpreter.importSource(
        "hostile", std::make_shared<SourceFile>("hostile.py", hostileValues));
    values = module->globals->at("values").list();
    symbolic::Expr n = symbolic::Expr::symbol("n");
    for (const Value &v :
         {Value::integer(n), Value::integer(n * n + 1), Value::condition(symbolic::less(n, 5)),
          Value(std::make_shared<Constexpr>(Value(4))), tritonLanguageName("float32"),
          tritonLanguageName("load")})
      values.push_back(v);
    for (const auto &[name, value] : interpreter.state().builtins.items())
      add(name, value);
    for (const auto &[name, cls] : interpreter.state().classes)
      add(name, Value(cls));
    for (const std::string &name : interpreter.options().modules.names())
      if (auto native = interpreter.nativeModule(name))
        for (const auto &[attribute, value] : native->globals->items())
          add(name + "." + attribute, value);
  }

  const std::vector<std::pair<std::string, Value>> &callables() const { return found; }
  Interpreter &evaluator() { return interpreter; }

  /// Calls the built-in, and what it returned, with values that `choose` names. Everything but a
  /// diagnostic is thrown on.
  void call(const Value &callee, const Choose &choose) {
    // What one call may use; the sum over all is not of interest.
    interpreter.state().budget = Budget(100'000, 64 << 20);
    try {
      Value result = interpreter.call(callee, arguments(choose));
      for (int again = 0; again < 2 && result.isObject() && result.object()->isCallable(); ++again)
        result = interpreter.call(result, arguments(choose));
      interpreter.call(*interpreter.builtin("repr"), {result});
      if (choose(2))
        interpreter.call(*interpreter.nativeModule("operator")->globals->find("eq"),
                         {result, pick(choose)});
      if (choose(2))
        interpreter.call(Value(interpreter.builtinClass("list")), {result});
    } catch (const DiagnosticError &) {
    }
  }

private:
  Interpreter interpreter;
  std::vector<Value> values;
  std::vector<std::pair<std::string, Value>> found;
  std::set<const Object *> seen;

  void add(const std::string &name, const Value &value) {
    if (!value.isObject() || !seen.insert(value.object().get()).second)
      return;
    if (value.object()->isCallable())
      found.emplace_back(name, value);
    if (auto *cls = value.as<Class>())
      for (const auto &[attribute, member] : cls->attributes.items())
        add(name + "." + attribute, member);
  }

  const Value &pick(const Choose &choose) { return values[choose(values.size())]; }

  CallArgs arguments(const Choose &choose) {
    static constexpr const char *keywords[] = {"key",   "default", "repeat", "reverse", "fn",
                                               "start", "func",    "dtype",  "self",    "x"};
    CallArgs args;
    for (size_t n = choose(5); n > 0; --n)
      args.positional.push_back(pick(choose));
    if (choose(5) == 0)
      args.keywords.emplace_back(keywords[choose(std::size(keywords))], pick(choose));
    return args;
  }
};

} // namespace pellucid::host
