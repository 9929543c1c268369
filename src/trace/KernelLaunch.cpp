// SPDX-License-Identifier: Apache-2.0
#include "trace/KernelLaunch.h"

#include "trace/GuardedPaths.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <map>
#include <set>

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

const char *const launchOptions[] = {"num_warps",
                                     "num_stages",
                                     "num_ctas",
                                     "maxnreg",
                                     "enable_fp_fusion",
                                     "launch_pdl",
                                     "launch_cooperative_grid",
                                     "waves_per_eu",
                                     "matrix_instr_nonkdim",
                                     "extern_libs",
                                     "num_consumer_groups",
                                     "num_buffers_warp_spec",
                                     "num_cpu_threads",
                                     "grid",
                                     "warmup",
                                     "debug"};

bool isLaunchOption(const std::string &name) {
  return std::any_of(std::begin(launchOptions), std::end(launchOptions),
                     [&](const char *o) { return name == o; });
}

/// One launch with every argument by name: what the tuner and the heuristics have made of it.
struct BoundLaunch {
  const h::JitFunction *kernel = nullptr;
  std::map<std::string, h::Value> values; ///< by parameter
  std::map<std::string, h::Value> options;
  std::string origin;
};

class Binder {
public:
  Binder(Tracer &t, KernelTable &k, h::Interpreter &i, const h::Value &kv, const h::Value &g,
         const h::CallArgs &a)
      : tracer(t), kernels(k), interpreter(i), kernelValue(kv), grid(g), args(a),
        where(a.location.known() ? a.location : i.location()) {}

  void run() {
    bindGiven();
    std::vector<LaunchVariant> variants;
    std::set<std::string> symbols = symbolsAskedFor(symbolsThatDecide());
    if (symbols.empty()) {
      variants.push_back(makeVariant(decorated(given), 1));
    } else {
      variants = enumerate(symbols);
    }
    record(std::move(variants));
  }

private:
  // --- arguments as given
  // ----------------------------------------------------------------------------------------

  void bindGiven() {
    std::shared_ptr<h::JitFunction> jit = h::innermostKernel(kernelValue);
    given.kernel = jit.get();
    keepAlive = jit;
    size_t next = 0;
    const auto &parameters = jit->parameters;
    if (args.positional.size() > parameters.size())
      refuse("'" + jit->name() + "' takes " + std::to_string(parameters.size()) +
             " arguments, got " + std::to_string(args.positional.size()));
    for (const h::Value &value : args.positional)
      given.values[parameters[next++].name] = value;
    for (const auto &[name, value] : args.keywords) {
      bool isParameter = jit->parameter(name) != nullptr;
      if (isParameter) {
        if (!given.values.emplace(name, value).second)
          refuse("'" + jit->name() + "' got two values for '" + name + "'");
        if (isLaunchOption(name))
          given.options[name] = value;
      } else if (isLaunchOption(name)) {
        given.options[name] = value;
      } else {
        refuse("'" + jit->name() + "' has no parameter '" + name + "', and it is no launch option");
      }
    }
  }

  [[noreturn]] void refuse(const std::string &message) { interpreter.refuse(where, message); }

  /// The dynamic dimensions that constexprs, heuristics or tuning hooks may look at.
  std::set<std::string> symbolsThatDecide() {
    bool hasHooks = false;
    for (h::Value layer = kernelValue; auto *decorator = layer.as<h::KernelDecorator>();
         layer = decorator->fn) {
      hasHooks |= layer.as<h::Heuristics>() != nullptr;
      if (auto *tuner = layer.as<h::Autotuner>())
        hasHooks |= !tuner->pruneConfigsBy.isNone();
    }
    std::set<std::string> names;
    auto add = [&](const h::Value &value) {
      if (value.isSymInt())
        for (const std::string &symbol : value.symInt().symbols())
          names.insert(symbol);
      if (auto *tensor = value.as<TensorObject>())
        for (const Expr &size : tensor->tensor.type.shape)
          for (const std::string &symbol : size.symbols())
            names.insert(symbol);
    };
    for (const auto &parameter : given.kernel->parameters) {
      auto entry = given.values.find(parameter.name);
      if (entry == given.values.end())
        continue;
      if (parameter.isConstexpr && entry->second.isSymInt())
        add(entry->second);
      else if (hasHooks)
        add(entry->second);
    }
    return names;
  }

  /// Those of `candidates` that the decorators' functions really look at: one more is fixed at each
  /// try until they finish. All of them when a try fails for another reason.
  std::set<std::string> symbolsAskedFor(const std::set<std::string> &candidates) {
    std::set<std::string> chosen;
    while (chosen.size() < candidates.size()) {
      std::map<std::string, Expr> numbers;
      for (const std::string &symbol : chosen)
        numbers.emplace(symbol, tracer.symbols().find(symbol)->range.min);
      std::set<std::string> asked;
      try {
        askedWith(numbers, asked);
      } catch (const DiagnosticError &) {
        return candidates;
      }
      size_t before = chosen.size();
      chosen.insert(asked.begin(), asked.end());
      if (chosen.size() == before)
        break;
    }
    return chosen;
  }

  /// Binds with these sizes and collects the symbols that a branch or a constexpr still asks for.
  std::optional<BoundLaunch> askedWith(const std::map<std::string, Expr> &numbers,
                                       std::set<std::string> &asked) {
    struct Probe {
      std::set<std::string> *&slot;
      ~Probe() { slot = nullptr; }
    } probe{tracer.askedSymbols};
    tracer.askedSymbols = &asked;
    BoundLaunch concrete = given;
    for (auto &[name, argument] : concrete.values)
      argument = substituted(argument, numbers);
    try {
      BoundLaunch done = decorated(std::move(concrete));
      auto note = [&](const h::Value &value) {
        h::Value plain = h::unwrapConstexpr(value);
        if (plain.isSymInt() || plain.isSymBool())
          for (const std::string &symbol :
               (plain.isSymInt() ? plain.symInt() : plain.symBool()).symbols())
            asked.insert(symbol);
      };
      for (const auto &parameter : done.kernel->parameters)
        if (parameter.isConstexpr)
          note(done.values.at(parameter.name));
      for (const auto &[name, value] : done.options)
        note(value);
      return asked.empty() ? std::optional(std::move(done)) : std::nullopt;
    } catch (const UndecidedCondition &) {
      return std::nullopt;
    }
  }

  // --- the decorators
  // --------------------------------------------------------------------------------------------

  h::Value asDict(const BoundLaunch &launch) {
    h::Dict dict;
    for (const auto &parameter : launch.kernel->parameters) {
      auto entry = launch.values.find(parameter.name);
      if (entry != launch.values.end())
        dict.set(h::Value(parameter.name), entry->second);
      else if (parameter.defaultValue)
        dict.set(h::Value(parameter.name), *parameter.defaultValue);
    }
    for (const auto &[name, value] : launch.options)
      dict.set(h::Value(name), value);
    return h::Value::dict(std::move(dict));
  }

  void applyConfig(BoundLaunch &launch, const h::Config &config) {
    for (const auto &[key, value] : config.kwargs.dictionary().items()) {
      if (launch.values.count(key.str()) && given.values.count(key.str()))
        refuse("'" + key.str() +
               "' is given at the launch and set by the autotune config; give it in one place");
      launch.values[key.str()] = value;
    }
    for (const auto &[name, value] : config.options.items())
      if (!value.isNone())
        launch.options.emplace(name, value);
    if (!config.preHook.isNone())
      refuse("pre_hook of a triton.Config runs host code at every launch, which a program cannot "
             "carry; move it in front of the launch");
  }

  const h::Config &chooseConfig(const h::Autotuner &tuner, const BoundLaunch &launch) {
    if (tuner.configs.empty())
      refuse("'" + launch.kernel->name() + "' has @triton.autotune without configs");
    if (tuner.pruneConfigsBy.isNone())
      return *tuner.configs.front();
    const h::Value *early =
        tuner.pruneConfigsBy.dictionary().find(std::string_view("early_config_prune"));
    if (!early || early->isNone())
      return *tuner.configs.front();
    h::List configs;
    for (const auto &config : tuner.configs)
      configs.push_back(h::Value(config));
    h::CallArgs call;
    call.positional = {h::Value::list(configs), asDict(launch)};
    call.location = where;
    std::vector<h::Value> kept = interpreter.iterate(interpreter.call(*early, std::move(call)));
    if (kept.empty())
      refuse("early_config_prune leaves no config for '" + launch.kernel->name() + "'");
    auto *config = kept.front().as<h::Config>();
    if (!config)
      refuse("early_config_prune must return configs, got " + h::typeName(kept.front()));
    return *config;
  }

  /// Autotuner and heuristics from the outside in, then defaults.
  BoundLaunch decorated(BoundLaunch launch) {
    for (h::Value layer = kernelValue; auto *decorator = layer.as<h::KernelDecorator>();
         layer = decorator->fn) {
      if (auto *tuner = layer.as<h::Autotuner>()) {
        applyConfig(launch, chooseConfig(*tuner, launch));
        launch.origin = "autotune config 0";
      } else if (auto *heuristics = layer.as<h::Heuristics>()) {
        for (const auto &[name, function] : heuristics->values.dictionary().items()) {
          h::CallArgs call;
          call.positional = {asDict(launch)};
          call.location = where;
          launch.values[name.str()] = interpreter.call(function, std::move(call));
        }
      }
    }
    for (const auto &parameter : launch.kernel->parameters) {
      if (launch.values.count(parameter.name))
        continue;
      if (auto option = launch.options.find(parameter.name); option != launch.options.end())
        launch.values[parameter.name] = option->second;
      else if (parameter.defaultValue)
        launch.values[parameter.name] = *parameter.defaultValue;
      else
        refuse("'" + launch.kernel->name() + "' needs an argument for '" + parameter.name + "'");
    }
    return launch;
  }

  // --- one variant
  // -----------------------------------------------------------------------------------------------

  DataType intType(const h::Value &value, const h::JitFunction::Parameter &parameter) {
    if (parameter.annotation) {
      try {
        h::Value annotated =
            interpreter.evaluate(*parameter.annotation, given.kernel->function->closure);
        if (auto *type = annotated.as<h::DType>(); type && !type->isPointer && !isFloat(type->type))
          return type->type;
      } catch (const DiagnosticError &) {
        // An annotation that is no dtype says nothing about the width.
      }
    }
    if (value.isSymInt()) {
      symbolic::Range range = tracer.symbols().range(value.symInt());
      return range.min >= INT32_MIN && range.max <= INT32_MAX ? DataType::Int32 : DataType::Int64;
    }
    h::Int i = value.integer();
    if (i >= INT32_MIN && i <= INT32_MAX)
      return DataType::Int32;
    return i > INT64_MAX ? DataType::UInt64 : DataType::Int64;
  }

  std::vector<KernelTable::Parameter> parametersOf(const BoundLaunch &launch) {
    using Kind = KernelTable::Parameter::Kind;
    std::vector<KernelTable::Parameter> out;
    for (const auto &parameter : launch.kernel->parameters) {
      h::Value value = h::unwrapConstexpr(launch.values.at(parameter.name));
      KernelTable::Parameter p;
      if (parameter.isConstexpr) {
        if (value.isSymInt() || value.as<TensorObject>())
          refuse("constexpr '" + parameter.name + "' of '" + launch.kernel->name() +
                 "' must be known while compiling, got " +
                 (value.isSymInt() ? value.symInt().text() : "a tensor"));
        p.constant = asTritonConstant(value);
      } else if (auto *tensor = value.as<TensorObject>()) {
        p.kind = Kind::Tensor;
        p.dtype = tensor->tensor.type.dtype;
      } else if (value.isNone()) {
        p.kind = Kind::None;
      } else if (value.isBool()) {
        p.kind = Kind::Bool;
        p.dtype = DataType::Bool;
      } else if (value.isInt() || value.isSymInt()) {
        p.kind = Kind::Int;
        p.dtype = intType(value, parameter);
      } else if (value.isFloat()) {
        p.kind = Kind::Float;
        p.dtype = DataType::Float32;
      } else {
        // dtypes, strings, tuples and functions are constants wherever they stand.
        p.constant = asTritonConstant(value);
      }
      out.push_back(std::move(p));
    }
    return out;
  }

  /// The grid for these values: a tuple, a list, a number, or a function of the arguments.
  std::vector<Expr> gridOf(const BoundLaunch &launch) {
    h::Value value = grid;
    if (value.isObject() && value.object()->isCallable()) {
      h::CallArgs call;
      call.positional = {asDict(launch)};
      call.location = where;
      value = interpreter.call(value, std::move(call));
    }
    std::vector<Expr> sizes;
    if (value.isSequence()) {
      for (const h::Value &size : value.elements())
        sizes.push_back(interpreter.toExpr(h::unwrapConstexpr(size), "a grid size"));
    } else {
      sizes.push_back(interpreter.toExpr(h::unwrapConstexpr(value), "the grid"));
    }
    if (sizes.empty() || sizes.size() > 3)
      refuse("a grid has one to three sizes, got " + std::to_string(sizes.size()));
    for (const Expr &size : sizes)
      if (auto known = size.constant(); known && *known < 0)
        refuse("a grid size must not be negative, got " + std::to_string(*known));
    sizes.resize(3, Expr(1));
    return sizes;
  }

  int32_t option(const BoundLaunch &launch, const char *name, int32_t fallback) {
    auto entry = launch.options.find(name);
    return entry == launch.options.end() || entry->second.isNone()
               ? fallback
               : static_cast<int32_t>(interpreter.toInt64(entry->second, name));
  }

  LaunchVariant makeVariant(const BoundLaunch &launch, Expr guard,
                            const BoundLaunch *symbolicValues = nullptr) {
    LaunchVariant variant;
    variant.guard = std::move(guard);
    // Sizes that stay symbolic are passed as they are; only what must be constant is taken from
    // `launch`.
    BoundLaunch merged = launch;
    if (symbolicValues)
      for (const auto &parameter : launch.kernel->parameters) {
        auto original = symbolicValues->values.find(parameter.name);
        if (!parameter.isConstexpr && original != symbolicValues->values.end())
          merged.values[parameter.name] = original->second;
      }
    std::vector<KernelTable::Parameter> parameters = parametersOf(merged);
    variant.kernel = kernels.specialise(*merged.kernel, parameters);
    std::vector<Expr> sizes = gridOf(merged);
    std::copy(sizes.begin(), sizes.end(), variant.grid);
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].kind == KernelTable::Parameter::Kind::Constexpr)
        variant.constants.emplace_back(merged.kernel->parameters[i].name,
                                       constantArgument(parameters[i].constant));
    variant.numWarps = option(merged, "num_warps", 4);
    variant.numStages = option(merged, "num_stages", 3);
    variant.numCtas = option(merged, "num_ctas", 1);
    variant.origin = merged.origin;
    lastMerged = merged;
    lastParameters = parameters;
    return variant;
  }

  // --- variants per value of a dynamic dimension
  // -----------------------------------------------------------------

  h::Value substituted(const h::Value &value, const std::map<std::string, Expr> &numbers) {
    if (value.isSymInt())
      return h::Value::integer(symbolic::substitute(value.symInt(), numbers));
    if (auto *tensor = value.as<TensorObject>()) {
      TracedTensor copy = tensor->tensor;
      for (std::vector<Expr> *list : {&copy.type.shape, &copy.type.strides})
        for (Expr &e : *list)
          e = symbolic::substitute(e, numbers);
      return tensorValue(tracer, copy);
    }
    return value;
  }

  /// What decides which kernel is compiled and how it is launched, as text.
  std::string signatureOf(const BoundLaunch &launch) {
    std::string text;
    for (const auto &parameter : launch.kernel->parameters)
      if (parameter.isConstexpr)
        text += parameter.name + "=" + h::repr(launch.values.at(parameter.name)) + ";";
    for (const auto &[name, value] : launch.options)
      text += name + "=" + h::repr(value) + ";";
    return text;
  }

  std::vector<LaunchVariant> enumerate(const std::set<std::string> &symbols) {
    constexpr int64_t most = 65536;
    if (symbols.size() > 1)
      return followPaths();
    const std::string &symbol = *symbols.begin();
    symbolic::Range range = tracer.symbols().find(symbol)->range;
    if (range.max - range.min >= most)
      return followPaths();
    struct Interval {
      int64_t low, high;
    };
    std::vector<std::pair<std::string, std::vector<Interval>>> groups;
    std::map<std::string, size_t> groupOf;
    std::map<std::string, BoundLaunch> samples;
    for (int64_t value = range.min; value <= range.max; ++value) {
      std::set<std::string> asked;
      std::optional<BoundLaunch> bound = askedWith({{symbol, Expr(value)}}, asked);
      if (!bound) {
        asked.insert(symbol);
        return enumerate(asked);
      }
      const BoundLaunch &done = *bound;
      std::string signature = signatureOf(done);
      auto [entry, isNew] = groupOf.try_emplace(signature, groups.size());
      if (isNew) {
        groups.push_back({signature, {}});
        samples[signature] = done;
      }
      auto &intervals = groups[entry->second].second;
      if (!intervals.empty() && intervals.back().high == value - 1)
        intervals.back().high = value;
      else
        intervals.push_back({value, value});
    }
    std::vector<LaunchVariant> variants;
    Expr s = Expr::symbol(symbol);
    for (const auto &[signature, intervals] : groups) {
      Expr guard = 0;
      for (const Interval &interval : intervals)
        guard =
            symbolic::logicalOr(guard, symbolic::logicalAnd(symbolic::lessEqual(interval.low, s),
                                                            symbolic::lessEqual(s, interval.high)));
      if (groups.size() == 1)
        guard = 1;
      variants.push_back(makeVariant(samples[signature], guard, &given));
    }
    return variants;
  }

  // --- variants per way that the decorators can go --------------------------------------------

  /// A constexpr or option as a constant: the path decides which of its possible values it has.
  h::Value settled(const std::string &name, const h::Value &raw) {
    h::Value value = h::unwrapConstexpr(raw);
    if (value.isSymBool())
      return h::Value(interpreter.truth(value));
    if (!value.isSymInt())
      return raw;
    Expr expr = resolved(value.symInt());
    auto values = possibleValues(expr, tracer.symbols());
    if (!values || values->empty())
      refuse("constexpr '" + name + "' of '" + given.kernel->name() +
             "' has too many values over the dynamic dims: " + expr.text() +
             "; make the dims static or pass it as an ordinary argument");
    for (int64_t candidate : *values)
      if (candidate == *values->rbegin() ||
          interpreter.truth(h::Value::condition(symbolic::equal(expr, candidate))))
        return h::Value(candidate);
    return raw;
  }

  /// `expr` without its selections: the path decides their conditions.
  Expr resolved(const Expr &expr) {
    const std::vector<Expr> &operands = expr.operands();
    if (expr.op() == symbolic::ExprOp::Select)
      return resolved(interpreter.truth(h::Value::condition(operands[0])) ? operands[1]
                                                                          : operands[2]);
    auto join = operatorOf(expr.op());
    if (!join)
      return expr;
    Expr result = resolved(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i)
      result = join(result, resolved(operands[i]));
    return result;
  }

  using BinaryRule = Expr (*)(const Expr &, const Expr &);
  static BinaryRule operatorOf(symbolic::ExprOp op) {
    using symbolic::ExprOp;
    switch (op) {
    case ExprOp::Add:
      return [](const Expr &a, const Expr &b) { return a + b; };
    case ExprOp::Mul:
      return [](const Expr &a, const Expr &b) { return a * b; };
    case ExprOp::FloorDiv:
      return symbolic::floorDiv;
    case ExprOp::Mod:
      return symbolic::mod;
    case ExprOp::CeilDiv:
      return symbolic::ceilDiv;
    case ExprOp::Min:
      return symbolic::min;
    case ExprOp::Max:
      return symbolic::max;
    default:
      return nullptr;
    }
  }

  BoundLaunch settledLaunch() {
    BoundLaunch done = decorated(given);
    for (const auto &parameter : done.kernel->parameters)
      if (parameter.isConstexpr)
        done.values[parameter.name] = settled(parameter.name, done.values.at(parameter.name));
    for (auto &[name, value] : done.options)
      value = settled(name, value);
    return done;
  }

  /// One run of the decorators along `path`; nullopt where no size goes that way.
  std::optional<BoundLaunch> along(DecisionPath &path) {
    struct Scope {
      Tracer &tracer;
      ~Scope() { tracer.path = nullptr; }
    } scope{tracer};
    tracer.path = &path;
    try {
      BoundLaunch done = settledLaunch();
      return canHold(path.guard(), tracer.symbols()) ? std::optional(std::move(done))
                                                     : std::nullopt;
    } catch (const DiagnosticError &) {
      if (canHold(path.guard(), tracer.symbols()))
        throw;
      return std::nullopt;
    }
  }

  std::vector<LaunchVariant> followPaths() {
    constexpr size_t mostVariants = 256, mostPaths = 4096;
    std::vector<std::pair<Expr, BoundLaunch>> groups;
    std::map<std::string, size_t> groupOf;
    DecisionPath path;
    size_t paths = 0;
    do {
      std::optional<BoundLaunch> done = along(path);
      if (!done)
        continue;
      auto [entry, isNew] = groupOf.try_emplace(signatureOf(*done), groups.size());
      if (isNew)
        groups.emplace_back(path.guard(), std::move(*done));
      else
        groups[entry->second].first =
            symbolic::logicalOr(groups[entry->second].first, path.guard());
      if (groups.size() > mostVariants)
        refuse("'" + given.kernel->name() + "' needs more than " + std::to_string(mostVariants) +
               " variants over the dynamic dims; make some of them static");
    } while (path.advance() && ++paths < mostPaths);
    if (paths == mostPaths)
      refuse("the decorators of '" + given.kernel->name() + "' can go more than " +
             std::to_string(mostPaths) + " ways over the dynamic dims; make some of them static");
    std::vector<LaunchVariant> variants;
    for (const auto &[guard, launch] : groups)
      variants.push_back(makeVariant(launch, groups.size() == 1 ? Expr(1) : guard, &given));
    return variants;
  }

  // --- the node
  // --------------------------------------------------------------------------------------------------

  void record(std::vector<LaunchVariant> variants) {
    std::vector<Tracer::LaunchArgument> arguments;
    for (size_t i = 0; i < lastParameters.size(); ++i) {
      using Kind = KernelTable::Parameter::Kind;
      const std::string &name = lastMerged.kernel->parameters[i].name;
      h::Value value = h::unwrapConstexpr(lastMerged.values.at(name));
      Tracer::LaunchArgument argument;
      argument.name = name;
      switch (lastParameters[i].kind) {
      case Kind::Constexpr:
      case Kind::None:
        continue;
      case Kind::Tensor: {
        argument.tensor = &value.as<TensorObject>()->tensor;
        for (const LaunchVariant &variant : variants)
          for (const KernelParameter &parameter : tracer.program.kernels[variant.kernel].parameters)
            if (parameter.name == name) {
              argument.access = static_cast<Access>(static_cast<uint8_t>(argument.access) |
                                                    static_cast<uint8_t>(parameter.access));
              argument.unknownAccess |= parameter.unknownAccess;
            }
        tensors.push_back(value);
        break;
      }
      case Kind::Float:
        argument.value = Argument(value.real());
        break;
      case Kind::Bool:
        argument.value = Argument(value.boolean());
        break;
      case Kind::Int:
        argument.value = Argument(value.isSymInt() ? value.symInt()
                                                   : Expr(static_cast<int64_t>(value.integer())));
        break;
      }
      arguments.push_back(std::move(argument));
    }
    tracer.launch(std::move(variants), std::move(arguments), given.kernel->name(), where);
  }

  Tracer &tracer;
  KernelTable &kernels;
  h::Interpreter &interpreter;
  const h::Value &kernelValue;
  const h::Value &grid;
  const h::CallArgs &args;
  SourceLocation where;
  std::shared_ptr<h::JitFunction> keepAlive;
  BoundLaunch given, lastMerged;
  std::vector<KernelTable::Parameter> lastParameters;
  std::vector<h::Value> tensors;
};

} // namespace

void recordLaunch(Tracer &tracer, KernelTable &kernels, h::Interpreter &interpreter,
                  const h::Value &kernel, const h::Value &grid, const h::CallArgs &args) {
  Binder(tracer, kernels, interpreter, kernel, grid, args).run();
}

} // namespace pellucid::trace
