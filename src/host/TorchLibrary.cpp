// SPDX-License-Identifier: Apache-2.0
/// What of torch a file needs to be read at all: dtypes, torch.library's decorators, has_triton().
/// Tensors and modules are added by whoever traces.
#include "host/InterpreterState.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

struct TorchType {
  std::string_view name;
  DataType type;
};
constexpr TorchType torchTypes[] = {{"bool", DataType::Bool},
                                    {"int8", DataType::Int8},
                                    {"int16", DataType::Int16},
                                    {"short", DataType::Int16},
                                    {"int32", DataType::Int32},
                                    {"int", DataType::Int32},
                                    {"int64", DataType::Int64},
                                    {"long", DataType::Int64},
                                    {"uint8", DataType::UInt8},
                                    {"uint16", DataType::UInt16},
                                    {"uint32", DataType::UInt32},
                                    {"uint64", DataType::UInt64},
                                    {"float16", DataType::Float16},
                                    {"half", DataType::Float16},
                                    {"bfloat16", DataType::BFloat16},
                                    {"float32", DataType::Float32},
                                    {"float", DataType::Float32},
                                    {"float64", DataType::Float64},
                                    {"double", DataType::Float64},
                                    {"float8_e4m3fn", DataType::Float8E4M3FN},
                                    {"float8_e5m2", DataType::Float8E5M2},
                                    {"float8_e4m3fnuz", DataType::Float8E4M3FNUZ},
                                    {"float8_e5m2fnuz", DataType::Float8E5M2FNUZ}};

void fillTorch(Interpreter &, Module &m) {
  for (const TorchType &t : torchTypes)
    m.globals->set(t.name, Value(std::make_shared<DType>(t.type, DType::Family::Torch)));
  m.globals->set("__version__", Value("2.15.0"));
  m.globals->set("are_deterministic_algorithms_enabled",
                 nativeRaw("torch.are_deterministic_algorithms_enabled",
                           [](Interpreter &, CallArgs) { return Value(false); }));
  auto dtype = Class::make("dtype", "torch");
  dtype->accepts = [](const Value &v) {
    return v.as<DType>() && v.as<DType>()->family == DType::Family::Torch;
  };
  m.globals->set("dtype", Value(dtype));
  for (const char *name : {"no_grad", "inference_mode", "enable_grad"})
    m.globals->set(name, nativeRaw(std::string("torch.") + name, [](Interpreter &i, CallArgs args) {
                     // `@torch.no_grad` without parentheses hands the function over at once.
                     if (!args.positional.empty() && args.positional[0].as<Function>())
                       return args.positional[0];
                     return Value(makeNullContext(i));
                   }));
  m.globals->set("autocast", native("torch.autocast",
                                    "device_type, dtype=None, enabled=True, cache_enabled=None",
                                    [](Interpreter &i, Bound &a) {
                                      if (i.truth(a[2]))
                                        i.refuse("torch.autocast chooses types that the operators "
                                                 "do not say; convert with .to(dtype), or pass "
                                                 "enabled=False");
                                      return Value(makeNullContext(i));
                                    }));
  for (const char *name : {"is_grad_enabled", "is_autocast_enabled", "is_inference_mode_enabled"})
    m.globals->set(name, nativeRaw("torch." + std::string(name),
                                   [](Interpreter &, CallArgs) { return Value(false); }));
  auto transparent = nativeRaw("torch.compile", [](Interpreter &, CallArgs args) {
    if (!args.positional.empty() && args.positional[0].isObject())
      return args.positional[0];
    return nativeRaw("torch.compile",
                     [](Interpreter &, CallArgs inner) { return inner.positional.at(0); });
  });
  m.globals->set("compile", transparent);
}

void fillCompiler(Interpreter &, Module &m) {
  auto transparent = nativeRaw(m.name, [](Interpreter &, CallArgs args) {
    if (!args.positional.empty() && args.positional[0].isObject())
      return args.positional[0];
    return nativeRaw("decorator",
                     [](Interpreter &, CallArgs inner) { return inner.positional.at(0); });
  });
  for (const char *name :
       {"disable", "allow_in_graph", "substitute_in_graph", "assume_constant_result"})
    m.globals->set(name, transparent);
  for (auto [name, value] :
       {std::pair{"is_compiling", true}, {"is_dynamo_compiling", false}, {"is_exporting", true}})
    m.globals->set(name, nativeRaw(m.name + "." + name,
                                   [v = value](Interpreter &, CallArgs) { return Value(v); }));
}

void fillVersion(Interpreter &, Module &m) {
  m.globals->set("hip", Value());
  m.globals->set("cuda", Value("13.0"));
}

void fillHasTriton(Interpreter &, Module &m) {
  for (const char *name : {"has_triton", "has_triton_package"})
    m.globals->set(
        name, nativeRaw(m.name + "." + name, [](Interpreter &, CallArgs) { return Value(true); }));
}

// ---- torch.library
// -------------------------------------------------------------------------------------------------

Value declareOperator(Interpreter &interpreter, Operator::Form form, const Bound &a,
                      const Value &function, const SourceLocation &where) {
  auto op = std::make_shared<Operator>();
  op->form = form;
  op->name = interpreter.toStr(a[0], "an operator's name");
  if (op->name.find("::") == std::string::npos)
    interpreter.refuse(where, "operator name '" + op->name +
                                  "' has no namespace; write 'namespace::name'");
  size_t dot = op->name.find('.', op->name.find("::"));
  op->overload = dot == std::string::npos ? "default" : op->name.substr(dot + 1);
  op->name = op->name.substr(0, dot);
  op->function = function;
  op->mutatesArgs = a[2];
  if (!a[3].isNone())
    op->schemaText = interpreter.toStr(a[3], "schema");
  op->deviceTypes = a[4];
  op->location = where;
  if (!function.isObject() || !function.object()->isCallable())
    interpreter.refuse(where, "operator '" + op->name + "' needs a function");
  std::string key = op->name + (op->overload == "default" ? "" : "." + op->overload);
  interpreter.operators.insert_or_assign(key, op);
  return Value(op);
}

Value operatorDecorator(const char *name, const char *text, Operator::Form form) {
  return nativeRaw(std::string("torch.library.") + name,
                   [name, signature = Signature(text), form](Interpreter &i, CallArgs args) {
                     Bound a = signature.bind(i, name, args);
                     if (!a[1].isNone())
                       return declareOperator(i, form, a, a[1], args.location);
                     return nativeRaw(name, [a, form, where = args.location](Interpreter &inner,
                                                                             CallArgs decorated) {
                       return declareOperator(inner, form, a, decorated.positional.at(0), where);
                     });
                   });
}

/// `torch.library.register_fake("ns::op")(f)` and its kin, by name or by the operator itself.
Value registrationByName(const char *name) {
  return nativeRaw(std::string("torch.library.") + name, [name](Interpreter &i, CallArgs args) {
    if (args.positional.empty())
      i.raise("TypeError", std::string(name) + "() missing the operator");
    Value target = args.positional[0];
    if (target.isStr()) {
      auto it = i.operators.find(target.str());
      if (it == i.operators.end())
        i.refuse("operator '" + target.str() + "' is not declared before its " + name);
      target = Value(it->second);
    }
    args.positional.erase(args.positional.begin());
    return i.call(i.getAttr(target, name), std::move(args));
  });
}

Value wrapTriton(Interpreter &interpreter, Bound &a) {
  if (a[0].as<WrappedKernel>())
    return a[0];
  if (a[0].as<Heuristics>())
    interpreter.refuse(
        "wrap_triton only works on functions annotated with triton.jit or triton.autotune; put "
        "@triton.heuristics below @triton.autotune");
  if (!isKernel(a[0]))
    interpreter.refuse("wrap_triton takes a @triton.jit or @triton.autotune kernel, got " +
                       typeName(a[0]));
  return Value(std::make_shared<WrappedKernel>(a[0]));
}

// ---- torch.library.define, impl and Library
// -------------------------------------------------------------------------------------------------

Value defineOperator(Interpreter &interpreter, const std::string &name, const std::string &schema,
                     const SourceLocation &where) {
  Value missing = nativeRaw(name, [name](Interpreter &i, CallArgs) -> Value {
    i.refuse("operator '" + name + "' is defined and has no implementation");
  });
  return declareOperator(interpreter, Operator::Form::Custom,
                         {Value(name), Value(), Value(), Value(schema), Value()}, missing, where);
}

/// `key` is a dispatch key ("CPU", "CompositeExplicitAutograd") or a device type ("cpu").
void implementOperator(Interpreter &interpreter, const std::string &name, const std::string &key,
                       const Value &function) {
  auto found = interpreter.operators.find(name);
  if (found == interpreter.operators.end())
    interpreter.refuse("operator '" + name + "' is not defined before its impl");
  Operator &op = *found->second;
  if (key == "Meta" || key == "meta")
    op.fake = function;
  else if (key == "CPU" || key == "cpu")
    op.kernels.emplace_back("cpu", function);
  else if (!key.starts_with("Autograd"))
    op.function = function;
  if (!op.function.as<Function>() && (key == "CPU" || key == "cpu"))
    op.function = function;
}

/// `f` now, or a decorator that takes it.
Value implementation(Interpreter &interpreter, const std::string &name, const std::string &key,
                     const Value &function) {
  if (!function.isNone()) {
    implementOperator(interpreter, name, key, function);
    return function;
  }
  return nativeRaw("impl", [name, key](Interpreter &i, CallArgs args) {
    implementOperator(i, name, key, args.positional.at(0));
    return args.positional[0];
  });
}

/// torch.library.Library: defines and implements the operators of one namespace.
class OperatorLibrary : public Object {
public:
  OperatorLibrary(std::string ns, std::string key)
      : space(std::move(ns)), dispatchKey(std::move(key)) {}
  std::string typeName() const override { return "Library"; }

  std::string qualified(std::string_view name) const {
    return name.find("::") == std::string_view::npos ? space + "::" + std::string(name)
                                                     : std::string(name);
  }

  std::optional<Value> getAttr(Interpreter &, std::string_view name) override {
    auto self = std::static_pointer_cast<OperatorLibrary>(shared_from_this());
    if (name == "ns")
      return Value(space);
    if (name == "define")
      return native("Library.define", "schema, alias_analysis='', *, tags=()",
                    [self](Interpreter &i, Bound &a) {
                      const std::string &schema = i.toStr(a[0], "a schema");
                      std::string op = schema.substr(0, schema.find('('));
                      defineOperator(i, self->qualified(op), schema.substr(op.size()),
                                     i.location());
                      return Value(op);
                    });
    if (name == "impl")
      return native("Library.impl", "op_name, fn=None, dispatch_key='', *, with_keyset=False",
                    [self](Interpreter &i, Bound &a) {
                      if (i.truth(a[3]))
                        i.refuse("an implementation that is handed dispatch keys (with_keyset) "
                                 "depends on PyTorch's dispatcher, which is not evaluated here");
                      auto *op = a[0].as<Operator>();
                      const std::string &key = i.toStr(a[2], "dispatch_key");
                      return implementation(
                          i, op ? op->name : self->qualified(i.toStr(a[0], "an operator's name")),
                          key.empty() ? self->dispatchKey : key, a[1]);
                    });
    if (name == "_register_fake")
      return native("Library._register_fake", "op_name, fn", [self](Interpreter &i, Bound &a) {
        return implementation(i, self->qualified(i.toStr(a[0], "an operator's name")), "Meta",
                              a[1]);
      });
    return std::nullopt;
  }

private:
  std::string space, dispatchKey; ///< of implementations that name none
};

/// `define("ns::op", "(Tensor x) -> Tensor")` and `define(library, …)`.
Value defineByName(Interpreter &interpreter, Bound &a) {
  defineOperator(interpreter, interpreter.toStr(a[0], "an operator's name"),
                 interpreter.toStr(a[1], "a schema"), interpreter.location());
  return Value();
}

/// `impl("ns::op", "cpu", f)`, `impl(library, "op", "CPU")(f)`.
Value implementByName(Interpreter &interpreter, Bound &a) {
  if (auto *library = a[0].as<OperatorLibrary>())
    return implementation(interpreter,
                          library->qualified(interpreter.toStr(a[1], "an operator's name")),
                          a[2].isStr() ? a[2].str() : "", Value());
  Value types = a[1].isSequence() && !a[1].elements().empty() ? a[1].elements()[0] : a[1];
  return implementation(interpreter, interpreter.toStr(a[0], "an operator's name"),
                        interpreter.toStr(types, "types"), a[2]);
}

void fillLibrary(Interpreter &, Module &m) {
  Namespace &names = *m.globals;
  // The order of the first five is what declareOperator reads.
  names.set(
      "triton_op",
      operatorDecorator("triton_op",
                        "name, fn=None, *, mutates_args='unknown', schema=None, device_types=None",
                        Operator::Form::Triton));
  names.set(
      "custom_op",
      operatorDecorator(
          "custom_op",
          "name, fn=None, *, mutates_args='unknown', schema=None, device_types=None, tags=None",
          Operator::Form::Custom));
  auto library = Class::make("Library", "torch.library");
  library->accepts = [](const Value &v) { return v.as<OperatorLibrary>() != nullptr; };
  library->construct = [signature = Signature("ns, kind='FRAGMENT', dispatch_key=''")](
                           Interpreter &i, CallArgs call) {
    Bound a = signature.bind(i, "Library", call);
    return Value(
        std::make_shared<OperatorLibrary>(i.toStr(a[0], "ns"), i.toStr(a[2], "dispatch_key")));
  };
  names.set("Library", Value(library));
  names.set("define",
            native("torch.library.define", "qualname, schema, *, lib=None, tags=()", defineByName));
  names.set("impl", native("torch.library.impl", "qualname, types, func=None, *, lib=None",
                           implementByName));
  names.set("wrap_triton", native("torch.library.wrap_triton", "kernel", wrapTriton));
  names.set("capture_triton", *names.find("wrap_triton"));
  // Of the eager mode alone: a trace records wrapped kernels always.
  names.set("set_wrap_triton_enabled",
            nativeRaw("set_wrap_triton_enabled",
                      [](Interpreter &i, CallArgs) { return Value(makeNullContext(i)); }));
  names.set(
      "is_wrap_triton_enabled",
      nativeRaw("is_wrap_triton_enabled", [](Interpreter &, CallArgs) { return Value(true); }));
  for (const char *name : {"register_fake", "register_kernel", "register_autograd", "register_vmap",
                           "register_torch_dispatch"})
    names.set(name, registrationByName(name));
}

} // namespace

void addTorchLibrary(NativeModules &modules) {
  modules.add("torch", fillTorch);
  modules.add("torch.compiler", fillCompiler);
  modules.add("torch._dynamo", fillCompiler);
  modules.add("torch.version", fillVersion);
  modules.add("torch.utils._triton", fillHasTriton);
  modules.add("torch.library", fillLibrary);
  modules.add("torch._library", fillLibrary);
  modules.add("torch._library.triton", fillLibrary);
  modules.add("torch._library.custom_ops", fillLibrary);
}

} // namespace pellucid::host
