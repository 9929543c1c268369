// SPDX-License-Identifier: Apache-2.0
#include "driver/GuessSpecialisation.h"

#include "driver/GuessConstants.h"
#include "driver/GuessPointers.h"
#include "host/TreeWalk.h"

#include <algorithm>

namespace pellucid::driver {

namespace h = host;
namespace s = syntax;
using frontend::ParameterSpec;

namespace {

/// What a parameter without any hint may be, likely ones first.
std::vector<h::Value> constantCandidates() {
  auto type = [](DataType t) {
    return h::Value(std::make_shared<h::DType>(t, h::DType::Family::Triton));
  };
  return {h::Value(64),
          h::Value(16),
          h::Value(true),
          type(DataType::Float32),
          h::Value(""),
          h::Value(),
          h::Value(1),
          h::Value(0),
          h::Value(false),
          h::Value(128),
          h::Value(32),
          h::Value("ieee"),
          h::Value(1e-5),
          type(DataType::Int32),
          type(DataType::Float16)};
}

std::optional<h::Value> literalValue(const s::Expr &expr) {
  using Type = s::Constant::Type;
  auto *constant = s::as<s::Constant>(&expr);
  if (!constant)
    return std::nullopt;
  switch (constant->type) {
  case Type::None:
    return h::Value();
  case Type::True:
  case Type::False:
    return h::Value(constant->type == Type::True);
  case Type::Int:
    return h::Value(constant->intValue);
  case Type::Float:
    return h::Value(constant->floatValue);
  case Type::String:
    return h::Value(constant->text);
  default:
    return std::nullopt;
  }
}

class HintReader {
public:
  ConstantHints hints;

  void read(const s::Stmt &stmt) {
    h::forEachChild(
        stmt, [&](const s::Expr &child) { read(child); },
        [&](const s::Stmt &child) { read(child); });
  }

private:
  void read(const s::Expr &expr) {
    if (auto *compare = s::as<s::Compare>(&expr)) {
      for (const auto &other : compare->comparators)
        if (auto value = literalValue(*other))
          addCompared(*value);
    } else if (auto *call = s::as<s::Call>(&expr); call && s::as<s::Subscript>(call->func.get())) {
      for (const auto &keyword : call->keywords)
        if (auto value = keyword->arg ? literalValue(*keyword->value) : std::nullopt)
          hints.launched.emplace(*keyword->arg, *value);
    }
    h::forEachChild(expr, [&](const s::Expr &child) { read(child); });
  }

  void addCompared(const h::Value &value) {
    bool helps = value.isStr() || (value.isInt() && value.integer() > 1 && value.integer() < 16);
    auto same = [&](const h::Value &known) {
      return known.kind() == value.kind() && h::equal(known, value);
    };
    if (helps && std::none_of(hints.compared.begin(), hints.compared.end(), same))
      hints.compared.push_back(value);
  }
};

/// What else a parameter may be. `likely`: what the kernel's text says of a constexpr.
std::vector<ParameterSpec> alternatives(const ParameterSpec &spec,
                                        const std::vector<h::Value> &likely,
                                        const std::vector<h::Value> &compared) {
  std::vector<ParameterSpec> out;
  auto add = [&](ParameterSpec::Kind kind, DataType type) {
    ParameterSpec other;
    other.kind = kind;
    other.dtype = type;
    out.push_back(std::move(other));
  };
  if (spec.kind == ParameterSpec::Kind::Constexpr) {
    std::vector<h::Value> candidates = likely;
    if (likely.empty()) {
      candidates = constantCandidates();
      candidates.insert(candidates.end(), compared.begin(), compared.end());
    }
    for (h::Value &candidate : candidates) {
      ParameterSpec other = spec;
      other.constant = std::move(candidate);
      out.push_back(std::move(other));
    }
    return out;
  }
  for (DataType type :
       {DataType::Float32, DataType::Int32, DataType::Int64, DataType::Float16, DataType::UInt8})
    add(ParameterSpec::Kind::Pointer, type);
  for (DataType type : {DataType::Int32, DataType::Float32})
    add(ParameterSpec::Kind::Scalar, type);
  add(ParameterSpec::Kind::None, DataType::Int32);
  return out;
}

class Guess {
public:
  Guess(h::Interpreter &i, mlir::MLIRContext &c, const ConstantHints &given)
      : interpreter(i), context(c), hints(given) {}

  Specialisation run(const h::Value &decorated, const h::JitFunction &kernel) {
    std::vector<bool> free;
    uses = constantUses(interpreter, kernel);
    Specialisation best = firstGuess(decorated, kernel, free);
    if (!best.module)
      improve(kernel, free, best);
    return best;
  }

private:
  /// Values of constexprs: of the first autotune config, else of a launch, else the default.
  std::map<std::string, h::Value> knownConstants(const h::Value &value,
                                                 const h::JitFunction &kernel) {
    std::map<std::string, h::Value> known;
    for (const auto &parameter : kernel.parameters)
      if (parameter.isConstexpr && parameter.defaultValue)
        known[parameter.name] = *parameter.defaultValue;
    for (const auto &[name, constant] : hints.launched)
      known[name] = constant;
    for (h::Value layer = value; auto *decorator = layer.as<h::KernelDecorator>();
         layer = decorator->fn)
      if (auto *tuner = layer.as<h::Autotuner>(); tuner && !tuner->configs.empty())
        for (const auto &[key, v] : tuner->configs.front()->kwargs.dictionary().items())
          known[key.str()] = v;
    return known;
  }

  Specialisation attempt(const h::JitFunction &kernel, std::vector<ParameterSpec> specs) {
    ++attempts;
    Specialisation result;
    Diagnostics diagnostics;
    frontend::EmitOutcome outcome;
    result.module = frontend::emitKernel(interpreter, kernel, specs, context, diagnostics, nullptr,
                                         {}, &outcome);
    result.isUnsupported = outcome.isUnsupported;
    statements += outcome.statements;
    result.specs = std::move(specs);
    for (const Diagnostic &d : diagnostics.all())
      if (d.severity == Severity::Error && !result.error)
        result.error = d;
    if (!result.error)
      return result;
    const SourceRange &range = kernel.def().range;
    auto within = [&](const SourceLocation &l) {
      return l.file == kernel.location().file && l.range.line >= range.line &&
             l.range.line <= range.endLine;
    };
    SourceLocation here = result.error->location;
    for (const Diagnostic &note : result.error->notes)
      if (!within(here) && within(note.location))
        here = note.location;
    const SourceLocation &inner = result.error->location;
    if (within(here))
      result.progress = {here.range.line, inner.range.line};
    return result;
  }

  /// Changes one parameter at a time as long as that compiles further.
  void improve(const h::JitFunction &kernel, const std::vector<bool> &free, Specialisation &best) {
    for (bool better = true; better && !best.module;) {
      better = false;
      for (size_t i = 0; i < free.size() && !best.module && mayTry(); ++i)
        if (free[i])
          better |= improve(kernel, i, best);
    }
  }

  bool improve(const h::JitFunction &kernel, size_t parameter, Specialisation &best) {
    for (ParameterSpec &other :
         alternatives(best.specs[parameter], likelyFor(kernel, parameter), hints.compared)) {
      std::vector<ParameterSpec> specs = best.specs;
      specs[parameter] = std::move(other);
      if (takeFurther(kernel, std::move(specs), best))
        return true;
    }
    return false;
  }

  bool takeFurther(const h::JitFunction &kernel, std::vector<ParameterSpec> specs,
                   Specialisation &best) {
    if (!mayTry())
      return false;
    Specialisation next = attempt(kernel, std::move(specs));
    bool further = next.module || next.progress > best.progress;
    if (further)
      best = std::move(next);
    return further;
  }

  ParameterSpec firstSpec(const h::JitFunction::Parameter &parameter, const PointerGuess &guess,
                          const std::map<std::string, h::Value> &known) {
    ParameterSpec spec;
    auto entry = known.find(parameter.name);
    if (parameter.isConstexpr) {
      spec.kind = ParameterSpec::Kind::Constexpr;
      std::vector<h::Value> likely = candidatesFor(parameter.name);
      h::Value first = likely.empty() ? constantCandidates().front() : likely.front();
      spec.constant = h::unwrapConstexpr(entry == known.end() ? first : entry->second);
    } else if (guess.pointers.count(parameter.name)) {
      spec.kind = ParameterSpec::Kind::Pointer;
      spec.dtype = guess.integers.count(parameter.name) ? DataType::Int32 : DataType::Float32;
    } else if (auto type = annotatedScalar(parameter)) {
      spec.dtype = *type;
    }
    return spec;
  }

  Specialisation firstGuess(const h::Value &value, const h::JitFunction &kernel,
                            std::vector<bool> &free) {
    PointerGuess guess = guessPointers(interpreter, kernel);
    std::map<std::string, h::Value> known = knownConstants(value, kernel);
    std::vector<ParameterSpec> specs;
    for (const auto &parameter : kernel.parameters) {
      free.push_back(!parameter.isConstexpr || !known.count(parameter.name));
      specs.push_back(firstSpec(parameter, guess, known));
    }
    Specialisation best = attempt(kernel, specs);
    // Constants of one kind often go together, and so do the tensors of a product.
    struct Choice {
      int64_t size;
      bool flag;
    };
    for (Choice choice : {Choice{64, false}, {16, true}, {16, false}, {128, true}, {128, false}}) {
      if (best.module)
        return best;
      takeFurther(kernel, chosen(specs, kernel, free, choice.size, choice.flag), best);
    }
    for (const h::Value &candidate : constantCandidates()) {
      if (best.module)
        return best;
      bool changed = false;
      for (size_t i = 0; i < specs.size(); ++i)
        if (free[i] && specs[i].kind == ParameterSpec::Kind::Constexpr &&
            likelyFor(kernel, i).empty()) {
          specs[i].constant = candidate;
          changed = true;
        }
      if (changed)
        takeFurther(kernel, specs, best);
    }
    specs = best.specs;
    for (DataType element : {DataType::Int8, DataType::Float16, DataType::Int32}) {
      if (best.module)
        return best;
      for (size_t i = 0; i < specs.size(); ++i)
        if (specs[i].kind == ParameterSpec::Kind::Pointer &&
            !guess.integers.count(kernel.parameters[i].name))
          specs[i].dtype = element;
      takeFurther(kernel, specs, best);
    }
    return best;
  }

  /// With sizes and flags as given, in all parameters that the text says are such.
  std::vector<ParameterSpec> chosen(std::vector<ParameterSpec> specs, const h::JitFunction &kernel,
                                    const std::vector<bool> &free, int64_t size, bool flag) {
    for (size_t i = 0; i < specs.size(); ++i) {
      auto use = uses.find(kernel.parameters[i].name);
      if (!free[i] || specs[i].kind != ParameterSpec::Kind::Constexpr || use == uses.end())
        continue;
      if (use->second.isSize)
        specs[i].constant = h::Value(size);
      else if (specs[i].constant.isBool())
        specs[i].constant = h::Value(flag);
    }
    return specs;
  }

  std::vector<h::Value> candidatesFor(const std::string &parameter) {
    auto use = uses.find(parameter);
    return use == uses.end() ? std::vector<h::Value>() : use->second.candidates();
  }
  std::vector<h::Value> likelyFor(const h::JitFunction &kernel, size_t parameter) {
    return candidatesFor(kernel.parameters[parameter].name);
  }

  bool mayTry() const { return attempts < mostAttempts && statements < mostStatements; }

  static constexpr unsigned mostAttempts = 400;       ///< compilations …
  static constexpr uint64_t mostStatements = 100'000; ///< … and what they emit, of some µs each
  unsigned attempts = 0;
  uint64_t statements = 0;
  std::map<std::string, ConstantUse> uses;
  h::Interpreter &interpreter;
  mlir::MLIRContext &context;
  const ConstantHints &hints;
};

} // namespace

ConstantHints constantHints(const s::Module &file) {
  HintReader reader;
  for (const auto &statement : file.body)
    reader.read(*statement);
  return std::move(reader.hints);
}

Specialisation guessSpecialisation(h::Interpreter &interpreter, mlir::MLIRContext &context,
                                   const h::Value &decorated, const h::JitFunction &kernel,
                                   const ConstantHints &hints) {
  return Guess(interpreter, context, hints).run(decorated, kernel);
}

} // namespace pellucid::driver
