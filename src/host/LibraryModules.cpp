// SPDX-License-Identifier: Apache-2.0
/// Modules of Python's library that are written in Python: collections, threading, and what of
/// contextlib needs no generator; copy.
#include "host/InterpreterState.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

const char *const collectionsSource =
#include "host/modules/collections.py.inc"
    ;
const char *const threadingSource =
#include "host/modules/threading.py.inc"
    ;
const char *const contextlibSource =
#include "host/modules/contextlib.py.inc"
    ;

const char *const typesSource =
#include "host/modules/types.py.inc"
    ;
const char *const itertoolsSource =
#include "host/modules/itertools.py.inc"
    ;
const char *const numbersSource =
#include "host/modules/numbers.py.inc"
    ;
const char *const operatorSource =
#include "host/modules/operator.py.inc"
    ;
const char *const functoolsSource =
#include "host/modules/functools.py.inc"
    ;
const char *const jsonSource =
#include "host/modules/json.py.inc"
    ;
const char *const contextvarsSource =
#include "host/modules/contextvars.py.inc"
    ;
const char *const inspectSource =
#include "host/modules/inspect.py.inc"
    ;

/// The public names of `source` become the module's.
NativeModules::Fill fillFrom(const char *source) {
  return [source](Interpreter &interpreter, Module &m) {
    auto written =
        interpreter.importSource(m.name, std::make_shared<SourceFile>("<" + m.name + ">", source));
    for (const auto &[name, value] : written->globals->items())
      if (!name.starts_with("_"))
        m.globals->set(name, value);
  };
}

/// copy.copy: the outermost container anew, with the same elements.
Value shallowCopy(Interpreter &interpreter, Bound &a) {
  const Value &value = a[0];
  if (value.isList())
    return Value::list(List(value.list()));
  if (value.isDict())
    return Value::dict(Dict(value.dictionary()));
  if (value.isSet())
    return Value::set(Set(value.elementSet()), value.elementSet().frozen);
  if (auto names = copyOfNames(value))
    return Value::dict(std::move(*names));
  auto *instance = value.as<Instance>();
  if (!instance || instance->cls->find("__members__"))
    return value;
  if (auto own = instance->special(interpreter, "__copy__"))
    return interpreter.call(*own);
  auto fresh = std::make_shared<Instance>(instance->cls);
  fresh->payload = instance->payload;
  fresh->attributes = instance->attributes;
  if (instance->content) {
    Bound content{*instance->content};
    fresh->content = shallowCopy(interpreter, content);
  }
  return Value(fresh);
}

void fillCopy(Interpreter &, Module &m) {
  m.globals->set("copy", native("copy.copy", "x", shallowCopy));
  m.globals->set("deepcopy", native("copy.deepcopy", "x, memo=None",
                                    [](Interpreter &i, Bound &a) { return deepCopy(i, a[0]); }));
}

// The numbers of inspect.Parameter's kinds.
enum ParameterKind : int8_t { PositionalOnly, Positional, Rest, KeywordOnly, KeywordRest };

/// Of a parameter; `owner`, the function whose annotations it has, is None for native ones.
Value described(const std::string &name, ParameterKind kind, const Value *fallback = nullptr,
                const Value &owner = {}) {
  return Value::tuple({Value(name), Value(int(kind)), Value(fallback != nullptr),
                       fallback ? *fallback : Value(), owner});
}

List parametersOf(const Value &callable) {
  const Function &function = callable.expect<Function>("a function");
  const syntax::Arguments &args = *function.parameters;
  List out;
  size_t total = args.posonlyargs.size() + args.args.size(),
         firstDefault = total - function.defaults.size(), index = 0;
  auto add = [&](const syntax::Arg &arg, ParameterKind kind) {
    out.push_back(described(
        arg.arg, kind, index < firstDefault ? nullptr : &function.defaults[index - firstDefault],
        callable));
    ++index;
  };
  for (const auto &arg : args.posonlyargs)
    add(*arg, PositionalOnly);
  for (const auto &arg : args.args)
    add(*arg, Positional);
  if (args.vararg)
    out.push_back(described(args.vararg->arg, Rest, nullptr, callable));
  for (size_t i = 0; i < args.kwonlyargs.size(); ++i) {
    const std::optional<Value> &fallback = function.keywordDefaults[i];
    out.push_back(
        described(args.kwonlyargs[i]->arg, KeywordOnly, fallback ? &*fallback : nullptr, callable));
  }
  if (args.kwarg)
    out.push_back(described(args.kwarg->arg, KeywordRest, nullptr, callable));
  return out;
}

/// What inspect.signature() says of a callable; None where Python's own has none either.
Value describeParameters(Interpreter &interpreter, Bound &a) {
  const Value &callable = a[0];
  if (auto *function = callable.as<Function>()) {
    if (const Value *wrapped = function->attributes.find("__wrapped__")) {
      Bound inner{*wrapped};
      return describeParameters(interpreter, inner);
    }
    return Value::list(parametersOf(callable));
  }
  auto withoutSelf = [&](const Value &function) {
    Bound inner{function};
    Value all = describeParameters(interpreter, inner);
    if (all.isList() && !all.list().empty())
      all.list().erase(all.list().begin());
    return all;
  };
  if (auto *method = callable.as<BoundMethod>())
    return withoutSelf(method->function);
  if (auto *cls = callable.as<Class>()) {
    const Value *init = cls->find("__init__");
    return init ? withoutSelf(*init) : Value::list({});
  }
  if (auto *instance = callable.as<Instance>())
    if (const Value *call = instance->cls->find("__call__"))
      return withoutSelf(*call);
  // Which arguments Triton's decorator takes is asked to tell its versions apart.
  if (auto *native = callable.as<NativeFunction>(); native && native->name == "triton.autotune") {
    List out{described("configs", Positional), described("key", Positional)};
    Value none;
    for (const char *name :
         {"prune_configs_by", "reset_to_zero", "restore_value", "pre_hook", "post_hook", "warmup",
          "rep", "use_cuda_graph", "do_bench", "cache_results"})
      out.push_back(described(name, Positional, &none));
    return Value::list(std::move(out));
  }
  return Value();
}

/// (text, first line) of a function; None where it has no text.
Value describeSource(Interpreter &, Bound &a) {
  auto *function = a[0].as<Function>();
  std::string text = function ? sourceOf(*function) : std::string();
  if (text.empty())
    return Value();
  const auto &decorators = function->def->decoratorList;
  uint32_t line = decorators.empty() ? function->def->range.line : decorators[0]->range.line;
  return Value::tuple(
      {Value(text), Value(static_cast<int64_t>(line)), Value(function->location().file->path())});
}

void fillInspect(Interpreter &interpreter, Module &m) {
  auto written =
      interpreter.importSource("inspect", std::make_shared<SourceFile>("<inspect>", inspectSource));
  written->globals->set("_parameters", native("_parameters", "function", describeParameters));
  written->globals->set("_source", native("_source", "function", describeSource));
  for (const auto &[name, value] : written->globals->items())
    if (!name.starts_with("_"))
      m.globals->set(name, value);
}

void fillTypes(Interpreter &interpreter, Module &m) {
  fillFrom(typesSource)(interpreter, m);
  for (auto [name, type] : {std::pair{"FunctionType", "function"},
                            {"LambdaType", "function"},
                            {"BuiltinFunctionType", "function"},
                            {"NoneType", "NoneType"},
                            {"EllipsisType", "ellipsis"}})
    m.globals->set(name, Value(interpreter.builtinClass(type)));
  m.globals->set("UnionType",
                 interpreter.getAttr(Value(interpreter.nativeModule("typing")), "Union"));
  auto method = Class::make("method", "builtins");
  method->accepts = [](const Value &v) { return v.as<BoundMethod>() != nullptr; };
  method->construct = [signature = host::Signature("function, instance")](Interpreter &i,
                                                                          CallArgs call) {
    Bound a = signature.bind(i, "method", call);
    return Value(std::make_shared<BoundMethod>(a[1], a[0]));
  };
  m.globals->set("MethodType", Value(method));
  auto modules = m.globals->find("ModuleType")->shared<Class>();
  modules->accepts = interpreter.builtinClass("module")->accepts;
}

void fillKeyword(Interpreter &, Module &m) {
  static const NameSet hard = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  static const NameSet soft = {"_", "case", "match", "type"};
  for (auto [list, test, names] : {std::tuple{"kwlist", "iskeyword", &hard},
                                   std::tuple{"softkwlist", "issoftkeyword", &soft}}) {
    List words;
    for (const std::string &word : *names)
      words.emplace_back(word);
    m.globals->set(list, Value::list(std::move(words)));
    m.globals->set(
        test, native(std::string("keyword.") + test, "s", [known = names](Interpreter &, Bound &a) {
          return Value(a[0].isStr() && known->count(a[0].str()) != 0);
        }));
  }
}

/// The machine that is compiled for: Linux on x86-64.
void fillPlatform(Interpreter &, Module &m) {
  for (auto [name, value] : {std::pair{"machine", "x86_64"},
                             {"system", "Linux"},
                             {"processor", "x86_64"},
                             {"python_version", "3.12.0"},
                             {"python_implementation", "CPython"},
                             {"release", ""},
                             {"node", ""}})
    m.globals->set(name, native(std::string("platform.") + name, "",
                                [text = value](Interpreter &, Bound &) { return Value(text); }));
}

} // namespace

void addLibraryModules(NativeModules &modules) {
  modules.add("collections", fillFrom(collectionsSource));
  modules.add("contextvars", fillFrom(contextvarsSource));
  modules.add("itertools", fillFrom(itertoolsSource));
  addJson(modules);
  modules.add("json", fillFrom(jsonSource));
  for (const char *part : {"json.decoder", "json.encoder"})
    modules.add(part, [](Interpreter &interpreter, Module &m) {
      for (const auto &[name, value] : interpreter.nativeModule("json")->globals->items())
        m.globals->set(name, value);
    });
  modules.add("operator", fillFrom(operatorSource));
  modules.add("functools", fillFrom(functoolsSource));
  addFibers(modules);
  modules.add("numbers", fillFrom(numbersSource));
  modules.add("threading", fillFrom(threadingSource));
  modules.add("contextlib", fillFrom(contextlibSource));
  modules.add("copy", fillCopy);
  modules.add("types", fillTypes);
  modules.add("inspect", fillInspect);
  modules.add("keyword", fillKeyword);
  modules.add("platform", fillPlatform);
}

} // namespace pellucid::host
