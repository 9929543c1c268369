// SPDX-License-Identifier: Apache-2.0
// Functions of torch that are written with its other operators, in the language that models are
// written in. Each is also a method of tensors where its first parameter is the tensor. Names with
// an underscore in front are their own.
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

h::Value compositeNamed(h::Interpreter &interpreter, std::string_view name) {
  auto module = interpreter.nativeModule("torch._pellucid_composites");
  return *module->globals->find(name);
}

} // namespace

std::optional<h::Value> compositeFunction(h::Interpreter &interpreter, std::string_view name) {
  if (name.starts_with("_"))
    return std::nullopt;
  auto module = interpreter.nativeModule("torch._pellucid_composites");
  const h::Value *found = module->globals->find(name);
  if (!found || !found->as<h::Function>())
    return std::nullopt;
  return *found;
}

void addTorchComposites(h::NativeModules &modules) {
  modules.add("torch._pellucid_composites", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_composite_source",
        std::make_shared<SourceFile>("<torch>",
                                     std::string(compositeSource) + shapeSource + lossSource));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch.linalg", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("vector_norm", compositeNamed(interpreter, "_vector_norm"));
    module.globals->set("norm", compositeNamed(interpreter, "_linalg_norm"));
  });
}

} // namespace pellucid::trace
