// SPDX-License-Identifier: Apache-2.0
// How elements move between registers and global memory. Where neighbouring registers of a thread
// are neighbours in memory, they move by accesses of up to 16 bytes if each such vector is aligned
// and active as a whole or not at all; else each element by itself, predicated. What the axis
// analysis does not know of that is asked at run time.
#include "codegen/common/FloatFormats.h"
#include "codegen/cuda/CudaEmitter.h"

#include "tt/OffsetAnalysis.h"

#include "llvm/IR/InlineAsm.h"

namespace pellucid::codegen {

using llvm::Value;

static constexpr unsigned globalMemory = 1;
static constexpr unsigned mostAccessBytes = 16;

static Value *globalPointer(CodeBuilder &b, Value *pointer) {
  return b.CreateAddrSpaceCast(pointer, b.getPtrTy(globalMemory));
}

/// An element as an integer of its size in memory, and back.
static Value *toBits(CodeBuilder &b, Value *value, mlir::Type element) {
  llvm::Type *type = b.getIntNTy(8 * memoryBytes(element));
  if (value->getType()->isPointerTy())
    return b.CreatePtrToInt(value, type);
  if (value->getType()->isFloatingPointTy())
    return b.CreateBitCast(value, type);
  return b.CreateZExt(value, type);
}
static Value *fromBits(CodeBuilder &b, Value *bits, mlir::Type element) {
  llvm::Type *type = registerType(b.getContext(), element);
  if (type->isPointerTy())
    return b.CreateIntToPtr(bits, type);
  if (type->isIntegerTy(1))
    return b.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
  if (type->isIntegerTy())
    return b.CreateTrunc(bits, type);
  return b.CreateBitCast(bits, type);
}

/// How inline assembly names a register of `bits` bits.
static const char *registerLetter(unsigned bits) {
  return bits == 64 ? "l" : bits == 32 ? "r" : "h";
}

static bool isTrue(Value *condition) {
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(condition);
  return constant && constant->isOne();
}

std::optional<unsigned> CudaEmitter::contiguousDim(mlir::Value pointers) {
  return mlir::isa<mlir::RankedTensorType>(pointers.getType()) ? axes.of(pointers).contiguousDim()
                                                               : std::nullopt;
}

unsigned CudaEmitter::vectorLength(mlir::Value pointers, const Layout &layout, mlir::Type element) {
  auto dim = contiguousDim(pointers);
  if (!dim)
    return 1;
  unsigned neighbours = std::min<unsigned>(
      layout.contiguousAlong(*dim), static_cast<unsigned>(axes.of(pointers).contiguity[*dim]));
  return std::min<unsigned>(neighbours, mostAccessBytes / memoryBytes(element));
}

/// The words of a vector: 32 bits, or whole elements of 64, or less where the vector is less.
static llvm::Type *wordType(CodeBuilder &b, unsigned vector, mlir::Type element) {
  unsigned bytes = memoryBytes(element);
  return b.getIntNTy(8 * std::min<unsigned>(vector * bytes, std::max<unsigned>(4, bytes)));
}

void CudaEmitter::followFirstPointers(TileAccess &access) {
  for (size_t r = 0; r < access.pointers.size(); r += access.vector)
    for (unsigned i = 1; i < access.vector; ++i)
      access.pointers[r + i] =
          b.CreateConstGEP1_64(b.i8(), access.pointers[r], i * memoryBytes(access.element));
}

/// How a comparison by `predicate` may change where both sides grow by so much.
static MaskRuns runsOf(mlir::arith::CmpIPredicate predicate, int64_t left, int64_t right) {
  using mlir::arith::CmpIPredicate;
  switch (predicate) {
  case CmpIPredicate::slt:
  case CmpIPredicate::sle:
    return left >= right ? MaskRuns::Falling : MaskRuns::Rising;
  case CmpIPredicate::sgt:
  case CmpIPredicate::sge:
    return left <= right ? MaskRuns::Falling : MaskRuns::Rising;
  default:
    return MaskRuns::Any;
  }
}

MaskRuns CudaEmitter::maskRuns(mlir::Value pointers, mlir::Value mask) {
  auto dim = contiguousDim(pointers);
  auto comparisons = mask && dim ? tt::maskForm(mask) : std::nullopt;
  if (!comparisons)
    return MaskRuns::Any;
  std::optional<MaskRuns> all;
  for (const tt::OffsetComparison &comparison : *comparisons) {
    tt::OffsetForm left = comparison.lhs.strideOf(*dim), right = comparison.rhs.strideOf(*dim);
    if (left == right)
      continue;
    auto leftStep = left.asConstant(), rightStep = right.asConstant();
    MaskRuns one =
        leftStep && rightStep ? runsOf(comparison.predicate, *leftStep, *rightStep) : MaskRuns::Any;
    if (one == MaskRuns::Any || (all && *all != one))
      return MaskRuns::Any;
    all = one;
  }
  return all.value_or(MaskRuns::Falling);
}

void CudaEmitter::judgeVectors(TileAccess &access, mlir::Value pointers, mlir::Value mask) {
  auto dim = contiguousDim(pointers);
  if (!dim)
    return;
  int64_t divisor =
      axes.of(pointers).divisibilityAt(*dim, access.vector, tt::axisUnit(pointers.getType()));
  access.isAligned = divisor >= access.vector * memoryBytes(access.element);
  access.isWhole = !mask || axes.of(mask).constancy[*dim] >= access.vector;
  access.runs = maskRuns(pointers, mask);
}

Value *CudaEmitter::movesByVectors(const TileAccess &access) {
  Value *whole = b.getTrue(), *addresses = b.getInt64(0);
  for (size_t r = 0; r < access.pointers.size(); r += access.vector) {
    if (!access.isAligned)
      addresses = b.CreateOr(addresses, b.CreatePtrToInt(access.pointers[r], b.i64()));
    if (access.isWhole)
      continue;
    Value *all = access.active[r], *any = access.active[r];
    Value *last = access.active[r + access.vector - 1];
    if (access.runs == MaskRuns::Falling)
      all = last;
    else if (access.runs == MaskRuns::Rising)
      any = last;
    for (unsigned i = 1; access.runs == MaskRuns::Any && i < access.vector; ++i) {
      all = b.CreateAnd(all, access.active[r + i]);
      any = b.CreateOr(any, access.active[r + i]);
    }
    whole = b.CreateAnd(whole, b.CreateOr(all, b.CreateNot(any)));
  }
  if (access.isAligned)
    return whole;
  Value *low = b.CreateAnd(addresses, b.getInt64(access.vector * memoryBytes(access.element) - 1));
  return b.CreateAnd(whole, b.CreateICmpEQ(low, b.getInt64(0)));
}

// Two halves that were rounded from f32 each by itself are rounded together.
static Value *roundTogether(CodeBuilder &b, Value *low, Value *high) {
  llvm::IntrinsicInst *first = packedRounding(low), *second = packedRounding(high);
  if (!first || !second || first->getIntrinsicID() != second->getIntrinsicID())
    return nullptr;
  Value *pair = b.CreateIntrinsic(first->getIntrinsicID(), {},
                                  {second->getArgOperand(0), first->getArgOperand(0)});
  return b.CreateBitCast(pair, b.i32());
}

Registers CudaEmitter::packWords(const Registers &values, unsigned vector, mlir::Type element) {
  llvm::Type *word = wordType(b, vector, element);
  unsigned bits = 8 * memoryBytes(element), perWord = word->getIntegerBitWidth() / bits;
  Registers words;
  for (size_t r = 0; r < values.size(); r += perWord) {
    Value *whole =
        perWord == 2 && bits == 16 ? roundTogether(b, values[r], values[r + 1]) : nullptr;
    if (!whole) {
      whole = llvm::ConstantInt::get(word, 0);
      for (unsigned i = 0; i < perWord; ++i) {
        Value *part = b.CreateZExt(toBits(b, values[r + i], element), word);
        whole = b.CreateOr(whole, b.CreateShl(part, i * bits));
      }
    }
    words.push_back(whole);
  }
  return words;
}

Registers CudaEmitter::unpackWords(const Registers &words, unsigned vector, mlir::Type element) {
  unsigned bits = 8 * memoryBytes(element);
  Registers values;
  for (Value *word : words)
    for (unsigned at = 0; at < word->getType()->getIntegerBitWidth(); at += bits)
      values.push_back(
          fromBits(b, b.CreateTrunc(b.CreateLShr(word, at), b.getIntNTy(bits)), element));
  return values;
}

/// "{$3, $4}", or "$3" for one.
static std::string operandList(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return count == 1 ? text : "{" + text + "}";
}
/// ".v4.b32", or ".b32" for one.
static std::string vectorSuffix(unsigned words, unsigned bits) {
  return (words == 1 ? "" : ".v" + std::to_string(words)) + ".b" + std::to_string(bits);
}

/// A volatile load is one of the L2, which all blocks share, however often it stands in a loop.
static const char *loadText(bool isVolatile) {
  return isVolatile ? "ld.volatile.global" : "ld.global";
}

Registers CudaEmitter::loadVector(Value *pointer, Value *active, llvm::ArrayRef<Value *> other,
                                  bool isVolatile) {
  unsigned count = other.size();
  llvm::Type *word = other[0]->getType();
  unsigned bits = word->getIntegerBitWidth();
  Registers words;
  if (isTrue(active)) {
    Value *loaded = b.CreateAlignedLoad(lanesOf(word, count), globalPointer(b, pointer),
                                        llvm::Align(count * bits / 8), isVolatile);
    for (unsigned w = 0; w < count; ++w)
      words.push_back(count == 1 ? loaded : b.CreateExtractElement(loaded, w));
    return words;
  }
  std::string text, constraints, letter = registerLetter(bits), size = std::to_string(bits);
  llvm::SmallVector<Value *> operands = {globalPointer(b, pointer), active};
  llvm::SmallVector<llvm::Type *> results(count, word);
  for (unsigned w = 0; w < count; ++w) {
    text +=
        "mov.b" + size + " $" + std::to_string(w) + ", $" + std::to_string(count + 2 + w) + "; ";
    constraints += "=" + letter + ",";
    operands.push_back(other[w]);
  }
  text += "@$" + std::to_string(count + 1) + " " + loadText(isVolatile) +
          vectorSuffix(count, bits) + " " + operandList(0, count) + ", [$" + std::to_string(count) +
          "];";
  constraints += "l,b";
  for (unsigned w = 0; w < count; ++w)
    constraints += "," + letter;
  llvm::SmallVector<llvm::Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  llvm::Type *type = count == 1 ? word : llvm::StructType::get(b.getContext(), results);
  auto *code = llvm::InlineAsm::get(llvm::FunctionType::get(type, types, false), text,
                                    constraints + ",~{memory}", true);
  Value *loaded = b.CreateCall(code, operands);
  for (unsigned w = 0; w < count; ++w)
    words.push_back(count == 1 ? loaded : b.CreateExtractValue(loaded, w));
  return words;
}

void CudaEmitter::storeVector(Value *pointer, Value *active, llvm::ArrayRef<Value *> words) {
  unsigned count = words.size();
  llvm::Type *word = words[0]->getType();
  unsigned bits = word->getIntegerBitWidth();
  if (isTrue(active)) {
    Value *whole = count == 1 ? words[0] : llvm::PoisonValue::get(lanesOf(word, count));
    for (unsigned w = 0; count > 1 && w < count; ++w)
      whole = b.CreateInsertElement(whole, words[w], w);
    b.CreateAlignedStore(whole, globalPointer(b, pointer), llvm::Align(count * bits / 8));
    return;
  }
  std::string constraints = "l,b";
  llvm::SmallVector<Value *> operands = {globalPointer(b, pointer), active};
  llvm::SmallVector<llvm::Type *> types = {b.getPtrTy(globalMemory), b.getInt1Ty()};
  for (Value *one : words) {
    constraints += std::string(",") + registerLetter(bits);
    operands.push_back(one);
    types.push_back(word);
  }
  std::string text =
      "@$1 st.global" + vectorSuffix(count, bits) + " [$0], " + operandList(2, count) + ";";
  auto *code = llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), types, false), text,
                                    constraints + ",~{memory}", true);
  b.CreateCall(code, operands);
}

Registers CudaEmitter::loadShared(Value *address, unsigned vector, mlir::Type element) {
  llvm::Type *word = wordType(b, vector, element);
  unsigned bytes = vector * memoryBytes(element), count = 8 * bytes / word->getIntegerBitWidth();
  Value *loaded = b.CreateAlignedLoad(lanesOf(word, count), address, llvm::Align(bytes));
  Registers words;
  for (unsigned w = 0; w < count; ++w)
    words.push_back(count == 1 ? loaded : b.CreateExtractElement(loaded, w));
  return unpackWords(words, vector, element);
}

Registers CudaEmitter::loadVectors(const TileAccess &access, const Registers &otherWords) {
  Registers words;
  size_t perVector = otherWords.size() * access.vector / access.pointers.size();
  for (size_t r = 0, w = 0; r < access.pointers.size(); r += access.vector, w += perVector) {
    auto other = llvm::ArrayRef(otherWords).slice(w, perVector);
    llvm::append_range(words,
                       loadVector(access.pointers[r], access.active[r], other, access.isVolatile));
  }
  return words;
}

void CudaEmitter::storeVectors(const TileAccess &access, const Registers &words) {
  size_t perVector = words.size() * access.vector / access.pointers.size();
  for (size_t r = 0, w = 0; r < access.pointers.size(); r += access.vector, w += perVector)
    storeVector(access.pointers[r], access.active[r], llvm::ArrayRef(words).slice(w, perVector));
}

Value *CudaEmitter::loadOne(Value *pointer, Value *active, Value *other, mlir::Type element,
                            bool isVolatile) {
  unsigned bytes = memoryBytes(element);
  if (isTrue(active)) {
    Value *bits = b.CreateAlignedLoad(b.getIntNTy(8 * bytes), globalPointer(b, pointer),
                                      llvm::Align(bytes), isVolatile);
    return fromBits(b, bits, element);
  }
  // The narrowest registers of PTX have 16 bits.
  unsigned width = std::max(16u, 8 * bytes);
  llvm::Type *type = b.getIntNTy(width);
  std::string letter = registerLetter(width), size = std::to_string(width);
  std::string text = "mov.b" + size + " $0, $3; @$2 " + loadText(isVolatile) + "." +
                     (bytes == 1 ? "u8" : "b" + size) + " $0, [$1];";
  auto *function =
      llvm::FunctionType::get(type, {b.getPtrTy(globalMemory), b.getInt1Ty(), type}, false);
  auto *code =
      llvm::InlineAsm::get(function, text, "=" + letter + ",l,b," + letter + ",~{memory}", true);
  Value *bits = b.CreateCall(
      code, {globalPointer(b, pointer), active, b.CreateZExt(toBits(b, other, element), type)});
  return fromBits(b, b.CreateTrunc(bits, b.getIntNTy(8 * bytes)), element);
}

void CudaEmitter::storeOne(Value *pointer, Value *value, Value *active, mlir::Type element) {
  unsigned bytes = memoryBytes(element);
  Value *bits = toBits(b, value, element);
  if (isTrue(active)) {
    b.CreateAlignedStore(bits, globalPointer(b, pointer), llvm::Align(bytes));
    return;
  }
  unsigned width = std::max(16u, 8 * bytes);
  llvm::Type *type = b.getIntNTy(width);
  std::string text = std::string("@$2 st.global.") +
                     (bytes == 1 ? "u8" : "b" + std::to_string(width)) + " [$0], $1;";
  auto *function = llvm::FunctionType::get(b.getVoidTy(),
                                           {b.getPtrTy(globalMemory), type, b.getInt1Ty()}, false);
  auto *code = llvm::InlineAsm::get(
      function, text, std::string("l,") + registerLetter(width) + ",b,~{memory}", true);
  b.CreateCall(code, {globalPointer(b, pointer), b.CreateZExt(bits, type), active});
}

} // namespace pellucid::codegen
