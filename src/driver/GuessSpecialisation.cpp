// SPDX-License-Identifier: Apache-2.0
#include "driver/GuessSpecialisation.h"

#include "driver/GuessPointers.h"
#include "host/TreeWalk.h"

#include <chrono>
#include <map>
#include <set>

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

/// Texts that the file compares something with.
void addComparedTexts(const s::Expr &expr, std::vector<h::Value> &out) {
  if (auto *compare = s::as<s::Compare>(&expr))
    for (const auto &other : compare->comparators)
      if (auto *constant = s::as<s::Constant>(other.get());
          constant && constant->type == s::Constant::Type::String)
        out.push_back(h::Value(constant->text));
  h::forEachChild(expr, [&](const s::Expr &child) { addComparedTexts(child, out); });
}
void addComparedTexts(const s::Stmt &stmt, std::vector<h::Value> &out) {
  h::forEachChild(
      stmt, [&](const s::Expr &child) { addComparedTexts(child, out); },
      [&](const s::Stmt &child) { addComparedTexts(child, out); });
}

std::vector<ParameterSpec> alternatives(const ParameterSpec &spec,
                                        const std::vector<h::Value> &texts) {
  std::vector<ParameterSpec> out;
  auto add = [&](ParameterSpec::Kind kind, DataType type) {
    ParameterSpec other;
    other.kind = kind;
    other.dtype = type;
    out.push_back(std::move(other));
  };
  if (spec.kind == ParameterSpec::Kind::Constexpr) {
    std::vector<h::Value> candidates = constantCandidates();
    candidates.insert(candidates.end(), texts.begin(), texts.end());
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
  Guess(h::Interpreter &i, mlir::MLIRContext &c, const std::vector<h::Value> &t)
      : interpreter(i), context(c), texts(t) {}

  Specialisation run(const h::Value &decorated, const h::JitFunction &kernel) {
    std::vector<bool> free;
    Specialisation best = firstGuess(decorated, kernel, free);
    if (!best.module)
      improve(kernel, free, best);
    return best;
  }

private:
  /// Defaults of constexprs: the first autotune config, else the signature's.
  std::map<std::string, h::Value> knownConstants(const h::Value &value,
                                                 const h::JitFunction &kernel) {
    std::map<std::string, h::Value> known;
    for (const auto &parameter : kernel.parameters)
      if (parameter.isConstexpr && parameter.defaultValue)
        known[parameter.name] = *parameter.defaultValue;
    for (h::Value layer = value; auto *decorator = layer.as<h::KernelDecorator>();
         layer = decorator->fn)
      if (auto *tuner = layer.as<h::Autotuner>(); tuner && !tuner->configs.empty())
        for (const auto &[key, v] : tuner->configs.front()->kwargs.dictionary().items())
          known[key.str()] = v;
    return known;
  }

  Specialisation attempt(const h::JitFunction &kernel, std::vector<ParameterSpec> specs) {
    Specialisation result;
    Diagnostics diagnostics;
    result.module = frontend::emitKernel(interpreter, kernel, specs, context, diagnostics, nullptr);
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
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    for (bool better = true; better && !best.module;) {
      better = false;
      for (size_t i = 0; i < free.size() && !best.module; ++i) {
        for (ParameterSpec &other :
             free[i] ? alternatives(best.specs[i], texts) : std::vector<ParameterSpec>()) {
          std::vector<ParameterSpec> specs = best.specs;
          specs[i] = std::move(other);
          Specialisation next = attempt(kernel, std::move(specs));
          if (!next.module && next.progress <= best.progress)
            continue;
          best = std::move(next);
          better = true;
          break;
        }
        if (std::chrono::steady_clock::now() > deadline)
          return;
      }
    }
  }

  Specialisation firstGuess(const h::Value &value, const h::JitFunction &kernel,
                            std::vector<bool> &free) {
    std::set<std::string> pointers = guessPointers(interpreter, kernel);
    std::map<std::string, h::Value> known = knownConstants(value, kernel);
    std::vector<ParameterSpec> specs;
    for (const auto &parameter : kernel.parameters) {
      ParameterSpec spec;
      spec.kind = pointers.count(parameter.name) ? ParameterSpec::Kind::Pointer
                                                 : ParameterSpec::Kind::Scalar;
      spec.dtype = spec.kind == ParameterSpec::Kind::Pointer ? DataType::Float32 : DataType::Int32;
      auto entry = known.find(parameter.name);
      if (parameter.isConstexpr) {
        spec.kind = ParameterSpec::Kind::Constexpr;
        spec.constant =
            h::unwrapConstexpr(entry == known.end() ? constantCandidates().front() : entry->second);
      }
      free.push_back(!parameter.isConstexpr || entry == known.end());
      specs.push_back(std::move(spec));
    }
    Specialisation best = attempt(kernel, specs);
    // Constants of one kind often go together.
    for (const h::Value &candidate : constantCandidates()) {
      if (best.module)
        break;
      for (size_t i = 0; i < specs.size(); ++i)
        if (free[i] && specs[i].kind == ParameterSpec::Kind::Constexpr)
          specs[i].constant = candidate;
      if (Specialisation next = attempt(kernel, specs);
          next.module || next.progress > best.progress)
        best = std::move(next);
    }
    return best;
  }

  h::Interpreter &interpreter;
  mlir::MLIRContext &context;
  const std::vector<h::Value> &texts;
};

} // namespace

std::vector<h::Value> comparedTexts(const s::Module &file) {
  std::vector<h::Value> texts;
  for (const auto &statement : file.body)
    addComparedTexts(*statement, texts);
  return texts;
}

Specialisation guessSpecialisation(h::Interpreter &interpreter, mlir::MLIRContext &context,
                                   const h::Value &decorated, const h::JitFunction &kernel,
                                   const std::vector<h::Value> &texts) {
  return Guess(interpreter, context, texts).run(decorated, kernel);
}

} // namespace pellucid::driver
