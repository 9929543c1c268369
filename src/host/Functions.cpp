// SPDX-License-Identifier: Apache-2.0
/// Calls: binding arguments to parameters, running bodies, native functions, methods.
#include "host/InterpreterState.h"
#include "host/TypeForm.h"
#include "support/PlainNumbers.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace pellucid::host {

using namespace syntax;

SourceLocation Function::location() const {
  return module->locate(def ? static_cast<const Node &>(*def) : static_cast<const Node &>(*lambda));
}

std::optional<Value> Function::lookup(Interpreter &interpreter, std::string_view name) const {
  return lookupName(interpreter, *closure, name);
}

// ---- binding
// -------------------------------------------------------------------------------------------------------

namespace {

std::string plural(size_t n, const char *noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// "'a', 'b', and 'c'", as Python lists what is missing.
std::string quotedList(const std::vector<std::string> &names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i)
      out += names.size() == 2 ? " and " : i + 1 == names.size() ? ", and " : ", ";
    out += "'" + names[i] + "'";
  }
  return out;
}

/// Binds one call to a Python function's parameters.
class Binder {
public:
  Binder(Interpreter &i, const Function &f, Namespace &n)
      : interpreter(i), function(f), args(*f.parameters), names(n) {}

  void bind(CallArgs &call) {
    positional.reserve(args.posonlyargs.size() + args.args.size());
    for (const auto *list : {&args.posonlyargs, &args.args})
      for (const auto &a : *list)
        positional.push_back(&a->arg);
    bindPositional(call);
    bindKeywords(call);
    fillDefaults();
  }

private:
  Interpreter &interpreter;
  const Function &function;
  const Arguments &args;
  Namespace &names;
  std::vector<const std::string *> positional;
  size_t bound = 0; ///< so many of them are given by position

  [[noreturn]] void fail(const std::string &what) {
    interpreter.raise("TypeError", function.qualifiedName() + "() " + what);
  }

  void bindPositional(CallArgs &call) {
    size_t given = call.positional.size();
    if (given > positional.size() && !args.vararg) {
      size_t required = positional.size() - function.defaults.size();
      std::string range = required == positional.size()
                              ? plural(positional.size(), "positional argument")
                              : "from " + std::to_string(required) + " to " +
                                    plural(positional.size(), "positional argument");
      fail("takes " + range + " but " + std::to_string(given) +
           (given == 1 ? " was given" : " were given"));
    }
    bound = std::min(given, positional.size());
    for (size_t i = 0; i < bound; ++i)
      names.set(*positional[i], std::move(call.positional[i]));
    if (args.vararg) {
      auto from =
          call.positional.begin() + static_cast<std::ptrdiff_t>(std::min(given, positional.size()));
      names.set(args.vararg->arg, Value::tuple({from, call.positional.end()}));
    }
  }

  bool acceptsKeyword(const std::string &name) const {
    auto among = [&](const syntax::List<Arg> &list) {
      return std::any_of(list.begin(), list.end(), [&](const auto &a) { return a->arg == name; });
    };
    return among(args.args) || among(args.kwonlyargs);
  }

  void bindKeywords(CallArgs &call) {
    host::Dict rest;
    for (auto &[name, value] : call.keywords) {
      if (!acceptsKeyword(name)) {
        bool byPlaceOnly = std::any_of(args.posonlyargs.begin(), args.posonlyargs.end(),
                                       [&](const auto &a) { return a->arg == name; });
        if (!args.kwarg && byPlaceOnly)
          fail("got some positional-only arguments passed as keyword arguments: '" + name + "'");
        if (!args.kwarg)
          fail("got an unexpected keyword argument '" + name + "'");
        rest.set(Value(name), std::move(value));
        continue;
      }
      if (names.find(name))
        fail("got multiple values for argument '" + name + "'");
      names.set(name, std::move(value));
    }
    if (args.kwarg)
      names.set(args.kwarg->arg, Value::dict(std::move(rest)));
  }

  void fillDefaults() {
    std::vector<std::string> missing;
    size_t firstDefault = positional.size() - function.defaults.size();
    for (size_t i = bound; i < positional.size(); ++i) {
      if (names.find(*positional[i]))
        continue;
      if (i < firstDefault)
        missing.push_back(*positional[i]);
      else
        names.set(*positional[i], function.defaults[i - firstDefault]);
    }
    if (!missing.empty())
      fail("missing " + plural(missing.size(), "required positional argument") + ": " +
           quotedList(missing));
    for (size_t i = 0; i < args.kwonlyargs.size(); ++i) {
      const std::string &name = args.kwonlyargs[i]->arg;
      if (names.find(name))
        continue;
      if (!function.keywordDefaults[i])
        missing.push_back(name);
      else
        names.set(name, *function.keywordDefaults[i]);
    }
    if (!missing.empty())
      fail("missing " + plural(missing.size(), "required keyword-only argument") + ": " +
           quotedList(missing));
  }
};

} // namespace

Value Function::call(Interpreter &interpreter, CallArgs args) {
  Interpreter::State &state = interpreter.state();
  if (def && def->kind == StmtKind::AsyncFunctionDef)
    interpreter.refuse(
        "'async' functions are not supported in host code; write an ordinary function");
  if (state.cycles.isDue())
    state.cycles.collect();
  if (state.frames.size() >= state.options.maxDepth && state.options.script)
    interpreter.raise("RecursionError", "maximum recursion depth exceeded");
  if (state.frames.size() >= state.options.maxDepth)
    interpreter.refuse("calls are nested too deeply (more than " +
                       std::to_string(state.options.maxDepth) + "); write the recursion as a loop");
  const ScopeFacts &facts = state.factsOf(*this);
  auto scope = std::make_shared<Scope>();
  scope->names = std::make_shared<Namespace>();
  scope->names->reserve(facts.locals.size());
  scope->globals = globals;
  scope->parent = closure;
  scope->module = module;
  scope->locals = &facts.locals;
  scope->cells = &facts.cells;
  scope->globalNames = &facts.globals;
  scope->nonlocalNames = &facts.nonlocals;
  SourceLocation site = args.location.known() ? args.location : interpreter.location();
  Binder(interpreter, *this, *scope->names).bind(args);
  if (facts.isGenerator)
    return beginGenerator(interpreter, std::static_pointer_cast<Function>(shared_from_this()),
                          scope, site);

  struct Release {
    const std::shared_ptr<Scope> &scope;
    ~Release() { releaseLocals(scope); }
  } release{scope};
  PlaceGuard place(state);
  state.module = module.get();
  state.frames.push_back({this, scope, std::move(site)});
  struct Leave {
    std::vector<Frame> &frames;
    ~Leave() {
      if (!frames.empty())
        frames.pop_back();
    }
  } leave{state.frames};
  Evaluator evaluator(interpreter, scope);
  try {
    if (lambda)
      return evaluator.eval(*lambda->body);
    evaluator.run(def->body);
    return evaluator.takeResult();
  } catch (const RaisedError &) {
    throw;
  } catch (const DiagnosticError &error) {
    if (error.diagnostic.location.known())
      throw;
    // Refused without an evaluator at hand: the place is the one that is left here.
    interpreter.refuse(error.diagnostic.message);
  }
}

/// The names of enclosing functions that a function reads, with the scopes that have them.
static std::map<std::string, std::shared_ptr<Scope>> freeVariables(Interpreter &interpreter,
                                                                   const Function &f) {
  std::map<std::string, std::shared_ptr<Scope>> out;
  for (const std::string &name : interpreter.state().factsOf(f).frees)
    for (auto scope = f.closure; scope && scope->form != Scope::Form::Module; scope = scope->parent)
      if (scope->form != Scope::Form::Class && scope->locals && scope->locals->count(name)) {
        out.emplace(name, scope);
        break;
      }
  return out;
}

static host::Tuple namesIn(const NameSet &names) { return {names.begin(), names.end()}; }
static host::Tuple namesIn(const std::map<std::string, std::shared_ptr<Scope>> &variables) {
  host::Tuple out;
  for (const auto &[name, scope] : variables)
    out.emplace_back(name);
  return out;
}

namespace {
/// What `f.__closure__` is made of: a variable of a scope.
class Cell : public Object {
public:
  Cell(std::shared_ptr<Scope> s, std::string n) : scope(std::move(s)), name(std::move(n)) {}
  std::string typeName() const override { return "cell"; }
  std::optional<Value> getAttr(Interpreter &interpreter, std::string_view attribute) override {
    if (attribute != "cell_contents")
      return std::nullopt;
    const Value *held = scope->names->find(name);
    if (!held)
      interpreter.raise("ValueError", "Cell is empty");
    return *held;
  }
  bool setAttr(Interpreter &, std::string_view attribute, const Value &value) override {
    if (attribute != "cell_contents")
      return false;
    scope->names->set(name, value);
    return true;
  }
  bool equals(const Object &other) const override {
    auto *cell = dynamic_cast<const Cell *>(&other);
    return cell && cell->scope == scope && cell->name == name;
  }
  std::optional<size_t> hash() const override { return std::hash<std::string>()(name); }
  void visitReferences(ReferenceVisitor &visitor) const override { visitor.scope(scope); }

private:
  std::shared_ptr<Scope> scope;
  std::string name;
};
} // namespace

static Value closureOf(Interpreter &interpreter, const Function &f) {
  host::Tuple cells;
  for (const auto &[name, scope] : freeVariables(interpreter, f))
    cells.emplace_back(std::make_shared<Cell>(scope, name));
  return cells.empty() ? Value() : Value::tuple(std::move(cells));
}

/// `f.__code__`: what files ask of a function's text.
static Value codeOf(Interpreter &interpreter, const Function &f) {
  auto code = std::make_shared<Instance>(Class::make("code", "types"));
  host::Tuple names;
  auto add = [&](const syntax::Arg *arg) {
    if (arg)
      names.emplace_back(arg->arg);
  };
  for (const auto *list :
       {&f.parameters->posonlyargs, &f.parameters->args, &f.parameters->kwonlyargs})
    for (const auto &arg : *list)
      add(arg.get());
  size_t positional = f.parameters->posonlyargs.size() + f.parameters->args.size();
  add(f.parameters->vararg.get());
  add(f.parameters->kwarg.get());
  const ScopeFacts &facts = interpreter.state().factsOf(f);
  size_t own = names.size();
  for (const std::string &local : facts.locals)
    if (std::none_of(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(own),
                     [&](const Value &name) { return name.str() == local; }))
      names.emplace_back(local);
  SourceLocation where = f.location();
  for (const auto &[name, value] :
       {std::pair<const char *, Value>{"co_argcount", Value(static_cast<int64_t>(positional))},
        {"co_posonlyargcount", Value(static_cast<int64_t>(f.parameters->posonlyargs.size()))},
        {"co_kwonlyargcount", Value(static_cast<int64_t>(f.parameters->kwonlyargs.size()))},
        {"co_nlocals", Value(static_cast<int64_t>(names.size()))},
        {"co_varnames", Value::tuple(names)},
        {"co_freevars", Value::tuple(namesIn(freeVariables(interpreter, f)))},
        {"co_cellvars", Value::tuple(namesIn(facts.cells))},
        {"co_name", Value(f.name)},
        {"co_filename", Value(f.module->file->path())},
        {"co_firstlineno", Value(static_cast<int64_t>(where.range.line))}})
    code->attributes.set(name, value);
  return Value(code);
}

std::optional<Value> Function::getAttr(Interpreter &interpreter, std::string_view attribute) {
  if (const Value *found = attributes.find(attribute))
    return *found;
  if (attribute == "__name__")
    return Value(name);
  if (attribute == "__qualname__")
    return Value(qualifiedName());
  if (attribute == "__closure__")
    return closureOf(interpreter, *this);
  if (attribute == "__module__")
    if (const Value *module = globals->find("__name__"))
      return *module;
  if (attribute == "__doc__") {
    auto *first = def && !def->body.empty() ? as<ExprStmt>(def->body[0].get()) : nullptr;
    auto *text = first ? as<Constant>(first->value.get()) : nullptr;
    return text && text->type == Constant::Type::String ? Value(text->text) : Value();
  }
  if (attribute == "__call__")
    return Value(shared_from_this());
  if (attribute == "__dict__")
    return namesOf(Value(shared_from_this()), attributes);
  if (attribute == "__get__")
    return nativeRaw("__get__", [self = Value(shared_from_this())](Interpreter &, CallArgs args) {
      if (args.positional.at(0).isNone())
        return self;
      return Value(std::make_shared<BoundMethod>(args.positional.at(0), self));
    });
  if (attribute == "__defaults__")
    return defaults.empty() ? Value() : Value::tuple(host::Tuple(defaults.begin(), defaults.end()));
  if (attribute == "__kwdefaults__") {
    host::Dict out;
    for (size_t i = 0; i < parameters->kwonlyargs.size(); ++i)
      if (keywordDefaults[i])
        out.set(Value(parameters->kwonlyargs[i]->arg), *keywordDefaults[i]);
    return out.size() ? Value::dict(std::move(out)) : Value();
  }
  if (attribute == "__globals__")
    return namesOf(Value(), *globals);
  if (attribute == "__code__")
    return codeOf(interpreter, *this);
  // functools.wraps() shares those of what is wrapped.
  if (const Value *wrapped =
          attribute == "__annotations__" ? attributes.find("__wrapped__") : nullptr)
    if (auto found = interpreter.findAttr(*wrapped, attribute))
      return found;
  return attribute == "__annotations__" ? std::optional(annotations(interpreter)) : std::nullopt;
}

Value Function::annotations(Interpreter &interpreter) const {
  host::Dict out;
  auto add = [&](const std::string &parameter, const syntax::Expr *annotation) {
    if (annotation)
      out.set(Value(parameter), annotationValue(interpreter, *annotation, closure));
  };
  for (const auto *list : {&parameters->posonlyargs, &parameters->args})
    for (const auto &arg : *list)
      add(arg->arg, arg->annotation.get());
  if (parameters->vararg)
    add(parameters->vararg->arg, parameters->vararg->annotation.get());
  for (const auto &arg : parameters->kwonlyargs)
    add(arg->arg, arg->annotation.get());
  if (parameters->kwarg)
    add(parameters->kwarg->arg, parameters->kwarg->annotation.get());
  add("return", def ? def->returns.get() : nullptr);
  return Value::dict(std::move(out));
}

bool Function::setAttr(Interpreter &, std::string_view attribute, const Value &value) {
  if (attribute == "__name__" && value.isStr())
    name = value.str();
  else if (attribute == "__defaults__" && (value.isNone() || value.isTuple()))
    defaults = value.isNone() ? std::vector<Value>() : std::vector<Value>(value.tuple());
  else
    attributes.set(attribute, value);
  return true;
}

// ---- native functions
// ----------------------------------------------------------------------------------------------

/// A literal of a native signature: None, True, False, a number, 'text', ().
static Value parseDefault(std::string_view text) {
  if (text == "None")
    return Value();
  if (text == "True" || text == "False")
    return Value(text == "True");
  if (text == "()")
    return Value::tuple({});
  if (text.front() == '\'')
    return Value(text.substr(1, text.size() - 2));
  if (text.find_first_of(".e") != std::string_view::npos) {
    PlainNumbers numbers;
    return Value(std::stod(std::string(text)));
  }
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::logic_error("native signature default '" + std::string(text) + "'");
  return Value(value);
}

static std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Signature::Signature(std::string_view text) : source(text) {
  bool keywordOnly = false;
  while (!text.empty()) {
    size_t comma = text.find(',');
    if (size_t open = text.find('('); open < comma)
      comma = text.find(',', text.find(')', open));
    std::string_view part = trim(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (part == "/")
      continue;
    if (part == "*") {
      keywordOnly = true;
      continue;
    }
    Parameter p{keywordOnly ? Parameter::Form::KeywordOnly : Parameter::Form::Positional, "", {}};
    if (part.starts_with("**"))
      p.form = Parameter::Form::KeywordRest, part.remove_prefix(2);
    else if (part.starts_with("*"))
      p.form = Parameter::Form::Rest, part.remove_prefix(1), keywordOnly = true;
    size_t equals = part.find('=');
    p.name = trim(part.substr(0, equals));
    if (equals != std::string_view::npos)
      p.fallback = parseDefault(trim(part.substr(equals + 1)));
    parameters.push_back(std::move(p));
  }
}

std::vector<Value> Signature::bind(Interpreter &interpreter, std::string_view function,
                                   const CallArgs &args) const {
  auto called = [&] { return std::string(function) + "()"; };
  std::vector<std::optional<Value>> slots(parameters.size());
  std::vector<bool> used(args.keywords.size());
  size_t next = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &p = parameters[i];
    if (p.form == Parameter::Form::Rest) {
      slots[i] = Value::tuple(
          {args.positional.begin() + static_cast<std::ptrdiff_t>(next), args.positional.end()});
      next = args.positional.size();
      continue;
    }
    if (p.form == Parameter::Form::Positional && next < args.positional.size())
      slots[i] = args.positional[next++];
  }
  if (next < args.positional.size())
    interpreter.raise("TypeError", called() + " takes " + plural(next, "positional argument") +
                                       " but " + std::to_string(args.positional.size()) +
                                       " were given");
  for (size_t k = 0; k < args.keywords.size(); ++k)
    for (size_t i = 0; i < parameters.size(); ++i) {
      bool named = parameters[i].form == Parameter::Form::Positional ||
                   parameters[i].form == Parameter::Form::KeywordOnly;
      if (!named || parameters[i].name != args.keywords[k].first)
        continue;
      if (slots[i])
        interpreter.raise("TypeError", called() + " got multiple values for argument '" +
                                           parameters[i].name + "'");
      slots[i] = args.keywords[k].second;
      used[k] = true;
    }
  std::vector<Value> bound;
  bound.reserve(parameters.size());
  host::Dict rest;
  bool takesRest = false;
  for (size_t k = 0; k < used.size(); ++k)
    if (!used[k])
      rest.set(Value(args.keywords[k].first), args.keywords[k].second);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].form == Parameter::Form::KeywordRest) {
      takesRest = true;
      slots[i] = Value::dict(rest);
    }
    if (!slots[i])
      slots[i] = parameters[i].fallback;
    if (!slots[i])
      interpreter.raise("TypeError",
                        called() + " missing required argument: '" + parameters[i].name + "'");
    bound.push_back(std::move(*slots[i]));
  }
  if (!takesRest && rest.size())
    interpreter.raise("TypeError", called() + " got an unexpected keyword argument '" +
                                       rest.items()[0].first.str() + "'");
  return bound;
}

Value NativeFunction::call(Interpreter &interpreter, CallArgs args) {
  if (ofContent && !args.positional.empty())
    args.positional[0] = contentOf(args.positional[0]);
  return body(interpreter, std::move(args));
}

static std::string_view shortName(std::string_view qualified) {
  size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

NativeFunction::NativeFunction(std::string n, std::string_view text, Body function)
    : NativeFunction(std::move(n), std::make_shared<const Signature>(text), std::move(function)) {}

NativeFunction::NativeFunction(std::string n, std::shared_ptr<const Signature> parsed,
                               Body function)
    : name(std::move(n)), signature(parsed->text()),
      body([this, parsed, f = std::move(function)](Interpreter &interpreter, CallArgs args) {
        std::vector<Value> bound = parsed->bind(interpreter, shortName(name), args);
        return f(interpreter, bound);
      }) {}

Value native(std::string name, std::string_view signature, NativeFunction::Body body) {
  return Value(std::make_shared<NativeFunction>(std::move(name), signature, std::move(body)));
}

Value native(std::string name, std::shared_ptr<const Signature> signature,
             NativeFunction::Body body) {
  return Value(
      std::make_shared<NativeFunction>(std::move(name), std::move(signature), std::move(body)));
}

Value nativeRaw(std::string name, NativeFunction::RawBody body) {
  return Value(std::make_shared<NativeFunction>(std::move(name), std::move(body)));
}

bool NativeFunction::setAttr(Interpreter &, std::string_view attribute, const Value &value) {
  if (!attributes)
    attributes = std::make_unique<Namespace>();
  attributes->set(attribute, value);
  return true;
}

std::optional<Value> NativeFunction::getAttr(Interpreter &, std::string_view attribute) {
  if (const Value *found = attributes ? attributes->find(attribute) : nullptr)
    return *found;
  if (attribute == "__dict__" && attributes)
    return namesOf(Value(shared_from_this()), *attributes);
  if (attribute == "__get__")
    return nativeRaw("__get__", [self = Value(shared_from_this())](Interpreter &, CallArgs args) {
      if (args.positional.at(0).isNone())
        return self;
      return Value(std::make_shared<BoundMethod>(args.positional.at(0), self));
    });
  if (attribute == "__name__" || attribute == "__qualname__")
    return Value(shortName(name));
  if (attribute == "__doc__")
    return Value();
  return std::nullopt;
}

// ---- methods
// -------------------------------------------------------------------------------------------------------

Value BoundMethod::call(Interpreter &interpreter, CallArgs args) {
  args.positional.insert(args.positional.begin(), self);
  return interpreter.call(function, std::move(args));
}

std::optional<Value> BoundMethod::getAttr(Interpreter &interpreter, std::string_view name) {
  if (name == "__self__")
    return self;
  if (name == "__func__")
    return function;
  return interpreter.findAttr(function, name);
}

bool BoundMethod::equals(const Object &other) const {
  auto *method = dynamic_cast<const BoundMethod *>(&other);
  return method && method->self.isSame(self) && method->function.isSame(function);
}

std::string Descriptor::typeName() const {
  return form == Form::Property ? "property"
         : form == Form::Static ? "staticmethod"
                                : "classmethod";
}

std::optional<Value> Descriptor::getAttr(Interpreter &interpreter, std::string_view name) {
  Value Descriptor::*part = name == "setter"    ? &Descriptor::setter
                            : name == "getter"  ? &Descriptor::function
                            : name == "deleter" ? &Descriptor::deleter
                                                : nullptr;
  if (form == Form::Property && part)
    return nativeRaw(std::string(name),
                     [part, self = std::static_pointer_cast<Descriptor>(shared_from_this())](
                         Interpreter &, CallArgs args) {
                       auto copy = std::make_shared<Descriptor>(Form::Property, self->function);
                       copy->setter = self->setter;
                       copy->deleter = self->deleter;
                       copy->doc = self->doc;
                       (*copy).*part = args.positional.at(0);
                       return Value(copy);
                     });
  if (name == "fset" || name == "fdel")
    return name == "fset" ? setter : deleter;
  if (name == "__func__" || name == "fget" || name == "__wrapped__")
    return function;
  if (name == "__doc__" && !doc.isNone())
    return doc;
  if (form == Form::Property && name == "__get__")
    return nativeRaw("__get__", [self = std::static_pointer_cast<Descriptor>(shared_from_this())](
                                    Interpreter &i, CallArgs args) {
      return args.positional.at(0).isNone() ? Value(self)
                                            : i.call(self->function, {args.positional[0]});
    });
  // What the function says of itself, its marks (abstractmethod) among it.
  return name == "__doc__" || name == "__name__" || name == "__isabstractmethod__" ||
                 form != Form::Property
             ? interpreter.findAttr(function, name)
             : std::nullopt;
}

Value Descriptor::call(Interpreter &interpreter, CallArgs args) {
  return interpreter.call(function, std::move(args));
}

// ---- the defaults of Object
// ----------------------------------------------------------------------------------------

std::string Object::repr() const { return "<" + typeName() + ">"; }
std::optional<Value> Object::getAttr(Interpreter &, std::string_view) { return std::nullopt; }
bool Object::setAttr(Interpreter &, std::string_view, const Value &) { return false; }
bool Object::delAttr(Interpreter &, std::string_view) { return false; }
Value Object::call(Interpreter &interpreter, CallArgs) {
  interpreter.raise("TypeError", "'" + typeName() + "' object is not callable");
}
std::optional<Value> Object::getItem(Interpreter &, const Value &) { return std::nullopt; }
bool Object::setItem(Interpreter &, const Value &, const Value &) { return false; }
std::optional<Value> Object::binaryOp(Interpreter &, BinaryOp, const Value &, bool) {
  return std::nullopt;
}
std::optional<Value> Object::inPlaceOp(Interpreter &, BinaryOp, const Value &) {
  return std::nullopt;
}
std::optional<Value> Object::unaryOp(Interpreter &, UnaryOp) { return std::nullopt; }
std::optional<Value> Object::compare(Interpreter &, CompareOp, const Value &, bool) {
  return std::nullopt;
}
std::optional<Value> Object::length(Interpreter &) { return std::nullopt; }
std::optional<std::vector<Value>> Object::iterate(Interpreter &) { return std::nullopt; }
std::optional<bool> Object::contains(Interpreter &, const Value &) { return std::nullopt; }

// ---- modules
// -------------------------------------------------------------------------------------------------------

std::optional<Value> Module::getAttr(Interpreter &interpreter, std::string_view attribute) {
  if (auto found = settled(interpreter, *globals, attribute))
    return found;
  if (attribute == "__name__")
    return Value(name);
  if (attribute == "__dict__")
    return namesOf(Value(shared_from_this()), *globals);
  if (!replacement.isNone())
    if (auto found = interpreter.findAttr(replacement, attribute))
      return found;
  if (fallback)
    if (auto found = fallback(interpreter, attribute)) {
      // What is made when it is asked for, and is the same every time, is made once.
      bool isPlain = found->as<NativeFunction>() || found->as<NamedBuiltin>() || found->as<DType>();
      if (!syntax && isPlain)
        globals->set(attribute, *found);
      return found;
    }
  // A module's own `def __getattr__(name)`.
  const Value *own = attribute.starts_with("__") ? nullptr : globals->find("__getattr__");
  if (!own)
    return std::nullopt;
  try {
    return interpreter.call(*own, {Value(attribute)});
  } catch (const RaisedError &error) {
    if (!interpreter.isInstance(error.exception, Value(interpreter.builtinClass("AttributeError"))))
      throw;
    return std::nullopt;
  }
}

bool Module::setAttr(Interpreter &interpreter, std::string_view attribute, const Value &value) {
  if (assigned)
    assigned(interpreter, attribute, value);
  globals->set(attribute, value);
  return true;
}

} // namespace pellucid::host
