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
#include <deque>
#include <span>

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

  /// The scalar type that a parameter's annotation names, as Triton reads it: a dtype, its text
  /// ("tl.float16", "fp16") or Python's `float`. nullopt where it names none.
  std::optional<DataType> annotatedType(const h::JitFunction::Parameter &parameter) {
    if (!parameter.annotation)
      return std::nullopt;
    h::Value annotated;
    try {
      annotated = interpreter.evaluate(*parameter.annotation, kernel.function->closure);
    } catch (const DiagnosticError &) {
      return std::nullopt; // An annotation that is no dtype.
    }
    if (auto *type = annotated.as<h::DType>())
      return type->isPointer || type->family == h::DType::Family::Torch ? std::nullopt
                                                                        : std::optional(type->type);
    if (annotated.isStr())
      return typeOfText(annotated.str());
    // `int` says nothing of the width: a number beyond 32 bits keeps all of them.
    if (annotated.isObject() && annotated.object() == interpreter.builtinClass("float"))
      return DataType::Float32;
    return std::nullopt;
  }

  static std::optional<DataType> typeOfText(std::string_view text) {
    size_t begin = text.find_first_not_of(' ');
    text = begin == std::string_view::npos
               ? ""
               : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
    if (text.starts_with("tl."))
      text.remove_prefix(3);
    // Short names that are not Triton's, and `int`.
    for (std::string_view other : {"f16", "f32", "f64", "short", "long", "int"})
      if (text == other)
        return std::nullopt;
    return dataTypeNamed(text);
  }

  DataType intType(const h::Value &value, const h::JitFunction::Parameter &parameter) {
    if (auto annotated = annotatedType(parameter))
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
    if (auto annotated = annotatedType(parameter); annotated && isFloat(*annotated)) {
      if (value.isBool() || value.isInt() || value.isSymInt() || value.isFloat())
        return argument(Kind::Float, *annotated);
    } else if (annotated && value.isFloat()) {
      interpreter.raise("TypeError", "'float' object cannot be interpreted as an integer: '" +
                                         parameter.name + "' of '" + kernel.name() + "' is " +
                                         std::string(info(*annotated).torch) +
                                         " by its annotation, got " + h::repr(value));
    }
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
    if (elementsOf(value) && isPassedByElements(value))
      return tupleOf(parameter, value);
    // dtypes, strings, tuples of numbers and functions are constants wherever they stand.
    return constant(knownConstant(parameter, value));
  }

  /// What a tuple or a NamedTuple holds.
  static std::optional<std::vector<h::Value>> elementsOf(const h::Value &value) {
    if (value.isTuple())
      return value.tuple();
    auto *instance = value.as<h::Instance>();
    const h::Value *fields = instance ? instance->cls->find("_fields") : nullptr;
    if (!fields || !fields->isTuple())
      return std::nullopt;
    std::vector<h::Value> elements;
    for (const h::Value &name : fields->tuple())
      elements.push_back(*instance->attributes.find(name.str()));
    return elements;
  }

  /// Whether it holds, at any depth, what is known only when the kernel runs.
  bool isPassedByElements(const h::Value &raw) {
    h::Value value = h::unwrapConstexpr(raw);
    if (auto elements = elementsOf(value))
      return std::any_of(elements->begin(), elements->end(),
                         [&](const h::Value &element) { return isPassedByElements(element); });
    return value.as<TensorObject>() || h::isSymbolic(value) || value.isSymBool() ||
           value.as<h::SymFloat>() || value.as<ItemNumber>() || hostDescriptor(interpreter, value);
  }

  Parameter tupleOf(const h::JitFunction::Parameter &parameter, const h::Value &value) {
    Parameter out;
    out.kind = Parameter::Kind::Tuple;
    if (auto *instance = value.as<h::Instance>())
      out.tupleClass = instance->cls;
    const std::vector<h::Value> elements = *elementsOf(value);
    for (size_t i = 0; i < elements.size(); ++i) {
      h::JitFunction::Parameter element;
      element.name = parameter.name + "[" + std::to_string(i) + "]";
      element.doNotSpecialize = parameter.doNotSpecialize;
      element.isConstexpr = elements[i].as<h::Constexpr>() != nullptr;
      out.elements.push_back(parameterOf(element, elements[i]));
    }
    return out;
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

  using Parts = std::span<const frontend::EmittedParameter>;

  /// Its base, sizes and strides, as the kernel was told that they come.
  void recordDescriptor(const HostDescriptor &described, Parts parts) {
    std::vector<h::Value> numbers = described.shape;
    numbers.insert(numbers.end(), described.strides.begin(), described.strides.end() - 1);
    for (size_t part = 0; part < parts.size(); ++part) {
      Tracer::LaunchArgument argument;
      argument.name = parts[part].name;
      if (part == 0) {
        bases.push_back(described.base);
        argument.tensor = &bases.back().as<TensorObject>()->tensor;
        addAccess(argument);
      } else {
        argument.value = Argument(interpreter.toExpr(numbers[part - 1], argument.name));
        requireInt32(argument, parts[part].dtype);
      }
      arguments.push_back(std::move(argument));
    }
  }

  /// The elements one by one; gives the parts that are left.
  Parts recordTuple(const Parameter &tuple, const h::Value &value, Parts parts) {
    const std::vector<h::Value> elements = *elementsOf(value);
    for (size_t i = 0; i < elements.size(); ++i) {
      const Parameter &element = tuple.elements[i];
      const h::Value given = h::unwrapConstexpr(elements[i]);
      if (element.kind == Parameter::Kind::Constexpr || element.kind == Parameter::Kind::None)
        continue;
      if (element.kind == Parameter::Kind::Tuple) {
        parts = recordTuple(element, given, parts);
        continue;
      }
      size_t count =
          element.kind == Parameter::Kind::Descriptor ? 2 * element.block.size() : size_t(1);
      if (element.kind == Parameter::Kind::Descriptor)
        recordDescriptor(*hostDescriptor(interpreter, given), parts.first(count));
      else
        recordElement(element, given, parts[0].name);
      parts = parts.subspan(count);
    }
    return parts;
  }

  void recordElement(const Parameter &element, const h::Value &value, const std::string &name) {
    Tracer::LaunchArgument argument;
    argument.name = name;
    if (element.kind == Parameter::Kind::Tensor || element.kind == Parameter::Kind::Loaded) {
      loaded.push_back(element.kind == Parameter::Kind::Tensor ? value : loadedNumber(value));
      argument.tensor = &loaded.back().as<TensorObject>()->tensor;
      addAccess(argument);
    } else if (element.kind == Parameter::Kind::Float) {
      argument.value = Argument(value.real());
    } else {
      Expr number =
          value.isSymBool() ? value.symBool() : interpreter.toExpr(value, "an element of a tuple");
      argument.value = Argument(number);
      if (auto known = number.constant(); known && element.kind == Parameter::Kind::Bool)
        argument.value = Argument(*known != 0);
    }
    arguments.push_back(std::move(argument));
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

  /// The number for a parameter that is a float: an integer too, where its annotation makes it one.
  Argument realOf(const std::string &name) {
    h::Value value = h::unwrapConstexpr(sameEverywhere(name));
    if (value.isSymInt())
      return Argument(integerOf(name));
    return Argument(value.isFloat()  ? value.real()
                    : value.isBool() ? (value.boolean() ? 1.0 : 0.0)
                                     : static_cast<double>(value.integer()));
  }

  /// No operator makes it: the script knows it.
  template <typename T> h::Value heldNumber(DataType type, T number) {
    std::shared_ptr<std::byte[]> bytes(new std::byte[sizeof number]);
    std::memcpy(bytes.get(), &number, sizeof number);
    ConcreteTensor held{type, {}, {}, {bytes, bytes.get()}, {}};
    return h::Value(std::make_shared<TensorObject>(tracer, tracer.recorder->tensorOf(held)));
  }

  /// The kernel's run-time parameters, if one of its parameters is passed as several.
  std::vector<frontend::EmittedParameter> partsOfLaunch() {
    using Kind = Parameter::Kind;
    if (std::none_of(parameters.begin(), parameters.end(), [](const Parameter &parameter) {
          return parameter.kind == Kind::Descriptor || parameter.kind == Kind::Tuple;
        }))
      return {};
    std::vector<frontend::ParameterSpec> specs;
    specs.reserve(parameters.size());
    for (const Parameter &parameter : parameters)
      specs.push_back(parameter.spec());
    return frontend::runtimeParameters(kernel, specs);
  }

  void record() {
    using Kind = Parameter::Kind;
    const std::vector<frontend::EmittedParameter> emitted = partsOfLaunch();
    auto partsOf = [&](size_t parameter) {
      auto [first, last] = std::equal_range(
          emitted.begin(), emitted.end(), frontend::EmittedParameter{"", {}, {}, parameter},
          [](const auto &a, const auto &b) { return a.parameter < b.parameter; });
      return Parts(first, last);
    };
    arguments.reserve(std::max(parameters.size(), emitted.size()));
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
        recordDescriptor(*hostDescriptor(interpreter, sameEverywhere(name)), partsOf(i));
        continue;
      case Kind::Tuple:
        recordTuple(parameters[i], sameEverywhere(name), partsOf(i));
        continue;
      case Kind::Float:
        argument.value = realOf(name);
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
  std::vector<h::Value> bases; ///< of descriptors
  /// Tensors of numbers that are computed when the program runs, and those that tuples hold.
  std::deque<h::Value> loaded;
  std::vector<Tracer::LaunchArgument> arguments;
  std::vector<Parameter> parameters; ///< of the last variant: the kinds agree in all
};

} // namespace

bool recordLaunch(Tracer &tracer, KernelTable &kernels, h::Interpreter &interpreter,
                  const h::Value &kernel, const h::Value &grid, const h::CallArgs &args) {
  return LaunchRecorder(tracer, kernels, interpreter, kernel, grid, args).run();
}

} // namespace pellucid::trace
