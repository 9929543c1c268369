// SPDX-License-Identifier: Apache-2.0
// Launching a kernel on arrays of this process, as the command line and tests do.
#pragma once

#include "reference/tt/Interpreter.h"

#include "support/DataType.h"

#include <variant>

namespace pellucid::reference {

/// A view of an array: `data` is its element 0, [allocation, allocation + bytes) the whole array.
struct HostTensor {
  std::string name;
  DataType type = DataType::Float32;
  void *data = nullptr;
  void *allocation = nullptr;
  size_t bytes = 0;
  bool initialized = true;
};

/// An array of addresses of tensors.
struct HostPointerTable {
  std::string name;
  std::vector<HostTensor> tensors;
};

/// A tensor descriptor made by the host; sizes and strides in elements.
struct HostDescriptor {
  HostTensor tensor;
  std::vector<int64_t> sizes, strides;
  bool padsWithNan = false;
};

using HostArgument = std::variant<HostTensor, HostPointerTable, HostDescriptor, int64_t, double>;

/// A tensor over all of `values`.
template <typename T>
HostTensor hostTensor(std::string name, DataType type, std::vector<T> &values) {
  return {std::move(name), type, values.data(), values.data(), values.size() * sizeof(T), true};
}

/// Checks the arguments against the kernel's parameters (run-time ones, in order) and interprets it
/// with the arrays as its only memory; `options.regions` is filled here. False when an error was
/// reported.
bool launchReference(mlir::ModuleOp module, llvm::StringRef kernel,
                     std::span<const HostArgument> arguments, InterpretOptions options,
                     Diagnostics &diagnostics, std::string *prints = nullptr);

} // namespace pellucid::reference
