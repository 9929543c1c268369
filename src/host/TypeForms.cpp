// SPDX-License-Identifier: Apache-2.0
/// Types as values: subscripted classes, unions, the names of `typing`, and annotations.
#include "host/InterpreterState.h"
#include "host/TypeForm.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

// ---- forms
// ---------------------------------------------------------------------------------------------------------

static std::string textOfType(const Value &type) {
  if (auto *cls = type.as<Class>()) {
    if (cls->name == "NoneType")
      return "None";
    return cls->module.empty() || cls->module == "builtins" ? cls->name
                                                            : cls->module + "." + cls->name;
  }
  if (type.kind() == Kind::Ellipsis)
    return "...";
  return repr(type);
}

bool TypeForm::isUnion() const { return isSubscripted && name == "typing.Union"; }

std::string TypeForm::repr() const {
  if (!isSubscripted)
    return name;
  std::string out;
  for (const Value &argument : arguments) {
    out += out.empty() ? "" : isUnion() ? " | " : ", ";
    out += name == "typing.Literal" ? host::repr(argument) : textOfType(argument);
  }
  return isUnion() ? out : name + "[" + out + "]";
}

Value TypeForm::originOf() const {
  if (!origin.isNone())
    return origin;
  return isSubscripted ? form : Value();
}

std::optional<Value> TypeForm::getAttr(Interpreter &interpreter, std::string_view attribute) {
  if (attribute == "__origin__" && (isSubscripted || !origin.isNone()))
    return originOf();
  if (attribute == "__args__" && isSubscripted)
    return Value::tuple(arguments);
  if (attribute == "__metadata__" && name == "typing.Annotated" && isSubscripted)
    return Value::tuple(Tuple(arguments.begin() + 1, arguments.end()));
  if (attribute == "__name__" || attribute == "_name")
    return Value(name.substr(name.rfind('.') + 1));
  if (attribute == "__module__")
    return Value("typing");
  return origin.isNone() ? std::nullopt : interpreter.findAttr(origin, attribute);
}

Value TypeForm::call(Interpreter &interpreter, CallArgs args) {
  if (origin.isNone())
    interpreter.raise("TypeError", "Cannot instantiate " + repr());
  return interpreter.call(origin, std::move(args));
}

std::optional<Value> TypeForm::getItem(Interpreter &interpreter, const Value &key) {
  if (name == "typing.Optional")
    return unionOf(interpreter, {key, Value()});
  if (name == "typing.Union" && !isSubscripted)
    return unionOf(interpreter, key.isTuple()
                                    ? std::vector<Value>(key.tuple().begin(), key.tuple().end())
                                    : std::vector<Value>{key});
  if (!origin.isNone())
    return subscripted(interpreter, origin, name, key);
  // Of `Alias[T]` with a type variable inside, the alias is what matters here.
  if (isSubscripted)
    return Value(shared_from_this());
  Value out = subscripted(interpreter, Value(), name, key);
  out.as<TypeForm>()->form = Value(shared_from_this());
  return out;
}

std::optional<Value> TypeForm::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                        bool reflected) {
  if (op != BinaryOp::BitOr)
    return std::nullopt;
  Value self(shared_from_this());
  return reflected ? unionOf(interpreter, {other, self}) : unionOf(interpreter, {self, other});
}

static bool holds(const Tuple &members, const Value &wanted) {
  return std::any_of(members.begin(), members.end(),
                     [&](const Value &v) { return v.isSame(wanted) || equal(v, wanted); });
}

bool TypeForm::equals(const Object &other) const {
  if (this == &other)
    return true;
  auto *alias = dynamic_cast<const TypeForm *>(&other);
  if (!alias || !isSubscripted || !alias->isSubscripted || alias->name != name ||
      !alias->origin.isSame(origin) || alias->arguments.size() != arguments.size())
    return false;
  if (isUnion())
    return std::all_of(arguments.begin(), arguments.end(),
                       [&](const Value &v) { return holds(alias->arguments, v); });
  return equal(Value::tuple(arguments), Value::tuple(alias->arguments));
}

std::optional<size_t> TypeForm::hash() const {
  // Equal unions may name their members in another order.
  return isSubscripted ? std::hash<std::string>()(name) + arguments.size()
                       : std::hash<const void *>()(this);
}

/// None in a type stands for its class, as `typing` has it.
static Value asType(Interpreter &interpreter, const Value &v) {
  return v.isNone() ? Value(interpreter.builtinClass("NoneType")) : v;
}

Value subscripted(Interpreter &interpreter, const Value &origin, const std::string &name,
                  const Value &key) {
  auto out = std::make_shared<TypeForm>(name, origin);
  out->isSubscripted = true;
  for (const Value &argument : key.isTuple() ? key.tuple() : Tuple{key})
    out->arguments.push_back(name == "typing.Literal" ? argument : asType(interpreter, argument));
  return Value(out);
}

Value unionOf(Interpreter &interpreter, const std::vector<Value> &members) {
  Tuple flat;
  for (const Value &member : members) {
    auto *inner = member.as<TypeForm>();
    Tuple parts{asType(interpreter, member)};
    if (inner && inner->isUnion())
      parts = inner->arguments;
    for (const Value &part : parts)
      if (!holds(flat, part))
        flat.push_back(part);
  }
  if (flat.size() == 1)
    return flat[0];
  auto out = std::make_shared<TypeForm>("typing.Union");
  out->form = interpreter.getAttr(Value(interpreter.nativeModule("typing")), "Union");
  out->isSubscripted = true;
  out->arguments = std::move(flat);
  return Value(out);
}

// ---- annotations
// ---------------------------------------------------------------------------------------------------

/// Whether `from __future__ import annotations` is in the file: annotations are texts then.
static bool keepsAnnotationsAsText(const syntax::Module &module) {
  for (const auto &statement : module.body) {
    auto *import = syntax::as<syntax::ImportFrom>(statement.get());
    if (import && import->module == "__future__")
      for (const auto &alias : import->names)
        if (alias.name == "annotations")
          return true;
  }
  return false;
}

static std::string textIn(const syntax::Module &module, const SourceRange &range) {
  std::string out;
  for (uint32_t line = range.line; line <= range.endLine; ++line) {
    std::string_view text = module.file->line(line);
    size_t from = line == range.line ? range.column - 1 : 0;
    size_t to = line == range.endLine ? range.endColumn - 1 : text.size();
    out += text.substr(std::min(from, text.size()), to - std::min(from, to));
  }
  return out;
}

Value annotationValue(Interpreter &interpreter, const syntax::Expr &expr,
                      const std::shared_ptr<Scope> &scope) {
  if (scope->module && scope->module->file && keepsAnnotationsAsText(*scope->module))
    return Value(textIn(*scope->module, expr.range));
  return interpreter.evaluate(expr, scope);
}

Value Annotation::value(Interpreter &interpreter) const {
  return annotationValue(interpreter, expr, scope);
}

/// A text in the place of a type is the type that it names there.
static Value typeOfText(Interpreter &interpreter, Value given,
                        const std::shared_ptr<Namespace> &globals) {
  auto module = std::make_shared<Module>("<annotation>");
  module->globals = globals;
  // A quoted one is a text of a text below the future import.
  while (given.isStr())
    given = interpreter.evaluateText(
        std::make_shared<SourceFile>("<annotation>", interpreter.str(given)), module);
  return given;
}

Value Annotation::type(Interpreter &interpreter) const {
  return typeOfText(interpreter, interpreter.evaluate(expr, scope), scope->globals);
}

std::string Annotation::kind() const {
  const syntax::Expr *base = &expr;
  if (auto *subscript = syntax::as<syntax::Subscript>(base))
    base = subscript->value.get();
  if (auto *name = syntax::as<syntax::Name>(base))
    return name->id;
  auto *attribute = syntax::as<syntax::Attribute>(base);
  return attribute ? attribute->attr : "";
}

Value annotationsOf(Interpreter &interpreter, const Class &cls) {
  Dict out;
  if (const Value *names = cls.attributes.find("__annotations__"); names && names->isDict()) {
    const Dict raw = names->dictionary();
    for (const auto &[name, annotation] : raw.items()) {
      auto *waiting = annotation.as<Annotation>();
      out.set(name, waiting ? waiting->value(interpreter) : annotation);
    }
  }
  return Value::dict(std::move(out));
}

// ---- typing
// -------------------------------------------------------------------------------------------------------

namespace {

void setClass(Module &m, const char *name) {
  m.globals->set(name, Value(Class::make(name, "typing")));
}

/// `List`, `Dict` …: other names for classes.
void addAliases(Interpreter &interpreter, Module &m) {
  for (auto [name, type] : {std::pair{"List", "list"},
                            {"Dict", "dict"},
                            {"Tuple", "tuple"},
                            {"Set", "set"},
                            {"FrozenSet", "frozenset"},
                            {"Type", "type"}})
    m.globals->set(name, Value(std::make_shared<TypeForm>(std::string("typing.") + name,
                                                          Value(interpreter.builtinClass(type)))));
  m.globals->set("Text", Value(interpreter.builtinClass("str")));
  for (auto [name, original] : {std::pair{"DefaultDict", "defaultdict"},
                                {"OrderedDict", "OrderedDict"},
                                {"Counter", "Counter"},
                                {"Deque", "deque"}})
    if (auto cls = interpreter.findAttr(Value(interpreter.nativeModule("collections")), original))
      m.globals->set(name, Value(std::make_shared<TypeForm>(std::string("typing.") + name, *cls)));
}

/// TypeVar, ParamSpec, TypeVarTuple: `T.__name__`, `__bound__`, `__constraints__`.
Value typeVariable(Interpreter &interpreter, CallArgs args) {
  auto out = std::make_shared<Instance>(Class::make("TypeVar", "typing"));
  out->attributes.set("__name__", args.positional.empty() ? Value("T") : args.positional[0]);
  out->attributes.set("__constraints__",
                      Value::tuple(args.positional.empty() ? Tuple() : args.positional.from(1)));
  const Value *bound = args.keyword("bound");
  out->attributes.set("__bound__", bound ? *bound : Value());
  out->cls->attributes.set("__or__", nativeRaw("__or__", [](Interpreter &i, CallArgs a) {
                             return unionOf(i, {a.positional.at(0), a.positional.at(1)});
                           }));
  out->cls->attributes.set("__ror__", nativeRaw("__ror__", [](Interpreter &i, CallArgs a) {
                             return unionOf(i, {a.positional.at(1), a.positional.at(0)});
                           }));
  return Value(out);
}

Value hintsOf(Interpreter &interpreter, Bound &a) {
  Value out = Value::dict();
  if (auto *cls = a[0].as<Class>()) {
    std::vector<const Class *> order{cls};
    for (const auto &base : cls->mro)
      order.insert(order.begin(), base.get());
    for (const Class *c : order) {
      const Value *names = c->attributes.find("__annotations__");
      const Dict raw = names && names->isDict() ? names->dictionary() : Dict();
      for (const auto &[name, annotation] : raw.items()) {
        auto *waiting = annotation.as<Annotation>();
        out.dictionary().set(
            name, asType(interpreter, waiting ? waiting->type(interpreter) : annotation));
      }
    }
    return out;
  }
  Value own = interpreter.getAttr(a[0], "__annotations__");
  auto *function = a[0].as<Function>();
  for (const auto &[name, type] : own.dictionary().items())
    out.dictionary().set(
        name,
        asType(interpreter, function ? typeOfText(interpreter, type, function->globals) : type));
  return out;
}

/// `NamedTuple("Point", [("x", int), ("y", int)])`, a class without a class statement.
Value namedTupleOf(Interpreter &interpreter, CallArgs args) {
  static const Signature signature("typename, fields=()");
  Bound a = signature.bind(interpreter, "NamedTuple", args);
  auto cls = Class::make(interpreter.toStr(a[0], "typename"), "");
  std::vector<std::string> names;
  Dict annotations;
  for (const Value &field : interpreter.iterate(a[1])) {
    std::vector<Value> both = interpreter.iterate(field);
    if (both.size() != 2)
      interpreter.raise("ValueError", "a field of NamedTuple() is a name and a type, got " +
                                          interpreter.repr(field));
    names.push_back(interpreter.toStr(both[0], "a field name"));
    annotations.set(both[0], both[1]);
  }
  cls->attributes.set("__annotations__", Value::dict(std::move(annotations)));
  interpreter.state().madeClasses.push_back(cls);
  makeNamedTuple(interpreter, cls, names);
  return Value(cls);
}

/// `TypedDict("Options", {"size": int})`.
Value typedDictOf(Interpreter &interpreter, CallArgs args) {
  static const Signature signature("typename, fields, *, total=True");
  Bound a = signature.bind(interpreter, "TypedDict", args);
  auto cls =
      Class::make(interpreter.toStr(a[0], "typename"), "",
                  {interpreter.nativeModule("typing")->globals->at("TypedDict").shared<Class>()});
  cls->attributes.set("__annotations__", Value::dict(Dict(a[1].dictionary())));
  interpreter.state().madeClasses.push_back(cls);
  finishClass(interpreter, cls);
  return Value(cls);
}

void addReflection(Module &m) {
  auto set = [&](const char *name, const char *signature, NativeFunction::Body body) {
    m.globals->set(name, native(std::string("typing.") + name, signature, std::move(body)));
  };
  set("get_origin", "tp", [](Interpreter &, Bound &a) {
    auto *form = a[0].as<TypeForm>();
    return form ? form->originOf() : Value();
  });
  set("get_args", "tp", [](Interpreter &, Bound &a) {
    auto *form = a[0].as<TypeForm>();
    return Value::tuple(form && form->isSubscripted ? form->arguments : Tuple());
  });
  set("get_type_hints", "obj, globalns=None, localns=None, include_extras=False", hintsOf);
  set("NewType", "name, tp", [](Interpreter &, Bound &a) { return a[1]; });
  set("is_typeddict", "tp", [](Interpreter &, Bound &a) {
    auto *cls = a[0].as<Class>();
    return Value(cls && std::any_of(cls->mro.begin(), cls->mro.end(),
                                    [](const auto &c) { return c->name == "TypedDict"; }));
  });
  auto same = [](Interpreter &, CallArgs args) { return args.positional.back(); };
  for (const char *name : {"cast", "overload", "final", "no_type_check", "override"})
    m.globals->set(name, nativeRaw(std::string("typing.") + name, same));
  m.globals->set("runtime_checkable",
                 nativeRaw("typing.runtime_checkable", [](Interpreter &, CallArgs args) {
                   args.positional.at(0)
                       .expect<Class>("a protocol")
                       .attributes.set("_is_runtime_protocol", Value(true));
                   return args.positional[0];
                 }));
  // Decorators that are made by a call and change nothing.
  for (const char *name : {"dataclass_transform", "deprecated"})
    m.globals->set(name, nativeRaw(std::string("typing.") + name, [same](Interpreter &, CallArgs) {
                     return nativeRaw("decorator", same);
                   }));
  for (const char *name : {"TypeVar", "ParamSpec", "TypeVarTuple"})
    m.globals->set(name, nativeRaw(std::string("typing.") + name, typeVariable));
}

} // namespace

void fillTyping(Interpreter &interpreter, Module &m) {
  if (m.name == "collections.abc") { // the same names, but for one
    auto typing = interpreter.nativeModule("typing");
    m.globals->set("Set", typing->globals->at("AbstractSet"));
    m.fallback = [typing](Interpreter &i, std::string_view name) {
      return i.findAttr(Value(typing), name);
    };
    return;
  }
  // One set of names: `typing.Any is typing_extensions.Any`.
  if (m.name != "typing") {
    auto typing = interpreter.nativeModule("typing");
    m.globals = typing->globals;
    m.fallback = typing->fallback;
    return;
  }
  addAbstractClasses(interpreter, m);
  addAliases(interpreter, m);
  addReflection(m);
  for (const char *name : {"Generic", "Protocol", "NamedTuple", "TypedDict", "ForwardRef"})
    setClass(m, name);
  m.globals->at("NamedTuple").expect<Class>("a class").construct = namedTupleOf;
  m.globals->at("TypedDict").expect<Class>("a class").construct = typedDictOf;
  for (const char *name :
       {"Any",           "Union",    "Optional",    "Literal",   "Annotated",   "Final",
        "ClassVar",      "Required", "NotRequired", "ReadOnly",  "Concatenate", "Self",
        "LiteralString", "Never",    "NoReturn",    "TypeAlias", "TypeGuard",   "TypeIs",
        "Unpack",        "AnyStr",   "IO",          "TextIO",    "BinaryIO"})
    m.globals->set(name, Value(std::make_shared<TypeForm>(std::string("typing.") + name)));
  m.globals->set("TYPE_CHECKING", Value(false));
  std::weak_ptr<Namespace> names = m.globals;
  m.fallback = [names](Interpreter &, std::string_view name) -> std::optional<Value> {
    if (name.starts_with("__"))
      return std::nullopt;
    Value made(std::make_shared<TypeForm>("typing." + std::string(name)));
    if (auto known = names.lock())
      known->set(name, made);
    return made;
  };
}

} // namespace pellucid::host
