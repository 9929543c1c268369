// SPDX-License-Identifier: Apache-2.0
#include "exec/ScriptInductor.h"

namespace pellucid::exec {

namespace h = pellucid::host;

namespace {

const char *const wrapperSource =
#include "exec/torch/inductor_wrappers.py.inc"
    ;

constexpr const char *wrappers = "torch._inductor._wrappers";

/// A kernel's file as a string: a module of its own, kept as long as the script runs.
h::Value read(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  const std::string &name = interpreter.toStr(a[0], "a kernel's name");
  auto text = std::make_shared<SourceFile>("<" + name + ">", interpreter.toStr(a[1], "a source"));
  auto module = interpreter.importSource(name, text);
  return h::Value(module);
}

/// Names of the wrappers' text as those of a module of torch's.
void addNames(h::NativeModules &modules, const std::string &module,
              std::vector<std::pair<const char *, const char *>> names) {
  modules.add(module, [names = std::move(names)](h::Interpreter &interpreter, h::Module &m) {
    auto written = interpreter.nativeModule(wrappers);
    for (auto [name, own] : names)
      m.globals->set(name, *written->globals->find(own));
  });
}

} // namespace

void addScriptInductor(h::NativeModules &modules) {
  modules.add("_inductor_source", [](h::Interpreter &, h::Module &m) {
    m.globals->set("read", h::native("read", "name, source", read));
  });
  modules.add(wrappers, [](h::Interpreter &interpreter, h::Module &m) {
    auto written = interpreter.importSource(
        m.name, std::make_shared<SourceFile>("<" + m.name + ">", wrapperSource));
    for (const auto &[name, value] : written->globals->items())
      m.globals->set(name, value);
  });
  for (const char *name : {"torch._inductor.async_compile", "torch._inductor.codecache"})
    addNames(modules, name, {{"AsyncCompile", "AsyncCompile"}});
  addNames(modules, "torch._inductor.hooks",
           {{"run_intermediate_hooks", "run_intermediate_hooks"}});
  addNames(modules, "torch._inductor.utils",
           {{"maybe_profile", "maybe_profile"}, {"print_performance", "print_performance"}});
  addNames(modules, "torch._inductor.codegen.memory_planning", {{"_align", "_align"}});
  addNames(modules, "torch._inductor.codegen.multi_kernel",
           {{"MultiKernelCall", "MultiKernelCall"}});
  addNames(modules, "torch._inductor.select_algorithm", {{"extern_kernels", "extern_kernels"}});
  addNames(modules, "torch._inductor.wrapper_benchmark",
           {{"compiled_module_main", "compiled_module_main"}});
  addNames(modules, "torch._dynamo.testing", {{"rand_strided", "rand_strided"}});
  // A script's work is done in one order, in one stream.
  modules.add("torch._C", [](h::Interpreter &, h::Module &m) {
    m.globals->set(
        "_cuda_getCurrentRawStream",
        h::native("_cuda_getCurrentRawStream", "device",
                  [](h::Interpreter &, std::vector<h::Value> &) { return h::Value(0); }));
  });
  addNames(modules, "torch._C._dynamo.guards",
           {{"assert_size_stride", "assert_size_stride"},
            {"assert_size_stride_grouped", "assert_size_stride_grouped"},
            {"assert_alignment", "assert_alignment"},
            {"_empty_strided_cpu", "_empty_strided_cpu"},
            {"_empty_strided_cpu_pinned", "_empty_strided_cpu_pinned"},
            {"_empty_strided_cuda", "_empty_strided_cuda"},
            {"_reinterpret_tensor", "_reinterpret_tensor"},
            {"_alloc_from_pool", "_alloc_from_pool"}});
}

} // namespace pellucid::exec
