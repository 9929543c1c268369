// SPDX-License-Identifier: Apache-2.0
/// `import triton`: jit, autotune, heuristics, Config and the few plain functions of it.
#include "host/InterpreterState.h"

#include <algorithm>
#include <map>

namespace pellucid::host {

using namespace syntax;

bool isTransparentDecorator(std::string_view name) {
  static const NameSet names = {"libentry",
                                "overload",
                                "final",
                                "override",
                                "no_type_check",
                                "perf_report",
                                "input_guard",
                                "contiguous",
                                "skip",
                                "parametrize",
                                "fixture",
                                "custom_fwd",
                                "custom_bwd",
                                "autocast_custom_fwd",
                                "autocast_custom_bwd",
                                "allow_in_graph",
                                "auto_docstring",
                                "add_start_docstrings",
                                "add_start_docstrings_to_model_forward",
                                "replace_return_docstrings"};
  return names.count(name) != 0;
}

// ---- jit
// -----------------------------------------------------------------------------------------------------------

/// `tl.constexpr`, `constexpr`, `triton.language.constexpr`, also as text.
static bool namesConstexpr(const syntax::Expr *annotation) {
  if (auto *text = as<Constant>(annotation); text && text->type == Constant::Type::String) {
    std::string_view t = text->text;
    return t == "constexpr" || t.ends_with(".constexpr");
  }
  if (auto *attribute = as<Attribute>(annotation))
    return attribute->attr == "constexpr";
  if (auto *subscript = as<Subscript>(annotation))
    return namesConstexpr(subscript->value.get());
  auto *name = as<Name>(annotation);
  return name && name->id == "constexpr";
}

/// A name the file gave to tl.constexpr: `from triton.language import constexpr as CE`.
static bool aliasesConstexpr(Interpreter &interpreter, const Function &f,
                             const syntax::Expr *annotation) {
  auto *name = as<Name>(annotation);
  if (!name)
    return false;
  const Value *value = f.globals->find(name->id);
  auto *builtin = value ? value->as<NamedBuiltin>() : nullptr;
  (void)interpreter;
  return builtin && builtin->name == "tl.constexpr";
}

/// Parameter names or indices of `do_not_specialize`.
static bool lists(const Value *list, const std::string &name, size_t index) {
  if (!list || !list->isSequence())
    return false;
  return std::any_of(list->elements().begin(), list->elements().end(), [&](const Value &v) {
    return (v.isStr() && v.str() == name) || (v.isInt() && v.integer() == static_cast<Int>(index));
  });
}

static Value makeJit(Interpreter &interpreter, const Value &target, const CallArgs &options) {
  auto f = target.shared<Function>();
  if (innermostKernel(target))
    return target;
  if (!f || !f->def)
    interpreter.refuse("triton.jit needs a function made by 'def', got " + typeName(target));
  const Arguments &args = *f->parameters;
  if (args.kwarg)
    interpreter.refuse(f->module->locate(*args.kwarg),
                       "kernel '" + f->name + "' has a '**" + args.kwarg->arg +
                           "' parameter; kernels take a fixed list of keywords");
  auto jit = kernelFunction(interpreter, f, options);
  if (args.vararg)
    jit->rest = args.vararg->arg;
  // How a kernel is called, shown and compiled; none of it changes what it computes.
  static constexpr std::string_view known[] = {"version", "repr", "launch_metadata", "debug",
                                               "noinline"};
  for (const auto &[name, value] : options.keywords) {
    if (name == "do_not_specialize" || name == "do_not_specialize_on_alignment" || name == "fn")
      continue;
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      interpreter.raise("TypeError", "jit() got an unexpected keyword argument '" + name + "'");
    jit->options.set(name, value);
  }
  if (const Value *noInline = options.keyword("noinline"))
    jit->noInline = interpreter.truth(*noInline);
  interpreter.state().kernels.push_back(jit);
  interpreter.state().kernelsByText.emplace(&jit->def(), jit);
  return Value(jit);
}

std::shared_ptr<JitFunction> kernelFunction(Interpreter &interpreter,
                                            const std::shared_ptr<Function> &f,
                                            const CallArgs &options) {
  const Arguments &args = *f->parameters;
  auto jit = std::make_shared<JitFunction>();
  jit->function = f;
  const Value *plain = options.keyword("do_not_specialize");
  const Value *aligned = options.keyword("do_not_specialize_on_alignment");
  size_t positional = args.posonlyargs.size() + args.args.size(),
         firstDefault = positional - f->defaults.size();
  auto add = [&](const Arg &a, std::optional<Value> fallback, bool keywordOnly) {
    size_t index = jit->parameters.size();
    JitFunction::Parameter p{
        a.arg, a.annotation.get(), false, keywordOnly, std::move(fallback), false, false};
    p.isConstexpr = namesConstexpr(p.annotation) || aliasesConstexpr(interpreter, *f, p.annotation);
    p.doNotSpecialize = lists(plain, a.arg, index);
    p.doNotSpecializeOnAlignment = lists(aligned, a.arg, index);
    jit->parameters.push_back(std::move(p));
  };
  for (const auto *list : {&args.posonlyargs, &args.args})
    for (const auto &a : *list) {
      size_t index = jit->parameters.size();
      add(*a,
          index < firstDefault ? std::nullopt : std::optional(f->defaults[index - firstDefault]),
          false);
    }
  for (size_t i = 0; i < args.kwonlyargs.size(); ++i)
    add(*args.kwonlyargs[i], f->keywordDefaults[i], true);
  return jit;
}

/// `@jit` and `@jit(option=…)` alike.
static Value jit(Interpreter &interpreter, CallArgs args) {
  if (!args.positional.empty()) {
    Value target = args.positional[0];
    return makeJit(interpreter, target, args);
  }
  return nativeRaw("triton.jit", [args](Interpreter &inner, CallArgs decorated) {
    return makeJit(inner, decorated.positional.at(0), args);
  });
}

/// `@triton.aggregate`: a dataclass of values of a kernel. A constructor of its own stays.
static Value aggregate(Interpreter &interpreter, std::vector<Value> &a) {
  auto cls = a[0].shared<Class>();
  if (!cls)
    interpreter.refuse("triton.aggregate is written over a class, got " + typeName(a[0]));
  bool ownInit = cls->find("__init__") && !cls->find("__aggregate_fields__");
  ownInit = ownInit || cls->attributes.find("__init__") || cls->find("__aggregate_init__");
  Value dataclasses = interpreter.importModule("dataclasses");
  CallArgs options{
      {a[0]}, {{"eq", Value(false)}, {"init", Value(!ownInit)}}, interpreter.location()};
  interpreter.call(interpreter.getAttr(dataclasses, "dataclass"), std::move(options));
  Tuple names, types;
  for (const Value &field :
       interpreter.iterate(interpreter.call(interpreter.getAttr(dataclasses, "fields"), {a[0]}))) {
    names.push_back(interpreter.getAttr(field, "name"));
    types.push_back(interpreter.getAttr(field, "type"));
  }
  cls->attributes.set("__aggregate_fields__", Value::tuple(std::move(names)));
  cls->attributes.set("__aggregate_types__", Value::tuple(std::move(types)));
  if (ownInit)
    cls->attributes.set("__aggregate_init__", Value(true));
  return a[0];
}

// ---- autotune, heuristics, Config
// ----------------------------------------------------------------------------------

static void requireKernel(Interpreter &interpreter, const Value &target, const char *decorator) {
  if (!isKernel(target))
    interpreter.refuse(std::string(decorator) + " needs a @triton.jit function below it, got " +
                       typeName(target));
}

static std::vector<std::string> nameList(Interpreter &interpreter, const Value &list,
                                         const char *what) {
  std::vector<std::string> out;
  if (!list.isNone())
    for (const Value &v : interpreter.iterate(list))
      out.push_back(interpreter.toStr(v, what));
  return out;
}

/// `options` are what the call gave beside the rest, in the order of the decorator's signature.
static Value makeAutotuner(Interpreter &interpreter, const Value &target,
                           const std::vector<Value> &a, const SourceLocation &where) {
  requireKernel(interpreter, target, "triton.autotune");
  auto tuner = std::make_shared<Autotuner>();
  tuner->fn = target;
  tuner->decoratorLocation = where;
  for (const Value &c : interpreter.iterate(a[0])) {
    auto config = c.shared<Config>();
    if (!config)
      interpreter.refuse("triton.autotune takes a list of triton.Config, got " + typeName(c));
    tuner->configs.push_back(config);
  }
  if (tuner->configs.empty()) {
    auto none = std::make_shared<Config>();
    none->options.set("num_warps", Value(4));
    none->options.set("num_stages", Value(3));
    none->options.set("num_ctas", Value(1));
    tuner->configs.push_back(none);
  }
  tuner->key = nameList(interpreter, a[1], "key");
  tuner->pruneConfigsBy = a[2];
  tuner->resetToZero = nameList(interpreter, a[3], "reset_to_zero");
  tuner->restoreValue = nameList(interpreter, a[4], "restore_value");
  tuner->preHook = a[5];
  tuner->postHook = a[6];
  // How configs are timed.
  static constexpr std::string_view known[] = {"warmup", "rep", "use_cuda_graph", "do_bench",
                                               "cache_results"};
  for (const auto &[name, value] : a[7].dictionary().items()) {
    if (std::find(std::begin(known), std::end(known), name.str()) == std::end(known))
      interpreter.raise("TypeError",
                        "autotune() got an unexpected keyword argument '" + name.str() + "'");
    tuner->options.set(name.str(), value);
  }
  return Value(tuner);
}

static Value autotune(Interpreter &, CallArgs call) {
  return nativeRaw("triton.autotune", [call](Interpreter &interpreter, CallArgs decorated) {
    static const Signature signature(
        "configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, "
        "pre_hook=None, post_hook=None, **options");
    return makeAutotuner(interpreter, decorated.positional.at(0),
                         signature.bind(interpreter, "autotune", call), call.location);
  });
}

/// Autotuner(…) itself, and of classes that derive from it: which config they would choose is not
/// asked, as of any autotuner.
static Value constructAutotuner(Interpreter &interpreter, CallArgs call) {
  static const Signature signature(
      "fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None, post_hook=None, "
      "prune_configs_by=None, **options");
  std::vector<Value> a = signature.bind(interpreter, "Autotuner", call);
  return makeAutotuner(interpreter, a[0], {a[2], a[3], a[8], a[4], a[5], a[6], a[7], a[9]},
                       call.location);
}

static Value heuristics(Interpreter &, CallArgs call) {
  return nativeRaw("triton.heuristics", [call](Interpreter &interpreter, CallArgs decorated) {
    static const Signature signature("values");
    std::vector<Value> a = signature.bind(interpreter, "heuristics", call);
    Value target = decorated.positional.at(0);
    requireKernel(interpreter, target, "triton.heuristics");
    if (!a[0].isDict())
      interpreter.refuse("triton.heuristics takes a dict of functions, got " + typeName(a[0]));
    auto h = std::make_shared<Heuristics>();
    h->fn = target;
    h->values = a[0];
    h->decoratorLocation = call.location;
    return Value(h);
  });
}

static Value makeConfig(Interpreter &interpreter, CallArgs call) {
  static const Signature signature(
      "kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, "
      "ir_override=None, **options");
  SourceLocation where = call.location;
  std::vector<Value> a = signature.bind(interpreter, "Config", call);
  if (!a[0].isDict())
    interpreter.raise("TypeError",
                      "Config() takes a dict of constexpr values, got " + typeName(a[0]));
  for (const auto &[key, value] : a[0].dictionary().items())
    interpreter.toStr(key, "a name in Config()'s dict");
  auto config = std::make_shared<Config>();
  config->kwargs = Value::dict(Dict(a[0].dictionary()));
  config->options.set("num_warps", a[1]);
  config->options.set("num_stages", a[2]);
  config->options.set("num_ctas", a[3]);
  config->options.set("maxnreg", a[4]);
  config->preHook = a[5];
  if (!a[6].isNone())
    interpreter.refuse("a Config's ir_override replaces the kernel by another text, which is not "
                       "supported; leave it out");
  for (const auto &[name, value] : a[7].dictionary().items())
    config->options.set(name.str(), value);
  config->location = where;
  return Value(config);
}

// ---- plain functions
// -----------------------------------------------------------------------------------------------

static Value ceilingDivide(Interpreter &interpreter, std::vector<Value> &a) {
  Value x = unwrapConstexpr(a[0]), y = unwrapConstexpr(a[1]);
  if (x.isSymInt() || y.isSymInt())
    return Value::integer(symbolic::ceilDiv(interpreter.toExpr(x, "cdiv's argument"),
                                            interpreter.toExpr(y, "cdiv's argument")));
  Value sum = interpreter.binary(BinaryOp::Sub, interpreter.binary(BinaryOp::Add, x, y), Value(1));
  return interpreter.binary(BinaryOp::FloorDiv, sum, y);
}

static Value nextPowerOfTwo(Interpreter &interpreter, std::vector<Value> &a) {
  Value n = unwrapConstexpr(a[0]);
  symbolic::Expr power =
      symbolic::nextPowerOf2(interpreter.toExpr(n, "next_power_of_2's argument"));
  return Value::integer(power);
}

/// The tensor's memory as another type of the same size, which kernels read and write.
static Value reinterpretValue(Interpreter &interpreter, std::vector<Value> &a) {
  auto *type = a[1].as<DType>();
  if (!type)
    interpreter.raise("TypeError", "triton.reinterpret takes a dtype, got " + typeName(a[1]));
  Value view = interpreter.getAttr(a[0], "view");
  return interpreter.call(view, {Value(std::make_shared<DType>(type->type, DType::Family::Torch))});
}

static void fillTriton(Interpreter &, Module &m) {
  Namespace &names = *m.globals;
  names.set("jit", nativeRaw("triton.jit", jit));
  names.set("aggregate", native("triton.aggregate", "cls", aggregate));
  names.set("autotune", nativeRaw("triton.autotune", autotune));
  names.set("heuristics", nativeRaw("triton.heuristics", heuristics));
  auto config = Class::make("Config", "triton");
  config->construct = makeConfig;
  config->accepts = [](const Value &v) { return v.as<Config>() != nullptr; };
  names.set("Config", Value(config));
  names.set("cdiv", native("triton.cdiv", "x, y", ceilingDivide));
  names.set("next_power_of_2", native("triton.next_power_of_2", "n", nextPowerOfTwo));
  names.set("reinterpret", native("triton.reinterpret", "tensor, dtype", reinterpretValue));
  names.set("constexpr_function",
            native("triton.constexpr_function", "f", [](Interpreter &, std::vector<Value> &a) {
              return Value(std::make_shared<ConstexprFunction>(a[0]));
            }));
  // What descriptors that kernels make need beside them is not taken from a script's memory.
  names.set("set_allocator",
            native("triton.set_allocator", "allocator", [](Interpreter &interpreter, auto &a) {
              bool isCallable = a[0].isObject() && a[0].object()->isCallable();
              if (!isCallable)
                interpreter.raise("TypeError", "'" + typeName(a[0]) + "' object is not callable");
              return Value();
            }));
  names.set("__version__", Value("3.6.0"));
}

static void fillRuntime(Interpreter &interpreter, Module &m) {
  Module &triton = *interpreter.nativeModule("triton");
  for (const char *name : {"jit", "autotune", "heuristics", "Config", "constexpr_function"})
    m.globals->set(name, *triton.globals->find(name));
  for (auto [name, cls] :
       {std::pair<const char *, bool (*)(const Value &)>{
            "JITFunction", [](const Value &v) { return v.as<JitFunction>() != nullptr; }},
        {"Autotuner", [](const Value &v) { return v.as<Autotuner>() != nullptr; }},
        {"Heuristics", [](const Value &v) { return v.as<Heuristics>() != nullptr; }}}) {
    auto type = Class::make(name, "triton.runtime");
    type->accepts = cls;
    if (std::string_view(name) == "Autotuner")
      type->construct = constructAutotuner;
    else
      type->construct = [n = std::string(name)](Interpreter &i, CallArgs) -> Value {
        i.refuse("'triton.runtime." + n +
                 "(...)' is not supported in host code; use the decorator");
      };
    m.globals->set(name, Value(type));
  }
}

static const char *const backendsSource =
#include "host/modules/triton_backends.py.inc"
    ;

/// One interpreter's copy of triton_backends.py, whatever module asks for it first.
static void takeBackends(Interpreter &interpreter, Module &m, std::vector<const char *> names) {
  auto &natives = interpreter.state().natives;
  auto &source = natives["<triton.backends>"];
  if (!source)
    source = interpreter.importSource(
        "triton_backends", std::make_shared<SourceFile>("<triton.backends>", backendsSource));
  for (const char *name : names)
    m.globals->set(name, *source->globals->find(name));
}

static void fillBackends(Interpreter &interpreter, Module &m) {
  takeBackends(interpreter, m, {"backends", "Backend", "Driver", "_assume"});
}
static void fillDriver(Interpreter &interpreter, Module &m) {
  takeBackends(interpreter, m, {"driver", "_assume"});
}
static void fillTargets(Interpreter &interpreter, Module &m) {
  takeBackends(interpreter, m, {"GPUTarget"});
}

static const char *const descriptorSource =
#include "host/modules/triton_descriptor.py.inc"
    ;

/// Its class is one class, whatever imports it.
static void fillDescriptor(Interpreter &interpreter, Module &m) {
  auto source = interpreter.importSource(
      m.name, std::make_shared<SourceFile>("<triton.tools.tensor_descriptor>", descriptorSource));
  m.globals->set("TensorDescriptor", *source->globals->find("TensorDescriptor"));
}

static const char *const errorsSource =
#include "host/modules/triton_errors.py.inc"
    ;

/// One set of classes, whatever module names them.
static void fillErrors(Interpreter &interpreter, Module &m) {
  auto &source = interpreter.state().natives["<triton.errors>"];
  if (!source)
    source = interpreter.importSource(
        "triton.errors", std::make_shared<SourceFile>("<triton.errors>", errorsSource));
  for (const char *name :
       {"TritonError", "CompilationError", "CompileTimeAssertionFailure", "OutOfResources",
        "UnsupportedLanguageConstruct", "PTXASError", "AutotunerError", "InterpreterError"})
    m.globals->set(name, *source->globals->find(name));
}

static void fillLanguage(Interpreter &, Module &m) {
  // A name is one object: each launch asks whether what its kernel reads is as it was.
  auto made = std::make_shared<std::map<std::string, Value, std::less<>>>();
  m.fallback = [made](Interpreter &, std::string_view name) -> std::optional<Value> {
    if (name.starts_with("__"))
      return std::nullopt;
    constexpr size_t mostKept = 1024;
    if (auto known = made->find(name); known != made->end())
      return known->second;
    Value value = tritonLanguageName(name);
    if (made->size() < mostKept)
      made->emplace(std::string(name), value);
    return value;
  };
}

void addTritonModules(NativeModules &modules) {
  modules.add("triton", fillTriton);
  modules.add("triton.language", fillLanguage);
  for (const char *name : {"triton", "triton.errors", "triton.runtime", "triton.runtime.errors",
                           "triton.compiler", "triton.compiler.errors"})
    modules.add(name, fillErrors);
  for (const char *name : {"triton.runtime", "triton.runtime.jit", "triton.runtime.autotuner"})
    modules.add(name, fillRuntime);
  for (const char *name : {"triton.runtime", "triton.runtime.driver"})
    modules.add(name, fillDriver);
  modules.add("triton.tools.tensor_descriptor", fillDescriptor);
  modules.add("triton.backends", fillBackends);
  for (const char *name : {"triton.backends.compiler", "triton.compiler"})
    modules.add(name, fillTargets);
}

} // namespace pellucid::host
