// SPDX-License-Identifier: Apache-2.0
#include "trace/TraceSession.h"

#include "trace/AtenComposites.h"
#include "trace/Autocast.h"
#include "trace/Dispatch.h"
#include "trace/Gradients.h"
#include "trace/OperatorCall.h"
#include "trace/RecordControl.h"
#include "trace/TensorObject.h"
#include "trace/TorchTraining.h"

#include <algorithm>

namespace pellucid::trace {

namespace h = pellucid::host;

void addTracedModules(h::NativeModules &modules, Tracer &tracer, const AssumedDevice &device) {
  addTorchRuntime(modules, device);
  addTorchComposites(modules);
  addAtenComposites(modules);
  addTorchModules(modules, tracer);
  addTorchAutograd(modules, tracer);
  addTorchOps(modules, tracer);
  addTorchControl(modules, tracer);
  addTorchTraining(modules, tracer);
  addDispatch(modules, tracer);
  addAutocast(modules);
}

std::unique_ptr<h::Interpreter> beginTrace(Tracer &tracer, TraceHooks &hooks,
                                           const symbolic::SymbolTable &symbols,
                                           const TraceOptions &options) {
  tracer.program.symbols = symbols;
  tracer.program.strict = tracer.strict = options.strict;
  tracer.warn = options.warn;
  tracer.chooseConfig = options.chooseConfig;
  h::InterpreterOptions interpreterOptions;
  interpreterOptions.searchRoots = options.roots;
  interpreterOptions.hooks = &hooks;
  interpreterOptions.maxSteps = options.hostSteps.value_or(interpreterOptions.maxSteps);
  interpreterOptions.maxBytes = options.hostBytes.value_or(interpreterOptions.maxBytes);
  interpreterOptions.defersFileErrors = true;
  interpreterOptions.defersMissingImports = options.defersMissingImports;
  tracer.gradients.available = options.gradients;
  tracer.assumedDevice = options.device.device;
  tracer.kernelDevices = options.kernelDevices;
  tracer.generator = std::make_shared<CpuGenerator>(options.seed);
  addTracedModules(interpreterOptions.modules, tracer, options.device);
  auto interpreter = std::make_unique<h::Interpreter>(std::move(interpreterOptions));
  tracer.beginConstruction();
  return interpreter;
}

void setConstructing(h::Interpreter &interpreter, bool value) {
  auto torch = interpreter.nativeModule("torch");
  interpreter.call(*torch->globals->find("_pellucid_constructing"), {h::Value(value)});
}

Diagnostic atUsersLine(Diagnostic diagnostic) {
  auto isOurs = [](const SourceLocation &where) {
    return where.file && where.file->path().starts_with("<torch");
  };
  std::vector<Diagnostic> &notes = diagnostic.notes;
  auto caller = std::find_if(notes.begin(), notes.end(),
                             [&](const Diagnostic &note) { return !isOurs(note.location); });
  if (!isOurs(diagnostic.location) || caller == notes.end())
    return diagnostic;
  diagnostic.location = caller->location;
  notes.erase(notes.begin(), caller + 1);
  return diagnostic;
}

} // namespace pellucid::trace
