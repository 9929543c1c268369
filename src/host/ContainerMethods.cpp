// SPDX-License-Identifier: Apache-2.0
#include "host/DictView.h"
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

struct MethodTable {
  Namespace &attributes;
  std::string type;
  void operator()(const char *name, const char *signature, NativeFunction::Body body) const {
    attributes.set(name, native(type + "." + name, signature, std::move(body)));
  }
};

const Value &hashable(Interpreter &interpreter, const Value &key) {
  if (!hashOf(key))
    interpreter.raise("TypeError", "unhashable type: '" + typeName(key) + "'");
  return key;
}

int64_t indexOf(Interpreter &interpreter, const Value &sequence, const Value &wanted) {
  const std::vector<Value> elements = sequence.elements();
  for (size_t i = 0; i < elements.size(); ++i)
    if (elements[i].isSame(wanted) || interpreter.equals(elements[i], wanted))
      return static_cast<int64_t>(i);
  return -1;
}

Value countOf(Interpreter &interpreter, Bound &a) {
  int64_t n = 0;
  for (const Value &v : std::vector<Value>(a[0].elements()))
    n += v.isSame(a[1]) || interpreter.equals(v, a[1]);
  return Value(n);
}

Value indexMethod(Interpreter &interpreter, Bound &a) {
  int64_t i = indexOf(interpreter, a[0], a[1]);
  if (i < 0)
    interpreter.raise("ValueError", interpreter.repr(a[1]) + " is not in " + typeName(a[0]));
  return Value(i);
}

Value popFromList(Interpreter &interpreter, Bound &a) {
  List &list = a[0].list();
  auto size = static_cast<int64_t>(list.size());
  if (!size)
    interpreter.raise("IndexError", "pop from empty list");
  int64_t i = interpreter.toInt64(a[1], "an index");
  i = i < 0 ? i + size : i;
  if (i < 0 || i >= size)
    interpreter.raise("IndexError", "pop index out of range");
  Value out = list[static_cast<size_t>(i)];
  list.erase(list.begin() + i);
  return out;
}

void addListMethods(Interpreter &interpreter) {
  MethodTable add{interpreter.builtinClass("list")->attributes, "list"};
  add("append", "self, object",
      [](Interpreter &, Bound &a) { return a[0].list().push_back(a[1]), Value(); });
  add("extend", "self, iterable", [](Interpreter &i, Bound &a) {
    std::vector<Value> more = i.iterate(a[1]);
    checkLength(i, a[0].list().size() + more.size());
    a[0].list().insert(a[0].list().end(), more.begin(), more.end());
    return Value();
  });
  add("insert", "self, index, object", [](Interpreter &i, Bound &a) {
    auto size = static_cast<int64_t>(a[0].list().size());
    int64_t at = i.toInt64(a[1], "an index");
    at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    a[0].list().insert(a[0].list().begin() + at, a[2]);
    return Value();
  });
  add("pop", "self, index=-1", popFromList);
  add("remove", "self, value", [](Interpreter &i, Bound &a) {
    int64_t at = indexOf(i, a[0], a[1]);
    if (at < 0)
      i.raise("ValueError", "list.remove(x): x not in list");
    if (static_cast<size_t>(at) < a[0].list().size()) // an __eq__ may have taken elements out
      a[0].list().erase(a[0].list().begin() + at);
    return Value();
  });
  add("clear", "self", [](Interpreter &, Bound &a) { return a[0].list().clear(), Value(); });
  add("copy", "self", [](Interpreter &, Bound &a) { return Value::list(a[0].list()); });
  add("reverse", "self", [](Interpreter &, Bound &a) {
    std::reverse(a[0].list().begin(), a[0].list().end());
    return Value();
  });
  add("sort", "self, *, key=None, reverse=False", [](Interpreter &i, Bound &a) {
    CallArgs args{{a[0]}, {{"key", a[1]}, {"reverse", a[2]}}, i.location()};
    a[0].list() = List(i.call(*i.builtin("sorted"), std::move(args)).list());
    return Value();
  });
  add("index", "self, value", indexMethod);
  add("count", "self, value", countOf);
  MethodTable tuple{interpreter.builtinClass("tuple")->attributes, "tuple"};
  tuple("index", "self, value", indexMethod);
  tuple("count", "self, value", countOf);
  // Of torch.Size; a plain tuple has none.
  tuple("numel", "self", [](Interpreter &i, Bound &a) {
    if (!a[0].isSizes())
      i.raise("AttributeError", "'tuple' object has no attribute 'numel'");
    Value out(1);
    for (const Value &size : a[0].tuple())
      out = i.binary(BinaryOp::Mul, out, size);
    return out;
  });
}

void updateDict(Interpreter &interpreter, Dict &dict, const CallArgs &args) {
  CallArgs source{args.positional.from(1), args.keywords, args.location};
  Value other = interpreter.call(Value(interpreter.builtinClass("dict")), std::move(source));
  Dict entries = other.dictionary(); // `d.update(d)` changes what it walks
  for (const auto &[key, value] : entries.items())
    dict.set(key, value);
}

void addDictMethods(Interpreter &interpreter) {
  Namespace &attributes = interpreter.builtinClass("dict")->attributes;
  MethodTable add{attributes, "dict"};
  add("get", "self, key, default=None", [](Interpreter &i, Bound &a) {
    const Value *found = a[0].dictionary().find(hashable(i, a[1]));
    return found ? *found : a[2];
  });
  for (auto [name, form] :
       {std::pair{"keys", DictView::Form::Keys}, std::pair{"values", DictView::Form::Values},
        std::pair{"items", DictView::Form::Items}})
    add(name, "self", [form = form](Interpreter &, Bound &a) {
      return a[0].dictionary(), DictView::make(form, a[0]);
    });
  // What an OrderedDict's keys(), values() and items() are.
  add("__ordered_view__", "self, form", [](Interpreter &i, Bound &a) {
    auto form = static_cast<DictView::Form>(i.toInt64(a[1], "a form"));
    return a[0].dictionary(), DictView::make(form, a[0], /*ordered=*/true);
  });
  attributes.set("update", nativeRaw("dict.update", [](Interpreter &i, CallArgs args) {
                   updateDict(i, args.positional.at(0).dictionary(), args);
                   return Value();
                 }));
  attributes.set("pop", nativeRaw("dict.pop", [](Interpreter &i, CallArgs args) {
                   if (args.positional.size() < 2)
                     i.raise("TypeError", "pop expected at least 1 argument, got 0");
                   Dict &dict = args.positional[0].dictionary();
                   if (const Value *found = dict.find(args.positional[1])) {
                     Value out = *found;
                     dict.erase(args.positional[1]);
                     return out;
                   }
                   if (args.positional.size() > 2)
                     return args.positional[2];
                   i.raiseKey(args.positional[1]);
                 }));
  add("setdefault", "self, key, default=None", [](Interpreter &i, Bound &a) {
    Dict &dict = a[0].dictionary();
    if (!dict.find(hashable(i, a[1])))
      dict.set(a[1], a[2]);
    return *dict.find(a[1]);
  });
  add("copy", "self", [](Interpreter &, Bound &a) { return Value::dict(Dict(a[0].dictionary())); });
  add("clear", "self", [](Interpreter &, Bound &a) { return a[0].dictionary().clear(), Value(); });
  add("popitem", "self", [](Interpreter &i, Bound &a) {
    Dict &dict = a[0].dictionary();
    if (!dict.size())
      i.raiseKey(Value("popitem(): dictionary is empty"));
    auto [key, value] = dict.items().back();
    dict.erase(key);
    return Value::tuple({key, value});
  });
  attributes.set("fromkeys",
                 Value(std::make_shared<Descriptor>(
                     Descriptor::Form::Static,
                     native("dict.fromkeys", "iterable, value=None", [](Interpreter &i, Bound &a) {
                       Dict out;
                       for (const Value &key : i.iterate(a[0]))
                         out.set(hashable(i, key), a[1]);
                       return Value::dict(std::move(out));
                     }))));
}

void addSetChanges(const MethodTable &add) {
  add("add", "self, elem", [](Interpreter &i, Bound &a) {
    return a[0].elementSet().insert(hashable(i, a[1])), Value();
  });
  add("discard", "self, elem",
      [](Interpreter &i, Bound &a) { return a[0].elementSet().erase(hashable(i, a[1])), Value(); });
  add("remove", "self, elem", [](Interpreter &i, Bound &a) {
    if (!a[0].elementSet().erase(hashable(i, a[1])))
      i.raiseKey(a[1]);
    return Value();
  });
  add("clear", "self", [](Interpreter &, Bound &a) {
    a[0].elementSet() = Set();
    return Value();
  });
  auto replace = [&](const char *name, BinaryOp op) {
    add(name, "self, other", [op](Interpreter &i, Bound &a) {
      Value result = i.binary(op, a[0], i.call(Value(i.builtinClass("set")), {a[1]}));
      a[0].elementSet() = Set(result.elementSet());
      return Value();
    });
  };
  replace("intersection_update", BinaryOp::BitAnd);
  replace("difference_update", BinaryOp::Sub);
  replace("symmetric_difference_update", BinaryOp::BitXor);
  add("pop", "self", [](Interpreter &i, Bound &a) {
    std::vector<Value> elements = a[0].elementSet().elements();
    if (elements.empty())
      i.raiseKey(Value("pop from an empty set"));
    a[0].elementSet().erase(elements.front());
    return elements.front();
  });
  add("update", "self, *others", [](Interpreter &i, Bound &a) {
    for (const Value &other : a[1].tuple())
      for (const Value &v : i.iterate(other))
        a[0].elementSet().insert(hashable(i, v));
    return Value();
  });
}

void addSetMethods(Interpreter &interpreter, const char *type) {
  MethodTable add{interpreter.builtinClass(type)->attributes, type};
  if (std::string_view(type) == "set")
    addSetChanges(add);
  add("isdisjoint", "self, other", [](Interpreter &i, Bound &a) {
    for (const Value &v : i.iterate(a[1]))
      if (a[0].elementSet().contains(v))
        return Value(false);
    return Value(true);
  });
  add("copy", "self", [](Interpreter &, Bound &a) {
    return Value::set(Set(a[0].elementSet()), a[0].elementSet().frozen);
  });
  struct Row {
    const char *name;
    BinaryOp op;
  };
  for (Row row : {Row{"union", BinaryOp::BitOr}, Row{"intersection", BinaryOp::BitAnd},
                  Row{"difference", BinaryOp::Sub}, Row{"symmetric_difference", BinaryOp::BitXor}})
    add(row.name, row.op == BinaryOp::BitXor ? "self, other" : "self, *others",
        [op = row.op](Interpreter &i, Bound &a) {
          Value out = a[0];
          Tuple others = op == BinaryOp::BitXor ? Tuple{a[1]} : a[1].tuple();
          if (others.empty()) // another one all the same
            others.push_back(op == BinaryOp::BitAnd ? a[0] : Value::tuple({}));
          for (const Value &other : others)
            out = i.binary(op, out, i.call(Value(i.builtinClass("set")), {other}));
          return out;
        });
  for (auto [name, op] :
       {std::pair{"issubset", CompareOp::Le}, std::pair{"issuperset", CompareOp::Ge}})
    add(name, "self, other", [op = op](Interpreter &i, Bound &a) {
      return i.compare(op, a[0], i.call(Value(i.builtinClass("set")), {a[1]}));
    });
}

} // namespace

void addContainerMethods(Interpreter &interpreter) {
  addListMethods(interpreter);
  addDictMethods(interpreter);
  addSetMethods(interpreter, "set");
  addSetMethods(interpreter, "frozenset");
}

} // namespace pellucid::host
