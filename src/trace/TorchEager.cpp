// SPDX-License-Identifier: Apache-2.0
// What torch has for scripts alone: functions that answer from the values of tensors.
#include "trace/EagerRecorder.h"
#include "trace/HostDraws.h"
#include "trace/PytorchNames.h"
#include "trace/TensorCalls.h"
#include "trace/TensorObject.h"
#include "trace/TorchLinalg.h"
#include "trace/TorchSources.h"
#include "trace/TraceSession.h"

#include <cmath>
#include <set>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

/// Sets what is not None; without arguments it gives what is set.
h::Value printOptions(Tracer &tracer, h::Interpreter &interpreter, const h::CallArgs &args) {
  PrintOptions &options = tracer.printing;
  int64_t *numbers[] = {&options.precision, &options.threshold, &options.edgeItems,
                        &options.lineWidth};
  if (args.positional.empty()) {
    h::Tuple out;
    for (int64_t *number : numbers)
      out.push_back(*number == INT64_MAX ? h::Value(INFINITY) : h::Value(*number));
    out.push_back(options.scientific ? h::Value(*options.scientific) : h::Value());
    return h::Value::tuple(std::move(out));
  }
  for (size_t i = 0; i < 4; ++i) {
    const h::Value &given = args.positional.at(i);
    if (given.isNone())
      continue;
    double number = interpreter.toDouble(given, "a print option");
    *numbers[i] = number >= 9e18 ? INT64_MAX : static_cast<int64_t>(number);
  }
  bool resets = interpreter.truth(args.positional.at(5));
  if (const h::Value &given = args.positional.at(4); !given.isNone())
    options.scientific = interpreter.truth(given);
  else if (resets)
    options.scientific.reset();
  return h::Value();
}

/// How often segments were run, compiled and interpreted so far.
h::Value statistics(const Tracer &tracer) {
  h::Dict out;
  if (tracer.recorder) {
    const EagerRecorder::Statistics &counts = tracer.recorder->statistics();
    out.set(h::Value("segments"), h::Value(counts.segments));
    out.set(h::Value("compiled"), h::Value(counts.compiled));
    out.set(h::Value("dynamic"), h::Value(counts.dynamic));
    out.set(h::Value("interpreted"), h::Value(counts.interpreted));
    out.set(h::Value("operators"), h::Value(counts.operators));
  }
  return h::Value::dict(std::move(out));
}

} // namespace

std::optional<h::Value> eagerFunction(h::Interpreter &interpreter, std::string_view name) {
  auto module = interpreter.nativeModule("torch._pellucid_eager");
  const h::Value *found = module && !name.starts_with("_") ? module->globals->find(name) : nullptr;
  // What torch has of torch.linalg under its own name.
  static const std::set<std::string_view> ofMatrices = {
      "det",      "slogdet",        "logdet",           "inverse",      "pinverse",
      "cholesky", "cholesky_solve", "cholesky_inverse", "matrix_power", "matrix_exp",
      "qr"};
  if (!found && module && ofMatrices.count(name)) {
    auto linalg = interpreter.nativeModule("torch._pellucid_linalg");
    found = linalg->globals->find(name == "pinverse" ? "pinv" : name);
  }
  return found && found->as<h::Function>() ? std::optional(*found) : std::nullopt;
}

void addEagerModules(h::NativeModules &modules, Tracer &tracer) {
  addTorchLinalg(modules, tracer);
  modules.add("torch._pellucid_eager", [&tracer](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_eager_source", std::make_shared<SourceFile>("<torch>", std::string(eagerSource)));
    source->globals->set(
        "_print_options",
        h::nativeRaw("print_options", [&tracer](h::Interpreter &i, h::CallArgs args) {
          return printOptions(tracer, i, args);
        }));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch", [&tracer](h::Interpreter &, h::Module &module) {
    for (auto [name, kind, isWide] :
         {std::tuple("_standard_gamma", HostDraw::Kind::Gamma, false),
          std::tuple("poisson", HostDraw::Kind::Poisson, false),
          std::tuple("_pellucid_wide_gamma", HostDraw::Kind::Gamma, true)})
      module.globals->set(name,
                          h::native(std::string("torch.") + name, "input, generator=None",
                                    [kind, isWide](h::Interpreter &i, std::vector<h::Value> &a) {
                                      return drawEach(a[0].expect<TensorObject>("a tensor"), i,
                                                      kind, isWide, a[1]);
                                    }));
    auto next = module.fallback;
    module.fallback = [next](h::Interpreter &i, std::string_view name) -> std::optional<h::Value> {
      // Some are methods of tensors alone.
      if (isPytorchName("torch", name) || isInOurText(i.location()))
        if (auto function = eagerFunction(i, name))
          return function;
      return next ? next(i, name) : std::nullopt;
    };
    module.globals->set(
        "_pellucid_statistics",
        h::nativeRaw("statistics", [&tracer](h::Interpreter &, const h::CallArgs &) {
          return statistics(tracer);
        }));
    module.globals->set("_pellucid_flush",
                        h::nativeRaw("flush", [&tracer](h::Interpreter &, const h::CallArgs &) {
                          if (tracer.recorder && tracer.recorder->isRecording())
                            tracer.recorder->flush();
                          return h::Value();
                        }));
  });
}

} // namespace pellucid::trace
