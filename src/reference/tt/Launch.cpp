// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/Launch.h"

#include "tt/TtOps.h"

#include <deque>

using namespace mlir;

namespace pellucid::reference {

namespace {

/// Collects the memory of a launch.
struct Binder {
  InterpretOptions &options;
  /// Addresses of tables; a deque keeps them in place.
  std::deque<std::vector<uint64_t>> tables = {};

  void addRegion(const HostTensor &tensor) {
    for (const MemoryRegion &region : options.regions)
      if (region.base == tensor.allocation && region.bytes == tensor.bytes)
        return;
    options.regions.push_back({tensor.allocation, tensor.bytes, tensor.name, tensor.initialized});
  }

  Argument operator()(const HostTensor &tensor) {
    addRegion(tensor);
    return Argument::ofPointer(tensor.data);
  }
  Argument operator()(const HostPointerTable &table) {
    std::vector<uint64_t> &addresses = tables.emplace_back();
    for (const HostTensor &tensor : table.tensors) {
      addRegion(tensor);
      addresses.push_back(reinterpret_cast<uint64_t>(tensor.data));
    }
    options.regions.push_back({addresses.data(), addresses.size() * 8, table.name, true});
    return Argument::ofPointer(addresses.data());
  }
  Argument operator()(const HostDescriptor &descriptor) {
    addRegion(descriptor.tensor);
    Argument argument = Argument::ofPointer(descriptor.tensor.data);
    argument.kind = Argument::Descriptor;
    argument.sizes = descriptor.sizes;
    argument.strides = descriptor.strides;
    argument.padsWithNan = descriptor.padsWithNan;
    return argument;
  }
  Argument operator()(int64_t value) { return Argument::ofInt(value); }
  Argument operator()(double value) { return Argument::ofFloat(value); }
};

} // namespace

static bool holds(DataType array, Type element) {
  switch (array) {
  case DataType::Float16:
    return element.isF16();
  case DataType::BFloat16:
    return element.isBF16();
  case DataType::Float32:
    return element.isF32();
  case DataType::Float64:
    return element.isF64();
  case DataType::Float8E4M3FN:
    return isa<Float8E4M3FNType>(element);
  case DataType::Float8E5M2:
    return isa<Float8E5M2Type>(element);
  case DataType::Float8E4M3FNUZ:
    return isa<Float8E4M3FNUZType>(element);
  case DataType::Float8E5M2FNUZ:
    return isa<Float8E5M2FNUZType>(element);
  default:
    return isa<IntegerType>(element) &&
           (element.getIntOrFloatBitWidth() + 7) / 8 == byteSize(array);
  }
}

/// What the tensor behind `argument` and the parameter disagree on; empty where they agree.
static std::string mismatch(const HostArgument &argument, Type parameter) {
  const HostTensor *tensor = std::get_if<HostTensor>(&argument);
  Type element;
  if (auto descriptor = std::get_if<HostDescriptor>(&argument)) {
    tensor = &descriptor->tensor;
    if (auto type = dyn_cast<tt::TensorDescType>(parameter))
      element = type.getElementType();
  } else if (auto type = dyn_cast<tt::PointerType>(parameter)) {
    element = type.getPointeeType();
  }
  if (!tensor || !element || holds(tensor->type, element))
    return "";
  std::string expected;
  llvm::raw_string_ostream(expected) << element;
  return "'" + tensor->name + "' expects elements of type " + expected + ", got " +
         std::string(info(tensor->type).cli);
}

bool launchReference(ModuleOp module, StringRef name, std::span<const HostArgument> arguments,
                     InterpretOptions options, Diagnostics &diagnostics, std::string *prints) {
  auto kernel = module.lookupSymbol<tt::FuncOp>(name);
  Binder binder{options};
  std::vector<Argument> bound;
  for (const HostArgument &argument : arguments)
    bound.push_back(std::visit(binder, argument));
  if (kernel)
    for (auto [argument, type] : llvm::zip(arguments, kernel.getArgumentTypes()))
      if (std::string wrong = mismatch(argument, type); !wrong.empty()) {
        diagnostics.error(SourceLocation(name.str()), wrong);
        return false;
      }
  return interpret(module, name, bound, options, diagnostics, prints);
}

} // namespace pellucid::reference
