// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/Gemm.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/cpu/CpuMemory.h"
#include "codegen/cpu/EmitObject.h"
#include "codegen/cpu/ScratchMemory.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {

mlir::Type mlirType(DataType type, mlir::MLIRContext *context) {
  switch (type) {
  case DataType::Float32:
    return mlir::Float32Type::get(context);
  case DataType::Float64:
    return mlir::Float64Type::get(context);
  case DataType::BFloat16:
    return mlir::BFloat16Type::get(context);
  case DataType::Float16:
    return mlir::Float16Type::get(context);
  default:
    return {};
  }
}

/// Emits library kernels: entry, arguments and the loop over programs.
class LibraryKernel {
public:
  LibraryKernel(llvm::Module &module, mlir::Type element, CpuLevel level, CompiledObject &object)
      : b(module.getContext(), true), memory(b, level), element(element), level(level) {
    auto *type = llvm::FunctionType::get(
        b.i32(), {b.getPtrTy(), b.getPtrTy(), b.i64(), b.i64(), b.getPtrTy(), b.getPtrTy()}, false);
    entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, object.symbol, module);
    memory.setSafeAddress(entry->getArg(4));
    object.scratchBytes = ScratchMemory::safeBytes;
    held = memoryType(b.getContext(), element);
    sum = element.isF64() ? b.getDoubleTy() : b.getFloatTy();
  }

  /// `fields` of 8 bytes each.
  void begin(CompiledObject &object, unsigned fields) {
    for (unsigned i = 0; i < fields; ++i)
      object.arguments.push_back({8 * i, 8});
    auto *first = llvm::BasicBlock::Create(b.getContext(), "entry", entry);
    auto *start = llvm::BasicBlock::Create(b.getContext(), "start", entry);
    b.SetInsertPoint(first);
    b.CreateBr(start);
    b.SetInsertPoint(start);
  }
  Value *pointerArgument(unsigned field) { return argument(field, b.getPtrTy()); }
  Value *integerArgument(unsigned field) { return argument(field, b.i64()); }

  /// Calls `body(x, y, z)` for every program of the call (i64 indices).
  void forPrograms(llvm::function_ref<void(Value *, Value *, Value *)> body) {
    auto extent = [&](unsigned axis) {
      Value *address = b.CreateConstInBoundsGEP1_32(b.i32(), entry->getArg(1), axis);
      return b.CreateZExt(b.CreateAlignedLoad(b.i32(), address, llvm::Align(4)), b.i64());
    };
    Value *x = extent(0), *y = extent(1);
    emitLoop(b, entry->getArg(2), entry->getArg(3), 1, false, [&](Value *id) {
      Value *rest = b.CreateUDiv(id, x);
      body(b.CreateURem(id, x), b.CreateURem(rest, y), b.CreateUDiv(rest, y));
    });
    b.CreateRet(b.getInt32(0));
  }

  Value *elementAt(Value *base, Value *index) { return b.CreateGEP(held, base, index); }
  Value *smaller(Value *x, Value *y) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
  }

  CodeBuilder b;
  CpuMemory memory;
  mlir::Type element;
  CpuLevel level;
  llvm::Function *entry;
  llvm::Type *held, *sum;

private:
  Value *argument(unsigned field, llvm::Type *type) {
    Value *address = b.CreateConstInBoundsGEP1_32(b.i64(), entry->getArg(0), field);
    return b.CreateAlignedLoad(type, address, llvm::Align(8));
  }
};

class GemmEmitter {
public:
  GemmEmitter(LibraryKernel &kernel, bool bias) : l(kernel), b(kernel.b), hasBias(bias) {
    bool wide = l.level == CpuLevel::X86_64_v4;
    lanes = (wide ? 512 : 256) / l.sum->getPrimitiveSizeInBits();
    vectors = wide ? 4 : 2;
  }

  void emit() {
    a = l.pointerArgument(0), packed = l.pointerArgument(1), bias = l.pointerArgument(2);
    c = l.pointerArgument(3), m = l.integerArgument(4), n = l.integerArgument(5);
    k = l.integerArgument(6), lda = l.integerArgument(7), ldc = l.integerArgument(8);
    Value *batchA = l.integerArgument(9), *batchB = l.integerArgument(10),
          *batchC = l.integerArgument(11);
    biasRow = l.integerArgument(12);
    Value *batchBias = l.integerArgument(13);
    l.forPrograms([&](Value *x, Value *y, Value *z) {
      Value *row = b.CreateMul(x, b.getInt64(package::productRows));
      Value *column = b.CreateMul(y, b.getInt64(package::productColumns));
      rowsLeft = l.smaller(b.CreateSub(m, row), b.getInt64(package::productRows));
      columnsLeft = b.CreateSub(n, column);
      tileA = l.elementAt(a, b.CreateAdd(b.CreateMul(z, batchA), b.CreateMul(row, lda)));
      tileB = l.elementAt(packed, b.CreateAdd(b.CreateMul(z, batchB), b.CreateMul(column, k)));
      Value *offset = b.CreateAdd(b.CreateMul(row, ldc), column);
      tileC = l.elementAt(c, b.CreateAdd(b.CreateMul(z, batchC), offset));
      Value *biasOffset = b.CreateAdd(b.CreateMul(row, biasRow), column);
      tileBias = l.elementAt(bias, b.CreateAdd(b.CreateMul(z, batchBias), biasOffset));
      emitTile();
    });
  }

private:
  static constexpr int64_t rowsAtOnce = 6;
  /// Blocks of other heights take the next of these and compute their last row again.
  static constexpr int64_t heights[] = {1, 2, 4, 6};

  void emitTile() {
    int64_t step = vectors * lanes;
    llvm::AllocaInst *tile = emitVariable(b, llvm::ArrayType::get(l.sum, rowsAtOnce * step));
    tile->setAlignment(llvm::Align(64));
    sums = tile;
    Value *limit = l.smaller(columnsLeft, b.getInt64(package::productColumns));
    emitLoop(b, b.getInt64(0), limit, step, true, [&](Value *column) {
      emitLoop(b, b.getInt64(0), rowsLeft, rowsAtOnce, false, [&](Value *row) {
        Value *count = l.smaller(b.CreateSub(rowsLeft, row), b.getInt64(rowsAtOnce));
        int64_t below = 0;
        for (int64_t height : heights) {
          Value *fits = b.CreateAnd(b.CreateICmpSGT(count, b.getInt64(below)),
                                    b.CreateICmpSLE(count, b.getInt64(height)));
          emitWhen(b, fits, [&] { emitRegisters(row, count, column, height); });
          below = height;
        }
        emitLoop(b, b.getInt64(0), count, 1, false, [&](Value *r) {
          for (int64_t v = 0; v < vectors; ++v)
            storeRow(row, r, column, v);
        });
      });
    });
  }

  /// Where the vector `v` of the columns from `column` on begins in the panels.
  Value *panelAt(Value *column, int64_t v) {
    Value *at = b.CreateAdd(column, b.getInt64(v * lanes));
    Value *inside = b.CreateAnd(at, b.getInt64(package::productPanel - 1));
    Value *panel = b.CreateSub(at, inside);
    return l.elementAt(tileB, b.CreateAdd(b.CreateMul(panel, k), inside));
  }

  Value *loadB(Value *address) {
    llvm::Type *type = lanesOf(l.held, lanes);
    Value *loaded = b.CreateAlignedLoad(type, address, llvm::Align(memoryBytes(l.element)));
    return widenFloat(b, loaded, l.element);
  }
  Value *loadA(Value *address) {
    Value *loaded = b.CreateAlignedLoad(l.held, address, llvm::Align(memoryBytes(l.element)));
    if (l.element
            .isBF16()) { // both halves of a lane hold the value; the shift leaves the upper one
      Value *twice = b.CreateBitCast(splatTo(b, loaded, 2 * lanes), lanesOf(b.i32(), lanes));
      return b.CreateBitCast(b.CreateShl(twice, integerLike(twice, 16)), lanesOf(l.sum, lanes));
    }
    return widenFloat(b, splatTo(b, loaded, lanes), l.element);
  }

  /// Where the sums of row `r` and vector `v` wait to be stored.
  Value *sumAt(Value *r, int64_t v) {
    Value *index = b.CreateAdd(b.CreateMul(r, b.getInt64(vectors * lanes)), b.getInt64(v * lanes));
    return b.CreateGEP(l.sum, sums, index);
  }

  /// Sums `height` rows, of which `count` are wanted, in registers.
  void emitRegisters(Value *row, Value *count, Value *column, int64_t height) {
    llvm::SmallVector<llvm::AllocaInst *> registers;
    llvm::Type *type = lanesOf(l.sum, lanes);
    for (int64_t i = 0; i < height * vectors; ++i) {
      registers.push_back(emitVariable(b, type));
      b.CreateStore(llvm::Constant::getNullValue(type), registers.back());
    }
    llvm::SmallVector<Value *> left, right;
    Value *lastRow = b.CreateSub(count, b.getInt64(1));
    for (int64_t r = 0; r < height; ++r) {
      Value *inTile = b.CreateAdd(row, l.smaller(b.getInt64(r), lastRow));
      left.push_back(l.elementAt(tileA, b.CreateMul(inTile, lda)));
    }
    for (int64_t v = 0; v < vectors; ++v)
      right.push_back(panelAt(column, v));
    emitLoop(b, b.getInt64(0), k, 1, false, [&](Value *inner) {
      llvm::SmallVector<Value *> values;
      Value *inPanel = b.CreateMul(inner, b.getInt64(package::productPanel));
      for (Value *address : right)
        values.push_back(loadB(l.elementAt(address, inPanel)));
      for (int64_t r = 0; r < height; ++r) {
        Value *scalar = loadA(l.elementAt(left[r], inner));
        for (int64_t v = 0; v < vectors; ++v) {
          llvm::AllocaInst *held = registers[r * vectors + v];
          Value *next = b.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                                          {scalar, values[v], b.CreateLoad(type, held)});
          b.CreateStore(next, held);
        }
      }
    });
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        b.CreateStore(b.CreateLoad(type, registers[r * vectors + v]), sumAt(b.getInt64(r), v));
  }

  void storeRow(Value *row, Value *r, Value *firstColumn, int64_t v) {
    Value *column = b.CreateAdd(firstColumn, b.getInt64(v * lanes));
    Value *left = b.CreateSub(columnsLeft, column);
    Value *inTile = b.CreateAdd(row, r);
    auto store = [&](const LaneValue &mask) {
      auto at = [&](Value *base, Value *step) {
        Value *index = b.CreateAdd(b.CreateMul(inTile, step), column);
        return LaneValue::ramp(l.elementAt(base, index), b.getInt64(memoryBytes(l.element)));
      };
      Value *result = b.CreateLoad(lanesOf(l.sum, lanes), sumAt(r, v));
      if (hasBias) {
        LaneValue loaded = l.memory.load(l.element, at(tileBias, biasRow), mask, {}, lanes);
        result = b.CreateFAdd(result, widenFloat(b, toVector(b, loaded, lanes), l.element));
      }
      l.memory.store(l.element, at(tileC, ldc),
                     LaneValue::vector(narrowFloat(b, result, l.element)), mask, lanes);
    };
    Value *whole = b.CreateICmpSGE(left, b.getInt64(lanes));
    emitWhen(b, whole, [&] { store(LaneValue::uniform(b.getTrue())); });
    Value *part = b.CreateAnd(b.CreateNot(whole), b.CreateICmpSGT(left, b.getInt64(0)));
    emitWhen(b, part, [&] { store(LaneValue::prefix(left)); });
  }

  LibraryKernel &l;
  CodeBuilder &b;
  bool hasBias;
  int64_t lanes, vectors;
  Value *a, *packed, *bias, *c, *m, *n, *k, *lda, *ldc, *biasRow;
  Value *rowsLeft, *columnsLeft, *tileA, *tileB, *tileC, *tileBias, *sums;
};

void emitPack(LibraryKernel &l) {
  CodeBuilder &b = l.b;
  Value *from = l.pointerArgument(0), *to = l.pointerArgument(1);
  Value *n = l.integerArgument(2), *k = l.integerArgument(3), *strideK = l.integerArgument(4);
  Value *strideN = l.integerArgument(5), *batchB = l.integerArgument(6);
  uint64_t bytes = memoryBytes(l.element);
  l.forPrograms([&](Value *x, Value *y, Value *) {
    Value *columns = b.getInt64(package::productColumns);
    Value *tiles = b.CreateUDiv(b.CreateAdd(n, b.getInt64(package::productColumns - 1)), columns);
    Value *tile = b.CreateAdd(b.CreateMul(y, tiles), x);
    Value *source = l.elementAt(from, b.CreateMul(y, batchB));
    emitLoop(b, b.getInt64(0), columns, package::productPanel, true, [&](Value *panel) {
      Value *column = b.CreateAdd(b.CreateMul(x, columns), panel);
      Value *start = b.CreateMul(b.CreateAdd(b.CreateMul(tile, columns), panel), k);
      LaneValue mask = LaneValue::prefix(b.CreateSub(n, column));
      emitLoop(b, b.getInt64(0), k, 1, false, [&](Value *row) {
        Value *index = b.CreateAdd(b.CreateMul(row, strideK), b.CreateMul(column, strideN));
        LaneValue pointer =
            LaneValue::ramp(l.elementAt(source, index), b.CreateMul(strideN, b.getInt64(bytes)));
        LaneValue value = l.memory.load(l.element, pointer, mask, {}, package::productPanel);
        Value *target = l.elementAt(
            to, b.CreateAdd(start, b.CreateMul(row, b.getInt64(package::productPanel))));
        l.memory.store(l.element, LaneValue::ramp(target, b.getInt64(bytes)), value,
                       LaneValue::uniform(b.getTrue()), package::productPanel);
      });
    });
  });
}

bool compileLibraryKernel(const GemmKernel &options, std::string_view symbol, unsigned fields,
                          CompiledObject &object, Diagnostics &diagnostics,
                          llvm::function_ref<void(LibraryKernel &)> emit) {
  mlir::MLIRContext types(mlir::MLIRContext::Threading::DISABLED);
  mlir::Type element = mlirType(options.type, &types);
  if (!element) {
    diagnostics.error(SourceLocation(), "matrix products of " +
                                            std::string(info(options.type).cli) +
                                            " are not supported");
    return false;
  }
  object = CompiledObject();
  object.symbol = symbol;
  auto emitWhole = [&](llvm::Module &module) {
    LibraryKernel kernel(module, element, options.level, object);
    kernel.begin(object, fields);
    emit(kernel);
  };
  return emitObject(options.level, symbol, emitWhole, object.object, diagnostics, options.texts);
}

} // namespace

bool compileGemm(const GemmKernel &kernel, std::string_view symbol, CompiledObject &object,
                 Diagnostics &diagnostics) {
  return compileLibraryKernel(kernel, symbol, sizeof(GemmArguments) / 8, object, diagnostics,
                              [&](LibraryKernel &l) { GemmEmitter(l, kernel.bias).emit(); });
}

bool compilePack(const GemmKernel &kernel, std::string_view symbol, CompiledObject &object,
                 Diagnostics &diagnostics) {
  return compileLibraryKernel(kernel, symbol, sizeof(PackArguments) / 8, object, diagnostics,
                              [](LibraryKernel &l) { emitPack(l); });
}

} // namespace pellucid::codegen
