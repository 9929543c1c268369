// SPDX-License-Identifier: Apache-2.0
/// Modules that describe classes: enum, abc, collections and its abstract classes.
#include "host/DictView.h"
#include "host/InterpreterState.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

const char *const mappingSource =
#include "host/modules/mappings.py.inc"
    ;

const char *const flagsSource =
#include "host/modules/flags.py.inc"
    ;

bool hasMethod(const Value &v, const char *name) {
  auto *instance = v.as<Instance>();
  return instance && instance->cls->find(name);
}

template <DictView::Form... forms> bool isView(const Value &v) {
  auto *view = v.as<DictView>();
  return view && ((view->form == forms) || ...);
}

bool isIterable(const Value &v) {
  return v.isStr() || v.isSequence() || v.isDict() || v.isSet() || v.kind() == Kind::Range ||
         v.as<Iterator>() || v.as<DictView>() || hasMethod(v, "__iter__");
}

bool isSized(const Value &v) {
  return v.isStr() || v.isSequence() || v.isDict() || v.isSet() || v.kind() == Kind::Range ||
         v.as<DictView>() || hasMethod(v, "__len__");
}

/// IntEnum and StrEnum: members are numbers or texts, and print as such.
Value enumOf(Interpreter &interpreter, const char *name, const char *type,
             const std::shared_ptr<Class> &base) {
  auto cls = Class::make(name, "enum", {interpreter.builtinClass(type), base});
  cls->meta = base->meta;
  cls->attributes.set("__repr__", *base->find("__repr__"));
  cls->attributes.set("__str__", nativeRaw("__str__", [](Interpreter &i, CallArgs args) {
                        return Value(i.str(contentOf(args.positional.at(0))));
                      }));
  cls->attributes.set("__format__", nativeRaw("__format__", [](Interpreter &i, CallArgs args) {
                        return Value(i.format(contentOf(args.positional.at(0)),
                                              i.toStr(args.positional.at(1), "format_spec")));
                      }));
  return Value(cls);
}

void fillEnum(Interpreter &interpreter, Module &m) {
  auto base = Class::make("Enum", "enum");
  base->attributes.set("__repr__", nativeRaw("__repr__", [](Interpreter &i, CallArgs args) {
                         auto &self = args.positional[0].expect<Instance>("an enum member");
                         const Value &name = self.attributes.at("name");
                         return Value("<" + self.cls->name +
                                      (name.isNone() ? "" : "." + name.str()) + ": " +
                                      i.repr(self.attributes.at("value")) + ">");
                       }));
  base->attributes.set("__str__", nativeRaw("__str__", [](Interpreter &i, CallArgs args) {
                         auto &self = args.positional[0].expect<Instance>("an enum member");
                         const Value &name = self.attributes.at("name");
                         return Value(self.cls->name +
                                      (name.isNone()
                                           ? "(" + i.repr(self.attributes.at("value")) + ")"
                                           : "." + name.str()));
                       }));
  base->attributes.set("__format__", nativeRaw("__format__", [](Interpreter &i, CallArgs args) {
                         return Value(i.format(Value(i.str(args.positional.at(0))),
                                               i.toStr(args.positional.at(1), "format_spec")));
                       }));
  auto meta = makeEnumMeta(interpreter);
  m.globals->set("EnumMeta", Value(meta));
  m.globals->set("EnumType", Value(meta));
  base->meta = meta;
  auto flag = Class::make("Flag", "enum", {base});
  flag->meta = meta;
  auto flags =
      interpreter.importSource("flags", std::make_shared<SourceFile>("<enum>", flagsSource));
  for (const auto &[name, method] : flags->globals->items())
    if (method.as<Function>())
      (name == "unique" ? *m.globals : flag->attributes).set(name, method);
  m.globals->set("Enum", Value(base));
  m.globals->set("Flag", Value(flag));
  m.globals->set("IntEnum", enumOf(interpreter, "IntEnum", "int", base));
  m.globals->set("StrEnum", enumOf(interpreter, "StrEnum", "str", base));
  m.globals->set("IntFlag", enumOf(interpreter, "IntFlag", "int", flag));
  for (const auto &[name, method] : flag->attributes.items()) // int has some of them too
    m.globals->at("IntFlag").expect<Class>("a class").attributes.set(name, method);
  auto automatic = Class::make("auto", "enum");
  m.globals->set("auto", Value(automatic));
  m.globals->set("property", Value(interpreter.builtinClass("property")));
}

void fillAbc(Interpreter &interpreter, Module &m) {
  auto meta = makeAbcMeta(interpreter);
  auto base = Class::make("ABC", "abc");
  base->meta = meta;
  m.globals->set("ABCMeta", Value(meta));
  m.globals->set("ABC", Value(base));
  auto same = nativeRaw("abc.abstractmethod", [](Interpreter &, CallArgs args) {
    if (auto *function = args.positional.at(0).as<Function>())
      function->attributes.set("__isabstractmethod__", Value(true));
    return args.positional[0];
  });
  m.globals->set("abstractmethod", same);
}

Value namedTuple(Interpreter &interpreter, Bound &a) {
  std::vector<std::string> fields;
  Value names = a[1];
  if (names.isStr()) {
    CallArgs split{
        {Value(interpreter.call(interpreter.getAttr(names, "replace"), {Value(","), Value(" ")}))},
        {},
        {}};
    names = interpreter.call(interpreter.getAttr(split.positional[0], "split"));
  }
  for (const Value &n : interpreter.iterate(names))
    fields.push_back(interpreter.toStr(n, "a field name"));
  auto cls = Class::make(interpreter.toStr(a[0], "typename"), "");
  if (!a[3].isNone()) {
    std::vector<Value> defaults = interpreter.iterate(a[3]);
    if (defaults.size() > fields.size())
      interpreter.raise("TypeError", "Got more default values than field names");
    for (size_t k = 0; k < defaults.size(); ++k)
      cls->attributes.set(fields[fields.size() - defaults.size() + k], defaults[k]);
  }
  interpreter.state().madeClasses.push_back(cls);
  makeNamedTuple(interpreter, cls, fields);
  return Value(cls);
}

void fillCollections(Interpreter &, Module &m) {
  m.globals->set("namedtuple",
                 native("collections.namedtuple",
                        "typename, field_names, *, rename=False, defaults=None, module=None",
                        namedTuple));
}

} // namespace

/// The abstract classes of containers: what isinstance() says of them is what a value can do.
void addAbstractClasses(Interpreter &interpreter, Module &m) {
  auto mappings = interpreter.importSource(
      "mappings", std::make_shared<SourceFile>("<collections.abc>", mappingSource));
  using Test = bool (*)(const Value &);
  struct Row {
    const char *name;
    Test accepts;
  };
  static constexpr Row rows[] = {
      {"Mapping", [](const Value &v) { return contentOf(v).isDict(); }},
      {"MutableMapping", [](const Value &v) { return contentOf(v).isDict(); }},
      {"Sequence",
       [](const Value &v) {
         Value content = contentOf(v);
         return content.isSequence() || content.isStr() || content.kind() == Kind::Range;
       }},
      {"MutableSequence", [](const Value &v) { return contentOf(v).isList(); }},
      {"Set",
       [](const Value &v) {
         return contentOf(v).isSet() || isView<DictView::Form::Keys, DictView::Form::Items>(v);
       }},
      {"MappingView", [](const Value &v) { return v.as<DictView>() != nullptr; }},
      {"KeysView", isView<DictView::Form::Keys>},
      {"ValuesView", isView<DictView::Form::Values>},
      {"ItemsView", isView<DictView::Form::Items>},
      {"MutableSet",
       [](const Value &v) { return contentOf(v).isSet() && !contentOf(v).elementSet().frozen; }},
      {"Iterable", isIterable},
      {"Iterator",
       [](const Value &v) { return v.as<Iterator>() != nullptr || hasMethod(v, "__next__"); }},
      {"Generator",
       [](const Value &v) {
         auto *iterator = v.as<Iterator>();
         return iterator && iterator->typeName() == "generator";
       }},
      {"Sized", isSized},
      {"Collection",
       [](const Value &v) {
         return isIterable(v) && isSized(v) && (!v.as<Instance>() || hasMethod(v, "__contains__"));
       }},
      {"Callable", [](const Value &v) { return v.isObject() && v.object()->isCallable(); }},
      {"Hashable", [](const Value &v) { return hashOf(v).has_value(); }}};
  for (const Row &row : rows) {
    const Value *written = mappings->globals->find(row.name);
    auto cls = written ? written->shared<Class>() : Class::make(row.name, "collections.abc");
    cls->module = "collections.abc";
    cls->accepts = row.accepts;
    m.globals->set(row.name, Value(cls));
    if (std::string_view(row.name) == "Set") // `typing.Set` is the built-in one
      m.globals->set("AbstractSet", Value(cls));
  }
}

void addClassModules(NativeModules &modules) {
  addDataclasses(modules);
  modules.add("enum", fillEnum);
  modules.add("abc", fillAbc);
  modules.add("collections", fillCollections);
}

} // namespace pellucid::host
