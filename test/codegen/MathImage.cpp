// SPDX-License-Identifier: Apache-2.0
#include "codegen/MathImage.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/cpu/EmitObject.h"

#include "llvm/IR/Module.h"

#include <cmath>
#include <stdexcept>

namespace pellucid::codegen {

static constexpr int64_t lanes = 16;

struct MathArguments {
  const void *x, *y;
  void *out;
  int64_t count;
};

MathImage::MathImage(UnaryMath function, bool wide, CpuLevel level) {
  build(function, nullptr, wide, level);
}
MathImage::MathImage(BinaryMath function, bool wide, CpuLevel level) {
  build(nullptr, function, wide, level);
}

static void emitOverArrays(llvm::Module &module, UnaryMath unary, BinaryMath binary, bool wide,
                           CpuLevel level) {
  llvm::LLVMContext &context = module.getContext();
  CodeBuilder b(context, false);
  b.hasScale16 = level == CpuLevel::X86_64_v4;
  auto *type = llvm::FunctionType::get(
      b.i32(), {b.getPtrTy(), b.getPtrTy(), b.i64(), b.i64(), b.getPtrTy(), b.getPtrTy()}, false);
  auto *entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "math", module);
  auto *first = llvm::BasicBlock::Create(context, "entry", entry);
  auto *start = llvm::BasicBlock::Create(context, "start", entry);
  b.SetInsertPoint(first);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  auto field = [&](unsigned i, llvm::Type *held) {
    return b.CreateLoad(held, b.CreateConstGEP1_32(b.i64(), entry->getArg(0), i));
  };
  llvm::Value *x = field(0, b.getPtrTy()), *y = field(1, b.getPtrTy()),
              *out = field(2, b.getPtrTy());
  llvm::Type *element = wide ? b.getDoubleTy() : b.getFloatTy();
  llvm::Type *vector = lanesOf(element, lanes);
  llvm::Align align(wide ? 8 : 4);
  emitLoop(b, b.getInt64(0), field(3, b.i64()), lanes, false, [&](llvm::Value *index) {
    auto load = [&](llvm::Value *base) {
      return b.CreateAlignedLoad(vector, b.CreateGEP(element, base, index), align);
    };
    llvm::Value *result = unary ? unary(b, load(x)) : binary(b, load(x), load(y));
    b.CreateAlignedStore(result, b.CreateGEP(element, out, index), align);
  });
  b.CreateRet(b.getInt32(0));
}

void MathImage::build(UnaryMath unary, BinaryMath binary, bool wide, CpuLevel level) {
  CompiledObject object;
  object.symbol = "math";
  Diagnostics diagnostics;
  auto emit = [&](llvm::Module &module) { emitOverArrays(module, unary, binary, wide, level); };
  if (!emitObject(level, "math", emit, object.object, diagnostics))
    throw std::runtime_error(diagnostics.text());
  kernel = std::make_unique<CompiledKernel>(std::move(object), level);
}

void MathImage::run(const void *x, const void *y, void *out, int64_t count) const {
  MathArguments arguments{x, y, out, count};
  kernel->run(&arguments, 1);
}

template <typename Result, typename Exact>
static double distance(Result actual, Exact exact, int mantissa, int smallest) {
  if (std::isnan(exact))
    return std::isnan(actual) ? 0 : 1e30;
  Result rounded = static_cast<Result>(exact);
  if (actual == rounded)
    return std::isinf(actual)
               ? 0
               : static_cast<double>(std::abs(
                     (Exact(actual) - exact) /
                     std::ldexp(Exact(1),
                                std::max(exact == 0 ? smallest : std::ilogb(exact) - mantissa,
                                         smallest))));
  if (!std::isfinite(actual))
    // The largest number and infinity are one step apart.
    return std::isinf(actual) && std::abs(rounded) >= std::numeric_limits<Result>::max() ? 1 : 1e30;
  if (std::isinf(rounded))
    return std::abs(actual) >= std::numeric_limits<Result>::max() ? 1 : 1e30;
  int exponent = exact == 0 ? smallest : std::max(std::ilogb(exact) - mantissa, smallest);
  return static_cast<double>(std::abs((Exact(actual) - exact) / std::ldexp(Exact(1), exponent)));
}

double errorInUlps(float actual, double exact) { return distance(actual, exact, 23, -149); }
double errorInUlps(double actual, long double exact) { return distance(actual, exact, 52, -1074); }

} // namespace pellucid::codegen
