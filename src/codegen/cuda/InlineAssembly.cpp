// SPDX-License-Identifier: Apache-2.0
// A kernel's own PTX. As in Triton, each copy of the text gets `pack` elements of a thread: those
// of less than 32 bits lie several to a register, and each register is as wide as its constraint
// says.
#include "codegen/common/ElementOps.h"
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/Error.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {

constexpr unsigned wordBits = 32;

/// Bits of the register that a constraint names; 0 where none is known.
unsigned bitsOfConstraint(llvm::StringRef constraint) {
  return llvm::StringSwitch<unsigned>(constraint)
      .Case("b", 1)
      .Case("h", 16)
      .Cases({"r", "f", "n"}, 32)
      .Cases({"l", "d"}, 64)
      .Case("q", 128)
      .Default(0);
}
llvm::Type *typeOfConstraint(CodeBuilder &b, llvm::StringRef constraint) {
  return constraint == "f"   ? b.getFloatTy()
         : constraint == "d" ? b.getDoubleTy()
                             : static_cast<llvm::Type *>(b.getIntNTy(bitsOfConstraint(constraint)));
}

struct Constraints {
  llvm::SmallVector<std::string> outputs, inputs; ///< letters, of tied inputs those of the output
  std::string problem;
};
Constraints parseConstraints(llvm::StringRef text) {
  Constraints found;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, false);
  for (llvm::StringRef part : parts) {
    llvm::StringRef one = part.trim();
    if (one.starts_with("~"))
      continue;
    bool isOutput = one.consume_front("=");
    isOutput |= one.consume_front("&");
    unsigned tied = 0;
    bool isTied = !isOutput && !one.getAsInteger(10, tied);
    if (isTied && tied >= found.outputs.size()) {
      found.problem = "an input is tied to output " + one.str() + ", which is not there";
      return found;
    }
    std::string letter = isTied ? found.outputs[tied] : one.str();
    if (bitsOfConstraint(letter) == 0 || (isOutput && letter == "n")) {
      found.problem = "the constraint '" + part.trim().str() +
                      "' is unknown; b, h, r, l, q, f and d are known" +
                      (isOutput ? "" : ", and n for a number known now");
      return found;
    }
    (isOutput ? found.outputs : found.inputs).push_back(letter);
  }
  return found;
}

unsigned bitsOf(mlir::Value value) {
  mlir::Type element = elementTypeOf(value.getType());
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}
/// Elements of one register.
unsigned perRegister(mlir::Value value, unsigned pack) {
  return std::min(std::max(wordBits / bitsOf(value), 1u), pack);
}

Value *asInteger(CodeBuilder &b, Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy())
    return b.CreatePtrToInt(value, b.i64());
  return type->isIntegerTy() ? value
                             : b.CreateBitCast(value, b.getIntNTy(type->getPrimitiveSizeInBits()));
}
Value *fromInteger(CodeBuilder &b, Value *bits, llvm::Type *type) {
  if (type->isPointerTy())
    return b.CreateIntToPtr(bits, type);
  return type->isIntegerTy() ? bits : b.CreateBitCast(bits, type);
}

} // namespace

void CudaEmitter::emitInlineAssembly(tt::ElementwiseInlineAsmOp op) {
  unsigned pack = op.getPackedElement();
  Constraints constraints = parseConstraints(op.getConstraints());
  if (!constraints.problem.empty())
    refuse(op, "cannot be assembled: " + constraints.problem);
  auto registersFor = [&](mlir::ValueRange values) {
    size_t count = 0;
    for (mlir::Value value : values)
      count += (pack + perRegister(value, pack) - 1) / perRegister(value, pack);
    return count;
  };
  auto check = [&](const char *what, size_t named, size_t needed) {
    if (named != needed)
      refuse(op, "has constraints for " + std::to_string(named) + " " + what + ", but its " + what +
                     " take " + std::to_string(needed) +
                     " registers with pack=" + std::to_string(pack));
  };
  check("results", constraints.outputs.size(), registersFor(op.getResult()));
  check("arguments", constraints.inputs.size(), registersFor(op.getArgs()));

  llvm::SmallVector<llvm::Type *> inputTypes, outputTypes;
  for (const std::string &letter : constraints.inputs)
    inputTypes.push_back(typeOfConstraint(b, letter));
  for (const std::string &letter : constraints.outputs)
    outputTypes.push_back(typeOfConstraint(b, letter));
  llvm::Type *made = outputTypes.empty()       ? b.getVoidTy()
                     : outputTypes.size() == 1 ? outputTypes[0]
                                               : llvm::StructType::get(b.getContext(), outputTypes);
  std::string text = op.getConstraints().str() + (op.getPure() ? "" : ",~{memory}");
  auto *signature = llvm::FunctionType::get(made, inputTypes, false);
  if (llvm::Error wrong = llvm::InlineAsm::verify(signature, text))
    refuse(op, "cannot be assembled: " + llvm::toString(std::move(wrong)));
  auto *code = llvm::InlineAsm::get(signature, op.getAsmString(), text, !op.getPure());

  std::vector<Registers> sources, results(op->getNumResults());
  size_t count = 1;
  for (mlir::Value source : op.getArgs()) {
    sources.push_back(registersOf(source));
    count = std::max(count, sources.back().size());
  }
  for (mlir::Value result : op.getResult())
    if (mlir::isa<mlir::RankedTensorType>(result.getType()))
      count = layoutOf(result).registerCount();
  /// Of elements `first` to `first + length`, what is there.
  auto packed = [&](const Registers &registers, size_t first, unsigned length, llvm::Type *type) {
    unsigned width = type->getPrimitiveSizeInBits();
    Value *word = llvm::ConstantInt::get(b.getIntNTy(width), 0);
    for (unsigned i = 0; i < length && first + i < registers.size(); ++i) {
      Value *bits = asInteger(b, registers[first + i]);
      unsigned each = bits->getType()->getIntegerBitWidth();
      if (each * (i + 1) > width)
        refuse(op, "has an argument of " + std::to_string(each * length) +
                       " bits whose constraint names a register of " + std::to_string(width));
      word = b.CreateOr(word, b.CreateShl(b.CreateZExt(bits, word->getType()), i * each));
    }
    return fromInteger(b, word, type);
  };
  for (size_t first = 0; first < count; first += pack) {
    llvm::SmallVector<Value *> inputs;
    for (auto [source, registers] : llvm::zip(op.getArgs(), sources))
      for (unsigned i = 0, each = perRegister(source, pack); i < pack; i += each)
        inputs.push_back(packed(registers, first + i, each, inputTypes[inputs.size()]));
    for (auto [input, letter] : llvm::zip(inputs, constraints.inputs))
      if (letter == "n" && !llvm::isa<llvm::ConstantInt>(input))
        refuse(op, "cannot be assembled: its constraint 'n' wants a number that is known now, and "
                   "the argument is computed by the kernel; write 'r'");
    Value *call = b.CreateCall(code, inputs);
    unsigned output = 0;
    for (auto [result, registers] : llvm::zip(op.getResult(), results)) {
      llvm::Type *type = registerType(b.getContext(), elementTypeOf(result.getType()));
      unsigned width = type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits();
      for (unsigned i = 0, each = perRegister(result, pack); i < pack; i += each, ++output) {
        Value *word =
            asInteger(b, outputTypes.size() == 1 ? call : b.CreateExtractValue(call, output));
        if (width * each > word->getType()->getIntegerBitWidth())
          refuse(op, "has a result of " + std::to_string(width * each) +
                         " bits whose constraint names a register of " +
                         std::to_string(word->getType()->getIntegerBitWidth()));
        for (unsigned k = 0; k < each && registers.size() < count; ++k)
          registers.push_back(fromInteger(
              b, b.CreateTrunc(b.CreateLShr(word, k * width), b.getIntNTy(width)), type));
      }
    }
  }
  for (auto [result, registers] : llvm::zip(op.getResult(), results))
    hold(result, std::move(registers));
}

} // namespace pellucid::codegen
