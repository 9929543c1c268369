// SPDX-License-Identifier: Apache-2.0
#include "trace/KernelLaunch.h"

#include "frontend/EmitKernel.h"
#include "trace/EagerRecorder.h"
#include "trace/HostDescriptor.h"
#include "trace/LaunchVariants.h"
#include "trace/ReadSizes.h"
#include "trace/TensorCalls.h"

#include <algorithm>
#include <cstring>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// torch.float16 given for a constexpr means tl.float16.
h::Value asTritonConstant(const h::Value &raw) {
  h::Value value = h::unwrapConstexpr(raw);
  if (auto *type = value.as<h::DType>(); type && type->family == h::DType::Family::Torch)
    return h::Value(
        std::make_shared<h::DType>(type->type, h::DType::Family::Triton, type->isPointer));
  return value;
}

class LaunchRecorder {
public:
  LaunchRecorder(Tracer &t, KernelTable &k, h::Interpreter &i, const h::Value &kv,
                 const h::Value &g, const h::CallArgs &args)
      : tracer(t), kernels(k), interpreter(i), binder(i, kv, args), grid(g),
        kernel(*binder.given().kernel), kernelValue(kv), given(args) {}

  bool run() {
    if (tracer.chooseConfig || tracer.recorder)
      tuneLaunch(tracer, interpreter, binder, kernelValue, grid, given);
    ways = launchVariants(tracer, interpreter, binder);
    runPreHook();
    for (const auto &[guard, launch] : ways)
      variants.push_back(makeVariant(guard, launch));
    auto isAny = [&](bool KernelDef::*what) {
      return std::any_of(variants.begin(), variants.end(), [&](const LaunchVariant &variant) {
        return tracer.program.kernels[variant.kernel].*what;
      });
    };
    bool prints = isAny(&KernelDef::prints);
    if (tracer.recorder && isAny(&KernelDef::usesAddresses) && tracer.recorder->hasAddresses())
      recordAlone();
    else
      record();
    return prints;
  }

private:
  using Parameter = KernelTable::Parameter;

  /// Called while tracing, as Triton calls it before the launch: what it does is recorded.
  void runPreHook() {
    const BoundLaunch &first = ways.front().second;
    h::Value hook = first.config ? first.config->preHook : h::Value();
    for (const auto &[guard, launch] : ways)
      if (!h::sameStructure(launch.config ? launch.config->preHook : h::Value(), hook))
        binder.refuse("the configs that '" + kernel.name() +
                      "' may be launched with over the dynamic dims have different pre_hooks; make "
                      "the dims static");
    if (hook.isNone())
      return;
    if (ways.size() > 1)
      for (const auto &[name, value] : first.values)
        if (isHostDescriptor(value))
          binder.refuse("the pre_hook of '" + kernel.name() + "' sees the descriptor '" + name +
                        "' once, and the configs differ over the dynamic dims; make the dims "
                        "static");
    h::CallArgs call;
    call.positional = {binder.asDict(first)};
    call.location = binder.location();
    interpreter.call(hook, std::move(call));
  }

  /// It may read and write tensors that it is not given, through addresses that were taken.
  void recordAlone() {
    if (!isEager(tracer))
      binder.refuse("'" + kernel.name() +
                    "' follows addresses that are no arguments, and this script has asked tensors "
                    "for theirs (.data_ptr()): launch it outside of what is compiled or exported");
    tracer.recorder->followAddresses([this] {
      for (const LaunchVariant &variant : variants)
        for (const KernelParameter &parameter : tracer.program.kernels[variant.kernel].parameters)
          if (writes(parameter.access))
            refuseWrittenTwice(parameter.name);
      record();
    });
  }

  void refuseWrittenTwice(const std::string &name) {
    const h::JitFunction::Parameter *parameter = kernel.parameter(name);
    if (!parameter)
      return;
    h::Value value = valueIn(0, name);
    value = describedTensor(value).value_or(value);
    if (auto *tensor = value.as<TensorObject>(); tensor && tensor->tensor.storage->pinned)
      binder.refuse("'" + kernel.name() + "' writes to '" + name +
                    "' and to addresses that are no arguments, and the script has asked that "
                    "tensor for its address (.data_ptr()): what it holds afterwards is not known; "
                    "pass a tensor whose address was not taken, or all of them by address");
  }

  // --- parameters

  /// What the parameter's annotation says; nullopt when it says nothing of the width.
  std::optional<DataType> annotatedInt(const h::JitFunction::Parameter &parameter) {
    if (!parameter.annotation)
      return std::nullopt;
    try {
      h::Value annotated = interpreter.evaluate(*parameter.annotation, kernel.function->closure);
      if (auto *type = annotated.as<h::DType>(); type && !type->isPointer && !isFloat(type->type))
        return type->type;
    } catch (const DiagnosticError &) {
      // An annotation that is no dtype.
    }
    return std::nullopt;
  }

  DataType intType(const h::Value &value, const h::JitFunction::Parameter &parameter) {
    if (auto annotated = annotatedInt(parameter))
      return *annotated;
    if (value.isSymInt()) {
      symbolic::Range range = tracer.symbols().range(value.symInt());
      return range.min >= INT32_MIN && range.max <= INT32_MAX ? DataType::Int32 : DataType::Int64;
    }
    h::Int i = value.integer();
    if (i >= INT32_MIN && i <= INT32_MAX)
      return DataType::Int32;
    return i > INT64_MAX ? DataType::UInt64 : DataType::Int64;
  }

  h::Value constantOf(const h::JitFunction::Parameter &parameter, const h::Value &value) {
    if (value.as<TensorObject>())
      binder.refuse("constexpr '" + parameter.name + "' of '" + kernel.name() +
                    "' must be known while compiling, got a tensor");
    return knownConstant(parameter, value);
  }

  h::Value knownConstant(const h::JitFunction::Parameter &parameter, const h::Value &value) {
    if (auto *number = value.as<h::SymFloat>())
      number->refuse(interpreter, "the constexpr '" + parameter.name + "' of '" + kernel.name() +
                                      "', which must be known while compiling");
    if (h::isSymbolic(value) || value.isSymBool())
      binder.refuse("'" + parameter.name + "' of '" + kernel.name() +
                    "' must be known while compiling and depends on a dynamic size: " +
                    h::repr(value) + "; make the dim static, or pass the number itself");
    return asTritonConstant(value);
  }

  Parameter parameterOf(const h::JitFunction::Parameter &parameter, const h::Value &raw) {
    using Kind = Parameter::Kind;
    h::Value value = h::unwrapConstexpr(raw);
    auto argument = [](Kind kind, DataType dtype) {
      Parameter p;
      p.kind = kind;
      p.dtype = dtype;
      return p;
    };
    auto constant = [](h::Value known) {
      Parameter p;
      p.constant = std::move(known);
      return p;
    };
    if (parameter.isConstexpr)
      return constant(constantOf(parameter, value));
    if (auto *tensor = value.as<TensorObject>())
      return argument(Kind::Tensor, tensor->tensor.type.dtype);
    if (auto described = hostDescriptor(interpreter, value)) {
      Parameter p =
          argument(Kind::Descriptor, described->base.as<TensorObject>()->tensor.type.dtype);
      p.block = described->block;
      p.padsWithNan = described->padsWithNan;
      return p;
    }
    if (value.isNone())
      return argument(Kind::None, DataType::Int32);
    if (value.isBool() || value.isSymBool())
      return argument(Kind::Bool, DataType::Bool);
    if (value.isInt() || value.isSymInt()) {
      Parameter p = argument(Kind::Int, intType(value, parameter));
      p.equalsOne = value.isInt() && value.integer() == 1 && !parameter.doNotSpecialize;
      return p;
    }
    if (value.isFloat())
      return argument(Kind::Float, DataType::Float32);
    // A script's int is 32 bits wide, as Triton passes it.
    if (auto *item = value.as<ItemNumber>(); item && item->given && item->isWhole())
      return argument(Kind::Loaded, DataType::Int32);
    if (auto *number = value.as<h::SymFloat>())
      return argument(Kind::Loaded, number->isWhole() ? DataType::Int64 : DataType::Float32);
    // dtypes, strings, tuples and functions are constants wherever they stand.
    return constant(knownConstant(parameter, value));
  }

  std::vector<Parameter> parametersOf(const BoundLaunch &launch) {
    std::vector<Parameter> out;
    out.reserve(kernel.parameters.size());
    for (const auto &parameter : kernel.parameters)
      out.push_back(parameterOf(parameter, launch.values.at(parameter.name)));
    return out;
  }

  // --- variants

  /// The grid for these values: a tuple, a list, a number, or a function of the arguments.
  std::vector<Expr> gridOf(const BoundLaunch &launch) {
    h::Value value = grid;
    if (value.isObject() && value.object()->isCallable()) {
      h::CallArgs call;
      h::Value all = binder.asDict(launch);
      auto isKnown = [](const h::Value &given) {
        auto *item = given.as<ItemNumber>();
        return item && item->given;
      };
      const std::vector<std::pair<h::Value, h::Value>> entries = all.dictionary().items();
      for (const auto &[name, given] : entries)
        if (isKnown(given))
          all.dictionary().set(name, *given.as<ItemNumber>()->given);
      call.positional = {std::move(all)};
      call.location = binder.location();
      value = interpreter.call(value, std::move(call));
    }
    std::vector<Expr> sizes;
    if (value.isSequence()) {
      for (const h::Value &size : value.elements())
        sizes.push_back(interpreter.toExpr(sizeOf(tracer, interpreter, h::unwrapConstexpr(size)),
                                           "a grid size"));
    } else {
      sizes.push_back(
          interpreter.toExpr(sizeOf(tracer, interpreter, h::unwrapConstexpr(value)), "the grid"));
    }
    if (sizes.empty() || sizes.size() > 3)
      binder.refuse("a grid has one to three sizes, got " + std::to_string(sizes.size()));
    for (const Expr &size : sizes)
      if (auto known = size.constant(); known && *known < 0)
        binder.refuse("a grid size must not be negative, got " + std::to_string(*known));
    sizes.resize(3, Expr(1));
    return sizes;
  }

  int32_t option(const BoundLaunch &launch, const char *name, int32_t fallback) {
    auto entry = launch.options.find(name);
    return entry == launch.options.end() || entry->second.isNone()
               ? fallback
               : static_cast<int32_t>(interpreter.toInt64(entry->second, name));
  }

  LaunchVariant makeVariant(const Expr &guard, const BoundLaunch &launch) {
    LaunchVariant variant;
    variant.guard = guard;
    parameters = parametersOf(launch);
    variant.kernel = kernels.specialise(kernel, parameters);
    std::vector<Expr> sizes = sizesOverRange(tracer, [&] { return gridOf(launch); });
    std::copy(sizes.begin(), sizes.end(), variant.grid);
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].kind == Parameter::Kind::Constexpr)
        variant.constants.emplace_back(kernel.parameters[i].name,
                                       constantArgument(parameters[i].constant));
    variant.numWarps = option(launch, "num_warps", 4);
    if (variant.numWarps < 1 || variant.numWarps & (variant.numWarps - 1))
      binder.refuse("num_warps of '" + kernel.name() + "' must be a power of 2, got " +
                    std::to_string(variant.numWarps));
    variant.numStages = option(launch, "num_stages", 3);
    variant.numCtas = option(launch, "num_ctas", 1);
    variant.origin = launch.origin;
    return variant;
  }

  // --- the node

  h::Value valueIn(size_t way, const std::string &name) {
    return h::unwrapConstexpr(ways[way].second.values.at(name));
  }

  /// An integer argument that the decorators set may differ from variant to variant.
  Expr integerOf(const std::string &name) {
    auto in = [&](size_t way) {
      h::Value value = valueIn(way, name);
      return value.isSymBool() ? value.symBool() : interpreter.toExpr(value, name);
    };
    std::vector<std::pair<Expr, Expr>> guardOf; // by value
    for (size_t way = 0; way < ways.size(); ++way) {
      Expr value = in(way);
      auto known = std::find_if(guardOf.begin(), guardOf.end(),
                                [&](const auto &entry) { return entry.first == value; });
      if (known == guardOf.end())
        guardOf.emplace_back(value, ways[way].first);
      else
        known->second = symbolic::logicalOr(known->second, ways[way].first);
    }
    Expr result = guardOf[0].first;
    for (size_t i = 1; i < guardOf.size(); ++i)
      result = symbolic::select(guardOf[i].second, guardOf[i].first, result);
    return result;
  }

  h::Value sameEverywhere(const std::string &name) {
    h::Value value = valueIn(0, name);
    for (size_t way = 1; way < ways.size(); ++way)
      if (h::Value other = valueIn(way, name); !h::sameStructure(value, other))
        binder.refuse("the decorators of '" + kernel.name() + "' give '" + name + "' the values " +
                      h::repr(value) + " and " + h::repr(other) +
                      " over the dynamic dims; only integers may differ so");
    return value;
  }

  void addAccess(Tracer::LaunchArgument &argument) {
    for (const LaunchVariant &variant : variants)
      for (const KernelParameter &parameter : tracer.program.kernels[variant.kernel].parameters)
        if (parameter.name == argument.name) {
          argument.access = static_cast<Access>(static_cast<uint8_t>(argument.access) |
                                                static_cast<uint8_t>(parameter.access));
          argument.unknownAccess |= parameter.unknownAccess;
        }
  }

  /// Its base, sizes and strides, as the kernel was told that they come.
  void recordDescriptor(size_t index, std::vector<Tracer::LaunchArgument> &arguments) {
    HostDescriptor described =
        *hostDescriptor(interpreter, sameEverywhere(kernel.parameters[index].name));
    std::vector<frontend::ParameterSpec> specs(parameters.size());
    for (frontend::ParameterSpec &spec : specs)
      spec.kind = frontend::ParameterSpec::Kind::None;
    specs[index].kind = frontend::ParameterSpec::Kind::Descriptor;
    specs[index].block = described.block;
    std::vector<h::Value> numbers = described.shape;
    numbers.insert(numbers.end(), described.strides.begin(), described.strides.end() - 1);
    size_t part = 0;
    for (const frontend::EmittedParameter &emitted : frontend::runtimeParameters(kernel, specs)) {
      Tracer::LaunchArgument argument;
      argument.name = emitted.name;
      if (part++ == 0) {
        bases.push_back(described.base);
        argument.tensor = &bases.back().as<TensorObject>()->tensor;
        addAccess(argument);
      } else {
        argument.value = Argument(interpreter.toExpr(numbers[part - 2], emitted.name));
        requireInt32(argument, emitted.dtype);
      }
      arguments.push_back(std::move(argument));
    }
  }

  void requireInt32(const Tracer::LaunchArgument &argument, DataType dtype) {
    std::optional<Expr> size = argument.value.integer();
    if (dtype == DataType::Int32 && size && tracer.symbols().range(*size).max > INT32_MAX)
      binder.refuse("a size of a TensorDescriptor fits 32 bits, '" + argument.name + "' is " +
                    size->text());
  }

  /// One element of what a kernel's scalar is: a float32 or an int32.
  h::Value loadedNumber(const h::Value &number) {
    auto *item = number.as<ItemNumber>();
    if (item && item->given && item->given->isFloat())
      return heldNumber(DataType::Float32, static_cast<float>(item->given->real()));
    if (item && item->given && item->isWhole())
      return heldNumber(DataType::Int32, static_cast<int32_t>(item->given->integer()));
    return tensorOfNumber(tracer, interpreter, number);
  }

  /// No operator makes it: the script knows it.
  template <typename T> h::Value heldNumber(DataType type, T number) {
    std::shared_ptr<std::byte[]> bytes(new std::byte[sizeof number]);
    std::memcpy(bytes.get(), &number, sizeof number);
    ConcreteTensor held{type, {}, {}, {bytes, bytes.get()}, {}};
    return h::Value(std::make_shared<TensorObject>(tracer, tracer.recorder->tensorOf(held)));
  }

  void record() {
    using Kind = Parameter::Kind;
    std::vector<Tracer::LaunchArgument> arguments;
    arguments.reserve(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::string &name = kernel.parameters[i].name;
      Tracer::LaunchArgument argument;
      argument.name = name;
      switch (parameters[i].kind) {
      case Kind::Constexpr:
      case Kind::None:
        continue;
      case Kind::Tensor:
        argument.tensor = &valueIn(0, name).as<TensorObject>()->tensor;
        addAccess(argument);
        break;
      case Kind::Loaded:
        loaded.push_back(loadedNumber(sameEverywhere(name)));
        argument.tensor = &loaded.back().as<TensorObject>()->tensor;
        addAccess(argument);
        break;
      case Kind::Descriptor:
        recordDescriptor(i, arguments);
        continue;
      case Kind::Float:
        argument.value = Argument(sameEverywhere(name).real());
        break;
      case Kind::Bool:
        if (Expr truth = integerOf(name); auto known = truth.constant())
          argument.value = Argument(*known != 0);
        else
          argument.value = Argument(truth);
        break;
      case Kind::Int:
        argument.value = Argument(integerOf(name));
        break;
      }
      arguments.push_back(std::move(argument));
    }
    tracer.launch(std::move(variants), std::move(arguments), kernel.name(), binder.location());
  }

  Tracer &tracer;
  KernelTable &kernels;
  h::Interpreter &interpreter;
  LaunchBinder binder;
  const h::Value &grid;
  const h::JitFunction &kernel;
  const h::Value &kernelValue;
  const h::CallArgs &given;
  std::vector<std::pair<Expr, BoundLaunch>> ways;
  std::vector<LaunchVariant> variants;
  std::vector<h::Value> bases;       ///< of descriptors
  std::vector<h::Value> loaded;      ///< tensors of numbers that are computed when the program runs
  std::vector<Parameter> parameters; ///< of the last variant: the kinds agree in all
};

} // namespace

bool recordLaunch(Tracer &tracer, KernelTable &kernels, h::Interpreter &interpreter,
                  const h::Value &kernel, const h::Value &grid, const h::CallArgs &args) {
  return LaunchRecorder(tracer, kernels, interpreter, kernel, grid, args).run();
}

} // namespace pellucid::trace
