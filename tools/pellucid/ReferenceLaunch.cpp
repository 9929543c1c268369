// SPDX-License-Identifier: Apache-2.0
#include "ReferenceLaunch.h"

#include "frontend/EmitKernel.h"
#include "reference/tt/Launch.h"
#include "support/Diagnostics.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>

namespace pellucid::cli {

namespace {

[[noreturn]] void failOfKernel(const graph::KernelDef &kernel, const std::string &message) {
  throw DiagnosticError(SourceLocation("kernel '" + kernel.name + "'"), message);
}

reference::HostTensor hostTensor(const std::string &name, const Array &array) {
  return {name, array.dtype, array.data(), array.bytes->data(), array.bytes->size(), true};
}

const graph::Node *launchOf(const graph::Program &program) {
  for (const graph::Node &node : program.main)
    if (node.isLaunch())
      return &node;
  return nullptr;
}

reference::HostArgument tensorArgument(const graph::KernelDef &kernel, const std::string &parameter,
                                       const std::vector<ReferenceOperand> &memory) {
  auto operand = std::find_if(memory.begin(), memory.end(),
                              [&](const ReferenceOperand &o) { return o.name == parameter; });
  if (operand == memory.end())
    failOfKernel(kernel, "no tensor was given for '" + parameter + "'");
  if (operand->members.empty())
    return hostTensor(parameter, *operand->array);
  reference::HostPointerTable table{parameter, {}};
  for (size_t i = 0; i < operand->members.size(); ++i)
    table.tensors.push_back(
        hostTensor(parameter + "[" + std::to_string(i) + "]", *operand->members[i]));
  return table;
}

reference::HostArgument scalarArgument(const graph::KernelDef &kernel, const std::string &parameter,
                                       const graph::Launch &launch) {
  for (const graph::LaunchOperand &operand : launch.operands) {
    if (operand.name != parameter)
      continue;
    if (auto integer = operand.value.integer(); integer && integer->isConstant())
      return *integer->constant();
    if (auto real = operand.value.number())
      return *real;
  }
  failOfKernel(kernel, "no value was given for '" + parameter + "'");
}

std::vector<reference::HostArgument> bindArguments(const graph::KernelDef &kernel,
                                                   const graph::Launch &launch,
                                                   const std::vector<ReferenceOperand> &memory) {
  std::vector<reference::HostArgument> arguments;
  for (const graph::KernelParameter &parameter : kernel.parameters) {
    if (parameter.kind == graph::KernelParameter::Kind::Pointer)
      arguments.push_back(tensorArgument(kernel, parameter.name, memory));
    else if (parameter.kind == graph::KernelParameter::Kind::Scalar)
      arguments.push_back(scalarArgument(kernel, parameter.name, launch));
  }
  return arguments;
}

std::array<uint32_t, 3> gridOf(const graph::LaunchVariant &variant) {
  std::array<uint32_t, 3> grid{};
  for (int axis = 0; axis < 3; ++axis)
    grid[axis] = static_cast<uint32_t>(variant.grid[axis].constantOr(1));
  return grid;
}

bool pointsInto(const ReferenceOperand &operand, const void *base) {
  if (operand.array && operand.array->bytes->data() == base)
    return true;
  return std::any_of(operand.members.begin(), operand.members.end(),
                     [&](const Array *member) { return member->bytes->data() == base; });
}

/// What the access analysis lets a launch do with the array at `base`, through any operand.
graph::Access declaredAccess(const graph::Launch &launch,
                             const std::vector<ReferenceOperand> &memory, const void *base) {
  uint8_t access = 0;
  for (const ReferenceOperand &operand : memory)
    if (pointsInto(operand, base))
      for (const graph::LaunchOperand &declared : launch.operands)
        if (declared.name == operand.name)
          access |=
              uint8_t(declared.unknownAccess || !operand.members.empty() ? graph::Access::ReadWrite
                                                                         : declared.access);
  return graph::Access(access);
}

/// Tracing, fusion and memory planning build on what the analysis says: what a launch did beyond it
/// is an error of ours.
void checkDeclaredAccess(const graph::KernelDef &kernel, const graph::Launch &launch,
                         const std::vector<ReferenceOperand> &memory,
                         const std::vector<reference::TouchedRegion> &regions) {
  auto any = [](const std::vector<bool> &bytes) {
    return std::find(bytes.begin(), bytes.end(), true) != bytes.end();
  };
  for (const reference::TouchedRegion &region : regions) {
    bool known = std::any_of(memory.begin(), memory.end(), [&](const ReferenceOperand &operand) {
      return pointsInto(operand, region.base);
    });
    graph::Access allowed = declaredAccess(launch, memory, region.base);
    const char *verb = any(region.written) && !graph::writes(allowed) ? "wrote"
                       : any(region.read) && !graph::reads(allowed)   ? "read"
                                                                      : nullptr;
    if (known && verb)
      throw std::logic_error("kernel '" + kernel.name + "' " + verb + " '" + region.name +
                             "', of which the access analysis says '" +
                             std::string(graph::toString(allowed)) + "'");
  }
}

/// The first error, with the further ones and what led to it as notes; warnings are printed at
/// once.
void throwErrors(const graph::KernelDef &kernel, const Diagnostics &diagnostics) {
  std::optional<Diagnostic> first;
  for (const Diagnostic &d : diagnostics.all()) {
    if (d.severity != Severity::Error) {
      std::fputs(render(d).c_str(), stderr);
    } else if (!first) {
      first = d;
      first->message = "kernel '" + kernel.name + "' " + first->message;
    } else {
      first->note(d.location, "it also " + d.message);
      first->notes.insert(first->notes.end(), d.notes.begin(), d.notes.end());
    }
  }
  if (first)
    throw DiagnosticError(*first);
}

} // namespace

double runReference(const graph::Program &program, const std::vector<ReferenceOperand> &memory,
                    bool sanitize, const ReferenceStop *stop) {
  const graph::Launch &launch = *launchOf(program)->launch();
  const graph::LaunchVariant &variant = launch.variants.front();
  const graph::KernelDef &kernel = program.kernels[variant.kernel];
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics;
  auto module = tt::parseTtir(kernel.ttir, &context, diagnostics, kernel.name);
  if (!module) {
    throwErrors(kernel, diagnostics);
    failOfKernel(kernel, "cannot be read back");
  }
  reference::InterpretOptions options;
  options.grid = gridOf(variant);
  options.sanitize = options.undefinedLanes = sanitize;
  std::vector<reference::TouchedRegion> touched;
  options.touched = &touched;
  if (stop) {
    options.stopPrefix = frontend::stopPrefix;
    options.stopProgram = stop->program;
    options.stopped = stop->variables;
    for (int axis = 0; axis < 3; ++axis)
      if (stop->program[axis] >= options.grid[axis])
        throw DiagnosticError(SourceLocation("--program"),
                              "index " + std::to_string(axis) + " is " +
                                  std::to_string(stop->program[axis]) + ", and the grid has " +
                                  std::to_string(options.grid[axis]) + " programs there");
  }
  std::string prints;
  auto start = std::chrono::steady_clock::now();
  bool ok = reference::launchReference(
      *module, kernel.symbol, bindArguments(kernel, launch, memory), options, diagnostics, &prints);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fputs(prints.c_str(), stderr);
  checkDeclaredAccess(kernel, launch, memory, touched);
  throwErrors(kernel, diagnostics);
  if (!ok)
    failOfKernel(kernel, "was given up without a reason");
  return seconds;
}

} // namespace pellucid::cli
