// SPDX-License-Identifier: Apache-2.0
// Code that is not the kernel language: libdevice functions and inline assembly.
#include "frontend/Emitter.h"

#include <algorithm>

#include "llvm/ADT/StringMap.h"

namespace pellucid::frontend {

using namespace mlir;

namespace {

struct LibdeviceFunction {
  const char *name, *arguments, *symbol;
  char result;
};
constexpr LibdeviceFunction functions[] = {
#include "frontend/LibdeviceFunctions.inc"
};

char letterOf(DataType type) {
  switch (type) {
  case DataType::Int32:
    return 'i';
  case DataType::Int64:
    return 'l';
  case DataType::UInt32:
    return 'u';
  case DataType::UInt64:
    return 'U';
  case DataType::Float32:
    return 'f';
  case DataType::Float64:
    return 'd';
  default:
    return '?';
  }
}

DataType typeOfLetter(char letter) {
  switch (letter) {
  case 'l':
    return DataType::Int64;
  case 'u':
    return DataType::UInt32;
  case 'U':
    return DataType::UInt64;
  case 'f':
    return DataType::Float32;
  case 'd':
    return DataType::Float64;
  default:
    return DataType::Int32;
  }
}

void broadcastAll(Emitter &e, std::vector<Val> &values) {
  if (values.empty())
    return;
  Val widest = values[0];
  for (Val &value : values)
    e.broadcast(value, widest);
  for (Val &value : values)
    e.broadcast(value, widest);
}

/// The row whose argument types are those of `values`.
const LibdeviceFunction *findFunction(const std::string &name, const std::vector<Val> &values) {
  std::string types;
  for (const Val &value : values)
    types += value.type.pointer ? '?' : letterOf(value.type.element);
  for (const LibdeviceFunction &function : functions)
    if (name == function.name && types == function.arguments)
      return &function;
  return nullptr;
}

/// What a function takes, in words; empty for an unknown function.
std::string signaturesOf(const std::string &name) {
  std::string known;
  for (const LibdeviceFunction &function : functions) {
    if (name != function.name)
      continue;
    known += (known.empty() ? "" : " or ") + std::string("(");
    for (const char *letter = function.arguments; *letter; ++letter)
      known += (letter == function.arguments ? "" : ", ") +
               toString(TlType{typeOfLetter(*letter), false, {}});
    known += ")";
  }
  return known;
}

} // namespace

bool isLibdeviceFunction(std::string_view name) {
  return std::any_of(std::begin(functions), std::end(functions),
                     [&](const LibdeviceFunction &function) { return function.name == name; });
}

Val Emitter::callLibdevice(const std::string &name, std::vector<Val> &positional,
                           std::vector<std::pair<std::string, Val>> &keywords) {
  // Triton names the arguments arg0, arg1, …
  for (size_t taken = 0; taken < keywords.size();) {
    auto next = std::find_if(keywords.begin(), keywords.end(), [&](const auto &keyword) {
      return keyword.first == "arg" + std::to_string(positional.size());
    });
    if (next == keywords.end())
      fail("'libdevice." + name + "' has no parameter '" + keywords[taken].first +
           "' left to give; write its arguments by position");
    positional.push_back(next->second);
    next->first.clear();
    while (taken < keywords.size() && keywords[taken].first.empty())
      ++taken;
  }
  for (Val &value : positional)
    value = toTensor(value);
  std::string given;
  for (const Val &value : positional)
    given += (given.empty() ? "" : ", ") + toString(value.type.scalar());
  const LibdeviceFunction *function = findFunction(name, positional);
  // Where no signature takes the types as they stand, they meet at their common type first.
  if (!function && positional.size() > 1) {
    for (int round = 0; round < 2; ++round)
      for (size_t i = 1; i < positional.size(); ++i)
        promote(positional[0], positional[i], false, name.c_str());
    function = findFunction(name, positional);
  }
  if (!function) {
    std::string known = signaturesOf(name);
    if (known.empty())
      failUnsupported("'libdevice." + name + "' is not supported yet");
    fail("'libdevice." + name + "' takes " + known + ", got (" + given + ")");
  }
  broadcastAll(*this, positional);
  TlType type{typeOfLetter(function->result), false,
              positional.empty() ? std::vector<int64_t>() : positional[0].type.shape};
  SmallVector<mlir::Value> operands;
  for (const Val &value : positional)
    operands.push_back(value.value);
  Val result =
      Val::tensor(tt::ExternElementwiseOp::create(builder, loc(), irType(type), operands, "", "",
                                                  std::string("__nv_") + function->symbol, true),
                  type);
  return function->result == 'b' ? cast(result, DataType::Bool) : result;
}

Val Emitter::emitInlineAsm(Bound &args) {
  std::string text = constantString(args[0], "asm"),
              constraints = constantString(args[1], "constraints");
  if (!args[2].isTuple())
    fail("the args of inline_asm_elementwise must be a list");
  std::vector<Val> inputs;
  for (const Val &input : args[2].elements)
    inputs.push_back(toTensor(input));
  broadcastAll(*this, inputs);
  bool several = args[3].isTuple();
  std::vector<Val> types = several ? args[3].elements : std::vector<Val>{args[3]};
  std::vector<TlType> results;
  SmallVector<mlir::Type> resultTypes;
  for (const Val &type : types) {
    auto [element, pointer] = constantType(type, "dtype");
    results.push_back(
        {element, pointer, inputs.empty() ? std::vector<int64_t>() : inputs[0].type.shape});
    resultTypes.push_back(irType(results.back()));
  }
  SmallVector<mlir::Value> operands;
  for (const Val &input : inputs)
    operands.push_back(input.value);
  auto op = tt::ElementwiseInlineAsmOp::create(
      builder, loc(), resultTypes, builder.getStringAttr(text), builder.getStringAttr(constraints),
      builder.getBoolAttr(constantBool(args[4], "is_pure")),
      builder.getI32IntegerAttr(static_cast<int32_t>(constantInt(args[5], "pack"))), operands);
  std::vector<Val> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(Val::tensor(op->getResult(static_cast<unsigned>(i)), results[i]));
  return several ? Val::tuple(std::move(values)) : values[0];
}

} // namespace pellucid::frontend
