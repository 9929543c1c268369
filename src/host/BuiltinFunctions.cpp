// SPDX-License-Identifier: Apache-2.0
#include "host/InterpreterState.h"
#include "host/Text.h"
#include "host/TypeForm.h"
#include "support/PlainNumbers.h"
#include "syntax/Parser.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pellucid::host {

using Bound = std::vector<Value>;

/// Whether Triton 3.9 has it (TritonNames.cpp): any other name of the kernel language stands for
/// itself until a kernel that uses it is refused, and is not there for who asks first.
bool isInTriton(const NamedBuiltin &builtin);

namespace {

void add(Interpreter &interpreter, const char *name, const char *signature,
         NativeFunction::Body body) {
  interpreter.state().builtins.set(name, native(name, signature, std::move(body)));
}

/// The scope of eval(…, globals, locals): both dicts' names, read only.
std::shared_ptr<Scope> scopeOfDicts(Interpreter &interpreter, const Value &globals,
                                    const Value &locals) {
  auto scope = std::make_shared<Scope>();
  scope->form = Scope::Form::Module;
  scope->globals = scope->names = std::make_shared<Namespace>();
  for (const Value *names : {&globals, &locals}) {
    if (names->isNone())
      continue;
    for (const Value &name : interpreter.iterate(*names))
      scope->names->set(interpreter.toStr(name, "a name"), interpreter.getItem(*names, name));
  }
  return scope;
}

/// eval() of a script: an expression in a text, with the names of where it is called.
Value evaluateSource(Interpreter &interpreter, Bound &a) {
  Interpreter::State &state = interpreter.state();
  if (!state.options.script)
    interpreter.refuse("'eval' is not supported in host code; write the expression itself");
  std::string source = interpreter.toStr(a[0], "the source of eval()");
  source.erase(0, source.find_first_not_of(" \t\n"));
  auto text = std::make_shared<SourceFile>("<string>", source);
  syntax::Ptr<syntax::Expr> expression;
  try {
    expression = syntax::parseExpression(text);
  } catch (const DiagnosticError &error) {
    interpreter.raise("SyntaxError", error.diagnostic.message);
  }
  auto module = std::make_shared<syntax::Module>();
  module->file = text;
  std::shared_ptr<Scope> scope = !a[1].isNone() ? scopeOfDicts(interpreter, a[1], a[2])
                                 : state.frames.empty()
                                     ? scopeOfDicts(interpreter, a[2], Value())
                                     : std::make_shared<Scope>(*state.frames.back().scope);
  scope->module = module;
  state.ownedModules.push_back(module);
  state.ownedExprs.push_back(std::move(expression));
  return interpreter.evaluate(*state.ownedExprs.back(), scope);
}

Value absolute(Interpreter &interpreter, Bound &a) {
  Value x = unwrapConstexpr(a[0]);
  if (x.isStr() || x.isNone() || x.isSequence() || x.isDict() || x.isSet())
    interpreter.raise("TypeError", "bad operand type for abs(): '" + typeName(x) + "'");
  if (x.isFloat())
    return Value(std::abs(x.real()));
  if (x.isSymInt())
    return Value::integer(symbolic::max(x.symInt(), -x.symInt()));
  if (x.isObject())
    if (auto method = x.object()->getAttr(interpreter, "__abs__"))
      return interpreter.call(*method);
  return interpreter.truth(interpreter.compare(CompareOp::Lt, x, Value(0)))
             ? interpreter.unary(UnaryOp::Minus, x)
             : interpreter.unary(UnaryOp::Plus, x);
}

/// base ** exp % mod of integers, by squaring; nullopt where one of them is none or is long.
std::optional<Value> powerWithin(Interpreter &interpreter, Bound &a) {
  constexpr Int limit = Int(1) << 62;
  if (a[2].isInt() && a[2].integer() == 0)
    interpreter.raise("ValueError", "pow() 3rd argument cannot be 0");
  if (!a[0].isInt() || !a[1].isInt() || !a[2].isInt() || a[1].integer() < -limit ||
      a[2].integer() >= limit || a[2].integer() <= -limit)
    return std::nullopt;
  Int mod = a[2].integer(), size = mod < 0 ? -mod : mod, base = a[0].integer() % size, result = 1;
  Int exponent = a[1].integer();
  if (exponent < 0) { // of the inverse, by Euclid
    Int one = size, other = base < 0 ? base + size : base, x = 0, y = 1;
    while (other) {
      Int quotient = one / other;
      one = std::exchange(other, one - quotient * other);
      x = std::exchange(y, x - quotient * y);
    }
    if (one != 1)
      interpreter.raise("ValueError", "base is not invertible for the given modulus");
    base = x % size;
    exponent = -exponent;
  }
  for (Int rest = exponent; rest; rest >>= 1) {
    if (rest & 1)
      result = result * base % size;
    base = base * base % size;
  }
  result %= size;
  if (result != 0 && (result < 0) != (mod < 0))
    result += mod;
  return Value(result);
}

/// min and max: sizes stay symbolic, so no question is asked about dynamic dimensions.
Value extreme(Interpreter &interpreter, Bound &a, bool wantMax) {
  const char *name = wantMax ? "max" : "min";
  std::vector<Value> candidates = a[0].tuple();
  if (candidates.size() == 1)
    candidates = interpreter.iterate(candidates[0]);
  if (candidates.empty()) {
    if (a[2].kind() != Kind::Ellipsis)
      return a[2];
    interpreter.raise("ValueError", std::string(name) + "() iterable argument is empty");
  }
  Value best = unwrapConstexpr(candidates[0]);
  Value bestKey = a[1].isNone() ? best : interpreter.call(a[1], {best});
  for (size_t i = 1; i < candidates.size(); ++i) {
    Value candidate = unwrapConstexpr(candidates[i]);
    bool whole = (best.isInt() || best.isSymInt()) && (candidate.isInt() || candidate.isSymInt());
    if (a[1].isNone() && whole && (best.isSymInt() || candidate.isSymInt())) {
      symbolic::Expr x = interpreter.toExpr(best, name), y = interpreter.toExpr(candidate, name);
      best = bestKey = Value::integer(wantMax ? symbolic::max(x, y) : symbolic::min(x, y));
      continue;
    }
    Value key = a[1].isNone() ? candidate : interpreter.call(a[1], {candidate});
    if (interpreter.truth(
            interpreter.compare(wantMax ? CompareOp::Gt : CompareOp::Lt, key, bestKey)))
      best = candidate, bestKey = key;
  }
  return best;
}

Value sumOf(Interpreter &interpreter, Bound &a) {
  Value total = a[1];
  forEach(interpreter, a[0], [&](const Value &v) {
    total = interpreter.binary(BinaryOp::Add, total, v);
    return true;
  });
  return total;
}

/// A stable sort that stays within the vector whatever `less` says: a user's __lt__ need be no
/// order, as std::stable_sort expects.
template <typename Element, typename Less>
void mergeSort(std::vector<Element> &elements, const Less &less) {
  std::vector<Element> merged(elements.size());
  for (size_t width = 1; width < elements.size(); width *= 2) {
    for (size_t begin = 0; begin < elements.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, elements.size());
      size_t end = std::min(middle + width, elements.size());
      for (size_t a = begin, b = middle, to = begin; to < end; ++to) {
        bool takesRight = b < end && (a == middle || less(elements[b], elements[a]));
        merged[to] = std::move(elements[takesRight ? b++ : a++]);
      }
    }
    elements.swap(merged);
  }
}

Value sortedOf(Interpreter &interpreter, const std::vector<Value> &elements, const Value &key,
               bool reverse) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value &v : elements)
    keyed.emplace_back(key.isNone() ? v : interpreter.call(key, {v}), v);
  auto less = [&](const auto &x, const auto &y) {
    const auto &first = reverse ? y : x, &second = reverse ? x : y;
    return interpreter.truth(interpreter.compare(CompareOp::Lt, first.first, second.first));
  };
  mergeSort(keyed, less);
  std::vector<Value> out;
  for (auto &[k, v] : keyed)
    out.push_back(std::move(v));
  return Value::list(std::move(out));
}

/// The rows of several iterables, one element of each; `strict` when none may be longer.
Iterator::Puller pullRows(Interpreter &interpreter, const Tuple &iterables, bool strict) {
  auto columns = std::make_shared<std::vector<Iterator::Puller>>();
  for (const Value &v : iterables)
    columns->push_back(pullerOf(interpreter, v));
  return [&interpreter, columns, strict]() -> std::optional<Value> {
    Tuple row;
    for (size_t c = 0; c < columns->size(); ++c) {
      std::optional<Value> element = (*columns)[c]();
      bool differs = strict && c > 0 && !element; // all before it had one
      size_t longer = 0;
      if (!element && strict && c == 0)
        for (size_t other = 1; other < columns->size() && !longer; ++other)
          longer = (*columns)[other]() ? other : 0;
      if (differs || longer) {
        size_t at = longer ? longer : c;
        interpreter.raise("ValueError", "zip() argument " + std::to_string(at + 1) + " is " +
                                            (longer ? "longer" : "shorter") + " than argument" +
                                            (at == 1 ? " 1" : "s 1-" + std::to_string(at)));
      }
      if (!element)
        return std::nullopt;
      row.push_back(std::move(*element));
    }
    return row.empty() ? std::nullopt : std::optional(Value::tuple(std::move(row)));
  };
}

Value iteratorOf(const char *kind, Iterator::Puller pull) {
  return Value(std::make_shared<Iterator>(kind, std::move(pull)));
}

Value zipped(Interpreter &interpreter, Bound &a) {
  return iteratorOf("zip", pullRows(interpreter, a[0].tuple(), interpreter.truth(a[1])));
}

Value mapped(Interpreter &interpreter, Bound &a) {
  if (a[1].tuple().empty())
    interpreter.raise("TypeError", "map() must have at least two arguments.");
  return iteratorOf(
      "map",
      [&interpreter, function = a[0],
       rows = pullRows(interpreter, a[1].tuple(), false)]() mutable -> std::optional<Value> {
        std::optional<Value> row = rows();
        return row ? std::optional(interpreter.call(function, row->tuple())) : std::nullopt;
      });
}

Value filtered(Interpreter &interpreter, Bound &a) {
  return iteratorOf(
      "filter",
      [&interpreter, function = a[0],
       elements = pullerOf(interpreter, a[1])]() mutable -> std::optional<Value> {
        while (std::optional<Value> v = elements())
          if (interpreter.truth(function.isNone() ? *v : interpreter.call(function, {*v})))
            return v;
        return std::nullopt;
      });
}

Value enumerated(Interpreter &interpreter, Bound &a) {
  Int start = interpreter.toInt64(a[1], "enumerate()'s start");
  return iteratorOf(
      "enumerate",
      [elements = pullerOf(interpreter, a[0]), n = start]() mutable -> std::optional<Value> {
        std::optional<Value> v = elements();
        return v ? std::optional(Value::tuple({Value(n++), std::move(*v)})) : std::nullopt;
      });
}

/// To a multiple of 10**digits, halves to the even one.
Int roundedWhole(Interpreter &interpreter, Int value, int64_t digits) {
  if (digits > 38)
    return 0;
  Int unit = 1;
  for (int64_t i = 0; i < digits; ++i)
    unit *= 10;
  Int rest = value % unit, below = value - rest, twice = (rest < 0 ? -rest : rest);
  bool away = twice > unit - twice || (twice == unit - twice && below / unit % 2 != 0);
  if (away && __builtin_add_overflow(below, rest < 0 ? -unit : unit, &below))
    interpreter.raise(
        "OverflowError",
        "the result of round() does not fit 127 bits; integers here are not unlimited");
  return below;
}

Value rounded(Interpreter &interpreter, Bound &a) {
  Value x = unwrapConstexpr(a[0]);
  if (auto *instance = x.as<Instance>()) {
    auto method = instance->special(interpreter, "__round__");
    if (!method && !instance->content)
      interpreter.raise("TypeError", "type " + typeName(x) + " doesn't define __round__ method");
    if (method)
      return interpreter.call(*method,
                              a[1].isNone() ? std::vector<Value>() : std::vector<Value>{a[1]});
  }
  if (x.isBool() && a[1].isInt() && a[1].integer() < 0)
    return Value(0);
  if (x.isInt() && a[1].isInt() && a[1].integer() < 0)
    return Value(
        roundedWhole(interpreter, x.integer(), -interpreter.toInt64(a[1], "round()'s ndigits")));
  if (x.isStr() || x.isNone() || x.isSequence() || x.isDict() || x.isSet())
    interpreter.raise("TypeError", "type " + typeName(x) + " doesn't define __round__ method");
  if (!x.isFloat())
    return interpreter.unary(UnaryOp::Plus, x);
  if (a[1].isNone()) {
    Bound whole{Value(std::nearbyint(x.real()))};
    return interpreter.call(Value(interpreter.builtinClass("int")), whole);
  }
  int64_t digits = std::clamp<int64_t>(interpreter.toInt64(a[1], "round()'s ndigits"), -300, 300);
  if (digits < 0) {
    double scale = std::pow(10.0, static_cast<double>(-digits));
    return Value(std::nearbyint(x.real() / scale) * scale);
  }
  // Decimal rounding of the exact value, as CPython does.
  PlainNumbers numbers;
  return Value(
      std::strtod(interpreter.format(x, "." + std::to_string(digits) + "f").c_str(), nullptr));
}

Value quotientAndRest(Interpreter &interpreter, Bound &a) {
  if (auto *instance = a[0].as<Instance>())
    if (auto method = instance->special(interpreter, "__divmod__"))
      return interpreter.call(*method, {a[1]});
  return Value::tuple({interpreter.binary(BinaryOp::FloorDiv, a[0], a[1]),
                       interpreter.binary(BinaryOp::Mod, a[0], a[1])});
}

Value next(Interpreter &interpreter, Bound &a) {
  auto *iterator = a[0].as<Iterator>();
  if (auto *instance = a[0].as<Instance>())
    if (auto method = instance->special(interpreter, "__next__")) {
      try {
        return interpreter.call(*method);
      } catch (const RaisedError &error) {
        bool isEnd = interpreter.isInstance(error.exception,
                                            Value(interpreter.builtinClass("StopIteration")));
        if (!isEnd || a[1].kind() == Kind::Ellipsis)
          throw;
        return a[1];
      }
    }
  if (!iterator)
    interpreter.raise("TypeError", "'" + typeName(a[0]) + "' object is not an iterator");
  if (auto v = iterator->next(interpreter))
    return *v;
  if (a[1].kind() != Kind::Ellipsis)
    return a[1];
  raiseStop(interpreter, *iterator);
}

/// What a module of ours answers to any name, to be refused where it is called, is not there for
/// who asks first.
std::optional<Value> attributeThatIsThere(Interpreter &interpreter, const Value &object,
                                          const std::string &name) {
  auto found = attributeIfAny(interpreter, object, name);
  auto *module = object.as<Module>();
  bool isAbsent = object.as<Opaque>() || (module && !module->globals->find(name));
  auto *opaque = found ? found->as<Opaque>() : nullptr;
  bool isPlaceholder = opaque && (isAbsent || opaque->path.starts_with("torch.Tensor."));
  auto *builtin = found ? found->as<NamedBuiltin>() : nullptr;
  bool isUnknown = builtin && !isInTriton(*builtin);
  return isPlaceholder || isUnknown ? std::nullopt : found;
}

Value getAttribute(Interpreter &interpreter, CallArgs args) {
  if (args.positional.size() < 2)
    interpreter.raise("TypeError", "getattr expected at least 2 arguments");
  const std::string &name = interpreter.toStr(args.positional[1], "attribute name");
  if (args.positional.size() == 2)
    return interpreter.getAttr(args.positional[0], name);
  return attributeThatIsThere(interpreter, args.positional[0], name).value_or(args.positional[2]);
}

Value printed(Interpreter &interpreter, Bound &a) {
  std::string text, separator = a[1].isNone() ? " " : interpreter.str(a[1]);
  const Tuple &values = a[0].tuple();
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? separator : "") + interpreter.str(values[i]);
  text += a[2].isNone() ? "\n" : interpreter.str(a[2]);
  interpreter.hooks().settle(interpreter);
  // sys.stdout may be another one by now.
  if (auto sys = a[3].isNone() ? interpreter.loadedModule("sys") : nullptr) {
    const Value *now = sys->globals->find("stdout"), *first = sys->globals->find("__stdout__");
    if (now && first && !now->isSame(*first))
      a[3] = *now;
  }
  if (a[3].isNone()) {
    interpreter.hooks().output(text);
    if (interpreter.truth(a[4]))
      interpreter.hooks().flushOutput();
    return Value();
  }
  interpreter.call(interpreter.getAttr(a[3], "write"), {Value(text)});
  if (interpreter.truth(a[4]))
    interpreter.call(interpreter.getAttr(a[3], "flush"));
  return Value();
}

/// The attributes of `self` as seen behind `cls` in its order.
class Super : public Object {
public:
  std::shared_ptr<Class> cls;
  Value self;
  Super(std::shared_ptr<Class> c, Value s) : cls(std::move(c)), self(std::move(s)) {}
  std::string typeName() const override { return "super"; }

  std::optional<Value> getAttr(Interpreter &interpreter, std::string_view name) override {
    auto *instance = self.as<Instance>();
    Class *start = instance ? instance->cls.get() : &self.expect<Class>("an instance or a class");
    // In a method of a metaclass: a class that it made.
    if (!instance && start->meta && isMetaclass(*cls) && !start->isSubclassOf(*cls))
      start = start->meta.get();
    const Value *found = start->find(name, cls.get());
    if (!found)
      return atTheRoot(interpreter, name);
    if (auto *d = found->as<Descriptor>()) {
      if (d->form == Descriptor::Form::Property)
        return interpreter.call(d->function, {self});
      if (d->form == Descriptor::Form::Static)
        return d->function;
      Value owner(instance ? instance->cls
                           : std::static_pointer_cast<Class>(start->shared_from_this()));
      return Value(std::make_shared<BoundMethod>(std::move(owner), d->function));
    }
    if (auto got = describedBy(interpreter, *found, instance ? self : Value(),
                               instance ? Value(instance->cls) : self))
      return got;
    bool isMethod = found->as<Function>() || found->as<NativeFunction>();
    return isMethod ? Value(std::make_shared<BoundMethod>(self, *found)) : *found;
  }

private:
  /// What `object` itself has.
  std::optional<Value> atTheRoot(Interpreter &interpreter, std::string_view name) {
    refuseAbsentBases(interpreter, "'super()." + std::string(name) + "' reaches",
                      self.as<Instance>() ? *self.as<Instance>()->cls : *cls);
    if (name == "__new__")
      return makerOfInstances();
    if (name == "__class__")
      return interpreter.typeOf(self);
    if (auto method = rootMethod(name))
      return Value(std::make_shared<BoundMethod>(self, *method));
    return std::nullopt;
  }
};

Value superFunction(Interpreter &interpreter, CallArgs args) {
  auto cls = args.positional.empty() ? nullptr : args.positional[0].shared<Class>();
  if (!cls || args.positional.size() != 2)
    interpreter.refuse("super() is written without arguments, or as super(Class, self)");
  return Value(std::make_shared<Super>(cls, args.positional[1]));
}

/// iter(function, sentinel): what it gives, until that is given.
Value untilSentinel(Interpreter &interpreter, const Value &function, const Value &sentinel) {
  if (!function.isObject() || !function.object()->isCallable())
    interpreter.raise("TypeError", "iter(v, w): v must be callable");
  return iteratorOf("callable_iterator",
                    [&interpreter, function, sentinel]() -> std::optional<Value> {
                      Value given = interpreter.call(function);
                      if (interpreter.equals(given, sentinel))
                        return std::nullopt;
                      return given;
                    });
}

const char *iteratorNameOf(const Value &iterable) {
  switch (iterable.kind()) {
  case Kind::List:
    return "list_iterator";
  case Kind::Tuple:
    return "tuple_iterator";
  case Kind::Dict:
    return "dict_keyiterator";
  case Kind::Set:
    return "set_iterator";
  case Kind::Str:
    return "str_iterator";
  case Kind::Range:
    return "range_iterator";
  default:
    return "iterator";
  }
}

void addIteration(Interpreter &i) {
  add(i, "len", "obj", [](Interpreter &in, Bound &a) { return in.length(a[0]); });
  add(i, "zip", "*iterables, strict=False", zipped);
  add(i, "map", "function, *iterables", mapped);
  add(i, "filter", "function, iterable", filtered);
  add(i, "enumerate", "iterable, start=0", enumerated);
  add(i, "reversed", "sequence", [](Interpreter &in, Bound &a) {
    if (auto *instance = a[0].as<Instance>())
      if (auto method = instance->special(in, "__reversed__"))
        return in.call(*method);
    std::vector<Value> out = in.iterate(a[0]);
    std::reverse(out.begin(), out.end());
    return Value(std::make_shared<Iterator>("reversed", std::move(out)));
  });
  add(i, "sorted", "iterable, *, key=None, reverse=False", [](Interpreter &in, Bound &a) {
    return sortedOf(in, in.iterate(a[0]), a[1], in.truth(a[2]));
  });
  i.state().builtins.set(
      "iter", nativeRaw("iter", [](Interpreter &in, CallArgs args) {
        if (args.positional.empty() || args.positional.size() > 2 || !args.keywords.empty())
          in.raise("TypeError",
                   "iter expected 1 or 2 arguments, got " + std::to_string(args.positional.size()));
        const std::vector<Value> &a = args.positional;
        if (a.size() == 2)
          return untilSentinel(in, a[0], a[1]);
        auto *instance = a[0].as<Instance>();
        if (instance && instance->cls->find("__next__"))
          return a[0];
        if (instance && instance->cls->find("__iter__")) {
          Value iterator = in.call(*instance->special(in, "__iter__"));
          if (!iterator.isSequence())
            return iterator;
        }
        return a[0].as<Iterator>() ? a[0] : iteratorOf(iteratorNameOf(a[0]), pullerOf(in, a[0]));
      }));
  auto anyOrAll = [&](const char *name, bool stopAt) {
    add(i, name, "iterable", [stopAt](Interpreter &in, Bound &a) {
      bool stopped = false;
      forEach(in, a[0], [&](const Value &v) { return !(stopped = in.truth(v) == stopAt); });
      return Value(stopped == stopAt);
    });
  };
  anyOrAll("any", true);
  anyOrAll("all", false);
}

void addObjects(Interpreter &i) {
  Namespace &builtins = i.state().builtins;
  builtins.set("getattr", nativeRaw("getattr", getAttribute));
  builtins.set("super", nativeRaw("super", superFunction));
  builtins.set("next", nativeRaw("next", [](Interpreter &in, CallArgs args) {
                 if (args.positional.empty())
                   in.raise("TypeError", "next expected at least 1 argument, got 0");
                 Bound a{args.positional[0],
                         args.positional.size() > 1 ? args.positional[1] : Value(EllipsisType())};
                 return next(in, a);
               }));
  add(i, "hasattr", "obj, name", [](Interpreter &in, Bound &a) {
    return Value(attributeThatIsThere(in, a[0], in.toStr(a[1], "attribute name")).has_value());
  });
  add(i, "setattr", "obj, name, value", [](Interpreter &in, Bound &a) {
    in.setAttr(a[0], in.toStr(a[1], "attribute name"), a[2]);
    return Value();
  });
  add(i, "isinstance", "obj, class_or_tuple",
      [](Interpreter &in, Bound &a) { return Value(in.isInstance(a[0], a[1])); });
  add(i, "issubclass", "cls, class_or_tuple", [](Interpreter &in, Bound &a) {
    auto *cls = a[0].as<Class>();
    auto *form = a[1].as<TypeForm>();
    Tuple wanted = a[1].isTuple()            ? a[1].tuple()
                   : form && form->isUnion() ? form->arguments
                   : form                    ? Tuple{form->origin}
                                             : Tuple{a[1]};
    for (const Value &c : wanted) {
      auto *base = c.as<Class>();
      auto own = base ? base->special("__subclasscheck__") : std::nullopt;
      if (cls && base && (own ? in.truth(in.call(*own, {a[0]})) : cls->isSubclassOf(*base)))
        return Value(true);
    }
    if (!cls)
      in.raise("TypeError", "issubclass() arg 1 must be a class");
    return Value(false);
  });
  add(i, "callable", "obj", [](Interpreter &, Bound &a) {
    return Value(a[0].isObject() && a[0].object()->isCallable());
  });
  add(i, "id", "obj", [](Interpreter &in, Bound &a) {
    const void *address = a[0].isObject()  ? static_cast<const void *>(a[0].object().get())
                          : a[0].isList()  ? &a[0].list()
                          : a[0].isDict()  ? &a[0].dictionary()
                          : a[0].isSet()   ? &a[0].elementSet()
                          : a[0].isTuple() ? static_cast<const void *>(&a[0].tuple())
                                           : nullptr;
    if (!address && !a[0].isNone() && !a[0].isBool())
      in.refuse("id() of a value of type " + typeName(a[0]) +
                " says nothing; compare the values themselves");
    int64_t small = a[0].isNone() ? 1 : a[0].isBool() ? 2 + a[0].boolean() : 0;
    return Value(address ? static_cast<int64_t>(reinterpret_cast<intptr_t>(address)) : small);
  });
  add(i, "hash", "obj", [](Interpreter &in, Bound &a) {
    auto h = hashOf(a[0]);
    if (h && isSymbolic(a[0]))
      in.refuse("hash() of '" + repr(a[0]) +
                "' depends on a dynamic size; use the number itself, or make the dim static");
    if (!h)
      in.raise("TypeError", "unhashable type: '" + typeName(a[0]) + "'");
    return Value(static_cast<int64_t>(*h >> 1));
  });
  add(i, "vars", "obj", [](Interpreter &in, Bound &a) { return in.getAttr(a[0], "__dict__"); });
  add(i, "globals", "", [](Interpreter &in, Bound &) {
    if (in.state().frames.empty())
      in.raise("RuntimeError", "globals() outside of a module");
    const std::shared_ptr<Scope> &scope = in.state().frames.back().scope;
    return namesOf(Value(), *scope->globals);
  });
  add(i, "eval", "source, globals=None, locals=None", evaluateSource);
  add(i, "delattr", "obj, name", [](Interpreter &in, Bound &a) {
    const std::string &name = in.toStr(a[1], "attribute name");
    if (!a[0].isObject() || !a[0].object()->delAttr(in, name))
      in.raise("AttributeError", name);
    return Value();
  });
  // `plain`: as object.__dir__ asks, past the class's own.
  add(i, "dir", "obj, plain=False", [](Interpreter &in, Bound &a) {
    std::set<std::string> names;
    auto *told = in.truth(a[1]) ? nullptr : a[0].as<Instance>();
    if (told && told->cls->find("__dir__"))
      return in.call(*in.builtin("sorted"), {in.call(*told->special(in, "__dir__"))});
    if (auto *instance = a[0].as<Instance>())
      for (const auto &[name, value] : instance->attributes.items())
        names.insert(name);
    auto *instance = a[0].as<Instance>();
    if (auto *cls = instance ? instance->cls.get() : a[0].as<Class>()) {
      for (const auto &[name, value] : cls->attributes.items())
        names.insert(name);
      for (const auto &base : cls->mro)
        for (const auto &[name, value] : base->attributes.items())
          names.insert(name);
    } else if (auto *module = a[0].as<Module>()) {
      if (const Value *own = module->globals->find("__dir__"); own && own->as<Function>())
        return in.call(*in.builtin("sorted"), {in.call(*own)});
      for (const auto &[name, value] : module->globals->items())
        names.insert(name);
    } else {
      in.refuse("dir() of " + typeName(a[0]) +
                " is not supported; of instances, classes and "
                "modules it is");
    }
    List out;
    for (const std::string &name : names)
      out.emplace_back(name);
    return Value::list(std::move(out));
  });
  add(i, "__import__", "name, globals=None, locals=None, fromlist=(), level=0",
      [](Interpreter &in, Bound &a) {
        const std::string &name = in.toStr(a[0], "a module's name");
        if (in.toInt64(a[4], "level") != 0)
          in.refuse("__import__ with a level is not supported; use a relative import statement");
        Value module = importInstalled(in, name);
        return in.truth(a[3]) ? module : importInstalled(in, name.substr(0, name.find('.')));
      });
}

} // namespace

void addBuiltinFunctions(Interpreter &i) {
  addIteration(i);
  addObjects(i);
  add(i, "abs", "x", absolute);
  // An Ellipsis stands for "no default": None is a possible one.
  for (bool wantMax : {false, true})
    i.state().builtins.set(
        wantMax ? "max" : "min",
        nativeRaw(wantMax ? "max" : "min", [wantMax](Interpreter &in, CallArgs args) {
          const Value *key = args.keyword("key"), *fallback = args.keyword("default");
          Bound a{Value::tuple(args.positional), key ? *key : Value(),
                  fallback ? *fallback : Value(EllipsisType())};
          return extreme(in, a, wantMax);
        }));
  add(i, "sum", "iterable, start=0", sumOf);
  add(i, "round", "number, ndigits=None", rounded);
  add(i, "divmod", "a, b", quotientAndRest);
  add(i, "pow", "base, exp, mod=None", [](Interpreter &in, Bound &a) {
    if (auto power = powerWithin(in, a))
      return *power;
    auto *instance = a[0].as<Instance>();
    if (auto method = instance && !a[2].isNone() ? instance->special(in, "__pow__") : std::nullopt)
      return in.call(*method, {a[1], a[2]});
    Value p = in.binary(BinaryOp::Pow, a[0], a[1]);
    return a[2].isNone() ? p : in.binary(BinaryOp::Mod, p, a[2]);
  });
  add(i, "repr", "obj",
      [](Interpreter &in, Bound &a) { return textOf([&] { return in.repr(a[0]); }); });
  add(i, "ascii", "obj",
      [](Interpreter &in, Bound &a) { return textOf([&] { return asciiText(in.repr(a[0])); }); });
  add(i, "format", "value, format_spec=''", [](Interpreter &in, Bound &a) {
    return textOf([&] { return in.format(a[0], in.toStr(a[1], "format_spec")); });
  });
  add(i, "print", "*values, sep=None, end=None, file=None, flush=False", printed);
  add(i, "ord", "c", [](Interpreter &in, Bound &a) {
    const std::string &c = in.toStr(a[0], "ord()'s argument");
    if (codePointCount(c) != 1)
      in.raise("TypeError", "ord() expected a character, but string of length " +
                                std::to_string(codePointCount(c)) + " found");
    return Value(static_cast<int64_t>(decodeCodePoint(c)));
  });
  add(i, "chr", "i", [](Interpreter &in, Bound &a) {
    int64_t point = in.toInt64(a[0], "chr()'s argument");
    if (point < 0 || point > 0x10ffff)
      in.raise("ValueError", "chr() arg not in range(0x110000)");
    return Value(encodeCodePoint(static_cast<uint32_t>(point)));
  });
  struct Base {
    const char *name, *spec;
  };
  for (Base b : {Base{"hex", "#x"}, Base{"bin", "#b"}, Base{"oct", "#o"}})
    add(i, b.name, "number", [spec = b.spec](Interpreter &in, Bound &a) {
      Value number = a[0];
      if (auto *instance = number.as<Instance>(); instance && !instance->content) {
        auto method = instance->special(in, "__index__");
        if (!method)
          in.raise("TypeError",
                   "'" + typeName(number) + "' object cannot be interpreted as an integer");
        number = in.call(*method);
      }
      return textOf([&] { return in.format(number, spec); });
    });
}

} // namespace pellucid::host
