// SPDX-License-Identifier: Apache-2.0
// A masked load whose value goes on under the same mask reads its active lanes alone, whatever LLVM
// folds it into.
#include "codegen/KernelFixture.h"
#include "codegen/cpu/EmitObject.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <numeric>
#include <sys/mman.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

constexpr size_t page = 4096;

/// What is done to the loaded lanes; the other lanes of the result are zero.
enum class Use { ProductAndSum, Reversal };

struct AccessArguments {
  const void *x;
  void *out;
  int64_t active;
};

class LoadMasks : public testing::TestWithParam<CpuLevel> {
protected:
  template <typename T> void check(Use use) {
    for (unsigned lanes : {2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
      CompiledKernel kernel = compile(use, sizeof(T), std::is_floating_point_v<T>, lanes);
      for (unsigned active : {0u, 1u, lanes / 2, lanes - 1, lanes})
        checkLanes<T>(kernel, use, lanes, active);
    }
  }

private:
  static llvm::Type *elementOf(llvm::IRBuilderBase &b, size_t bytes, bool isFloat) {
    if (isFloat)
      return bytes == 8 ? b.getDoubleTy() : b.getFloatTy();
    return b.getIntNTy(static_cast<unsigned>(8 * bytes));
  }

  static llvm::Value *used(llvm::IRBuilderBase &b, Use use, llvm::Value *loaded, unsigned lanes) {
    llvm::Type *type = loaded->getType();
    if (use == Use::Reversal) {
      llvm::SmallVector<int> reversed;
      for (unsigned i = lanes; i-- > 0;)
        reversed.push_back(static_cast<int>(i));
      return b.CreateShuffleVector(loaded, reversed);
    }
    if (!type->isFPOrFPVectorTy())
      return b.CreateAdd(b.CreateMul(loaded, llvm::ConstantInt::get(type, 2)),
                         llvm::ConstantInt::get(type, 1));
    b.setFastMathFlags(llvm::FastMathFlags::getFast());
    llvm::Value *product = b.CreateFMul(loaded, llvm::ConstantFP::get(type, 2));
    llvm::Value *sum = b.CreateFAdd(product, llvm::ConstantFP::get(type, 1));
    b.clearFastMathFlags();
    return sum;
  }

  static void emit(llvm::Module &module, Use use, size_t bytes, bool isFloat, unsigned lanes) {
    llvm::LLVMContext &context = module.getContext();
    llvm::IRBuilder<> b(context);
    llvm::Type *pointer = b.getPtrTy();
    auto *type = llvm::FunctionType::get(
        b.getInt32Ty(), {pointer, pointer, b.getInt64Ty(), b.getInt64Ty(), pointer, pointer},
        false);
    auto *entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "use", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", entry));
    auto field = [&](unsigned i, llvm::Type *held) {
      return b.CreateLoad(held, b.CreateConstGEP1_32(b.getInt64Ty(), entry->getArg(0), i));
    };
    llvm::SmallVector<llvm::Constant *> places;
    for (unsigned i = 0; i < lanes; ++i)
      places.push_back(b.getInt32(i));
    llvm::Value *active = b.CreateTrunc(field(2, b.getInt64Ty()), b.getInt32Ty());
    llvm::Value *mask =
        b.CreateICmpSLT(llvm::ConstantVector::get(places), b.CreateVectorSplat(lanes, active));
    auto *vector = llvm::FixedVectorType::get(elementOf(b, bytes, isFloat), lanes);
    llvm::Value *zeros = llvm::Constant::getNullValue(vector);
    llvm::Value *loaded =
        b.CreateMaskedLoad(vector, field(0, pointer), llvm::Align(bytes), mask, zeros);
    llvm::Value *result = b.CreateSelect(mask, used(b, use, loaded, lanes), zeros);
    b.CreateAlignedStore(result, field(1, pointer), llvm::Align(bytes));
    b.CreateRet(b.getInt32(0));
  }

  static CompiledKernel compile(Use use, size_t bytes, bool isFloat, unsigned lanes) {
    CompiledObject object;
    object.symbol = "use";
    Diagnostics diagnostics;
    auto fill = [&](llvm::Module &module) { emit(module, use, bytes, isFloat, lanes); };
    if (!emitObject(GetParam(), "use", fill, object.object, diagnostics))
      throw std::runtime_error(diagnostics.text());
    return CompiledKernel(std::move(object), GetParam());
  }

  template <typename T>
  static void checkLanes(CompiledKernel &kernel, Use use, unsigned lanes, unsigned active) {
    char *memory = static_cast<char *>(
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(::mprotect(memory + page, page, PROT_NONE), 0);
    std::vector<T> got(lanes, T(99));
    // Once with no memory beside the active lanes, once with other numbers there.
    for (unsigned beside : {0u, lanes - active}) {
      T *x = reinterpret_cast<T *>(memory + page) - active - beside;
      for (unsigned i = 0; i < active + beside; ++i)
        x[i] = T(i % 50 + 1);
      AccessArguments arguments{x, got.data(), active};
      kernel.run(&arguments, 1);
      auto loaded = [&](unsigned i) { return i < active ? T(i % 50 + 1) : T(0); };
      for (unsigned i = 0; i < lanes; ++i) {
        T used = use == Use::Reversal ? loaded(lanes - 1 - i) : T(loaded(i) * 2 + 1);
        ASSERT_EQ(got[i], i < active ? used : T(0))
            << lanes << " lanes, " << active << " active, " << i;
      }
    }
    ::munmap(memory, 2 * page);
  }
};

/// Only code for mask registers takes masked loads of every width.
std::vector<CpuLevel> levels() {
  std::vector<CpuLevel> chosen;
  for (CpuLevel level : runnableLevels())
    if (hasAvx512(level))
      chosen.push_back(level);
  return chosen;
}

TEST_P(LoadMasks, ProductAndSum) {
  check<float>(Use::ProductAndSum);
  check<double>(Use::ProductAndSum);
  check<int32_t>(Use::ProductAndSum);
  check<int16_t>(Use::ProductAndSum);
}
TEST_P(LoadMasks, Reversal) {
  check<float>(Use::Reversal);
  check<double>(Use::Reversal);
  check<int64_t>(Use::Reversal);
  check<int16_t>(Use::Reversal);
  check<int8_t>(Use::Reversal);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LoadMasks);
INSTANTIATE_TEST_SUITE_P(Levels, LoadMasks, testing::ValuesIn(levels()), levelName);

} // namespace
