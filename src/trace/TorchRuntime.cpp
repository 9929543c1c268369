// SPDX-License-Identifier: Apache-2.0
// What files ask of torch around their tensors: torch.device, torch.cuda.
#include "trace/TensorObject.h"
#include "trace/TorchInductor.h"
#include "trace/TorchSources.h"

#include <limits>
#include <numbers>
#include <set>

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

/// The functions of a class of `backends.py` are a module's.
static void fillFromClass(h::Interpreter &interpreter, h::Module &module, const char *name) {
  h::Value classValue = runtimeName(interpreter, name);
  for (const auto &[function, value] : classValue.as<h::Class>()->attributes.items()) {
    auto *descriptor = value.as<h::Descriptor>();
    if (!function.starts_with("__"))
      module.globals->set(function, descriptor ? descriptor->function : value);
  }
}

/// Triton's driver names the assumed device's generation, too.
static void addAssumedTarget(h::NativeModules &modules, uint32_t generation) {
  for (const char *name : {"triton.runtime", "triton.runtime.driver", "triton.backends"})
    modules.add(name, [generation](h::Interpreter &interpreter, h::Module &module) {
      interpreter.call(*module.globals->find("_assume"),
                       {h::Value(int64_t(generation)), runtimeName(interpreter, "_properties")});
    });
}

void addTorchRuntime(h::NativeModules &modules, const AssumedDevice &assumed) {
  if (assumed.device == "cuda")
    addAssumedTarget(modules, assumed.generation);
  modules.add("torch._pellucid_runtime", [assumed](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_runtime_source",
        std::make_shared<SourceFile>("<torch>", std::string(runtimeSource) + backendSource));
    source->globals->set("_assumed", h::Value(assumed.device));
    source->globals->set("_generation", h::Value(int64_t(assumed.generation)));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch", [](h::Interpreter &interpreter, h::Module &module) {
    for (auto [name, number] : {std::pair{"inf", std::numeric_limits<double>::infinity()},
                                {"nan", std::numeric_limits<double>::quiet_NaN()},
                                {"pi", std::numbers::pi},
                                {"e", std::numbers::e}})
      module.globals->set(name, h::Value(number));
    module.globals->set("newaxis", h::Value());
    for (const char *name : {"device", "finfo", "iinfo"}) {
      module.globals->set(name, runtimeName(interpreter, name));
      module.globals->find(name)->as<h::Class>()->module = "torch";
    }
    for (const char *name : {"_Autocast", "_Checks"})
      fillFromClass(interpreter, module, name);
    for (const char *format :
         {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"})
      module.globals->set(format, h::Value(std::string(format)));
  });
  modules.add("torch.jit", [](h::Interpreter &interpreter, h::Module &module) {
    for (const char *name : {"is_scripting", "is_tracing"})
      module.globals->set(name, runtimeName(interpreter, "false"));
    for (const char *name : {"script", "export", "ignore", "unused", "script_if_tracing"})
      module.globals->set(name, runtimeName(interpreter, "same"));
  });
  // What libraries tell PyTorch of themselves goes nowhere.
  modules.add("torch._C", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("_log_api_usage_once", runtimeName(interpreter, "same"));
  });
  for (auto [name, functions] : {std::pair{"torch.cuda", "_Cuda"},
                                 {"torch.cpu", "_Cpu"},
                                 {"torch.accelerator", "_Accelerator"},
                                 {"torch.amp", "_Amp"},
                                 {"torch.cuda.amp", "_Amp"},
                                 {"torch.xpu", "_Absent"},
                                 {"torch.mps", "_Absent"},
                                 {"torch.mtia", "_Absent"},
                                 {"torch.backends.mps", "_Absent"}})
    modules.add(name, [functions](h::Interpreter &interpreter, h::Module &module) {
      fillFromClass(interpreter, module, functions);
    });
  addInductorKernels(modules);
  // Kinds of devices that torch only has where a vendor's plugin is loaded.
  modules.add("torch", [](h::Interpreter &, h::Module &module) {
    auto next = module.fallback;
    module.fallback = [next](h::Interpreter &i, std::string_view name) -> std::optional<h::Value> {
      static const std::set<std::string_view> plugins = {"npu",  "mlu",   "musa", "hpu",  "gcu",
                                                         "ptpu", "sdaa",  "txda", "ipu",  "ppu",
                                                         "maca", "corex", "dipu", "supa", "aipu"};
      return plugins.count(name) ? std::nullopt : next(i, name);
    };
  });
}

} // namespace pellucid::trace
