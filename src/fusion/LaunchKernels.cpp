// SPDX-License-Identifier: Apache-2.0
#include "fusion/LaunchKernels.h"

#include "graph/Schema.h"
#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"

#include <algorithm>

namespace pellucid::fusion {

using namespace graph;

std::optional<unsigned> OpenKernel::argument(const std::string &name) const {
  unsigned number = 0;
  for (const KernelParameter &parameter : def.parameters) {
    if (parameter.kind == KernelParameter::Kind::Constant)
      continue;
    if (parameter.name == name)
      return number;
    ++number;
  }
  return std::nullopt;
}

/// The kernel's module in the form that fusion takes; null when it cannot be brought there.
mlir::ModuleOp LaunchKernels::prepared(uint32_t kernel) {
  auto [entry, isNew] = modules.try_emplace(kernel);
  if (isNew) {
    Diagnostics ignored;
    const KernelDef &def = program.kernels[kernel];
    auto module = tt::parseTtir(def.ttir, &context, ignored, def.name);
    if (module && tt::runKernelPipeline(*module, ignored))
      entry->second = std::move(module);
  }
  return entry->second.get();
}

bool LaunchKernels::open(const Node &launch) {
  kernels.clear();
  for (const LaunchVariant &variant : launch.launch()->variants) {
    mlir::ModuleOp module = prepared(variant.kernel);
    if (!module)
      return false;
    OpenKernel kernel;
    kernel.variant = kernels.size();
    kernel.def = program.kernels[variant.kernel];
    kernel.module = mlir::OwningOpRef<mlir::ModuleOp>(module.clone());
    kernel.module->walk([&](tt::FuncOp function) {
      if (function.isKernel())
        kernel.function = function;
    });
    if (!kernel.function)
      return false;
    kernels.push_back(std::move(kernel));
  }
  return true;
}

uint32_t LaunchKernels::store(OpenKernel &kernel) {
  std::string key;
  for (const KernelParameter &parameter : kernel.def.parameters)
    key += parameter.name + ":" + std::to_string(static_cast<int>(parameter.dtype)) +
           std::to_string(static_cast<int>(parameter.access)) + toString(parameter.constant) + " ";
  kernel.function.setName(kernel.def.name);
  key += tt::printTtir(*kernel.module, tt::TtirVersion::V3_6, true);
  auto [entry, isNew] =
      known.try_emplace(std::move(key), static_cast<uint32_t>(program.kernels.size()));
  if (isNew) {
    kernel.def.symbol = names.unique(kernel.def.name + "_fused");
    kernel.function.setName(kernel.def.symbol);
    kernel.def.ttir = tt::printTtir(*kernel.module, tt::TtirVersion::V3_6, true);
    program.kernels.push_back(kernel.def);
  }
  return entry->second;
}

bool LaunchKernels::close(Node &launch) {
  Launch updated = *launch.launch();
  bool any = false;
  for (OpenKernel &kernel : kernels) {
    if (!kernel.changed)
      continue;
    any = true;
    updated.variants[kernel.variant].kernel = store(kernel);
  }
  if (any)
    launch.setLaunch(std::move(updated));
  return any;
}

LaunchValues LaunchKernels::valuesOf(const OpenKernel &kernel, const Node &node) const {
  const Launch &launch = *node.launch();
  const LaunchVariant &variant = launch.variants[kernel.variant];
  LaunchValues values;
  values.symbols = &program.symbols;
  std::copy(std::begin(variant.grid), std::end(variant.grid), values.grid.begin());
  for (const KernelParameter &parameter : kernel.def.parameters) {
    if (parameter.kind == KernelParameter::Kind::Constant)
      continue;
    values.arguments.emplace_back();
    auto operand = std::find_if(launch.operands.begin(), launch.operands.end(),
                                [&](const LaunchOperand &o) { return o.name == parameter.name; });
    if (operand == launch.operands.end() || parameter.kind != KernelParameter::Kind::Scalar)
      continue;
    if (Value *value = operand->value.value(); value && value->isSymInt())
      values.arguments.back() = value->expr();
    else if (auto integer = operand->value.integer())
      values.arguments.back() = *integer;
  }
  return values;
}

static std::string freshName(const OpenKernel &kernel) {
  for (size_t i = 0;; ++i) {
    std::string name = "fused" + std::to_string(i);
    bool taken = false;
    for (const KernelParameter &parameter : kernel.def.parameters)
      taken |= parameter.name == name;
    if (!taken)
      return name;
  }
}

std::vector<LaunchOperand>
LaunchKernels::recordArguments(OpenKernel &kernel, const Chain &chain,
                               const std::vector<Value *> &inputs, const AddedArguments &added,
                               const std::vector<std::string> &replaced) {
  std::vector<LaunchOperand> operands;
  std::vector<unsigned> old;
  for (const std::string &name : replaced)
    old.push_back(*kernel.argument(name));
  std::erase_if(kernel.def.parameters, [&](const KernelParameter &p) {
    return std::find(replaced.begin(), replaced.end(), p.name) != replaced.end();
  });
  auto append = [&](KernelParameter::Kind kind, DataType type, Access access, Argument value) {
    KernelParameter parameter;
    parameter.name = freshName(kernel);
    parameter.kind = kind;
    parameter.dtype = type;
    parameter.access = access;
    kernel.def.parameters.push_back(parameter);
    operands.push_back({parameter.name, std::move(value), access, false});
  };
  for (size_t i = 0; i < chain.operands.size(); ++i)
    if (added.pointers[i])
      append(KernelParameter::Kind::Pointer, chain.operands[i].dtype, Access::Read,
             Argument(inputs[i]));
  for (const auto &[expr, number] : added.scalars)
    append(KernelParameter::Kind::Scalar, DataType::Int64, Access::None, Argument(expr));
  if (added.output)
    append(KernelParameter::Kind::Pointer, chain.result, Access::Write, Argument());
  eraseArguments(kernel.function, old);
  kernel.changed = true;
  return operands;
}

} // namespace pellucid::fusion
