// SPDX-License-Identifier: Apache-2.0
/// int, float, list and the other types of Python's builtins, and the exceptions.
#include "host/DictView.h"
#include "host/InterpreterState.h"
#include "host/Text.h"
#include "host/TypeForm.h"
#include "support/PlainNumbers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace pellucid::host {

using Bound = std::vector<Value>;

static std::shared_ptr<Class> addType(Interpreter &interpreter, const std::string &name,
                                      std::function<bool(const Value &)> accepts,
                                      std::function<Value(Interpreter &, CallArgs)> construct) {
  Interpreter::State &state = interpreter.state();
  auto cls = Class::make(name, "builtins");
  cls->accepts = std::move(accepts);
  cls->construct = std::move(construct);
  state.classes.emplace(name, cls);
  state.builtins.set(name, Value(cls));
  return cls;
}

template <typename F>
static std::function<Value(Interpreter &, CallArgs)> bound(const char *name, const char *text,
                                                           F f) {
  return [name, signature = Signature(text), f](Interpreter &interpreter, CallArgs args) {
    Bound a = signature.bind(interpreter, name, args);
    return Value(f(interpreter, a));
  };
}

// ---- numbers
// -------------------------------------------------------------------------------------------------------

static std::string stripped(const std::string &text) {
  size_t first = 0, last = text.size();
  while (first < last && isSpace(text[first]))
    ++first;
  while (last > first && isSpace(text[last - 1]))
    --last;
  std::string out = text.substr(first, last - first);
  std::erase(out, '_');
  return out;
}

static Value parseInt(Interpreter &interpreter, const std::string &text, int64_t base) {
  auto fail = [&]() {
    interpreter.raise("ValueError", "invalid literal for int() with base " + std::to_string(base) +
                                        ": " + repr(Value(text)));
  };
  std::string t = lowerCase(stripped(text));
  bool negative = !t.empty() && t[0] == '-';
  size_t i = !t.empty() && (t[0] == '-' || t[0] == '+') ? 1 : 0;
  auto prefixed = [&](char c) { return t.size() > i + 1 && t[i] == '0' && t[i + 1] == c; };
  if ((base == 16 || base == 0) && prefixed('x'))
    base = 16, i += 2;
  else if ((base == 2 || base == 0) && prefixed('b'))
    base = 2, i += 2;
  else if ((base == 8 || base == 0) && prefixed('o'))
    base = 8, i += 2;
  if (base == 0)
    base = 10;
  if (base < 2 || base > 36)
    interpreter.raise("ValueError", "int() base must be >= 2 and <= 36, or 0");
  if (i >= t.size())
    fail();
  Int value = 0;
  for (; i < t.size(); ++i) {
    int digit = std::isdigit(static_cast<unsigned char>(t[i])) ? t[i] - '0'
                : t[i] >= 'a' && t[i] <= 'z'                   ? t[i] - 'a' + 10
                                                               : 99;
    if (digit >= base)
      fail();
    if (__builtin_mul_overflow(value, Int(base), &value) ||
        __builtin_add_overflow(value, Int(digit), &value))
      interpreter.raise("OverflowError", "int() of a text that does not fit 127 bits");
  }
  return Value(negative ? -value : value);
}

static Value toInt(Interpreter &interpreter, Bound &a) {
  Value x = unwrapConstexpr(a[0]);
  if (x.isInt() || x.isSymInt())
    return x;
  if (x.isBool())
    return Value(Int(x.boolean()));
  if (x.isStr())
    return parseInt(interpreter, x.str(), interpreter.toInt64(a[1], "int()'s base"));
  if (x.isFloat()) {
    if (!std::isfinite(x.real()))
      interpreter.raise(std::isnan(x.real()) ? "ValueError" : "OverflowError",
                        std::isnan(x.real()) ? "cannot convert float NaN to integer"
                                             : "cannot convert float infinity to integer");
    if (std::abs(x.real()) > 1.7e38)
      interpreter.raise("OverflowError", "int() of a float that does not fit 127 bits");
    return Value(static_cast<Int>(x.real()));
  }
  if (x.isSymBool())
    return Value::integer(x.symBool());
  if (auto q = quotientOf(x)) { // towards zero
    if (q->denominator.constant() == 1)
      return Value::integer(q->numerator);
    bool isPositive = interpreter.truth(Value::condition(symbolic::lessEqual(0, q->numerator)));
    return Value::integer(isPositive ? symbolic::floorDiv(q->numerator, q->denominator)
                                     : -symbolic::floorDiv(-q->numerator, q->denominator));
  }
  if (auto *number = x.as<SymFloat>(); number && number->isWhole())
    return x;
  if (x.as<SymFloat>())
    interpreter.refuse("int() of '" + repr(x) + "', " + x.as<SymFloat>()->description() +
                       ", is not supported; compute it with integers: // % triton.cdiv");
  if (x.isObject())
    if (auto method = x.object()->getAttr(interpreter, "__int__"))
      return interpreter.call(*method);
  interpreter.raise("TypeError",
                    "int() argument must be a string, a bytes-like object or a real number, not '" +
                        typeName(x) + "'");
}

static Value toFloat(Interpreter &interpreter, Bound &a) {
  Value x = unwrapConstexpr(a[0]);
  if (x.isStr()) {
    std::string t = stripped(x.str());
    char *end = nullptr;
    PlainNumbers numbers;
    double value = std::strtod(t.c_str(), &end);
    bool hex = t.find_first_of("xX") != std::string::npos;
    if (t.empty() || *end || hex)
      interpreter.raise("ValueError", "could not convert string to float: " + repr(x));
    return Value(value);
  }
  if (x.isSymInt())
    return Value(std::make_shared<SymFloat>(x));
  if (auto *number = x.as<SymFloat>())
    return number->isWhole() ? Value(std::make_shared<SymFloat>(x)) : x;
  if (x.isObject())
    if (auto method = x.object()->getAttr(interpreter, "__float__"))
      return interpreter.call(*method);
  return Value(interpreter.toDouble(x, "float() argument"));
}

static void addNumbers(Interpreter &interpreter) {
  // `object` is every class's last base without being in its order; Class::getAttr and super() know
  // what it has.
  addType(interpreter, "object", [](const Value &) { return true; }, nullptr);
  auto integer = addType(
      interpreter, "int",
      [](const Value &v) {
        auto *number = v.as<SymFloat>();
        return v.isInt() || v.isBool() || v.isSymInt() || (number && number->isWhole());
      },
      bound("int", "x=0, base=10", toInt));
  integer->attributes.set("bit_length",
                          native("int.bit_length", "self", [](Interpreter &in, Bound &a) {
                            if (a[0].isSymInt())
                              return Value(in.toInt64(a[0], "bit_length()'s number"));
                            Value self = unwrapConstexpr(a[0]);
                            Int n = self.isBool() ? Int(self.boolean()) : self.integer();
                            int64_t bits = 0;
                            for (auto m = n < 0 ? -static_cast<unsigned __int128>(n)
                                                : static_cast<unsigned __int128>(n);
                                 m; m >>= 1)
                              ++bits;
                            return Value(bits);
                          }));
  auto real = addType(
      interpreter, "float",
      [](const Value &v) {
        auto *number = v.as<SymFloat>();
        return v.isFloat() || (number && !number->isWhole());
      },
      bound("float", "x=0.0", toFloat));
  real->attributes.set("is_integer",
                       native("float.is_integer", "self", [](Interpreter &, Bound &a) {
                         return Value(std::floor(a[0].real()) == a[0].real());
                       }));
  addType(
      interpreter, "bool", [](const Value &v) { return v.isBool() || v.isSymBool(); },
      bound("bool", "x=False", [](Interpreter &i, Bound &a) {
        return a[0].isSymBool()  ? a[0]
               : a[0].isSymInt() ? Value::condition(symbolic::notEqual(a[0].symInt(), 0))
                                 : Value(i.truth(a[0]));
      }));
  // Every bool is an int.
  interpreter.builtinClass("bool")->bases =
      interpreter.builtinClass("bool")->mro = {interpreter.builtinClass("int")};
}

// ---- containers and the rest
// ---------------------------------------------------------------------------------------

static Value makeDict(Interpreter &interpreter, CallArgs args) {
  Dict out;
  if (args.positional.size() > 1)
    interpreter.raise("TypeError", "dict expected at most 1 argument, got " +
                                       std::to_string(args.positional.size()));
  if (!args.positional.empty()) {
    const Value &source = args.positional[0];
    if (auto entries = mappingOf(interpreter, source))
      out = std::move(*entries);
    else
      for (const Value &pair : interpreter.iterate(source)) {
        std::vector<Value> both = interpreter.iterate(pair);
        if (both.size() != 2)
          interpreter.raise("ValueError", "dictionary update sequence element has length " +
                                              std::to_string(both.size()) + "; 2 is required");
        if (!hashOf(both[0]))
          interpreter.raise("TypeError", "unhashable type: '" + typeName(both[0]) + "'");
        out.set(both[0], both[1]);
      }
  }
  for (auto &[name, value] : args.keywords)
    out.set(Value(name), std::move(value));
  return Value::dict(std::move(out));
}

static Value makeSet(Interpreter &interpreter, const Value &elements, bool frozen) {
  Set out;
  for (const Value &v : interpreter.iterate(elements)) {
    if (!hashOf(v))
      interpreter.raise("TypeError", "unhashable type: '" + typeName(v) + "'");
    out.insert(v);
  }
  return Value::set(std::move(out), frozen);
}

Value makeRangeOf(Interpreter &interpreter, Int start, Int stop, Int step) {
  auto fits = [](Int v) { return v >= INT64_MIN && v <= INT64_MAX; };
  Int span = step > 0 ? stop - start : start - stop;
  if (!fits(start) || !fits(stop) || !fits(step) || span > INT64_MAX)
    interpreter.raise("OverflowError", "a range does not fit 64 bits");
  return Value::range(
      {static_cast<int64_t>(start), static_cast<int64_t>(stop), static_cast<int64_t>(step)});
}

static Value makeRange(Interpreter &interpreter, CallArgs args) {
  size_t n = args.positional.size();
  if (n < 1 || n > 3)
    interpreter.raise("TypeError", "range expected 1 to 3 arguments, got " + std::to_string(n));
  auto at = [&](size_t i) {
    const Value &v = args.positional[i];
    if (v.isSymInt())
      interpreter.refuse("range() over '" + v.symInt().text() +
                         "' depends on a dynamic dimension; the number of steps must be fixed: "
                         "make that dimension "
                         "static, or loop inside the kernel");
    if (v.isFloat() || v.isStr())
      interpreter.raise("TypeError",
                        "'" + typeName(v) + "' object cannot be interpreted as an integer");
    return interpreter.toInt64(v, "range()'s argument");
  };
  Range r;
  r.start = n > 1 ? at(0) : 0;
  r.stop = at(n > 1 ? 1 : 0);
  r.step = n > 2 ? at(2) : 1;
  if (r.step == 0)
    interpreter.raise("ValueError", "range() arg 3 must not be zero");
  return makeRangeOf(interpreter, r.start, r.stop, r.step);
}

/// What a class that derives from property has from it.
static void addPropertyMethods(Class &cls) {
  auto set = [&](const char *name, const char *signature, NativeFunction::Body body) {
    cls.attributes.set(name, native(std::string("property.") + name, signature, std::move(body)));
  };
  auto part = [](const Value &self, const char *name) -> const Value & {
    return self.expect<Instance>("a property").attributes.at(name);
  };
  set("__init__", "self, fget=None, fset=None, fdel=None, doc=None", [](Interpreter &, Bound &a) {
    auto &self = a[0].expect<Instance>("a property");
    for (auto [i, name] : {std::pair<size_t, const char *>{1, "fget"}, {2, "fset"}, {3, "fdel"}})
      self.attributes.set(name, a[i]);
    return Value();
  });
  set("__get__", "self, instance, owner=None", [part](Interpreter &i, Bound &a) {
    return a[1].isNone() ? a[0] : i.call(part(a[0], "fget"), {a[1]});
  });
  set("__set__", "self, instance, value", [part](Interpreter &i, Bound &a) {
    if (part(a[0], "fset").isNone())
      i.raise("AttributeError", "property of '" + typeName(a[1]) + "' object has no setter");
    return i.call(part(a[0], "fset"), {a[1], a[2]});
  });
  set("setter", "self, fset", [part](Interpreter &i, Bound &a) {
    return i.call(i.typeOf(a[0]), {part(a[0], "fget"), a[1]});
  });
}

static void addContainers(Interpreter &interpreter) {
  addType(
      interpreter, "str", [](const Value &v) { return v.isStr() || v.as<SymText>(); },
      bound("str", "object=''",
            [](Interpreter &i, Bound &a) { return textOf([&] { return i.str(a[0]); }); }));
  addType(
      interpreter, "list", [](const Value &v) { return v.isList(); },
      bound("list", "iterable=()",
            [](Interpreter &i, Bound &a) { return Value::list(i.iterate(a[0])); }));
  addType(
      interpreter, "tuple", [](const Value &v) { return v.isTuple(); },
      bound("tuple", "iterable=()",
            [](Interpreter &i, Bound &a) { return Value::tuple(i.iterate(a[0])); }));
  addType(interpreter, "dict", [](const Value &v) { return v.isDict() || isNames(v); }, makeDict);
  addType(
      interpreter, "set", [](const Value &v) { return v.isSet() && !v.elementSet().frozen; },
      bound("set", "iterable=()",
            [](Interpreter &i, Bound &a) { return makeSet(i, a[0], false); }));
  addType(
      interpreter, "frozenset", [](const Value &v) { return v.isSet() && v.elementSet().frozen; },
      bound("frozenset", "iterable=()",
            [](Interpreter &i, Bound &a) { return makeSet(i, a[0], true); }));
  addType(interpreter, "range", [](const Value &v) { return v.kind() == Kind::Range; }, makeRange);
  addType(
      interpreter, "slice", [](const Value &v) { return v.kind() == Kind::Slice; },
      [](Interpreter &i, CallArgs args) {
        const auto &p = args.positional;
        if (p.empty() || p.size() > 3)
          i.raise("TypeError", "slice expected 1 to 3 arguments");
        return p.size() == 1 ? Value::slice(Value(), p[0], Value())
                             : Value::slice(p[0], p[1], p.size() == 3 ? p[2] : Value());
      });
  addType(interpreter, "NoneType", [](const Value &v) { return v.isNone(); }, nullptr);
  addType(
      interpreter, "ellipsis", [](const Value &v) { return v.kind() == Kind::Ellipsis; }, nullptr);
  addType(
      interpreter, "function",
      [](const Value &v) { return v.as<Function>() || v.as<NativeFunction>(); }, nullptr);
  addType(interpreter, "module", [](const Value &v) { return v.as<Module>() != nullptr; }, nullptr);
  addType(
      interpreter, "type", [](const Value &v) { return v.as<Class>() != nullptr; },
      [](Interpreter &i, CallArgs args) {
        return args.positional.size() == 1 ? i.typeOf(args.positional[0]) : classFromCall(i, args);
      });
  auto descriptor = [&](const char *name, Descriptor::Form form) {
    addType(
        interpreter, name,
        [form](const Value &v) { return v.as<Descriptor>() && v.as<Descriptor>()->form == form; },
        bound(name,
              form == Descriptor::Form::Property ? "fget=None, fset=None, fdel=None, doc=None"
                                                 : "function",
              [form](Interpreter &, Bound &a) {
                auto d = std::make_shared<Descriptor>(form, a[0]);
                if (a.size() > 1) {
                  d->setter = a[1];
                  d->deleter = a[2];
                  d->doc = a[3];
                }
                return Value(d);
              }));
  };
  descriptor("property", Descriptor::Form::Property);
  addPropertyMethods(*interpreter.builtinClass("property"));
  descriptor("staticmethod", Descriptor::Form::Static);
  descriptor("classmethod", Descriptor::Form::Class);
  for (const char *name : {"NoneType", "ellipsis", "function", "module"})
    interpreter.state().builtins.erase(name);
}

void addBuiltinTypes(Interpreter &interpreter) {
  addNumbers(interpreter);
  addContainers(interpreter);
  DictView::addClasses(interpreter);
  addTypeMethods(interpreter);
  Namespace &builtins = interpreter.state().builtins;
  builtins.set("NotImplemented", Value(std::make_shared<NamedBuiltin>("NotImplemented")));
  builtins.set("Ellipsis", Value(EllipsisType()));
  builtins.set("__debug__", Value(true));
}

// ---- exceptions
// ----------------------------------------------------------------------------------------------------

void addExceptions(Interpreter &interpreter) {
  struct Row {
    const char *name, *base;
  };
  static constexpr Row rows[] = {{"BaseException", nullptr},
                                 {"Exception", "BaseException"},
                                 {"KeyboardInterrupt", "BaseException"},
                                 {"SystemExit", "BaseException"},
                                 {"GeneratorExit", "BaseException"},
                                 {"ArithmeticError", "Exception"},
                                 {"OverflowError", "ArithmeticError"},
                                 {"ZeroDivisionError", "ArithmeticError"},
                                 {"AssertionError", "Exception"},
                                 {"AttributeError", "Exception"},
                                 {"ImportError", "Exception"},
                                 {"ModuleNotFoundError", "ImportError"},
                                 {"LookupError", "Exception"},
                                 {"IndexError", "LookupError"},
                                 {"KeyError", "LookupError"},
                                 {"NameError", "Exception"},
                                 {"UnboundLocalError", "NameError"},
                                 {"OSError", "Exception"},
                                 {"FileNotFoundError", "OSError"},
                                 {"RuntimeError", "Exception"},
                                 {"NotImplementedError", "RuntimeError"},
                                 {"RecursionError", "RuntimeError"},
                                 {"StopIteration", "Exception"},
                                 {"SyntaxError", "Exception"},
                                 {"TypeError", "Exception"},
                                 {"ValueError", "Exception"},
                                 {"UnicodeError", "ValueError"},
                                 {"TimeoutError", "OSError"},
                                 {"Warning", "Exception"},
                                 {"UserWarning", "Warning"},
                                 {"ImportWarning", "Warning"},
                                 {"ResourceWarning", "Warning"},
                                 {"PendingDeprecationWarning", "Warning"},
                                 {"SyntaxWarning", "Warning"},
                                 {"UnicodeWarning", "Warning"},
                                 {"DeprecationWarning", "Warning"},
                                 {"FutureWarning", "Warning"},
                                 {"RuntimeWarning", "Warning"},
                                 {"MemoryError", "Exception"},
                                 {"BufferError", "Exception"},
                                 {"EOFError", "Exception"},
                                 {"FloatingPointError", "ArithmeticError"},
                                 {"PermissionError", "OSError"},
                                 {"FileExistsError", "OSError"},
                                 {"IsADirectoryError", "OSError"},
                                 {"NotADirectoryError", "OSError"},
                                 {"InterruptedError", "OSError"},
                                 {"ConnectionError", "OSError"},
                                 {"BrokenPipeError", "ConnectionError"},
                                 {"ReferenceError", "Exception"},
                                 {"IndentationError", "SyntaxError"},
                                 {"UnicodeDecodeError", "UnicodeError"},
                                 {"UnicodeEncodeError", "UnicodeError"},
                                 {"StopAsyncIteration", "Exception"},
                                 {"EncodingWarning", "Warning"},
                                 {"BytesWarning", "Warning"}};
  Interpreter::State &state = interpreter.state();
  for (const Row &row : rows) {
    std::vector<std::shared_ptr<Class>> bases;
    if (row.base)
      bases.push_back(interpreter.builtinClass(row.base));
    auto cls = Class::make(row.name, "builtins", std::move(bases));
    state.classes.emplace(row.name, cls);
    state.builtins.set(row.name, Value(cls));
  }
  const auto &root = interpreter.builtinClass("BaseException");
  root->attributes.set("__init__", nativeRaw("__init__", [](Interpreter &, CallArgs args) {
                         auto &self = args.positional[0].expect<Instance>("an exception");
                         self.attributes.set("args", Value::tuple(args.positional.from(1)));
                         return Value();
                       }));
  root->attributes.set("__repr__", nativeRaw("__repr__", [](Interpreter &i, CallArgs args) {
                         auto &self = args.positional[0].expect<Instance>("an exception");
                         std::string text;
                         for (const Value &v : self.attributes.at("args").tuple())
                           text += (text.empty() ? "" : ", ") + i.repr(v);
                         return Value(self.cls->name + "(" + text + ")");
                       }));
  // What a `raise` sets on the exception itself.
  root->attributes.set("__cause__", Value());
  root->attributes.set("__context__", Value());
  root->attributes.set("__traceback__", Value());
  root->attributes.set("__suppress_context__", Value(false));
  root->attributes.set("add_note", native("add_note", "self, note", [](Interpreter &, Bound &a) {
                         auto &self = a[0].expect<Instance>("an exception");
                         if (!self.attributes.find("__notes__"))
                           self.attributes.set("__notes__", Value::list({}));
                         self.attributes.at("__notes__").list().push_back(a[1]);
                         return Value();
                       }));
  root->attributes.set("with_traceback",
                       nativeRaw("with_traceback", [](Interpreter &, CallArgs args) {
                         return args.positional.at(0);
                       }));
}

// ---- type() and isinstance
// -----------------------------------------------------------------------------------------

Value Interpreter::typeOf(const Value &v) {
  if (auto *instance = v.as<Instance>())
    return Value(instance->cls);
  if (auto *cls = v.as<Class>())
    return Value(cls->meta ? cls->meta : builtinClass("type"));
  if (v.as<SymText>())
    return Value(builtinClass("str"));
  if (v.isObject()) {
    if (auto cls = v.object()->getAttr(*this, "__class__"); cls && cls->as<Class>())
      return *cls;
    for (const char *name : {"type", "function", "module"})
      if (builtinClass(name)->accepts(v))
        return Value(builtinClass(name));
    return Value(Class::make(v.object()->typeName(), ""));
  }
  return Value(builtinClass(typeName(v)));
}

bool isInstance(const Value &value, const Class &cls) {
  if (auto *instance = value.as<Instance>())
    return cls.name == "object" || instance->cls->isSubclassOf(cls) ||
           (cls.module == "collections.abc" && cls.accepts && cls.accepts(value));
  if (auto *made = value.as<Class>(); made && made->meta && made->meta->isSubclassOf(cls))
    return true;
  if (const Class *own = value.isObject() ? value.object()->userClass() : nullptr)
    if (own->isSubclassOf(cls))
      return true;
  return (cls.accepts && cls.accepts(value)) ||
         std::any_of(cls.registered.begin(), cls.registered.end(), [&](const auto &weak) {
           auto counted = weak.lock();
           return counted && isInstance(value, *counted);
         });
}

/// Names of the kernel language that are types; nothing for others.
static std::optional<bool> isOfLanguageType(const Value &value, std::string_view name) {
  if (name == "tl.constexpr")
    return value.as<Constexpr>() != nullptr;
  const DType *dtype = value.as<DType>();
  bool isOfLanguage = dtype && dtype->family == DType::Family::Triton;
  if (name == "tl.dtype")
    return isOfLanguage;
  if (name == "tl.pointer_type")
    return isOfLanguage && dtype->isPointer;
  if (name == "tl.tensor" || name == "tl.block_type") // made inside of kernels alone
    return false;
  return std::nullopt;
}

/// Whether a value has everything that a typing.Protocol names.
static bool hasProtocol(Interpreter &interpreter, const Value &value, const Class &protocol) {
  static const NameSet ownWords = {
      "__module__", "__doc__",        "__annotations__", "__init__",
      "__slots__",  "__match_args__", "__qualname__",    "_is_runtime_protocol"};
  auto has = [&](const std::string &name) {
    return ownWords.count(name) || attributeIfAny(interpreter, value, name).has_value();
  };
  std::vector<const Class *> classes{&protocol};
  for (const auto &base : protocol.mro)
    if (base->module != "typing" && base->module != "builtins")
      classes.push_back(base.get());
  for (const Class *cls : classes) {
    for (const auto &[name, attribute] : cls->attributes.items())
      if (!has(name))
        return false;
    const Value *annotations = cls->attributes.find("__annotations__");
    if (annotations && annotations->isDict())
      for (const auto &[name, annotation] : annotations->dictionary().items())
        if (!has(name.str()))
          return false;
  }
  return true;
}

bool Interpreter::isInstance(const Value &value, const Value &classes) {
  if (classes.isTuple()) {
    ValueLevel level;
    for (const Value &c : classes.tuple())
      if (isInstance(value, c))
        return true;
    return false;
  }
  if (classes.isNone())
    return value.isNone();
  if (auto *cls = classes.as<Class>()) {
    auto own = cls->special("__instancecheck__");
    if (cls->attributes.find("_is_runtime_protocol") && !host::isInstance(value, *cls))
      return hasProtocol(*this, value, *cls);
    return own && !typeOf(value).isSame(classes) ? truth(call(*own, {value}))
                                                 : host::isInstance(value, *cls);
  }
  if (auto *form = classes.as<TypeForm>()) {
    if (form->isUnion())
      return isInstance(value, Value::tuple(form->arguments));
    if (form->name == "typing.Union") // types.UnionType
      return value.as<TypeForm>() && value.as<TypeForm>()->isUnion();
    if (form->isSubscripted || form->origin.isNone())
      raise("TypeError", form->isSubscripted
                             ? "isinstance() argument 2 cannot be a parameterized generic"
                             : form->name + " cannot be used with isinstance()");
    return isInstance(value, form->origin);
  }
  if (classes.as<Opaque>()) // nothing here is made by a library that is not evaluated
    return value.isObject() && value.as<Opaque>() != nullptr && value.isSame(classes);
  if (auto *builtin = classes.as<NamedBuiltin>())
    if (std::optional<bool> isOf = isOfLanguageType(value, builtin->name))
      return *isOf;
  raise("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union");
}

} // namespace pellucid::host
