// SPDX-License-Identifier: Apache-2.0
/// What of torch a file needs to be read at all: dtypes, has_triton().
/// Tensors and modules are added by whoever traces.
#include "host/InterpreterState.h"
#include "host/OperatorLibrary.h"

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

} // namespace

void addTorchLibrary(NativeModules &modules) {
  modules.add("torch", fillTorch);
  modules.add("torch.compiler", fillCompiler);
  modules.add("torch._dynamo", fillCompiler);
  modules.add("torch.version", fillVersion);
  modules.add("torch.utils._triton", fillHasTriton);
  addOperatorLibrary(modules);
}

} // namespace pellucid::host
