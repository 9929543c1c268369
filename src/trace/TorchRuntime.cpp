// SPDX-License-Identifier: Apache-2.0
// What files ask of torch around their tensors: torch.device, torch.cuda,
// torch.autograd.Function.
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

h::Value runtimeName(h::Interpreter &interpreter, const char *name) {
  auto module = interpreter.nativeModule("torch._pellucid_runtime");
  return *module->globals->find(name);
}

} // namespace

h::Value deviceValue(h::Interpreter &interpreter, Device device) {
  return interpreter.call(runtimeName(interpreter, "device"), {h::Value(toString(device))});
}

void addTorchRuntime(h::NativeModules &modules) {
  modules.add("torch._pellucid_runtime", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource("torch_runtime_source",
                                           std::make_shared<SourceFile>("<torch>", runtimeSource));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch", [](h::Interpreter &interpreter, h::Module &module) {
    for (const char *name : {"device", "finfo", "iinfo"})
      module.globals->set(name, runtimeName(interpreter, name));
    for (const char *format : {"contiguous_format", "preserve_format", "channels_last"})
      module.globals->set(format, h::Value(std::string(format)));
  });
  modules.add("torch.autograd", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("Function", runtimeName(interpreter, "Function"));
  });
  modules.add("torch.jit", [](h::Interpreter &interpreter, h::Module &module) {
    for (const char *name : {"is_scripting", "is_tracing"})
      module.globals->set(name, runtimeName(interpreter, "false"));
    for (const char *name : {"script", "export", "ignore", "unused", "script_if_tracing"})
      module.globals->set(name, runtimeName(interpreter, "same"));
  });
  // No device is there while tracing: files that ask choose their CPU path, and every device
  // argument is ignored.
  modules.add("torch.cuda", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("device", runtimeName(interpreter, "device"));
    for (const char *name : {"is_available", "is_bf16_supported", "is_initialized"})
      module.globals->set(name, runtimeName(interpreter, "false"));
    for (const char *name : {"current_device", "device_count"})
      module.globals->set(name, runtimeName(interpreter, "zero"));
    module.globals->set("get_device_capability", runtimeName(interpreter, "no_capability"));
    for (const char *name : {"synchronize", "set_device", "empty_cache", "manual_seed"})
      module.globals->set(name, runtimeName(interpreter, "nothing"));
  });
}

} // namespace pellucid::trace
