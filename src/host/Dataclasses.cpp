// SPDX-License-Identifier: Apache-2.0
/// Classes that are made of fields: dataclasses and named tuples.
#include "host/InterpreterState.h"
#include "host/TypeForm.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

/// A parameter of the __init__ that fields make.
struct FieldParameter {
  std::string name;
  Value fallback, factory;
  bool hasDefault = false, hasFactory = false;
  bool isKeywordOnly = false;
  bool isParameter = true; ///< field(init=False) is none
  bool isInitOnly = false; ///< InitVar: goes to __post_init__ instead of an attribute
  bool isRequired() const { return isParameter && !hasDefault && !hasFactory; }
};

using FieldParameters = std::vector<FieldParameter>;

/// Gives each field its value from the arguments of a call.
class FieldBinder {
public:
  FieldBinder(Interpreter &i, const FieldParameters &f, std::string n)
      : interpreter(i), fields(f), name(std::move(n)) {}

  /// In the fields' order; nullopt for those that stay without a value.
  std::vector<std::optional<Value>> bind(const CallArgs &args) {
    std::vector<const FieldParameter *> positional;
    for (const FieldParameter &f : fields)
      if (f.isParameter && !f.isKeywordOnly)
        positional.push_back(&f);
    size_t given = args.positional.size() - 1;
    if (given > positional.size())
      fail("takes " + range(positional) + " positional argument" +
           (range(positional) == "1" ? "" : "s") + " but " + std::to_string(given + 1) +
           " were given");
    for (const auto &[key, value] : args.keywords)
      checkKeyword(key, positional, given);
    std::vector<std::optional<Value>> out;
    for (const FieldParameter &f : fields) {
      auto place = std::find(positional.begin(), positional.end(), &f) - positional.begin();
      const Value *value = static_cast<size_t>(place) < given ? &args.positional[place + 1]
                           : f.isParameter                    ? args.keyword(f.name)
                                                              : nullptr;
      out.push_back(value ? std::optional(*value) : fallbackOf(f));
    }
    return out;
  }

private:
  Interpreter &interpreter;
  const FieldParameters &fields;
  std::string name;

  [[noreturn]] void fail(const std::string &what) { interpreter.raise("TypeError", name + what); }

  /// How many arguments can stand by their place, `self` among them.
  static std::string range(const std::vector<const FieldParameter *> &positional) {
    auto required = std::count_if(positional.begin(), positional.end(),
                                  [](const FieldParameter *f) { return f->isRequired(); });
    std::string most = std::to_string(positional.size() + 1);
    return static_cast<size_t>(required) == positional.size()
               ? most
               : "from " + std::to_string(required + 1) + " to " + most;
  }

  void checkKeyword(const std::string &key, const std::vector<const FieldParameter *> &positional,
                    size_t given) {
    auto known = std::find_if(fields.begin(), fields.end(), [&](const FieldParameter &f) {
      return f.name == key && f.isParameter;
    });
    if (known == fields.end())
      fail("got an unexpected keyword argument '" + key + "'");
    for (size_t i = 0; i < given; ++i)
      if (positional[i]->name == key)
        fail("got multiple values for argument '" + key + "'");
  }

  std::optional<Value> fallbackOf(const FieldParameter &f) {
    if (f.hasDefault)
      return f.fallback;
    if (f.hasFactory)
      return interpreter.call(f.factory);
    if (f.isRequired())
      fail("missing 1 required positional argument: '" + f.name + "'");
    return std::nullopt;
  }
};

void addFieldInit(const std::shared_ptr<Class> &cls, const FieldParameters &fields, bool isFrozen) {
  std::weak_ptr<Class> weak = cls;
  auto init = [weak, fields, isFrozen](Interpreter &interpreter, CallArgs args) {
    Value me = args.positional.at(0);
    auto *self = &me.expect<Instance>("an instance");
    auto owner = weak.lock();
    std::string called = (owner ? owner->name : self->cls->name) +
                         (self->cls->find("_fields") ? ".__new__() " : ".__init__() ");
    auto values = FieldBinder(interpreter, fields, std::move(called)).bind(args);
    CallArgs post{{}, {}, args.location};
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!values[i])
        continue;
      if (fields[i].isInitOnly)
        post.positional.push_back(*values[i]);
      else if (isFrozen)
        self->attributes.set(fields[i].name, *values[i]);
      else
        self->setAttr(interpreter, fields[i].name, *values[i]);
    }
    if (auto method = self->special(interpreter, "__post_init__"))
      interpreter.call(*method, std::move(post));
    if (self->content && self->cls->find("_fields")) {
      Tuple elements;
      for (const FieldParameter &f : fields)
        elements.push_back(self->attributes.at(f.name));
      self->content = Value::tuple(std::move(elements));
    }
    return Value();
  };
  cls->attributes.set("__init__", nativeRaw("__init__", init));
}

void addMethod(const std::shared_ptr<Class> &cls, const char *name, NativeFunction::RawBody body) {
  if (!cls->attributes.find(name))
    cls->attributes.set(name, nativeRaw(name, std::move(body)));
}

void addFieldRepr(const std::shared_ptr<Class> &cls, const std::vector<std::string> &fields) {
  addMethod(cls, "__repr__", [fields](Interpreter &interpreter, CallArgs args) {
    Value self = args.positional.at(0);
    return textOf([&] {
      std::string out;
      for (const std::string &f : fields)
        out += (out.empty() ? "" : ", ") + f + "=" + interpreter.repr(interpreter.getAttr(self, f));
      return self.expect<Instance>("an instance").cls->name + "(" + out + ")";
    });
  });
}

/// The values of those fields; null where `other` is of another class.
std::optional<std::pair<Value, Value>> comparedValues(Interpreter &interpreter,
                                                      const std::vector<std::string> &fields,
                                                      const CallArgs &args) {
  const Value &self = args.positional.at(0), &other = args.positional.at(1);
  auto *a = self.as<Instance>(), *b = other.as<Instance>();
  if (!a || !b || a->cls != b->cls)
    return std::nullopt;
  Tuple left, right;
  for (const std::string &f : fields) {
    left.push_back(interpreter.getAttr(self, f));
    right.push_back(interpreter.getAttr(other, f));
  }
  return std::pair(Value::tuple(std::move(left)), Value::tuple(std::move(right)));
}

void addComparison(const std::shared_ptr<Class> &cls, const char *name, CompareOp op,
                   const std::vector<std::string> &fields) {
  addMethod(cls, name, [fields, op](Interpreter &interpreter, CallArgs args) {
    auto values = comparedValues(interpreter, fields, args);
    return values ? interpreter.compare(op, values->first, values->second)
                  : *interpreter.builtin("NotImplemented");
  });
}

// ---- fields
// --------------------------------------------------------------------------------------------------------

const Value &constantOf(Interpreter &interpreter, const char *name) {
  return interpreter.nativeModule("dataclasses")->globals->at(name);
}

std::shared_ptr<Class> fieldClass(Interpreter &interpreter) {
  return constantOf(interpreter, "Field").shared<Class>();
}

/// dataclasses.field(): every argument it knows, with its default.
Value makeField(Interpreter &interpreter, const CallArgs &args) {
  auto out = std::make_shared<Instance>(fieldClass(interpreter));
  const Value &missing = constantOf(interpreter, "MISSING");
  for (auto [name, value] : {std::pair<const char *, Value>{"name", {}},
                             {"_type", {}},
                             {"default", missing},
                             {"default_factory", missing},
                             {"init", Value(true)},
                             {"repr", Value(true)},
                             {"hash", {}},
                             {"compare", Value(true)},
                             {"metadata", {}},
                             {"kw_only", missing},
                             {"doc", {}}})
    out->attributes.set(name, value);
  if (!args.positional.empty())
    interpreter.raise("TypeError", "field() takes 0 positional arguments but " +
                                       std::to_string(args.positional.size()) + " were given");
  for (const auto &[name, value] : args.keywords) {
    if (name == "name" || name == "_type" || !out->attributes.find(name))
      interpreter.raise("TypeError", "field() got an unexpected keyword argument '" + name + "'");
    out->attributes.set(name, value);
  }
  if (out->attributes.at("metadata").isNone())
    out->attributes.set("metadata", Value::dict());
  if (!out->attributes.at("default").isSame(missing) &&
      !out->attributes.at("default_factory").isSame(missing))
    interpreter.raise("ValueError", "cannot specify both default and default_factory");
  return Value(out);
}

/// The options of one @dataclass.
class DataclassMaker {
public:
  DataclassMaker(Interpreter &i, std::shared_ptr<Class> c, const CallArgs &options)
      : interpreter(i), cls(std::move(c)), missing(constantOf(i, "MISSING")) {
    auto parameters = std::make_shared<Instance>(Class::make("_DataclassParams", "dataclasses"));
    for (auto [name, value] : {std::pair{"init", true},
                               {"repr", true},
                               {"eq", true},
                               {"order", false},
                               {"unsafe_hash", false},
                               {"frozen", false},
                               {"match_args", true},
                               {"kw_only", false},
                               {"slots", false},
                               {"weakref_slot", false}})
      parameters->attributes.set(name, Value(value));
    for (const auto &[name, value] : options.keywords) {
      if (!parameters->attributes.find(name))
        interpreter.raise("TypeError",
                          "dataclass() got an unexpected keyword argument '" + name + "'");
      parameters->attributes.set(name, Value(interpreter.truth(value)));
    }
    settings = parameters;
  }

  Value make() {
    inherit();
    bool keywordsFollow = is("kw_only");
    if (const Value *names = cls->attributes.find("__annotations__")) {
      const Dict annotations = names->dictionary();
      for (const auto &[name, annotation] : annotations.items())
        addOwn(name.str(), annotation, keywordsFollow);
    }
    cls->attributes.set("__dataclass_fields__", Value::dict(fields));
    cls->attributes.set("__dataclass_params__", Value(settings));
    addMethods();
    return Value(cls);
  }

private:
  Interpreter &interpreter;
  std::shared_ptr<Class> cls;
  const Value missing;
  std::shared_ptr<Instance> settings;
  Dict fields;

  bool is(const char *option) const { return settings->attributes.at(option).boolean(); }

  void inherit() {
    std::vector<Class *> order;
    for (const auto &base : cls->mro)
      order.insert(order.begin(), base.get());
    for (Class *base : order) {
      const Value *known = base->attributes.find("__dataclass_fields__");
      if (!known)
        continue;
      for (const auto &[name, field] : known->dictionary().items())
        fields.set(name, field);
      checkFrozenAs(*base);
    }
  }

  void checkFrozenAs(const Class &base) {
    bool isBaseFrozen = base.attributes.at("__dataclass_params__")
                            .expect<Instance>("the options of a dataclass")
                            .attributes.at("frozen")
                            .boolean();
    if (isBaseFrozen != is("frozen"))
      interpreter.raise("TypeError", isBaseFrozen
                                         ? "cannot inherit non-frozen dataclass from a frozen one"
                                         : "cannot inherit frozen dataclass from a non-frozen one");
  }

  void addOwn(const std::string &name, const Value &annotation, bool &keywordsFollow) {
    auto *written = annotation.as<Annotation>();
    std::string kind = written ? written->kind() : "";
    if (kind == "ClassVar")
      return;
    if (kind == "KW_ONLY") {
      keywordsFollow = true;
      return;
    }
    Value field = fieldOf(name);
    auto &record = field.expect<Instance>("a field");
    record.attributes.set("name", Value(name));
    record.attributes.set("_type", annotation);
    record.attributes.set("_is_init_only", Value(kind == "InitVar"));
    if (record.attributes.at("kw_only").isSame(missing))
      record.attributes.set("kw_only", Value(keywordsFollow));
    fields.set(Value(name), field);
  }

  /// What the class says of that name: a field(), a default, or nothing.
  Value fieldOf(const std::string &name) {
    const Value *value = cls->attributes.find(name);
    auto *field = value ? value->as<Instance>() : nullptr;
    if (field && field->cls == fieldClass(interpreter)) {
      Value out = *value;
      const Value fallback = field->attributes.at("default");
      if (fallback.isSame(missing))
        cls->attributes.erase(name);
      else
        cls->attributes.set(name, fallback);
      checkDefault(name, fallback);
      return out;
    }
    CallArgs options;
    if (value) {
      checkDefault(name, *value);
      options.keywords.emplace_back("default", *value);
    }
    return makeField(interpreter, options);
  }

  void checkDefault(const std::string &name, const Value &value) {
    if (value.isList() || value.isDict() || value.isSet())
      interpreter.raise("ValueError", "mutable default <class '" + typeName(value) +
                                          "'> for field " + name +
                                          " is not allowed: use default_factory");
  }

  FieldParameters parameters() {
    FieldParameters out;
    std::string withDefault;
    for (const auto &[key, field] : fields.items()) {
      const Namespace &record = field.expect<Instance>("a field").attributes;
      FieldParameter p;
      p.name = key.str();
      p.fallback = record.at("default");
      p.factory = record.at("default_factory");
      p.hasDefault = !p.fallback.isSame(missing);
      p.hasFactory = !p.factory.isSame(missing);
      p.isKeywordOnly = interpreter.truth(record.at("kw_only"));
      p.isParameter = interpreter.truth(record.at("init"));
      p.isInitOnly = record.at("_is_init_only").boolean();
      if (p.isRequired() && !p.isKeywordOnly && !withDefault.empty())
        interpreter.raise("TypeError", "non-default argument '" + p.name +
                                           "' follows default argument '" + withDefault + "'");
      if (p.isParameter && !p.isKeywordOnly && !p.isRequired())
        withDefault = p.name;
      out.push_back(std::move(p));
    }
    return out;
  }

  std::vector<std::string> namesWith(const char *flag) {
    std::vector<std::string> out;
    for (const auto &[key, field] : fields.items()) {
      const Namespace &record = field.expect<Instance>("a field").attributes;
      if (interpreter.truth(record.at(flag)) && !record.at("_is_init_only").boolean())
        out.push_back(key.str());
    }
    return out;
  }

  void addMethods() {
    FieldParameters all = parameters();
    if (is("init") && !cls->attributes.find("__init__"))
      addFieldInit(cls, all, is("frozen"));
    Tuple positional, compared;
    for (const FieldParameter &p : all)
      if (p.isParameter && !p.isKeywordOnly)
        positional.emplace_back(p.name);
    for (const std::string &name : namesWith("compare"))
      compared.emplace_back(name);
    cls->attributes.set("__match_args__", Value::tuple(std::move(positional)));
    cls->attributes.set("__compared_fields__", is("eq") ? Value::tuple(compared) : Value());
    if (is("repr"))
      addFieldRepr(cls, namesWith("repr"));
    if (is("eq"))
      addComparison(cls, "__eq__", CompareOp::Eq, namesWith("compare"));
    if (is("order"))
      for (auto [name, op] : {std::pair{"__lt__", CompareOp::Lt},
                              {"__le__", CompareOp::Le},
                              {"__gt__", CompareOp::Gt},
                              {"__ge__", CompareOp::Ge}})
        addComparison(cls, name, op, namesWith("compare"));
    if (is("frozen"))
      freeze();
    if (is("slots"))
      fixNames();
  }

  /// dataclass(slots=True)
  void fixNames() {
    if (cls->attributes.find("__slots__"))
      interpreter.raise("TypeError", cls->name + " already specifies __slots__");
    Tuple names;
    if (const Value *annotations = cls->attributes.find("__annotations__"))
      for (const auto &[key, annotation] : annotations->dictionary().items())
        if (const Value *field = fields.find(key))
          if (!field->expect<Instance>("a field").attributes.at("_is_init_only").boolean())
            names.push_back(key);
    // The fields' defaults are known by now; a slot is no attribute of the class.
    for (const Value &name : names)
      cls->attributes.erase(name.str());
    cls->attributes.set("__slots__", Value::tuple(std::move(names)));
    setSlots(interpreter, *cls);
  }

  void freeze() {
    for (auto [method, action] : {std::pair{"__setattr__", "assign to"}, {"__delattr__", "delete"}})
      addMethod(cls, method,
                [action = std::string(action)](Interpreter &i, CallArgs args) -> Value {
                  i.raise("FrozenInstanceError",
                          "cannot " + action + " field '" +
                              i.toStr(args.positional.at(1), "an attribute name") + "'");
                });
  }
};

// ---- the module
// ----------------------------------------------------------------------------------------------------

/// The fields of a dataclass or of an instance of one; null for what is none.
const Value *fieldsOf(const Value &value) {
  auto *instance = value.as<Instance>();
  const Class *cls = instance ? instance->cls.get() : value.as<Class>();
  return cls ? cls->find("__dataclass_fields__") : nullptr;
}

std::vector<std::pair<std::string, Value>> ownFields(Interpreter &interpreter, const Value &value,
                                                     const char *message) {
  const Value *fields = fieldsOf(value);
  if (!fields || (message && !value.as<Instance>()))
    interpreter.raise("TypeError",
                      message ? message : "must be called with a dataclass type or instance");
  std::vector<std::pair<std::string, Value>> out;
  const Dict all = fields->dictionary();
  for (const auto &[name, field] : all.items())
    if (!field.expect<Instance>("a field").attributes.at("_is_init_only").boolean())
      out.emplace_back(name.str(), field);
  return out;
}

/// asdict() and astuple() of a value: dataclasses inside of lists, tuples and dicts too.
Value plainOf(Interpreter &interpreter, const Value &value, const Value &factory, bool asTuple) {
  ValueLevel level;
  auto inner = [&](const Value &v) { return plainOf(interpreter, v, factory, asTuple); };
  if (value.as<Instance>() && fieldsOf(value)) {
    List pairs;
    Tuple elements;
    for (const auto &[name, field] : ownFields(interpreter, value, nullptr)) {
      Value one = inner(interpreter.getAttr(value, name));
      elements.push_back(one);
      pairs.push_back(Value::tuple({Value(name), one}));
    }
    return interpreter.call(
        factory, {asTuple ? Value::tuple(std::move(elements)) : Value::list(std::move(pairs))});
  }
  if (value.isList()) {
    List out;
    for (const Value &v : List(value.list()))
      out.push_back(inner(v));
    return Value::list(std::move(out));
  }
  if (value.isTuple()) {
    Tuple out;
    for (const Value &v : value.tuple())
      out.push_back(inner(v));
    return Value::tuple(std::move(out));
  }
  if (value.isDict()) {
    // What is called meanwhile may change the dict.
    Dict out;
    const Dict entries(value.dictionary());
    for (const auto &[k, v] : entries.items())
      out.set(inner(k), inner(v));
    return Value::dict(std::move(out));
  }
  return deepCopy(interpreter, value);
}

Value replaced(Interpreter &interpreter, CallArgs args) {
  if (args.positional.size() != 1)
    interpreter.raise("TypeError", "replace() takes 1 positional argument but " +
                                       std::to_string(args.positional.size()) + " were given");
  const Value self = args.positional[0];
  CallArgs fresh{{}, args.keywords, args.location};
  for (const auto &[name, field] :
       ownFields(interpreter, self, "replace() should be called on dataclass instances")) {
    bool isParameter = interpreter.truth(field.expect<Instance>("a field").attributes.at("init"));
    if (!isParameter && args.keyword(name))
      interpreter.raise("ValueError", "field " + name +
                                          " is declared with init=False, it cannot be specified "
                                          "with replace()");
    if (isParameter && !args.keyword(name))
      fresh.keywords.emplace_back(name, interpreter.getAttr(self, name));
  }
  return interpreter.call(Value(self.expect<Instance>("an instance").cls), std::move(fresh));
}

/// dataclasses.make_dataclass(name, fields, *, bases=(), namespace=None, **options).
Value dataclassOf(Interpreter &interpreter, CallArgs args) {
  if (args.positional.size() < 2)
    interpreter.raise("TypeError", "make_dataclass() takes a name and its fields");
  std::vector<std::shared_ptr<Class>> bases;
  CallArgs options{{}, {}, args.location};
  Value space;
  for (const auto &[name, value] : args.keywords) {
    if (name == "bases")
      for (const Value &base : interpreter.iterate(value))
        bases.push_back(base.shared<Class>());
    else if (name == "namespace")
      space = value;
    else if (name != "module")
      options.keywords.emplace_back(name, value);
  }
  if (std::find(bases.begin(), bases.end(), nullptr) != bases.end())
    interpreter.raise("TypeError", "make_dataclass()'s bases are not classes");
  auto cls = Class::make(interpreter.toStr(args.positional[0], "cls_name"), "types", bases);
  interpreter.state().madeClasses.push_back(cls);
  if (space.isDict())
    for (const auto &[name, value] : space.dictionary().items())
      cls->attributes.set(interpreter.toStr(name, "a name"), value);
  Dict annotations;
  for (const Value &field : interpreter.iterate(args.positional[1])) {
    std::vector<Value> parts = field.isStr() ? std::vector{field} : interpreter.iterate(field);
    if (parts.empty() || parts.size() > 3)
      interpreter.raise("TypeError", "Invalid field: " + interpreter.repr(field));
    annotations.set(parts[0], parts.size() > 1 ? parts[1] : Value("typing.Any"));
    if (parts.size() == 3)
      cls->attributes.set(interpreter.toStr(parts[0], "a field name"), parts[2]);
  }
  cls->attributes.set("__annotations__", Value::dict(std::move(annotations)));
  return DataclassMaker(interpreter, cls, options).make();
}

void addConstants(Interpreter &interpreter, Module &m) {
  for (auto [name, cls] : {std::pair{"MISSING", "_MISSING_TYPE"}, {"KW_ONLY", "_KW_ONLY_TYPE"}})
    m.globals->set(name, Value(std::make_shared<Instance>(Class::make(cls, "dataclasses"))));
  m.globals->set("InitVar", Value(std::make_shared<TypeForm>("dataclasses.InitVar")));
  auto frozen = Class::make("FrozenInstanceError", "dataclasses",
                            {interpreter.builtinClass("AttributeError")});
  interpreter.state().classes.emplace(frozen->name, frozen);
  m.globals->set(frozen->name, Value(frozen));
  auto field = Class::make("Field", "dataclasses");
  // A field's type waits until it is asked, as annotations do.
  auto type = std::make_shared<Descriptor>(
      Descriptor::Form::Property, native("Field.type", "self", [](Interpreter &i, Bound &a) {
        const Value &raw = a[0].expect<Instance>("a field").attributes.at("_type");
        auto *waiting = raw.as<Annotation>();
        return waiting ? waiting->value(i) : raw;
      }));
  type->setter = native("Field.type", "self, value", [](Interpreter &, Bound &a) {
    a[0].expect<Instance>("a field").attributes.set("_type", a[1]);
    return Value();
  });
  field->attributes.set("type", Value(type));
  m.globals->set("Field", Value(field));
}

void fillDataclasses(Interpreter &interpreter, Module &m) {
  addConstants(interpreter, m);
  auto raw = [&](const char *name, NativeFunction::RawBody body) {
    m.globals->set(name, nativeRaw(std::string("dataclasses.") + name, std::move(body)));
  };
  auto set = [&](const char *name, const char *signature, NativeFunction::Body body) {
    m.globals->set(name, native(std::string("dataclasses.") + name, signature, std::move(body)));
  };
  raw("dataclass", [](Interpreter &i, CallArgs args) {
    if (!args.positional.empty() && args.positional[0].as<Class>())
      return DataclassMaker(i, args.positional[0].shared<Class>(), args).make();
    return nativeRaw("dataclass", [args](Interpreter &inner, CallArgs decorated) {
      decorated.positional.at(0).expect<Class>("a class");
      return DataclassMaker(inner, decorated.positional[0].shared<Class>(), args).make();
    });
  });
  raw("field", [](Interpreter &i, CallArgs args) { return makeField(i, args); });
  raw("replace", replaced);
  raw("make_dataclass", dataclassOf);
  set("fields", "class_or_instance", [](Interpreter &i, Bound &a) {
    Tuple out;
    for (const auto &[name, field] : ownFields(i, a[0], nullptr))
      out.push_back(field);
    return Value::tuple(std::move(out));
  });
  set("is_dataclass", "obj",
      [](Interpreter &, Bound &a) { return Value(fieldsOf(a[0]) != nullptr); });
  set("asdict", "obj, *, dict_factory=None", [](Interpreter &i, Bound &a) {
    ownFields(i, a[0], "asdict() should be called on dataclass instances");
    return plainOf(i, a[0], a[1].isNone() ? Value(i.builtinClass("dict")) : a[1], false);
  });
  set("astuple", "obj, *, tuple_factory=None", [](Interpreter &i, Bound &a) {
    ownFields(i, a[0], "astuple() should be called on dataclass instances");
    return plainOf(i, a[0], a[1].isNone() ? Value(i.builtinClass("tuple")) : a[1], true);
  });
}

} // namespace

void makeNamedTuple(Interpreter &interpreter, const std::shared_ptr<Class> &cls,
                    const std::vector<std::string> &fields) {
  FieldParameters parameters;
  for (const std::string &f : fields) {
    FieldParameter p;
    p.name = f;
    if (const Value *value = cls->attributes.find(f)) {
      p.fallback = *value;
      p.hasDefault = true;
    }
    parameters.push_back(std::move(p));
  }
  // A named tuple is a tuple: its elements are its content.
  if (std::none_of(cls->mro.begin(), cls->mro.end(),
                   [](const auto &c) { return c->name == "tuple" && c->module == "builtins"; }))
    cls->mro.push_back(interpreter.builtinClass("tuple"));
  Tuple names(fields.begin(), fields.end());
  cls->attributes.set("_fields", Value::tuple(names));
  cls->attributes.set("__match_args__", Value::tuple(std::move(names)));
  addFieldInit(cls, parameters, false);
  addFieldRepr(cls, fields);
  auto method = [&](const char *name, NativeFunction::RawBody body) {
    cls->attributes.set(name, nativeRaw(name, std::move(body)));
  };
  Dict defaults;
  for (const FieldParameter &p : parameters)
    if (p.hasDefault)
      defaults.set(Value(p.name), p.fallback);
  cls->attributes.set("_field_defaults", Value::dict(std::move(defaults)));
  std::string list;
  for (const std::string &f : fields)
    list += (list.empty() ? "" : ", ") + f;
  if (!cls->attributes.find("__doc__"))
    cls->attributes.set("__doc__", Value(cls->name + "(" + list + ")"));
  cls->attributes.set("_make", Value(std::make_shared<Descriptor>(
                                   Descriptor::Form::Class,
                                   native("_make", "cls, iterable", [](Interpreter &i, Bound &a) {
                                     return i.call(a[0], i.iterate(a[1]));
                                   }))));
  if (!cls->attributes.find("__setattr__"))
    cls->attributes.set(
        "__setattr__",
        native("__setattr__", "self, name, value", [fields](Interpreter &i, Bound &a) {
          auto &self = a[0].expect<Instance>("a named tuple");
          const std::string &name = i.toStr(a[1], "an attribute name");
          bool isField = std::find(fields.begin(), fields.end(), name) != fields.end();
          if (isField && self.attributes.find(name) && i.options().script)
            i.raise("AttributeError", "can't set attribute");
          self.setOrdinaryAttr(i, name, a[2]);
          return Value();
        }));
  method("_asdict", [fields](Interpreter &, CallArgs a) {
    Dict out;
    for (const std::string &f : fields)
      out.set(Value(f), a.positional[0].expect<Instance>("a named tuple").attributes.at(f));
    return Value::dict(std::move(out));
  });
  method("_replace", [fields](Interpreter &i, CallArgs a) {
    auto *self = &a.positional[0].expect<Instance>("a named tuple");
    CallArgs fresh{{}, a.keywords, a.location};
    for (const std::string &f : fields)
      if (!a.keyword(f))
        fresh.keywords.emplace_back(f, self->attributes.at(f));
    return i.call(Value(self->cls), std::move(fresh));
  });
}

void addDataclasses(NativeModules &modules) {
  modules.add("typing", fillTyping);
  modules.add("typing_extensions", fillTyping);
  modules.add("collections.abc", fillTyping);
  modules.add("dataclasses", fillDataclasses);
}

} // namespace pellucid::host
