// SPDX-License-Identifier: Apache-2.0
#include "host/OperatorLibrary.h"

#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

namespace {

using Bound = std::vector<Value>;

std::string keyOf(const Operator &op) {
  return op.name + (op.overload == "default" ? "" : "." + op.overload);
}

/// What a decorator of torch.library was given.
struct Declaration {
  Value name, mutatesArgs, schema, deviceTypes, tags;
};

Value declareOperator(Interpreter &interpreter, Operator::Form form, const Declaration &given,
                      const Value &function, const SourceLocation &where) {
  auto op = std::make_shared<Operator>();
  op->form = form;
  op->name = interpreter.toStr(given.name, "an operator's name");
  if (op->name.find("::") == std::string::npos)
    interpreter.refuse(where, "operator name '" + op->name +
                                  "' has no namespace; write 'namespace::name'");
  size_t dot = op->name.find('.', op->name.find("::"));
  op->overload = dot == std::string::npos ? "default" : op->name.substr(dot + 1);
  op->name = op->name.substr(0, dot);
  op->function = function;
  op->mutatesArgs = given.mutatesArgs;
  if (op->mutatesArgs.isStr() && !op->mutatesUnknown())
    interpreter.raise("ValueError", "mutates_args must be a collection of names or the text "
                                    "\"unknown\", got '" +
                                        op->mutatesArgs.str() + "'");
  if (!given.schema.isNone())
    op->schemaText = interpreter.toStr(given.schema, "schema");
  op->deviceTypes = given.deviceTypes;
  if (!op->deviceTypes.isNone())
    for (const Value &device : op->deviceTypes.isStr() ? std::vector<Value>{op->deviceTypes}
                                                       : interpreter.iterate(op->deviceTypes))
      checkDeviceType(interpreter, interpreter.toStr(device, "device_types"));
  op->tags =
      given.tags.isNone() || given.tags.isSequence() ? given.tags : Value::list({given.tags});
  op->location = where;
  if (!function.isObject() || !function.object()->isCallable())
    interpreter.refuse(where, "operator '" + op->name + "' needs a function");
  interpreter.operators.insert_or_assign(keyOf(*op), op);
  return Value(op);
}

/// `triton_op` and `custom_op`: with the function at once, or as a decorator.
Value operatorDecorator(const char *name, const char *text, Operator::Form form) {
  return nativeRaw(std::string("torch.library.") + name, [name, signature = Signature(text),
                                                          form](Interpreter &i, CallArgs args) {
    Bound a = signature.bind(i, name, args);
    Declaration given{a[0], a[2], a[3], Value(), Value()};
    if (a.size() > 5)
      given.deviceTypes = a[4], given.tags = a[5];
    if (!a[1].isNone())
      return declareOperator(i, form, given, a[1], args.location);
    return nativeRaw(
        name, [given, form, where = args.location](Interpreter &inner, CallArgs decorated) {
          return declareOperator(inner, form, given, decorated.positional.at(0), where);
        });
  });
}

std::shared_ptr<Operator> operatorNamed(Interpreter &interpreter, const Value &target,
                                        const std::string &registration) {
  if (auto op = target.shared<Operator>())
    return op;
  if (!target.isStr())
    interpreter.raise("ValueError",
                      registration + ": got unexpected type for op: " + typeName(target));
  auto it = interpreter.operators.find(target.str());
  if (it == interpreter.operators.end() && target.str().ends_with(".default"))
    it = interpreter.operators.find(target.str().substr(0, target.str().size() - 8));
  if (it == interpreter.operators.end())
    interpreter.refuse("operator '" + target.str() + "' is not declared before its " +
                       registration);
  return it->second;
}

/// `torch.library.register_fake("ns::op")(f)` and its kin, by name or by the operator itself.
/// `lib=` is what keeps a registration alive in PyTorch; here all live as long as the files.
Value registrationByName(const char *name) {
  return nativeRaw(std::string("torch.library.") + name, [name](Interpreter &i, CallArgs args) {
    if (args.positional.empty())
      i.raise("TypeError", std::string(name) + "() missing 1 required positional argument: 'op'");
    auto op = operatorNamed(i, args.positional[0], name);
    args.positional.erase(args.positional.begin());
    std::erase_if(args.keywords, [](const auto &keyword) {
      return keyword.first == "lib" || keyword.first == "_stacklevel" ||
             keyword.first == "allow_override";
    });
    return i.call(i.getAttr(Value(op), name), std::move(args));
  });
}

/// A kernel to be launched from inside of an operator; the kernel itself while
/// set_wrap_triton_enabled(False) holds.
Value wrapTriton(Interpreter &interpreter, Bound &a) {
  bool takes = a[0].as<JitFunction>() || a[0].as<Autotuner>() || a[0].as<UnreadDecorator>();
  if (!takes)
    interpreter.raise("RuntimeError",
                      "wrap_triton only works on functions annotated with "
                      "triton.jit or triton.autotune" +
                          std::string(a[0].as<Heuristics>() ? "; put @triton.heuristics below "
                                                              "@triton.autotune"
                                                            : ", got " + typeName(a[0])));
  return interpreter.wrapsTriton ? Value(std::make_shared<WrappedKernel>(a[0])) : a[0];
}

/// `with set_wrap_triton_enabled(False):`, as long as the block runs.
Value wrapSwitch(Interpreter &interpreter, Bound &a) {
  auto before = std::make_shared<bool>(true);
  bool enabled = interpreter.truth(a[0]);
  return makeContext(
      [before, enabled, &interpreter] {
        *before = interpreter.wrapsTriton;
        interpreter.wrapsTriton = enabled;
      },
      [before, &interpreter] { interpreter.wrapsTriton = *before; });
}

// ---- torch.library.define, impl and Library
// -------------------------------------------------------------------------------------------------

std::shared_ptr<Operator> defineOperator(Interpreter &interpreter, const std::string &name,
                                         const std::string &schema, const Value &tags,
                                         const SourceLocation &where) {
  size_t dot = name.find('.', name.find("::"));
  std::string key =
      name.ends_with(".default") && dot != std::string::npos ? name.substr(0, dot) : name;
  if (interpreter.operators.count(key))
    interpreter.raise("RuntimeError", "Tried to register an operator (" + name +
                                          ") with the same name and overload name multiple times");
  Value missing = nativeRaw(name, [name](Interpreter &i, CallArgs) -> Value {
    i.refuse("operator '" + name + "' is defined and has no implementation for this device");
  });
  auto declared =
      declareOperator(interpreter, Operator::Form::Custom,
                      {Value(name), Value(), Value(schema), Value(), tags}, missing, where)
          .shared<Operator>();
  declared->isOnlyDeclared = true;
  return declared;
}

/// The kind of device that a dispatch key stands for; empty for other keys.
std::string deviceOfKey(const std::string &key) {
  static const std::map<std::string, std::string> devices = {
      {"CPU", "cpu"}, {"CUDA", "cuda"}, {"XPU", "xpu"},       {"MPS", "mps"},
      {"HPU", "hpu"}, {"MTIA", "mtia"}, {"XLA", "xla"},       {"IPU", "ipu"},
      {"cpu", "cpu"}, {"cuda", "cuda"}, {"xpu", "xpu"},       {"mps", "mps"},
      {"hpu", "hpu"}, {"mtia", "mtia"}, {"Vulkan", "vulkan"}, {"PrivateUse1", "privateuseone"}};
  auto entry = devices.find(key);
  return entry == devices.end() ? std::string() : entry->second;
}

bool isFallthrough(const Value &function) {
  auto *native = function.as<NativeFunction>();
  return native && native->name == "fallthrough_kernel";
}

/// `key` is a dispatch key ("CPU", "CompositeExplicitAutograd") or a device type ("cpu").
void implementOperator(Interpreter &interpreter, const std::string &name, const std::string &key,
                       const Value &function) {
  auto found = interpreter.operators.find(name);
  if (found == interpreter.operators.end()) {
    if (name.starts_with("aten::") || name.starts_with("prims::"))
      interpreter.refuse("an implementation of '" + name +
                         "' would replace an operator of PyTorch's for the whole program, which is "
                         "not supported; define an operator of your own");
    interpreter.refuse("operator '" + name + "' is not defined before its impl");
  }
  Operator &op = *found->second;
  if (isFallthrough(function)) {
    if (!key.starts_with("Autograd"))
      interpreter.refuse("a fallthrough for '" + key +
                         "' depends on the order of PyTorch's dispatcher, which is not evaluated; "
                         "leave it out");
    return; // there is no autograd kernel then
  }
  std::string device = deviceOfKey(key);
  if (key == "Meta" || key == "meta") {
    op.fake = function;
  } else if (!device.empty()) {
    op.kernels.emplace_back(device, function);
  } else if (key.empty() || key == "default" || key == "CompositeImplicitAutograd" ||
             key == "CompositeExplicitAutograd" ||
             key == "CompositeExplicitAutogradNonFunctional" || key == "Default") {
    op.function = function;
  } else if (key == "Autograd" || key == "AutogradCPU" || key == "AutogradCUDA") {
    op.autogradKernel = function;
  } else {
    interpreter.raise("RuntimeError", "could not parse dispatch key: " + key +
                                          " (CPU, CUDA, Meta, CompositeExplicitAutograd, "
                                          "CompositeImplicitAutograd and Autograd are known here)");
  }
}

/// `f` now, or a decorator that takes it.
Value implementation(Interpreter &interpreter, const std::string &name,
                     const std::vector<std::string> &keys, const Value &function) {
  auto implement = [name, keys](Interpreter &i, const Value &f) {
    for (const std::string &key : keys)
      implementOperator(i, name, key, f);
  };
  if (!function.isNone()) {
    implement(interpreter, function);
    return function;
  }
  return nativeRaw("impl", [implement](Interpreter &i, CallArgs args) {
    implement(i, args.positional.at(0));
    return args.positional[0];
  });
}

/// torch.library.Library: defines and implements the operators of one namespace.
class OperatorLibrary : public Object {
public:
  OperatorLibrary(std::string ns, std::string k, std::string key)
      : space(std::move(ns)), kind(std::move(k)), dispatchKey(std::move(key)) {}
  std::string typeName() const override { return "Library"; }
  std::string repr() const override {
    return "Library(kind=" + kind + ", ns=" + space + ", dispatch_key=" + dispatchKey + ")>";
  }

  std::string qualified(std::string_view name) const {
    return name.find("::") == std::string_view::npos ? space + "::" + std::string(name)
                                                     : std::string(name);
  }

  void define(Interpreter &i, const std::string &schema, const Value &tags) {
    if (kind == "IMPL")
      i.raise("RuntimeError", "define(): Cannot define an operator inside of a " + space +
                                  " IMPL block; all define() calls belong in a DEF or FRAGMENT");
    size_t open = schema.find('(');
    std::string op = schema.substr(0, open);
    op.erase(op.find_last_not_of(' ') + 1);
    if (open == std::string::npos || op.empty())
      i.raise("RuntimeError",
              "expected a schema such as 'op(Tensor x) -> Tensor', got '" + schema + "'");
    defined.push_back(
        keyOf(*defineOperator(i, qualified(op), schema.substr(open), tags, i.location())));
  }

  void destroy(Interpreter &i) {
    for (const std::string &key : defined)
      i.operators.erase(key);
    defined.clear();
  }

  std::optional<Value> getAttr(Interpreter &, std::string_view name) override {
    auto self = std::static_pointer_cast<OperatorLibrary>(shared_from_this());
    if (name == "ns" || name == "kind" || name == "dispatch_key")
      return Value(name == "ns" ? space : name == "kind" ? kind : dispatchKey);
    if (name == "define")
      return native("Library.define", "schema, alias_analysis='', *, tags=()",
                    [self](Interpreter &i, Bound &a) {
                      const std::string &analysis = i.toStr(a[1], "alias_analysis");
                      if (!analysis.empty() && analysis != "FROM_SCHEMA" &&
                          analysis != "CONSERVATIVE")
                        i.raise("RuntimeError", "Invalid alias_analysis type " + analysis);
                      const std::string &schema = i.toStr(a[0], "a schema");
                      self->define(i, schema, a[2]);
                      return Value(schema.substr(0, schema.find('(')));
                    });
    if (name == "impl")
      return native("Library.impl",
                    "op_name, fn=None, dispatch_key='', *, with_keyset=False, "
                    "allow_override=False",
                    [self](Interpreter &i, Bound &a) { return self->implement(i, a); });
    if (name == "_register_fake")
      return native("Library._register_fake", "op_name, fn, _stacklevel=1",
                    [self](Interpreter &i, Bound &a) {
                      return implementation(i, self->qualified(i.toStr(a[0], "an operator's name")),
                                            {"Meta"}, a[1]);
                    });
    if (name == "_destroy")
      return nativeRaw("Library._destroy", [self](Interpreter &i, CallArgs) {
        self->destroy(i);
        return Value();
      });
    return std::nullopt;
  }

private:
  Value implement(Interpreter &i, Bound &a) {
    if (i.truth(a[3]))
      i.refuse("an implementation that is handed dispatch keys (with_keyset) depends on PyTorch's "
               "dispatcher, which is not evaluated here");
    auto *op = a[0].as<Operator>();
    const std::string &key = i.toStr(a[2], "dispatch_key");
    std::string name = op ? keyOf(*op) : qualified(i.toStr(a[0], "an operator's name"));
    if (!name.starts_with(space + "::"))
      i.raise("RuntimeError",
              "impl(): the namespace of '" + name + "' is not that of the library, " + space);
    if (auto known = i.operators.find(name); i.truth(a[4]) && known != i.operators.end())
      std::erase_if(known->second->kernels, [&](const auto &kernel) {
        return kernel.first == deviceOfKey(key.empty() ? dispatchKey : key);
      });
    return implementation(i, name, {key.empty() ? dispatchKey : key}, a[1]);
  }

  std::string space, kind, dispatchKey; ///< the key of implementations that name none
  std::vector<std::string> defined;     ///< goes with the library
};

/// Names of the libraries of kind DEF.
Value makeLibrary(Interpreter &i, Bound &a) {
  std::string space = i.toStr(a[0], "ns"), kind = i.toStr(a[1], "kind"),
              key = i.toStr(a[2], "dispatch_key");
  if (kind != "IMPL" && kind != "DEF" && kind != "FRAGMENT")
    i.raise("ValueError", "Unsupported kind: " + kind);
  if (space == "prim" && kind != "IMPL")
    i.raise("ValueError",
            space + " is a reserved namespace. Please try creating a library with another name.");
  if (kind == "DEF" && !i.definedLibraries.insert(space).second)
    i.raise("RuntimeError", "Only a single TORCH_LIBRARY can be used to register the namespace " +
                                space + "; use kind FRAGMENT for more");
  return Value(std::make_shared<OperatorLibrary>(space, kind, key));
}

/// `define("ns::op", "(Tensor x) -> Tensor")` and `define(library, "op", "(Tensor x) -> Tensor")`.
Value defineByName(Interpreter &interpreter, CallArgs args) {
  static const Signature plain("qualname, schema, *, lib=None, tags=()"),
      ofLibrary("lib, schema, alias_analysis=''");
  auto *library = args.positional.empty() ? nullptr : args.positional[0].as<OperatorLibrary>();
  if (library) {
    Bound a = ofLibrary.bind(interpreter, "torch.library.define", args);
    library->define(interpreter, interpreter.toStr(a[1], "a schema"), Value());
    return nativeRaw("define",
                     [](Interpreter &, CallArgs inner) { return inner.positional.at(0); });
  }
  Bound a = plain.bind(interpreter, "torch.library.define", args);
  const std::string &name = interpreter.toStr(a[0], "an operator's name");
  const std::string &schema = interpreter.toStr(a[1], "a schema");
  if (name.find("::") == std::string::npos)
    interpreter.raise("ValueError", "Expected `qualname` to be of the form \"namespace::name\". "
                                    "Got " +
                                        name);
  if (schema.empty() || schema[0] != '(')
    interpreter.raise("ValueError",
                      "torch.library.define(qualname, schema, ...): expected schema to look like "
                      "e.g. \"(Tensor x) -> Tensor\" but got \"" +
                          schema + "\"");
  defineOperator(interpreter, name, schema, a[3], interpreter.location());
  return Value();
}

/// `impl("ns::op", "cpu", f)`, `impl("ns::op", ("cpu", "cuda"))(f)`, `impl(library, "op",
/// "CPU")(f)`.
Value implementByName(Interpreter &interpreter, Bound &a) {
  if (auto *library = a[0].as<OperatorLibrary>())
    return implementation(interpreter,
                          library->qualified(interpreter.toStr(a[1], "an operator's name")),
                          {a[2].isStr() ? a[2].str() : ""}, Value());
  std::vector<std::string> keys;
  for (const Value &type : a[1].isStr() ? std::vector<Value>{a[1]} : interpreter.iterate(a[1]))
    keys.push_back(interpreter.toStr(type, "types"));
  return implementation(interpreter, interpreter.toStr(a[0], "an operator's name"), keys, a[2]);
}

/// `@register_flop_formula(torch.ops.ns.op)`, of torch.utils.flop_counter.
Value flopRegistration(Interpreter &interpreter, Bound &a) {
  std::vector<std::shared_ptr<Operator>> targets;
  for (const Value &target : a[0].isSequence() ? a[0].elements() : std::vector<Value>{a[0]})
    targets.push_back(operatorNamed(interpreter, target, "register_flop_formula"));
  return nativeRaw("register_flop_formula",
                   [targets, raw = interpreter.truth(a[1])](Interpreter &i, CallArgs args) {
                     for (const auto &op : targets)
                       op->flopFormula = raw ? Value::tuple({args.positional.at(0), Value(true)})
                                             : Value::tuple({args.positional.at(0), Value(false)});
                     (void)i;
                     return args.positional.at(0);
                   });
}

void refuseByName(Namespace &names, const char *name, const char *why) {
  names.set(name, nativeRaw(std::string("torch.library.") + name,
                            [text = std::string("torch.library.") + name + "() " +
                                    why](Interpreter &i, CallArgs) -> Value { i.refuse(text); }));
}

void fillLibrary(Interpreter &, Module &m) {
  Namespace &names = *m.globals;
  names.set("triton_op",
            operatorDecorator("triton_op", "name, fn=None, *, mutates_args, schema=None",
                              Operator::Form::Triton));
  names.set("custom_op",
            operatorDecorator("custom_op",
                              "name, fn=None, *, mutates_args, schema=None, device_types=None, "
                              "tags=None",
                              Operator::Form::Custom));
  auto library = Class::make("Library", "torch.library");
  library->accepts = [](const Value &v) { return v.as<OperatorLibrary>() != nullptr; };
  library->construct = [signature = Signature("ns, kind, dispatch_key=''")](Interpreter &i,
                                                                            CallArgs call) {
    Bound a = signature.bind(i, "Library", call);
    return makeLibrary(i, a);
  };
  names.set("Library", Value(library));
  auto definition = Class::make("CustomOpDef", "torch._library.custom_ops");
  definition->accepts = [](const Value &v) { return v.as<Operator>() != nullptr; };
  names.set("CustomOpDef", Value(definition));
  names.set("define", nativeRaw("torch.library.define", defineByName));
  names.set("impl", native("torch.library.impl", "qualname, types, func=None, *, lib=None",
                           implementByName));
  names.set("wrap_triton", native("torch.library.wrap_triton", "triton_kernel", wrapTriton));
  names.set("capture_triton", *names.find("wrap_triton"));
  names.set("set_wrap_triton_enabled", native("set_wrap_triton_enabled", "enabled", wrapSwitch));
  names.set("is_wrap_triton_enabled",
            nativeRaw("is_wrap_triton_enabled",
                      [](Interpreter &i, CallArgs) { return Value(i.wrapsTriton); }));
  for (const char *name : {"register_fake", "impl_abstract", "register_kernel", "register_autograd",
                           "register_vmap", "register_torch_dispatch", "register_autocast"})
    names.set(name, registrationByName(name));
  names.set("fallthrough_kernel",
            nativeRaw("fallthrough_kernel", [](Interpreter &i, CallArgs) -> Value {
              i.raise("NotImplementedError", "fallthrough_kernel() should never be called.");
            }));
  refuseByName(names, "get_ctx",
               "makes sizes that values decide, for fakes that are run instead of the function; "
               "here the function itself is traced, and every size is one of its inputs'");
  refuseByName(names, "get_kernel",
               "hands out a kernel of PyTorch's dispatcher, which is not here; call the operator");
}

void fillFlopFormula(Interpreter &, Module &m) {
  m.globals->set("_register_for_operator", native("torch.utils.flop_counter.register_flop_formula",
                                                  "targets, get_raw=False", flopRegistration));
  m.globals->set("_formula_of", native("_formula_of", "op", [](Interpreter &, Bound &a) {
                   auto *op = a[0].as<Operator>();
                   return op ? op->flopFormula : Value();
                 }));
}

} // namespace

void addOperatorLibrary(NativeModules &modules) {
  for (const char *name :
       {"torch.library", "torch._library", "torch._library.triton", "torch._library.custom_ops"})
    modules.add(name, fillLibrary);
  modules.add("torch.utils.flop_counter", fillFlopFormula);
}

} // namespace pellucid::host
