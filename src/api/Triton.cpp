// SPDX-License-Identifier: Apache-2.0
// Python files and the kernels in them.
#include "api/State.h"
#include "trace/OperatorCall.h"

namespace pellucid {

using namespace api;
namespace h = pellucid::host;

detail::FileState::FileState(const std::vector<std::string> &roots) {
  h::InterpreterOptions options;
  options.searchRoots = roots;
  options.hooks = &hooks;
  options.defersFileErrors = true;
  // Grids and heuristics run at every launch for as long as the process lives.
  options.budgetPerCall = true;
  trace::addTorchRuntime(options.modules);
  trace::addTorchComposites(options.modules);
  trace::addTorchModules(options.modules, moduleTracer);
  trace::addTorchOps(options.modules, moduleTracer);
  interpreter = std::make_unique<h::Interpreter>(std::move(options));
}

namespace triton {

SymInt Meta::operator[](const std::string &name) const {
  auto entry = values.find(name);
  if (entry == values.end())
    throw Error("the grid asks for '" + name +
                "', which is not an integer argument of this launch");
  return entry->second;
}

void Launcher::operator()(std::vector<Argument> arguments, Keywords keywords) const {
  if (!kernel)
    throw Error("a launch of an undefined kernel");
  guarded([&] { launchKernel(kernel, grid, arguments, keywords); });
}

std::string Kernel::name() const { return state ? h::innermostKernel(state->kernel)->name() : ""; }

Kernel File::operator[](const std::string &name) const {
  if (!state)
    throw Error("'" + name + "' is asked of a file that was not loaded");
  const h::Value *found = state->module->globals->find(name);
  if (found)
    if (auto *opaque = found->as<h::Opaque>(); opaque && opaque->reason)
      throw Error(render(*opaque->reason));
  if (!found || !h::isKernel(*found)) {
    std::string path = state->module->syntax->file->path();
    throw Error(path + ": error: " +
                (found ? "'" + name + "' is not a @triton.jit kernel"
                       : "the file defines no '" + name + "'"));
  }
  Kernel kernel;
  kernel.state = std::make_shared<detail::KernelState>(detail::KernelState{state, *found});
  return kernel;
}

std::vector<std::string> File::kernels() const {
  std::vector<std::string> names;
  if (state)
    for (const auto &[name, value] : state->module->globals->items())
      if (h::isKernel(value))
        names.push_back(name);
  return names;
}

File load(const std::string &path, const std::vector<std::string> &roots) {
  return guarded([&] {
    File file;
    file.state = std::make_shared<detail::FileState>(roots);
    file.state->hooks.follow(&file.state->moduleTracer);
    file.state->module = file.state->interpreter->importFile(path);
    return file;
  });
}

} // namespace triton
} // namespace pellucid
